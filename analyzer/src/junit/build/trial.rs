//! Tries things out in a child JVM, with the replay library's `Trial`.

use super::recipe::{Argument, Recipe};
use crate::files::failed;
use crate::jdk::child::run as run_child;
use crate::jdk::class_path;
use crate::junit::compile::Workplace;
use crate::junit::{Options, Result, write_file};
use hindsight_tracelog::crash::Value;
use serde::Serialize;
use std::collections::HashMap;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The time for all trials of one kind.
const MAX_TIME: Duration = Duration::from_secs(120);
/// The most JVMs that may be lost to constructors that never end, or that end the JVM.
const MAX_STARTS: usize = 4;

/// A value of the plan that `Trial` reads.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Pack {
    /// Null.
    Nil(()),
    /// A boolean.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A number.
    Float(f32),
    /// A number.
    Double(f64),
    /// Text.
    Text(String),
    /// Several.
    List(Vec<Pack>),
}

impl Pack {
    /// Some text.
    pub fn text(text: &str) -> Pack {
        Pack::Text(text.to_owned())
    }
}

/// How a recipe gave the recorded state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct How {
    /// The steps that were taken.
    pub steps: Vec<usize>,
    /// The open fields, which still differ.
    pub open: Vec<String>,
    /// The objects to which it has added itself.
    pub adds_to: Vec<u32>,
    /// Whether it has left its arguments as they were recorded.
    pub exact: bool,
}

/// The result of one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// The recipe gave the recorded state.
    Same(How),
    /// The recipe gave another state, or none: the object where it differs, and the reason.
    Different(Option<u32>, String),
}

/// A recipe as `Trial` reads it.
pub fn pack(recipe: &Recipe) -> Pack {
    let steps = recipe.steps.iter().map(|step| {
        let on = step.on.map_or(-1, |on| on as i64);
        let field = match &step.field {
            Some(field) => Pack::Text(format!("{}.{}", field.owner, field.name)),
            None => Pack::Nil(()),
        };
        let arguments = step.arguments.iter().map(argument).collect();
        Pack::List(vec![
            Pack::Int(step.operation as i64),
            Pack::text(&step.class),
            Pack::text(&step.name),
            Pack::text(&step.descriptor),
            Pack::Int(on),
            field,
            Pack::List(arguments),
        ])
    });
    Pack::List(steps.collect())
}

fn argument(argument: &Argument) -> Pack {
    let of = |kind: &str, value: Pack| Pack::List(vec![Pack::text(kind), value]);
    match argument {
        Argument::Step(step) => of("s", Pack::Int(*step as i64)),
        Argument::Code(..) | Argument::Flags(..) => of("n", Pack::Nil(())),
        Argument::Value(typed) => {
            let kind = char::from(typed.kind).to_string();
            match typed.value {
                Value::Ref(object) => of("o", Pack::Int(i64::from(object))),
                Value::Null => of("n", Pack::Nil(())),
                Value::Bool(value) => of(&kind, Pack::Bool(value)),
                Value::Int(value) if typed.kind == b'Z' => of(&kind, Pack::Bool(value != 0)),
                Value::Int(value) => of(&kind, Pack::Int(value)),
                Value::Float(value) => of(&kind, Pack::Float(value)),
                Value::Double(value) => of(&kind, Pack::Double(value)),
            }
        }
    }
}

/// Runs trials in a child JVM, and in a new one after a trial has ended it. What could not be tried
/// is not in the result.
///
/// # Errors
///
/// Fails if no JVM can be started.
pub fn run(
    place: &Workplace<'_>,
    options: &Options,
    kind: &str,
    trials: &[Pack],
) -> Result<HashMap<usize, Tried>> {
    Ok(read(&results(place, options, kind, trials)?))
}

/// The names of numbered classes and methods, with their origins. Those that cannot be determined
/// are not in the result.
///
/// # Errors
///
/// Fails if no JVM can be started.
pub fn origins(
    place: &Workplace<'_>,
    options: &Options,
    asked: &[Pack],
) -> Result<HashMap<usize, String>> {
    let text = results(place, options, "origins", asked)?;
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let number: usize = parts.next()?.parse().ok()?;
        let found = parts.next()? == "yes";
        let name = parts.next().filter(|_| found)?;
        Some((number, name.to_owned()))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// Parses the results of `Trial`.
fn results(
    place: &Workplace<'_>,
    options: &Options,
    kind: &str,
    trials: &[Pack],
) -> Result<String> {
    let started = Instant::now();
    let dir = place.run_dir_named("trial");
    fs::create_dir_all(&dir).map_err(failed("make", &dir))?;
    let plan = dir.join("plan");
    let results = dir.join("results");
    let _ = fs::remove_file(&results);
    let mut next = 0;
    for _ in 0..MAX_STARTS {
        let left = MAX_TIME.saturating_sub(started.elapsed());
        if next >= trials.len() || left.is_zero() {
            break;
        }
        let numbered: Vec<Pack> = trials
            .iter()
            .enumerate()
            .skip(next)
            .map(|(number, trial)| {
                let mut parts = vec![Pack::Int(number as i64)];
                match trial {
                    Pack::List(list) => parts.extend(list.iter().cloned()),
                    other => parts.push(other.clone()),
                }
                Pack::List(parts)
            })
            .collect();
        let bytes = rmp_serde::to_vec(&numbered)?;
        write_file(&plan, bytes)?;
        let mut command = place.jdk.tied_java();
        command
            .args([
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djava.awt.headless=true",
            ])
            .args(&options.java_options)
            .args(class_path(&place.runtime_path()?, &dir.join("path"))?)
            .args(["dev.hindsight.replay.Trial", kind])
            .args([&plan, &results])
            .current_dir(&dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        run_child(command, left.min(options.timeout), None, None)?;
        let done = read(&fs::read_to_string(&results).unwrap_or_default());
        let told = done.keys().max().map_or(next, |last| last + 1).max(next);
        // The trial that ended the JVM, with whatever status, or never ends, is not repeated.
        next = told + 1;
    }
    Ok(fs::read_to_string(&results).unwrap_or_default())
}

fn read(text: &str) -> HashMap<usize, Tried> {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let number: usize = parts.next()?.parse().ok()?;
        let tried = match parts.next()? {
            "yes" => {
                let mut list = || parts.next().unwrap_or_default().split(',');
                Tried::Same(How {
                    steps: list().filter_map(|step| step.parse().ok()).collect(),
                    open: list()
                        .filter(|open| !open.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    adds_to: list().filter_map(|object| object.parse().ok()).collect(),
                    exact: list().next() == Some("exact"),
                })
            }
            _ => {
                let object = parts.next()?.parse::<u32>().ok();
                Tried::Different(object, parts.next().unwrap_or_default().to_owned())
            }
        };
        Some((number, tried))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let tried = read(
            "0\tyes\t0,2\t\t\texact\n1\tno\t-1\tE: m\n2\tno\t7\tfield x\n3\tyes\t\ta.B.c\t5,6\t\ncut",
        );
        let same = How {
            steps: vec![0, 2],
            exact: true,
            ..How::default()
        };
        assert_eq!(tried[&0], Tried::Same(same));
        assert_eq!(tried[&1], Tried::Different(None, "E: m".to_owned()));
        assert_eq!(tried[&2], Tried::Different(Some(7), "field x".to_owned()));
        let open = How {
            open: vec!["a.B.c".to_owned()],
            adds_to: vec![5, 6],
            ..How::default()
        };
        assert_eq!(tried[&3], Tried::Same(open));
        assert_eq!(tried.len(), 4);
    }
}
