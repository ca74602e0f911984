//! `hindsight export`.

use super::{Failure, Format};
use crate::progress::Progress;
use crate::stderr::say;
use crate::text::{self, count};
use crate::trace::Trace;
use crate::trace::export::Export;
use crate::trace::export::schemas::TABLES;
use crate::trace::steps::{Gap, Steps, What};
use anyhow::Result;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Write a recorded run as Parquet tables, for DuckDB, Spark, pandas and the like.
///
/// Eight files: calls, with their arguments in a table of their own, writes, with the
/// values of calls like System.arraycopy in another one, reads, objects, with what is in
/// arrays in another one, and the basic blocks that have run. They are joined by `call`, `write` and `object`; a number is
/// one object for the whole run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
    calls      call, parent, depth, thread, virtual, thread_name, stamp, method_id, class, method,
               descriptor, this_object, this_class, ended (return, throw, open), result_object,
               result_class, result_integer, result_real
    arguments  call, index (from 1), name, type, object, class, integer, real
    writes     write, call, thread, stamp, kind (field, static, element, unseen), class, field, type,
               object, object_class, index, value_object, value_class, value_integer, value_real
    unseen     write, index (from 0: receiver, arguments, result), object, class, integer, real
    reads      as writes, without their number (of trace-what=reads)
    objects    object, class, thread, stamp, length, text, hash (of a text that is cut)
    elements   object, stamp, index, value_object, value_class, value_integer, value_real: what was in
               small arrays that code which is not recorded has filled
    blocks     method_id, class, method, descriptor, offset, line, run (of trace-what=coverage)

    Calls are in the order of their ends (those around 65,536 active ones come
    earlier, as open), and numbered by their beginnings; parent is the
    call around them on the same thread. A result is what was returned or thrown. Integers
    are boolean (0 or 1) to long, and char by its code; reals are float and double. A null
    reference, and what was not recorded, is null. An unseen write is a call like
    System.arraycopy: class and field name it, object is what it has written to, and unseen
    has what it was given, with first index and length. A text with
    lone surrogates has U+FFFD for them. What a constructor writes before it calls
    another one has no object yet: it is the call's this_object.

    Where events of a thread were lost, its calls are taken to go on until one of their methods
    tells something: what is deeper is open then. Until then parent and depth are a guess, and
    where a method calls itself, the innermost call is taken to be the one that ends. A call
    whose beginning was lost is in no table.

Examples:
    $ hindsight export --parquet hindsight-out --out tables
    $ duckdb -c \"select class, method, count(*) from 'tables/calls.parquet' group by all order by 3 desc\"

Exit status:
    0 on success,
    1 if there is no trace, it is damaged, or the tables cannot be written,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directory of a run that was recorded with mode=trace, or its trace.
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Write Parquet: the only format, and the default.
    #[arg(long)]
    parquet: bool,

    /// Directory for the tables; it must have none yet.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No notes and no progress on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes the tables, and a line about each to `out`.
    ///
    /// # Errors
    ///
    /// Fails if there is no trace, if part of it cannot be read, or if the tables
    /// cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let trace = Trace::open(&self.path)?;
        if !self.quiet {
            for note in &trace.notes {
                say(note);
            }
        }
        let mut failed = trace.is_damaged;
        let mut export = Export::create(&self.out, &trace)?;
        let lost = self.fill(&trace, &mut export, &mut failed)?;
        let (unbegun, unseen_begun) = (export.unbegun, export.unseen_begun);
        for (calls, why) in [
            (unbegun, "had begun before the recording"),
            (unseen_begun, "began where events were lost"),
        ] {
            if calls > 0 && !self.quiet {
                say(format_args!(
                    "{} {why}, and {} in no table",
                    count(usize::try_from(calls).unwrap_or(usize::MAX), "call"),
                    if calls == 1 { "is" } else { "are" },
                ));
            }
        }
        if lost > 0 && !self.quiet {
            say(format_args!(
                "{lost} events were lost while recording, and are in no table"
            ));
        }
        let rows = export.finish()?;
        let path = |name: &str| self.out.join(format!("{name}.parquet"));
        let tables = TABLES
            .iter()
            .zip(rows)
            .map(|((name, _), rows)| (name, rows));
        match self.format {
            Format::Text => {
                for (name, rows) in tables {
                    writeln!(out, "{rows:>14}  {}", text::path(&path(name)))?;
                }
            }
            Format::Json => {
                let tables = tables.map(|(name, rows)| {
                    let file = path(name).display().to_string();
                    json!({ "table": name, "file": file, "rows": rows })
                });
                let document = json!({
                    "schema": "hindsight.export/1",
                    "tables": tables.collect::<Vec<_>>(),
                    "calls_begun_before": unbegun,
                    "calls_begun_in_loss": unseen_begun,
                    "events_lost": lost,
                    "notes": trace.notes,
                    "damaged": failed,
                });
                serde_json::to_writer_pretty(&mut *out, &document)?;
                writeln!(out)?;
            }
        }
        if failed { Err(Failure.into()) } else { Ok(()) }
    }

    /// Writes all rows. Returns the number of events that the recording lacks because the agent has
    /// lost them.
    fn fill(&self, trace: &Trace, export: &mut Export<'_>, failed: &mut bool) -> Result<u64> {
        let blocks = trace.log.blocks().iter();
        let events = blocks.map(|block| u64::from(block.header.events)).sum();
        let progress = Progress::new(!self.quiet, events);
        let mut steps = Steps::new(&trace.log, &trace.all());
        let (mut done, mut lost): (u64, u64) = (0, 0);
        while let Some(step) = steps.next_step() {
            match step {
                Ok(step) => {
                    match step.what {
                        What::Lost(Gap::Blocks) => *failed = true,
                        What::Lost(gap) => lost = lost.saturating_add(gap.events()),
                        _ => {}
                    }
                    export.add(&step)?;
                }
                Err(damage) => {
                    progress.note(&trace.left_out(&damage));
                    *failed = true;
                }
            }
            done += 1;
            if done.is_multiple_of(4096) {
                progress.step(4096, &"of the events");
            }
        }
        Ok(lost)
    }
}
