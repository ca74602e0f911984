//! Fills collections that a constructor has made: by methods of their object that add something, by
//! a getter, or by the field itself.

use super::effects::FieldName;
use super::library::{Library, is_usable};
use super::recipe::{Argument, Operation, Recipe, Step, fit};
use crate::classinfo::{ClassInfo, Method};
use crate::graph::{FieldView, Graph, Typed};
use crate::java::descriptor;
use crate::java::names::is_identifier;
use crate::views::{View, view};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{FieldInfo, Value};

/// The most elements that are added one by one.
const MAX_ADDED: usize = 16;
/// The first words of methods that add something.
const ADDING: [&str; 6] = ["add", "put", "append", "register", "push", "set"];

/// A method of the JDK: class, name and descriptor.
type JdkMethod = (&'static str, &'static str, &'static str);

/// The method that adds to collections.
pub(super) const ADD: JdkMethod = ("java.util.Collection", "add", "(Ljava/lang/Object;)Z");
/// The method that adds to maps.
pub(super) const PUT: JdkMethod = (
    "java.util.Map",
    "put",
    "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
);

/// The content of a collection: one argument list for each call.
struct Content {
    /// The elements, or keys with values.
    calls: Vec<Vec<Typed>>,
    /// The method of the collection.
    method: JdkMethod,
}

/// The steps that fill the collection in a field of the result of step `on`; `own` prefers methods
/// of the object to its getter or field.
pub fn steps(
    library: &Library<'_>,
    graph: &Graph<'_>,
    field: &FieldView<'_>,
    package: &str,
    first: usize,
    own: bool,
) -> Option<Vec<Step>> {
    let Value::Ref(object) = field.value.value else {
        return None;
    };
    let content = content(graph, object)?;
    let found = library.info(&field.info.owner)?;
    let filler = Filler {
        library,
        graph,
        info: found.info.as_ref()?,
        field,
        package,
        first,
    };
    let adder = || filler.by_adder(&content.calls);
    let target = || filler.by_target(&content);
    // An object that is found by its own name or number is often added without a key.
    let values = || {
        let values = content.calls.iter();
        let values: Vec<_> = values.map(|call| vec![call[call.len() - 1]]).collect();
        filler.by_adder(&values)
    };
    match own {
        true => adder().or_else(target).or_else(values),
        false => target().or_else(adder).or_else(values),
    }
}

/// The steps that give a builder the elements in its field `source`, which become a field of the
/// result, one call for each element; the receiver of the steps is to be filled in.
pub fn adders(
    library: &Library<'_>,
    graph: &Graph<'_>,
    (builder, source): (&ClassInfo, &str),
    field: &FieldView<'_>,
    package: &str,
) -> Option<Vec<Step>> {
    let Value::Ref(object) = field.value.value else {
        return None;
    };
    // The result may hold an immutable copy.
    let content = elements(graph, object)?;
    let info = FieldInfo {
        owner: builder.name.clone(),
        name: source.to_owned(),
        ..field.info.clone()
    };
    let filler = Filler {
        library,
        graph,
        info: builder,
        field: &FieldView {
            info: &info,
            ..*field
        },
        package,
        first: 0,
    };
    filler.by_adder(&content.calls)
}

fn content(graph: &Graph<'_>, object: u32) -> Option<Content> {
    let class = graph.class_name(object);
    let name = class.strip_prefix("java.util.")?;
    let plain = matches!(
        name,
        "ArrayList"
            | "LinkedList"
            | "ArrayDeque"
            | "Vector"
            | "Stack"
            | "HashSet"
            | "LinkedHashSet"
            | "TreeSet"
            | "PriorityQueue"
            | "HashMap"
            | "LinkedHashMap"
            | "TreeMap"
            | "Hashtable"
            | "EnumMap"
            | "IdentityHashMap"
            | "Properties"
            | "concurrent.ConcurrentHashMap"
            | "concurrent.ConcurrentLinkedDeque"
            | "concurrent.ConcurrentLinkedQueue"
            | "concurrent.ConcurrentSkipListMap"
            | "concurrent.ConcurrentSkipListSet"
            | "concurrent.CopyOnWriteArrayList"
            | "concurrent.CopyOnWriteArraySet"
            | "concurrent.LinkedBlockingDeque"
            | "concurrent.LinkedBlockingQueue"
    );
    plain.then(|| elements(graph, object))?
}

fn elements(graph: &Graph<'_>, object: u32) -> Option<Content> {
    let content = match view(graph, object)? {
        View::List(elements) => Content {
            calls: elements.into_iter().map(|element| vec![element]).collect(),
            method: ADD,
        },
        View::Map(entries) => Content {
            calls: entries
                .into_iter()
                .map(|(key, value)| vec![key, value])
                .collect(),
            method: PUT,
        },
        _ => return None,
    };
    (1..=MAX_ADDED)
        .contains(&content.calls.len())
        .then_some(content)
}

struct Filler<'a> {
    library: &'a Library<'a>,
    graph: &'a Graph<'a>,
    info: &'a ClassInfo,
    field: &'a FieldView<'a>,
    package: &'a str,
    /// The number of the first step.
    first: usize,
}

impl Filler<'_> {
    fn usable(&self, flags: u16) -> bool {
        is_usable(self.info, flags, self.package)
    }

    fn step(&self, operation: Operation, name: &str, of: &str, on: usize) -> Step {
        Step {
            operation,
            class: self.info.name.clone(),
            name: name.to_owned(),
            descriptor: of.to_owned(),
            on: Some(on),
            field: Some(FieldName {
                owner: self.field.info.owner.clone(),
                name: self.field.info.name.clone(),
            }),
            arguments: Vec::new(),
            roles: Vec::new(),
            variadic: false,
        }
    }

    /// `order.addItem(item)`
    fn by_adder(&self, calls: &[Vec<Typed>]) -> Option<Vec<Step>> {
        let name = self.field.info.name.to_ascii_lowercase();
        let single = name.trim_end_matches("ies").trim_end_matches('s');
        let mut adders: Vec<(u8, &Method, Vec<Vec<Argument>>)> = Vec::new();
        for method in &self.info.methods {
            let lower = method.name.to_ascii_lowercase();
            let rest = ADDING.iter().find_map(|word| lower.strip_prefix(word));
            let callable = !method.is(access::STATIC | access::ABSTRACT | access::SYNTHETIC)
                && self.usable(method.access)
                && is_identifier(&method.name);
            let Some((parameters, _)) = descriptor::split(&method.descriptor) else {
                continue;
            };
            let fitting = |values: &Vec<Typed>| -> Option<Vec<Argument>> {
                let pairs = values.iter().zip(&parameters);
                pairs
                    .map(|(value, of)| {
                        fit(self.graph, *value, of)
                            .filter(|_| is_a(self.library, self.graph, *value, of))
                    })
                    .collect()
            };
            if !callable || parameters.len() != calls[0].len() {
                continue;
            }
            let calls: Option<Vec<_>> = calls.iter().map(fitting).collect();
            let Some(calls) = calls else { continue };
            let is_adder = || {
                let (class, field) = (&self.info.name, &self.field.info.name);
                (self.library).is_adder(class, &method.name, &method.descriptor, field)
            };
            let rank = match rest {
                Some(rest) if !single.is_empty() && rest.contains(single) => 0,
                Some("") => 1,
                Some(_) if lower.starts_with("add") => 2,
                // The name does not matter.
                _ if is_adder() => 3,
                _ => continue,
            };
            adders.push((rank, method, calls));
        }
        adders.sort_by_key(|(rank, method, _)| (*rank, !method.is(access::PUBLIC)));
        let (_, method, calls) = adders.into_iter().next()?;
        let on = self.first;
        let steps = calls.into_iter().map(|arguments| Step {
            roles: vec![String::new(); arguments.len()],
            arguments,
            ..self.step(Operation::Virtual, &method.name, &method.descriptor, on)
        });
        Some(steps.collect())
    }

    /// `order.getItems().add(item)`, or `order.items.add(item)`
    fn by_target(&self, content: &Content) -> Option<Vec<Step>> {
        let field = self.field.info;
        let declared = self.library.fields(&self.info.name);
        let open = declared.iter().any(|member| {
            member.name == field.name
                && member.descriptor == field.descriptor
                && self.usable(member.access)
                && is_identifier(&member.name)
        });
        let getter = self.info.methods.iter().find(|method| {
            method.descriptor == format!("(){}", field.descriptor)
                && !method.is(access::STATIC | access::ABSTRACT | access::SYNTHETIC)
                && self.usable(method.access)
                && is_identifier(&method.name)
                && self.library.is_getter(
                    &self.info.name,
                    &method.name,
                    &method.descriptor,
                    &field.name,
                )
        });
        let target = match getter {
            Some(getter) => self.step(Operation::Virtual, &getter.name, &getter.descriptor, 0),
            None if open => self.step(Operation::GetField, &field.name, &field.descriptor, 0),
            None => return None,
        };
        let mut steps = vec![target];
        let (class, name, of) = content.method;
        for values in &content.calls {
            let arguments: Vec<Argument> = values.iter().copied().map(Argument::Value).collect();
            steps.push(Step {
                class: class.to_owned(),
                roles: vec![String::new(); arguments.len()],
                arguments,
                ..self.step(Operation::Virtual, name, of, self.first)
            });
        }
        Some(steps)
    }
}

/// Whether a value can be of a parameter's class, as far as that is known.
pub(super) fn is_a(
    library: &Library<'_>,
    graph: &Graph<'_>,
    value: Typed,
    parameter: &str,
) -> bool {
    let Value::Ref(object) = value.value else {
        return true;
    };
    let Some(wanted) = descriptor::class_name(parameter) else {
        return true;
    };
    let class = graph.class_name(object);
    if is_final(&wanted) || is_final(class) && !wanted.starts_with("java.") {
        return wanted == class;
    }
    let found = library.info(&wanted);
    let info = found.as_ref().and_then(|found| found.info.as_ref());
    if info.is_none_or(|info| info.is(access::INTERFACE)) {
        return true;
    }
    let class = graph.class(object);
    class.is_some_and(|class| class.name == wanted || class.supers.contains(&wanted))
}

/// Whether a class of the JDK is final: strings and boxes.
fn is_final(class: &str) -> bool {
    const CLASSES: [&str; 9] = [
        "String",
        "Boolean",
        "Byte",
        "Character",
        "Short",
        "Integer",
        "Long",
        "Float",
        "Double",
    ];
    let simple = class.strip_prefix("java.lang.");
    simple.is_some_and(|simple| CLASSES.contains(&simple))
}

/// Adds to a recipe the steps that fill collections, in place of setters of the same fields.
pub fn filled(
    library: &Library<'_>,
    graph: &Graph<'_>,
    fields: &[FieldView<'_>],
    package: &str,
    recipe: &Recipe,
    own: bool,
) -> Option<Recipe> {
    let mut recipe = recipe.clone();
    let mut any = false;
    for field in fields {
        let next = recipe.steps.len();
        let Some(mut steps) = steps(library, graph, field, package, next, own) else {
            continue;
        };
        let of = steps[0].field.clone();
        let setter = recipe.steps.iter().position(|step| step.field == of);
        if setter.is_some() {
            continue;
        }
        any = true;
        // One call may serve two fields.
        let known = |step: &Step| {
            recipe.steps.iter().any(|other| {
                other.name == step.name
                    && other.descriptor == step.descriptor
                    && other.arguments == step.arguments
                    && !step.arguments.is_empty()
            })
        };
        if own {
            steps.retain(|step| !known(step));
        }
        let target = steps.len() > 1 && steps[0].arguments.is_empty();
        for (index, step) in steps.iter_mut().enumerate() {
            let on_result = !target || index == 0;
            step.on = Some(if on_result { recipe.result } else { next });
        }
        recipe.steps.extend(steps);
    }
    any.then_some(recipe)
}
