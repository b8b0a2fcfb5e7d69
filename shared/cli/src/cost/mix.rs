//! From a mix of deliveries to what is used, and from that to dollars. Pure
//! arithmetic over what was counted.

use super::counted::{Counted, Step, StoredPayload};
use super::prices::Prices;

/// API Gateway meters a request per started so many bytes.
const GATEWAY_METER: u64 = 512 * 1_024;

/// What Lambda itself writes about an invocation at INFO: three lines of JSON,
/// in bytes. At WARN, as the template has it, it writes none.
const PLATFORM_LINES: f64 = 600.0;

/// What CloudWatch adds to each line, in bytes.
const BESIDE_LINE: f64 = 26.0;

/// DynamoDB adds so much to an item, in bytes.
const BESIDE_ITEM: f64 = 100.0;

const GB: f64 = 1_000_000_000.0;
const GIB: f64 = 1_073_741_824.0;
const DAYS_OF_A_MONTH: f64 = 365.0 / 12.0;

/// What arrives, and what becomes of it. Shares are between 0 and 1.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    /// How many deliveries.
    pub deliveries: f64,
    /// The share of them that repeats a known event.
    pub duplicates: f64,
    /// A body as it arrives, in bytes.
    pub body: u64,
    /// A body as it is stored, in bytes.
    pub stored: u64,
    /// The share of events that move a resource and have an effect.
    pub effects: f64,
    /// The share of events that have an effect without a resource.
    pub effects_alone: f64,
    /// The share of events that only move a resource.
    pub statuses: f64,
    /// Messages that one invocation of the processor gets, on average.
    pub batch: f64,
    /// Memory of a function, in GB.
    pub memory: f64,
    /// How long ingest takes, in seconds.
    pub ingest: f64,
    /// How long the processor takes without the call, in seconds.
    pub processor: f64,
    /// How long the call to the destination takes, in seconds.
    pub call: f64,
    /// Lines that a function writes for a delivery or event.
    pub log_lines: f64,
    /// Bytes of such a line.
    pub log_bytes: f64,
    /// Whether Lambda writes lines of its own about each invocation.
    pub platform_lines: bool,
    /// How many days everything is kept.
    pub kept_days: f64,
    /// How many days the logs are kept.
    pub logs_kept_days: f64,
}

/// What is used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    /// Requests that API Gateway meters.
    pub gateway_requests: f64,
    /// Invocations.
    pub invocations: f64,
    /// Seconds with one GB of memory.
    pub gb_seconds: f64,
    /// Write units.
    pub write_units: f64,
    /// Read units.
    pub read_units: f64,
    /// GB of items, kept for a month.
    pub table_gb_months: f64,
    /// Requests to SQS.
    pub queue_requests: f64,
    /// GB of log.
    pub log_gb: f64,
    /// GB of log, kept for a month.
    pub log_gb_months: f64,
}

/// Dollars, by service.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bill {
    /// API Gateway.
    pub api_gateway: f64,
    /// Lambda.
    pub lambda: f64,
    /// DynamoDB.
    pub dynamodb: f64,
    /// SQS.
    pub sqs: f64,
    /// CloudWatch Logs.
    pub logs: f64,
}

impl Mix {
    fn events(&self) -> f64 {
        self.deliveries * (1.0 - self.duplicates)
    }

    /// How often each step is taken.
    fn steps(&self) -> [(Step, f64); 6] {
        let events = self.events();
        let no_rule = (1.0 - self.effects - self.effects_alone - self.statuses).max(0.0);
        [
            (Step::New, events),
            (Step::Repeated, self.deliveries - events),
            (Step::Status, events * self.statuses),
            (Step::Effect, events * self.effects),
            (Step::EffectAlone, events * self.effects_alone),
            (Step::NoRule, events * no_rule),
        ]
    }

    /// What Lambda itself writes about an invocation, in bytes.
    fn platform_bytes(&self) -> f64 {
        if self.platform_lines { PLATFORM_LINES + 3.0 * BESIDE_LINE } else { 0.0 }
    }

    fn payload(&self) -> StoredPayload {
        StoredPayload { body: self.stored }
    }

    /// What the receiver uses.
    pub(super) fn usage(&self) -> Usage {
        let mut tables = Usage::default();
        let (mut sent, mut stored) = (0.0, 0.0);
        for (step, times) in self.steps() {
            let Counted { write_units, read_units, sent: messages, .. } = step.counted(self.payload());
            tables.write_units += times * float(write_units);
            tables.read_units += times * float(read_units);
            sent += times * float(messages);
            let items = if step.stored() > 0 { BESIDE_ITEM } else { 0.0 };
            stored += times * (float(step.stored()) + items);
        }
        stored += self.events() * (float(self.payload().bytes()) + BESIDE_ITEM);
        let calls = self.effects + self.effects_alone;
        Usage {
            write_units: tables.write_units,
            read_units: tables.read_units,
            ..self.around(sent, calls, stored, self.log_lines)
        }
    }

    /// What nobody on these services can do without: each delivery put once,
    /// sent once and taken once, without knowing what was there before. It
    /// writes no log of its own, and calls as often.
    pub(super) fn floor(&self) -> Usage {
        let stored = self.deliveries * (float(self.payload().bytes()) + BESIDE_ITEM);
        let calls = (self.effects + self.effects_alone) * self.events() / self.deliveries;
        Usage {
            write_units: self.deliveries * float(self.payload().write_units()),
            ..self.around(self.deliveries, calls, stored, 0.0)
        }
    }

    /// All but the units: with so many messages, of which this share leads to
    /// a call, so many bytes stored and so many lines of log for each.
    fn around(&self, sent: f64, calls: f64, stored: f64, lines: f64) -> Usage {
        let batches = sent / self.batch;
        // One call of a batch is enough to wait for it.
        let waits = 1.0 - (1.0 - calls).powf(self.batch);
        let seconds = self.deliveries * self.ingest + batches * (self.processor + waits * self.call);
        let invocations = self.deliveries + batches;
        let own_lines = (self.deliveries + sent) * lines * (self.log_bytes + BESIDE_LINE);
        let log_gb = (own_lines + invocations * self.platform_bytes()) / GB;
        Usage {
            gateway_requests: self.deliveries * float(self.body.div_ceil(GATEWAY_METER).max(1)),
            invocations,
            gb_seconds: seconds * self.memory,
            table_gb_months: stored / GIB * self.kept_days / DAYS_OF_A_MONTH,
            queue_requests: sent + 2.0 * batches,
            log_gb,
            log_gb_months: log_gb * self.logs_kept_days / DAYS_OF_A_MONTH,
            ..Usage::default()
        }
    }
}

impl Usage {
    /// What it costs.
    pub(super) fn bill(&self, prices: &Prices) -> Bill {
        let millions = |many: f64, price: f64| many / 1_000_000.0 * price;
        Bill {
            api_gateway: millions(self.gateway_requests, prices.api_gateway.million_requests),
            lambda: millions(self.invocations, prices.lambda.million_requests)
                + millions(self.gb_seconds, prices.lambda.million_gb_seconds),
            dynamodb: millions(self.write_units, prices.dynamodb.million_write_units)
                + millions(self.read_units, prices.dynamodb.million_read_units)
                + self.table_gb_months * prices.dynamodb.gb_month,
            sqs: millions(self.queue_requests, prices.sqs.million_requests),
            logs: self.log_gb * prices.logs.gb + self.log_gb_months * prices.logs.gb_month,
        }
    }
}

impl Bill {
    /// Each service and its dollars.
    pub(super) fn services(&self) -> [(&'static str, f64); 5] {
        [
            ("API Gateway", self.api_gateway),
            ("Lambda", self.lambda),
            ("DynamoDB", self.dynamodb),
            ("SQS", self.sqs),
            ("CloudWatch Logs", self.logs),
        ]
    }

    /// All of it.
    pub(super) fn total(&self) -> f64 {
        self.services().iter().map(|(_, dollars)| dollars).sum()
    }
}

/// Counts here stay far below what a double holds exactly.
#[expect(clippy::cast_precision_loss, reason = "bytes and units of one item, below 2^53")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

/// What is used in a month though nothing arrives: the queue is polled and the
/// sweeper looks.
pub(super) fn standing(mix: &Mix) -> Usage {
    const MINUTES: f64 = DAYS_OF_A_MONTH * 24.0 * 60.0;
    /// Lambda keeps five long polls of 20 seconds open.
    const POLLS_A_MINUTE: f64 = 15.0;
    // For each shard: what is open and what is in doubt is asked for, and what
    // is failed, held and in doubt is counted.
    let queries = MINUTES * 5.0 * f64::from(sekali::ports::INDEX_SHARDS);
    let log_gb = MINUTES * mix.platform_bytes() / GB;
    Usage {
        queue_requests: MINUTES * POLLS_A_MINUTE,
        invocations: MINUTES,
        gb_seconds: MINUTES * mix.processor * mix.memory,
        // An index is read eventually: half a unit.
        read_units: queries / 2.0,
        log_gb,
        log_gb_months: log_gb * mix.logs_kept_days / DAYS_OF_A_MONTH,
        ..Usage::default()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::cost) fn mix() -> Mix {
        Mix {
            deliveries: 1_000_000.0,
            duplicates: 0.0,
            body: 1_800,
            stored: 1_800,
            effects: 1.0,
            effects_alone: 0.0,
            statuses: 0.0,
            batch: 1.0,
            memory: 0.5,
            ingest: 0.010,
            processor: 0.030,
            call: 0.100,
            log_lines: 1.0,
            log_bytes: 300.0,
            platform_lines: true,
            kept_days: 0.0,
            logs_kept_days: 0.0,
        }
    }

    fn units(mix: &Mix) -> f64 {
        mix.usage().write_units / mix.deliveries
    }

    #[test]
    fn a_mix_of_one_kind_costs_what_was_counted_of_it() {
        assert_eq!(units(&mix()), 13.0);
        assert_eq!(units(&Mix { effects: 0.0, statuses: 1.0, ..mix() }), 9.0);
        assert_eq!(units(&Mix { effects: 0.0, effects_alone: 1.0, ..mix() }), 11.0);
        assert_eq!(units(&Mix { effects: 0.0, ..mix() }), 6.0);
        assert_eq!(units(&Mix { duplicates: 1.0, ..mix() }), 4.0);
        assert_eq!(units(&Mix { duplicates: 0.5, ..mix() }), 8.5);
    }

    #[test]
    fn dollars_follow_from_what_is_used() {
        let bill = mix().usage().bill(&Prices::read(None).unwrap());
        let near = |dollars: f64, expected: f64| (dollars - expected).abs() < 0.005;
        assert!(near(bill.api_gateway, 1.0), "{bill:?}");
        // Two million invocations, and half a GB for 10 and 130 ms.
        assert!(near(bill.lambda, 0.4 + 0.5 * 0.140 * 13.3334), "{bill:?}");
        // 13 write units and 4 read units.
        assert!(near(bill.dynamodb, 13.0 * 0.625 + 4.0 * 0.125), "{bill:?}");
        // Sent, received, deleted.
        assert!(near(bill.sqs, 1.2), "{bill:?}");
        assert!(near(bill.logs, 2.0 * (326.0 + 678.0) / 1000.0 * 0.5), "{bill:?}");
        assert!(near(bill.total(), bill.services().iter().map(|(_, dollars)| dollars).sum()));
    }

    #[test]
    fn more_messages_in_a_batch_cost_less_and_what_is_kept_costs_more() {
        let prices = Prices::read(None).unwrap();
        let total = |mix: Mix| mix.usage().bill(&prices).total();
        assert!(total(Mix { batch: 10.0, ..mix() }) < total(mix()));
        assert!(total(Mix { kept_days: 30.0, ..mix() }) > total(mix()));
        assert!(total(Mix { body: 600_000, ..mix() }) > total(mix()));
        assert!(total(Mix { platform_lines: false, ..mix() }) < total(mix()));
    }

    #[test]
    fn the_floor_is_below_and_knows_no_duplicates() {
        let prices = Prices::read(None).unwrap();
        for mix in [mix(), Mix { effects: 0.0, ..mix() }, Mix { kept_days: 30.0, ..mix() }] {
            assert!(mix.floor().bill(&prices).total() < mix.usage().bill(&prices).total());
        }
        let all_repeated = Mix { duplicates: 1.0, ..mix() };
        assert_eq!(all_repeated.floor().queue_requests, 3_000_000.0);
        assert_eq!(all_repeated.usage().queue_requests, 0.0);
    }
}
