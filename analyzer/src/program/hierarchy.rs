//! Classes and their members, by number.

use super::names::{Map, Names, Set, Sym};
use super::source::Raw;
use hindsight_classfile::access;
use hindsight_classfile::{ClassFile, Constant, Error};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::iter;

/// The number of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// The number of a method. The methods of a class have consecutive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId(pub u32);

/// A class or interface.
#[derive(Debug, Clone)]
pub struct Class {
    /// The class's internal name.
    pub name: Sym,
    /// The flags of [`hindsight_classfile::access`].
    pub access: u16,
    /// Whether it is part of the JDK.
    pub library: bool,
    /// Whether only its name is known.
    pub missing: bool,
    /// The archive or directory of the class file, if that is known.
    pub origin: Option<Sym>,
    /// The superclass; `None` for `java/lang/Object` and missing classes.
    pub superclass: Option<ClassId>,
    /// The interfaces that the class itself names.
    pub interfaces: Box<[ClassId]>,
    /// The numbers of its methods.
    pub methods: std::ops::Range<u32>,
    /// Its fields.
    pub fields: Box<[Field]>,
    /// The classes and interfaces that name it as their superclass or interface.
    pub subtypes: Vec<ClassId>,
    bytes: Box<[u8]>,
}

/// A method or constructor.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The method's class.
    pub class: ClassId,
    /// The method's name and descriptor in one: `get(I)Ljava/lang/Object;`.
    pub signature: Sym,
    /// The flags of [`hindsight_classfile::access`].
    pub access: u16,
    /// The method's index in the class file.
    pub place: u16,
}

/// A field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The field's name.
    pub name: Sym,
    /// The field's descriptor.
    pub descriptor: Sym,
    /// The flags of [`hindsight_classfile::access`].
    pub access: u16,
}

/// A class before its relations are resolved to numbers.
#[derive(Debug)]
pub struct Draft {
    /// The class's internal name.
    pub name: Sym,
    /// Its flags.
    pub access: u16,
    /// Whether it is part of the JDK.
    pub library: bool,
    /// As in [`Class`].
    pub origin: Option<Sym>,
    /// The name of the superclass.
    pub superclass: Option<Sym>,
    /// The names of the interfaces.
    pub interfaces: Vec<Sym>,
    /// The methods: signature, flags, index in the class file.
    pub methods: Vec<(Sym, u16, u16)>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// The class file; empty if its bodies are not needed.
    pub bytes: Vec<u8>,
}

/// All classes of a program, with those of the JDK if it is known.
#[derive(Debug, Default)]
pub struct Program {
    /// The names of everything in the program.
    pub names: Names,
    /// The classes, by number.
    pub classes: Vec<Class>,
    /// The methods, by number.
    pub methods: Vec<Method>,
    by_name: Map<Sym, ClassId>,
    declared: Map<(ClassId, Sym), MethodId>,
}

impl Method {
    /// Whether a flag of [`hindsight_classfile::access`] is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }
}

/// Reads what a class file says about its class.
fn draft(names: &Names, raw: Raw, library: bool) -> Result<Draft, Error> {
    let mut draft = read(names, &raw.bytes, library)?;
    let within = raw.place.strip_suffix(".class");
    let name = names.text(draft.name);
    let origin = within.and_then(|place| place.strip_suffix(name.as_str()));
    draft.origin = origin.map(|origin| names.intern(origin.as_bytes()));
    draft.bytes = raw.bytes;
    Ok(draft)
}

fn read(names: &Names, raw: &[u8], library: bool) -> Result<Draft, Error> {
    let class = ClassFile::parse(raw)?;
    let sym = |name: hindsight_classfile::Utf8<'_>| names.intern(name.as_bytes());
    let mut methods = Vec::with_capacity(class.methods.len());
    let mut signature = Vec::new();
    for (place, method) in class.methods.iter().enumerate() {
        method.method_descriptor()?;
        signature.clear();
        signature.extend_from_slice(method.name.as_bytes());
        signature.extend_from_slice(method.descriptor.as_bytes());
        // A class has at most 65,535 methods.
        methods.push((names.intern(&signature), method.access, place as u16));
    }
    let fields = class.fields.iter().map(|field| Field {
        name: sym(field.name),
        descriptor: sym(field.descriptor),
        access: field.access,
    });
    Ok(Draft {
        name: sym(class.name()?),
        access: class.access,
        library,
        origin: None,
        superclass: class.super_name()?.map(sym),
        interfaces: class
            .interface_names()
            .map(|name| name.map(sym))
            .collect::<Result<_, _>>()?,
        fields: fields.collect(),
        methods,
        bytes: Vec::new(),
    })
}

/// The major version of the newest class files whose code is known: Java 25
/// (JVMS table 4.1-A).
pub const NEWEST: u16 = 69;

/// Reads class files in parallel. Those that cannot be read give warnings.
pub fn drafts(
    names: &Names,
    classes: Vec<Raw>,
    library: bool,
    warnings: &mut Vec<String>,
) -> Vec<Draft> {
    let read: Vec<_> = classes
        .into_par_iter()
        .map(|raw| {
            let newer = raw
                .bytes
                .get(6..8)
                .is_some_and(|v| u16::from_be_bytes([v[0], v[1]]) > NEWEST);
            let place = raw.place.clone();
            match draft(names, raw, library) {
                Ok(draft) if newer => (
                    Some(draft),
                    Some(format!(
                        "{place}: of a Java newer than 25; what its methods do is unknown"
                    )),
                ),
                Ok(draft) => (Some(draft), None),
                Err(error) => (None, Some(format!("{place}: {error}; left out"))),
            }
        })
        .collect();
    let mut drafts = Vec::with_capacity(read.len());
    for (draft, warning) in read {
        drafts.extend(draft);
        warnings.extend(warning);
    }
    drafts
}

impl Program {
    /// Resolves the relations of classes by their names. Of several classes with one name, the
    /// first counts.
    pub fn new(names: Names, drafts: Vec<Draft>) -> Program {
        let mut program = Program {
            names,
            ..Program::default()
        };
        let mut relations = Vec::with_capacity(drafts.len());
        for draft in drafts {
            if draft.access & access::MODULE != 0 || program.by_name.contains_key(&draft.name) {
                continue;
            }
            let id = ClassId(program.classes.len() as u32);
            let first = program.methods.len() as u32;
            for (signature, access, place) in draft.methods {
                let method = MethodId(program.methods.len() as u32);
                program.methods.push(Method {
                    class: id,
                    signature,
                    access,
                    place,
                });
                program.declared.entry((id, signature)).or_insert(method);
            }
            program.by_name.insert(draft.name, id);
            relations.push((id, draft.superclass, draft.interfaces));
            program.classes.push(Class {
                name: draft.name,
                access: draft.access,
                library: draft.library,
                missing: false,
                origin: draft.origin,
                superclass: None,
                interfaces: Box::default(),
                methods: first..program.methods.len() as u32,
                fields: draft.fields.into(),
                subtypes: Vec::new(),
                bytes: draft.bytes.into(),
            });
        }
        for (id, superclass, interfaces) in relations {
            let superclass = superclass.map(|name| program.class_or_missing(name));
            let interfaces: Box<[_]> = interfaces
                .into_iter()
                .map(|name| program.class_or_missing(name))
                .collect();
            for &above in superclass.iter().chain(&interfaces) {
                program.classes[above.0 as usize].subtypes.push(id);
            }
            let class = &mut program.classes[id.0 as usize];
            class.superclass = superclass;
            class.interfaces = interfaces;
        }
        program.cut_cycles();
        program
    }

    fn class_or_missing(&mut self, name: Sym) -> ClassId {
        if let Some(&id) = self.by_name.get(&name) {
            return id;
        }
        let id = ClassId(self.classes.len() as u32);
        self.by_name.insert(name, id);
        let end = self.methods.len() as u32;
        self.classes.push(Class {
            name,
            access: 0,
            library: false,
            missing: true,
            origin: None,
            superclass: None,
            interfaces: Box::default(),
            methods: end..end,
            fields: Box::default(),
            subtypes: Vec::new(),
            bytes: Box::default(),
        });
        id
    }

    /// Makes a class that extends itself, through others, extend nothing. A JVM refuses such a
    /// class; and so every walk upwards ends.
    fn cut_cycles(&mut self) {
        let mut state = vec![0u8; self.classes.len()];
        for start in 0..self.classes.len() {
            // The walk is depth first; each entry has the index of the next type above it.
            let mut path = vec![(start, 0)];
            while let Some(&mut (class, ref mut next)) = path.last_mut() {
                state[class] = 1;
                let above: Vec<ClassId> = self.above(ClassId(class as u32)).collect();
                match above.get(*next) {
                    None => {
                        state[class] = 2;
                        path.pop();
                    }
                    Some(above) if state[above.0 as usize] == 1 => {
                        let above = *above;
                        let below = &mut self.classes[class];
                        if below.superclass == Some(above) {
                            below.superclass = None;
                        }
                        below.interfaces = below
                            .interfaces
                            .iter()
                            .copied()
                            .filter(|id| *id != above)
                            .collect();
                        let id = ClassId(class as u32);
                        self.classes[above.0 as usize]
                            .subtypes
                            .retain(|sub| *sub != id);
                    }
                    Some(above) => {
                        *next += 1;
                        let above = above.0 as usize;
                        if state[above] == 0 {
                            path.push((above, 0));
                        }
                    }
                }
            }
        }
    }

    /// The class with a number.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    /// The method with a number.
    pub fn method(&self, id: MethodId) -> &Method {
        &self.methods[id.0 as usize]
    }

    /// The class with an internal name, which may be missing.
    pub fn find(&self, name: Sym) -> Option<ClassId> {
        self.by_name.get(&name).copied()
    }

    /// The class's superclass and interfaces.
    pub fn above(&self, id: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        let class = self.class(id);
        class
            .superclass
            .into_iter()
            .chain(class.interfaces.iter().copied())
    }

    /// A class and everything that it extends or implements, also indirectly.
    pub fn supertypes(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        let mut pending = vec![class];
        let mut seen = Set::default();
        iter::from_fn(move || {
            while let Some(id) = pending.pop() {
                if seen.insert(id) {
                    pending.extend(self.above(id));
                    return Some(id);
                }
            }
            None
        })
    }

    /// The method that a class itself declares.
    pub fn declared(&self, class: ClassId, signature: Sym) -> Option<MethodId> {
        self.declared.get(&(class, signature)).copied()
    }

    /// The class that declares a field, found as the JVM does (JVMS 5.4.3.2).
    pub fn resolve_field(&self, class: ClassId, name: Sym, descriptor: Sym) -> Option<ClassId> {
        let mut pending = vec![class];
        let mut seen = Set::default();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let class = self.class(id);
            if class
                .fields
                .iter()
                .any(|field| field.name == name && field.descriptor == descriptor)
            {
                return Some(id);
            }
            pending.extend(class.superclass);
            pending.extend(class.interfaces.iter().copied());
        }
        None
    }

    /// Whether a class is the same as another one, or extends or implements it.
    pub fn is_subtype(&self, class: ClassId, above: ClassId) -> bool {
        // Mostly it is a superclass close by. The superclasses in broken files may form a circle.
        let mut at = Some(class);
        for _ in 0..100 {
            match at {
                Some(id) if id == above => return true,
                Some(id) => at = self.class(id).superclass,
                None => break,
            }
        }
        let of_classes = self.class(above).access & access::INTERFACE == 0;
        if at.is_none() && of_classes && !self.class(above).missing {
            return false;
        }
        self.supertypes(class).any(|id| id == above)
    }

    /// Whether a supertype of a class is missing, so that it is not known what the class inherits.
    pub fn is_incomplete(&self, class: ClassId) -> bool {
        self.supertypes(class).any(|id| self.class(id).missing)
    }

    /// A class and everything that extends or implements it, also indirectly.
    pub fn subtypes(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = vec![class];
        let mut seen: Set<ClassId> = found.iter().copied().collect();
        let mut at = 0;
        while at < found.len() {
            for &sub in &self.class(found[at]).subtypes {
                if seen.insert(sub) {
                    found.push(sub);
                }
            }
            at += 1;
        }
        found
    }

    /// The class file of a class; `None` if it is missing or its bodies were not needed.
    pub fn file(&self, class: ClassId) -> Option<ClassFile<'_>> {
        let bytes = &self.class(class).bytes;
        if bytes.is_empty() {
            return None;
        }
        ClassFile::parse(bytes).ok()
    }

    /// The classes that the program's code names as owners of fields, methods or constructors, and
    /// that are not there.
    pub fn unknown_owners(&self) -> BTreeSet<String> {
        let own = (0..self.classes.len() as u32).into_par_iter().map(ClassId);
        let found = own
            .filter(|&class| !self.class(class).library)
            .map(|class| {
                let mut unknown = BTreeSet::new();
                let Some(file) = self.file(class) else {
                    return unknown;
                };
                for index in 1..file.pool.count() {
                    let owner = match file.pool.get(index) {
                        Ok(
                            Constant::Field(member)
                            | Constant::Method(member)
                            | Constant::InterfaceMethod(member),
                        ) => member.owner,
                        _ => continue,
                    };
                    let name = owner.as_bytes();
                    let is_known = || {
                        let name = self.names.find(name)?;
                        self.find(name)
                    };
                    if !name.starts_with(b"[") && is_known().is_none() {
                        unknown.insert(owner.to_string_lossy().into_owned());
                    }
                }
                unknown
            });
        found.reduce(BTreeSet::new, |mut one, other| {
            one.extend(other);
            one
        })
    }

    /// The CRC-32 of a class file.
    pub fn file_crc(&self, class: ClassId) -> u32 {
        crc32fast::hash(&self.class(class).bytes)
    }

    /// The bytes of a class file; empty if there is none.
    pub fn file_bytes(&self, class: ClassId) -> &[u8] {
        &self.class(class).bytes
    }

    /// Frees the memory of all class files.
    pub fn forget_files(&mut self) {
        for class in &mut self.classes {
            class.bytes = Box::default();
        }
    }

    /// A class's name with dots.
    pub fn class_name(&self, id: ClassId) -> String {
        self.names.text(self.class(id).name).replace('/', ".")
    }

    /// A method's name and its descriptor.
    pub fn signature(&self, id: MethodId) -> (String, String) {
        let text = self.names.text(self.method(id).signature);
        let at = text.find('(').unwrap_or(text.len());
        (text[..at].to_owned(), text[at..].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test class: name, superclass, interfaces, methods with flags.
    type Row<'r> = (&'r str, &'r str, &'r [&'r str], &'r [(&'r str, u16)]);

    fn program(classes: &[Row<'_>]) -> Program {
        let names = Names::default();
        let sym = |text: &str| names.intern(text.as_bytes());
        let drafts = classes
            .iter()
            .map(|(name, superclass, interfaces, methods)| Draft {
                name: sym(name),
                access: match classes.iter().any(|row| row.2.contains(name)) {
                    true => access::INTERFACE,
                    false => 0,
                },
                library: false,
                origin: None,
                superclass: (!superclass.is_empty()).then(|| sym(superclass)),
                interfaces: interfaces.iter().map(|name| sym(name)).collect(),
                methods: methods
                    .iter()
                    .map(|(name, access)| (sym(name), *access, 0))
                    .collect(),
                fields: Vec::new(),
                bytes: Vec::new(),
            });
        let drafts = drafts.collect();
        Program::new(names, drafts)
    }

    #[test]
    fn methods_are_found_above() {
        let program = program(&[
            ("Object", "", &[], &[("h()V", 0)]),
            (
                "I",
                "Object",
                &[],
                &[("d()V", 0), ("a()V", access::ABSTRACT)],
            ),
            ("J", "Object", &["I"], &[("d()V", 0)]),
            ("A", "Object", &["I"], &[("a()V", 0)]),
            ("B", "A", &["J", "Gone"], &[]),
            ("K", "Object", &["I"], &[("d()V", access::ABSTRACT)]),
            ("L", "Object", &["I", "K"], &[]),
            ("M", "Object", &["L"], &[]),
        ]);
        let class = |name: &str| {
            program
                .find(program.names.find(name.as_bytes()).unwrap())
                .unwrap()
        };
        let owner = |on: &str, signature: &str| {
            let signature = program.names.find(signature.as_bytes()).unwrap();
            let method = program.resolve(class(on), signature)?;
            Some(program.class_name(program.method(method).class))
        };
        assert_eq!(owner("B", "a()V").as_deref(), Some("A"));
        assert_eq!(owner("B", "d()V").as_deref(), Some("J"));
        assert_eq!(owner("B", "h()V").as_deref(), Some("Object"));
        // A body that is abstract again in a subinterface is not found.
        assert_eq!(owner("L", "d()V").as_deref(), Some("K"));
        assert_eq!(owner("M", "d()V").as_deref(), Some("K"));
        assert_eq!(program.subtypes(class("I")).len(), 7);
        assert!(program.is_subtype(class("B"), class("I")));
        assert!(program.is_incomplete(class("B")) && !program.is_incomplete(class("A")));
    }

    #[test]
    fn circles_end() {
        let program = program(&[
            ("A", "B", &["A"], &[]),
            ("B", "C", &[], &[]),
            ("C", "A", &[], &[]),
        ]);
        for id in 0..3 {
            assert!(program.resolve(ClassId(id), Sym(7)).is_none());
            assert!(!program.subtypes(ClassId(id)).is_empty());
        }
    }
}
