//! What is asked before a signature is looked at, and in which order.

use super::*;

const SHOP: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["ssm:/shop"]
max_body = "1KiB"
content_types = ["application/json"]
rate = "2/s"
[[endpoint.shop.guard]]
networks = ["192.0.2.0/24"]
answer = 403
[[endpoint.shop.guard]]
types = ["payment.paid"]
answer = 403
[endpoint.other]
vendor = "stripe"
secrets = ["ssm:/shop"]
rate = "2/s"
"#;

fn bench() -> Bench {
    let bench = Bench::with(SHOP);
    bench.secrets.put("ssm:/shop", "whsec_invented");
    bench
}

/// One fault of a delivery and how it is mended.
type Mend = fn(Delivery) -> Delivery;

#[tokio::test]
async fn of_many_faults_the_first_in_the_order_of_the_way_is_answered() {
    let bench = bench();
    let large = "x".repeat(2_000);
    let mut delivery = Delivery::to("nowhere", &large)
        .from("203.0.113.1")
        .header("content-type", "text/plain")
        .signed("whsec_another");
    delivery.secret = None;
    delivery.request.method = "PUT".to_owned();
    let faults: [(u16, Mend); 7] = [
        (404, |delivery| Delivery { endpoint: "shop".into(), ..delivery }),
        (405, |mut delivery| {
            delivery.request.method = "POST".into();
            delivery
        }),
        (413, |mut delivery| {
            delivery.request.body = stripe("evt_1", "").replace("paid", "lost").into_bytes();
            delivery
        }),
        (415, |delivery| delivery.header("content-type", "application/json")),
        (403, |delivery| delivery.from("192.0.2.7")),
        (401, |delivery| delivery.signed("whsec_invented")),
        (403, |mut delivery| {
            delivery.request.body = stripe("evt_1", "").into_bytes();
            delivery
        }),
    ];
    for (status, mend) in faults {
        let answer = bench.deliver(&delivery).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(bench.is_untouched());
        delivery = mend(delivery);
    }
    bench.clock.advance(seconds(1));
    assert_eq!(bench.deliver(&delivery).await.status, 202);
}

#[tokio::test]
async fn an_endpoint_with_a_rate_answers_429_and_says_when_to_come_back() {
    let bench = bench();
    let to = |endpoint: &str, id: &str| Delivery::to(endpoint, &stripe(id, "")).signed("whsec_invented");
    for id in ["evt_1", "evt_2"] {
        assert_eq!(bench.deliver(&to("shop", id)).await.status, 202);
    }
    let answer = bench.deliver(&to("shop", "evt_3")).await;
    assert_eq!((answer.status, header(&answer, "retry-after")), (429, Some("1")));
    assert_eq!(bench.events().len(), 2, "what is refused is not stored");
    assert_eq!(bench.deliver(&to("other", "evt_3")).await.status, 202, "a rate is of one endpoint");
    bench.clock.advance(seconds(1));
    assert_eq!(bench.deliver(&to("shop", "evt_3")).await.status, 202);
}

#[tokio::test]
async fn a_stranger_s_calls_use_up_nothing_of_the_rate() {
    let bench = bench();
    let genuine = Delivery::to("shop", &stripe("evt_1", "")).signed("whsec_invented");
    for _ in 0..100 {
        assert_eq!(bench.deliver(&genuine.clone().from("203.0.113.1")).await.status, 403);
    }
    assert_eq!(bench.deliver(&genuine).await.status, 202);
}

#[tokio::test]
async fn a_network_is_told_by_the_gateway_and_by_no_header() {
    let bench = bench();
    let genuine = Delivery::to("shop", &stripe("evt_1", "")).signed("whsec_invented");
    let lying = genuine.clone().from("203.0.113.1").header("x-forwarded-for", "192.0.2.7");
    assert_eq!(bench.deliver(&lying).await.status, 403);
    let nowhere = Delivery { from: None, ..genuine.clone() };
    assert_eq!(bench.deliver(&nowhere).await.status, 403);
    let forwarded = genuine.header("x-forwarded-for", "203.0.113.1");
    assert_eq!(bench.deliver(&forwarded).await.status, 202);
}

#[tokio::test]
async fn a_delivery_that_declares_no_content_type_is_taken_for_the_vendor_s() {
    let bench = bench();
    let mut delivery = Delivery::to("shop", &stripe("evt_1", "")).signed("whsec_invented");
    delivery.request.headers = Headers::default();
    assert_eq!(bench.deliver(&delivery).await.status, 202);
    let with_parameter = Delivery::to("shop", &stripe("evt_2", ""))
        .signed("whsec_invented")
        .header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(bench.deliver(&with_parameter).await.status, 202);
}

#[tokio::test]
async fn an_endpoint_takes_fewer_content_types_than_its_vendor_sends() {
    let bench = Bench::with(
        r#"
        [endpoint.hub]
        vendor = "github"
        secrets = ["ssm:/hub"]
        content_types = ["application/json"]
        [endpoint.every]
        vendor = "github"
        secrets = ["ssm:/hub"]
        "#,
    );
    bench.secrets.put("ssm:/hub", "invented");
    let form = |endpoint: &str| {
        Delivery::to(endpoint, "payload=%7B%22a%22%3A1%7D")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-github-delivery", "d-1")
            .header("x-github-event", "push")
            .signed("invented")
    };
    assert_eq!(bench.deliver(&form("hub")).await.status, 415);
    assert_eq!(bench.deliver(&form("every")).await.status, 202);
}
