//! The directory of one run: crash files and `run.json`.
//!
//! **Invariant:** a crash file gets its final name only when it is whole and
//! on disk; until then it is called `crash-NNNN.hsc.part`.
//!
//! **Invariant:** only the owner may read a crash file: it holds what the
//! program had in memory.
//!
//! **Invariant:** two JVMs that share a directory never write to one file:
//! numbers are claimed by creating the part file exclusively.

use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers tried before giving up on a directory.
const MAX_NUMBER: u32 = 999_999;

pub(crate) struct Recording {
    directory: PathBuf,
    next: AtomicU32,
    /// Path of our `run.json`, once it has been chosen.
    run_json: Mutex<Option<PathBuf>>,
}

impl Recording {
    pub(crate) fn new(directory: PathBuf) -> Recording {
        Recording {
            directory,
            next: AtomicU32::new(1),
            run_json: Mutex::new(None),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory if it is missing.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        fs::create_dir_all(&self.directory).map_err(|error| self.explain("cannot make", &error))
    }

    fn explain(&self, what: &str, error: &io::Error) -> String {
        format!("{what} {}: {error}", self.directory.display())
    }

    /// Writes a crash file of these blocks; its name.
    ///
    /// A full disk leaves no file, and says so.
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
            file.sync_all()
        };
        if let Err(error) = write() {
            // A remnant would only take the space that is missing.
            let _ = fs::remove_file(&part);
            return Err(explain(&error));
        }
        fs::rename(&part, self.directory.join(&name)).map_err(|error| explain(&error))?;
        if let Ok(directory) = File::open(&self.directory) {
            // So that the name survives a power cut too; not all file systems can.
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
        let path = chosen.get_or_insert_with(|| self.choose_run_json()).clone();
        let part = path.with_extension(format!("json.{}.part", std::process::id()));
        let write = || -> io::Result<()> {
            let mut text = serde_json::to_string_pretty(run)?;
            text.push('\n');
            fs::write(&part, text)?;
            fs::rename(&part, &path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&part);
            format!("cannot write {}: {error}", path.display())
        })
    }

    /// `run.json`, unless another JVM that still runs is writing it. That of an earlier
    /// run stays, as `run-PID.json` with its process's number.
    fn choose_run_json(&self) -> PathBuf {
        let usual = self.directory.join("run.json");
        let Some(pid) = pid_of(&usual) else {
            return usual;
        };
        if pid != u64::from(std::process::id()) && Path::new(&format!("/proc/{pid}")).exists() {
            return self.free_name(u64::from(std::process::id()));
        }
        // If it cannot be moved it is replaced: this run's counters are worth more.
        let _ = fs::rename(&usual, self.free_name(pid));
        usual
    }

    /// `run-PID.json`, or `run-PID-2.json` and so on: in a container, most have one number.
    fn free_name(&self, pid: u64) -> PathBuf {
        let names = (2..MAX_NUMBER).map(|number| format!("run-{pid}-{number}.json"));
        let mut paths = std::iter::once(format!("run-{pid}.json"))
            .chain(names)
            .map(|name| self.directory.join(name));
        let free = paths.find(|path| !path.exists());
        free.unwrap_or_else(|| self.directory.join(format!("run-{pid}.json")))
    }
}

/// The process that wrote a `run.json`.
fn pid_of(run: &Path) -> Option<u64> {
    let text = fs::read_to_string(run).ok()?;
    let run: Value = serde_json::from_str(&text).ok()?;
    run.get("pid").and_then(Value::as_u64)
}
