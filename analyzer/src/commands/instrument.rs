//! `hindsight instrument`.

use super::{Failure, Format, Misuse};
use crate::instrument::listing::{Listing, Print};
use crate::instrument::plan::{Copy, Mode, Plan, Report};
use crate::instrument::run::{Options, instrument};
use crate::instrument::{json, text};
use crate::stderr::say;
use anyhow::Result;
use hindsight_instrument::What;
use hindsight_instrument::glob::globs;
use std::io::Write;
use std::path::PathBuf;

/// Rewrite classes as the agent does, without a JVM, and show what was inserted.
///
/// For inspection and tests: in production the agent rewrites classes as they
/// are loaded. The new code calls java.lang.HindsightProbe (and HindsightWrites,
/// with --copy deep; HindsightTrace, with --mode trace), classes that the agent
/// brings. Without the agent, the output with `--copy reference` or `fields`
/// runs as the input did, and hands nothing over; that with `--copy deep` or
/// `--mode trace` runs only with an agent. The agent makes the probes of such
/// classes silent and records nothing of them, for their methods are numbered
/// from 0, in the order of the input, and not by it.
///
/// An archive keeps its entries with their order, times, packing, comments and
/// attributes. Archives in archives are rewritten in place, and so are all
/// versions of a multi-release jar. A signed archive loses its signature if a
/// class in it is rewritten; an archive without such a class stays the same
/// byte for byte. What cannot be rewritten is copied as it was, and counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # Rewrite a jar.
    $ hindsight instrument app.jar --out app-probes.jar

    # What would be inserted into one class? Nothing is written.
    $ hindsight instrument app.jar --list --class com.acme.Worker

    # The same with the old code around it, for one method.
    $ hindsight instrument Worker.class --list=all --method handle

    # What would a trace insert?
    $ hindsight instrument app.jar --mode trace --list --class com.acme.Worker

    # The numbers of all methods, for machines.
    $ hindsight instrument target/classes --out probes --format json

Exit status:
    0 on success, also if classes were left as they were,
    1 if the input cannot be read or the output cannot be written, or no class or
      method that --class and --method ask for was found, rewritten or not,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// A class file, a directory, or an archive (jar, war, ear, zip, jmod, ...).
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Where to write the rewritten class, directory or archive.
    #[arg(long, value_name = "OUT", required_unless_present = "list")]
    out: Option<PathBuf>,

    /// Replace OUT if it is a file.
    #[arg(long, requires = "out")]
    force: bool,

    /// Which probes to insert.
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,

    /// What methods keep of their arguments: reference (the arguments
    /// themselves), fields (and the fields that they use), deep (and all that is
    /// written over), or depth:N, which inserts the same as deep [default: fields].
    #[arg(long, value_name = "WHAT", value_parser = Copy::parse)]
    copy: Option<Copy>,

    /// What methods tell in a trace, separated by `;`: calls, writes, reads,
    /// coverage, and values for the objects and values that take part [default:
    /// calls;writes;values].
    #[arg(long, value_name = "WHAT", value_parser = what)]
    trace_what: Option<What>,

    /// Only classes that match these globs, separated by `;`: `*` within a
    /// package, `**` across.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true
    )]
    include: String,

    /// No classes that match these globs.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true
    )]
    exclude: String,

    /// Report rules as the agent has them, separated by `;`; those that change
    /// code are escape:GLOB and caught:GLOB of `class.method`.
    #[arg(long, value_name = "RULES", value_parser = Report::parse)]
    report: Option<Report>,

    /// List what was inserted: the new code with the instructions around it, or
    /// all code.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "new")]
    list: Option<Lines>,

    /// List only classes that match these globs; of those that were left, why.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true,
        requires = "list"
    )]
    class: String,

    /// List only methods whose names match these globs.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true,
        requires = "list"
    )]
    method: String,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No progress and no notes on stderr.
    #[arg(long)]
    quiet: bool,
}

fn what(text: &str) -> Result<What, String> {
    What::parse(text).map_err(|part| {
        format!("{part:?}: it takes calls, writes, reads and coverage, and values with them")
    })
}

/// What is listed of a method.
#[derive(Debug, Clone, clap::ValueEnum)]
#[value(rename_all = "lower")]
enum Lines {
    /// New code, and the instructions around it.
    New,
    /// All code.
    All,
}

impl Opts {
    /// Rewrites, and writes what was done to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read or the output cannot be written, and with [`Failure`] if
    /// what was to be listed does not exist.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let misplaced = match self.mode {
            Mode::Crash => self.trace_what.map(|_| ("trace-what", Mode::Trace)),
            Mode::Trace => (self.copy.map(|_| ("copy", Mode::Crash)))
                .or(self.report.as_ref().map(|_| ("report", Mode::Crash))),
        };
        // The agent refuses them as well.
        if let Some((option, mode)) = misplaced {
            let mode = mode.name();
            return Err(Misuse(format!("--{option} is for --mode {mode} only")).into());
        }
        let plan = Plan {
            mode: self.mode,
            copy: self.copy.unwrap_or_default(),
            what: self.trace_what.unwrap_or(What::CALLS_AND_WRITES),
            include: globs(&self.include),
            exclude: globs(&self.exclude),
            report: self.report.clone().unwrap_or_default(),
        };
        let colour = super::colour();
        let listing = Listing {
            print: match (self.format, &self.list) {
                (Format::Json, list) => Print::Json {
                    code: list.is_some(),
                },
                (Format::Text, None) => Print::Nothing,
                (Format::Text, Some(lines)) => Print::Text {
                    all: matches!(lines, Lines::All),
                    colour,
                },
            },
            classes: globs(&self.class),
            methods: globs(&self.method),
        };
        let mut outcome = instrument(&Options {
            input: &self.input,
            out: self.out.as_deref(),
            force: self.force,
            plan: &plan,
            listing: &listing,
            progress: !self.quiet,
        })?;
        match self.format {
            Format::Text => text::write(&self.input, &plan, &mut outcome, out)?,
            Format::Json => json::write(&self.input, &plan, &mut outcome, out)?,
        }
        if !self.quiet {
            for note in text::notes(&plan, &outcome) {
                say(note);
            }
        }
        let filtered = !listing.classes.is_empty() || !listing.methods.is_empty();
        if filtered && outcome.matching == 0 {
            say(match (outcome.named, listing.classes.is_empty()) {
                (0, _) => "no class here matches --class",
                (_, true) => "no method that was looked at matches --method",
                (_, false) => "no class that matches --class has a method that matches --method",
            });
            return Err(Failure.into());
        }
        Ok(())
    }
}
