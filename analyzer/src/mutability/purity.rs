//! Whether methods are pure: derived from what is known of their parameters and of everything else
//! that they may change, and from the implementations of those that have no body.

use super::analysis::Outcome;
use super::answers::Verdict;
use super::effects::solve::Solver;
use super::effects::world::World;
use super::effects::{Summary, Write};
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::Map;
use crate::program::{MethodId, Program};
use hindsight_classfile::access;

/// Whether a method changes anything that existed before it ran. What a constructor does to its own
/// object is not a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purity {
    /// The method changes nothing.
    Pure,
    /// The method may change something reachable from this parameter; `this` is the first one.
    Changes(u16),
    /// The method may change static state, or something not reachable from a parameter.
    Outside,
    /// This parameter is unknown, and nothing else prevents purity.
    UnknownParameter(u16),
    /// The method has no code that could be read.
    Unknown,
    /// The method has no body; this implementation is not pure.
    NotAsImplemented(MethodId),
    /// The method has no body; nothing is known of this implementation.
    UnknownImplementation(MethodId),
    /// The method has no body, and no implementation is known.
    Unimplemented,
    /// The method has no body, and a class that may implement it is missing.
    Missing,
}

impl Purity {
    /// Whether the method is pure, if that is known.
    pub fn is_pure(self) -> Option<bool> {
        match self {
            Purity::Pure => Some(true),
            Purity::Changes(_) | Purity::Outside | Purity::NotAsImplemented(_) => Some(false),
            Purity::UnknownParameter(_)
            | Purity::Unknown
            | Purity::UnknownImplementation(_)
            | Purity::Unimplemented
            | Purity::Missing => None,
        }
    }
}

/// What may run where a method without a body is called.
#[derive(Debug, Default)]
pub struct Implementations {
    /// The methods, including bodies of lambdas; those of the library with what is known of them.
    pub methods: Vec<(MethodId, Option<Purity>)>,
    /// Whether other methods may run as well, because a class is missing.
    pub open: bool,
}

/// A call site that runs what implements a method without a body.
pub(super) fn site_of(program: &Program, id: MethodId) -> Site {
    let method = program.method(id);
    Site {
        owner: method.class,
        signature: method.signature,
        dispatch: Dispatch::Virtual,
    }
}

/// The implementations of the program's methods without a body.
pub(super) fn implementations(
    program: &Program,
    calls: &Calls<'_>,
    solver: &Solver<'_>,
) -> Map<MethodId, Implementations> {
    let mut found = Map::default();
    for class in program.classes.iter().filter(|class| !class.library) {
        let methods = class.methods.clone().map(MethodId);
        for id in methods.filter(|&id| program.method(id).is(access::ABSTRACT)) {
            let site = site_of(program, id);
            let mut all = Implementations::default();
            let lambdas = solver.lambdas_of(site).into_iter();
            let bodies =
                lambdas.map(|(maker, op)| solver.lambda(maker, op).map(|found| found.site));
            for site in std::iter::once(Some(site)).chain(bodies) {
                let Some(site) = site else {
                    all.open = true;
                    continue;
                };
                let targets = calls.targets(site);
                all.open |= targets.open;
                for &method in &targets.methods {
                    let library = program.class(program.method(method).class).library;
                    let known = library.then(|| {
                        let signature = program.names.bytes(program.method(method).signature);
                        let makes = signature.starts_with(b"<init>");
                        purity_of_summary(&solver.known(method), makes)
                    });
                    all.methods.push((method, known));
                }
            }
            found.insert(id, all);
        }
    }
    found
}

/// Whether a method of the library changes anything that existed before; `makes` says whether it is
/// a constructor.
fn purity_of_summary(summary: &Summary, makes: bool) -> Purity {
    let param = |write: &Write| {
        let param = summary.param(write.node >> 1);
        param.filter(|&param| !makes || param != 0)
    };
    let certain = summary.writes.iter().filter(|write| write.node & 1 == 0);
    if let Some(param) = certain.filter_map(param).next() {
        return Purity::Changes(param);
    }
    if summary.writes_outside {
        return Purity::Outside;
    }
    let unknown = summary.writes.iter().filter_map(param).next();
    unknown.map_or(Purity::Pure, Purity::UnknownParameter)
}

/// Whether a method changes anything that existed before it ran.
pub fn purity(program: &Program, outcome: &Outcome, method: MethodId) -> Purity {
    let signature = program.names.bytes(program.method(method).signature);
    let makes = signature.starts_with(b"<init>");
    let facts = &outcome.facts[method.0 as usize];
    if facts.unknown.is_some() {
        return Purity::Unknown;
    }
    let mut pure = Purity::Pure;
    for param in 0..facts.followed.len() as u16 {
        if makes && param == 0 {
            continue;
        }
        match outcome
            .answers
            .verdict(outcome.answers.place(method, param))
        {
            Verdict::Immutable => {}
            Verdict::Mutable => return Purity::Changes(param),
            Verdict::Unknown => pure = Purity::UnknownParameter(param),
        }
    }
    if let Some(implementations) = outcome.implementations.get(&method) {
        return purity_without_body(program, outcome, implementations, pure);
    }
    match outcome.summaries.get(method.0 as usize) {
        Some(Some(summary)) if summary.writes_outside => Purity::Outside,
        Some(Some(_)) => pure,
        _ => Purity::Unknown,
    }
}

/// Whether a method without a body changes anything, by what is known of its implementations.
/// `pure` is the result for its parameters.
fn purity_without_body(
    program: &Program,
    outcome: &Outcome,
    implementations: &Implementations,
    pure: Purity,
) -> Purity {
    let found: Vec<(MethodId, Option<bool>)> = (implementations.methods.iter())
        .map(|&(method, known)| {
            let known = known.unwrap_or_else(|| purity(program, outcome, method));
            (method, known.is_pure())
        })
        .collect();
    let first = |wanted: Option<bool>| found.iter().find(|found| found.1 == wanted);
    if let Some(&(method, _)) = first(Some(false)) {
        return Purity::NotAsImplemented(method);
    }
    if implementations.open {
        return Purity::Missing;
    }
    if found.is_empty() {
        return Purity::Unimplemented;
    }
    match first(None) {
        Some(_) if pure != Purity::Pure => pure,
        Some(&(method, _)) => Purity::UnknownImplementation(method),
        None => pure,
    }
}
