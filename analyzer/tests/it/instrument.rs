//! `hindsight instrument`: jars that are carried over whole, and run.

use crate::common::*;
use crate::support::{Jdk, jdks};
use crate::zips::{Part, archive, part, stored};
use hindsight_analyzer::archive::read::{Directory, Source};
use hindsight_analyzer::archive::{Entry, STORED};
use serde_json::Value as Json;
use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program whose exceptions pass through rewritten methods, with a class that
/// has versions and one in a jar in its jar.
const MAIN: &str = r#"package app;

import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.*;
import java.util.function.Supplier;

public class Main {
    static int depth(int n, String text) {
        return n == 0 ? text.length() : depth(n - 1, text);
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        try {
            depth(3, null);
        } catch (NullPointerException e) {
            System.out.println("caught " + e.getStackTrace()[0].getMethodName());
        }
        System.out.println(Version.text(1));
        Path copy = Files.createTempFile("inner", ".jar");
        try (InputStream in = Main.class.getResourceAsStream("/lib/inner.jar")) {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
        }
        try (URLClassLoader loader = new URLClassLoader(new URL[] {copy.toUri().toURL()})) {
            Supplier<String> inner =
                    (Supplier<String>) loader.loadClass("inner.Inner").getConstructor().newInstance();
            System.out.println(inner.get());
        }
        Files.delete(copy);
    }
}
"#;

const VERSION: &str = r#"package app;

class Version {
    static String text(int divisor) { return "N " + 10 / divisor; }
}
"#;

const INNER: &str = r#"package inner;

public class Inner implements java.util.function.Supplier<String> {
    private int calls;

    public String get() {
        calls++;
        try {
            throw new IllegalStateException("inner " + calls);
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }
}
"#;

#[track_caller]
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}:\n{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// The counts and classes of a run that must succeed.
#[track_caller]
pub fn instrumented<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Json {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hindsight"));
    command
        .args(["instrument", "--format", "json"])
        .args(arguments);
    let printed = succeed(&mut command);
    assert!(printed.starts_with(r#"{"schema":"hindsight.instrument/1","#));
    serde_json::from_str(&printed).unwrap()
}

/// The probes as the agent brings them, for `--patch-module`.
fn probes(jdk: &Jdk, dir: &Path) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../java-shim/probe/src");
    let patch = dir.join("patch");
    let files = fs::read_dir(sources.join("java/lang")).unwrap();
    succeed(
        jdk.tool("javac")
            .args([
                "-source",
                "11",
                "-target",
                "11",
                "-Xlint:-options",
                "-nowarn",
            ])
            .arg("--patch-module")
            .arg(format!("java.base={}", sources.display()))
            .arg("-d")
            .arg(&patch)
            .args(files.map(|file| file.unwrap().path()).filter(|file| {
                // Those of traces are made whole by the agent's build script.
                ["Probe", "Thread", "Live", "Log", "Writes"]
                    .iter()
                    .any(|name| file.ends_with(format!("Hindsight{name}.java")))
            })),
    );
    patch
}

/// The program's jar and what is needed to look at it.
fn program(dir: &Path) -> (PathBuf, Vec<u8>) {
    let classes = |sub: &str, sources: &[(&str, &str)]| compile(&dir.join(sub), sources);
    let base = classes(
        "base",
        &[("app/Main.java", MAIN), ("app/Version.java", VERSION)],
    );
    let newer = classes(
        "newer",
        &[("app/Version.java", &VERSION.replace("N ", "11 "))],
    );
    let inner = classes("inner", &[("inner/Inner.java", INNER)]);
    let read = |root: &Path, name: &str| fs::read(root.join(name)).unwrap();
    let inner_jar = archive(
        b"",
        &[part(
            "inner/Inner.class",
            &read(&inner, "inner/Inner.class"),
        )],
        b"",
    );
    // A name that is no UTF-8, which JVMs refuse.
    let odd = Part {
        name: b"\xff.txt".to_vec(),
        ..stored("", b"text")
    };
    let war = archive(b"", &[stored("WEB-INF/lib/x.jar", &inner_jar), odd], b"");
    let manifest = b"Manifest-Version: 1.0\r\nMain-Class: app.Main\r\nMulti-Release: true\r\n\r\n";
    let main = read(&base, "app/Main.class");
    let jar = archive(
        b"#!/bin/sh\nexec java -jar \"$0\"\n",
        &[
            // The mark that `jar` leaves, in both places.
            Part {
                local_extra: vec![0xfe, 0xca, 0, 0],
                central_extra: vec![0xfe, 0xca, 0, 0],
                ..stored("META-INF/", b"")
            },
            part("META-INF/MANIFEST.MF", manifest),
            Part {
                streamed: true,
                comment: b"the main class".to_vec(),
                ..part("app/Main.class", &main)
            },
            part("app/Version.class", &read(&base, "app/Version.class")),
            part(
                "META-INF/versions/11/app/Version.class",
                &read(&newer, "app/Version.class"),
            ),
            stored("lib/inner.jar", &inner_jar),
            part("lib/deep.war", &war),
            stored(
                "broken/Broken.class",
                b"\xca\xfe\xba\xbe\0\0\0\x34\0\x05\x63",
            ),
            part("broken/fake.jar", b"no archive"),
            // An extra field that is none.
            Part {
                local_extra: vec![1, 2, 3],
                ..part("data/text.txt", b"text")
            },
            part("twice.txt", b"first"),
            part("twice.txt", b"second"),
        ],
        b"an archive's comment",
    );
    (dir.to_owned(), jar)
}

/// All that must not change: everything but sizes, checksums, places.
fn head(entry: &Entry) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        (
            entry.name.clone(),
            entry.method,
            entry.time,
            entry.comment.clone(),
        ),
        (
            entry.made_by,
            entry.internal,
            entry.external,
            entry.extra.clone(),
        ),
    )
}

fn directory(bytes: &[u8]) -> Directory {
    let mut file = Cursor::new(bytes);
    Directory::read(&mut Source::new(&mut file).unwrap()).unwrap()
}

fn entry(jar: &[u8], name: &str) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(Cursor::new(jar)).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Runs a jar with the full verifier; with the probes, if there is a patch.
fn run(jdk: &Jdk, jar: &Path, patch: Option<&Path>) -> String {
    let mut java = jdk.tool("java");
    java.args([
        "-Xverify:all",
        "-Xshare:off",
        "-Xlog:disable",
        "-Xlog:all=error:stderr",
    ]);
    if let Some(patch) = patch {
        java.arg("--patch-module")
            .arg(format!("java.base={}", patch.display()));
        java.arg("-Xlog:class+load=info:stdout");
    }
    succeed(java.arg("-jar").arg(jar))
}

#[test]
fn a_rewritten_jar_is_the_old_one_with_probes() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, old) = program(dir.path());
    let (from, to) = (dir.join("app.jar"), dir.join("out/app.jar"));
    fs::write(&from, &old).unwrap();
    let report = instrumented([&from, Path::new("--out"), &to]);
    let new = fs::read(&to).unwrap();

    let counts = &report["counts"];
    assert_eq!(counts["classes"]["total"], 6, "{report:#}");
    assert_eq!(counts["classes"]["rewritten"], 5);
    assert_eq!(counts["classes"]["left"]["malformed"], 1);
    assert_eq!(counts["archives_rewritten"], 4);
    let failures = counts["failures"].as_array().unwrap();
    let failure = |at: usize, key: &str| failures[at][key].as_str().unwrap();
    assert!(failure(0, "path").ends_with("app.jar!/broken/Broken.class"));
    assert!(failure(0, "detail").contains("offset 0xa"), "{failures:?}");
    assert!(failure(1, "path").ends_with("app.jar!/broken/fake.jar"));
    assert!(
        failure(1, "detail").contains("not a zip archive"),
        "{failures:?}"
    );

    // Ids: from 0, without gaps, in the order of the archive.
    let classes = report["classes"].as_array().unwrap();
    let methods = classes
        .iter()
        .flat_map(|class| class["methods"].as_array().unwrap());
    let ids: Vec<u64> = methods
        .map(|method| method["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..ids.len() as u64).collect::<Vec<_>>());
    let paths: Vec<_> = classes
        .iter()
        .map(|class| {
            class["path"]
                .as_str()
                .unwrap()
                .split("app.jar!/")
                .nth(1)
                .unwrap()
        })
        .collect();
    assert_eq!(
        paths,
        [
            "app/Main.class",
            "app/Version.class",
            "META-INF/versions/11/app/Version.class",
            "lib/inner.jar!/inner/Inner.class",
            "lib/deep.war!/WEB-INF/lib/x.jar!/inner/Inner.class",
        ]
    );

    // The same entries, prefix and comment, each with what described it.
    let (before, after) = (directory(&old), directory(&new));
    let heads = |directory: &Directory| directory.entries.iter().map(head).collect::<Vec<_>>();
    assert_eq!(heads(&before), heads(&after));
    assert_eq!((before.base, &before.tail), (after.base, &after.tail));
    assert_eq!(old[..before.base as usize], new[..after.base as usize]);
    for (old_entry, new_entry) in before.entries.iter().zip(&after.entries) {
        let located = |bytes: &[u8], entry: &Entry| {
            let mut file = Cursor::new(bytes);
            let mut source = Source::new(&mut file).unwrap();
            let (data, extra) = entry.locate(&mut source).unwrap();
            (source.bytes(data, entry.packed).unwrap(), extra)
        };
        let (old_data, old_extra) = located(&old, old_entry);
        let (new_data, new_extra) = located(&new, new_entry);
        assert_eq!(old_extra, new_extra);
        let name = old_entry.text();
        let rewritten = paths
            .iter()
            .any(|path| path.split('!').next() == Some(&name));
        assert_eq!(old_data == new_data, !rewritten, "{name}");
        if name == "lib/inner.jar" {
            assert_eq!(
                (new_entry.method, new_entry.packed),
                (STORED, new_entry.size)
            );
        }
    }
    // A second opinion: the checksums hold.
    assert_eq!(entry(&new, "twice.txt"), b"second");
    let war = entry(&new, "lib/deep.war");
    assert_eq!(directory(&war).entries[1].name, b"\xff.txt");
    let nested = entry(&war, "WEB-INF/lib/x.jar");
    assert_eq!(
        &entry(&nested, "inner/Inner.class")[..4],
        b"\xca\xfe\xba\xbe"
    );

    for jdk in jdks().iter().filter(|jdk| jdk.feature >= 17) {
        let told = "caught depth\n11 10\ninner 1\n";
        assert_eq!(run(jdk, &from, None), told);
        // The new code fails silently without the probes.
        assert_eq!(run(jdk, &to, None), told, "JDK {}", jdk.feature);
        let with_probes = run(
            jdk,
            &to,
            Some(&probes(jdk, &dir.join(jdk.feature.to_string()))),
        );
        let (loads, printed): (Vec<_>, Vec<_>) =
            with_probes.lines().partition(|line| line.starts_with('['));
        assert_eq!(printed.join("\n") + "\n", told, "JDK {}", jdk.feature);
        assert!(
            loads
                .iter()
                .any(|line| line.contains(" java.lang.HindsightThread "))
        );
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, old) = program(dir.path());
    let from = dir.join("app.jar");
    fs::write(&from, &old).unwrap();
    let outputs = [&["taskset", "1"][..], &[]].map(|prefix| {
        let to = dir.join(format!("{}.jar", prefix.len()));
        let program = env!("CARGO_BIN_EXE_hindsight");
        let words = [prefix, &[program, "instrument"]].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&from).arg("--out").arg(&to);
        // On one core and on all; without `taskset`, twice on all.
        if command.output().is_err() {
            succeed(
                Command::new(program)
                    .arg("instrument")
                    .arg(&from)
                    .arg("--out")
                    .arg(&to),
            );
        }
        fs::read(to).unwrap()
    });
    assert!(outputs[0] == outputs[1]);
    assert!(outputs[0] != old);

    // What has probes, or is not asked for, stays the same to the byte.
    let rewritten = dir.join("rewritten.jar");
    fs::write(&rewritten, &outputs[0]).unwrap();
    for (input, options, reason) in [
        (&rewritten, &["--include", "**"][..], "instrumented already"),
        (&from, &["--exclude", "app.*;inner.**"], "not selected"),
    ] {
        let to = dir.join(format!("{reason}.jar"));
        let mut arguments = vec![input.as_os_str(), "--out".as_ref(), to.as_os_str()];
        arguments.extend(options.iter().map(AsRef::<std::ffi::OsStr>::as_ref));
        let report = instrumented(arguments);
        assert_eq!(report["counts"]["classes"]["nothing_to_do"][reason], 5);
        assert!(
            fs::read(to).unwrap() == fs::read(input).unwrap(),
            "{reason}"
        );
    }
}

#[test]
fn a_signed_jar_is_no_more_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, old) = program(dir.path());
    let jar = dir.join("app.jar");
    let plain = archive(
        b"",
        &[
            part("META-INF/MANIFEST.MF", &entry(&old, "META-INF/MANIFEST.MF")),
            part("app/Main.class", &entry(&old, "app/Main.class")),
            part("app/Version.class", &entry(&old, "app/Version.class")),
            stored("lib/inner.jar", &entry(&old, "lib/inner.jar")),
        ],
        b"",
    );
    fs::write(&jar, plain).unwrap();
    let jdk = jdks().remove(0);
    let store = dir.join("keys");
    let key = ["-storepass", "secret", "-keystore"];
    succeed(
        jdk.tool("keytool")
            .args([
                "-genkeypair",
                "-alias",
                "me",
                "-keyalg",
                "EC",
                "-dname",
                "CN=me",
            ])
            .args(key)
            .arg(&store),
    );
    succeed(
        jdk.tool("jarsigner")
            .args(key)
            .arg(&store)
            .arg(&jar)
            .arg("me"),
    );
    let verify = |jar: &Path| succeed(jdk.tool("jarsigner").arg("-verify").arg(jar));
    assert!(verify(&jar).contains("jar verified"));

    let to = dir.join("out.jar");
    let output = hindsight([
        "instrument".as_ref(),
        jar.as_os_str(),
        "--out".as_ref(),
        to.as_os_str(),
    ]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("app.jar: was signed; the signature does not fit"));
    assert!(verify(&to).contains("jar is unsigned"));
    let new = fs::read(&to).unwrap();
    let names = directory(&new)
        .entries
        .iter()
        .map(Entry::text)
        .collect::<Vec<_>>();
    assert!(
        !names
            .iter()
            .any(|name| name.ends_with(".SF") || name.ends_with(".EC"))
    );
    let manifest = text(&entry(&new, "META-INF/MANIFEST.MF"));
    assert!(
        !manifest.contains("Digest") && !manifest.contains("Name:"),
        "{manifest}"
    );
    assert!(manifest.contains("Main-Class: app.Main\r\n"));
    assert_eq!(run(&jdk, &to, None), "caught depth\nN 10\ninner 1\n");

    // Nothing is rewritten: the signature stays and holds.
    let kept = dir.join("kept.jar");
    instrumented([
        jar.as_os_str(),
        "--out".as_ref(),
        kept.as_os_str(),
        "--include".as_ref(),
        "none".as_ref(),
    ]);
    assert!(verify(&kept).contains("jar verified"));
}

#[test]
fn directories_are_copied_with_what_is_in_them() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, old) = program(dir.path());
    let root = dir.join("classes");
    fs::create_dir_all(root.join("app/empty")).unwrap();
    fs::write(root.join("app/Main.class"), entry(&old, "app/Main.class")).unwrap();
    fs::write(root.join("notes.txt"), "text").unwrap();
    fs::write(root.join("app.hpi"), &old).unwrap();
    fs::write(root.join("broken.jar"), &old[..old.len() / 2]).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(root.join("notes.txt"), fs::Permissions::from_mode(0o444)).unwrap();
        symlink("..", root.join("app/up")).unwrap();
        // All that is written, too.
        symlink("../..", root.join("app/beyond")).unwrap();
        symlink("nowhere", root.join("app/dangling")).unwrap();
        symlink("app", root.join("linked")).unwrap();
    }
    let to = dir.join("out");
    let report = instrumented([&root, Path::new("--out"), &to]);
    assert_eq!(report["counts"]["classes"]["rewritten"], 7, "{report:#}");
    let failures = report["counts"]["failures"].as_array().unwrap();
    let failed = |name: &str| {
        failures
            .iter()
            .any(|failure| failure["path"].as_str().unwrap().ends_with(name))
    };
    for name in [
        "app/up",
        "app/beyond",
        "app/dangling",
        "linked/up",
        "/broken.jar",
        "Broken.class",
    ] {
        assert!(failed(name), "{name}: {failures:#?}");
    }
    assert!(to.join("app/empty").is_dir() && to.join("linked/Main.class").is_file());
    assert_eq!(
        fs::read(to.join("broken.jar")).unwrap(),
        &old[..old.len() / 2]
    );
    let metadata = |root: &Path| fs::metadata(root.join("notes.txt")).unwrap();
    assert_eq!(metadata(&to).permissions(), metadata(&root).permissions());
    assert_eq!(
        metadata(&to).modified().unwrap(),
        metadata(&root).modified().unwrap()
    );
    // A jar by any name is what it would be alone, but for the numbers of its methods.
    assert!(
        directory(&fs::read(to.join("app.hpi")).unwrap())
            .entries
            .len()
            == 12
    );
    let left: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".hindsight"))
        .collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
}

#[test]
fn many_entries_need_zip64() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, old) = program(dir.path());
    let mut parts: Vec<_> = (0..70_000).map(|n| stored(&format!("{n}"), b"x")).collect();
    parts.push(part("app/Main.class", &entry(&old, "app/Main.class")));
    let from = dir.join("many.jar");
    // Counts beyond 65,535 wrap around, as old packers left them.
    fs::write(&from, archive(b"", &parts, b"")).unwrap();
    let to = dir.join("out.jar");
    instrumented([&from, Path::new("--out"), &to]);
    let zip = zip::ZipArchive::new(File::open(&to).unwrap()).unwrap();
    assert_eq!(zip.len(), 70_001);
    // And what has zip64 is read.
    let again = instrumented([to.as_os_str(), "--list".as_ref()]);
    assert_eq!(
        again["counts"]["classes"]["nothing_to_do"]["instrumented already"],
        1
    );
}

/// Packers that always write the end record of zip64 write one whose numbers the other has, too.
#[test]
fn zip64_need_not_be_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, old) = program(dir.path());
    let parts = [part("app/Main.class", &entry(&old, "app/Main.class"))];
    let mut bytes = archive(b"", &parts, b"");
    let end = bytes.split_off(bytes.len() - 22);
    let mut zip64 = Vec::new();
    zip64.extend(0x0606_4b50_u32.to_le_bytes());
    zip64.extend(44_u64.to_le_bytes());
    zip64.extend([45, 0, 45, 0]);
    zip64.extend([0; 8]);
    zip64.extend([1_u64.to_le_bytes(); 2].concat());
    // The size of the directory, and where it is.
    for at in [12, 16] {
        zip64.extend(&end[at..at + 4]);
        zip64.extend([0; 4]);
    }
    zip64.extend(0x0706_4b50_u32.to_le_bytes());
    zip64.extend([0; 4]);
    zip64.extend((bytes.len() as u64).to_le_bytes());
    zip64.extend(1_u32.to_le_bytes());
    bytes.extend(zip64);
    bytes.extend(end);
    let from = dir.join("always.jar");
    fs::write(&from, bytes).unwrap();
    let listed = instrumented([from.as_os_str(), "--list".as_ref()]);
    assert_eq!(listed["counts"]["classes"]["rewritten"], 1, "{listed}");
}
