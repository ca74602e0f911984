//! Classes that are legal and rare, under every plan: verified and run by real JVMs, they still do
//! the same.
//!
//! `Strange.java` writes classes that no compiler makes; `Rare.java` and `Latest.java` have the
//! others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hindsight_classfile::{ClassFile, PoolBuilder};
use hindsight_instrument::contract::WriteProbe;
use hindsight_instrument::{Copy, CrashPlan, Rules, SkipReason, Workspace, crash, trace};

use crate::support::{self, Jdk};
use crate::traced::recorder;
use crate::workshop::{
    check_golden, every_event, fresh_dir, java, java_dir, javac, name_ids, run, undo,
};

/// The plans.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// What is kept of arguments, and whether rules report everything.
    Crash(Copy, bool),
    /// Writes can be undone; rules report everything.
    Undo,
    /// All that a trace tells.
    Trace,
}

const PLANS: [Plan; 6] = [
    Plan::Undo,
    Plan::Trace,
    Plan::Crash(Copy::Reference, false),
    Plan::Crash(Copy::Fields, false),
    Plan::Crash(Copy::Reference, true),
    Plan::Crash(Copy::Fields, true),
];

/// Options for methods with 65,535 variables.
const ROOM: &[&str] = &["-Xss4m"];

/// A class under a plan.
struct Done {
    class: Option<Vec<u8>>,
    name: String,
    /// The instrumented methods, by rising id.
    methods: Vec<String>,
    /// The methods that are left alone, and those that tell less than they should.
    left: Vec<(String, SkipReason)>,
}

fn instrument(bytes: &[u8], plan: Plan, first_id: usize) -> Done {
    let first_id = u32::try_from(first_id).expect("few");
    let all = !matches!(plan, Plan::Crash(_, false));
    let rules = |_: &str, _: &str| Rules {
        escape: all,
        caught: all,
    };
    let crashes = |copy| CrashPlan {
        copy,
        max_fields: 8,
        first_id,
        rules: &rules,
        known: &[],
    };
    let rewritten = match plan {
        Plan::Crash(copy, _) => crash(bytes, &crashes(copy)),
        Plan::Undo => {
            let crashes = crashes(Copy::Reference);
            Workspace::default().undoable(bytes, &undo(&crashes, first_id))
        }
        Plan::Trace => {
            let traced = trace(bytes, &every_event(first_id));
            let traced = traced.expect("a legal class can be instrumented");
            let left = traced.skipped.iter().chain(traced.reduced.iter());
            return Done {
                left: left.map(|one| (one.name.to_owned(), one.reason)).collect(),
                methods: (traced.methods.iter())
                    .map(|method| method.name.to_owned())
                    .collect(),
                class: traced.class,
                name: traced.class_name,
            };
        }
    };
    let rewritten = rewritten.expect("a legal class can be instrumented");
    let left = rewritten.skipped.iter().chain(rewritten.reduced.iter());
    Done {
        left: left.map(|one| (one.name.to_owned(), one.reason)).collect(),
        methods: (rewritten.methods.iter())
            .map(|method| method.name.to_owned())
            .collect(),
        class: rewritten.class,
        name: rewritten.class_name,
    }
}

/// The source of a class that has the probes of writes and keeps nothing.
fn keeps_nothing() -> String {
    let mut source =
        "package java.lang; public final class HindsightWrites { public static int missed;\n"
            .to_owned();
    for probe in WriteProbe::all() {
        let method = probe.method();
        let (parameters, returned) = method.descriptor[1..]
            .split_once(')')
            .expect("a descriptor");
        let (mut types, mut dimensions, mut rest) = (Vec::new(), 0, parameters);
        while let Some(kind) = rest.chars().next() {
            rest = &rest[1..];
            let name = match kind {
                '[' => {
                    dimensions += 1;
                    continue;
                }
                'L' => {
                    let (class, after) = rest.split_once(';').expect("a descriptor");
                    rest = after;
                    class.replace('/', ".")
                }
                primitive => java_name(primitive).to_owned(),
            };
            let at = types.len();
            types.push(format!("{name}{} p{at}", "[]".repeat(dimensions)));
            dimensions = 0;
        }
        let returned = java_name(returned.chars().next().expect("a descriptor"));
        source.push_str(&format!(
            "public static {returned} {}({}) {{ {} }}\n",
            method.name,
            types.join(", "),
            if returned == "void" { "" } else { "return 0;" }
        ));
    }
    source + "}"
}

fn java_name(primitive: char) -> &'static str {
    match primitive {
        'Z' => "boolean",
        'B' => "byte",
        'C' => "char",
        'S' => "short",
        'I' => "int",
        'J' => "long",
        'F' => "float",
        'D' => "double",
        _ => "void",
    }
}

/// The output of the program itself.
fn own_lines(text: &str) -> String {
    let probes = ["  frame #", "  escape", "  caught", "  report"];
    text.lines()
        .filter(|line| !probes.iter().any(|probe| line.starts_with(probe)))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Removes the addresses in the names of hidden classes.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("/0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("/0x");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    out
}

/// Prepares a directory with the driver in `classes`, and the probe's directory.
fn prepare(name: &str) -> (PathBuf, PathBuf) {
    static TOOLS: OnceLock<PathBuf> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| {
        // What the oldest JDK compiles runs on all of them.
        let (jdk, dir) = (support::jdks().remove(0), fresh_dir("strange-tools"));
        let write = |name: &str, source: String| {
            let path = dir.join(name);
            fs::write(&path, source).expect("a source can be written");
            path.display().to_string()
        };
        let trace = write("HindsightTrace.java", recorder());
        let writes = write("HindsightWrites.java", keeps_nothing());
        let options: &[&str] = &["--patch-module", "java.base=."];
        let sources = ["HindsightProbe.java", &trace, &writes];
        javac(&jdk, &dir.join("patch"), options, &sources);
        javac(&jdk, &dir, &[], &["Driver.java"]);
        dir
    });
    let classes = fresh_dir(name).join("classes");
    fs::create_dir(&classes).expect("a directory can be made");
    let driver = "Driver.class";
    fs::copy(tools.join(driver), classes.join(driver)).expect("it can be copied");
    (classes, tools.join("patch"))
}

/// Runs the classes `names` unchanged and under each plan. Returns what the last plan, which
/// reports most, did and printed.
fn check(jdk: &Jdk, classes: &Path, patch: &Path, names: &[String]) -> String {
    let mut main = vec!["Driver"];
    main.extend(names.iter().map(String::as_str));
    let before = java(jdk, patch, classes, ROOM, &main);
    let originals: Vec<_> = support::class_files(classes)
        .into_iter()
        .filter(|path| !path.ends_with("Driver.class"))
        .map(|path| (fs::read(&path).expect("a class can be read"), path))
        .collect();
    let events = classes.with_file_name("events");
    let tells = format!("-Dhindsight.trace={}", events.display());
    let options = [ROOM, &[tells.as_str()]].concat();
    // What is left alone, by those plans of which the report has nothing else.
    let mut left_alone = String::new();
    let mut report = String::new();
    for plan in PLANS {
        let mut methods = Vec::new();
        report.clear();
        let plan_name = match plan {
            Plan::Crash(..) => "",
            Plan::Undo => "undo: ",
            Plan::Trace => "trace: ",
        };
        for (bytes, path) in &originals {
            let done = instrument(bytes, plan, methods.len());
            let class = &done.name;
            let named = done.methods.iter();
            methods.extend(named.map(|method| format!("{class}.{}", method.escape_debug())));
            for (name, reason) in &done.left {
                if *reason != SkipReason::CannotThrow && names.contains(class) {
                    let line = format!("{plan_name}{class}.{name} is left alone: {reason}\n");
                    match plan {
                        Plan::Crash(..) => report.push_str(&line),
                        Plan::Undo | Plan::Trace => left_alone.push_str(&line),
                    }
                }
            }
            fs::write(path, done.class.as_ref().unwrap_or(bytes)).expect("it can be written");
        }
        let text = java(jdk, patch, classes, &options, &main);
        let (expected, actual) = (own_lines(&before), own_lines(&text));
        assert!(
            expected == actual,
            "{plan:?} on {} changes the program:\n{expected}\n{actual}",
            jdk.feature
        );
        let told = match plan {
            Plan::Crash(..) | Plan::Undo => text.contains("  frame #"),
            Plan::Trace => {
                let events = fs::read_to_string(&events).expect("events were written");
                events.contains("\tenter\t")
            }
        };
        assert!(told, "{plan:?}: nothing was instrumented");
        report.push_str(&name_ids(&without_addresses(&text), &methods));
    }
    report.insert_str(0, &left_alone);
    for (bytes, path) in &originals {
        fs::write(path, bytes).expect("it can be written");
    }
    report
}

fn class_names(dir: &Path, newest: u16) -> Vec<String> {
    let mut names = BTreeSet::new();
    for path in support::class_files(dir) {
        let bytes = fs::read(&path).expect("a class can be read");
        let class = ClassFile::parse(&bytes).expect("it is sound");
        let name = class.name().expect("it has a name").to_string();
        if class.major <= newest && name != "Driver" {
            names.insert(name);
        }
    }
    names.into_iter().collect()
}

/// The rows "constructors", "SAME_FRAME", "method beyond 65,535 bytes", "old class files with
/// jsr/ret", "a loop that starts at offset 0", "`Uninitialized(offset)` frames",
/// "dynamic constants as bootstrap arguments" and "lone surrogates"; and all
/// versions of the format.
#[test]
fn what_no_compiler_makes() {
    let jdks = support::jdks();
    let Some(newest) = jdks.iter().rfind(|jdk| jdk.feature >= 24) else {
        eprintln!("NOT RUN: no JDK of 24 or later, which has java.lang.classfile");
        return;
    };
    let (classes, patch) = prepare("strange");
    run(newest
        .tool("java")
        .arg(java_dir().join("Strange.java"))
        .arg(&classes));
    full_pools(&classes);
    for jdk in &jdks {
        // Java 17 has version 61. The newest JDK additionally runs what only it can.
        let all = class_names(&classes, 61);
        check_golden("Strange.txt", &check(jdk, &classes, &patch, &all));
        let newest = u16::try_from(jdk.feature + 44).expect("few");
        let mut more = class_names(&classes, newest);
        more.retain(|name| !all.contains(name));
        if !more.is_empty() {
            let report = check(jdk, &classes, &patch, &more);
            let frames = report.matches("  frame Version").count();
            assert_eq!(frames, 2 * more.len(), "{report}");
        }
    }
}

/// The row "constant pool full": one class with no room at all, one without
/// enough, one with just about enough.
fn full_pools(classes: &Path) {
    let bytes = fs::read(classes.join("Wide.class")).expect("it is there");
    let class = ClassFile::parse(&bytes).expect("it is sound");
    for (name, free) in [("Pool0", 0), ("Pool5", 5), ("Pool99", 99)] {
        // Fully qualified calls of `Wide.run` become calls of the class's own method.
        let mut renamed = bytes.clone();
        let at = renamed
            .windows(7)
            .position(|window| window == [1, 0, 4, b'W', b'i', b'd', b'e'])
            .expect("its name is there");
        let mut constant = vec![1, 0, name.len() as u8];
        constant.extend(name.bytes());
        renamed.splice(at..at + 7, constant);
        let renamed_class = ClassFile::parse(&renamed).expect("it is sound");
        let mut added = PoolBuilder::new(&renamed_class.pool);
        for value in 0..65_535 - i32::from(class.pool.count()) - free {
            added.integer(value).expect("there is room");
        }
        let full = renamed_class.assemble(&added, |_, method, out| method.write(out));
        fs::write(classes.join(name).with_extension("class"), full).expect("it can be written");
    }
}

/// The rows "an entry load that resolves a class" and "generated names (hidden
/// classes)"; nest mates, sealed classes, initializers of interfaces.
#[test]
fn rare_java() {
    let jdks = support::jdks();
    let (classes, patch) = prepare("rare");
    javac(
        &jdks[0],
        &classes,
        &["-g", "--release", "17"],
        &["Rare.java"],
    );
    fs::remove_file(classes.join("Missing.class")).expect("it was compiled");
    for jdk in &jdks {
        let report = check(jdk, &classes, &patch, &["Rare".to_owned()]);
        check_golden("Rare.txt", &report);
    }
}

/// The row "other agents rewrite the same classes, before or after us".
#[test]
fn another_agent_rewrites_before_or_after_us() {
    let jdks = support::jdks();
    let Some(jdk) = jdks.iter().rfind(|jdk| jdk.feature >= 24) else {
        eprintln!("NOT RUN: no JDK of 24 or later, which has java.lang.classfile");
        return;
    };
    for before in [true, false] {
        let (classes, patch) = prepare(if before { "before-us" } else { "after-us" });
        let options: &[&str] = &["-g", "--release", "17"];
        javac(&jdks[0], &classes, options, &["Rare.java"]);
        let rewrite = || {
            let source = java_dir().join("Rewrite.java");
            run(jdk.tool("java").arg(source).args([&classes, &patch]))
        };
        if before {
            rewrite();
        }
        let mut methods = Vec::new();
        for path in support::class_files(&classes) {
            if path.ends_with("Driver.class") {
                continue;
            }
            let bytes = fs::read(&path).expect("a class can be read");
            let done = instrument(&bytes, Plan::Crash(Copy::Fields, true), methods.len());
            let names = done.methods.iter();
            methods.extend(names.map(|method| format!("{}.{method}", done.name)));
            fs::write(&path, done.class.unwrap_or(bytes)).expect("it can be written");
        }
        if !before {
            rewrite();
        }
        fs::remove_file(classes.join("Missing.class")).expect("it was compiled");
        let text = java(jdk, &patch, &classes, ROOM, &["Driver", "Rare"]);
        check_golden("Rare.txt", &name_ids(&without_addresses(&text), &methods));
    }
}

/// The rows "constructors: Java 22+ allows statements before `super(...)`" and
/// "qualified enum constants in a pattern switch".
#[test]
fn latest_java() {
    let jdks = support::jdks();
    let Some(jdk) = jdks.iter().rfind(|jdk| jdk.feature >= 25) else {
        eprintln!("NOT RUN: no JDK of 25 or later");
        return;
    };
    let (classes, patch) = prepare("latest");
    javac(jdk, &classes, &["-g", "--release", "25"], &["Latest.java"]);
    let report = check(jdk, &classes, &patch, &["Latest".to_owned()]);
    check_golden("Latest.txt", &report);
}
