//! The kinds of attributes, so that their names are not read again and again.

use std::cell::Cell;

use hindsight_classfile::{Attribute, Attributes, ConstantPool, Error};

/// The attributes of methods and bodies that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Code,
    StackMapTable,
    LineNumberTable,
    LocalVariableTable,
    LocalVariableTypeTable,
    /// `RuntimeVisibleTypeAnnotations` or the invisible ones.
    TypeAnnotations,
    MethodParameters,
    Other,
}

impl Kind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"Code" => Self::Code,
            b"StackMapTable" => Self::StackMapTable,
            b"LineNumberTable" => Self::LineNumberTable,
            b"LocalVariableTable" => Self::LocalVariableTable,
            b"LocalVariableTypeTable" => Self::LocalVariableTypeTable,
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                Self::TypeAnnotations
            }
            b"MethodParameters" => Self::MethodParameters,
            _ => Self::Other,
        }
    }
}

/// The meanings of the names of a class's attributes. A method has some ten attributes, each of
/// which is looked up several times, and a class has few distinct names for them.
#[derive(Debug)]
pub struct Kinds {
    /// Names that were read: the constant and what it means, at a place given by the constant's
    /// index. Constant 0 does not exist and marks an empty place.
    seen: [Cell<(u16, Kind)>; Self::PLACES],
}

impl Kinds {
    const PLACES: usize = 32;

    /// The kind of an attribute.
    #[inline]
    pub fn of(&self, pool: &ConstantPool<'_>, attribute: &Attribute<'_>) -> Result<Kind, Error> {
        let index = attribute.name_index;
        match self.seen[usize::from(index) % Self::PLACES].get() {
            (seen, kind) if seen == index && index != 0 => Ok(kind),
            _ => self.read(pool, attribute),
        }
    }

    #[cold]
    fn read(&self, pool: &ConstantPool<'_>, attribute: &Attribute<'_>) -> Result<Kind, Error> {
        let index = attribute.name_index;
        let kind = Kind::of(attribute.name(pool)?.as_bytes());
        self.seen[usize::from(index) % Self::PLACES].set((index, kind));
        Ok(kind)
    }

    /// The first attribute of a kind.
    #[inline]
    pub fn find<'a>(
        &self,
        pool: &ConstantPool<'a>,
        attributes: &Attributes<'a>,
        kind: Kind,
    ) -> Option<Attribute<'a>> {
        let mut attributes = attributes.iter();
        attributes.find(|attribute| self.of(pool, attribute) == Ok(kind))
    }
}

impl Default for Kinds {
    fn default() -> Self {
        Self {
            seen: [const { Cell::new((0, Kind::Other)) }; Self::PLACES],
        }
    }
}
