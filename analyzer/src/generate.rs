//! Regression tests from recorded runs (Palulu; Artzi, 2009, chapter 2).
//!
//! - [`sequence`] is a run of calls with their arguments, as data; [`lambda`] holds the functions
//!   that are passed.
//! - [`carve`] cuts sequences out of a recorded run, of which [`observed`] makes tests; [`search`]
//!   makes new ones from models and at random, from what [`surface`] finds callable, by the
//!   [`ways`] to make objects of the JDK; [`focus`] finds the models that lead to what it lacks.
//! - [`platform`] knows the JDK's classes; [`random`] chooses.
//! - [`worker`] executes sequences in a child JVM, in which [`guard`] keeps the program from doing
//!   harm, and [`crate::confine`] does so where the guard sees nothing.
//! - [`inputs`] is the same search for stage R of the mutability analysis.
//! - [`complete`] makes a test of a sequence, in a [`lab`] with many others: [`observers`] question
//!   its object at the end, [`asserted`] chooses what is asserted, and drops calls that nothing
//!   needs; [`effects`] asserts what calls have done to their arguments. [`distinct`] leaves out
//!   tests that say the same as others.
//! - [`changes`] finds what another version does differently; [`narrowed`] finds what it makes less
//!   visible.
//! - [`emit`] writes Java; [`suite`] compiles it, runs it and keeps what passes. `error` says why
//!   there are no tests.
//!
//! ```text
//! trace -> carve --+-> sequence -> worker -> asserted -> emit -> suite -> files
//! model -> search -+                  ^ guard
//! ```
//!
//! **Invariant:** the program's code runs in child JVMs only, in classes that [`guard`] has
//! rewritten.

pub mod asserted;
pub mod carve;
pub mod changes;
pub mod complete;
pub mod distinct;
pub mod effects;
pub mod emit;
mod error;
pub mod focus;
pub mod guard;
pub mod inputs;
pub mod lab;
pub mod lambda;
pub mod narrowed;
pub mod observed;
pub mod observers;
pub mod platform;
pub mod random;
pub mod search;
pub mod sequence;
pub mod suite;
pub mod surface;
pub mod ways;
pub mod worker;

pub use error::{Error, Result};
