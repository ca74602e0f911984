//! `hindsight inspect`.

use super::{Failure, Format};
use crate::input::{Input, expand};
use crate::inspect::review::{self, Review};
use crate::inspect::{json, text};
use crate::stderr::say;
use crate::text::with_causes;
use anyhow::Result;
use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;

/// Show crashes: exception, frames, and the arguments they had at entry.
///
/// No code of the recorded program is run; everything shown is read from the
/// fields that were stored.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # Show one crash.
    $ hindsight inspect hindsight-out/crash-0001.hsc

    # Everything about all crashes of a run, for machines.
    $ hindsight inspect --format json hindsight-out

    # What would I tell to somebody to whom I give this file?
    $ hindsight inspect --review crash-0001.hsc | less

    # Look deeper into the frames 0 and 3.
    $ hindsight inspect --depth 6 --frame 0 --frame 3 crash-0001.hsc

Exit status:
    0 on success,
    1 if a file cannot be read as a crash file, or has no frame that was asked for,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Crash files, or directories with crash-*.hsc.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// How many objects deep the trees go.
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "full")]
    depth: usize,

    /// How many fields or elements of one object are shown.
    #[arg(long, value_name = "N", default_value_t = 12, conflicts_with = "full")]
    width: usize,

    /// Show everything that was stored.
    #[arg(long)]
    full: bool,

    /// Show only these frames; 0 is the one that threw. JSON always has all.
    #[arg(long, value_name = "INDEX")]
    frame: Vec<usize>,

    /// Show what the files hold: every text, name and value, grouped by what it is (properties,
    /// paths, strings, classes, ...), with the places where it occurs.
    #[arg(long, conflicts_with_all = ["depth", "width", "full", "frame"])]
    review: bool,

    /// No notes on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes the crashes to `out`, one after the other; a file that cannot be read does not keep
    /// the others from being shown.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or has none of the frames asked for, or `out` cannot be
    /// written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let single = self.files.len() == 1 && !self.files[0].is_dir();
        let errors = RefCell::new(Vec::new());
        let fail = |error: String| {
            say(&error);
            errors.borrow_mut().push(error);
        };
        let files = expand(&self.files).into_iter();
        // The files of a directory may not fit into memory together.
        let mut inputs = files.filter_map(|file| match file.and_then(|file| Input::read(&file)) {
            Ok(input) => {
                self.tell(&input, &fail);
                Some(input)
            }
            Err(error) => {
                fail(with_causes(&error));
                None
            }
        });
        match self.format {
            _ if self.review => self.review(inputs, single, &errors, out)?,
            Format::Text => self.text(inputs, out)?,
            Format::Json if single => {
                if let Some(input) = inputs.next() {
                    json::write_one(&input, out)?;
                }
            }
            Format::Json => json::write_all(inputs, &errors, out)?,
        }
        match errors.borrow().is_empty() {
            true => Ok(()),
            false => Err(Failure.into()),
        }
    }

    fn review(
        &self,
        inputs: impl Iterator<Item = Input>,
        single: bool,
        errors: &RefCell<Vec<String>>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let reviews = inputs.map(|input| {
            let bytes = std::fs::metadata(&input.path).map_or(0, |metadata| metadata.len());
            Review::new(&input, bytes)
        });
        if self.format == Format::Json {
            return Ok(review::write_json(reviews, single, errors, out)?);
        }
        for (index, review) in reviews.enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            review.write_text(out)?;
        }
        Ok(())
    }

    /// Reports remarks about a file, and fails if it lacks a frame that was asked for.
    fn tell(&self, input: &Input, fail: &dyn Fn(String)) {
        if !self.quiet && self.format == Format::Json {
            for note in &input.notes {
                say(format_args!("{}: {note}", input.path.display()));
            }
        }
        let frames = input.crash.failure.frames.len();
        for index in self.frame.iter().filter(|&&index| index >= frames) {
            let there = match frames {
                0 => "no frames".to_owned(),
                1 => "frame 0 only".to_owned(),
                _ => format!("the frames 0 to {}", frames - 1),
            };
            fail(format!(
                "{} has no frame {index}: it has {there}",
                input.path.display()
            ));
        }
    }

    fn text(&self, inputs: impl Iterator<Item = Input>, out: &mut dyn Write) -> Result<()> {
        let style = text::Style {
            depth: if self.full {
                None
            } else {
                Some((self.depth, self.width))
            },
            colour: super::colour(),
            frames: &self.frame,
        };
        for (index, input) in inputs.enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            text::write(&input, &style, out)?;
        }
        Ok(())
    }
}
