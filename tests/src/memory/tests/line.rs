//! The queue behaves as SQS does.

use crate::memory::{Line, LineSettings};
use sekali::ids::{CorrelationId, Generation};
use sekali::key::EventKey;
use sekali::ports::Message;
use sekali::time::UnixMillis;
use std::time::Duration;

const NOW: UnixMillis = UnixMillis(1_000_000);
const SETTINGS: LineSettings = LineSettings {
    visibility: Duration::from_secs(60),
    max_receive_count: 2,
    retention: Duration::from_secs(1_000),
    dlq_retention: Duration::from_secs(5_000),
};

fn after(seconds: u64) -> UnixMillis {
    NOW.plus(Duration::from_secs(seconds))
}

fn line_of(count: usize) -> Line {
    let mut line = Line::new(SETTINGS);
    for number in 0..count {
        let message = Message {
            event: EventKey::from_stored(format!("event-{number}")),
            generation: Generation::FIRST,
            correlation: CorrelationId::from("c"),
            written_at: NOW,
            trace: None,
        };
        line.send(message, NOW);
    }
    line
}

#[test]
fn a_received_letter_is_hidden_until_its_visibility_ends() {
    let mut line = line_of(1);
    assert_eq!(line.receive(NOW, 10).len(), 1);
    assert!(line.receive(after(59), 10).is_empty());
    assert_eq!(line.receive(after(60), 10)[0].receive_count, 2);
}

#[test]
fn a_letter_handed_out_as_often_as_allowed_is_moved_with_its_stamp() {
    let mut line = line_of(1);
    line.receive(NOW, 1);
    line.receive(after(60), 1);
    assert!(line.receive(after(120), 1).is_empty());
    assert_eq!(line.waiting().count(), 0);
    assert_eq!(line.dead().map(|letter| letter.sent_at).collect::<Vec<_>>(), [NOW]);
}

#[test]
fn a_redriven_letter_has_a_new_stamp_and_says_when_it_was_written() {
    let mut line = line_of(1);
    let id = line.visible(NOW)[0];
    while line.hand_out(id, NOW).is_some() {}
    line.redrive(after(500));
    let received = line.receive(after(500), 1).remove(0);
    assert_eq!((received.sent_at, received.receive_count), (after(500), 1));
    assert_eq!(received.message.written_at, NOW);
    assert_eq!(line.dead().count(), 0);
}

#[test]
fn only_the_latest_receive_may_delete() {
    let mut line = line_of(1);
    let first = line.receive(NOW, 1).remove(0).receipt;
    let second = line.hand_out(first.letter(), NOW).unwrap().receipt;
    assert!(!line.delete(first));
    assert!(!line.change_visibility(first, NOW, Duration::ZERO));
    assert!(line.delete(second));
    assert!(!line.delete(second));
}

#[test]
fn visibility_zero_brings_a_letter_back_at_once() {
    let mut line = line_of(1);
    let receipt = line.receive(NOW, 1).remove(0).receipt;
    assert!(line.change_visibility(receipt, NOW, Duration::ZERO));
    assert_eq!(line.visible(NOW), [receipt.letter()]);
}

#[test]
fn letters_are_handed_out_in_any_order_and_late_where_the_test_says_so() {
    let mut line = line_of(3);
    let ids = line.visible(NOW);
    assert!(line.hand_out(ids[2], NOW).is_some());
    assert!(line.delay(ids[0], after(30)));
    assert_eq!(line.visible(NOW), [ids[1]]);
    assert_eq!(line.visible(after(30)), [ids[0], ids[1]]);
}

#[test]
fn no_more_are_handed_out_than_asked_for() {
    assert_eq!(line_of(12).receive(NOW, 10).len(), 10);
}

#[test]
fn what_outlives_its_retention_is_gone_and_dead_letters_stay_longer() {
    let mut line = line_of(2);
    let id = line.visible(NOW)[0];
    while line.hand_out(id, NOW).is_some() {}
    assert!(line.drop_outlived(after(1_000)).is_empty());
    assert_eq!(line.drop_outlived(after(1_001)).len(), 1);
    assert_eq!(line.dead().count(), 1);
    assert_eq!(line.drop_outlived(after(5_001)).len(), 1);
}
