//! The bill, for people and for machines.

use super::counted::{Step, StoredPayload};
use super::mix::{Bill, Mix, Usage, standing};
use super::prices::Prices;
use super::watch::Watch;
use crate::say::say;
use serde_json::{Map, Value, json};

/// A mix and what is charged for it.
#[derive(Debug)]
pub(super) struct Report {
    /// What arrives.
    pub mix: Mix,
    /// What is charged.
    pub prices: Prices,
    /// How many endpoints are busy.
    pub endpoints: u16,
}

impl Report {
    fn bill(&self) -> Bill {
        self.mix.usage().bill(&self.prices)
    }

    fn floor(&self) -> Bill {
        self.mix.floor().bill(&self.prices)
    }

    /// A table and what it rests on.
    pub(super) fn say(&self) {
        let (mix, prices, usage) = (&self.mix, &self.prices, self.mix.usage());
        say(format_args!(
            "{} deliveries of {} bytes, {} % of them repeated; of the events {} % with an effect, {} % with a status alone",
            mix.deliveries,
            mix.body,
            share(mix.duplicates),
            share(mix.effects + mix.effects_alone),
            share(mix.statuses)
        ));
        say(format_args!("prices of {}, {}, {}\n", prices.date, prices.region, prices.architecture));
        let (bill, floor) = (self.bill(), self.floor());
        say(format_args!("{:<16} {:>9} {:>6}  {:>9}  used", "service", "dollars", "share", "the floor"));
        let used = used(&usage);
        for (((name, dollars), (_, least)), used) in bill.services().iter().zip(floor.services()).zip(used) {
            let share = share(dollars / bill.total());
            say(format_args!("{name:<16} {dollars:>9.2} {share:>5}%  {least:>9.2}  {used}"));
        }
        let (all, least) = (bill.total(), floor.total());
        say(format_args!("{:<16} {all:>9.2} {:>6}  {least:>9.2}", "together", ""));
        say(format_args!("{:<16} {:>9.2}", "for a million", all / mix.deliveries * 1_000_000.0));
        say(
            "\nthe floor puts every delivery once, sends it once and takes it once, and knows nothing of repeats, states and effects",
        );
        let payload = StoredPayload { body: mix.stored };
        let units = |step: Step| step.counted(payload).write_units;
        let new = units(Step::New);
        say(format_args!(
            "write units: with an effect {} ({} without a resource), with a status alone {}, without a rule {}, repeated {}",
            new + units(Step::Effect),
            new + units(Step::EffectAlone),
            new + units(Step::Status),
            new + units(Step::NoRule),
            units(Step::Repeated)
        ));
        let standing = standing(mix).bill(prices).total();
        say(format_args!("\n{:<16} {:>9}", "besides, a month", "dollars"));
        say(format_args!(
            "{:<16} {standing:>9.2}  whatever arrives: the queue is polled, and the sweeper looks every minute",
            "polling, sweeper"
        ));
        for (name, dollars, what) in Watch::of(self.endpoints, prices).lines(self.endpoints) {
            say(format_args!("{name:<16} {dollars:>9.2}  {what}"));
        }
    }

    /// One object.
    pub(super) fn json(&self) -> Value {
        let payload = StoredPayload { body: self.mix.stored };
        let counted: Map<String, Value> = Step::ALL
            .iter()
            .map(|step| {
                let counted = step.counted(payload);
                let value = json!({
                    "write_units": counted.write_units,
                    "read_units": counted.read_units,
                    "store_calls": counted.store_calls,
                    "sent": counted.sent,
                });
                (name(*step).to_owned(), value)
            })
            .collect();
        let (bill, usage) = (self.bill(), self.mix.usage());
        let watch = Watch::of(self.endpoints, &self.prices);
        json!({
            "deliveries": self.mix.deliveries,
            "prices": {
                "date": self.prices.date,
                "region": self.prices.region,
                "architecture": self.prices.architecture,
                "sources": self.prices.sources(),
            },
            "dollars": dollars(&bill),
            "dollars_per_million": bill.total() / self.mix.deliveries * 1_000_000.0,
            "floor": dollars(&self.floor()),
            "standing_dollars_per_month": standing(&self.mix).bill(&self.prices).total(),
            "watching_dollars_per_month": {
                "metrics_always": watch.always,
                "metrics_at_most": watch.endpoints,
                "alarms": watch.alarms,
                "dashboard": watch.dashboard,
            },
            "used": {
                "gateway_requests": usage.gateway_requests,
                "invocations": usage.invocations,
                "gb_seconds": usage.gb_seconds,
                "write_units": usage.write_units,
                "read_units": usage.read_units,
                "table_gb_months": usage.table_gb_months,
                "queue_requests": usage.queue_requests,
                "log_gb": usage.log_gb,
                "log_gb_months": usage.log_gb_months,
            },
            "counted": counted,
        })
    }
}

fn name(step: Step) -> &'static str {
    match step {
        Step::New => "new",
        Step::Repeated => "repeated",
        Step::Status => "status",
        Step::Effect => "effect",
        Step::EffectAlone => "effect_alone",
        Step::NoRule => "no_rule",
    }
}

fn dollars(bill: &Bill) -> Value {
    let services: Map<String, Value> = bill
        .services()
        .iter()
        .map(|(name, dollars)| {
            (
                name.to_lowercase().replace(' ', "_"),
                json!({ "dollars": dollars, "share": dollars / bill.total() }),
            )
        })
        .chain([("together".to_owned(), json!({ "dollars": bill.total(), "share": 1.0 }))])
        .collect();
    Value::Object(services)
}

/// A share in percent, rounded for people.
fn share(of: f64) -> f64 {
    (of * 1_000.0).round() / 10.0
}

fn used(usage: &Usage) -> [String; 5] {
    let many = |count: f64| match count {
        count if count >= 1_000_000.0 => format!("{:.1} million", count / 1_000_000.0),
        count if count >= 10_000.0 => format!("{:.0} thousand", count / 1_000.0),
        count => format!("{count:.0}"),
    };
    [
        format!("{} requests", many(usage.gateway_requests)),
        format!("{} invocations, {} GB-seconds", many(usage.invocations), many(usage.gb_seconds)),
        format!(
            "{} write units, {} read units, {:.1} GB for a month",
            many(usage.write_units),
            many(usage.read_units),
            usage.table_gb_months
        ),
        format!("{} requests", many(usage.queue_requests)),
        format!("{:.1} GB", usage.log_gb),
    ]
}
