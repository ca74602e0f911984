//! Packs full chunks for the disk.

use super::arena::{Address, Arena, now};
use super::segments::{Block, Segments};
use crate::callbacks::contained;
use hindsight_tracelog::trace;
use hindsight_tracelog::trace::block::Header;
use hindsight_tracelog::trace::dictionary::Loss;
use hindsight_tracelog::trace::recap::Changes;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most chunks that wait; from then on threads wait, or lose events.
const MAX_WAITING: usize = 64;

#[derive(Default)]
struct Queue {
    /// The chunks that wait, and whether each is the last one of its stream.
    chunks: VecDeque<(Address, bool)>,
    /// The number of chunks that wait or are being packed.
    busy: usize,
    /// What was lost of each stream.
    losses: BTreeMap<u64, Loss>,
    /// Whether the trace has ended, so that no chunk is taken or given back any more.
    ended: bool,
}

/// The most streams for which losses are recorded.
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

/// What one thread needs for packing.
#[derive(Default)]
struct Bench {
    packer: Option<trace::Packer>,
    block: Vec<u8>,
}

/// The changes of a block of which nothing is known but whether it is the last one of its stream.
fn unknown(is_last: bool) -> Option<Changes> {
    is_last.then(|| Changes::default().last())
}

/// Packs chunks and hands them to [`Segments`].
pub(crate) struct Packer {
    segments: Segments,
    /// Whether a thread waits for a chunk instead of losing events.
    wait: bool,
    queue: Mutex<Queue>,
    /// Signalled when there is something to pack.
    filled: Condvar,
    /// Signalled when there is room again.
    emptied: Condvar,
    events: AtomicU64,
    lost: AtomicU64,
}

impl Packer {
    pub(crate) fn new(segments: Segments, wait: bool) -> Packer {
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

    /// The number of events that are on the disk.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// The number of events that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// The events that could not be stored or written, as far as their streams are known.
    pub(crate) fn losses(&self) -> Vec<Loss> {
        self.queue().losses.values().cloned().collect()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges a full chunk of a thread for a fresh one. `header` describes the thread to which
    /// it is to belong. `None` if events are to be lost.
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
        let mut queue = self.queue();
        loop {
            if queue.ended {
                return None;
            }
            // A thread that has no full chunk to hand over always gets one. One that has gets
            // another only while the queue has room, so that memory does not grow with the backlog.
            if full.is_none() || queue.busy < MAX_WAITING {
                if let Some(fresh) = arena.take(size) {
                    header.time = now();
                    fresh.begin(header, size);
                    if let Some(full) = full {
                        queue.chunks.push_back((full, false));
                        queue.busy += 1;
                        self.filled.notify_one();
                    }
                    return Some(fresh);
                }
                if arena.grow(size).is_ok() {
                    continue;
                }
                if queue.busy == 0 {
                    // There is no disk, and no other thread will give a chunk back.
                    queue.lose(header, 1);
                    return None;
                }
            }
            if !self.wait {
                queue.lose(header, 1);
                return None;
            }
            queue = (self.emptied.wait(queue)).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the last chunk of a thread. If the trace has ended, the chunk stays in use, and
    /// [`Self::pack_rest`] has found it there.
    pub(crate) fn submit(&self, chunk: Address) {
        let mut queue = self.queue();
        if queue.ended {
            return;
        }
        queue.chunks.push_back((chunk, true));
        queue.busy += 1;
        self.filled.notify_one();
    }

    /// The body of a packing thread; returns when the trace has ended.
    pub(crate) fn run(&self, arena: &Arena) {
        let mut bench = Bench::default();
        loop {
            let mut queue = self.queue();
            let (chunk, is_last) = loop {
                if queue.ended {
                    return;
                }
                match queue.chunks.pop_front() {
                    Some(chunk) => break chunk,
                    None => {
                        queue = (self.filled.wait(queue)).unwrap_or_else(PoisonError::into_inner)
                    }
                }
            };
            drop(queue);
            let lost = self.pack(&mut bench, chunk, is_last);
            let mut queue = self.queue();
            if let Some(header) = lost {
                self.lost.fetch_add(header.events.into(), Ordering::Relaxed);
                queue.lose(&header, header.events.into());
            }
            if queue.ended {
                // The trace has ended, so the chunk may be being read elsewhere.
                return;
            }
            arena.give_back(chunk);
            queue.busy -= 1;
            drop(queue);
            self.emptied.notify_all();
        }
    }

    /// Packs a chunk, which may be the last one of its stream. If that fails for any reason, returns
    /// the header of the lost events: threads are waiting for the result.
    fn pack(&self, bench: &mut Bench, address: Address, is_last: bool) -> Option<Header> {
        let chunk = address.read()?;
        let mut header = chunk.header;
        if chunk.len == 0 {
            let changes = self.changes(&header, &[], is_last);
            contained(|| self.segments.pass_over(&header, changes));
            return None;
        }
        let mut written = None;
        contained(|| {
            let events = address.events(&chunk);
            written = Some(self.write(bench, &mut header, events, is_last));
        });
        if written.is_none() {
            // The state in which the panic left it is not known.
            *bench = Bench::default();
            contained(|| self.segments.pass_over(&header, unknown(is_last)));
        }
        // There is at least one event, even if they have not been counted.
        header.events = header.events.max(1);
        match written.unwrap_or(Block::Lost) {
            Block::Stored => {
                self.events
                    .fetch_add(header.events.into(), Ordering::Relaxed);
                None
            }
            Block::Lost => Some(header),
            Block::TooLate => None,
        }
    }

    /// What a chunk's events do to the active calls, if that is to be known.
    fn changes(&self, header: &Header, events: &[u8], is_last: bool) -> Option<Changes> {
        if !self.segments.is_bounded() {
            return None;
        }
        match Changes::of(header, events) {
            Ok(changes) if is_last => Some(changes.last()),
            Ok(changes) => Some(changes),
            Err(_) => unknown(is_last),
        }
    }

    /// Packs and writes a chunk's events. Fills in the rest of `header`.
    fn write(&self, bench: &mut Bench, header: &mut Header, events: &[u8], is_last: bool) -> Block {
        if bench.packer.is_none() {
            bench.packer = trace::Packer::new().ok();
        }
        bench.block.clear();
        let packed = (bench.packer.as_mut())
            .and_then(|packer| packer.pack(header, events, &mut bench.block).ok())
            .is_some();
        if !packed {
            self.segments.pass_over(header, unknown(is_last));
            return Block::Lost;
        }
        let changes = self.changes(header, events, is_last);
        self.segments.append(header, &bench.block, changes)
    }

    /// Waits until all submitted chunks are packed, and from then on takes and gives back nothing
    /// more. Returns whether all are packed.
    pub(crate) fn end(&self, at_most: Duration) -> bool {
        let (mut queue, drained) = self.drained(at_most);
        queue.ended = true;
        drop(queue);
        self.filled.notify_all();
        self.emptied.notify_all();
        drained
    }

    fn drained(&self, at_most: Duration) -> (MutexGuard<'_, Queue>, bool) {
        let end = Instant::now() + at_most;
        let mut queue = self.queue();
        while queue.busy > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return (queue, false);
            }
            let waited = self.emptied.wait_timeout(queue, left);
            (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        (queue, true)
    }

    /// Packs the chunks that threads have begun, after [`Self::end`]; returns whether all of them
    /// could be packed. Those that could not are not lost: they stay where they are. Threads may go
    /// on storing events, which are not read.
    pub(crate) fn pack_rest(&self, arena: &Arena) -> bool {
        let mut bench = Bench::default();
        let mut all_packed = true;
        for chunk in arena.in_use() {
            all_packed &= self.pack(&mut bench, chunk, false).is_none();
        }
        all_packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::trace::block::segment_header;
    use std::fs;
    use std::path::{Path, PathBuf};

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let name = format!("hindsight-packer-{name}-{}", std::process::id());
            let directory = Directory(std::env::temp_dir().join(name));
            let _ = fs::remove_dir_all(&directory.0);
            fs::create_dir_all(&directory.0).unwrap();
            directory
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn packer(segments: &Path, wait: bool, complain: fn(&str, &str)) -> &'static Packer {
        let segments = Segments::new(segments.to_owned(), None, complain);
        Box::leak(Box::new(Packer::new(segments, wait)))
    }

    fn arena(directory: &Path) -> &'static Arena {
        Box::leak(Box::new(Arena::create(directory).unwrap()))
    }

    /// The header of a thread that has recorded nothing yet.
    fn of_stream(stream: u64) -> Header {
        Header {
            stream,
            thread: 100 + stream,
            ..Header::default()
        }
    }

    /// Makes a thread use up this many chunks, with an event in each.
    fn fill(packer: &Packer, arena: &Arena, header: &mut Header, chunks: usize) -> Option<Address> {
        let mut chunk = packer.exchange(arena, None, header);
        for _ in 0..chunks {
            chunk?.store(&EVENT);
            chunk = packer.exchange(arena, chunk, header);
        }
        chunk
    }

    const EVENT: [u8; 9] = [trace::kind::tag::STAMP, 7, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn chunks_whose_packing_panics_are_lost_and_no_thread_waits_for_them() {
        let directory = Directory::new("panics");
        let arena = arena(&directory.0);
        // Nothing can be written there, and reporting that fails, too.
        let missing = directory.0.join("missing");
        let packer = packer(&missing, true, |_, _| panic!("nobody listens"));
        std::thread::spawn(|| packer.run(arena));
        let chunks = 3 * MAX_WAITING;
        let last = fill(packer, arena, &mut of_stream(1), chunks);
        assert!(last.is_some());
        assert!(packer.drained(Duration::from_secs(60)).1);
        assert_eq!((packer.events(), packer.lost()), (0, chunks as u64));
        let losses = packer.losses();
        assert_eq!(losses.len(), 1);
        let of_all = (losses[0].thread, losses[0].sequence, losses[0].events);
        assert_eq!(of_all, (101, 0, chunks as u64));
    }

    #[test]
    fn a_chunk_is_given_back_once_its_events_are_in_a_segment() {
        let directory = Directory::new("packs");
        let arena = arena(&directory.0);
        let packer = packer(&directory.0, true, |_, what| panic!("{what}"));
        let last = fill(packer, arena, &mut of_stream(1), 2).unwrap();
        last.store(&EVENT);
        packer.submit(last);
        assert_eq!(arena.in_use().len(), 3);
        std::thread::spawn(|| packer.run(arena));
        assert!(packer.drained(Duration::from_secs(60)).1);
        assert_eq!((packer.events(), packer.lost()), (3, 0));
        assert_eq!(arena.in_use().len(), 0);
        assert_eq!(packer.segments().so_far().last, (1, 3));
    }

    /// In a bounded trace, each segment lists the calls that are active, up to the last block.
    #[test]
    fn chunks_of_which_there_is_no_block_are_not_waited_for() {
        let directory = Directory::new("none");
        let arena = arena(&directory.0);
        let segments = Segments::new(directory.0.clone(), Some(1 << 20), |_, what| {
            panic!("{what}")
        });
        let packer = Packer::new(segments, true);
        let mut header = of_stream(1);
        let mut chunk = packer.exchange(arena, None, &mut header).unwrap();
        let mut lost = 0;
        // No event begins with a zero.
        for events in [&EVENT[..], &[], &[0], &EVENT] {
            chunk.store(events);
            let unpacked = packer.pack(&mut Bench::default(), chunk, false);
            lost += unpacked.map_or(0, |header| header.events);
            chunk = packer.exchange(arena, Some(chunk), &mut header).unwrap();
        }
        assert_eq!((packer.events(), lost), (2, 1));
        let head = packer.segments().head();
        let recap = head[segment_header().len()..].first_chunk().unwrap();
        assert_eq!(Header::read(recap).unwrap().sequence, 3);
    }

    /// Each chunk is written once, whether its thread ends during the end of the trace or later.
    #[test]
    fn nothing_changes_hands_when_the_trace_has_ended() {
        let directory = Directory::new("ends");
        let arena = arena(&directory.0);
        let packer = packer(&directory.0, true, |_, what| panic!("{what}"));
        let packing = std::thread::spawn(|| packer.run(arena));
        let mut header = of_stream(1);
        let last = fill(packer, arena, &mut header, 2).unwrap();
        last.store(&EVENT);
        assert!(packer.end(Duration::from_secs(60)));
        packing.join().unwrap();
        packer.submit(last);
        assert!(packer.pack_rest(arena));
        packer.submit(last);
        assert_eq!(packer.exchange(arena, Some(last), &mut header), None);
        assert_eq!(packer.exchange(arena, None, &mut of_stream(2)), None);
        assert_eq!(arena.in_use(), [last]);
        assert_eq!(packer.segments().so_far().last, (1, 3));
        assert_eq!((packer.events(), packer.lost()), (3, 0));
    }

    /// The disk only has room for live files.
    #[test]
    fn what_is_still_in_chunks_at_the_end_is_not_lost() {
        let directory = Directory::new("stays");
        let arena = arena(&directory.0);
        let packer = packer(&directory.0.join("missing"), true, |_, _| {});
        let last = fill(packer, arena, &mut of_stream(1), 0).unwrap();
        last.store(&EVENT);
        assert!(packer.end(Duration::from_secs(60)));
        assert!(!packer.pack_rest(arena));
        assert_eq!((packer.events(), packer.lost()), (0, 0));
        assert!(packer.losses().is_empty());
        assert_eq!(arena.in_use(), [last]);
    }

    /// Each thread keeps one full chunk of its own, however large the backlog is.
    #[test]
    fn events_are_lost_where_nobody_waits_and_too_many_chunks_do() {
        let directory = Directory::new("drops");
        let arena = arena(&directory.0);
        let packer = packer(&directory.0, false, |_, what| panic!("{what}"));
        let mut first = of_stream(1);
        let chunk = fill(packer, arena, &mut first, MAX_WAITING);
        let chunk = chunk.expect("so many may wait");
        assert_eq!(packer.exchange(arena, Some(chunk), &mut first), None);
        assert_eq!(packer.exchange(arena, Some(chunk), &mut first), None);
        assert!(packer.exchange(arena, None, &mut of_stream(2)).is_some());
        assert!(!packer.drained(Duration::ZERO).1);
        let losses = packer.losses();
        let lost = losses
            .iter()
            .map(|loss| (loss.stream, loss.sequence, loss.events));
        let sequence = MAX_WAITING as u64 + 1;
        assert_eq!(lost.collect::<Vec<_>>(), [(1, sequence, 2)]);
        // The thread goes on with the chunk that it has.
        assert_eq!(packer.lost(), 0);
    }
}
