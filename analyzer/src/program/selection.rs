//! Finds the method that a call names, and the one that it runs.

use super::hierarchy::{ClassId, MethodId, Program};
use super::names::Sym;
use hindsight_classfile::access;
use std::iter;

impl Program {
    /// A class and its superclasses, from below.
    fn superclasses(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        iter::successors(Some(class), |&id| self.class(id).superclass)
    }

    /// The method that a class has with this signature: its own, a superclass's, or an interface's,
    /// of which one with a body is preferred (JVMS 5.4.3.3).
    pub fn resolve(&self, class: ClassId, signature: Sym) -> Option<MethodId> {
        let mut classes = self.superclasses(class);
        classes
            .find_map(|id| self.declared(id, signature))
            .or_else(|| self.of_interfaces(class, signature))
    }

    /// The method that a call of another method runs on an instance of a class (JVMS 5.4.6): the
    /// lowest one that overrides it (JVMS 5.4.5). A private method of the same signature does not
    /// override it; nor does a method of another package, if the called one is only visible in its
    /// own package.
    pub fn select(&self, class: ClassId, called: MethodId) -> Option<MethodId> {
        let signature = self.method(called).signature;
        if self.method(called).is(access::PRIVATE) {
            return Some(called);
        }
        let mut above = Vec::new();
        for id in self.superclasses(class) {
            let declared = self.declared(id, signature);
            let is_hidden = |one| self.method(one).is(access::PRIVATE | access::STATIC);
            above.extend(declared.filter(|&one| !is_hidden(one)));
            if declared == Some(called) {
                break;
            }
        }
        // A public or protected method is overridden by all below it; a package-private one by
        // those in its package, and in the packages of those that override it.
        let is_open = |one| self.method(one).is(access::PUBLIC | access::PROTECTED);
        let mut open = is_open(called);
        let mut packages = Vec::new();
        let mut selected = None;
        for one in above.into_iter().rev() {
            if !open {
                let package = self.package(self.method(one).class);
                if one != called && !packages.contains(&package) {
                    continue;
                }
                packages.push(package);
                open = is_open(one);
            }
            selected = Some(one);
        }
        selected.or_else(|| self.of_interfaces(class, signature))
    }

    /// The package of a class.
    pub(crate) fn package(&self, class: ClassId) -> Vec<u8> {
        let name = self.names.bytes(self.class(class).name);
        let end = name.iter().rposition(|&byte| byte == b'/');
        name[..end.unwrap_or(0)].to_vec()
    }

    /// The method that a class has from the interfaces above it.
    fn of_interfaces(&self, class: ClassId, signature: Sym) -> Option<MethodId> {
        let found = self.supertypes(class);
        let found: Vec<MethodId> = found
            .filter(|&id| self.class(id).access & access::INTERFACE != 0)
            .filter_map(|id| self.declared(id, signature))
            .filter(|&one| !self.method(one).is(access::PRIVATE | access::STATIC))
            .collect();
        let of = |method: MethodId| self.method(method).class;
        // A method that a subinterface declares anew, with or without a body, hides it.
        let is_hidden = |one: MethodId| {
            let mut others = found.iter().filter(|&&other| other != one);
            others.any(|&other| self.is_subtype(of(other), of(one)))
        };
        let mut visible = found.iter().copied().filter(|&one| !is_hidden(one));
        let first = visible.next()?;
        match self.method(first).is(access::ABSTRACT) {
            true => visible
                .find(|&method| !self.method(method).is(access::ABSTRACT))
                .or(Some(first)),
            false => Some(first),
        }
    }
}
