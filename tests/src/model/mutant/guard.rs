//! Guards with a part left out.

use super::Stored;
use sekali::protocol::action::{ActionGuard, ActionStatus};
use sekali::protocol::resource::ResourceGuard;
use sekali::protocol::transition::{ActionWrite, Transition};

pub(super) fn event_generation(transition: &mut Transition, stored: Stored<'_>) {
    if let (Some(write), Some(event)) = (&mut transition.event, stored.event) {
        write.from.generation = event.progress.generation;
        write.from.due = None;
    }
}

pub(super) fn event_due(transition: &mut Transition, _: Stored<'_>) {
    if let Some(write) = &mut transition.event {
        write.from.due = None;
    }
}

pub(super) fn event_hash(transition: &mut Transition, _: Stored<'_>) {
    if let Some(write) = &mut transition.event {
        write.from.hash = None;
    }
}

pub(super) fn counted(transition: &mut Transition, _: Stored<'_>) {
    if let Some(write) = &mut transition.event {
        write.from.counted = None;
    }
}

pub(super) fn resource_version(transition: &mut Transition, stored: Stored<'_>) {
    if let Some(write) = &mut transition.resource {
        write.from = ResourceGuard::of(stored.resource);
    }
}

/// A begin that names nothing.
pub(super) fn begin(transition: &mut Transition, stored: Stored<'_>) {
    on_put(transition, stored, |to| to == ActionStatus::Begun);
}

/// A completion that names neither owner nor token.
pub(super) fn completion(transition: &mut Transition, stored: Stored<'_>) {
    if transition.event.is_none() {
        on_put(transition, stored, |_| true);
    }
}

/// A late owner's write that does not see the mark of doubt.
pub(super) fn mark_of_doubt(transition: &mut Transition, stored: Stored<'_>) {
    let Some(ActionWrite::Put { from, to }) = &mut transition.action else { return };
    let own = stored.action.is_some_and(|action| action.owner == to.owner && action.token == to.token);
    if own && transition.event.is_none() {
        *from = ActionGuard::Held { owner: to.owner.clone(), token: to.token };
    }
}

/// Every action write passes.
pub(super) fn every_action(transition: &mut Transition, stored: Stored<'_>) {
    on_put(transition, stored, |_| true);
}

fn on_put(transition: &mut Transition, stored: Stored<'_>, which: impl FnOnce(ActionStatus) -> bool) {
    if let Some(ActionWrite::Put { from, to }) = &mut transition.action
        && which(to.status)
    {
        *from = stored.action.map_or(ActionGuard::Absent, sekali::protocol::action::Action::as_read);
    }
}
