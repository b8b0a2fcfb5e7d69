//! Writes of several items: all or nothing (INV-3, INV-4, INV-5).

use super::sample::{Sample, content, progress};
use super::{read_event, write_to_its_end};
use futures_util::future::join_all;
use sekali::ids::{Generation, OwnerNonce, Version};
use sekali::ports::{Store, StoreError, Write};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus};
use sekali::protocol::event::{Event, EventGuard, EventStatus};
use sekali::protocol::resource::{Resource, ResourceGuard};
use sekali::protocol::transition::{ActionWrite, EventWrite, ResourceWrite, Transition};

/// The claim of a first event: its resource is new, its action absent.
struct Claim {
    event: Event,
    action: Action,
    resource: Resource,
}

impl Claim {
    fn new() -> Self {
        let sample = Sample::new();
        Self {
            event: sample.event("evt_1"),
            action: sample.action("order_1"),
            resource: sample.resource("pay_1"),
        }
    }

    fn by(&self, owner: &str) -> Transition {
        let mut to = progress(EventStatus::Processing);
        to.attempts = 1;
        to.action = Some(self.action.key.clone());
        to.action_generation = Some(Generation::FIRST);
        let action = Action { owner: OwnerNonce::from(owner), ..self.action.clone() };
        Transition {
            event: Some(EventWrite {
                key: self.event.key.clone(),
                from: self.event.guard(),
                to,
                content: None,
            }),
            action: Some(ActionWrite::Put { from: ActionGuard::Absent, to: Box::new(action) }),
            resource: Some(ResourceWrite { from: ResourceGuard::Absent, to: self.resource.clone() }),
            ..Transition::default()
        }
    }

    async fn stands(&self, store: &impl Store) -> anyhow::Result<(Event, Option<Action>, Option<Resource>)> {
        let event = read_event(store, &self.event.key).await?;
        Ok((event, store.action(&self.action.key).await?, store.resource(&self.resource.key).await?))
    }
}

/// From a claim on, the event remembers its action, the action its owner and
/// the resource its move.
pub async fn a_claim_writes_event_action_and_resource_together<S: Store>(store: &S) -> anyhow::Result<()> {
    let claim = Claim::new();
    store.create_event(&claim.event).await?;
    let transition = claim.by("owner-1");
    assert_eq!(store.write(&transition).await?, Write::Applied);
    let (event, action, resource) = claim.stands(store).await?;
    assert_eq!(Some(event.progress), transition.event.map(|write| write.to));
    assert_eq!((action, resource), (Some(claim.action), Some(claim.resource)));
    Ok(())
}

/// Whichever of the three moved, none is written.
pub async fn a_claim_with_one_moved_item_writes_nothing<S: Store>(store: &S) -> anyhow::Result<()> {
    let claim = Claim::new();
    store.create_event(&claim.event).await?;
    let with_event = |from: EventGuard| {
        let event = claim.by("owner-1").event.map(|write| EventWrite { from, ..write });
        Transition { event, ..claim.by("owner-1") }
    };
    let action = Some(ActionWrite::Put { from: claim.action.as_read(), to: Box::new(claim.action.clone()) });
    let from = ResourceGuard::Version(Version::FIRST);
    let resource = Some(ResourceWrite { from, to: claim.resource.clone() });
    let guard = claim.event.guard();
    let missed = [
        with_event(EventGuard { status: EventStatus::Processing, ..guard.clone() }),
        with_event(EventGuard { generation: Generation::from_stored(2), ..guard.clone() }),
        with_event(EventGuard { hash: Some(content("other")), ..guard }),
        Transition { action, ..claim.by("owner-1") },
        Transition { resource, ..claim.by("owner-1") },
    ];
    for transition in missed {
        assert_eq!(store.write(&transition).await?, Write::Refused, "{transition:?}");
        assert_eq!(claim.stands(store).await?, (claim.event.clone(), None, None));
    }
    Ok(())
}

/// A claim whose answer was lost and that is sent again was applied; the same
/// claim by another worker was not.
pub async fn an_own_retried_claim_of_three_items_counts_as_applied<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let claim = Claim::new();
    store.create_event(&claim.event).await?;
    assert_eq!(store.write(&claim.by("owner-1")).await?, Write::Applied);
    let before = claim.stands(store).await?;
    assert_eq!(store.write(&claim.by("owner-1")).await?, Write::Applied);
    assert_eq!(store.write(&claim.by("owner-2")).await?, Write::Refused);
    assert_eq!(claim.stands(store).await?, before);
    Ok(())
}

/// INV-4: another worker brought the event where this one wants it, but not
/// the action; nothing of this write happened.
pub async fn a_write_that_finds_only_its_event_as_wanted_is_refused<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let claim = Claim::new();
    store.create_event(&claim.event).await?;
    store.write(&claim.by("owner-1")).await?;
    let begun = claim.stands(store).await?.0;
    let from = begun.guard();
    let to = progress(EventStatus::Processed);
    let event = EventWrite { key: begun.key.clone(), from, to, content: None };
    assert_eq!(store.write(&Transition::event(event.clone())).await?, Write::Applied);
    let done = Action { status: ActionStatus::Done, ..claim.action.clone() };
    let action = ActionWrite::Put { from: claim.action.held(), to: Box::new(done) };
    let both = Transition { action: Some(action), ..Transition::event(event) };
    assert_eq!(store.write(&both).await?, Write::Refused);
    assert_eq!(claim.stands(store).await?.1, Some(claim.action));
    Ok(())
}

/// INV-2: twenty workers claim the same event at once.
pub async fn of_many_claims_at_once_one_writes_and_the_others_leave_nothing<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let claim = Claim::new();
    store.create_event(&claim.event).await?;
    let owners: Vec<String> = (0..20).map(|number| format!("owner-{number}")).collect();
    let claims: Vec<_> = owners.iter().map(|owner| claim.by(owner)).collect();
    let ends = join_all(claims.iter().map(|claim| write_to_its_end(store, claim))).await;
    let mut winners = Vec::new();
    for (owner, end) in owners.iter().zip(ends) {
        winners.extend((end? == Write::Applied).then(|| OwnerNonce::from(owner.as_str())));
    }
    let (event, action, resource) = claim.stands(store).await?;
    assert_eq!(winners, action.map(|action| action.owner).into_iter().collect::<Vec<_>>());
    assert_eq!((event.progress.attempts, resource), (1, Some(claim.resource)));
    Ok(())
}

/// What the store will never take stops the rest, too.
pub async fn an_item_that_is_too_large_stops_the_whole_write<S: Store>(store: &S) -> anyhow::Result<()> {
    let mut claim = Claim::new();
    store.create_event(&claim.event).await?;
    claim.action.request.body = vec![b'x'; 410_000];
    let end = store.write(&claim.by("owner-1")).await;
    assert!(matches!(end, Err(StoreError::Invalid(_))), "{end:?}");
    assert_eq!(claim.stands(store).await?, (claim.event, None, None));
    Ok(())
}

/// Nothing to write is written.
pub async fn a_transition_without_an_item_is_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let nothing = Transition::default();
    assert_eq!(store.write(&nothing).await?, Write::Applied);
    Ok(())
}
