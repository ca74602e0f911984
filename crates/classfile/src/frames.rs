//! Stack maps: the types that the verifier finds at jump targets (JVMS 4.7.4).

use crate::{Attribute, Error, ErrorKind, Reader};

/// The type of a local variable or stack entry. `Long` and `Double` stand for
/// two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationType {
    /// No usable value.
    Top,
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Integer,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// A `long`.
    Long,
    /// The null reference.
    Null,
    /// The object under construction, before the superclass's constructor ran.
    UninitializedThis,
    /// A reference; the index is that of a class constant.
    Object(u16),
    /// An object made by the `new` instruction at this offset, whose constructor has not run yet.
    Uninitialized(u16),
}

impl VerificationType {
    /// The number of slots that a value of this type takes.
    #[inline]
    pub fn slots(self) -> u16 {
        if matches!(self, Self::Double | Self::Long) {
            2
        } else {
            1
        }
    }

    #[inline]
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match r.u8()? {
            0 => Self::Top,
            1 => Self::Integer,
            2 => Self::Float,
            3 => Self::Double,
            4 => Self::Long,
            5 => Self::Null,
            6 => Self::UninitializedThis,
            7 => Self::Object(r.u16()?),
            8 => Self::Uninitialized(r.u16()?),
            _ => return Err(r.error(ErrorKind::BadFrame)),
        })
    }

    /// The encoding of the type: its first byte, and two more for some types.
    #[inline]
    fn encoded(self) -> (u8, Option<u16>) {
        match self {
            Self::Top => (0, None),
            Self::Integer => (1, None),
            Self::Float => (2, None),
            Self::Double => (3, None),
            Self::Long => (4, None),
            Self::Null => (5, None),
            Self::UninitializedThis => (6, None),
            Self::Object(class) => (7, Some(class)),
            Self::Uninitialized(offset) => (8, Some(offset)),
        }
    }

    /// Writes the type.
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let (tag, operand) = self.encoded();
        out.push(tag);
        if let Some(operand) = operand {
            out.extend_from_slice(&operand.to_be_bytes());
        }
    }
}

/// A list of types as it stands in the file, known to be well formed.
#[derive(Debug, Clone, Copy)]
pub struct Types<'a> {
    count: u16,
    bytes: &'a [u8],
}

impl<'a> Types<'a> {
    #[inline]
    fn parse(r: &mut Reader<'a>, count: u16) -> Result<Self, Error> {
        let mut rest = *r;
        for _ in 0..count {
            match rest.u8()? {
                0..=6 => {}
                7 | 8 => _ = rest.u16()?,
                _ => return Err(rest.error(ErrorKind::BadFrame)),
            }
        }
        let bytes = r.bytes(r.remaining() - rest.remaining())?;
        Ok(Self { count, bytes })
    }

    /// The number of types.
    #[inline]
    pub fn len(&self) -> u16 {
        self.count
    }

    /// Whether there are no types.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The types in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = VerificationType> + use<'a> {
        let mut bytes = Reader::new(self.bytes, 0);
        std::iter::from_fn(move || VerificationType::read(&mut bytes).ok())
    }
}

/// A frame as it is encoded: most frames are differences from the frame before.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The offset of the instruction that it describes.
    pub offset: usize,
    /// The locals and the stack.
    pub shape: Shape<'a>,
}

/// What a frame says about its locals and stack.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// The locals are the same, and the stack is empty.
    Same,
    /// The locals are the same, and the stack has one entry.
    SameStack(VerificationType),
    /// This many of the last locals are gone, and the stack is empty.
    Chop(u8),
    /// These locals are added, and the stack is empty.
    Append(Types<'a>),
    /// The locals and the stack are listed in full.
    Full {
        /// The types of the locals.
        locals: Types<'a>,
        /// The types of the stack entries, bottom first.
        stack: Types<'a>,
    },
}

/// The frames of a `StackMapTable`, in order. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    r: Reader<'a>,
    left: u16,
    /// The offset that a delta of zero would mean.
    next: usize,
}

impl<'a> Frames<'a> {
    /// Reads the content of a `StackMapTable` attribute.
    #[inline]
    pub fn new(attribute: &Attribute<'a>) -> Result<Self, Error> {
        let mut r = attribute.reader();
        let left = r.u16()?;
        Ok(Self { r, left, next: 0 })
    }

    #[inline]
    fn read(&mut self) -> Result<Frame<'a>, Error> {
        let r = &mut self.r;
        let kind = r.u8()?;
        let (delta, shape) = match kind {
            0..=63 => (u16::from(kind), Shape::Same),
            64..=127 => (
                u16::from(kind - 64),
                Shape::SameStack(VerificationType::read(r)?),
            ),
            247 => (r.u16()?, Shape::SameStack(VerificationType::read(r)?)),
            248..=250 => (r.u16()?, Shape::Chop(251 - kind)),
            251 => (r.u16()?, Shape::Same),
            252..=254 => (
                r.u16()?,
                Shape::Append(Types::parse(r, u16::from(kind - 251))?),
            ),
            255 => {
                let delta = r.u16()?;
                let count = r.u16()?;
                let locals = Types::parse(r, count)?;
                let count = r.u16()?;
                (
                    delta,
                    Shape::Full {
                        locals,
                        stack: Types::parse(r, count)?,
                    },
                )
            }
            _ => return Err(r.error(ErrorKind::BadFrame)),
        };
        let offset = self.next + usize::from(delta);
        self.next = offset + 1;
        Ok(Frame { offset, shape })
    }

    /// The error behind the last frame, if there is one.
    fn end(&mut self) -> Option<Error> {
        let rest = self.r.remaining();
        self.r = Reader::new(&[], 0);
        // Some bytes belong to no frame.
        (rest != 0).then(|| self.r.error(ErrorKind::BadAttribute("StackMapTable")))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return self.end().map(Err);
        }
        self.left -= 1;
        match self.read() {
            Ok(frame) => Some(Ok(frame)),
            Err(error) => {
                self.left = 0;
                self.r = Reader::new(&[], 0);
                Some(Err(error))
            }
        }
    }
}

/// Writes types one after the other.
#[inline]
pub fn write_types(out: &mut Vec<u8>, types: &[VerificationType]) {
    // Room is made for the longest encoding first: writing larger frames spends most of its time
    // here.
    let mut at = out.len();
    out.resize(at + 3 * types.len(), 0);
    for ty in types {
        let (tag, operand) = ty.encoded();
        let [high, low] = operand.unwrap_or(0).to_be_bytes();
        if let Some(place) = out.get_mut(at..at + 3) {
            place.copy_from_slice(&[tag, high, low]);
        }
        at += if operand.is_some() { 3 } else { 1 };
    }
    out.truncate(at);
}

/// Writes a frame with the locals of the previous frame and an empty stack.
#[inline]
pub fn write_same(out: &mut Vec<u8>, delta: u16) {
    match u8::try_from(delta) {
        Ok(kind @ 0..=63) => out.push(kind),
        _ => {
            out.push(251);
            out.extend_from_slice(&delta.to_be_bytes());
        }
    }
}

/// Writes a frame with the locals of the previous frame and one entry on the stack.
#[inline]
pub fn write_same_stack(out: &mut Vec<u8>, delta: u16, stack: VerificationType) {
    match u8::try_from(delta) {
        Ok(kind @ 0..=63) => out.push(64 + kind),
        _ => {
            out.push(247);
            out.extend_from_slice(&delta.to_be_bytes());
        }
    }
    stack.write(out);
}

#[cfg(test)]
mod tests {
    use super::VerificationType as T;
    use super::*;

    fn read(info: &[u8]) -> Result<Vec<usize>, Error> {
        let attribute = Attribute {
            name_index: 0,
            info,
            offset: 0,
        };
        Frames::new(&attribute)?
            .map(|frame| Ok(frame?.offset))
            .collect()
    }

    #[test]
    fn frames_written_are_read() {
        let mut info = vec![0, 6];
        write_same(&mut info, 0);
        write_same(&mut info, 64);
        write_same_stack(&mut info, 63, T::Object(7));
        write_same_stack(&mut info, 64, T::Uninitialized(0));
        // A full frame.
        info.extend([255, 0, 5, 0, 3]);
        write_types(&mut info, &[T::UninitializedThis, T::Top, T::Long]);
        info.extend([0, 1]);
        write_types(&mut info, &[T::Null]);
        info.extend([248, 0, 1]);
        assert_eq!(read(&info), Ok(vec![0, 65, 129, 194, 200, 202]));
    }

    #[test]
    fn what_is_no_stack_map() {
        for bad in [
            &[0, 1][..],
            &[0, 1, 128],
            &[0, 1, 64, 9],
            &[0, 0, 0],
            &[0, 1, 255, 0, 0, 0xff, 0xff],
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
