//! How late a fact about a resource is, in the vendor's own order.

use crate::time::UnixMillis;
use std::cmp::Ordering;
use std::fmt;

/// A number longer than this orders nothing: it is noise, and comparing it
/// would let a delivery decide how much work is done (INV-8).
const LONGEST_NUMBER: usize = 256;

/// How late a fact is. Values of one resource are of one variant, unless its
/// configuration was changed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OrderValue {
    /// The vendor's time of the event.
    Time(UnixMillis),
    /// The vendor's own number.
    Sequence(Sequence),
    /// The vendor says nothing: the graph alone decides.
    Rank,
}

impl OrderValue {
    /// Which of the two is later. Two ranks are equal, since the vendor tells
    /// them apart by nothing. `None`: they are of different kinds, because the
    /// resource's `order` was changed; the caller decides what that means.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Time(a), Self::Time(b)) => Some(a.cmp(b)),
            (Self::Sequence(a), Self::Sequence(b)) => Some(a.cmp(b)),
            (Self::Rank, Self::Rank) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// The value that a stored text (its display) means.
    pub fn from_stored(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some(("time", millis)) => millis.parse().ok().map(|millis| Self::Time(UnixMillis(millis))),
            Some(("sequence", number)) => Sequence::parse(number).map(Self::Sequence),
            None if text == "rank" => Some(Self::Rank),
            _ => None,
        }
    }
}

impl fmt::Display for OrderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "time:{}", time.0),
            Self::Sequence(number) => write!(f, "sequence:{number}"),
            Self::Rank => f.write_str("rank"),
        }
    }
}

/// A vendor's order number: a decimal of any size, compared by value. It is
/// never a float: real sequences lie beyond 2^53.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sequence {
    negative: bool,
    /// Without leading zeros; empty for a number below one.
    whole: String,
    /// Without trailing zeros; empty for a whole number.
    fraction: String,
}

impl Sequence {
    /// Reads decimal digits with an optional sign and fraction, as a JSON
    /// number or as text. `None` for anything else, exponents included: no
    /// vendor counts in powers.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST_NUMBER {
            return None;
        }
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let (whole, fraction) = match digits.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (digits, ""),
        };
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let zero = whole.is_empty() && fraction.is_empty();
        Some(Self { negative: negative && !zero, whole: whole.to_owned(), fraction: fraction.to_owned() })
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let by_whole = self.whole.len().cmp(&other.whole.len()).then_with(|| self.whole.cmp(&other.whole));
        // Digits behind the point compare like text: a missing one is a zero.
        by_whole.then_with(|| self.fraction.cmp(&other.fraction))
    }
}

impl Ord for Sequence {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
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

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let whole = if self.whole.is_empty() { "0" } else { &self.whole };
        write!(f, "{sign}{whole}")?;
        if self.fraction.is_empty() { Ok(()) } else { write!(f, ".{}", self.fraction) }
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
        assert_eq!(number("007.50"), number("7.5"));
        assert_eq!(number("-0"), number("0.0"));
    }

    #[test]
    fn what_is_no_decimal_number_orders_nothing() {
        for bad in ["", "-", ".5", "1.", "1e3", "0x1", "1 ", "+1", "１", &"9".repeat(257)] {
            assert_eq!(Sequence::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn values_of_different_kinds_do_not_compare() {
        let time = OrderValue::Time(UnixMillis(1));
        assert_eq!(time.compare(&OrderValue::Rank), None);
        assert_eq!(OrderValue::Rank.compare(&OrderValue::Rank), Some(Ordering::Equal));
        assert_eq!(time.compare(&OrderValue::Time(UnixMillis(2))), Some(Ordering::Less));
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
        fn a_value_is_stored_and_read_back(millis in any::<i64>(), digits in "-?[0-9]{1,30}(\\.[0-9]{1,9})?") {
            for value in [
                OrderValue::Time(UnixMillis(millis)),
                OrderValue::Sequence(number(&digits)),
                OrderValue::Rank,
            ] {
                prop_assert_eq!(OrderValue::from_stored(&value.to_string()), Some(value));
            }
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in ".{0,40}") {
            let _ = (Sequence::parse(&text), OrderValue::from_stored(&text));
        }
    }
}
