//! Instrumented programs on real JVMs, with the full verifier: what they hand
//! over, and that they do what they did.

use std::collections::BTreeMap;
use std::fs;

use hindsight_instrument::{Copy, SkipReason, contract, entry_hook};

use crate::support::{self, Jdk};
use crate::workshop::{age, check_golden, fresh_dir, instrument, java, javac, name_ids};

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

    (name_ids(&text, &names), skipped)
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

/// The rows "constructors", "`<clinit>`", "a loop that starts at offset 0",
/// "`Uninitialized(offset)` frames" and "an exception thrown by the handler's own
/// call": methods of `Hazards.java` have their names.
#[test]
fn hazards_with_stack_maps() {
    check(
        "Hazards.java",
        &[RECENT, COMPILED, RELEASE_8, VERSION_50],
        "Hazards.txt",
    );
}

/// The row "old class files without StackMapTable". Without stack maps there is
/// no handler before `super(...)`.
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
