//! The search: every state once, breadth first. States already seen are known
//! by 128 bits of hash, so that millions fit; two states meeting in all of
//! them would hide one, which will not happen.

use super::catalog::Catalog;
use super::check;
use super::mutant::Protocol;
use super::rest::Rests;
use super::scenario::{DELIVERIES, EVENTS, Pace, SLOTS, SWEEPERS, Slice, WORKERS};
use super::step::{Broken, Successor, Ways, What};
use super::trace::Story;
use super::world::{Bringer, Delivery, Human, Ledger, Letter, Paper, Shut, Sweeper, Worker, World};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// How a search ended.
pub(super) struct Searched {
    pub states: usize,
    pub transitions: usize,
    /// The first violation, told step by step.
    pub violation: Option<String>,
    /// The kinds of steps that were taken.
    pub steps: HashSet<What>,
    /// Stopped at the limit of states with some left.
    pub cut_short: bool,
}

/// How a state was first reached: from which, by its how many-th way on.
#[derive(Clone, Copy)]
struct Reached {
    from: u32,
    way: u32,
}

/// Searches a slice under a protocol, up to a number of states.
pub(super) fn search(slice: Slice, protocol: Protocol, most: usize) -> Searched {
    let mut catalog = Catalog::new(slice, protocol);
    let start = beginning(&mut catalog);
    let mut search = Search {
        reached: vec![Reached { from: 0, way: 0 }],
        seen: HashSet::from_iter([fingerprint(&start)]),
        rests: Rests::default(),
        steps: HashSet::new(),
        transitions: 0,
        start,
    };
    let mut frontier = vec![(0_u32, start)];
    while !frontier.is_empty() && search.reached.len() < most {
        let mut next = Vec::new();
        for (number, world) in frontier {
            if let Some((last, broken)) = search.expand(&mut catalog, number, world, &mut next) {
                let violation = search.tell(&mut catalog, number, last, &broken);
                return search.end(Some(violation), false);
            }
        }
        frontier = next;
    }
    let cut_short = !frontier.is_empty();
    search.end(None, cut_short)
}

struct Search {
    reached: Vec<Reached>,
    seen: HashSet<u128, BuildHasherDefault<Low>>,
    rests: Rests,
    steps: HashSet<What>,
    transitions: usize,
    start: World,
}

impl Search {
    /// Takes every way on from a state; stops at the first that breaks a
    /// promise, or where the state itself has no way to an end.
    fn expand(
        &mut self,
        catalog: &mut Catalog,
        number: u32,
        world: World,
        next: &mut Vec<(u32, World)>,
    ) -> Option<(Option<u32>, Broken)> {
        if let Some(broken) = self.rests.check(catalog, &world) {
            return Some((None, broken));
        }
        for (way, Successor { what, world: after, broken, checked, .. }) in
            (0..).zip(all_ways(catalog, world))
        {
            self.transitions += 1;
            let sorted = after.sorted(&catalog.slice);
            let broken =
                if checked { broken } else { broken.or_else(|| check::step(catalog, &world, &after)) };
            if let Some(broken) = broken {
                return Some((Some(way), broken));
            }
            self.steps.insert(what);
            if self.seen.insert(fingerprint(&sorted)) {
                let place = u32::try_from(self.reached.len()).unwrap_or(u32::MAX);
                self.reached.push(Reached { from: number, way });
                next.push((place, sorted));
            }
        }
        None
    }

    /// Walks the way again, from the beginning, and tells it.
    fn tell(&self, catalog: &mut Catalog, number: u32, last: Option<u32>, broken: &Broken) -> String {
        let mut ways: Vec<u32> = last.into_iter().collect();
        let mut place = number;
        while place != 0 {
            let reached = self.reached[place as usize];
            ways.push(reached.way);
            place = reached.from;
        }
        let mut story = Story::new(catalog.slice.name);
        let mut world = self.start;
        for way in ways.into_iter().rev() {
            let Some(taken) = all_ways(catalog, world).into_iter().nth(way as usize) else { break };
            story.step(catalog, &world, &taken);
            world = taken.world.sorted(&catalog.slice);
        }
        story.end(broken)
    }

    fn end(self, violation: Option<String>, cut_short: bool) -> Searched {
        let (states, transitions) = (self.reached.len(), self.transitions);
        Searched { states, transitions, violation, steps: self.steps, cut_short }
    }
}

/// Every way on from a state.
fn all_ways(catalog: &mut Catalog, world: World) -> Vec<Successor> {
    let mut ways = Ways::from(catalog, world);
    for number in 0..ways.catalog.slice.arrivals.len() {
        ways.delivery(number);
    }
    let mut found = std::mem::take(&mut ways.found);
    for number in 0..ways.catalog.slice.workers {
        ways.worker(number);
        if ways.catalog.slice.worker == Pace::AtOnce {
            ways.at_once(|ways| ways.worker(number), |world| world.workers[number] == Worker::IDLE);
        }
        found.append(&mut ways.found);
    }
    for number in 0..ways.catalog.slice.sweepers {
        ways.sweeper(number);
        if ways.catalog.slice.sweeper == Pace::AtOnce {
            ways.at_once(|ways| ways.sweeper(number), |world| world.sweepers[number] == Sweeper::IDLE);
        }
        found.append(&mut ways.found);
    }
    ways.bringer();
    found.append(&mut ways.found);
    ways.human();
    if ways.catalog.slice.human == Pace::AtOnce {
        ways.at_once(|ways| ways.human(), |world| world.human == Human::IDLE);
    }
    found.append(&mut ways.found);
    ways.letters();
    ways.land();
    ways.ghost();
    ways.course();
    ways.pause();
    ways.time();
    found.append(&mut ways.found);
    found
}

/// Nothing has arrived, except what the slice takes for received.
fn beginning(catalog: &mut Catalog) -> World {
    let slice = catalog.slice;
    let mut world = World {
        tick: 0,
        events: [None; EVENTS],
        papers: [[Paper::Absent; 2]; EVENTS],
        actions: [None; SLOTS],
        resources: [None; EVENTS],
        letters: Default::default(),
        deliveries: [Delivery::GONE; DELIVERIES],
        workers: [Worker::IDLE; WORKERS],
        sweepers: [Sweeper::IDLE; SWEEPERS],
        bringer: if slice.brings { Bringer::AWAY } else { Bringer::GONE },
        human: Human::IDLE,
        flight: None,
        ghost: None,
        truth: slice.api.since,
        gate: Shut::No,
        waited: 0,
        ledger: Ledger::EMPTY,
        budget: slice.budget,
    };
    for delivery in world.deliveries.iter_mut().take(slice.arrivals.len()) {
        *delivery = Delivery::AWAY;
    }
    for (place, story) in slice.stories.iter().enumerate().filter(|(_, story)| story.received) {
        let event = catalog.new_event(place, usize::MAX, 0, 0);
        let expires = catalog.event(event).progress.expires;
        world.events[place] = Some(event);
        world.papers[place][0] = match expires {
            Some(expires) => Paper::Absent.put(expires),
            None => Paper::Kept(1),
        };
        world.ledger.acked[place] = true;
        if !story.contents[0].held {
            world.send(Letter::sent(place));
        }
    }
    world
}

/// 128 bits of a state.
pub(super) fn fingerprint(world: &World) -> u128 {
    let mut packed = Packed { bytes: [0; ROOM], length: 0 };
    world.hash(&mut packed);
    let (mut low, mut high) = (0x243f_6a88_85a3_08d3_u64, 0x1319_8a2e_0370_7344_u64);
    for chunk in packed.bytes[..packed.length.next_multiple_of(8)].chunks_exact(8) {
        let word = chunk.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        low = fold(low ^ word, 0x9e37_79b9_7f4a_7c15);
        high = fold(high.rotate_left(23) ^ word, 0xd6e8_feb8_6659_fd93);
    }
    u128::from(high) << 64 | u128::from(low)
}

/// A multiplication whose upper half is not lost.
fn fold(word: u64, by: u64) -> u64 {
    let product = u128::from(word) * u128::from(by);
    let halves = product ^ (product >> 64);
    (halves & u128::from(u64::MAX)) as u64
}

/// Bytes that a packed state takes at most.
const ROOM: usize = 512;

/// Collects what a state is made of.
struct Packed {
    bytes: [u8; ROOM],
    length: usize,
}

impl Hasher for Packed {
    fn write(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// The kind of an enum's value; there are fewer than 256.
    fn write_isize(&mut self, kind: isize) {
        self.write(&[kind as u8]);
    }

    /// The length of an array, which is always the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        0
    }
}

/// A fingerprint is its own hash.
#[derive(Default)]
struct Low(u64);

impl Hasher for Low {
    fn write(&mut self, bytes: &[u8]) {
        let mut word = [0; 8];
        let length = bytes.len().min(8);
        word[..length].copy_from_slice(&bytes[..length]);
        self.0 = u64::from_le_bytes(word);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
