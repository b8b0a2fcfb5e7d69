//! What an AWS service says when it refuses, as far as it may be repeated.
//!
//! A service's sentence may quote what it was sent: the value that an item
//! cannot have, or the headers of a request that was signed wrongly, the
//! session's token among them. What is repeated ends in logs, with events and
//! in front of people on call, so (INV-10) the code is repeated always, and the
//! sentence only where it speaks of something else than what was sent.

use crate::describe;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use std::error::Error;

/// Refusals whose sentence names a right, a table or a queue, which whoever
/// mends it must know.
const OF_RIGHTS_AND_NAMES: [&str; 9] = [
    "AccessDenied",
    "AccessDeniedException",
    "ExpiredToken",
    "ExpiredTokenException",
    "NonExistentQueue",
    "QueueDoesNotExist",
    "ResourceInUseException",
    "ResourceNotFoundException",
    "UnrecognizedClientException",
];

/// What else a service may say of an item: these words, and not what follows.
const OF_ITEMS: [&str; 5] = [
    "Item size has exceeded the maximum allowed size",
    "Item size to update has exceeded the maximum allowed size",
    "Transaction request cannot include multiple operations on one item",
    "The provided key element does not match the schema",
    "The table does not have the specified index",
];

/// More is no sentence, in characters.
const LONGEST: usize = 300;

/// The code of a refusal, and its sentence where that may be repeated.
pub(crate) fn told(code: &str, sentence: &str) -> String {
    let code = bare(code);
    if OF_RIGHTS_AND_NAMES.contains(&code) && !sentence.is_empty() {
        return format!("{code}: {}", sentence.chars().take(LONGEST).collect::<String>());
    }
    match OF_ITEMS.into_iter().find(|known| sentence.starts_with(known)) {
        Some(known) => format!("{code}: {known}"),
        None => code.to_owned(),
    }
}

/// `Code` of `com.amazonaws.service#Code:http://..` and of `AWS.Service.Code`.
/// Whatever does not look like a code is not one.
pub(crate) fn bare(code: &str) -> &str {
    let code = code.rsplit('#').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let code = code.rsplit('.').next().unwrap_or_default();
    let is_code = code.len() <= 80 && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match code {
        "" => "no code",
        code if is_code => code,
        _ => "a code that cannot be read",
    }
}

/// The same for a call of an SDK; where no service spoke, why not. For people
/// and logs: it repeats nothing that was sent.
pub fn of_call<E: ProvideErrorMetadata + Error + 'static>(error: &SdkError<E>) -> String {
    match error {
        SdkError::ServiceError(answer) => {
            told(answer.err().code().unwrap_or_default(), answer.err().message().unwrap_or_default())
        }
        SdkError::ResponseError(_) => "the answer cannot be read".to_owned(),
        other => describe(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_and_names_are_repeated_and_what_may_quote_an_item_is_not() {
        let right =
            "User: arn:aws:sts::111122223333:assumed-role/x is not authorized to perform: sqs:SendMessage";
        assert_eq!(
            told("com.amazonaws.sqs#AccessDeniedException", right),
            format!("AccessDeniedException: {right}")
        );
        let quoting = "The parameter cannot be converted to a numeric value: 4711";
        assert_eq!(told("ValidationException", quoting), "ValidationException");
        let canonical = "The Canonical String for this request should have been x-amz-security-token:..";
        assert_eq!(told("InvalidSignatureException", canonical), "InvalidSignatureException");
        let large = "Item size has exceeded the maximum allowed size: 4711";
        assert_eq!(
            told("ValidationException", large),
            "ValidationException: Item size has exceeded the maximum allowed size"
        );
        assert!(told("AccessDenied", &"m".repeat(9000)).len() < 400);
    }

    #[test]
    fn what_does_not_look_like_a_code_is_not_repeated() {
        assert_eq!(bare("AWS.SimpleQueueService.NonExistentQueue"), "NonExistentQueue");
        assert_eq!(bare("ParameterNotFound:http://internal.amazon.com/"), "ParameterNotFound");
        assert_eq!(bare(""), "no code");
        assert_eq!(bare("an order for Ada"), "a code that cannot be read");
        assert_eq!(bare(&"A".repeat(81)), "a code that cannot be read");
    }
}
