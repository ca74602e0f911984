//! Makes arguments: from the pools, from components, or anew.

use super::super::random::Random;
use super::super::sequence::{Arg, MethodId, Sequence, Statement};
use super::super::ways::Way;
use super::super::worker::{ClassNumber, class_get_name};
use super::{COMPARED, Component, Search};
use crate::java::signature::Generic;
use crate::model::values::Literal;
use std::borrow::Cow;
use std::collections::HashMap;

/// The depth of objects that are made as arguments of others.
const MAX_NESTED: usize = 2;
/// The most elements of these.
const MAX_FILLED: usize = 3;
/// The percentage of lambdas among functional arguments of the JDK's interfaces, for which there is
/// little else.
const LAMBDAS_OF_JDK: usize = 90;
/// The percentage for the program's interfaces, of which it may have implementations.
const LAMBDAS: usize = 60;
/// The percentage of arguments that are the next value of the pool, until a parameter has had all.
const IN_TURN: usize = 50;

impl<'s> Search<'s> {
    /// A value for a parameter of a method: at times the next of those in the pool, which begins
    /// with boundaries, so that it is not left to chance whether a method is called with them.
    pub(super) fn parameter(
        &mut self,
        place: (MethodId, usize),
        ty: &str,
        generic: Option<&Generic>,
        maker: &mut Maker,
    ) -> Option<Arg> {
        if let Some(next) = self.next_in_turn(place, ty)
            && self.random.percent(IN_TURN)
        {
            return Some(Arg::Literal(next.clone()));
        }
        self.argument(ty, generic, maker, 0)
    }

    /// Notes which values a call that is executed has in turn.
    pub(super) fn note_turns(&mut self, call: &Statement) {
        let (types, _) = self.methods.get(call.method).types();
        for (at, (ty, arg)) in types.iter().zip(&call.args).enumerate() {
            let place = (call.method, at);
            if matches!(arg, Arg::Literal(value) if self.next_in_turn(place, ty) == Some(value)) {
                *self.in_turn.entry(place).or_default() += 1;
            }
        }
    }

    /// The next value of the pool with which a method is to be called.
    fn next_in_turn(&self, place: (MethodId, usize), ty: &str) -> Option<&'s Literal> {
        let tried = self.in_turn.get(&place).copied().unwrap_or(0);
        self.surface.pool(ty).get(tried)
    }

    /// A value of a type, which may have type arguments: from the pool, an object, or null.
    pub(super) fn argument(
        &mut self,
        ty: &str,
        generic: Option<&Generic>,
        maker: &mut Maker,
        depth: usize,
    ) -> Option<Arg> {
        let pool = self.surface.pool(ty);
        if !pool.is_empty() && (ty != "Ljava/lang/Object;" || self.random.percent(60)) {
            return Some(Arg::Literal(self.random.pick(pool)?.clone()));
        }
        let class = class_get_name(ty);
        let surface = self.surface;
        if let Some(functional) = surface.functional(&class)
            && depth <= MAX_NESTED
            && self.random.percent(match class.starts_with("java.") {
                true => LAMBDAS_OF_JDK,
                false => LAMBDAS,
            })
            && let Some(lambda) = self.lambda(functional, generic, maker, depth)
        {
            return Some(lambda);
        }
        let ways = surface.ways.of(&class);
        if !self.random.percent(5) {
            // An object with which the program has done something is mostly of more interest.
            let fresh = !ways.is_empty() && self.random.percent(40);
            let object = (!fresh)
                .then(|| self.object(&class, generic, maker))
                .flatten();
            let object = object.or_else(|| self.made(ways, generic, maker, depth));
            if let Some(var) = object {
                return Some(Arg::Var(var));
            }
        }
        if let Some(element) = ty.strip_prefix('[')
            && depth < 2
        {
            let count = self.random.below(3);
            let mut elements = Vec::new();
            for _ in 0..count {
                elements.push(self.argument(element, None, maker, depth + 1)?);
            }
            return Some(Arg::Array(element.to_owned(), elements));
        }
        // Null is worth a try now and then, not always.
        (self.random.percent(20)).then_some(Arg::Literal(Literal::Null))
    }

    /// An object of a JDK class, in one of the ways to make it; mostly filled, if it can hold
    /// anything.
    fn made(
        &mut self,
        ways: &[Way],
        generic: Option<&Generic>,
        maker: &mut Maker,
        depth: usize,
    ) -> Option<usize> {
        let usual = ways.first().filter(|_| self.random.percent(60));
        let way = *usual.or_else(|| self.random.pick(ways))?;
        if depth > MAX_NESTED {
            return None;
        }
        let call = |method, on, args| Statement {
            method,
            on,
            args,
            may_throw: false,
            shown: false,
        };
        let (types, _) = self.methods.get(way.make).types();
        let mut args = Vec::new();
        for ty in &types {
            args.push(self.argument(ty, None, maker, depth + 1)?);
        }
        let var = maker.sequence.len();
        maker.sequence.push(call(way.make, None, args));
        let Some(fill) = way.fill.filter(|_| self.random.percent(70)) else {
            return Some(var);
        };
        let (types, _) = self.methods.get(fill).types();
        for _ in 0..=self.random.below(MAX_FILLED) {
            let mut args = Vec::new();
            for (at, ty) in types.iter().enumerate() {
                let held = generic.filter(|generic| generic.arguments.len() == types.len());
                let held = held.and_then(|generic| generic.arguments.get(at));
                let ty = held.map_or_else(|| ty.clone(), Generic::erased);
                args.extend(self.argument(&ty, held, maker, depth + 1));
            }
            if args.len() == types.len() {
                maker.sequence.push(call(fill, Some(var), args));
            }
        }
        Some(var)
    }

    /// An object of a class, whose type may have type arguments, from a component.
    pub(super) fn object(
        &mut self,
        class: &str,
        generic: Option<&Generic>,
        maker: &mut Maker,
    ) -> Option<usize> {
        let generic = generic.filter(|generic| !generic.arguments.is_empty());
        let (surface, methods, components) = (self.surface, &*self.methods, &self.components);
        // An object with other elements would be taken for what it is not.
        let suits = |place: usize, var: usize| {
            generic.is_none_or(|generic| {
                let known = surface.generic_of(&components[place].sequence, var, methods);
                known.is_none_or(|known| !surface.contradict(generic, known))
            })
        };
        let mut fitting: Vec<ClassNumber> = (self.values.keys().copied())
            .filter(|number| self.worker.class(*number).is_a(class))
            .collect();
        fitting.sort();
        // An object of this sequence is used again at times.
        let mut there: Vec<usize> = (maker.offsets.iter())
            .flat_map(|(component, offset)| {
                let objects = self.components[*component].objects.iter();
                let objects = objects.filter(|(var, class)| {
                    fitting.binary_search(class).is_ok() && suits(*component, *var)
                });
                objects.map(move |(var, _)| var + offset)
            })
            .collect();
        there.sort_unstable();
        if !there.is_empty() && self.random.percent(60) {
            return self.random.pick(&there).copied();
        }
        let number = *self.random.pick(&fitting)?;
        let mut list = Cow::from(&self.values[&number]);
        if generic.is_some() {
            list.to_mut().retain(|(place, var)| suits(*place, *var));
        }
        let (component, var) = shorter(&mut self.random, &self.components, &list, |one| one.0)?;
        let offset = maker.add(component, &self.components[component].sequence);
        Some(offset + var)
    }
}

/// One of several from components: of a few, the one with the shortest sequence, which leaves more
/// room for what follows.
pub(super) fn shorter<T: Copy>(
    random: &mut Random,
    components: &[Component],
    list: &[T],
    component: impl Fn(T) -> usize,
) -> Option<T> {
    let length = |one: T| components[component(one)].sequence.len();
    let mut best = *random.pick(list)?;
    for _ in 0..random.below(COMPARED) {
        let other = *random.pick(list)?;
        if length(other) < length(best) {
            best = other;
        }
    }
    Some(best)
}

/// A sequence that is being built.
#[derive(Default)]
pub(super) struct Maker {
    pub(super) sequence: Sequence,
    /// The place at which each component begins.
    pub(super) offsets: HashMap<usize, usize>,
}

impl Maker {
    /// A sequence that continues a component: with its calls, and perhaps more.
    pub(super) fn after(place: usize, sequence: Sequence) -> Maker {
        Maker {
            sequence,
            offsets: HashMap::from([(place, 0)]),
        }
    }

    /// Appends a component, and returns the place of its first call.
    pub(super) fn add(&mut self, place: usize, component: &[Statement]) -> usize {
        let offset = self.sequence.len();
        let moved = component
            .iter()
            .map(|one| one.renumbered(|var| var + offset));
        self.sequence.extend(moved);
        self.offsets.insert(place, offset);
        offset
    }
}
