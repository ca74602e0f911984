//! Writes a crash as text that is readable at 3 a.m.

use crate::graph::{Graph, Typed};
use crate::input::Input;
use crate::inspect::fold::{Fold, folds};
use crate::inspect::seen::Seen;
use crate::java::descriptor::{of_class, type_name};
use crate::junit::defaults;
use crate::text::{
    absence, count, deadlocks, exception_up_to, frame, gap, heading, locked, one_line, path,
    short_type, stack_element, thread, utc,
};
use crate::tree::{Builder, Limits, Node};
use hindsight_tracelog::crash::{Body, ExceptionInfo, Failure, Fidelity, Frame, Meta};
use hindsight_tracelog::reader::Crash;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::mem;

/// Columns of the text.
const WIDTH: usize = 100;

/// How the text looks.
#[derive(Debug)]
pub struct Style<'a> {
    /// The depth and width of the trees; `None` for everything.
    pub depth: Option<(usize, usize)>,
    /// Whether colours are used.
    pub colour: bool,
    /// The frames to show; all if empty.
    pub frames: &'a [usize],
}

impl Style<'_> {
    fn limits(&self) -> Limits {
        match self.depth {
            None => Limits::FULL,
            Some((depth, width)) => Limits {
                depth,
                width,
                text: 120,
                nodes: 400,
            },
        }
    }

    /// This many, unless everything is to be shown.
    fn most(&self, count: usize) -> usize {
        self.depth.map_or(usize::MAX, |_| count)
    }

    fn exception(&self, info: &ExceptionInfo) -> String {
        exception_up_to(info, self.most(2000))
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Writes one crash.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn write(input: &Input, style: &Style<'_>, out: &mut dyn Write) -> io::Result<()> {
    let crash = &input.crash;
    writeln!(out, "{}", style.paint("1", &path(&input.path)))?;
    for note in &input.notes {
        writeln!(out, "{}", style.paint("33", &format!("! {note}")))?;
    }
    writeln!(out)?;
    write_exceptions(crash, style, out)?;
    writeln!(out)?;
    write_meta(&crash.meta, style, out)?;
    writeln!(out)?;
    let mut seen = Seen::default();
    // In a dump of threads, the first one has a heading as well.
    let mut exception = if crash.failure.threads.is_empty() {
        0
    } else {
        u32::MAX
    };
    let folds = match style.depth {
        Some(_) if style.frames.is_empty() => folds(&crash.failure.frames),
        _ => Vec::new(),
    };
    // If successive frames lack the same, this is said once, below the last.
    let mut alike = 0;
    let lacks = |frame: &Frame| match (frame.fidelity, gap(frame)) {
        (Fidelity::None, None) => Some((frame.exception, absence(frame).map(str::to_owned))),
        _ => None,
    };
    for (index, frame) in crash.failure.frames.iter().enumerate() {
        if let Some(fold) = folds.iter().find(|fold| fold.hidden().contains(&index)) {
            if fold.hidden().start == index {
                writeln!(out, "{}", style.paint("33", &folded(fold)))?;
            }
            continue;
        }
        if style.frames.is_empty() || style.frames.contains(&index) {
            if frame.exception != exception {
                exception = frame.exception;
                if let Some(heading) = heading(&crash.failure, exception) {
                    writeln!(out, "{}", style.paint("31", &heading))?;
                }
            }
            alike += 1;
            let next = crash.failure.frames.get(index + 1);
            let goes_on = lacks(frame).is_some()
                && next.is_some_and(|next| lacks(next) == lacks(frame))
                && style.frames.is_empty()
                && !folds
                    .iter()
                    .any(|fold| fold.hidden().contains(&(index + 1)));
            let said = (!goes_on).then(|| std::mem::take(&mut alike));
            write_frame(crash, (index, frame), said, style, &mut seen, out)?;
        }
    }
    if style.frames.is_empty() {
        write_statics(crash, style, &seen, out)?;
    }
    write_rest(crash, style, out)
}

/// The number of static fields that are shown unless all are asked for.
const MAX_STATICS: usize = 20;

fn write_statics(
    crash: &Crash,
    style: &Style<'_>,
    seen: &Seen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let statics = &crash.failure.statics;
    if statics.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", style.paint("1", "static fields at the failure"))?;
    let graph = Graph::at_failure(crash);
    let mut builder = Builder::new(&graph, style.limits());
    let shown = style.most(MAX_STATICS);
    for field in statics.iter().take(shown) {
        let node = builder.node(Typed::new(field.value, &field.descriptor));
        let name = format!("{}.{}", short_type(&field.owner), field.name);
        write_value(&one_line(&name, 200), &seen.folded(&node), out)?;
    }
    if statics.len() > shown {
        writeln!(
            out,
            "     ... {} more (--full shows them)",
            statics.len() - shown
        )?;
    }
    Ok(())
}

/// The relation of an exception to the one that it has caused.
const CAUSE: &str = "caused by";

/// The line in place of the frames that a recursion repeats.
fn folded(fold: &Fold) -> String {
    let hidden = fold.hidden();
    let (last, times) = (fold.first + fold.period - 1, fold.rounds - 2);
    let round = match fold.period {
        1 => format!("#{last}"),
        2 => format!("#{} and #{last}", fold.first),
        _ => format!("#{} to #{last}", fold.first),
    };
    format!(
        "... #{} to #{} repeat {round} {times} times (--full shows them)",
        hidden.start,
        hidden.end - 1
    )
}

/// The number of frames that are readable together with their arguments.
const SCREEN: usize = 20;

fn write_exceptions(crash: &Crash, style: &Style<'_>, out: &mut dyn Write) -> io::Result<()> {
    let exceptions = &crash.failure.exceptions;
    if !crash.failure.threads.is_empty() {
        return write_threads(&crash.failure, style, out);
    }
    let Some(first) = exceptions.first() else {
        return writeln!(out, "(no exception was recorded)");
    };
    writeln!(out, "{}", style.paint("1;31", &style.exception(first)))?;
    if crash.failure.frames.is_empty() || first.stack.is_empty() {
        write_stack(first, out)?;
    } else if !is_of_this_throw(&crash.failure, first) {
        writeln!(
            out,
            "  (it was thrown before: this is its stack trace; the frames below are those of the throw that is recorded here)"
        )?;
        write_stack(first, out)?;
    } else if crash.failure.frames.len() > SCREEN {
        // The frames with their arguments fill many screens.
        write_top(first, "    ", style, out)?;
    }
    write_related(exceptions, style, out)
}

/// Writes the other exceptions: for each exception those that it has suppressed, and its cause,
/// each with its own.
fn write_related(
    exceptions: &[ExceptionInfo],
    style: &Style<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    const MAX_INDENT: usize = 40;
    // They may form cycles, and be very deep in a hostile file; each is written once, and named
    // where it occurs again.
    let mut told = vec![false; exceptions.len()];
    let mut left = vec![(0, "", 0)];
    while let Some((index, role, indent)) = left.pop() {
        let index = index as usize;
        let Some(info) = exceptions.get(index) else {
            continue;
        };
        let again = mem::replace(&mut told[index], true);
        if !role.is_empty() {
            let text = style.exception(info);
            let is_cause = role == CAUSE;
            let text = if is_cause {
                style.paint("31", &text)
            } else {
                text
            };
            let lead = " ".repeat(indent.min(MAX_INDENT));
            let place = if again { " (shown above)" } else { "" };
            writeln!(out, "{lead}{role}: {text}{place}")?;
            if !again {
                let more = if is_cause { "    " } else { "  " };
                write_top(info, &(lead + more), style, out)?;
            }
        }
        if again {
            continue;
        }
        // The last is next.
        left.extend(info.cause.map(|cause| (cause, CAUSE, indent)));
        let suppressed = info.suppressed.iter().rev();
        left.extend(suppressed.map(|&one| (one, "suppressed", indent + 2)));
    }
    Ok(())
}

/// Whether the first place of an exception's stack trace is among the frames. It is not if a
/// program keeps an exception and throws it again, elsewhere or so often that the first time is not
/// known any more.
fn is_of_this_throw(failure: &Failure, first: &ExceptionInfo) -> bool {
    let mut frames = failure.frames.iter();
    (first.stack.first()).is_none_or(|top| frames.any(|frame| frame.is_at(top)))
}

/// Writes all threads of a program that goes on, or hangs.
fn write_threads(failure: &Failure, style: &Style<'_>, out: &mut dyn Write) -> io::Result<()> {
    for circle in deadlocks(failure) {
        let text = format!(
            "deadlock: {} wait for each other",
            count(circle.len(), "thread")
        );
        writeln!(out, "{}", style.paint("1;31", &text))?;
        for at in circle {
            writeln!(out, "  {}", thread(failure, &failure.threads[at]))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", count(failure.threads.len(), "thread"))?;
    for state in &failure.threads {
        writeln!(out, "  {}", thread(failure, state))?;
        for lock in &state.owns {
            writeln!(out, "    has {}", locked(lock))?;
        }
    }
    Ok(())
}

fn write_stack(info: &ExceptionInfo, out: &mut dyn Write) -> io::Result<()> {
    if info.stack.is_empty() {
        return writeln!(
            out,
            "  (it came without a stack trace: the JVM gave it none, or it wants none)"
        );
    }
    for element in &info.stack {
        writeln!(out, "  at {}", stack_element(element))?;
    }
    Ok(())
}

fn write_top(
    info: &ExceptionInfo,
    lead: &str,
    style: &Style<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = style.most(8);
    for element in info.stack.iter().take(shown) {
        writeln!(out, "{lead}at {}", stack_element(element))?;
    }
    if info.stack.len() > shown {
        writeln!(out, "{lead}... {} more", info.stack.len() - shown)?;
    }
    Ok(())
}

fn write_meta(meta: &Meta, style: &Style<'_>, out: &mut dyn Write) -> io::Result<()> {
    let limit = style.most(300);
    let line = |out: &mut dyn Write, name: &str, text: String| {
        if text.is_empty() {
            Ok(())
        } else {
            writeln!(out, "{name:<10} {text}")
        }
    };
    let name = one_line(&meta.thread, style.most(200));
    let thread = match (meta.thread_virtual, name.is_empty()) {
        (true, true) => "a virtual thread without a name".to_owned(),
        (true, false) => name + " (virtual)",
        (false, _) => name,
    };
    line(out, "thread", thread)?;
    let uptime = (meta.time_ms.saturating_sub(meta.started_ms)) as f64 / 1000.0;
    line(
        out,
        "time",
        format!("{}, {uptime:.1} s after the JVM's start", utc(meta.time_ms)),
    )?;
    line(out, "program", one_line(&meta.command, limit))?;
    let properties = meta.properties.iter();
    let properties: Vec<String> = properties
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    line(out, "properties", one_line(&properties.join(", "), limit))?;
    line(
        out,
        "defaults",
        one_line(&defaults::told(&meta.defaults), limit),
    )?;
    line(out, "version", one_line(&meta.program_version, limit))?;
    let jvm = format!(
        "Java {}, {} {}, {}{}",
        meta.java_version,
        meta.jvm_name,
        meta.jvm_version,
        meta.os,
        // A trimmed file has none.
        match meta.pid {
            0 => String::new(),
            pid => format!(", pid {pid}"),
        }
    );
    line(out, "JVM", one_line(&jvm, limit))?;
    line(out, "recorded", {
        let text = format!("{}; copy: {}; agent {}", meta.reason, meta.copy, meta.agent);
        one_line(&text, limit)
    })?;
    let counters: Vec<String> = meta
        .counters
        .iter()
        .filter(|(_, value)| *value > 0)
        .map(|(name, value)| format!("{} {value}", one_line(name, 80)))
        .collect();
    line(out, "counters", counters.join(", "))
}

/// Writes a frame, with the reason why it was not captured, and the number of others for which that
/// is `said`, if it is.
fn write_frame(
    crash: &Crash,
    (index, at): (usize, &Frame),
    said: Option<usize>,
    style: &Style<'_>,
    seen: &mut Seen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let number = style.paint("1", &format!("#{index}"));
    writeln!(out, "{number} {}", style.paint("36", &frame(at)))?;
    if gap(at).is_some() {
        return Ok(());
    }
    if at.fidelity == Fidelity::None {
        let reason = absence(at).unwrap_or("no reason given");
        let reason = one_line(reason, style.most(200));
        return match said {
            None => Ok(()),
            Some(0 | 1) => writeln!(out, "     not captured: {reason}"),
            Some(all) => writeln!(out, "     {all} frames not captured: {reason}"),
        };
    }
    if !at.reason.is_empty() {
        let lead = match at.fidelity {
            Fidelity::None | Fidelity::Deep | Fidelity::Depth => "",
            Fidelity::Reference => "degraded to reference: ",
            Fidelity::Fields => "degraded to fields: ",
        };
        let text = format!("     ! {lead}{}", one_line(&at.reason, style.most(200)));
        writeln!(out, "{}", style.paint("33", &text))?;
    }
    if at.arguments.is_empty() {
        return writeln!(out, "     no arguments");
    }
    let graph = Graph::at_entry(crash, at);
    let mut builder = Builder::new(&graph, style.limits());
    let mut shown = Vec::new();
    for argument in &at.arguments {
        let name = match (&argument.name, argument.index) {
            (_, 0) => "this".to_owned(),
            (Some(name), _) => one_line(name, 100),
            (None, index) => format!("arg{index}"),
        };
        let node = builder.node(Typed::new(argument.value, &argument.descriptor));
        write_value(&name, &seen.folded(&node), out)?;
        shown.push(node);
    }
    for node in shown {
        seen.show(index, node);
    }
    Ok(())
}

/// Writes a value with its name, indented.
fn write_value(name: &str, node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let lead = format!("     {name} = ");
    let block = node.block(WIDTH.saturating_sub(lead.len()));
    writeln!(out, "{lead}{}", block[0])?;
    for line in &block[1..] {
        writeln!(out, "     {line}")?;
    }
    Ok(())
}

fn write_rest(crash: &Crash, style: &Style<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut holes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let graph = Graph::at_failure(crash);
    let mut objects = 0;
    for number in 0..crash.objects.len() as u32 {
        match graph.body(number) {
            Some(Body::Hole(_)) if graph.standing(number).is_some() => {}
            Some(Body::Hole(reason)) => {
                *holes.entry((reason, graph.class_name(number))).or_default() += 1;
            }
            Some(_) => objects += 1,
            None => {}
        }
    }
    writeln!(out)?;
    let frames = &crash.failure.frames;
    let captured = frames
        .iter()
        .filter(|frame| frame.fidelity != Fidelity::None)
        .count();
    writeln!(
        out,
        "{}, {captured} captured; {} stored",
        count(
            frames.iter().filter(|at| gap(at).is_none()).count(),
            "frame"
        ),
        count(objects, "object")
    )?;
    if !holes.is_empty() {
        writeln!(out, "not stored:")?;
    }
    for ((reason, class), number) in holes {
        writeln!(
            out,
            "  {number} x {}: {}",
            one_line(&type_name(&of_class(class)), 200),
            one_line(reason, style.most(200))
        )?;
    }
    Ok(())
}
