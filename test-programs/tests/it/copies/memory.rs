//! The memory that copies and logs of writes take.

use super::*;

const BUSY: &str = "
import java.util.*;

public class Busy {
    static Map<Integer, int[]> cache = new HashMap<>();
    static volatile Object garbage;

    static void handle(int number, List<Integer> list) {
        list.add(number);
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        for (int i = 0; i < 40_000; i++) { cache.put(i, new int[1]); }
        Thread thread = new Thread(() -> { for (;;) { garbage = new byte[1 << 16]; } });
        thread.setDaemon(true);
        thread.start();
        for (int i = 0; i < 3; i++) {
            try { handle(i, new ArrayList<>()); } catch (IllegalStateException e) { }
        }
        System.out.println(\"goes on\");
    }
}
";

/// The tags that find the objects written to are gone when static fields are read, and the
/// collector runs.
#[test]
fn deep_copies_outlive_collections_of_garbage() {
    for jdk in jdks() {
        for (copy, fidelity) in [("deep", Fidelity::Deep), ("depth:2", Fidelity::Depth)] {
            for _ in 0..3 {
                let workplace = Workplace::new("busy");
                let classes = workplace.compile_text(jdk, &["--release", "11"], "Busy", BUSY);
                let options = format!("copy={copy},report=escape:Busy.handle");
                let run = workplace
                    .java_with_agent(jdk, &options)
                    .args(["-Xmx64m", "-cp"])
                    .arg(&classes)
                    .arg("Busy")
                    .output()
                    .expect("java runs");
                assert_eq!(text(&run.stdout), "goes on\n", "{}", both(&run));
                assert!(run.status.success(), "{}", both(&run));
                let crashes = workplace.crashes();
                assert_eq!(crashes.len(), 1, "{}", both(&run));
                let frame = &crashes[0].failure.frames[0];
                assert_eq!(
                    (frame.method.as_str(), frame.fidelity),
                    ("handle", fidelity)
                );
                // This is the list as it was before a number was added.
                let size = frame.patch.iter().find(|patch| patch.field == "size");
                let size = size.map(|patch| &patch.value);
                assert_eq!(size, Some(&Value::Int(0)), "{:?}", frame.patch);
            }
        }
    }
}

const HOGS: &str = "
import java.util.*;

public class Hogs {
    static List<byte[]> build(int count) {
        List<byte[]> list = new ArrayList<>();
        for (int i = 0; i < count; i++) { list.add(new byte[1 << 20]); }
        return list;
    }

    public static void main(String[] args) {
        List<byte[]> all = new ArrayList<>();
        try { for (;;) { all.add(new byte[1 << 20]); } } catch (OutOfMemoryError e) { all = null; }
        System.out.println(\"caught \" + build(8).size());
    }
}
";

/// The objects that have filled the heap are released, even if their last writes found no memory
/// for a log.
#[test]
fn memory_comes_back_after_it_was_short() {
    for jdk in jdks() {
        let workplace = Workplace::new("hogs");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Hogs", HOGS);
        for collector in ["-XX:+UseG1GC", "-XX:+UseZGC", "-XX:+UseSerialGC"] {
            let run = workplace
                .java_with_agent(jdk, "copy=deep")
                .args([collector, "-Xmx80m", "-cp"])
                .arg(&classes)
                .arg("Hogs")
                .output()
                .expect("java runs");
            assert_eq!(
                text(&run.stdout),
                "caught 8\n",
                "{collector}: {}",
                both(&run)
            );
            workplace.assert_instrumented(collector);
        }
    }
}

#[test]
fn of_a_large_buffer_only_what_is_written_is_kept() {
    for jdk in jdks() {
        let (workplace, run) = ran(jdk, "Buffers", "copy=deep", &["-Xmx64m"], &[]);
        let said = both(&run);
        assert!(said.contains("IllegalStateException"), "{said}");
        assert!(!said.contains("OutOfMemoryError"), "{said}");
        let crash = &workplace.crashes()[0];
        let read = frame(&crash.failure.frames, "read");
        assert_eq!(read.fidelity, Fidelity::Deep, "{}", read.reason);
        let first: Vec<_> = (read.patch.iter())
            .map(|patch| (patch.index, patch.value))
            .collect();
        assert_eq!(first, [(Some(0), Value::Int(7))]);
    }
}

#[test]
fn what_is_too_large_to_be_kept_is_missed_and_said_so() {
    let jdk = &jdks()[0];
    let (workplace, _) = ran(jdk, "Buffers", "copy=deep", &["-Xmx200m"], &["large"]);
    let crash = &workplace.crashes()[0];
    let large = frame(&crash.failure.frames, "large");
    assert_eq!(large.fidelity, Fidelity::Deep, "{}", large.reason);
    assert!(large.reason.contains("an array ([B)"), "{}", large.reason);
    // All other places are known.
    let places: Vec<_> = (large.patch.iter())
        .map(|patch| (patch.index, patch.value))
        .collect();
    assert_eq!(places, [(Some(1), Value::Int(3))]);
}
