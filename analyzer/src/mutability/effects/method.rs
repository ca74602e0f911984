//! From a body to its [`Summary`].

use super::{Cause, Made, Node, Ref, Refs, Summary, Write, join, reference};
use crate::mutability::facts::{Facts, Lambda, NONE, Op, Var};
use crate::program::calls::Site;
use crate::program::names::Map;
use crate::program::{ClassId, MethodId, Sym};
use std::sync::Arc;

/// More nodes than this in a summary are thrown together.
const MAX_NODES: usize = 40;
/// The same for what hangs below them.
const MAX_HEAP: usize = 80;
/// The operation that stands for all calls of a body.
const MADE_BY_CALLS: u32 = u32::MAX - 1;
/// Kinds of objects that one call makes.
const MAX_MADE: usize = 12;
/// Times that a body's operations are taken; each time adds something, so there
/// is an end, but a far one where thousands of nodes meet.
const MAX_ROUNDS: usize = 24;

/// From this many nodes on, a body's new ones are thrown together.
const MANY_NODES: usize = 200;
/// The same where summaries are coarse.
const FEW_NODES: usize = 48;

/// References that are moved for one body, all together, before it is given up:
/// what is left of thousands of nodes says no more than the verdicts do.
const MAX_WORK: usize = 300_000;

/// What a call runs.
#[derive(Clone)]
pub enum Target {
    /// A method.
    Method(MethodId),
    /// A known effect, for this method.
    Known(Arc<Summary>),
    /// A lambda of which nobody knows here what it has captured.
    Lambda(MethodId, u32),
    /// Something that is not known.
    Unknown,
}

/// Answers about the rest of the program.
pub trait World {
    /// What a call may run on a receiver of any class.
    fn any(&self, site: Site) -> Arc<Vec<Target>>;
    /// What it runs on an instance of exactly this class.
    fn on(&self, site: Site, class: ClassId) -> Arc<Vec<Target>>;
    /// The summary of a method, as far as it is known by now.
    fn summary(&self, method: MethodId) -> Arc<Summary>;
    /// What makes a lambda.
    fn lambda(&self, method: MethodId, op: u32) -> Option<&Lambda>;
    /// Whether a lambda has the method that is called.
    fn answers(&self, lambda: &Lambda, site: Site) -> bool;
    /// Whether the call goes to the library, which may call back what it gets.
    fn calls_back(&self, site: Site) -> bool;
    /// The methods that the library may call on an instance of a class.
    fn callbacks(&self, class: ClassId) -> Arc<Vec<(MethodId, usize)>>;
    /// Whether two parameters of a method may be the same object.
    fn may_alias(&self, method: MethodId, one: u16, other: u16) -> bool;
    /// Whether ways that are merely possible count.
    fn is_sound(&self) -> bool;
    /// Whether summaries are to be small rather than exact.
    fn is_coarse(&self) -> bool;
    /// The field that stands for all fields.
    fn any_field(&self) -> Sym;
    /// The field that holds what a lambda has captured.
    fn captured(&self, place: usize) -> Sym;
}

struct State<'a> {
    world: &'a dyn World,
    id: MethodId,
    nodes: Vec<Node>,
    numbers: Map<Node, u32>,
    vars: Vec<Refs>,
    heap: Vec<(u32, Sym, Refs)>,
    places: Map<(u32, Sym), u32>,
    /// Entries of the heap by node.
    below: Map<u32, Vec<u32>>,
    /// Entries of the heap by field, of nodes that were not made here.
    stored: Map<Sym, Vec<u32>>,
    writes: Vec<Write>,
    written: Map<Ref, ()>,
    returned: Refs,
    thrown: Refs,
    kept: Refs,
    writes_outside: bool,
    depth: usize,
    many: usize,
    work: usize,
    changed: bool,
}

/// Makes the summary of a body; `coarse` if it has to be a small one. Nothing if
/// that would take too long.
pub fn summarize(world: &dyn World, id: MethodId, facts: &Facts, coarse: bool) -> Option<Summary> {
    if facts.unknown.is_some() {
        return Some(Summary::unknown(&facts.followed));
    }
    let mut state = State {
        world,
        id,
        nodes: Vec::new(),
        numbers: Map::default(),
        vars: vec![Vec::new(); facts.vars as usize],
        heap: Vec::new(),
        places: Map::default(),
        below: Map::default(),
        stored: Map::default(),
        writes: Vec::new(),
        written: Map::default(),
        returned: Vec::new(),
        thrown: Vec::new(),
        kept: Vec::new(),
        writes_outside: false,
        depth: 0,
        many: if coarse || world.is_coarse() {
            FEW_NODES
        } else {
            MANY_NODES
        },
        work: 0,
        changed: false,
    };
    for _ in 0..MAX_ROUNDS {
        state.changed = false;
        for (at, fact) in facts.ops.iter().enumerate() {
            state.op(at as u32, &fact.op);
            if state.work > MAX_WORK {
                return None;
            }
        }
        if !state.changed {
            break;
        }
    }
    if state.writes_outside && world.is_sound() {
        // What a static field keeps may be what is written there.
        let kept = state.closure(&state.kept.clone());
        for found in kept {
            state.write(found | 1, Cause::Unknown(0));
        }
    }
    Some(state.summary(coarse))
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
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        self.numbers.insert(node, number);
        number
    }

    fn outside(&mut self) -> Ref {
        reference(self.node(Node::Outside), false)
    }

    fn get(&self, var: Var) -> Refs {
        self.vars.get(var as usize).cloned().unwrap_or_default()
    }

    fn set(&mut self, var: Var, refs: &[Ref]) {
        if let Some(known) = self.vars.get_mut(var as usize) {
            self.changed |= join(known, refs, false);
        }
    }

    fn param_of(&self, mut node: u32) -> Option<u16> {
        loop {
            match self.nodes[node as usize] {
                Node::Param(param) | Node::Deep(param) => return Some(param),
                Node::Read(from, _) => node = from,
                _ => return None,
            }
        }
    }

    /// What a node that was not made here gives when it is read.
    fn child(&mut self, node: u32, field: Sym) -> u32 {
        let child = match self.nodes[node as usize] {
            Node::Outside | Node::New(..) => return node,
            Node::Deep(param) => Node::Deep(param),
            Node::Param(param) if field == self.world.any_field() => Node::Deep(param),
            Node::Param(_) => Node::Read(node, field),
            Node::Read(from, _) => match self.nodes[from as usize] {
                Node::Param(param) if field == self.world.any_field() => Node::Deep(param),
                Node::Param(_) => Node::Read(node, field),
                _ => match self.param_of(node) {
                    Some(param) => Node::Deep(param),
                    None => Node::Outside,
                },
            },
        };
        self.node(child)
    }

    fn put(&mut self, node: u32, field: Sym, refs: &[Ref], weak: bool) {
        if refs.is_empty() {
            return;
        }
        let place = match self.places.get(&(node, field)) {
            Some(&place) => place,
            None => {
                let place = self.heap.len() as u32;
                self.heap.push((node, field, Vec::new()));
                self.places.insert((node, field), place);
                self.below.entry(node).or_default().push(place);
                if !matches!(self.nodes[node as usize], Node::New(..)) {
                    self.stored.entry(field).or_default().push(place);
                }
                place
            }
        };
        let held = &mut self.heap[place as usize].2;
        self.changed |= join(held, refs, weak);
    }

    fn held(&self, node: u32, field: Sym, into: &mut Refs, weak: bool) {
        if let Some(&place) = self.places.get(&(node, field)) {
            join(into, &self.heap[place as usize].2, weak);
        }
    }

    /// Reads a field of all that a value may be.
    fn load(&mut self, base: &[Ref], field: Sym) -> Refs {
        let mut found = Refs::new();
        self.work += base.len();
        let any = self.world.any_field();
        for &from in base {
            let (node, weak) = (from >> 1, from & 1 == 1);
            self.held(node, field, &mut found, weak);
            if field != any {
                self.held(node, any, &mut found, weak);
            }
            let kind = self.nodes[node as usize];
            if matches!(kind, Node::New(..)) {
                continue;
            }
            let child = self.child(node, field);
            join(&mut found, &[reference(child, weak)], false);
            // What was stored by another name of the same object.
            let stored = self.stored.get(&field).into_iter().flatten();
            for &place in stored {
                let (other, _, refs) = &self.heap[place as usize];
                if *other == node {
                    continue;
                }
                match (kind, self.nodes[*other as usize]) {
                    (Node::Param(one), Node::Param(other))
                        if self.world.may_alias(self.id, one, other) =>
                    {
                        join(&mut found, refs, weak);
                    }
                    (Node::Param(_), Node::Param(_)) => {}
                    (Node::Deep(param), _) if self.param_of(*other) == Some(param) => {
                        join(&mut found, refs, weak);
                    }
                    (_, Node::Deep(param)) if self.param_of(node) == Some(param) => {
                        join(&mut found, refs, weak);
                    }
                    _ if self.world.is_sound() => {
                        join(&mut found, refs, true);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// A value and all that it leads to.
    fn closure(&mut self, refs: &[Ref]) -> Refs {
        // 2 for a node that was reached on a certain way, 1 for another.
        self.work += self.nodes.len();
        let mut seen = vec![0u8; self.nodes.len()];
        let mut pending = refs.to_vec();
        while let Some(next) = pending.pop() {
            let (node, weak) = (next >> 1, next & 1);
            let strength = 2 - weak as u8;
            if node as usize >= seen.len() {
                seen.resize(self.nodes.len(), 0);
            }
            if seen[node as usize] >= strength {
                continue;
            }
            seen[node as usize] = strength;
            if let Some(param) = self.param_of(node) {
                if matches!(self.nodes[node as usize], Node::Deep(_)) {
                    // What was stored anywhere below the parameter.
                    for place in 0..self.heap.len() {
                        if self.param_of(self.heap[place].0) == Some(param) {
                            pending.extend(self.heap[place].2.iter().map(|found| found | weak));
                        }
                    }
                } else {
                    let deep = self.node(Node::Deep(param));
                    pending.push(reference(deep, false) | weak);
                }
            }
            for &place in self.below.get(&node).into_iter().flatten() {
                pending.extend(self.heap[place as usize].2.iter().map(|found| found | weak));
            }
        }
        let reached = seen
            .iter()
            .enumerate()
            .filter(|(_, strength)| **strength > 0);
        reached
            .map(|(node, &strength)| reference(node as u32, strength == 1))
            .collect()
    }

    fn write(&mut self, target: Ref, cause: Cause) {
        match self.nodes[(target >> 1) as usize] {
            Node::New(..) => {}
            Node::Outside => {
                self.changed |= !self.writes_outside;
                self.writes_outside = true;
            }
            _ => {
                if self.written.insert(target, ()).is_none() {
                    self.writes.push(Write {
                        node: target,
                        cause,
                    });
                    self.changed = true;
                }
            }
        }
    }

    fn op(&mut self, at: u32, op: &Op) {
        match op {
            Op::Param { dst, number } => {
                let node = self.node(Node::Param(*number));
                self.set(*dst, &[reference(node, false)]);
            }
            Op::Phi { dst, from } => {
                for &var in from {
                    let refs = self.get(var);
                    self.set(*dst, &refs);
                }
            }
            Op::Load { dst: NONE, .. } => {}
            Op::Load { dst, base, field } => {
                let found = self.load(&self.get(*base), *field);
                self.set(*dst, &found);
            }
            Op::Store { base, field, value } => {
                let refs = self.get(*value);
                for target in self.get(*base) {
                    self.put(target >> 1, *field, &refs, target & 1 == 1);
                    self.write(target, Cause::Store(at));
                }
            }
            Op::LoadStatic { dst, field } => {
                let outside = self.outside();
                let found = self.load(&[outside], *field);
                self.set(*dst, &found);
            }
            Op::StoreStatic { field, value, own } => {
                let outside = self.outside();
                let refs = self.get(*value);
                self.put(outside >> 1, *field, &refs, false);
                self.changed |= join(&mut self.kept, &refs, false);
                if !own {
                    self.write(outside, Cause::Store(at));
                }
            }
            Op::New { dst, class } => {
                let made = class.map_or(Made::Some, Made::Class);
                let node = self.node(Node::New(at, made));
                self.set(*dst, &[reference(node, false)]);
            }
            Op::Lambda(lambda) => {
                let node = self.node(Node::New(at, Made::Lambda(self.id, at)));
                for (place, &captured) in lambda.captured.iter().enumerate() {
                    let refs = self.get(captured);
                    self.put(node, self.world.captured(place), &refs, false);
                }
                self.set(lambda.dst, &[reference(node, false)]);
            }
            Op::Call { dst, site, args } => {
                let args: Vec<Refs> = args.iter().map(|&arg| self.get(arg)).collect();
                let result = self.call(at, *site, &args);
                self.set(*dst, &result);
            }
            Op::Unknown { dst, args, .. } => {
                let args: Vec<Refs> = args.iter().map(|&arg| self.get(arg)).collect();
                let result = self.give_away(at, &args);
                self.set(*dst, &result);
            }
            Op::Return { value } => {
                let refs = self.get(*value);
                self.changed |= join(&mut self.returned, &refs, false);
            }
            Op::Throw { value } => {
                let refs = self.get(*value);
                self.changed |= join(&mut self.thrown, &refs, false);
            }
            Op::Catch { dst } => {
                let outside = self.outside();
                let mut refs = self.thrown.clone();
                join(&mut refs, &[outside], false);
                self.set(*dst, &refs);
            }
            Op::Outside { dst } => {
                let outside = self.outside();
                self.set(*dst, &[outside]);
            }
        }
    }

    /// Gives arguments to code that is not known. What it returns, and what
    /// anything outside is from now on, may be any of them.
    fn give_away(&mut self, at: u32, args: &[Refs]) -> Refs {
        let mut all = Refs::new();
        for refs in args {
            join(&mut all, refs, false);
        }
        for given in self.closure(&all) {
            self.write(given | 1, Cause::Unknown(at));
        }
        let outside = self.outside();
        self.write(outside, Cause::Unknown(at));
        let any = self.world.any_field();
        all.retain(|&one| one != outside);
        self.put(outside >> 1, any, &all, true);
        let mut result = vec![outside];
        join(&mut result, &all, true);
        result
    }

    fn call(&mut self, at: u32, site: Site, args: &[Refs]) -> Refs {
        if self.work > MAX_WORK {
            return Refs::new();
        }
        let world = self.world;
        let mut result = Refs::new();
        let receiver = args.first().cloned().unwrap_or_default();
        let exact = site.dispatch == crate::program::calls::Dispatch::Exact;
        let mut any = exact || receiver.is_empty();
        if !exact {
            for &one in &receiver {
                match self.nodes[(one >> 1) as usize] {
                    Node::New(_, Made::Class(class)) => {
                        let mut args = args.to_vec();
                        args[0] = vec![one];
                        for target in world.on(site, class).iter() {
                            let found = self.run(at, target, &args);
                            join(&mut result, &found, false);
                        }
                    }
                    Node::New(_, Made::Lambda(method, op)) => {
                        let lambda = world
                            .lambda(method, op)
                            .filter(|lambda| world.answers(lambda, site));
                        if let Some(lambda) = lambda {
                            let found = self.run_lambda(at, lambda, &[one], &args[1..]);
                            join(&mut result, &found, false);
                        }
                    }
                    _ => any = true,
                }
            }
        }
        if any {
            for target in world.any(site).iter() {
                let found = self.run(at, target, args);
                join(&mut result, &found, false);
            }
        }
        if world.calls_back(site) {
            let found = self.call_back(at, args);
            join(&mut result, &found, false);
        }
        result
    }

    fn run(&mut self, at: u32, target: &Target, args: &[Refs]) -> Refs {
        match target {
            Target::Method(method) => {
                let summary = self.world.summary(*method);
                self.apply(at, &summary, args, |write| Cause::Call(at, *method, write))
            }
            Target::Known(summary) => self.apply(at, summary, args, |_| Cause::Known(at)),
            // Any lambda that runs any lambda would run all of them, over and
            // over.
            Target::Lambda(..) if self.depth > 0 => match self.world.is_sound() {
                true => self.give_away(at, args),
                false => Refs::new(),
            },
            // What it has captured is read from it.
            Target::Lambda(method, op) => match self.world.lambda(*method, *op) {
                Some(lambda) => {
                    let receiver = args.first().cloned().unwrap_or_default();
                    self.run_lambda(at, lambda, &receiver, args.get(1..).unwrap_or(&[]))
                }
                None => Refs::new(),
            },
            Target::Unknown => self.give_away(at, args),
        }
    }

    /// Runs what a lambda stands for.
    fn run_lambda(&mut self, at: u32, lambda: &Lambda, receiver: &[Ref], args: &[Refs]) -> Refs {
        // Lambdas that run lambdas have an end somewhere.
        if self.depth > 3 {
            return Refs::new();
        }
        let mut all = Vec::new();
        let mut made = Refs::new();
        if lambda.makes {
            let class = self.node(Node::New(at, Made::Class(lambda.site.owner)));
            made = vec![reference(class, false)];
            all.push(made.clone());
        }
        for place in 0..lambda.captured.len() {
            let captured = self.world.captured(place);
            let refs = self.load(receiver, captured);
            all.push(refs);
        }
        all.extend(args.iter().cloned());
        self.depth += 1;
        let mut result = self.call(at, lambda.site, &all);
        self.depth -= 1;
        join(&mut result, &made, false);
        result
    }

    /// The library may run what it gets: lambdas, and methods that override its
    /// own, with all that it gets.
    fn call_back(&mut self, at: u32, args: &[Refs]) -> Refs {
        let mut all = Refs::new();
        for refs in args {
            join(&mut all, refs, false);
        }
        let mut result = Refs::new();
        let has_own = |state: &Self, refs: &[Ref]| {
            refs.iter()
                .any(|one| match state.nodes[(one >> 1) as usize] {
                    Node::New(_, Made::Lambda(..)) => true,
                    Node::New(_, Made::Class(class)) => !state.world.callbacks(class).is_empty(),
                    _ => false,
                })
        };
        let given = self.closure(&all);
        if self.depth > 2 || !has_own(self, &given) {
            return result;
        }
        self.depth += 1;
        let outside = self.outside();
        for &one in &given {
            let mut given = given.clone();
            given.retain(|&other| other != one);
            join(&mut given, &[outside], false);
            match self.nodes[(one >> 1) as usize] {
                Node::New(_, Made::Lambda(method, op)) => {
                    if let Some(lambda) = self.world.lambda(method, op) {
                        // As many as it may take.
                        let args = vec![given; 4];
                        let found = self.run_lambda(at, lambda, &[one], &args);
                        join(&mut result, &found, false);
                    }
                }
                Node::New(_, Made::Class(class)) => {
                    for &(method, params) in self.world.callbacks(class).iter() {
                        let summary = self.world.summary(method);
                        let mut args = vec![given.clone(); params.max(1)];
                        args[0] = vec![one];
                        let found =
                            self.apply(at, &summary, &args, |write| Cause::Call(at, method, write));
                        join(&mut result, &found, false);
                    }
                }
                _ => {}
            }
        }
        self.depth -= 1;
        result
    }

    /// Does to the arguments what a summary says.
    fn apply(
        &mut self,
        at: u32,
        summary: &Summary,
        args: &[Refs],
        cause: impl Fn(u32) -> Cause,
    ) -> Refs {
        let none = Refs::new();
        let mut means: Vec<Refs> = Vec::with_capacity(summary.nodes.len());
        for node in &summary.nodes {
            let refs = match *node {
                Node::Param(param) => args.get(usize::from(param)).unwrap_or(&none).clone(),
                // What the callee stored there is found below.
                Node::Read(from, field) => self.load(&means[from as usize].clone(), field),
                Node::Deep(param) => {
                    let from = args.get(usize::from(param)).unwrap_or(&none).clone();
                    self.closure_below(&from)
                }
                Node::New(_, made) => {
                    // Where summaries are coarse, objects that calls make are
                    // known by what they are alone.
                    let at = if self.many == FEW_NODES {
                        MADE_BY_CALLS
                    } else {
                        at
                    };
                    let mut node = Node::New(at, made);
                    if !self.numbers.contains_key(&node) && self.made_at(at) >= MAX_MADE {
                        node = Node::New(at, Made::Some);
                    }
                    vec![reference(self.node(node), false)]
                }
                Node::Outside => vec![self.outside()],
            };
            means.push(refs);
        }
        self.work +=
            means.iter().map(Vec::len).sum::<usize>() + summary.writes.len() + summary.heap.len();
        let mapped = |refs: &[Ref]| {
            let mut all = Refs::new();
            for &one in refs {
                join(&mut all, &means[(one >> 1) as usize], one & 1 == 1);
            }
            all
        };
        for (node, field, refs) in &summary.heap {
            let refs = mapped(refs);
            for &target in &means[*node as usize] {
                self.put(target >> 1, *field, &refs, target & 1 == 1);
            }
        }
        for (number, write) in summary.writes.iter().enumerate() {
            let weak = write.node & 1;
            for &target in &means[(write.node >> 1) as usize] {
                self.write(target | weak, cause(number as u32));
            }
        }
        let kept = mapped(&summary.kept);
        self.changed |= join(&mut self.kept, &kept, false);
        let thrown = mapped(&summary.thrown);
        self.changed |= join(&mut self.thrown, &thrown, false);
        if summary.writes_outside {
            let outside = self.outside();
            self.write(outside, cause(0));
        }
        mapped(&summary.returned)
    }

    fn made_at(&self, at: u32) -> usize {
        self.nodes
            .iter()
            .filter(|node| matches!(node, Node::New(op, _) if *op == at))
            .count()
    }

    /// All that a value leads to, itself left out.
    fn closure_below(&mut self, refs: &[Ref]) -> Refs {
        let mut start = Refs::new();
        for &one in refs {
            let (node, weak) = (one >> 1, one & 1 == 1);
            if let Some(param) = self.param_of(node) {
                let deep = self.node(Node::Deep(param));
                join(&mut start, &[reference(deep, weak)], false);
            }
            if matches!(self.nodes[node as usize], Node::Outside) {
                join(&mut start, &[one], false);
            }
            let below = self.below.get(&node).into_iter().flatten();
            for &place in below {
                join(&mut start, &self.heap[place as usize].2, weak);
            }
        }
        self.closure(&start)
    }

    /// Keeps what callers can see.
    fn summary(self, coarse: bool) -> Summary {
        let keep = |coarse| Keep {
            state: &self,
            numbers: Map::default(),
            summary: Summary::default(),
            pending: Vec::new(),
            coarse,
        };
        let mut kept = keep(coarse);
        if !kept.all() {
            kept = keep(true);
            kept.all();
        }
        kept.summary
    }
}

/// Picks what callers can see.
struct Keep<'s, 'a> {
    state: &'s State<'a>,
    numbers: Map<Node, u32>,
    summary: Summary,
    /// Nodes of the state whose heap is still to be kept.
    pending: Vec<u32>,
    /// Whether everything further away is thrown together.
    coarse: bool,
}

impl Keep<'_, '_> {
    fn node(&mut self, node: u32) -> u32 {
        let own = match self.state.nodes[node as usize] {
            Node::Read(..) if self.coarse => match self.state.param_of(node) {
                Some(param) => Node::Deep(param),
                None => Node::Outside,
            },
            Node::Read(from, field) => Node::Read(self.node(from), field),
            Node::New(_, made @ Made::Lambda(..)) => Node::New(0, made),
            Node::New(..) if self.coarse => Node::New(0, Made::Some),
            // Callers know objects by what they are, not by where they were made.
            Node::New(_, made) => Node::New(0, made),
            other => other,
        };
        if let Some(&number) = self.numbers.get(&own) {
            if self.coarse || matches!(own, Node::New(..)) {
                self.pending.push(node);
            }
            return number;
        }
        let number = self.summary.nodes.len() as u32;
        self.summary.nodes.push(own);
        self.numbers.insert(own, number);
        self.pending.push(node);
        number
    }

    fn refs(&mut self, refs: &[Ref]) -> Refs {
        let mut kept = Refs::new();
        for &one in refs {
            let own = reference(self.node(one >> 1), one & 1 == 1);
            join(&mut kept, &[own], false);
        }
        kept
    }

    /// Keeps everything; false if it was too much.
    fn all(&mut self) -> bool {
        let state = self.state;
        self.summary.writes_outside = state.writes_outside;
        for write in &state.writes {
            let node = reference(self.node(write.node >> 1), write.node & 1 == 1);
            let covered = |known: &Write| known.node == node || known.node == node & !1;
            if !self.summary.writes.iter().any(covered) {
                self.summary.writes.push(Write {
                    node,
                    cause: write.cause,
                });
            }
        }
        self.summary.returned = self.refs(&state.returned);
        self.summary.thrown = self.refs(&state.thrown);
        self.summary.kept = self.refs(&state.kept);
        // What was stored in objects that callers know anyway.
        for (node, _, _) in &state.heap {
            if state.param_of(*node).is_some() {
                self.node(*node);
                self.pending.push(*node);
            }
        }
        let mut done = vec![false; state.nodes.len()];
        while let Some(node) = self.pending.pop() {
            if std::mem::replace(&mut done[node as usize], true) {
                continue;
            }
            let own = self.node(node);
            for &place in state.below.get(&node).into_iter().flatten() {
                let (_, field, refs) = &state.heap[place as usize];
                // Static fields are nobody's; what they keep is known.
                if matches!(state.nodes[node as usize], Node::Outside) {
                    continue;
                }
                let field = match self.coarse
                    && !matches!(
                        self.summary.nodes[own as usize],
                        Node::New(_, Made::Lambda(..))
                    ) {
                    true => state.world.any_field(),
                    false => *field,
                };
                let refs = self.refs(refs);
                match self
                    .summary
                    .heap
                    .iter_mut()
                    .find(|entry| entry.0 == own && entry.1 == field)
                {
                    Some(entry) => {
                        join(&mut entry.2, &refs, false);
                    }
                    None => self.summary.heap.push((own, field, refs)),
                }
                if self.is_too_much() {
                    return false;
                }
            }
        }
        !self.is_too_much()
    }

    fn is_too_much(&self) -> bool {
        let few = if self.state.many == FEW_NODES { 3 } else { 1 };
        !self.coarse
            && (self.summary.heap.len() > MAX_HEAP / few
                || self.summary.nodes.len() > MAX_NODES / few)
    }
}
