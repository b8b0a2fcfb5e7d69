//! Destinations against real counterparts on this machine: the emulator's
//! queues, buses and functions, and a receiver of another language.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod aws;
mod official;

use sekali::config::load;
use sekali::ids::{DestinationName, Generation};
use sekali::key::{ActionKey, ResourceKey};
use sekali::ports::{Call, Destination, Outcome, OwnCode, StoreError, SwitchedOff, Switches};
use sekali::protocol::action::IdempotencyKey;
use sekali::secrets::OutgoingSecrets;
use sekali::time::Clock;
use sekali_aws::client::Patience;
use sekali_aws::{Aws, Destinations, Keepers, Reach, SystemClock};
use sekali_cli::local::aws::REGION;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Destinations of this section, as the processor makes them. AWS is at
/// `endpoint`; secrets of `file:` lie in `folder`.
fn destinations(section: &str, endpoint: &str, folder: &Path) -> Called {
    let text =
        format!("[endpoint.hub]\nvendor = \"github\"\nsecrets = [\"env:HUB\"]\n[destination]\n{section}\n");
    let config = load(("endpoints.toml", &text), &[]).unwrap();
    let aws = Aws::from_variables(Patience::PERSON, |name| match name {
        "AWS_ENDPOINT_URL" => Some(endpoint.to_owned()),
        "AWS_REGION" => Some(REGION.to_owned()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("invented".to_owned()),
        _ => None,
    });
    let aws = aws.unwrap();
    let secrets = Arc::new(OutgoingSecrets::new(Keepers::new(folder.to_owned(), aws.caller())));
    let calls = (aws.effects(), Reach::Anywhere);
    Destinations::new(&config, calls, (secrets, NothingIsOff), OwnCode::none()).unwrap()
}

type Called = Destinations<Keepers, NothingIsOff>;

/// Switches that nobody has touched.
struct NothingIsOff;

impl Switches for NothingIsOff {
    async fn switched_off(&self, _: &DestinationName, _: &str) -> Result<Option<SwitchedOff>, StoreError> {
        Ok(None)
    }

    async fn switch_off(&self, _: &SwitchedOff) -> Result<(), StoreError> {
        Ok(())
    }
}

/// One call: which order it is about, and which attempt it is.
struct Asked<'a> {
    destination: &'a str,
    order: &'a str,
    attempt: u32,
    resource: Option<ResourceKey>,
}

impl<'a> Asked<'a> {
    fn of(destination: &'a str, order: &'a str) -> Self {
        Self { destination, order, attempt: 1, resource: None }
    }

    fn key(&self) -> IdempotencyKey {
        IdempotencyKey::of(&ActionKey::from_fields(&"pack".into(), None, &[self.order]), Generation::FIRST)
    }

    async fn call(&self, destinations: &Called) -> Outcome {
        let body = format!(
            r#"{{"event_id":"evt_{0}","action":"pack","data":{{"order":"{0}","note":"é{1}"}}}}"#,
            self.order, "\u{ffff}"
        );
        let call = Call {
            destination: &self.destination.into(),
            action: &"pack".into(),
            key: &self.key(),
            body: body.as_bytes(),
            resource: self.resource.as_ref(),
            at: SystemClock.now(),
            attempt: self.attempt,
            correlation: "0af7651916cd43dd8448eb211c80319c",
            trace: None,
            timeout: Duration::from_secs(30),
        };
        destinations.call(call).await
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("destinations").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
