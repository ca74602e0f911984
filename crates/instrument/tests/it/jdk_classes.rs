//! Instruments the classes of whole JDKs and verifies every one of them.
//!
//! By default, each fourth class of some modules is tested, and other ones for each plan; with
//! `HINDSIGHT_FULL=1` all of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, io};

use hindsight_classfile::ClassFile;
use hindsight_instrument::select::MAX_FIELDS;
use hindsight_instrument::{
    Copy, CrashPlan, Effects, Methods, ParameterEffects, Rules, SkipReason, SkippedMethods,
    TracePlan, UndoPlan, What, Workspace, crash, trace,
};

use crate::support;
use crate::workshop::undo;

#[derive(Default)]
struct Count {
    classes: usize,
    rewritten: usize,
    methods: usize,
    captures: usize,
    bytes: usize,
    grown_to: usize,
    skipped: BTreeMap<SkipReason, usize>,
    time: Duration,
}

fn record(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(
        &u32::try_from(bytes.len())
            .expect("classes are small")
            .to_be_bytes(),
    )?;
    out.write_all(bytes)
}

/// What a plan did to a class.
struct Outcome {
    class: Option<Vec<u8>>,
    class_name: String,
    methods: Methods,
    skipped: Vec<SkipReason>,
}

fn reasons(skipped: &SkippedMethods) -> Vec<SkipReason> {
    skipped.iter().map(|skipped| skipped.reason).collect()
}

/// Instruments a class; the id is that of its first method.
type Plan<'p> = &'p dyn Fn(&[u8], u32) -> Result<Outcome, hindsight_instrument::Error>;

/// Instruments each `step`th of the classes of `modules`, from the class with the number `first`
/// on, and writes them to `pack` for `Verify.java`.
fn instrument(
    modules: &[&Path],
    (first, step): (usize, usize),
    plan: Plan<'_>,
    pack: &Path,
) -> Count {
    let mut count = Count::default();
    let mut out = BufWriter::new(File::create(pack).expect("the pack can be created"));
    // Ids beyond 32,767 need a constant.
    let mut first_id = 30_000;
    for path in modules
        .iter()
        .flat_map(|module| support::class_files(module))
        .skip(first)
        .step_by(step)
    {
        let bytes = fs::read(&path).expect("a class can be read");
        let start = Instant::now();
        let rewritten = plan(&bytes, first_id);
        count.time += start.elapsed();
        let rewritten = rewritten.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        first_id += u32::try_from(rewritten.methods.len()).expect("methods are few");
        count.classes += 1;
        count.bytes += bytes.len();
        count.rewritten += usize::from(rewritten.class.is_some());
        count.methods += rewritten.methods.len();
        count.captures += rewritten
            .methods
            .iter()
            .map(|m| m.captures.len())
            .sum::<usize>();
        count.grown_to += rewritten.class.as_ref().map_or(bytes.len(), Vec::len);
        for skipped in rewritten.skipped.iter() {
            *count.skipped.entry(*skipped).or_default() += 1;
        }
        record(&mut out, rewritten.class_name.as_bytes()).expect("the pack can be written");
        record(&mut out, &bytes).expect("the pack can be written");
        record(&mut out, rewritten.class.as_deref().unwrap_or_default())
            .expect("the pack can be written");
    }
    out.flush().expect("the pack can be written");
    count
}

fn full() -> bool {
    env::var_os("HINDSIGHT_FULL").is_some_and(|full| full == "1")
}

fn check(plan: Plan<'_>, name: &str) {
    let full = full();
    let jdks = support::jdks();
    let verifier = jdks.iter().rfind(|jdk| jdk.feature >= 24);
    if verifier.is_none() {
        println!("NOT VERIFIED: no JDK of 24 or later, which has the verifier");
        eprintln!("NOT VERIFIED: no JDK of 24 or later, which has the verifier");
    }
    for jdk in &jdks {
        let root = jdk.modules();
        let all = fs::read_dir(&root)
            .expect("modules can be listed")
            .flatten();
        let mut modules: Vec<_> = all.map(|entry| entry.path()).collect();
        modules
            .retain(|path| full || path.ends_with("java.base") || path.ends_with("jdk.compiler"));
        modules.sort();
        let modules: Vec<&Path> = modules.iter().map(AsRef::as_ref).collect();
        let pack = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "{name}-{}-{}.pack",
            jdk.feature,
            std::process::id()
        ));
        let first = name.bytes().map(usize::from).sum::<usize>() % 4;
        let sample = if full { (0, 1) } else { (first, 4) };
        let count = instrument(&modules, sample, plan, &pack);
        println!(
            "JDK {} {name}: {} classes, {} rewritten; {} methods, {} captures; {:.1} MB to {:.1} MB, {:.0} MB/s",
            jdk.feature,
            count.classes,
            count.rewritten,
            count.methods,
            count.captures,
            count.bytes as f64 / 1e6,
            count.grown_to as f64 / 1e6,
            count.bytes as f64 / 1e6 / count.time.as_secs_f64(),
        );
        for (reason, skipped) in &count.skipped {
            println!("  skipped {skipped}: {reason}");
        }
        assert!(count.methods > 10_000, "only {} methods", count.methods);
        let mut reasons = count.skipped.keys();
        assert!(!reasons.any(|reason| matches!(reason, SkipReason::Malformed { .. })));
        let Some(verifier) = verifier else { continue };
        let output = verifier
            .tool("java")
            .args(["-Xmx1500m", "-XX:+UseSerialGC"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/java/Verify.java"))
            .arg(&pack)
            .output()
            .expect("java runs");
        fs::remove_file(&pack).expect("the pack can be removed");
        println!("  {}", String::from_utf8_lossy(&output.stdout).trim());
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

fn check_crash(copy: Copy, name: &str) {
    // Rules of all kinds alternate.
    let rules = |name: &str, descriptor: &str| Rules {
        escape: name.len().is_multiple_of(4),
        caught: descriptor.len().is_multiple_of(4),
    };
    let plan = |bytes: &[u8], first_id| {
        let plan = CrashPlan {
            copy,
            max_fields: MAX_FIELDS,
            first_id,
            rules: &rules,
            known: &[],
        };
        crash(bytes, &plan).map(|rewritten| Outcome {
            class: rewritten.class,
            class_name: rewritten.class_name,
            methods: rewritten.methods,
            skipped: reasons(&rewritten.skipped),
        })
    };
    check(&plan, name);
}

fn check_trace(what: What, name: &str) {
    let plan = |bytes: &[u8], first_id| {
        let plan = TracePlan {
            what: &|_, _| what,
            first_method: first_id,
            first_field: first_id,
            first_callee: 0,
            first_block: first_id,
            tracer: hindsight_instrument::contract::trace::TRACE,
            is_secret: &|name| name.len().is_multiple_of(3),
        };
        // A method that records less than it should counts as skipped.
        trace(bytes, &plan).map(|traced| Outcome {
            class: traced.class,
            class_name: traced.class_name,
            methods: traced.methods,
            skipped: [reasons(&traced.skipped), reasons(&traced.reduced)].concat(),
        })
    };
    check(&plan, name);
}

/// Effects as if an analysis had found that each parameter may lose any field of the class.
fn everything_known(bytes: &[u8]) -> Vec<Effects> {
    let class = ClassFile::parse(bytes).expect("a compiler's class can be read");
    let name = class.name().expect("it has a name").to_string();
    let fields: Vec<_> = class
        .fields
        .iter()
        .map(|field| (name.clone(), field.name.to_string()))
        .collect();
    let methods = class.methods.iter().map(|method| Effects {
        name: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
        cannot_throw: false,
        parameters: (0..6)
            .map(|index| ParameterEffects {
                index,
                exact: index % 2 == 0,
                fields: fields.clone(),
                open: Vec::new(),
            })
            .collect(),
    });
    let mut methods: Vec<_> = methods.collect();
    methods
        .sort_by(|one, other| (&one.name, &one.descriptor).cmp(&(&other.name, &other.descriptor)));
    methods
}

/// Tests undoable classes with frames, and without: the latter is how the JDK's own collections are
/// instrumented.
fn check_undo(frames: bool, name: &str) {
    let rules = |name: &str, descriptor: &str| Rules {
        escape: name.len().is_multiple_of(4),
        caught: descriptor.len().is_multiple_of(4),
    };
    let plan = |bytes: &[u8], first_id| {
        let known = everything_known(bytes);
        let crash = CrashPlan {
            copy: Copy::Fields,
            max_fields: MAX_FIELDS,
            first_id,
            rules: &rules,
            known: &known,
        };
        let plan = UndoPlan {
            crash: frames.then_some(&crash),
            ..undo(&crash, first_id)
        };
        // A method whose writes are not logged counts as skipped.
        let done = Workspace::default().undoable(bytes, &plan);
        done.map(|rewritten| Outcome {
            class: rewritten.class,
            class_name: rewritten.class_name,
            methods: rewritten.methods,
            skipped: [reasons(&rewritten.skipped), reasons(&rewritten.reduced)].concat(),
        })
    };
    check(&plan, name);
}

#[test]
fn jdk_classes_verify_with_writes_logged() {
    check_undo(true, "undo");
    if full() {
        check_undo(false, "undo-aside");
    }
}

#[test]
fn jdk_classes_verify_with_references() {
    check_crash(Copy::Reference, "references");
}

#[test]
fn jdk_classes_verify_with_fields() {
    check_crash(Copy::Fields, "fields");
}

/// Everything that can be inserted is inserted; without reads, there would be less.
#[test]
fn jdk_classes_verify_with_traces() {
    let what = What {
        reads: true,
        blocks: true,
        ..What::CALLS_AND_WRITES
    };
    check_trace(what, "everything");
    if full() {
        check_trace(What::CALLS_AND_WRITES, "calls-and-writes");
    }
}
