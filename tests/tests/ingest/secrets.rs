//! Secrets as the one who delivers meets them.

use super::*;
use sekali::ports::NoSecret;
use sekali::secret::Stage;
use sekali::secrets::{REFRESH_INTERVAL, RETRY_OFFLINE, TIME_TO_LIVE};

const SHOP: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["secretsmanager:prod/shop", "ssm:/second-account"]
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
"#;
const NAME: &str = "secretsmanager:prod/shop";

fn bench() -> Bench {
    let bench = Bench::with(SHOP);
    bench.secrets.put(NAME, "whsec_first");
    bench.secrets.put("ssm:/second-account", "whsec_account");
    bench.secrets.put("env:HUB", "of the hub");
    bench
}

fn event(id: &str, secret: &str) -> Delivery {
    Delivery::to("shop", &stripe(id, "")).signed(secret)
}

#[tokio::test]
async fn a_rotation_mid_run_loses_no_delivery_and_the_event_says_which_secret_it_was() {
    let bench = bench();
    assert_eq!(bench.deliver(&event("evt_1", "whsec_first")).await.status, 202);
    bench.secrets.rotate(NAME, "whsec_second");
    assert_eq!(bench.deliver(&event("evt_2", "whsec_second")).await.status, 202);
    assert_eq!(bench.deliver(&event("evt_3", "whsec_first")).await.status, 202);
    assert_eq!(bench.deliver(&event("evt_4", "whsec_account")).await.status, 202);
    let secrets: Vec<String> =
        bench.events().iter().map(|event| event.signature.secret.unwrap().to_string()).collect();
    assert_eq!(secrets, ["1 (current)", "1 (current)", "1 (previous)", "2 (current)"]);
    assert_eq!(bench.events()[2].signature.secret.unwrap().stage, Stage::Previous);
}

#[tokio::test]
async fn a_thousand_forged_deliveries_write_nothing_and_ask_the_keeper_once_in_an_interval() {
    let bench = bench();
    assert_eq!(bench.deliver(&event("evt_1", "whsec_first")).await.status, 202);
    let before = (bench.store.tables(), bench.secrets.readings().len());
    for number in 0..1_000 {
        let forged = event(&format!("evt_forged_{number}"), "whsec_guess");
        assert_eq!(bench.deliver(&forged).await.status, 401);
    }
    assert_eq!(bench.store.tables(), before.0);
    assert_eq!(bench.secrets.readings().len(), before.1 + 2, "one reading of two secrets");
    bench.clock.advance(REFRESH_INTERVAL);
    assert_eq!(bench.deliver(&event("evt_forged", "whsec_guess")).await.status, 401);
    assert_eq!(bench.secrets.readings().len(), before.1 + 4);
}

#[tokio::test]
async fn every_reason_for_a_bad_signature_is_answered_alike() {
    let bench = bench();
    let mut answers = Vec::new();
    answers.push(bench.deliver(&Delivery::to("shop", &stripe("evt_1", ""))).await);
    answers.push(bench.deliver(&event("evt_1", "whsec_guess")).await);
    bench.secrets.refuse(NAME, NoSecret::Unavailable("invented".into()));
    answers.push(bench.deliver(&event("evt_1", "whsec_guess")).await);
    bench.clock.advance(REFRESH_INTERVAL);
    answers.push(bench.deliver(&event("evt_1", "whsec_guess")).await);
    let old = event("evt_1", "whsec_first");
    bench.clock.advance(TIME_TO_LIVE);
    let mut old = old;
    old.request.headers = Headers::new([("stripe-signature", "t=1,v1=00")]);
    old.secret = None;
    answers.push(bench.deliver(&old).await);
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer.status == 401), "{answers:?}");
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn a_keeper_that_does_not_answer_stops_nobody_who_is_known() {
    let bench = bench();
    assert_eq!(bench.deliver(&event("evt_1", "whsec_first")).await.status, 202);
    for name in [NAME, "ssm:/second-account"] {
        bench.secrets.refuse(name, NoSecret::Unavailable("invented".into()));
    }
    bench.clock.advance(TIME_TO_LIVE);
    assert_eq!(bench.deliver(&event("evt_2", "whsec_first")).await.status, 202);
}

// INV-10
#[tokio::test]
async fn nothing_but_blank_secrets_is_503_for_that_endpoint_alone_until_it_is_mended() {
    let bench = bench();
    bench.secrets.put(NAME, "  ");
    bench.secrets.put("ssm:/second-account", "");
    let answer = bench.deliver(&event("evt_1", "whsec_first")).await;
    assert_eq!(answer.status, 503);
    assert!(header(&answer, "retry-after").is_some());
    let push = Delivery::to("hub", "{}")
        .header("x-github-delivery", "d-1")
        .header("x-github-event", "push")
        .signed("of the hub");
    assert_eq!(bench.deliver(&push).await.status, 202);
    assert_eq!(bench.events().len(), 1);
    bench.secrets.put(NAME, "whsec_first");
    bench.clock.advance(RETRY_OFFLINE);
    assert_eq!(bench.deliver(&event("evt_1", "whsec_first")).await.status, 202);
}

// INV-10
#[tokio::test]
async fn one_blank_secret_among_good_ones_is_left_out() {
    let bench = bench();
    bench.secrets.put(NAME, "\n");
    assert_eq!(bench.deliver(&event("evt_1", "whsec_account")).await.status, 202);
    assert_eq!(bench.deliver(&event("evt_2", "whsec_first")).await.status, 401);
}

#[tokio::test]
async fn what_was_read_at_the_start_is_not_read_with_the_first_delivery() {
    let bench = bench();
    bench.ingest.keyring.warm(&bench.deployment.config, START).await;
    let before = bench.secrets.readings();
    assert_eq!(before.len(), 3, "{before:?}");
    assert_eq!(bench.deliver(&event("evt_1", "whsec_first")).await.status, 202);
    assert_eq!(bench.secrets.readings(), before);
}
