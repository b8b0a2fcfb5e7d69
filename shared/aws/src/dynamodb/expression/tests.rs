//! Each guard and transition, as the words that DynamoDB is given.

use super::*;
use crate::dynamodb::item::tests::{bare_event, event_key, full_action, full_event, full_resource};
use aws_sdk_dynamodb::types::AttributeValue;
use sekali::ids::{Generation, Token, Version};
use sekali::ports::Due;
use sekali::protocol::event::Counted;
use sekali::protocol::history::History;
use sekali::protocol::transition::Content;
use std::collections::BTreeSet;

/// Every placeholder is used and every used one is defined: DynamoDB refuses
/// anything else.
fn assert_whole(texts: &[&str], terms: &Terms) {
    let used: BTreeSet<String> = texts
        .iter()
        .flat_map(|text| text.split(|c: char| !(c.is_ascii_alphanumeric() || "_#:".contains(c))))
        .filter(|word| word.starts_with(['#', ':']))
        .map(str::to_owned)
        .collect();
    let defined: BTreeSet<String> = terms.names.keys().chain(terms.values.keys()).cloned().collect();
    assert_eq!(used, defined);
    assert!(terms.names.iter().all(|(placeholder, name)| *placeholder == format!("#{name}")));
}

/// The change's update and condition, after a look at its placeholders.
fn words(change: &Change) -> (&str, &str) {
    let update = change.update.as_deref().unwrap_or_default();
    assert_whole(&[update, &change.condition], &change.terms);
    (update, &change.condition)
}

fn value<'a>(change: &'a Change, label: &str) -> &'a AttributeValue {
    &change.terms.values[label]
}

fn write(from: EventGuard) -> EventWrite {
    EventWrite { key: event_key(), from, to: full_event().progress, content: None }
}

// INV-5
#[test]
fn an_event_write_names_status_and_generation_and_what_else_its_guard_says() {
    let guard = EventGuard { hash: None, due: None, ..full_event().guard() };
    let change = event_write(&write(guard.clone()));
    assert_eq!(words(&change).1, "#status = :was_status AND #generation = :was_generation");
    assert_eq!(value(&change, ":was_status"), &text("in_doubt"));
    assert_eq!(value(&change, ":was_generation"), &number(2));
    assert_eq!((change.table, change.pk.as_str()), (Table::Events, event_key().as_str()));

    let unclaimed = EventGuard { due: Some(UnixMillis(13)), ..bare_event().guard() };
    let change = event_write(&write(unclaimed));
    assert_eq!(
        words(&change).1,
        "#status = :was_status AND #generation = :was_generation AND #hash = :was_hash AND #due = :was_due"
    );
    assert_eq!(value(&change, ":was_hash"), &text("hash"));
    assert_eq!(value(&change, ":was_due"), &number(13));

    let taking_the_ttl = EventGuard { counted: Some(Counted { deliveries: 7, conflicts: 2 }), ..guard };
    let change = event_write(&write(taking_the_ttl));
    assert!(words(&change).1.ends_with("AND #deliveries = :was_deliveries AND #conflicts = :was_conflicts"));
    assert_eq!(
        (value(&change, ":was_deliveries"), value(&change, ":was_conflicts")),
        (&number(7), &number(2))
    );
}

#[test]
fn an_event_write_sets_or_removes_every_field_of_its_progress_and_nothing_else() {
    let change = event_write(&write(full_event().guard()));
    assert_eq!(
        words(&change).0,
        "SET #status = :status, #generation = :generation, #opened_at = :opened_at, #attempts = :attempts, \
         #sweeps = :sweeps, #action = :action, #action_generation = :action_generation, \
         #let_go = :let_go, #reason = :reason, \
         #cause = :cause, #failed_at = :failed_at, #expires_at = :expires_at, #due = :due, #open = :open, \
         #waits = :waits"
    );
    let bare = EventWrite { to: bare_event().progress, ..write(full_event().guard()) };
    assert_eq!(
        words(&event_write(&bare)).0,
        "SET #status = :status, #generation = :generation, #opened_at = :opened_at, #attempts = :attempts, \
         #sweeps = :sweeps REMOVE #action, #action_generation, #let_go, #reason, #cause, #failed_at, #expires_at, \
         #due, #open, #waits"
    );
}

// INV-3: what ingest counts and what the protocol moves never meet.
#[test]
fn a_counter_touches_nothing_that_a_claim_compares_or_writes() {
    let names = |change: Change| change.terms.names.into_keys().collect::<BTreeSet<_>>();
    let mut protocol = names(event_write(&write(bare_event().guard())));
    protocol.extend(["#due".to_owned(), "#hash".to_owned()]);
    let hash = EventHash::from_stored("other");
    for counted in [
        count_duplicate(&event_key(), None, UnixMillis(1)),
        record_conflict(&event_key(), &hash, UnixMillis(1), Listing::Listed),
        record_conflict(&event_key(), &hash, UnixMillis(1), Listing::Counted),
    ] {
        assert!(names(counted).is_disjoint(&protocol));
    }
}

// INV-5
#[test]
fn an_action_write_names_what_its_guard_says() {
    let put = |from| action_write(&ActionWrite::Put { from, to: Box::new(full_action()) }).unwrap();
    let change = put(ActionGuard::Absent);
    assert_eq!(words(&change).1, "attribute_not_exists(#pk)");

    let change = put(full_action().as_read());
    assert_eq!(
        words(&change).1,
        "#status = :was_status AND #generation = :was_generation AND #token = :was_token"
    );
    assert_eq!(value(&change, ":was_status"), &text("done"));
    assert_eq!(value(&change, ":was_token"), &number(Token::FIRST.next()));

    let change = put(full_action().held());
    assert_eq!(
        words(&change).1,
        "#owner = :was_owner AND #token = :was_token AND #status IN (:begun, :in_doubt)"
    );
    assert_eq!(value(&change, ":was_owner"), &text("owner"));
    assert_eq!((value(&change, ":begun"), value(&change, ":in_doubt")), (&text("begun"), &text("in_doubt")));
    assert_eq!((change.table, change.pk.as_str()), (Table::Actions, full_action().key.as_str()));
}

#[test]
fn an_action_write_sets_all_of_it_and_never_lowers_the_schema() {
    let write = ActionWrite::Put { from: ActionGuard::Absent, to: Box::new(full_action()) };
    let change = action_write(&write).unwrap();
    assert_eq!(
        words(&change).0,
        "SET #schema = if_not_exists(#schema, :schema), #name = :name, #status = :status, \
         #generation = :generation, #token = :token, #owner = :owner, #lease_until = :lease_until, \
         #first_begun_at = :first_begun_at, #destination = :destination, #resource = :resource, #body = :body, \
         #input = :input, #begun_by = :begun_by, #doubted = :doubted, #result = :result, #reason = :reason, \
         #settled_at = :settled_at, #last_done = :last_done REMOVE #body_apart, #result_apart, #cause"
    );
}

#[test]
fn a_check_of_an_action_writes_nothing() {
    let change = action_write(&ActionWrite::Check { action: Box::new(full_action()) }).unwrap();
    assert_eq!(change.update, None);
    assert_eq!(
        words(&change).1,
        "#status = :was_status AND #generation = :was_generation AND #token = :was_token"
    );
}

// INV-3
#[test]
fn a_resource_moves_only_from_the_version_that_was_read() {
    let write = |from| resource_write(&ResourceWrite { from, to: full_resource() });
    let change = write(ResourceGuard::Absent);
    assert_eq!(words(&change).1, "attribute_not_exists(#pk)");
    let change = write(ResourceGuard::Version(Version::FIRST));
    assert_eq!(
        words(&change),
        (
            "SET #schema = if_not_exists(#schema, :schema), #status = :status, #order = :order, \
             #version = :version, #moved_by = :moved_by, #moved_at = :moved_at",
            "#version = :was_version"
        )
    );
    assert_eq!((value(&change, ":was_version"), value(&change, ":version")), (&number(1), &number(2)));
}

// INV-1
#[test]
fn an_event_is_created_only_where_none_is() {
    let whole = create_event(&full_event());
    assert_eq!(whole.condition, "attribute_not_exists(#pk)");
    assert_whole(&[&whole.condition], &whole.terms);
    assert_eq!(whole.item, event::encode(&full_event()));
}

// INV-9
#[test]
fn the_ttl_of_a_payload_never_becomes_an_earlier_one() {
    let hash = EventHash::from_stored("hash");
    let whole = put_payload(Item::new(), ExpiresAt(5));
    assert_eq!(whole.condition, "attribute_not_exists(#pk) OR #expires_at < :expires_at");
    assert_whole(&[&whole.condition], &whole.terms);

    let later = format!("{SETTLES} AND (attribute_not_exists(#expires_at) OR #expires_at < :expires_at)");
    let set = "SET #expires_at = :expires_at, #generation = :generation";
    let change = expire_part("part", SECOND, ExpiresAt(5));
    assert_eq!(words(&change), (set, &*later));
    assert_eq!(value(&change, ":generation"), &number(2));
    let change = expire_payload("payload", None, SECOND, ExpiresAt(5));
    let alone = format!("{later} AND attribute_not_exists(#digest)");
    assert_eq!(words(&change), (set, &*alone));
    let change = expire_payload("payload", Some(&hash), SECOND, ExpiresAt(5));
    let with_parts = format!("{later} AND #digest = :was_digest");
    assert_eq!(words(&change), (set, &*with_parts));
}

const SECOND: Generation = Generation::FIRST.next();

/// What a newer generation settled stays as it is.
const SETTLES: &str =
    "attribute_exists(#pk) AND (attribute_not_exists(#generation) OR #generation <= :generation)";

// INV-9: the head loses its TTL only while it names the parts that lost theirs.
#[test]
fn a_payload_is_kept_as_one_item_or_as_the_head_of_these_parts() {
    let hash = EventHash::from_stored("hash");
    let update = "SET #generation = :generation REMOVE #expires_at";
    let change = keep_part("part", SECOND);
    assert_eq!((words(&change), value(&change, ":generation")), ((update, SETTLES), &number(2)));
    let alone = format!("{SETTLES} AND attribute_not_exists(#digest)");
    assert_eq!(words(&keep_payload("payload", None, SECOND)), (update, &*alone));
    let with_parts = format!("{SETTLES} AND #digest = :was_digest");
    assert_eq!(words(&keep_payload("payload", Some(&hash), SECOND)), (update, &*with_parts));
}

// What people say goes on record only as it was read: nobody's word writes over another's.
#[test]
fn a_record_that_counts_its_writes_is_written_from_the_one_that_was_read() {
    let first = set_pauses(0, &Pauses::default()).unwrap();
    assert_eq!(words(&first).1, "attribute_not_exists(#pk)");
    let next = set_pauses(3, &Pauses { version: 4, ..Pauses::default() }).unwrap();
    assert_eq!(words(&next).1, "#version = :was_version");
    assert_eq!((value(&next, ":was_version"), value(&next, ":version")), (&number(3), &number(4)));

    let write = |from| HistoryWrite { key: event_key(), from, to: History::default() };
    assert_eq!(words(&history_write(&write(0)).unwrap()).1, "attribute_not_exists(#pk)");
    let next = history_write(&write(2)).unwrap();
    assert_eq!((words(&next).1, value(&next, ":was_written")), ("#written = :was_written", &number(2)));
}

#[test]
fn a_duplicate_is_counted_where_there_is_an_event() {
    let change = count_duplicate(&event_key(), None, UnixMillis(40));
    assert_eq!(words(&change), ("SET #last_seen = :last_seen ADD #deliveries :one", "attribute_exists(#pk)"));
}

#[test]
fn what_repeats_a_listed_event_leaves_the_first_hash_of_its_body() {
    let change = count_duplicate(&event_key(), Some(&EventHash::from_stored("other")), UnixMillis(40));
    assert_eq!(
        words(&change).0,
        "SET #last_seen = :last_seen, #repeated_as = if_not_exists(#repeated_as, :repeated_as) ADD #deliveries :one"
    );
}

// INV-8
#[test]
fn a_conflict_is_counted_always_and_listed_while_there_is_room() {
    let hash = EventHash::from_stored("other");
    let change = record_conflict(&event_key(), &hash, UnixMillis(40), Listing::Listed);
    assert_eq!(
        words(&change),
        (
            "SET #last_seen = :last_seen, \
             #conflict_hashes = list_append(if_not_exists(#conflict_hashes, :none), :listed) ADD #conflicts :one",
            "attribute_exists(#pk) AND (attribute_not_exists(#conflict_hashes) OR \
             (size(#conflict_hashes) < :most AND NOT contains(#conflict_hashes, :conflict)))"
        )
    );
    assert_eq!(value(&change, ":most"), &number(3));
    let change = record_conflict(&event_key(), &hash, UnixMillis(40), Listing::Counted);
    assert_eq!(words(&change), ("SET #last_seen = :last_seen ADD #conflicts :one", "attribute_exists(#pk)"));
}

// INV-1: only while nothing was decided on the old content.
#[test]
fn content_is_adopted_with_its_facts_only_by_an_unclaimed_event_as_it_was_seen() {
    let to = ContentFacts { hash: EventHash::from_stored("new"), ..bare_event().facts() };
    let change = adopt(&bare_event(), &to, UnixMillis(40), Listing::Counted);
    assert_eq!(
        words(&change),
        (
            "SET #hash = :hash, #last_seen = :last_seen REMOVE #type, #version, #occurred_at, #sequence \
             ADD #conflicts :one",
            "#hash = :was_hash AND #status = :was_status AND #generation = :was_generation AND \
             attribute_not_exists(#action) AND attribute_not_exists(#expires_at)"
        )
    );
    let with_ttl = Event { progress: full_event().progress, ..bare_event() };
    let change_with_ttl = adopt(&with_ttl, &to, UnixMillis(40), Listing::Counted);
    assert!(words(&change_with_ttl).1.ends_with("AND attribute_exists(#expires_at)"));
    assert_eq!((value(&change, ":hash"), value(&change, ":was_hash")), (&text("new"), &text("hash")));
    let listed = adopt(&bare_event(), &full_event().facts(), UnixMillis(40), Listing::Listed);
    assert_eq!(value(&listed, ":conflict"), &text("hash"));
    assert!(words(&listed).0.starts_with(EVERY_FACT));
    assert_eq!(value(&listed, ":type"), &text("checkout.session.completed"));
}

const EVERY_FACT: &str = "SET #hash = :hash, #type = :type, #version = :version, \
                          #occurred_at = :occurred_at, #sequence = :sequence, ";

#[test]
fn an_accepted_content_is_written_with_its_facts() {
    let content = Content { facts: full_event().facts(), conflicts: vec![EventHash::from_stored("old")] };
    let accepted = EventWrite { content: Some(content), ..write(full_event().guard()) };
    let change = event_write(&accepted);
    let every_fact = EVERY_FACT.trim_start_matches("SET ");
    assert!(words(&change).0.ends_with(&format!("{every_fact}#conflict_hashes = :conflict_hashes")));
    assert_eq!(value(&change, ":conflict_hashes"), &texts(["old"]));
}

#[test]
fn the_index_is_asked_by_part_shard_and_time() {
    let shard = IndexShard { class: Due::Open, shard: 3 };
    let question = due(shard, UnixMillis(50));
    assert_eq!(question.condition, "#open = :was_open AND #due <= :until");
    assert_whole(&[&question.condition], &question.terms);
    assert_eq!(question.terms.values[":was_open"], text("open#3"));
    let start = behind(shard, &(event_key(), UnixMillis(49)));
    let expected = [("pk", text(event_key().as_str())), ("open", text("open#3")), ("due", number(49))];
    assert_eq!(start, expected.map(|(name, value)| (name.to_owned(), value)).into());
}

#[test]
fn generations_and_tokens_are_numbers() {
    assert_eq!(number(Generation::FIRST), AttributeValue::N("1".into()));
}
