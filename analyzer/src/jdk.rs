//! The JDK: finding it, compiling with it, running programs under it.

use crate::confine;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Variables by which an environment changes every JVM. Candidates must run
/// as the emitted tests will, and never under an agent.
const JVM_VARIABLES: [&str; 5] = [
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVAC_OPTIONS",
    "CLASSPATH",
];

/// The oldest JDK that can compile and run emitted tests.
const OLDEST: u32 = 11;

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
    pub fn find(explicit: Option<&Path>) -> Result<Jdk> {
        let (home, source) = named(explicit)?;
        if !home.join("bin/java").is_file() {
            bail!(
                "{} ({source}) is not a JDK: it has no bin/java",
                home.display()
            );
        }
        if !home.join("bin/javac").is_file() {
            bail!(
                "{} ({source}) has no bin/javac: tests are compiled, which needs a JDK, not a JRE; \
                 set JAVA_HOME or use --jdk",
                home.display()
            );
        }
        let version = version_of(&home)?;
        if version < OLDEST {
            bail!(
                "{} ({source}) is a JDK {version}: emitted tests need {OLDEST} or newer",
                home.display()
            );
        }
        // Children run in directories of their own.
        let home = fs::canonicalize(&home)
            .with_context(|| format!("failed to resolve {}", home.display()))?;
        Ok(Jdk { home, version })
    }

    /// The same for who only reads its classes: a runtime without a compiler
    /// will do, of any version.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub fn find_runtime(explicit: Option<&Path>) -> Result<Jdk> {
        let (home, source) = named(explicit)?;
        if !home.is_dir() {
            bail!(
                "{} ({source}) is not a JDK: no such directory",
                home.display()
            );
        }
        let is_there = |file: &str| home.join(file).is_file();
        if !is_there("release") && !is_there("bin/java") {
            bail!(
                "{} ({source}) is not a JDK: it has neither a file `release` nor bin/java",
                home.display()
            );
        }
        let version = version_of(&home)?;
        Ok(Jdk { home, version })
    }

    /// A command of this JDK, cut off from what the environment asks of JVMs.
    pub fn command(&self, tool: &str) -> Command {
        let mut command = cut_off(Command::new(self.home.join("bin").join(tool)));
        if tool == "javac" {
            // It compiles few files at a time. In a JVM for a short life that takes half the CPU time.
            command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
        }
        command
    }

    /// The same of a `java` that may write at or below these places alone, where the kernel sees to it. To be
    /// started by [`confine::spawn`].
    pub fn confined(&self, writable: &[&Path]) -> Command {
        cut_off(confine::command(&self.home.join("bin/java"), writable))
    }
}

/// A command without what the environment asks of JVMs.
fn cut_off(mut command: Command) -> Command {
    for variable in JVM_VARIABLES {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null());
    command
}

/// The JDK that the user names, and by what.
fn named(explicit: Option<&Path>) -> Result<(PathBuf, &'static str)> {
    Ok(match (explicit, std::env::var_os("JAVA_HOME")) {
        (Some(home), _) => (home.to_owned(), "--jdk"),
        (None, Some(home)) if !home.is_empty() => (home.into(), "JAVA_HOME"),
        _ => match java_on_path() {
            Some(home) => (home, "the java on the path"),
            None => bail!("no JDK found: set JAVA_HOME, put java on the path, or use --jdk"),
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

/// Reads `JAVA_VERSION="17.0.15"` of the file `release`; asks `java` where
/// there is no such file.
fn version_of(home: &Path) -> Result<u32> {
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
        .with_context(|| format!("failed to run {}", java.display()))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split('"')
        .nth(1)
        .and_then(feature_version)
        .with_context(|| format!("failed to learn the version of {}", java.display()))
}

/// 17 for `17.0.15`, 8 for `1.8.0_452`, 26 for `26-ea`.
fn feature_version(text: &str) -> Option<u32> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        version => Some(version),
    }
}

/// How a child process ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    Exit(ExitStatus),
    /// By us: it took too long.
    TimedOut,
    /// By us: it has done nothing for so long that it waits for what will not come.
    Idle,
}

/// Runs `command` to its end, or kills it after `timeout`.
pub fn run(command: &mut Command, timeout: Duration) -> Result<Ended> {
    let program = command.get_program().to_owned();
    let child = command
        .spawn()
        .with_context(|| format!("failed to run {}", Path::new(&program).display()))?;
    wait(child, timeout)
}

/// The same, and kills it, too, when it has used no processor time worth speaking of for as long as `idle`.
pub fn run_watched(command: &mut Command, timeout: Duration, idle: Duration) -> Result<Ended> {
    let program = command.get_program().to_owned();
    let child = command
        .spawn()
        .with_context(|| format!("failed to run {}", Path::new(&program).display()))?;
    let mut watch = Watch::new(child.id(), idle);
    wait_unless(child, timeout, || watch.is_idle())
}

/// Waits for the end of a child, or kills it after `timeout`.
pub fn wait(child: Child, timeout: Duration) -> Result<Ended> {
    wait_unless(child, timeout, || false)
}

fn wait_unless(
    mut child: Child,
    timeout: Duration,
    mut is_idle: impl FnMut() -> bool,
) -> Result<Ended> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Exit(status));
        }
        let ended = match (started.elapsed() >= timeout, is_idle()) {
            (true, _) => Some(Ended::TimedOut),
            (false, true) => Some(Ended::Idle),
            (false, false) => None,
        };
        if let Some(ended) = ended {
            // It may have ended in this very moment, which is as good.
            let _ = child.kill();
            child.wait()?;
            return Ok(ended);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Looks at how much processor time a process uses.
struct Watch {
    process: u32,
    idle: Duration,
    /// When it last was busy, and the processor time that it had used then.
    busy: (Instant, u64),
    looked: Instant,
}

impl Watch {
    /// From one look to the next.
    const PAUSE: Duration = Duration::from_millis(250);

    fn new(process: u32, idle: Duration) -> Watch {
        let now = Instant::now();
        Watch {
            process,
            idle,
            busy: (now, 0),
            looked: now,
        }
    }

    /// Whether it has been idle for long. A JVM whose threads all wait uses some thousandths of a core by
    /// itself; above a fiftieth it is busy.
    fn is_idle(&mut self) -> bool {
        if self.looked.elapsed() < Watch::PAUSE {
            return false;
        }
        self.looked = Instant::now();
        let Some(used) = processor_time(self.process) else {
            return false;
        };
        let (since, before) = self.busy;
        let most = since.elapsed().as_millis() as u64 / 10 / 50;
        if used.saturating_sub(before) > most.max(1) {
            self.busy = (self.looked, used);
            return false;
        }
        since.elapsed() >= self.idle
    }
}

/// The processor time that a process has used, in hundredths of a second.
fn processor_time(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may have anything in it, the state is the third field; time in the program
    // and in the kernel are the 14th and 15th.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11);
    let mut next = || times.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(feature_version("17.0.15"), Some(17));
        assert_eq!(feature_version("1.8.0_452"), Some(8));
        assert_eq!(feature_version("26-ea"), Some(26));
        assert_eq!(feature_version(""), None);
    }

    #[test]
    fn a_child_that_does_nothing_is_idle_and_one_that_works_is_not() {
        let run = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let (timeout, idle) = (Duration::from_secs(3), Duration::from_secs(1));
            run_watched(&mut command, timeout, idle).unwrap()
        };
        assert!(matches!(run("exec sleep 100"), Ended::Idle));
        assert!(matches!(run("while :; do :; done"), Ended::TimedOut));
        assert!(matches!(run("exit 3"), Ended::Exit(_)));
    }
}
