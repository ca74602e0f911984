//! Makes verdicts of what runs have shown.

use super::bodies::class_sha256;
use super::evidence::{Evidence, MethodEvidence, ParamEvidence};
use crate::mutability::answers::{Answers, Heuristics, Reason, Stage, Verdict};
use crate::mutability::facts::{Facts, Op};
use crate::program::calls::Calls;
use crate::program::{MethodId, Program};
use std::collections::BTreeMap;

/// Evidence, and the thresholds from which on its absence counts.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// What was seen.
    pub evidence: Evidence,
    /// Heuristic A: the least number of calls of a method.
    pub calls: u64,
    /// Heuristic A: the least share, from 0 to 1, of what a method can be seen to do that must have
    /// been seen.
    pub coverage: f64,
}

/// The evidence of the methods of a program.
pub struct Found<'e> {
    methods: BTreeMap<MethodId, Vec<&'e MethodEvidence>>,
    /// The classes of which runs have shown another version.
    pub others: Vec<String>,
}

impl<'e> Found<'e> {
    /// Finds the methods. What was seen of another version of a class does not count.
    pub fn new(program: &Program, evidence: &'e Evidence) -> Found<'e> {
        let mut found = Found {
            methods: BTreeMap::new(),
            others: Vec::new(),
        };
        for ((class, sha256), methods) in &evidence.classes {
            let name = class.replace('.', "/");
            let name = program.names.find(name.as_bytes());
            let Some(id) = name.and_then(|name| program.find(name)) else {
                continue;
            };
            if program.class(id).missing || program.class(id).library {
                continue;
            }
            if !sha256.is_empty() && class_sha256(program, id) != *sha256 {
                found.others.push(class.clone());
                continue;
            }
            for ((name, descriptor), seen) in methods {
                let signature = program.names.find(format!("{name}{descriptor}").as_bytes());
                let method = signature.and_then(|signature| program.declared(id, signature));
                if let Some(method) = method {
                    found.methods.entry(method).or_default().push(seen);
                }
            }
        }
        found
    }

    fn params(&self) -> impl Iterator<Item = (MethodId, u16, &'e ParamEvidence)> + '_ {
        self.methods.iter().flat_map(|(&method, seen)| {
            let seen = seen.iter().flat_map(|seen| &seen.params);
            seen.map(move |(&param, found)| (method, param, found))
        })
    }

    /// The parameters that were seen to be changed by the exact semantics, with the reasons.
    pub fn exact(&self, answers: &Answers, transitive: bool) -> Vec<(u32, Reason)> {
        let seen = self.params().filter_map(|(method, param, found)| {
            let later = found.later.as_ref().filter(|_| transitive);
            let witness = found.exact.as_ref().or(later)?;
            let place = place(answers, method, param)?;
            Some((place, Reason::Seen(Box::new(witness.clone()))))
        });
        seen.collect()
    }

    /// Applies stage X, or R, which uses the same semantics.
    pub fn apply_exact(&self, stage: Stage, transitive: bool, answers: &mut Answers) {
        for (place, reason) in self.exact(answers, transitive) {
            answers.decide(place, Verdict::Mutable, stage, reason);
        }
    }

    /// Applies stage D.
    pub fn apply_reached(
        &self,
        calls: &Calls<'_>,
        facts: &[Facts],
        recorded: &Recorded,
        with: Heuristics,
        answers: &mut Answers,
    ) {
        let stage = Stage::D(with);
        for (method, param, found) in self.params() {
            let aliased = found.aliased.as_ref().filter(|_| with.aliased);
            if let Some(witness) = found.reached.as_ref().or(aliased)
                && let Some(place) = place(answers, method, param)
            {
                let reason = Reason::Seen(Box::new(witness.clone()));
                answers.decide(place, Verdict::Mutable, stage, reason);
            }
        }
        if with.bound {
            self.apply_bound(calls.program(), stage, answers);
        }
        if with.absence {
            self.apply_absence(calls, facts, recorded, stage, answers);
        }
    }

    /// Decides that a parameter is mutable if its object was passed to a mutable parameter (B).
    fn apply_bound(&self, program: &Program, stage: Stage, answers: &mut Answers) {
        let mut givers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (method, param, found) in self.params() {
            let Some(from) = place(answers, method, param) else {
                continue;
            };
            for (class, name, descriptor, param) in &found.passed {
                let to = find(program, class, &format!("{name}{descriptor}"));
                if let Some(to) = to.and_then(|method| place(answers, method, *param)) {
                    givers.entry(to).or_default().push(from);
                }
            }
        }
        let mutable = |answers: &Answers, place: u32| answers.verdict(place) == Verdict::Mutable;
        let mut due: Vec<u32> = givers.keys().copied().collect();
        due.retain(|&to| mutable(answers, to));
        while let Some(to) = due.pop() {
            let (method, param) = answers.param(to);
            for &from in givers.get(&to).into_iter().flatten() {
                if answers.verdict(from) == Verdict::Unknown {
                    answers.decide(
                        from,
                        Verdict::Mutable,
                        stage,
                        Reason::Bound { method, param },
                    );
                    due.push(from);
                }
            }
        }
    }

    /// Decides that a parameter is immutable if it was never seen to be changed, by calls that did
    /// most of what the method does (A).
    fn apply_absence(
        &self,
        calls: &Calls<'_>,
        facts: &[Facts],
        recorded: &Recorded,
        stage: Stage,
        answers: &mut Answers,
    ) {
        for (&method, seen) in &self.methods {
            let count = (seen.iter()).fold(0u64, |all, seen| all.saturating_add(seen.calls));
            let facts = &facts[method.0 as usize];
            if count < recorded.calls.max(1) || !facts.present || facts.unknown.is_some() {
                continue;
            }
            let share = coverage(calls, facts, seen);
            if share < recorded.coverage {
                continue;
            }
            for param in 0..facts.followed.len() as u16 {
                let changed = seen.iter().filter_map(|seen| seen.params.get(&param));
                let mut changed = changed.filter(|found| {
                    found.aliased.is_some() || found.exact.is_some() || found.later.is_some()
                });
                if let (None, Some(place)) = (changed.next(), place(answers, method, param)) {
                    let reason = Reason::Covered {
                        calls: count,
                        percent: (100.0 * share) as u8,
                    };
                    answers.decide(place, Verdict::Immutable, stage, reason);
                }
            }
        }
    }
}

fn place(answers: &Answers, method: MethodId, param: u16) -> Option<u32> {
    answers
        .has(method)
        .then(|| answers.place_if(method, param))
        .flatten()
}

fn find(program: &Program, class: &str, signature: &str) -> Option<MethodId> {
    let class = program.names.find(class.replace('.', "/").as_bytes())?;
    let signature = program.names.find(signature.as_bytes())?;
    program.declared(program.find(class)?, signature)
}

/// The share of what a body can be seen to do that was seen: writes, calls of the program's own
/// methods, and reads if any were recorded. Branches are not recorded.
fn coverage(calls: &Calls<'_>, facts: &Facts, seen: &[&MethodEvidence]) -> f64 {
    let program = calls.program();
    let was_seen = |pc: u16| seen.iter().any(|seen| seen.seen.contains(&pc));
    let is_load = |op: &Op| matches!(op, Op::Load { .. });
    let reads = facts
        .ops
        .iter()
        .any(|fact| is_load(&fact.op) && was_seen(fact.pc));
    let own = |method: &MethodId| !program.class(program.method(*method).class).library;
    let shown = facts.ops.iter().filter(|fact| match &fact.op {
        Op::Store { .. } | Op::StoreStatic { .. } => true,
        Op::Load { .. } => reads,
        Op::Call { site, .. } => calls.targets(*site).methods.iter().any(own),
        _ => false,
    });
    let (mut all, mut covered) = (0u32, 0u32);
    for fact in shown {
        all += 1;
        covered += u32::from(was_seen(fact.pc));
    }
    match all {
        0 => 1.0,
        all => f64::from(covered) / f64::from(all),
    }
}
