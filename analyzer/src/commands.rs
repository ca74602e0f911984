//! The subcommands of `hindsight`.
//!
//! - [`inspect`], [`crashes`], [`junit`], [`trim`] and [`view`] are about crashes, [`events`],
//!   [`stats`], [`export`], [`model`] and [`generate`] about recorded runs, [`mutability`],
//!   [`plan`] and [`instrument`] about classes, [`attach`] and [`api`] about recording.
//! - [`program`] reads the classes of a program for several of them.

pub mod api;
pub mod attach;
pub mod crashes;
pub mod events;
pub mod export;
pub mod generate;
pub mod inspect;
pub mod instrument;
pub mod junit;
pub mod model;
pub mod mutability;
pub mod plan;
pub mod program;
pub mod stats;
pub mod trim;
pub mod view;

use anyhow::{Context, Result};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The subcommands of `hindsight`.
#[derive(clap::Subcommand)]
#[expect(
    missing_docs,
    reason = "a variant's documentation would replace the help of its options"
)]
pub enum Command {
    // They are in the order of the help: crashes, recorded runs, what classes do, then what is
    // around.
    Inspect(inspect::Opts),
    Junit(junit::Opts),
    Crashes(crashes::Opts),
    Trim(trim::Opts),
    Stats(stats::Opts),
    Events(events::Opts),
    Export(export::Opts),
    Model(model::Opts),
    Generate(Box<generate::Opts>),
    Mutability(Box<mutability::Opts>),
    Plan(plan::Opts),
    View(view::Opts),
    Attach(attach::Opts),
    Api(api::Opts),
    Instrument(Box<instrument::Opts>),
}

impl Command {
    /// Runs the subcommand; results go to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the input is bad, with [`Failure`] if that was already reported, and with
    /// [`Misuse`] if the arguments are wrong.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        match self {
            Command::Api(opts) => opts.run(out),
            Command::Attach(opts) => opts.run(out),
            Command::Crashes(opts) => opts.run(out),
            Command::Events(opts) => opts.run(out),
            Command::Export(opts) => opts.run(out),
            Command::Stats(opts) => opts.run(out),
            Command::Inspect(opts) => opts.run(out),
            Command::Junit(opts) => opts.run(out),
            Command::Trim(opts) => opts.run(out),
            Command::Instrument(opts) => opts.run(out),
            Command::Mutability(opts) => opts.run(out),
            Command::Model(opts) => opts.run(out),
            Command::Generate(opts) => opts.run(out),
            Command::Plan(opts) => opts.run(out),
            Command::View(opts) => opts.run(out),
        }
    }
}

/// The name of the agent's file.
const AGENT: &str = "libhindsight.so";

/// The agent's file: the one that was named, or the one beside this command.
fn agent_beside(named: Option<&Path>) -> Result<PathBuf> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => std::env::current_exe()
            .context("where this command is")?
            .with_file_name(AGENT),
    };
    path.canonicalize()
        .with_context(|| format!("no agent at {}; name {AGENT} with --agent", path.display()))
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For machines: JSON, its schema first.
    Json,
}

/// Whether results are coloured: on a terminal, unless the user wants none.
fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Options that contradict each other because of their values.
#[derive(Debug)]
pub struct Misuse(String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// The command failed and has reported why; only the exit status is left.
#[derive(Debug)]
pub struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failure {}
