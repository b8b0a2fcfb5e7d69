//! Webhooks that are only a signal: what the vendor's API says is what counts.

use super::*;
use sekali::ids::{ResourceKind, Version};
use sekali::key::ResourceKey;
use sekali::ports::{Get, Got, NotGot, Store, Write};
use sekali::protocol::event::EventStatus;
use sekali::protocol::resource::{Resource, ResourceGuard};
use sekali::protocol::transition::{ResourceWrite, Transition};
use sekali::rule::OrderValue;
use sekali_tests::memory::{MemoryApi, got};

const SECRET: &str = "whsec_aW52ZW50ZWQgZm9yIHRoZSBzaWdubmFscw==";
const API: &str = "https://api.example.com/v1/jobs";

/// A thin event: its job, its state and what is to be done are asked for.
const THIN: &str = r#"
[endpoint.jobs]
vendor = "openai"
secrets = ["env:JOBS"]
resource.job = "fetch:/job"
[endpoint.jobs.fetch]
url = "https://api.example.com/v1/jobs/{/data/id}"
bearer = "secretsmanager:prod/api"
timeout = "2s"
AGE
[[endpoint.jobs.rule]]
type = "response.completed"
when = { "fetch:/status" = "completed" }
status = "completed"
action.finish = { job = "fetch:/job", text = "fetch:/output", ref = "/data/id" }
late = "skip"
[resource.job]
order = "ORDER"
moves = ["queued -> completed", "queued -> failed"]
[action]
finish = { key = ["job"], to = "desk" }
[destination]
desk = { http = "https://desk.example.com/done" }
"#;

struct Jobs {
    bench: Bench,
    api: MemoryApi,
    desk: MemoryDestination,
}

impl Jobs {
    fn with(order: &str, age: &str) -> Self {
        Self::of(&THIN.replace("ORDER", order).replace("AGE", age))
    }

    fn of(endpoints: &str) -> Self {
        let bench = Bench::with_vendors(endpoints, &[("vendors/pings.toml", PINGS)]);
        bench.secrets.put("env:JOBS", SECRET);
        bench.secrets.put("secretsmanager:prod/api", "invented-token\n");
        let desk = MemoryDestination::new(bench.clock.clone());
        Self { bench, api: MemoryApi::default(), desk }
    }

    /// The vendor signals that this job is completed.
    async fn signal(&self, event: &str, job: &str) {
        let body = format!(
            r#"{{"id":"evt","type":"response.completed","created_at":1800000000,"data":{{"id":"{job}"}}}}"#
        );
        let delivery = Delivery::to("jobs", &body).header("webhook-id", event).signed(SECRET);
        assert_eq!(self.bench.deliver(&delivery).await.status, 202);
    }

    async fn work(&self) -> Vec<Disposition> {
        self.bench.work(&self.desk, self.api.clone()).await
    }

    /// What the only event waits for, or how it ended.
    fn stands(&self) -> String {
        let events = self.bench.events();
        let [event] = &events[..] else { panic!("{} events", events.len()) };
        let reason = event.progress.reason.as_ref().map(|reason| {
            format!(": {} {}", reason.slug.as_str(), reason.cause.as_deref().unwrap_or_default())
        });
        format!("{}{}", event.progress.status.as_str(), reason.unwrap_or_default())
    }

    fn status_of(&self, job: &str) -> Option<String> {
        let key = ResourceKey::new(&ResourceKind::from("job"), None, job);
        self.bench.store.look(|tables| tables.resource(&key).map(|job| job.status.to_string()))
    }
}

fn url(job: &str) -> String {
    format!("{API}/{job}")
}

const COMPLETED: &str = r#"{"job":"j-1","status":"completed","output":"done","at":1800000000,"n":2}"#;

#[tokio::test]
async fn key_fields_and_conditions_come_from_the_api_which_is_asked_as_us() {
    let jobs = Jobs::with("rank", "headers = { X-Api-Version = \"7\" }");
    jobs.api.state(&url("r%2F1"), COMPLETED);
    jobs.signal("wh-1", "r/1").await;
    assert_eq!(jobs.work().await, [Disposition::Delete]);
    let asked = jobs.api.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].url, url("r%2F1"));
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        asked[0].headers,
        [header("x-api-version", "7"), header("authorization", "Bearer invented-token")]
    );
    assert_eq!(asked[0].timeout, seconds(2));
    let calls = jobs.desk.calls();
    assert_eq!(calls.len(), 1);
    let body = String::from_utf8_lossy(&calls[0].body).into_owned();
    assert!(body.ends_with(r#""data":{"job":"j-1","text":"done","ref":"r/1"}}"#), "{body}");
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("completed"));
}

#[tokio::test]
async fn two_signals_of_one_job_make_one_effect_whatever_they_are_called() {
    let jobs = Jobs::with("rank", "");
    jobs.api.state(&url("r-1"), COMPLETED);
    jobs.api.state(&url("r-2"), COMPLETED);
    jobs.signal("wh-1", "r-1").await;
    jobs.signal("wh-2", "r-2").await;
    jobs.work().await;
    jobs.bench.clock.advance(seconds(60));
    jobs.work().await;
    assert_eq!(jobs.desk.effects(), 1);
}

#[tokio::test]
async fn what_is_not_there_yet_is_asked_for_again_and_says_what_it_waits_for() {
    let jobs = Jobs::with("rank", "");
    jobs.signal("wh-1", "r-1").await;
    let [Disposition::Return(wait)] = jobs.work().await[..] else { panic!("it came back") };
    assert!(wait <= seconds(2), "{wait:?}");
    assert_eq!(jobs.stands(), "received: truth_unread the API answered 404");
    jobs.api.state(&url("r-1"), COMPLETED);
    jobs.bench.clock.advance(seconds(2));
    assert_eq!(jobs.work().await, [Disposition::Delete]);
    assert_eq!(jobs.stands(), "processed");
    assert_eq!(jobs.bench.events()[0].progress.attempts, 1, "waiting is no attempt");
}

#[tokio::test]
async fn an_api_that_asks_for_patience_gets_it() {
    let jobs = Jobs::with("rank", "");
    let slow = Got { retry_after: Some(seconds(40)), ..got(429, "") };
    jobs.api.once(&url("r-1"), Ok(slow));
    jobs.signal("wh-1", "r-1").await;
    let [Disposition::Return(wait)] = jobs.work().await[..] else { panic!("it came back") };
    assert!((seconds(40)..=seconds(42)).contains(&wait), "{wait:?}");
}

#[tokio::test]
async fn after_some_returns_the_sweeper_has_it_and_an_end_comes() {
    let jobs = Jobs::with("rank", "");
    jobs.api.answer(&url("r-1"), Err(NotGot::Unknown("no answer in time".to_owned())));
    jobs.signal("wh-1", "r-1").await;
    let mut last = Vec::new();
    for _ in 0..10 {
        let dispositions = jobs.work().await;
        if !dispositions.is_empty() {
            last = dispositions;
        }
        jobs.bench.clock.advance(seconds(100));
    }
    assert_eq!(last, [Disposition::Delete]);
    assert_eq!(jobs.api.asked().len(), 7);
    assert!(jobs.bench.events()[0].progress.due.is_some(), "the sweeper brings it back");
}

#[tokio::test]
async fn what_the_api_will_never_say_fails_where_people_see_it() {
    for (answer, cause) in [
        (Ok(got(403, "")), "the API answered 403"),
        (Ok(got(302, "")), "the API answered 302"),
        (Ok(got(200, "<html>")), "the API's answer is not JSON"),
        (Err(NotGot::TooLarge(1 << 20)), "the API: its answer has more than 1048576 bytes"),
    ] {
        let jobs = Jobs::with("rank", "");
        jobs.api.answer(&url("r-1"), answer);
        jobs.signal("wh-1", "r-1").await;
        assert_eq!(jobs.work().await, [Disposition::Fail]);
        assert_eq!(jobs.stands(), format!("failed: truth_refused {cause}"));
    }
}

#[tokio::test]
async fn truth_that_is_older_than_the_signal_is_asked_for_again_and_not_ignored() {
    for (age, older) in [
        ("time = \"fetch:/at\"", COMPLETED.replace("1800000000", "1799999999")),
        ("time = \"fetch:/at\"", r#"{"job":"j-1","status":"queued","at":"2027-01-15T07:59:59Z"}"#.to_owned()),
    ] {
        let jobs = Jobs::with("rank", age);
        jobs.api.once(&url("r-1"), Ok(got(200, &older)));
        jobs.api.state(&url("r-1"), COMPLETED);
        jobs.signal("wh-1", "r-1").await;
        assert!(matches!(jobs.work().await[..], [Disposition::Return(_)]), "{older}");
        assert_eq!(jobs.stands(), "received: truth_older the answer is older than the signal");
        assert_eq!(jobs.desk.calls().len(), 0);
        jobs.bench.clock.advance(seconds(2));
        assert_eq!(jobs.work().await, [Disposition::Delete]);
        assert_eq!((jobs.stands().as_str(), jobs.desk.effects()), ("processed", 1));
    }
}

#[tokio::test]
async fn an_answer_that_does_not_say_how_old_it_is_counts_against_a_rule_only_after_a_while() {
    let jobs = Jobs::with("rank", "");
    jobs.api.state(&url("r-1"), &COMPLETED.replace("\"completed\"", "\"queued\""));
    jobs.signal("wh-1", "r-1").await;
    assert!(matches!(jobs.work().await[..], [Disposition::Return(_)]));
    assert!(
        jobs.stands().starts_with("received: truth_older no rule matches the answer"),
        "{}",
        jobs.stands()
    );
    jobs.bench.clock.advance(seconds(300));
    assert_eq!(jobs.work().await, [Disposition::Delete]);
    assert_eq!(jobs.stands(), "ignored: no_rule ");
    let dated = Jobs::with("rank", "time = \"fetch:/at\"");
    dated.api.state(&url("r-1"), &COMPLETED.replace("\"completed\"", "\"queued\""));
    dated.signal("wh-1", "r-1").await;
    assert_eq!(dated.work().await, [Disposition::Delete]);
    assert_eq!(dated.stands(), "ignored: no_rule ", "as new as the signal, and no rule is for it");
}

#[tokio::test]
async fn a_secret_that_was_rotated_is_read_again_before_the_api_is_believed() {
    let jobs = Jobs::with("rank", "");
    jobs.api.state(&url("r-1"), COMPLETED);
    jobs.signal("wh-1", "r-1").await;
    let processor = Processor::new(
        jobs.bench.store.clone(),
        jobs.desk.clone(),
        WithSecrets { outbound: jobs.api.clone(), keeper: jobs.bench.secrets.clone() },
        jobs.bench.clock.clone(),
        SeededEntropy::seeded(2),
        Arc::clone(&jobs.bench.deployment),
    );
    for token in ["invented-token", "rotated-token"] {
        jobs.signal(token, "r-1").await;
        for letter in jobs.bench.queue.receive(10) {
            let (message, receive_count) = (letter.message, letter.receive_count);
            let record = Record { message, stamped_at: letter.sent_at, receive_count };
            let end = processor.record(&record, Deadline::Unknown).await;
            assert_eq!(end, Disposition::Delete, "{token}");
        }
        jobs.bench.secrets.rotate("secretsmanager:prod/api", "rotated-token");
        jobs.api.once(&url("r-1"), Ok(got(401, "")));
    }
    let tokens: Vec<String> =
        jobs.api.asked().iter().map(|asked| asked.headers[0].1.replace("Bearer ", "")).collect();
    assert_eq!(tokens, ["invented-token", "invented-token", "invented-token", "rotated-token"]);
}

/// A vendor that says of nothing what it is: each ping is an event of its own.
const PINGS: &str = r#"confirmed = true
[[scheme]]
kind = "none"
[[event]]
identity = "none"
type = "/type"
resource = "/job"
[retry]
horizon = "1d"
resend = "0s"
"#;

const PINGED: &str = r#"
[endpoint.pings]
vendor = "pings"
resource.job = "/job"
[endpoint.pings.fetch]
url = "https://api.example.com/v1/jobs/{/job}"
version = "fetch:/n"
[[endpoint.pings.rule]]
type = "changed"
status = "fetch:/status"
[resource.job]
order = "fetch"
moves = ["queued -> running -> queued", "running -> completed"]
"#;

async fn ping(jobs: &Jobs, job: &str) {
    let body = format!(r#"{{"type":"changed","job":"{job}"}}"#);
    assert_eq!(jobs.bench.deliver(&Delivery::to("pings", &body)).await.status, 202);
}

fn state(status: &str, n: u32) -> String {
    format!(r#"{{"status":"{status}","n":{n}}}"#)
}

#[tokio::test]
async fn pings_of_one_resource_are_many_events_and_one_question() {
    let jobs = Jobs::of(PINGED);
    jobs.api.state(&url("j-1"), &state("queued", 1));
    jobs.api.state(&url("j-2"), &state("running", 1));
    for _ in 0..10 {
        ping(&jobs, "j-1").await;
    }
    ping(&jobs, "j-2").await;
    assert_eq!(jobs.work().await, vec![Disposition::Delete; 11]);
    assert_eq!(jobs.api.asked().len(), 2);
    let events = jobs.bench.events();
    assert_eq!(events.len(), 11);
    assert!(events.iter().all(|event| event.progress.status == EventStatus::Processed));
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("queued"));
    assert_eq!(jobs.status_of("j-2").as_deref(), Some("running"));
}

// A cached read serves only events that were received before it began.
#[tokio::test]
async fn a_ping_that_comes_after_a_read_is_read_for_anew() {
    let jobs = Jobs::of(PINGED);
    jobs.api.once(&url("j-1"), Ok(got(200, &state("queued", 1))));
    jobs.api.state(&url("j-1"), &state("running", 2));
    ping(&jobs, "j-1").await;
    jobs.work().await;
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("queued"));
    ping(&jobs, "j-1").await;
    jobs.work().await;
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("running"));
    assert_eq!(jobs.api.asked().len(), 2);
}

#[tokio::test]
async fn an_answer_that_goes_back_on_an_earlier_one_is_asked_for_again() {
    let jobs = Jobs::of(PINGED);
    jobs.api.once(&url("j-1"), Ok(got(200, &state("running", 5))));
    jobs.api.once(&url("j-1"), Ok(got(200, &state("queued", 4))));
    jobs.api.state(&url("j-1"), &state("completed", 6));
    ping(&jobs, "j-1").await;
    assert_eq!(jobs.work().await, [Disposition::Delete]);
    ping(&jobs, "j-1").await;
    assert!(matches!(jobs.work().await[..], [Disposition::Return(_)]));
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("running"), "and nothing went back");
    jobs.bench.clock.advance(seconds(2));
    assert_eq!(jobs.work().await, [Disposition::Delete]);
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("completed"));
}

/// While the first question is asked, another worker moves the resource by an
/// answer that is newer than the one that is on its way.
struct Overtaken {
    store: MemoryStore,
    api: MemoryApi,
    to: Resource,
}

impl Outbound for Overtaken {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
        let first = self.api.asked().is_empty();
        let answer = self.api.get(get).await;
        if first {
            let resource = ResourceWrite { from: ResourceGuard::Absent, to: self.to.clone() };
            let transition = Transition { resource: Some(resource), ..Transition::default() };
            assert_eq!(self.store.write(&transition).await, Ok(Write::Applied));
        }
        answer
    }
}

// INV-3: the claim names the version that was read before the question.
#[tokio::test]
async fn an_answer_that_was_overtaken_between_read_and_claim_is_refused_and_asked_for_anew() {
    let jobs = Jobs::of(&PINGED.replace("version = \"fetch:/n\"\n", ""));
    jobs.api.once(&url("j-1"), Ok(got(200, &state("queued", 1))));
    jobs.api.state(&url("j-1"), &state("completed", 3));
    ping(&jobs, "j-1").await;
    let to = Resource {
        key: ResourceKey::new(&ResourceKind::from("job"), None, "j-1"),
        status: "running".into(),
        order: OrderValue::Rank,
        version: Version::FIRST,
        moved_by: jobs.bench.events()[0].key.clone(),
        moved_at: jobs.bench.clock.now(),
    };
    let api = Overtaken { store: jobs.bench.store.clone(), api: jobs.api.clone(), to };
    assert_eq!(jobs.bench.work(&jobs.desk, api).await, [Disposition::Delete]);
    assert_eq!(jobs.api.asked().len(), 2);
    assert_eq!(jobs.status_of("j-1").as_deref(), Some("completed"), "not `queued`, which was true before");
}

#[tokio::test]
async fn an_event_that_names_nothing_to_ask_about_is_held_at_once() {
    let jobs = Jobs::with("rank", "");
    let body = r#"{"id":"evt","type":"response.completed","created_at":1800000000,"data":{"id":""}}"#;
    let delivery = Delivery::to("jobs", body).header("webhook-id", "wh-1").signed(SECRET);
    assert_eq!(jobs.bench.deliver(&delivery).await.status, 202);
    assert_eq!(jobs.stands(), "held: missing_key_part fetch: part 1 of the URL is absent or empty");
    assert_eq!(jobs.api.asked(), []);
}

#[tokio::test]
async fn an_event_that_no_rule_is_for_asks_nobody() {
    let jobs = Jobs::with("rank", "");
    let body = r#"{"id":"evt","type":"response.failed","created_at":1800000000,"data":{"id":"r-1"}}"#;
    let delivery = Delivery::to("jobs", body).header("webhook-id", "wh-1").signed(SECRET);
    assert_eq!(jobs.bench.deliver(&delivery).await.status, 202);
    assert_eq!(jobs.work().await, [Disposition::Delete]);
    assert_eq!((jobs.stands().as_str(), jobs.api.asked().len()), ("ignored: no_rule ", 0));
}
