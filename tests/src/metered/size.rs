//! How large an item is, as DynamoDB counts: names and values in UTF-8, bytes
//! as they are, a number at half a byte a digit and one more.

use super::Item;
use serde_json::Value;

const WRITE_UNIT: usize = 1024;
const READ_UNIT: usize = 4096;

/// DynamoDB takes no larger item.
pub(super) const LARGEST_ITEM: usize = 400 * 1024;

pub(super) fn of(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + of_value(value)).sum()
}

fn of_value(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|typed| typed.iter().next()) else { return 0 };
    let text = value.as_str().unwrap_or_default();
    match kind.as_str() {
        "S" => text.len(),
        "N" => text.len().div_ceil(2) + 1,
        // Four characters of base64 are three bytes, less the padding.
        "B" => text.len() / 4 * 3 - text.bytes().rev().take_while(|byte| *byte == b'=').count(),
        "SS" => value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::len).sum(),
        "L" => 3 + value.as_array().into_iter().flatten().map(|value| of_value(value) + 1).sum::<usize>(),
        "M" => 3 + value.as_object().map_or(0, |map| of(map) + map.len()),
        _ => 1,
    }
}

pub(super) fn write_units(size: usize) -> u64 {
    units(size, WRITE_UNIT)
}

pub(super) fn read_units(size: usize) -> u64 {
    units(size, READ_UNIT)
}

fn units(size: usize, unit: usize) -> u64 {
    u64::try_from(size.div_ceil(unit).max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_values_count_and_bytes_count_as_bytes() {
        let item = json!({ "pk": { "S": "é" }, "n": { "N": "1234" }, "b": { "B": "AAEC" }, "c": { "B": "AA==" },
            "t": { "BOOL": true }, "l": { "L": [{ "S": "ab" }] } });
        let names = 2 + 1 + 1 + 1 + 1 + 1;
        assert_eq!(of(item.as_object().unwrap()), names + 2 + 3 + 3 + 1 + 1 + (3 + 2 + 1));
    }

    #[test]
    fn a_started_unit_is_a_unit() {
        assert_eq!([0, 1, 1024, 1025].map(write_units), [1, 1, 1, 2]);
        assert_eq!([0, 4096, 4097].map(read_units), [1, 1, 2]);
    }
}
