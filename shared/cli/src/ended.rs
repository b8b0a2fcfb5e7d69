//! How a command ended, for scripts.

use std::process::ExitCode;

/// What the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// 0: all is well.
    Well,
    /// 1: it was done, and something is not as it should be.
    Found,
}

/// 2: it could not be done; what is missing was said on standard error.
pub const COULD_NOT: u8 = 2;

/// What every command's help says of it.
pub const EXIT_CODES: &str =
    "Exit codes: 0 all is well, 1 something is not as it should be, 2 it could not be looked at.";

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Well => Self::SUCCESS,
            Ended::Found => Self::FAILURE,
        }
    }
}

impl Ended {
    /// Well where nothing was found.
    pub fn with(found: bool) -> Self {
        if found { Self::Found } else { Self::Well }
    }
}
