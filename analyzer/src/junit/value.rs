//! Writes a value into a test: as a literal, or as the code that builds or loads it.

use super::build::recipe::Step;
use super::candidate::{Plan, source_name};
use crate::classinfo::{ClassInfo, Method};
use crate::graph::{Graph, Typed};
use crate::java::names::{Names, is_identifier};
use crate::java::signature::Generic;
use crate::java::{comment, descriptor, literal};
use crate::tree::{Builder, Limits};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Body, Constant, Frame, StaticField, Value};

/// The limits of a comment that shows a loaded value.
const COMMENT: Limits = Limits {
    depth: 3,
    width: 6,
    text: 60,
    nodes: 40,
};

/// The limits of a comment that shows one of the static fields that a test sets.
const STATIC: Limits = Limits {
    depth: 1,
    width: 3,
    text: 30,
    nodes: 8,
};

/// An expression and its static type.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The expression.
    pub code: String,
    /// Its descriptor; empty for `null`.
    pub descriptor: String,
    /// Whether it constructs what the crash file stores.
    pub constructs: bool,
    /// Whether it stands for a primitive that was not stored.
    pub redacted: bool,
    /// Whether it is the content of a box of its type, which the compiler makes.
    pub unboxed: bool,
}

impl Expression {
    /// Whether exactly the overload with a parameter of this type accepts it.
    pub fn is_exactly(&self, of: &str) -> bool {
        self.descriptor == of && !self.unboxed
    }

    /// The expression cast to this type.
    pub fn cast(&self, ty: &str) -> String {
        match self.code.starts_with('-') {
            // After the name of a class in parentheses it would be a subtraction.
            true => format!("({ty}) ({})", self.code),
            false => format!("({ty}) {}", self.code),
        }
    }
}

/// Writes values of one frame.
pub struct Values<'a> {
    /// The candidates, for the class path.
    pub plan: &'a Plan<'a>,
    /// The objects as they were at the frame's entry.
    pub graph: &'a Graph<'a>,
    /// The frame.
    pub frame: &'a Frame,
    /// Whether types of the program may be named.
    pub named: bool,
    /// Package of the test.
    pub package: &'a str,
    /// Whether types have their arguments.
    pub typed: bool,
}

/// The type of the expression for an object of which each JVM has its own.
fn descriptor_of(standing: &Constant) -> Option<&'static str> {
    Some(match (standing.owner.as_str(), standing.name.as_str()) {
        ("java.lang.System", "in") => "Ljava/io/InputStream;",
        ("java.lang.System", _) => "Ljava/io/PrintStream;",
        ("java.lang.Runtime", _) => "Ljava/lang/Runtime;",
        ("java.lang.Thread", _) => "Ljava/lang/Thread;",
        ("java.lang.ClassLoader", _) => "Ljava/lang/ClassLoader;",
        ("java.lang.ModuleLayer", name) if is_jdk_module(name) => "Ljava/lang/Module;",
        ("java.nio.file.FileSystems", "getDefault()") => "Ljava/nio/file/FileSystem;",
        ("java.nio.file.FileSystems", _) => "Ljava/nio/file/spi/FileSystemProvider;",
        ("java.util.concurrent.ForkJoinPool", _) => "Ljava/util/concurrent/ForkJoinPool;",
        _ => return None,
    })
}

/// Whether a call returns a module of the JDK. One of the program's does not exist for tests on the
/// class path, so the call would throw in the test; loaded, it is null there.
fn is_jdk_module(call: &str) -> bool {
    let name = call.strip_prefix("boot().findModule(\"");
    name.is_some_and(|name| name.starts_with("java.") || name.starts_with("jdk."))
}

impl Values<'_> {
    /// The value as a literal or a constant; `None` if it needs more.
    pub fn plain(&self, typed: Typed, names: &mut Names) -> Option<Expression> {
        let plain = |code: String, descriptor: &str| Expression {
            code,
            descriptor: descriptor.to_owned(),
            constructs: false,
            redacted: false,
            unboxed: false,
        };
        let primitive = |typed: Typed, of: &str, names: &mut Names| {
            let code = literal::primitive(typed, names)?;
            Some(Expression {
                redacted: typed.value == Value::Null,
                ..plain(code, of)
            })
        };
        let object = match typed.value {
            Value::Ref(object) => object,
            Value::Null if matches!(typed.kind, b'L' | b'[') => {
                return Some(plain("null".into(), ""));
            }
            _ => {
                let kind = char::from(typed.kind).to_string();
                return primitive(typed, &kind, names);
            }
        };
        match self.graph.body(object)? {
            Body::String(text) => {
                literal::string(&text.units()).map(|code| plain(code, "Ljava/lang/String;"))
            }
            Body::Instance(_) => {
                let content = crate::views::unboxed(self.graph, object)?;
                let class = descriptor::of_class(self.graph.class_name(object));
                let held = primitive(content, &class, names)?;
                Some(Expression {
                    unboxed: true,
                    ..held
                })
            }
            _ if !self.named => None,
            Body::Enum { name, .. } => self.enum_constant(object, name, names),
            Body::Class(name) => {
                let code = format!("{}.class", self.class_type(name, names)?);
                Some(plain(code, "Ljava/lang/Class;"))
            }
            Body::Hole(_) => {
                let standing = self.graph.standing(object)?;
                let class = self.type_name(&descriptor::of_class(&standing.owner), names)?;
                Some(plain(
                    format!("{class}.{}", standing.name),
                    descriptor_of(standing)?,
                ))
            }
            _ => None,
        }
    }

    /// The type of a descriptor as written in the test.
    pub fn type_name(&self, of: &str, names: &mut Names) -> Option<String> {
        let (dimensions, element) = descriptor::element(of);
        let name = match descriptor::primitive_name(element) {
            Some(name) => name.to_owned(),
            None => {
                let class = descriptor::class_name(element)?;
                let (package, path) = source_name(self.plan.classpath, &class, self.package)?;
                names.write(&package, &path)
            }
        };
        Some(name + &"[]".repeat(dimensions))
    }

    /// The type of a parameter of the frame's method with its type arguments, if they are known.
    /// The first has the number 1.
    pub fn parameter(&self, number: u16) -> Option<Generic> {
        let frame = self.frame;
        let library = &self.plan.library;
        let types = library.types(&frame.class, &frame.method, &frame.descriptor);
        let (parameters, _) = descriptor::split(&frame.descriptor)?;
        let position = usize::from(number).checked_sub(1)?;
        let known = types.get(position);
        known.filter(|_| types.len() == parameters.len())?.clone()
    }

    /// The type of a variable: with arguments, if `expected` gives them; and whether it is raw.
    /// `open` stands for a variable to which nothing is added, so that wildcards stay.
    pub fn variable_type(
        &self,
        of: &str,
        expected: Option<&Generic>,
        open: bool,
        names: &mut Names,
    ) -> Option<(String, bool)> {
        let generic = expected.filter(|expected| {
            self.typed
                && expected.dimensions == 0
                && !expected.arguments.is_empty()
                && descriptor::of_class(&expected.class) == of
        });
        if let Some(generic) = generic
            && let Some(name) = self.generic_name(generic, open, names)
        {
            return Some((name, false));
        }
        let (_, element) = descriptor::element(of);
        Some((self.type_name(of, names)?, self.is_generic(element)))
    }

    fn generic_name(&self, generic: &Generic, open: bool, names: &mut Names) -> Option<String> {
        if generic.any && open {
            return Some("?".to_owned());
        }
        let name = match generic.class.contains('.') || generic.dimensions == 0 {
            true => self.type_name(&descriptor::of_class(&generic.class), names)?,
            false => generic.class.clone(),
        };
        let arguments: Option<Vec<String>> = generic
            .arguments
            .iter()
            .map(|argument| self.generic_name(argument, open, names))
            .collect();
        let arguments = match arguments?.join(", ") {
            list if list.is_empty() => list,
            list => format!("<{list}>"),
        };
        Some(format!(
            "{name}{arguments}{}",
            "[]".repeat(generic.dimensions)
        ))
    }

    /// Line comments that show the content of a loaded value.
    pub fn comment(&self, name: &str, typed: Typed, indent: &str) -> String {
        let builder = Builder::without_numbers(self.graph, COMMENT).by_name();
        shown(builder, name, typed, indent)
    }

    /// The value of a static field, in a few words.
    pub fn static_value(&self, field: &StaticField) -> String {
        let mut builder = Builder::without_numbers(self.graph, STATIC).by_name();
        let typed = Typed::new(field.value, &field.descriptor);
        builder.node(typed).inline()
    }

    /// Line comments that show an enum constant with its fields.
    pub fn constant_comment(&self, constant: u32, indent: &str) -> String {
        let builder = Builder::without_numbers(self.graph, COMMENT);
        let constant = Typed::reference(Value::Ref(constant));
        shown(builder, "as recorded", constant, indent)
    }

    fn class_type(&self, name: &str, names: &mut Names) -> Option<String> {
        const PRIMITIVES: [&str; 9] = [
            "boolean", "byte", "char", "short", "int", "long", "float", "double", "void",
        ];
        if PRIMITIVES.contains(&name) {
            return Some(name.to_owned());
        }
        self.type_name(&descriptor::of_class(name), names)
    }

    fn enum_constant(&self, object: u32, name: &str, names: &mut Names) -> Option<Expression> {
        let class = self.graph.enum_name(object);
        if !is_identifier(name) {
            return None;
        }
        let (of, member) = match class {
            // A class that no source can name.
            "java.util.Comparators$NaturalOrderComparator" => {
                ("Ljava/util/Comparator;".to_owned(), "naturalOrder()")
            }
            _ => (descriptor::of_class(class), name),
        };
        Some(Expression {
            code: format!("{}.{member}", self.type_name(&of, names)?),
            descriptor: of,
            constructs: false,
            redacted: false,
            unboxed: false,
        })
    }

    /// Whether a class or interface has type parameters.
    pub fn is_generic(&self, of: &str) -> bool {
        let Some(class) = descriptor::class_name(of) else {
            return false;
        };
        match class.strip_prefix("java.util.") {
            Some(name) => is_generic_utility(name),
            None if class == "java.lang.Class" || class == "java.lang.Comparable" => true,
            None if class == "java.lang.Iterable" => true,
            None => self.plan.library.is_generic(&class),
        }
    }

    /// Whether the member that a step calls declares exceptions.
    pub fn declares_exceptions(&self, step: &Step) -> bool {
        if step.class == "java.net.URI" && step.name == "toURL" {
            return true;
        }
        let found = self.plan.classpath.info(&step.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        let method = info.and_then(|info| info.method(&step.name, &step.descriptor));
        method.is_some_and(Method::throws)
    }

    /// Whether a step's call could mean another method.
    pub fn step_is_overloaded(&self, step: &Step) -> bool {
        let found = self.plan.classpath.info(&step.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_some_and(|info| {
            let method = info.method(&step.name, &step.descriptor);
            method.is_some_and(|method| self.is_overloaded(info, method, false))
        })
    }

    /// Whether a call of this method of `info`, with as many arguments, could mean another one;
    /// `unknown` is the answer if a supertype is not on the class path.
    pub fn is_overloaded(&self, info: &ClassInfo, method: &Method, unknown: bool) -> bool {
        let arity = |method: &Method| descriptor::split(&method.descriptor).map(|(p, _)| p.len());
        let rival = |other: &Method| {
            other.name == method.name
                && other.descriptor != method.descriptor
                && (arity(other) == arity(method)
                    || other.is(access::VARARGS)
                    || method.is(access::VARARGS))
        };
        if info.methods.iter().any(rival) {
            return true;
        }
        if method.name == "<init>" {
            return false;
        }
        let mut above: Vec<String> = info
            .super_class
            .iter()
            .chain(&info.interfaces)
            .cloned()
            .collect();
        let mut seen = Vec::new();
        while let Some(name) = above.pop() {
            // Methods of `Object` are known; other classes of the JDK may have any.
            if name == "java.lang.Object" || seen.contains(&name) {
                continue;
            }
            let found = self.plan.classpath.info(&name);
            match found.as_ref().and_then(|found| found.info.as_ref()) {
                Some(info) if info.methods.iter().any(rival) => return true,
                Some(info) => {
                    above.extend(info.super_class.iter().chain(&info.interfaces).cloned());
                }
                None if unknown => return true,
                None => {}
            }
            seen.push(name);
        }
        false
    }
}

fn shown(mut builder: Builder<'_>, name: &str, typed: Typed, indent: &str) -> String {
    let text = format!("{name}: {}", builder.node(typed).inline());
    comment::lines(&text, indent, 3)
}

/// Whether a class or interface of `java.util` that may occur in tests has type parameters.
fn is_generic_utility(name: &str) -> bool {
    if let Some(function) = name.strip_prefix("function.") {
        // Those of primitives have none, except for their results.
        let of_primitives = ["Boolean", "Double", "Int", "Long"];
        let is_of_one = of_primitives.iter().any(|kind| function.starts_with(kind));
        return !is_of_one || ["DoubleFunction", "IntFunction", "LongFunction"].contains(&function);
    }
    let many = ["concurrent.Concurrent", "concurrent.CopyOnWrite"];
    GENERIC.contains(&name) || many.iter().any(|prefix| name.starts_with(prefix))
}

/// Classes and interfaces of `java.util` with type parameters that occur in tests, except those
/// that [`is_generic_utility`] recognises by their names.
const GENERIC: &[&str] = &[
    "AbstractMap$SimpleEntry",
    "AbstractMap$SimpleImmutableEntry",
    "ArrayDeque",
    "ArrayList",
    "Collection",
    "Comparator",
    "Deque",
    "EnumMap",
    "EnumSet",
    "HashMap",
    "HashSet",
    "Hashtable",
    "IdentityHashMap",
    "Iterator",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "Map",
    "Map$Entry",
    "NavigableMap",
    "NavigableSet",
    "Optional",
    "PriorityQueue",
    "Queue",
    "Set",
    "SortedMap",
    "SortedSet",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
    "WeakHashMap",
    "concurrent.ArrayBlockingQueue",
    "concurrent.CompletableFuture",
    "concurrent.LinkedBlockingDeque",
    "concurrent.LinkedBlockingQueue",
    "concurrent.PriorityBlockingQueue",
    "concurrent.atomic.AtomicReference",
    "concurrent.atomic.AtomicReferenceArray",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_primitives_alone_have_no_type_parameters() {
        for generic in [
            "Predicate",
            "ToIntFunction",
            "ObjIntConsumer",
            "IntFunction",
        ] {
            assert!(
                is_generic_utility(&format!("function.{generic}")),
                "{generic}"
            );
        }
        for plain in [
            "IntPredicate",
            "BooleanSupplier",
            "DoubleToIntFunction",
            "LongSupplier",
        ] {
            assert!(!is_generic_utility(&format!("function.{plain}")), "{plain}");
        }
    }

    #[test]
    fn modules_of_the_program_are_loaded() {
        let of = |module: &str| Constant {
            object: 0,
            owner: "java.lang.ModuleLayer".to_owned(),
            name: format!("boot().findModule(\"{module}\").orElseThrow()"),
        };
        assert_eq!(descriptor_of(&of("java.base")), Some("Ljava/lang/Module;"));
        assert_eq!(descriptor_of(&of("app")), None);
    }

    #[test]
    fn a_box_that_is_written_as_what_it_holds_chooses_no_overload() {
        let of = |code: &str, unboxed: bool| Expression {
            code: code.to_owned(),
            descriptor: "Ljava/lang/Integer;".to_owned(),
            constructs: false,
            redacted: false,
            unboxed,
        };
        assert!(of("integer", false).is_exactly("Ljava/lang/Integer;"));
        assert!(!of("7", true).is_exactly("Ljava/lang/Integer;"));
        assert_eq!(of("7", true).cast("Integer"), "(Integer) 7");
        assert_eq!(of("-7", true).cast("Object"), "(Object) (-7)");
    }
}
