//! Compiles the replay library, the programs' interface to the agent and the worker
//! packs each into a jar, which the command embeds: tests that it emits run by
//! themselves.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use std::{env, io};

/// Where the libraries' sources are below, from here.
const SHIM: &str = "../java-shim";
/// When all that is in the jars was written, as far as they tell: as early as a zip file can.
const FIXED: Duration = Duration::from_secs(315_532_800);

fn main() {
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    for library in ["replay", "api", "worker"] {
        let sources = Path::new(SHIM).join(library).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        if let Err(error) = build(library, &sources, &out) {
            // Cargo takes one line at a time.
            for line in format!("failed to build the {library} library: {error}").lines() {
                println!("cargo::error={line}");
            }
        }
    }
}

fn build(library: &str, from: &Path, out: &Path) -> Result<(), String> {
    let mut sources = Vec::new();
    files_below(from, &mut sources)
        .map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    sources.retain(|file| file.extension().is_some_and(|ext| ext == "java"));
    if sources.is_empty() {
        return Err(format!("there are no sources in {}", from.display()));
    }

    let classes = out.join(format!("{library}-classes"));
    // Classes of sources that are gone must not live on in the jar.
    let _ = fs::remove_dir_all(&classes);
    compile(&sources, &classes)?;

    let jar = out.join(format!("hindsight-{library}.jar"));
    let module = format!("dev.hindsight.{library}");
    pack(&classes, &module, &jar)
        .map_err(|error| format!("cannot write {}: {error}", jar.display()))
}

fn compile(sources: &[PathBuf], classes: &Path) -> Result<(), String> {
    let mut command = Command::new(tool("javac"));
    command
        .env_remove("JAVA_TOOL_OPTIONS")
        .args([
            "-J-XX:TieredStopAtLevel=1",
            "--release",
            "11",
            "-encoding",
            "UTF-8",
            "-proc:none",
            "-g",
            // Without classes that the JVM makes for it: a test's JVM is ready a tenth sooner.
            "-XDstringConcat=inline",
            "-d",
        ])
        .arg(classes)
        .args(sources);
    run(command)
}

/// Packs a directory with the JDK's `jar`, in a fixed order and with a fixed time, so that the same sources
/// give the same jar. A crate for that would be built for this script alone.
fn pack(classes: &Path, module: &str, jar: &Path) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let manifest = classes.join("META-INF/MANIFEST.MF");
    fs::create_dir_all(classes.join("META-INF")).map_err(told)?;
    let text = format!("Manifest-Version: 1.0\r\nAutomatic-Module-Name: {module}\r\n\r\n");
    fs::write(&manifest, text).map_err(told)?;
    let mut files = Vec::new();
    files_below(classes, &mut files).map_err(told)?;
    // It comes first, or it is none.
    files.sort_by_key(|file| *file != manifest);
    let mut command = Command::new(tool("jar"));
    command
        .env_remove("JAVA_TOOL_OPTIONS")
        .env("TZ", "UTC")
        .args(["-J-XX:TieredStopAtLevel=1", "--create", "--no-manifest"])
        .arg("--file")
        .arg(jar);
    for file in files {
        File::options()
            .write(true)
            .open(&file)
            .and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH + FIXED))
            .map_err(told)?;
        let name = file.strip_prefix(classes).expect("found below it");
        command.arg("-C").arg(classes).arg(name);
    }
    run(command)
}

/// A tool of the JDK.
fn tool(name: &str) -> PathBuf {
    match env::var_os("JAVA_HOME") {
        Some(home) if !home.is_empty() => PathBuf::from(home).join("bin").join(name),
        _ => PathBuf::from(name),
    }
}

/// Runs a tool of the JDK.
fn run(mut command: Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        format!(
            "cannot run {name}: {error}; install a JDK (11 or newer) and set JAVA_HOME, \
             or put its tools on the path"
        )
    })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{name} failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// All files below `dir`, sorted.
fn files_below(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
