//! Asking a destination whether an effect happened: one GET of the URL that
//! the configuration makes of the key.

use crate::connection::End;
use crate::effect_result::{LARGEST_ANSWER_READ, of_read};
use sekali::call_signature::{CallSigner, ID, SIGNATURE, TIMESTAMP};
use sekali::config::{self, Config, ProbePart, Says, SecretRef};
use sekali::ids::DestinationName;
use sekali::ports::{Found, Get, Outbound, Probe, Secrets};
use sekali::protocol::action::EffectResult;
use sekali::secret::Secret;
use sekali::secrets::OutgoingSecrets;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::timeout;

/// Every destination that can be asked; `O` asks, `K` keeps the secrets.
pub struct Probes<O, K> {
    known: BTreeMap<DestinationName, (config::Probe, Vec<SecretRef>)>,
    apis: O,
    secrets: Arc<OutgoingSecrets<K>>,
    signer: CallSigner,
}

impl<O: Outbound, K: Secrets> Probes<O, K> {
    /// Takes those destinations that say how they are asked.
    pub fn new(config: &Config, apis: O, secrets: Arc<OutgoingSecrets<K>>) -> Self {
        let known = config.destinations.values().filter_map(|destination| {
            let probe = destination.probe.clone()?;
            Some((destination.name.clone(), (probe, destination.secrets.clone())))
        });
        Self { known: known.collect(), apis, secrets, signer: CallSigner::new() }
    }

    /// Asks. Whatever is not one of the two declared answers leaves open what
    /// happened (INV-6).
    pub async fn ask(&self, asked: Probe<'_>) -> Found {
        let Some((probe, secrets)) = self.known.get(asked.destination) else {
            return Found::Unknown("the destination does not say how it is asked".to_owned());
        };
        let key = asked.key.as_str();
        let url = match probe.url.fill(|ProbePart::Key| Some(Cow::Borrowed(key))) {
            Ok(url) => url,
            Err(refused) => return Found::Unknown(refused.to_string()),
        };
        let headers = match timeout(asked.timeout, self.headers(&asked, secrets)).await {
            Ok(Ok(headers)) => headers,
            Ok(Err(cause)) => return Found::Unknown(cause),
            Err(_) => return Found::Unknown("the secrets were not read in time".to_owned()),
        };
        let get = Get { url: &url, headers: &headers, timeout: asked.timeout, largest: LARGEST_ANSWER_READ };
        let got = match self.apis.get(get).await {
            Ok(got) => got,
            Err(not_got) => return Found::Unknown(not_got.to_string()),
        };
        let answered = format!("asked, the destination answered {}", got.status);
        match probe.says(got.status, &got.body, key) {
            Says::Done => Found::Done(evidence(got.status, got.body)),
            Says::NotDone => Found::NotDone(answered),
            Says::Neither => Found::Unknown(answered),
        }
    }

    /// The question is signed like a call, over an empty body.
    async fn headers(&self, asked: &Probe<'_>, named: &[SecretRef]) -> Result<Vec<(String, Secret)>, String> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let secrets = self.secrets.live(named, asked.at).await.map_err(|none| none.to_string())?;
        let signed = self.signer.sign(asked.key.as_str(), asked.at, b"", &secrets);
        let signed = signed.map_err(|unusable| unusable.to_string())?;
        let pairs = [(ID, signed.id), (TIMESTAMP, signed.timestamp), (SIGNATURE, signed.signature)];
        let header = |(name, value): (&str, String)| {
            let value = Secret::new(value).map_err(|reason| reason.to_string())?;
            Ok((name.to_owned(), value))
        };
        pairs.into_iter().map(header).collect()
    }
}

/// What is kept of the answer; one without a body is evidence by its status.
fn evidence(status: u16, body: Vec<u8>) -> EffectResult {
    if body.is_empty() {
        return EffectResult(format!("asked, the destination answered {status}"));
    }
    of_read(body, &End::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Reach;
    use crate::outbound::Apis;
    use sekali::config::{SecretName, load};
    use sekali::ids::Generation;
    use sekali::key::ActionKey;
    use sekali::ports::{Kept, NoSecret};
    use sekali::protocol::action::IdempotencyKey;
    use sekali::secret::Stage;
    use sekali::time::UnixMillis;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Has one secret of an invented packing service.
    struct Keepers;

    impl Secrets for Keepers {
        async fn read(&self, name: &SecretName) -> Vec<Kept> {
            let secret = match name.name() {
                "/packing" => Ok(Secret::new("whsec_b2xkIGludmVudGVkIHNlY3JldCE=").unwrap()),
                _ => Err(NoSecret::Absent),
            };
            vec![(Stage::Current, secret)]
        }
    }

    fn key() -> IdempotencyKey {
        IdempotencyKey::of(&ActionKey::from_stored("action|4:pack"), Generation::FIRST)
    }

    /// Takes one question and answers it so; gives what was asked.
    async fn server(answer: &'static str) -> (u16, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = Vec::new();
            let mut buffer = [0; 4096];
            while !read.ends_with(b"\r\n\r\n") {
                let count = stream.read(&mut buffer).await.unwrap();
                read.extend_from_slice(&buffer[..count]);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            String::from_utf8(read).unwrap()
        });
        (port, asked)
    }

    async fn found(port: u16, more: &str) -> Found {
        let text = format!(
            r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[destination]
packing = {{ http = "http://127.0.0.1:{port}/tasks", in_doubt = "probe", {more}
    probe = {{ url = "http://127.0.0.1:{port}/tasks/{{key}}?by=key", done = [200], not_done = [404, 410] }} }}
"#
        );
        found_by(&text).await
    }

    async fn found_by(endpoints: &str) -> Found {
        let config = load(("endpoints.toml", endpoints), &[]).unwrap();
        let secrets = Arc::new(OutgoingSecrets::new(Keepers));
        let probes = Probes::new(&config, Apis::new(Reach::Anywhere), secrets);
        let (name, key, at) = ("packing".into(), key(), UnixMillis(1_700_000_000_000));
        probes.ask(Probe { destination: &name, key: &key, at, timeout: Duration::from_secs(20) }).await
    }

    #[tokio::test]
    async fn the_answer_says_done_not_done_or_neither() {
        let word = |found: &Found| match found {
            Found::Done(_) => "done",
            Found::NotDone(_) => "not done",
            Found::Unknown(_) => "unknown",
        };
        for (answer, expected) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nt_1", "done"),
            ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "not done"),
            ("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", "not done"),
            ("HTTP/1.1 204 No Content\r\n\r\n", "unknown"),
            ("HTTP/1.1 307 Moved\r\nlocation: /\r\ncontent-length: 0\r\n\r\n", "unknown"),
            ("HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n", "unknown"),
            ("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n", "unknown"),
            ("HTTP/1.1 404 Not Fou", "unknown"),
            ("", "unknown"),
        ] {
            let (port, _) = server(answer).await;
            assert_eq!(word(&found(port, "").await), expected, "{answer}");
        }
        assert_eq!(word(&found(1, "").await), "unknown");
    }

    #[tokio::test]
    async fn a_search_by_key_says_in_its_body_whether_it_found_something() {
        let says = r#"in_doubt = "probe", settling = "1m","#;
        let search = |port: u16| {
            format!(
                r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[destination]
packing = {{ http = "http://127.0.0.1:{port}/tasks", {says}
    probe = {{ url = "http://127.0.0.1:{port}/tasks?key={{key}}",
              done_when = {{ "/data/0/key" = "{{key}}" }}, not_done_when = {{ "/data" = [] }} }} }}
"#
            )
        };
        let (port, _) = server("HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"data\":[]}").await;
        assert!(matches!(found_by(&search(port)).await, Found::NotDone(_)));
        let (port, _) = server("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"items\":[]}").await;
        assert!(matches!(found_by(&search(port)).await, Found::Unknown(_)));
    }

    #[tokio::test]
    async fn the_question_names_the_key_and_is_signed_like_a_call() {
        let (port, asked) = server("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nt_1").await;
        let found = found(port, "secrets = [\"ssm:/packing\"],").await;
        assert_eq!(found, Found::Done(EffectResult("t_1".to_owned())));
        let asked = asked.await.unwrap();
        let line = format!("GET /tasks/{}?by=key HTTP/1.1\r\n", key().as_str());
        assert!(asked.starts_with(&line), "{asked}");
        for header in [ID, TIMESTAMP, SIGNATURE] {
            assert!(asked.contains(&format!("\r\n{header}: ")), "{header}: {asked}");
        }
    }

    // INV-10
    #[tokio::test]
    async fn a_question_that_cannot_be_signed_is_not_asked() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(matches!(found(port, "secrets = [\"ssm:/other\"],").await, Found::Unknown(_)));
        let nobody = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
        assert!(nobody.is_err(), "somebody came: {nobody:?}");
    }
}
