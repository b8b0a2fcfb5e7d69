//! What an earlier configuration says that this one no longer does: a renamed
//! endpoint forgets which events it has seen.

use sekali::config::{Config, Endpoint, Remark, Severity};
use sekali::problem::{Place, Problem};

/// Scopes of the earlier configuration in which nothing is deduplicated any more.
pub(super) fn forgotten(earlier: &Config, now: &Config, file: &str) -> Vec<Remark> {
    let has = |scope: &str| now.endpoints.values().any(|endpoint| endpoint.dedup_scope.0 == scope);
    let gone = earlier.endpoints.values().filter(|old| !has(&old.dedup_scope.0));
    gone.map(|old| {
        let scope = &old.dedup_scope.0;
        match renamed(old, earlier, now) {
            Some(new) => {
                let message = format!(
                    "endpoint `{}` looks like `{}` under a new name: it would not recognise what came before, and the URL changes",
                    new.name, old.name
                );
                remark(Severity::Warning, new.place.clone(), message, format!("dedup_scope = \"{scope}\" keeps its history"))
            }
            None => {
                let message = format!("endpoint `{}` is gone: its open events keep only what the tables hold", old.name);
                remark(Severity::Note, Place::whole(file), message, "leave it in until its vendor has stopped and its queue is empty".to_owned())
            }
        }
    })
    .collect()
}

/// An endpoint that is new and has the old one's vendor and secrets.
fn renamed<'n>(old: &Endpoint, earlier: &Config, now: &'n Config) -> Option<&'n Endpoint> {
    now.endpoints.values().find(|new| {
        !earlier.endpoints.contains_key(&new.name)
            && new.vendor.name() == old.vendor.name()
            && new.secrets == old.secrets
    })
}

/// What everybody should know before renaming one.
pub(super) fn advice(file: &str) -> Remark {
    let message =
        "an endpoint that is renamed forgets which events it has seen, and its URL changes".to_owned();
    let remedy =
        "dedup_scope = \"the old name\" keeps its history; --was OLD_FILE looks for renamed ones".to_owned();
    remark(Severity::Note, Place::whole(file), message, remedy)
}

fn remark(severity: Severity, place: Place, message: String, remedy: String) -> Remark {
    Remark { severity, problem: Problem { place, message, remedy: Some(remedy) } }
}
