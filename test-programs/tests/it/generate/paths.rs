//! The location of a program, the options that its JVM needs, calls that no test can make, and
//! missing libraries.

use super::{generate, json, ok, passes, run, written};
use hindsight_test_programs::{Jdk, Workplace, both, jdks_in_turn, text};
use std::fs;

/// The arguments for tests of a recorded run.
const OBSERVE: [&str; 8] = [
    "generate",
    "--observed",
    "--trace",
    "out",
    "--classpath",
    "classes",
    "--out",
    "tests",
];

/// A class in a directory of its own, recorded.
fn record(
    jdk: &Jdk,
    name: &str,
    source: &str,
    java: &[&str],
    change: fn(&mut Vec<u8>),
) -> Workplace {
    let workplace = Workplace::new(&format!("generate-{name}"));
    let release = jdk.version.to_string();
    let classes = workplace.compile_text(jdk, &["--release", &release], name, source);
    let file = classes.join(format!("{name}.class"));
    let mut bytes = fs::read(&file).expect("a class");
    change(&mut bytes);
    fs::write(&file, bytes).expect("a file");
    let output = workplace
        .java_with_agent(jdk, "mode=trace")
        .args(java)
        .args(["-cp", "classes", name])
        .current_dir(&workplace.path)
        .output()
        .expect("java runs");
    assert!(output.status.success(), "{}", both(&output));
    workplace
}

const WHERE: &str = "
public class Where {
    public static String home() { return System.getProperty(\"java.home\"); }
    public static String own() { return Where.class.getResource(\"Where.class\").toString(); }
    public static String name() { return Where.class.getResource(\"Where.class\").getProtocol(); }
    public static boolean lone() throws Exception {
        return java.net.NetworkInterface.getByName(\"none\") == null;
    }
    public static boolean same() throws Exception {
        return new java.net.URL(\"http://no.invalid/\").equals(new java.net.URL(\"http://no.invalid/\"));
    }
    public static void main(String[] args) throws Exception { home(); own(); name(); lone(); same(); }
}
";

/// The class path and the JDK are elsewhere on other machines, which have other network interfaces,
/// and know other hosts.
#[test]
fn where_a_program_lies_is_not_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Where", WHERE, &[], |_| {});
        let json_too = [&OBSERVE[..], &["--format", "json"]].concat();
        let report = json(&run(jdk, &workplace, &json_too));
        let tests = written(&workplace, "tests");
        assert!(
            tests.contains("assertEquals(\"file\", Where.name());"),
            "{tests}"
        );
        for call in [
            "Where.own()",
            "Where.home()",
            "Where.lone()",
            "Where.same()",
        ] {
            assert!(!tests.contains(call), "{report}: {tests}");
        }
    }
}

const PREVIEWED: &str = "
public class Previewed {
    public static int twice(int number) { return 2 * number; }
    public static void main(String[] args) { System.out.println(twice(4)); }
}
";

/// A JVM loads classes with preview features only with an option, and so does javac.
#[test]
fn classes_with_preview_features_have_tests() {
    for jdk in jdks_in_turn() {
        // Which features are preview features depends on the version; the minor version of a file
        // says that it uses one.
        let change = |bytes: &mut Vec<u8>| bytes[4..6].fill(0xff);
        let workplace = record(jdk, "Previewed", PREVIEWED, &["--enable-preview"], change);
        let against = [&OBSERVE[..], &["--against", "classes"]].concat();
        let told = ok(&run(jdk, &workplace, &against));
        assert!(told.contains("the other version passes"), "{told}");
        let tests = written(&workplace, "tests");
        assert!(
            tests.contains("assertEquals(8, Previewed.twice(4));"),
            "{tests}"
        );
    }
}

const CALLBACKS: &str = "
public class Callbacks {
    private Callbacks() {}
    public static int apply(Thread by, int to) { return by.getPriority() + to; }
    public static void main(String[] args) { System.out.println(apply(Thread.currentThread(), 3)); }
}
";

/// A program whose calls all take what no test can make was called all the same.
#[test]
fn calls_with_what_no_test_can_make_are_told() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Callbacks", CALLBACKS, &[], |_| {});
        let output = run(jdk, &workplace, &OBSERVE);
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        let told = text(&output.stdout);
        assert!(told.contains("Callbacks.apply (Thread)"), "{told}");
        let reason = text(&output.stderr);
        assert!(
            reason.contains("can make nothing of what the run called"),
            "{reason}"
        );
    }
}

const ZEROS: &str = "
public class Zeros {
    public static double minus(double zero) { return -zero; }
    public static float[] minus(float zero) { return new float[] {-zero}; }
    public static void main(String[] args) { minus(0.0); minus(0f); }
}
";

/// JUnit 4 takes -0.0 for 0.0 if it is given a tolerance.
#[test]
fn the_sign_of_zero_is_asserted() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Zeros", ZEROS, &[], |_| {});
        let four = [
            &OBSERVE[..],
            &["--framework", "junit4", "--against", "classes"],
        ]
        .concat();
        let told = ok(&run(jdk, &workplace, &four));
        assert!(told.contains("the other version passes"), "{told}");
        let tests = written(&workplace, "tests");
        assert!(
            tests.contains("Double.valueOf(-0.0), Double.valueOf(Zeros.minus(0.0))"),
            "{tests}"
        );
        assert!(
            tests.contains("Arrays.toString(new float[] {-0.0f})"),
            "{tests}"
        );
        ok(&run(jdk, &workplace, &OBSERVE));
        passes(jdk, &workplace, "tests", "classes");
    }
}

const PASSED: &str = "
public class Passed {
    public static class Base { public String take(Object value) { return \"object\"; } }
    public static class Heir extends Base { public String take(String text) { return \"text\"; } }
    public static int sum(int[][] grid) {
        int sum = 0;
        for (int[] row : grid) {
            for (int one : row) {
                sum += one;
            }
        }
        return sum;
    }
    public static String dive(int depth) throws Throwable {
        if (depth > 9) {
            throw new Throwable(\"deep\");
        }
        return \"fine\";
    }
    public static void main(String[] args) throws Throwable {
        int[][] grid = new int[2][2];
        grid[0][1] = 7;
        sum(grid);
        grid[1][0] = 3;
        sum(grid);
        dive(1);
        Base base = new Heir();
        base.take(null);
    }
}
";

/// Arrays are passed as they were, nulls with the type that selects the called method, and
/// exceptions are declared if needed.
#[test]
fn what_was_passed_is_passed() {
    for jdk in jdks_in_turn() {
        let workplace = record(jdk, "Passed", PASSED, &[], |_| {});
        ok(&run(jdk, &workplace, &OBSERVE));
        let tests = written(&workplace, "tests");
        for told in [
            "assertEquals(7, Passed.sum(new int[][] {{0, 7}, {0, 0}}))",
            "assertEquals(10, Passed.sum(new int[][] {{0, 7}, {3, 0}}))",
            "throws Throwable {\n        assertEquals(\"fine\", Passed.dive(1))",
            ".take((Object) null)",
        ] {
            assert!(tests.contains(told), "{told}: {tests}");
        }
        passes(jdk, &workplace, "tests", "classes");
    }
}

const WITHOUT: &str = "
public class Without {
    public static final Optional EXTRA = null;
    private final int size;
    public Without(int size) { this.size = size; }
    public Without(Optional extra, int size) { this(size); }
    public int twice() { return 2 * size; }
    public static int sum(int one, int two) { return one + two; }
    public Optional extra() { return null; }
    enum Depth { SHALLOW, DEEP }
    public static int sink(Depth depth) { return 7 * depth.ordinal(); }
    public static Object pearl() { return new Shell.Pearl(); }
    public static class Shell {
        public static class Pearl {}
    }
}
class Optional {}
";

/// A class has members for a missing library, and makes objects of a class in one: what needs none
/// of that is tested. Tests see constants that only the package sees.
#[test]
fn what_needs_no_missing_class_is_tested() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("generate-without");
        fs::write(workplace.join("Without.java"), WITHOUT).expect("a source");
        workplace.compile(jdk, &[], &[workplace.join("Without.java")]);
        for missing in ["Optional", "Without$Shell"] {
            let file = workplace.join(format!("classes/{missing}.class"));
            fs::remove_file(file).expect("a class");
        }
        let tests = generate(
            jdk,
            &workplace,
            "tests",
            &["--universal", "--sequences", "300"],
        );
        for call in [
            "Without.sum(",
            ".twice()",
            "new Without(",
            "Without.pearl()",
            "Without.sink(Without.Depth.",
        ] {
            assert!(tests.contains(call), "{call}: {tests}");
        }
    }
}
