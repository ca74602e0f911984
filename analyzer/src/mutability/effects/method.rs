//! Makes the [`Summary`] of a body.
//!
//! - [`calls`] is what a call does, [`reach`] what is reachable from values.

mod calls;
mod reach;

use super::heap::{Heap, Held};
use super::keep::summary;
use super::kinds::{Kind, Kinds};
use super::set::{MOST, Nodes};
use super::world::World;
use super::{Cause, Made, Node, Only, Ref, Summary, Write, reference};
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Sym};

/// The most rounds over a body's operations. Each round adds something, so there is an end, but a
/// distant one where hundreds of nodes meet.
const MAX_ROUNDS: usize = 24;

/// The number of nodes from which on new objects of a body are merged.
const MANY_NODES: usize = 160;
/// The number of nodes from which on new objects of a body are merged, where summaries are coarse.
const FEW_NODES: usize = 48;

/// The most sets of nodes that are processed for one body before it is given up: what is known of
/// hundreds of nodes says no more than the verdicts do.
const MAX_WORK: usize = 60_000;

/// What is known of a body while its operations are processed.
pub(super) struct State<'a> {
    pub world: &'a dyn World,
    pub id: MethodId,
    pub nodes: Vec<Node>,
    /// The parameter from which each node is derived.
    params: Vec<Option<u16>>,
    numbers: Map<Node, u32>,
    vars: Vec<Nodes>,
    pub heap: Heap,
    pub writes: Vec<Write>,
    written: Nodes,
    /// The condition of each node that is written only if a parameter is of a class.
    pub guards: Map<u32, (u16, ClassId)>,
    /// The condition of the operation that is being processed.
    guard: Only,
    /// For each node that is written, the kinds of objects that it is there.
    kinds: Map<u32, Kinds>,
    /// The kinds of the receiver of the call that is being processed.
    receiver: Kinds,
    /// What that call has changed so far.
    touched: Nodes,
    /// Whether a node may be of a kind, as far as that was asked.
    possible: Map<(u32, Kind), bool>,
    pub returned: Nodes,
    pub thrown: Nodes,
    pub kept: Nodes,
    pub given: Nodes,
    pub writes_outside: bool,
    pub writes_kept: bool,
    /// The operation that is being processed.
    at: u32,
    /// For proofs: what may be outside from an operation on, and the operations that write to what
    /// is outside.
    put_outside: Map<u32, Nodes>,
    written_outside: Set<u32>,
    /// Calls that may run code of the program repeatedly.
    repeated: Set<u32>,
    aliases: Map<(u16, u16), bool>,
    /// Which parameters may be lambdas, as far as that was asked.
    lambdas: Map<u16, bool>,
    made: Map<u32, u32>,
    depth: usize,
    many: usize,
    work: usize,
    /// A counter of changes.
    clock: u32,
    /// The time of the last change of each value; the next field is that of the heap.
    changed: Vec<u32>,
    heap_changed: u32,
    full: bool,
    /// Loads that give the value stored just before, even in a data race.
    stored: &'a [(u32, Var)],
}

/// Makes the summary of a body, which is a small one if `coarse`. `None` if that would take too
/// long.
pub fn summarize(world: &dyn World, id: MethodId, facts: &Facts, coarse: bool) -> Option<Summary> {
    if facts.unknown.is_some() {
        let mut unknown = Summary::unknown(&facts.followed);
        if world.is_sound() {
            unknown.add_ways(world.any_field(), true);
        }
        return Some(unknown);
    }
    let mut state = State {
        world,
        id,
        nodes: Vec::new(),
        params: Vec::new(),
        numbers: Map::default(),
        vars: vec![Nodes::default(); facts.vars as usize],
        heap: Heap::new(world.any_field()),
        writes: Vec::new(),
        written: Nodes::default(),
        guards: Map::default(),
        guard: None,
        kinds: Map::default(),
        receiver: Kinds::ANY,
        touched: Nodes::default(),
        possible: Map::default(),
        returned: Nodes::default(),
        thrown: Nodes::default(),
        kept: Nodes::default(),
        given: Nodes::default(),
        writes_outside: false,
        writes_kept: false,
        at: 0,
        put_outside: Map::default(),
        written_outside: Set::default(),
        repeated: Set::default(),
        aliases: Map::default(),
        lambdas: Map::default(),
        made: Map::default(),
        depth: 0,
        many: if coarse { FEW_NODES } else { MANY_NODES },
        work: 0,
        clock: 1,
        changed: vec![0; facts.vars as usize],
        heap_changed: 0,
        full: false,
        stored: &facts.stored,
    };
    // An operation that runs once sees only what was stored before it. Another thread may see more,
    // so proofs do not use the order.
    let once = match world.is_sound() {
        true => 0,
        false => facts.loops_from,
    };
    let mut rounds = 0;
    let mut taken = vec![0; facts.ops.len()];
    loop {
        let before = state.clock;
        let first = if rounds == 0 { 0 } else { once };
        for (at, fact) in facts.ops.iter().enumerate().skip(first) {
            if state.is_settled(&fact.op, taken[at]) {
                continue;
            }
            taken[at] = state.clock;
            state.at = at as u32;
            state.op(at as u32, &fact.op);
            if state.work > MAX_WORK || state.full {
                return None;
            }
        }
        if state.clock == before {
            break;
        }
        rounds += 1;
        if rounds == MAX_ROUNDS {
            return None;
        }
    }
    if world.is_sound() {
        for found in state.struck(facts.loops_from).iter() {
            state.write(found | 1, Cause::Unknown(0), Kinds::ANY);
        }
    }
    Some(summary(&state, coarse))
}

impl State<'_> {
    fn node(&mut self, node: Node) -> u32 {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        if self.nodes.len() >= self.many {
            let coarse = match node {
                Node::New(..) => Node::New(u32::MAX, Made::Some),
                Node::Read(from, _) => match self.param_of(from) {
                    Some(param) => Node::Deep(param),
                    None => Node::Outside,
                },
                other => other,
            };
            if coarse != node {
                return self.node(coarse);
            }
        }
        if self.nodes.len() == MOST {
            self.full = true;
            return 0;
        }
        let number = self.nodes.len() as u32;
        let param = match node {
            Node::Param(param) | Node::Deep(param) => Some(param),
            Node::Read(from, _) => self.param_of(from),
            _ => None,
        };
        if let Node::New(at, _) = node {
            *self.made.entry(at).or_default() += 1;
        }
        self.nodes.push(node);
        self.params.push(param);
        self.numbers.insert(node, number);
        number
    }

    fn outside(&mut self) -> Ref {
        reference(self.node(Node::Outside), false)
    }

    fn get(&self, var: Var) -> Nodes {
        self.vars.get(var as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, var: Var, refs: &Nodes) {
        if let Some(known) = self.vars.get_mut(var as usize)
            && known.join(refs, false)
        {
            self.clock += 1;
            self.changed[var as usize] = self.clock;
        }
    }

    fn note(&mut self, changed: bool) {
        self.clock += u32::from(changed);
    }

    /// Whether processing an expensive operation again would have the same result.
    fn is_settled(&self, op: &Op, taken: u32) -> bool {
        let same = |var: &Var| {
            let changed = self.changed.get(*var as usize);
            changed.is_none_or(|&changed| changed <= taken)
        };
        taken > 0
            && self.heap_changed <= taken
            && match op {
                Op::Load { base, .. } => self.stored.is_empty() && same(base),
                Op::Call { args, .. } | Op::Unknown { args, .. } => args.iter().all(same),
                _ => false,
            }
    }

    /// The parameter from which a node is derived.
    pub fn param_of(&self, node: u32) -> Option<u16> {
        self.params[node as usize]
    }

    fn may_alias(&mut self, one: u16, other: u16) -> bool {
        let key = (one.min(other), one.max(other));
        let (world, id) = (self.world, self.id);
        let may = || world.may_alias(id, key.0, key.1);
        *self.aliases.entry(key).or_insert_with(may)
    }

    /// The node for what is read from a node that was not made here.
    fn child(&mut self, node: u32, field: Sym) -> u32 {
        let any = field == self.world.any_field();
        let child = match (self.nodes[node as usize], self.param_of(node)) {
            (Node::Param(_), _) if !any => Node::Read(node, field),
            (Node::Read(from, _), _)
                if !any && matches!(self.nodes[from as usize], Node::Param(_)) =>
            {
                Node::Read(node, field)
            }
            (_, Some(param)) => Node::Deep(param),
            (_, None) => return node,
        };
        self.node(child)
    }

    fn put(&mut self, node: u32, field: Sym, refs: &Nodes, weak: bool) {
        if refs.is_empty() {
            return;
        }
        self.work += 1;
        let of = match (self.nodes[node as usize], self.param_of(node)) {
            (Node::New(..), _) => Held::Here,
            (Node::Param(param), _) => Held::Argument(param),
            (_, Some(param)) => Held::Below(param),
            (_, None) => Held::Outside,
        };
        match of {
            Held::Here => {}
            // A static field leads to it.
            Held::Outside => self.keep(refs, weak),
            // A static field may lead to it, unless it is the object that a constructor makes.
            Held::Argument(param) | Held::Below(param) => {
                if self.world.is_sound() && self.may_alias(param, param) {
                    self.perhaps_outside(refs);
                }
            }
        }
        if self.heap.put(node, of, field, refs, weak) {
            self.clock += 1;
            self.heap_changed = self.clock;
        }
    }

    /// Records that a static field leads to these objects from now on.
    fn keep(&mut self, refs: &Nodes, weak: bool) {
        let changed = self.kept.join(refs, weak);
        self.note(changed);
        self.perhaps_outside(refs);
    }

    /// Records that a static field may lead to these objects from now on.
    fn perhaps_outside(&mut self, refs: &Nodes) {
        if self.world.is_sound() && !refs.is_empty() {
            self.put_outside
                .entry(self.at)
                .or_default()
                .join(refs, true);
        }
    }

    /// What may be written by a write to something outside. An operation that writes and makes
    /// something accessible from outside writes first, so what it makes accessible is not affected
    /// by it, unless it runs again.
    fn struck(&mut self, loops_from: usize) -> Nodes {
        let mut struck = Nodes::default();
        for (&at, refs) in &self.put_outside {
            let is_again = at as usize >= loops_from || self.repeated.contains(&at);
            if self
                .written_outside
                .iter()
                .any(|&other| other != at || is_again)
            {
                struck.join(refs, true);
            }
        }
        self.closure(struck)
    }

    /// Reads a field of everything that a value may be.
    fn load(&mut self, base: &Nodes, field: Sym) -> Nodes {
        let mut found = Nodes::default();
        for from in base.iter() {
            self.work += 1;
            let (node, weak) = (from >> 1, from & 1 == 1);
            self.heap.held(node, field, weak, &mut found);
            let kind = self.nodes[node as usize];
            if matches!(kind, Node::New(..)) {
                continue;
            }
            let child = self.child(node, field);
            found.insert(reference(child, weak));
            // What was stored through another name of the same object.
            let param = self.param_of(node);
            if let Node::Param(one) = kind {
                for (other, at) in self.heap.arguments(field) {
                    self.work += 1;
                    if at != node && self.may_alias(one, other) {
                        self.heap.held(at, field, weak, &mut found);
                    }
                }
            }
            match (kind, param) {
                (Node::Deep(param), _) => {
                    if let Some(below) = self.heap.of_param(param, field) {
                        found.join(below, weak);
                    }
                }
                (_, Some(param)) => {
                    if let Some(&deep) = self.numbers.get(&Node::Deep(param)) {
                        self.heap.held(deep, field, weak, &mut found);
                    }
                }
                _ => {}
            }
            if self.world.is_sound() {
                let any_name = !matches!(kind, Node::Param(_));
                found.join(&self.heap.stored(field, any_name), true);
            }
        }
        found
    }

    /// Whether the objects that a node stands for may be of a kind, by its declared type.
    fn may_be_of(&mut self, node: u32, kind: Kind) -> bool {
        let (world, id) = (self.world, self.id);
        let of = self.nodes[node as usize];
        let may = || match of {
            Node::Param(param) => world.is_param_of(id, param, kind),
            Node::Read(_, field) => world.is_field_of(field, kind),
            Node::Deep(param) => world.leads_param_to(id, param, kind),
            Node::Held(_) | Node::New(..) | Node::Outside => true,
        };
        *self.possible.entry((node, kind)).or_insert_with(may)
    }

    /// The kinds of objects that a node is where it is written.
    pub fn kinds_of(&self, node: u32) -> Kinds {
        self.kinds.get(&node).copied().unwrap_or(Kinds::ANY)
    }

    fn write(&mut self, target: Ref, cause: Cause, kinds: Kinds) {
        self.touched.insert(target);
        // What was stored in an object is obtained in the same ways as the object, but is another
        // one.
        if !kinds.is_any() && !kinds.iter().any(|kind| self.may_be_of(target >> 1, kind)) {
            return;
        }
        match self.nodes[(target >> 1) as usize] {
            Node::New(..) => {}
            Node::Outside => {
                if self.world.is_sound() {
                    self.written_outside.insert(self.at);
                }
                self.note(!self.writes_kept);
                self.writes_outside = true;
                self.writes_kept = true;
            }
            _ => {
                let node = target >> 1;
                match self.written.has(target | 1) {
                    false => self.guards.extend(self.guard.map(|guard| (node, guard))),
                    true if self.guards.get(&node) != self.guard.as_ref() => {
                        self.guards.remove(&node);
                    }
                    true => {}
                }
                let is_new = match self.kinds.get_mut(&node) {
                    Some(known) => known.join(kinds),
                    None => self.kinds.insert(node, kinds).is_none(),
                };
                self.note(is_new);
                if !self.written.has(target) {
                    self.written.insert(target);
                    self.writes.push(Write {
                        node: target,
                        cause,
                        only: None,
                        kinds,
                    });
                    self.note(true);
                }
            }
        }
    }

    fn op(&mut self, at: u32, op: &Op) {
        match op {
            Op::Param { dst, number } => {
                let node = self.node(Node::Param(*number));
                self.set(*dst, &Nodes::one(reference(node, false)));
            }
            Op::Phi { dst, from } => {
                for &var in from {
                    let refs = self.get(var);
                    self.set(*dst, &refs);
                }
            }
            Op::Load { dst: NONE, .. } => {}
            Op::Load { dst, base, field } => {
                let found = match self.stored.binary_search_by_key(&at, |stored| stored.0) {
                    Ok(known) => self.get(self.stored[known].1),
                    Err(_) => self.load(&self.get(*base), *field),
                };
                self.set(*dst, &found);
            }
            Op::Store { base, field, value } => {
                let refs = self.get(*value);
                let kinds = self.world.kinds_with(*field);
                for target in self.get(*base).iter() {
                    if !kinds.iter().all(|kind| self.may_be_of(target >> 1, kind)) {
                        continue;
                    }
                    self.put(target >> 1, *field, &refs, target & 1 == 1);
                    self.write(target, Cause::Store(at), kinds);
                }
            }
            Op::LoadStatic { dst, field } => {
                self.initialize(self.world.before_field(self.id, *field));
                if *dst == NONE {
                    return;
                }
                let outside = self.outside();
                let mut found = Nodes::default();
                match self.world.is_constant(self.id, *field) {
                    true => self.heap.held(outside >> 1, *field, false, &mut found),
                    false => found = self.load(&Nodes::one(outside), *field),
                }
                self.set(*dst, &found);
            }
            Op::StoreStatic { field, value, own } => {
                self.initialize(self.world.before_field(self.id, *field));
                let outside = self.outside();
                let refs = self.get(*value);
                self.put(outside >> 1, *field, &refs, false);
                if !own {
                    self.note(!self.writes_outside);
                    self.writes_outside = true;
                }
            }
            Op::New { dst, class } => {
                let made = class.map_or(Made::Some, Made::Class);
                let node = self.node(Node::New(at, made));
                self.set(*dst, &Nodes::one(reference(node, false)));
            }
            Op::Lambda(lambda) => {
                let node = self.node(Node::New(at, Made::Lambda(self.id, at)));
                for (place, &captured) in lambda.captured.iter().enumerate() {
                    let refs = self.get(captured);
                    self.put(node, self.world.captured(place), &refs, false);
                }
                self.set(lambda.dst, &Nodes::one(reference(node, false)));
            }
            Op::Call { dst, site, args } => {
                let args: Vec<Nodes> = args.iter().map(|&arg| self.get(arg)).collect();
                let result = self.call(at, *site, &args);
                self.set(*dst, &result);
            }
            Op::Unknown { dst, args, .. } => {
                let args: Vec<Nodes> = args.iter().map(|&arg| self.get(arg)).collect();
                let result = self.give_away(at, &args);
                self.set(*dst, &result);
            }
            Op::Return { value } => {
                let refs = self.get(*value);
                let changed = self.returned.join(&refs, false);
                self.note(changed);
            }
            Op::Throw { value } => {
                let refs = self.get(*value);
                let changed = self.thrown.join(&refs, false);
                self.note(changed);
            }
            Op::Catch { dst } => {
                let outside = self.outside();
                let mut refs = self.thrown;
                refs.insert(outside);
                self.set(*dst, &refs);
            }
            Op::Outside { dst } => {
                let outside = self.outside();
                self.set(*dst, &Nodes::one(outside));
            }
        }
    }

    /// Runs class initializers. What they change existed before, unless it is their own.
    fn initialize(&mut self, initializers: Vec<MethodId>) {
        for method in initializers {
            if self.world.summary(method).writes_kept {
                let outside = self.outside();
                self.write(outside, Cause::Call(self.at, method, 0), Kinds::ANY);
            }
        }
    }

    /// Whether the summary is to be a small one.
    pub fn is_coarse(&self) -> bool {
        self.many == FEW_NODES
    }
}
