//! Which methods each method may run, whoever calls it: methods of the program, by calls and by
//! callbacks from the library.
//!
//! The result is a graph whose first nodes are the program's methods. Equal call sites share a
//! node, and so do all methods that the library may call back by signatures which it does not
//! distinguish.

use super::graph::Graph;
use super::initialisers;
use crate::mutability::contracts::Contracts;
use crate::mutability::effects::solve::{Callback, Library, Solver};
use crate::mutability::effects::world::World;
use crate::mutability::facts::{Facts, Op};
use crate::mutability::signatures::Signatures;
use crate::program::calls::{Calls, Site};
use crate::program::names::Map;
use crate::program::{MethodId, Program};

/// The analyses that answer what a call may run.
pub(super) struct Asked<'p> {
    pub(super) program: &'p Program,
    pub(super) calls: &'p Calls<'p>,
    pub(super) library: &'p dyn Library,
    pub(super) contracts: &'p Contracts,
    pub(super) facts: &'p [Facts],
    pub(super) solver: &'p Solver<'p>,
}

/// The graph of what runs what.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) graph: Graph,
    /// For each node, whether it, or what it runs, may run code that is not known.
    pub(super) open: Vec<bool>,
}

/// The graph while it is being made.
struct Making<'p> {
    asked: &'p Asked<'p>,
    next: Vec<Vec<u32>>,
    open: Vec<bool>,
    sites: Map<Site, u32>,
    /// The first of the nodes for callbacks from the library, one for each bit of a signature.
    called_back: u32,
}

impl Runs {
    /// Makes the graph.
    pub(super) fn new(asked: &Asked<'_>) -> Runs {
        let methods = asked.facts.len();
        let nodes = methods + Signatures::BITS as usize;
        let mut making = Making {
            asked,
            next: vec![Vec::new(); nodes],
            open: vec![false; nodes],
            sites: Map::default(),
            called_back: methods as u32,
        };
        for (signature, callback) in asked.solver.called_back() {
            let to = match callback {
                Callback::Method(method) => method.0,
                Callback::Lambda(site) => making.site(site),
            };
            let signature = asked.program.names.bytes(signature);
            for bit in Signatures::one(&signature).bits() {
                making.next[methods + bit as usize].push(to);
            }
        }
        let initialiser = asked.program.names.find(b"<clinit>()V");
        for (number, facts) in asked.facts.iter().enumerate() {
            making.open[number] = facts.present && facts.unknown.is_some();
            for fact in &facts.ops {
                match &fact.op {
                    Op::Call { site, .. } => {
                        let site = making.site(*site);
                        making.next[number].push(site);
                    }
                    Op::Unknown { .. } => making.open[number] = true,
                    _ => {}
                }
                let first = initialiser
                    .map(|name| initialisers(asked.program, asked.calls, name, &fact.op));
                let first = first.into_iter().flatten().map(|method| method.0);
                making.next[number].extend(first.filter(|&method| method != number as u32));
            }
        }
        let graph = Graph::new(making.next);
        let open = graph.joined(making.open, |one, other| *one |= other);
        Runs { graph, open }
    }
}

impl Making<'_> {
    /// The node of a call site.
    fn site(&mut self, site: Site) -> u32 {
        if let Some(&known) = self.sites.get(&site) {
            return known;
        }
        let node = self.next.len() as u32;
        self.sites.insert(site, node);
        self.next.push(Vec::new());
        self.open.push(false);
        let asked = self.asked;
        let targets = asked.calls.targets(site);
        let mut open = targets.open;
        let mut back = Signatures::default();
        let mut next = Vec::new();
        for &method in &targets.methods {
            let class = asked.program.method(method).class;
            if asked.program.class(class).library {
                open |= is_unknown(asked, method);
                back.join(&asked.library.runs(method));
            } else {
                next.push(method.0);
            }
        }
        let lambdas = asked.solver.lambdas_of(site);
        // Some unknown class implements the method.
        open |= asked.solver.is_unimplemented(site);
        // It is not known what a proxy passes on.
        open |= asked.calls.has_proxies() && !back.is_empty();
        next.extend(back.bits().map(|bit| self.called_back + bit));
        for (maker, op) in lambdas {
            match asked.solver.lambda(maker, op).map(|lambda| lambda.site) {
                Some(body) => next.push(self.site(body)),
                None => open = true,
            }
        }
        self.next[node as usize] = next;
        self.open[node as usize] = open;
        node
    }
}

/// Whether a method of the library may run, or write, something that is not reachable from its
/// arguments.
fn is_unknown(asked: &Asked<'_>, method: MethodId) -> bool {
    if let Some(known) = asked.contracts.find(method)
        && known.writes_kept
    {
        return true;
    }
    let method = asked.program.method(method);
    let class = asked
        .program
        .names
        .bytes(asked.program.class(method.class).name);
    match &*class {
        b"java/lang/reflect/Field" => {
            let signature = asked.program.names.bytes(method.signature);
            signature.starts_with(b"set") && !signature.starts_with(b"setAccessible")
        }
        b"java/lang/invoke/VarHandle" | b"java/lang/invoke/MethodHandle" | b"sun/misc/Unsafe" => {
            true
        }
        class => {
            class.starts_with(b"java/util/concurrent/atomic/") && class.ends_with(b"FieldUpdater")
        }
    }
}
