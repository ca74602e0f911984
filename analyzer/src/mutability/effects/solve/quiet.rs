//! Methods that change nothing reachable from static fields, as far as that is easy to see.
//!
//! This is for proofs, at calls that are judged by verdicts: a verdict is about parameters, and
//! says nothing of what was stored in a static field before. A method changes nothing of that if it
//! is [`Quiet::shallow`] or [`Quiet::closed`], and so is everything that it calls.

use super::Solver;
use crate::mutability::answers::{Answers, Verdict};
use crate::mutability::effects::world::{Target, World};
use crate::mutability::effects::{Node, Summary};
use crate::mutability::facts::{Lambda, NONE, Op, Var};
use crate::mutability::signatures::Signatures;
use crate::program::calls::Site;
use crate::program::names::Map;
use crate::program::{ClassId, MethodId};
use hindsight_classfile::access;

/// In which ways a method is quiet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quiet {
    /// It only changes objects that it makes or gets as arguments, not what is reachable from
    /// these.
    shallow: bool,
    /// It only accesses what it makes, and what is reachable from its parameters.
    pub closed: bool,
}

impl Quiet {
    const BOTH: Quiet = Quiet {
        shallow: true,
        closed: true,
    };

    pub(super) fn is_any(self) -> bool {
        self.shallow || self.closed
    }

    fn and(self, other: Quiet) -> Quiet {
        Quiet {
            shallow: self.shallow && other.shallow,
            closed: self.closed && other.closed,
        }
    }
}

/// What is known of all methods.
#[derive(Debug, Default)]
pub struct QuietMethods {
    of: Vec<Quiet>,
    /// The signatures of code that the library may call and that is not quiet.
    pub(super) noisy: Signatures,
}

impl QuietMethods {
    /// How quiet a method of the program is.
    pub fn of(&self, method: MethodId) -> Quiet {
        let known = self.of.get(method.0 as usize);
        known.copied().unwrap_or_default()
    }

    /// Whether a method of the program changes nothing reachable from static fields.
    pub fn has(&self, method: MethodId) -> bool {
        self.of(method).is_any()
    }
}

/// An argument, as the body that passes it knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// The argument is not a reference.
    Nothing,
    /// It was made in the body and holds only text.
    Text,
    /// It was made in the body, or is a parameter.
    Near,
    Far,
}

impl Solver<'_> {
    /// Finds the quiet methods, using verdicts that are proved.
    pub(super) fn find_quiet(&self, verdicts: &Answers) -> QuietMethods {
        let count = self.facts.len() as u32;
        let own = |method| self.is_own(method);
        let mut found = QuietMethods {
            of: (0..count)
                .map(|method| match own(MethodId(method)) {
                    true => Quiet::BOTH,
                    false => Quiet::default(),
                })
                .collect(),
            noisy: Signatures::default(),
        };
        loop {
            // In each round fewer methods are left, because a method is only as quiet as what it
            // calls.
            let mut changed = false;
            for method in (0..count).map(MethodId) {
                let before = found.of[method.0 as usize];
                if before.is_any() {
                    let now = self.listen(method, &found, verdicts);
                    changed |= now != before;
                    found.of[method.0 as usize] = now;
                }
            }
            if changed {
                continue;
            }
            let is_quiet = |method| match own(method) {
                true => found.has(method),
                false => !self.library.runs(method).meets(&found.noisy),
            };
            let noisy = self.run_by_library(is_quiet);
            if !found.noisy.join(&noisy) {
                return found;
            }
        }
    }

    /// How quiet the method is that a call runs.
    pub(super) fn quiet_of(&self, target: &Target) -> Quiet {
        let of_known = |known: &Summary| match known.writes_kept {
            true => Quiet::default(),
            false => Quiet::BOTH,
        };
        let of_method = |method: MethodId| match self.contracts.find(method) {
            Some(known) => of_known(known),
            None if self.is_own(method) => self.quiet.of(method),
            None if self.is_quiet_library(method, &self.quiet) => Quiet::BOTH,
            None => Quiet::default(),
        };
        match target {
            Target::Method(method) => of_method(*method),
            Target::Known(known) => of_known(known),
            Target::Lambda(maker, op) => {
                let Some(lambda) = self.lambda(*maker, *op) else {
                    return Quiet::default();
                };
                let targets = self.calls.targets(lambda.site);
                let mut first = self.initializers(lambda.site).into_iter().flatten();
                if targets.open || !first.all(|&method| self.quiet.has(method)) {
                    return Quiet::default();
                }
                let all = targets.methods.iter().map(|&method| of_method(method));
                all.fold(Quiet::BOTH, Quiet::and)
            }
            Target::Unknown => Quiet::default(),
        }
    }

    fn is_quiet_library(&self, method: MethodId, found: &QuietMethods) -> bool {
        let known = self.program.method(method);
        match self.program.class(known.class).library {
            true => {
                self.library.summary(method).is_some()
                    && !self.library.runs(method).meets(&found.noisy)
            }
            // A method without a body does not run.
            false => known.is(access::ABSTRACT),
        }
    }

    /// How quiet a body is, if the methods that it calls are as quiet as found so far.
    fn listen(&self, id: MethodId, found: &QuietMethods, verdicts: &Answers) -> Quiet {
        let facts = &self.facts[id.0 as usize];
        let mut quiet = found.of[id.0 as usize];
        if facts.unknown.is_some() {
            return Quiet::default();
        }
        let is_quiet = |first: &[MethodId]| first.iter().all(|&method| found.has(method));
        let mut near: Map<Var, Given> = Map::default();
        for fact in &facts.ops {
            if !quiet.is_any() {
                break;
            }
            let given = |var: &Var| match var {
                &NONE => Given::Nothing,
                var => near.get(var).copied().unwrap_or(Given::Far),
            };
            match &fact.op {
                Op::Param { dst, .. } => {
                    near.insert(*dst, Given::Near);
                }
                Op::New { dst, class } => {
                    let holds_text = class.is_some_and(|class| self.holds_text(class));
                    let given = if holds_text { Given::Text } else { Given::Near };
                    near.insert(*dst, given);
                }
                Op::Store { base, .. } => quiet.shallow &= given(base) != Given::Far,
                Op::LoadStatic { dst, field } => {
                    quiet.closed &= *dst == NONE;
                    if !is_quiet(&self.before_field(id, *field)) {
                        return Quiet::default();
                    }
                }
                Op::StoreStatic { field, .. } => {
                    if !is_quiet(&self.before_field(id, *field)) {
                        return Quiet::default();
                    }
                }
                Op::Outside { dst } => quiet.closed &= *dst == NONE,
                Op::Call { dst, site, args } => {
                    if !is_quiet(&self.before_call(id, *site)) {
                        return Quiet::default();
                    }
                    let args: Vec<Given> = args.iter().map(given).collect();
                    let of_call = self.listen_to(*site, &args, *dst != NONE, found, verdicts);
                    quiet = quiet.and(of_call);
                    // The method returns its receiver.
                    if args.first() == Some(&Given::Text) && self.holds_text(site.owner) {
                        near.insert(*dst, Given::Text);
                    }
                }
                Op::Unknown { .. } => return Quiet::default(),
                Op::Phi { .. }
                | Op::Load { .. }
                | Op::Lambda(_)
                | Op::Return { .. }
                | Op::Throw { .. }
                | Op::Catch { .. } => {}
            }
        }
        quiet
    }

    /// How quiet a body with only this call would be.
    fn listen_to(
        &self,
        site: Site,
        args: &[Given],
        returns: bool,
        found: &QuietMethods,
        verdicts: &Answers,
    ) -> Quiet {
        let targets = self.calls.targets(site);
        if targets.open || self.is_unimplemented(site) {
            return Quiet::default();
        }
        let mut quiet = Quiet::BOTH;
        let mut join = |other: Quiet| {
            quiet = quiet.and(other);
            quiet.is_any()
        };
        for &method in &targets.methods {
            if !join(self.listen_to_method(method, args, returns, found, verdicts)) {
                return Quiet::default();
            }
        }
        for (maker, op) in self.lambdas_of(site) {
            let of_lambda = self
                .lambda(maker, op)
                .map_or_else(Quiet::default, |lambda| {
                    self.listen_to_lambda(lambda, args, returns, found, verdicts)
                });
            if !join(of_lambda) {
                return Quiet::default();
            }
        }
        quiet
    }

    fn listen_to_lambda(
        &self,
        lambda: &Lambda,
        args: &[Given],
        returns: bool,
        found: &QuietMethods,
        verdicts: &Answers,
    ) -> Quiet {
        let targets = self.calls.targets(lambda.site);
        let mut first = self.initializers(lambda.site).into_iter().flatten();
        if targets.open || !first.all(|&method| found.has(method)) {
            return Quiet::default();
        }
        let made = lambda.makes.then_some(Given::Near);
        let captured = lambda.captured.iter().map(|_| Given::Far);
        let given = args.iter().skip(1).copied();
        let args: Vec<Given> = made.into_iter().chain(captured).chain(given).collect();
        let methods = targets.methods.iter();
        let of_methods =
            methods.map(|&method| self.listen_to_method(method, &args, returns, found, verdicts));
        of_methods.fold(Quiet::BOTH, Quiet::and)
    }

    fn listen_to_method(
        &self,
        method: MethodId,
        args: &[Given],
        returns: bool,
        found: &QuietMethods,
        verdicts: &Answers,
    ) -> Quiet {
        if let Some(known) = self.contracts.find(method) {
            return match known.writes_kept {
                true => Quiet::default(),
                false => Quiet {
                    shallow: known
                        .writes
                        .iter()
                        .all(|write| is_of_near(known, write.node >> 1, args)),
                    closed: !returns,
                },
            };
        }
        let changes = |place: usize| {
            let target = Target::Method(method);
            self.verdict(verdicts, &target, place as u16) != Verdict::Immutable
        };
        let all_but = |left_out: &[Given]| {
            let mut places = 0..args.len();
            places.all(|place| left_out.contains(&args[place]) || !changes(place))
        };
        if !self.is_own(method) {
            // A method of the library may change what its objects hold.
            return match self.is_quiet_library(method, found) {
                false => Quiet::default(),
                true => Quiet {
                    shallow: all_but(&[Given::Nothing, Given::Text]),
                    closed: !returns && self.library.runs(method).is_empty(),
                },
            };
        }
        let callee = found.of[method.0 as usize];
        Quiet {
            shallow: callee.shallow && all_but(&[Given::Nothing, Given::Text, Given::Near])
                || callee.closed && all_but(&[Given::Nothing]),
            closed: callee.closed,
        }
    }

    fn holds_text(&self, class: ClassId) -> bool {
        let name = self.program.names.bytes(self.program.class(class).name);
        matches!(
            &*name,
            b"java/lang/StringBuilder" | b"java/lang/StringBuffer"
        )
    }
}

/// Whether a node is itself an argument that the caller has made, or that is a parameter of the
/// caller.
fn is_of_near(summary: &Summary, node: u32, args: &[Given]) -> bool {
    match summary.nodes[node as usize] {
        Node::Param(param) => args.get(usize::from(param)) != Some(&Given::Far),
        _ => false,
    }
}
