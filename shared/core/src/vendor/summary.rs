//! What a team has to know of a vendor before it writes an endpoint, read off
//! its description: the table of `docs/vendors.md` and `sekali vendors`.

use super::shape::{EventShape, IdentityForm};
use super::{Param, Vendor, algorithm, describe, scheme};
use crate::config::show_span;
use std::fmt::Write;
use std::time::Duration;

/// A description in words. Places stand in backticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The vendor's name.
    pub name: String,
    /// Whether an SDK or a published example proves the scheme.
    pub confirmed: bool,
    /// Whether an endpoint needs a secret.
    pub secret: SecretNeed,
    /// Parameters of an endpoint.
    pub params: Vec<Param>,
    /// Whether the endpoint must say its public URL, which is signed.
    pub public_url: bool,
    /// What an event's type is made of.
    pub event_type: String,
    /// By what deliveries are signed.
    pub signed_by: String,
    /// The least that a verified delivery proves.
    pub proves: &'static str,
    /// How far the signed time may be behind our clock and ahead of it.
    pub signed_time: String,
    /// What identifies an event.
    pub id: String,
    /// By what a resource of its events may be ordered, besides `rank`.
    pub orders: Vec<&'static str>,
    /// How long it waits for an answer.
    pub waits: String,
    /// For how long it repeats by itself.
    pub repeats: String,
    /// For how long people can send an event again.
    pub resent: String,
    /// Its handshakes.
    pub handshakes: String,
    /// Where it lists its events and with which secret, where it does.
    pub list: Option<String>,
    window_unknown: bool,
}

/// Whether an endpoint needs a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretNeed {
    /// One or more.
    Needed,
    /// The vendor publishes its keys; one's own copy of them is used instead.
    Published,
    /// Nothing is signed.
    None,
}

impl SecretNeed {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::Published => "published",
            Self::None => "none",
        }
    }
}

impl Vendor {
    /// What a team has to know of it.
    pub fn summary(&self) -> Summary {
        let retry = self.retry();
        let secret = match &self.schemes {
            schemes if schemes.iter().any(scheme::Scheme::needs_secret) => SecretNeed::Needed,
            schemes if schemes.iter().any(|scheme| scheme.key.published.is_some()) => SecretNeed::Published,
            _ => SecretNeed::None,
        };
        let orders = [("time", self.states_time()), ("sequence", self.states_sequence())];
        Summary {
            name: self.name().to_string(),
            confirmed: self.confirmed(),
            secret,
            params: self.params().to_vec(),
            public_url: self.needs_public_url(),
            event_type: distinct(self.events.iter().map(typed)),
            signed_by: distinct(self.schemes.iter().map(|scheme| kind(&scheme.kind))),
            proves: self.assurance().as_str(),
            signed_time: distinct(self.schemes.iter().map(bounds)),
            id: distinct(self.events.iter().map(identified)),
            orders: orders.into_iter().filter(|(_, states)| *states).map(|(order, _)| order).collect(),
            waits: span(self.reply().deadline, "none"),
            repeats: span(retry.horizon, "not"),
            resent: span(retry.resend, "not"),
            handshakes: distinct(self.handshakes.iter().map(|handshake| handshake.name.clone())),
            list: self.list().map(|list| format!("{}, with {}", list.url(), list.secret())),
            window_unknown: retry.horizon.is_none() || retry.resend.is_none(),
        }
    }
}

impl Summary {
    /// What an endpoint is configured with besides secrets, each once.
    pub fn configured_with(&self) -> String {
        let params = self.params.iter().map(|param| match param.default {
            Some(_) => format!("`{}?`", param.name),
            None => format!("`{}`", param.name),
        });
        distinct(self.public_url.then(|| "`public_url`".to_owned()).into_iter().chain(params))
    }

    /// The beginning of an endpoint of this vendor.
    pub fn example(&self) -> String {
        let name = &self.name;
        let mut text = format!("[endpoint.{name}]\nvendor = \"{name}\"\n");
        if self.secret == SecretNeed::Needed {
            let _ = writeln!(text, "secrets = [\"secretsmanager:prod/{name}-webhook\"]");
        }
        let params: Vec<String> = self
            .params
            .iter()
            .filter(|param| param.default.is_none())
            .map(|param| format!("{} = \"..\"", param.name))
            .collect();
        if !params.is_empty() {
            let _ = writeln!(text, "params = {{ {} }}", params.join(", "));
        }
        if self.public_url {
            let _ = writeln!(text, "public_url = \"https://hooks.example.com/webhooks/{name}\"");
        }
        if !self.confirmed {
            text.push_str("allow_unconfirmed = true     # once a real delivery has verified\n");
        }
        if self.window_unknown {
            text.push_str("dedup_window = \"90d\"         # how long an event may come again is not known\n");
        }
        text
    }
}

/// Each once, in order.
fn distinct(texts: impl IntoIterator<Item = String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        if !known.contains(&text) {
            known.push(text);
        }
    }
    if known.is_empty() { "none".to_owned() } else { known.join("; ") }
}

fn span(span: Option<Duration>, none: &str) -> String {
    match span {
        Some(span) if span.is_zero() => none.to_owned(),
        span => span.map_or_else(|| "unknown".to_owned(), show_span),
    }
}

fn kind(kind: &scheme::Kind) -> String {
    use scheme::{Algorithm, Kind};
    let name = describe::kind_name(kind);
    let digests = |algorithm: &Algorithm| {
        let named = |digest: &algorithm::Digest| algorithm::DIGESTS.iter().find(|(_, known)| known == digest);
        let names: Vec<_> = algorithm.digests().iter().filter_map(named).map(|(name, _)| *name).collect();
        names.join("/")
    };
    match kind {
        Kind::Hmac(algorithm) | Kind::Hash(algorithm) | Kind::RsaPkcs1(algorithm) => {
            format!("{name} {}", digests(algorithm))
        }
        Kind::Jwt(algorithms) => {
            let named = |algorithm: &_| scheme::JWT_ALGORITHMS.iter().find(|(_, known)| known == algorithm);
            let names: Vec<_> = algorithms.iter().filter_map(named).map(|(name, _)| *name).collect();
            format!("{name} {}", names.join("/"))
        }
        _ => name.to_owned(),
    }
}

fn bounds(scheme: &scheme::Scheme) -> String {
    let Some(timestamp) = &scheme.timestamp else { return "none".to_owned() };
    let bound = |span: Option<_>| span.map_or_else(|| "any".to_owned(), show_span);
    match (bound(timestamp.past), bound(timestamp.future)) {
        (past, future) if past == "any" && future == "any" => past,
        (past, future) if past == future => format!("±{past}"),
        (past, future) => format!("-{past} +{future}"),
    }
}

/// Alternatives in words, so that no `|` ends the cell of a table.
fn quoted(value: &super::place::Value) -> String {
    format!("`{}`", value.to_string().replace(" | ", "` or `"))
}

/// What the type of the events of one form is made of.
fn typed(shape: &EventShape) -> String {
    match shape.event_type.is_empty() {
        true => "none".to_owned(),
        false => shape.event_type.iter().map(quoted).collect::<Vec<_>>().join(" . "),
    }
}

/// What identifies the events of one form.
fn identified(shape: &EventShape) -> String {
    let each = shape.each.as_ref().map(|each| format!("each `{each}`: ")).unwrap_or_default();
    let parts: Vec<String> = shape.id.iter().map(quoted).collect();
    let id = match (shape.identity, parts.is_empty(), shape.or_digest) {
        (IdentityForm::None, ..) => "a ping".to_owned(),
        (_, true, _) => "digest (weak)".to_owned(),
        (IdentityForm::Weak, ..) => format!("{} (weak)", parts.join(" + ")),
        (_, _, true) => format!("{}, else digest (weak)", parts.join(" + ")),
        _ => parts.join(" + "),
    };
    format!("{each}{id}")
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;
    use crate::config::{Retentions, check_windows, load};

    #[test]
    fn the_example_of_every_vendor_is_a_sound_endpoint() {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        for name in builtin::names() {
            let vendor = Vendor::parse(name, "vendors/a.toml", builtin::text(name).unwrap()).unwrap();
            let example = vendor.summary().example();
            let config = load(("endpoints.toml", &example), &[]);
            let config = config.unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
            let wrong = check_windows(&config, Retentions { queue: days(4), dlq: days(14) });
            assert_eq!(wrong, [], "{name}");
        }
    }
}
