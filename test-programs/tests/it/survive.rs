//! A small part of `scripts/bench survive`, and a check that it would see failures.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hindsight_classfile::{ClassFile, PoolBuilder};
use hindsight_test_programs::{Jdk, Workplace, agent, jdks, root};
use serde_json::{Value, json};

/// A jar of the oldest compiler in the corpus, and a multi-release jar.
const JARS: [&str; 2] = ["commons-cli:commons-cli:1.2", "org.yaml:snakeyaml:2.0"];

fn jars() -> Vec<String> {
    let listed = Command::new(root().join("scripts/jars"))
        .arg("--list")
        .args(JARS)
        .output()
        .expect("scripts/jars runs");
    assert!(listed.status.success(), "scripts/jars fails");
    let text = String::from_utf8(listed.stdout).expect("paths are text");
    text.lines().map(str::to_owned).collect()
}

/// The commands of the programs that verify, with their names.
fn harnesses(place: &Workplace) -> Vec<(String, Vec<String>)> {
    let index = place.join("index");
    File::create(&index).expect("an empty file can be made");
    let mut found = Vec::new();
    for jdk in jdks() {
        let classes = compiled(place, jdk);
        let patch = format!("--patch-module=java.base={}", probes().display());
        let java = |options: &[&str], main: &str| {
            let mut command = vec![jdk.tool("java").display().to_string()];
            command.extend(options.iter().map(|&option| option.to_owned()));
            command.extend(["-cp".into(), classes.display().to_string(), main.into()]);
            command.push(index.display().to_string());
            command
        };
        let verify = [
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+BytecodeVerificationLocal",
            "-XX:+BytecodeVerificationRemote",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            &patch,
        ];
        found.push((format!("JVM {}", jdk.version), java(&verify, "LoadAll")));
        if jdk.version >= 24 {
            let name = format!("ClassFile.verify of JDK {}", jdk.version);
            found.push((name, java(&[], "VerifyAll")));
        }
    }
    found
}

/// The classes of those programs.
fn compiled(place: &Workplace, jdk: &Jdk) -> PathBuf {
    let sources =
        fs::read_dir(root().join("test-programs/survive")).expect("the sources are there");
    let mut sources: Vec<PathBuf> = sources.flatten().map(|entry| entry.path()).collect();
    sources.retain(|path| {
        let newer = ["VerifyAll.java", "Dump.java"]
            .iter()
            .any(|name| path.ends_with(name));
        let java = path
            .extension()
            .is_some_and(|extension| extension == "java");
        java && !path.ends_with("Generate.java") && (jdk.version >= 24 || !newer)
    });
    let classes = place.join(format!("classes-{}", jdk.version));
    fs::create_dir_all(&classes).expect("a directory for classes");
    let to = classes.to_str().expect("paths are text");
    place.compile(jdk, &["-d", to], &sources);
    classes
}

/// The probes, which the JVM looks for when it verifies their callers, as the agent's build script
/// last compiled them.
fn probes() -> PathBuf {
    let release = agent().with_file_name("build");
    let built = fs::read_dir(&release).expect("the agent was built");
    let shims = built
        .flatten()
        .map(|entry| entry.path().join("out/shim"))
        .filter(|shim| shim.join("java/lang/HindsightProbe.class").is_file());
    let age = |shim: &PathBuf| {
        fs::metadata(shim.join("classes.rs"))
            .and_then(|file| file.modified())
            .ok()
    };
    shims
        .max_by_key(age)
        .expect("the build script has compiled the probes")
}

#[test]
fn released_jars_survive_and_failures_are_seen() {
    let place = Workplace::new("survive");
    let harnesses = harnesses(&place);
    released_jars_survive(&place, &harnesses);
    failures_are_seen(&harnesses);
}

fn released_jars_survive(place: &Workplace, harnesses: &[(String, Vec<String>)]) {
    let out = place.join("out.json");
    let harnesses: Vec<Value> = harnesses
        .iter()
        .map(|(name, command)| json!({"name": name, "command": command}))
        .collect();
    let spec = json!({
        "jars": jars(), "harnesses": harnesses, "out": out, "hashes": place.join("hashes"), "patch": null,
    });
    fs::write(place.join("spec"), spec.to_string()).expect("the specification can be written");
    let done = Command::new(env!("CARGO_BIN_EXE_survive"))
        .arg("run")
        .arg(place.join("spec"))
        .status()
        .expect("the driver runs");
    assert!(done.success());

    let result: Value =
        serde_json::from_slice(&fs::read(out).expect("there is a result")).expect("it is JSON");
    assert!(
        result["classes"].as_u64() > Some(200),
        "{}",
        result["classes"]
    );
    assert_eq!(result["unreadable"], json!([]));
    assert_eq!(result["changed"], json!([]));
    for plan in result["plans"].as_array().expect("plans") {
        assert_eq!(plan["errors"], json!([]));
        assert_eq!(plan["examples"], json!([]));
        // Few methods have handlers, and one of the plans only concerns these.
        let rewritten = plan["classes"].as_u64();
        assert!(rewritten > Some(20), "{plan}");
        for harness in &harnesses {
            let name = harness["name"].as_str().expect("it has a name");
            let found = &result["harnesses"][name];
            let plan = plan["name"].as_str().expect("it has a name");
            assert_eq!(found["lines"], json!({}), "{name}");
            // The verifier that needs stack maps skips the few that have none.
            let count = |kind: &str| found["counts"][plan][kind].as_u64().unwrap_or(0);
            assert!(count("verified") > 4 * count("too old"), "{name}: {found}");
            assert_eq!(
                Some(count("verified") + count("too old")),
                rewritten,
                "{name}, {plan}: {found}"
            );
        }
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(
        u16::try_from(text.len())
            .expect("it is short")
            .to_be_bytes(),
    );
    out.extend(text.as_bytes());
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(
        u32::try_from(bytes.len())
            .expect("it is short")
            .to_be_bytes(),
    );
    out.extend(bytes);
}

/// A class of a jar.
fn class_of(jar: &str, name: &str) -> Vec<u8> {
    let file = File::open(jar).expect("the jar can be opened");
    let mut zip = zip::ZipArchive::new(file).expect("it is a jar");
    let mut entry = zip.by_name(name).expect("the class is in it");
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).expect("it can be read");
    bytes
}

/// The class with method bodies that may put nothing on their stacks.
fn damaged(class: &[u8]) -> Vec<u8> {
    let class = ClassFile::parse(class).expect("it can be read");
    class.assemble(&PoolBuilder::new(&class.pool), |_, method, out| {
        method.write_head(out);
        out.extend(method.attributes.len().to_be_bytes());
        for attribute in method.attributes.iter() {
            let start = out.len();
            attribute.write(out);
            if attribute.name(&class.pool).is_ok_and(|name| name == "Code") {
                // These bytes follow name and length.
                out[start + 6..start + 8].fill(0);
            }
        }
    })
}

/// Checks that every verifier notices a class that is wrong, and a reading that differs from its
/// own.
fn failures_are_seen(harnesses: &[(String, Vec<String>)]) {
    let name = "org/yaml/snakeyaml/Yaml";
    let class = class_of(&jars()[1], &format!("{name}.class"));
    let mut group = vec![b'G'];
    text(&mut group, "a jar");
    text(&mut group, "");
    group.extend(1u32.to_be_bytes());
    text(&mut group, name);
    group.push(1);
    group.extend(7u64.to_be_bytes());
    bytes(&mut group, &class);
    group.extend(0u32.to_be_bytes());
    for (rewritten, wrong) in [(class.clone(), false), (damaged(&class), true)] {
        let mut plan = vec![b'P'];
        text(&mut plan, "plan");
        plan.extend(1u32.to_be_bytes());
        plan.extend(0u32.to_be_bytes());
        bytes(&mut plan, &rewritten);
        for (harness, command) in harnesses {
            let answers = ask(command, &[&group[..], &plan].concat());
            let fails = answers.contains(&format!("fail\tplan\t{name}\t"));
            assert_eq!(fails, wrong, "{harness}: {answers}");
            let differs = answers.contains(&format!("differs\t{name}\t"));
            assert_eq!(
                differs,
                harness.starts_with("ClassFile"),
                "{harness}: {answers}"
            );
        }
    }
}

fn ask(command: &[String], message: &[u8]) -> String {
    let mut child = Command::new(Path::new(&command[0]))
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut to = child.stdin.take().expect("it was piped");
    to.write_all(message).expect("it listens");
    drop(to);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("it answers in text")
}
