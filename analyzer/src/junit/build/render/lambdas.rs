//! Lambdas and method references within values.

use super::{Maker, Place};
use crate::classinfo::{ClassInfo, Method};
use crate::classpath::is_jdk;
use crate::graph::Typed;
use crate::java::descriptor;
use crate::java::literal;
use crate::java::names::{Names, is_identifier};
use crate::java::signature::Generic;
use crate::junit::build::library::is_usable;
use crate::junit::call::{ORIGIN, REPLAY};
use crate::junit::value::Expression;
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Body, Lambda, Value};

/// Classes of the JDK with static methods alone that programs refer to; of others it is not known.
const STATIC: [&str; 5] = [
    "java.lang.Math",
    "java.lang.System",
    "java.util.Arrays",
    "java.util.Collections",
    "java.util.Objects",
];

/// Interfaces of the JDK with type parameters whose method is given nothing.
const GIVEN_NOTHING: [&str; 4] = [
    "java.security.PrivilegedAction",
    "java.security.PrivilegedExceptionAction",
    "java.util.concurrent.Callable",
    "java.util.function.Supplier",
];

impl Maker<'_> {
    /// The interface that a lambda is of, if it is but one; `None` for other objects.
    pub(super) fn functional(&self, object: u32) -> Option<&str> {
        let Some(Body::Lambda(_)) = self.graph.body(object) else {
            return None;
        };
        match self.graph.class(object)?.interfaces.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// A lambda as a method reference, or by the name of its method. It has a variable, whose type tells
    /// javac what it is.
    pub(super) fn lambda(
        &mut self,
        object: u32,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Expression> {
        let interface = self.functional(object)?.to_owned();
        let graph = self.graph;
        let Some(Body::Lambda(lambda)) = graph.body(object) else {
            return None;
        };
        let of = descriptor::of_class(&interface);
        // What nobody can name cannot be the type of a variable.
        self.values.type_name(&of, names)?;
        let mut captured = Vec::new();
        // What was left out on purpose cannot be compared.
        let primitive = |of: &str| !of.starts_with(['L', '[']);
        if (lambda.captured.iter()).any(|(of, value)| primitive(of) && *value == Value::Null) {
            return None;
        }
        for (own, value) in &lambda.captured {
            let inner = Place {
                role: "",
                depth: place.depth + 1,
                expected: None,
            };
            captured.push(self.expression(Typed::new(*value, own), &inner, names)?);
        }
        let code = match self.reference(lambda, &interface, &captured, place, names) {
            Some(code) => code,
            None => self.by_method(lambda, &of, &captured, names)?,
        };
        let made = Expression {
            code,
            descriptor: of,
            constructs: true,
            redacted: false,
            unboxed: false,
        };
        self.variable(object, place, made, "", names)
    }

    /// `Type::method` or `object::method`, where the type of the variable says which one that is.
    fn reference(
        &self,
        lambda: &Lambda,
        interface: &str,
        captured: &[Expression],
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<String> {
        if self.values.is_generic(&descriptor::of_class(interface))
            && !self.tells_parameters(interface, place)
            && !self.takes_objects(lambda, interface, captured)
        {
            return None;
        }
        let method = match lambda.method.as_str() {
            "<init>" => "new",
            name if is_identifier(name) && !name.contains('$') => name,
            _ => return None,
        };
        if !self.is_callable(lambda) {
            return None;
        }
        match captured {
            [] => {
                let class = descriptor::of_class(&lambda.class);
                let class = self.values.type_name(&class, names)?;
                Some(format!("{class}::{method}"))
            }
            [receiver] if method != "new" && !self.is_static(lambda) && is_primary(receiver) => {
                Some(format!("{}::{method}", receiver.code))
            }
            _ => None,
        }
    }

    /// Whether the type that a variable gets for a place tells what an interface's method is given.
    fn tells_parameters(&self, interface: &str, place: &Place<'_>) -> bool {
        let is_of_it = |expected: &&Generic| self.values.typed && expected.class == interface;
        let Some(expected) = place.expected.filter(is_of_it) else {
            return false;
        };
        // The last of these is what is returned.
        let returning = [
            "java.util.function.Function",
            "java.util.function.BiFunction",
        ];
        let given = match expected.arguments.split_last() {
            Some((_, given)) if returning.contains(&interface) => given,
            _ => &expected.arguments,
        };
        // A wildcard is written as `Object`, which is more than the method takes.
        !given.is_empty() && !given.iter().any(|argument| argument.any)
    }

    /// Whether the method behind a lambda takes whatever it is given, so that a raw interface may be a
    /// reference to it.
    fn takes_objects(&self, lambda: &Lambda, interface: &str, captured: &[Expression]) -> bool {
        // Without an object to call it on, what is given none is static.
        let is_unbound = captured.is_empty()
            && lambda.method != "<init>"
            && !self.is_static(lambda)
            && !self.is_given_nothing(interface);
        let takes = |(parameters, _): (Vec<&str>, _)| {
            let mut parameters = parameters.iter();
            parameters.all(|&of| of == "Ljava/lang/Object;")
        };
        !is_unbound && descriptor::split(&lambda.descriptor).is_some_and(takes)
    }

    /// Whether an interface's method is known to have no parameters.
    fn is_given_nothing(&self, interface: &str) -> bool {
        if GIVEN_NOTHING.contains(&interface) {
            return true;
        }
        let found = self.values.plan.classpath.info(interface);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_some_and(|info| {
            let mut left_open = info.methods.iter().filter(|one| one.is(access::ABSTRACT));
            let mut above = info.interfaces.iter();
            left_open.all(|one| one.descriptor.starts_with("()"))
                && above.all(|above| GIVEN_NOTHING.contains(&&**above))
        })
    }

    /// Whether the test may call the method behind a lambda; of the JDK's, programs have named it.
    fn is_callable(&self, lambda: &Lambda) -> bool {
        is_jdk(&lambda.class)
            || self.of_method(lambda, |info, method| {
                is_usable(info, method.access, self.values.package)
            })
    }

    /// Whether the method behind a lambda is known to be static, so that what it captures is no receiver.
    fn is_static(&self, lambda: &Lambda) -> bool {
        lambda.is_static
            || STATIC.contains(&&*lambda.class)
            || self.of_method(lambda, |_, method| method.is(access::STATIC))
    }

    /// Whether something is so of the method behind a lambda, if that is on the class path.
    fn of_method(&self, lambda: &Lambda, is_so: impl Fn(&ClassInfo, &Method) -> bool) -> bool {
        let found = self.values.plan.classpath.info(&lambda.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_some_and(|info| {
            let method = info.method(&lambda.method, &lambda.descriptor);
            method.is_some_and(|method| is_so(info, method))
        })
    }

    /// What makes a lambda of its method, which only the compiler has named.
    fn by_method(
        &mut self,
        lambda: &Lambda,
        of: &str,
        captured: &[Expression],
        names: &mut Names,
    ) -> Option<String> {
        // The JDK's own have other names in each release; some have none.
        if is_jdk(&lambda.class) || lambda.class.is_empty() {
            return None;
        }
        let text = |text: &str| literal::string(&text.encode_utf16().collect::<Vec<_>>());
        let origins = &self.values.plan.origins[self.crash];
        let method = origins.behind(lambda);
        let class = origins.class(&lambda.class);
        if !self.written.library && (method != lambda.method || class != lambda.class) {
            self.written.statements.push(ORIGIN.to_owned());
        }
        let ty = self.values.type_name(of, names)?;
        let mut arguments = vec![
            format!("{ty}.class"),
            text(class)?,
            text(method)?,
            text(&lambda.descriptor)?,
        ];
        // One alone must not be taken for the array of them.
        let alone = |one: &Expression| one.code == "null" || one.descriptor.starts_with('[');
        let object = names.java_lang("Object");
        arguments.extend(
            captured
                .iter()
                .map(|one| match captured.len() == 1 && alone(one) {
                    true => one.cast(&object),
                    false => one.code.clone(),
                }),
        );
        self.written.library = true;
        let call = names.write(REPLAY, "Call");
        Some(format!("{call}.lambda({})", arguments.join(", ")))
    }
}

/// Whether a method of an object can be referred to by this expression for it.
fn is_primary(receiver: &Expression) -> bool {
    receiver.descriptor.starts_with('L') && !receiver.unboxed && !receiver.code.starts_with('(')
}
