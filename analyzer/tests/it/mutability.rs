//! `hindsight mutability` and `hindsight plan` as commands. Without a JDK's
//! classes, which take their time; the verdicts on annotated programs are in
//! test-programs.

use crate::common::*;
use hindsight_tracelog::plan::Plan;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Fig. 5-1 of Artzi's dissertation.
const FIGURE: &str = include_str!("../../../test-programs/mutability/Figure51.java");

/// A directory that calls itself a JDK and has no classes.
fn no_jdk(dir: &Path) -> String {
    let home = dir.join("jdk");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
    home.display().to_string()
}

fn run<S: AsRef<OsStr>>(arguments: &[S], status: i32) -> (String, String) {
    let output = hindsight(arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{errors}");
    (text(&output.stdout).to_owned(), errors.to_owned())
}

/// Verdicts of Fig. 5-1's parameters by name; `this` left out.
fn verdicts(document: &str) -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["schema"], "hindsight.mutability/1");
    let methods = document["methods"].as_array().unwrap();
    let parameters = methods
        .iter()
        .flat_map(|method| method["parameters"].as_array().unwrap());
    let mut found: Vec<(String, String)> = parameters
        .map(|parameter| {
            (
                parameter["name"].as_str().unwrap().to_owned(),
                parameter["verdict"].as_str().unwrap().to_owned(),
            )
        })
        .filter(|(name, _)| name.starts_with('p'))
        .collect();
    found.sort();
    found
}

#[test]
fn figure_5_1() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().display().to_string();
    let classes = compile(dir.path(), &[("Figure51.java", FIGURE)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = [
        "mutability",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--quiet",
        "--format",
        "json",
    ];
    let expected = |p5: &str| {
        [
            "mutable",
            "mutable",
            "mutable",
            "mutable",
            p5,
            "immutable",
            "immutable",
        ]
        .iter()
        .zip(1..)
        .map(|(verdict, n)| (format!("p{n}"), (*verdict).to_owned()))
        .collect::<Vec<_>>()
    };
    // By the flow of references alone p5 is found out.
    let (found, _) = run(&[&base[..], &["--pipeline", "S'"]].concat(), 0);
    assert_eq!(verdicts(&found), expected("mutable"));
    let (found, _) = run(&[&base[..], &["--pipeline", "S2-P", "--sound"]].concat(), 0);
    assert_eq!(verdicts(&found), expected("mutable"));
    check_golden("mutability.json", &found.replace(&here, "DIR"));
    // S is blind for it, and must not call it immutable; p6 goes to println,
    // of which nothing is known here.
    let (found, _) = run(&[&base[..], &["--pipeline", "S-P"]].concat(), 0);
    assert_eq!(verdicts(&found)[4].1, "unknown");
    // What SH has decided P does not change.
    let (found, _) = run(&[&base[..], &["--pipeline", "SH-P"]].concat(), 0);
    assert_eq!(verdicts(&found), expected("immutable"));
}

#[test]
fn reasons_lead_to_the_write() {
    let dir = tempfile::tempdir().unwrap();
    let classes = compile(dir.path(), &[("Figure51.java", FIGURE)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = [
        "mutability",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--quiet",
    ];
    let (out, _) = run(
        &[&base[..], &["--explain", "Figure51.modifyParam1Indirectly"]].concat(),
        0,
    );
    assert!(
        out.contains("Figure51.java:14 gives it to Figure51.modifyParam1 as p1"),
        "{out}"
    );
    assert!(
        out.contains("Figure51.modifyParam1: Figure51.java:9 writes p1.next"),
        "{out}"
    );
    assert!(
        out.contains("  not pure: p2 is mutable\n1 method (0 pure)"),
        "{out}"
    );
    let (_, errors) = run(&[&base[..], &["--explain", "No.such"]].concat(), 1);
    assert!(errors.contains("no method matches --explain"), "{errors}");
    let (out, _) = run(&[&base[..], &["--format", "csv"]].concat(), 0);
    assert!(
        out.starts_with("class,method,descriptor,index,name,type,verdict,stage,reason,pure\n"),
        "{out}"
    );
    let row = "Figure51,modifyParam1,\"(LC;Z)V\",1,p1,C,mutable,S',Figure51.java:9 writes p1.next,false\n";
    assert!(out.contains(&row.replace('"', "")), "{out}");
    let only = ["--format", "csv", "--explain", "*.modifyParam1"];
    let (out, _) = run(&[&base[..], &only].concat(), 0);
    let mut rows = out.lines().skip(1).peekable();
    assert!(rows.peek().is_some(), "{out}");
    assert!(
        rows.all(|row| row.starts_with("Figure51,modifyParam1,")),
        "{out}"
    );
}

#[test]
fn what_is_no_jdk() {
    let dir = tempfile::tempdir().unwrap();
    let classes = compile(dir.path(), &[("Figure51.java", FIGURE)]);
    let (classes, here) = (classes.display().to_string(), dir.path().display());
    let base = ["mutability", "--classpath", &classes];
    let (_, errors) = run(&[&base[..], &["--jdk", &here.to_string()]].concat(), 1);
    assert!(errors.contains("is not a JDK"), "{errors}");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let classes = compile(dir.path(), &[("Figure51.java", FIGURE)]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_hindsight"))
        .args(["plan", "--format", "json", "--quiet", "--classpath"])
        .arg(&classes)
        .args(["--jdk", &no_jdk(dir.path()), "--out"])
        .arg(dir.path().join("out.plan"))
        .stdout(writer)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_program_with_parts_missing() {
    let dir = tempfile::tempdir().unwrap();
    let sources = [
        (
            "User.java",
            "class User { int v; static void make(User u) { new Gone(u); } \
             static int read(Kept k, User u) { return k.kept + u.v; } }",
        ),
        ("Gone.java", "class Gone { Gone(User u) { u.v = 1; } }"),
        ("Kept.java", "class Kept { int kept; }"),
    ];
    let classes = compile(dir.path(), &sources);
    for gone in ["Gone", "Kept"] {
        fs::remove_file(classes.join(format!("{gone}.class"))).unwrap();
    }
    let broken = dir.path().join("broken.jar").display().to_string();
    fs::write(&broken, "PK").unwrap();
    let path = format!("{broken}:{}:/no/such.jar", classes.display());
    let jdk = no_jdk(dir.path());
    for sound in [&[][..], &["--sound"]] {
        let base = ["mutability", "--classpath", &path, "--jdk", &jdk];
        let (out, errors) = run(&[&base[..], sound].concat(), 0);
        for part in [
            "class Gone is missing",
            "class Kept is missing",
            "broken.jar",
            "/no/such.jar",
        ] {
            assert!(errors.contains(part), "no {part:?} in {errors}");
        }
        let row = out.lines().find(|line| line.contains("Gone.<init>"));
        assert!(row.is_some_and(|row| row.contains("unknown")), "{out}");
    }
}

#[test]
fn what_may_implement_a_method_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let sources = [
        ("Asked.java", "interface Asked { int ask(); int tell(); }"),
        (
            "One.java",
            "class One implements Asked { public int ask() { return 1; } public int tell() { return 1; } }",
        ),
        (
            "Gone.java",
            "class Gone { int asked; public int ask() { return asked++; } }",
        ),
        (
            "Two.java",
            "class Two extends Gone implements Asked { public int tell() { return 2; } }",
        ),
    ];
    let classes = compile(dir.path(), &sources);
    fs::remove_file(classes.join("Gone.class")).unwrap();
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    for sound in [&[][..], &["--sound"]] {
        let base = ["mutability", "--classpath", &classes, "--jdk", &jdk];
        let base = [&base[..], sound, &["--explain"]].concat();
        let (out, _) = run(&[&base[..], &["Asked.ask"]].concat(), 0);
        for part in [
            "the method has no body, and a class is missing that may implement it",
            "whether it is pure is not known: it has no body, and a class is missing",
        ] {
            assert!(out.contains(part), "no {part:?} in {out}");
        }
        let (out, _) = run(&[&base[..], &["Asked.tell"]].concat(), 0);
        assert!(out.contains("Asked.tell()  pure\n"), "{out}");
        assert!(out.contains("2 known methods implement it"), "{out}");
    }
}

/// Of a call that may run many methods verdicts are known, which say nothing of static fields.
#[test]
fn what_one_of_many_methods_changes() {
    let dir = tempfile::tempdir().unwrap();
    let step = |name: &str, run: &str| {
        let body = format!("public void run() {{ {run} }} public int kind() {{ return own; }}");
        let source = format!("class {name} implements Step {{ int own; {body} }}");
        (format!("{name}.java"), source)
    };
    let mut sources: Vec<(String, String)> = (1..=6)
        .map(|number| step(&format!("Idle{number}"), "own++;"))
        .collect();
    sources.push(step("Busy", "Box.held.value = 1;"));
    let names = [
        ("Step.java", "interface Step { void run(); int kind(); }"),
        (
            "Box.java",
            "class Box { static Box held; int value; \
             static void changed(Box b, Step s) { held = b; s.run(); } \
             static int kept(Box b, Step s) { held = b; return s.kind(); } \
             static void nested(Box b) { Box[][] all = new Box[1][1]; all[0][0] = b; change(all[0]); } \
             static void change(Box[] all) { all[0].value = 1; } }",
        ),
    ];
    let sources: Vec<(&str, &str)> = (sources.iter())
        .map(|(name, source)| (&**name, &**source))
        .chain(names)
        .collect();
    let classes = compile(dir.path(), &sources).display().to_string();
    let jdk = no_jdk(dir.path());
    let base = ["mutability", "--classpath", &classes, "--jdk", &jdk];
    let (out, _) = run(&[&base[..], &["--sound", "--format", "csv"]].concat(), 0);
    let verdict = |method: &str| {
        let start = format!("Box,{method},");
        let mut rows = out.lines().filter(|row| row.starts_with(&start));
        let row = rows
            .find(|row| row.contains(",0,b,Box,"))
            .unwrap_or_else(|| panic!("{out}"));
        row.split(",Box,")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(verdict("changed"), "unknown", "{out}");
    assert_eq!(verdict("kept"), "immutable", "{out}");
    assert_eq!(verdict("nested"), "mutable", "{out}");
}

#[test]
fn what_a_newer_java_means_is_not_guessed() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class Newer { int v; static int read(Newer n) { return n.v; } }";
    let user =
        "class User { static int use(Newer n) { return Newer.read(n); } int own() { return 1; } }";
    let sources = [("Newer.java", source), ("User.java", user)];
    let classes = compile(dir.path(), &sources);
    let newer = classes.join("Newer.class");
    let mut bytes = fs::read(&newer).unwrap();
    bytes[6..8].copy_from_slice(&70_u16.to_be_bytes());
    fs::write(&newer, bytes).unwrap();
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    for sound in [&[][..], &["--sound"]] {
        let base = ["mutability", "--classpath", &classes, "--jdk", &jdk];
        let base = [&base[..], sound].concat();
        let (out, errors) = run(&base, 0);
        assert!(
            errors.contains("Newer.class: of a Java newer than 25"),
            "{errors}"
        );
        let verdict = |method: &str| {
            let mut lines = out.lines().skip_while(|line| !line.starts_with(method));
            lines
                .nth(1)
                .unwrap_or_else(|| panic!("{method}: {out}"))
                .to_owned()
        };
        for method in ["Newer.read", "User.use"] {
            assert!(verdict(method).contains("unknown"), "{out}");
        }
        assert!(verdict("User.own").contains("immutable"), "{out}");
        let (out, _) = run(&[&base[..], &["--explain", "Newer.read"]].concat(), 0);
        assert!(out.contains("newer than 25"), "{out}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let classes = compile(dir.path(), &[("Figure51.java", FIGURE)]);
    fs::write(classes.join("Broken.class"), b"\xca\xfe\xba\xbe no").unwrap();
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = ["mutability", "--classpath", &classes, "--jdk", &jdk];
    let figure = dir.path().join("Figure51.java").display().to_string();
    fs::write(&figure, FIGURE).unwrap();
    let (_, errors) = run(&base, 0);
    for part in [
        "Broken.class",
        "class java.lang.Object is missing",
        "has no lib/modules and no rt.jar",
    ] {
        assert!(errors.contains(part), "no {part:?} in {errors}");
    }
    for (arguments, status, part) in [
        (
            &["--pipeline", "S-P-DBC-P"][..],
            2,
            "stage DBC of --pipeline S-P-DBC-P needs a recorded run",
        ),
        (&["--pipeline", "S-P-DRBC-P"], 1, "jdk has no bin/java"),
        (&["--pipeline", "S-X", "--trace", "."], 1, "no trace in ."),
        (&["--pipeline", "S-P", "--trace", "."], 2, "of no use"),
        (
            &["--pipeline", "SH-P", "--sound"],
            2,
            "guesses what is immutable",
        ),
        (
            &["--pipeline", "S-P", "--transitive"],
            2,
            "--transitive needs S'",
        ),
        (&["--save-evidence", "x.json"], 2, "nothing to save"),
        (&["--evidence", "/no/such.json"], 1, "/no/such.json"),
        (&["--evidence", &figure], 1, "not a file of evidence"),
        (&["--pipeline", "Q"], 2, "no stage"),
        (&["--pipeline", "P"], 2, "put one of them before it"),
    ] {
        let (_, errors) = run(&[&base[..], arguments].concat(), status);
        assert!(errors.contains(part), "no {part:?} in {errors}");
    }
    let (_, errors) = run(
        &["mutability", "--classpath", "/no/such.jar", "--jdk", &jdk],
        1,
    );
    assert!(errors.contains("/no/such.jar"), "{errors}");
    // Before all the work is done.
    let unwritable = dir.path().to_str().unwrap();
    let arguments = ["mutability", "--classpath", "/no/such.jar", "--trace", "."];
    let (_, errors) = run(
        &[&arguments[..], &["--save-evidence", unwritable]].concat(),
        1,
    );
    assert!(errors.contains("it is a directory"), "{errors}");
}

/// The JDK is that of `--jdk`, else that of `JAVA_HOME`, else that of the first `java` on the path.
#[test]
fn the_jdk_is_that_which_was_named_first() {
    let dir = tempfile::tempdir().unwrap();
    let classes = compile(dir.path(), &[("Figure51.java", FIGURE)]);
    let home = |name: &str| {
        let home = no_jdk(&dir.path().join(name));
        let java = Path::new(&home).join("bin/java");
        fs::create_dir(java.parent().unwrap()).unwrap();
        fs::write(&java, "").unwrap();
        home
    };
    let (named, set) = (home("named"), home("set"));
    let path = [home("first"), home("second")].map(|home| Path::new(&home).join("bin"));
    let none = dir.path().join("none");
    let told = |jdk: Option<&str>, java_home: Option<&str>, path: &OsStr| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hindsight"));
        command.args(["mutability", "--classpath"]).arg(&classes);
        command.args(jdk.iter().flat_map(|home| ["--jdk", home]));
        command.env_remove("JAVA_HOME").env("PATH", path);
        command.envs(java_home.map(|home| ("JAVA_HOME", home)));
        text(&command.output().unwrap().stderr)
    };
    let path = std::env::join_paths([&none, &path[0], &path[1]]).unwrap();
    for (jdk, java_home, expected) in [
        (Some(named.as_str()), Some(set.as_str()), "named"),
        (None, Some(&set), "set"),
        // Set, and empty.
        (None, Some(""), "first"),
        (None, None, "first"),
    ] {
        let errors = told(jdk, java_home, &path);
        let expected = format!(
            "{}/jdk has no lib/modules",
            dir.path().join(expected).display()
        );
        assert!(errors.contains(&expected), "{expected}: {errors}");
    }
    let errors = told(None, None, none.as_os_str());
    assert!(errors.contains("no JDK found: set JAVA_HOME"), "{errors}");
}

#[test]
fn what_escapes_may_change_later() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class A { int x; A next; static A kept; static int read(A a) { return a.x; }
        static A give(A b) { return b; } static void keep(A c) { kept = c; }
        static void link(A d, A e) { d.next = e; } static void deep(A f) { kept = f.next; }
        static void fail(RuntimeException g) { throw g; } }";
    let classes = compile(dir.path(), &[("A.java", source)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = [
        "mutability",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--quiet",
    ];
    let verdict = |document: &str, name: &str| {
        let document: Value = serde_json::from_str(document).unwrap();
        let methods = document["methods"].as_array().unwrap();
        let mut parameters = methods
            .iter()
            .flat_map(|method| method["parameters"].as_array().unwrap());
        let found = parameters
            .find(|parameter| parameter["name"] == name)
            .unwrap();
        found["verdict"].as_str().unwrap().to_owned()
    };
    let (during, _) = run(&[&base[..], &["--format", "json"]].concat(), 0);
    let (later, _) = run(
        &[&base[..], &["--format", "json", "--transitive"]].concat(),
        0,
    );
    for (name, then) in [
        ("a", "immutable"),
        ("b", "unknown"),
        ("c", "unknown"),
        ("e", "unknown"),
        ("f", "unknown"),
        ("g", "unknown"),
    ] {
        assert_eq!(verdict(&during, name), "immutable", "{name}");
        assert_eq!(verdict(&later, name), then, "{name}");
    }
    assert_eq!(verdict(&later, "d"), "mutable");
    let (out, _) = run(
        &[&base[..], &["--transitive", "--explain", "A.keep"]].concat(),
        0,
    );
    assert!(out.contains("it is returned, thrown or kept"), "{out}");
}

#[test]
fn evidence_against_a_proof_is_a_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class A { int x; static int read(A a) { return a.x; } }";
    let classes = compile(dir.path(), &[("A.java", source)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let file = dir.path().join("evidence.json");
    let evidence = |sha256: &str| {
        let witness =
            r#"{"class":"A","method":"read","descriptor":"(LA;)I","pc":null,"what":"A.x"}"#;
        let parameter = format!(
            r#"{{"index":0,"exact":{witness},"later":null,"reached":null,"aliased":null,"passed":[]}}"#
        );
        let method = format!(
            r#"{{"method":"read","descriptor":"(LA;)I","calls":1,"seen":[],"parameters":[{parameter}]}}"#
        );
        let text = format!(
            r#"{{"schema":"hindsight.evidence/1","classes":[{{"class":"A","sha256":"{sha256}","methods":[{method}]}}]}}"#
        );
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let base = [
        "mutability",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--evidence",
    ];
    // What was seen counts,
    let known = evidence("");
    let (out, _) = run(&[&base[..], &[known.as_str(), "--quiet"]].concat(), 0);
    assert!(
        out.contains("X   a recorded run shows A.read write A.x of what it leads to"),
        "{out}"
    );
    // unless there is a proof,
    let (_, errors) = run(
        &[&base[..], &[known.as_str(), "--sound", "--quiet"]].concat(),
        1,
    );
    assert!(
        errors.contains(
            "A.read(A): a was proved to be immutable, but a recorded run shows A.read write A.x"
        ),
        "{errors}"
    );
    // or it was seen of another version.
    let other = evidence("00");
    let (out, errors) = run(&[&base[..], &[other.as_str(), "--sound"]].concat(), 0);
    assert!(
        errors.contains("class A is another version than that of the evidence"),
        "{errors}"
    );
    assert!(out.contains("immutable  S'"), "{out}");
}

#[test]
fn a_jdk_of_jars() {
    let dir = tempfile::tempdir().unwrap();
    // Enough of a JDK before 9: its java.lang has a class of its own.
    let (name, widget) = (
        "java/lang/Widget.java",
        "package java.lang; public class Widget { int x; public int get() { return x; }
         public void set() { x = 1; } }",
    );
    let patch = dir.path().join("patch");
    fs::create_dir_all(patch.join("java/lang")).unwrap();
    fs::write(patch.join(name), widget).unwrap();
    let out = dir.path().join("boot");
    let javac = |arguments: &[&str]| {
        let output = java_tool("javac").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let (patched, boot) = (patch.display().to_string(), out.display().to_string());
    let widget = patch.join(name).display().to_string();
    javac(&[
        "--patch-module",
        &format!("java.base={patched}"),
        "-d",
        &boot,
        &widget,
    ]);
    let source = dir.path().join("A.java");
    fs::write(
        &source,
        "class A { static void change(Widget a) { a.set(); } static int look(Widget b) { return b.get(); } }",
    )
    .unwrap();
    let classes = dir.path().join("classes").display().to_string();
    javac(&[
        "--patch-module",
        &format!("java.base={boot}"),
        "-g",
        "-d",
        &classes,
        &source.display().to_string(),
    ]);
    let home = dir.path().join("old-jdk");
    fs::create_dir_all(home.join("jre/lib")).unwrap();
    fs::write(home.join("release"), "JAVA_VERSION=\"1.8.0_452\"\n").unwrap();
    let jar = fs::File::create(home.join("jre/lib/rt.jar")).unwrap();
    let mut jar = zip::ZipWriter::new(jar);
    jar.start_file(
        "java/lang/Widget.class",
        zip::write::SimpleFileOptions::default(),
    )
    .unwrap();
    std::io::Write::write_all(
        &mut jar,
        &fs::read(out.join("java/lang/Widget.class")).unwrap(),
    )
    .unwrap();
    jar.finish().unwrap();
    let jdk = home.display().to_string();
    let base = [
        "mutability",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--no-cache",
        "--quiet",
    ];
    let (found, _) = run(&[&base[..], &["--format", "csv"]].concat(), 0);
    assert!(found.contains(",0,a,java.lang.Widget,mutable"), "{found}");
    assert!(found.contains(",0,b,java.lang.Widget,immutable"), "{found}");
}

#[test]
fn libraries_are_judged_once() {
    let dir = tempfile::tempdir().unwrap();
    let lib =
        |body: &str| format!("class Lib {{ static int asks(Box b) {{ {body} return b.v; }} }}");
    let user = "class User { static int uses(Box b) { return Lib.asks(b); } }";
    let compile_with = |body: &str| {
        let lib = lib(body);
        let sources = [
            ("Box.java", "class Box { int v; }"),
            ("Lib.java", &lib),
            ("User.java", user),
        ];
        let classes = compile(dir.path(), &sources);
        let libraries = dir.path().join("libraries");
        fs::create_dir_all(&libraries).unwrap();
        for class in ["Box.class", "Lib.class"] {
            fs::rename(classes.join(class), libraries.join(class)).unwrap();
        }
        (classes, libraries)
    };
    let (classes, libraries) = compile_with("");
    let (jdk, cache) = (no_jdk(dir.path()), dir.path().join("cache"));
    let judged = |sound: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_hindsight"))
            .args(["mutability", "--jdk", &jdk, "--classpath"])
            .arg(&classes)
            .arg("--libraries")
            .arg(&libraries)
            .args(sound)
            .env("XDG_CACHE_HOME", &cache)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(
            !text(&output.stderr).contains("Lib is missing"),
            "{}",
            text(&output.stderr)
        );
        let out = text(&output.stdout);
        assert!(!out.contains("Lib.asks("), "{out}");
        let mut lines = out
            .lines()
            .skip_while(|line| !line.starts_with("User.uses"));
        lines
            .nth(1)
            .unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .to_owned()
    };
    let kept = || {
        let mut files: Vec<_> = fs::read_dir(cache.join("hindsight"))
            .unwrap()
            .map(|file| file.unwrap())
            .map(|file| (file.path(), file.metadata().unwrap().modified().unwrap()))
            .collect();
        files.sort();
        files
    };
    assert_eq!(judged(&[]), "immutable");
    let first = kept();
    assert_eq!(first.len(), 1);
    assert_eq!(judged(&[]), "immutable");
    assert_eq!(kept(), first);
    // Proofs are kept for themselves; and another library is another one, wherever it lies.
    assert_eq!(judged(&["--sound"]), "immutable");
    assert_eq!(kept().len(), 2);
    compile_with("b.v = 1;");
    assert_eq!(judged(&[]), "mutable");
    assert_eq!(kept().len(), 3);
    // One that is not there is told, as on the class path.
    let missing = [
        "mutability",
        "--jdk",
        &jdk,
        "--classpath",
        classes.to_str().unwrap(),
    ];
    let (_, errors) = run(
        &[&missing[..], &["--libraries", "/no/such.jar"]].concat(),
        1,
    );
    assert!(errors.contains("/no/such.jar"), "{errors}");
}

#[test]
fn purity_for_other_tools() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class A { int x; static int n; public final strictfp int get(int[] of) throws java.io.IOException { return x; }
        void set() { x = 1; } static void count() { n++; } }";
    let classes = compile(dir.path(), &[("A.java", source)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = [
        "mutability",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--quiet",
        "--format",
    ];
    assert_eq!(
        run(&[&base[..], &["randoop"]].concat(), 0).0,
        "A.get(int[])\n"
    );
    assert_eq!(
        run(&[&base[..], &["chicory"]].concat(), 0).0,
        "public final strictfp int A.get(int[]) throws java.io.IOException\n"
    );
}

#[test]
fn purity_of_what_has_no_body() {
    let dir = tempfile::tempdir().unwrap();
    let source = "abstract class A { int x; static int n; abstract int get(); abstract int count(); abstract int any();
        abstract void set(); static class B extends A { int get() { return x; } int count() { return n++; }
        native int any(); void set() { x = 1; } } interface C { int get(); } }";
    let classes = compile(dir.path(), &[("A.java", source)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = ["mutability", "--classpath", &classes, "--jdk", &jdk];
    let base = [&base[..], &["--quiet", "--classes", "A"]].concat();
    for sound in [&[][..], &["--sound"]] {
        let base = [&base[..], sound].concat();
        let (out, _) = run(&[&base[..], &["--format", "chicory"]].concat(), 0);
        assert_eq!(out, "abstract int A.get()\n");
        let (out, _) = run(&[&base[..], &["--explain", "A.count"]].concat(), 0);
        let why = "not pure: A$B.count implements it, and is not pure";
        assert!(out.contains(why), "{out}");
    }
}

/// What nothing in sight implements does who knows what.
#[test]
fn calls_of_what_has_no_body_in_sight_are_not_pure() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class A { interface Open { int run(int[] of); } interface Known { int run(int[] of); }
        static class Only implements Known { public int run(int[] of) { return of[0]; } }
        interface Asked { int run(int[] of); } @interface Note { int run(); }
        static Asked lambda() { return of -> of[0]; }
        static int open(Open o, int[] of) { return o.run(of); } static int known(Known k, int[] of) { return k.run(of); }
        static int asked(Asked a, int[] of) { return a.run(of); } static int note(Note n) { return n.run(); } }";
    let classes = compile(dir.path(), &[("A.java", source)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let base = ["mutability", "--classpath", &classes, "--jdk", &jdk];
    let base = [&base[..], &["--quiet", "--classes", "A"]].concat();
    for sound in [&[][..], &["--sound"]] {
        let base = [&base[..], sound].concat();
        let (pure, _) = run(&[&base[..], &["--format", "randoop"]].concat(), 0);
        assert!(!pure.contains("A.open("), "{pure}");
        for name in ["A.known(", "A.asked(", "A.note("] {
            assert!(pure.contains(name), "{name}: {pure}");
        }
        let (why, _) = run(&[&base[..], &["--explain", "A.open"]].concat(), 0);
        assert!(why.contains("unknown"), "{why}");
    }
    let steps = ["--pipeline", "SH-P", "--explain", "A.open"];
    let (why, _) = run(&[&base[..], &steps].concat(), 0);
    assert!(
        why.contains("it goes to A$Open.run, which nothing in sight implements"),
        "{why}"
    );
}

#[test]
fn plans() {
    let dir = tempfile::tempdir().unwrap();
    let source = "class A { int x; int y; A next; static int count; int get() { return x; } int counted() { return count; }
        void both() { x = x + y; } void calls() { both(); } static void deep(A a) { a.next.x = 1; }
        static int none(int n) { return n + 1; } }";
    let classes = compile(dir.path(), &[("A.java", source)]);
    let (classes, jdk) = (classes.display().to_string(), no_jdk(dir.path()));
    let file = dir.path().join("a.plan");
    let out = file.display().to_string();
    run(
        &[
            "plan",
            "--classpath",
            &classes,
            "--jdk",
            &jdk,
            "--quiet",
            "--out",
            &out,
        ],
        0,
    );
    let plan = Plan::decode(&fs::read(&file).unwrap()).unwrap();
    let class = plan.class("A").unwrap();
    let method = |name: &str| {
        class
            .methods
            .iter()
            .find(|method| method.name == name)
            .unwrap()
    };
    let fields = |name: &str| -> Vec<&str> {
        method(name).parameters[0]
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect()
    };
    assert!(method("get").parameters[0].immutable && method("get").trivial);
    assert_eq!(fields("both"), ["x"]);
    assert_eq!(fields("calls"), ["x"]);
    assert!(!method("both").parameters[0].deep && method("both").cannot_throw);
    assert!(!method("calls").cannot_throw);
    assert!(method("deep").parameters[0].deep && fields("deep").is_empty());
    assert!(method("none").trivial && method("none").parameters.is_empty());
    let json = [
        "plan",
        "--classpath",
        &classes,
        "--jdk",
        &jdk,
        "--quiet",
        "--out",
        &out,
        "--format",
        "json",
    ];
    let document: Value = serde_json::from_str(&run(&json, 0).0).unwrap();
    assert_eq!(document["schema"], "hindsight.plan/1");
    let of = serde_json::json!([{ "class": "A", "crc": class.crc }]);
    assert_eq!(document["classes"], of);
    let methods = document["methods"].as_array().unwrap();
    let row = |name: &str| methods.iter().find(|row| row["method"] == name).unwrap();
    assert_eq!(row("counted")["statics"], serde_json::json!(["A.count"]));
    assert_eq!(row("none")["statics"], serde_json::json!([]));
    // That it cannot be written shows before the class path is read.
    let within = file.join("x").display().to_string();
    let nowhere = ["plan", "--classpath", "/no/such.jar", "--out", &within];
    let error = run(&nowhere, 1).1;
    assert!(error.contains("a.plan is no directory"), "{error}");
}
