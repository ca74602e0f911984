//! Decides how and where the JVMs are started that run the program.
//!
//! **Invariant:** what they write is temporary, or named to the kernel ([`Jdk::confined`]).

use super::super::guard::WORKER_JAR;
use super::PARALLEL;
use super::environment::Environment;
use crate::files::failed;
use crate::generate::Result;
use crate::jdk::{ENABLE_PREVIEW, Jdk, charset};
use crate::junit::write_file;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The first release without the old formats.
const NO_OLD_FORMATS: u32 = 23;
/// The first release whose JVM has an option about warnings of `Unsafe`, by which the worker
/// chooses the order of sets.
const UNSAFE_IS_TOLD: u32 = 23;
/// The first release with threads that only the JDK's own classes can list.
const HAS_VIRTUAL_THREADS: u32 = 21;
/// The directories for temporary files, in the current one: JVMs that run at the same time do not see each other's.
const TEMPORARY: [&str; PARALLEL] = ["tmp", "tmp1"];

/// A link to the root of the file system, in our own directory: below it, all has another path.
const ANOTHER_ROOT: &str = "another-root";

/// The settings for starting a worker.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The JDK.
    pub jdk: Jdk,
    /// The class path of the program, beginning with the rewritten classes.
    pub entries: Vec<PathBuf>,
    /// A directory of our own; the JVMs run in directories below it.
    pub dir: PathBuf,
    /// The processor time that a sequence may take.
    pub limit: Duration,
    /// Whether each sequence finds the initial static state.
    pub reset: bool,
    /// Whether a class of the program uses preview features, which JVMs and javac support only with
    /// an option.
    pub preview: bool,
    /// The recording, if there is one.
    pub recorded: Option<Recording>,
}

/// The settings for recording what workers do.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The agent.
    pub agent: PathBuf,
    /// The directory of the recordings, with one directory for each JVM.
    pub out: PathBuf,
}

impl Recording {
    /// The option of the JVM.
    fn option(&self) -> OsString {
        let mut option = OsString::from("-agentpath:");
        option.push(&self.agent);
        option.push("=mode=trace,trace-what=calls;writes;reads;values,");
        option.push("exclude=dev.hindsight.worker.**,out=\"");
        option.push(self.out.join("%p"));
        option.push("\"");
        option
    }
}

impl Setup {
    /// Writes the worker's class path: the worker itself.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn prepare(&self) -> Result<()> {
        write_file(&self.jar(), WORKER_JAR)?;
        let root = self.dir.join(ANOTHER_ROOT);
        symlink("/", &root).map_err(failed("make", &root))?;
        for place in &PLACES {
            let scratch = self.scratch(place);
            for temporary in TEMPORARY {
                let temporary = scratch.join(temporary);
                std::fs::create_dir_all(&temporary).map_err(failed("make", &temporary))?;
            }
            if let Some(file) = place.file {
                write_file(&scratch.join(file), "")?;
            }
        }
        Ok(())
    }

    /// A new file for thrown exceptions, if these are logged.
    pub(super) fn thrown(&self, place: &Place) -> Result<Option<PathBuf>> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if !place.refusals {
            return Ok(None);
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = self.dir.join(format!("thrown{number}"));
        // The option of the JVM has it in quotes.
        if file.as_os_str().as_encoded_bytes().contains(&b'"') {
            return Ok(None);
        }
        write_file(&file, "")?;
        Ok(Some(file))
    }

    /// The path of something for the program in a place: its location and the JDK's differ between
    /// places.
    pub fn at(&self, place: &Place, path: &Path) -> PathBuf {
        match (place.user, path.strip_prefix("/")) {
            (Some(_), Ok(below)) => self.dir.join(ANOTHER_ROOT).join(below),
            _ => path.to_owned(),
        }
    }

    fn jar(&self) -> PathBuf {
        self.dir.join("hindsight-worker.jar")
    }

    /// The directory in which the program runs. It may only write in the directory for temporary
    /// files there: a test that writes where it runs would do so among the files of its user.
    fn scratch(&self, place: &Place) -> PathBuf {
        self.dir.join(place.scratch)
    }

    /// A JVM in a place, for a task. It may write temporary files, recordings, and the file of its
    /// task.
    pub fn command(&self, task: Task<'_>, place: &Place) -> Command {
        let scratch = self.scratch(place);
        let (main, file, at) = match task {
            Task::Sequences(thrown, at) => ("Worker", thrown, at),
            Task::Tests(results) => ("Suite", Some(results), 0),
        };
        let temporary = scratch.join(TEMPORARY[at]);
        let recordings = self.recorded.iter().map(|recorded| recorded.out.as_path());
        let writable = recordings.chain(file).chain([temporary.as_path()]);
        let mut command = self.jdk.confined(&writable.collect::<Vec<_>>());
        let mut ours: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        if let Some((name, locale)) = charset::wide_locale() {
            ours.retain(|(known, _)| known != name);
            ours.push((name.into(), locale.into()));
        }
        let zone = place.locale.map(|[_, _, zone]| zone);
        let variables = place.environment.variables(&ours, &temporary, zone);
        command.env_clear().envs(variables);
        if let Some([language, country, zone]) = place.locale {
            command
                .arg(format!("-Duser.language={language}"))
                .arg(format!("-Duser.country={country}"))
                .arg(format!("-Duser.timezone={zone}"));
        }
        if place.old_formats && self.jdk.version < NO_OLD_FORMATS {
            command.arg("-Djava.locale.providers=COMPAT");
        }
        if let Some(processors) = place.processors {
            command.arg(format!("-XX:ActiveProcessorCount={processors}"));
        }
        if let Some(user) = place.user {
            command
                .arg(format!("-Duser.name={user}"))
                .arg(option("-Duser.home", &temporary))
                .arg(option("-Djava.home", &self.at(place, &self.jdk.home)))
                .arg(format!("-Djava.vendor={user}"))
                .envs([("USER", user), ("LOGNAME", user)]);
            if self.jdk.version >= SYSTEM_IS_BUILT_IN {
                command.args(ANOTHER_SYSTEM);
            }
        }
        if let Some(threads) = place.shared {
            let name = "java.util.concurrent.ForkJoinPool.common.parallelism";
            command.arg(format!("-D{name}={threads}"));
        }
        if place.shift != 0 {
            command.arg(format!("-Dhindsight.shift={}", place.shift));
        }
        if place.threads {
            command.arg("-Dhindsight.threads=true");
        }
        if place.small_hashes {
            // Other JVMs do not support it.
            command.args([
                "-XX:+IgnoreUnrecognizedVMOptions",
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:hashCode=3",
            ]);
        }
        if place.backwards {
            command.arg("-Dhindsight.backwards=true");
        }
        // Code that is compiled while the JVM starts would keep the order that was drawn.
        command.arg("-XX:CompileCommand=quiet");
        for of in ["Set12*", "SetN$*", "MapN$*"] {
            command.arg(format!(
                "-XX:CompileCommand=exclude,java/util/ImmutableCollections${of}.*"
            ));
        }
        if self.jdk.version >= HAS_VIRTUAL_THREADS {
            command.arg("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED");
        }
        if self.jdk.version >= UNSAFE_IS_TOLD {
            command.arg("--sun-misc-unsafe-memory-access=allow");
        }
        if place.assertions {
            command.arg("-ea");
        }
        if let Task::Sequences(Some(thrown), _) = task {
            let mut log = OsString::from("-Xlog:exceptions=info:file=\"");
            log.push(thrown);
            log.push("\":none:filecount=0");
            command.arg(log).arg(option("-Dhindsight.thrown", thrown));
        }
        command.args(self.recorded.iter().map(Recording::option));
        command.args(self.preview.then_some(ENABLE_PREVIEW));
        command
            .args([
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-XX:-OmitStackTraceInFastThrow",
                "-Djava.awt.headless=true",
                // It keeps them in /tmp, where it may not write.
                "-XX:+PerfDisableSharedMem",
            ])
            .arg(option("-XX:ErrorFile", &temporary.join("hs_err.log")))
            .arg(format!("-Xmx{}m", place.heap))
            .arg(format!("-Dfile.encoding={}", place.charset))
            .arg(option("-Djava.io.tmpdir", &temporary))
            .arg(option("-Dhindsight.scratch", &temporary))
            .arg("-cp")
            .arg(self.jar())
            .arg(format!("dev.hindsight.worker.{main}"))
            .current_dir(scratch);
        command
    }
}

/// The first release whose JDK does not use the system's name to find its own classes.
const SYSTEM_IS_BUILT_IN: u32 = 13;
/// The name of a system with the same separators in paths and lines.
const ANOTHER_SYSTEM: [&str; 2] = ["-Dos.name=FreeBSD", "-Dos.version=13.2"];

/// The task of a JVM.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    /// It executes sequences, and may write down in a file what is thrown, whoever catches it; and which it is of
    /// those that do so at the same time.
    Sequences(Option<&'a Path>, usize),
    /// It runs emitted tests, and tells in a file how they end.
    Tests(&'a Path),
}

/// A place in which a JVM runs: conditions on which a test must not depend.
#[derive(Debug)]
pub struct Place {
    /// The language, country and time zone; `None` for those of this machine.
    locale: Option<[&'static str; 3]>,
    /// The charset that is used if the program names none.
    charset: &'static str,
    /// Whether dates and numbers are written as up to Java 8: a result that differs then also
    /// differs in some other release.
    old_formats: bool,
    /// The current directory.
    scratch: &'static str,
    /// A file there: the contents of a directory differ between places.
    file: Option<&'static str>,
    /// The number of processors; `None` for the existing ones.
    processors: Option<u32>,
    /// The number of threads of the common pool, unless it depends on the processors: with one,
    /// `CompletableFuture` starts a thread for each task, which cannot be delayed.
    shared: Option<u32>,
    /// The kind of environment.
    environment: Environment,
    /// The heap in megabytes.
    heap: u32,
    /// The user, if the machine is another user's: it determines the user's name and home, JVM and
    /// system, and the paths of the JDK and the program.
    user: Option<&'static str>,
    /// The hours by which clocks are fast; then they also run unevenly, and random numbers are not
    /// random.
    shift: i64,
    /// Whether each test has a thread of its own.
    threads: bool,
    /// Whether identity hash codes count up from a small number, while HotSpot draws up to 31 bits:
    /// then the length of a text with one in it and the order of a `HashSet` also differ.
    small_hashes: bool,
    /// Whether immutable sets and maps are iterated backwards, which each JVM otherwise draws at
    /// random.
    backwards: bool,
    /// Whether `assert` is enabled, as Maven and Gradle do for tests, and consoles do not.
    assertions: bool,
    /// Whether the kernel's refusals are known even if the program catches them, which makes each
    /// exception cost some ten times as much.
    refusals: bool,
}

/// The places in which tests are tried, and sequences executed.
pub static PLACES: [Place; 3] = [
    Place {
        // These are far west and far east of Greenwich: a day that is the same in both is the same
        // nearly everywhere.
        locale: Some(["en", "US", "America/Los_Angeles"]),
        charset: "UTF-8",
        old_formats: false,
        scratch: "scratch",
        file: None,
        processors: None,
        shared: Some(2),
        environment: Environment::Bare,
        heap: 512,
        user: None,
        shift: 0,
        threads: false,
        small_hashes: false,
        backwards: false,
        assertions: true,
        refusals: false,
    },
    Place {
        locale: Some(["de", "DE", "Asia/Kolkata"]),
        charset: "ISO-8859-1",
        old_formats: true,
        scratch: "elsewhere/another",
        file: Some("another.txt"),
        processors: Some(3),
        shared: None,
        environment: Environment::Another,
        heap: 480,
        user: Some("somebody"),
        shift: 10_003,
        threads: false,
        small_hashes: true,
        backwards: true,
        assertions: false,
        refusals: true,
    },
    Place {
        locale: None,
        charset: "UTF-8",
        old_formats: false,
        scratch: "third",
        file: Some("a third"),
        processors: Some(1),
        shared: None,
        environment: Environment::Here,
        heap: 544,
        user: None,
        shift: -3_001,
        threads: true,
        small_hashes: false,
        backwards: false,
        assertions: true,
        refusals: false,
    },
];

/// An option of the JVM whose value is a path.
fn option(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(format!("{name}="));
    text.push(path);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_do_not_lie_at_the_same_path_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let setup = Setup {
            jdk: Jdk {
                home: PathBuf::from("/jdk"),
                version: 17,
            },
            entries: Vec::new(),
            dir: dir.path().to_owned(),
            limit: Duration::from_secs(1),
            reset: false,
            preview: true,
            recorded: None,
        };
        setup.prepare().unwrap();
        let file = dir.path().join("app.jar");
        write_file(&file, "jar").unwrap();
        let paths = [0, 1, 2].map(|place| setup.at(&PLACES[place], &file));
        assert_eq!([&paths[0], &paths[2]], [&file, &file]);
        assert_ne!(paths[1], file);
        assert_eq!(std::fs::read(&paths[1]).unwrap(), b"jar");
        let task = Task::Sequences(None, 0);
        let command = setup.command(task, &PLACES[1]);
        let home = option("-Djava.home", &setup.at(&PLACES[1], Path::new("/jdk")));
        assert!(command.get_args().any(|arg| arg == home));
        assert!(command.get_args().any(|arg| arg == ENABLE_PREVIEW));
    }
}
