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
    if read.maybe_text("reason")?.is_none() {
        return Ok(None);
    }
    let slug = read.word("reason", Slug::from_stored)?;
    Ok(Some(Reason { slug, cause: read.maybe_text("cause")?.map(str::to_owned) }))
}
