//! Fields that other objects fill: `parent.add(child)` writes the child's parent, and `new
//! Child(parent)` is added to the parent's children. An object that is made without them equals the
//! recorded one once those others are made.

use super::effects::FieldName;
use super::{MAX_ELEMENTS, MAX_SEEN};
use crate::graph::{Graph, Typed};
use crate::views::{View, view};
use hindsight_tracelog::crash::{Body, Value};
use std::collections::{HashMap, HashSet, VecDeque};

/// A field that may be left open.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The field.
    pub field: FieldName,
    /// The objects that may fill it, in order.
    pub by: Vec<u32>,
}

impl Gap {
    /// The field's name in a trial.
    pub fn name(&self) -> String {
        format!("{}.{}", self.field.owner, self.field.name)
    }
}

/// The references between objects of the program.
#[derive(Debug, Default)]
pub struct Links {
    /// By object, those to which it leads by a field, or by a collection in one.
    to: HashMap<u32, Vec<u32>>,
}

impl Links {
    /// The references of some objects, and of those to which they lead.
    pub fn of(graph: &Graph<'_>, objects: &[u32]) -> Links {
        let mut waiting: VecDeque<u32> = objects.iter().copied().collect();
        let mut seen: HashSet<u32> = objects.iter().copied().collect();
        let mut to: HashMap<u32, Vec<u32>> = HashMap::new();
        while let Some(object) = waiting.pop_front() {
            for field in graph.fields(object) {
                for next in leads_to(graph, field.value) {
                    to.entry(next).or_default().push(object);
                    if seen.len() < MAX_SEEN && seen.insert(next) {
                        waiting.push_back(next);
                    }
                }
            }
        }
        Links { to }
    }

    /// All objects that lead to this one.
    fn leading_to(&self, object: u32) -> HashSet<u32> {
        let mut waiting = vec![object];
        let mut leading = HashSet::new();
        while let Some(object) = waiting.pop() {
            let from = self.to.get(&object).into_iter().flatten();
            waiting.extend(from.filter(|from| leading.insert(**from)));
        }
        leading
    }

    /// The fields of an object that lead to objects of the program which all lead back to it.
    pub fn gaps(&self, graph: &Graph<'_>, object: u32) -> Vec<Gap> {
        let leading = self.leading_to(object);
        let fields = graph.fields(object).into_iter();
        let gaps = fields.filter_map(|field| {
            let by = leads_to(graph, field.value);
            let all = by.iter().all(|by| *by != object && leading.contains(by));
            let field = FieldName {
                owner: field.info.owner.clone(),
                name: field.info.name.clone(),
            };
            (all && !by.is_empty()).then_some(Gap { field, by })
        });
        gaps.collect()
    }
}

/// The object of the program that a value is, or those that it contains.
fn leads_to(graph: &Graph<'_>, value: Typed) -> Vec<u32> {
    let Value::Ref(object) = value.value else {
        return Vec::new();
    };
    let of_program = |object: &u32| {
        matches!(graph.body(*object), Some(Body::Instance(_)))
            && !crate::classpath::is_platform(graph.class_name(*object))
    };
    if of_program(&object) {
        return vec![object];
    }
    let held = match (graph.body(object), view(graph, object)) {
        (Some(Body::References(_)), _) => graph.elements(object).unwrap_or_default(),
        (_, Some(View::List(elements))) => elements,
        (_, Some(View::Map(entries))) => entries.into_iter().flat_map(|(k, v)| [k, v]).collect(),
        _ => Vec::new(),
    };
    let objects = held
        .into_iter()
        .take(MAX_ELEMENTS)
        .filter_map(|typed| match typed.value {
            Value::Ref(object) => Some(object),
            _ => None,
        });
    objects.filter(of_program).collect()
}
