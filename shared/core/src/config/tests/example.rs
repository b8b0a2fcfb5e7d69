//! The shape to aim at, whole, cut short and garbled.

use super::{PLAIN, problems, shown};
use crate::config::{check, explain, load};
use proptest::prelude::*;

/// The shape to aim at, as the design has it.
const EXAMPLE: &str = r#"[endpoint.stripe]                                # POST /webhooks/stripe
vendor = "stripe"
secrets = ["secretsmanager:prod/stripe-webhook"]
resource.payment = "/data/object/payment_intent" # kind = where this vendor keeps its key
[[endpoint.stripe.rule]]
type = ["checkout.session.completed", "checkout.session.async_payment_succeeded"]
when = { "/data/object/payment_status" = "paid" }
status = "paid"
action.pack = { order = "/data/object/metadata/order_id", amount = "/data/object/amount_total" }
late = "act"

[endpoint.replicate]                             # a second vendor of the same inner job would name the same action
vendor = "replicate"
secrets = ["secretsmanager:prod/replicate-webhook"]
resource.job = "/input/job"
[[endpoint.replicate.rule]]
type = "succeeded"
status = "completed"
action.finish = { job = "/input/job", ref = "/id" }
late = "skip"

[endpoint.github]                                # no resource, no states; no key: once per event
vendor = "github"
secrets = ["ssm:/prod/github-webhook"]
[[endpoint.github.rule]]
type = "push"
when = { "/ref" = "refs/heads/main" }
action.build = { repo = "/repository/full_name", commit = "/after" }

[resource.payment]
order = "time"
moves = ["pending -> paid -> refunded", "pending -> failed"]
[resource.job]
order = "rank"                                   # two vendors' clocks are not comparable
moves = ["queued -> processing -> completed", "queued -> failed", "processing -> failed"]

[action]
pack = { key = ["order"], to = "packing" }       # key names the action's own fields
finish = { key = ["job"], to = "jobs" }
build = { to = "builds" }

[destination]
packing = { http = "https://packing.example.com/tasks", secrets = ["secretsmanager:prod/packing"], honours_key_for = "24h", in_doubt = "retry" }
jobs = { function = "finish-job" }
builds = { sqs = "builds" }
"#;

#[test]
fn the_example_has_no_problem_and_may_be_run() {
    let replicate = [("vendors/replicate.toml", PLAIN)];
    let checked = check(("endpoints.toml", EXAMPLE), &replicate);
    assert_eq!(shown(&checked.problems), [""; 0]);
    assert_eq!(load(("endpoints.toml", EXAMPLE), &replicate).unwrap().endpoints.len(), 3);
}

#[test]
fn each_rule_is_explained_in_a_sentence() {
    let checked = check(("endpoints.toml", EXAMPLE), &[("vendors/replicate.toml", PLAIN)]);
    let sentences = explain(&checked.config.unwrap());
    let shown: Vec<_> =
        sentences.iter().map(|sentence| (sentence.place.line, sentence.text.as_str())).collect();
    assert_eq!(
        shown,
        [
            (
                25,
                "When github sends `push` to github and /ref is \"refs/heads/main\", builds is asked to build \
                 with repo from /repository/full_name and commit from /after, once for each event."
            ),
            (
                16,
                "When replicate sends `succeeded` to replicate, the job that /input/job names becomes completed and \
                 jobs is asked to finish with job from /input/job and ref from /id, once for each job; \
                 if the event is late, it is ignored."
            ),
            (
                5,
                "When stripe sends `checkout.session.completed` or `checkout.session.async_payment_succeeded` to stripe \
                 and /data/object/payment_status is \"paid\", the payment that /data/object/payment_intent names \
                 becomes paid and packing is asked to pack with order from /data/object/metadata/order_id and \
                 amount from /data/object/amount_total, once for each order; \
                 if the event is late, the action is asked for all the same."
            ),
        ]
    );
}

proptest! {
    #[test]
    fn no_file_makes_the_reader_panic(
        edits in prop::collection::vec((0..EXAMPLE.len(), 0..EXAMPLE.len(), 0..40_usize), 1..6),
        noise in "[\\[\\]{}=\"',.# \n0-9a-zé-]{0,4}",
    ) {
        let mut text = EXAMPLE.as_bytes().to_vec();
        for (at, from, length) in edits {
            let piece = EXAMPLE.as_bytes()[from..(from + length).min(EXAMPLE.len())].to_vec();
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, piece.into_iter().chain(noise.bytes()));
        }
        let text = String::from_utf8_lossy(&text);
        let checked = check(("endpoints.toml", &text), &[]);
        for problem in &checked.problems {
            prop_assert!(problem.place.line >= 1 && problem.place.column >= 1, "{problem}");
            prop_assert!(problem.place.line <= text.lines().count() + 1, "{problem}");
        }
        prop_assert_eq!(checked.config.is_some(), checked.problems.is_empty());
    }

    #[test]
    fn a_file_cut_short_never_claims_that_what_was_cut_is_undeclared(at in 0..EXAMPLE.len()) {
        if let Some(text) = EXAMPLE.get(..at) {
            let (_, errors) = toml::de::DeTable::parse_recoverable(text);
            let found = problems(text);
            if !errors.is_empty() {
                prop_assert!(!found.iter().any(|problem| problem.contains("is not declared")), "{:?}", found);
            }
        }
    }
}
