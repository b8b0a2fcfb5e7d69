//! What the log says of a delivery, and what it never says.

use super::*;
use sekali::ports::NoSecret;
use sekali::secrets::REFRESH_INTERVAL;
use sekali_tests::memory::MemoryApi;
use serde_json::Value;
use std::io;
use std::sync::Once;

#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// The lines since the last time.
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

/// Keeps every line of the code interesting to somebody. What is reached first
/// in a thread that nobody listens to is switched off for all threads.
pub fn keep_awake() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let nowhere = sekali_aws::log::written_to("trace", io::sink);
        tracing::subscriber::set_global_default(nowhere).unwrap();
    });
}

/// A log at its most talkative, for the test's own thread.
pub fn listen() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

const SHOP: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["env:BLANK", "secretsmanager:prod/shop"]
"#;
const NAME: &str = "secretsmanager:prod/shop";

fn event(id: &str, secret: &str) -> Delivery {
    Delivery::to("shop", &stripe(id, r#","customer":"somebody""#)).signed(secret)
}

#[tokio::test]
async fn the_log_says_why_a_signature_was_refused_and_whether_the_secrets_were_read_again() {
    let (lines, _listening) = listen();
    let bench = Bench::with(SHOP);
    bench.secrets.put(NAME, "whsec_first");
    bench.deliver(&event("evt_1", "whsec_guess")).await;
    let said = lines.take();
    assert!(said.contains(r#""signature.reason":"mismatch""#), "{said}");
    assert!(said.contains(r#""signature.refresh":"refreshed""#), "{said}");
    bench.deliver(&event("evt_1", "whsec_guess")).await;
    assert!(lines.take().contains(r#""signature.refresh":"refresh_suppressed""#));
    bench.secrets.refuse(NAME, NoSecret::Unavailable("invented".into()));
    bench.clock.advance(REFRESH_INTERVAL);
    bench.deliver(&event("evt_1", "whsec_guess")).await;
    let said = lines.take();
    assert!(said.contains(r#""signature.refresh":"refresh_failed""#), "{said}");
    assert!(said.contains(r#""secret.kept":true"#), "{said}");
}

#[tokio::test]
async fn the_log_says_which_secret_matched_and_which_cannot_be_used() {
    let (lines, _listening) = listen();
    let bench = Bench::with(SHOP);
    bench.secrets.put("env:BLANK", " ");
    bench.secrets.put(NAME, "whsec_first");
    bench.secrets.rotate(NAME, "whsec_second");
    assert_eq!(bench.deliver(&event("evt_1", "whsec_first")).await.status, 202);
    let said = lines.take();
    assert!(said.contains(r#""signature.secret":"2 (previous)""#), "{said}");
    let alarm = said.lines().find(|line| line.contains("a secret cannot be used")).unwrap();
    assert!(
        alarm.contains(r#""level":"ERROR""#) && alarm.contains(r#""secret.name":"env:BLANK""#),
        "{alarm}"
    );
}

const PACKING: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP"]
resource.payment = "/customer"
[[endpoint.shop.rule]]
type = "payment.paid"
status = "paid"
action.pack = { order = "/order" }
late = "act"
[resource.payment]
order = "rank"
moves = ["pending -> paid"]
[action]
pack = { key = ["order"], to = "desk" }
[destination]
desk = { http = "https://desk.example.com/done" }
"#;

#[tokio::test]
async fn a_delivery_a_call_and_an_end_are_a_line_each_with_what_it_takes_to_find_them_again() {
    let (lines, _listening) = listen();
    let bench = Bench::with(PACKING);
    bench.secrets.put("env:SHOP", "whsec_first");
    let whole = stripe("evt_1", r#","customer":"cus_1","order":"o_1""#);
    for body in [whole, stripe("evt_2", r#","order":"o_2""#)] {
        assert_eq!(bench.deliver(&Delivery::to("shop", &body).signed("whsec_first")).await.status, 202);
    }
    bench.work(&MemoryDestination::new(bench.clock.clone()), MemoryApi::default()).await;
    let said = lines.take();
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |message: &str| -> Vec<&Value> {
        said.iter()
            .filter(|line| line["message"] == message)
            .inspect(|line| {
                assert!(line["event.key"].is_string() && line["correlation.id"] == "c-1", "{line}");
            })
            .collect()
    };
    let [new, held] = of("delivery")[..] else { panic!("{said:#?}") };
    for line in [new, held] {
        assert!(line["delivery.result"] == "new" && line["delivery.took_ms"].is_number(), "{line}");
        assert!(line["vendor.name"] == "stripe" && line["endpoint.name"] == "shop", "{line}");
    }
    assert!(new["event.status"] == "received" && new.get("event.reason").is_none(), "{new}");
    assert!(held["event.status"] == "held" && held["event.reason"] == "missing_key_part", "{held}");
    let [effect] = of("effect")[..] else { panic!("{said:#?}") };
    assert!(effect["effect.outcome"] == "done" && effect["effect.took_ms"].is_number(), "{effect}");
    assert!(effect["action.name"] == "pack" && effect["destination.name"] == "desk", "{effect}");
    assert!(effect["resource.key"].as_str().unwrap().contains("cus_1"), "{effect}");
    let [ended] = of("event ended")[..] else { panic!("{said:#?}") };
    assert!(ended["event.status"] == "processed" && ended["event.age_ms"].is_number(), "{ended}");
    assert!(ended["vendor.name"] == "stripe" && ended["endpoint.name"] == "shop", "{ended}");
}

// INV-8
#[tokio::test]
async fn the_log_guesses_what_is_behind_a_refusal_so_often_and_no_oftener() {
    let (lines, _listening) = listen();
    let bench = Bench::with(SHOP);
    bench.secrets.put(NAME, "whsec_first");
    let forged = event("evt_1", "whsec_guess");
    let guesses = async |bench: &Bench| {
        for _ in 0..20 {
            assert_eq!(bench.deliver(&forged).await.status, 401);
        }
        let said = lines.take();
        let refused = said.lines().filter(|line| line.contains("signature refused"));
        let guessed = refused.clone().filter(|line| line.contains(r#""signature.guess":"body-changed""#));
        (refused.count(), guessed.count())
    };
    assert_eq!(guesses(&bench).await, (20, 6));
    assert_eq!(guesses(&bench).await, (20, 0));
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(guesses(&bench).await, (20, 6));
}

// INV-10
#[tokio::test]
async fn neither_log_nor_answer_shows_a_secret_a_right_signature_or_a_body() {
    let (lines, _listening) = listen();
    let bench = Bench::with(SHOP);
    bench.secrets.put(NAME, "whsec_first");
    bench.secrets.rotate(NAME, "whsec_second");
    let forged = event("evt_1", "whsec_guess");
    let mut said = String::new();
    for delivery in [&forged, &event("evt_1", "whsec_first"), &event("evt_2", "whsec_second")] {
        said.push_str(&bench.deliver(delivery).await.body);
    }
    said.push_str(&lines.take());
    assert!(
        said.contains("signature refused") && said.contains("evt_") == said.contains("event.key"),
        "{said}"
    );
    let endpoint = bench.endpoint("shop");
    for secret in ["whsec_first", "whsec_second", "whsec_guess"] {
        assert!(!said.contains(secret), "{said}");
        let right = Secret::new(secret).unwrap();
        let signed =
            sign(&endpoint.vendor, &forged.request, &right, &endpoint.params, START, String::new).unwrap();
        let signature = signed.last().unwrap().1.rsplit('=').next().unwrap().to_owned();
        assert!(signature.len() == 64 && !said.contains(&signature), "{said}");
    }
    assert!(!said.contains("somebody"), "{said}");
}
