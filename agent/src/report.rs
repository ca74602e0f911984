//! From an exception that the probes hand over to a crash file.
//!
//! - [`no_failure`] knows exceptions that are no failures, or none yet; [`key`](mod@key) finds what
//!   makes failures the same.
//! - [`storing`] writes the failure and its objects, without secrets.
//! - [`ways`](mod@ways) reads what the probes know of the way of an exception and of its causes.
//!
//! The rules decide what is a failure. The same failure (by exception classes, the place of the
//! throw, and the program's first frames) is stored once and then counted; `per-minute` and
//! `max-crashes` bound the rest.

mod key;
mod no_failure;
mod storing;
mod ways;

use crate::agent::Agent;
use crate::attach;
use crate::earlier;
use crate::exceptions::{self, Exceptions};
use crate::frames::{self, Frames};
use crate::jni::{Jni, Obj};
use crate::known::{Decision, Extent, Kind, Stored};
use crate::shim::Raw;
use crate::shim::live::{LiveFrames, on_stack};
use crate::snapshot::graph::Graph;
use crate::statics;
use crate::sys;
use crate::undo::log::Logs;
use crate::undo::rollback::Undo;
use hindsight_tracelog::crash::{ASKED_FOR, Failure, SKIPS, STATE_RECORDED};
use key::key;
use no_failure::{is_dying, is_jump, is_stop, is_without_room};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
pub(crate) use storing::{meta, store};
use ways::{other_ways, was_reported_elsewhere, ways};

/// The reasons why the probes call; the numbers are those in `HindsightThread.java`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    Uncaught,
    Escape,
    Caught,
    /// The program asks for a record of an exception.
    Record,
    /// The program asks for a record of its present state.
    RecordState,
    /// The code that has caught it calls the handler of uncaught exceptions, and the thread goes
    /// on.
    HandedOver,
    /// It has left a method of an `escape:` rule when there was no room to report it, and is caught
    /// now, perhaps to be rethrown, or the thread dies of it.
    Overdue,
}

/// The answer to the probes about a failure that they have handed over; the numbers are those in
/// `HindsightThread.java`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Answer {
    /// The rules do not count it as a failure.
    NoFailure = 0,
    /// It is a failure, whether or not it was stored.
    Failure = 1,
    /// It is to be reported again, by a method further out.
    Later = 2,
}

impl Trigger {
    pub(crate) fn from_code(code: i32) -> Option<Trigger> {
        match code {
            0 => Some(Trigger::Uncaught),
            1 => Some(Trigger::Escape),
            2 => Some(Trigger::Caught),
            3 => Some(Trigger::Record),
            4 => Some(Trigger::RecordState),
            5 => Some(Trigger::HandedOver),
            6 => Some(Trigger::Overdue),
            _ => None,
        }
    }

    /// Whether the program asks, so that no rule decides.
    fn is_asked_for(self) -> bool {
        matches!(self, Trigger::Record | Trigger::RecordState)
    }
}

/// A failure as the probes have handed it over. `way` and `kept` come from
/// `HindsightThread`.
pub(crate) struct Call {
    pub(crate) trigger: Trigger,
    pub(crate) method: i32,
    pub(crate) exception: Obj,
    pub(crate) way: Option<Obj>,
    /// The array of the ways that are kept of this thread.
    pub(crate) kept: Option<Obj>,
}

/// Decides whether this is a failure, and records it.
pub(crate) fn report(agent: &'static Agent, jni: Jni, call: &Call) -> Answer {
    // With second chance few handlers report what they catch, so it might never be reported again.
    if matches!(call.trigger, Trigger::Escape | Trigger::Overdue)
        && agent.base.chances.is_none()
        && is_without_room(agent, jni, call.exception)
    {
        if call.trigger == Trigger::Overdue {
            // If no method rethrows it, it is not recorded.
            count(agent, "stack_overflows_without_room");
        }
        return Answer::Later;
    }
    match is_failure(agent, jni, call) {
        true => Answer::Failure,
        false => Answer::NoFailure,
    }
}

fn is_failure(agent: &'static Agent, jni: Jni, call: &Call) -> bool {
    let base = agent.base;
    let rules = &base.options.report;
    let is_uncaught = matches!(call.trigger, Trigger::Uncaught | Trigger::HandedOver);
    if is_uncaught && (!rules.uncaught || is_stop(agent, jni, call.exception))
        || call.trigger == Trigger::HandedOver && is_dying(agent, jni)
    {
        return false;
    }
    if !rules.exception.is_empty()
        && !call.trigger.is_asked_for()
        && !exceptions::is_of(agent, jni, call.exception, &rules.exception)
    {
        base.counters.add("exceptions_narrowed_away", 1);
        return false;
    }
    // A rule that names them wants them.
    if rules.exception.is_empty()
        && matches!(call.trigger, Trigger::Escape | Trigger::Caught)
        && is_jump(agent, jni, call.exception)
    {
        base.counters.add("jumps_passed_over", 1);
        return false;
    }
    if call.trigger != Trigger::Uncaught && !agent.reports.may_examine(kind(agent, jni, call)) {
        base.counters.add("exceptions_not_examined", 1);
        return true;
    }
    if !base.budget.admits_failure() {
        write_if_due(agent);
        return true;
    }
    let before = sys::thread_cpu();
    let done = agent.reports.recording(|| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // Code that throws one shared exception again and again also pays for the examination.
            let known = jni.with_frame(|jni| was_reported(agent, jni, call));
            if known != Some(true) {
                jni.with_frame(|jni| examine(agent, jni, call));
            }
        }))
    });
    let pauses = (base.budget).spend(sys::thread_cpu().saturating_sub(before));
    if pauses && agent.recording.directory().is_dir() {
        crate::run::write(agent);
    }
    if done.is_err() {
        base.complain(
            "crashes_lost_internal",
            "an internal error while recording a crash",
        );
    }
    true
}

fn kind(agent: &Agent, jni: Jni, call: &Call) -> Kind {
    let class = exceptions::class_name(agent, jni, call.exception);
    let first = call.way.and_then(|way| agent.shim.first_method(jni, way));
    (class, call.method, first)
}

fn examine(agent: &'static Agent, jni: Jni, call: &Call) {
    let base = agent.base;
    let mut exceptions = exceptions::read(agent, jni, call.exception);
    if call.trigger == Trigger::RecordState {
        exceptions.infos[0].class = STATE_RECORDED.to_owned();
    } else if !call.trigger.is_asked_for() && SKIPS.contains(&exceptions.infos[0].class.as_str()) {
        base.counters.add("tests_passed_over", 1);
        return;
    }
    let (key, frame) = key(agent, jni, call, &exceptions);
    let stack = &exceptions.infos[0].stack;
    let grows = base.chances.is_some() || base.is_attached();
    let ways = match grows {
        true => ways(agent, jni, call, &exceptions),
        false => Vec::new(),
    };
    let captured = ways.first().map_or(0, |(way, _)| way.frames.len());
    let mut extent = Extent {
        captured,
        // If an exception has no stack trace, only what it has passed is known.
        missing: match stack.is_empty() {
            true => usize::MAX - captured,
            false => stack.len().saturating_sub(captured),
        },
        told: !(base.is_attached() && base.options.copy.need_log()) || attach::has_all_probes(),
    };
    let lesson = base.chances.as_ref().map(|chances| {
        // Frames that are still running have no way.
        let passed: usize = ways.iter().map(|(way, _)| way.frames.len()).sum();
        extent.captured = passed + still_running(agent, jni, call.trigger);
        let lesson = chances.lesson(agent, &exceptions, &|index| {
            let of = ways.iter().filter(|(_, exception)| *exception == index);
            of.flat_map(|(way, _)| names(agent, &way.frames)).collect()
        });
        (chances, lesson)
    });
    let again = was_reported_elsewhere(agent, jni, call, &exceptions);
    let class = &exceptions.infos[0].class;
    match (agent.reports).decide(agent, &key, (class, &frame), again, extent) {
        Decision::Count | Decision::Drop(_) if again => {}
        Decision::Count => count(agent, "crashes_repeated"),
        Decision::Drop(counter) => count(agent, counter),
        Decision::Store => {
            let started = Instant::now();
            let _turn = agent.reports.turn();
            match record(agent, jni, call, exceptions) {
                Ok((name, objects, told)) => {
                    base.counters.add("crashes_stored", 1);
                    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                    let file = Stored {
                        name,
                        objects,
                        millis,
                    };
                    agent.reports.stored(&key, file, told);
                }
                Err(what) => {
                    agent.reports.forget(&key);
                    base.complain(
                        "crashes_not_written",
                        &format!("a crash was not recorded: {what}"),
                    );
                }
            }
            if agent.recording.directory().is_dir() {
                crate::run::write(agent);
            }
        }
    }
    if let Some((chances, lesson)) = lesson {
        chances.take(agent, jni, lesson);
    }
}

/// The number of frames that hand over arguments although the exception has not left them: those
/// whose methods had probes when they were called.
fn still_running(agent: &Agent, jni: Jni, trigger: Trigger) -> usize {
    let methods = &agent.base.methods;
    let left = match trigger {
        Trigger::Uncaught => return 0,
        // The innermost one has handed them over.
        Trigger::Escape => 1,
        _ => 0,
    };
    let changes = earlier::changes();
    let on_stack = on_stack(jni, agent.jvmti);
    let telling = on_stack.iter().filter(|(name, is_old)| {
        let (class, method, _) = &**name;
        !is_old && method != "<init>" && methods.has_probes(class, method)
    });
    let telling = telling.count().saturating_sub(left);
    // Otherwise they may be about to get their probes.
    match changes.is_some() && changes == earlier::changes() {
        true => telling,
        false => 0,
    }
}

/// Counts a failure that is not stored.
fn count(agent: &Agent, counter: &'static str) {
    agent.base.counters.add(counter, 1);
    write_if_due(agent);
}

/// Writes the counts from time to time.
fn write_if_due(agent: &Agent) {
    if agent.recording.directory().is_dir() && agent.reports.is_due() {
        crate::run::write(agent);
    }
}

/// The class and name of the methods of frames.
fn names(agent: &Agent, frames: &[Raw]) -> Vec<(String, String)> {
    let methods = frames
        .iter()
        .filter_map(|raw| agent.base.methods.find(raw.method));
    methods
        .map(|(class, index)| (class.name.clone(), class.method(index).name.to_owned()))
        .collect()
}

/// The class and name of the method of a rule that reports a failure.
fn rules_method(agent: &Agent, call: &Call) -> Option<String> {
    let (class, index) = agent.base.methods.find(u32::try_from(call.method).ok()?)?;
    Some(format!("{}.{}", class.name, class.method(index).name))
}

/// Whether the failure was reported before: the code that caught the exception has rethrown it, to
/// another handler of the same method or by a helper. The first way is in its trace then, and that
/// of a helper is not; for a shared exception that is thrown anew it is different.
fn was_reported(agent: &Agent, jni: Jni, call: &Call) -> bool {
    let Some(way) = call.way.filter(|_| !call.trigger.is_asked_for()) else {
        return false;
    };
    let again = call.trigger == Trigger::Caught && agent.shim.is_reported(jni, way);
    let mut earlier = other_ways(agent, jni, call.kept, call.exception, way)
        .filter(|way| agent.shim.is_reported(jni, *way))
        .peekable();
    if !again && earlier.peek().is_none() {
        return false;
    }
    let exceptions = exceptions::read(agent, jni, call.exception);
    let trace = &exceptions.infos[0].stack;
    let methods = &agent.base.methods;
    let lead_to_catcher = |way, frames: &[Raw]| {
        let catcher = agent.shim.catcher(jni, way);
        catcher.is_some_and(|method| frames::lead_to(method, frames, trace, methods))
    };
    let last = agent.shim.way(jni, way).frames;
    if again && lead_to_catcher(way, &last) {
        return true;
    }
    let mut begins = |way| {
        let frames = agent.shim.way(jni, way).frames;
        // An exception that was caught before it left a method gives no other sign.
        match frames.is_empty() {
            true => lead_to_catcher(way, &frames),
            false => frames::begin(&frames, trace, methods),
        }
    };
    !trace.is_empty() && !frames::begin(&last, trace, methods) && earlier.any(&mut begins)
}

pub(crate) const NO_ENVIRONMENT: &str = "the JVM gives no further JVM TI environment";

/// How often the writes of other threads in the meantime are looked for.
const SETTLING: usize = 4;

/// Reads what other threads have written while the graph was walked, and walks what that leads to,
/// until there is nothing new: a write to an object after it was read does not matter.
fn settle<'a>(
    agent: &Agent,
    jni: Jni,
    graph: &mut Graph<'a>,
    mut undo: Undo<'a>,
) -> Option<Undo<'a>> {
    let thread = agent.jvmti.current_thread();
    for _ in 0..SETTLING {
        let newer = Logs::newer(jni, &agent.shim.log, thread, &undo.ends());
        let known = graph.objects.len();
        graph.catch_up(undo, newer);
        undo = graph.walk()?;
        if graph.objects.len() == known {
            return Some(undo);
        }
    }
    undo.give_up();
    Some(undo)
}

/// Records a failure. Returns the file's name, the number of objects in it, and whether no frame
/// was entered before all probes that log writes were in place.
fn record(
    agent: &'static Agent,
    jni: Jni,
    call: &Call,
    exceptions: Exceptions,
) -> Result<(String, usize, bool), String> {
    let base = agent.base;
    let options = &base.options;
    let tags = base
        .vm
        .jvmti(&[sys::CAN_TAG_OBJECTS, sys::CAN_GET_CONSTANT_POOL])
        .ok_or(NO_ENVIRONMENT)?;
    let thread = agent.jvmti.current_thread();
    let mut graph = Graph::new(
        jni,
        tags,
        options,
        &base.methods,
        &agent.shim.throwable,
        thread,
    );
    let is_secret = |name: &str, of: &str| options.is_secret_of_type(name, of);

    let ways = ways(agent, jni, call, &exceptions);
    let goes_on = call.trigger != Trigger::Uncaught;
    let mut live = LiveFrames::default();
    if goes_on {
        tags.materialize_objects();
        live = agent.shim.live_frames(jni, agent.jvmti);
    }
    let mut merged: Vec<Frames> = Vec::new();
    for (way, index) in ways {
        // For a cause, only what was captured counts: its trace is in the file anyway.
        let (trace, running) = if index == 0 {
            (
                exceptions.infos[0].stack.as_slice(),
                goes_on.then_some(&live),
            )
        } else {
            (&[][..], None)
        };
        let index = index as u32;
        let mut frames = frames::merge(
            way,
            trace,
            running,
            index,
            options.copy,
            &base.methods,
            &mut graph,
            &is_secret,
        );
        if index != 0 {
            frames.take_lines(&exceptions.infos[index as usize].stack);
        }
        merged.push(frames);
    }
    let positions: Vec<i64> = merged.iter().flat_map(Frames::positions).collect();
    if let Some(oldest) = positions.iter().copied().min() {
        let thread = agent.jvmti.current_thread();
        let logs = Logs::read(jni, &agent.shim.log, thread, oldest);
        let tags = base.vm.jvmti(&[sys::CAN_TAG_OBJECTS]);
        let tags = tags.ok_or(NO_ENVIRONMENT)?;
        graph.undo_writes(Undo::new(base, tags, logs, oldest));
    }
    let undo = graph.walk();
    let undo = undo.and_then(|undo| settle(agent, jni, &mut graph, undo));
    let all_told = undo.as_ref().is_none_or(|undo| {
        let mut positions = positions.iter();
        positions.all(|position| !undo.came_before_probes(*position))
    });
    let mut frames = frames::finish(
        merged,
        options.copy,
        &graph,
        undo.ok_or("its thread had no log of writes"),
    );
    (base.known).doubt(&mut frames, &graph.objects, &base.counters);
    // All of a program may lie behind them, and what the frames need comes first.
    graph.at_most(options.max_objects / 4);
    let statics = statics::read(base, jni, &frames, &mut graph);
    graph.walk();
    let constants = statics::constants(base, jni, &frames, &graph);

    let failure = Failure {
        exceptions: exceptions.infos,
        frames,
        statics,
        constants,
        ..Failure::default()
    };
    let method = rules_method(agent, call).unwrap_or_default();
    let reason = match call.trigger {
        Trigger::Uncaught | Trigger::HandedOver => "uncaught".to_owned(),
        Trigger::Escape | Trigger::Overdue => format!("escape:{method}"),
        Trigger::Caught => format!("caught:{method}"),
        Trigger::Record | Trigger::RecordState => ASKED_FOR.to_owned(),
    };
    let thread = agent.jvmti.thread_name().unwrap_or_default();
    let meta = meta(agent, jni, reason, &thread, &mut graph);
    let (name, objects) = store(agent, meta, failure, graph)?;
    Ok((name, objects, all_told))
}

/// The present time in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
