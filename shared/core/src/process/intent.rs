//! Today's rules put to a stored event: what `decide` calls its intent.

use super::Processor;
use super::look::{Look, Unsettled};
use super::truth::Question;
use crate::config::Endpoint;
use crate::deployment::Deployment;
use crate::key::ResourceKey;
use crate::payload::Payload;
use crate::ports::{Destination, Entropy, Outbound, PauseRecord, Secrets, Store};
use crate::protocol::action::FrozenRequest;
use crate::protocol::decide::{Intent, Wanted};
use crate::protocol::event::Event;
use crate::protocol::order::{Move, ToldBy};
use crate::protocol::policy::TAKEOVER;
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::resource::{Resource, ResourceGuard};
use crate::rule::{self, Plan, Planned, Truth};
use crate::time::Clock;

/// Questions of one look whose answers name another resource each time: then
/// waiting is better.
const QUESTIONS: usize = 4;

/// What the rules want, and the resource as it was read *before* the vendor's
/// API was asked about it.
pub(super) struct Put<'p> {
    pub intent: Intent<'p>,
    pub before: Option<(ResourceKey, Option<Resource>)>,
    /// What was asked, where something was.
    pub question: Option<Question>,
}

impl<'p> From<Intent<'p>> for Put<'p> {
    fn from(intent: Intent<'p>) -> Self {
        Self { intent, before: None, question: None }
    }
}

impl<'p, S: Store + PauseRecord, D: Destination, A: Outbound + Secrets, C: Clock, E: Entropy>
    Look<'p, S, D, A, C, E>
{
    /// Puts today's rules to an event whose payload is there, and the vendor's
    /// API to the question where a rule wants to know what that says.
    pub(super) async fn put(&self, event: &Event, payload: &Payload) -> Result<Put<'p>, Unsettled> {
        let processor: &'p Processor<S, D, A, C, E> = self.processor;
        let deployment = &processor.deployment;
        let Some(endpoint) = deployment.config.endpoints.get(&event.endpoint) else {
            let reason = endpoint_gone(event);
            let takes_over = processor.clock.now().since(event.received_at) < TAKEOVER;
            return Ok(match takes_over {
                true => Intent::Unknown { reason, not_before: None },
                false => Intent::Hold(reason),
            }
            .into());
        };
        if let Some(intent) = super::confirm::intent(endpoint, event, payload.body()) {
            return Ok(intent.into());
        }
        let mut truth: Option<Truth> = None;
        let mut put = Put::from(Intent::PayloadMissing);
        for _ in 0..QUESTIONS {
            let plan = rule::plan(endpoint, event.into(), payload, truth.as_ref());
            let follows = match &plan {
                Plan::Ask(question) => {
                    put.question = Some(Question::of(event, question.url.clone()));
                    question.resource.clone()
                }
                plan => followed(event, plan).filter(|resource| !put.was_read(resource)),
            };
            // Known only from the answer: read now, and asked once more.
            if !matches!(plan, Plan::Ask(_)) && follows.is_none() {
                put.intent = of(deployment, event, plan);
                return Ok(put);
            }
            if let Some(resource) = follows.filter(|_| event.progress.action.is_none()) {
                let stored = processor.store.resource(&resource).await?;
                put.before = Some((resource, stored));
            }
            match self.truth(endpoint, event, &put).await {
                Ok(told) => truth = Some(told),
                Err(no_truth) => {
                    put.intent = no_truth;
                    return Ok(put);
                }
            }
        }
        Err(Unsettled::Contended)
    }

    async fn truth(
        &self,
        endpoint: &Endpoint,
        event: &Event,
        put: &Put<'_>,
    ) -> Result<Truth, Intent<'static>> {
        let (Some(fetch), Some(question)) = (&endpoint.fetch, &put.question) else {
            let cause = format!("endpoint `{}` asks nobody", endpoint.name);
            return Err(Intent::Unknowable(Reason::with(Slug::TruthRefused, cause)));
        };
        let seen = put.before.as_ref();
        let before = seen.map(|(key, stored)| (key.clone(), ResourceGuard::of(stored.as_ref())));
        self.processor
            .truth((event, fetch), question, before, (self.readings, self.deadline))
            .await
            .map_err(super::truth::NoTruth::intent)
    }
}

impl Put<'_> {
    fn was_read(&self, resource: &ResourceKey) -> bool {
        self.before.as_ref().is_some_and(|(read, _)| read == resource)
    }
}

/// The resource that follows what the API answered, where nothing is bound to
/// the event yet.
fn followed(event: &Event, plan: &Plan) -> Option<ResourceKey> {
    let Plan::Planned(Planned { resource_move: Some(wanted), .. }) = plan else { return None };
    let follows = wanted.told_by == ToldBy::Api && event.progress.action.is_none();
    follows.then(|| wanted.resource.clone())
}

/// What the rules want of a stored event, as far as that is known without
/// asking the vendor's API.
pub(crate) fn stored<'c>(deployment: &'c Deployment, event: &Event, payload: &Payload) -> Intent<'c> {
    let Some(endpoint) = deployment.config.endpoints.get(&event.endpoint) else {
        return Intent::Hold(endpoint_gone(event));
    };
    of(deployment, event, rule::plan(endpoint, event.into(), payload, None))
}

fn endpoint_gone(event: &Event) -> Reason {
    Reason::with(Slug::EndpointGone, format!("no endpoint `{}` in the configuration", event.endpoint))
}

/// What a plan wants, in the protocol's words.
fn of<'c>(deployment: &'c Deployment, event: &Event, plan: Plan) -> Intent<'c> {
    match plan {
        Plan::NoRule => Intent::Nothing(Reason::bare(Slug::NoRule)),
        Plan::Hold(hold) => Intent::Hold(hold.reason()),
        Plan::Planned(planned) => act(deployment, event, planned),
        Plan::Older(cause) => {
            Intent::Unknown { reason: Reason::with(Slug::TruthOlder, cause), not_before: None }
        }
        // Asked already, before this.
        Plan::Ask(_) => Intent::Unknown { reason: Reason::bare(Slug::TruthUnread), not_before: None },
    }
}

fn act<'c>(deployment: &'c Deployment, event: &Event, planned: Planned) -> Intent<'c> {
    let mut moves = None;
    let resource = planned.resource_move.as_ref().map(|wanted| wanted.resource.clone());
    if let Some(wanted) = planned.resource_move {
        let Some(resource) = deployment.config.resources.get(&wanted.kind) else {
            let cause = format!("no resource `{}` in the configuration", wanted.kind);
            return Intent::Hold(Reason::with(Slug::UnknownStatus, cause));
        };
        let (to, order, told_by) = (wanted.to, wanted.order, wanted.told_by);
        moves = Some(Move { resource: wanted.resource, to, order, told_by, graph: &resource.graph });
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
                resource,
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
