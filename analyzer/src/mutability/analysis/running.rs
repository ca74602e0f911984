//! A pipeline while it runs, stage by stage.

use super::super::answers::{Answers, Stage, Verdict};
use super::super::contracts::Contracts;
use super::super::effects::solve::{Library, Solver, any_field};
use super::super::effects::{Cause, Summary};
use super::super::facts::Facts;
use super::super::library::from_verdicts;
use super::super::points::Local;
use super::super::propagate::{Input, propagate};
use super::super::random::{Failed, Inputs};
use super::super::recorded::Code;
use super::super::recorded::apply::{Found, Recorded};
use super::super::signatures::Signatures;
use super::{Plan, apply_local, apply_summaries, leaf, linear, promised, read_locals, undecided};
use crate::program::calls::{Calls, Site};
use crate::program::{MethodId, Program};
use std::sync::{Arc, OnceLock};

/// What all stages share.
pub(super) struct Known<'r> {
    pub(super) program: &'r Program,
    pub(super) library: &'r dyn Library,
    pub(super) plan: &'r Plan,
    pub(super) facts: &'r [Facts],
    pub(super) calls: &'r Calls<'r>,
    pub(super) contracts: &'r Contracts,
    pub(super) solver: &'r Solver<'r>,
    pub(super) overridden: Signatures,
    /// The effects of each body alone, once a stage has asked for them.
    pub(super) locals: OnceLock<Vec<Local>>,
}

impl Known<'_> {
    fn locals(&self) -> &[Local] {
        let read = || read_locals(self.program, self.facts, self.plan.sound);
        self.locals.get_or_init(read)
    }

    fn go_along(&self, siblings: bool, answers: &mut Answers) {
        let (library, contracts) = (self.library, self.contracts);
        let leaf = |method, param| leaf(library, contracts, self.overridden, method, param);
        let promised = |site: Site| promised(self.calls, contracts, site);
        let unimplemented = |site: Site| self.solver.is_unimplemented(site);
        let lambdas = |site: Site| self.solver.lambdas_of(site);
        let input = Input {
            calls: self.calls,
            facts: self.facts,
            locals: self.locals(),
            siblings,
            leaf: &leaf,
            promised: &promised,
            unimplemented: &unimplemented,
            lambdas: &lambdas,
        };
        propagate(&input, answers, false);
    }

    fn judge(&self, stage: Stage, recorded: &Recorded, answers: &mut Answers) {
        let found = Found::new(self.program, &recorded.evidence);
        match stage {
            Stage::D(with) => found.apply_reached(self.calls, self.facts, recorded, with, answers),
            _ => found.apply_exact(stage, self.plan.transitive, answers),
        }
    }

    fn summaries(&self, step: &(dyn Fn(usize) + Sync)) -> Vec<Option<Arc<Summary>>> {
        let sound = self.plan.sound;
        let (verdicts, _) = linear(
            self.calls,
            self.contracts,
            self.facts,
            self.library,
            sound,
            false,
            self.overridden,
        );
        let solver = Solver::new(self.calls, self.facts, self.library, self.contracts, sound)
            .with_verdicts(&verdicts)
            .with_overridden(self.overridden)
            .with_quiet()
            .with_reach();
        let any = any_field(self.program);
        let quiet = solver.quiet();
        let locals = self.locals();
        let fallback = |method: MethodId| {
            // This write is of an object that is an alias of the parameter only if a call makes
            // aliases, so it is not certain.
            let sure = &locals[method.0 as usize].sure;
            let store = |param| sure.iter().find(|write| write.0 == param);
            let verdict = |param| match verdicts.verdict(verdicts.place(method, param)) {
                Verdict::Mutable if store(param).is_none() => Verdict::Unknown,
                verdict => verdict,
            };
            let mut summary = from_verdicts(self.program, method, verdict, any);
            // It is not known what else the method does.
            summary.writes_outside = true;
            if sound {
                summary.writes_kept = !quiet.has(method);
                summary.add_ways(any, !quiet.of(method).closed);
            }
            for at in 0..summary.writes.len() {
                let param = summary.param(summary.writes[at].node >> 1);
                let store = param.and_then(store);
                summary.writes[at].cause =
                    store.map_or(Cause::TooLarge, |write| Cause::Store(write.1));
            }
            summary
        };
        solver.solve(&fallback, step)
    }
}

/// A pipeline while it runs, with the results of its stages so far.
pub(super) struct Running<'r> {
    pub(super) known: Known<'r>,
    pub(super) answers: Answers,
    /// The verdicts of the proving stages alone, if runs give verdicts as well.
    pub(super) proofs: Option<Answers>,
    pub(super) recorded: Recorded,
    /// The summaries of stage S', if it ran.
    pub(super) summaries: Vec<Option<Arc<Summary>>>,
    /// The setting of `siblings` in the last stage that examined bodies alone; true if it was S,
    /// false if SH.
    pub(super) siblings: Option<bool>,
    /// Whether stage P ran.
    pub(super) went_along: bool,
}

impl Running<'_> {
    /// Runs stage S or SH.
    pub(super) fn look(&mut self, stage: Stage) {
        self.siblings = Some(stage == Stage::S);
        let known = &self.known;
        for answers in self.proofs.iter_mut().chain([&mut self.answers]) {
            apply_local(known.facts, known.locals(), stage, answers);
        }
    }

    /// Runs stage P.
    pub(super) fn go_along(&mut self) {
        self.went_along = true;
        let siblings = self.siblings.unwrap_or(true);
        for answers in self.proofs.iter_mut().chain([&mut self.answers]) {
            self.known.go_along(siblings, answers);
        }
    }

    /// Runs stage X or D on what was recorded before.
    pub(super) fn judge(&mut self, stage: Stage) {
        (self.known).judge(stage, &self.recorded, &mut self.answers);
    }

    /// Runs stage R, or D with random inputs, as long as that decides something.
    pub(super) fn execute(&mut self, stage: Stage, inputs: &mut dyn Inputs) -> Result<(), Failed> {
        let stand_ins = inputs.stand_ins();
        let code = Code {
            program: self.known.program,
            facts: self.known.facts,
            calls: self.known.calls,
            solver: self.known.solver,
            stand_ins: &stand_ins,
        };
        let transitive = self.known.plan.transitive;
        loop {
            let unknown = undecided(code.program, &self.answers);
            let before = self.answers.unknown();
            let Some(seen) = inputs.run(&unknown, &code, transitive)? else {
                return Ok(());
            };
            self.recorded.evidence.merge(seen);
            self.judge(stage);
            if self.went_along {
                let siblings = self.siblings.unwrap_or(true);
                self.known.go_along(siblings, &mut self.answers);
            }
            let decided = before - self.answers.unknown();
            if decided == 0 || u64::from(decided) * 100 < u64::from(before) {
                return Ok(());
            }
        }
    }

    /// Runs stage S'.
    pub(super) fn follow(&mut self, step: &(dyn Fn(usize) + Sync)) {
        if self.summaries.is_empty() {
            self.summaries = self.known.summaries(step);
        }
        let known = &self.known;
        for answers in self.proofs.iter_mut().chain([&mut self.answers]) {
            apply_summaries(
                known.program,
                known.facts,
                &self.summaries,
                known.library,
                answers,
            );
        }
    }
}
