//! Calls that do not fit into the processor's time.

use crate::config::{check_calls, load};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn found(destination: &str, invocation: Duration) -> Vec<String> {
    let text = format!(
        "[endpoint.shop]\nvendor = \"stripe\"\nsecrets = [\"env:X\"]\n[destination]\ndesk = {{ http = \"https://desk.example.com/x\", {destination} }}\n"
    );
    let config = load(("endpoints.toml", &text), &[]).unwrap();
    check_calls(&config, invocation).iter().map(ToString::to_string).collect()
}

#[test]
fn a_call_that_no_invocation_has_time_for_is_refused_with_the_numbers_that_would_do() {
    assert_eq!(found("timeout = \"52s\"", MINUTE), [""; 0]);
    let [said] = &found("timeout = \"2m\"", MINUTE)[..] else { panic!("one problem") };
    assert!(said.contains("may take 2m, and one invocation of the processor lasts 1m"), "{said}");
    assert!(
        said.contains(
            "a timeout of 52s or less, or ProcessorTimeoutSeconds=128 and VisibilityTimeoutSeconds=768"
        ),
        "{said}"
    );
    assert_eq!(found("timeout = \"2m\"", Duration::from_secs(128)), [""; 0]);
}

// INV-2: what may never be repeated is better said than thought to be.
#[test]
fn a_key_that_no_second_lease_fits_into_is_refused() {
    let retry =
        |honours: &str| found(&format!("honours_key_for = \"{honours}\", in_doubt = \"retry\""), MINUTE);
    assert_eq!(retry("80s"), [""; 0]);
    let [said] = &retry("79s")[..] else { panic!("one problem") };
    assert!(said.contains("it would never be called again"), "{said}");
    assert_eq!(found("honours_key_for = \"10s\"", MINUTE), [""; 0], "it is not called again anyway");
}
