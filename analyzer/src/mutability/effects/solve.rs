//! Summaries of all methods: callees first; methods that call each other until
//! nothing changes.

use super::Summary;
use super::circles;
use super::method::{Target, World, summarize};
use super::reach::{Maker, Reach};
use crate::mutability::answers::{Answers, Verdict, is_new};
use crate::mutability::contracts::Contracts;
use crate::mutability::facts::{Facts, Lambda, NONE, Op};
use crate::mutability::library::from_verdicts;
use crate::mutability::signatures::Signatures;
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::{MethodDescriptor, Utf8, access};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A method in a circle is taken this often with all details; from then on
/// coarsely, so that there is an end soon.
const MAX_TIMES: u32 = 8;
/// From then on what it was found to do before still counts: where a summary
/// becomes too large and is made coarse, it may say less of something than the
/// one before, and two of them could take turns for ever.
const JOINED_FROM: u32 = 20;
/// After so many times it is given up, which is the end in any case.
const GIVEN_UP_AT: u32 = 48;

/// Where summaries of methods without facts come from.
pub trait Library: Sync {
    /// The summary of a method of the JDK.
    fn summary(&self, method: MethodId) -> Option<Arc<Summary>>;
    /// What it may call, by way of arguments that it leaves alone, that a program
    /// may override.
    fn calls_back(&self, _: MethodId) -> Signatures {
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

/// Summaries in the making.
pub struct Solver<'p> {
    program: &'p Program,
    calls: &'p Calls<'p>,
    facts: &'p [Facts],
    library: &'p dyn Library,
    contracts: &'p Contracts,
    sound: bool,
    verdicts: Option<&'p Answers>,
    overridden: Signatures,
    summaries: Vec<RwLock<Option<Arc<Summary>>>>,
    sites: Vec<Mutex<Map<Site, Run>>>,
    unknown: Mutex<Map<MethodId, Arc<Summary>>>,
    /// Lambdas by the interface that they implement.
    lambdas: Map<ClassId, Vec<(MethodId, u32)>>,
    callbacks: Mutex<Map<ClassId, Callbacks>>,
    any: Sym,
    captured: Vec<Sym>,
    /// Maps of the program's that reorder what is read, and what reading does.
    reordered: Set<ClassId>,
    reorders: Arc<Summary>,
    /// Fields that hold such maps; whether there are any.
    reordered_fields: Set<Sym>,
    has_reordered: bool,
    linked: Option<ClassId>,
    /// The classes of what fields hold that only hold what is made in the method
    /// that stores it.
    held: Map<Sym, Vec<ClassId>>,
    /// Where lambdas go, if that is asked for.
    reach: Option<Reach>,
    chosen: Mutex<Map<(Site, Vec<Maker>), Run>>,
}

/// Methods with how many arguments they take.
type Callbacks = Arc<Vec<(MethodId, usize)>>;

/// What a site runs, found once.
#[derive(Clone)]
struct Run {
    targets: Arc<Vec<Target>>,
    /// Methods among them that are summarized here, lambdas looked through.
    own: Arc<Vec<u32>>,
    /// Lambdas that are not among them yet.
    lambdas: Arc<Vec<Maker>>,
}

const SHARDS: usize = 16;
/// A call that may run more methods than this is taken by their verdicts.
const MANY_TARGETS: usize = 6;

/// The verdict on several methods together.
fn worse(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Mutable, _) | (_, Verdict::Mutable) => Verdict::Mutable,
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => Verdict::Unknown,
        _ => Verdict::Immutable,
    }
}

/// Fields that a call may store in though no body does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unseen {
    None,
    /// All but final ones.
    Open,
    Any,
}

fn stores_unseen(program: &Program, site: Site) -> Unseen {
    let name = program.names.bytes(program.class(site.owner).name);
    let signature = program.names.bytes(site.signature);
    match &*name {
        b"java/lang/reflect/Field" if signature.starts_with(b"set(") => Unseen::Any,
        b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe" => Unseen::Any,
        b"java/lang/invoke/VarHandle"
        | b"java/util/concurrent/atomic/AtomicReferenceFieldUpdater" => Unseen::Open,
        b"java/lang/invoke/MethodHandles$Lookup"
            if signature.starts_with(b"findSetter(")
                || signature.starts_with(b"unreflectSetter(") =>
        {
            Unseen::Any
        }
        _ => Unseen::None,
    }
}

/// A circle of more methods is large: waiting until nothing changes would take
/// too long.
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
        Solver {
            program,
            calls,
            facts,
            library,
            contracts,
            sound,
            verdicts: None,
            overridden: Signatures::default(),
            summaries: (0..program.methods.len())
                .map(|_| RwLock::default())
                .collect(),
            sites: (0..SHARDS).map(|_| Mutex::default()).collect(),
            unknown: Mutex::default(),
            lambdas,
            callbacks: Mutex::default(),
            any: any_field(program),
            reordered,
            reordered_fields: Set::default(),
            has_reordered,
            linked,
            held: Map::default(),
            reach: None,
            chosen: Mutex::default(),
            reorders: Arc::new(Contracts::step(
                any_field(program),
                program.names.intern(Facts::ELEMENT.as_bytes()),
            )),
            captured: (0..8)
                .map(|n| program.names.intern(format!("captured {n}").as_bytes()))
                .collect(),
        }
    }

    /// Takes verdicts for calls that may run many methods: looking at each of
    /// them at every such call would take too long.
    pub fn with_verdicts(self, verdicts: &'p Answers) -> Solver<'p> {
        Solver {
            verdicts: Some(verdicts),
            ..self
        }
    }

    /// Looks what fields hold; and where lambdas go, which is no proof.
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

    /// Fields of the program's that all stores give new objects of known classes.
    /// Where something might store unseen, none.
    fn what_fields_hold(&self) -> Map<Sym, Vec<ClassId>> {
        const MOST: usize = 4;
        let program = self.program;
        let names = &program.names;
        let mut found: Map<Sym, Option<Vec<ClassId>>> = Map::default();
        // Classes whose native or unreadable methods may store anything.
        let mut unseen: Set<ClassId> = Set::default();
        let mut stored = Unseen::None;
        for (method, facts) in self.facts.iter().enumerate() {
            if facts.unknown.is_some() {
                unseen.insert(program.method(MethodId(method as u32)).class);
            }
            let mut made: Map<u32, ClassId> = Map::default();
            for fact in &facts.ops {
                match &fact.op {
                    Op::New {
                        dst,
                        class: Some(class),
                    } => {
                        made.insert(*dst, *class);
                    }
                    Op::Store { field, value, .. } | Op::StoreStatic { field, value, .. }
                        if *value != NONE =>
                    {
                        let known = found.entry(*field).or_insert_with(|| Some(Vec::new()));
                        let class = made.get(value).copied();
                        match (known.as_mut(), class) {
                            (Some(classes), Some(class)) if classes.len() < MOST => {
                                if !classes.contains(&class) {
                                    classes.push(class);
                                }
                            }
                            _ => *known = None,
                        }
                    }
                    Op::Call { site, .. } if self.sound => {
                        stored = stored.max(stores_unseen(program, *site));
                    }
                    _ => {}
                }
            }
        }
        let stream = names.find(b"java/io/Serializable");
        let stream = stream.and_then(|name| program.find(name));
        let is_seen = |class: ClassId| {
            let is_read = self.sound && stream.is_some_and(|io| program.is_subtype(class, io));
            !program.class(class).library && !unseen.contains(&class) && !is_read
        };
        let is_known = |field: Sym| -> Option<bool> {
            let text = names.bytes(field);
            let end = text.iter().rposition(|&byte| byte == b'.')?;
            let class = program.find(names.find(&text[..end])?)?;
            let name = names.find(&text[end + 1..])?;
            let declared = &program.class(class).fields;
            let open =
                declared.iter().find(|field| field.name == name)?.access & access::FINAL == 0;
            Some(is_seen(class) && (stored == Unseen::None || stored == Unseen::Open && !open))
        };
        let found = found.into_iter();
        found
            .filter_map(|(field, classes)| Some((field, classes?)))
            .filter(|(field, _)| is_known(*field) == Some(true))
            .collect()
    }

    /// Fields that maps are stored in as they are made that reorder what is read.
    fn fields_that_reorder(&self) -> Set<Sym> {
        let by_access = self.program.names.find(b"<init>(IFZ)V");
        let mut found = Set::default();
        for facts in self.facts {
            let mut made = Set::default();
            for fact in &facts.ops {
                match &fact.op {
                    Op::New {
                        dst,
                        class: Some(class),
                    } if self.reordered.contains(class) => {
                        made.insert(*dst);
                    }
                    Op::Call { site, args, .. }
                        if Some(site.owner) == self.linked && Some(site.signature) == by_access =>
                    {
                        made.extend(args.first());
                    }
                    Op::Store { field, value, .. } | Op::StoreStatic { field, value, .. }
                        if made.contains(value) =>
                    {
                        found.insert(*field);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Takes into account what the library may call back.
    pub fn with_overridden(self, overridden: Signatures) -> Solver<'p> {
        Solver { overridden, ..self }
    }

    /// Signatures of the library's methods that the program overrides, or
    /// implements by a lambda, by something that may change what it gets.
    pub fn overridden(&self, verdicts: &Answers) -> Signatures {
        let program = self.program;
        let mut found = Signatures::default();
        let harmless = |method: MethodId| {
            let params = crate::mutability::answers::param_count(program, method);
            verdicts.has(method)
                && (0..params).all(|param| {
                    verdicts.verdict(verdicts.place(method, param)) == Verdict::Immutable
                })
        };
        for class in (0..program.classes.len() as u32).map(ClassId) {
            for &(method, _) in self.callbacks(class).iter() {
                if !harmless(method) {
                    let signature = program.names.bytes(program.method(method).signature);
                    found.join(&Signatures::one(&signature));
                }
            }
        }
        for (&interface, lambdas) in &self.lambdas {
            for &(maker, op) in lambdas {
                let Some(lambda) = self.lambda(maker, op) else {
                    continue;
                };
                let targets = self.calls.targets(lambda.site);
                if !targets.open && targets.methods.iter().all(|&method| harmless(method)) {
                    continue;
                }
                let name = program.names.bytes(lambda.name);
                let mut pending = vec![interface];
                while let Some(class) = pending.pop() {
                    for number in program.class(class).methods.clone() {
                        let signature = program
                            .names
                            .bytes(program.method(MethodId(number)).signature);
                        let rest = signature.strip_prefix(&*name);
                        if rest.is_some_and(|rest| rest.first() == Some(&b'(')) {
                            found.join(&Signatures::one(&signature));
                        }
                    }
                    pending.extend(program.above(class));
                }
            }
        }
        found
    }

    /// Whether a method's body is among those to be summarized.
    fn is_own(&self, method: MethodId) -> bool {
        self.facts
            .get(method.0 as usize)
            .is_some_and(|facts| facts.present)
    }

    fn library_summary(&self, method: MethodId) -> Arc<Summary> {
        let known = self.library.summary(method);
        if let Some(known) = &known
            && !self.library.calls_back(method).meets(&self.overridden)
        {
            return known.clone();
        }
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let made = unknown.entry(method).or_insert_with(|| {
            if let Some(known) = known {
                // Changed by what it calls back, perhaps.
                let verdict = |param| match known.write_of(param) {
                    Some((_, write)) if write.node & 1 == 0 => Verdict::Mutable,
                    _ => Verdict::Unknown,
                };
                return Arc::new(from_verdicts(self.program, method, verdict, self.any));
            }
            let params = crate::mutability::answers::param_count(self.program, method);
            Arc::new(Summary::unknown(&vec![true; params.into()]))
        });
        made.clone()
    }

    /// What a site runs: what is promised of the library's methods and the
    /// program's own, or else all.
    fn site(&self, site: Site) -> Run {
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
        if found.open {
            targets.push(Target::Unknown);
        }
        let run = self.together(site, targets, own, lambdas);
        lock().insert(site, run.clone());
        run
    }

    fn add_lambda(
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
        }
    }

    /// Many targets are taken by their verdicts.
    fn together(
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
            let joined = from_verdicts(self.program, method, verdict, self.any);
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

    /// The same of one call: of the lambdas those that get there.
    fn site_at(&self, site: Site, at: Option<(MethodId, u32)>) -> Run {
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
    /// The verdicts on what the methods do with an argument that a call may run:
    /// lambdas are named by theirs, with their own parameter. Nothing if others
    /// may run as well.
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
    fn verdict(&self, verdicts: &Answers, target: &Target, param: u16) -> Verdict {
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

    /// Lambdas that a call may run: the method that makes one, the operation.
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

    /// What a method's calls may run, each once: what must be known first.
    fn callees(&self, method: usize) -> Vec<u32> {
        let mut callees = Set::default();
        for (fact, at) in self.facts[method].ops.iter().zip(0..) {
            match &fact.op {
                Op::Call { site, .. } => {
                    let at = (MethodId(method as u32), at);
                    callees.extend(self.site_at(*site, Some(at)).own.iter());
                }
                Op::Lambda(lambda) => {
                    callees.extend(self.site_at(lambda.site, None).own.iter());
                }
                Op::New {
                    class: Some(class), ..
                } => {
                    callees.extend(self.callbacks(*class).iter().map(|callback| callback.0.0));
                }
                _ => {}
            }
        }
        let mut callees: Vec<u32> = callees.into_iter().collect();
        callees.sort_unstable();
        callees
    }

    /// Summarizes all methods. `step` hears of each that is done.
    ///
    /// `fallback` is a summary that is safe without looking at callees; methods
    /// of large circles begin with it and are taken twice, each time better and
    /// still safe.
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
            // Circles of one level do not call each other, so that results do
            // not depend on who is faster.
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
            // All see the same, so that results do not depend on who is faster.
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

/// Takes the methods of a circle until no summary says more than was known of
/// its method, and those that call it again each time: `callers` by method.
/// `make` summarizes one, coarsely or not, by what `put` has been told so far.
///
/// **Invariant:** there is an end, whatever `make` says; and what was put last of
/// each method covers what `make` says then, or is its fallback.
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

impl World for Solver<'_> {
    fn any(&self, site: Site, at: Option<(MethodId, u32)>) -> Arc<Vec<Target>> {
        self.site_at(site, at).targets
    }

    fn holds(&self, field: Sym) -> Option<&[ClassId]> {
        self.held.get(&field).map(Vec::as_slice)
    }

    fn reorders(&self, site: Site, field: Option<Sym>) -> bool {
        if !self.has_reordered || !self.program.class(site.owner).library {
            return false;
        }
        let held = match field {
            Some(field) => self.reordered_fields.contains(&field),
            None => self.linked == Some(site.owner),
        };
        held && {
            let signature = self.program.names.bytes(site.signature);
            signature.starts_with(b"get(") || signature.starts_with(b"getOrDefault(")
        }
    }

    fn of_library(&self, site: Site) -> Arc<Vec<Target>> {
        let resolved = self.calls.targets(site).resolved;
        match resolved.and_then(|method| self.contracts.promise(method)) {
            Some(known) => Arc::new(vec![Target::Known(known.clone())]),
            None => self.any(site, None),
        }
    }

    fn on(&self, site: Site, class: ClassId) -> Arc<Vec<Target>> {
        // Nothing else gets there.
        if !self.program.is_subtype(class, site.owner) && !self.program.is_incomplete(class) {
            return Arc::default();
        }
        let site = Site {
            owner: class,
            dispatch: Dispatch::Exact,
            ..site
        };
        self.site(site).targets
    }

    fn summary(&self, method: MethodId) -> Arc<Summary> {
        if self.is_own(method) {
            let known = &self.summaries[method.0 as usize];
            return known
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
                .unwrap_or_default();
        }
        if self
            .program
            .class(self.program.method(method).class)
            .library
        {
            return self.library_summary(method);
        }
        Arc::default()
    }

    fn lambda(&self, method: MethodId, op: u32) -> Option<&Lambda> {
        match &self.facts.get(method.0 as usize)?.ops.get(op as usize)?.op {
            Op::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    fn answers(&self, lambda: &Lambda, site: Site) -> bool {
        let signature = self.program.names.bytes(site.signature);
        let name = self.program.names.bytes(lambda.name);
        signature
            .strip_prefix(&*name)
            .is_some_and(|rest| rest.first() == Some(&b'('))
    }

    fn calls_back(&self, site: Site) -> bool {
        // While the library itself is summarized there is nobody to call.
        self.program.class(site.owner).library && {
            let targets = self.calls.targets(site);
            let library = |method: MethodId| {
                self.program
                    .class(self.program.method(method).class)
                    .library
            };
            targets.resolved.is_some_and(|method| {
                library(method) && !self.is_own(method) && !self.contracts.is_quiet(method)
            })
        }
    }

    fn is_library(&self, target: &Target) -> bool {
        match target {
            Target::Method(method) => {
                let class = self.program.method(*method).class;
                self.program.class(class).library && !self.is_own(*method)
            }
            Target::Known(_) | Target::Unknown => true,
            Target::Lambda(..) => false,
        }
    }

    fn callbacks(&self, class: ClassId) -> Arc<Vec<(MethodId, usize)>> {
        let program = self.program;
        if program.class(class).library {
            return Arc::default();
        }
        let lock = || {
            self.callbacks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = lock().get(&class).cloned();
        known.unwrap_or_else(|| {
            let mut found: Vec<(MethodId, usize)> = Vec::new();
            let mut above = Some(class);
            let mut signatures = Set::default();
            while let Some(at) = above.filter(|&at| !program.class(at).library) {
                for number in program.class(at).methods.clone() {
                    let method = program.method(MethodId(number));
                    let text = program.names.bytes(method.signature);
                    let hidden = method.is(access::STATIC | access::PRIVATE | access::ABSTRACT)
                        || text.starts_with(b"<");
                    if hidden || !signatures.insert(method.signature) {
                        continue;
                    }
                    let mut pending: Vec<ClassId> = program.above(class).collect();
                    let mut overrides = false;
                    let mut seen = Set::default();
                    while let Some(next) = pending.pop() {
                        if !seen.insert(next) {
                            continue;
                        }
                        let library = program.class(next).library;
                        overrides |= library && program.declared(next, method.signature).is_some();
                        pending.extend(program.above(next));
                    }
                    if overrides {
                        let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
                        let params = MethodDescriptor::parse(Utf8::new(&text[open..]));
                        found.push((
                            MethodId(number),
                            1 + params.map_or(0, |d| usize::from(d.parameter_count())),
                        ));
                    }
                }
                above = program.class(at).superclass;
            }
            let found = Arc::new(found);
            lock().insert(class, found.clone());
            found
        })
    }

    fn may_alias(&self, method: MethodId, one: u16, other: u16) -> bool {
        let program = self.program;
        let method = program.method(method);
        let text = program.names.bytes(method.signature);
        if is_new(&text, one) || is_new(&text, other) {
            return false;
        }
        let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
        let Ok(descriptor) = MethodDescriptor::parse(Utf8::new(&text[open..])) else {
            return true;
        };
        let own = program.names.bytes(program.class(method.class).name);
        let type_of = |param: u16| -> Option<Vec<u8>> {
            let place = match (method.is(access::STATIC), param) {
                (false, 0) => return Some(own.to_vec()),
                (false, param) => param - 1,
                (true, param) => param,
            };
            let ty = descriptor.parameters().nth(usize::from(place))?;
            ty.constant_name().map(|name| name.as_bytes().to_vec())
        };
        let (Some(one), Some(other)) = (type_of(one), type_of(other)) else {
            return true;
        };
        if one == other {
            return true;
        }
        let find = |name: &[u8]| program.names.find(name).and_then(|name| program.find(name));
        match (find(&one), find(&other)) {
            (Some(one), Some(other)) => {
                program.is_subtype(one, other) || program.is_subtype(other, one)
            }
            _ => false,
        }
    }

    fn narrows(&self, site: Site, target: &Target) -> Option<ClassId> {
        let Target::Method(method) = target else {
            return None;
        };
        let class = self.program.method(*method).class;
        (class != site.owner && self.program.is_subtype(class, site.owner)).then_some(class)
    }

    fn may_be(&self, method: MethodId, param: u16, class: ClassId) -> bool {
        let program = self.program;
        let method = program.method(method);
        let declared = match (method.is(access::STATIC), param) {
            (false, 0) => Some(method.class),
            (is_static, param) => {
                let text = program.names.bytes(method.signature);
                let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
                let descriptor = MethodDescriptor::parse(Utf8::new(&text[open..]));
                let place = usize::from(param) - usize::from(!is_static);
                let ty = descriptor.ok().and_then(|d| d.parameters().nth(place));
                ty.and_then(|ty| ty.class_name())
                    .and_then(|name| program.find(program.names.find(name.as_bytes())?))
            }
        };
        let Some(declared) = declared else {
            return true;
        };
        let is_interface = |class: ClassId| program.class(class).access & access::INTERFACE != 0;
        program.is_subtype(class, declared)
            || program.is_subtype(declared, class)
            // What is declared to be an interface no verifier makes sure of.
            || is_interface(declared) && self.sound
            || (is_interface(declared) || is_interface(class))
                && (program.subtypes(class).into_iter())
                    .any(|class| program.is_subtype(class, declared))
    }

    fn is_subtype(&self, class: ClassId, of: ClassId) -> bool {
        self.program.is_subtype(class, of)
    }

    fn is_sound(&self) -> bool {
        self.sound
    }

    fn any_field(&self) -> Sym {
        self.any
    }

    fn captured(&self, place: usize) -> Sym {
        self.captured.get(place).copied().unwrap_or(self.any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutability::effects::{Cause, Node, Write, reference};
    use std::cell::{Cell, RefCell};

    /// Writes one parameter.
    fn writes(param: u16) -> Arc<Summary> {
        Arc::new(Summary {
            nodes: vec![Node::Param(param)],
            writes: vec![Write {
                node: reference(0, false),
                cause: Cause::NoBody,
                only: None,
            }],
            ..Summary::default()
        })
    }

    /// What is known in the end of two methods that call each other, and how
    /// often they were taken.
    fn settle(make: impl Fn(u32) -> Arc<Summary>) -> (Vec<Arc<Summary>>, u32) {
        let known = RefCell::new(vec![Arc::default(); 2]);
        let taken = [Cell::new(0), Cell::new(0)];
        until_settled(
            &[vec![1], vec![0, 1]],
            |at, _| {
                taken[at].set(taken[at].get() + 1);
                make(taken[at].get())
            },
            |_| writes(u16::MAX),
            |at, summary| known.borrow_mut()[at] = summary,
        );
        let taken = taken.iter().map(Cell::get).sum();
        (known.into_inner(), taken)
    }

    #[test]
    fn what_says_the_same_is_taken_twice() {
        let (known, taken) = settle(|_| writes(0));
        assert_eq!(known, [writes(0), writes(0)]);
        assert!(taken <= 6, "{taken}");
    }

    #[test]
    fn summaries_that_take_turns_are_joined() {
        let (known, taken) = settle(|taken| writes((taken % 2) as u16));
        for known in known {
            assert!(known.covers(&writes(0)) && known.covers(&writes(1)));
        }
        assert!(taken < 2 * GIVEN_UP_AT, "{taken}");
    }

    #[test]
    fn what_grows_for_ever_is_given_up() {
        let (known, taken) = settle(|taken| writes(taken as u16));
        assert_eq!(known, [writes(u16::MAX), writes(u16::MAX)]);
        assert_eq!(taken, 2 * (GIVEN_UP_AT - 1));
    }
}
