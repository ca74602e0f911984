//! Frames that only rethrow what they are given, errors that end JUnit, and classes that no test
//! can name.

use hindsight_test_programs::{Workplace, both, jdks, reported, text};
use std::collections::BTreeMap;
use std::fs;

const HELPED: &str = "
import java.lang.reflect.Proxy;

public class Helped {
    static final class Traceless extends RuntimeException {
        Traceless(String message) { super(message, null, false, false); }
    }
    interface Size { int of(String text); }
    static int parse(String text) { return Integer.parseInt(text); }
    static int find(String text) { throw new Traceless(text); }
    static void rethrow(Throwable e) {
        if (e instanceof RuntimeException) throw (RuntimeException) e;
        throw new AssertionError(e);
    }
    static int parsed(String text) {
        try { return parse(text); } catch (Throwable e) { rethrow(e); return 0; }
    }
    static int found(String text) {
        try { return find(text); } catch (Throwable e) { rethrow(e); return 0; }
    }
    static void limit(int number) { throw new OutOfMemoryError(\"quota \" + number); }
    static int size(Size size, String text) { return size.of(text); }
    static int proxied(String text) {
        Size size = (Size) Proxy.newProxyInstance(Helped.class.getClassLoader(), new Class<?>[] {Size.class},
                (proxy, method, args) -> ((String) args[0]).length());
        return size(size, text);
    }
    static void start(Runnable body) throws Exception {
        Thread thread = new Thread(body);
        thread.setUncaughtExceptionHandler((of, e) -> { });
        thread.start();
        thread.join();
    }
    public static void main(String[] args) throws Exception {
        start(() -> parsed(\"y\"));
        start(() -> found(\"z\"));
        start(() -> limit(3));
        start(() -> proxied(null));
        start(() -> sum(Attempt.of(\" x3\")));
    }
    /** Throws what it has kept. */
    static final class Attempt {
        final int value;
        final RuntimeException failure;
        Attempt(int value, RuntimeException failure) { this.value = value; this.failure = failure; }
        static Attempt of(String text) {
            try { return new Attempt(parse(text), null); } catch (RuntimeException e) { return new Attempt(0, e); }
        }
        int get() {
            if (failure != null) throw failure;
            return value;
        }
    }
    static int sum(Attempt attempt) { return attempt.get() + 1; }
}
";

/// A frame that throws what is part of its recorded state fails whatever the program does, so it is
/// not a test. One that throws an `OutOfMemoryError` would end JUnit. A proxy's class has another
/// name in another JVM.
#[test]
fn what_throws_on_is_no_test() {
    for jdk in jdks() {
        let workplace = Workplace::new("rethrown");
        let (classes, ran) = workplace.run_text(jdk, "17", "", ("Helped", HELPED));
        assert!(ran.status.success(), "{}", both(&ran));
        let (told, report) = reported(&mut workplace.junit(jdk, &classes));

        let mut verdicts: BTreeMap<(usize, String), (String, String)> = BTreeMap::new();
        for (number, crash) in (report["crashes"].as_array().expect("crashes").iter()).enumerate() {
            for frame in crash["frames"].as_array().expect("frames") {
                let said = |key: &str| frame[key].as_str().unwrap_or_default().to_owned();
                verdicts.insert((number, said("method")), (said("verdict"), said("reason")));
            }
        }
        let verdict = |number: usize, method: &str| {
            let found = verdicts.get(&(number, method.to_owned()));
            found.unwrap_or_else(|| panic!("{method} in {verdicts:?}"))
        };
        for (number, method) in [
            (0, "parse"),
            (0, "parsed"),
            (1, "found"),
            (2, "limit"),
            (3, "proxied"),
        ] {
            assert_eq!(verdict(number, method).0, "reproduces", "{verdicts:?}");
        }
        for (number, method) in [(0, "rethrow"), (1, "rethrow"), (4, "get"), (4, "sum")] {
            let (word, reason) = verdict(number, method);
            assert_eq!(word, "differs", "{verdicts:?}");
            assert!(
                reason.starts_with("only throws the exception that it was passed"),
                "{reason}"
            );
        }
        let (word, reason) = verdict(3, "of");
        assert_eq!(word, "unsupported", "{verdicts:?}");
        assert!(reason.contains("made at run time"), "{reason}");
        let sources = fs::read_dir(workplace.join("tests/src/test/java")).expect("tests");
        let sources: Vec<String> = (sources.flatten())
            .map(|file| fs::read_to_string(file.path()).expect("a source"))
            .collect();
        let limit = sources
            .iter()
            .find(|source| source.contains("Helped.limit(3)"));
        let limit = limit.unwrap_or_else(|| panic!("{}", text(&told.stdout)));
        assert!(limit.contains("OutOfMemoryError e) {"), "{limit}");
        assert!(limit.contains("throw new AssertionError(e);"), "{limit}");
    }
}
