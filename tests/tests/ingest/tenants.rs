//! One URL for many tenants, who never meet (INV-7).

use super::*;
use sekali_tests::memory::{MemoryApi, MemoryDestination};
use std::collections::BTreeSet;

const OWN: &str = r#"
[endpoint.shop]
vendor = "stripe"
tenant = "path"
secrets = ["secretsmanager:prod/{tenant}/stripe"]
resource.payment = "/payment"
[[endpoint.shop.rule]]
type = "payment.paid"
status = "paid"
action.pack = { order = "/order" }
late = "skip"
[[endpoint.shop.rule]]
type = "payment.refunded"
status = "refunded"
[endpoint.plain]
vendor = "stripe"
secrets = ["ssm:/shared"]
[endpoint.body]
vendor = "stripe"
tenant = "/account"
secrets = ["ssm:/shared"]
[[endpoint.body.rule]]
type = "payment.paid"
action.pack = { order = "/order" }
[resource.payment]
order = "time"
moves = ["pending -> paid -> refunded"]
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks" }
"#;

fn bench() -> Bench {
    let bench = Bench::with(OWN);
    for tenant in ["acme", "umbrella"] {
        bench.secrets.put(&format!("secretsmanager:prod/{tenant}/stripe"), &format!("whsec_of_{tenant}"));
    }
    bench.secrets.put("ssm:/shared", "whsec_shared");
    bench
}

/// The same event of the same order, of whichever tenant.
fn paid(tenant: &str) -> Delivery {
    let body = stripe("evt_1", r#","order":"o-1","payment":"p-1""#);
    Delivery::to("shop", &body).tenant(tenant).signed(&format!("whsec_of_{tenant}"))
}

/// Works off every letter in the queue.
async fn process(bench: &Bench) -> MemoryDestination {
    let destination = MemoryDestination::new(bench.clock.clone());
    let dispositions = bench.work(&destination, MemoryApi::default()).await;
    assert!(dispositions.iter().all(|disposition| *disposition == Disposition::Delete), "{dispositions:?}");
    destination
}

// INV-7
#[tokio::test]
async fn the_same_event_of_two_tenants_is_two_events_two_states_and_two_effects() {
    let bench = bench();
    assert_eq!(bench.deliver(&paid("acme")).await.status, 202);
    assert_eq!(bench.deliver(&paid("umbrella")).await.status, 202);
    assert_eq!(bench.deliver(&paid("acme")).await.status, 200, "and the same of one tenant is one");
    assert_eq!(bench.events().len(), 2);
    let calls = process(&bench).await.calls();
    assert_eq!(calls.len(), 2);
    let keys: BTreeSet<&str> = calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(keys.len(), 2, "no destination takes one for the other");
    let tenants: BTreeSet<bool> =
        calls.iter().map(|call| String::from_utf8_lossy(&call.body).contains(r#""tenant":"acme""#)).collect();
    assert_eq!(tenants.len(), 2);
    let (resources, actions) =
        bench.store.look(|tables| (tables.resources().count(), tables.actions().count()));
    assert_eq!((resources, actions), (2, 2));
}

// INV-7
#[tokio::test]
async fn what_happens_to_one_tenant_s_payment_makes_another_s_no_later() {
    let bench = bench();
    let refunded = stripe("evt_2", r#","payment":"p-1""#).replace("paid", "refunded");
    let refunded = refunded.replace("1800000000", "1800000100");
    let refunded = Delivery::to("shop", &refunded).tenant("umbrella").signed("whsec_of_umbrella");
    assert_eq!(bench.deliver(&refunded).await.status, 202);
    process(&bench).await;
    assert_eq!(bench.deliver(&paid("acme")).await.status, 202);
    assert_eq!(process(&bench).await.calls().len(), 1, "acme's order is packed");
    assert_eq!(bench.deliver(&paid("umbrella")).await.status, 202);
    assert_eq!(process(&bench).await.calls().len(), 0, "umbrella's is late");
}

// INV-7
#[tokio::test]
async fn a_delivery_of_one_tenant_is_worth_nothing_at_another_s_url() {
    let bench = bench();
    let at_the_wrong_door = paid("acme").tenant("umbrella");
    assert_eq!(bench.deliver(&at_the_wrong_door).await.status, 401);
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn an_unknown_tenant_is_answered_like_a_bad_signature_and_nothing_is_written() {
    let bench = bench();
    let unknown = bench.deliver(&paid("nobody")).await;
    let forged = bench.deliver(&paid("acme").signed("whsec_guess")).await;
    assert_eq!(unknown, forged);
    assert_eq!(unknown.status, 401);
    assert!(bench.is_untouched());
    assert_eq!(bench.deliver(&paid("acme")).await.status, 202, "the endpoint goes on for the others");
}

#[tokio::test]
async fn a_url_that_was_not_declared_is_no_endpoint() {
    let bench = bench();
    let mut without = paid("acme");
    without.tenant = None;
    assert_eq!(bench.deliver(&without).await.status, 404);
    for tenant in ["..", ".", "%2e%2e", "a%2Fb", "a/b", "a b", "", "{tenant}", "acme#key", &"x".repeat(200)] {
        assert_eq!(bench.deliver(&paid("acme").tenant(tenant)).await.status, 404, "{tenant}");
    }
    for endpoint in ["plain", "body"] {
        let delivery = Delivery::to(endpoint, &stripe("evt_1", "")).signed("whsec_shared");
        assert_eq!(bench.deliver(&delivery.clone().tenant("acme")).await.status, 404, "{endpoint}");
        assert_eq!(bench.deliver(&delivery).await.status, 202, "{endpoint}");
    }
    assert!(bench.secrets.readings().iter().all(|name| name.starts_with("ssm:")), "none was looked for");
}

// INV-7
#[tokio::test]
async fn tenants_that_the_body_names_are_kept_apart_too() {
    let bench = bench();
    let of = |id: &str, account: &str| {
        let body = stripe(id, &format!(r#","order":"o-1","account":{account}"#));
        Delivery::to("body", &body).signed("whsec_shared")
    };
    for account in [r#""acme""#, r#""umbrella""#, "7"] {
        assert_eq!(bench.deliver(&of("evt_1", account)).await.status, 202);
    }
    let tenants: BTreeSet<String> =
        bench.events().into_iter().filter_map(|event| Some(event.tenant?.as_str().to_owned())).collect();
    assert_eq!(tenants, BTreeSet::from(["acme", "umbrella", "7"].map(str::to_owned)));
    assert_eq!(process(&bench).await.calls().len(), 3);
    for (id, account) in [("evt_2", "null"), ("evt_3", r#""""#), ("evt_4", "{}")] {
        assert_eq!(bench.deliver(&of(id, account)).await.status, 202);
    }
    let held = bench.events().into_iter().filter(|event| event.progress.status.as_str() == "held");
    assert_eq!(held.count(), 3, "an event of nobody is held, not merged");
}

// INV-7
#[tokio::test]
async fn a_tenant_that_is_called_as_an_endpoint_or_a_scope_meets_neither() {
    let bench = Bench::with(
        r#"
        [endpoint.shop]
        vendor = "stripe"
        tenant = "path"
        secrets = ["ssm:/shared"]
        [endpoint.acme]
        vendor = "stripe"
        secrets = ["ssm:/shared"]
        [endpoint.other]
        vendor = "stripe"
        secrets = ["ssm:/shared"]
        dedup_scope = "shop-acme"
        [endpoint.shop-4]
        vendor = "stripe"
        tenant = "path"
        secrets = ["ssm:/shared"]
        "#,
    );
    bench.secrets.put("ssm:/shared", "whsec_shared");
    let event = |endpoint: &str| Delivery::to(endpoint, &stripe("evt_1", "")).signed("whsec_shared");
    for delivery in [
        event("shop").tenant("acme"),
        event("shop").tenant("shop"),
        event("shop").tenant("4acme"),
        event("shop-4").tenant("acme"),
        event("acme"),
        event("other"),
    ] {
        assert_eq!(bench.deliver(&delivery).await.status, 202, "{:?}", delivery.request.path);
    }
    assert_eq!(bench.events().len(), 6);
}
