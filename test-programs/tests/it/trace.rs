//! Programs under `mode=trace`: what the log holds is what happened, however
//! the process ends.

use hindsight_instrument::contract::trace::Probe;
use hindsight_instrument::{TracePlan, What, trace};
use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{Jdk, Workplace, agent, both, hindsight, jdks, root, text};
use hindsight_tracelog::trace::Log;
use hindsight_tracelog::trace::kind::{Kind, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn source(name: &str) -> PathBuf {
    root().join("test-programs/trace").join(name)
}

/// A program of the instrumenter's tests, which come with a driver.
fn instrument_source(name: &str) -> PathBuf {
    root().join("crates/instrument/tests/it/java").join(name)
}

/// One event of a thread: its name, what its id names, its values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    event: String,
    member: String,
    values: Vec<Seen>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Null,
    Object(u64),
    Bits(i64),
}

type ByThread = BTreeMap<String, Vec<Told>>;

/// What ids mean, with the names of all three sorts.
#[derive(Default)]
struct Names {
    methods: HashMap<u32, String>,
    fields: HashMap<u32, String>,
    callees: HashMap<u32, String>,
}

impl Names {
    fn of(&self, event: &str, id: u32) -> String {
        let names = match event {
            // Of whatever event was before.
            "more" => return String::new(),
            "enter" | "exit" | "unwind" | "bind" | "caught" => &self.methods,
            "called" => &self.callees,
            _ => &self.fields,
        };
        names.get(&id).cloned().unwrap_or_default()
    }
}

/// Writes the reference recorder with all probes of the contract.
fn write_reference(path: &Path) {
    let mut probes = String::new();
    for probe in Probe::all() {
        let method = probe.method();
        let types = method.descriptor[1..method.descriptor.len() - 2]
            .replace("Ljava/lang/Object;", "A")
            .replace("Ljava/lang/Throwable;", "A");
        let java = |kind| match kind {
            'A' if method.descriptor.contains("Throwable") => "Throwable",
            'A' => "Object",
            'I' => "int",
            'J' => "long",
            'F' => "float",
            _ => "double",
        };
        let parameters: Vec<_> = (types.chars().enumerate())
            .map(|(at, kind)| format!("{} p{at}", java(kind)))
            .collect();
        let has_id = !matches!(probe, Probe::Store(_) | Probe::Load(_));
        let values = types.len() - usize::from(has_id);
        let shown: Vec<_> = (types.chars().enumerate().take(values))
            .map(|(at, kind)| match kind {
                'A' => format!("p{at}"),
                _ => format!("bits(p{at})"),
            })
            .collect();
        let id = if has_id {
            format!("Integer.toString(p{values})")
        } else {
            "\"\"".to_owned()
        };
        probes.push_str(&format!(
            "public static void {name}({}) {{ event(\"{name}\", new Object[] {{{}}}, {id}); }}\n",
            parameters.join(", "),
            shown.join(", "),
            name = method.name,
        ));
    }
    let template = fs::read_to_string(source("HindsightTrace.java")).expect("the recorder");
    fs::write(path, template.replace("// @PROBES@", &probes)).expect("the recorder is written");
}

/// What the reference recorder tells of a program, and its strings.
fn reference(
    workplace: &Workplace,
    jdk: &Jdk,
    driver: &Path,
    classes: &Path,
    options: &[&str],
    program: &str,
) -> (ByThread, HashMap<u64, String>) {
    let recorder = workplace.join("HindsightTrace.java");
    write_reference(&recorder);
    let patch = workplace.join("patch");
    let base = format!("java.base={}", workplace.path.display());
    let patched = ["--patch-module", &base, "-d"].map(OsString::from);
    jdk.compile(
        patched
            .into_iter()
            .chain([patch.clone().into(), recorder.into()]),
    );

    let traced_dir = workplace.join("traced");
    fs::create_dir_all(&traced_dir).expect("a directory");
    let mut names = Names::default();
    let mut next = (0, 0, 0);
    let mut files: Vec<PathBuf> = fs::read_dir(classes)
        .expect("classes")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for file in files {
        let bytes = fs::read(&file).expect("a class");
        let plan = TracePlan {
            what: &|_, _| What::CALLS_AND_WRITES,
            first_method: next.0,
            first_field: next.1,
            first_callee: next.2,
            first_block: 0,
            tracer: hindsight_instrument::contract::trace::TRACE,
            is_secret: &|_| false,
        };
        let traced = trace(&bytes, &plan).expect("a sound class");
        let class = traced.class_name.replace('/', ".");
        for method in traced.methods.iter() {
            let name = format!("{class}.{}{}", method.name, method.descriptor);
            names.methods.insert(method.id, name);
            next.0 = method.id + 1;
        }
        for (list, map, next) in [
            (&traced.fields, &mut names.fields, &mut next.1),
            (&traced.callees, &mut names.callees, &mut next.2),
        ] {
            for member in list.iter() {
                let name = format!(
                    "{}.{}{}",
                    member.owner.replace('/', "."),
                    member.name,
                    member.descriptor
                );
                map.insert(member.id, name);
                *next = member.id + 1;
            }
        }
        let to = traced_dir.join(file.file_name().expect("a file"));
        fs::write(to, traced.class.unwrap_or(bytes)).expect("a class is written");
    }

    let told = workplace.join("reference.txt");
    let path = std::env::join_paths([traced_dir.as_path(), driver]).expect("plain paths");
    let ran = jdk
        .java()
        .args(["-Xverify:all", "-Xss512k"])
        .arg("--patch-module")
        .arg(format!("java.base={}", patch.display()))
        .arg(format!("-Dhindsight.trace={}", told.display()))
        .args(options)
        .arg("-cp")
        .arg(path)
        .args(["Driver", program])
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));

    let mut threads = ByThread::new();
    let mut strings = HashMap::new();
    for line in fs::read_to_string(&told).expect("events").lines() {
        let mut parts = line.split('\t');
        let (thread, event, id) = (parts.next(), parts.next(), parts.next());
        let event = event.expect("a name").to_owned();
        let values = parts.map(|value| match value.strip_prefix('#') {
            _ if value == "null" => Seen::Null,
            None => Seen::Bits(value.parse().expect("a number")),
            Some(object) => {
                let (number, text) = match object.split_once('=') {
                    Some((number, text)) => (number, Some(text)),
                    None => (object, None),
                };
                let number = number.parse().expect("a number");
                if let Some(text) = text {
                    strings.insert(number, text.to_owned());
                }
                Seen::Object(number)
            }
        });
        let values = values.collect();
        let id = id.expect("an id");
        let member = id
            .parse()
            .map_or_else(|_| String::new(), |id| names.of(&event, id));
        let told = Told {
            event,
            member,
            values,
        };
        let list = threads.entry(thread.expect("a thread").to_owned());
        list.or_default().push(told);
    }
    (threads, strings)
}

/// What our recorder tells of a program, and its strings.
fn ours(log: &Log<Vec<u8>>) -> (ByThread, HashMap<u64, String>) {
    let dictionary = &log.dictionary;
    let mut names = Names::default();
    for class in &dictionary.traced {
        for method in &class.methods {
            let name = format!("{}.{}{}", class.name, method.name, method.descriptor);
            names.methods.insert(method.id, name);
        }
        for (list, map) in [
            (&class.fields, &mut names.fields),
            (&class.callees, &mut names.callees),
        ] {
            for member in list {
                let name = format!("{}.{}{}", member.owner, member.name, member.descriptor);
                map.insert(member.id, name);
            }
        }
    }
    let mut threads = ByThread::new();
    let mut strings = HashMap::new();
    let mut thread_names: HashMap<u64, String> = HashMap::new();
    for_each(log, |event| {
        let name = match event.kind() {
            Kind::Enter => "enter",
            Kind::More => "more",
            Kind::Called => "called",
            Kind::Exit => "exit",
            Kind::Put => "put",
            Kind::PutStatic => "putStatic",
            Kind::PutEarly => "putEarly",
            Kind::Store => "store",
            Kind::Get => "get",
            Kind::GetStatic => "getStatic",
            Kind::Load => "load",
            Kind::Unwind => "unwind",
            Kind::Bind => "bind",
            Kind::Caught => "caught",
            Kind::Switch => {
                thread_names.insert(event.thread, event.text());
                return;
            }
            Kind::Text => {
                let object = event.reference(0).expect("an object");
                strings.insert(object.0, event.text());
                return;
            }
            Kind::Object | Kind::Stamp | Kind::End => return,
            Kind::Lost | Kind::Going => panic!("nothing is lost"),
        };
        let object = |object: Option<hindsight_tracelog::trace::ObjectId>| {
            object.map_or(Seen::Null, |object| Seen::Object(object.0))
        };
        let bits = |ints: &[i32], longs: &[i64]| {
            let ints: Vec<_> = ints.iter().map(|&int| Seen::Bits(i64::from(int))).collect();
            ints.into_iter()
                .chain(longs.iter().map(|&long| Seen::Bits(long)))
                .collect::<Vec<_>>()
        };
        let mut values: Vec<Seen> = event.references().map(object).collect();
        let numbers = bits(event.ints(), event.longs());
        // Events have references first, an element's probe its index before the value.
        if event.kind() == Kind::Store && event.layout().value == Value::Reference {
            values.splice(1..1, numbers);
        } else {
            values.extend(numbers);
        }
        let told = Told {
            event: name.to_owned(),
            member: names.of(name, event.id),
            values,
        };
        let thread = thread_names.get(&event.thread).cloned().unwrap_or_default();
        threads.entry(thread).or_default().push(told);
    });
    (threads, strings)
}

/// Fields whose values depend on which thread was first.
const COUNTED_TOGETHER: &[&str] = &["Threads.countI", "Threads.totalI", "Mounted.totalI"];

/// Runs a program with both recorders and compares them, event by event.
fn agree(jdk: &Jdk, program: &str, sources: &[PathBuf], options: &[&str]) -> Log<Vec<u8>> {
    agree_since("17", jdk, program, sources, options)
}

/// The same for a program that needs this release of Java.
fn agree_since(
    release: &str,
    jdk: &Jdk,
    program: &str,
    sources: &[PathBuf],
    options: &[&str],
) -> Log<Vec<u8>> {
    let workplace = Workplace::new(&format!("trace-{program}"));
    let release = ["--release", release];
    let driver = workplace.compile(jdk, &release, &[instrument_source("Driver.java")]);
    let driver_dir = workplace.join("driver");
    fs::rename(&driver, &driver_dir).expect("a directory moves");
    let classes = workplace.compile(jdk, &release, sources);
    let (expected, expected_strings) =
        reference(&workplace, jdk, &driver_dir, &classes, options, program);

    let path = std::env::join_paths([classes.as_path(), &driver_dir]).expect("plain paths");
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,exclude=Driver")
        .arg("-Xss512k")
        .args(options)
        .arg("-cp")
        .arg(path)
        .args(["Driver", program])
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
    let log = open(&workplace);
    assert!(log.damage.is_empty() && log.missing().is_empty());
    assert_eq!(log.dictionary.stop.as_ref().map(|stop| stop.lost), Some(0));
    let (told, strings) = ours(&log);

    let threads = |told: &ByThread| told.keys().cloned().collect::<Vec<_>>();
    assert_eq!(threads(&told), threads(&expected));
    // The same objects, by other numbers.
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    let mut events = 0;
    for (thread, expected) in &expected {
        let told = &told[thread];
        for (at, (expected, told)) in expected.iter().zip(told).enumerate() {
            let context = || format!("{thread}, event {at}: expected {expected:?}, told {told:?}");
            assert_eq!(
                (&expected.event, &expected.member),
                (&told.event, &told.member),
                "{}",
                context()
            );
            assert_eq!(expected.values.len(), told.values.len(), "{}", context());
            for values in expected.values.iter().zip(&told.values) {
                match values {
                    (Seen::Object(expected), Seen::Object(told)) => {
                        assert_eq!(
                            there.entry(*expected).or_insert(*told),
                            told,
                            "{}",
                            context()
                        );
                        assert_eq!(
                            back.entry(*told).or_insert(*expected),
                            expected,
                            "{}",
                            context()
                        );
                    }
                    // What threads count together depends on who was first.
                    (Seen::Bits(_), Seen::Bits(_))
                        if COUNTED_TOGETHER.contains(&told.member.as_str()) => {}
                    (expected, told) => assert_eq!(expected, told, "{}", context()),
                }
            }
            events += 1;
        }
        assert_eq!(expected.len(), told.len(), "{thread}");
    }
    assert!(events > 100);
    for (number, text) in &expected_strings {
        let ours = strings.get(&there[number]).expect("the text of a string");
        let shown = ours.replace('\n', "\\n").replace('\t', "\\t");
        assert!(text.starts_with(&shown) && (shown == *text || ours.len() >= 256));
    }
    log
}

#[test]
fn agrees_with_the_reference() {
    for jdk in jdks() {
        agree(jdk, "Traced", &[instrument_source("Traced.java")], &[]);
        agree(jdk, "Threads", &[source("Threads.java")], &[]);
    }
}

/// Code that is compiled at its first call.
#[test]
fn agrees_with_the_reference_when_compiled() {
    let options = [
        "-Xcomp",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=compileonly,Traced*.*",
        "-XX:CompileCommand=compileonly,java/lang/Hindsight*.*",
    ];
    for jdk in jdks() {
        agree(jdk, "Traced", &[instrument_source("Traced.java")], &options);
    }
}

/// Virtual threads, whichever carriers they have gone on with.
#[test]
fn agrees_with_the_reference_about_virtual_threads() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        for carriers in [1, 4] {
            let options = format!("-Djdk.virtualThreadScheduler.parallelism={carriers}");
            let sources = [source("Mounted.java")];
            let log = agree_since("21", jdk, "Mounted", &sources, &[&options]);
            let mut streams: HashMap<u64, BTreeSet<u64>> = HashMap::new();
            for place in 0..log.blocks().len() {
                let stream = log.blocks()[place].header.stream;
                let mut events = log.events(&[place]);
                while let Some(event) = events.next_event() {
                    let event = event.expect("a sound event");
                    if event.is_virtual {
                        streams.entry(event.thread).or_default().insert(stream);
                    }
                }
            }
            let moved = streams.values().filter(|of| of.len() > 1).count();
            assert!((moved > 0) == (carriers > 1), "{moved} of {}", streams.len());
        }
    }
}

fn run(workplace: &Workplace, jdk: &Jdk, options: &str, classes: &Path, args: &[&str]) {
    let ran = workplace
        .java_with_agent(jdk, options)
        .arg("-cp")
        .arg(classes)
        .args(args)
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "{}", both(&ran));
}

/// The writes to a shared object are in their order, among a thousand threads.
#[test]
fn a_thousand_threads() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-threads");
    let classes = workplace.compile(jdk, &[], &[source("Threads.java")]);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace")
        .args(["-Dthreads=1000", "-cp"])
        .arg(&classes)
        .arg("Threads")
        .output()
        .expect("java runs");
    assert_eq!(text(&ran.stdout), "50000 50000\n", "{}", both(&ran));
    let log = open(&workplace);
    assert!(log.damage.is_empty() && log.missing().is_empty());
    let field = |name: &str| {
        let classes = log.dictionary.traced.iter();
        let mut fields = classes.flat_map(|class| &class.fields);
        fields
            .find(|field| field.name == name)
            .map(|field| field.id)
    };
    let (count, total) = (field("count"), field("total"));
    let (mut counts, mut totals, mut ends) = (0, 0, 0);
    for_each(&log, |event| match event.kind() {
        Kind::Put if Some(event.id) == count => {
            counts += 1;
            assert_eq!(event.ints(), [counts]);
        }
        Kind::PutStatic if Some(event.id) == total => {
            totals += 1;
            assert_eq!(event.ints(), [totals]);
        }
        Kind::End => ends += 1,
        _ => {}
    });
    assert_eq!((counts, totals), (50_000, 50_000));
    assert!(ends >= 1000, "{ends} threads have ended");
}

/// Whoever sees an object first, it has one number, and nobody else has it.
#[test]
fn threads_that_see_an_object_together_agree() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-race");
        let classes = workplace.compile(jdk, &[], &[source("Race.java")]);
        run(
            &workplace,
            jdk,
            "mode=trace,trace-what=calls;values",
            &classes,
            &["Race"],
        );
        let log = open(&workplace);
        let traced = log.dictionary.traced.iter();
        let mut methods = traced.flat_map(|class| &class.methods);
        let look = methods.find(|method| method.name == "look");
        let look = look.expect("a traced method").id;
        let mut seen: HashMap<u64, Vec<u64>> = HashMap::new();
        for_each(&log, |event| {
            if event.kind() == Kind::Enter && event.id == look {
                let object = event.reference(0).expect("an object");
                seen.entry(event.thread).or_default().push(object.0);
            }
        });
        let all: Vec<_> = seen.values().collect();
        assert_eq!(all.len(), 2);
        for objects in &all {
            let mut distinct = objects.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 20_000);
            assert!(*objects == all[0], "each thread has seen the same objects");
        }
    }
}

/// Virtual threads by the hundred thousand take no chunk each, and keep their
/// order where they move from carrier to carrier.
#[test]
fn virtual_threads() {
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 21) else {
        return;
    };
    const COUNT: usize = 200_000;
    let workplace = Workplace::new("trace-virtual");
    let classes = workplace.compile(jdk, &[], &[source("Virtual.java")]);
    let count = COUNT.to_string();
    run(
        &workplace,
        jdk,
        "mode=trace",
        &classes,
        &["Virtual", &count],
    );
    let log = open(&workplace);
    assert!(log.damage.is_empty() && log.missing().is_empty());
    let step = (log.dictionary.traced.iter())
        .flat_map(|class| &class.methods)
        .find(|method| method.name == "step")
        .map(|method| method.id);
    let mut steps: HashMap<u64, (i32, i32)> = HashMap::new();
    for_each(&log, |event| {
        if event.kind() == Kind::Enter && Some(event.id) == step {
            assert!(event.is_virtual);
            let [number, at] = *event.ints() else {
                panic!("two arguments");
            };
            let known = steps.entry(event.thread).or_insert((number, 0));
            assert_eq!(*known, (number, at), "thread {}", event.thread);
            known.1 += 1;
        }
    });
    assert_eq!(steps.len(), COUNT + 50);
    let complete =
        (steps.values()).all(|&(number, steps)| steps == if number < 0 { 20 } else { 1 });
    assert!(complete);
    let streams: Vec<u64> = log
        .blocks()
        .iter()
        .map(|block| block.header.stream)
        .collect();
    assert!(streams.iter().max() < Some(&100), "{streams:?}");
}

/// What both threads of `Ends` have done, in order, up to the end.
fn check_ends(log: &Log<Vec<u8>>, at_least: i32) {
    let step = (log.dictionary.traced.iter())
        .flat_map(|class| &class.methods)
        .find(|method| method.name == "step")
        .map(|method| method.id);
    let mut steps: BTreeMap<u64, i32> = BTreeMap::new();
    for_each(log, |event| {
        if event.kind() == Kind::Enter && Some(event.id) == step {
            let next = steps.entry(event.thread).or_default();
            assert_eq!(event.ints(), [*next]);
            *next += 1;
        }
    });
    assert_eq!(steps.len(), 2);
    assert!(steps.values().all(|steps| *steps >= at_least), "{steps:?}");
}

#[test]
fn ends_of_every_kind() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-ends");
        let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
        for (end, in_order) in [
            ("return", true),
            ("exit", true),
            ("halt", true),
            ("segv", false),
            ("kill", false),
            // While both threads store.
            ("busy", false),
        ] {
            let _ = fs::remove_dir_all(workplace.join("out"));
            let mut child = workplace
                .java_with_agent(jdk, "mode=trace")
                .args([
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:ErrorFile=/dev/null",
                    "-cp",
                ])
                .arg(&classes)
                .args(["Ends", end, "20000"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("java runs");
            let mut worked = [0; 7];
            let stdout = child.stdout.as_mut().expect("a pipe");
            stdout.read_exact(&mut worked).expect("it has worked");
            if matches!(end, "kill" | "busy") {
                child.kill().expect("it is killed");
            }
            let status = child.wait().expect("it ends");
            match end {
                "return" => assert_eq!(status.code(), Some(0)),
                "exit" => assert_eq!(status.code(), Some(3)),
                "halt" => assert_eq!(status.code(), Some(4)),
                // Without a core dump the JVM exits after its report.
                "segv" => assert_eq!(status.code(), Some(1)),
                _ => assert_eq!(status.signal(), Some(9)),
            }
            let log = open(&workplace);
            let label = format!("JDK {} {end}", jdk.version);
            assert!(log.damage.is_empty(), "{label}: {:?}", log.damage);
            assert!(log.missing().is_empty(), "{label}: {:?}", log.missing());
            assert_eq!(log.dictionary.stop.is_some(), in_order, "{end}");
            check_ends(&log, 20_000);
            let live = log.blocks().iter().filter(|block| block.live).count();
            assert_eq!(live > 0, !in_order, "{end}");
            // People are told.
            let stats = Command::new(hindsight())
                .arg("stats")
                .arg(workplace.join("out"))
                .output()
                .expect("hindsight runs");
            assert!(stats.status.success());
            let told = text(&stats.stdout).contains("did not end in good order");
            assert_eq!(told, !in_order, "{}", both(&stats));
        }
    }
}

/// The oldest events go; what is left is whole, and says what is missing.
#[test]
fn a_bounded_trace_keeps_the_latest_events() {
    for jdk in jdks() {
        keeps_the_latest_events(jdk);
    }
}

fn keeps_the_latest_events(jdk: &Jdk) {
    let workplace = Workplace::new(&format!("trace-bounded-{}", jdk.version));
    let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
    let args = ["Ends", "return", "6000000"];
    run(&workplace, jdk, "mode=trace,max-trace=1M", &classes, &args);
    let log = open(&workplace);
    let stop = log.dictionary.stop.clone().expect("it ended in good order");
    assert!(stop.segments_deleted > 0 && stop.lost == 0);
    assert!(log.damage.is_empty() && !log.missing().is_empty());
    let directory = fs::read_dir(workplace.join("out/trace")).expect("a directory");
    let segments = directory.map(|entry| entry.expect("an entry"));
    let segments = segments.filter(|entry| entry.path().extension().is_some_and(|of| of == "hst"));
    let sizes = segments.map(|entry| entry.metadata().expect("it is there").len());
    let size: u64 = sizes.sum();
    assert!(
        (700_000..=(1 << 20) + (128 << 10)).contains(&size),
        "{size}"
    );
    assert!(log.missing().iter().all(|missing| missing.is_told));
    // Each call that ends has begun, or was running.
    let mut calls: HashMap<u64, Vec<u32>> = HashMap::new();
    let (mut last, mut running) = (0, 0);
    for_each(&log, |event| {
        let calls = calls.entry(event.thread).or_default();
        match event.kind() {
            Kind::Enter => {
                last = last.max(event.ints().first().copied().unwrap_or(0));
                calls.push(event.id);
            }
            Kind::Going => {
                running += 1;
                calls.push(event.id);
            }
            Kind::Exit => assert_eq!(calls.pop(), Some(event.id)),
            _ => {}
        }
    });
    assert!(last >= 5_999_999, "{last}");
    assert!(running >= 2, "{running}");
    assert!(calls.values().all(Vec::is_empty), "{calls:?}");
    let said = Command::new(hindsight())
        .arg("events")
        .arg(workplace.join("out"))
        .args(["--limit", "20"])
        .output()
        .expect("hindsight runs");
    assert!(said.status.success(), "{}", both(&said));
    assert!(
        text(&said.stdout).contains("Ends.work is running"),
        "{}",
        both(&said)
    );
    let note = "deleted to keep to max-trace: what was running then is told";
    assert!(text(&said.stderr).contains(note), "{}", both(&said));
}

/// Where the stack ends, what probes could not tell is counted, and calls keep their nesting.
#[test]
fn the_end_of_the_stack() {
    for jdk in jdks() {
        for mode in [&["-Xint"][..], &[]] {
            let workplace = Workplace::new(&format!("trace-deep-{}", jdk.version));
            let classes = workplace.compile(jdk, &[], &[source("Deep.java")]);
            let ran = workplace
                .java_with_agent(jdk, "mode=trace")
                .args(mode)
                .args(["-Xss400k", "-cp"])
                .arg(&classes)
                .arg("Deep")
                .output()
                .expect("java runs");
            let label = format!("JDK {} {mode:?}", jdk.version);
            assert!(ran.status.success(), "{label}: {}", both(&ran));
            let log = open(&workplace);
            let stop = log.dictionary.stop.clone().expect("it ended in good order");
            assert!(stop.stack_ends >= 60, "{label}: {}", stop.stack_ends);
            let method = |id| {
                let (_, method) = log.dictionary.method(id).expect("a method");
                method.name.as_str()
            };
            let mut calls: Vec<u32> = Vec::new();
            let (mut marks, mut lost) = (Vec::new(), 0);
            for_each(&log, |event| match event.kind() {
                Kind::Enter => {
                    if method(event.id) == "mark" {
                        marks.push(event.ints()[0]);
                        // What catches the error and ends by it again may seem to run until the next one.
                        let mut outer = calls.iter().map(|&id| method(id));
                        let is_over = |name: &str| name == "main" || name == "careful";
                        assert!(outer.all(is_over), "{label}: mark {marks:?}");
                    }
                    calls.push(event.id);
                }
                Kind::Exit | Kind::Unwind => {
                    if let Some(at) = calls.iter().rposition(|&call| call == event.id) {
                        calls.truncate(at);
                    }
                }
                Kind::Caught => {
                    if let Some(at) = calls.iter().rposition(|&call| call == event.id) {
                        calls.truncate(at + 1);
                    }
                }
                Kind::Lost => {
                    lost += event.longs()[0] as u64;
                    calls.clear();
                }
                _ => {}
            });
            let all: Vec<i32> = marks.iter().copied().filter(|&mark| mark >= 0).collect();
            assert_eq!(all, (0..=60).collect::<Vec<_>>(), "{label}");
            assert!(lost <= stop.lost, "{label}: {lost} of {}", stop.lost);
            eprintln!(
                "{label}: {} ends, {lost} of {} lost told",
                stop.stack_ends, stop.lost
            );
        }
    }
}

/// A full disk costs events, not the program.
#[test]
fn a_full_disk() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("trace-full-disk");
    let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
    let disk = workplace.join("disk");
    fs::create_dir_all(&disk).expect("a directory");
    let script = format!(
        "mount -t tmpfs -o size=5500k tmpfs {disk} || exit 77
         {java} -agentpath:{agent}=mode=trace,out={disk} -cp {classes} Ends exit 6000000
         echo status $?
         {hindsight} stats {disk} || exit 1
         {hindsight} events {disk} --limit 100000 --quiet | tail -1
         umount {disk}; mount -t tmpfs -o size=100k tmpfs {disk} || exit 77
         {java} -agentpath:{agent}=mode=trace,out={disk} -cp {classes} Ends exit 10
         echo status $? with $(ls {disk})
         grep -e not_started -e ended_ms {disk}/run.json
         rm {disk}/*; cat /dev/zero >{disk}/full
         {java} -agentpath:{agent}=mode=trace,out={disk} -cp {classes} Ends exit 10
         echo status $? with $(ls {disk})",
        disk = disk.display(),
        java = jdk.tool("java").display(),
        agent = agent().display(),
        classes = classes.display(),
        hindsight = hindsight().display(),
    );
    let ran = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .output();
    let Ok(ran) = ran else { return };
    if ran.status.code() == Some(77) || text(&ran.stderr).contains("unshare:") {
        eprintln!(
            "the full disk is not tested: no rights to mount one ({})",
            text(&ran.stderr).trim()
        );
        return;
    }
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    assert!(ran.status.success(), "{}", both(&ran));
    assert!(stdout.starts_with("worked\nstatus 3\n"), "{}", both(&ran));
    assert_eq!(
        stderr.matches("events are lost").count(),
        1,
        "{}",
        both(&ran)
    );
    assert!(!stdout.contains("damaged"), "{}", both(&ran));
    // The end has found room: whose events they were.
    assert!(
        stdout.contains(" events were lost while recording, texts of objects included\n"),
        "{}",
        both(&ran)
    );
    for of in [" (main): ", " (other): "] {
        let mut lines = stdout.lines().filter(|line| line.starts_with("lost: "));
        let is_told = lines.any(|line| {
            line.contains(of)
                && (line.contains("its end, behind stamp") || line.contains("from its block"))
        });
        assert!(is_told, "{of}: {}", both(&ran));
    }
    assert!(stdout.contains("Ends.step"), "{}", both(&ran));
    // Nothing that looks like a recording is left of one that could not begin, but why, if there is room.
    let (_, second) = stdout
        .split_once("status 3 with run.json\n")
        .expect(&stdout);
    let none = "cannot make room for events";
    assert!(second.contains(none), "{}", both(&ran));
    assert!(!second.contains("null"), "{}", both(&ran));
    assert!(
        second.ends_with("worked\nstatus 3 with full\n"),
        "{}",
        both(&ran)
    );
    let told: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("nothing will be recorded"))
        .collect();
    assert_eq!(told.len(), 2, "{}", both(&ran));
    for line in told {
        assert!(line.contains("No space left on device"), "{}", both(&ran));
        // Of which there are none.
        assert!(line.ends_with(" (the program goes on)"), "{}", both(&ran));
    }
}

/// A heap that has no room for the probes is left to the program, and the reason is told.
#[test]
fn a_heap_without_room_for_a_trace() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-small-heap");
        let classes = workplace.compile(jdk, &[], &[source("Ends.java")]);
        let ran = workplace
            .java_with_agent(jdk, "mode=trace")
            .arg("-Xmx4m")
            .arg("-cp")
            .arg(&classes)
            .args(["Ends", "exit", "10"])
            .output()
            .expect("java runs");
        let label = format!("JDK {}: {}", jdk.version, both(&ran));
        assert_eq!(ran.status.code(), Some(3), "{label}");
        assert_eq!(text(&ran.stdout), "worked\n", "{label}");
        let why = "the heap is too small: it has ";
        assert!(text(&ran.stderr).contains(why), "{label}");
        let run = workplace.run_json();
        assert_eq!(run["counters"]["agent_not_started"], 1, "{label}: {run}");
        assert!(
            run["not_started"].to_string().contains(why),
            "{label}: {run}"
        );
        assert!(run["ended_ms"].is_number(), "{label}: {run}");
        assert!(!workplace.join("out/trace").exists(), "{label}");
    }
}
