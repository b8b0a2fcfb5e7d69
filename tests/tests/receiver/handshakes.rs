//! Every kind of handshake, by the real function: answered as recorded, and
//! whatever is only nearly one is not.

use super::{deployed, driven_with};
use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sekali_cli::local::aws::REGION;
use sekali_tests::e2e::driven::{Answer, Driven};
use sekali_tests::e2e::vendors::{Delivery, Signed, unique};
use sekali_tests::e2e::worker::Worker;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Recorded and derived ones. Those that were signed at a time are left to the
/// tests whose clock stands still, as are the events.
fn vectors() -> Result<Vec<Value>> {
    let mut vectors = Vec::new();
    for text in [include_str!("../../vectors/handshakes.json"), include_str!("../../vectors/probes.json")] {
        vectors.extend(serde_json::from_str::<Vec<Value>>(text)?);
    }
    let timely = |vector: &Value| {
        let accepted = vector["expect"]["status"].as_u64().is_some_and(|status| status < 300);
        let timed = ["slack", "zoom"].iter().any(|vendor| vector["vendor"] == *vendor);
        !timed || !accepted && vector["expect"]["status"] == 401
    };
    let handshake = |vector: &Value| !vector["expect"]["status"].is_null();
    Ok(vectors.into_iter().filter(|vector| handshake(vector) && timely(vector)).collect())
}

/// What the team configures: the texts of a parameter.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(many) => many.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// An endpoint for each vector, and the variables that hold their secrets.
pub(super) fn endpoints(vectors: &[Value]) -> Result<(String, Vec<(String, String)>)> {
    const PARAMS: [&str; 6] =
        ["verify_token", "topics", "allowed_origins", "rate", "topic_arns", "client_id"];
    let (mut file, mut variables) = (String::new(), Vec::new());
    for (index, vector) in vectors.iter().enumerate() {
        let mut secrets = texts(&vector["secret"]);
        let mut params = Vec::new();
        for (name, value) in vector["params"].as_object().into_iter().flatten() {
            if PARAMS.contains(&name.as_str()) {
                params.push(format!("{name} = {}", Value::from(texts(value).join(" "))));
            } else if !["pending", "endpoint"].contains(&name.as_str()) {
                secrets.extend(texts(value));
            }
        }
        // One that nobody set stands for the secret that there is not yet.
        let names: Vec<String> =
            (0..secrets.len().max(1)).map(|number| format!("HANDSHAKE_{index}_{number}")).collect();
        variables.extend(names.iter().cloned().zip(secrets));
        let names: Vec<String> = names.iter().map(|name| format!("\"env:{name}\"")).collect();
        writeln!(
            file,
            "[endpoint.hub-{index}]\nvendor = {}\nallow_unconfirmed = true\ndedup_window = \"90d\"\n\
             public_url = \"https://hooks.example.com/webhooks/hub\"\nsecrets = [{}]\nparams = {{ {} }}",
            vector["vendor"],
            names.join(", "),
            params.join(", ")
        )?;
    }
    Ok((file, variables))
}

/// The vector as API Gateway hands it over.
pub(super) fn event(vector: &Value, index: usize) -> Value {
    let endpoint = format!("hub-{index}");
    let path = format!("/webhooks/{endpoint}");
    let url = vector["url"].as_str().unwrap_or_default();
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let mut headers = serde_json::Map::new();
    for pair in vector["headers"].as_array().into_iter().flatten() {
        let name = pair[0].as_str().unwrap_or_default().to_ascii_lowercase();
        // The gateway joins what stands twice.
        let value = pair[1].as_str().unwrap_or_default();
        let joined = match headers.get(&name).and_then(Value::as_str) {
            Some(first) => format!("{first},{value}"),
            None => value.to_owned(),
        };
        headers.insert(name, joined.into());
    }
    let body = vector["body_b64"].as_str().unwrap_or_default();
    json!({
        "version": "2.0", "routeKey": "ANY /webhooks/{endpoint}", "rawPath": path, "rawQueryString": query,
        "headers": headers, "pathParameters": { "endpoint": endpoint },
        "requestContext": {
            "accountId": "000000000000", "apiId": "driven", "domainName": "driven.example.com",
            "http": { "method": vector["method"], "path": path, "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.10", "userAgent": "vendor" },
            "requestId": unique("request"), "routeKey": "ANY /webhooks/{endpoint}", "stage": "$default",
            "time": "21/Sep/2026:15:00:05 +0000", "timeEpoch": 1_790_002_805_000_i64,
        },
        "body": body, "isBase64Encoded": true,
    })
}

/// What is otherwise than expected.
fn difference(vector: &Value, answer: &Answer) -> Option<String> {
    let expect = &vector["expect"];
    let found = |what: &str, wanted: &Value, got: Value| {
        (!wanted.is_null() && *wanted != got)
            .then(|| format!("{}: {what} is {got}, not {wanted}", vector["id"]))
    };
    let media = answer.headers.get("content-type").and_then(|text| text.split(';').next());
    let headers = expect["headers"].as_object().into_iter().flatten().find_map(|(name, value)| {
        found(name, value, answer.headers.get(&name.to_ascii_lowercase()).cloned().into())
    });
    let absent = expect["absent_headers"].as_array().into_iter().flatten().find_map(|name| {
        let name = name.as_str().unwrap_or_default().to_ascii_lowercase();
        answer.headers.contains_key(&name).then(|| format!("{}: {name} is there", vector["id"]))
    });
    let other = expect["or_status"].as_u64() == Some(answer.status.into());
    let status = if other { &expect["or_status"] } else { &expect["status"] };
    found("status", status, answer.status.into())
        .or_else(|| found("content type", &expect["content_type"], media.into()))
        .or_else(|| found("body", &expect["body"], answer.text.clone().into()))
        .or_else(|| found("body", &expect["body_json"], answer.body.clone()))
        .or(headers)
        .or(absent)
}

// INV-10
#[tokio::test]
async fn every_kind_of_handshake_is_answered_and_what_is_nearly_one_is_not() -> Result<()> {
    let vectors: Vec<Value> = vectors()?
        .into_iter()
        // A secret that was handed over before is a test of its own.
        .filter(|vector| vector["params"]["captured_token"].is_null())
        // What stands twice is one value behind a gateway that joins.
        .filter(|vector| vector["id"] != "okta/repeated-challenge")
        .collect();
    ensure!(vectors.len() > 60, "only {} vectors", vectors.len());
    let (file, variables) = endpoints(&vectors)?;
    let mut driven = driven_with(&file).await?;
    for (name, value) in &variables {
        driven.set(name, value);
    }
    let ingest = driven.worker("ingest").await?;
    let mut wrong = Vec::new();
    for (index, vector) in vectors.iter().enumerate() {
        let answer = driven.request(&ingest, &event(vector, index)).await?.context("it answers")?;
        wrong.extend(difference(vector, &answer));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A confirmation is an event, and everything else wrote nothing but what was handed over.
    let events = driven.kept.events().await?;
    let written: Vec<&str> = events.iter().map(|event| event.text("type")).collect();
    ensure!(written.iter().all(|kind| *kind == "SubscriptionConfirmation"), "{written:?}");
    Ok(())
}

/// Those that are signed at a time are signed now.
#[tokio::test]
async fn a_challenge_of_slack_or_zoom_is_answered_once_it_is_signed() -> Result<()> {
    let endpoint = |vendor: &str| {
        format!(
            "[endpoint.{vendor}]\nvendor = \"{vendor}\"\nallow_unconfirmed = true\n\
             dedup_window = \"90d\"\nsecrets = [\"env:TIMED_SECRET\"]\n"
        )
    };
    let mut driven = driven_with(&(endpoint("slack") + &endpoint("zoom"))).await?;
    driven.set("TIMED_SECRET", "invented-signing-secret");
    let ingest = driven.worker("ingest").await?;
    let slack = json!({ "type": "url_verification", "challenge": "invented-challenge", "token": "t" });
    let zoom =
        json!({ "event": "endpoint.url_validation", "payload": { "plainToken": "qgg8vlvZRS6UYooatFL8Aw" } });
    for (vendor, asks) in [("slack", slack), ("zoom", zoom)] {
        for (secret, status) in [("invented-signing-secret", 200), ("another-signing-secret", 401)] {
            let signed = driven.vendors.sign_with(Delivery::new(vendor, asks.to_string()), secret)?;
            let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
            ensure!(answer.status == status, "{vendor}: {answer:?}");
            let echoed = answer.text.contains("invented-challenge")
                || answer.body["plainToken"] == "qgg8vlvZRS6UYooatFL8Aw";
            ensure!(echoed == (status == 200), "{vendor}: {answer:?}");
            let tag = answer.body["encryptedToken"].as_str().unwrap_or_default();
            ensure!(vendor == "slack" || (tag.len() == 64) == (status == 200), "{answer:?}");
        }
        let unsigned = Signed {
            headers: Vec::new(),
            ..driven.vendors.sign_with(Delivery::new(vendor, asks.to_string()), "x-invented")?
        };
        let answer = driven.deliver(&ingest, &unsigned).await?.context("it answers")?;
        ensure!(answer.status == 401, "{vendor}: {answer:?}");
    }
    ensure!(driven.kept.events().await?.is_empty(), "a handshake writes nothing");
    Ok(())
}

/// OPTIONS is not among them: the emulator answers it itself, as if for CORS.
#[tokio::test]
async fn a_probe_by_another_method_reaches_the_function_through_the_gateway() -> Result<()> {
    let deployed = deployed().await?;
    let answer = deployed.request("HEAD", "probed").await?;
    ensure!(answer.status == 200 && answer.text.is_empty(), "{answer:?}");
    let challenge = [("x-okta-verification-challenge", "invented-challenge")];
    let answer = deployed.request_with("GET", "challenged", &challenge).await?;
    ensure!(
        answer.status == 200 && answer.body == json!({ "verification": "invented-challenge" }),
        "{answer:?}"
    );
    let answer = deployed.request("GET", "challenged").await?;
    ensure!(answer.status == 400, "{answer:?}");
    Ok(())
}

const HANDED_OVER: &str = "[endpoint.notes]\nvendor = \"notion\"\nallow_unconfirmed = true\n\
    dedup_window = \"90d\"\nsecrets = [\"env:NOTES_SECRET\"]\n";

async fn hand_over(driven: &Driven, ingest: &Worker, token: &str) -> Result<u16> {
    let body = json!({ "verification_token": token }).to_string();
    let vector = json!({ "method": "POST", "url": "https://hooks.example.com/webhooks/notes", "headers":
        [["content-type", "application/json"]], "body_b64": STANDARD.encode(&body) });
    let mut event = event(&vector, 0);
    event["pathParameters"]["endpoint"] = "notes".into();
    Ok(driven.request(ingest, &event).await?.context("it answers")?.status)
}

/// The command line, built as these tests are.
pub(crate) fn sekali() -> Result<PathBuf> {
    let built = Command::new(env!("CARGO"))
        // Named alone, its crates would have other features and be built again.
        .args(["build", "--quiet", "--workspace", "--bin", "sekali"])
        .status()?;
    ensure!(built.success(), "the command line cannot be built");
    let here = std::env::current_exe()?;
    let folder = here.ancestors().nth(2).context("tests lie below what they are built beside")?;
    Ok(folder.join("sekali"))
}

/// What the command line says, where it is content.
fn handshake(driven: &Driven, sekali: &Path, what: &str) -> Result<Option<String>> {
    let output = Command::new(sekali)
        .args(["handshake", what, "notes", "--table", &driven.kept.tables.events])
        .env("AWS_ENDPOINT_URL", driven.kept.aws.endpoint())
        .envs([("AWS_REGION", REGION), ("AWS_ACCESS_KEY_ID", "invented")])
        .env("AWS_SECRET_ACCESS_KEY", "invented")
        .output()?;
    let said = String::from_utf8(output.stdout)?;
    Ok(output.status.success().then(|| said.trim().to_owned()))
}

// INV-10
#[tokio::test]
async fn a_secret_that_is_handed_over_is_shown_and_forgotten_by_the_command_line_alone() -> Result<()> {
    let mut driven = driven_with(HANDED_OVER).await?;
    let ingest = driven.worker("ingest").await?;
    let sekali = sekali()?;
    let shown = |driven: &Driven| handshake(driven, &sekali, "show");
    ensure!(shown(&driven)?.is_none(), "there is nothing to show");
    ensure!(hand_over(&driven, &ingest, "secret_invented_first").await? == 200);
    ensure!(hand_over(&driven, &ingest, "secret_of_a_stranger").await? == 401, "it was overwritten");
    ensure!(
        hand_over(&driven, &ingest, "secret_invented_first").await? == 200,
        "the answer may have been lost"
    );
    ensure!(shown(&driven)?.as_deref() == Some("secret_invented_first"));
    // It verifies nothing before a person has put it where secrets are kept.
    let event = Delivery::new("notes", json!({ "id": unique("event"), "type": "page.created" }).to_string());
    let signed = driven.vendors.sign_with(event, "secret_invented_first")?;
    let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
    ensure!(answer.status == 503, "{answer:?}");
    ensure!(handshake(&driven, &sekali, "forget")?.is_some() && shown(&driven)?.is_none());
    ensure!(hand_over(&driven, &ingest, "secret_invented_again").await? == 200, "the next one is kept");
    // With its secret the endpoint takes events, and no other secret.
    driven.set("NOTES_SECRET", "secret_invented_first");
    let configured = driven.worker("ingest").await?;
    let answer = driven.deliver(&configured, &signed).await?.context("it answers")?;
    ensure!(answer.status == 202, "{answer:?}");
    ensure!(hand_over(&driven, &configured, "secret_of_a_stranger").await? == 401);
    let log = std::fs::read_to_string(driven.folder().join("ingest.log"))?;
    for token in ["secret_invented_first", "secret_of_a_stranger", "secret_invented_again"] {
        ensure!(!log.contains(token), "the log holds a secret");
    }
    Ok(())
}
