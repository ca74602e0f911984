//! Descriptors of fields and methods (JVMS 4.3).

use crate::{Error, ErrorKind, Utf8};

/// The type of a field, parameter or result, as part of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldType<'a>(&'a [u8]);

impl<'a> FieldType<'a> {
    /// Reads a field descriptor.
    #[inline]
    pub fn parse(descriptor: Utf8<'a>) -> Result<Self, Error> {
        let bytes = descriptor.as_bytes();
        match Self::split(bytes) {
            Some((this, [])) => Ok(this),
            _ => Err(Error::new(ErrorKind::BadDescriptor, 0)),
        }
    }

    /// The type at the start of `bytes`, and the rest.
    fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let dimensions = bytes.iter().take_while(|&&byte| byte == b'[').count();
        // A type with more than 255 dimensions is invalid (JVMS 4.3.2).
        if dimensions > 255 {
            return None;
        }
        let len = match bytes.get(dimensions)? {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => 1,
            b'L' => {
                let len = bytes[dimensions..].iter().position(|&byte| byte == b';')? + 1;
                // `L;` has no class name.
                if len == 2 {
                    return None;
                }
                len
            }
            _ => return None,
        };
        let (this, rest) = bytes.split_at(dimensions + len);
        Some((Self(this), rest))
    }

    /// The descriptor: `I`, `[J`, `La/b/C;`.
    #[inline]
    pub fn descriptor(self) -> Utf8<'a> {
        Utf8::new(self.0)
    }

    /// The descriptor's first byte, which distinguishes primitive types, classes (`L`) and arrays
    /// (`[`).
    #[inline]
    pub fn kind(self) -> u8 {
        self.0.first().copied().unwrap_or(b'V')
    }

    /// The number of local variables or stack entries that a value takes: 2 for `long` and
    /// `double`, 1 otherwise.
    #[inline]
    pub fn slots(self) -> u16 {
        if matches!(self.kind(), b'J' | b'D') {
            2
        } else {
            1
        }
    }

    /// Whether the type's values are references.
    #[inline]
    pub fn is_reference(self) -> bool {
        matches!(self.kind(), b'L' | b'[')
    }

    /// The internal name of a class type; `None` for arrays and primitive types.
    #[inline]
    pub fn class_name(self) -> Option<Utf8<'a>> {
        match self.0 {
            [b'L', name @ .., b';'] => Some(Utf8::new(name)),
            _ => None,
        }
    }

    /// What a class constant for this type holds: a class's internal name, or an array's descriptor
    /// (JVMS 4.4.1). `None` for primitive types.
    #[inline]
    pub fn constant_name(self) -> Option<Utf8<'a>> {
        match self.0 {
            [b'[', ..] => Some(Utf8::new(self.0)),
            _ => self.class_name(),
        }
    }
}

/// A method's descriptor, known to follow the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodDescriptor<'a> {
    parameters: &'a [u8],
    result: &'a [u8],
    count: u16,
    slots: u16,
}

impl<'a> MethodDescriptor<'a> {
    /// Reads a method descriptor.
    #[inline]
    pub fn parse(descriptor: Utf8<'a>) -> Result<Self, Error> {
        Self::read(descriptor.as_bytes()).ok_or_else(|| Error::new(ErrorKind::BadDescriptor, 0))
    }

    #[inline]
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let parameters = bytes.strip_prefix(b"(")?;
        let mut rest = parameters;
        let (mut count, mut slots) = (0u16, 0u16);
        let result = loop {
            if let Some(result) = rest.strip_prefix(b")") {
                break result;
            }
            let (parameter, tail) = FieldType::split(rest)?;
            count = count.checked_add(1)?;
            slots = slots.checked_add(parameter.slots())?;
            rest = tail;
        };
        if result != b"V" && !FieldType::split(result)?.1.is_empty() {
            return None;
        }
        let parameters = &parameters[..parameters.len() - rest.len()];
        Some(Self {
            parameters,
            result,
            count,
            slots,
        })
    }

    /// The types of the parameters, in order.
    #[inline]
    pub fn parameters(&self) -> Parameters<'a> {
        Parameters(self.parameters)
    }

    /// The number of parameters, without `this`.
    #[inline]
    pub fn parameter_count(&self) -> u16 {
        self.count
    }

    /// The number of local variables that the parameters take, without `this`.
    #[inline]
    pub fn parameter_slots(&self) -> u16 {
        self.slots
    }

    /// The type of the result; `None` for `void`.
    #[inline]
    pub fn result(&self) -> Option<FieldType<'a>> {
        (self.result != b"V").then_some(FieldType(self.result))
    }
}

/// The types of a method's parameters. Made by [`MethodDescriptor::parameters`].
#[derive(Debug, Clone)]
pub struct Parameters<'a>(&'a [u8]);

impl<'a> Iterator for Parameters<'a> {
    type Item = FieldType<'a>;

    #[inline]
    fn next(&mut self) -> Option<FieldType<'a>> {
        let (parameter, rest) = FieldType::split(self.0)?;
        self.0 = rest;
        Some(parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn method(descriptor: &str) -> Result<MethodDescriptor<'_>, Error> {
        MethodDescriptor::parse(Utf8::new(descriptor.as_bytes()))
    }

    #[test]
    fn parameters_and_slots() {
        let parsed = method("(IJ[[D[Ljava/lang/String;La/B;Z)[J").unwrap();
        let types: Vec<_> = parsed
            .parameters()
            .map(|p| p.descriptor().to_string())
            .collect();
        assert_eq!(
            types,
            ["I", "J", "[[D", "[Ljava/lang/String;", "La/B;", "Z"]
        );
        assert_eq!((parsed.parameter_count(), parsed.parameter_slots()), (6, 7));
        assert_eq!(parsed.result().unwrap().kind(), b'[');
        assert_eq!(method("()V").unwrap().result(), None);
    }

    #[test]
    fn what_is_no_descriptor() {
        for bad in [
            "", "(", "()", "(V)V", "(L;)V", "(La)V", "([)V", "()VV", "()II", "(I", "I",
        ] {
            assert!(method(bad).is_err(), "{bad}");
        }
        assert!(FieldType::parse(Utf8::new("[".repeat(256).as_bytes())).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = MethodDescriptor::parse(Utf8::new(&bytes));
        }
    }
}
