//! Numbers compared by value without leaving decimal text: doubles would make
//! two ids beyond 2^53 equal.

/// Whether the text is a number in JSON's notation.
pub(super) fn is_number(text: &str) -> bool {
    matches!(serde_json::from_str::<&serde_json::value::RawValue>(text), Ok(raw)
        if raw.get().len() == text.len() && text.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// Whether two numbers in JSON's notation have the same value.
pub(super) fn equal(a: &str, b: &str) -> bool {
    match (Decimal::of(a), Decimal::of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// `digits × 10^exponent` without zeros at either end; zero has no digits.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self { negative: false, digits: String::new(), exponent: 0 });
        }
        let zeros = i64::try_from(significant.len() - digits.len()).ok()?;
        Some(Self { negative, digits: digits.to_owned(), exponent: exponent.checked_add(zeros)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn different_notations_of_one_value_are_equal() {
        for (a, b) in [("100", "1e2"), ("0", "-0.0"), ("1.50", "15E-1"), ("0.001", "1e-3")] {
            assert!(equal(a, b), "{a} {b}");
        }
        for (a, b) in [("9007199254740993", "9007199254740992"), ("1", "-1"), ("1", "10")] {
            assert!(!equal(a, b), "{a} {b}");
        }
        assert!(!equal("1e99999999999999999999", "1"));
    }

    #[test]
    fn only_json_numbers_are_numbers() {
        assert!(is_number("-1.5e3") && !is_number("1_000") && !is_number("inf") && !is_number(" 1"));
    }

    proptest! {
        #[test]
        fn shifting_the_point_keeps_the_value(n in any::<i64>(), zeros in 0_usize..5) {
            let shifted = format!("{n}{}e-{zeros}", "0".repeat(zeros));
            prop_assert!(equal(&n.to_string(), &shifted));
        }
    }
}
