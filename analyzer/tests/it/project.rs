//! The Maven project: its pom is a golden file. With `HINDSIGHT_MAVEN` set,
//! Maven (and the network, or its cache) shows the tests red, and green with
//! the fixed program.

use crate::common::*;
use crate::recrash::{RANDOM_CRASH, recording, recording_of};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

#[test]
fn a_maven_project_shows_the_failures() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let classes = compile(dir, &[("RandomCrash.java", RANDOM_CRASH)]);
    recording().write(&dir.join("crash-0001.hsc"));
    let path = |path: &Path| path.display().to_string();
    let (file, classes, out) = (
        path(&dir.join("crash-0001.hsc")),
        path(&classes),
        path(&dir.join("out")),
    );
    let arguments = [
        "junit",
        &file,
        "--classpath",
        &classes,
        "--out",
        &out,
        "--project",
    ];
    let output = hindsight(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let pom = fs::read_to_string(dir.join("out/pom.xml")).unwrap();
    let real = fs::canonicalize(dir).unwrap();
    check_golden("pom.xml", &pom.replace(&path(&real), "DIR"));
    let readme = fs::read_to_string(dir.join("out/README.md")).unwrap();
    assert!(readme.contains("a JDK of version 11 or newer"), "{readme}");
    assert!(dir.join("out/lib/program-1.jar").is_file());
    // Of another crash, whose tests load no state, in the same project; one link leads nowhere.
    let needed = "<artifactId>hindsight-replay</artifactId>";
    let before = fs::read_to_string(dir.join("out/pom.xml")).unwrap();
    let release = "<maven.compiler.release>";
    let newer = before.replace(&format!("{release}11<"), &format!("{release}17<"));
    assert_ne!(newer, before);
    fs::write(dir.join("out/pom.xml"), newer).unwrap();
    fs::write(dir.join("out/lib/hindsight-replay.jar"), b"").unwrap();
    let gone = Path::new(&classes).join("Gone.class");
    std::os::unix::fs::symlink("nowhere", &gone).unwrap();
    let output = hindsight(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for file in [&gone, &dir.join("out/lib/hindsight-replay.jar")] {
        fs::remove_file(file).unwrap();
    }
    let after = fs::read_to_string(dir.join("out/pom.xml")).unwrap();
    assert!(
        after.contains(needed) && after.contains(&format!("{release}17<")),
        "{after}"
    );
    assert!(hindsight(arguments).status.success());

    if std::env::var_os("HINDSIGHT_MAVEN").is_none() {
        // Past the test harness, which keeps what tests print that pass.
        let note = "project: Maven is not run; HINDSIGHT_MAVEN=1 runs it";
        writeln!(std::io::stderr(), "{note}").unwrap();
        return;
    }
    let fixed = RANDOM_CRASH.replace("String result = null", "String result = \"0\"");
    let fixed = compile(&dir.join("fixed"), &[("RandomCrash.java", &fixed)]);
    check_maven(
        &dir.join("out"),
        &[],
        "Tests run: 2, Failures: 0, Errors: 2",
    );
    let property = format!("-Dprogram.classpath={}", fixed.display());
    check_maven(
        &dir.join("out"),
        &[&property],
        "Tests run: 2, Failures: 0, Errors: 1",
    );
}

#[track_caller]
fn check_maven(project: &Path, extra: &[&str], expected: &str) {
    let mut maven = Command::new("mvn");
    maven.args(["-B", "test"]).args(extra).current_dir(project);
    let output = maven.output().unwrap();
    let told = text(&output.stdout);
    assert!(told.contains(expected), "no {expected:?} in:\n{told}");
    assert!(!told.contains("WARN"), "{told}");
}

/// A jar that holds a directory of classes as Spring Boot does.
fn boot_jar(jar: &Path, classes: &Path) {
    let mut zip = zip::ZipWriter::new(fs::File::create(jar).unwrap());
    for file in fs::read_dir(classes).unwrap() {
        let file = file.unwrap();
        let name = format!("BOOT-INF/classes/{}", file.file_name().display());
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(&fs::read(file.path()).unwrap()).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn a_program_that_is_a_jar_with_jars_in_it_can_be_rebuilt_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    let classes = compile(dir, &[("RandomCrash.java", RANDOM_CRASH)]);
    let (crash, jar, out) = (
        dir.join("crash-0001.hsc"),
        dir.join("app.jar"),
        dir.join("out"),
    );
    recording().write(&crash);
    boot_jar(&jar, &classes);
    let cache = dir.join("cache");
    let output = Command::new(env!("CARGO_BIN_EXE_hindsight"))
        .arg("junit")
        .arg(&crash)
        .arg("--classpath")
        .arg(&jar)
        .arg("--out")
        .arg(&out)
        .arg("--project")
        .env("XDG_CACHE_HOME", &cache)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The jar alone is where the program is; the tests are compiled with copies.
    let pom = fs::read_to_string(out.join("pom.xml")).unwrap();
    let program = format!("<program.classpath>{}<", jar.display());
    assert!(pom.contains(&program), "{pom}");
    let run = pom.split("</project>").next().unwrap_or_default();
    let run = &run[run.find("<properties>").unwrap()..];
    assert!(!run.contains(&cache.display().to_string()), "{pom}");
    assert!(out.join("lib/program-2.jar").is_file());
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(readme.contains("those with jars in them"), "{readme}");

    // Where nothing can be kept for the next run, it is unpacked for this one.
    let temporary = dir.join("temporary");
    fs::create_dir(&temporary).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hindsight"))
        .arg("junit")
        .arg(&crash)
        .args(["--no-run", "--classpath"])
        .arg(&jar)
        .arg("--out")
        .arg(dir.join("others"))
        .env("XDG_CACHE_HOME", "/dev/null")
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);

    if std::env::var_os("HINDSIGHT_MAVEN").is_none() {
        return;
    }
    check_maven(&out, &[], "Tests run: 2, Failures: 0, Errors: 2");
    let fixed = RANDOM_CRASH.replace("String result = null", "String result = \"0\"");
    let fixed = compile(&dir.join("fixed"), &[("RandomCrash.java", &fixed)]);
    boot_jar(&jar, &fixed);
    fs::remove_dir_all(&cache).unwrap();
    check_maven(&out, &[], "Tests run: 2, Failures: 0, Errors: 1");
}

#[test]
fn tests_of_two_programs_are_in_one_project() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    let out = dir.join("out");
    let run = |class: &str, more: &[&str]| {
        let own = dir.join(class);
        let source = RANDOM_CRASH.replace("RandomCrash", class);
        let classes = compile(&own, &[(&format!("{class}.java"), &source)]);
        let mut crash = recording_of(class);
        crash.meta.thread = class.to_owned();
        crash.write(&own.join("crash-0001.hsc"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_hindsight"));
        command
            .arg("junit")
            .arg(own.join("crash-0001.hsc"))
            .arg("--classpath")
            .arg(classes)
            .arg("--out")
            .arg(&out)
            .args(["--project", "--no-run"])
            .args(more)
            .output()
            .unwrap()
    };
    let wanted = |output: &std::process::Output| {
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let pom = || fs::read_to_string(out.join("pom.xml")).unwrap();
    let path = |class: &str| dir.join(class).join("classes").display().to_string();
    wanted(&run("RandomCrash", &[]));
    let first = pom();
    wanted(&run("OtherCrash", &[]));
    for expected in [
        format!("      1: {}\n", path("RandomCrash")),
        format!("      2: {}\n", path("OtherCrash")),
        "<program.1>${hindsight.lib}/program-1.jar<".to_owned(),
        "<program.2>${hindsight.lib}/program-2.jar<".to_owned(),
        format!(
            "<program.classpath>{}:{}<",
            path("OtherCrash"),
            path("RandomCrash")
        ),
    ] {
        assert!(pom().contains(&expected), "no {expected:?} in:\n{}", pom());
    }
    // Again, it is as it was; of one whose tests are written anew alone, nothing stays.
    let both = pom();
    wanted(&run("OtherCrash", &[]));
    assert_eq!(pom(), both);
    // Tests of another JUnit cannot be run beside these.
    let output = run("OtherCrash", &["--framework", "junit4"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let expected = "RandomCrashCrash0001Test.java is of a project with JUnit 5, which tests for JUnit 4 do not go \
                    into: choose another --out, or --framework junit5";
    assert!(told.contains(expected), "{told}");
    if std::env::var_os("HINDSIGHT_MAVEN").is_some() {
        check_maven(&out, &[], "Tests run: 4, Failures: 0, Errors: 4");
    }
    fs::remove_file(out.join("src/test/java/OtherCrashCrash0001Test.java")).unwrap();
    wanted(&run("RandomCrash", &[]));
    assert_eq!(pom(), first);
    wanted(&run("RandomCrash", &["--framework", "junit4"]));
    assert!(pom().contains("<artifactId>junit</artifactId>"));
}

#[test]
fn assertions_are_on_for_tests_that_were_tried_with_them_alone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let asserting = RANDOM_CRASH.replace("return s.to", "assert s != \"\"; return s.to");
    let classes = compile(dir, &[("RandomCrash.java", &asserting)]);
    let crashes = dir.join("crashes");
    fs::create_dir_all(&crashes).unwrap();
    recording().write(&crashes.join("crash-0001.hsc"));
    let mut by_assert = recording();
    by_assert.failure.exceptions[0].class = "java.lang.AssertionError".to_owned();
    by_assert.write(&crashes.join("crash-0002.hsc"));
    let out = dir.join("out");
    let output = hindsight([
        "junit".as_ref(),
        crashes.as_os_str(),
        "--classpath".as_ref(),
        classes.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
        "--project".as_ref(),
        "--no-run".as_ref(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |file: &str| fs::read_to_string(out.join(file)).unwrap();
    let pom = read("pom.xml");
    assert!(
        pom.contains("<enableAssertions>false</enableAssertions>"),
        "{pom}"
    );
    let on = "getClassLoader().setDefaultAssertionStatus(true);";
    let source = read("src/test/java/RandomCrashCrash0001Test.java");
    assert!(!source.contains(on), "{source}");
    assert!(
        source.contains("The tests are to run with assertions off."),
        "{source}"
    );
    let source = read("src/test/java/RandomCrashCrash0002Test.java");
    assert!(source.contains(on), "{source}");
}
