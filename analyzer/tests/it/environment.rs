//! Tests that need something of the recorded JVM: system properties, options, default locale and time zone.

use crate::common::*;
use hindsight_tracelog::crash::{Defaults, Value};
use serde_json::Value as Json;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const PROGRAM: &str = "\
class Program {
    static void mode(int x) {
        if (\"fast\".equals(System.getProperty(\"program.mode\"))) throw new IllegalStateException();
    }
    static void stack(int x) {
        String options = java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().toString();
        if (options.contains(\"-Xss3m\")) throw new IllegalStateException();
    }
    static void always(int x) { throw new IllegalStateException(); }
}
";

/// Tests of a recording, in the directory that is given, with more options: where they are, and what was said.
fn junit(
    recording: &Recording,
    dir: &Path,
    program: (&str, &str),
    more: &[&str],
) -> (PathBuf, Output) {
    let classes = compile(dir, &[program]);
    let file = dir.join("crash-0001.hsc");
    recording.write(&file);
    let out = dir.join("out");
    let mut arguments: Vec<&OsStr> = vec![
        "junit".as_ref(),
        file.as_os_str(),
        "--classpath".as_ref(),
        classes.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
    ];
    arguments.extend(more.iter().map(OsStr::new));
    let output = hindsight(arguments);
    (out, output)
}

#[test]
fn properties_and_options_are_those_of_the_recorded_jvm() {
    let mut recording = Recording::new();
    recording.meta.properties = vec![
        ("db.password".into(), "***".into()),
        ("program.mode".into(), "fast".into()),
    ];
    for (method, mark) in [
        ("mode", "fast"),
        ("stack", "-Xss3m"),
        ("always", "void always"),
    ] {
        let thrower = ("Program", method, line_of(PROGRAM, mark));
        let exception = recording.exception("java.lang.IllegalStateException", None, &[thrower]);
        recording
            .frame(
                ("Program", method, "(I)V"),
                8,
                &[(1, "x", "I", Value::Int(7))],
            )
            .exception = exception;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = ("Program.java", PROGRAM);
    let more = ["--java-option=-Xss3m", "--project", "--format", "json"];
    let (out, output) = junit(&recording, dir.path(), program, &more);
    let report: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    for frame in report["crashes"][0]["frames"].as_array().unwrap() {
        assert_eq!(frame["verdict"], "reproduces", "{frame}");
    }
    let source = fs::read_to_string(out.join("src/test/java/ProgramCrash0001Test.java")).unwrap();
    // Only where it matters, and never a mask.
    let set = "System.setProperty(\"program.mode\", \"fast\");\n        Program.mode(7);";
    assert!(source.contains(set), "{source}");
    assert_eq!(source.matches("setProperty").count(), 1, "{source}");
    assert!(
        source.contains("// The tests need these options of java: -Xss3m"),
        "{source}"
    );
    let pom = fs::read_to_string(out.join("pom.xml")).unwrap();
    assert!(pom.contains("<argLine>-Xss3m</argLine>"), "{pom}");
}

const BOUNDED: &str = "\
class Bounded {
    static void with(String wanted) {
        String options = java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().toString();
        if (options.contains(wanted) && options.indexOf(\"-Xmx\") == options.lastIndexOf(\"-Xmx\"))
            throw new OutOfMemoryError();
    }
}
";

#[test]
fn the_bounds_of_one_crash_are_not_those_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let classes = compile(dir, &[("Bounded.java", BOUNDED)]);
    let out = dir.join("out");
    let mut arguments: Vec<OsString> = vec!["junit".into()];
    for (name, bound) in [("crash-0001.hsc", "-Xmx48m"), ("crash-0002.hsc", "-Xmx64m")] {
        let mut recording = Recording::new();
        recording.meta.command = format!("java {bound} -cp classes Bounded -Xmx4g");
        let thrower = ("Bounded", "with", line_of(BOUNDED, "throw new"));
        recording.exception("java.lang.OutOfMemoryError", None, &[thrower]);
        let wanted = recording.string(bound);
        let wanted = [(1, "wanted", "Ljava/lang/String;", wanted)];
        recording.frame(("Bounded", "with", "(Ljava/lang/String;)V"), 8, &wanted);
        let file = dir.join(name);
        recording.write(&file);
        arguments.push(file.into());
    }
    arguments.extend(["--project", "--classpath"].map(OsString::from));
    arguments.extend([classes.into(), "--out".into(), out.clone().into()]);
    let output = hindsight(arguments);
    let told = text(&output.stdout);
    assert_eq!(told.matches("1 of 1 frame reproduce").count(), 2, "{told}");
    let note = "tried with -Xmx64m, as it was recorded: memory ends there; not so by `mvn test`";
    assert!(told.contains(note), "{told}");
    let pom = fs::read_to_string(out.join("pom.xml")).unwrap();
    assert!(!pom.contains("argLine"), "{pom}");
    let source = out.join("src/test/java/BoundedCrash0002Test.java");
    let source = fs::read_to_string(source).unwrap();
    assert!(source.contains("options of java: -Xmx64m\n"), "{source}");
    assert!(source.contains("-Dtest=BoundedCrash0002Test"), "{source}");
}

const LOCAL: &str = "\
import java.time.*;
import java.util.*;
class Local {
    void kind(String name) {
        switch (name.toLowerCase()) {
            case \"title\": break;
            default: throw new IllegalStateException(name);
        }
    }
    static void at(int hour, Locale locale) {
        ZonedDateTime at = LocalDateTime.of(2024, 3, 31, hour, 30).atZone(ZoneId.systemDefault());
        if (at.getHour() != hour) throw new IllegalStateException(\"no such time\");
    }
    static void always(int x) { throw new IllegalStateException(); }
}
";

#[test]
fn default_locale_and_time_zone_are_those_of_the_recorded_jvm() {
    let mut recording = Recording::new();
    recording.meta.defaults = Defaults {
        locale: "tr-TR".into(),
        format: String::new(),
        zone: "Europe/Berlin".into(),
    };
    let local = recording.instance("Local", &[]);
    let title = recording.string("TITLE");
    let frames = [
        (
            "kind",
            "(Ljava/lang/String;)V",
            "throw new IllegalStateException(name)",
        ),
        ("at", "(ILjava/util/Locale;)V", "no such time"),
        ("always", "(I)V", "void always"),
    ];
    for (method, descriptor, mark) in frames {
        let thrower = ("Local", method, line_of(LOCAL, mark));
        let exception = recording.exception("java.lang.IllegalStateException", None, &[thrower]);
        let arguments: &[(u16, &str, &str, Value)] = match method {
            "kind" => &[
                (0, "this", "LLocal;", local),
                (1, "name", "Ljava/lang/String;", title),
            ],
            "at" => &[
                (1, "hour", "I", Value::Int(2)),
                (2, "locale", "Ljava/util/Locale;", Value::Null),
            ],
            _ => &[(1, "x", "I", Value::Int(7))],
        };
        let is_static = if method == "kind" { 0 } else { 8 };
        recording
            .frame(("Local", method, descriptor), is_static, arguments)
            .exception = exception;
    }
    let dir = tempfile::tempdir().unwrap();
    let more = [
        "--java-option=-Duser.language=en",
        "--java-option=-Duser.timezone=UTC",
    ];
    let (out, output) = junit(&recording, dir.path(), ("Local.java", LOCAL), &more);
    let told = text(&output.stdout);
    let set = "with the recorded defaults: locale tr-TR, time zone Europe/Berlin";
    assert_eq!(told.matches(set).count(), 2, "{told}");
    assert!(told.contains("3 of 3 frames reproduce"), "{told}");
    let source = fs::read_to_string(out.join("src/test/java/LocalCrash0001Test.java")).unwrap();
    let test = "\
        Local local = new Local();
        Locale locale = Locale.getDefault();
        Locale format = Locale.getDefault(Locale.Category.FORMAT);
        Locale display = Locale.getDefault(Locale.Category.DISPLAY);
        TimeZone zone = TimeZone.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag(\"tr-TR\"));
            TimeZone.setDefault(TimeZone.getTimeZone(\"Europe/Berlin\"));
            local.kind(\"TITLE\");
        } finally {
            Locale.setDefault(locale);
            Locale.setDefault(Locale.Category.FORMAT, format);
            Locale.setDefault(Locale.Category.DISPLAY, display);
            TimeZone.setDefault(zone);
        }
";
    assert!(source.contains(test), "{source}");
    assert!(source.contains("\n        Local.always(7);\n"), "{source}");
}

const ALONE: &str = "\
import java.nio.file.*;
class Alone {
    static void here(int x) throws Exception {
        Path mark = Path.of(\"mark\");
        try {
            Files.createFile(mark);
        } catch (FileAlreadyExistsException e) {
            return;
        }
        Thread.sleep(3000);
        Files.delete(mark);
        throw new IllegalStateException();
    }
    static void outer(String place) throws Exception { inner(place); }
    static void inner(String place) throws Exception {
        Files.createFile(Path.of(place));
        Thread.sleep(1000);
        Files.delete(Path.of(place));
        Process process = new ProcessBuilder(\"sleep\", \"300\").start();
        Files.writeString(Path.of(place + \".pid\"), \"\" + process.pid());
        throw new ArithmeticException();
    }
}
";

/// Neighbouring frames want the same port, lock or file of everybody's, and are tried side by side.
#[test]
fn each_of_the_runs_of_a_test_has_what_is_around_it_for_itself() {
    let mut recording = Recording::new();
    let thrower = ("Alone", "inner", line_of(ALONE, "throw new Ari"));
    let caller = ("Alone", "outer", line_of(ALONE, "void outer"));
    recording.exception("java.lang.ArithmeticException", None, &[thrower, caller]);
    let thrower = ("Alone", "here", line_of(ALONE, "throw new Ill"));
    let second = recording.exception("java.lang.IllegalStateException", None, &[thrower]);
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("place");
    let string = recording.string(&place.display().to_string());
    for method in ["inner", "outer"] {
        let frame = ("Alone", method, "(Ljava/lang/String;)V");
        let place = [(1, "place", "Ljava/lang/String;", string)];
        recording.frame(frame, 8, &place);
    }
    let seven = [(1, "x", "I", Value::Int(7))];
    let here = recording.frame(("Alone", "here", "(I)V"), 8, &seven);
    here.exception = second;
    // So they are run in other orders, too.
    recording.meta.order = Some((0x1234, false));
    recording.class("java.util.ImmutableCollections$SetN", &[]);
    let (_, output) = junit(&recording, dir.path(), ("Alone.java", ALONE), &[]);
    let told = text(&output.stdout);
    assert!(told.contains("3 of 3 frames reproduce;"), "{told}");
    assert!(!told.contains("not each time"), "{told}");
    // What a test has started ends with it.
    let process = fs::read_to_string(dir.path().join("place.pid")).unwrap();
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    assert!(!command.starts_with(b"sleep"), "{process}");
}

const ENDS: &str = "\
class Ends {
    final int x;
    Ends(int x) {
        this.x = x;
        if (x == 7) System.exit(0);
    }
    static class Fine {
        final int y;
        Fine(int y) { this.y = y; }
    }
    static void both(Ends ends, Fine fine) { throw new IllegalStateException(); }
}
";

#[test]
fn a_constructor_that_ends_the_jvm_ends_no_other_trial() {
    let mut recording = Recording::new();
    let thrower = ("Ends", "both", line_of(ENDS, "throw new"));
    recording.exception("java.lang.IllegalStateException", None, &[thrower]);
    let ends = recording.instance("Ends", &[("x", "I", Value::Int(7))]);
    let fine = recording.instance("Ends$Fine", &[("y", "I", Value::Int(5))]);
    let both = [
        (1, "ends", "LEnds;", ends),
        (2, "fine", "LEnds$Fine;", fine),
    ];
    recording.frame(("Ends", "both", "(LEnds;LEnds$Fine;)V"), 8, &both);
    let dir = tempfile::tempdir().unwrap();
    let (out, output) = junit(&recording, dir.path(), ("Ends.java", ENDS), &[]);
    let told = text(&output.stdout);
    assert!(told.contains("1 of 1 frame reproduce;"), "{told}");
    let source = fs::read_to_string(out.join("src/test/java/EndsCrash0001Test.java")).unwrap();
    assert!(source.contains("new Ends.Fine(5)"), "{source}");
    assert!(!source.contains("new Ends(7)"), "{source}");
}
