//! Decides which crashes are the same failure.
//!
//! Two crashes are one failure if exception and causes have the same classes, and the program's
//! methods nearest to the throw are the same. The JDK's methods count if there are no others,
//! except in a wrapper that has come through none of the program's methods and whose cause has.
//! Lines are not part of the key, because they differ from release to release; nor are the numbers
//! in names that compilers and the JVM generate.

use crate::classpath::is_platform;
use crate::java::numbered::generated;
use crate::text::hex;
use hindsight_tracelog::crash::{ExceptionInfo, Failure, Fidelity, Frame, StackElement};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The default number of the program's methods that count.
pub const FRAMES: usize = 5;

/// The number of methods of a cause that count.
const CAUSE_FRAMES: usize = 3;

/// The number of frames of an endless recursion that are searched for its methods.
const RECURSION_FRAMES: usize = 256;

/// What all crashes of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The class of the exception.
    pub exception: String,
    /// The methods (`package.Class.method`) that it came through first, from
    /// the one that threw.
    pub frames: Vec<String>,
    /// The causes, nearest first.
    pub causes: Vec<Cause>,
}

/// A cause, as far as it belongs to the key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cause {
    /// Its class.
    pub exception: String,
    /// The methods that it came through first.
    pub frames: Vec<String>,
}

impl Key {
    /// The key of a failure, with up to `frames` methods.
    pub fn new(failure: &Failure, frames: usize) -> Key {
        let Some(first) = failure.exceptions.first() else {
            return Key {
                exception: String::new(),
                frames: Vec::new(),
                causes: Vec::new(),
            };
        };
        let known: Vec<&Frame> = failure
            .frames
            .iter()
            .filter(|frame| frame.exception == 0 && frame.method != "...")
            .collect();
        // Of frames that are not in the trace (a helper by which a handler has rethrown the
        // exception), only those with probes are known, which differ from run to run. If the trace
        // is missing, or belongs to another time (of an exception that a class keeps for all), they
        // are all there is.
        let mut captured = known
            .iter()
            .filter(|frame| frame.fidelity != Fidelity::None);
        let first_in_trace =
            captured.find_map(|frame| first.stack.iter().position(|of| frame.is_at(of)));
        let causes = causes(failure, first);
        let is_its_trace = match first_in_trace {
            // In some modes, an exception kept by a future has left its callers since.
            _ if is_kept_by_future(first) => true,
            Some(at) => first.stack[..at].iter().all(|of| of.method != "<clinit>"),
            None => known.is_empty(),
        };
        let places: Vec<_> = match is_its_trace {
            true => first.stack.iter().map(place).collect(),
            false => known.into_iter().map(method).collect(),
        };
        let key = Key {
            exception: generated(&first.class),
            frames: methods(&first.class, places.into_iter(), frames),
            causes: (causes.into_iter())
                .map(|cause| Cause {
                    exception: generated(&cause.class),
                    frames: methods(
                        &cause.class,
                        cause.stack.iter().map(place),
                        frames.min(CAUSE_FRAMES),
                    ),
                })
                .collect(),
        };
        key.by_cause()
    }

    /// The key without the JDK's methods of a wrapper, if a cause has the program's: they differ
    /// between JDKs, and by chance.
    pub fn by_cause(mut self) -> Key {
        let is_of_program = |frames: &[String]| frames.iter().any(|name| !is_platform(name));
        let Some(last) = (self.causes.iter()).rposition(|cause| is_of_program(&cause.frames))
        else {
            return self;
        };
        let wrappers = self.causes[..last].iter_mut();
        for frames in std::iter::once(&mut self.frames).chain(wrappers.map(|one| &mut one.frames)) {
            if !is_of_program(frames) {
                frames.clear();
            }
        }
        self
    }

    /// A short name that stays the same from run to run and machine to machine:
    /// twelve hexadecimal digits.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        part(&self.exception);
        let frames = |frames: &[String]| frames.join("\n");
        part(&frames(&self.frames));
        for cause in &self.causes {
            part(&cause.exception);
            part(&frames(&cause.frames));
        }
        hex(&hash.finalize()[..6])
    }
}

fn place(element: &StackElement) -> (&str, &str) {
    (&element.class, &element.method)
}

fn method(frame: &Frame) -> (&str, &str) {
    (&frame.class, &frame.method)
}

/// Whether an exception is one in which a future of the JDK has wrapped another, whose trace it
/// has.
fn is_kept_by_future(info: &ExceptionInfo) -> bool {
    let is_wrapper = info.class.starts_with("java.util.concurrent.") && info.cause.is_some();
    is_wrapper && !info.stack.is_empty()
}

/// The causes of an exception, nearest first.
fn causes<'a>(failure: &'a Failure, first: &'a ExceptionInfo) -> Vec<&'a ExceptionInfo> {
    let mut causes = Vec::new();
    let mut at = first.cause;
    while let Some(cause) = at.and_then(|at| failure.exceptions.get(at as usize)) {
        // Causes may form a cycle.
        if causes.len() == failure.exceptions.len() {
            break;
        }
        causes.push(cause);
        at = cause.cause;
    }
    causes
}

/// The methods that count: the program's, or all if none is the program's.
fn methods<'a>(
    exception: &str,
    frames: impl Iterator<Item = (&'a str, &'a str)>,
    most: usize,
) -> Vec<String> {
    let all: Vec<(&str, &str)> = frames.take(RECURSION_FRAMES).collect();
    let program: Vec<_> = all
        .iter()
        .filter(|(class, _)| !is_platform(class))
        .collect();
    let counted = if program.is_empty() {
        all.iter().collect()
    } else {
        program
    };
    let mut names = counted
        .into_iter()
        .map(|(class, method)| format!("{}.{}", generated(class), generated(method)));
    if exception == "java.lang.StackOverflowError" {
        // Where the stack overflowed is a matter of chance; which methods repeat is not.
        let mut round: Vec<String> = names.collect();
        round.sort_unstable();
        round.dedup();
        round.truncate(most);
        return round;
    }
    let mut kept: Vec<String> = Vec::new();
    // A method that calls itself counts once, because the depth depends on the input.
    for name in names.by_ref() {
        if kept.last() == Some(&name) {
            continue;
        }
        if kept.len() == most {
            break;
        }
        kept.push(name);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(exception: &str, frames: &[&str]) -> Failure {
        Failure {
            exceptions: vec![ExceptionInfo {
                class: exception.to_owned(),
                ..ExceptionInfo::default()
            }],
            frames: frames
                .iter()
                .map(|name| {
                    let (class, method) = name.rsplit_once('.').expect("class.method");
                    Frame {
                        class: class.to_owned(),
                        method: method.to_owned(),
                        ..Frame::default()
                    }
                })
                .collect(),
            ..Failure::default()
        }
    }

    fn frames(exception: &str, names: &[&str]) -> Vec<String> {
        Key::new(&failure(exception, names), FRAMES).frames
    }

    #[test]
    fn the_methods_of_the_program_count_without_generated_numbers() {
        let names = [
            "java.util.ArrayList.get",
            "a.Order.lambda$total$3",
            "a.Order.total$lambda$3$lambda$1",
            "a.Order$$Lambda/0x00007f.apply",
            "com.sun.proxy.$Proxy17.call",
            "a.Shop$$EnhancerBySpringCGLIB$$1f2e.run",
            "java.lang.Thread.run",
        ];
        let expected = [
            "a.Order.lambda$total",
            "a.Order.total$lambda$lambda",
            "a.Order$$Lambda.apply",
            "com.sun.proxy.$Proxy.call",
            "a.Shop$$EnhancerBySpringCGLIB.run",
        ];
        assert_eq!(frames("a.E", &names), expected);
        assert_eq!(frames("a.E", &["java.lang.Integer.parseInt"]).len(), 1);
    }

    #[test]
    fn recursion_counts_once_however_deep() {
        let shallow = frames("a.E", &["a.A.leaf", "a.A.walk", "a.A.walk", "a.A.main"]);
        let deep = frames(
            "a.E",
            &["a.A.leaf", "a.A.walk", "a.A.walk", "a.A.walk", "a.A.main"],
        );
        assert_eq!(shallow, deep);
        let even = frames(
            "java.lang.StackOverflowError",
            &["a.A.x", "a.A.y", "a.A.x", "a.A.y"],
        );
        let odd = frames("java.lang.StackOverflowError", &["a.A.y", "a.A.x", "a.A.y"]);
        assert_eq!(even, odd);
    }

    #[test]
    fn frames_that_the_trace_does_not_know_do_not_count() {
        let element = |method: &str| StackElement {
            class: "a.A".to_owned(),
            method: method.to_owned(),
            ..StackElement::default()
        };
        let mut thrown_on = failure("a.E", &["a.A.work", "a.A.sneaky", "a.A.main"]);
        for frame in &mut thrown_on.frames {
            frame.fidelity = Fidelity::Fields;
        }
        thrown_on.exceptions[0].stack = ["work", "main"].map(element).to_vec();
        let mut by_trace = thrown_on.clone();
        by_trace.frames.remove(1);
        let key = Key::new(&thrown_on, FRAMES);
        assert_eq!(key.frames, ["a.A.work", "a.A.main"]);
        assert_eq!(key, Key::new(&by_trace, FRAMES));
        // A shared exception has the trace of the place where it was made.
        for trace in [&["<clinit>"][..], &["<clinit>", "main"]] {
            thrown_on.exceptions[0].stack = trace.iter().copied().map(element).collect();
            assert_eq!(Key::new(&thrown_on, FRAMES).frames.len(), 3);
        }
    }

    #[test]
    fn a_method_that_has_made_an_exception_and_still_runs_does_not_make_its_trace_that_of_the_throw()
     {
        let key = |thrower: &str, is_made_here: bool| {
            let mut kept = failure("a.E", &[thrower, "a.App.handle", "a.App.main"]);
            for frame in &mut kept.frames {
                frame.fidelity = Fidelity::Fields;
            }
            // What runs on is known by the stack: it has lines.
            kept.frames[1].line = Some(7);
            kept.frames[2].line = Some(9);
            kept.exceptions[0].stack = elements(&["a.Parser.<init>", "a.App.main"]);
            let made = &mut kept.exceptions[0].stack[1];
            (made.file, made.line) = (Some("App.java".to_owned()), 9);
            if is_made_here {
                kept.frames[2].file.clone_from(&made.file);
            }
            Key::new(&kept, FRAMES).frames
        };
        let frames = key("a.Parser.parse", false);
        assert_eq!(frames, ["a.Parser.parse", "a.App.handle", "a.App.main"]);
        assert_ne!(frames, key("a.Parser.eval", false));
        // With the place of the trace, it belongs to it.
        let frames = key("a.Parser.parse", true);
        assert_eq!(frames, ["a.Parser.<init>", "a.App.main"]);
    }

    #[test]
    fn causes_belong_to_the_key_and_may_be_circular() {
        let mut wrapped = failure("a.Wrapped", &["a.A.main"]);
        let plain = Key::new(&wrapped, FRAMES);
        wrapped.exceptions[0].cause = Some(1);
        wrapped.exceptions.push(ExceptionInfo {
            class: "a.Cause".to_owned(),
            cause: Some(0),
            ..ExceptionInfo::default()
        });
        let key = Key::new(&wrapped, FRAMES);
        assert_eq!(key.causes[0].exception, "a.Cause");
        assert_ne!(key.id(), plain.id());
        assert_eq!(plain.id().len(), 12);
    }

    fn elements(names: &[&str]) -> Vec<StackElement> {
        let element = |name: &&str| {
            let (class, method) = name.rsplit_once('.').expect("class.method");
            StackElement {
                class: class.to_owned(),
                method: method.to_owned(),
                ..StackElement::default()
            }
        };
        names.iter().map(element).collect()
    }

    /// An exception kept by a future has left the program's methods in some modes, and has come
    /// through other methods of the JDK in each version.
    #[test]
    fn what_a_future_keeps_is_one_failure_in_all_modes_and_jdks() {
        let key = |trace: &[&str], captured: &[&str], of_cause: &[&str]| {
            let mut failure = failure("java.util.concurrent.CompletionException", captured);
            for frame in &mut failure.frames {
                frame.fidelity = Fidelity::Fields;
            }
            failure.exceptions[0].stack = elements(trace);
            failure.exceptions[0].cause = Some(1);
            failure.exceptions.push(ExceptionInfo {
                class: "a.Cause".to_owned(),
                stack: elements(of_cause),
                ..ExceptionInfo::default()
            });
            Key::new(&failure, FRAMES)
        };
        const OLD: &[&str] = &["java.util.C.encode", "java.lang.Thread.run"];
        const NEW: &[&str] = &["java.util.C.wrap", "java.util.C.encode"];
        const CAUSE: &[&str] = &["java.lang.Integer.parseInt", "a.A.parse"];
        let one = key(OLD, &[], CAUSE);
        assert!(one.frames.is_empty(), "{one:?}");
        assert_eq!(one.causes[0].frames, ["a.A.parse"]);
        assert_eq!(one, key(NEW, &[], CAUSE));
        assert_eq!(one, key(NEW, &["a.A.load", "a.A.main"], CAUSE));
        // The methods that wrapped it belong to it, and so do the JDK's if there are no others.
        assert_eq!(key(&["a.A.get"], &["a.A.get"], CAUSE).frames, ["a.A.get"]);
        assert_eq!(key(OLD, &[], OLD).frames.len(), 2);
    }
}
