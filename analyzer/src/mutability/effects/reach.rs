//! Where lambdas go: which of them a call may run.
//!
//! By the class hierarchy, a call of `Function.apply` may run every lambda that implements it. But
//! most lambdas only go from the method that makes them to the one that calls them, by arguments,
//! results and fields; these are followed. A lambda that is put into a collection, an array or
//! anything else that may return it later counts as being everywhere.
//!
//! The library is assumed to call the functions that it gets and to forget them, except where it
//! returns another function. That is not a proof.

use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::calls::{Calls, Dispatch, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::{FieldType, MethodDescriptor, Utf8, access};

/// A lambda: the method and the operation that make it.
pub type Maker = (MethodId, u32);

/// Which lambdas calls may run.
#[derive(Debug, Default)]
pub struct Reach {
    by_call: Map<(MethodId, u32), Set<Maker>>,
    /// The lambdas whose ways are not known, and, in the next field, the calls that these may
    /// reach.
    everywhere: Set<Maker>,
    from_anywhere: Set<(MethodId, u32)>,
    /// The lambdas that are followed no further.
    lost: Set<Maker>,
}

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Var(MethodId, Var),
    Field(Sym),
    Result(MethodId),
    Everywhere,
}

/// The most places to which one lambda is followed.
const FAR: usize = 4_000;

/// For each value of a body, the operations that use it.
type Uses = Map<Var, Vec<u32>>;

struct Search<'a> {
    program: &'a Program,
    calls: &'a Calls<'a>,
    facts: &'a [Facts],
    lambdas_of: &'a dyn Fn(Site) -> Vec<Maker>,
    uses: Map<MethodId, Uses>,
    /// Loads by field: the method and the value.
    loads: Map<Sym, Vec<(MethodId, Var)>>,
    /// Stored values by field: the method and the value.
    stores: Map<Sym, Vec<(MethodId, Var)>>,
    /// Calls by signature: the method and the operation.
    callers: Map<Sym, Vec<(MethodId, u32)>>,
    /// The methods that lambdas run.
    run: Set<MethodId>,
    is_called_back: &'a dyn Fn(MethodId) -> bool,
}

impl Reach {
    /// Follows all lambdas of a program.
    pub fn new(
        calls: &Calls<'_>,
        facts: &[Facts],
        lambdas_of: &dyn Fn(Site) -> Vec<Maker>,
        is_called_back: &dyn Fn(MethodId) -> bool,
    ) -> Reach {
        let program = calls.program();
        let mut search = Search {
            program,
            calls,
            facts,
            lambdas_of,
            uses: Map::default(),
            loads: Map::default(),
            stores: Map::default(),
            callers: Map::default(),
            run: Set::default(),
            is_called_back,
        };
        let mut makers: Vec<Maker> = Vec::new();
        for (method, facts) in facts.iter().enumerate() {
            let id = MethodId(method as u32);
            for (fact, at) in facts.ops.iter().zip(0..) {
                match &fact.op {
                    Op::Load { dst, field, .. } | Op::LoadStatic { dst, field } if *dst != NONE => {
                        search.loads.entry(*field).or_default().push((id, *dst));
                    }
                    Op::Store { field, value, .. } | Op::StoreStatic { field, value, .. }
                        if *value != NONE =>
                    {
                        let known = search.stores.entry(*field).or_default();
                        known.push((id, *value));
                    }
                    Op::Call { site, .. } => {
                        let known = search.callers.entry(site.signature).or_default();
                        known.push((id, at));
                    }
                    Op::Lambda(lambda) => {
                        makers.push((id, at));
                        search.run.extend(&calls.targets(lambda.site).methods);
                    }
                    _ => {}
                }
            }
        }
        let mut reach = Reach::default();
        for maker in makers {
            search.follow(maker, &mut reach);
        }
        if !reach.everywhere.is_empty() {
            reach.from_anywhere = search.calls_from_anywhere();
        }
        reach
    }

    /// Whether a call, given by its method and operation, may run a lambda.
    pub fn has(&self, method: MethodId, op: u32, maker: Maker) -> bool {
        self.lost.contains(&maker)
            || self.everywhere.contains(&maker) && self.from_anywhere.contains(&(method, op))
            || (self.by_call.get(&(method, op))).is_some_and(|known| known.contains(&maker))
    }
}

impl Search<'_> {
    /// Calls of methods that lambdas implement whose receiver may come from a place that is not
    /// followed.
    fn calls_from_anywhere(&self) -> Set<(MethodId, u32)> {
        let mut calls: Vec<((MethodId, u32), Place)> = Vec::new();
        let mut has_lambdas: Map<Site, bool> = Map::default();
        for &(method, op) in self.callers.values().flatten() {
            if let Op::Call { site, args, .. } = &self.facts[method.0 as usize].ops[op as usize].op
                && site.dispatch == Dispatch::Virtual
                && *(has_lambdas.entry(*site))
                    .or_insert_with(|| !(self.lambdas_of)(*site).is_empty())
            {
                calls.push(((method, op), Place::Var(method, args[0])));
            }
        }
        // First back to where receivers come from, then forth from what comes from anywhere.
        let mut makers: Map<MethodId, Map<Var, u32>> = Map::default();
        let mut seen: Set<Place> = Set::default();
        let mut forth: Map<Place, Vec<Place>> = Map::default();
        let mut due: Vec<Place> = calls.iter().map(|call| call.1).collect();
        let mut sources = Vec::new();
        while let Some(place) = due.pop() {
            if !seen.insert(place) {
                continue;
            }
            for from in self.sources(place, &mut makers) {
                if from == Place::Everywhere {
                    sources.push(place);
                } else {
                    forth.entry(from).or_default().push(place);
                    due.push(from);
                }
            }
        }
        let mut reached: Set<Place> = Set::default();
        while let Some(place) = sources.pop() {
            if reached.insert(place) {
                sources.extend(forth.get(&place).into_iter().flatten());
            }
        }
        let calls = calls.into_iter();
        calls
            .filter(|call| reached.contains(&call.1))
            .map(|call| call.0)
            .collect()
    }

    /// The places from which the value at a place comes; lambdas themselves are left out.
    fn sources(&self, place: Place, makers: &mut Map<MethodId, Map<Var, u32>>) -> Vec<Place> {
        match place {
            Place::Everywhere => Vec::new(),
            Place::Field(field) => {
                let stores = self.stores.get(&field).into_iter().flatten();
                stores
                    .map(|&(method, var)| Place::Var(method, var))
                    .collect()
            }
            Place::Result(method) => {
                let facts = &self.facts[method.0 as usize];
                if !facts.present || facts.unknown.is_some() {
                    return vec![Place::Everywhere];
                }
                let ends = facts.ops.iter().filter_map(|fact| match fact.op {
                    Op::Return { value } if value != NONE => Some(Place::Var(method, value)),
                    _ => None,
                });
                ends.collect()
            }
            Place::Var(_, NONE) => Vec::new(),
            Place::Var(method, var) => {
                let facts = &self.facts[method.0 as usize];
                let makers = makers.entry(method).or_insert_with(|| {
                    let ops = facts.ops.iter().zip(0..);
                    ops.map(|(fact, at)| (fact.op.result(), at)).collect()
                });
                match makers.get(&var).map(|&at| &facts.ops[at as usize].op) {
                    Some(Op::Param { number, .. }) => self.given_by(method, *number),
                    Some(Op::Phi { from, .. }) => {
                        from.iter().map(|&var| Place::Var(method, var)).collect()
                    }
                    Some(Op::Load { field, .. } | Op::LoadStatic { field, .. })
                        if !self.is_element(*field) =>
                    {
                        vec![Place::Field(*field)]
                    }
                    Some(Op::New { .. } | Op::Lambda(_)) => Vec::new(),
                    Some(Op::Call { site, args, .. }) => self.returned_by(method, *site, args),
                    _ => vec![Place::Everywhere],
                }
            }
        }
    }

    fn given_by(&self, method: MethodId, param: u16) -> Vec<Place> {
        if self.run.contains(&method) || (self.is_called_back)(method) {
            return vec![Place::Everywhere];
        }
        let signature = self.program.method(method).signature;
        let mut found = Vec::new();
        for &(caller, op) in self.callers.get(&signature).into_iter().flatten() {
            if let Op::Call { site, args, .. } = &self.facts[caller.0 as usize].ops[op as usize].op
                && self.calls.targets(*site).methods.contains(&method)
                && let Some(&arg) = args.get(usize::from(param))
            {
                found.push(Place::Var(caller, arg));
            }
        }
        // A method that nothing here calls is called from elsewhere.
        if found.is_empty() {
            found.push(Place::Everywhere);
        }
        found
    }

    fn returned_by(&self, method: MethodId, site: Site, args: &[Var]) -> Vec<Place> {
        let targets = self.calls.targets(site);
        let is_own = |&method: &MethodId| {
            let class = self.program.class(self.program.method(method).class);
            !class.library
        };
        let signature = self.program.names.bytes(site.signature);
        if signature.starts_with(b"requireNonNull(") {
            return args.iter().map(|&arg| Place::Var(method, arg)).collect();
        }
        let known = !targets.open
            && targets.resolved.iter().chain(&targets.methods).all(is_own)
            && (self.lambdas_of)(site).is_empty();
        match known {
            true => targets
                .methods
                .iter()
                .map(|&method| Place::Result(method))
                .collect(),
            false => vec![Place::Everywhere],
        }
    }

    fn is_element(&self, field: Sym) -> bool {
        *self.program.names.bytes(field) == *Facts::ELEMENT.as_bytes()
    }

    fn follow(&mut self, maker: Maker, reach: &mut Reach) {
        let (Some(interface), dst) = (match &self.facts[maker.0.0 as usize].ops[maker.1 as usize].op
        {
            Op::Lambda(lambda) => (lambda.interface, lambda.dst),
            _ => return,
        }) else {
            reach.lost.insert(maker);
            return;
        };
        let mut seen: Set<Place> = Set::default();
        let mut due = vec![Place::Var(maker.0, dst)];
        while let Some(place) = due.pop() {
            if !seen.insert(place) {
                continue;
            }
            if seen.len() > FAR {
                reach.lost.insert(maker);
                return;
            }
            // A lambda that is everywhere may still reach calls by known ways.
            if place == Place::Everywhere {
                reach.everywhere.insert(maker);
                continue;
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
                    if self.run.contains(&method) || (self.is_called_back)(method) {
                        due.push(Place::Everywhere);
                    }
                    let signature = self.program.method(method).signature;
                    for &(caller, op) in self.callers.get(&signature).into_iter().flatten() {
                        let call = &self.facts[caller.0 as usize].ops[op as usize].op;
                        if let Op::Call { dst, site, .. } = call
                            && *dst != NONE
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
                due.push(match self.is_element(*field) {
                    true => Place::Everywhere,
                    false => Place::Field(*field),
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
                    // The call is of the lambda's own method: it runs with the captured values.
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

    /// Follows a lambda that is the receiver of a method of its interface: a method with a body
    /// there may pass it on.
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
            // Methods such as `andThen`.
            None if dst != NONE => due.push(Place::Var(method, dst)),
            None => {}
        }
    }

    /// Follows a lambda that is an argument of a call.
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
            self.program
                .class(self.program.method(method).class)
                .library
        });
        if site.dispatch == Dispatch::Virtual && place > 0 {
            for (maker, op) in (self.lambdas_of)(site) {
                let Op::Lambda(lambda) = &self.facts[maker.0 as usize].ops[op as usize].op else {
                    continue;
                };
                let shift = lambda.captured.len() + usize::from(lambda.makes);
                for &target in &self.calls.targets(lambda.site).methods {
                    due.push(
                        self.param(target, shift + place - 1)
                            .unwrap_or(Place::Everywhere),
                    );
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
        let is_static =
            resolved.is_some_and(|method| self.program.method(method).is(access::STATIC));
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

    /// Whether a type is an interface that has exactly one method without a body.
    fn is_function(&self, ty: FieldType<'_>) -> bool {
        let names = &self.program.names;
        let class =
            (ty.class_name()).and_then(|name| self.program.find(names.find(name.as_bytes())?));
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

    /// The place of a method's parameter, if the method has a body here.
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
            // The method is native, or does not use the parameter.
            None if facts.unknown.is_some() => Some(Place::Everywhere),
            None => Some(Place::Var(method, NONE)),
        }
    }
}
