//! What failed, where, and with which arguments.

use super::Value;
use serde::{Deserialize, Serialize};

/// [`Meta::reason`] where the program asked for the recording by `Hindsight.record`. If it passed
/// no exception, one of the class [`STATE_RECORDED`] stands in its place.
pub const ASKED_FOR: &str = "asked for by the program";

/// The class of the exception that an emitted test throws where the program asks for a recording of
/// its state.
pub const STATE_RECORDED: &str = "dev.hindsight.replay.StateRecorded";

/// [`Meta::reason`] where somebody asked for the state of all threads, which is in
/// [`Failure::threads`].
pub const THREADS_ASKED_FOR: &str = "all threads, asked for from outside";

/// The class that stands for a thread in the place of an exception's class.
pub const THREAD_STATE: &str = "dev.hindsight.ThreadState";

/// Exceptions by which test frameworks skip a test that is not to run. They are not failures.
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
    /// The system property `java.vm.name`.
    pub jvm_name: String,
    /// The system property `java.vm.version`.
    pub jvm_version: String,
    /// The system property `java.version`.
    pub java_version: String,
    /// The system properties `os.name` and `os.arch`.
    pub os: String,
    /// Process id.
    pub pid: u32,
    /// Time of the JVM's start, in milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// Time of the failure, in milliseconds since 1970 (UTC).
    pub time_ms: i64,
    /// Name of the thread that failed.
    pub thread: String,
    /// Whether that thread is a virtual thread.
    pub thread_virtual: bool,
    /// What made this a failure: the report rule `uncaught`, `escape:...` or `caught:...`, or
    /// [`ASKED_FOR`].
    pub reason: String,
    /// The copy strategy in force: `reference`, `fields`, `depth:N` or `deep`, or one for the
    /// receiver and one for the arguments.
    pub copy: String,
    /// Main class or jar with its arguments; secrets are masked.
    pub command: String,
    /// Counts of everything lost or skipped so far, by name.
    pub counters: Vec<(String, u64)>,
    /// System properties at the failure, without those that the JDK sets by itself, in the order of
    /// their names; secrets are masked as in the command line.
    #[serde(default)]
    pub properties: Vec<(String, String)>,
    /// The order in which `Set.of` and `Map.of` iterate, which each JVM draws at random: `SALT32L`
    /// of `java.util.ImmutableCollections` (32 bits: which part of the table comes first) and
    /// `REVERSE` (whether the iteration goes upwards from there).
    #[serde(default)]
    pub order: Option<(i64, bool)>,
    /// The locale and the time zone that the JVM used where the program named none.
    #[serde(default)]
    pub defaults: Defaults,
}

impl Meta {
    /// Whether two files record the same crash, judged by those circumstances that trimmed files
    /// keep. Files that earlier releases trimmed have no process id.
    pub fn is_same(&self, other: &Meta) -> bool {
        let times = |meta: &Meta| (meta.started_ms, meta.time_ms);
        let is_of_process = self.pid == other.pid || self.pid == 0 || other.pid == 0;
        is_of_process && times(self) == times(other)
    }
}

/// The JVM's default locale and time zone, whether they come from the system, from options of the
/// JVM, or from the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
    /// The language tag of the locale (BCP 47); empty if unknown.
    pub locale: String,
    /// The language tag of the locale for numbers and dates, if it is another one; else empty.
    pub format: String,
    /// The id of the time zone; empty if nothing had asked for it yet.
    pub zone: String,
}

/// The most exceptions of a failure that are kept, counting causes and suppressed exceptions.
pub const MAX_EXCEPTIONS: usize = 32;

/// The exception and the frames it passed through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The exceptions: `exceptions[0]` is the failure; the others are its causes and suppressed
    /// exceptions.
    pub exceptions: Vec<ExceptionInfo>,
    /// The frames; index 0 is the one that threw.
    pub frames: Vec<Frame>,
    /// Static fields that the methods on the stack may read, as they were at the failure.
    #[serde(default)]
    pub statics: Vec<StaticField>,
    /// The state of all threads, if nothing has failed: one entry for each of the exceptions, which
    /// then have the class [`THREAD_STATE`].
    #[serde(default)]
    pub threads: Vec<ThreadState>,
    /// The objects that constants of the program hold. Programs compare these by identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<Constant>,
}

/// An object that a static final field holds, or of which each JVM has its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// The object's number.
    pub object: u32,
    /// The class that declares the field.
    pub owner: String,
    /// The field's name; or calls, as they are written after the class's name: `currentThread()`. A
    /// reader that does not know these calls uses the hole that is stored in the object's place.
    pub name: String,
}

impl Constant {
    /// Whether it is an object of the JDK of which each JVM has its own, so that a hole is stored
    /// in its place. The name becomes code, so only known names count; others are holes.
    pub fn is_standing(&self) -> bool {
        let module = self.name.strip_prefix("boot().findModule(\"");
        let module = module.and_then(|rest| rest.strip_suffix("\").orElseThrow()"));
        match module {
            Some(module) => self.owner == "java.lang.ModuleLayer" && is_module_name(module),
            None => STANDING.contains(&(self.owner.as_str(), self.name.as_str())),
        }
    }

    /// The expression by which code gets the object, with the class's simple name.
    pub fn code(&self) -> String {
        let class = self.owner.rsplit('.').next().unwrap_or(&self.owner);
        format!("{class}.{}", self.name)
    }
}

/// The objects of which each JVM has its own, except modules: owners and names, as in [`Constant`].
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

/// Whether a text has only characters of module names, none of which ends a string literal.
fn is_module_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "._$".contains(c))
}

/// A static field at the failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StaticField {
    /// The class that declares it.
    pub owner: String,
    /// The field's name.
    pub name: String,
    /// The field's descriptor.
    pub descriptor: String,
    /// The field's access flags (JVMS 4.5).
    pub access: u16,
    /// The field's value.
    pub value: Value,
}

/// The state of a thread that goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadState {
    /// The thread's name.
    pub name: String,
    /// The thread's state, as `Thread.getState` calls it: `RUNNABLE`, `BLOCKED`, ...
    pub state: String,
    /// Whether it is a daemon thread, for whose end the JVM does not wait.
    pub daemon: bool,
    /// Whether it is a virtual thread.
    #[serde(default)]
    pub is_virtual: bool,
    /// How many other virtual threads have the same stack and are left out.
    #[serde(default)]
    pub alike: u32,
    /// What it waits for: a monitor, or the object that it is parked for.
    pub wants: Option<Lock>,
    /// The monitors that it holds.
    pub owns: Vec<Lock>,
}

/// A monitor or a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The number of the object.
    pub object: Option<u32>,
    /// The object's class.
    pub class: String,
    /// Index in [`Failure::threads`] of the thread that holds it.
    pub owner: Option<u32>,
}

/// A throwable, as it was at the failure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExceptionInfo {
    /// The exception's class.
    pub class: String,
    /// The field `detailMessage`, which is not always what `getMessage` returns. For a
    /// `NullPointerException` without one, it is the JVM's own message, as from Java 17 on.
    pub message: Option<String>,
    /// The number of the exception's object, if it is in the graph. No agent has stored it so far;
    /// the field is kept because later fields are found by their position.
    pub object: Option<u32>,
    /// The stack trace, innermost element first; empty if the JVM gave none.
    pub stack: Vec<StackElement>,
    /// Index of the cause in [`Failure::exceptions`].
    pub cause: Option<u32>,
    /// Indices of the suppressed exceptions in [`Failure::exceptions`].
    pub suppressed: Vec<u32>,
}

/// One element of a stack trace, as the JVM reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackElement {
    /// The declaring class.
    pub class: String,
    /// The method's name.
    pub method: String,
    /// The source file, if it is known.
    pub file: Option<String>,
    /// The source line; negative if unknown, -2 in a native method.
    pub line: i32,
}

impl StackElement {
    /// Whether it is in a native method.
    pub fn is_native(&self) -> bool {
        self.line == -2
    }
}

/// One frame of the failure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The declaring class.
    pub class: String,
    /// The method's name; `<init>` for a constructor.
    pub method: String,
    /// The method's descriptor; empty if the frame was not captured.
    pub descriptor: String,
    /// The source line that was being executed.
    pub line: Option<i32>,
    /// The source file.
    pub file: Option<String>,
    /// The access flags of the method (JVMS 4.6); 0 if the frame was not captured.
    pub access: u16,
    /// The fidelity of the arguments.
    pub fidelity: Fidelity,
    /// Why the frame has no arguments or less than was asked for; empty if it has all.
    pub reason: String,
    /// SHA-256 of the class file as it was loaded (before Hindsight), in hexadecimal.
    pub class_sha256: Option<String>,
    /// The receiver (index 0) and the parameters (from 1) at entry.
    pub arguments: Vec<Argument>,
    /// The places whose value at this frame's entry differs from the graph.
    pub patch: Vec<Patch>,
    /// Index in [`Failure::exceptions`] of the exception that passed through.
    pub exception: u32,
}

impl Frame {
    /// Whether this may be the frame of an element of its exception's stack trace. One with that
    /// place has file and line from the trace; a frame that is known by the stack alone, because
    /// the trace is of an earlier throw, has a line but no file.
    pub fn is_at(&self, element: &StackElement) -> bool {
        (&self.class, &self.method) == (&element.class, &element.method)
            && self
                .line
                .is_none_or(|line| line == element.line && self.file == element.file)
    }
}

/// How closely a frame's arguments represent the state at its entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub enum Fidelity {
    /// The frame was not captured: only the stack trace knows it.
    #[default]
    None,
    /// References are those at entry; objects are as they were at the failure.
    Reference,
    /// References are those at entry, and so are the values of the fields that the method uses.
    Fields,
    /// Everything reachable from the arguments is as it was at entry.
    Deep,
    /// What is reachable from the arguments within some steps is as it was at entry; [`Meta::copy`]
    /// says how many steps.
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
    /// The index: 0 is `this`; parameters count from 1, in static methods, too.
    pub index: u16,
    /// The name in the source, if the class file has it.
    pub name: Option<String>,
    /// The declared type, as a descriptor.
    pub descriptor: String,
    /// The value.
    pub value: Value,
}

/// A field or an element that had another value at a frame's entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The number of the object.
    pub object: u32,
    /// The class that declares the field; empty for an element.
    pub owner: String,
    /// The field's name; empty for an element.
    pub field: String,
    /// The descriptor of the field or element; `L` for an element that is a reference.
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
