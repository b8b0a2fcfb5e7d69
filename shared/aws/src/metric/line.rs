//! Lines in CloudWatch's embedded metric format. A line has one value for each
//! dimension, so what happened under other values goes into a line of its own;
//! most invocations need one. Written by hand, since every delivery pays for it.

use super::list::{Dimension, Metric};
use sekali::time::UnixMillis;
use std::borrow::Cow;
use std::fmt::Write;

/// The namespace of every metric.
pub const NAMESPACE: &str = "Sekali";

/// CloudWatch takes no more values of one metric in one line.
const MOST_VALUES: usize = 100;

/// What one invocation prints.
#[derive(Debug, Default)]
pub struct Lines<'a>(Vec<Line<'a>>);

#[derive(Debug, Default)]
struct Line<'a> {
    dimensions: Vec<(Dimension, Cow<'a, str>)>,
    values: Vec<(Metric, Values)>,
}

/// Counts are added up; what is measured is kept value by value, so that
/// CloudWatch can tell percentiles.
#[derive(Debug)]
enum Values {
    Sum(u64),
    Each(Vec<f64>),
}

/// The values of the dimensions under which something happened.
pub type By<'b, 'a> = &'b [(Dimension, Cow<'a, str>)];

impl<'a> Lines<'a> {
    /// Counts something that happened `many` times; nought is left out.
    pub fn count(&mut self, metric: Metric, many: u64, by: By<'_, 'a>) {
        if many > 0 {
            self.state(metric, many, by);
        }
    }

    /// States a number, be it nought: somebody waits for it.
    pub fn state(&mut self, metric: Metric, many: u64, by: By<'_, 'a>) {
        let line = self.line(metric, by);
        match line.values.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, Values::Sum(sum))) => *sum = sum.saturating_add(many),
            _ => line.values.push((metric, Values::Sum(many))),
        }
    }

    /// Adds one value of something that is measured.
    pub fn measure(&mut self, metric: Metric, value: f64, by: By<'_, 'a>) {
        let line = self.line(metric, by);
        match line.values.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, Values::Each(values))) => values.push(value),
            _ => line.values.push((metric, Values::Each(vec![value]))),
        }
    }

    /// The line under whose dimensions this may stand, or a new one.
    fn line(&mut self, metric: Metric, by: By<'_, 'a>) -> &mut Line<'a> {
        let at = self.0.iter().position(|line| line.takes(metric, by));
        let at = at.unwrap_or_else(|| {
            self.0.push(Line::default());
            self.0.len() - 1
        });
        let line = &mut self.0[at];
        for (dimension, value) in by {
            if line.value(*dimension).is_none() {
                line.dimensions.push((*dimension, value.clone()));
            }
        }
        line
    }

    /// The lines, each with its end.
    pub fn print(&self, stage: &str, now: UnixMillis) -> String {
        let mut text = String::with_capacity(1024 * self.0.len());
        for line in &self.0 {
            line.print(&mut text, stage, now);
            text.push('\n');
        }
        text
    }
}

impl Line<'_> {
    fn value(&self, dimension: Dimension) -> Option<&str> {
        self.dimensions.iter().find(|(known, _)| *known == dimension).map(|(_, value)| value.as_ref())
    }

    /// Every dimension has this value here or none yet; and what stands here
    /// would not come under a dimension that it did not happen under.
    fn takes(&self, metric: Metric, by: By<'_, '_>) -> bool {
        let same = by.iter().all(|(dimension, value)| self.value(*dimension).is_none_or(|own| own == value));
        let full = self.values.iter().any(|(known, values)| {
            *known == metric && matches!(values, Values::Each(values) if values.len() >= MOST_VALUES)
        });
        let stated = self.values.iter().any(|(known, _)| *known == metric);
        let wider = stated && by.iter().any(|(dimension, _)| self.value(*dimension).is_none());
        same && !full && !wider
    }

    fn print(&self, text: &mut String, stage: &str, now: UnixMillis) {
        // Writing to a string does not fail.
        let _ = write!(text, r#"{{"_aws":{{"Timestamp":{},"CloudWatchMetrics":["#, now.0);
        let mut declared: Vec<Metric> = Vec::with_capacity(self.values.len());
        for (metric, _) in &self.values {
            if declared.contains(metric) {
                continue;
            }
            if !declared.is_empty() {
                text.push(',');
            }
            let alike = self.values.iter().map(|(other, _)| *other);
            let alike: Vec<Metric> = alike.filter(|other| other.sets() == metric.sets()).collect();
            self.declare(text, &alike);
            declared.extend(alike);
        }
        text.push_str("]}");
        member(text, "Stage");
        quote(text, stage);
        for (dimension, value) in &self.dimensions {
            member(text, dimension.as_str());
            quote(text, value);
        }
        for (metric, values) in &self.values {
            member(text, metric.name());
            values.print(text);
        }
        text.push('}');
    }

    /// Metrics with the same sets of dimensions. A set of which this line lacks
    /// a value is left out.
    fn declare(&self, text: &mut String, metrics: &[Metric]) {
        let _ = write!(text, r#"{{"Namespace":"{NAMESPACE}","Dimensions":[["Stage"]"#);
        for set in metrics.first().map(|metric| metric.sets()).unwrap_or_default() {
            if set.iter().any(|dimension| self.value(*dimension).is_none()) {
                continue;
            }
            text.push_str(r#",["Stage""#);
            for dimension in *set {
                let _ = write!(text, r#","{}""#, dimension.as_str());
            }
            text.push(']');
        }
        text.push_str(r#"],"Metrics":["#);
        for (number, metric) in metrics.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let (name, unit) = (metric.name(), metric.unit().as_str());
            let _ = write!(text, r#"{comma}{{"Name":"{name}","Unit":"{unit}"}}"#);
        }
        text.push_str("]}");
    }
}

impl Values {
    fn print(&self, text: &mut String) {
        let _ = match self {
            Self::Sum(sum) => write!(text, "{sum}"),
            Self::Each(values) => match values.as_slice() {
                [one] => write!(text, "{}", Thousandths(*one)),
                many => {
                    text.push('[');
                    for (number, value) in many.iter().enumerate() {
                        let comma = if number == 0 { "" } else { "," };
                        let _ = write!(text, "{comma}{}", Thousandths(*value));
                    }
                    write!(text, "]")
                }
            },
        };
    }
}

/// A measured number to its third place: beyond that it is noise.
struct Thousandths(f64);

impl std::fmt::Display for Thousandths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 1000.0).round() / 1000.0)
    }
}

fn member(text: &mut String, name: &str) {
    let _ = write!(text, r#","{name}":"#);
}

fn quote(text: &mut String, value: &str) {
    text.push_str(sekali::json::JsonText::from_text(value).as_json());
}
