//! Words, tables and guards: what the stores of every kind rest on.

use super::action::{Action, ActionGuard, ActionStatus, FrozenRequest};
use super::event::{Event, EventGuard, EventStatus, Progress, Seen, SignatureFacts};
use super::order::{Move, ToldBy, Verdict, judge};
use super::policy::{Limits, MOVED_AFTER, Stamp};
use super::reason::Slug;
use super::resource::{Resource, ResourceGuard};
use crate::config::Graph;
use crate::ids::{ActionName, Generation, OwnerNonce, PutNonce, Token, Version};
use crate::key::{ActionKey, DedupScope, EventHash, EventKey, ResourceKey};
use crate::rule::{InputDigest, OrderValue};
use crate::sequence::Sequence;
use crate::time::UnixMillis;
use std::time::Duration;

const NOW: UnixMillis = UnixMillis(1_000_000_000);

fn event() -> Event {
    Event {
        key: EventKey::new(&DedupScope("stripe".into()), None, &[Some("evt_1")]),
        endpoint: "stripe".into(),
        vendor: "stripe".into(),
        tenant: None,
        id: "evt_1".into(),
        event_type: None,
        version: None,
        occurred_at: None,
        sequence: None,
        received_at: NOW,
        put_nonce: PutNonce::new("put-1"),
        correlation: "c-1".into(),
        signature: SignatureFacts { secret: None, scheme: "v1".into(), signed_at: None },
        hash: EventHash::of([b"one".as_slice()]),
        seen: Seen {
            deliveries: 1,
            last_at: NOW,
            conflicts: 0,
            conflict_hashes: Vec::new(),
            repeated_as: None,
        },
        progress: Progress {
            status: EventStatus::Received,
            generation: Generation::FIRST,
            opened_at: NOW,
            attempts: 0,
            sweeps: 0,
            action: None,
            action_generation: None,
            let_go: Vec::new(),
            reason: None,
            failed_at: None,
            expires: None,
            due: Some(NOW),
            waits: false,
        },
    }
}

fn action() -> Action {
    Action {
        key: ActionKey::from_fields(&ActionName::from("pack"), None, &["order_1"]),
        name: "pack".into(),
        status: ActionStatus::Begun,
        generation: Generation::FIRST,
        token: Token::FIRST,
        owner: OwnerNonce::new("me"),
        lease_until: NOW,
        first_begun_at: NOW,
        request: FrozenRequest { destination: "packing".into(), body: Vec::new(), resource: None },
        input: InputDigest::from_stored("one"),
        begun_by: event().key,
        doubted: false,
        result: None,
        reason: None,
        settled_at: None,
        last_done: None,
    }
}

#[test]
fn a_stored_word_is_read_back_as_what_was_stored_and_no_other() {
    for status in EventStatus::ALL {
        assert_eq!(EventStatus::from_stored(status.as_str()), Some(status));
    }
    for status in ActionStatus::ALL {
        assert_eq!(ActionStatus::from_stored(status.as_str()), Some(status));
    }
    for slug in Slug::ALL {
        assert_eq!(Slug::from_stored(slug.as_str()), Some(*slug));
    }
    // Tables hold these words: another spelling would not know them.
    assert_eq!(
        EventStatus::ALL.map(EventStatus::as_str),
        ["received", "processing", "processed", "ignored", "failed", "held", "in_doubt"]
    );
    assert_eq!(
        ActionStatus::ALL.map(ActionStatus::as_str),
        ["begun", "ready", "done", "rejected", "in_doubt"]
    );
    assert_eq!(EventStatus::from_stored("queued"), None);
    assert_eq!(ActionStatus::from_stored(""), None);
}

// INV-3.
#[test]
fn within_one_generation_no_status_goes_back() {
    use EventStatus::{Failed, Held, Ignored, InDoubt, Processed, Processing, Received};
    let events = |from: EventStatus| EventStatus::ALL.into_iter().filter(move |to| from.may_become(*to));
    let to = |from| events(from).collect::<Vec<_>>();
    assert_eq!(to(Received), EventStatus::ALL);
    assert_eq!(to(Processing), [Processing, Processed, Failed, InDoubt]);
    assert_eq!(to(InDoubt), [Processed, Failed, InDoubt]);
    assert_eq!(to(Held), [Ignored, Held]);
    for end in [Processed, Ignored, Failed] {
        assert_eq!(to(end), [end]);
    }
    let actions = |from: ActionStatus| {
        ActionStatus::ALL.into_iter().filter(|to| from.may_become(*to)).collect::<Vec<_>>()
    };
    assert_eq!(actions(ActionStatus::Begun), ActionStatus::ALL);
    let begun_or_given_up = [ActionStatus::Begun, ActionStatus::Ready, ActionStatus::Rejected];
    assert_eq!(actions(ActionStatus::Ready), begun_or_given_up);
    let settled = [ActionStatus::Done, ActionStatus::Rejected, ActionStatus::InDoubt];
    assert_eq!(actions(ActionStatus::InDoubt), settled);
    for end in [ActionStatus::Done, ActionStatus::Rejected] {
        assert_eq!(actions(end), [end]);
    }
}

#[test]
fn who_has_to_look_follows_from_the_status() {
    use EventStatus::{Failed, Held, Ignored, InDoubt, Processed};
    let of =
        |is: fn(EventStatus) -> bool| EventStatus::ALL.into_iter().filter(|s| is(*s)).collect::<Vec<_>>();
    assert_eq!(of(EventStatus::is_finished), [Processed, Ignored]);
    assert_eq!(of(EventStatus::is_at_rest), [Processed, Ignored, Failed, Held]);
    assert_eq!(of(EventStatus::needs_human), [Failed, Held, InDoubt]);
}

// INV-5.
#[test]
fn an_event_write_is_refused_where_anything_that_it_names_has_changed() {
    let event = event();
    let guard = EventGuard { counted: Some(event.seen.counted()), ..event.guard() };
    assert!(guard.admits(&event));
    let with = |change: fn(&mut Event)| {
        let mut changed = event.clone();
        change(&mut changed);
        changed
    };
    for changed in [
        with(|event| event.progress.status = EventStatus::Failed),
        with(|event| event.progress.generation = Generation::FIRST.next()),
        with(|event| event.hash = EventHash::of([b"two".as_slice()])),
        with(|event| event.progress.due = Some(NOW.plus(Duration::from_secs(1)))),
        with(|event| event.progress.due = None),
        with(|event| event.seen.deliveries += 1),
        with(|event| event.seen.conflicts += 1),
    ] {
        assert!(!guard.admits(&changed), "{changed:?}");
    }
    // Counters alone never refuse a claim.
    assert!(event.guard().admits(&with(|event| event.seen.deliveries += 1)));
    // Once claimed, the frozen request counts and not the content.
    let claimed = with(|event| event.progress.action = Some(action().key));
    assert_eq!(claimed.guard().hash, None);
    assert_eq!(event.guard().hash, Some(event.hash.clone()));
}

// INV-5.
#[test]
fn an_action_write_is_refused_where_anything_that_it_names_has_changed() {
    let action = action();
    let with = |change: fn(&mut Action)| {
        let mut changed = action.clone();
        change(&mut changed);
        changed
    };
    let ready = with(|action| action.status = ActionStatus::Ready);
    let marked = with(|action| action.status = ActionStatus::InDoubt);
    let next = with(|action| action.generation = Generation::FIRST.next());
    let taken = with(|action| action.token = Token::FIRST.next());
    let others = with(|action| action.owner = OwnerNonce::new("other"));
    let (as_read, held) = (action.as_read(), action.held());
    assert!(as_read.admits(Some(&action)) && held.admits(Some(&action)));
    for changed in [&ready, &marked, &next, &taken] {
        assert!(!as_read.admits(Some(changed)), "{changed:?}");
    }
    assert!(held.admits(Some(&marked)), "a late owner settles what was only marked");
    for changed in [&ready, &taken, &others] {
        assert!(!held.admits(Some(changed)), "{changed:?}");
    }
    assert!(ActionGuard::Absent.admits(None) && !ActionGuard::Absent.admits(Some(&action)));
    assert!(!as_read.admits(None) && !held.admits(None));
}

#[test]
fn an_idempotency_key_is_printable_and_the_same_for_every_call_of_a_generation() {
    let key = action().idempotency_key();
    let taken_over = Action { token: Token::FIRST.next(), owner: OwnerNonce::new("other"), ..action() };
    assert_eq!(taken_over.idempotency_key(), key);
    assert_eq!(
        (key.as_str().len(), key.as_str().split_once('-').map(|(name, _)| name)),
        (47, Some("sekali"))
    );
    assert!(key.as_str().chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
}

fn resource(status: &str, order: OrderValue) -> Resource {
    Resource {
        key: ResourceKey::new(&"payment".into(), None, "pi_1"),
        status: status.into(),
        order,
        version: Version::FIRST,
        moved_by: event().key,
        moved_at: NOW,
    }
}

#[test]
fn a_resource_write_names_the_version_that_was_read() {
    let read = resource("paid", OrderValue::Rank);
    let moved = Resource { version: Version::FIRST.next(), ..read.clone() };
    let guard = ResourceGuard::of(Some(&read));
    assert!(guard.admits(Some(&read)) && !guard.admits(Some(&moved)) && !guard.admits(None));
    assert!(ResourceGuard::of(None).admits(None) && !ResourceGuard::of(None).admits(Some(&read)));
}

/// `pending -> paid -> refunded`, and a way from `paid` to `disputed` and back.
fn graph() -> Graph {
    Graph::new([("pending", "paid"), ("paid", "refunded"), ("paid", "disputed"), ("disputed", "paid")])
        .unwrap()
}

// INV-3: the table of docs/protocol.md, row by row.
#[test]
fn the_order_of_a_resource_is_judged_as_the_table_says() {
    let graph = graph();
    let at = |number: &str| OrderValue::Sequence(Sequence::parse(number).unwrap());
    let says = |to: &str, order, stored: Option<&Resource>| {
        let wanted = Move {
            told_by: ToldBy::Event,
            resource: ResourceKey::new(&"payment".into(), None, "pi_1"),
            to: to.into(),
            order,
            graph: &graph,
        };
        judge(&wanted, stored, NOW)
    };
    assert_eq!(says("refunded", at("1"), None), Verdict::Moves);
    let paid = resource("paid", at("5"));
    let says = |to, number| says(to, at(number), Some(&paid));
    assert_eq!(
        [says("paid", "4"), says("paid", "5"), says("paid", "6")],
        [Verdict::Repeats, Verdict::Repeats, Verdict::Confirms]
    );
    assert_eq!(
        [says("refunded", "4"), says("refunded", "5"), says("refunded", "6")],
        [Verdict::Late, Verdict::Moves, Verdict::Moves]
    );
    // There is a way back: a tie says nothing.
    assert_eq!([says("disputed", "5"), says("disputed", "6")], [Verdict::Late, Verdict::Moves]);
    assert_eq!([says("pending", "4"), says("pending", "5"), says("pending", "6")], [Verdict::Late; 3]);
    assert_eq!(says("shipped", "6"), Verdict::UnknownStatus);
    // Its order was changed by a deploy: the graph alone decides.
    let ranked = resource("paid", OrderValue::Rank);
    let says = |to: &str| {
        let resource = ranked.key.clone();
        judge(
            &Move { resource, to: to.into(), order: at("1"), told_by: ToldBy::Event, graph: &graph },
            Some(&ranked),
            NOW,
        )
    };
    assert_eq!(
        [says("pending"), says("paid"), says("refunded")],
        [Verdict::Late, Verdict::Repeats, Verdict::Moves]
    );
}

// INV-3: the API is newer than what is stored, and moves it only along the graph.
#[test]
fn what_the_api_says_moves_a_resource_only_where_the_graph_leads() {
    let graph = graph();
    let at = |number: &str| OrderValue::Sequence(Sequence::parse(number).unwrap());
    let paid = resource("paid", at("5"));
    let says = |to: &str, number| {
        let (resource, to, told_by) = (paid.key.clone(), to.into(), ToldBy::Api);
        judge(&Move { resource, to, order: at(number), told_by, graph: &graph }, Some(&paid), NOW)
    };
    assert_eq!([says("paid", "4"), says("disputed", "4")], [Verdict::Outdated; 2]);
    assert_eq!([says("paid", "5"), says("paid", "6")], [Verdict::Repeats, Verdict::Confirms]);
    assert_eq!([says("disputed", "5"), says("disputed", "6")], [Verdict::Moves; 2]);
    assert_eq!([says("pending", "5"), says("pending", "6")], [Verdict::Late; 2]);
}

#[test]
fn a_time_more_than_a_day_ahead_orders_nothing() {
    let graph = graph();
    let ahead = |millis| {
        let order = OrderValue::Time(NOW.plus(Duration::from_millis(millis)));
        let wanted = Move {
            told_by: ToldBy::Event,
            resource: ResourceKey::new(&"payment".into(), None, "pi_1"),
            to: "paid".into(),
            order,
            graph: &graph,
        };
        judge(&wanted, None, NOW)
    };
    const DAY: u64 = 86_400_000;
    assert_eq!((ahead(DAY), ahead(DAY + 1)), (Verdict::Moves, Verdict::TooFarAhead));
}

#[test]
fn the_bounds_are_those_of_the_readme() {
    let limits = Limits::standard(Duration::from_secs(1));
    assert_eq!((limits.attempts, limits.age), (10, Duration::from_secs(72 * 3600)));
    assert_eq!(
        (limits.first_sweep, limits.longest_sweep),
        (Duration::from_secs(300), Duration::from_secs(21_600))
    );
}

#[test]
fn a_message_stamped_a_minute_late_is_late_and_later_it_was_moved() {
    let stamp = |span| Stamp { written_at: NOW, stamped_at: NOW.plus(span) };
    assert!(!stamp(MOVED_AFTER).moved());
    assert!(stamp(MOVED_AFTER + Duration::from_millis(1)).moved());
}
