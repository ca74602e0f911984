//! Segments: files of packed blocks, of bounded size.
//!
//! If the oldest are deleted to keep to a bound, each begins with the calls that are active then,
//! so that the oldest one that is left can be understood.

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

/// The size in bytes after which another segment is begun.
const SEGMENT: u64 = 64 << 20;
/// The smallest such size, for the smallest bounds.
const SMALLEST: u64 = 64 << 10;
/// The least number of segments in a bound: this fraction of it is lost when the oldest one is
/// deleted.
const PARTS: u64 = 16;
/// The approximate number of bytes of a full chunk when it is packed.
const PACKED: u64 = 8 << 10;
/// The least number of chunks after which old texts are recorded again; the next constant is the
/// greatest. If it is done more often, the texts take too much of the trace; if less often, they
/// are missing for too long.
const LEAST_SPAN: u64 = 4;
const MOST_SPAN: u64 = 64;
/// The percentage of the bound that must stay in use when the rest of a window, whose beginning is
/// gone, is deleted.
const USED: u64 = 70;
/// The counter of blocks that could not be written.
const NOT_WRITTEN: &str = "trace_not_written";
/// The counter of failures to delete the oldest segment.
const TOO_LARGE: &str = "trace_segments_not_deleted";

/// Reports a failure: takes its counter, and the reason.
type Complain = dyn Fn(&str, &str) + Send + Sync;

/// Writes blocks to segments.
pub(crate) struct Segments {
    directory: PathBuf,
    /// The most bytes of all segments together; beyond that, the oldest are deleted.
    max_bytes: Option<u64>,
    /// Called for each failure.
    complain: Box<Complain>,
    /// The number of windows that have begun. It is not under the lock, which is held while files
    /// are written, because it is increased by a thread of the program for which others wait.
    windows: AtomicU64,
    /// Creates the file of a segment. Tests replace it to simulate full disks.
    create: fn(&Path) -> io::Result<File>,
    state: Mutex<State>,
}

fn create(path: &Path) -> io::Result<File> {
    // The file is opened for appending, so that cutting it off is enough to start again.
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
    /// Whether the current segment begins within a window; each of the old ones has its own flag.
    goes_on: bool,
    old: VecDeque<Old>,
    old_bytes: u64,
    /// The number of blocks in the current segment; the next field is that of the old ones.
    blocks: u64,
    old_blocks: u64,
    deleted: u64,
    /// The number of windows that the segments take into account.
    windows: u64,
    failed: bool,
    /// Whether the trace has ended, so that nothing more is written or deleted.
    closed: bool,
    /// The active calls of each thread; it is not used if no segment is deleted.
    recaps: Recaps,
    packer: Option<Packer>,
}

/// The content of a trace that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The number of the last segment, and the number of all blocks.
    pub(crate) last: (u32, u64),
    /// The number of segments that were deleted to keep to the bound.
    pub(crate) deleted: u64,
    /// Whether every block could be written.
    pub(crate) is_sound: bool,
}

/// The outcome for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    Stored,
    Lost,
    /// The trace has ended: the block is not part of it, and is not missing either.
    TooLate,
}

struct Old {
    path: PathBuf,
    len: u64,
    blocks: u64,
    goes_on: bool,
}

impl State {
    /// Ends the current segment. If `goes_on`, the next one begins within the same window.
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
            // The file has been removed already.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        self.old_bytes -= old.len;
        self.old_blocks -= old.blocks;
        self.deleted += 1;
        self.old.pop_front();
        Ok(true)
    }

    /// Deletes segments beyond the bound. One that cannot be deleted is tried again the next time.
    fn keep_to(&mut self, max: u64) -> io::Result<()> {
        let mut deleted = false;
        while self.old_bytes + self.len > max && self.delete_oldest()? {
            deleted = true;
        }
        // The rest of a window whose beginning is gone is deleted, too, unless it is most of what
        // there is.
        let rest = self.old.iter().take_while(|old| old.goes_on);
        let (rest, bytes) = rest.fold((0, 0), |(count, bytes), old| (count + 1, bytes + old.len));
        if deleted && self.old_bytes + self.len - bytes >= max / 100 * USED {
            for _ in 0..rest {
                self.delete_oldest()?;
            }
        }
        Ok(())
    }

    /// The beginning of a segment: its header, and recaps.
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

    /// Cuts off the rest of a block that could not be written.
    fn cut_off(&mut self) {
        if let Some(file) = &mut self.file {
            let _ = file.set_len(self.len);
        }
        self.failed = true;
    }
}

impl Segments {
    /// `complain` is called for each failure, with its counter and the reason.
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

    /// Ends the segments: their content stays as it is, even if appending is tried later. `None` if
    /// the content is not known.
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
            // A panic has cost its block, half of which may have been written.
            self.state.clear_poison();
            let mut state = poisoned.into_inner();
            state.cut_off();
            state
        })
    }

    /// The content so far.
    #[cfg(test)]
    pub(crate) fn so_far(&self) -> Closed {
        self.state.lock().unwrap().closed()
    }

    /// The beginning that a new segment would have.
    #[cfg(test)]
    pub(crate) fn head(&self) -> Vec<u8> {
        self.state().head(usize::MAX)
    }

    /// Whether the oldest segments are deleted, so that [`Self::append`] needs the changes of
    /// active calls.
    pub(crate) fn is_bounded(&self) -> bool {
        self.max_bytes.is_some()
    }

    /// Begins a window: what is recorded between two pauses. A window is kept or deleted as a
    /// whole, if that leaves most of the bound in use. This does not wait.
    pub(crate) fn begin_window(&self) {
        self.windows.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of windows.
    pub(crate) fn windows(&self) -> u64 {
        self.windows.load(Ordering::Acquire)
    }

    /// Takes windows into account that have begun since the last block: the latest begins with the
    /// next block, or with the one behind a block that is still to come.
    fn begin_windows(&self, state: &mut State) {
        let windows = self.windows();
        // Very many small windows do not get a file each.
        let ends = state.goes_on || state.len >= self.most() / 2;
        if state.windows != windows && (!ends || self.may_end(state)) {
            state.windows = windows;
            if ends {
                state.end(self.path(state.number), false);
            }
        }
    }

    /// Whether the current segment may end: a block that is packed earlier than the one before it
    /// of its stream stays in one segment with that one, so that no recap lies between them. The
    /// recap would not stand for the block that came early, which is gone once the segment is
    /// deleted. A block that never comes is not waited for without end.
    fn may_end(&self, state: &State) -> bool {
        !state.recaps.are_early() || state.len > 2 * self.most()
    }

    /// The size in bytes after which another segment is begun.
    fn most(&self) -> u64 {
        match self.max_bytes {
            // This keeps a window while the next one is being filled.
            Some(max) => (max / PARTS).clamp(SMALLEST, SEGMENT),
            None => SEGMENT,
        }
    }

    /// The number of well-packed chunks that make an eighth of a segment; `None` if no segment is
    /// deleted.
    pub(crate) fn span(&self) -> Option<u32> {
        self.max_bytes?;
        let chunks = self.most() / 8 / PACKED;
        Some(chunks.clamp(LEAST_SPAN, MOST_SPAN) as u32)
    }

    /// Records that there is no block with this sequence number, so that later ones do not wait for
    /// it.
    pub(crate) fn pass_over(&self, header: &Header, changes: Option<Changes>) {
        if self.is_bounded() {
            self.state().recaps.add(header, changes);
        }
    }

    /// Appends a block. The rest of one that could not be appended is cut off. `changes` are those
    /// that its events make to the active calls. Nothing is written to a trace that has ended.
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
                // The block is stored all the same.
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
                    let ended = changes.filter(Changes::are_last);
                    state.recaps.add(header, ended);
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
        let is_full = state.len + block.len() as u64 > self.most();
        if state.file.is_some() && is_full && self.may_end(state) {
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

    /// Begins a segment. If not even its header can be written, the file is removed: without a
    /// header it could not be read.
    fn begin(&self, state: &mut State) -> io::Result<()> {
        let head = state.head((self.most() / 4) as usize);
        let number = state.number + 1;
        let path = self.path(number);
        let mut file = (self.create)(&path)?;
        if let Err(error) = file.write_all(&head) {
            if fs::remove_file(path).is_err() {
                // The next segment needs another name.
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
mod tests;
