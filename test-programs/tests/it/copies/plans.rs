//! Copy plans: with one, less is copied and more is right.

use super::*;

/// Makes a plan of classes.
pub(crate) fn plan(workplace: &Workplace, jdk: &Jdk, classes: &Path) -> PathBuf {
    let file = workplace.join("a.plan");
    let made = Command::new(hindsight())
        .arg("plan")
        .arg("--classpath")
        .arg(classes)
        .arg("--out")
        .arg(&file)
        .arg("--jdk")
        .arg(&jdk.home)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", both(&made));
    file
}

#[test]
fn with_a_plan_less_is_copied_and_more_is_right() {
    for jdk in jdks_in_turn() {
        let without = record(jdk, "Planned", "", &[]);
        let verdicts_without = verdicts(jdk, &without);
        for method in ["order", "serve"] {
            assert!(
                !reproduces(&verdicts_without[method]),
                "{verdicts_without:?}"
            );
        }

        let file = plan(&without, jdk, &without.join("classes"));
        let with = record(jdk, "Planned", &format!("plan={}", file.display()), &[]);
        let verdicts_with = verdicts(jdk, &with);
        for method in ["deliver", "order", "serve"] {
            assert!(reproduces(&verdicts_with[method]), "{verdicts_with:?}");
        }
        let counter = |name: &str| with.run_json()["counters"][name].as_u64();
        assert_eq!(counter("classes_by_the_plan"), Some(2));
        assert_eq!(counter("classes_unlike_the_plan"), None);
        let patches = |workplace: &Workplace, method: &str| {
            let crash = workplace.crashes().remove(0);
            frame(&crash.failure.frames, method).patch.len()
        };
        for method in ["order", "serve"] {
            assert_eq!((patches(&without, method), patches(&with, method)), (0, 1));
        }
    }
}

/// A plan of another version of a class, or none, does no harm.
#[test]
fn a_plan_that_does_not_fit_is_left_alone() {
    let jdk = &jdks()[0];
    let other = record(jdk, "Planned", "", &[]);
    let file = plan(&other, jdk, &other.join("classes"));
    let option = format!("plan={}", file.display());
    let mut plan = Plan::decode(&fs::read(&file).unwrap()).unwrap();
    plan.classes[0].crc ^= 1;
    fs::write(&file, plan.encode()).unwrap();
    let unlike = record(jdk, "Planned", &option, &[]);
    assert_eq!(unlike.run_json()["counters"]["classes_unlike_the_plan"], 1);
    let stranger = record(jdk, "Sides", &option, &[]);
    assert!(stranger.run_json()["counters"]["classes_not_in_the_plan"].as_u64() > Some(0));

    let refused = |content: &[u8], what: &str| {
        fs::write(&file, content).unwrap();
        let workplace = Workplace::new("copies-refused");
        let run = workplace
            .java_with_agent(jdk, &option)
            .arg("-version")
            .output()
            .unwrap();
        assert!(!run.status.success());
        let errors = text(&run.stderr);
        assert!(
            errors.contains(what) && errors.contains("a.plan"),
            "{errors}"
        );
    };
    refused(b"something else", "not a Hindsight copy plan");
    refused(&plan.encode()[..40], "damaged");
}

/// What a plan says about a method depends on its callees: if only the callee is of another
/// version, and is hence loaded after its caller got its probes, the caller's frame is not
/// presented as exact.
#[test]
fn frames_by_a_plan_of_another_version_say_so() {
    const PROGRAM: &str = r#"
public class Stale {
    static class Order {
        int sum = 1;
    }
    static class Low {
        static void check(Order order) {
            /*CHANGED*/
            if (order.sum != 1) throw new IllegalStateException("sum");
        }
    }
    static class Later {
        static void run(Order order) {
            if (order.sum == 1) Low.check(order);
        }
    }
    static void begin(Order order) {
        if (order.sum == 1) book(order);
    }
    static void book(Order order) {
        if (order.sum == 1 && Low.class.getName().isEmpty()) return;
        new Low();
        Later.run(order);
    }
    static class Tally {
        int /*WIDER*/ one = 3;
        int two = 4;
    }
    static class Adds {
        static void add(Tally tally) {
            if (tally.one + tally.two > 100) throw new IllegalStateException("tally");
            tally.one++;
            tally.two++;
        }
    }
    static void hand(Tally tally) {
        Adds.add(tally);
        begin(new Order());
    }
    static void told(String text) {
        hand(new Tally());
    }
    public static void main(String[] args) {
        told("x");
    }
}
"#;
    let jdk = &jdks()[0];
    let workplace = Workplace::new("copies-stale");
    let old = workplace.compile_text(jdk, &["--release", "11"], "Stale", PROGRAM);
    let option = format!("plan={}", plan(&workplace, jdk, &old).display());
    let changed = PROGRAM.replace("/*CHANGED*/", "order.sum = 50;");
    let changed = changed.replace("int /*WIDER*/ one", "long one");
    let (_, run) = workplace.run_text(jdk, "11", &option, ("Stale", &changed));
    let crashes = workplace.crashes();
    assert_eq!(crashes.len(), 1, "{}", both(&run));
    let frames = &crashes[0].failure.frames;
    for (method, is_doubted) in [
        ("check", false),
        ("run", false),
        ("book", true),
        ("begin", true),
        ("hand", true),
        ("told", false),
    ] {
        let frame = frame(frames, method);
        let says = frame.reason.contains("plan is of another version");
        assert_eq!(says, is_doubted, "{method}: {}", frame.reason);
        assert_eq!(frame.fidelity == Fidelity::Reference, is_doubted);
    }
    // Its class came when the plan was known to be of another version.
    assert_eq!(frame(frames, "run").patch.len(), 1);
    // What is not there any more to be read takes nothing with it.
    let of_tally = (frame(frames, "hand").patch.iter()).map(|patch| (&*patch.field, patch.value));
    assert_eq!(of_tally.collect::<Vec<_>>(), [("two", Value::Int(4))]);
    let counters = &workplace.run_json()["counters"];
    assert_eq!(counters["classes_unlike_the_plan"], 3);
    assert_eq!(counters["classes_after_one_unlike_the_plan"], 2);
    assert_eq!(counters["frames_by_a_plan_of_another_version"], 3);
    let (_, report) = reported(&mut workplace.junit(jdk, workplace.join("classes")));
    let hints = report["hints"].to_string();
    assert!(hints.contains("hindsight plan"), "{report}");
}

/// The same class is loaded again by another loader, after the plan has turned out to be of another
/// version: its methods keep what their bodies need, which is not what those of the first one hand
/// over.
#[test]
fn a_second_loader_has_probes_without_the_plan_that_is_believed_no_more() {
    const PROGRAM: &str = r#"
import java.net.URL;
import java.net.URLClassLoader;
import java.util.function.IntUnaryOperator;

public class Twice {
    public static class Point implements IntUnaryOperator {
        int x = 1;
        int y = 1000;
        static void bump(Point point) {
            point.x += 1;
        }
        static int length(Point point, int more) {
            bump(point);
            point.y += more;
            if (point.y > 1005) throw new IllegalStateException("long");
            return point.y;
        }
        public int applyAsInt(int more) {
            return length(this, more);
        }
    }
    public static class Changed {
        int value = 1/*CHANGED*/;
    }
    static int run(int more) throws Exception {
        URL[] here = {Twice.class.getProtectionDomain().getCodeSource().getLocation()};
        Class<?> point = new URLClassLoader(here, null).loadClass("Twice$Point");
        return ((IntUnaryOperator) point.getDeclaredConstructor().newInstance()).applyAsInt(more);
    }
    public static void main(String[] args) throws Exception {
        run(0);
        new Changed();
        run(7);
    }
}
"#;
    let jdk = &jdks()[0];
    let workplace = Workplace::new("copies-twice");
    let old = workplace.compile_text(jdk, &["--release", "11"], "Twice", PROGRAM);
    let option = format!("plan={}", plan(&workplace, jdk, &old).display());
    let changed = PROGRAM.replace("/*CHANGED*/", "1");
    let (_, run) = workplace.run_text(jdk, "11", &option, ("Twice", &changed));
    let crashes = workplace.crashes();
    assert_eq!(crashes.len(), 1, "{}", both(&run));
    let frame = frame(&crashes[0].failure.frames, "length");
    let kept: Vec<_> = (frame.patch.iter())
        .map(|patch| (patch.field.as_str(), patch.value))
        .collect();
    assert_eq!(kept, [("y", Value::Int(1000))]);
    let counters = &workplace.run_json()["counters"];
    assert_eq!(counters["classes_after_one_unlike_the_plan"], 1);
}
