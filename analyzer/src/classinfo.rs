//! The properties of a class that decide how it can be called from Java source.

use hindsight_classfile::access;
use hindsight_classfile::tables::{local_variables, method_parameters};
use hindsight_classfile::{Attributes, ClassFile, Error, Member, Utf8};

/// A class as in its class file. Names are binary, with dots.
#[derive(Debug, Clone, Default)]
pub struct ClassInfo {
    /// Its name.
    pub name: String,
    /// The version of its class file: 52 for Java 8, 69 for Java 25.
    pub version: u16,
    /// Whether it uses preview features: then only a JVM of its version loads it, and only with an
    /// option.
    pub preview: bool,
    /// The access flags; of a nested class those of `InnerClasses`, which alone have `private` and
    /// `static`.
    pub access: u16,
    /// Its superclass; none for `java.lang.Object`.
    pub super_class: Option<String>,
    /// The interfaces it names.
    pub interfaces: Vec<String>,
    /// Its methods and constructors.
    pub methods: Vec<Method>,
    /// Its constants, which are its static final fields.
    pub constants: Vec<Constant>,
    /// Whether its static fields are mutable, or lead to mutable objects.
    pub has_static_state: bool,
    /// Whether it is sealed: it names all that may implement or extend it.
    pub sealed: bool,
    /// How it is nested.
    pub nesting: Nesting,
    /// Whether it or one of its methods is generic.
    pub generic: bool,
    /// Its signature, if it or what it extends is generic.
    pub signature: Option<String>,
}

/// A method or constructor.
#[derive(Debug, Clone)]
pub struct Method {
    /// Access flags.
    pub access: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The exceptions that it declares.
    pub exceptions: Vec<String>,
    /// Its signature, if its types are generic.
    pub signature: Option<String>,
    /// Names of its parameters, as far as the class file has them.
    pub parameters: Vec<Option<String>>,
}

/// A constant, which is a static final field.
#[derive(Debug, Clone)]
pub struct Constant {
    /// Access flags.
    pub access: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its signature, if its type is generic.
    pub signature: Option<String>,
}

/// How a class is nested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Nesting {
    /// The class is not nested.
    #[default]
    TopLevel,
    /// The class is a member.
    Member {
        /// The class around it.
        outer: String,
        /// Its name in sources.
        simple: String,
    },
    /// The class is local or anonymous: it has no name outside of its method.
    Local,
}

impl ClassInfo {
    /// Reads a class file.
    ///
    /// # Errors
    ///
    /// Fails if it breaks the format.
    pub fn parse(bytes: &[u8]) -> Result<ClassInfo, Error> {
        let class = ClassFile::parse(bytes)?;
        let name = class.name()?;
        let (access, nesting) = nesting(&class, name)?.unwrap_or((class.access, Nesting::TopLevel));
        let methods: Vec<Method> = class
            .methods
            .iter()
            .map(|member| method(&class, member))
            .collect();
        let constants = class
            .fields
            .iter()
            .filter(|field| field.is(access::STATIC) && field.is(access::FINAL));
        let constant = |field: &Member<'_>| Constant {
            access: field.access,
            name: field.name.to_string_lossy().into_owned(),
            descriptor: field.descriptor.to_string_lossy().into_owned(),
            signature: signature(&class, &field.attributes),
        };
        let constants = constants.map(constant).collect();
        let signature = signature(&class, &class.attributes);
        let interfaces = class.interface_names();
        Ok(ClassInfo {
            name: binary(name),
            version: class.major,
            preview: class.minor == u16::MAX,
            access,
            super_class: class.super_name()?.map(binary),
            interfaces: interfaces
                .map(|name| name.map(binary))
                .collect::<Result<_, _>>()?,
            generic: signature.is_some() || methods.iter().any(|one| one.signature.is_some()),
            methods,
            constants,
            sealed: class
                .attributes
                .find(&class.pool, "PermittedSubclasses")
                .is_some(),
            has_static_state: class.fields.iter().any(holds_state),
            nesting,
            signature,
        })
    }

    /// The method or constructor of this name and descriptor.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&Method> {
        let wanted = |method: &&Method| method.name == name && method.descriptor == descriptor;
        self.methods.iter().find(wanted)
    }

    /// The constant of this name and descriptor.
    pub fn constant(&self, name: &str, descriptor: &str) -> Option<&Constant> {
        let wanted = |one: &&Constant| one.name == name && one.descriptor == descriptor;
        self.constants.iter().find(wanted)
    }

    /// Whether a flag of [`hindsight_classfile::access`] is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Whether its instances have an outer one.
    pub fn is_inner(&self) -> bool {
        matches!(self.nesting, Nesting::Member { .. })
            && !self.is(access::STATIC | access::INTERFACE)
    }

    /// The enclosing class, if its instances have an outer instance of it, and its name in there.
    pub fn around(&self) -> Option<(&str, &str)> {
        match &self.nesting {
            Nesting::Member { outer, simple } if self.is_inner() => Some((outer, simple)),
            _ => None,
        }
    }
}

impl Method {
    /// Whether a flag of [`hindsight_classfile::access`] is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Whether it declares exceptions.
    pub fn throws(&self) -> bool {
        !self.exceptions.is_empty()
    }
}

/// Whether a field is static, and more than an immutable constant.
fn holds_state(field: &Member<'_>) -> bool {
    let leads = match field.descriptor.as_bytes() {
        b"Ljava/lang/String;" => false,
        [b'L' | b'[', ..] => true,
        _ => false,
    };
    field.is(access::STATIC) && !field.is(access::SYNTHETIC) && (leads || !field.is(access::FINAL))
}

fn binary(internal: Utf8<'_>) -> String {
    internal.to_string_lossy().replace('/', ".")
}

fn method(class: &ClassFile<'_>, member: &Member<'_>) -> Method {
    Method {
        access: member.access,
        name: member.name.to_string_lossy().into_owned(),
        descriptor: member.descriptor.to_string_lossy().into_owned(),
        exceptions: exceptions(class, member).unwrap_or_default(),
        signature: signature(class, &member.attributes),
        parameters: parameter_names(class, member).unwrap_or_default(),
    }
}

/// The classes in the attribute `Exceptions` (JVMS 4.7.5).
fn exceptions(class: &ClassFile<'_>, member: &Member<'_>) -> Option<Vec<String>> {
    let mut reader = member.attributes.find(&class.pool, "Exceptions")?.reader();
    let count = reader.u16().ok()?;
    let names = (0..count).map(|_| Some(binary(class.pool.class(reader.u16().ok()?).ok()?)));
    names.collect()
}

/// The names of the parameters: those of `MethodParameters`, else of the debugger's table.
pub fn parameter_names(class: &ClassFile<'_>, member: &Member<'_>) -> Option<Vec<Option<String>>> {
    let descriptor = member.method_descriptor().ok()?;
    let count = usize::from(descriptor.parameter_count());
    let text = |index: u16| {
        let name = class.pool.utf8(index).ok()?;
        Some(name.to_string_lossy().into_owned())
    };
    if let Some(attribute) = member.attributes.find(&class.pool, "MethodParameters") {
        let table: Vec<_> = method_parameters(&attribute).ok()?.collect();
        if table.len() == count {
            return Some(table.iter().map(|entry| text(entry.name_index)).collect());
        }
    }
    let code = member.code(&class.pool).ok()??;
    let attribute = code.attributes.find(&class.pool, "LocalVariableTable")?;
    let table: Vec<_> = local_variables(&attribute).ok()?.collect();
    let is_static = member.is(access::STATIC);
    let mut slot = u16::from(!is_static);
    let mut names = Vec::new();
    for parameter in descriptor.parameters() {
        let entry = table
            .iter()
            .find(|entry| entry.slot == slot && entry.start == 0);
        names.push(entry.and_then(|entry| text(entry.name_index)));
        slot += parameter.slots();
    }
    Some(names)
}

/// The text of the attribute `Signature` (JVMS 4.7.9).
pub fn signature(class: &ClassFile<'_>, attributes: &Attributes<'_>) -> Option<String> {
    let found = attributes.find(&class.pool, "Signature")?;
    let text = class.pool.utf8(found.reader().u16().ok()?).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// The entry of the class itself in `InnerClasses` (JVMS 4.7.6).
fn nesting(class: &ClassFile<'_>, own: Utf8<'_>) -> Result<Option<(u16, Nesting)>, Error> {
    let Some(attribute) = class.attributes.find(&class.pool, "InnerClasses") else {
        return Ok(None);
    };
    let mut reader = attribute.reader();
    for _ in 0..reader.u16()? {
        let (inner, outer) = (reader.u16()?, reader.u16()?);
        let (simple, access) = (reader.u16()?, reader.u16()?);
        if class.pool.class(inner)?.as_bytes() != own.as_bytes() {
            continue;
        }
        if outer == 0 || simple == 0 {
            return Ok(Some((access, Nesting::Local)));
        }
        let nesting = Nesting::Member {
            outer: binary(class.pool.class(outer)?),
            simple: class.pool.utf8(simple)?.to_string_lossy().into_owned(),
        };
        return Ok(Some((access, nesting)));
    }
    Ok(None)
}
