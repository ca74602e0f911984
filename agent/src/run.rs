//! `run.json`: what this run was, and everything that was lost or skipped in it.

use crate::agent::{Agent, Base};
use crate::counters::INSTRUMENTED;
use crate::jni::Jni;
use crate::masks;
use crate::recording::Recording;
use crate::report::now_ms;
use crate::shim;
use crate::sys::JValue;
use crate::trace;
use serde_json::{Map, Value, json};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The longest time that the end waits for a crash that is being recorded.
const MAX_DRAIN: Duration = Duration::from_secs(10);

static STARTED: OnceLock<i64> = OnceLock::new();

/// The time when the JVM was started, in milliseconds since 1970: as set by [`set_started`], else
/// the time of the first call.
pub(crate) fn started_ms() -> i64 {
    *STARTED.get_or_init(now_ms)
}

/// Takes the start of this process for that of the JVM, for an agent that is loaded later.
pub(crate) fn set_started() {
    let started = || {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let boot = fs::read_to_string("/proc/stat").ok()?;
        process_start_ms(&stat, &boot)
    };
    let _ = STARTED.set(started().unwrap_or_else(now_ms));
}

/// The start of a process, from `/proc/self/stat` and `/proc/stat`.
fn process_start_ms(stat: &str, boot: &str) -> Option<i64> {
    // The command's name, in parentheses, may contain anything. Behind it the 20th field is the
    // start, in hundredths of a second since boot.
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: i64 = rest.split_whitespace().nth(19)?.parse().ok()?;
    let boot = boot.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(boot.trim().parse::<i64>().ok()? * 1000 + ticks * 10)
}

/// The arguments of the command line, with secrets masked, and passed to `secret`.
pub(crate) fn command(base: &Base, secret: &mut dyn FnMut(&str)) -> Vec<String> {
    masks::command_line(&|name| base.options.is_secret_text(name), secret)
}

/// The time when the recording has ended, in milliseconds since 1970.
static ENDED: OnceLock<i64> = OnceLock::new();

/// The reason why nothing more is recorded then.
pub(crate) const OVER: &str =
    "the agent has been switched off in this JVM, where it cannot start a second time";

/// Whether the recording has ended, while the agent is still in the JVM.
pub(crate) fn is_over() -> bool {
    ENDED.get().is_some()
}

/// Ends the recording: when the JVM shuts down, or when an attached agent is switched off. The
/// probes stay where they are. `false` if they cannot be notified.
pub(crate) fn stop(agent: &Agent, jni: Jni) -> bool {
    ENDED.get_or_init(now_ms);
    let told = agent.shim.set_ready(jni, false);
    if let Some(tracing) = trace::tracing() {
        tracing.finish(jni);
    }
    agent.reports.drain(MAX_DRAIN);
    if let Some(chances) = &agent.base.chances {
        chances.stop(agent.base);
    }
    if agent.recording.directory().is_dir() {
        write(agent);
    }
    told
}

/// Writes `run.json` anew. It says of an ended recording that it has ended, whoever writes last: an
/// attached agent may be told to end while it starts, and a crash may take longer than the end
/// waits.
pub(crate) fn write(agent: &Agent) {
    // Later states are written later.
    static WRITING: Mutex<()> = Mutex::new(());
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let crashes = agent.reports.list();
    let run = document(agent.base, &agent.java_version, &crashes);
    if let Err(what) = agent.recording.write_run(&run) {
        agent.base.complain("run_json_not_written", &what);
    }
}

/// The feature number of a `java.version` (`17.0.15`, `25-ea`; 1 of `1.8.0_292`), if it begins with
/// one.
pub(crate) fn feature(java_version: &str) -> Option<u32> {
    let end = java_version
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(java_version.len());
    java_version[..end].parse().ok()
}

/// The first release of Java whose programs are recorded. Probes call methods of the JDK that older
/// ones lack (`Reference.refersTo`), so they would fail with an error.
const FIRST_FEATURE: u32 = 17;

/// The reason why programs of this `java.version` are not recorded; `None` if they are.
pub(crate) fn too_old(java_version: &str) -> Option<String> {
    feature(java_version)
        .is_some_and(|feature| feature < FIRST_FEATURE)
        .then(|| {
            format!("this is Java {java_version}, and programs are recorded from Java {FIRST_FEATURE} on")
        })
}

/// Writes the `run.json` of a run in which nothing is recorded.
pub(crate) fn write_not_started(base: &Base, jni: Jni, why: &str) {
    let recording = Recording::new(base.options.out.clone());
    // If the probes are not ours, a second copy of the agent may be recording into this directory.
    if shim::LINKED.load(Ordering::Acquire) && recording.directory().is_dir() {
        let mut run = document(base, &java_version(jni), &[]);
        run["ended_ms"] = json!(now_ms());
        run["not_started"] = json!(why);
        // Its obstacle may be that of the recording, which is reported.
        let _ = recording.write_run(&run);
    }
}

/// How much of what the options name was found when [`write_what_is_found`] last wrote.
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// Writes `run.json` when the first class of `include`, or the first method of a rule of `report`,
/// is loaded. At the start of a JVM there is none of them, and a reader of the file while it runs,
/// or after it was killed, would take it that they match nothing.
pub(crate) fn write_what_is_found(agent: &Agent) {
    let Base {
        options,
        counters,
        named,
        ..
    } = agent.base;
    let is_class = !options.include.is_empty() && counters.get(INSTRUMENTED) > 0;
    let found = usize::from(is_class) + named.found();
    if FOUND.swap(found, Ordering::Relaxed) < found && agent.recording.directory().is_dir() {
        // The end waits for this, and writes last.
        agent.reports.recording(|| {
            // A thread that records a crash meanwhile writes after this.
            let _turn = agent.reports.turn();
            if !is_over() {
                write(agent);
            }
        });
    }
}

/// `java.version`, which JVMTI does not give.
pub(crate) fn java_version(jni: Jni) -> String {
    let get = || {
        let system = jni.find_class(c"java/lang/System")?;
        let get = jni.static_method(
            system,
            c"getProperty",
            c"(Ljava/lang/String;)Ljava/lang/String;",
        )?;
        let key = jni.new_string(c"java.version")?;
        jni.call_static_object(system, get, &[JValue { object: key.raw() }])
            .map(|text| jni.string(text))
    };
    get().unwrap_or_default()
}

fn document(base: &Base, java_version: &str, crashes: &[Value]) -> Value {
    let property = |name: &std::ffi::CStr| base.jvmti.system_property(name).unwrap_or_default();
    let counters: Map<String, Value> = base
        .counters
        .snapshot()
        .into_iter()
        .map(|(name, count)| (name, json!(count)))
        .collect();
    let options: Map<String, Value> = base
        .options
        .given
        .iter()
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    let redact = base.options.redact.entries();
    let redact: Vec<Value> = redact
        .map(|(entry, has_named)| json!({ "entry": entry, "has_named": has_named }))
        .collect();
    json!({
        "schema": "hindsight.run/1",
        "hindsight": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "started_ms": started_ms(),
        "ended_ms": ENDED.get(),
        "version": base.options.version,
        "jvm": {
            "name": property(c"java.vm.name"),
            "version": property(c"java.vm.version"),
            "java_version": java_version,
        },
        "command": command(base, &mut |_| ()),
        "options": options,
        "copy": {
            "receiver": base.options.copy.receiver.to_string(),
            "arguments": base.options.copy.arguments.to_string(),
            "max_writes": base.options.copy.need_log().then_some(base.options.max_writes),
        },
        "cpu": base.budget.describe(),
        "crashes": crashes,
        "rules": base.named.describe(),
        "redact": redact,
        "counters": counters,
    })
}

#[cfg(test)]
mod tests {
    use super::{process_start_ms, too_old};

    #[test]
    fn programs_are_recorded_from_java_17_on() {
        for java_version in ["1.8.0_292", "11.0.13", "16"] {
            assert!(too_old(java_version).is_some_and(|why| why.contains(java_version)));
        }
        for java_version in ["17.0.15", "17-ea", "25", "26-internal", ""] {
            assert_eq!(too_old(java_version), None);
        }
    }

    #[test]
    fn the_start_of_a_process_is_read() {
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 19";
        assert_eq!(
            process_start_ms(stat, "cpu 1\nbtime 1000\n"),
            Some(1_002_500)
        );
        assert_eq!(process_start_ms("", "btime 1000"), None);
    }
}
