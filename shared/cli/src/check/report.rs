//! What `sekali check` says, in lines or as JSON.

use super::against::Fate;
use crate::paint::{Paint, Tone};
use crate::say::say;
use sekali::config::{Remark, Sentence, Severity};
use serde_json::{Value, json};

/// `1 rule`, `2 rules`.
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) remarks: Vec<Remark>,
    pub(super) sentences: Vec<Sentence>,
    /// Each endpoint's dedup window.
    pub(super) windows: Vec<(String, String)>,
    /// Lines to add to the template.
    pub(super) lines: Vec<String>,
    pub(super) fates: Vec<Fate>,
    /// How many endpoints and rules there are.
    pub(super) counts: (usize, usize),
}

impl Report {
    /// How many remarks are of this severity.
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.remarks.iter().filter(|remark| remark.severity == severity).count()
    }

    /// Says it in lines.
    pub(super) fn say(&self, paint: Paint) {
        for remark in &self.remarks {
            let tone = match remark.severity {
                Severity::Problem => Tone::Bad,
                Severity::Warning => Tone::Doubtful,
                Severity::Note => Tone::Place,
            };
            let problem = &remark.problem;
            say(format_args!(
                "{}: {}: {}",
                paint.text(Tone::Place, &problem.place),
                paint.text(tone, remark.severity.as_str()),
                problem.message
            ));
            if let Some(remedy) = &problem.remedy {
                say(format_args!("    {remedy}"));
            }
        }
        self.say_more(paint);
        let (endpoints, rules) = self.counts;
        let counts =
            [Severity::Problem, Severity::Warning, Severity::Note].map(|severity| self.count(severity));
        let tone = if counts[0] > 0 { Tone::Bad } else { Tone::Good };
        let [problems, warnings, notes] = counts;
        let summary = format!(
            "{}, {}, {}",
            counted(problems, "problem"),
            counted(warnings, "warning"),
            counted(notes, "note")
        );
        say(format_args!(
            "{}: {}, {}: {}",
            self.file,
            counted(endpoints, "endpoint"),
            counted(rules, "rule"),
            paint.text(tone, summary)
        ));
    }

    fn say_more(&self, paint: Paint) {
        for sentence in &self.sentences {
            say(format_args!("{}: {}", paint.text(Tone::Place, &sentence.place), sentence.text));
        }
        for (endpoint, window) in &self.windows {
            say(format_args!("An event of {endpoint} is recognised when it comes again within {window}."));
        }
        if !self.lines.is_empty() {
            say("Lines to add to the template:");
            self.lines.iter().for_each(say);
        }
        for fate in &self.fates {
            fate.lines().iter().for_each(say);
        }
    }

    /// Says it as one JSON object.
    pub(super) fn say_json(&self) {
        let remark = |remark: &Remark| {
            let problem = &remark.problem;
            json!({
                "severity": remark.severity.as_str(),
                "file": problem.place.file,
                "line": problem.place.line,
                "column": problem.place.column,
                "message": problem.message,
                "remedy": problem.remedy,
            })
        };
        let sentence = |sentence: &Sentence| json!({"line": sentence.place.line, "text": sentence.text});
        say(json!({
            "file": self.file,
            "endpoints": self.counts.0,
            "rules": self.counts.1,
            "problems": self.count(Severity::Problem),
            "warnings": self.count(Severity::Warning),
            "remarks": self.remarks.iter().map(remark).collect::<Vec<Value>>(),
            "sentences": self.sentences.iter().map(sentence).collect::<Vec<Value>>(),
            "windows": self.windows.iter().cloned().map(|(name, window)| (name, Value::from(window))).collect::<serde_json::Map<_, _>>(),
            "template_lines": self.lines,
            "events": self.fates.iter().map(Fate::json).collect::<Vec<Value>>(),
        }));
    }
}
