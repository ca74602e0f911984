//! Views of collections: the keys of a map, a range of a list.

use super::super::recipe::{Argument, Operation, Recipe};
use super::{code, one, step};
use crate::graph::{Graph, Typed};

/// Calls a method of another object, which returns this one.
pub(super) fn part(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let name = class.strip_prefix("java.util.")?;
    let field = |name: &str| graph.field(object, name);
    let of = |whole: Typed, method: &str, of: &str, given: Vec<Argument>| {
        let mut arguments = vec![Argument::Value(whole)];
        arguments.extend(given);
        let of = format!("()L{};", of.replace('.', "/"));
        one(step(Operation::OfArgument, class, method, &of, arguments))
    };
    let collection = "java.util.Collection";
    let set = "java.util.Set";
    let (map, rest) = match name.split_once('$')? {
        ("HashMap" | "LinkedHashMap", rest) => ("this$0", rest),
        ("TreeMap" | "concurrent.ConcurrentSkipListMap", "KeySet") => ("m", "KeySet"),
        ("TreeMap", rest) => ("this$0", rest),
        ("concurrent.ConcurrentHashMap", rest) => ("map", rest),
        ("ArrayList", "SubList") | ("ImmutableCollections", "SubList") => {
            let root = graph.reference(object, "root")?;
            // Additions to the list or removals from it invalidate its ranges.
            if graph.int(object, "modCount") != graph.int(root, "modCount") {
                return None;
            }
            // A range of a range is one of the list, at the offset that it keeps.
            let (from, size) = (graph.int(object, "offset")?, graph.int(object, "size")?);
            let range = [from, from + size].map(|place| code(place.to_string()));
            return of(field("root")?, "subList", "java.util.List", range.to_vec());
        }
        _ => return None,
    };
    match rest {
        "KeySet" | "LinkedKeySet" | "KeySetView" => of(field(map)?, "keySet", set, Vec::new()),
        "Values" | "LinkedValues" | "ValuesView" => {
            of(field(map)?, "values", collection, Vec::new())
        }
        "EntrySet" | "LinkedEntrySet" | "EntrySetView" => {
            of(field(map)?, "entrySet", set, Vec::new())
        }
        _ => None,
    }
}
