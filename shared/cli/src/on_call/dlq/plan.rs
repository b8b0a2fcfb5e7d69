//! Which letters are meant, and what would become of each.

use super::letters::{Joined, Letter, Would};
use crate::on_call::answer::{Page, counted};
use crate::on_call::desk::Desk;
use crate::on_call::destinations;
use crate::on_call::events::Filters;
use crate::on_call::shown;
use anyhow::Result;
use clap::Args;
use sekali::ids::DestinationName;
use sekali::ports::SwitchedOff;
use sekali::protocol::decide::Prospect;
use sekali::protocol::event::EventStatus;
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::listing::EventFilter;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long letters are hidden while they are read for a list or a plan.
const LOOKED_AT_FOR: Duration = Duration::from_secs(120);

/// Of a body that nobody can read so much is shown, in characters.
const BEGINNING: usize = 60;

/// Which letters.
#[derive(Debug, Clone, Default, Args)]
pub struct Meant {
    /// These alone: an event's id, its correlation id or its key, or a
    /// message's id.
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub filters: Filters,
    /// How many letters to look at, at most.
    #[arg(long, default_value_t = 2_000)]
    pub limit: usize,
}

impl Meant {
    /// Is anything said of which letters are meant?
    pub fn is_narrow(&self) -> bool {
        !self.ids.is_empty() || self.filters.filter(UnixMillis(0)) != EventFilter::default()
    }

    fn admits(&self, joined: &Joined, filter: &EventFilter) -> bool {
        let named = |id: &String| {
            *id == joined.letter.id
                || joined.letter.says.as_ref().is_some_and(|message| {
                    *id == message.event.as_str() || *id == message.correlation.as_str()
                })
                || joined.event.as_ref().is_some_and(|event| *id == event.id)
        };
        (self.ids.is_empty() || self.ids.iter().any(named))
            && match &joined.event {
                Some(event) => filter.admits(event),
                None => *filter == EventFilter::default(),
            }
    }

    /// The letters that are meant, each with its event. All of them are seen
    /// again by others when this returns.
    ///
    /// # Errors
    /// Queue or tables do not answer.
    pub async fn find(&self, desk: &Desk) -> Result<Plan> {
        let mut letters: Vec<Letter> = Vec::new();
        let read = loop {
            match desk.queues.letters(LOOKED_AT_FOR).await {
                Ok(more) if more.is_empty() => break Ok(false),
                Ok(more) => letters.extend(more),
                Err(error) => break Err(error),
            }
            if letters.len() >= self.limit {
                break Ok(true);
            }
        };
        let elsewhere = match desk.queues.hidden().await {
            Some(hidden) => hidden.saturating_sub(letters.len()),
            None => 0,
        };
        desk.queues.put_back(&letters).await;
        let more = read?;
        let filter = self.filters.filter(SystemClock.now());
        let mut joined = desk.join(letters).await?;
        let looked_at = joined.len();
        joined.retain(|joined| self.admits(joined, &filter));
        joined.sort_by_key(|joined| joined.letter.sent_at);
        Ok(Plan { letters: joined, looked_at, more, elsewhere })
    }
}

/// What was found.
#[derive(Debug)]
pub struct Plan {
    /// The letters that are meant, the oldest first.
    pub letters: Vec<Joined>,
    /// Of so many that were looked at.
    pub looked_at: usize,
    /// There may be more than were looked at.
    pub more: bool,
    /// Somebody else looks at so many.
    pub elsewhere: usize,
}

impl Plan {
    /// Letter by letter, and what there is of each kind.
    pub fn show(&self, desk: &Desk, page: &mut Page) {
        let now = SystemClock.now();
        page.table(
            ["id", "endpoint", "type", "age", "attempts", "class", "cause", "a redrive now"],
            self.letters.iter().map(|joined| row(joined, now)).collect(),
        );
        let mut classes: BTreeMap<String, usize> = BTreeMap::new();
        for joined in &self.letters {
            let class = class(joined);
            let class = if class.is_empty() { "no event".to_owned() } else { class };
            *classes.entry(format!("{class}: {}", joined.would)).or_default() += 1;
        }
        for (class, number) in &classes {
            page.line(format_args!("{number} {class}"));
        }
        page.line(format_args!(
            "{} of {} looked at{}",
            counted(self.letters.len(), "letter"),
            self.looked_at,
            if self.more { "; there may be more: --limit" } else { "" }
        ));
        for off in self.switched_off().values() {
            page.aside(destinations::next(desk, off));
        }
        if self.elsewhere > 0 {
            page.aside(format_args!(
                "{} hidden now: somebody else looks at them, or a redrive was interrupted; they are seen again within minutes",
                counted(self.elsewhere, "letter")
            ));
        }
    }

    /// The destinations at which letters would fail again.
    fn switched_off(&self) -> BTreeMap<&DestinationName, &SwitchedOff> {
        let off = self.letters.iter().filter_map(|joined| match &joined.would {
            Would::SwitchedOff(off) => Some((&off.destination, off)),
            _ => None,
        });
        off.collect()
    }

    /// For machines.
    pub fn json(&self) -> Value {
        self.letters.iter().map(json).collect()
    }
}

fn class(joined: &Joined) -> String {
    let reason = joined.event.as_ref().and_then(|event| event.progress.reason.as_ref());
    reason.map(|reason| reason.slug.as_str().to_owned()).unwrap_or_default()
}

fn cause(joined: &Joined) -> Option<String> {
    joined.event.as_ref()?.progress.reason.as_ref()?.cause.clone()
}

/// The first characters of a body that is none of ours.
fn beginning(letter: &Letter) -> String {
    let begins: String = letter.body.chars().take(BEGINNING).filter(|letter| !letter.is_control()).collect();
    format!("{} bytes: {begins}", letter.body.len())
}

fn row(joined: &Joined, now: UnixMillis) -> [String; 8] {
    let Some(event) = &joined.event else {
        let says = joined.letter.event().map_or_else(|| beginning(&joined.letter), ToString::to_string);
        let age = joined.letter.sent_at.map(|sent| shown::span(now.since(sent))).unwrap_or_default();
        let none = String::new;
        return [
            joined.letter.id.clone(),
            none(),
            none(),
            age,
            none(),
            none(),
            says,
            joined.would.to_string(),
        ];
    };
    [
        event.id.clone(),
        event.endpoint.to_string(),
        event.event_type.as_ref().map(ToString::to_string).unwrap_or_default(),
        shown::span(now.since(event.received_at)),
        event.progress.attempts.to_string(),
        class(joined),
        cause(joined).unwrap_or_default(),
        joined.would.to_string(),
    ]
}

/// One letter for machines.
pub fn json(joined: &Joined) -> Value {
    let letter = &joined.letter;
    json!({
        "message_id": letter.id,
        "sent_at": letter.sent_at.map(shown::time),
        "key": letter.event().map(|key| key.as_str()),
        "begins": letter.says.is_none().then(|| beginning(letter)),
        "event": joined.event.as_ref().map(shown::event),
        "would": joined.would.word(),
        "says": joined.would.to_string(),
    })
}

impl Would {
    /// One word for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::EventUnreadable(_) => "event_unreadable",
            Self::SwitchedOff(_) => "switched_off",
            Self::SwitchedOn(..) => "switched_on",
            Self::Do(prospect) => match prospect {
                Prospect::Acts(_) | Prospect::Ends(EventStatus::Processed, _) => "run",
                Prospect::Waits => "wait",
                Prospect::Ends(..) => "gone",
                Prospect::UnderWay => "under_way",
                Prospect::Finished(_) => "no_op",
                Prospect::InDoubt => "in_doubt",
                Prospect::Held => "held",
                Prospect::Discarded => "discarded",
                Prospect::NoPayload => "no_payload",
                Prospect::NoEvent => "no_event",
            },
        }
    }
}

impl std::fmt::Display for Would {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let prospect = match self {
            Self::Unreadable => return f.write_str("none of ours: `sekali dlq discard`"),
            Self::EventUnreadable(why) => return write!(f, "its event cannot be read: {why}"),
            Self::SwitchedOff(off) => {
                return write!(f, "would fail again: {} is switched off", off.destination);
            }
            Self::SwitchedOn(destination, heard) => {
                let heard = shown::time(*heard);
                return write!(f, "might fail again: processors hear of {destination} until {heard}");
            }
            Self::Do(prospect) => prospect,
        };
        match prospect {
            Prospect::Acts(_) => f.write_str("will run"),
            Prospect::Waits => f.write_str("will run when it need not wait any more"),
            Prospect::Ends(EventStatus::Processed, _) => {
                f.write_str("will be processed, without another effect")
            }
            Prospect::Ends(status, reason) => {
                write!(f, "would be {}", status.as_str())?;
                match reason {
                    Some(reason) => write!(f, " ({}): mend that first", shown::reason(Some(reason))),
                    None => Ok(()),
                }
            }
            Prospect::UnderWay => f.write_str("under way already: its message is sent again"),
            Prospect::Finished(status) => write!(f, "no-op: already {}", status.as_str()),
            Prospect::InDoubt => f.write_str("in doubt: resolve it first"),
            Prospect::Held => f.write_str("held: release or discard it"),
            Prospect::Discarded => f.write_str("discarded by somebody"),
            Prospect::NoPayload => f.write_str("would wait for its content, which is not stored"),
            Prospect::NoEvent => f.write_str("its event is not stored: `sekali dlq discard`"),
        }
    }
}
