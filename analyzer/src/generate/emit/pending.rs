//! Calls that are not written yet, because their results may be nested in the next call.
//!
//! They are a stack in the order in which they are executed. A call takes its operands from the top
//! of it, the last one first, so that Java evaluates all in that order; calls that are not taken
//! are written as statements of their own before it.

/// A call that is not written yet, with the calls chained to it.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// The last call.
    pub at: usize,
    /// The variable that it is: its own, or the one that it returns again.
    pub of: usize,
    /// The text of `of`: the expression that makes it, or its name.
    pub head: String,
    /// Whether that is its name.
    pub declared: bool,
    /// The calls chained to it.
    pub tail: String,
    /// Whether it is asserted that these return `of`.
    pub asserted: bool,
    /// The depth of other calls in its arguments.
    pub depth: usize,
}

impl Pending {
    /// The call as an expression.
    pub fn text(&self) -> String {
        format!("{}{}", self.head, self.tail)
    }
}

/// The use of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To be called.
    On,
    /// As an argument.
    Argument,
    /// Another use, as in an array, or in a comparison.
    Other,
}
