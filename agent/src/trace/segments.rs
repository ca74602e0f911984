//! Segments: files of packed blocks, of bounded size.
//!
//! Where the oldest are deleted to keep to a bound, each begins with what is going on
//! then, so that the oldest that is left can be understood.

use hindsight_tracelog::trace::Packer;
use hindsight_tracelog::trace::block::{Header, segment_header};
use hindsight_tracelog::trace::recap::{Changes, Recaps};
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Bytes after which another segment is begun.
const SEGMENT: u64 = 64 << 20;
/// The same for the smallest bounds.
const SMALLEST: u64 = 64 << 10;
/// Segments of a bound, at least: so much of it is lost when the oldest goes.
const PARTS: u64 = 16;
/// Bytes that a full chunk has when it is packed, about.
const PACKED: u64 = 8 << 10;
/// What is told again after fewer chunks takes its part of the trace; after more, it is missing for too long.
const LEAST_SPAN: u64 = 4;
const MOST_SPAN: u64 = 64;
/// Percent of the bound that are used when the rest of a window goes whose beginning has gone.
const USED: u64 = 70;
/// Counts blocks that could not be written.
const NOT_WRITTEN: &str = "trace_not_written";
/// Counts how often the oldest segment could not be deleted.
const TOO_LARGE: &str = "trace_segments_not_deleted";

/// Takes what could not be done: the counter that counts it, and why.
type Complain = dyn Fn(&str, &str) + Send + Sync;

/// Writes blocks.
pub(crate) struct Segments {
    directory: PathBuf,
    /// Bytes of all segments together; the oldest are deleted beyond.
    max_bytes: Option<u64>,
    /// Told what could not be done.
    complain: Box<Complain>,
    /// Windows that have begun. Not under the lock, which is held while files are written: a thread of the program
    /// says it that others wait for.
    windows: AtomicU64,
    /// Makes the file of a segment. Tests have disks that are full.
    create: fn(&Path) -> io::Result<File>,
    state: Mutex<State>,
}

fn create(path: &Path) -> io::Result<File> {
    // Appending, so that cutting off is enough to start again.
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[derive(Default)]
struct State {
    file: Option<File>,
    len: u64,
    number: u32,
    /// Whether the current one, and each of the old ones, begins within a window.
    goes_on: bool,
    old: VecDeque<Old>,
    old_bytes: u64,
    /// Blocks in the current one and the old ones.
    blocks: u64,
    old_blocks: u64,
    deleted: u64,
    /// Windows of which the segments know.
    windows: u64,
    failed: bool,
    /// Nothing more is written, and nothing deleted.
    closed: bool,
    /// What is going on in each thread; nothing is put in if nothing is deleted.
    recaps: Recaps,
    packer: Option<Packer>,
}

/// What there is of a trace that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The number of the last segment, and how many blocks there are in all.
    pub(crate) last: (u32, u64),
    /// Segments that were deleted to keep to the bound.
    pub(crate) deleted: u64,
    /// Whether every block could be written.
    pub(crate) is_sound: bool,
}

/// What has become of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    Stored,
    Lost,
    /// The trace has ended: it is not in it, and not missing either.
    TooLate,
}

struct Old {
    path: PathBuf,
    len: u64,
    blocks: u64,
    goes_on: bool,
}

impl State {
    /// Ends the current segment. The next one goes on with its window, or begins
    /// with another one.
    fn end(&mut self, path: PathBuf, goes_on: bool) {
        if self.file.take().is_some() {
            self.old.push_back(Old {
                path,
                len: self.len,
                blocks: self.blocks,
                goes_on: self.goes_on,
            });
            self.old_bytes += self.len;
            self.old_blocks += std::mem::take(&mut self.blocks);
        }
        self.goes_on = goes_on;
    }

    fn delete_oldest(&mut self) -> io::Result<bool> {
        let Some(old) = self.old.front() else {
            return Ok(false);
        };
        match fs::remove_file(&old.path) {
            // Somebody else has done it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        self.old_bytes -= old.len;
        self.old_blocks -= old.blocks;
        self.deleted += 1;
        self.old.pop_front();
        Ok(true)
    }

    /// Deletes what is too much. What cannot be deleted is tried again the next time.
    fn keep_to(&mut self, max: u64) -> io::Result<()> {
        let mut deleted = false;
        while self.old_bytes + self.len > max && self.delete_oldest()? {
            deleted = true;
        }
        // The rest of a window whose beginning is gone; not for one that is most of what there is.
        let rest = self.old.iter().take_while(|old| old.goes_on);
        let (rest, bytes) = rest.fold((0, 0), |(count, bytes), old| (count + 1, bytes + old.len));
        if deleted && self.old_bytes + self.len - bytes >= max / 100 * USED {
            for _ in 0..rest {
                self.delete_oldest()?;
            }
        }
        Ok(())
    }

    /// What a segment begins with.
    fn head(&mut self, most_recaps: usize) -> Vec<u8> {
        let mut head = segment_header().to_vec();
        if self.packer.is_none() {
            self.packer = Packer::new().ok();
        }
        if let Some(packer) = &mut self.packer {
            let len = head.len();
            if self.recaps.write(packer, most_recaps, &mut head).is_err() {
                head.truncate(len);
            }
        }
        head
    }
}

impl State {
    fn closed(&self) -> Closed {
        Closed {
            last: (self.number, self.old_blocks + self.blocks),
            deleted: self.deleted,
            is_sound: !self.failed,
        }
    }

    /// Cuts off what is left of a block that could not be written.
    fn cut_off(&mut self) {
        if let Some(file) = &mut self.file {
            let _ = file.set_len(self.len);
        }
        self.failed = true;
    }
}

impl Segments {
    /// `complain` is told what could not be done, as a counter, and why.
    pub(crate) fn new(
        directory: PathBuf,
        max_bytes: Option<u64>,
        complain: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Segments {
        Segments {
            directory,
            max_bytes,
            complain: Box::new(complain),
            windows: AtomicU64::new(0),
            create,
            state: Mutex::default(),
        }
    }

    /// Ends them: what there is stays as it is, whoever appends afterwards. Nothing if that is not known.
    pub(crate) fn close(&self) -> Option<Closed> {
        match self.state.lock() {
            Ok(mut state) => {
                state.closed = true;
                Some(state.closed())
            }
            Err(poisoned) => {
                poisoned.into_inner().closed = true;
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            // A panic has cost its block, and may have left half of it.
            self.state.clear_poison();
            let mut state = poisoned.into_inner();
            state.cut_off();
            state
        })
    }

    /// What there is so far.
    #[cfg(test)]
    pub(crate) fn so_far(&self) -> Closed {
        self.state.lock().unwrap().closed()
    }

    /// What a segment would begin with.
    #[cfg(test)]
    pub(crate) fn head(&self) -> Vec<u8> {
        self.state().head(usize::MAX)
    }

    /// Whether the oldest are deleted, so that [`Self::append`] wants to know what is going on.
    pub(crate) fn is_bounded(&self) -> bool {
        self.max_bytes.is_some()
    }

    /// A window begins: what the recording has between two pauses. It is kept whole,
    /// or goes whole, if that leaves most of the bound in use. Waits for nobody.
    pub(crate) fn begin_window(&self) {
        self.windows.fetch_add(1, Ordering::AcqRel);
    }

    /// How many windows there were.
    pub(crate) fn windows(&self) -> u64 {
        self.windows.load(Ordering::Acquire)
    }

    /// Whatever has begun since the last block begins with the next one.
    fn begin_windows(&self, state: &mut State) {
        let windows = self.windows();
        if state.windows != windows {
            state.windows = windows;
            // Not a file for each of very many small ones.
            if state.goes_on || state.len >= self.most() / 2 {
                state.end(self.path(state.number), false);
            }
        }
    }

    /// Bytes after which another segment is begun.
    fn most(&self) -> u64 {
        match self.max_bytes {
            // So that there is a window to keep while the next one is filled.
            Some(max) => (max / PARTS).clamp(SMALLEST, SEGMENT),
            None => SEGMENT,
        }
    }

    /// Chunks of which an eighth of a segment may be made, if they are well packed; nothing if no segment is
    /// deleted.
    pub(crate) fn span(&self) -> Option<u32> {
        self.max_bytes?;
        let chunks = self.most() / 8 / PACKED;
        Some(chunks.clamp(LEAST_SPAN, MOST_SPAN) as u32)
    }

    /// There is no block of this number: what comes behind it does not wait for it.
    pub(crate) fn pass_over(&self, header: &Header, changes: Option<Changes>) {
        if self.is_bounded() {
            self.state().recaps.add(header, changes);
        }
    }

    /// Appends a block. What is left of one that could not be appended is cut off. `changes` are those that
    /// its events make. Nothing is written to a trace that has ended.
    pub(crate) fn append(&self, header: &Header, block: &[u8], changes: Option<Changes>) -> Block {
        let mut state = self.state();
        if state.closed {
            return Block::TooLate;
        }
        match self.try_append(&mut state, block) {
            Ok(()) => {
                let kept = match self.max_bytes {
                    Some(max) => {
                        state.recaps.add(header, changes);
                        state.keep_to(max)
                    }
                    None => Ok(()),
                };
                drop(state);
                // The block is there all the same.
                if let Err(error) = kept {
                    let what = format!(
                        "cannot delete the oldest of the trace in {}: {error}; it grows beyond max-trace",
                        self.directory.display()
                    );
                    (self.complain)(TOO_LARGE, &what);
                }
                Block::Stored
            }
            Err(error) => {
                if self.is_bounded() {
                    state.recaps.add(header, None);
                }
                state.cut_off();
                drop(state);
                let what = format!(
                    "cannot write the trace in {}: {error}; events are lost",
                    self.directory.display()
                );
                (self.complain)(NOT_WRITTEN, &what);
                Block::Lost
            }
        }
    }

    fn try_append(&self, state: &mut State, block: &[u8]) -> io::Result<()> {
        self.begin_windows(state);
        if state.file.is_some() && state.len + block.len() as u64 > self.most() {
            let goes_on = state.windows > 0;
            state.end(self.path(state.number), goes_on);
        }
        if state.file.is_none() {
            self.begin(state)?;
        }
        if let Some(file) = &mut state.file {
            file.write_all(block)?;
        }
        state.len += block.len() as u64;
        state.blocks += 1;
        Ok(())
    }

    /// Begins a segment. Where not even its header can be written there is none: without one it could not be
    /// read.
    fn begin(&self, state: &mut State) -> io::Result<()> {
        let head = state.head((self.most() / 4) as usize);
        let number = state.number + 1;
        let path = self.path(number);
        let mut file = (self.create)(&path)?;
        if let Err(error) = file.write_all(&head) {
            if fs::remove_file(path).is_err() {
                // The next one needs another name.
                state.number = number;
            }
            return Err(error);
        }
        state.file = Some(file);
        state.number = number;
        state.len = head.len() as u64;
        Ok(())
    }

    fn path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("segment-{number:06}.hst"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Trace {
        directory: PathBuf,
        segments: Segments,
    }

    /// The smallest segments, of which a trace may have 16.
    const BOUND: u64 = PARTS * SMALLEST;
    /// Two blocks make a segment.
    const BLOCK: usize = SMALLEST as usize / 2 - 1024;

    impl Trace {
        fn new(name: &str, max_bytes: Option<u64>) -> Trace {
            let name = format!("hindsight-segments-{name}-{}", std::process::id());
            let directory = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&directory);
            fs::create_dir_all(&directory).unwrap();
            let segments = Segments::new(directory.clone(), max_bytes, |_, _| {});
            Trace {
                directory,
                segments,
            }
        }

        fn append(&self, blocks: usize) {
            for _ in 0..blocks {
                let header = Header::default();
                let stored = self.segments.append(&header, &[0; BLOCK], None);
                assert_eq!(stored, Block::Stored);
            }
        }

        /// The numbers of the segments that are there.
        fn numbers(&self) -> Vec<u32> {
            let numbers = 1..=self.segments.so_far().last.0;
            numbers
                .filter(|number| self.segments.path(*number).exists())
                .collect()
        }
    }

    impl Drop for Trace {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }

    #[test]
    fn the_oldest_segments_go_beyond_the_bound() {
        let trace = Trace::new("oldest", Some(BOUND));
        trace.append(32);
        assert_eq!(trace.numbers(), (1..=16).collect::<Vec<_>>());
        trace.append(6);
        assert_eq!(trace.numbers(), (4..=19).collect::<Vec<_>>());
        assert_eq!(trace.segments.so_far().deleted, 3);
        assert_eq!(trace.segments.so_far().last, (19, 32));
        let lens = trace.numbers().into_iter().map(|number| {
            let path = trace.segments.path(number);
            fs::metadata(path).unwrap().len()
        });
        assert!(lens.sum::<u64>() <= BOUND);
    }

    /// Threads that end later still have events.
    #[test]
    fn what_has_ended_stays_as_it_is() {
        let trace = Trace::new("closed", Some(BOUND));
        trace.append(32);
        let closed = trace.segments.close();
        for _ in 0..6 {
            let late = trace.segments.append(&Header::default(), &[0; BLOCK], None);
            assert_eq!(late, Block::TooLate);
        }
        assert_eq!(trace.numbers(), (1..=16).collect::<Vec<_>>());
        assert_eq!(closed, Some(trace.segments.so_far()));
    }

    #[test]
    fn what_was_left_by_a_panic_ends_too() {
        let trace = Trace::new("poisoned", None);
        trace.append(1);
        let panics = || {
            let _state = trace.segments.state.lock().unwrap();
            panic!("within a write");
        };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert!(panicked.is_err() && trace.segments.state.is_poisoned());
        assert_eq!(trace.segments.close(), None);
        let late = trace.segments.append(&Header::default(), &[0; BLOCK], None);
        assert_eq!(late, Block::TooLate);
    }

    #[test]
    fn nothing_goes_without_a_bound() {
        let trace = Trace::new("unbounded", None);
        trace.append(40);
        assert_eq!(trace.numbers(), [1]);
        assert_eq!(trace.segments.span(), None);
    }

    /// Windows of some segments each: the rest of one goes whose beginning has gone.
    #[test]
    fn a_window_goes_whole_where_most_of_the_bound_stays_in_use() {
        let trace = Trace::new("windows", Some(BOUND));
        for _ in 0..4 {
            trace.segments.begin_window();
            trace.append(8);
        }
        assert_eq!(trace.segments.windows(), 4);
        assert_eq!(trace.numbers(), (1..=16).collect::<Vec<_>>());
        trace.segments.begin_window();
        trace.append(1);
        assert_eq!(trace.numbers(), (5..=17).collect::<Vec<_>>());
    }

    #[test]
    fn of_a_window_that_is_most_of_the_trace_the_rest_stays() {
        let trace = Trace::new("long", Some(BOUND));
        trace.segments.begin_window();
        trace.append(30);
        trace.segments.begin_window();
        trace.append(4);
        assert_eq!(trace.numbers(), (2..=17).collect::<Vec<_>>());
    }

    #[test]
    fn very_small_windows_share_a_segment() {
        let trace = Trace::new("small", Some(BOUND));
        for _ in 0..10 {
            trace.segments.begin_window();
            let header = Header::default();
            let stored = trace.segments.append(&header, &[0; 1024], None);
            assert_eq!(stored, Block::Stored);
        }
        assert_eq!(trace.numbers(), [1]);
    }

    /// Threads of the program wait for who says that a window begins.
    #[test]
    fn a_window_begins_while_files_are_written() {
        let trace = Trace::new("waits", Some(BOUND));
        trace.append(1);
        let writing = trace.segments.state.lock().unwrap();
        trace.segments.begin_window();
        trace.segments.begin_window();
        assert_eq!(trace.segments.windows(), 2);
        drop(writing);
        trace.append(1);
        // It is half full.
        assert_eq!(trace.numbers(), [1]);
        trace.segments.begin_window();
        trace.append(1);
        assert_eq!(trace.numbers(), [1, 2]);
    }

    #[test]
    fn what_could_not_be_written_is_not_sound() {
        let trace = Trace::new("missing", None);
        fs::remove_dir_all(&trace.directory).unwrap();
        assert!(trace.segments.so_far().is_sound);
        let lost = trace.segments.append(&Header::default(), &[0; 8], None);
        assert_eq!(lost, Block::Lost);
        assert!(!trace.segments.so_far().is_sound);
        fs::create_dir_all(&trace.directory).unwrap();
        trace.append(1);
        assert_eq!(trace.segments.so_far().last.1, 1);
    }

    /// A file without a header would be no part of a trace.
    #[test]
    fn a_disk_that_is_full_when_a_segment_begins_leaves_none_of_it() {
        let mut trace = Trace::new("full", None);
        trace.segments.create = |path| {
            create(path)?;
            OpenOptions::new().append(true).open("/dev/full")
        };
        for _ in 0..2 {
            let lost = trace.segments.append(&Header::default(), &[1; 8], None);
            assert_eq!(lost, Block::Lost);
        }
        assert_eq!(trace.segments.so_far().last, (0, 0));
        assert_eq!(fs::read_dir(&trace.directory).unwrap().count(), 0);
        trace.segments.create = create;
        trace.append(1);
        assert_eq!(trace.segments.so_far().last, (1, 1));
        let written = fs::read(trace.segments.path(1)).unwrap();
        assert_eq!(written.len(), segment_header().len() + BLOCK);
        assert!(written.starts_with(&segment_header()));
    }

    #[test]
    fn a_segment_that_somebody_has_deleted_costs_no_events() {
        let trace = Trace::new("deleted", Some(BOUND));
        trace.append(32);
        fs::remove_file(trace.segments.path(1)).unwrap();
        trace.append(2);
        assert_eq!(trace.numbers(), (2..=17).collect::<Vec<_>>());
        assert!(trace.segments.so_far().is_sound);
    }

    /// Their events are there; the trace is too large alone.
    #[test]
    fn a_segment_that_cannot_be_deleted_costs_no_events() {
        static COUNTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let mut trace = Trace::new("stays", Some(BOUND));
        trace.segments.complain = Box::new(|counter, _| {
            COUNTED.lock().unwrap().push(counter.to_owned());
        });
        trace.append(32);
        let oldest = trace.segments.path(1);
        fs::remove_file(&oldest).unwrap();
        fs::create_dir(&oldest).unwrap();
        trace.append(2);
        assert!(trace.segments.so_far().is_sound);
        assert_eq!(trace.segments.so_far().deleted, 0);
        assert_eq!(*COUNTED.lock().unwrap(), [TOO_LARGE; 2]);
        fs::remove_dir(&oldest).unwrap();
        trace.append(1);
        assert_eq!(trace.segments.so_far().deleted, 2);
        assert_eq!(trace.numbers(), (3..=18).collect::<Vec<_>>());
    }
}
