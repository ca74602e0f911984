//! Rewrites classes without a JVM: a class, a directory, an archive.
//!
//! - [`plan`] holds what was asked for, and rewrites one class.
//! - [`run`] drives: it passes classes to all cores in [`batch`]es and keeps a [`tally`]. [`jar`]
//!   goes through archives, nested ones too, [`tree`] through directories; [`manifest`] makes a
//!   signed jar an unsigned one.
//! - [`listing`] lists what was inserted into a class, [`text`] and [`json`] print it;
//!   [`unmatched`] finds globs that match nothing.
//! - [`target`] is the output, which is never the input and never half-written.
//!
//! **Invariant:** the same input gives the same output, byte for byte, on any number of cores:
//! methods are numbered in the order of the input.
//!
//! **Invariant:** an archive in which nothing is rewritten stays the same byte for byte, including
//! its signature.
//!
//! **Invariant:** memory is bounded whatever the input: classes are taken in batches, nested
//! archives go through temporary files, all else is copied.

pub mod batch;
pub mod jar;
pub mod json;
pub mod listing;
pub mod manifest;
pub mod plan;
pub mod run;
pub mod tally;
pub mod target;
pub mod text;
pub mod tree;
pub mod unmatched;
