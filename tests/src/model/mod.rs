//! The model: an exhaustive search over the protocol's own `decide`. Actors
//! are small state machines whose steps are single calls of a port; the tables
//! apply every guard as the reference store does; faults are steps with a
//! budget. Every state that can be reached is visited once, breadth first, so
//! the first violation found is a shortest one.
//!
//! What is *not* abstracted: `decide`, its transitions, the guards, the keys.
//! What is: time (a few ticks, each longer than a lease), payloads (absent,
//! with a TTL, kept), and the words of reasons.

mod apply;
mod ask;
mod bring;
mod catalog;
mod check;
mod delivery;
mod effect;
mod human;
mod mutant;
mod probe;
mod queue;
mod report;
mod rest;
mod scenario;
mod search;
mod settle;
mod slices;
mod step;
mod story;
mod sweeper;
mod trace;
mod worker;
mod world;
mod write;

pub use mutant::{MUTANTS, Mutant};
pub use report::{Report, Run, catch, catch_all, explore, explore_all, never_taken};
pub use scenario::Slice;
pub use slices::{DEEP, QUICK};
