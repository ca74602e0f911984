//! Archives of the JDK's own classes, verified (class data sharing, JEP 310).
//!
//! A JVM that is to verify everything passes over the JDK's archive, whose classes are not verified, and begins twice
//! as slowly. It takes one that was made with the same option: what is in it was verified then, and what an agent
//! makes of a class of it is verified when it is loaded.

use crate::{Jdk, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// The archive of a JDK, which is made when it is asked for first; nothing where none can be made.
pub(crate) fn archive(jdk: &Jdk) -> Option<PathBuf> {
    static MADE: Mutex<BTreeMap<PathBuf, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(jdk.home.clone())
        .or_insert_with(|| make(jdk, &root().join("target/test-work")))
        .clone()
}

fn make(jdk: &Jdk, dir: &Path) -> Option<PathBuf> {
    let modules = fs::metadata(jdk.home.join("lib/modules")).ok()?;
    let changed = modules.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let file = dir.join(format!(
        "verified-{}-{}-{}.jsa",
        jdk.version,
        modules.len(),
        changed.as_secs()
    ));
    if file.is_file() {
        return Some(file);
    }
    fs::create_dir_all(dir).ok()?;
    // Other test binaries may make it too, and a JVM must never see half of it.
    let new = dir.join(format!(
        "verified-{}-{}.tmp",
        jdk.version,
        std::process::id()
    ));
    let dumped = jdk
        .java()
        .args(["-Xverify:all", "-XX:-PrintWarnings", "-Xshare:dump"])
        .arg(format!("-XX:SharedArchiveFile={}", new.display()))
        .output()
        .ok()?;
    if !dumped.status.success() {
        let _ = fs::remove_file(&new);
        return None;
    }
    fs::rename(&new, &file).ok()?;
    Some(file)
}
