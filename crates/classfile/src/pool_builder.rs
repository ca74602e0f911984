//! The constant pool, added to.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::pool::tag;
use crate::{ConstantPool, Error, ErrorKind, Utf8};

/// Constants to be appended to a pool.
///
/// Equal constants are added once, and class constants that the pool has
/// already are used again. Indices of the pool keep their meaning.
#[derive(Debug, Default)]
pub struct PoolBuilder {
    base: u16,
    /// Indices taken by additions.
    added: u32,
    bytes: Vec<u8>,
    /// What was added: the constant as written, and its index.
    known: HashMap<Vec<u8>, u16, BuildHasherDefault<Fnv>>,
    /// A hash table of the old pool's class constants, zero where it is empty;
    /// filled at first use, for most classes of most programs are never asked.
    classes: Vec<u16>,
}

impl PoolBuilder {
    /// Adds to `pool`.
    pub fn new(pool: &ConstantPool<'_>) -> Self {
        Self {
            base: pool.count().max(1),
            ..Self::default()
        }
    }

    /// Whether anything was added.
    pub fn is_empty(&self) -> bool {
        self.added == 0
    }

    /// The new `constant_pool_count`.
    pub fn count(&self) -> u16 {
        // `add` keeps the sum in range.
        self.base + self.added as u16
    }

    /// The additions, to stand behind the old constants.
    pub fn raw(&self) -> &[u8] {
        &self.bytes
    }

    fn add(&mut self, constant: &[u8]) -> Result<u16, Error> {
        if let Some(&index) = self.known.get(constant) {
            return Ok(index);
        }
        let width = u32::from(matches!(constant.first(), Some(&(tag::LONG | tag::DOUBLE)))) + 1;
        let index = u32::from(self.base) + self.added;
        let full = || Error::new(ErrorKind::TooLarge("constant pool"), 0);
        if index + width > 0xffff {
            return Err(full());
        }
        let index = u16::try_from(index).map_err(|_| full())?;
        self.added += width;
        self.bytes.extend_from_slice(constant);
        self.known.insert(constant.to_vec(), index);
        Ok(index)
    }

    fn add_halves(&mut self, tag: u8, halves: &[u16]) -> Result<u16, Error> {
        let mut constant = [tag, 0, 0, 0, 0];
        for (place, half) in constant[1..].chunks_exact_mut(2).zip(halves) {
            place.copy_from_slice(&half.to_be_bytes());
        }
        self.add(&constant[..1 + 2 * halves.len()])
    }

    /// Characters in modified UTF-8.
    pub fn utf8(&mut self, content: &[u8]) -> Result<u16, Error> {
        let len = u16::try_from(content.len())
            .map_err(|_| Error::new(ErrorKind::TooLarge("string constant"), 0))?;
        let mut constant = Vec::with_capacity(3 + content.len());
        constant.push(tag::UTF8);
        constant.extend(len.to_be_bytes());
        constant.extend_from_slice(content);
        self.add(&constant)
    }

    /// A class by internal name, or an array type by descriptor. `pool` is the
    /// pool that is added to.
    pub fn class(&mut self, pool: &ConstantPool<'_>, name: Utf8<'_>) -> Result<u16, Error> {
        if let Some(index) = self.old_class(pool, name) {
            return Ok(index);
        }
        let utf8 = self.utf8(name.as_bytes())?;
        self.add_halves(tag::CLASS, &[utf8])
    }

    fn old_class(&mut self, pool: &ConstantPool<'_>, name: Utf8<'_>) -> Option<u16> {
        let probe = |table: &[u16], name: Utf8<'_>| {
            let mut hasher = Fnv::default();
            hasher.write(name.as_bytes());
            // The table's length is a power of two, and at most half is taken.
            let mut at = hasher.finish() as usize & (table.len() - 1);
            while let Some(&index) = table.get(at).filter(|&&index| index != 0) {
                if pool.class(index) == Ok(name) {
                    return (at, Some(index));
                }
                at = (at + 1) & (table.len() - 1);
            }
            (at, None)
        };
        if self.classes.is_empty() {
            let len = 2 * (pool.classes().count() + 1).next_power_of_two();
            self.classes = vec![0; len];
            for (index, name) in pool.classes() {
                if let (at, None) = probe(&self.classes, name)
                    && let Some(place) = self.classes.get_mut(at)
                {
                    *place = index;
                }
            }
        }
        probe(&self.classes, name).1
    }

    /// An `int`.
    pub fn integer(&mut self, value: i32) -> Result<u16, Error> {
        let [a, b, c, d] = value.to_be_bytes();
        self.add(&[tag::INTEGER, a, b, c, d])
    }

    /// A name with a descriptor.
    pub fn name_and_type(&mut self, name: &[u8], descriptor: &[u8]) -> Result<u16, Error> {
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        self.add_halves(tag::NAME_AND_TYPE, &[name, descriptor])
    }

    /// A method of the class whose constant is `owner`.
    pub fn method(&mut self, owner: u16, name: &[u8], descriptor: &[u8]) -> Result<u16, Error> {
        let name_and_type = self.name_and_type(name, descriptor)?;
        self.add_halves(tag::METHODREF, &[owner, name_and_type])
    }
}

/// FNV-1a: quick for short keys. An attacker who makes collisions slows down
/// the loading of their own classes.
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    /// A pool with one class, `A`.
    const POOL: [u8; 9] = [0, 3, tag::UTF8, 0, 1, b'A', tag::CLASS, 0, 1];

    #[test]
    fn equal_constants_are_added_once_and_old_ones_reused() {
        let pool = ConstantPool::parse(&POOL, &mut Reader::new(&POOL, 0)).unwrap();
        let mut builder = PoolBuilder::new(&pool);
        assert_eq!(builder.class(&pool, Utf8::new(b"A")), Ok(2));
        assert!(builder.is_empty());
        assert_eq!(builder.class(&pool, Utf8::new(b"B")), Ok(4));
        assert_eq!(builder.class(&pool, Utf8::new(b"B")), Ok(4));
        assert_eq!(builder.integer(-1), Ok(5));
        assert_eq!(builder.count(), 6);
        assert_eq!(builder.raw()[..4], [tag::UTF8, 0, 1, b'B']);
    }

    #[test]
    fn a_full_pool_is_an_error() {
        let pool = ConstantPool::parse(&POOL, &mut Reader::new(&POOL, 0)).unwrap();
        let mut builder = PoolBuilder::new(&pool);
        for value in 3..0xffff {
            builder.integer(value).unwrap();
        }
        assert_eq!(builder.count(), 0xffff);
        assert!(builder.integer(0x10_0000).is_err());
        assert_eq!(builder.integer(3), Ok(3));
    }
}
