//! What the doctor says, in sentences or as JSON.

use crate::paint::{Paint, Tone};
use crate::say::say;
use sekali::doctor::{Certainty, Finding, Refused};
use sekali::vendor::Refusal;
use serde_json::{Value, json};

/// One examination.
#[derive(Debug)]
pub(super) struct Report {
    /// The puzzle's id.
    pub(super) id: Option<String>,
    pub(super) vendor: String,
    pub(super) finding: Finding,
    pub(super) age_judged: bool,
    pub(super) notes: Vec<String>,
}

/// Shows what was found; one object for one request, a list for several puzzles.
pub(super) fn show(reports: &[Report], as_json: bool) {
    match (as_json, reports) {
        (true, [one]) => say(one.json()),
        (true, many) => say(Value::Array(many.iter().map(Report::json).collect())),
        (false, many) => {
            for (index, report) in many.iter().enumerate() {
                if index > 0 {
                    say("");
                }
                report.say(Paint::for_output());
            }
        }
    }
}

impl Report {
    fn json(&self) -> Value {
        let Finding { refused, diagnosis, tried } = &self.finding;
        let mut object = json!({
            "vendor": self.vendor,
            "verifies": refused.is_none(),
            "refused": refused.as_ref().map(|refused| json!({"reason": refused.slug(), "says": refused.to_string()})),
            "cause": diagnosis.as_ref().map(|found| found.cause.slug()),
            "certainty": diagnosis.as_ref().map(|found| found.certainty.as_str()),
            "proved": diagnosis.as_ref().is_some_and(|found| found.certainty == Certainty::Proved),
            "says": diagnosis.as_ref().map(|found| found.says.as_str()),
            "remedy": diagnosis.as_ref().map(|found| found.cause.remedy()),
            "tried": tried,
            "age_judged": self.age_judged,
            "notes": self.notes,
        });
        if let (Some(id), Some(members)) = (&self.id, object.as_object_mut()) {
            members.insert("id".to_owned(), Value::from(id.as_str()));
        }
        object
    }

    fn say(&self, paint: Paint) {
        if let Some(id) = &self.id {
            say(paint.text(Tone::Place, id));
        }
        let Finding { refused, diagnosis, tried } = &self.finding;
        match refused {
            None => {
                say(format_args!("{} as a delivery of {}", paint.text(Tone::Good, "verifies"), self.vendor));
            }
            Some(refused) => {
                say(format_args!(
                    "{} as a delivery of {}: {refused}",
                    paint.text(Tone::Bad, "refused"),
                    self.vendor
                ));
            }
        }
        match (refused, diagnosis) {
            (None, _) => {}
            (Some(_), Some(found)) => {
                let (tone, more) = match found.certainty {
                    Certainty::Proved => (Tone::Good, ""),
                    Certainty::Guess => (Tone::Doubtful, "; no single change that was tried makes it verify"),
                };
                say(format_args!("{}: {}{more}", paint.text(tone, found.certainty.as_str()), found.cause));
                say(format_args!("  {}", found.says));
                say(format_args!("  {}", found.cause.remedy()));
            }
            (Some(Refused::Delivery(Refusal::Missing(_))), None) => say(format_args!(
                "{}: no single change that was tried makes it verify; what is missing is the cause: capture the request with all of its headers",
                paint.text(Tone::Doubtful, "nothing fits")
            )),
            (Some(_), None) => say(format_args!(
                "{}: no single change that was tried makes it verify, and nothing about it makes a cause likely",
                paint.text(Tone::Doubtful, "nothing fits")
            )),
        }
        if !self.age_judged {
            say("When it arrived is not known, so its age was not judged (--at TIME).");
        }
        for note in &self.notes {
            say(format_args!("Note: {note}."));
        }
        if refused.is_some() {
            say(format_args!("({tried} changes tried)"));
        }
    }
}
