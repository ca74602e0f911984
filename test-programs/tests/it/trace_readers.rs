//! The commands' messages about traces that lack something, and about threads that the dictionary
//! does not have.

use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, root, text};
use hindsight_tracelog::trace::kind::Kind;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Records a program of `trace/`.
fn record(jdk: &Jdk, name: &str, options: &str, args: &[&str]) -> Workplace {
    let workplace = Workplace::new(&format!("trace-readers-{name}-{}", jdk.version));
    let source = root().join(format!("test-programs/trace/{name}.java"));
    let classes = workplace.compile(jdk, &[], &[source]);
    let ran = workplace
        .java_with_agent(jdk, &format!("mode=trace,{options}"))
        .arg("-cp")
        .arg(&classes)
        .arg(name)
        .args(args)
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    workplace
}

fn ask(workplace: &Workplace, command: &str, options: &[&str]) -> Output {
    let output = Command::new(hindsight())
        .arg(command)
        .arg(workplace.join("out"))
        .args(options)
        .output();
    output.expect("hindsight runs")
}

#[test]
fn virtual_threads_have_names_to_ask_for() {
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 21) else {
        return;
    };
    let workplace = record(jdk, "Named", "version=1", &[]);
    let said = ask(
        &workplace,
        "events",
        &["--thread", "guest-2?7", "--method", "Named.step"],
    );
    assert!(said.status.success(), "{}", both(&said));
    let calls = text(&said.stdout);
    for number in (0..10).map(|digit| 207 + 10 * digit) {
        let thread = format!("guest-{number} ");
        let of_thread = calls.lines().filter(|line| line.starts_with(&thread));
        assert_eq!(of_thread.count(), 2, "{calls}");
    }
    assert_eq!(calls.lines().count(), 20, "{calls}");
    // A truncated text has the hash of the whole.
    let said = ask(
        &workplace,
        "events",
        &["--format", "json", "--thread", "guest-17"],
    );
    let events = text(&said.stdout);
    let mut texts = events
        .lines()
        .filter(|line| line.contains("\"event\":\"new\""));
    let new: serde_json::Value = (texts.next().map(serde_json::from_str))
        .expect("an object")
        .expect("JSON");
    let whole = format!("{}17", "x".repeat(600));
    let hash = whole.bytes().fold(0_i32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(i32::from(byte))
    });
    assert_eq!((&new["length"], &new["hash"]), (&602.into(), &hash.into()));
}

#[test]
fn segments_that_are_gone_are_noticed() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "Ends", "max-trace=1M", &["return", "600000"]);
    let directory = fs::read_dir(workplace.join("out/trace")).expect("a directory");
    let files = directory.map(|entry| entry.expect("an entry").path());
    let mut segments: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|found| found == "hst"))
        .collect();
    segments.sort();
    let told = |workplace: &Workplace, code: i32| {
        let said = ask(workplace, "stats", &[]);
        assert_eq!(said.status.code(), Some(code), "{}", both(&said));
        text(&said.stdout).replace('\n', " ")
    };
    let notes = |workplace: &Workplace| told(workplace, 0);
    // The oldest were deleted as requested.
    assert!(segments.len() >= 2, "{segments:?}");
    assert!(
        !notes(&workplace).contains("segment-"),
        "{}",
        notes(&workplace)
    );
    let gone = segments.pop().expect("a segment");
    fs::remove_file(&gone).expect("it is removed");
    let name = gone.file_name().expect("a name").to_string_lossy();
    let said = told(&workplace, 1);
    assert!(said.contains(&format!("{name} is missing")), "{said}");
    // An empty file takes its place.
    fs::write(&gone, "").expect("it is written");
    let said = told(&workplace, 1);
    assert!(said.contains("blocks are there"), "{said}");
    assert!(!said.contains("segment-"), "{said}");
    // An unreadable block is reported with its file by all that read it.
    let flipped = segments.pop().expect("another segment");
    let mut bytes = fs::read(&flipped).expect("it is read");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64]
        .iter_mut()
        .for_each(|byte| *byte ^= 0xff);
    fs::write(&flipped, bytes).expect("it is written");
    let name = flipped.file_name().expect("a name").to_string_lossy();
    let damaged = format!("damaged: {name}: ");
    let said = told(&workplace, 1);
    assert!(said.contains(&damaged), "{said}");
    let tables = workplace.join("tables").display().to_string();
    let model = workplace.join("use.model").display().to_string();
    for (command, more) in [
        ("events", &["--format", "json"][..]),
        ("export", &["--parquet", "--out", &tables]),
        ("model", &["--out", &model]),
    ] {
        let said = ask(&workplace, command, more);
        assert_eq!(
            said.status.code(),
            Some(1),
            "{command}: {}",
            text(&said.stderr)
        );
        assert!(
            text(&said.stderr).contains(&damaged),
            "{command}: {}",
            text(&said.stderr)
        );
    }
}

/// If threads do not wait for the disk, what they record is in order, and what they do not is
/// counted.
#[test]
fn dropped_events_are_counted() {
    const ROUNDS: u64 = 1_500_000;
    let jdk = &jdks()[0];
    let workplace = record(jdk, "Drops", "overflow=drop", &[&ROUNDS.to_string()]);
    let log = open(&workplace);
    let mut methods = log
        .dictionary
        .traced
        .iter()
        .flat_map(|class| &class.methods);
    let step = methods.find(|method| method.name == "step");
    let step = step.expect("a traced method").id;
    let mut last: HashMap<u64, i32> = HashMap::new();
    let (mut steps, mut lost) = (0, 0);
    for_each(&log, |event| match event.kind() {
        Kind::Enter if event.id == step => {
            let number = event.ints()[0];
            let before = last.insert(event.thread, number);
            assert!(before.is_none_or(|before| before < number));
            steps += 1;
        }
        Kind::Lost => lost += event.longs()[0] as u64,
        _ => {}
    });
    let stop = log
        .dictionary
        .stop
        .as_ref()
        .expect("it ended in good order");
    assert_eq!(last.len(), 8);
    assert!(stop.lost > 0);
    // Each thread says where events are lost, at the latest at its end.
    assert_eq!(lost, stop.lost);
    assert!(steps + stop.lost >= 8 * ROUNDS, "{steps} and {}", stop.lost);
    let said = ask(&workplace, "stats", &[]);
    let says = format!("{} events were lost while recording", stop.lost);
    assert!(text(&said.stdout).contains(&says), "{}", both(&said));
    // This was requested, and is not damage.
    let said = ask(&workplace, "events", &["--method", "Drops.main"]);
    assert!(said.status.success(), "{}", both(&said));
    let tables = workplace.join("tables");
    let options = ["--parquet", "--out", tables.to_str().expect("a path")];
    let said = ask(&workplace, "export", &options);
    assert!(said.status.success(), "{}", both(&said));
    assert!(text(&said.stderr).contains(&says), "{}", both(&said));
}

/// What a method does not record, because its probes would make it too large, is reported.
#[test]
fn methods_that_tell_less_are_named() {
    let stores: String = (0..5000)
        .map(|at| format!("a[{}] = n;\n", at % 100))
        .collect();
    let source = format!(
        "public class Large {{
            static void fill(int[] a, int n) {{ {stores} }}
            public static void main(String[] args) {{ fill(new int[100], 3); }}
        }}"
    );
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("trace-large-{}", jdk.version));
        let file = workplace.join("Large.java");
        fs::write(&file, &source).expect("a source");
        let classes = workplace.compile(jdk, &[], &[file]);
        let ran = workplace
            .java_with_agent(jdk, "mode=trace")
            .arg("-cp")
            .arg(&classes)
            .arg("Large")
            .output()
            .expect("java runs");
        assert!(ran.status.success(), "{}", both(&ran));
        let note = "of 1 method the calls alone are told (Large.fill: ";
        let stats = ask(&workplace, "stats", &[]);
        assert!(text(&stats.stdout).contains(note), "{}", both(&stats));
        let events = ask(&workplace, "events", &[]);
        assert!(text(&events.stderr).contains(note), "{}", both(&events));
        assert!(
            text(&events.stdout).contains("Large.fill("),
            "{}",
            both(&events)
        );
        let json = ask(&workplace, "stats", &["--format", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
        let less = &json["telling_less"][0];
        assert_eq!(
            (&less["method"], &less["tells"]),
            (&"fill".into(), &"calls".into())
        );
    }
}

/// A string that is not valid text is shown as it was, and one that was cut within a pair is a
/// text.
#[test]
fn lone_surrogates_are_kept() {
    for jdk in jdks() {
        let workplace = record(jdk, "Texts", "include=Texts", &[]);
        let events = ask(&workplace, "events", &[]);
        let lines = text(&events.stdout);
        for shown in [r#" "high \ud83d end""#, r#" "low \ude00""#] {
            assert!(lines.contains(shown), "{shown}: {}", both(&events));
        }
        let json = ask(&workplace, "events", &["--format", "json"]);
        let json = text(&json.stdout);
        let events: Vec<serde_json::Value> = (json.lines())
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let units: Vec<_> = events
            .iter()
            .filter(|of| of.get("utf16").is_some())
            .collect();
        assert_eq!(units.len(), 2, "{json}");
        assert_eq!(
            units[1]["utf16"],
            serde_json::json!([0x6c, 0x6f, 0x77, 0x20, 0xde00])
        );
        assert!(units.iter().all(|of| of.get("text").is_none()));
        let texts: Vec<_> = events.iter().filter_map(|of| of["text"].as_str()).collect();
        assert!(texts.contains(&"whole \u{1f600}"), "{texts:?}");
        assert!(
            texts.iter().any(|text| text.starts_with("x\u{1f600}")),
            "{texts:?}"
        );
    }
}

/// If only calls are recorded there are no objects, which does not mean that there was none.
#[test]
fn constructors_bind_something_without_objects() {
    for jdk in jdks() {
        let workplace = record(jdk, "Texts", "include=Texts,trace-what=calls", &[]);
        let events = ask(&workplace, "events", &[]);
        let lines = text(&events.stdout);
        assert!(lines.contains("Texts.<init> binds its object\n"), "{lines}");
        assert!(!lines.contains("null"), "{lines}");
    }
}
