//! Writes a failure and its objects to a crash file, without what is known to be secret.

use super::now_ms;
use crate::agent::Agent;
use crate::exceptions::{self, MAX_MESSAGE, MAX_READ};
use crate::jni::Jni;
use crate::run;
use crate::snapshot::graph::Graph;
use hindsight_tracelog::crash::{Failure, Fidelity, Frame, Meta, THREADS_ASKED_FOR};
use hindsight_tracelog::{record, writer};
use std::borrow::Cow;
use std::cell::Cell;
use std::iter;

/// The number of elements that are kept of each stack if all of them exceed what readers accept.
const SHORT_STACK: usize = 16;

/// Writes a file. Returns its name and the number of objects in it.
pub(crate) fn store(
    agent: &Agent,
    mut meta: Meta,
    mut failure: Failure,
    mut graph: Graph<'_>,
) -> Result<(String, usize), String> {
    let infos = failure.exceptions.iter_mut();
    let mut messages: Vec<&mut String> = infos.filter_map(|info| info.message.as_mut()).collect();
    let are_cut: Vec<bool> = messages
        .iter()
        .map(|text| text.encode_utf16().count() >= MAX_READ)
        .collect();
    let properties = meta.properties.iter_mut().map(|(_, value)| value);
    let names = failure.threads.iter_mut().map(|thread| &mut thread.name);
    let mut texts: Vec<&mut String> = properties.chain(names).chain([&mut meta.thread]).collect();
    let both = messages.iter_mut().chain(&mut texts);
    both.for_each(|text| graph.mask(text));
    let secrets = graph.scrub(&mut failure.frames);
    // The command line was searched argument by argument.
    texts.push(&mut meta.command);
    let both = messages.iter_mut().chain(&mut texts);
    both.for_each(|text| secrets.mask(text));
    for (message, is_cut) in messages.into_iter().zip(are_cut) {
        cut(message, is_cut);
    }
    graph.scrub_displaced(&failure);
    let words = meta.command.split(END_OF_WORD).map(quoted);
    meta.command = words.collect::<Vec<_>>().join(" ");
    let classes: Vec<_> = graph
        .classes
        .iter()
        .map(|class| class.info.clone())
        .collect();
    let objects = std::mem::take(&mut graph.objects);
    let stored = objects.len();
    // The tags are not needed any more, and writing may take a while.
    drop(graph);

    let count = Cell::new(0_u32);
    let mut told = writer::failure(&failure);
    for shorten in [drop_patches, shorten_stacks] {
        if !record::is_taken(&told) {
            agent.base.counters.add("failures_shortened", 1);
            shorten(&mut failure);
            told = writer::failure(&failure);
        }
    }
    let blocks = [writer::meta(&meta), told, writer::classes(&classes)];
    let records = blocks
        .into_iter()
        // Blocks are made as they are written, so that not all of them are in memory.
        .chain(writer::blocks(objects.into_iter()))
        .inspect(|_| count.set(count.get() + 1));
    let header = iter::once(record::file_header().to_vec());
    let end = iter::once_with(|| writer::end(count.get()));
    let name = agent
        .recording
        .write_crash(header.chain(records).chain(end))?;
    Ok((name, stored))
}

/// Cuts a message to the length that is kept. More than that was read; but of a message that was
/// longer still, it is not known what its end was the beginning of: half a secret is not
/// recognised.
fn cut(message: &mut String, is_cut: bool) {
    let units = message.encode_utf16().count();
    let unknown = if is_cut { MAX_READ - MAX_MESSAGE } else { 0 };
    let known = units.saturating_sub(unknown);
    let mut left = known.min(MAX_MESSAGE);
    let end = message
        .char_indices()
        .find_map(|(at, c)| match left.checked_sub(c.len_utf16()) {
            Some(rest) => {
                left = rest;
                None
            }
            None => Some(at),
        });
    if let Some(end) = end {
        message.truncate(end);
    }
}

/// Leaves out what has changed since the frames' entries.
fn drop_patches(failure: &mut Failure) {
    for frame in failure
        .frames
        .iter_mut()
        .filter(|frame| !frame.patch.is_empty())
    {
        frame.patch = Vec::new();
        frame.fidelity = Fidelity::Reference;
        frame.reason =
            "what has changed since its entry is more than a crash file can have".to_owned();
    }
}

/// Leaves out what lies deep in stacks, of thousands of threads or causes.
fn shorten_stacks(failure: &mut Failure) {
    for info in &mut failure.exceptions {
        info.stack.truncate(SHORT_STACK);
    }
    let (mut of, mut count) = (u32::MAX, 0);
    failure.frames.retain(|Frame { exception, .. }| {
        count = if *exception == of { count + 1 } else { 0 };
        of = *exception;
        count < SHORT_STACK
    });
}

/// The circumstances: where, when and how. `thread` is the name of the failing thread. What is
/// masked there is a secret in the graph.
pub(crate) fn meta(
    agent: &Agent,
    jni: Jni,
    reason: String,
    thread: &str,
    graph: &mut Graph<'_>,
) -> Meta {
    let base = agent.base;
    let mut secret = |text: &str| graph.take_masked(text);
    let properties =
        crate::properties::read(jni, &|name| base.options.is_secret_text(name), &mut secret);
    // Each crash finds the same ones.
    (base.counters).raise("system_properties_beyond_limit", properties.more as u64);
    let property = |name: &std::ffi::CStr| agent.jvmti.system_property(name).unwrap_or_default();
    Meta {
        agent: env!("CARGO_PKG_VERSION").to_owned(),
        program_version: base.options.version.clone(),
        jvm_name: property(c"java.vm.name"),
        jvm_version: property(c"java.vm.version"),
        java_version: agent.java_version.clone(),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        pid: std::process::id(),
        started_ms: run::started_ms(),
        time_ms: now_ms(),
        thread: thread.to_owned(),
        thread_virtual: reason != THREADS_ASKED_FOR && is_virtual(agent, jni),
        reason,
        copy: base.options.copy.to_string(),
        // They are put in quotes after all secrets in there are masked; no secret has such an end.
        command: run::command(base, &mut secret).join(END_OF_WORD),
        counters: (base.counters.snapshot().into_iter())
            .filter(|(_, count)| *count > 0)
            .collect(),
        properties: properties.kept,
        order: crate::statics::order(agent, jni),
        defaults: crate::defaults::read(agent, jni),
    }
}

/// The end of each word of a command line until it is [`quoted`], as in the kernel's form.
const END_OF_WORD: &str = "\0";

/// A word of a command line, in quotes if it would otherwise be none or several.
fn quoted(word: &str) -> Cow<'_, str> {
    match word.is_empty() || word.contains(|c: char| c.is_whitespace() || c == '"') {
        true => {
            let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
            Cow::Owned(format!("\"{escaped}\""))
        }
        false => Cow::Borrowed(word),
    }
}

/// Whether the current thread is virtual: virtual threads (JDK 21 and up) are instances of classes
/// of their own.
fn is_virtual(agent: &Agent, jni: Jni) -> bool {
    agent.jvmti.current_thread().is_some_and(|thread| {
        let name = exceptions::class_name(agent, jni, thread);
        name == "java.lang.VirtualThread" || name.starts_with("java.lang.ThreadBuilders$Bound")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{ExceptionInfo, Patch, StackElement};

    #[test]
    fn messages_are_cut_behind_what_is_known_of_them() {
        let cut_to = |text: String, is_cut| {
            let mut text = text;
            cut(&mut text, is_cut);
            text.encode_utf16().count()
        };
        assert_eq!(cut_to("a".repeat(9), false), 9);
        assert_eq!(cut_to("a".repeat(MAX_MESSAGE + 1), false), MAX_MESSAGE);
        assert_eq!(cut_to("a".repeat(MAX_READ), true), MAX_MESSAGE);
        // Secrets in it have become shorter.
        assert_eq!(
            cut_to("a".repeat(MAX_MESSAGE), true),
            2 * MAX_MESSAGE - MAX_READ
        );
        assert_eq!(cut_to("a".repeat(9), true), 0);
        // No character is cut in half.
        assert_eq!(
            cut_to("a".to_owned() + &"\u{1f600}".repeat(MAX_MESSAGE / 2), false),
            MAX_MESSAGE - 1
        );
    }

    #[test]
    fn what_no_reader_would_take_is_shortened() {
        let element = StackElement {
            class: "a.B".to_owned(),
            method: "m".to_owned(),
            file: None,
            line: 1,
        };
        let frame = |exception| Frame {
            exception,
            fidelity: Fidelity::Deep,
            patch: vec![Patch {
                object: 0,
                owner: String::new(),
                field: String::new(),
                descriptor: "I".to_owned(),
                value: hindsight_tracelog::crash::Value::Int(1),
                index: Some(0),
            }],
            ..Frame::default()
        };
        let info = ExceptionInfo {
            stack: vec![element; 40],
            ..ExceptionInfo::default()
        };
        let mut failure = Failure {
            exceptions: vec![info; 2],
            frames: (0..80).map(|at| frame(at / 40)).collect(),
            ..Failure::default()
        };
        drop_patches(&mut failure);
        let degraded = |frame: &Frame| {
            frame.patch.is_empty()
                && frame.fidelity == Fidelity::Reference
                && !frame.reason.is_empty()
        };
        assert!(failure.frames.iter().all(degraded));
        shorten_stacks(&mut failure);
        assert_eq!(failure.frames.len(), 2 * SHORT_STACK);
        let stacks = failure.exceptions.iter().map(|info| info.stack.len());
        assert!(stacks.eq([SHORT_STACK; 2]));
    }
}
