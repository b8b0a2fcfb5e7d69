//! One delivery, from the acknowledgement to the end of its event.

use super::{Receiver, paid, refunded};
use sekali_tests::metered::{Bill, Charge, Metered};
use std::collections::BTreeMap;

const EVENT: &str = "evt_1PInventedEvent0000001";

/// Calls by operation, then write units, then read units.
fn counted(bill: &Bill) -> (BTreeMap<&str, u64>, u64, u64) {
    let Charge { write_units, read_units, .. } = bill.total();
    (bill.calls(), write_units, read_units)
}

fn calls(calls: &[(&'static str, u64)]) -> BTreeMap<&'static str, u64> {
    calls.iter().copied().collect()
}

#[test]
fn the_measured_delivery_has_about_2_kb() {
    assert!((2_000..2_400).contains(&paid(EVENT, "1001").len()));
}

#[tokio::test]
async fn a_new_event_is_acknowledged_after_two_puts_and_one_send() {
    let receiver = Receiver::start().await;
    let (answer, bill) = receiver.bill_of(receiver.deliver(paid(EVENT, "1001"))).await;
    assert_eq!(answer.status, 202);
    // The payload, which deflated fits one unit; the event and its entry in the index.
    let expected = (calls(&[("PutItem", 2), ("SendMessage", 1)]), 1 + 2, 0);
    assert_eq!(counted(&bill), expected);
}

/// The puts are answered only when both are there.
#[tokio::test]
async fn the_acknowledgement_waits_for_one_round_trip_to_the_tables() {
    let receiver = Receiver::on(Metered::pairing_puts().await.unwrap());
    assert_eq!(receiver.deliver(paid(EVENT, "1001")).await.status, 202);
    assert_eq!(receiver.metered.bill().of("PutItem").calls, 2);
}

#[tokio::test]
async fn a_duplicate_costs_two_refused_puts_and_a_count() {
    let receiver = Receiver::start().await;
    receiver.deliver(paid(EVENT, "1001")).await;
    for processed in [false, true] {
        if processed {
            receiver.process().await;
        }
        let (answer, bill) = receiver.bill_of(receiver.deliver(paid(EVENT, "1001"))).await;
        assert_eq!(answer.status, 200);
        let expected = (calls(&[("PutItem", 2), ("UpdateItem", 1)]), 1 + 1 + 1, 0);
        assert_eq!(counted(&bill), expected, "processed: {processed}");
    }
}

#[tokio::test]
async fn an_event_with_a_resource_and_an_effect_costs_13_write_units_at_most() {
    let receiver = Receiver::start().await;
    let (_, acknowledged) = receiver.bill_of(receiver.deliver(paid(EVENT, "1001"))).await;
    let ((), processed) = receiver.bill_of(receiver.process()).await;
    // Event, payload, resource and action are read, and once in ten seconds the
    // pauses; the claim is three items in a transaction; then the action, and
    // the event that leaves the index.
    let expected =
        (calls(&[("GetItem", 4 + 1), ("TransactWriteItems", 1), ("UpdateItem", 2)]), 6 + 1 + 2, 4 + 1);
    assert_eq!(counted(&processed), expected);
    assert!(acknowledged.total().write_units + processed.total().write_units <= 13);
}

#[tokio::test]
async fn an_event_that_only_moves_a_resource_costs_9_write_units_at_most() {
    let receiver = Receiver::start().await;
    receiver.deliver(paid(EVENT, "1001")).await;
    receiver.process().await;
    let refund = refunded("evt_1PInventedEvent0000002", "1001");
    let (_, acknowledged) = receiver.bill_of(receiver.deliver(refund)).await;
    let ((), processed) = receiver.bill_of(receiver.process()).await;
    let expected = (calls(&[("GetItem", 3), ("TransactWriteItems", 1)]), 4 + 1, 3);
    assert_eq!(counted(&processed), expected);
    assert!(acknowledged.total().write_units + processed.total().write_units <= 9);
}

#[tokio::test]
async fn an_event_without_a_rule_costs_one_write_and_its_entry_in_the_index() {
    let receiver = Receiver::start().await;
    let body = String::from_utf8(paid(EVENT, "1001")).unwrap().replace(".completed", ".expired");
    receiver.deliver(body.into_bytes()).await;
    let ((), processed) = receiver.bill_of(receiver.process()).await;
    // Once in ten seconds the pauses are read, too.
    assert_eq!(counted(&processed), (calls(&[("GetItem", 2 + 1), ("UpdateItem", 1)]), 2, 2 + 1));
}

/// A second message is the usual case of at-least-once: it costs a read.
#[tokio::test]
async fn a_repeated_message_costs_one_read() {
    let receiver = Receiver::start().await;
    receiver.deliver(paid(EVENT, "1001")).await;
    let [sent] = receiver.metered.take_sent().try_into().unwrap();
    let hand_over = || async {
        let message = serde_json::from_str(sent.body()).unwrap();
        receiver.hand_over(message).await;
    };
    hand_over().await;
    let ((), bill) = receiver.bill_of(hand_over()).await;
    assert_eq!(counted(&bill), (calls(&[("GetItem", 1)]), 0, 1));
}

#[tokio::test]
async fn a_delivery_that_is_not_verified_costs_nothing() {
    let receiver = Receiver::start().await;
    let mut body = paid(EVENT, "1001");
    body.push(b' ');
    let (answer, bill) = receiver.bill_of(receiver.deliver_signed_as(paid(EVENT, "1001"), body)).await;
    assert_eq!((answer.status, bill), (401, Bill::default()));
}
