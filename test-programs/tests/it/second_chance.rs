//! `mode=second-chance`: methods get probes once a failure has passed through them, in the running
//! JVM and, by the `chances` file, in later ones.

use hindsight_test_programs::{
    Jdk, Workplace, agent, both, hindsight, jdks, jdks_in_turn, render, text,
};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Fails in a thread of its own, in the requested way, until there is a file of this name.
const PROGRAM: &str = "
import java.nio.file.*;
import java.util.*;
public class Main {
    static class Lost extends RuntimeException {
        Lost() { super(\"lost\", null, false, false); }
    }
    static final RuntimeException SHARED = new Lost();

    static int at(int[] cells, int index) { return cells[index]; }
    static int work(String why, int n) { return at(new int[n], n); }
    static void lost(String why) { if (why.length() > 2) throw SHARED; } static void elsewhere(long n) { throw SHARED; }
    static int size(Object[] boxes, int i) { return boxes[i].hashCode(); }
    static void fast(int n) {
        Object[] boxes = new Object[1];
        int thrown = 0;
        while (true) {
            try {
                size(boxes, 0);
            } catch (NullPointerException e) {
                if (e.getStackTrace().length == 0 || ++thrown > 2_000_000) break;
            }
        }
        size(boxes, 0);
    }
    static String handle(String request) {
        try {
            return answer(request);
        } catch (IllegalStateException e) {
            return \"failed\";
        }
    }
    static String answer(String request) { return check(request.length(), request); }
    static String check(int n, String text) {
        if (n > 3) throw new IllegalStateException(text);
        return text;
    }
    static int failures;
    static void handed(String text, int n) { throw new IllegalArgumentException(text); }
    static void fail(String how) {
        switch (how) {
            case \"lost\" -> lost(\"why\"); case \"elsewhere\" -> elsewhere(3);
            case \"fast\" -> fast(1);
            case \"handle\" -> handle(\"request\");
            case \"none\" -> { }
            case \"both\" -> { if (++failures % 2 == 1) work(\"why\", 2); else handed(\"on\", 3); }
            default -> work(\"why\", 2);
        }
    }
    public static void main(String[] args) throws Exception {
        if (args.length == 0) { System.out.println(\"ready\"); System.in.read(); }
        String how = args.length > 0 ? args[0] : \"work\";
        long end = System.nanoTime() + 100_000_000_000L;
        do {
            Thread thread = new Thread(() -> fail(how), \"worker\");
            thread.setUncaughtExceptionHandler((t, e) -> { });
            thread.start();
            thread.join();
            Thread.sleep(20);
        } while (args.length > 1 && !Files.exists(Path.of(args[1])) && System.nanoTime() < end);
    }
}
";

fn compile(workplace: &Workplace, jdk: &Jdk) -> std::path::PathBuf {
    workplace.compile_text(jdk, &["--release", "17"], "Main", PROGRAM)
}

/// Runs with `mode=second-chance` until the crash file of this number exists; once if 0.
fn run(workplace: &Workplace, jdk: &Jdk, options: &str, how: &str, until: u32) -> Output {
    let classes = compile(workplace, jdk);
    let mut command = workplace.java_with_agent(jdk, &format!("mode=second-chance{options}"));
    command.arg("-cp").arg(classes).args(["Main", how]);
    if until > 0 {
        command.arg(workplace.join(format!("out/crash-{until:04}.hsc")));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    output
}

fn rendered(workplace: &Workplace) -> Vec<String> {
    workplace.crashes().iter().map(render).collect()
}

fn chances(workplace: &Workplace) -> Vec<String> {
    let text = fs::read_to_string(workplace.join("out/chances")).expect("a chances file");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

const SEEN: &str = "\
java.lang.ArrayIndexOutOfBoundsException in thread worker, uncaught
  Main.at:10 cells=[I(8 bytes) index=2
  Main.work:11 why=\"why\" n=2
  Main.fail:47 how=\"work\"
  Main.lambda$main$:55 how=\"work\"
";

#[test]
fn the_second_failure_of_a_run_has_its_arguments() {
    for jdk in jdks() {
        let workplace = Workplace::new("second-chance");
        let output = run(&workplace, jdk, "", "work", 2);
        assert_eq!(text(&output.stderr), "", "JDK {}", jdk.version);
        let found = rendered(&workplace);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("Main.at:10 -- not instrumented: second-chance had seen no failure"),
            "JDK {}: {}",
            jdk.version,
            found[0]
        );
        assert_eq!(found[1], SEEN, "JDK {}", jdk.version);
        assert_eq!(
            chances(&workplace),
            ["Main.at", "Main.work", "Main.fail", "Main.lambda$main$0"]
        );
        // It is one crash, whose count says how often it has occurred.
        let run = workplace.run_json();
        let crashes = run["crashes"].as_array().unwrap();
        assert_eq!(crashes.len(), 1, "{run}");
        assert_eq!(crashes[0]["file"], "crash-0002.hsc");
        assert!(crashes[0]["count"].as_u64() >= Some(2), "{run}");
    }
}

/// A thread is in the failing methods while they get their probes, and fails first.
const HELD: &str = "
import java.nio.file.*;
import java.util.concurrent.*;
public class Held {
    static final CountDownLatch entered = new CountDownLatch(1), goes = new CountDownLatch(1);
    static void dispatch(String who, int how) {
        try {
            handle(who, how);
        } catch (RuntimeException e) {
            System.nanoTime();
        }
    }
    static void handle(String who, int how) { check(who.length(), how); }
    static void check(int n, int how) {
        if (how == 1) throw new UnsupportedOperationException();
        if (n == 4) {
            entered.countDown();
            try { goes.await(); } catch (InterruptedException e) { throw new Error(e); }
        }
        throw new IllegalStateException();
    }
    static Thread call(String who, int how) {
        Thread thread = new Thread(() -> dispatch(who, how), who);
        thread.start();
        return thread;
    }
    static void until(String out, int file, int how) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        Path path = Path.of(out, \"crash-000\" + file + \".hsc\");
        while (!Files.exists(path) && System.nanoTime() < end) {
            call(\"it\", how).join();
            Thread.sleep(20);
        }
    }
    public static void main(String[] args) throws Exception {
        Thread held = call(\"held\", 2);
        entered.await();
        until(args[0], 2, 1);
        goes.countDown();
        held.join();
        until(args[0], 4, 2);
    }
}
";

#[test]
fn a_file_without_arguments_gives_way_to_one_that_has_them() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("chance-held");
        let classes = workplace.compile_text(jdk, &["-g", "--release", "17"], "Held", HELD);
        let output = workplace
            .java_with_agent(jdk, "mode=second-chance,report=caught:Held.dispatch")
            .arg("-cp")
            .arg(classes)
            .arg("Held")
            .arg(workplace.join("out"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
        let label = format!("JDK {} {:?}", jdk.version, rendered(&workplace));
        let all = rendered(&workplace);
        assert_eq!(all.len(), 4, "{label}");
        assert!(
            all[2].contains("thread held") && !all[2].contains("n=4"),
            "{label}"
        );
        for part in [
            "check:20 n=2 how=2",
            "handle:13 who=\"it\" how=2",
            "who=\"it\" how=2\n",
        ] {
            assert!(all[3].contains(part), "{part}: {label}");
        }
    }
}

#[test]
fn the_program_stands_still_once_a_minute_at_most() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("chance-pace");
    let classes = compile(&workplace, jdk);
    // It fails in one way or the other, for long enough to see both many times.
    let mut jvm = workplace
        .java_with_agent(jdk, "mode=second-chance,per-minute=1000")
        .arg("-cp")
        .arg(classes)
        .args(["Main", "both"])
        .arg(workplace.join("stop"))
        .spawn()
        .unwrap();
    let counts = || {
        let run = fs::read_to_string(workplace.join("out/run.json")).unwrap_or_default();
        let run: Value = serde_json::from_str(&run).unwrap_or_default();
        let crashes = run["crashes"].as_array().cloned().unwrap_or_default();
        let counts = crashes.iter().filter_map(|crash| crash["count"].as_u64());
        (crashes.len(), counts.min().unwrap_or(0))
    };
    let end = Instant::now() + Duration::from_secs(50);
    while (counts().0 < 2 || counts().1 < 20) && Instant::now() < end {
        thread::sleep(Duration::from_millis(100));
    }
    fs::write(workplace.join("stop"), "").unwrap();
    assert!(jvm.wait().unwrap().success());
    let run = workplace.run_json();
    assert!(counts().1 >= 20, "{run}");
    // Both are known to later runs, and this one has changed classes once.
    let known = chances(&workplace);
    for method in ["Main.at", "Main.handed"] {
        assert!(known.iter().any(|known| known == method), "{known:?}");
    }
    assert_eq!(run["counters"]["second_chance_rounds"], 1, "{run}");
}

#[test]
fn nothing_is_instrumented_before_a_failure() {
    for jdk in jdks() {
        let workplace = Workplace::new("no-chance");
        run(&workplace, jdk, "", "none", 0);
        let counters = &workplace.run_json()["counters"];
        assert_eq!(*counters, serde_json::json!({}), "JDK {}", jdk.version);
        assert!(!workplace.join("out/chances").exists());
    }
}

#[test]
fn later_runs_know_the_methods_of_all_machines() {
    for jdk in jdks() {
        let workplace = Workplace::new("chances");
        run(&workplace, jdk, "", "work", 0);
        run(&workplace, jdk, "", "handle", 0);
        let learned = fs::read_to_string(workplace.join("out/chances")).unwrap();
        fs::remove_dir_all(workplace.join("out")).unwrap();
        // These are the files of two machines, of which one was interrupted, and what people do to
        // files.
        let merged = format!(
            "{learned}# from the other\r\n\n  Main.check\n{learned}Main.gone\nno.such.Class.m\nMain.wor"
        );
        let file = workplace.join("merged");
        fs::write(&file, &merged).unwrap();

        let options = format!(",chances={}", file.display());
        let output = run(&workplace, jdk, &options, "work", 0);
        assert_eq!(text(&output.stderr), "");
        assert_eq!(rendered(&workplace), [SEEN], "JDK {}", jdk.version);
        // It has the class's hash, because the class was loaded with the agent.
        assert!(
            workplace.crashes()[0].failure.frames[0]
                .class_sha256
                .is_some()
        );
        // Nothing is new.
        assert_eq!(fs::read_to_string(&file).unwrap(), merged);
        let counters = &workplace.run_json()["counters"];
        assert_eq!(counters["second_chance_rounds"], Value::Null, "{counters}");

        fs::write(&file, "Main.at\nwhat is this\nand:this\nMain.wor").unwrap();
        let output = run(&workplace, jdk, &options, "work", 0);
        let said = text(&output.stderr);
        assert!(
            said.contains(&format!(
                "hindsight: line 2 of the chances file {}",
                file.display()
            )) && said.contains("nor are 1 more lines: \"what is this\""),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("Main.wor\nMain.work\n"), "{text}");
    }
}

#[test]
fn exceptions_without_a_stack_trace_find_their_methods() {
    for jdk in jdks() {
        for (how, exception, thrower) in [
            ("lost", "Main$Lost", "Main.lost why=\"why\""),
            (
                "fast",
                "java.lang.NullPointerException",
                "Main.size boxes=[null] i=0",
            ),
        ] {
            let workplace = Workplace::new("stackless");
            run(&workplace, jdk, "", how, 2);
            let found = rendered(&workplace);
            let label = format!("JDK {} {how}", jdk.version);
            assert_eq!(found.len(), 2, "{label} {found:?}");
            // HotSpot makes traces again for a method that was just changed, until it is compiled.
            let captured = found[1].replace(":13", "");
            assert!(captured.contains(thrower), "{label}: {captured}");
            assert!(captured.contains("  Main.fail"), "{label}: {captured}");
            let known = chances(&workplace);
            let has = |line: &str| known.iter().any(|known| known == line);
            assert!(
                has(&format!("stackless: {exception}")),
                "{label}: {known:?}"
            );

            // A later run has them from the start, and nothing else once they are found.
            fs::remove_file(&workplace.crash_files()[0]).unwrap();
            fs::remove_file(&workplace.crash_files()[0]).unwrap();
            let until = workplace.crash_files().len();
            assert_eq!(until, 0);
            run(&workplace, jdk, "", how, 1);
            let found = rendered(&workplace);
            assert!(
                found[0].contains(thrower.split(' ').next().unwrap()),
                "{label}: {found:?}"
            );
            let known = chances(&workplace);
            if how == "lost" {
                assert!(
                    known.contains(&"Main.lost".to_owned()),
                    "{label}: {known:?}"
                );
                assert!(
                    known.contains(&"found: Main$Lost".to_owned()),
                    "{label}: {known:?}"
                );
                let rounds = || workplace.run_json()["counters"]["second_chance_rounds"].clone();
                if rounds() != Value::Null {
                    // The first run may not have seen the methods that were running.
                    run(&workplace, jdk, "", how, 0);
                }
                assert_eq!(rounds(), Value::Null, "{label}: {known:?}");
            }
        }
    }
}

/// Even if its methods are known, the same exception can come from elsewhere, through some of them.
#[test]
fn exceptions_without_a_stack_trace_are_looked_for_in_a_second_place() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("stackless-elsewhere");
        let lines = "Main.lost\nMain.fail\nMain.main\nstackless: Main$Lost\nfound: Main$Lost\n";
        let lines = format!("{lines}found: Main$Lost in Main.lost\n");
        fs::create_dir_all(workplace.join("out")).unwrap();
        fs::write(workplace.join("out/chances"), &lines).unwrap();
        run(&workplace, jdk, "", "lost", 1);
        // Nothing is new in it.
        assert_eq!(
            fs::read_to_string(workplace.join("out/chances")).unwrap(),
            lines
        );
        fs::remove_file(&workplace.crash_files()[0]).unwrap();
        run(&workplace, jdk, "", "elsewhere", 2);
        let found = rendered(&workplace);
        assert!(!found[0].contains("Main.elsewhere"), "{found:?}");
        assert!(found[1].contains("Main.elsewhere n=3"), "{found:?}");
        let known = chances(&workplace);
        for line in [
            "Main.elsewhere",
            "stackless: Main$Lost 2",
            "found: Main$Lost 2",
            "found: Main$Lost in Main.elsewhere",
        ] {
            assert!(known.iter().any(|known| known == line), "{line}: {known:?}");
        }
        let all = known.len();
        for how in ["lost", "elsewhere"] {
            run(&workplace, jdk, "", how, 0);
            assert_eq!(chances(&workplace).len(), all, "{how}");
        }
    }
}

#[test]
fn rules_need_probes_of_their_methods_only() {
    for jdk in jdks() {
        for (rule, reason) in [
            ("escape:Main.check", "escape:Main.check"),
            ("caught:Main.handle", "caught:Main.handle"),
        ] {
            let workplace = Workplace::new("chance-rules");
            run(&workplace, jdk, &format!(",report={rule}"), "handle", 2);
            let found = rendered(&workplace);
            let label = format!("JDK {} {rule}", jdk.version);
            assert_eq!(found.len(), 2, "{label}: {found:?}");
            assert!(found[0].contains(reason), "{label}: {}", found[0]);
            assert!(found[0].contains("Main.answer:"), "{label}: {}", found[0]);
            assert!(!found[0].contains("request=\"request\"") || rule.starts_with("caught"));
            assert!(
                found[1].contains("Main.answer:33 request=\"request\""),
                "{label}: {}",
                found[1]
            );
            assert!(
                found[1].contains("Main.check:35 n=7 text=\"request\""),
                "{label}: {}",
                found[1]
            );
            // This holds however often the class is changed.
            let counters = &workplace.run_json()["counters"];
            assert_eq!(counters["methods_named_by_report"], 1, "{label}");
            assert_eq!(counters["classes_instrumented"], 1, "{label}");
        }
    }
}

/// Frames of methods that get probes by a failure say that it has to come first.
#[test]
fn frames_say_what_they_wait_for() {
    const SOURCE: &str = "
public class Parts {
    static class Base {
        Base(String name) { if (name.isEmpty()) throw new IllegalStateException(name); }
    }
    static class Child extends Base { Child(String name) { super(name); } }
    static class Outside { static Object make(String name) { return new Child(name); } }
    public static void main(String[] args) { Outside.make(\"\"); }
}
";
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("chance-reasons");
        let chances = workplace.join("known");
        fs::write(&chances, "Parts$Child.<init>\n").unwrap();
        let options = format!(
            "mode=second-chance,exclude=Parts$Outside,chances={}",
            chances.display()
        );
        workplace.run_text(jdk, "17", &options, ("Parts", SOURCE));
        let frames = &workplace.crashes()[0].failure.frames;
        let unseen = "not instrumented: second-chance had seen no failure in it before";
        let outside = "not instrumented: class of the JDK, or outside include/exclude";
        let expected = [
            ("Parts$Base", unseen),
            (
                "Parts$Child",
                "not instrumented: only its constructor call can throw",
            ),
            ("Parts$Outside", outside),
            ("Parts", unseen),
        ];
        let frames: Vec<_> = (frames.iter())
            .map(|frame| (&*frame.class, &*frame.reason))
            .collect();
        assert_eq!(frames, expected, "JDK {}", jdk.version);
    }
}

#[test]
fn a_running_jvm_gives_second_chances_too() {
    for jdk in jdks() {
        let workplace = Workplace::new("chance-attached");
        let classes = compile(&workplace, jdk);
        let mut jvm = jdk
            .java()
            .arg("-XX:-PrintWarnings")
            .arg("-cp")
            .arg(classes)
            .arg("Main")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(jvm.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        let file = workplace.join("known");
        fs::write(&file, "Main.work\n").unwrap();
        let attached = Command::new(hindsight())
            .arg("attach")
            .arg(jvm.id().to_string())
            .arg(format!(
                "mode=second-chance,out={},chances={}",
                workplace.join("out").display(),
                file.display()
            ))
            .output()
            .unwrap();
        assert!(attached.status.success(), "{}", both(&attached));
        let mut input = jvm.stdin.take().unwrap();
        input.write_all(b"x").unwrap();
        drop(input);
        let output = jvm.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", both(&output));
        let found = rendered(&workplace);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("Main.work:11 why=\"why\" n=2"),
            "{}",
            found[0]
        );
        assert!(found[0].contains("Main.at:10 -- "), "{}", found[0]);
        // The main thread ended at once, and the file has the rest all the same.
        let known = fs::read_to_string(&file).unwrap();
        assert!(
            known.starts_with("Main.work\nMain.at\nMain.fail\n"),
            "{known}"
        );
    }
}

#[test]
fn a_chances_file_that_cannot_be_used_is_named() {
    for jdk in jdks() {
        let workplace = Workplace::new("bad-chances");
        fs::create_dir_all(workplace.join("directory")).unwrap();
        for (options, part) in [
            (
                format!(
                    "mode=second-chance,chances={}",
                    workplace.join("directory").display()
                ),
                "directory: it is no regular file",
            ),
            (
                "chances=x".to_owned(),
                "option chances is for mode=second-chance only",
            ),
            (
                "mode=second-chance,copy=deep".to_owned(),
                "which copy=deep needs; accepted: reference, fields",
            ),
        ] {
            let output = jdk
                .java()
                .arg(format!("-agentpath:{}={options}", agent().display()))
                .arg("-version")
                .output()
                .unwrap();
            let said = text(&output.stderr);
            assert!(!output.status.success(), "{said}");
            let ours: Vec<&str> = said
                .lines()
                .filter(|line| line.starts_with("hindsight:"))
                .collect();
            assert!(ours.len() == 1 && ours[0].contains(part), "{said}");
        }
        // A file that cannot be written is reported, and the program goes on.
        fs::write(workplace.join("file"), "").unwrap();
        let options = format!(",chances={}", workplace.join("file/below").display());
        let classes = compile(&workplace, jdk);
        let output = workplace
            .java_with_agent(jdk, &format!("mode=second-chance{options}"))
            .arg("-cp")
            .arg(classes)
            .args(["Main", "work"])
            .output()
            .unwrap();
        let said = text(&output.stderr);
        assert!(said.contains("file/below"), "{}", both(&output));
    }
}
