//! Calls that are not written yet: what they return may go right into the next call.
//!
//! They are a stack in the order in which they are executed. A call takes its operands
//! from the top of it, the last one first, so that Java evaluates all in that order; what
//! a call does not take is written in statements of its own before it.

/// A call that is not written yet, with what was called on it.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// The last call.
    pub at: usize,
    /// The variable that it is: its own, or what it returns again.
    pub of: usize,
    /// How `of` is written: what makes it, or its name.
    pub head: String,
    /// Whether that is its name.
    pub declared: bool,
    /// The calls behind it.
    pub tail: String,
    /// Whether it is asserted that these return `of`.
    pub asserted: bool,
    /// How deep other calls are in its arguments.
    pub depth: usize,
}

impl Pending {
    /// As an expression.
    pub fn text(&self) -> String {
        format!("{}{}", self.head, self.tail)
    }
}

/// For what a variable is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To be called.
    On,
    /// As an argument.
    Argument,
    /// Otherwise, as in an array, or to be compared with.
    Other,
}
