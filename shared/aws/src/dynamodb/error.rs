//! What went wrong with a call, as something that a caller can decide on.

use crate::refusal;
use aws_sdk_dynamodb::config::interceptors::FinalizerInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::{BoxError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::CancellationReason;
use sekali::ports::StoreError;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The service is at its limit, or ours.
const THROTTLED: [&str; 6] = [
    "ThrottlingException",
    "ThrottlingError",
    "Throttling",
    "ProvisionedThroughputExceededException",
    "ProvisionedThroughputExceeded",
    "RequestLimitExceeded",
];
/// Another transaction holds the item.
const CONTENDED: [&str; 2] = ["TransactionConflictException", "TransactionConflict"];
/// It will be refused as often as it is sent.
const INVALID: [&str; 4] = [
    "ValidationException",
    "ValidationError",
    "ItemCollectionSizeLimitExceededException",
    "ItemCollectionSizeLimitExceeded",
];
/// A condition was not met.
pub(super) const REFUSED: &str = "ConditionalCheckFailed";

/// Remembers whether a try of a call ended without an answer. The SDK tries
/// again by itself and shows only the last end; "throttled, certainly not
/// written" would be false if an earlier try was written and its answer lost.
#[derive(Debug, Clone, Default)]
pub(super) struct Unanswered(Arc<AtomicBool>);

impl Unanswered {
    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Intercept for Unanswered {
    fn name(&self) -> &'static str {
        "Unanswered"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let failed_inside = context.response().is_none_or(|response| response.status().is_server_error());
        if let Some(Err(error)) = context.output_or_error()
            && (!error.is_operation_error() || failed_inside)
        {
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The error of a call of which some tries may have gone unanswered.
pub(super) fn store_error<E>(error: &SdkError<E>, unanswered: &Unanswered) -> StoreError
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let found = match error {
        SdkError::ServiceError(answer) => by_code(answer.err().code(), || refusal::of_call(error)),
        SdkError::ConstructionFailure(_) => StoreError::Invalid(refusal::of_call(error)),
        // Whether it was sent is not looked into: what cannot be told for
        // certain is not told (INV-6).
        _ => StoreError::Unknown(refusal::of_call(error)),
    };
    in_the_light_of(unanswered, found)
}

/// Why a transaction was cancelled, if not by a condition.
pub(super) fn cancelled(reasons: &[CancellationReason], unanswered: &Unanswered) -> StoreError {
    let first =
        |codes: &[&str]| reasons.iter().find(|reason| reason.code().is_some_and(|c| codes.contains(&c)));
    let found = [&INVALID[..], &CONTENDED[..], &THROTTLED[..]].into_iter().find_map(first);
    let codes = || {
        reasons.iter().filter_map(|reason| reason.code()).map(refusal::bare).collect::<Vec<_>>().join(", ")
    };
    let found = by_code(found.and_then(|reason| reason.code()), || match found {
        Some(reason) => {
            refusal::told(reason.code().unwrap_or_default(), reason.message().unwrap_or_default())
        }
        None => codes(),
    });
    in_the_light_of(unanswered, found)
}

fn by_code(code: Option<&str>, text: impl FnOnce() -> String) -> StoreError {
    match code {
        Some(code) if THROTTLED.contains(&code) => StoreError::Throttled,
        Some(code) if CONTENDED.contains(&code) => StoreError::Contended,
        Some(code) if INVALID.contains(&code) => StoreError::Invalid(text()),
        // A transaction that is still in progress may yet be written; missing
        // rights and missing tables are mended by people, and then the same
        // write is good.
        _ => StoreError::Unknown(text()),
    }
}

fn in_the_light_of(unanswered: &Unanswered, found: StoreError) -> StoreError {
    match found {
        StoreError::Throttled | StoreError::Contended if unanswered.any() => {
            StoreError::Unknown(format!("{found}, and an earlier try went unanswered"))
        }
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect()
    }

    fn lost() -> Unanswered {
        let unanswered = Unanswered::default();
        unanswered.0.store(true, Ordering::Relaxed);
        unanswered
    }

    #[test]
    fn a_cancelled_transaction_is_what_its_worst_reason_says() {
        let of = |codes: &[&str]| cancelled(&reasons(codes), &Unanswered::default());
        assert_eq!(of(&["None", "TransactionConflict"]), StoreError::Contended);
        assert_eq!(of(&["ThrottlingError", "None"]), StoreError::Throttled);
        assert_eq!(of(&["ProvisionedThroughputExceeded"]), StoreError::Throttled);
        assert!(matches!(of(&["ThrottlingError", "ValidationError"]), StoreError::Invalid(_)));
        assert_eq!(of(&["None", "Else"]), StoreError::Unknown("None, Else".into()));
    }

    // INV-6: what an earlier try may have done is not denied by a later one.
    #[test]
    fn throttled_after_an_unanswered_try_is_not_certainly_unwritten() {
        assert!(matches!(cancelled(&reasons(&["ThrottlingError"]), &lost()), StoreError::Unknown(_)));
        assert!(matches!(cancelled(&reasons(&["TransactionConflict"]), &lost()), StoreError::Unknown(_)));
        assert!(matches!(cancelled(&reasons(&["ValidationError"]), &lost()), StoreError::Invalid(_)));
    }

    #[test]
    fn codes_that_are_not_known_promise_nothing() {
        let of = |code| by_code(Some(code), || "text".to_owned());
        assert_eq!(of("TransactionInProgressException"), StoreError::Unknown("text".into()));
        assert_eq!(of("AccessDeniedException"), StoreError::Unknown("text".into()));
        assert_eq!(of("InternalServerError"), StoreError::Unknown("text".into()));
        assert_eq!(of("ValidationException"), StoreError::Invalid("text".into()));
        assert_eq!(of("TransactionConflictException"), StoreError::Contended);
    }
}
