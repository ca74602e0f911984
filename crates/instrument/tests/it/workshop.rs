//! Compiling, instrumenting and running Java programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use hindsight_classfile::{ClassFile, Code, PoolBuilder};
use hindsight_instrument::contract::trace::TRACE;
use hindsight_instrument::{Copy, CrashPlan, Rewritten, Rules, TracePlan, UndoPlan, What, crash};

use crate::support::Jdk;

/// The directory of the Java sources.
pub fn java_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/java")
}

/// An empty directory for one test.
pub fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).expect("an old directory can be removed");
    }
    fs::create_dir_all(&dir).expect("a directory can be created");
    dir
}

/// Runs a command that must succeed; returns its output.
pub fn run(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed:\n{text}\n{errors}"
    );
    text
}

/// Compiles sources.
pub fn javac(jdk: &Jdk, to: &Path, options: &[&str], sources: &[&str]) {
    let sources = sources.iter().map(|source| java_dir().join(source));
    run(jdk
        .tool("javac")
        .args(options)
        .arg("-d")
        .arg(to)
        .args(sources));
}

/// Runs a program on a JVM that has the probe.
pub fn java(jdk: &Jdk, patch: &Path, classes: &Path, options: &[&str], main: &[&str]) -> String {
    run(jdk
        .tool("java")
        // There is no shared archive: its classes would not be verified.
        .args([
            "-Xverify:all",
            "-Xshare:off",
            "-Xss512k",
            "-XX:+UseSerialGC",
        ])
        .arg("--patch-module")
        .arg(format!("java.base={}", patch.display()))
        .args(options)
        .arg("-cp")
        .arg(classes)
        .args(main))
}

/// Replaces the ids of methods in a program's output, `#5#`, by names.
pub fn name_ids(text: &str, names: &[String]) -> String {
    let mut named = String::new();
    for (at, part) in text.split('#').enumerate() {
        match part.parse::<usize>() {
            Ok(id) if at % 2 == 1 => named.push_str(&names[id]),
            _ => named.push_str(part),
        }
    }
    named
}

/// The rules of tests, which apply to methods with these words in their names.
pub fn rules(name: &str, _descriptor: &str) -> Rules {
    Rules {
        escape: name.contains("Escape"),
        caught: name.contains("Caught"),
    }
}

/// Instruments a class for tests.
pub fn instrument(bytes: &[u8], copy: Copy, first_id: u32) -> Rewritten {
    let plan = CrashPlan {
        copy,
        max_fields: 8,
        first_id,
        rules: &rules,
        known: &[],
    };
    crash(bytes, &plan).expect("a compiled class can be instrumented")
}

/// The plan that also logs every write, of classes whose accessors are not known.
pub fn undo<'p>(crash: &'p CrashPlan<'p>, first: u32) -> UndoPlan<'p> {
    UndoPlan {
        crash: Some(crash),
        catches: true,
        first_id: first,
        first_field: first,
        quiet: &|_| None,
    }
}

/// The plan that records every kind of event of every method.
pub fn every_event(first: u32) -> TracePlan<'static> {
    TracePlan {
        what: &|_, _| What {
            reads: true,
            blocks: true,
            ..What::CALLS_AND_WRITES
        },
        first_method: first,
        first_field: first,
        first_callee: first,
        first_block: first,
        tracer: TRACE,
        is_secret: &|_| false,
    }
}

/// Gives a class another version, and removes its stack maps if `strip`.
pub fn age(bytes: &[u8], major: u16, strip: bool) -> Vec<u8> {
    let mut class = ClassFile::parse(bytes).expect("a compiled class can be read");
    class.major = major;
    let pool = class.pool.clone();
    class.assemble(&PoolBuilder::new(&pool), |_, method, out| {
        method.write_head(out);
        out.extend(method.attributes.len().to_be_bytes());
        for attribute in method.attributes.iter() {
            if !strip || attribute.name(&pool).expect("it has a name") != "Code" {
                attribute.write(out);
                continue;
            }
            let code = Code::parse(&attribute).expect("compiled code can be read");
            let kept: Vec<_> = code
                .attributes
                .iter()
                .filter(|inner| inner.name(&pool).expect("it has a name") != "StackMapTable")
                .collect();
            let head = 10 + code.bytecode.len() + 8 * code.handlers.len();
            let mut info = attribute.info[..head].to_vec();
            info.extend((kept.len() as u16).to_be_bytes());
            kept.iter().for_each(|inner| inner.write(&mut info));
            out.extend(attribute.name_index.to_be_bytes());
            out.extend((info.len() as u32).to_be_bytes());
            out.extend(info);
        }
    })
}

/// Compares a text with a file beside the sources; with `BLESS=1`, writes the file.
pub fn check_golden(file: &str, actual: &str) {
    let path = java_dir().join(file);
    if env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == actual {
        return;
    }
    let differs = expected
        .lines()
        .zip(actual.lines())
        .position(|(a, b)| a != b);
    let line = differs.unwrap_or(expected.lines().count().min(actual.lines().count()));
    let show = |text: &str| {
        text.lines()
            .skip(line.saturating_sub(3))
            .take(8)
            .collect::<Vec<_>>()
            .join("\n")
    };
    panic!(
        "{file} differs at line {}\nexpected:\n{}\nactual:\n{}\n(BLESS=1 accepts)",
        line + 1,
        show(&expected),
        show(actual)
    );
}
