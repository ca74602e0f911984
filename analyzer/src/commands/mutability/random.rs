//! The options of stage R, and the tools that it needs to execute methods.

use crate::classpath::ClassPath;
use crate::commands::{Misuse, agent_beside};
use crate::generate::guard::Guarded;
use crate::generate::inputs::Recorded;
use crate::generate::platform::Platform;
use crate::generate::search::Search;
use crate::generate::sequence::Methods;
use crate::generate::surface::Surface;
use crate::generate::worker::{Recording, Setup, Worker};
use crate::jdk::Jdk;
use crate::mutability::random::Inputs;
use crate::program::source;
use crate::temporary;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Random inputs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Random inputs (stages with R)")]
pub struct Options {
    /// The seed, on which all random choices depend, unless --time is up.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// The time for all rounds, and for analysing what they have recorded.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    time: u64,

    /// Sequences of calls per round; by default as many as there are methods, and at least 5000.
    /// Rounds continue while each decides a hundredth of what is unknown.
    #[arg(long, value_name = "N")]
    sequences: Option<u64>,

    /// The agent that records them; by default libhindsight.so beside this command.
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

/// The processor time of one sequence, which records all that it does.
const LIMIT: Duration = Duration::from_millis(300);

/// The oldest JDK whose programs the agent records.
const OLDEST: u32 = 17;

impl Options {
    /// Calls `work` with what executes the methods of a class path on a JDK. Returns its result,
    /// with remarks.
    ///
    /// # Errors
    ///
    /// Fails if the JDK cannot run programs, if there is no agent, and as `work` does.
    pub fn with_inputs<T>(
        &self,
        classpath: &str,
        jdk: Option<&Path>,
        work: impl FnOnce(&mut dyn Inputs) -> Result<T>,
    ) -> Result<(T, Vec<String>)> {
        if self.sequences == Some(0) || self.time == 0 {
            let least = "stage R needs at least one sequence (--sequences) and one second (--time)";
            return Err(Misuse(least.to_owned()).into());
        }
        let stage = "stage R executes the program under recording";
        let jdk = Jdk::find_runtime(jdk).context(stage)?;
        let lacks = if !jdk.home.join("bin/java").is_file() {
            Some("has no bin/java".to_owned())
        } else {
            (jdk.version < OLDEST).then(|| format!("is a JDK {}", jdk.version))
        };
        if let Some(lacks) = lacks {
            bail!(
                "{stage}, which takes a JDK {OLDEST} or newer: {} {lacks}; use --jdk, or leave R out of --pipeline",
                jdk.home.display()
            );
        }
        let agent = agent_beside(self.agent.as_deref()).context(stage)?;
        let opened = ClassPath::open(classpath)?;
        let temporary = temporary::directory()?;
        let dir =
            fs::canonicalize(temporary.path()).context("failed to make a temporary directory")?;
        let version = jdk.version;
        let guarded = Guarded::new(classpath, &opened, version, false, &dir.join("guarded"))?;
        let out = dir.join("recorded");
        fs::create_dir_all(&out).context("failed to make a temporary directory")?;
        let setup = Setup {
            jdk,
            entries: guarded.entries,
            dir,
            limit: LIMIT,
            reset: false,
            preview: guarded.preview,
            recorded: Some(Recording {
                agent,
                out: out.clone(),
            }),
        };
        setup.prepare()?;
        let platform = Platform::new(&setup.jdk);
        let mut worker = Worker::new(setup);
        let mut methods = Methods::default();
        let classes = source::class_path(classpath, version)?.classes;
        let classes: Vec<Vec<u8>> = classes.into_iter().map(|raw| raw.bytes).collect();
        let surface = Surface::of_packages(&classes, &platform, &mut methods);
        let search = Search::new(&surface, None, &mut methods, &mut worker, self.seed);
        let until = Instant::now() + Duration::from_secs(self.time);
        let mut inputs = Recorded::new(search, out, guarded.stand_ins, self.sequences, Some(until));
        let done = work(&mut inputs)?;
        let mut notes = std::mem::take(&mut inputs.notes.lines);
        if Instant::now() >= until {
            notes.push(format!(
                "stage R was stopped after {} seconds (--time), in round {}: with the same seed other answers may \
                 come out",
                self.time, inputs.rounds
            ));
        }
        Ok((done, notes))
    }
}
