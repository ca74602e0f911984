//! The answers to what a body asks of the rest of the program.

use super::Solver;
use crate::mutability::effects::Summary;
use crate::mutability::effects::kinds::{Kind, Kinds};
use crate::mutability::effects::world::{Target, World};
use crate::mutability::facts::{Lambda, Op};
use crate::mutability::types;
use crate::program::calls::{Dispatch, Site};
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
        match resolved.and_then(|method| self.contracts.promise_of_library(method)) {
            Some(known) => Arc::new(vec![Target::Known(known.clone())]),
            None => self.any(site, None),
        }
    }

    fn on(&self, site: Site, class: ClassId) -> Arc<Vec<Target>> {
        if !self.program.is_subtype(class, site.owner) && !self.program.is_incomplete(class) {
            // The call may run on a view of the object: a map also stands for its values.
            return match self.program.class(site.owner).library && self.has_views(class) {
                true => self.of_library(site),
                false => Arc::default(),
            };
        }
        // A method of the class may have the same signature and be otherwise unrelated.
        let selected = self.calls.on(site, class);
        let owner = match selected == self.program.resolve(class, site.signature) {
            true => class,
            false => selected.map_or(class, |method| self.program.method(method).class),
        };
        self.exactly(site, owner)
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
        let is_named = signature
            .strip_prefix(&*name)
            .is_some_and(|rest| rest.first() == Some(&b'('));
        // A method with a body in the interface may have the same name.
        is_named && {
            let inherited = self
                .program
                .resolve(self.interface_of(lambda, site), site.signature);
            inherited.is_none_or(|method| self.program.method(method).is(access::ABSTRACT))
        }
    }

    fn implements(&self, lambda: &Lambda, class: ClassId) -> bool {
        let program = self.program;
        let is_below = |own| program.is_subtype(own, class) || program.is_incomplete(own);
        program.class(class).access & access::INTERFACE != 0
            && (lambda.marked || lambda.interface.is_none_or(is_below))
    }

    fn on_lambda(&self, site: Site, lambda: &Lambda) -> Arc<Vec<Target>> {
        let owner = self.interface_of(lambda, site);
        // The methods of `Object` do nothing to an object without fields.
        let inherits = self
            .program
            .resolve(owner, site.signature)
            .is_some_and(|method| {
                let class = self.program.method(method).class;
                self.program.class(class).access & access::INTERFACE != 0
            });
        if !inherits {
            return Arc::default();
        }
        self.exactly(site, owner)
    }

    fn calls_back(&self, site: Site) -> bool {
        // While the library itself is summarized, there is no program to call back.
        let resolved = self.calls.targets(site).resolved;
        resolved.is_some_and(|method| {
            let class = self.program.method(method).class;
            self.program.class(class).library
                && !self.is_own(method)
                && !self.contracts.is_quiet(method)
        })
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
            let found = Arc::new(self.overriders(class));
            lock().insert(class, found.clone());
            found
        })
    }

    fn before_call(&self, method: MethodId, site: Site) -> Vec<MethodId> {
        Solver::before_call(self, method, site)
    }

    fn before_field(&self, method: MethodId, field: Sym) -> Vec<MethodId> {
        Solver::before_field(self, method, field)
    }

    fn is_constant(&self, method: MethodId, field: Sym) -> bool {
        Solver::is_constant(self, method, field)
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

    fn takes_lambda(&self, site: Site, place: usize) -> bool {
        let Some(method) = self.calls.targets(site).resolved else {
            return true;
        };
        let declared = self.declared(method, place as u16);
        let is_receiver = place == 0 && !self.program.method(method).is(access::STATIC);
        declared.is_some_and(|declared| !is_receiver && self.is_run(declared))
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
            // The verifier does not check interface types.
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

impl Solver<'_> {
    /// What a call runs on objects of exactly one class.
    fn exactly(&self, site: Site, owner: ClassId) -> Arc<Vec<Target>> {
        let dispatch = Dispatch::Exact;
        self.site(Site {
            owner,
            dispatch,
            ..site
        })
        .targets
    }

    /// Whether an interface is implemented by lambdas of the program, or by a class of the program.
    fn is_run(&self, interface: ClassId) -> bool {
        let known = self.program.class(interface);
        known.access & access::INTERFACE != 0
            && (self.lambda_types.contains(&interface)
                || (self.program.subtypes(interface).into_iter())
                    .any(|class| !self.program.class(class).library))
    }

    /// The interface through which a call sees a lambda. Further interfaces that the lambda
    /// implements are not recorded.
    fn interface_of(&self, lambda: &Lambda, site: Site) -> ClassId {
        let own = lambda.interface;
        own.filter(|&own| self.program.is_subtype(own, site.owner))
            .unwrap_or(site.owner)
    }

    /// The program's methods that run on instances of a class where the library calls its own
    /// methods, with the number of their arguments.
    fn overriders(&self, class: ClassId) -> Vec<(MethodId, usize)> {
        let program = self.program;
        let (library, own): (Vec<ClassId>, Vec<ClassId>) =
            (program.supertypes(class)).partition(|&above| program.class(above).library);
        let mut found = Vec::new();
        for number in own
            .iter()
            .flat_map(|&above| program.class(above).methods.clone())
        {
            let id = MethodId(number);
            let method = program.method(id);
            let text = program.names.bytes(method.signature);
            let hidden = method.is(access::STATIC | access::PRIVATE | access::ABSTRACT)
                || text.starts_with(b"<");
            // Interfaces have bodies, too; of several methods, one runs.
            let runs = |&above: &ClassId| {
                let called = program.declared(above, method.signature);
                called.is_some_and(|called| program.select(class, called) == Some(id))
            };
            if hidden || !library.iter().any(runs) {
                continue;
            }
            let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
            let params = MethodDescriptor::parse(Utf8::new(&text[open..]));
            found.push((
                id,
                1 + params.map_or(0, |d| usize::from(d.parameter_count())),
            ));
        }
        found
    }
}
