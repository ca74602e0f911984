//! Steps that one thread reads while others take them.

use super::steps::{Step, Steps};
use hindsight_tracelog::trace::{Damage, Source};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Steps that are handed over at once: so many that the handing over costs nothing.
const BATCH: usize = 1 << 12;

/// Batches that may wait for a taker.
const WAITING: usize = 4;

type Batch = Arc<Vec<Step>>;

/// Somebody who takes each step of a run.
pub type Taker<'t> = &'t mut (dyn FnMut(&Step) + Send);

/// Reads all steps, here, and hands them to each taker, in a thread of its own.
/// Each gets all steps in their order. `told` is asked after each batch, with the
/// number of its steps, and about what could not be read.
pub fn read_ahead<S: Source>(
    steps: &mut Steps<'_, S>,
    takers: Vec<Taker<'_>>,
    mut told: impl FnMut(Result<usize, Damage>),
) {
    std::thread::scope(|scope| {
        let (back, used) = channel();
        let mut senders = Vec::new();
        for taker in takers {
            let (sender, receiver) = sync_channel(WAITING);
            senders.push(sender);
            let back = back.clone();
            scope.spawn(move || take(&receiver, &back, taker));
        }
        drop(back);
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(step) = steps.next_step() {
            match step {
                Ok(step) => batch.push(step),
                Err(damage) => told(Err(damage)),
            }
            if batch.len() == BATCH {
                told(Ok(batch.len()));
                if hand_over(batch, &senders).is_none() {
                    // A taker has panicked; its thread says so.
                    return;
                }
                batch = unused(&used);
            }
        }
        told(Ok(batch.len()));
        let _ = hand_over(batch, &senders);
    });
}

fn hand_over(batch: Vec<Step>, senders: &[SyncSender<Batch>]) -> Option<()> {
    let batch = Arc::new(batch);
    for sender in senders {
        sender.send(batch.clone()).ok()?;
    }
    Some(())
}

/// Memory that was made here is freed here, which is cheaper; so it comes back.
fn unused(used: &Receiver<Batch>) -> Vec<Step> {
    while let Ok(batch) = used.try_recv() {
        if let Some(mut batch) = Arc::into_inner(batch) {
            batch.clear();
            return batch;
        }
    }
    Vec::with_capacity(BATCH)
}

fn take(receiver: &Receiver<Batch>, back: &Sender<Batch>, taker: Taker<'_>) {
    for batch in receiver {
        for step in batch.iter() {
            taker(step);
        }
        // Nobody may want it any more.
        let _ = back.send(batch);
    }
}
