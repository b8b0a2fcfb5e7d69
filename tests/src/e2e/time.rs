//! Time that passes for what is stored. The functions read the clock of this
//! machine, so a test does not wait an hour: it makes everything that is
//! stored an hour older, which is the same to whoever reads it.

use super::kept::{Item, Kept};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::time::Duration;

/// Our own times, in milliseconds.
const MILLIS: [&str; 9] = [
    "received_at",
    "opened_at",
    "failed_at",
    "due",
    "last_seen",
    "lease_until",
    "first_begun_at",
    "settled_at",
    "moved_at",
];
/// Our own times, in seconds.
const SECONDS: [&str; 1] = ["expires_at"];
/// The vendor's times. They say when something happened and never move.
const OF_THE_VENDOR: [&str; 2] = ["occurred_at", "sig_at"];
/// A number as large as this can only be a time in milliseconds.
const SURELY_A_TIME: i64 = 1_000_000_000_000;
/// Readings of an item that somebody else writes to.
const TRIES: usize = 10;

impl Kept {
    /// So much time passes for an event and its action.
    ///
    /// # Errors
    /// There is no such event, or the tables do not answer.
    pub async fn pass(&self, endpoint: &str, id: &str, span: Duration) -> Result<()> {
        let what = || format!("no event {id} of {endpoint}");
        let event = self.event(endpoint, id).await?.with_context(what)?;
        self.pass_for(&event, span).await
    }

    /// So much time passes for this event, as it was read, and its action.
    ///
    /// # Errors
    /// The tables do not answer.
    pub async fn pass_for(&self, event: &Item, span: Duration) -> Result<()> {
        if event.has("action") {
            let action = self.action_of(event).await?;
            self.make_older(&self.tables.actions, &action, span).await?;
        }
        self.make_older(&self.tables.events, event, span).await
    }

    /// So much time passes for every event that is not finished.
    ///
    /// # Errors
    /// The tables do not answer.
    pub async fn pass_for_all_open(&self, span: Duration) -> Result<()> {
        for event in self.events().await? {
            if !matches!(event.status(), "processed" | "ignored") {
                self.pass_for(&event, span).await?;
            }
        }
        Ok(())
    }

    /// What somebody else writes meanwhile is read again: time passes for an
    /// item once and takes nothing from it.
    async fn make_older(&self, table: &str, item: &Item, span: Duration) -> Result<()> {
        let mut item = item.clone();
        for _ in 0..TRIES {
            let Some(request) = older(table, &item, span)? else { return Ok(()) };
            let written = self.aws.ask("dynamodb", "DynamoDB_20120810.UpdateItem", &request).await;
            match written {
                Ok(_) => return Ok(()),
                Err(error) if format!("{error:#}").contains("ConditionalCheckFailed") => {
                    item = self.item(table, item.text("pk")).await?.context("it is gone")?;
                }
                Err(error) => return Err(error),
            }
        }
        bail!("{} never kept still while time was to pass", item.text("pk"))
    }
}

/// The write that moves all times of an item into the past.
fn older(table: &str, item: &Item, span: Duration) -> Result<Option<Value>> {
    let (millis, seconds) = (i64::try_from(span.as_millis())?, i64::try_from(span.as_secs())?);
    let (mut sets, mut conditions) = (Vec::new(), Vec::new());
    let (mut names, mut values) = (json!({}), json!({}));
    let attributes = item.0.as_object().context("an item is an object")?;
    for name in attributes.keys().map(String::as_str) {
        let Some(old) = item.number(name) else { continue };
        let less = match name {
            name if MILLIS.contains(&name) => millis,
            name if SECONDS.contains(&name) => seconds,
            name if OF_THE_VENDOR.contains(&name) || old.abs() < SURELY_A_TIME => continue,
            name => bail!("`{name}` looks like a time, and these tests do not know whose"),
        };
        let place = sets.len();
        sets.push(format!("#n{place} = :new{place}"));
        conditions.push(format!("#n{place} = :old{place}"));
        names[format!("#n{place}")] = name.into();
        values[format!(":old{place}")] = json!({ "N": old.to_string() });
        values[format!(":new{place}")] = json!({ "N": (old - less).to_string() });
    }
    Ok((!sets.is_empty()).then(|| {
        json!({
            "TableName": table, "Key": { "pk": { "S": item.text("pk") } },
            "UpdateExpression": format!("SET {}", sets.join(", ")),
            "ConditionExpression": conditions.join(" AND "),
            "ExpressionAttributeNames": names, "ExpressionAttributeValues": values,
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_times_move_into_the_past_and_the_vendors_stay() {
        let item = Item(json!({ "pk": { "S": "e" }, "attempts": { "N": "3" },
            "due": { "N": "1790000005000" }, "occurred_at": { "N": "1790000000000" } }));
        let write = older("t", &item, Duration::from_secs(5)).unwrap().unwrap();
        assert_eq!(write["UpdateExpression"], "SET #n0 = :new0");
        assert_eq!(write["ExpressionAttributeValues"][":new0"]["N"], "1790000000000");
    }

    #[test]
    fn a_time_that_nobody_told_these_tests_of_is_an_error() {
        let item = Item(json!({ "pk": { "S": "e" }, "new_time_at": { "N": "1790000005000" } }));
        assert!(older("t", &item, Duration::from_secs(5)).is_err());
    }
}
