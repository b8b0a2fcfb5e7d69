//! A receiver on loopback that misbehaves as it is told, and writes down what
//! it hears.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Heard {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// What it does with one.
pub(super) enum Behaviour {
    /// Status, more header lines, body.
    Answer(u16, String, String),
    /// Hears it and says nothing until the sender has gone.
    Hang,
    /// Hears it and closes the connection.
    Cut,
}

pub(super) fn answer(status: u16) -> Behaviour {
    Behaviour::Answer(status, String::new(), String::new())
}

#[derive(Default)]
struct Log {
    heard: Mutex<Vec<Heard>>,
    more: Condvar,
}

pub(super) struct Server {
    port: u16,
    log: Arc<Log>,
}

impl Server {
    /// `behaves` is told the request and how many came before with its `webhook-id`.
    pub(super) fn start(behaves: impl Fn(&Heard, usize) -> Behaviour + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Log::default());
        let (log_of_server, behaves) = (Arc::clone(&log), Arc::new(behaves));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, behaves) = (Arc::clone(&log_of_server), Arc::clone(&behaves));
                std::thread::spawn(move || serve(&stream.unwrap(), &log, &*behaves));
            }
        });
        Self { port, log }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/in", self.port)
    }

    pub(super) fn heard(&self) -> Vec<Heard> {
        self.log.heard.lock().unwrap().clone()
    }

    /// Waits until it has heard so many.
    pub(super) fn heard_at_least(&self, many: usize) {
        let heard = self.log.heard.lock().unwrap();
        drop(self.log.more.wait_while(heard, |heard| heard.len() < many).unwrap());
    }
}

fn serve(stream: &TcpStream, log: &Log, behaves: &dyn Fn(&Heard, usize) -> Behaviour) {
    let mut reader = BufReader::new(stream);
    let heard = request(&mut reader);
    let before = {
        let mut all = log.heard.lock().unwrap();
        let id = heard.header("webhook-id");
        let before = all.iter().filter(|earlier| earlier.header("webhook-id") == id).count();
        all.push(heard.clone());
        log.more.notify_all();
        before
    };
    match behaves(&heard, before) {
        Behaviour::Answer(status, headers, body) => {
            let mut stream = stream;
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
        }
        Behaviour::Hang => {
            let _ = reader.read_to_end(&mut Vec::new());
        }
        Behaviour::Cut => {}
    }
}

fn request(reader: &mut impl BufRead) -> Heard {
    let mut line = || {
        let mut text = String::new();
        reader.read_line(&mut text).unwrap();
        text.trim_end().to_owned()
    };
    let path = line().split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        match line() {
            end if end.is_empty() => break,
            header => {
                let (name, value) = header.split_once(": ").unwrap();
                headers.push((name.to_ascii_lowercase(), value.to_owned()));
            }
        }
    }
    let mut heard = Heard { path, headers, body: Vec::new() };
    heard.body.resize(heard.header("content-length").parse().unwrap(), 0);
    reader.read_exact(&mut heard.body).unwrap();
    heard
}
