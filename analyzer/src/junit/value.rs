//! Writing a value into a test: as a literal, constructed, or loaded.

use super::candidate::{Level, Plan, source_name};
use crate::graph::{Graph, Typed};
use crate::java::names::{Names, is_identifier};
use crate::java::{comment, descriptor, literal};
use crate::tree::{Builder, Limits};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Body, ClassKind, Frame, Value};

/// Elements of the longest array that is written into a test.
const MAX_ARRAY: usize = 16;

/// What a comment shows of a loaded value.
const COMMENT: Limits = Limits {
    depth: 3,
    width: 6,
    text: 60,
    nodes: 40,
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
}

/// Writes values of one frame.
pub struct Values<'a> {
    /// The candidates, for the class path.
    pub plan: &'a Plan<'a>,
    /// The objects as the frame found them.
    pub graph: &'a Graph<'a>,
    /// The frame.
    pub frame: &'a Frame,
    /// How freely values may be rewritten.
    pub level: Level,
    /// Package of the test.
    pub package: &'a str,
}

impl Values<'_> {
    /// The value as an expression; `None` if it has to be loaded.
    pub fn expression(&self, typed: Typed, names: &mut Names) -> Option<Expression> {
        let plain = |code: String, descriptor: &str| Expression {
            code,
            descriptor: descriptor.to_owned(),
            constructs: false,
            redacted: false,
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
                if let Some(content) = crate::views::unboxed(self.graph, object) {
                    let class = descriptor::of_class(self.graph.class_name(object));
                    return primitive(content, &class, names);
                }
                self.constructed(object, names)
            }
            _ if self.level == Level::Call => None,
            Body::Enum(name) => self.enum_constant(object, name, names),
            Body::Class(name) => {
                let code = format!("{}.class", self.class_type(name, names)?);
                Some(plain(code, "Ljava/lang/Class;"))
            }
            Body::Primitives(_) | Body::References(_) => self.array(object, names),
            Body::Hole(_) | Body::Lambda(_) => None,
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

    /// Line comments that show the content of a loaded value.
    pub fn comment(&self, name: &str, typed: Typed, indent: &str) -> String {
        let mut builder = Builder::without_numbers(self.graph, COMMENT);
        let text = format!("{name}: {}", builder.node(typed).inline());
        comment::lines(&text, indent, 3)
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
        let of = descriptor::of_class(self.graph.enum_name(object));
        if !is_identifier(name) {
            return None;
        }
        Some(Expression {
            code: format!("{}.{name}", self.type_name(&of, names)?),
            descriptor: of,
            constructs: false,
            redacted: false,
        })
    }

    /// `new X()` for an object without state.
    fn constructed(&self, object: u32, names: &mut Names) -> Option<Expression> {
        if self.level != Level::Readable {
            return None;
        }
        let class = self.graph.class(object)?;
        if !class.fields.is_empty() || class.kind != ClassKind::Class {
            return None;
        }
        let of = descriptor::of_class(&class.name);
        if class.name != "java.lang.Object" {
            let found = self.plan.classpath.info(&class.name)?;
            let info = found.info.as_ref()?;
            if info.is(access::ABSTRACT) || info.is_inner() {
                return None;
            }
            let same_package = crate::java::names::package_of(&class.name) == self.package;
            let constructor = info.method("<init>", "()V")?;
            let usable = match same_package {
                true => !constructor.is(access::PRIVATE),
                false => constructor.is(access::PUBLIC),
            };
            if !usable {
                return None;
            }
        }
        Some(Expression {
            code: format!("new {}()", self.type_name(&of, names)?),
            descriptor: of,
            constructs: true,
            redacted: false,
        })
    }

    /// An array literal, if nothing else refers to the array.
    fn array(&self, object: u32, names: &mut Names) -> Option<Expression> {
        if self.level != Level::Readable || self.references_to(object) != 1 {
            return None;
        }
        let class = self.graph.class_name(object);
        let of = descriptor::of_class(class);
        let element = of.strip_prefix('[')?;
        let elements = self.graph.elements(object)?;
        if elements.len() > MAX_ARRAY || element.starts_with('[') {
            return None;
        }
        let mut parts = Vec::new();
        for typed in elements {
            let code = match typed.value {
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Double(_) => self.expression(typed, names)?.code,
                Value::Ref(part) => match self.graph.body(part)? {
                    Body::String(text) => literal::string(&text.units())?,
                    Body::Enum(name) => self.enum_constant(part, name, names)?.code,
                    _ => return None,
                },
            };
            // In an array initializer the narrow types need no cast.
            let code = code
                .trim_start_matches("(byte) ")
                .trim_start_matches("(short) ");
            parts.push(code.to_owned());
        }
        let name = self.type_name(element, names)?;
        let code = match parts.is_empty() {
            true => format!("new {name}[0]"),
            false => format!("new {name}[] {{{}}}", parts.join(", ")),
        };
        Some(Expression {
            code,
            descriptor: of,
            constructs: true,
            redacted: false,
        })
    }

    /// How often the frame's state refers to an object.
    fn references_to(&self, object: u32) -> usize {
        let wanted = |value: &&Value| **value == Value::Ref(object);
        let crash = self.graph.crash;
        let heap = crash
            .objects
            .iter()
            .flatten()
            .map(|holder| match &holder.body {
                Body::Instance(values) | Body::References(values) => {
                    values.iter().filter(wanted).count()
                }
                Body::Lambda(lambda) => lambda
                    .captured
                    .iter()
                    .map(|(_, value)| value)
                    .filter(wanted)
                    .count(),
                _ => 0,
            });
        let arguments = self.frame.arguments.iter().map(|argument| &argument.value);
        let patches = self.frame.patch.iter().map(|patch| &patch.value);
        heap.sum::<usize>() + arguments.chain(patches).filter(wanted).count()
    }
}
