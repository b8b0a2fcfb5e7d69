//! Secrets that vendors hand over (INV-10).

use super::sample::Sample;
use sekali::ids::{CorrelationId, EndpointName};
use sekali::ports::{Captured, Store, Write};
use sekali::secret::Secret;
use sekali::time::UnixMillis;

fn captured(sample: &Sample, endpoint: &str, secret: &str) -> anyhow::Result<Captured> {
    Ok(Captured {
        endpoint: EndpointName::new(sample.event_key(endpoint).to_string()),
        secret: Secret::new(secret)?,
        at: UnixMillis(1),
        correlation: CorrelationId::new("c-1"),
    })
}

/// The first stays: whoever comes later may be anybody.
pub async fn the_first_secret_that_is_handed_over_stays<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let first = captured(&sample, "notes", "secret_invented")?;
    let other = captured(&sample, "notes", "secret_other")?;
    assert_eq!(store.capture(&first).await?, Write::Applied);
    assert_eq!(store.capture(&other).await?, Write::Refused);
    assert_eq!(store.capture(&other).await?, Write::Refused);
    Ok(())
}

/// A delivery whose answer was lost comes again.
pub async fn the_same_secret_handed_over_again_counts_as_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let first = captured(&sample, "notes", "secret_invented")?;
    let again = Captured { at: UnixMillis(2), correlation: CorrelationId::new("c-2"), ..first.clone() };
    assert_eq!(store.capture(&first).await?, Write::Applied);
    assert_eq!(store.capture(&again).await?, Write::Applied);
    Ok(())
}

/// INV-7
pub async fn endpoints_keep_secrets_of_their_own<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    for endpoint in ["notes", "notes2", "2notes"] {
        let handed_over = captured(&sample, endpoint, endpoint)?;
        assert_eq!(store.capture(&handed_over).await?, Write::Applied);
    }
    Ok(())
}
