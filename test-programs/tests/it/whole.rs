//! Two of the programs of `whole/`, quickly: the same output with and without the agent, with every
//! method reporting what leaves it and what it catches. `scripts/bench whole` runs all of them, in
//! every mode.

use hindsight_test_programs::{Jdk, Workplace, both, jars, jdks, root, text};
use std::fs;
use std::process::Output;

fn property(spec: &str, key: &str) -> Vec<String> {
    let prefix = format!("{key}=");
    spec.lines()
        .find_map(|line| line.strip_prefix(&prefix))
        .unwrap_or("")
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

fn check(name: &str, jdk: &Jdk) {
    let workplace = Workplace::new(&format!("whole-{name}"));
    let home = root().join("test-programs/whole").join(name);
    let spec = fs::read_to_string(home.join("whole.properties")).unwrap();
    let coordinates = property(&spec, "jars");
    let coordinates: Vec<&str> = coordinates.iter().map(String::as_str).collect();
    let jars = jars(&coordinates);
    let library = std::env::join_paths(&jars).unwrap();
    let classes = workplace.compile(
        jdk,
        &["--release", "17", "-cp", library.to_str().unwrap()],
        &[home.join("Driver.java")],
    );
    let classpath = std::env::join_paths(
        [classes.as_path()]
            .into_iter()
            .chain(jars.iter().map(|jar| jar.as_path())),
    )
    .unwrap();
    let work = workplace.join("work");
    let finish = |mut command: std::process::Command| -> Output {
        // It is the same directory for both, since it may be a part of the output.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).unwrap();
        let arguments = property(&spec, "args");
        command
            .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg("-cp")
            .arg(&classpath)
            .arg("Driver")
            .args(
                arguments
                    .iter()
                    .map(|word| word.replace("@WORK@", work.to_str().unwrap())),
            )
            .current_dir(&work)
            .output()
            .unwrap()
    };
    let plain = finish(jdk.java());
    assert!(
        plain.status.success() && plain.stdout.len() > 1000,
        "{name} without the agent: {}",
        both(&plain)
    );
    let recorded = finish(workplace.java_with_agent(jdk, "report=uncaught;escape:**;caught:**"));
    let place = format!("{name} on JDK {}", jdk.version);
    assert!(recorded.status.success(), "{place}: {}", both(&recorded));
    assert_eq!(
        text(&recorded.stdout),
        text(&plain.stdout),
        "{place}: stdout differs"
    );
    assert!(
        !text(&recorded.stderr).contains("hindsight:"),
        "{place}: {}",
        text(&recorded.stderr)
    );
    let run = workplace.run_json();
    let instrumented = run["counters"]["methods_instrumented"].as_u64();
    assert!(instrumented > Some(3000), "{place}: {run}");
    // Both sometimes fail on purpose, and catch it.
    assert!(!workplace.crashes().is_empty(), "{place}: {run}");
}

#[test]
fn xalan_and_tomcat_do_not_notice() {
    for jdk in jdks() {
        for name in ["xalan", "tomcat"] {
            check(name, jdk);
        }
    }
}
