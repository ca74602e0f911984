//! Turns values of a trace into literals.

use super::values::Literal;
use crate::java::jdk_value;
use hindsight_tracelog::crash::is_box;
use hindsight_tracelog::trace::Datum;

pub(super) fn of_datum(value: Datum, ty: &str) -> Literal {
    match value {
        Datum::Reference(_) => Literal::Null,
        Datum::Int(value) if ty == "Z" => Literal::Bool(value != 0),
        Datum::Int(value) => Literal::Int(value.into()),
        Datum::Long(value) => Literal::Int(value),
        Datum::Float(value) => Literal::float(value),
        Datum::Double(value) => Literal::double(value),
    }
}

/// Whether the texts of a class's objects are only for readers: they name a field or method, and no
/// source text could be made of them.
pub fn is_reflected(class: &str) -> bool {
    let is_member = |class: &str| matches!(class, "Field" | "Method" | "Constructor");
    class.strip_prefix("java.lang.reflect.").is_some_and(is_member)
        // Variable handles and field updaters.
        || class.starts_with("java.lang.invoke.") && class.contains("VarHandle")
        || class.starts_with("java.util.concurrent.atomic.") && class.contains("FieldUpdater")
}

/// The literal that the text of an object of a class stands for; `None` for the classes of
/// [`is_reflected`].
pub fn literal(class: &str, text: &str, length: u32) -> Option<Literal> {
    let text = text.to_owned();
    Some(match class {
        "java.lang.String" => {
            if text.encode_utf16().count() < length as usize {
                return None; // only its beginning is known
            }
            Literal::Text(text)
        }
        "java.lang.Class" => Literal::Class(text),
        _ if is_box(class) => Literal::Box(class.to_owned(), text),
        _ => match jdk_value::way(class) {
            Some(way) => Literal::JdkValue(way.class.to_owned(), text),
            None => Literal::Enum(enum_of(class, &text).to_owned(), text),
        },
    })
}

/// The literal that a text with lone surrogates stands for.
pub fn of_units(class: &str, units: &[u16], length: u32) -> Option<Literal> {
    match (class, units) {
        ("java.lang.Character", [unit]) => Some(character(*unit)),
        ("java.lang.String", units) if units.len() >= length as usize => {
            Some(Literal::Units(units.to_vec()))
        }
        _ => None,
    }
}

/// A `char` as the value of a box. A surrogate is written as an escape, because no Rust string can
/// hold it alone.
pub fn character(unit: u16) -> Literal {
    let text = match char::from_u32(unit.into()) {
        Some(unit) => unit.to_string(),
        None => format!("\\u{unit:04x}"),
    };
    Literal::Box("java.lang.Character".to_owned(), text)
}

/// The enum to which a constant of this class and name belongs. A constant with a body has a class
/// of its own, which javac numbers (JLS 8.9.1) and Kotlin's compiler names like the constant.
fn enum_of<'c>(class: &'c str, name: &str) -> &'c str {
    match class.rsplit_once('$') {
        Some((outer, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => outer,
        // An enum may have a constant of the enum's own name, but hardly one in capital letters.
        Some((outer, simple)) if simple == name && name == name.to_uppercase() => outer,
        _ => class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_told_if_the_text_is_whole() {
        let units = [0x61, 0xd800];
        let string = |length| of_units("java.lang.String", &units, length);
        assert_eq!(string(2), Some(Literal::Units(units.to_vec())));
        assert_eq!(string(3), None);
        let boxed = Literal::Box("java.lang.Character".to_owned(), "\\ud800".to_owned());
        assert_eq!(of_units("java.lang.Character", &units[1..], 0), Some(boxed));
    }

    #[test]
    fn a_constant_with_a_body_is_of_its_enum() {
        let of = |class: &str| literal(class, "REJECT", 6);
        let constant = |class: &str| Some(Literal::Enum(class.to_owned(), "REJECT".to_owned()));
        assert_eq!(of("ring.Ring$Policy$1"), constant("ring.Ring$Policy"));
        assert_eq!(of("ring.Ring$Policy"), constant("ring.Ring$Policy"));
        assert_eq!(of("ring.Policy$REJECT"), constant("ring.Policy"));
        assert_eq!(
            literal("a.B$End", "End", 3),
            Some(Literal::Enum("a.B$End".to_owned(), "End".to_owned()))
        );
        // A class within a method.
        assert_eq!(of("ring.Ring$1Policy"), constant("ring.Ring$1Policy"));
    }
}
