//! Why a delivery does not verify, and which single change would make it.
//!
//! Every hypothesis is data: one change to the captured request, the secret,
//! the URL, the description or the clock. Each is put to the real
//! verification; what then verifies is *proved*. Where nothing does, the
//! delivery itself may make a cause likely, which is called a *guess*; and
//! where nothing fits there is neither. Nothing here shows a secret, a
//! signature or the body.

mod bench;
mod body;
mod case;
mod cause;
mod clock;
mod form;
mod guess;
mod headers;
mod json;
mod order;
pub mod puzzle;
mod quick;
mod reads;
mod scheme;
mod secret;
mod signature;
#[cfg(test)]
mod tests;
mod url;

pub use case::{Case, KnownSecret, every_vendor, time};
pub use cause::Cause;
pub use quick::{LONGEST_BODY, MOST_TRIED, quick};

use crate::secret::Secret;
use crate::vendor::{Refusal, UnusableKey};
use bench::{Bench, Hypotheses, Hypothesis};
use guess::Evidence;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Why it is refused; `None`: it verifies.
    pub refused: Option<Refused>,
    /// What is behind it. `None` where it verifies, or where nothing fits.
    pub diagnosis: Option<Diagnosis>,
    /// How many changes were tried.
    pub tried: usize,
}

/// Why it does not verify as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The vendor's description refuses it.
    #[error("{0}")]
    Delivery(Refusal),
    /// No key can be made of the secrets.
    #[error("{0}")]
    Secret(UnusableKey),
}

impl Refused {
    /// The reason in one word.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Delivery(refusal) => refusal.slug(),
            Self::Secret(_) => "unusable-secret",
        }
    }
}

/// What is behind a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The one thing that is other than it was meant.
    pub cause: Cause,
    /// How sure that is.
    pub certainty: Certainty,
    /// What was found, in sentences. It names places and never values.
    pub says: String,
}

/// How sure a diagnosis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// With this one change the delivery verifies.
    Proved,
    /// The delivery makes it likely.
    Guess,
}

impl Certainty {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Guess => "guess",
        }
    }
}

/// Examines a delivery.
pub fn examine(case: &Case<'_>) -> Finding {
    let secrets: Vec<&Secret> = case.used().map(|known| &known.secret).collect();
    let keys = bench::keys(case.vendor, &secrets);
    let bench = Bench::of(case, keys.as_ref());
    let refused = match bench.as_received() {
        Some(Ok(())) => return Finding { refused: None, diagnosis: None, tried: 0 },
        Some(Err(refusal)) => Refused::Delivery(refusal),
        None => Refused::Secret(unusable(case, &secrets)),
    };
    let diagnosis = proved(case, &bench, &refused)
        .or_else(|| proved_but_for_the_clock(case, &bench, &refused))
        .or_else(|| guessed(case, &bench, &refused));
    Finding { refused: Some(refused), diagnosis, tried: bench.tried.get() }
}

fn unusable(case: &Case<'_>, secrets: &[&Secret]) -> UnusableKey {
    let secrets: Vec<Secret> = secrets.iter().map(|secret| (*secret).clone()).collect();
    case.vendor.keys(&secrets).err().unwrap_or(UnusableKey::NoSecret)
}

/// The first change, in the order of what happens most, that makes it verify.
fn proved(case: &Case<'_>, bench: &Bench<'_>, refused: &Refused) -> Option<Diagnosis> {
    let is_form = case.request.media_type().as_deref() == Some("application/x-www-form-urlencoded");
    let clock: Hypotheses<'_> = match refused {
        Refused::Delivery(refusal) => clock::hypotheses(bench, refusal),
        Refused::Secret(_) => Box::new(std::iter::empty()),
    };
    let single = secret::hypotheses(case)
        .chain(headers::hypotheses(bench))
        .chain(signature::hypotheses(bench))
        .chain(clock)
        .chain(body::hypotheses(&case.request.body, is_form))
        .chain(url::hypotheses(bench, case.urls));
    bench
        .proved(single)
        .or_else(|| other_scheme(case, bench, refused))
        .or_else(|| bench.proved(headers::unknown_names(bench)))
        .map(|hypothesis| Diagnosis {
            cause: hypothesis.cause,
            certainty: Certainty::Proved,
            says: hypothesis.says,
        })
}

/// A weaker scheme of the vendor's own against another vendor's: where the
/// vendor's deliveries have headers of their own and none of them is there, it
/// is the other's.
fn other_scheme(case: &Case<'_>, bench: &Bench<'_>, refused: &Refused) -> Option<Hypothesis> {
    let lacks_signature =
        matches!(refused, Refused::Delivery(Refusal::Missing(_) | Refusal::NoScheme | Refusal::Malformed(_)));
    let weaker = if lacks_signature { bench.proved(scheme::weaker(bench)) } else { None };
    if weaker.is_some() && scheme::has_own_headers(case) {
        return weaker;
    }
    bench.proved(scheme::other_vendors(case)).or(weaker)
}

/// The same without a look at the clock: something else is wrong first.
fn proved_but_for_the_clock(case: &Case<'_>, bench: &Bench<'_>, refused: &Refused) -> Option<Diagnosis> {
    case.received_at?;
    let ageless =
        Bench { received_at: None, secrets: bench.secrets.clone(), tried: bench.tried.clone(), ..*bench };
    let mut diagnosis = proved(case, &ageless, refused)?;
    bench.tried.set(ageless.tried.get());
    diagnosis
        .says
        .push_str(" Besides, its time is not within the vendor's bounds: it would be refused for that too.");
    Some(diagnosis)
}

fn guessed(case: &Case<'_>, bench: &Bench<'_>, refused: &Refused) -> Option<Diagnosis> {
    let guess = match refused {
        Refused::Delivery(refusal) => {
            Evidence { bench, others: case.others, secrets: case.secrets }.about(refusal)
        }
        Refused::Secret(unusable) => guess::about_secret(unusable),
    };
    guess.map(|(cause, says)| Diagnosis { cause, certainty: Certainty::Guess, says })
}
