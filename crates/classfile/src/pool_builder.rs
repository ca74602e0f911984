//! Additions to a constant pool.

use crate::pool::tag;
use crate::{ConstantPool, Error, ErrorKind, Utf8};

/// Constants to be appended to a pool.
///
/// Equal constants are added once, and class constants that the pool has already are used again.
/// Indices of the pool keep their meaning.
#[derive(Debug, Default)]
pub struct PoolBuilder {
    base: u16,
    /// The number of indices that the additions take.
    added: u32,
    bytes: Vec<u8>,
    /// The constants that were added.
    known: Vec<Known>,
    /// A hash table of indices in `known`, plus one.
    table: Table,
    /// A hash table of the old pool's class constants. It is filled at first use, because it is
    /// never needed for most classes.
    classes: Table,
}

/// A constant that was added.
#[derive(Debug, Clone, Copy)]
struct Known {
    hash: u32,
    /// The start of the constant in the bytes that were added.
    start: u32,
    index: u16,
}

impl PoolBuilder {
    /// A builder that adds to `pool`.
    pub fn new(pool: &ConstantPool<'_>) -> Self {
        let mut builder = Self::default();
        builder.restart(pool);
        builder
    }

    /// Forgets all additions, and from now on adds to `pool`, in the same memory.
    pub fn restart(&mut self, pool: &ConstantPool<'_>) {
        self.base = pool.count().max(1);
        self.added = 0;
        self.bytes.clear();
        // The memory is not kept forever if one strange class has added much.
        self.bytes.shrink_to(1 << 16);
        self.known.clear();
        self.table.clear();
        self.classes.clear();
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

    /// The bytes of the additions, which go behind the old constants.
    pub fn raw(&self) -> &[u8] {
        &self.bytes
    }

    fn add(&mut self, constant: &[u8]) -> Result<u16, Error> {
        let hash = hash(constant);
        let place = match self.find(hash, constant) {
            Ok(index) => return Ok(index),
            Err(place) => place,
        };
        let width = u32::from(matches!(constant.first(), Some(&(tag::LONG | tag::DOUBLE)))) + 1;
        let index = u32::from(self.base) + self.added;
        let full = || Error::new(ErrorKind::TooLarge("constant pool"), 0);
        if index + width > 0xffff {
            return Err(full());
        }
        let index = u16::try_from(index).map_err(|_| full())?;
        // 65,535 constants of 65,538 bytes fit into this type.
        let start = u32::try_from(self.bytes.len()).map_err(|_| full())?;
        self.added += width;
        self.bytes.extend_from_slice(constant);
        self.known.push(Known { hash, start, index });
        let known = &self.known;
        self.table.insert(place, hash, known.len() as u16, |place| {
            known
                .get(usize::from(place) - 1)
                .map_or(0, |known| known.hash)
        });
        Ok(index)
    }

    /// The index of an added constant or, as the error, the place for it in the table.
    fn find(&self, hash: u32, constant: &[u8]) -> Result<u16, usize> {
        let known = |place: u16| self.known.get(usize::from(place) - 1);
        let place = self.table.probe(hash, |place| {
            known(place).is_some_and(|known| {
                known.hash == hash
                    && self
                        .bytes
                        .get(known.start as usize..)
                        // No constant is a prefix of another one.
                        .is_some_and(|bytes| bytes.starts_with(constant))
            })
        })?;
        known(place)
            .map(|known| known.index)
            .ok_or(usize::from(place))
    }

    fn add_halves(&mut self, tag: u8, halves: &[u16]) -> Result<u16, Error> {
        let mut constant = [tag, 0, 0, 0, 0];
        for (place, half) in constant[1..].chunks_exact_mut(2).zip(halves) {
            place.copy_from_slice(&half.to_be_bytes());
        }
        self.add(&constant[..1 + 2 * halves.len()])
    }

    /// The index of characters in modified UTF-8.
    pub fn utf8(&mut self, content: &[u8]) -> Result<u16, Error> {
        let len = u16::try_from(content.len())
            .map_err(|_| Error::new(ErrorKind::TooLarge("string constant"), 0))?;
        let [high, low] = len.to_be_bytes();
        // Names are short.
        let mut short = [0; 128];
        if let Some(constant) = short.get_mut(..3 + content.len()) {
            let (head, rest) = constant.split_at_mut(3);
            head.copy_from_slice(&[tag::UTF8, high, low]);
            rest.copy_from_slice(content);
            return self.add(constant);
        }
        let mut constant = Vec::with_capacity(3 + content.len());
        constant.extend_from_slice(&[tag::UTF8, high, low]);
        constant.extend_from_slice(content);
        self.add(&constant)
    }

    /// The index of a class given by its internal name, or of an array type given by its
    /// descriptor. `pool` is the pool that is added to.
    pub fn class(&mut self, pool: &ConstantPool<'_>, name: Utf8<'_>) -> Result<u16, Error> {
        if let Some(index) = self.old_class(pool, name) {
            return Ok(index);
        }
        let utf8 = self.utf8(name.as_bytes())?;
        self.add_halves(tag::CLASS, &[utf8])
    }

    /// The index of the class constant with this name in the old pool, which is `pool`.
    pub fn old_class(&mut self, pool: &ConstantPool<'_>, name: Utf8<'_>) -> Option<u16> {
        let hash_at = |index| pool.class(index).map_or(0, |name| hash_name(name));
        if self.classes.is_empty() {
            for (index, name) in pool.classes() {
                // The first of equal ones counts.
                let hash = hash_name(name);
                let known = |known| pool.class(known) == Ok(name);
                if let Err(place) = self.classes.probe(hash, known) {
                    self.classes.insert(place, hash, index, hash_at);
                }
            }
        }
        self.classes
            .probe(hash_name(name), |known| pool.class(known) == Ok(name))
            .ok()
    }

    /// The index of an `int`.
    pub fn integer(&mut self, value: i32) -> Result<u16, Error> {
        let [a, b, c, d] = value.to_be_bytes();
        self.add(&[tag::INTEGER, a, b, c, d])
    }

    /// The index of a name with a descriptor.
    pub fn name_and_type(&mut self, name: &[u8], descriptor: &[u8]) -> Result<u16, Error> {
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        self.add_halves(tag::NAME_AND_TYPE, &[name, descriptor])
    }

    /// The index of a field of the class whose constant is `owner`.
    pub fn field(&mut self, owner: u16, name: &[u8], descriptor: &[u8]) -> Result<u16, Error> {
        let name_and_type = self.name_and_type(name, descriptor)?;
        self.add_halves(tag::FIELDREF, &[owner, name_and_type])
    }

    /// The index of a method of the class whose constant is `owner`.
    pub fn method(&mut self, owner: u16, name: &[u8], descriptor: &[u8]) -> Result<u16, Error> {
        let name_and_type = self.name_and_type(name, descriptor)?;
        self.add_halves(tag::METHODREF, &[owner, name_and_type])
    }

    /// The index of a method handle of a kind (JVMS table 5.4.3.5-A) to the field or method whose
    /// constant is `reference`.
    pub fn method_handle(&mut self, kind: u8, reference: u16) -> Result<u16, Error> {
        let [high, low] = reference.to_be_bytes();
        self.add(&[tag::METHOD_HANDLE, kind, high, low])
    }
}

/// A hash table of numbers that are not zero. Its length is a power of two, and
/// at most half of it is taken.
#[derive(Debug, Default)]
struct Table {
    places: Vec<u16>,
    taken: usize,
}

impl Table {
    fn clear(&mut self) {
        // A table that a large class has made would otherwise be cleared for each of the small ones
        // after it.
        self.places.truncate(256);
        self.places.fill(0);
        self.taken = 0;
    }

    fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// The number with this hash that `is_it` accepts or, as the error, the place for it.
    #[inline]
    fn probe(&self, hash: u32, is_it: impl Fn(u16) -> bool) -> Result<u16, usize> {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            match self.places.get(at) {
                None | Some(0) => return Err(at),
                Some(&number) if is_it(number) => return Ok(number),
                Some(_) => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a number that is not in the table yet, at the place that [`Self::probe`] has found for
    /// it. `hash_of` returns the hash of a number that is in the table.
    fn insert(&mut self, place: usize, hash: u32, number: u16, hash_of: impl Fn(u16) -> u32) {
        self.taken += 1;
        if 2 * self.taken > self.places.len() {
            let old = std::mem::take(&mut self.places);
            self.places = vec![0; (2 * old.len()).max(64)];
            for number in old.into_iter().filter(|&number| number != 0) {
                self.put(hash_of(number), number);
            }
            self.put(hash, number);
        } else if let Some(place) = self.places.get_mut(place) {
            *place = number;
        }
    }

    fn put(&mut self, hash: u32, number: u16) {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        // Half of the places are empty, so this ends.
        while let Some(place) = self.places.get_mut(at) {
            if *place == 0 {
                *place = number;
                return;
            }
            at = (at + 1) & mask;
        }
    }
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR)
}

/// A hash over words of eight bytes. An attacker who makes collisions only slows down the loading
/// of their own classes.
fn hash(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| {
        mix(hash, u64::from_le_bytes(*word))
    });
    let rest = rest
        .iter()
        .fold(0, |word, &byte| word << 8 | u64::from(byte));
    (mix(hash, rest) >> 32) as u32
}

/// A hash over the end of a class's name, where names differ.
fn hash_name(name: Utf8<'_>) -> u32 {
    let bytes = name.as_bytes();
    let len = bytes.len() as u64;
    match bytes.last_chunk::<16>() {
        Some([a, b, c, d, e, f, g, h, last @ ..]) => {
            let before = u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
            let last = u64::from_le_bytes(*last);
            (mix(mix(len, before), last) >> 32) as u32
        }
        None => hash(bytes),
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
