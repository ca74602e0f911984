//! The JDK's classes, and those of libraries, with verdicts on their methods' parameters. They are
//! found by our own analysis once for each JDK (and set of libraries) and kept on disk.
//!
//! # Layout of the file
//!
//! All numbers are little-endian words of 32 bits.
//!
//! ```text
//! "HSLIBRY\n"  version  crc32(of all that follows)  key[8]
//! strings  words  text: their counts (of text: bytes)  classes
//! ends of the strings in the text
//! words    of classes: name superclass interfaces.. fields.. methods..,
//!          of methods with the verdicts of their parameters, two bits each, and
//!          the strings that are the sets of what they may call back, of parameters
//!          that they leave alone and of all
//! text
//! ```
//!
//! **Invariant:** a file that is damaged, of another version, of another JDK or of other libraries
//! is computed anew, never trusted.

use super::analysis::{read_facts, run_library};
use super::answers::{Answers, Verdict, param_count};
use super::effects::kinds::Kinds;
use super::effects::solve::{self, any_field};
use super::effects::{Cause, Made, Node, Refs, Summary, Write, reference};
use super::facts::is_trivial;
use super::signatures::Signatures;
use crate::cache;
use crate::program::hierarchy::{self, Draft, Field};
use crate::program::names::{Map, Names};
use crate::program::source::{self, Found, JdkClasses, Raw};
use crate::program::{ClassId, MethodId, Program, Sym};
use crate::text::hex;
use hindsight_classfile::{MethodDescriptor, Utf8, access};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const MAGIC: &[u8; 8] = b"HSLIBRY\n";
/// The version of the layout and of the analysis: a change of either increases it.
const VERSION: u32 = 18;
const NOTHING: u32 = u32::MAX;
/// The number of parameters whose verdicts fit in a word.
const PACKED: u16 = 16;

/// The classes of a JDK and the verdicts on their methods' parameters.
#[derive(Debug, Default)]
pub struct Stored {
    strings: Vec<Vec<u8>>,
    classes: Vec<u32>,
    class_count: u32,
}

/// Summaries by the methods of a program that includes the JDK's classes.
pub struct Summaries<'p> {
    program: &'p Program,
    /// The packed verdicts of each method.
    verdicts: Vec<u32>,
    /// The signatures that methods may call through arguments that they leave alone.
    given: Map<MethodId, Signatures>,
    /// The signatures that methods may call through all arguments.
    runs: Map<MethodId, Signatures>,
    any: Sym,
    made: Mutex<Map<MethodId, Arc<Summary>>>,
}

/// A key that identifies the classes of a JDK and of libraries.
pub fn key(jdk: Option<&JdkClasses>, libraries: &[Raw], sound: bool) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(VERSION.to_le_bytes());
    hash.update(crate::VERSION);
    hash.update([u8::from(sound)]);
    // The identity is the names and sizes of all files, and the times of their last change: a JDK
    // that was patched in place differs in one of these.
    let (files, index) = jdk.map_or((Vec::new(), &[][..]), JdkClasses::identity);
    hash.update(index);
    for file in files {
        // An image is identified by its index, wherever it is.
        if index.is_empty() {
            hash.update(file.as_os_str().as_encoded_bytes());
        }
        let Ok(metadata) = fs::metadata(file) else {
            continue;
        };
        hash.update(metadata.len().to_le_bytes());
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        hash.update(since.unwrap_or_default().as_nanos().to_le_bytes());
    }
    // Libraries are identified by their content, wherever they are.
    for class in libraries {
        hash.update(class.bytes.len().to_le_bytes());
        hash.update(&class.bytes);
    }
    hash.finalize().into()
}

/// The path of the file of a JDK, given its key.
pub fn file(key: &[u8; 32]) -> Option<PathBuf> {
    Some(cache::directory()?.join(format!("jdk-{}.hlib", hex(&key[..8]))))
}

/// Reads a file; `None` if there is none or it cannot be used.
pub fn load(path: &Path, key: &[u8; 32]) -> Option<Stored> {
    let stored = Stored::decode(&fs::read(path).ok()?, key)?;
    cache::used(path);
    Some(stored)
}

/// Writes a file for the next run, completely or not at all.
///
/// # Errors
///
/// Fails if the directory or the file cannot be written.
pub fn save(path: &Path, key: &[u8; 32], stored: &Stored) -> std::io::Result<()> {
    cache::save(path, &stored.encode(key))
}

/// Classifies the parameters of all methods of a JDK and of libraries. Classes that cannot be read
/// give a warning.
///
/// # Errors
///
/// Fails if the image, or a jar, cannot be read.
pub fn compute(
    jdk: Option<&JdkClasses>,
    libraries: Vec<Raw>,
    sound: bool,
    warnings: &mut Vec<String>,
    step: &(dyn Fn(usize) + Sync),
) -> Result<Stored, source::Error> {
    let mut found = jdk.map_or_else(|| Ok(Found::default()), JdkClasses::read)?;
    found.classes.extend(libraries);
    warnings.append(&mut found.warnings);
    let names = Names::default();
    let drafts = hierarchy::drafts(&names, found.classes, true, warnings);
    let mut program = Program::new(names, drafts);
    let facts = read_facts(&program, |_| true, step);
    program.forget_files();
    let (answers, given) = run_library(&program, &facts, sound);
    Ok(Stored::new(&program, &answers, &given))
}

/// Writes words, and strings by their numbers.
struct Writer<'p> {
    program: &'p Program,
    numbers: Map<Sym, u32>,
    sets: Map<Vec<u8>, u32>,
    stored: Stored,
}

impl Writer<'_> {
    fn bytes(&mut self, bytes: Vec<u8>) -> u32 {
        let number = self.stored.strings.len() as u32;
        *self.sets.entry(bytes).or_insert_with_key(|bytes| {
            self.stored.strings.push(bytes.clone());
            number
        })
    }

    fn string(&mut self, sym: Sym) -> u32 {
        if let Some(&number) = self.numbers.get(&sym) {
            return number;
        }
        let number = self.stored.strings.len() as u32;
        self.stored
            .strings
            .push(self.program.names.bytes(sym).to_vec());
        self.numbers.insert(sym, number);
        number
    }

    fn class(&mut self, class: ClassId) -> u32 {
        self.string(self.program.class(class).name)
    }
}

/// The verdicts of a method's parameters, two bits each. Parameters beyond [`PACKED`] are unknown.
fn pack(answers: &Answers, method: MethodId, params: u16) -> u32 {
    (0..params.min(PACKED)).fold(0, |word, param| {
        let bits = match answers.verdict(answers.place(method, param)) {
            Verdict::Unknown => 0,
            Verdict::Immutable => 1,
            Verdict::Mutable => 2,
        };
        word | bits << (2 * param)
    })
}

impl Stored {
    fn new(program: &Program, answers: &Answers, given: &[Signatures]) -> Stored {
        let mut writer = Writer {
            program,
            numbers: Map::default(),
            sets: Map::default(),
            stored: Stored::default(),
        };
        for class in program.classes.iter().filter(|class| !class.missing) {
            let mut words = vec![writer.string(class.name), class.access.into()];
            words.push(
                class
                    .superclass
                    .map_or(NOTHING, |above| writer.class(above)),
            );
            words.push(class.interfaces.len() as u32);
            words.extend(class.interfaces.iter().map(|&above| writer.class(above)));
            words.push(class.fields.len() as u32);
            for field in &class.fields {
                words.extend([
                    writer.string(field.name),
                    writer.string(field.descriptor),
                    field.access.into(),
                ]);
            }
            words.push(class.methods.len() as u32);
            for number in class.methods.clone() {
                let method = program.method(MethodId(number));
                words.extend([writer.string(method.signature), method.access.into()]);
                let id = MethodId(number);
                let params = param_count(program, id);
                words.push(pack(answers, id, params));
                // What may be called back only matters for parameters that are said to be left
                // alone.
                let mut calls = [Signatures::default(); 2];
                for param in 0..params {
                    let place = answers.place(id, param);
                    let own = given.get(place as usize).copied().unwrap_or_default();
                    if answers.verdict(place) == Verdict::Immutable {
                        calls[0].join(&own);
                    }
                    calls[1].join(&own);
                }
                words.extend(calls.map(|calls| match calls.is_empty() {
                    true => NOTHING,
                    false => writer.bytes(calls.bytes()),
                }));
            }
            writer.stored.classes.extend(words);
            writer.stored.class_count += 1;
        }
        writer.stored
    }

    fn encode(&self, key: &[u8; 32]) -> Vec<u8> {
        let text: usize = self.strings.iter().map(Vec::len).sum();
        let mut body =
            Vec::with_capacity(4 * (self.classes.len() + self.strings.len()) + text + 64);
        body.extend_from_slice(key);
        let counts = [self.strings.len(), self.classes.len(), text];
        for count in counts {
            body.extend((count as u32).to_le_bytes());
        }
        body.extend(self.class_count.to_le_bytes());
        let mut end = 0u32;
        for string in &self.strings {
            end += string.len() as u32;
            body.extend(end.to_le_bytes());
        }
        for word in &self.classes {
            body.extend(word.to_le_bytes());
        }
        self.strings
            .iter()
            .for_each(|string| body.extend_from_slice(string));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.append(&mut body);
        bytes
    }

    fn decode(bytes: &[u8], key: &[u8; 32]) -> Option<Stored> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (head, body) = rest.split_at_checked(8)?;
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if word(head) != VERSION || word(&head[4..]) != crc32fast::hash(body) {
            return None;
        }
        let (found, body) = body.split_at_checked(32)?;
        if found != key {
            return None;
        }
        let (counts, body) = body.split_at_checked(16)?;
        let count = |at: usize| word(&counts[4 * at..]) as usize;
        let (strings, classes, text) = (count(0), count(1), count(2));
        let total = strings.checked_add(classes)?.checked_mul(4)?;
        let (numbers, found) = body.split_at_checked(total)?;
        if found.len() != text {
            return None;
        }
        let mut numbers = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| u32::from_le_bytes(bytes));
        let mut start = 0;
        let mut all = Vec::with_capacity(strings);
        for end in numbers.by_ref().take(strings) {
            all.push(found.get(start..end as usize)?.to_vec());
            start = end as usize;
        }
        Some(Stored {
            strings: all,
            classes: numbers.collect(),
            class_count: count(3) as u32,
        })
    }

    /// Adds the strings to the names of a program.
    fn syms(&self, names: &Names) -> Vec<Sym> {
        self.strings
            .par_iter()
            .map(|string| names.intern(string))
            .collect()
    }

    /// The classes, to be joined with those of a program, and the strings, for
    /// [`Stored::summaries`].
    pub fn drafts(&self, names: &Names) -> (Vec<Draft>, Vec<Sym>) {
        let syms = self.syms(names);
        let sym = |number: u32| syms.get(number as usize).copied();
        let mut words = self.classes.iter().copied();
        let mut read = || -> Option<Draft> {
            let (name, access) = (sym(words.next()?)?, words.next()? as u16);
            let superclass = words.next()?;
            let mut interfaces = Vec::new();
            for _ in 0..words.next()? {
                interfaces.push(sym(words.next()?)?);
            }
            let mut fields = Vec::new();
            for _ in 0..words.next()? {
                fields.push(Field {
                    name: sym(words.next()?)?,
                    descriptor: sym(words.next()?)?,
                    access: words.next()? as u16,
                });
            }
            let mut methods = Vec::new();
            for place in 0..words.next()? {
                methods.push((sym(words.next()?)?, words.next()? as u16, place as u16));
                words.nth(2)?;
            }
            Some(Draft {
                name,
                access,
                library: true,
                origin: None,
                superclass: sym(superclass),
                interfaces,
                methods,
                fields,
                bytes: Vec::new(),
            })
        };
        let mut drafts = Vec::with_capacity(self.class_count as usize);
        while let Some(draft) = read() {
            drafts.push(draft);
        }
        (drafts, syms)
    }

    /// The summaries that follow from the verdicts, by the methods of a program that includes these
    /// classes.
    pub fn summaries<'p>(&self, program: &'p Program, strings: &[Sym]) -> Summaries<'p> {
        let mut verdicts = vec![0; program.methods.len()];
        let (mut given, mut runs) = (Map::default(), Map::default());
        let mut words = self.classes.iter().copied();
        let mut read = || -> Option<()> {
            let class = strings
                .get(words.next()? as usize)
                .and_then(|&name| program.find(name));
            let class = class
                .map(|class| program.class(class))
                .filter(|class| class.library);
            words.next()?;
            words.next()?;
            for _ in 0..words.next()? {
                words.next()?;
            }
            for _ in 0..words.next()? {
                words.nth(2)?;
            }
            for at in 0..words.next()? {
                words.nth(1)?;
                let (packed, sets) = (words.next()?, [words.next()?, words.next()?]);
                let method = class.and_then(|class| class.methods.clone().nth(at as usize));
                if let Some(method) = method {
                    verdicts[method as usize] = packed;
                    for (calls, known) in sets.into_iter().zip([&mut given, &mut runs]) {
                        if let Some(set) = self.strings.get(calls as usize) {
                            known.insert(MethodId(method), Signatures::read(set));
                        }
                    }
                }
            }
            Some(())
        };
        while read().is_some() {}
        Summaries {
            program,
            verdicts,
            given,
            runs,
            any: any_field(program),
            made: Mutex::default(),
        }
    }
}

impl solve::Library for Summaries<'_> {
    fn calls_back(&self, method: MethodId) -> Signatures {
        self.given.get(&method).copied().unwrap_or_default()
    }

    fn runs(&self, method: MethodId) -> Signatures {
        self.runs.get(&method).copied().unwrap_or_default()
    }

    fn summary(&self, method: MethodId) -> Option<Arc<Summary>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let packed = self.verdicts.get(method.0 as usize).copied().unwrap_or(0);
        let verdict = |param: u16| match packed.checked_shr(2 * u32::from(param)).unwrap_or(0) & 3 {
            1 => Verdict::Immutable,
            2 => Verdict::Mutable,
            _ => Verdict::Unknown,
        };
        let make = || Arc::new(from_verdicts(self.program, method, verdict, self.any));
        Some(made.entry(method).or_insert_with(make).clone())
    }
}

/// The summary that verdicts imply for a method: mutable parameters are written and may keep the
/// other arguments; the result may be, or refer to, any argument.
pub fn from_verdicts(
    program: &Program,
    method: MethodId,
    verdict: impl Fn(u16) -> Verdict,
    any: Sym,
) -> Summary {
    let params = param_count(program, method);
    let mut summary = Summary {
        nodes: vec![Node::Outside, Node::New(0, Made::Some)],
        ..Summary::default()
    };
    let signature = program.names.bytes(program.method(method).signature);
    let open = signature.iter().position(|&byte| byte == b'(').unwrap_or(0);
    let descriptor = MethodDescriptor::parse(Utf8::new(&signature[open..]));
    let is_static = program.method(method).is(access::STATIC);
    let types: Vec<bool> = match &descriptor {
        Ok(descriptor) => {
            let declared = descriptor
                .parameters()
                .map(|ty| !is_trivial(ty.descriptor()));
            (!is_static)
                .then_some(true)
                .into_iter()
                .chain(declared)
                .collect()
        }
        Err(_) => vec![true; params.into()],
    };
    let returns = match &descriptor {
        Ok(descriptor) => descriptor
            .result()
            .is_some_and(|ty| !is_trivial(ty.descriptor())),
        Err(_) => true,
    };
    let mut all = Refs::new();
    let mut changed = Vec::new();
    for param in (0..params).filter(|&param| types.get(usize::from(param)) == Some(&true)) {
        let node = summary.nodes.len() as u32;
        summary
            .nodes
            .extend([Node::Param(param), Node::Deep(param)]);
        all.extend([reference(node, false), reference(node + 1, false)]);
        let mut write = |node, weak| {
            summary.writes.push(Write {
                node: reference(node, weak),
                cause: Cause::NoBody,
                only: None,
                kinds: Kinds::ANY,
            });
        };
        match verdict(param) {
            Verdict::Immutable => {}
            // The verdict does not say how deep the change is.
            Verdict::Mutable => {
                write(node, false);
                write(node + 1, true);
                changed.push(node);
            }
            Verdict::Unknown => {
                write(node, true);
                write(node + 1, true);
                changed.push(node);
            }
        }
    }
    for node in changed {
        let others: Refs = all
            .iter()
            .copied()
            .filter(|one| one >> 1 != node && one >> 1 != node + 1)
            .collect();
        if !others.is_empty() {
            summary.heap.push((node, any, others));
        }
    }
    if returns {
        summary.returned = vec![reference(0, false), reference(1, false)];
        summary.returned.extend(all.iter().map(|one| one | 1));
        if !all.is_empty() {
            summary.heap.push((1, any, all));
        }
    }
    summary
}
