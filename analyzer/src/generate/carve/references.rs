//! Method references of a run that a test can write as they were.

use super::callable::{Access, of};
use crate::classinfo;
use crate::generate::sequence::Method;
use crate::java::descriptor;
use hindsight_classfile::access;
use hindsight_tracelog::trace::dictionary::Code;
use std::collections::{HashMap, HashSet, VecDeque};

impl Access<'_> {
    /// The method that a lambda of the run is a reference to, if any source can write it (`Type::name`) and javac
    /// knows at once which one is meant, where the method of the lambda's interface has so many parameters.
    pub(super) fn referred(&self, code: &Code, parameters: usize) -> Option<Method> {
        let method = Method {
            class: code.class.clone(),
            name: code.name.clone(),
            descriptor: code.descriptor.clone(),
            is_static: false,
            runs: None,
        };
        if method.harms() || !method.is_named() || !self.is_open(&method.class) {
            return None;
        }
        let taken = descriptor::split(&method.descriptor)?.0.len();
        if method.is_constructor() {
            let found = self.info(&method.class)?;
            let info = of(&found)?;
            let named = info.methods.iter().filter(|one| one.name == method.name);
            let is_plain = taken == 0 || named.count() == 1;
            let declared = info.method(&method.name, &method.descriptor)?;
            let is_open = declared.is(access::PUBLIC) && !info.is(access::ABSTRACT);
            return (is_plain && is_open && taken == parameters).then_some(method);
        }
        let only = self.only(&method)?;
        let is_static = only.is(access::STATIC);
        let is_plain = only.is(access::PUBLIC) && !only.is(access::SYNTHETIC | access::VARARGS);
        // What has taken its receiver with it is written otherwise.
        let fits = taken + usize::from(!is_static) == parameters;
        (is_plain && fits).then_some(Method {
            is_static,
            ..method
        })
    }

    /// A method as a class declares or inherits it, if no other one there has its name.
    fn only(&self, method: &Method) -> Option<classinfo::Method> {
        let mut pending = VecDeque::from([method.class.clone()]);
        let mut seen = HashSet::new();
        let mut named: HashMap<String, classinfo::Method> = HashMap::new();
        while let Some(class) = pending.pop_front() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let found = self.info(&class)?;
            let info = of(&found)?;
            for one in info.methods.iter().filter(|one| one.name == method.name) {
                let parameters = one.descriptor.split(')').next().unwrap_or_default();
                if !one.is(access::BRIDGE) {
                    named.entry(parameters.to_owned()).or_insert(one.clone());
                }
            }
            pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
        }
        let mut named = named.into_values();
        let only = named.next().filter(|_| named.next().is_none())?;
        (only.descriptor == method.descriptor).then_some(only)
    }
}
