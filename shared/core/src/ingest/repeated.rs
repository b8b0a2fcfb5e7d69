//! What a caller that repeats a request hears: the stored result of the first,
//! where its endpoint answers so. For callers that send a key of their own and
//! wait for an answer, as to an API; a vendor is content with 200.

use super::answer::{Answer, Taken, json_raw};
use super::keep::NotKept;
use super::{Arrived, Ingest};
use crate::config::{DuplicateAnswer, Unfinished};
use crate::ids::CorrelationId;
use crate::json::JsonText;
use crate::ports::{Entropy, KeyDocuments, Queue, Secrets, Store};
use crate::protocol::action::{ActionStatus, EffectResult};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::reason::Slug;
use crate::time::Clock;
use std::time::Duration;

/// When a caller may ask again for a result that is not there yet.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// What is known of the first request when it is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeated {
    /// It has a result.
    Ended {
        /// How it ended: processed, ignored or failed.
        status: EventStatus,
        /// Why, where it was not processed.
        reason: Option<Slug>,
        /// What the destination answered, where it had an action.
        effect: Option<EffectResult>,
    },
    /// It has none yet: somebody works on it, or has to look.
    Unfinished(EventStatus, Unfinished),
    /// The key is known and the content is another: the first goes on.
    OtherContent,
}

impl<S: Store, Q: Queue, C: Clock, E: Entropy, K: Secrets + KeyDocuments> Ingest<S, Q, C, E, K> {
    /// What the endpoint says about a repeated request; `None` where it says
    /// no more than the status.
    pub(super) async fn repeated(
        &self,
        arrived: &Arrived<'_>,
        taken: Taken,
        met: Option<&Event>,
    ) -> Result<Option<Repeated>, NotKept> {
        let (DuplicateAnswer::Result(unfinished), Some(event)) = (arrived.endpoint.duplicate, met) else {
            return Ok(None);
        };
        let progress = &event.progress;
        Ok(Some(match (taken, progress.status) {
            (Taken::Conflict(_), _) => Repeated::OtherContent,
            (_, status @ (EventStatus::Processed | EventStatus::Ignored | EventStatus::Failed)) => {
                Repeated::Ended {
                    status,
                    reason: progress.reason.as_ref().map(|reason| reason.slug),
                    effect: self.effect(event).await?,
                }
            }
            (_, status) => Repeated::Unfinished(status, unfinished),
        }))
    }

    /// The recorded effect of the event's action (INV-4).
    async fn effect(&self, event: &Event) -> Result<Option<EffectResult>, NotKept> {
        let (EventStatus::Processed, Some(key)) = (event.progress.status, &event.progress.action) else {
            return Ok(None);
        };
        let action = self.store.action(key).await?;
        Ok(action.filter(|action| action.status == ActionStatus::Done).and_then(|action| action.result))
    }
}

impl Repeated {
    /// The answer.
    pub(super) fn answer(&self, correlation: &CorrelationId) -> Answer {
        let text = |text: &str| JsonText::from_text(text).as_json().to_owned();
        let (status, headers, members) = match self {
            Self::OtherContent => (422, Vec::new(), vec![("error", text("other_content"))]),
            Self::Unfinished(status, unfinished) => {
                let code = match unfinished {
                    Unfinished::Conflict => 409,
                    Unfinished::Accepted => 202,
                };
                let wait = vec![("retry-after", ASK_AGAIN_AFTER.as_secs().to_string())];
                (code, wait, vec![("result", text("duplicate")), ("status", text(status.as_str()))])
            }
            Self::Ended { status, reason, effect } => {
                let mut members = vec![("result", text("duplicate")), ("status", text(status.as_str()))];
                members.extend(reason.map(|reason| ("reason", text(reason.as_str()))));
                members.extend(effect.as_ref().map(|effect| ("effect", shown(effect))));
                (200, Vec::new(), members)
            }
        };
        json_raw(status, headers, &members, correlation)
    }
}

/// What the destination answered: as JSON where it is JSON, else as text.
fn shown(EffectResult(answer): &EffectResult) -> String {
    let json = JsonText::from_json(answer).unwrap_or_else(|_| JsonText::from_text(answer));
    json.as_json().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(repeated: &Repeated) -> (u16, String) {
        let answer = repeated.answer(&CorrelationId::new("c1"));
        (answer.status, answer.body)
    }

    #[test]
    fn a_stored_result_is_shown_as_the_destination_gave_it() {
        let ended = |answer: &str| {
            let effect = Some(EffectResult(answer.to_owned()));
            told(&Repeated::Ended { status: EventStatus::Processed, reason: None, effect })
        };
        let (status, body) = ended(r#"{"task":"t_1"}"#);
        assert_eq!(status, 200);
        assert_eq!(
            body,
            r#"{"result":"duplicate","status":"processed","effect":{"task":"t_1"},"correlation_id":"c1"}"#
        );
        assert!(ended("made \"it\"").1.contains(r#""effect":"made \"it\"""#));
    }

    #[test]
    fn what_has_no_result_yet_says_when_to_ask_again() {
        for (unfinished, expected) in [(Unfinished::Conflict, 409), (Unfinished::Accepted, 202)] {
            let answer =
                Repeated::Unfinished(EventStatus::Processing, unfinished).answer(&CorrelationId::new("c1"));
            assert_eq!(answer.status, expected);
            assert_eq!(answer.headers, [("retry-after".to_owned(), "2".to_owned())]);
        }
        assert_eq!(
            told(&Repeated::OtherContent),
            (422, r#"{"error":"other_content","correlation_id":"c1"}"#.to_owned())
        );
    }
}
