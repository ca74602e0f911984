//! Threads of native code: the probes run without a Java frame below them, on threads that attach
//! and detach.

use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{Jdk, Workplace, both, jdks, render, root, text};
use hindsight_tracelog::trace::kind::Kind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const THREADS: u32 = 200;
/// The number of calls: two thirds of the threads call once, one third twice.
const CALLS: u32 = THREADS + THREADS.div_ceil(3);

/// The number of calls that fail.
fn failures() -> usize {
    let both = |number: u32| {
        [
            Some(number),
            number.is_multiple_of(3).then_some(number + 1000),
        ]
    };
    let numbers = (0..THREADS).flat_map(both).flatten();
    numbers.filter(|number| number % 10 == 9).count()
}

/// The library of `native/`, compiled against the headers of a JDK.
fn library(workplace: &Workplace, jdk: &Jdk) -> PathBuf {
    let library = workplace.join("libattached.so");
    let include = jdk.home.join("include");
    let output = Command::new("cc")
        .args(["-shared", "-fPIC", "-pthread", "-I"])
        .arg(&include)
        .arg("-I")
        .arg(include.join("linux"))
        .arg("-o")
        .arg(&library)
        .arg(root().join("test-programs/native/attached.c"))
        .output()
        .expect("a C compiler (cc) is needed for this test");
    assert!(output.status.success(), "{}", both(&output));
    library
}

fn run(mut command: Command, classes: &Path, library: &Path) -> Output {
    let output = command
        .args(["-Xcheck:jni", "--enable-native-access=ALL-UNNAMED"])
        .arg("-cp")
        .arg(classes)
        .arg("Attached")
        .arg(library)
        .arg(THREADS.to_string())
        .output()
        .expect("java runs");
    assert_eq!(
        text(&output.stdout),
        format!("well\n{CALLS} calls, {} failed\n", failures()),
        "{}",
        both(&output)
    );
    assert_eq!(text(&output.stderr), "");
    output
}

/// Hazard: the shim is called on a thread that is being attached, detached or has no Java frame
/// yet.
#[test]
fn threads_of_native_code_are_recorded() {
    for jdk in jdks() {
        let workplace = Workplace::new("native");
        let source = root().join("test-programs/native/Attached.java");
        let classes = workplace.compile(jdk, &["--release", "17"], &[source]);
        let library = library(&workplace, jdk);
        run(jdk.java(), &classes, &library);
        for copy in ["fields", "deep"] {
            let command = workplace.java_with_agent(jdk, &format!("copy={copy}"));
            run(command, &classes, &library);
            let crashes = workplace.crashes();
            assert_eq!(crashes.len(), 1, "copy={copy} on JDK {}", jdk.version);
            let told = render(&crashes[0]);
            let [first, check, work] = told.lines().collect::<Vec<_>>()[..] else {
                panic!("copy={copy} on JDK {}: {told}", jdk.version);
            };
            let number: u32 = (first.split(['-', ',']).nth(1).and_then(|n| n.parse().ok()))
                .unwrap_or_else(|| panic!("{first}"));
            let one = |called| {
                check.ends_with(&format!("number={called} text=\"number {called}\""))
                    && work.ends_with(&format!("Attached.work:12 number={called}"))
            };
            assert!(one(number) || one(number + 1000), "{told}");
            let run = workplace.run_json();
            assert_eq!(run["crashes"].as_array().map(Vec::len), Some(1), "{run}");
            std::fs::remove_dir_all(workplace.join("out")).unwrap();
        }
        let command = workplace.java_with_agent(jdk, "mode=trace");
        run(command, &classes, &library);
        // Each attachment is a thread, with all that it did and its end.
        let mut threads: BTreeMap<u64, (u32, u32, bool)> = BTreeMap::new();
        for_each(&open(&workplace), |event| {
            let (entered, thrown, ended) = threads.entry(event.thread).or_default();
            match event.kind() {
                Kind::Enter => *entered += 1,
                Kind::Unwind => *thrown += 1,
                Kind::End => *ended = true,
                _ => {}
            }
        });
        threads.pop_first(); // that of `main`, which has the smallest number
        let of = |kind: (u32, u32, bool)| threads.values().filter(|one| **one == kind).count();
        // A failing call leaves two methods, and is counted by a lambda.
        let failed = of((3, 2, true));
        assert_eq!(of((2, 0, true)) + failed, CALLS as usize, "{threads:?}");
        assert_eq!(failed, failures(), "{threads:?}");
    }
}

/// An exception that a call from native code throws by way of a method handle (JEP 454) ends the
/// JVM, although no thread dies of it.
#[test]
fn what_ends_the_jvm_in_a_call_from_native_code_is_recorded() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 22) {
        let workplace = Workplace::new("upcall");
        let source = root().join("test-programs/native/Upcall.java");
        let release = jdk.version.to_string();
        let classes = workplace.compile(jdk, &["--release", &release], &[source]);
        let run = |mut command: Command| {
            let command = command.args(["--enable-native-access=ALL-UNNAMED", "-cp"]);
            let output = command.arg(&classes).arg("Upcall").output();
            output.expect("java runs")
        };
        let plain = run(jdk.java());
        let output = run(workplace.java_with_agent(jdk, ""));
        assert_eq!(output.status.code(), plain.status.code());
        assert_eq!(text(&output.stdout), text(&plain.stdout));
        assert_eq!(text(&output.stderr), text(&plain.stderr));
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1, "{}", both(&output));
        let told = render(&crashes[0]);
        assert!(told.contains("Upcall.key:17 value=3 base=3"), "{told}");
        assert!(told.contains("Upcall.main:"), "{told}");
    }
}

const POINTER: &str = "
package com.sun.jna;

class Pointer {
    protected long peer = 0x7f00dead0000L;

    static class Memory extends Pointer {
        long size = 8;
    }

    static int read(Pointer from, int at) {
        throw new IllegalStateException(\"at \" + at);
    }

    public static void main(String[] args) {
        read(new Memory(), 3);
    }
}
";

/// Checks that of a failing program, nothing is recorded of an object with an address, which would
/// be invalid in another JVM.
#[track_caller]
fn address_is_a_hole(program: (&str, &str), field: &str) {
    for jdk in jdks() {
        let workplace = Workplace::new("address");
        let (_, output) = workplace.run_text(jdk, "17", "", program);
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1, "{}", both(&output));
        let told = render(&crashes[0]);
        assert!(told.contains("memory outside the heap"), "{told}");
        assert!(!told.contains(field), "{told}");
    }
}

#[test]
fn addresses_of_jna_are_holes() {
    address_is_a_hole(("com.sun.jna.Pointer", POINTER), "peer");
}

/// The surface on which a picture is drawn, with the address of its points.
const SURFACE: &str = r#"import java.awt.Graphics2D;
import java.awt.image.BufferedImage;

public class Paint {
    static void paint(Graphics2D graphics, int value) {
        int width = 100 / value;
        graphics.fillRect(0, 0, width, width);
    }

    public static void main(String[] arguments) {
        System.setProperty("java.awt.headless", "true");
        BufferedImage image = new BufferedImage(20, 20, BufferedImage.TYPE_INT_ARGB);
        Graphics2D graphics = image.createGraphics();
        paint(graphics, 10);
        paint(graphics, 0);
    }
}
"#;

/// The fixed program draws: a stale value that native code took for an address would end the JVM of
/// all tests.
#[test]
fn addresses_of_surfaces_are_holes() {
    address_is_a_hole(("Paint", SURFACE), "pData");
}

const OWN: &str = r#"
public class Codec {
    static abstract class Owner {
        protected final long nativeHandle_ = 0x7f00dead0000L;
    }

    static class Level extends Owner {
        int level = 3;
        static native long open(int level);
    }

    /// No address: nobody else knows what to make of it.
    static class Counter {
        long handled = 17;
    }

    static int encode(Level level, Counter counter, byte[] data) {
        return data[data.length + level.level];
    }

    public static void main(String[] arguments) {
        encode(new Level(), new Counter(), new byte[4]);
    }
}
"#;

/// Other libraries keep addresses, too: classes with native methods do, in fields with telling
/// names.
#[test]
fn addresses_of_other_libraries_are_holes() {
    address_is_a_hole(("Codec", OWN), "nativeHandle_");
    let workplace = Workplace::new("no-address");
    workplace.run_text(&jdks()[0], "17", "", ("Codec", OWN));
    let told = render(&workplace.crashes()[0]);
    assert!(told.contains("handled=17"), "{told}");
}
