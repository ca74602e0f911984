//! Steps that one thread reads while others process them.

use super::steps::{Step, Steps};
use hindsight_tracelog::trace::{Damage, Source};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The number of steps that are handed over at once: large enough that handing over costs nothing.
const BATCH: usize = 1 << 12;

/// The most batches that may wait for a taker.
const WAITING: usize = 4;

type Batch = Arc<Vec<Step>>;

/// A function that processes each step of a run.
pub type Taker<'t> = &'t mut (dyn FnMut(&Step) + Send);

/// Reads all steps on this thread, and hands them to each taker on a thread of its own. Each taker
/// gets all steps in their order. `told` is called after each batch with the number of its steps,
/// and with everything that could not be read.
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
                    // A taker has panicked; its thread reports that.
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

/// A batch whose memory can be used again. The memory comes back to this thread, because freeing it
/// on the thread that allocated it is cheaper.
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
        // The reader may have ended already.
        let _ = back.send(batch);
    }
}
