//! Showing a crash: [`text`] for people, [`json`] for machines; [`review`] shows
//! what a file would tell to whom it is given.

pub mod fold;
pub mod json;
pub mod review;
pub mod text;
