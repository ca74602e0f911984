//! Stage R: runs with random inputs, made for methods of which something is not known yet.
//!
//! The code that executes them is elsewhere ([`crate::generate::inputs`]); this is the interface
//! that the analysis uses.

use super::recorded::{Code, Evidence};
use std::collections::BTreeMap;
use std::error::Error;

/// The class, name and descriptor of a method.
pub type MethodName = (String, String, String);

/// Why the one who executes methods cannot.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Failed(#[from] pub Box<dyn Error + Send + Sync>);

/// Executes methods at random.
pub trait Inputs {
    /// Executes methods, `wanted` ones before others, and returns what the run has shown; `None` if
    /// there is no time left, or nothing that can be called.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be executed, or nothing was recorded.
    fn run(
        &mut self,
        wanted: &[MethodName],
        code: &Code<'_>,
        transitive: bool,
    ) -> Result<Option<Evidence>, Failed>;

    /// The classes that run in place of those of the class path: for the SHA-256 of each, the
    /// SHA-256 of the class that it replaces.
    fn stand_ins(&self) -> BTreeMap<String, String>;
}
