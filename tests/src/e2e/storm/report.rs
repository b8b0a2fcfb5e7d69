//! What came of a storm, counted from the tables and from what the
//! destinations did.

use super::plan::{Plan, Told};
use super::play::Played;
use super::watch::Watch;
use crate::e2e::destination::Called;
use crate::e2e::driven::Driven;
use crate::e2e::kept::Item;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What came of a storm.
#[derive(Debug, Default)]
pub struct Report {
    /// Events that the vendors told of.
    pub events: usize,
    /// Deliveries that were sent.
    pub deliveries: usize,
    /// Processes that were killed.
    pub killed: usize,
    /// Acknowledged events without an end that people can see, and effects
    /// that are said to be done and are not.
    pub lost: Vec<String>,
    /// Effects that happened more than once, or under a key with other bytes.
    pub doubled: Vec<String>,
    /// What went back, or does not stand where its newest event says.
    pub regressed: Vec<String>,
    /// Events that a human must settle, with the evidence.
    pub in_doubt: Vec<String>,
    /// Anything else that may not be, e.g. a forged event that was stored.
    pub wrong: Vec<String>,
}

impl Report {
    /// Whether every promise was kept.
    pub fn is_good(&self) -> bool {
        [&self.lost, &self.doubled, &self.regressed, &self.wrong].iter().all(|found| found.is_empty())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("regressed", &self.regressed),
            ("wrong", &self.wrong),
            ("in doubt", &self.in_doubt),
        ];
        for (name, found) in parts {
            for line in found {
                writeln!(f, "  {name}: {line}")?;
            }
        }
        writeln!(f, "  {} processes killed on the way", self.killed)?;
        let Self { events, deliveries, lost, doubled, regressed, in_doubt, .. } = self;
        let (lost, doubled, regressed) = (lost.len(), doubled.len(), regressed.len());
        write!(
            f,
            "storm: {events} events, {deliveries} deliveries, lost {lost}, doubled {doubled}, \
             regressed {regressed}, in doubt {}{}",
            in_doubt.len(),
            if in_doubt.is_empty() { "" } else { " (listed)" },
        )
    }
}

/// Everything that is looked at once more at the end.
struct Judge<'a> {
    driven: &'a Driven,
    plan: &'a Plan,
    stored: BTreeMap<(String, String), Item>,
    acts: BTreeMap<(String, String), usize>,
    report: Report,
}

/// Judges a storm that has come to rest.
///
/// # Errors
/// The tables do not answer.
pub async fn judge(driven: &Driven, plan: &Plan, played: &Played, watch: Watch) -> Result<Report> {
    let stored = driven.kept.events().await?.into_iter();
    let named = |event: Item| ((event.text("endpoint").to_owned(), event.text("id").to_owned()), event);
    let report = Report {
        events: plan.events.len(),
        deliveries: played.deliveries,
        killed: played.killed,
        regressed: watch.regressed,
        ..Report::default()
    };
    let acts = acts(&driven.destination.all());
    let mut judge = Judge { driven, plan, stored: stored.map(named).collect(), acts, report };
    for place in &played.acknowledged {
        judge.event(&plan.events[*place]).await?;
    }
    judge.effects();
    judge.payments(&played.acknowledged).await?;
    judge.forgeries(played.believed);
    Ok(judge.report)
}

/// How often each destination acted for each order or commit.
fn acts(calls: &[Called]) -> BTreeMap<(String, String), usize> {
    let mut acts = BTreeMap::new();
    for call in calls.iter().filter(|call| call.acted) {
        let data = &call.json()["data"];
        let what = data["order"].as_str().or(data["commit"].as_str()).unwrap_or_default().to_owned();
        *acts.entry((call.destination.clone(), what)).or_default() += 1;
    }
    acts
}

impl Judge<'_> {
    /// One acknowledged event (INV-1, INV-4, INV-9).
    async fn event(&mut self, told: &Told) -> Result<()> {
        let name = format!("{} {}", told.endpoint, told.id);
        let Some(event) = self.stored.get(&(told.endpoint.to_owned(), told.id.clone())) else {
            self.report.lost.push(format!("{name} is not stored"));
            return Ok(());
        };
        let acts = told.effect.as_ref().map(|(destination, what)| {
            self.acts.get(&((*destination).to_owned(), what.clone())).copied().unwrap_or(0)
        });
        let refused = told.effect.as_ref().is_some_and(|(_, what)| self.plan.refused.contains(what));
        let reason = format!("{} {}", event.text("reason"), event.text("cause"));
        match (event.status(), acts) {
            ("processed", None | Some(1..)) => {}
            ("processed", Some(0)) => self.report.lost.push(format!("{name} is processed without an effect")),
            ("ignored", None) if event.text("reason") == "late" => {}
            ("failed", Some(0)) if refused => {}
            ("in_doubt", Some(acts)) => {
                let action = self.driven.kept.action_of(event).await?;
                let evidence =
                    format!("the action is {}, begun by {}", action.status(), action.text("begun_by"));
                self.report.in_doubt.push(format!("{name}: {reason}; {evidence}; it happened {acts} ×"));
            }
            (status, acts) => {
                self.report.lost.push(format!("{name} is {status} ({reason}), with {acts:?} effects"));
            }
        }
        if matches!(event.status(), "failed" | "held" | "in_doubt") {
            let payload = self.driven.kept.payload(event).await?;
            let kept = payload.as_ref().is_some_and(|payload| !payload.has("expires_at"));
            if event.has("expires_at") || !kept {
                self.report.wrong.push(format!("{name} needs a human and may expire"));
            }
        }
        Ok(())
    }

    /// INV-2: no effect more than once, and none that nobody asked for.
    fn effects(&mut self) {
        let wanted: BTreeSet<_> = self.plan.events.iter().filter_map(|told| told.effect.as_ref()).collect();
        for ((destination, what), acts) in &self.acts {
            if *acts > 1 {
                self.report.doubled.push(format!("{what} at {destination} happened {acts} ×"));
            }
            if !wanted.iter().any(|(to, wanted)| to == destination && wanted == what) {
                self.report.wrong.push(format!("nobody asked for {what} at {destination}"));
            }
        }
        if let Err(other_bytes) = self.driven.destination.check_keys() {
            self.report.doubled.push(other_bytes.to_string());
        }
    }

    /// INV-3: each payment stands where its newest acknowledged event says.
    async fn payments(&mut self, acknowledged: &BTreeSet<usize>) -> Result<()> {
        for (payment, said) in &self.plan.payments {
            let newest = said.iter().filter(|(_, _, event)| acknowledged.contains(event)).max();
            let Some((_, status, _)) = newest else { continue };
            let resource = self.driven.kept.resource("payment", payment).await?;
            let stands = resource.as_ref().map_or("nowhere", |resource| resource.status());
            if stands != *status {
                self.report.regressed.push(format!("{payment} stands at {stands}, not at {status}"));
            }
        }
        Ok(())
    }

    /// INV-10
    fn forgeries(&mut self, believed: usize) {
        if believed > 0 {
            self.report.wrong.push(format!("{believed} forged deliveries were taken"));
        }
        for (endpoint, id) in &self.plan.forged {
            if self.stored.contains_key(&((*endpoint).to_owned(), id.clone())) {
                self.report.wrong.push(format!("the forged event {id} of {endpoint} was stored"));
            }
        }
        let known: BTreeSet<_> =
            self.plan.events.iter().map(|told| (told.endpoint, told.id.as_str())).collect();
        let unknown =
            self.stored.keys().filter(|(endpoint, id)| !known.contains(&(endpoint.as_str(), id.as_str())));
        let lines: Vec<_> = unknown.map(|(endpoint, id)| format!("nobody sent {id} to {endpoint}")).collect();
        self.report.wrong.extend(lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_any_breach_is_bad() {
        let mut report = Report { events: 3, deliveries: 5, ..Report::default() };
        assert!(report.is_good());
        report.in_doubt.push("shop msg-1".to_owned());
        assert!(report.is_good());
        report.doubled.push("order-1".to_owned());
        assert!(!report.is_good());
        let text = report.to_string();
        let last = text.lines().last().unwrap();
        assert_eq!(
            last,
            "storm: 3 events, 5 deliveries, lost 0, doubled 1, regressed 0, in doubt 1 (listed)"
        );
    }
}
