//! `hindsight crashes`.

use super::{Failure, Format};
use crate::crashes::collect::{self, Collected};
use crate::crashes::{key, report};
use crate::progress::Progress;
use crate::stderr::say;
use crate::text::{count, with_causes};
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;

/// Group the crashes of many runs and machines by exception and stack.
///
/// Each group has its count (repetitions that a run only counted are part of
/// it), when it was first and last seen, in which versions of the program, and
/// the crash file that makes the best test. A crash counts once, whether its file
/// is named, a copy of it, or a result that it is in (made with the same
/// `--frames`).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # What crashed on any machine, the most frequent first.
    $ hindsight crashes /collected/recordings

    # A test of the most frequent one.
    $ hindsight junit $(hindsight crashes --format json DIR | jq -r '.groups[0].best.file') ...

    # Per machine now, merged later.
    $ hindsight crashes --format json DIR > machine-7.json
    $ hindsight crashes machine-*.json

Exit status:
    0 on success,
    1 if a file cannot be read, or there is none,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directories with crash-*.hsc at any depth, crash files, or results of
    /// this command (*.json).
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// How many methods of the program must be the same.
    #[arg(long, value_name = "N", default_value_t = key::FRAMES, value_parser = frames)]
    frames: usize,

    /// How many groups are shown; json has all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// No progress and no notes on stderr.
    #[arg(long)]
    quiet: bool,
}

fn frames(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(frames @ 1..=256) => Ok(frames),
        _ => Err("a number from 1 to 256 is expected".to_owned()),
    }
}

impl Opts {
    /// Writes the groups to `out`; a file that cannot be read does not keep the
    /// others from being shown.
    ///
    /// # Errors
    ///
    /// Fails if there is nothing to read, if a file cannot be read, or if `out`
    /// cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let found = collect::find(&self.paths)?;
        if !self.quiet {
            for path in &found.empty {
                say(collect::nothing_in(path));
            }
        }
        let total = found.crashes.len();
        let progress = Progress::new(!self.quiet, total as u64);
        let step = || progress.step(1, &format_args!("of {}", count(total, "crash file")));
        let Collected {
            mut groups,
            mut not_stored,
            unmatched,
            mut errors,
        } = collect::read(&found.crashes, self.frames, &step);
        drop(progress);
        errors.extend(found.errors);
        for path in &found.results {
            match collect::result(path) {
                Ok((result, of_result)) => {
                    groups.merge(result);
                    collect::add_not_stored(&mut not_stored, of_result);
                }
                Err(error) => errors.push(with_causes(&error)),
            }
        }
        if !self.quiet {
            for why in &unmatched {
                say(format_args!("by what the runs say, {why}"));
            }
        }
        for error in &errors {
            say(error);
        }
        match self.format {
            Format::Text => {
                let colour = super::colour();
                report::text(&groups, &not_stored, self.limit, colour, out)?;
            }
            Format::Json => report::json(&groups, &not_stored, &errors, out)?,
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Failure.into())
        }
    }
}
