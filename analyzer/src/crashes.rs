//! Crash groups: many crash files of many machines, by what failed where.
//!
//! - [`key`] says which crashes are the same failure.
//! - [`group`] holds what is known of one failure, and merges.
//! - [`collect`] finds crash files and earlier results, and reads them.
//! - [`rules`] says which rules of `report` name nothing.
//! - [`report`] writes groups for people and machines.
//!
//! **Invariant:** merging is associative and commutative, so that a fleet's
//! results can be merged in any order and by parts. What `--format json` prints
//! is an input again.

pub mod collect;
pub mod group;
pub mod key;
pub mod report;
pub mod rules;
