//! The static core: a program as classes, methods, control flow and values.
//!
//! - [`names`] gives every name a small number, from any thread.
//! - [`source`] finds class files in directories, archives within archives and jmods; [`jimage`]
//!   reads the JDK's own image.
//! - [`hierarchy`] is the [`Program`]: its classes, what each extends and declares.
//! - `selection` finds the method that a name means, and the one that a call runs.
//! - [`cfg`](mod@cfg) cuts a body into blocks; [`ssa`] turns it into three-address code, in which
//!   each value is assigned once and the operand stack is gone.
//! - [`calls`] finds what a call may run.
//! - [`dataflow`] solves equations over blocks.
//!
//! ```text
//! class path, JDK -> source, jimage -> Program -> calls
//!                                         |
//!                       one method's Code -> Cfg -> ssa::Body -> passes
//! ```
//!
//! **Invariant:** bytes are hostile. A class that breaks the format is left out with a warning that
//! names it, and so is a method; nothing panics.
//!
//! **Invariant:** memory holds one method's values at a time (one for each thread); what stays is
//! what a pass keeps.

pub mod calls;
pub mod cfg;
pub mod dataflow;
pub mod hierarchy;
pub mod jimage;
pub mod names;
mod selection;
pub mod source;
pub mod ssa;

pub use hierarchy::{Class, ClassId, Method, MethodId, Program};
pub use names::{Names, Sym};
