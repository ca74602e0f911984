//! Shows a crash: [`text`] for people ([`fold`] and [`seen`] find what need not be shown again),
//! [`json`] for machines; [`review`] shows what a file would disclose to whoever gets it.

pub mod fold;
pub mod json;
pub mod review;
pub mod seen;
pub mod text;

use serde::{Serialize, Serializer};
use std::cell::RefCell;

/// A sequence that is written one by one, without keeping what has been written.
struct Each<I>(RefCell<I>);

impl<I: Iterator<Item: Serialize>> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&mut *self.0.borrow_mut())
    }
}
