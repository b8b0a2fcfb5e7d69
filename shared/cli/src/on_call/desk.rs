//! Where whoever is on call sits: the receiver's tables and queues, and today's
//! rules.

use super::answer::Page;
use crate::paint::Paint;
use anyhow::{Result, bail};
use sekali::deployment::Deployment;
use sekali::ids::Who;
use sekali_aws::secrets::Keepers;
use sekali_aws::{DynamoStore, Reach, SqsQueue};
use std::fmt::Display;

/// A receiver within reach.
#[derive(Debug)]
pub struct Desk {
    /// Its tables.
    pub store: DynamoStore,
    /// Its queues.
    pub queues: Queues,
    /// Today's rules and the queue's numbers. Without rules every endpoint and
    /// destination counts as gone, for which the bounds are wide.
    pub deployment: Deployment,
    /// Where the rules are from.
    pub rules: Rules,
    /// Who decides, for the record; `None`: nobody is named.
    pub who: Option<String>,
    /// The options by which it was found, to be copied: ` --local`.
    pub options: String,
    /// What to call it.
    pub receiver: String,
    /// Where secrets are kept, as far as whoever is on call may read them;
    /// or why they cannot be asked for.
    pub keepers: Result<Keepers, String>,
    /// How far calls to vendors' APIs may go.
    pub reach: Reach,
}

/// Where today's rules are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rules {
    /// This file.
    From(String),
    /// They could not be read, and why.
    Unknown(String),
}

/// The queue and its dead-letter queue.
#[derive(Debug, Clone)]
pub struct Queues {
    /// Their client.
    pub client: aws_sdk_sqs::Client,
    /// Where messages are sent.
    pub queue: SqsQueue,
    /// The queue's URL.
    pub url: String,
    /// The dead-letter queue's URL.
    pub dead_letters: String,
}

impl Queues {
    /// Both, by their URLs.
    pub fn new(client: aws_sdk_sqs::Client, url: String, dead_letters: String) -> Self {
        Self { queue: SqsQueue::new(client.clone(), url.clone()), client, url, dead_letters }
    }
}

impl Desk {
    /// Says that a command cannot do without today's rules.
    ///
    /// # Errors
    /// They are not known; why, and what to do.
    pub fn needs_rules(&self) -> Result<()> {
        match &self.rules {
            Rules::From(_) => Ok(()),
            Rules::Unknown(why) => {
                bail!("today's rules are needed: {why}; name the deployed file with --config")
            }
        }
    }

    /// Who decides, for the record.
    ///
    /// # Errors
    /// Nobody is named: a record of somebody's decision would be none.
    pub fn who(&self) -> Result<Who> {
        match self.who.as_deref().map(str::trim) {
            None | Some("") => bail!("nobody is named, and who decides goes on record: --as NAME"),
            Some(who) => Ok(Who::new(who)),
        }
    }

    /// A command of `sekali` about this receiver, to be copied.
    pub fn hint(&self, command: impl Display) -> String {
        format!("sekali {command}{}", self.options)
    }

    /// An empty page for people.
    pub fn page(&self) -> Page {
        Page::new(Paint::for_output())
    }
}
