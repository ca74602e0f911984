//! Running a pipeline.

use super::answers::{Answers, Heuristics, Leaf, Reason, Stage, Verdict};
use super::constructors::that_keep_nothing;
use super::contracts::Contracts;
use super::effects::solve::{Library, NoLibrary, Solver, any_field};
use super::effects::world::World;
use super::effects::{Cause, Summary, Write};
use super::facts::{Facts, Op};
use super::library::from_verdicts;
use super::points::{Local, local};
use super::propagate::{Input, propagate};
use super::random::{Inputs, MethodName};
use super::recorded::Code;
use super::recorded::apply::{Found, Recorded};
use super::signatures::Signatures;
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program};
use anyhow::Result;
use hindsight_classfile::access;
use rayon::prelude::*;
use std::sync::Arc;

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Stages in order.
    pub stages: Vec<Stage>,
    /// Whether an immutable parameter must be proved, contracts of the JDK not
    /// being a proof.
    pub sound: bool,
    /// Whether only classes that are instantiated count (rapid type analysis).
    pub instances: bool,
    /// Whether changes count that are made when the method has returned, by way
    /// of where it has kept its parameter.
    pub transitive: bool,
    /// What recorded runs have shown, for stages D and X, and what counts.
    pub recorded: Recorded,
}

/// What was found.
pub struct Outcome {
    /// Verdicts.
    pub answers: Answers,
    /// Facts by method, for reasons.
    pub facts: Vec<Facts>,
    /// Summaries by method, if stage S' ran.
    pub summaries: Vec<Option<Arc<Summary>>>,
    /// Parameters that are proved to be immutable, and were seen to be changed:
    /// each is a mistake of this program. Only where proofs are asked for.
    pub contradictions: Vec<(MethodId, u16, Reason)>,
    /// Classes that runs have shown in another version.
    pub others: Vec<String>,
    /// What all runs have shown, those with random inputs too.
    pub recorded: Recorded,
    /// What implements the methods that have no body.
    pub implementations: Map<MethodId, Implementations>,
}

/// What runs where a method without a body is called.
#[derive(Debug, Default)]
pub struct Implementations {
    /// Methods, bodies of lambdas too; of those of the library with what is known of them.
    pub methods: Vec<(MethodId, Option<Purity>)>,
    /// Whether others may run as well, as a class is missing.
    pub open: bool,
}

/// Reads the facts of all methods of the classes that `wanted` takes.
pub fn read_facts(
    program: &Program,
    wanted: impl Fn(ClassId) -> bool + Sync,
    step: &(dyn Fn(usize) + Sync),
) -> Vec<Facts> {
    let mut facts: Vec<Facts> = vec![Facts::default(); program.methods.len()];
    let classes: Vec<ClassId> = (0..program.classes.len() as u32)
        .map(ClassId)
        .filter(|&class| wanted(class))
        .collect();
    let read: Vec<Vec<Facts>> = classes
        .par_iter()
        .map(|&class| {
            let methods = program.class(class).methods.clone();
            let found = match program.file(class) {
                Some(file) => methods
                    .map(|method| Facts::read(program, &file, MethodId(method)))
                    .collect(),
                None => Vec::new(),
            };
            step(1);
            found
        })
        .collect();
    for (class, found) in classes.into_iter().zip(read) {
        let first = program.class(class).methods.start as usize;
        for (at, one) in found.into_iter().enumerate() {
            facts[first + at] = one;
        }
    }
    facts
}

fn read_locals(program: &Program, facts: &[Facts], sound: bool) -> Vec<Local> {
    let harmless = match sound {
        true => that_keep_nothing(program, facts),
        false => Set::default(),
    };
    let keeps = |site: Site| {
        let called = program.resolve(site.owner, site.signature);
        called.is_none_or(|method| !harmless.contains(&method))
    };
    let keeps: &(dyn Fn(Site) -> bool + Sync) = &keeps;
    (facts.par_iter())
        .map(|facts| local(facts, sound.then_some(keeps as &dyn Fn(Site) -> bool)))
        .collect()
}

/// Classes that some body makes instances of, and those that hide how they are
/// made: lambdas' interfaces need no instances, enums and the like make
/// themselves.
fn instances(program: &Program, facts: &[Facts]) -> Set<ClassId> {
    let mut made = Set::default();
    for fact in facts.iter().flat_map(|facts| &facts.ops) {
        if let Op::New {
            class: Some(class), ..
        } = fact.op
        {
            made.insert(class);
        }
    }
    // What the JDK makes is not looked at here.
    made.extend(
        (0..program.classes.len() as u32)
            .map(ClassId)
            .filter(|&class| program.class(class).library),
    );
    made
}

/// Classifies the parameters of the JDK's own methods.
/// With each parameter comes what may be called by way of it, for proofs.
pub fn run_library(program: &Program, facts: &[Facts], sound: bool) -> (Answers, Vec<Signatures>) {
    let calls = Calls::by_hierarchy(program);
    let contracts = Contracts::new(program, any_field(program), sound);
    let callbacks = Signatures::default();
    linear(
        &calls, &contracts, facts, &NoLibrary, sound, true, callbacks,
    )
}

/// Verdicts by `S-P` or, where heuristics are welcome, `SH-P`: both take time in
/// proportion to the code.
fn linear(
    calls: &Calls<'_>,
    contracts: &Contracts,
    facts: &[Facts],
    library: &dyn Library,
    sound: bool,
    of_library: bool,
    overridden: Signatures,
) -> (Answers, Vec<Signatures>) {
    let mut answers = Answers::new(calls.program(), of_library);
    grant(calls.program(), facts, &mut answers);
    let locals = read_locals(calls.program(), facts, sound);
    let stage = if sound { Stage::S } else { Stage::Sh };
    apply_local(facts, &locals, stage, &mut answers);
    let solver = Solver::new(calls, facts, library, contracts, sound);
    let input = Input {
        calls,
        facts,
        locals: &locals,
        siblings: sound,
        leaf: &|method, param| leaf(library, contracts, overridden, method, param),
        promised: &|site| promised(calls, contracts, site),
        lambdas: &|site| solver.lambdas_of(site),
    };
    let given = propagate(&input, &mut answers, of_library && sound);
    (answers, given)
}

/// What the program overrides of the library in a way that may change things; for
/// proofs only.
fn overridden(
    calls: &Calls<'_>,
    contracts: &Contracts,
    facts: &[Facts],
    library: &dyn Library,
    sound: bool,
) -> Signatures {
    if !sound {
        return Signatures::default();
    }
    // What is immutable whatever is called back.
    let (verdicts, _) = linear(
        calls,
        contracts,
        facts,
        library,
        true,
        false,
        Signatures::ALL,
    );
    let solver = Solver::new(calls, facts, library, contracts, true);
    solver.overridden(&verdicts)
}

/// Runs a pipeline over a program. Stages with random inputs have them made by
/// `inputs`; without, they do nothing.
///
/// # Errors
///
/// Fails if `inputs` does.
pub fn run(
    program: &Program,
    library: &dyn Library,
    plan: &Plan,
    mut inputs: Option<&mut dyn Inputs>,
    step: &(dyn Fn(usize) + Sync),
) -> Result<Outcome> {
    let facts = read_facts(program, |class| !program.class(class).library, step);
    let calls = match plan.instances {
        true => Calls::by_instances(program, instances(program, &facts)),
        false => Calls::by_hierarchy(program),
    };
    let contracts = Contracts::new(program, any_field(program), plan.sound);
    let mut answers = Answers::new(program, false);
    grant(program, &facts, &mut answers);
    let mut recorded = plan.recorded.clone();
    // What the stages that prove say by themselves.
    let has_runs = !recorded.evidence.classes.is_empty() || inputs.is_some();
    let mut proofs = (plan.sound && has_runs).then(|| {
        let mut proofs = Answers::new(program, false);
        grant(program, &facts, &mut proofs);
        proofs
    });
    let overridden = overridden(&calls, &contracts, &facts, library, plan.sound);
    let mut locals: Option<Vec<Local>> = None;
    let mut summaries = Vec::new();
    let mut siblings = None;
    let solver = Solver::new(&calls, &facts, library, &contracts, plan.sound);
    let along = |locals: &mut Option<Vec<Local>>, siblings: bool, answers: &mut Answers| {
        let leaf =
            |method: MethodId, param: u16| leaf(library, &contracts, overridden, method, param);
        let promised = |site: Site| promised(&calls, &contracts, site);
        let lambdas = |site: Site| solver.lambdas_of(site);
        let input = Input {
            calls: &calls,
            facts: &facts,
            locals: locals.get_or_insert_with(|| read_locals(program, &facts, plan.sound)),
            siblings,
            leaf: &leaf,
            promised: &promised,
            lambdas: &lambdas,
        };
        propagate(&input, answers, false);
    };
    let judge = |stage: Stage, recorded: &Recorded, answers: &mut Answers| {
        let found = Found::new(program, &recorded.evidence);
        match stage {
            Stage::D(with) => found.apply_reached(&calls, &facts, recorded, with, answers),
            _ => found.apply_exact(stage, plan.transitive, answers),
        }
    };
    let mut went_along = false;
    for &stage in &plan.stages {
        match stage {
            Stage::S | Stage::Sh => {
                siblings = Some(stage == Stage::S);
                let locals = locals.get_or_insert_with(|| read_locals(program, &facts, plan.sound));
                for answers in proofs.iter_mut().chain([&mut answers]) {
                    apply_local(&facts, locals, stage, answers);
                }
            }
            Stage::P => {
                went_along = true;
                for answers in proofs.iter_mut().chain([&mut answers]) {
                    along(&mut locals, siblings.unwrap_or(true), answers);
                }
            }
            Stage::X | Stage::D(Heuristics { random: false, .. }) => {
                judge(stage, &recorded, &mut answers);
            }
            Stage::R | Stage::D(_) => {
                let Some(inputs) = inputs.as_mut() else {
                    continue;
                };
                let stand_ins = inputs.stand_ins();
                let code = Code {
                    program,
                    facts: &facts,
                    calls: &calls,
                    solver: &solver,
                    stand_ins: &stand_ins,
                };
                loop {
                    let (unknown, before) = (undecided(program, &answers), answers.unknown());
                    let Some(seen) = inputs.run(&unknown, &code, plan.transitive)? else {
                        break;
                    };
                    recorded.evidence.merge(seen);
                    judge(stage, &recorded, &mut answers);
                    if went_along {
                        along(&mut locals, siblings.unwrap_or(true), &mut answers);
                    }
                    let decided = before - answers.unknown();
                    if decided == 0 || u64::from(decided) * 100 < u64::from(before) {
                        break;
                    }
                }
            }
            Stage::Flow => {
                if summaries.is_empty() {
                    let sound = plan.sound;
                    let (verdicts, _) = linear(
                        &calls, &contracts, &facts, library, sound, false, overridden,
                    );
                    let solver = Solver::new(&calls, &facts, library, &contracts, sound)
                        .with_verdicts(&verdicts)
                        .with_overridden(overridden)
                        .with_reach();
                    let any = any_field(program);
                    let locals = locals.get_or_insert_with(|| read_locals(program, &facts, sound));
                    let fallback = |method: MethodId| {
                        // What a call might make an alias of a parameter is
                        // written: that is not known to be the parameter's.
                        let sure = &locals[method.0 as usize].sure;
                        let store = |param| sure.iter().find(|write| write.0 == param);
                        let verdict = |param| match verdicts.verdict(verdicts.place(method, param))
                        {
                            Verdict::Mutable if store(param).is_none() => Verdict::Unknown,
                            verdict => verdict,
                        };
                        let mut summary = from_verdicts(program, method, verdict, any);
                        // Nobody knows what else it does.
                        summary.writes_outside = true;
                        for at in 0..summary.writes.len() {
                            let param = summary.param(summary.writes[at].node >> 1);
                            let store = param.and_then(store);
                            summary.writes[at].cause =
                                store.map_or(Cause::TooLarge, |write| Cause::Store(write.1));
                        }
                        summary
                    };
                    summaries = solver.solve(&fallback, step);
                }
                for answers in proofs.iter_mut().chain([&mut answers]) {
                    apply_summaries(program, &facts, &summaries, library, answers);
                }
            }
        }
    }
    if plan.transitive {
        for answers in proofs.iter_mut().chain([&mut answers]) {
            withdraw_escaping(&facts, &summaries, answers);
        }
    }
    join_implementations(program, &solver, &mut answers);
    let implementations = implementations(program, &calls, &solver);
    let mut contradictions = Vec::new();
    let found = Found::new(program, &recorded.evidence);
    if let Some(proofs) = &proofs {
        for (place, reason) in found.exact(proofs, plan.transitive) {
            if proofs.verdict(place) == Verdict::Immutable {
                let (method, param) = proofs.param(place);
                contradictions.push((method, param, reason));
            }
        }
    }
    let others = found.others;
    Ok(Outcome {
        answers,
        facts,
        summaries,
        contradictions,
        others,
        recorded,
        implementations,
    })
}

/// The call that runs what implements a method without a body.
fn site_of(program: &Program, id: MethodId) -> Site {
    let method = program.method(id);
    Site {
        owner: method.class,
        signature: method.signature,
        dispatch: Dispatch::Virtual,
    }
}

/// What implements the program's methods without a body.
fn implementations(
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

/// Methods with parameters of which nothing is known, that have a body.
fn undecided(program: &Program, answers: &Answers) -> Vec<MethodName> {
    let places = 0..answers.count();
    let unknown = places.filter(|&place| answers.verdict(place) == Verdict::Unknown);
    let mut methods: Vec<MethodId> = unknown.map(|place| answers.param(place).0).collect();
    methods.dedup();
    let names = methods.into_iter().map(|id| {
        let method = program.method(id);
        let class = program.names.text(program.class(method.class).name);
        let signature = program.names.text(method.signature);
        let open = signature.find('(').unwrap_or(signature.len());
        let (name, descriptor) = signature.split_at(open);
        (
            class.replace('/', "."),
            name.to_owned(),
            descriptor.to_owned(),
        )
    });
    names.collect()
}

/// What a method without a body may do is what those do that implement it.
fn join_implementations(program: &Program, solver: &Solver<'_>, answers: &mut Answers) {
    for place in 0..answers.count() {
        if *answers.reason(place) != Reason::Abstract {
            continue;
        }
        let (id, param) = answers.param(place);
        let site = site_of(program, id);
        let found = solver.verdicts_of(answers, site, param);
        answers.withdraw(place, Reason::Abstract);
        let Some(found) = found else {
            answers.explain(place, Reason::Missing { site });
            continue;
        };
        let first = |wanted: Verdict| found.iter().find(|found| found.2 == wanted);
        let reason = |&(method, param, _): &(MethodId, u16, Verdict)| Reason::Implementation {
            method,
            param,
        };
        let decided_by = |found: &(MethodId, u16, Verdict), answers: &Answers| {
            let own = answers.place_of(found.0, found.1);
            own.and_then(|place| answers.stage(place))
        };
        if let Some(found) = first(Verdict::Mutable) {
            let stage = decided_by(found, answers).unwrap_or(Stage::P);
            answers.decide(place, Verdict::Mutable, stage, reason(found));
        } else if let Some(found) = first(Verdict::Unknown) {
            answers.explain(place, reason(found));
        } else if let Some(one) = found.first() {
            let stage = decided_by(one, answers).unwrap_or(Stage::P);
            let reason = match found.len() {
                1 => reason(one),
                count => Reason::Implementations {
                    count: count as u32,
                },
            };
            answers.decide(place, Verdict::Immutable, stage, reason);
        }
    }
}

/// What leaves a method by other ways than calls may be changed later.
fn withdraw_escaping(facts: &[Facts], summaries: &[Option<Arc<Summary>>], answers: &mut Answers) {
    for place in 0..answers.count() {
        let (method, param) = answers.param(place);
        let followed = &facts[method.0 as usize].followed;
        let proved = matches!(answers.reason(place), Reason::Trivial | Reason::Abstract);
        if answers.verdict(place) != Verdict::Immutable
            || proved
            || followed.get(usize::from(param)) != Some(&true)
        {
            continue;
        }
        let summary = summaries.get(method.0 as usize).and_then(Option::as_ref);
        if summary.is_none_or(|summary| summary.lets_escape(param)) {
            answers.withdraw(place, Reason::Escapes);
        }
    }
}

/// Decides what needs no analysis.
fn grant(program: &Program, facts: &[Facts], answers: &mut Answers) {
    for place in 0..answers.count() {
        let (method, param) = answers.param(place);
        let facts = &facts[method.0 as usize];
        if facts.followed.get(usize::from(param)) == Some(&false) {
            answers.grant(place, Reason::Trivial);
        } else if program.method(method).is(access::ABSTRACT) {
            answers.grant(place, Reason::Abstract);
        }
    }
}

fn apply_local(facts: &[Facts], locals: &[Local], stage: Stage, answers: &mut Answers) {
    for (number, (facts, local)) in facts.iter().zip(locals).enumerate() {
        let method = MethodId(number as u32);
        if !answers.has(method) || facts.unknown.is_some() {
            continue;
        }
        for &(param, op) in &local.writes {
            answers.decide(
                answers.place(method, param),
                Verdict::Mutable,
                stage,
                Reason::Store { op },
            );
        }
        let params =
            (0..facts.followed.len() as u16).filter(|&param| facts.followed[usize::from(param)]);
        let places: Vec<u32> = params.map(|param| answers.place(method, param)).collect();
        let leaks = |answers: &Answers, place: u32| {
            let param = answers.param(place).1;
            local.leaks.iter().any(|leak| leak.0 == param)
        };
        let clean = |answers: &Answers, place: u32| {
            answers.verdict(place) == Verdict::Unknown && !leaks(answers, place)
        };
        let all = places
            .iter()
            .all(|&place| answers.verdict(place) == Verdict::Immutable || clean(answers, place));
        for &place in &places {
            if clean(answers, place) && (all || stage == Stage::Sh) {
                answers.decide(place, Verdict::Immutable, stage, Reason::NoWrite);
            }
        }
    }
}

fn apply_summaries(
    program: &Program,
    facts: &[Facts],
    summaries: &[Option<Arc<Summary>>],
    of_library: &dyn Library,
    answers: &mut Answers,
) {
    for place in 0..answers.count() {
        let (method, param) = answers.param(place);
        let facts = &facts[method.0 as usize];
        if facts.unknown.is_some() || !facts.present {
            answers.explain(place, Reason::NoBody);
            continue;
        }
        let Some(Some(summary)) = summaries.get(method.0 as usize) else {
            continue;
        };
        match summary.write_of(param) {
            None => answers.decide(place, Verdict::Immutable, Stage::Flow, Reason::Unwritten),
            Some((_, write)) => {
                let reason = reason_of(
                    program,
                    summaries,
                    of_library,
                    write.cause,
                    write.node & 1 == 1,
                );
                if write.node & 1 == 0 {
                    answers.decide(place, Verdict::Mutable, Stage::Flow, reason);
                } else {
                    answers.explain(place, reason);
                }
            }
        }
    }
}

fn reason_of(
    program: &Program,
    summaries: &[Option<Arc<Summary>>],
    of_library: &dyn Library,
    cause: Cause,
    weak: bool,
) -> Reason {
    match cause {
        Cause::Store(op) => Reason::Store { op },
        Cause::Known(op) => Reason::Known { op },
        Cause::Unknown(op) => Reason::UnknownCall { op },
        Cause::NoBody => Reason::NoBody,
        Cause::TooLarge => Reason::TooLarge,
        Cause::Call(op, method, write) => {
            let library = program.class(program.method(method).class).library;
            let known = match library {
                true => of_library.summary(method),
                false => summaries.get(method.0 as usize).cloned().flatten(),
            };
            let param = known
                .and_then(|summary| summary.param(summary.writes.get(write as usize)?.node >> 1));
            let param = param.unwrap_or(0);
            match library && weak {
                true => Reason::Library { method, param },
                false => Reason::Call { op, method, param },
            }
        }
    }
}

/// What is known of a parameter of a method of the JDK.
fn leaf(
    library: &dyn Library,
    contracts: &Contracts,
    overridden: Signatures,
    method: MethodId,
    param: u16,
) -> Leaf {
    let known = contracts
        .find(method)
        .cloned()
        .or_else(|| library.summary(method));
    match known {
        None => Leaf::Unknown(method, param),
        Some(summary) => match from_summary(&summary, method, param) {
            Leaf::Immutable if library.calls_back(method).meets(&overridden) => {
                Leaf::Unknown(method, param)
            }
            leaf => leaf,
        },
    }
}

/// What a method of the JDK is promised to do with its arguments, by their
/// places.
fn promised(calls: &Calls<'_>, contracts: &Contracts, site: Site) -> Option<Vec<Leaf>> {
    let resolved = calls.targets(site).resolved?;
    let summary = contracts.promise(resolved)?;
    Some(
        (0..8)
            .map(|param| from_summary(summary, resolved, param))
            .collect(),
    )
}

fn from_summary(summary: &Summary, method: MethodId, param: u16) -> Leaf {
    match summary.write_of(param) {
        None => Leaf::Immutable,
        Some((_, write)) if write.node & 1 == 0 => Leaf::Mutable(method, param),
        Some(_) => Leaf::Unknown(method, param),
    }
}

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
