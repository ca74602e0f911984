//! The static state of the program that a test sets, and that it restores.

use super::super::candidate::Plan;
use super::super::differences::is_made_at_run_time;
use super::super::value::Values;
use crate::classpath::is_platform;
use crate::graph::Graph;
use crate::java::comment;
use crate::java::lines::INDENT;
use crate::trim;
use hindsight_tracelog::crash::Body as Stored;

/// The most enum constants whose fields are shown in a test.
const MAX_CONSTANTS: usize = 5;
/// The most classes whose static state a test keeps.
const MAX_OWNERS: usize = 20;

/// What a test sets besides arguments, as comments: static fields with their values, and constants
/// with their fields.
pub(super) fn names(values: &Values<'_>, frame: usize) -> String {
    let crash = values.graph.crash;
    let named = crash.failure.statics.iter().map(|field| {
        let class = field.owner.rsplit('.').next().unwrap_or(&field.owner);
        format!("{class}.{} = {}", field.name, values.static_value(field))
    });
    let named: Vec<String> = named.collect();
    let mut comments = String::new();
    if !named.is_empty() {
        let text = format!("as recorded: {}", named.join(", "));
        comments = comment::lines(&text, INDENT, 3);
    }
    let mut constants = trim::constants(crash, frame);
    for constant in constants.by_ref().take(MAX_CONSTANTS) {
        comments.push_str(&values.constant_comment(constant, INDENT));
    }
    match constants.count() {
        0 => comments,
        more => comments + &format!("{INDENT}// and {more} more constants\n"),
    }
}

/// Whether a class has mutable static fields; an unknown class is taken to have some.
fn has_state_of_its_own(plan: &Plan<'_>, class: &str) -> bool {
    let found = plan.classpath.info(class);
    let info = found.as_ref().and_then(|found| found.info.as_ref());
    info.is_none_or(|info| info.has_static_state)
}

/// The classes whose static state calls of a suite may change, as far as its recordings know them:
/// those of the stacks, of static fields, and of constants; at most [`MAX_OWNERS`], and only of
/// some recordings if [`Plan::keeping`] says so. This examines all objects of all recordings.
pub fn owners<'a>(plan: &Plan<'a>) -> Vec<&'a str> {
    let mut owners = Vec::new();
    for (crash, input) in plan.inputs.iter().enumerate() {
        if !plan.keeping.is_empty() && !plan.keeping.contains(&crash) {
            continue;
        }
        let graph = Graph::at_failure(&input.crash);
        let failure = &input.crash.failure;
        let fails_there = |class: &str| {
            let mut frames = failure.frames.iter();
            frames.any(|frame| frame.class == class && frame.method == "<clinit>")
        };
        let frames = failure.frames.iter().map(|frame| frame.class.as_str());
        let fields = failure.statics.iter().map(|field| field.owner.as_str());
        let has_state =
            |body: &Stored| matches!(body, Stored::Enum { fields, .. } if !fields.is_empty());
        let enums = (0..input.crash.objects.len() as u32)
            .filter(|&object| graph.body(object).is_some_and(has_state))
            .map(|object| graph.enum_name(object));
        let held = failure.constants.iter().map(|held| held.owner.as_str());
        for class in frames.chain(fields).chain(enums).chain(held) {
            if !owners.contains(&class)
                && !is_platform(class)
                && !is_made_at_run_time(&input.crash, class)
                && has_state_of_its_own(plan, class)
                && !fails_there(class)
                && class
                    .chars()
                    .all(|c| !c.is_control() && c != '"' && c != '\\')
            {
                owners.push(class);
                if owners.len() == MAX_OWNERS {
                    return owners;
                }
            }
        }
    }
    owners
}

/// The same for tests that are to be written; none if no test restores static state.
pub fn owners_kept<'a>(plan: &Plan<'a>) -> Vec<&'a str> {
    match plan.candidates.iter().any(|candidate| candidate.keeps) {
        true => owners(plan),
        false => Vec::new(),
    }
}
