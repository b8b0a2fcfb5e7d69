//! A queue with its dead-letter queue as pure state, as SQS behaves: letters
//! are hidden while somebody has them, counted at each receive, moved by the
//! queue itself, stamped anew when a human moves them back; and they may come
//! twice and in any order.

use sekali::ports::Message;
use sekali::time::UnixMillis;
use std::collections::BTreeMap;
use std::time::Duration;

/// How the queue is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSettings {
    /// How long a received letter stays hidden.
    pub visibility: Duration,
    /// How often a letter is handed out before it is moved to the dead letters.
    pub max_receive_count: u32,
    /// How long the queue keeps a letter.
    pub retention: Duration,
    /// How long a dead letter is kept, counted from when it was first sent.
    pub dlq_retention: Duration,
}

impl Default for LineSettings {
    /// As the template sets it up.
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(86_400);
        Self {
            visibility: Duration::from_secs(180),
            max_receive_count: 20,
            retention: 4 * DAY,
            dlq_retention: 14 * DAY,
        }
    }
}

/// Names a letter, in the order in which they were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LetterId(u64);

/// The right to delete one receive of a letter; a later receive ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receipt {
    letter: LetterId,
    receive: u32,
}

impl Receipt {
    /// The letter that was received.
    pub fn letter(self) -> LetterId {
        self.letter
    }
}

/// A letter in the line or among the dead ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its name.
    pub id: LetterId,
    /// What it says.
    pub message: Message,
    /// The queue's own stamp.
    pub sent_at: UnixMillis,
    /// How often it was handed out.
    pub receive_count: u32,
    /// From when on it is handed out again.
    pub visible_at: UnixMillis,
}

/// A letter as handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// By this it is deleted or hidden for longer.
    pub receipt: Receipt,
    /// What it says.
    pub message: Message,
    /// The queue's own stamp.
    pub sent_at: UnixMillis,
    /// How often it was handed out, this time included.
    pub receive_count: u32,
}

/// The queue and its dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    settings: LineSettings,
    next: u64,
    waiting: BTreeMap<LetterId, Letter>,
    dead: BTreeMap<LetterId, Letter>,
}

impl Line {
    /// An empty queue.
    pub fn new(settings: LineSettings) -> Self {
        Self { settings, next: 0, waiting: BTreeMap::new(), dead: BTreeMap::new() }
    }

    /// Takes a message and stamps it.
    pub fn send(&mut self, message: Message, now: UnixMillis) -> LetterId {
        let id = LetterId(self.next);
        self.next += 1;
        let letter = Letter { id, message, sent_at: now, receive_count: 0, visible_at: now };
        self.waiting.insert(id, letter);
        id
    }

    /// Letters that would be handed out now, oldest first.
    pub fn visible(&self, now: UnixMillis) -> Vec<LetterId> {
        self.waiting.values().filter(|letter| letter.visible_at <= now).map(|letter| letter.id).collect()
    }

    /// Hands out up to `most` visible letters, oldest first. One that was
    /// handed out as often as allowed is moved instead.
    pub fn receive(&mut self, now: UnixMillis, most: usize) -> Vec<Received> {
        let mut handed_out = Vec::new();
        for id in self.visible(now) {
            if handed_out.len() == most {
                break;
            }
            handed_out.extend(self.hand_out(id, now));
        }
        handed_out
    }

    /// Hands out this letter, out of turn and even while somebody has it: SQS
    /// promises neither order nor once. `None`: it is gone, or it was moved.
    pub fn hand_out(&mut self, id: LetterId, now: UnixMillis) -> Option<Received> {
        let letter = self.waiting.get_mut(&id)?;
        if letter.receive_count >= self.settings.max_receive_count {
            // SQS moves it itself and keeps the stamp; only so can it be
            // redriven from the console.
            let letter = self.waiting.remove(&id)?;
            self.dead.insert(id, letter);
            return None;
        }
        letter.receive_count += 1;
        letter.visible_at = now.plus(self.settings.visibility);
        Some(Received {
            receipt: Receipt { letter: id, receive: letter.receive_count },
            message: letter.message.clone(),
            sent_at: letter.sent_at,
            receive_count: letter.receive_count,
        })
    }

    /// Deletes a letter. `false`: it is gone, or a later receive has it.
    pub fn delete(&mut self, receipt: Receipt) -> bool {
        let held = self.held(receipt).is_some();
        if held {
            self.waiting.remove(&receipt.letter);
        }
        held
    }

    /// Hides a letter for `span` from now on; zero shows it at once.
    pub fn change_visibility(&mut self, receipt: Receipt, now: UnixMillis, span: Duration) -> bool {
        self.held(receipt).map(|letter| letter.visible_at = now.plus(span)).is_some()
    }

    /// Keeps a letter back until then, as a slow queue would.
    pub fn delay(&mut self, id: LetterId, until: UnixMillis) -> bool {
        self.waiting.get_mut(&id).map(|letter| letter.visible_at = until).is_some()
    }

    /// Letters in the queue, handed out or not, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Letter> {
        self.waiting.values()
    }

    /// Dead letters, oldest first.
    pub fn dead(&self) -> impl Iterator<Item = &Letter> {
        self.dead.values()
    }

    /// A human moves the dead letters back. Each is a new letter: new stamp,
    /// no receives; the message still says when it was written.
    pub fn redrive(&mut self, now: UnixMillis) -> Vec<LetterId> {
        let dead = std::mem::take(&mut self.dead);
        dead.into_values().map(|letter| self.send(letter.message, now)).collect()
    }

    /// Drops what has outlived the retention of where it lies; returns it.
    pub fn drop_outlived(&mut self, now: UnixMillis) -> Vec<Letter> {
        let LineSettings { retention, dlq_retention, .. } = self.settings;
        let outlived = |letter: &Letter, kept: Duration| letter.sent_at.plus(kept) < now;
        let waiting = self.waiting.extract_if(.., |_, letter| outlived(letter, retention));
        let mut gone: Vec<Letter> = waiting.map(|(_, letter)| letter).collect();
        gone.extend(
            self.dead.extract_if(.., |_, letter| outlived(letter, dlq_retention)).map(|(_, letter)| letter),
        );
        gone
    }

    fn held(&mut self, receipt: Receipt) -> Option<&mut Letter> {
        self.waiting.get_mut(&receipt.letter).filter(|letter| letter.receive_count == receipt.receive)
    }
}
