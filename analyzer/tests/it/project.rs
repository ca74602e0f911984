//! The Maven project: its pom is a golden file. With `HINDSIGHT_MAVEN` set,
//! Maven (and the network, or its cache) shows the tests red, and green with
//! the fixed program.

use crate::common::*;
use crate::recrash::{RANDOM_CRASH, recording};
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
