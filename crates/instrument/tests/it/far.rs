//! The hazard "jumps beyond 32,767": bodies of almost 32 KB that probes make longer, run by real
//! JVMs with the full verifier.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hindsight_classfile::ClassFile;
use hindsight_instrument::{Copy, SkipReason};

use crate::support;
use crate::workshop::{age, fresh_dir, instrument, java, javac, run};

/// Statements of almost 32 KB, with handlers among them, whose probes make the code longer.
fn statements(count: usize) -> String {
    let mut body = String::new();
    for at in 0..count {
        body.push_str("x += a[1];\n");
        if at % (count / 10) == 0 {
            body.push_str("try { x += a[x]; } catch (RuntimeException e) { x++; }\n");
        }
    }
    body
}

/// A program with one far jump.
struct Far {
    name: &'static str,
    /// The program's members, with a method `run` that takes `{0, 1, 0}` and 0.
    members: String,
    /// The number of `goto_w` that it should get.
    wide: usize,
    /// A part of its expected output.
    printed: &'static str,
}

/// Programs that class files of old versions can hold.
fn old() -> Vec<Far> {
    vec![
        // The jump itself becomes a `goto_w`.
        Far {
            name: "Goto",
            members: format!(
                "static int run(int[] a, int x) {{
                     while (true) {{ if (x > 20000) {{ return x / (x - x); }} {} }} }}",
                statements(5428)
            ),
            wide: 1,
            printed: "ArithmeticException: [I 0",
        },
        // The jump is near the back and leads to the front, so it needs an island.
        Far {
            name: "Back",
            members: format!(
                "static int run(int[] a, int x) {{
                     do {{ {} }} while (x < 20000); return x / (x - x); }}",
                statements(5435)
            ),
            wide: 1,
            printed: "ArithmeticException: [I 0",
        },
        // Two jumps near the front lead to one place: there is an island, and a jump over it to the
        // start.
        Far {
            name: "Ahead",
            members: format!(
                "static int run(int[] a, int x) {{
                     if (x < 5 && a.length > 2) {{ {} a = null; }}
                     return a.length; }}",
                statements(5428)
            ),
            wide: 2,
            printed: "NullPointerException: [I 0",
        },
    ]
}

/// Programs in newer Java, in which objects are under construction where the jump passes.
fn recent() -> Vec<Far> {
    let mut programs = old();
    // The island's frame names the object by the offset of its `new`, which has moved.
    programs.push(Far {
        name: "New",
        members: format!(
            "static class Box {{ int value; Box(int x) {{ value = x / (x - x); }} }}
             static int run(int[] a, int x) {{
                 return new Box(a.length > 2 ? switch (x) {{ default -> {{ {} yield x; }} }} : 1).value;
             }}",
            statements(5420)
        ),
        wide: 2,
        printed: "ArithmeticException: [I 0",
    });
    programs.push(Far {
        name: "This",
        members: format!(
            "static int run(int[] a, int x) {{ new This(a, x); return 1; }}
             This(int[] a, int x) {{
                 this(a.length > 2 ? switch (x) {{ default -> {{ {} yield x; }} }} : 1);
                 throw new IllegalStateException(\"after this\");
             }}
             This(int x) {{ }}",
            statements(5420)
        ),
        wide: 2,
        printed: "IllegalStateException: This [I 0",
    });
    programs
}

/// The number of wide jumps in a class.
pub fn wide_jumps(bytes: &[u8]) -> usize {
    let class = ClassFile::parse(bytes).expect("it can be read");
    let mut count = 0;
    for method in &class.methods {
        if let Some(code) = method.code(&class.pool).expect("it has sound code") {
            let names = code
                .instructions()
                .map(|insn| insn.expect("it is sound").name());
            count += names.filter(|name| *name == "goto_w").count();
        }
    }
    count
}

/// Compiles, instruments and runs programs. `versions` are those that the classes are given; with
/// one, they lose their stack maps.
fn check(programs: &[Far], release: &str, versions: &[Option<u16>]) {
    let jdks = support::jdks();
    let dir = fresh_dir(&format!("far-{release}"));
    let (compiled, patch) = (dir.join("compiled"), dir.join("patch"));
    let patched: &[&str] = &["--patch-module", "java.base=."];
    javac(&jdks[0], &patch, patched, &["HindsightProbe.java"]);
    javac(&jdks[0], &compiled, &[], &["Driver.java"]);
    let file = dir.join("Programs.java");
    let mut source = String::new();
    for Far { name, members, .. } in programs {
        source.push_str(&format!(
            "class {name} {{ {members}
             public static Object call() {{ return run(new int[] {{0, 1, 0}}, 0); }} }}\n"
        ));
    }
    fs::write(&file, source).expect("a source can be written");
    let options = ["-Xlint:-options", "--release", release, "-d"];
    run(jdks[0]
        .tool("javac")
        .args(options)
        .arg(&compiled)
        .arg(&file));

    for &version in versions {
        let classes = fresh_dir(&format!("far-{release}-{}", version.unwrap_or(0)));
        for path in support::class_files(&compiled) {
            let name = path.file_name().expect("a file has a name");
            fs::copy(&path, classes.join(name)).expect("a class can be copied");
        }
        for program in programs {
            instrument_file(&classes, program, version);
        }
        let mut call = vec!["Driver"];
        call.extend(programs.iter().map(|program| program.name));
        for jdk in &jdks {
            let text = java(jdk, &patch, &classes, &[], &call);
            let parts: Vec<_> = text.split("== call").skip(1).collect();
            assert_eq!(parts.len(), programs.len());
            for (part, program) in parts.iter().zip(programs) {
                assert!(part.contains(program.printed), "{}: {part}", program.name);
            }
        }
    }
}

fn instrument_file(classes: &Path, program: &Far, version: Option<u16>) {
    let path = classes.join(program.name).with_extension("class");
    let mut bytes = fs::read(&path).expect("a class can be read");
    if let Some(major) = version {
        bytes = age(&bytes, major, true);
    }
    let rewritten = instrument(&bytes, Copy::Fields, 0);
    let new = rewritten.class.expect("something is instrumented");
    fs::write(&path, &new).expect("a class can be written");
    let left =
        |skipped: &hindsight_instrument::Skipped<'_>| skipped.reason != SkipReason::CannotThrow;
    assert_eq!(rewritten.skipped.iter().find(left), None);
    assert_eq!(wide_jumps(&bytes), 0, "it is too long from the start");
    assert_eq!(wide_jumps(&new), program.wide, "{}", program.name);
}

#[test]
fn far_jumps_with_stack_maps() {
    check(&recent(), "17", &[None]);
}

#[test]
fn far_jumps_without_stack_maps() {
    check(&old(), "8", &[Some(50), Some(49)]);
}

/// HotSpot compiles no method of more than 8,000 bytes. Probes that were not asked for by the
/// method's name make none longer than that.
#[test]
fn what_the_jit_compiles_it_still_compiles() {
    let jdks = support::jdks();
    let dir = fresh_dir("far-compiled");
    let file = dir.join("Near.java");
    // Each statement takes 6 bytes.
    let body = |bytes: usize| "x += a[1];\n".repeat(bytes / 6);
    let source = format!(
        "class Near {{ int one, two, three; long four;
             int fields(int[] a, int x) {{ {} one++; two++; three++; four++; return x; }}
             int hardly(int[] a, int x) {{ {} return x + one; }}
             int asked_Escape(int[] a, int x) {{ {} return x + one; }}
             int larger(int[] a, int x) {{ {} return x + one; }}
             static {{ int[] a = {{0, 1}}; int x = a.length; {} }} }}",
        body(7860),
        body(7986),
        body(7986),
        body(8200),
        body(7980),
    );
    fs::write(&file, source).expect("a source can be written");
    let mut javac = jdks[0].tool("javac");
    run(javac
        .args(["-g:none", "--release", "17", "-d"])
        .arg(&dir)
        .arg(&file));
    let old = fs::read(dir.join("Near.class")).expect("a compiled class");
    let lengths = |bytes: &[u8]| -> BTreeMap<String, usize> {
        let class = ClassFile::parse(bytes).expect("it can be read");
        let methods = class.methods.iter().filter_map(|method| {
            let code = method.code(&class.pool).expect("it has sound code")?;
            Some((
                method.name.to_string_lossy().into_owned(),
                code.bytecode.len(),
            ))
        });
        methods.collect()
    };
    let before = lengths(&old);
    for name in ["fields", "hardly", "asked_Escape", "<clinit>"] {
        assert!((7860..=8000).contains(&before[name]), "{before:?}");
    }
    assert!(before["larger"] > 8000, "{before:?}");
    let rewritten = instrument(&old, Copy::Fields, 0);
    let new = lengths(&rewritten.class.expect("something is instrumented"));
    assert!(
        new["fields"] > before["fields"] && new["fields"] <= 8000,
        "{new:?}"
    );
    assert_eq!(new["hardly"], before["hardly"]);
    for name in ["asked_Escape", "<clinit>", "larger"] {
        assert!(new[name] > 8000 && new[name] > before[name], "{new:?}");
    }
    let left: Vec<_> = (rewritten.skipped.iter())
        .filter(|skipped| skipped.reason == SkipReason::NotCompiled)
        .map(|skipped| skipped.name)
        .collect();
    assert_eq!(left, ["hardly"]);
}
