//! Prints listings and counts for people.

use super::listing::{Change, Line, MethodListing};
use super::plan::{Copy, Left, Mode, Plan, Probed};
use super::run::Outcome;
use super::tally::Counts;
use crate::java::descriptor;
use crate::text::{count, one_line};
use hindsight_instrument::Skipped;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// The characters of a name or constant that are shown.
const LIMIT: usize = 400;

/// The number of failures that are named; the others are only counted.
const MAX_NAMED: usize = 20;

/// The style in which new code stands out.
struct Style {
    colour: bool,
}

impl Style {
    fn new_code(&self, line: &str) -> String {
        self.paint("32", line)
    }

    fn heading(&self, line: &str) -> String {
        self.paint("1", line)
    }

    fn paint(&self, how: &str, line: &str) -> String {
        if self.colour {
            format!("\x1b[{how}m{line}\x1b[0m")
        } else {
            line.to_owned()
        }
    }

    /// A line of a listing, with its mark.
    fn line(&self, inserted: bool, rest: &str) -> String {
        let line = format!("      {} {rest}", if inserted { '+' } else { ' ' });
        let line = line.trim_end();
        if inserted {
            self.new_code(line)
        } else {
            line.to_owned()
        }
    }
}

/// The listing of a class: with all code, or only with the new code and the instructions around it.
pub fn class(
    path: &str,
    rewritten: &Probed,
    methods: &[MethodListing],
    all: bool,
    colour: bool,
) -> String {
    let style = Style { colour };
    let mut out = String::new();
    let name = one_line(&rewritten.class_name.replace('/', "."), LIMIT);
    let heading = style.heading(&format!("class {name}"));
    // Writing to a string does not fail.
    let _ = writeln!(out, "{heading} ({})", one_line(path, LIMIT));
    for listed in methods {
        method(&style, listed, all, &mut out);
    }
    for (what, methods) in [
        ("less than was asked for in", &rewritten.reduced),
        ("left", &rewritten.skipped),
    ] {
        for method in methods.iter() {
            let name = one_line(method.name, LIMIT);
            let descriptor = one_line(method.descriptor, LIMIT);
            let _ = writeln!(out, "  {what} {name}{descriptor}: {}", method.reason);
        }
    }
    out
}

/// A class that stays as it is, with those of its methods that were asked for.
pub fn left<'m>(
    path: &str,
    class: &str,
    reason: Left,
    methods: impl Iterator<Item = Skipped<'m>>,
    colour: bool,
) -> String {
    let name = one_line(class, LIMIT);
    let heading = Style { colour }.heading(&format!("class {name}"));
    let detail = reason.detail().map(|detail| format!(": {detail}"));
    let detail = one_line(&detail.unwrap_or_default(), LIMIT);
    let mut out = format!(
        "{heading} ({})\n  left as it was: {reason}{detail}\n",
        one_line(path, LIMIT)
    );
    for method in methods {
        let name = one_line(method.name, LIMIT);
        let descriptor = one_line(method.descriptor, LIMIT);
        let _ = writeln!(out, "  left {name}{descriptor}: {}", method.reason);
    }
    out
}

fn method(style: &Style, listed: &MethodListing, all: bool, out: &mut String) {
    let name = one_line(&listed.method, LIMIT);
    let descriptor = one_line(&listed.descriptor, LIMIT);
    let heading = style.heading(&format!("method {} {name}{descriptor}", listed.id));
    let _ = writeln!(out, "  {heading}");
    let _ = writeln!(
        out,
        "    {} bytes of code, stack {}, locals {}",
        arrow(listed.bytes),
        arrow(listed.max_stack),
        arrow(listed.max_locals)
    );
    if !listed.locals.is_empty() {
        out.push_str("    new in local variables\n");
    }
    for local in &listed.locals {
        let shared = if local.shared {
            ", where the old code has another"
        } else {
            ""
        };
        let line = format!(
            "{:>5}  {:<20} {}{shared}",
            local.slot,
            one_line(&type_name(&local.descriptor), LIMIT),
            one_line(&local.holds, LIMIT),
        );
        let _ = writeln!(out, "{}", style.line(true, &line));
    }

    out.push_str("    code   at    was\n");
    let new = |at: usize| listed.code.get(at).is_some_and(|line| line.part.is_some());
    let mut left_out = 0;
    for (at, line) in listed.code.iter().enumerate() {
        let shown = all || new(at) || new(at + 1) || at.checked_sub(1).is_some_and(new);
        if !shown {
            left_out += 1;
            continue;
        }
        gap(&mut left_out, "instruction", out);
        let _ = writeln!(
            out,
            "{}",
            style.line(line.part.is_some(), &instruction(line))
        );
    }
    gap(&mut left_out, "instruction", out);

    if listed.exceptions.iter().any(|entry| all || entry.inserted) {
        out.push_str("    exception table: from, to, handler, class\n");
        for entry in &listed.exceptions {
            if !all && !entry.inserted {
                left_out += 1;
                continue;
            }
            gap(&mut left_out, "entry", out);
            let class = entry.class.as_deref().unwrap_or("any");
            let line = format!(
                "{:>5}  {:>5}  {:>5}  {}",
                entry.from,
                entry.to,
                entry.target,
                one_line(class, LIMIT)
            );
            let _ = writeln!(out, "{}", style.line(entry.inserted, &line));
        }
        gap(&mut left_out, "entry", out);
    }
    if listed.frames.iter().any(|frame| all || frame.inserted) {
        out.push_str("    stack map\n");
        for frame in &listed.frames {
            if !all && !frame.inserted {
                left_out += 1;
                continue;
            }
            gap(&mut left_out, "frame", out);
            let list = |types: &[String]| one_line(&types.join(", "), LIMIT);
            let line = format!(
                "{:>5}  locals [{}] stack [{}]",
                frame.offset,
                list(&frame.locals),
                list(&frame.stack)
            );
            let _ = writeln!(out, "{}", style.line(frame.inserted, &line));
        }
        left_out += listed.frames_cut;
        gap(&mut left_out, "frame", out);
    }
}

/// Prints how many old lines are left out.
fn gap(left_out: &mut usize, noun: &str, out: &mut String) {
    let number = std::mem::take(left_out);
    if number > 0 {
        let _ = writeln!(out, "             ... {}", count(number, noun));
    }
}

fn instruction(line: &Line) -> String {
    let old = line.old_offset.map_or(String::new(), |at| at.to_string());
    format!(
        "{:>5}  {old:>5}  {:<15} {}",
        line.offset,
        line.mnemonic,
        one_line(&line.operand, LIMIT)
    )
}

fn arrow(change: Change) -> String {
    if change.old == change.new {
        change.new.to_string()
    } else {
        format!("{} -> {}", change.old, change.new)
    }
}

/// A type as people write it.
fn type_name(descriptor: &str) -> String {
    let (dimensions, element) = descriptor::element(descriptor);
    let name = descriptor::primitive_name(element)
        .map(str::to_owned)
        .or_else(|| descriptor::class_name(element))
        .unwrap_or_else(|| element.to_owned());
    name + &"[]".repeat(dimensions)
}

/// Writes the listing and the counts.
///
/// # Errors
///
/// Fails if the listing cannot be read back, or `out` cannot be written.
pub fn write(
    input: &Path,
    plan: &Plan,
    outcome: &mut Outcome,
    out: &mut dyn Write,
) -> io::Result<()> {
    io::Seek::rewind(&mut outcome.listed)?;
    io::copy(&mut outcome.listed, out)?;
    if outcome.listed_classes > 0 {
        writeln!(out)?;
    }
    let input = one_line(&input.display().to_string(), LIMIT);
    let probes = match plan.mode {
        Mode::Crash => format!("crash, copy={}", plan.copy.name()),
        Mode::Trace => format!("trace, trace-what={}", plan.what),
    };
    match &outcome.out {
        Some(path) => {
            let path = one_line(&path.display().to_string(), LIMIT);
            writeln!(out, "{input} -> {path} ({probes})")?;
        }
        None => writeln!(out, "{input} ({probes}), nothing written")?,
    }
    let tally = &outcome.tally;
    table(("class", "classes"), &tally.classes, out)?;
    table(("method", "methods"), &tally.methods, out)?;
    for (reason, number) in &tally.methods_reduced {
        writeln!(
            out,
            "{number:>9}   rewritten to less than was asked for: {reason}"
        )?;
    }
    let archives = tally.archives_rewritten + tally.archives_left;
    if archives > 0 {
        writeln!(
            out,
            "{archives:>9} {}, {} rewritten",
            if archives == 1 { "archive" } else { "archives" },
            tally.archives_rewritten
        )?;
    }
    Ok(())
}

fn table((one, many): (&str, &str), counts: &Counts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:>9} {}, {} rewritten",
        counts.total,
        if counts.total == 1 { one } else { many },
        counts.rewritten
    )?;
    for (heading, reasons) in [
        ("nothing to do", &counts.nothing_to_do),
        ("left as they were", &counts.left),
    ] {
        for (reason, number) in reasons {
            writeln!(out, "{number:>9}   {heading}: {reason}")?;
        }
    }
    Ok(())
}

/// Further remarks for people, one line each.
pub fn notes(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let tally = &outcome.tally;
    let mut notes = Vec::new();
    let needs_agent = plan.mode == Mode::Trace || plan.copy == Copy::Deep;
    if needs_agent && outcome.out.is_some() && tally.classes.rewritten > 0 {
        notes.push(
            "what was written runs only in a JVM with the agent, whose classes its code calls; nothing is recorded of it"
                .to_owned(),
        );
    }
    let unmatched = outcome.unmatched.iter();
    notes.extend(unmatched.map(|told| one_line(told, LIMIT)));
    for failure in tally.failures.iter().take(MAX_NAMED) {
        let mut note = format!("{}: {}", one_line(&failure.path, LIMIT), failure.reason);
        if let Some(detail) = &failure.detail {
            let _ = write!(note, ": {}", one_line(detail, LIMIT));
        }
        note.push_str(match failure.reason.as_str() {
            "not copied" => "",
            _ => "; left as it was",
        });
        notes.push(note);
    }
    let more = tally.failures.len().saturating_sub(MAX_NAMED) as u64 + tally.failures_unnamed;
    if more > 0 {
        notes.push(format!("and {more} more that were left as they were"));
    }
    for path in tally.signatures_removed.iter().take(MAX_NAMED) {
        notes.push(format!(
            "{}: was signed; {}",
            one_line(path, LIMIT),
            match outcome.out {
                Some(_) => "the signature does not fit the new classes and was removed",
                None => "its signature would not fit the new classes",
            }
        ));
    }
    let more = tally.signatures_removed.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        notes.push(format!("and {more} more signed archives"));
    }
    for path in tally.modules_rewritten.iter().take(MAX_NAMED) {
        notes.push(format!(
            "{}: is a module; where another one has its hash (`jar --hash-modules`), no JVM starts with the new classes",
            one_line(path, LIMIT)
        ));
    }
    let more = tally.modules_rewritten.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        notes.push(format!("and {more} more modules"));
    }
    notes
}
