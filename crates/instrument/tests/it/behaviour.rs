//! Runs instrumented programs on real JVMs, with the full verifier: tests what they hand over, and
//! that they still do the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hindsight_instrument::{Copy, SkipReason, contract, entry_hook};

use crate::support::{self, Jdk};
use crate::workshop::{age, check_golden, fresh_dir, instrument, java, javac, name_ids};

/// Options of the compiler, and what is done to its classes.
struct Variant {
    name: &'static str,
    release: &'static str,
    /// A version that the classes are given instead of their own, and whether their stack maps are
    /// removed.
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
/// The variant in which the program is compiled at its first calls.
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

/// What the variants of a program on one JDK share.
struct Bench<'j> {
    jdk: &'j Jdk,
    dir: PathBuf,
}

impl<'j> Bench<'j> {
    /// Compiles the probes and the driver.
    fn new(jdk: &'j Jdk, name: &str) -> Self {
        let dir = fresh_dir(&format!("{name}-{}", jdk.feature));
        let bench = Self { jdk, dir };
        let probes = ["--patch-module", "java.base=."];
        javac(jdk, &bench.patch(), &probes, &["HindsightProbe.java"]);
        javac(jdk, &bench.dir.join("driver"), &[], &["Driver.java"]);
        bench
    }

    /// The directory of the probes.
    fn patch(&self) -> PathBuf {
        self.dir.join("patch")
    }

    /// The classes of a program, as the compiler makes them for a release.
    fn compiled(&self, program: &str, release: &str) -> PathBuf {
        let classes = self.dir.join(format!("compiled-{release}"));
        if !classes.exists() {
            let options = ["-g", "-Xlint:-options", "--release", release];
            javac(self.jdk, &classes, &options, &[program]);
        }
        classes
    }

    /// Instruments and runs a program. Returns its output, with ids replaced by names, and the
    /// methods that were left out.
    fn output(&self, program: &str, variant: &Variant) -> (String, BTreeMap<String, SkipReason>) {
        let compiled = self.compiled(program, variant.release);
        let classes = self.dir.join(variant.name);
        let mut names = Vec::new();
        let mut skipped = BTreeMap::new();
        for path in support::class_files(&compiled) {
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
                // Compilers number lambdas differently.
                let counted = method.name.starts_with("lambda$");
                let name = method
                    .name
                    .trim_end_matches(|c: char| counted && c.is_ascii_digit());
                format!("{class}.{name}")
            }));
            for method in rewritten.skipped.iter() {
                skipped.insert(format!("{class}.{}", method.name), method.reason);
            }
            let place = path.strip_prefix(&compiled).expect("it lies below");
            let to = classes.join(place);
            fs::create_dir_all(to.parent().expect("it lies below")).expect("a directory");
            fs::write(to, rewritten.class.unwrap_or(bytes)).expect("a class can be written");
        }
        let path = std::env::join_paths([classes, self.dir.join("driver")]).expect("two paths");
        let main = ["Driver", program.trim_end_matches(".java")];
        let text = java(
            self.jdk,
            &self.patch(),
            Path::new(&path),
            variant.java,
            &main,
        );

        (name_ids(&text, &names), skipped)
    }
}

fn check(program: &str, variants: &[Variant], golden: &str) {
    for jdk in support::jdks() {
        let bench = Bench::new(&jdk, golden.trim_end_matches(".txt"));
        for variant in variants {
            println!("{program} on {} as {}", jdk.feature, variant.name);
            let (text, skipped) = bench.output(program, variant);
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

/// The JDK's own `Thread`, once hooked, reports an exception that nothing catches.
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
