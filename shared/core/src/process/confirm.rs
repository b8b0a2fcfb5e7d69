//! Confirmations: what a vendor sent asks for one GET to the vendor, and that
//! call is the event's effect. An action like any other, with a destination of
//! its own that no configuration can name.

use crate::config::{Endpoint, InDoubt, Late};
use crate::ids::ActionName;
use crate::key::ActionKey;
use crate::ports::{Call, Get, NotGot, Outbound, Outcome};
use crate::protocol::action::{EffectResult, FrozenRequest};
use crate::protocol::decide::{Intent, Wanted};
use crate::protocol::event::Event;
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::{Reason, Slug};
use crate::rule::InputDigest;
use crate::url_template::OutboundUrl;
use std::time::Duration;

/// The destination. Its dot keeps it apart from all that a team declares.
pub const DESTINATION: &str = "sekali.vendor";

/// The action.
pub const ACTION: &str = "sekali.confirm";

/// How long the call may take.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of the answer that are taken; that of SNS has a few hundred.
const LARGEST: usize = 64 * 1024;

/// For how long a confirmation may be repeated. That of SNS is valid for three
/// days, and a second one only finds the subscription confirmed.
const HONOURED: Duration = Duration::from_secs(3 * 24 * 3600);

/// What may be relied on: to confirm twice is to confirm, so a doubt is
/// resolved by asking again (INV-2).
pub fn policy() -> EffectPolicy {
    EffectPolicy {
        in_doubt: InDoubt::Retry,
        honours_key_for: Some(HONOURED),
        timeout: TIMEOUT,
        settling: crate::config::DEFAULT_SETTLING,
    }
}

/// What an event asks for that has to be confirmed: once per event.
fn asked<'c>(event: &Event, url: &OutboundUrl) -> Intent<'c> {
    let name = ActionName::from(ACTION);
    Intent::Act {
        moves: None,
        action: Some(Wanted {
            key: ActionKey::from_event(&name, event.tenant.as_ref(), &event.key),
            name,
            request: FrozenRequest {
                destination: DESTINATION.into(),
                body: url.as_str().into(),
                resource: None,
            },
            input: InputDigest::of_text(url.as_str()),
            late: Late::Act,
            policy: policy(),
        }),
    }
}

/// Makes the call.
pub(super) async fn call(vendors: &impl Outbound, call: Call<'_>) -> Outcome {
    // The host was pinned when this was frozen (`Vendor::confirmation`).
    let url = std::str::from_utf8(call.body).ok().and_then(|url| OutboundUrl::pinned(url).ok());
    let Some(url) = url else {
        let cause = "what is to be called is no URL".to_owned();
        return Outcome::Rejected { cause, decisive: true };
    };
    let get = Get { url: &url, headers: &[], timeout: call.timeout.min(TIMEOUT), largest: LARGEST };
    match vendors.get(get).await {
        Ok(got) => meaning(got.status, got.retry_after),
        Err(NotGot::Forbidden(cause)) => Outcome::Rejected { cause, decisive: false },
        Err(NotGot::NotStarted(cause)) => Outcome::NotStarted { cause, not_before: None, decisive: false },
        Err(unknown @ (NotGot::Unknown(_) | NotGot::TooLarge(_))) => Outcome::unknown(unknown.to_string()),
    }
}

/// A redirect is not followed: it leads where nobody has pinned anything.
fn meaning(status: u16, not_before: Option<Duration>) -> Outcome {
    let cause = format!("the vendor answered {status}");
    match status {
        200..=299 => Outcome::Done(EffectResult(cause)),
        429 => Outcome::NotStarted { cause, not_before, decisive: false },
        300..=399 => {
            let cause = format!("{cause}, and redirects are not followed");
            Outcome::Rejected { cause, decisive: false }
        }
        400..=499 if status != 408 => Outcome::Rejected { cause, decisive: false },
        _ => Outcome::Unknown { cause, not_before },
    }
}

/// What becomes of an event that asks for a confirmation; `None`: it does not.
pub(super) fn intent<'c>(endpoint: &Endpoint, event: &Event, body: &[u8]) -> Option<Intent<'c>> {
    Some(match endpoint.vendor.confirmation(body, &endpoint.params)? {
        Ok(url) => asked(event, &url),
        // A topic that was taken out of the configuration meanwhile.
        Err(refusal) => Intent::Hold(Reason::with(Slug::Unconfirmed, refusal.to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_2xx_confirms_and_no_redirect_is_followed() {
        for status in 100..=599 {
            let ended = match meaning(status, None) {
                Outcome::Done(_) => "done",
                Outcome::Rejected { .. } => "rejected",
                Outcome::NotStarted { .. } => "not started",
                Outcome::Unknown { .. } => "unknown",
            };
            let wanted = match status {
                200..=299 => "done",
                408 => "unknown",
                429 => "not started",
                300..=499 => "rejected",
                _ => "unknown",
            };
            assert_eq!(ended, wanted, "{status}");
        }
    }

    #[test]
    fn no_configuration_can_name_what_confirms() {
        for name in [DESTINATION, ACTION] {
            assert!(crate::config::value::name(name).is_err());
        }
    }
}
