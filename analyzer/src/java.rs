//! Java as source text: types, names, literals, comments.

pub mod comment;
pub mod descriptor;
pub mod jdk_value;
pub mod lines;
pub mod literal;
pub mod names;
pub mod numbered;
pub mod signature;
