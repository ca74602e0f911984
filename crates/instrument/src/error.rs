//! The only error type of this crate.

use std::fmt;

use hindsight_classfile as classfile;

use crate::SkipReason;

/// Why a class could not be instrumented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The class file breaks the format.
    Class(classfile::Error),
    /// The class has no such method, or it has no body.
    NoSuchMethod,
    /// The method cannot be changed.
    Unchangeable(SkipReason),
}

impl From<classfile::Error> for Error {
    fn from(error: classfile::Error) -> Self {
        Self::Class(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(error) => error.fmt(f),
            Self::NoSuchMethod => f.write_str("no such method with a body"),
            Self::Unchangeable(reason) => write!(f, "method cannot be changed: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Class(error) => Some(error),
            _ => None,
        }
    }
}

/// Converts an error of the class-file reader, raised within a method, to the reason why the method
/// is left.
impl From<classfile::Error> for SkipReason {
    // Almost any code can fail, so this conversion is kept out of its way.
    #[cold]
    #[inline(never)]
    fn from(error: classfile::Error) -> Self {
        match error.kind() {
            classfile::ErrorKind::TooLarge("constant pool") => Self::ConstantPoolFull,
            _ => Self::malformed(error.offset()),
        }
    }
}
