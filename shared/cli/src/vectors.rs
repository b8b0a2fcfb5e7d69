//! `sekali vectors`: recorded deliveries against the real code.

use crate::ended::Ended;
use crate::paint::{Paint, Tone};
use crate::say::say;
use crate::team;
use anyhow::{Context, Result, ensure};
use clap::Args;
use sekali::vectors;
use std::fs;
use std::path::{Path, PathBuf};

/// Run recorded signatures, deliveries, handshakes and puzzles against the descriptions.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Example:\n  sekali vectors tests/vectors/signatures.json tests/vectors/doctor.json\n\n{}",
    crate::ended::EXIT_CODES
))]
pub struct Vectors {
    /// JSON lists of vectors, of whichever of the four formats.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// A folder with descriptions that come before the built-in ones.
    #[arg(long)]
    vendors: Option<PathBuf>,
}

impl Vectors {
    /// Runs every entry of every file; each that goes otherwise is said with
    /// its reason, and at last how many did.
    ///
    /// # Errors
    /// A file is no list of vectors.
    pub fn run(&self) -> Result<Ended> {
        let paint = Paint::for_output();
        let own = match &self.vendors {
            Some(folder) => team::descriptions(folder)?,
            None => Vec::new(),
        };
        for (file, _) in &own {
            let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            team::vendor(&stem.unwrap_or_default(), &own)?;
        }
        let (mut passed, mut failed) = (0_usize, 0_usize);
        for file in &self.files {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            let outcomes = vectors::run(&text, |name| team::vendor(name, &own).ok())
                .with_context(|| format!("{} holds no vectors", file.display()))?;
            ensure!(!outcomes.is_empty(), "{} holds no vectors: its list is empty", file.display());
            for outcome in outcomes {
                match outcome.difference {
                    None => passed += 1,
                    Some(difference) => {
                        failed += 1;
                        say(format_args!("{} {}: {difference}", paint.text(Tone::Bad, "failed"), outcome.id));
                    }
                }
            }
        }
        say(format_args!("{passed} passed, {failed} failed"));
        Ok(Ended::with(failed > 0))
    }
}
