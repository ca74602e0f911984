//! Plans of another version of the program, whose changed class gets no probes.

use crate::attach::Server;
use crate::copies::plans::plan;
use hindsight_test_programs::{Workplace, both, jdks, render};
use hindsight_tracelog::crash::Value;
use std::fs;

/// By a plan of the first version, `run` keeps its argument by reference. Called without an
/// argument, the program loads the callee before the caller.
const PROGRAM: &str = "
public class Server {
    static class Box { int at = 1; int[] items = new int[1]; }
    static class Low {
        static void touch(Box box) {
            if (box.at < 0) throw new IllegalStateException();
            /*CHANGED*/
        }
    }
    static class High {
        static int run(Box box) { Low.touch(box); return box.items[box.at]; }
    }
    static void say(String what) { System.out.println(what); System.out.flush(); }
    public static void main(String[] args) throws Exception {
        if (args.length == 0) Low.touch(new Box());
        say(\"ready\");
        while (System.in.read() >= 0) say(\"done\");
        High.run(new Box());
    }
}
";

/// Whether the frame of `run` is doubted; if not, it must have what was overwritten.
#[track_caller]
fn is_doubted(workplace: &Workplace) -> bool {
    let crashes = workplace.crashes();
    assert_eq!(crashes.len(), 1);
    let mut frames = crashes[0].failure.frames.iter();
    let frame = frames.find(|frame| frame.method == "run").unwrap();
    if frame.reason.contains("plan is of another version") {
        return true;
    }
    let at = frame.patch.iter().find(|patch| patch.field == "at");
    let at = at.map(|patch| patch.value);
    assert_eq!(at, Some(Value::Int(1)), "{}", render(&crashes[0]));
    false
}

#[test]
fn a_changed_class_without_probes_is_no_longer_the_plans() {
    let jdk = &jdks()[0];
    let changed = PROGRAM.replace("/*CHANGED*/", "box.at *= 7;");
    for options in [
        "exclude=Server$Low",
        "include=Server$High",
        "mode=second-chance,chances=CHANCES",
    ] {
        for arguments in [&[][..], &["late"]] {
            let workplace = Workplace::new("plan-left-out");
            let old = workplace.compile_text(jdk, &["--release", "17"], "Server", PROGRAM);
            let plan = plan(&workplace, jdk, &old);
            let chances = workplace.join("chances");
            fs::write(&chances, "Server$High.run\n").unwrap();
            let options = options.replace("CHANCES", chances.to_str().unwrap());
            let options = format!("{options},plan={}", plan.display());
            let classes = workplace.compile_text(jdk, &["--release", "17"], "Server", &changed);
            let mut java = workplace.java_with_agent(jdk, &options);
            java.arg("-cp").arg(&classes).arg("Server").args(arguments);
            let run = java.output().unwrap();
            let label = format!("{options} {arguments:?}: {}", both(&run));
            assert_eq!(is_doubted(&workplace), !arguments.is_empty(), "{label}");
            let counters = &workplace.run_json()["counters"];
            assert_eq!(counters["classes_unlike_the_plan"], 1, "{label}");
        }
    }
}

/// The files of these classes are not known.
#[test]
fn classes_from_before_the_agent_are_not_the_plans() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("plan-attached");
    let old = workplace.compile_text(jdk, &["--release", "17"], "Server", PROGRAM);
    let plan = plan(&workplace, jdk, &old);
    let changed = PROGRAM.replace("/*CHANGED*/", "box.at *= 7;");
    let server = Server::of(&changed, jdk, &workplace, &[]);
    let out = workplace.join("out");
    let options = format!("out={},plan={}", out.display(), plan.display());
    let attached = server.attach(&[&options]);
    assert!(attached.status.success(), "{}", both(&attached));
    server.end();
    assert!(!is_doubted(&workplace));
    let counters = &workplace.run_json()["counters"];
    let before = counters["classes_of_the_plan_loaded_before_the_agent"].as_u64();
    // These are at least `Box` and `Low`.
    assert!(before >= Some(2), "{counters}");
    assert_eq!(counters["classes_by_the_plan"].as_u64(), None);
}
