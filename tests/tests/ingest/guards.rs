//! Genuine deliveries that an endpoint does not take.

use super::*;

/// An endpoint with these guards, and a rule that could hold an event.
fn bench(guards: &str) -> Bench {
    let bench = Bench::with(&format!(
        r#"
        [endpoint.shop]
        vendor = "stripe"
        secrets = ["ssm:/shop"]
        {guards}
        [[endpoint.shop.rule]]
        type = "*"
        action.pack = {{ order = "/order" }}
        [action]
        pack = {{ key = ["order"], to = "packing" }}
        [destination]
        packing = {{ http = "https://packing.example.com/tasks" }}
        "#
    ));
    bench.secrets.put("ssm:/shop", "whsec_invented");
    bench
}

fn genuine(body: &str) -> Delivery {
    Delivery::to("shop", body).signed("whsec_invented")
}

#[tokio::test]
async fn what_a_guard_stops_is_answered_as_it_says_and_writes_nothing() {
    let test_mode = stripe("evt_1", "").replace("\"livemode\":true", "\"livemode\":false");
    let without = stripe("evt_1", "").replace("\"livemode\":true", "\"livemode\":null");
    let live = stripe("evt_1", r#","order":"o-1""#);
    let cases: [(&str, &str); 8] = [
        ("livemode = true", &test_mode),
        ("livemode = true", &without),
        ("livemode = false", &live),
        ("livemode = true\nat = \"/account_is_live\"", &live),
        ("types = [\"payment.refunded\"]", &live),
        ("when = { \"/order\" = \"o-2\" }", &live),
        ("when = { \"/livemode\" = \"true\" }", &live),
        ("networks = [\"2001:db8::/32\"]", &live),
    ];
    for (demand, body) in cases {
        for (answer, status) in [(403, 403), (200, 200)] {
            let bench = bench(&format!("[[endpoint.shop.guard]]\n{demand}\nanswer = {answer}"));
            let answer = bench.deliver(&genuine(body)).await;
            assert_eq!(answer.status, status, "{demand}");
            let said = if status == 403 { r#""error":"forbidden""# } else { r#""result":"filtered""# };
            assert!(answer.body.contains(said), "{demand}: {}", answer.body);
            assert!(bench.is_untouched(), "{demand}");
        }
    }
}

#[tokio::test]
async fn what_every_guard_lets_pass_is_taken() {
    let guards = r#"
        [[endpoint.shop.guard]]
        networks = ["192.0.2.0/24", "2001:db8::/32"]
        answer = 403
        [[endpoint.shop.guard]]
        types = ["payment.paid"]
        answer = 200
        [[endpoint.shop.guard]]
        livemode = true
        answer = 200
        [[endpoint.shop.guard]]
        when = { "/order" = "o-1" }
        answer = 403
    "#;
    let bench = bench(guards);
    let body = stripe("evt_1", r#","order":"o-1""#);
    assert_eq!(bench.deliver(&genuine(&body)).await.status, 202);
    assert_eq!(bench.deliver(&genuine(&body).from("2001:db8::1")).await.status, 200);
    assert_eq!(bench.events().len(), 1);
}

#[tokio::test]
async fn a_guard_comes_before_an_event_is_held() {
    let bench = bench("[[endpoint.shop.guard]]\nlivemode = true\nanswer = 200");
    let test_mode_without_key = stripe("evt_1", "").replace("\"livemode\":true", "\"livemode\":false");
    assert_eq!(bench.deliver(&genuine(&test_mode_without_key)).await.status, 200);
    assert!(bench.is_untouched());
    assert_eq!(bench.deliver(&genuine(&stripe("evt_2", ""))).await.status, 202);
    assert_eq!(bench.events()[0].progress.status.as_str(), "held");
}

// INV-10
#[tokio::test]
async fn a_guard_that_filters_is_no_way_around_the_signature() {
    let bench = bench("[[endpoint.shop.guard]]\nlivemode = true\nanswer = 200");
    let test_mode = stripe("evt_1", "").replace("\"livemode\":true", "\"livemode\":false");
    assert_eq!(bench.deliver(&Delivery::to("shop", &test_mode).signed("whsec_another")).await.status, 401);
}

/// A vendor that sends many events at once.
const LOTS: &str = r#"
confirmed = true
[[scheme]]
name = "v1"
kind = "hmac"
alg = "sha256"
signature = { from = "header:X-Signature" }
message = "{body}"
[[event]]
each = "/*"
id = "/id"
type = "/type"
[reply]
status = 204
[retry]
horizon = "1d"
resend = "1d"
"#;

fn lots(answer: u16) -> Bench {
    let endpoints = format!(
        "[endpoint.lots]\nvendor = \"lots\"\nsecrets = [\"ssm:/lots\"]\n\
         [[endpoint.lots.guard]]\ntypes = [\"sold\"]\nanswer = {answer}\n"
    );
    let bench = Bench::with_vendors(&endpoints, &[("vendors/lots.toml", LOTS)]);
    bench.secrets.put("ssm:/lots", "invented");
    bench
}

const MIXED: &str = r#"[{"id":"1","type":"sold"},{"id":"2","type":"seen"},{"id":"3","type":"sold"}]"#;

#[tokio::test]
async fn of_a_batch_a_guard_leaves_out_its_events_and_the_others_are_taken() {
    let bench = lots(200);
    let answer = bench.deliver(&Delivery::to("lots", MIXED).signed("invented")).await;
    assert_eq!(answer.status, 204, "in the vendor's own words");
    let ids: Vec<String> = bench.events().into_iter().map(|event| event.id).collect();
    assert_eq!(ids, ["1", "3"]);
    assert!(
        answer.body.contains(r#""new":"2""#) && answer.body.contains(r#""filtered":"1""#),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn a_batch_of_nothing_but_filtered_events_is_acknowledged() {
    let bench = lots(200);
    let answer =
        bench.deliver(&Delivery::to("lots", r#"[{"id":"2","type":"seen"}]"#).signed("invented")).await;
    assert_eq!(answer.status, 204);
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn a_batch_with_one_event_that_is_refused_is_refused_whole() {
    let bench = lots(403);
    let answer = bench.deliver(&Delivery::to("lots", MIXED).signed("invented")).await;
    assert_eq!(answer.status, 403);
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn what_a_guard_cannot_read_is_held_and_not_guessed() {
    let bench = Bench::with(
        "[endpoint.hub]\nvendor = \"github\"\nsecrets = [\"ssm:/hub\"]\n\
         [[endpoint.hub.guard]]\nwhen = { \"/ref\" = \"main\" }\nanswer = 200\n",
    );
    bench.secrets.put("ssm:/hub", "invented");
    let unreadable = Delivery::to("hub", "{\"ref\":")
        .header("x-github-delivery", "d-1")
        .header("x-github-event", "push")
        .signed("invented");
    assert_eq!(bench.deliver(&unreadable).await.status, 202);
    assert_eq!(bench.events()[0].progress.status.as_str(), "held");
}
