//! The kind of a scheme and where its signature stands.

use super::super::algorithm::{DIGESTS, ENCODINGS, Encoding};
use super::super::place::Place;
use super::super::scheme::{Algorithm, JWT_ALGORITHMS, Kind, List, SignatureForm, SignaturePlace};
use super::{place, section, string, word};
use crate::document::{Document, Entry, Table};
use crate::source::Source;
use toml::de::DeValue;

pub(super) const SIGNATURE: &[&str] = &["from", "items", "pair", "pick", "prefix", "encoding"];
pub(super) const NAMED_ALGORITHM: &[&str] = &["from", "items", "pair", "pick", "map"];

#[derive(Clone, Copy)]
enum KindName {
    Hmac,
    Hash,
    Ed25519,
    EcdsaP256,
    RsaPkcs1,
    Jwt,
    Token,
    Basic,
    None,
}

const KINDS: &[(&str, KindName)] = &[
    ("hmac", KindName::Hmac),
    ("hash", KindName::Hash),
    ("ed25519", KindName::Ed25519),
    ("ecdsa-p256", KindName::EcdsaP256),
    ("rsa-pkcs1", KindName::RsaPkcs1),
    ("jwt", KindName::Jwt),
    ("token", KindName::Token),
    ("basic", KindName::Basic),
    ("none", KindName::None),
];

/// The names of the kinds, for the reference.
#[cfg(test)]
pub(in crate::vendor) const KIND_NAMES: [&str; KINDS.len()] = {
    let mut names = [""; KINDS.len()];
    let mut at = 0;
    while at < KINDS.len() {
        names[at] = KINDS[at].0;
        at += 1;
    }
    names
};

pub(in crate::vendor) fn kind_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Hmac(_) => "hmac",
        Kind::Hash(_) => "hash",
        Kind::Ed25519 => "ed25519",
        Kind::EcdsaP256 => "ecdsa-p256",
        Kind::RsaPkcs1(_) => "rsa-pkcs1",
        Kind::Jwt(_) => "jwt",
        Kind::Token => "token",
        Kind::Basic => "basic",
        Kind::None => "none",
    }
}

pub(super) fn kind(document: &mut Document<'_>, table: Table<'_>) -> Option<Kind> {
    let Some(entry) = table.get("kind") else {
        document.absent(table.at, "`kind` is missing", None);
        return None;
    };
    let name = document.word(entry, KINDS)?;
    let takes_alg = matches!(name, KindName::Hmac | KindName::Hash | KindName::RsaPkcs1 | KindName::Jwt);
    match table.get("alg") {
        None if takes_alg => document.absent(table.at, "`alg` is missing", None),
        Some(alg) if !takes_alg => document.problem(alg.key_at, "`alg` has no meaning for this kind", None),
        _ => {}
    }
    Some(match name {
        KindName::Hmac => Kind::Hmac(algorithm(document, table.get("alg")?)?),
        KindName::Hash => Kind::Hash(algorithm(document, table.get("alg")?)?),
        KindName::RsaPkcs1 => Kind::RsaPkcs1(algorithm(document, table.get("alg")?)?),
        KindName::Jwt => Kind::Jwt(jwt_algorithms(document, table.get("alg")?)),
        KindName::Ed25519 => Kind::Ed25519,
        KindName::EcdsaP256 => Kind::EcdsaP256,
        KindName::Token => Kind::Token,
        KindName::Basic => Kind::Basic,
        KindName::None => Kind::None,
    })
}

fn jwt_algorithms(document: &mut Document<'_>, entry: Entry<'_>) -> Vec<super::super::scheme::JwtAlgorithm> {
    let mut algorithms = Vec::new();
    for text in document.one_or_more(entry).unwrap_or_default() {
        match JWT_ALGORITHMS.iter().find(|(name, _)| *name == text.text) {
            Some((_, algorithm)) => algorithms.push(*algorithm),
            None => {
                let known: Vec<_> = JWT_ALGORITHMS.iter().map(|(name, _)| *name).collect();
                let message = format!("`{}` is no algorithm of a token here", text.text);
                document.problem(text.at, message, Some(format!("one of {}", known.join(", "))));
            }
        }
    }
    algorithms
}

/// `alg = "sha256"`, or a table: the delivery names it within a closed map.
fn algorithm(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Algorithm> {
    if !matches!(entry.value, DeValue::Table(_)) {
        return document.word(entry, DIGESTS).map(Algorithm::Fixed);
    }
    let table = document.table(entry)?;
    document.only(table, "`alg`", NAMED_ALGORITHM);
    let from = place(document, table, "from");
    let list = list(document, table);
    let mut map = Vec::new();
    for entry in section(document, table, "map")?.entries() {
        map.extend(document.word(entry, DIGESTS).map(|digest| (entry.key.to_owned(), digest)));
    }
    Some(Algorithm::Named { from: from?, list, map })
}

/// `items`, `pair` and `pick` come together.
fn list(document: &mut Document<'_>, table: Table<'_>) -> Option<List> {
    let keys = ["items", "pair", "pick"];
    let given: Vec<_> = keys.iter().filter(|key| table.get(key).is_some()).collect();
    if given.is_empty() {
        return None;
    }
    if given.len() < keys.len() {
        document.absent(table.at, "a list needs `items`, `pair` and `pick`", None);
        return None;
    }
    let mut separator = |key: &str| {
        let entry = table.get(key)?;
        let text = document.text(entry)?;
        let mut chars = text.text.chars();
        match (chars.next(), chars.next()) {
            (Some(separator), None) if !separator.is_alphanumeric() => Some(separator),
            _ => {
                document.problem(text.at, format!("`{key}` is one character that separates"), None);
                None
            }
        }
    };
    let (items, pair) = (separator("items"), separator("pair"));
    Some(List { items: items?, pair: pair?, pick: string(document, table, "pick")? })
}

pub(super) fn signature(document: &mut Document<'_>, table: Table<'_>) -> SignatureForm {
    let mut form = SignatureForm {
        from: Vec::new(),
        list: None,
        prefix: None,
        prefix_may_lack: false,
        encoding: Encoding::Hex,
    };
    let is = |name: &str| {
        table.get("kind").is_some_and(|kind| matches!(kind.value, DeValue::String(kind) if kind == name))
    };
    form.prefix_may_lack = is("token");
    if is("basic") {
        form.from.push(SignaturePlace::Place(Place::Source(Source::Header("Authorization".to_owned()))));
    }
    let Some(table) = section(document, table, "signature") else { return form };
    document.only(table, "`signature`", SIGNATURE);
    let texts = table.get("from").and_then(|entry| document.one_or_more(entry)).unwrap_or_default();
    for text in texts {
        let numbered = text.text.strip_prefix("header:").and_then(|name| name.strip_suffix('*'));
        let place = match numbered {
            Some(name) => Some(SignaturePlace::Numbered(name.to_ascii_lowercase())),
            None => document.accept(text, Place::parse(text.text)).map(SignaturePlace::Place),
        };
        form.from.extend(place);
    }
    form.list = list(document, table);
    form.prefix = string(document, table, "prefix");
    form.encoding = word(document, table, "encoding", ENCODINGS).unwrap_or(form.encoding);
    form
}
