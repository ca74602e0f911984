//! JDK objects are shown by what they mean, where their fields make sense.

use crate::common::*;
use hindsight_analyzer::graph::{Graph, Typed};
use hindsight_analyzer::tree::{Builder, Limits};
use hindsight_tracelog::crash::*;
use hindsight_tracelog::reader::Crash;

const OBJECT: &str = "Ljava/lang/Object;";
const ARRAY: &str = "[Ljava/lang/Object;";

#[track_caller]
fn check(recording: &Recording, value: Value, expected: &str) {
    let crash = Crash::read(&recording.bytes()).unwrap();
    let graph = Graph::at_failure(&crash);
    let node = Builder::without_numbers(&graph, Limits::FULL).node(Typed::reference(value));
    assert_eq!(node.inline(), expected);
}

fn strings(recording: &mut Recording, texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| recording.string(text)).collect()
}

fn primitives(recording: &mut Recording, class: &str, bytes: &[u8]) -> Value {
    let class = recording.class_below(class, &[], ClassKind::Array, &[]);
    recording.object(class, Body::Primitives(bytes.to_vec()))
}

#[test]
fn a_constant_with_a_body_is_one_of_its_enum() {
    let mut r = Recording::new();
    let supers = ["shop.Kind", "java.lang.Enum"];
    let body = r.class_below("shop.Kind$2", &supers, ClassKind::Enum, &[]);
    let constant = r.object(
        body,
        Body::Enum {
            name: "BAR".into(),
            fields: Vec::new(),
        },
    );
    check(&r, constant, "Kind.BAR");
}

#[test]
fn a_deque_starts_anywhere_in_its_ring() {
    let mut r = Recording::new();
    let s = strings(&mut r, &["a", "b", "c"]);
    let ring = r.array("[Ljava.lang.Object;", &[s[1], s[2], Value::Null, s[0]]);
    let fields = [
        ("elements", ARRAY, ring),
        ("head", "I", Value::Int(3)),
        ("tail", "I", Value::Int(2)),
    ];
    let deque = r.instance("java.util.ArrayDeque", &fields);
    check(&r, deque, r#"ArrayDeque ["a", "b", "c"]"#);
}

/// A class of the program that extends a collection has fields of its own, and what the collection holds.
#[test]
fn a_collection_that_is_extended_is_one_still() {
    let mut r = Recording::new();
    let list = |r: &mut Recording, name: &str, own: &[(&str, &str)], values: &[Value]| {
        let supers = ["java.util.ArrayList", "java.util.AbstractList"];
        let above = [("elementData", ARRAY), ("size", "I")];
        let fields: Vec<_> = above.iter().chain(own).copied().collect();
        let class = r.class_below(name, &supers, ClassKind::Class, &fields);
        let known = r.classes.iter_mut().find(|info| info.id == class);
        for field in known.unwrap().fields.iter_mut().take(2) {
            field.owner = "java.util.ArrayList".into();
        }
        r.object(class, Body::Instance(values.to_vec()))
    };
    let s = strings(&mut r, &["a", "b"]);
    let data = r.array("[Ljava.lang.Object;", &[s[0], s[1], Value::Null]);
    let values = [data, Value::Int(2)];
    let plain = list(&mut r, "shop.Names", &[], &values);
    check(&r, plain, r#"Names ["a", "b"]"#);
    let values = [data, Value::Int(2), Value::Int(7)];
    let own = list(&mut r, "shop.Bounded", &[("most", "I")], &values);
    check(
        &r,
        own,
        r#"Bounded {most = 7, elements = ArrayList ["a", "b"]}"#,
    );
}

#[test]
fn a_place_in_a_stack_trace_is_one_line() {
    let mut r = Recording::new();
    let s = strings(&mut r, &["shop.Till", "open", "Till.java"]);
    let string = "Ljava/lang/String;";
    let mut place = |file: Value, line: i64| {
        let fields = [
            ("declaringClass", string, s[0]),
            ("methodName", string, s[1]),
            ("fileName", string, file),
            ("lineNumber", "I", Value::Int(line)),
        ];
        r.instance("java.lang.StackTraceElement", &fields)
    };
    let (known, native) = (place(s[2], 12), place(Value::Null, -2));
    check(&r, known, "shop.Till.open(Till.java:12)");
    check(&r, native, "shop.Till.open(Native Method)");
}

#[test]
fn a_tree_is_shown_in_order() {
    let mut r = Recording::new();
    let of = "Ljava/util/TreeMap$Entry;";
    let s = strings(&mut r, &["a", "b", "c"]);
    let mut entry = |key: Value, left: Value, right: Value| {
        let fields = [
            ("key", OBJECT, key),
            ("value", OBJECT, Value::Null),
            ("left", of, left),
            ("right", of, right),
        ];
        r.instance("java.util.TreeMap$Entry", &fields)
    };
    let left = entry(s[0], Value::Null, Value::Null);
    let right = entry(s[2], Value::Null, Value::Null);
    let root = entry(s[1], left, right);
    let map = r.instance(
        "java.util.TreeMap",
        &[("root", of, root), ("size", "I", Value::Int(3))],
    );
    check(&r, map, r#"TreeMap {"a": null, "b": null, "c": null}"#);
    let set = r.instance(
        "java.util.TreeSet",
        &[("m", "Ljava/util/NavigableMap;", map)],
    );
    check(&r, set, r#"TreeSet ["a", "b", "c"]"#);
}

#[test]
fn an_order_that_is_not_the_natural_one_is_told() {
    let mut r = Recording::new();
    let of = "Ljava/util/Comparator;";
    let s = strings(&mut r, &["a"]);
    let order = r.instance("java.lang.String$CaseInsensitiveComparator", &[]);
    let own = r.instance("shop.ByLength", &[]);
    let empty = |r: &mut Recording, order: Value| {
        let fields = [("size", "I", Value::Int(0)), ("comparator", of, order)];
        r.instance("java.util.TreeMap", &fields)
    };
    let map = empty(&mut r, own);
    check(&r, map, "TreeMap (order ByLength) {}");
    let map = empty(&mut r, order);
    let set = r.instance(
        "java.util.TreeSet",
        &[("m", "Ljava/util/NavigableMap;", map)],
    );
    check(&r, set, "TreeSet (order String.CASE_INSENSITIVE_ORDER) []");
    let queue = r.array("[Ljava.lang.Object;", &s);
    let fields = [
        ("queue", ARRAY, queue),
        ("size", "I", Value::Int(1)),
        ("comparator", of, order),
    ];
    let heap = r.instance("java.util.PriorityQueue", &fields);
    check(
        &r,
        heap,
        r#"PriorityQueue (order String.CASE_INSENSITIVE_ORDER) ["a"]"#,
    );
    let natural = empty(&mut r, Value::Null);
    check(&r, natural, "TreeMap {}");
}

#[test]
fn properties_have_others_behind_them() {
    let mut r = Recording::new();
    let of = "Ljava/util/Properties;";
    let s = strings(&mut r, &["a", "1"]);
    let mut properties = |key: Value, value: Value, defaults: Value| {
        let node = [("key", OBJECT, key), ("val", OBJECT, value)];
        let node = r.instance("java.util.concurrent.ConcurrentHashMap$Node", &node);
        let table = r.array("[Ljava.util.concurrent.ConcurrentHashMap$Node;", &[node]);
        let map = r.instance(
            "java.util.concurrent.ConcurrentHashMap",
            &[("table", ARRAY, table)],
        );
        let fields = [("map", OBJECT, map), ("defaults", of, defaults)];
        r.instance("java.util.Properties", &fields)
    };
    let defaults = properties(s[0], s[1], Value::Null);
    let own = properties(s[1], s[0], defaults);
    check(
        &r,
        own,
        r#"Properties {"1": "a", defaults: Properties {"a": "1"}}"#,
    );
}

#[test]
fn a_skip_list_is_its_lowest_level() {
    let mut r = Recording::new();
    let (node, index) = (
        "java.util.concurrent.ConcurrentSkipListMap$Node",
        "java.util.concurrent.ConcurrentSkipListMap$Index",
    );
    let of = "Ljava/util/concurrent/ConcurrentSkipListMap$Node;";
    let s = strings(&mut r, &["a", "b", "1"]);
    let mut link = |key: Value, value: Value, next: Value| {
        let fields = [
            ("key", OBJECT, key),
            ("val", OBJECT, value),
            ("next", of, next),
        ];
        r.instance(node, &fields)
    };
    let last = link(s[1], s[2], Value::Null);
    let deleted = link(s[2], Value::Null, last);
    let first = link(s[0], s[2], deleted);
    let base = link(Value::Null, Value::Null, first);
    let head = r.instance(index, &[("node", of, base)]);
    let list = "java.util.concurrent.ConcurrentSkipListMap";
    let map = r.instance(list, &[("head", OBJECT, head)]);
    check(&r, map, r#"ConcurrentSkipListMap {"a": "1", "b": "1"}"#);
    let set = r.instance(
        "java.util.concurrent.ConcurrentSkipListSet",
        &[("m", OBJECT, map)],
    );
    check(&r, set, r#"ConcurrentSkipListSet ["a", "b"]"#);
    let empty = r.instance(list, &[("head", OBJECT, Value::Null)]);
    check(&r, empty, "ConcurrentSkipListMap {}");
}

#[test]
fn a_weak_map_has_the_keys_that_are_left() {
    let mut r = Recording::new();
    let s = strings(&mut r, &["a", "1"]);
    let mut entry = |key: Value| {
        let fields = [("referent", OBJECT, key), ("value", OBJECT, s[1])];
        r.instance("java.util.WeakHashMap$Entry", &fields)
    };
    let (alive, gone) = (entry(s[0]), entry(Value::Null));
    let table = r.array("[Ljava.util.WeakHashMap$Entry;", &[gone, alive]);
    let fields = [("table", ARRAY, table), ("size", "I", Value::Int(2))];
    let map = r.instance("java.util.WeakHashMap", &fields);
    check(&r, map, r#"WeakHashMap {"a": "1"}"#);
}

#[test]
fn a_map_that_is_not_as_expected_shows_its_fields() {
    let mut r = Recording::new();
    let table = r.array("[Ljava.util.HashMap$Node;", &[Value::Null]);
    let of = "[Ljava/util/HashMap$Node;";
    let map = r.instance(
        "java.util.HashMap",
        &[("table", of, table), ("size", "I", Value::Int(3))],
    );
    let crash = Crash::read(&r.bytes()).unwrap();
    let graph = Graph::at_failure(&crash);
    let node = Builder::new(&graph, Limits::FULL).node(Typed::reference(map));
    let expected = "HashMap #1 {table = HashMap$Node[] #0 [null], size = 3}";
    assert_eq!(node.inline(), expected);
    // Comments in tests say nothing of what is the JDK's own affair.
    check(&r, map, "HashMap");
}

#[test]
fn comments_show_first_what_is_short() {
    let mut r = Recording::new();
    let name = r.string("Ann");
    let inner = r.instance("shop.Inner", &[("x", "I", Value::Int(1))]);
    let fields = [
        ("inner", OBJECT, inner),
        ("none", OBJECT, Value::Null),
        ("name", OBJECT, name),
        ("age", "I", Value::Int(7)),
    ];
    let outer = r.instance("shop.Outer", &fields);
    let shown = r#"Outer {none = null, name = "Ann", age = 7, inner = Inner {x = 1}}"#;
    check(&r, outer, shown);
    // Of the JDK's, those that are a few values.
    let point = r.instance(
        "java.awt.Point",
        &[("x", "I", Value::Int(1)), ("y", "I", Value::Int(2))],
    );
    check(&r, point, "Point {x = 1, y = 2}");
}

#[test]
fn members_are_shown_as_code_has_them() {
    let mut r = Recording::new();
    let class = r.class("java.lang.Class", &[]);
    let mut of = |name: &str| r.object(class, Body::Class(name.to_owned()));
    let [owner, int, texts] = ["shop.Handlers", "int", "[Ljava.lang.String;"].map(&mut of);
    let types = r.array("[Ljava.lang.Class;", &[int, texts]);
    let name = r.string("onClose");
    let fields = [
        ("clazz", OBJECT, owner),
        ("name", OBJECT, name),
        ("parameterTypes", ARRAY, types),
        ("slot", "I", Value::Int(3)),
    ];
    for (class, shown) in [
        ("Method", "Method Handlers.onClose(int, String[])"),
        ("Constructor", "Constructor Handlers(int, String[])"),
        ("Field", "Field Handlers.onClose"),
    ] {
        let member = r.instance(&format!("java.lang.reflect.{class}"), &fields);
        check(&r, member, shown);
    }
}

#[test]
fn the_second_element_of_a_small_list_may_stand_for_none() {
    let mut r = Recording::new();
    let s = strings(&mut r, &["a", "b"]);
    let class = "java.util.ImmutableCollections$List12";
    let empty = r.instance("java.lang.Object", &[]);
    for (second, shown) in [
        (s[1], r#"["a", "b"]"#),
        (empty, r#"["a"]"#),
        (Value::Null, r#"["a"]"#),
    ] {
        let list = r.instance(class, &[("e0", OBJECT, s[0]), ("e1", OBJECT, second)]);
        check(&r, list, &format!("ImmutableCollections$List12 {shown}"));
    }
}

#[test]
fn numbers() {
    let mut r = Recording::new();
    let mag = primitives(&mut r, "[I", &[1, 0, 0, 0, 0, 0, 0, 0]);
    let big = r.instance(
        "java.math.BigInteger",
        &[("signum", "I", Value::Int(-1)), ("mag", "[I", mag)],
    );
    check(&r, big, "BigInteger -4294967296");
    let mut decimal = |compact: i64, scale: i64| {
        let of = "Ljava/math/BigInteger;";
        let fields = [
            ("intVal", of, big),
            ("scale", "I", Value::Int(scale)),
            ("intCompact", "J", Value::Int(compact)),
        ];
        r.instance("java.math.BigDecimal", &fields)
    };
    let shown = [
        (decimal(-5, 3), "BigDecimal -0.005"),
        (decimal(i64::MIN, 2), "BigDecimal -42949672.96"),
        (decimal(7, -4), "BigDecimal 7E4"),
        (decimal(7, 0), "BigDecimal 7"),
    ];
    for (value, expected) in shown {
        check(&r, value, expected);
    }
}

#[test]
fn builders_know_their_coder() {
    let mut r = Recording::new();
    let latin = primitives(&mut r, "[B", &[0x61, 0xe4, 0, 0]);
    let wide = primitives(&mut r, "[B", &[0xac, 0x20, 0x61, 0, 0, 0]);
    for (bytes, coder, expected) in [(latin, 0, "aä"), (wide, 1, "€a")] {
        let fields = [
            ("value", "[B", bytes),
            ("coder", "B", Value::Int(coder)),
            ("count", "I", Value::Int(2)),
        ];
        let builder = r.instance("java.lang.StringBuilder", &fields);
        check(&r, builder, &format!("StringBuilder \"{expected}\""));
    }
}

#[test]
fn hidden_fields_are_told_apart() {
    let mut r = Recording::new();
    let class = r.class("Sub", &[("x", "I"), ("x", "I")]);
    r.classes[class as usize].fields[0].owner = "Base".into();
    let object = r.object(class, Body::Instance(vec![Value::Int(1), Value::Int(2)]));
    check(&r, object, "Sub {Base.x = 1, Sub.x = 2}");
}
