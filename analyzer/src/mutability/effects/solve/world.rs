//! What a body asks of the rest of the program.

use super::Solver;
use crate::mutability::effects::Summary;
use crate::mutability::effects::kinds::{Kind, Kinds};
use crate::mutability::effects::world::{Target, World};
use crate::mutability::facts::{Lambda, Op};
use crate::mutability::types;
use crate::program::calls::{Dispatch, Site};
use crate::program::names::Set;
use crate::program::{ClassId, MethodId, Sym};
use hindsight_classfile::{MethodDescriptor, Utf8, access};
use std::sync::{Arc, PoisonError};

impl World for Solver<'_> {
    fn any(&self, site: Site, at: Option<(MethodId, u32)>) -> Arc<Vec<Target>> {
        self.site_at(site, at).targets
    }

    fn holds(&self, field: Sym) -> Option<&[ClassId]> {
        self.held.get(&field).map(Vec::as_slice)
    }

    fn reorders(&self, site: Site, field: Option<Sym>) -> bool {
        if !self.has_reordered || !self.program.class(site.owner).library {
            return false;
        }
        let held = match field {
            Some(field) => self.reordered_fields.contains(&field),
            None => self.linked == Some(site.owner),
        };
        held && {
            let signature = self.program.names.bytes(site.signature);
            signature.starts_with(b"get(") || signature.starts_with(b"getOrDefault(")
        }
    }

    fn of_library(&self, site: Site) -> Arc<Vec<Target>> {
        let resolved = self.calls.targets(site).resolved;
        match resolved.and_then(|method| self.contracts.promise(method)) {
            Some(known) => Arc::new(vec![Target::Known(known.clone())]),
            None => self.any(site, None),
        }
    }

    fn on(&self, site: Site, class: ClassId) -> Arc<Vec<Target>> {
        if !self.program.is_subtype(class, site.owner) && !self.program.is_incomplete(class) {
            // A view of it may get there: a map stands for its values, too.
            return match self.program.class(site.owner).library && self.has_views(class) {
                true => self.of_library(site),
                false => Arc::default(),
            };
        }
        let site = Site {
            owner: class,
            dispatch: Dispatch::Exact,
            ..site
        };
        self.site(site).targets
    }

    fn summary(&self, method: MethodId) -> Arc<Summary> {
        if self.is_own(method) {
            let known = &self.summaries[method.0 as usize];
            return known
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
                .unwrap_or_default();
        }
        if self
            .program
            .class(self.program.method(method).class)
            .library
        {
            return self.library_summary(method);
        }
        Arc::default()
    }

    fn lambda(&self, method: MethodId, op: u32) -> Option<&Lambda> {
        match &self.facts.get(method.0 as usize)?.ops.get(op as usize)?.op {
            Op::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    fn answers(&self, lambda: &Lambda, site: Site) -> bool {
        let signature = self.program.names.bytes(site.signature);
        let name = self.program.names.bytes(lambda.name);
        signature
            .strip_prefix(&*name)
            .is_some_and(|rest| rest.first() == Some(&b'('))
    }

    fn calls_back(&self, site: Site) -> bool {
        // While the library itself is summarized there is nobody to call.
        self.program.class(site.owner).library && {
            let targets = self.calls.targets(site);
            let library = |method: MethodId| {
                self.program
                    .class(self.program.method(method).class)
                    .library
            };
            targets.resolved.is_some_and(|method| {
                library(method) && !self.is_own(method) && !self.contracts.is_quiet(method)
            })
        }
    }

    fn is_library(&self, target: &Target) -> bool {
        match target {
            Target::Method(method) => {
                let class = self.program.method(*method).class;
                self.program.class(class).library && !self.is_own(*method)
            }
            Target::Known(_) | Target::Unknown => true,
            Target::Lambda(..) => false,
        }
    }

    fn callbacks(&self, class: ClassId) -> Arc<Vec<(MethodId, usize)>> {
        let program = self.program;
        if program.class(class).library {
            return Arc::default();
        }
        let lock = || {
            self.callbacks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = lock().get(&class).cloned();
        known.unwrap_or_else(|| {
            let mut found: Vec<(MethodId, usize)> = Vec::new();
            let mut above = Some(class);
            let mut signatures = Set::default();
            while let Some(at) = above.filter(|&at| !program.class(at).library) {
                for number in program.class(at).methods.clone() {
                    let method = program.method(MethodId(number));
                    let text = program.names.bytes(method.signature);
                    let hidden = method.is(access::STATIC | access::PRIVATE | access::ABSTRACT)
                        || text.starts_with(b"<");
                    if hidden || !signatures.insert(method.signature) {
                        continue;
                    }
                    let mut pending: Vec<ClassId> = program.above(class).collect();
                    let mut overrides = false;
                    let mut seen = Set::default();
                    while let Some(next) = pending.pop() {
                        if !seen.insert(next) {
                            continue;
                        }
                        let library = program.class(next).library;
                        overrides |= library && program.declared(next, method.signature).is_some();
                        pending.extend(program.above(next));
                    }
                    if overrides {
                        let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
                        let params = MethodDescriptor::parse(Utf8::new(&text[open..]));
                        found.push((
                            MethodId(number),
                            1 + params.map_or(0, |d| usize::from(d.parameter_count())),
                        ));
                    }
                }
                above = program.class(at).superclass;
            }
            let found = Arc::new(found);
            lock().insert(class, found.clone());
            found
        })
    }

    fn may_alias(&self, method: MethodId, one: u16, other: u16) -> bool {
        types::may_alias(self.program, method, one, other)
    }

    fn narrows(&self, site: Site, target: &Target) -> Option<ClassId> {
        let Target::Method(method) = target else {
            return None;
        };
        let class = self.program.method(*method).class;
        (class != site.owner && self.program.is_subtype(class, site.owner)).then_some(class)
    }

    fn may_be_lambda(&self, method: MethodId, param: u16) -> bool {
        let declared = self.declared(method, param);
        declared.is_some_and(|declared| self.lambda_types.contains(&declared))
    }

    fn may_be(&self, method: MethodId, param: u16, class: ClassId) -> bool {
        let program = self.program;
        let declared = self.declared(method, param);
        let Some(declared) = declared else {
            return true;
        };
        let is_interface = |class: ClassId| program.class(class).access & access::INTERFACE != 0;
        program.is_subtype(class, declared)
            || program.is_subtype(declared, class)
            // What is declared to be an interface no verifier makes sure of.
            || is_interface(declared) && self.sound
            || (is_interface(declared) || is_interface(class))
                && (program.subtypes(class).into_iter())
                    .any(|class| program.is_subtype(class, declared))
    }

    fn kinds_with(&self, field: Sym) -> Kinds {
        Solver::kinds_with(self, field)
    }

    fn is_param_of(&self, method: MethodId, param: u16, kind: Kind) -> bool {
        Solver::is_param_of(self, method, param, kind)
    }

    fn is_field_of(&self, field: Sym, kind: Kind) -> bool {
        Solver::is_field_of(self, field, kind)
    }

    fn leads_param_to(&self, method: MethodId, param: u16, kind: Kind) -> bool {
        Solver::leads_param_to(self, method, param, kind)
    }

    fn is_of_library(&self, class: ClassId) -> bool {
        self.program.class(class).library
    }

    fn is_subtype(&self, class: ClassId, of: ClassId) -> bool {
        self.program.is_subtype(class, of)
    }

    fn is_sound(&self) -> bool {
        self.sound
    }

    fn any_field(&self) -> Sym {
        self.any
    }

    fn captured(&self, place: usize) -> Sym {
        self.captured.get(place).copied().unwrap_or(self.any)
    }
}
