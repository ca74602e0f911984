//! What summaries are made from besides a method's own body: [`World`].

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
    /// A known effect.
    Known(Arc<Summary>),
    /// A lambda whose captured values are not known here.
    Lambda(MethodId, u32),
    /// Something that is not known.
    Unknown,
}

/// Answers about the rest of the program.
pub trait World {
    /// What a call may run on a receiver of any class. If the particular call is given, by method
    /// and operation, only lambdas that reach it are included.
    fn any(&self, site: Site, at: Option<(MethodId, u32)>) -> Arc<Vec<Target>>;
    /// The classes of all objects that a field ever holds, if they are known.
    fn holds(&self, field: Sym) -> Option<&[ClassId]>;
    /// Whether a call may change the order of the map that it reads; the map was read from the
    /// given field, or is an argument.
    fn reorders(&self, site: Site, field: Option<Sym>) -> bool;
    /// What a call runs on an object of a class of the library's own.
    fn of_library(&self, site: Site) -> Arc<Vec<Target>>;
    /// What a call runs on an instance of exactly this class.
    fn on(&self, site: Site, class: ClassId) -> Arc<Vec<Target>>;
    /// The summary of a method, as far as it is known so far.
    fn summary(&self, method: MethodId) -> Arc<Summary>;
    /// The operation that makes a lambda.
    fn lambda(&self, method: MethodId, op: u32) -> Option<&Lambda>;
    /// Whether a lambda is the body of the called method.
    fn answers(&self, lambda: &Lambda, site: Site) -> bool;
    /// Whether a lambda may be an instance of a class.
    fn implements(&self, lambda: &Lambda, class: ClassId) -> bool;
    /// What a call runs on a lambda that is not the body of the called method: the body that the
    /// interface has.
    fn on_lambda(&self, site: Site, lambda: &Lambda) -> Arc<Vec<Target>>;
    /// Whether a call goes to the library, which may call back its arguments.
    fn calls_back(&self, site: Site) -> bool;
    /// Whether a target is code of the library.
    fn is_library(&self, target: &Target) -> bool;
    /// The methods that the library may call on an instance of a class.
    fn callbacks(&self, class: ClassId) -> Arc<Vec<(MethodId, usize)>>;
    /// The class initializers that a call in a method may run first.
    fn before_call(&self, method: MethodId, site: Site) -> Vec<MethodId>;
    /// The class initializers that an access to a static field in a method may run first.
    fn before_field(&self, method: MethodId, field: Sym) -> Vec<MethodId>;
    /// Whether a static field holds, up to now, only what this method, a class initializer, has
    /// stored.
    fn is_constant(&self, method: MethodId, field: Sym) -> bool;
    /// The class of which a receiver must be an instance if a call runs this target; `None` if the
    /// call itself says as much.
    fn narrows(&self, site: Site, target: &Target) -> Option<ClassId>;
    /// Whether a parameter may be an instance of a class, by its declared type.
    fn may_be(&self, method: MethodId, param: u16, class: ClassId) -> bool;
    /// Whether a parameter may be a lambda that the program makes somewhere, by its declared type.
    fn may_be_lambda(&self, method: MethodId, param: u16) -> bool;
    /// Whether an argument of a call may be something to run, by the type that the call declares.
    fn takes_lambda(&self, site: Site, place: usize) -> bool;
    /// The kinds of objects that have a field.
    fn kinds_with(&self, field: Sym) -> Kinds;
    /// Whether a parameter may be of a kind, by its declared type.
    fn is_param_of(&self, method: MethodId, param: u16, kind: Kind) -> bool;
    /// Whether the object that a field refers to may be of a kind.
    fn is_field_of(&self, field: Sym, kind: Kind) -> bool;
    /// Whether anything reachable from a parameter may be of a kind.
    fn leads_param_to(&self, method: MethodId, param: u16, kind: Kind) -> bool;
    /// Whether a class belongs to the library.
    fn is_of_library(&self, class: ClassId) -> bool;
    /// Whether a class is a subclass of another one, or the same.
    fn is_subtype(&self, class: ClassId, of: ClassId) -> bool;
    /// Whether two parameters of a method may be the same object.
    fn may_alias(&self, method: MethodId, one: u16, other: u16) -> bool;
    /// Whether proofs are asked for, so that all possible ways count.
    fn is_sound(&self) -> bool;
    /// The field that stands for all fields.
    fn any_field(&self) -> Sym;
    /// The field that holds the captured value of a lambda at an index.
    fn captured(&self, place: usize) -> Sym;
}
