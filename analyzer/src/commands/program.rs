//! A program to be analysed: what the commands about code have in common.

use crate::jdk::Jdk;
use crate::mutability::effects::solve::{Library, NoLibrary};
use crate::mutability::library::{self, Stored};
use crate::program::names::Names;
use crate::program::source::{self, Found, JdkClasses};
use crate::program::{Program, Sym, hierarchy};
use crate::progress::Progress;
use crate::stderr::say;
use crate::text::one_line;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The options that name the classes.
#[derive(Debug, clap::Args)]
pub struct Source {
    /// Class path of the program: directories and archives (jars within jars
    /// too), joined as in a JVM's; `dir/*` means all jars of a directory.
    #[arg(long, visible_alias = "cp", value_name = "CP")]
    classpath: String,

    /// Class path of libraries whose methods are not reported: they are analysed
    /// once together with the JDK, and their verdicts are kept for the next run.
    #[arg(long, value_name = "CP")]
    libraries: Option<String>,

    /// The JDK that the program runs on; else JAVA_HOME's, else that of the java
    /// on the path.
    #[arg(long, value_name = "DIR")]
    jdk: Option<PathBuf>,

    /// Analyse the JDK (and --libraries) anew, and keep nothing.
    #[arg(long)]
    no_cache: bool,

    /// No progress and no warnings on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Source {
    /// The class path, as it was typed.
    pub fn classpath(&self) -> &str {
        &self.classpath
    }

    /// The JDK that was named.
    pub fn jdk(&self) -> Option<&Path> {
        self.jdk.as_deref()
    }

    /// Whether only errors are printed on stderr.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }
}

/// A program with the JDK's classes.
pub struct Loaded {
    program: Program,
    library: Option<(Stored, Vec<Sym>)>,
    warnings: Vec<String>,
    progress: bool,
}

/// The number of warnings that are shown; JSON has all.
const SHOWN: usize = 20;

impl Loaded {
    /// Reads the program, and the JDK's classes from the cache or anew.
    ///
    /// # Errors
    ///
    /// Fails if the class path, or the JDK, cannot be read.
    pub fn open(source: &Source, sound: bool) -> Result<Loaded> {
        let progress = !source.quiet;
        let jdk = Jdk::find_runtime(source.jdk.as_deref())?;
        let mut found = source::class_path_in_part(&source.classpath, jdk.version)?;
        let mut warnings = std::mem::take(&mut found.warnings);
        let stored = stored(&jdk, source, sound, progress, &mut warnings)?;
        let names = Names::default();
        let mut drafts = hierarchy::drafts(&names, found.classes, false, &mut warnings);
        if drafts.is_empty() {
            for warning in &warnings {
                say(one_line(warning, usize::MAX));
            }
            anyhow::bail!(
                "no class that can be read on the class path {}",
                source.classpath
            );
        }
        let library = stored.map(|stored| {
            let (own, strings) = stored.drafts(&names);
            drafts.extend(own);
            (stored, strings)
        });
        let program = Program::new(names, drafts);
        let above = program.classes.iter().filter(|class| class.missing);
        let mut missing: BTreeSet<String> =
            above.map(|class| program.names.text(class.name)).collect();
        let unknown = program.unknown_owners().into_iter();
        // That there is no JDK is reported once.
        missing.extend(unknown.filter(|name| library.is_some() || !name.starts_with("java/")));
        for class in missing {
            warnings.push(format!(
                "class {} is missing; what depends on it is unknown",
                class.replace('/', ".")
            ));
        }
        if !source.quiet {
            for warning in warnings.iter().take(SHOWN) {
                say(format_args!("warning: {}", one_line(warning, usize::MAX)));
            }
            if warnings.len() > SHOWN {
                say(format_args!("{} more warnings", warnings.len() - SHOWN));
            }
        }
        Ok(Loaded {
            program,
            library,
            warnings,
            progress,
        })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The warnings from loading.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Calls a function with the program, the JDK's summaries and a way to report progress.
    pub fn with_library<T>(
        &self,
        work: impl FnOnce(&Program, &dyn Library, &(dyn Fn(usize) + Sync)) -> T,
    ) -> T {
        let total = self
            .program
            .classes
            .iter()
            .filter(|class| !class.library)
            .count();
        let methods = self
            .program
            .classes
            .iter()
            .filter(|class| !class.library)
            .map(|class| class.methods.len());
        let progress = Progress::new(self.progress, (total + methods.sum::<usize>()) as u64);
        let step = |done: usize| progress.step(done as u64, &"of the program");
        match &self.library {
            Some((stored, strings)) => {
                let library = stored.summaries(&self.program, strings);
                work(&self.program, &library, &step)
            }
            None => work(&self.program, &NoLibrary, &step),
        }
    }
}

/// The classes and summaries of the JDK and of libraries: from the cache, or computed.
fn stored(
    jdk: &Jdk,
    source: &Source,
    sound: bool,
    progress: bool,
    warnings: &mut Vec<String>,
) -> Result<Option<Stored>> {
    let classes = JdkClasses::find(&jdk.home)?;
    if classes.is_none() {
        warnings.push(format!(
            "{} has no lib/modules and no rt.jar: nothing is known of the JDK's classes",
            jdk.home.display()
        ));
    }
    let more = match &source.libraries {
        Some(path) => source::class_path_in_part(path, jdk.version)?,
        None if classes.is_none() => return Ok(None),
        None => Found::default(),
    };
    warnings.extend(more.warnings);
    let key = library::key(classes.as_ref(), &more.classes, sound);
    let file = library::file(&key).filter(|_| !source.no_cache);
    if let Some(known) = file.as_ref().and_then(|file| library::load(file, &key)) {
        return Ok(Some(known));
    }
    // These are some 27,000 classes; their calls take as long again.
    let progress = Progress::new(progress, 30_000);
    let what = match more.classes.is_empty() {
        true => "of the JDK, once",
        false => "of the JDK and the libraries, once",
    };
    let step = |done: usize| progress.step(done as u64, &what);
    let failed = || match &classes {
        Some(classes) => format!("failed to read {}", classes.path().display()),
        None => "failed to read the libraries".to_owned(),
    };
    let mut own = Vec::new();
    let computed = library::compute(classes.as_ref(), more.classes, sound, &mut own, &step)
        .with_context(failed)?;
    warnings.append(&mut own);
    if let Some(file) = &file
        && let Err(error) = library::save(file, &key, &computed)
    {
        warnings.push(format!(
            "the JDK's summaries cannot be kept in {}: {error}",
            file.display()
        ));
    }
    Ok(Some(computed))
}
