//! The JDK: finds it, compiles with it, and runs programs under it.
//!
//! - `archive` makes javac start faster by an archive of its classes.
//! - [`charset`] makes JVMs name files in UTF-8.
//! - [`child`] runs child processes with a time limit.
//! - [`javac`] compiles sources and parses the messages.

mod archive;
pub mod charset;
pub mod child;
pub mod javac;

use crate::confine;
use crate::files::{self, failed};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// Variables by which an environment changes every JVM. Candidates must run
/// as the emitted tests will, and never under an agent.
const JVM_VARIABLES: [&str; 5] = [
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVAC_OPTIONS",
    "CLASSPATH",
];

/// The bytes of the longest argument; Linux has a limit of 128 KiB.
const LONGEST_ARGUMENT: usize = 120 * 1024;

/// The oldest JDK that can compile and run emitted tests.
const OLDEST: u32 = 11;
/// The option of java and javac for classes that use preview features.
pub const ENABLE_PREVIEW: &str = "--enable-preview";

/// Why a JDK cannot be used, or does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user names none, and none is found.
    #[error("no JDK found: set JAVA_HOME, put java on the path, or use --jdk")]
    None,
    /// A directory is no JDK.
    #[error("{} ({named}) is not a JDK: {why}", home.display())]
    NotAJdk {
        /// The directory.
        home: PathBuf,
        /// How the user names it.
        named: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// It cannot compile.
    #[error(
        "{} ({named}) has no bin/javac: tests are compiled, which needs a JDK, not a JRE; \
         set JAVA_HOME or use --jdk",
        home.display()
    )]
    NoCompiler {
        /// Its directory.
        home: PathBuf,
        /// How the user names it.
        named: &'static str,
    },
    /// It is too old.
    #[error("{} ({named}) is a JDK {version}: emitted tests need {OLDEST} or newer", home.display())]
    TooOld {
        /// Its directory.
        home: PathBuf,
        /// How the user names it.
        named: &'static str,
        /// Its feature version.
        version: u32,
    },
    /// Its `java` does not say its version.
    #[error("failed to learn the version of {}", .0.display())]
    NoVersion(PathBuf),
    /// A path cannot be resolved or written, or a program not be run.
    #[error(transparent)]
    File(#[from] files::Error),
    /// A class path cannot be an argument of a program.
    #[error("a class path entry cannot be passed on")]
    ClassPath(#[from] std::env::JoinPathsError),
    /// Its compiler cannot be run.
    #[error("failed to run javac of {}", home.display())]
    NotRun {
        /// Its directory.
        home: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Its compiler fails, and does not say at which error.
    #[error("javac of {} failed: {said}", home.display())]
    Failed {
        /// Its directory.
        home: PathBuf,
        /// What it says.
        said: String,
    },
    /// The end of a child process cannot be waited for.
    #[error("failed to wait for a child process")]
    Unwatched(#[from] rustix::io::Errno),
    /// A child process cannot be ended.
    #[error(transparent)]
    Child(#[from] io::Error),
}

/// A JDK with a compiler.
#[derive(Debug, Clone)]
pub struct Jdk {
    /// Its directory.
    pub home: PathBuf,
    /// Its feature version, such as 17.
    pub version: u32,
}

impl Jdk {
    /// Finds the JDK: `explicit`, else `JAVA_HOME`'s, else that of the `java`
    /// on the path.
    ///
    /// # Errors
    ///
    /// Fails if there is none, if it has no `javac`, or if it is too old.
    pub fn find(explicit: Option<&Path>) -> Result<Jdk, Error> {
        let (home, named) = named(explicit)?;
        if !home.join("bin/java").is_file() {
            let why = "it has no bin/java";
            return Err(Error::NotAJdk { home, named, why });
        }
        if !home.join("bin/javac").is_file() {
            return Err(Error::NoCompiler { home, named });
        }
        let version = version_of(&home)?;
        if version < OLDEST {
            return Err(Error::TooOld {
                home,
                named,
                version,
            });
        }
        Jdk::at(&home, version)
    }

    fn at(home: &Path, version: u32) -> Result<Jdk, Error> {
        // Child processes run in directories of their own.
        let home = fs::canonicalize(home).map_err(failed("resolve", home))?;
        Ok(Jdk { home, version })
    }

    /// Finds a JDK whose classes are only read: a runtime without a compiler is sufficient, of any
    /// version.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub fn find_runtime(explicit: Option<&Path>) -> Result<Jdk, Error> {
        let (home, named) = named(explicit)?;
        if !home.is_dir() {
            let why = "no such directory";
            return Err(Error::NotAJdk { home, named, why });
        }
        let is_there = |file: &str| home.join(file).is_file();
        if !is_there("release") && !is_there("bin/java") {
            let why = "it has neither a file `release` nor bin/java";
            return Err(Error::NotAJdk { home, named, why });
        }
        let version = version_of(&home)?;
        Jdk::at(&home, version)
    }

    /// A command of this JDK, without the environment's options for JVMs.
    pub fn command(&self, tool: &str) -> Command {
        let mut command = cut_off(Command::new(self.home.join("bin").join(tool)));
        if tool == "javac" {
            // It compiles few files at a time. In a short-lived JVM this halves the CPU time.
            command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
        } else if tool == "java" {
            command.args(charset::of_texts(self.version));
        }
        command
    }

    /// A `java` command that ends with this process. To be started by [`confine::spawn`].
    pub fn tied_java(&self) -> Command {
        let mut command = cut_off(confine::tied(&self.home.join("bin/java")));
        command.args(charset::of_texts(self.version));
        command
    }

    /// A `java` command that may only write at or below these places, if the kernel enforces that.
    pub fn confined(&self, writable: &[&Path]) -> Command {
        cut_off(confine::command(&self.home.join("bin/java"), writable))
    }
}

/// The arguments that give java or javac a class path: those in `file` if it is too long for one.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub fn class_path(path: &OsStr, file: &Path) -> Result<Vec<OsString>, files::Error> {
    if path.len() < LONGEST_ARGUMENT {
        return Ok(vec!["-cp".into(), path.to_owned()]);
    }
    let mut text = b"-cp \"".to_vec();
    for &byte in path.as_bytes() {
        if matches!(byte, b'\\' | b'"') {
            text.push(b'\\');
        }
        text.push(byte);
    }
    text.extend(b"\"\n");
    fs::write(file, text).map_err(failed("write", file))?;
    let mut argument = OsString::from("@");
    argument.push(file);
    Ok(vec![argument])
}

/// A command without the environment's options for JVMs, which finds files whatever their names.
fn cut_off(mut command: Command) -> Command {
    for variable in JVM_VARIABLES {
        command.env_remove(variable);
    }
    charset::widen(&mut command);
    command.stdin(Stdio::null());
    command
}

/// The JDK that the user names, and how.
fn named(explicit: Option<&Path>) -> Result<(PathBuf, &'static str), Error> {
    Ok(match (explicit, std::env::var_os("JAVA_HOME")) {
        (Some(home), _) => (home.to_owned(), "--jdk"),
        (None, Some(home)) if !home.is_empty() => (home.into(), "JAVA_HOME"),
        _ => match java_on_path() {
            Some(home) => (home, "the java on the path"),
            None => return Err(Error::None),
        },
    })
}

fn java_on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let java = std::env::split_paths(&path)
        .map(|dir| dir.join("java"))
        .find(|java| java.is_file())?;
    let java = fs::canonicalize(java).ok()?;
    Some(java.parent()?.parent()?.to_owned())
}

/// Reads `JAVA_VERSION="17.0.15"` from the file `release`; asks `java` if there is no such file.
fn version_of(home: &Path) -> Result<u32, Error> {
    let release = fs::read_to_string(home.join("release")).unwrap_or_default();
    let stated = release.lines().find_map(|line| {
        let value = line.strip_prefix("JAVA_VERSION=")?.trim().trim_matches('"');
        feature_version(value)
    });
    if let Some(version) = stated {
        return Ok(version);
    }
    let java = home.join("bin/java");
    let output = Command::new(&java)
        .arg("-version")
        .output()
        .map_err(failed("run", &java))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split('"')
        .nth(1)
        .and_then(feature_version)
        .ok_or(Error::NoVersion(java))
}

/// The feature version: 17 for `17.0.15`, 8 for `1.8.0_452`, 26 for `26-ea`.
fn feature_version(text: &str) -> Option<u32> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        version => Some(version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_class_paths_go_into_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("path");
        assert_eq!(
            class_path(OsStr::new("a:b"), &file).unwrap(),
            ["-cp", "a:b"]
        );
        assert!(!file.exists());
        let long = "/a \\ \"b\".jar:".repeat(LONGEST_ARGUMENT / 10);
        let arguments = class_path(OsStr::new(&long), &file).unwrap();
        assert_eq!(arguments, [&*format!("@{}", file.display())]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with(r#"-cp "/a \\ \"b\".jar:/a"#),
            "{}",
            &text[..40]
        );
    }

    #[test]
    fn versions() {
        assert_eq!(feature_version("17.0.15"), Some(17));
        assert_eq!(feature_version("1.8.0_452"), Some(8));
        assert_eq!(feature_version("26-ea"), Some(26));
        assert_eq!(feature_version(""), None);
    }
}
