//! What holds of the template and no linter checks. Each assertion has a name;
//! `mutations.rs` breaks each of them.

mod alarms;
mod code;
mod data;
mod roles;
mod traffic;

use super::template::Template;

/// What is wrong, in a sentence.
pub type Verdict = Result<(), String>;

/// One assertion.
pub struct Assertion {
    pub name: &'static str,
    pub check: fn(&Template) -> Verdict,
}

/// Every assertion.
pub fn all() -> Vec<Assertion> {
    [data::ASSERTIONS, roles::ASSERTIONS, traffic::ASSERTIONS, alarms::ASSERTIONS, code::ASSERTIONS]
        .concat()
        .into_iter()
        .map(|(name, check)| Assertion { name, check })
        .collect()
}

/// The form in which a module lists its assertions.
type Listed = (&'static str, fn(&Template) -> Verdict);

fn expect(holds: bool, otherwise: impl Into<String>) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
