//! `sekali events payload`.

use crate::ended::Ended;
use crate::on_call::answer::Answer;
use crate::on_call::at::At;
use crate::on_call::desk::Desk;
use crate::on_call::find::Which;
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use sekali::payload::Payload;
use sekali::ports::Store;
use serde_json::{Value, json};

/// Show what is stored of an event's body. It may hold personal data: look with
/// --redact first, which keeps the names and hides the values.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali events payload evt_1NxZ --redact --stack sekali-prod
  sekali events payload evt_1NxZ --stack sekali-prod > body.json")]
pub struct ShowPayload {
    #[command(flatten)]
    which: Which,
    /// Hide every value, keep the names.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    pub(super) at: At,
}

impl ShowPayload {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let mut page = desk.page();
        let Some(event) = self.which.find(desk).await? else {
            return Ok(page.nothing(self.which.nothing(desk)));
        };
        let Some(payload) = desk.store.payload(&event.key, &event.hash).await? else {
            return Ok(page.nothing(format_args!(
                "the payload of {} is not there: it was erased, its window is over, or its delivery died before it was written",
                event.key
            )));
        };
        if !self.redact {
            page.aside(
                "this may hold personal data: do not paste it into a ticket; --redact hides the values",
            );
        }
        let (body, context) = shown(&payload, self.redact);
        page.line(match &body {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other)?,
        });
        if context.as_object().is_some_and(|context| !context.is_empty()) {
            page.aside(format_args!("beside the body: {context}"));
        }
        let json = json!({ "key": event.key.as_str(), "hash": event.hash.as_str(), "redacted": self.redact, "body": body, "context": context });
        Ok(page.answer(json, Ended::Well))
    }
}

/// Body and context of a payload. A body that is no JSON is shown as its text,
/// or as base64 where it is none.
pub fn shown(payload: &Payload, redact: bool) -> (Value, Value) {
    let (bytes, context) = payload.to_parts();
    let context = serde_json::from_str(&context).unwrap_or_default();
    let body = match (serde_json::from_slice(bytes), std::str::from_utf8(bytes)) {
        (Ok(json), _) => json,
        (Err(_), _) if redact => return (json!(format!("{} bytes, no JSON", bytes.len())), hidden(context)),
        (Err(_), Ok(text)) => Value::from(text),
        (Err(_), Err(_)) => Value::from(STANDARD.encode(bytes)),
    };
    if redact { (hidden(body), hidden(context)) } else { (body, context) }
}

/// The same value without what its texts and numbers say.
fn hidden(value: Value) -> Value {
    match value {
        Value::String(text) => Value::from(format!("<text of {}>", text.chars().count())),
        Value::Number(_) => Value::from("<number>"),
        Value::Array(items) => Value::Array(items.into_iter().map(hidden).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, hidden(value))).collect())
        }
        Value::Bool(_) => Value::from("<true or false>"),
        Value::Null => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redacted_payload_keeps_names_and_hides_every_value() {
        let payload = Payload::new(br#"{"name":"Ada","n":[42,null,true]}"#.to_vec(), []);
        let (body, _) = shown(&payload, true);
        let expected = json!({ "name": "<text of 3>", "n": ["<number>", null, "<true or false>"] });
        assert_eq!(body, expected);
        let (body, _) = shown(&Payload::new(b"name=Ada".to_vec(), []), true);
        assert!(!body.to_string().contains("Ada"));
    }

    #[test]
    fn a_body_that_is_no_json_is_shown_as_it_is() {
        assert_eq!(shown(&Payload::new(b"name=Ada".to_vec(), []), false).0, json!("name=Ada"));
        assert_eq!(shown(&Payload::new(vec![0xff], []), false).0, json!("/w=="));
    }
}
