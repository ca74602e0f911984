//! Which frames can be called, how, and from which test class.
//!
//! - [`bridges`] leaves out methods that compilers have made to call one that has a test itself.
//! - [`callable`] decides which methods source can call.
//! - [`recursion`] leaves out what a deep stack has too much of.
//! - [`runner`] leaves out the runner of a test of the program, and methods that check for others.
//! - [`names`] names tests and what they mention.

mod bridges;
mod callable;
mod names;
mod recursion;
mod runner;

pub use names::{source_name, test_name};
pub(super) use recursion::OF_RECURSION;
pub(super) use runner::OF_RUNNER;

use bridges::leave_out_bridges;
use names::{camel, capitalized, sanitize_file};
use recursion::{limit, limit_recursion};
use runner::{leave_out_checks, leave_out_runner};

use super::asked::Asked;
use super::build::Recipes;
use super::build::library::Library;
use super::differences::{is_made_at_run_time, is_named_as_proxy, is_of_jdk};
use super::locks::Held;
use super::origins::Origins;
use super::report::Verdict;
use super::unreported::Unreported;
use super::write::is_of_another;
use crate::classpath::{ClassPath, is_jdk};
use crate::graph::Graph;
use crate::input::Input;
use crate::java::harm::is_plain;
use crate::java::names::{is_identifier, sanitize};
use crate::java::{descriptor, numbered};
use crate::text::{absence, gap, simple_name};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Body, Defaults, Fidelity, Frame, Value};
use hindsight_tracelog::reader::Crash;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The reason why a dump of all threads has no tests.
pub(super) const STILL_RUNNING: &str = "nothing has failed that a test could show";

/// The reason why a frame is left out that the user has not named.
pub(super) const NOT_ASKED: &str = "not asked for";

/// The reason why a JDK method is not called that the user has not named: a crash file may come
/// from a stranger.
const OF_JDK: &str =
    "a method of the JDK that may do more than compute; it is called if --frames names it";

/// The package of tests of frames in whose package a test cannot be put.
const FALLBACK_PACKAGE: &str = "hindsight.crashes";

/// The ways to call a frame's method, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Directly.
    Direct,
    /// By name through the replay library.
    Call,
}

/// The state of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// To be compiled, run or both.
    Pending,
    /// Settled, and why.
    Done(Verdict, String),
}

/// The reason why a test that reproduces by itself does not always reproduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lapse {
    /// It did not reproduce when it was run again.
    Unsteady,
    /// It does not reproduce after others in one JVM.
    Together,
}

impl Lapse {
    /// The remark after the reason of the verdict.
    pub fn remark(self) -> &'static str {
        match self {
            Lapse::Unsteady => "; not each time: it depends on threads, time or chance",
            Lapse::Together => {
                "; not with all the others in one JVM, which may leave state behind: run it in one \
                 of its own"
            }
        }
    }

    /// The comment above the test.
    pub fn comment(self) -> &'static str {
        match self {
            Lapse::Unsteady => {
                "Does not reproduce each time: it depends on threads, time or chance."
            }
            Lapse::Together => {
                "Reproduces in a JVM of its own: others may leave state behind that it finds."
            }
        }
    }
}

/// The resources that a test needs besides the program and JUnit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// The number of arguments, including the receiver, that are a literal or constant.
    pub literals: usize,
    /// The number of arguments that are built.
    pub built: usize,
    /// The number of arguments from the crash file.
    pub loaded: usize,
    /// Whether it needs the crash file, for arguments or for static fields.
    pub state: bool,
    /// The number of objects that are built for it.
    pub objects: usize,
    /// Whether it needs the replay library.
    pub library: bool,
}

/// One frame on its way to become a test.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The index of its crash.
    pub crash: usize,
    /// The index of its frame.
    pub frame: usize,
    /// The index of its test class; meaningless if it is unsupported.
    pub class: usize,
    /// The name of its test method.
    pub name: String,
    /// The way in which it is written at present.
    pub level: Level,
    /// Whether objects are to be built where possible.
    pub built: bool,
    /// Whether variables' types have arguments; otherwise they are raw.
    pub typed: bool,
    /// Whether an object is built instead of loaded.
    pub simplified: bool,
    /// Whether what is built was found to be the same as what was recorded.
    pub checked: bool,
    /// Objects that have to be loaded, because building them gave something else.
    pub loaded: Vec<u32>,
    /// The resources that its test needs.
    pub needs: Needs,
    /// Whether the test sets the recorded system properties.
    pub properties: bool,
    /// Whether it sets the recorded default locale and time zone.
    pub defaults: bool,
    /// Whether the test sets the recorded static fields and those of enum constants.
    pub statics: bool,
    /// The value whose monitor it holds while it calls its method.
    pub held: Held,
    /// The static fields, as `Class.field`, that its call reads and that lack what was recorded, if
    /// it reproduces without setting them.
    pub missing: Vec<String>,
    /// Whether the test restores the static state that it finds.
    pub keeps: bool,
    /// The warnings of javac about it, by the names that `@SuppressWarnings` takes; unknown before
    /// it has compiled.
    pub warnings: Option<BTreeSet<String>>,
    /// The reason why it does not always reproduce, if it does by itself.
    pub lapse: Option<Lapse>,
    /// Its exception, if that cannot be reported.
    pub unreported: Option<Unreported>,
    /// The classes of the program whose objects could not be restored for it.
    pub unrestored: Vec<String>,
    /// Its state.
    pub state: State,
}

impl Candidate {
    /// Whether its test builds an object, so that it can be tried with all of them loaded.
    pub fn builds(&self) -> bool {
        self.built && self.simplified
    }
}

/// A test class to be written.
#[derive(Debug)]
pub struct TestClass {
    /// The index of the crash to which it belongs.
    pub crash: usize,
    /// Its package, empty for the unnamed one.
    pub package: String,
    /// Its simple name.
    pub name: String,
    /// The name of the crash file beside it.
    pub resource: String,
    /// The types of its package, which must not be hidden.
    pub siblings: HashSet<String>,
}

impl TestClass {
    /// Its name with the package.
    pub fn full_name(&self) -> String {
        if self.package.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.package, self.name)
        }
    }

    /// Path of a file in its package.
    pub fn path(&self, file: &str) -> PathBuf {
        self.package.split('.').chain([file]).collect()
    }
}

/// All candidates of all crashes.
pub struct Plan<'a> {
    /// The crashes.
    pub inputs: &'a [Input],
    /// The class path with the program's classes.
    pub classpath: &'a ClassPath,
    /// The candidates, crash by crash and frame by frame.
    pub candidates: Vec<Candidate>,
    /// The classes into which they go.
    pub classes: Vec<TestClass>,
    /// What the class path says about making objects.
    pub library: Library<'a>,
    /// The ways in which objects can be made.
    pub recipes: Recipes,
    /// The origins of lambdas and anonymous classes, crash by crash.
    pub origins: Vec<Origins>,
    /// The crashes whose classes have the static state that tests keep; empty for all.
    pub keeping: BTreeSet<usize>,
    /// The default locale and time zone of the JVMs that run tests; unknown before one has run.
    pub defaults: Option<Defaults>,
}

impl<'a> Plan<'a> {
    /// Makes a candidate of each frame.
    ///
    /// Frames that are not in `frames` are refused as not asked for, unless `frames` is empty.
    /// Tests of other crashes that are in `out` keep their names. If tests have to be `proved`,
    /// those of missing classes need not be tried.
    pub fn new(
        inputs: &'a [Input],
        classpath: &'a ClassPath,
        frames: &[Asked],
        out: &Path,
        proved: bool,
    ) -> Plan<'a> {
        let mut plan = Plan {
            inputs,
            classpath,
            candidates: Vec::new(),
            classes: Vec::new(),
            library: Library::new(classpath),
            recipes: Recipes::default(),
            origins: vec![Origins::default(); inputs.len()],
            keeping: BTreeSet::new(),
            defaults: None,
        };
        for crash in 0..inputs.len() {
            plan.add_crash(crash, frames, out, proved);
        }
        plan
    }

    /// The frame of a candidate.
    pub fn frame(&self, candidate: &Candidate) -> &'a Frame {
        &self.inputs[candidate.crash].crash.failure.frames[candidate.frame]
    }

    /// The bytes of the crash file that a class's tests come with; if the tests were run, with the
    /// classes whose objects could not be restored.
    pub fn resource(&self, class: &TestClass, unrestored: Option<&[String]>) -> Cow<'a, [u8]> {
        let file = &self.inputs[class.crash].bytes;
        self.origins[class.crash].added(file, unrestored)
    }

    /// Indices of the candidates that can be tried.
    pub fn supported(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        self.only(&all, |state| *state == State::Pending)
    }

    /// Those of `indices` whose state is wanted.
    pub fn only(&self, indices: &[usize], wanted: impl Fn(&State) -> bool) -> Vec<usize> {
        let wanted = |&index: &usize| wanted(&self.candidates[index].state);
        indices.iter().copied().filter(wanted).collect()
    }

    fn add_crash(&mut self, crash: usize, asked: &[Asked], out: &Path, proved: bool) {
        let recorded = &self.inputs[crash].crash;
        let frames = &recorded.failure.frames;
        let mut refusals: Vec<Option<String>> = frames
            .iter()
            .map(|frame| self.refusal(recorded, frame))
            .collect();
        for (frame, refusal) in frames.iter().zip(&mut refusals) {
            if proved && refusal.is_none() && self.is_absent(recorded, &frame.class) {
                *refusal = Some("its class is not on the class path".to_owned());
            }
        }
        // This precedes the limits of long stacks: a user who asks for one of their frames gets it.
        if !asked.is_empty() {
            let is_asked = |index, frame| asked.iter().any(|asked| asked.has(index, frame));
            for (index, frame) in frames.iter().enumerate() {
                if !is_asked(index, frame) {
                    refusals[index] = Some(NOT_ASKED.to_owned());
                }
            }
        } else {
            for (frame, refusal) in frames.iter().zip(&mut refusals) {
                let is_plain = || is_plain(&frame.class, &frame.method, &frame.descriptor);
                if refusal.is_none() && self.is_platform(recorded, &frame.class) && !is_plain() {
                    *refusal = Some(OF_JDK.to_owned());
                }
            }
        }
        leave_out_runner(frames, &mut refusals);
        leave_out_checks(frames, &recorded.failure.exceptions, &mut refusals);
        limit_recursion(frames, &mut refusals);
        limit(frames, &mut refusals);
        if asked.is_empty() {
            leave_out_bridges(frames, &mut refusals);
        }
        let homes: Vec<Option<String>> = frames.iter().map(|frame| self.home(frame)).collect();
        let fallback = homes
            .iter()
            .zip(&refusals)
            .find_map(|(home, refusal)| match refusal {
                None => home.clone(),
                Some(_) => None,
            });
        let fallback = fallback.unwrap_or_else(|| FALLBACK_PACKAGE.to_owned());
        let mut classes: HashMap<String, usize> = HashMap::new();
        for (index, (frame, refusal)) in frames.iter().zip(refusals).enumerate() {
            let level = if homes[index].is_some() && self.can_call_directly(frame) {
                Level::Direct
            } else {
                Level::Call
            };
            let package = homes[index].clone().unwrap_or_else(|| fallback.clone());
            let class = match (&refusal, classes.get(&package)) {
                (Some(_), _) => usize::MAX,
                (None, Some(&class)) => class,
                (None, None) => {
                    let class = self.add_class(crash, &package, frame, out);
                    classes.insert(package, class);
                    class
                }
            };
            self.candidates.push(Candidate {
                crash,
                frame: index,
                class,
                name: test_name(frame, index),
                level,
                built: false,
                typed: true,
                simplified: false,
                checked: false,
                loaded: Vec::new(),
                needs: Needs::default(),
                properties: false,
                defaults: false,
                statics: false,
                held: Held::Untried,
                missing: Vec::new(),
                keeps: false,
                warnings: None,
                lapse: None,
                unreported: None,
                unrestored: Vec::new(),
                state: match refusal {
                    Some(reason) => State::Done(Verdict::Unsupported, reason),
                    None => State::Pending,
                },
            });
        }
    }

    /// Settles candidates of classes that a JVM of this version cannot load.
    pub fn refuse_newer(&mut self, version: u32) {
        for at in 0..self.candidates.len() {
            let found = self.classpath.info(&self.frame(&self.candidates[at]).class);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            let needs = info.map_or(0, |info| u32::from(info.version).saturating_sub(44));
            if needs > version && matches!(self.candidates[at].state, State::Pending) {
                let reason =
                    format!("its class is for Java {needs}, and this is {version}: see --jdk");
                self.candidates[at].state = State::Done(Verdict::Unsupported, reason);
            }
        }
    }

    /// Adds a remark to constructors that end differently if an object of a subclass was being
    /// made.
    pub fn note_subclasses(&mut self) {
        for at in 0..self.candidates.len() {
            let candidate = &self.candidates[at];
            let frames = &self.inputs[candidate.crash].crash.failure.frames;
            let (frame, next) = (&frames[candidate.frame], frames.get(candidate.frame + 1));
            let Some(next) = next.filter(|next| {
                frame.method == "<init>"
                    && next.method == "<init>"
                    && next.exception == frame.exception
                    && self.is_subclass(&next.class, &frame.class)
            }) else {
                continue;
            };
            let made = next.class.clone();
            if let State::Done(Verdict::Passes | Verdict::Differs, reason) =
                &mut self.candidates[at].state
            {
                reason.push_str(&format!("; in the recording it began an object of {made}"));
            }
        }
    }

    fn is_subclass(&self, class: &str, wanted: &str) -> bool {
        let mut class = class.to_owned();
        for _ in 0..100 {
            let found = self.classpath.info(&class);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            match info.and_then(|info| info.super_class.clone()) {
                Some(above) if above == wanted => return true,
                Some(above) => class = above,
                None => return false,
            }
        }
        false
    }

    /// The reason why a frame cannot be called at all.
    fn refusal(&self, crash: &Crash, frame: &Frame) -> Option<String> {
        let refuse = |reason: &str| Some(reason.to_owned());
        if let Some(reason) = gap(frame) {
            return refuse(reason);
        }
        if !crash.failure.threads.is_empty() {
            return refuse(&format!("its thread was still running: {STILL_RUNNING}"));
        }
        if frame.descriptor.is_empty() || frame.fidelity == Fidelity::None {
            return match absence(frame) {
                Some(reason) => Some(format!("its arguments were not captured: {reason}")),
                None => refuse("its arguments were not captured"),
            };
        }
        if frame.method == "<clinit>" {
            return refuse(
                "a static initializer cannot be called; it runs once, before the test could",
            );
        }
        let is_proxy =
            || is_named_as_proxy(&frame.class) && self.classpath.find(&frame.class).is_none();
        if is_made_at_run_time(crash, &frame.class) || is_proxy() {
            return refuse("its class was made at run time, as a proxy's is: tests cannot name it");
        }
        let Some((parameters, _)) = descriptor::split(&frame.descriptor) else {
            return Some(format!("its descriptor {} is malformed", frame.descriptor));
        };
        let recorded = |index: usize| {
            frame
                .arguments
                .iter()
                .any(|a| usize::from(a.index) == index)
        };
        if let Some(missing) = (1..=parameters.len()).find(|&index| !recorded(index)) {
            return Some(format!("its parameter {missing} was not recorded"));
        }
        if frame.method == "<init>" {
            let found = self.classpath.info(&frame.class);
            let is = |flag| {
                found
                    .as_ref()
                    .and_then(|found| found.info.as_ref())
                    .is_some_and(|info| info.is(flag))
            };
            if is(access::ENUM) {
                return refuse("an enum's constructor cannot be called");
            }
            if is(access::ABSTRACT) {
                return refuse("the constructor of an abstract class cannot be called by itself");
            }
        } else if !self.is_static(frame) {
            let receiver = frame.arguments.iter().find(|argument| argument.index == 0);
            match receiver.map(|receiver| receiver.value) {
                None => return refuse("its receiver was not recorded"),
                Some(Value::Ref(object)) => {
                    if let Some(Body::Hole(reason)) = Graph::at_failure(crash).body(object) {
                        return Some(format!("its receiver was not stored: {reason}"));
                    }
                }
                Some(_) => return refuse("its receiver was recorded as null"),
            }
        }
        None
    }

    /// Whether neither the class path nor the JDK can have a class. A numbered class may now have
    /// another number.
    fn is_absent(&self, crash: &Crash, class: &str) -> bool {
        !is_known_platform(crash, class)
            && !numbered::is_class(class)
            && !is_jdk(class)
            && self.classpath.find(class).is_none()
    }

    /// Whether a JVM takes a class from the JDK: some of the program's have names like those of the
    /// JDK's own.
    fn is_platform(&self, crash: &Crash, class: &str) -> bool {
        let may_be = is_jdk(class) || is_known_platform(crash, class);
        may_be && (class.starts_with("java.") || self.classpath.find(class).is_none())
    }

    /// Whether a frame's method is static.
    pub fn is_static(&self, frame: &Frame) -> bool {
        frame.access & access::STATIC != 0
    }

    fn add_class(&mut self, crash: usize, package: &str, frame: &Frame, out: &Path) -> usize {
        let path = &self.inputs[crash].path;
        let file = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let file = file.unwrap_or_default();
        let stem = file.trim_end_matches(".part").trim_end_matches(".hsc");
        let siblings = self.classpath.types_of_package(package);
        let top = simple_name(&frame.class);
        let top = sanitize(top.split('$').next().unwrap_or(top));
        let mut base = format!("{}{}", capitalized(&top), camel(stem));
        if !is_identifier(&base) {
            base.insert(0, '_');
        }
        let mut class = TestClass {
            crash,
            package: package.to_owned(),
            name: format!("{base}Test"),
            resource: format!("{}.hsc", sanitize_file(stem)),
            siblings,
        };
        let mut number = 1;
        // Each of several runs has its own crash-0001.hsc.
        while class.siblings.contains(&class.name)
            || self.classes.iter().any(|other| {
                other.package == package
                    && (other.name.eq_ignore_ascii_case(&class.name)
                        || other.resource.eq_ignore_ascii_case(&class.resource))
            })
            || is_of_another(&class, &self.inputs[crash], out)
        {
            number += 1;
            class.name = format!("{base}No{number}Test");
            class.resource = format!("{}-{number}.hsc", sanitize_file(stem));
        }
        self.classes.push(class);
        self.classes.len() - 1
    }
}

/// Whether a crash says that a class is the JDK's.
fn is_known_platform(crash: &Crash, class: &str) -> bool {
    let mut known = crash.classes.iter();
    known.any(|info| info.name == class && is_of_jdk(&info.loader))
}
