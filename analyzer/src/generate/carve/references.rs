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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classpath::ClassPath;
    use crate::generate::platform::{Classes, Platform};
    use crate::jdk::Jdk;

    #[test]
    fn only_what_javac_knows_at_once_is_referred_to() {
        let directory = tempfile::tempdir().unwrap();
        let own = ClassPath::open(directory.path().to_str().unwrap()).unwrap();
        let platform = Platform::new(&Jdk::find(None).unwrap());
        let access = Access::new(Classes {
            own: &own,
            platform: &platform,
        });
        let refers = |class: &str, name: &str, descriptor: &str, parameters| {
            let code = Code {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
            };
            access.referred(&code, parameters).is_some()
        };
        assert!(refers("java.lang.String", "length", "()I", 1));
        assert!(refers("java.util.ArrayList", "<init>", "()V", 0));
        assert!(refers("java.util.List", "size", "()I", 1));
        // It has its receiver with it.
        assert!(!refers("java.lang.String", "length", "()I", 0));
        // There are others of that name.
        let of_object = "(Ljava/lang/Object;)Ljava/lang/String;";
        assert!(!refers("java.lang.String", "valueOf", of_object, 1));
        assert!(!refers("java.util.ArrayList", "<init>", "(I)V", 1));
        // No test does that, or can.
        assert!(!refers("java.lang.System", "exit", "(I)V", 1));
        assert!(!refers(
            "java.nio.file.Files",
            "delete",
            "(Ljava/nio/file/Path;)V",
            1
        ));
        assert!(!refers("java.util.AbstractList", "removeRange", "(II)V", 3));
        assert!(!refers("shop.Order", "id", "()J", 1));
    }
}
