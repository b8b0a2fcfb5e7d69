//! The port for teams that put their logic into the processor: a destination
//! in Rust, under a name that the configuration refers to.

use super::{Call, Outcome};
use crate::ids::CodeName;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a piece of code gives back while it runs.
pub type Acting<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A team's own effect.
///
/// It is held to what every destination is (INV-2, INV-6):
/// - The call may come more than once with the same key and the same bytes,
///   where its destination declares `honours_key_for`. Then act once for each
///   key, and answer a repeat with the first result.
/// - `Done`, `Rejected` and `NotStarted` are certain. Whoever cannot tell says
///   `Unknown`; a panic is one of these, since nobody knows how far it came.
/// - End within `call.timeout`: after it the invocation may end, and whatever
///   still runs is frozen with it.
pub trait Code: Send + Sync {
    /// Acts, or says why not.
    fn call<'a>(&'a self, call: Call<'a>) -> Acting<'a>;
}

/// The code of a processor, by the names that `code = "NAME"` refers to.
#[derive(Clone, Default)]
pub struct OwnCode(BTreeMap<CodeName, Arc<dyn Code>>);

impl OwnCode {
    /// No code of one's own: the processor as it is shipped.
    pub fn none() -> Self {
        Self::default()
    }

    /// With this code under this name, in place of another of that name.
    #[must_use]
    pub fn with(mut self, name: &str, code: impl Code + 'static) -> Self {
        self.0.insert(name.into(), Arc::new(code));
        self
    }

    /// The code of this name.
    pub fn get(&self, name: &CodeName) -> Option<&dyn Code> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// The names, for people.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.0.keys().map(CodeName::as_str).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl std::fmt::Debug for OwnCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OwnCode").field(&self.names()).finish()
    }
}
