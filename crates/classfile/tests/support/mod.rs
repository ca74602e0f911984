//! The JDKs of this machine, and their classes.
//!
//! - `read` reads a class to its last byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// An installed JDK.
#[derive(Debug, Clone)]
pub struct Jdk {
    pub home: PathBuf,
    /// The feature release, such as 17 or 25.
    pub feature: u32,
}

impl Jdk {
    pub fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.home.join("bin").join(name));
        if name == "javac" {
            // These options suit a JVM that runs shortly, and halve its cost.
            command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
        }
        command
    }

    /// Extracts the class files of all modules, once for all test runs. The result has one
    /// directory for each module.
    pub fn modules(&self) -> PathBuf {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("jdk-{}", self.feature));
        if !target.is_dir() {
            // Other tests may be doing the same; the first one to finish wins.
            let mine = target.with_extension(std::process::id().to_string());
            let status = self
                .tool("jimage")
                .arg("extract")
                .arg("--dir")
                .arg(&mine)
                .arg(self.home.join("lib/modules"))
                .status()
                .expect("jimage runs");
            assert!(status.success(), "jimage extracts {}", self.home.display());
            if fs::rename(&mine, &target).is_err() {
                fs::remove_dir_all(&mine).expect("a duplicate can be removed");
            }
        }
        target
    }
}

/// One JDK for each feature release from 17 up, the oldest first.
pub fn jdks() -> Vec<Jdk> {
    let mut found = BTreeMap::new();
    for home in homes() {
        if let Some(feature) = feature(&home) {
            found.entry(feature).or_insert(Jdk { home, feature });
        }
    }
    assert!(
        !found.is_empty(),
        "these tests need a JDK of version 17 or newer: set JAVA_HOME"
    );
    found.into_values().collect()
}

/// What `HINDSIGHT_JDKS` lists, as `scripts/test` does, or what is found through `JAVA_HOME`, the
/// `PATH` and `/usr/lib/jvm`.
fn homes() -> Vec<PathBuf> {
    if let Some(listed) = env::var_os("HINDSIGHT_JDKS") {
        return env::split_paths(&listed).collect();
    }
    let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    let path = env::var_os("PATH").unwrap_or_default();
    homes.extend(
        env::split_paths(&path)
            .filter_map(|dir| fs::canonicalize(dir.join("java")).ok())
            .filter_map(|java| Some(java.parent()?.parent()?.to_owned())),
    );
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    homes.extend(installed.map(|entry| entry.path()));
    homes
}

/// The feature release of a JDK that can compile and extract, unless it is too old for the agent.
fn feature(home: &Path) -> Option<u32> {
    let whole = ["bin/javac", "bin/jimage", "lib/modules"]
        .iter()
        .all(|file| home.join(file).exists());
    let release = fs::read_to_string(home.join("release"))
        .ok()
        .filter(|_| whole)?;
    let version = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    let feature: u32 = version.split(['.', '"', '-', '+']).next()?.parse().ok()?;
    (feature >= 17).then_some(feature)
}

/// All class files below a directory.
pub fn class_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(&dir)
            .expect("a directory can be read")
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "class")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A xorshift generator, which gives the same bytes on every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Changes some bytes, often to values that are critical for counts and lengths.
    pub fn mutate(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            bytes[at] = match self.below(4) {
                0 => 0xff,
                1 => 0,
                2 => bytes[at].wrapping_add(1),
                _ => self.next() as u8,
            };
        }
    }
}
