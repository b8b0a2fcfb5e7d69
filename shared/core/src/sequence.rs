//! Numbers by which a vendor orders its events.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A number longer than this orders nothing: it is noise, and comparing it
/// would let a delivery decide how much work is done (INV-8).
const LONGEST: usize = 256;

/// A vendor's order number: a decimal of any size, kept as it was written and
/// compared by value. It is never a float: real sequences lie beyond 2^53.
#[derive(Debug, Clone)]
pub struct Sequence(String);

impl Sequence {
    /// Reads decimal digits with an optional sign and fraction, as a JSON
    /// number or as text. `None` for anything else, exponents included: no
    /// vendor counts in powers.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(whole) && is_number(fraction)).then(|| Self(text.to_owned()))
    }

    /// The number as the vendor wrote it, leading zeros kept.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is below zero; its digits before and behind the point,
    /// without zeros that say nothing.
    fn parts(&self) -> (bool, &str, &str) {
        let digits = self.0.strip_prefix('-');
        let (negative, digits) = (digits.is_some(), digits.unwrap_or(&self.0));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        (negative && !(whole.is_empty() && fraction.is_empty()), whole, fraction)
    }
}

impl Ord for Sequence {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((negative, whole, fraction), (other_negative, other_whole, other_fraction)) =
            (self.parts(), other.parts());
        let by_whole = whole.len().cmp(&other_whole.len()).then_with(|| whole.cmp(other_whole));
        // Digits behind the point compare like text: a missing one is a zero.
        let magnitude = by_whole.then_with(|| fraction.cmp(other_fraction));
        match (negative, other_negative) {
            (false, false) => magnitude,
            (true, true) => magnitude.reverse(),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Sequence {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sequence {}

impl Hash for Sequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Sequence {
        Sequence::parse(text).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_and_not_as_text() {
        assert!(number("9") < number("10"));
        assert!(number("-10") < number("-9"));
        assert!(number("1.05") < number("1.5"));
        assert!(number("9007199254740993") > number("9007199254740992"));
        assert!(number("0010") < number("10000000000000003000"));
        assert_eq!(number("007.50"), number("7.5"));
        assert_eq!(number("-0"), number("0.0"));
    }

    #[test]
    fn a_number_stays_as_it_was_written() {
        assert_eq!(number("0000000042").as_str(), "0000000042");
        assert_eq!(number("-7.50").to_string(), "-7.50");
    }

    #[test]
    fn what_is_no_decimal_number_orders_nothing() {
        for bad in ["", "-", ".5", "1.", "1.-5", "1e3", "0x1", "1 ", "+1", "１", &"9".repeat(257)] {
            assert_eq!(Sequence::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn order_is_that_of_the_numbers(a in -100_000_i64..100_000, b in -100_000_i64..100_000, zeros in 0..3_usize) {
            let text = |n: i64| {
                let sign = if n < 0 { "-" } else { "" };
                format!("{sign}{}{}.{:03}", "0".repeat(zeros), n.abs() / 1000, n.abs() % 1000)
            };
            prop_assert_eq!(number(&text(a)).cmp(&number(&text(b))), a.cmp(&b));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,40}") {
            if let Some(number) = Sequence::parse(&text) {
                prop_assert_eq!(number.to_string(), text);
            }
        }
    }
}
