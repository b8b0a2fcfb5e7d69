//! The adapters: the ports of the core, on DynamoDB, SQS and HTTP, and the
//! clock, randomness, secrets and log of a function.

pub mod aws_destination;
mod aws_signature;
#[cfg(test)]
mod canary;
pub mod client;
pub mod clock;
mod connection;
pub mod deployment;
pub mod destinations;
pub mod dynamodb;
pub mod effect_result;
pub mod entropy;
pub mod http_destination;
mod key_documents;
pub mod log;
pub mod metric;
mod outbound;
pub mod post;
pub mod probe;
pub mod refusal;
pub mod rights;
mod roots;
#[cfg(test)]
mod scripted;
pub mod secrets;
pub mod sqs;
pub mod tables;
mod trace;

pub use aws_destination::{AwsDestinations, AwsEffects};
pub use client::Aws;
pub use clock::SystemClock;
pub use connection::{ALLOW_PRIVATE, Reach};
pub use destinations::{Destinations, NotReachable};
pub use dynamodb::{DynamoStore, Tables};
pub use entropy::SystemEntropy;
pub use http_destination::{HttpDestination, HttpDestinations};
pub use outbound::Apis;
pub use probe::Probes;
pub use secrets::{Caller, Keepers};
pub use sqs::SqsQueue;

/// An error and its causes on one line. The SDK's own long form would print
/// the raw response, and with it a stored item; this never does. Of an error
/// that a service answered with, ask [`refusal::of_call`].
fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
