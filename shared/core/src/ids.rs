//! Names and numbers that cross modules, each a type of its own, so that a
//! tenant is never passed where an event id was meant.

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )+};
}

text_id! {
    /// One URL that a vendor calls: the `stripe` of `POST /webhooks/stripe`.
    EndpointName,
    /// Who sends; names a vendor description.
    VendorName,
    /// Whose delivery it is, where one endpoint serves many.
    Tenant,
    /// The vendor's name for what happened, e.g. `checkout.session.completed`.
    EventType,
    /// A status of a resource, as the team's graph names it.
    Status,
    /// A kind of resource, e.g. `payment`.
    ResourceKind,
    /// The name of an action in the configuration.
    ActionName,
    /// The name of a destination in the configuration.
    DestinationName,
    /// The name under which a team's own code is registered in the processor.
    CodeName,
    /// A field of an action.
    FieldName,
    /// One id from the request to the effect, for logs and traces.
    CorrelationId,
    /// Who decided something by hand, as they are known to AWS or to this machine.
    Who,
    /// Drawn anew for each claim; names its owner in every later write (INV-5).
    OwnerNonce,
    /// Drawn anew for each delivery; by it a put recognises its own retry.
    PutNonce,
}

impl Tenant {
    /// Longest tenant that a URL may name.
    pub const LONGEST_IN_PATH: usize = 128;

    /// A tenant as a URL names it: letters, digits, `.`, `_` and `-`, not
    /// beginning with `.`. Nobody has vouched for this text when it is read, so
    /// it can lead nowhere but to a name of its own (INV-7). `None`: no tenant
    /// is called that.
    pub fn in_path(text: &str) -> Option<Self> {
        let well_made = (1..=Self::LONGEST_IN_PATH).contains(&text.len())
            && !text.starts_with('.')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        well_made.then(|| Self::new(text))
    }
}

macro_rules! counter {
    ($($(#[$doc:meta])* $name:ident($first:literal)),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// Where counting begins.
            pub const FIRST: Self = Self($first);

            /// A number read back from a store.
            pub fn from_stored(number: u64) -> Self {
                Self(number)
            }

            /// The one after this.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }

            /// The number.
            pub fn get(self) -> u64 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

counter! {
    /// A round of an event or an action; a human or a redrive begins the next.
    Generation(1),
    /// Fencing token: grows with each claim, so that a slow worker's late
    /// write is refused (INV-5).
    Token(1),
    /// Counts the moves of a resource; a claim names the one it read.
    Version(1),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_in_a_url_is_plain_and_leads_nowhere() {
        for good in ["acme", "acme.example.com", "ACME_1", "6f1c-22", &"x".repeat(128)] {
            assert_eq!(Tenant::in_path(good), Some(Tenant::from(good)), "{good}");
        }
        for bad in ["", ".", "..", "../acme", ".env", "a/b", "a b", "a%2fb", "ä", "a\0", &"x".repeat(129)] {
            assert_eq!(Tenant::in_path(bad), None, "{bad}");
        }
    }
}
