//! Attributes, kept as bytes (JVMS 4.7).

use crate::{ConstantPool, Error, Reader, Utf8};

/// One attribute: a name and bytes.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// The index of the constant that names it.
    pub name_index: u16,
    /// The content.
    pub info: &'a [u8],
    /// The offset of the content in the file.
    pub offset: usize,
}

impl<'a> Attribute<'a> {
    /// The attribute's name.
    #[inline]
    pub fn name(&self, pool: &ConstantPool<'a>) -> Result<Utf8<'a>, Error> {
        pool.utf8(self.name_index)
    }

    /// A reader at the start of the content.
    #[inline]
    pub fn reader(&self) -> Reader<'a> {
        Reader::new(self.info, self.offset)
    }

    /// Writes the attribute: name, length, content.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.name_index.to_be_bytes());
        // The length fits, since it was read as 32 bits.
        out.extend((self.info.len() as u32).to_be_bytes());
        out.extend_from_slice(self.info);
    }
}

/// The attributes of a class, field, method or body.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    count: u16,
    /// The bytes of all attributes, without the count.
    bytes: &'a [u8],
    /// The offset in the file at which they end.
    end: usize,
}

impl<'a> Attributes<'a> {
    /// Reads a count and that many attributes.
    #[inline]
    pub(crate) fn parse(r: &mut Reader<'a>) -> Result<Self, Error> {
        let count = r.u16()?;
        let mut rest = *r;
        for _ in 0..count {
            rest.u16()?;
            rest.bytes_u32()?;
        }
        let bytes = r.bytes(r.remaining() - rest.remaining())?;
        let end = r.offset();
        Ok(Self { count, bytes, end })
    }

    /// The number of attributes.
    #[inline]
    pub fn len(&self) -> u16 {
        self.count
    }

    /// Whether there are no attributes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The attributes in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let (mut bytes, end) = (self.bytes, self.end);
        std::iter::from_fn(
            #[inline]
            move || {
                // Parsing has read all of them, so reading only fails at the end.
                let (&[a, b, lens @ ..], rest) = bytes.split_first_chunk::<6>()?;
                let len = usize::try_from(u32::from_be_bytes(lens)).ok()?;
                let (info, rest) = rest.split_at_checked(len)?;
                bytes = rest;
                Some(Attribute {
                    name_index: u16::from_be_bytes([a, b]),
                    info,
                    offset: end - rest.len() - len,
                })
            },
        )
    }

    /// The first attribute of this name.
    #[inline]
    pub fn find(&self, pool: &ConstantPool<'a>, name: &str) -> Option<Attribute<'a>> {
        self.iter()
            .find(|attribute| attribute.name(pool).is_ok_and(|found| found == name))
    }

    /// Writes the count and the attributes.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.count.to_be_bytes());
        self.iter().for_each(|attribute| attribute.write(out));
    }

    /// Adds an attribute to these, which [`Attributes::write`] has just written to the end of
    /// `out`; `None` if a class file can have no more of them.
    pub fn add(&self, out: &mut Vec<u8>, attribute: &Attribute<'_>) {
        let start = out.len().checked_sub(2 + self.bytes.len());
        let count = start.and_then(|start| out.get_mut(start..start + 2));
        if let (Some(count), Some(more)) = (count, self.count.checked_add(1)) {
            count.copy_from_slice(&more.to_be_bytes());
            attribute.write(out);
        }
    }
}
