//! What a call may run.

use super::quiet::Quiet;
use super::{MANY_TARGETS, SHARDS, Solver};
use crate::mutability::answers::{Answers, Verdict};
use crate::mutability::effects::Summary;
use crate::mutability::effects::reach::Maker;
use crate::mutability::effects::world::{Target, World};
use crate::mutability::library::from_verdicts;
use crate::program::MethodId;
use crate::program::calls::{Dispatch, Site};
use crate::program::names::Set;
use hindsight_classfile::access;
use std::sync::{Arc, PoisonError};

/// What a call site runs, found once.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) targets: Arc<Vec<Target>>,
    /// The methods among the targets that are summarized here, including those that lambdas run.
    pub(super) own: Arc<Vec<u32>>,
    /// The lambdas that are not among the targets yet.
    pub(super) lambdas: Arc<Vec<Maker>>,
}

/// The combined verdict on two methods.
fn worse(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Mutable, _) | (_, Verdict::Mutable) => Verdict::Mutable,
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => Verdict::Unknown,
        _ => Verdict::Immutable,
    }
}

impl Solver<'_> {
    /// What a call site runs: what is promised for the library's methods, and the program's own
    /// methods; without a promise, all methods.
    pub(super) fn site(&self, site: Site) -> Run {
        let shard = &self.sites[(site.signature.0 ^ site.owner.0) as usize % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&site) {
            return known.clone();
        }
        let found = self.calls.targets(site);
        let promised = found
            .resolved
            .and_then(|method| self.contracts.promise(method));
        let reads = |name: &[u8]| {
            let signature = self.program.names.bytes(site.signature);
            signature.starts_with(name)
        };
        let promised = match self.reordered.contains(&site.owner)
            && (reads(b"get(") || reads(b"getOrDefault("))
        {
            true => promised.map(|_| &self.reorders),
            false => promised,
        };
        let mut targets: Vec<Target> = promised.cloned().map(Target::Known).into_iter().collect();
        let mut own = Set::default();
        for &method in &found.methods {
            let library = self
                .program
                .class(self.program.method(method).class)
                .library;
            if library && promised.is_some() {
                continue;
            }
            match self.contracts.find(method) {
                Some(known) => targets.push(Target::Known(known.clone())),
                None => targets.push(Target::Method(method)),
            }
            if self.is_own(method) {
                own.insert(method.0);
            }
        }
        let mut lambdas = self.lambdas_of(site);
        if self.reach.is_none() {
            for lambda in std::mem::take(&mut lambdas) {
                self.add_lambda(site, lambda, &mut targets, &mut own);
            }
        }
        if found.open || promised.is_none() && self.is_unimplemented(site) {
            targets.push(Target::Unknown);
        }
        let run = self.together(site, targets, own, lambdas);
        lock().insert(site, run.clone());
        run
    }

    pub(super) fn add_lambda(
        &self,
        site: Site,
        (maker, op): Maker,
        targets: &mut Vec<Target>,
        own: &mut Set<u32>,
    ) {
        targets.push(Target::Lambda(maker, op));
        if let Some(lambda) = self.lambda(maker, op).filter(|lambda| lambda.site != site) {
            let methods = &self.calls.targets(lambda.site).methods;
            own.extend(methods.iter().filter(|&&m| self.is_own(m)).map(|m| m.0));
            // The call of the lambda runs these initializers, whatever the method that makes the
            // lambda has run.
            let first = self.initializers(lambda.site).into_iter().flatten();
            own.extend(first.map(|m| m.0));
        }
    }

    /// Replaces many targets by one with their combined verdicts.
    pub(super) fn together(
        &self,
        site: Site,
        mut targets: Vec<Target>,
        mut own: Set<u32>,
        lambdas: Vec<Maker>,
    ) -> Run {
        if targets.len() > MANY_TARGETS
            && let (Some(verdicts), Some(method)) =
                (self.verdicts, self.calls.targets(site).resolved)
        {
            let verdict = |param| {
                let all = targets
                    .iter()
                    .map(|target| self.verdict(verdicts, target, param));
                all.fold(Verdict::Immutable, worse)
            };
            let mut joined = from_verdicts(self.program, method, verdict, self.any);
            if self.sound {
                let quiet: Vec<Quiet> = targets.iter().map(|one| self.quiet_of(one)).collect();
                joined.add_ways(self.any, !quiet.iter().all(|quiet| quiet.closed));
                joined.writes_kept = !quiet.iter().all(|quiet| quiet.is_any());
                joined.writes_outside = joined.writes_kept;
            }
            targets = vec![Target::Known(Arc::new(joined))];
            own.clear();
        }
        let mut own: Vec<u32> = own.into_iter().collect();
        own.sort_unstable();
        Run {
            targets: Arc::new(targets),
            own: Arc::new(own),
            lambdas: Arc::new(lambdas),
        }
    }

    /// What one particular call runs: of the lambdas, only those that reach it.
    pub(super) fn site_at(&self, site: Site, at: Option<(MethodId, u32)>) -> Run {
        let run = self.site(site);
        let (Some(reach), false) = (&self.reach, run.lambdas.is_empty()) else {
            return run;
        };
        let gets_there =
            |lambda: &&Maker| at.is_none_or(|(method, op)| reach.has(method, op, **lambda));
        let lambdas: Vec<Maker> = run.lambdas.iter().filter(gets_there).copied().collect();
        if lambdas.is_empty() {
            return run;
        }
        let lock = || self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (site, lambdas);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let mut targets = run.targets.to_vec();
        let mut own: Set<u32> = run.own.iter().copied().collect();
        for &lambda in &key.1 {
            self.add_lambda(site, lambda, &mut targets, &mut own);
        }
        let run = self.together(site, targets, own, Vec::new());
        lock().insert(key, run.clone());
        run
    }

    /// The verdicts on what the methods that a call may run do with an argument. For a lambda, its
    /// method and that method's parameter are named. `None` if other methods may run as well.
    pub fn verdicts_of(
        &self,
        verdicts: &Answers,
        site: Site,
        param: u16,
    ) -> Option<Vec<(MethodId, u16, Verdict)>> {
        let found = self.calls.targets(site);
        if found.open {
            return None;
        }
        let mut all: Vec<_> = found
            .methods
            .iter()
            .map(|&method| {
                let verdict = self.verdict(verdicts, &Target::Method(method), param);
                (method, param, verdict)
            })
            .collect();
        for (maker, op) in self.lambdas_of(site) {
            let lambda = self.lambda(maker, op)?;
            let verdict = self.verdict(verdicts, &Target::Lambda(maker, op), param);
            let before = lambda.captured.len() as u16 + u16::from(lambda.makes);
            let own = match param {
                0 => u16::from(lambda.makes),
                param => before + param - 1,
            };
            let targets = self.calls.targets(lambda.site);
            all.push((*targets.methods.first()?, own, verdict));
        }
        Some(all)
    }

    /// The verdict on what a target does with an argument.
    pub(super) fn verdict(&self, verdicts: &Answers, target: &Target, param: u16) -> Verdict {
        let of_summary = |summary: &Summary| match summary.write_of(param) {
            None => Verdict::Immutable,
            Some((_, write)) if write.node & 1 == 0 => Verdict::Mutable,
            Some(_) => Verdict::Unknown,
        };
        match target {
            Target::Known(summary) => of_summary(summary),
            Target::Method(method) if verdicts.has(*method) => {
                let place = verdicts.place_if(*method, param);
                place.map_or(Verdict::Unknown, |place| verdicts.verdict(place))
            }
            Target::Method(method) => of_summary(&self.library_summary(*method)),
            Target::Lambda(method, op) => {
                let Some(lambda) = self.lambda(*method, *op) else {
                    return Verdict::Unknown;
                };
                let first = u16::from(lambda.makes);
                let captured = first + lambda.captured.len() as u16;
                let params = match param {
                    0 => first..captured,
                    param => captured + param - 1..captured + param,
                };
                let mut all = Verdict::Immutable;
                for &method in &self.calls.targets(lambda.site).methods {
                    let target = match self.contracts.find(method) {
                        Some(known) => Target::Known(known.clone()),
                        None => Target::Method(method),
                    };
                    for param in params.clone() {
                        all = worse(all, self.verdict(verdicts, &target, param));
                    }
                }
                all
            }
            Target::Unknown => Verdict::Unknown,
        }
    }

    /// Whether a call names a method without a body of which no implementation is known, so that it
    /// is not known what runs. Implementations of annotations are made by the JVM.
    pub fn is_unimplemented(&self, site: Site) -> bool {
        let program = self.program;
        let targets = self.calls.targets(site);
        let is_abstract = targets.resolved.is_some_and(|method| {
            let method = program.method(method);
            let of_annotation = program.class(method.class).access & access::ANNOTATION != 0;
            method.is(access::ABSTRACT) && !of_annotation
        });
        // A class that is never instantiated is known as well.
        let is_whole = |class| program.class(class).access & access::ABSTRACT == 0;
        is_abstract
            && site.dispatch == Dispatch::Virtual
            && targets.methods.is_empty()
            && !program.subtypes(site.owner).into_iter().any(is_whole)
            && self.lambdas_of(site).is_empty()
    }

    /// The lambdas that a call may run: the method and the operation that make each.
    pub fn lambdas_of(&self, site: Site) -> Vec<(MethodId, u32)> {
        if self.lambdas.is_empty() || site.dispatch == Dispatch::Exact {
            return Vec::new();
        }
        let owner = self.program.class(site.owner);
        if owner.access & access::INTERFACE == 0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for interface in self.program.subtypes(site.owner) {
            for &(method, op) in self.lambdas.get(&interface).into_iter().flatten() {
                if let Some(lambda) = self.lambda(method, op)
                    && self.answers(lambda, site)
                {
                    found.push((method, op));
                }
            }
        }
        found
    }
}
