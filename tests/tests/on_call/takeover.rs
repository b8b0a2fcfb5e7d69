//! Two versions side by side, while one takes over from the other.

use super::*;
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;

/// The same receiver as a version sees it whose configuration is this.
fn as_seen_by(bench: &mut Bench, endpoints: &str) -> Arc<Deployment> {
    std::mem::replace(&mut bench.deployment, Bench::with(endpoints).deployment)
}

#[tokio::test]
async fn what_an_older_version_does_not_know_is_left_to_the_newer_one() {
    let mut bench = Bench::new();
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 202);
    let new = as_seen_by(&mut bench, &ENDPOINTS.replace("endpoint.shop", "endpoint.older"));
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Received);
    bench.deployment = new;
    bench.clock.advance(Duration::from_secs(3_600));
    bench.sweep().await;
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
}

#[tokio::test]
async fn what_no_version_knows_any_more_is_held_once_none_takes_over() {
    let mut bench = Bench::new();
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 202);
    as_seen_by(&mut bench, &ENDPOINTS.replace("endpoint.shop", "endpoint.other"));
    bench.process().await;
    bench.clock.advance(Duration::from_secs(7_200));
    bench.sweep().await;
    bench.process().await;
    let progress = bench.event("evt_1").progress;
    assert_eq!(progress.status, EventStatus::Held);
    assert_eq!(progress.reason.map(|reason| reason.slug), Some(Slug::EndpointGone));
}
