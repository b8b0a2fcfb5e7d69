//! The pure core of Sekali: what a vendor's delivery means, what may happen
//! to an event, and the ports through which the world is reached. No AWS, no
//! runtime, no clock: time, randomness and ids are parameters.

pub mod config;
mod document;
pub mod http;
pub mod ids;
pub mod key;
pub mod problem;
pub mod time;
pub mod ports;
pub mod protocol;
pub mod json;
pub mod payload;
pub mod secret;
pub mod source;
pub mod deployment;
pub mod process;
pub mod sweep;
pub mod rule;
pub mod ingest;
pub mod vendor;
pub mod vectors;
