//! The protocol: what may happen to an event, its action and its resource.

pub mod action;
pub mod event;
pub mod reason;
pub mod resource;
pub mod transition;
