//! How late a fact about a resource is, in the vendor's own order.

use crate::sequence::Sequence;
use crate::time::UnixMillis;
use std::cmp::Ordering;
use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_of_different_kinds_do_not_compare() {
        let time = OrderValue::Time(UnixMillis(1));
        assert_eq!(time.compare(&OrderValue::Rank), None);
        assert_eq!(OrderValue::Rank.compare(&OrderValue::Rank), Some(Ordering::Equal));
        assert_eq!(time.compare(&OrderValue::Time(UnixMillis(2))), Some(Ordering::Less));
    }

    proptest! {
        #[test]
        fn a_value_is_stored_and_read_back(millis in any::<i64>(), digits in "-?[0-9]{1,30}(\\.[0-9]{1,9})?") {
            for value in [
                OrderValue::Time(UnixMillis(millis)),
                OrderValue::Sequence(Sequence::parse(&digits).unwrap()),
                OrderValue::Rank,
            ] {
                prop_assert_eq!(OrderValue::from_stored(&value.to_string()), Some(value));
            }
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in ".{0,40}") {
            let _ = OrderValue::from_stored(&text);
        }
    }
}
