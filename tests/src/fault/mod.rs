//! Faults as decorators around a port. Every call through a decorator is a
//! numbered point; a schedule says which point meets which fault, the log says
//! which points there were, and an exploration goes through every single
//! fault, every pair and so on without knowing the code in between.

mod destination;
mod explore;
mod kind;
mod outbound;
mod queue;
mod schedule;
mod store;
#[cfg(test)]
mod tests;
mod worker;

pub use explore::Exploration;
pub use kind::{Fault, Menu, PortCall, Trouble};
pub use schedule::{Point, Schedule};
pub use worker::{Ended, Faults, Faulty, Worker};
