//! The start of recording, once the JVM is initialised: defines the probes, hooks what must be
//! hooked, and starts the agent's own threads.

use crate::agent::{self, Agent, Base};
use crate::callbacks::hook_describe;
use crate::earlier::{self, Changed};
use crate::foreign;
use crate::jni::Jni;
use crate::jvmti::Jvmti;
use crate::known::Reports;
use crate::recording::Recording;
use crate::run;
use crate::shim::Shim;
use crate::sys::{self, JValue};
use crate::trace;
use crate::undo;
use hindsight_instrument::contract::{self, ProbeMethod};
use hindsight_instrument::entry_hook;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Defines the probes and hooks class loading. `Err` says why nothing will be recorded.
///
/// `hook_classes` gives the environment that may retransform.
pub(crate) fn start(
    base: &'static Base,
    jni: Jni,
    hook_classes: fn(&Base) -> Option<Jvmti>,
) -> Result<Changed, String> {
    let java_version = run::java_version(jni);
    if let Some(why) = run::too_old(&java_version) {
        return Err(why);
    }
    if earlier::is_archive_written(jni) {
        return Err(
            "this JVM writes an archive of its classes, which must be without probes".to_owned(),
        );
    }
    let shim = Shim::install(jni, base.is_attached())?;
    let recording = Recording::new(base.options.out.clone());
    if let Err(what) = recording.prepare() {
        if base.options.tracing {
            return Err(what);
        }
        base.complain(
            "out_not_writable",
            &format!("{what}; crashes cannot be recorded until it can be made"),
        );
    }
    if base.options.tracing {
        trace::start(base, jni, &recording)?;
    }
    let time_zone = (!base.options.tracing)
        .then(|| jni.required_class(c"java/util/TimeZone").ok())
        .flatten();
    let started = agent::set_agent(Agent {
        base,
        jvmti: base.jvmti,
        shim,
        recording,
        reports: Reports::default(),
        java_version,
        time_zone,
    });
    let untold = base.options.copy.need_log() && base.is_attached();
    if base.options.copy.need_log() {
        if untold {
            started.shim.set_untold(jni, true);
        }
        started.shim.keep_writes(jni, base.options.max_writes);
    }
    let retransformer = hook_classes(base);
    // This comes before any method hands over what the plan has it keep.
    earlier::tell_plan(base, jni);
    let set_ready = |ready| match trace::tracing() {
        Some(tracing) => tracing.set_ready(jni, ready),
        None => started.shim.set_ready(jni, ready),
    };
    let ready = set_ready(true);
    // A command that ends it need not wait for the start.
    if run::is_over() {
        set_ready(false);
    }
    let Some(retransformer) = retransformer.filter(|_| ready) else {
        return Err("the JVM refuses class-loading events".to_owned());
    };
    if base.options.tracing {
        if !hook_uncaught(retransformer, jni) {
            base.counters.add("thread_ends_not_hooked", 1);
        }
        if !hook_virtual_threads(base, retransformer, jni) {
            base.counters.add("virtual_thread_ends_not_hooked", 1);
        }
    } else {
        hook_threads(base, retransformer, jni);
    }
    take_signals(base, &started.shim, jni);
    if let Some(chances) = &base.chances {
        chances.complain(base);
        chances.started(retransformer);
        if !agent_thread(base.jvmti, jni, c"Hindsight Chances", work_forever) {
            base.counters.add("chances_not_started", 1);
        }
    }
    let asks = (base.chances.as_ref()).is_none_or(|chances| chances.asks_at_start(base));
    let changed = match asks {
        true => earlier::instrument(base, retransformer, jni),
        false => earlier::fill_ours(base, retransformer, jni),
    };
    if untold {
        started.shim.set_untold(jni, false);
    }
    if started.recording.directory().is_dir() {
        run::write(started);
    }
    if !agent_thread(base.jvmti, jni, c"Hindsight Sweeper", sweep_forever) {
        base.counters.add("sweeper_not_started", 1);
    }
    Ok(changed)
}

/// Takes over these signals, at which all threads are recorded.
fn take_signals(base: &Base, shim: &Shim, jni: Jni) {
    for signal in &base.options.dump_on {
        let taken = match signal.as_str() {
            // After its own thread dump the JVM asks agents for theirs.
            "QUIT" if !sys::is_caught(libc::SIGQUIT) => {
                base.complain(
                    "signals_not_taken",
                    "this JVM ends at SIGQUIT (-Xrs, -XX:+ReduceSignalUsage): ask by \
                     `jcmd PID JVMTI.data_dump`; dump-on=QUIT does nothing",
                );
                continue;
            }
            "QUIT" => base.jvmti.enable(sys::EVENT_DATA_DUMP_REQUEST),
            name => shim.take_signal(jni, name),
        };
        if !taken {
            base.complain(
                "signals_not_taken",
                &format!("the JVM does not give away SIG{signal}; dump-on={signal} does nothing"),
            );
        }
    }
}

const THREAD: &str = "java/lang/Thread";
const THREAD_GROUP: &str = "java/lang/ThreadGroup";
const VIRTUAL_THREAD: &str = "java/lang/VirtualThread";

/// Set when `java.lang.Thread` is hooked.
static THREAD_HOOKED: AtomicBool = AtomicBool::new(false);
/// Set when `java.lang.Thread` also reports the ends of threads.
static ENDS_HOOKED: AtomicBool = AtomicBool::new(false);
/// Set when `java.lang.ThreadGroup` is hooked.
static GROUP_HOOKED: AtomicBool = AtomicBool::new(false);
/// Set when `java.lang.VirtualThread` is hooked.
static VIRTUAL_HOOKED: AtomicBool = AtomicBool::new(false);

/// Whether this class of the JDK may get calls of the probes.
pub(crate) fn hooks(class: Option<&str>) -> bool {
    matches!(
        class,
        Some(THREAD | THREAD_GROUP | VIRTUAL_THREAD | contract::UPCALLS)
    )
}

/// A class that [`hooks`] names, with a call of a probe, or `None` to leave it.
pub(crate) fn hooked(base: &Base, class: Option<&str>, bytes: &[u8]) -> Option<Vec<u8>> {
    let (hooked, done) = match class {
        Some(contract::UPCALLS) => return hook_upcalls(base, bytes),
        Some(THREAD) => (hook_thread(base, bytes), &THREAD_HOOKED),
        Some(THREAD_GROUP) => (hook_group(base, bytes), &GROUP_HOOKED),
        _ => (hook_virtual_thread(base, bytes), &VIRTUAL_HOOKED),
    };
    if hooked.is_some() {
        done.store(true, Ordering::Release);
    }
    hooked
}

/// The hooked `java.lang.VirtualThread`, or `None` to leave it.
fn hook_virtual_thread(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    let target = match base.options.tracing {
        true => trace::ENDED_VIRTUAL,
        false if base.options.copy.need_log() => undo::ENDED,
        false => return None,
    };
    if foreign::has_probes(bytes) {
        return None;
    }
    // The method that a carrier calls when the thread is done, from JDK 22 on and before.
    let hook = |name| entry_hook(bytes, name, "()V", target).ok();
    hook("afterDone").or_else(|| hook("afterTerminate"))
}

/// Makes threads report the exceptions of which they die, if crashes are recorded, and their ends.
fn hook_threads(base: &Base, retransformer: Jvmti, jni: Jni) {
    let (uncaught, log) = (base.options.report.uncaught, base.options.copy.need_log());
    if !(hooks_deaths(base) || log) {
        return;
    }
    let hooked = hook_uncaught(retransformer, jni);
    if uncaught && !hooked {
        base.complain(
            "uncaught_not_hooked",
            "uncaught exceptions will not be recorded: java.lang.Thread cannot be hooked",
        );
    } else if uncaught && !GROUP_HOOKED.load(Ordering::Acquire) {
        base.counters.add("handed_over_not_hooked", 1);
    }
    if uncaught && !hook_describe(base.jvmti) {
        base.counters.add("described_not_hooked", 1);
    }
    let ends = ENDS_HOOKED.load(Ordering::Acquire);
    if log && !(hook_virtual_threads(base, retransformer, jni) && ends) {
        base.counters.add("thread_ends_not_hooked", 1);
    }
}

/// Makes virtual threads report their ends; `false` if the JVM has their class and it cannot be
/// hooked.
///
/// JNI's `FindClass` would initialise the class, which makes the scheduler and the common pool, by
/// properties that the program may be about to set.
fn hook_virtual_threads(base: &Base, retransformer: Jvmti, jni: Jni) -> bool {
    let is_theirs = |name: &str, loader: sys::Ref| {
        loader.is_null() && name.split('.').eq(VIRTUAL_THREAD.split('/'))
    };
    let changed = earlier::retransform(base, retransformer, jni, 1, &is_theirs, &|_| true);
    changed.classes == 0 || VIRTUAL_HOOKED.load(Ordering::Acquire)
}

/// Puts a call at the entry of `Thread.dispatchUncaughtException`, which the JVM calls for every
/// thread that dies of an exception, including the main thread.
///
/// A handler set by `Thread.setDefaultUncaughtExceptionHandler` would do in most cases, but the
/// program can see it and replace it. When another agent retransforms the class, the JVM starts
/// from the bytes before ours and asks again.
///
/// The same is done with `ThreadGroup.uncaughtException`, which libraries call that catch all
/// exceptions by themselves; if that fails, the others are reported all the same.
fn hook_uncaught(retransformer: Jvmti, jni: Jni) -> bool {
    for class in [c"java/lang/Thread", c"java/lang/ThreadGroup"] {
        if let Some(class) = jni.find_class(class) {
            // Whether it was hooked is determined below.
            let _ = retransformer.retransform(&[class]);
        }
    }
    THREAD_HOOKED.load(Ordering::Acquire)
}

/// The hooked `java.lang.Thread`, or `None` if it is hooked already.
fn hook_thread(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    if foreign::has_probes(bytes) {
        return None;
    }
    if base.options.tracing {
        return entry_hook(bytes, "exit", "()V", trace::ENDED).ok();
    }
    let ended = base.options.copy.need_log().then(|| {
        let hooked = entry_hook(bytes, "exit", "()V", undo::ENDED).ok();
        ENDS_HOOKED.store(hooked.is_some(), Ordering::Release);
        hooked
    });
    let ended = ended.flatten();
    if !hooks_deaths(base) {
        return ended;
    }
    let bytes = ended.as_deref().unwrap_or(bytes);
    calling(bytes, contract::DISPATCH_UNCAUGHT, contract::UNCAUGHT)
}

/// Whether threads report the exceptions of which they die: a failure of an `escape:` rule may be
/// reported only then.
fn hooks_deaths(base: &Base) -> bool {
    let report = &base.options.report;
    report.uncaught || !report.escape.is_empty()
}

/// The hooked `java.lang.ThreadGroup`, or `None` to leave it.
fn hook_group(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    if !base.options.report.uncaught || base.options.tracing || foreign::has_probes(bytes) {
        return None;
    }
    calling(bytes, contract::GROUP_UNCAUGHT, contract::HANDED_OVER)
}

/// The class of the JDK through which native code calls Java, hooked where it handles the exception
/// of such a call: it prints that and ends the JVM, and no thread dies of it. `None` to leave it.
fn hook_upcalls(base: &Base, bytes: &[u8]) -> Option<Vec<u8>> {
    if !base.options.report.uncaught || base.options.tracing || foreign::has_probes(bytes) {
        return None;
    }
    calling(bytes, contract::HANDLE_UNCAUGHT, contract::UNHANDLED)
}

/// A class of which a method calls a probe at its entry; `None` if that is not possible.
fn calling(bytes: &[u8], method: ProbeMethod, probe: ProbeMethod) -> Option<Vec<u8>> {
    let target = (contract::PROBE, probe.name, probe.descriptor);
    entry_hook(bytes, method.name, method.descriptor, target).ok()
}

/// Starts a thread of the agent's own.
pub(crate) fn agent_thread(jvmti: Jvmti, jni: Jni, name: &CStr, body: fn(Jni)) -> bool {
    let make = || {
        let class = jni.find_class(c"java/lang/Thread")?;
        let constructor = jni.method(
            class,
            c"<init>",
            c"(Ljava/lang/ThreadGroup;Ljava/lang/String;)V",
        )?;
        // It is in the system group, so that the program's own groups do not contain a thread of
        // ours.
        let group = jvmti.thread_group()?;
        let group_class = jni.find_class(c"java/lang/ThreadGroup")?;
        let parent = jni.field(group_class, c"parent", c"Ljava/lang/ThreadGroup;")?;
        let system = jni.get_object(group, parent).unwrap_or(group);
        let name = jni.new_string(name)?;
        jni.new_object(
            class,
            constructor,
            &[
                JValue {
                    object: system.raw(),
                },
                JValue { object: name.raw() },
            ],
        )
    };
    make().is_some_and(|thread| jvmti.run_agent_thread(thread, body))
}

fn work_forever(jni: Jni) {
    if let Some(agent) = agent::agent() {
        agent.shim.work_forever(jni);
    }
}

fn sweep_forever(jni: Jni) {
    if let Some(tracing) = trace::tracing() {
        tracing.sweep_forever(jni);
    } else if let Some(agent) = agent::agent() {
        agent
            .shim
            .sweep_forever(jni, || run::write_what_is_found(agent));
    }
}
