//! `hindsight trim`.

use super::{Failure, Format};
use crate::classpath::ClassPath;
use crate::files::{makeable, same_file, write_whole};
use crate::input::Input;
use crate::jdk::Jdk;
use crate::junit::asked::Asked;
use crate::junit::candidate::test_name;
use crate::junit::report::{Report, Verdict};
use crate::junit::verdict::NOT_RESTORED;
use crate::junit::{Framework, Options, Source, generate, paths, preview, write_file};
use crate::progress::Stages;
use crate::repair;
use crate::temporary;
use crate::text::{count, frame as told, lines};
use crate::trim::trim;
use anyhow::{Context, Result, bail};
use hindsight_tracelog::reader::Crash;
use serde::Serialize;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// Cut a crash file down to what chosen tests need.
///
/// Keeps the objects that the chosen frames were called with, their classes, and
/// the exception and its causes with their stacks; leaves out all else: other frames' arguments,
/// the command line, static fields (those of
/// enum constants too) and system properties that no test sets,
/// counters, what was written to these objects after all chosen frames had begun.
/// The tests are run from the whole file and from the trimmed one,
/// which is written only if they end in the same way. `hindsight inspect --review` shows what is left.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # What the tests that reproduce need, and nothing else.
    $ hindsight trim crash-0001.hsc --out small.hsc --classpath app.jar:lib/*

    # For the test of one frame.
    $ hindsight trim crash-0001.hsc --frames 2 --out small.hsc --classpath app.jar

    # For a test as `hindsight junit` has named it.
    $ hindsight trim crash-0001.hsc --tests org.acme.ParserCrash0001Test#parse_frame2 \\
        --out small.hsc --classpath app.jar

Exit status:
    0 if the trimmed file is written,
    1 if its tests end in another way, no test reproduces, or a file, the class path or the
      JDK cannot be used,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// The crash file.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The trimmed file.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// The program: directories and jars, as for java -cp.
    #[arg(long, visible_alias = "cp", value_name = "CP")]
    classpath: String,

    /// Frames whose tests are to be kept; 0 is the one that threw. Without this and
    /// --tests, all that reproduce.
    #[arg(long, value_name = "INDEX,...", value_delimiter = ',')]
    frames: Vec<usize>,

    /// Tests to be kept, by their names: CLASS#METHOD or METHOD.
    #[arg(long, value_name = "TEST,...", value_delimiter = ',')]
    tests: Vec<String>,

    /// The JDK to compile and run with, instead of JAVA_HOME's or the path's.
    #[arg(long, value_name = "HOME")]
    jdk: Option<PathBuf>,

    /// An option of the JVMs that the tests run in; may be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    java_option: Vec<String>,

    /// Time that one test may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    timeout: u64,

    /// How to print the report: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No progress and no notes on stderr.
    #[arg(long)]
    quiet: bool,
}

/// The document `hindsight.trim/1`.
#[derive(Debug, Serialize)]
struct Trimmed {
    schema: &'static str,
    file: String,
    out: String,
    notes: Vec<String>,
    before: Size,
    after: Size,
    /// Whether the default locale and time zone were kept, because a test sets them.
    defaults: bool,
    /// Whether system properties were kept, for the same reason.
    properties: bool,
    /// Whether static fields were kept, for the same reason.
    statics: bool,
    /// Whether all tests end as they did from the whole file.
    same: bool,
    frames: Vec<Kept>,
}

#[derive(Debug, Serialize)]
struct Size {
    bytes: usize,
    objects: usize,
    classes: usize,
    properties: usize,
}

/// A frame whose test is kept.
#[derive(Debug, Serialize)]
struct Kept {
    index: usize,
    class: String,
    method: String,
    #[serde(skip)]
    told: String,
    before: Verdict,
    after: Verdict,
    /// Whether it ends as it did from the whole file.
    same: bool,
    /// The outcome of the test with the trimmed file.
    reason: String,
}

impl Opts {
    /// Writes the trimmed file, and the results to `out`.
    ///
    /// # Errors
    ///
    /// Fails if a file or the JDK cannot be used, and with [`Failure`] if tests do not end as they
    /// did.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let mut input = Input::read(&self.file)?;
        input.repair();
        if same_file(&self.file, &self.out) {
            bail!("the trimmed file would replace {}", self.file.display());
        }
        let name = self.out.file_name().context("--out names no file")?;
        makeable(&self.out)?;
        let classpath = ClassPath::open(&self.classpath)?;
        let jdk = Jdk::find(self.jdk.as_deref())?;
        let work = temporary::directory()?;
        let chosen = self.chosen(&input.crash)?;
        let tests = |input: &Input, frames: &[usize]| {
            let mut options = self.options(work.path().join("tests"), frames);
            let crash = std::iter::once(&input.crash);
            preview::add(&mut options.java_options, &classpath, crash);
            generate(
                std::slice::from_ref(input),
                &classpath,
                Some(&jdk),
                &options,
            )
        };

        let before = tests(&input, &chosen)?;
        let frames = match chosen.is_empty() {
            false => chosen,
            true => before.reproduced(0),
        };
        if frames.is_empty() {
            bail!(
                "no test of {} reproduces its exception, so there is nothing to keep: choose \
                 frames by --frames; `hindsight junit` says what they do",
                self.file.display()
            );
        }
        let reproduces = |&index: &usize| before.verdict(0, index).0 == Verdict::Reproduces;
        if !frames.iter().any(reproduces) {
            let (verdict, reason) = before.verdict(0, frames[0]);
            bail!(
                "nothing would be proved, for none of the tests reproduces from {} itself (frame {}: {}, {reason}); are \
                 --classpath and --jdk those of the recording?",
                self.file.display(),
                frames[0],
                verdict.name().replace('_', " ")
            );
        }
        let sets = before.sets(0, &frames);
        let crash = trim(&input.crash, &frames, sets);
        let bytes = repair::encode(&crash);
        // Messages of tests name the file, which may be in their own directory.
        let copy = work.path().join("trimmed").join(name);
        write_file(&copy, &bytes)?;
        let after = tests(&Input::read(&copy)?, &frames)?;

        let kept: Vec<Kept> = frames
            .iter()
            .map(|&index| self.kept(&input.crash, index, &before, &after))
            .collect();
        let size = |crash: &Crash, bytes: usize| Size {
            bytes,
            objects: crash.objects.len(),
            classes: crash.classes.len(),
            properties: crash.meta.properties.len(),
        };
        let whole = fs::metadata(&self.file).map_or(0, |metadata| metadata.len() as usize);
        let trimmed = Trimmed {
            schema: "hindsight.trim/1",
            file: self.file.display().to_string(),
            out: self.out.display().to_string(),
            notes: input.notes.clone(),
            before: size(&input.crash, whole),
            after: size(&crash, bytes.len()),
            defaults: sets.defaults,
            properties: sets.properties,
            statics: sets.statics,
            same: kept.iter().all(|kept| kept.same),
            frames: kept,
        };
        if trimmed.same {
            self.write(&bytes)?;
        }
        match self.format {
            Format::Text => trimmed.write_text(out)?,
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, &trimmed)?;
                writeln!(out)?;
            }
        }
        if trimmed.same {
            Ok(())
        } else {
            Err(Failure.into())
        }
    }

    /// The frames that the arguments name; empty if they name none.
    fn chosen(&self, crash: &Crash) -> Result<Vec<usize>> {
        let frames = &crash.failure.frames;
        let mut chosen = self.frames.clone();
        if let Some(index) = chosen.iter().find(|&&index| index >= frames.len()) {
            bail!(
                "{} has no frame {index}: it has {}",
                self.file.display(),
                count(frames.len(), "frame")
            );
        }
        for test in &self.tests {
            let method = test.rsplit(['#', '.']).next().unwrap_or(test);
            let mut all = frames.iter().enumerate();
            match all.find(|(index, frame)| test_name(frame, *index) == method) {
                Some((index, _)) => chosen.push(index),
                None => bail!(
                    "{} has no frame for the test {test}: tests are named METHOD_frameINDEX, as \
                     `hindsight junit` tells",
                    self.file.display()
                ),
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }

    /// The options of the tests, in which everything is loaded, so that the file is what is tried.
    fn options(&self, out: PathBuf, frames: &[usize]) -> Options {
        Options {
            out,
            framework: Framework::Junit5,
            values: Source::Loaded,
            frames: (frames.iter().map(|&index| Asked::Numbers(index..=index))).collect(),
            keep_all: false,
            run: true,
            project: false,
            java_options: paths::from_everywhere(&self.java_option),
            timeout: Duration::from_secs(self.timeout),
            told: Stages::new(!self.quiet),
        }
    }

    fn kept(&self, crash: &Crash, index: usize, before: &Report, after: &Report) -> Kept {
        let frame = &crash.failure.frames[index];
        let was = before.verdict(0, index);
        let is = after.verdict(0, index);
        Kept {
            index,
            class: frame.class.clone(),
            method: frame.method.clone(),
            told: told(frame),
            before: was.0,
            after: is.0,
            same: ends_alike(was, is),
            reason: is.1.to_owned(),
        }
    }

    /// Writes the file, readable for those who may read the recording.
    fn write(&self, bytes: &[u8]) -> Result<()> {
        let context = || format!("failed to write {}", self.out.display());
        let permissions = fs::metadata(&self.file)
            .with_context(context)?
            .permissions();
        write_whole(&self.out, permissions.mode(), |out| {
            out.write_all(bytes).with_context(context)
        })
    }
}

/// Whether two runs of a test have ended in the same way. One that does not reproduce must have
/// ended in the same way: but messages may have a time or a hash code in them, and the trimmed file
/// need not have the state that it lacked.
fn ends_alike(one: (Verdict, &str), other: (Verdict, &str)) -> bool {
    let did = |reason: &'_ str| {
        let ends = [" (", ": ", NOT_RESTORED].map(|sign| reason.find(sign).unwrap_or(reason.len()));
        reason[..ends.into_iter().min().unwrap_or(0)].to_owned()
    };
    one.0 == other.0 && (one.0 == Verdict::Reproduces || did(one.1) == did(other.1))
}

impl Trimmed {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        let size = |size: &Size| {
            let objects = count(size.objects, "object");
            format!("{} bytes, {objects}", size.bytes)
        };
        writeln!(out, "{}: {}", lines(&self.file), size(&self.before))?;
        for note in &self.notes {
            writeln!(out, "  ! {}", lines(note))?;
        }
        for kept in &self.frames {
            let (before, after) = (kept.before.name(), kept.after.name());
            let verdict = match (kept.same, before == after) {
                (true, _) => format!("{after} as before"),
                (_, true) => format!(
                    "{after} in another way than from the whole file: {}",
                    kept.reason
                ),
                _ => format!("{after}, and {before} from the whole file: {}", kept.reason),
            };
            writeln!(out, "  #{:<3} {}  {verdict}", kept.index, kept.told)?;
        }
        if self.defaults {
            writeln!(
                out,
                "  default locale and time zone are kept: a test sets them"
            )?;
        }
        if self.properties {
            writeln!(out, "  system properties are kept: a test sets them")?;
        }
        if self.statics {
            writeln!(
                out,
                "  static fields and those of enum constants are kept: a test sets them"
            )?;
        }
        if self.same {
            writeln!(out, "{}: {}", lines(&self.out), size(&self.after))?;
        } else {
            writeln!(out, "Nothing was written: tests end in another way.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_reproduce_ends_alike_if_it_does_the_same() {
        let differs = |reason| (Verdict::Differs, reason);
        let null = differs("throws java.lang.NullPointerException");
        assert!(ends_alike(null, null));
        let lacks = format!("{}{NOT_RESTORED}a.B is a hole", null.1);
        assert!(ends_alike(null, differs(&lacks)));
        assert!(!ends_alike(
            null,
            differs("its state could not be restored: no a.B")
        ));
        assert!(!ends_alike(null, (Verdict::Passes, null.1)));
        let told = |hash| format!("throws a.B at a.C.m:3 (in Foo@{hash}) instead of a.D");
        assert!(ends_alike(differs(&told("1a2b")), differs(&told("3c4d"))));
        let reproduces = |reason| (Verdict::Reproduces, reason);
        assert!(ends_alike(
            reproduces("throws it"),
            reproduces("throws it, too")
        ));
    }
}
