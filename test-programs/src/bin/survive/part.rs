//! A part of the corpus: its jars one after the other, never all in memory.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use hindsight_classfile::{ClassFile, Error};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::corpus::{Class, Group, groups};
use crate::harness::{self, Harness, INTERFACE, SUPERCLASS, Sent, THROWN};
use crate::plans::{FIRST_ID, PLANS, nothing_to_do, size_or_age};
use crate::{dump, plans};

/// Examples that are kept of each kind.
const EXAMPLES: usize = 20;

/// What became of the classes under one plan.
#[derive(Default)]
struct PlanCount {
    classes: u64,
    methods: u64,
    nothing: BTreeMap<String, u64>,
    skipped: BTreeMap<String, u64>,
    /// Methods that were skipped for a reason other than size and age.
    examples: Vec<String>,
    errors: Vec<String>,
}

#[derive(Default)]
struct Count {
    classes: u64,
    duplicates: u64,
    methods: u64,
    versions: BTreeMap<u16, u64>,
    unreadable: Vec<String>,
    changed: Vec<String>,
    plans: Vec<PlanCount>,
}

/// Does a part. The specification has:
///
/// - `jars`: paths.
/// - `harnesses`: `name` and `command` of the programs that verify.
/// - `out`: where the results go, as JSON; `hashes`: where the first 16 bytes of
///   each class file's SHA-256 go, sorted.
/// - `patch`, or null: a directory for jars of the rewritten classes, one for
///   each plan and module; the entries' names begin with the module's.
pub fn run(spec: &Value) -> Result<()> {
    let start = Instant::now();
    let text = |key: &str| spec[key].as_str().with_context(|| format!("no {key}"));
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items
            .filter_map(|s| s.as_str().map(str::to_owned))
            .collect()
    };
    let mut harnesses = Vec::new();
    for harness in spec["harnesses"].as_array().into_iter().flatten() {
        let name = harness["name"].as_str().context("no harness name")?;
        harnesses.push(Harness::start(name, &strings(&harness["command"]))?);
    }
    let mut patch = spec["patch"].as_str().map(Patch::new).transpose()?;
    let mut count = Count {
        plans: PLANS.iter().map(|_| PlanCount::default()).collect(),
        ..Count::default()
    };
    let mut seen = HashSet::new();
    for jar in strings(&spec["jars"]) {
        groups(Path::new(&jar), &mut |group| {
            one_group(&group, &mut seen, &mut count, &harnesses, &mut patch)
        })?;
    }
    if let Some(patch) = patch {
        patch.finish()?;
    }
    let mut verified = Map::new();
    for harness in harnesses {
        let (name, answers) = harness.finish()?;
        verified.insert(name, answers.json());
    }
    let mut hashes: Vec<[u8; 16]> = seen.into_iter().collect();
    hashes.sort_unstable();
    fs::write(text("hashes")?, hashes.concat())?;
    let result = count.json(verified, start.elapsed().as_secs_f64());
    fs::write(text("out")?, serde_json::to_vec_pretty(&result)?)?;
    Ok(())
}

fn one_group(
    group: &Group,
    seen: &mut HashSet<[u8; 16]>,
    count: &mut Count,
    harnesses: &[Harness],
    patch: &mut Option<Patch>,
) -> Result<()> {
    let mut sent = Vec::with_capacity(group.classes.len());
    let mut uses = BTreeMap::new();
    for (entry, error) in &group.unreadable {
        count
            .unreadable
            .push(format!("{} {entry}: {error}", group.name));
    }
    for class in &group.classes {
        let check = seen.insert(fingerprint(&class.bytes));
        let label = || format!("{} {}", group.name, class.entry);
        if !check {
            count.duplicates += 1;
            sent.push(Sent { check, dump: 0 });
            continue;
        }
        let parsed = ClassFile::parse(&class.bytes)?;
        count.classes += 1;
        *count.versions.entry(parsed.major).or_default() += 1;
        if parsed.write() != class.bytes {
            count.changed.push(label());
        }
        let read = dump::hash(&class.bytes).and_then(|hash| {
            note_uses(&parsed, &mut uses)?;
            Ok(hash)
        });
        count.methods += parsed
            .methods
            .iter()
            .filter(|method| method.attributes.find(&parsed.pool, "Code").is_some())
            .count() as u64;
        let dump = read.unwrap_or_else(|error| {
            count.unreadable.push(format!("{}: {error}", label()));
            0
        });
        sent.push(Sent { check, dump });
    }
    for class in &group.classes {
        uses.remove(&class.name);
    }
    let message = Arc::new(harness::group(group, &sent, &uses));
    for harness in harnesses {
        harness.send(&message)?;
    }
    drop(message);

    for (plan, count) in PLANS.iter().zip(&mut count.plans) {
        let mut rewritten = Vec::new();
        for (place, (class, sent)) in group.classes.iter().zip(&sent).enumerate() {
            if !sent.check {
                continue;
            }
            if let Some(new) = one_class(group, class, plan, count) {
                if let Some(patch) = patch {
                    patch.add(plan, &class.entry, &new)?;
                }
                rewritten.push((place, new));
            }
        }
        let message = Arc::new(harness::plan(plan.name, &rewritten));
        for harness in harnesses {
            harness.send(&message)?;
        }
    }
    Ok(())
}

fn one_class(
    group: &Group,
    class: &Class,
    plan: &plans::Plan,
    count: &mut PlanCount,
) -> Option<Vec<u8>> {
    let outcome = match (plan.rewrite)(&class.bytes, FIRST_ID) {
        Ok(outcome) => outcome,
        Err(error) => {
            count
                .errors
                .push(format!("{} {}: {error}", group.name, class.entry));
            return None;
        }
    };
    count.methods += outcome.methods as u64;
    for (method, reason) in outcome.skipped {
        if nothing_to_do(reason) {
            *count.nothing.entry(reason.to_string()).or_default() += 1;
            continue;
        }
        *count.skipped.entry(reason.to_string()).or_default() += 1;
        if !size_or_age(reason) && count.examples.len() < EXAMPLES {
            let example = format!("{} {} {method}: {reason}", group.name, class.entry);
            count.examples.push(example);
        }
    }
    count.classes += u64::from(outcome.class.is_some());
    outcome.class
}

/// Notes how a class uses other classes.
fn note_uses(class: &ClassFile<'_>, uses: &mut BTreeMap<Vec<u8>, u8>) -> Result<(), Error> {
    let mut note = |name: &[u8], how: u8| *uses.entry(name.to_vec()).or_default() |= how;
    if let Some(name) = class.super_name()? {
        note(name.as_bytes(), SUPERCLASS);
    }
    for name in class.interface_names() {
        note(name?.as_bytes(), INTERFACE);
    }
    for method in &class.methods {
        if let Some(code) = method.code(&class.pool)? {
            for handler in code.handlers.filter(|handler| handler.catch_type != 0) {
                note(class.pool.class(handler.catch_type)?.as_bytes(), THROWN);
            }
        }
    }
    Ok(())
}

fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    let mut first = [0; 16];
    first.copy_from_slice(&hash[..16]);
    first
}

impl Count {
    fn json(&self, verified: Map<String, Value>, seconds: f64) -> Value {
        let plans: Vec<_> = PLANS
            .iter()
            .zip(&self.plans)
            .map(|(plan, count)| {
                json!({
                    "name": plan.name,
                    "classes": count.classes,
                    "methods": count.methods,
                    "nothing": count.nothing,
                    "skipped": count.skipped,
                    "examples": count.examples,
                    "errors": count.errors,
                })
            })
            .collect();
        json!({
            "classes": self.classes,
            "duplicates": self.duplicates,
            "methods": self.methods,
            "versions": self.versions.iter().map(|(k, v)| (k.to_string(), json!(v))).collect::<Map<_, _>>(),
            "unreadable": self.unreadable,
            "changed": self.changed,
            "plans": plans,
            "harnesses": verified,
            "seconds": seconds,
        })
    }
}

/// Jars of rewritten classes, by plan and module.
struct Patch {
    directory: String,
    jars: BTreeMap<(&'static str, String), ZipWriter<File>>,
}

impl Patch {
    fn new(directory: &str) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            jars: BTreeMap::new(),
        })
    }

    fn add(&mut self, plan: &plans::Plan, entry: &str, class: &[u8]) -> Result<()> {
        let (module, name) = entry.split_once('/').context("an entry of a module")?;
        if plan.stands_on_jdk {
            return Ok(());
        }
        let key = (plan.name, module.to_owned());
        if !self.jars.contains_key(&key) {
            let directory = Path::new(&self.directory).join(plan.name.replace([' ', ','], "-"));
            fs::create_dir_all(&directory)?;
            let file = File::create(directory.join(format!("{module}.jar")))?;
            self.jars.insert(key.clone(), ZipWriter::new(file));
        }
        let jar = self.jars.get_mut(&key).context("it was made")?;
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        jar.start_file(name, stored)?;
        std::io::Write::write_all(jar, class)?;
        Ok(())
    }

    fn finish(self) -> Result<()> {
        for (_, jar) in self.jars {
            jar.finish()?;
        }
        Ok(())
    }
}
