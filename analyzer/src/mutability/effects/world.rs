//! What summaries are made from beside a method's own body: [`World`].

use super::Summary;
use super::kinds::{Kind, Kinds};
use crate::mutability::facts::Lambda;
use crate::program::calls::Site;
use crate::program::{ClassId, MethodId, Sym};
use std::sync::Arc;

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
    /// What a call may run on a receiver of any class; if it is known which call,
    /// by method and operation, what gets there.
    fn any(&self, site: Site, at: Option<(MethodId, u32)>) -> Arc<Vec<Target>>;
    /// The classes of all objects that a field ever holds, if that is known.
    fn holds(&self, field: Sym) -> Option<&[ClassId]>;
    /// Whether a call may change the order of the map that it reads, which was
    /// read from a field, or is an argument.
    fn reorders(&self, site: Site, field: Option<Sym>) -> bool;
    /// What it runs on an object of a class of the library's own.
    fn of_library(&self, site: Site) -> Arc<Vec<Target>>;
    /// What it runs on an instance of exactly this class.
    fn on(&self, site: Site, class: ClassId) -> Arc<Vec<Target>>;
    /// The summary of a method, as far as it is known by now.
    fn summary(&self, method: MethodId) -> Arc<Summary>;
    /// What makes a lambda.
    fn lambda(&self, method: MethodId, op: u32) -> Option<&Lambda>;
    /// Whether a lambda is the body of the method that is called.
    fn answers(&self, lambda: &Lambda, site: Site) -> bool;
    /// Whether a lambda may be an instance of a class.
    fn implements(&self, lambda: &Lambda, class: ClassId) -> bool;
    /// What it runs on a lambda that is not: what the interface has a body of.
    fn on_lambda(&self, site: Site, lambda: &Lambda) -> Arc<Vec<Target>>;
    /// Whether the call goes to the library, which may call back what it gets.
    fn calls_back(&self, site: Site) -> bool;
    /// Whether a target is code of the library's.
    fn is_library(&self, target: &Target) -> bool;
    /// The methods that the library may call on an instance of a class.
    fn callbacks(&self, class: ClassId) -> Arc<Vec<(MethodId, usize)>>;
    /// Class initializers that a call in a method may run first.
    fn before_call(&self, method: MethodId, site: Site) -> Vec<MethodId>;
    /// The same of a static field that is looked at.
    fn before_field(&self, method: MethodId, field: Sym) -> Vec<MethodId>;
    /// Whether a static field has nothing yet but what this method, an initializer, stores.
    fn is_constant(&self, method: MethodId, field: Sym) -> bool;
    /// The class that a receiver is an instance of if a call runs this target;
    /// nothing if the call says as much.
    fn narrows(&self, site: Site, target: &Target) -> Option<ClassId>;
    /// Whether a parameter may be an instance of a class, as it is declared.
    fn may_be(&self, method: MethodId, param: u16, class: ClassId) -> bool;
    /// Whether a parameter, as it is declared, may be a lambda that the program makes somewhere.
    fn may_be_lambda(&self, method: MethodId, param: u16) -> bool;
    /// Whether an argument of a call, as the call declares it, may be something to run.
    fn takes_lambda(&self, site: Site, place: usize) -> bool;
    /// The kind of objects that have a field.
    fn kinds_with(&self, field: Sym) -> Kinds;
    /// Whether a parameter may be of a kind, as it is declared.
    fn is_param_of(&self, method: MethodId, param: u16, kind: Kind) -> bool;
    /// Whether what a field refers to may be.
    fn is_field_of(&self, field: Sym, kind: Kind) -> bool;
    /// Whether anything that a parameter leads to may be.
    fn leads_param_to(&self, method: MethodId, param: u16, kind: Kind) -> bool;
    /// Whether a class is the library's.
    fn is_of_library(&self, class: ClassId) -> bool;
    /// Whether a class is a subclass of another one, or the same.
    fn is_subtype(&self, class: ClassId, of: ClassId) -> bool;
    /// Whether two parameters of a method may be the same object.
    fn may_alias(&self, method: MethodId, one: u16, other: u16) -> bool;
    /// Whether ways that are merely possible count.
    fn is_sound(&self) -> bool;
    /// The field that stands for all fields.
    fn any_field(&self) -> Sym;
    /// The field that holds what a lambda has captured.
    fn captured(&self, place: usize) -> Sym;
}
