//! An archive of the classes that javac loads (dynamic class data sharing, JEP 350): a JDK's javac
//! makes it at the end of its first run, and starts with it from then on, in two thirds of the CPU
//! time.
//!
//! **Invariant:** whatever is wrong with an archive, the result of javac is the same as without:
//! the JVM ignores what it cannot use, and javac runs again if it has ended in a way in which it
//! never does by itself.

use super::Jdk;
use super::javac::says_error;
use crate::cache;
use crate::text::hex;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::UNIX_EPOCH;

/// The content that says for a day that no archive can be made, so that it is not tried each time:
/// the disk may be full.
const NONE: &[u8] = b"";

/// The oldest JDK whose archives are used; some older ones support them, which is untested.
const OLDEST: u32 = 17;

impl Jdk {
    /// Runs javac with the arguments that `tell` gives it.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be started.
    pub(super) fn javac(&self, tell: impl Fn(&mut Command)) -> io::Result<Output> {
        let archive = cache::directory().and_then(|dir| self.archive(&dir));
        self.javac_with(archive, tell)
    }

    fn javac_with(
        &self,
        archive: Option<PathBuf>,
        tell: impl Fn(&mut Command),
    ) -> io::Result<Output> {
        let plain = || {
            let mut command = self.command("javac");
            tell(&mut command);
            command
        };
        let Some(file) = archive else {
            return plain().output();
        };
        let mut command = plain();
        // What the JVM reports about archives is not javac's output, nor is the report of a crash
        // caused by a broken one.
        command.args(["-J-Xlog:disable", "-J-XX:ErrorFile=/dev/null"]);
        let made = match fs::metadata(&file) {
            Ok(found) if found.len() > 0 => {
                cache::used(&file);
                None
            }
            Ok(found) if cache::age(&found).is_some_and(|age| age < cache::DAY) => {
                return plain().output();
            }
            _ => match cache::beside(&file) {
                Err(_) => return plain().output(),
                Ok(made) => Some(made),
            },
        };
        command.arg(match &made {
            None => option("SharedArchiveFile", &file),
            Some(made) => option("ArchiveClassesAtExit", made.path()),
        });
        let output = command.output()?;
        // By itself javac ends with 0 to 4, and reports why. A JVM without room for the archive
        // ends with 1.
        let ended = match output.status.code() {
            Some(0) => true,
            Some(1..=4) => says_error(&output.stderr),
            _ => false,
        };
        let whole = |made: &tempfile::NamedTempFile| {
            fs::metadata(made.path()).is_ok_and(|found| found.len() > 0)
        };
        // A failure to keep an archive does not concern the caller.
        let _ = match made {
            None if ended => Ok(()),
            Some(made) if ended && whole(&made) => cache::keep(made, &file),
            _ => fs::write(&file, NONE),
        };
        match ended {
            true => Ok(output),
            false => plain().output(),
        }
    }

    /// The path in a directory of this JDK's archive, whether or not it exists; `None` if there can
    /// be none.
    fn archive(&self, dir: &Path) -> Option<PathBuf> {
        // The base archive, which other JVMs do not have.
        let base = self.home.join("lib/server/classes.jsa");
        if self.version < OLDEST || !base.is_file() {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(crate::VERSION);
        hash.update(self.home.as_os_str().as_encoded_bytes());
        for part in ["lib/server/classes.jsa", "lib/modules", "release"] {
            let found = fs::metadata(self.home.join(part)).ok()?;
            let modified = found.modified().ok()?.duration_since(UNIX_EPOCH);
            hash.update(found.len().to_le_bytes());
            hash.update(modified.unwrap_or_default().as_nanos().to_le_bytes());
        }
        let file = dir.join(format!("javac-{}.jsa", hex(&hash.finalize()[..8])));
        // There the path would be taken for two files.
        (!file.as_os_str().as_encoded_bytes().contains(&b':')).then_some(file)
    }
}

fn option(name: &str, file: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("-J-XX:{name}="));
    option.push(file);
    option
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    /// The results of javac for a right and a wrong source, with an archive.
    fn compiled(jdk: &Jdk, dir: &Path, archive: Option<&Path>) -> Vec<(Option<i32>, String)> {
        let sources = [
            ("Good", "class Good {}"),
            ("Bad", "class Bad { int x = y; }"),
        ];
        let said = sources.map(|(name, text)| {
            let source = dir.join(format!("{name}.java"));
            fs::write(&source, text).unwrap();
            let output = jdk.javac_with(archive.map(Path::to_owned), |command| {
                command.arg("-d").arg(dir).arg(&source);
            });
            let output = output.unwrap();
            assert!(output.stdout.is_empty(), "{output:?}");
            let said = String::from_utf8(output.stderr).unwrap();
            (output.status.code(), said)
        });
        said.to_vec()
    }

    /// If there is no room for it, a JVM that would make an archive does not report on what it was
    /// to compile; and an archive is made again when there is room.
    #[test]
    fn an_archive_that_cannot_be_made_is_tried_again_later() {
        let dir = tempfile::tempdir().unwrap();
        let tools = dir.path().join("bin");
        fs::create_dir(&tools).unwrap();
        let real = Jdk::find(None).unwrap();
        let javac = real.home.join("bin/javac");
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *ArchiveClassesAtExit*) echo full; exit 1;; esac\nexec '{}' \"$@\"\n",
            javac.display()
        );
        fs::write(tools.join("javac"), script).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(tools.join("javac"), executable).unwrap();
        let home = dir.path().to_owned();
        let version = real.version;
        let full = Jdk { home, version };
        let plain = compiled(&real, dir.path(), None);
        let archive = dir.path().join("cache/javac-full.jsa");
        let used = |jdk: &Jdk| compiled(jdk, dir.path(), Some(&archive));
        assert_eq!(used(&full), plain);
        assert_eq!(fs::read(&archive).unwrap(), NONE);
        assert_eq!(used(&real), plain);
        assert_eq!(fs::read(&archive).unwrap(), NONE);
        let marker = fs::File::open(&archive).unwrap();
        let yesterday = SystemTime::now() - cache::DAY - Duration::from_secs(60);
        marker.set_modified(yesterday).unwrap();
        assert_eq!(used(&real), plain);
        assert!(fs::metadata(&archive).unwrap().len() > 1 << 20);
    }

    #[test]
    fn javac_is_the_same_whatever_its_archive() {
        let jdk = Jdk::find(None).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let plain = compiled(&jdk, dir.path(), None);
        assert_eq!(plain[0], (Some(0), String::new()));
        assert_eq!(plain[1].0, Some(1));
        let cache = dir.path().join("cache");
        // Otherwise there is nothing to test.
        let archive = jdk.archive(&cache).expect("a JDK of HotSpot");
        let used = |archive: &Path| compiled(&jdk, dir.path(), Some(archive));
        assert_eq!(used(&archive), plain);
        assert!(fs::metadata(&archive).unwrap().len() > 1 << 20);
        let left: Vec<_> = fs::read_dir(&cache).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        // It is truncated, which makes a JVM crash, replaced by something else, or cannot be made.
        let whole = fs::read(&archive).unwrap();
        for bytes in [&whole[..whole.len() / 2], b"no archive"] {
            fs::remove_file(&archive).unwrap();
            fs::write(&archive, bytes).unwrap();
            assert_eq!(used(&archive), plain);
        }
        assert_eq!(used(&dir.path().join("Good.java/archive.jsa")), plain);
    }
}
