//! How cost grows: with what is stored, with endpoints, with the body. Each is
//! a curve and the exponent of the power that fits it best: 0 does not grow, 1
//! grows like the cause.

use super::figures::{as_float, millis};
use super::process::Running;
use super::subject::{Ground, Kind, Subject};
use crate::metered::Item;
use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// A cost that was measured at several sizes of its cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// What grows.
    pub cause: String,
    /// What it costs.
    pub cost: String,
    /// Sizes and costs.
    pub points: Vec<(f64, f64)>,
    /// The exponent; `None` for a curve of one point.
    pub exponent: Option<f64>,
}

impl Curve {
    fn new(cause: &str, cost: &str, points: Vec<(f64, f64)>) -> Self {
        let exponent = exponent(&points);
        Self { cause: cause.to_owned(), cost: cost.to_owned(), points, exponent }
    }
}

/// The slope of the line through the logarithms, by least squares.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.max(1e-9).ln())).collect();
    let count = as_float(u64::try_from(logs.len()).ok()?);
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = logs.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| slope / spread)
}

/// How far the causes grow.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Events that are stored already.
    pub stored: Vec<u32>,
    /// Endpoints in the configuration.
    pub endpoints: Vec<u32>,
    /// Bytes of text in a body.
    pub bodies: Vec<u32>,
    /// Events measured at each point, starts at each number of endpoints.
    pub each: usize,
}

impl Extent {
    /// For figures.
    pub fn full() -> Self {
        Self {
            stored: vec![1_000, 10_000, 100_000, 1_000_000],
            endpoints: vec![1, 10, 100, 500],
            bodies: vec![1_000, 10_000, 100_000, 1_000_000, 4_000_000],
            each: 100,
        }
    }
}

/// Every curve of the subject, which is started by `command`.
///
/// # Errors
/// It does not do its work.
pub async fn curves(folder: &Path, command: &[String], extent: &Extent) -> Result<Vec<Curve>> {
    Ok(vec![
        by_stored(folder, command, extent).await?,
        by_endpoints(folder, command, extent).await?,
        by_body(folder, command, extent).await?,
    ])
}

async fn by_stored(folder: &Path, command: &[String], extent: &Extent) -> Result<Curve> {
    let ground = Ground::new(&folder.join("stored"), 1).await?;
    let subject = ground.subject("ingest", Kind::Receiver, command.to_vec());
    let (mut stored, mut points) = (0, Vec::new());
    for count in &extent.stored {
        for number in stored..*count {
            let pk = format!("event|6:stripe|-|9:evt_{number:05}");
            ground.metered.insert("bench-events", &pk, &finished(&pk));
        }
        stored = *count;
        points.push((f64::from(*count), cpu_per_event(&ground, &subject, 0, extent.each).await?));
    }
    Ok(Curve::new("stored events", "ms of a processor per new event", points))
}

/// An event that came to its end, as it is stored.
fn finished(pk: &str) -> Item {
    let item = json!({ "pk": { "S": pk }, "schema": { "N": "1" }, "status": { "S": "processed" },
        "endpoint": { "S": "stripe" }, "vendor": { "S": "stripe" }, "expires_at": { "N": "1930000000" },
        "hash": { "S": "0".repeat(64) }, "correlation": { "S": "0".repeat(32) }, "generation": { "N": "1" } });
    item.as_object().cloned().unwrap_or_default()
}

async fn by_endpoints(folder: &Path, command: &[String], extent: &Extent) -> Result<Curve> {
    let mut points = Vec::new();
    for count in &extent.endpoints {
        let folder = folder.join(format!("endpoints-{count}"));
        let ground = Ground::new(&folder, usize::try_from(*count)?).await?;
        let subject = ground.subject("ingest", Kind::Receiver, command.to_vec());
        let mut least = Duration::MAX;
        for _ in 0..extent.each.clamp(1, 5) {
            let mut running = Running::start(&subject.program).await?;
            running.ready().await?;
            least = least.min(running.cpu()?);
        }
        points.push((f64::from(*count), millis(least)));
    }
    Ok(Curve::new("endpoints", "ms of a processor per start", points))
}

async fn by_body(folder: &Path, command: &[String], extent: &Extent) -> Result<Curve> {
    let ground = Ground::new(&folder.join("bodies"), 1).await?;
    let subject = ground.subject("ingest", Kind::Receiver, command.to_vec());
    let mut points = Vec::new();
    for bytes in &extent.bodies {
        let filler = usize::try_from(*bytes)?;
        points.push((f64::from(*bytes), cpu_per_event(&ground, &subject, filler, extent.each).await?));
    }
    Ok(Curve::new("bytes of a body", "ms of a processor per new event", points))
}

/// Events that only warm a process.
const WARMING: usize = 20;

async fn cpu_per_event(ground: &Ground, subject: &Subject, filler: usize, events: usize) -> Result<f64> {
    let mut running = Running::start(&subject.program).await?;
    running.ready().await?;
    let mut before = Duration::ZERO;
    // A process that has just started is slower than one that has served some.
    for number in 0..events + WARMING {
        if number == WARMING {
            before = running.cpu()?;
        }
        let (answer, _) = running.invoke(&ground.delivery(filler)?).await?;
        subject.kind.check(&answer)?;
    }
    let taken = running.cpu()?.saturating_sub(before);
    Ok(millis(taken) / as_float(u64::try_from(events.max(1))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let curve = |power: i32| [1.0_f64, 10.0, 100.0].map(|x| (x, 3.0 * x.powi(power))).to_vec();
        for power in [0, 1, 2] {
            let found = exponent(&curve(power)).unwrap();
            assert!((found - f64::from(power)).abs() < 1e-9, "{power}: {found}");
        }
        assert_eq!(exponent(&[(1.0, 1.0)]), None);
    }
}
