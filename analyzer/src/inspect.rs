//! Showing a crash: [`text`] for people ([`fold`] and [`seen`] know what need not be
//! shown again), [`json`] for machines; [`review`] shows
//! what a file would tell to whom it is given.

pub mod fold;
pub mod json;
pub mod review;
pub mod seen;
pub mod text;
