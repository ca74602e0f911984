//! The static fields that the methods on the stack may read, as they were at the failure.
//!
//! A plan has these fields, including those of called methods. Without one they are the fields that
//! the methods' own classes declare.

use crate::agent::{Agent, Base};
use crate::jdk;
use crate::jni::{FieldId, Jni, Obj};
use crate::shim::API;
use crate::snapshot::classes::binary_name;
use crate::snapshot::graph::Graph;
use crate::snapshot::primitive;
use hindsight_classfile::access;
use hindsight_instrument::select;
use hindsight_tracelog::crash::{Body, Constant, Fidelity, Frame, StaticField, Value};
use hindsight_tracelog::plan::Field;
use std::collections::{BTreeMap, BTreeSet};

/// The most fields of one recording; further ones are counted.
const MAX_FIELDS: usize = 500;
/// The most constants of one recording.
const MAX_CONSTANTS: usize = 1000;
/// The most classes that are searched for constants.
const MAX_SCANNED: usize = 4000;

/// Classes, by their binary names, with the fields that are wanted; `None` stands for all.
type Wanted = BTreeMap<String, Option<BTreeSet<String>>>;

/// Reads the fields' values; their referents are put into the graph by its next walk.
pub(crate) fn read(
    base: &Base,
    jni: Jni,
    frames: &[Frame],
    graph: &mut Graph<'_>,
) -> Vec<StaticField> {
    let wanted = wanted(base, frames);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut beyond = 0;
    let (classes, ambiguous) = classes(base, jni, &mut |name| wanted.contains_key(name));
    if ambiguous > 0 {
        (base.counters).add("static_fields_of_ambiguous_classes", ambiguous);
    }
    for (name, class) in classes {
        let names = &wanted[&name];
        for field in base.jvmti.class_fields(class) {
            let Some((field_name, descriptor, access)) = base.jvmti.field(class, field) else {
                continue;
            };
            let asked_for = names
                .as_ref()
                .is_none_or(|names| names.contains(&field_name));
            if access & access::STATIC == 0 || !asked_for || !may_change(&descriptor, access) {
                continue;
            }
            if found.len() >= MAX_FIELDS {
                beyond += 1;
                continue;
            }
            let secret = base.options.is_secret_of_type(&field_name, &descriptor)
                || base.methods.marks.field(&name, &field_name);
            let value = value(jni, class, field, secret, &descriptor, graph);
            found.push(StaticField {
                owner: name.clone(),
                name: field_name,
                descriptor,
                access,
                value,
            });
        }
        jni.delete_local(class);
    }
    if beyond > 0 {
        base.counters.add("static_fields_beyond_limit", beyond);
    }
    found
}

/// The order in which the JDK's immutable sets and maps iterate; `None` for releases that keep it
/// in another form.
pub(crate) fn order(agent: &Agent, jni: Jni) -> Option<(i64, bool)> {
    let class = jni.find_class(c"java/util/ImmutableCollections")?;
    let salt = jni.static_long(class, c"SALT32L")?;
    let mut fields = agent.jvmti.class_fields(class).into_iter();
    let reverse = fields.find(|field| {
        let named = agent.jvmti.field(class, *field);
        named.is_some_and(|(name, descriptor, _)| name == "REVERSE" && descriptor == "Z")
    })?;
    Some((salt, jni.static_integral(class, reverse, b'Z') != 0))
}

fn wanted(base: &Base, frames: &[Frame]) -> Wanted {
    let mut wanted = Wanted::new();
    for frame in frames
        .iter()
        .filter(|frame| frame.fidelity != Fidelity::None)
    {
        let known = (base.known).statics(&frame.class, &frame.method, &frame.descriptor);
        want(&mut wanted, &frame.class, known);
    }
    // The class by which the program asks for a recording is not part of the program.
    wanted.remove(API);
    wanted
}

/// Adds the fields that a plan has for a method of a class, or all of that class if it has none.
fn want(wanted: &mut Wanted, class: &str, known: Option<&[Field]>) {
    let Some(fields) = known else {
        wanted.insert(class.to_owned(), None);
        return;
    };
    for field in fields {
        let class = field.class.replace('/', ".");
        if let Some(names) = wanted.entry(class).or_insert_with(|| Some(BTreeSet::new())) {
            names.insert(field.name.clone());
        }
    }
}

/// The initialised classes of these names, except those that several loaders have, because it is
/// not known which is meant. These are counted.
fn classes(
    base: &Base,
    jni: Jni,
    is_wanted: &mut dyn FnMut(&str) -> bool,
) -> (Vec<(String, Obj)>, u64) {
    let mut found: BTreeMap<String, Vec<Obj>> = BTreeMap::new();
    for class in base.jvmti.loaded_classes() {
        let name = base
            .jvmti
            .class_signature(class)
            .map(|signature| binary_name(&signature));
        match name {
            Some(name) if is_wanted(&name) && base.jvmti.is_initialized(class) => {
                found.entry(name).or_default().push(class);
            }
            _ => jni.delete_local(class),
        }
    }
    let (mut classes, mut ambiguous) = (Vec::new(), 0);
    for (name, mut same) in found {
        match same.pop() {
            Some(class) if same.is_empty() => classes.push((name, class)),
            _ => ambiguous += 1,
        }
    }
    (classes, ambiguous)
}

/// Whether a field can have another value than its class's initialiser gives it anew, or another
/// state behind it.
pub(crate) fn may_change(descriptor: &str, access: u16) -> bool {
    select::may_change(descriptor, access, jdk::is_no_programs)
}

/// Classes of the JDK with an object that stands for the key null, and the constant that holds it.
const NULL_KEYS: [&str; 2] = ["java.util.IdentityHashMap", "java.util.WeakHashMap"];
const NULL_KEY: &str = "NULL_KEY";

/// The graph's objects that constants hold: objects of the program, empty arrays, those of
/// `java.lang.Object` because only their identity counts, and what cannot be stored. The constants
/// are those of the classes in the packages of the frames, the objects and their superclasses; and
/// the objects that stand for the key null in JDK maps. The objects of which each JVM has its own
/// come first.
pub(crate) fn constants(
    base: &Base,
    jni: Jni,
    frames: &[Frame],
    graph: &Graph<'_>,
) -> Vec<Constant> {
    let of_frames = frames.iter().map(|frame| &frame.class);
    let of_objects =
        (graph.classes.iter()).flat_map(|class| class.info.supers.iter().chain([&class.info.name]));
    let maps: Vec<&String> = of_objects
        .clone()
        .filter(|name| NULL_KEYS.contains(&name.as_str()))
        .collect();
    let packages: BTreeSet<&str> = of_frames
        .chain(of_objects)
        .filter(|name| !jdk::is_no_programs(name))
        .map(|name| package(name))
        .collect();
    let mut left = MAX_SCANNED;
    let (classes, _) = classes(base, jni, &mut |name| {
        let is = packages.contains(package(name)) && left > 0;
        left -= usize::from(is);
        is || maps.iter().any(|map| *map == name)
    });
    let mut found = graph.standing.clone();
    for (owner, class) in classes {
        for field in base.jvmti.class_fields(class) {
            let Some((name, descriptor, access)) = base.jvmti.field(class, field) else {
                continue;
            };
            const CONSTANT: u16 = access::STATIC | access::FINAL;
            let is_wanted = !jdk::is_no_programs(&owner) || name == NULL_KEY;
            if access & CONSTANT != CONSTANT || !descriptor.starts_with(['L', '[']) || !is_wanted {
                continue;
            }
            let Some(held) = jni.static_reference(class, field) else {
                continue;
            };
            let number = graph.number_of(held);
            jni.delete_local(held);
            if let Some(object) = number.filter(|number| is_comparable(graph, *number))
                && found.len() < MAX_CONSTANTS
            {
                let owner = owner.clone();
                found.push(Constant {
                    object,
                    owner,
                    name,
                });
            }
        }
        jni.delete_local(class);
    }
    found
}

/// Classes of the JDK whose objects another process cannot make from their fields.
const OF_PROCESS: [&str; 8] = [
    "java.lang.invoke.MethodHandle",
    "java.lang.invoke.VarHandle",
    "java.util.concurrent.ForkJoinPool",
    "java.util.concurrent.ThreadPerTaskExecutor",
    "java.util.concurrent.ThreadPoolExecutor",
    "java.util.concurrent.atomic.AtomicIntegerFieldUpdater",
    "java.util.concurrent.atomic.AtomicLongFieldUpdater",
    "java.util.concurrent.atomic.AtomicReferenceFieldUpdater",
];

/// Whether an object is of a kind that programs compare by identity, or that a test can only get by
/// a constant.
fn is_comparable(graph: &Graph<'_>, number: u32) -> bool {
    let object = &graph.objects[number as usize];
    let class = &graph.classes[object.class as usize].info;
    let name = &class.name;
    let mut names = class.supers.iter().chain([name]);
    match &object.body {
        Body::Instance(_) => {
            name == "java.lang.Object"
                || !jdk::is_no_programs(name)
                || names.any(|name| OF_PROCESS.contains(&name.as_str()))
        }
        Body::Primitives(bytes) => bytes.is_empty(),
        Body::References(values) => values.is_empty(),
        // It is a pool, a thread or an updater: a test cannot make it, but the program has it.
        Body::Hole(_) => true,
        _ => false,
    }
}

fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

fn value(
    jni: Jni,
    class: Obj,
    field: FieldId,
    secret: bool,
    descriptor: &str,
    graph: &mut Graph<'_>,
) -> Value {
    let letter = descriptor.bytes().next().unwrap_or(b'L');
    match letter {
        b'L' | b'[' => {
            let object = jni.static_reference(class, field);
            if secret {
                graph.secret_reference(object)
            } else {
                graph.reference(object)
            }
        }
        _ if secret => Value::Null,
        _ => primitive(
            letter,
            || jni.static_integral(class, field, letter),
            || jni.static_float(class, field),
            || jni.static_double(class, field),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_class_is_wanted_whatever_of_it_is_named() {
        let field = Field {
            class: "a/A".to_owned(),
            name: "limit".to_owned(),
        };
        let named = [field];
        let frames = [("a.A", None), ("a.B", Some(&named[..]))];
        for order in [[0, 1], [1, 0]] {
            let mut wanted = Wanted::new();
            for at in order {
                want(&mut wanted, frames[at].0, frames[at].1);
            }
            assert_eq!(wanted, Wanted::from([("a.A".to_owned(), None)]));
        }
        let mut wanted = Wanted::new();
        want(&mut wanted, "a.B", Some(&named[..]));
        let limit = BTreeSet::from(["limit".to_owned()]);
        assert_eq!(wanted, Wanted::from([("a.A".to_owned(), Some(limit))]));
    }

    #[test]
    fn constants_are_left_out() {
        for (descriptor, access, changes) in [
            ("I", 0x8, true),
            ("I", 0x18, false),
            ("Ljava/lang/String;", 0x8, true),
            ("Ljava/lang/String;", 0x18, false),
            ("Ljava/util/Map;", 0x18, true),
            ("[I", 0x18, true),
            ("La/Cache;", 0x18, true),
            ("Lorg/slf4j/Logger;", 0x18, false),
            ("Ljava/lang/Object;", 0x18, false),
            ("Z", 0x1008, false),
        ] {
            assert_eq!(
                may_change(descriptor, access),
                changes,
                "{descriptor} {access}"
            );
        }
    }
}
