//! What the numbers in events mean, on disk before any event has them.

use hindsight_tracelog::trace::dictionary::{Record, file_header, pack};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

/// The file `dictionary.hsd`.
pub(crate) struct Dictionary(Mutex<State>);

struct State {
    file: File,
    len: u64,
    lost: u64,
}

impl Dictionary {
    pub(crate) fn create(directory: &Path) -> io::Result<Dictionary> {
        let mut file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(directory.join("dictionary.hsd"))?;
        file.write_all(&file_header())?;
        Ok(Dictionary(Mutex::new(State {
            file,
            len: file_header().len() as u64,
            lost: 0,
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

    /// Records that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.0.lock().map_or(0, |state| state.lost)
    }
}
