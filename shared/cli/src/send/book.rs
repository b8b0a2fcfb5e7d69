//! Every event's series of deliveries: one for each id, however often the
//! input repeats it. What is due, what waits and what has ended; no clock and
//! no network.

use super::answer::{Attempted, Meaning};
use super::event::{Event, SeriesKey};
use super::input::Position;
use super::schedule::{GaveUp, Schedule};
use sekali::key::EventHash;
use sekali::ports::Entropy;
use sekali::time::Monotonic;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// No more is read while so many bytes wait for another attempt.
const MOST_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// No more is read while so many events wait.
const MOST_WAITING: usize = 10_000;

/// The deliveries of one event.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// The event.
    pub event: Event,
    /// How many attempts were begun.
    pub attempts: u32,
    first: Option<Monotonic>,
    last: Option<Attempted>,
}

/// What became of a piece of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It begins a series.
    Begun,
    /// It repeats what has one.
    Repeated,
    /// It has the id of another, and other content.
    Differs,
}

/// An event that is not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Undelivered {
    /// Where the input has it.
    pub at: Position,
    /// Its id.
    pub id: String,
    /// How often it was sent.
    pub attempts: u32,
    /// The last status.
    pub status: Option<u16>,
    /// Why, in words.
    pub why: String,
}

/// The ends of series, and what led to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Pieces of the input that were events.
    pub read: u64,
    /// Attempts that ended.
    pub attempts: u64,
    /// How they ended; `None` is without an answer.
    pub statuses: BTreeMap<Option<u16>, u64>,
    /// Events that were taken.
    pub delivered: u64,
    /// The ids of the first of them, for whoever expects none.
    pub first_delivered: Vec<String>,
    /// Repetitions of an event in the input.
    pub repeated: u64,
    /// Refused for good.
    pub refused: Vec<Undelivered>,
    /// Given up at a bound.
    pub given_up: Vec<Undelivered>,
    /// With the id of another event and other content; never sent.
    pub differing: Vec<Undelivered>,
    /// Not ended when the run was.
    pub left: Vec<Undelivered>,
}

/// Most delivered events that are named where none is expected.
const MOST_NAMED: usize = 20;

/// Why nothing more is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// The receiver answered 410.
    Gone,
    /// Somebody asked.
    Interrupted,
}

/// An event that came to its end undelivered, for whoever keeps it.
pub(super) type Kept = Option<Event>;

/// All series.
#[derive(Debug)]
pub(super) struct Book {
    schedule: Schedule,
    known: HashMap<SeriesKey, (EventHash, Position)>,
    waiting: BTreeMap<(Monotonic, u64), Series>,
    waiting_bytes: usize,
    drawn: u64,
    not_before: Monotonic,
    stop: Option<Stop>,
    tally: Tally,
}

impl Book {
    /// Nothing yet.
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            known: HashMap::new(),
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            drawn: 0,
            not_before: Monotonic(Duration::ZERO),
            stop: None,
            tally: Tally::default(),
        }
    }

    /// What has ended so far.
    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How many wait to be sent, or sent again.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether more may be read.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < MOST_WAITING && self.waiting_bytes < MOST_WAITING_BYTES
    }

    /// Takes an event from the input.
    pub(super) fn take(&mut self, event: Event, now: Monotonic) -> Taken {
        self.tally.read += 1;
        match self.known.get(&event.key) {
            Some((hash, _)) if *hash == event.hash => {
                self.tally.repeated += 1;
                Taken::Repeated
            }
            Some((_, first)) => {
                let why = format!("has the id of {first} and other content, and was not sent");
                let (at, id) = (event.at, event.id);
                self.tally.differing.push(Undelivered { at, id, attempts: 0, status: None, why });
                Taken::Differs
            }
            None => {
                self.known.insert(event.key.clone(), (event.hash.clone(), event.at));
                self.wait(now, Series { event, attempts: 0, first: None, last: None });
                Taken::Begun
            }
        }
    }

    fn wait(&mut self, due: Monotonic, series: Series) {
        self.drawn += 1;
        self.waiting_bytes += series.event.body.len();
        self.waiting.insert((due, self.drawn), series);
    }

    fn waited(&mut self, key: (Monotonic, u64)) -> Option<Series> {
        let series = self.waiting.remove(&key)?;
        self.waiting_bytes -= series.event.body.len();
        Some(series)
    }

    /// When something is due next, if anything ever is.
    pub(super) fn next_due(&self) -> Option<Monotonic> {
        if self.stop.is_some() {
            return None;
        }
        self.waiting.keys().next().map(|(due, _)| (*due).max(self.not_before))
    }

    /// Begins the next attempt that is due; whoever gets it makes it.
    pub(super) fn begin(&mut self, now: Monotonic) -> Option<Series> {
        if self.next_due()? > now {
            return None;
        }
        let key = *self.waiting.keys().next()?;
        let mut series = self.waited(key)?;
        series.attempts += 1;
        series.first.get_or_insert(now);
        Some(series)
    }

    /// Writes down how an attempt ended. An event that will never be
    /// delivered is given back.
    pub(super) fn settle(
        &mut self,
        mut series: Series,
        ended: Attempted,
        now: Monotonic,
        entropy: &impl Entropy,
    ) -> Kept {
        self.tally.attempts += 1;
        *self.tally.statuses.entry(ended.status()).or_default() += 1;
        let meaning = ended.meaning();
        series.last = Some(ended);
        match meaning {
            Meaning::Delivered => {
                self.tally.delivered += 1;
                if self.tally.first_delivered.len() < MOST_NAMED {
                    self.tally.first_delivered.push(series.event.id);
                }
                None
            }
            Meaning::Refused => {
                self.tally.refused.push(series.undelivered(None));
                Some(series.event)
            }
            Meaning::Gone => {
                self.stop(Stop::Gone);
                self.tally.refused.push(series.undelivered(None));
                Some(series.event)
            }
            Meaning::Later { asked } => self.later(series, asked, now, entropy),
        }
    }

    fn later(
        &mut self,
        series: Series,
        asked: Option<Duration>,
        now: Monotonic,
        entropy: &impl Entropy,
    ) -> Kept {
        if let Some(asked) = asked {
            // The receiver means whatever it is sent; but nobody waits longer
            // than an event is worth.
            let until = Monotonic(now.0 + asked.min(self.schedule.max_age));
            self.not_before = self.not_before.max(until);
        }
        let age = now.0.saturating_sub(series.first.unwrap_or(now).0);
        match self.schedule.wait(series.attempts, age, asked, entropy) {
            Ok(wait) => {
                self.wait(Monotonic(now.0 + wait), series);
                None
            }
            Err(reason) => {
                self.tally.given_up.push(series.undelivered(Some(reason)));
                Some(series.event)
            }
        }
    }

    /// From now on nothing is begun.
    pub(super) fn stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    /// Why nothing is begun any more.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stop
    }

    /// Ends the next series that still waits, once nothing is begun any more.
    pub(super) fn leave(&mut self) -> Kept {
        let key = *self.waiting.keys().next()?;
        let series = self.waited(key)?;
        self.leave_behind(&series);
        Some(series.event)
    }

    /// Ends a series in the middle of an attempt, whose end nobody waits for.
    pub(super) fn leave_behind(&mut self, series: &Series) {
        self.tally.left.push(series.undelivered(None));
    }
}

impl Series {
    fn undelivered(&self, gave_up: Option<GaveUp>) -> Undelivered {
        let last = self.last.as_ref();
        let why = match (last.map(Attempted::in_words), gave_up) {
            (Some(last), Some(reason)) => format!("{last}; {reason}"),
            (Some(last), None) => last,
            (None, _) if self.attempts > 0 => "sent, and its answer not awaited".to_owned(),
            (None, _) => "not sent".to_owned(),
        };
        Undelivered {
            at: self.event.at,
            id: self.event.id.clone(),
            attempts: self.attempts,
            status: last.and_then(Attempted::status),
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::event;
    use super::super::input::Piece;
    use super::super::schedule::tests::{Draws, SCHEDULE};
    use super::super::sign::tests::signer;
    use super::*;

    fn at(seconds: u64) -> Monotonic {
        Monotonic(Duration::from_secs(seconds))
    }

    fn payment(line: u64, id: &str, amount: u32) -> Event {
        let bytes = format!(r#"{{"id":"{id}","type":"a","amount":{amount}}}"#).into_bytes();
        event(&signer("stripe"), Piece { at: Position::Line(line), bytes }, false).unwrap()
    }

    fn answered(status: u16, asked: Option<u64>) -> Attempted {
        Attempted::Answered { status, asked: asked.map(Duration::from_secs), says: None }
    }

    fn book_of(ids: &[&str]) -> Book {
        let mut book = Book::new(SCHEDULE);
        for (line, id) in (1..).zip(ids) {
            book.take(payment(line, id, 5), at(0));
        }
        book
    }

    #[test]
    fn one_series_goes_out_for_an_id_however_often_the_input_has_it() {
        let mut book = Book::new(SCHEDULE);
        assert_eq!(book.take(payment(1, "evt_1", 5), at(0)), Taken::Begun);
        assert_eq!(book.take(payment(2, "evt_1", 5), at(0)), Taken::Repeated);
        assert_eq!(book.take(payment(3, "evt_1", 6), at(0)), Taken::Differs);
        let series = book.begin(at(0)).unwrap();
        assert!(book.begin(at(0)).is_none());
        book.settle(series, answered(202, None), at(0), &Draws(0));
        // Also after it has ended.
        assert_eq!(book.take(payment(4, "evt_1", 5), at(1)), Taken::Repeated);
        assert!(book.begin(at(9)).is_none());
        let tally = book.tally();
        assert_eq!((tally.read, tally.delivered, tally.repeated), (4, 1, 2));
        assert_eq!(tally.differing[0].why, "has the id of line 1 and other content, and was not sent");
        assert_eq!(tally.differing[0].at, Position::Line(3));
    }

    #[test]
    fn what_failed_comes_again_when_it_is_due_and_not_before() {
        let mut book = book_of(&["evt_1"]);
        let series = book.begin(at(0)).unwrap();
        book.settle(series, answered(503, None), at(2), &Draws(100));
        assert_eq!(book.next_due(), Some(at(3)));
        assert!(book.begin(at(2)).is_none());
        let series = book.begin(at(3)).unwrap();
        assert_eq!(series.attempts, 2);
        book.settle(series, Attempted::Unanswered("no connection".to_owned()), at(3), &Draws(100));
        assert_eq!(book.next_due(), Some(at(5)));
    }

    #[test]
    fn a_wait_that_is_asked_for_holds_for_every_event() {
        let mut book = book_of(&["evt_1", "evt_2"]);
        let series = book.begin(at(0)).unwrap();
        book.settle(series, answered(429, Some(30)), at(1), &Draws(0));
        assert!(book.begin(at(30)).is_none());
        let second = book.begin(at(31)).unwrap();
        assert_eq!((second.event.id.as_str(), second.attempts), ("evt_2", 1));
        assert_eq!(book.begin(at(31)).unwrap().event.id, "evt_1");
    }

    #[test]
    fn what_is_refused_for_good_is_not_sent_again_and_listed() {
        let mut book = book_of(&["evt_1"]);
        let series = book.begin(at(0)).unwrap();
        let says = Some("no such order".to_owned());
        let kept =
            book.settle(series, Attempted::Answered { status: 422, asked: None, says }, at(0), &Draws(0));
        assert_eq!(kept.map(|event| event.id).as_deref(), Some("evt_1"));
        assert_eq!(book.next_due(), None);
        let refused = &book.tally().refused[0];
        assert_eq!((refused.attempts, refused.status), (1, Some(422)));
        assert_eq!(refused.why, "answered 422: no such order");
    }

    #[test]
    fn at_its_bounds_an_event_is_given_up() {
        let mut book = book_of(&["evt_1"]);
        let mut now = 0;
        while let Some(series) = book.begin(at(now)) {
            book.settle(series, answered(500, None), at(now), &Draws(100));
            now = book.next_due().map_or(now, |due| due.0.as_secs());
        }
        let given_up = &book.tally().given_up[0];
        assert_eq!((given_up.attempts, now), (SCHEDULE.attempts, 1 + 2 + 4 + 8 + 16 + 32 + 60 * 3));
        assert_eq!(given_up.why, "answered 500; given up after the last of --attempts");
        let mut book = book_of(&["evt_1"]);
        let series = book.begin(at(0)).unwrap();
        assert!(book.settle(series, answered(503, Some(86_400)), at(0), &Draws(0)).is_some());
        assert!(book.tally().given_up[0].why.contains("asks to wait longer"));
    }

    #[test]
    fn where_nobody_receives_any_more_nothing_else_is_sent() {
        let mut book = book_of(&["evt_1", "evt_2"]);
        let series = book.begin(at(0)).unwrap();
        book.settle(series, answered(410, None), at(0), &Draws(0));
        assert_eq!(book.stopped(), Some(Stop::Gone));
        assert!(book.begin(at(99)).is_none());
        assert_eq!(book.leave().map(|event| event.id).as_deref(), Some("evt_2"));
        assert_eq!(book.leave(), None);
        assert_eq!(book.tally().left[0].why, "not sent");
    }

    #[test]
    fn reading_pauses_while_too_much_waits() {
        let mut book = Book::new(SCHEDULE);
        let mut large = payment(1, "evt_1", 5);
        large.body = vec![b' '; MOST_WAITING_BYTES];
        book.take(large, at(0));
        assert!(!book.has_room());
        let series = book.begin(at(0)).unwrap();
        assert!(book.has_room());
        book.settle(series, answered(500, None), at(0), &Draws(0));
        assert!(!book.has_room());
    }
}
