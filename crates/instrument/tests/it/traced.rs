//! Runs programs with the probes of traces on real JVMs, with the full verifier: tests what they
//! record, that it makes sense, and that they still do the same.
//!
//! The recorder is `HindsightTrace.java`, which is slow and simple.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use hindsight_instrument::contract::trace::Probe;
use hindsight_instrument::{SkipReason, TracePlan, What, trace};

use crate::far::wide_jumps;
use crate::replay::{Names, Replayed, replay};
use crate::support::{self, Jdk};
use crate::workshop::{age, check_golden, fresh_dir, java_dir, javac, run};

const EVERYTHING: What = What {
    reads: true,
    ..What::CALLS_AND_WRITES
};

/// A program's classes.
struct Workplace {
    jdk: Jdk,
    dir: PathBuf,
    program: String,
}

/// The recorder's source, with all probes of the contract.
pub fn recorder() -> String {
    let mut probes = String::new();
    for probe in Probe::all() {
        let method = probe.method();
        let types: Vec<_> = method.descriptor[1..method.descriptor.len() - 2]
            .replace("Ljava/lang/Object;", "A")
            .replace("Ljava/lang/Throwable;", "T")
            .chars()
            .map(|kind| match kind {
                'A' => "Object",
                'T' => "Throwable",
                'I' => "int",
                'J' => "long",
                'F' => "float",
                _ => "double",
            })
            .collect();
        let parameters: Vec<_> = (types.iter().enumerate())
            .map(|(at, ty)| format!("{ty} p{at}"))
            .collect();
        let names: Vec<_> = (0..types.len()).map(|at| format!("p{at}")).collect();
        // Events of elements have no id.
        let (values, id) = match (probe, names.as_slice()) {
            (Probe::Store(_) | Probe::Load(_), values) => (values, "\"\"".to_owned()),
            (_, [values @ .., id]) => (values, format!("Integer.toString({id})")),
            _ => panic!("{probe:?} has no id"),
        };
        probes.push_str(&format!(
            "public static void {name}({}) {{ event(\"{name}\", new Object[] {{{}}}, {id}); }}\n",
            parameters.join(", "),
            values.join(", "),
            name = method.name,
        ));
    }
    let source = fs::read_to_string(java_dir().join("HindsightTrace.java"));
    source
        .expect("the recorder can be read")
        .replace("// @PROBES@", &probes)
}

/// Compiles the recorder and the driver, once for each JDK.
fn tools(jdk: &Jdk) -> PathBuf {
    static DONE: Mutex<BTreeMap<u32, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().expect("no other test failed at this");
    let make = || {
        let dir = fresh_dir(&format!("trace-tools-{}", jdk.feature));
        let source = dir.join("HindsightTrace.java");
        fs::write(&source, recorder()).expect("the recorder can be written");
        let source = source.to_str().expect("a plain path");
        let patch = format!("java.base={}", dir.display());
        javac(
            jdk,
            &dir.join("patch"),
            &["--patch-module", &patch],
            &[source],
        );
        javac(jdk, &dir.join("driver"), &[], &["Driver.java"]);
        dir
    };
    done.entry(jdk.feature).or_insert_with(make).clone()
}

impl Workplace {
    /// Compiles a program.
    fn new(jdk: &Jdk, program: &str, name: &str, release: &str) -> Self {
        let dir = fresh_dir(&format!("trace-{program}-{name}-{}", jdk.feature));
        let options = ["-g", "-Xlint:-options", "--release", release];
        javac(
            jdk,
            &dir.join("original"),
            &options,
            &[&format!("{program}.java")],
        );
        Self {
            jdk: jdk.clone(),
            dir,
            program: program.to_owned(),
        }
    }

    /// Gives the program's classes another version, and removes their stack maps if `strip`.
    fn age(self, major: u16, strip: bool) -> Self {
        for path in support::class_files(&self.dir.join("original")) {
            let bytes = fs::read(&path).expect("a class can be read");
            fs::write(&path, age(&bytes, major, strip)).expect("a class can be written");
        }
        self
    }

    /// Instruments the program's classes.
    fn instrument(&self, what: What) -> Names {
        let to = self.dir.join("traced");
        fs::create_dir_all(&to).expect("a directory can be made");
        let mut names = Names::default();
        for path in support::class_files(&self.dir.join("original")) {
            let bytes = fs::read(&path).expect("a class can be read");
            let plan = TracePlan {
                what: &|_, _| what,
                first_method: names.methods.len() as u32,
                first_field: names.fields.len() as u32,
                first_callee: names.callees.len() as u32,
                first_block: 0,
                tracer: hindsight_instrument::contract::trace::TRACE,
                is_secret: &|_| false,
            };
            let traced = trace(&bytes, &plan).expect("a compiled class can be instrumented");
            let less = traced.skipped.iter().chain(traced.reduced.iter());
            assert_eq!(less.collect::<Vec<_>>(), []);
            names.add(&traced);
            let file = to.join(path.file_name().expect("a file"));
            fs::write(file, traced.class.unwrap_or(bytes)).expect("a class can be written");
        }
        names
    }

    /// Runs the program with the classes of a directory. Returns its output.
    fn run(&self, classes: &str, options: &[&str]) -> String {
        let tools = tools(&self.jdk);
        let path = [self.dir.join(classes), tools.join("driver")];
        let path = std::env::join_paths(path).expect("plain paths");
        run(self
            .jdk
            .tool("java")
            .args(["-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg("--patch-module")
            .arg(format!("java.base={}", tools.join("patch").display()))
            .args(options)
            .arg("-cp")
            .arg(path)
            .args(["Driver", &self.program]))
    }

    /// Runs the program with its instrumented classes. Returns the events.
    fn trace(&self, expected: &str, options: &[&str]) -> String {
        let file = self.dir.join("events");
        let option = format!("-Dhindsight.trace={}", file.display());
        let mut with_file = vec!["-Xverify:all", &option];
        with_file.extend(options);
        assert_eq!(self.run("traced", &with_file), expected);
        fs::read_to_string(&file).expect("events were written")
    }
}

/// Runs a program with and without probes, and replays the events.
fn check(workplace: &Workplace, what: What, options: &[&str]) -> Replayed {
    let expected = workplace.run("original", &[]);
    let names = workplace.instrument(what);
    let events = workplace.trace(&expected, options);
    replay(&events, &names, what)
}

#[test]
fn the_events_are_as_expected() {
    for jdk in support::jdks() {
        let workplace = Workplace::new(&jdk, "Traced", "events", "17");
        let expected = workplace.run("original", &[]);
        let names = workplace.instrument(What::CALLS_AND_WRITES);
        // Without a recorder, nothing that was written is kept alive.
        assert_eq!(workplace.run("traced", &["-Xint"]), expected);
        let events = workplace.trace(&expected, &[]);
        let replayed = replay(&events, &names, What::CALLS_AND_WRITES);
        check_golden("Traced.txt", &replayed.text);
        assert!(replayed.gone.iter().all(|name| name.ends_with(".<init>")));
    }
}

#[test]
fn constructors_that_begin_early() {
    for jdk in support::jdks() {
        if jdk.feature < 25 {
            continue;
        }
        let workplace = Workplace::new(&jdk, "Flexible", "events", "25");
        let replayed = check(&workplace, EVERYTHING, &[]);
        check_golden("Flexible.txt", &replayed.text);
    }
}

/// Everything is recorded, little of it, and next to nothing, in code that is compiled at its first
/// call.
#[test]
fn whatever_is_told_the_program_stays_the_same() {
    let little = What {
        references: false,
        values: false,
        ..EVERYTHING
    };
    let no_calls = What {
        calls: false,
        values: false,
        ..EVERYTHING
    };
    let compiled = ["-Xcomp"];
    for jdk in support::jdks() {
        let workplace = Workplace::new(&jdk, "Traced", "compiled", "17");
        let expected = workplace.run("original", &[]);
        for what in [EVERYTHING, little, no_calls] {
            let names = workplace.instrument(what);
            let events = workplace.trace(&expected, &compiled);
            let replayed = replay(&events, &names, what);
            assert_eq!(replayed.text.contains("enter Traced.add"), what.calls);
            assert!(replayed.text.contains("get Traced.number Traced#"));
            assert_eq!(replayed.reads_checked > 50, what.values);
        }
    }
}

/// These are the programs on which the plan for crashes is tested.
#[test]
fn hazards_make_sense() {
    for jdk in support::jdks() {
        let hazards = |name| Workplace::new(&jdk, "Hazards", name, "8");
        let mut workplaces = vec![
            Workplace::new(&jdk, "Modern", "recent", "17"),
            hazards("recent"),
        ];
        // One JDK suffices for old versions, which no release changes any more.
        if jdk.feature == support::jdks()[0].feature {
            workplaces.push(hazards("50-stripped").age(50, true));
            workplaces.push(hazards("49-stripped").age(49, true));
        }
        for workplace in &workplaces {
            let replayed = check(workplace, EVERYTHING, &[]);
            assert!(replayed.text.lines().count() > 50);
        }
    }
}

/// Where the stack overflows, calls get lost, but only those that have ended.
#[test]
fn stack_overflows_do_no_harm() {
    for jdk in support::jdks() {
        let workplace = Workplace::new(&jdk, "Overflow", "overflow", "17");
        let replayed = check(&workplace, What::CALLS_AND_WRITES, &[]);
        assert!(
            replayed
                .text
                .contains("unwind Overflow.down StackOverflowError#")
        );
        assert!(
            replayed
                .text
                .ends_with("exit Overflow.overflows Boolean#1\n")
        );
    }
}

/// Probes make a body longer than 32 KB, so that its jump needs an island or a wide form; also
/// where the jump leads to the instruction after a write.
#[test]
fn far_jumps_find_their_way() {
    let jdk = support::jdks().remove(0);
    let dir = fresh_dir("trace-far");
    // Each takes six bytes, and its probe as many again.
    let writes = "a[1] = x;\n".repeat(4000);
    let source = format!(
        "class Far {{
            static int field;
            public static Object call() {{
                return forward(new int[2], 1) + \" \" + forward(new int[1], 2) + \" \"
                    + back(new int[2], 0);
            }}
            static int forward(int[] a, int x) {{
                if (a.length > 1) {{ {writes} field = 3; }}
                return field + a.length;
            }}
            static int back(int[] a, int x) {{
                do {{ x++; {writes} field = x; }} while (x < 2);
                return a[1] + x;
            }}
        }}"
    );
    let file = dir.join("Far.java");
    fs::write(&file, source).expect("a source can be written");
    let classes = dir.join("original");
    run(jdk.tool("javac").arg("-d").arg(&classes).arg(&file));
    let bytes = fs::read(classes.join("Far.class")).expect("a class can be read");
    let plan = TracePlan {
        what: &|_, _| What::CALLS_AND_WRITES,
        first_method: 0,
        first_field: 0,
        first_callee: 0,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|_| false,
    };
    let traced = trace(&bytes, &plan).expect("it is sound");
    assert!(traced.skipped.is_empty() && traced.reduced.is_empty());
    let class = traced.class.expect("it changes");
    assert_eq!((wide_jumps(&bytes), wide_jumps(&class)), (0, 3));
    fs::create_dir(dir.join("traced")).expect("a directory can be made");
    fs::write(dir.join("traced/Far.class"), class).expect("a class can be written");
    let program = "Far".to_owned();
    let workplace = Workplace { jdk, dir, program };
    let events = workplace.trace(&workplace.run("original", &[]), &[]);
    let count = |event: &str| events.lines().filter(|line| line.contains(event)).count();
    assert_eq!((count("store\t"), count("putStatic\t")), (3 * 4000, 3));
}

/// A method without room for recording its writes still records its calls.
#[test]
fn a_large_method_tells_of_its_calls() {
    let jdk = support::jdks().remove(0);
    let dir = fresh_dir("trace-large");
    let elements = "1234, ".repeat(5000);
    let source = format!(
        "class Large {{
            static int field;
            public static Object large() {{ int[] a = {{ {elements} }}; field = 1; return a[4999]; }}
            public static Object other() {{ field = 2; return large(); }}
        }}"
    );
    let file = dir.join("Large.java");
    fs::write(&file, source).expect("a source can be written");
    run(jdk
        .tool("javac")
        .arg("-d")
        .arg(dir.join("original"))
        .arg(&file));
    let path = dir.join("original/Large.class");
    let bytes = fs::read(&path).expect("a class can be read");
    let plan = |what| TracePlan {
        what,
        first_method: 7,
        first_field: 8,
        first_callee: 9,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|_| false,
    };
    let traced = trace(&bytes, &plan(&|_, _| What::CALLS_AND_WRITES)).expect("it is sound");
    let large = ("large", SkipReason::TooLarge);
    let reduced: Vec<_> = (traced.reduced.iter())
        .map(|method| (method.name, method.reason))
        .collect();
    assert_eq!((reduced, traced.skipped.len()), (vec![large], 0));
    let ids: Vec<_> = traced.methods.iter().map(|method| method.id).collect();
    assert_eq!(ids, [7, 8, 9]);
    fs::create_dir(dir.join("traced")).expect("a directory can be made");
    let class = traced.class.as_ref().expect("it changes");
    fs::write(dir.join("traced/Large.class"), class).expect("a class can be written");
    let workplace = Workplace {
        jdk,
        dir,
        program: "Large".to_owned(),
    };
    let events = workplace.trace(&workplace.run("original", &[]), &[]);
    let events: Vec<_> = events
        .lines()
        .map(|line| line.replace("main\t", ""))
        .collect();
    assert_eq!(
        events,
        [
            "enter\t8",
            "exit\t8\t1234",
            "enter\t9",
            "putStatic\t8\t2",
            "enter\t8",
            "exit\t8\t1234",
            "exit\t9\t1234",
        ]
    );

    // With writes alone, nothing of it is recorded.
    let no_calls = |_: &str, _: &str| What {
        calls: false,
        ..What::CALLS_AND_WRITES
    };
    let traced = trace(&bytes, &plan(&no_calls)).expect("it is sound");
    let skipped = traced
        .skipped
        .iter()
        .map(|method| (method.name, method.reason));
    assert_eq!(skipped.collect::<Vec<_>>(), [large]);
    let methods: Vec<_> = traced.methods.iter().map(|method| method.name).collect();
    assert_eq!(methods, ["other"]);
}
