//! Segments: files of packed blocks, of bounded size.

use crate::agent::Base;
use hindsight_tracelog::trace::block::segment_header;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;

/// Bytes after which another segment is begun.
const SEGMENT: u64 = 64 << 20;

/// Writes blocks.
pub(crate) struct Segments {
    base: &'static Base,
    directory: PathBuf,
    /// Bytes of all segments together; the oldest are deleted beyond.
    max_bytes: Option<u64>,
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
}

impl Segments {
    pub(crate) fn new(base: &'static Base, directory: PathBuf, max_bytes: Option<u64>) -> Segments {
        Segments {
            base,
            directory,
            max_bytes,
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

    /// A window begins: what the recording has between two pauses. It is kept whole,
    /// or goes whole, if it is not by itself larger than the bound.
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
            Some(max) => SEGMENT.min((max / 4).max(1 << 20)),
            None => SEGMENT,
        }
    }

    /// Whether every block could be written.
    pub(crate) fn is_sound(&self) -> bool {
        self.state.lock().is_ok_and(|state| !state.failed)
    }

    /// Appends a block; whether that could be done. What is left of one that could
    /// not is cut off.
    pub(crate) fn append(&self, block: &[u8]) -> bool {
        let Ok(mut state) = self.state.lock() else {
            return false;
        };
        match self.try_append(&mut state, block) {
            Ok(()) => true,
            Err(error) => {
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
                self.base.complain("trace_not_written", &what);
                false
            }
        }
    }

    fn try_append(&self, state: &mut State, block: &[u8]) -> io::Result<()> {
        if state.file.is_some() && state.len + block.len() as u64 > self.most() {
            let goes_on = state.windows > 0;
            state.end(self.path(state.number), goes_on);
        }
        let file = match &mut state.file {
            Some(file) => file,
            none => {
                state.number += 1;
                state.len = 0;
                let file = none.insert(
                    // Appending, so that cutting off is enough to start again.
                    OpenOptions::new()
                        .append(true)
                        .create_new(true)
                        .mode(0o600)
                        .open(self.path(state.number))?,
                );
                file.write_all(&segment_header())?;
                state.len = segment_header().len() as u64;
                file
            }
        };
        file.write_all(block)?;
        state.len += block.len() as u64;
        state.blocks += 1;
        if let Some(max) = self.max_bytes {
            let mut deleted = false;
            while state.old_bytes + state.len > max && state.delete_oldest()? {
                deleted = true;
            }
            // The rest of a window whose beginning is gone.
            while deleted && state.old.front().is_some_and(|old| old.goes_on) {
                state.delete_oldest()?;
            }
        }
        Ok(())
    }

    fn path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("segment-{number:06}.hst"))
    }
}
