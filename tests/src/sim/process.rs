//! The real ingest, processor and sweeper, set going by what sets them going
//! in AWS: a vendor's request, letters in the queue, a schedule.

use super::executor::Slot;
use super::mutant::Mutant;
use super::setup::{INVOCATION, PATIENCE, Purse};
use super::traffic::Sent;
use super::world::{Process, World};
use crate::memory::Received;
use futures_util::future::{Either, select};
use sekali::ids::CorrelationId;
use sekali::ingest::{Addressed, Ingest};
use sekali::pause::Remembered;
use sekali::ports::WithSecrets;
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::sweep::Sweeper;
use sekali::time::Clock;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// A vendor makes a delivery until it is acknowledged, or gives up.
pub async fn vendor(world: Arc<World>, sent: Sent) {
    world.clock.sleep(sent.at).await;
    let mut retries = sent.again.iter();
    loop {
        let answered = Slot::default();
        world.spawner.spawn(ingest(Arc::clone(&world), sent.clone(), answered.clone()));
        let patience = pin!(world.clock.sleep(PATIENCE));
        if let Either::Left((Some(200..=299), _)) = select(answered.take(), patience).await {
            return;
        }
        match retries.next() {
            Some(wait) => world.clock.sleep(*wait).await,
            None => return world.give_up(),
        }
    }
}

/// One invocation of ingest.
async fn ingest(world: Arc<World>, sent: Sent, answered: Slot<Option<u16>>) {
    let process = world.process("ingest");
    let request = match sent.says.request(world.now()) {
        Ok(request) => request,
        Err(error) => return world.watch.broken("setup", format!("{error:#}"), world.now()),
    };
    let ingest = Ingest::new(
        process.at(&world.store),
        process.at(&world.queue),
        process.clock.clone(),
        process.dice.clone(),
        Purse,
        world.deployment(),
    );
    let addressed = Addressed {
        endpoint: sent.says.endpoint().to_owned(),
        tenant: sent.says.tenant().map(str::to_owned),
        from: None,
        correlation: CorrelationId::new(process.desk.name.clone()),
        trace: None,
    };
    process.desk.diary.note(world.now(), || format!("{} receives {:?}", process.desk.name, sent.says));
    let receive = async {
        let answer = ingest.receive(&addressed, &request).await;
        process.desk.diary.note(world.now(), || format!("{} answers {}", process.desk.name, answer.status));
        if (200..300).contains(&answer.status) {
            world.acknowledge(&sent);
        }
        answer.status
    };
    process.run(receive, &answered).await;
}

/// The queue's poller: hands letters to one invocation of the processor and
/// does with each what that says.
pub async fn poller(world: Arc<World>) {
    let poller = world.process("poller");
    let queue = poller.at(&world.queue);
    let work = async {
        poller.desk.wait().await;
        for letters in batches(queue.port.receive(world.case.shape.batch).await) {
            world.spawner.spawn(hand_over(Arc::clone(&world), letters));
        }
    };
    poller.run(work, &Slot::default()).await;
}

/// A letter that was handed out twice is in two batches.
fn batches(letters: Vec<Received>) -> Vec<Vec<Received>> {
    let mut batches: Vec<Vec<Received>> = Vec::new();
    for letter in letters {
        let twice = |batch: &Vec<Received>| {
            batch.iter().any(|other| other.receipt.letter() == letter.receipt.letter())
        };
        match batches.last_mut().filter(|batch| !twice(batch)) {
            Some(batch) => batch.push(letter),
            None => batches.push(vec![letter]),
        }
    }
    batches
}

async fn hand_over(world: Arc<World>, letters: Vec<Received>) {
    let became = Slot::default();
    world.spawner.spawn(processor(Arc::clone(&world), letters.clone(), became.clone()));
    // A crashed invocation says nothing: its letters come back by themselves.
    let Some(dispositions) = became.take().await else { return };
    let poller = world.process("poller");
    let queue = poller.at(&world.queue);
    let work = async {
        for (letter, disposition) in letters.iter().zip(dispositions) {
            poller.desk.wait().await;
            let shown_again = match disposition {
                Disposition::Delete => None,
                Disposition::Return(wait) => Some(wait),
                Disposition::Fail => Some(Duration::ZERO),
            };
            match shown_again.filter(|_| world.case.mutant != Some(Mutant::DeletesTheWholeBatch)) {
                Some(wait) => queue.port.show_again(letter.receipt, wait).await,
                None => queue.port.delete(letter.receipt).await,
            };
        }
    };
    poller.run(work, &Slot::default()).await;
}

/// One invocation of the processor.
async fn processor(world: Arc<World>, letters: Vec<Received>, became: Slot<Option<Vec<Disposition>>>) {
    let process = world.process("processor");
    let processor = Processor::new(
        process.at(&world.store),
        process.at(&world.destination),
        WithSecrets { outbound: process.at(&world.api), keeper: Purse },
        process.clock.clone(),
        process.dice.clone(),
        world.deployment(),
    );
    let records: Vec<Record> = letters
        .into_iter()
        .map(|letter| Record {
            message: letter.message,
            stamped_at: letter.sent_at,
            receive_count: letter.receive_count,
        })
        .collect();
    let deadline = Deadline::At(process.clock.now().plus(INVOCATION));
    let batch = async {
        let dispositions = processor.batch(&records, deadline).await;
        process.desk.diary.note(world.now(), || format!("{} says {dispositions:?}", process.desk.name));
        check_dispositions(&world, &process, &records, &dispositions);
        dispositions
    };
    process.run(batch, &became).await;
}

/// A message is deleted only where its event has an end, or somebody will look
/// again (INV-1).
fn check_dispositions(world: &World, process: &Process, records: &[Record], dispositions: &[Disposition]) {
    for (record, disposition) in records.iter().zip(dispositions) {
        if *disposition != Disposition::Delete {
            continue;
        }
        let key = &record.message.event;
        let picked_up = world.store.look(|tables| {
            tables
                .event(key)
                .is_some_and(|event| event.progress.status.is_finished() || event.progress.due.is_some())
        });
        if !picked_up {
            let what = format!("{} dropped a message that is still needed", process.desk.name);
            world.watch.broken("INV-1", what, world.now());
        }
    }
}

/// One invocation of the sweeper.
pub async fn sweeper(world: Arc<World>) {
    let process = world.process("sweeper");
    let sweeper = Sweeper {
        pauses: Remembered::default(),
        store: process.at(&world.store),
        queue: process.at(&world.queue),
        clock: process.clock.clone(),
        deployment: world.deployment(),
    };
    let end = process.clock.now().plus(Duration::from_secs(45));
    process.run(sweeper.run(end), &Slot::default()).await;
}
