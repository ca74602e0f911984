//! Decides to which models a search should turn: those that lead to objects which its targets need
//! and which do not exist yet.
//!
//! An object of a real program can take a dozen calls on objects of as many classes. Steps in
//! arbitrary directions do not meet in it; but what the next step lacks is known: objects of a type
//! or, if a call has always thrown, the same objects in another state.

use super::surface::Surface;
use super::worker::class_get_name;
use crate::java::descriptor;
use crate::model::graph::{Graph, ROOT};
use crate::model::{Call, CallId, Model};
use std::collections::{BTreeSet, HashMap};

/// The most classes to which the search turns at a time.
const MAX_CLASSES: usize = 32;

/// The needs of the classes of a model.
pub struct Focus {
    /// By class, its calls, beginning with those that make an object.
    calls: Vec<Vec<Needs>>,
    /// By type, the classes whose objects are of it.
    of_type: HashMap<String, Vec<usize>>,
    /// By class, the classes whose objects are made with one of its objects, and may change it
    /// later.
    around: Vec<BTreeSet<usize>>,
}

/// A call, and the types of the objects that it needs besides the modelled one.
struct Needs {
    call: CallId,
    creates: bool,
    types: Vec<String>,
}

impl Focus {
    /// The needs of some classes of a model, in order.
    pub fn new(model: &Model, classes: &[String], surface: &Surface) -> Focus {
        let mut of_type: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, class) in classes.iter().enumerate() {
            for name in surface.supers(class) {
                of_type.entry(name).or_default().push(at);
            }
        }
        let calls: Vec<Vec<Needs>> = (classes.iter())
            .map(|class| {
                model
                    .classes
                    .get(class)
                    .map_or(Vec::new(), |class| calls_of(model, &class.graph, surface))
            })
            .collect();
        let mut around = vec![BTreeSet::new(); classes.len()];
        for (at, calls) in calls.iter().enumerate() {
            for needs in calls.iter().filter(|needs| needs.creates) {
                for inner in needs
                    .types
                    .iter()
                    .filter_map(|ty| of_type.get(ty))
                    .flatten()
                {
                    around[*inner].insert(at);
                }
            }
        }
        Focus {
            calls,
            of_type,
            around,
        }
    }

    /// The classes whose models lead to what `targets` lack, the nearest first, without the targets
    /// themselves. `has` says whether there is an object of a type, `fails` whether a call has
    /// always thrown.
    pub fn lacking(
        &self,
        targets: &[usize],
        has: &mut dyn FnMut(&str) -> bool,
        fails: &dyn Fn(CallId) -> bool,
    ) -> Vec<usize> {
        // Each class with which of its calls are considered: all, or only those that make an
        // object.
        let mut pending: Vec<(usize, bool)> = targets.iter().map(|class| (*class, true)).collect();
        let mut seen: BTreeSet<usize> = targets.iter().copied().collect();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(&(class, whole)) = pending.get(at) {
            at += 1;
            for needs in self.calls[class]
                .iter()
                .filter(|needs| whole || needs.creates)
            {
                let fails = fails(needs.call);
                for ty in &needs.types {
                    let is_there = has(ty);
                    if is_there && !fails {
                        continue;
                    }
                    for &maker in self.of_type.get(ty).into_iter().flatten() {
                        let mut turn_to = |class: usize, whole: bool| {
                            if found.len() < MAX_CLASSES && seen.insert(class) {
                                found.push(class);
                                pending.push((class, whole));
                            }
                        };
                        turn_to(maker, is_there);
                        if is_there {
                            (self.around[maker].iter()).for_each(|class| turn_to(*class, true));
                        }
                    }
                }
            }
        }
        found
    }
}

/// All different calls of a graph, beginning with those that make an object.
fn calls_of(model: &Model, graph: &Graph, surface: &Surface) -> Vec<Needs> {
    let mut known = BTreeSet::new();
    let mut calls = Vec::new();
    for node in graph.order(&|id| id) {
        for edge in graph.edges(node) {
            let call = model.call(edge.call);
            if surface.modelled.contains_key(&edge.call) && known.insert(edge.call) {
                calls.push(Needs {
                    call: edge.call,
                    creates: node == graph.find(ROOT) && call.creates(),
                    types: types(call, surface),
                });
            }
        }
    }
    calls.sort_by_key(|needs| !needs.creates);
    calls
}

/// The classes of the objects that a call needs besides the modelled one, without those that are
/// literals.
fn types(call: &Call, surface: &Surface) -> Vec<String> {
    let (parameters, _) = descriptor::split(&call.descriptor).unwrap_or_default();
    let mut types = Vec::new();
    if !call.is_static && call.method != "<init>" && !call.positions.contains(&0) {
        types.push(call.class.clone());
    }
    for (at, ty) in parameters.iter().enumerate() {
        if ty.starts_with('L')
            && !call.positions.contains(&(at as i16 + 1))
            && surface.pool(ty).is_empty()
        {
            types.push(class_get_name(ty));
        }
    }
    types
}
