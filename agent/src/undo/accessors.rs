//! Accessors of nested classes that only look something up, so that what calls
//! them need not mind.
//!
//! An accessor is of a class's own package, so caller and callee have one loader.

use crate::jvmti::Jvmti;
use crate::sys;
use hindsight_instrument::{MemberName, Quiet};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Those of all classes so far.
#[derive(Default)]
pub(crate) struct Accessors {
    /// By the loader's identity hash, then by owner. Two loaders with one hash would
    /// have to load different classes of one name for this to be wrong.
    known: Mutex<HashMap<i32, ByOwner>>,
}

type ByOwner = HashMap<String, Vec<(MemberName, Quiet)>>;

impl Accessors {
    /// Takes down those of one class.
    pub(crate) fn add(&self, jvmti: Jvmti, loader: sys::Ref, found: Vec<(MemberName, Quiet)>) {
        let Some((first, _)) = found.first() else {
            return;
        };
        let owner = first.owner.clone();
        if let Some(loader) = jvmti.hash_code(loader) {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(loader).or_default().insert(owner, found);
        }
    }

    /// What is known of a method, by owner, name and descriptor.
    pub(crate) fn get(&self, jvmti: Jvmti, loader: sys::Ref, callee: [&str; 3]) -> Option<Quiet> {
        let [owner, name, descriptor] = callee;
        let loader = jvmti.hash_code(loader)?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut accessors = known.get(&loader)?.get(owner)?.iter();
        let it = |of: &&(MemberName, Quiet)| of.0.name == name && of.0.descriptor == descriptor;
        accessors.find(it).map(|&(_, quiet)| quiet)
    }
}
