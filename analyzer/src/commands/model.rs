//! `hindsight model`.

use super::{Failure, Format};
use crate::files::{makeable, write_whole};
use crate::model::infer::{Inference, Limits, Skipped};
use crate::model::mutable::Mutability;
use crate::model::{Model, Run, document, show};
use crate::progress::Progress;
use crate::stderr::say;
use crate::text::count;
use crate::trace::Trace;
use crate::trace::ahead::{Taker, read_ahead};
use crate::trace::steps::{Step, Steps};
use anyhow::{Context, Result, bail};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Infer how objects are used from recorded runs: a graph for each class, of the
/// calls that its objects took part in.
///
/// Each path from the root of a graph begins with a call that makes the object (or with its first
/// one, if code that was not recorded has made it), and continues with calls on it or with it as an
/// argument. A call in which others of the same object are nested has these as an alternative.
/// Methods that are not public are left out at the end. Numbers, strings and constants that were
/// passed are on the edges, with how often they occurred.
///
/// With --mutability, calls that do not change the object are left out: they are listed as what an
/// assertion may use (`keeps`). How many nodes and edges that saves is printed on stderr.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # One run, shown.
    $ hindsight model run

    # Calls that change nothing left out; written for hindsight generate.
    $ hindsight mutability --classpath app.jar --format json > mutability.json
    $ hindsight model run --mutability mutability.json --out app.model

    # Runs of many machines, modelled elsewhere.
    $ hindsight model --merge a.model --merge b.model --out all.model

    # A picture.
    $ hindsight model run --classes 'com.acme.Order' --dot | dot -Tsvg > order.svg

Exit status:
    0 on success,
    1 if a recording, model or mutability file cannot be read, or a part of a
      recording cannot (the model is made of the rest), or nothing matches,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directories of runs that were recorded with mode=trace, or their traces.
    #[arg(value_name = "DIR", required_unless_present = "merge")]
    runs: Vec<PathBuf>,

    /// Write the models here, as JSON or with --dot as a picture, and show nothing.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Which parameters methods may change: the output of hindsight mutability --format json.
    /// Models that are merged stay as they are.
    #[arg(long, value_name = "FILE", requires = "runs")]
    mutability: Option<PathBuf>,

    /// Add models that were written before; may be given again.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,

    /// Only classes that match these globs, separated by `;`: `*` within a package,
    /// `**` across.
    #[arg(
        long,
        value_name = "GLOBS",
        default_value = "",
        hide_default_value = true
    )]
    classes: String,

    /// The most calls of one object that are followed.
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth,
          value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,

    /// Show a picture in Graphviz's language.
    #[arg(long, conflicts_with = "format")]
    dot: bool,

    /// How to show models, or to say what was written with --out: text for people, json for
    /// machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No notes and no progress on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes models to `out`, or to a file.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or written, and with [`Failure`] if a part of a recording
    /// could not be read or nothing matches.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let mutability = self
            .mutability
            .as_deref()
            .map(Mutability::read)
            .transpose()?;
        if let Some(path) = &self.out {
            makeable(path)?;
        }
        let mut merged = Model::default();
        for path in &self.merge {
            merged.merge(&document::read(path)?);
        }
        let mut model = Model::default();
        let mut damaged = false;
        let mut larger = None;
        for path in &self.runs {
            let made = self.infer(path, mutability.as_ref())?;
            model.add(made.model);
            damaged |= made.damaged;
            if let Some(plain) = made.without {
                larger.get_or_insert_with(Model::default).add(plain);
            }
        }
        let globs = hindsight_instrument::glob::globs(&self.classes);
        if !globs.is_empty() {
            for model in larger.iter_mut().chain([&mut merged, &mut model]) {
                model.classes.retain(|name, _| globs.matches(name));
            }
        }
        // For merged models, only one of the sizes is known.
        let of_runs = model.size();
        let is_merged = !merged.classes.is_empty();
        merged.add(model);
        let model = merged;
        if model.classes.is_empty() {
            match globs.is_empty() {
                true => bail!(
                    "there is no object with calls in the recording: was it made with trace-what=calls;values, \
                     and did include= name the program's classes? Models are of calls of public methods"
                ),
                false => bail!("no class with a model matches --classes {}", self.classes),
            }
        }
        if !self.quiet {
            let is_twice = |run: &Run| {
                run.mutability
                    && (model.runs.iter()).any(|other| other.id == run.id && !other.mutability)
            };
            if model.runs.iter().any(is_twice) {
                say(
                    "a run is in these models with --mutability and without: its objects count twice",
                );
            }
            let (nodes, edges) = model.size();
            let classes = match model.classes.len() {
                1 => "1 class".to_owned(),
                many => format!("{many} classes"),
            };
            say(format_args!(
                "models of {classes}: {}, {}",
                count(nodes, "node"),
                count(edges, "edge")
            ));
            if let Some(larger) = larger {
                let (nodes, edges) = of_runs;
                if is_merged {
                    say(format_args!(
                        "of the recorded runs alone: {}, {}",
                        count(nodes, "node"),
                        count(edges, "edge")
                    ));
                }
                let (all_nodes, all_edges) = larger.size();
                say(format_args!(
                    "without mutability: {}, {} ({:.2} times the edges)",
                    count(all_nodes, "node"),
                    count(all_edges, "edge"),
                    all_edges as f64 / edges.max(1) as f64
                ));
            }
        }
        match &self.out {
            Some(path) => write_whole(path, 0o666, |mut out| {
                let written = match self.dot {
                    true => show::dot(&model, out),
                    false => document::write(&model, &mut out),
                };
                written.with_context(|| format!("failed to write {}", path.display()))
            })?,
            None if self.dot => show::dot(&model, out)?,
            None if self.format == Format::Json => {
                document::write(&model, out)?;
            }
            None => show::text(&model, out)?,
        }
        if let Some(path) = &self.out
            && self.format == Format::Json
        {
            let (nodes, edges) = model.size();
            let told = json!({
                "schema": "hindsight.model_written/1",
                "out": path.display().to_string(),
                "classes": model.classes.len(),
                "nodes": nodes,
                "edges": edges,
            });
            writeln!(out, "{told:#}")?;
        }
        if damaged {
            return Err(Failure.into());
        }
        Ok(())
    }

    fn infer(&self, path: &Path, mutability: Option<&Mutability>) -> Result<Made> {
        let trace = Trace::open(path)?;
        let dictionary = &trace.log.dictionary;
        let what = dictionary.start.as_ref().map(|start| start.what.as_slice());
        if let Some(what) = what {
            let has = |name: &str| what.iter().any(|known| known == name);
            if !has("calls") || !has("values") {
                bail!(
                    "{} was recorded with trace-what={}: models need calls and values",
                    path.display(),
                    what.join(";")
                );
            }
        }
        let run = |mutability: bool| Run {
            id: id(&trace),
            mutability,
        };
        let limits = Limits {
            depth: self.depth,
            ..Limits::default()
        };
        let mut with = Inference::new(dictionary, run(mutability.is_some()), mutability, limits);
        let mut without = mutability.map(|_| Inference::new(dictionary, run(false), None, limits));
        let places = trace.all();
        let mut steps = Steps::new(&trace.log, &places);
        let events = trace
            .log
            .blocks()
            .iter()
            .map(|block| u64::from(block.header.events));
        let progress = Progress::new(!self.quiet, events.sum());
        let mut damaged = trace.is_damaged;
        let mut take_with = |step: &Step| with.take(step);
        let mut take_without = without
            .as_mut()
            .map(|without| |step: &Step| without.take(step));
        let mut takers: Vec<Taker<'_>> = vec![&mut take_with];
        if let Some(without) = &mut take_without {
            takers.push(without);
        }
        read_ahead(&mut steps, takers, |read| match read {
            Ok(count) => progress.step(count as u64, &"of the events"),
            Err(damage) => {
                damaged = true;
                let left_out = trace.left_out(&damage);
                progress.note(&format_args!("{}: {left_out}", path.display()));
            }
        });
        drop(progress);
        if !self.quiet {
            for note in &trace.notes {
                say(format_args!("{}: {note}", path.display()));
            }
            tell(path, &with.skipped, self.depth);
        }
        Ok(Made {
            model: with.finish(),
            without: without.map(Inference::finish),
            damaged,
        })
    }
}

struct Made {
    model: Model,
    without: Option<Model>,
    damaged: bool,
}

fn tell(path: &Path, skipped: &Skipped, depth: u32) {
    let path = path.display();
    if skipped.long > 0 {
        say(format_args!(
            "{path}: {} objects had more than {depth} calls; the model has the first (see --depth)",
            skipped.long
        ));
    }
    if skipped.forgotten > 0 {
        say(format_args!(
            "{path}: {} objects were forgotten to save memory; what they did later is not in the model",
            skipped.forgotten
        ));
    }
    if skipped.lost > 0 {
        say(format_args!(
            "{path}: {} events were lost by the recorder; calls around them are not in the model",
            skipped.lost
        ));
    }
}

/// The identity of a run.
fn id(trace: &Trace) -> String {
    match &trace.log.dictionary.start {
        Some(start) if !start.run.is_empty() => start.run.clone(),
        // The run is of an older agent.
        Some(start) => format!("{}-{}", start.started_ms, start.pid),
        None => {
            let bytes =
                fs::read(trace.directory.join(crate::trace::DICTIONARY)).unwrap_or_default();
            let hash = Sha256::digest(&bytes);
            hash.iter()
                .take(8)
                .map(|byte| format!("{byte:02x}"))
                .collect()
        }
    }
}
