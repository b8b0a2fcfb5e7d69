//! The signature is right and its time is not: the unit, or a clock.

use super::bench::{Bench, Change, Hypotheses, Hypothesis};
use super::cause::Cause;
use crate::time::UnixMillis;
use crate::vendor::scheme::Unit;
use crate::vendor::{Refusal, Vendor};

const HOUR: u64 = 3_600;

/// The same delivery with its time in another unit, then at another time.
pub(super) fn hypotheses<'a>(bench: &'a Bench<'a>, refusal: &'a Refusal) -> Hypotheses<'a> {
    let units = [(Unit::Millis, Cause::TimestampUnitMs), (Unit::Seconds, Cause::TimestampUnitS)];
    let other_units = units.into_iter().filter_map(|(unit, cause)| {
        let changed = in_unit(bench.vendor, unit)?;
        Some(Hypothesis::new(cause, Change::Reading(Box::new(changed)), "The signature is right."))
    });
    Box::new(other_units.chain(at_its_own_time(bench, refusal)))
}

/// The vendor with every signed time in this unit; `None` where nothing changes.
pub(super) fn in_unit(vendor: &Vendor, unit: Unit) -> Option<Vendor> {
    let mut changed = vendor.clone();
    let mut differs = false;
    for timestamp in changed.schemes.iter_mut().filter_map(|scheme| scheme.timestamp.as_mut()) {
        differs |= timestamp.unit != unit;
        timestamp.unit = unit;
    }
    differs.then_some(changed)
}

/// The time at which the delivery would be fresh.
fn at_its_own_time(bench: &Bench<'_>, refusal: &Refusal) -> Option<Hypothesis> {
    let now = bench.received_at?;
    let mut at = moved(now, refusal)?;
    // A token states several times; each moves the clock once.
    for _ in 0..3 {
        match bench.at(at)? {
            Err(again) => at = moved(at, &again)?,
            Ok(()) => break,
        }
    }
    Some(Hypothesis::new(Cause::ClockOff, Change::Now(at), described(now, at)))
}

fn moved(now: UnixMillis, refusal: &Refusal) -> Option<UnixMillis> {
    match refusal {
        Refusal::TooOld { skew } => Some(now.minus(*skew)),
        Refusal::TooNew { skew } => Some(now.plus(*skew)),
        _ => None,
    }
}

fn described(now: UnixMillis, signed: UnixMillis) -> String {
    let (late, early) = (now.since(signed).as_secs(), signed.since(now).as_secs());
    if late == 0 {
        return format!(
            "The signature is right; its time is {early} s ahead of the receiver's clock, which is slow, or the sender's is fast."
        );
    }
    let kind = if late.is_multiple_of(HOUR) {
        format!("exactly {} h: a time zone or summer time was left out, or it waited in a queue", late / HOUR)
    } else {
        "it waited on the way or was sent again, or the receiver's clock is fast".to_owned()
    };
    format!("The signature is right; its time is {late} s behind the receiver's clock: {kind}.")
}
