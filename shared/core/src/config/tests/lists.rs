//! An endpoint's access to its vendor's own list of events.

use super::*;
use crate::config::Auth;

const WITH: &str = r#"
[endpoint.hook]
vendor = "github"
secrets = ["env:HOOK"]
[endpoint.hook.list]
secret = "ssm:/prod/github-read"
since = "2026-11-30"
params = { owner = "example", repo = "shop", hook = "42" }
[[endpoint.hook.rule]]
type = "push"
action.build = { commit = "/after" }
[action]
build = { to = "builds" }
[destination]
builds = { http = "https://builds.example.com/jobs" }
"#;

fn found(with: &str, instead: &str) -> Vec<String> {
    assert!(WITH.contains(with), "{with}");
    problems(&WITH.replacen(with, instead, 1))
}

#[test]
fn an_endpoint_says_as_whom_the_list_is_asked_and_about_what() {
    let config = load(("endpoints.toml", WITH), &[]).unwrap();
    let list = config.endpoints["hook"].list.as_ref().unwrap();
    assert!(matches!(&list.auth, Auth::Bearer(secret) if secret.to_string() == "ssm:/prod/github-read"));
    assert_eq!(list.params["hook"], "42");
}

#[test]
fn what_is_missing_or_unknown_is_said_with_a_remedy() {
    for (with, instead, shown) in [
        ("secret = \"ssm:/prod/github-read\"", "", "does not say with which secret"),
        ("ssm:/prod/github-read", "ghp_pasted", "6:10: this does not say where the secret is kept"),
        ("since = \"2026-11-30\"", "", "does not say since when"),
        ("github-read", "{tenant}/read", "has no tenant in its URL"),
        ("secrets =", "tenant = \"path\"\nsecrets =", "one secret for all tenants"),
        ("2026-11-30", "last week", "this is no time such as"),
        (", hook = \"42\"", "", "needs the parameter `hook`"),
        ("hook = \"42\"", "hook = \"\"", "`hook` is empty"),
        ("hook = \"42\"", "hok = \"42\"", "did you mean `hook`?"),
        ("secret = \"ssm", "sekret = \"s\"\nsecret = \"ssm", "is no key of an endpoint's list"),
        (
            "vendor = \"github\"",
            "vendor = \"linear\"",
            "the description of linear knows no list of its events",
        ),
        ("params =", "url = \"https://ghe.example.com/{org}/deliveries\"\nparams =", "no such parameter"),
        ("params =", "url = \"http://ghe.example.com/deliveries\"\nparams =", "plain http"),
    ] {
        let found = found(with, instead);
        assert!(found.iter().any(|problem| problem.contains(shown)), "{instead}: {found:#?}");
        assert!(!found.iter().any(|problem| problem.contains("ghp_pasted")), "{found:?}");
    }
    let both = WITH.replace("secret = \"ssm:/prod/github-read\"\n", "").replace("repo = \"shop\", ", "");
    assert_eq!(problems(&both).len(), 2, "all at once: {:?}", problems(&both));
}

#[test]
fn another_url_asks_only_for_the_parameters_that_it_names() {
    let own = WITH.replace(
        "params = { owner = \"example\", repo = \"shop\", hook = \"42\" }",
        "url = \"https://api.github.com/orgs/example/hooks/{hook}/deliveries\"\nparams = { hook = \"42\" }",
    );
    assert_eq!(problems(&own), [""; 0]);
}
