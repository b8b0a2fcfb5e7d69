//! The body of a call: which event asks, and the fields of the action.

use super::plan::PlannedAction;
use crate::instant::Instant;
use crate::json::JsonText;
use crate::protocol::event::Event;

/// The JSON that a destination receives. It is written once, when the action
/// is first begun, and frozen (INV-2); the same event and action always give
/// the same bytes.
///
/// `data` holds the action's fields in the order of the configuration, each as
/// the JSON that the vendor sent, numbers unchanged; a field that the event
/// does not have is `null`. `tenant` is there only where the endpoint serves
/// many; the other members always are.
pub fn envelope(event: &Event, action: &PlannedAction) -> Vec<u8> {
    let mut object = Object::new();
    object.text("event_id", Some(&event.id));
    object.text("event_type", event.event_type.as_ref().map(|event_type| event_type.as_str()));
    object.text("event_version", event.version.as_deref());
    object.text("occurred_at", event.occurred_at.map(|time| Instant(time).to_string()).as_deref());
    object.text("vendor", Some(event.vendor.as_str()));
    object.text("endpoint", Some(event.endpoint.as_str()));
    if let Some(tenant) = &event.tenant {
        object.text("tenant", Some(tenant.as_str()));
    }
    object.text("action", Some(action.name.as_str()));
    let mut data = Object::new();
    for (name, value) in &action.fields {
        data.json(name.as_str(), value.as_ref().map_or("null", JsonText::as_json));
    }
    object.json("data", &data.close());
    object.close().into_bytes()
}

/// A JSON object while it is written, members in the order given.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self(String::from("{"))
    }

    fn json(&mut self, name: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(JsonText::from_text(name).as_json());
        self.0.push(':');
        self.0.push_str(value);
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.json(name, JsonText::from_text(value).as_json()),
            None => self.json(name, "null"),
        }
    }

    fn close(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
