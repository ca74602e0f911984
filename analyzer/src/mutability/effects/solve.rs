//! Summaries of all methods. Callees come first; methods that call each other are repeated until
//! nothing changes.
//!
//! - `sites` finds what a call may run; `world` answers what a body asks of the rest of the
//!   program.
//! - `types` is what declared types say of objects and of what is reachable from them.
//! - `called_back` finds what the library may call of the program.
//! - `held` finds what fields hold, `initial` which class initializers run, `quiet` methods that
//!   change nothing reachable from static fields.

mod called_back;
mod held;
mod initial;
mod quiet;
mod sites;
#[cfg(test)]
mod tests;
mod types;
mod world;

pub use called_back::Callback;

use super::Summary;
use super::circles;
use super::method::summarize;
use super::reach::{Maker, Reach};
use super::world::World;
use crate::mutability::answers::{Answers, Verdict};
use crate::mutability::contracts::Contracts;
use crate::mutability::facts::{Facts, Op};
use crate::mutability::library::from_verdicts;
use crate::mutability::signatures::Signatures;
use crate::program::calls::{Calls, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};
use initial::Initial;
use quiet::QuietMethods;
use rayon::prelude::*;
use sites::Run;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// How often a method of a circle is summarized with all details; from then on it is summarized
/// coarsely, so that there is an end soon.
const MAX_TIMES: u32 = 8;
/// The number of times after which a method's earlier results are kept as well. Where a summary
/// becomes too large and is made coarse, it may say less of something than the one before, and two
/// summaries could alternate forever.
const JOINED_FROM: u32 = 20;
/// The number of times after which a method is given up, which is the end in any case.
const GIVEN_UP_AT: u32 = 48;

/// Where summaries of methods without facts come from.
pub trait Library: Sync {
    /// The summary of a method of the JDK.
    fn summary(&self, method: MethodId) -> Option<Arc<Summary>>;
    /// The signatures that a program may override and that the method may call through arguments
    /// that it does not change.
    fn calls_back(&self, _: MethodId) -> Signatures {
        Signatures::default()
    }
    /// The signatures that a program may override and that the method may call through any
    /// argument.
    fn runs(&self, _: MethodId) -> Signatures {
        Signatures::default()
    }
}

/// No summaries: nothing is known of the JDK.
pub struct NoLibrary;

impl Library for NoLibrary {
    fn summary(&self, _: MethodId) -> Option<Arc<Summary>> {
        None
    }
}

/// The summaries that are being computed.
pub struct Solver<'p> {
    program: &'p Program,
    calls: &'p Calls<'p>,
    facts: &'p [Facts],
    library: &'p dyn Library,
    contracts: &'p Contracts,
    sound: bool,
    verdicts: Option<&'p Answers>,
    overridden: Signatures,
    quiet: Arc<QuietMethods>,
    summaries: Vec<RwLock<Option<Arc<Summary>>>>,
    sites: Vec<Mutex<Map<Site, Run>>>,
    unknown: Mutex<Map<MethodId, Arc<Summary>>>,
    /// Lambdas by the interface that they implement.
    lambdas: Map<ClassId, Vec<(MethodId, u32)>>,
    /// Interfaces that some lambda implements.
    lambda_types: Set<ClassId>,
    callbacks: Mutex<Map<ClassId, Callbacks>>,
    initial: Initial,
    any: Sym,
    captured: Vec<Sym>,
    /// The program's classes of maps that reorder their entries on reading; the next field is the
    /// effect of reading them.
    reordered: Set<ClassId>,
    reorders: Arc<Summary>,
    /// The fields that hold such maps; the next field says whether there are any.
    reordered_fields: Set<Sym>,
    has_reordered: bool,
    linked: Option<ClassId>,
    /// For each field that only holds objects made in the method that stores them, the classes of
    /// these objects.
    held: Map<Sym, Vec<ClassId>>,
    /// Where lambdas go, if that is to be followed.
    reach: Option<Reach>,
    chosen: Mutex<Map<(Site, Vec<Maker>), Run>>,
    /// Whether two classes have objects in common, as far as that was asked.
    common: Mutex<Map<(ClassId, ClassId), bool>>,
    /// What is reachable from the objects of a class, as far as that was asked; `None` if that may
    /// be anything.
    below: Mutex<Map<ClassId, Option<Arc<types::Below>>>>,
}

/// Methods, each with the number of its arguments.
type Callbacks = Arc<Vec<(MethodId, usize)>>;

const SHARDS: usize = 16;
/// A call that may run more methods than this is judged by their verdicts.
const MANY_TARGETS: usize = 6;

/// The size of a circle above which repeating until nothing changes would take too long.
const LARGE: usize = 100;

/// The field that stands for all fields.
pub fn any_field(program: &Program) -> Sym {
    program.names.intern(b"*")
}

impl<'p> Solver<'p> {
    /// Prepares to summarize all methods that have facts.
    pub fn new(
        calls: &'p Calls<'p>,
        facts: &'p [Facts],
        library: &'p dyn Library,
        contracts: &'p Contracts,
        sound: bool,
    ) -> Solver<'p> {
        let program = calls.program();
        let mut lambdas: Map<ClassId, Vec<(MethodId, u32)>> = Map::default();
        let mut reordered = Set::default();
        let linked = (program.names.find(b"java/util/LinkedHashMap"))
            .and_then(|name| program.find(name))
            .filter(|_| !contracts.is_proof());
        let by_access = program.names.find(b"<init>(IFZ)V");
        let mut has_reordered = false;
        for (method, facts) in facts.iter().enumerate() {
            let class = program.method(MethodId(method as u32)).class;
            for (at, fact) in facts.ops.iter().enumerate() {
                if let (Op::Call { site, .. }, Some(linked)) = (&fact.op, linked)
                    && site.owner == linked
                    && Some(site.signature) == by_access
                {
                    has_reordered = true;
                    if program.is_subtype(class, linked) {
                        reordered.extend(program.subtypes(class));
                    }
                }
                if let Op::Lambda(lambda) = &fact.op
                    && let Some(interface) = lambda.interface
                {
                    lambdas
                        .entry(interface)
                        .or_default()
                        .push((MethodId(method as u32), at as u32));
                }
            }
        }
        let mut lambda_types = Set::default();
        let mut above: Vec<ClassId> = lambdas.keys().copied().collect();
        while let Some(interface) = above.pop() {
            if lambda_types.insert(interface) {
                above.extend(program.class(interface).interfaces.iter());
            }
        }
        Solver {
            program,
            calls,
            facts,
            library,
            contracts,
            sound,
            verdicts: None,
            overridden: Signatures::default(),
            quiet: Arc::default(),
            summaries: (0..program.methods.len())
                .map(|_| RwLock::default())
                .collect(),
            sites: (0..SHARDS).map(|_| Mutex::default()).collect(),
            unknown: Mutex::default(),
            lambdas,
            lambda_types,
            callbacks: Mutex::default(),
            initial: match sound {
                true => Initial::new(program, facts),
                false => Initial::default(),
            },
            any: any_field(program),
            reordered,
            reordered_fields: Set::default(),
            has_reordered,
            linked,
            held: Map::default(),
            reach: None,
            chosen: Mutex::default(),
            common: Mutex::default(),
            below: Mutex::default(),
            reorders: Arc::new(Contracts::step(
                any_field(program),
                program.names.intern(Facts::ELEMENT.as_bytes()),
            )),
            captured: (0..8)
                .map(|n| program.names.intern(format!("captured {n}").as_bytes()))
                .collect(),
        }
    }

    /// Uses verdicts for calls that may run many methods: examining each of them at every such call
    /// would take too long.
    pub fn with_verdicts(self, verdicts: &'p Answers) -> Solver<'p> {
        Solver {
            verdicts: Some(verdicts),
            ..self
        }
    }

    /// Finds out which methods change nothing reachable from static fields, for proofs.
    pub fn with_quiet(mut self) -> Self {
        if let Some(verdicts) = self.verdicts.filter(|_| self.sound) {
            self.quiet = Arc::new(self.find_quiet(verdicts));
            // Summaries that were made before do not take this into account.
            self.unknown = Mutex::default();
        }
        self
    }

    /// The methods that change nothing reachable from static fields.
    pub fn quiet(&self) -> Arc<QuietMethods> {
        self.quiet.clone()
    }

    /// Finds out what fields hold, and where lambdas go; the latter is not a proof.
    pub fn with_reach(mut self) -> Self {
        self.held = self.what_fields_hold();
        if self.sound {
            return self;
        }
        let is_called_back = |method: MethodId| {
            let class = self.program.method(method).class;
            let found = self.callbacks(class);
            found.iter().any(|callback| callback.0 == method)
        };
        let lambdas_of = |site: Site| self.lambdas_of(site);
        let reach = match self.lambdas.is_empty() {
            true => Reach::default(),
            false => Reach::new(self.calls, self.facts, &lambdas_of, &is_called_back),
        };
        self.reach = Some(reach);
        if self.has_reordered {
            self.reordered_fields = self.fields_that_reorder();
        }
        self
    }

    /// Takes into account what the library may call back.
    pub fn with_overridden(self, overridden: Signatures) -> Solver<'p> {
        Solver { overridden, ..self }
    }

    /// Whether a method's body is among those to be summarized.
    fn is_own(&self, method: MethodId) -> bool {
        self.facts
            .get(method.0 as usize)
            .is_some_and(|facts| facts.present)
    }

    /// The summary of a method of the library.
    pub fn known(&self, method: MethodId) -> Arc<Summary> {
        let known = self.contracts.find(method).cloned();
        known.unwrap_or_else(|| self.library_summary(method))
    }

    fn library_summary(&self, method: MethodId) -> Arc<Summary> {
        let mut summary = self.summary_of_verdicts(method);
        if self.contracts.changes_outside(method) {
            Arc::make_mut(&mut summary).writes_outside = true;
        }
        summary
    }

    fn summary_of_verdicts(&self, method: MethodId) -> Arc<Summary> {
        let known = self.library.summary(method);
        let is_changed = self.library.calls_back(method).meets(&self.overridden);
        let is_noisy = self.library.runs(method).meets(&self.quiet.noisy);
        if let Some(known) = &known
            && !is_changed
            && !is_noisy
        {
            return known.clone();
        }
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let made = unknown.entry(method).or_insert_with(|| {
            if let Some(known) = known {
                if !is_changed {
                    let mut noisy = Summary::clone(&known);
                    noisy.writes_kept = true;
                    noisy.writes_outside = true;
                    return Arc::new(noisy);
                }
                // What it calls back may change it.
                let verdict = |param| match known.write_of(param) {
                    Some((_, write)) if write.node & 1 == 0 => Verdict::Mutable,
                    _ => Verdict::Unknown,
                };
                let mut changed = from_verdicts(self.program, method, verdict, self.any);
                changed.writes_kept = is_noisy;
                changed.writes_outside = is_noisy;
                return Arc::new(changed);
            }
            let params = crate::mutability::answers::param_count(self.program, method);
            let mut unknown = Summary::unknown(&vec![true; params.into()]);
            if self.sound {
                unknown.add_ways(self.any, true);
            }
            Arc::new(unknown)
        });
        made.clone()
    }

    /// The methods that a method's calls may run, each once; they must be summarized first.
    fn callees(&self, method: usize) -> Vec<u32> {
        let mut callees = Set::default();
        let id = MethodId(method as u32);
        let mut first = Vec::new();
        for (fact, at) in self.facts[method].ops.iter().zip(0..) {
            match &fact.op {
                Op::Call { site, .. } => {
                    callees.extend(self.site_at(*site, Some((id, at))).own.iter());
                    first.extend(self.before_call(id, *site));
                }
                Op::Lambda(lambda) => {
                    callees.extend(self.site_at(lambda.site, None).own.iter());
                    first.extend(self.before_call(id, lambda.site));
                    let interface = lambda.interface.into_iter();
                    let called_back = interface.flat_map(|of| self.callbacks(of).to_vec());
                    callees.extend(called_back.map(|(method, _)| method.0));
                }
                Op::LoadStatic { field, .. } | Op::StoreStatic { field, .. } => {
                    first.extend(self.before_field(id, *field));
                }
                Op::New {
                    class: Some(class), ..
                } => {
                    callees.extend(self.callbacks(*class).iter().map(|callback| callback.0.0));
                }
                _ => {}
            }
        }
        callees.extend(first.iter().map(|method| method.0));
        let mut callees: Vec<u32> = callees.into_iter().collect();
        callees.sort_unstable();
        callees
    }

    /// Summarizes all methods. `step` is called for each one that is done.
    ///
    /// `fallback` is a summary that is safe without examining callees; methods of large circles
    /// start with it and are summarized twice, each time better and still safe.
    pub fn solve(
        self,
        fallback: &(dyn Fn(MethodId) -> Summary + Sync),
        step: &(dyn Fn(usize) + Sync),
    ) -> Vec<Option<Arc<Summary>>> {
        let count = self.facts.len();
        let own: Vec<u32> = (0..count as u32)
            .filter(|&method| self.is_own(MethodId(method)))
            .collect();
        let found: Vec<Vec<u32>> = own
            .par_iter()
            .map(|&method| self.callees(method as usize))
            .collect();
        let mut calls: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (&method, callees) in own.iter().zip(found) {
            calls[method as usize] = callees;
        }
        for level in circles::levels(&own, &calls) {
            // Circles of one level do not call each other, so the results do not depend on the
            // order in which threads finish.
            level.par_iter().for_each(|circle| {
                self.circle(circle, &calls, fallback);
                step(circle.len());
            });
        }
        let summaries = self.summaries.into_iter();
        summaries
            .map(|summary| summary.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    /// Summarizes methods that call each other, until nothing changes.
    fn circle(
        &self,
        circle: &[u32],
        calls: &[Vec<u32>],
        fallback: &(dyn Fn(MethodId) -> Summary + Sync),
    ) {
        let put = |method: u32, summary: Arc<Summary>| {
            let place = &self.summaries[method as usize];
            place
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .replace(summary);
        };
        let make = |method: u32, coarse| {
            let (id, facts) = (MethodId(method), &self.facts[method as usize]);
            Arc::new(summarize(self, id, facts, coarse).unwrap_or_else(|| fallback(id)))
        };
        if let &[method] = circle
            && !calls[method as usize].contains(&method)
        {
            put(method, make(method, false));
            return;
        }
        if circle.len() > LARGE {
            circle
                .iter()
                .for_each(|&method| put(method, Arc::new(fallback(MethodId(method)))));
            // All of them use the same earlier summaries, so the results do not depend on the order
            // in which threads finish.
            for _ in 0..2 {
                let made: Vec<Arc<Summary>> = circle
                    .par_iter()
                    .map(|&method| make(method, false))
                    .collect();
                for (&method, summary) in circle.iter().zip(made) {
                    put(method, summary);
                }
            }
            return;
        }
        let place: Map<u32, usize> = circle
            .iter()
            .enumerate()
            .map(|(at, &method)| (method, at))
            .collect();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); circle.len()];
        for (at, &method) in circle.iter().enumerate() {
            for callee in calls[method as usize]
                .iter()
                .filter_map(|callee| place.get(callee))
            {
                callers[*callee].push(at);
            }
        }
        until_settled(
            &callers,
            |at, coarse| make(circle[at], coarse),
            |at| Arc::new(fallback(MethodId(circle[at]))),
            |at, summary| put(circle[at], summary),
        );
    }
}

/// Repeats the methods of a circle until no summary says more than was known of its method; each
/// change repeats the method's `callers`. `make` summarizes one method, coarsely or not, using what
/// `put` has stored so far.
///
/// **Invariant:** there is an end, whatever `make` returns; and the summary that was stored last
/// for each method covers what `make` then returns, or is the method's fallback.
fn until_settled(
    callers: &[Vec<usize>],
    make: impl Fn(usize, bool) -> Arc<Summary>,
    fallback: impl Fn(usize) -> Arc<Summary>,
    put: impl Fn(usize, Arc<Summary>),
) {
    let mut times = vec![0u32; callers.len()];
    let mut known: Vec<Arc<Summary>> = vec![Arc::default(); callers.len()];
    let mut due: BTreeSet<usize> = (0..callers.len()).collect();
    while let Some(at) = due.pop_first() {
        if times[at] == GIVEN_UP_AT {
            continue;
        }
        times[at] += 1;
        let mut summary = match times[at] {
            GIVEN_UP_AT => fallback(at),
            times => make(at, times > MAX_TIMES),
        };
        if times[at] > 1 && times[at] < GIVEN_UP_AT {
            if known[at].covers(&summary) {
                continue;
            }
            if times[at] > JOINED_FROM {
                summary = Arc::new(known[at].joined(&summary));
            }
        }
        known[at].clone_from(&summary);
        put(at, summary);
        due.extend(&callers[at]);
    }
}
