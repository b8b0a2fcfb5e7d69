//! Requests that are no events, through the whole of ingest.

use super::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sekali::ids::EndpointName;
use sekali::ports::NoSecret;
use sekali::protocol::event::EventStatus;
use sekali_tests::memory::Tables;
use serde_json::Value;
use std::fmt::Write as _;

/// Where every vector's secrets are kept, and what its endpoint is called.
const NAMES: [&str; 2] = ["ssm:/first", "ssm:/second"];

/// A recorded handshake as a bench that could receive it.
pub(super) struct Recorded {
    pub vector: Value,
    pub bench: Bench,
}

impl Recorded {
    pub fn all() -> Vec<Self> {
        let vectors: Vec<Value> =
            serde_json::from_str(include_str!("../../vectors/handshakes.json")).unwrap();
        vectors.into_iter().map(Self::new).collect()
    }

    pub fn new(vector: Value) -> Self {
        let (params, secrets) = told_by_the_team(&vector);
        let vendor = vector["vendor"].as_str().unwrap();
        let params: Vec<String> =
            params.into_iter().map(|(name, value)| format!("{name} = {}", Value::from(value))).collect();
        let endpoints = format!(
            "[endpoint.hub]\nvendor = \"{vendor}\"\nsecrets = [{}]\nallow_unconfirmed = true\n\
             dedup_window = \"90d\"\nparams = {{ {} }}\n",
            NAMES.map(|name| format!("\"{name}\"")).join(", "),
            params.join(", "),
        );
        let seconds = vector["now"].as_i64().unwrap();
        let bench = Bench::at(UnixMillis(seconds * 1000), &endpoints, &[]);
        for (name, secret) in NAMES.into_iter().zip(&secrets) {
            bench.secrets.put(name, secret);
        }
        Self { vector, bench }
    }

    pub fn id(&self) -> &str {
        self.vector["id"].as_str().unwrap()
    }

    fn expected(&self, name: &str) -> &Value {
        &self.vector["expect"][name]
    }

    pub fn delivery(&self) -> Delivery {
        let text = |name: &str| self.vector[name].as_str().unwrap().to_owned();
        let url = text("url");
        let (_, query) = url.split_once('?').unwrap_or((&url, ""));
        let headers = self.vector["headers"].as_array().unwrap().iter();
        let headers =
            headers.map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].as_str().unwrap().to_owned()));
        let mut delivery = Delivery::to("hub", "");
        delivery.request.method = text("method");
        delivery.request.query = query.to_owned();
        delivery.request.headers = Headers::new(headers);
        delivery.request.body = STANDARD.decode(text("body_b64")).unwrap();
        delivery
    }

    /// What is wrong with the answer and with what was written.
    async fn differences(&self) -> Vec<String> {
        let answer = self.bench.deliver(&self.delivery()).await;
        let mut wrong = Vec::new();
        let mut same = |what: &str, wanted: &Value, got: Value| {
            if !wanted.is_null() && *wanted != got {
                wrong.push(format!("{}: {what} is {got} and not {wanted}", self.id()));
            }
        };
        if self.expected("or_status").as_u64() != Some(answer.status.into()) {
            same("status", self.expected("status"), answer.status.into());
        }
        let media = answer.content_type.as_deref().and_then(|text| text.split(';').next());
        same("content type", self.expected("content_type"), media.into());
        same("body", self.expected("body"), answer.body.as_str().into());
        if !self.expected("body_json").is_null() {
            same("body", self.expected("body_json"), serde_json::from_str(&answer.body).unwrap_or_default());
        }
        for (name, value) in self.expected("headers").as_object().into_iter().flatten() {
            let found = answer.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            same(name, value, found.map(|(_, value)| value.as_str()).into());
        }
        let effect = self.expected("effect").as_str().unwrap_or_default();
        wrong.extend(self.left_behind(effect).map(|left| format!("{}: {left}", self.id())));
        wrong
    }

    /// What is wrong with what was written, by the vector's word for it.
    fn left_behind(&self, effect: &str) -> Option<&'static str> {
        let events = self.bench.events();
        let captured = self.bench.captured();
        match effect {
            effect if effect.starts_with("worker GETs") => {
                let [event] = events.as_slice() else { return Some("one event is kept") };
                let waits =
                    event.progress.status == EventStatus::Received && self.bench.queue.visible().len() == 1;
                (!waits).then_some("the event waits for the processor")
            }
            effect if effect.contains("store") => {
                (captured.is_none() || !events.is_empty()).then_some("a secret is kept, and no event")
            }
            _ => (!self.bench.is_untouched()).then_some("nothing is written"),
        }
    }
}

/// The parameters and the secrets of a vector, which stand among each other.
fn told_by_the_team(vector: &Value) -> (Vec<(String, String)>, Vec<String>) {
    let mut secrets: Vec<String> = vector["secret"].as_str().map(str::to_owned).into_iter().collect();
    let mut params = Vec::new();
    let declared = ["verify_token", "topics", "allowed_origins", "rate", "topic_arns", "client_id"];
    for (name, value) in vector["params"].as_object().into_iter().flatten() {
        let texts: Vec<String> = match value {
            Value::Array(many) => many.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
            Value::Object(members) => members.values().map(|one| one.as_str().unwrap().to_owned()).collect(),
            Value::String(text) => vec![text.clone()],
            _ => Vec::new(),
        };
        if declared.contains(&name.as_str()) {
            params.push((name.clone(), texts.join(" ")));
        } else if !["pending", "endpoint"].contains(&name.as_str()) {
            secrets.extend(texts);
        }
    }
    (params, secrets)
}

impl Bench {
    fn captured(&self) -> Option<String> {
        let hub = EndpointName::new("hub");
        self.store.look(|tables: &Tables| {
            let captured = tables.captured(&hub)?;
            Some(String::from_utf8_lossy(captured.secret.expose()).into_owned())
        })
    }
}

// INV-10
#[tokio::test]
async fn every_recorded_handshake_is_answered_and_leaves_behind_what_is_recorded() {
    let recorded = Recorded::all();
    assert!(recorded.len() >= 47, "only {} vectors", recorded.len());
    let mut wrong = Vec::new();
    for recorded in &recorded {
        wrong.extend(recorded.differences().await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Vendors that look at the content type of their own handshakes are few.
#[tokio::test]
async fn an_unsigned_handshake_may_declare_a_content_type_that_deliveries_do_not_have() {
    let bench = Bench::with("[endpoint.hub]\nvendor = \"ms-graph\"\nsecrets = [\"ssm:/hub\"]\n");
    bench.secrets.put("ssm:/hub", "invented");
    let mut validation = Delivery::to("hub", "").header("content-type", "text/plain; charset=utf-8");
    validation.request.query = "validationToken=Validation%3a+1%2b1".to_owned();
    let answer = bench.deliver(&validation).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "Validation: 1+1"));
    assert_eq!(header(&answer, "X-Content-Type-Options"), Some("nosniff"));
    let mut delivery = validation.clone();
    delivery.request.query.clear();
    assert_eq!(bench.deliver(&delivery).await.status, 415, "what is no handshake must be of its type");
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn a_method_that_nobody_declared_is_answered_with_those_that_are() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"cloudevents\"\nsecrets = [\"ssm:/hub\"]\ndedup_window = \"90d\"\n\
         params = { allowed_origins = \"a.example.com b.example.com\" }\n",
    );
    bench.secrets.put("ssm:/hub", "invented");
    let mut delivery = Delivery::to("hub", "");
    for method in ["GET", "PUT", "HEAD", "DELETE"] {
        delivery.request.method = method.to_owned();
        let answer = bench.deliver(&delivery).await;
        assert_eq!((answer.status, header(&answer, "allow")), (405, Some("OPTIONS, POST")), "{method}");
        assert_eq!(answer.body.is_empty(), method == "HEAD", "{method}");
    }
    delivery.request.method = "OPTIONS".to_owned();
    assert_eq!(bench.deliver(&delivery).await.status, 403, "no origin is asked for");
    let asked = delivery.clone().header("webhook-request-origin", "b.example.com");
    let answer = bench.deliver(&asked).await;
    assert_eq!(answer.status, 200);
    assert_eq!(header(&answer, "WebHook-Allowed-Origin"), Some("b.example.com"));
    assert_eq!(bench.deliver(&delivery.header("webhook-request-origin", "c.example.com")).await.status, 403);
}

#[tokio::test]
async fn a_probe_with_head_or_options_is_answered_where_the_description_says_so() {
    let probed = r#"
confirmed = true
[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:X-Signature" }
message = "{body}"
[[event]]
id = "/id"
[[handshake]]
name = "probe"
method = "HEAD"
signed = false
reply = { body = "seen by nobody" }
[[handshake]]
name = "registration"
method = "OPTIONS"
signed = false
"#;
    let bench = Bench::with_vendors(
        "[endpoint.hub]\nvendor = \"probed\"\nsecrets = [\"ssm:/hub\"]\ndedup_window = \"90d\"\n",
        &[("vendors/probed.toml", probed)],
    );
    for method in ["HEAD", "OPTIONS"] {
        let mut probe = Delivery::to("hub", "");
        probe.request.method = method.to_owned();
        let answer = bench.deliver(&probe).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, ""), "{method}");
    }
    assert!(bench.is_untouched() && bench.secrets.readings().is_empty(), "and no secret was read for it");
}

#[tokio::test]
async fn a_guard_on_networks_stands_before_every_handshake() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"notion\"\nsecrets = [\"ssm:/hub\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n[[endpoint.hub.guard]]\nnetworks = [\"192.0.2.0/24\"]\nanswer = 403\n",
    );
    let token = Delivery::to("hub", r#"{"verification_token":"secret_invented"}"#);
    assert_eq!(bench.deliver(&token.clone().from("203.0.113.1")).await.status, 403);
    assert!(bench.is_untouched());
    assert_eq!(bench.deliver(&token).await.status, 200);
    assert_eq!(bench.captured().as_deref(), Some("secret_invented"));
}

/// An endpoint whose vendor hands over its secret.
fn notion(secret: &str) -> Bench {
    Bench::with(&format!(
        "[endpoint.hub]\nvendor = \"notion\"\nsecrets = [\"{secret}\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n",
    ))
}

fn token(token: &str) -> Delivery {
    Delivery::to("hub", &format!(r#"{{"verification_token":"{token}"}}"#))
}

// INV-10
#[tokio::test]
async fn the_first_secret_that_is_handed_over_stays_until_the_operator_has_set_it() {
    let bench = notion("ssm:/hub");
    assert_eq!(bench.deliver(&token("secret_invented")).await.status, 200);
    assert_eq!(bench.deliver(&token("secret_other")).await.status, 401);
    assert_eq!(bench.deliver(&token("secret_invented")).await.status, 200, "the answer may have been lost");
    assert_eq!(bench.captured().as_deref(), Some("secret_invented"));
    let event = Delivery::to("hub", r#"{"id":"e-1","type":"page.created"}"#).signed("secret_invented");
    assert_eq!(bench.deliver(&event).await.status, 503, "nothing is verified with what is only handed over");
    bench.secrets.put("ssm:/hub", "secret_invented");
    bench.clock.advance(seconds(60));
    assert_eq!(bench.deliver(&event).await.status, 202);
    assert_eq!(bench.deliver(&token("secret_other")).await.status, 401);
    assert_eq!(bench.deliver(&token("secret_invented")).await.status, 401);
    assert_eq!(bench.captured().as_deref(), Some("secret_invented"));
}

// INV-10
#[tokio::test]
async fn a_secret_that_is_handed_over_is_in_no_log_and_no_answer() {
    let (lines, _listening) = super::logs::listen();
    let bench = notion("ssm:/hub");
    let mut said = String::new();
    for handed_over in ["secret_invented", "secret_other", "secret_invented"] {
        writeln!(said, "{:?}", bench.deliver(&token(handed_over)).await).unwrap();
    }
    said.push_str(&lines.take());
    assert!(said.contains("sekali handshake show") && said.contains("is not taken"), "{said}");
    assert!(!said.contains("secret_invented") && !said.contains("secret_other"), "{said}");
}

// INV-10
#[tokio::test]
async fn nothing_is_kept_while_a_keeper_does_not_say_that_it_has_no_secret() {
    for reason in [NoSecret::Unavailable("no answer".into()), NoSecret::Denied("a policy".into())] {
        let bench = notion("ssm:/hub");
        bench.secrets.refuse("ssm:/hub", reason);
        let answer = bench.deliver(&token("secret_other")).await;
        assert_eq!((answer.status, header(&answer, "retry-after").is_some()), (503, true));
        assert!(bench.is_untouched());
    }
}

// INV-10
#[tokio::test]
async fn what_could_not_be_a_secret_is_not_kept() {
    let bench = notion("ssm:/hub");
    for odd in [" ", "x", &"x".repeat(2_000)] {
        assert_eq!(bench.deliver(&token(odd)).await.status, 400, "{odd:?}");
    }
    assert!(bench.is_untouched());
}

// INV-10: one put for each endpoint, and anybody can name a tenant.
#[tokio::test]
async fn no_tenant_is_handed_a_secret() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"notion\"\nsecrets = [\"ssm:/hub/{tenant}\"]\ntenant = \"path\"\n\
         allow_unconfirmed = true\ndedup_window = \"90d\"\n",
    );
    assert_eq!(bench.deliver(&token("secret_invented").tenant("acme")).await.status, 401);
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn an_answer_that_needs_a_key_waits_for_one() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"x\"\nsecrets = [\"ssm:/hub\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n",
    );
    let mut challenge = Delivery::to("hub", "");
    challenge.request.method = "GET".to_owned();
    challenge.request.query = "crc_token=a".to_owned();
    let answer = bench.deliver(&challenge).await;
    assert_eq!((answer.status, header(&answer, "retry-after").is_some()), (503, true));
    bench.secrets.put("ssm:/hub", "invented");
    bench.clock.advance(seconds(60));
    assert_eq!(bench.deliver(&challenge).await.status, 200);
}

/// A challenge whose answer is made with the secret that signed it.
#[tokio::test]
async fn during_a_rotation_a_challenge_is_answered_with_the_secret_that_the_vendor_holds() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"zoom\"\nsecrets = [\"ssm:/hub\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n",
    );
    bench.secrets.put("ssm:/hub", "first-invented");
    let challenge = Delivery::to(
        "hub",
        r#"{"payload":{"plainToken":"t"},"event_ts":1800000000000,"event":"endpoint.url_validation"}"#,
    );
    let with_the_first = bench.deliver(&challenge.clone().signed("first-invented")).await;
    bench.secrets.rotate("ssm:/hub", "second-invented");
    bench.clock.advance(seconds(3_600));
    let still = bench.deliver(&challenge.clone().signed("first-invented")).await;
    let with_the_second = bench.deliver(&challenge.signed("second-invented")).await;
    assert_eq!((with_the_first.status, with_the_second.status), (200, 200));
    assert_eq!(still.body, with_the_first.body);
    assert_ne!(with_the_second.body, with_the_first.body);
}

/// A header cannot hold a line break, whatever a query was decoded to.
#[tokio::test]
async fn an_answer_never_writes_a_second_header() {
    let echo = r#"
confirmed = true
[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:X-Signature" }
message = "{body}"
[[event]]
id = "/id"
[[handshake]]
method = "GET"
signed = false
[handshake.reply.headers]
X-Echo = "{query:echo}"
"#;
    let bench = Bench::with_vendors(
        "[endpoint.hub]\nvendor = \"echo\"\nsecrets = [\"ssm:/hub\"]\ndedup_window = \"90d\"\n",
        &[("vendors/echo.toml", echo)],
    );
    let mut probe = Delivery::to("hub", "");
    probe.request.method = "GET".to_owned();
    probe.request.query = "echo=a%0d%0aSet-Cookie:b".to_owned();
    assert_eq!(bench.deliver(&probe).await.status, 400);
    probe.request.query = "echo=a".to_owned();
    assert_eq!(header(&bench.deliver(&probe).await, "X-Echo"), Some("a"));
}

/// A GET with this query, as it is written in a URL.
fn asked(query: String) -> Delivery {
    let mut probe = Delivery::to("hub", "");
    probe.request.method = "GET".to_owned();
    probe.request.query = query;
    probe
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        write!(escaped, "%{byte:02x}").unwrap();
        escaped
    })
}

// INV-10: the answer to X's check is a signature under the key of its deliveries.
#[tokio::test]
async fn nobody_has_a_delivery_signed_by_asking_for_the_answer_to_a_challenge() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"x\"\nsecrets = [\"ssm:/hub\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n",
    );
    bench.secrets.put("ssm:/hub", "consumer-secret-invented");
    let event = r#"{"for_user_id":"1","favorite_events":[{"id":"f-1","timestamp_ms":1800000000000}]}"#;
    let signed = Delivery::to("hub", event).signed("consumer-secret-invented");
    let (endpoint, secret) = (bench.endpoint("hub"), Secret::new("consumer-secret-invented").unwrap());
    let fresh = || "fresh-1".to_owned();
    let headers =
        sign(&endpoint.vendor, &signed.request, &secret, &endpoint.params, bench.clock.now(), fresh);
    let signature = headers.unwrap().remove(0).1;
    assert_eq!(bench.deliver(&signed).await.status, 202, "this is what must not be had");
    for token in [event, " x", "a=b", "a&b=c", "[1]", "\"a\"", "a\nb", &"a".repeat(513)] {
        let answer = bench.deliver(&asked(format!("crc_token={}", escaped(token)))).await;
        assert_eq!(answer.status, 400, "{token}");
        assert!(!answer.body.contains(&signature), "{token}");
    }
    for token in ["MGM2ZGQxNzQtNDUzZi00Yjc0", "a+b/c=", "0c6dd174-453f-4b74_~.=="] {
        let answer = bench.deliver(&asked(format!("crc_token={}", escaped(token)))).await;
        assert!(answer.status == 200 && answer.body.contains("sha256="), "{token}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_challenge_is_given_back_as_plain_text_and_only_so_long() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"dropbox\"\nsecrets = [\"ssm:/hub\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n",
    );
    bench.secrets.put("ssm:/hub", "invented-app-secret");
    let page = "<script>alert(1)</script>";
    let answer = bench.deliver(&asked(format!("challenge={}", escaped(page)))).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, page));
    assert!(answer.content_type.as_deref().unwrap().starts_with("text/plain"));
    assert_eq!(header(&answer, "X-Content-Type-Options"), Some("nosniff"));
    for (length, status) in [(8 * 1024, 200), (8 * 1024 + 1, 400)] {
        let answer = bench.deliver(&asked(format!("challenge={}", "a".repeat(length)))).await;
        assert_eq!(answer.status, status, "{length}");
    }
}

/// A delivery that is dressed up as a handshake would be answered and lost.
#[tokio::test]
async fn a_delivery_with_a_challenge_in_its_url_is_a_delivery() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"ms-graph\"\nsecrets = [\"ssm:/hub\"]\nallow_unconfirmed = true\n\
         dedup_window = \"90d\"\n",
    );
    bench.secrets.put("ssm:/hub", "invented-client-state");
    let mut notification = Delivery::to("hub", r#"{"value":[{"clientState":"another"}]}"#);
    notification.request.query = "validationToken=hello".to_owned();
    let answer = bench.deliver(&notification).await;
    assert_ne!((answer.status, answer.body.as_str()), (200, "hello"));
    assert!(bench.is_untouched());
    notification.request.body = Vec::new();
    assert_eq!(bench.deliver(&notification).await.body, "hello");
}
