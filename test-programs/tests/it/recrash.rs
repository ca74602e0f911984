//! The acceptance examples of ReCrash (thesis, Fig. 4-5 to 4-8 and 4-15), from the crash to tests
//! that JUnit runs, on every JDK.

use hindsight_test_programs::{
    Jdk, Workplace, both, hindsight, jars, jdks, jdks_in_turn, root, text,
};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources(folder: &str, names: &[&str]) -> Vec<PathBuf> {
    names
        .iter()
        .map(|name| {
            root()
                .join("test-programs/recrash")
                .join(folder)
                .join(format!("{name}.java"))
        })
        .collect()
}

/// Records one run of `recrash.MAIN`, turns it into tests, and returns the report's frames.
fn record(
    workplace: &Workplace,
    jdk: &Jdk,
    main: &str,
    names: &[&str],
    jvm: &[&str],
    junit: &[&str],
) -> Vec<Value> {
    let classes = workplace.compile(jdk, &["--release", "11"], &sources("", names));
    let run = workplace
        .java_with_agent(jdk, "")
        .args(jvm)
        .env("SEED", "2464063869")
        .arg("-cp")
        .arg(&classes)
        .arg(format!("recrash.{main}"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", both(&run));
    let files = workplace.crash_files();
    assert_eq!(files.len(), 1);
    let output = Command::new(hindsight())
        .arg("junit")
        .args(&files)
        .arg("--classpath")
        .arg(&classes)
        .arg("--out")
        .arg(workplace.join("tests"))
        .args(["--format", "json", "--jdk"])
        .arg(&jdk.home)
        .args(junit)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(report["schema"], "hindsight.junit/1");
    report["crashes"][0]["frames"].as_array().unwrap().clone()
}

fn verdict<'a>(frames: &'a [Value], method: &str) -> &'a str {
    let frame = frames.iter().find(|frame| frame["method"] == method);
    frame
        .and_then(|frame| frame["verdict"].as_str())
        .unwrap_or("no such frame")
}

/// Runs the emitted tests by JUnit's console. Returns the names of those that pass, and the number
/// of all.
pub(super) fn run_tests(workplace: &Workplace, jdk: &Jdk, classes: &Path) -> (Vec<String>, usize) {
    let listed = Command::new(root().join("scripts/jars"))
        .args([
            "--list",
            "org.junit.platform:junit-platform-console-standalone:1.11.4",
        ])
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", both(&listed));
    let console = text(&listed.stdout).trim().to_owned();
    let tests = workplace.join("tests");
    // Tests whose values can all be built need no library.
    let mut path = format!("{}:{console}", classes.display());
    for library in find(&tests.join("lib"), "jar") {
        path = format!("{path}:{}", library.display());
    }
    let out = workplace.join("test-classes");
    let _ = std::fs::remove_dir_all(&out);
    let mut arguments: Vec<OsString> = ["-nowarn", "-cp", &path, "-d"].map(OsString::from).into();
    arguments.push(out.clone().into());
    arguments.extend(
        find(&tests.join("src/test/java"), "java")
            .into_iter()
            .map(OsString::from),
    );
    jdk.compile(arguments);
    let run = jdk
        .java()
        .arg("-cp")
        .arg(format!(
            "{}:{}:{path}",
            out.display(),
            tests.join("src/test/resources").display()
        ))
        .args([
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--disable-banner",
            "--disable-ansi-colors",
        ])
        .args([
            "--include-classname",
            ".*",
            "--details=tree",
            "--details-theme=ascii",
            "--scan-classpath",
        ])
        .arg(&out)
        .output()
        .unwrap();
    let output = text(&run.stdout);
    assert!(!output.contains("WARNING"), "{output}");
    let tests: Vec<&str> = output
        .lines()
        .filter(|line| line.contains("() [OK]") || line.contains("() [X]"))
        .collect();
    let passed = tests
        .iter()
        .filter(|line| line.contains("[OK]"))
        .map(|line| (*line).to_owned())
        .collect();
    (passed, tests.len())
}

fn find(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(find(&path, extension));
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    found
}

#[test]
fn random_crash_gives_two_tests_and_one_goes_green() {
    for jdk in jdks() {
        let workplace = Workplace::new("random-crash");
        let frames = record(&workplace, jdk, "RandomCrash", &["RandomCrash"], &[], &[]);
        assert_eq!(verdict(&frames, "toUpperCase"), "reproduces", "{frames:#?}");
        assert_eq!(verdict(&frames, "hexAbs"), "reproduces", "{frames:#?}");
        assert_ne!(verdict(&frames, "main"), "reproduces", "{frames:#?}");

        let source =
            std::fs::read_to_string(&find(&workplace.join("tests/src"), "java")[0]).unwrap();
        assert!(
            source.contains(".hexAbs(0)") && source.contains(".toUpperCase(null)"),
            "{source}"
        );
        let (passed, all) = run_tests(&workplace, jdk, &workplace.join("classes"));
        assert_eq!((passed.len(), all), (0, 2), "red while the bug is there");
        let fixed = Workplace::new("random-fixed");
        let classes = fixed.compile(
            jdk,
            &["--release", "11"],
            &sources("fixed", &["RandomCrash"]),
        );
        let (passed, all) = run_tests(&workplace, jdk, &classes);
        assert_eq!(
            (passed.len(), all),
            (1, 2),
            "one green when fixed: {passed:?}"
        );
        assert!(passed[0].contains("hexAbs"), "{passed:?}");
    }
}

#[test]
fn svn_command_line_is_exposed_by_the_test_of_run() {
    let names = ["SVNCommandLine", "SVNCheckout"];
    for jdk in jdks() {
        let workplace = Workplace::new("svn");
        let frames = record(
            &workplace,
            jdk,
            "SVNCheckout",
            &names,
            &[],
            &["--framework", "junit5"],
        );
        assert_eq!(verdict(&frames, "getURL"), "reproduces", "{frames:#?}");
        assert_eq!(verdict(&frames, "run"), "reproduces", "{frames:#?}");
        assert!(
            !frames.iter().any(|frame| frame["method"] == "init"),
            "init is no longer on the stack"
        );
        let fixed = Workplace::new("svn-fixed");
        let classes = fixed.compile(jdk, &["--release", "11"], &sources("fixed", &names));
        let (passed, _) = run_tests(&workplace, jdk, &classes);
        assert!(passed.iter().any(|line| line.contains("run")), "{passed:?}");
        assert!(
            !passed.iter().any(|line| line.contains("getURL")),
            "{passed:?}"
        );
    }
}

#[test]
fn a_project_is_red_and_green_under_maven() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("maven");
    for framework in ["junit5", "junit4"] {
        let _ = std::fs::remove_dir_all(workplace.join("out"));
        let _ = std::fs::remove_dir_all(workplace.join("tests"));
        let options = ["--project", "--framework", framework];
        record(
            &workplace,
            jdk,
            "RandomCrash",
            &["RandomCrash"],
            &[],
            &options,
        );
        let maven = || {
            Command::new("mvn")
                .args(["-q", "-B", "test"])
                .current_dir(workplace.join("tests"))
                .env("JAVA_HOME", &jdk.home)
                .output()
                .expect("mvn is installed (see README)")
        };
        let red = maven();
        assert!(!red.status.success(), "{}", both(&red));
        let output = both(&red);
        assert!(
            output.contains("Tests run: 2, Failures: 0, Errors: 2"),
            "{output}"
        );
        assert!(
            output.contains("hexAbs") && output.contains("NullPointerException"),
            "{output}"
        );
    }
}

/// The program has two directories, and a test passes an object of one where the other declares the
/// type: loading the test to look for methods needs both. And the report of an exception whose
/// message is not available fails.
#[test]
fn a_project_of_two_directories_is_red_and_green_under_maven() {
    const LIBRARY: &str = "public interface Pricer { int price(); }";
    const PROGRAM: &str = "
public class Prices {
    static class Standard implements Pricer {
        private final int price;
        Standard(int price) { this.price = price; }
        @Override public int price() { return price; }
    }
    static class Sold extends RuntimeException {
        final String name;
        Sold(String name) { this.name = name; }
        @Override public String getMessage() { return name.trim(); }
    }
    static int each(Pricer pricer, int pieces) { return pricer.price() / pieces; }
    static void sell(int pieces) {
        if (pieces == 0) throw new Sold(null);
    }
    public static void main(String[] arguments) throws Exception {
        Thread seller = new Thread(() -> sell(0));
        seller.start();
        seller.join();
        System.out.println(each(new Standard(2), 0));
    }
}";
    let jdk = &jdks()[0];
    let place = Workplace::new("maven-library");
    let library = place.compile_text(jdk, &["--release", "11"], "Pricer", LIBRARY);
    let against = library.display().to_string();
    let options = ["--release", "11", "-cp", &against];
    let workplace = Workplace::new("maven-two");
    let classes = workplace.compile_text(jdk, &options, "Prices", PROGRAM);
    let classpath = std::env::join_paths([&classes, &library]).expect("a class path");
    let run = workplace
        .java_with_agent(jdk, "")
        .arg("-cp")
        .arg(&classpath)
        .arg("Prices")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", both(&run));
    let made = workplace.junit(jdk, &classpath).arg("--project").output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", both(&made));
    let fixed = PROGRAM.replace("/ pieces", "/ Math.max(pieces, 1)");
    let fixed = fixed.replace("pieces == 0", "pieces < 0");
    let place_of_fixed = Workplace::new("maven-two-fixed");
    let fixed = place_of_fixed.compile_text(jdk, &options, "Prices", &fixed);
    let fixed = std::env::join_paths([&fixed, &library]).expect("a class path");
    let fixed = format!("-Dprogram.classpath={}", fixed.display());
    for (extra, expected) in [
        (None, "Tests run: 4, Failures: 2, Errors: 2"),
        (Some(&fixed), "Tests run: 4, Failures: 0, Errors: 0"),
    ] {
        let maven = Command::new("mvn")
            .args(["-B", "test"])
            .args(extra)
            .current_dir(workplace.join("tests"))
            .env("JAVA_HOME", &jdk.home)
            .output()
            .expect("mvn is installed (see README)");
        let told = both(&maven);
        assert!(told.contains(expected), "{expected}: {told}");
        assert_eq!(maven.status.success(), extra.is_some(), "{told}");
    }
}

/// A fix may give fields other types, or move them to a superclass: tests restore what was recorded
/// all the same.
#[test]
fn tests_of_fixed_classes_restore_fields_that_were_changed() {
    const PROGRAM: &str = r#"
import java.util.*;

public class Carts {
    static class Base { }
    static class Cart extends Base {
        private static HashMap<String, Integer> known = new HashMap<>();
        private String owner = "nobody";
        private final HashMap<String, Integer> items = new HashMap<>();
        private final ArrayList<String> log = new ArrayList<>();
        private int total = 2;
        private Integer count = 0;
        private final Object guard;
        Cart(Object guard) { this.guard = guard; }
        void add(String name, int price) {
            items.put(name, price);
            known.put(name, price);
            log.add(name);
            total += price;
            count++;
            owner = "somebody";
        }
        int price(String name) {
            String state = owner + items + log + total + count + known;
            if (!state.equals("somebody{pen=3}[pen]51{pen=3}")) throw new IllegalStateException(state);
            return items.get(name);
        }
    }
    public static void main(String[] args) {
        Cart cart = new Cart(new Thread());
        cart.add("pen", 3);
        cart.price("ink");
    }
}
"#;
    let edits = [
        ("items.get(name)", "items.getOrDefault(name, 0)"),
        ("class Base { }", "class Base { String owner; }"),
        ("private String owner = \"nobody\";", ""),
        (
            "final HashMap<String, Integer> items = new HashMap",
            "final Map<String, Integer> items = new java.util.concurrent.ConcurrentHashMap",
        ),
        (
            "final ArrayList<String> log = new ArrayList",
            "final Deque<String> log = new ArrayDeque",
        ),
        ("int total", "Long total"),
        ("total += price", "total += (long) price"),
        ("= 2;", "= 2L;"),
        ("Integer count", "int count"),
        ("static HashMap<", "static Map<"),
    ];
    let mut fixed = PROGRAM.to_owned();
    for (from, to) in edits {
        assert!(fixed.contains(from), "{from}");
        fixed = fixed.replace(from, to);
    }
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("carts");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Carts", PROGRAM));
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        let made = workplace.junit(jdk, &classes).output().unwrap();
        let told = both(&made);
        assert!(told.contains("2 of 2 frames reproduce"), "{told}");
        assert_eq!(run_tests(&workplace, jdk, &classes), (Vec::new(), 2));
        let place = Workplace::new("carts-fixed");
        let classes = place.compile_text(jdk, &["--release", "11"], "Carts", &fixed);
        let (passed, all) = run_tests(&workplace, jdk, &classes);
        assert_eq!((passed.len(), all), (2, 2), "{passed:?}");
    }
}

/// A test that reproduces without a registry that only `main` fills passes with the fix all the
/// same, because the fixed program reads it. What a call fills by itself is not set.
#[test]
fn tests_have_the_static_state_that_the_fixed_program_reads() {
    const PROGRAM: &str = r#"
import java.util.*;

public class Handlers {
    interface Handler { int handle(String text); }
    static class Length implements Handler {
        public int handle(String text) { return text.length(); }
    }
    static class Registry {
        final Map<String, Handler> handlers = new HashMap<>();
    }
    static class Base {
        static String prefix = "none";
    }
    static class Dispatcher extends Base {
        private static final Registry REGISTRY = new Registry();
        private static final Map<String, Integer> CACHE = new HashMap<>();
        private static int calls;
        private static String last;
        int dispatch(String kind, String text) {
            calls++;
            text = text.trim();
            return CACHE.computeIfAbsent(text, key -> handler(kind).handle(key));
        }
        private static Handler handler(String kind) {
            Handler handler = REGISTRY.handlers.get(kind);
            if (handler == null) throw new IllegalArgumentException("no handler of " + kind);
            return handler;
        }
        static int cached(String key) {
            calls++;
            if (last == null) last = key;
            Integer known = CACHE.get(key);
            if (known == null) {
                known = 7 / Integer.parseInt(key);
                CACHE.put(key, known);
            }
            return known + last.length();
        }
    }
    public static void main(String[] args) {
        Dispatcher.cached("1");
        if (args.length > 0) Dispatcher.cached("zero");
        Dispatcher.REGISTRY.handlers.put("length", new Length());
        Dispatcher dispatcher = new Dispatcher();
        dispatcher.dispatch("length", "one");
        dispatcher.dispatch("length", null);
    }
}
"#;
    let fixed = PROGRAM
        .replace("text.trim()", "text == null ? \"\" : text.trim()")
        .replace("Integer.parseInt(key)", "key.length()");
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("handlers");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Handlers", PROGRAM));
        let again = workplace
            .java_with_agent(jdk, "")
            .arg("-cp")
            .arg(&classes)
            .args(["Handlers", "zero"])
            .output()
            .unwrap();
        let said = (both(&run), both(&again));
        assert_eq!(workplace.crash_files().len(), 2, "{said:?}");
        let made = workplace.junit(jdk, &classes).output().unwrap();
        let told = both(&made);
        let set = "sets static fields that nothing fills here: Handlers$Dispatcher.REGISTRY ->";
        assert_eq!(told.matches(set).count(), 1, "{told}");
        let test = |number: u32| {
            let file = format!("tests/src/test/java/HandlersCrash000{number}Test.java");
            std::fs::read_to_string(workplace.join(file)).unwrap()
        };
        assert_eq!(test(1).matches("setStatics").count(), 1, "{}", test(1));
        assert!(!test(2).contains("setStatics"), "{}", test(2));
        assert_eq!(run_tests(&workplace, jdk, &classes).0, Vec::<String>::new());
        let place = Workplace::new("handlers-fixed");
        let classes = place.compile_text(jdk, &["--release", "11"], "Handlers", &fixed);
        let (passed, all) = run_tests(&workplace, jdk, &classes);
        assert_eq!((passed.len(), all), (4, 4), "{passed:?}");
    }
}

/// A library's cache behind a static field is not set: the library fills it by itself, and old
/// entries about the program are wrong for the fixed one.
#[test]
fn caches_of_a_library_are_left_to_it() {
    const PROGRAM: &str = r#"
import com.google.gson.Gson;

public class Boxes {
    static class Item {
        String name;
        int count;
    }
    private static final Gson GSON = new Gson();
    static int boxes(String json) {
        Item item = GSON.fromJson(json, Item.class);
        return item.count / item.name.indexOf('x');
    }
    public static void main(String[] args) {
        System.out.println(GSON.toJson(new int[] {1}));
        System.out.println(boxes("{\"name\":\"xink\",\"count\":4,\"per\":2}"));
    }
}
"#;
    let fixed = PROGRAM
        .replace("int count;", "int count;\n        int per;")
        .replace("item.name.indexOf('x')", "item.per");
    let gson = jars(&["com.google.code.gson:gson:2.6.2"]).remove(0);
    let with_gson = |classes: PathBuf| format!("{}:{}", classes.display(), gson.display());
    let library = gson.to_str().unwrap();
    let options = ["--release", "11", "-cp", library];
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("boxes");
        let path = with_gson(workplace.compile_text(jdk, &options, "Boxes", PROGRAM));
        let run = workplace
            .java_with_agent(jdk, "")
            .args(["-cp", &path, "Boxes"])
            .output()
            .unwrap();
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        let made = workplace.junit(jdk, &path).output().unwrap();
        let test = workplace.join("tests/src/test/java/BoxesCrash0001Test.java");
        let test = std::fs::read_to_string(test).unwrap_or_else(|_| panic!("{}", both(&made)));
        assert!(!test.contains("setStatics"), "{test}");
        let ran = run_tests(&workplace, jdk, Path::new(&path));
        assert_eq!(ran, (Vec::new(), 2));
        let place = Workplace::new("boxes-fixed");
        let path = with_gson(place.compile_text(jdk, &options, "Boxes", &fixed));
        let (passed, all) = run_tests(&workplace, jdk, Path::new(&path));
        assert_eq!((passed.len(), all), (2, 2), "{passed:?}");
    }
}

/// A constant that is the receiver or an argument has what `main` has put into it, although no code
/// of the call names it.
#[test]
fn tests_have_the_state_of_constants_that_are_arguments() {
    const PROGRAM: &str = r#"
import java.util.*;

public class Codecs {
    enum Table {
        SIZES {
            int size(String name) {
                return sizes.get(name);
            }
        };
        final Map<String, Integer> sizes = new HashMap<>();
        abstract int size(String name);
    }
    static int sum(Table table, String name) {
        return 1 + table.size(name);
    }
    public static void main(String[] args) {
        Table.SIZES.sizes.put("utf8", 1);
        System.out.println(sum(Table.SIZES, "utf9"));
    }
}
"#;
    let fixed = PROGRAM.replace(
        "return sizes.get(name);",
        "if (sizes.isEmpty()) throw new IllegalStateException(\"no codecs\");
         return sizes.getOrDefault(name, 0);",
    );
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("codecs");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Codecs", PROGRAM));
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        let told = both(&workplace.junit(jdk, &classes).output().unwrap());
        let set = "sets static fields that nothing fills here: Codecs$Table.SIZES ->";
        assert_eq!(told.matches(set).count(), 2, "{told}");
        assert_eq!(run_tests(&workplace, jdk, &classes), (Vec::new(), 3));
        let place = Workplace::new("codecs-fixed");
        let classes = place.compile_text(jdk, &["--release", "11"], "Codecs", &fixed);
        let (passed, all) = run_tests(&workplace, jdk, &classes);
        assert_eq!((passed.len(), all), (3, 3), "{passed:?}");
    }
}

/// A frame that only wraps an exception is not part of the call that threw it: the fields that it
/// reads are not set.
#[test]
fn who_wraps_a_cause_reads_nothing_for_it() {
    const PROGRAM: &str = r#"
import java.util.*;

public class Wrapped {
    static class Registry {
        private final Map<String, Integer> known = new HashMap<>();
        void enter(String name, int value) {
            known.put(name, value);
        }
        int get(String name) {
            return known.get(name);
        }
    }
    private static final Registry REGISTRY = new Registry();
    static int parse(String text) {
        return Integer.parseInt(text);
    }
    static int value(String text) {
        try {
            return REGISTRY.get("one") + parse(text);
        } catch (NumberFormatException e) {
            throw new IllegalStateException("no value", e);
        }
    }
    public static void main(String[] args) {
        REGISTRY.enter("one", 1);
        System.out.println(value("x"));
    }
}
"#;
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("wrapped");
        let (classes, run) = workplace.run_text(jdk, "11", "", ("Wrapped", PROGRAM));
        assert_eq!(workplace.crash_files().len(), 1, "{}", both(&run));
        let told = both(&workplace.junit(jdk, &classes).output().unwrap());
        let test = workplace.join("tests/src/test/java/WrappedCrash0001Test.java");
        let test = std::fs::read_to_string(test).unwrap_or_else(|_| panic!("{told}"));
        // `parse` and `main` have all that they need, `value` does not.
        assert_eq!(test.matches("void ").count(), 3, "{test}");
        assert_eq!(test.matches("setStatics").count(), 1, "{test}");
        assert_eq!(run_tests(&workplace, jdk, &classes), (Vec::new(), 3));
    }
}
