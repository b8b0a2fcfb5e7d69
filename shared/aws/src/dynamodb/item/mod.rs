//! Items: how an event, an action, a resource and a payload lie in their
//! tables. Names are short but readable, since a write costs by the kilobyte.

pub(crate) mod action;
pub(crate) mod attribute;
pub(crate) mod captured;
pub(crate) mod event;
pub(crate) mod history;
pub(crate) mod pauses;
pub(crate) mod payload;
mod reason;
pub(crate) mod resource;
pub(crate) mod switched_off;

pub(crate) use attribute::Item;

#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod release_tests;
#[cfg(test)]
pub(crate) mod tests;
