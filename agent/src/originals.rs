//! Class files as their loaders gave them, before any other agent has changed
//! them.
//!
//! The hash in a recording is to be compared with the class path later, so it is computed from the
//! bytes that the first of all agents sees. The probes go into what the last agent leaves (see
//! [`crate::hook`]). In between, on the same thread, run the other agents, which may load classes
//! themselves.

use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fmt::Write;

/// The most class loadings nested in each other; agents that load a class from within a hook need
/// two or three.
const MAX_NESTED: usize = 64;

/// A class file that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Original {
    name: String,
    pub(crate) sha256: [u8; 32],
    /// A fast hash, beside the length, to see whether an agent has changed it.
    crc: u32,
    len: usize,
}

impl Original {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Original {
        Original {
            name: name.to_owned(),
            sha256: sha256(bytes),
            crc: crc32fast::hash(bytes),
            len: bytes.len(),
        }
    }

    /// CRC-32 of the class file.
    pub(crate) fn crc(&self) -> u32 {
        self.crc
    }

    /// Whether these bytes are the same.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        self.len == bytes.len() && self.crc == crc32fast::hash(bytes)
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// A SHA-256 in hexadecimal.
pub(crate) fn hex(sha256: &[u8; 32]) -> String {
    let mut text = String::with_capacity(64);
    for byte in sha256 {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

thread_local! {
    static LOADING: RefCell<Vec<Original>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what the first agent sees, until [`take`].
pub(crate) fn keep(original: Original) {
    // A thread that is ending loads no class that matters.
    let _ = LOADING.try_with(|loading| {
        if let Ok(mut loading) = loading.try_borrow_mut()
            && loading.len() < MAX_NESTED
        {
            loading.push(original);
        }
    });
}

/// What was kept of this class, if the current thread is loading it. What was kept since belongs to
/// loadings that are over.
pub(crate) fn take(name: &str) -> Option<Original> {
    LOADING
        .try_with(|loading| {
            let mut loading = loading.try_borrow_mut().ok()?;
            let at = loading.iter().rposition(|one| one.name == name)?;
            loading.truncate(at + 1);
            loading.pop()
        })
        .ok()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{Original, keep, take};

    #[test]
    fn nested_loadings_do_not_mix() {
        keep(Original::new("a/Outer", b"outer"));
        keep(Original::new("a/Inner", b"inner"));
        keep(Original::new("a/Failed", b"never asked for"));
        assert!(take("a/Inner").unwrap().is(b"inner"));
        assert_eq!(take("a/Failed"), None);
        let outer = take("a/Outer").unwrap();
        assert!(outer.is(b"outer") && !outer.is(b"changed"));
        assert_eq!(take("a/Outer"), None);
    }

    #[test]
    fn nesting_is_bounded() {
        for number in 0..1000 {
            keep(Original::new(&number.to_string(), b""));
        }
        assert!(take("0").is_some());
        assert_eq!(take("1"), None);
    }
}
