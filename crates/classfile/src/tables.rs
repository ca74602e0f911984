//! Attributes that say where code and names come from: lines, variables,
//! parameters, inner classes (JVMS 4.7.6, 4.7.10 to 4.7.14, 4.7.24).

use std::marker::PhantomData;

use crate::{Attribute, ConstantPool, Error, ErrorKind, Reader, Utf8};

/// An entry of a [`Table`].
pub trait Entry: Sized {
    /// The number of bytes of each entry, which is what [`Entry::read`] takes.
    #[doc(hidden)]
    const WIDTH: usize;

    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])>;
}

/// A run of entries of fixed length, whose claimed count was checked against the bytes.
#[derive(Debug, Clone)]
pub struct Table<'a, T> {
    bytes: &'a [u8],
    entry: PhantomData<T>,
}

impl<'a, T: Entry> Table<'a, T> {
    fn new(mut r: Reader<'a>, count: u16, name: &'static str) -> Result<Self, Error> {
        let rest = r;
        let bytes = r.bytes(usize::from(count) * T::WIDTH)?;
        if !r.is_empty() {
            return Err(rest.error(ErrorKind::BadAttribute(name)));
        }
        Ok(Self {
            bytes,
            entry: PhantomData,
        })
    }
}

impl<T: Entry> Iterator for Table<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let (entry, rest) = T::read(self.bytes)?;
        self.bytes = rest;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len() / T::WIDTH;
        (left, Some(left))
    }
}

impl<T: Entry> ExactSizeIterator for Table<'_, T> {}

/// An entry of a `LineNumberTable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNumber {
    /// The offset of the first instruction of the line.
    pub start: u16,
    /// The line number.
    pub line: u16,
}

impl Entry for LineNumber {
    const WIDTH: usize = 4;

    #[inline]
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (halves, rest) = bytes.split_first_chunk::<4>()?;
        let half = |at: usize| u16::from_be_bytes([halves[at], halves[at + 1]]);
        let entry = Self {
            start: half(0),
            line: half(2),
        };
        Some((entry, rest))
    }
}

/// Reads a `LineNumberTable`. A body may have several.
#[inline]
pub fn line_numbers<'a>(attribute: &Attribute<'a>) -> Result<Table<'a, LineNumber>, Error> {
    let mut r = attribute.reader();
    let count = r.u16()?;
    Table::new(r, count, "LineNumberTable")
}

/// An entry of a `LocalVariableTable` or `LocalVariableTypeTable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalVariable {
    /// The offset of the first instruction at which the variable has a value.
    pub start: u16,
    /// The length in bytes of the code in which it has a value.
    pub len: u16,
    /// The index of the constant that holds its name.
    pub name_index: u16,
    /// The constant that holds its descriptor or signature.
    pub type_index: u16,
    /// The variable's slot.
    pub slot: u16,
}

impl Entry for LocalVariable {
    const WIDTH: usize = 10;

    #[inline]
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (halves, rest) = bytes.split_first_chunk::<10>()?;
        let half = |at: usize| u16::from_be_bytes([halves[at], halves[at + 1]]);
        let entry = Self {
            start: half(0),
            len: half(2),
            name_index: half(4),
            type_index: half(6),
            slot: half(8),
        };
        Some((entry, rest))
    }
}

/// Reads a `LocalVariableTable` or `LocalVariableTypeTable`. A body may have
/// several.
#[inline]
pub fn local_variables<'a>(attribute: &Attribute<'a>) -> Result<Table<'a, LocalVariable>, Error> {
    let mut r = attribute.reader();
    let count = r.u16()?;
    Table::new(r, count, "LocalVariableTable")
}

/// An entry of a `MethodParameters` attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodParameter {
    /// The index of the constant that holds its name; 0 for none.
    pub name_index: u16,
    /// The flags `final`, `synthetic` (0x1000) and `mandated` (0x8000).
    pub access: u16,
}

impl Entry for MethodParameter {
    const WIDTH: usize = 4;

    #[inline]
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (halves, rest) = bytes.split_first_chunk::<4>()?;
        let half = |at: usize| u16::from_be_bytes([halves[at], halves[at + 1]]);
        let entry = Self {
            name_index: half(0),
            access: half(2),
        };
        Some((entry, rest))
    }
}

/// Reads a method's `MethodParameters`. Its entries need not correspond to those of the descriptor.
#[inline]
pub fn method_parameters<'a>(
    attribute: &Attribute<'a>,
) -> Result<Table<'a, MethodParameter>, Error> {
    let mut r = attribute.reader();
    let count = r.u8()?;
    Table::new(r, count.into(), "MethodParameters")
}

/// An entry of a class's `InnerClasses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerClass {
    /// The constant of the nested class.
    pub inner: u16,
    /// The constant of the class of which it is a member; 0 for local and anonymous classes.
    pub outer: u16,
    /// The constant of its name in the source; 0 for anonymous classes.
    pub name_index: u16,
    /// The flags that it has in the source.
    pub access: u16,
}

impl Entry for InnerClass {
    const WIDTH: usize = 8;

    #[inline]
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (halves, rest) = bytes.split_first_chunk::<8>()?;
        let half = |at: usize| u16::from_be_bytes([halves[at], halves[at + 1]]);
        let entry = Self {
            inner: half(0),
            outer: half(2),
            name_index: half(4),
            access: half(6),
        };
        Some((entry, rest))
    }
}

/// Reads a class's `InnerClasses`.
#[inline]
pub fn inner_classes<'a>(attribute: &Attribute<'a>) -> Result<Table<'a, InnerClass>, Error> {
    let mut r = attribute.reader();
    let count = r.u16()?;
    Table::new(r, count, "InnerClasses")
}

/// Reads an attribute whose content is one name: `SourceFile`, `Signature`.
#[inline]
pub fn name<'a>(pool: &ConstantPool<'a>, attribute: &Attribute<'a>) -> Result<Utf8<'a>, Error> {
    pool.utf8(attribute.reader().u16()?)
}
