//! What the `hindsight` command does, as a library.
//!
//! The command line:
//!
//! - [`commands`] holds one file per subcommand: its options and its `run`.
//! - [`stdout`] writes results, [`stderr`] all other messages, `progress` how far long work is.
//!
//! Crash files:
//!
//! - [`graph`] lays a frame's patch over the objects of a crash file; [`views`] knows what JDK
//!   objects mean; [`tree`] makes text of both, and [`text`] the smaller pieces: values, places,
//!   times.
//! - [`input`] reads a crash file that the user names.
//! - [`inspect`] shows a crash to people and machines.
//! - [`trim`] cuts a crash file down to what chosen frames need.
//! - [`repair`] makes a damaged crash file whole, with holes for what is lost.
//! - [`crashes`] groups the crashes of many runs.
//! - [`junit`] makes tests of a crash: candidates, sources, compilation, runs, verdicts, a Maven
//!   project. It stands on [`java`] (literals, names, comments), [`classpath`] with [`classinfo`],
//!   and [`jdk`].
//!
//! The program:
//!
//! - [`program`] is the static core: classes, control flow, values, calls; [`mutability`] says on
//!   it which parameters a method may change, and [`copyplan`] what the agent should copy.
//! - [`instrument`] rewrites classes offline and lists what was inserted; [`archive`] carries all
//!   else of a jar along.
//!
//! Recorded runs:
//!
//! - [`trace`] reads traces of whole runs.
//! - [`model`] infers from traces how objects are used; [`generate`] makes regression tests of
//!   that.
//! - [`view`] makes a page of all this for a browser.
//!
//! Processes and files:
//!
//! - [`attach`] has a running JVM load the agent; `signals` reads what a process does with signals.
//! - [`confine`] starts children that the kernel keeps from harm.
//! - `files` looks for recorded files, `folder` lists what is in a directory of a class path,
//!   `nested` unpacks jars in jars. `cache` keeps files for the next run; `temporary` removes those
//!   of this run.
//!
//! ```text
//! crash file -> Crash -> Graph -> Node -> text        (inspect)
//!                          |
//!                          +-> Candidate -> source -> javac -> child JVM -> Verdict   (junit)
//! ```
//!
//! **Invariant:** code of the recorded program runs only in child JVMs. They run it to try how
//! values can be constructed, and to run candidate tests ([`junit`]; `trim` runs them, too); and to
//! execute call sequences and tests ([`generate`], and stage R of [`mutability`]). Everything shown
//! of a recording is read from fields.
//!
//! **Invariant:** text from a recording reaches a source file only through [`java::literal`],
//! [`java::comment`] or a check in [`java::names`].
//!
//! **Invariant:** nothing here depends on the agent.

#![forbid(unsafe_code)]
// A reader who has gone would end us: see `stderr`.
#![warn(clippy::print_stderr)]

pub mod archive;
pub mod attach;
mod cache;
pub mod classinfo;
pub mod classpath;
pub mod commands;
pub mod confine;
pub mod copyplan;
pub mod crashes;
mod files;
mod folder;
pub mod generate;
pub mod graph;
pub mod input;
pub mod inspect;
pub mod instrument;
pub mod java;
pub mod jdk;
pub mod junit;
pub mod model;
pub mod mutability;
mod nested;
pub mod program;
mod progress;
pub mod repair;
mod signals;
pub mod stderr;
pub mod stdout;
mod temporary;
pub mod text;
pub mod trace;
pub mod tree;
pub mod trim;
pub mod view;
pub mod views;

/// Version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
