//! `hindsight junit`.

use super::{Failure, Format};
use crate::classpath::ClassPath;
use crate::files::writable;
use crate::input::{Input, expand};
use crate::jdk::Jdk;
use crate::junit::asked::Asked;
use crate::junit::{Framework, Options, Source, generate, paths, preview};
use crate::progress::Stages;
use crate::stderr::say;
use crate::text::with_causes;
use anyhow::{Result, bail};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Turn crashes into JUnit tests that reproduce them.
///
/// Each stack frame becomes a candidate: a test that calls the frame's method
/// with the receiver and arguments it had. Candidates are compiled and run,
/// which needs a JDK and nothing else, and those that end in the same exception
/// (its class, and the frame that threw it) are kept. They are red while the
/// bug is there and green when it is fixed.
///
/// Values are written as literals and as calls of constructors, setters,
/// factories, builders and the JDK's API, as far as these are found to give the
/// recorded objects; other values are loaded from the crash file, which then
/// comes with the tests, and a comment shows what they hold. To find out,
/// constructors and setters of the program run with recorded arguments.
///
/// These and the frames' methods may do anything with the file's values, and nothing confines them:
/// make tests of a stranger's file in a sandbox. A method of the JDK that may do more than compute
/// is called only if --frames names it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # Tests of one crash, kept if they reproduce it.
    $ hindsight junit hindsight-out/crash-0001.hsc --classpath app.jar:lib/* --out tests

    # A Maven project in which `mvn test` shows the failures at once.
    $ hindsight junit hindsight-out --classpath target/classes --out repro --project

    # Of a long stack, try the first frames and those of the program alone.
    $ hindsight junit crash-0001.hsc --classpath app.jar --out tests --frames 0-4,org.acme.**

    # Load all values, and run no constructor to find out what it makes.
    $ hindsight junit crash-0001.hsc --classpath app.jar --out tests --values loaded

    # Why does a frame not reproduce? Keep all candidates, with their verdicts.
    $ hindsight junit crash-0001.hsc --classpath app.jar --out tests --keep-all

Exit status:
    0 if each crash is reproduced by a test (or nothing was to be run; a dump of
      all threads is no crash),
    1 if a crash is not, or a file, the class path or the JDK cannot be used,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Crash files, or directories with crash-*.hsc.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The program: directories and jars, as for java -cp.
    #[arg(long, visible_alias = "cp", value_name = "CP")]
    classpath: String,

    /// Where to write the tests.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// The JUnit that the tests are for.
    #[arg(long, value_enum, default_value_t)]
    framework: Framework,

    /// Where the values of tests come from. What cannot be built so that it is the
    /// same object graph is loaded from the crash file.
    #[arg(long, value_enum, default_value_t)]
    values: Source,

    /// Frames to make tests of: numbers (0 threw), ranges like 0-5 and globs of classes like
    /// org.acme.**. Each is tried in a JVM of its own, which takes minutes if a server has many.
    #[arg(long, value_name = "FRAME,...", value_delimiter = ',', value_parser = Asked::parse)]
    frames: Vec<Asked>,

    /// Write the candidates that do not reproduce, too, with their verdicts.
    #[arg(long)]
    keep_all: bool,

    /// Run nothing; write all candidates.
    #[arg(long)]
    no_run: bool,

    /// Make a complete Maven project; tests of other crashes that are in it stay, with the programs they are for.
    #[arg(long)]
    project: bool,

    /// The JDK to compile and run with, instead of JAVA_HOME's or the path's.
    #[arg(long, value_name = "HOME")]
    jdk: Option<PathBuf>,

    /// An option of the JVMs that the tests run in, like --add-opens=java.base/java.util=ALL-UNNAMED
    /// or --enable-preview, which javac gets, too, and which is added where a class of the stack needs
    /// it; may be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    java_option: Vec<String>,

    /// Time that one candidate may take, not counting waits for a core (including these, four times
    /// as long); half of it, and at least 10 s, if it is idle, and 10 s if its method was idle in
    /// another crash, or one further in on the stack in this one.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    timeout: u64,

    /// How to print the report: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No progress and no notes on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes the tests, and the report to `out`.
    ///
    /// # Errors
    ///
    /// Fails if an input or the JDK cannot be used, and with [`Failure`] if a
    /// crash is not reproduced.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        writable(&self.out)?;
        let (mut inputs, mut errors) = (Vec::new(), Vec::new());
        let files = expand(&self.files);
        let count = files.len();
        for file in files {
            match file.and_then(|file| Input::read(&file)) {
                Ok(mut input) => {
                    input.repair();
                    inputs.push(input);
                }
                // One bad file must not keep the others from becoming tests.
                Err(error) if count > 1 => {
                    let error = with_causes(&error);
                    say(&error);
                    errors.push(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.check_frames(&inputs)?;
        let classpath = ClassPath::open(&self.classpath)?;
        let jdk = match Jdk::find(self.jdk.as_deref()) {
            Ok(jdk) => Some(jdk),
            // Without a JDK, sources can still be written, although unchecked.
            Err(error) if self.no_run => {
                if !self.quiet {
                    let error = with_causes(&error);
                    say(format_args!("the tests are not compiled: {error}"));
                }
                None
            }
            Err(error) => return Err(error.into()),
        };
        let mut java_options = paths::from_everywhere(&self.java_option);
        let crashes = inputs.iter().map(|input| &input.crash);
        preview::add(&mut java_options, &classpath, crashes);
        let options = Options {
            out: self.out.clone(),
            framework: self.framework,
            values: self.values,
            frames: self.frames.clone(),
            keep_all: self.keep_all,
            run: !self.no_run,
            project: self.project,
            java_options,
            timeout: Duration::from_secs(self.timeout),
            told: Stages::new(!self.quiet),
        };
        let mut report = generate(&inputs, &classpath, jdk.as_ref(), &options)?;
        report.errors = errors;
        match self.format {
            Format::Text => report.write_text(&options, out)?,
            Format::Json => report.write_json(out)?,
        }
        if report.is_success() && report.errors.is_empty() {
            Ok(())
        } else {
            Err(Failure.into())
        }
    }

    /// Checks that each of the wanted frames is one of some crash.
    fn check_frames(&self, inputs: &[Input]) -> Result<()> {
        for asked in &self.frames {
            let mut crashes = inputs.iter().map(|input| &input.crash.failure.frames);
            let has = |(index, frame)| asked.has(index, frame);
            if !crashes.any(|frames| frames.iter().enumerate().any(has)) {
                bail!(
                    "--frames {asked}: no crash has such a frame; `hindsight inspect` shows them"
                );
            }
        }
        Ok(())
    }
}
