//! One page of everything.

use crate::common::{hindsight, text};
use crate::inspect::recording;
use flate2::read::GzDecoder;
use hindsight_analyzer::view::collect::Found;
use hindsight_analyzer::view::page;
use hindsight_tracelog::crash::{Body, ClassKind, Frame, Lock, ThreadState, Value as Stored};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const MODEL: &str = r#"{"schema":"hindsight.model/1","runs":[{"run":"1","mutability":false}],"classes":[{"class":"shop.Till","objects":2,"nodes":2,
"edges":[{"from":0,"to":1,"class":"shop.Till","method":"<init>","descriptor":"()V","static":false,"positions":[0],
"values":[],"returned":2,"threw":0},{"from":1,"to":1,"class":"shop.Till","method":"add","descriptor":"(J)V",
"static":false,"positions":[0],"values":[{"index":1,"type":"J","seen":[{"value":9007199254740993,"count":1}],"more":false}],
"returned":1,"threw":0}],"observers":[]}]}"#;
const VERDICTS: &str = r#"{"schema":"hindsight.mutability/1","pipeline":"S","sound":false,"methods":[{"class":"shop.Till",
"method":"add","descriptor":"(I)V","pure":false,"parameters":[{"index":0,"name":"this","type":"shop.Till",
"verdict":"mutable","stage":"S","reason":"</script> & so on"}]}]}"#;

/// The data of a page, as a browser would find them.
fn data(page: &str) -> Value {
    let start = "<script type=\"application/gzip\" id=\"data\">";
    let (_, rest) = page.split_once(start).unwrap();
    let packed = rest.split_once("</script>").unwrap().0;
    let (mut bits, mut bytes) = (0u32, Vec::new());
    for (index, digit) in packed.trim_end_matches('=').chars().enumerate() {
        let value = match digit {
            'A'..='Z' => u32::from(digit) - 65,
            'a'..='z' => u32::from(digit) - 71,
            '0'..='9' => u32::from(digit) + 4,
            '+' => 62,
            '/' => 63,
            _ => panic!("{digit}"),
        };
        bits = bits << 6 | value;
        // Bits that are left for the next byte.
        if let Some(left) = [None, Some(4), Some(2), Some(0)][index % 4] {
            bytes.push((bits >> left) as u8);
        }
    }
    serde_json::from_reader(GzDecoder::new(bytes.as_slice())).unwrap()
}

fn data_of(page: &Path) -> Value {
    data(&fs::read_to_string(page).unwrap())
}

/// The objects as `inspect` has them, with their fields in full.
fn objects_of(crash: &Value) -> Value {
    let mut objects = crash["objects"].clone();
    for object in objects.as_array_mut().unwrap() {
        let object = object.as_object_mut().unwrap();
        let Some(shape) = object.remove("shape") else {
            continue;
        };
        let shape = crash["shapes"][shape.as_u64().unwrap() as usize].as_array();
        let values = object["fields"].as_array_mut().unwrap();
        for (value, field) in values.iter_mut().zip(shape.unwrap()) {
            let stored = value.take();
            *value = field.clone();
            value["value"] = stored;
        }
    }
    objects
}

/// Floating-point numbers as a page has them.
fn as_texts(json: &mut Value) {
    match json {
        Value::Number(number) if number.is_f64() => {
            *json = format!("{:?}", number.as_f64().unwrap()).into();
        }
        Value::Array(all) => all.iter_mut().for_each(as_texts),
        Value::Object(all) => all.values_mut().for_each(as_texts),
        _ => {}
    }
}

#[test]
fn a_directory_becomes_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("host-1/4711");
    fs::create_dir_all(run.join("trace")).unwrap();
    let crash = run.join("crash-0003.hsc");
    recording().write(&crash);
    fs::write(run.join("run.json"), "{\"schema\":\"hindsight.run/1\"}").unwrap();
    fs::write(dir.path().join("use.model"), MODEL).unwrap();
    fs::write(dir.path().join("verdicts.json"), VERDICTS).unwrap();

    let output = hindsight(["view".as_ref(), dir.path()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = dir.path().join("hindsight.html");
    let mode = fs::metadata(&page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // As one that was there before, with room for others.
    fs::set_permissions(&page, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(hindsight(["view".as_ref(), dir.path()]).status.success());
    let mode = fs::metadata(&page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let told = text(&output.stdout);
    let expected = "1 crash, 1 class with a model, 1 result of mutability";
    assert_eq!(told, format!("{}: {expected}\n", page.display()));

    let data = data_of(&page);
    assert_eq!(data["schema"], "hindsight.page/2");
    let shown = hindsight([
        "inspect".as_ref(),
        "--format=json".as_ref(),
        crash.as_path(),
    ]);
    let mut shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    // Collections are told by what they hold, besides.
    let list = &data["crashes"][0]["objects"][5]["meaning"]["list"];
    assert_eq!(list.as_array().unwrap().len(), 20);
    shown["objects_left_out"] = 0.into();
    shown["objects"][5]["meaning"] = serde_json::json!({ "list": list, "left_out": 0 });
    as_texts(&mut shown);
    assert_eq!(objects_of(&data["crashes"][0]), shown["objects"]);
    shown["objects"] = data["crashes"][0]["objects"].clone();
    for (name, value) in shown.as_object().unwrap() {
        assert_eq!(data["crashes"][0][name], *value, "{name}");
    }
    assert_eq!(data["models"][0]["class"], "shop.Till");
    let reason = &data["mutability"][0]["methods"][0]["parameters"][0]["reason"];
    assert_eq!(reason, "</script> & so on");

    // Once more: the page itself is none of what is shown. To where one says, and to stdout.
    let elsewhere = dir.path().join("new/story.html");
    let output = hindsight(["view".as_ref(), dir.path(), "--out".as_ref(), &elsewhere]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read(&elsewhere).unwrap(), fs::read(&page).unwrap());
    let output = hindsight(["view".as_ref(), dir.path(), "--out".as_ref(), "-".as_ref()]);
    assert_eq!(output.stdout, fs::read(&page).unwrap());
}

#[test]
fn what_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let output = hindsight(["view".as_ref(), dir.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing to show in or below"));

    recording().write(&dir.path().join("crash-0001.hsc"));
    fs::write(dir.path().join("crash-0002.hsc"), "nothing").unwrap();
    let newer = MODEL.replace("model/1", "model/9");
    fs::write(dir.path().join("use.model"), newer).unwrap();
    let output = hindsight(["view".as_ref(), dir.path()]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("crash-0002.hsc"), "{said}");
    assert!(
        said.contains("use.model has the schema hindsight.model/9"),
        "{said}"
    );
    assert_eq!(
        data_of(&dir.path().join("hindsight.html"))["crashes"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn no_text_becomes_markup() {
    let nasty = "</script><script>alert(1)</script><!-- /*SCRIPT*/ \u{2028} & \" '";
    let found = Found {
        crashes: vec![to_raw_value(&json!({ "message": nasty, nasty: [nasty] })).unwrap()],
        ..Found::default()
    };
    let page = page::write("1 crash", &found).unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("<span class=\"dim\">1 crash</span>"));
    let data = data(&page);
    assert_eq!(data["crashes"][0]["message"], nasty);
    assert_eq!(data["crashes"][0][nasty][0], nasty);
    // All places were filled, and only they.
    assert!(!page.contains("/*STYLE*/") && !page.contains("/*DATA*/"));
    assert!(page.contains("new DecompressionStream"));
}

#[test]
fn a_page_is_not_much_larger_than_its_recordings() {
    let mut r = recording();
    let people: Vec<Stored> = (0..5000)
        .map(|number| {
            let name = r.string(&format!("person {}", number * 7919 % 5003));
            let fields = [
                ("name", "Ljava/lang/String;", name),
                ("age", "I", Stored::Int(number * 31 % 97)),
                ("next", "Lshop/Customer;", Stored::Null),
            ];
            r.instance("shop.Customer", &fields)
        })
        .collect();
    let people = r.array("[Lshop.Customer;", &people);
    r.failure.frames[0].arguments[2].value = people;
    let dir = tempfile::tempdir().unwrap();
    let crash = dir.path().join("crash-0001.hsc");
    r.write(&crash);
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    let write = || {
        let output = hindsight(["view".as_ref(), dir.path()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        size(&dir.path().join("hindsight.html"))
    };
    let bytes = write();
    let recorded = size(&crash);
    recording().write(&crash);
    let page = write();
    assert!(
        bytes - page < 3 * recorded,
        "{bytes} - {page} of {recorded}"
    );
}

/// What a browser shows of a page, every entry of it; `None` without Node.js.
fn shown(page: &Path) -> Option<String> {
    let dom = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/view/dom.js");
    let Ok(output) = Command::new("node").arg(dom).arg(page).output() else {
        println!("skipped: there is no node");
        return None;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
    Some(text(&output.stdout))
}

#[test]
fn the_script_shows_what_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let mut r = recording();
    let name = r.string(&"n".repeat(20_000));
    let fields = [
        ("id", "J", Stored::Int(9_007_199_254_740_993)),
        ("zero", "D", Stored::Double(-0.0)),
        ("one", "D", Stored::Double(1.0)),
        ("tenth", "F", Stored::Float(0.1)),
        ("name", "Ljava/lang/String;", name),
    ];
    let odd = r.instance("shop.Odd", &fields);
    r.failure.frames[0].arguments[2].value = odd;
    r.meta.time_ms = i64::MAX;
    r.write(&dir.path().join("crash-0001.hsc"));
    fs::write(dir.path().join("use.model"), MODEL).unwrap();
    fs::write(dir.path().join("verdicts.json"), VERDICTS).unwrap();
    let output = hindsight(["view".as_ref(), dir.path()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let Some(shown) = shown(&dir.path().join("hindsight.html")) else {
        return;
    };
    for expected in [
        "id = 9007199254740993\n",
        "zero = -0.0\n",
        "one = 1.0\n",
        "tenth = 0.1\n",
        "nnn\" … 20,000 characters",
        "nnn … 20,000 characters",
        "9223372036854775807 ms",
        "add(9007199254740993)",
        "new Till()",
        "Till.add(int)",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("cannot be shown"), "{shown}");
}

#[test]
fn stacks_stand_below_their_threads_and_enum_constants_have_fields() {
    let dir = tempfile::tempdir().unwrap();
    let mut r = recording();
    let mode = r.class_below("shop.Mode", &[], ClassKind::Enum, &[("hits", "I")]);
    let mode = r.object(
        mode,
        Body::Enum {
            name: "EAGER".to_owned(),
            fields: vec![Stored::Int(4711)],
        },
    );
    r.failure.frames.truncate(1);
    r.failure.frames[0].arguments[2].value = mode;
    let frame = r.failure.frames[0].clone();
    r.failure.frames.push(Frame {
        exception: 1,
        ..frame
    });
    let thread = |name: &str, owner| {
        let lock = |class: &str| Lock {
            class: class.to_owned(),
            object: None,
            owner: Some(owner),
        };
        ThreadState {
            name: name.to_owned(),
            state: "BLOCKED".to_owned(),
            wants: Some(lock("shop.Wanted")),
            owns: vec![lock("shop.Owned")],
            ..ThreadState::default()
        }
    };
    r.failure.threads = vec![thread("one", 1), thread("two", 0)];
    let pseudo = r.failure.exceptions[0].clone();
    r.failure.exceptions = vec![pseudo; 2];
    r.write(&dir.path().join("crash-0001.hsc"));
    let output = hindsight(["view".as_ref(), dir.path()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let Some(shown) = shown(&dir.path().join("hindsight.html")) else {
        return;
    };
    for (expected, times) in [
        ("deadlock: 2 threads wait for each other\n", 1),
        // In the deadlock, in the list and as a heading.
        (
            "thread one: BLOCKED, waits for Wanted, which thread two has",
            3,
        ),
        (
            "thread two: BLOCKED, waits for Wanted, which thread one has",
            3,
        ),
        ("has Owned\n", 2),
        ("hits = 4711\n", 2),
    ] {
        assert_eq!(
            shown.matches(expected).count(),
            times,
            "{expected}: {shown}"
        );
    }
}

#[test]
fn an_odd_entry_takes_no_other_with_it() {
    let found = Found {
        crashes: [json!({ "file": "odd.hsc" }), json!(1)]
            .map(|one| to_raw_value(&one).unwrap())
            .into(),
        models: vec![
            json!({ "class": "a.A", "file": "odd.model" }),
            json!({ "class": "a.B", "objects": 1, "nodes": 1, "edges": [{ "from": 7 }] }),
            json!({ "class": "a.Good", "objects": 1, "nodes": 1, "edges": [] }),
        ],
        ..Found::default()
    };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    fs::write(&page, page::write("", &found).unwrap()).unwrap();
    let Some(shown) = shown(&page) else {
        return;
    };
    for expected in [
        "odd.hsc cannot be shown: ",
        "one cannot be shown: ",
        "odd.model cannot be shown: ",
        "B cannot be shown: ",
        "Good",
        "1 object, 1 node, 0 edges",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}
