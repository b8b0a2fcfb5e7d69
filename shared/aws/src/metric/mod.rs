//! Metrics in CloudWatch's embedded metric format: lines on standard output,
//! and no call. `docs/metrics.md` lists the names.

mod delivery;
mod line;
mod list;
#[cfg(test)]
mod tests;
mod work;

pub use delivery::of_delivery;
pub use line::{Lines, NAMESPACE};
pub use list::{Dimension, Metric, Unit};
pub use work::{of_batch, of_sweep};

use sekali::time::UnixMillis;
use std::io::Write;

/// Prints what an invocation did. A line that standard output does not take is
/// lost: a metric is no reason to fail what it counts.
pub fn print(lines: &Lines<'_>, stage: &str, now: UnixMillis) {
    drop(std::io::stdout().lock().write_all(lines.print(stage, now).as_bytes()));
}
