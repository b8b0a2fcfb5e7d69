//! The item of an action.

use super::attribute::{Attributes, Item, KEY, Reading, bytes, flag, number, text};
use super::reason;
use sekali::ids::{Generation, Token};
use sekali::key::{ActionKey, EventKey};
use sekali::ports::StoreError;
use sekali::protocol::action::{Action, ActionStatus, EffectResult, FrozenRequest};
use sekali::time::UnixMillis;

pub(crate) const STATUS: &str = "status";
pub(crate) const GENERATION: &str = "generation";
pub(crate) const TOKEN: &str = "token";
pub(crate) const OWNER: &str = "owner";

/// The largest frozen body that an action can hold. DynamoDB takes 400 KB an
/// item; what is left is room for the keys, the result and the cause, so that
/// an effect that happened is never one that cannot be recorded (INV-4).
/// Larger bodies need an item of their own, which is not built yet.
pub(crate) const LARGEST_FROZEN_BODY: usize = 350 * 1024;

/// Everything that a write of an action sets.
///
/// # Errors
/// `Invalid`: the frozen body is larger than [`LARGEST_FROZEN_BODY`].
pub(crate) fn attributes(action: &Action) -> Result<Attributes, StoreError> {
    let size = action.request.body.len();
    if size > LARGEST_FROZEN_BODY {
        let text = format!("the request of an action has {size} bytes, of at most {LARGEST_FROZEN_BODY}");
        return Err(StoreError::Invalid(text));
    }
    Ok(vec![
        ("name", Some(text(action.name.as_str()))),
        (STATUS, Some(text(action.status.as_str()))),
        (GENERATION, Some(number(action.generation))),
        (TOKEN, Some(number(action.token))),
        (OWNER, Some(text(action.owner.as_str()))),
        ("lease_until", Some(number(action.lease_until.0))),
        ("first_begun_at", Some(number(action.first_begun_at.0))),
        ("destination", Some(text(action.request.destination.as_str()))),
        ("body", Some(bytes(&action.request.body))),
        ("begun_by", Some(text(action.begun_by.as_str()))),
        ("doubted", Some(flag(action.doubted))),
        ("result", action.result.as_ref().map(|result| text(&result.0))),
        ("reason", reason::slug(action.reason.as_ref())),
        ("cause", reason::cause(action.reason.as_ref())),
        ("settled_at", action.settled_at.map(|at| number(at.0))),
    ])
}

/// The action of a stored item.
pub(crate) fn decode(item: &Item) -> Result<Action, StoreError> {
    let read = Reading(item);
    Ok(Action {
        key: ActionKey::from_stored(read.text(KEY)?),
        name: read.text("name")?.into(),
        status: read.word(STATUS, ActionStatus::from_stored)?,
        generation: Generation::from_stored(read.number(GENERATION)?),
        token: Token::from_stored(read.number(TOKEN)?),
        owner: read.text(OWNER)?.into(),
        lease_until: UnixMillis(read.number("lease_until")?),
        first_begun_at: UnixMillis(read.number("first_begun_at")?),
        request: FrozenRequest { destination: read.text("destination")?.into(), body: read.bytes("body")? },
        begun_by: EventKey::from_stored(read.text("begun_by")?),
        doubted: read.flag("doubted")?,
        result: read.maybe_text("result")?.map(|result| EffectResult(result.to_owned())),
        reason: reason::decode(read)?,
        settled_at: read.maybe_number("settled_at")?.map(UnixMillis),
    })
}
