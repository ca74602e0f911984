//! What a call does: which methods it runs, with which arguments, and what their summaries say.

use super::{MAX_WORK, State};
use crate::mutability::effects::kinds::{Kind, Kinds};
use crate::mutability::effects::set::Nodes;
use crate::mutability::effects::world::Target;
use crate::mutability::effects::{Cause, Made, Node, Ref, Summary, reference};
use crate::mutability::facts::Lambda;
use crate::program::ClassId;
use crate::program::calls::{Dispatch, Site};

/// The operation that stands for all calls of a body.
const MADE_BY_CALLS: u32 = u32::MAX - 1;
/// The most kinds of objects that one call makes.
const MAX_MADE: u32 = 12;
/// The greatest depth of lambdas that run lambdas.
const MAX_DEPTH: usize = 3;

impl State<'_> {
    /// Passes arguments to code that is not known. Its result, and anything outside from then on,
    /// may be any of them.
    pub(super) fn give_away(&mut self, at: u32, args: &[Nodes]) -> Nodes {
        let mut all = union(args);
        for given in self.closure(all).iter() {
            self.write(given | 1, Cause::Unknown(at), Kinds::ANY);
        }
        let outside = self.outside();
        self.write(outside, Cause::Unknown(at), Kinds::ANY);
        let any = self.world.any_field();
        all.remove(outside >> 1);
        self.put(outside >> 1, any, &all, true);
        let mut result = Nodes::one(outside);
        result.join(&all, true);
        result
    }

    pub(super) fn call(&mut self, at: u32, site: Site, args: &[Nodes]) -> Nodes {
        let mut result = Nodes::default();
        if self.work > MAX_WORK {
            return result;
        }
        let world = self.world;
        self.initialize(world.before_call(self.id, site));
        let mut receiver = args.first().copied().unwrap_or_default();
        let exact = site.dispatch == Dispatch::Exact;
        let kind = Kind::Class(site.owner);
        let mut args = args.to_vec();
        if let (Some(first), false) = (args.first_mut(), exact) {
            // Nothing else has the method.
            for one in receiver.iter() {
                if !self.may_be_of(one >> 1, kind) {
                    receiver.remove(one >> 1);
                }
            }
            *first = receiver;
        }
        let args = &args;
        let receivers = if exact { Kinds::ANY } else { Kinds::one(kind) };
        let outer = std::mem::replace(&mut self.receiver, receivers);
        let touched = std::mem::take(&mut self.touched);
        let mut any = exact || receiver.is_empty();
        // The receivers on which code of the library may run.
        let mut of_library = receiver;
        if !exact {
            for one in receiver.iter() {
                match self.nodes[(one >> 1) as usize] {
                    Node::New(_, Made::Class(class)) => {
                        if !self.run_on(at, site, one, &[class], args, &mut result) {
                            of_library.remove(one >> 1);
                        }
                    }
                    Node::Read(_, field) => {
                        if world.reorders(site, Some(field)) {
                            self.write(one, Cause::Known(at), Kinds::ANY);
                        }
                        match world.holds(field) {
                            Some(classes) => {
                                if !self.run_on(at, site, one, classes, args, &mut result) {
                                    of_library.remove(one >> 1);
                                }
                            }
                            None => any = true,
                        }
                    }
                    Node::Param(_) => {
                        if world.reorders(site, None) {
                            self.write(one, Cause::Known(at), Kinds::ANY);
                        }
                        any = true;
                    }
                    Node::New(_, Made::Library) => {
                        let mut args = args.to_vec();
                        args[0] = Nodes::one(one);
                        for target in world.of_library(site).iter() {
                            result.join(&self.run(at, target, &args), false);
                        }
                    }
                    Node::New(_, Made::Lambda(method, op)) => {
                        let Some(lambda) = world.lambda(method, op) else {
                            continue;
                        };
                        let receiver = Nodes::one(one);
                        if world.answers(lambda, site) {
                            let found = self.run_lambda(at, lambda, &receiver, &args[1..]);
                            result.join(&found, false);
                            of_library.remove(one >> 1);
                        } else {
                            let targets = world.on_lambda(site, lambda);
                            if !self.run_all(at, &targets, receiver, args, &mut result) {
                                of_library.remove(one >> 1);
                            }
                        }
                    }
                    _ => any = true,
                }
            }
        }
        if any {
            let place = Some((self.id, at)).filter(|_| self.depth == 0);
            let of_param = self
                .one_param(&receiver)
                .filter(|_| !exact && self.depth == 0);
            for target in world.any(site, place).iter() {
                self.guard = of_param.and_then(|param| Some((param, world.narrows(site, target)?)));
                result.join(&self.run(at, target, args), false);
            }
            if of_param.is_some() {
                self.guard = None;
            }
        }
        if (any || !of_library.is_empty()) && world.calls_back(site) {
            let mut args = args.to_vec();
            if let Some(first) = args.first_mut() {
                *first = of_library;
            }
            self.receiver = Kinds::ANY;
            let mut found = self.call_back(at, &args);
            if world.is_sound() && self.takes_what_it_runs(site, &args) {
                found.insert(self.outside() | 1);
                found.join(&self.closure(union(&args)), true);
            }
            self.hand_over(&found, &args, &result);
            result.join(&found, false);
        }
        self.receiver = outer;
        self.touched = touched;
        result
    }

    /// Whether the library gets something to run that is not known.
    fn takes_what_it_runs(&self, site: Site, args: &[Nodes]) -> bool {
        let is_unknown = |one: Ref| {
            let node = self.nodes[(one >> 1) as usize];
            !matches!(node, Node::New(_, Made::Class(_) | Made::Lambda(..)))
        };
        (0..args.len())
            .any(|place| args[place].iter().any(is_unknown) && self.world.takes_lambda(site, place))
    }

    /// Distributes what the library gets from code that it ran: the library may return it, and
    /// store it in what it makes and in what it changes or, in proofs, in all of its arguments.
    fn hand_over(&mut self, found: &Nodes, args: &[Nodes], made: &Nodes) {
        if found.is_empty() {
            return;
        }
        let (any, sound) = (self.world.any_field(), self.world.is_sound());
        let holders = match sound {
            true => self.closure(union(args)),
            false => self.touched,
        };
        let is_made = |one: &Ref| {
            let node = self.nodes[(one >> 1) as usize];
            matches!(node, Node::New(_, Made::Library | Made::Some))
        };
        let made: Vec<Ref> = made.iter().filter(is_made).collect();
        for holder in made.into_iter().chain(holders.iter()) {
            let node = holder >> 1;
            let is_outside = matches!(self.nodes[node as usize], Node::Outside);
            if self.is_lambda(node) || is_outside && !sound {
                continue;
            }
            let mut held = *found;
            held.remove(node);
            // An entry for what is reachable from there anyway would only hide by which field.
            if let (Some(param), false) = (self.param_of(node), sound) {
                for one in found
                    .iter()
                    .filter(|one| self.param_of(one >> 1) == Some(param))
                {
                    held.remove(one >> 1);
                }
            }
            self.put(node, any, &held, sound || holder & 1 == 1);
        }
    }

    /// Runs a call on one receiver, which is of one of these classes; returns whether any of the
    /// code is the library's.
    fn run_on(
        &mut self,
        at: u32,
        site: Site,
        receiver: Ref,
        classes: &[ClassId],
        args: &[Nodes],
        result: &mut Nodes,
    ) -> bool {
        let mut library = false;
        for &class in classes {
            let targets = self.world.on(site, class);
            library |= self.run_all(at, &targets, Nodes::one(receiver), args, result);
        }
        library
    }

    /// Runs methods on a receiver; returns whether any of the code is the library's.
    fn run_all(
        &mut self,
        at: u32,
        targets: &[Target],
        receiver: Nodes,
        args: &[Nodes],
        result: &mut Nodes,
    ) -> bool {
        let mut args = args.to_vec();
        args[0] = receiver;
        let mut library = false;
        for target in targets {
            result.join(&self.run(at, target, &args), false);
            library |= self.world.is_library(target);
        }
        library
    }

    fn run(&mut self, at: u32, target: &Target, args: &[Nodes]) -> Nodes {
        match target {
            Target::Method(method) => {
                let summary = self.world.summary(*method);
                // The library runs the lambdas that it gets, and does not use them in other ways.
                let own = !self.world.is_library(target);
                self.apply(at, &summary, args, own, |write| {
                    Cause::Call(at, *method, write)
                })
            }
            Target::Known(summary) => self.apply(at, summary, args, false, |_| Cause::Known(at)),
            // If every lambda that runs lambdas could run all of them, this would not end.
            Target::Lambda(..) if self.depth > 0 => self.too_deep(at, args),
            // The captured values are read from the lambda.
            Target::Lambda(method, op) => match self.world.lambda(*method, *op) {
                Some(lambda) => {
                    let receiver = args.first().copied().unwrap_or_default();
                    self.run_lambda(at, lambda, &receiver, args.get(1..).unwrap_or(&[]))
                }
                None => Nodes::default(),
            },
            Target::Unknown => self.give_away(at, args),
        }
    }

    /// The result where calls within calls are followed no further.
    fn too_deep(&mut self, at: u32, args: &[Nodes]) -> Nodes {
        match self.world.is_sound() {
            true => self.give_away(at, args),
            false => Nodes::default(),
        }
    }

    /// Runs the method that a lambda stands for.
    fn run_lambda(&mut self, at: u32, lambda: &Lambda, receiver: &Nodes, args: &[Nodes]) -> Nodes {
        let mut all = Vec::new();
        let mut made = Nodes::default();
        if lambda.makes {
            let class = self.node(Node::New(at, Made::Class(lambda.site.owner)));
            made.insert(reference(class, false));
            all.push(made);
        }
        for place in 0..lambda.captured.len() {
            let captured = self.world.captured(place);
            let refs = self.load(receiver, captured);
            all.push(refs);
        }
        all.extend(args);
        if self.depth > MAX_DEPTH {
            return self.too_deep(at, &all);
        }
        self.depth += 1;
        let mut result = self.call(at, lambda.site, &all);
        self.depth -= 1;
        result.join(&made, false);
        result
    }

    /// Lets the library run what it gets: lambdas, and methods that override its own, with
    /// everything that it gets.
    fn call_back(&mut self, at: u32, args: &[Nodes]) -> Nodes {
        let mut result = Nodes::default();
        let given = self.closure(union(args));
        let world = self.world;
        if !world.is_sound() && given.iter().any(|one| self.may_be_lambda(one >> 1)) {
            // Callers know which lambdas these are.
            let changed = self.given.join(&given, false);
            self.note(changed);
        }
        let own: Vec<Ref> = given
            .iter()
            .filter(|one| match self.nodes[(one >> 1) as usize] {
                Node::New(_, Made::Lambda(..)) => true,
                Node::New(_, Made::Class(class)) => !world.callbacks(class).is_empty(),
                _ => false,
            })
            .collect();
        if own.is_empty() {
            return result;
        }
        self.repeated.insert(self.at);
        if self.depth >= MAX_DEPTH {
            return self.too_deep(at, args);
        }
        self.depth += 1;
        let outside = self.outside();
        loop {
            let before = result;
            for &one in &own {
                let mut given = given;
                given.remove(one >> 1);
                given.insert(outside);
                if world.is_sound() {
                    // What one of them returns may be passed to another one.
                    given.join(&before, false);
                }
                self.called_back(at, one, &given, &mut result);
            }
            if !world.is_sound() || result == before {
                break;
            }
        }
        self.depth -= 1;
        result
    }

    /// Lets the library run one of the objects that it gets, with everything else that it gets.
    fn called_back(&mut self, at: u32, one: Ref, given: &Nodes, result: &mut Nodes) {
        let world = self.world;
        let mut run = |state: &mut State<'_>, class| {
            for &(method, params) in world.callbacks(class).iter() {
                let summary = world.summary(method);
                let mut args = vec![*given; params.max(1)];
                args[0] = Nodes::one(one);
                let cause = |write| Cause::Call(at, method, write);
                result.join(&state.apply(at, &summary, &args, true, cause), false);
            }
        };
        match self.nodes[(one >> 1) as usize] {
            Node::New(_, Made::Lambda(method, op)) => {
                if let Some(lambda) = world.lambda(method, op) {
                    // The methods that have a body in its interface may run, too.
                    if let Some(interface) = lambda.interface {
                        run(self, interface);
                    }
                    // This is as many arguments as it may take.
                    let found = self.run_lambda(at, lambda, &Nodes::one(one), &[*given; 4]);
                    result.join(&found, false);
                }
            }
            Node::New(_, Made::Class(class)) => run(self, class),
            _ => {}
        }
    }

    /// Applies a summary to the arguments; `own` says whether it is that of a method of the
    /// program.
    fn apply(
        &mut self,
        at: u32,
        summary: &Summary,
        args: &[Nodes],
        own: bool,
        cause: impl Fn(u32) -> Cause,
    ) -> Nodes {
        let arg = |param: u16| args.get(usize::from(param)).copied().unwrap_or_default();
        let mut means: Vec<Nodes> = Vec::with_capacity(summary.nodes.len());
        for node in &summary.nodes {
            let refs = match *node {
                Node::Param(param) => arg(param),
                // What the callee stored there is handled below.
                Node::Read(from, field) => self.load(&means[from as usize], field),
                Node::Deep(param) => self.closure_below(&arg(param), own),
                Node::Held(param) => self.held_by(&arg(param)),
                Node::New(_, made) => {
                    // Where summaries are coarse, objects that calls make are only distinguished by
                    // what they are.
                    let at = if self.is_coarse() { MADE_BY_CALLS } else { at };
                    let mut node = Node::New(at, made);
                    let kinds = self.made.get(&at).copied().unwrap_or(0);
                    if kinds >= MAX_MADE && !self.numbers.contains_key(&node) {
                        node = Node::New(at, Made::Some);
                    }
                    Nodes::one(reference(self.node(node), false))
                }
                Node::Outside => Nodes::one(self.outside()),
            };
            means.push(refs);
        }
        self.work += summary.nodes.len() + summary.writes.len() + summary.heap.len();
        let mapped = |refs: &[Ref]| {
            let mut all = Nodes::default();
            for &one in refs {
                all.join(&means[(one >> 1) as usize], one & 1 == 1);
            }
            all
        };
        for (node, field, refs) in &summary.heap {
            let refs = mapped(refs);
            for target in means[*node as usize].iter() {
                self.put(target >> 1, *field, &refs, target & 1 == 1);
            }
        }
        let guard = self.guard;
        for (number, write) in summary.writes.iter().enumerate() {
            if let Some((param, class)) = write.only {
                let given = arg(param);
                if !given.iter().any(|one| self.may_be(one >> 1, class)) {
                    continue;
                }
                let param = self.one_param(&given);
                self.guard = guard.or(param.map(|param| (param, class)));
            }
            let weak = write.node & 1;
            let kinds = match summary.nodes[(write.node >> 1) as usize] {
                Node::Param(0) if write.kinds.is_any() => self.receiver,
                _ => write.kinds,
            };
            for target in means[(write.node >> 1) as usize].iter() {
                self.write(target | weak, cause(number as u32), kinds);
            }
            self.guard = guard;
        }
        let kept = mapped(&summary.kept);
        self.keep(&kept, false);
        let thrown = mapped(&summary.thrown);
        let changed = self.thrown.join(&thrown, false);
        self.note(changed);
        let given = mapped(&summary.given);
        let mut result = mapped(&summary.returned);
        if given.iter().next().is_some() {
            let outer = std::mem::take(&mut self.receiver);
            let found = self.call_back(at, &[given]);
            self.hand_over(&found, &[given], &result);
            result.join(&found, false);
            self.receiver = outer;
        }
        if summary.writes_outside {
            self.note(!self.writes_outside);
            self.writes_outside = true;
        }
        if summary.writes_kept {
            let outside = self.outside();
            self.write(outside, cause(0), Kinds::ANY);
        }
        result
    }

    /// Whether a node is a parameter that may be a lambda.
    fn may_be_lambda(&mut self, node: u32) -> bool {
        let Node::Param(param) = self.nodes[node as usize] else {
            return false;
        };
        let (world, id) = (self.world, self.id);
        let known = self.lambdas.entry(param);
        *known.or_insert_with(|| world.may_be_lambda(id, param))
    }

    /// The parameter that a value is; `None` if it may be anything else.
    fn one_param(&self, value: &Nodes) -> Option<u16> {
        let mut all = value.iter();
        match (
            all.next().map(|one| self.nodes[(one >> 1) as usize]),
            all.next(),
        ) {
            (Some(Node::Param(param)), None) => Some(param),
            _ => None,
        }
    }

    /// Whether the object of a node may be an instance of a class.
    fn may_be(&self, node: u32, class: ClassId) -> bool {
        match self.nodes[node as usize] {
            Node::New(_, Made::Class(made)) => self.world.is_subtype(made, class),
            Node::New(_, Made::Lambda(method, op)) => {
                let lambda = self.world.lambda(method, op);
                lambda.is_none_or(|lambda| self.world.implements(lambda, class))
            }
            Node::Param(param) => self.world.may_be(self.id, param, class),
            _ => true,
        }
    }
}

fn union(sets: &[Nodes]) -> Nodes {
    let mut all = Nodes::default();
    for set in sets {
        all.join(set, false);
    }
    all
}
