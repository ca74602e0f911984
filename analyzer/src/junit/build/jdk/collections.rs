//! Collections and maps.

use super::super::recipe::{Argument, Operation, Recipe, Step};
use super::{COMPARATOR, LIST, MAX_ELEMENTS, call, code, made, made_with, new, on_first, step};
use crate::graph::{Graph, Typed};
use crate::views::{View, comparator, defaults, view};
use hindsight_tracelog::crash::Value;

pub(super) fn collection(graph: &Graph<'_>, object: u32, class: &str) -> Option<Recipe> {
    let name = class.strip_prefix("java.util.")?;
    if let Some(recipe) = wrapper(graph, object, name) {
        return Some(recipe);
    }
    if name == "Collections$CopiesList" {
        let count = code(graph.int(object, "n")?.to_string());
        let element = Argument::Value(graph.field(object, "element")?);
        return call(
            "java.util.Collections",
            "nCopies",
            LIST,
            vec![count, element],
        );
    }
    match view(graph, object)? {
        View::List(elements) if elements.len() <= MAX_ELEMENTS => {
            list(graph, object, class, name, elements)
        }
        View::Map(entries) if entries.len() <= MAX_ELEMENTS => {
            map(graph, object, class, name, entries)
        }
        _ => None,
    }
}

/// `List.of(a, b)`, or a call whose result may hold null.
fn listing(graph: &Graph<'_>, elements: Vec<Typed>) -> Option<Step> {
    let null = elements.iter().any(|element| element.value == Value::Null);
    let (class, name) = match (null, elements.as_slice()) {
        (true, [_]) => ("java.util.Collections", "singletonList"),
        (true, _) => ("java.util.Arrays", "asList"),
        // An array would be taken for the elements.
        (false, [only]) if is_array(graph, *only) => ("java.util.Collections", "singletonList"),
        (false, _) => ("java.util.List", "of"),
    };
    let arguments = elements.into_iter().map(Argument::Value).collect();
    Some(step(
        Operation::Static,
        class,
        name,
        &format!("(){LIST}"),
        arguments,
    ))
}

fn is_array(graph: &Graph<'_>, typed: Typed) -> bool {
    matches!(typed.value, Value::Ref(object) if graph.class_name(object).starts_with('['))
}

/// A collection that its constructor copies from a list.
fn copied(graph: &Graph<'_>, class: &str, elements: Vec<Typed>) -> Option<Recipe> {
    if elements.is_empty() {
        return new(class, Vec::new());
    }
    let made = step(Operation::New, class, "<init>", "", vec![Argument::Step(0)]);
    Some(Recipe {
        steps: vec![listing(graph, elements)?, made],
        result: 1,
    })
}

fn list(
    graph: &Graph<'_>,
    object: u32,
    class: &str,
    name: &str,
    elements: Vec<Typed>,
) -> Option<Recipe> {
    let calls = || -> Vec<Vec<Argument>> {
        let elements = elements.iter().copied().map(Argument::Value);
        elements.map(|element| vec![element]).collect()
    };
    let values = || elements.iter().copied().map(Argument::Value).collect();
    match name {
        "ArrayList"
        | "LinkedList"
        | "ArrayDeque"
        | "Vector"
        | "HashSet"
        | "LinkedHashSet"
        | "concurrent.CopyOnWriteArrayList"
        | "concurrent.CopyOnWriteArraySet"
        | "concurrent.ConcurrentLinkedQueue"
        | "concurrent.ConcurrentLinkedDeque" => copied(graph, class, elements),
        "Stack" => made(class, "push", calls()),
        // It has no constructor with only a comparator.
        "concurrent.PriorityBlockingQueue" => match comparator(graph, object) {
            None => copied(graph, class, elements),
            Some(_) => None,
        },
        "concurrent.ArrayBlockingQueue" => {
            let capacity = graph.elements(graph.reference(object, "items")?)?.len();
            made_with(class, vec![code(capacity.to_string())], "add", calls())
        }
        "concurrent.ConcurrentHashMap$KeySetView" => {
            // Without a value it is the key view of another map.
            graph.reference(object, "value")?;
            let class = "java.util.concurrent.ConcurrentHashMap";
            let of = "()Ljava/util/concurrent/ConcurrentHashMap$KeySetView;";
            let mut steps = vec![step(Operation::Static, class, "newKeySet", of, Vec::new())];
            steps.extend(calls().into_iter().map(|call| on_first(class, "add", call)));
            Some(Recipe { steps, result: 0 })
        }
        "Collections$SetFromMap" => set_from_map(graph, object, elements),
        "TreeSet" | "PriorityQueue" | "concurrent.ConcurrentSkipListSet" => {
            match comparator(graph, object) {
                None => copied(graph, class, elements),
                Some(order) => {
                    let order = Argument::Value(Typed::reference(Value::Ref(order)));
                    let mut recipe = made_with(class, vec![order], "add", calls())?;
                    recipe.steps[0].roles = vec![COMPARATOR.to_owned()];
                    Some(recipe)
                }
            }
        }
        "concurrent.LinkedBlockingQueue" | "concurrent.LinkedBlockingDeque" => {
            match graph.int(object, "capacity")? {
                capacity if capacity == i64::from(i32::MAX) => copied(graph, class, elements),
                capacity => made_with(class, vec![code(capacity.to_string())], "add", calls()),
            }
        }
        "Arrays$ArrayList" => {
            let alone = matches!(elements.as_slice(), [only] if only.value == Value::Null || is_array(graph, *only));
            if alone {
                return None;
            }
            call("java.util.Arrays", "asList", LIST, values())
        }
        "ImmutableCollections$ListN" | "ImmutableCollections$List12" => {
            if elements.iter().any(|element| element.value == Value::Null) {
                return None;
            }
            call("java.util.List", "of", LIST, values())
        }
        "ImmutableCollections$SetN" | "ImmutableCollections$Set12" => {
            call("java.util.Set", "of", "Ljava/util/Set;", values())
        }
        "Collections$EmptyList" => call("java.util.Collections", "emptyList", LIST, values()),
        "Collections$EmptySet" => call(
            "java.util.Collections",
            "emptySet",
            "Ljava/util/Set;",
            values(),
        ),
        "Collections$SingletonList" => {
            call("java.util.Collections", "singletonList", LIST, values())
        }
        "Collections$SingletonSet" => call(
            "java.util.Collections",
            "singleton",
            "Ljava/util/Set;",
            values(),
        ),
        "Optional" => match elements.is_empty() {
            true => call(class, "empty", "Ljava/util/Optional;", Vec::new()),
            false => call(class, "of", "Ljava/util/Optional;", values()),
        },
        "concurrent.atomic.AtomicReference" => new(class, values()),
        "RegularEnumSet" => match elements.is_empty() {
            false => call("java.util.EnumSet", "of", "Ljava/util/EnumSet;", values()),
            true => call(
                "java.util.EnumSet",
                "noneOf",
                "Ljava/util/EnumSet;",
                vec![Argument::Value(graph.field(object, "elementType")?)],
            ),
        },
        _ => None,
    }
}

/// `Collections.newSetFromMap(...)`, which accepts only an empty map: so the set is filled.
fn set_from_map(graph: &Graph<'_>, object: u32, elements: Vec<Typed>) -> Option<Recipe> {
    let whole = graph.reference(object, "m")?;
    let class = graph.class_name(whole);
    let name = class.strip_prefix("java.util.")?;
    let mut steps = map(graph, whole, class, name, Vec::new())?.steps;
    // The map inside `Properties` has a type of its own.
    if steps[0].operation != Operation::New || name == "Properties" {
        return None;
    }
    let (set, of) = ("java.util.Set", "()Ljava/util/Set;");
    let given = vec![Argument::Step(0)];
    steps.push(step(
        Operation::Static,
        "java.util.Collections",
        "newSetFromMap",
        of,
        given,
    ));
    steps.extend(elements.into_iter().map(|element| Step {
        on: Some(1),
        ..on_first(set, "add", vec![Argument::Value(element)])
    }));
    Some(Recipe { steps, result: 1 })
}

fn map(
    graph: &Graph<'_>,
    object: u32,
    class: &str,
    name: &str,
    entries: Vec<(Typed, Typed)>,
) -> Option<Recipe> {
    let flat = || {
        let flat = entries.iter().flat_map(|(key, value)| [*key, *value]);
        flat.map(Argument::Value).collect::<Vec<_>>()
    };
    let mut first = Vec::new();
    match name {
        "HashMap"
        | "Hashtable"
        | "IdentityHashMap"
        | "concurrent.ConcurrentHashMap"
        | "WeakHashMap" => {}
        "Properties" => first.extend(defaults(graph, object).map(Argument::Value)),
        "LinkedHashMap" => {
            let by_access = graph.field(object, "accessOrder")?.value == Value::Bool(true);
            if by_access {
                first.extend(["16", "0.75f", "true"].map(code));
            }
        }
        "TreeMap" | "concurrent.ConcurrentSkipListMap" => {
            let comparator = graph.field(object, "comparator")?;
            if comparator.value != Value::Null {
                first.push(Argument::Value(comparator));
            }
        }
        "EnumMap" => first.push(Argument::Value(graph.field(object, "keyType")?)),
        "ImmutableCollections$Map1" | "ImmutableCollections$MapN" if entries.len() <= 10 => {
            return call("java.util.Map", "of", "Ljava/util/Map;", flat());
        }
        "Collections$EmptyMap" => {
            return call(
                "java.util.Collections",
                "emptyMap",
                "Ljava/util/Map;",
                flat(),
            );
        }
        "Collections$SingletonMap" => {
            return call(
                "java.util.Collections",
                "singletonMap",
                "Ljava/util/Map;",
                flat(),
            );
        }
        "KeyValueHolder" => {
            return call("java.util.Map", "entry", "Ljava/util/Map$Entry;", flat());
        }
        "AbstractMap$SimpleEntry" | "AbstractMap$SimpleImmutableEntry" => {
            return new(class, flat());
        }
        _ => return None,
    }
    let mut steps = vec![step(Operation::New, class, "<init>", "", first)];
    if name.ends_with("TreeMap") || name.ends_with("SkipListMap") {
        steps[0].roles.fill(COMPARATOR.to_owned());
    }
    let is_text =
        |of: &Typed| matches!(of.value, Value::Ref(object) if graph.text(object).is_some());
    let texts = entries
        .iter()
        .all(|(key, value)| is_text(key) && is_text(value));
    let put = match name == "Properties" && texts {
        true => "setProperty",
        false => "put",
    };
    for (key, value) in entries {
        steps.push(Step {
            on: Some(0),
            ..step(
                Operation::Virtual,
                class,
                put,
                "()V",
                vec![Argument::Value(key), Argument::Value(value)],
            )
        });
    }
    Some(Recipe { steps, result: 0 })
}

/// `Collections.unmodifiableList(inner)` and similar calls.
fn wrapper(graph: &Graph<'_>, object: u32, name: &str) -> Option<Recipe> {
    let kind = name.strip_prefix("Collections$")?;
    let (verb, of) = match kind.strip_prefix("Unmodifiable") {
        Some(of) => ("unmodifiable", of),
        None => ("synchronized", kind.strip_prefix("Synchronized")?),
    };
    let of = match of {
        "RandomAccessList" => "List",
        "Collection" | "List" | "Set" | "Map" | "SortedSet" | "SortedMap" | "NavigableSet"
        | "NavigableMap" => of,
        _ => return None,
    };
    let field = if of.ends_with("Map") { "m" } else { "c" };
    let inner = graph.field(object, field)?;
    call(
        "java.util.Collections",
        &format!("{verb}{of}"),
        &format!("Ljava/util/{of};"),
        vec![Argument::Value(inner)],
    )
}
