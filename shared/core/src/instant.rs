//! How a time is written, for destinations and for people.

use crate::time::UnixMillis;
use std::fmt::{self, Write};

/// A time as RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub UnixMillis);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.0;
        let (days, of_day) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
        let (year, month, day) = civil(days);
        // RFC 3339 ends with the year 9999; an impossible time is still shown.
        if year < 0 {
            f.write_char('-')?;
        }
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let (second, milli) = (of_day / 1_000 % 60, of_day % 1_000);
        let year = year.abs();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic
/// Gregorian calendar. Years begin in March here, so that the leap day is the
/// last of its year and every 400 years (an era) have the same days.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    const DAYS_FROM_YEAR_ZERO: i64 = 719_468;
    let from_year_zero = days + DAYS_FROM_YEAR_ZERO;
    let (era, day) = (from_year_zero.div_euclid(DAYS_PER_ERA), from_year_zero.rem_euclid(DAYS_PER_ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(millis: i64) -> String {
        Instant(UnixMillis(millis)).to_string()
    }

    #[test]
    fn a_time_is_shown_in_utc_with_milliseconds() {
        assert_eq!(shown(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(shown(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(shown(1_767_225_599_999), "2025-12-31T23:59:59.999Z");
        assert_eq!(shown(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(shown(-1), "1969-12-31T23:59:59.999Z");
    }

    proptest! {
        #[test]
        fn the_day_after_a_day_is_the_next_of_the_calendar(days in -800_000_i64..3_000_000) {
            let (year, month, day) = civil(days);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + i64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let next = match (day == length, month) {
                (false, _) => (year, month, day + 1),
                (true, 12) => (year + 1, 1, 1),
                (true, _) => (year, month + 1, 1),
            };
            prop_assert_eq!(civil(days + 1), next);
        }

        #[test]
        fn no_time_makes_it_panic(millis in any::<i64>()) {
            let _ = shown(millis);
        }
    }
}
