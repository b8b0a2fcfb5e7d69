//! Lists of HTTP statuses, by which a destination says what its answers mean.

use crate::document::{Document, Entry, whole_number};
use toml::de::DeValue;

/// The statuses of an entry. One that is not `allowed` is a problem at its
/// place, said by `expected`.
pub(super) fn read(
    document: &mut Document<'_>,
    entry: Entry<'_>,
    allowed: impl Fn(u16) -> bool,
    expected: &str,
) -> Option<Vec<u16>> {
    let DeValue::Array(items) = entry.value else {
        document.wrong_kind(entry.key, entry.value_at, "a list of HTTP statuses", entry.value);
        return None;
    };
    let mut statuses = Vec::with_capacity(items.len());
    for item in items.iter() {
        let status = match item.get_ref() {
            DeValue::Integer(integer) => whole_number(integer).and_then(|status| u16::try_from(status).ok()),
            _ => None,
        };
        match status.filter(|status| allowed(*status)) {
            Some(status) => statuses.push(status),
            None => document.problem(item.span().start, format!("`{}` {expected}", entry.key), None),
        }
    }
    Some(statuses)
}
