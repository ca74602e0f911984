//! The locks for which threads wait, and who has them.

use super::{BLOCKED, IN_WAIT, Locals, Moment, PARKED, Thread};
use crate::agent::Agent;
use crate::jni::{Jni, Obj};
use crate::jvmti::Jvmti;
use crate::snapshot::graph::Graph;
use hindsight_tracelog::crash::{Lock, Value};
use std::collections::{HashMap, HashSet};

/// The innermost frames of a thread that waits for a monitor, in which the monitor may be.
pub(super) const INNERMOST: usize = 3;

/// A monitor for which threads wait.
pub(super) struct Monitor {
    object: Obj,
    /// The indices of threads.
    owner: Option<usize>,
    waiters: Vec<usize>,
}

impl Moment {
    /// The lock for which a thread waits, and those that it has.
    pub(super) fn locks(
        &self,
        agent: &'static Agent,
        (jni, jvmti): (Jni, Jvmti),
        at: usize,
        graph: &mut Graph<'_>,
    ) -> (Option<Lock>, Vec<Lock>) {
        let Moment { monitors, .. } = self;
        let Thread {
            object: thread,
            state,
            ..
        } = &self.threads[at];
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
        (wants, owns)
    }
}

/// The index of a thread, by its tag.
fn number(jvmti: Jvmti, thread: Obj) -> Option<usize> {
    usize::try_from(jvmti.tag(thread) - 1).ok()
}

/// The monitors for which threads wait. A waiting thread has the monitor in a local variable of its
/// innermost frames, unless it is that of a static method's class.
pub(super) fn monitors(
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
pub(super) fn monitors_of_virtual(
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

/// The thread that holds a lock of `java.util.concurrent`.
fn exclusive_owner(agent: &Agent, jni: Jni, lock: Obj) -> Option<Obj> {
    let locks = &agent.shim.locks;
    (jni.is_instance(lock, *locks.synchronizer))
        .then(|| jni.get_object(lock, locks.exclusive_owner))
        .flatten()
}
