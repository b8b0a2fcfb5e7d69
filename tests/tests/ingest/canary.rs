//! Marked secrets, signatures, headers and bodies go every way that a delivery
//! can go; the marks are looked for in all that is logged, answered and printed,
//! and in what is stored. The log is the functions' own, at its most talkative.

use super::logs::Lines;
use super::*;
use sekali::ports::{NoSecret, Outcome};
use sekali::protocol::action::EffectResult;
use sekali::protocol::event::EventStatus;
use sekali_tests::memory::{MemoryApi, Script, got};
use std::collections::BTreeSet;

/// What every mark begins with.
const MARK: &str = "canary";

const SHOP: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP", "env:OLD"]
resource.payment = "/customer"
max_body = "4KiB"
[[endpoint.shop.rule]]
type = "payment.paid"
status = "paid"
action.pack = { order = "/order", note = "/note" }
late = "act"

[endpoint.offline]
vendor = "stripe"
secrets = ["env:BLANK"]

[endpoint.guarded]
vendor = "stripe"
secrets = ["env:SHOP"]
[[endpoint.guarded.guard]]
networks = ["198.51.100.0/24"]
answer = 403

[endpoint.hub]
vendor = "notion"
secrets = ["env:HUB"]
allow_unconfirmed = true
dedup_window = "90d"

[endpoint.jobs]
vendor = "openai"
secrets = ["env:JOBS"]
resource.job = "fetch:/job"
[endpoint.jobs.fetch]
url = "https://api.example.com/v1/jobs/{/data/id}"
bearer = "env:API"
[[endpoint.jobs.rule]]
type = "response.completed"
when = { "fetch:/status" = "completed" }
status = "completed"
action.finish = { job = "fetch:/job", text = "fetch:/output" }
late = "skip"

[resource.payment]
order = "rank"
moves = ["pending -> paid"]
[resource.job]
order = "fetch"
moves = ["queued -> completed"]
[action]
pack = { key = ["order"], to = "desk" }
finish = { key = ["job"], to = "desk" }
[destination]
desk = { http = "https://desk.example.com/done" }
"#;

const FIRST: &str = "whsec_canary-secret-first";
const OLD: &str = "whsec_canary-secret-old";
/// Base64 of "canary-secret-of-the-jobs", as this vendor's secrets are.
const JOBS: &str = "whsec_Y2FuYXJ5LXNlY3JldC1vZi10aGUtam9icw==";
const API: &str = "canary-secret-token-of-the-api";

/// The ways, and all that was said on them.
struct Canary {
    bench: Bench,
    api: MemoryApi,
    desk: MemoryDestination,
    lines: Lines,
    said: String,
    /// What no output may hold besides the marks: signatures and encoded secrets.
    hidden: BTreeSet<String>,
}

impl Canary {
    fn new(lines: Lines) -> Self {
        let bench = Bench::with(SHOP);
        for (name, secret) in [("env:SHOP", FIRST), ("env:OLD", OLD), ("env:JOBS", JOBS), ("env:API", API)] {
            bench.secrets.put(name, secret);
        }
        bench.secrets.put("env:BLANK", " ");
        bench.secrets.refuse("env:HUB", NoSecret::Absent);
        let desk = MemoryDestination::new(bench.clock.clone());
        let hidden = [FIRST, OLD, JOBS, API].map(str::to_owned).into();
        Self { bench, api: MemoryApi::default(), desk, lines, said: String::new(), hidden }
    }

    /// Delivers with marks in headers and query; what came of it.
    async fn deliver(&mut self, delivery: Delivery) -> u16 {
        let mut marked = delivery
            .header("authorization", "Bearer canary-header-1")
            .header("cookie", "canary-header-2")
            .header("x-note", "canary-header-3");
        marked.request.query = format!("token={MARK}-query");
        let (_, request) = self.bench.made(&marked);
        for (_, value) in request.headers.iter().filter(|(name, _)| name.contains("signature")) {
            let value = String::from_utf8(value.to_vec()).unwrap();
            // `t=1,v1=MAC` or `v1,MAC`.
            let mac = value.rsplit(',').next().unwrap_or_default();
            self.hidden.insert(mac.strip_prefix("v1=").unwrap_or(mac).to_owned());
        }
        let answer = self.bench.deliver(&marked).await;
        self.said.push_str(&format!("{} {:?} {}\n", answer.status, answer.headers, answer.body));
        answer.status
    }

    async fn work(&mut self, script: Option<Script>) {
        script.into_iter().for_each(|script| self.desk.script(script));
        self.bench.work(&self.desk, self.api.clone()).await;
    }

    fn all_said(&mut self) -> &str {
        self.said.push_str(&self.lines.take());
        self.said.push_str(&self.bench.printed());
        &self.said
    }
}

/// An event with marks all over it, but for its resource, whose key is logged.
/// It names its order by its own id.
fn event(id: &str) -> Delivery {
    let more = format!(
        r#","customer":"cus_{id}","order":"canary-body-{id}","note":"canary-body","api_key":"canary-body""#
    );
    Delivery::to("shop", &stripe(id, &more))
}

fn signal(id: &str) -> Delivery {
    let body = format!(
        r#"{{"id":"evt","type":"response.completed","created_at":1800000000,"data":{{"id":"{id}","note":"canary-body"}}}}"#
    );
    Delivery::to("jobs", &body).header("webhook-id", id).signed(JOBS)
}

/// Every way of ingest, with what it is answered.
fn ways() -> Vec<(&'static str, Delivery, u16)> {
    let at = |endpoint: &str, delivery: Delivery| Delivery { endpoint: endpoint.to_owned(), ..delivery };
    let mut get = event("evt_get");
    get.request.method = "GET".to_owned();
    let mut torn = event("evt_torn");
    torn.request.body.truncate(40);
    let mut other = event("evt_new");
    other.request.body = String::from_utf8(other.request.body).unwrap().replace("true", "false").into_bytes();
    let large = format!(r#"{{"id":"evt_large","note":"{}"}}"#, "canary-body".repeat(500));
    let keyless = stripe("evt_keyless", r#","order":"canary-body","note":"canary-body""#);
    let token = r#"{"verification_token":"secret_canary-handed-over-and-long-enough"}"#;
    vec![
        ("new", event("evt_new").signed(FIRST), 202),
        ("duplicate", event("evt_new").signed(FIRST), 200),
        ("conflict", other.signed(FIRST), 200),
        ("by the old secret", event("evt_old").signed(OLD), 202),
        ("forged", event("evt_forged").signed("whsec_canary-secret-guessed"), 401),
        ("unsigned", event("evt_unsigned"), 401),
        ("garbled", event("evt_garbled").header("stripe-signature", "t=canary-header,v1=canary-header"), 401),
        ("held", Delivery::to("shop", &keyless).signed(FIRST), 202),
        ("unreadable", torn.signed(FIRST), 400),
        ("too large", Delivery::to("shop", &large).signed(FIRST), 413),
        ("strange type", event("evt_type").header("content-type", "text/canary-header").signed(FIRST), 415),
        ("other method", get, 405),
        ("no endpoint", at("nowhere", event("evt_nowhere")), 404),
        ("offline", at("offline", event("evt_offline")), 503),
        ("guarded", at("guarded", event("evt_guarded")), 403),
        ("a secret handed over", Delivery::to("hub", token), 200),
    ]
}

async fn every_way(canary: &mut Canary) {
    for (way, delivery, answer) in ways() {
        assert_eq!(canary.deliver(delivery).await, answer, "{way}: {}", canary.all_said());
    }
    canary.work(None).await;
    let lost = Script { acts: true, answer: Outcome::unknown("the answer was lost") };
    let done = Script { acts: true, answer: Outcome::Done(EffectResult("canary-answer".to_owned())) };
    for (id, script) in [("evt_a", lost), ("evt_b", Script::rejects()), ("evt_c", done)] {
        assert_eq!(canary.deliver(event(id).signed(FIRST)).await, 202);
        canary.work(Some(script)).await;
    }
    let found = r#"{"status":"completed","job":"job_c","output":"canary-answer"}"#;
    for (id, answer) in [
        ("job_a", Ok(got(500, "canary-answer"))),
        ("job_b", Ok(got(200, "canary-answer, and no JSON"))),
        ("job_c", Ok(got(200, found))),
    ] {
        canary.api.answer(&format!("https://api.example.com/v1/jobs/{id}"), answer);
        assert_eq!(canary.deliver(signal(id)).await, 202);
        canary.work(None).await;
    }
}

// INV-10: whoever reads the log learns nothing that lets them forge.
#[tokio::test]
async fn no_way_of_a_delivery_shows_a_secret_a_signature_a_header_or_a_body() {
    let lines = Lines::default();
    let writer = lines.clone();
    let log = sekali_aws::log::written_to("trace", move || writer.clone());
    let _listening = tracing::subscriber::set_default(log);
    let mut canary = Canary::new(lines);
    every_way(&mut canary).await;

    let mut ends: BTreeSet<EventStatus> = BTreeSet::new();
    ends.extend(canary.bench.events().iter().map(|event| event.progress.status));
    for status in [EventStatus::Processed, EventStatus::Held, EventStatus::Failed, EventStatus::InDoubt] {
        assert!(ends.contains(&status), "no event ended {status:?}: {ends:?}");
    }

    let hidden = canary.hidden.clone();
    let said = canary.all_said().to_owned();
    for spoken in
        ["delivery refused", "\"effect\"", "signature.guess", "endpoint offline", "AckTime", "Ended"]
    {
        assert!(said.contains(spoken), "nobody said {spoken}:\n{said}");
    }
    for line in said.lines() {
        assert!(!line.contains(MARK), "{line}");
        let shown = hidden.iter().find(|hidden| line.contains(hidden.as_str()));
        assert_eq!(shown, None, "{line}");
    }
}

// A payload is the body and what was read of it; of headers nothing is stored.
#[tokio::test]
async fn nothing_that_is_stored_holds_a_secret_a_signature_or_a_header() {
    let mut canary = Canary::new(Lines::default());
    every_way(&mut canary).await;
    let stored = canary.bench.store.look(|tables| {
        let payloads = tables.events().filter_map(|event| tables.payload(&event.key, &event.hash));
        let bodies: Vec<String> =
            payloads.map(|payload| String::from_utf8_lossy(payload.body()).into_owned()).collect();
        assert!(bodies.iter().any(|body| body.contains("canary-body")), "no body was kept");
        let actions: Vec<String> = tables
            .actions()
            .map(|action| String::from_utf8_lossy(&action.request.body).into_owned())
            .collect();
        format!("{:?}\n{bodies:?}\n{actions:?}", tables.events().collect::<Vec<_>>())
    });
    let messages =
        format!("{:?}", canary.bench.queue.look(|line| line.waiting().cloned().collect::<Vec<_>>()));
    for marked in ["canary-header", "canary-query", "canary-secret"] {
        assert!(!stored.contains(marked) && !messages.contains(marked), "{marked} is stored:\n{stored}");
    }
    for hidden in &canary.hidden {
        assert!(!stored.contains(hidden.as_str()), "{hidden} is stored:\n{stored}");
    }
}

// What a team wrote in the wrong place is not repeated to whoever reads the log.
#[test]
fn a_secret_in_the_configuration_is_refused_without_being_shown() {
    let literal = SHOP.replace("\"env:SHOP\", \"env:OLD\"", "\"whsec_canary-secret\"");
    let problems = load(("endpoints.toml", &literal), &[]).unwrap_err();
    let told = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(told.contains("secrets") && !told.contains(MARK), "{told}");
}

/// Bytes of log and metrics for a delivery and its effect: `docs/metrics.md`
/// promises no more, since log volume can cost more than all the rest.
const BUDGET: usize = 4000;

#[tokio::test]
async fn a_delivery_and_its_effect_stay_within_the_budget_of_log_and_metrics() {
    let lines = Lines::default();
    let writer = lines.clone();
    let log = sekali_aws::log::written_to("info", move || writer.clone());
    let _listening = tracing::subscriber::set_default(log);
    let mut canary = Canary::new(lines);
    // Whatever is said once, when secrets are read first, is said.
    canary.deliver(event("evt_first").signed(FIRST)).await;
    canary.work(None).await;
    canary.all_said();
    canary.said.clear();
    canary.bench.deliver(&event("evt_second").signed(FIRST)).await;
    canary.work(None).await;
    let said = canary.all_said();
    assert!(said.lines().count() >= 4 && said.len() <= BUDGET, "{} bytes:\n{said}", said.len());
}
