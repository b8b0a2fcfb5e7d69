//! A way through the states, told in words: who did what, and what it changed.

use super::catalog::Catalog;
use super::scenario::{Answer, EVENTS, Finding, SLOTS, Told};
use super::step::{Broken, Successor, What, Who};
use super::world::{Act, Paper, World};
use std::fmt::Write as _;

/// A violation as it is told.
pub(super) struct Story(String, usize);

impl Story {
    pub fn new(slice: &str) -> Self {
        Self(format!("in \"{slice}\":\n"), 0)
    }

    pub fn step(&mut self, catalog: &Catalog, before: &World, taken: &Successor) {
        self.1 += 1;
        let _ =
            writeln!(self.0, "{:>4}. {} {}", self.1, who(taken.who, before, &taken.world), what(taken.what));
        for change in changes(catalog, before, &taken.world) {
            let _ = writeln!(self.0, "        {change}");
        }
    }

    pub fn end(mut self, broken: &Broken) -> String {
        let _ = writeln!(self.0, "      breaks {}: {}", broken.promise, broken.how);
        self.0
    }
}

fn changes(catalog: &Catalog, before: &World, after: &World) -> Vec<String> {
    let mut said = Vec::new();
    for place in 0..EVENTS {
        if before.events[place] != after.events[place] {
            said.push(format!("event {place}: {}", event(catalog, after, place)));
        }
        for content in 0..2 {
            if before.papers[place][content] != after.papers[place][content] {
                let letter = ["a", "b"][content];
                let stands = match after.papers[place][content] {
                    Paper::Absent => "gone".to_owned(),
                    Paper::Expires(tick, _) => format!("there until tick {tick}"),
                    Paper::Kept(_) => "kept".to_owned(),
                };
                said.push(format!("payload {letter} of event {place}: {stands}"));
            }
        }
        if before.resources[place] != after.resources[place]
            && let Some(resource) = after.resources[place]
        {
            said.push(format!("resource: {}", catalog.resource(resource).status));
        }
        if before.ledger.effects[place] != after.ledger.effects[place] {
            said.push(format!("effect {place} has happened {} times", after.ledger.effects[place]));
        }
        if before.ledger.acked[place] != after.ledger.acked[place] {
            said.push(format!("event {place} is acknowledged"));
        }
    }
    for slot in 0..SLOTS {
        if before.actions[slot] != after.actions[slot] {
            said.push(format!("action {slot}: {}", action(catalog, after, slot)));
        }
    }
    if before.tick != after.tick {
        said.push(format!("it is tick {}", after.tick));
    }
    said
}

fn event(catalog: &Catalog, world: &World, place: usize) -> String {
    let Some(event) = world.events[place] else { return "gone".to_owned() };
    let progress = &catalog.event(event).progress;
    let content = ["a", "b"][catalog.event_facts(event).content];
    let mut said =
        format!("{}, generation {}, content {content}", progress.status.as_str(), progress.generation);
    if let Some(reason) = &progress.reason {
        let _ = write!(said, ", {}", reason.slug.as_str());
    }
    let _ = write!(said, ", attempts {}, sweeps {}", progress.attempts, progress.sweeps);
    if let Some(due) = progress.due {
        let _ = write!(said, ", due at {}", tick(due));
    }
    said.push_str(if progress.expires.is_some() { ", with a TTL" } else { ", without a TTL" });
    if let Some(generation) = progress.action_generation {
        let _ = write!(said, ", bound to generation {generation} of its action");
    }
    said
}

fn action(catalog: &Catalog, world: &World, slot: usize) -> String {
    let Some(action) = world.actions[slot].map(|action| catalog.action(action)) else {
        return "gone".to_owned();
    };
    format!(
        "{}, generation {}, token {}, owner {}, leased until {}{}",
        action.status.as_str(),
        action.generation,
        action.token,
        action.owner,
        tick(action.lease_until),
        if action.doubted { ", doubted" } else { "" }
    )
}

fn tick(time: sekali::time::UnixMillis) -> String {
    let seconds = time.since(super::catalog::at(0)).as_secs();
    format!("tick {}", seconds / super::scenario::TICK.as_secs())
}

/// Workers are alike: one is known by the nonce that it draws or has.
fn who(who: Who, before: &World, after: &World) -> String {
    match who {
        Who::Worker(number) => {
            let nonce = |world: &World| world.workers[usize::from(number)].nonce;
            let known = if nonce(before) == 0 { nonce(after) } else { nonce(before) };
            format!("the worker with nonce {known}")
        }
        Who::Delivery(number) => format!("delivery {number}"),
        Who::Sweeper(number) => format!("sweeper {number}"),
        Who::Human => "a human".to_owned(),
        Who::Bringer => "whoever brings it".to_owned(),
        Who::Queue => "the queue".to_owned(),
        Who::Network => "the network".to_owned(),
        Who::Vendor => "the vendor's resource".to_owned(),
        Who::Destination => "the destination".to_owned(),
        Who::Time => "time".to_owned(),
    }
}

pub(super) fn what(what: What) -> &'static str {
    match what {
        What::Brings => "takes the event from the vendor's list",
        What::CreatesEvent => "creates the event",
        What::CreatesEventUnheard => "creates the event and does not hear of it",
        What::MeetsEvent => "finds the event there",
        What::PutsPayload => "puts its payload",
        What::ReadsListedPayload => "looks for the payload that was brought",
        What::ReadsFirstPayload => "looks for the first payload",
        What::CountsDuplicate => "counts a duplicate",
        What::RecordsConflict => "records a conflict",
        What::KeepsPayload => "takes the TTL off the payload",
        What::Adopts => "adopts its content",
        What::IsRefused => "is refused",
        What::ReadsEvent => "reads the event",
        What::ReadsAction => "reads the action",
        What::AsksRules => "reads the payload and asks the rules",
        What::Hears(Told::Nothing) => "hears nothing of the vendor's API",
        What::Hears(Told::Never) => "hears that the vendor's API will never say",
        What::Hears(Told::Step(_)) => "hears how the resource stands",
        What::ReadsWanted => "reads the action that the rules name",
        What::Writes => "writes",
        What::WritesUnheard => "writes and does not hear of it",
        What::WritesInVain => "does not hear of a write that was never made",
        What::WriteHangs => "gives up a write that is still on its way",
        What::WriteLands => "delivers a write that hung",
        What::WriteTooLarge => "hears that the store will never take this",
        What::ExpiresPayload => "sets the TTL of the payload",
        What::Erases => "erases content",
        What::Calls(answer) => call(answer),
        What::Asks(Finding::Done) => "asks about the call: it is done",
        What::Asks(Finding::NotDone) => "asks about the call: it is not done",
        What::Asks(Finding::Unknown) => "asks about the call: nobody says",
        What::HearsOfCall => "hears of the call",
        What::Acts => "acts on a call of which nobody heard",
        What::Disposes => "has done with its message",
        What::Sends => "sends a message",
        What::SendFails => "fails to send a message",
        What::Acks => "acknowledges",
        What::Receives => "receives",
        What::HandsOutAgain => "hands out a message again",
        What::Loses => "loses a message",
        What::Redrives => "moves a dead letter back",
        What::Decides(act) => decides(act),
        What::Crashes => "dies",
        What::GoesOn => "goes on",
        What::Pauses => "pauses the endpoint",
        What::Resumes => "lets the endpoint go on",
        What::Passes => "passes",
    }
}

fn call(answer: Answer) -> &'static str {
    match answer {
        Answer::Done => "calls: done",
        Answer::Rejected => "calls: rejected",
        Answer::RejectedDecisive => "calls: rejected, decisively",
        Answer::NotStarted => "calls: not started",
        Answer::NotStartedDecisive => "calls: not started, decisively",
        Answer::ActsUnheard => "calls: it happens, and no answer comes",
        Answer::Silent => "calls: nothing happens, and no answer comes",
        Answer::ActsLater => "calls: no answer comes, and it may happen yet",
        Answer::LeaseOver => "does not call: its lease is over",
    }
}

fn decides(act: Act) -> &'static str {
    match act {
        Act::Redrive => "sends the event round again",
        Act::Release => "releases the event",
        Act::Discard => "discards the event",
        Act::Happened => "says that it happened",
        Act::DidNotHappen => "says that it did not happen",
        Act::Again => "wants the effect again",
        Act::Replay => "wants the event put to today's rules",
        Act::ReplayAnew => "wants the event put to today's rules, without its action",
        Act::Accept => "takes the other content",
        Act::Erase => "wants the event forgotten",
    }
}
