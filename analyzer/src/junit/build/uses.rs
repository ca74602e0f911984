//! Determines what values lead to, how often objects are referred to, and what is shared.

use crate::graph::Graph;
use hindsight_tracelog::crash::{Body, Value, is_box};
use std::collections::{HashMap, HashSet};

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
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        let Value::Ref(object) = value else { continue };
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
            Body::Instance(_) => {
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

/// Whether objects of a JDK class are identified by their value alone.
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
