//! Times as vendors write them, read from their text: a double would lose
//! milliseconds, and a time that cannot be is no time.

use super::scheme::Unit;
use crate::instant::Instant;
use crate::json::JsonText;
use crate::time::UnixMillis;

/// Longest number that is taken for a time.
const MOST_DIGITS: usize = 16;

/// The time that a vendor states of an event, floored to milliseconds. `zone`
/// is minutes east of UTC for texts that state none.
pub(crate) fn stated(text: &str, unit: Unit, zone: i32) -> Option<UnixMillis> {
    let text = text.trim();
    match unit {
        Unit::Seconds => scaled(text, 3),
        Unit::Millis => scaled(text, 0),
        Unit::Iso => iso(text, zone),
        Unit::Http => http(text),
    }
    .map(UnixMillis)
}

/// A time as people write it into a file: ISO 8601, in UTC where no zone is
/// said; a date alone is its beginning.
pub(crate) fn by_hand(text: &str) -> Option<UnixMillis> {
    stated(text, Unit::Iso, 0).or_else(|| stated(&format!("{text}T00:00:00Z"), Unit::Iso, 0))
}

/// The time in a JSON value of which nobody says how it is written: a text in
/// ISO 8601 or as HTTP has it, or a Unix time in seconds or milliseconds. From
/// the year 5138 on seconds would be taken for milliseconds.
pub(crate) fn of_json(value: &JsonText) -> Option<UnixMillis> {
    const FIRST_OF_MILLIS: i64 = 100_000_000_000;
    let text = value.plain()?;
    match stated(&text, Unit::Seconds, 0) {
        Some(seconds) if seconds.0 < FIRST_OF_MILLIS * 1_000 => Some(seconds),
        Some(_) => stated(&text, Unit::Millis, 0),
        None => stated(&text, Unit::Iso, 0).or_else(|| stated(&text, Unit::Http, 0)),
    }
}

/// The time of a signature: numbers are digits only, as signed.
pub(crate) fn signed(text: &str, unit: Unit) -> Option<UnixMillis> {
    let digits =
        !text.is_empty() && text.len() <= MOST_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    match unit {
        Unit::Seconds | Unit::Millis if !digits => None,
        unit => stated(text, unit, 0),
    }
}

/// A decimal number times 10^`shift`, floored; never through a double.
fn scaled(text: &str, shift: usize) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() > MOST_DIGITS {
        return None;
    }
    let mut fraction: String = fraction.chars().take(shift).collect();
    while fraction.len() < shift {
        fraction.push('0');
    }
    format!("{whole}{fraction}").parse().ok()
}

/// `2026-02-25T06:20:52.246Z`, with a space for the `T`, with any number of
/// fraction digits, with `Z`, `UTC` or an offset, or none.
fn iso(text: &str, zone: i32) -> Option<i64> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at(end);
    let offset = match offset.trim_start() {
        "" => zone,
        "Z" | "z" | "UTC" | "GMT" => 0,
        offset => offset_minutes(offset)?,
    };
    let mut date = date.split('-');
    let (year, month, day) = (number(date.next()?, 4)?, number(date.next()?, 2)?, number(date.next()?, 2)?);
    if date.next().is_some() {
        return None;
    }
    millis(days(year, month, day)?, clock, offset)
}

/// `Wed, 25 Feb 2026 06:12:20 GMT`, or with an offset as mail has it.
fn http(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, text) = text.split_once(", ")?;
    let words: Vec<&str> = text.split(' ').collect();
    let [day, month, year, clock, zone] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)?;
    let offset = if *zone == "GMT" { 0 } else { offset_minutes(zone)? };
    let days = days(number(year, 4)?, i64::try_from(month).ok()? + 1, number(day, 2)?)?;
    millis(days, clock, offset)
}

/// `YYYYMMDDHHMMSS` in UTC, as certificates have it.
pub(crate) fn compact(text: &str) -> Option<UnixMillis> {
    let part = |from: usize, to: usize| number(text.get(from..to)?, to - from);
    let days = days(part(0, 4)?, part(4, 6)?, part(6, 8)?)?;
    let clock = format!("{}:{}:{}", text.get(8..10)?, text.get(10..12)?, text.get(12..)?);
    millis(days, &clock, 0).map(UnixMillis)
}

/// `+07:00`, `-0530` or `+07` in minutes east of UTC.
pub(crate) fn offset_minutes(text: &str) -> Option<i32> {
    let (sign, text) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits = text.replacen(':', "", 1);
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits, 2)?, 0),
        4 => (number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?),
        _ => return None,
    };
    let fits = hours <= 23 && minutes <= 59;
    fits.then(|| i32::try_from(hours * 60 + minutes).ok()).flatten().map(|minutes| sign * minutes)
}

/// `2026-02-25T06:20:52Z`, for what signs with such a time.
pub(crate) fn written_iso(time: UnixMillis) -> String {
    let text = Instant(time).to_string();
    text.rsplit_once('.').map_or(text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

/// Exactly `len` digits.
fn number(text: &str, len: usize) -> Option<i64> {
    (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days since the Unix epoch; `None` for a day that the month does not have.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// `HH:MM[:SS[.fraction]]` on a day, at an offset.
fn millis(days: i64, clock: &str, offset: i32) -> Option<i64> {
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    // 60 is a leap second.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction = scaled(&format!("0.{fraction}"), 3)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - i64::from(offset) * 60;
    Some(seconds * 1_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str, unit: Unit) -> Option<i64> {
        stated(text, unit, 0).map(|time| time.0)
    }

    #[test]
    fn numbers_are_floored_as_text() {
        assert_eq!(at("1772001621.972853", Unit::Seconds), Some(1_772_001_621_972));
        // As a double this would be …028.9999.
        assert_eq!(at("1772001721.029", Unit::Seconds), Some(1_772_001_721_029));
        assert_eq!(at("1772000123", Unit::Seconds), Some(1_772_000_123_000));
        assert_eq!(at("1772000123456", Unit::Millis), Some(1_772_000_123_456));
        for bad in ["", "-1", "1e3", "1.", ".5", "1_0", "99999999999999999"] {
            assert_eq!(at(bad, Unit::Seconds), None, "{bad}");
        }
    }

    #[test]
    fn the_notations_that_vendors_use_are_read() {
        for (text, millis) in [
            ("2026-02-25T06:20:52.246Z", 1_772_000_452_246),
            ("2026-07-14T16:33:54.9070259Z", 1_784_046_834_907),
            ("2026-02-25T06:14:11.204123456Z", 1_772_000_051_204),
            ("2026-02-25T01:20:00-05:00", 1_772_000_400_000),
            ("2026-07-14T16:40:00.1234567-05:00", 1_784_065_200_123),
            ("2023-02-05T18:43:11+0000", 1_675_622_591_000),
            ("2026-02-25 06:30:25 UTC", 1_772_001_025_000),
            ("2026-02-25 06:30:25", 1_772_001_025_000),
        ] {
            assert_eq!(at(text, Unit::Iso), Some(millis), "{text}");
        }
        assert_eq!(stated("2026-02-25 13:17:13", Unit::Iso, 420), Some(UnixMillis(1_772_000_233_000)));
        assert_eq!(at("Wed, 25 Feb 2026 06:12:20 GMT", Unit::Http), Some(1_771_999_940_000));
        assert_eq!(at("2000-02-29T00:00Z", Unit::Iso), Some(951_782_400_000));
    }

    #[test]
    fn a_time_that_cannot_be_is_no_time() {
        for text in [
            "2026-19-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00Q",
            "2026-01-01",
            "2026-01-01T00:00:00+24:00",
            "now",
        ] {
            assert_eq!(at(text, Unit::Iso), None, "{text}");
        }
        assert_eq!(at("Wed, 31 Feb 2026 06:12:20 GMT", Unit::Http), None);
    }

    #[test]
    fn the_times_of_certificates_are_read() {
        assert_eq!(compact("20260225062052"), Some(UnixMillis(1_772_000_452_000)));
        for bad in
            ["2026022506205", "202602250620521", "20261325062052", "20260225 62052", "２０２６0225062052"]
        {
            assert_eq!(compact(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_signed_time_is_digits_only() {
        assert_eq!(signed("1750000000", Unit::Seconds), Some(UnixMillis(1_750_000_000_000)));
        for bad in
            ["", " 1750000000", "+1750000000", "1750000000.0", "1.75e9", "0x1", "١٧٥", "17500000000000000"]
        {
            assert_eq!(signed(bad, Unit::Seconds), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_day_is_the_day_after_the_one_before(year in 1_i64..9999, month in 1_i64..=12, day in 1_i64..=28) {
            let next = days(year, month, day).unwrap() + 1;
            let by_calendar = days(year, month, day + 1)
                .or_else(|| days(year, month + 1, 1))
                .or_else(|| days(year + 1, 1, 1));
            prop_assert_eq!(Some(next), by_calendar);
        }

        #[test]
        fn a_written_time_is_read_back(seconds in 0_i64..253_402_300_800) {
            let time = UnixMillis(seconds * 1_000);
            prop_assert_eq!(stated(&written_iso(time), Unit::Iso, 0), Some(time));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in "\\PC{0,40}") {
            for unit in [Unit::Seconds, Unit::Millis, Unit::Iso, Unit::Http] {
                let _ = (stated(&text, unit, 0), signed(&text, unit));
            }
        }
    }
}
