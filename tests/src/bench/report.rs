//! The report of one run: as JSON, and as a table for people.

use super::figures::Figures;
use super::growth::Curve;
use super::measure::Slow;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Everything that one run measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// On what.
    pub machine: Machine,
    /// The subjects, in the order of the table.
    pub subjects: Vec<(String, Figures)>,
    /// Kilobytes of each of our packages, as zipped for Lambda.
    pub zipped_kb: BTreeMap<String, u64>,
    /// Cold starts at a small share of a processor, or why there are none.
    pub slow: Result<Slow, String>,
    /// Deliveries a second, by the number of processes.
    pub per_second: BTreeMap<usize, f64>,
    /// Events a second from the delivery to the effect, by the number of pairs
    /// of processes.
    pub whole_per_second: BTreeMap<usize, f64>,
    /// Ingest on an emulator of AWS.
    pub emulated: Figures,
    /// How cost grows.
    pub growth: Vec<Curve>,
}

/// What it was measured on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// How many of them.
    pub processors: usize,
    /// What else ran: the load of the last minute before the run.
    pub load_before: String,
}

impl Machine {
    /// This one.
    pub fn this() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Self {
            processor: name.map_or("unknown", |(_, name)| name).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            load_before: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        }
    }
}

impl Report {
    /// As a table.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let machine = &self.machine;
        line(
            &mut text,
            format_args!(
                "{} × {}, load before {}",
                machine.processors, machine.processor, machine.load_before
            ),
        );
        line(
            &mut text,
            format_args!(
                "{:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>6}  calls",
                "", "init ms", "init cpu", "first ms", "cpu/event", "p50 ms", "p99 ms", "MiB", "units"
            ),
        );
        for (name, of) in &self.subjects {
            let calls: Vec<_> =
                of.calls_per_event.iter().map(|(name, count)| format!("{name} {count:.2}")).collect();
            line(
                &mut text,
                format_args!(
                    "{name:<24} {:>9.2} {:>9.2} {:>9.2} {:>9.3} {:>9.3} {:>9.3} {:>8.1} {:>6.2}  {}",
                    of.init_ms.least,
                    of.init_cpu_ms.least,
                    of.first_ms.least,
                    of.cpu_per_event_ms,
                    of.wall_p50_ms,
                    of.wall_p99_ms,
                    of.memory_mib,
                    of.write_units_per_event,
                    calls.join(", ")
                ),
            );
        }
        self.others(&mut text);
        text
    }

    /// What is not a row of the table, a line each.
    fn others(&self, text: &mut String) {
        for (name, kilobytes) in &self.zipped_kb {
            line(text, format_args!("{name}: {kilobytes} KB zipped"));
        }
        match &self.slow {
            Ok(slow) => line(
                text,
                format_args!(
                    "cold start to first answer at {} MB: {:.0} ms with the share throughout, {:.0} ms with a whole processor while it starts (medians)",
                    slow.megabytes, slow.all_slow_ms.median, slow.slow_after_init_ms.median
                ),
            ),
            Err(why) => line(text, format_args!("no cold start at a small share: {why}")),
        }
        for (processes, rate) in &self.per_second {
            line(text, format_args!("{processes} process(es): {rate:.0} deliveries a second"));
        }
        for (pairs, rate) in &self.whole_per_second {
            line(
                text,
                format_args!("{pairs} pair(s): {rate:.0} events a second, from the delivery to the effect"),
            );
        }
        line(
            text,
            format_args!(
                "ingest on an emulator of AWS: {:.3} ms of a processor per event, {:.2} ms to the answer (p99 {:.2} ms)",
                self.emulated.cpu_per_event_ms, self.emulated.wall_p50_ms, self.emulated.wall_p99_ms
            ),
        );
        for curve in &self.growth {
            let points: Vec<_> = curve.points.iter().map(|(x, y)| format!("{x} → {y:.3}")).collect();
            let exponent = curve.exponent.map_or_else(|| "-".to_owned(), |exponent| format!("{exponent:.2}"));
            line(
                text,
                format_args!(
                    "{}, by {}: {} (exponent {exponent})",
                    curve.cost,
                    curve.cause,
                    points.join(", ")
                ),
            );
        }
    }
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    // A text takes whatever is written to it.
    let _ = writeln!(text, "{what}");
}
