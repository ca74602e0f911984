//! Accessors of nested classes that only look something up, so that their callers need not treat
//! them as calls with effects.
//!
//! An accessor is in a class's own package, so caller and callee have one loader.

use hindsight_instrument::{MemberName, Quiet};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The accessors of one loader's classes so far, by owner.
#[derive(Debug, Default)]
pub(crate) struct Accessors(Mutex<HashMap<String, Vec<(MemberName, Quiet)>>>);

impl Accessors {
    /// Adds those of one class.
    pub(crate) fn add(&self, found: Vec<(MemberName, Quiet)>) {
        let Some((first, _)) = found.first() else {
            return;
        };
        let owner = first.owner.clone();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(owner, found);
    }

    /// The properties of a method, by owner, name and descriptor.
    pub(crate) fn get(&self, [owner, name, descriptor]: [&str; 3]) -> Option<Quiet> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut accessors = known.get(owner)?.iter();
        let it = |of: &&(MemberName, Quiet)| of.0.name == name && of.0.descriptor == descriptor;
        accessors.find(it).map(|&(_, quiet)| quiet)
    }
}
