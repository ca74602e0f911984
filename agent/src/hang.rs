//! Records what all threads are doing, for a program that hangs: on request from outside, by a
//! signal (`dump-on`) or by `hindsight attach PID record`.
//!
//! The stacks are of one moment, and the references in local variables of others; a thread that has
//! moved in between has frames without arguments. If the JVM was started with `dump-on`, primitive
//! values are recorded as well.
//!
//! Virtual threads are known to the JDK, not to the JVM, and their stacks are read one after the
//! other. There may be any number of them, most of which do the same: a few of each kind are
//! recorded, with the number of the others.
//!
//! - [`locks`] finds the locks for which threads wait.
//!
//! **Invariant:** no thread of the program is made to run anything. No running thread is suspended;
//! a waiting one is, while its primitive values are read, unless it is virtual.

mod locks;

use crate::agent::{Agent, Base};
use crate::frames::{self, threads::OfThread};
use crate::jni::{Jni, Obj};
use crate::jvmti::{Jvmti, StackLocal, Tags};
use crate::report;
use crate::run;
use crate::snapshot::classes::{binary_name, method_name};
use crate::snapshot::graph::Graph;
use crate::sys::{self, FrameInfo, MethodId, StackLocalInfo};
use hindsight_tracelog::crash::{
    ExceptionInfo, Failure, StackElement, THREAD_STATE, THREADS_ASKED_FOR, ThreadState,
};
use locks::{INNERMOST, Monitor, monitors, monitors_of_virtual};
use std::collections::{HashMap, HashSet};

/// The most frames of one thread that are read.
const MAX_FRAMES: usize = 1_024;

/// The most virtual threads that are examined.
const MAX_VIRTUAL: i32 = 20_000;

/// The most virtual threads with the same stack that are recorded.
const MAX_ALIKE: u32 = 3;

/// The most virtual threads that are recorded.
const MAX_TOLD: usize = 1_000;

/// The reason why `copy=deep` restores only what `fields` does here.
const NO_LOG: &str = "writes are undone for a thread that fails, not for all threads";

/// The prefix of the names of the agent's own threads, which are not part of the program.
const OURS: &str = "Hindsight ";

/// The local variables of a thread by depth: the frame's location, and the values by slot.
type Locals = HashMap<usize, (FrameInfo, HashMap<u16, i64>)>;

/// Records all threads and returns the file's name. `Err` says why there is none.
pub(crate) fn record(agent: &'static Agent, jni: Jni) -> Result<String, String> {
    // The user may end the JVM next, which waits for the recording.
    agent.reports.recording(|| match run::is_over() {
        true => Err(run::OVER.to_owned()),
        false => told(agent, jni),
    })
}

fn told(agent: &'static Agent, jni: Jni) -> Result<String, String> {
    let base = agent.base;
    let _turn = agent.reports.turn();
    let before = sys::thread_cpu();
    let recorded = jni.with_frame(|jni| write(agent, jni));
    (base.budget).spend(sys::thread_cpu().saturating_sub(before));
    let recorded = recorded.unwrap_or_else(|| Err("the JVM has no memory left".to_owned()));
    match &recorded {
        Ok(_) => {
            base.counters.add("threads_recorded", 1);
            run::write(agent);
        }
        Err(what) => base.complain(
            "threads_not_recorded",
            &format!("the threads were not recorded: {what}"),
        ),
    }
    recorded
}

fn write(agent: &'static Agent, jni: Jni) -> Result<String, String> {
    let base = agent.base;
    let options = &base.options;
    let tags = base
        .vm
        .jvmti(&[sys::CAN_TAG_OBJECTS, sys::CAN_GET_CONSTANT_POOL])
        .ok_or(report::NO_ENVIRONMENT)?;
    let mut graph = Graph::new(
        jni,
        tags,
        options,
        &base.methods,
        &agent.shim.throwable,
        None,
    );
    let jvmti = Scratch(
        base.vm
            .jvmti(&[
                sys::CAN_TAG_OBJECTS,
                sys::CAN_GET_SOURCE_FILE_NAME,
                sys::CAN_GET_LINE_NUMBERS,
                sys::CAN_GET_MONITOR_INFO,
            ])
            .ok_or(report::NO_ENVIRONMENT)?,
    );
    let jvmti = jvmti.0;
    let moment = Moment::read(agent, jni, jvmti)?;
    let mut merged = Vec::new();
    let mut exceptions = Vec::new();
    let mut states = Vec::new();
    for (at, told) in moment.threads.iter().enumerate() {
        let Thread {
            object: thread,
            state,
            stack,
            is_virtual,
            alike,
        } = told;
        let (mut name, daemon) = jvmti.thread(*thread).unwrap_or_default();
        if name.is_empty() {
            // Most virtual threads are in this state.
            let number = jni.get_integral(*thread, agent.shim.locks.thread_id, b'J');
            name = format!("#{number}");
        }
        let elements: Vec<(StackElement, String)> = stack
            .iter()
            .map(|frame| element(jvmti, jni, *frame))
            .collect();
        merged.push(moment.frames(agent, (jni, jvmti), at, &elements, &mut graph));
        let (wants, owns) = moment.locks(agent, (jni, jvmti), at, &mut graph);
        let state = ThreadState {
            name,
            state: state_name(*state).to_owned(),
            daemon,
            is_virtual: *is_virtual,
            alike: *alike,
            wants,
            owns,
        };
        exceptions.push(ExceptionInfo {
            class: THREAD_STATE.to_owned(),
            message: Some(format!("{}: {}", state.name, state.state)),
            stack: elements.into_iter().map(|(element, _)| element).collect(),
            ..ExceptionInfo::default()
        });
        states.push(state);
    }
    graph.walk();
    let mut frames = frames::finish(merged, options.copy, &graph, Err(NO_LOG));
    (base.known).doubt(&mut frames, &graph.objects, &base.counters);
    let failure = Failure {
        exceptions,
        frames,
        threads: states,
        constants: graph.standing.clone(),
        ..Failure::default()
    };
    let meta = report::meta(agent, jni, THREADS_ASKED_FOR.to_owned(), "", &mut graph);
    report::store(agent, meta, failure, graph).map(|(name, _)| name)
}

/// What threads are doing.
struct Moment {
    threads: Vec<Thread>,
    /// The local variables of each thread.
    locals: Vec<Locals>,
    /// The threads, and the objects in local variables, by the tags that they have.
    objects: HashMap<i64, Obj>,
    monitors: Vec<Monitor>,
}

impl Moment {
    /// Reads what all threads are doing.
    fn read(agent: &'static Agent, jni: Jni, jvmti: Jvmti) -> Result<Moment, String> {
        let base = agent.base;
        let current = jvmti.current_thread();
        let is_meant = |thread: &Obj| {
            let ours = (jvmti.thread(*thread)).is_none_or(|(name, _)| name.starts_with(OURS));
            !ours && current.is_none_or(|current| !jni.same(current, *thread))
        };
        let platform: Vec<Obj> = jvmti.all_threads().into_iter().filter(is_meant).collect();
        let of_platform = jvmti.stacks(&platform, MAX_FRAMES);
        let mut threads: Vec<Thread> = (platform.into_iter().zip(of_platform))
            .map(|(object, (state, stack))| Thread {
                object,
                state,
                stack,
                is_virtual: false,
                alike: 0,
            })
            .collect();
        let first_virtual = threads.len() as i64 + 1;
        if let Some((all, more)) = agent.shim.virtual_threads(jni, MAX_VIRTUAL) {
            threads.extend(virtual_threads(base, jni, jvmti, all, more));
        }
        let finding = base.vm.jvmti(&[sys::CAN_TAG_OBJECTS]);
        let finding = Scratch(finding.ok_or(report::NO_ENVIRONMENT)?);
        for (thread, number) in threads.iter().zip(1..) {
            jvmti.set_tag(thread.object, number);
            finding.0.set_tag(thread.object, number);
        }
        let methods = with_probes(base, jvmti, jni, &threads);
        let wanted = |local: &StackLocalInfo| is_wanted(local, &threads, &methods);
        let behind = threads.len() as i64 + 1;
        let seen = jvmti.stack_locals(first_virtual..=behind - 1, &wanted, Tags::Own);
        // One environment tags the objects, the other finds them.
        (finding.0).stack_locals(first_virtual..=behind - 1, &wanted, Tags::One);
        let found = finding.0.tagged(behind).into_iter();
        let found = found.map(|object| (jvmti.tag(object), object));
        let found = found.filter(|(tag, _)| *tag != NO_TAG);
        let numbers = threads.iter().map(|thread| thread.object);
        let objects: HashMap<i64, Obj> = (1..).zip(numbers).chain(found).collect();
        let mut locals = by_thread(&seen, threads.len());
        for (thread, locals) in threads.iter().zip(&mut locals) {
            if thread.is_virtual {
                show_as_told(&thread.stack, locals);
            }
        }
        let mut monitors = monitors(jvmti, jni, &threads, &locals, &objects);
        if let Some(telling) = base.locals {
            monitors_of_virtual(jvmti, telling, jni, &threads, &mut monitors);
        }
        Ok(Moment {
            threads,
            locals,
            objects,
            monitors,
        })
    }

    /// The frames of a thread, whose stack has these elements.
    fn frames(
        &self,
        agent: &'static Agent,
        (jni, jvmti): (Jni, Jvmti),
        at: usize,
        elements: &[(StackElement, String)],
        graph: &mut Graph<'_>,
    ) -> frames::Frames {
        let base = agent.base;
        let options = &base.options;
        let (locals, objects) = (&self.locals[at], &self.objects);
        let Thread {
            object: thread,
            state,
            stack,
            is_virtual,
            ..
        } = &self.threads[at];
        // Nothing is known of a virtual thread that was mounted or unmounted meanwhile.
        let moved = !agrees(stack, locals) || *is_virtual && locals.is_empty();
        // The JVM shows primitive values only of threads that it has suspended.
        let held = (base.locals).filter(|_| !moved && !is_running(*state) && !is_virtual);
        let held = held.and_then(|locals| Some((locals, locals.suspended(*thread)?)));
        let held = held.filter(|_| {
            let now = jvmti.stacks(&[*thread], MAX_FRAMES);
            now.first().is_some_and(|(_, now)| now == stack)
        });
        let local = |depth: usize, slot: u16, descriptor: &str| match descriptor.as_bytes()[0] {
            b'L' | b'[' => {
                let tag = locals.get(&depth).and_then(|(_, slots)| slots.get(&slot));
                // The graph takes over references, and one object may be in many variables. An
                // object that was collected before it was found is not known.
                let object = tag.map(|tag| objects.get(tag));
                match object {
                    Some(object) => object.map(|object| Err(jni.local(*object))),
                    None => Some(Err(None)),
                }
            }
            letter => {
                let (locals, _) = held.as_ref()?;
                let word = locals.local(*thread, depth, slot, letter)?;
                Some(Ok(word))
            }
        };
        let of_thread = OfThread {
            elements,
            exception: at as u32,
            local: (!moved).then_some(&local),
            location: &|depth| {
                let frame = stack.get(depth)?;
                (!jvmti.is_obsolete(frame.method)).then_some(frame.location)
            },
        };
        let is_secret = |name: &str, of: &str| options.is_secret_of_type(name, of);
        frames::threads::of_thread(&of_thread, options.copy, &base.methods, graph, &is_secret)
    }
}

/// The tag of an object without one.
const NO_TAG: i64 = 0;

/// The most frames in which a virtual thread has been unmounted from its carrier.
const MAX_HIDDEN: usize = 4;

/// The threads' methods that have probes.
fn with_probes(base: &Base, jvmti: Jvmti, jni: Jni, threads: &[Thread]) -> HashSet<MethodId> {
    let frames = threads.iter().flat_map(|thread| &thread.stack);
    let mut methods: HashSet<MethodId> = frames.map(|frame| frame.method).collect();
    methods.retain(|method| {
        let name = method_name(jvmti, jni, *method);
        name.is_some_and(|(class, name, of)| base.methods.named(&class, &name, &of).is_some())
    });
    methods
}

/// Whether a local variable may hold an argument that is recorded, or a monitor for which its
/// thread waits. There are very many others.
fn is_wanted(local: &StackLocalInfo, threads: &[Thread], methods: &HashSet<MethodId>) -> bool {
    let thread = usize::try_from(local.thread_tag - 1);
    let thread = thread.ok().and_then(|at| threads.get(at));
    let (Some(thread), Ok(depth)) = (thread, usize::try_from(local.depth)) else {
        return false;
    };
    let hidden = if thread.is_virtual { MAX_HIDDEN } else { 0 };
    depth < hidden + MAX_FRAMES && methods.contains(&local.method)
        || depth < hidden + INNERMOST && thread.state & (BLOCKED | IN_WAIT) != 0
}

/// A thread that is recorded.
struct Thread {
    object: Obj,
    state: i32,
    stack: Vec<FrameInfo>,
    is_virtual: bool,
    /// The number of other threads in the same place that are not recorded.
    alike: u32,
}

/// The virtual threads to record among those in an array; `more` is the number of those not in it.
fn virtual_threads(base: &Base, jni: Jni, jvmti: Jvmti, all: Obj, more: u32) -> Vec<Thread> {
    let mut told: Vec<Thread> = Vec::new();
    // By stack: the first thread that has it, and the number of those recorded.
    let mut kinds: HashMap<Vec<FrameInfo>, (usize, u32)> = HashMap::new();
    let mut left = more;
    let virtuals = (0..jni.array_len(all) - 1).filter_map(|at| jni.array_get(all, at));
    for object in virtuals {
        let Some((state, stack)) = jvmti.stack(object, MAX_FRAMES) else {
            jni.delete_local(object);
            continue;
        };
        let is_full = told.len() == MAX_TOLD;
        let (is_told, others) = match kinds.get_mut(&stack) {
            Some((first, count)) => {
                let is_told = !is_full && *count < MAX_ALIKE;
                *count += u32::from(is_told);
                (is_told, &mut told[*first].alike)
            }
            None => {
                if !is_full {
                    kinds.insert(stack.clone(), (told.len(), 1));
                }
                (!is_full, &mut left)
            }
        };
        if is_told {
            told.push(Thread {
                object,
                state,
                stack,
                is_virtual: true,
                alike: 0,
            });
        } else {
            *others += 1;
            jni.delete_local(object);
        }
    }
    base.counters
        .add("virtual_threads_left_out", u64::from(left));
    told
}

/// A temporary environment.
struct Scratch(Jvmti);

impl Drop for Scratch {
    fn drop(&mut self) {
        self.0.dispose();
    }
}

const RUNNABLE: i32 = 0x4;
const WITH_TIMEOUT: i32 = 0x20;
const WAITING: i32 = 0x80;
const IN_WAIT: i32 = 0x100;
const PARKED: i32 = 0x200;
const BLOCKED: i32 = 0x400;

fn is_running(state: i32) -> bool {
    state & RUNNABLE != 0
}

/// The state as `Thread.getState` names it.
fn state_name(state: i32) -> &'static str {
    if state & BLOCKED != 0 {
        "BLOCKED"
    } else if state & WAITING != 0 && state & WITH_TIMEOUT != 0 {
        "TIMED_WAITING"
    } else if state & WAITING != 0 {
        "WAITING"
    } else if state & RUNNABLE != 0 {
        "RUNNABLE"
    } else {
        "TERMINATED"
    }
}

fn by_thread(seen: &[StackLocal], threads: usize) -> Vec<Locals> {
    let mut all = vec![Locals::new(); threads];
    for StackLocal { info, tag } in seen {
        let thread = usize::try_from(info.thread_tag - 1)
            .ok()
            .and_then(|at| all.get_mut(at));
        let (Some(thread), Ok(depth), Ok(slot)) = (
            thread,
            usize::try_from(info.depth),
            u16::try_from(info.slot),
        ) else {
            continue;
        };
        let place = FrameInfo {
            method: info.method,
            location: info.location,
        };
        let (_, slots) = thread
            .entry(depth)
            .or_insert_with(|| (place, HashMap::new()));
        slots.insert(slot, *tag);
    }
    all
}

/// Whether a thread was where its stack says when its local variables were read.
fn agrees(stack: &[FrameInfo], locals: &Locals) -> bool {
    locals.iter().all(|(depth, (place, _))| {
        let frame = stack.get(*depth);
        *depth >= MAX_FRAMES
            || frame.is_some_and(|frame| {
                frame.method == place.method && frame.location == place.location
            })
    })
}

/// Numbers the frames of a virtual thread as its stack does. Iterating from the roots, the JVM also
/// reports the frames in which the thread was unmounted; its stack begins behind them.
fn show_as_told(stack: &[FrameInfo], locals: &mut Locals) {
    let without = |hidden: usize| -> Locals {
        let told = locals.iter().filter(|(depth, _)| **depth >= hidden);
        told.map(|(depth, frame)| (depth - hidden, frame.clone()))
            .collect()
    };
    let mut candidates = (0..=MAX_HIDDEN).map(without);
    *locals = candidates
        .find(|told| agrees(stack, told))
        .unwrap_or_default();
}

/// A frame as in a stack trace, and its descriptor.
fn element(jvmti: Jvmti, jni: Jni, frame: FrameInfo) -> (StackElement, String) {
    let Some((method, descriptor, class)) = jvmti.method(frame.method) else {
        return (StackElement::default(), String::new());
    };
    let signature = jvmti.class_signature(class).unwrap_or_default();
    let element = StackElement {
        class: binary_name(&signature),
        method,
        file: jvmti.source_file(class),
        line: jvmti.line(frame.method, frame.location),
    };
    jni.delete_local(class);
    (element, descriptor)
}
