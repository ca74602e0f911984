//! What has failed, where, and with which arguments.

use super::Value;
use serde::{Deserialize, Serialize};

/// [`Meta::reason`] where the program has asked for the recording, by `Hindsight.record`. If it gave
/// no exception, one of the class [`STATE_RECORDED`] stands in its place.
pub const ASKED_FOR: &str = "asked for by the program";

/// What an emitted test throws where the program asks for a recording of its state.
pub const STATE_RECORDED: &str = "dev.hindsight.replay.StateRecorded";

/// [`Meta::reason`] where somebody has asked what all threads are doing, which is in
/// [`Failure::threads`].
pub const THREADS_ASKED_FOR: &str = "all threads, asked for from outside";

/// The class that stands in the place of an exception for a thread.
pub const THREAD_STATE: &str = "dev.hindsight.ThreadState";

/// Exceptions by which test frameworks pass over a test that is not to run: no failures.
pub const SKIPS: [&str; 5] = [
    "org.opentest4j.TestAbortedException",
    "org.opentest4j.TestSkippedException",
    "org.junit.AssumptionViolatedException",
    "org.junit.internal.AssumptionViolatedException",
    "org.testng.SkipException",
];

/// Where, when and how a failure was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the agent that wrote the file.
    pub agent: String,
    /// The user's own text from the option `version`.
    pub program_version: String,
    /// `java.vm.name`.
    pub jvm_name: String,
    /// `java.vm.version`.
    pub jvm_version: String,
    /// `java.version`.
    pub java_version: String,
    /// `os.name` and `os.arch`.
    pub os: String,
    /// Process id.
    pub pid: u32,
    /// Start of the JVM, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// The failure, milliseconds since 1970 (UTC).
    pub time_ms: i64,
    /// Name of the thread that failed.
    pub thread: String,
    /// Whether that thread is a virtual one.
    pub thread_virtual: bool,
    /// What made this a failure: the report rule `uncaught`, `escape:...` or `caught:...`, or
    /// [`ASKED_FOR`].
    pub reason: String,
    /// The copy strategy in force: `reference`, `fields`, `depth:N` or `deep`, or one for the
    /// receiver and one for the arguments.
    pub copy: String,
    /// Main class or jar with its arguments, secrets masked.
    pub command: String,
    /// Everything lost or skipped up to now, by name.
    pub counters: Vec<(String, u64)>,
    /// System properties at the failure, without those that the JDK sets by itself, in the order
    /// of names; secrets masked as in the command line.
    #[serde(default)]
    pub properties: Vec<(String, String)>,
    /// In which order `Set.of` and `Map.of` iterate, which each JVM draws: `SALT32L` of
    /// `java.util.ImmutableCollections` (32 bits: which part of the table comes first) and `REVERSE` (whether it goes
    /// on upwards).
    #[serde(default)]
    pub order: Option<(i64, bool)>,
    /// What the JVM took for the locale and the time zone where the program named none.
    #[serde(default)]
    pub defaults: Defaults,
}

impl Meta {
    /// Whether two files are of one crash, as far as its circumstances tell, which trimmed files keep. Those that
    /// were trimmed by earlier releases have no number of a process.
    pub fn is_same(&self, other: &Meta) -> bool {
        let times = |meta: &Meta| (meta.started_ms, meta.time_ms);
        let is_of_process = self.pid == other.pid || self.pid == 0 || other.pid == 0;
        is_of_process && times(self) == times(other)
    }
}

/// The JVM's default locale and time zone: of the system, of its options, or set by the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
    /// The language tag of the locale (BCP 47); empty if unknown.
    pub locale: String,
    /// That of the locale for numbers and dates, where it is another one.
    pub format: String,
    /// The id of the time zone; empty if nobody had asked for it yet.
    pub zone: String,
}

/// Exceptions of a failure that are kept: a recording follows causes and suppressed exceptions up to
/// this many in all.
pub const MAX_EXCEPTIONS: usize = 32;

/// The exception and the frames it passed through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `exceptions[0]` failed; the others are its causes and suppressed ones.
    pub exceptions: Vec<ExceptionInfo>,
    /// Frames, index 0 is the one that threw.
    pub frames: Vec<Frame>,
    /// Static fields that the methods on the stack may read, as they were at the failure.
    #[serde(default)]
    pub statics: Vec<StaticField>,
    /// What all threads were doing, if nothing has failed: one for each of the exceptions, which
    /// then have the class [`THREAD_STATE`].
    #[serde(default)]
    pub threads: Vec<ThreadState>,
    /// Which of the objects are what a constant of the program holds: programs compare these by
    /// identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<Constant>,
}

/// An object that a static final field holds, or that each JVM has its own of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// Its number.
    pub object: u32,
    /// Class that declares the field.
    pub owner: String,
    /// The field's name; or calls, as they are written after the class's name: `currentThread()`. A reader
    /// that does not know these has the hole that is stored in the object's place.
    pub name: String,
}

impl Constant {
    /// Whether it is an object of the JDK that each JVM has its own of: in its place a hole is stored.
    /// Its name becomes code, so these are all there are; others are holes.
    pub fn is_standing(&self) -> bool {
        let module = self.name.strip_prefix("boot().findModule(\"");
        let module = module.and_then(|rest| rest.strip_suffix("\").orElseThrow()"));
        match module {
            Some(module) => self.owner == "java.lang.ModuleLayer" && is_module_name(module),
            None => STANDING.contains(&(self.owner.as_str(), self.name.as_str())),
        }
    }

    /// How code asks for it, by the class's simple name.
    pub fn code(&self) -> String {
        let class = self.owner.rsplit('.').next().unwrap_or(&self.owner);
        format!("{class}.{}", self.name)
    }
}

/// The objects that each JVM has its own of, but for modules: owners and names, as in [`Constant`].
const STANDING: [(&str, &str); 10] = [
    ("java.lang.ClassLoader", "getPlatformClassLoader()"),
    ("java.lang.ClassLoader", "getSystemClassLoader()"),
    ("java.lang.Runtime", "getRuntime()"),
    ("java.lang.System", "err"),
    ("java.lang.System", "in"),
    ("java.lang.System", "out"),
    ("java.lang.Thread", "currentThread()"),
    ("java.nio.file.FileSystems", "getDefault()"),
    ("java.nio.file.FileSystems", "getDefault().provider()"),
    ("java.util.concurrent.ForkJoinPool", "commonPool()"),
];

/// Whether a text has the characters of module names alone, which end no literal.
fn is_module_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "._$".contains(c))
}

/// A static field at the failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StaticField {
    /// Class that declares it.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Access flags (JVMS 4.5).
    pub access: u16,
    /// Its value.
    pub value: Value,
}

/// A thread that goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadState {
    /// Its name.
    pub name: String,
    /// As `Thread.getState` calls it: `RUNNABLE`, `BLOCKED`, ...
    pub state: String,
    /// Whether the JVM would not wait for it.
    pub daemon: bool,
    /// Whether it is a virtual one.
    #[serde(default)]
    pub is_virtual: bool,
    /// How many other virtual threads are where it is, and are not told.
    #[serde(default)]
    pub alike: u32,
    /// What it waits for: a monitor, or what it is parked for.
    pub wants: Option<Lock>,
    /// The monitors that it has.
    pub owns: Vec<Lock>,
}

/// A monitor or a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The object.
    pub object: Option<u32>,
    /// Its class.
    pub class: String,
    /// Index in [`Failure::threads`] of the thread that has it.
    pub owner: Option<u32>,
}

/// A throwable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExceptionInfo {
    /// Its class.
    pub class: String,
    /// The field `detailMessage`, which is not always what `getMessage` says; of a
    /// `NullPointerException` without one what the JVM says of it, as from Java 17 on.
    pub message: Option<String>,
    /// Its object number, if it is in the graph. No agent has put it there so far; what follows lies behind its place.
    pub object: Option<u32>,
    /// Its stack trace, innermost first; empty if the JVM gave none.
    pub stack: Vec<StackElement>,
    /// Index of its cause in [`Failure::exceptions`].
    pub cause: Option<u32>,
    /// Indices of its suppressed exceptions.
    pub suppressed: Vec<u32>,
}

/// One element of a stack trace, as the JVM tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackElement {
    /// Declaring class.
    pub class: String,
    /// Method name.
    pub method: String,
    /// Source file, if known.
    pub file: Option<String>,
    /// Source line; negative if unknown, -2 in a native method.
    pub line: i32,
}

/// One frame of the failure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Declaring class.
    pub class: String,
    /// Method name, `<init>` for a constructor.
    pub method: String,
    /// Method descriptor; empty if the frame was not captured.
    pub descriptor: String,
    /// Source line that was being executed.
    pub line: Option<i32>,
    /// Source file.
    pub file: Option<String>,
    /// Access flags of the method (JVMS 4.6); 0 if not captured.
    pub access: u16,
    /// Which fidelity the arguments have.
    pub fidelity: Fidelity,
    /// Why a frame has no arguments or is degraded; empty if it is as good as asked for.
    pub reason: String,
    /// SHA-256 of the class file as it was loaded (before Hindsight), in hexadecimal.
    pub class_sha256: Option<String>,
    /// Receiver (index 0) and parameters (from 1) at entry.
    pub arguments: Vec<Argument>,
    /// Places whose value at this frame's entry differs from the graph.
    pub patch: Vec<Patch>,
    /// Index in [`Failure::exceptions`] of the exception that passed through.
    pub exception: u32,
}

/// How true a frame's arguments are to its entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub enum Fidelity {
    /// Not captured: only the stack trace knows this frame.
    #[default]
    None,
    /// References as at entry, objects as at the failure.
    Reference,
    /// And the fields that the method uses as at entry.
    Fields,
    /// And everything reachable from the arguments, as at entry.
    Deep,
    /// The same, some steps deep: [`Meta::copy`] says how many.
    Depth,
}

impl From<u8> for Fidelity {
    fn from(code: u8) -> Self {
        match code {
            1 => Fidelity::Reference,
            2 => Fidelity::Fields,
            3 => Fidelity::Deep,
            4 => Fidelity::Depth,
            _ => Fidelity::None,
        }
    }
}

impl From<Fidelity> for u8 {
    fn from(fidelity: Fidelity) -> u8 {
        match fidelity {
            Fidelity::None => 0,
            Fidelity::Reference => 1,
            Fidelity::Fields => 2,
            Fidelity::Deep => 3,
            Fidelity::Depth => 4,
        }
    }
}

/// A receiver or parameter at entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// 0 is `this`, parameters count from 1, in static methods too.
    pub index: u16,
    /// Source name, if the class file has it.
    pub name: Option<String>,
    /// Declared type.
    pub descriptor: String,
    /// Its value.
    pub value: Value,
}

/// A field or an element that had another value at a frame's entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The object.
    pub object: u32,
    /// Class that declares the field; empty for an element.
    pub owner: String,
    /// Field name; empty for an element.
    pub field: String,
    /// Descriptor of the field or element; of an element that is a reference, `L`.
    pub descriptor: String,
    /// The value at entry.
    pub value: Value,
    /// Index of the element, if the object is an array.
    #[serde(default)]
    pub index: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_each_jvm_has_its_own_nothing_else_becomes_code() {
        let stands = |owner: &str, name: &str| {
            let constant = Constant {
                object: 0,
                owner: owner.to_owned(),
                name: name.to_owned(),
            };
            constant.is_standing()
        };
        let module = |name: &str| format!("boot().findModule(\"{name}\").orElseThrow()");
        assert!(stands("java.lang.System", "out"));
        assert!(stands(
            "java.nio.file.FileSystems",
            "getDefault().provider()"
        ));
        assert!(stands("java.lang.ModuleLayer", &module("java.base")));
        assert!(!stands(
            "java.lang.System",
            "getenv(String.valueOf(evil()))"
        ));
        assert!(!stands("java.lang.Runtime", "getRuntime().exec(\"rm\")"));
        assert!(!stands("java.lang.Thread", "out"));
        assert!(!stands("com.acme.System", "out"));
        assert!(!stands("java.lang.Module", &module("java.base")));
        for name in ["", "a\" + evil() + \"", "a\\", "a\n", "a b"] {
            assert!(!stands("java.lang.ModuleLayer", &module(name)), "{name}");
        }
    }
}
