//! `hindsight stats`.

use super::Format;
use crate::progress::Progress;
use crate::text::{count, name, short_type, utc};
use crate::trace::Trace;
use crate::trace::blocks::covered;
use crate::trace::less::telling_less;
use crate::trace::names::Names;
use crate::trace::stats::Counts;
use crate::trace::unseen::stands_in;
use anyhow::Result;
use hindsight_tracelog::trace::kind::Kind;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Count what a recorded run did: events, threads, methods, objects, bytes, and
/// what was lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    $ hindsight stats hindsight-out

    # The methods that are called most.
    $ hindsight stats hindsight-out --format json | jq '.methods[:5]'

Exit status:
    0 on success,
    1 if there is no trace, or a part of it cannot be read,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directory of a run that was recorded with mode=trace, or its trace.
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// How many methods and classes are shown; json has all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No progress on stderr.
    #[arg(long)]
    quiet: bool,
}

/// The message about a bounded recording with nothing in it.
const NO_CALL: &str = "no call was recorded: from and until name methods, sample names classes";

/// The name of a kind of events, as in `hindsight events`.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Enter => "calls",
        Kind::Exit => "returns",
        Kind::Unwind => "exceptions_out",
        Kind::Caught => "exceptions_caught",
        Kind::Bind => "constructors_bound",
        Kind::Put | Kind::PutEarly => "field_writes",
        Kind::PutStatic => "static_writes",
        Kind::Store => "element_writes",
        Kind::Called => "unseen_writes",
        Kind::Get => "field_reads",
        Kind::GetStatic => "static_reads",
        Kind::Load => "element_reads",
        Kind::Object => "objects",
        Kind::End => "thread_ends",
        Kind::More => "(more)",
        Kind::Text => "(texts)",
        Kind::Stamp => "(stamps)",
        Kind::Switch => "(thread_switches)",
        Kind::Lost => "(losses)",
        Kind::Going => "(running)",
    }
}

impl Opts {
    /// Writes the counts to `out`.
    ///
    /// # Errors
    ///
    /// Fails if there is no trace, or if `out` cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let trace = Trace::open(&self.path)?;
        let places = trace.all();
        let progress = Progress::new(!self.quiet, places.len() as u64);
        let step = || progress.step(1, &"of the blocks");
        let counts = Counts::of(&trace, &places, &step);
        drop(progress);
        match self.format {
            Format::Text => self.text(&trace, &counts, out)?,
            Format::Json => json_counts(&trace, &counts, out)?,
        }
        if counts.unreadable.is_empty() && !trace.is_damaged {
            Ok(())
        } else {
            Err(super::Failure.into())
        }
    }

    fn text(&self, trace: &Trace, counts: &Counts, out: &mut dyn Write) -> Result<()> {
        let dictionary = &trace.log.dictionary;
        let names = Names::new(dictionary);
        if let Some(start) = &dictionary.start {
            let what: Vec<_> = start.what.iter().map(|what| name(what)).collect();
            writeln!(
                out,
                "recorded {} (process {}){}: {}",
                utc(start.started_ms),
                start.pid,
                seconds(trace).map_or(String::new(), |seconds| format!(" for {seconds:.1} s")),
                what.join(", ")
            )?;
            let bounds = start.bounds.iter();
            let bounds: Vec<_> = bounds
                .map(|(key, value)| format!("{}={}", name(key), name(value)))
                .collect();
            if !bounds.is_empty() {
                let windows = dictionary.stop.as_ref().map_or(0, |stop| stop.windows);
                let windows = match windows {
                    0 => String::new(),
                    _ => format!(", begun {}", count(windows as usize, "time")),
                };
                writeln!(
                    out,
                    "only a part of the run: {}{windows}",
                    bounds.join(", ")
                )?;
                if counts.calls.is_empty() {
                    writeln!(out, "{NO_CALL}")?;
                }
            }
        }
        let events = counts.events();
        let bytes = size(trace);
        write!(
            out,
            "{events} events of {} in {}, {bytes} bytes",
            threads(counts),
            count(trace.log.blocks().len(), "block"),
        )?;
        match events {
            0 => writeln!(out)?,
            _ => {
                let each = bytes as f64 / events as f64;
                let rate = rate(trace, events);
                let rate = rate.map_or(String::new(), |rate| {
                    format!("; {} events a second", round(rate))
                });
                writeln!(out, " ({each:.2} an event{rate})")?;
            }
        }
        for note in &trace.notes {
            writeln!(out, "{note}")?;
        }
        for (_, damage) in &counts.unreadable {
            writeln!(out, "damaged: {}", trace.tell(damage))?;
        }
        if events > 0 {
            writeln!(out)?;
        }
        for (name, count) in by_name(counts) {
            writeln!(out, "{count:>14}  {}", name.replace('_', " "))?;
        }
        let (mut methods, mut of_methods, mut blocks, mut of_blocks) = (0, 0, 0, 0);
        for covered in covered(trace) {
            of_methods += 1;
            methods += usize::from(covered.run() > 0);
            of_blocks += covered.blocks.len();
            blocks += covered.run();
        }
        if of_blocks > 0 {
            writeln!(
                out,
                "\n{blocks} of {} have run ({:.0} %), in {methods} of {}",
                count(of_blocks, "block"),
                100.0 * blocks as f64 / of_blocks as f64,
                count(of_methods, "method")
            )?;
        }
        let methods = sorted(&counts.calls);
        if !methods.is_empty() {
            writeln!(
                out,
                "\ncalls of {}, the most frequent:",
                self::count(methods.len(), "method")
            )?;
            for (id, count) in methods.iter().take(self.limit) {
                writeln!(out, "{count:>14}  {}", names.method(*id))?;
            }
        }
        let classes = sorted(&counts.objects);
        if !classes.is_empty() {
            writeln!(
                out,
                "\nobjects by class, the most frequent of {}:",
                classes.len()
            )?;
            for (id, count) in classes.iter().take(self.limit) {
                let class = match dictionary.class(*id) {
                    Some(array) if array.starts_with('[') => short_type(array),
                    Some(class) => name(class),
                    None => "?".to_owned(),
                };
                writeln!(out, "{count:>14}  {class}")?;
            }
        }
        Ok(())
    }
}

fn threads(counts: &Counts) -> String {
    let platform = count(counts.threads.len(), "thread");
    match counts.virtual_threads.len() {
        0 => platform,
        number => format!("{platform} and {}", count(number, "virtual thread")),
    }
}

fn by_name(counts: &Counts) -> Vec<(&'static str, u64)> {
    let mut sums: Vec<(&'static str, u64)> = Vec::new();
    for (kind, count) in &counts.kinds {
        let name = kind_name(*kind);
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += count,
            None => sums.push((name, *count)),
        }
    }
    sums
}

fn sorted(counts: &HashMap<u32, u64>) -> Vec<(u32, u64)> {
    let mut sorted: Vec<_> = counts.iter().map(|(id, count)| (*id, *count)).collect();
    sorted.sort_by_key(|&(id, count)| (std::cmp::Reverse(count), id));
    sorted
}

/// The duration of the recording in seconds; if the process was killed, up to the last block that
/// was begun.
fn seconds(trace: &Trace) -> Option<f64> {
    let dictionary = &trace.log.dictionary;
    let started = dictionary.start.as_ref()?.started_ms;
    let begun = trace.log.blocks().iter().map(|block| block.header.time);
    let ended = match &dictionary.stop {
        Some(stop) => stop.ended_ms,
        None => i64::try_from(begun.max()? / 1_000_000).ok()?,
    };
    // The clock may have been set.
    (ended > started).then(|| (ended as f64 - started as f64) / 1e3)
}

/// The events per second.
fn rate(trace: &Trace, events: u64) -> Option<f64> {
    seconds(trace).map(|seconds| events as f64 / seconds)
}

/// A number rounded to two significant digits: `7.5 million`.
fn round(number: f64) -> String {
    match number {
        1e6.. => format!("{:.1} million", number / 1e6),
        1e4.. => format!("{:.0},000", number / 1e3),
        _ => format!("{number:.0}"),
    }
}

/// The bytes of all files; of live ones, which are allocated in advance, those with events.
fn size(trace: &Trace) -> u64 {
    let entries = fs::read_dir(&trace.directory).into_iter().flatten();
    let is_live = |path: &Path| path.extension().is_some_and(|extension| extension == "hsl");
    let files = entries.flatten().filter(|entry| !is_live(&entry.path()));
    let files = files.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    let live = trace.log.blocks().iter().filter(|block| block.live);
    files.sum::<u64>()
        + live
            .map(|block| u64::from(block.header.raw_len))
            .sum::<u64>()
}

fn json_counts(trace: &Trace, counts: &Counts, out: &mut dyn Write) -> Result<()> {
    let dictionary = &trace.log.dictionary;
    let kinds: Map<String, Json> = by_name(counts)
        .into_iter()
        .map(|(name, count)| (name.trim_matches(['(', ')']).to_owned(), json!(count)))
        .collect();
    let methods: Vec<Json> = sorted(&counts.calls)
        .into_iter()
        .map(|(id, count)| match dictionary.method(id) {
            Some((class, method)) => json!({
                "method_id": id,
                "class": class.name,
                "method": method.name,
                "descriptor": method.descriptor,
                "calls": count,
            }),
            None => json!({"method_id": id, "calls": count}),
        })
        .collect();
    let objects: Vec<Json> = sorted(&counts.objects)
        .into_iter()
        .map(|(id, count)| json!({"class": dictionary.class(id), "objects": count}))
        .collect();
    let coverage: Option<Vec<Json>> = trace.coverage.as_ref().map(|_| {
        let methods = covered(trace).map(|covered| {
            json!({
                "method_id": covered.method.id,
                "class": covered.class.name,
                "method": covered.method.name,
                "descriptor": covered.method.descriptor,
                "blocks": covered.blocks.len(),
                "run": covered.run(),
                "missed_lines": covered.missed_lines(),
            })
        });
        methods.collect()
    });
    let less = telling_less(dictionary).map(|less| {
        json!({
            "class": less.class,
            "method": less.method,
            "descriptor": less.descriptor,
            "tells": if less.tells_calls { "calls" } else { "nothing" },
            "reason": less.reason,
        })
    });
    let less: Vec<Json> = less.collect();
    let start = dictionary.start.clone().unwrap_or_default();
    let bounds: Map<String, Json> = (start.bounds.iter())
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    let lost = counts
        .lost
        .max(dictionary.stop.as_ref().map_or(0, |stop| stop.lost));
    let mut notes = trace.notes.clone();
    let unreadable = counts.unreadable.iter();
    notes.extend(unreadable.map(|(_, damage)| format!("damaged: {}", trace.tell(damage))));
    let is_whole = counts.unreadable.is_empty() && !trace.is_damaged;
    if !start.bounds.is_empty() && counts.calls.is_empty() {
        notes.push(NO_CALL.to_owned());
    }
    let classes = dictionary.traced.iter().filter(|class| !stands_in(class));
    let document = json!({
        "schema": "hindsight.stats/1",
        "started_ms": start.started_ms,
        "ended_ms": dictionary.stop.as_ref().map(|stop| stop.ended_ms),
        "pid": start.pid,
        "version": start.version,
        "what": start.what,
        "bounds": bounds,
        "windows": dictionary.stop.as_ref().map_or(0, |stop| stop.windows),
        "classes": classes.count(),
        "events": counts.events(),
        "bytes": size(trace),
        "seconds": seconds(trace),
        "events_per_second": rate(trace, counts.events()),
        "blocks": trace.log.blocks().len(),
        "threads": counts.threads.len(),
        "virtual_threads": counts.virtual_threads.len(),
        "kinds": kinds,
        "lost": lost,
        "segments_deleted": trace.deleted,
        "ended": dictionary.stop.is_some(),
        "complete": dictionary.stop.is_some() && lost == 0 && trace.deleted == 0 && is_whole,
        "notes": notes,
        "telling_less": less,
        "methods": methods,
        "objects": objects,
        "coverage": coverage,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::DICTIONARY;
    use hindsight_tracelog::trace::dictionary::{Record, Start, Stop, file_header, pack};

    #[test]
    fn a_trace_whose_beginning_was_deleted_is_not_complete() {
        for (segments_deleted, is_complete) in [(0, true), (80, false)] {
            let dir = tempfile::tempdir().unwrap();
            let mut dictionary = file_header().to_vec();
            let stop = Stop {
                segments_deleted,
                ..Stop::default()
            };
            for record in [Record::Start(Start::default()), Record::Stop(stop)] {
                dictionary.extend(pack(&record).unwrap());
            }
            fs::write(dir.path().join(DICTIONARY), dictionary).unwrap();
            let stats = Opts {
                path: dir.path().to_owned(),
                limit: 1,
                format: Format::Json,
                quiet: true,
            };
            let mut out = Vec::new();
            stats.run(&mut out).unwrap();
            let told: Json = serde_json::from_slice(&out).unwrap();
            assert_eq!(told["complete"], is_complete, "{told}");
        }
    }
}
