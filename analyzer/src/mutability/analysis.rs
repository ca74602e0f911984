//! Running a pipeline.
//!
//! - `running` is a pipeline while it runs, stage by stage.

mod running;

use running::{Known, Running};

use super::answers::{Answers, Heuristics, Leaf, Reason, Stage, Verdict};
use super::constructors::that_keep_nothing;
use super::contracts::Contracts;
use super::effects::solve::{Library, NoLibrary, Solver, any_field};
use super::effects::{Cause, Summary};
use super::facts::{Facts, Op};
use super::points::{Local, local};
use super::propagate::{Input, propagate};
use super::purity::{Implementations, implementations, site_of};
use super::random::{Failed, Inputs, MethodName};
use super::recorded::apply::{Found, Recorded};
use super::signatures::Signatures;
use crate::program::calls::{Calls, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program};
use hindsight_classfile::access;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// What a pipeline is to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The stages, in order.
    pub stages: Vec<Stage>,
    /// Whether a parameter must be proved to be immutable. Contracts of the JDK are not a proof.
    pub sound: bool,
    /// Whether only classes that are instantiated count (rapid type analysis).
    pub instances: bool,
    /// Whether changes count that are made after the method has returned, through a place where it
    /// has kept its parameter.
    pub transitive: bool,
    /// What recorded runs have shown, for stages D and X, and the thresholds for using it.
    pub recorded: Recorded,
}

/// The result of a pipeline.
pub struct Outcome {
    /// The verdicts.
    pub answers: Answers,
    /// The facts by method, for reasons.
    pub facts: Vec<Facts>,
    /// The summaries by method, if stage S' ran.
    pub summaries: Vec<Option<Arc<Summary>>>,
    /// Parameters that are proved to be immutable and were seen to be changed: each is an error of
    /// this analyzer. Only filled where proofs are asked for.
    pub contradictions: Vec<(MethodId, u16, Reason)>,
    /// The classes that runs have shown in another version.
    pub others: Vec<String>,
    /// What all runs have shown, including those with random inputs.
    pub recorded: Recorded,
    /// The implementations of the methods that have no body.
    pub implementations: Map<MethodId, Implementations>,
}

/// Reads the facts of all methods of the classes that `wanted` accepts.
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

/// The classes that some body instantiates, and those whose instantiation is hidden: interfaces of
/// lambdas need no instances, enums and the like make their own.
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
    // Instantiations within the JDK are not examined here.
    made.extend(
        (0..program.classes.len() as u32)
            .map(ClassId)
            .filter(|&class| program.class(class).library),
    );
    made
}

/// Whether some body makes implementations of interfaces that have no class file.
fn makes_proxies(program: &Program, facts: &[Facts]) -> bool {
    let makes = |site: &Site| {
        let owner = program.names.bytes(program.class(site.owner).name);
        let signature = program.names.bytes(site.signature);
        match &*owner {
            b"java/lang/reflect/Proxy" => signature.starts_with(b"newProxyInstance("),
            b"java/lang/invoke/MethodHandleProxies" => true,
            _ => false,
        }
    };
    let mut ops = facts.iter().flat_map(|facts| &facts.ops);
    ops.any(|fact| matches!(&fact.op, Op::Call { site, .. } if makes(site)))
}

/// The methods that calls may run, as far as a pipeline needs to know them.
pub fn calls<'p>(program: &'p Program, facts: &[Facts], plan: &Plan) -> Calls<'p> {
    let calls = match plan.instances {
        true => Calls::by_instances(program, instances(program, facts)),
        false => Calls::by_hierarchy(program),
    };
    match plan.sound && makes_proxies(program, facts) {
        true => calls.with_proxies(),
        false => calls,
    }
}

/// Classifies the parameters of the JDK's own methods. For each parameter, the signatures that may
/// be called through it are returned as well, for proofs.
pub fn run_library(program: &Program, facts: &[Facts], sound: bool) -> (Answers, Vec<Signatures>) {
    let calls = Calls::by_hierarchy(program);
    let contracts = Contracts::new(program, any_field(program), sound);
    let callbacks = Signatures::default();
    linear(
        &calls, &contracts, facts, &NoLibrary, sound, true, callbacks,
    )
}

/// Verdicts by `S-P` or, where heuristics are allowed, by `SH-P`: both take time in proportion to
/// the code.
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
        // For the JDK's own methods, the program's implementations are examined later, when they
        // are known.
        unimplemented: &|site| !of_library && solver.is_unimplemented(site),
        lambdas: &|site| solver.lambdas_of(site),
    };
    let given = propagate(&input, &mut answers, of_library && sound);
    (answers, given)
}

/// The signatures of the library that the program overrides in a way that may change something; for
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
    // These are immutable whatever is called back.
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

/// Runs a pipeline over a program. `inputs` executes methods for the stages with random inputs;
/// without it, these stages do nothing.
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
) -> Result<Outcome, Failed> {
    let facts = read_facts(program, |class| !program.class(class).library, step);
    let calls = calls(program, &facts, plan);
    let contracts = Contracts::new(program, any_field(program), plan.sound);
    let mut answers = Answers::new(program, false);
    grant(program, &facts, &mut answers);
    let recorded = plan.recorded.clone();
    // The verdicts of the proving stages alone.
    let has_runs = !recorded.evidence.classes.is_empty() || inputs.is_some();
    let proofs = (plan.sound && has_runs).then(|| {
        let mut proofs = Answers::new(program, false);
        grant(program, &facts, &mut proofs);
        proofs
    });
    let solver = Solver::new(&calls, &facts, library, &contracts, plan.sound);
    let mut running = Running {
        known: Known {
            program,
            library,
            plan,
            facts: &facts,
            calls: &calls,
            contracts: &contracts,
            solver: &solver,
            overridden: overridden(&calls, &contracts, &facts, library, plan.sound),
            locals: OnceLock::new(),
        },
        answers,
        proofs,
        recorded,
        summaries: Vec::new(),
        siblings: None,
        went_along: false,
    };
    for &stage in &plan.stages {
        match stage {
            Stage::S | Stage::Sh => running.look(stage),
            Stage::P => running.go_along(),
            Stage::X | Stage::D(Heuristics { random: false, .. }) => running.judge(stage),
            Stage::R | Stage::D(_) => {
                if let Some(inputs) = inputs.as_deref_mut() {
                    running.execute(stage, inputs)?;
                }
            }
            Stage::Flow => running.follow(step),
        }
    }
    let Running {
        mut answers,
        mut proofs,
        recorded,
        summaries,
        ..
    } = running;
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

/// Methods that have a body and a parameter that is unknown.
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

/// Decides the parameters of methods without a body: such a method may do what its implementations
/// do.
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

/// Withdraws the verdicts on parameters that escape from a method other than by calls, since they
/// may be changed later.
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

/// Decides parameters that need no analysis.
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
            // A static field may keep it, and other code may change it there.
            Leaf::Immutable if contracts.is_proof() && summary.keeps(param) => {
                Leaf::Unknown(method, param)
            }
            leaf => leaf,
        },
    }
}

/// What a method of the JDK promises to do with its arguments, by their places.
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
