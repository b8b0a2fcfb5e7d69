//! Reading the list: pages, patience, and what it proves.

use super::*;

#[tokio::test]
async fn what_cannot_be_proved_missing_is_never_called_missing() {
    let desk = Desk::new();
    let window = desk.bench.deployment.limits(&"shop".into()).window;
    let seconds = i64::try_from(window.as_secs()).unwrap();
    let hour = 3_600;
    let test_mode = paid("evt_test", "o", desk.now()).replace("true", "false");
    let untyped = paid("evt_typed", "o", desk.now()).replace("payment.paid", "payout.paid");
    let timeless = paid("evt_timeless", "o", 0).replace("\"created\": 0", "\"created\": null");
    let nameless = paid("evt_nameless", "o", desk.now()).replace("evt_nameless", "");
    desk.lists(&[
        paid("evt_young", "o", desk.now() - seconds + hour + 1),
        paid("evt_old", "o", desk.now() - seconds + hour),
        timeless,
        nameless,
        test_mode,
        untyped,
    ]);
    let found = desk.found("shop").await;
    let standings: Vec<_> =
        found.events.iter().map(|listed| (listed.id.as_str(), &listed.standing)).collect();
    assert_eq!(
        standings[..3],
        [
            ("evt_young", &Standing::NeverArrived),
            ("evt_old", &Standing::Unproven(Unproven::Expired)),
            ("evt_timeless", &Standing::Unproven(Unproven::NoTime)),
        ]
    );
    assert!(
        matches!(standings[3..], [("", Standing::Unreadable(why))] if why.contains("no_event_id")),
        "{standings:?}"
    );
    assert_eq!((found.counts["filtered"], found.counts["no rule"]), (1, 1));
    assert_eq!(desk.ingest("shop").await, [KEPT], "only what never arrived");
}

// Whoever received it before, or under another name, may have acted on it.
#[tokio::test]
async fn what_is_from_before_this_receiver_is_never_called_missing() {
    // It is 2027-01-15T08:00:00Z.
    let an_hour_ago = LISTING.replace("2020-01-01", "2027-01-15T07:00:00Z");
    let desk = Desk { bench: Bench::with(&an_hour_ago), ..Desk::new() };
    let now = desk.now();
    desk.lists(&[paid("evt_2", "o-2", now - 3_600), paid("evt_1", "o-1", now - 3_601)]);
    let found = desk.found("shop").await;
    assert_eq!(found.events[0].standing, Standing::NeverArrived);
    assert_eq!(found.events[1].standing, Standing::Unproven(Unproven::BeforeUs));
    assert_eq!(desk.ingest("shop").await, [KEPT]);
}

#[tokio::test]
async fn pages_are_read_to_the_end_and_a_busy_vendor_is_waited_for() {
    let desk = Desk::new();
    let second = format!("{}&starting_after=evt_1", desk.first());
    let wait =
        |seconds| Ok(sekali::ports::Got { retry_after: Some(Duration::from_secs(seconds)), ..got(429, "") });
    desk.api.once(&desk.first(), wait(7));
    desk.api.once(&desk.first(), Err(NotGot::Unknown("broken".to_owned())));
    desk.api.state(&desk.first(), &stripe_page(&[paid("evt_1", "o-1", desk.now())], true));
    desk.api.once(&second, Ok(got(503, "")));
    desk.api.state(&second, &stripe_page(&[paid("evt_2", "o-2", desk.now())], false));
    let found = desk.found("shop").await;
    assert_eq!((found.pages, found.counts["never arrived"]), (2, 2));
    assert_eq!(*desk.waited.borrow(), [7, 2, 1].map(Duration::from_secs));
    let asked = desk.api.asked();
    assert!(
        asked
            .iter()
            .all(|asked| asked.headers == [("authorization".to_owned(), "Bearer invented".to_owned())])
    );
}

#[tokio::test]
async fn patience_ends_and_nothing_is_called_missing_then() {
    let desk = Desk::new();
    let busy = sekali::ports::Got { retry_after: Some(Duration::from_secs(1)), ..got(429, "") };
    desk.api.answer(&desk.first(), Ok(busy.clone()));
    assert_eq!(desk.not_listed().await, NotListed::Answered(429));
    assert_eq!(desk.waited.borrow().len(), 4);
    let long = LONGEST_WAIT + Duration::from_secs(1);
    for (answer, error) in [
        (sekali::ports::Got { retry_after: Some(long), ..got(403, "") }, NotListed::Busy(long)),
        (got(401, ""), NotListed::Denied(401)),
        (got(403, ""), NotListed::Denied(403)),
        (got(404, ""), NotListed::NotThere),
        (got(302, ""), NotListed::Answered(302)),
        (got(200, "<html>maintenance</html>"), NotListed::Bad(BadPage::NotJson)),
        (got(200, r#"{"error":{}}"#), NotListed::Bad(BadPage::NoList("/data".to_owned()))),
    ] {
        desk.api.answer(&desk.first(), Ok(answer));
        assert_eq!(desk.not_listed().await, error);
    }
    let circle = stripe_page(&[paid("evt_1", "o", desk.now())], true);
    desk.api.state(&desk.first(), &circle);
    desk.api.state(&format!("{}&starting_after=evt_1", desk.first()), &circle);
    assert_eq!(desk.not_listed().await, NotListed::Circle);
}

#[tokio::test]
async fn an_empty_list_is_nothing_and_no_error() {
    let desk = Desk::new();
    desk.lists(&[]);
    let found = desk.found("shop").await;
    assert!(found.counts.is_empty() && found.events.is_empty() && !found.more && found.pages == 1);
}

fn sent(number: u32, guid: &str, at: &str) -> String {
    format!(r#"{{"id":{number},"guid":"{guid}","event":"push","action":null,"delivered_at":"{at}"}}"#)
}

/// Answers the hook's list in two pages, and each delivery's content.
fn lists_deliveries(desk: &Desk) {
    let (today, long_ago) = ("2027-01-15T07:00:00Z", "2026-09-01T00:00:00Z");
    let page = |events: &[String], next: Option<&str>| {
        let link = next.map(|next| format!("<{HOOK}?per_page=100>; rel=\"first\", <{next}>; rel=\"next\""));
        Ok(sekali::ports::Got { link, ..got(200, &format!("[{}]", events.join(","))) })
    };
    let (first, second) = (format!("{HOOK}?per_page=100"), format!("{HOOK}?per_page=100&cursor=v1_2"));
    let third = format!("{HOOK}?per_page=100&cursor=v1_3");
    // Sent twice, the newest first; the third page is never needed.
    desk.api.answer(&first, page(&[sent(3, "g-1", today), sent(2, "g-2", today)], Some(&second)));
    desk.api.answer(&second, page(&[sent(1, "g-1", long_ago)], Some(&third)));
    for (number, guid) in [(3, "g-1"), (2, "g-other")] {
        let told = format!(
            r#"{{"id":{number},"request":{{"headers":{{"X-GitHub-Delivery":"{guid}","X-GitHub-Event":"push"}},"payload":{{"ref":"refs/heads/main", "after":"c-1"}}}}}}"#
        );
        desk.api.state(&format!("{HOOK}/{number}"), &told);
    }
}

#[tokio::test]
async fn deliveries_of_a_hook_are_one_event_each_and_their_content_is_read_below_the_list() {
    let desk = Desk::new();
    lists_deliveries(&desk);
    let found = desk.found("hook").await;
    assert_eq!((found.counts["never arrived"], found.pages), (2, 2), "{found:?}");
    assert!(!desk.api.asked().iter().any(|asked| asked.url.ends_with("v1_3")), "older than was asked for");

    assert_eq!(desk.bring("hook", &found.events[0]).await, Ok(KEPT));
    let another = desk.bring("hook", &found.events[1]).await;
    assert_eq!(another, Err(NotBrought::AnotherEvent), "the list says g-2, and the content is another's");
    desk.bench.process().await;
    let calls = desk.bench.destination.calls();
    let body = String::from_utf8_lossy(&calls[0].body).into_owned();
    assert!(calls.len() == 1 && body.contains("c-1") && body.contains("g-1"), "{body}");
}

#[tokio::test]
async fn a_delivery_may_be_the_repeat_of_an_event_whose_record_has_expired() {
    let desk = Desk::new();
    let window = desk.bench.deployment.limits(&"hook".into()).window;
    // The vendor's people repeat what is up to seven days old.
    let proved = window - DAY * 7 - Duration::from_secs(3_600);
    let now = desk.bench.clock.now();
    let at = |age: Duration| sekali::instant::Instant(now.minus(age)).to_string();
    let page = [sent(2, "g-young", &at(proved - Duration::from_secs(1))), sent(1, "g-old", &at(proved))];
    desk.api.state(&format!("{HOOK}?per_page=100"), &format!("[{}]", page.join(",")));
    let events = desk.found("hook").await.events;
    assert_eq!(events[0].standing, Standing::NeverArrived);
    assert_eq!(events[1].standing, Standing::Unproven(Unproven::Expired));
}

#[test]
fn an_endpoint_that_reads_what_the_list_does_not_say_is_named_with_the_place() {
    let config = load(("endpoints.toml", LISTING), &[]).unwrap();
    let unsaid = |name: &str| {
        let places = sekali::ingest::listed::unsaid(&config.endpoints[name]);
        places.into_iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(unsaid("shop"), [""; 0]);
    assert_eq!(unsaid("hook"), [""; 0], "this list says the headers, too");
    assert_eq!(unsaid("tenants"), ["header:X-Region"]);
}

#[tokio::test]
async fn the_events_of_one_tenant_are_not_those_of_another() {
    let desk = Desk::new();
    let endpoint = &desk.bench.deployment.config.endpoints["tenants"];
    let (acme, other) = (Tenant::from("acme"), Tenant::from("other"));
    assert!(Subject::of(endpoint, None).unwrap_err().to_string().contains("--tenant"));
    let shop = &desk.bench.deployment.config.endpoints["shop"];
    assert!(Subject::of(shop, Some(&acme)).unwrap_err().to_string().contains("leave --tenant out"));
    desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
    let entropy = SeededEntropy::seeded(7);
    let mut keys = Vec::new();
    for tenant in [&acme, &other] {
        let subject = Subject::of(endpoint, Some(tenant)).unwrap();
        let secret = Secret::new("invented").unwrap();
        let wait = async |_: Duration| {};
        let mut pages = Pages::new(&desk.api, wait, subject, &secret, desk.window()).unwrap();
        let now = desk.bench.clock.now();
        let compare =
            Compare { store: &desk.bench.store, entropy: &entropy, deployment: &desk.bench.deployment, now };
        let found = compare.all(subject, &mut pages, desk.window(), 50).await.unwrap();
        keys.push(found.events[0].key.clone().unwrap());
    }
    assert_ne!(keys[0], keys[1], "INV-7");
}
