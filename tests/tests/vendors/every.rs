//! For every description a genuine delivery is taken, its repeat recognised,
//! and a forged one refused with nothing written.

use super::*;
use sekali::key::{DedupScope, EventKey};
use sekali::vectors::{Recorded, recorded as read};
use sekali::vendor::{Assurance, Identity};
use serde::Deserialize;
use std::fmt::Write;

/// What a delivery contains, as it was recorded or made apart from the code.
#[derive(Debug, Deserialize)]
struct Expected {
    event_id: Option<String>,
    event_id_parts: Option<Vec<Option<String>>>,
    event_type: Option<String>,
    identity: String,
}

/// One genuine delivery of each vendor, by name.
fn deliveries() -> Vec<(Vendor, Recorded)> {
    let recorded: Vec<Recorded> = [
        include_str!("../../vectors/deliveries.json"),
        include_str!("../../vectors/signatures.json"),
        include_str!("../../vectors/derived.json"),
    ]
    .into_iter()
    .flat_map(|text| read(text).unwrap())
    .filter(|recorded| recorded.expected.as_deref() == Some("valid"))
    .collect();
    builtin::names()
        .map(|name| {
            let vendor = builtin_vendor(name);
            let yields = |recorded: &&Recorded| recorded.vendor == name && yields_events(&vendor, recorded);
            let recorded = recorded.iter().find(yields).unwrap_or_else(|| panic!("no delivery of {name}"));
            (vendor, recorded.clone())
        })
        .collect()
}

/// Whether it is no handshake and holds something.
fn yields_events(vendor: &Vendor, recorded: &Recorded) -> bool {
    let Recorded { request, params, now, .. } = recorded;
    let secrets: Vec<Secret> =
        recorded.secrets.iter().map(|text| Secret::new(text.as_str()).unwrap()).collect();
    let keys = vendor.keys(&secrets).unwrap();
    let verified = vendor.verify(request, &keys, params, *now).unwrap();
    vendor.handshake(request, Some(&verified), params, Some(&keys)).is_none()
        && vendor.events(request, &[]).is_ok_and(|events| !events.is_empty())
}

/// An endpoint of the vendor with the secrets and parameters of the delivery.
pub(super) fn settings(recorded: &Recorded, secrets: usize) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut settings =
        format!("vendor = {}\nallow_unconfirmed = true\ndedup_window = \"90d\"\n", text(&recorded.vendor));
    let places: Vec<String> = (0..secrets).map(|number| format!("\"{PLACE}/{number}\"")).collect();
    if !places.is_empty() {
        writeln!(settings, "secrets = [{}]", places.join(", ")).unwrap();
    }
    if let Some(url) = &recorded.params.public_url {
        writeln!(settings, "public_url = {}", text(url)).unwrap();
    }
    let known = builtin_vendor(&recorded.vendor);
    let declared = |name: &String| known.params().iter().any(|param| param.name == *name);
    let mut params = recorded.params.named.clone();
    for param in known.params().iter().filter(|param| param.default.is_none()) {
        params.entry(param.name.clone()).or_insert_with(|| "https://events.example.test".to_owned());
    }
    let params: Vec<String> = params
        .iter()
        .filter(|(name, _)| declared(name))
        .map(|(name, value)| format!("{name} = {}", text(value)))
        .collect();
    writeln!(settings, "params = {{ {} }}", params.join(", ")).unwrap();
    settings
}

fn bench(recorded: &Recorded, secrets: &[String]) -> Bench {
    let bench = Bench::at(recorded.now, &settings(recorded, secrets.len()), &[]);
    for (number, secret) in secrets.iter().enumerate() {
        bench.secrets.put(&format!("{PLACE}/{number}"), secret);
    }
    bench
}

/// The keys that the events must have; `None` for a ping, which gets its own.
fn keys(vendor: &Vendor, recorded: &Recorded) -> Vec<(Option<EventKey>, Option<String>)> {
    let facts = vendor.events(&recorded.request, &[]).unwrap();
    let stated: Option<Vec<Expected>> =
        recorded.expect.as_ref().map(|expect| serde_json::from_value(expect["events"].clone()).unwrap());
    let scope = DedupScope(ENDPOINT.to_owned());
    let key = |parts: &[Option<String>], hash: Option<&str>| {
        let parts: Vec<Option<&str>> = parts.iter().map(Option::as_deref).chain(hash.map(Some)).collect();
        EventKey::new(&scope, None, &parts)
    };
    if let Some(stated) = &stated {
        assert_eq!(stated.len(), facts.len(), "{}", recorded.id);
    }
    let keys = facts.iter().enumerate().map(|(number, facts)| {
        let hash = facts.hash.as_str();
        let Some(stated) = stated.as_ref().map(|stated| &stated[number]) else {
            let event_type = facts.event_type.as_ref().map(ToString::to_string);
            return match &facts.identity {
                Identity::Id(parts) => (Some(key(parts, None)), event_type),
                Identity::Weak(parts) => (Some(key(parts, Some(hash))), event_type),
                Identity::None => (None, event_type),
            };
        };
        let parts = match (&stated.event_id, &stated.event_id_parts) {
            (Some(id), _) => vec![Some(id.clone())],
            (None, parts) => parts.clone().unwrap_or_default(),
        };
        let key = match stated.identity.as_str() {
            "none" => None,
            "weak" => Some(key(&parts, Some(hash))),
            _ => Some(key(&parts, None)),
        };
        (key, stated.event_type.clone())
    });
    keys.collect()
}

#[tokio::test]
async fn a_genuine_delivery_of_every_vendor_is_stored_under_its_key_and_its_repeat_recognised() {
    for (vendor, recorded) in deliveries() {
        let id = &recorded.id;
        let bench = bench(&recorded, &recorded.secrets);
        let answer = bench.deliver(&recorded.request).await;
        assert_eq!(answer.status, vendor.reply().ok_status.unwrap_or(202), "{id}: {answer:?}");
        if let Some(body) = &vendor.reply().ok_body {
            assert_eq!(&answer.body, body, "{id}");
        }
        let expected = keys(&vendor, &recorded);
        let events = bench.events();
        assert_eq!(events.len(), expected.len(), "{id}");
        for (key, event_type) in &expected {
            let event = match key {
                Some(key) => events.iter().find(|event| event.key == *key),
                None => events.iter().find(|event| event.id.starts_with("sekali-")),
            };
            let event = event.unwrap_or_else(|| panic!("{id}: no {key:?} among {events:#?}"));
            let stored = event.event_type.as_ref().map(ToString::to_string);
            assert_eq!((&event.vendor, &stored), (vendor.name(), event_type), "{id}");
            let payload = bench.store.look(|tables| tables.payload(&event.key, &event.hash).cloned());
            assert!(payload.is_some_and(|payload| !payload.body().is_empty()), "{id}");
        }
        assert_eq!(bench.queue.visible().len(), events.len(), "{id}");

        let repeated = bench.deliver(&recorded.request).await;
        assert!((200..300).contains(&repeated.status), "{id}: {repeated:?}");
        let pings = expected.iter().filter(|(key, _)| key.is_none()).count();
        let events = bench.events();
        // A ping is never the same twice.
        assert_eq!(events.len(), expected.len() + pings, "{id}");
        let twice = events.iter().filter(|event| event.seen.deliveries == 2).count();
        assert_eq!(twice, expected.len() - pings, "{id}");
    }
}

/// The same secret with one character changed, in the same form; `None` for
/// documents of public keys.
fn other(secret: &str) -> Option<String> {
    if secret.starts_with(['-', '{']) {
        return None;
    }
    let mut characters: Vec<char> = secret.chars().collect();
    let middle = characters.len() / 2;
    let at = (middle..characters.len()).find(|at| characters[*at].is_ascii_alphanumeric())?;
    characters[at] = match characters[at] {
        '9' => '0',
        'f' => 'a',
        'z' => 'y',
        'Z' => 'Y',
        other => char::from(other as u8 + 1),
    };
    Some(characters.into_iter().collect())
}

// INV-10: an unverified body causes no write.
#[tokio::test]
async fn a_forged_delivery_of_every_vendor_that_signs_is_refused_and_nothing_is_written() {
    for (vendor, recorded) in deliveries() {
        let id = &recorded.id;
        let secrets: Option<Vec<String>> = recorded.secrets.iter().map(|secret| other(secret)).collect();
        let other_secret = secrets.filter(|secrets: &Vec<String>| !secrets.is_empty());
        let mut tried = 0;
        if let Some(secrets) = other_secret {
            let bench = bench(&recorded, &secrets);
            let answer = bench.deliver(&recorded.request).await;
            assert_eq!(answer.status, vendor.reply().reject_status, "{id}: {answer:?}");
            assert!(bench.is_untouched(), "{id}");
            tried += 1;
        }
        // What is signed as a whole cannot be changed at all.
        if vendor.assurance() == Assurance::High
            || recorded.secrets.iter().any(|secret| other(secret).is_none())
        {
            let bench = bench(&recorded, &recorded.secrets);
            let mut forged = recorded.request.clone();
            let digit = forged.body.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
            forged.body[digit] ^= 1;
            let answer = bench.deliver(&forged).await;
            assert_eq!(answer.status, vendor.reply().reject_status, "{id}: {answer:?}");
            assert!(bench.is_untouched(), "{id}");
            tried += 1;
        }
        assert!(tried > 0 || vendor.assurance() == Assurance::None, "nothing was forged for {id}");
    }
}

#[tokio::test]
async fn a_delivery_without_anything_but_its_body_is_refused_by_every_vendor_that_signs() {
    for (vendor, recorded) in deliveries() {
        let bench = bench(&recorded, &recorded.secrets);
        let content_type = recorded.request.media_type().unwrap_or_else(|| "application/json".to_owned());
        let answer = bench.deliver(&post(&content_type, b"{}")).await;
        if vendor.assurance() == Assurance::None {
            continue;
        }
        assert_eq!(answer.status, vendor.reply().reject_status, "{}: {answer:?}", recorded.id);
        assert!(bench.is_untouched(), "{}", recorded.id);
    }
}
