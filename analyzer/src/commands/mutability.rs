//! `hindsight mutability`.

use super::Failure;
use super::program::{Loaded, Source};
use crate::instrument::plan::globs;
use crate::mutability::analysis::{Plan, run};
use crate::mutability::answers::Stage;
use crate::mutability::report::{self, View};
use anyhow::{Result, bail};
use std::io::Write;

/// Say which parameters each method may change.
///
/// A parameter (`this` is one) is mutable if some run of the method changes, by
/// way of it, the object that it refers to or anything that this leads to; the
/// change may happen in methods that it calls. Otherwise it is immutable. A
/// pipeline of stages decides, and what one has decided later ones do not
/// change: S looks at each body alone, SH does so parameter by parameter, P goes
/// along calls, S' follows what is read, stored and returned through bodies and
/// calls (it may also be written S2). A method is pure if it changes no parameter
/// and no static state.
///
/// Without --sound, methods of the JDK's collections and the like are taken at
/// their word, so that reading a map does not count as a change because some
/// maps reorder. With it, every known implementation is looked at, and an
/// immutable parameter is one.
///
/// The JDK's own methods are analysed once; the result is kept in the cache
/// directory ($XDG_CACHE_HOME or ~/.cache, in hindsight).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # All classes of a jar.
    $ hindsight mutability --classpath app.jar

    # Why? Every call and read down to the write.
    $ hindsight mutability --classpath app.jar --explain 'com.acme.Worker.handle'

    # Only what is proved, for machines.
    $ hindsight mutability --classpath app.jar --sound --format json

    # Methods that Randoop or Daikon may call as they like.
    $ hindsight mutability --classpath app.jar --format randoop > side-effect-free.txt

Exit status:
    0 on success, also if a class could not be read (a warning names it),
    1 if the class path or the JDK cannot be read, or nothing matches,
    2 if the arguments are wrong.")]
pub struct Opts {
    #[command(flatten)]
    source: Source,

    /// Only classes that match these globs, separated by `;`: `*` within a
    /// package, `**` across. The others are analysed all the same.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true
    )]
    classes: String,

    /// Stages in order, joined by `-`.
    #[arg(long, value_name = "X-Y-Z", default_value = "S'-P", value_parser = Pipeline::parse)]
    pipeline: Pipeline,

    /// Call a parameter immutable only if that is proved.
    #[arg(long)]
    sound: bool,

    /// A recorded run, for the stages that need one (D and its heuristics).
    #[arg(long, value_name = "DIR")]
    trace: Option<std::path::PathBuf>,

    /// Let virtual calls run only methods of classes that the program makes
    /// instances of (rapid type analysis); instances made by reflection are not
    /// seen.
    #[arg(long)]
    rta: bool,

    /// How to print: text, json, csv; randoop and chicory list pure methods as
    /// these tools read them.
    #[arg(long, value_enum, default_value_t)]
    format: Print,

    /// Only methods that match these globs of `class.method`, with the whole
    /// chain of calls and reads behind each verdict.
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "",
        hide_default_value = true
    )]
    explain: String,
}

/// How verdicts are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
#[expect(
    missing_docs,
    reason = "a variant's documentation would be part of the help"
)]
pub enum Print {
    #[default]
    Text,
    Json,
    Csv,
    Randoop,
    Chicory,
}

/// Stages as typed.
#[derive(Debug, Clone)]
struct Pipeline {
    text: String,
    stages: Vec<Stage>,
    /// A stage that needs a recorded run.
    recorded: Option<String>,
}

impl Pipeline {
    fn parse(text: &str) -> Result<Pipeline, String> {
        let mut pipeline = Pipeline {
            text: text.to_owned(),
            stages: Vec::new(),
            recorded: None,
        };
        for name in text.split('-') {
            let stage = match name {
                "S" => Stage::S,
                "SH" => Stage::Sh,
                "P" => Stage::P,
                "S'" | "S2" => Stage::Flow,
                // D with any of its heuristics, and X.
                "X" => {
                    pipeline.recorded.get_or_insert_with(|| name.to_owned());
                    continue;
                }
                _ if name
                    .strip_prefix('D')
                    .is_some_and(|rest| rest.chars().all(|c| "ABCRH".contains(c))) =>
                {
                    pipeline.recorded.get_or_insert_with(|| name.to_owned());
                    continue;
                }
                _ => {
                    return Err(format!(
                        "no stage {name:?}; there are S, SH, P, S', and D, X for recorded runs"
                    ));
                }
            };
            if stage == Stage::P && !pipeline.stages.iter().any(|stage| *stage != Stage::P) {
                return Err(
                    "P goes along calls from what S, SH or S' has found: put one of them before it"
                        .to_owned(),
                );
            }
            pipeline.stages.push(stage);
        }
        Ok(pipeline)
    }
}

impl Opts {
    /// Writes verdicts to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the class path or the JDK cannot be read, if `out` cannot be
    /// written, and with [`Failure`] if nothing matches.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(stage) = &self.pipeline.recorded {
            match &self.trace {
                None => bail!(
                    "stage {stage} of --pipeline {} needs a recorded run: name its directory with --trace \
                     (a run is recorded by the agent with mode=trace), or leave the stage out",
                    self.pipeline.text
                ),
                Some(dir) => bail!(
                    "stage {stage} of --pipeline {} cannot be run yet: this version has the static stages only \
                     (S, SH, P, S'), and does not read {}",
                    self.pipeline.text,
                    dir.display()
                ),
            }
        }
        if let Some(dir) = &self.trace {
            bail!(
                "--trace {} is of no use without a stage that reads it (D or X in --pipeline)",
                dir.display()
            );
        }
        let loaded = Loaded::open(&self.source, self.sound)?;
        let plan = Plan {
            stages: self.pipeline.stages.clone(),
            sound: self.sound,
            instances: self.rta,
        };
        let outcome =
            loaded.with_library(|program, library, step| run(program, library, &plan, step));
        let (classes, explain) = (globs(&self.classes), globs(&self.explain));
        let view = View {
            program: loaded.program(),
            outcome: &outcome,
            classes: &classes,
        };
        let any = match explain.is_empty() {
            true => view.methods().next().is_some(),
            false => view.methods().any(|row| explain.matches(&row.full_name())),
        };
        if !any {
            eprintln!(
                "hindsight: no method matches {}",
                if explain.is_empty() {
                    "--classes"
                } else {
                    "--explain"
                }
            );
            return Err(Failure.into());
        }
        match self.format {
            Print::Text => report::text(&view, &explain, super::colour(), out)?,
            Print::Json => report::json(
                &view,
                &self.pipeline.text,
                self.sound,
                loaded.warnings(),
                &explain,
                out,
            )?,
            Print::Csv => report::csv(&view, out)?,
            Print::Randoop => report::randoop(&view, out)?,
            Print::Chicory => report::chicory(&view, out)?,
        }
        Ok(())
    }
}
