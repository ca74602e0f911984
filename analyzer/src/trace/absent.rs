//! Why there is no trace where one was looked for.

use crate::crashes::collect::runs;
use crate::text::one_line;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the directory of a trace within that of its run.
const TRACE: &str = "trace";

/// Says why a directory has no trace, as far as its content shows.
pub(super) fn why(directory: &Path) -> String {
    let is_trace = directory.ends_with(TRACE);
    let of_run = directory.parent().filter(|_| is_trace);
    let mut runs: Vec<PathBuf> = runs(of_run.unwrap_or(directory)).collect();
    // The file of the last run sorts behind those of earlier ones, run-PID.json.
    runs.sort();
    if let Some(why) = runs.iter().rev().find_map(|run| by_run(run)) {
        return why;
    }
    if is_trace || directory.join(TRACE).is_dir() {
        return "a recording could not start, or was cut before its first events".to_owned();
    }
    let is_empty = fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none());
    let full = match is_empty {
        true => " Where a disk was full at the start, it is as empty, and the JVM has said so.",
        false => "",
    };
    format!("was it recorded with mode=trace?{full}")
}

/// The reason, as far as a run's own file shows it.
fn by_run(run: &Path) -> Option<String> {
    let text = fs::read(run).ok()?;
    let told: Value = serde_json::from_slice(&text).ok()?;
    let name = run.file_name()?.to_string_lossy();
    let not_started = told.get("not_started").and_then(Value::as_str);
    let mode = told.pointer("/options/mode").and_then(Value::as_str);
    let what = match (not_started, mode) {
        (Some(why), _) => format!("the recording could not start: {}", one_line(why, 300)),
        (None, Some("trace")) => {
            "it was recorded with mode=trace, but was cut before its first events, or its files are gone".to_owned()
        }
        (None, _) => "it was not recorded with mode=trace".to_owned(),
    };
    Some(format!("by its {}, {what}", one_line(&name, 80)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn what_the_run_says_is_told() {
        let made = crate::temporary::directory().expect("a directory");
        let told = |directory: &Path| match Trace::open(directory) {
            Ok(_) => panic!("there is no trace"),
            Err(error) => format!("{error:#}"),
        };
        let says = |what: &str| {
            let told = told(made.path());
            assert!(told.ends_with(what), "{told}");
        };
        let file = |name: &str, text: &str| fs::write(made.path().join(name), text);
        says(" it is as empty, and the JVM has said so.");
        file("crash-0001.hsc", "").expect("it is written");
        says(": was it recorded with mode=trace?");
        fs::create_dir(made.path().join(TRACE)).expect("it is made");
        let cut = "a recording could not start, or was cut before its first events";
        says(cut);
        let inner = told(&made.path().join(TRACE));
        assert!(inner.ends_with(cut), "{inner}");
        file("run-7.json", r#"{"options": {}}"#).expect("it is written");
        says("by its run-7.json, it was not recorded with mode=trace");
        let trace = r#"{"options": {"mode": "trace"}}"#;
        file("run.json", trace).expect("it is written");
        says("but was cut before its first events, or its files are gone");
        let full = r#"{"options": {"mode": "trace"}, "not_started": "No space left\u001b"}"#;
        file("run.json", full).expect("it is written");
        says("by its run.json, the recording could not start: No space left\\u001b");
        let inner = told(&made.path().join(TRACE));
        assert!(inner.ends_with("No space left\\u001b"), "{inner}");
    }
}
