//! Composite keys. Every part carries its length, so ("ab","c") is not
//! ("a","bc"), and an absent part is not an empty one (INV-7).

use crate::ids::{ActionName, EndpointName, ResourceKind, Tenant};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// DynamoDB takes 2,048 bytes of partition key; beyond this a key is its digest.
const LONGEST_READABLE_KEY: usize = 1024;

/// What makes two deliveries the same event: scope, tenant, id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventKey(String);

/// What makes two requests for an effect the same: action name, tenant, key
/// fields; two events or two vendors may name the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionKey(String);

/// The thing whose status moves: kind, tenant, id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceKey(String);

/// Digest of one event's own part of the body without its volatile fields;
/// lower-case hex. It tells a repeated event from a changed one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventHash(String);

/// The scope within which an event id is unique: the endpoint, or a name that
/// several endpoints of one vendor account declare (`dedup_scope`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DedupScope(pub String);

impl From<&EndpointName> for DedupScope {
    fn from(endpoint: &EndpointName) -> Self {
        Self(endpoint.as_str().to_owned())
    }
}

impl EventKey {
    /// The key of an event. `id` has one entry for each declared part; `None`
    /// is a part that the delivery does not carry, which is not the empty text.
    pub fn new(scope: &DedupScope, tenant: Option<&Tenant>, id: &[Option<&str>]) -> Self {
        let head = [Some(scope.0.as_str()), tenant.map(Tenant::as_str)];
        Self(encode("event", head.into_iter().chain(id.iter().copied())))
    }

    /// Whether the event lies in this scope, as far as its key tells: that of a
    /// long id is a digest, and may lie in any.
    pub fn may_lie_in(&self, scope: &DedupScope) -> bool {
        let head = encode("event", [Some(scope.0.as_str())].into_iter());
        self.0.starts_with("event#") || self.0.strip_prefix(&head).is_some_and(|rest| rest.starts_with('|'))
    }
}

impl ActionKey {
    /// The key of an action that declares key fields. The parts are present
    /// and not empty: a missing one makes the event held, never merged (INV-7).
    pub fn from_fields(action: &ActionName, tenant: Option<&Tenant>, fields: &[&str]) -> Self {
        let head = [Some(action.as_str()), tenant.map(Tenant::as_str), Some("fields")];
        Self(encode("action", head.into_iter().chain(fields.iter().copied().map(Some))))
    }

    /// The key of an action without key fields: once per event.
    pub fn from_event(action: &ActionName, tenant: Option<&Tenant>, event: &EventKey) -> Self {
        let parts = [Some(action.as_str()), tenant.map(Tenant::as_str), Some("event"), Some(event.as_str())];
        Self(encode("action", parts.into_iter()))
    }
}

impl ResourceKey {
    /// The key of a resource.
    pub fn new(kind: &ResourceKind, tenant: Option<&Tenant>, id: &str) -> Self {
        Self(encode("resource", [Some(kind.as_str()), tenant.map(Tenant::as_str), Some(id)].into_iter()))
    }
}

impl EventHash {
    /// Hashes the given pieces of an event in order.
    pub fn of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for piece in pieces {
            hasher.update(piece);
        }
        Self(hex(&hasher.finalize()))
    }
}

macro_rules! stored_text {
    ($($name:ident),+) => {$(
        impl $name {
            /// A value read back from a store or a message, as it was written.
            pub fn from_stored(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The encoded text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

stored_text!(EventKey, ActionKey, ResourceKey, EventHash);

/// `tag` and the parts, each as `length:text`, `-` for an absent one:
/// readable in a log, and no two lists of parts give the same text.
fn encode<'a>(tag: &str, parts: impl Iterator<Item = Option<&'a str>>) -> String {
    let mut text = String::from(tag);
    for part in parts {
        text.push('|');
        match part {
            Some(part) => {
                text.push_str(&part.len().to_string());
                text.push(':');
                text.push_str(part);
            }
            None => text.push('-'),
        }
    }
    if text.len() <= LONGEST_READABLE_KEY {
        return text;
    }
    // A readable key never has `#` right behind its tag, so the two forms cannot meet.
    format!("{tag}#{}", hex(&Sha256::digest(text.as_bytes())))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(id: &[Option<&str>]) -> EventKey {
        EventKey::new(&DedupScope("stripe".into()), None, id)
    }

    #[test]
    fn parts_keep_their_borders() {
        assert_ne!(event(&[Some("ab"), Some("c")]), event(&[Some("a"), Some("bc")]));
        assert_ne!(event(&[Some("a|1:b")]), event(&[Some("a"), Some("b")]));
    }

    #[test]
    fn an_absent_part_is_not_an_empty_one() {
        assert_ne!(event(&[None]), event(&[Some("")]));
        assert_ne!(event(&[None]), event(&[Some("-")]));
    }

    #[test]
    fn a_long_id_becomes_a_digest_that_fits() {
        let long = "x".repeat(5000);
        let key = event(&[Some(&long)]);
        assert!(key.as_str().len() < 100);
        assert_ne!(key, event(&[Some(&"x".repeat(5001))]));
    }

    #[test]
    fn a_key_tells_its_scope_and_a_digest_may_lie_in_any() {
        let scope = |name: &str| DedupScope(name.to_owned());
        let key = event(&[Some("a")]);
        assert!(key.may_lie_in(&scope("stripe")));
        assert!(!key.may_lie_in(&scope("strip")) && !key.may_lie_in(&scope("shop")));
        assert!(event(&[Some(&"x".repeat(5000))]).may_lie_in(&scope("shop")));
    }

    proptest! {
        // INV-7: distinct keys never interfere.
        #[test]
        fn different_parts_give_different_keys(
            a in proptest::collection::vec(proptest::option::of("[a-c:|#0-9-]{0,4}"), 1..4),
            b in proptest::collection::vec(proptest::option::of("[a-c:|#0-9-]{0,4}"), 1..4),
        ) {
            let key = |parts: &[Option<String>]| {
                event(&parts.iter().map(Option::as_deref).collect::<Vec<_>>())
            };
            prop_assert_eq!(a == b, key(&a) == key(&b));
        }
    }
}
