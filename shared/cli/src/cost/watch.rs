//! What it costs to watch the receiver for a month, whatever arrives: its own
//! metrics, the alarms and the dashboard.

use super::prices::Prices;

/// Metrics that the sweeper prints with each run, so that they exist all month:
/// `Sweeps`, `SweptSent`, `OldestOpen`, and `NeedsHuman` of all and by status.
const ALWAYS: f64 = 7.0;

/// Metrics of one endpoint that is busy, with a destination of its own: a name
/// with each set of dimensions is one. A metric is charged for the hours in
/// which it has values, so this is what an endpoint costs that is never quiet.
const OF_AN_ENDPOINT: f64 = 30.0;

/// Metrics that the alarms of the template watch: an alarm that calculates
/// with several is charged for each.
const WATCHED: f64 = 27.0;

/// The alarms of the template, for people.
const ALARMS: usize = 18;

/// A month of watching, in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Watch {
    /// The sweeper's metrics.
    pub always: f64,
    /// The metrics of endpoints that are busy all month.
    pub endpoints: f64,
    /// The alarms.
    pub alarms: f64,
    /// The dashboard.
    pub dashboard: f64,
}

impl Watch {
    /// With so many endpoints.
    pub(super) fn of(endpoints: u16, prices: &Prices) -> Self {
        let price = &prices.cloudwatch;
        Self {
            always: ALWAYS * price.metric_month,
            endpoints: f64::from(endpoints) * OF_AN_ENDPOINT * price.metric_month,
            alarms: WATCHED * price.alarm_month,
            dashboard: price.dashboard_month,
        }
    }

    /// What each is for, in dollars, for people.
    pub(super) fn lines(&self, endpoints: u16) -> [(&'static str, f64, String); 4] {
        let busy = match endpoints {
            1 => "the endpoint is".to_owned(),
            many => format!("{many} endpoints are"),
        };
        [
            ("metrics, always", self.always, format!("{ALWAYS} of the sweeper")),
            ("metrics, at most", self.endpoints, format!("while {busy} busy, some {OF_AN_ENDPOINT} each")),
            ("alarms", self.alarms, format!("{ALARMS}, which watch {WATCHED} metrics")),
            ("dashboard", self.dashboard, "beyond the three that are free".to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = include_str!("../../../../infra/template.yaml");
    const METRICS: &str = include_str!("../../../../docs/metrics.md");

    #[test]
    fn the_alarms_and_what_they_watch_are_those_of_the_template() {
        let alarms = TEMPLATE.split("Type: AWS::CloudWatch::Alarm\n").skip(1);
        // The resources of the file lie two spaces deep, and the next begins there.
        let of_one = |text: &str| {
            let end = text
                .match_indices("\n  ")
                .find(|(at, _)| text[at + 3..].starts_with(|next: char| next.is_ascii_uppercase()))
                .map_or(text.len(), |(at, _)| at);
            text[..end].matches("MetricStat:").count().max(1)
        };
        let watched: Vec<usize> = alarms.map(of_one).collect();
        assert_eq!(watched.len(), ALARMS);
        assert_eq!(watched.iter().map(|&many| f64::from(u32::try_from(many).unwrap())).sum::<f64>(), WATCHED);
        assert_eq!(TEMPLATE.matches("Type: AWS::CloudWatch::Dashboard\n").count(), 1);
    }

    #[test]
    fn what_is_always_there_is_what_the_list_of_metrics_marks_so() {
        let always = METRICS.lines().filter(|line| line.starts_with("| `") && line.contains("*always*"));
        // `NeedsHuman` also has three statuses.
        assert_eq!(f64::from(u32::try_from(always.count()).unwrap()) + 3.0, ALWAYS);
    }
}
