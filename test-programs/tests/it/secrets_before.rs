//! What was secret at a frame's entry, was masked beside the objects, or is in a collection of any
//! library, is in no crash file.

use super::secrets::readable;
use hindsight_test_programs::{Jdk, Workplace, both, jars, jdks};
use hindsight_tracelog::crash::Value;
use hindsight_tracelog::reader::Crash;
use std::fs;
use std::process::Output;

/// Hazard: secrets in memory.
const BEFORE: &str = "\
import java.io.*;
import java.util.*;

class Before {
    static class Login {
        String user = \"plain user\";
        String word;

        Login(String word) { this.word = word; }
    }

    static class Setting {
        String key;
        String value;

        Setting(String key, String value) {
            this.key = key;
            this.value = value;
        }

        void set(String value) {
            if (this.value == null) return;
            this.value = value;
            throw new IllegalStateException(\"frozen\");
        }

        void rename(String key) {
            if (this.key == null) return;
            this.key = key;
            throw new IllegalStateException(\"frozen name\");
        }
    }

    static void rotate(Login credentials) {
        credentials.word = new String(\"hunter-new\");
        throw new IllegalStateException(\"weak\");
    }

    static void wipe(byte[] body) {
        Arrays.fill(body, (byte) 0);
        throw new IllegalStateException(\"bad body\");
    }

    static void fill(char[] body) {
        Arrays.fill(body, 'x');
        throw new IllegalStateException(\"bad text\");
    }

    static void mask(String[] args) {
        args[1] = \"***\";
        args[2] = \"***\";
        throw new IllegalStateException(\"bad arguments\");
    }

    static void maskAll(Object[] pairs) {
        Arrays.fill(pairs, null);
        throw new IllegalStateException(\"bad pairs\");
    }

    static void maskIn(List<String> line) {
        line.set(1, \"***\");
        throw new IllegalStateException(\"bad line\");
    }

    static void read(StringReader password) { throw new IllegalStateException(\"bad reader\"); }

    static void open(String text, String other) {
        throw new IllegalStateException(\"cannot open \" + text + \", \" + other);
    }

    static void go(Runnable run) {
        Thread thread = new Thread(run);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) {
        go(() -> rotate(new Login(\"hunter-1 as it was\")));
        go(() -> new Setting(\"password\", \"hunter-2 as it was\").set(\"hunter-2 now\"));
        go(() -> new Setting(\"password\", \"hunter-3\").rename(\"plain name\"));
        go(() -> wipe(\"password=hunter-4&user=joe\".getBytes()));
        go(() -> fill(\"{\\\"password\\\": \\\"hunter-5\\\"}\".toCharArray()));
        go(() -> mask(new String[] {\"--password\", new String(\"hunter-6\"), \"--token=hunter-7\", \"plain argument\"}));
        go(() -> maskAll(new Object[] {\"user\", \"plain value\", \"password\", new String(\"hunter-8\")}));
        go(() -> maskIn(new ArrayList<>(List.of(\"--password\", \"hunter-9\"))));
        go(() -> read(new StringReader(\"hunter-10\")));
        go(() -> open(System.getProperty(\"db.password\"), args[1]));
    }
}
";

#[test]
fn what_was_secret_at_the_entry_is_not_stored() {
    for (jdk, options) in jdks()
        .iter()
        .flat_map(|jdk| [(jdk, ""), (jdk, "copy=deep")])
    {
        let workplace = Workplace::new(&format!("secrets-before-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["-g", "--release", "11"], "Before", BEFORE);
        let run = workplace
            .java_with_agent(jdk, options)
            .arg("-Ddb.password=hunter-11")
            .arg("-cp")
            .arg(&classes)
            .args(["Before", "--api-key", "hunter-12"])
            .output()
            .unwrap();
        let crashes = check(&workplace, jdk, &run, 10);
        let told = |plain: &str| {
            let files = workplace.crash_files();
            let with = files.iter().filter(|file| {
                let bytes = fs::read(file).unwrap();
                readable(&bytes).contains(plain)
            });
            with.count()
        };
        assert_eq!(told("plain name"), 1);
        assert_eq!(told("plain argument"), 1);
        let messages = crashes
            .iter()
            .filter_map(|crash| crash.failure.exceptions[0].message.as_deref());
        let masked = messages.filter(|message| *message == "cannot open ***, ***");
        assert_eq!(masked.count(), 1, "JDK {} {options}", jdk.version);
    }
}

/// Collections of libraries, and some of the program itself, in places that are secret by name or
/// key.
const COLLECTIONS: &str = "\
import com.google.javascript.jscomp.jarjar.com.google.common.collect.*;
import java.util.*;

class Collections {
    /** As fastutil's lists are, and Scala's: no class of the JDK's. */
    static class Own<E> extends AbstractList<E> {
        final Part<E> first;
        Own(E... all) { first = new Part<>(all); }
        public E get(int index) { return first.all[index]; }
        public int size() { return first.all.length; }
    }

    static class Part<E> {
        final E[] all;
        Part(E[] all) { this.all = all; }
    }

    /** As small maps of Scala's are. */
    static class Two {
        final Object key1 = \"host\", value1 = \"plain host\", key2 = \"password\", value2 = new String(\"hunter-1\");
    }

    /** As fastutil's maps are. */
    static class Open {
        Object[] key = {null, \"password\", \"host\"};
        Object[] value = {null, new String(\"hunter-2\"), \"plain port\"};
    }

    /** As Netty's texts are. */
    static class Text implements CharSequence {
        final byte[] value;
        String string;
        Text(String text) { value = text.getBytes(); }
        public int length() { return value.length; }
        public char charAt(int index) { return (char) value[index]; }
        public CharSequence subSequence(int from, int to) { return this; }
    }

    static class Header {
        final Object key = new Text(\"authorization\"), value = new Text(\"hunter-3\");
    }

    Object one = ImmutableMap.of(\"password\", \"hunter-4\");
    Object two = ImmutableMap.of(\"password\", \"hunter-5\", \"host\", \"plain address\");
    Object sorted = ImmutableSortedMap.of(\"password\", \"hunter-6\", \"host\", \"hunter-6, too\");
    Object multi = ImmutableListMultimap.of(\"password\", \"hunter-7\");
    Object passwords = ImmutableList.of(\"hunter-8\", \"hunter-9\", \"hunter-10\");
    Object credentials = ImmutableMap.of(\"a\", \"hunter-11\", \"b\", \"hunter-12\");
    Object secrets = new Own<>(\"hunter-13\");
    Object others = List.of(new Two(), new Open(), new Header());

    void look() { throw new IllegalStateException(\"\" + others.hashCode()); }

    public static void main(String[] args) { new Collections().look(); }
}
";

#[test]
fn collections_of_all_libraries_are_containers() {
    // It contains Guava.
    let guava = &jars(&["com.google.javascript:closure-compiler:v20240317"])[0];
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("secrets-collections-{}", jdk.version));
        let path = guava.to_str().unwrap();
        let classes = workplace.compile_text(
            jdk,
            &["--release", "11", "-cp", path],
            "Collections",
            COLLECTIONS,
        );
        let run = workplace
            .java_with_agent(jdk, "")
            .arg("-cp")
            .arg(format!("{}:{path}", classes.display()))
            .arg("Collections")
            .output()
            .unwrap();
        check(&workplace, jdk, &run, 1);
        let text = readable(&fs::read(&workplace.crash_files()[0]).unwrap());
        for plain in ["plain host", "plain port", "plain address"] {
            assert!(text.contains(plain), "JDK {}: {plain}", jdk.version);
        }
    }
}

/// The crashes of a run, which are checked to contain no secret.
fn check(workplace: &Workplace, jdk: &Jdk, run: &Output, count: usize) -> Vec<Crash> {
    let label = format!("JDK {}", jdk.version);
    let files = workplace.crash_files();
    assert_eq!(files.len(), count, "{label}: {}", both(run));
    for file in &files {
        let text = readable(&fs::read(file).unwrap());
        let places: Vec<&str> = text
            .match_indices("hunter")
            .map(|(at, _)| &text[at..])
            .collect();
        let found: Vec<String> = (places.iter())
            .map(|place| place.chars().take(12).collect())
            .collect();
        assert!(found.is_empty(), "{label}: {}: {found:?}", file.display());
    }
    let crashes = workplace.crashes();
    for frame in crashes.iter().flat_map(|crash| &crash.failure.frames) {
        // The array's content at entry is in one piece.
        let values = frame.patch.iter().filter(|patch| patch.index.is_some());
        let units = values.filter_map(|patch| match patch.value {
            Value::Int(unit) => char::from_u32(unit as u32),
            _ => None,
        });
        let before: String = units.collect();
        assert!(!before.contains("hunter"), "{label}: {before}");
    }
    crashes
}
