//! `run.json`: what this run was, and everything that was lost or skipped in it.

use crate::agent::{Agent, Base};
use crate::recording;
use crate::report::now_ms;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

static STARTED: OnceLock<i64> = OnceLock::new();

/// When the agent was loaded, milliseconds since 1970.
pub(crate) fn started_ms() -> i64 {
    *STARTED.get_or_init(now_ms)
}

/// The command line with secrets masked.
pub(crate) fn command(base: &Base) -> String {
    recording::command_line(&|name| base.options.is_secret(name)).join(" ")
}

/// Writes `run.json` anew.
pub(crate) fn write(agent: &Agent, ended: bool) {
    let base = agent.base;
    let property = |name: &std::ffi::CStr| agent.jvmti.system_property(name).unwrap_or_default();
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
    let run = json!({
        "schema": "hindsight.run/1",
        "hindsight": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "started_ms": started_ms(),
        "ended_ms": ended.then(now_ms),
        "version": base.options.version,
        "jvm": {
            "name": property(c"java.vm.name"),
            "version": property(c"java.vm.version"),
            "java_version": agent.java_version,
        },
        "command": recording::command_line(&|name| base.options.is_secret(name)),
        "options": options,
        "copy": {
            "receiver": base.options.copy.receiver.to_string(),
            "arguments": base.options.copy.arguments.to_string(),
            "max_writes": base.options.copy.need_log().then_some(base.options.max_writes),
        },
        "crashes": agent.reports.list(),
        "counters": counters,
    });
    if let Err(what) = agent.recording.write_run(&run) {
        base.complain("run_json_not_written", &what);
    }
}
