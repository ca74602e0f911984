//! Arrays whose elements are separate arguments: `new Version(1, 4, 2)`.

use super::{Argument, Proposer, Recipe, reference};
use crate::classinfo::Method;
use crate::java::descriptor;

/// The length of the longest array that is passed element by element.
const MAX_SPREAD: usize = 16;

impl Proposer<'_> {
    /// Calls of constructors that have as many parameters of one type as an array of the object has elements.
    pub(super) fn spread(&self) -> Vec<Recipe> {
        self.constructed_of(|method, arguments| self.one_by_one(method, arguments))
    }

    fn one_by_one(&self, method: &Method, given: Vec<Argument>) -> Option<Vec<Argument>> {
        let (parameters, _) = descriptor::split(&method.descriptor)?;
        self.fields.iter().find_map(|view| {
            let of = view.info.descriptor.strip_prefix('[')?;
            let places = parameters.iter().enumerate();
            let places = places.filter(|(_, parameter)| **parameter == of);
            let places: Vec<usize> = places.map(|(place, _)| place).collect();
            if !(2..=MAX_SPREAD).contains(&places.len()) {
                return None;
            }
            let elements = self.graph.each(reference(view.value)?)?;
            if elements.len() != places.len() {
                return None;
            }
            let mut arguments = given.clone();
            for (place, element) in places.into_iter().zip(elements) {
                arguments[place] = self.fit(element, of)?;
            }
            Some(arguments)
        })
    }
}
