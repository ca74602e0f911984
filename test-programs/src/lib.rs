//! Running small Java programs under the agent, on every JDK there is.
//!
//! A program in `programs/` says in its first comments how it is run and in its
//! last comment which crashes it leaves; `tests/it/programs.rs` runs them all with
//! `-Xverify:all`. The other tests use the same parts for what needs more.
//!
//! - [`jdks`] finds the JDKs, [`jdks_in_turn`] chooses one for a test, [`agent`] and [`hindsight`] the things under
//!   test (built in release mode, as users get them).
//! - [`Workplace`] is a fresh directory with compiled classes.
//! - [`render`] turns crash files into lines to compare.
//! - [`compiler`] compiles without starting a JVM each time; `verified` lets one that verifies everything begin
//!   with the JDK's classes verified.
//! - [`traces`] reads the trace of a run.

pub mod compiler;
pub mod traces;
mod verified;

use hindsight_tracelog::crash::{Body, Fidelity, Frame, Value};
use hindsight_tracelog::reader::Crash;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// A JDK on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// Its home directory.
    pub home: PathBuf,
    /// Its major version, like 17.
    pub version: u32,
}

impl Jdk {
    /// One of its programs.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Compiles, without annotation processing; paths are absolute.
    ///
    /// # Panics
    ///
    /// Panics with what the compiler says if it fails.
    #[track_caller]
    pub fn compile<A: Into<OsString>>(&self, arguments: impl IntoIterator<Item = A>) {
        let mut all = vec![OsString::from("-proc:none")];
        all.extend(arguments.into_iter().map(Into::into));
        let (success, told) = compiler::javac(self, &all);
        assert!(success, "{told}");
    }

    /// A command that runs Java without the influence of the environment.
    pub fn java(&self) -> Command {
        let mut command = Command::new(self.tool("java"));
        command
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("_JAVA_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        command
    }

    /// A command that runs Java with every class verified, those of the boot loader too.
    pub fn verifying_java(&self) -> Command {
        let mut command = self.java();
        command.args(["-Xverify:all", "-XX:-PrintWarnings"]);
        if let Some(archive) = verified::archive(self) {
            // Where other options forbid it, the JVM is to say nothing and do without.
            command
                .arg("-Xlog:cds=off")
                .arg(format!("-XX:SharedArchiveFile={}", archive.display()));
        }
        command
    }
}

/// All JDKs of version 17 and up, sorted by version, one of each.
///
/// # Panics
///
/// Panics if there is none: the tests would say nothing.
pub fn jdks() -> &'static [Jdk] {
    static JDKS: OnceLock<Vec<Jdk>> = OnceLock::new();
    JDKS.get_or_init(|| {
        let mut jdks: Vec<Jdk> = homes()
            .into_iter()
            .filter(|home| home.join("bin/javac").exists())
            .filter_map(|home| version(&home).map(|version| Jdk { home, version }))
            .filter(|jdk| jdk.version >= 17)
            .collect();
        jdks.sort_by_key(|jdk| jdk.version);
        jdks.dedup_by_key(|jdk| jdk.version);
        assert!(
            !jdks.is_empty(),
            "no JDK of version 17 or newer found: set JAVA_HOME"
        );
        jdks
    })
}

/// What `HINDSIGHT_JDKS` lists, as `scripts/test` does, or what is found through `JAVA_HOME`, the `PATH` and
/// `/usr/lib/jvm`.
fn homes() -> Vec<PathBuf> {
    if let Some(listed) = env::var_os("HINDSIGHT_JDKS") {
        return env::split_paths(&listed).collect();
    }
    let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    if let Some(paths) = env::var_os("PATH") {
        let javac = env::split_paths(&paths)
            .filter_map(|path| path.join("javac").canonicalize().ok())
            .next();
        homes.extend(javac.and_then(|javac| Some(javac.parent()?.parent()?.to_path_buf())));
    }
    for entry in fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten() {
        homes.extend(entry.path().canonicalize().ok());
    }
    homes
}

/// Whether tests are to look at all that there is, however long it takes: `HINDSIGHT_FULL=1`.
pub fn is_full() -> bool {
    env::var_os("HINDSIGHT_FULL").is_some()
}

/// One JDK for what depends on the analyzer more than on the JVM: some tests have the one and some the other, by
/// their names. All of them with `HINDSIGHT_FULL=1`.
pub fn jdks_in_turn() -> &'static [Jdk] {
    let all = jdks();
    if is_full() {
        return all;
    }
    let thread = thread::current();
    let test = thread.name().unwrap_or_default();
    let at = test.bytes().map(usize::from).sum::<usize>() % all.len();
    &all[at..=at]
}

fn version(home: &Path) -> Option<u32> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    line.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let root = root();
        let status = Command::new(env!("CARGO"))
            .args([
                "build",
                "--release",
                "--locked",
                "--quiet",
                "-p",
                "hindsight-agent",
                "-p",
                "hindsight-analyzer",
            ])
            .current_dir(&root)
            // Clippy may look on while tests are built: what users get is built without it, once.
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the release build fails");
        let target =
            env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        target.join("release")
    })
}

/// The project's root directory.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in the workspace")
        .to_path_buf()
}

/// The agent as users get it.
pub fn agent() -> PathBuf {
    built().join("libhindsight.so")
}

/// The command as users get it.
pub fn hindsight() -> PathBuf {
    built().join("hindsight")
}

/// Paths of jars by their coordinates, downloaded and checked if need be.
///
/// # Panics
///
/// Panics if there is one that cannot be had.
pub fn jars(coordinates: &[&str]) -> Vec<PathBuf> {
    let output = Command::new(root().join("scripts/jars"))
        .arg("--list")
        .args(coordinates)
        .output()
        .expect("scripts/jars runs");
    assert!(output.status.success(), "{}", both(&output));
    text(&output.stdout).lines().map(PathBuf::from).collect()
}

/// A directory of one test's own. It is kept when the test fails.
pub struct Workplace {
    /// Where it is.
    pub path: PathBuf,
}

impl Workplace {
    /// Makes a fresh one.
    pub fn new(name: &str) -> Workplace {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root()
            .join("target/test-work")
            .join(format!("{name}-{}-{count}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory for a test");
        Workplace { path }
    }

    /// A path in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Compiles Java sources into `classes`, with these options of javac.
    pub fn compile(&self, jdk: &Jdk, options: &[&str], sources: &[PathBuf]) -> PathBuf {
        let classes = self.join("classes");
        fs::create_dir_all(&classes).expect("a directory for classes");
        let mut arguments: Vec<OsString> =
            (["-nowarn", "-g", "-encoding", "UTF-8", "-d"].map(OsString::from)).into();
        arguments.push(classes.clone().into());
        arguments.extend(options.iter().map(OsString::from));
        arguments.extend(sources.iter().map(OsString::from));
        jdk.compile(arguments);
        classes
    }

    /// Writes a Java source file and compiles it.
    pub fn compile_text(&self, jdk: &Jdk, options: &[&str], name: &str, source: &str) -> PathBuf {
        let path = self.join(format!("{name}.java"));
        fs::write(&path, source).expect("a source file");
        self.compile(jdk, options, &[path])
    }

    /// Compiles a class's source for a release of Java and runs it with the agent: the directory
    /// of its classes, and how that ended.
    pub fn run_text(
        &self,
        jdk: &Jdk,
        release: &str,
        options: &str,
        (name, source): (&str, &str),
    ) -> (PathBuf, Output) {
        let classes = self.compile_text(jdk, &["--release", release], name, source);
        let output = self
            .java_with_agent(jdk, options)
            .arg("-cp")
            .arg(&classes)
            .arg(name)
            .output()
            .expect("java runs");
        (classes, output)
    }

    /// A `java` command with the agent, recording into `out` here, verifying everything.
    pub fn java_with_agent(&self, jdk: &Jdk, options: &str) -> Command {
        let mut agent_options = format!("out={}", self.join("out").display());
        if !options.is_empty() {
            agent_options = format!("{agent_options},{options}");
        }
        let mut command = jdk.verifying_java();
        command.arg(format!("-agentpath:{}={agent_options}", agent().display()));
        command
    }

    /// The crash files in `out`, read back, in order of their numbers.
    pub fn crashes(&self) -> Vec<Crash> {
        self.crash_files()
            .iter()
            .map(|path| {
                let crash = Crash::read(&fs::read(path).expect("a crash file"))
                    .expect("a sound crash file");
                assert!(crash.is_whole(), "{}: {:?}", path.display(), crash.damage);
                crash
            })
            .collect()
    }

    /// `hindsight junit` on the crash files in `out`, into `tests` here.
    pub fn junit(&self, jdk: &Jdk, classpath: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(hindsight());
        command
            .arg("junit")
            .args(self.crash_files())
            .arg("--classpath")
            .arg(classpath)
            .arg("--out")
            .arg(self.join("tests"))
            .arg("--jdk")
            .arg(&jdk.home);
        command
    }

    /// Paths of the crash files in `out`.
    pub fn crash_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.join("out"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension() == Some(OsStr::new("hsc")))
            .collect();
        files.sort();
        files
    }

    /// `run.json` in `out`.
    pub fn run_json(&self) -> serde_json::Value {
        let text = fs::read_to_string(self.join("out/run.json")).expect("run.json");
        serde_json::from_str(&text).expect("run.json is JSON")
    }

    /// Asserts that the agent did its work: a test of what a program does with it says nothing
    /// if it has stayed out.
    ///
    /// # Panics
    ///
    /// Panics if it has not, with the label.
    pub fn assert_instrumented(&self, label: &str) {
        let run = self.run_json();
        let counters = &run["counters"];
        assert_eq!(
            counters["agent_not_started"],
            serde_json::Value::Null,
            "{label}: {run}"
        );
        let methods = counters["methods_instrumented"].as_u64().unwrap_or(0);
        assert!(methods > 0, "nothing was instrumented: {label}: {run}");
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Bytes of a process's output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command of `hindsight` reports with `--format json`, beside all that it tells.
///
/// # Panics
///
/// Panics with what it tells if that is no JSON.
#[track_caller]
pub fn reported(command: &mut Command) -> (Output, serde_json::Value) {
    let output = command.args(["--format", "json"]).output();
    let output = output.expect("hindsight runs");
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("{}", both(&output)));
    (output, report)
}

/// Both outputs of a process, for a failed assertion.
pub fn both(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// Compares a text with a golden file below `test-programs`, which `BLESS=1` rewrites.
pub fn golden(name: &str, actual: &str) {
    let path = root().join("test-programs").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, actual).expect("a golden file");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "{name} changed; BLESS=1 accepts this:\n{actual}"
    );
}

/// A crash in a few lines that are the same on every JDK: messages and the
/// JDK's own frames are left out.
pub fn render(crash: &Crash) -> String {
    let mut out = String::new();
    let thread = if crash.meta.thread.is_empty() {
        "?"
    } else {
        &crash.meta.thread
    };
    let kind = if crash.meta.thread_virtual {
        "virtual thread"
    } else {
        "thread"
    };
    let exceptions: Vec<&str> = crash
        .failure
        .exceptions
        .iter()
        .map(|info| info.class.as_str())
        .collect();
    let _ = writeln!(
        out,
        "{} in {kind} {thread}, {}",
        exceptions.join(" <- "),
        crash.meta.reason
    );
    for frame in &crash.failure.frames {
        if frame.fidelity == Fidelity::None && frame.reason.contains("class of the JDK") {
            continue;
        }
        render_frame(&mut out, crash, frame);
    }
    // Java reads escapes in comments too.
    out.replace("\\u", "U+")
}

fn render_frame(out: &mut String, crash: &Crash, frame: &Frame) {
    let line = frame
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    let method = if frame.method.starts_with("lambda$") {
        strip_number(&frame.method)
    } else {
        &frame.method
    };
    let _ = write!(out, "  {}.{method}{line}", frame.class);
    if frame.exception != 0 {
        let _ = write!(out, " (cause {})", frame.exception);
    }
    if frame.fidelity == Fidelity::None {
        let _ = writeln!(out, " -- {}", frame.reason);
        return;
    }
    for argument in &frame.arguments {
        let name = match (argument.index, &argument.name) {
            (0, _) => "this".to_owned(),
            (_, Some(name)) => name.clone(),
            (index, None) => format!("p{index}"),
        };
        let _ = write!(
            out,
            " {name}={}",
            value(crash, argument.value, &argument.descriptor, 2)
        );
    }
    for patch in &frame.patch {
        let _ = write!(
            out,
            " [at entry {}.{}={}]",
            patch.owner,
            patch.field,
            value(crash, patch.value, &patch.descriptor, 1)
        );
    }
    out.push('\n');
}

/// A value, with the fields of objects of the program down to `depth`.
pub fn value(crash: &Crash, value: Value, descriptor: &str, depth: u32) -> String {
    let number = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(value) => return value.to_string(),
        Value::Int(value) if descriptor == "C" => {
            return format!(
                "{:?}",
                u32::try_from(value)
                    .ok()
                    .and_then(char::from_u32)
                    .unwrap_or('?')
            );
        }
        Value::Int(value) => return value.to_string(),
        Value::Float(value) => return format!("{value:?}f"),
        Value::Double(value) => return format!("{value:?}"),
        Value::Ref(number) => number,
    };
    let Some(object) = crash.object(number) else {
        return "lost".to_owned();
    };
    let class = crash
        .class(object.class)
        .map(|class| class.name.as_str())
        .unwrap_or("?");
    let short = class.rsplit('.').next().unwrap_or(class);
    match &object.body {
        Body::String(text) => format!("{:?}", text.to_lossy()),
        Body::Class(name) => format!("class {name}"),
        Body::Enum { name, .. } => format!("{short}.{name}"),
        Body::Hole(reason) => format!("hole({reason})"),
        Body::Lambda(lambda) => {
            let captured: Vec<String> = lambda
                .captured
                .iter()
                .map(|(descriptor, captured)| {
                    self::value(crash, *captured, descriptor, depth.saturating_sub(1))
                })
                .collect();
            format!(
                "lambda({}.{} {})",
                lambda.class,
                strip_number(&lambda.method),
                captured.join(",")
            )
        }
        _ if depth == 0 => format!("{short}{{..}}"),
        Body::Primitives(bytes) => format!("{short}({} bytes)", bytes.len()),
        Body::References(values) => {
            let items: Vec<String> = values
                .iter()
                .map(|element| self::value(crash, *element, "L", depth - 1))
                .collect();
            format!("[{}]", items.join(","))
        }
        Body::Instance(_) if class.starts_with("java.") && !class.starts_with("java.lang.") => {
            short.to_owned()
        }
        Body::Instance(values) => {
            let fields = crash
                .class(object.class)
                .map(|class| class.fields.as_slice())
                .unwrap_or(&[]);
            let items: Vec<String> = fields
                .iter()
                .zip(values)
                .map(|(field, held)| {
                    format!(
                        "{}={}",
                        field.name,
                        self::value(crash, *held, &field.descriptor, depth - 1)
                    )
                })
                .collect();
            format!("{short}{{{}}}", items.join(","))
        }
    }
}

/// `lambda$main$3` without its number, which depends on the compiler.
fn strip_number(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}
