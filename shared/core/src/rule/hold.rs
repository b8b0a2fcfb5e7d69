//! Why a human has to look before a rule can be followed.

use crate::ids::{ActionName, FieldName, ResourceKind};
use crate::protocol::reason::{Reason, Slug};
use crate::source::Source;

/// Why an event is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// A part of a key is not there; going on would merge strangers (INV-7).
    MissingKeyPart {
        /// The key.
        of: KeyOf,
        /// The place of the part.
        source: Source,
        /// What stands there instead.
        found: NoKeyPart,
    },
    /// The endpoint serves many tenants and the event names none.
    NoTenant,
    /// The resource is ordered and the event does not say its order.
    NoOrder(ResourceKind),
    /// A part of the URL is missing at which the vendor's API would be asked.
    NoQuestion(String),
    /// The vendor's API was asked and says no status.
    NoStatus(Source),
    /// A value is to be read from a body that is not JSON.
    Unreadable,
}

/// Whose key lacks a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOf {
    /// A resource's.
    Resource(ResourceKind),
    /// An action's, in this field.
    Action(ActionName, FieldName),
}

/// What stands where a part of a key was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKeyPart {
    /// Nothing.
    Absent,
    /// `null`.
    Null,
    /// The empty text.
    Empty,
    /// A list or an object, which names nothing.
    NotPlain,
}

impl Hold {
    /// The reason as it is recorded. It names places, never values.
    pub fn reason(&self) -> Reason {
        match self {
            Self::MissingKeyPart { of, source, found } => {
                let what = match of {
                    KeyOf::Resource(kind) => format!("key of resource {kind}"),
                    KeyOf::Action(action, field) => format!("key field {field} of action {action}"),
                };
                let found = match found {
                    NoKeyPart::Absent => "absent",
                    NoKeyPart::Null => "null",
                    NoKeyPart::Empty => "empty",
                    NoKeyPart::NotPlain => "a list or an object",
                };
                Reason::with(Slug::MissingKeyPart, format!("{what}: {source} is {found}"))
            }
            Self::NoTenant => Reason::with(Slug::MissingKeyPart, "no tenant"),
            Self::NoOrder(kind) => Reason::with(Slug::NoOrder, format!("resource {kind}")),
            Self::NoQuestion(cause) => Reason::with(Slug::MissingKeyPart, format!("fetch: {cause}")),
            Self::NoStatus(source) => {
                Reason::with(Slug::UnknownStatus, format!("{source} is absent, null or empty"))
            }
            Self::Unreadable => Reason::bare(Slug::Unreadable),
        }
    }
}
