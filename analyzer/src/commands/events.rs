//! `hindsight events`.

use super::{Failure, Format};
use crate::progress::Progress;
use crate::stderr::say;
use crate::text::{count, name};
use crate::trace::Trace;
use crate::trace::filter::{Filter, Void, Wanted};
use crate::trace::names::Names;
use crate::trace::steps::{Gap, Steps, What};
use anyhow::{Result, bail};
use hindsight_tracelog::trace::ObjectId;
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::num::ParseIntError;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Print what a recorded run did: calls, writes, and the objects that took part.
///
/// Objects are shown by class and number (Order#17); a number is one object for the whole run.
/// Events of one thread are in their order; events of several threads are in an order in which
/// writes to the same object are right.
///
/// A line shows the depth of calls at its event and the texts of its objects, which all events
/// before it determine: these are read, too, whatever is asked for. JSON shows neither; for a long
/// run, it only reads the parts that have what is asked for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # All there is.
    $ hindsight events hindsight-out

    # What main did with orders.
    $ hindsight events hindsight-out --thread main --class 'com.acme.Order*'

    # The life of one object.
    $ hindsight events hindsight-out --object 17

    # For other programs: one JSON object a line, the schema in the first.
    $ hindsight events hindsight-out --format json

Exit status:
    0 on success,
    1 if there is no trace, it is damaged, or nothing has the names given,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directory of a run that was recorded with mode=trace, or its trace.
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Only events of this thread: its id, or a glob of the name that it had first.
    #[arg(long, value_name = "ID|GLOB")]
    thread: Vec<String>,

    /// Only calls of methods and accesses of fields of these classes.
    #[arg(long, value_name = "GLOB")]
    class: Vec<String>,

    /// Only calls of these methods and accesses of these fields: CLASS.NAME.
    #[arg(long, value_name = "GLOB")]
    method: Vec<String>,

    /// Only events that this object takes part in: its number, alone or as in lines (Order#17).
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    object: Option<u64>,

    /// Stop after this many events.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// How to print: text for people, json (one object a line) for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No notes and no progress on stderr.
    #[arg(long)]
    quiet: bool,
}

/// Parses the number of an object, which may follow its class.
fn number(object: &str) -> Result<u64, ParseIntError> {
    let behind = object.rsplit_once('#').map(|(_, number)| number);
    behind.unwrap_or(object).parse()
}

/// Whether the output goes to a file.
fn is_to_file() -> bool {
    let out = io::stdout().as_fd().try_clone_to_owned();
    out.and_then(|out| File::from(out).metadata())
        .is_ok_and(|out| out.is_file())
}

impl Opts {
    /// Writes the events to `out`.
    ///
    /// # Errors
    ///
    /// Fails if there is no trace, if part of it cannot be read, or if `out`
    /// cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let trace = Trace::open(&self.path)?;
        if !self.quiet {
            for note in &trace.notes {
                say(note);
            }
        }
        let wanted = Wanted {
            threads: self.thread.clone(),
            classes: self.class.clone(),
            members: self.method.clone(),
            object: self.object,
        };
        let mut filter = Filter::new(&wanted, &trace.log.dictionary);
        if let Some(void) = filter.void(false) {
            bail!(nothing(void, &wanted.suggestions(&trace.log.dictionary)));
        }
        let places = filter.places(&trace.log, self.format == Format::Text);
        let mut steps = Steps::new(&trace.log, &places);
        let mut names = Names::new(&trace.log.dictionary);
        let most = self.limit.unwrap_or(u64::MAX);
        let mut left = most;
        let mut failed = false;
        if self.format == Format::Json {
            writeln!(out, "{}", json!({"schema": "hindsight.events/1"}))?;
        }
        let blocks = trace.log.blocks();
        let events = places
            .iter()
            .map(|&place| u64::from(blocks[place].header.events));
        // A reader of the events, in a terminal or a pager, needs no bar between them.
        let progress = Progress::new(!self.quiet && is_to_file(), events.sum());
        let mut read: u64 = 0;
        while left > 0 {
            read += 1;
            if read.is_multiple_of(4096) {
                progress.step(4096, &"of the events");
            }
            let step = match steps.next_step() {
                None => break,
                Some(Ok(step)) => step,
                Some(Err(damage)) => {
                    progress.note(&trace.left_out(&damage));
                    failed = true;
                    continue;
                }
            };
            let depth = names.follow(&step);
            filter.follow(&step);
            if !filter.admits(&step) {
                continue;
            }
            left -= 1;
            match self.format {
                Format::Json => writeln!(out, "{}", names.json(&step))?,
                Format::Text => writeln!(out, "{}", names.line(&step, depth))?,
            }
            // What the agent has lost and counted was never in the trace.
            if matches!(step.what, What::Lost(Gap::Blocks)) {
                failed = true;
            }
        }
        drop(progress);
        let forgotten = usize::try_from(names.forgotten()).unwrap_or(usize::MAX);
        if forgotten > 0 && !self.quiet {
            // It is not known for sure which of them had one.
            let objects = count(forgotten, "time");
            say(format!(
                "up to {objects} an object is shown without its text, which was told so long before that it is no \
                 longer remembered: its `new` line has it (--object)"
            ));
        }
        if failed || trace.is_damaged {
            return Err(Failure.into());
        }
        if left > 0
            && let Some(void) = filter.void(true)
        {
            bail!(nothing(void, &[]));
        }
        let mut alone = wanted.alone();
        alone.retain(|_| left == most && left > 0);
        for one in &alone {
            // Nothing was read of blocks that other conditions exclude.
            if let Some(void) = void_alone(&trace, one) {
                bail!(nothing(void, &[]));
            }
        }
        if !alone.is_empty() && !self.quiet {
            say("no event has all that was asked for, though some have each of it");
        }
        Ok(())
    }
}

/// Whether a trace has nothing of a thread or an object, whatever else was asked for.
fn void_alone(trace: &Trace, wanted: &Wanted) -> Option<Void> {
    let mut filter = Filter::new(wanted, &trace.log.dictionary);
    let mut of_blocks = filter.of_blocks();
    // Nothing is shown, so that blocks without the object can be skipped.
    of_blocks.object = wanted.object.map(ObjectId);
    let places = trace.log.select(&of_blocks);
    let mut steps = Steps::new(&trace.log, &places);
    while let Some(step) = steps.next_step() {
        // Damage has been reported already.
        let Ok(step) = step else { continue };
        filter.follow(&step);
        filter.void(true)?;
    }
    filter.void(true)
}

/// The message that there is no such thing in the trace.
fn nothing(void: Void, suggestions: &[String]) -> String {
    let option = match void {
        Void::Member => {
            "--class takes globs of whole names of classes (`**.Worker`), --method of classes with a method or field \
             (`**.Worker.run`)"
        }
        Void::Thread => "--thread takes a thread's id or a glob of the name that it had first",
        Void::Object => "--object takes the number behind #",
    };
    let instead = match suggestions {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|found| name(found)).collect();
            format!("; is it {}?", names.join(", or "))
        }
    };
    format!("nothing in the trace has this name: {option}{instead}")
}
