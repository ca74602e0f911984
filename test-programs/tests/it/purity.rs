//! Tests which methods change nothing, according to `hindsight mutability`.

use crate::mutability::verdicts;
use hindsight_test_programs::{Workplace, both, hindsight, jdks, root};
use serde_json::Value;
use std::process::Command;

const SETTINGS: &str = "
import java.io.File;
import java.nio.file.Files;
import java.util.Locale;
import java.util.TimeZone;

public class Settings {
    static boolean property() {
        System.setProperty(\"a\", \"b\");
        return true;
    }

    static boolean locale() {
        Locale.setDefault(Locale.ROOT);
        return true;
    }

    static boolean zone() {
        TimeZone.setDefault(null);
        return true;
    }

    static boolean end() {
        System.exit(1);
        return true;
    }

    static boolean delete(String name) {
        return new File(name).delete();
    }

    static boolean create(String name) throws Exception {
        return Files.createFile(new File(name).toPath()) != null;
    }

    static boolean thread() {
        new Thread(() -> {}).start();
        return true;
    }

    static boolean writer(String name) throws Exception {
        new java.io.PrintWriter(name);
        return true;
    }

    static boolean stream(File file) throws Exception {
        new java.io.PrintStream(file);
        return true;
    }

    static boolean byOthers() {
        return property();
    }

    static boolean asks(String name) {
        return Boolean.getBoolean(name) && new File(name).exists() && Locale.getDefault() != null;
    }
}
";

/// A method that changes a setting of the JVM, a file or a thread is not pure, although it changes
/// no parameter.
#[test]
fn what_changes_the_jvm_is_not_pure() {
    let workplace = Workplace::new("settings");
    let release = ["--release", "17"];
    let classes = workplace.compile_text(&jdks()[0], &release, "Settings", SETTINGS);
    for options in [&[][..], &["--sound"]] {
        let found = verdicts(&classes, options);
        let mut methods = 0;
        for method in found["methods"].as_array().expect("methods") {
            let name = method["method"].as_str().expect("a name");
            if name == "<init>" || name.starts_with("lambda$") {
                continue;
            }
            assert_eq!(method["pure"], name == "asks", "{options:?}: {method}");
            methods += 1;
        }
        // All that are declared above.
        assert_eq!(methods, SETTINGS.matches("\n    static boolean ").count());
    }
}

const SHAPES: &str = "
import java.util.*;

public class Shapes {
    static int made;
    int asked;
    abstract static class Shape {
        abstract double area();
        abstract void grow(int by);
        abstract int count();
        abstract int mixed(Shapes of);
        abstract String none(Shapes of);
    }
    static class Square extends Shape {
        double side;
        double area() { return side * side; }
        void grow(int by) { side += by; }
        int count() { return 4; }
        int mixed(Shapes of) { return 4; }
        String none(Shapes of) { return \"\"; }
    }
    static class Circle extends Shape {
        double radius;
        double area() { return radius * radius * 3; }
        void grow(int by) { radius += by; }
        int count() { return made++; }
        int mixed(Shapes of) { return of.asked++; }
        native String none(Shapes of);
    }
    interface Sized { int size(); }
    static class Names extends ArrayList<String> implements Sized { }
    interface Length { int of(String text); }
    interface Maker { Object make(); }
    interface Counting { int next(); }
    interface Nobody { int any(); }
    static int length(String text, Length length) { return length.of(text); }
    static int lengths() { return length(\"a\", String::length) + length(\"b\", text -> 2); }
    static Object make(Maker maker) { return maker.make(); }
    static Object makes() { return make(Object::new); }
    static int count(Counting counting) { return counting.next(); }
    static int counts(int[] cell) { return count(() -> cell[0]++); }
}
";

/// A method without a body changes what its implementations change, including lambdas and the
/// JDK's.
#[test]
fn what_has_no_body_is_as_pure_as_what_implements_it() {
    let workplace = Workplace::new("mutability-shapes");
    let release = ["--release", "17", "-g"];
    let classes = workplace.compile_text(&jdks()[0], &release, "Shapes", SHAPES);
    let expected = [
        ("area", Value::Bool(true)),
        ("grow", Value::Bool(false)),
        // It changes no parameter, but static state.
        ("count", Value::Bool(false)),
        ("mixed", Value::Bool(false)),
        ("none", Value::Null),
        ("size", Value::Bool(true)),
        ("of", Value::Bool(true)),
        ("make", Value::Bool(true)),
        ("next", Value::Bool(false)),
        ("any", Value::Null),
    ];
    let bodiless = ["Shape", "Sized", "Length", "Maker", "Counting", "Nobody"];
    let bodiless = bodiless.map(|name| format!("Shapes${name}"));
    let found = verdicts::<&str>(&classes, &[]);
    let proved = verdicts(&classes, &["--sound"]);
    let pure = |document: &Value, name: &str| {
        let methods = document["methods"].as_array().expect("methods");
        let mut own = methods.iter().filter(|method| {
            method["method"] == name && bodiless.iter().any(|class| method["class"] == **class)
        });
        own.next().expect(name)["pure"].clone()
    };
    for (name, is) in &expected {
        assert_eq!(pure(&found, name), *is, "{name}");
        // A proof says the same or less: some lists do change when their size is asked for.
        if *is != Value::Bool(true) {
            assert_ne!(pure(&proved, name), Value::Bool(true), "{name}");
        }
    }
    assert_eq!(pure(&proved, "area"), true);
    let printed = |arguments: &[&str]| {
        let output = Command::new(hindsight())
            .args(["mutability", "--quiet", "--classpath"])
            .arg(&classes)
            .args(arguments)
            .env("JAVA_HOME", &jdks()[0].home)
            .env(
                "XDG_CACHE_HOME",
                root().join("target/mutability").join("cache"),
            )
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let list = printed(&["--format", "randoop"]);
    assert!(list.contains("Shapes$Shape.area()\n"), "{list}");
    assert!(!list.contains("Shapes$Shape.count()\n"), "{list}");
    let list = printed(&["--format", "chicory"]);
    assert!(
        list.contains("abstract double Shapes$Shape.area()\n"),
        "{list}"
    );
    for (method, why) in [
        ("Shapes$Shape.grow", "not pure: this is mutable"),
        (
            "Shapes$Shape.count",
            "not pure: Shapes$Circle.count implements it, and is not pure",
        ),
        (
            "Shapes$Shape.none",
            "whether it is pure is not known, as arg0 is unknown",
        ),
        (
            "Shapes$Nobody.any",
            "whether it is pure is not known: it has no body, and nothing is known that implements it",
        ),
    ] {
        let text = printed(&["--explain", method]);
        assert!(text.contains(why), "{text}");
    }
}

/// Whether a method is pure, by its name.
fn is_pure(document: &Value, name: &str) -> Value {
    let methods = document["methods"].as_array().expect("methods");
    let mut own = methods.iter().filter(|method| method["method"] == name);
    own.next().expect(name)["pure"].clone()
}

/// A body that is not analysed because it is too large may do more than change its parameters.
#[test]
fn a_body_that_is_too_large_is_not_taken_for_pure() {
    let workplace = Workplace::new("mutability-wide");
    for groups in [1, 60] {
        let group = |at: usize| {
            format!(
                "List<List<String>> a{at} = in.stream().map(x -> List.of(x, \"{at}\")).collect(Collectors.toList());
                Map<String, List<List<String>>> m{at} = a{at}.stream().collect(Collectors.groupingBy(x -> x.get(0)));
                for (Map.Entry<String, List<List<String>>> e : m{at}.entrySet())
                    for (List<String> l : e.getValue()) for (String t : l) System.out.println(t);"
            )
        };
        let source = format!(
            "import java.util.*; import java.util.stream.*;
            public class Wide {{
                static int count;
                static void inc() {{ count++; }}
                static void run() {{ List<String> in = List.of(\"q\"); inc(); {} }}
                static void caller() {{ run(); }}
            }}",
            (0..groups).map(group).collect::<String>()
        );
        let release = ["--release", "17"];
        let classes = workplace.compile_text(&jdks()[0], &release, "Wide", &source);
        for options in [&[][..], &["--sound"]] {
            let found = verdicts(&classes, options);
            for name in ["inc", "run", "caller"] {
                assert_eq!(is_pure(&found, name), false, "{groups} {options:?} {name}");
            }
        }
    }
}

const CHAINS: &str = "
import java.io.*;

public class Chains {
    static String statements(char c) { StringBuilder b = new StringBuilder(); b.append(c); b.append(3); return b.toString(); }
    static String chained(String s) { return new StringBuilder().append(s).append(3).append('c').reverse().toString(); }
    static String inserted(String s) { return new StringBuffer(s).insert(0, s).append(s).toString(); }
    static String written(String s) { StringWriter out = new StringWriter(); out.append(s).append('c'); return out.toString(); }
    static void given(StringBuilder b) { b.append(1).append(2); }
    static StringBuilder kept = new StringBuilder();
    static void stored() { kept.append(1).append(2); }
}
";

/// A builder's method returns the builder: a chain of them changes nothing else.
#[test]
fn a_chain_of_a_builder_of_its_own_is_pure() {
    let workplace = Workplace::new("mutability-chains");
    let classes = workplace.compile_text(&jdks()[0], &["--release", "17"], "Chains", CHAINS);
    let found = verdicts::<&str>(&classes, &[]);
    for name in ["statements", "chained", "inserted", "written"] {
        assert_eq!(is_pure(&found, name), true, "{name}");
    }
    for name in ["given", "stored"] {
        assert_eq!(is_pure(&found, name), false, "{name}");
    }
}
