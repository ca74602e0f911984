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
