//! Destinations, vendors' APIs and receivers over HTTP.

use super::{PATIENCE, called, is_free_of_marks, is_silent, key};
use crate::connection::Reach;
use crate::connection::local_tls::server;
use crate::http_destination::{HttpDestination, HttpDestinations};
use crate::outbound::Apis;
use crate::post::Receiver;
use crate::probe::Probes;
use sekali::config::{SecretName, SecretRef, load};
use sekali::ids::DestinationName;
use sekali::ports::{Get, Kept, Outbound, Outcome, Probe, Secrets, StoreError, SwitchedOff, Switches};
use sekali::secret::{Secret, Stage};
use sekali::secrets::OutgoingSecrets;
use sekali::time::UnixMillis;
use sekali::url_template::OutboundUrl;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Answers over plain HTTP with marks wherever one can hold some.
const ANSWERS: [&str; 12] = [
    "HTTP/1.1 307 Moved canary\r\nlocation: https://x.example.com/?token=canary-token\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 401 canary\r\nwww-authenticate: Bearer canary-token\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 409 No\r\nset-cookie: canary=canary-token\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 410 Gone\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 422 canary\r\nx-canary: canary\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 429 Slow\r\nretry-after: canary\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 500 Oops\r\ncontent-length: 11\r\n\r\ncanary-body",
    "HTTP/1.1 500 Oops\r\ncontent-length: 99\r\n\r\ncanary-body",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\ncanary\r\ncanary-body\r\n",
    "HTTP/1.1 canary\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncanary canary: canary\r\n\r\n",
    "canary-body",
];

/// Keeps one secret for our own calls, which no error may show.
struct OneSecret;

impl Secrets for OneSecret {
    async fn read(&self, _: &SecretName) -> Vec<Kept> {
        let secret = Secret::new("whsec_Y2FuYXJ5IGNhbmFyeSBjYW5hcnkgY2FuYXJ5").unwrap();
        vec![(Stage::Current, Ok(secret))]
    }
}

/// Nothing is switched off; what is written is looked at.
struct NoSwitches;

impl Switches for NoSwitches {
    async fn switched_off(&self, _: &DestinationName, _: &str) -> Result<Option<SwitchedOff>, StoreError> {
        Ok(None)
    }

    async fn switch_off(&self, off: &SwitchedOff) -> Result<(), StoreError> {
        is_free_of_marks("a switch", off);
        Ok(())
    }
}

async fn called_over_http(url: &str) -> Outcome {
    let destination = HttpDestination {
        url: url.to_owned(),
        decisive: Vec::new(),
        secrets: vec![SecretRef::parse("ssm:/packing").unwrap()],
    };
    let kept = (Arc::new(OutgoingSecrets::new(OneSecret)), NoSwitches);
    let known = BTreeMap::from([("packing".into(), destination)]);
    called(&HttpDestinations::new(known, Reach::Anywhere, kept).unwrap(), "packing").await
}

#[tokio::test]
async fn no_outcome_of_a_destination_repeats_its_answer_or_its_url() {
    for answer in ANSWERS {
        let (port, _served) = server(false, answer.into(), false).await;
        let outcome = called_over_http(&format!("http://127.0.0.1:{port}/tasks?token=canary-token")).await;
        is_silent(answer, &outcome);
        assert!(
            matches!(outcome, Outcome::Done(_)) == answer.contains(" 200 OK\r\nt"),
            "{answer}: {outcome:?}"
        );
    }
    let (port, _served) = server(false, ANSWERS[11].into(), false).await;
    is_silent("no TLS", &called_over_http(&format!("https://127.0.0.1:{port}/?token=canary-token")).await);
    is_silent("nobody", &called_over_http("http://127.0.0.1:1/canary-token?token=canary-token").await);
}

const PROBED: &str = r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[destination]
packing = { http = "http://127.0.0.1:{port}/", in_doubt = "probe",
    probe = { url = "http://127.0.0.1:{port}/{key}?token=canary-token", done = [299], not_done = [404] } }
"#;

#[tokio::test]
async fn no_answer_of_an_api_is_repeated_in_what_is_said_of_it() {
    let headers = [("authorization".to_owned(), Secret::new("Bearer canary-token").unwrap())];
    let nobody = ["127.0.0.1:1".to_owned()];
    let mut hosts = Vec::new();
    for answer in ANSWERS {
        hosts.push(format!("127.0.0.1:{}", server(false, answer.into(), false).await.0));
    }
    for host in hosts.iter().chain(&nobody) {
        let url = OutboundUrl::pinned(&format!("http://{host}/v1/canary-token?token=canary-token")).unwrap();
        let get = Get { url: &url, headers: &headers, timeout: PATIENCE, largest: 64 };
        if let Err(not_got) = Apis::new(Reach::Anywhere).get(get).await {
            is_free_of_marks(host, &(not_got.to_string(), not_got));
        }
    }
    for answer in ANSWERS {
        let (port, _served) = server(false, answer.into(), false).await;
        let text = PROBED.replace("{port}", &port.to_string());
        let config = load(("endpoints.toml", &text), &[]).unwrap();
        let probes =
            Probes::new(&config, Apis::new(Reach::Anywhere), Arc::new(OutgoingSecrets::new(OneSecret)));
        let (name, key) = ("packing".into(), key());
        let asked = Probe { destination: &name, key: &key, at: UnixMillis(1), timeout: PATIENCE };
        is_free_of_marks(answer, &probes.ask(asked).await);
    }
}

#[tokio::test]
async fn what_is_said_of_a_receiver_that_gives_no_answer_holds_nothing_of_what_was_sent() {
    for answer in [ANSWERS[9], ANSWERS[10], ANSWERS[11]] {
        let (port, _served) = server(false, answer.into(), false).await;
        let url = format!("http://127.0.0.1:{port}/in?token=canary-token");
        let receiver = Receiver::new(url.parse().unwrap());
        is_free_of_marks("a receiver", &receiver);
        let headers = [("webhook-signature".to_owned(), "v1,canary".to_owned())];
        let end = receiver.post(&headers, "canary-body".into(), PATIENCE, 64).await;
        is_free_of_marks(answer, &end.map_err(|error| (error.to_string(), error)));
    }
}
