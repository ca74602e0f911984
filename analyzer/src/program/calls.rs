//! What a call may run: class hierarchy analysis, and rapid type analysis as an option.
//!
//! A call is a class, a signature and a kind of dispatch. Class hierarchy analysis takes every
//! method that an instance of some known subclass would run; rapid type analysis leaves out those
//! of classes that are never instantiated. The methods that lambdas stand for are not included, but
//! those that lambdas inherit from their interfaces are.

use super::hierarchy::{ClassId, MethodId, Program};
use super::names::{Map, Set, Sym};
use hindsight_classfile::access;
use std::sync::{Arc, Mutex, PoisonError};

/// How a call selects its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dispatch {
    /// By name alone: `invokestatic`, `invokespecial`.
    Exact,
    /// By the receiver's class.
    Virtual,
}

/// A call as code refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The class in which the search begins.
    pub owner: ClassId,
    /// The method's name and descriptor.
    pub signature: Sym,
    /// How the call selects the method.
    pub dispatch: Dispatch,
}

/// What a call may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    /// The method that the call names, found by resolution.
    pub resolved: Option<MethodId>,
    /// The methods that may run, each once; abstract methods are not included.
    pub methods: Vec<MethodId>,
    /// Whether others may run as well, because a class involved is missing, or is made later.
    pub open: bool,
}

/// The targets of calls, each found once. Shared between threads.
#[derive(Debug)]
pub struct Calls<'p> {
    program: &'p Program,
    instantiated: Option<Set<ClassId>>,
    proxies: bool,
    known: Vec<Mutex<Map<Site, Arc<Targets>>>>,
}

const SHARDS: usize = 16;

impl<'p> Calls<'p> {
    /// The targets by class hierarchy analysis.
    pub fn by_hierarchy(program: &'p Program) -> Calls<'p> {
        Calls {
            program,
            instantiated: None,
            proxies: false,
            known: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// The targets by rapid type analysis: only methods that instances of these classes run.
    pub fn by_instances(program: &'p Program, instantiated: Set<ClassId>) -> Calls<'p> {
        Calls {
            instantiated: Some(instantiated),
            ..Calls::by_hierarchy(program)
        }
    }

    /// Whether interfaces may have the implementations that [`Calls::with_proxies`] adds.
    pub fn has_proxies(&self) -> bool {
        self.proxies
    }

    /// Takes into account that interfaces have implementations that are made at run time.
    pub fn with_proxies(self) -> Calls<'p> {
        Calls {
            proxies: true,
            ..self
        }
    }

    /// The program to which the calls belong.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// What a call may run.
    pub fn targets(&self, site: Site) -> Arc<Targets> {
        let at = (site.signature.0 ^ site.owner.0) as usize % SHARDS;
        let lock = || {
            self.known[at]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = lock().get(&site) {
            return known.clone();
        }
        let found = Arc::new(self.find(site));
        lock().entry(site).or_insert(found).clone()
    }

    /// The method that a call runs on an instance of a class; it may be abstract.
    pub fn on(&self, site: Site, class: ClassId) -> Option<MethodId> {
        let program = self.program;
        match program.resolve(site.owner, site.signature) {
            Some(called) => program.select(class, called),
            None => program.resolve(class, site.signature),
        }
    }

    fn find(&self, site: Site) -> Targets {
        let program = self.program;
        let resolved = program.resolve(site.owner, site.signature);
        let mut targets = Targets {
            resolved,
            methods: Vec::new(),
            open: resolved.is_none(),
        };
        let stays = resolved.is_some_and(|method| {
            let method = program.method(method);
            method.is(access::PRIVATE | access::FINAL | access::STATIC)
        });
        if site.dispatch == Dispatch::Exact || stays {
            targets
                .methods
                .extend(resolved.filter(|&method| !program.method(method).is(access::ABSTRACT)));
            return targets;
        }
        let owner = program.class(site.owner);
        // A proxy passes on the methods that interfaces declare, and those of `Object` that it has
        // (`toString`, `equals`, `hashCode`).
        let by_proxy = owner.access & access::INTERFACE != 0
            || &*program.names.bytes(owner.name) == b"java/lang/Object";
        targets.open |= self.proxies && by_proxy;
        let mut seen = Set::default();
        for class in program.subtypes(site.owner) {
            let known = program.class(class);
            targets.open |= known.missing;
            let is_interface = known.access & access::INTERFACE != 0;
            let made = match &self.instantiated {
                Some(instantiated) => instantiated.contains(&class),
                None => known.access & access::ABSTRACT == 0,
            };
            // An interface may be implemented by a lambda, which runs the bodies that the interface
            // has.
            if !made && !is_interface {
                continue;
            }
            let found = self.on(site, class);
            match found.filter(|&method| !program.method(method).is(access::ABSTRACT)) {
                Some(method) => {
                    if seen.insert(method) {
                        targets.methods.push(method);
                    }
                }
                // A missing class above it may have a body.
                None => targets.open |= made && program.is_incomplete(class),
            }
        }
        targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::hierarchy::Draft;
    use crate::program::names::Names;

    #[test]
    fn overriders_and_instances() {
        let names = Names::default();
        let sym = |text: &str| names.intern(text.as_bytes());
        let draft = |name: &str, superclass: &str, access: u16, methods: &[&str]| Draft {
            name: sym(name),
            access,
            library: false,
            origin: None,
            superclass: (!superclass.is_empty()).then(|| sym(superclass)),
            interfaces: Vec::new(),
            methods: methods.iter().map(|name| (sym(name), 0, 0)).collect(),
            fields: Vec::new(),
            bytes: Vec::new(),
        };
        let drafts = vec![
            draft("O", "", 0, &["m()V"]),
            draft("A", "O", access::ABSTRACT, &["m()V"]),
            draft("B", "A", 0, &[]),
            draft("C", "A", 0, &["m()V"]),
            draft("D", "Gone", 0, &["m()V"]),
            draft("I", "", access::INTERFACE | access::ABSTRACT, &["m()V"]),
        ];
        let program = Program::new(names, drafts);
        let class = |name: &str| {
            program
                .find(program.names.find(name.as_bytes()).unwrap())
                .unwrap()
        };
        let signature = program.names.find(b"m()V").unwrap();
        let run = |calls: &Calls<'_>, owner: &str, dispatch| {
            let owner = class(owner);
            let targets = calls.targets(Site {
                owner,
                signature,
                dispatch,
            });
            let mut names: Vec<String> = targets
                .methods
                .iter()
                .map(|&method| program.class_name(program.method(method).class))
                .collect();
            names.sort();
            (names.join(" "), targets.open)
        };
        let all = Calls::by_hierarchy(&program);
        assert_eq!(run(&all, "O", Dispatch::Virtual), ("A C O".into(), false));
        assert_eq!(run(&all, "B", Dispatch::Virtual), ("A".into(), false));
        assert_eq!(run(&all, "B", Dispatch::Exact), ("A".into(), false));
        assert_eq!(run(&all, "Gone", Dispatch::Virtual), ("D".into(), true));
        let some = Calls::by_instances(&program, [class("C")].into_iter().collect());
        assert_eq!(run(&some, "O", Dispatch::Virtual), ("C".into(), false));
        // A lambda may inherit the method although no class does.
        for calls in [&all, &some] {
            assert_eq!(run(calls, "I", Dispatch::Virtual), ("I".into(), false));
        }
    }
}
