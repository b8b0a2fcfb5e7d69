//! Is the delivery the vendor's? The caller hears one generic answer; the
//! reason goes to the log, and never a secret, a signature or the body.

use super::answer::Refused;
use super::tally::{Signature, Tally};
use super::{Arrived, Ingest};
use crate::doctor::Cause;
use crate::ids::Tenant;
use crate::ports::{Entropy, KeyDocuments, Queue, Secrets, Store};
use crate::rate::Rate;
use crate::secrets::{Matched, NotVerified, Refresh};
use crate::time::Clock;
use std::sync::PoisonError;
use std::time::Duration;

/// How often one instance looks for the cause of a refusal at one endpoint. A
/// look costs up to [`MOST_TRIED`](crate::doctor::MOST_TRIED) verifications.
const GUESSES: Rate = Rate { many: 6, per: Duration::from_secs(60) };

/// The reason where a tenant has no secret; the caller hears no other answer.
const NO_SUCH_TENANT: &str = "no-such-tenant";

impl<S: Store, Q: Queue, C: Clock, E: Entropy, K: Secrets + KeyDocuments> Ingest<S, Q, C, E, K> {
    /// Verifies over the raw bytes with every live secret (INV-10: without one
    /// of them nothing verifies and nothing is written).
    pub(super) async fn verify(
        &self,
        arrived: &Arrived<'_>,
        tally: &mut Tally<'_>,
    ) -> Result<Matched, Refused> {
        let Arrived { endpoint, tenant, request, now, .. } = arrived;
        let verified = self.keyring.verify(endpoint, tenant.as_ref(), request, *now).await;
        tally.verdict(self.clock.monotonic());
        tally.secret_unusable = self.keyring.lacks(endpoint, tenant.as_ref(), *now);
        match verified {
            Ok(matched) => {
                tally.signature = Some(Signature::Matched(matched.secret));
                Ok(matched)
            }
            Err(not_verified) => {
                tally.signature = said(&not_verified);
                log(&not_verified, self.guess(&not_verified, arrived), arrived);
                Err(match not_verified {
                    NotVerified::Offline(_) | NotVerified::NoKey(_) => Refused::Unavailable,
                    // One answer for both: nobody learns which tenants are.
                    NotVerified::NoSuchTenant(_) | NotVerified::Refused(..) => {
                        Refused::Signature(endpoint.vendor.reply().reject_status)
                    }
                })
            }
        }
    }

    /// What may be behind a refusal, for the log: looked for so often and no
    /// oftener, since anybody can send what is refused (INV-8).
    fn guess(&self, not_verified: &NotVerified, arrived: &Arrived<'_>) -> Option<Cause> {
        let NotVerified::Refused(refusal, _) = not_verified else { return None };
        let Arrived { endpoint, tenant, request, now, .. } = arrived;
        let mut guesses = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        guesses.entry(endpoint.name.clone()).or_default().take(GUESSES, *now).ok()?;
        drop(guesses);
        self.keyring.guess(endpoint, tenant.as_ref(), request, refusal, *now)
    }
}

/// A key that the vendor does not publish says nothing about a signature.
fn said(not_verified: &NotVerified) -> Option<Signature> {
    match not_verified {
        NotVerified::Offline(_) => Some(Signature::Offline),
        NotVerified::NoKey(_) => None,
        NotVerified::NoSuchTenant(_) => Some(Signature::Refused(NO_SUCH_TENANT)),
        NotVerified::Refused(refusal, _) => Some(Signature::Refused(refusal.slug())),
    }
}

fn log(not_verified: &NotVerified, guess: Option<Cause>, arrived: &Arrived<'_>) {
    let (endpoint, correlation) = (&arrived.endpoint.name, &arrived.addressed.correlation);
    let tenant = arrived.tenant.as_ref().map(Tenant::as_str);
    match not_verified {
        NotVerified::Offline(reasons) => tracing::error!(
            endpoint.name = %endpoint,
            correlation.id = %correlation,
            tenant,
            offline.reasons = %reasons.join("; "),
            "endpoint offline"
        ),
        NotVerified::NoKey(reason) => tracing::error!(
            endpoint.name = %endpoint,
            correlation.id = %correlation,
            key.problem = %reason,
            "the vendor's key is not to be had"
        ),
        NotVerified::NoSuchTenant(refresh) => tracing::warn!(
            endpoint.name = %endpoint,
            correlation.id = %correlation,
            tenant,
            signature.reason = NO_SUCH_TENANT,
            signature.refresh = refresh.map(Refresh::as_str),
            "signature refused"
        ),
        NotVerified::Refused(refusal, refresh) => tracing::warn!(
            endpoint.name = %endpoint,
            correlation.id = %correlation,
            tenant,
            signature.reason = refusal.slug(),
            signature.clock_skew_ms = refusal.clock_skew_ms(),
            signature.refresh = refresh.map(Refresh::as_str),
            signature.guess = guess.map(Cause::slug),
            "signature refused"
        ),
    }
}
