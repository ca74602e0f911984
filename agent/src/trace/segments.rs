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
use std::path::PathBuf;
use std::sync::Mutex;

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

/// Writes blocks.
pub(crate) struct Segments {
    directory: PathBuf,
    /// Bytes of all segments together; the oldest are deleted beyond.
    max_bytes: Option<u64>,
    /// Told why a block could not be written.
    complain: Box<dyn Fn(&str) + Send + Sync>,
    state: Mutex<State>,
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
    windows: u64,
    failed: bool,
    /// What is going on in each thread; nothing is put in if nothing is deleted.
    recaps: Recaps,
    packer: Option<Packer>,
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
        let Some(old) = self.old.pop_front() else {
            return Ok(false);
        };
        self.old_bytes -= old.len;
        self.old_blocks -= old.blocks;
        self.deleted += 1;
        fs::remove_file(old.path)?;
        Ok(true)
    }

    /// Deletes what is too much.
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

impl Segments {
    /// `complain` is told why a block could not be written.
    pub(crate) fn new(
        directory: PathBuf,
        max_bytes: Option<u64>,
        complain: impl Fn(&str) + Send + Sync + 'static,
    ) -> Segments {
        Segments {
            directory,
            max_bytes,
            complain: Box::new(complain),
            state: Mutex::default(),
        }
    }

    /// Segments that were deleted to keep to the bound.
    pub(crate) fn deleted(&self) -> u64 {
        self.state.lock().map_or(0, |state| state.deleted)
    }

    /// The number of the last segment, and how many blocks there are.
    pub(crate) fn last(&self) -> Option<(u32, u64)> {
        let state = self.state.lock().ok()?;
        Some((state.number, state.old_blocks + state.blocks))
    }

    /// Whether the oldest are deleted, so that [`Self::append`] wants to know what is going on.
    pub(crate) fn is_bounded(&self) -> bool {
        self.max_bytes.is_some()
    }

    /// A window begins: what the recording has between two pauses. It is kept whole,
    /// or goes whole, if that leaves most of the bound in use.
    pub(crate) fn begin_window(&self) {
        if let Ok(mut state) = self.state.lock() {
            state.windows += 1;
            // Not a file for each of very many small ones.
            if state.goes_on || state.len >= self.most() / 2 {
                let path = self.path(state.number);
                state.end(path, false);
            }
        }
    }

    /// How many windows there were.
    pub(crate) fn windows(&self) -> u64 {
        self.state.lock().map_or(0, |state| state.windows)
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

    /// Whether every block could be written.
    pub(crate) fn is_sound(&self) -> bool {
        self.state.lock().is_ok_and(|state| !state.failed)
    }

    /// Appends a block; whether that could be done. What is left of one that could
    /// not is cut off. `changes` are those that its events make.
    pub(crate) fn append(&self, header: &Header, block: &[u8], changes: Option<Changes>) -> bool {
        let Ok(mut state) = self.state.lock() else {
            return false;
        };
        match self.try_append(&mut state, block) {
            Ok(()) => {
                if self.is_bounded() {
                    state.recaps.add(header, changes);
                }
                true
            }
            Err(error) => {
                if self.is_bounded() {
                    state.recaps.add(header, None);
                }
                let len = state.len;
                if let Some(file) = &mut state.file {
                    let _ = file.set_len(len);
                }
                state.failed = true;
                drop(state);
                let what = format!(
                    "cannot write the trace in {}: {error}; events are lost",
                    self.directory.display()
                );
                (self.complain)(&what);
                false
            }
        }
    }

    fn try_append(&self, state: &mut State, block: &[u8]) -> io::Result<()> {
        if state.file.is_some() && state.len + block.len() as u64 > self.most() {
            let goes_on = state.windows > 0;
            state.end(self.path(state.number), goes_on);
        }
        if state.file.is_none() {
            let head = state.head((self.most() / 4) as usize);
            state.number += 1;
            state.len = 0;
            let file = state.file.insert(
                // Appending, so that cutting off is enough to start again.
                OpenOptions::new()
                    .append(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(self.path(state.number))?,
            );
            file.write_all(&head)?;
            state.len = head.len() as u64;
        }
        if let Some(file) = &mut state.file {
            file.write_all(block)?;
        }
        state.len += block.len() as u64;
        state.blocks += 1;
        match self.max_bytes {
            Some(max) => state.keep_to(max),
            None => Ok(()),
        }
    }

    fn path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("segment-{number:06}.hst"))
    }
}
