//! Models for people: as text, and as a picture for Graphviz.
//!
//! The object is written `*`: `* = con.createStmt()` makes it, `*.close()` calls a method on it,
//! `Ts.parse(*, "DR")` passes it as an argument.

use super::document::{sorted, to_json, type_at};
use super::graph::{Edge, Node, Tally};
use super::values::{Literal, Values};
use super::{Call, ClassModel, Model, RESULT};
use crate::graph::Typed;
use crate::java::descriptor;
use crate::text::{count, double, float, one_line, primitive, quote, simple_name};
use hindsight_tracelog::crash::Value;
use std::collections::HashMap;
use std::io::{self, Write};

/// The most values of one parameter that are shown.
const SHOWN: usize = 3;

/// Writes models as text.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn text(model: &Model, out: &mut dyn Write) -> io::Result<()> {
    for (name, class) in &model.classes {
        let (nodes, edges) = class.graph.size();
        writeln!(
            out,
            "{}: {}, {}, {}",
            one_line(name, 200),
            count(class.objects.total() as usize, "object"),
            count(nodes, "node"),
            count(edges, "edge")
        )?;
        for (from, to, edge) in numbered(model, class) {
            let call = model.call(edge.call);
            write!(out, "  {from} -> {to}  {}", line(call, &edge.tally))?;
            write!(out, "  {}x", edge.tally.returned.total())?;
            match edge.tally.threw.total() {
                0 => writeln!(out)?,
                threw => writeln!(out, ", threw {threw}x")?,
            }
        }
        let mut observers: Vec<_> = class.observers.iter().collect();
        observers.sort_by_key(|(id, _)| model.call(**id));
        for (id, seen) in observers {
            let call = line(model.call(*id), &Tally::default());
            writeln!(out, "  keeps   {call}  {}x", seen.total())?;
        }
    }
    Ok(())
}

/// Edges with the numbers of their nodes, as the document has them.
fn numbered<'m>(model: &Model, class: &'m ClassModel) -> Vec<(u32, u32, &'m Edge)> {
    let nodes = class.graph.order(&|id| model.call(id));
    let places: HashMap<Node, u32> = nodes.iter().copied().zip(0..).collect();
    let mut edges = Vec::new();
    for node in &nodes {
        for edge in sorted(model, &class.graph, *node) {
            let to = places[&class.graph.find(edge.target)];
            edges.push((places[node], to, edge));
        }
    }
    edges
}

/// A call as text, with the values seen.
fn line(call: &Call, tally: &Tally) -> String {
    let types = descriptor::split(&call.descriptor).map_or(Vec::new(), |(types, _)| types);
    let arguments: Vec<String> = (1..=types.len() as i16)
        .map(|position| argument(call, position, tally.values.get(&position)))
        .collect();
    let arguments = arguments.join(", ");
    let class = simple_name(&call.class);
    if call.method == "<init>" {
        // An object that is passed to the constructor of another class is not the one that is made.
        let made = if call.positions.contains(&0) {
            "* = "
        } else {
            ""
        };
        return format!("{made}new {}({arguments})", one_line(class, 80));
    }
    let made = if call.positions.contains(&RESULT) {
        "* = "
    } else {
        ""
    };
    let on = if call.positions.contains(&0) {
        "*"
    } else {
        class
    };
    format!(
        "{made}{}.{}({arguments})",
        one_line(on, 80),
        one_line(&call.method, 80)
    )
}

fn argument(call: &Call, position: i16, values: Option<&Values>) -> String {
    if call.positions.contains(&position) {
        return "*".to_owned();
    }
    let ty = type_at(call, position);
    let Some(values) = values.filter(|values| !values.is_empty()) else {
        let name = descriptor::type_name(ty);
        return one_line(simple_name(&name), 80);
    };
    let sorted = values.sorted();
    let mut shown: Vec<String> = (sorted.iter().take(SHOWN))
        .map(|(value, seen)| format!("{} {}x", self::value(value, ty), seen.counts.total()))
        .collect();
    if sorted.len() > SHOWN || values.more {
        shown.push(match values.more {
            true => "...".to_owned(),
            false => format!("{} more", sorted.len() - SHOWN),
        });
    }
    shown.join(" | ")
}

/// A value as text; `ty` is its descriptor.
pub(crate) fn value(value: &Literal, ty: &str) -> String {
    match value {
        Literal::Text(text) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            quote(&units, 60)
        }
        Literal::Units(units) => quote(units, 60),
        Literal::Int(unit) if ty == "C" => primitive(Typed::new(Value::Int(*unit), "C")),
        Literal::Float(bits) => float(f32::from_bits(*bits)),
        Literal::Double(bits) => double(f64::from_bits(*bits)),
        Literal::Enum(class, name) => one_line(&format!("{}.{name}", simple_name(class)), 80),
        Literal::Class(name) => one_line(&format!("{}.class", simple_name(name)), 80),
        Literal::Box(class, text) if class == "java.lang.Character" => {
            let mut units = text.encode_utf16();
            match (units.next(), units.next()) {
                (Some(unit), None) => self::value(&Literal::Int(unit.into()), "C"),
                _ => one_line(text, 40),
            }
        }
        Literal::Box(_, value) | Literal::JdkValue(_, value) => one_line(value, 40),
        Literal::Null | Literal::Bool(_) | Literal::Int(_) => to_json(value).to_string(),
    }
}

/// Writes models as one picture in Graphviz's language.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn dot(model: &Model, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph models {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=circle, label=\"\", width=0.2];")?;
    for (at, (name, class)) in model.classes.iter().enumerate() {
        writeln!(out, "  subgraph cluster_{at} {{")?;
        writeln!(out, "    label={};", label(name))?;
        writeln!(out, "    n{at}_0 [shape=doublecircle];")?;
        for (from, to, edge) in numbered(model, class) {
            let mut text = line(model.call(edge.call), &edge.tally);
            let (returned, threw) = (edge.tally.returned.total(), edge.tally.threw.total());
            // Otherwise the picture would not show that the call exists and fails.
            if threw > 0 {
                text.push_str(&format!(" (threw {threw}x of {})", returned + threw));
            }
            writeln!(
                out,
                "    n{at}_{from} -> n{at}_{to} [label={}];",
                label(&text)
            )?;
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}

fn label(text: &str) -> String {
    let escaped = one_line(text, usize::MAX)
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::{label, value};
    use crate::model::values::Literal;

    #[test]
    fn a_boxed_character_is_quoted_as_another() {
        for (text, shown) in [("a", "'a'"), (" ", "' '"), ("\n", "'\\n'")] {
            let unit = i64::from(u32::from(text.chars().next().unwrap()));
            assert_eq!(value(&Literal::Int(unit), "C"), shown);
            let boxed = Literal::Box("java.lang.Character".to_owned(), text.to_owned());
            assert_eq!(value(&boxed, "Ljava/lang/Object;"), shown);
        }
        let number = Literal::Box("java.lang.Integer".to_owned(), "7".to_owned());
        assert_eq!(value(&number, "Ljava/lang/Object;"), "7");
    }

    #[test]
    fn names_are_labels_of_one_line() {
        assert_eq!(label("a\"b\n\u{1b}c"), r#""a\"b\\n\\u001bc""#);
    }
}
