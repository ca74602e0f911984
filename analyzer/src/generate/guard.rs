//! Rewriting the program's classes so that they cannot harm: calls that end the
//! JVM, start processes, use the network, write or delete files go to the
//! worker's `Guard`, and objects that open files or sockets are of its classes. So
//! are clocks, which must not be the same each time.
//!
//! No instruction changes its length, so nothing moves: a call of a method becomes
//! one of a static method that takes the receiver as its first argument, a `new`
//! names a subclass. What may be called is read from the worker itself.

use crate::classpath::{ClassPath, sha256};
use crate::junit::write_file;
use crate::program::source;
use anyhow::{Context, Result};
use hindsight_classfile::{ClassFile, PoolBuilder, Utf8, access, opcode};
use hindsight_instrument::{TracePlan, What};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The worker's library.
pub const WORKER_JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hindsight-worker.jar"));

const GUARD: &str = "dev/hindsight/worker/Guard";
const GUARDED: &str = "dev/hindsight/worker/Guarded$";
/// What is told of basic blocks.
const COVER: &str = "dev/hindsight/worker/Cover";

/// Classes whose static methods `Guard` stands in for.
const STATIC_OWNERS: [&str; 20] = [
    "java/lang/System",
    "java/lang/Math",
    "java/time/Clock",
    "java/time/Instant",
    "java/time/LocalDate",
    "java/time/LocalDateTime",
    "java/time/LocalTime",
    "java/time/MonthDay",
    "java/time/OffsetDateTime",
    "java/time/OffsetTime",
    "java/time/Year",
    "java/time/YearMonth",
    "java/time/ZonedDateTime",
    "java/util/Calendar",
    "java/util/GregorianCalendar",
    "java/net/InetAddress",
    "java/nio/file/Files",
    "java/nio/channels/FileChannel",
    "java/nio/channels/SocketChannel",
    "java/io/File",
];

/// Whose instance methods it does.
const OWNERS: [&str; 16] = [
    "java/lang/Runtime",
    "java/lang/ProcessBuilder",
    "java/lang/ProcessHandle",
    "java/lang/reflect/Method",
    "java/lang/reflect/Constructor",
    "java/io/File",
    "java/net/InetAddress",
    "java/net/Socket",
    "java/net/ServerSocket",
    "java/net/DatagramSocket",
    "java/net/MulticastSocket",
    "java/net/URL",
    "java/net/http/HttpClient",
    "java/nio/channels/SocketChannel",
    "java/nio/channels/ServerSocketChannel",
    "java/util/concurrent/ThreadLocalRandom",
];

/// Opens files by itself, and has no subclasses. In a class that has it do so, a formatter is made by the
/// worker in the place of `new`, and a method stands in for each constructor.
const FORMATTER: &str = "java/util/Formatter";
/// To what references to such constructors lead: it does not fit, so that they fail.
const FORMATTER_TO: &str = "(Ljava/lang/Appendable;)V";

fn is_file(descriptor: &str) -> bool {
    descriptor.starts_with("(Ljava/lang/String;") || descriptor.starts_with("(Ljava/io/File;")
}

/// What the worker stands in for.
pub struct Guards {
    /// Names and descriptors of `Guard`'s methods.
    methods: HashSet<(String, String)>,
    /// By the class that is extended: the one that does, its constructors.
    classes: HashMap<String, (String, HashSet<String>)>,
}

impl Guards {
    /// Reads the worker's own classes.
    ///
    /// # Errors
    ///
    /// Fails if the worker that was built in cannot be read.
    pub fn new() -> Result<Guards> {
        let mut guards = Guards {
            methods: HashSet::new(),
            classes: HashMap::new(),
        };
        let mut jar = ZipArchive::new(Cursor::new(WORKER_JAR))?;
        for at in 0..jar.len() {
            let mut entry = jar.by_index(at)?;
            let name = entry.name().to_owned();
            let Some(class) = name.strip_suffix(".class") else {
                continue;
            };
            if class != GUARD && !class.starts_with(GUARDED) {
                continue;
            }
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            let file = ClassFile::parse(&bytes).context("the worker's classes cannot be read")?;
            let public = file
                .methods
                .iter()
                .filter(|method| method.is(access::PUBLIC));
            if class == GUARD {
                let methods = public.filter(|method| method.is(access::STATIC));
                guards.methods = methods
                    .map(|method| (text(method.name), text(method.descriptor)))
                    .collect();
            } else if let Some(parent) = file.super_name()? {
                let constructors = public.map(|method| text(method.descriptor)).collect();
                guards
                    .classes
                    .insert(text(parent), (class.to_owned(), constructors));
            }
        }
        Ok(guards)
    }

    /// Writes the classes of a class path that must be rewritten below `dir`, which
    /// then goes before it; with `covered`, all of them, which then tell what blocks run. Gives how many classes there are, the SHA-256 of each that was rewritten, and
    /// that of what it was.
    ///
    /// # Errors
    ///
    /// Fails if the class path cannot be read or a class not be written.
    pub fn apply(
        &self,
        classpath: &str,
        release: u32,
        covered: bool,
        dir: &Path,
    ) -> Result<(usize, BTreeMap<String, String>)> {
        let found = source::class_path(classpath, release)?;
        let mut seen = HashSet::new();
        let mut stand_ins = BTreeMap::new();
        let mut blocks = 0;
        for raw in &found.classes {
            let Ok(file) = ClassFile::parse(&raw.bytes) else {
                continue; // the JVM will refuse it too
            };
            let Ok(name) = file.name() else { continue };
            let name = text(name);
            if name.contains("..") || name.starts_with('/') || !seen.insert(name.clone()) {
                continue;
            }
            let mut rewritten = self.rewrite(&file, &raw.bytes);
            if covered {
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

    /// The class as it may be loaded; nothing if it may as it is, or cannot be
    /// rewritten.
    fn rewrite(&self, file: &ClassFile<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        let calls = Calls::of(file);
        let guarded: HashMap<&str, &str> = (self.classes.iter())
            .filter(|(parent, (_, constructors))| {
                // A constructor that only subclasses have: leave this class alone.
                let unknown = |(owner, descriptor): &(String, String)| {
                    owner == *parent && !constructors.contains(descriptor)
                };
                // These ask a clock, or chance; where the class also makes others, they keep their class.
                let asks = match parent.as_str() {
                    "java/util/Date" | "java/util/Random" => &["()V"][..],
                    "java/util/GregorianCalendar" => &[
                        "()V",
                        "(Ljava/util/TimeZone;)V",
                        "(Ljava/util/Locale;)V",
                        "(Ljava/util/TimeZone;Ljava/util/Locale;)V",
                    ],
                    _ => &[],
                };
                let other = |(owner, descriptor): &(String, String)| {
                    owner == *parent && !asks.is_empty() && !asks.contains(&descriptor.as_str())
                };
                !(calls.constructors.iter()).any(|call| unknown(call) || other(call))
            })
            .map(|(parent, (class, _))| (parent.as_str(), class.as_str()))
            .collect();
        let formats = (calls.constructors.iter())
            .any(|(owner, descriptor)| owner == FORMATTER && is_file(descriptor));
        let mut added = PoolBuilder::new(&file.pool);
        let mut patches: Vec<(usize, Vec<u8>)> = Vec::new();
        for method in &file.methods {
            let Ok(Some(code)) = method.code(&file.pool) else {
                continue;
            };
            for insn in code.instructions() {
                let Ok(insn) = insn else { break };
                let at = code.bytecode_offset + insn.offset;
                let patch = match insn.opcode {
                    opcode::NEW => {
                        let class = file.pool.class(insn.constant()).ok()?;
                        if formats && class.as_bytes() == FORMATTER.as_bytes() {
                            let made = format!("()L{FORMATTER};");
                            let index = guard(file, "newFormatter", &made, &mut added)?;
                            patches.push((at, with_index(opcode::INVOKESTATIC, index)));
                            continue;
                        }
                        guarded.get(text(class).as_str()).and_then(|stand_in| {
                            let index = added.class(&file.pool, Utf8::new(stand_in.as_bytes()));
                            Some(with_index(opcode::NEW, index.ok()?))
                        })
                    }
                    opcode::INVOKESPECIAL if formats && is_formatter(file, insn.constant()) => {
                        let member = file.pool.method(insn.constant()).ok()?;
                        let descriptor = text(member.descriptor);
                        let rest = descriptor.strip_prefix('(')?;
                        let descriptor = format!("(L{FORMATTER};{rest}");
                        let index = guard(file, "initFormatter", &descriptor, &mut added)?;
                        Some(with_index(opcode::INVOKESTATIC, index))
                    }
                    opcode::INVOKESPECIAL => self
                        .constructor(file, insn.constant(), &guarded, &mut added)
                        .map(|index| with_index(opcode::INVOKESPECIAL, index)),
                    opcode::INVOKEVIRTUAL | opcode::INVOKESTATIC | opcode::INVOKEINTERFACE => {
                        let is_static = insn.opcode == opcode::INVOKESTATIC;
                        self.method(file, insn.constant(), is_static, &mut added)
                            .map(|index| {
                                let mut patch = with_index(opcode::INVOKESTATIC, index);
                                // An interface's call is longer.
                                patch.resize(insn.bytes.len(), opcode::NOP);
                                patch
                            })
                    }
                    _ => None,
                };
                patches.extend(patch.map(|patch| (at, patch)));
            }
        }
        self.handles(file, &guarded, &mut added, &mut patches);
        let parent = file.super_name().ok()?.map(text);
        if let Some(stand_in) = parent.and_then(|parent| guarded.get(parent.as_str()).copied()) {
            let index = added
                .class(&file.pool, Utf8::new(stand_in.as_bytes()))
                .ok()?;
            let at = POOL + file.pool.raw().len() + 4;
            patches.push((at, index.to_be_bytes().to_vec()));
        }
        if patches.is_empty() {
            return None;
        }
        let mut patched = bytes.to_vec();
        for (at, patch) in patches {
            patched
                .get_mut(at..at + patch.len())?
                .copy_from_slice(&patch);
        }
        let end = POOL + file.pool.raw().len();
        let mut out = patched[..8].to_vec();
        out.extend(added.count().to_be_bytes());
        out.extend(&patched[POOL..end]);
        out.extend(added.raw());
        out.extend(&patched[end..]);
        Some(out)
    }

    /// What stands in for a method.
    fn method(
        &self,
        file: &ClassFile<'_>,
        index: u16,
        is_static: bool,
        added: &mut PoolBuilder,
    ) -> Option<u16> {
        let member = file.pool.method(index).ok()?;
        let (owner, mut name, descriptor) = (
            text(member.owner),
            text(member.name),
            text(member.descriptor),
        );
        if name == "now" {
            // They differ in what they return alone.
            name.push_str(owner.rsplit('/').next().unwrap_or_default());
        }
        let owners: &[&str] = if is_static { &STATIC_OWNERS } else { &OWNERS };
        if !owners.contains(&owner.as_str()) {
            return None;
        }
        let descriptor = match is_static {
            true => descriptor,
            false => {
                // A multicast socket is a datagram socket.
                let receiver = owner.replace("MulticastSocket", "DatagramSocket");
                format!("(L{receiver};{}", descriptor.strip_prefix('(')?)
            }
        };
        if !self.methods.contains(&(name.clone(), descriptor.clone())) {
            return None;
        }
        guard(file, &name, &descriptor, added)
    }

    fn constructor(
        &self,
        file: &ClassFile<'_>,
        index: u16,
        guarded: &HashMap<&str, &str>,
        added: &mut PoolBuilder,
    ) -> Option<u16> {
        let member = file.pool.method(index).ok()?;
        if member.name.as_bytes() != b"<init>" {
            return None;
        }
        let owner = text(member.owner);
        if owner == FORMATTER && is_file(&text(member.descriptor)) {
            let class = added.class(&file.pool, member.owner).ok()?;
            return added.method(class, b"<init>", FORMATTER_TO.as_bytes()).ok();
        }
        let stand_in = guarded.get(owner.as_str())?;
        let class = added
            .class(&file.pool, Utf8::new(stand_in.as_bytes()))
            .ok()?;
        added
            .method(class, b"<init>", member.descriptor.as_bytes())
            .ok()
    }

    /// Method references: `System::exit`.
    fn handles(
        &self,
        file: &ClassFile<'_>,
        guarded: &HashMap<&str, &str>,
        added: &mut PoolBuilder,
        patches: &mut Vec<(usize, Vec<u8>)>,
    ) {
        const VIRTUAL: u8 = 5;
        const STATIC: u8 = 6;
        const NEW: u8 = 8;
        const INTERFACE: u8 = 9;
        let raw = file.pool.raw();
        let mut at = 0;
        while let Some(&tag) = raw.get(at) {
            let half = |at: usize| Some(u16::from_be_bytes([*raw.get(at)?, *raw.get(at + 1)?]));
            let len = match tag {
                1 => 3 + usize::from(half(at + 1).unwrap_or(0)),
                3 | 4 | 9..=12 | 17 | 18 => 5,
                5 | 6 => 9,
                15 => 4,
                _ => 3,
            };
            if tag == 15
                && let (Some(&kind), Some(index)) = (raw.get(at + 1), half(at + 2))
            {
                let found = match kind {
                    VIRTUAL | INTERFACE | STATIC => self
                        .method(file, index, kind == STATIC, added)
                        .map(|index| (STATIC, index)),
                    NEW => self
                        .constructor(file, index, guarded, added)
                        .map(|index| (NEW, index)),
                    _ => None,
                };
                if let Some((kind, index)) = found {
                    patches.push((POOL + at + 1, with_index(kind, index)));
                }
            }
            at += len;
        }
    }
}

/// A class path whose classes do no harm.
pub struct Guarded {
    /// Its entries, the classes that were rewritten first.
    pub entries: Vec<PathBuf>,
    /// The SHA-256 of each class that was rewritten, and that of what it was.
    pub stand_ins: BTreeMap<String, String>,
    /// How many classes there are.
    pub count: usize,
}

impl Guarded {
    /// Rewrites what must be of a class path, given as text and opened; `dir` is
    /// for that alone. With `covered`, the classes tell what blocks run.
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
        fs::create_dir_all(dir).context("failed to make a temporary directory")?;
        let (count, stand_ins) = Guards::new()?.apply(text, release, covered, dir)?;
        let own = [dir.to_owned()].into_iter();
        Ok(Guarded {
            entries: own.chain(classpath.paths().map(Path::to_owned)).collect(),
            stand_ins,
            count,
        })
    }
}

/// A class that tells what blocks run, which are numbered from `first` on; nothing if it has none, or they
/// cannot tell.
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

/// A method of `Guard`.
fn guard(
    file: &ClassFile<'_>,
    name: &str,
    descriptor: &str,
    added: &mut PoolBuilder,
) -> Option<u16> {
    let guard = added.class(&file.pool, Utf8::new(GUARD.as_bytes())).ok()?;
    let (name, descriptor) = (name.as_bytes(), descriptor.as_bytes());
    added.method(guard, name, descriptor).ok()
}

/// Whether a constructor is one of formatters.
fn is_formatter(file: &ClassFile<'_>, index: u16) -> bool {
    let member = file.pool.method(index);
    member.is_ok_and(|member| {
        member.owner.as_bytes() == FORMATTER.as_bytes() && member.name.as_bytes() == b"<init>"
    })
}

/// Where the constants begin.
const POOL: usize = 10;

fn with_index(first: u8, index: u16) -> Vec<u8> {
    let [high, low] = index.to_be_bytes();
    vec![first, high, low]
}

fn text(name: Utf8<'_>) -> String {
    name.to_string_lossy().into_owned()
}

/// What a class calls.
#[derive(Default)]
struct Calls {
    /// Owner and descriptor.
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
