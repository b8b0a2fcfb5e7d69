//! Rules put to events: which matches, what it asks for, when a human must look.

use super::*;
use crate::config::{Config, Endpoint, GuardAnswer, Late};
use crate::ids::{CorrelationId, EventType, Generation, PutNonce, Tenant};
use crate::json::JsonText;
use crate::key::{ActionKey, DedupScope, EventHash, EventKey, ResourceKey};
use crate::payload::Payload;
use crate::protocol::event::{Event, EventStatus, Progress, Seen, SignatureFacts};
use crate::protocol::order::ToldBy;
use crate::source::Source;
use crate::time::UnixMillis;

const SHOP: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP"]
resource.payment = "/payment"
[[endpoint.shop.rule]]
type = ["paid", "paid.later"]
when = { "/mode" = "live", "/amount" = 100 }
status = "paid"
action.pack = { order = "/order", amount = "/amount", note = "/note", topic = "header:X-Topic" }
late = "act"
[[endpoint.shop.rule]]
type = "paid"
status = "pending"
[[endpoint.shop.rule]]
type = "shipped"
action.tell = { amount = "/amount" }
late = "skip"
[resource.payment]
order = "time"
moves = ["pending -> paid -> refunded"]
[action]
pack = { key = ["order", "amount"], to = "packing" }
tell = { to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks" }
"#;

const PAID: &str = r#"{"payment":"pi_1","mode":"live","amount":1e2,"order":"o-7","note":{"a": [1.50]}}"#;

fn shop(change: impl Fn(&str) -> String) -> Config {
    crate::config::load(("endpoints.toml", &change(SHOP)), &[]).unwrap()
}

fn endpoint(config: &Config) -> &Endpoint {
    &config.endpoints["shop"]
}

fn event(event_type: Option<&str>) -> Event {
    let millis = UnixMillis(1_767_225_599_999);
    Event {
        key: EventKey::new(&DedupScope("shop".into()), None, &[Some("evt_1")]),
        endpoint: "shop".into(),
        vendor: "stripe".into(),
        tenant: None,
        id: "evt_1".into(),
        event_type: event_type.map(EventType::new),
        version: Some("2026-01-01".into()),
        occurred_at: Some(millis),
        sequence: None,
        received_at: millis,
        put_nonce: PutNonce::new("p"),
        correlation: CorrelationId::new("c"),
        signature: SignatureFacts { secret: None, scheme: "v1".into(), signed_at: None },
        hash: EventHash::of([PAID.as_bytes()]),
        seen: Seen {
            deliveries: 1,
            last_at: millis,
            conflicts: 0,
            conflict_hashes: Vec::new(),
            repeated_as: None,
        },
        progress: Progress {
            status: EventStatus::Received,
            generation: Generation::FIRST,
            opened_at: millis,
            attempts: 0,
            sweeps: 0,
            action: None,
            action_generation: None,
            let_go: Vec::new(),
            reason: None,
            failed_at: None,
            expires: None,
            due: None,
            waits: false,
        },
    }
}

fn payload(body: &str) -> Payload {
    let topic = (Source::parse("header:x-topic").unwrap(), JsonText::from_text("orders"));
    Payload::new(body.as_bytes().to_vec(), [topic])
}

fn planned_by(event: &Event, body: &str) -> Plan {
    plan(endpoint(&shop(str::to_owned)), event.into(), &payload(body), None)
}

fn planned(plan: Plan) -> Planned {
    match plan {
        Plan::Planned(planned) => planned,
        other => panic!("not planned: {other:?}"),
    }
}

fn held(plan: &Plan) -> String {
    match plan {
        Plan::Hold(hold) => {
            let reason = hold.reason();
            format!("{}: {}", reason.slug.as_str(), reason.cause.unwrap_or_default())
        }
        other => panic!("not held: {other:?}"),
    }
}

#[test]
fn a_matching_rule_asks_for_its_move_and_its_action() {
    let planned = planned(planned_by(&event(Some("paid.later")), PAID));
    assert_eq!(planned.rule, 0);
    let order = OrderValue::Time(UnixMillis(1_767_225_599_999));
    let resource = ResourceKey::new(&"payment".into(), None, "pi_1");
    let to = "paid".into();
    let told_by = ToldBy::Event;
    let wanted = PlannedMove { resource, kind: "payment".into(), to, order, told_by };
    assert_eq!(planned.resource_move, Some(wanted));
    let action = planned.action.unwrap();
    assert_eq!(action.key, ActionKey::from_fields(&"pack".into(), None, &["o-7", "1e2"]));
    assert_eq!((action.destination.as_str(), action.late), ("packing", Late::Act));
    let fields: Vec<_> = action
        .fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_ref().map_or("-", JsonText::as_json)))
        .collect();
    assert_eq!(
        fields,
        [("order", r#""o-7""#), ("amount", "1e2"), ("note", r#"{"a": [1.50]}"#), ("topic", r#""orders""#)]
    );
}

#[test]
fn the_first_rule_that_matches_counts() {
    let by = |body: &str| planned(planned_by(&event(Some("paid")), body)).rule;
    assert_eq!(by(PAID), 0);
    assert_eq!(by(&PAID.replace("1e2", "99")), 1);
    assert_eq!(by(&PAID.replace(r#""live""#, "true")), 1);
}

#[test]
fn without_a_matching_rule_nothing_is_asked_for() {
    assert_eq!(planned_by(&event(Some("paid.later")), r#"{"mode":"test"}"#), Plan::NoRule);
    assert_eq!(planned_by(&event(Some("refunded")), PAID), Plan::NoRule);
    assert_eq!(planned_by(&event(None), PAID), Plan::NoRule);
}

#[test]
fn a_rule_for_every_type_takes_an_event_without_one() {
    let config = shop(|text| text.replace(r#"type = "shipped""#, r#"type = "*""#));
    let planned = planned(plan(endpoint(&config), (&event(None)).into(), &payload("{}"), None));
    assert_eq!(planned.rule, 2);
}

// INV-7: an absent, null or empty part of a key makes the event held.
#[test]
fn a_key_without_a_part_holds_the_event() {
    let hold = |from: &str, to: &str| held(&planned_by(&event(Some("paid")), &PAID.replace(from, to)));
    let order = "missing_key_part: key field order of action pack: /order is";
    assert_eq!(hold(r#","order":"o-7""#, ""), format!("{order} absent"));
    assert_eq!(hold(r#""o-7""#, "null"), format!("{order} null"));
    assert_eq!(hold(r#""o-7""#, r#""""#), format!("{order} empty"));
    assert_eq!(hold(r#""o-7""#, r#"{"id":1}"#), format!("{order} a list or an object"));
    assert_eq!(hold(r#""pi_1""#, "null"), "missing_key_part: key of resource payment: /payment is null");
}

#[test]
fn a_field_that_is_no_key_may_be_absent() {
    let planned = planned(planned_by(&event(Some("shipped")), "{}"));
    assert_eq!(planned.resource_move, None);
    let action = planned.action.unwrap();
    assert_eq!(action.fields, [("amount".into(), None)]);
    assert_eq!(action.late, Late::Skip);
    assert_eq!(action.key, ActionKey::from_event(&"tell".into(), None, &event(None).key));
}

#[test]
fn a_body_that_is_not_json_holds_the_event() {
    assert_eq!(planned_by(&event(Some("paid")), "{\"payment\":"), Plan::Hold(Hold::Unreadable));
}

#[test]
fn an_ordered_resource_needs_an_order() {
    let mut undated = event(Some("paid"));
    undated.occurred_at = None;
    assert_eq!(held(&planned_by(&undated, PAID)), "no_order: resource payment");
    let ranked = shop(|text| text.replace(r#"order = "time""#, r#"order = "rank""#));
    let by_rank = planned(plan(endpoint(&ranked), (&undated).into(), &payload(PAID), None));
    assert_eq!(by_rank.resource_move.unwrap().order, OrderValue::Rank);
}

// INV-7: tenants never share.
#[test]
fn tenants_have_keys_of_their_own_and_none_is_no_tenant() {
    let config = shop(|text| text.replace("secrets", "tenant = \"path\"\nsecrets"));
    let mut theirs = event(Some("paid"));
    let by = |event: &Event| plan(endpoint(&config), event.into(), &payload(PAID), None);
    assert_eq!(held(&by(&theirs)), "missing_key_part: no tenant");
    theirs.tenant = Some(Tenant::new(""));
    assert_eq!(by(&theirs), Plan::Hold(Hold::NoTenant));
    let keys = |tenant: &str| {
        let mut event = event(Some("paid"));
        event.tenant = Some(Tenant::new(tenant));
        let planned = planned(by(&event));
        (planned.resource_move.unwrap().resource, planned.action.unwrap().key)
    };
    let (a, b) = (keys("a"), keys("b"));
    assert!(a.0 != b.0 && a.1 != b.1);
}

#[test]
fn two_events_name_one_action_and_differ_in_their_input() {
    let one = planned(planned_by(&event(Some("paid")), PAID)).action.unwrap();
    let same = planned(planned_by(&event(Some("paid.later")), PAID)).action.unwrap();
    let other = planned(planned_by(&event(Some("paid")), &PAID.replace("1.50", "1.51"))).action.unwrap();
    assert_eq!((&one.key, one.input_digest()), (&same.key, same.input_digest()));
    assert_eq!(one.key, other.key);
    assert_ne!(one.input_digest(), other.input_digest());
    let null = planned(planned_by(&event(Some("shipped")), r#"{"amount":null}"#)).action.unwrap();
    let absent = planned(planned_by(&event(Some("shipped")), "{}")).action.unwrap();
    assert_ne!(null.input_digest(), absent.input_digest());
}

#[test]
fn ingest_is_told_every_place_once() {
    let config = shop(str::to_owned);
    let shown: Vec<_> = sources(endpoint(&config)).iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["/amount", "/mode", "/note", "/order", "/payment", "header:X-Topic"]);
}

#[test]
fn the_envelope_keeps_values_as_they_were_and_fields_in_their_order() {
    let mut event = event(Some("paid"));
    let action = planned(planned_by(&event, &PAID.replace(r#","note":{"a": [1.50]}"#, ""))).action.unwrap();
    let text = |event: &Event| String::from_utf8(envelope(event, &action)).unwrap();
    let data = r#""data":{"order":"o-7","amount":1e2,"note":null,"topic":"orders"}}"#;
    assert_eq!(
        text(&event),
        [
            r#"{"event_id":"evt_1","event_type":"paid","event_version":"2026-01-01","#,
            r#""occurred_at":"2025-12-31T23:59:59.999Z","vendor":"stripe","endpoint":"shop","action":"pack","#,
            data
        ]
        .concat()
    );
    event.tenant = Some(Tenant::new("t\"1"));
    (event.event_type, event.version, event.occurred_at) = (None, None, None);
    assert_eq!(
        text(&event),
        [
            r#"{"event_id":"evt_1","event_type":null,"event_version":null,"occurred_at":null,"#,
            r#""vendor":"stripe","endpoint":"shop","tenant":"t\"1","action":"pack","#,
            data
        ]
        .concat()
    );
}

#[test]
fn a_guard_stops_what_does_not_meet_its_demand() {
    let guards = concat!(
        "[[endpoint.shop.guard]]\nnetworks = [\"192.0.2.0/24\"]\nanswer = 403\n",
        "[[endpoint.shop.guard]]\ntypes = [\"paid\", \"shipped\"]\nanswer = 200\n",
        "[[endpoint.shop.guard]]\nwhen = { \"/livemode\" = true }\nanswer = 200\n",
    );
    let config =
        shop(|text| text.replacen("[[endpoint.shop.rule]]", &format!("{guards}[[endpoint.shop.rule]]"), 1));
    let endpoint = endpoint(&config);
    let from = |address: &str| network_guard(endpoint, address.parse().ok()).map(|guard| guard.answer);
    assert_eq!(from("192.0.2.9"), None);
    assert_eq!(from("203.0.113.1"), Some(GuardAnswer::Refuse));
    assert_eq!(from("nobody knows"), Some(GuardAnswer::Refuse));
    let stops = |event_type: &str, body: &str| {
        let guard = event_guard(endpoint, Some(&event_type.into()), &payload(body));
        guard.map(|guard| guard.map(|guard| guard.place.line))
    };
    assert_eq!(stops("paid", r#"{"livemode":true}"#), Ok(None));
    assert_eq!(stops("refunded", r#"{"livemode":true}"#), Ok(Some(9)));
    assert_eq!(stops("paid", r#"{"livemode":"true"}"#), Ok(Some(12)));
    assert_eq!(stops("paid", "{}"), Ok(Some(12)));
    assert!(stops("paid", "{").is_err());
}
