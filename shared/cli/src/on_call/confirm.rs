//! Whether whoever is on call means it.

use anyhow::Result;
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};

/// Yes, beforehand.
#[derive(Debug, Clone, Args)]
pub struct Yes {
    /// Do it without asking; needed where there is no terminal.
    #[arg(long)]
    pub yes: bool,
}

impl Yes {
    /// Asks on a terminal. Elsewhere only --yes is a yes.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub fn means(&self, question: &str) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
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
}
