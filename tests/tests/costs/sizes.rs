//! Bodies of every size: what they cost, and that nothing is cut.

use super::{Receiver, paid};
use sekali_tests::metered::Charge;

/// A paid order with so many bytes more: text that deflates well, or digits as
/// of an archive in base64, of which a quarter is left to gain.
fn body(size: usize, shrinks: bool) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"[(state >> 40) as usize % 64],
        )
    };
    let text = "an invented line of a parcel ";
    let filler: String = match shrinks {
        true => text.chars().cycle().take(size).collect(),
        false => (0..size).map(|_| noise()).collect(),
    };
    let order = format!("order-{size}-{shrinks}");
    let head = String::from_utf8(paid(&format!("evt_{order}"), &order)).unwrap();
    head.replacen("\"livemode\"", &format!("\"filler\":\"{filler}\",\"livemode\""), 1).into_bytes()
}

#[tokio::test]
async fn a_body_of_any_size_is_stored_processed_and_paid_by_the_stored_kilobyte() {
    let receiver = Receiver::start().await;
    for size in [0, 1_000, 255_000, 257_000, 399_000, 401_000, 1_100_000, 4_400_000] {
        for shrinks in [true, false] {
            let body = body(size, shrinks);
            let length = u64::try_from(body.len()).unwrap();
            let (answer, bill) = receiver.bill_of(receiver.deliver(body)).await;
            assert_eq!(answer.status, 202, "{size} {shrinks}");
            let Charge { calls, write_units, .. } = bill.of("PutItem");
            // Never more than as it came; the event with its index entry is 2.
            let plain = length.div_ceil(1_024) + 2;
            let most = if shrinks { 4 + plain / 20 } else { 6 + plain * 4 / 5 };
            assert!(write_units <= most, "{size} {shrinks}: {write_units} units, {most} at most");
            // The event, and the payload: one item, or its parts and their head.
            let stored = (write_units - 2) * 1_024;
            let items = if stored < 390 * 1_024 { 1 } else { 1 + stored.div_ceil(390 * 1_024) };
            assert_eq!(calls, 1 + items, "{size} {shrinks}: {stored} bytes stored");
            receiver.process().await;
        }
    }
    assert_eq!(receiver.processor.destination.calls().len(), 16);
}

#[tokio::test]
async fn a_body_above_the_endpoint_s_bound_is_413_and_costs_nothing() {
    let receiver = Receiver::start().await;
    let (answer, bill) = receiver.bill_of(receiver.deliver(body(4_608_000, true))).await;
    assert_eq!((answer.status, bill.total()), (413, Charge::default()));
}
