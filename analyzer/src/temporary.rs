//! Temporary files and child processes, which end with this process, even if a signal ends it.

use crate::signals;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;
use std::{fs, thread};
use tempfile::TempDir;

/// The existing ones.
static ALL: Mutex<Vec<Thing>> = Mutex::new(Vec::new());

#[derive(Debug, Clone, PartialEq)]
enum Thing {
    Path(PathBuf),
    Group(Pid),
}

/// How often the removal of a directory is tried, into which an ending child may still write.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Why there is no place for temporary files.
#[derive(Debug, thiserror::Error)]
#[error(
    "failed to make a directory in {} for temporary files; TMPDIR names another place",
    place.display()
)]
pub struct Error {
    place: PathBuf,
    source: io::Error,
}

/// Creates a directory.
///
/// # Errors
///
/// Fails if it cannot be created.
pub fn directory() -> Result<Directory, Error> {
    let made = tempfile::tempdir().map_err(|source| Error {
        place: std::env::temp_dir(),
        source,
    })?;
    let doomed = Doomed::new(made.path());
    Ok(Directory {
        made,
        _doomed: doomed,
    })
}

/// A directory that is removed with all that is in it.
#[derive(Debug)]
pub struct Directory {
    made: TempDir,
    _doomed: Doomed,
}

impl Directory {
    /// The path.
    pub fn path(&self) -> &Path {
        self.made.path()
    }
}

/// A file or directory that `SIGINT`, `SIGTERM` and `SIGHUP` remove, or a group of processes that
/// they kill, before they end the process, as long as this lives. At the normal end its owner
/// removes it.
#[derive(Debug)]
pub struct Doomed(Thing);

impl Doomed {
    /// For something that exists already.
    pub fn new(path: &Path) -> Doomed {
        Doomed::of(Thing::Path(path.to_owned()))
    }

    /// For the group of a process that runs already.
    pub fn group(group: Pid) -> Doomed {
        Doomed::of(Thing::Group(group))
    }

    fn of(thing: Thing) -> Doomed {
        static HANDLED: Once = Once::new();
        HANDLED.call_once(|| {
            // Without this, things are left behind, and all else works.
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            let ours = [SIGINT, SIGTERM, SIGHUP].into_iter();
            // A signal that our parent has set to be ignored (`nohup`) stays ignored.
            let ours = ours.filter(|signal| !is_ignored(*signal, &status));
            if let Ok(signals) = Signals::new(ours) {
                thread::spawn(move || wait(signals));
            }
        });
        all().push(thing.clone());
        Doomed(thing)
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        let mut all = all();
        if let Some(at) = all.iter().position(|thing| *thing == self.0) {
            all.swap_remove(at);
        }
    }
}

fn all() -> MutexGuard<'static, Vec<Thing>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a process ignores a signal, by its `/proc/PID/status`.
fn is_ignored(signal: i32, status: &str) -> bool {
    signals::has(status, "SigIgn", signal).unwrap_or(false)
}

/// Removes everything at the first signal, and ends as the signal would have.
fn wait(mut signals: Signals) {
    for signal in signals.forever() {
        // Nothing is added or kept from now on.
        let all = all();
        for thing in all.iter() {
            if let Thing::Group(group) = thing {
                let _ = kill_process_group(*group, Signal::KILL);
            }
        }
        let is_left = |thing: &&Thing| matches!(thing, Thing::Path(path) if !is_gone(path));
        for _ in 0..TRIES {
            if all.iter().filter(is_left).count() == 0 {
                break;
            }
            thread::sleep(PAUSE);
        }
        let _ = emulate_default_handler(signal);
    }
}

/// Removes it. Returns whether it is removed now.
fn is_gone(path: &Path) -> bool {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(ignored).is_ok()
}

fn ignored(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_stays_so() {
        let status = "Name:\tx\nSigIgn:\t0000000000000003\n";
        assert!(is_ignored(SIGHUP, status) && is_ignored(SIGINT, status));
        assert!(!is_ignored(SIGTERM, status) && !is_ignored(SIGHUP, ""));
    }
}
