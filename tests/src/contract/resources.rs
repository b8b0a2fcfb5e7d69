//! Conditional writes of a resource (INV-3).

use super::sample::Sample;
use super::write_to_its_end;
use anyhow::Context;
use futures_util::future::join_all;
use sekali::ids::{Status, Version};
use sekali::ports::{Store, Write};
use sekali::protocol::resource::{Resource, ResourceGuard};
use sekali::protocol::transition::{ResourceWrite, Transition};
use sekali::rule::{OrderValue, Sequence};
use sekali::time::UnixMillis;

fn move_of(from: ResourceGuard, to: &Resource) -> Transition {
    let resource = Some(ResourceWrite { from, to: to.clone() });
    Transition { resource, ..Transition::default() }
}

async fn read(store: &impl Store, resource: &Resource) -> anyhow::Result<Resource> {
    store.resource(&resource.key).await?.context("the resource is gone")
}

/// Order numbers keep every digit.
pub async fn a_resource_comes_back_with_every_kind_of_order<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let sequences = ["9007199254740993", "-0.5", "123456789012345678901234567890.000000001"];
    let sequences = sequences.into_iter().filter_map(Sequence::parse).map(OrderValue::Sequence);
    let times = [i64::MIN, 0, i64::MAX].map(|time| OrderValue::Time(UnixMillis(time)));
    let orders: Vec<_> = sequences.chain(times).chain([OrderValue::Rank]).collect();
    assert_eq!(orders.len(), 7);
    for (number, order) in orders.into_iter().enumerate() {
        let mut resource = Resource { order, ..sample.resource(&number.to_string()) };
        resource.status = Status::new("\u{1f4e6} partially refunded");
        resource.version = Version::from_stored(u64::MAX);
        assert_eq!(store.write(&move_of(ResourceGuard::Absent, &resource)).await?, Write::Applied);
        assert_eq!(read(store, &resource).await?, resource);
    }
    Ok(())
}

/// INV-3: a resource never goes back, because nobody writes over what it did
/// not read.
pub async fn a_resource_moves_only_from_the_version_that_was_read<S: Store>(store: &S) -> anyhow::Result<()> {
    let first = Sample::new().resource("pay_1");
    let unread = move_of(ResourceGuard::Version(Version::FIRST), &first);
    assert_eq!(store.write(&unread).await?, Write::Refused);
    assert_eq!(store.resource(&first.key).await?, None);
    assert_eq!(store.write(&move_of(ResourceGuard::Absent, &first)).await?, Write::Applied);
    let moved = Resource { status: "paid".into(), version: Version::FIRST.next(), ..first.clone() };
    let stale = [
        ResourceGuard::Absent,
        ResourceGuard::Version(Version::from_stored(0)),
        ResourceGuard::of(Some(&moved)),
    ];
    for guard in stale {
        assert_eq!(store.write(&move_of(guard, &moved)).await?, Write::Refused, "{guard:?}");
        assert_eq!(read(store, &first).await?, first);
    }
    assert_eq!(store.write(&move_of(ResourceGuard::of(Some(&first)), &moved)).await?, Write::Applied);
    assert_eq!(read(store, &first).await?, moved);
    Ok(())
}

/// A move whose answer was lost and that is sent again was applied; the same
/// move by another event was not.
pub async fn an_own_retried_move_counts_as_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let resource = sample.resource("pay_1");
    let write = move_of(ResourceGuard::Absent, &resource);
    assert_eq!(store.write(&write).await?, Write::Applied);
    assert_eq!(store.write(&write).await?, Write::Applied);
    let other = Resource { moved_by: sample.event_key("evt_2"), ..resource };
    assert_eq!(store.write(&move_of(ResourceGuard::Absent, &other)).await?, Write::Refused);
    Ok(())
}

/// Twenty events read the same state, and one moves it.
pub async fn of_many_moves_from_one_reading_one_is_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let first = sample.resource("pay_1");
    store.write(&move_of(ResourceGuard::Absent, &first)).await?;
    let moves: Vec<Resource> = (0..20)
        .map(|number| Resource {
            moved_by: sample.event_key(&format!("evt_{number}")),
            version: Version::FIRST.next(),
            ..first.clone()
        })
        .collect();
    let writes: Vec<_> = moves.iter().map(|to| move_of(ResourceGuard::of(Some(&first)), to)).collect();
    let ends = join_all(writes.iter().map(|write| write_to_its_end(store, write))).await;
    let mut applied = Vec::new();
    for (to, end) in moves.into_iter().zip(ends) {
        applied.extend((end? == Write::Applied).then_some(to));
    }
    assert_eq!(applied, [read(store, &first).await?]);
    Ok(())
}
