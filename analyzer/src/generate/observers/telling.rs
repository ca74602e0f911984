//! Decides which results of questions may be informative.

use crate::generate::asserted::Assertion;
use crate::generate::carve::Access;
use crate::generate::sequence::Method;
use crate::java::{descriptor, jdk_value};
use crate::model::mutable::Mutability;
use crate::model::values::Literal;

/// The method that returns the message of the program's exception, unless a class of the program
/// overrides it.
pub(super) fn message(class: &str, access: &Access<'_>) -> Option<Method> {
    const NAME: &str = "getMessage";
    const THROWABLE: &str = "java.lang.Throwable";
    let says = |method: &Method| method.name == NAME;
    let is_inherited = access.is_a(class, THROWABLE) && !access.asking(class).iter().any(says);
    is_inherited.then(|| Method {
        class: THROWABLE.to_owned(),
        name: NAME.to_owned(),
        descriptor: "()Ljava/lang/String;".to_owned(),
        is_static: false,
        runs: None,
    })
}

/// Whether a result of this declared type may be informative: by its value, or by its text.
pub(super) fn shows(ty: &str, access: &Access<'_>) -> bool {
    let (_, element) = descriptor::element(ty);
    match descriptor::class_name(element) {
        Some(class) => tells(&class) || access.is_enum(&class),
        None => descriptor::is_primitive(element) && element != "V",
    }
}

/// Whether a result of this declared type is an object of the program that has a text of its own,
/// which changes nothing.
pub(super) fn says_itself(ty: &str, mutability: &Mutability, access: &Access<'_>) -> bool {
    let class = descriptor::class_name(ty);
    let class = class.filter(|class| access.is_own(class) && access.is_open(class));
    class.is_some_and(|class| {
        let asking = access.asking(&class).into_iter();
        let mut texts = asking.filter(|method| method.name == "toString");
        texts.any(|method| method.leaves(mutability, 0))
    })
}

/// Whether an answer is what objects mostly have at first.
pub(super) fn is_empty(answer: &Assertion) -> bool {
    match answer {
        Assertion::Equals(literal) => match literal {
            Literal::Null | Literal::Bool(false) | Literal::Int(0) => true,
            Literal::Text(text) => text.is_empty(),
            _ => false,
        },
        Assertion::Text(text) | Assertion::Elements(text) => {
            matches!(text.as_str(), "" | "[]" | "{}" | "Optional.empty")
        }
        Assertion::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

/// Whether the text of an object of a JDK class may be informative.
fn tells(class: &str) -> bool {
    matches!(
        class,
        "java.lang.Boolean"
            | "java.lang.Byte"
            | "java.lang.CharSequence"
            | "java.lang.Character"
            | "java.lang.Class"
            | "java.lang.Double"
            | "java.lang.Float"
            | "java.lang.Integer"
            | "java.lang.Long"
            | "java.lang.Number"
            | "java.lang.Short"
            | "java.lang.String"
            | "java.util.Collection"
            | "java.util.Deque"
            | "java.util.List"
            | "java.util.Map"
            | "java.util.NavigableMap"
            | "java.util.NavigableSet"
            | "java.util.Optional"
            | "java.util.OptionalDouble"
            | "java.util.OptionalInt"
            | "java.util.OptionalLong"
            | "java.util.Queue"
            | "java.util.Set"
            | "java.util.SortedMap"
            | "java.util.SortedSet"
            // This is the erasure of type variables.
            | "java.lang.Comparable"
            | "java.lang.Object"
    ) || jdk_value::way(class).is_some()
        || class.starts_with("java.time.")
}
