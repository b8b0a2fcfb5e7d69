//! What a delivery comes to in numbers, whatever is answered.

use super::*;
use sekali::ids::EventType;
use sekali::ingest::tally::{Signature, TypeOf};
use sekali::ports::{NoSecret, QueueError};
use sekali::protocol::reason::Slug;
use sekali::secret::{SecretPlace, Stage};

const SHOP: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["secretsmanager:prod/shop", "env:OLD"]
resource.payment = "/customer"
max_body = "1KiB"
[[endpoint.shop.rule]]
type = "payment.paid"
status = "paid"

[resource.payment]
order = "rank"
moves = ["pending -> paid"]
"#;
const NAME: &str = "secretsmanager:prod/shop";

fn bench() -> Bench {
    let bench = Bench::with(SHOP);
    bench.secrets.put(NAME, "whsec_first");
    bench.secrets.put("env:OLD", "whsec_old");
    bench
}

fn event(id: &str, secret: &str) -> Delivery {
    Delivery::to("shop", &stripe(id, r#","customer":"somebody""#)).signed(secret)
}

#[tokio::test]
async fn a_new_event_a_duplicate_and_a_conflict_are_each_counted_as_what_they_are() {
    let bench = bench();
    let other = Delivery::to("shop", &stripe("evt_1", r#","customer":"another""#)).signed("whsec_first");
    let first = event("evt_1", "whsec_first");
    for (delivery, answer, counts) in
        [(&first, 202, (1, 0, 0)), (&first, 200, (0, 1, 0)), (&other, 200, (0, 0, 1))]
    {
        bench
            .count(delivery, |tally| {
                assert_eq!((tally.answer, (tally.new, tally.duplicates, tally.conflicts)), (answer, counts));
                assert_eq!(tally.endpoint.map(|endpoint| endpoint.name.as_str()), Some("shop"));
                let paid = EventType::from("payment.paid");
                assert_eq!(tally.event_type, Some(TypeOf::Declared(&paid)));
                assert!(tally.verified_after.is_some() && tally.deferred == 0);
            })
            .await;
    }
}

#[tokio::test]
async fn a_type_that_no_rule_names_is_other_and_an_unverified_one_is_not_counted_at_all() {
    let bench = bench();
    let body = stripe("evt_1", r#","customer":"c""#).replace("payment.paid", "made.up");
    bench
        .count(&Delivery::to("shop", &body).signed("whsec_first"), |tally| {
            assert_eq!(tally.event_type, Some(TypeOf::Other));
        })
        .await;
    bench
        .count(&event("evt_2", "whsec_guess"), |tally| {
            assert_eq!((tally.answer, tally.event_type), (401, None));
            assert_eq!(tally.signature, Some(Signature::Refused("mismatch")));
        })
        .await;
}

#[tokio::test]
async fn it_is_counted_which_secret_matched_and_that_one_cannot_be_used() {
    let bench = bench();
    let by = |position, stage| Some(Signature::Matched(Some(SecretPlace { position, stage })));
    bench
        .count(&event("evt_1", "whsec_first"), |tally| {
            assert_eq!((tally.signature, tally.secret_unusable), (by(0, Stage::Current), false));
        })
        .await;
    bench
        .count(&event("evt_2", "whsec_old"), |tally| {
            assert!(
                tally.signature == by(1, Stage::Current) && tally.signature.unwrap().is_by_an_old_secret()
            );
        })
        .await;
    let blank = Bench::with(SHOP);
    blank.secrets.put(NAME, "whsec_first");
    blank.secrets.put("env:OLD", " ");
    for secret in ["whsec_first", "whsec_guess"] {
        blank.count(&event("evt_1", secret), |tally| assert!(tally.secret_unusable)).await;
    }
}

// INV-10
#[tokio::test]
async fn an_endpoint_without_any_usable_secret_is_counted_as_offline_and_not_as_a_bad_signature() {
    let bench = Bench::with(SHOP);
    bench.secrets.put(NAME, " ");
    bench.secrets.refuse("env:OLD", NoSecret::Absent);
    bench
        .count(&event("evt_1", "whsec_first"), |tally| {
            assert_eq!((tally.answer, tally.signature), (503, Some(Signature::Offline)));
            assert!(!tally.secret_unusable);
        })
        .await;
}

#[tokio::test]
async fn a_secret_that_goes_on_being_used_while_its_keeper_is_silent_is_not_unusable() {
    let bench = bench();
    bench.deliver(&event("evt_1", "whsec_first")).await;
    bench.secrets.refuse(NAME, NoSecret::Unavailable("invented".into()));
    bench.clock.advance(sekali::secrets::TIME_TO_LIVE);
    bench.count(&event("evt_2", "whsec_first"), |tally| assert!(!tally.secret_unusable)).await;
}

#[tokio::test]
async fn what_is_refused_before_it_is_looked_at_is_counted_by_its_answer_alone() {
    let bench = bench();
    let large = Delivery::to("shop", &"x".repeat(2048)).signed("whsec_first");
    let strange = event("evt_1", "whsec_first").header("content-type", "text/html");
    let nowhere = Delivery::to("shop", "{}");
    let nowhere = Delivery { endpoint: "made-up-by-a-stranger".to_owned(), ..nowhere };
    for (delivery, answer, known) in [(large, 413, true), (strange, 415, true), (nowhere, 404, false)] {
        bench
            .count(&delivery, |tally| {
                assert_eq!((tally.answer, tally.endpoint.is_some()), (answer, known));
                assert_eq!((tally.signature, tally.event_type, tally.verified_after), (None, None, None));
            })
            .await;
    }
}

#[tokio::test]
async fn a_held_event_is_counted_with_its_reason() {
    let bench = bench();
    let keyless = Delivery::to("shop", &stripe("evt_1", "")).signed("whsec_first");
    bench
        .count(&keyless, |tally| {
            assert_eq!((tally.new, tally.held.get(&Slug::MissingKeyPart)), (1, Some(&1)), "{tally:?}");
        })
        .await;
}

/// A queue that takes nothing.
#[derive(Clone)]
struct Full;

impl sekali::ports::Queue for Full {
    async fn send(&self, _: &sekali::ports::Message) -> Result<(), QueueError> {
        Err(QueueError("invented".to_owned()))
    }
}

#[tokio::test]
async fn an_event_whose_message_the_queue_refuses_is_new_and_deferred() {
    let bench = bench();
    let ingest = Ingest::new(
        bench.store.clone(),
        Full,
        bench.clock.clone(),
        SeededEntropy::seeded(1),
        bench.secrets.clone(),
        Arc::clone(&bench.deployment),
    );
    let (addressed, request) = bench.made(&event("evt_1", "whsec_first"));
    let (answer, tally) = ingest.receive_counted(&addressed, &request).await;
    assert_eq!((answer.status, tally.new, tally.deferred), (202, 1, 1));
}
