//! What a destination is: one kind, and what is called there.

use crate::config::value;
use crate::document::{Document, Entry, Table, Text};
use crate::ids::CodeName;
use std::fmt;
use std::time::Duration;

/// How long a FIFO queue recognises a deduplication id.
pub const FIFO_WINDOW: Duration = Duration::from_secs(5 * 60);

/// What a destination is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DestinationKind {
    /// An HTTP service, by its URL.
    Http(String),
    /// An SQS queue.
    Sqs(AwsTarget),
    /// A Lambda function, invoked synchronously.
    Function(AwsTarget),
    /// An EventBridge bus.
    EventBridge(AwsTarget),
    /// The team's own code in the processor, by the name it is registered under.
    Code(CodeName),
}

/// The words for the kinds, in the order in which they are explained.
pub(super) const KINDS: [&str; 5] = ["http", "sqs", "function", "eventbridge", "code"];

/// A queue, function or bus: by its name in the receiver's own account and
/// region, or by its whole ARN.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AwsTarget(String);

/// Which service an [`AwsTarget`] belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    Sqs,
    Lambda,
    Events,
}

impl AwsTarget {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands behind region and account of the ARN; a name as it is.
    pub fn resource(&self) -> &str {
        if self.0.starts_with("arn:") { self.0.splitn(6, ':').nth(5).unwrap_or_default() } else { &self.0 }
    }

    /// The account, where an ARN names one.
    pub fn account(&self) -> Option<&str> {
        if self.0.starts_with("arn:") { self.0.split(':').nth(4) } else { None }
    }

    fn is_fifo(&self) -> bool {
        self.0.ends_with(".fifo")
    }

    fn is_of(&self, service: Service) -> bool {
        let (word, prefix) = match service {
            Service::Sqs => ("sqs", ""),
            Service::Lambda => ("lambda", "function:"),
            Service::Events => ("events", "event-bus/"),
        };
        if !self.0.starts_with("arn:") {
            return is_name(service, &self.0);
        }
        let parts: Vec<&str> = self.0.splitn(6, ':').collect();
        let [_, partition, own, region, account, resource] = parts[..] else { return false };
        let name = resource.strip_prefix(prefix);
        !partition.is_empty()
            && own == word
            && !region.is_empty()
            && account.len() == 12
            && account.bytes().all(|byte| byte.is_ascii_digit())
            && name.is_some_and(|name| is_name(service, name))
    }
}

impl fmt::Display for AwsTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_name(service: Service, name: &str) -> bool {
    let made_of = |name: &str, more: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    match service {
        Service::Sqs => name.len() <= 80 && made_of(name.strip_suffix(".fifo").unwrap_or(name), "-_"),
        Service::Lambda => {
            let (function, alias) = name.split_once(':').unwrap_or((name, "live"));
            function.len() <= 64 && made_of(function, "-_") && made_of(alias, "-_$")
        }
        Service::Events => name.len() <= 256 && made_of(name, "-_./"),
    }
}

impl DestinationKind {
    /// How long the kind itself recognises a repeated key; `None` where that
    /// is for the destination's owner to declare.
    pub(super) fn own_window(&self) -> Option<Duration> {
        match self {
            Self::Sqs(queue) if queue.is_fifo() => Some(FIFO_WINDOW),
            Self::Sqs(_) | Self::EventBridge(_) => Some(Duration::ZERO),
            Self::Http(_) | Self::Function(_) | Self::Code(_) => None,
        }
    }
}

/// Reads the one kind that is declared.
pub(super) fn read(document: &mut Document<'_>, name: Text<'_>, table: Table<'_>) -> Option<DestinationKind> {
    let declared: Vec<Entry<'_>> = table.entries().filter(|entry| KINDS.contains(&entry.key)).collect();
    if declared.is_empty() {
        let message = format!("destination `{}` does not say what is called", name.text);
        document.absent(name.at, message, Some("http = \"https://host/path\"".to_owned()));
    }
    for more in declared.iter().skip(1) {
        let message = format!("destination `{}` is one of {}", name.text, KINDS.join(", "));
        document.problem(more.key_at, message, Some("declare a destination for each".to_owned()));
    }
    let entry = *declared.first()?;
    match entry.key {
        "http" => value::read(document, entry, value::url).map(|url| DestinationKind::Http(url.to_owned())),
        "code" => value::read(document, entry, value::name).map(|name| DestinationKind::Code(name.into())),
        "sqs" => aws(document, entry, Service::Sqs).map(DestinationKind::Sqs),
        "function" => aws(document, entry, Service::Lambda).map(DestinationKind::Function),
        _ => aws(document, entry, Service::Events).map(DestinationKind::EventBridge),
    }
}

fn aws(document: &mut Document<'_>, entry: Entry<'_>, service: Service) -> Option<AwsTarget> {
    let text = document.text(entry)?;
    let target = AwsTarget(text.text.to_owned());
    if target.is_of(service) {
        return Some(target);
    }
    let (what, example) = match service {
        Service::Sqs => ("a queue", "arn:aws:sqs:eu-west-1:111122223333:builds"),
        Service::Lambda => ("a function", "arn:aws:lambda:eu-west-1:111122223333:function:finish-job"),
        Service::Events => ("an event bus", "arn:aws:events:eu-west-1:111122223333:event-bus/orders"),
    };
    let message = format!("\"{}\" is not the name of {what}", text.text);
    document.problem(text.at, message, Some(format!("its name, or its whole ARN such as {example}")));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(service: Service, text: &str) -> bool {
        AwsTarget(text.to_owned()).is_of(service)
    }

    #[test]
    fn a_target_is_a_name_or_a_whole_arn_of_its_own_service() {
        for (service, text) in [
            (Service::Sqs, "builds"),
            (Service::Sqs, "builds.fifo"),
            (Service::Sqs, "arn:aws:sqs:eu-west-1:111122223333:builds.fifo"),
            (Service::Lambda, "finish-job"),
            (Service::Lambda, "finish-job:live"),
            (Service::Lambda, "arn:aws-cn:lambda:cn-north-1:111122223333:function:finish-job:7"),
            (Service::Events, "default"),
            (Service::Events, "arn:aws:events:eu-west-1:111122223333:event-bus/orders"),
        ] {
            assert!(is(service, text), "{text}");
        }
        for (service, text) in [
            (Service::Sqs, ""),
            (Service::Sqs, ".fifo"),
            (Service::Sqs, "https://sqs.eu-west-1.amazonaws.com/111122223333/builds"),
            (Service::Sqs, "arn:aws:sns:eu-west-1:111122223333:builds"),
            (Service::Sqs, "arn:aws:sqs:eu-west-1:builds"),
            (Service::Lambda, "finish job"),
            (Service::Lambda, "arn:aws:lambda:eu-west-1:111122223333:finish-job"),
            (Service::Events, "arn:aws:events:eu-west-1:1111:event-bus/orders"),
        ] {
            assert!(!is(service, text), "{text}");
        }
    }

    #[test]
    fn an_arn_names_its_account_and_what_it_is() {
        let queue = AwsTarget("arn:aws:sqs:eu-west-1:111122223333:builds".to_owned());
        assert_eq!((queue.resource(), queue.account()), ("builds", Some("111122223333")));
        let name = AwsTarget("builds".to_owned());
        assert_eq!((name.resource(), name.account()), ("builds", None));
    }
}
