//! Decides which methods a test may call.

use crate::classinfo::{self, ClassInfo};
use crate::classpath::FoundClass;
use crate::generate::platform::{Classes, Platform};
use crate::generate::sequence::{Method, is_of_compiler};
use crate::java::descriptor;
use crate::java::names::{is_identifier, package_of};
use hindsight_classfile::access;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// The rules by which a test may call methods.
pub struct Access<'c> {
    known: Classes<'c>,
    classes: HashMap<String, bool>,
    pub(super) methods: HashMap<(String, u32), Option<Method>>,
}

impl<'c> Access<'c> {
    /// The rules for these classes.
    pub fn new(known: Classes<'c>) -> Access<'c> {
        Access {
            known,
            classes: HashMap::new(),
            methods: HashMap::new(),
        }
    }

    /// The JDK's classes.
    pub fn platform(&self) -> &'c Platform {
        self.known.platform
    }

    /// Whether a class is one of the program's own.
    pub fn is_own(&self, class: &str) -> bool {
        self.known.own.info(class).is_some()
    }

    /// Whether a class is an enum.
    pub fn is_enum(&self, class: &str) -> bool {
        let found = self.info(class);
        let info = found.as_deref().and_then(of);
        info.is_some_and(|info| info.is(access::ENUM))
    }

    /// Whether any source can name a class.
    pub fn is_accessible(&mut self, class: &str) -> bool {
        if let Some(known) = self.classes.get(class) {
            return *known;
        }
        let accessible = self.is_open(class);
        self.classes.insert(class.to_owned(), accessible);
        accessible
    }

    /// The same, without a cache.
    pub fn is_open(&self, class: &str) -> bool {
        self.is_with_those_around(class, |info| info.is(access::PUBLIC))
    }

    /// Whether the tests of another class can name a class: all sources can, or those of their
    /// package.
    pub fn is_in_sight(&mut self, class: &str, tested: &str) -> bool {
        let is_neighbour = || {
            package_of(class) == package_of(tested)
                && self.info(class).is_some_and(|found| found.open)
                && self.is_with_those_around(class, |info| !info.is(access::PRIVATE))
        };
        is_neighbour() || self.is_accessible(class)
    }

    /// Whether a class that is not synthetic, and all that enclose it, satisfy `is`.
    fn is_with_those_around(&self, class: &str, is: fn(&ClassInfo) -> bool) -> bool {
        let known = &self.known;
        known.are_all_around(class, |info| is(info) && !info.is(access::SYNTHETIC))
    }

    /// The class file of a class.
    pub fn info(&self, class: &str) -> Option<Rc<FoundClass>> {
        self.known.info(class)
    }

    /// A method as it is declared or inherited by a type that a source knows of an object, if there
    /// is one: a method called on the `List` that a method returns does not depend on it being an
    /// `ArrayList`.
    pub fn declared(&self, ty: &str, method: &Method) -> Option<Method> {
        let mut pending = VecDeque::from([descriptor::class_name(ty)?]);
        let mut seen = HashSet::new();
        while let Some(class) = pending.pop_front() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let found = self.info(&class)?;
            let info = of(&found)?;
            let declares = info
                .method(&method.name, &method.descriptor)
                .is_some_and(|method| method.is(access::PUBLIC) && !method.is(access::STATIC));
            if declares && self.is_open(&class) {
                return Some(method.called_by(class));
            }
            pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
        }
        None
    }

    /// The methods without parameters that a source may call on an object of a class, as the class
    /// or another class of the program declares them: of those with one name the nearest.
    pub fn asking(&self, class: &str) -> Vec<Method> {
        let mut known = HashSet::new();
        let mut asking = Vec::new();
        for found in self.lineage(class) {
            let Some(info) = of(&found) else { continue };
            let mut here: Vec<&classinfo::Method> = (info.methods.iter())
                .filter(|method| method.descriptor.starts_with("()"))
                .filter(|method| !method.is(access::STATIC | access::SYNTHETIC))
                .collect();
            // Of two with the same name, one is the compiler's.
            here.retain(|method| !known.contains(&method.name));
            known.extend(here.iter().map(|method| method.name.clone()));
            let callable = here.into_iter().filter(|method| {
                method.is(access::PUBLIC)
                    && is_identifier(&method.name)
                    && !is_of_compiler(&method.name, &method.descriptor)
            });
            let declaring = self.is_open(&info.name);
            asking.extend(callable.map(|method| {
                let declared = Method {
                    class: info.name.clone(),
                    name: method.name.clone(),
                    descriptor: method.descriptor.clone(),
                    is_static: false,
                    runs: None,
                };
                match declaring {
                    true => declared,
                    false => declared.called_by(class.to_owned()),
                }
            }));
        }
        asking
    }

    /// A class and the classes of the program from which it has methods, with overriding ones
    /// before overridden ones.
    fn lineage(&self, class: &str) -> Vec<Rc<FoundClass>> {
        let mut classes = Vec::new();
        let mut next = Some(class.to_owned());
        while let Some(found) = next.and_then(|class| self.known.own.info(&class)) {
            next = of(&found).and_then(|info| info.super_class.clone());
            classes.push(found);
        }
        let mut above = Vec::new();
        let mut seen = HashSet::new();
        for found in &classes {
            self.interfaces(found, &mut seen, &mut above);
        }
        classes.extend(above.into_iter().rev());
        classes
    }

    /// The interfaces of a class that are the program's, each after those that it extends.
    fn interfaces(
        &self,
        found: &FoundClass,
        seen: &mut HashSet<String>,
        all: &mut Vec<Rc<FoundClass>>,
    ) {
        let interfaces = of(found).map_or(&[][..], |info| &info.interfaces);
        for name in interfaces {
            if seen.insert(name.clone())
                && let Some(found) = self.known.own.info(name)
            {
                self.interfaces(&found, seen, all);
                all.push(found);
            }
        }
    }

    /// Whether a class is another one or a subtype of it, as far as classes are known.
    pub fn is_a(&self, class: &str, other: &str) -> bool {
        let mut pending = vec![class.to_owned()];
        let mut seen = HashSet::new();
        while let Some(class) = pending.pop() {
            if class == other {
                return true;
            }
            let found = self.info(&class).filter(|_| seen.insert(class));
            if let Some(info) = found.as_deref().and_then(of) {
                pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            }
        }
        false
    }

    /// The class that a method returns whose declared result is an `Object`, as that of a list's
    /// is, according to the method that overrides it in a class.
    pub fn overriding_result(&self, class: &str, method: &Method) -> Option<String> {
        let (types, result) = method.types();
        if result != "Ljava/lang/Object;" {
            return None;
        }
        let mut next = Some(class.to_owned());
        while let Some(class) = next {
            let found = self.info(&class)?;
            let info = of(&found)?;
            let overrides = info.methods.iter().filter_map(|other| {
                let (others, result) = descriptor::split(&other.descriptor)?;
                let is = other.name == method.name
                    && !other.is(access::SYNTHETIC | access::STATIC)
                    && others.len() == types.len();
                is.then_some(result)
            });
            let results: HashSet<&str> = overrides.collect();
            if !results.is_empty() {
                let mut results = results.into_iter();
                let only = results.next().filter(|_| results.next().is_none())?;
                return descriptor::class_name(only);
            }
            next = info.super_class.clone();
        }
        None
    }

    /// The form in which a source calls a method on an object of `class`: by a public class or
    /// interface that declares it.
    pub(super) fn resolve(&mut self, class: &str, method: &Method) -> Option<Method> {
        if method.harms() || !method.is_named() {
            return None;
        }
        if self.is_accessible(&method.class) {
            return Some(method.clone());
        }
        // A method of a class that is not public is public in its subclasses.
        let mut below = class.to_owned();
        while below != method.class {
            if self.is_accessible(&below) {
                return Some(method.called_by(below));
            }
            let found = self.info(&below);
            let above = found.as_deref().and_then(of).map(|info| &info.super_class);
            match above {
                Some(Some(above)) => below = above.clone(),
                _ => break,
            }
        }
        let mut pending = vec![class.to_owned()];
        let mut seen = HashSet::new();
        while let Some(class) = pending.pop() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let Some(found) = self.info(&class) else {
                continue;
            };
            let Some(info) = of(&found) else { continue };
            let declares = info
                .method(&method.name, &method.descriptor)
                .is_some_and(|method| method.is(access::PUBLIC));
            if declares && self.is_accessible(&class) {
                return Some(method.called_by(class));
            }
            pending.extend(info.interfaces.iter().cloned());
            pending.extend(info.super_class.clone());
        }
        None
    }
}

pub(super) fn of(found: &FoundClass) -> Option<&ClassInfo> {
    found.info.as_ref()
}
