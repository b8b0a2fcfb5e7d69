//! Messages in the dead-letter queue: looked at, put back, taken away. A letter
//! that is looked at is hidden for as long, from the console's own redrive too;
//! if we end before we have put it back, it is seen again by itself.

use crate::on_call::desk::{Desk, Queues};
use crate::on_call::destinations::Switch;
use anyhow::{Result, bail};
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, Message as Handed, MessageSystemAttributeName,
    QueueAttributeName,
};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use sekali::ids::DestinationName;
use sekali::key::EventKey;
use sekali::ports::{Message, PauseRecord, SwitchedOff};
use sekali::protocol::decide::Prospect;
use sekali::protocol::event::Event;
use sekali::time::UnixMillis;
use sekali_aws::dynamodb::listing::Listed;
use sekali_aws::refusal::of_call;
use std::collections::HashMap;
use std::time::Duration;

/// SQS hands out no more at once.
pub const AT_ONCE: i32 = 10;

/// Waits for all of SQS's servers, so that no answer is that there is nothing
/// only because the wrong ones were asked.
const PATIENCE_S: i32 = 1;

/// Events that are looked at side by side.
const SIDE_BY_SIDE: usize = 8;

/// One message of the dead-letter queue, hidden for as long as we said.
#[derive(Debug, Clone)]
pub struct Letter {
    /// SQS's id; it stays the same until the message is moved.
    pub id: String,
    /// By which it is put back or taken away.
    receipt: String,
    /// As it was sent.
    pub body: String,
    /// When SQS took it first.
    pub sent_at: Option<UnixMillis>,
    /// What it says, where it is one of ours.
    pub says: Option<Message>,
}

/// A letter and what is known of its event.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The letter.
    pub letter: Letter,
    /// Its event, if there is one.
    pub event: Option<Event>,
    /// What a redrive would do now.
    pub would: Would,
}

/// What a redrive of a letter would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Would {
    /// What the protocol says of its event.
    Do(Prospect),
    /// It would fail once more: its destination is switched off.
    SwitchedOff(SwitchedOff),
    /// It might: its destination was switched on, and until then there may be
    /// processors that have not heard of it.
    SwitchedOn(DestinationName, UnixMillis),
    /// Nobody can read what it says.
    Unreadable,
    /// Its event is there, and this version cannot read it; why.
    EventUnreadable(String),
}

impl Letter {
    fn of(handed: Handed) -> Option<Self> {
        let attributes = handed.attributes.unwrap_or_default();
        let sent = attributes.get(&MessageSystemAttributeName::SentTimestamp);
        let body = handed.body.unwrap_or_default();
        Some(Self {
            id: handed.message_id?,
            receipt: handed.receipt_handle?,
            says: serde_json::from_str(&body).ok(),
            sent_at: sent.and_then(|millis| millis.parse().ok()).map(UnixMillis),
            body,
        })
    }

    /// The event that it names.
    pub fn event(&self) -> Option<&EventKey> {
        self.says.as_ref().map(|message| &message.event)
    }
}

impl Queues {
    /// Up to ten letters, hidden for `hidden`. None: there are no more that are seen.
    ///
    /// # Errors
    /// The queue does not answer.
    pub async fn letters(&self, hidden: Duration) -> Result<Vec<Letter>> {
        let answer = self
            .client
            .receive_message()
            .queue_url(&self.dead_letters)
            .max_number_of_messages(AT_ONCE)
            .wait_time_seconds(PATIENCE_S)
            .visibility_timeout(i32::try_from(hidden.as_secs()).unwrap_or(i32::MAX))
            .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
            .send()
            .await;
        match answer {
            Ok(answer) => {
                Ok(answer.messages.unwrap_or_default().into_iter().filter_map(Letter::of).collect())
            }
            Err(error) => bail!("the dead-letter queue was not read: {}", of_call(&error)),
        }
    }

    /// Lets letters be seen again at once. One that is not, is when its time is over.
    pub async fn put_back(&self, letters: &[Letter]) {
        for some in letters.chunks(10) {
            let entries = some.iter().enumerate().filter_map(|(place, letter)| {
                ChangeMessageVisibilityBatchRequestEntry::builder()
                    .id(place.to_string())
                    .receipt_handle(&letter.receipt)
                    .visibility_timeout(0)
                    .build()
                    .ok()
            });
            let request = self.client.change_message_visibility_batch().queue_url(&self.dead_letters);
            // Where this fails they are seen again later.
            drop(request.set_entries(Some(entries.collect())).send().await);
        }
    }

    /// Takes a letter out of the queue for good. One that somebody else took
    /// meanwhile is gone as well.
    ///
    /// # Errors
    /// It may still be there, and then does no harm: its event is under way.
    pub async fn take_away(&self, letter: &Letter) -> Result<()> {
        let request = self.client.delete_message().queue_url(&self.dead_letters);
        match request.receipt_handle(&letter.receipt).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code().is_some_and(|code| code.contains("ReceiptHandleIsInvalid")) => Ok(()),
            Err(error) => bail!("the letter was not taken away: {}", of_call(&error)),
        }
    }

    /// How many letters are hidden now, because somebody looks at them.
    pub async fn hidden(&self) -> Option<usize> {
        let name = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;
        let asked = self.client.get_queue_attributes().queue_url(&self.dead_letters);
        let answer = asked.attribute_names(name.clone()).send().await.ok()?;
        answer.attributes?.get(&name)?.parse().ok()
    }
}

impl Desk {
    /// Each letter with its event and what a redrive would do now.
    ///
    /// # Errors
    /// The tables do not answer.
    pub async fn join(&self, letters: Vec<Letter>) -> Result<Vec<Joined>> {
        let mut keys: Vec<EventKey> = letters.iter().filter_map(Letter::event).cloned().collect();
        keys.sort();
        keys.dedup();
        let (mut events, mut unreadable) = (HashMap::new(), Vec::new());
        for listed in self.store.events(&keys).await? {
            match listed {
                Listed::Event(event) => drop(events.insert(event.key.clone(), event)),
                Listed::Unreadable(why) => unreadable.push(why),
            }
        }
        let pauses = self.store.pauses().await?;
        let (pauses, events) = (&pauses, &events);
        // Which event it is that cannot be read, its item does not say: every
        // event that was not found may be it.
        let unreadable = unreadable.first();
        let mut joined: Vec<Joined> = stream::iter(letters)
            .map(|letter| async move {
                let event = letter.event().and_then(|key| events.get(key)).cloned();
                let would = match (&letter.says, &event, unreadable) {
                    (None, ..) => Would::Unreadable,
                    (Some(_), Some(event), _) => Would::Do(self.operate().prospect(event, pauses).await?),
                    (Some(_), None, Some(why)) => Would::EventUnreadable(why.clone()),
                    (Some(_), None, None) => Would::Do(Prospect::NoEvent),
                };
                Ok::<_, anyhow::Error>(Joined { letter, event, would })
            })
            .buffered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        self.see_switches(&mut joined).await?;
        Ok(joined)
    }

    /// What would begin at a destination that is switched off would fail there.
    async fn see_switches(&self, joined: &mut [Joined]) -> Result<()> {
        let mut switches: HashMap<DestinationName, Switch> = HashMap::new();
        for one in joined {
            let Would::Do(Prospect::Acts(destination)) = &one.would else { continue };
            let switch = match switches.get(destination) {
                Some(known) => known.clone(),
                None => {
                    let switch = self.switch(destination).await?;
                    switches.insert(destination.clone(), switch.clone());
                    switch
                }
            };
            match switch {
                Switch::On => {}
                Switch::Off(off) => one.would = Would::SwitchedOff(off),
                Switch::HeardUntil(heard) => one.would = Would::SwitchedOn(destination.clone(), heard),
            }
        }
        Ok(())
    }
}
