//! `hindsight plan` of programs that call the JDK, by its classes.

use crate::common::*;
use hindsight_tracelog::plan::{Field, Method, Plan};
use std::fs;
use std::path::Path;

/// The plan of one class and what stands beside it in its file.
fn plan(dir: &Path, source: &str) -> Plan {
    plan_of(dir, &[("A.java", source)])
}

fn plan_of(dir: &Path, sources: &[(&str, &str)]) -> Plan {
    let classes = compile(dir, sources);
    plan_by(dir, &classes.display().to_string())
}

fn plan_by(dir: &Path, classpath: &str) -> Plan {
    let file = dir.join("a.plan");
    let out = file.display().to_string();
    let arguments = ["plan", "--classpath", classpath, "--quiet", "--out", &out];
    let output = hindsight(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    Plan::decode(&fs::read(&file).unwrap()).unwrap()
}

fn method<'p>(plan: &'p Plan, name: &str) -> &'p Method {
    let mut methods = plan.classes.iter().flat_map(|class| &class.methods);
    methods.find(|method| method.name == name).unwrap()
}

fn names(fields: &[Field]) -> Vec<&str> {
    fields.iter().map(|field| field.name.as_str()).collect()
}

/// A body reads a field; somebody else writes it, by a reference that is no argument of the method's.
#[test]
fn what_is_written_by_another_reference_is_copied() {
    let dir = tempfile::tempdir().unwrap();
    let source = r#"import java.util.*;
        class A {
            static A INSTANCE = new A(); int n = 5, still = 3, made;
            class Inner { void go() { n = 0; } }
            static class Helper { final A owner; Helper(A a) { owner = a; } void reset() { owner.n = 0; } }
            A self() { return this; }
            static void clear() { INSTANCE.n = 0; }
            void check(int old) { if (old == still) throw new IllegalStateException(); }
            void lambda() { int old = n; Runnable r = () -> { n = 0; }; r.run(); check(old); }
            void back(List<String> l) { int old = n; l.forEach(x -> n = 0); check(old); }
            void inner() { int old = n; new Inner().go(); check(old); }
            void helper() { int old = n; new Helper(this).reset(); check(old); }
            void fluent() { int old = n; self().n = 0; check(old); }
            void singleton() { int old = n; clear(); check(old); }
            void reflect(java.lang.reflect.Field f) throws Exception { int old = n; f.setInt(INSTANCE, 1); check(old); }
            static void either(A p, A q, boolean f) { int old = p.n; A a = f ? p : q; a.n = 0; p.check(old); }
            static void copy(A from, A to) { int old = from.n; to.n = 0; from.check(old); }
            void fresh(Class<?> c) throws Exception { int old = n; c.newInstance(); check(old); }
            void quiet(String l) { int old = n + made; A a = new A(); a.made = 2; check(old + l.length()); }
        }"#;
    let plan = plan(dir.path(), source);
    for name in [
        "lambda",
        "back",
        "inner",
        "helper",
        "fluent",
        "singleton",
        "either",
        "copy",
    ] {
        let first = &method(&plan, name).parameters[0];
        assert_eq!(names(&first.fields), ["n"], "{name}");
        assert!(!first.immutable, "{name}");
    }
    for name in ["reflect", "fresh"] {
        let fields = &method(&plan, name).parameters[0].fields;
        assert_eq!(names(fields), ["n"], "{name}");
    }
    // What nobody writes is left out, and what is written of an object that is new.
    let quiet = &method(&plan, "quiet").parameters[0];
    assert!(quiet.immutable && quiet.fields.is_empty(), "{quiet:?}");
}

/// Fields that only callees name, of what these are handed: a method can copy those that its class may read.
#[test]
fn fields_of_other_classes_are_told_where_they_are_open() {
    let dir = tempfile::tempdir().unwrap();
    let far = (
        "p/Far.java",
        "package p;
        public class Far {
            public int all; protected int below; int near; private int own; public final int still = hashCode();
            public void run() {
                if (all + below + near + own > still) throw new IllegalStateException();
                all++; below++; near++; own++;
            }
        }",
    );
    let source = r#"
        class Near {
            int near; private int own;
            void run() { if (near + own > 0) throw new IllegalStateException(); near++; own++; }
        }
        class Below extends p.Far {
            int near;
            void inherited() { run(); }
        }
        interface Constant { int near = 3; }
        class Hidden extends Near implements Constant { }
        class Above {
            protected int below; int near; public int all;
            void go() {
                if (below + near + all > 0) throw new IllegalStateException();
                below++; near++; all++;
            }
        }
        class Beneath extends Above {
            static void ofAbove(Above above) { above.go(); }
        }
        class A {
            static void ofFar(p.Far far) { far.run(); }
            static void ofNear(Near near) { near.run(); }
            static void ofBelow(Below below) { below.run(); }
            static void ofHidden(Hidden hidden) { hidden.run(); }
        }"#;
    let plan = plan_of(dir.path(), &[far, ("A.java", source)]);
    for (name, open) in [
        ("ofFar", &["all"][..]),
        ("ofNear", &["near"]),
        ("ofBelow", &["all"]),
        ("inherited", &["all", "below"]),
        // The JVM finds the interface's first.
        ("ofHidden", &[]),
        // The verifier would refuse the protected one if the superclass were of another loader.
        ("ofAbove", &["all", "near"]),
    ] {
        let parameter = &method(&plan, name).parameters[0];
        let told: Vec<&str> = (parameter.open.iter())
            .map(|field| field.name.as_str())
            .collect();
        assert_eq!(told, open, "{name}: {parameter:?}");
    }

    // Two loaders may have what is in two directories: that is no common package, then.
    let classes = dir.path().join("classes");
    let apart = dir.path().join("apart");
    fs::create_dir(&apart).unwrap();
    fs::rename(classes.join("Near.class"), apart.join("Near.class")).unwrap();
    let classpath = format!("{}:{}", classes.display(), apart.display());
    let plan = plan_by(dir.path(), &classpath);
    let parameter = &method(&plan, "ofNear").parameters[0];
    assert!(parameter.open.is_empty() && parameter.fields.len() == 2);
}

/// What a method reads by way of the JDK, which calls back what it gets.
#[test]
fn static_fields_that_callbacks_read_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let source = r#"import java.util.*;
        class A { }
        class Conf { static int mode = 1, size = 2, order = 3, none = 4; }
        class Key implements Comparable<Key> {
            public int compareTo(Key other) { return Conf.mode; }
            public int hashCode() { return Conf.size; }
        }
        class Use {
            static void sorts(List<Key> l) { Collections.sort(l); }
            static Object looks(Map<Key, String> m, Key k) { return m.get(k); }
            static Comparator<String> make() { return (one, other) -> Conf.order; }
            static void by(List<String> l, Comparator<String> c) { l.sort(c); }
            static int directly(Comparator<String> c) { return c.compare("", ""); }
            static double adds(double one) { return Math.sqrt(one) + 1; }
        }
        class Handlers {
            static final Map<String, String> all = new HashMap<>(); static int found; static final int MOST = 9;
            static String find(String name) { found++; return all.get(name); }
            static Object runs(java.lang.reflect.Method m) throws Exception { return m.invoke(null, "a"); }
            static void runsLater(java.lang.reflect.Method m) throws Exception { runs(m); }
            static Object makes(Class<?> c) throws Exception { return c.newInstance(); }
            static int nothing(int one) { return one + 1; }
        }"#;
    let plan = plan(dir.path(), source);
    let read = |name: &str, field: &str| {
        let statics = method(&plan, name).statics.as_deref();
        statics.is_some_and(|fields| names(fields).contains(&field))
    };
    assert!(read("sorts", "mode"));
    assert!(read("looks", "size"));
    assert!(read("by", "order") && read("directly", "order"));
    for method in ["sorts", "looks", "by", "directly"] {
        assert!(!read(method, "none"));
    }
    // What runs nobody knows what: those that are taken of a class without a plan.
    for name in ["runs", "runsLater", "makes"] {
        assert!(read(name, "all") && read(name, "found"), "{name}");
        assert!(!read(name, "MOST"), "{name}");
    }
    for name in ["adds", "nothing"] {
        assert_eq!(method(&plan, name).statics.as_deref(), Some(&[][..]));
    }
}
