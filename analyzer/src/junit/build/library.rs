//! What the class path says about making objects: members, the names of their parameters, and the
//! effects of their bodies, each read once.

use super::THROWABLE;
use super::effects::{Called, Effect, Effects, FieldName, Symbol, Target, effects};
use crate::classinfo::{self, ClassInfo, parameter_names};
use crate::classpath::{ClassPath, FoundClass, is_platform};
use crate::java::descriptor;
use crate::java::signature::{self, Generic};
use hindsight_classfile::ClassFile;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The depth to which constructors and methods that call each other are followed.
const MAX_DEPTH: usize = 16;
/// The most writes of one constructor or method that are returned.
const MAX_WRITES: usize = 256;

/// A field that is written, and the origin of its value.
pub type Write = (FieldName, Symbol);

/// A constructor or method of a class file.
#[derive(Debug, Default)]
pub struct Body {
    /// The names of the parameters, if the class file has them.
    pub names: Vec<Option<String>>,
    /// Its generic signature (JVMS 4.7.9.1).
    pub signature: Option<String>,
    effects: Option<Effects>,
}

impl Body {
    /// Its effects, as far as they are known.
    pub fn effects(&self) -> Option<&Effects> {
        self.effects.as_ref()
    }
}

/// A field of a class file.
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

/// The classes of the class path, as they are read.
pub struct Library<'a> {
    /// The class path.
    pub classpath: &'a ClassPath,
    members: RefCell<HashMap<String, Rc<Members>>>,
    writes: RefCell<HashMap<Target, Rc<[Write]>>>,
}

impl<'a> Library<'a> {
    /// An empty library, which has read nothing yet.
    pub fn new(classpath: &'a ClassPath) -> Library<'a> {
        Library {
            classpath,
            members: RefCell::default(),
            writes: RefCell::default(),
        }
    }

    /// A class on the class path.
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

    /// The generic types of the parameters of a constructor or method, or of a field, as far as
    /// they are known and can be written.
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

    /// Whether a method without parameters returns a field of its object.
    pub fn is_getter(&self, class: &str, name: &str, descriptor: &str, field: &str) -> bool {
        let body = self.body(class, name, descriptor);
        let effects = body.as_ref().and_then(|body| body.effects.as_ref());
        effects.is_some_and(|effects| {
            let mut returned = effects.returned.iter();
            !effects.returned.is_empty() && returned.all(|symbol| is_own(symbol, field))
        })
    }

    /// Whether a method returns a field of its object on some path, which it may have written
    /// before.
    pub fn gives(&self, class: &str, name: &str, descriptor: &str, field: &str) -> bool {
        let body = self.body(class, name, descriptor);
        let effects = body.as_ref().and_then(|body| body.effects.as_ref());
        effects.is_some_and(|effects| effects.returned.iter().any(|symbol| is_own(symbol, field)))
    }

    /// The fields of an object of the class `made` that a method makes and that get its parameters,
    /// with these.
    pub fn parts(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
        made: &str,
    ) -> Vec<(FieldName, usize)> {
        let count = descriptor::split(descriptor).map_or(0, |(parameters, _)| parameters.len());
        let own: Vec<Symbol> = (0..count).map(Symbol::Parameter).collect();
        let target = Target {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        self.parts_within(&target, &own, made, MAX_CALLED)
    }

    fn parts_within(
        &self,
        of: &Target,
        given: &[Symbol],
        made: &str,
        depth: usize,
    ) -> Vec<(FieldName, usize)> {
        let body = self.body(&of.class, &of.name, &of.descriptor);
        let Some(effects) = body.as_ref().and_then(|body| body.effects.as_ref()) else {
            return Vec::new();
        };
        let passed = |called: &Called| -> Vec<Symbol> {
            let arguments = called.arguments.iter();
            let passed = arguments.map(|argument| argument.given(given, &Symbol::This));
            passed.collect()
        };
        let called = effects
            .made
            .iter()
            .find(|called| called.target.class == made);
        if let Some(called) = called {
            let Target {
                class,
                name,
                descriptor,
            } = &called.target;
            let arguments = passed(called);
            let writes = self.writes(class, name, descriptor);
            let parts = writes.iter().filter_map(|(field, value)| {
                match value.given(&arguments, &Symbol::Other) {
                    Symbol::Parameter(index) => Some((field.clone(), index)),
                    _ => None,
                }
            });
            return parts.collect();
        }
        let calls = effects.steps.iter().filter_map(|effect| match effect {
            Effect::Call(called) if depth > 0 => Some(called),
            _ => None,
        });
        let mut found =
            calls.map(|called| self.parts_within(&called.target, &passed(called), made, depth - 1));
        found.find(|parts| !parts.is_empty()).unwrap_or_default()
    }

    /// Whether a method passes its parameters, in order, to a method that adds to a collection in a
    /// field of `this`.
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

    /// The fields of `this` that a constructor or method writes, with the origin of each value
    /// among its parameters; the last write first, each field once.
    pub fn writes(&self, class: &str, name: &str, descriptor: &str) -> Rc<[Write]> {
        let target = Target {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        self.writes_within(&target, &mut Vec::new())
    }

    /// The same, with the methods that are followed already: their writes are known to the caller.
    /// Each method is followed once, because methods that call each other have very many paths.
    fn writes_within(&self, of: &Target, path: &mut Vec<Target>) -> Rc<[Write]> {
        if let Some(known) = self.writes.borrow().get(of) {
            return known.clone();
        }
        let mut seen = HashSet::new();
        let mut writes = Vec::new();
        let mut add = |write: Write| {
            if writes.len() < MAX_WRITES && seen.insert(write.clone()) {
                writes.push(write);
            }
        };
        match self.body(&of.class, &of.name, &of.descriptor) {
            Some(body) => {
                path.push(of.clone());
                let steps = body.effects.iter().flat_map(|effects| &effects.steps);
                for effect in steps.rev() {
                    match effect {
                        Effect::Write(field, value) => add((field.clone(), value.clone())),
                        Effect::Call(Called { target, arguments })
                            if path.len() <= MAX_DEPTH && !path.contains(target) =>
                        {
                            for (field, value) in &*self.writes_within(target, path) {
                                add((field.clone(), value.given(arguments, &Symbol::This)));
                            }
                        }
                        Effect::Call(_) => {}
                    }
                }
                path.pop();
            }
            None if of.name == "<init>" && is_platform(&of.class) => {
                let fields = exception_fields(&of.class, &of.descriptor);
                fields.into_iter().rev().for_each(add);
            }
            None => {}
        }
        let writes: Rc<[Write]> = writes.into();
        let mut known = self.writes.borrow_mut();
        known.insert(of.clone(), writes.clone());
        writes
    }

    /// The constructor call of `made` whose object a method returns, with arguments in terms of its
    /// own parameters.
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

/// The most calls of an object's own methods through which a made object is followed.
const MAX_CALLED: usize = 3;

/// Whether a value is this field of the object itself.
fn is_own(symbol: &Symbol, field: &str) -> bool {
    match symbol {
        Symbol::Field(base, named) => **base == Symbol::This && named.name == field,
        _ => false,
    }
}

/// The effects of constructors of the JDK's exceptions on message and cause.
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
    let fields = class.fields.iter().map(|field| Field {
        access: field.access,
        name: field.name.to_string_lossy().into_owned(),
        descriptor: field.descriptor.to_string_lossy().into_owned(),
        signature: classinfo::signature(&class, &field.attributes),
    });
    let bodies = class.methods.iter().map(|member| {
        let key = (
            member.name.to_string_lossy().into_owned(),
            member.descriptor.to_string_lossy().into_owned(),
        );
        let body = Body {
            names: parameter_names(&class, member).unwrap_or_default(),
            signature: classinfo::signature(&class, &member.attributes),
            effects: effects(&class, member),
        };
        (key, Rc::new(body))
    });
    Some(Members {
        fields: fields.collect(),
        bodies: bodies.collect(),
        generic: classinfo::signature(&class, &class.attributes)
            .is_some_and(|text| text.starts_with('<')),
    })
}

/// Whether a test may use a member of a class.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: usize) -> Target {
        Target {
            class: "a.M".to_owned(),
            name: format!("m{name}"),
            descriptor: "(II)V".to_owned(),
        }
    }

    fn write(name: usize, parameter: usize) -> Write {
        let field = FieldName {
            owner: "a.M".to_owned(),
            name: format!("f{name}"),
        };
        (field, Symbol::Parameter(parameter))
    }

    /// A class whose methods have these effects.
    fn library(classpath: &ClassPath, methods: Vec<Vec<Effect>>) -> Library<'_> {
        let library = Library::new(classpath);
        let bodies = methods.into_iter().enumerate().map(|(number, steps)| {
            let body = Body {
                effects: Some(Effects {
                    steps,
                    ..Effects::default()
                }),
                ..Body::default()
            };
            let Target {
                name, descriptor, ..
            } = target(number);
            ((name, descriptor), Rc::new(body))
        });
        let members = Members {
            bodies: bodies.collect(),
            ..Members::default()
        };
        let mut known = library.members.borrow_mut();
        known.insert("a.M".to_owned(), Rc::new(members));
        drop(known);
        library
    }

    fn call(name: usize, arguments: [usize; 2]) -> Effect {
        Effect::Call(Called {
            target: target(name),
            arguments: arguments.map(Symbol::Parameter).to_vec(),
        })
    }

    fn writes(library: &Library<'_>, name: usize) -> Vec<Write> {
        let target = target(name);
        let writes = library.writes(&target.class, &target.name, &target.descriptor);
        writes.to_vec()
    }

    #[test]
    fn calls_are_followed_with_what_they_are_given() {
        let classpath = ClassPath::open("").unwrap();
        let own = |(field, value): Write| Effect::Write(field, value);
        let first = vec![own(write(0, 1)), call(1, [1, 0]), own(write(2, 0))];
        let library = library(&classpath, vec![first, vec![own(write(1, 0))]]);
        assert_eq!(writes(&library, 0), [write(2, 0), write(1, 1), write(0, 1)]);
    }

    #[test]
    fn methods_that_call_each_other_are_followed_once() {
        const METHODS: usize = 60;
        let classpath = ClassPath::open("").unwrap();
        let methods = (0..METHODS).map(|number| {
            let (field, value) = write(number, 0);
            let calls = (0..METHODS).map(|other| call(other, [0, 1]));
            std::iter::once(Effect::Write(field, value))
                .chain(calls)
                .collect()
        });
        let library = library(&classpath, methods.collect());
        let found = writes(&library, 0);
        assert_eq!(found.last(), Some(&write(0, 0)));
        let each: HashSet<&Write> = found.iter().collect();
        assert_eq!(each.len(), found.len());
    }
}
