//! Where lambdas go: which of them a call may run.
//!
//! The class hierarchy says that a call of `Function.apply` may run every lambda
//! that implements it. Most of them go nowhere but from the method that makes
//! them to the one that calls them, by arguments, results and fields; those are
//! followed. What is given to a collection, an array or anything else that may
//! hand it out again is everywhere.
//!
//! What the library takes as a function it calls and forgets, except where it
//! returns another function. That is no proof.

use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::{FieldType, MethodDescriptor, Utf8, access};

/// A lambda: the method that makes it, the operation.
pub type Maker = (MethodId, u32);

/// Which lambdas calls may run.
#[derive(Debug, Default)]
pub struct Reach {
    by_call: Map<(MethodId, u32), Set<Maker>>,
    /// Those of which that is not known.
    everywhere: Set<Maker>,
}

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Var(MethodId, Var),
    Field(Sym),
    Result(MethodId),
    Everywhere,
}

/// More places than this nobody follows.
const FAR: usize = 4_000;

/// What a body does with each of its values: operations.
type Uses = Map<Var, Vec<u32>>;

struct Search<'a> {
    program: &'a Program,
    calls: &'a Calls<'a>,
    facts: &'a [Facts],
    lambdas_of: &'a dyn Fn(Site) -> Vec<Maker>,
    uses: Map<MethodId, Uses>,
    /// Loads by field: the method, the value.
    loads: Map<Sym, Vec<(MethodId, Var)>>,
    /// Calls that give something, by signature.
    results: Map<Sym, Vec<(MethodId, u32)>>,
    /// Methods that the library may call: its results go anywhere.
    called_back: Set<MethodId>,
}

impl Reach {
    /// Follows all lambdas of a program.
    pub fn new(
        calls: &Calls<'_>,
        facts: &[Facts],
        lambdas_of: &dyn Fn(Site) -> Vec<Maker>,
        is_called_back: impl Fn(MethodId) -> bool,
    ) -> Reach {
        let program = calls.program();
        let mut search = Search {
            program,
            calls,
            facts,
            lambdas_of,
            uses: Map::default(),
            loads: Map::default(),
            results: Map::default(),
            called_back: Set::default(),
        };
        let mut makers: Vec<Maker> = Vec::new();
        for (method, facts) in facts.iter().enumerate() {
            let id = MethodId(method as u32);
            for (fact, at) in facts.ops.iter().zip(0..) {
                match &fact.op {
                    Op::Load { dst, field, .. } | Op::LoadStatic { dst, field } if *dst != NONE => {
                        search.loads.entry(*field).or_default().push((id, *dst));
                    }
                    Op::Call { dst, site, .. } if *dst != NONE => {
                        let known = search.results.entry(site.signature).or_default();
                        known.push((id, at));
                    }
                    Op::Lambda(lambda) => {
                        makers.push((id, at));
                        search
                            .called_back
                            .extend(&calls.targets(lambda.site).methods);
                    }
                    _ => {}
                }
            }
        }
        let mut reach = Reach::default();
        for maker in makers {
            search.follow(maker, &is_called_back, &mut reach);
        }
        reach
    }

    /// Whether a call, by its method and operation, may run a lambda.
    pub fn has(&self, method: MethodId, op: u32, maker: Maker) -> bool {
        self.everywhere.contains(&maker)
            || (self.by_call.get(&(method, op))).is_some_and(|known| known.contains(&maker))
    }
}

impl Search<'_> {
    fn follow(
        &mut self,
        maker: Maker,
        is_called_back: &impl Fn(MethodId) -> bool,
        reach: &mut Reach,
    ) {
        let (Some(interface), dst) = (match &self.facts[maker.0.0 as usize].ops[maker.1 as usize].op {
            Op::Lambda(lambda) => (lambda.interface, lambda.dst),
            _ => return,
        }) else {
            reach.everywhere.insert(maker);
            return;
        };
        let mut seen: Set<Place> = Set::default();
        let mut due = vec![Place::Var(maker.0, dst)];
        while let Some(place) = due.pop() {
            if !seen.insert(place) {
                continue;
            }
            if place == Place::Everywhere || seen.len() > FAR {
                reach.everywhere.insert(maker);
                return;
            }
            match place {
                Place::Var(method, var) => {
                    let ops = self.uses(method, var);
                    for op in ops {
                        self.used(interface, method, op, var, &mut due, |at| {
                            reach.by_call.entry(at).or_default().insert(maker);
                        });
                    }
                }
                Place::Field(field) => {
                    let loads = self.loads.get(&field).into_iter().flatten();
                    due.extend(loads.map(|&(method, var)| Place::Var(method, var)));
                }
                Place::Result(method) => {
                    if self.called_back.contains(&method) || is_called_back(method) {
                        due.push(Place::Everywhere);
                    }
                    let signature = self.program.method(method).signature;
                    for &(caller, op) in self.results.get(&signature).into_iter().flatten() {
                        let call = &self.facts[caller.0 as usize].ops[op as usize].op;
                        if let Op::Call { dst, site, .. } = call
                            && self.calls.targets(*site).methods.contains(&method)
                        {
                            due.push(Place::Var(caller, *dst));
                        }
                    }
                }
                Place::Everywhere => {}
            }
        }
    }

    fn uses(&mut self, method: MethodId, var: Var) -> Vec<u32> {
        let facts = &self.facts[method.0 as usize];
        let uses = self.uses.entry(method).or_insert_with(|| {
            let mut uses = Uses::default();
            for (fact, at) in facts.ops.iter().zip(0..) {
                let mut add = |var: Var| {
                    if var != NONE {
                        let known = uses.entry(var).or_default();
                        if known.last() != Some(&at) {
                            known.push(at);
                        }
                    }
                };
                match &fact.op {
                    Op::Phi { from, .. } => from.iter().copied().for_each(add),
                    Op::Store { value, .. }
                    | Op::StoreStatic { value, .. }
                    | Op::Return { value } => add(*value),
                    Op::Call { args, .. } | Op::Unknown { args, .. } => {
                        args.iter().copied().for_each(add);
                    }
                    Op::Lambda(lambda) => lambda.captured.iter().copied().for_each(add),
                    _ => {}
                }
            }
            uses
        });
        uses.get(&var).cloned().unwrap_or_default()
    }

    fn used(
        &self,
        interface: ClassId,
        method: MethodId,
        op: u32,
        var: Var,
        due: &mut Vec<Place>,
        mut called: impl FnMut((MethodId, u32)),
    ) {
        match &self.facts[method.0 as usize].ops[op as usize].op {
            Op::Phi { dst, .. } => due.push(Place::Var(method, *dst)),
            Op::Store { field, .. } => {
                let element = &*self.program.names.bytes(*field) == Facts::ELEMENT.as_bytes();
                due.push(if element {
                    Place::Everywhere
                } else {
                    Place::Field(*field)
                });
            }
            Op::StoreStatic { field, .. } => due.push(Place::Field(*field)),
            Op::Return { .. } => due.push(Place::Result(method)),
            Op::Call { dst, site, args } => {
                for (place, _) in args.iter().enumerate().filter(|(_, arg)| **arg == var) {
                    if place == 0 && site.dispatch == Dispatch::Virtual {
                        called((method, op));
                        self.received(interface, *site, method, *dst, due);
                    } else {
                        self.given(*site, place, method, *dst, due);
                    }
                }
            }
            Op::Lambda(lambda) => {
                let places = lambda.captured.iter().enumerate();
                for (place, _) in places.filter(|(_, captured)| **captured == var) {
                    // A method of the lambda itself: what it captures it runs.
                    if place == 0 && lambda.site.dispatch == Dispatch::Virtual {
                        due.push(Place::Everywhere);
                        continue;
                    }
                    let place = place + usize::from(lambda.makes);
                    self.given(lambda.site, place, method, NONE, due);
                }
            }
            _ => due.push(Place::Everywhere),
        }
    }

    /// A method of the lambda's interface runs with it as the receiver: one that
    /// the interface has a body of may hand it on.
    fn received(
        &self,
        interface: ClassId,
        site: Site,
        method: MethodId,
        dst: Var,
        due: &mut Vec<Place>,
    ) {
        let Some(run) = self.program.resolve(interface, site.signature) else {
            return;
        };
        if self.program.method(run).is(access::ABSTRACT) {
            return;
        }
        match self.param(run, 0) {
            Some(place) => due.push(place),
            // `andThen` and the like.
            None if dst != NONE => due.push(Place::Var(method, dst)),
            None => {}
        }
    }

    /// It is an argument of a call.
    fn given(&self, site: Site, place: usize, method: MethodId, dst: Var, due: &mut Vec<Place>) {
        let targets = self.calls.targets(site);
        if targets.open {
            due.push(Place::Everywhere);
        }
        let mut library = false;
        for &target in &targets.methods {
            match self.param(target, place) {
                Some(place) => due.push(place),
                None => library = true,
            }
        }
        let resolved = targets.resolved;
        library |= resolved.is_some_and(|method| {
            self.program.class(self.program.method(method).class).library
        });
        if site.dispatch == Dispatch::Virtual && place > 0 {
            for (maker, op) in (self.lambdas_of)(site) {
                let Op::Lambda(lambda) = &self.facts[maker.0 as usize].ops[op as usize].op else {
                    continue;
                };
                let shift = lambda.captured.len() + usize::from(lambda.makes);
                for &target in &self.calls.targets(lambda.site).methods {
                    due.push(self.param(target, shift + place - 1).unwrap_or(Place::Everywhere));
                }
            }
        }
        if !library {
            return;
        }
        let signature = self.program.names.bytes(site.signature);
        let open = signature.iter().position(|&byte| byte == b'(').unwrap_or(0);
        let Ok(descriptor) = MethodDescriptor::parse(Utf8::new(&signature[open..])) else {
            due.push(Place::Everywhere);
            return;
        };
        let is_static = resolved.is_some_and(|method| self.program.method(method).is(access::STATIC));
        let declared = place.checked_sub(usize::from(!is_static));
        let declared = declared.and_then(|place| descriptor.parameters().nth(place));
        let gives_back = signature.starts_with(b"requireNonNull");
        if declared.is_some_and(|ty| self.is_function(ty)) || gives_back {
            let result = descriptor.result();
            if dst != NONE && (gives_back || result.is_some_and(|ty| self.is_function(ty))) {
                due.push(Place::Var(method, dst));
            }
        } else {
            due.push(Place::Everywhere);
        }
    }

    /// Whether a type is an interface that has one method without a body.
    fn is_function(&self, ty: FieldType<'_>) -> bool {
        let names = &self.program.names;
        let class = (ty.class_name())
            .and_then(|name| self.program.find(names.find(name.as_bytes())?));
        let Some(class) = class.map(|class| self.program.class(class)) else {
            return false;
        };
        let name = names.bytes(class.name);
        class.access & access::INTERFACE != 0
            && (name.starts_with(b"java/util/function/")
                || matches!(
                    &*name,
                    b"java/lang/Runnable"
                        | b"java/util/Comparator"
                        | b"java/util/concurrent/Callable"
                        | b"java/security/PrivilegedAction"
                        | b"java/security/PrivilegedExceptionAction"
                ))
    }

    /// A method's parameter, if the method has a body here.
    fn param(&self, method: MethodId, place: usize) -> Option<Place> {
        let facts = self.facts.get(method.0 as usize)?;
        if !facts.present {
            return None;
        }
        let param = facts.ops.iter().find_map(|fact| match fact.op {
            Op::Param { dst, number } if usize::from(number) == place => Some(dst),
            _ => None,
        });
        match param {
            Some(param) => Some(Place::Var(method, param)),
            // A native method, or one that does not look at it.
            None if facts.unknown.is_some() => Some(Place::Everywhere),
            None => Some(Place::Var(method, NONE)),
        }
    }
}
