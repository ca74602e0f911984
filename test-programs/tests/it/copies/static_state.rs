//! Static state: recorded, set by the tests that need it, and restored.

use super::plans::plan;
use super::*;

/// The values of static fields at the failure are set before the call, and restored after it.
#[test]
fn static_state_is_recorded_and_set() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Settings", "", &[]);
        let found = verdicts(jdk, &workplace);
        assert!(reproduces(&found["check"]), "{found:?}");
        let tests = workplace.join("tests/src/test/java/SettingsCrash0001Test.java");
        let tests = fs::read_to_string(tests).unwrap();
        assert!(tests.contains("setStatics()"), "{tests}");
        let failure = &workplace.crashes()[0].failure;
        let names: Vec<_> = failure
            .statics
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        assert_eq!(names, ["last", "ALL"]);
    }
}

/// Fields of enum constants are as at entry, and tests restore the previous values.
#[test]
fn enum_constants_have_state() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Constants", "copy=deep", &[]);
        let crash = &workplace.crashes()[0];
        let frames = &crash.failure.frames;
        for method in ["add", "run"] {
            let frame = frame(frames, method);
            let whole = (Fidelity::Deep, "");
            assert_eq!((frame.fidelity, frame.reason.as_str()), whole, "{method}");
        }
        let run = frame(frames, "run");
        let object = |value: Value| match value {
            Value::Ref(object) => object,
            other => panic!("{other:?} in {crash:?}"),
        };
        let [job, registry] = [0, 1].map(|at| object(run.arguments[at].value));
        let level = object(at_entry(crash, run, job, "level"));
        let weight = at_entry(crash, run, level, "weight");
        let rounds = at_entry(crash, run, registry, "rounds");
        assert_eq!((weight, rounds), (Value::Int(3), Value::Int(2)));

        let found = verdicts(jdk, &workplace);
        assert!(reproduces(&found["add"]), "{found:?}");
        assert!(reproduces(&found["run"]), "{found:?}");
        let tests = workplace.join("tests/src/test/java/ConstantsCrash0001Test.java");
        let tests = fs::read_to_string(tests).unwrap();
        assert!(tests.contains("setStatics()"), "{tests}");
        assert!(tests.contains("weight (at entry) = 3"), "{tests}");

        let shown = Command::new(hindsight())
            .arg("inspect")
            .arg(&workplace.crash_files()[0])
            .output()
            .unwrap();
        let shown = text(&shown.stdout);
        assert!(shown.contains("weight (at entry)"), "{shown}");
    }
}

/// Tests that leave static state behind fail in one JVM, too.
#[test]
fn tests_of_one_suite_do_not_influence_each_other() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Once", "", &[]);
        let found = verdicts(jdk, &workplace);
        for method in ["start", "load", "boot", "main"] {
            assert!(reproduces(&found[method]), "{method}: {found:?}");
            assert!(!found[method].contains("in one JVM"), "{method}: {found:?}");
        }
        let tests = workplace.join("tests/src/test/java/OnceCrash0001Test.java");
        let tests = fs::read_to_string(tests).unwrap();
        let keeps = tests
            .matches("Statics.keep(OnceCrash0001Test.class, ")
            .count();
        assert_eq!(keeps, 4, "{tests}");
    }
}

/// In a run with several crashes, tests keep the state that others need, and no more: not those
/// that leave nothing, nor where it does not help, as with a class that could not be initialised.
#[test]
fn what_does_not_help_is_not_in_a_test() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("copies-Guarded");
    let source = root().join("test-programs/copies/Guarded.java");
    let classes = workplace.compile(jdk, &["--release", "11"], &[source]);
    let run = workplace
        .java_with_agent(jdk, "")
        .arg("-cp")
        .arg(&classes)
        .arg("Guarded")
        .output()
        .expect("java runs");
    assert_eq!(workplace.crash_files().len(), 4, "{}", both(&run));
    let output = workplace.junit(jdk, &classes).output().expect("junit runs");
    let told = text(&output.stdout);
    assert!(output.status.success(), "{}", both(&output));
    let alone: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("in one JVM"))
        .collect();
    assert!(!alone.is_empty(), "{told}");
    for line in alone {
        assert!(line.contains("ExceptionInInitializerError"), "{told}");
    }
    let test = |number: u32| {
        let file = format!("tests/src/test/java/GuardedCrash000{number}Test.java");
        fs::read_to_string(workplace.join(file)).expect("a test")
    };
    assert!(test(1).contains("\"Guarded$Guard\""), "{}", test(1));
    let remark = "// Reproduces in a JVM of its own:";
    assert!(test(3).contains(remark), "{}", test(3));
    assert!(!test(1).contains(remark), "{}", test(1));
    for unconcerned in [2, 3] {
        let source = test(unconcerned);
        assert!(!source.contains("Statics"), "{source}");
    }
    assert!(test(4).contains("\"Guarded$Guard\""), "{}", test(4));
}

/// Static state comes from the crash file although no argument does; if properties suffice, it is
/// left out. Another person's file is not overwritten.
#[test]
fn a_test_has_the_state_that_it_needs() {
    let jdk = &jdks()[0];
    let workplace = record(jdk, "Worn", "", &[]);
    let found = verdicts(jdk, &workplace);
    assert!(reproduces(&found["next"]), "{found:?}");
    let state = workplace.join("tests/src/test/resources/crash-0001.hsc");
    assert!(state.is_file());
    let test = workplace.join("tests/src/test/java/WornCrash0001Test.java");
    let text = fs::read_to_string(&test).expect("a test");
    assert!(text.contains(".withStatics()"), "{text}");
    fs::write(&test, "// mine\n").expect("a file");
    let refused = Command::new(hindsight())
        .arg("junit")
        .arg(&workplace.crash_files()[0])
        .arg("--classpath")
        .arg(workplace.join("classes"))
        .arg("--out")
        .arg(workplace.join("tests"))
        .output()
        .expect("hindsight runs");
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        told.contains("WornCrash0001Test.java is there and not ours"),
        "{told}"
    );
    let workplace = record(jdk, "Worn", "", &["x"]);
    let found = verdicts(jdk, &workplace);
    assert!(reproduces(&found["workers"]), "{found:?}");
    assert!(!workplace.join("tests/src/test/resources").exists());
}

#[test]
fn a_plan_says_which_static_fields_matter() {
    let jdk = &jdks()[0];
    let without = record(jdk, "Settings", "", &["compute"]);
    assert!(!reproduces(&verdicts(jdk, &without)["compute"]));
    let file = plan(&without, jdk, &without.join("classes"));
    let option = format!("plan={}", file.display());
    let with = record(jdk, "Settings", &option, &["compute"]);
    let found = verdicts(jdk, &with);
    assert!(reproduces(&found["compute"]), "{found:?}");
    let failure = &with.crashes()[0].failure;
    let mut names: Vec<_> = failure
        .statics
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    names.sort_unstable();
    // These are the fields that `main` and its callees may read, without constants.
    assert_eq!(names, ["ALL", "LIMITS", "last", "rounds"]);
    let file = fs::read(&with.crash_files()[0]).unwrap();
    let whole = format!("{:?}", Crash::read(&file).unwrap());
    assert!(!whole.contains("hunter2"));
}

/// The fields that an initialiser reads are stored with all methods that may run it: a later use of
/// a class that has failed only says that it has.
#[test]
fn a_plan_has_what_initialisers_read() {
    const PROGRAM: &str = r#"
public class Started {
    static String text = "1";
    static class Lazy {
        static final int NUMBER = Integer.parseInt(Started.text);
        int divided(int by) {
            return 1 / by;
        }
    }
    static class Service {
        int use(int by) {
            return new Lazy().divided(by);
        }
    }
    public static void main(String[] args) throws Exception {
        text = "x";
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> new Service().use(1));
            thread.start();
            thread.join();
        }
    }
}
"#;
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("copies-started");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Started", PROGRAM);
        let file = plan(&workplace, jdk, &classes);
        let option = format!("plan={}", file.display());
        let (_, run) = workplace.run_text(jdk, "11", &option, ("Started", PROGRAM));
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 2, "{}", both(&run));
        for crash in &crashes {
            let names: Vec<_> = (crash.failure.statics.iter())
                .map(|field| field.name.as_str())
                .collect();
            assert_eq!(names, ["text"]);
        }
        let (output, report) = reported(&mut workplace.junit(jdk, &classes));
        for crash in report["crashes"].as_array().expect("crashes") {
            let mut frames = crash["frames"].as_array().expect("frames").iter();
            let used = frames.find(|frame| frame["method"] == "use");
            let verdict = used.map(|frame| &frame["verdict"]);
            assert_eq!(verdict, Some(&"reproduces".into()), "{}", both(&output));
        }
    }
}
