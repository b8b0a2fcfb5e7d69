//! The simulation: the real ingest, processor and sweeper on the in-memory
//! ports, under a virtual clock, with every fault that the decorators know at
//! every point, and a watch that knows what really happened.

mod api;
pub mod diary;
pub mod executor;
pub mod explore;
mod human;
mod moody;
mod mutant;
mod process;
mod rest;
mod run;
mod seat;
mod setup;
mod shape;
mod traffic;
mod watch;
mod world;

pub use mutant::Mutant;
pub use run::{Case, Run};
pub use setup::Promise;
pub use shape::{Outlook, Shape, Temper};
pub use traffic::{BEGINNING, Sent};
pub use watch::Violation;
