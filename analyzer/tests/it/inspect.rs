//! `hindsight inspect` on a crash that has one of everything.

use crate::common::*;
use hindsight_tracelog::crash::*;
use hindsight_tracelog::{record, writer};
use std::fs;
use std::path::Path;

const STRING: &str = "Ljava/lang/String;";
const OBJECT: &str = "Ljava/lang/Object;";

pub fn recording() -> Recording {
    let mut r = Recording::new();
    let cause = [("shop.Store", "read", 7), ("shop.Order", "load", 20)];
    r.exception(
        "shop.OrderException",
        Some("order 17\nis bad"),
        &[("shop.Order", "total", 31)],
    );
    r.exception("java.io.IOException", None, &cause);
    r.exception("java.lang.Error", Some("late"), &[]);
    r.failure.exceptions[0].cause = Some(1);
    r.failure.exceptions[0].suppressed = vec![2];
    r.failure.exceptions[1].cause = Some(0);

    let ann = r.string("Ann");
    let person = r.instance(
        "shop.Person",
        &[("name", STRING, ann), ("age", "I", Value::Int(41))],
    );
    let long = r.string(&"abc\t".repeat(100));
    let thread = r.class("java.lang.Thread", &[]);
    let thread = r.object(thread, Body::Hole("thread".into()));
    let ten: Vec<Value> = (0..20).map(|_| person).collect();
    let elements = r.array("[Ljava.lang.Object;", &ten);
    let items = r.instance(
        "java.util.ArrayList",
        &[
            ("elementData", "[Ljava/lang/Object;", elements),
            ("size", "I", Value::Int(20)),
        ],
    );
    let ints = r.class_below("[I", &[], ClassKind::Array, &[]);
    let ints = r.object(ints, Body::Primitives(vec![1, 0, 0, 0, 255, 255, 255, 255]));
    let colour = r.class_below("shop.Colour", &["java.lang.Enum"], ClassKind::Enum, &[]);
    let colour = r.object(
        colour,
        Body::Enum {
            name: "RED".into(),
            fields: Vec::new(),
        },
    );
    let lambda = r.class_below("shop.Order$$Lambda/0x1", &[], ClassKind::Hidden, &[]);
    let lambda = r.object(
        lambda,
        Body::Lambda(Lambda {
            class: "shop.Order".into(),
            method: "lambda$total$0".into(),
            descriptor: "(Lshop/Person;)V".into(),
            is_static: true,
            captured: vec![("Lshop/Person;".into(), person)],
        }),
    );
    let order = r.class(
        "shop.Order",
        &[
            ("owner", "Lshop/Person;"),
            ("note", STRING),
            ("items", "Ljava/util/List;"),
            ("codes", "[I"),
            ("colour", "Lshop/Colour;"),
            ("worker", "Ljava/lang/Thread;"),
            ("rule", "Lshop/Rule;"),
            ("rate", "D"),
            ("grade", "C"),
            ("self", "Lshop/Order;"),
        ],
    );
    let number = r.objects.len() as u32;
    let values = vec![
        person,
        long,
        items,
        ints,
        colour,
        thread,
        lambda,
        Value::Double(f64::NAN),
        Value::Int(39),
        Value::Ref(number),
    ];
    let order = r.object(order, Body::Instance(values));

    let this = (0, "", "Lshop/Order;", order);
    let frame = r.frame(
        ("shop.Order", "total", "(ILjava/lang/Object;J)D"),
        1,
        &[
            this,
            (1, "limit", "I", Value::Int(3)),
            (2, "", OBJECT, items),
            (3, "at", "J", Value::Null),
        ],
    );
    frame.line = Some(31);
    frame.patch.push(Patch {
        object: number,
        owner: "shop.Order".into(),
        field: "rate".into(),
        descriptor: "D".into(),
        value: Value::Double(0.25),
        index: None,
    });
    let frame = r.frame(("shop.Order", "load", "()V"), 9, &[]);
    frame.exception = 1;
    frame.fidelity = Fidelity::Reference;
    frame.reason = "too many fields".into();
    let frame = r.frame(("java.lang.Thread", "run", ""), 0, &[]);
    frame.fidelity = Fidelity::None;
    frame.reason = "not instrumented: JDK".into();
    r
}

fn inspect(arguments: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    recording().write(&dir.path().join("crash-0003.hsc"));
    let file = dir.path().join("crash-0003.hsc").display().to_string();
    let output = hindsight(["inspect", file.as_str()].iter().chain(arguments));
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).replace(&dir.path().display().to_string(), "DIR")
}

#[test]
fn as_text() {
    check_golden("inspect.txt", &inspect(&[]));
}

#[test]
fn as_text_in_full() {
    check_golden("inspect.full.txt", &inspect(&["--full", "--frame", "0"]));
}

#[test]
fn as_json() {
    check_golden("inspect.json", &inspect(&["--format", "json"]));
}

#[test]
fn as_a_review() {
    check_golden("review.txt", &inspect(&["--review"]));
    let told = inspect(&["--review", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(json["schema"], "hindsight.review/1");
    let strings = json["groups"].as_array().unwrap().iter();
    let strings = strings.clone().find(|group| group["group"] == "strings");
    let items = strings.unwrap()["items"].as_array().unwrap().clone();
    let ann = items.iter().find(|item| item["text"] == "Ann").unwrap();
    assert_eq!(ann["places"][0]["place"], "shop.Person.name");
}

/// Frames that lack the same are told so once; another reason, or a frame between them, ends that.
#[test]
fn frames_that_lack_the_same_are_told_so_once() {
    let mut recording = recording();
    for (method, reason) in [("exit", "not instrumented: JDK"), ("start", "too large")] {
        let frame = recording.frame(("java.lang.Thread", method, ""), 0, &[]);
        frame.fidelity = Fidelity::None;
        frame.reason = reason.into();
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    recording.write(&file);
    let file = file.display().to_string();
    let output = hindsight(["inspect", file.as_str()]);
    let told = "#2 java.lang.Thread.run(Thread.java)\n\
                #3 java.lang.Thread.exit(Thread.java)\n     \
                2 frames not captured: not instrumented: JDK\n\
                #4 java.lang.Thread.start(Thread.java)\n     \
                not captured: too large\n";
    let found = text(&output.stdout);
    assert!(found.contains(told), "{found}");
    let output = hindsight(["inspect", file.as_str(), "--frame", "2"]);
    let found = text(&output.stdout);
    assert!(
        found.contains("     not captured: not instrumented: JDK\n"),
        "{found}"
    );
}

/// Where a kept exception is thrown once more, its own stack trace has nothing of the frames, and is told in full.
#[test]
fn the_stack_trace_of_an_earlier_throw_is_told() {
    let mut recording = Recording::new();
    let stack = [("shop.Price", "of", 4), ("shop.Worker", "run", 9)];
    recording.exception("java.lang.ArithmeticException", Some("/ by zero"), &stack);
    recording.frame(("shop.Main", "await", "()V"), 0, &[]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    recording.write(&file);
    let told = |path: &Path| {
        let output = hindsight(["inspect".as_ref(), path.as_os_str()]);
        text(&output.stdout)
    };
    let found = told(&file);
    let expected = "  at shop.Price.of(Price.java:4)\n  at shop.Worker.run(Worker.java:9)\n";
    assert!(found.contains(expected), "{found}");
    assert!(found.contains("it was thrown before"), "{found}");
    // Not where the frames have it all.
    let top = &mut recording.failure.exceptions[0].stack[0];
    (top.class, top.method) = ("shop.Main".into(), "await".into());
    recording.write(&file);
    assert!(!told(&file).contains("it was thrown before"));
    // But where the method that has made it only runs on.
    recording.failure.frames[0].line = Some(12);
    recording.write(&file);
    assert!(told(&file).contains("it was thrown before"));
}

/// Also what a suppressed exception was caused by and has suppressed itself, each with its stack trace.
#[test]
fn in_full_all_of_the_exceptions_and_of_the_run_is_told() {
    let mut recording = recording();
    let stack: Vec<(&str, &str, i32)> = (1..=9).map(|line| ("shop.Deep", "go", line)).collect();
    let cause = recording.exception("shop.Cause", Some(&"m".repeat(3000)), &stack);
    let inner = recording.exception("shop.Inner", None, &stack);
    recording.failure.exceptions[2].cause = Some(cause);
    recording.failure.exceptions[2].suppressed = vec![inner, 2];
    recording.meta.command = format!("java {}", "c".repeat(400));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    recording.write(&file);
    let told = |more: &[&str]| {
        let file = file.display().to_string();
        text(&hindsight([&["inspect", file.as_str()], more].concat()).stdout)
    };
    let (all, part) = (told(&["--full"]), told(&[]));
    let expected = "  suppressed: java.lang.Error: late\n    suppressed: shop.Inner\n      at shop.Deep.go(Deep.java:1)\n";
    let again = "    suppressed: java.lang.Error: late (shown above)\n";
    for shown in [&all, &part] {
        assert!(shown.contains(expected), "{shown}");
        assert!(shown.contains("\n  caused by: shop.Cause: mmm"), "{shown}");
        assert_eq!(shown.matches(again).count(), 1, "{shown}");
        assert_eq!(shown.matches("suppressed: java.lang.Error").count(), 2);
    }
    let last = "      at shop.Deep.go(Deep.java:9)\n";
    assert_eq!(all.matches(last).count(), 2, "{all}");
    assert_eq!(part.matches("      ... 1 more\n").count(), 2, "{part}");
    for whole in [&recording.meta.command, &"m".repeat(3000)] {
        assert!(all.contains(whole) && !part.contains(whole), "{all}");
    }
}

/// Every text in the bytes of a file is in its review.
#[test]
fn a_review_leaves_nothing_out() {
    let recording = recording();
    let told = inspect(&["--review", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    let mut shown = Vec::new();
    for group in json["groups"].as_array().unwrap() {
        for item in group["items"].as_array().unwrap() {
            shown.push(item["text"].as_str().unwrap().to_owned());
            for place in item["places"].as_array().unwrap() {
                shown.push(place["place"].as_str().unwrap().to_owned());
            }
        }
    }
    let bytes = recording.bytes();
    let mut offset = record::FILE_HEADER;
    let mut stored = Vec::new();
    while offset < bytes.len() {
        let found = record::find(&bytes, offset).unwrap();
        let raw = found.unpack().unwrap();
        let Texts(texts) = rmp_serde::from_slice(&raw).unwrap();
        stored.extend(texts);
        offset = found.next;
    }
    assert!(stored.len() > 60, "{stored:?}");
    for text in stored {
        // Types are shown as the classes that they name.
        let name = text.trim_start_matches('[');
        let name = match name
            .strip_prefix('L')
            .and_then(|name| name.strip_suffix(';'))
        {
            Some(class) => class.replace('/', "."),
            None => text.clone(),
        };
        let known = shown.iter().any(|shown| shown.contains(&name));
        assert!(known, "{text:?} is not in the review");
    }
}

/// Elements as they were at the entry, strings that are in no UTF-8, and what makes tests find what is numbered.
#[test]
fn a_review_tells_what_only_some_files_have() {
    let mut recording = recording();
    let string = recording.class("java.lang.String", &[]);
    let units = [0x61, 0xd800];
    let lone = recording.object(string, Body::String(Text::from_utf16(&units)));
    let array = recording.array("[Ljava.lang.Object;", &[Value::Null]);
    let Value::Ref(object) = array else { panic!() };
    recording.failure.frames[0].arguments[0].value = array;
    recording.failure.frames[0].patch.push(Patch {
        object,
        owner: String::new(),
        field: String::new(),
        descriptor: "L".into(),
        value: lone,
        index: Some(0),
    });
    let origin = Origin {
        name: "shop.Till$1".into(),
        found: "shop.Till$2/abc".into(),
    };
    let gone = ["shop.Gone".to_owned()];
    let file = writer::for_tests(&recording.bytes(), &[origin], Some(&gone)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crash-0001.hsc");
    fs::write(&path, file).unwrap();
    let path = path.display().to_string();
    let told = |more: &[&str]| {
        let output = hindsight([&["inspect", path.as_str()], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let review = told(&["--review"]);
    let place = format!("element 0 of Object[] (object {object}) at the entry of frame 0");
    for expected in [
        &format!("\"a\\ud800\"  in {place}\n"),
        "shop.Till$1 = shop.Till$2/abc\n",
        "shop.Gone: not restored when the tests were made\n",
    ] {
        assert!(review.contains(expected), "{expected}: {review}");
    }
    assert!(!review.contains("\n  .  in"), "{review}");
    for more in [&["--review", "--format=json"][..], &["--format=json"]] {
        let json: serde_json::Value = serde_json::from_str(&told(more)).unwrap();
        let mut all = match json["objects"].as_array() {
            Some(objects) => objects.clone(),
            None => {
                let groups = json["groups"].as_array().unwrap().iter();
                groups
                    .flat_map(|group| group["items"].as_array().unwrap().clone())
                    .collect()
            }
        };
        all.retain(|one| one["utf16"] == serde_json::json!(units));
        assert_eq!(all.len(), 1, "{json}");
        assert_eq!(all[0]["text"], "a\u{fffd}");
    }
}

/// All strings of a MessagePack document.
struct Texts(Vec<String>);

impl<'de> serde::Deserialize<'de> for Texts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Texts;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("anything")
            }
            fn visit_unit<E>(self) -> Result<Texts, E> {
                Ok(Texts(Vec::new()))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Texts, E> {
                Ok(Texts(Vec::new()))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Texts, E> {
                Ok(Texts(Vec::new()))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Texts, E> {
                Ok(Texts(Vec::new()))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Texts, E> {
                Ok(Texts(Vec::new()))
            }
            fn visit_bytes<E>(self, _: &[u8]) -> Result<Texts, E> {
                Ok(Texts(Vec::new()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<Texts, A::Error> {
                let mut all = Vec::new();
                while let Some(Texts(texts)) = list.next_element()? {
                    all.extend(texts);
                }
                Ok(Texts(all))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The rounds of a recursion are shown once from each end, unless all is asked for.
#[test]
fn a_recursion_is_folded() {
    let mut r = Recording::new();
    r.exception("java.lang.StackOverflowError", None, &[]);
    let add = |r: &mut Recording, method: &str, depth: i64| {
        r.frame(
            ("A", method, "(I)V"),
            8,
            &[(1, "n", "I", Value::Int(depth))],
        );
    };
    add(&mut r, "leaf", 900);
    for round in (0..300).rev() {
        add(&mut r, "odd", 2 * round + 1);
        add(&mut r, "even", 2 * round);
    }
    add(&mut r, "main", 0);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    r.write(&file);
    let file = file.display().to_string();
    let frames = |arguments: &[&str]| -> Vec<String> {
        let output = hindsight(["inspect", file.as_str()].iter().chain(arguments));
        let told = text(&output.stdout);
        let lines = told.lines().filter(|line| line.starts_with(['#', '.']));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(
        frames(&[]),
        [
            "#0 A.leaf(A.java)",
            "#1 A.odd(A.java)",
            "#2 A.even(A.java)",
            "... #3 to #598 repeat #1 and #2 298 times (--full shows them)",
            "#599 A.odd(A.java)",
            "#600 A.even(A.java)",
            "#601 A.main(A.java)",
        ]
    );
    assert_eq!(frames(&["--full"]).len(), 602);
    assert_eq!(frames(&["--frame", "300"]), ["#300 A.even(A.java)"]);
    let output = hindsight(["inspect", "--format", "json", &file]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["frames"].as_array().unwrap().len(), 602);
}

/// Whatever the file holds, `inspect` and `junit --no-run` come back.
#[test]
fn cycles_and_lies_are_survived() {
    let mut r = recording();
    let next = r.objects.len() as u32;
    let node = &[("item", OBJECT), ("next", "Ljava/util/LinkedList$Node;")];
    let node = r.class("java.util.LinkedList$Node", node);
    let node = r.object(node, Body::Instance(vec![Value::Null, Value::Ref(next)]));
    let of = "Ljava/util/LinkedList$Node;";
    let list = r.instance(
        "java.util.LinkedList",
        &[
            ("first", of, node),
            ("size", "I", Value::Int(i64::from(i32::MAX))),
        ],
    );
    let cyclic = r.class("java.util.Collections$UnmodifiableList", &[("c", OBJECT)]);
    let own = r.objects.len() as u32;
    let cyclic = r.object(cyclic, Body::Instance(vec![Value::Ref(own)]));
    let lost = Value::Ref(1_000_000);
    let arguments = [
        (1, "a", OBJECT, list),
        (2, "b", OBJECT, cyclic),
        (3, "c", OBJECT, lost),
    ];
    r.frame(
        (
            "X",
            "m",
            "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V",
        ),
        8,
        &arguments,
    );
    r.failure.exceptions[0].cause = Some(77);
    r.failure.frames[0].exception = 99;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("crash-0001.hsc");
    r.write(&file);
    for arguments in [&["--full"][..], &["--format", "json"]] {
        let file = file.display().to_string();
        let output = hindsight(["inspect", file.as_str()].iter().chain(arguments));
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let run = |dir: &Path| {
        let (file, dir) = (file.display().to_string(), dir.display().to_string());
        let out = format!("{dir}/out");
        hindsight([
            "junit",
            &file,
            "--classpath",
            &dir,
            "--out",
            &out,
            "--no-run",
        ])
    };
    let output = run(dir.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
}
