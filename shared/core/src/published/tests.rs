//! The keys that vendors publish: fetched, believed, bounded.

use super::*;
use crate::config::{Config, SecretName, check};
use crate::http::{Headers, Request};
use crate::ports::{Kept, KeyDocuments, NoKeyDocument, Secrets};
use crate::secrets::{Keyring, Matched, NotVerified};
use crate::time::UnixMillis;
use crate::vendor::{KeyUrl, Refusal};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures_util::FutureExt;
use ring::signature::{Ed25519KeyPair, KeyPair};
use std::collections::HashMap;
use std::sync::Mutex;

const START: UnixMillis = UnixMillis(1_800_000_000_000);

/// Always at the same place: a set of keys, told apart by their names.
const FIXED: &str = r#"confirmed = true
[[scheme]]
kind = "jwt"
alg = "EdDSA"
key = { encoding = "jwks", url = "https://keys.acme.example/jwks.json" }
signature = { from = "header:Acme-Token" }
binding = { from = "claim:body", digest = "sha256", encoding = "hex" }
[[event]]
id = "/id"
"#;

/// Where the delivery says, within what is pinned.
const NAMED: &str = r#"confirmed = true
[[scheme]]
kind = "ed25519"
key = { encoding = "pem", url_from = "header:Acme-Key", hosts = ["keys.acme.example"], paths = ["/keys/*.pem"] }
signature = { from = "header:Acme-Signature", encoding = "base64" }
message = "{body}"
[[event]]
id = "/id"
"#;

/// The vendor's server: what it answers, and what it was asked.
#[derive(Debug, Default)]
struct Site {
    documents: Mutex<HashMap<String, Result<Vec<u8>, NoKeyDocument>>>,
    asked: Mutex<Vec<String>>,
}

impl KeyDocuments for Site {
    async fn fetch(&self, url: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        self.asked.lock().unwrap().push(url.to_string());
        let absent = || Err(NoKeyDocument::Absent("404".to_owned()));
        self.documents.lock().unwrap().get(url.path()).cloned().unwrap_or_else(absent)
    }
}

impl Secrets for Site {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        panic!("{name} was asked for");
    }
}

struct Bench {
    keyring: Keyring<Site>,
    config: Config,
    now: UnixMillis,
}

impl Bench {
    fn of(description: &str) -> Self {
        let endpoints = "[endpoint.acme]\nvendor = \"acme\"\n";
        let checked = check(("endpoints.toml", endpoints), &[("vendors/acme.toml", description)]);
        assert_eq!(checked.problems, []);
        Self { keyring: Keyring::new(Site::default()), config: checked.config.unwrap(), now: START }
    }

    fn publish(&self, path: &str, document: Result<Vec<u8>, NoKeyDocument>) {
        self.keyring.secrets().documents.lock().unwrap().insert(path.to_owned(), document);
    }

    fn asked(&self) -> usize {
        self.keyring.secrets().asked.lock().unwrap().len()
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.plus(span);
    }

    fn deliver(&self, request: &Request) -> Result<Matched, NotVerified> {
        let endpoint = self.config.endpoints.values().next().unwrap();
        self.keyring.verify(endpoint, None, request, self.now).now_or_never().unwrap()
    }
}

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn set(seeds: &[u8]) -> Vec<u8> {
    let key = |seed: &u8| {
        let x = URL_SAFE_NO_PAD.encode(pair(*seed).public_key());
        format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"k{seed}","x":"{x}"}}"#)
    };
    format!(r#"{{"keys":[{}]}}"#, seeds.iter().map(key).collect::<Vec<_>>().join(",")).into_bytes()
}

fn pem(seed: u8) -> Vec<u8> {
    let frame = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
    let der = [&frame[..], pair(seed).public_key().as_ref()].concat();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der)).into_bytes()
}

const BODY: &[u8] = br#"{"id":"e1"}"#;

fn request(headers: &[(&str, &str)]) -> Request {
    Request {
        method: "POST".to_owned(),
        path: "/webhooks/acme".to_owned(),
        query: String::new(),
        headers: Headers::new(headers.iter().map(|(name, value)| (*name, value.as_bytes()))),
        body: BODY.to_vec(),
    }
}

/// A delivery whose token is signed with this key and names it.
fn token(seed: u8) -> Request {
    let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"EdDSA","kid":"k{seed}"}}"#));
    let digest = crate::key::hex(ring::digest::digest(&ring::digest::SHA256, BODY).as_ref());
    let claims = URL_SAFE_NO_PAD.encode(format!(r#"{{"body":"{digest}"}}"#));
    let signature = pair(seed).sign(format!("{header}.{claims}").as_bytes());
    request(&[("Acme-Token", &format!("{header}.{claims}.{}", URL_SAFE_NO_PAD.encode(signature)))])
}

/// A delivery signed with this key, which it says is at `url`.
fn named(seed: u8, url: &str) -> Request {
    let signature = STANDARD.encode(pair(seed).sign(BODY));
    request(&[("Acme-Signature", &signature), ("Acme-Key", url)])
}

fn refusal(refused: Result<Matched, NotVerified>) -> Refusal {
    match refused.unwrap_err() {
        NotVerified::Refused(refusal, None) => refusal,
        other => panic!("{other:?}"),
    }
}

fn is_without_key(refused: Result<Matched, NotVerified>) -> bool {
    matches!(refused.unwrap_err(), NotVerified::NoKey(_))
}

const FIXED_PATH: &str = "/jwks.json";

fn silent() -> Result<Vec<u8>, NoKeyDocument> {
    Err(NoKeyDocument::Unavailable("invented".to_owned()))
}

#[test]
fn a_document_is_asked_for_once_and_read_again_after_its_time() {
    let mut bench = Bench::of(FIXED);
    bench.publish(FIXED_PATH, Ok(set(&[1])));
    for _ in 0..100 {
        let matched = bench.deliver(&token(1)).unwrap();
        assert_eq!((matched.secret, matched.verified.secret_index), (None, None));
    }
    assert_eq!(bench.asked(), 1);
    bench.pass(READ_AGAIN_AFTER);
    bench.publish(FIXED_PATH, Ok(set(&[2])));
    assert_eq!(refusal(bench.deliver(&token(1))), Refusal::UnknownKey);
    assert_eq!(bench.asked(), 2);
}

#[test]
fn a_new_key_is_found_at_once_and_made_up_ones_ask_at_a_bounded_rate() {
    let mut bench = Bench::of(FIXED);
    bench.publish(FIXED_PATH, Ok(set(&[1])));
    assert!(bench.deliver(&token(1)).is_ok());
    bench.pass(REFRESH_INTERVAL);
    bench.publish(FIXED_PATH, Ok(set(&[1, 2])));
    assert!(bench.deliver(&token(2)).is_ok());
    assert_eq!(bench.asked(), 2);
    for _ in 0..1_000 {
        assert_eq!(refusal(bench.deliver(&token(9))), Refusal::UnknownKey);
    }
    assert_eq!(bench.asked(), 2);
    bench.pass(REFRESH_INTERVAL);
    for _ in 0..1_000 {
        assert_eq!(refusal(bench.deliver(&token(9))), Refusal::UnknownKey);
    }
    assert_eq!(bench.asked(), 3);
    assert!(bench.deliver(&token(1)).is_ok(), "what is known goes on being verified");
}

#[test]
fn a_server_that_does_not_answer_changes_nothing_for_a_day() {
    let mut bench = Bench::of(FIXED);
    bench.publish(FIXED_PATH, Ok(set(&[1])));
    assert!(bench.deliver(&token(1)).is_ok());
    for document in [silent(), Err(NoKeyDocument::Absent("404".to_owned())), Ok(b"{}".to_vec())] {
        bench.publish(FIXED_PATH, document);
        bench.pass(READ_AGAIN_AFTER);
        assert!(bench.deliver(&token(1)).is_ok());
    }
    let asked = bench.asked();
    assert!(bench.deliver(&token(1)).is_ok());
    assert_eq!(bench.asked(), asked, "a failure is not asked about with every delivery");
    bench.pass(BELIEVED_FOR);
    assert!(is_without_key(bench.deliver(&token(1))));
    bench.publish(FIXED_PATH, Ok(set(&[1])));
    bench.pass(ABSENT_FOR);
    assert!(bench.deliver(&token(1)).is_ok());
}

#[test]
fn where_the_description_says_where_the_key_is_its_absence_is_not_the_senders_fault() {
    let mut bench = Bench::of(FIXED);
    for document in [silent(), Err(NoKeyDocument::Absent("404".to_owned())), Ok(b"<html>".to_vec())] {
        bench.publish(FIXED_PATH, document);
        let asked = bench.asked();
        for _ in 0..100 {
            assert!(is_without_key(bench.deliver(&token(1))));
        }
        assert_eq!(bench.asked(), asked + 1);
        bench.pass(ABSENT_FOR);
    }
}

const NAMED_URL: &str = "https://keys.acme.example/keys/a.pem";

// INV-10: nothing is fetched on a stranger's word.
#[test]
fn a_url_that_is_not_pinned_is_refused_and_nobody_is_asked() {
    let bench = Bench::of(NAMED);
    for url in [
        "https://evil.example/keys/a.pem",
        "http://keys.acme.example/keys/a.pem",
        "https://keys.acme.example/upload/a.pem",
        "https://keys.acme.example/keys/a.pem?x",
        "https://keys.acme.example.evil.example/keys/a.pem",
        "",
    ] {
        assert_eq!(refusal(bench.deliver(&named(1, url))), Refusal::KeyUrl, "{url}");
    }
    let without = request(&[("Acme-Signature", "AAAA")]);
    assert_eq!(refusal(bench.deliver(&without)), Refusal::Missing("header:Acme-Key".to_owned()));
    assert_eq!(bench.asked(), 0);
}

#[test]
fn a_delivery_that_names_what_the_vendor_has_not_is_refused_and_a_silent_server_is_not_its_fault() {
    let mut bench = Bench::of(NAMED);
    assert_eq!(refusal(bench.deliver(&named(1, NAMED_URL))), Refusal::UnknownKey);
    bench.pass(ABSENT_FOR);
    bench.publish("/keys/a.pem", silent());
    assert!(is_without_key(bench.deliver(&named(1, NAMED_URL))));
    bench.pass(RETRY_UNKNOWN);
    bench.publish("/keys/a.pem", Ok(pem(1)));
    assert!(bench.deliver(&named(1, NAMED_URL)).is_ok());
    assert_eq!(refusal(bench.deliver(&named(2, NAMED_URL))), Refusal::Mismatch);
}

#[test]
fn made_up_documents_are_asked_for_at_a_bounded_rate_and_push_out_no_known_one() {
    let mut bench = Bench::of(NAMED);
    bench.publish("/keys/a.pem", Ok(pem(1)));
    assert!(bench.deliver(&named(1, NAMED_URL)).is_ok());
    let made_up = |number: usize| named(1, &format!("https://keys.acme.example/keys/n{number}.pem"));
    for number in 0..1_000 {
        let refused = bench.deliver(&made_up(number)).unwrap_err();
        assert!(matches!(refused, NotVerified::Refused(..) | NotVerified::NoKey(_)), "{refused:?}");
    }
    let many = usize::try_from(STRANGERS.many).unwrap();
    assert_eq!(bench.asked(), many, "the known document was one of them");
    assert!(bench.keyring.published().len() <= MOST_DOCUMENTS);
    let asked = bench.asked();
    bench.pass(READ_AGAIN_AFTER);
    for number in 0..100 {
        let _ = bench.deliver(&made_up(number));
    }
    // The known document is read again though strangers have used up the rate.
    let before = bench.asked();
    assert!(before >= asked);
    assert!(bench.deliver(&named(1, NAMED_URL)).is_ok());
    assert_eq!(bench.asked(), before + 1);
}

#[test]
fn a_clock_that_was_set_back_makes_a_document_due_and_not_eternal() {
    let mut bench = Bench::of(FIXED);
    bench.publish(FIXED_PATH, Ok(set(&[1])));
    assert!(bench.deliver(&token(1)).is_ok());
    bench.now = UnixMillis(START.0 - 86_400_000);
    assert!(bench.deliver(&token(1)).is_ok());
    assert_eq!(bench.asked(), 2);
}

#[test]
fn a_configured_document_is_used_and_nobody_is_asked() {
    let vendor = crate::vendor::Vendor::parse("acme", "acme.toml", NAMED).unwrap();
    let keys = vendor.keys(&[crate::secret::Secret::new(pem(1)).unwrap()]).unwrap();
    let delivery = named(1, NAMED_URL);
    assert_eq!(vendor.key_url(&delivery, &keys), Ok(None));
    let verified = vendor.verify(&delivery, &keys, &crate::vendor::Params::default(), START).unwrap();
    assert_eq!(verified.secret_index, Some(0));
    // Even then the delivery must point to the vendor.
    let elsewhere = named(1, "https://evil.example/keys/a.pem");
    let refused = vendor.verify(&elsewhere, &keys, &crate::vendor::Params::default(), START);
    assert_eq!(refused, Err(Refusal::KeyUrl));
}
