//! The protocol: what may happen to an event, its action and its resource.

pub mod action;
pub mod decide;
pub mod event;
pub mod history;
pub mod order;
pub mod policy;
pub mod reason;
pub mod resource;
pub mod transition;

#[cfg(test)]
mod tests;
