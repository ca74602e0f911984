//! Values as trees for people.
//!
//! [`Builder`] turns a value of a [`Graph`] into a [`Node`], bounded in depth
//! and width; a node prints on one line ([`Node::inline`]) or as an indented
//! block ([`Node::block`]). An object is shown in full once, then as `#n`.

mod node;

pub use node::{Node, Part, Shape};

use crate::classpath::is_jdk;
use crate::graph::{FieldView, Graph, Typed};
use crate::text::{one_line, primitive, quote, short_type};
use crate::views::{View, comparator, defaults, inherited, iterated, view};
use hindsight_tracelog::crash::{Body, Lambda, Value};
use std::collections::HashSet;

/// The most elements that are searched for an object of the program.
const SEARCHED: usize = 100;
/// The last of the ranks of fields in comments.
const OTHERS: u8 = 2;

/// The limits of what is shown of a value.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The depth of objects within objects.
    pub depth: usize,
    /// The most fields or elements of one object.
    pub width: usize,
    /// The most characters of one string.
    pub text: usize,
    /// The most nodes of one tree.
    pub nodes: usize,
}

impl Limits {
    /// The limits for `--full`: everything, up to what nobody reads anyway.
    pub const FULL: Limits = Limits {
        depth: 200,
        width: 100_000,
        text: 1_000_000,
        nodes: 1_000_000,
    };
}

/// Makes trees of one frame's values.
#[derive(Debug)]
pub struct Builder<'a> {
    graph: &'a Graph<'a>,
    limits: Limits,
    numbers: bool,
    /// Whether enum constants are shown with their fields.
    constants: bool,
    shown: HashSet<u32>,
    left: usize,
}

impl<'a> Builder<'a> {
    /// A builder with object numbers, which shows each object in full only once.
    pub fn new(graph: &'a Graph<'a>, limits: Limits) -> Builder<'a> {
        Builder {
            graph,
            limits,
            numbers: true,
            constants: true,
            shown: HashSet::new(),
            left: limits.nodes,
        }
    }

    /// The builder, without fields of enum constants.
    pub fn by_name(self) -> Builder<'a> {
        Builder {
            constants: false,
            ..self
        }
    }

    /// A builder without object numbers, for comments.
    pub fn without_numbers(graph: &'a Graph<'a>, limits: Limits) -> Builder<'a> {
        Builder {
            numbers: false,
            ..Builder::new(graph, limits)
        }
    }

    /// The tree of a value.
    pub fn node(&mut self, typed: Typed) -> Node {
        self.left = self.limits.nodes;
        self.at(typed, 0)
    }

    fn at(&mut self, typed: Typed, depth: usize) -> Node {
        self.left = self.left.saturating_sub(1);
        let Value::Ref(object) = typed.value else {
            return Node::leaf(primitive(typed));
        };
        Node {
            object: Some(object),
            ..self.of_object(object, depth)
        }
    }

    fn of_object(&mut self, object: u32, depth: usize) -> Node {
        let class = self.graph.class_name(object);
        let Some(body) = self.graph.body(object) else {
            return Node::leaf(format!("#{object} (lost with a damaged part of the file)"));
        };
        match body {
            Body::String(text) => Node::leaf(quote(&text.units(), self.limits.text)),
            Body::Class(name) => Node::leaf(format!("class {}", one_line(name, 200))),
            Body::Enum { name, fields } => {
                let class = short_type(self.graph.enum_name(object));
                let head = format!("{class}.{}", one_line(name, 100));
                self.constant(object, head, fields, depth)
            }
            Body::Hole(reason) if self.graph.standing(object).is_some() => {
                Node::leaf(one_line(reason, 200))
            }
            Body::Hole(reason) => Node::leaf(format!(
                "{} (not stored: {})",
                self.head(object, class),
                one_line(reason, 200)
            )),
            Body::Lambda(lambda) => self.lambda(object, lambda, depth),
            Body::Instance(_) | Body::Primitives(_) | Body::References(_) => {
                self.object(object, class, depth)
            }
        }
    }

    /// An enum constant, with its mutable fields the first time it is shown.
    fn constant(&mut self, object: u32, head: String, fields: &[Value], depth: usize) -> Node {
        let deeper = depth < self.limits.depth && self.left > 0;
        if fields.is_empty() || !self.constants || !deeper || !self.shown.insert(object) {
            return Node::leaf(head);
        }
        self.fields(head, object, depth)
    }

    fn object(&mut self, object: u32, class: &str, depth: usize) -> Node {
        let head = self.head(object, class);
        // Comments in tests do not depend on the order that the recorded JVM has drawn.
        let view = match self.numbers {
            true => iterated(self.graph, object),
            false => view(self.graph, object),
        };
        match &view {
            Some(View::Scalar(text)) => {
                let boxed = class.starts_with("java.lang.");
                let text = one_line(text, 2000);
                return Node::leaf(if boxed {
                    text
                } else {
                    format!("{} {text}", short_type(class))
                });
            }
            Some(View::Text(units)) => {
                return Node::leaf(format!(
                    "{} {}",
                    short_type(class),
                    quote(units, self.limits.text)
                ));
            }
            _ => {}
        }
        if self.shown.contains(&object) {
            return Node::leaf(if self.numbers {
                format!("#{object}")
            } else {
                format!("{head} (shown before)")
            });
        }
        let head = match comparator(self.graph, object) {
            Some(order) => format!("{head} (order {})", self.order(order)),
            None => head,
        };
        let defaults = defaults(self.graph, object);
        let size = match &view {
            Some(View::List(elements)) => elements.len(),
            Some(View::Map(entries)) => entries.len() + usize::from(defaults.is_some()),
            _ => match self.graph.each(object) {
                Some(elements) => elements.len(),
                None => self.graph.fields(object).len(),
            },
        };
        if (depth >= self.limits.depth || self.left == 0) && size > 0 {
            return Node::leaf(format!("{head} ..."));
        }
        self.shown.insert(object);
        let graph = self.graph;
        match view {
            Some(View::List(elements)) => self.list(head, elements.into_iter(), depth),
            Some(View::Map(entries)) => {
                let mut node = self.map(head, entries, depth);
                node.parts.extend(defaults.map(|defaults| Part {
                    label: "defaults".to_owned(),
                    node: self.at(defaults, depth + 1),
                    patched: false,
                }));
                node
            }
            _ => match graph.each(object) {
                Some(elements) => self.list(head, elements, depth),
                None => match inherited(self.graph, object) {
                    Some((above, view)) => self.extended(head, object, above, view, depth),
                    None if self.is_internal(object, class) => Node::leaf(head),
                    None => self.fields(head, object, depth),
                },
            },
        }
    }

    /// Whether, in a comment, an object is better described by its class than by its fields: one of
    /// the JDK's with more than a few values and no objects of the program. Exceptions have a
    /// message.
    fn is_internal(&self, object: u32, class: &str) -> bool {
        if self.numbers || !is_jdk(class) {
            return false;
        }
        let fields = self.graph.fields(object);
        let says = |field: &FieldView<'_>| {
            field.patched
                || field.info.owner == "java.lang.Throwable"
                || self.is_of_program(field.value.value, 2)
        };
        !fields.iter().any(says) && fields.iter().any(|field| self.rank(field) >= OTHERS)
    }

    /// Whether a value is an object of the program, or leads to one within this many arrays or
    /// nodes of the JDK.
    fn is_of_program(&self, value: Value, steps: usize) -> bool {
        let Value::Ref(object) = value else {
            return false;
        };
        let class = self.graph.class_name(object);
        if !class.starts_with('[') && !is_jdk(class) {
            return !class.is_empty();
        }
        if steps == 0 {
            return false;
        }
        let leads = |value| self.is_of_program(value, steps - 1);
        match self.graph.each(object) {
            Some(elements) => elements.take(SEARCHED).any(|one| leads(one.value)),
            None => {
                let fields = self.graph.fields(object);
                fields.iter().any(|field| leads(field.value.value))
            }
        }
    }

    /// The order of fields in a comment: first those whose value differs at the failure, then those
    /// with a single value.
    fn rank(&self, field: &FieldView<'_>) -> u8 {
        let is_one = |object| match self.graph.body(object) {
            Some(Body::Instance(_)) => {
                let view = view(self.graph, object);
                matches!(view, Some(View::Scalar(_) | View::Text(_)))
            }
            Some(Body::String(_) | Body::Enum { .. } | Body::Class(_) | Body::Hole(_)) => true,
            _ => false,
        };
        match field.value.value {
            _ if field.patched => 0,
            Value::Ref(object) if !is_one(object) => OTHERS,
            _ => 1,
        }
    }

    /// A comparator as code would name it, else by its class.
    fn order(&self, comparator: u32) -> String {
        let class = self.graph.class_name(comparator);
        match (class, self.graph.body(comparator)) {
            ("java.lang.String$CaseInsensitiveComparator", _) => {
                "String.CASE_INSENSITIVE_ORDER".to_owned()
            }
            ("java.util.Collections$ReverseComparator", _) => {
                "Collections.reverseOrder()".to_owned()
            }
            ("java.util.Comparators$NaturalOrderComparator", _) => {
                "Comparator.naturalOrder()".to_owned()
            }
            (_, Some(Body::Enum { name, .. })) => {
                let class = short_type(self.graph.enum_name(comparator));
                format!("{class}.{}", one_line(name, 100))
            }
            (_, Some(Body::Lambda(lambda))) => self.lambda_head(comparator, lambda),
            _ => self.head(comparator, class),
        }
    }

    /// A collection of a class of the program: its own fields, and what it contains according to
    /// the JDK's.
    fn extended(
        &mut self,
        head: String,
        object: u32,
        above: &str,
        view: View,
        depth: usize,
    ) -> Node {
        let is_own = |field: &FieldView<'_>| !field.info.owner.starts_with("java.");
        let own: Vec<_> = self
            .graph
            .fields(object)
            .into_iter()
            .filter(is_own)
            .collect();
        let content = |this: &mut Self, head, depth| match view {
            View::List(elements) => {
                Some(("elements", this.list(head, elements.into_iter(), depth)))
            }
            View::Map(entries) => Some(("entries", this.map(head, entries, depth))),
            View::Scalar(_) | View::Text(_) => None,
        };
        if own.is_empty() {
            let content = content(self, head.clone(), depth);
            return content.map_or_else(|| Node::leaf(head), |(_, node)| node);
        }
        let mut node = self.some_fields(head, own, depth);
        let above = short_type(above);
        node.parts
            .extend(content(self, above, depth + 1).map(|(label, node)| Part {
                label: label.to_owned(),
                node,
                patched: false,
            }));
        node
    }

    fn list(
        &mut self,
        head: String,
        elements: impl ExactSizeIterator<Item = Typed>,
        depth: usize,
    ) -> Node {
        let total = elements.len();
        let head = if total > 8 {
            format!("{head} ({total} elements)")
        } else {
            head
        };
        let parts: Vec<Part> = self.take(elements, |this, element| Part {
            label: String::new(),
            node: this.at(element, depth + 1),
            patched: false,
        });
        Node {
            head,
            shape: Shape::List,
            more: total - parts.len(),
            parts,
            object: None,
        }
    }

    fn map(&mut self, head: String, entries: Vec<(Typed, Typed)>, depth: usize) -> Node {
        let total = entries.len();
        let head = if total > 8 {
            format!("{head} ({total} entries)")
        } else {
            head
        };
        let parts: Vec<Part> = self.take(entries.into_iter(), |this, (key, value)| Part {
            label: this.key(key, depth + 1),
            node: this.at(value, depth + 1),
            patched: false,
        });
        Node {
            head,
            shape: Shape::Map,
            more: total - parts.len(),
            parts,
            object: None,
        }
    }

    fn key(&mut self, key: Typed, depth: usize) -> String {
        let constants = std::mem::replace(&mut self.constants, false);
        let key = self.at(key, depth).inline();
        self.constants = constants;
        key
    }

    fn fields(&mut self, head: String, object: u32, depth: usize) -> Node {
        let fields = self.graph.fields(object);
        self.some_fields(head, fields, depth)
    }

    fn some_fields(&mut self, head: String, mut fields: Vec<FieldView<'_>>, depth: usize) -> Node {
        if !self.numbers {
            fields.sort_by_cached_key(|field| self.rank(field));
        }
        let total = fields.len();
        let names: Vec<&str> = fields
            .iter()
            .map(|field| field.info.name.as_str())
            .collect();
        let parts: Vec<Part> = self.take(fields.iter().copied(), |this, field| {
            // If a subclass hides a field, both are named with their class.
            let hidden = names
                .iter()
                .filter(|&&name| name == field.info.name)
                .count()
                > 1;
            let name = one_line(&field.info.name, 100);
            Part {
                label: if hidden {
                    format!("{}.{name}", short_type(&field.info.owner))
                } else {
                    name
                },
                node: this.at(field.value, depth + 1),
                patched: field.patched,
            }
        });
        Node {
            head,
            shape: Shape::Object,
            more: total - parts.len(),
            parts,
            object: None,
        }
    }

    fn lambda_head(&self, object: u32, lambda: &Lambda) -> String {
        let target = match lambda.class.as_str() {
            "" => "lambda".to_owned(),
            class => format!(
                "lambda {}.{}",
                short_type(class),
                one_line(&lambda.method, 200)
            ),
        };
        match self.numbers {
            true => format!("{target} #{object}"),
            false => target,
        }
    }

    fn lambda(&mut self, object: u32, lambda: &Lambda, depth: usize) -> Node {
        let head = self.lambda_head(object, lambda);
        if lambda.captured.is_empty() || depth >= self.limits.depth {
            return Node::leaf(head);
        }
        let captured: Vec<Typed> = lambda
            .captured
            .iter()
            .map(|(descriptor, value)| Typed::new(*value, descriptor))
            .collect();
        self.list(head, captured.into_iter(), depth)
    }

    /// As many of `items` as the limits permit.
    fn take<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut part: impl FnMut(&mut Self, T) -> Part,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        for item in items.take(self.limits.width) {
            if self.left == 0 {
                break;
            }
            parts.push(part(self, item));
        }
        parts
    }

    fn head(&self, object: u32, class: &str) -> String {
        if self.numbers {
            format!("{} #{object}", short_type(class))
        } else {
            short_type(class)
        }
    }
}
