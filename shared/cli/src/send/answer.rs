//! What a receiver's answer means for the event that was sent.

use std::time::Duration;

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attempted {
    /// With an answer.
    Answered {
        /// Its status.
        status: u16,
        /// How long it asks to wait.
        asked: Option<Duration>,
        /// The beginning of its body, or what else it says, for people.
        says: Option<String>,
    },
    /// Without one; why.
    Unanswered(String),
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing: it is there.
    Delivered,
    /// Nothing: it would be refused again.
    Refused,
    /// Nothing, and not for any other event either: nobody receives here.
    Gone,
    /// Send it again.
    Later {
        /// Not before this span. The receiver means all that it is sent.
        asked: Option<Duration>,
    },
}

impl Attempted {
    /// Reads an answer.
    ///
    /// - 2xx: delivered.
    /// - 410: nobody receives here any more.
    /// - 408, 409, 425, 429, 5xx, no answer: later.
    /// - 3xx: refused, since a redirect followed would be another receiver.
    /// - Every other 4xx: refused; the same bytes would be refused again.
    pub(super) fn meaning(&self) -> Meaning {
        let Self::Answered { status, asked, .. } = self else { return Meaning::Later { asked: None } };
        match status {
            200..=299 => Meaning::Delivered,
            410 => Meaning::Gone,
            408 | 409 | 425 | 429 => Meaning::Later { asked: *asked },
            300..=499 => Meaning::Refused,
            _ => Meaning::Later { asked: *asked },
        }
    }

    /// The status, where there is one.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Answered { status, .. } => Some(*status),
            Self::Unanswered(_) => None,
        }
    }

    /// The end of the attempt in words.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Answered { status, says: Some(says), .. } => format!("answered {status}: {says}"),
            Self::Answered { status, says: None, .. } => format!("answered {status}"),
            Self::Unanswered(why) => why.clone(),
        }
    }
}

/// Most characters of an answer that are shown.
const MOST_SHOWN: usize = 200;

/// A piece of a header that is as long as this may be a signature or a secret.
const SHORTEST_HIDDEN: usize = 12;

/// The beginning of an answer on one line. What repeats a value of these
/// headers is not shown: it may be the signature, or a secret.
pub(super) fn shown(body: &[u8], sent: &[(String, String)]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let pieces = sent.iter().flat_map(|(_, value)| value.split([' ', ',', ';', '=']));
    if pieces.filter(|piece| piece.len() >= SHORTEST_HIDDEN).any(|piece| text.contains(piece)) {
        return Some("(not shown: it repeats what was sent)".to_owned());
    }
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let line = text.chars().take(MOST_SHOWN).map(plain).collect::<String>();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16) -> Attempted {
        Attempted::Answered { status, asked: Some(Duration::from_secs(9)), says: None }
    }

    #[test]
    fn every_status_has_one_meaning() {
        let later = Meaning::Later { asked: Some(Duration::from_secs(9)) };
        for status in 100..=999 {
            let expected = match status {
                200..=299 => Meaning::Delivered,
                410 => Meaning::Gone,
                408 | 409 | 425 | 429 => later,
                300..=499 => Meaning::Refused,
                _ => later,
            };
            assert_eq!(answered(status).meaning(), expected, "{status}");
        }
        let unanswered = Attempted::Unanswered("no connection".to_owned());
        assert_eq!(unanswered.meaning(), Meaning::Later { asked: None });
    }

    #[test]
    fn an_answer_is_shown_on_one_line_and_in_part() {
        assert_eq!(
            shown(b" {\"error\":\n \"no id\"}\x1b[31m", &[]).as_deref(),
            Some("{\"error\": \"no id\"} [31m")
        );
        assert_eq!(shown(&[b'a'; 900], &[]).map(|text| text.len()), Some(MOST_SHOWN));
        assert_eq!(shown(b"\r\n", &[]), None);
    }

    #[test]
    fn an_answer_that_repeats_a_signature_is_not_shown() {
        let sent = [("stripe-signature".to_owned(), "t=1750000000,v1=0a1b2c3d4e5f6071".to_owned())];
        let said = shown(b"expected 0a1b2c3d4e5f6071", &sent).unwrap();
        assert!(said.starts_with("(not shown"), "{said}");
        assert_eq!(shown(b"no signature", &sent).as_deref(), Some("no signature"));
    }
}
