//! The item of a resource.

use super::attribute::{Attributes, Item, KEY, Reading, number, text};
use sekali::ids::Version;
use sekali::key::{EventKey, ResourceKey};
use sekali::ports::StoreError;
use sekali::protocol::resource::Resource;
use sekali::rule::OrderValue;
use sekali::time::UnixMillis;

pub(crate) const VERSION: &str = "version";

/// Everything that a write of a resource sets.
pub(crate) fn attributes(resource: &Resource) -> Attributes {
    vec![
        ("status", Some(text(resource.status.as_str()))),
        ("order", Some(text(resource.order.to_string()))),
        (VERSION, Some(number(resource.version))),
        ("moved_by", Some(text(resource.moved_by.as_str()))),
        ("moved_at", Some(number(resource.moved_at.0))),
    ]
}

/// The resource of a stored item.
pub(crate) fn decode(item: &Item) -> Result<Resource, StoreError> {
    let read = Reading(item);
    Ok(Resource {
        key: ResourceKey::from_stored(read.text(KEY)?),
        status: read.text("status")?.into(),
        order: read.word("order", OrderValue::from_stored)?,
        version: Version::from_stored(read.number(VERSION)?),
        moved_by: EventKey::from_stored(read.text("moved_by")?),
        moved_at: UnixMillis(read.number("moved_at")?),
    })
}
