//! What the library may call of the program.

use super::Solver;
use crate::mutability::answers::{Answers, Verdict, param_count};
use crate::mutability::effects::world::World;
use crate::mutability::signatures::Signatures;
use crate::program::calls::Site;
use crate::program::{ClassId, MethodId, Sym};

/// What the library may call back.
#[derive(Debug, Clone, Copy)]
pub enum Callback {
    /// A method that overrides one of the library's.
    Method(MethodId),
    /// The method that a lambda runs.
    Lambda(Site),
}

impl Solver<'_> {
    /// The signatures of the library that the program overrides, or implements by a lambda, with
    /// code that may change its arguments.
    pub fn overridden(&self, verdicts: &Answers) -> Signatures {
        let program = self.program;
        self.run_by_library(|method| {
            let params = param_count(program, method);
            verdicts.has(method)
                && (0..params).all(|param| {
                    verdicts.verdict(verdicts.place(method, param)) == Verdict::Immutable
                })
        })
    }

    /// The signatures of the library that the program overrides, or implements by a lambda, with
    /// code that is not `harmless`.
    pub(super) fn run_by_library(&self, harmless: impl Fn(MethodId) -> bool) -> Signatures {
        let program = self.program;
        // It is not known what a proxy passes on, and to whom.
        if self.calls.has_proxies() {
            return Signatures::ALL;
        }
        let mut found = Signatures::default();
        for (signature, callback) in self.called_back() {
            let is_harmless = match callback {
                Callback::Method(method) => harmless(method),
                Callback::Lambda(site) => {
                    let targets = self.calls.targets(site);
                    !targets.open && targets.methods.iter().all(|&method| harmless(method))
                }
            };
            if !is_harmless {
                found.join(&Signatures::one(&program.names.bytes(signature)));
            }
        }
        found
    }

    /// What the library may call of the program, with the signature of each call.
    pub fn called_back(&self) -> Vec<(Sym, Callback)> {
        let program = self.program;
        let mut found = Vec::new();
        for class in (0..program.classes.len() as u32).map(ClassId) {
            for &(method, _) in self.callbacks(class).iter() {
                found.push((program.method(method).signature, Callback::Method(method)));
            }
        }
        for (&interface, lambdas) in &self.lambdas {
            for &(maker, op) in lambdas {
                let Some(lambda) = self.lambda(maker, op) else {
                    continue;
                };
                let name = program.names.bytes(lambda.name);
                for class in program.supertypes(interface) {
                    for number in program.class(class).methods.clone() {
                        let signature = program.method(MethodId(number)).signature;
                        let text = program.names.bytes(signature);
                        let rest = text.strip_prefix(&*name);
                        if rest.is_some_and(|rest| rest.first() == Some(&b'(')) {
                            found.push((signature, Callback::Lambda(lambda.site)));
                        }
                    }
                }
            }
        }
        found
    }
}
