//! An attempt as the vendor would make it: signed anew each time, under the
//! same id and over the same bytes; or, to test a receiver, as it must be
//! refused.

use super::event::Event;
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::source::Pointer;
use sekali::time::UnixMillis;
use sekali::vendor::sign::{self, NotSignable};
use sekali::vendor::{Params, UnusableKey, Vendor};
use std::time::Duration;

/// How deliveries are signed.
#[derive(Debug, Clone)]
pub(super) enum Mode {
    /// As the vendor signs.
    Signed(Secret),
    /// Not at all.
    Unsigned,
    /// Rightly, but so long ago.
    Stale(Secret, Duration),
    /// Over other bytes than those that are sent.
    Tampered(Secret),
}

/// Everything that a delivery is made of besides its event.
#[derive(Debug, Clone)]
pub(super) struct Signer {
    /// Whose deliveries they are.
    pub vendor: Vendor,
    /// How they are signed.
    pub mode: Mode,
    /// What the vendor's scheme needs besides, the receiver's URL among it.
    pub params: Params,
    /// The path that is called.
    pub path: String,
    /// The query that is called, without `?`.
    pub query: String,
    /// Headers of every delivery.
    pub headers: Vec<(String, String)>,
    /// Their media type, unless their headers say it.
    pub content_type: String,
    /// Where the body says the event's id.
    pub id: Option<Pointer>,
}

/// Why nothing can be signed so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CannotSign {
    /// Only the vendor has what it takes.
    #[error(
        "{0} does not sign with a shared secret, so nobody else can; --unsigned sends without a signature"
    )]
    NotShared(String),
    /// The secret is not in the vendor's form.
    #[error("the secret does not suit the vendor: {0}")]
    Key(#[from] UnusableKey),
    /// No receiver can tell.
    #[error("{0} does not sign the time, so no delivery of it is ever stale")]
    Timeless(String),
}

impl Signer {
    /// Whether it can sign at all.
    ///
    /// # Errors
    /// See [`CannotSign`]: send nothing.
    pub(super) fn check(&self) -> Result<(), CannotSign> {
        let Some(secret) = self.secret() else { return Ok(()) };
        let name = || self.vendor.name().to_string();
        if !self.vendor.is_signable() {
            return Err(CannotSign::NotShared(name()));
        }
        self.vendor.keys(std::slice::from_ref(secret))?;
        match self.mode {
            Mode::Stale(..) if !self.vendor.signs_time() => Err(CannotSign::Timeless(name())),
            _ => Ok(()),
        }
    }

    fn secret(&self) -> Option<&Secret> {
        match &self.mode {
            Mode::Signed(secret) | Mode::Stale(secret, _) | Mode::Tampered(secret) => Some(secret),
            Mode::Unsigned => None,
        }
    }

    /// The headers of every delivery and these; what is said of one delivery
    /// comes before what is said of all.
    pub(super) fn common(&self, mut own: Vec<(String, String)>) -> Vec<(String, String)> {
        let content_type = ("content-type".to_owned(), self.content_type.clone());
        for (name, value) in self.headers.iter().chain([&content_type]) {
            if !own.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                own.push((name.clone(), value.clone()));
            }
        }
        own
    }

    /// The request as the vendor's description looks at it.
    pub(super) fn request(&self, headers: &[(String, String)], body: Vec<u8>) -> Request {
        Request {
            method: "POST".to_owned(),
            path: self.path.clone(),
            query: self.query.clone(),
            headers: Headers::new(headers.iter().map(|(name, value)| (name.clone(), value))),
            body,
        }
    }

    /// All headers of an attempt, counted from 1, at this time.
    ///
    /// # Errors
    /// The event lacks something that is signed.
    pub(super) fn headers(
        &self,
        event: &Event,
        attempt: u32,
        now: UnixMillis,
    ) -> Result<Vec<(String, String)>, NotSignable> {
        let mut headers = event.headers.clone();
        let mut request = self.request(&headers, event.body.clone());
        if let Some((name, value)) = self.vendor.attempt_header(&request, attempt) {
            headers.push((name.to_owned(), value));
            request = self.request(&headers, request.body);
        }
        let Some(secret) = self.secret() else { return Ok(headers) };
        let now = match self.mode {
            Mode::Stale(_, age) => now.minus(age),
            _ => now,
        };
        if let Mode::Tampered(_) = self.mode {
            // As JSON it is the same: whoever verifies anything but the bytes is caught.
            request.body.push(b' ');
        }
        // What has to be drawn is the same for every attempt, as the id is.
        let fresh = || event.key.as_str().to_owned();
        headers.extend(sign::sign(&self.vendor, &request, secret, &self.params, now, fresh)?);
        Ok(headers)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::event::event;
    use super::super::input::{Piece, Position};
    use super::*;
    use sekali::vendor::{Refusal, builtin};

    const NOW: UnixMillis = UnixMillis(1_750_000_000_000);

    pub(in crate::send) fn signer(vendor: &str) -> Signer {
        let secret = match vendor {
            "standard-webhooks" => "whsec_aW52ZW50ZWQgZm9yIHRoZSBzZW5kZXI=",
            _ => "invented-for-the-sender",
        };
        let vendor = Vendor::parse(vendor, vendor, builtin::text(vendor).unwrap()).unwrap();
        let mut signer = Signer {
            vendor,
            mode: Mode::Signed(Secret::new(secret).unwrap()),
            params: Params::with_url("https://hooks.example.com/in"),
            path: "/in".to_owned(),
            query: String::new(),
            headers: Vec::new(),
            content_type: "application/json".to_owned(),
            id: None,
        };
        // Whoever sends says the type, where the vendor does in a header.
        let unsaid = |signer: &Signer| {
            let request = signer.request(&signer.headers, b"{}".to_vec());
            signer.vendor.type_header(&request).map(str::to_owned)
        };
        while let Some(header) = unsaid(&signer) {
            signer.headers.push((header, "test".to_owned()));
        }
        signer
    }

    /// An attempt at one event as the vendor's receiver sees it.
    fn received(signer: &Signer, body: &str) -> Result<(), String> {
        let piece = Piece { at: Position::Whole, bytes: body.into() };
        let event = event(signer, piece, false).map_err(|error| error.to_string())?;
        let headers = signer.headers(&event, 1, NOW).map_err(|error| error.to_string())?;
        let request = signer.request(&headers, event.body);
        let keys = signer.vendor.keys(std::slice::from_ref(signer.secret().unwrap())).unwrap();
        let verified = signer.vendor.verify(&request, &keys, &signer.params, NOW);
        verified.map(drop).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn every_vendor_with_a_shared_secret_takes_what_is_signed_for_it() {
        // With the members that some vendors sign or read a time from.
        let body = r#"{"id":"evt_1","type":"a","event_id":"evt_1","webhookTimestamp":1750000000000}"#;
        let forms = [
            "whsec_aW52ZW50ZWQgZm9yIHRoZSBzZW5kZXI=",
            "invented-for-the-sender",
            "0123456789abcdef0123456789abcdef",
        ];
        let mut others = Vec::new();
        for name in builtin::names() {
            let with = |secret: &str| {
                let mut signer = Signer { mode: Mode::Signed(Secret::new(secret).unwrap()), ..signer(name) };
                match name {
                    // What these two sign is for whoever sends to say.
                    "contentful" => {
                        let list = "x-contentful-signed-headers,x-contentful-timestamp";
                        signer.headers.push(("x-contentful-signed-headers".to_owned(), list.to_owned()));
                    }
                    "twilio" => "application/x-www-form-urlencoded".clone_into(&mut signer.content_type),
                    _ => {}
                }
                signer
            };
            let Some(signer) = forms.iter().map(|secret| with(secret)).find(|signer| signer.check().is_ok())
            else {
                continue;
            };
            if let Err(reason) = received(&signer, body) {
                others.push(format!("{name}: {reason}"));
            }
        }
        assert_eq!(others, [""; 0]);
    }

    #[test]
    fn what_is_stale_tampered_or_unsigned_is_refused_for_that() {
        let signed = signer("stripe");
        let Mode::Signed(secret) = signed.mode.clone() else { panic!("signed") };
        let with = |mode| Signer { mode, ..signed.clone() };
        let refused = |mode| received(&with(mode), r#"{"id":"evt_1"}"#).unwrap_err();
        let stale = refused(Mode::Stale(secret.clone(), Duration::from_secs(3_600)));
        assert_eq!(stale, Refusal::TooOld { skew: Duration::from_secs(3_600) }.to_string());
        assert_eq!(refused(Mode::Tampered(secret)), Refusal::Mismatch.to_string());
        let piece = Piece { at: Position::Whole, bytes: br#"{"id":"evt_1"}"#.to_vec() };
        let unsigned = with(Mode::Unsigned);
        let event = event(&unsigned, piece, false).unwrap();
        let headers = unsigned.headers(&event, 1, NOW).unwrap();
        assert!(headers.iter().all(|(name, _)| name == "content-type"), "{headers:?}");
    }

    #[test]
    fn attempts_differ_in_their_signature_and_never_in_their_id() {
        let signer = signer("standard-webhooks");
        let of = |headers: &[(String, String)], name: &str| {
            headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        let piece = Piece { at: Position::Whole, bytes: b"{}".to_vec() };
        let event = event(&signer, piece, false).unwrap();
        let first = signer.headers(&event, 1, NOW).unwrap();
        let second = signer.headers(&event, 2, NOW.plus(Duration::from_secs(60))).unwrap();
        assert_eq!(of(&first, "webhook-id"), of(&second, "webhook-id"));
        assert!(of(&first, "webhook-id").is_some());
        assert_ne!(of(&first, "webhook-signature"), of(&second, "webhook-signature"));
    }

    #[test]
    fn what_cannot_be_signed_is_said_before_anything_is_sent() {
        let not_shared = signer("sendgrid").check();
        assert!(matches!(not_shared, Err(CannotSign::NotShared(_))), "{not_shared:?}");
        let secret = Secret::new("invented").unwrap();
        let github = Signer { mode: Mode::Stale(secret.clone(), Duration::ZERO), ..signer("github") };
        assert_eq!(github.check(), Err(CannotSign::Timeless("github".to_owned())));
        let spaced = Secret::new("invented ").unwrap();
        let spaced = Signer { mode: Mode::Signed(spaced), ..signer("github") };
        assert!(matches!(spaced.check(), Err(CannotSign::Key(_))));
        assert_eq!(Signer { mode: Mode::Unsigned, ..signer("sendgrid") }.check(), Ok(()));
    }
}
