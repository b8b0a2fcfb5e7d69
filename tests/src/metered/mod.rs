//! AWS with a meter: DynamoDB and SQS on a port of this machine, without any
//! delay of their own, that count every call and what it would cost.
//!
//! It speaks the services' protocol and as much of DynamoDB's language as
//! anybody needs who keeps webhooks there; the contract of the store holds on
//! it as on DynamoDB. Units are counted of the items as they travel: what is
//! asserted with it holds for the bill.

mod bill;
mod expression;
mod queue;
mod service;
mod size;
mod tables;
mod words;

pub use bill::{Bill, Charge};
pub use queue::Sent;
pub use service::Metered;

/// An item in DynamoDB's JSON.
pub type Item = serde_json::Map<String, serde_json::Value>;
