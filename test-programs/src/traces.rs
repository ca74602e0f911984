//! The trace of a run, read as tests want it.

use crate::{Workplace, both, hindsight, text};
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::{Event, Live, Log};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The trace of a run, in memory.
///
/// # Panics
///
/// Panics if there is none, or if its files are damaged.
pub fn open(workplace: &Workplace) -> Log<Vec<u8>> {
    let directory = workplace.join("out/trace");
    let dictionary = fs::read(directory.join("dictionary.hsd")).expect("a dictionary");
    let (dictionary, damage) = Dictionary::read(&dictionary).expect("a sound dictionary");
    assert_eq!(damage, None);
    let files = |extension: &str| {
        let mut paths: Vec<PathBuf> = fs::read_dir(&directory)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .collect();
        paths.sort();
        paths
            .iter()
            .map(|path| fs::read(path).expect("a file"))
            .collect::<Vec<_>>()
    };
    let log = Log::open(dictionary, files("hst"), Live::read(files("hsl")));
    log.map_err(|(_, error)| error).expect("a sound log")
}

/// The lines of `hindsight events`, which has nothing to complain of.
///
/// # Panics
///
/// Panics with what it tells if it has.
#[track_caller]
pub fn lines(workplace: &Workplace) -> Vec<String> {
    let told = Command::new(hindsight())
        .arg("events")
        .arg(workplace.join("out"))
        .output()
        .expect("hindsight runs");
    assert!(told.status.success(), "{}", both(&told));
    assert!(told.stderr.is_empty(), "{}", both(&told));
    text(&told.stdout).lines().map(str::to_owned).collect()
}

/// Calls `each` for all events, of which none may be unreadable.
///
/// # Panics
///
/// Panics if one is.
pub fn for_each(log: &Log<Vec<u8>>, mut each: impl FnMut(&Event)) {
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let mut events = log.events(&all);
    while let Some(event) = events.next_event() {
        each(event.expect("a sound event"));
    }
}
