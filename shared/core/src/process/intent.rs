//! Today's rules put to a stored event: what `decide` calls its intent.

use crate::deployment::Deployment;
use crate::payload::Payload;
use crate::protocol::action::FrozenRequest;
use crate::protocol::decide::{Intent, Wanted};
use crate::protocol::event::Event;
use crate::protocol::order::Move;
use crate::protocol::reason::{Reason, Slug};
use crate::rule::{self, Plan, Planned};

/// What the rules want of an event whose payload is there.
pub(super) fn of<'c>(deployment: &'c Deployment, event: &Event, payload: &Payload) -> Intent<'c> {
    let Some(endpoint) = deployment.config.endpoints.get(&event.endpoint) else {
        let cause = format!("no endpoint `{}` in the configuration", event.endpoint);
        return Intent::Hold(Reason::with(Slug::EndpointGone, cause));
    };
    match rule::plan(endpoint, event.into(), payload) {
        Plan::NoRule => Intent::Nothing(Reason::bare(Slug::NoRule)),
        Plan::Hold(hold) => Intent::Hold(hold.reason()),
        Plan::Planned(planned) => act(deployment, event, planned),
    }
}

fn act<'c>(deployment: &'c Deployment, event: &Event, planned: Planned) -> Intent<'c> {
    let mut moves = None;
    if let Some(wanted) = planned.resource_move {
        let Some(resource) = deployment.config.resources.get(&wanted.kind) else {
            let cause = format!("no resource `{}` in the configuration", wanted.kind);
            return Intent::Hold(Reason::with(Slug::UnknownStatus, cause));
        };
        let (to, order) = (wanted.to, wanted.order);
        moves = Some(Move { resource: wanted.resource, to, order, graph: &resource.graph });
    }
    let mut action = None;
    if let Some(planned) = planned.action {
        let Some(policy) = deployment.policy(&planned.destination) else {
            let cause = format!("no destination `{}` in the configuration", planned.destination);
            return Intent::Hold(Reason::with(Slug::DestinationGone, cause));
        };
        action = Some(Wanted {
            request: FrozenRequest {
                destination: planned.destination.clone(),
                body: rule::envelope(event, &planned),
            },
            input: planned.input_digest(),
            name: planned.name,
            key: planned.key,
            late: planned.late,
            policy,
        });
    }
    Intent::Act { moves, action }
}
