//! Names as numbers.

use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of a name. Equal numbers are equal names of the same [`Names`]; their order has no
/// meaning and differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

const SHARDS: usize = 32;

/// All names, as bytes in the class file's encoding. Shared between threads.
#[derive(Debug)]
pub struct Names {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug, Default)]
struct Shard {
    numbers: FxHashMap<Arc<[u8]>, u32>,
    texts: Vec<Arc<[u8]>>,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }
}

impl Names {
    fn shard(&self, at: usize) -> std::sync::MutexGuard<'_, Shard> {
        // What a thread has added before it panicked is complete.
        self.shards[at]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn place(bytes: &[u8]) -> usize {
        let mut hasher = FxHasher::default();
        bytes.hash(&mut hasher);
        (hasher.finish() >> 59) as usize % SHARDS
    }

    /// The number of a name, which gets a new one if it has none.
    ///
    /// # Panics
    ///
    /// Panics when there are more than 2^27 names.
    pub fn intern(&self, bytes: &[u8]) -> Sym {
        let at = Self::place(bytes);
        let mut shard = self.shard(at);
        if let Some(&number) = shard.numbers.get(bytes) {
            return Sym(number);
        }
        let number = shard.texts.len() * SHARDS + at;
        let number = u32::try_from(number).expect("fewer than 2^27 names");
        let text: Arc<[u8]> = bytes.into();
        shard.texts.push(text.clone());
        shard.numbers.insert(text, number);
        Sym(number)
    }

    /// The number of a name, if it has one.
    pub fn find(&self, bytes: &[u8]) -> Option<Sym> {
        let shard = self.shard(Self::place(bytes));
        shard.numbers.get(bytes).map(|&number| Sym(number))
    }

    /// The bytes of a name.
    pub fn bytes(&self, sym: Sym) -> Arc<[u8]> {
        let number = sym.0 as usize;
        let shard = self.shard(number % SHARDS);
        let text = shard.texts.get(number / SHARDS);
        text.cloned().unwrap_or_else(|| Arc::from(&b"?"[..]))
    }

    /// The name as text for people.
    pub fn text(&self, sym: Sym) -> String {
        let bytes = self.bytes(sym);
        hindsight_classfile::Utf8::new(&bytes)
            .to_string_lossy()
            .into_owned()
    }
}

/// A map whose keys are numbers.
pub type Map<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;
/// A set of numbers.
pub type Set<K> = std::collections::HashSet<K, FxBuildHasher>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let names = Names::default();
        let numbers: Vec<Sym> = (0..1000u32)
            .map(|n| names.intern(n.to_string().as_bytes()))
            .collect();
        for (n, &sym) in numbers.iter().enumerate() {
            assert_eq!(names.text(sym), n.to_string());
            assert_eq!(names.intern(n.to_string().as_bytes()), sym);
        }
        assert_eq!(names.find(b"none"), None);
        assert_eq!(numbers.iter().collect::<Set<_>>().len(), 1000);
    }
}
