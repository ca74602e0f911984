//! Whether methods are pure: what is known of their parameters and of all else that they may change, and what
//! implements those that have no body.

use super::analysis::Outcome;
use super::answers::Verdict;
use super::effects::solve::Solver;
use super::effects::world::World;
use super::effects::{Summary, Write};
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::Map;
use crate::program::{MethodId, Program};
use hindsight_classfile::access;

/// Whether a method changes anything that was there before it ran. What a
/// constructor makes of its own object is no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purity {
    /// It does not.
    Pure,
    /// It may change what this parameter leads to, `this` being the first.
    Changes(u16),
    /// It may change static state, or what no parameter leads to.
    Outside,
    /// This parameter is unknown, and all else is in order.
    UnknownParameter(u16),
    /// It has no code that could be read.
    Unknown,
    /// It has no body; this method implements it, and is not pure.
    NotAsImplemented(MethodId),
    /// It has no body; this method implements it, of which nothing is known.
    UnknownImplementation(MethodId),
    /// It has no body, and nothing is known that implements it.
    Unimplemented,
    /// It has no body, and a class is missing that may implement it.
    Missing,
}

impl Purity {
    /// Whether it is pure, if that is known.
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

/// What runs where a method without a body is called.
#[derive(Debug, Default)]
pub struct Implementations {
    /// Methods, bodies of lambdas too; of those of the library with what is known of them.
    pub methods: Vec<(MethodId, Option<Purity>)>,
    /// Whether others may run as well, as a class is missing.
    pub open: bool,
}

/// The call that runs what implements a method without a body.
pub(super) fn site_of(program: &Program, id: MethodId) -> Site {
    let method = program.method(id);
    Site {
        owner: method.class,
        signature: method.signature,
        dispatch: Dispatch::Virtual,
    }
}

/// What implements the program's methods without a body.
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

/// Whether a method of the library changes anything that was there before; `makes` if it is a
/// constructor.
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

/// Whether a method changes anything that was there before it ran.
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

/// The same of a method without a body: what is known of all that implement it. `pure` is what its
/// parameters say.
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
