//! Class initializers, which run before the first call of a class, or the first access to a static
//! field of it. For proofs only; otherwise each is assumed to have run before.

use super::Solver;
use crate::mutability::facts::{Facts, Op};
use crate::program::calls::{Dispatch, Site};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::access;

/// The program's class initializers by what triggers them: that of a class, and those of its
/// superclasses.
#[derive(Default)]
pub(super) struct Initial {
    of_classes: Map<ClassId, Vec<MethodId>>,
    /// The initializers by the static fields that some body accesses.
    of_fields: Map<Sym, Vec<MethodId>>,
    /// Final static fields that their class's own initializer accesses.
    constants: Set<(MethodId, Sym)>,
}

impl Initial {
    /// Finds the initializers of a program.
    pub(super) fn new(program: &Program, facts: &[Facts]) -> Initial {
        let mut initial = Initial::default();
        let names = &program.names;
        let Some(initializer) = names.find(b"<clinit>()V") else {
            return initial;
        };
        for class in (0..program.classes.len() as u32).map(ClassId) {
            if program.class(class).library {
                continue;
            }
            let own = program.supertypes(class);
            let own = own.filter(|&above| !program.class(above).library);
            let found: Vec<MethodId> = own
                .filter_map(|above| program.declared(above, initializer))
                .collect();
            if !found.is_empty() {
                initial.of_classes.insert(class, found);
            }
        }
        for (method, facts) in facts.iter().enumerate() {
            let method = MethodId(method as u32);
            for fact in &facts.ops {
                let (Op::LoadStatic { field, .. } | Op::StoreStatic { field, .. }) = &fact.op
                else {
                    continue;
                };
                let text = names.bytes(*field);
                let dot = text.iter().rposition(|&byte| byte == b'.').unwrap_or(0);
                let class = names.find(&text[..dot]).and_then(|name| program.find(name));
                let Some(class) = class else {
                    continue;
                };
                if let Some(found) = initial.of_classes.get(&class)
                    && !initial.of_fields.contains_key(field)
                {
                    initial.of_fields.insert(*field, found.clone());
                }
                let known = program.method(method);
                let is_own = known.class == class && known.signature == initializer;
                let name = names.find(&text[dot + 1..]);
                let mut fields = program.class(class).fields.iter();
                if is_own
                    && fields
                        .any(|field| Some(field.name) == name && field.access & access::FINAL != 0)
                {
                    initial.constants.insert((method, *field));
                }
            }
        }
        initial
    }
}

impl Solver<'_> {
    /// The initializers that a call in this method may run before the called method.
    pub(super) fn before_call(&self, method: MethodId, site: Site) -> Vec<MethodId> {
        self.not_begun(method, self.initializers(site))
    }

    /// The initializers that a call may run first, wherever the call is.
    pub(super) fn initializers(&self, site: Site) -> Option<&Vec<MethodId>> {
        if site.dispatch != Dispatch::Exact || self.initial.of_classes.is_empty() {
            return None;
        }
        let called = self.program.method(self.calls.targets(site).resolved?);
        let signature = self.program.names.bytes(called.signature);
        let is_first = called.is(access::STATIC) || signature.starts_with(b"<init>");
        let found = self.initial.of_classes.get(&called.class);
        found.filter(|_| is_first)
    }

    /// The initializers that an access to a static field may run.
    pub(super) fn before_field(&self, method: MethodId, field: Sym) -> Vec<MethodId> {
        self.not_begun(method, self.initial.of_fields.get(&field))
    }

    /// Whether a static field holds, up to now, only what this initializer has stored.
    pub(super) fn is_constant(&self, method: MethodId, field: Sym) -> bool {
        self.initial.constants.contains(&(method, field))
    }

    /// The initializers in `found` that may not have begun: when a class's method runs, its own
    /// initializer has begun, and so have those of its superclasses.
    fn not_begun(&self, method: MethodId, found: Option<&Vec<MethodId>>) -> Vec<MethodId> {
        let is_begun = |initializer: MethodId| {
            let of = self.program.method(initializer).class;
            let mut seen = Set::default();
            let mut at = Some(self.program.method(method).class);
            while let Some(class) = at.filter(|&class| class != of && seen.insert(class)) {
                at = self.program.class(class).superclass;
            }
            at == Some(of)
        };
        let found = found.into_iter().flatten().copied();
        found.filter(|&one| !is_begun(one)).collect()
    }
}
