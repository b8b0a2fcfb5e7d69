//! A destination as a worker sees it when things go wrong.

use super::kind::{PortCall, Trouble};
use super::worker::Faulty;
use sekali::ports::{Call, Destination, Found, Outcome, Probe};

fn instead(trouble: Trouble) -> Outcome {
    match trouble {
        Trouble::Throttled | Trouble::Contended => {
            Outcome::NotStarted { cause: "cannot be reached".to_owned(), not_before: None, decisive: false }
        }
        Trouble::Unanswered | Trouble::Unreadable => Outcome::unknown("the request was lost"),
        Trouble::Invalid => Outcome::Rejected { cause: "refused by the test".to_owned(), decisive: false },
    }
}

impl<D: Destination> Destination for Faulty<D> {
    async fn call(&self, call: Call<'_>) -> Outcome {
        let lost = || Outcome::unknown("the answer was lost");
        self.pass(PortCall::Effect, || self.port.call(call.clone()), instead, lost).await
    }

    async fn probe(&self, probe: Probe<'_>) -> Found {
        let nothing = || Found::Unknown("the question was lost".to_owned());
        self.pass(PortCall::Probe, || self.port.probe(probe.clone()), |_| nothing(), nothing).await
    }
}
