//! Objects that others complete: a child that is given to its parent, a parent to which its
//! children add themselves.

use super::{Maker, Place};
use crate::graph::Typed;
use crate::java::names::Names;
use crate::junit::build::Found;
use crate::junit::build::recipe::Argument;
use crate::junit::value::Expression;
use hindsight_tracelog::crash::Value;

/// An object, and its role for another one.
type Related = (String, u32);

impl Maker<'_> {
    /// What was found out about making an object of the program.
    pub(super) fn found(&self, object: u32) -> Option<&Found> {
        if self.loaded.contains(&object) {
            return None;
        }
        let (frame, package) = (self.values.frame, self.values.package);
        self.recipes.get(self.crash, frame, object, package)
    }

    /// The objects that fill what an object's own recipe leaves open.
    pub(super) fn fillers(&self, object: u32) -> Vec<Related> {
        let gaps = self.found(object).map_or(&[][..], |found| &found.gaps);
        let named = |gap: &crate::junit::build::gaps::Gap| {
            let name = gap.field.name.clone();
            gap.by.clone().into_iter().map(move |by| (name.clone(), by))
        };
        let mut fillers: Vec<Related> = gaps.iter().flat_map(named).collect();
        fillers.retain(|(_, by)| self.takes(*by, object, true) || self.takes(*by, object, false));
        fillers
    }

    /// Whether an object is an argument when another one is made, or, if `then`, later.
    fn takes(&self, one: u32, other: u32, then: bool) -> bool {
        self.found(one)
            .is_some_and(|found| found.recipe.takes(other, then))
    }

    /// The objects that are begun before this one, because they get it later, or it adds itself to
    /// them.
    fn owners(&self, object: u32) -> Vec<Related> {
        let mut owners = self.fillers(object);
        owners.retain(|(_, owner)| self.takes(*owner, object, true));
        let Some(found) = self.found(object) else {
            return owners;
        };
        let making = found.recipe.steps[..=found.recipe.result].iter();
        for (argument, role) in making.flat_map(|step| step.arguments.iter().zip(&step.roles)) {
            let Argument::Value(Typed {
                value: Value::Ref(given),
                ..
            }) = *argument
            else {
                continue;
            };
            let adds = |(_, filler): &Related| *filler == object;
            if self.takes(given, object, true) || self.fillers(given).iter().any(adds) {
                owners.push((role.clone(), given));
            }
        }
        owners
    }

    /// Makes the owners of an object that is to go to `place`, and with the last of them the object
    /// itself.
    pub(super) fn owners_first(
        &mut self,
        object: u32,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<()> {
        if self.written.awaited.contains_key(&object) {
            return Some(());
        }
        for (role, owner) in self.owners(object) {
            if self.written.states.contains_key(&owner) {
                continue;
            }
            let awaited = (place.role.to_owned(), place.depth);
            self.written.awaited.insert(object, awaited);
            self.other(&role, owner, place, names)?;
        }
        Some(())
    }

    /// Makes the objects that add themselves to an object, which needs a variable for that.
    pub(super) fn fillers_then(
        &mut self,
        object: u32,
        place: &Place<'_>,
        made: Expression,
        names: &mut Names,
    ) -> Option<Expression> {
        let mut fillers = self.fillers(object);
        fillers.retain(|(_, filler)| !self.written.states.contains_key(filler));
        if fillers.is_empty() {
            return Some(made);
        }
        let variable = match self.written.variables.get(&object) {
            Some(known) => known.clone(),
            None => self.variable(object, place, made, "", names)?,
        };
        for (_, filler) in fillers {
            if !self.written.states.contains_key(&filler) {
                self.other("", filler, place, names)?;
            }
        }
        Some(variable)
    }

    /// Makes an object for its effect on another one.
    fn other(
        &mut self,
        role: &str,
        object: u32,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<()> {
        let beside = Place {
            role,
            depth: place.depth + 1,
            expected: None,
        };
        let value = Typed::reference(Value::Ref(object));
        let made = self.expression(value, &beside, names)?;
        if !self.written.variables.contains_key(&object) {
            self.written.statements.push(format!("{};", made.code));
        }
        Some(())
    }
}
