//! Calls to a server that misbehaves on purpose.

use super::*;
use sekali::ids::Generation;
use sekali::key::ActionKey;
use sekali::protocol::action::{EffectResult, IdempotencyKey};
use std::future::Future;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Long enough for a loopback call on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Short enough to wait for where a timeout is the point.
const IMPATIENCE: Duration = Duration::from_millis(150);
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

pub(super) fn destinations(url: &str, reach: Reach) -> HttpDestinations {
    let destination = HttpDestination { url: url.to_owned(), decisive: vec![503] };
    HttpDestinations::new(BTreeMap::from([("packing".into(), destination)]), reach).unwrap()
}

fn key() -> IdempotencyKey {
    IdempotencyKey::of(&ActionKey::from_stored("action|4:pack"), Generation::FIRST)
}

pub(super) async fn call_with(
    destinations: &HttpDestinations,
    timeout: Duration,
    trace: Option<&str>,
) -> Outcome {
    let call = Call {
        destination: &"packing".into(),
        key: &key(),
        body: BODY,
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
    matches!(outcome, Outcome::Unknown(_))
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
    assert_eq!(outcome, Outcome::Unknown("no answer in time".to_owned()));
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
    let none = HttpDestinations::new(BTreeMap::new(), Reach::Anywhere).unwrap();
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
        let destination = HttpDestination { url: url.to_owned(), decisive: Vec::new() };
        let error = HttpDestinations::new(BTreeMap::from([("packing".into(), destination)]), Reach::Public);
        let error = error.err().unwrap();
        assert_eq!(error.reason, reason, "{url}");
        assert!(!error.to_string().contains("invented"));
    }
}
