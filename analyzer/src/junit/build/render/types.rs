//! Types of variables, and of what methods of the JDK's are given.

use crate::java::descriptor;
use crate::java::signature::Generic;
use crate::junit::build::jdk;
use crate::junit::build::recipe::{Operation, Step};

/// How the names of types end to which something can be added.
const ADDED_TO: [&str; 5] = ["Collection", "Deque", "List", "Queue", "Set"];

/// The type of a variable for an object of the class `of`: the place's own
/// type, if the method `used` on the variable is one of it; else its class,
/// with the place's arguments.
pub(super) fn declared(
    of: &str,
    expected: Option<&Generic>,
    used: &str,
) -> (String, Option<Generic>) {
    let class = descriptor::class_name(of).unwrap_or_default();
    let Some(expected) = expected.filter(|expected| !expected.arguments.is_empty()) else {
        return (of.to_owned(), None);
    };
    if !class.starts_with("java.util.") {
        return (of.to_owned(), Some(expected.clone()));
    }
    let known = match used {
        "" => true,
        "put" => expected.class.ends_with("Map"),
        "add" => ADDED_TO.iter().any(|name| expected.class.ends_with(name)),
        _ => false,
    };
    if known && expected.class.starts_with("java.util.") {
        return (
            descriptor::of_class(&expected.class),
            Some(expected.clone()),
        );
    }
    let own = Generic {
        class,
        ..expected.clone()
    };
    (of.to_owned(), Some(own))
}

/// The types of what a method of the JDK's is given where a type with arguments is expected of it.
pub(super) fn within(step: &Step, expected: Option<&Generic>) -> Vec<Option<Generic>> {
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
    // Elements of a collection, or keys and values in turn.
    let types = expected.arguments.iter().cloned().map(Some);
    types.cycle().take(step.arguments.len()).collect()
}

/// The type of the collection of which `part` gives what is expected.
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
