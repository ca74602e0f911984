//! What each method does to the objects of its parameters, including the methods to which it passes
//! them on.

use super::MAX_FIELDS;
use super::fields::{Done, read_and_written};
use super::graph::Graph;
use crate::mutability::analysis::Outcome;
use crate::mutability::effects::Node;
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::MethodId;
use crate::program::Sym;
use crate::program::calls::{Calls, Site};
use crate::program::names::Map;

/// What is done to a parameter's object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// The fields that are both read and written; if there are more than [`MAX_FIELDS`], some of
    /// them.
    pub(super) both: Vec<Sym>,
    /// Whether something else may be written.
    pub(super) deep: bool,
}

/// The graph while it is being made. Its first nodes are the parameters of all methods.
struct Making {
    /// The node of each method's first parameter.
    first: Vec<u32>,
    next: Vec<Vec<u32>>,
    deep: Vec<bool>,
    /// The node for each position of an argument in equal call sites.
    sites: Map<(Site, u16), u32>,
}

/// What is done to each parameter, by method and parameter.
pub(super) fn used(calls: &Calls<'_>, outcome: &Outcome) -> Vec<Vec<Used>> {
    let mut first = Vec::with_capacity(outcome.facts.len());
    let mut parameters = 0;
    for facts in &outcome.facts {
        first.push(parameters as u32);
        parameters += facts.followed.len();
    }
    let mut making = Making {
        first,
        next: vec![Vec::new(); parameters],
        deep: vec![false; parameters],
        sites: Map::default(),
    };
    let mut done = vec![Done::default(); parameters];
    for (number, facts) in outcome.facts.iter().enumerate() {
        let arguments = arguments(facts);
        let of = |var: Var| {
            let known = (var != NONE).then(|| arguments.get(&var)).flatten();
            known.map(|&param| making.first[number] as usize + usize::from(param))
        };
        let mut passed = Vec::new();
        for fact in &facts.ops {
            match &fact.op {
                Op::Load { base, field, .. } => {
                    if let Some(node) = of(*base) {
                        done[node].read.push(*field);
                    }
                }
                Op::Store { base, field, .. } => {
                    if let Some(node) = of(*base) {
                        done[node].written.push(*field);
                    }
                }
                Op::Call { site, args, .. } => {
                    let args = args.iter().zip(0..);
                    let args = args.filter_map(|(&arg, place)| Some((of(arg)?, place)));
                    passed.extend(args.map(|(node, place)| (node, *site, place)));
                }
                _ => {}
            }
        }
        for (node, site, place) in passed {
            let to = making.site(calls, outcome, site, place);
            making.next[node].push(to);
        }
        // Counts writes below the object itself, and writes that may not be of this object.
        let summary = outcome.summaries.get(number).and_then(Option::as_ref);
        for param in 0..facts.followed.len() {
            making.deep[making.first[number] as usize + param] = match summary {
                Some(summary) => summary.writes.iter().any(|write| {
                    let node = write.node >> 1;
                    let itself = summary.nodes[node as usize] == Node::Param(param as u16)
                        && write.node & 1 == 0;
                    summary.param(node) == Some(param as u16) && !itself
                }),
                None => true,
            };
        }
    }
    let Making { next, deep, .. } = making;
    let graph = Graph::new(next);
    let deep = graph.joined(deep, |one, other| *one |= other);
    let used = deep.into_iter().map(|deep| Used {
        both: Vec::new(),
        deep,
    });
    let mut used: Vec<Used> = used.take(parameters).collect();
    read_and_written(&graph, &done, |node, both| {
        let known = &mut used[node].both;
        let further = (MAX_FIELDS + 1).saturating_sub(known.len());
        known.extend(both.fields().take(further));
    });
    let mut used = used.into_iter();
    let all = outcome.facts.iter();
    all.map(|facts| used.by_ref().take(facts.followed.len()).collect())
        .collect()
}

/// The values that are themselves arguments, with the numbers of the parameters.
fn arguments(facts: &Facts) -> Map<Var, u16> {
    let params = facts.ops.iter().filter_map(|fact| match fact.op {
        Op::Param { dst, number } => Some((dst, number)),
        _ => None,
    });
    params.collect()
}

impl Making {
    /// The node of what is passed at a position in equal call sites.
    fn site(&mut self, calls: &Calls<'_>, outcome: &Outcome, site: Site, place: u16) -> u32 {
        if let Some(&known) = self.sites.get(&(site, place)) {
            return known;
        }
        let program = calls.program();
        let mut next = Vec::new();
        let mut deep = false;
        for &MethodId(callee) in &calls.targets(site).methods {
            let number = callee as usize;
            let known = outcome.facts.get(number);
            if known.is_some_and(|facts| usize::from(place) < facts.followed.len()) {
                next.push(self.first[number] + u32::from(place));
            } else {
                // The JDK's bodies are not known here.
                let class = program.method(MethodId(callee)).class;
                deep |= program.class(class).library;
            }
        }
        let node = self.next.len() as u32;
        self.sites.insert((site, place), node);
        self.next.push(next);
        self.deep.push(deep);
        node
    }
}
