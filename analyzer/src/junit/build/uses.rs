//! Determines what values lead to, how often objects are referred to, and what is shared.

use crate::classpath::is_jdk;
use crate::graph::Graph;
use crate::views::{View, view};
use hindsight_tracelog::crash::{Body, Value, is_box};
use std::collections::{HashMap, HashSet};
use std::iter;

/// The most objects that are examined to find out what two arguments share.
const MAX_REACHED: usize = 20_000;

/// The objects to which a value leads.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Objects with an identity that matters.
    pub(super) objects: HashSet<u32>,
    /// Boxes that are in no cache.
    pub(super) boxes: HashSet<u32>,
    /// Whether there are more than would be built.
    pub(super) too_many: bool,
    /// Whether something was not stored: a test that loads it reports that.
    pub(super) holes: bool,
}

/// How often objects are referred to by what would be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Uses {
    counts: HashMap<u32, usize>,
    /// For each text, the first string with it, which becomes its literal, and whether that is an
    /// argument.
    literals: HashMap<Vec<u16>, (u32, bool)>,
    /// Strings that are not the literal of their text.
    pub(super) copies: HashSet<u32>,
}

impl Uses {
    /// Counts a reference. Returns whether it is the first one.
    ///
    /// Arguments lead to many strings that were read separately and are equal by chance, and nearly
    /// all programs compare them by `equals`: to keep all of them apart would hide what matters.
    /// Only an argument is kept apart from equal strings.
    pub(super) fn add(&mut self, graph: &Graph<'_>, object: u32, is_argument: bool) -> bool {
        let uses = self.counts.entry(object).or_insert(0);
        *uses += 1;
        if *uses > 1 {
            return false;
        }
        if let Some(Body::String(text)) = graph.body(object) {
            let first = self.literals.entry(text.units());
            let (literal, was_argument) = *first.or_insert((object, is_argument));
            if literal != object && (is_argument || was_argument) {
                self.copies.insert(object);
            }
        }
        true
    }

    /// Whether there is a reference.
    pub(super) fn is_counted(&self, object: u32) -> bool {
        self.counts.contains_key(&object)
    }

    /// Whether there is more than one reference.
    pub(super) fn is_shared(&self, object: u32) -> bool {
        self.counts.get(&object).is_some_and(|&uses| uses > 1)
    }
}

/// The objects to which a value leads.
pub(super) fn reached(graph: &Graph<'_>, root: Value) -> Reached {
    let mut reached = Reached::default();
    let mut marks = null_keys(graph);
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        let Value::Ref(object) = value else { continue };
        // Views of large sets are expensive, and many objects may refer to one.
        if marks.contains(&object) || reached.objects.contains(&object) {
            continue;
        }
        let Some(body) = graph.body(object) else {
            reached.holes = true;
            continue;
        };
        let next: Vec<Value> = match body {
            // Locks and markers have an identity that matters; other classes without fields seldom
            // have two objects.
            Body::Instance(values)
                if values.is_empty() && graph.class_name(object) != "java.lang.Object" =>
            {
                continue;
            }
            Body::Instance(_) if is_value(graph.class_name(object)) => {
                if is_own_box(graph, object) {
                    reached.boxes.insert(object);
                }
                continue;
            }
            Body::Instance(_) if is_empty_one(graph, object) => continue,
            // All end in the same node.
            Body::Instance(_) if graph.class_name(object) == "java.util.regex.Pattern" => {
                Vec::new()
            }
            Body::Instance(_) => {
                marks.extend(mark(graph, object));
                let fields = graph.fields(object);
                fields.iter().map(|field| field.value.value).collect()
            }
            Body::References(values) => values.clone(),
            Body::Lambda(lambda) => lambda.captured.iter().map(|(_, value)| *value).collect(),
            Body::Primitives(_) => Vec::new(),
            Body::Hole(_) => {
                reached.holes |= graph.standing(object).is_none();
                continue;
            }
            Body::String(_) | Body::Class(_) | Body::Enum { .. } => continue,
        };
        if reached.objects.insert(object) {
            waiting.extend(next);
        }
        if reached.objects.len() > MAX_REACHED {
            reached.too_many = true;
            break;
        }
    }
    reached
}

/// What the JDK's maps have in place of a key that is null.
fn null_keys(graph: &Graph<'_>) -> HashSet<u32> {
    let constants = graph.crash.failure.constants.iter();
    let held = constants.filter(|held| held.name == "NULL_KEY" && is_jdk(&held.owner));
    held.map(|held| held.object).collect()
}

/// The object that the JDK puts into all collections of a kind: what a set has for the values of its map, what stands
/// for no element, what is there before any element. Nobody shares anything by it.
fn mark(graph: &Graph<'_>, object: u32) -> Option<u32> {
    let class = graph.class(object)?;
    // A program may extend them.
    let mut names = iter::once(&class.name).chain(&class.supers);
    let name = names.find_map(|name| name.strip_prefix("java.util."))?;
    let value_in = |map: u32| match view(graph, map)? {
        View::Map(entries) => match entries.first()?.1.value {
            Value::Ref(value) => Some(value),
            _ => None,
        },
        _ => None,
    };
    match name {
        "HashSet" | "LinkedHashSet" => value_in(graph.reference(object, "map")?),
        "TreeSet" => {
            let map = graph.reference(object, "m")?;
            // A range of another set has one of its map.
            value_in(graph.reference(map, "m").unwrap_or(map))
        }
        "ImmutableCollections$List12" | "ImmutableCollections$Set12" => {
            let second = graph.reference(object, "e1")?;
            (graph.class_name(second) == "java.lang.Object").then_some(second)
        }
        "ArrayList" => {
            let elements = graph.reference(object, "elementData")?;
            (graph.each(elements)?.len() == 0).then_some(elements)
        }
        "EnumMap" => graph.reference(object, "keyUniverse"),
        "RegularEnumSet" | "JumboEnumSet" => graph.reference(object, "universe"),
        _ => None,
    }
}

/// Whether an object of the JDK is empty, and the only one of its class that is: code that asks for another one gets
/// the same.
fn is_empty_one(graph: &Graph<'_>, object: u32) -> bool {
    const CLASSES: [&str; 7] = [
        "java.util.Optional",
        "java.util.Collections$EmptyList",
        "java.util.Collections$EmptySet",
        "java.util.Collections$EmptyMap",
        "java.util.ImmutableCollections$ListN",
        "java.util.ImmutableCollections$SetN",
        "java.util.ImmutableCollections$MapN",
    ];
    let is_empty = |seen| match seen {
        View::List(elements) => elements.is_empty(),
        View::Map(entries) => entries.is_empty(),
        _ => false,
    };
    CLASSES.contains(&graph.class_name(object)) && view(graph, object).is_some_and(is_empty)
}

/// Whether objects of a class of the JDK are told by their value alone.
fn is_value(class: &str) -> bool {
    const CLASSES: [&str; 8] = [
        "java.math.BigInteger",
        "java.math.BigDecimal",
        "java.util.UUID",
        "java.util.Locale",
        "java.util.Currency",
        "java.net.URI",
        "java.io.File",
        "sun.nio.fs.UnixPath",
    ];
    class.starts_with("java.time.")
        || class.starts_with("sun.nio.cs.")
        || class.starts_with("sun.util.calendar.")
        || CLASSES.contains(&class)
        || is_box(class)
}

/// Whether an object is a box that `valueOf` makes anew each time, so that programs can distinguish
/// it from equal ones.
pub(super) fn is_own_box(graph: &Graph<'_>, object: u32) -> bool {
    match crate::views::unboxed(graph, object).map(|content| (content.kind, content.value)) {
        Some((b'C', Value::Int(unit))) => unit > 127,
        Some((b'B', _)) => false,
        Some((_, Value::Int(number))) => !(-128..=127).contains(&number),
        Some((_, Value::Float(_) | Value::Double(_))) => true,
        _ => false,
    }
}
