//! Showing a crash: [`text`] for people, [`json`] for machines.

pub mod json;
pub mod text;
