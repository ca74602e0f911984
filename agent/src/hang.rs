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
//! **Invariant:** no thread of the program is made to run anything. No running thread is suspended;
//! a waiting one is, while its primitive values are read, unless it is virtual.

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
    ExceptionInfo, Failure, Lock, StackElement, THREAD_STATE, THREADS_ASKED_FOR, ThreadState, Value,
};
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

    let mut merged = Vec::new();
    let mut exceptions = Vec::new();
    let mut states = Vec::new();
    for (at, (told, locals)) in threads.iter().zip(&locals).enumerate() {
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
            elements: &elements,
            exception: at as u32,
            local: (!moved).then_some(&local),
            location: &|depth| {
                let frame = stack.get(depth)?;
                (!jvmti.is_obsolete(frame.method)).then_some(frame.location)
            },
        };
        let is_secret = |name: &str, of: &str| options.is_secret_of_type(name, of);
        let frames = frames::threads::of_thread(
            &of_thread,
            options.copy,
            &base.methods,
            &mut graph,
            &is_secret,
        );
        drop(held);
        merged.push(frames);

        let mut lock = |object: Obj| Lock {
            class: crate::exceptions::class_name(agent, jni, object),
            object: match graph.reference(jni.local(object)) {
                Value::Ref(number) => Some(number),
                _ => None,
            },
            owner: None,
        };
        let contended = monitors
            .iter()
            .find(|monitor| monitor.waiters.contains(&at));
        let blocker = || jni.get_object(*thread, agent.shim.locks.park_blocker);
        let wanted = match contended {
            Some(monitor) => Some((monitor.object, monitor.owner)),
            None => (state & PARKED != 0)
                .then(blocker)
                .flatten()
                .map(|blocker| {
                    let owner = exclusive_owner(agent, jni, blocker);
                    (blocker, owner.and_then(|owner| number(jvmti, owner)))
                }),
        };
        let wants = wanted.map(|(object, owner)| Lock {
            // A thread that waits to be notified has released it.
            owner: owner.filter(|owner| *owner != at).map(|owner| owner as u32),
            ..lock(object)
        });
        let owned = monitors.iter().filter(|monitor| monitor.owner == Some(at));
        let owns = owned.map(|monitor| Lock {
            owner: Some(at as u32),
            ..lock(monitor.object)
        });
        let owns = owns.collect();
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

/// The tag of an object without one.
const NO_TAG: i64 = 0;

/// The innermost frames of a thread that waits for a monitor, in which the monitor may be.
const INNERMOST: usize = 3;

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

/// A monitor for which threads wait.
struct Monitor {
    object: Obj,
    /// The indices of threads.
    owner: Option<usize>,
    waiters: Vec<usize>,
}

/// The index of a thread, by its tag.
fn number(jvmti: Jvmti, thread: Obj) -> Option<usize> {
    usize::try_from(jvmti.tag(thread) - 1).ok()
}

/// The monitors for which threads wait. A waiting thread has the monitor in a local variable of its
/// innermost frames, unless it is that of a static method's class.
fn monitors(
    jvmti: Jvmti,
    jni: Jni,
    threads: &[Thread],
    locals: &[Locals],
    objects: &HashMap<i64, Obj>,
) -> Vec<Monitor> {
    let mut candidates = Vec::new();
    let (mut asked, mut methods) = (HashSet::new(), HashSet::new());
    for (Thread { state, stack, .. }, locals) in threads.iter().zip(locals) {
        if state & (BLOCKED | IN_WAIT) == 0 {
            continue;
        }
        let innermost = (0..INNERMOST).filter_map(|depth| locals.get(&depth));
        let tags = innermost.flat_map(|(_, slots)| slots.values());
        candidates.extend(
            tags.filter(|tag| asked.insert(**tag))
                .filter_map(|tag| objects.get(tag))
                .copied(),
        );
        let innermost = stack.first().filter(|frame| methods.insert(frame.method));
        let class = innermost.and_then(|frame| jvmti.method(frame.method));
        candidates.extend(class.map(|(_, _, class)| class));
    }
    let read = |object: Obj| {
        let (owner, waiters) = jvmti.monitor(object)?;
        let numbers = waiters
            .into_iter()
            .filter_map(|thread| number(jvmti, thread));
        let waiters: Vec<usize> = numbers.collect();
        let owner = owner.and_then(|owner| number(jvmti, owner));
        (!waiters.is_empty()).then_some(Monitor {
            object,
            owner,
            waiters,
        })
    };
    let mut found: Vec<Monitor> = Vec::new();
    for monitor in candidates.into_iter().filter_map(read) {
        // The monitor of a class is found for each of its methods in which threads wait.
        let is_it = |known: &Monitor| jni.same(known.object, monitor.object);
        if !found.iter().any(is_it) {
            found.push(monitor);
        }
    }
    found
}

/// Adds the monitors of virtual threads: asked about a monitor, the JVM names platform threads
/// only, and it can be asked about a thread only if it was started with `dump-on`.
fn monitors_of_virtual(
    jvmti: Jvmti,
    telling: Jvmti,
    jni: Jni,
    threads: &[Thread],
    monitors: &mut Vec<Monitor>,
) {
    let virtuals = || threads.iter().enumerate().filter(|(_, t)| t.is_virtual);
    let waiting = virtuals().filter(|(_, thread)| thread.state & (BLOCKED | IN_WAIT) != 0);
    for (at, thread) in waiting {
        let Some(object) = telling.contended_monitor(thread.object) else {
            continue;
        };
        let known = |monitor: &&mut Monitor| jni.same(monitor.object, object);
        match monitors.iter_mut().find(known) {
            Some(monitor) if monitor.waiters.contains(&at) => {}
            Some(monitor) => monitor.waiters.push(at),
            None => {
                let owner = jvmti.monitor(object).and_then(|(owner, _)| owner);
                monitors.push(Monitor {
                    object,
                    owner: owner.and_then(|owner| number(jvmti, owner)),
                    waiters: vec![at],
                });
            }
        }
    }
    if monitors.iter().all(|monitor| monitor.owner.is_some()) {
        return;
    }
    for (at, thread) in virtuals() {
        for object in telling.owned_monitors(thread.object) {
            let known = |monitor: &&mut Monitor| jni.same(monitor.object, object);
            if let Some(monitor) = monitors.iter_mut().find(known) {
                monitor.owner.get_or_insert(at);
            }
            jni.delete_local(object);
        }
    }
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

/// The thread that holds a lock of `java.util.concurrent`.
fn exclusive_owner(agent: &Agent, jni: Jni, lock: Obj) -> Option<Obj> {
    let locks = &agent.shim.locks;
    (jni.is_instance(lock, *locks.synchronizer))
        .then(|| jni.get_object(lock, locks.exclusive_owner))
        .flatten()
}
