//! Compiles candidates, which needs only a JDK: a stub takes the place of JUnit's annotation.

use super::call::statics::owners_kept;
use super::candidate::{Level, Plan, State, TestClass};
use super::report::Verdict;
use super::source::{Source, source};
use super::{Framework, Options, REPLAY_JAR, REPLAY_JAR_NAME, Result, preview, write_file};
use crate::classpath::ClassPath;
use crate::files::failed;
use crate::jdk::javac::{Compilation, Diagnostic, Said};
use crate::jdk::{self, Jdk};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of compilations after which candidates that still fail are called by name at once.
const MAX_ROUNDS: usize = 8;
/// The number of compilations after which those without an error of their own are also given up:
/// javac reports some errors one at a time.
const LAST_ROUND: usize = 48;

/// A temporary directory in which candidates are compiled and run.
pub struct Workplace<'a> {
    dir: &'a Path,
    /// The JDK that compiles and runs.
    pub jdk: &'a Jdk,
    /// The replay library and the program.
    libraries: Vec<PathBuf>,
}

impl<'a> Workplace<'a> {
    /// Prepares `dir`.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn new(dir: &'a Path, classpath: &ClassPath, jdk: &'a Jdk) -> Result<Workplace<'a>> {
        let replay = dir.join(REPLAY_JAR_NAME);
        write_file(&replay, REPLAY_JAR)?;
        for (package, path) in [
            ("org.junit.jupiter.api", "jupiter"),
            ("org.junit", "junit4"),
        ] {
            let text = format!("package {package};\npublic @interface Test {{}}\n");
            write_file(&dir.join(format!("stubs/{path}/Test.java")), text)?;
        }
        let mut libraries = vec![replay];
        libraries.extend(classpath.paths().map(Path::to_owned));
        for part in ["classes", "resources", "results", "run"] {
            let part = dir.join(part);
            fs::create_dir_all(&part).map_err(failed("make", &part))?;
        }
        Ok(Workplace {
            dir,
            jdk,
            libraries,
        })
    }

    /// Puts the crash files where the tests look for them.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be copied.
    pub fn add_resources(&self, plan: &Plan<'_>) -> Result<()> {
        for class in &plan.classes {
            let content = plan.resource(class, None);
            write_file(&self.resource(class), content)?;
        }
        Ok(())
    }

    /// The class path of a candidate's JVM.
    ///
    /// # Errors
    ///
    /// Fails if a path contains the platform's separator.
    pub fn runtime_path(&self) -> Result<OsString> {
        let own = [self.dir.join("classes"), self.dir.join("resources")];
        let paths = own.iter().chain(&self.libraries);
        Ok(std::env::join_paths(paths)?)
    }

    /// A file for the result of one candidate.
    pub fn result_file(&self, index: usize) -> PathBuf {
        self.dir.join(format!("results/{index}.json"))
    }

    /// The path of a test class's crash file.
    pub fn resource(&self, class: &TestClass) -> PathBuf {
        self.dir.join("resources").join(class.path(&class.resource))
    }

    /// A directory to run something in that is not a candidate.
    pub fn run_dir_named(&self, name: &str) -> PathBuf {
        self.dir.join("run").join(name)
    }

    /// A directory for one candidate to run in.
    pub fn run_dir(&self, index: usize) -> PathBuf {
        self.dir.join(format!("run/{index}"))
    }
}

/// Compiles `pending` candidates. Those that do not compile fall back to raw types, to loading all
/// values, then to a call by name; those that still do not compile are settled as such.
///
/// # Errors
///
/// Fails if javac cannot be run.
pub fn settle(
    plan: &mut Plan<'_>,
    pending: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<()> {
    for round in 1..=LAST_ROUND {
        let pending = plan.only(pending, |state| *state == State::Pending);
        if pending.is_empty() {
            return Ok(());
        }
        let late = round >= MAX_ROUNDS;
        let sources = write_sources(plan, &pending, place, options)?;
        let mut failed: BTreeMap<usize, String> = BTreeMap::new();
        for source in sources.values() {
            for &index in &source.failed {
                failed.insert(index, "its call cannot be written down".to_owned());
            }
            for (index, simplified, needs) in &source.made {
                plan.candidates[*index].simplified = *simplified;
                plan.candidates[*index].needs = *needs;
            }
        }
        if failed.is_empty() {
            let said = compiled(plan, place, &sources, options)?;
            if said.errors.is_empty() {
                note_warnings(plan, &pending, &said.warnings, &sources);
                return Ok(());
            }
            blame(plan, &said.errors, &sources, late, &mut failed);
        }
        let last = round == LAST_ROUND || late && failed.is_empty();
        for (index, message) in failed {
            let candidate = &mut plan.candidates[index];
            if candidate.typed && !late {
                candidate.typed = false;
            } else if candidate.builds() && !late {
                candidate.built = false;
            } else if candidate.level == Level::Call {
                candidate.state = State::Done(Verdict::NotCompiled, message);
            } else {
                candidate.level = Level::Call;
                candidate.typed &= !late;
                candidate.built &= !late;
            }
        }
        if last {
            for index in plan.only(&pending, |state| *state == State::Pending) {
                let reason = "javac gave up on the class it stands in".to_owned();
                plan.candidates[index].state = State::Done(Verdict::NotCompiled, reason);
            }
        }
    }
    Ok(())
}

/// Compiles candidates that have compiled before, each class with all of its own. Returns those
/// that javac rejects in this form, with the reasons; none if all can be run.
///
/// # Errors
///
/// Fails if javac cannot be run.
pub fn again(
    plan: &Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<BTreeMap<usize, String>> {
    let sources = write_sources(plan, candidates, place, options)?;
    let said = compiled(plan, place, &sources, options)?;
    let mut failed = BTreeMap::new();
    blame(plan, &said.errors, &sources, true, &mut failed);
    Ok(failed)
}

/// Compiles sources together. If javac itself crashes, determines which of them cause that.
fn compiled(
    plan: &Plan<'_>,
    place: &Workplace<'_>,
    sources: &HashMap<PathBuf, Source>,
    options: &Options,
) -> Result<Said> {
    let said = javac(plan, place, sources.keys(), options)?;
    if !said.broke || sources.len() == 1 {
        return Ok(said);
    }
    let mut errors = Vec::new();
    for path in sources.keys() {
        let alone = javac(plan, place, std::iter::once(path), options)?;
        errors.extend(alone.of(path).errors);
    }
    match errors.is_empty() {
        true => Ok(said),
        false => Ok(Said { errors, ..said }),
    }
}

fn write_sources(
    plan: &Plan<'_>,
    pending: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<HashMap<PathBuf, Source>> {
    let dir = place.dir.join("sources");
    let mut sources = HashMap::new();
    let owners = owners_kept(plan);
    let classes: BTreeSet<usize> = pending
        .iter()
        .map(|&index| plan.candidates[index].class)
        .collect();
    for class in classes {
        let mine: Vec<usize> = pending
            .iter()
            .copied()
            .filter(|&index| plan.candidates[index].class == class)
            .collect();
        let source = source(plan, class, &mine, &owners, options, true);
        let test_class = &plan.classes[class];
        let path = dir.join(test_class.path(&format!("{}.java", test_class.name)));
        write_file(&path, &source.text)?;
        sources.insert(path, source);
    }
    Ok(sources)
}

fn javac<'p>(
    plan: &Plan<'_>,
    place: &Workplace<'_>,
    sources: impl Iterator<Item = &'p PathBuf>,
    options: &Options,
) -> Result<Said, jdk::Error> {
    let stub = match options.framework {
        Framework::Junit5 => "jupiter",
        Framework::Junit4 => "junit4",
    };
    let stub = place.dir.join(format!("stubs/{stub}/Test.java"));
    let sources: Vec<PathBuf> = [stub].into_iter().chain(sources.cloned()).collect();
    let preview = preview::is_on(&options.java_options);
    place.jdk.compile(&Compilation {
        release: match preview {
            true => place.jdk.version,
            false => plan.classpath.release().min(place.jdk.version),
        },
        preview,
        // The program may have two classes in one source file, which does not concern the tests,
        // and only newer versions report it.
        lints: "all,-auxiliaryclass",
        class_path: &place.libraries,
        classes: &place.dir.join("classes"),
        sources: &sources,
    })
}

/// Notes for each candidate the kinds of warnings in its lines.
fn note_warnings(
    plan: &mut Plan<'_>,
    pending: &[usize],
    warnings: &[Diagnostic],
    sources: &HashMap<PathBuf, Source>,
) {
    for &index in pending {
        plan.candidates[index].warnings = Some(BTreeSet::new());
    }
    for warning in warnings {
        let source = warning.file.as_ref().and_then(|file| sources.get(file));
        let lines = source.into_iter().flat_map(|source| &source.lines);
        let kind = warning.message.strip_prefix('[');
        // It goes into the source, and javac quotes lines with recorded text.
        let is_name = |kind: &&str| kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let kind = kind.and_then(|rest| Some(rest.split_once(']')?.0));
        let kind = kind.filter(is_name);
        for (index, lines) in lines {
            let warnings = &mut plan.candidates[*index].warnings;
            if let (Some(kind), Some(warnings), true) =
                (kind, warnings, lines.contains(&warning.line))
            {
                warnings.insert(kind.to_owned());
            }
        }
    }
}

/// Determines which candidates the errors concern.
fn blame(
    plan: &Plan<'_>,
    errors: &[Diagnostic],
    sources: &HashMap<PathBuf, Source>,
    late: bool,
    failed: &mut BTreeMap<usize, String>,
) {
    let mut general = Vec::new();
    for error in errors {
        let source = error
            .file
            .as_ref()
            .and_then(|file| Some((file, sources.get(file)?)));
        let hit = source.and_then(|(_, source)| {
            source
                .lines
                .iter()
                .find(|(_, lines)| lines.contains(&error.line))
        });
        match (hit, source) {
            (Some((index, _)), _) => {
                failed
                    .entry(*index)
                    .or_insert_with(|| error.message.clone());
            }
            // An error in an import, for example, concerns all tests of the file that may have
            // caused it.
            (None, Some((_, source))) => {
                general.extend(
                    source
                        .lines
                        .iter()
                        .map(|(index, _)| (*index, &error.message)),
                );
            }
            (None, None) => {
                let all = sources.values().flat_map(|source| &source.lines);
                general.extend(all.map(|(index, _)| (*index, &error.message)));
            }
        }
    }
    if !failed.is_empty() {
        return;
    }
    // Candidates with another way left come first: the error may concern them, and the others are
    // good.
    let ways = |index: usize| {
        let candidate = &plan.candidates[index];
        let simpler = candidate.typed || candidate.builds();
        match candidate.level {
            Level::Call => u8::from(simpler && !late),
            _ => 2,
        }
    };
    let most = general.iter().map(|(index, _)| ways(*index)).max();
    for (index, message) in general {
        if Some(ways(index)) == most {
            failed.entry(index).or_insert_with(|| message.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use hindsight_tracelog::crash::Frame;
    use hindsight_tracelog::reader::Crash;

    /// A file whose tests of candidates have five lines each, the first from line 10.
    fn file(name: &str, candidates: &[usize]) -> (PathBuf, Source) {
        let lines = candidates.iter().enumerate();
        let lines = lines.map(|(at, &index)| (index, 10 + 5 * at..15 + 5 * at));
        let source = Source {
            text: String::new(),
            lines: lines.collect(),
            failed: Vec::new(),
            made: Vec::new(),
        };
        (name.into(), source)
    }

    /// An error in a line of a file.
    fn at(file: &str, line: usize, message: &str) -> Diagnostic {
        Diagnostic {
            file: (!file.is_empty()).then(|| file.into()),
            line,
            message: message.to_owned(),
        }
    }

    /// The candidates that errors concern, with their errors, among four candidates in the files
    /// `A` (0 and 3) and `B` (1 and 2, both called by name, and 2 without types).
    fn blamed(errors: &[Diagnostic], late: bool) -> Vec<(usize, String)> {
        let mut crash = Crash::default();
        crash.failure.frames = vec![Frame::default(); 4];
        let inputs = [Input {
            path: PathBuf::new(),
            crash,
            notes: Vec::new(),
            bytes: Vec::new(),
        }];
        let classpath = ClassPath::open(env!("CARGO_MANIFEST_DIR")).expect("a directory");
        let mut plan = Plan::new(&inputs, &classpath, &[], Path::new(""), true);
        let levels = [Level::Direct, Level::Call, Level::Call, Level::Direct];
        for (candidate, level) in plan.candidates.iter_mut().zip(levels) {
            candidate.level = level;
        }
        plan.candidates[2].typed = false;
        let sources = HashMap::from([file("A", &[0, 3]), file("B", &[1, 2])]);
        let mut failed = BTreeMap::new();
        blame(&plan, errors, &sources, late, &mut failed);
        failed.into_iter().collect()
    }

    #[test]
    fn an_error_is_about_the_test_in_whose_lines_it_stands() {
        let one = |index, message: &str| vec![(index, message.to_owned())];
        assert_eq!(blamed(&[at("A", 10, "x")], false), one(0, "x"));
        assert_eq!(blamed(&[at("A", 19, "x")], false), one(3, "x"));
        assert_eq!(blamed(&[at("B", 10, "x")], false), one(1, "x"));
        // The first error gives the reason.
        let two = [at("B", 16, "first"), at("B", 17, "second")];
        assert_eq!(blamed(&two, false), one(2, "first"));
        // An error outside of all tests may be caused by one.
        let errors = [at("A", 2, "import"), at("", 0, "all"), two[0].clone()];
        assert_eq!(blamed(&errors, false), one(2, "first"));
        assert!(blamed(&[], false).is_empty());
    }

    #[test]
    fn an_error_outside_of_tests_is_about_those_with_another_way() {
        let all = |indices: &[usize]| -> Vec<(usize, String)> {
            let told = indices.iter().map(|&index| (index, "x".to_owned()));
            told.collect()
        };
        assert_eq!(blamed(&[at("A", 2, "x")], false), all(&[0, 3]));
        assert_eq!(blamed(&[at("", 0, "x")], false), all(&[0, 3]));
        // A file that is not ours, for example of the program.
        assert_eq!(blamed(&[at("C", 10, "x")], false), all(&[0, 3]));
        // Late, nothing else is left for what is called by name.
        assert_eq!(blamed(&[at("B", 2, "x")], false), all(&[1]));
        assert_eq!(blamed(&[at("B", 2, "x")], true), all(&[1, 2]));
    }
}
