//! The vocabulary of a crash file.
//!
//! - `failure` is what failed, where, and with which arguments.
//! - `graph` holds values, the objects that they refer to, and their classes.
//! - `stored` is how values, texts and objects are laid out in a file.
//! - `evaluated` takes run-specific numbers out of the names of classes that are made when a text
//!   is evaluated.
//!
//! Class names are binary names with dots (`java.util.Map$Entry`, JLS 13.1), arrays as in
//! `Class.getName` (`[I`, `[Ljava.lang.String;`). Descriptors are those of JVMS 4.3.

mod evaluated;
mod failure;
mod graph;
mod stored;

pub use evaluated::evaluated;
pub use failure::{
    ASKED_FOR, Argument, Constant, Defaults, ExceptionInfo, Failure, Fidelity, Frame, Lock,
    MAX_EXCEPTIONS, Meta, Patch, SKIPS, STATE_RECORDED, StackElement, StaticField, THREAD_STATE,
    THREADS_ASKED_FOR, ThreadState,
};
pub use graph::{
    Body, ClassInfo, ClassKind, FieldInfo, Lambda, Object, ObjectBlock, Origin, Text, Value, is_box,
};
