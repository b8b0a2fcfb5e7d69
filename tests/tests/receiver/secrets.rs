//! Secrets of every keeper, changed while the function runs, and endpoints
//! that share a history or serve many tenants.

use super::driven_with;
use anyhow::{Context, Result, ensure};
use sekali_cli::local::aws::Aws;
use sekali_tests::e2e::driven::{Answer, Driven};
use sekali_tests::e2e::vendors::{Delivery, push, unique};
use sekali_tests::e2e::worker::Worker;
use serde_json::json;

/// An endpoint of GitHub's with these secrets.
fn hub(name: &str, secrets: &[String]) -> String {
    let secrets: Vec<String> = secrets.iter().map(|secret| format!("\"{secret}\"")).collect();
    format!("[endpoint.{name}]\nvendor = \"github\"\nsecrets = [{}]\n", secrets.join(", "))
}

async fn create(aws: Aws, name: &str, secret: &str) -> Result<()> {
    let request = json!({ "Name": name, "SecretString": secret, "ClientRequestToken": token(name, 0) });
    aws.ask("secretsmanager", "secretsmanager.CreateSecret", &request).await.map(drop)
}

/// The new version becomes the current one, and the current the previous.
async fn rotate(aws: Aws, name: &str, secret: &str, round: u32) -> Result<()> {
    let request =
        json!({ "SecretId": name, "SecretString": secret, "ClientRequestToken": token(name, round) });
    aws.ask("secretsmanager", "secretsmanager.PutSecretValue", &request).await.map(drop)
}

async fn put_parameter(aws: Aws, name: &str, value: &str) -> Result<()> {
    let request = json!({ "Name": name, "Value": value, "Type": "SecureString", "Overwrite": true });
    aws.ask("ssm", "AmazonSSM.PutParameter", &request).await.map(drop)
}

/// A version is named by the caller, in 32 to 64 letters.
fn token(name: &str, round: u32) -> String {
    format!("{name:x>40}-{round}").chars().filter(|letter| letter.is_ascii_alphanumeric()).collect()
}

/// A delivery of its own, signed with this secret.
async fn deliver(driven: &Driven, ingest: &Worker, endpoint: &'static str, secret: &str) -> Result<Answer> {
    let signed = driven.vendors.sign_with(push(&unique("delivery"), "c").to(endpoint), secret)?;
    driven.deliver(ingest, &signed).await?.context("it answers")
}

fn readings(ingest: &Worker, operation: &str) -> usize {
    ingest.proxy.calls().iter().filter(|call| call.starts_with(operation)).count()
}

// INV-10
#[tokio::test]
async fn a_rotated_secret_verifies_at_once_and_whoever_guesses_causes_one_reading() -> Result<()> {
    let name = unique("secret");
    let driven = driven_with(&hub("hub", &[format!("secretsmanager:{name}")])).await?;
    let aws = driven.kept.aws;
    create(aws, &name, "invented-secret-one").await?;
    let ingest = driven.worker("ingest").await?;
    ensure!(deliver(&driven, &ingest, "hub", "invented-secret-one").await?.status == 202);
    let before = readings(&ingest, "GetSecretValue");
    rotate(aws, &name, "invented-secret-two", 1).await?;
    // The first delivery that nothing known verifies has the secret read again.
    ensure!(
        deliver(&driven, &ingest, "hub", "invented-secret-two").await?.status == 202,
        "no deployment is needed"
    );
    ensure!(
        deliver(&driven, &ingest, "hub", "invented-secret-one").await?.status == 202,
        "the previous one is live"
    );
    let after = readings(&ingest, "GetSecretValue");
    ensure!(after > before, "it was read again");
    // Within half a minute nobody has it read once more, and the answer does not say why.
    for _ in 0..5 {
        let answer = deliver(&driven, &ingest, "hub", "a-guess-of-somebody").await?;
        ensure!(answer.status == 401 && answer.body["error"] == "unauthorized", "{answer:?}");
    }
    ensure!(readings(&ingest, "GetSecretValue") == after, "guesses caused readings");
    let log = std::fs::read_to_string(driven.folder().join("ingest.log"))?;
    ensure!(log.contains("refresh_suppressed"), "the log says why it was not read: {log}");
    // Which secret matched is in the log, and none of them is.
    ensure!(log.contains("signature.secret") && !log.contains("invented-secret"), "{log}");
    Ok(())
}

#[tokio::test]
async fn a_secret_is_found_with_every_keeper() -> Result<()> {
    let (parameter, member) = (unique("/parameter"), unique("member"));
    let endpoints = [
        hub("kept", &[format!("ssm:{parameter}")]),
        hub("filed", &["file:hub-secret".to_owned()]),
        hub("member", &[format!("secretsmanager:{member}#github")]),
    ];
    let driven = driven_with(&endpoints.concat()).await?;
    put_parameter(driven.kept.aws, &parameter, "invented-parameter").await?;
    create(driven.kept.aws, &member, r#"{"github":"invented-member","other":"invented-other"}"#).await?;
    std::fs::write(driven.folder().join("config/hub-secret"), "invented-file\n")?;
    let ingest = driven.worker("ingest").await?;
    for (endpoint, secret) in
        [("kept", "invented-parameter"), ("filed", "invented-file"), ("member", "invented-member")]
    {
        ensure!(deliver(&driven, &ingest, endpoint, secret).await?.status == 202, "{endpoint}");
        ensure!(deliver(&driven, &ingest, endpoint, "invented-other").await?.status == 401, "{endpoint}");
    }
    Ok(())
}

// INV-10
#[tokio::test]
async fn a_blank_secret_among_good_ones_is_left_out_and_blank_ones_alone_take_the_endpoint_offline()
-> Result<()> {
    let (good, blank) = (unique("good"), unique("/blank"));
    let place = format!("ssm:{blank}");
    let endpoints =
        [hub("some", &[place.clone(), format!("secretsmanager:{good}")]), hub("none", &[place])].concat();
    let driven = driven_with(&endpoints).await?;
    create(driven.kept.aws, &good, "invented-good-one").await?;
    put_parameter(driven.kept.aws, &blank, " ").await?;
    let ingest = driven.worker("ingest").await?;
    ensure!(deliver(&driven, &ingest, "some", "invented-good-one").await?.status == 202);
    for guess in ["a-first-guess", "another-guess"] {
        ensure!(deliver(&driven, &ingest, "some", guess).await?.status == 401, "{guess:?}");
        let answer = deliver(&driven, &ingest, "none", guess).await?;
        ensure!(answer.status == 503 && answer.headers.contains_key("retry-after"), "{answer:?}");
    }
    let log = std::fs::read_to_string(driven.folder().join("ingest.log"))?;
    let told = log.lines().find(|line| line.contains("\"some\"") && line.contains("a secret cannot be used"));
    let told = told.context("the log names the secret that is left out")?;
    ensure!(told.contains("unusable") && told.contains(&blank), "{told}");
    Ok(())
}

const SHARED: &str = "dedup_scope = \"account\"\n";

#[tokio::test]
async fn two_urls_of_one_account_see_one_event_and_tenants_see_each_their_own() -> Result<()> {
    let tenants = unique("tenants");
    let secret = || ["env:HUB_SECRET".to_owned()];
    let endpoints = [
        hub("first", &secret()) + SHARED,
        hub("second", &secret()) + SHARED,
        hub("alone", &secret()),
        hub("many", &[format!("secretsmanager:{tenants}/{{tenant}}/hub")]) + "tenant = \"path\"\n",
    ];
    let mut driven = driven_with(&endpoints.concat()).await?;
    driven.set("HUB_SECRET", "invented-shared-one");
    for tenant in ["acme", "globex"] {
        create(driven.kept.aws, &format!("{tenants}/{tenant}/hub"), &format!("invented-for-{tenant}"))
            .await?;
    }
    let ingest = driven.worker("ingest").await?;
    let id = unique("delivery");
    let send = async |delivery: Delivery, secret: &str| {
        let signed = driven.vendors.sign_with(delivery, secret)?;
        driven.deliver(&ingest, &signed).await?.context("it answers")
    };
    let event = |endpoint| push(&id, "c").to(endpoint);
    for (endpoint, status, result) in [
        ("first", 202, "new"),
        ("second", 200, "duplicate"),
        ("alone", 202, "new"),
        ("second", 200, "duplicate"),
    ] {
        let answer = send(event(endpoint), "invented-shared-one").await?;
        ensure!(answer.status == status && answer.body["result"] == result, "{endpoint}: {answer:?}");
    }
    // INV-7: the same id of two tenants is two events.
    for tenant in ["acme", "globex"] {
        let answer = send(event("many").of(tenant), &format!("invented-for-{tenant}")).await?;
        ensure!(answer.status == 202 && answer.body["result"] == "new", "{tenant}: {answer:?}");
    }
    let stranger = send(event("many").of("globex"), "invented-for-acme").await?;
    let nobody = send(event("many").of("initech"), "invented-for-acme").await?;
    ensure!((stranger.status, nobody.status) == (401, 401), "{stranger:?} {nobody:?}");
    Ok(())
}
