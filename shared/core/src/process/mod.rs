//! The way of an event: read, decide, claim, effect, complete. A thin loop
//! around `decide`: it does what it is told and asks again.

pub mod backoff;
mod call;
pub mod confirm;
mod credentials;
pub(crate) mod intent;
mod known;
mod look;
mod truth;

pub use look::Unsettled;

use crate::deployment::Deployment;
use crate::happened::Happenings;
use crate::pause::Remembered;
use crate::ports::{Destination, Entropy, Message, Outbound, PauseRecord, Secrets, Store};
use crate::time::{Clock, UnixMillis};
use credentials::Credentials;
use futures_util::FutureExt;
use futures_util::future::join_all;
use look::Look;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use truth::Readings;

/// How often a message may come back only to wait. With the attempts of
/// [`Limits`](crate::protocol::policy::Limits) it stays below the queue's maxReceiveCount (INV-8), which a test
/// asserts on the template.
pub const SHORT_WAITS: u32 = 6;

/// How much of an invocation is kept back for the writes after the call.
pub const RESERVE: Duration = Duration::from_secs(3);

/// How long a lease outlives the invocation that holds it: clocks of workers
/// may differ by this much before a live worker could be taken for dead.
pub const LEASE_MARGIN: Duration = Duration::from_secs(10);

/// The lease where the runtime does not say how long the invocation may last.
pub const LEASE_WITHOUT_DEADLINE: Duration = Duration::from_secs(120);

/// One record of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it says.
    pub message: Message,
    /// When SQS took it.
    pub stamped_at: UnixMillis,
    /// How often SQS has handed it out, this time included.
    pub receive_count: u32,
}

/// How long this invocation may last. An end in the past means that there is
/// no time left, which is not the same as not knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// The runtime said so.
    At(UnixMillis),
    /// The runtime said nothing.
    Unknown,
}

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Its work is done: SQS deletes it.
    Delete,
    /// Reported as failed, visible again after this long.
    Return(Duration),
    /// Reported as failed with visibility 0, until SQS itself moves it to the
    /// dead-letter queue.
    Fail,
}

/// The processor over its ports.
pub struct Processor<S, D, A, C, E> {
    /// The tables.
    pub store: S,
    /// Where effects happen.
    pub destination: D,
    /// Vendors' APIs, and whoever keeps the secrets to ask them with.
    pub api: A,
    /// Time.
    pub clock: C,
    /// Randomness.
    pub entropy: E,
    /// Today's rules, and what the infrastructure gives a message.
    pub deployment: Arc<Deployment>,
    /// The secrets that were read so far.
    credentials: Credentials,
    /// What this process remembers of the pauses.
    pauses: Remembered,
}

impl<S: Store + PauseRecord, D: Destination, A: Outbound + Secrets, C: Clock, E: Entropy>
    Processor<S, D, A, C, E>
{
    /// A processor as a process begins: no secret is read yet.
    pub fn new(store: S, destination: D, api: A, clock: C, entropy: E, deployment: Arc<Deployment>) -> Self {
        let (credentials, pauses) = (Credentials::default(), Remembered::default());
        Self { store, destination, api, clock, entropy, deployment, credentials, pauses }
    }

    /// Processes a batch side by side. One bad record never fails its
    /// neighbours; a panic is one record's failure.
    pub async fn batch(&self, records: &[Record], deadline: Deadline) -> Vec<Disposition> {
        self.batch_telling(records, deadline, &Happenings::default()).await
    }

    /// The same, and tells what happened meanwhile.
    pub async fn batch_telling(
        &self,
        records: &[Record],
        deadline: Deadline,
        happenings: &Happenings,
    ) -> Vec<Disposition> {
        let readings = &Readings::default();
        let each = records.iter().map(|record| async move {
            let look = Look::new(self, record, deadline, (readings, happenings)).run();
            let looked = AssertUnwindSafe(look).catch_unwind().await;
            looked.unwrap_or_else(|_| {
                tracing::error!(event.key = %record.message.event, "panic while processing a record");
                Disposition::Return(self.after_trouble(record))
            })
        });
        join_all(each).await
    }

    /// Processes one record to its end.
    pub async fn record(&self, record: &Record, deadline: Deadline) -> Disposition {
        let beside = (&Readings::default(), &Happenings::default());
        Look::new(self, record, deadline, beside).run().await
    }

    /// The wait after trouble that was not the event's: grows with how often
    /// the message came, with full jitter.
    fn after_trouble(&self, record: &Record) -> Duration {
        backoff::after(record.receive_count, None, &self.entropy)
    }
}
