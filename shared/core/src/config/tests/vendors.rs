//! What a vendor's description asks of an endpoint.

use super::{BASE, PLAIN, check, shown};

/// The problems of the base file with this vendor, after some replacements.
fn with_vendor(description: &str, changes: &[(&str, &str)]) -> Vec<String> {
    let mut text = BASE.replace("\"stripe\"", "\"acme\"");
    for (from, to) in changes {
        assert!(text.contains(from), "`{from}` is not in the file");
        text = text.replace(from, to);
    }
    shown(&check(("endpoints.toml", &text), &[("infra/vendors/acme.toml", description)]).problems)
}

const BY_RANK: (&str, &str) = ("order = \"time\"", "order = \"rank\"");

#[test]
fn a_resource_is_ordered_by_what_the_vendor_states() {
    let ordered = |by: &str, description: &str| {
        with_vendor(description, &[("order = \"time\"", &format!("order = \"{by}\""))])
    };
    let problem = |by: &str| {
        format!(
            "4:1: resource `payment` is ordered by {by}, but acme states none (order = \"rank\", or a kind of resource of its own)"
        )
    };
    assert_eq!(ordered("rank", PLAIN), [""; 0]);
    assert_eq!(ordered("time", PLAIN), [problem("time")]);
    assert_eq!(ordered("sequence", PLAIN), [problem("sequence")]);
    let timed = format!("{PLAIN}time = [{{ from = \"/at\", unit = \"s\" }}]\nsequence = \"/n\"\n");
    assert_eq!(ordered("time", &timed), [""; 0]);
    assert_eq!(ordered("sequence", &timed), [""; 0]);
}

#[test]
fn an_unconfirmed_vendor_needs_a_word_of_consent() {
    let unconfirmed = PLAIN.replace("confirmed = true", "confirmed = false");
    let found = with_vendor(&unconfirmed, &[BY_RANK]);
    assert!(found.len() == 1 && found[0].starts_with("2:10: how acme signs is not proven"), "{found:?}");
    let consent = ("secrets =", "allow_unconfirmed = true\nsecrets =");
    assert_eq!(with_vendor(&unconfirmed, &[BY_RANK, consent]), [""; 0]);
}

#[test]
fn what_the_signature_covers_is_configured() {
    let covering = PLAIN.replace("{body}", "{url}{param:webhook_id}{body}")
        + "[params.webhook_id]\nabout = \"as the vendor shows it\"\n";
    let found = with_vendor(&covering, &[BY_RANK]);
    assert_eq!(
        found,
        [
            "1:11: acme signs the URL that it calls; endpoint `shop` does not say it (public_url = \"https://..\", as it is entered at the vendor's)",
            "1:11: endpoint `shop` needs the parameter `webhook_id` of acme (params = { webhook_id = \"..\" }: as the vendor shows it)",
        ]
    );
    let said = (
        "secrets =",
        "public_url = \"https://hooks.example.com/shop\"\nparams = { webhook_id = \"8PT\" }\nsecrets =",
    );
    assert_eq!(with_vendor(&covering, &[BY_RANK, said]), [""; 0]);
    let number = (said.0, said.1.replace("\"8PT\"", "8"));
    let found = with_vendor(&covering, &[BY_RANK, (number.0, &number.1)]);
    assert_eq!(found, ["4:25: `webhook_id` is text in quotes, not a whole number (webhook_id = \"..\")"]);
    let misspelt = (said.0, said.1.replace("webhook_id", "webhook_ie"));
    let found = with_vendor(&covering, &[BY_RANK, (misspelt.0, &misspelt.1)]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1], "4:12: acme has no parameter `webhook_ie` (did you mean `webhook_id`?)");
}

#[test]
fn a_vendor_that_signs_needs_a_secret_and_one_that_does_not_needs_none() {
    let without = ("secrets = [\"env:SHOP\"]\n", "");
    let found = with_vendor(PLAIN, &[BY_RANK, without]);
    assert!(found.len() == 1 && found[0].starts_with("1:11: endpoint `shop` has no secret"), "{found:?}");
}

#[test]
fn a_tenant_is_read_where_the_description_says() {
    let tenant = ("secrets =", "tenant = \"vendor\"\nsecrets =");
    let found = with_vendor(PLAIN, &[BY_RANK, tenant]);
    assert!(
        found.len() == 1 && found[0].starts_with("3:10: the description of acme does not say"),
        "{found:?}"
    );
    assert_eq!(with_vendor(&format!("{PLAIN}tenant = \"/shop\"\n"), &[BY_RANK, tenant]), [""; 0]);
}

#[test]
fn problems_of_a_description_are_shown_with_its_file_whether_used_or_not() {
    let bad = PLAIN.replace("message", "mesage");
    let files = [("infra/vendors/other.toml", bad.as_str()), ("infra/vendors/a b.toml", PLAIN)];
    let checked = check(("endpoints.toml", BASE), &files);
    let found = shown(&checked.problems);
    assert!(found.iter().any(|problem| problem.starts_with("infra/vendors/other.toml:7:1:")), "{found:?}");
    assert!(
        found.iter().any(|problem| problem.starts_with("infra/vendors/a b.toml: the file's name")),
        "{found:?}"
    );
    assert!(checked.config.is_none());
    let twice = [("a/acme.toml", PLAIN), ("b/acme.toml", PLAIN)];
    let found = shown(&check(("endpoints.toml", BASE), &twice).problems);
    assert_eq!(
        found,
        ["b/acme.toml: a second description of the vendor \"acme\" (call it vendors/NAME.toml)"]
    );
}

#[test]
fn a_teams_own_description_comes_before_the_built_in_one() {
    let found = shown(&check(("endpoints.toml", BASE), &[("vendors/stripe.toml", PLAIN)]).problems);
    assert!(found.len() == 1 && found[0].contains("ordered by time, but stripe states none"), "{found:?}");
}

/// The base file with a second endpoint `copy` of another vendor.
fn two_vendors(change: impl Fn(String) -> String) -> Vec<String> {
    let (endpoint, rest) = BASE.split_once("[resource.payment]").unwrap();
    let copy = change(endpoint.replace("shop", "copy").replace("\"stripe\"", "\"acme\""));
    let text = format!("{endpoint}{copy}[resource.payment]{rest}");
    let timed = format!("{PLAIN}time = [{{ from = \"/at\", unit = \"s\" }}]\n");
    shown(&check(("endpoints.toml", &text), &[("vendors/acme.toml", &timed)]).problems)
}

#[test]
fn two_vendors_share_a_resource_only_by_rank() {
    let found = two_vendors(|copy| copy);
    assert!(
        found.len() == 1 && found[0].starts_with("10:11: endpoints `shop` and `copy` order"),
        "{found:?}"
    );
    assert_eq!(two_vendors(|copy| copy.replace("\"acme\"", "\"stripe\"")), [""; 0]);
    let plain = |copy: String| copy.replace("resource.payment = \"/data/object/id\"\n", "");
    let without =
        |copy: String| plain(copy).replace("status = \"paid\"\n", "").replace("late = \"act\"\n", "");
    assert_eq!(two_vendors(without), [""; 0]);
}

#[test]
fn two_vendors_never_share_a_dedup_scope() {
    let scoped = |copy: String, scope: &str| {
        copy.replace("resource.payment = \"/data/object/id\"", &format!("dedup_scope = \"{scope}\""))
            .replace("status = \"paid\"\n", "")
            .replace("late = \"act\"\n", "")
    };
    let found = two_vendors(|copy| scoped(copy, "shop"));
    assert_eq!(
        found,
        [
            "10:11: endpoints `shop` and `copy` share the dedup scope \"shop\", but not the vendor (event ids are unique only within one vendor)"
        ]
    );
    assert_eq!(two_vendors(|copy| scoped(copy, "other")), [""; 0]);
    assert_eq!(two_vendors(|copy| scoped(copy, "shop").replace("\"acme\"", "\"stripe\"")), [""; 0]);
}
