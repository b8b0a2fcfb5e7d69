//! The queue as a worker sees it when things go wrong: its senders, and the
//! poller that hands letters to functions.

use super::kind::{PortCall, Trouble};
use super::worker::Faulty;
use crate::memory::{MemoryQueue, Receipt, Received};
use sekali::ports::{Message, Queue, QueueError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

impl<Q: Queue> Queue for Faulty<Q> {
    async fn send(&self, message: &Message) -> Result<(), QueueError> {
        let refused = |trouble| Err(QueueError(format!("{trouble:?}")));
        let lost = || Err(QueueError("the answer was lost".to_owned()));
        self.pass(PortCall::Send, || self.port.send(message), refused, lost).await
    }
}

impl Faulty<MemoryQueue> {
    /// Receives up to `most` letters. Where the answer is lost they stay hidden
    /// until their visibility ends; where the call is repeated each of them is
    /// handed out twice, since the queue promises no better.
    pub async fn receive(&self, most: usize) -> Vec<Received> {
        let earlier = Mutex::new(None);
        let receive = || async {
            let mut earlier = earlier.lock().unwrap_or_else(PoisonError::into_inner);
            match earlier.take() {
                None => earlier.insert(self.inner().receive(most)).clone(),
                Some(received) => self.and_again(received),
            }
        };
        self.pass(PortCall::Receive, receive, |_: Trouble| Vec::new(), Vec::new).await
    }

    fn and_again(&self, mut received: Vec<Received>) -> Vec<Received> {
        let letters: Vec<_> = received.iter().map(|received| received.receipt.letter()).collect();
        received.extend(letters.into_iter().filter_map(|letter| self.inner().hand_out(letter)));
        received
    }

    /// Deletes a letter that was worked on.
    pub async fn delete(&self, receipt: Receipt) -> bool {
        self.pass(PortCall::Delete, || async { self.port.delete(receipt) }, |_| false, || false).await
    }

    /// Hides a letter for `span` from now on.
    pub async fn show_again(&self, receipt: Receipt, span: Duration) -> bool {
        let show = || async { self.port.change_visibility(receipt, span) };
        self.pass(PortCall::ShowAgain, show, |_| false, || false).await
    }
}
