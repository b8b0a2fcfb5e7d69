//! Handshakes: requests that are no events. The description says which they are
//! and what the vendor wants to hear; here it is answered.

use super::answer::{Answer, Refused};
use super::tally::Tally;
use super::{Arrived, Ingest};
use crate::ports::{Captured, Entropy, KeyDocuments, Queue, Secrets, Store, Write};
use crate::secret::Secret;
use crate::secrets::Matched;
use crate::time::Clock;
use crate::vendor::{HandshakeAnswer, HandshakeRefusal};

/// A secret that is handed over is no longer: anybody may send one, and it is
/// stored before anybody has vouched for it.
const LONGEST_SECRET: usize = 1024;

impl<S: Store, Q: Queue, C: Clock, E: Entropy, K: Secrets + KeyDocuments> Ingest<S, Q, C, E, K> {
    /// Answers a handshake that needs no signature. It writes nothing, but for
    /// a secret that is handed over while the endpoint has none (INV-10).
    pub(super) async fn unsigned_handshake(&self, arrived: &Arrived<'_>) -> Result<Option<Answer>, Refused> {
        let Arrived { endpoint, tenant, request, now, .. } = arrived;
        match self.keyring.handshake(endpoint, tenant.as_ref(), request, *now).await {
            None => Ok(None),
            Some(Err(refusal)) => Err(refused(arrived, refusal)),
            Some(Ok(answer)) => {
                if let Some(secret) = &answer.capture {
                    self.capture(arrived, &answer, secret).await?;
                }
                answered(arrived, answer).map(Some)
            }
        }
    }

    /// Answers a handshake of a verified sender. One that must be confirmed by
    /// a call to the vendor is kept as an event, whose effect is that call:
    /// nothing is called from here.
    pub(super) async fn signed_handshake<'a>(
        &self,
        arrived: &Arrived<'a>,
        matched: &Matched,
        tally: &mut Tally<'a>,
    ) -> Result<Option<Answer>, Refused> {
        let answer = match &matched.handshake {
            None => return Ok(None),
            Some(Err(refusal)) => return Err(refused(arrived, *refusal)),
            Some(Ok(answer)) => answer,
        };
        if answer.confirm.is_some() {
            let outcome = self.take(arrived, matched, tally).await?;
            outcome.log_left_out(arrived);
        }
        answered(arrived, answer.clone()).map(Some)
    }

    /// Keeps what a vendor hands over. The first one stays: whoever comes later
    /// may be anybody, and so may the first, which is why the operator sees it
    /// before it verifies anything.
    async fn capture(
        &self,
        arrived: &Arrived<'_>,
        answer: &HandshakeAnswer,
        secret: &str,
    ) -> Result<(), Refused> {
        let endpoint = arrived.endpoint;
        let incomplete = Refused::Handshake(HandshakeRefusal::Incomplete.status());
        if secret.len() > LONGEST_SECRET {
            return Err(incomplete);
        }
        let Ok(secret) = Secret::new(secret) else { return Err(incomplete) };
        if endpoint.vendor.keys(std::slice::from_ref(&secret)).is_err() {
            return Err(incomplete);
        }
        let correlation = arrived.addressed.correlation.clone();
        let captured = Captured { endpoint: endpoint.name.clone(), secret, at: arrived.now, correlation };
        match self.store.capture(&captured).await {
            Ok(Write::Applied) => {
                tracing::warn!(
                    endpoint.name = %endpoint.name,
                    correlation.id = %captured.correlation,
                    "the vendor handed over a secret: `sekali handshake show` shows it"
                );
                Ok(())
            }
            Ok(Write::Refused) => {
                tracing::warn!(
                    endpoint.name = %endpoint.name,
                    correlation.id = %captured.correlation,
                    "another secret was handed over before; this one is not taken"
                );
                Err(Refused::Handshake(answer.refuse))
            }
            Err(error) => {
                tracing::error!(
                    endpoint.name = %endpoint.name,
                    correlation.id = %captured.correlation,
                    %error,
                    "a secret that was handed over was not kept"
                );
                Err(Refused::Unavailable)
            }
        }
    }
}

fn answered(arrived: &Arrived<'_>, answer: HandshakeAnswer) -> Result<Answer, Refused> {
    // What was decoded from a query may hold a line break, which no header can.
    if answer.headers.iter().any(|(_, value)| value.contains(char::is_control)) {
        return Err(refused(arrived, HandshakeRefusal::Incomplete));
    }
    tracing::info!(
        endpoint.name = %arrived.endpoint.name,
        correlation.id = %arrived.addressed.correlation,
        handshake.name = %answer.name,
        delivery.result = "handshake",
        "handshake answered"
    );
    let HandshakeAnswer { status, headers, content_type, body, .. } = answer;
    Ok(Answer { status, headers, content_type, body })
}

fn refused(arrived: &Arrived<'_>, refusal: HandshakeRefusal) -> Refused {
    tracing::warn!(
        endpoint.name = %arrived.endpoint.name,
        correlation.id = %arrived.addressed.correlation,
        handshake.problem = %refusal,
        "handshake refused"
    );
    match refusal {
        HandshakeRefusal::NoKey => Refused::Unavailable,
        HandshakeRefusal::Incomplete | HandshakeRefusal::OtherValue(_) => {
            Refused::Handshake(refusal.status())
        }
    }
}
