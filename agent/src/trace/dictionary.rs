//! The meanings of the numbers in events, on disk before any event has them, as long as there is
//! room.

use hindsight_tracelog::trace::dictionary::{Record, file_header, pack};
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file `dictionary.hsd`.
pub(crate) struct Dictionary(Mutex<State>);

/// A file that reserves room, so that a full disk has some for the last record.
const RESERVE: &str = "end.reserve";
const RESERVED: usize = 64 << 10;

/// The most bytes of records that wait for a full disk to have room again.
const MOST_WAITING: usize = 16 << 20;

struct State {
    file: File,
    len: u64,
    /// The records that could not be written yet; the next field is the number of their bytes.
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// The number of records that will not be written.
    lost: u64,
    reserve: PathBuf,
    /// Whether the last record has been written.
    ended: bool,
}

impl State {
    /// Writes waiting records as far as possible, and at most `most` bytes.
    fn write_waiting(&mut self, most: usize) {
        let mut left = most;
        while let Some(record) = self.waiting.front() {
            let len = record.len();
            if len > left {
                // Smaller records behind it may find room.
                self.lost += 1;
                self.waiting_bytes -= len;
                self.waiting.pop_front();
                continue;
            }
            if self.file.write_all(record).is_err() {
                // A partial record is cut off, so that the records after it can be found.
                let _ = self.file.set_len(self.len);
                return;
            }
            left -= len;
            self.len += len as u64;
            self.waiting_bytes -= len;
            self.waiting.pop_front();
        }
    }

    fn add(&mut self, record: &Record) {
        // There may be room again, both on the disk and for this record to wait.
        self.write_waiting(usize::MAX);
        match pack(record) {
            Ok(record) if self.waiting_bytes + record.len() <= MOST_WAITING => {
                self.waiting_bytes += record.len();
                self.waiting.push_back(record);
            }
            _ => self.lost += 1,
        }
        self.write_waiting(usize::MAX);
    }
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
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            lost: 0,
            reserve,
            ended: false,
        })))
    }

    /// Writes a record. One that cannot be written waits until there is room; if too much waits, it
    /// is dropped and counted. Nothing is written after the last record.
    pub(crate) fn add(&self, record: &Record) {
        if let Ok(mut state) = self.0.lock()
            && !state.ended
        {
            state.add(record);
        }
    }

    /// Writes the last record, which `last` makes of the number of records that could not be
    /// written. Returns that number.
    pub(crate) fn end(&self, last: impl FnOnce(u64) -> Record) -> u64 {
        let Ok(mut state) = self.0.lock() else {
            return 0;
        };
        state.write_waiting(usize::MAX);
        let _ = fs::remove_file(&state.reserve);
        // The rest of the reserve is for the last record.
        state.write_waiting(RESERVED / 2);
        let lost = state.lost + state.waiting.len() as u64;
        state.waiting.clear();
        state.waiting_bytes = 0;
        state.add(&last(lost));
        state.ended = true;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::trace::dictionary::{self, ObjectClass, Stop};

    /// A dictionary in a directory of its own, which is removed with it.
    struct Written {
        directory: PathBuf,
        dictionary: Dictionary,
    }

    impl Written {
        fn new(name: &str) -> Written {
            let name = format!("hindsight-dictionary-{name}-{}", std::process::id());
            let directory = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&directory);
            fs::create_dir_all(&directory).unwrap();
            let dictionary = Dictionary::create(&directory).unwrap();
            Written {
                directory,
                dictionary,
            }
        }

        /// Replaces the file that is written; returns the previous one.
        fn replace(&self, file: File) -> File {
            std::mem::replace(&mut self.dictionary.0.lock().unwrap().file, file)
        }

        fn add(&self, id: u32, name: &str) {
            let name = name.to_owned();
            let class = Record::Class(ObjectClass {
                id,
                name,
                code: None,
            });
            self.dictionary.add(&class);
        }

        /// Ends the dictionary; returns the ids of its classes, and how many names were lost
        /// according to the last record.
        fn end(self) -> (Vec<u32>, u64) {
            self.dictionary.end(|names_lost| {
                Record::Stop(Stop {
                    names_lost,
                    ..Stop::default()
                })
            });
            let bytes = fs::read(self.directory.join("dictionary.hsd")).unwrap();
            let (read, damage) = dictionary::Dictionary::read(&bytes).unwrap();
            assert_eq!(damage, None);
            let mut classes: Vec<u32> = read.classes().map(|(id, _)| id).collect();
            classes.sort_unstable();
            (classes, read.stop.unwrap().names_lost)
        }
    }

    impl Drop for Written {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }

    fn full() -> File {
        OpenOptions::new().append(true).open("/dev/full").unwrap()
    }

    #[test]
    fn classes_that_are_loaded_while_the_disk_is_full_get_their_names_later() {
        let written = Written::new("later");
        written.add(1, "First");
        let file = written.replace(full());
        written.add(2, "Second");
        written.add(3, "Third");
        written.replace(file);
        written.add(4, "Fourth");
        assert_eq!(written.end(), (vec![1, 2, 3, 4], 0));

        let written = Written::new("end");
        let file = written.replace(full());
        written.add(1, "First");
        written.replace(file);
        assert_eq!(written.end(), (vec![1], 0));
    }

    /// Threads of the program still load classes after the recording has ended.
    #[test]
    fn nothing_is_written_behind_the_last_record() {
        let written = Written::new("ended");
        written.add(1, "First");
        written.dictionary.end(|_| Record::Stop(Stop::default()));
        let file = written.directory.join("dictionary.hsd");
        let len = fs::metadata(&file).unwrap().len();
        written.add(2, "Second");
        assert_eq!(fs::metadata(&file).unwrap().len(), len);
    }

    #[test]
    fn what_there_is_no_memory_for_is_counted() {
        let written = Written::new("many");
        let file = written.replace(full());
        written.dictionary.0.lock().unwrap().waiting_bytes = MOST_WAITING;
        written.add(1, "First");
        written.dictionary.0.lock().unwrap().waiting_bytes = 0;
        written.add(2, "Second");
        written.replace(file);
        assert_eq!(written.end(), (vec![2], 1));
    }
}
