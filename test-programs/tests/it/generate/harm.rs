//! What a program under test cannot do: do harm, wait for ever, outlive its tests.

use super::{compile, generate, json, passes, record, run, written};
use hindsight_test_programs::{Jdk, Workplace, hindsight, jdks, jdks_in_turn, root, text};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

#[test]
fn a_program_cannot_harm() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-hostile");
        let victim = workplace.join("victim");
        fs::write(&victim, "precious").expect("a file");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Harm.java"))
            .expect("a source");
        let source = source.replace("@VICTIM@", &format!("{:?}", victim.display().to_string()));
        workplace.compile_text(jdk, &[], "Harm", &source);
        let report = json(&run(
            jdk,
            &workplace,
            &[
                "generate",
                "--universal",
                "--classpath",
                "classes",
                "--sequences",
                "150",
                "--timeout",
                "1",
                "--out",
                "tests",
                "--format",
                "json",
            ],
        ));
        let searched = &report["searched"];
        assert!(searched["blocked"].as_u64() >= Some(8), "{report}");
        assert!(searched["lost"].as_u64() >= Some(2), "{report}");
        assert_eq!(
            fs::read_to_string(&victim).expect("it is there"),
            "precious"
        );
        assert!(!workplace.join("victim.touched").exists());
        let sources = written(&workplace, "tests");
        assert!(sources.contains("harmless("), "{sources}");
        for (value, call) in [
            ("size 2", ".scratch()"),
            ("1 and two", ".scratchFormat()"),
            ("127.0.0.1", ".figures()"),
        ] {
            let asserted =
                |line: &str| line.contains(&format!("(\"{value}\", ")) && line.contains(call);
            assert!(sources.lines().any(asserted), "{call}: {sources}");
        }
        for harm in [
            "exit",
            "halt",
            "delete",
            "overwrite",
            "process",
            "connect",
            "forever",
            "deadlock",
            "memory",
            "time()",
            "name()",
            "format()",
            "formatInCharset",
            "formatFile",
            "resolve",
            "tick()",
            "log()",
            "readInput",
            "leave",
            "afterAll",
            "afterwards",
        ] {
            assert!(!sources.contains(harm), "{harm}: {sources}");
        }
    }
}

/// Methods that a class inherits from the JDK's, and those that are reached without a call that
/// names them.
#[test]
fn a_program_cannot_harm_by_detours() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-sly");
        let victim = workplace.join("victim");
        fs::write(&victim, "precious").expect("a file");
        let written_at = || fs::metadata(&victim).and_then(|file| file.modified()).ok();
        let before = written_at();
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Sly.java"))
            .expect("a source");
        let text = |path: &Path| format!("{:?}", path.display().to_string());
        let source = source
            .replace("@VICTIM@", &text(&victim))
            .replace("@CLASSES@", &text(&workplace.join("classes")));
        workplace.compile_text(jdk, &["-nowarn"], "Sly", &source);
        let arguments = [
            "generate",
            "--universal",
            "--classpath",
            "classes",
            "--sequences",
            "400",
            "--timeout",
            "5",
            "--out",
            "tests",
            "--format",
            "json",
        ];
        let report = json(&run(jdk, &workplace, &arguments));
        let sources = written(&workplace, "tests");
        let precious = fs::read_to_string(&victim).unwrap_or_default();
        assert_eq!(precious, "precious", "{report}");
        assert_eq!(written_at(), before, "{report}");
        let files = fs::read_dir(workplace.join(".")).expect("a directory");
        for file in files {
            let name = file.expect("a file").file_name();
            assert!(!name.to_string_lossy().contains("touched"), "{name:?}");
        }
        assert!(
            report["searched"]["blocked"].as_u64() >= Some(30),
            "{report}"
        );
        // Allowed deletions happen, by the class's own method.
        assert!(sources.contains("deleted true, exists false"), "{sources}");
        assert!(sources.contains("archive of 1"), "{sources}");
        for harm in [
            "deleteDocument(",
            "deletePaper(",
            "deleteBy",
            "deleteIn",
            "overwrite",
            "touch",
            "like",
            "pipe(",
            "reach",
        ] {
            assert!(!sources.contains(harm), "{harm}: {sources}");
        }
    }
}

/// No guard sees what the JDK does internally at the program's request: the kernel refuses it.
#[test]
fn a_program_cannot_harm_where_no_guard_stands() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-unseen");
        let victim = workplace.join("victim");
        fs::write(&victim, "precious").expect("a file");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Unseen.java"))
            .expect("a source");
        let source = source
            .replace("@VICTIM@", &format!("{:?}", victim.display().to_string()))
            .replace("@PORT@", &format!("{:?}", port.to_string()));
        workplace.compile_text(jdk, &[], "Unseen", &source);
        let arguments =
            "generate --universal --classpath classes --sequences 200 --timeout 5 --out tests";
        let arguments: Vec<&str> = arguments.split(' ').chain(["--format", "json"]).collect();
        let report = json(&run(jdk, &workplace, &arguments));
        let sources = written(&workplace, "tests");
        assert!(sources.contains("harmless()"), "{sources}");
        assert!(sources.contains("\"there true\""), "{sources}");
        assert!(sources.contains("authorize()"), "{sources}");
        let confined = report["confined"]
            .as_array()
            .expect("what the kernel guards");
        if !confined.contains(&"files".into()) {
            eprintln!(
                "not checked: this kernel guards no files (it has no Landlock, or an old one)"
            );
            continue;
        }
        let precious = fs::read_to_string(&victim).unwrap_or_default();
        assert_eq!(precious, "precious", "{report}");
        assert!(!workplace.join("victim.touched").exists());
        assert!(
            report["searched"]["blocked"].as_u64() >= Some(5),
            "{report}"
        );
        // This holds even if the program catches the exception.
        for harm in ["overwrite(", "make(", "makeOr(", "remove(", "log(", "hush("] {
            assert!(!sources.contains(harm), "{harm}: {sources}");
        }
        if confined.contains(&"tcp".into()) {
            let reached = listener.accept().map(drop).map_err(|why| why.kind());
            assert_eq!(reached, Err(ErrorKind::WouldBlock), "{report}");
            assert!(!sources.contains("connect("), "{sources}");
        }
    }
}

/// An exception that does not reveal its kind, and threads that are stopped, do not stop the
/// search.
#[test]
fn a_program_cannot_keep_the_search_waiting() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-stuck");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Stuck.java"))
            .expect("a source");
        workplace.compile_text(jdk, &["-nowarn"], "Stuck", &source);
        let started = Instant::now();
        let arguments = ["--universal", "--time", "6"];
        let sources = generate(jdk, &workplace, "tests", &arguments);
        // A busy machine takes some times as long; waiting for a silent worker takes longer.
        assert!(started.elapsed() < Duration::from_secs(80), "{sources}");
        assert!(sources.contains("harmless("), "{sources}");
        // What works has its tests before what does not has used its time.
        assert!(sources.contains(".size()"), "{sources}");
        for stuck in ["fall(", "stopOthers(", "await("] {
            assert!(!sources.contains(stuck), "{stuck}: {sources}");
        }
    }
}

/// With a seed, the search finds the same again for a program that asks clocks and random numbers.
#[test]
fn clocks_do_not_change_what_is_found() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-stamped");
        let source = fs::read_to_string(root().join("test-programs/palulu/hostile/Stamped.java"))
            .expect("a source");
        workplace.compile_text(jdk, &[], "Stamped", &source);
        let arguments = ["--universal", "--seed", "3", "--sequences", "300"];
        let first = generate(jdk, &workplace, "first", &arguments);
        let second = generate(jdk, &workplace, "second", &arguments);
        assert!(first.contains(".draw("), "{first}");
        assert_eq!(first, second);
        for chance in [".now()", ".number()", ".throwDice()", ".bonus()"] {
            let asserted = |line: &str| line.contains("assert") && line.contains(chance);
            assert!(!first.lines().any(asserted), "{chance}: {first}");
        }
    }
}

/// Tests write no files where they run, and cover constructors that refuse.
#[test]
fn files_where_a_test_runs_are_safe() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "careful", "careful.Careful");
        let observed = ["--observed", "--trace", "out"];
        let sources = generate(jdk, &workplace, "observed", &observed);
        for good in [
            "new Careful.Money(-1)",
            "negative: -1",
            "discardTemporary()",
        ] {
            assert!(sources.contains(good), "{good}: {sources}");
        }
        assert!(!sources.contains("discard()"), "{sources}");
        let along = ["--model", "model.json", "--sequences", "400"];
        let sources = generate(jdk, &workplace, "generated", &along);
        assert!(sources.contains("discardTemporary()"), "{sources}");
        assert!(!sources.contains("discard()"), "{sources}");
    }
}

/// Guarded calls have the same answers as in the JDK, and shared state is restored after each test.
#[test]
fn guards_answer_as_the_jdk_does() {
    const ODD: &str = r#"
        import java.io.*;
        public class Odd {
            private final Thread hook = new Thread();
            public Odd() { Runtime.getRuntime().addShutdownHook(hook); }
            public boolean stop() { return Runtime.getRuntime().removeShutdownHook(hook); }
            public static boolean makesFolder() { return new File("a\0b").mkdirs(); }
            public static String save() {
                try (Writer writer = new FileWriter("a\0b")) { return "saved"; }
                catch (IOException e) { return "refused"; }
            }
            public static boolean isDate() { return new java.util.Date().getClass() == java.util.Date.class; }
            public static int drop(int number) {
                Thread.currentThread().setContextClassLoader(null);
                return number;
            }
        }"#;
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-odd");
        workplace.compile_text(jdk, &[], "Odd", ODD);
        let how = ["--universal", "--sequences", "150"];
        let sources = generate(jdk, &workplace, "tests", &how);
        for told in [
            "assertTrue(odd.stop())",
            "assertFalse(Odd.makesFolder())",
            "assertEquals(\"refused\", Odd.save())",
        ] {
            assert!(sources.contains(told), "{told}: {sources}");
        }
        assert!(!sources.contains("drop("), "{sources}");
        // A replacement class is not asserted, if the kernel guards files.
        assert!(!sources.contains("assertFalse(Odd.isDate())"), "{sources}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// An endless sequence costs little of the time: it is stopped in the middle, in a JVM that
/// continues; the parts from which it is built are left alone, and not the methods that it has
/// called.
#[test]
fn what_has_no_end_costs_little() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "ring", "ring.Main");
        search_what_has_no_end(jdk, &workplace, "ring.Link", &[".length()", ".sum()"]);
    }
}

/// So does a waiting one, which reaches no place where it could be stopped unless it is
/// interrupted.
#[test]
fn what_waits_for_ever_costs_little() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "mail", "mail.Main");
        search_what_has_no_end(jdk, &workplace, "mail.Box", &[".count()", ".first()"]);
    }
}

/// How far other threads have got is a matter of chance: what shows that is not asserted, and what
/// waits for them is.
#[test]
fn what_other_threads_do_is_told_where_it_is_waited_for() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "later", "later.Main");
        let search = [
            &[
                "generate",
                "--model",
                "model.json",
                "--classpath",
                "classes",
            ][..],
            &["--classes", "later.*", "--sequences", "2000"],
            &["--out", "tests", "--format", "json"],
        ];
        let report = json(&run(jdk, &workplace, &search.concat()));
        let tests = written(&workplace, "tests");
        assert!(tests.contains(".send(5)"), "{tests}");
        for test in tests.split("@Test").skip(1) {
            for (does, tells) in [
                (".answer(", ".answered()"),
                (".file(", ".filed()"),
                (".copy(", ".copied()"),
            ] {
                let told = test.split(does).skip(1).any(|after| after.contains(tells));
                assert!(!told, "{test}");
            }
        }
        // Nearly all are known before the tests are run as a whole: on a machine in use a thread
        // may have been as late each time before.
        let flaky = report["dropped"]["flaky"].as_u64();
        assert!(flaky.is_some_and(|flaky| flaky <= 2), "{report}");
    }
}

/// Searches among the methods of a class, some of which do not end, and checks that these calls
/// have tests.
fn search_what_has_no_end(jdk: &Jdk, workplace: &Workplace, class: &str, calls: &[&str]) {
    let arguments = [
        "generate",
        "--model",
        "model.json",
        "--classpath",
        "classes",
        "--classes",
        class,
        "--sequences",
        "400",
        "--out",
        "tests",
        "--format",
        "json",
    ];
    let report = json(&run(jdk, workplace, &arguments));
    let searched = &report["searched"];
    let lost = searched["lost"].as_u64().expect("a number");
    let executed: u64 = ["at_random", "along_models"]
        .iter()
        .filter_map(|phase| searched[phase]["executed"].as_u64())
        .sum();
    // Some are endless before it is known which methods these are.
    assert_eq!(executed, 400, "{report}");
    assert!((1..=60).contains(&lost), "{report}");
    let tests = written(workplace, "tests");
    for call in calls {
        assert!(tests.contains(call), "{call}: {tests}");
    }
}

/// Reflection checks its caller: what the program may call it still may, and nothing more.
#[test]
fn reflection_reaches_what_it_reaches_elsewhere() {
    for jdk in jdks() {
        let workplace = compile(jdk, "plugs");
        let how = [
            "--universal",
            "--sequences",
            "300",
            "--classes",
            "plugs.Plugs",
        ];
        let tests = generate(jdk, &workplace, "tests", &how);
        for shown in [
            "\"of package 3, ",
            "assertEquals(7, Plugs.secret());",
            "assertEquals(\"burnt\", Plugs.cause());",
            "assertEquals(\"for heirs\", Plugs.inherited());",
            "class plugs.Plugs cannot access a member of class plugs.Strange",
            "class plugs.Plugs cannot access a member of class plugs.base.Base",
        ] {
            assert!(tests.contains(shown), "{shown}: {tests}");
        }
        assert!(!tests.contains("dev.hindsight"), "{tests}");
        passes(jdk, &workplace, "tests", "classes");
    }
}

/// An interrupted process leaves nothing behind.
#[test]
fn temporary_directories_go_with_the_process() {
    let jdk = &jdks()[0];
    let workplace = compile(jdk, "constrained");
    let place = workplace.join("tmp");
    fs::create_dir_all(&place).expect("a directory");
    let entries = || fs::read_dir(&place).expect("a directory").count();
    let mut child = Command::new(hindsight())
        .env("JAVA_HOME", &jdk.home)
        .env("TMPDIR", &place)
        .current_dir(&workplace.path)
        .args([
            "generate",
            "--universal",
            "--time",
            "60",
            "--classpath",
            "classes",
            "--out",
            "tests",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hindsight runs");
    let until = Instant::now() + Duration::from_secs(60);
    while entries() == 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(entries(), 1);
    // Every shell has this command; a small container may have no program of its name.
    let killed = Command::new("sh")
        .args(["-c", "kill \"$0\""])
        .arg(child.id().to_string())
        .status();
    assert!(killed.expect("a shell runs").success());
    let ended = child.wait().expect("it ends");
    assert_eq!(ended.signal(), Some(15));
    assert_eq!(entries(), 0);
}

/// JVMs end with the process that has started them, whatever they do and however that ends.
fn end_with_the_process(
    workplace: &Workplace,
    jdk: &Jdk,
    arguments: &str,
    has_begun: &dyn Fn() -> bool,
) {
    let place = workplace.join("tmp");
    fs::create_dir_all(&place).expect("a directory");
    // The directory is in their command lines while they run.
    let workers = || {
        let place = place.display().to_string();
        let processes = fs::read_dir("/proc").expect("processes");
        let commands = processes.flatten();
        let commands = commands.flat_map(|process| fs::read(process.path().join("cmdline")));
        let commands = commands.filter(|command| text(command).contains(&place));
        commands.count()
    };
    let wait_until = |is_so: &dyn Fn() -> bool, seconds| {
        let until = Instant::now() + Duration::from_secs(seconds);
        while !is_so() && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        is_so()
    };
    let mut child = Command::new(hindsight())
        .env("JAVA_HOME", &jdk.home)
        .env("TMPDIR", &place)
        .current_dir(&workplace.path)
        .args(arguments.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hindsight runs");
    // There are compilers, too, which end by themselves.
    assert!(wait_until(&|| workers() > 0 && has_begun(), 120));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert!(wait_until(&|| workers() == 0, 20));
}

#[test]
fn workers_end_with_the_process() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("generate-killed");
    let source = "public class Endless { public static void run() { while (true) { } } }";
    workplace.compile_text(jdk, &[], "Endless", source);
    let arguments =
        "generate --universal --sequences 1000000 --timeout 300 --classpath classes --out tests";
    end_with_the_process(&workplace, jdk, arguments, &|| {
        // After this it is in the state from which it does not return.
        thread::sleep(Duration::from_secs(2));
        true
    });
}

#[test]
fn candidates_end_with_the_process() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("junit-killed");
    let source = |end: &str, runs: &str| {
        format!(
            "public class Endless {{
                static void run(int[] a) throws Exception {{ {runs} {end} }}
                public static void main(String[] args) throws Exception {{ run(new int[1]); }}
            }}"
        )
    };
    let crashes = source("a[1] = 1;", "");
    workplace.run_text(jdk, "17", "", ("Endless", &crashes));
    let runs = workplace.join("runs");
    let makes = format!("new java.io.File(\"{}\").createNewFile();", runs.display());
    let loops = source("while (true) { }", &makes);
    workplace.compile_text(jdk, &[], "Endless", &loops);
    let arguments = "junit out --timeout 300 --classpath classes --out tests";
    end_with_the_process(&workplace, jdk, arguments, &|| runs.exists());
}
