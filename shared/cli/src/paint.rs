//! Colours, on a terminal only.

use std::fmt::{self, Display};
use std::io::IsTerminal;

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

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
    fn without_a_terminal_a_text_is_itself() {
        assert_eq!(Paint { on: false }.text(Tone::Bad, "no").to_string(), "no");
        assert_eq!(Paint { on: true }.text(Tone::Bad, "no").to_string(), "\u{1b}[31mno\u{1b}[0m");
    }
}
