//! Compiles the probes (`java-shim/probe`) and lists them for embedding, so
//! that one shared library is all that a user deploys.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../java-shim/probe/src");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=JAVA_HOME");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shim");
    let _ = fs::remove_dir_all(&out);
    let package = sources.join("java/lang");
    let mut files: Vec<PathBuf> = fs::read_dir(&package)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", package.display()))
        .map(|entry| entry.expect("directory entry").path())
        .collect();
    files.sort();

    let javac = env::var_os("JAVA_HOME")
        .map(|home| PathBuf::from(home).join("bin/javac"))
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("javac"));
    // `--release 11` would hide that `java.lang` can be patched, so the level is
    // set by source and target. The probes use nothing newer than Java 11.
    let status = Command::new(&javac)
        .args([
            "-source",
            "11",
            "-target",
            "11",
            "-Xlint:all",
            "-Xlint:-options",
            "-Werror",
            "-g:none",
        ])
        .arg("--patch-module")
        .arg(format!("java.base={}", sources.display()))
        .arg("-d")
        .arg(&out)
        .args(&files)
        .status()
        .unwrap_or_else(|error| {
            panic!(
                "cannot run {}: {error}; install a JDK (17 or newer) or set JAVA_HOME",
                javac.display()
            )
        });
    assert!(
        status.success(),
        "{} failed on the probes in {}",
        javac.display(),
        sources.display()
    );

    let classes = out.join("java/lang");
    let mut names: Vec<String> = fs::read_dir(&classes)
        .expect("javac has made the package's directory")
        .map(|entry| {
            entry
                .expect("directory entry")
                .file_name()
                .into_string()
                .expect("ASCII class name")
        })
        .collect();
    names.sort();
    let mut list = String::from("&[\n");
    for name in &names {
        let class = name.trim_end_matches(".class");
        let path = classes.join(name);
        list.push_str(&format!(
            "    (\"java/lang/{class}\", include_bytes!({path:?}) as &[u8]),\n"
        ));
    }
    list.push_str("]\n");
    fs::write(out.join("classes.rs"), list).expect("OUT_DIR is writable");
}
