//! Compiles the replay library, the programs' interface to the agent and the worker
//! packs each into a jar, which the command embeds: tests that it emits run by
//! themselves.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Where the libraries' sources are below, from here.
const SHIM: &str = "../java-shim";

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
    let javac = match env::var_os("JAVA_HOME") {
        Some(home) if !home.is_empty() => PathBuf::from(home).join("bin/javac"),
        _ => PathBuf::from("javac"),
    };
    let output = Command::new(&javac)
        .env_remove("JAVA_TOOL_OPTIONS")
        .args([
            "--release",
            "11",
            "-encoding",
            "UTF-8",
            "-proc:none",
            "-g",
            "-d",
        ])
        .arg(classes)
        .args(sources)
        .output()
        .map_err(|error| {
            format!(
                "cannot run {}: {error}; install a JDK (11 or newer) and set JAVA_HOME, \
                 or put javac on the path",
                javac.display()
            )
        })?;
    if !output.status.success() {
        return Err(format!(
            "{} failed:\n{}",
            javac.display(),
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(())
}

/// Packs a directory in a fixed order and with a fixed time, so that the same
/// sources give the same jar.
fn pack(classes: &Path, module: &str, jar: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    files_below(classes, &mut files)?;
    let mut zip = ZipWriter::new(File::create(jar)?);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    zip.start_file("META-INF/MANIFEST.MF", options)?;
    let manifest = format!("Manifest-Version: 1.0\r\nAutomatic-Module-Name: {module}\r\n\r\n");
    zip.write_all(manifest.as_bytes())?;
    for file in files {
        let name = file.strip_prefix(classes).expect("found below it");
        zip.start_file_from_path(name, options)?;
        zip.write_all(&fs::read(&file)?)?;
    }
    zip.finish()?;
    Ok(())
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
