//! What commands tell people, line by line.

use std::fmt::Display;
use std::io::Write;

/// Writes one line. Nobody may be reading any more; that is no reason to fail.
pub fn say(line: impl Display) {
    let _ = heard(line);
}

/// Writes one line, and says whether somebody still reads: a command that goes
/// on for as long as it is read ends where nobody does.
pub fn heard(line: impl Display) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
}
