//! What the agent should copy, and what it need not: the content of
//! `hindsight plan`.
//!
//! A parameter that a method leaves alone may be kept by reference. Of the others
//! the fields matter that are both read and written, in the method or where it
//! passes the very same reference on: their values at entry are gone when an
//! exception is seen. So do those that the body names and that may be written by way of any other
//! reference, as an object may be known by several; of what the body names the agent leaves out
//! no other fields. Whether more than that may be lost is said too.

mod lost;
mod runs;

use crate::mutability::analysis::Outcome;
use crate::mutability::answers::Verdict;
use crate::mutability::contracts::Contracts;
use crate::mutability::effects::Node;
use crate::mutability::effects::solve::{Library, Solver, any_field};
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::calls::Calls;
use crate::program::names::Map;
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::access;
use hindsight_tracelog::plan::{Class, Field, Method, Parameter, Plan};
use runs::{Asked, Runs};
use std::collections::BTreeSet;

/// More fields than this are not listed; the parameter counts as deep then.
const MAX_FIELDS: usize = 64;

/// More static fields than this are not listed: of such a method the agent takes those of its class.
const MAX_STATICS: usize = 100;

/// Fields of a parameter's object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Used {
    read: BTreeSet<Sym>,
    written: BTreeSet<Sym>,
    /// Something else may be written.
    deep: bool,
}

impl Used {
    fn join(&mut self, other: &Used) -> bool {
        let before = (self.read.len(), self.written.len(), self.deep);
        self.read.extend(&other.read);
        self.written.extend(&other.written);
        self.deep |= other.deep;
        before != (self.read.len(), self.written.len(), self.deep)
    }
}

/// The values that are an argument itself, by value.
fn arguments(facts: &Facts) -> Map<Var, u16> {
    let params = facts.ops.iter().filter_map(|fact| match fact.op {
        Op::Param { dst, number } => Some((dst, number)),
        _ => None,
    });
    params.collect()
}

/// Makes the plan of a program from verdicts on it.
pub fn plan(calls: &Calls<'_>, library: &dyn Library, outcome: &Outcome) -> Plan {
    let program = calls.program();
    let contracts = Contracts::new(program, any_field(program), true);
    let solver = Solver::new(calls, &outcome.facts, library, &contracts, true);
    let asked = Asked {
        program,
        calls,
        library,
        contracts: &contracts,
        facts: &outcome.facts,
        solver: &solver,
    };
    let runs = Runs::new(&asked);
    let known = Known {
        outcome,
        solver: &solver,
        used: used(program, calls, outcome),
        lost: lost::lost(&asked, &runs),
        statics: statics(program, calls, outcome, &runs),
    };
    let own = (0..program.classes.len() as u32).map(ClassId);
    let own = own.filter(|&class| !program.class(class).library && !program.class(class).missing);
    let mut classes: Vec<Class> = own
        .map(|class| class_plan(program, &known, class))
        .collect();
    classes.sort_by(|one, other| one.name.cmp(&other.name));
    Plan {
        made_by: format!("hindsight {}", crate::VERSION),
        classes,
    }
}

/// What is known of methods, by their numbers.
struct Known<'o> {
    outcome: &'o Outcome,
    solver: &'o Solver<'o>,
    used: Vec<Vec<Used>>,
    lost: Vec<Vec<Sym>>,
    statics: Vec<Option<BTreeSet<Sym>>>,
}

fn class_plan(program: &Program, known: &Known<'_>, class: ClassId) -> Class {
    let outcome = known.outcome;
    let mut methods = Vec::new();
    for number in program.class(class).methods.clone() {
        let id = MethodId(number);
        let facts = &outcome.facts[number as usize];
        if !facts.present || facts.unknown.is_some() {
            continue;
        }
        let (name, descriptor) = program.signature(id);
        let params = facts
            .followed
            .iter()
            .enumerate()
            .filter(|(_, followed)| **followed);
        let parameters = params.map(|(param, _)| {
            let immutable = outcome
                .answers
                .verdict(outcome.answers.place(id, param as u16))
                == Verdict::Immutable;
            let used = &known.used[number as usize][param];
            let declared = known.solver.declared(id, param as u16);
            let mut lost: BTreeSet<Sym> = match immutable {
                true => BTreeSet::new(),
                false => used.read.intersection(&used.written).copied().collect(),
            };
            let of_it = (known.lost[number as usize].iter()).filter(|&&field| {
                match (declared, lost::declaring(program, field)) {
                    (Some(own), Some(above)) => program.is_subtype(own, above),
                    _ => true,
                }
            });
            lost.extend(of_it);
            let too_many = lost.len() > MAX_FIELDS;
            let immutable = immutable && lost.is_empty();
            let fields = (lost.into_iter())
                .filter(|_| !too_many)
                .map(|field| named(program, field));
            let mut fields: Vec<Field> = fields.collect();
            fields.sort();
            Parameter {
                index: param as u16,
                immutable,
                deep: !immutable && (used.deep || too_many),
                fields,
            }
        });
        methods.push(Method {
            parameters: parameters.collect(),
            statics: known.statics[number as usize].as_ref().map(|fields| {
                let mut fields: Vec<Field> =
                    fields.iter().map(|&field| named(program, field)).collect();
                fields.sort();
                fields
            }),
            cannot_throw: !facts.throws,
            trivial: !facts.throws && facts.loops_from == facts.ops.len() && !facts.loops,
            name,
            descriptor,
        });
    }
    Class {
        name: program.names.text(program.class(class).name),
        crc: program.file_crc(class),
        methods,
    }
}

fn named(program: &Program, field: Sym) -> Field {
    let text = program.names.text(field);
    let (class, name) = text.rsplit_once('.').unwrap_or(("", &text));
    Field {
        class: class.to_owned(),
        name: name.to_owned(),
    }
}

/// The static fields of the program that each method, or what it calls, may read; nothing if they are
/// many. So do initialisers of the classes that it uses, as long as these are few: one that has failed,
/// now or before, may have failed because of them.
///
/// So does what the library calls back, by the same measure: of a set that is too large the rest stays.
fn statics(
    program: &Program,
    calls: &Calls<'_>,
    outcome: &Outcome,
    runs: &Runs,
) -> Vec<Option<BTreeSet<Sym>>> {
    let own: BTreeSet<String> = program
        .classes
        .iter()
        .filter(|class| !class.library && !class.missing)
        .map(|class| program.names.text(class.name))
        .collect();
    let is_own = |field: Sym| {
        let text = program.names.text(field);
        text.rsplit_once('.')
            .is_some_and(|(class, _)| own.contains(class))
    };
    let initialiser = program.names.find(b"<clinit>()V");
    let mut statics = Vec::with_capacity(outcome.facts.len());
    let mut callers: Map<u32, Vec<u32>> = Map::default();
    let mut users: Map<u32, Vec<u32>> = Map::default();
    for (number, facts) in outcome.facts.iter().enumerate() {
        let mut read = BTreeSet::new();
        for fact in &facts.ops {
            let run = initialiser.map(|name| initialisers(program, calls, name, &fact.op));
            for run in run.into_iter().flatten() {
                if run.0 != number as u32 {
                    users.entry(run.0).or_default().push(number as u32);
                }
            }
            let site = match &fact.op {
                Op::LoadStatic { field, .. } => {
                    if is_own(*field) {
                        read.insert(*field);
                    }
                    continue;
                }
                Op::Call { site, .. } => *site,
                Op::Lambda(lambda) => lambda.site,
                _ => continue,
            };
            for &callee in &calls.targets(site).methods {
                callers.entry(callee.0).or_default().push(number as u32);
            }
        }
        statics.push((read.len() <= MAX_STATICS).then_some(read));
    }
    let mut all = statics.clone();
    passed_on(&mut statics, &mut callers);
    for (initialiser, users) in users {
        // What it reads of its own class it has written before.
        if let Some(Some(read)) = all.get_mut(initialiser as usize) {
            let class = program.class(program.method(MethodId(initialiser)).class);
            let prefix = format!("{}.", program.names.text(class.name));
            read.retain(|field| !program.names.text(*field).starts_with(&prefix));
        }
        callers.entry(initialiser).or_default().extend(users);
    }
    passed_on(&mut all, &mut callers);
    widen(&mut statics, &all);
    for (all, known) in all.iter_mut().zip(&statics) {
        if all.is_none() {
            all.clone_from(known);
        }
    }
    all.resize(runs.next.len(), Some(BTreeSet::new()));
    for (next, node) in runs.next.iter().zip(0..) {
        for &to in next {
            callers.entry(to).or_default().push(node);
        }
    }
    passed_on(&mut all, &mut callers);
    widen(&mut statics, &all);
    statics
}

/// Adds what is known by more, where that is not too much.
fn widen(statics: &mut [Option<BTreeSet<Sym>>], by: &[Option<BTreeSet<Sym>>]) {
    for (known, more) in statics.iter_mut().zip(by) {
        if let (Some(known), Some(more)) = (known, more)
            && known.union(more).count() <= MAX_STATICS
        {
            known.extend(more);
        }
    }
}

/// Adds to what methods read what those that they call read.
fn passed_on(statics: &mut [Option<BTreeSet<Sym>>], callers: &mut Map<u32, Vec<u32>>) {
    for callers in callers.values_mut() {
        callers.sort_unstable();
        callers.dedup();
    }
    let mut due: BTreeSet<u32> = callers.keys().copied().collect();
    while let Some(callee) = due.pop_first() {
        // By itself the JDK reads no field of the program.
        let Some(read) = statics.get(callee as usize).cloned() else {
            continue;
        };
        for &caller in callers.get(&callee).into_iter().flatten() {
            let Some(known) = &mut statics[caller as usize] else {
                continue;
            };
            let before = known.len();
            let too_many = match &read {
                Some(read) => {
                    known.extend(read);
                    known.len() > MAX_STATICS
                }
                None => true,
            };
            let changed = too_many || known.len() != before;
            if too_many {
                statics[caller as usize] = None;
            }
            if changed && callers.contains_key(&caller) {
                due.insert(caller);
            }
        }
    }
}

/// The initialisers of the program that an operation may run first (JVMS 5.5): those of its class and of
/// what that extends.
fn initialisers(program: &Program, calls: &Calls<'_>, signature: Sym, op: &Op) -> Vec<MethodId> {
    let of_call = |site| {
        let resolved = program.method(calls.targets(site).resolved?);
        resolved.is(access::STATIC).then_some(resolved.class)
    };
    let class = match op {
        Op::LoadStatic { field, .. } | Op::StoreStatic { field, .. } => {
            let field = program.names.bytes(*field);
            let dot = field.iter().rposition(|&byte| byte == b'.');
            dot.and_then(|dot| program.find(program.names.find(&field[..dot])?))
        }
        Op::New { class, .. } => *class,
        Op::Lambda(lambda) if lambda.makes => Some(lambda.site.owner),
        Op::Lambda(lambda) => of_call(lambda.site),
        Op::Call { site, .. } => of_call(*site),
        _ => None,
    };
    let classes = std::iter::successors(class, |&class| program.class(class).superclass);
    let own = classes.filter(|&class| !program.class(class).library);
    own.filter_map(|class| program.declared(class, signature))
        .collect()
}

/// What each method, and where it passes its arguments on, reads and writes.
fn used(program: &Program, calls: &Calls<'_>, outcome: &Outcome) -> Vec<Vec<Used>> {
    let mut used: Vec<Vec<Used>> = Vec::with_capacity(outcome.facts.len());
    // Arguments that are passed on: callee and parameter, caller and parameter.
    let mut passed: Map<u32, Vec<(u16, u32, u16)>> = Map::default();
    for (number, facts) in outcome.facts.iter().enumerate() {
        let mut own = vec![Used::default(); facts.followed.len()];
        let arguments = arguments(facts);
        let of = |var: Var| {
            if var == NONE {
                None
            } else {
                arguments.get(&var).copied()
            }
        };
        for fact in &facts.ops {
            match &fact.op {
                Op::Load { base, field, .. } => {
                    if let Some(param) = of(*base) {
                        own[usize::from(param)].read.insert(*field);
                    }
                }
                Op::Store { base, field, .. } => {
                    if let Some(param) = of(*base) {
                        own[usize::from(param)].written.insert(*field);
                    }
                }
                Op::Call { site, args, .. } => {
                    for (place, &arg) in args.iter().enumerate() {
                        let Some(param) = of(arg) else { continue };
                        for &callee in &calls.targets(*site).methods {
                            let to = passed.entry(callee.0).or_default();
                            to.push((place as u16, number as u32, param));
                        }
                    }
                }
                _ => {}
            }
        }
        // What is written below the object itself, or by who knows what.
        let summary = outcome.summaries.get(number).and_then(Option::as_ref);
        for (param, used) in own.iter_mut().enumerate() {
            used.deep = match summary {
                Some(summary) => summary.writes.iter().any(|write| {
                    let node = write.node >> 1;
                    let itself = summary.nodes[node as usize] == Node::Param(param as u16)
                        && write.node & 1 == 0;
                    summary.param(node) == Some(param as u16) && !itself
                }),
                None => true,
            };
        }
        used.push(own);
    }
    let mut due: BTreeSet<u32> = passed.keys().copied().collect();
    while let Some(callee) = due.pop_first() {
        let library = program
            .class(program.method(MethodId(callee)).class)
            .library;
        for &(place, caller, param) in passed.get(&callee).into_iter().flatten() {
            let found = used[callee as usize].get(usize::from(place)).cloned();
            // The JDK's bodies are not at hand.
            let found = found.unwrap_or(Used {
                deep: library,
                ..Used::default()
            });
            if used[caller as usize][usize::from(param)].join(&found)
                && passed.contains_key(&caller)
            {
                due.insert(caller);
            }
        }
    }
    used
}
