//! Pages of lists, and what is none.

use super::*;
use crate::problem::Problem;
use crate::vendor::{Vendor, builtin};

const BASE: &str = r#"confirmed = true
[[scheme]]
kind = "none"
[[event]]
id = "/id"
[list]
url = "https://api.example.com/v1/events?limit=2"
auth = "bearer"
secret = "a key that may read"
items = "/data/*"
more = "/more"
next = { query = "after", from = "/id" }
time = { from = "/at", unit = "s" }
"#;

fn vendor(text: &str) -> Result<Vendor, Vec<Problem>> {
    Vendor::parse("acme", "acme.toml", text)
}

fn changed(with: &str, instead: &str) -> String {
    assert!(BASE.contains(with), "{with}");
    BASE.replacen(with, instead, 1)
}

fn problems(text: &str) -> Vec<String> {
    vendor(text).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn window() -> Window {
    Window { from: UnixMillis(1_700_000_000_999), until: UnixMillis(1_700_000_100_000) }
}

fn first(list: &EventList, params: &[(&str, &str)]) -> OutboundUrl {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    list.first(list.url(), &params, window()).unwrap()
}

fn page(text: &str, body: &str, link: Option<&str>) -> Result<Page, BadPage> {
    let vendor = vendor(text).unwrap();
    let list = vendor.list().unwrap();
    list.page(&first(list, &[]), body.as_bytes(), link)
}

fn at(page: &Page) -> &str {
    match &page.next {
        NextPage::At(url) => url.as_str(),
        NextPage::None => "",
    }
}

#[test]
fn every_problem_of_a_list_is_shown_at_once() {
    assert_eq!(problems(BASE), [""; 0]);
    let empty = "confirmed = true\n[[scheme]]\nkind = \"none\"\n[[event]]\nid = \"/id\"\n[list]\n";
    let missing = problems(empty);
    assert_eq!(missing.len(), 6, "{missing:?}");
    for (with, instead, shown) in [
        ("url = \"https://api", "url = \"https://{host}", "the host of a URL is fixed"),
        ("?limit=2", "/{project}", "[list.params.project]"),
        ("auth = \"bearer\"", "auth = \"barer\"", "did you mean \"bearer\"?"),
        ("auth = \"bearer\"", "auth = { header = \"X Key\" }", "header"),
        (
            "auth = \"bearer\"",
            "headers = { Authorization = \"x\" }\nauth = \"bearer\"",
            "`auth` says who asks",
        ),
        ("/data/*", "/data", "names no place"),
        ("/data/*", "/data/*/entries/*", "has no other `*`"),
        (
            "{ query = \"after\", from = \"/id\" }",
            "{ query = \"after\" }",
            "`next` is where the answer has a URL",
        ),
        ("{ query = \"after\", from = \"/id\" }", "\"header\"", "is no `next`"),
        ("more = \"/more\"", "mor = \"/more\"", "did you mean `more`?"),
        ("more = \"/more\"", "since = { query = \"from\" }", "`unit` is missing"),
        ("more = \"/more\"", "since = { query = \"from\", unit = \"http\" }", "is no `unit`"),
        ("more = \"/more\"", "id = \"/id\"", "belongs to a list with `detail`"),
        ("more = \"/more\"", "detail = \"/{/id}\"", "`list.id` is missing"),
        ("more = \"/more\"", "detail = \"{/id}\"", "a path below the list's URL"),
        ("more = \"/more\"", "detail = \"/x\"", "the same for everything"),
        ("\"/at\"", "\"header:Date\"", "is not part of an entry"),
        ("id = \"/id\"\n[list]", "id = \"header:Id\"\n[list]", "request_headers"),
        ("id = \"/id\"\n[list]", "each = \"/e/*\"\nid = \"/id\"\n[list]", "compared by ids"),
        ("id = \"/id\"\n[list]", "or_digest = true\n[list]", "compared by ids"),
    ] {
        let found = problems(&changed(with, instead));
        assert!(found.iter().any(|problem| problem.contains(shown)), "{instead}: {found:#?}");
    }
}

#[test]
fn a_cursor_is_the_last_entry_and_ends_where_the_answer_says() {
    let page =
        page(BASE, r#"{"data":[{"id":"a","at":7},{"id":12345678901234567890}],"more":true}"#, None).unwrap();
    assert_eq!(at(&page), "https://api.example.com/v1/events?limit=2&after=12345678901234567890");
    assert_eq!(
        page.entries.iter().map(|entry| entry.at).collect::<Vec<_>>(),
        [Some(UnixMillis(7_000)), None]
    );
    let last = self::page(BASE, r#"{"data":[{"id":"a"}],"more":false}"#, None).unwrap();
    assert_eq!(last.next, NextPage::None);
    let by_emptiness = changed("more = \"/more\"\n", "");
    assert_eq!(at(&self::page(&by_emptiness, r#"{"data":[]}"#, None).unwrap()), "");
}

#[test]
fn what_is_no_page_is_never_an_empty_one() {
    for (body, error) in [
        ("<html>", BadPage::NotJson),
        ("", BadPage::NotJson),
        ("{}", BadPage::NoList("/data".to_owned())),
        (r#"{"error":{"message":"no such key"}}"#, BadPage::NoList("/data".to_owned())),
        (r#"{"data":{},"more":false}"#, BadPage::NoList("/data".to_owned())),
        (r#"{"data":[]}"#, BadPage::NoMore("/more".to_owned())),
        (r#"{"data":[],"more":"no"}"#, BadPage::NoMore("/more".to_owned())),
        (r#"{"data":[],"more":true}"#, BadPage::NoNext),
        (r#"{"data":[{"id":null}],"more":true}"#, BadPage::NoNext),
    ] {
        assert_eq!(page(BASE, body, None), Err(error), "{body}");
    }
    let root = changed("/data/*", "/*");
    assert_eq!(page(&root, r#"{"message":"bad credentials"}"#, None), Err(BadPage::NoList(String::new())));
}

#[test]
fn a_next_page_is_at_the_same_host_or_refused() {
    let by_url = changed("{ query = \"after\", from = \"/id\" }", "{ url = \"/next\" }");
    let body = |next: &str| format!(r#"{{"data":[],"more":true,"next":{next}}}"#);
    let good = page(&by_url, &body("\"https://api.example.com/v1/events?p=2\""), None).unwrap();
    assert_eq!(at(&good), "https://api.example.com/v1/events?p=2");
    for other in [
        "\"https://api.example.com.attacker.example.com/\"",
        "\"https://attacker.example.com/?api.example.com\"",
        "\"http://127.0.0.1/v1\"",
        "\"https://api.example.com:8443/v1\"",
        "\"https://u:p@api.example.com/v1\"",
        "\"/v1/events?p=2\"",
    ] {
        assert_eq!(page(&by_url, &body(other), None), Err(BadPage::OtherHost), "{other}");
    }
    assert_eq!(page(&by_url, &body("null"), None), Err(BadPage::NoNext));
}

#[test]
fn a_link_header_names_the_next_page_among_others() {
    let by_link =
        changed("more = \"/more\"\nnext = { query = \"after\", from = \"/id\" }", "next = \"link\"");
    let body = r#"{"data":[]}"#;
    let link = "<https://api.example.com/v1/events?a=1,2>; rel=\"prev\", <https://api.example.com/v1/events?c=v1_3>; rel=\"next last\"";
    assert_eq!(at(&page(&by_link, body, Some(link)).unwrap()), "https://api.example.com/v1/events?c=v1_3");
    for none in [None, Some(""), Some("<https://api.example.com/>; rel=\"prev\""), Some("<x")] {
        assert_eq!(page(&by_link, body, none).unwrap().next, NextPage::None, "{none:?}");
    }
    let other = page(&by_link, body, Some("<https://attacker.example.com/>; rel=next"));
    assert_eq!(other, Err(BadPage::OtherHost));
}

#[test]
fn stripe_is_asked_for_a_span_of_time() {
    let vendor = Vendor::parse("stripe", "stripe.toml", builtin::text("stripe").unwrap()).unwrap();
    let list = vendor.list().unwrap();
    assert_eq!(
        first(list, &[]).as_str(),
        "https://api.stripe.com/v1/events?limit=100&created%5Bgte%5D=1700000000&created%5Blte%5D=1700000100"
    );
    let request = list.sent(br#"{"id":"evt_1","object":"event"}"#).unwrap();
    assert_eq!(request.body, br#"{"id":"evt_1","object":"event"}"#);
    assert_eq!(request.headers.text("content-type"), Some("application/json"));
}

#[test]
fn a_delivery_of_github_is_read_below_the_list_with_its_headers() {
    let vendor = Vendor::parse("github", "github.toml", builtin::text("github").unwrap()).unwrap();
    let list = vendor.list().unwrap();
    let first = first(list, &[("owner", "example"), ("repo", "sh op"), ("hook", "42")]);
    let path = "https://api.github.com/repos/example/sh%20op/hooks/42/deliveries";
    assert_eq!(first.as_str(), format!("{path}?per_page=100"));
    let page = list
        .page(&first, br#"[{"id":98765432109876543210,"guid":"g-1","event":"issues","action":"opened","delivered_at":"2026-02-25T06:20:52Z"},{"id":"..","guid":"g-2","event":"push","action":null}]"#, None)
        .unwrap();
    let [entry, dots] = page.entries.as_slice() else { panic!("two entries: {page:?}") };
    assert_eq!(entry.id, Some(vec![Some("g-1".to_owned())]));
    assert_eq!(entry.event_type.as_ref().map(|event_type| event_type.as_str()), Some("issues.opened"));
    assert_eq!(dots.event_type.as_ref().map(|event_type| event_type.as_str()), Some("push"));
    let detail = list.detail(&first, entry).unwrap().unwrap();
    assert_eq!(detail.as_str(), format!("{path}/98765432109876543210"));
    assert!(matches!(list.detail(&first, dots), Err(BadPage::Unnamed(_))));

    let told = br#"{"id":1,"request":{"headers":{"X-GitHub-Event":"push","content-type":"application/x-www-form-urlencoded"},"payload":{"ref":"refs/heads/main"}},"response":{"payload":"ok"}}"#;
    let request = list.sent(told).unwrap();
    assert_eq!(request.body, br#"{"ref":"refs/heads/main"}"#);
    assert_eq!(request.headers.text("x-github-event"), Some("push"));
    assert_eq!(request.headers.text("content-type"), Some("application/json"), "however it was sent");
    assert_eq!(list.sent(b"{}").unwrap_err(), BadPage::NoContent("/request/payload".to_owned()));
}
