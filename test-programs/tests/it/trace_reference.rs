//! Compares what a reference recorder in plain Java records of programs with what ours does: the
//! same, event by event.

use hindsight_instrument::contract::trace::Probe;
use hindsight_instrument::{TracePlan, What, trace};
use hindsight_test_programs::traces::{for_each, open};
use hindsight_test_programs::{Jdk, Workplace, both, jdks, root};
use hindsight_tracelog::trace::Log;
use hindsight_tracelog::trace::kind::{Kind, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

fn source(name: &str) -> PathBuf {
    root().join("test-programs/trace").join(name)
}

/// A program of the instrumenter's tests, which come with a driver.
fn instrument_source(name: &str) -> PathBuf {
    root().join("crates/instrument/tests/it/java").join(name)
}

/// One event of a thread: its name, the meaning of its id, its values.
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

/// The meaning of ids, with the names of all three sorts.
#[derive(Default)]
struct Names {
    methods: HashMap<u32, String>,
    fields: HashMap<u32, String>,
    callees: HashMap<u32, String>,
}

impl Names {
    fn of(&self, event: &str, id: u32) -> String {
        let names = match event {
            // It continues whatever event was before.
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

/// The events that the reference recorder records of a program, and its strings.
fn reference(
    workplace: &Workplace,
    case: &Case<'_>,
    driver: &Path,
    classes: &Path,
) -> (ByThread, HashMap<u64, String>) {
    let Case {
        jdk,
        program,
        options,
        ..
    } = *case;
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
            what: &|_, _| case.what,
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
        .verifying_java()
        .arg("-Xss512k")
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

/// The events that our recorder records of a program, and its strings.
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
        if matches!(event.kind(), Kind::Store | Kind::Load)
            && event.layout().value == Value::Reference
        {
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

/// A program for both recorders.
struct Case<'a> {
    jdk: &'a Jdk,
    /// The release of Java for which it is compiled.
    release: &'a str,
    program: &'a str,
    source: PathBuf,
    /// The options of the JVM.
    options: &'a [&'a str],
    what: What,
}

impl<'a> Case<'a> {
    fn new(jdk: &'a Jdk, program: &'a str, source: PathBuf) -> Self {
        Self {
            jdk,
            release: "17",
            program,
            source,
            options: &[],
            what: What::CALLS_AND_WRITES,
        }
    }
}

/// Runs a program with both recorders and compares them, event by event.
fn agree(case: &Case<'_>) -> Log<Vec<u8>> {
    let Case {
        jdk,
        program,
        options,
        ..
    } = *case;
    let workplace = Workplace::new(&format!("trace-{program}"));
    let release = ["--release", case.release];
    let driver = workplace.compile(jdk, &release, &[instrument_source("Driver.java")]);
    let driver_dir = workplace.join("driver");
    fs::rename(&driver, &driver_dir).expect("a directory moves");
    let classes = workplace.compile(jdk, &release, slice::from_ref(&case.source));
    let (expected, expected_strings) = reference(&workplace, case, &driver_dir, &classes);

    let path = std::env::join_paths([classes.as_path(), &driver_dir]).expect("plain paths");
    let ran = workplace
        .java_with_agent(
            jdk,
            &format!("mode=trace,exclude=Driver,trace-what={}", case.what),
        )
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
    // The objects are the same, with other numbers.
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
                    // What threads count together depends on which was first.
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
    // Texts are values, too.
    for (number, text) in expected_strings.iter().filter(|_| case.what.values) {
        let ours = strings.get(&there[number]).expect("the text of a string");
        let shown = ours.replace('\n', "\\n").replace('\t', "\\t");
        assert!(text.starts_with(&shown) && (shown == *text || ours.len() >= 256));
    }
    log
}

#[test]
fn agrees_with_the_reference() {
    for jdk in jdks() {
        agree(&Case::new(jdk, "Traced", instrument_source("Traced.java")));
        agree(&Case::new(jdk, "Threads", source("Threads.java")));
    }
}

/// They agree whatever part is asked for.
#[test]
fn agrees_with_the_reference_about_a_part() {
    for jdk in jdks() {
        for what in [
            "calls;writes;reads;values",
            "reads",
            "writes",
            "calls;writes",
        ] {
            let what = What::parse(what).expect("a list of events");
            agree(&Case {
                what,
                ..Case::new(jdk, "Traced", instrument_source("Traced.java"))
            });
        }
    }
}

/// They agree on code that is compiled at its first call.
#[test]
fn agrees_with_the_reference_when_compiled() {
    let options = [
        "-Xcomp",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=compileonly,Traced*.*",
        "-XX:CompileCommand=compileonly,java/lang/Hindsight*.*",
    ];
    for jdk in jdks() {
        agree(&Case {
            options: &options,
            ..Case::new(jdk, "Traced", instrument_source("Traced.java"))
        });
    }
}

/// They agree on virtual threads, whichever carriers these have continued on.
#[test]
fn agrees_with_the_reference_about_virtual_threads() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        for carriers in [1, 4] {
            let options = format!("-Djdk.virtualThreadScheduler.parallelism={carriers}");
            let log = agree(&Case {
                release: "21",
                options: &[&options],
                ..Case::new(jdk, "Mounted", source("Mounted.java"))
            });
            let mut streams: HashMap<u64, BTreeSet<u64>> = HashMap::new();
            for (place, block) in log.blocks().iter().enumerate() {
                let mut events = log.events(&[place]);
                while let Some(event) = events.next_event() {
                    let event = event.expect("a sound event");
                    if event.is_virtual {
                        let streams = streams.entry(event.thread).or_default();
                        streams.insert(block.header.stream);
                    }
                }
            }
            let moved = streams.values().filter(|of| of.len() > 1).count();
            assert_eq!(moved > 0, carriers > 1, "{moved} of {}", streams.len());
        }
    }
}
