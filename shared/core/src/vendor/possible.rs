//! Places at which no event of a vendor can have a value, as far as the
//! description tells: a rule that reads one there waits for ever.

use super::Vendor;
use super::place::{Place, Term, Value};
use super::shape::EventShape;
use crate::source::{Pointer, Source};

const FORM: &str = "application/x-www-form-urlencoded";

impl Vendor {
    /// Why no event of this vendor has a value at the place; `None` where it
    /// may have one.
    pub(crate) fn never_holds(&self, source: &Source) -> Option<String> {
        match source {
            Source::Body(pointer) => self.never_in_body(pointer),
            Source::Shared(pointer) => {
                let stars = pointer.steps().iter().filter(|step| *step == "*").count();
                let known =
                    self.events.iter().map(|shape| shape.each.as_ref().map_or(0, |each| each.stars())).max();
                (stars > known.unwrap_or(0)).then(|| {
                    format!("its `*` stands for an event's own place, and {} has fewer of them", self.name)
                })
            }
            Source::Header(_) | Source::Query(_) | Source::Fetch(_) => None,
        }
    }

    fn never_in_body(&self, pointer: &Pointer) -> Option<String> {
        if pointer.steps().iter().any(|step| step == "*") {
            return Some("a `*` has a meaning only behind `shared:`".to_owned());
        }
        // A shape without it has it nowhere.
        let may_have: Vec<&EventShape> =
            self.events.iter().filter(|shape| !is_without(shape, pointer)).collect();
        let all =
            |is: &dyn Fn(&EventShape) -> bool| !may_have.is_empty() && may_have.iter().all(|shape| is(shape));
        if all(&|shape| around(shape, pointer)) {
            return Some(format!(
                "a delivery of {} holds several events, and each is read by itself: what is around them is read with `shared:`",
                self.name
            ));
        }
        if all(&|shape| below_text(shape, pointer)) {
            return Some(format!("the description of {} reads plain text above it", self.name));
        }
        let only_forms = self.body.content_types.iter().all(|media| media == FORM) && self.body.form == ["*"];
        let is_deep = match pointer.steps() {
            [_] => false,
            [_, index] => index.parse::<usize>().is_err(),
            _ => true,
        };
        (only_forms && is_deep).then(|| format!("{} sends forms, whose fields hold plain text", self.name))
    }
}

/// Whether the shape is only for events that have nothing there.
fn is_without(shape: &EventShape, pointer: &Pointer) -> bool {
    shape.condition.absent.iter().any(|source| match source {
        Source::Body(absent) => pointer.steps().starts_with(absent.steps()),
        _ => false,
    })
}

/// Whether the pointer goes through the list of which an event is one item.
fn around(shape: &EventShape, pointer: &Pointer) -> bool {
    let Some(path) = shape.each.as_ref().and_then(|each| Pointer::parse(&each.to_string()).ok()) else {
        return false;
    };
    let path = path.steps();
    let fits = |(step, own): (&String, &String)| step == own || (own == "*" && step.parse::<usize>().is_ok());
    pointer.steps().len() >= path.len() && pointer.steps().iter().zip(path).all(fits)
}

/// Whether the pointer goes below something that is plain text in every event
/// of the shape.
fn below_text(shape: &EventShape, pointer: &Pointer) -> bool {
    let required = shape.id.iter().chain(&shape.event_type).filter(|value| !value.optional);
    required.filter_map(only_place).any(|text| {
        let (steps, text) = (pointer.steps(), text.steps());
        steps.len() > text.len() && steps.starts_with(text)
    })
}

fn only_place(value: &Value) -> Option<&Pointer> {
    match value.alternatives.as_slice() {
        [Term::Place(Place::Source(Source::Body(pointer)))] => Some(pointer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::builtin;

    fn never(vendor: &str, place: &str) -> Option<String> {
        let vendor = Vendor::parse(vendor, vendor, builtin::text(vendor).unwrap()).unwrap();
        vendor.never_holds(&Source::parse(place).unwrap())
    }

    #[test]
    fn what_no_event_can_hold_is_known_by_its_reason() {
        for (vendor, place, reason) in [
            ("stripe", "/id/number", "plain text above"),
            ("stripe", "/data/*/id", "only behind `shared:`"),
            ("stripe", "shared:/data/*/id", "has fewer"),
            ("adyen", "/notificationItems/0/NotificationRequestItem/pspReference", "several events"),
            ("hubspot", "shared:/*/*", "has fewer"),
        ] {
            let found = never(vendor, place).unwrap_or_default();
            assert!(found.contains(reason), "{vendor} {place}: {found}");
        }
    }

    #[test]
    fn what_an_event_may_hold_is_let_be() {
        for (vendor, place) in [
            ("stripe", "/data/object/id"),
            ("stripe", "/id"),
            ("stripe", "header:x"),
            ("adyen", "/pspReference"),
            ("adyen", "shared:/live"),
            ("github", "/repository/full_name"),
            ("meta-whatsapp", "shared:/entry/*/id"),
            ("standard-webhooks", "/type/name"),
        ] {
            assert_eq!(never(vendor, place), None, "{vendor} {place}");
        }
    }
}
