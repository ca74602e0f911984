//! What the class path tells about making objects: members, their parameters'
//! names, and what their bodies do, read once each.

use super::THROWABLE;
use super::effects::{Called, Effect, Effects, FieldName, Symbol, effects};
use crate::classinfo::{ClassInfo, parameter_names};
use crate::classpath::{ClassPath, FoundClass, is_platform};
use crate::java::descriptor;
use crate::java::signature::{self, Generic};
use hindsight_classfile::ClassFile;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Constructors and methods within each other that are followed.
const MAX_DEPTH: usize = 6;

/// A constructor or method as its class file tells it.
#[derive(Debug, Default)]
pub struct Body {
    /// Names of the parameters, where the class file has them.
    pub names: Vec<Option<String>>,
    /// Its generic signature (JVMS 4.7.9.1).
    pub signature: Option<String>,
    effects: Option<Effects>,
}

impl Body {
    /// What it does, as far as that is known.
    pub fn effects(&self) -> Option<&Effects> {
        self.effects.as_ref()
    }
}

/// A field as its class file tells it.
#[derive(Debug, Clone)]
pub struct Field {
    /// Access flags.
    pub access: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its generic signature.
    signature: Option<String>,
}

/// The members of one class, by name and descriptor.
#[derive(Debug, Default)]
struct Members {
    fields: Vec<Field>,
    bodies: HashMap<(String, String), Rc<Body>>,
    generic: bool,
}

/// The classes of the class path.
pub struct Library<'a> {
    /// Where they are.
    pub classpath: &'a ClassPath,
    members: RefCell<HashMap<String, Rc<Members>>>,
}

impl<'a> Library<'a> {
    /// Nothing is read yet.
    pub fn new(classpath: &'a ClassPath) -> Library<'a> {
        Library {
            classpath,
            members: RefCell::default(),
        }
    }

    /// What a class is.
    pub fn info(&self, class: &str) -> Option<Rc<FoundClass>> {
        self.classpath.info(class)
    }

    fn members(&self, class: &str) -> Rc<Members> {
        if let Some(known) = self.members.borrow().get(class) {
            return known.clone();
        }
        let read = || {
            self.info(class)?;
            members(&self.classpath.bytes(class)?)
        };
        let members = Rc::new(read().unwrap_or_default());
        self.members
            .borrow_mut()
            .insert(class.to_owned(), members.clone());
        members
    }

    /// The fields that a class declares.
    pub fn fields(&self, class: &str) -> Vec<Field> {
        self.members(class).fields.clone()
    }

    /// Whether a class has type parameters.
    pub fn is_generic(&self, class: &str) -> bool {
        self.members(class).generic
    }

    /// A constructor or method that a class declares.
    pub fn body(&self, class: &str, name: &str, descriptor: &str) -> Option<Rc<Body>> {
        let key = (name.to_owned(), descriptor.to_owned());
        self.members(class).bodies.get(&key).cloned()
    }

    /// The generic types of the parameters of a constructor or method, or of a
    /// field, as far as they are known and can be written.
    pub fn types(&self, class: &str, name: &str, of: &str) -> Vec<Option<Generic>> {
        let members = self.members(class);
        let mut fields = members.fields.iter();
        if let Some(field) = fields.find(|field| field.name == name && field.descriptor == of) {
            return vec![field.signature.as_deref().and_then(signature::field)];
        }
        let body = self.body(class, name, of);
        let types = body.and_then(|body| signature::parameters(body.signature.as_deref()?));
        types.unwrap_or_default()
    }

    /// Whether a method without parameters gives a field of its object.
    pub fn is_getter(&self, class: &str, name: &str, descriptor: &str, field: &str) -> bool {
        let body = self.body(class, name, descriptor);
        let effects = body.as_ref().and_then(|body| body.effects.as_ref());
        effects.is_some_and(|effects| {
            let wanted = |symbol: &Symbol| match symbol {
                Symbol::Field(base, named) => **base == Symbol::This && named.name == field,
                _ => false,
            };
            !effects.returned.is_empty() && effects.returned.iter().all(wanted)
        })
    }

    /// Whether a method hands its parameters, in their order, to a method of a collection in a field of
    /// `this` that adds something.
    pub fn is_adder(&self, class: &str, name: &str, descriptor: &str, field: &str) -> bool {
        const ADDING: [&str; 6] = ["add", "addLast", "append", "offer", "push", "put"];
        let body = self.body(class, name, descriptor);
        let effects = body.as_ref().and_then(|body| body.effects.as_ref());
        let adds = |(on, called): &(String, Called)| {
            let given = called.arguments.iter().enumerate();
            let mut passed = given.map(|(at, symbol)| match symbol {
                Symbol::From(of) => **of == Symbol::Parameter(at),
                symbol => *symbol == Symbol::Parameter(at),
            });
            on == field && ADDING.contains(&&*called.target.name) && passed.all(|passed| passed)
        };
        effects.is_some_and(|effects| effects.on_fields.iter().any(adds))
    }

    /// The fields of `this` that a constructor or method writes, with what of
    /// its parameters; the last write first.
    pub fn writes(&self, class: &str, name: &str, descriptor: &str) -> Vec<(FieldName, Symbol)> {
        let mut writes = self.writes_within(class, name, descriptor, 0);
        writes.reverse();
        writes
    }

    fn writes_within(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
        depth: usize,
    ) -> Vec<(FieldName, Symbol)> {
        let mut writes = Vec::new();
        let Some(body) = self.body(class, name, descriptor) else {
            if name == "<init>" && is_platform(class) {
                writes.extend(exception_fields(class, descriptor));
            }
            return writes;
        };
        for effect in body.effects.iter().flat_map(|effects| &effects.steps) {
            match effect {
                Effect::Write(field, value) => writes.push((field.clone(), value.clone())),
                Effect::Call(called) if depth < MAX_DEPTH => {
                    let target = &called.target;
                    let inner = self.writes_within(
                        &target.class,
                        &target.name,
                        &target.descriptor,
                        depth + 1,
                    );
                    let given = |(field, value): (FieldName, Symbol)| {
                        (field, value.given(&called.arguments, &Symbol::This))
                    };
                    writes.extend(inner.into_iter().map(given));
                }
                Effect::Call(_) => {}
            }
        }
        writes
    }

    /// The constructor call of `made` whose object a method returns, with
    /// arguments in terms of its own parameters.
    pub fn returns_new(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
        made: &str,
    ) -> Option<Called> {
        let body = self.body(class, name, descriptor)?;
        let effects = body.effects.as_ref()?;
        effects.returned.iter().find_map(|symbol| match symbol {
            Symbol::Made(index) => {
                let called = effects.made.get(*index)?;
                (called.target.class == made && !called.target.descriptor.is_empty())
                    .then(|| called.clone())
            }
            _ => None,
        })
    }
}

/// What constructors of the JDK's exceptions do with a message and a cause.
fn exception_fields(class: &str, of: &str) -> Vec<(FieldName, Symbol)> {
    let is_exception = ["Exception", "Error", "Throwable"];
    let (parameters, _) = descriptor::split(of).unwrap_or_default();
    if !is_exception.iter().any(|end| class.ends_with(end)) {
        return Vec::new();
    }
    let field = |(index, parameter): (usize, &str)| {
        let name = match parameter {
            "Ljava/lang/String;" => "detailMessage",
            "Ljava/lang/Throwable;" => "cause",
            _ => return None,
        };
        let field = FieldName {
            owner: THROWABLE.to_owned(),
            name: name.to_owned(),
        };
        Some((field, Symbol::Parameter(index)))
    };
    parameters
        .into_iter()
        .enumerate()
        .filter_map(field)
        .collect()
}

fn members(bytes: &[u8]) -> Option<Members> {
    let class = ClassFile::parse(bytes).ok()?;
    let signature_of = |attributes: &hindsight_classfile::Attributes<'_>| {
        let attribute = attributes.find(&class.pool, "Signature")?;
        let index = attribute.reader().u16().ok()?;
        Some(class.pool.utf8(index).ok()?.to_string_lossy().into_owned())
    };
    let fields = class.fields.iter().map(|field| Field {
        access: field.access,
        name: field.name.to_string_lossy().into_owned(),
        descriptor: field.descriptor.to_string_lossy().into_owned(),
        signature: signature_of(&field.attributes),
    });
    let bodies = class.methods.iter().map(|member| {
        let key = (
            member.name.to_string_lossy().into_owned(),
            member.descriptor.to_string_lossy().into_owned(),
        );
        let body = Body {
            names: parameter_names(&class, member).unwrap_or_default(),
            signature: signature_of(&member.attributes),
            effects: effects(&class, member),
        };
        (key, Rc::new(body))
    });
    Some(Members {
        fields: fields.collect(),
        bodies: bodies.collect(),
        generic: signature_of(&class.attributes).is_some_and(|text| text.starts_with('<')),
    })
}

/// What of a class decides whether a test may use a member.
pub fn is_usable(info: &ClassInfo, access: u16, package: &str) -> bool {
    use hindsight_classfile::access::{PRIVATE, PUBLIC, SYNTHETIC};
    if access & SYNTHETIC != 0 {
        return false;
    }
    match crate::java::names::package_of(&info.name) == package {
        true => access & PRIVATE == 0,
        false => access & PUBLIC != 0,
    }
}
