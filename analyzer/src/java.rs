//! Java as source text: types, names, literals, comments.

pub mod comment;
pub mod descriptor;
pub mod literal;
pub mod names;
pub mod signature;
