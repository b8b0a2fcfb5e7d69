//! The question what became of a call, and what the destination answers.

use super::ask::{Ask, Asked};
use super::scenario::Finding;
use super::step::{Ways, What};
use super::worker::who;
use super::world::WorkerAt;
use sekali::protocol::decide::Decision;

impl Ways<'_> {
    /// The destination looks, at a moment between question and answer. It says
    /// what is the case then, or nothing.
    pub fn probe(&mut self, number: usize, asked: u8) {
        for finding in self.findings(number) {
            let mut world = self.before;
            world.workers[number].at = WorkerAt::Told(finding, asked);
            self.add(who(number), What::Asks(finding), world);
        }
    }

    fn findings(&self, number: usize) -> Vec<Finding> {
        let Some(Some(action)) = self.before.workers[number].bound else { return vec![Finding::Unknown] };
        let facts = self.catalog.action_facts(action);
        if !self.is_present(&self.before, facts.slot, facts.generation) {
            // Nobody keeps the books of a generation that is over.
            return vec![Finding::NotDone, Finding::Done, Finding::Unknown];
        }
        let acted = self.before.ledger.calls[facts.slot].acted.is_some();
        vec![if acted { Finding::Done } else { Finding::NotDone }, Finding::Unknown]
    }

    /// The worker hears it, and asks what it means.
    pub fn told(&mut self, number: usize, finding: Finding, asked: u8) {
        let worker = self.before.workers[number];
        let Some(event) = worker.event else { return };
        let known = self.known(&worker, event);
        let ask =
            Ask::of(&self.before, event, known, Asked::Probed { finding, asked }).at_gate(worker.gate, false);
        let Some(decision) = self.ask(ask) else { return };
        let mut world = self.before;
        world.workers[number].decision = Some(decision);
        match self.catalog.decision(decision) {
            Decision::Write { .. } => {
                world.workers[number].at = WorkerAt::Writing(self.first_stage(decision));
                self.add(who(number), What::HearsOfCall, world);
            }
            Decision::End(_) => {
                world.workers[number].at = WorkerAt::Disposing;
                self.dispose(number, world, What::HearsOfCall);
            }
            other => {
                let how = format!("an answer about a call leads to {other:?}");
                self.undecided(how);
            }
        }
    }
}
