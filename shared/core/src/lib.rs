//! The pure core of Sekali: what a vendor's delivery means, what may happen
//! to an event, and the ports through which the world is reached. No AWS, no
//! runtime, no clock: time, randomness and ids are parameters.

pub mod call_signature;
pub mod config;
pub mod deployment;
pub mod doctor;
mod document;
pub mod happened;
pub mod http;
pub mod ids;
pub mod ingest;
pub mod instant;
pub mod json;
pub mod key;
pub mod operate;
mod outbound_header;
pub mod pause;
pub mod payload;
pub mod ports;
pub mod problem;
pub mod process;
pub mod protocol;
pub mod published;
pub mod rate;
pub mod reconcile;
pub mod rule;
pub mod secret;
pub mod secrets;
pub mod sequence;
pub mod source;
mod steps;
pub mod sweep;
pub mod time;
pub mod url_template;
pub mod vectors;
pub mod vendor;
