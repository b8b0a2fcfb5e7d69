//! Whoever is on call, at the desk of a receiver of the tests.

use super::kept::Kept;
use anyhow::{Context, Result};
use sekali_cli::local::aws::REGION;
use sekali_cli::on_call::answer::Answer;
use sekali_cli::on_call::at::At;
use sekali_cli::on_call::desk::Desk;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Somebody at the desk, whose name goes on record.
pub const ALICE: &str = "alice";

/// The desk of a receiver whose configuration lies in `config`.
///
/// # Errors
/// Never, with the variables below.
pub fn desk(kept: &Kept, config: &Path) -> Result<Desk> {
    desk_at(kept, config, kept.aws.endpoint())
}

/// The same, with AWS at another address: behind a proxy that cuts calls.
///
/// # Errors
/// Never, with the variables below.
pub fn desk_at(kept: &Kept, config: &Path, endpoint: String) -> Result<Desk> {
    At { who: Some(ALICE.to_owned()), ..At::default() }.local(&environment(kept, config, endpoint))
}

/// What `sekali COMMAND --local=FILE` reads of a receiver, where AWS is at this address.
pub fn environment(kept: &Kept, config: &Path, endpoint: String) -> HashMap<String, String> {
    let variables = [
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_REGION", REGION.to_owned()),
        ("AWS_ACCESS_KEY_ID", "invented".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "invented".to_owned()),
        ("SEKALI_EVENTS_TABLE", kept.tables.events.clone()),
        ("SEKALI_RESOURCES_TABLE", kept.tables.resources.clone()),
        ("SEKALI_ACTIONS_TABLE", kept.tables.actions.clone()),
        ("SEKALI_QUEUE_URL", kept.queue.clone()),
        ("SEKALI_DLQ_URL", kept.dead_letters.clone()),
        ("SEKALI_CONFIG", config.display().to_string()),
        // Vendors' APIs are on this machine, too.
        ("SEKALI_ALLOW_PRIVATE_DESTINATIONS", "1".to_owned()),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What a command line is answered; its exit code must be this.
///
/// # Errors
/// It could not be done, or ended otherwise.
pub async fn ask(desk: &Desk, line: &[&str], ended: sekali_cli::Ended) -> Result<Answer> {
    let answer = sekali_cli::on_call::ask(desk, line).await.with_context(|| line.join(" "))?;
    anyhow::ensure!(answer.ended == ended, "{line:?} ended {:?}: {}", answer.ended, answer.text);
    Ok(answer)
}

/// The texts at a pointer into every member of a list.
pub fn texts<'a>(list: &'a Value, pointer: &str) -> Vec<&'a str> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.pointer(pointer)?.as_str()).collect()
}
