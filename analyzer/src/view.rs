//! One HTML page of recordings, models and verdicts, for a browser that needs no network
//! connection.
//!
//! - [`collect`] finds what is to be shown, and reads it as the documents that other subcommands
//!   print.
//! - [`page`] puts these into the page, whose script lays them out.
//!
//! **Invariant:** what comes from a recording is in the page compressed and in base64, in which no
//! markup can begin, and the script puts it into the document only as text.

pub mod collect;
pub mod page;

use crate::model::document;
use crate::{files, input};
use std::path::PathBuf;

/// Why something cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing to show; the text says where, and why as far as that is known.
    #[error("{0}")]
    Nothing(String),
    /// A file or a directory cannot be read.
    #[error(transparent)]
    Unreadable(#[from] files::Error),
    /// A file that is named is of another kind.
    #[error("{} is no crash file, no model and no result of hindsight mutability --format json", .0.display())]
    Other(PathBuf),
    /// A crash file cannot be read.
    #[error(transparent)]
    Crash(#[from] input::Error),
    /// A document cannot be represented as JSON values, which does not happen.
    #[error(transparent)]
    Unwritten(#[from] serde_json::Error),
    /// A file is no JSON.
    #[error("failed to read {}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// A file says that it is a model, and is none.
    #[error("failed to read {}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: document::Malformed,
    },
    /// A file says that it has verdicts, and has none.
    #[error(
        "failed to read {}: this is not what hindsight mutability --format json writes",
        path.display()
    )]
    Verdicts {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// A file is another release's.
    #[error("{} has the schema {schema}, which this version does not know", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
}
