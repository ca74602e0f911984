//! The frames of a thread that goes on, for dumps of all threads.

use super::{Captured, Frames, Pending, pending, uncaptured};
use crate::copies::Copies;
use crate::jni::Obj;
use crate::methods::{self, Methods};
use crate::shim::Raw;
use crate::snapshot::graph::Graph;
use hindsight_classfile::{MethodDescriptor, Utf8, access};
use hindsight_instrument::{Capture, Method};
use hindsight_tracelog::crash::{Fidelity, StackElement};
use std::sync::Arc;

/// A thread that goes on.
pub(crate) struct OfThread<'t> {
    /// Its frames, innermost first, each with its descriptor.
    pub(crate) elements: &'t [(StackElement, String)],
    /// The number of the exception that stands for the thread.
    pub(crate) exception: u32,
    /// Reads a local variable by the frame's depth, slot and descriptor, if the thread stood still.
    pub(crate) local: Option<&'t ReadLocal<'t>>,
    /// The bytecode index of a frame, by its depth; `None` if it runs a version of its method from
    /// before the probes.
    pub(crate) location: &'t dyn Fn(usize) -> Option<i64>,
}

/// `None` if the variable is not known; otherwise a word, or a reference.
type ReadLocal<'t> = dyn Fn(usize, u16, &str) -> Option<Result<i64, Option<Obj>>> + 't;

/// The local variables of a running frame that have its entry values.
pub(super) enum Kept {
    /// Those into which its probes have copied them.
    ByProbes,
    /// The parameters' own variables, because nothing has run yet: its thread waits for the monitor
    /// of a `synchronized` method, for example. Fields have their present values.
    AtEntry(Vec<u16>),
    /// The parameters' own variables that the method does not overwrite, in a version without
    /// probes. Nothing keeps their objects alive, so a missing one need not be null.
    WithoutProbes(Vec<u16>),
}

impl Kept {
    /// The variables of a frame of this method at a bytecode index; `None` stands for a version
    /// without probes.
    fn of(method: Method<'_>, location: Option<i64>) -> Kept {
        let Some(location) = location else {
            return Kept::without_probes(method);
        };
        let own = own_slots(method);
        // The minimum size of the entry's code for each of them: a load and a store, with a
        // getfield between.
        let copied = method.captures.zip(method.captures.slots());
        let length = copied.map(|(capture, slot)| match (capture, slot) {
            (Capture::Parameter { index, .. }, Some(slot)) => {
                let is_own = own.get(usize::from(index)) == Some(&slot);
                if is_own { 0 } else { 2 }
            }
            (Capture::Field { .. }, Some(_)) => 5,
            _ => 0,
        });
        match location < length.sum() {
            true => Kept::AtEntry(own),
            false => Kept::ByProbes,
        }
    }

    pub(super) fn without_probes(method: Method<'_>) -> Kept {
        Kept::WithoutProbes(own_slots(method))
    }

    /// The entry values of a frame of this method. `read` reads a local variable by its slot and
    /// descriptor, if it is known.
    pub(super) fn read(
        &self,
        method: Method<'_>,
        read: impl Fn(u16, &str) -> Option<Result<i64, Option<Obj>>>,
    ) -> (Raw, Unknown) {
        let mut raw = Raw {
            method: method.id,
            references: Vec::new(),
            words: Vec::new(),
        };
        let mut unknown = Unknown {
            parameters: Vec::new(),
            fields: Vec::new(),
            is_old: self.is_dead_or_null(),
            is_by_probes: matches!(self, Kept::ByProbes),
        };
        for (capture, slot) in method.captures.zip(method.captures.slots()) {
            let type_of = methods::descriptor(&capture);
            let value = (self.slot(&capture, slot)).and_then(|slot| read(slot, type_of));
            match value {
                Some(Ok(word)) => raw.words.push(word),
                Some(Err(reference)) if reference.is_some() || !self.is_dead_or_null() => {
                    raw.references.push(reference);
                }
                _ => {
                    match capture {
                        Capture::Parameter { index, .. } => unknown.parameters.push(index),
                        Capture::Field { name, .. } => unknown.fields.push(name.to_owned()),
                        Capture::Position => {}
                    }
                    match methods::is_reference(type_of) {
                        true => raw.references.push(None),
                        false => raw.words.push(-1),
                    }
                }
            }
        }
        (raw, unknown)
    }

    /// The variable in which a value is kept, if there is one; `slot` is the one of the probes.
    fn slot(&self, capture: &Capture<'_>, slot: Option<u16>) -> Option<u16> {
        let own = |own: &Vec<u16>| match capture {
            Capture::Parameter { index, .. } => own.get(usize::from(*index)).copied(),
            _ => None,
        };
        match self {
            Kept::ByProbes => slot,
            Kept::AtEntry(slots) => own(slots),
            Kept::WithoutProbes(slots) => own(slots).filter(|own| slot == Some(*own)),
        }
    }

    /// Whether a missing reference may be one that the method needs no more.
    pub(super) fn is_dead_or_null(&self) -> bool {
        matches!(self, Kept::WithoutProbes(_))
    }
}

/// The entry values of a running frame that are not known.
pub(super) struct Unknown {
    parameters: Vec<u16>,
    /// The fields that are kept.
    fields: Vec<String>,
    /// Whether the frame runs since before its method got probes.
    is_old: bool,
    /// Whether the known values were copied by the probes.
    is_by_probes: bool,
}

impl Unknown {
    /// Leaves them out of the frame and notes the reason there.
    pub(super) fn leave_out(self, pending: &mut Pending) {
        let frame = &mut pending.frame;
        frame
            .arguments
            .retain(|argument| !self.parameters.contains(&argument.index));
        (pending.fields).retain(|(name, _)| !self.fields.contains(name));
        if self.is_old {
            frame.fidelity = Fidelity::Reference;
            frame.reason = RUNNING_BEFORE.to_owned();
        } else if !self.parameters.is_empty() {
            frame.reason = format!("its primitive arguments {PRIMITIVES_UNKNOWN}");
        } else if !self.fields.is_empty() && self.is_by_probes {
            frame.reason = format!(
                "primitive fields are those of now: as they were, they {PRIMITIVES_UNKNOWN}"
            );
        }
    }
}

/// The local variables of a method's parameters, by index; 0 is `this` (JVMS 2.6.1).
fn own_slots(method: Method<'_>) -> Vec<u16> {
    let mut slots = vec![0];
    let mut next = u16::from(method.access & access::STATIC == 0);
    // Type letters are ASCII, and names of classes are skipped.
    let parsed = MethodDescriptor::parse(Utf8::new(method.descriptor.as_bytes()));
    for parameter in parsed.iter().flat_map(MethodDescriptor::parameters) {
        slots.push(next);
        next = next.saturating_add(parameter.slots());
    }
    slots
}

/// The frames of a thread, with the entry values that are in its local variables.
pub(crate) fn of_thread(
    thread: &OfThread<'_>,
    copy: Copies,
    all: &Methods,
    graph: &mut Graph<'_>,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Frames {
    let mut frames = Vec::new();
    for (depth, (element, descriptor)) in thread.elements.iter().enumerate() {
        let known = || all.named(&element.class, &element.method, descriptor);
        let found = match thread.local {
            Some(local) if element.method != "<init>" => known().map(|found| (local, found)),
            _ => None,
        };
        let Some((local, (class, index))) = found else {
            let mut pending = uncaptured(element, thread.exception, all);
            pending.explain(Some(match thread.local {
                Some(_) => "a constructor that is still running",
                None => "its thread was moving meanwhile",
            }));
            frames.push(pending);
            continue;
        };
        let method = class.method(index);
        let kept = Kept::of(method, (thread.location)(depth));
        let (raw, unknown) = kept.read(method, |slot, descriptor| local(depth, slot, descriptor));
        let captured = Captured {
            class: Arc::clone(&class),
            index,
            raw,
        };
        let mut pending = pending(
            captured,
            Some(element),
            thread.exception,
            copy,
            graph,
            is_secret,
        );
        unknown.leave_out(&mut pending);
        frames.push(pending);
    }
    Frames(frames)
}

const PRIMITIVES_UNKNOWN: &str = "are known only of a thread that waits, in a JVM that was started with dump-on, of a method that \
     does not write over them";

const RUNNING_BEFORE: &str = "it was running when it got its probes: arguments that are not here are not known, and \
     fields are those of now";
