//! What the agent should copy, and what it need not: the content of `hindsight plan`.
//!
//! A parameter that a method does not change may be kept by reference. For other parameters, those
//! fields matter that are both read and written, in the method or in those to which it passes the
//! same reference: their values at entry are lost when an exception is seen. The same holds for
//! fields that the body names and that may be written through any other reference, since an object
//! may have several; only of such fields does the agent leave out those that are not listed. The
//! plan also says whether more than that may be lost.
//!
//! - `runs` finds which methods each method may run; `graph` propagates facts along such a graph.
//! - `used` finds what methods do to the objects of their parameters, `lost` the named fields whose
//!   values at entry may be lost; both use `fields`, which are read and written.
//! - `statics` finds the static fields that methods read.

mod fields;
mod graph;
mod lost;
mod runs;
mod statics;
mod used;

use crate::mutability::analysis::Outcome;
use crate::mutability::answers::Verdict;
use crate::mutability::contracts::Contracts;
use crate::mutability::effects::solve::{Library, Solver, any_field};
use crate::mutability::facts::Op;
use crate::program::calls::Calls;
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::access;
use hindsight_tracelog::plan::{Class, Field, Method, OpenField, Parameter, Plan};
use runs::{Asked, Runs};
use statics::Read;

pub use statics::MAX_STATICS;
use std::collections::BTreeSet;
use used::Used;

/// The most fields that are listed for a parameter; with more, it counts as deep.
const MAX_FIELDS: usize = 64;

/// Makes the plan of a program from the verdicts on it.
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
        used: used::used(calls, outcome),
        lost: lost::lost(&asked, &runs),
        statics: statics::statics(&asked, &runs),
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
    statics: Vec<Read>,
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
                false => used.both.iter().copied().collect(),
            };
            let of_it = (known.lost[number as usize].iter()).filter(|&&field| {
                match (declared, fields::declaring(program, field)) {
                    (Some(own), Some(above)) => program.is_subtype(own, above),
                    _ => true,
                }
            });
            lost.extend(of_it);
            let too_many = lost.len() > MAX_FIELDS;
            let immutable = immutable && lost.is_empty();
            let open = (lost.iter())
                .filter(|_| !too_many)
                .filter_map(|&field| fields::open(program, field, class, declared?));
            let mut open: Vec<OpenField> = open.collect();
            open.sort();
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
                open,
            }
        });
        methods.push(Method {
            parameters: parameters.collect(),
            statics: (known.statics[number as usize].fields()).map(|fields| {
                let mut fields: Vec<Field> = fields.map(|field| named(program, field)).collect();
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

/// The program's class initializers that an operation may run first (JVMS 5.5): those of its class
/// and of its superclasses.
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
