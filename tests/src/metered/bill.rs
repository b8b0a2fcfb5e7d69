//! What was called and what it costs.

use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Sub;

/// What one kind of call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Charge {
    /// How often it was called.
    pub calls: u64,
    /// Write units, those of the index among them.
    pub write_units: u64,
    /// Read units; of an eventually consistent read half of them, rounded up.
    pub read_units: u64,
}

impl Charge {
    /// One call.
    pub(super) const CALL: Self = Self { calls: 1, write_units: 0, read_units: 0 };

    pub(super) fn writing(write_units: u64) -> Self {
        Self { write_units, ..Self::CALL }
    }

    pub(super) fn reading(read_units: u64) -> Self {
        Self { read_units, ..Self::CALL }
    }
}

/// All charges, by operation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Bill(BTreeMap<String, Charge>);

impl Bill {
    pub(super) fn add(&mut self, operation: &str, charge: Charge) {
        let sum = self.0.entry(operation.to_owned()).or_default();
        sum.calls += charge.calls;
        sum.write_units += charge.write_units;
        sum.read_units += charge.read_units;
    }

    /// What one operation cost.
    pub fn of(&self, operation: &str) -> Charge {
        self.0.get(operation).copied().unwrap_or_default()
    }

    /// What everything cost.
    pub fn total(&self) -> Charge {
        self.0.values().fold(Charge::default(), |sum, charge| Charge {
            calls: sum.calls + charge.calls,
            write_units: sum.write_units + charge.write_units,
            read_units: sum.read_units + charge.read_units,
        })
    }

    /// How often each operation was called.
    pub fn calls(&self) -> BTreeMap<&str, u64> {
        self.0.iter().map(|(operation, charge)| (operation.as_str(), charge.calls)).collect()
    }
}

/// What was added since an earlier bill.
impl Sub for Bill {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let since = self.0.into_iter().map(|(operation, charge)| {
            let before = earlier.of(&operation);
            let charge = Charge {
                calls: charge.calls - before.calls,
                write_units: charge.write_units - before.write_units,
                read_units: charge.read_units - before.read_units,
            };
            (operation, charge)
        });
        Self(since.filter(|(_, charge)| *charge != Charge::default()).collect())
    }
}
