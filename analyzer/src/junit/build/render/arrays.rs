//! The expressions of arrays.

use super::{Maker, Place};
use crate::graph::Typed;
use crate::java::names::Names;
use crate::java::{descriptor, literal};
use crate::junit::build::recipe::is_zero;
use crate::junit::value::Expression;
use hindsight_tracelog::crash::Value;

/// The length of the longest array that is written element by element.
const MAX_ARRAY: usize = 64;

impl Maker<'_> {
    /// An array, as a literal, or made from a text or a shorter literal.
    pub(super) fn array(
        &mut self,
        object: u32,
        place: &Place<'_>,
        names: &mut Names,
    ) -> Option<Expression> {
        if self.loaded.contains(&object) {
            return None;
        }
        let of = descriptor::of_class(self.graph.class_name(object));
        let element = of.strip_prefix('[')?;
        let elements = self.graph.elements(object)?;
        let made = |code: String| {
            Some(Expression {
                code,
                descriptor: of.clone(),
                constructs: true,
                redacted: false,
                unboxed: false,
            })
        };
        let (dimensions, innermost) = descriptor::element(element);
        let name = self.values.type_name(innermost, names)?;
        let brackets = "[]".repeat(dimensions);
        let used = elements.len() - elements.iter().rev().take_while(|e| is_zero(**e)).count();
        if used == 0 {
            return made(format!("new {name}[{}]{brackets}", elements.len()));
        }
        let short = elements.len() <= MAX_ARRAY;
        let part = if short && elements.len() - used <= 8 {
            &elements[..]
        } else {
            &elements[..used]
        };
        let text = (element == "C").then(|| characters(part)).flatten();
        let code = match text {
            Some(text) => format!("{text}.toCharArray()"),
            None => {
                if part.len() > MAX_ARRAY {
                    return None;
                }
                let mut codes = Vec::new();
                for typed in part {
                    let inner = Place {
                        depth: place.depth + 1,
                        ..Place::default()
                    };
                    let code = self.expression(*typed, &inner, names)?.code;
                    // In an array initializer the narrow types need no cast.
                    let is_narrow = ["B", "S", "Ljava/lang/Byte;", "Ljava/lang/Short;"];
                    let plain = code
                        .strip_prefix("(byte) ")
                        .or_else(|| code.strip_prefix("(short) "))
                        .filter(|_| is_narrow.contains(&element));
                    // An inner array does not have to name its type either.
                    let inner = code
                        .strip_prefix(&format!("new {name}{brackets} "))
                        .filter(|inner| dimensions > 0 && inner.starts_with('{'));
                    codes.push(inner.or(plain).unwrap_or(&code).to_owned());
                }
                format!("new {name}[]{brackets} {{{}}}", codes.join(", "))
            }
        };
        if part.len() == elements.len() {
            return made(code);
        }
        let arrays = names.write("java.util", "Arrays");
        made(format!("{arrays}.copyOf({code}, {})", elements.len()))
    }
}

/// Characters as a string literal, if they are readable text.
fn characters(elements: &[Typed]) -> Option<String> {
    let unit = |typed: &Typed| match typed.value {
        Value::Int(unit) => u16::try_from(unit).ok(),
        _ => None,
    };
    let units: Vec<u16> = elements.iter().map(unit).collect::<Option<_>>()?;
    if units.len() < 2 {
        return None;
    }
    literal::string(&units)
}
