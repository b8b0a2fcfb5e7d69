//! Panics in the log. A process of its own, since the hook is the process's.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use sekali_aws::log::{Panicked, contained, tell_panics, written_to};
use std::io;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// INV-10
#[tokio::test]
async fn a_panic_is_one_line_with_its_place_and_without_the_values_that_it_names() {
    let lines = Lines::default();
    let writer = lines.clone();
    let log = written_to("info", move || writer.clone());
    tell_panics();
    let _listening = tracing::subscriber::set_default(log);
    let body = r#"{"order":"canary-body"}"#;
    let read = contained(async { serde_json::from_str::<u32>(body).unwrap() }).await;
    let told = contained(async { panic!("no order in {body}") }).await.map(|(): ()| 0);
    let plain = contained(async { panic!("an order has no number") }).await.map(|(): ()| 0);
    assert_eq!((read, told, plain), (Err(Panicked), Err(Panicked), Err(Panicked)));
    assert_eq!(contained(async { 7 }).await, Ok(7));

    let said = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(!said.contains("canary") && !Panicked.to_string().contains("canary"), "{said}");
    let said: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    for line in &said {
        assert!(line["panic.place"].as_str().unwrap().contains("panics.rs:"), "{line}");
        assert_eq!((&line["level"], &line["message"]), (&"ERROR".into(), &"a panic".into()));
    }
    assert_eq!(said[1].get("panic.words"), None);
    assert_eq!(said[2]["panic.words"], "an order has no number");
}
