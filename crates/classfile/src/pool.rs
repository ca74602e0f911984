//! Reading the constant pool (JVMS 4.4).

use crate::{Error, ErrorKind, Reader, Utf8};

/// The kinds of constants, by their tags (JVMS table 4.4-A).
pub mod tag {
    /// The tag of characters.
    pub const UTF8: u8 = 1;
    /// The tag of an `int`.
    pub const INTEGER: u8 = 3;
    /// The tag of a `float`.
    pub const FLOAT: u8 = 4;
    /// The tag of a `long`.
    pub const LONG: u8 = 5;
    /// The tag of a `double`.
    pub const DOUBLE: u8 = 6;
    /// The tag of a class or array type.
    pub const CLASS: u8 = 7;
    /// The tag of a string.
    pub const STRING: u8 = 8;
    /// The tag of a field.
    pub const FIELDREF: u8 = 9;
    /// The tag of a method of a class.
    pub const METHODREF: u8 = 10;
    /// The tag of a method of an interface.
    pub const INTERFACE_METHODREF: u8 = 11;
    /// The tag of a name with a descriptor.
    pub const NAME_AND_TYPE: u8 = 12;
    /// The tag of a method handle.
    pub const METHOD_HANDLE: u8 = 15;
    /// The tag of a method type.
    pub const METHOD_TYPE: u8 = 16;
    /// The tag of a dynamically computed constant.
    pub const DYNAMIC: u8 = 17;
    /// The tag of a dynamically computed call site.
    pub const INVOKE_DYNAMIC: u8 = 18;
    /// The tag of a module.
    pub const MODULE: u8 = 19;
    /// The tag of a package.
    pub const PACKAGE: u8 = 20;

    /// The number of bytes that follow each tag; 0 for an invalid tag. For UTF8, only the two bytes
    /// of the length count.
    pub(crate) static LENGTHS: [u8; 256] = {
        let mut lengths = [0; 256];
        lengths[UTF8 as usize] = 2;
        (lengths[INTEGER as usize], lengths[FLOAT as usize]) = (4, 4);
        (lengths[LONG as usize], lengths[DOUBLE as usize]) = (8, 8);
        (lengths[FIELDREF as usize], lengths[METHODREF as usize]) = (4, 4);
        (
            lengths[INTERFACE_METHODREF as usize],
            lengths[NAME_AND_TYPE as usize],
        ) = (4, 4);
        (lengths[DYNAMIC as usize], lengths[INVOKE_DYNAMIC as usize]) = (4, 4);
        (lengths[CLASS as usize], lengths[STRING as usize]) = (2, 2);
        lengths[METHOD_HANDLE as usize] = 3;
        lengths[METHOD_TYPE as usize] = 2;
        (lengths[MODULE as usize], lengths[PACKAGE as usize]) = (2, 2);
        lengths
    };

    /// A mask for the two bytes behind each tag, which yields the number of further bytes: all bits
    /// for UTF8, else none.
    pub(crate) static CHARACTERS: [u16; 256] = {
        let mut masks = [0; 256];
        masks[UTF8 as usize] = 0xffff;
        masks
    };
}

/// The constants of a class, found by index.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    /// The bytes of the file, from its start.
    bytes: &'a [u8],
    /// The offset of each constant's tag; 0 for index 0 and for the second index of a `long` or
    /// `double`.
    offsets: Vec<u32>,
    start: usize,
    end: usize,
    /// The count as it stands in the file, which may be 0 or 1 for an empty pool.
    count_read: u16,
}

/// A constant with its parts resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant<'a> {
    /// Characters: a name, a descriptor, the content of a string.
    Utf8(Utf8<'a>),
    /// An `int`.
    Integer(i32),
    /// A `float` as its bits, which distinguish NaNs.
    Float(u32),
    /// A `long`.
    Long(i64),
    /// A `double`, as its bits.
    Double(u64),
    /// A class by its internal name (`a/b/C`), or an array type by its descriptor.
    Class(Utf8<'a>),
    /// A string.
    String(Utf8<'a>),
    /// A field.
    Field(MemberRef<'a>),
    /// A method of a class.
    Method(MemberRef<'a>),
    /// A method of an interface.
    InterfaceMethod(MemberRef<'a>),
    /// A name with a descriptor.
    NameAndType {
        /// The name, such as that of a field or method.
        name: Utf8<'a>,
        /// The descriptor of a field or method.
        descriptor: Utf8<'a>,
    },
    /// A method handle.
    MethodHandle {
        /// The kind of the handle (JVMS table 5.4.3.5-A).
        kind: u8,
        /// The index of the constant of the field or method.
        reference: u16,
    },
    /// A method type, by its descriptor.
    MethodType(Utf8<'a>),
    /// A dynamically computed constant.
    Dynamic {
        /// An index into the `BootstrapMethods` attribute.
        bootstrap: u16,
        /// The name given to the bootstrap method.
        name: Utf8<'a>,
        /// The descriptor of the constant's type.
        descriptor: Utf8<'a>,
    },
    /// A dynamically computed call site.
    InvokeDynamic {
        /// An index into the `BootstrapMethods` attribute.
        bootstrap: u16,
        /// The name given to the bootstrap method.
        name: Utf8<'a>,
        /// The descriptor of the call.
        descriptor: Utf8<'a>,
    },
    /// A module, by its name.
    Module(Utf8<'a>),
    /// A package, by its internal name.
    Package(Utf8<'a>),
}

/// A field or method as code refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberRef<'a> {
    /// The class in which the search for it begins, which need not be the one that declares it.
    pub owner: Utf8<'a>,
    /// The member's name.
    pub name: Utf8<'a>,
    /// The member's descriptor.
    pub descriptor: Utf8<'a>,
}

impl<'a> ConstantPool<'a> {
    /// Reads a pool on its own: its count, and the constants.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::parse(bytes, &mut Reader::new(bytes, 0))
    }

    /// Reads the pool from its count on. `bytes` is the whole file, because offsets count from its
    /// start.
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8], r: &mut Reader<'a>) -> Result<Self, Error> {
        let count = r.u16()?;
        let start = r.position();
        // The smallest constant has three bytes, so the claimed count is bounded by what is there.
        let mut offsets = Vec::with_capacity(usize::from(count).min(r.remaining() / 3 + 2));
        offsets.push(0);
        let mut rest = bytes.get(start..).unwrap_or(&[]);
        while offsets.len() < usize::from(count) {
            let at = bytes.len() - rest.len();
            // A file that is too long for this is too long for the format: the pool alone has at
            // most 65,535 constants of 65,538 bytes.
            let at32 =
                u32::try_from(at).map_err(|_| Error::new(ErrorKind::TooLarge("file"), at))?;
            offsets.push(at32);
            // No constant is shorter than this. Processors predict badly which constants are
            // characters, so this code does not branch on it.
            let &[tag, high, low] = rest
                .first_chunk()
                .ok_or_else(|| Self::no_constant(Reader::new(rest, at)))?;
            let characters = u16::from_be_bytes([high, low]) & tag::CHARACTERS[usize::from(tag)];
            let len = usize::from(tag::LENGTHS[usize::from(tag)]) + usize::from(characters);
            match rest.get(len + 1..) {
                Some(behind) if len != 0 => rest = behind,
                _ => return Err(Self::no_constant(Reader::new(rest, at))),
            }
            // Longs and doubles take two indices, "a poor choice" (JVMS 4.4.5).
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                offsets.push(0);
            }
        }
        r.bytes(bytes.len() - rest.len() - start)?;
        if offsets.len() > usize::from(count.max(1)) {
            return Err(r.error(ErrorKind::TooLarge("constant pool")));
        }
        Ok(Self {
            bytes,
            offsets,
            start,
            end: r.position(),
            count_read: count,
        })
    }

    /// The error for bytes that should be a constant and are not.
    #[cold]
    fn no_constant(mut r: Reader<'_>) -> Error {
        let at = r.offset();
        let bad = |tag| Error::new(ErrorKind::BadTag(tag), at);
        let mut read = || match r.u8()? {
            tag::UTF8 => {
                let len = r.u16()?;
                r.bytes(len.into())
            }
            tag => match tag::LENGTHS[usize::from(tag)] {
                0 => Err(bad(tag)),
                len => r.bytes(len.into()),
            },
        };
        read().err().unwrap_or_else(|| bad(0))
    }

    /// The `constant_pool_count`: one more than the largest index.
    #[inline]
    pub fn count(&self) -> u16 {
        // This never exceeds the count that was read.
        self.offsets.len() as u16
    }

    /// The length of the whole file.
    #[inline]
    pub(crate) fn file_len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn count_as_read(&self) -> u16 {
        self.count_read
    }

    /// The bytes of all constants.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        &self.bytes[self.start..self.end]
    }

    /// The bytes of every constant, from its tag on, with the offset in the file.
    pub fn raw_constants(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let starts = self.offsets.iter().filter(|&&at| at != 0);
        let starts = starts.map(|&at| at as usize);
        let ends = starts.clone().skip(1).chain([self.end]);
        let constant = |(at, end)| Some((at, self.bytes.get(at..end)?));
        starts.zip(ends).filter_map(constant)
    }

    /// The offset of a constant in the file; that of the pool if there is no such constant.
    #[inline]
    pub(crate) fn offset(&self, index: u16) -> usize {
        match self.offsets.get(usize::from(index)) {
            None | Some(0) => self.start,
            Some(&at) => at as usize,
        }
    }

    #[cold]
    fn bad(&self, index: u16, expected: &'static str) -> Error {
        let kind = ErrorKind::BadConstant { index, expected };
        Error::new(kind, self.offset(index))
    }

    /// The tag of a constant, and the bytes after it.
    #[inline]
    fn entry(&self, index: u16) -> Option<(u8, &'a [u8])> {
        match self.offsets.get(usize::from(index)) {
            None | Some(0) => None,
            Some(&at) => {
                let bytes = self.bytes.get(at as usize..self.end)?;
                let (&tag, rest) = bytes.split_first()?;
                Some((tag, rest))
            }
        }
    }

    #[inline]
    fn tagged(&self, index: u16, tag: u8, expected: &'static str) -> Result<&'a [u8], Error> {
        match self.entry(index) {
            Some((found, rest)) if found == tag => Ok(rest),
            _ => Err(self.bad(index, expected)),
        }
    }

    /// Two bytes of an entry's content; the entry's length was checked by parsing.
    #[inline]
    fn half(rest: &[u8], at: usize) -> u16 {
        match rest.get(at..at + 2) {
            Some(&[high, low]) => u16::from_be_bytes([high, low]),
            _ => 0,
        }
    }

    /// The characters at `index`.
    #[inline]
    pub fn utf8(&self, index: u16) -> Result<Utf8<'a>, Error> {
        let rest = self.tagged(index, tag::UTF8, "Utf8")?;
        let len = usize::from(Self::half(rest, 0));
        match rest.get(2..2 + len) {
            Some(bytes) => Ok(Utf8::new(bytes)),
            None => Err(self.bad(index, "Utf8")),
        }
    }

    /// The name of the class, or the descriptor of the array type, at `index`.
    #[inline]
    pub fn class(&self, index: u16) -> Result<Utf8<'a>, Error> {
        self.utf8(Self::half(self.tagged(index, tag::CLASS, "Class")?, 0))
    }

    /// The name and descriptor at `index`.
    #[inline]
    pub fn name_and_type(&self, index: u16) -> Result<(Utf8<'a>, Utf8<'a>), Error> {
        let rest = self.tagged(index, tag::NAME_AND_TYPE, "NameAndType")?;
        Ok((
            self.utf8(Self::half(rest, 0))?,
            self.utf8(Self::half(rest, 2))?,
        ))
    }

    fn member(&self, rest: &[u8]) -> Result<MemberRef<'a>, Error> {
        let owner = self.class(Self::half(rest, 0))?;
        let (name, descriptor) = self.name_and_type(Self::half(rest, 2))?;
        Ok(MemberRef {
            owner,
            name,
            descriptor,
        })
    }

    /// The class in which the search for the field at `index` begins.
    #[inline]
    pub fn field_owner(&self, index: u16) -> Result<Utf8<'a>, Error> {
        self.class(Self::half(
            self.tagged(index, tag::FIELDREF, "Fieldref")?,
            0,
        ))
    }

    /// The field at `index`.
    #[inline]
    pub fn field(&self, index: u16) -> Result<MemberRef<'a>, Error> {
        self.member(self.tagged(index, tag::FIELDREF, "Fieldref")?)
    }

    /// The method of a class or interface at `index`.
    #[inline]
    pub fn method(&self, index: u16) -> Result<MemberRef<'a>, Error> {
        match self.entry(index) {
            Some((tag::METHODREF | tag::INTERFACE_METHODREF, rest)) => self.member(rest),
            _ => Err(self.bad(index, "Methodref")),
        }
    }

    /// The class or interface in which the search for the method at `index` begins.
    #[inline]
    pub fn method_owner(&self, index: u16) -> Result<Utf8<'a>, Error> {
        match self.entry(index) {
            Some((tag::METHODREF | tag::INTERFACE_METHODREF, rest)) => {
                self.class(Self::half(rest, 0))
            }
            _ => Err(self.bad(index, "Methodref")),
        }
    }

    /// The constant at `index`, resolved.
    #[inline]
    pub fn get(&self, index: u16) -> Result<Constant<'a>, Error> {
        let (tag, rest) = self
            .entry(index)
            .ok_or_else(|| self.bad(index, "constant"))?;
        let word =
            |at: usize| u32::from(Self::half(rest, at)) << 16 | u32::from(Self::half(rest, at + 2));
        let double = || u64::from(word(0)) << 32 | u64::from(word(4));
        Ok(match tag {
            tag::UTF8 => Constant::Utf8(self.utf8(index)?),
            tag::INTEGER => Constant::Integer(word(0).cast_signed()),
            tag::FLOAT => Constant::Float(word(0)),
            tag::LONG => Constant::Long(double().cast_signed()),
            tag::DOUBLE => Constant::Double(double()),
            tag::CLASS => Constant::Class(self.utf8(Self::half(rest, 0))?),
            tag::STRING => Constant::String(self.utf8(Self::half(rest, 0))?),
            tag::FIELDREF => Constant::Field(self.member(rest)?),
            tag::METHODREF => Constant::Method(self.member(rest)?),
            tag::INTERFACE_METHODREF => Constant::InterfaceMethod(self.member(rest)?),
            tag::NAME_AND_TYPE => {
                let (name, descriptor) = self.name_and_type(index)?;
                Constant::NameAndType { name, descriptor }
            }
            tag::METHOD_HANDLE => Constant::MethodHandle {
                kind: rest.first().copied().unwrap_or(0),
                reference: Self::half(rest, 1),
            },
            tag::METHOD_TYPE => Constant::MethodType(self.utf8(Self::half(rest, 0))?),
            tag::DYNAMIC | tag::INVOKE_DYNAMIC => {
                let bootstrap = Self::half(rest, 0);
                let (name, descriptor) = self.name_and_type(Self::half(rest, 2))?;
                if tag == tag::DYNAMIC {
                    Constant::Dynamic {
                        bootstrap,
                        name,
                        descriptor,
                    }
                } else {
                    Constant::InvokeDynamic {
                        bootstrap,
                        name,
                        descriptor,
                    }
                }
            }
            tag::MODULE => Constant::Module(self.utf8(Self::half(rest, 0))?),
            tag::PACKAGE => Constant::Package(self.utf8(Self::half(rest, 0))?),
            _ => return Err(self.bad(index, "constant")),
        })
    }

    /// The indices of all class constants, with their names where these can be
    /// resolved.
    #[inline]
    pub fn classes(&self) -> impl Iterator<Item = (u16, Utf8<'a>)> {
        (1..self.count()).filter_map(|index| match self.entry(index) {
            Some((tag::CLASS, rest)) => Some((index, self.utf8(Self::half(rest, 0)).ok()?)),
            _ => None,
        })
    }

    /// The names of all fields that the class refers to, as far as they can be resolved, one for
    /// each constant.
    #[inline]
    pub fn field_names(&self) -> impl Iterator<Item = Utf8<'a>> {
        (1..self.count()).filter_map(|index| match self.entry(index) {
            Some((tag::FIELDREF, rest)) => {
                let name = self.name_and_type(Self::half(rest, 2)).ok()?.0;
                self.class(Self::half(rest, 0)).ok().map(|_| name)
            }
            _ => None,
        })
    }

    /// The index of the first `Utf8` constant with this content.
    #[inline]
    pub fn find_utf8(&self, content: &[u8]) -> Option<u16> {
        let [high, low] = u16::try_from(content.len()).ok()?.to_be_bytes();
        let head = [tag::UTF8, high, low];
        let found = self.offsets.iter().position(|&at| {
            // At offset 0 is the file's magic number, which is not this content.
            self.bytes
                .get(at as usize..)
                .and_then(<[u8]>::split_first_chunk)
                .is_some_and(|(found, rest)| *found == head && rest.starts_with(content))
        })?;
        // There are no more than the count that was read.
        Some(found as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a count: a name, a number of eight bytes, a class.
    const POOL: [u8; 19] = [
        0,
        5,
        tag::UTF8,
        0,
        2,
        b'a',
        b'b',
        tag::LONG,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        7,
        tag::CLASS,
        0,
        1,
    ];

    fn parse(bytes: &[u8]) -> Result<ConstantPool<'_>, Error> {
        ConstantPool::parse(bytes, &mut Reader::new(bytes, 0))
    }

    #[test]
    fn constants_of_every_length() {
        let pool = parse(&POOL).expect("it is a pool");
        assert_eq!(pool.count(), 5);
        assert_eq!(pool.get(2), Ok(Constant::Long(7)));
        assert!(pool.get(3).is_err());
        assert_eq!(pool.class(4), Ok(Utf8::new(b"ab")));
    }

    #[test]
    fn constants_as_they_are() {
        let pool = parse(&POOL).expect("it is a pool");
        let raw: Vec<_> = pool.raw_constants().collect();
        assert_eq!(
            raw,
            [(2, &POOL[2..7]), (7, &POOL[7..16]), (16, &POOL[16..])]
        );
        let empty = parse(&[0, 1]).expect("it is a pool");
        assert_eq!(empty.raw_constants().count(), 0);
    }

    #[test]
    fn what_is_no_constant_is_told_with_its_place() {
        for end in 0..POOL.len() {
            let error = parse(&POOL[..end]).expect_err("it is cut off");
            assert_eq!(error.kind(), ErrorKind::UnexpectedEnd, "{end}");
            assert!(error.offset() <= end);
        }
        for tag in [0, 2, 13, 14, 21, 255] {
            let mut bytes = POOL;
            bytes[7] = tag;
            let error = parse(&bytes).expect_err("it has a bad tag");
            assert_eq!((error.kind(), error.offset()), (ErrorKind::BadTag(tag), 7));
        }
    }
}
