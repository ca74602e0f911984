//! Full chunks, on their way to the disk.

use super::arena::{Address, Arena, now};
use super::segments::Segments;
use hindsight_tracelog::trace::block::Header;
use hindsight_tracelog::trace::dictionary::Loss;
use hindsight_tracelog::trace::recap::Changes;
use hindsight_tracelog::trace::{self, chunk::Chunk};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Chunks that wait at most; then threads wait, or lose events.
const MAX_WAITING: usize = 64;

#[derive(Default)]
struct Queue {
    chunks: VecDeque<Address>,
    /// Those that wait or are being packed.
    busy: usize,
    /// What was lost of each stream.
    losses: BTreeMap<u64, Loss>,
}

/// Streams of which is known what was lost.
const MAX_LOSSES: usize = 10_000;

impl Queue {
    fn lose(&mut self, of: &Header, events: u64) {
        let room = self.losses.len() < MAX_LOSSES;
        if room || self.losses.contains_key(&of.stream) {
            let loss = self.losses.entry(of.stream).or_insert(Loss {
                thread: of.thread,
                is_virtual: of.is_virtual(),
                stream: of.stream,
                sequence: of.sequence,
                events: 0,
            });
            loss.sequence = loss.sequence.min(of.sequence);
            loss.events += events;
        }
    }
}

/// Packs chunks and hands them to [`Segments`].
pub(crate) struct Packer {
    segments: Arc<Segments>,
    /// Whether a thread waits for a chunk rather than losing events.
    wait: bool,
    queue: Mutex<Queue>,
    /// There is something to pack.
    filled: Condvar,
    /// There is room again.
    emptied: Condvar,
    events: AtomicU64,
    lost: AtomicU64,
}

impl Packer {
    pub(crate) fn new(segments: Arc<Segments>, wait: bool) -> Packer {
        Packer {
            segments,
            wait,
            queue: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            events: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Events that are on the disk.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Events that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Events that could not be stored, or not be written, as far as it is known whose
    /// they were.
    pub(crate) fn losses(&self) -> Vec<Loss> {
        let queue = self.queue.lock();
        queue.map_or(Vec::new(), |queue| queue.losses.values().cloned().collect())
    }

    /// A chunk for a thread, whose old one is full. `header` says whose it is to
    /// be. Nothing if events are to be lost.
    pub(crate) fn exchange(
        &self,
        arena: &Arena,
        full: Option<Address>,
        header: &mut Header,
    ) -> Option<Address> {
        if let Some(full) = full {
            header.sequence = full.read()?.header.sequence.wrapping_add(1);
        }
        let size = usize::from(header.sequence > 0);
        let mut queue = self.queue.lock().ok()?;
        loop {
            // A thread with one full chunk may go on whoever else is behind, so
            // that memory does not grow with what is behind.
            if full.is_none() || queue.busy < MAX_WAITING {
                if let Some(fresh) = arena.take(size) {
                    header.time = now();
                    fresh.begin(header, size);
                    if let Some(full) = full {
                        queue.chunks.push_back(full);
                        queue.busy += 1;
                        self.filled.notify_one();
                    }
                    return Some(fresh);
                }
                if arena.grow(size).is_ok() {
                    continue;
                }
                if queue.busy == 0 {
                    // No disk, and nobody who would give a chunk back.
                    queue.lose(header, 1);
                    return None;
                }
            }
            if !self.wait {
                queue.lose(header, 1);
                return None;
            }
            queue = self.emptied.wait(queue).ok()?;
        }
    }

    /// Takes the last chunk of a thread.
    pub(crate) fn submit(&self, chunk: Address) {
        if let Ok(mut queue) = self.queue.lock() {
            queue.chunks.push_back(chunk);
            queue.busy += 1;
            self.filled.notify_one();
        }
    }

    /// The body of a packing thread; does not return.
    pub(crate) fn run(&self, arena: &Arena) {
        let mut buffer = Vec::new();
        let mut packer = trace::Packer::new().ok();
        loop {
            let chunk = {
                let Ok(mut queue) = self.queue.lock() else {
                    return;
                };
                loop {
                    if let Some(chunk) = queue.chunks.pop_front() {
                        break chunk;
                    }
                    match self.filled.wait(queue) {
                        Ok(again) => queue = again,
                        Err(_) => return,
                    }
                }
            };
            if let Some(found) = chunk.read() {
                self.pack(packer.as_mut(), chunk, &found, &mut buffer);
            }
            arena.give_back(chunk);
            let Ok(mut queue) = self.queue.lock() else {
                return;
            };
            queue.busy -= 1;
            drop(queue);
            self.emptied.notify_all();
        }
    }

    fn pack(
        &self,
        packer: Option<&mut trace::Packer>,
        address: Address,
        chunk: &Chunk,
        buffer: &mut Vec<u8>,
    ) {
        if chunk.len == 0 {
            return;
        }
        buffer.clear();
        let mut header = chunk.header;
        let events = address.events(chunk);
        let packed = packer
            .and_then(|packer| packer.pack(&mut header, events, buffer).ok())
            .is_some();
        let changes = match self.segments.is_bounded() {
            true => Changes::of(&header, events).ok(),
            false => None,
        };
        if packed && self.segments.append(&header, buffer, changes) {
            self.events
                .fetch_add(u64::from(header.events), Ordering::Relaxed);
        } else {
            let events = u64::from(header.events);
            self.lost.fetch_add(events, Ordering::Relaxed);
            if let Ok(mut queue) = self.queue.lock() {
                queue.lose(&header, events);
            }
        }
    }

    /// Waits until all that was submitted is packed; whether that is so.
    pub(crate) fn drain(&self, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        let Ok(mut queue) = self.queue.lock() else {
            return false;
        };
        while queue.busy > 0 {
            let left = end.saturating_duration_since(Instant::now());
            match self.emptied.wait_timeout(queue, left) {
                Ok((_, timeout)) if timeout.timed_out() => return false,
                Ok((again, _)) => queue = again,
                Err(_) => return false,
            }
        }
        true
    }

    /// Packs what threads have begun. They may go on storing, unseen.
    pub(crate) fn pack_rest(&self, arena: &Arena) {
        let mut buffer = Vec::new();
        let mut packer = trace::Packer::new().ok();
        for chunk in arena.in_use() {
            if let Some(found) = chunk.read() {
                self.pack(packer.as_mut(), chunk, &found, &mut buffer);
            }
        }
    }
}
