//! Stage R: runs with random inputs, made for methods of which something is not
//! known yet.
//!
//! What executes them stands elsewhere ([`crate::generate::inputs`]): this is what
//! the analysis asks of it.

use super::recorded::{Code, Evidence};
use anyhow::Result;
use std::collections::BTreeMap;

/// Class, name and descriptor of a method.
pub type MethodName = (String, String, String);

/// Executes methods at random.
pub trait Inputs {
    /// Executes methods, `wanted` ones before others, and tells what the run has
    /// shown; nothing if there is no time left, or nothing that can be called.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be executed, or nothing was recorded.
    fn run(
        &mut self,
        wanted: &[MethodName],
        code: &Code<'_>,
        transitive: bool,
    ) -> Result<Option<Evidence>>;

    /// Classes that run in place of those of the class path: the SHA-256 of each,
    /// and that of the other.
    fn stand_ins(&self) -> BTreeMap<String, String>;
}
