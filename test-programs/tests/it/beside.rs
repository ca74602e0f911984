//! Other agents, retransformation and redefinition, archives of classes, and second copies of ours:
//! the program's output stays the same, frames stay right, and what cannot be recorded is reported.

use hindsight_test_programs::{
    Jdk, Workplace, agent, both, hindsight, is_full, jars, jdks, jdks_in_turn, render, root, text,
};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const JACOCO: &str = "org.jacoco:org.jacoco.agent:0.8.14:runtime";
const JACOCO_CORE: &[&str] = &[
    "org.jacoco:org.jacoco.core:0.8.14",
    "org.ow2.asm:asm:9.9",
    "org.ow2.asm:asm-commons:9.9",
    "org.ow2.asm:asm-tree:9.9",
];
const OPENTELEMETRY: &str = "io.opentelemetry.javaagent:opentelemetry-javaagent:2.20.1";

/// The frames of `App`'s crash.
const APP: &str = "\
java.lang.ArithmeticException in thread main, uncaught
  App$Box.area:14 this=App$Box{width=1,height=2} scale=0
  App$Basket.total:29 this=App$Basket{shapes=ArrayList,sum=0} scale=0 [at entry App$Basket.sum=35]
  App.main:61 args=[]
";

fn source(name: &str) -> PathBuf {
    root().join("test-programs/beside").join(name)
}

/// Compiles programs of `beside/` into `classes`.
fn compile(workplace: &Workplace, jdk: &Jdk, names: &[&str]) -> PathBuf {
    let sources: Vec<PathBuf> = names.iter().map(|name| source(name)).collect();
    workplace.compile(jdk, &["--release", "17"], &sources)
}

/// The second version of a class, compiled to another place.
fn second_version(workplace: &Workplace, jdk: &Jdk, name: &str) -> PathBuf {
    let out = workplace.join("v2");
    let options = ["-nowarn", "-g", "--release", "17", "-d"].map(OsString::from);
    let paths = [out.clone(), source("v2").join(name)].map(OsString::from);
    jdk.compile(options.into_iter().chain(paths));
    out
}

/// A jar whose manifest makes a class a Java agent. Its classes stay on the class path.
fn java_agent(workplace: &Workplace, jdk: &Jdk, class: &str) -> PathBuf {
    let (manifest, jar) = (workplace.join("manifest"), workplace.join("java-agent.jar"));
    fs::write(
        &manifest,
        format!(
            "Premain-Class: {class}\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n"
        ),
    )
    .unwrap();
    let made = Command::new(jdk.tool("jar"))
        .arg("cfm")
        .args([&jar, &manifest])
        .arg("-C")
        .arg(workplace.join("classes"))
        .arg(".")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", both(&made));
    jar
}

/// The option for our agent, and that of the JVM for its tests.
fn ours(workplace: &Workplace) -> String {
    format!(
        "-agentpath:{}=out={}",
        agent().display(),
        workplace.join("out").display()
    )
}

/// Runs a class with these options of the JVM, verifying everything.
fn run(jdk: &Jdk, options: &[String], classes: &Path, main: &[&str]) -> Output {
    jdk.verifying_java()
        .arg("-XX:+UseSerialGC")
        .args(options)
        .arg("-cp")
        .arg(classes)
        .args(main)
        .env("OTEL_TRACES_EXPORTER", "none")
        .env("OTEL_METRICS_EXPORTER", "none")
        .env("OTEL_LOGS_EXPORTER", "none")
        .env("OTEL_JAVAAGENT_LOGGING", "none")
        .output()
        .unwrap()
}

fn counter(run: &serde_json::Value, name: &str) -> u64 {
    run["counters"][name].as_u64().unwrap_or(0)
}

fn rendered(workplace: &Workplace) -> String {
    workplace.crashes().iter().map(render).collect()
}

/// Runs `hindsight junit` on the only crash, and returns its exit status and report.
fn junit(workplace: &Workplace, jdk: &Jdk, classes: &Path) -> (bool, String) {
    let output = workplace.junit(jdk, classes).output().unwrap();
    (output.status.success(), both(&output))
}

/// Prints the lines that JaCoCo has seen executed, by class, with its own library.
const COVERAGE: &str = r#"
import java.io.File;
import org.jacoco.core.analysis.*;
import org.jacoco.core.tools.ExecFileLoader;

public class Coverage {
    public static void main(String[] args) throws Exception {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(new File(args[0]));
        CoverageBuilder builder = new CoverageBuilder();
        new Analyzer(loader.getExecutionDataStore(), builder).analyzeAll(new File(args[1]));
        builder.getClasses().stream().filter(c -> c.getName().startsWith("App")).sorted(
                java.util.Comparator.comparing(IClassCoverage::getName)).forEach(c ->
            System.out.println(c.getName() + " " + c.getLineCounter().getCoveredCount()
                + (c.isNoMatch() ? " other class file" : "")));
    }
}
"#;

#[test]
fn jacoco_still_covers_and_crashes_still_reproduce() {
    let jars = jars(&[&[JACOCO], JACOCO_CORE].concat());
    let tool = Workplace::new("jacoco-report");
    let library = std::env::join_paths(&jars[1..]).unwrap();
    let library = library.to_str().unwrap();
    let report = tool.compile_text(&jdks()[0], &["-cp", library], "Coverage", COVERAGE);
    let report = std::env::join_paths(
        [report.as_path()]
            .into_iter()
            .chain(jars[1..].iter().map(PathBuf::as_path)),
    )
    .unwrap();

    for jdk in jdks() {
        let mut coverages = Vec::new();
        for order in ["alone", "ours first", "ours last"] {
            let workplace = Workplace::new("jacoco");
            let classes = compile(&workplace, jdk, &["App.java"]);
            let exec = workplace.join("jacoco.exec");
            let jacoco = format!(
                "-javaagent:{}=destfile={}",
                jars[0].display(),
                exec.display()
            );
            let options = match order {
                "alone" => vec![jacoco],
                "ours first" => vec![ours(&workplace), jacoco],
                _ => vec![jacoco, ours(&workplace)],
            };
            let output = run(jdk, &options, &classes, &["App"]);
            let place = format!("{order} on JDK {}: {}", jdk.version, both(&output));
            assert_eq!(output.status.code(), Some(1), "{place}");
            assert_eq!(
                text(&output.stdout),
                "sum 34631\nNo value present\nthread 35\n",
                "{place}"
            );
            assert!(!text(&output.stderr).contains("hindsight:"), "{place}");
            let told = jdks()[0]
                .java()
                .arg("-cp")
                .arg(&report)
                .arg("Coverage")
                .args([&exec, &classes])
                .output()
                .unwrap();
            coverages.push(both(&told));
            if order == "alone" {
                continue;
            }
            // JaCoCo puts a field into the classes; the rest is unchanged.
            assert_eq!(rendered(&workplace), APP, "{place}");
            let counters = workplace.run_json();
            assert_eq!(
                counter(&counters, "classes_changed_by_other_agents"),
                if order == "ours first" { 4 } else { 0 },
                "{counters}"
            );
            let (done, told) = junit(&workplace, jdk, &classes);
            assert!(done && told.contains("3 of 3 frames reproduce"), "{told}");
            // The hash is that of the class file if our agent is first; otherwise this is reported.
            assert_eq!(
                told.contains("differs from the one recorded"),
                order == "ours last",
                "{told}"
            );
            assert_eq!(
                told.contains("came before Hindsight"),
                order == "ours last",
                "{told}"
            );
        }
        assert!(coverages[0].contains("App 15"), "{}", coverages[0]);
        assert!(
            !coverages[0].contains("other class file"),
            "{}",
            coverages[0]
        );
        assert_eq!(coverages[0], coverages[1], "JDK {}", jdk.version);
        assert_eq!(coverages[0], coverages[2], "JDK {}", jdk.version);
    }
}

/// OpenTelemetry is large, with 24 MB and seconds to start: all orders with `HINDSIGHT_FULL=1`.
#[test]
fn opentelemetry_and_ours_do_not_notice_each_other() {
    if !is_full() {
        eprintln!("not run: OpenTelemetry's agent is fetched and run with HINDSIGHT_FULL=1 only");
        return;
    }
    let jar = jars(&[OPENTELEMETRY]).remove(0);
    for jdk in jdks() {
        for first in [true, false] {
            let workplace = Workplace::new("opentelemetry");
            let classes = compile(&workplace, jdk, &["App.java"]);
            let other = format!("-javaagent:{}", jar.display());
            let mut options = vec![ours(&workplace), other];
            if !first {
                options.reverse();
            }
            let output = run(jdk, &options, &classes, &["App"]);
            let place = format!(
                "JDK {}, ours first: {first}: {}",
                jdk.version,
                both(&output)
            );
            assert_eq!(output.status.code(), Some(1), "{place}");
            assert_eq!(
                text(&output.stdout),
                "sum 34631\nNo value present\nthread 35\n",
                "{place}"
            );
            assert!(!text(&output.stderr).contains("hindsight:"), "{place}");
            assert_eq!(rendered(&workplace), APP, "{place}");
            let (done, told) = junit(&workplace, jdk, &classes);
            assert!(done && told.contains("3 of 3 frames reproduce"), "{told}");
        }
    }
}

/// What the loader of an agent defines belongs to that agent, whatever its name.
#[test]
fn what_another_agent_brings_with_it_is_no_part_of_the_program() {
    let jdk = &jdks_in_turn()[0];
    let workplace = Workplace::new("bringing");
    let sources = ["Bringing.java", "Brought.java", "AgentLoader.java"];
    let classes = compile(&workplace, jdk, &sources);
    let output = run(jdk, &[ours(&workplace)], &classes, &["Bringing"]);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let frames = rendered(&workplace);
    let main = "  Bringing.main:12 args=[]\n";
    assert!(
        frames.contains(main) && !frames.contains("this=Brought"),
        "{frames}"
    );
    let traced = Workplace::new("bringing-traced");
    let out = traced.join("out");
    let tracing = format!(
        "-agentpath:{}=mode=trace,out={}",
        agent().display(),
        out.display()
    );
    let output = run(jdk, &[tracing], &classes, &["Bringing"]);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let told = Command::new(hindsight())
        .arg("events")
        .arg(&out)
        .output()
        .unwrap();
    let told = text(&told.stdout);
    assert!(
        told.contains("Bringing.main") && !told.contains("Brought.step"),
        "{told}"
    );
}

/// `Early` loads classes before our agent starts, if it comes first; it retransforms `Thread` and a
/// class of the JDK at start, and the program's classes later.
#[test]
fn classes_loaded_before_get_their_probes_and_keep_them() {
    for jdk in jdks() {
        for first in [true, false] {
            let workplace = Workplace::new("early");
            let classes = compile(&workplace, jdk, &["App.java", "Again.java", "Early.java"]);
            let jar = java_agent(&workplace, jdk, "Early");
            let early = format!("-javaagent:{}=App;App$Basket;App$Box", jar.display());
            let mut options = vec![early, ours(&workplace)];
            if first {
                options.reverse();
            }
            let output = run(jdk, &options, &classes, &["Again"]);
            let place = format!(
                "JDK {}, ours first: {first}: {}",
                jdk.version,
                both(&output)
            );
            assert_eq!(output.status.code(), Some(1), "{place}");
            assert_eq!(
                text(&output.stdout),
                "sum 34631\nNothing in there\nthread 35\nthe agent was there\n",
                "{place}"
            );
            let frames = rendered(&workplace);
            assert!(frames.starts_with(APP), "{place}\n{frames}");
            assert!(frames.contains("  Again.main:11 args=[]\n"), "{frames}");
            assert_eq!(workplace.crashes().len(), 1, "{place}");
            let run = workplace.run_json();
            assert_eq!(run["crashes"][0]["count"], 1, "{run}");
            let (before, again) = if first { (0, 0) } else { (3, 9) };
            assert!(
                counter(&run, "classes_loaded_before_the_agent") >= before,
                "{run}"
            );
            assert_eq!(
                counter(&run, "classes_given_their_probes_again"),
                again,
                "{run}"
            );
            let (done, told) = junit(&workplace, jdk, &classes);
            // `Again.main` needs the agent, which the test does not have.
            assert!(done && told.contains("3 of 4 frames reproduce"), "{told}");
        }
    }
}

#[test]
fn a_frame_is_told_in_the_version_that_it_runs() {
    for jdk in jdks() {
        for first in [true, false] {
            let workplace = Workplace::new("versions");
            let classes = compile(
                &workplace,
                jdk,
                &["Versions.java", "Changing.java", "Redefine.java"],
            );
            let v2 = second_version(&workplace, jdk, "Changing.java");
            let jar = java_agent(&workplace, jdk, "Redefine");
            let other = format!(
                "-javaagent:{}={}",
                jar.display(),
                v2.join("Changing.class").display()
            );
            let mut options = vec![ours(&workplace), other];
            if !first {
                options.reverse();
            }
            let output = run(jdk, &options, &classes, &["Versions"]);
            let place = format!(
                "JDK {}, ours first: {first}: {}",
                jdk.version,
                both(&output)
            );
            assert!(output.status.success(), "{place}");
            assert_eq!(text(&output.stdout), "done\n", "{place}");
            let crashes: Vec<String> = workplace
                .crashes()
                .iter()
                .map(|crash| render(crash).lines().take(3).collect::<Vec<_>>().join("\n"))
                .collect();
            let latches = "entered=CountDownLatch redefined=CountDownLatch";
            // The old body calls the new `helper`, as in the JVM.
            assert_eq!(
                crashes,
                [
                    format!(
                        "java.lang.ArrayIndexOutOfBoundsException in thread old, uncaught\n  \
                         Changing.helper:14 a=[I(12 bytes) i=7\n  \
                         Changing.run:15 version=\"first\" index=7 {latches}"
                    ),
                    format!(
                        "java.lang.ArrayIndexOutOfBoundsException in thread new, uncaught\n  \
                         Changing.helper:14 a=[I(4 bytes) i=16\n  \
                         Changing.run:9 version=\"second\" index=8 {latches}"
                    ),
                    format!(
                        "java.lang.ArrayIndexOutOfBoundsException in thread third, uncaught\n  \
                         Changing.helper:14 a=[I(4 bytes) i=18\n  \
                         Changing.run:9 version=\"third\" index=9 {latches}"
                    ),
                ],
                "{place}"
            );
            let run = workplace.run_json();
            assert_eq!(counter(&run, "classes_redefined"), 2, "{run}");
            assert_eq!(counter(&run, "classes_that_came_with_probes"), 1, "{run}");
        }
    }
}

#[test]
fn nothing_breaks_in_a_storm_of_retransformations() {
    let millis = if is_full() { "30000" } else { "500" };
    for jdk in jdks() {
        for first in [true, false] {
            let workplace = Workplace::new("storm");
            let classes = compile(&workplace, jdk, &["Flying.java", "Storm.java"]);
            let v2 = second_version(&workplace, jdk, "Flying.java");
            let jar = java_agent(&workplace, jdk, "Storm");
            let storm = format!(
                "-javaagent:{}={}",
                jar.display(),
                v2.join("Flying$Target.class").display()
            );
            let mut options = vec![ours(&workplace), storm];
            if !first {
                options.reverse();
            }
            let output = run(jdk, &options, &classes, &["Flying", millis]);
            let place = format!(
                "JDK {}, ours first: {first}: {}",
                jdk.version,
                both(&output)
            );
            assert_eq!(output.status.code(), Some(1), "{place}");
            assert_eq!(
                text(&output.stdout),
                "0\n0\n0\nsum 0, caught true\n",
                "{place}"
            );
            assert!(!text(&output.stderr).contains("hindsight:"), "{place}");
            let crashes = workplace.crashes();
            assert_eq!(crashes.len(), 2, "{place}");
            for (crash, depth) in crashes.iter().zip([4, 3]) {
                let frames = render(crash);
                let lines: Vec<&str> = frames.lines().collect();
                let target: Vec<&str> = lines[1].trim().splitn(2, " this=").collect();
                // A class that is redefined between throw and report loses its lines: `Throwable`
                // does not know those of a replaced version.
                let versions: &[&str] = match depth {
                    4 => &["divide:11", "divide:13", "divide"],
                    _ => &["divide:11", "divide:13"],
                };
                let method = target[0].strip_prefix("Flying$Target.");
                assert!(
                    method.is_some_and(|method| versions.contains(&method)),
                    "{frames}"
                );
                assert!(
                    target[1].ends_with("by=0 label=\"label\" [at entry Flying$Target.calls=0]"),
                    "{frames}"
                );
                for (at, line) in lines[2..2 + depth].iter().enumerate() {
                    assert_eq!(
                        *line,
                        format!(
                            "  Flying.climb:16 target=Flying$Target{{calls=1}} depth={at} by=0"
                        ),
                        "{frames}"
                    );
                }
            }
            let run = workplace.run_json();
            assert!(counter(&run, "classes_redefined") >= 4, "{run}");
            // There are two versions, however often they are redefined.
            assert!(counter(&run, "methods_instrumented") < 120, "{run}");
        }
    }
}

/// A program in a jar, because archives only accept classes from jars.
fn app_jar(workplace: &Workplace, jdk: &Jdk) -> PathBuf {
    compile(workplace, jdk, &["App.java"]);
    let jar = workplace.join("app.jar");
    let made = Command::new(jdk.tool("jar"))
        .arg("cf")
        .arg(&jar)
        .arg("-C")
        .arg(workplace.join("classes"))
        .arg(".")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", both(&made));
    jar
}

fn run_app(jdk: &Jdk, options: &[String], jar: &Path) -> Output {
    let output = jdk
        .java()
        .args(options)
        .arg("-cp")
        .arg(jar)
        .arg("App")
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "JDK {} {options:?}: {}",
        jdk.version,
        both(&output)
    );
    output
}

#[test]
fn an_archive_of_classes_takes_nothing_from_a_recording() {
    for jdk in jdks() {
        let workplace = Workplace::new("archive");
        let jar = app_jar(&workplace, jdk);
        let archive = workplace.join("app.jsa");
        run_app(
            jdk,
            &[format!("-XX:ArchiveClassesAtExit={}", archive.display())],
            &jar,
        );
        let with = [
            format!("-XX:SharedArchiveFile={}", archive.display()),
            "-Xshare:on".to_owned(),
            ours(&workplace),
        ];
        let output = run_app(jdk, &with, &jar);
        assert!(
            text(&output.stdout).starts_with("sum 34631\n"),
            "{}",
            both(&output)
        );
        assert_eq!(rendered(&workplace), APP, "JDK {}", jdk.version);

        // HotSpot itself refuses to write one with a native agent.
        let refused = jdk
            .java()
            .args([
                format!(
                    "-XX:ArchiveClassesAtExit={}",
                    workplace.join("other.jsa").display()
                ),
                ours(&workplace),
            ])
            .arg("-cp")
            .arg(&jar)
            .arg("App")
            .output()
            .unwrap();
        assert!(
            both(&refused).contains("does not support native JVMTI agent"),
            "{}",
            both(&refused)
        );
    }
}

#[test]
fn an_aot_cache_takes_nothing_from_a_recording() {
    let able: Vec<&Jdk> = jdks().iter().filter(|jdk| jdk.version >= 25).collect();
    if able.is_empty() {
        eprintln!("not run: an AOT cache needs a JDK of version 25");
    }
    for jdk in able {
        let workplace = Workplace::new("aot");
        let jar = app_jar(&workplace, jdk);
        let cache = workplace.join("app.aot");
        // The training run has the agent, as in production; the agent reports that it stays out.
        let output = run_app(
            jdk,
            &[
                format!("-XX:AOTCacheOutput={}", cache.display()),
                ours(&workplace),
            ],
            &jar,
        );
        assert!(cache.exists(), "{}", both(&output));
        let stderr = text(&output.stderr);
        let said: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("hindsight:"))
            .collect();
        assert_eq!(said.len(), 1, "{stderr}");
        assert!(
            said[0].contains("writes an archive of its classes"),
            "{stderr}"
        );
        assert!(!workplace.join("out").exists());

        // Its classes are loaded before any agent is asked.
        let use_it = format!("-XX:AOTCache={}", cache.display());
        let output = run_app(
            jdk,
            &[
                use_it.clone(),
                "-XX:AOTMode=on".to_owned(),
                ours(&workplace),
            ],
            &jar,
        );
        assert_eq!(
            text(&output.stdout),
            "sum 34631\nNo value present\nthread 35\n"
        );
        assert_eq!(rendered(&workplace), APP);
        let run = workplace.run_json();
        assert_eq!(counter(&run, "classes_loaded_before_the_agent"), 3, "{run}");
        let (done, told) = junit(&workplace, jdk, &jar);
        assert!(done && told.contains("3 of 3 frames reproduce"), "{told}");
    }
}

#[test]
fn a_copy_under_another_name_stays_out() {
    for jdk in jdks() {
        let workplace = Workplace::new("copy");
        let classes = compile(&workplace, jdk, &["App.java"]);
        let copy = workplace.join("libsomething.so");
        fs::copy(agent(), &copy).unwrap();
        let other = |options: &str| {
            let out = workplace.join("out2");
            format!(
                "-agentpath:{}=out={}{options}",
                copy.display(),
                out.display()
            )
        };
        for options in ["", ",copy=reference,report=\"caught:**\""] {
            let _ = fs::remove_dir_all(workplace.join("out"));
            let output = run(jdk, &[ours(&workplace), other(options)], &classes, &["App"]);
            let stderr = text(&output.stderr);
            let said: Vec<&str> = stderr
                .lines()
                .filter(|line| line.starts_with("hindsight:"))
                .collect();
            assert_eq!(said.len(), 1, "{stderr}");
            assert!(
                said[0].contains("another copy of the agent is in this JVM; this one stays out"),
                "{stderr}"
            );
            assert_eq!(rendered(&workplace), APP);
            assert!(!workplace.join("out2").exists());
        }
        // An agent that is off still has the JVM link the probes with it.
        let off = format!("-agentpath:{}=mode=off", copy.display());
        let output = run(jdk, &[off, ours(&workplace)], &classes, &["App"]);
        assert!(
            text(&output.stderr).contains("with another copy of the agent, which is off"),
            "{}",
            both(&output)
        );
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn attaching_to_a_recorded_jvm_changes_nothing() {
    let source = "
public class Waiting {
    static int at(int[] a, int i) { return a[i]; }
    public static void main(String[] args) throws Exception {
        System.out.println(\"ready\");
        System.out.flush();
        at(new int[1], System.in.read());
    }
}";
    for jdk in jdks() {
        let workplace = Workplace::new("attach");
        let classes = workplace.compile_text(jdk, &["--release", "17"], "Waiting", source);
        let mut waiting = jdk
            .java()
            .arg(ours(&workplace))
            .arg("-cp")
            .arg(&classes)
            .arg("Waiting")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(waiting.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let attached = Command::new(jdk.tool("jcmd"))
            .arg(waiting.id().to_string())
            .args([
                "JVMTI.agent_load",
                agent().to_str().unwrap(),
                "out=elsewhere",
            ])
            .output()
            .unwrap();
        assert!(
            both(&attached).contains("return code: -1"),
            "{}",
            both(&attached)
        );
        // This is the end of its input.
        drop(waiting.stdin.take());
        let output = waiting.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        let stderr = text(&output.stderr);
        let said: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("hindsight:"))
            .collect();
        assert_eq!(said.len(), 1, "{stderr}");
        assert!(said[0].contains("is in this JVM already"), "{stderr}");
        assert_eq!(workplace.crashes().len(), 1);
    }
}

/// Two named modules, one of which exports only an interface's package.
const MODULES: &[(&str, &str)] = &[
    (
        "lib/module-info.java",
        "module lib { exports lib.api; provides lib.api.Parser with lib.inner.Strict; }",
    ),
    (
        "lib/lib/api/Parser.java",
        "package lib.api; public interface Parser { int parse(String text, int[] weights); }",
    ),
    (
        "lib/lib/inner/Strict.java",
        "package lib.inner;
public class Strict implements lib.api.Parser {
    private int calls;
    public int parse(String text, int[] weights) {
        calls++;
        int sum = 0;
        for (int i = 0; i < text.length(); i++) {
            sum += weights[text.charAt(i) - 'a'];
        }
        return sum;
    }
}",
    ),
    (
        "app/module-info.java",
        "module app { requires lib; uses lib.api.Parser; }",
    ),
    (
        "app/app/Main.java",
        "package app;
import java.util.ServiceLoader;
import lib.api.Parser;
public class Main {
    static int run(Parser parser, String text) {
        return parser.parse(text, new int[] {1, 2, 3});
    }
    public static void main(String[] args) {
        Parser parser = ServiceLoader.load(Parser.class).findFirst().orElseThrow();
        System.out.println(run(parser, \"abc\") + \" in \" + parser.getClass().getModule());
        System.out.println(run(parser, \"abcd\"));
    }
}",
    ),
];

#[test]
fn named_modules_are_recorded_on_the_module_path_and_in_an_image() {
    for jdk in jdks() {
        let workplace = Workplace::new("modules");
        let sources = workplace.join("src");
        for (name, source) in MODULES {
            let path = sources.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, source).unwrap();
        }
        let modules = workplace.join("modules");
        let tool = |name: &str, arguments: &[&str]| {
            let made = Command::new(jdk.tool(name))
                .args(arguments)
                .output()
                .unwrap();
            assert!(made.status.success(), "{name}: {}", both(&made));
        };
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        tool(
            "javac",
            &[
                "-g",
                "--release",
                "17",
                "-d",
                &path(&modules),
                "--module-source-path",
                &path(&sources),
                "--module",
                "app,lib",
            ],
        );
        let image = workplace.join("image");
        let mut javas = vec![jdk.tool("java")];
        // An image needs the JDK's own modules as files, or a JDK that can do without.
        if jdk.home.join("jmods/java.base.jmod").exists() {
            tool(
                "jlink",
                &[
                    "--module-path",
                    &path(&modules),
                    "--add-modules",
                    "app,lib",
                    "--output",
                    &path(&image),
                ],
            );
            javas.push(image.join("bin/java"));
        } else {
            eprintln!("no image on JDK {}: it has no jmods", jdk.version);
        }
        for java in javas {
            let _ = fs::remove_dir_all(workplace.join("out"));
            let output = Command::new(&java)
                .args(["-Xverify:all", "-XX:-PrintWarnings"])
                .arg(ours(&workplace))
                .arg("--module-path")
                .arg(&modules)
                .args(["--module", "app/app.Main"])
                .output()
                .unwrap();
            let place = format!("{}: {}", java.display(), both(&output));
            assert_eq!(output.status.code(), Some(1), "{place}");
            assert_eq!(text(&output.stdout), "6 in module lib\n", "{place}");
            assert_eq!(
                rendered(&workplace),
                "java.lang.ArrayIndexOutOfBoundsException in thread main, uncaught\n  \
                 lib.inner.Strict.parse:8 this=Strict{calls=2} text=\"abcd\" weights=[I(12 bytes) \
                 [at entry lib.inner.Strict.calls=1]\n  \
                 app.Main.run:6 parser=Strict{calls=2} text=\"abcd\"\n  \
                 app.Main.main:11 args=[]\n",
                "{place}"
            );
            // Tests have the modules on their class path.
            let both_modules =
                std::env::join_paths([modules.join("app"), modules.join("lib")]).unwrap();
            let (done, told) = junit(&workplace, jdk, Path::new(&both_modules));
            assert!(done && told.contains("2 of 3 frames reproduce"), "{told}");
        }
    }
}
