//! Whether whoever is on call means it, and why.

use super::answer::Page;
use crate::ended::Ended;
use crate::say::say;
use anyhow::{Result, ensure};
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};

/// Why, for the record.
#[derive(Debug, Clone, Args)]
pub struct Why {
    /// Why; it goes on record with your name.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

impl Why {
    /// # Errors
    /// It says nothing.
    pub fn text(&self) -> Result<&str> {
        let reason = self.reason.trim();
        ensure!(!reason.is_empty(), "--reason is empty: whoever reads the record wants to know why");
        Ok(reason)
    }
}

/// Yes, beforehand.
#[derive(Debug, Clone, Args)]
pub struct Yes {
    /// Do it without asking; needed where there is no terminal.
    #[arg(long)]
    yes: bool,
}

impl Yes {
    /// Asks on a terminal, where the plan on the page is shown first. Elsewhere
    /// only --yes is a yes.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub fn given(&self, page: &mut Page, json: bool, question: &str) -> Result<Said> {
        if self.yes {
            return Ok(Said::Yes);
        }
        if !json {
            let (text, aside) = page.take();
            say(text.trim_end());
            for line in aside {
                eprintln!("{line}");
            }
        }
        let given = asked(question)?;
        if !given {
            page.aside("nothing was done: --yes does it");
            return Ok(Said::No);
        }
        Ok(Said::Yes)
    }
}

/// What was said to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is to be carried out.
    Yes,
    /// It is not: somebody said no, or there was nobody to ask.
    No,
    /// Only the plan was wanted.
    PlanAlone,
}

impl Said {
    /// How a command ends that has only shown its plan. What was asked for and
    /// was not done is no success: a script that forgets --yes is to hear of it.
    pub fn ended(self, all_well: bool) -> Ended {
        Ended::with(!all_well || self == Self::No)
    }
}

/// Whether a plan is to be carried out, and why.
#[derive(Debug, Clone, Args)]
pub struct Consent {
    /// Show the plan and do nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    yes: Yes,
}

impl Consent {
    /// Why; asked for before anything is looked at.
    ///
    /// # Errors
    /// As [`Why::text`].
    pub fn why(&self) -> Result<&str> {
        self.why.text()
    }

    /// As [`Yes::given`], and never where only the plan is wanted.
    ///
    /// # Errors
    /// As [`Yes::given`].
    pub fn given(&self, page: &mut Page, json: bool, question: &str) -> Result<Said> {
        match self.dry_run {
            true => Ok(Said::PlanAlone),
            false => self.yes.given(page, json, question),
        }
    }
}

fn asked(question: &str) -> Result<bool> {
    let (input, error) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() || !error.is_terminal() {
        return Ok(false);
    }
    let mut error = error.lock();
    write!(error, "{question} [y/N] ")?;
    error.flush()?;
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_and_not_done_is_no_success_and_a_plan_is_one() {
        assert_eq!(Said::No.ended(true), Ended::Found);
        assert_eq!(Said::PlanAlone.ended(true), Ended::Well);
        assert_eq!(Said::PlanAlone.ended(false), Ended::Found);
    }
}
