//! Java as source text.
//!
//! - [`descriptor`] and [`signature`] read types from class files; [`names`] writes types and makes
//!   names; [`numbered`] knows names that compilers number.
//! - [`literal`] writes literals, [`jdk_value`] values of the JDK that are made of a text,
//!   [`comment`] comments.
//! - [`lines`] breaks statements into lines.
//! - [`harm`] knows which methods of the JDK a test must not call without being asked.

pub mod comment;
pub mod descriptor;
pub mod harm;
pub mod jdk_value;
pub mod lines;
pub mod literal;
pub mod names;
pub mod numbered;
pub mod signature;
