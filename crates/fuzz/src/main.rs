//! Hostile bytes for everything that reads bytes, guided by coverage.
//!
//! It is one program with several targets; the environment variable `HINDSIGHT_FUZZ` names the one
//! to run. `scripts/fuzz` builds it with the instrumentation that libFuzzer needs, which the stable
//! compiler has, and gives it seeds.
//!
//! - [`classes`]: `parse` reads class files, `instrument` rewrites them.
//! - [`crash_file`] reads crash files.
//! - [`trace`] reads traces.
//! - [`options`] reads the agent's options.
//! - [`limits`] limits memory and time.
//!
//! A finding becomes a test in the crate that was wrong.
#![no_main]

use std::env;
use std::sync::OnceLock;

mod classes;
// The modules that the agent's options use, at the paths where they expect them.
#[expect(dead_code, reason = "only the options are read here")]
#[path = "../../../agent/src/copies.rs"]
mod copies;
mod crash_file;
mod limits;
mod options;
#[expect(dead_code, reason = "only the options are read here")]
#[path = "../../../agent/src/share.rs"]
mod share;
mod trace;

/// A target, which fails by panicking.
type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 5] = [
    ("parse", classes::parse),
    ("instrument", classes::instrument),
    ("crash-file", crash_file::read),
    ("trace", trace::all),
    ("options", options::parse),
];

static TARGET: OnceLock<Target> = OnceLock::new();

fn init() {
    let name = env::var("HINDSIGHT_FUZZ").unwrap_or_default();
    if name == "write-seeds" {
        let seeds = env::var("HINDSIGHT_FUZZ_SEEDS").expect("where to write seeds");
        crash_file::write_seed(&format!("{seeds}/crash-file"));
        trace::write_seed(&format!("{seeds}/trace"));
        std::process::exit(0);
    }
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    let Some((_, target)) = found else {
        let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("HINDSIGHT_FUZZ must be one of {}", names.join(", "));
        std::process::exit(2);
    };
    TARGET.get_or_init(|| *target);
}

libfuzzer_sys::fuzz_target!(init: init(), |data: &[u8]| {
    if let Some(target) = TARGET.get() {
        target(data);
    }
});
