//! Rewrites the program's classes so that they cannot do harm: calls that end the JVM, start
//! processes, use the network, write or delete files go to the worker's `Guard`, and objects that
//! open files or sockets are of its classes. Clocks are replaced as well, because they must differ
//! from run to run.
//!
//! - `class` rewrites one class.
//!
//! No instruction changes its length, so nothing moves: a call of a method becomes one of a static
//! method that takes the receiver as its first argument, a `new` names a subclass. The replacements
//! are read from the worker itself.

mod class;

use super::Result;
use super::sequence::Method;
use crate::classpath::{ClassPath, sha256};
use crate::files::failed;
use crate::junit::write_file;
use crate::program::source;
use class::{Class, FORMATTER, Full, Heirs, Kind, POOL, is_file};
use hindsight_classfile::{ClassFile, PoolBuilder, Utf8, access, opcode};
use hindsight_instrument::{TracePlan, What};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use zip::ZipArchive;

/// The worker's library.
pub const WORKER_JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hindsight-worker.jar"));

/// The prefix of the names of classes whose methods replace others.
const GUARD: &str = "dev/hindsight/worker/Guard";
const CLOCKS: &str = "dev/hindsight/worker/GuardClocks";
const GUARDED: &str = "dev/hindsight/worker/Guarded$";
/// The class to which basic blocks report.
const COVER: &str = "dev/hindsight/worker/Cover";

/// The replacements in the worker.
pub struct Guards {
    /// By name and descriptor of a method, the class that has it.
    methods: HashMap<(String, String), String>,
    /// By the class that is extended, the extending class and its constructors.
    classes: HashMap<String, (String, HashSet<String>)>,
}

static GUARDS: LazyLock<Option<Guards>> = LazyLock::new(|| Guards::new().ok());

/// Whether the worker replaces a method of the JDK in the program's code, except those that ask a
/// clock or random numbers: then a test must not call it itself.
pub fn stands_in(method: &Method) -> bool {
    let by = GUARDS
        .as_ref()
        .and_then(|guards| guards.stand_in_for(method));
    by.is_some_and(|by| by != CLOCKS)
}

/// Whether it replaces a method or constructor, whatever that does, or methods of its result: if a
/// test refers to it, the program calls it through an interface, and it is not replaced.
pub fn is_guarded(method: &Method) -> bool {
    (GUARDS.as_ref()).is_some_and(|guards| match method.is_constructor() {
        true => guards.stand_in_for_made(method),
        false => method.class == OF_CHANCE || guards.stand_in_for(method).is_some(),
    })
}

/// Classes whose objects, if made without arguments, ask a clock or random numbers.
const ASKING: [&str; 2] = ["java/util/Date", "java/util/Random"];
/// The class by which the program calls these objects, which are not made but found, and are
/// recognised by it.
const OF_CHANCE: &str = "java.util.concurrent.ThreadLocalRandom";

/// The constructors of a class whose objects ask a clock or random numbers, if those of others do
/// not.
fn asking(class: &str) -> Option<&'static [&'static str]> {
    match class {
        class if ASKING.contains(&class) => Some(&["()V"]),
        "java/util/GregorianCalendar" => Some(&[
            "()V",
            "(Ljava/util/TimeZone;)V",
            "(Ljava/util/Locale;)V",
            "(Ljava/util/TimeZone;Ljava/util/Locale;)V",
        ]),
        _ => None,
    }
}

impl Guards {
    /// Reads the worker's own classes.
    ///
    /// # Errors
    ///
    /// Fails if the worker that was built in cannot be read.
    pub fn new() -> Result<Guards> {
        let mut guards = Guards {
            methods: HashMap::new(),
            classes: HashMap::new(),
        };
        let mut jar = ZipArchive::new(Cursor::new(WORKER_JAR)).map_err(io::Error::from)?;
        for at in 0..jar.len() {
            let mut entry = jar.by_index(at).map_err(io::Error::from)?;
            let name = entry.name().to_owned();
            let Some(class) = name.strip_suffix(".class") else {
                continue;
            };
            let is_guarded = class.starts_with(GUARDED);
            if !class.starts_with(GUARD) || class == GUARDED.trim_end_matches('$') {
                continue;
            }
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            let file = ClassFile::parse(&bytes)?;
            let public = file
                .methods
                .iter()
                .filter(|method| method.is(access::PUBLIC));
            if !is_guarded {
                let methods = public.filter(|method| method.is(access::STATIC));
                let methods = methods.map(|method| (text(method.name), text(method.descriptor)));
                guards
                    .methods
                    .extend(methods.map(|method| (method, class.to_owned())));
            } else if let Some(parent) = file.super_name()? {
                let constructors = public.map(|method| text(method.descriptor)).collect();
                guards
                    .classes
                    .insert(text(parent), (class.to_owned(), constructors));
            }
        }
        Ok(guards)
    }

    /// The class with the replacement for a JDK method.
    fn stand_in_for(&self, method: &Method) -> Option<&str> {
        let heirs = Heirs::of(&[]);
        let class = method.class.replace('.', "/");
        let kind = match method.is_static {
            true => Kind::Static,
            false => Kind::Virtual,
        };
        let found = heirs.stand_in(&class, &method.name, &method.descriptor, kind)?;
        self.methods.get(&found).map(String::as_str)
    }

    /// Whether another class replaces the one that a constructor makes.
    fn stand_in_for_made(&self, constructor: &Method) -> bool {
        let class = constructor.class.replace('.', "/");
        let is_asked = |asking: &[&str]| asking.contains(&constructor.descriptor.as_str());
        self.classes.contains_key(&class) && asking(&class).is_none_or(is_asked)
    }

    /// Writes the classes of a program that must be rewritten below `dir`, which then precedes it
    /// on the class path; with `covered` all of them, which then report their basic blocks. Returns
    /// the number of classes, and the SHA-256 of each that was rewritten with that of the original.
    ///
    /// # Errors
    ///
    /// Fails if a class cannot be written.
    pub fn apply(
        &self,
        classes: &[source::Raw],
        covered: bool,
        dir: &Path,
    ) -> Result<(usize, BTreeMap<String, String>)> {
        let heirs = Heirs::of(classes);
        let mut seen = HashSet::new();
        let mut stand_ins = BTreeMap::new();
        let mut blocks = 0;
        for raw in classes {
            let Ok(file) = ClassFile::parse(&raw.bytes) else {
                continue; // the JVM will refuse it too
            };
            let Ok(name) = file.name() else { continue };
            let name = text(name);
            if name.contains("..") || name.starts_with('/') || !seen.insert(name.clone()) {
                continue;
            }
            let mut rewritten = match self.rewrite(&file, &raw.bytes, &heirs) {
                Ok(rewritten) => rewritten,
                // It could do anything, so the JVM must refuse it.
                Err(Full) => Some(Vec::new()),
            };
            let is_refused = rewritten.as_ref().is_some_and(Vec::is_empty);
            if covered && !is_refused {
                let bytes = rewritten.as_deref().unwrap_or(&raw.bytes);
                rewritten = cover(bytes, &mut blocks).or(rewritten);
            }
            if let Some(bytes) = rewritten {
                stand_ins.insert(sha256(&bytes), sha256(&raw.bytes));
                write_file(&dir.join(format!("{name}.class")), bytes)?;
            }
        }
        Ok((seen.len(), stand_ins))
    }

    /// The class in the form in which it may be loaded; `None` if it may be loaded as it is.
    fn rewrite(
        &self,
        file: &ClassFile<'_>,
        bytes: &[u8],
        heirs: &Heirs,
    ) -> Result<Option<Vec<u8>>, Full> {
        let calls = Calls::of(file);
        let guarded: HashMap<&str, &str> = (self.classes.iter())
            .filter(|(parent, (_, constructors))| {
                // A constructor is only known to subclasses: then this class is left alone.
                let unknown = |(owner, descriptor): &(String, String)| {
                    owner == *parent && !constructors.contains(descriptor)
                };
                // If the class also makes some that do not ask, all keep their class.
                let other = |(owner, descriptor): &(String, String)| {
                    let is_other = |asking: &[&str]| !asking.contains(&descriptor.as_str());
                    owner == *parent && asking(parent).is_some_and(is_other)
                };
                !(calls.constructors.iter()).any(|call| unknown(call) || other(call))
            })
            .map(|(parent, (class, _))| (parent.as_str(), class.as_str()))
            .collect();
        // One that asks, and is made at once, is handled separately.
        let asking = (ASKING.iter())
            .filter(|class| !guarded.contains_key(*class))
            .filter_map(|class| Some((*class, self.classes.get(*class)?.0.as_str())))
            .collect();
        let formats = (calls.constructors.iter())
            .any(|(owner, descriptor)| owner == FORMATTER && is_file(descriptor));
        let mut class = Class {
            guards: self,
            file,
            heirs,
            guarded,
            asking,
            added: PoolBuilder::new(&file.pool),
        };
        let mut patches = class.calls(formats)?;
        class.handles(&mut patches)?;
        let parent = file.super_name().ok().flatten().map(text);
        let stand_in = parent.and_then(|parent| class.guarded.get(parent.as_str()).copied());
        if let Some(stand_in) = stand_in {
            let index = class.class(stand_in)?;
            let at = POOL + file.pool.raw().len() + 4;
            patches.push((at, index.to_be_bytes().to_vec()));
        }
        if patches.is_empty() {
            return Ok(None);
        }
        let mut patched = bytes.to_vec();
        for (at, patch) in patches {
            let place = patched.get_mut(at..at + patch.len()).ok_or(Full)?;
            place.copy_from_slice(&patch);
        }
        let end = POOL + file.pool.raw().len();
        let mut out = patched[..8].to_vec();
        out.extend(class.added.count().to_be_bytes());
        out.extend(&patched[POOL..end]);
        out.extend(class.added.raw());
        out.extend(&patched[end..]);
        Ok(Some(out))
    }
}

/// A class path whose classes cannot do harm.
pub struct Guarded {
    /// The entries, beginning with the rewritten classes.
    pub entries: Vec<PathBuf>,
    /// The SHA-256 of each class that was rewritten, and that of the original.
    pub stand_ins: BTreeMap<String, String>,
    /// The number of classes.
    pub count: usize,
    /// Whether one of them uses preview features of the JDK's release.
    pub preview: bool,
}

impl Guarded {
    /// Rewrites what must be rewritten of a class path, given as text and opened; `dir` is used
    /// only for that. With `covered`, the classes report their basic blocks.
    ///
    /// # Errors
    ///
    /// Fails if the class path cannot be read or `dir` not be written.
    pub fn new(
        text: &str,
        classpath: &ClassPath,
        release: u32,
        covered: bool,
        dir: &Path,
    ) -> Result<Guarded> {
        fs::create_dir_all(dir).map_err(failed("make", dir))?;
        let found = source::class_path(text, release)?;
        let (count, stand_ins) = Guards::new()?.apply(&found.classes, covered, dir)?;
        let own = [dir.to_owned()].into_iter();
        Ok(Guarded {
            entries: own.chain(classpath.paths().map(Path::to_owned)).collect(),
            stand_ins,
            count,
            preview: (found.classes.iter()).any(|raw| is_preview(&raw.bytes, release)),
        })
    }
}

/// Whether a class file uses preview features of a release (JVMS 4.1), as its minor version says.
fn is_preview(bytes: &[u8], release: u32) -> bool {
    const FIRST: u32 = 44;
    match *bytes {
        [_, _, _, _, 0xff, 0xff, high, low, ..] => {
            u32::from(u16::from_be_bytes([high, low])) == release + FIRST
        }
        _ => false,
    }
}

/// A class that reports its basic blocks, which are numbered from `first` on; `None` if it has
/// none, or they cannot report.
fn cover(bytes: &[u8], first: &mut u32) -> Option<Vec<u8>> {
    let plan = TracePlan {
        what: &|_, _| What {
            blocks: true,
            ..What::default()
        },
        first_method: 0,
        first_field: 0,
        first_callee: 0,
        first_block: *first,
        tracer: COVER,
        is_secret: &|_| false,
    };
    let traced = hindsight_instrument::trace(bytes, &plan).ok()?;
    let count: usize = traced.blocks.iter().map(|method| method.starts.len()).sum();
    *first += u32::try_from(count).ok()?;
    traced.class
}

fn text(name: Utf8<'_>) -> String {
    name.to_string_lossy().into_owned()
}

/// The calls of a class.
#[derive(Default)]
struct Calls {
    /// The owners and descriptors.
    constructors: HashSet<(String, String)>,
}

impl Calls {
    fn of(file: &ClassFile<'_>) -> Calls {
        let mut calls = Calls::default();
        for method in &file.methods {
            let Ok(Some(code)) = method.code(&file.pool) else {
                continue;
            };
            for insn in code.instructions().flatten() {
                if insn.opcode == opcode::INVOKESPECIAL
                    && let Ok(member) = file.pool.method(insn.constant())
                    && member.name.as_bytes() == b"<init>"
                {
                    (calls.constructors).insert((text(member.owner), text(member.descriptor)));
                }
            }
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jdk::Jdk;
    use crate::jdk::javac::Compilation;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn jar(path: &Path, name: &str, bytes: &[u8]) {
        let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
        zip.finish().unwrap();
    }

    /// All methods that return the present day.
    #[test]
    fn clocks_are_guarded() {
        let guards = Guards::new().unwrap();
        let heirs = Heirs::of(&[]);
        let is_guarded = |class: &str, name: &str, descriptor: String, kind| {
            let found = heirs.stand_in(class, name, &descriptor, kind);
            let by = found.and_then(|found| guards.methods.get(&found));
            assert_eq!(
                by.map(String::as_str),
                Some(CLOCKS),
                "{class}.{name}{descriptor}"
            );
        };
        let dates = "LocalDate LocalTime LocalDateTime ZonedDateTime OffsetDateTime OffsetTime MonthDay Year \
                     YearMonth chrono/HijrahDate chrono/JapaneseDate chrono/MinguoDate chrono/ThaiBuddhistDate";
        for date in dates.split_whitespace() {
            for zone in ["", "Ljava/time/ZoneId;"] {
                let class = format!("java/time/{date}");
                let descriptor = format!("({zone})L{class};");
                is_guarded(&class, "now", descriptor, Kind::Static);
            }
        }
        let chronologies = [
            ("", "chrono/ChronoLocalDate"),
            ("Hijrah", "chrono/HijrahDate"),
            ("Iso", "LocalDate"),
            ("Japanese", "chrono/JapaneseDate"),
            ("Minguo", "chrono/MinguoDate"),
            ("ThaiBuddhist", "chrono/ThaiBuddhistDate"),
        ];
        for (kind, date) in chronologies {
            for zone in ["", "Ljava/time/ZoneId;"] {
                let class = format!("java/time/chrono/{kind}Chronology");
                let descriptor = format!("({zone})Ljava/time/{date};");
                is_guarded(&class, "dateNow", descriptor, Kind::Virtual);
            }
        }
        let source = "java/time/InstantSource";
        is_guarded(source, "system", format!("()L{source};"), Kind::Static);
    }

    #[test]
    fn classes_that_a_manifest_names_do_no_harm_either() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let source = "class U { void u() throws Exception { new ProcessBuilder().start(); } }";
        write_file(&at("U.java"), source).unwrap();
        let jdk = Jdk::find(None).unwrap();
        let said = jdk.compile(&Compilation {
            release: 11,
            preview: false,
            lints: "none",
            class_path: &[],
            classes: dir.path(),
            sources: &[at("U.java")],
        });
        assert!(said.unwrap().errors.is_empty());
        jar(
            &at("util.jar"),
            "U.class",
            &fs::read(at("U.class")).unwrap(),
        );
        let manifest = b"Manifest-Version: 1.0\nClass-Path: util.jar\n\n";
        jar(&at("app.jar"), "META-INF/MANIFEST.MF", manifest);
        let text = at("app.jar").display().to_string();
        let opened = ClassPath::open(&text).unwrap();
        let own = at("guarded");
        let guarded = Guarded::new(&text, &opened, 17, false, &own).unwrap();
        assert_eq!((guarded.count, guarded.stand_ins.len()), (1, 1));
        assert_eq!(
            guarded.entries,
            [own.clone(), fs::canonicalize(&text).unwrap()]
        );
        assert!(own.join("U.class").is_file());
    }
}
