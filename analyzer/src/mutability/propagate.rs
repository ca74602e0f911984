//! Stage P: from callees to callers along the binding multigraph (Artzi, dissertation, section
//! 5.5.3).
//!
//! Its nodes are parameters, and arguments of calls: an argument has an edge to the parameter of
//! every method that the call may run. Mutability is propagated against the edges of the
//! under-approximation; a parameter that leads to nothing mutable and nothing unknown in the
//! over-approximation is immutable.

use super::answers::{Answers, Leaf, Reason, Stage, Verdict, is_new};
use super::facts::{Facts, Op};
use super::points::{Leak, Local};
use crate::mutability::signatures::Signatures;
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::Map;
use crate::program::{MethodId, Program};
use hindsight_classfile::{MethodDescriptor, Utf8, access};

/// An edge to a node, by an operation of the method in which it starts.
#[derive(Debug, Clone, Copy)]
struct Edge {
    to: u32,
    op: u32,
}

/// One variant of the graph, with its edges reversed.
struct Graph {
    /// The edges by the node that they lead to; [`Edge::to`] is the node where they start.
    against: Vec<Vec<Edge>>,
}

/// Numbers the nodes: parameters come first, then arguments of calls.
struct Nodes {
    sites: Map<Site, u32>,
    /// For each call site, its first node and the number of its nodes.
    first: Vec<u32>,
    order: Vec<Site>,
    count: u32,
}

/// What the stage needs to know of the program.
pub struct Input<'a> {
    /// The methods that calls may run.
    pub calls: &'a Calls<'a>,
    /// The facts, by method.
    pub facts: &'a [Facts],
    /// What stage S found out, by method.
    pub locals: &'a [Local],
    /// Whether parameters of one method depend on each other (S, not SH).
    pub siblings: bool,
    /// What parameters of methods without facts are.
    pub leaf: &'a (dyn Fn(MethodId, u16) -> Leaf + Sync),
    /// What is promised of a call whatever it runs; then only the program's own methods count
    /// besides.
    pub promised: &'a (dyn Fn(Site) -> Option<Vec<Leaf>> + Sync),
    /// Whether a call runs code that is not known, since no implementation of its method is.
    pub unimplemented: &'a (dyn Fn(Site) -> bool + Sync),
    /// The lambdas that a call may run: method and operation.
    pub lambdas: &'a (dyn Fn(Site) -> Vec<(MethodId, u32)> + Sync),
}

/// Applies stage P. If `overridable`, returns for each parameter the signatures of methods to which
/// it may be passed and that others may override.
pub fn propagate(input: &Input<'_>, answers: &mut Answers, overridable: bool) -> Vec<Signatures> {
    let mut nodes = Nodes {
        sites: Map::default(),
        first: Vec::new(),
        order: Vec::new(),
        count: answers.count(),
    };
    let mut over = Vec::new();
    let mut under = Vec::new();
    for (method, local) in input.locals.iter().enumerate() {
        let id = MethodId(method as u32);
        for (edges, found) in [(&local.over, &mut over), (&local.under, &mut under)] {
            for &(param, op, arg) in edges {
                let (site, makes) = match &input.facts[method].ops[op as usize].op {
                    Op::Call { site, .. } => (*site, false),
                    // The receiver of a constructor is the object that it makes.
                    Op::Lambda(lambda) => (lambda.site, lambda.makes),
                    _ => continue,
                };
                let to = nodes.of(input.calls.program(), site, arg + u16::from(makes));
                found.push((answers.place(id, param), Edge { to, op }));
            }
        }
    }
    let mut leaves: Vec<(u32, Leaf)> = Vec::new();
    let mut shared = Vec::new();
    let mut at = 0;
    // Call sites that lambdas stand for are added on the way.
    while at < nodes.order.len() {
        let site = nodes.order[at];
        let first = nodes.first[at];
        let end = nodes.first.get(at + 1).copied().unwrap_or(nodes.count);
        at += 1;
        connect(
            input,
            answers,
            &mut nodes,
            site,
            first..end,
            &mut leaves,
            &mut shared,
        );
    }
    let mut graph = Graph::new(nodes.count, &under, &shared);
    mutable(&mut graph, &leaves, answers);
    let mut graph = Graph::new(nodes.count, &over, &shared);
    immutable(input, &mut graph, &leaves, answers);
    match overridable {
        true => given_to(input, &nodes, &Graph::new(nodes.count, &over, &shared)),
        false => Vec::new(),
    }
}

/// For each node, the signatures of the methods that others may override and to which the node is
/// passed as an argument.
fn given_to(input: &Input<'_>, nodes: &Nodes, graph: &Graph) -> Vec<Signatures> {
    let program = input.calls.program();
    let mut found = vec![Signatures::default(); nodes.count as usize];
    let mut due = Vec::new();
    for (at, &site) in nodes.order.iter().enumerate() {
        let resolved = program.resolve(site.owner, site.signature);
        let stays = resolved.is_some_and(|method| {
            let method = program.method(method);
            method.is(access::PRIVATE | access::FINAL | access::STATIC)
                || program.class(method.class).access & access::FINAL != 0
        });
        if site.dispatch == Dispatch::Exact || stays {
            continue;
        }
        let own = Signatures::one(&program.names.bytes(site.signature));
        let end = nodes.first.get(at + 1).copied().unwrap_or(nodes.count);
        for node in nodes.first[at]..end {
            found[node as usize].join(&own);
            due.push(node);
        }
    }
    while let Some(node) = due.pop() {
        let own = found[node as usize];
        for edge in &graph.against[node as usize] {
            if found[edge.to as usize].join(&own) {
                due.push(edge.to);
            }
        }
    }
    found
}

impl Nodes {
    fn of(&mut self, program: &Program, site: Site, arg: u16) -> u32 {
        let place = match self.sites.get(&site) {
            Some(&place) => place,
            None => {
                let place = self.order.len() as u32;
                let text = program.names.bytes(site.signature);
                let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
                let declared = MethodDescriptor::parse(Utf8::new(&text[open..]))
                    .map_or(0, |d| d.parameter_count());
                self.sites.insert(site, place);
                self.order.push(site);
                self.first.push(self.count);
                self.count += u32::from(declared) + 1;
                place
            }
        };
        let first = self.first[place as usize];
        let end = self
            .first
            .get(place as usize + 1)
            .copied()
            .unwrap_or(self.count);
        (first + u32::from(arg)).min(end - 1)
    }
}

/// Connects the arguments of a call site with what it may run.
fn connect(
    input: &Input<'_>,
    answers: &Answers,
    nodes: &mut Nodes,
    site: Site,
    range: std::ops::Range<u32>,
    leaves: &mut Vec<(u32, Leaf)>,
    shared: &mut Vec<(u32, Edge)>,
) {
    const ANY: u32 = u32::MAX;
    let program = input.calls.program();
    let targets = input.calls.targets(site);
    let promised = (input.promised)(site);
    if targets.open && promised.is_none() {
        leaves.extend(range.clone().map(|node| (node, Leaf::Missing(site))));
    }
    if promised.is_none() && (input.unimplemented)(site) {
        leaves.extend(range.clone().map(|node| (node, Leaf::Unimplemented(site))));
    }
    if let Some(promised) = &promised {
        for (node, leaf) in range.clone().zip(promised) {
            leaves.push((node, leaf.clone()));
        }
    }
    for &method in &targets.methods {
        let library = program.class(program.method(method).class).library;
        if library && promised.is_some() {
            continue;
        }
        for (param, node) in range.clone().enumerate() {
            if answers.has(method) {
                if let Some(to) = answers.place_if(method, param as u16) {
                    shared.push((node, Edge { to, op: ANY }));
                }
            } else {
                match (input.leaf)(method, param as u16) {
                    Leaf::Immutable => {}
                    leaf => leaves.push((node, leaf)),
                }
            }
        }
    }
    if site.dispatch == Dispatch::Virtual {
        for (maker, op) in (input.lambdas)(site) {
            let Op::Lambda(lambda) = &input.facts[maker.0 as usize].ops[op as usize].op else {
                continue;
            };
            let shift = lambda.captured.len() + usize::from(lambda.makes);
            for (arg, node) in range.clone().enumerate().skip(1) {
                let to = nodes.of(program, lambda.site, (shift + arg - 1) as u16);
                shared.push((node, Edge { to, op: ANY }));
            }
        }
    }
}

impl Graph {
    fn new(count: u32, own: &[(u32, Edge)], shared: &[(u32, Edge)]) -> Graph {
        let mut against: Vec<Vec<Edge>> = vec![Vec::new(); count as usize];
        for &(from, edge) in own.iter().chain(shared) {
            against[edge.to as usize].push(Edge {
                to: from,
                op: edge.op,
            });
        }
        Graph { against }
    }
}

/// Decides that every unknown node that leads to something mutable is mutable.
fn mutable(graph: &mut Graph, leaves: &[(u32, Leaf)], answers: &mut Answers) {
    let count = answers.count();
    // For each node, the first mutable thing that was found behind it.
    let mut next: Vec<Option<Step>> = vec![None; graph.against.len()];
    let mut queue = std::collections::VecDeque::new();
    for place in 0..count {
        if answers.verdict(place) == Verdict::Mutable {
            queue.push_back(place);
        }
    }
    for (node, leaf) in leaves {
        if let Leaf::Mutable(method, param) = leaf
            && next[*node as usize].is_none()
        {
            next[*node as usize] = Some(Step::Library(*method, *param));
            queue.push_back(*node);
        }
    }
    while let Some(node) = queue.pop_front() {
        let edges = std::mem::take(&mut graph.against[node as usize]);
        for edge in &edges {
            let from = edge.to;
            if from < count {
                if answers.verdict(from) == Verdict::Unknown {
                    let reason = match step_of(&next, node, count) {
                        Step::Param(place) => {
                            let (method, param) = answers.param(place);
                            Reason::Call {
                                op: edge.op,
                                method,
                                param,
                            }
                        }
                        Step::Library(method, param) => Reason::Call {
                            op: edge.op,
                            method,
                            param,
                        },
                    };
                    answers.decide(from, Verdict::Mutable, Stage::P, reason);
                    queue.push_back(from);
                }
            } else if next[from as usize].is_none() {
                next[from as usize] = Some(step_of(&next, node, count));
                queue.push_back(from);
            }
        }
    }
}

/// What is behind a node.
#[derive(Debug, Clone, Copy)]
enum Step {
    Param(u32),
    Library(MethodId, u16),
}

fn step_of(next: &[Option<Step>], node: u32, count: u32) -> Step {
    match next[node as usize] {
        Some(step) if node >= count => step,
        _ => Step::Param(node),
    }
}

/// Decides that every node that leads to nothing mutable and nothing unknown is immutable.
fn immutable(input: &Input<'_>, graph: &mut Graph, leaves: &[(u32, Leaf)], answers: &mut Answers) {
    let count = answers.count();
    let mut bad: Vec<Option<Reason>> = vec![None; graph.against.len()];
    let mut queue = Vec::new();
    let mark = |bad: &mut Vec<Option<Reason>>, queue: &mut Vec<u32>, node: u32, reason: Reason| {
        if bad[node as usize].is_none() {
            bad[node as usize] = Some(reason);
            queue.push(node);
        }
    };
    for place in 0..count {
        if answers.verdict(place) == Verdict::Mutable {
            mark(&mut bad, &mut queue, place, Reason::None);
        }
    }
    for (node, leaf) in leaves {
        let reason = match leaf {
            Leaf::Immutable => continue,
            Leaf::Mutable(method, param) | Leaf::Unknown(method, param) => Reason::Library {
                method: *method,
                param: *param,
            },
            Leaf::Missing(site) => Reason::Missing { site: *site },
            Leaf::Unimplemented(site) => Reason::Unimplemented { site: *site },
        };
        mark(&mut bad, &mut queue, *node, reason);
    }
    for (method, local) in input.locals.iter().enumerate() {
        let id = MethodId(method as u32);
        // The result of a call may be part of the parameter's state, and be written here: no callee
        // knows of that, and an earlier stage may have left it open.
        for &(param, op) in &local.perhaps {
            let place = answers.place(id, param);
            if answers.verdict(place) == Verdict::Unknown {
                mark(&mut bad, &mut queue, place, Reason::Store { op });
            }
        }
        for &(param, leak) in &local.leaks {
            let place = answers.place(id, param);
            match leak {
                Leak::Call(_) => {}
                Leak::Static(op) => mark(&mut bad, &mut queue, place, Reason::KeptInStatic { op }),
                Leak::Unknown(op) => mark(&mut bad, &mut queue, place, Reason::UnknownCall { op }),
            }
        }
        let facts = &input.facts[method];
        if facts.unknown.is_some() {
            for param in 0..facts.followed.len() {
                mark(
                    &mut bad,
                    &mut queue,
                    answers.place(id, param as u16),
                    Reason::NoBody,
                );
            }
        }
    }
    while let Some(node) = queue.pop() {
        let mut edges = std::mem::take(&mut graph.against[node as usize]);
        // Arguments may be aliases of each other.
        if input.siblings && node < count {
            let (method, own) = answers.param(node);
            let facts = &input.facts[method.0 as usize];
            let program = input.calls.program();
            let signature = program.names.bytes(program.method(method).signature);
            let is_apart = |param: usize| is_new(&signature, param as u16);
            for param in (0..facts.followed.len()).filter(|&param| facts.followed[param]) {
                let to = answers.place(method, param as u16);
                if to != node && !is_apart(own.into()) && !is_apart(param) {
                    edges.push(Edge { to, op: u32::MAX });
                }
            }
        }
        for edge in edges {
            let from = edge.to;
            // A parameter that is decided no longer depends on anything.
            if from < count && answers.verdict(from) != Verdict::Unknown {
                continue;
            }
            let reason = match bad[node as usize].clone() {
                Some(known) if node >= count => known,
                _ => {
                    let (method, param) = answers.param(node);
                    match edge.op {
                        u32::MAX if from < count => Reason::Sibling { param },
                        op => Reason::Call { op, method, param },
                    }
                }
            };
            mark(&mut bad, &mut queue, from, reason);
        }
    }
    for place in 0..count {
        if answers.verdict(place) != Verdict::Unknown {
            continue;
        }
        match bad[place as usize].take() {
            None => answers.decide(place, Verdict::Immutable, Stage::P, Reason::LeadsToNoWrite),
            Some(reason) => answers.explain(place, reason),
        }
    }
}
