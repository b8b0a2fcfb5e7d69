use super::*;

#[test]
fn every_vendor_is_listed_with_what_its_endpoint_needs() {
    let run = Folder::new().sekali(&["vendors"]);
    assert_eq!(run.code, 0, "{}", run.said());
    let line = |vendor: &str| {
        let mut lines = run.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.find(|words| words.first() == Some(&vendor)).unwrap_or_else(|| panic!("{vendor}: {}", run.out))
    };
    assert_eq!(line("stripe"), ["stripe", "needed", "none", "/type"]);
    assert_eq!(line("github"), ["github", "needed", "none", "header:X-GitHub-Event", ".", "/action?"]);
    assert_eq!(line("twilio")[1..3], ["needed", "public_url"]);
    assert_eq!(line("aws-sns")[1], "published");
}

#[test]
fn one_vendor_is_shown_with_the_beginning_of_its_endpoint_which_is_sound() {
    let folder = Folder::new();
    let run = folder.sekali(&["vendors", "paypal"]);
    assert_eq!(run.code, 0, "{}", run.said());
    assert!(run.out.contains("webhook_id"), "{}", run.out);
    let (_, example) = run.out.split_once("\n\n").unwrap();
    folder.put("infra/endpoints.toml", example);
    let checked = folder.sekali(&["check", "--json"]);
    assert_eq!(checked.json()["problems"], 0, "{}", checked.out);
}

#[test]
fn vendors_are_given_as_json_with_a_teams_own() {
    let folder = Folder::new();
    let stripe = std::fs::read_to_string(repository().join("shared/core/vendors/stripe.toml")).unwrap();
    folder.put("infra/vendors/acme.toml", stripe.replace("type = \"/type\"", "type = \"/kind\""));
    let all = folder.sekali(&["vendors", "--json"]).json();
    let of = |name: &str| all.as_array().unwrap().iter().find(|one| one["vendor"] == name).unwrap().clone();
    assert_eq!(
        (of("acme")["event_type"].as_str(), of("stripe")["event_type"].as_str()),
        (Some("/kind"), Some("/type"))
    );
    assert_eq!(folder.sekali(&["vendors", "acme", "--json"]).json(), of("acme"));
    assert_eq!(of("aws-sns")["secret"], "published");
}

#[test]
fn a_vendor_that_nobody_described_is_answered_with_the_nearest() {
    let run = Folder::new().sekali(&["vendors", "strip"]);
    assert_eq!(run.code, 2);
    assert!(run.error.contains("did you mean \"stripe\"?"), "{}", run.error);
    assert_eq!(Folder::new().sekali(&["vendors", "--vendors", "nowhere"]).code, 2);
}
