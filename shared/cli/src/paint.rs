//! Colours, on a terminal only.

use std::fmt::{self, Display};
use std::io::IsTerminal;

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

/// A text as a terminal may have it. Much of what is shown a vendor wrote, and
/// what would move the cursor or hide a line is a question mark; our own colours
/// stay.
pub fn plain(text: &str) -> String {
    let still = |piece: &str| piece.replace(|c: char| c.is_control() && c != '\n', "?");
    let mut pieces = text.split('\u{1b}');
    let mut plain = pieces.next().map(still).unwrap_or_default();
    for piece in pieces {
        let is_ours = CODES.iter().any(|code| {
            piece
                .strip_prefix('[')
                .and_then(|rest| rest.strip_prefix(code))
                .is_some_and(|rest| rest.starts_with('m'))
        });
        plain.push(if is_ours { '\u{1b}' } else { '?' });
        plain.push_str(&still(piece));
    }
    plain
}

/// The end of a colour, and every colour.
const CODES: [&str; 5] = ["0", "2", "31", "32", "33"];

/// What a text means.
#[derive(Debug, Clone, Copy)]
pub enum Tone {
    /// As it should be.
    Good,
    /// As it must not be.
    Bad,
    /// Perhaps not as it should be.
    Doubtful,
    /// Where something is.
    Place,
}

impl Paint {
    /// Colours if standard output is a terminal and nobody asked for none.
    pub fn for_output() -> Self {
        let asked_for_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { on: std::io::stdout().is_terminal() && !asked_for_none }
    }

    /// No colours.
    #[cfg(test)]
    pub fn none() -> Self {
        Self { on: false }
    }

    /// A text in its tone.
    pub fn text<T: Display>(self, tone: Tone, text: T) -> impl Display {
        Painted { code: self.on.then(|| tone.code()), text }
    }
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Doubtful => "33",
            Self::Place => "2",
        }
    }
}

struct Painted<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "\u{1b}[{code}m{}\u{1b}[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_vendor_wrote_moves_no_cursor_and_our_colours_stay() {
        let painted = Paint { on: true }.text(Tone::Bad, "failed").to_string();
        assert_eq!(plain(&painted), painted);
        assert_eq!(plain("evt\u{1b}[2K\r\u{1b}]0;x\u{7}\u{9b}1A\n"), "evt?[2K??]0;x??1A\n");
        for tone in [Tone::Good, Tone::Bad, Tone::Doubtful, Tone::Place] {
            assert!(CODES.contains(&tone.code()));
        }
    }

    #[test]
    fn without_a_terminal_a_text_is_itself() {
        assert_eq!(Paint { on: false }.text(Tone::Bad, "no").to_string(), "no");
        assert_eq!(Paint { on: true }.text(Tone::Bad, "no").to_string(), "\u{1b}[31mno\u{1b}[0m");
    }
}
