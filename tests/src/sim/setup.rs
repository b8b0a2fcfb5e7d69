//! The configuration that the simulated functions run under, and the numbers
//! that the template gives them.

use super::traffic::{LOTS_SECRET, SHOP_SECRET, STRIPE_SECRET};
use crate::memory::LineSettings;
use sekali::config::{Retentions, SecretName, load};
use sekali::deployment::Deployment;
use sekali::ports::{Kept, KeyDocuments, NoKeyDocument, NoSecret, Secrets};
use sekali::secret::{Secret, Stage};
use sekali::vendor::KeyUrl;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// How long an invocation of the processor lasts.
pub const INVOCATION: Duration = Duration::from_secs(60);

/// How long a vendor waits for an answer.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The queue as the template sets it up.
pub const LINE: LineSettings = LineSettings {
    visibility: Duration::from_secs(360),
    max_receive_count: 20,
    retention: Duration::from_secs(4 * 86_400),
    dlq_retention: Duration::from_secs(14 * 86_400),
};

/// What the destination promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// It honours the key for a day: calls may repeat.
    Honours,
    /// It honours the key for so short that a takeover no longer fits.
    Briefly,
    /// It is a vendor that is called back: to confirm twice is to confirm.
    Confirms,
    /// Nothing: one call, or in doubt.
    Nothing,
    /// No key, but it says what happened when it is asked.
    Asked,
}

impl Promise {
    /// How long it recognises a key.
    pub fn span(self) -> Option<Duration> {
        match self {
            Self::Honours => Some(Duration::from_secs(24 * 3600)),
            Self::Briefly => Some(Duration::from_secs(100)),
            Self::Confirms => Some(Duration::from_secs(3 * 24 * 3600)),
            Self::Nothing | Self::Asked => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Honours => r#"honours_key_for = "24h", in_doubt = "retry""#,
            Self::Briefly => r#"honours_key_for = "100s", in_doubt = "retry""#,
            Self::Confirms => r#"honours_key_for = "72h", in_doubt = "retry""#,
            Self::Nothing => r#"in_doubt = "park""#,
            Self::Asked => {
                r#"in_doubt = "probe", probe = { url = "https://packing.example.com/tasks/{key}" }"#
            }
        }
    }
}

/// Which edition of the configuration is deployed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edition {
    /// The first.
    First,
    /// The action gets other fields: other bytes would be sent.
    OtherFields,
    /// No rule asks for the action any more.
    NoRule,
    /// The destination is gone, and with it every rule that names it.
    NoDestination,
    /// Events are told apart by the id of their delivery: a mistake that the
    /// simulation must notice.
    ByDelivery,
    /// The destination is said to settle at once: a mistake, too.
    NoSettling,
}

/// A vendor of our own that sends several events at once.
pub const LOTS: &str = r#"confirmed = true
[[scheme]]
name = "v1"
kind = "hmac"
alg = "sha256"
signature = { from = "header:x-signature" }
message = "{body}"
[[event]]
each = "/events/*"
id = "/id"
type = "/type"
[[handshake]]
name = "token"
present = "/token"
signed = false
capture = "/token"
refuse = 401
[retry]
horizon = "3d"
resend = "7d"
"#;

/// A vendor that only signals that something happened to a job, and numbers
/// its signals as its API numbers the job's states.
pub const SIGNALS: &str = r#"confirmed = true
[[scheme]]
name = "v1"
kind = "hmac"
alg = "sha256"
signature = { from = "header:x-signature" }
message = "{body}"
[[event]]
id = "/id"
type = "/type"
sequence = "/n"
[[handshake]]
name = "subscription"
when = { "/type" = "subscribe" }
signed = true
confirm = "/url"
hosts = ["confirm.example.com"]
[retry]
horizon = "3d"
resend = "7d"
"#;

const ENDPOINTS: &str = r#"
[endpoint.stripe]
vendor = "stripe"
secrets = ["env:STRIPE"]
resource.payment = "/data/object/payment_intent"
[[endpoint.stripe.rule]]
type = "charge.succeeded"
status = "authorized"
[[endpoint.stripe.rule]]
type = "checkout.session.completed"
status = "paid"
action.pack = { order = "/data/object/metadata/order_id", amount = "/data/object/amount_total" }
late = "act"
[[endpoint.stripe.rule]]
type = "charge.refunded"
status = "refunded"

[endpoint.shop]
vendor = "standard-webhooks"
secrets = ["env:SHOP"]
dedup_window = "60d"
[[endpoint.shop.rule]]
type = "order.paid"
action.pack = { order = "/data/order_id", amount = "/data/total" }

[endpoint.lots]
vendor = "lots"
secrets = ["env:LOTS"]
[[endpoint.lots.rule]]
type = "sold"
action.pack = { order = "/order" }
[[endpoint.lots.rule]]
type = "told"
action.tell = { id = "/id" }

[endpoint.shared]
vendor = "lots"
tenant = "path"
secrets = ["env:LOTS"]
[[endpoint.shared.rule]]
type = "sold"
action.pack = { order = "/order" }

[endpoint.newcomer]
vendor = "lots"
secrets = ["env:NEWCOMER"]
[[endpoint.newcomer.rule]]
type = "sold"
action.pack = { order = "/order" }

[endpoint.signals]
vendor = "signals"
secrets = ["env:LOTS"]
resource.job = "/job"
[endpoint.signals.fetch]
url = "https://api.example.com/jobs/{/job}"
bearer = "env:API"
version = "fetch:/n"
[[endpoint.signals.rule]]
type = "changed"
when = { "fetch:/state" = "completed" }
status = "completed"
action.pack = { order = "fetch:/order" }
late = "act"
[[endpoint.signals.rule]]
type = "changed"
status = "fetch:/state"

[resource.job]
order = "fetch"
moves = ["queued -> running -> completed", "running -> queued"]

[resource.payment]
order = "time"
moves = ["authorized -> paid -> refunded"]

[action]
pack = { key = ["order"], to = "packing" }
tell = { to = "packing" }

[destination]
packing = { http = "https://packing.example.com/tasks", PROMISE }
"#;

/// The deployment of an edition.
pub fn deployment(promise: Promise, edition: Edition) -> Arc<Deployment> {
    static READ: LazyLock<BTreeMap<(Promise, Edition), Arc<Deployment>>> = LazyLock::new(read_all);
    Arc::clone(&READ[&(promise, edition)])
}

fn read_all() -> BTreeMap<(Promise, Edition), Arc<Deployment>> {
    let promises = [Promise::Honours, Promise::Briefly, Promise::Confirms, Promise::Nothing, Promise::Asked];
    let editions = [
        Edition::First,
        Edition::OtherFields,
        Edition::NoRule,
        Edition::NoDestination,
        Edition::ByDelivery,
        Edition::NoSettling,
    ];
    let all = promises.into_iter().flat_map(|promise| editions.map(|edition| (promise, edition)));
    all.map(|(promise, edition)| ((promise, edition), Arc::new(read(promise, edition)))).collect()
}

#[expect(clippy::expect_used, reason = "the simulation's own configuration: every run reads it")]
fn read(promise: Promise, edition: Edition) -> Deployment {
    let mut text = ENDPOINTS.replace("PROMISE", promise.words());
    let mut lots = LOTS.to_owned();
    match edition {
        Edition::First => {}
        Edition::OtherFields => {
            text = text.replace(r#", amount = "/data/object/amount_total""#, "");
            text = text.replace(r#", amount = "/data/total""#, r#", sum = "/data/total""#);
            text = text.replace(r#"{ order = "/order" }"#, r#"{ order = "/order", lot = "/id" }"#);
        }
        Edition::NoRule => {
            for event_type in ["checkout.session.completed", "order.paid", "sold", "told"] {
                text =
                    text.replace(&format!("type = \"{event_type}\""), &format!("type = \"no.{event_type}\""));
            }
        }
        Edition::NoDestination => text = text.replace("packing", "elsewhere"),
        Edition::NoSettling => text = text.replace("in_doubt =", "settling = \"0s\", in_doubt ="),
        Edition::ByDelivery => lots = lots.replace("id = \"/id\"", "id = \"header:x-delivery\""),
    }
    let config =
        load(("endpoints.toml", &text), &[("vendors/lots.toml", &lots), ("vendors/signals.toml", SIGNALS)])
            .expect("the simulation's configuration");
    let retentions = Retentions { queue: LINE.retention, dlq: LINE.dlq_retention };
    Deployment { config, retentions, visibility: LINE.visibility }
}

/// Who keeps the secrets of the simulation.
pub struct Purse;

impl Secrets for Purse {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        let secret = match name.name() {
            "STRIPE" => STRIPE_SECRET,
            "SHOP" => SHOP_SECRET,
            "LOTS" => LOTS_SECRET,
            "API" => "invented-token",
            // The newcomer's vendor hands its own over.
            _ => return vec![(Stage::Current, Err(NoSecret::Absent))],
        };
        let secret = Secret::new(secret).map_err(|error| NoSecret::Unusable(error.to_string()));
        vec![(Stage::Current, secret)]
    }
}

/// The vendors of the simulation share a secret; none publishes its keys.
impl KeyDocuments for Purse {
    async fn fetch(&self, _: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        Err(NoKeyDocument::Unavailable("nobody publishes a key here".to_owned()))
    }
}
