//! The types of variables, and of the arguments of JDK methods.

use super::Maker;
use crate::java::descriptor;
use crate::java::signature::Generic;
use crate::junit::build::jdk;
use crate::junit::build::recipe::{Argument, Operation, Step};
use hindsight_tracelog::crash::Value;

/// The last words of type names to which elements can be added.
const ADDED_TO: [&str; 5] = ["Collection", "Deque", "List", "Queue", "Set"];

/// An object that gets a variable.
pub(super) struct Made<'a> {
    /// The type of the expression that makes it.
    pub of: &'a str,
    /// Whether that has type parameters.
    pub is_generic: bool,
    /// Whether it goes to several places, each of which may have another type.
    pub is_shared: bool,
    /// The method that is called on the variable first; empty if there is none.
    pub used: &'a str,
}

impl Made<'_> {
    /// The type of the variable: that of the place where the object goes, if it goes nowhere else
    /// and the type has the method that is called; else the object's own, with the place's type
    /// arguments.
    pub(super) fn declared(&self, expected: Option<&Generic>) -> (String, Option<Generic>) {
        let own = self.of.to_owned();
        let class = descriptor::class_name(self.of).unwrap_or_default();
        let Some(expected) = expected.filter(|expected| !expected.arguments.is_empty()) else {
            return (own, None);
        };
        if !class.starts_with("java.util.") {
            return (own, Some(expected.clone()));
        }
        let known = match self.used {
            "" => true,
            "put" => expected.class.ends_with("Map"),
            "add" => ADDED_TO.iter().any(|name| expected.class.ends_with(name)),
            _ => false,
        };
        // Classes within others have type parameters of their own.
        let must_be_own = self.is_shared && !class.contains('$');
        if known && !must_be_own && expected.class.starts_with("java.util.") {
            let of = descriptor::of_class(&expected.class);
            return (of, Some(expected.clone()));
        }
        let with_arguments = self.is_generic.then(|| Generic {
            class,
            ..expected.clone()
        });
        (own, with_arguments)
    }
}

impl Maker<'_> {
    /// The types of a step's arguments, as far as they are known; `expected` is that of its result.
    pub(super) fn types(&self, step: &Step, expected: Option<&Generic>) -> Vec<Option<Generic>> {
        if !step.variadic {
            let library = &self.values.plan.library;
            return library.types(&step.class, &step.name, &step.descriptor);
        }
        // The map behind keys or values has two types, one of which is not known here but
        // elsewhere.
        let is_shared = |whole: &Argument| match whole {
            Argument::Value(typed) => {
                matches!(typed.value, Value::Ref(whole) if self.uses.is_shared(whole))
            }
            _ => false,
        };
        let is_half =
            step.operation == Operation::OfArgument && matches!(&*step.name, "keySet" | "values");
        match is_half && step.arguments.first().is_some_and(is_shared) {
            true => Vec::new(),
            false => within(step, expected),
        }
    }
}

/// The types of the arguments of a JDK method whose result is expected to have a type with
/// arguments.
fn within(step: &Step, expected: Option<&Generic>) -> Vec<Option<Generic>> {
    const WRAPPING: [&str; 3] = ["unmodifiable", "synchronized", "reverseOrder"];
    let Some(expected) = expected else {
        return Vec::new();
    };
    let wraps = WRAPPING.iter().any(|word| step.name.starts_with(word));
    if wraps && step.class == "java.util.Collections" {
        return vec![Some(expected.clone())];
    }
    if step.operation == Operation::OfArgument {
        let mut types = vec![whole(&step.name, expected)];
        types.resize(step.arguments.len(), None);
        return types;
    }
    if step.operation == Operation::New && step.roles == [jdk::COMPARATOR] {
        let ordered = expected.arguments.iter().take(1).cloned();
        let comparator = Generic {
            class: "java.util.Comparator".to_owned(),
            arguments: ordered.collect(),
            dimensions: 0,
            any: false,
        };
        return vec![Some(comparator)];
    }
    // These are elements of a collection, or keys and values alternately.
    let types = expected.arguments.iter().cloned().map(Some);
    types.cycle().take(step.arguments.len()).collect()
}

/// The type of the collection whose `part` has the expected type.
fn whole(part: &str, expected: &Generic) -> Option<Generic> {
    let object = Generic {
        class: "java.lang.Object".to_owned(),
        arguments: Vec::new(),
        dimensions: 0,
        any: false,
    };
    let element = expected.arguments.first()?.clone();
    let (class, arguments) = match part {
        "keySet" => ("java.util.Map", vec![element, object.clone()]),
        "values" => ("java.util.Map", vec![object.clone(), element]),
        "entrySet" => ("java.util.Map", element.arguments),
        _ => ("java.util.List", vec![element]),
    };
    Some(Generic {
        class: class.to_owned(),
        arguments,
        ..object
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The type of a variable for an object of a class of `java.util`, where it goes to a `Collection`.
    fn declared(class: &str, is_generic: bool, is_shared: bool, used: &str) -> (String, bool) {
        let place = crate::java::signature::field("Ljava/util/Collection<Ljava/lang/String;>;");
        let of = format!("Ljava/util/{class};");
        let made = Made {
            of: &of,
            is_generic,
            is_shared,
            used,
        };
        let (of, with_arguments) = made.declared(place.as_ref());
        let name = of.trim_start_matches("Ljava/util/").trim_end_matches(';');
        (name.to_owned(), with_arguments.is_some())
    }

    #[test]
    fn what_goes_to_several_places_has_its_own_type() {
        let own = |class: &str| (class.to_owned(), true);
        assert_eq!(declared("ArrayList", true, false, ""), own("Collection"));
        assert_eq!(declared("ArrayList", true, false, "add"), own("Collection"));
        assert_eq!(declared("ArrayList", true, false, "push"), own("ArrayList"));
        assert_eq!(declared("ArrayList", true, true, ""), own("ArrayList"));
        assert_eq!(declared("ArrayList", true, true, "add"), own("ArrayList"));
    }

    #[test]
    fn what_has_no_type_parameters_gets_no_arguments() {
        let plain = ("Properties".to_owned(), false);
        assert_eq!(declared("Properties", false, false, "setProperty"), plain);
    }
}
