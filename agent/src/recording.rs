//! The directory of one run: crash files and `run.json`.
//!
//! **Invariant:** a crash file gets its final name only when it is complete and on disk; until then
//! it is called `crash-NNNN.hsc.part`.
//!
//! **Invariant:** only the owner may read a crash file: it holds what the program had in memory.
//!
//! **Invariant:** two JVMs that share a directory never write to the same file: numbers are claimed
//! by creating the part file exclusively, and so is the name of `run.json`. That file has the id of
//! its run, and its writer holds a lock on it: a process's number says nothing if two containers
//! share a directory.

use serde_json::Value;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

/// The most numbers that are tried in a directory.
const MAX_NUMBER: u32 = 999_999;

pub(crate) struct Recording {
    directory: PathBuf,
    next: AtomicU32,
    /// The id of this run in its `run.json` and its trace.
    id: String,
    run_json: Mutex<Option<RunJson>>,
}

/// This run's `run.json`, once it has been chosen.
struct RunJson {
    path: PathBuf,
    /// The file there now. It is locked while it is open, which shows that this run is not over.
    _file: File,
}

/// The member of `run.json` that distinguishes runs.
const ID: &str = "run";

impl Recording {
    pub(crate) fn new(directory: PathBuf) -> Recording {
        Recording {
            directory,
            next: AtomicU32::new(1),
            id: new_id(),
            run_json: Mutex::new(None),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The id, which no other run has, in any container.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Creates the directory if it is missing.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        fs::create_dir_all(&self.directory).map_err(|error| self.explain("cannot make", &error))
    }

    fn explain(&self, what: &str, error: &io::Error) -> String {
        format!("{what} {}: {error}", self.directory.display())
    }

    /// Writes a crash file of these blocks and returns its name.
    ///
    /// On a full disk it leaves no file and returns the error.
    pub(crate) fn write_crash(
        &self,
        blocks: impl Iterator<Item = Vec<u8>>,
    ) -> Result<String, String> {
        self.prepare()?;
        let (name, part, mut file) = self.claim()?;
        let explain = |error: &io::Error| format!("cannot write {}: {error}", part.display());
        let write = || -> io::Result<()> {
            for block in blocks {
                file.write_all(&block)?;
            }
            file.sync_all()?;
            fs::rename(&part, self.directory.join(&name))
        };
        if let Err(error) = write() {
            // A remnant would only take up the space that is missing.
            let _ = fs::remove_file(&part);
            return Err(explain(&error));
        }
        if let Ok(directory) = File::open(&self.directory) {
            // This makes the name survive a power failure as well; not all file systems support it.
            let _ = directory.sync_all();
        }
        Ok(name)
    }

    fn claim(&self) -> Result<(String, PathBuf, File), String> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number > MAX_NUMBER {
                return Err(format!(
                    "{} is full of crash files",
                    self.directory.display()
                ));
            }
            let name = format!("crash-{number:04}.hsc");
            if self.directory.join(&name).exists() {
                continue;
            }
            let part = self.directory.join(format!("{name}.part"));
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&part)
            {
                Ok(file) => {
                    // Another JVM may have finished this number in between.
                    if self.directory.join(&name).exists() {
                        let _ = fs::remove_file(&part);
                        continue;
                    }
                    return Ok((name, part, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("cannot write {}: {error}", part.display())),
            }
        }
    }

    /// Replaces `run.json` as a whole.
    pub(crate) fn write_run(&self, run: &Value) -> Result<(), String> {
        let Ok(mut chosen) = self.run_json.lock() else {
            return Ok(());
        };
        let (path, claimed) = self.path_of_run(chosen.as_ref());
        let part = path.with_extension(format!("json.{}.part", self.id));
        let write = || -> io::Result<File> {
            let mut run = run.clone();
            run[ID] = Value::from(self.id.as_str());
            let mut text = serde_json::to_string_pretty(&run)?;
            text.push('\n');
            let mut file = File::create(&part)?;
            // It is locked before it has its name. Not all file systems support that.
            let _ = file.try_lock();
            file.write_all(text.as_bytes())?;
            fs::rename(&part, &path)?;
            Ok(file)
        };
        let file = write().map_err(|error| {
            let _ = fs::remove_file(&part);
            if claimed.is_some() {
                // An empty file is of no use.
                let _ = fs::remove_file(&path);
            }
            format!("cannot write {}: {error}", path.display())
        })?;
        *chosen = Some(RunJson { path, _file: file });
        Ok(())
    }

    /// The path to write to: the previous one, as long as no other JVM that took this one for dead
    /// has moved the file away or replaced it. With it comes the file, if it was just created.
    fn path_of_run(&self, chosen: Option<&RunJson>) -> (PathBuf, Option<File>) {
        match chosen {
            None => self.choose_run_json(),
            Some(RunJson { path, .. }) if !path.exists() || self.is_ours(path) => {
                (path.clone(), None)
            }
            Some(_) => self.free_name(std::process::id().into()),
        }
    }

    /// `run.json`, unless another running JVM is writing it. That of an earlier run is kept, as
    /// `run-PID.json` with its process's number.
    fn choose_run_json(&self) -> (PathBuf, Option<File>) {
        let usual = self.directory.join("run.json");
        if let Some(file) = make(&usual) {
            return (usual, Some(file));
        }
        let own = u64::from(std::process::id());
        let pid = read(&usual).and_then(|run| run.get("pid")?.as_u64());
        let runs = |pid| pid != own && Path::new(&format!("/proc/{pid}")).exists();
        if is_locked(&usual) || pid.is_some_and(runs) {
            return self.free_name(own);
        }
        // If it cannot be moved it is replaced, because this run's counters are worth more.
        if pid.is_none_or(|pid| fs::rename(&usual, self.free_name(pid).0).is_err()) {
            return (usual, None);
        }
        match make(&usual) {
            Some(file) => (usual, Some(file)),
            // Another JVM was quicker.
            None => self.free_name(own),
        }
    }

    /// `run-PID.json`, or `run-PID-2.json` and so on: in containers, most processes have the same
    /// number. It is created, unless it is this run's already.
    fn free_name(&self, pid: u64) -> (PathBuf, Option<File>) {
        let usual = self.directory.join(format!("run-{pid}.json"));
        let names = (2..MAX_NUMBER).map(|number| format!("run-{pid}-{number}.json"));
        let mut paths =
            std::iter::once(usual.clone()).chain(names.map(|name| self.directory.join(name)));
        let free = paths.find_map(|path| match make(&path) {
            None if !self.is_ours(&path) => None,
            file => Some((path, file)),
        });
        free.unwrap_or((usual, None))
    }

    fn is_ours(&self, run: &Path) -> bool {
        read(run).is_some_and(|run| run.get(ID).is_some_and(|id| *id == *self.id))
    }
}

/// Creates an empty file and locks it; `None` if something is in the way.
fn make(path: &Path) -> Option<File> {
    let file = File::create_new(path).ok()?;
    let _ = file.try_lock();
    Some(file)
}

/// Whether the JVM that writes this is still running, as far as locks tell.
fn is_locked(run: &Path) -> bool {
    // The lock is shared, so that two that look at once do not take each other for the owner.
    File::open(run)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn read(run: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(run).ok()?).ok()
}

/// A new id of a run, which no other has, in any container.
fn new_id() -> String {
    let mut random = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
    if read.is_err() {
        let since = UNIX_EPOCH.elapsed().unwrap_or_default();
        let pid = u128::from(std::process::id());
        random = (since.as_nanos() << 32 | pid).to_ne_bytes();
    }
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The contents of a directory's `run*.json`, by name.
    fn runs(directory: &Path) -> Vec<(String, Value)> {
        let files = fs::read_dir(directory).unwrap().flatten();
        let mut runs: Vec<_> = files
            .map(|file| file.file_name().into_string().unwrap())
            .map(|name| {
                (
                    name.clone(),
                    read(&directory.join(name)).unwrap()["of"].clone(),
                )
            })
            .collect();
        runs.sort_by(|(a, _), (b, _)| a.cmp(b));
        runs
    }

    /// Processes of two containers may have the same number, or one that is unknown to the other.
    #[test]
    fn runs_that_share_a_directory_keep_to_their_own_files() {
        let pid = std::process::id();
        let directory = std::env::temp_dir().join(format!("hindsight-runs-{pid}"));
        let _ = fs::remove_dir_all(&directory);
        let open = || {
            let recording = Recording::new(directory.clone());
            recording.prepare().unwrap();
            recording
        };
        let write = |recording: &Recording, of: &str, pid: u32| {
            recording
                .write_run(&json!({ "of": of, "pid": pid }))
                .unwrap();
        };
        for pid in [pid, u32::MAX] {
            let (first, second) = (open(), open());
            write(&first, "a", pid);
            write(&second, "b", pid);
            write(&first, "A", pid);
            write(&second, "B", pid);
            let own = format!("run-{}.json", std::process::id());
            let expected = [(own, json!("B")), ("run.json".to_owned(), json!("A"))];
            assert_eq!(runs(&directory), expected, "{pid}");

            // If locks tell nothing, the second run takes the first for one that is over.
            fs::remove_dir_all(&directory).unwrap();
            let (first, second) = (open(), open());
            write(&first, "a", pid);
            let moved = directory.join(format!("run-{pid}.json"));
            fs::rename(directory.join("run.json"), moved).unwrap();
            write(&second, "b", pid);
            write(&first, "A", pid);
            write(&second, "B", pid);
            let found = runs(&directory);
            assert!(
                found.contains(&("run.json".to_owned(), json!("B"))),
                "{found:?}"
            );
            assert!(found.iter().any(|(_, of)| *of == json!("A")), "{found:?}");
            fs::remove_dir_all(&directory).unwrap();
        }
    }

    #[test]
    fn a_crash_that_does_not_get_its_name_leaves_nothing() {
        let pid = std::process::id();
        let directory = std::env::temp_dir().join(format!("hindsight-unnamed-{pid}"));
        let _ = fs::remove_dir_all(&directory);
        let recording = Recording::new(directory.clone());
        let name = directory.join("crash-0001.hsc");
        // The name is taken by the time the file is complete.
        let blocks = std::iter::once_with(|| {
            fs::create_dir(&name).unwrap();
            b"block".to_vec()
        });
        let error = recording.write_crash(blocks).unwrap_err();
        assert!(error.starts_with("cannot write"), "{error}");
        let left = fs::read_dir(&directory).unwrap().flatten();
        let left: Vec<_> = left.map(|file| file.path()).collect();
        assert_eq!(left, [name]);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_file_of_a_run_that_is_over_stays_under_another_name() {
        let pid = std::process::id();
        let directory = std::env::temp_dir().join(format!("hindsight-earlier-{pid}"));
        let _ = fs::remove_dir_all(&directory);
        for of in ["a", "b", "c"] {
            let recording = Recording::new(directory.clone());
            recording.prepare().unwrap();
            recording
                .write_run(&json!({ "of": of, "pid": 4_194_305 }))
                .unwrap();
        }
        let expected = [
            ("run-4194305-2.json", "b"),
            ("run-4194305.json", "a"),
            ("run.json", "c"),
        ];
        let expected = expected.map(|(name, of)| (name.to_owned(), json!(of)));
        assert_eq!(runs(&directory), expected);
        fs::remove_dir_all(&directory).unwrap();
    }
}
