//! What bounds traces where threads reach the ends of their stacks.

use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, text};
use std::process::Command;

/// Records the run of a program.
fn record(workplace: &Workplace, jdk: &Jdk, options: &str, program: (&str, &str)) {
    let options = format!("mode=trace,{options}");
    let (_, ran) = workplace.run_text(jdk, "17", &options, program);
    assert!(ran.status.success(), "{}", both(&ran));
}

/// Tasks of a pool reach the end of its thread's stack by calling themselves; others follow.
const ENDLESS: &str = r#"
import java.util.concurrent.*;

public class Endless {
    static class Deep implements Runnable {
        int depth;
        public void run() { depth++; run(); depth++; }
    }
    static class Task implements Runnable {
        public void run() { }
    }
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 20; i++) pool.submit(new Task()).get();
            try {
                pool.submit(new Deep()).get();
                throw new AssertionError();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof StackOverflowError)) throw e;
            }
            for (int i = 0; i < 79; i++) pool.submit(new Task()).get();
        }
        pool.shutdown();
    }
}"#;

/// The outermost call of a task calls itself until the stack ends, where the ends of the innermost calls find no stack
/// to be told on.
#[test]
fn bounds_hold_behind_the_end_of_the_stack() {
    for jdk in jdks() {
        let workplace = Workplace::new("trace-endless");
        for (options, told) in [
            ("sample=10", 28..=31),
            // Those that reach the end, too.
            ("sample=Endless$Deep;Endless$Task", 297..=297),
            ("sample=Endless$Task.run;Endless$Deep.run/2", 146..=151),
            ("from=Endless$Deep.run,until=Endless$Deep.run", 0..=0),
        ] {
            let _ = std::fs::remove_dir_all(workplace.join("out"));
            record(&workplace, jdk, options, ("Endless", ENDLESS));
            // It complains of events that were lost.
            let events = Command::new(hindsight())
                .arg("events")
                .arg(workplace.join("out"))
                .output()
                .expect("hindsight runs");
            let events = text(&events.stdout);
            let tasks = events.matches("Task.run(").count();
            let label = format!("{tasks} with {options} on JDK {}", jdk.version);
            assert!(told.contains(&tasks), "{label}");
            assert!(events.contains("Deep.run(") || options == "sample=10");
        }
    }
}
