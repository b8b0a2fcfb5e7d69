//! The log: one JSON object a line, fields with dotted names (`event.key`,
//! `effect.outcome`), units in the names (`clock_skew_ms`). `docs/logs.md` lists
//! them.

mod fields;
mod line;
mod panic;

pub use fields::FIELDS;
pub use panic::{Panicked, contained, tell_panics};

use std::io;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::TryInitError;

/// The variable that sets the level: a level, or directives such as
/// `info,sekali_aws=debug`.
pub const LEVEL_VARIABLE: &str = "SEKALI_LOG";

/// The libraries' own chatter is left out: it costs money and may show bodies.
const USUAL_LEVELS: &str = "info";

/// Starts the log on stdout, and tells panics there. A level that cannot be
/// read is replaced by the usual one and reported in the log: a typing error
/// takes nothing offline.
///
/// # Errors
/// Another log was started in this process.
pub fn start() -> Result<(), TryInitError> {
    use tracing_subscriber::util::SubscriberInitExt;
    let (filter, mistake) = filter(std::env::var(LEVEL_VARIABLE).ok().as_deref());
    subscriber(filter, io::stdout).try_init()?;
    tell_panics();
    if let Some(mistake) = mistake {
        tracing::warn!(variable = LEVEL_VARIABLE, error = mistake, "the level of the log cannot be read");
    }
    Ok(())
}

fn filter(level: Option<&str>) -> (EnvFilter, Option<String>) {
    match level.map(str::trim).filter(|level| !level.is_empty()).map(EnvFilter::try_new) {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(USUAL_LEVELS), Some(error.to_string())),
        None => (EnvFilter::new(USUAL_LEVELS), None),
    }
}

/// The log as functions keep it, written elsewhere: tests look for what must not
/// be in it. `level` as in [`LEVEL_VARIABLE`].
pub fn written_to<W>(level: &str, writer: W) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    subscriber(filter(Some(level)).0, writer)
}

fn subscriber<W>(filter: EnvFilter, writer: W) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt().event_format(line::Line).with_env_filter(filter).with_writer(writer).finish()
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn logged(level: &str, write: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        tracing::subscriber::with_default(written_to(level, move || writer.clone()), write);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_is_one_object_with_dotted_fields_at_its_top() {
        let text =
            logged("info", || tracing::info!(event.key = "event|6:stripe", sweep.sent = 5, "event.created"));
        let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!(line["event.key"], "event|6:stripe");
        assert_eq!(line["sweep.sent"], 5);
        assert_eq!(line["message"], "event.created");
        assert_eq!(line["level"], "INFO");
    }

    // INV-10: whoever adds a line in a hurry shows nothing that nobody thought of.
    #[test]
    fn a_field_that_is_not_on_the_list_is_left_out_whatever_it_is() {
        let text = logged("trace", || {
            tracing::info!(body = "marked", header = %"marked", payload = ?"marked", n = 4_711, "event.created");
        });
        assert!(
            text.contains("event.created") && !text.contains("marked") && !text.contains("4711"),
            "{text}"
        );
    }

    #[test]
    fn a_library_is_heard_only_when_something_is_wrong() {
        let text = logged("trace", || {
            tracing::info!(target: "hyper::proto", "a whole body");
            tracing::warn!(target: "hyper::proto", "a broken connection");
        });
        assert!(!text.contains("a whole body") && text.contains("a broken connection"), "{text}");
    }

    // INV-8
    #[test]
    fn a_value_without_end_is_cut() {
        let text = logged("info", || tracing::info!(endpoint.name = "ä".repeat(100_000), "delivery refused"));
        let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        assert!(text.len() < 5000, "{} bytes", text.len());
        assert!(line["endpoint.name"].as_str().unwrap().ends_with("… (200000 bytes)"));
    }

    #[test]
    fn the_level_decides_what_is_written() {
        assert_eq!(logged("warn", || tracing::info!("event.created")), "");
        assert_ne!(logged("debug", || tracing::debug!("event.created")), "");
    }

    #[test]
    fn a_level_that_cannot_be_read_is_replaced_and_reported() {
        assert!(filter(Some("info,=,==")).1.is_some());
        assert_eq!(filter(Some(" ")).1, None);
        assert_eq!(filter(None).1, None);
    }
}
