//! What commands tell people, line by line.

use std::fmt::Display;
use std::io::Write;

/// Writes one line. Nobody may be reading any more; that is no reason to fail.
pub fn say(line: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
