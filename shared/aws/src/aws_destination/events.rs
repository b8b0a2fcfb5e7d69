//! An event bus.

use super::AwsDestinations;
use super::answer::{is_for_now, not_done};
use super::caller::{Asked, Came, Service};
use crate::refusal::told;
use crate::trace::Trace;
use sekali::config::AwsTarget;
use sekali::ports::{Call, Outcome};
use sekali::protocol::action::EffectResult;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

/// What every event of ours says about where it comes from; rules match on it.
pub const SOURCE: &str = "sekali";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Put {
    #[serde(default)]
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    event_id: Option<String>,
    error_code: Option<String>,
    error_message: Option<String>,
}

impl AwsDestinations {
    /// Puts the event on the bus.
    pub(super) async fn put(
        &self,
        bus: &AwsTarget,
        call: &Call<'_>,
        body: String,
        deadline: Instant,
    ) -> Outcome {
        let mut entry = json!({
            "Source": SOURCE,
            "DetailType": call.action.as_str(),
            "Detail": body,
            "EventBusName": bus.as_str(),
        });
        if let Some(trace) = call.trace.and_then(Trace::parse) {
            entry["TraceHeader"] = Value::from(trace.xray());
        }
        let body = json!({ "Entries": [entry] }).to_string().into_bytes();
        let headers =
            [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", "AWSEvents.PutEvents")];
        let asked = Asked { service: Service::Events, path: "/", headers: &headers, body };
        let came = self.effects.call(asked, deadline).await;
        match &came {
            Came::Answered { status: 200, body, .. } => taken(body),
            other => not_done("EventBridge", other),
        }
    }
}

/// A request that was answered 200 may hold an entry that was not taken.
fn taken(body: &[u8]) -> Outcome {
    let entry = serde_json::from_slice::<Put>(body).ok().and_then(|put| put.entries.into_iter().next());
    let Some(entry) = entry else {
        return Outcome::unknown("EventBridge answered 200 and says nothing of the event");
    };
    match (entry.event_id, entry.error_code) {
        (Some(id), None) => Outcome::Done(EffectResult(json!({ "event_id": id }).to_string())),
        (_, Some(code)) => {
            let cause = format!("EventBridge: {}", told(&code, &entry.error_message.unwrap_or_default()));
            match code.as_str() {
                code if is_for_now(code) => Outcome::not_started(cause),
                code if code.starts_with("Internal") => Outcome::unknown(cause),
                _ => Outcome::rejected(cause),
            }
        }
        (None, None) => Outcome::unknown("EventBridge answered 200 and names no event"),
    }
}
