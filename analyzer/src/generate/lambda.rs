//! Lambda expressions that tests pass for interfaces with one abstract method: those that a person
//! writes at once, such as `x -> x`, `(a, b) -> 0` and `() -> "a"`; and method references such as
//! `Order::id`.

use super::sequence::{Arg, Method};
use crate::classinfo;
use crate::classpath::FoundClass;
use crate::java::{descriptor, signature};
use hindsight_classfile::access;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// Interfaces of the JDK for which people write lambdas, besides those of `java.util.function`: an
/// `Iterable` has one abstract method, too.
const OF_JDK: [&str; 7] = [
    "java.io.FileFilter",
    "java.io.FilenameFilter",
    "java.lang.Runnable",
    "java.nio.file.PathMatcher",
    "java.util.Comparator",
    "java.util.concurrent.Callable",
    "java.util.concurrent.ThreadFactory",
];

/// The most parameters of a lambda, which is what the worker supports.
const MAX_PARAMETERS: usize = 4;

/// A lambda expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lambda {
    /// The interface, with dots.
    pub interface: String,
    /// The name of its abstract method.
    pub method: String,
    /// The descriptor of its abstract method.
    pub descriptor: String,
    /// What it returns or does.
    pub gives: Given,
}

/// What a lambda expression returns or does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Given {
    /// It returns nothing, and does nothing.
    Nothing,
    /// It returns the argument for this parameter.
    Parameter(usize),
    /// It always returns the same value.
    Value(Arg),
    /// It calls the method to which it refers, on the first parameter unless the method is static.
    Calls(Method),
    /// It always throws.
    Throws(Thrown),
}

/// An exception that a test can make.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thrown {
    /// Its class, with dots.
    pub class: String,
    /// The argument of its constructor, if there is one.
    pub message: Option<String>,
    /// Whether javac wants that it is declared.
    pub is_checked: bool,
}

impl Lambda {
    /// The value that it always returns, if it does so.
    pub fn value(&self) -> Option<&Arg> {
        match &self.gives {
            Given::Value(arg) => Some(arg),
            Given::Nothing | Given::Parameter(_) | Given::Calls(_) | Given::Throws(_) => None,
        }
    }

    /// The same, mutable.
    pub fn value_mut(&mut self) -> Option<&mut Arg> {
        match &mut self.gives {
            Given::Value(arg) => Some(arg),
            Given::Nothing | Given::Parameter(_) | Given::Calls(_) | Given::Throws(_) => None,
        }
    }

    /// The descriptors of its parameters, and of its result.
    pub fn types(&self) -> (Vec<&str>, &str) {
        descriptor::split(&self.descriptor).unwrap_or_default()
    }
}

/// An interface of which there can be lambdas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Functional {
    /// Its name, with dots.
    pub interface: String,
    /// The name of its abstract method.
    pub method: String,
    /// The descriptor of its abstract method.
    pub descriptor: String,
    /// For each parameter, and for the result at the end: which of the interface's type variables
    /// it is, if it is one.
    pub variables: Vec<Option<usize>>,
    /// Whether the method declares exceptions.
    pub throws: bool,
}

/// Whether people write lambdas for an interface, if it has one abstract method.
pub fn is_written_for(class: &str) -> bool {
    let is_jdk = class.starts_with("java.") || class.starts_with("javax.");
    !is_jdk || class.starts_with("java.util.function.") || OF_JDK.contains(&class)
}

impl Functional {
    /// The interface of this name, from what `info` returns, if javac accepts lambdas for it.
    pub fn of(class: &str, info: &dyn Fn(&str) -> Option<Rc<FoundClass>>) -> Option<Functional> {
        let found = info(class)?;
        let own = found.info.as_ref()?;
        if !own.is(access::INTERFACE) || own.is(access::ANNOTATION) || own.sealed {
            return None;
        }
        let mut pending = VecDeque::from([class.to_owned()]);
        let (mut seen, mut settled) = (HashSet::new(), HashSet::new());
        let mut only: Option<(String, classinfo::Method)> = None;
        while let Some(name) = pending.pop_front() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let found = info(&name)?;
            let known = found.info.as_ref()?;
            for method in &known.methods {
                let key = (method.name.clone(), method.descriptor.clone());
                if method.is(access::STATIC | access::PRIVATE) || !settled.insert(key) {
                    continue;
                }
                if !method.is(access::ABSTRACT) || is_objects_own(method) {
                    continue;
                }
                if only.replace((name.clone(), method.clone())).is_some() {
                    return None;
                }
            }
            pending.extend(known.interfaces.iter().cloned());
        }
        let (owner, method) = only?;
        let (types, _) = descriptor::split(&method.descriptor)?;
        let count = types.len();
        // A method with type variables of its own cannot be a lambda.
        let is_open = |text: &String| text.starts_with('<');
        if count > MAX_PARAMETERS || method.signature.as_ref().is_some_and(is_open) {
            return None;
        }
        let variables = || {
            let names = signature::variables(own.signature.as_deref()?)?;
            let used = signature::variables_used(method.signature.as_deref()?)?;
            let place =
                |used: Option<String>| names.iter().position(|name| used.as_ref() == Some(name));
            (owner == class).then(|| used.into_iter().map(place).collect::<Vec<_>>())
        };
        let variables = variables().filter(|all| all.len() == count + 1);
        Some(Functional {
            interface: class.to_owned(),
            variables: variables.unwrap_or_else(|| vec![None; count + 1]),
            throws: method.throws(),
            method: method.name,
            descriptor: method.descriptor,
        })
    }

    /// A lambda of this interface.
    pub fn giving(&self, gives: Given) -> Arg {
        Arg::Lambda(Box::new(Lambda {
            interface: self.interface.clone(),
            method: self.method.clone(),
            descriptor: self.descriptor.clone(),
            gives,
        }))
    }

    /// The number of parameters of its lambdas.
    pub fn parameters(&self) -> usize {
        self.variables.len() - 1
    }
}

/// The methods that a class declares or inherits with the same name as one of its own, or its
/// constructors, each with the class that declares it; none if not all of these classes are known.
pub fn named(
    method: &Method,
    info: &dyn Fn(&str) -> Option<Rc<FoundClass>>,
) -> Option<Vec<(String, classinfo::Method)>> {
    let mut pending = VecDeque::from([method.class.clone()]);
    let mut seen = HashSet::new();
    let mut known = HashSet::new();
    let mut named = Vec::new();
    while let Some(class) = pending.pop_front() {
        if !seen.insert(class.clone()) {
            continue;
        }
        let found = info(&class)?;
        let info = found.info.as_ref()?;
        let of_name = info.methods.iter().filter(|one| one.name == method.name);
        for one in of_name.filter(|one| !one.is(access::BRIDGE)) {
            let parameters = one.descriptor.split(')').next().unwrap_or_default();
            if known.insert(parameters.to_owned()) {
                named.push((class.clone(), one.clone()));
            }
        }
        if !method.is_constructor() {
            pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
        }
    }
    Some(named)
}

/// Whether a reference to a method can be one of an interface whose method has this many
/// parameters.
pub fn takes(method: &classinfo::Method, parameters: usize) -> bool {
    let needs_none = method.is(access::STATIC) || method.name == "<init>";
    let taken = descriptor::split(&method.descriptor).map_or(0, |(types, _)| types.len());
    taken + usize::from(!needs_none) == parameters
}

/// Whether an interface method only repeats one that all objects have.
fn is_objects_own(method: &classinfo::Method) -> bool {
    matches!(
        (method.name.as_str(), method.descriptor.as_str()),
        ("equals", "(Ljava/lang/Object;)Z")
            | ("hashCode", "()I")
            | ("toString", "()Ljava/lang/String;")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::platform::Platform;
    use crate::jdk::Jdk;

    #[test]
    fn interfaces_of_one_abstract_method_are_known() {
        let platform = Platform::new(&Jdk::find(None).unwrap());
        let of = |class: &str| Functional::of(class, &|name| platform.info(name));
        let shown = |class: &str| {
            let known = of(class)?;
            Some(format!(
                "{}{} {:?}",
                known.method, known.descriptor, known.variables
            ))
        };
        for (class, expected) in [
            (
                "java.util.function.Function",
                "apply(Ljava/lang/Object;)Ljava/lang/Object; [Some(0), Some(1)]",
            ),
            (
                "java.util.Comparator",
                "compare(Ljava/lang/Object;Ljava/lang/Object;)I [Some(0), Some(0), None]",
            ),
            // What it inherits is in terms of the other one's variables.
            (
                "java.util.function.UnaryOperator",
                "apply(Ljava/lang/Object;)Ljava/lang/Object; [None, None]",
            ),
            ("java.lang.Runnable", "run()V [None]"),
        ] {
            assert_eq!(shown(class).as_deref(), Some(expected), "{class}");
        }
        assert!(is_written_for("java.lang.Runnable") && is_written_for("a.Iterable"));
        // Nobody writes them, although javac accepts them.
        assert!(of("java.lang.Iterable").is_some() && !is_written_for("java.lang.Iterable"));
        for class in ["java.util.List", "java.lang.String", "no.Such"] {
            assert_eq!(of(class), None, "{class}");
        }
    }
}
