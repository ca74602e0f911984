//! What the numbers in events mean, on disk before any event has them.

use hindsight_tracelog::trace::dictionary::{Record, file_header, pack};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file `dictionary.hsd`.
pub(crate) struct Dictionary(Mutex<State>);

/// A file that is there for its room: a full disk is to have some for the last record.
const RESERVE: &str = "end.reserve";
const RESERVED: usize = 64 << 10;

struct State {
    file: File,
    len: u64,
    lost: u64,
    reserve: PathBuf,
}

impl Dictionary {
    pub(crate) fn create(directory: &Path) -> io::Result<Dictionary> {
        let mut file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(directory.join("dictionary.hsd"))?;
        file.write_all(&file_header())?;
        let reserve = directory.join(RESERVE);
        let mut reserved = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&reserve)?;
        reserved.write_all(&[0; RESERVED])?;
        Ok(Dictionary(Mutex::new(State {
            file,
            len: file_header().len() as u64,
            lost: 0,
            reserve,
        })))
    }

    /// Writes a record; one that cannot be written is counted.
    pub(crate) fn add(&self, record: &Record) {
        let packed = pack(record);
        let Ok(mut state) = self.0.lock() else { return };
        let written = packed.and_then(|bytes| {
            state.file.write_all(&bytes)?;
            Ok(bytes.len() as u64)
        });
        match written {
            Ok(len) => state.len += len,
            Err(_) => {
                // The records after it are to be found.
                let len = state.len;
                let _ = state.file.set_len(len);
                state.lost += 1;
            }
        }
    }

    /// Writes the last record.
    pub(crate) fn end(&self, record: &Record) {
        if let Ok(state) = self.0.lock() {
            let _ = fs::remove_file(&state.reserve);
        }
        self.add(record);
    }

    /// Records that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.0.lock().map_or(0, |state| state.lost)
    }
}
