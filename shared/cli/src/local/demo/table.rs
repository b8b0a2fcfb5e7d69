//! The demo's table: delivery, answer, what became of it.

use super::outcome::Outcome;
use super::script::{Delivery, Script};
use std::fmt::Write as _;

const HEAD: [&str; 3] = ["delivery", "answer", "what became of it"];

/// One line for each delivery of the script.
pub fn table(script: &Script, answers: &[Vec<u16>], outcome: &Outcome) -> String {
    let rows: Vec<[String; 3]> = std::iter::once(HEAD.map(str::to_owned))
        .chain(script.deliveries.iter().zip(answers).map(|(delivery, answers)| {
            let title = format!("{}: {}", delivery.endpoint, delivery.title);
            [title, answered(answers), became(delivery, outcome)]
        }))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = String::new();
    for [title, answer, became] in &rows {
        let _ = writeln!(text, "  {title:first$}  {answer:second$}  {became}");
    }
    text
}

/// `202 200 ×9`: equal answers in a row are counted.
fn answered(answers: &[u16]) -> String {
    let runs = answers.chunk_by(|a, b| a == b).map(|run| match run {
        [one] => one.to_string(),
        many => format!("{} ×{}", many[0], many.len()),
    });
    runs.collect::<Vec<_>>().join(" ")
}

fn became(delivery: &Delivery, outcome: &Outcome) -> String {
    let Some(id) = &delivery.event else {
        return "refused; nothing stored".to_owned();
    };
    let Some(event) = outcome.event(&delivery.endpoint, id) else {
        return "not stored".to_owned();
    };
    let mut text = event.status.clone();
    if let Some(reason) = &event.reason {
        let _ = write!(text, " ({reason})");
    }
    match outcome.calls(&delivery.endpoint, id) {
        0 if event.acts => text.push_str("; its action was done already"),
        0 => {}
        1 => text.push_str("; one effect"),
        calls => {
            let _ = write!(text, "; {calls} EFFECTS");
        }
    }
    if event.conflicts != "0" {
        let _ = write!(text, "; conflicts kept: {}", event.conflicts);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_answers_in_a_row_are_counted() {
        assert_eq!(answered(&[202, 200, 200]), "202 200 ×2");
        assert_eq!(answered(&[401]), "401");
    }
}
