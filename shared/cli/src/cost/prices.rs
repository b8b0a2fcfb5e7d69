//! The price list: data with a date and sources.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;

/// The list that comes with the command.
const BUILT_IN: &str = include_str!("prices.toml");

/// What AWS charges in one region, in dollars.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prices {
    /// When they were looked up.
    pub date: String,
    /// Where they hold.
    pub region: String,
    /// For which processors.
    pub architecture: String,
    /// API Gateway.
    pub api_gateway: Requests,
    /// Lambda.
    pub lambda: Lambda,
    /// DynamoDB.
    pub dynamodb: Dynamodb,
    /// SQS.
    pub sqs: Requests,
    /// CloudWatch Logs.
    pub logs: Logs,
    /// CloudWatch's metrics, alarms and dashboards.
    pub cloudwatch: Cloudwatch,
}

/// A service that charges requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requests {
    source: String,
    /// A million requests.
    pub million_requests: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lambda {
    source: String,
    /// A million invocations.
    pub million_requests: f64,
    /// A million seconds with one GB of memory.
    pub million_gb_seconds: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dynamodb {
    source: String,
    /// A million write units.
    pub million_write_units: f64,
    /// A million read units.
    pub million_read_units: f64,
    /// One GB kept for a month.
    pub gb_month: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Logs {
    source: String,
    /// One GB taken in.
    pub gb: f64,
    /// One GB kept for a month.
    pub gb_month: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cloudwatch {
    source: String,
    /// One metric of our own for a month.
    pub metric_month: f64,
    /// One metric that an alarm watches, for a month.
    pub alarm_month: f64,
    /// One dashboard for a month.
    pub dashboard_month: f64,
}

impl Prices {
    /// The list in `file`, or else the one that comes with the command.
    ///
    /// # Errors
    /// It cannot be read, or a price is missing or none.
    pub(super) fn read(file: Option<&Path>) -> Result<Self> {
        let Some(path) = file else { return Self::parse(BUILT_IN, "the built-in prices") };
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        Self::parse(&text, &name)
    }

    fn parse(text: &str, name: &str) -> Result<Self> {
        let prices: Self = toml::from_str(text).with_context(|| format!("{name} is no list of prices"))?;
        let sound = prices.all().into_iter().all(|price| price.is_finite() && price >= 0.0);
        ensure!(sound, "{name} has a price that is below zero or no number");
        Ok(prices)
    }

    fn all(&self) -> [f64; 12] {
        [
            self.api_gateway.million_requests,
            self.lambda.million_requests,
            self.lambda.million_gb_seconds,
            self.dynamodb.million_write_units,
            self.dynamodb.million_read_units,
            self.dynamodb.gb_month,
            self.sqs.million_requests,
            self.logs.gb,
            self.logs.gb_month,
            self.cloudwatch.metric_month,
            self.cloudwatch.alarm_month,
            self.cloudwatch.dashboard_month,
        ]
    }

    /// Where the prices can be looked up.
    pub(super) fn sources(&self) -> [&str; 6] {
        [
            &self.api_gateway.source,
            &self.lambda.source,
            &self.dynamodb.source,
            &self.sqs.source,
            &self.logs.source,
            &self.cloudwatch.source,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_list_is_complete_and_dated() {
        let prices = Prices::read(None).unwrap();
        assert_eq!((prices.region.as_str(), &prices.date[..3]), ("us-east-1", "202"));
        assert!(prices.sources().iter().all(|source| source.starts_with("https://aws.amazon.com/")));
    }

    #[test]
    fn a_list_that_lacks_a_price_or_has_none_that_can_be_is_refused() {
        let lacks = BUILT_IN.replace("gb = 0.50", "");
        let error = format!("{:#}", Prices::parse(&lacks, "mine.toml").unwrap_err());
        assert!(error.contains("mine.toml") && error.contains("gb"), "{error}");
        let below = BUILT_IN.replace("gb = 0.50", "gb = -0.50");
        assert!(Prices::parse(&below, "mine.toml").is_err());
        assert!(Prices::parse(&BUILT_IN.replace("gb = 0.50", "gb = nan"), "mine.toml").is_err());
    }
}
