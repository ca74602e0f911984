//! Attaching to a running JVM, and switching off again.
//!
//! `hindsight attach` makes the JVM load this library. The outcome is written to a file that the
//! command has created and named in front of the options, because the JVM itself returns only a
//! number.

use crate::agent::say;
use crate::earlier::Changed;
use crate::options::Error;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The key in front of the options, which is not an option for users.
const ANSWER_TO: &str = "attach-answer=";

/// The most classes that an answer names.
const MOST_TOLD: usize = 20;

/// Whether all classes that were loaded before have their probes.
static HAS_ALL_PROBES: AtomicBool = AtomicBool::new(false);

/// Whether this is an attached agent, and all classes that were loaded before have their probes.
pub(crate) fn has_all_probes() -> bool {
    HAS_ALL_PROBES.load(Ordering::Acquire)
}

/// The outcome of attaching.
#[derive(Debug)]
pub(crate) enum Answer {
    Started(Changed),
    Stopped,
    /// All threads were recorded, into this file.
    Recorded(PathBuf),
    /// The agent refuses, with one line that says why.
    Refused(String),
    /// The JVM has no agent, as far as this copy of the library knows.
    Absent(String),
}

/// Splits the text into the file that awaits an answer, and the options.
pub(crate) fn answer_to(text: &str) -> (Option<PathBuf>, &str) {
    match text.strip_prefix(ANSWER_TO) {
        Some(rest) => {
            let (path, options) = rest.split_once(',').unwrap_or((rest, ""));
            (Some(PathBuf::from(path)), options)
        }
        None => (None, text),
    }
}

/// The refusal if the agent was loaded before and could not start: what it has left in the JVM
/// stays there.
pub(crate) fn failed(why: &str) -> String {
    format!(
        "the agent is in this JVM already, where it could not start and cannot try again, so nothing is recorded: {why}"
    )
}

/// The refusal of options that are wrong. `jcmd` takes what has no quotes of its own for an option
/// of its command, and passes on only the key.
pub(crate) fn wrong(error: &Error, text: &str, to: Option<&Path>) -> String {
    if to.is_some() || text.is_empty() || text.contains('=') {
        error.to_string()
    } else {
        format!("{error}; for jcmd put quotes within quotes: '\"mode=trace\"'")
    }
}

/// Writes the answer to the file; without a file, prints a refusal on stderr.
pub(crate) fn answer(to: Option<&Path>, answer: &Answer) {
    if matches!(answer, Answer::Started(_)) {
        HAS_ALL_PROBES.store(true, Ordering::Release);
    }
    if let Some(to) = to
        && write(to, &document(answer)).is_ok()
    {
        return;
    }
    if let Answer::Refused(what) | Answer::Absent(what) = answer {
        say(what);
    }
}

fn document(answer: &Answer) -> Value {
    match answer {
        Answer::Started(changed) => {
            let base = crate::agent::base();
            let out = base.map(|base| {
                std::path::absolute(&base.options.out).unwrap_or_else(|_| base.options.out.clone())
            });
            json!({
                "status": "started",
                "out": out,
                "classes": changed.classes,
                "refused": changed.refused.len(),
                "refused_classes": changed.refused.iter().take(MOST_TOLD).map(|(class, why)| {
                    json!({ "class": class, "reason": why })
                }).collect::<Vec<_>>(),
                "longest_ms": changed.longest.as_secs_f64() * 1000.0,
            })
        }
        Answer::Recorded(file) => {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            json!({ "status": "recorded", "file": file })
        }
        Answer::Stopped => json!({ "status": "stopped" }),
        Answer::Refused(what) => json!({ "status": "refused", "reason": what }),
        Answer::Absent(what) => json!({ "status": "refused", "reason": what, "absent": true }),
    }
}

/// Writes one line, whose end shows that it is complete. The file exists already; if it does not,
/// nobody waits any more.
fn write(to: &Path, answer: &Value) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(to)?;
    file.write_all(format!("{answer}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_classes_are_named() {
        let changed = Changed {
            classes: 3,
            refused: vec![("a.B".to_owned(), "it fails verification".to_owned())],
            ..Changed::default()
        };
        let told = document(&Answer::Started(changed));
        assert_eq!(told["refused"], 1);
        assert_eq!(
            told["refused_classes"],
            json!([{ "class": "a.B", "reason": "it fails verification" }])
        );
    }

    #[test]
    fn the_answer_stands_in_front_of_the_options() {
        assert_eq!(answer_to("out=a,copy=fields"), (None, "out=a,copy=fields"));
        let path = Some(PathBuf::from("/tmp/x"));
        assert_eq!(
            answer_to("attach-answer=/tmp/x,out=a,copy=fields"),
            (path.clone(), "out=a,copy=fields")
        );
        assert_eq!(answer_to("attach-answer=/tmp/x"), (path, ""));
    }
}
