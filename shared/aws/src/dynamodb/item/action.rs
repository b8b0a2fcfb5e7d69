//! The item of an action.

use super::attribute::{Attributes, Item, KEY, Reading, bytes, flag, number, text, whole};
use super::reason;
use sekali::ids::{Generation, Token};
use sekali::key::{ActionKey, EventHash, EventKey, ResourceKey};
use sekali::ports::StoreError;
use sekali::protocol::action::{Action, ActionStatus, EffectResult, FrozenRequest};
use sekali::rule::InputDigest;
use sekali::time::UnixMillis;

pub(crate) const STATUS: &str = "status";
pub(crate) const GENERATION: &str = "generation";
pub(crate) const TOKEN: &str = "token";
pub(crate) const OWNER: &str = "owner";

/// The largest frozen body. It lies in an item of its own, of which DynamoDB
/// takes 400 KB; the action itself stays small, so that an effect that
/// happened is never one that cannot be recorded (INV-4).
pub(crate) const LARGEST_FROZEN_BODY: usize = 350 * 1024;

/// The largest body that stays in the action. An action is written four times
/// or more, each time a write unit for every started KB: beyond this its body
/// is written once, apart, before the claim.
pub(crate) const LARGEST_INLINE_BODY: usize = 512;

/// Names the body that lies apart.
const BODY_APART: &str = "body_apart";

/// Every body that was named so, in any generation: an erasure finds them.
pub(crate) const BODIES_APART: &str = "bodies_apart";

/// The largest result that stays in the action: more would cost every event
/// that looks at it later another unit.
pub(crate) const LARGEST_INLINE_RESULT: usize = 1_000;

/// Names the result that lies apart.
const RESULT_APART: &str = "result_apart";

/// Every result that was named so, in any generation.
pub(crate) const RESULTS_APART: &str = "results_apart";

/// The name of a body that lies apart, or `None` where it is small enough to
/// stay in the action.
pub(crate) fn apart(action: &Action) -> Option<String> {
    let body = &action.request.body;
    (body.len() > LARGEST_INLINE_BODY).then(|| name(action.generation, body))
}

/// Each generation's bytes lie by themselves: those of another may have been
/// erased, and are never taken for these (INV-2).
fn name(generation: Generation, content: &[u8]) -> String {
    format!("{generation}.{}", EventHash::of([content]).as_str())
}

/// The key of a body that lies apart. No action's key begins like this, and
/// the length keeps action key and name apart (INV-7).
pub(crate) fn body_key(action: &ActionKey, name: &str) -> String {
    format!("request|{}:{}|{name}", action.as_str().len(), action.as_str())
}

/// The item of a body that lies apart. It never changes, but for an erasure.
pub(crate) fn encode_body(action: &ActionKey, name: &str, body: &[u8]) -> Item {
    whole(&body_key(action, name), vec![("body", Some(bytes(body)))])
}

/// The body of such an item.
pub(crate) fn decode_body(item: &Item) -> Result<Vec<u8>, StoreError> {
    Reading(item).bytes("body")
}

/// The name of a stored action's body, if it lies apart.
pub(crate) fn names_apart(item: &Item) -> Result<Option<&str>, StoreError> {
    Reading(item).maybe_text(BODY_APART)
}

/// The name of a result that lies apart, or `None` where it is small enough to
/// stay in the action.
pub(crate) fn result_apart(action: &Action) -> Option<String> {
    let result = action.result.as_ref().filter(|result| result.0.len() > LARGEST_INLINE_RESULT)?;
    Some(name(action.generation, result.0.as_bytes()))
}

/// The key of a result that lies apart; like that of a body (INV-7).
pub(crate) fn result_key(action: &ActionKey, name: &str) -> String {
    format!("result|{}:{}|{name}", action.as_str().len(), action.as_str())
}

/// The item of a result that lies apart. It never changes, but for an erasure.
pub(crate) fn encode_result(action: &ActionKey, name: &str, result: &EffectResult) -> Item {
    whole(&result_key(action, name), vec![("result", Some(text(&result.0)))])
}

/// The result of such an item.
pub(crate) fn decode_result(item: &Item) -> Result<EffectResult, StoreError> {
    Ok(EffectResult(Reading(item).text("result")?.to_owned()))
}

/// All that was laid apart for a stored action: the names of bodies, and those
/// of results.
pub(crate) fn laid_apart(item: &Item) -> Result<[Vec<&str>; 2], StoreError> {
    let all = |set, named: Option<_>| {
        let mut names = Reading(item).set(set)?;
        names.extend(named.filter(|name| !names.contains(name)));
        Ok::<_, StoreError>(names)
    };
    Ok([all(BODIES_APART, names_apart(item)?)?, all(RESULTS_APART, names_result_apart(item)?)?])
}

/// The name of a stored action's result, if it lies apart.
pub(crate) fn names_result_apart(item: &Item) -> Result<Option<&str>, StoreError> {
    Reading(item).maybe_text(RESULT_APART)
}

/// What stands in the place of a result that was erased.
pub(crate) fn erased() -> EffectResult {
    EffectResult("erased".to_owned())
}

/// Empties what lies in the item itself; what lies apart is emptied there. Only
/// attributes that are there are written.
pub(crate) fn emptied(action: &Action) -> Attributes {
    let mut attributes = Vec::new();
    if apart(action).is_none() {
        attributes.push(("body", Some(bytes(&[]))));
    }
    if action.result.is_some() && result_apart(action).is_none() {
        attributes.push(("result", Some(text(&erased().0))));
    }
    if action.reason.as_ref().is_some_and(|reason| reason.cause.is_some()) {
        attributes.push(("cause", Some(text(&erased().0))));
    }
    attributes
}

/// Is the stored item this very action?
pub(crate) fn stands(item: &Item, wanted: &Action) -> Result<bool, StoreError> {
    let stored = decode(item)?;
    let result = result_apart(wanted);
    if names_result_apart(item)? != result.as_deref() {
        return Ok(false);
    }
    // What lies apart is not read: its name was compared, which has its digest.
    let wanted = &match result {
        Some(_) => Action { result: None, ..wanted.clone() },
        None => wanted.clone(),
    };
    let Some(name) = names_apart(item)? else { return Ok(stored == *wanted) };
    let body = stored.request.body.clone();
    let request = FrozenRequest { body, ..wanted.request.clone() };
    Ok(apart(wanted).as_deref() == Some(name) && stored == Action { request, ..wanted.clone() })
}

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
        ("resource", action.request.resource.as_ref().map(|resource| text(resource.as_str()))),
        ("body", apart(action).is_none().then(|| bytes(&action.request.body))),
        (BODY_APART, apart(action).map(text)),
        ("input", Some(text(action.input.as_str()))),
        ("begun_by", Some(text(action.begun_by.as_str()))),
        ("doubted", Some(flag(action.doubted))),
        (
            "result",
            action
                .result
                .as_ref()
                .filter(|result| result.0.len() <= LARGEST_INLINE_RESULT)
                .map(|result| text(&result.0)),
        ),
        (RESULT_APART, result_apart(action).map(text)),
        ("reason", reason::slug(action.reason.as_ref())),
        ("cause", reason::cause(action.reason.as_ref())),
        ("settled_at", action.settled_at.map(|at| number(at.0))),
        ("last_done", action.last_done.map(number)),
    ])
}

/// The action of a stored item; its body is empty where it lies apart, and so
/// is its result.
pub(crate) fn decode(item: &Item) -> Result<Action, StoreError> {
    let read = Reading(item);
    let body = match names_apart(item)? {
        Some(_) => Vec::new(),
        None => read.bytes("body")?,
    };
    Ok(Action {
        key: ActionKey::from_stored(read.text(KEY)?),
        name: read.text("name")?.into(),
        status: read.word(STATUS, ActionStatus::from_stored)?,
        generation: Generation::from_stored(read.number(GENERATION)?),
        token: Token::from_stored(read.number(TOKEN)?),
        owner: read.text(OWNER)?.into(),
        lease_until: UnixMillis(read.number("lease_until")?),
        first_begun_at: UnixMillis(read.number("first_begun_at")?),
        request: FrozenRequest {
            destination: read.text("destination")?.into(),
            body,
            resource: read.maybe_text("resource")?.map(ResourceKey::from_stored),
        },
        input: InputDigest::from_stored(read.text("input")?),
        begun_by: EventKey::from_stored(read.text("begun_by")?),
        doubted: read.flag("doubted")?,
        result: read.maybe_text("result")?.map(|result| EffectResult(result.to_owned())),
        reason: reason::decode(read)?,
        settled_at: read.maybe_number("settled_at")?.map(UnixMillis),
        last_done: read.maybe_number("last_done")?.map(Generation::from_stored),
    })
}
