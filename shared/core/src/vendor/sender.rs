//! What a sender of a vendor's deliveries must know besides how they are
//! signed: where their id stands, and how the vendor counts its attempts.

use super::Vendor;
use super::content;
use super::place::{Place, Term};
use super::scheme::{Algorithm, Kind, SignaturePlace};
use super::shape::EventShape;
use super::view::View;
use crate::http::Request;
use crate::source::Source;

impl Vendor {
    /// Whether a shared secret is enough to sign deliveries of the vendor; if
    /// not, nobody but the vendor can make them.
    pub fn is_signable(&self) -> bool {
        self.schemes.iter().any(|scheme| {
            let in_a_header = match scheme.signature.from.first() {
                Some(SignaturePlace::Place(place)) => {
                    matches!(place, Place::Source(Source::Header(_)) | Place::NamedHeader(_))
                }
                Some(SignaturePlace::Numbered(_)) => true,
                None => false,
            };
            matches!(scheme.kind, Kind::Hmac(Algorithm::Fixed(_))) && scheme.each.is_none() && in_a_header
        })
    }

    /// Whether a sender writes beside a signature when it was made, so that an
    /// old one can be refused. A time in the body is the event's own.
    pub fn signs_time(&self) -> bool {
        self.schemes
            .iter()
            .filter_map(|scheme| scheme.timestamp.as_ref())
            .any(|timestamp| matches!(timestamp.from, Place::Source(Source::Header(_)) | Place::Element(_)))
    }

    /// The header that must hold the event's id, where the vendor keeps it in
    /// one and neither that nor the body of `request` says it. A sender adds
    /// it, and the same to every attempt.
    pub fn id_header(&self, request: &Request) -> Option<&str> {
        let (shape, is_there) =
            self.shape_of(request, |view, shape| shape.id.iter().any(|value| view.value(value).is_some()))?;
        let [value] = shape.id.as_slice() else { return None };
        if is_there {
            return None;
        }
        value.alternatives.iter().find_map(|term| match term {
            Term::Place(Place::Source(Source::Header(name))) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The header that must hold the event's type, where the vendor keeps it, or
    /// a part of it, in one that `request` has not. What a vendor always sends,
    /// a sender must not leave out.
    pub fn type_header(&self, request: &Request) -> Option<&str> {
        let missing = |view: &View<'_>, shape: &EventShape| {
            shape.event_type.iter().position(|part| !part.optional && view.value(part).is_none())
        };
        let (shape, missing) = self.shape_of(request, missing)?;
        shape.event_type.get(missing?)?.alternatives.iter().find_map(|term| match term {
            Term::Place(Place::Source(Source::Header(name))) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The header in which the vendor counts its deliveries of one event, with
    /// its value for `attempt`, counted from 1. `None` where it has none, or
    /// leaves it out for the first.
    pub fn attempt_header(&self, request: &Request, attempt: u32) -> Option<(&str, String)> {
        let (shape, ()) = self.shape_of(request, |_, _| ())?;
        let form = shape.attempt.as_ref()?;
        let Place::Source(Source::Header(name)) = &form.from else { return None };
        let number = u64::from(attempt.checked_sub(1)?) + form.first;
        (number > 0).then(|| (name.as_str(), number.to_string()))
    }

    /// The shape of a delivery that is one event, and what is asked of it.
    fn shape_of<T>(
        &self,
        request: &Request,
        ask: impl FnOnce(&View<'_>, &EventShape) -> T,
    ) -> Option<(&EventShape, T)> {
        let text = content::json_text(request, &self.body).ok().flatten();
        let sources: Vec<Source> = self.events.iter().flat_map(EventShape::sources).collect();
        let view = match &text {
            Some(text) => View::new(request, Some(text), &sources),
            None => View::new(request, None, []),
        };
        let shape = self.events.iter().find(|shape| shape.each.is_none() && view.holds(&shape.condition))?;
        Some((shape, ask(&view, shape)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;
    use crate::http::Headers;

    fn vendor(name: &str) -> Vendor {
        Vendor::parse(name, name, builtin::text(name).unwrap()).unwrap()
    }

    fn request(headers: &[(&str, &str)], body: &str) -> Request {
        Request {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            query: String::new(),
            headers: Headers::new(headers.iter().copied()),
            body: body.into(),
        }
    }

    #[test]
    fn the_header_of_an_id_is_known_where_nothing_else_says_it() {
        for (name, header) in [
            ("standard-webhooks", "webhook-id"),
            ("github", "x-github-delivery"),
            ("shopify", "x-shopify-event-id"),
            ("svix", "svix-id"),
            ("doku", "request-id"),
        ] {
            let found = vendor(name).id_header(&request(&[], "{}")).map(str::to_ascii_lowercase);
            assert_eq!(found.as_deref(), Some(header), "{name}");
        }
        assert_eq!(vendor("github").id_header(&request(&[("X-GitHub-Delivery", "a")], "{}")), None);
        assert_eq!(vendor("generic-hmac").id_header(&request(&[], r#"{"id":"a"}"#)), None);
        assert_eq!(vendor("stripe").id_header(&request(&[], "{}")), None);
    }

    #[test]
    fn attempts_are_counted_as_the_vendor_counts_them() {
        let event = request(&[], r#"{"event_id":"a"}"#);
        let slack = |attempt| vendor("slack").attempt_header(&event, attempt).map(|(_, number)| number);
        assert_eq!((slack(1), slack(2).as_deref()), (None, Some("1")));
        let push = request(&[], "{}");
        let bitbucket =
            |attempt| vendor("bitbucket").attempt_header(&push, attempt).map(|(_, number)| number);
        assert_eq!((bitbucket(1).as_deref(), bitbucket(3).as_deref()), (Some("1"), Some("3")));
        assert_eq!(vendor("stripe").attempt_header(&push, 2), None);
    }

    #[test]
    fn what_can_be_signed_and_what_states_its_time_follows_from_the_description() {
        for (name, signable, timed) in [
            ("stripe", true, true),
            ("github", true, false),
            ("standard-webhooks", true, true),
            ("linear", true, false),
            ("sendgrid", false, true),
            ("mailgun", false, false),
            ("telegram", false, false),
        ] {
            let vendor = vendor(name);
            assert_eq!((vendor.is_signable(), vendor.signs_time()), (signable, timed), "{name}");
        }
    }
}
