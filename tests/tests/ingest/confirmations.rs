//! What a vendor wants to have confirmed: from its delivery to the one call
//! that confirms it.

use super::handshakes::Recorded;
use super::*;
use sekali::ports::{NotGot, WithSecrets};
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;
use sekali_tests::memory::{MemoryApi, MemoryDestination, got};

/// A recorded confirmation that was delivered, and whoever is called back.
struct Subscribed {
    recorded: Recorded,
    vendor: MemoryApi,
    url: String,
}

impl Subscribed {
    async fn new() -> Self {
        let confirmation = "aws-sns/subscription-confirmation";
        let recorded = Recorded::all().into_iter().find(|recorded| recorded.id() == confirmation).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&recorded.delivery().request.body).unwrap();
        let url = body["SubscribeURL"].as_str().unwrap().to_owned();
        let subscribed = Self { recorded, vendor: MemoryApi::default(), url };
        subscribed.deliver().await;
        subscribed
    }

    async fn deliver(&self) {
        let answer = self.recorded.bench.deliver(&self.recorded.delivery()).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    }

    /// One invocation of the processor for whatever the queue hands out.
    async fn process(&self, deployment: &Arc<Deployment>) -> Vec<Disposition> {
        let bench = &self.recorded.bench;
        let processor = Processor::new(
            bench.store.clone(),
            MemoryDestination::new(bench.clock.clone()),
            WithSecrets { outbound: self.vendor.clone(), keeper: bench.secrets.clone() },
            bench.clock.clone(),
            SeededEntropy::seeded(2),
            Arc::clone(deployment),
        );
        let letters = bench.queue.receive(10);
        let records: Vec<Record> = letters
            .iter()
            .map(|letter| Record {
                message: letter.message.clone(),
                stamped_at: letter.sent_at,
                receive_count: letter.receive_count,
            })
            .collect();
        let dispositions = processor.batch(&records, Deadline::Unknown).await;
        for (letter, disposition) in letters.iter().zip(&dispositions) {
            match disposition {
                Disposition::Delete => bench.queue.delete(letter.receipt),
                Disposition::Return(wait) => bench.queue.change_visibility(letter.receipt, *wait),
                Disposition::Fail => bench.queue.change_visibility(letter.receipt, seconds(0)),
            };
        }
        dispositions
    }

    fn event(&self) -> Event {
        let [event] = &self.recorded.bench.events()[..] else { panic!("one event") };
        event.clone()
    }
}

#[tokio::test]
async fn a_subscription_is_confirmed_by_one_call_however_often_it_is_asked_for() {
    let subscribed = Subscribed::new().await;
    subscribed.vendor.answer(&subscribed.url, Ok(got(200, "<ConfirmSubscriptionResponse/>")));
    subscribed.deliver().await;
    let deployment = Arc::clone(&subscribed.recorded.bench.deployment);
    assert_eq!(subscribed.process(&deployment).await, [Disposition::Delete]);
    subscribed.deliver().await;
    subscribed.process(&deployment).await;
    let event = subscribed.event();
    assert_eq!((event.progress.status, event.seen.deliveries), (EventStatus::Processed, 3));
    let asked = subscribed.vendor.asked();
    assert_eq!(asked.iter().map(|asked| asked.url.as_str()).collect::<Vec<_>>(), [subscribed.url.as_str()]);
    assert!(asked[0].headers.is_empty(), "nothing of ours is shown to whoever is called");
}

// INV-2, INV-6: to confirm twice is to confirm, so a doubt ends with asking again.
#[tokio::test]
async fn a_confirmation_that_nobody_heard_of_is_asked_again_and_one_that_is_refused_is_not() {
    for (first, second, ended, calls) in [
        (Err(NotGot::Unknown("no answer".into())), 200, EventStatus::Processed, 2),
        (Ok(got(503, "")), 200, EventStatus::Processed, 2),
        (Err(NotGot::NotStarted("no connection".into())), 200, EventStatus::Processed, 2),
        (Ok(got(302, "")), 200, EventStatus::Failed, 1),
        (Ok(got(400, "the token is too old")), 200, EventStatus::Failed, 1),
        (Err(NotGot::Forbidden("a private address".into())), 200, EventStatus::Failed, 1),
    ] {
        let subscribed = Subscribed::new().await;
        let told = format!("{first:?}");
        subscribed.vendor.once(&subscribed.url, first);
        subscribed.vendor.answer(&subscribed.url, Ok(got(second, "")));
        let bench = &subscribed.recorded.bench;
        for _ in 0..4 {
            subscribed.process(&bench.deployment).await;
            bench.clock.advance(seconds(600));
        }
        let event = subscribed.event();
        assert_eq!((event.progress.status, subscribed.vendor.asked().len()), (ended, calls), "{told}");
    }
}

/// What was asked for under one configuration is looked at under today's.
#[tokio::test]
async fn a_topic_that_was_taken_out_meanwhile_is_held_and_nobody_is_called() {
    let subscribed = Subscribed::new().await;
    let mut deployment = Deployment::clone(&subscribed.recorded.bench.deployment);
    let endpoint = deployment.config.endpoints.values_mut().next().unwrap();
    endpoint
        .params
        .named
        .insert("topic_arns".to_owned(), "arn:aws:sns:eu-north-1:123456789012:other".to_owned());
    subscribed.process(&Arc::new(deployment)).await;
    let event = subscribed.event();
    let reason = event.progress.reason.as_ref().map(|reason| reason.slug);
    assert_eq!((event.progress.status, reason), (EventStatus::Held, Some(Slug::Unconfirmed)));
    assert!(subscribed.vendor.asked().is_empty());
}

/// A vendor of one's own that is confirmed at a host of its own.
const CALLER: &str = r#"
confirmed = true
[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:X-Signature" }
message = "{body}"
[[event]]
id = "/id"
type = "/type"
[[handshake]]
name = "subscription"
when = { "/type" = "subscribe" }
signed = true
confirm = "/url"
hosts = ["confirm.{region}.example.com"]
"#;

#[tokio::test]
async fn a_url_that_does_not_lead_to_the_vendor_is_refused_and_guards_on_types_stop_no_confirmation() {
    let endpoints = "[endpoint.hub]\nvendor = \"caller\"\nsecrets = [\"ssm:/hub\"]\ndedup_window = \"90d\"\n\
                     [[endpoint.hub.guard]]\ntypes = [\"paid\"]\nanswer = 200\n";
    let bench = Bench::with_vendors(endpoints, &[("vendors/caller.toml", CALLER)]);
    bench.secrets.put("ssm:/hub", "invented");
    let asking = |url: &str| {
        Delivery::to("hub", &format!(r#"{{"id":"e-1","type":"subscribe","url":"{url}"}}"#)).signed("invented")
    };
    for elsewhere in [
        "https://confirm.eu-west-1.example.org/",
        "http://confirm.eu-west-1.example.com/",
        "https://confirm.eu-west-1.example.com:8443/",
        "https://confirm.eu-west-1.example.com@example.org/",
        "https://u@confirm.eu-west-1.example.com/",
        "https://confirm.example.com/",
        "https://confirm.bucket.example.com/",
        "https://CONFIRM.eu-west-1.example.com/",
        "https://confirm.eu-west-1.example.com#/",
        "https://confirm.eu-west-1.example.com/ /",
        "https://169.254.169.254/",
        "ftp://confirm.eu-west-1.example.com/",
        "",
    ] {
        let answer = bench.deliver(&asking(elsewhere)).await;
        let refused = if elsewhere.is_empty() { 400 } else { 403 };
        assert_eq!((answer.status, bench.is_untouched()), (refused, true), "{elsewhere}");
    }
    assert_eq!(bench.deliver(&asking("https://confirm.eu-west-1.example.com/?a=b%20c")).await.status, 200);
    let [event] = &bench.events()[..] else { panic!("one event") };
    assert_eq!(event.progress.status, EventStatus::Received);
}
