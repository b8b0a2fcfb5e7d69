//! What the template tells the functions: how long messages are kept (INV-9),
//! and whether that is what the queues do; how long the processor may take.

use super::template::Template;
use saphyr::YamlOwned;
use sekali::config::{Remark, Retentions, Severity};
use sekali::problem::{Place, Problem};
use std::time::Duration;

/// The variables by which the functions are told.
const QUEUE: &str = "SEKALI_QUEUE_RETENTION_S";
const DLQ: &str = "SEKALI_DLQ_RETENTION_S";
const INVOCATION: &str = "SEKALI_PROCESSOR_TIMEOUT_S";

/// As the template that comes with Sekali keeps messages, for a configuration
/// without a template beside it.
pub(super) const SHIPPED: Retentions =
    Retentions { queue: Duration::from_secs(4 * 86_400), dlq: Duration::from_secs(14 * 86_400) };

/// How long one invocation of its processor may last.
pub(super) const SHIPPED_INVOCATION: Duration = Duration::from_secs(60);

/// How long messages are kept, or what is wrong with how the template says it.
pub(super) fn retentions(template: &Template) -> Result<Retentions, Vec<Remark>> {
    let (queue, dlq) = match (told(template, QUEUE), told(template, DLQ)) {
        (Ok(queue), Ok(dlq)) => (queue, dlq),
        (queue, dlq) => return Err(queue.err().into_iter().chain(dlq.err()).collect()),
    };
    let wrong = differing(template, queue, dlq);
    match wrong.is_empty() {
        true => Ok(Retentions { queue: Duration::from_secs(queue), dlq: Duration::from_secs(dlq) }),
        false => Err(wrong),
    }
}

/// How long one invocation of the processor may last.
pub(super) fn invocation(template: &Template) -> Result<Duration, Remark> {
    told(template, INVOCATION).map(Duration::from_secs)
}

/// What the functions are told, in seconds.
fn told(template: &Template, variable: &str) -> Result<u64, Remark> {
    let node = template.at(&["Globals", "Function", "Environment", "Variables", variable]);
    let seconds = node.and_then(|node| template.text(node)).and_then(|text| text.parse().ok());
    seconds.ok_or_else(|| {
        let message = format!("the template does not tell the functions {variable} as a number of seconds");
        problem(template, message, "pass it in Globals.Function.Environment")
    })
}

/// Queues that keep messages for longer than the functions are told. The one
/// that another moves its messages to is the dead-letter queue.
fn differing(template: &Template, queue: u64, dlq: u64) -> Vec<Remark> {
    let queues: Vec<(&str, &YamlOwned)> = template
        .resources()
        .filter(|(_, resource)| {
            super::template::at(resource, &["Type"]).and_then(YamlOwned::as_str) == Some("AWS::SQS::Queue")
        })
        .collect();
    let moves =
        |resource: &YamlOwned| super::template::at(resource, &["Properties", "RedrivePolicy"]).is_some();
    queues
        .iter()
        .filter_map(|(name, resource)| {
            let node = super::template::at(resource, &["Properties", "MessageRetentionPeriod"])?;
            let kept: u64 = template.text(node)?.parse().ok()?;
            let (told, variable) = if moves(resource) { (queue, QUEUE) } else { (dlq, DLQ) };
            (kept > told).then(|| {
                let message =
                    format!("the queue {name} keeps messages for {kept} s, and {variable} says {told} s");
                problem(
                    template,
                    message,
                    "let both refer to one parameter: dedup must outlive what waits there",
                )
            })
        })
        .collect()
}

fn problem(template: &Template, message: String, remedy: &str) -> Remark {
    let problem = Problem { place: Place::whole(&template.file), message, remedy: Some(remedy.to_owned()) };
    Remark { severity: Severity::Problem, problem }
}

#[cfg(test)]
mod tests {
    use super::super::template::tests::SHIPPED as TEMPLATE;
    use super::*;
    use std::collections::BTreeMap;

    fn of(text: &str, given: &[(&str, &str)]) -> Result<Retentions, Vec<Remark>> {
        let given: BTreeMap<_, _> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        retentions(&Template::parse("template.yaml", text, given).unwrap())
    }

    #[test]
    fn the_shipped_template_tells_the_functions_what_its_queues_do() {
        assert_eq!(of(TEMPLATE, &[]), Ok(SHIPPED));
        let template = Template::parse("template.yaml", TEMPLATE, BTreeMap::new()).unwrap();
        assert_eq!(invocation(&template), Ok(SHIPPED_INVOCATION));
        let given = of(TEMPLATE, &[("QueueRetentionSeconds", "86400")]).unwrap();
        assert_eq!(given.queue, Duration::from_secs(86_400));
    }

    #[test]
    fn a_queue_that_keeps_messages_longer_than_said_is_a_problem() {
        let longer = TEMPLATE
            .replace("MessageRetentionPeriod: !Ref DlqRetentionSeconds", "MessageRetentionPeriod: 1209601");
        let wrong = of(&longer, &[]).unwrap_err();
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].problem.message.contains("DeadLetters keeps messages for 1209601 s"), "{wrong:?}");
        let untold = TEMPLATE.replace("SEKALI_QUEUE_RETENTION_S", "OTHER");
        assert!(of(&untold, &[]).unwrap_err()[0].problem.message.contains("SEKALI_QUEUE_RETENTION_S"));
    }
}
