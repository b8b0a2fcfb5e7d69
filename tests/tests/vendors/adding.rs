//! The walk-through of the reference, taken from its page and done.

use super::*;
use sekali::config::check;
use sekali::vectors::{self, recorded};

const PAGE: &str = include_str!("../../../docs/vendors.md");

/// The block of this kind with this number in the walk-through.
fn block(kind: &str, number: usize) -> &'static str {
    let section = PAGE.split("\n## ").find(|section| section.starts_with("Adding a vendor")).unwrap();
    let opening = format!("```{kind}\n");
    section.split(&opening).nth(number).unwrap().split("```").next().unwrap()
}

fn description() -> &'static str {
    block("toml", 1)
}

fn described() -> Vendor {
    Vendor::parse("gitea", "infra/vendors/gitea.toml", description()).unwrap()
}

#[test]
fn the_vendor_is_none_of_those_that_come_with_it() {
    assert!(builtin::text("gitea").is_none());
}

#[test]
fn the_deliveries_of_the_page_are_judged_as_it_says() {
    let outcomes = vectors::run(block("json", 1), |name| (name == "gitea").then(described)).unwrap();
    let wrong: Vec<_> = outcomes.iter().filter(|outcome| outcome.difference.is_some()).collect();
    assert!(wrong.is_empty() && outcomes.len() == 3, "{outcomes:?}");
}

#[test]
fn a_mistake_is_answered_with_its_place_as_the_page_says() {
    let mistaken = description().replace("message =", "mesage =");
    let endpoints = ("infra/endpoints.toml", block("toml", 2));
    let checked = check(endpoints, &[("infra/vendors/gitea.toml", &mistaken)]);
    let shown: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
    let promised = PAGE.lines().find_map(|line| line.split("the answer would be `").nth(1)).unwrap();
    let promised = promised.strip_suffix("`.").unwrap();
    assert!(shown.iter().any(|problem| problem == promised), "{promised}\n{shown:#?}");
}

#[tokio::test]
async fn its_delivery_is_taken_by_the_endpoint_of_the_page_and_a_forged_one_is_not() {
    let [genuine, forged, _] = &recorded(block("json", 1)).unwrap()[..] else { panic!("three deliveries") };
    let endpoints = block("toml", 2).replace("endpoint.gitea", &format!("endpoint.{ENDPOINT}"));
    let settings = endpoints.split_once('\n').unwrap().1;
    let bench = Bench::at(genuine.now, settings, &[("infra/vendors/gitea.toml", description())]);
    bench.secrets.put("ssm:/prod/gitea-webhook", &genuine.secrets[0]);
    assert_eq!(bench.deliver(&forged.request).await.status, 401);
    assert!(bench.is_untouched());
    assert_eq!(bench.deliver(&genuine.request).await.status, 202);
    // Sent again by hand: the same body under an id of its own.
    let headers = genuine.request.headers.iter().map(|(name, value)| match name {
        "x-gitea-delivery" => (name.to_owned(), b"0d3b5f6e-0000-4000-8000-000000000002".to_vec()),
        name => (name.to_owned(), value.to_vec()),
    });
    let again = Request { headers: Headers::new(headers), ..genuine.request.clone() };
    assert_eq!(bench.deliver(&again).await.status, 200);
    assert_eq!(bench.events().len(), 1);
}
