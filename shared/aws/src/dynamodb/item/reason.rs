//! The two attributes of a reason.

use super::attribute::{Reading, text};
use aws_sdk_dynamodb::types::AttributeValue;
use sekali::ports::StoreError;
use sekali::protocol::reason::{Reason, Slug};

pub(crate) fn slug(reason: Option<&Reason>) -> Option<AttributeValue> {
    reason.map(|reason| text(reason.slug.as_str()))
}

pub(crate) fn cause(reason: Option<&Reason>) -> Option<AttributeValue> {
    reason.and_then(|reason| reason.cause.as_ref()).map(text)
}

pub(crate) fn decode(read: Reading<'_>) -> Result<Option<Reason>, StoreError> {
    let Some(word) = read.maybe_text("reason")? else { return Ok(None) };
    let cause = read.maybe_text("cause")?;
    Ok(Some(match Slug::from_stored(word) {
        Some(slug) => Reason { slug, cause: cause.map(str::to_owned) },
        // After a rollback: a word for people is no reason not to read the item.
        None => {
            let cause = [Some(word), cause].into_iter().flatten().collect::<Vec<_>>().join(": ");
            Reason::with(Slug::NewerVersion, cause)
        }
    }))
}
