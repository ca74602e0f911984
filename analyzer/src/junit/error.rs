//! Why there are no tests of crashes.

use super::Framework;
use crate::{files, jdk, temporary};
use std::env::JoinPathsError;
use std::io;
use std::path::PathBuf;

/// Why there are no tests of crashes.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a directory cannot be read or written, or a program not be run.
    #[error(transparent)]
    File(#[from] files::Error),
    /// There is no place for temporary files.
    #[error(transparent)]
    NoPlace(#[from] temporary::Error),
    /// The JDK does not do what it is asked.
    #[error(transparent)]
    Jdk(#[from] jdk::Error),
    /// A class path cannot be an argument of a program.
    #[error("a class path entry cannot be passed on")]
    ClassPath(#[from] JoinPathsError),
    /// What values are made of cannot be handed to the JVM that tries it.
    #[error("failed to write a plan of trials")]
    Trials(#[from] rmp_serde::encode::Error),
    /// No JVM starts with the user's options.
    #[error("java {version} does not start with the options of the tests, {options}: {said}")]
    JavaOptions {
        /// The version of the JVM.
        version: u32,
        /// The options.
        options: String,
        /// What the JVM says.
        said: String,
    },
    /// The frames for which tests are wanted are not given as they should be, which the text says.
    #[error("{0}")]
    Frames(&'static str),
    /// The directory for the tests is that of a project with another framework.
    #[error(
        "{} is of a project with {}, which tests for {} do not go into: \
         choose another --out, or --framework {}",
        path.display(),
        theirs.name(),
        ours.name(),
        theirs.option()
    )]
    OtherFramework {
        /// A file of the project.
        path: PathBuf,
        /// Its framework.
        theirs: Framework,
        /// The framework of the new tests.
        ours: Framework,
    },
    /// A crash file is where one for the tests would be written.
    #[error("{} is one of the crash files: it is not overwritten; choose another --out", .0.display())]
    IsCrashFile(PathBuf),
    /// A file of somebody else is where one of the tests would be written.
    #[error("{} is there and not ours: it is not overwritten; choose another --out", .0.display())]
    NotOurs(PathBuf),
    /// A library cannot be copied into the project.
    #[error("failed to copy {} to {}", from.display(), to.display())]
    NotCopied {
        /// The library.
        from: PathBuf,
        /// Its place in the project.
        to: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// What is made of crashes, or why it is not.
pub type Result<T, E = Error> = std::result::Result<T, E>;
