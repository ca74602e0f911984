//! Showing a crash: [`text`] for people, [`json`] for machines.

pub mod fold;
pub mod json;
pub mod text;
