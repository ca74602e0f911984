//! Decides which methods Java source can call, and by which names.

use super::Plan;
use super::names::{is_package_name, source_name};
use crate::classinfo::Method;
use crate::classpath::is_jdk;
use crate::graph::Graph;
use crate::java::descriptor;
use crate::java::names::{is_identifier, package_of};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Frame, Value};
use std::collections::VecDeque;

impl Plan<'_> {
    /// The package from which a frame's class can be called, if it is on the class path and a test
    /// may be put there.
    pub(super) fn home(&self, frame: &Frame) -> Option<String> {
        let package = package_of(&frame.class);
        let found = self.classpath.find(&frame.class)?;
        let named = is_package_name(self.classpath, package);
        (found.open && named && !is_jdk(&frame.class)).then(|| package.to_owned())
    }

    /// Whether Java source in the same package can call a frame's method.
    pub(super) fn can_call_directly(&self, frame: &Frame) -> bool {
        let package = package_of(&frame.class);
        let Some(found) = self.classpath.info(&frame.class) else {
            return false;
        };
        let Some(info) = &found.info else {
            return false;
        };
        let Some(method) = info.method(&frame.method, &frame.descriptor) else {
            return false;
        };
        let named = frame.method == "<init>" || is_identifier(&frame.method);
        if method.is(access::PRIVATE | access::SYNTHETIC) || !named {
            return false;
        }
        let Some((parameters, _)) = descriptor::split(&frame.descriptor) else {
            return false;
        };
        self.callable_type(frame).is_some()
            && parameters
                .iter()
                .all(|parameter| self.can_name(parameter, package))
    }

    /// The type by which Java source in a frame's package calls its method: its class or, for a
    /// class without a name there (an anonymous one, the body of an enum constant), the nearest
    /// supertype that has the method.
    pub fn callable_type(&self, frame: &Frame) -> Option<String> {
        let package = package_of(&frame.class);
        let is_named = |class: &str| source_name(self.classpath, class, package).is_some();
        if is_named(&frame.class) {
            return Some(frame.class.clone());
        }
        if frame.method == "<init>" || self.is_static(frame) {
            return None;
        }
        let mut above = VecDeque::from([frame.class.clone()]);
        for _ in 0..100 {
            let class = above.pop_front()?;
            if class == "java.lang.Runnable"
                && (&*frame.method, &*frame.descriptor) == ("run", "()V")
            {
                return Some(class);
            }
            let Some(found) = self.classpath.info(&class) else {
                continue;
            };
            let info = found.info.as_ref()?;
            let method = info.method(&frame.method, &frame.descriptor);
            let is_callable = |method: &Method| {
                let own = package_of(&class) == package && !method.is(access::PRIVATE);
                (own || method.is(access::PUBLIC)) && !method.is(access::STATIC)
            };
            if method.is_some_and(is_callable) && is_named(&class) {
                return Some(class);
            }
            above.extend(info.super_class.clone());
            above.extend(info.interfaces.iter().cloned());
        }
        None
    }

    fn can_name(&self, parameter: &str, package: &str) -> bool {
        let (_, element) = descriptor::element(parameter);
        match descriptor::class_name(element) {
            Some(class) => source_name(self.classpath, &class, package).is_some(),
            None => true,
        }
    }

    /// Whether a virtual call on the recorded receiver would end up in another method, as for a
    /// frame of `Super.m` entered through `super.m()`.
    pub fn is_overridden(&self, frame: &Frame, graph: &Graph<'_>) -> bool {
        let receiver = frame.arguments.iter().find(|argument| argument.index == 0);
        let Some(Value::Ref(receiver)) = receiver.map(|receiver| receiver.value) else {
            return false;
        };
        let Some(class) = graph.class(receiver) else {
            return false;
        };
        let chain = std::iter::once(&class.name).chain(&class.supers);
        for name in chain.take_while(|name| **name != frame.class) {
            let Some(found) = self.classpath.info(name) else {
                continue;
            };
            let same = found
                .info
                .as_ref()
                .and_then(|info| info.method(&frame.method, &frame.descriptor));
            let virtual_one =
                |method: &Method| !method.is(access::STATIC | access::PRIVATE | access::ABSTRACT);
            if same.is_some_and(virtual_one) {
                return true;
            }
        }
        false
    }
}
