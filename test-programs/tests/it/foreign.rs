//! Classes that contain the probes of another run, which a tool has kept or `hindsight instrument`
//! has made.

use hindsight_test_programs::traces::lines;
use hindsight_test_programs::{Workplace, both, hindsight, jdks, render, text};
use std::fs;
use std::process::Command;

/// `Kept` does everything for which there is a probe; `Own` has the numbers that the other run gave
/// to `Kept`.
const PROGRAM: &str = r#"
import java.util.function.*;

class Kept {
    long a, b;
    Object held = "x";
    static int made;
    final int[] ints = new int[4];

    Kept(Object held) {
        this.held = held;
        made++;
    }

    Object work(int i, String s, double d) {
        a += i;
        b = a + s.length();
        ints[i & 3] = i;
        held = new StringBuilder(s).append(d).toString();
        System.arraycopy(ints, 0, ints, 1, 3);
        try {
            return half(i);
        } catch (IllegalStateException e) {
            return made + e.getMessage();
        }
    }

    private static Object half(int i) {
        if (i % 2 == 1) {
            throw new IllegalStateException("odd " + i);
        }
        return i / 2;
    }

    void fail(int[] of) {
        of[9] = 1;
    }
}

public class Own {
    int number;
    Object text;

    Own(int number) {
        this.number = number;
        text = "own" + number;
    }

    Object call(Kept kept) {
        number++;
        return kept.work(number, text.toString(), 0.5) + " " + number;
    }

    public static void main(String[] args) {
        StringBuilder all = new StringBuilder();
        Kept kept = new Kept(args);
        for (int i = 0; i < 3000; i++) {
            all.append(new Own(i).call(kept)).append('\n');
            if (i % 1000 == 0) {
                System.gc();
            }
        }
        System.out.println(all.toString().hashCode() + " " + kept.a + " " + kept.b + " " + kept.held);
        new Own(1).end(kept);
    }

    void end(Kept kept) {
        kept.fail(new int[number]);
    }
}
"#;

#[test]
fn probes_of_another_run_are_silent() {
    for jdk in jdks() {
        for (made, options) in [
            (&["--copy", "deep"][..], "copy=deep"),
            (&["--copy", "deep"], "mode=trace"),
            (&["--mode", "trace"], "mode=trace"),
            (&["--mode", "trace"], "copy=fields"),
            (&["--copy", "fields"], "copy=fields"),
        ] {
            let place = format!("JDK {}, {made:?}, {options}", jdk.version);
            let workplace = Workplace::new("foreign");
            let classes = workplace.compile_text(jdk, &["-g", "--release", "17"], "Own", PROGRAM);
            let run = |java: &mut Command| {
                let ran = java
                    .arg("-XX:+UseSerialGC")
                    .arg("-cp")
                    .arg(&classes)
                    .arg("Own");
                ran.output().unwrap()
            };
            let plain = run(&mut jdk.verifying_java());
            assert_eq!(plain.status.code(), Some(1), "{place}: {}", both(&plain));

            let kept = classes.join("Kept.class");
            let instrumented = Command::new(hindsight())
                .arg("instrument")
                .args(made)
                .arg(&kept)
                .arg("--out")
                .arg(workplace.join("new.class"))
                .output()
                .unwrap();
            assert!(
                instrumented.status.success(),
                "{place}: {}",
                both(&instrumented)
            );
            fs::rename(workplace.join("new.class"), &kept).unwrap();

            let recorded = run(&mut workplace.java_with_agent(jdk, options));
            assert_eq!(
                recorded.status.code(),
                Some(1),
                "{place}: {}",
                both(&recorded)
            );
            assert_eq!(text(&recorded.stdout), text(&plain.stdout), "{place}");
            let told = text(&recorded.stderr);
            let warning = "hindsight: class Kept came with the probes of another run in it";
            assert_eq!(told.matches(warning).count(), 1, "{place}: {told}");
            let counters = &workplace.run_json()["counters"];
            assert_eq!(counters["classes_with_probes_of_another_run"], 1, "{place}");

            if options == "mode=trace" {
                let lines = lines(&workplace);
                let calls = |of: &str| lines.iter().filter(|line| line.contains(of)).count();
                assert_eq!(calls("Own.call("), 3000, "{place}");
                assert_eq!(calls("Own.main("), 1, "{place}");
                assert!(
                    !lines
                        .iter()
                        .any(|line| line.contains("method ") || line.contains("field ")),
                    "{place}"
                );
                continue;
            }
            let crashes: String = workplace.crashes().iter().map(render).collect();
            for line in [
                "java.lang.ArrayIndexOutOfBoundsException in thread main, uncaught\n",
                "\n  Kept.fail:36 -- not instrumented: it came with the probes of another run\n",
                "\n  Own.end:68 this=Own{number=1,text=\"own1\"} kept=Kept{a=4501500,",
                "\n  Own.main:64 args=[]\n",
            ] {
                assert!(crashes.contains(line), "{place}: {line} in {crashes}");
            }
        }
    }
}
