//! Calls to a server that misbehaves on purpose.

use super::*;
use crate::effect_result::LARGEST_ANSWER_READ;
use sekali::config::SecretName;
use sekali::http::{Headers, Request as Delivery};
use sekali::ids::Generation;
use sekali::key::ActionKey;
use sekali::ports::{Kept, NoSecret, StoreError, SwitchedOff};
use sekali::protocol::action::{EffectResult, IdempotencyKey};
use sekali::secret::{Secret, Stage};
use sekali::time::UnixMillis;
use sekali::vendor::{Params, Vendor, builtin};
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Long enough for a loopback call on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Short enough to wait for where a timeout is the point.
const IMPATIENCE: Duration = Duration::from_millis(150);
/// When the calls are made.
const AT: UnixMillis = UnixMillis(1_700_000_000_000);
const BODY: &[u8] = br#"{"data":{"order":"order_1"}}"#;

type Served = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the server did with one connection.
struct Server {
    address: std::net::SocketAddr,
    requests: tokio::task::JoinHandle<Vec<String>>,
}

impl Server {
    /// Takes one connection, reads the request and then does `act`.
    async fn once(act: impl FnOnce(TcpStream) -> Served + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = request_of(&mut stream).await;
            act(stream).await;
            vec![request]
        });
        Self { address, requests }
    }

    /// Answers with these bytes and closes.
    async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::once(move |mut stream| {
            Box::pin(async move {
                // The caller may have read enough and be gone.
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            })
        })
        .await
    }

    /// Answers with a status and nothing more.
    async fn with_status(status: u16) -> Self {
        Self::answering(format!("HTTP/1.1 {status} Status\r\ncontent-length: 0\r\n\r\n")).await
    }

    fn url(&self) -> String {
        format!("http://{}/tasks?team=a", self.address)
    }
}

/// Reads head and body of a request.
pub(super) async fn request_of(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    while !(read.windows(4).any(|end| end == b"\r\n\r\n") && read.ends_with(BODY)) {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            count => read.extend_from_slice(&buffer[..count]),
        }
    }
    String::from_utf8(read).unwrap()
}

pub(super) fn destinations(url: &str, reach: Reach) -> HttpDestinations<NoKeepers, MemorySwitches> {
    signing(url, reach, NoKeepers, &[])
}

/// Destinations whose calls are signed with what these keepers have.
fn signing<K: Secrets>(
    url: &str,
    reach: Reach,
    keepers: K,
    secrets: &[&str],
) -> HttpDestinations<K, MemorySwitches> {
    let secrets = secrets.iter().map(|text| SecretRef::parse(text).unwrap()).collect();
    let destination = HttpDestination { url: url.to_owned(), decisive: vec![503], secrets };
    let secrets = Arc::new(OutgoingSecrets::new(keepers));
    let kept = (secrets, MemorySwitches::default());
    HttpDestinations::new(BTreeMap::from([("packing".into(), destination)]), reach, kept).unwrap()
}

/// Switches in memory.
#[derive(Default, Clone)]
pub(super) struct MemorySwitches(Arc<Mutex<Vec<SwitchedOff>>>);

impl Switches for MemorySwitches {
    async fn switched_off(
        &self,
        destination: &DestinationName,
        place: &str,
    ) -> Result<Option<SwitchedOff>, StoreError> {
        let off = self.0.lock().unwrap();
        Ok(off.iter().find(|off| off.destination == *destination && off.place == place).cloned())
    }

    async fn switch_off(&self, off: &SwitchedOff) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(off.clone());
        Ok(())
    }
}

/// Nobody keeps a secret.
pub(super) struct NoKeepers;

impl Secrets for NoKeepers {
    async fn read(&self, _: &SecretName) -> Vec<Kept> {
        vec![(Stage::Current, Err(NoSecret::Absent))]
    }
}

/// Keepers of invented secrets: `/old`, `/new`, and one that is no key.
struct Invented;

impl Secrets for Invented {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        let text = match name.name() {
            "/old" => OLD,
            "/new" => NEW,
            _ => "whsec_c2hvcnQ=",
        };
        vec![(Stage::Current, Ok(Secret::new(text).unwrap()))]
    }
}

const OLD: &str = "whsec_b2xkIGludmVudGVkIHNlY3JldCE=";
const NEW: &str = "whsec_bmV3IGludmVudGVkIHNlY3JldCE=";

fn key() -> IdempotencyKey {
    IdempotencyKey::of(&ActionKey::from_stored("action|4:pack"), Generation::FIRST)
}

pub(super) async fn call_with(
    destinations: &HttpDestinations<impl Secrets, impl Switches>,
    timeout: Duration,
    trace: Option<&str>,
) -> Outcome {
    let call = Call {
        destination: &"packing".into(),
        action: &"pack".into(),
        key: &key(),
        body: BODY,
        resource: None,
        at: AT,
        attempt: 2,
        correlation: "0af7651916cd43dd8448eb211c80319c",
        trace,
        timeout,
    };
    destinations.call(call).await
}

async fn call(url: &str) -> Outcome {
    call_with(&destinations(url, Reach::Anywhere), PATIENCE, None).await
}

fn unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown { .. })
}

pub(super) fn not_started(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::NotStarted { decisive: false, .. })
}

// INV-2: the same bytes under the same key, on every attempt.
#[tokio::test]
async fn a_call_carries_the_body_as_it_is_and_says_who_calls() {
    let server = Server::with_status(204).await;
    let trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    let outcome = call_with(&destinations(&server.url(), Reach::Anywhere), PATIENCE, Some(trace)).await;
    assert_eq!(outcome, Outcome::Done(EffectResult(String::new())));
    let request = server.requests.await.unwrap().remove(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.as_bytes(), BODY);
    let lines: Vec<_> = head.lines().collect();
    assert_eq!(lines[0], "POST /tasks?team=a HTTP/1.1");
    for header in [
        format!("host: {}", server.address),
        "content-type: application/json".to_owned(),
        format!("content-length: {}", BODY.len()),
        format!("idempotency-key: {}", key().as_str()),
        "sekali-attempt: 2".to_owned(),
        "sekali-correlation-id: 0af7651916cd43dd8448eb211c80319c".to_owned(),
        "traceparent: 00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01".to_owned(),
    ] {
        assert!(lines.contains(&header.as_str()), "{header} in {lines:?}");
    }
}

#[tokio::test]
async fn a_short_answer_is_kept_as_it_is() {
    let body = r#"{"task":"t_1","note":"é"}"#;
    let server =
        Server::answering(format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
            .await;
    assert_eq!(call(&server.url()).await, Outcome::Done(EffectResult(body.to_owned())));
}

// INV-6: what was answered is certain, however its body ends.
#[tokio::test]
async fn a_done_answer_that_breaks_off_is_done() {
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"task\"").await;
    let Outcome::Done(EffectResult(result)) = call(&server.url()).await else { panic!("not done") };
    assert!(result.starts_with("sha256:") && result.ends_with("(the first 7 bytes)"), "{result}");
}

#[tokio::test]
async fn a_done_answer_whose_body_never_ends_is_done_when_the_time_is_up() {
    let server = Server::once(|mut stream| {
        Box::pin(async move {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n")
                .await
                .unwrap();
            let _ = stream.read(&mut [0]).await;
        })
    })
    .await;
    let destinations = destinations(&server.url(), Reach::Anywhere);
    let outcome = call_with(&destinations, IMPATIENCE * 4, None).await;
    let Outcome::Done(EffectResult(result)) = outcome else { panic!("not done: {outcome:?}") };
    assert!(result.ends_with("(the first 3 bytes)"), "{result}");
}

// INV-8
#[tokio::test]
async fn of_a_huge_answer_only_the_beginning_is_read() {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 10 * LARGEST_ANSWER_READ);
    let answer = [head.into_bytes(), vec![b'a'; 10 * LARGEST_ANSWER_READ]].concat();
    let server = Server::answering(answer).await;
    let Outcome::Done(EffectResult(result)) = call(&server.url()).await else { panic!("not done") };
    assert!(result.ends_with(&format!("(the first {LARGEST_ANSWER_READ} bytes)")), "{result}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let location = format!("http://{}/", elsewhere.local_addr().unwrap());
    let answer = format!("HTTP/1.1 307 Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let server = Server::answering(answer).await;
    assert!(matches!(call(&server.url()).await, Outcome::Rejected { decisive: false, .. }));
    let nobody = tokio::time::timeout(IMPATIENCE, elsewhere.accept()).await;
    assert!(nobody.is_err(), "somebody came: {nobody:?}");
}

#[tokio::test]
async fn a_busy_destination_says_how_long_to_wait() {
    let server = Server::answering("HTTP/1.1 429 Busy\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n").await;
    let cause = "the destination answered 429".to_owned();
    let not_before = Some(Duration::from_secs(7));
    assert_eq!(call(&server.url()).await, Outcome::NotStarted { cause, not_before, decisive: false });
}

#[tokio::test]
async fn the_statuses_of_a_destination_are_read_over_the_wire() {
    let refused = Server::with_status(422).await;
    assert!(matches!(call(&refused.url()).await, Outcome::Rejected { decisive: false, .. }));
    for status in [500, 409] {
        let broken = Server::with_status(status).await;
        assert!(unknown(&call(&broken.url()).await), "{status}");
    }
    let declared = Server::with_status(503).await;
    assert!(matches!(call(&declared.url()).await, Outcome::NotStarted { decisive: true, .. }));
}

// INV-6: nobody knows what became of a request that was sent.
#[tokio::test]
async fn a_connection_that_is_cut_after_the_request_leaves_it_unknown() {
    let cut = Server::once(|stream| Box::pin(async move { drop(stream) })).await;
    assert!(unknown(&call(&cut.url()).await));
    let half = Server::answering("HTTP/1.1 200 O").await;
    assert!(unknown(&call(&half.url()).await));
    let garbage = Server::answering("220 smtp.example.com\r\n\r\n").await;
    assert!(unknown(&call(&garbage.url()).await));
}

#[tokio::test]
async fn a_destination_that_does_not_answer_in_time_leaves_it_unknown() {
    let slow = Server::once(|mut stream| {
        Box::pin(async move {
            let _ = stream.read(&mut [0]).await;
        })
    })
    .await;
    let outcome = call_with(&destinations(&slow.url(), Reach::Anywhere), IMPATIENCE, None).await;
    assert_eq!(outcome, Outcome::unknown("no answer in time"));
    // The call has closed its connection: the server saw the end of it.
    assert_eq!(slow.requests.await.unwrap().len(), 1);
}

// INV-6: before the connection stands, nothing was sent, and that is certain.
#[tokio::test]
async fn a_refused_connection_has_not_started() {
    let free = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", free.local_addr().unwrap());
    drop(free);
    assert!(not_started(&call(&url).await));
}

#[tokio::test]
async fn a_name_that_does_not_resolve_has_not_started() {
    assert!(not_started(&call("http://destination.invalid/").await));
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_has_not_started() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 3];
        stream.read_exact(&mut hello).await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Plain\r\n\r\n").await.unwrap();
        hello
    });
    assert!(not_started(&call(&url).await));
    assert_eq!(server.await.unwrap()[0], 0x16, "the first bytes are TLS's, not the request");
}

#[tokio::test]
async fn a_connection_that_does_not_stand_in_time_has_not_started() {
    // It accepts and then never answers the TLS hello.
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let outcome = call_with(&destinations(&url, Reach::Anywhere), IMPATIENCE, None).await;
    let cause = "no connection in time".to_owned();
    assert_eq!(outcome, Outcome::NotStarted { cause, not_before: None, decisive: false });
}

#[tokio::test]
async fn a_private_address_is_refused_however_it_is_written() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"] {
        let url = format!("http://{host}:{port}/");
        let outcome = call_with(&destinations(&url, Reach::Public), PATIENCE, None).await;
        assert!(matches!(outcome, Outcome::Rejected { decisive: false, .. }), "{host}: {outcome:?}");
    }
    let nobody = tokio::time::timeout(IMPATIENCE, listener.accept()).await;
    assert!(nobody.is_err(), "somebody came: {nobody:?}");
}

#[tokio::test]
async fn a_destination_that_is_not_known_has_not_started() {
    let secrets = Arc::new(OutgoingSecrets::new(NoKeepers));
    let kept = (secrets, MemorySwitches::default());
    let none = HttpDestinations::new(BTreeMap::new(), Reach::Anywhere, kept).unwrap();
    assert!(not_started(&call_with(&none, PATIENCE, None).await));
}

#[test]
fn a_url_that_nothing_could_be_sent_to_is_refused_and_not_shown() {
    for (url, reason) in [
        ("packing", NotAUrl::NoHttp),
        ("ftp://packing.example.com/", NotAUrl::NoHttp),
        ("https://", NotAUrl::Unreadable),
        ("https://packing.example.com/a b", NotAUrl::Unreadable),
        ("https://user:invented@packing.example.com/", NotAUrl::Userinfo),
    ] {
        let destination = HttpDestination { url: url.to_owned(), decisive: Vec::new(), secrets: Vec::new() };
        let secrets = Arc::new(OutgoingSecrets::new(NoKeepers));
        let known = BTreeMap::from([("packing".into(), destination)]);
        let error = HttpDestinations::new(known, Reach::Public, (secrets, MemorySwitches::default()));
        let error = error.err().unwrap();
        assert_eq!(error.reason, reason, "{url}");
        assert!(!error.to_string().contains("invented"));
    }
}

/// What a receiver of Standard Webhooks with this secret says to a request
/// that came over the wire, `after` the call was made.
fn verifies(request: &str, secret: &str, after: Duration) -> bool {
    let text = builtin::text("standard-webhooks").unwrap();
    let vendor = Vendor::parse("standard-webhooks", "standard-webhooks", text).unwrap();
    let keys = vendor.keys(&[Secret::new(secret).unwrap()]).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let delivery = Delivery {
        method: "POST".to_owned(),
        path: "/tasks".to_owned(),
        query: String::new(),
        headers: Headers::new(headers.map(|(name, value)| (name.to_owned(), value.to_owned()))),
        body: body.as_bytes().to_vec(),
    };
    vendor.verify(&delivery, &keys, &Params::default(), AT.plus(after)).is_ok()
}

async fn signed_request(secrets: &[&str]) -> String {
    let server = Server::with_status(204).await;
    let destinations = signing(&server.url(), Reach::Anywhere, Invented, secrets);
    assert!(matches!(call_with(&destinations, PATIENCE, None).await, Outcome::Done(_)));
    server.requests.await.unwrap().remove(0)
}

// INV-2: the id of the message is the key, which no attempt changes.
#[tokio::test]
async fn a_call_is_signed_over_the_bytes_that_are_sent() {
    let request = signed_request(&["ssm:/new"]).await;
    assert!(verifies(&request, NEW, Duration::ZERO));
    assert!(!verifies(&request, OLD, Duration::ZERO));
    assert!(!verifies(&request, NEW, Duration::from_secs(3600)), "the time of the call is signed, too");
    assert!(!verifies(&request.replace("order_1", "order_2"), NEW, Duration::ZERO));
    assert!(request.contains(&format!("webhook-id: {}\r\n", key().as_str())), "{request}");
}

#[tokio::test]
async fn while_secrets_roll_a_receiver_of_either_accepts_the_call() {
    let request = signed_request(&["ssm:/new", "ssm:/old"]).await;
    assert!(verifies(&request, NEW, Duration::ZERO) && verifies(&request, OLD, Duration::ZERO));
}

// INV-10: what must be signed is never sent without a signature.
#[tokio::test]
async fn a_destination_whose_secret_cannot_sign_is_not_called() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    for secret in ["ssm:/too-short", "ssm:/old"] {
        let outcome = match secret {
            "ssm:/old" => {
                call_with(&signing(&url, Reach::Anywhere, NoKeepers, &[secret]), PATIENCE, None).await
            }
            _ => call_with(&signing(&url, Reach::Anywhere, Invented, &[secret]), PATIENCE, None).await,
        };
        assert!(not_started(&outcome), "{secret}: {outcome:?}");
    }
    let nobody = tokio::time::timeout(IMPATIENCE, listener.accept()).await;
    assert!(nobody.is_err(), "somebody came: {nobody:?}");
}

#[tokio::test]
async fn a_destination_that_is_gone_is_switched_off_and_not_called_again() {
    let gone = Server::with_status(410).await;
    let destinations = destinations(&gone.url(), Reach::Anywhere);
    let outcome = call_with(&destinations, PATIENCE, None).await;
    assert!(matches!(outcome, Outcome::Rejected { decisive: false, .. }), "{outcome:?}");
    // The server takes one connection: another call would not have started.
    let Outcome::Rejected { cause, .. } = call_with(&destinations, PATIENCE, None).await else {
        panic!("it was called again")
    };
    assert_eq!(cause, "the destination is switched off, since it answered 410");
}

// Another process, or this one after a minute, reads what is written.
#[tokio::test]
async fn a_switch_holds_for_every_process_and_for_one_url_only() {
    let switches = MemorySwitches::default();
    let with = |url: &str| {
        let destination = HttpDestination { url: url.to_owned(), decisive: Vec::new(), secrets: Vec::new() };
        let kept = (Arc::new(OutgoingSecrets::new(NoKeepers)), switches.clone());
        let known = BTreeMap::from([("packing".into(), destination)]);
        HttpDestinations::new(known, Reach::Anywhere, kept).unwrap()
    };
    let (gone, moved) = (Server::with_status(410).await, Server::with_status(204).await);
    call_with(&with(&gone.url()), PATIENCE, None).await;
    let off = call_with(&with(&gone.url()), PATIENCE, None).await;
    assert!(matches!(off, Outcome::Rejected { .. }), "{off:?}");
    let elsewhere = call_with(&with(&moved.url()), PATIENCE, None).await;
    assert!(matches!(elsewhere, Outcome::Done(_)), "{elsewhere:?}");
    switches.0.lock().unwrap().clear();
    assert!(not_started(&call_with(&with(&gone.url()), PATIENCE, None).await), "on again, it is called");
}
