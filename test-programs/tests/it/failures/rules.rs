//! Rules of `report` that name nothing are told.

use super::counted_once::COUNTED;
use super::*;

/// Rules that match no method of the loaded classes only cause a hint.
#[test]
fn rules_that_name_no_method_are_told() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("unnamed");
    let options = "report=caught:Counted.typo";
    run(&workplace, jdk, options, ("Counted", COUNTED));
    let told = workplace.run_json();
    assert_eq!(told["counters"]["methods_named_by_report"], 0, "{told}");
    let grouped = Command::new(hindsight())
        .arg("crashes")
        .arg(workplace.join("out"))
        .output()
        .unwrap();
    assert!(
        both(&grouped).contains("matches report=caught:Counted.typo"),
        "{}",
        both(&grouped)
    );
}

/// A rule that matches nothing is reported with the reason, even beside others that match.
#[test]
fn each_rule_that_names_nothing_is_told() {
    let program = ("Counted", COUNTED);
    let jdks = jdks_in_turn();
    let jdk = &jdks[0];
    for (options, named, told) in [
        (
            "report=\"caught: Counted.run;caught:Counted.rnu;escape:Counted$Worker.<init>\"",
            1,
            &[
                "no method of a class that was loaded matches report=caught:Counted.rnu\n",
                "no method that matches report=escape:Counted$Worker.<init> has probes (1 method without: ",
            ][..],
        ),
        (
            "exclude=Counted$Worker,report=\"uncaught;escape:Counted$Worker.*\"",
            0,
            &[
                "escape:Counted$Worker.*, but 1 class that it may mean was outside of include= and exclude=\n",
            ],
        ),
        (
            "include=Counted;java.lang.Integer,report=\"uncaught;escape:java.lang.Integer.parseInt\"",
            0,
            &[
                "escape:java.lang.Integer.parseInt, but 1 class that it may mean was loaded before the agent",
            ],
        ),
    ] {
        let workplace = Workplace::new("rules-told");
        run(&workplace, jdk, options, program);
        let run = workplace.run_json();
        let counted = &run["counters"]["methods_named_by_report"];
        assert_eq!(*counted, named, "JDK {} {options}: {run}", jdk.version);
        assert!(!workplace.crashes().is_empty(), "{options}");
        let grouped = Command::new(hindsight())
            .arg("crashes")
            .arg(workplace.join("out"))
            .output()
            .unwrap();
        let said = text(&grouped.stderr);
        assert_eq!(said.lines().count(), told.len(), "{options}: {said}");
        for told in told {
            assert!(said.contains(told), "{options}: {said}");
        }
    }
}

/// While a run continues, `run.json` soon says that rules have matched a method, because a run that
/// is killed says no more.
#[test]
fn rules_that_name_a_method_are_told_before_the_end() {
    const SOURCE: &str = "
import java.nio.file.*;

public class Goes {
    static class Late { static void handle() { System.nanoTime(); } }
    public static void main(String[] args) throws Exception {
        Path run = Paths.get(System.getProperty(\"run\"));
        String named = \"\\\"methods_named_by_report\\\": \";
        if (!Files.readString(run).contains(named + 0)) { throw new IllegalStateException(); }
        Late.handle();
        for (int i = 0; i < 400 && !Files.readString(run).contains(named + 1); i++) { Thread.sleep(100); }
        new ProcessBuilder(\"kill\", \"-9\", \"\" + ProcessHandle.current().pid()).start();
        Thread.sleep(60_000);
    }
}
";
    // One JDK suffices: it takes as long as the agent sleeps.
    let jdk = &jdks()[0];
    let workplace = Workplace::new("goes-on");
    let classes = workplace.compile_text(jdk, &["--release", "17"], "Goes", SOURCE);
    let output = workplace
        .java_with_agent(jdk, "report=escape:**Late.handle,include=Goes*")
        .arg(format!(
            "-Drun={}",
            workplace.join("out/run.json").display()
        ))
        .arg("-cp")
        .arg(&classes)
        .arg("Goes")
        .output()
        .expect("java runs");
    let told = workplace.run_json();
    let label = format!("{}\n{told}", both(&output));
    assert_eq!(output.status.code(), None, "{label}");
    assert!(told["ended_ms"].is_null(), "{label}");
    let counters = &told["counters"];
    assert_eq!(counters["methods_named_by_report"], 1, "{label}");
    assert!(
        counters["classes_instrumented"].as_u64() >= Some(1),
        "{label}"
    );
}
