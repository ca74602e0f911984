//! A class that was instrumented.

use crate::loaders::Loader;
use crate::originals;
use hindsight_instrument::{
    self as instrument, Method, Rewritten, SkipReason, Skipped, SkippedMethods,
};
use std::sync::{Arc, Mutex, PoisonError};

/// A class that was instrumented.
#[derive(Debug)]
pub(crate) struct Class {
    /// Binary name with dots.
    pub(crate) name: String,
    /// The SHA-256 of the class file as its loader gave it; not known for a class that was loaded
    /// before the agent.
    pub(super) sha256: Option<[u8; 32]>,
    /// The SHA-256 of the bytes into which the probes went, and of whether the plan has decided
    /// what they keep.
    pub(super) origin: [u8; 32],
    /// The SHA-256 of the same, and of which methods have got probes, if not all that could.
    pub(super) version: [u8; 32],
    pub(super) first_id: u32,
    pub(super) methods: instrument::Methods,
    /// The indices of methods that only report what they catch.
    pub(super) aside: Vec<usize>,
    /// The methods that were left alone.
    pub(super) skipped: SkippedMethods,
    /// The loaders that have defined it; `None` if it is never unloaded.
    pub(super) loaders: Mutex<Option<Vec<Arc<Loader>>>>,
}

impl Class {
    /// Notes that another loader defines it, too.
    pub(super) fn comes_from(&self, loader: Option<&Arc<Loader>>) {
        let mut loaders = self.loaders.lock().unwrap_or_else(PoisonError::into_inner);
        match (loader, loaders.as_mut()) {
            (None, _) => *loaders = None,
            (Some(loader), Some(known)) => {
                // It may be listed twice, if others have come in between.
                if known.last().is_some_and(|last| Arc::ptr_eq(last, loader)) {
                    return;
                }
                // Collected loaders are removed before more are added, so that a class that new
                // loaders define again and again stays small.
                if known.len() == known.capacity() {
                    known.retain(|known| !known.is_gone());
                    known.sort_unstable_by_key(Arc::as_ptr);
                    known.dedup_by(|one, other| Arc::ptr_eq(one, other));
                    known.shrink_to(2 * known.len());
                }
                known.push(Arc::clone(loader));
            }
            (Some(_), None) => {}
        }
    }

    /// Whether this loader has defined it.
    pub(super) fn is_of(&self, loader: Option<&Arc<Loader>>) -> bool {
        let loaders = self.loaders.lock().unwrap_or_else(PoisonError::into_inner);
        match (loaders.as_ref(), loader) {
            (None, None) => true,
            (Some(all), Some(loader)) => all.iter().any(|one| Arc::ptr_eq(one, loader)),
            _ => false,
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        let loaders = self.loaders.lock().unwrap_or_else(PoisonError::into_inner);
        (loaders.as_ref()).is_some_and(|all| all.iter().all(|loader| loader.is_gone()))
    }

    /// The method that `Methods::find` has found at `index`.
    pub(crate) fn method(&self, index: usize) -> Method<'_> {
        self.methods.get(index).expect("it was found there")
    }

    /// The SHA-256 of the class file as its loader gave it, in hexadecimal, if known.
    pub(crate) fn sha256(&self) -> Option<String> {
        self.sha256.as_ref().map(originals::hex)
    }

    /// Whether a method of it has probes.
    pub(crate) fn has_probes(&self) -> bool {
        !self.methods.is_empty()
    }

    /// Whether this method has probes.
    pub(crate) fn has_made(&self, name: &str, descriptor: &str) -> bool {
        let mut methods = self.methods.iter();
        methods.any(|method| (method.name, method.descriptor) == (name, descriptor))
    }

    /// Whether this method was left alone for the same reason.
    pub(crate) fn has_skipped(&self, skipped: &Skipped<'_>) -> bool {
        self.skipped.iter().any(|known| known == *skipped)
    }

    /// Whether frames of a method of this name are captured.
    pub(super) fn captures(&self, method: &str) -> bool {
        let mut methods = self.methods.iter().enumerate();
        methods.any(|(at, known)| known.name == method && !self.aside.contains(&at))
    }

    /// Why no method of this name has probes, if that is known.
    pub(super) fn skip_reason(&self, method: &str) -> Option<SkipReason> {
        if self.captures(method) {
            return None;
        }
        let mut skipped = self.skipped.iter();
        let found = skipped.find(|skipped| skipped.name == method)?;
        Some(found.reason)
    }
}

/// The methods of a class with their names and, if they were left alone, with the reason. What
/// `earlier` rewritings of the same class have made of them is not reported again.
pub(crate) fn made<'r>(
    rewritten: &'r Rewritten,
    earlier: &'r [Arc<Class>],
) -> impl Iterator<Item = (&'r str, Option<SkipReason>)> {
    let methods = rewritten.methods.iter().filter(|method| {
        let mut earlier = earlier.iter();
        !earlier.any(|class| class.has_made(method.name, method.descriptor))
    });
    let skipped = rewritten.skipped.iter().filter(|skipped| {
        let mut earlier = earlier.iter();
        !earlier.any(|class| class.has_skipped(skipped))
    });
    methods
        .map(|method| (method.name, None))
        .chain(skipped.map(|skipped| (skipped.name, Some(skipped.reason))))
}
