//! Makes frames from what the probes have kept and from the stack trace.
//!
//! - [`keys`] finds parameters that are secret because of the key beside them.
//! - [`order`] finds whether a stack trace has frames one after the other.
//! - [`places`](mod@places) finds which element of the stack trace is which captured frame.
//! - [`running`] finds the frames that the thread is still in, and reads their entry values.
//! - [`threads`] makes the frames of a thread that goes on, for dumps of all threads.
//! - [`unwrapped`] restores the frames that an exception has passed inside a wrapper.

mod keys;
mod order;
mod places;
mod running;
pub(crate) mod threads;
pub(crate) mod unwrapped;

pub(crate) use order::{begin, begin_anew, begin_behind_helpers, earlier, lead_to};

use crate::copies::Copies;
use crate::jni::Obj;
use crate::methods::{self, Class, Methods, NOT_CAPTURED};
use crate::shim::live::{Live, LiveFrames};
use crate::shim::{Raw, Way};
use crate::snapshot::graph::{Graph, Kept};
use crate::snapshot::of_word;
use crate::undo::rollback::{Entered, Undo, same};
use hindsight_instrument::Capture;
use hindsight_tracelog::crash::{Argument, Fidelity, Frame, Patch, StackElement, Value};
use keys::beside_secret_keys;
use order::is;
use places::{Known, Place, places};
use running::{Left, Running, still_in};
use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;
use threads::Unknown;

/// A captured frame before the graph has been walked.
struct Pending {
    frame: Frame,
    /// The fields at entry, to be compared with the result of the walk: their names, and the
    /// graph's handles of the values.
    fields: Vec<(String, usize)>,
    /// The position of its thread's log of writes at entry, if the frame was captured and there is
    /// a log.
    position: Option<i64>,
}

/// A captured frame with its method found.
struct Captured {
    class: Arc<Class>,
    index: usize,
    raw: Raw,
}

impl Captured {
    fn is(&self, element: &StackElement) -> bool {
        is(&self.class, self.index, element)
    }
}

/// A frame that its thread is still in, with the values that are not known.
type Found = (Captured, Unknown);

/// The frames whose values are in the graph; patches are made after its walk.
pub(crate) struct Frames(Vec<Pending>);

/// Merges both sources. Every captured frame and every element of the trace is kept; a frame in
/// both gets its line from the trace. `live` has the frames that the thread is still in, if the
/// exception has not reached its end.
#[expect(
    clippy::too_many_arguments,
    reason = "two sources, and what both are looked up in"
)]
pub(crate) fn merge(
    way: Way,
    trace: &[StackElement],
    live: Option<&LiveFrames>,
    exception: u32,
    copy: Copies,
    all: &Methods,
    graph: &mut Graph<'_>,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Frames {
    let dropped_at = way.dropped_at;
    let dropped = way.dropped;
    let from_elsewhere = way.from_elsewhere;
    let is_escaping = way.is_escaping;
    let is_lost = way.is_lost;
    let catcher = way.catcher.and_then(|method| all.find(method));
    let mut captured: VecDeque<(usize, Captured)> = VecDeque::new();
    for (at, raw) in way.frames.into_iter().enumerate() {
        if let Some((class, index)) = all.find(raw.method) {
            captured.push_back((at, Captured { class, index, raw }));
        }
    }
    let has_probes = |element: &StackElement| all.has_probes(&element.class, &element.method);
    let running = live.map(|live| {
        let in_trace: Vec<&Captured> = (captured.iter().map(|(_, one)| one))
            .filter(|one| trace.iter().any(|element| one.is(element)))
            .collect();
        let is_known = !is_lost && dropped == 0 && !from_elsewhere;
        let left = Left {
            is: &|frame, element| in_trace[frame].is(element),
            frames: is_known.then_some(in_trace.len()),
            has_probes: &has_probes,
            is_escaping,
        };
        Running::of(trace, live, &left)
    });
    let within = running.as_ref().map_or(0, |running| {
        // The thread is leaving the last frame.
        running.among(trace.iter(), is_escaping).0
    });
    let places = places(
        &Known {
            frames: if dropped > 0 {
                captured.partition_point(|(at, _)| *at < dropped_at)
            } else {
                captured.len()
            },
            is_lost,
            is_mixed: dropped > 0 || from_elsewhere,
            end: trace.len() - within,
        },
        trace.len(),
        |frame, element| captured[frame].1.is(&trace[element]),
        |element| has_probes(&trace[element]),
    );
    let mut places = places.into_iter().chain(iter::repeat(Place::Outside));

    let mut frames = Vec::new();
    let mut is_traced = !trace.is_empty();
    let mut trace: VecDeque<&StackElement> = trace.iter().collect();
    let mut push_captured = |at: usize,
                             captured: Captured,
                             element: Option<&StackElement>,
                             frames: &mut Vec<Pending>| {
        if dropped > 0 && at == dropped_at {
            frames.push(Pending {
                frame: Frame {
                    class: captured.class.name.clone(),
                    method: "...".to_owned(),
                    reason: format!("{dropped} frames of a deep recursion were not kept"),
                    exception,
                    ..Frame::default()
                },
                fields: Vec::new(),
                position: None,
            });
        }
        frames.push(pending(
            captured, element, exception, copy, graph, is_secret,
        ));
    };
    // A shared exception has the trace of the time when it was made.
    if !captured.is_empty()
        && !from_elsewhere
        && !captured
            .iter()
            .any(|(_, one)| trace.iter().any(|element| one.is(element)))
    {
        trace.clear();
        is_traced = false;
    }
    // The number of the trace's elements that are used up.
    let mut gone = 0;
    while let (Some((at, next)), Some(place)) = (captured.pop_front(), places.next()) {
        if dropped > 0 && at == dropped_at {
            // The rest of the trace belongs to frames that were dropped, not to the last ones.
            trace.clear();
        }
        let is_in_trace = |one: &Captured| trace.iter().any(|element| one.is(element));
        if from_elsewhere
            && !is_in_trace(&next)
            && !captured.iter().any(|(_, one)| is_in_trace(one))
        {
            // From here on it was rethrown in this thread.
            for element in trace.drain(..) {
                let mut pending = uncaptured(element, exception, all);
                pending.explain(Some(ELSEWHERE));
                frames.push(pending);
            }
        }
        let position = match place {
            Place::At(at) => at.checked_sub(gone).filter(|&at| at < trace.len()),
            Place::Outside => None,
            Place::Unknown => continue,
        };
        if let Some(position) = position {
            gone += position + 1;
            for element in trace.drain(..position) {
                frames.push(uncaptured(element, exception, all));
            }
        }
        let element = position.and_then(|_| trace.pop_front());
        push_captured(at, next, element, &mut frames);
    }
    let deep = running.as_ref().is_some_and(Running::is_unknown);
    let (mut running, mut frames_of) = running.map_or((0, &[][..]), |running| {
        running.among(trace.iter().copied(), false)
    });
    // If no frame on its way is known, the exception may come from another thread, which got here
    // the same way.
    let would_be_known = |element: &&StackElement| {
        // A constructor may be in its super(...) call.
        element.method != "<init>" && all.absence(element).starts_with(NOT_CAPTURED)
    };
    let left = trace.len() - running;
    let elsewhere = live.is_some_and(|live| !live.frames.is_empty())
        && frames.is_empty()
        && trace.iter().take(left).any(would_be_known);
    if elsewhere {
        (running, frames_of) = (0, &[]);
    }
    let why = match live {
        Some(_) if elsewhere => Some(ELSEWHERE),
        Some(live) if live.frames.is_empty() => Some(STILL_RUNNING),
        Some(_) if deep => Some(TOO_DEEP),
        _ => None,
    };
    for element in trace.drain(..trace.len() - running) {
        let mut pending = uncaptured(element, exception, all);
        pending.explain(match elsewhere && all.may_have_run(&element.class) {
            true => Some(OLD_OR_ELSEWHERE),
            false => why,
        });
        frames.push(pending);
    }
    let changes = live.and_then(|live| live.changes);
    let mut push_running = |element: &StackElement, live: Option<&Live>| {
        let found = live.and_then(|live| still_in(live, changes, all, graph.jni));
        frames.push(match found {
            Some((captured, unknown)) => {
                let mut pending =
                    pending(captured, Some(element), exception, copy, graph, is_secret);
                unknown.leave_out(&mut pending);
                pending
            }
            None => {
                let mut pending = uncaptured(element, exception, all);
                pending.explain(Some(STILL_RUNNING));
                pending
            }
        });
    };
    let mut frames_of = frames_of.iter();
    for element in trace {
        push_running(element, frames_of.next());
    }
    if let Some(live) = live.filter(|_| !is_traced) {
        // Without a trace of this throw, the stack alone shows what is still running.
        let live = live.frames.as_slice();
        let caught_in = |(class, index): &(Arc<Class>, usize)| {
            (live.iter()).position(|live| is(class, *index, &live.element))
        };
        let first = match is_escaping {
            true => Some(1),
            // The method that has caught it may have called others that ask for a record. The JDK
            // may have called us.
            false => (catcher.as_ref().and_then(caught_in))
                .or_else(|| live.iter().position(|live| has_probes(&live.element))),
        };
        for live in first
            .and_then(|first| live.get(first..))
            .into_iter()
            .flatten()
        {
            push_running(&live.element, Some(live));
        }
    }
    Frames(frames)
}

const STILL_RUNNING: &str = "still running: the exception had not left it";
const ELSEWHERE: &str = "not known here: the exception has left it on another thread, or long ago";
const OLD_OR_ELSEWHERE: &str = "not known here: it was running when it got its probes, or the exception has left it on another \
     thread, or long ago";
const TOO_DEEP: &str =
    "not known: the stack is deeper than its trace, and which of its calls this is cannot be told";

impl Pending {
    /// Notes why a method that has probes was not captured.
    fn explain(&mut self, why: Option<&str>) {
        if let Some(why) = why
            && self.frame.reason.starts_with(NOT_CAPTURED)
        {
            self.frame.reason = why.to_owned();
        }
    }
}

fn uncaptured(element: &StackElement, exception: u32, all: &Methods) -> Pending {
    let mut reason = all.absence(element);
    if reason == NOT_CAPTURED {
        reason = match element.method.as_str() {
            "<init>" => {
                "not captured: it was in its super(...) or this(...) call, where the JVM allows no \
                 handler"
            }
            _ if all.may_have_run(&element.class) => {
                "not captured: it was running when it got its probes; or the exception did not leave it, or \
                 was caught further out and thrown again, or waited while too many others were caught; or there was no \
                 memory or stack left to keep it"
            }
            _ => {
                "not captured: the exception did not leave it (it was made there, and thrown by a \
                 caller), or was caught further out and thrown again, or waited while too many \
                 others were caught; or there was no memory or stack left to keep it"
            }
        }
        .to_owned();
    }
    Pending {
        frame: Frame {
            class: element.class.clone(),
            method: element.method.clone(),
            line: (element.line >= 0).then_some(element.line),
            file: element.file.clone(),
            fidelity: Fidelity::None,
            reason,
            class_sha256: all.sha256(&element.class),
            exception,
            ..Frame::default()
        },
        fields: Vec::new(),
        position: None,
    }
}

fn pending(
    captured: Captured,
    element: Option<&StackElement>,
    exception: u32,
    copy: Copies,
    graph: &mut Graph<'_>,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Pending {
    let Captured { class, index, raw } = captured;
    let method = class.method(index);
    let mut frame = Frame {
        class: class.name.clone(),
        method: method.name.to_owned(),
        descriptor: method.descriptor.to_owned(),
        line: element
            .map(|element| element.line)
            .filter(|line| *line >= 0),
        file: element.and_then(|element| element.file.clone()),
        access: method.access,
        class_sha256: class.sha256(),
        exception,
        ..Frame::default()
    };
    let mut fields = Vec::new();
    let mut position = None;
    if methods::shape(method.captures) != (raw.references.len(), raw.words.len()) {
        frame.reason = "its values were not handed over whole (no stack or memory left)".to_owned();
        return Pending {
            frame,
            fields,
            position,
        };
    }
    let beside = beside_secret_keys(&method, &raw.references, graph);
    let mut references = raw.references.into_iter();
    let mut words = raw.words.into_iter();
    for capture in method.captures {
        let descriptor = methods::descriptor(&capture);
        let reference = if methods::is_reference(descriptor) {
            references.next().flatten()
        } else {
            None
        };
        let marks = graph.marks();
        let marked = match capture {
            Capture::Parameter { index, .. } => {
                marks.parameter(&class.name, method.name, method.descriptor, index)
            }
            // It does not matter which superclass declares it. What a secret object contains is
            // secret as well.
            Capture::Field {
                name, parameter, ..
            } => {
                let mut holders = frame.arguments.iter();
                marks.some_field(name)
                    || holders
                        .any(|holder| holder.index == parameter && graph.is_redacted(holder.value))
            }
            Capture::Position => false,
        };
        let marked = marked
            || matches!(capture, Capture::Parameter { index, .. } if beside.contains(&index));
        let is_secret = |name: &str| marked || is_secret(name, descriptor);
        let mut value = |graph: &mut Graph<'_>, name: Option<&str>, object: Option<Obj>| {
            // A parameter may have no name and yet be annotated.
            let name = name.or(marked.then_some(""));
            if !methods::is_reference(descriptor) {
                let word = words.next().unwrap_or(0);
                if name.is_some_and(is_secret) {
                    Value::Null
                } else {
                    of_word(descriptor.as_bytes()[0], word)
                }
            } else if name.is_some_and(is_secret) {
                graph.secret_reference(object)
            } else {
                graph.reference(object)
            }
        };
        match capture {
            Capture::Parameter { index: 0, .. } if method.name == "<init>" => {
                // A test could not start from an object under construction.
            }
            Capture::Parameter { index, descriptor } => {
                let name = match index {
                    0 => None,
                    index => method.parameter_names.get(usize::from(index) - 1),
                };
                let value = value(graph, name, reference);
                frame.arguments.push(Argument {
                    index,
                    name: name.map(str::to_owned),
                    descriptor: descriptor.to_owned(),
                    value,
                });
            }
            Capture::Field {
                parameter,
                owner,
                name,
                descriptor,
            } => {
                let word = match reference {
                    None if !methods::is_reference(descriptor) => words.next().unwrap_or(0),
                    _ => 0,
                };
                // It is secret wherever else it occurs, and even if its object is not stored.
                if let Some(secret) = reference.filter(|_| is_secret(name)) {
                    graph.secret_reference(graph.jni.local(secret));
                }
                let holder = frame
                    .arguments
                    .iter()
                    .find(|argument| argument.index == parameter);
                // If the parameter was null, there was nothing to load.
                if let Some(Argument {
                    value: Value::Ref(object),
                    ..
                }) = holder
                {
                    let field = (owner.replace('/', "."), name, descriptor);
                    let kept = graph.keep(*object, Kept::new(field, reference, word));
                    fields.push((name.to_owned(), kept));
                }
            }
            Capture::Position => position = words.next(),
        }
    }
    frame.fidelity = copy.fidelity(frame.arguments.iter().map(|argument| argument.index), false);
    Pending {
        frame,
        fields,
        position,
    }
}

impl Frames {
    /// The positions of the log of writes that frames have kept.
    pub(crate) fn positions(&self) -> impl Iterator<Item = i64> {
        let positions = self.0.iter().filter_map(|pending| pending.position);
        positions.filter(|position| *position >= 0)
    }
}

/// Called after the walk: of the values that frames had at entry, keeps those that have changed
/// since. Without a log of writes, `undo` says why.
pub(crate) fn finish(
    merged: Vec<Frames>,
    copy: Copies,
    graph: &Graph<'_>,
    undo: Result<Undo<'_>, &str>,
) -> Vec<Frame> {
    let mut all: Vec<Pending> = merged.into_iter().flat_map(|frames| frames.0).collect();
    let kept: Vec<Vec<(Value, Patch)>> = (all.iter())
        .map(|pending| {
            let fields = pending.fields.iter();
            fields.filter_map(|(_, id)| graph.kept(*id)).collect()
        })
        .collect();
    let mut restored = Vec::new();
    let mut no_log = "";
    if let Err(why) = undo {
        no_log = why;
    }
    if let Ok(mut undo) = undo {
        let entered: Vec<_> = (all.iter().zip(&kept))
            .filter(|(pending, _)| pending.frame.fidelity != Fidelity::None)
            .map(|(pending, fields)| Entered {
                position: pending.position.unwrap_or(-1),
                arguments: &pending.frame.arguments,
                fields,
            })
            .collect();
        restored = undo.restore(graph, copy, &entered);
    }
    let mut restored = restored.into_iter();
    for (pending, fields) in all.iter_mut().zip(kept) {
        let frame = &mut pending.frame;
        if frame.fidelity == Fidelity::None {
            continue;
        }
        let indices = || frame.arguments.iter().map(|argument| argument.index);
        let wanted = copy.fidelity(indices(), true);
        if wanted != copy.fidelity(indices(), false) && !no_log.is_empty() {
            let also = if frame.reason.is_empty() { "" } else { "; " };
            frame.reason = format!("{no_log}{also}{}", frame.reason);
        }
        if let Some(restored) = restored.next() {
            // For a frame without a position, the reason is known.
            if wanted != frame.fidelity && frame.reason.is_empty() {
                frame.reason = restored.reason;
            }
            if let Some(patch) = restored.patch {
                frame.fidelity = wanted;
                frame.patch = patch;
                continue;
            }
        }
        let changed = fields
            .into_iter()
            .filter(|(now, was)| !same(*now, was.value));
        frame.patch.extend(changed.map(|(_, was)| was));
    }
    all.into_iter().map(|pending| pending.frame).collect()
}

impl Frames {
    /// Gives the frames of a cause their lines, from the cause's own trace.
    pub(crate) fn take_lines(&mut self, trace: &[StackElement]) {
        let mut rest = trace;
        for Pending { frame, .. } in &mut self.0 {
            let at = rest
                .iter()
                .position(|element| element.class == frame.class && element.method == frame.method);
            if let Some(at) = at {
                frame.line = (rest[at].line >= 0).then_some(rest[at].line);
                frame.file = rest[at].file.clone();
                rest = &rest[at + 1..];
            }
        }
    }
}
