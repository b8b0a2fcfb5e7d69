//! A Lambda function, invoked synchronously: its answer is the result.

use super::AwsDestinations;
use super::answer::not_done;
use super::caller::{Asked, Came, Service};
use crate::effect_result;
use crate::refusal::bare;
use crate::trace::Trace;
use aws_smithy_types::base64;
use sekali::config::AwsTarget;
use sekali::ports::{Call, Outcome};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

#[derive(Deserialize, Default)]
struct Failure {
    #[serde(rename = "errorType", default)]
    kind: String,
}

impl AwsDestinations {
    /// Invokes the function and waits for its end. The payload is the same on
    /// every attempt; the attempt's number travels in the client context.
    pub(super) async fn invoke(
        &self,
        (function, decisive): (&AwsTarget, &[String]),
        call: &Call<'_>,
        body: String,
        deadline: Instant,
    ) -> Outcome {
        let path = format!("/2015-03-31/functions/{}/invocations", encoded(function.as_str()));
        let context = json!({ "custom": { "attempt": call.attempt, "correlation": call.correlation } });
        let context = base64::encode(context.to_string());
        let trace = call.trace.and_then(Trace::parse).map(|trace| trace.xray());
        let mut headers = vec![
            ("content-type", "application/json"),
            ("x-amz-invocation-type", "RequestResponse"),
            ("x-amz-client-context", context.as_str()),
        ];
        headers.extend(trace.as_deref().map(|trace| ("x-amzn-trace-id", trace)));
        let asked =
            Asked { service: Service::Lambda, path: &path, headers: &headers, body: body.into_bytes() };
        match self.effects.call(asked, deadline).await {
            Came::Answered { status: 200, headers, body, end } => {
                match headers.contains_key("x-amz-function-error") {
                    true => failed(&body, decisive),
                    false => Outcome::Done(effect_result::of_read(body, &end)),
                }
            }
            other => not_done("Lambda", &other),
        }
    }
}

/// A function that ended with an error may have acted before: nobody knows,
/// unless its owner declares that this error comes before any effect. What the
/// error says may quote what the function was asked, and is in its own log.
fn failed(body: &[u8], decisive: &[String]) -> Outcome {
    let Failure { kind } = serde_json::from_slice(body).unwrap_or_default();
    let cause = format!("the function ended with {}", bare(&kind));
    if !kind.is_empty() && decisive.contains(&kind) {
        return Outcome::Rejected { cause, decisive: true };
    }
    Outcome::unknown(cause)
}

/// An ARN has colons, which a path holds only encoded.
fn encoded(name: &str) -> String {
    name.replace(':', "%3A").replace('$', "%24")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: &str) -> Outcome {
        let body = json!({ "errorType": kind, "errorMessage": "m".repeat(1000) }).to_string();
        failed(body.as_bytes(), &["OutOfStock".to_owned()])
    }

    // INV-6
    #[test]
    fn only_an_error_that_is_declared_decisive_is_certain() {
        assert!(matches!(failure("OutOfStock"), Outcome::Rejected { decisive: true, .. }));
        let Outcome::Unknown { cause, .. } = failure("TypeError") else { panic!("not unknown") };
        assert_eq!(cause, "the function ended with TypeError");
        assert!(matches!(failed(b"no json", &[String::new()]), Outcome::Unknown { .. }));
    }

    #[test]
    fn a_whole_arn_is_one_step_of_the_path() {
        assert_eq!(encoded("finish-job"), "finish-job");
        let arn = "arn:aws:lambda:eu-west-1:111122223333:function:finish-job";
        assert!(!encoded(arn).contains(':'));
    }
}
