//! Collections of `java.util`.

use super::View;
use crate::classpath::is_jdk;
use crate::graph::{Graph, Typed};
use hindsight_tracelog::crash::Value;

/// The greatest depth of wrappers within wrappers that is followed.
const MAX_NESTING: usize = 8;
/// The most copies of one element that are shown as a list.
const MAX_COPIES: usize = 1000;

/// The comparator by which a sorted collection of the JDK orders its elements, if it has one.
pub(super) fn comparator(graph: &Graph<'_>, object: u32) -> Option<u32> {
    let name = graph.class_name(object).strip_prefix("java.util.")?;
    match name {
        "TreeMap"
        | "PriorityQueue"
        | "concurrent.PriorityBlockingQueue"
        | "concurrent.ConcurrentSkipListMap" => graph.reference(object, "comparator"),
        "TreeSet" | "concurrent.ConcurrentSkipListSet" => {
            graph.reference(graph.reference(object, "m")?, "comparator")
        }
        _ => None,
    }
}

/// The order in which `Set.of` and `Map.of` iterate: see
/// [`hindsight_tracelog::crash::Meta::order`].
pub(super) type Order = Option<(i64, bool)>;

/// The view of a collection. Without an `order`, elements of the JDK's immutable sets and maps are
/// in the order of their tables.
pub(super) fn view(
    graph: &Graph<'_>,
    object: u32,
    class: &str,
    order: Order,
    nesting: usize,
) -> Option<View> {
    let name = class.strip_prefix("java.util.")?;
    if nesting > MAX_NESTING {
        return None;
    }
    // The view of the collection that this one wraps.
    let inner = |field: &str| {
        let target = graph.reference(object, field)?;
        view(graph, target, graph.class_name(target), order, nesting + 1)
    };
    match name {
        "ArrayList" => prefix(graph, object, "elementData", "size"),
        "Vector" | "Stack" => prefix(graph, object, "elementData", "elementCount"),
        "PriorityQueue" | "concurrent.PriorityBlockingQueue" => {
            prefix(graph, object, "queue", "size")
        }
        "Arrays$ArrayList" => all(graph, object, "a"),
        "concurrent.CopyOnWriteArrayList" => all(graph, object, "array"),
        "concurrent.CopyOnWriteArraySet" => inner("al"),
        "LinkedList" => linked_list(graph, object),
        "ArrayDeque" => array_deque(graph, object),
        "concurrent.LinkedBlockingQueue" => {
            // The first node has no element of its own.
            linked(
                graph,
                graph.reference(graph.reference(object, "head")?, "next"),
            )
        }
        // Nodes whose element was removed, or that never had one, may be among the others.
        "concurrent.ConcurrentLinkedQueue" | "concurrent.ConcurrentLinkedDeque" => {
            match linked(graph, graph.reference(object, "head"))? {
                View::List(mut elements) => {
                    elements.retain(|element| element.value != Value::Null);
                    Some(View::List(elements))
                }
                _ => None,
            }
        }
        "concurrent.ArrayBlockingQueue" => {
            let ring = graph.elements(graph.reference(object, "items")?)?;
            let first = usize::try_from(graph.int(object, "takeIndex")?).ok()?;
            let count = usize::try_from(graph.int(object, "count")?).ok()?;
            if first >= ring.len() || count > ring.len() {
                return None;
            }
            let elements = ring.iter().cycle().skip(first).take(count);
            Some(View::List(elements.copied().collect()))
        }
        "concurrent.LinkedBlockingDeque" => linked(graph, graph.reference(object, "first")),
        "HashMap" | "Hashtable" => hash_map(graph, object, "key", "value"),
        "concurrent.ConcurrentHashMap" => hash_map(graph, object, "key", "val"),
        "WeakHashMap" => weak_map(graph, object),
        "Properties" => inner("map").or_else(|| hash_map(graph, object, "key", "value")),
        "LinkedHashMap" => linked_hash_map(graph, object),
        "TreeMap" => tree_map(graph, object),
        "concurrent.ConcurrentSkipListMap" => skip_list(graph, object),
        "EnumMap" => enum_map(graph, object),
        "RegularEnumSet" => enum_set(graph, object),
        "IdentityHashMap" => identity_map(graph, object),
        "ArrayList$SubList" => {
            batch(graph, object).or_else(|| sub_list(graph, object, inner("root")?))
        }
        "HashSet" | "LinkedHashSet" => keys(inner("map")?),
        "TreeSet" | "concurrent.ConcurrentSkipListSet" => keys(inner("m")?),
        "Collections$SetFromMap" => keys(inner("m")?),
        "concurrent.ConcurrentHashMap$KeySetView" => keys(inner("map")?),
        "Collections$EmptyList" | "Collections$EmptySet" => Some(View::List(Vec::new())),
        "Collections$EmptyMap" => Some(View::Map(Vec::new())),
        "Collections$SingletonList" | "Collections$SingletonSet" => {
            Some(View::List(vec![graph.field(object, "element")?]))
        }
        "Collections$CopiesList" => {
            let count = usize::try_from(graph.int(object, "n")?).ok()?;
            let element = graph.field(object, "element")?;
            (count <= MAX_COPIES).then(|| View::List(vec![element; count]))
        }
        "Collections$SingletonMap" => entry(graph, object, "k", "v"),
        "ImmutableCollections$ListN" => all(graph, object, "elements"),
        "ImmutableCollections$List12" | "ImmutableCollections$Set12" => {
            let mut elements = vec![graph.field(object, "e0")?];
            elements.extend(present(graph, graph.field(object, "e1")?));
            if name.ends_with("Set12") && order.is_some_and(|(_, upwards)| upwards) {
                elements.reverse();
            }
            Some(View::List(elements))
        }
        "ImmutableCollections$SetN" => {
            let table = graph.elements(graph.reference(object, "elements")?)?;
            let elements = places(table.len(), order).map(|at| table[at]);
            Some(View::List(
                elements.filter(|e| e.value != Value::Null).collect(),
            ))
        }
        "ImmutableCollections$Map1" => entry(graph, object, "k0", "v0"),
        "ImmutableCollections$MapN" => map_n(graph, object, order),
        "ImmutableCollections$SubList" => sub_list(graph, object, inner("root")?),
        "AbstractMap$SimpleEntry"
        | "AbstractMap$SimpleImmutableEntry"
        | "KeyValueHolder"
        | "HashMap$Node"
        | "HashMap$TreeNode"
        | "LinkedHashMap$Entry"
        | "TreeMap$Entry" => entry(graph, object, "key", "value"),
        "Optional" => Some(View::List(
            Some(graph.field(object, "value")?)
                .filter(|typed| typed.value != Value::Null)
                .into_iter()
                .collect(),
        )),
        _ if name.starts_with("Collections$Unmodifiable")
            || name.starts_with("Collections$Synchronized")
            || name.starts_with("Collections$Checked") =>
        {
            inner("c").or_else(|| inner("m"))
        }
        _ => None,
    }
}

/// The most nodes that a collection can have: no more than there are objects. The nodes of a
/// falsified file may form a circle.
fn most(graph: &Graph<'_>) -> usize {
    graph.crash.objects.len()
}

/// The first `size` elements of the array in `array`.
fn prefix(graph: &Graph<'_>, object: u32, array: &str, size: &str) -> Option<View> {
    let size = usize::try_from(graph.int(object, size)?).ok()?;
    let elements = graph.each(graph.reference(object, array)?)?;
    (size <= elements.len()).then(|| View::List(elements.take(size).collect()))
}

fn all(graph: &Graph<'_>, object: u32, array: &str) -> Option<View> {
    Some(View::List(graph.elements(graph.reference(object, array)?)?))
}

fn entry(graph: &Graph<'_>, object: u32, key: &str, value: &str) -> Option<View> {
    Some(View::Map(vec![(
        graph.field(object, key)?,
        graph.field(object, value)?,
    )]))
}

fn keys(map: View) -> Option<View> {
    match map {
        View::Map(entries) => Some(View::List(
            entries.into_iter().map(|(key, _)| key).collect(),
        )),
        _ => None,
    }
}

/// The second element of a `List12` or `Set12`; `None` if it is the placeholder for no element:
/// null in JDK 11, a plain `Object` later.
fn present(graph: &Graph<'_>, element: Typed) -> Option<Typed> {
    match element.value {
        Value::Ref(object) if graph.class_name(object) != "java.lang.Object" => Some(element),
        _ => None,
    }
}

fn linked_list(graph: &Graph<'_>, object: u32) -> Option<View> {
    let size = usize::try_from(graph.int(object, "size")?).ok()?;
    let mut elements = Vec::new();
    let mut next = graph.reference(object, "first");
    while let Some(node) = next {
        if elements.len() == size.min(most(graph)) {
            return None;
        }
        elements.push(graph.field(node, "item")?);
        next = graph.reference(node, "next");
    }
    (elements.len() == size).then_some(View::List(elements))
}

/// The elements of linked nodes, up to the last one.
fn linked(graph: &Graph<'_>, first: Option<u32>) -> Option<View> {
    let mut elements = Vec::new();
    let mut next = first;
    while let Some(node) = next {
        if elements.len() == most(graph) {
            return None;
        }
        elements.push(graph.field(node, "item")?);
        next = graph.reference(node, "next");
    }
    Some(View::List(elements))
}

fn array_deque(graph: &Graph<'_>, object: u32) -> Option<View> {
    let ring = graph.elements(graph.reference(object, "elements")?)?;
    let head = usize::try_from(graph.int(object, "head")?).ok()?;
    let tail = usize::try_from(graph.int(object, "tail")?).ok()?;
    if head >= ring.len() || tail >= ring.len() {
        return None;
    }
    let len = (tail + ring.len() - head) % ring.len();
    let elements = (0..len).map(|step| ring[(head + step) % ring.len()]);
    Some(View::List(elements.collect()))
}

/// The buckets of `HashMap`, `Hashtable`, `ConcurrentHashMap` and `WeakHashMap`, whose nodes differ
/// only in the names of the fields for key and value.
fn hash_map(graph: &Graph<'_>, object: u32, key: &str, value: &str) -> Option<View> {
    let mut entries = Vec::new();
    match graph.field(object, "table")?.value {
        Value::Null => return Some(View::Map(entries)),
        Value::Ref(table) => buckets(graph, table, (key, value), &mut entries)?,
        _ => return None,
    }
    // If the size does not match, a part of the map is lost.
    match graph.int(object, "size").or(graph.int(object, "count")) {
        Some(size) if size != entries.len() as i64 => None,
        _ => Some(View::Map(entries)),
    }
}

fn buckets(
    graph: &Graph<'_>,
    table: u32,
    (key, value): (&str, &str),
    entries: &mut Vec<(Typed, Typed)>,
) -> Option<()> {
    for bucket in graph.elements(table)? {
        let Value::Ref(mut node) = bucket.value else {
            continue;
        };
        match graph.class_name(node) {
            // A tree also keeps its nodes as a list.
            "java.util.concurrent.ConcurrentHashMap$TreeBin" => {
                node = graph.reference(node, "first")?;
            }
            // The map was being resized; its raw fields say more than half of the map would.
            "java.util.concurrent.ConcurrentHashMap$ForwardingNode" => return None,
            _ => {}
        }
        let mut next = Some(node);
        while let Some(node) = next {
            if entries.len() > most(graph) {
                return None;
            }
            entries.push((graph.field(node, key)?, graph.field(node, value)?));
            next = graph.reference(node, "next");
        }
    }
    Some(())
}

/// The entries whose keys still exist.
fn weak_map(graph: &Graph<'_>, object: u32) -> Option<View> {
    let View::Map(mut entries) = hash_map(graph, object, "referent", "value")? else {
        return None;
    };
    entries.retain(|(key, _)| key.value != Value::Null);
    Some(View::Map(with_null_key(graph, entries)))
}

/// The entries of a map that represents the key null by an object of its own, which a constant
/// holds.
fn with_null_key(graph: &Graph<'_>, mut entries: Vec<(Typed, Typed)>) -> Vec<(Typed, Typed)> {
    let mut held = graph.crash.failure.constants.iter();
    if let Some(held) = held.find(|held| held.name == "NULL_KEY" && is_jdk(&held.owner)) {
        let mut keys = entries.iter_mut().map(|(key, _)| key);
        if let Some(key) = keys.find(|key| key.value == Value::Ref(held.object)) {
            key.value = Value::Null;
        }
    }
    entries
}

fn linked_hash_map(graph: &Graph<'_>, object: u32) -> Option<View> {
    let size = usize::try_from(graph.int(object, "size")?).ok()?;
    let mut entries = Vec::new();
    let mut next = graph.reference(object, "head");
    while let Some(node) = next {
        if entries.len() == size.min(most(graph)) {
            return None;
        }
        entries.push((graph.field(node, "key")?, graph.field(node, "value")?));
        next = graph.reference(node, "after");
    }
    (entries.len() == size).then_some(View::Map(entries))
}

fn tree_map(graph: &Graph<'_>, object: u32) -> Option<View> {
    let size = usize::try_from(graph.int(object, "size")?).ok()?;
    let mut entries = Vec::new();
    let mut above = Vec::new();
    let mut next = graph.reference(object, "root");
    loop {
        while let Some(node) = next {
            if above.len() > size.min(most(graph)) {
                return None;
            }
            above.push(node);
            next = graph.reference(node, "left");
        }
        let Some(node) = above.pop() else { break };
        if entries.len() == size.min(most(graph)) {
            return None;
        }
        entries.push((graph.field(node, "key")?, graph.field(node, "value")?));
        next = graph.reference(node, "right");
    }
    (entries.len() == size).then_some(View::Map(entries))
}

/// The lowest level of a `ConcurrentSkipListMap`, without nodes that are being deleted.
fn skip_list(graph: &Graph<'_>, object: u32) -> Option<View> {
    let mut entries = Vec::new();
    let mut next = match graph.field(object, "head")?.value {
        Value::Ref(head) => graph.reference(graph.reference(head, "node")?, "next"),
        _ => None,
    };
    for _ in 0..=most(graph) {
        let Some(node) = next else {
            return Some(View::Map(entries));
        };
        let entry = (graph.field(node, "key")?, graph.field(node, "val")?);
        if entry.0.value != Value::Null && entry.1.value != Value::Null {
            entries.push(entry);
        }
        next = graph.reference(node, "next");
    }
    None
}

fn enum_map(graph: &Graph<'_>, object: u32) -> Option<View> {
    let keys = graph.elements(graph.reference(object, "keyUniverse")?)?;
    let values = graph.elements(graph.reference(object, "vals")?)?;
    let entries = keys.into_iter().zip(values);
    Some(View::Map(
        entries
            .filter(|(_, value)| value.value != Value::Null)
            .collect(),
    ))
}

/// The enum constants whose bits are set.
fn enum_set(graph: &Graph<'_>, object: u32) -> Option<View> {
    let constants = graph.elements(graph.reference(object, "universe")?)?;
    let bits = graph.int(object, "elements")?;
    let set = |&(bit, _): &(usize, Typed)| bit < 64 && bits >> bit & 1 == 1;
    let elements = constants.into_iter().enumerate().filter(set);
    Some(View::List(elements.map(|(_, constant)| constant).collect()))
}

/// The keys and values that alternate in an array with gaps.
fn identity_map(graph: &Graph<'_>, object: u32) -> Option<View> {
    let size = graph.int(object, "size")?;
    let View::Map(entries) = map_n(graph, object, None)? else {
        return None;
    };
    (entries.len() as i64 == size).then(|| View::Map(with_null_key(graph, entries)))
}

fn map_n(graph: &Graph<'_>, object: u32, order: Order) -> Option<View> {
    let table = graph.elements(graph.reference(object, "table")?)?;
    let pairs: Vec<_> = table.chunks_exact(2).collect();
    let entries = places(pairs.len(), order).map(|at| (pairs[at][0], pairs[at][1]));
    Some(View::Map(
        entries
            .filter(|(key, _)| key.value != Value::Null)
            .collect(),
    ))
}

/// The indices of a table in the order of iteration, which begins next to one that the JVM has
/// drawn at random.
fn places(length: usize, order: Order) -> impl Iterator<Item = usize> {
    let first = order.map_or(0, |(salt, _)| {
        let part = (u128::from(salt as u32) * length as u128) >> 32;
        part as usize
    });
    (0..length).map(move |n| match order {
        None => n,
        Some((_, true)) => (first + 1 + n) % length,
        Some((_, false)) => (first + length - 1 - n) % length,
    })
}

/// One part of a partitioned `ArrayList`, without the others: lists are partitioned into thousands
/// of them.
fn batch(graph: &Graph<'_>, object: u32) -> Option<View> {
    let root = graph.reference(object, "root")?;
    let all = graph.each(graph.reference(root, "elementData")?)?;
    let offset = usize::try_from(graph.int(object, "offset")?).ok()?;
    let size = usize::try_from(graph.int(object, "size")?).ok()?;
    let used = usize::try_from(graph.int(root, "size")?).ok()?;
    (offset.checked_add(size)? <= used.min(all.len()))
        .then(|| View::List(all.skip(offset).take(size).collect()))
}

fn sub_list(graph: &Graph<'_>, object: u32, root: View) -> Option<View> {
    let View::List(elements) = root else {
        return None;
    };
    let offset = usize::try_from(graph.int(object, "offset")?).ok()?;
    let size = usize::try_from(graph.int(object, "size")?).ok()?;
    let part = elements.get(offset..offset.checked_add(size)?)?;
    Some(View::List(part.to_vec()))
}
