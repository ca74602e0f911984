//! Stage S: what a body alone shows (Artzi, dissertation, sections 5.5.1 and 5.5.2).
//!
//! For each value and parameter it computes a distance: how many reads, the first by a given field,
//! lead from the value to something that the parameter refers to. Everything reachable from a
//! parameter has distance 0. Before the first loop, operations are taken in their order; from there
//! on, they are repeated until nothing changes.

use super::facts::{Facts, NONE, Op, Var};
use crate::program::Sym;
use crate::program::calls::Site;

/// The greatest distance that is distinguished. A distance that is too small is safe: it attributes
/// more writes to a parameter.
const FAR: u8 = 6;
const NEVER: u8 = u8::MAX;

/// Stands for everything reachable from static fields, as if it were a parameter's state.
const OUTSIDE: u16 = u16::MAX;

/// How calls are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// A call may make aliases of all of its arguments and its result.
    Over,
    /// A call makes no aliases.
    Under,
    /// As `Over`, and the result of a call may be anything reachable from its arguments, however
    /// far away.
    Through,
}

/// The distances of one value to one parameter, by the first field.
#[derive(Debug, Clone)]
struct Distances {
    /// The distance by all fields that are not listed; 0 means that the value itself is part of the
    /// parameter's state.
    rest: u8,
    fields: Vec<(Sym, u8)>,
}

impl Distances {
    const NOWHERE: Distances = Distances {
        rest: NEVER,
        fields: Vec::new(),
    };

    fn by(&self, field: Sym) -> u8 {
        let listed = self.fields.iter().find(|entry| entry.0 == field);
        listed.map_or(self.rest, |entry| entry.1.min(self.rest))
    }

    fn least(&self) -> u8 {
        self.fields
            .iter()
            .map(|entry| entry.1)
            .min()
            .unwrap_or(NEVER)
            .min(self.rest)
    }

    /// Lowers the distance by one field, or by all; returns whether that changed anything.
    fn lower(&mut self, field: Option<Sym>, to: u8) -> bool {
        match field {
            None if to >= self.rest => false,
            None => {
                self.rest = to;
                self.fields.retain(|entry| entry.1 < to);
                true
            }
            Some(field) if to >= self.by(field) => false,
            Some(field) => {
                self.fields.retain(|entry| entry.0 != field);
                self.fields.push((field, to));
                true
            }
        }
    }
}

/// The distance with one more read.
fn farther(distance: u8) -> u8 {
    match distance {
        NEVER => NEVER,
        _ => (distance + 1).min(FAR),
    }
}

/// For proofs, which calls may keep their arguments; `None` if no proof is asked for.
pub type Sound<'a> = Option<&'a dyn Fn(Site) -> bool>;

/// Which parameters the values of a body may point to.
pub struct Points<'a> {
    /// For each value, its parameters, each once, with distances.
    of: Vec<Vec<(u16, Distances)>>,
    /// Which calls may keep their arguments in static fields, and return what is reachable from
    /// these.
    keeps: Option<&'a dyn Fn(Site) -> bool>,
}

impl<'a> Points<'a> {
    /// Finds them. `look` is called once for each operation. Before the first loop it is given what
    /// holds there, which for a call is the state before the call, unless the call may keep its
    /// arguments; from the loop on it is given what holds at the end. With `sound`, a caught
    /// exception may be, or refer to, whatever a call has got.
    pub fn find(
        facts: &Facts,
        variant: Variant,
        sound: Sound<'a>,
        mut look: impl FnMut(&Points<'a>, u32, &Op),
    ) {
        let mut points = Points {
            of: vec![Vec::new(); facts.vars as usize],
            keeps: sound.filter(|_| variant == Variant::Over),
        };
        let mut thrown: Vec<Var> = Vec::new();
        for fact in &facts.ops {
            match &fact.op {
                Op::Throw { value } => thrown.push(*value),
                Op::Call { args, .. } | Op::Unknown { args, .. }
                    if sound.is_some() && variant != Variant::Under =>
                {
                    thrown.extend(args);
                }
                _ => {}
            }
        }
        thrown.sort_unstable();
        thrown.dedup();
        thrown.retain(|&value| value != NONE);
        let (once, again) = facts.ops.split_at(facts.loops_from.min(facts.ops.len()));
        for (fact, at) in once.iter().zip(0..) {
            // What a call does to its arguments, it does after it has got them; what it does with
            // aliases that it makes itself is covered by its own body. Where a call keeps an
            // argument and others change it there, no body covers that: in proofs this may be
            // anywhere, otherwise in what is from outside.
            let args = match &fact.op {
                Op::Call { args, .. } | Op::Unknown { args, .. } => &**args,
                Op::Lambda(lambda) => &*lambda.captured,
                _ => &[],
            };
            let keeps = sound.is_some() || args.iter().any(|&arg| points.is_outside(arg));
            let is_first = !args.is_empty() && !keeps;
            if is_first {
                look(&points, at, &fact.op);
            }
            points.take(&fact.op, variant, &thrown);
            if !is_first {
                look(&points, at, &fact.op);
            }
        }
        loop {
            let mut changed = false;
            for fact in again {
                changed |= points.take(&fact.op, variant, &thrown);
            }
            if !changed {
                break;
            }
        }
        for (fact, at) in again.iter().zip(once.len() as u32..) {
            look(&points, at, &fact.op);
        }
    }

    /// The parameters whose state a value may be, or may lead to.
    pub fn leads_to(&self, var: Var) -> impl Iterator<Item = u16> + '_ {
        let of = self.of.get(var as usize).into_iter().flatten();
        of.filter(|(param, distances)| distances.least() != NEVER && *param != OUTSIDE)
            .map(|(param, _)| *param)
    }

    /// The parameters whose state a value may be part of.
    pub fn is_state_of(&self, var: Var) -> impl Iterator<Item = u16> + '_ {
        let of = self.of.get(var as usize).into_iter().flatten();
        of.filter(|(param, distances)| distances.least() == 0 && *param != OUTSIDE)
            .map(|(param, _)| *param)
    }

    /// Whether a value may be reachable from a static field.
    fn is_outside(&self, var: Var) -> bool {
        let mut of = self.of.get(var as usize).into_iter().flatten();
        of.any(|(param, distances)| *param == OUTSIDE && distances.least() == 0)
    }

    fn set_outside(&mut self, var: Var) -> bool {
        self.lower(var, OUTSIDE, None, 0)
    }

    fn lower(&mut self, var: Var, param: u16, field: Option<Sym>, to: u8) -> bool {
        let Some(of) = self.of.get_mut(var as usize) else {
            return false;
        };
        if to == NEVER {
            return false;
        }
        // What is part of a parameter's state is so by every field.
        let field = field.filter(|_| to > 0);
        if let Some(known) = of.iter_mut().find(|entry| entry.0 == param) {
            return known.1.lower(field, to);
        }
        let mut distances = Distances::NOWHERE;
        distances.lower(field, to);
        of.push((param, distances));
        true
    }

    /// Lowers the distances of `to` by those of `from`, as `change` says.
    fn flow(
        &mut self,
        from: Var,
        to: Var,
        field: Option<Sym>,
        change: impl Fn(&Distances) -> u8,
    ) -> bool {
        let Some(of) = self.of.get(from as usize) else {
            return false;
        };
        let lowered: Vec<(u16, u8)> = of
            .iter()
            .map(|(param, distances)| (*param, change(distances)))
            .collect();
        let mut changed = false;
        for (param, distance) in lowered {
            changed |= self.lower(to, param, field, distance);
        }
        changed
    }

    fn copy(&mut self, from: Var, to: Var) -> bool {
        let Some(of) = self.of.get(from as usize).filter(|_| from != to) else {
            return false;
        };
        let mut changed = false;
        for (param, distances) in of.clone() {
            changed |= self.lower(to, param, None, distances.rest);
            for (field, distance) in distances.fields {
                changed |= self.lower(to, param, Some(field), distance);
            }
        }
        changed
    }

    /// Applies what a call does to its arguments and its result. The result is as near as the
    /// nearest argument; where calls may take it out of their arguments, it may be part of the
    /// parameter's state itself, and so may the fields of arguments.
    fn take_call(&mut self, args: &[Var], dst: Var, variant: Variant, keeps: bool) -> bool {
        let mut changed = self.alias(args.iter().copied().chain([dst]));
        if keeps {
            for &var in args.iter().chain([&dst]) {
                changed |= self.set_outside(var);
            }
        }
        if variant == Variant::Through {
            let params: Vec<u16> = self.leads_to(dst).collect();
            for param in params {
                changed |= self.lower(dst, param, None, 0);
                for &arg in args {
                    changed |= self.lower(arg, param, None, 1);
                }
            }
        }
        changed
    }

    fn alias(&mut self, vars: impl Iterator<Item = Var> + Clone) -> bool {
        let mut least: Vec<(u16, u8)> = Vec::new();
        for var in vars.clone() {
            for (param, distances) in self.of.get(var as usize).into_iter().flatten() {
                let distance = distances.least();
                match least.iter_mut().find(|entry| entry.0 == *param) {
                    Some(entry) => entry.1 = entry.1.min(distance),
                    None => least.push((*param, distance)),
                }
            }
        }
        let mut changed = false;
        for var in vars {
            for &(param, distance) in &least {
                changed |= self.lower(var, param, None, distance);
            }
        }
        changed
    }

    fn take(&mut self, op: &Op, variant: Variant, thrown: &[Var]) -> bool {
        match op {
            Op::Param { dst, number } => self.lower(*dst, *number, None, 0),
            Op::Phi { dst, from } => from
                .iter()
                .fold(false, |changed, &var| self.copy(var, *dst) | changed),
            Op::Load { dst, base, field } => {
                let field = *field;
                let read = |distances: &Distances| match distances.by(field) {
                    NEVER => NEVER,
                    distance => distance.saturating_sub(1),
                };
                self.flow(*base, *dst, None, read)
                    | self.flow(*dst, *base, Some(field), |distances| {
                        farther(distances.least())
                    })
            }
            Op::Store { base, field, value } => {
                let field = *field;
                let held = |distances: &Distances| match distances.by(field) {
                    NEVER => NEVER,
                    distance => distance.saturating_sub(1),
                };
                self.flow(*value, *base, Some(field), |distances| {
                    farther(distances.least())
                }) | self.flow(*base, *value, None, held)
            }
            Op::LoadStatic { dst, .. } | Op::Outside { dst } if variant == Variant::Over => {
                self.set_outside(*dst)
            }
            Op::StoreStatic { value, .. } if variant == Variant::Over => self.set_outside(*value),
            Op::Call { dst, args, site } if variant != Variant::Under => {
                let keeps = self.keeps.is_some_and(|keeps| keeps(*site));
                self.take_call(args, *dst, variant, keeps)
            }
            Op::Unknown { dst, args, .. } if variant != Variant::Under => {
                self.take_call(args, *dst, variant, self.keeps.is_some())
            }
            Op::Lambda(lambda) if variant != Variant::Under => {
                self.alias(lambda.captured.iter().copied().chain([lambda.dst]))
            }
            Op::Catch { dst } => {
                let caught = thrown
                    .iter()
                    .fold(false, |changed, &var| self.copy(var, *dst) | changed);
                match variant {
                    Variant::Through => {
                        self.take_call(&[], *dst, variant, self.keeps.is_some()) | caught
                    }
                    _ if self.keeps.is_some() => self.set_outside(*dst) | caught,
                    _ => caught,
                }
            }
            _ => false,
        }
    }
}

/// What stage S finds out about a body. Parameters are given by their numbers.
#[derive(Debug, Default)]
pub struct Local {
    /// Writes of a parameter's state: the parameter and the operation.
    pub writes: Vec<(u16, u32)>,
    /// Writes to the result of a call that may have taken it out of something that leads to a
    /// parameter's state, and writes of that something itself.
    pub perhaps: Vec<(u16, u32)>,
    /// Writes of a parameter's state, assuming that calls make no aliases.
    pub sure: Vec<(u16, u32)>,
    /// Parameters whose state leaves the body by calls or static fields.
    pub leaks: Vec<(u16, Leak)>,
    /// Parameters whose state is passed to a call: the parameter, the operation and the argument.
    pub over: Vec<(u16, u32, u16)>,
    /// Parameters whose state is passed to a call, assuming that calls make no aliases.
    pub under: Vec<(u16, u32, u16)>,
}

/// Where a parameter's state goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// It is passed to a call, by this operation.
    Call(u32),
    /// It is stored in a static field, or in something reachable from one, by this operation.
    Static(u32),
    /// It is passed to code that is not known, by this operation.
    Unknown(u32),
}

/// The call that an operation is, as far as its arguments matter.
pub fn call_of(op: &Op) -> Option<(Site, &[Var])> {
    match op {
        Op::Call { site, args, .. } => Some((*site, args)),
        Op::Lambda(lambda) => Some((lambda.site, &lambda.captured)),
        _ => None,
    }
}

/// Applies stage S to a body.
pub fn local(facts: &Facts, sound: Sound<'_>) -> Local {
    let mut local = Local::default();
    let mut near = false;
    Points::find(facts, Variant::Over, sound, |over, at, op| match op {
        Op::Store { base, value, .. } => {
            if over.is_outside(*base) {
                let kept = over.leads_to(*value).map(|param| (param, Leak::Static(at)));
                local.leaks.extend(kept);
            }
            let before = local.writes.len();
            local
                .writes
                .extend(over.is_state_of(*base).map(|param| (param, at)));
            near |= over.leads_to(*base).count() > local.writes.len() - before;
        }
        Op::StoreStatic { value, .. } => {
            let kept = over.leads_to(*value).map(|param| (param, Leak::Static(at)));
            local.leaks.extend(kept);
        }
        // Making a lambda runs nothing. That code which gets the lambda may run it is part of the
        // over-approximation.
        Op::Call { .. } | Op::Lambda(_) => {
            let args = call_of(op).map_or(&[][..], |call| call.1);
            for (&arg, place) in args.iter().zip(0..) {
                for param in over.leads_to(arg) {
                    local.leaks.push((param, Leak::Call(at)));
                    local.over.push((param, at, place));
                }
            }
        }
        Op::Unknown { args, .. } => {
            for &arg in args {
                local
                    .leaks
                    .extend(over.leads_to(arg).map(|param| (param, Leak::Unknown(at))));
            }
        }
        _ => {}
    });
    local.perhaps.clone_from(&local.writes);
    if near {
        Points::find(facts, Variant::Through, sound, |through, at, op| {
            if let Op::Store { base, .. } = op {
                local
                    .perhaps
                    .extend(through.is_state_of(*base).map(|param| (param, at)));
            }
        });
    }
    Points::find(facts, Variant::Under, sound, |under, at, op| match op {
        Op::Call { args, .. } => {
            for (&arg, place) in args.iter().zip(0..) {
                local
                    .under
                    .extend(under.leads_to(arg).map(|param| (param, at, place)));
            }
        }
        Op::Store { base, .. } => local
            .sure
            .extend(under.is_state_of(*base).map(|param| (param, at))),
        _ => {}
    });
    local
}
