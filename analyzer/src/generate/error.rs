//! Why there are no regression tests.

use crate::program::source;
use crate::{files, jdk};
use std::io;
use std::path::PathBuf;

/// Why there are no regression tests.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a directory cannot be read or written, or a program not be run.
    #[error(transparent)]
    File(#[from] files::Error),
    /// The JDK does not do what it is asked.
    #[error(transparent)]
    Jdk(#[from] jdk::Error),
    /// The program's classes cannot be read.
    #[error(transparent)]
    Program(#[from] source::Error),
    /// The worker that is built in cannot be unpacked.
    #[error(transparent)]
    Worker(#[from] io::Error),
    /// The classes of the worker that is built in cannot be read.
    #[error("the worker's classes cannot be read")]
    WorkerClasses(#[from] hindsight_classfile::Error),
    /// A worker cannot be told which methods there are.
    #[error("failed to tell of methods")]
    NotTold(#[source] io::Error),
    /// A worker cannot be talked to.
    #[error("a child process has no pipes")]
    NoPipes,
    /// No JVM of this JDK executes anything.
    #[error("the worker's JVM ({}) ends at once: see whether its java runs", .0.display())]
    EndsAtOnce(PathBuf),
    /// A worker that should have been recorded has left nothing.
    #[error("the worker's JVM has recorded nothing: does the agent fit this JDK?")]
    NothingRecorded,
    /// What a worker has recorded cannot be read.
    #[error(transparent)]
    Trace(Box<dyn std::error::Error + Send + Sync>),
    /// The compiler refuses the tests, and names none of them.
    #[error("javac refuses the tests as a whole: {0}")]
    AllRefused(String),
    /// The compiler refuses tests, which are not left out here.
    #[error("javac refuses the tests: {0}")]
    Refused(String),
    /// However many tests are left out, the compiler refuses others.
    #[error(
        "javac refuses tests again and again; use --classes to leave out what it stumbles over"
    )]
    RefusedAgain,
}

/// What is made of recorded runs, or why it is not.
pub type Result<T, E = Error> = std::result::Result<T, E>;
