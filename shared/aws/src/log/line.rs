//! One line of the log: a JSON object with the fields that may be shown.

use super::fields::allowed;
use sekali::json::JsonText;
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The longest value that is shown whole: a stranger's path or a destination's
/// answer must not make the log grow (INV-8). A configuration with many
/// mistakes needs some room.
const LONGEST: usize = 4096;

/// Writes lines. Whatever is logged passes here, so here is where it is decided
/// what may be seen (INV-10).
pub(super) struct Line;

/// Whether a line is the project's own. Libraries are heard when something is
/// wrong and not otherwise, whatever level is asked for: some print whole
/// bodies where they are talkative.
fn is_ours(target: &str) -> bool {
    let krate = target.split("::").next().unwrap_or_default();
    krate.starts_with("sekali") || ["ingest", "processor", "sweeper"].contains(&krate)
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let (level, target) = (event.metadata().level(), event.metadata().target());
        if !is_ours(target) && *level > Level::WARN {
            return Ok(());
        }
        let mut line = String::with_capacity(384);
        line.push_str(r#"{"timestamp":""#);
        SystemTime.format_time(&mut Writer::new(&mut line))?;
        line.push_str(r#"","level":""#);
        line.push_str(level.as_str());
        line.push('"');
        event.record(&mut Shown(&mut line));
        line.push_str(r#","target":"#);
        line.push_str(JsonText::from_text(target).as_json());
        line.push('}');
        writeln!(to, "{line}")
    }
}

struct Shown<'l>(&'l mut String);

impl Shown<'_> {
    fn json(&mut self, field: &Field, value: &str) {
        if allowed(field.name()) {
            self.0.push_str(",\"");
            self.0.push_str(field.name());
            self.0.push_str("\":");
            self.0.push_str(value);
        }
    }

    fn text(&mut self, field: &Field, text: &str) {
        if text.len() <= LONGEST {
            return self.json(field, JsonText::from_text(text).as_json());
        }
        let shown = format!("{}… ({} bytes)", &text[..text.floor_char_boundary(LONGEST)], text.len());
        self.json(field, JsonText::from_text(&shown).as_json());
    }
}

impl Visit for Shown<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // What is not shown is not even put into words.
        if allowed(field.name()) {
            self.text(field, &format!("{value:?}"));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.json(field, &value.to_string());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.json(field, &value.to_string());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.json(field, if value { "true" } else { "false" });
    }
}
