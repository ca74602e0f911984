//! Traces of parts of a run, without secrets, with coverage, and of the JDK's classes.

use hindsight_test_programs::traces::{for_each, lines, open};
use hindsight_test_programs::{Jdk, Workplace, agent, both, hindsight, jdks, root, text};
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::kind::Kind;
use hindsight_tracelog::trace::{Live, Log};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn compiled(name: &str) -> (Workplace, PathBuf) {
    let workplace = Workplace::new(name);
    let source = root().join("test-programs/trace/Parts.java");
    let classes = workplace.compile(&jdks()[0], &["--release", "17"], &[source]);
    (workplace, classes)
}

/// Records a run of `Parts`. Returns the lines of `hindsight events`.
fn events(
    workplace: &Workplace,
    classes: &Path,
    jdk: &Jdk,
    options: &str,
    args: &[&str],
) -> Vec<String> {
    let _ = fs::remove_dir_all(workplace.join("out"));
    let ran = workplace
        .java_with_agent(jdk, &format!("mode=trace,{options}"))
        .arg("-cp")
        .arg(classes)
        .arg("Parts")
        .args(args)
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    lines(workplace)
}

/// The lines about calls, without the thread.
fn calls(lines: &[String]) -> Vec<&str> {
    let lines = lines.iter().filter(|line| !line.contains("thread "));
    let lines = lines.filter_map(|line| line.get(13..));
    let calls = ["(", " returns", " throws"];
    lines
        .filter(|line| calls.iter().any(|part| line.contains(part)))
        .collect()
}

#[test]
fn from_one_method_until_another() {
    let (workplace, classes) = compiled("trace-from");
    for jdk in jdks() {
        let between = events(
            &workplace,
            &classes,
            jdk,
            "from=Parts.depth,until=Parts.depth",
            &[],
        );
        assert_eq!(
            calls(&between),
            [
                "Parts.depth(n = 3)",
                "| Parts.depth(n = 2)",
                "| | Parts.depth(n = 1)",
                "| | | Parts.depth(n = 0)",
                "| | | Parts.depth returns 0",
                "| | Parts.depth returns 1",
                "| Parts.depth returns 2",
                "Parts.depth returns 3",
                "Parts.depth(n = 1)",
                "| Parts.depth(n = 0)",
                "| Parts.depth returns 0",
                "Parts.depth returns 1",
            ]
        );
        let stats = Command::new(hindsight())
            .arg("stats")
            .arg(workplace.join("out"))
            .output()
            .expect("hindsight runs");
        let part = "only a part of the run: from=Parts.depth, until=Parts.depth, begun 2 times\n";
        assert!(text(&stats.stdout).contains(part), "{}", both(&stats));

        // What ends in one thread continues in another.
        let options = "from=Parts.part,until=Parts.part";
        let overlap = events(&workplace, &classes, jdk, options, &["overlap"]);
        let mut steps = calls(&overlap);
        steps.retain(|call| call.contains("step("));
        let step = |number| format!("| Parts.step(number = {number})");
        steps.sort_unstable();
        assert_eq!(steps, [1, 2, 3].map(step), "JDK {}", jdk.version);

        // A constructor whose end no probe sees is over all the same when the next call begins.
        let of = "include=Parts$Account,from=Parts$Account.<init>,until=Parts$Account.<init>";
        let refused = events(&workplace, &classes, jdk, of, &["refuse"]);
        let begun = calls(&refused);
        let begun = begun
            .iter()
            .filter(|line| line.contains(".<init>(owner = null"));
        assert_eq!(begun.count(), 20, "{refused:?}");
        assert!(requests(&refused).is_empty(), "{refused:?}");

        let from = events(&workplace, &classes, jdk, "from=Parts.secrets", &[]);
        let from = calls(&from);
        assert_eq!(from.first(), Some(&"Parts.secrets()"));
        assert!(from.ends_with(&[
            "Parts.step(number = 7)",
            "Parts.step returns",
            "Parts.main returns"
        ]));

        // The method that ends it need not be recorded itself.
        for (every, told) in [("Parts$Service", 26), ("Parts$Service/2", 13)] {
            let options = format!("from=Parts.work,until=Parts.work,sample={every}");
            let sampled = events(&workplace, &classes, jdk, &options, &[]);
            let sampled = calls(&sampled);
            let steps = sampled.iter().filter(|line| line.contains("Parts.step("));
            assert_eq!(steps.count(), told, "{sampled:?}");
            assert!(
                !sampled.iter().any(|line| line.contains("depth")),
                "{sampled:?}"
            );
        }
        let every = events(&workplace, &classes, jdk, "sample=1", &[]);
        assert_eq!(
            calls(&every).first(),
            Some(&"Parts.main(args = String[]#2)")
        );

        let until = events(&workplace, &classes, jdk, "until=Parts$Service.fail", &[]);
        let until = calls(&until);
        assert!(
            until
                .first()
                .is_some_and(|first| first.starts_with("Parts.main("))
        );
        assert!(
            until
                .last()
                .is_some_and(|last| last.contains("Service.fail throws"))
        );
        assert_eq!(
            until
                .iter()
                .filter(|line| line.contains("request("))
                .count(),
            3
        );
    }
}

/// Records the program's windows.
fn record_windows(workplace: &Workplace, classes: &Path, jdk: &Jdk, options: &str) {
    let ran = workplace
        .java_with_agent(jdk, options)
        .arg("-cp")
        .arg(classes)
        .args(["Parts", "windows"])
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
}

/// To keep to the bound, whole windows are dropped from the beginning, although each is several
/// segments.
#[test]
fn whole_windows_are_kept() {
    let (workplace, classes) = compiled("trace-windows");
    let options = "mode=trace,from=Parts.window,until=Parts.window,max-trace=20M";
    record_windows(&workplace, &classes, &jdks()[0], options);
    let deleted = &workplace.run_json()["counters"]["trace_segments_deleted"];
    assert!(deleted.as_u64() > Some(2), "{deleted}");
    let directory = workplace.join("out/trace");
    let bytes = fs::read(directory.join("dictionary.hsd")).expect("a dictionary");
    let (dictionary, _) = Dictionary::read(&bytes).expect("a sound dictionary");
    let entries = fs::read_dir(&directory).expect("a directory");
    let mut segments: Vec<_> = (entries.map(|entry| entry.expect("an entry").path()))
        .filter(|path| path.extension().is_some_and(|of| of == "hst"))
        .collect();
    segments.sort();
    let sizes = segments
        .iter()
        .map(|path| fs::metadata(path).expect("a segment").len());
    let size: u64 = sizes.sum();
    assert!((14 << 20..=20 << 20).contains(&size), "{size}");
    let segments = segments
        .iter()
        .map(|path| fs::read(path).expect("a segment"));
    let log = Log::open(dictionary, segments.collect(), Live::read(Vec::new()));
    let log = log.map_err(|(_, error)| error).expect("a sound log");
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let mut events = log.events(&all);
    let mut before = 0;
    let mut windows: Vec<(i32, u32)> = Vec::new();
    while let Some(event) = events.next_event() {
        let event = event.expect("a sound event");
        if event.kind() != Kind::Enter {
            continue;
        }
        match log.dictionary.method(event.id) {
            Some((_, method)) if method.name == "window" => windows.push((event.ints()[0], 0)),
            _ => match windows.last_mut() {
                Some((_, steps)) => *steps += 1,
                None => before += 1,
            },
        }
    }
    // This includes what was still to be packed when the first one began: 64 chunks of 23 bytes a
    // step.
    assert!(
        before < 400_000,
        "{before} steps before the first whole window"
    );
    let (first, _) = windows[0];
    let expected: Vec<_> = (first..4).map(|number| (number, 1_000_000)).collect();
    assert!(first > 0 && windows == expected, "{windows:?}");
}

/// A virtual thread may have run in the dropped part whenever it continued: no call that begins
/// before it gets the value of one that ends behind it.
#[test]
fn virtual_threads_do_not_mix_calls_across_what_is_gone() {
    let workplace = Workplace::new("trace-torn");
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 21) else {
        return;
    };
    let source = root().join("test-programs/trace/Torn.java");
    let classes = workplace.compile(jdk, &["--release", "21"], &[source]);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,max-trace=1M")
        .arg("-cp")
        .arg(&classes)
        .args(["Torn", "4"])
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    let gone = &workplace.run_json()["counters"]["trace_segments_deleted"];
    assert!(gone.as_u64() > Some(0), "{gone}");
    let told = Command::new(hindsight())
        .arg("events")
        .arg(workplace.join("out"))
        .args(["--format", "json", "--quiet"])
        .output()
        .expect("hindsight runs");
    let told = text(&told.stdout);
    // By thread, the arguments of the calls of `same` in progress.
    let mut going: HashMap<u64, Vec<i64>> = HashMap::new();
    let mut whole = 0;
    for line in told.lines().skip(1) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let thread = event["thread"].as_u64().unwrap_or_default();
        let calls = going.entry(thread).or_default();
        let is_same = event["method"] == "same";
        match event["event"].as_str() {
            Some("thread") if event["after_pause"] == true => calls.clear(),
            Some("lost") => calls.clear(),
            Some("enter") if is_same => {
                let arguments = event["arguments"].as_array().expect("arguments");
                calls.push(arguments[0]["value"].as_i64().expect("a number"));
            }
            Some("exit") if is_same => {
                if let Some(passed) = calls.pop() {
                    assert_eq!(Some(passed), event["value"].as_i64(), "{line}");
                    whole += 1;
                }
            }
            _ => {}
        }
    }
    assert!(whole > 1_000, "{whole}");
}

/// The texts of objects are recorded again if the part of the trace that had them may be dropped;
/// not for secrets, whatever their names are by then.
#[test]
fn old_objects_say_again_what_they_say() {
    let workplace = Workplace::new("trace-old");
    let source = root().join("test-programs/trace/Old.java");
    let classes = workplace.compile(&jdks()[0], &["--release", "17"], &[source]);
    for jdk in jdks() {
        for (bound, deleted, count) in [("1M", true, "600000"), ("900M", false, "150000")] {
            let _ = fs::remove_dir_all(workplace.join("out"));
            let ran = workplace
                .java_with_agent(jdk, &format!("mode=trace,max-trace={bound}"))
                .arg("-cp")
                .arg(&classes)
                .args(["Old", count])
                .output()
                .expect("java runs");
            assert!(ran.status.success(), "{}", both(&ran));
            let gone = &workplace.run_json()["counters"]["trace_segments_deleted"];
            assert_eq!(gone.as_u64() > Some(0), deleted, "{gone}");
            let told = Command::new(hindsight())
                .arg("events")
                .arg(workplace.join("out"))
                .arg("--quiet")
                .output()
                .expect("hindsight runs");
            let told = text(&told.stdout);
            let calls: Vec<&str> = (told.lines())
                .filter(|line| line.contains("Old.say("))
                .collect();
            assert!(calls.len() > 100_000, "{}", calls.len());
            let whole = |line: &&&str| {
                line.contains("an old text")
                    && (line.contains("LEFT") || line.contains("RIGHT"))
                    && line.contains("123456")
            };
            let known = calls.iter().filter(whole).count();
            // The first few chunks may have had theirs before.
            assert!(
                known * 10 >= calls.len() * 8,
                "JDK {}: {known} of {}: {}",
                jdk.version,
                calls.len(),
                calls[0]
            );
            assert!(!told.contains("hunter"), "JDK {}", jdk.version);
            // Elements repeat their texts while their array is examined.
            let arrays = told.lines().filter(|line| line.contains(" new Object[]#"));
            let (whole, cut): (Vec<_>, Vec<_>) =
                arrays.partition(|line| line.contains(" of length 2: String#"));
            assert!(
                whole.len() > 1_000 && cut.is_empty(),
                "JDK {}: {}, {cut:?}",
                jdk.version,
                whole.len()
            );
        }
    }
}

/// A window that is larger than the bound begins with the calls in progress where it continues.
#[test]
fn the_end_of_a_large_window_is_kept() {
    let (workplace, classes) = compiled("trace-large-window");
    for jdk in jdks() {
        let _ = fs::remove_dir_all(workplace.join("out"));
        let options = "mode=trace,from=Parts.main,until=Parts.main,max-trace=3M";
        record_windows(&workplace, &classes, jdk, options);
        let told = Command::new(hindsight())
            .arg("events")
            .arg(workplace.join("out"))
            .args(["--limit", "20", "--quiet"])
            .output()
            .expect("hindsight runs");
        assert!(told.status.success(), "{}", both(&told));
        let told = text(&told.stdout);
        let running = told.lines().filter(|line| !line.ends_with(" is defined"));
        let running: Vec<&str> = running.filter_map(|line| line.get(13..)).collect();
        let expected = ["Parts.main is running", "| Parts.window is running"];
        assert!(
            running.starts_with(&expected),
            "JDK {}: {told}",
            jdk.version
        );
        let directory = fs::read_dir(workplace.join("out/trace")).expect("a directory");
        let sizes = directory.map(|entry| entry.expect("an entry").metadata().expect("it").len());
        let size: u64 = sizes.sum();
        assert!((21 << 17..=25 << 17).contains(&size), "{size}");
    }
}

/// The recorded requests of each thread.
fn requests(lines: &[String]) -> Vec<u32> {
    let of = |line: &String| {
        let (_, rest) = line.split_once(".request(this = ")?;
        let (_, number) = rest.split_once("number = ")?;
        number.strip_suffix(')')?.parse().ok()
    };
    lines.iter().filter_map(of).collect()
}

#[test]
fn one_of_so_many_outermost_calls() {
    let (workplace, classes) = compiled("trace-sample");
    for jdk in jdks() {
        // These are the first, the fourth and so on of 20, by two threads after each other.
        let sampled = events(&workplace, &classes, jdk, "sample=Parts$Service/3", &[]);
        // The service's constructor is one of these calls.
        assert_eq!(requests(&sampled), [2, 5, 8, 0, 3, 6, 9]);
        // All that happens in them is included, and nothing else.
        let steps = sampled
            .iter()
            .filter(|line| line.contains(".step("))
            .count();
        assert_eq!(steps, 7 + 3);
        for line in &sampled {
            assert!(
                !line.contains("Parts.depth") && !line.contains("Parts.work"),
                "{line}"
            );
        }
        // Every call of these is included, and nothing else.
        let all = events(&workplace, &classes, jdk, "sample=Parts$Service", &[]);
        assert_eq!(requests(&all).len(), 20);
        assert!(!all.iter().any(|line| line.contains("Parts.depth")));
        // A constructor whose end no probe sees is over all the same when the next call begins.
        let refused = events(
            &workplace,
            &classes,
            jdk,
            "include=Parts$Account,sample=3",
            &["refuse"],
        );
        assert_eq!(requests(&refused), [1, 4, 7]);
        // The outermost calls of this program are main and what the other thread runs.
        let main = events(&workplace, &classes, jdk, "sample=2", &[]);
        assert!(main.iter().any(|line| line.contains("Parts.main returns")));
        assert!(
            !main
                .iter()
                .any(|line| line.contains("Parts.work") && line.starts_with("other"))
        );
    }
    // These are a method's calls.
    let one = events(&workplace, &classes, &jdks()[0], "sample=Parts.step", &[]);
    assert!(one.iter().any(|line| line.contains(".step(")), "{one:?}");
    assert!(
        !one.iter().any(|line| line.contains(".request(")),
        "{one:?}"
    );
    // This names neither a class nor a method.
    let _ = events(
        &workplace,
        &classes,
        &jdks()[0],
        "sample=Parts.nothing",
        &[],
    );
    let stats = Command::new(hindsight())
        .arg("stats")
        .arg(workplace.join("out"))
        .output()
        .expect("hindsight runs");
    let said = text(&stats.stdout);
    assert!(said.contains("no call was recorded: "), "{said}");
}

#[test]
fn virtual_threads_are_sampled_and_end() {
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 21) else {
        return;
    };
    let (workplace, classes) = compiled("trace-sample-virtual");
    let lines = events(
        &workplace,
        &classes,
        jdk,
        "sample=Parts$Service/4",
        &["virtual"],
    );
    let requests: BTreeSet<u32> = requests(&lines)
        .into_iter()
        .filter(|number| *number >= 100)
        .collect();
    assert!((7..=8).contains(&requests.len()), "{requests:?}");
    let all = events(&workplace, &classes, jdk, "trace-what=calls", &["virtual"]);
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for line in &all {
        let (thread, what) = line.split_once(' ').expect("a thread");
        if what.trim() == "ends" && thread.starts_with('#') {
            *ends.entry(thread).or_default() += 1;
        }
    }
    assert_eq!(ends.len(), 30, "{all:?}");
    assert!(ends.values().all(|count| *count == 1), "{ends:?}");
}

/// A recording that begins with `main` has no pause, however many threads there are.
#[test]
fn many_virtual_threads_go_on_without_a_pause() {
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 21) else {
        return;
    };
    const COUNT: usize = 20_000;
    let workplace = Workplace::new("trace-crowd");
    let source = root().join("test-programs/trace/Crowd.java");
    let classes = workplace.compile(jdk, &["--release", "21"], &[source]);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,from=Crowd.main,until=Crowd.main")
        .arg("-cp")
        .arg(&classes)
        .args(["Crowd", &COUNT.to_string()])
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    let log = open(&workplace);
    let (mut pauses, mut ended) = (0, 0);
    let mut calls: HashMap<u64, Vec<u32>> = HashMap::new();
    for_each(&log, |event| {
        let calls = calls.entry(event.thread).or_default();
        match event.kind() {
            Kind::Switch => pauses += usize::from(event.is_after_pause()),
            Kind::Enter => calls.push(event.id),
            Kind::Exit => {
                assert_eq!(calls.pop(), Some(event.id));
                ended += usize::from(calls.is_empty());
            }
            _ => {}
        }
    });
    assert_eq!((pauses, ended), (0, COUNT + 1));
}

/// The bytes of all files of a trace, unpacked as `hindsight` shows them.
fn everything(workplace: &Workplace) -> String {
    let mut all = String::new();
    for options in [&["--format", "text"], &["--format", "json"]] {
        let told = Command::new(hindsight())
            .arg("events")
            .arg(workplace.join("out"))
            .args(options)
            .output()
            .expect("hindsight runs");
        assert!(told.status.success(), "{}", both(&told));
        all.push_str(&text(&told.stdout));
    }
    all
}

#[test]
fn secrets_are_not_told() {
    let (workplace, classes) = compiled("trace-secrets");
    for jdk in jdks() {
        for options in [
            "trace-what=calls;writes;reads;values",
            "trace-what=calls;values",
            "trace-what=writes;values",
            "from=Parts$Login.<init>",
            "sample=Parts$Login",
        ] {
            let lines = events(&workplace, &classes, jdk, options, &[]);
            let all = everything(&workplace);
            // A value that comes as `given` before any name makes it a secret is not known to be
            // one: the program above has no such value. Characters are numbers in JSON.
            let secrets = ["hunter", "271828", "'h', 'u'", "[104,117,"];
            let leak = all
                .lines()
                .find(|line| secrets.iter().any(|secret| line.contains(secret)));
            assert_eq!(leak, None, "JDK {}, {options}", jdk.version);
            assert!(all.contains("(redacted)") && all.contains("\"redacted\":true"));
            let plain = lines.iter().any(|line| line.contains("\"plain\""));
            assert_eq!(plain, options != "trace-what=writes;values", "{options}");
        }
        // These are the user's own names.
        let lines = events(&workplace, &classes, jdk, "redact=user;given", &[]);
        assert!(
            !lines
                .iter()
                .any(|line| line.contains("\"ann\"") || line.contains("plain"))
        );
    }
}

/// The lines that have run are compared with those that the program cannot run.
#[test]
fn coverage_is_that_of_the_run() {
    let (workplace, classes) = compiled("trace-coverage");
    let source =
        fs::read_to_string(root().join("test-programs/trace/Parts.java")).expect("a source");
    let line = |text: &str| {
        1 + source
            .lines()
            .position(|line| line.contains(text))
            .expect("a line")
    };
    for jdk in jdks() {
        let lines = events(&workplace, &classes, jdk, "trace-what=coverage", &[]);
        assert!(
            !lines.iter().any(|line| line.contains("Parts.main(")),
            "{lines:?}"
        );
        let stats = Command::new(hindsight())
            .args(["stats", "--format", "json"])
            .arg(workplace.join("out"))
            .output()
            .expect("hindsight runs");
        assert!(stats.stderr.is_empty(), "{}", both(&stats));
        let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).expect("JSON");
        let mut missed: BTreeSet<u64> = BTreeSet::new();
        let mut whole = 0;
        for method in stats["coverage"].as_array().expect("methods") {
            let lines = method["missed_lines"].as_array().expect("lines");
            missed.extend(lines.iter().filter_map(serde_json::Value::as_u64));
            whole += u32::from(method["run"] == method["blocks"]);
            assert!(method["blocks"].as_u64() >= Some(1));
        }
        assert!(whole >= 8);
        // These are the branch for virtual threads, the default constructors of classes without an
        // object, and what only runs when others fail.
        let expected = |line_of: &str| {
            assert!(
                missed.contains(&(line(line_of) as u64)),
                "{line_of}: {missed:?}"
            )
        };
        expected("ExecutorService executor =");
        expected("executor.submit(");
        for run in [
            "fail(number);",
            "step(-number);",
            "depth(n - 1)",
            "Thread other",
        ] {
            assert!(!missed.contains(&(line(run) as u64)), "{run}: {missed:?}");
        }
        // A flipped bit is noticed, and the rest is still shown.
        let file = workplace.join("out/trace/coverage.hsb");
        let mut bytes = fs::read(&file).expect("the blocks");
        *bytes.last_mut().expect("a block") ^= 1;
        fs::write(&file, bytes).expect("the blocks");
        let damaged = Command::new(hindsight())
            .args(["stats", "--format", "json"])
            .arg(workplace.join("out"))
            .output()
            .expect("hindsight runs");
        let told = both(&damaged);
        assert!(
            told.contains(
                "coverage.hsb: the bytes of blocks are not those that the recording ended with"
            ),
            "{told}"
        );
        assert!(told.contains("\"missed_lines\""), "{told}");
    }
}

/// Classes that the recorder itself needs at the start are recorded like any others.
#[test]
fn the_jdk_is_recorded_without_loss() {
    let (workplace, classes) = compiled("trace-jdk");
    for jdk in jdks() {
        let include = "include=Parts*;java.util.**;java.lang.**;java.io.**;jdk.internal.**";
        let lines = events(&workplace, &classes, jdk, include, &[]);
        assert!(lines.iter().any(|line| line.contains(" HashMap.")));
        let lost = &workplace.run_json()["counters"]["trace_events_lost"];
        assert!(lost.is_null(), "JDK {}: {lost} events lost", jdk.version);
    }
}

/// HotSpot hands out classes that it does not verify without stack maps, up to JDK 17, when they
/// are retransformed: methods with handlers are recorded all the same.
#[test]
fn classes_of_the_jdk_are_recorded_without_their_stack_maps() {
    let (workplace, classes) = compiled("trace-mapless");
    for jdk in jdks() {
        let out = workplace.join("out");
        let _ = fs::remove_dir_all(&out);
        let include = "include=Parts*;java.util.**";
        let options = format!("out={},mode=trace,{include}", out.display());
        let ran = jdk
            .java()
            .arg("-Xshare:off")
            .arg(format!("-agentpath:{}={options}", agent().display()))
            .arg("-cp")
            .arg(&classes)
            .arg("Parts")
            .output()
            .expect("java runs");
        assert!(ran.status.success(), "{}", both(&ran));
        let stats = Command::new(hindsight())
            .args(["stats", "--format", "json"])
            .arg(&out)
            .output()
            .expect("hindsight runs");
        let told: Value = serde_json::from_slice(&stats.stdout).expect("JSON");
        assert_eq!(
            told["telling_less"],
            serde_json::json!([]),
            "JDK {}",
            jdk.version
        );
        // The JDK's code for the end of a thread, which runs after that, is recorded, too.
        let mut ended = BTreeSet::new();
        for_each(&open(&workplace), |event| {
            let late = ended.contains(&event.thread);
            assert!(!late, "JDK {}: {event:?}", jdk.version);
            if event.kind() == Kind::End {
                ended.insert(event.thread);
            }
        });
        assert!(ended.len() >= 2, "JDK {}: {ended:?}", jdk.version);
    }
}
