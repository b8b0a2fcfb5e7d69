//! For tests: a service that answers what it is told to, try by try. It does
//! what no emulator can be made to do.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the service does with one try.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Closes the connection without an answer.
    Cut,
    /// Answers with this status and JSON.
    Answer(u16, Value),
}

pub(crate) fn ok(answer: Value) -> Reply {
    Reply::Answer(200, answer)
}

pub(crate) fn error(status: u16, code: &str) -> Reply {
    Reply::Answer(status, json!({ "__type": format!("com.amazonaws.invented#{code}"), "message": "m" }))
}

/// The tries that reached the service: operation and body.
pub(crate) type Tries = Arc<Mutex<Vec<(String, Value)>>>;

pub(crate) fn operations(tries: &Tries) -> Vec<String> {
    tries.lock().unwrap().iter().map(|(operation, _)| operation.clone()).collect()
}

/// Starts a service that replies in this order; the last reply stays. Gives
/// its address and what reached it.
pub(crate) async fn service(replies: &[Reply]) -> (String, Tries) {
    let (replies, mut number) = (replies.to_vec(), 0);
    answering(move |_, _| {
        number += 1;
        replies[(number - 1).min(replies.len() - 1)].clone()
    })
    .await
}

/// Starts a service that replies to what is asked, operation and body: for
/// callers that ask several things at once.
pub(crate) async fn answering(
    mut reply: impl FnMut(&str, &Value) -> Reply + Send + 'static,
) -> (String, Tries) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let tries = Tries::default();
    let seen = tries.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (operation, body) = read(&mut stream).await;
            let reply = reply(&operation, &body);
            seen.lock().unwrap().push((operation, body));
            if let Reply::Answer(status, answer) = reply {
                let body = answer.to_string();
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
                stream.write_all((head + &body).as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        }
    });
    (url, tries)
}

async fn read(stream: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 8192];
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "a request broke off");
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let header = |name: &str| {
            let found = |line: &str| {
                let (known, value) = line.split_once(": ")?;
                known.eq_ignore_ascii_case(name).then(|| value.to_owned())
            };
            head.lines().find_map(found).unwrap()
        };
        if body.len() == header("content-length").parse::<usize>().unwrap() {
            let target = header("x-amz-target");
            let operation = target.split_once('.').unwrap().1.to_owned();
            return (operation, serde_json::from_str(body).unwrap());
        }
    }
}
