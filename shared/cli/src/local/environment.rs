//! The environment that a local run leaves in a file, as long as it is up.

use super::checkout::Checkout;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The environment that `sekali local run` leaves for others: in this file, or
/// in the checkout around us.
///
/// # Errors
/// No local run is up in this checkout, or the file cannot be read.
pub fn read(file: Option<&Path>) -> Result<HashMap<String, String>> {
    let file = match file {
        Some(file) => file.to_owned(),
        None => Checkout::around(&std::env::current_dir()?)?.root().join("target/local/env"),
    };
    let text = fs::read_to_string(&file)
        .with_context(|| format!("{} is not there: is `sekali local run` up?", file.display()))?;
    Ok(variables(&text))
}

/// `NAME='value'`, line by line.
fn variables(text: &str) -> HashMap<String, String> {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| {
            let quote = value.chars().next().filter(|first| "'\"".contains(*first));
            let bare = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
            (name.to_owned(), bare.unwrap_or(value).to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_a_local_run_is_read_back_as_it_was() {
        let read = variables("A='b c'\nD=\"it's\"\nE=\n");
        assert_eq!(read["A"], "b c");
        assert_eq!(read["D"], "it's");
        assert_eq!(read["E"], "");
    }
}
