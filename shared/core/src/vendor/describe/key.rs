//! `scheme.key`: what a key is made of, and where the vendor publishes it.

use super::super::key_url::{KeyUrl, REGION};
use super::super::scheme::{KEY_ENCODINGS, KeyEncoding, KeyForm, Published};
use super::{names, place, section, string, whole, word};
use crate::document::{Document, Table};

pub(super) const KEY: &[&str] = &["encoding", "prefix", "min", "url", "url_from", "hosts", "paths"];

/// Fewest bytes of a key unless the description knows better. Real secrets
/// are longer; this only catches what cannot be one.
const SHORTEST_KEY: usize = 4;

pub(super) fn key(document: &mut Document<'_>, table: Table<'_>) -> KeyForm {
    let mut form = KeyForm { encoding: KeyEncoding::Utf8, prefix: None, min: SHORTEST_KEY, published: None };
    let Some(table) = section(document, table, "key") else { return form };
    document.only(table, "`key`", KEY);
    form.encoding = word(document, table, "encoding", KEY_ENCODINGS).unwrap_or(form.encoding);
    form.prefix = string(document, table, "prefix");
    let min = table.get("min").and_then(|entry| whole(document, entry));
    form.min = min.and_then(|min| usize::try_from(min).ok()).filter(|min| *min > 0).unwrap_or(form.min);
    form.published = published(document, table);
    let by_url = ["url", "url_from"].into_iter().find_map(|key| table.get(key));
    if let Some(entry) = by_url
        && !form.encoding.is_document()
    {
        let remedy = "encoding = \"pem\", \"certificate\" or \"jwks\"";
        document.problem(entry.key_at, "what is published is a document of public keys", Some(remedy.into()));
    }
    form
}

/// Where the key is published: at a URL, or where the delivery says within
/// what is pinned.
fn published(document: &mut Document<'_>, table: Table<'_>) -> Option<Published> {
    let at = table.get("url").and_then(|entry| {
        document.read(entry, |url| {
            KeyUrl::described(url).ok_or("a key is published at https://host/path, without port and query")
        })
    });
    let Some(entry) = table.get("url_from") else {
        for pin in ["hosts", "paths"].into_iter().filter_map(|key| table.get(key)) {
            document.problem(pin.key_at, format!("`key.{}` pins what `url_from` names", pin.key), None);
        }
        return at.map(Published::At);
    };
    if table.get("url").is_some() {
        document.problem(entry.key_at, "a key has either `url` or `url_from`", None);
    }
    let (hosts, paths) = (names(document, table, "hosts", &[]), names(document, table, "paths", &[]));
    if hosts.is_empty() || paths.is_empty() {
        let remedy = "a delivery that names its own key proves nothing unless host and path are pinned";
        document.absent(table.at, "`key.url_from` needs `key.hosts` and `key.paths`", Some(remedy.into()));
    }
    for host in &hosts {
        let fixed: Vec<&str> = host.rsplit('.').take_while(|label| *label != REGION).collect();
        if fixed.len() < 2 || host.contains('*') {
            let message =
                format!("`{host}` pins no host: only a label in front of its domain may be `{REGION}`");
            document.problem(table.get("hosts").map_or(table.at, |hosts| hosts.value_at), message, None);
        }
    }
    for path in paths.iter().filter(|path| !path.starts_with('/') || path.matches('*').count() > 1) {
        let message = format!("`{path}` is no path with at most one `*`");
        document.problem(table.get("paths").map_or(table.at, |paths| paths.value_at), message, None);
    }
    Some(Published::Named { from: place(document, table, "url_from")?, hosts, paths })
}
