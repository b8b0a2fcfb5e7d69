//! Callers that send a key of their own and want to hear what became of it.

use super::*;
use sekali_tests::memory::{MemoryApi, Script};

const CALLER: &str = r#"confirmed = true
[[scheme]]
name = "v1"
kind = "hmac"
alg = "sha256"
signature = { from = "header:x-signature" }
message = "{body}"
[[event]]
id = "header:idempotency-key"
type = "/type"
[retry]
horizon = "1d"
resend = "0s"
"#;

const OWN: &str = r#"
[endpoint.orders]
vendor = "caller"
secrets = ["env:CALLER"]
duplicate = "result"
UNFINISHED
[[endpoint.orders.rule]]
type = "pack"
action.pack = { order = "/order" }
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks" }
"#;

fn bench(unfinished: &str) -> Bench {
    let vendors = [("vendors/caller.toml", CALLER)];
    let bench = Bench::with_vendors(&OWN.replace("UNFINISHED", unfinished), &vendors);
    bench.secrets.put("env:CALLER", "invented-secret-of-a-caller");
    bench
}

fn request(kind: &str, order: &str) -> Delivery {
    let body = format!(r#"{{"type":"{kind}","order":"{order}"}}"#);
    Delivery::to("orders", &body).header("idempotency-key", "key-1").signed("invented-secret-of-a-caller")
}

async fn heard(bench: &Bench, delivery: &Delivery) -> (u16, String) {
    let answer = bench.deliver(delivery).await;
    (answer.status, answer.body.replace(r#","correlation_id":"c-1""#, ""))
}

#[tokio::test]
async fn a_repeated_request_is_answered_with_the_stored_result_of_the_first() {
    let bench = bench("");
    let destination = MemoryDestination::new(bench.clock.clone());
    assert_eq!(bench.deliver(&request("pack", "o-1")).await.status, 202);
    let busy = bench.deliver(&request("pack", "o-1")).await;
    assert_eq!((busy.status, header(&busy, "retry-after")), (409, Some("2")));
    assert!(busy.body.starts_with(r#"{"result":"duplicate","status":"received""#), "{}", busy.body);
    bench.work(&destination, MemoryApi::default()).await;
    let (status, body) = heard(&bench, &request("pack", "o-1")).await;
    assert_eq!(status, 200);
    let known = r#"{"result":"duplicate","status":"processed","effect":"#;
    assert!(body.starts_with(known), "{body}");
    let again = heard(&bench, &request("pack", "o-1")).await;
    assert_eq!(again, (status, body), "and the same each time");
    assert_eq!(destination.effects(), 1);
}

#[tokio::test]
async fn an_unfinished_first_request_is_409_or_202_as_the_endpoint_says() {
    let bench = bench("unfinished = 202");
    assert_eq!(bench.deliver(&request("pack", "o-1")).await.status, 202);
    let (status, body) = heard(&bench, &request("pack", "o-1")).await;
    assert_eq!((status, body.as_str()), (202, r#"{"result":"duplicate","status":"received"}"#));
}

#[tokio::test]
async fn the_same_key_with_other_content_is_refused_and_the_first_goes_on() {
    let bench = bench("");
    assert_eq!(bench.deliver(&request("pack", "o-1")).await.status, 202);
    let other = heard(&bench, &request("pack", "o-2")).await;
    assert_eq!(other, (422, r#"{"error":"other_content"}"#.to_owned()));
    let events = bench.events();
    assert_eq!((events.len(), events[0].seen.conflicts), (1, 1));
    let destination = MemoryDestination::new(bench.clock.clone());
    bench.work(&destination, MemoryApi::default()).await;
    let calls = destination.calls();
    assert_eq!(calls.len(), 1);
    assert!(String::from_utf8_lossy(&calls[0].body).contains("o-1"));
}

#[tokio::test]
async fn what_was_refused_or_ignored_is_a_result_too_and_what_is_in_doubt_is_none() {
    let bench_of = |script: Option<Script>| {
        let bench = bench("");
        let destination = MemoryDestination::new(bench.clock.clone());
        script.into_iter().for_each(|script| destination.script(script));
        (bench, destination)
    };
    for (kind, script, expected) in [
        (
            "pack",
            Some(Script::rejects()),
            (200, r#"{"result":"duplicate","status":"failed","reason":"rejected"}"#),
        ),
        ("wave", None, (200, r#"{"result":"duplicate","status":"ignored","reason":"no_rule"}"#)),
        ("pack", Some(Script::is_silent()), (409, r#"{"result":"duplicate","status":"in_doubt"}"#)),
    ] {
        let (bench, destination) = bench_of(script);
        assert_eq!(bench.deliver(&request(kind, "o-1")).await.status, 202);
        bench.work(&destination, MemoryApi::default()).await;
        let (status, body) = heard(&bench, &request(kind, "o-1")).await;
        assert_eq!((status, body.as_str()), expected);
    }
}
