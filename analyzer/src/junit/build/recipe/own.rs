//! Collections that the program has written itself: `stack.push(a)`, `matrix.set(0, 1, 2.5)`, with
//! a call for each element that is found in an array, in a chain of nodes, or in a table of them.

use super::{Argument, Operation, Proposer, Recipe, Step, call, is_zero, name_of};
use crate::classinfo::{ClassInfo, Method};
use crate::classpath::is_platform;
use crate::graph::{FieldView, Typed};
use crate::java::descriptor;
use crate::java::names::is_identifier;
use crate::junit::build::fill;
use crate::views::{View, inherited, view};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Body, Value};

/// The most calls on one object.
const MAX_CALLS: usize = 24;
/// The most elements of arrays that are examined.
const MAX_ELEMENTS: usize = 4096;
/// The most initial objects; below, the most methods for each field of them, and proposals in all.
const MAX_BASES: usize = 3;
const MAX_METHODS: usize = 3;
const MAX_PROPOSALS: usize = 12;
/// The first words of methods that put something in.
const PUTTING: [&str; 11] = [
    "add", "append", "enqueue", "insert", "offer", "prepend", "push", "put", "register", "set",
    "store",
];
/// The names of fields that count elements.
const COUNTS: [&str; 6] = ["size", "count", "length", "len", "n", "elementcount"];

/// The content of a collection's field.
#[derive(Default)]
struct Content {
    /// The elements in order; or the nodes that hold them.
    elements: Vec<Typed>,
    /// A key for each element, if they have keys.
    keys: Vec<Typed>,
    /// Whether the last one may have been put in first.
    chained: bool,
    /// The number of elements in a row, if they form rows.
    columns: Option<usize>,
}

impl Content {
    fn of(elements: Vec<Typed>) -> Content {
        Content {
            elements,
            ..Content::default()
        }
    }
}

/// The arguments of one call.
type Given = Vec<Argument>;

impl Proposer<'_> {
    /// The results of `recipes`, filled element by element.
    pub(super) fn grown(&self, recipes: &[Recipe]) -> Vec<Recipe> {
        let mut grown = Vec::new();
        for field in &self.fields {
            let contents = self.contents(field);
            let ways: Vec<_> = (contents
                .iter()
                .flat_map(|content| self.ways(field, content)))
            .collect();
            for recipe in recipes.iter().take(MAX_BASES) {
                for (method, calls) in &ways {
                    grown.push(self.filled_by(recipe, field, method, calls));
                }
            }
        }
        grown.truncate(MAX_PROPOSALS);
        grown.extend(
            recipes
                .iter()
                .take(MAX_BASES)
                .filter_map(|recipe| self.inherited(recipe)),
        );
        grown
    }

    /// The result of a recipe, filled like the JDK collection that its class extends.
    fn inherited(&self, recipe: &Recipe) -> Option<Recipe> {
        let (_, view) = inherited(self.graph, self.object)?;
        let (calls, (class, name, of)) = match view {
            View::List(elements) => {
                let calls = elements.into_iter().map(|element| vec![element]);
                (calls.collect::<Vec<_>>(), fill::ADD)
            }
            View::Map(entries) => {
                let calls = entries.into_iter().map(|(key, value)| vec![key, value]);
                (calls.collect(), fill::PUT)
            }
            _ => return None,
        };
        if !(1..=MAX_CALLS).contains(&calls.len()) {
            return None;
        }
        let mut recipe = recipe.clone();
        recipe.steps.extend(calls.iter().map(|given| Step {
            operation: Operation::Virtual,
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: of.to_owned(),
            on: Some(recipe.result),
            field: None,
            arguments: given.iter().copied().map(Argument::Value).collect(),
            roles: vec![String::new(); given.len()],
            variadic: false,
        }));
        Some(recipe)
    }

    /// The result of a recipe, with these calls in place of setters for the field, and of
    /// assignments to what they change as well.
    fn filled_by(
        &self,
        recipe: &Recipe,
        field: &FieldView<'_>,
        method: &Method,
        calls: &[Given],
    ) -> Recipe {
        let own = name_of(field);
        let (made, set) = recipe.steps.split_at(recipe.result + 1);
        let set = set.iter().filter(|step| {
            step.operation == Operation::Virtual
                && step.field.as_ref() != Some(&own)
                && (&step.name, &step.descriptor) != (&method.name, &method.descriptor)
        });
        let calls = calls.iter().map(|given| {
            let roles = vec![String::new(); given.len()];
            let on = Some(recipe.result);
            Step {
                field: Some(own.clone()),
                ..call(&field.info.owner, method, on, given.clone(), roles)
            }
        });
        Recipe {
            steps: made.iter().chain(set).cloned().chain(calls).collect(),
            result: recipe.result,
        }
    }

    /// The methods that may have put the content of a field there, with the arguments of their
    /// calls.
    fn ways(&self, field: &FieldView<'_>, content: &Content) -> Vec<(Method, Vec<Given>)> {
        let Some(found) = self.library.info(&field.info.owner) else {
            return Vec::new();
        };
        let Some(info) = &found.info else {
            return Vec::new();
        };
        let name = field.info.name.to_ascii_lowercase();
        let single = name.trim_end_matches("ies").trim_end_matches('s');
        let ranked = info.methods.iter().filter_map(|method| {
            let lower = method.name.to_ascii_lowercase();
            let putting = PUTTING.iter().any(|word| lower.starts_with(word));
            let rank = match (putting, lower.contains(single)) {
                (true, true) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => return None,
            };
            let callable = !method.is(access::STATIC | access::ABSTRACT | access::SYNTHETIC)
                && is_identifier(&method.name)
                && self.usable(info, method.access);
            let calls = callable.then(|| self.calls(info, method, content))??;
            Some((rank, method, calls))
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by_key(|(rank, method, _)| (*rank, !method.is(access::PUBLIC)));
        ranked.truncate(MAX_METHODS);
        let both = ranked.into_iter().flat_map(|(_, method, calls)| {
            let reversed = (content.chained && calls.len() > 1).then(|| {
                let reversed = calls.iter().rev().cloned().collect();
                (method.clone(), reversed)
            });
            std::iter::once((method.clone(), calls)).chain(reversed)
        });
        both.collect()
    }

    /// A call of this method for each element: with the element, its index, or what it is made of.
    fn calls(&self, info: &ClassInfo, method: &Method, content: &Content) -> Option<Vec<Given>> {
        let (parameters, _) = descriptor::split(&method.descriptor)?;
        let elements = &content.elements;
        let number = |number: usize| {
            Argument::Value(Typed {
                value: Value::Int(number as i64),
                kind: b'I',
            })
        };
        let placed = |place: &dyn Fn(usize) -> Given| {
            let set = elements.iter().enumerate();
            let set = set.filter(|(_, element)| !is_zero(**element));
            // This is one more than allowed, so that these are refused.
            let calls: Option<Vec<Given>> = set
                .take(MAX_CALLS + 1)
                .map(|(at, element)| {
                    let mut given = place(at);
                    given.push(self.fit(*element, parameters[given.len()])?);
                    Some(given)
                })
                .collect();
            calls
        };
        let few = (elements.len() <= MAX_CALLS).then_some(());
        let direct = || {
            few?;
            let given = |element: &Typed| Some(vec![self.fit(*element, parameters[0])?]);
            elements.iter().map(given).collect::<Option<Vec<Given>>>()
        };
        let keyed = || {
            (content.keys.len() <= MAX_CALLS).then_some(())?;
            let both = content.keys.iter().zip(elements);
            let given = both.map(|(key, element)| {
                Some(vec![
                    self.fit(*key, parameters[0])?,
                    self.fit(*element, parameters[1])?,
                ])
            });
            given.collect::<Option<Vec<Given>>>()
        };
        let parts = || {
            few?;
            let parts = |element: &Typed| self.parts(info, method, &parameters, *element);
            elements.iter().map(parts).collect::<Option<Vec<Given>>>()
        };
        let calls = match (&parameters[..], content.columns) {
            ([_, _], None) if !content.keys.is_empty() => keyed(),
            _ if !content.keys.is_empty() => None,
            (["Ljava/lang/Object;"], None) if content.chained => parts().or_else(direct),
            ([_], None) => direct().or_else(parts),
            (["I", _], None) if !content.chained => placed(&|at| vec![number(at)]).or_else(parts),
            (["I", "I", _], Some(columns)) => {
                placed(&|at| vec![number(at / columns), number(at % columns)])
            }
            ([], _) | (_, Some(_)) => None,
            _ => parts(),
        }?;
        (1..=MAX_CALLS).contains(&calls.len()).then_some(calls)
    }

    /// The values from which a node or entry of the program was made, as arguments of the method
    /// that has made it.
    fn parts(
        &self,
        info: &ClassInfo,
        method: &Method,
        parameters: &[&str],
        element: Typed,
    ) -> Option<Given> {
        let Value::Ref(object) = element.value else {
            return None;
        };
        if is_platform(self.graph.class_name(object)) {
            return None;
        }
        let class = self.graph.class_name(object);
        let own = descriptor::of_class(class);
        let mut left = self.graph.fields(object);
        left.retain(|field| field.info.descriptor != own);
        let told = self
            .library
            .parts(&info.name, &method.name, &method.descriptor, class);
        let body = self
            .library
            .body(&info.name, &method.name, &method.descriptor);
        let names = body.map(|body| body.names.clone()).unwrap_or_default();
        let given = parameters.iter().enumerate().map(|(index, parameter)| {
            let told = told.iter().find(|(_, parameter)| *parameter == index);
            let name = told.map(|(field, _)| field.name.clone());
            let name = name.or_else(|| names.get(index).cloned().flatten());
            let named = |field: &FieldView<'_>| Some(&field.info.name) == name.as_ref();
            let fits = |field: &FieldView<'_>| self.fit(field.value, parameter);
            let at = (left
                .iter()
                .position(|field| named(field) && fits(field).is_some()))
            .or_else(|| left.iter().position(|field| fits(field).is_some()))?;
            fits(&left.remove(at))
        });
        given.collect()
    }

    /// The possible contents of a field.
    fn contents(&self, field: &FieldView<'_>) -> Vec<Content> {
        let Value::Ref(object) = field.value.value else {
            return Vec::new();
        };
        let mut contents = match self.graph.body(object) {
            Some(Body::References(_) | Body::Primitives(_)) => self.of_array(field, object),
            Some(Body::Instance(_)) if !is_platform(self.graph.class_name(object)) => {
                self.of_nodes(&[field.value])
            }
            Some(Body::Instance(_)) => self.of_jdk(object),
            _ => Vec::new(),
        };
        contents.retain(|content| !content.elements.is_empty());
        contents
    }

    /// The possible contents of a JDK collection: elements, values, keys, or the elements of values
    /// with their keys.
    fn of_jdk(&self, object: u32) -> Vec<Content> {
        match view(self.graph, object) {
            Some(View::List(elements)) => vec![Content::of(elements)],
            Some(View::Map(entries)) => {
                let (keys, values): (Vec<Typed>, Vec<Typed>) = entries.iter().copied().unzip();
                let several = entries.iter().map(|(key, value)| {
                    let Value::Ref(held) = value.value else {
                        return None;
                    };
                    let Some(View::List(elements)) = view(self.graph, held) else {
                        return None;
                    };
                    Some(elements.into_iter().map(move |element| (*key, element)))
                });
                let several: Option<Vec<_>> = several.collect();
                let several = several.map(|several| {
                    let (keys, elements) = several.into_iter().flatten().unzip();
                    Content {
                        keys,
                        ..Content::of(elements)
                    }
                });
                [values, keys]
                    .map(Content::of)
                    .into_iter()
                    .chain(several)
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The possible contents of chains or trees of nodes.
    fn of_nodes(&self, first: &[Typed]) -> Vec<Content> {
        let chained = |elements| Content {
            chained: true,
            ..Content::of(elements)
        };
        let chains: Vec<Typed> = first.iter().flat_map(|node| self.chained(*node)).collect();
        let all = self.all_nodes(first);
        let tree = (all.len() > chains.len()).then(|| Content::of(all));
        std::iter::once(chained(chains)).chain(tree).collect()
    }

    fn of_array(&self, field: &FieldView<'_>, array: u32) -> Vec<Content> {
        let elements = self.graph.elements(array).unwrap_or_default();
        if elements.len() > MAX_ELEMENTS {
            return Vec::new();
        }
        let inner = |typed: &Typed| match typed.value {
            Value::Ref(object) => Some(object),
            _ => None,
        };
        let matrix = |elements, columns| Content {
            columns: Some(columns),
            ..Content::of(elements)
        };
        if field.info.descriptor.starts_with("[[") {
            let first = elements.first().and_then(inner);
            let first = first.and_then(|row| self.graph.elements(row));
            let columns = first.map_or(0, |row| row.len());
            if elements.len().saturating_mul(columns) > MAX_ELEMENTS {
                return Vec::new();
            }
            let rows = elements.iter().map(|row| self.graph.elements(inner(row)?));
            let rows: Vec<_> = rows.collect::<Option<_>>().unwrap_or_default();
            let columns = rows.first().map_or(0, Vec::len);
            let even = columns > 0 && rows.iter().all(|row| row.len() == columns);
            return even
                .then(|| matrix(rows.concat(), columns))
                .into_iter()
                .collect();
        }
        let used = elements.len() - elements.iter().rev().take_while(|e| is_zero(**e)).count();
        let first = Content::of(elements[..self.count(used, elements.len())].to_vec());
        let links =
            |element: &&Typed| inner(element).is_some_and(|object| self.links(object).is_some());
        let nodes: Vec<Typed> = elements.iter().filter(links).copied().collect();
        let mut contents = vec![first];
        contents.extend(self.of_nodes(&nodes));
        let columns = self.columns(field, elements.len());
        contents.extend(columns.map(|columns| matrix(elements, columns)));
        contents
    }

    /// The number of elements of an array that count, at least those that are `used`.
    fn count(&self, used: usize, length: usize) -> usize {
        let counts = self.fields.iter().filter_map(|field| {
            let named = COUNTS.contains(&&*field.info.name.to_ascii_lowercase());
            let Value::Int(number) = field.value.value else {
                return None;
            };
            let number = usize::try_from(number).ok()?;
            (named && (used..=length).contains(&number)).then_some(number)
        });
        counts.min().unwrap_or(used)
    }

    /// The columns of a matrix in one array: a number of the object whose product with another one,
    /// which precedes it, is the array's length.
    fn columns(&self, field: &FieldView<'_>, length: usize) -> Option<usize> {
        let numbers = self.fields.iter().filter_map(|other| {
            let Value::Int(number) = other.value.value else {
                return None;
            };
            let known = other.info.descriptor == "I" && other.info.owner == field.info.owner;
            usize::try_from(number).ok().filter(|_| known)
        });
        let numbers: Vec<usize> = numbers.collect();
        let columns = numbers.iter().enumerate().find(|&(at, &columns)| {
            let mut before = numbers[..at].iter();
            columns > 0 && before.any(|&rows| rows.checked_mul(columns) == Some(length))
        });
        columns.map(|(_, &columns)| columns)
    }

    /// The nodes to which a node leads by fields of its own class, or of a superclass.
    fn links(&self, node: u32) -> Option<Vec<Typed>> {
        let class = self
            .graph
            .class(node)
            .filter(|class| !is_platform(&class.name))?;
        let fields = self.graph.fields(node);
        let own = fields.iter().filter(|field| {
            let of = descriptor::class_name(&field.info.descriptor).unwrap_or_default();
            of == class.name || of != "java.lang.Object" && class.supers.contains(&of)
        });
        let links: Vec<Typed> = own.map(|field| field.value).collect();
        (!links.is_empty()).then_some(links)
    }

    /// The nodes of a chain, from the first one, by the link that yields the most of them.
    fn chained(&self, first: Typed) -> Vec<Typed> {
        let Value::Ref(head) = first.value else {
            return Vec::new();
        };
        let links = self.links(head).map_or(0, |links| links.len());
        let chains = (0..links).map(|link| {
            let mut chain = vec![first];
            let mut at = head;
            while let Some(next) = self.links(at).and_then(|links| links.get(link).copied())
                && let Value::Ref(node) = next.value
                && node != self.object
                && !chain.contains(&next)
                && chain.len() <= MAX_CALLS
            {
                chain.push(next);
                at = node;
            }
            chain
        });
        let longest = chains.max_by_key(Vec::len).unwrap_or_else(|| vec![first]);
        // An empty node precedes the others.
        let is_header = longest.len() > 1
            && self.graph.fields(head).iter().all(|field| {
                let of = descriptor::class_name(&field.info.descriptor);
                is_zero(field.value) || of.is_some_and(|of| of == self.graph.class_name(head))
            });
        longest[usize::from(is_header)..].to_vec()
    }

    /// All nodes to which these lead, each before those to which it leads.
    fn all_nodes(&self, first: &[Typed]) -> Vec<Typed> {
        let mut waiting: Vec<Typed> = first.iter().rev().copied().collect();
        let mut all: Vec<Typed> = Vec::new();
        while let Some(node) = waiting.pop() {
            let Value::Ref(object) = node.value else {
                continue;
            };
            if object != self.object && !all.contains(&node) && all.len() <= MAX_CALLS {
                all.push(node);
                waiting.extend(self.links(object).unwrap_or_default().into_iter().rev());
            }
        }
        all
    }
}
