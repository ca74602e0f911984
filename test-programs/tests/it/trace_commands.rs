//! The output of `hindsight events` and `hindsight stats` for a run, compared with goldens in
//! `trace/golden`. `BLESS=1` writes them anew.

use hindsight_test_programs::{Jdk, Workplace, both, golden, hindsight, jdks, root, text};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A run of `Orders`, recorded.
fn record(jdk: &Jdk) -> Workplace {
    let workplace = Workplace::new(&format!("trace-commands-{}", jdk.version));
    let source = root().join("test-programs/trace/Orders.java");
    // It is one compiler, so that what it makes up has the same names.
    let classes = workplace.compile(&jdks()[0], &["--release", "17"], &[source]);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,version=1.2")
        .arg("-cp")
        .arg(&classes)
        .arg("Orders")
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    workplace
}

fn ask(workplace: &Workplace, command: &str, options: &[&str]) -> Output {
    Command::new(hindsight())
        .arg(command)
        .arg(workplace.join("out"))
        .args(options)
        .output()
        .expect("hindsight runs")
}

fn told(workplace: &Workplace, command: &str, options: &[&str]) -> String {
    let output = ask(workplace, command, options);
    assert!(output.status.success(), "{}", both(&output));
    text(&output.stdout)
}

/// The text with numbers that differ from run to run replaced by their order: those behind each of
/// `marks`. If a mark ends in `*`, only a star is left.
fn plain(told: &str, marks: &[&str]) -> String {
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    let mut out = String::new();
    let mut rest = told;
    'next: while !rest.is_empty() {
        for mark in marks {
            let (mark, star) = match mark.strip_suffix('*') {
                Some(mark) => (mark, true),
                None => (*mark, false),
            };
            let Some(after) = rest.strip_prefix(mark) else {
                continue;
            };
            let end = after
                .find(|c: char| !(c.is_ascii_digit() || star && c == '.'))
                .unwrap_or(after.len());
            if end == 0 {
                continue;
            }
            out.push_str(mark);
            if star {
                out.push('*');
            } else {
                let next = numbers.keys().filter(|(of, _)| *of == mark).count() + 1;
                let number = *numbers.entry((mark, &after[..end])).or_insert(next);
                out.push_str(&number.to_string());
            }
            rest = &after[end..];
            continue 'next;
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        out.push_str(&rest[..first]);
        rest = &rest[first..];
    }
    out
}

const TEXT: &[&str] = &["#", "thread "];
const JSON: &[&str] = &[
    "\"object\":",
    "\"thread\":",
    "\"method_id\":",
    "\"field_id\":",
    "\"callee_id\":",
    "\"stamp\":*",
];

#[test]
fn events_and_stats_are_as_they_were() {
    for jdk in jdks() {
        let workplace = record(jdk);
        let events = told(&workplace, "events", &[]);
        golden("trace/golden/events.txt", &plain(&events, TEXT));
        let json = told(&workplace, "events", &["--format", "json"]);
        for line in json.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON");
        }
        golden("trace/golden/events.json", &plain(&json, JSON));

        let stats = told(&workplace, "stats", &[]);
        let lines = stats.lines().enumerate().map(|(at, line)| match at {
            // Time, process and sizes.
            0 => line
                .replace(|c: char| c.is_ascii_digit(), "")
                .replace(" for . s", ""),
            1 => line.split(" in ").next().unwrap_or(line).to_owned(),
            // Their number depends on hash codes.
            _ if line.ends_with("(stamps)") => "(stamps)".to_owned(),
            _ => line.to_owned(),
        });
        let lines: Vec<_> = lines.collect();
        golden("trace/golden/stats.txt", &(lines.join("\n") + "\n"));
        let json = told(&workplace, "stats", &["--format", "json"]);
        serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON");
        let marks = [
            "\"started_ms\": *",
            "\"ended_ms\": *",
            "\"pid\": *",
            "\"bytes\": *",
            "\"seconds\": *",
            "\"events_per_second\": *",
            "\"blocks\": *",
            "\"stamps\": *",
            "\"method_id\": ",
        ];
        golden("trace/golden/stats.json", &plain(&json, &marks));
    }
}

/// Each filter returns the lines that it should, whole and in order.
#[test]
fn filters_give_what_they_say() {
    let workplace = record(&jdks()[0]);
    let all = told(&workplace, "events", &[]);
    let number = |line: &str, class: &str| {
        let (_, rest) = line.split_once(&format!("{class}#"))?;
        let end = rest.find(|c: char| !c.is_ascii_digit());
        Some(rest[..end.unwrap_or(rest.len())].to_owned())
    };
    let pen = all
        .lines()
        .filter(|line| line.contains(" new "))
        .find_map(|line| number(line, " Orders$Item"))
        .expect("an item");
    let object = format!("#{pen}");
    type Wanted<'a> = &'a dyn Fn(&str) -> bool;
    let cases: [(&[&str], Wanted<'_>, bool); 6] = [
        (
            &["--thread", "other"],
            &|line| line.starts_with("other "),
            true,
        ),
        (
            &["--thread", "ma*"],
            &|line| line.starts_with("main "),
            true,
        ),
        (
            &["--object", &pen],
            &|line| {
                line.match_indices(&object).any(|(at, found)| {
                    !line[at + found.len()..].starts_with(|c: char| c.is_ascii_digit())
                })
            },
            true,
        ),
        // It does not include those of its inner class, nor of its superclass.
        (
            &["--class", "Orders$Order"],
            &|line| {
                let line = line.replace("Orders$Order$Line", "");
                let of_field = |field: &str| line.contains(&format!(".{field} = "));
                line.contains(" Orders$Order.") && !line.contains("Orders$Order#")
                    || ["items", "amounts", "total", "grade"]
                        .into_iter()
                        .any(of_field)
            },
            false,
        ),
        (
            &[
                "--method",
                "Orders$Order.find",
                "--method",
                "java.lang.System.*",
            ],
            &|line| line.contains("Order.find") || line.contains("System.arraycopy"),
            true,
        ),
        (
            &["--method", "Orders$Item.price", "--thread", "main"],
            &|line| line.contains(".price = "),
            true,
        ),
    ];
    for (options, wanted, exact) in cases {
        let some = told(&workplace, "events", options);
        let expected: Vec<&str> = all.lines().filter(|line| wanted(line)).collect();
        assert!(expected.len() > 1, "{options:?}");
        if exact {
            assert_eq!(some.lines().collect::<Vec<_>>(), expected, "{options:?}");
        } else {
            for line in expected {
                assert!(
                    some.lines().any(|found| found == line),
                    "{options:?}: {line}"
                );
            }
        }
    }
    // An object as lines show it.
    let shown = told(
        &workplace,
        "events",
        &["--object", &format!("Item{object}")],
    );
    assert_eq!(shown, told(&workplace, "events", &["--object", &pen]));
    // An event with all its content is read in a block of its own.
    let json = told(&workplace, "events", &["--format", "json"]);
    let of_object = told(
        &workplace,
        "events",
        &["--format", "json", "--object", &pen],
    );
    let mark = format!("{{\"object\":{pen},\"class\":\"Orders$Item\"}}");
    let expected = json.lines().filter(|line| line.contains(&mark));
    assert_eq!(
        of_object.lines().skip(1).collect::<Vec<_>>(),
        expected.collect::<Vec<_>>()
    );
    let few = told(&workplace, "events", &["--limit", "5"]);
    assert_eq!(
        few.lines().collect::<Vec<_>>(),
        all.lines().take(5).collect::<Vec<_>>()
    );
}

/// A row by the names of its columns, without nulls.
fn json(row: &Row) -> serde_json::Value {
    let value = |field: &Field| match field {
        Field::Bool(value) => (*value).into(),
        Field::Int(value) => (*value).into(),
        Field::Long(value) => (*value).into(),
        Field::Double(value) => (*value).into(),
        Field::Str(value) => value.clone().into(),
        other => panic!("no column has {other}"),
    };
    let columns = row.get_column_iter();
    let columns = columns.filter(|(_, field)| **field != Field::Null);
    columns
        .map(|(name, field)| (name.clone(), value(field)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The tables say the same as the events, and another reader than ours is not needed
/// to see it.
/// The rows of a table that was exported.
pub(crate) fn table(directory: &Path, name: &str) -> Vec<serde_json::Value> {
    let path = directory.join(format!("{name}.parquet"));
    let file = fs::File::open(path).expect("a table");
    let reader = SerializedFileReader::new(file).expect("it is Parquet");
    let metadata = reader.metadata().file_metadata().key_value_metadata();
    let mut metadata = metadata.expect("it says what it is").iter();
    assert!(metadata.any(|pair| pair.value.as_deref() == Some("hindsight.export/1")));
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| json(&row.expect("a row"))).collect()
}

#[test]
fn tables_are_read_back() {
    let workplace = record(&jdks()[0]);
    let out = workplace.join("tables");
    let export = |expected: bool| {
        let output = Command::new(hindsight())
            .args(["export", "--parquet", "--format", "json"])
            .arg(workplace.join("out"))
            .arg("--out")
            .arg(&out)
            .output()
            .expect("hindsight runs");
        assert_eq!(output.status.success(), expected, "{}", both(&output));
        output
    };
    let report: serde_json::Value = serde_json::from_slice(&export(true).stdout).expect("JSON");
    assert_eq!(report["schema"], "hindsight.export/1");
    let table = |name: &str| table(&out, name);
    let [calls, arguments, writes, objects, blocks] =
        ["calls", "arguments", "writes", "objects", "blocks"].map(table);
    assert!(blocks.is_empty());
    let rows = |name: &str| {
        let mut tables = report["tables"].as_array().expect("tables").iter();
        let table = tables
            .find(|table| table["table"] == name)
            .expect("a table");
        (table["rows"].as_u64(), table["file"].clone())
    };
    let file = out.join("calls.parquet").display().to_string();
    assert_eq!(rows("calls"), (Some(calls.len() as u64), file.into()));
    assert_eq!(rows("writes").0, Some(writes.len() as u64));

    let events = told(&workplace, "events", &["--format", "json"]);
    let events: Vec<serde_json::Value> = (events.lines().skip(1))
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |kinds: &[&str]| {
        let events = events.iter();
        let events = events.filter(|event| kinds.iter().any(|kind| event["event"] == *kind));
        events.collect::<Vec<_>>()
    };
    // Calls are numbered as they begin.
    let mut by_number: Vec<_> = calls.iter().collect();
    by_number.sort_by_key(|call| call["call"].as_i64());
    let entered = of(&["enter"]);
    assert_eq!(by_number.len(), entered.len());
    for (call, event) in by_number.iter().zip(&entered) {
        for key in ["thread", "class", "method", "descriptor"] {
            assert_eq!(call[key], event[key]);
        }
        let told: Vec<_> = arguments
            .iter()
            .filter(|argument| argument["call"] == call["call"])
            .collect();
        let in_event = event["arguments"].as_array().expect("arguments");
        let in_event: Vec<_> = in_event
            .iter()
            .filter(|argument| argument["index"] != 0)
            .collect();
        assert_eq!(told.len(), in_event.len());
        for (told, argument) in told.iter().zip(in_event) {
            assert_eq!(told["index"], argument["index"]);
            assert_eq!(told["type"], argument["type"]);
            assert_eq!(told["object"], argument["value"]["object"]);
        }
    }
    let ended: Vec<_> = calls
        .iter()
        .map(|call| (&call["method"], call["ended"] == "throw"))
        .collect();
    let ends = of(&["exit", "unwind"]);
    let ends: Vec<_> = ends
        .iter()
        .map(|event| (&event["method"], event["event"] == "unwind"))
        .collect();
    assert_eq!(ended, ends);
    let find = calls
        .iter()
        .find(|call| call["method"] == "find")
        .expect("it");
    assert_eq!(find["result_class"], "java.lang.IllegalArgumentException");
    let has = calls
        .iter()
        .find(|call| call["method"] == "has")
        .expect("it");
    assert_eq!(
        (&has["result_integer"], &has["depth"]),
        (&0.into(), &1.into())
    );
    assert_eq!(find["parent"], has["call"]);
    let order = by_number
        .iter()
        .find(|call| call["class"] == "Orders$Order")
        .expect("it");
    assert!(order["this_class"] == "Orders$Order" && order["method"] == "<init>");

    let in_events = of(&["write", "called"]);
    assert_eq!(writes.len(), in_events.len());
    for (row, event) in writes.iter().zip(in_events) {
        assert_eq!(row["class"], event["class"]);
        assert_eq!(row["index"], event["index"]);
        if event["event"] == "write" {
            assert_eq!(row["object"], event["object"]["object"]);
            assert_eq!(row["field"], event["field"]);
            assert_eq!(row["value_object"], event["value"]["object"]);
            if event["value"].is_i64() {
                assert_eq!(row["value_integer"], event["value"]);
            }
        }
    }
    let new = of(&["new"]);
    assert_eq!(objects.len(), new.len());
    for (row, event) in objects.iter().zip(new) {
        assert_eq!(row["object"], event["object"]["object"]);
        assert_eq!(row["text"], event["text"]);
        assert_eq!(row["hash"], event["hash"]);
    }
    // Nothing is overwritten.
    let again = export(false);
    assert!(
        text(&again.stderr).contains("calls.parquet exists: nothing is written over"),
        "{}",
        both(&again)
    );
}

#[test]
fn mistakes_are_named() {
    let workplace = record(&jdks()[0]);
    let nothing = "nothing in the trace has this name: --";
    let cases: [(&str, &[&str], i32, &str); 11] = [
        ("events", &["--class", "NoSuch"], 1, nothing),
        (
            "events",
            &["--class", "Orders*", "--thread", "nobody"],
            1,
            nothing,
        ),
        (
            "events",
            &["--thread", "main", "--object", "999999"],
            1,
            nothing,
        ),
        (
            "events",
            &["--thread", "other", "--method", "Orders.main"],
            0,
            "no event has all that was asked for",
        ),
        ("events", &["--thread", "nobody"], 1, nothing),
        ("events", &["--thread", "999999"], 1, nothing),
        ("events", &["--object", "999999"], 1, nothing),
        ("events", &["--object", "x"], 2, "invalid value 'x'"),
        ("events", &["--format", "xml"], 2, "invalid value 'xml'"),
        ("stats", &["--limit", "-1"], 2, "unexpected argument '-1'"),
        ("stats", &["--no"], 2, "unexpected argument '--no'"),
    ];
    for (command, options, status, says) in cases {
        let output = ask(&workplace, command, options);
        assert_eq!(output.status.code(), Some(status), "{}", both(&output));
        assert!(text(&output.stderr).contains(says), "{}", both(&output));
        assert!(output.stdout.is_empty(), "{}", both(&output));
    }
    let dictionary = workplace.join("out/trace/dictionary.hsd");
    fs::remove_file(dictionary).expect("it is removed");
    for command in ["events", "stats"] {
        let output = ask(&workplace, command, &[]);
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        assert!(
            text(&output.stderr).contains("cut before its first events, or its files are gone"),
            "{}",
            both(&output)
        );
    }
}

const UNSEEN: &str = "
public class Unseen {
    static int sum;
    static void add(int[] from, int[] to, int n) {
        System.arraycopy(from, 0, to, 0, n);
        int[] copy = from.clone();
        sum += copy.length + to[0];
    }
    public static void main(String[] args) {
        add(new int[] {1, 2}, new int[2], 2);
        add(new int[0], new int[3], 0);
        while (args.length > 0) {
            for (int i = 0; i < 1000; i++) {
                sum += i;
            }
        }
    }
}
";

const FLAGS: &str = "
import java.util.concurrent.atomic.AtomicBoolean;
public class Flags {
    static void set(AtomicBoolean flag) {
        java.util.Arrays.fill(new boolean[1], true);
        flag.compareAndSet(false, true);
    }
    public static void main(String[] args) {
        Thread.currentThread().setName(\"setter\");
        set(new AtomicBoolean());
    }
}
";

/// Values have their types, JSON has names, and a partial name is reported with a complete one.
#[test]
fn names_and_types_are_told() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-flags");
    let (_, ran) = workplace.run_text(jdk, "17", "mode=trace", ("Flags", FLAGS));
    assert!(ran.status.success(), "{}", both(&ran));
    let lines = told(&workplace, "events", &[]);
    let line = |part: &str| {
        lines
            .lines()
            .find(|line| line.contains(part))
            .expect("a line")
    };
    assert!(line("after Arrays.fill: ").ends_with(", true"), "{lines}");
    let compared = line("after AtomicBoolean.compareAndSet: ");
    assert!(compared.ends_with(", false, true, true"), "{lines}");
    let json = told(
        &workplace,
        "events",
        &["--format", "json", "--method", "Flags.set"],
    );
    let events = json
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let events: Vec<serde_json::Value> = events.collect();
    assert_eq!(events[0]["arguments"][0]["name"], "flag");
    assert!(
        events.iter().all(|event| event["thread_name"] == "main"),
        "{json}"
    );
    let output = ask(&workplace, "events", &["--method", "set"]);
    assert!(
        text(&output.stderr).contains("is it Flags.set?"),
        "{}",
        both(&output)
    );
}

/// A row about an unseen write names what was written; an empty array has a length.
#[test]
fn unseen_writes_name_what_was_written() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-unseen");
    let what = "mode=trace,trace-what=calls;writes;values;reads";
    let (_, ran) = workplace.run_text(jdk, "17", what, ("Unseen", UNSEEN));
    assert!(ran.status.success(), "{}", both(&ran));
    let tables = workplace.join("tables").display().to_string();
    told(&workplace, "export", &["--parquet", "--out", &tables]);
    let column = |table: &str, name: &str| -> Vec<Option<i64>> {
        let file =
            fs::File::open(workplace.join(format!("tables/{table}.parquet"))).expect("a table");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows");
        let of = |row: Row| {
            let is_unseen = |row: &Row| {
                let mut columns = row.get_column_iter();
                columns.any(|(name, field)| name == "kind" && *field == Field::Str("unseen".into()))
            };
            let wanted = table != "writes" || is_unseen(&row);
            let mut columns = row.get_column_iter();
            let found = columns
                .find(|(column, _)| *column == name)
                .map(|(_, field)| field);
            wanted.then_some(match found {
                Some(Field::Long(value)) => Some(*value),
                Some(Field::Int(value)) => Some((*value).into()),
                _ => None,
            })
        };
        rows.filter_map(|row| of(row.expect("a row"))).collect()
    };
    let objects = column("objects", "object");
    let lengths = column("objects", "length");
    let length = |object: Option<i64>| {
        let at = objects
            .iter()
            .position(|one| *one == object)
            .expect("an object");
        lengths[at]
    };
    let written: Vec<_> = column("writes", "object").into_iter().map(length).collect();
    assert_eq!(written, [Some(2), Some(2), Some(3), Some(0)]);
    // These are the arguments of arraycopy, both times: from, 0, to, 0, n; and clone, with its
    // result.
    let unseen = |name: &str| column("unseen", name);
    assert_eq!(
        unseen("index"),
        [0, 1, 2, 3, 4, 0, 1]
            .repeat(2)
            .into_iter()
            .map(Some)
            .collect::<Vec<_>>()
    );
    let numbers = [None, Some(0), None, Some(0)];
    let of_call = |n| [&numbers[..], &[Some(n), None, None]].concat();
    assert_eq!(unseen("integer"), [of_call(2), of_call(0)].concat());
    assert_eq!(unseen("write").first(), column("writes", "write").first());
    // `sum` is read twice by what adds to it, and an element once.
    assert_eq!(
        column("reads", "index")
            .into_iter()
            .flatten()
            .collect::<Vec<_>>(),
        [0, 0]
    );
    assert_eq!(column("reads", "value_integer").len(), 4);
}

/// A running process writes where its trace is read, which is not damage.
#[test]
fn the_trace_of_a_running_program_is_not_damaged() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-live");
    let classes = workplace.compile_text(jdk, &["--release", "17"], "Unseen", UNSEEN);
    let mut running = workplace
        .java_with_agent(jdk, "mode=trace,max-trace=64M")
        .arg("-cp")
        .arg(&classes)
        .args(["Unseen", "on"])
        .spawn()
        .expect("java runs");
    let mut asked = 0;
    let mut events = 0;
    while asked < 4 {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let output = ask(&workplace, "stats", &["--format", "json", "--quiet"]);
        let said = text(&output.stderr);
        let not_yet = ["no trace in", "No such file or directory"];
        if asked == 0 && not_yet.iter().any(|what| said.contains(what)) {
            continue; // the JVM takes its time
        }
        asked += 1;
        assert!(output.status.success(), "{}", both(&output));
        let counts: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(counts["ended"], false, "{counts}");
        events = counts["events"].as_u64().expect("a number");
    }
    running.kill().expect("it runs");
    running.wait().expect("it has run");
    assert!(events > 1000, "{events}");
}
