//! The class as a whole, and its members (JVMS 4.1, 4.5, 4.6).

use crate::{
    Attributes, Code, ConstantPool, Error, ErrorKind, MethodDescriptor, PoolBuilder, Reader, Utf8,
};

const MAGIC: u32 = 0xcafe_babe;

/// A class, interface or module description.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    /// The minor version of the file.
    pub minor: u16,
    /// The major version of the file: 52 for Java 8, 69 for Java 25.
    pub major: u16,
    /// The constant pool.
    pub pool: ConstantPool<'a>,
    /// The flags of [`crate::access`].
    pub access: u16,
    /// The class constant of this class.
    pub this_class: u16,
    /// The class constant of the superclass; 0 in `java/lang/Object` and modules.
    pub super_class: u16,
    /// The class constants of the interfaces that it names.
    pub interfaces: Vec<u16>,
    /// The fields, in the file's order.
    pub fields: Vec<Member<'a>>,
    /// The methods, in the file's order.
    pub methods: Vec<Member<'a>>,
    /// The attributes of the class.
    pub attributes: Attributes<'a>,
}

/// A field or method.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The flags of [`crate::access`].
    pub access: u16,
    /// The index of the constant that holds the name.
    pub name_index: u16,
    /// The index of the constant that holds the descriptor.
    pub descriptor_index: u16,
    /// The name.
    pub name: Utf8<'a>,
    /// The descriptor.
    pub descriptor: Utf8<'a>,
    /// The attributes of the member.
    pub attributes: Attributes<'a>,
    /// The offset of the descriptor's constant in the file.
    descriptor_offset: usize,
}

impl<'a> Member<'a> {
    fn parse(r: &mut Reader<'a>, pool: &ConstantPool<'a>) -> Result<Self, Error> {
        let (access, name_index, descriptor_index) = (r.u16()?, r.u16()?, r.u16()?);
        Ok(Self {
            access,
            name_index,
            descriptor_index,
            name: pool.utf8(name_index)?,
            descriptor: pool.utf8(descriptor_index)?,
            attributes: Attributes::parse(r)?,
            descriptor_offset: pool.offset(descriptor_index),
        })
    }

    fn parse_all(r: &mut Reader<'a>, pool: &ConstantPool<'a>) -> Result<Vec<Self>, Error> {
        let count = r.u16()?;
        // The shortest member has eight bytes, so the claimed count is bounded by what is there.
        let mut members = Vec::with_capacity(usize::from(count).min(r.remaining() / 8));
        for _ in 0..count {
            members.push(Self::parse(r, pool)?);
        }
        Ok(members)
    }

    /// A method's body; `None` for abstract and native methods, and for fields.
    pub fn code(&self, pool: &ConstantPool<'a>) -> Result<Option<Code<'a>>, Error> {
        match self.attributes.find(pool, "Code") {
            Some(attribute) => Code::parse(&attribute).map(Some),
            None => Ok(None),
        }
    }

    /// The parsed descriptor of a method.
    pub fn method_descriptor(&self) -> Result<MethodDescriptor<'a>, Error> {
        MethodDescriptor::parse(self.descriptor)
            .map_err(|error| Error::new(error.kind(), self.descriptor_offset))
    }

    /// Whether a flag of [`crate::access`] is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Writes the member's flags, name and descriptor; its attributes follow.
    pub fn write_head(&self, out: &mut Vec<u8>) {
        for half in [self.access, self.name_index, self.descriptor_index] {
            out.extend_from_slice(&half.to_be_bytes());
        }
    }

    /// Writes the member as it was read.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_head(out);
        self.attributes.write(out);
    }
}

/// A bootstrap method with its static arguments (JVMS 4.7.23).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrap {
    /// The index of the constant of its method handle.
    pub method: u16,
    /// The indices of the constants of its static arguments.
    pub arguments: Vec<u16>,
}

impl<'a> ClassFile<'a> {
    /// Reads a class file.
    ///
    /// The structure is checked down to the attributes' names and lengths. The contents of
    /// attributes are read when they are asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut r = Reader::new(bytes, 0);
        if r.u32()? != MAGIC {
            return Err(Error::new(ErrorKind::BadMagic, 0));
        }
        let (minor, major) = (r.u16()?, r.u16()?);
        let pool = ConstantPool::parse(bytes, &mut r)?;
        let (access, this_class, super_class) = (r.u16()?, r.u16()?, r.u16()?);
        let count = r.u16()?;
        let mut interfaces = Vec::with_capacity(usize::from(count).min(r.remaining() / 2));
        for _ in 0..count {
            interfaces.push(r.u16()?);
        }
        let fields = Member::parse_all(&mut r, &pool)?;
        let methods = Member::parse_all(&mut r, &pool)?;
        let attributes = Attributes::parse(&mut r)?;
        if !r.is_empty() {
            return Err(r.error(ErrorKind::TrailingBytes));
        }
        Ok(Self {
            minor,
            major,
            pool,
            access,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            attributes,
        })
    }

    /// The internal name: `a/b/C`.
    pub fn name(&self) -> Result<Utf8<'a>, Error> {
        self.pool.class(self.this_class)
    }

    /// The superclass's internal name; `None` for `java/lang/Object`.
    pub fn super_name(&self) -> Result<Option<Utf8<'a>>, Error> {
        match self.super_class {
            0 => Ok(None),
            index => self.pool.class(index).map(Some),
        }
    }

    /// The internal names of the interfaces that the class names.
    pub fn interface_names(&self) -> impl Iterator<Item = Result<Utf8<'a>, Error>> {
        self.interfaces.iter().map(|&index| self.pool.class(index))
    }

    /// The bootstrap methods; none if the class has no such attribute.
    ///
    /// # Errors
    ///
    /// Fails if the attribute ends too early.
    pub fn bootstraps(&self) -> Result<Vec<Bootstrap>, Error> {
        let mut all = Vec::new();
        let Some(attribute) = self.attributes.find(&self.pool, "BootstrapMethods") else {
            return Ok(all);
        };
        let mut r = attribute.reader();
        for _ in 0..r.u16()? {
            let (method, count) = (r.u16()?, r.u16()?);
            let arguments = (0..count).map(|_| r.u16());
            let arguments = arguments.collect::<Result<_, _>>()?;
            all.push(Bootstrap { method, arguments });
        }
        Ok(all)
    }

    /// Whether a flag of [`crate::access`] is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Writes the class from its parts. The result is the bytes that were read, unless a part was
    /// changed.
    pub fn write(&self) -> Vec<u8> {
        self.assemble(&PoolBuilder::new(&self.pool), |_, method, out| {
            method.write(out)
        })
    }

    /// Writes the class with `added` constants. `write_method` writes each method, given by its
    /// index in [`ClassFile::methods`].
    pub fn assemble(
        &self,
        added: &PoolBuilder,
        mut write_method: impl FnMut(usize, &Member<'a>, &mut Vec<u8>),
    ) -> Vec<u8> {
        fn half(out: &mut Vec<u8>, value: u16) {
            out.extend_from_slice(&value.to_be_bytes());
        }
        // The lists below were read with counts of 16 bits. Only a caller who changes these fields
        // of the class can make them longer, and then gets a file that cannot be read.
        fn count<T>(out: &mut Vec<u8>, list: &[T]) {
            half(out, u16::try_from(list.len()).unwrap_or(u16::MAX));
        }
        // This is some more than was read, for methods that have grown.
        let len = self.pool.file_len();
        let mut out = Vec::with_capacity(len + len / 4 + added.raw().len());
        out.extend_from_slice(&MAGIC.to_be_bytes());
        half(&mut out, self.minor);
        half(&mut out, self.major);
        half(
            &mut out,
            if added.is_empty() {
                self.pool.count_as_read()
            } else {
                added.count()
            },
        );
        out.extend_from_slice(self.pool.raw());
        out.extend_from_slice(added.raw());
        half(&mut out, self.access);
        half(&mut out, self.this_class);
        half(&mut out, self.super_class);
        count(&mut out, &self.interfaces);
        self.interfaces
            .iter()
            .for_each(|&index| half(&mut out, index));
        count(&mut out, &self.fields);
        self.fields.iter().for_each(|field| field.write(&mut out));
        count(&mut out, &self.methods);
        for (place, method) in self.methods.iter().enumerate() {
            write_method(place, method, &mut out);
        }
        self.attributes.write(&mut out);
        out
    }
}
