//! Instrumented programs on real JVMs, with the full verifier: what they hand
//! over, and that they do what they did.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hindsight_instrument::{Copy, SkipReason, contract, entry_hook};

use crate::support::{self, Jdk};
use crate::workshop::{age, check_golden, fresh_dir, instrument, javac, run};

/// Options of the compiler, and what is done to its classes.
struct Variant {
    name: &'static str,
    release: &'static str,
    /// Another version for the classes, and whether they lose their stack maps.
    aged: Option<(u16, bool)>,
    /// Options of the JVM.
    java: &'static [&'static str],
}

const RECENT: Variant = Variant {
    name: "recent",
    release: "17",
    aged: None,
    java: &[],
};
/// The program is compiled at its first calls.
const COMPILED: Variant = Variant {
    name: "compiled",
    java: &["-Xcomp", "-XX:TieredStopAtLevel=1"],
    ..RECENT
};
const RELEASE_8: Variant = Variant {
    name: "release-8",
    release: "8",
    ..RECENT
};
const VERSION_50: Variant = Variant {
    name: "50",
    aged: Some((50, false)),
    ..RELEASE_8
};
const NO_FRAMES_50: Variant = Variant {
    name: "50-stripped",
    aged: Some((50, true)),
    ..RELEASE_8
};
const NO_FRAMES_49: Variant = Variant {
    name: "49-stripped",
    aged: Some((49, true)),
    ..RELEASE_8
};

/// Compiles, instruments and runs a program. Returns what it printed, ids
/// replaced by names, and the classes left out.
fn output(jdk: &Jdk, program: &str, variant: &Variant) -> (String, BTreeMap<String, SkipReason>) {
    let dir = fresh_dir(&format!("{program}-{}-{}", variant.name, jdk.feature));
    let (classes, patch) = (dir.join("classes"), dir.join("patch"));
    javac(
        jdk,
        &patch,
        &["--patch-module", "java.base=."],
        &["HindsightProbe.java"],
    );
    javac(
        jdk,
        &classes,
        &["-g", "-Xlint:-options", "--release", variant.release],
        &[program],
    );

    let mut names = Vec::new();
    let mut skipped = BTreeMap::new();
    for path in support::class_files(&classes) {
        let mut bytes = fs::read(&path).expect("a class can be read");
        if let Some((major, strip)) = variant.aged {
            bytes = age(&bytes, major, strip);
        }
        let rewritten = instrument(
            &bytes,
            Copy::Fields,
            u32::try_from(names.len()).expect("few"),
        );
        let class = &rewritten.class_name;
        names.extend(rewritten.methods.iter().map(|method| {
            // Compilers count lambdas in different ways.
            let counted = method.name.starts_with("lambda$");
            let name = method
                .name
                .trim_end_matches(|c: char| counted && c.is_ascii_digit());
            format!("{class}.{name}")
        }));
        for method in rewritten.skipped.iter() {
            skipped.insert(format!("{class}.{}", method.name), method.reason);
        }
        fs::write(&path, rewritten.class.unwrap_or(bytes)).expect("a class can be written");
    }
    javac(jdk, &classes, &[], &["Driver.java"]);
    let text = java(
        jdk,
        &patch,
        &classes,
        variant.java,
        &["Driver", program.trim_end_matches(".java")],
    );

    let mut named = String::new();
    for (at, part) in text.split('#').enumerate() {
        match part.parse::<usize>() {
            Ok(id) if at % 2 == 1 => named.push_str(&names[id]),
            _ => named.push_str(part),
        }
    }
    (named, skipped)
}

/// Runs a program on a JVM that has the probe.
fn java(jdk: &Jdk, patch: &Path, classes: &Path, options: &[&str], main: &[&str]) -> String {
    run(jdk
        .tool("java")
        // No shared archive: with it, its classes would not be verified.
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

fn check(program: &str, variants: &[Variant], golden: &str) {
    for jdk in support::jdks() {
        for variant in variants {
            println!("{program} on {} as {}", jdk.feature, variant.name);
            let (text, skipped) = output(&jdk, program, variant);
            check_golden(golden, &text);
            for (method, reason) in skipped {
                assert!(
                    matches!(
                        reason,
                        SkipReason::CannotThrow | SkipReason::OnlyConstructorCall
                    ),
                    "{method} was skipped: {reason}"
                );
            }
        }
    }
}

#[test]
fn hazards_with_stack_maps() {
    check(
        "Hazards.java",
        &[RECENT, COMPILED, RELEASE_8, VERSION_50],
        "Hazards.txt",
    );
}

/// Without stack maps there is no handler before `super(...)`.
#[test]
fn hazards_of_old_versions() {
    check(
        "Hazards.java",
        &[NO_FRAMES_50, NO_FRAMES_49],
        "Hazards-old.txt",
    );
}

#[test]
fn hazards_of_recent_versions() {
    check("Modern.java", &[RECENT, COMPILED], "Modern.txt");
}

/// The JDK's own `Thread`, hooked, tells of an exception that nobody catches.
#[test]
fn the_entry_hook_sees_uncaught_exceptions() {
    for jdk in support::jdks() {
        let dir = fresh_dir(&format!("hook-{}", jdk.feature));
        let (classes, patch) = (dir.join("classes"), dir.join("patch"));
        javac(
            &jdk,
            &patch,
            &["--patch-module", "java.base=."],
            &["HindsightProbe.java"],
        );
        javac(&jdk, &classes, &[], &["Uncaught.java"]);
        let thread = jdk.modules().join("java.base/java/lang/Thread.class");
        let thread = fs::read(thread).expect("Thread can be read");
        let (from, to) = (contract::DISPATCH_UNCAUGHT, contract::UNCAUGHT);
        let target = (contract::PROBE, to.name, to.descriptor);
        let hooked = entry_hook(&thread, from.name, from.descriptor, target)
            .expect("dispatchUncaughtException can be hooked");
        fs::write(patch.join("java/lang/Thread.class"), hooked).expect("it can be written");
        let text = java(&jdk, &patch, &classes, &[], &["Uncaught"]);
        assert_eq!(
            text,
            "\n  uncaught in dying IllegalStateException\nstill here\n"
        );
    }
}

/// A loop of almost 32 KB with handlers in it, whose probes move its end too far
/// for a jump back.
fn big_loop(statements: usize, head: &str, tail: &str) -> String {
    let mut body = String::new();
    for at in 0..statements {
        body.push_str("x += a[1];\n");
        if at % (statements / 10) == 0 {
            body.push_str("try { x += a[x]; } catch (RuntimeException e) { x++; }\n");
        }
    }
    format!(
        "class Big {{ public static Object big() {{ return run(new int[] {{0, 1, 0}}, 0); }}
         static int run(int[] a, int x) {{ {head} {body} {tail} }} }}"
    )
}

fn run_big(jdk: &Jdk, name: &str, source: &str) -> (String, Option<SkipReason>, bool) {
    let dir = fresh_dir(&format!("{name}-{}", jdk.feature));
    let (classes, patch) = (dir.join("classes"), dir.join("patch"));
    let file = dir.join("Big.java");
    fs::write(&file, source).expect("a source can be written");
    javac(
        jdk,
        &patch,
        &["--patch-module", "java.base=."],
        &["HindsightProbe.java"],
    );
    javac(jdk, &classes, &[], &["Driver.java"]);
    run(jdk.tool("javac").arg("-d").arg(&classes).arg(&file));
    let path = classes.join("Big.class");
    let bytes = fs::read(&path).expect("a class can be read");
    let has_goto_w = |bytes: &[u8]| {
        let class = hindsight_classfile::ClassFile::parse(bytes).expect("it can be read");
        class.methods.iter().any(|method| {
            let code = method
                .code(&class.pool)
                .expect("it has code")
                .expect("it has code");
            code.instructions()
                .any(|insn| insn.expect("it is sound").name() == "goto_w")
        })
    };
    assert!(!has_goto_w(&bytes), "the loop is too long from the start");
    let rewritten = instrument(&bytes, Copy::Fields, 0);
    let new = rewritten.class.expect("something is instrumented");
    fs::write(&path, &new).expect("a class can be written");
    let text = java(jdk, &patch, &classes, &[], &["Driver", "Big"]);
    let reason = rewritten
        .skipped
        .iter()
        .find(|skipped| skipped.name == "run");
    (text, reason.map(|skipped| skipped.reason), has_goto_w(&new))
}

#[test]
fn a_jump_beyond_32_kilobytes_is_widened() {
    for jdk in support::jdks() {
        let source = big_loop(
            5428,
            "while (true) { if (x > 20000) { return x / (x - x); }",
            "}",
        );
        let (text, skipped, has_goto_w) = run_big(&jdk, "goto", &source);
        assert_eq!((skipped, has_goto_w), (None, true));
        assert!(text.contains("ArithmeticException: [I 0"), "{text}");
    }
}

/// FIXME: a conditional jump could be widened too, by a jump around a jump.
#[test]
fn a_conditional_jump_beyond_32_kilobytes_leaves_the_method_alone() {
    for jdk in support::jdks() {
        let source = big_loop(5428, "do {", "} while (x < 20000); return x / (x - x);");
        let (text, skipped, _) = run_big(&jdk, "conditional", &source);
        assert_eq!(skipped, Some(SkipReason::BranchTooFar));
        assert!(text.contains("threw ArithmeticException"), "{text}");
    }
}
