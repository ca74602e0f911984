//! What well-known JDK objects mean, read from their fields.
//!
//! Users want to see `[1, 2]`, not `elementData` and `modCount`. No code of the program or of its
//! JDK is run for that: each view knows the fields of one class as JDK 11 to 25 lay them out, and
//! returns `None` if they are not as expected, so that the caller shows the raw fields instead.
//!
//! - `scalars` are objects that are one value: boxes, numbers, builders, dates, paths.
//! - `collections` are those of `java.util`.

mod collections;
mod scalars;

pub(crate) use scalars::unboxed;

use crate::graph::{Graph, Typed};
use hindsight_tracelog::crash::Value;

/// The form in which an object is best shown.
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    /// A single value, such as a number or a date.
    Scalar(String),
    /// A string, as UTF-16 code units.
    Text(Vec<u16>),
    /// A list of elements, in order.
    List(Vec<Typed>),
    /// A map of keys and values.
    Map(Vec<(Typed, Typed)>),
}

/// The view that an object of the program has through the collection of the JDK that its class
/// extends, with the name of that class.
pub fn inherited<'a>(graph: &Graph<'a>, object: u32) -> Option<(&'a str, View)> {
    let class = graph.class(object)?;
    let of_jdk = |name: &&String| name.starts_with("java.util.");
    let above = class.supers.iter().find(of_jdk)?;
    Some((above, collections::view(graph, object, above, None, 0)?))
}

/// The comparator by which a sorted collection of the JDK orders its elements, if it has one.
pub fn comparator(graph: &Graph<'_>, object: u32) -> Option<u32> {
    collections::comparator(graph, object)
}

/// The default properties of a `Properties`, if there are any.
pub fn defaults(graph: &Graph<'_>, object: u32) -> Option<Typed> {
    let is_properties = graph.class_name(object) == "java.util.Properties";
    let defaults = graph.field(object, "defaults").filter(|_| is_properties)?;
    matches!(defaults.value, Value::Ref(_)).then_some(defaults)
}

/// The view of an object, if its class is a known one and its fields fit.
pub fn view(graph: &Graph<'_>, object: u32) -> Option<View> {
    in_order(graph, object, None)
}

/// The view of an object for people: elements of the JDK's immutable sets and maps are in the order
/// of their iteration in the recorded JVM, if it is known.
pub fn iterated(graph: &Graph<'_>, object: u32) -> Option<View> {
    in_order(graph, object, graph.crash.meta.order)
}

fn in_order(graph: &Graph<'_>, object: u32, order: collections::Order) -> Option<View> {
    let class = graph.class_name(object);
    if !class.starts_with("java.") && !class.starts_with("sun.nio.fs.") {
        return None;
    }
    scalars::view(graph, object, class)
        .or_else(|| collections::view(graph, object, class, order, 0))
}
