//! What the functions emit, as a table of names and sets of dimensions: the
//! list in code, which is the one in `docs/metrics.md`, too.

use sekali_aws::metric::Metric;
use serde_json::Value;
use std::collections::BTreeMap;

pub use sekali_aws::metric::NAMESPACE;

/// The metrics of the list.
pub struct Listed(BTreeMap<&'static str, Vec<Vec<&'static str>>>);

impl Listed {
    /// What is emitted.
    pub fn of_the_code() -> Self {
        let sets = |metric: &Metric| {
            let besides = metric.sets().iter();
            let named = besides.map(|set| set.iter().map(|dimension| dimension.as_str()).collect());
            std::iter::once(Vec::new()).chain(named).collect()
        };
        Self(Metric::ALL.iter().map(|metric| (metric.name(), sets(metric))).collect())
    }

    /// Says whether a metric is emitted under these dimensions, `Stage` among them.
    pub fn has(&self, name: &str, dimensions: &[String]) -> Result<(), String> {
        let sets = self.0.get(name).ok_or_else(|| format!("no function emits {name}"))?;
        let mut besides: Vec<_> = dimensions.to_vec();
        let staged = besides.iter().position(|dimension| dimension == "Stage").map(|at| besides.remove(at));
        match staged.is_some() && sets.iter().any(|set| *set == besides) {
            true => Ok(()),
            false => Err(format!("{name} is not emitted by {dimensions:?}")),
        }
    }
}

/// Says whether a line of a widget names what exists: `[namespace, name,
/// dimension, value, ..., {rendering}]`, or one object with an expression.
pub fn exists(listed: &Listed, metric: &Value) -> Result<(), String> {
    let parts = metric.as_array().ok_or("no list")?;
    if let Some(expression) = parts[0]["expression"].as_str() {
        return searched(listed, expression);
    }
    if parts[0] != NAMESPACE {
        let known = parts[0].as_str().is_some_and(|namespace| namespace.starts_with("AWS/"));
        return if known { Ok(()) } else { Err(format!("{} is nobody's", parts[0])) };
    }
    let texts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
    let names: Vec<String> = texts[2..].iter().step_by(2).map(|name| (*name).to_owned()).collect();
    listed.has(texts[1], &names)
}

/// `SEARCH('{Sekali,Stage,...} MetricName="..." ...', ...)`.
fn searched(listed: &Listed, expression: &str) -> Result<(), String> {
    let Some(inside) = expression.strip_prefix("SEARCH('{") else { return Ok(()) };
    let (schema, rest) = inside.split_once('}').ok_or("a search without an end")?;
    let mut schema = schema.split(',').map(str::to_owned);
    if schema.next().as_deref() != Some(NAMESPACE) {
        return Err(format!("{expression} searches elsewhere"));
    }
    let name = rest.split('"').nth(1).ok_or("a search for no metric")?;
    listed.has(name, &schema.collect::<Vec<_>>())
}

/// The fields of the log that a saved query reads: the dotted names in
/// backticks. `@` begins those of CloudWatch itself.
pub fn queried(query: &str) -> Vec<&str> {
    query.split('`').skip(1).step_by(2).collect()
}
