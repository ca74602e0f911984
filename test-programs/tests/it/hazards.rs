//! What may go wrong around a recording: each case has a clear message, and nothing recorded is
//! lost.

use hindsight_test_programs::{Jdk, Workplace, agent, both, hindsight, jdks, text};
use hindsight_tracelog::reader::Crash;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const CRASHING: &str = "
public class Main {
    static int[] data = new int[Integer.getInteger(\"size\", 10)];

    static void fail(int[] a, String s) {
        a[a.length] = s.length();
    }

    public static void main(String[] args) {
        for (int i = 0; i < data.length; i++) {
            data[i] = i * 0x9E3779B9;
        }
        fail(data, \"text\");
    }
}
";

fn jdk() -> &'static Jdk {
    &jdks()[0]
}

fn run_crashing(workplace: &Workplace, jdk: &Jdk, options: &str) -> Output {
    workplace.run_text(jdk, "11", options, ("Main", CRASHING)).1
}

/// Checks that the output has the program's own crash, as without the agent.
fn assert_own_crash(output: &Output) {
    assert_eq!(output.status.code(), Some(1), "{}", both(output));
    assert!(
        text(&output.stderr).contains("ArrayIndexOutOfBoundsException"),
        "{}",
        both(output)
    );
}

#[test]
fn unknown_options_stop_the_start_with_one_line() {
    for jdk in jdks() {
        for (options, message) in [
            (
                "colour=red",
                "hindsight: unknown option \"colour\"; the keys are mode, out,",
            ),
            (
                "copy=everything",
                "hindsight: bad value \"everything\" for option copy; accepted: reference, fields",
            ),
        ] {
            let mut java = jdk.java();
            let output = java
                .arg(format!("-agentpath:{}={options}", agent().display()))
                .arg("-version")
                .output()
                .unwrap();
            assert_ne!(output.status.code(), Some(0), "{}", both(&output));
            let stderr = text(&output.stderr);
            assert_eq!(
                stderr
                    .lines()
                    .filter(|line| line.starts_with("hindsight:"))
                    .count(),
                1,
                "{stderr}"
            );
            assert!(stderr.contains(message), "{stderr}");
            assert!(
                !stderr.contains("openjdk version"),
                "the JVM has started: {stderr}"
            );
        }
    }
}

#[test]
fn options_that_are_not_utf_8_stop_the_start_with_one_line() {
    let workplace = Workplace::new("bytes");
    let mut option = format!("-agentpath:{}=out=", agent().display()).into_bytes();
    option.extend_from_slice(workplace.path.as_os_str().as_bytes());
    option.extend_from_slice(b"/caf\xe9");
    let mut java = jdk().java();
    let output = java
        .arg(OsStr::from_bytes(&option))
        .arg("-version")
        .output();
    let output = output.unwrap();
    assert_ne!(output.status.code(), Some(0), "{}", both(&output));
    let stderr = text(&output.stderr);
    assert_eq!(stderr.matches("hindsight: ").count(), 1, "{stderr}");
    assert!(stderr.contains("UTF-8"), "{stderr}");
    assert_eq!(fs::read_dir(&workplace.path).unwrap().count(), 0);
}

/// The agent's messages need no reader: a closed pipe neither aborts a JVM nor keeps it from
/// starting.
#[test]
fn nobody_need_read_what_the_agent_says() {
    let workplace = Workplace::new("unread");
    let option = format!("-agentpath:{}=out=", agent().display());
    let run = |outs: &[&[u8]]| {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut java = jdk().java();
        for out in outs {
            java.arg(OsStr::from_bytes(&[option.as_bytes(), out].concat()));
        }
        let java = java.current_dir(&workplace.path).arg("--version");
        java.stderr(writer).output().unwrap().status.code()
    };
    // The status differs from that of a signal.
    assert_eq!(run(&[b"caf\xe9"]), Some(1));
    assert_eq!(run(&[b"a,mode=nothing"]), Some(1));
    // The second one stays out.
    assert_eq!(run(&[b"a", b"b"]), Some(0));
}

#[test]
fn mode_off_does_nothing() {
    let workplace = Workplace::new("off");
    assert_own_crash(&run_crashing(&workplace, jdk(), "mode=off"));
    assert!(!workplace.join("out").exists());
}

#[test]
fn option_files_are_read() {
    let workplace = Workplace::new("option-file");
    let file = workplace.join("options");
    fs::write(
        &file,
        "# comment\ncopy=reference\n\nversion=release 7, hot fix\n",
    )
    .unwrap();
    assert_own_crash(&run_crashing(
        &workplace,
        jdk(),
        &format!("@{}", file.display()),
    ));
    let crash = &workplace.crashes()[0];
    assert_eq!(crash.meta.program_version, "release 7, hot fix");
    assert_eq!(crash.meta.copy, "reference");
}

#[test]
fn a_directory_that_cannot_be_made_is_said_and_the_program_runs() {
    let workplace = Workplace::new("read-only");
    // A file is in the way, because tests may run as root, whom no permission stops.
    fs::write(workplace.join("file"), "").unwrap();
    let classes = workplace.compile_text(jdk(), &["--release", "11"], "Main", CRASHING);
    let out = workplace.join("file/out");
    let output = jdk()
        .java()
        .arg(format!(
            "-agentpath:{}=out={}",
            agent().display(),
            out.display()
        ))
        .arg("-cp")
        .arg(classes)
        .arg("Main")
        .output()
        .unwrap();
    assert_own_crash(&output);
    let stderr = text(&output.stderr);
    let ours: Vec<&str> = stderr
        .lines()
        .filter(|line| line.starts_with("hindsight:"))
        .collect();
    // It is reported once at the start, and once for the crash that was lost.
    assert_eq!(ours.len(), 2, "{stderr}");
    for line in ours {
        assert!(
            line.contains(&out.display().to_string()) && line.contains("the program goes on"),
            "{stderr}"
        );
    }
}

/// Runs a shell command on a small disk of its own; `None` if mounting is not permitted.
fn on_small_disk(workplace: &Workplace, size: &str, command: &str) -> Option<Output> {
    let disk = workplace.join("disk");
    fs::create_dir_all(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size} tmpfs '{}' || exit 77; {command}",
        disk.display()
    );
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .output()
        .ok()?;
    if output.status.code() == Some(77) || text(&output.stderr).contains("unshare:") {
        eprintln!(
            "the full disk is not tested: no rights to mount one ({})",
            text(&output.stderr).trim()
        );
        return None;
    }
    Some(output)
}

#[test]
fn a_full_disk_leaves_no_file_that_looks_whole() {
    let workplace = Workplace::new("full-disk");
    let jdk = jdk();
    let classes = workplace.compile_text(jdk, &["--release", "11"], "Main", CRASHING);
    let command = format!(
        "'{}' -Dsize=500000 '-agentpath:{}=out={disk}' -cp '{}' Main; echo status $?; ls '{disk}'; cat '{disk}/run.json'; '{}' inspect '{disk}'",
        jdk.tool("java").display(),
        agent().display(),
        classes.display(),
        hindsight().display(),
        disk = workplace.join("disk").display(),
    );
    let Some(output) = on_small_disk(&workplace, "256k", &command) else {
        return;
    };
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(
        stdout.contains("status 1") && stderr.contains("ArrayIndexOutOfBounds"),
        "{}",
        both(&output)
    );
    assert!(
        stderr.contains("No space left on device") && stderr.contains("crash-0001.hsc"),
        "{}",
        both(&output)
    );
    assert!(!stdout.contains("\ncrash-0001.hsc"), "{}", both(&output));
    assert!(
        stdout.contains("\"crashes_not_written\": 1"),
        "{}",
        both(&output)
    );
    assert!(
        stderr.contains("crashes were seen and not stored (crashes_not_written 1)"),
        "{}",
        both(&output)
    );
}

#[test]
fn killed_while_writing_leaves_no_file_that_looks_whole() {
    let workplace = Workplace::new("killed");
    let classes = workplace.compile_text(jdk(), &["--release", "11"], "Main", CRASHING);
    let mut parts = 0;
    for delay in (0..400).step_by(40) {
        let _ = fs::remove_dir_all(workplace.join("out"));
        let mut child = workplace
            .java_with_agent(jdk(), "")
            .args(["-Xmx1g", "-Dsize=12000000", "-cp"])
            .arg(&classes)
            .arg("Main")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // This kills it some time after it has begun to write.
        let part = workplace.join("out/crash-0001.hsc.part");
        let end = Instant::now() + Duration::from_secs(30);
        while !part.exists() && child.try_wait().unwrap().is_none() && Instant::now() < end {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        for path in workplace.crash_files() {
            assert!(Crash::read(&fs::read(path).unwrap()).unwrap().is_whole());
        }
        if part.exists() {
            assert_eq!(status.signal(), Some(9));
            parts += 1;
            match Crash::read(&fs::read(&part).unwrap()) {
                Ok(crash) => assert!(!crash.is_whole() || crash.failure.frames.len() > 1),
                Err(error) => assert!(
                    error.to_string().contains("damaged")
                        || error.to_string().contains("not a Hindsight")
                ),
            }
        }
    }
    assert!(parts > 0, "no run was killed while it wrote");
}

#[test]
fn damaged_files_are_named_and_read_as_far_as_they_go() {
    let workplace = Workplace::new("damaged");
    assert_own_crash(&run_crashing(&workplace, jdk(), ""));
    let whole = fs::read(&workplace.crash_files()[0]).unwrap();
    let inspect = |name: &str, bytes: &[u8]| {
        let path = workplace.join(name);
        fs::write(&path, bytes).unwrap();
        Command::new(hindsight())
            .arg("inspect")
            .arg(&path)
            .output()
            .unwrap()
    };

    let output = inspect("whole.hsc", &whole);
    assert!(output.status.success(), "{}", both(&output));

    let cut = inspect("cut.hsc", &whole[..whole.len() - 10]);
    assert!(
        both(&cut).contains("cut.hsc") || both(&cut).contains("offset"),
        "{}",
        both(&cut)
    );
    assert!(
        text(&cut.stdout).contains("ArrayIndexOutOfBoundsException"),
        "{}",
        both(&cut)
    );
    assert!(both(&cut).contains("offset"), "{}", both(&cut));

    let mut flipped = whole.clone();
    let middle = flipped.len() - 40;
    flipped[middle] ^= 4;
    let output = inspect("flipped.hsc", &flipped);
    assert!(both(&output).contains("checksum"), "{}", both(&output));

    let tiny = inspect("tiny.hsc", &whole[..30]);
    assert_eq!(tiny.status.code(), Some(1), "{}", both(&tiny));
    assert!(text(&tiny.stderr).contains("tiny.hsc"), "{}", both(&tiny));

    let mut newer = whole.clone();
    newer[8] = 99;
    let crc = crc(&newer[..12]);
    newer[12..16].copy_from_slice(&crc.to_le_bytes());
    let output = inspect("newer.hsc", &newer);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    assert!(
        text(&output.stderr).contains("version 99") && text(&output.stderr).contains("newer.hsc"),
        "{}",
        both(&output)
    );

    let output = inspect("other.hsc", b"PK something");
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    assert!(
        text(&output.stderr).contains("not a Hindsight crash file"),
        "{}",
        both(&output)
    );
}

/// CRC-32 as in zip, bit by bit: an independent second implementation.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |mut crc, byte| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
        crc
    })
}

#[test]
fn two_jvms_may_share_a_directory() {
    let workplace = Workplace::new("shared");
    let classes = workplace.compile_text(jdk(), &["--release", "11"], "Main", CRASHING);
    let children: Vec<_> = (0..4)
        .map(|_| {
            workplace
                .java_with_agent(jdk(), "")
                .arg("-cp")
                .arg(&classes)
                .arg("Main")
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        child.wait().unwrap();
    }
    assert_eq!(workplace.crashes().len(), 4);
}

#[test]
fn a_later_run_leaves_what_an_earlier_one_has_counted() {
    let workplace = Workplace::new("later");
    let pid = |run: &Value| run["pid"].as_u64().expect("a process");
    assert_own_crash(&run_crashing(&workplace, jdk(), ""));
    let first = workplace.run_json();
    assert_own_crash(&run_crashing(&workplace, jdk(), ""));
    let second = workplace.run_json();
    assert_ne!(pid(&first), pid(&second));
    let kept = workplace.join(format!("out/run-{}.json", pid(&first)));
    let kept: Value = serde_json::from_slice(&fs::read(kept).expect("it is kept")).expect("JSON");
    assert_eq!(kept, first);
    assert_eq!(workplace.crash_files().len(), 2);
}

#[test]
fn an_executable_jar_is_recorded() {
    for jdk in jdks() {
        let workplace = Workplace::new("jar");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Main", CRASHING);
        let jar = workplace.join("main.jar");
        let made = Command::new(jdk.tool("jar"))
            .args(["--create", "--main-class", "Main", "--file"])
            .arg(&jar)
            .arg("-C")
            .arg(classes)
            .arg(".")
            .output()
            .unwrap();
        assert!(made.status.success());
        let output = workplace
            .java_with_agent(jdk, "")
            .arg("-jar")
            .arg(&jar)
            .output()
            .unwrap();
        assert_own_crash(&output);
        let crashes = workplace.crashes();
        assert_eq!(crashes.len(), 1);
        let last = crashes[0].failure.frames.last().unwrap();
        assert_eq!(
            (last.class.as_str(), last.method.as_str()),
            ("Main", "main")
        );
        assert_eq!(last.arguments.len(), 1);
    }
}

#[test]
fn a_second_copy_stays_out() {
    let workplace = Workplace::new("twice");
    let classes = workplace.compile_text(jdk(), &["--release", "11"], "Main", CRASHING);
    let output = workplace
        .java_with_agent(jdk(), "")
        .arg(format!(
            "-agentpath:{}=out={}",
            agent().display(),
            workplace.join("out2").display()
        ))
        .arg("-cp")
        .arg(classes)
        .arg("Main")
        .output()
        .unwrap();
    assert_own_crash(&output);
    assert!(
        text(&output.stderr).contains("the second one stays out"),
        "{}",
        both(&output)
    );
    assert_eq!(workplace.crashes().len(), 1);
    assert!(!workplace.join("out2").exists());
}

#[test]
fn the_same_crash_is_stored_once_and_counted() {
    let workplace = Workplace::new("repeated");
    let source = "
public class Main {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 50; i++) {
            Thread t = new Thread(() -> { throw new IllegalStateException(); });
            t.setUncaughtExceptionHandler((x, e) -> {});
            t.start();
            t.join();
        }
    }
}";
    let classes = workplace.compile_text(jdk(), &["--release", "11"], "Main", source);
    let output = workplace
        .java_with_agent(jdk(), "")
        .arg("-cp")
        .arg(classes)
        .arg("Main")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(workplace.crashes().len(), 1);
    let run = workplace.run_json();
    assert_eq!(run["schema"], "hindsight.run/1");
    assert_eq!(run["crashes"][0]["count"], 50, "{run}");
    assert_eq!(run["counters"]["crashes_repeated"], 49, "{run}");
    assert!(run["ended_ms"].is_number());
}

#[test]
fn secrets_on_the_command_line_are_masked() {
    let workplace = Workplace::new("secrets");
    let classes = workplace.compile_text(jdk(), &["--release", "11"], "Main", CRASHING);
    let output = workplace
        .java_with_agent(jdk(), "")
        .args(["-Ddb.password=hunter2", "-cp"])
        .arg(classes)
        .args(["Main", "--api-key=hunter3", "--secret", "hunter4", "plain"])
        .output()
        .unwrap();
    assert_own_crash(&output);
    let run = fs::read_to_string(workplace.join("out/run.json")).unwrap();
    let crash = workplace.crashes().remove(0);
    for place in [&run, &crash.meta.command] {
        assert!(!place.contains("hunter"), "{place}");
        assert!(place.contains("plain"));
    }
}

/// Everything that the sources of the agent and its crates say about `unsafe` is within the fence.
#[test]
fn unsafe_stays_in_its_fence() {
    fn walk(path: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(path).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && fs::read_to_string(&path).unwrap().lines().any(|line| {
                    let code = line.split("//").next().unwrap_or("");
                    code.contains("unsafe {")
                        || code.contains("unsafe fn")
                        || code.contains("unsafe impl")
                })
            {
                found.push(path.display().to_string());
            }
        }
    }
    let root = hindsight_test_programs::root();
    let mut found = Vec::new();
    for part in [
        "agent/src",
        "analyzer/src",
        "crates/classfile/src",
        "crates/instrument/src",
        "crates/tracelog/src",
    ] {
        walk(&root.join(part), &mut found);
    }
    found.sort();
    // The last two are the trace's: mapped memory, and the native methods of its probes.
    let fence = [
        "callbacks.rs",
        "callbacks/describe.rs",
        "callbacks/natives.rs",
        "jni.rs",
        "jni/contents.rs",
        "jvmti.rs",
        "jvmti/heap.rs",
        "jvmti/threads.rs",
        "sys.rs",
        "trace/arena.rs",
        "trace/natives.rs",
    ];
    let agent = root.join("agent/src");
    assert_eq!(
        found,
        fence.map(|file| agent.join(file).display().to_string())
    );
}
