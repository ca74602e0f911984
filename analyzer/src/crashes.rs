//! Crash groups: many crash files of many machines, by what failed where.
//!
//! - [`key`] decides which crashes are the same failure.
//! - [`group`] holds what is known of one failure, and merges.
//! - [`collect`] finds crash files and earlier results, and reads them.
//! - [`rules`] finds the rules of `report` that match nothing.
//! - [`report`] writes groups for people and machines.
//!
//! **Invariant:** merging is associative and commutative, so that the results of many machines can
//! be merged in any order and in parts. The output of `--format json` is an input again.

pub mod collect;
pub mod group;
pub mod key;
pub mod report;
pub mod rules;

use crate::{files, input};
use std::path::PathBuf;

/// Why crashes, or earlier results, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing to read; the text says why.
    #[error("{0}")]
    Nothing(String),
    /// A crash file cannot be read.
    #[error(transparent)]
    Crash(#[from] input::Error),
    /// Another file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] files::Error),
    /// A file of a run is no JSON.
    #[error("failed to read {}", path.display())]
    Run {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// A file of a run is another release's.
    #[error("{} has the schema {schema}, of another release; expected {}", path.display(), collect::RUN_SCHEMA)]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
    /// A file that is named as an earlier result is none.
    #[error("{} is no result of hindsight crashes", path.display())]
    NoResult {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// An earlier result is another release's.
    #[error("{} has the schema {schema}; expected {}", path.display(), collect::SCHEMA)]
    OtherResult {
        /// The file.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
}
