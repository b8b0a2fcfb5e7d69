//! What may be logged. A field that is not on this list is left out wherever it
//! comes from, so that a line added in a hurry shows no body (INV-10), and
//! `docs/logs.md` says what each one holds.

/// Every field, by name.
pub const FIELDS: &[&str] = &[
    "action.name",
    "correlation.id",
    "delivery.filtered_count",
    "delivery.result",
    "delivery.took_ms",
    "destination.name",
    "effect.cause",
    "effect.outcome",
    "effect.took_ms",
    "endpoint.name",
    "error",
    "event.age_ms",
    "event.key",
    "event.reason",
    "event.status",
    "guard.answer",
    "guard.place",
    "handshake.name",
    "handshake.problem",
    "index.part",
    "index.shard",
    "key.kept",
    "key.problem",
    "key.url",
    "message",
    "message.id",
    "offline.reasons",
    "panic.place",
    "panic.words",
    "probe.cause",
    "probe.found",
    "resource.key",
    "secret.kept",
    "secret.name",
    "secret.position",
    "secret.problem",
    "secret.reason",
    "secret.version",
    "signature.clock_skew_ms",
    "signature.guess",
    "signature.reason",
    "signature.refresh",
    "signature.secret",
    "source.address",
    "sweep.left",
    "sweep.looked_at",
    "sweep.moved",
    "sweep.oldest_s",
    "sweep.out_of_time",
    "sweep.sent",
    "tenant",
    "truth.cause",
    "truth.status",
    "variable",
    "vendor.name",
];

/// Whether a field may be logged.
pub(super) fn allowed(name: &str) -> bool {
    FIELDS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    const DOCUMENT: &str = include_str!("../../../../docs/logs.md");

    fn workspace() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Every file of Rust below a folder.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    /// The arguments of a macro's call, split where its own commas are.
    fn arguments(text: &str) -> Vec<String> {
        let (mut all, mut depth, mut quoted, mut escaped) = (vec![String::new()], 1, false, false);
        for letter in text.chars() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted => depth -= 1,
                ',' if !quoted && depth == 1 => {
                    all.push(String::new());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            all.last_mut().unwrap().push(letter);
        }
        all.into_iter().map(|argument| argument.trim().to_owned()).filter(|one| !one.is_empty()).collect()
    }

    /// The field that an argument sets; `None`: it is the message.
    fn field(argument: &str) -> Option<String> {
        if argument.starts_with('"') {
            return None;
        }
        let name = argument.split('=').next().unwrap().trim().trim_start_matches(['%', '?']);
        Some(name.to_owned())
    }

    fn used() -> BTreeSet<String> {
        let mut files = Vec::new();
        for folder in ["shared/core/src", "shared/aws/src", "functions"] {
            sources(&workspace().join(folder), &mut files);
        }
        let mut fields = BTreeSet::from(["message".to_owned()]);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for level in ["trace", "debug", "info", "warn", "error"] {
                for call in code.split(&format!("tracing::{level}!(")).skip(1) {
                    fields.extend(arguments(call).iter().filter_map(|argument| field(argument)));
                }
            }
        }
        fields
    }

    fn listed() -> BTreeSet<String> {
        FIELDS.iter().map(|field| (*field).to_owned()).collect()
    }

    #[test]
    fn the_list_is_in_order_since_it_is_searched() {
        assert!(FIELDS.is_sorted() && allowed("event.key") && !allowed("body"));
    }

    #[test]
    fn the_code_logs_exactly_the_fields_of_the_list() {
        assert_eq!(used(), listed());
    }

    #[test]
    fn the_document_says_what_each_field_holds_and_lists_no_other() {
        let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let documented: BTreeSet<String> = rows
            .map(|(name, meaning)| {
                assert!(meaning.trim().len() > 5, "{name} is not explained");
                name.to_owned()
            })
            .collect();
        assert_eq!(documented, listed());
    }
}
