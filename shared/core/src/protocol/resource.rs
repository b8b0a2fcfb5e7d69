//! The resource: the thing whose status events move, and the vendor's last
//! known fact about it.

use crate::ids::{Status, Version};
use crate::key::{EventKey, ResourceKey};
use crate::rule::OrderValue;
use crate::time::UnixMillis;

/// A resource as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its key.
    pub key: ResourceKey,
    /// The last known status.
    pub status: Status,
    /// How late that fact is, in the vendor's own order.
    pub order: OrderValue,
    /// Counts the writes; a claim names the one it read.
    pub version: Version,
    /// The event that brought the fact.
    pub moved_by: EventKey,
    /// When it was written.
    pub moved_at: UnixMillis,
}

/// What a resource write names: unchanged since read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceGuard {
    /// No state yet.
    Absent,
    /// The version as read.
    Version(Version),
}

impl ResourceGuard {
    /// The guard of a write decided from this reading.
    pub fn of(resource: Option<&Resource>) -> Self {
        resource.map_or(Self::Absent, |resource| Self::Version(resource.version))
    }

    /// Is the stored resource still as read?
    pub fn admits(self, stored: Option<&Resource>) -> bool {
        self == Self::of(stored)
    }
}
