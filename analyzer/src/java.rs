//! Java as source text: types, names, literals, comments; and what of the JDK is called with care.

pub mod comment;
pub mod descriptor;
pub mod harm;
pub mod jdk_value;
pub mod lines;
pub mod literal;
pub mod names;
pub mod numbered;
pub mod signature;
