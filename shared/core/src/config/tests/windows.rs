//! INV-9: dedup outlives every way an event can come back.

use super::{BASE, PLAIN};
use crate::config::{Config, MARGIN, Retentions, check, check_windows, load};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const RETENTIONS: Retentions = Retentions { queue: DAY.saturating_mul(4), dlq: DAY.saturating_mul(14) };

/// The base file with a vendor of these horizons, after one replacement.
fn config(horizons: &str, from: &str, to: &str) -> Config {
    let text = BASE.replace("\"stripe\"", "\"acme\"").replace("order = \"time\"", "order = \"rank\"");
    assert!(text.contains(from));
    let vendor = format!("{PLAIN}[retry]\n{horizons}\n");
    load(("endpoints.toml", &text.replace(from, to)), &[("vendors/acme.toml", &vendor)]).unwrap()
}

fn found(config: &Config) -> Vec<String> {
    check_windows(config, RETENTIONS).iter().map(ToString::to_string).collect()
}

const KNOWN: &str = "horizon = \"3d\"\nresend = \"30d\"";

#[test]
fn without_a_word_the_window_is_the_sum() {
    let config = config(KNOWN, "shop", "shop");
    let window = config.endpoints["shop"].dedup_window(RETENTIONS);
    assert_eq!(window, DAY * 30 + RETENTIONS.queue + RETENTIONS.dlq + MARGIN);
    assert_eq!(found(&config), [""; 0]);
}

#[test]
fn a_window_that_is_too_short_is_refused_with_the_sum() {
    let with = |window: &str| config(KNOWN, "secrets", &format!("dedup_window = \"{window}\"\nsecrets"));
    assert_eq!(
        found(&with("1175h")),
        [
            "endpoints.toml:3:16: dedup_window 1175h of endpoint `shop` is too short: an event could come back \
             unrecognised; max(vendor's retries 3d, vendor's manual resend 30d) + queue 4d + DLQ 14d + margin 1d = 49d \
             (dedup_window = \"49d\" or longer)"
        ]
    );
    assert_eq!(found(&with("49d")), [""; 0]);
}

#[test]
fn an_unknown_horizon_needs_the_window_said() {
    for (horizons, shown) in [
        ("horizon = \"3d\"", "max(vendor's retries 3d, vendor's manual resend unknown)"),
        ("resend = \"3d\"", "max(vendor's retries unknown, vendor's manual resend 3d)"),
    ] {
        let silent = config(horizons, "shop", "shop");
        let problems = found(&silent);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("endpoints.toml:1:11: endpoint `shop` must say its dedup_window"));
        assert!(problems[0].contains(&format!("{shown} + queue 4d + DLQ 14d + margin 1d = 22d at least")));
        // Whoever does not check gets a window that is rather too long.
        assert!(silent.endpoints["shop"].dedup_window(RETENTIONS) > DAY * 100);
        assert_eq!(found(&config(horizons, "secrets", "dedup_window = \"22d\"\nsecrets")), [""; 0]);
        assert_eq!(found(&config(horizons, "secrets", "dedup_window = \"21d\"\nsecrets")).len(), 1);
    }
}

#[test]
fn an_action_is_kept_as_long_as_an_event_that_names_it_can_come() {
    let with = |keep_for: &str| {
        config(KNOWN, "to = \"packing\"", &format!("to = \"packing\", keep_for = \"{keep_for}\""))
    };
    assert_eq!(
        found(&with("48d")),
        [
            "endpoints.toml:14:1: action `pack` is kept for 48d, but endpoint `shop` recognises events for 49d: \
             its effect could happen again (keep_for = \"49d\" or longer, or leave it out)"
        ]
    );
    assert_eq!(found(&with("49d")), [""; 0]);
}

#[test]
fn a_sum_is_said_in_whole_days_and_is_never_less_than_it_is() {
    let problems = found(&config("horizon = \"10m\"", "shop", "shop"));
    assert!(problems[0].contains("+ margin 1d = 20d at least"), "{problems:?}");
}

#[test]
fn a_window_that_cannot_be_read_or_may_be_lost_is_not_said_to_be_missing() {
    let text = BASE.replace("\"stripe\"", "\"acme\"").replace("order = \"time\"", "order = \"rank\"");
    let vendor = format!("{PLAIN}[retry]\nhorizon = \"3d\"\n");
    for (line, expected) in
        [("dedup_window = \"45 days\"", 0), ("dedup_window = ", 0), ("max_body = \"x\"", 1)]
    {
        let text = text.replacen("secrets", &format!("{line}\nsecrets"), 1);
        let checked = check(("endpoints.toml", &text), &[("vendors/acme.toml", &vendor)]);
        assert_eq!(checked.problems.len(), 1, "{:?}", checked.problems);
        assert_eq!(check_windows(&checked.parts, RETENTIONS).len(), expected, "{line}");
    }
}
