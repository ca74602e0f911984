//! Every program of `programs/`, on every JDK, with `-Xverify:all`.
//!
//! A program's first lines may say:
//!
//! ```text
//! // options: report=escape:Main.run      the agent's options
//! // needs: 21                            the least JDK version
//! // arguments: a b                       the program's arguments
//! // jvm: -Xss512k                        further options of the JVM
//! // exit: 0                              its exit status, 1 if not said
//! ```
//!
//! The last comment, from `/* crashes`, is the expected text of the crash files. `BLESS=1` rewrites
//! it; read the diff. Output and exit status must be the same as without the agent, too.

use hindsight_test_programs::{Jdk, Workplace, both, jdks, render, root, text};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Output;

const START: &str = "/* crashes\n";
const END: &str = "*/\n";

struct Program {
    name: String,
    source: String,
    options: String,
    needs: u32,
    arguments: Vec<String>,
    jvm: Vec<String>,
    exit: i32,
}

impl Program {
    fn read(path: &Path) -> Program {
        let source = fs::read_to_string(path).unwrap();
        let directive = |key: &str| {
            source
                .lines()
                .find_map(|line| line.strip_prefix(&format!("// {key}: ")))
                .map(str::trim)
        };
        let words = |key| {
            directive(key)
                .unwrap_or("")
                .split_whitespace()
                .map(str::to_owned)
                .collect()
        };
        Program {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            options: directive("options").unwrap_or("").to_owned(),
            needs: directive("needs").map_or(17, |version| version.parse().unwrap()),
            arguments: words("arguments"),
            jvm: words("jvm"),
            exit: directive("exit").map_or(1, |status| status.parse().unwrap()),
            source,
        }
    }

    fn expected(&self) -> &str {
        let Some(start) = self.source.rfind(START) else {
            return "";
        };
        self.source[start + START.len()..]
            .strip_suffix(END)
            .unwrap_or("")
    }

    /// Runs it with and without the agent, and returns the text of the crash files.
    fn run(&self, jdk: &Jdk, path: &Path) -> String {
        let workplace = Workplace::new(&format!("{}-{}", self.name, jdk.version));
        let release = self.needs.max(11).to_string();
        let release = if self.needs <= 17 {
            "11"
        } else {
            release.as_str()
        };
        let classes = workplace.compile(jdk, &["--release", release], &[path.to_path_buf()]);
        let finish = |mut command: std::process::Command| -> Output {
            command
                .args(&self.jvm)
                .arg("-cp")
                .arg(&classes)
                .arg(&self.name)
                .args(&self.arguments)
                .output()
                .unwrap()
        };
        let plain = finish(jdk.java());
        let recorded = finish(workplace.java_with_agent(jdk, &self.options));
        let place = format!("{} on JDK {}", self.name, jdk.version);
        assert_eq!(
            plain.status.code(),
            Some(self.exit),
            "{place} without agent: {}",
            both(&plain)
        );
        assert_eq!(
            recorded.status.code(),
            Some(self.exit),
            "{place}: {}",
            both(&recorded)
        );
        assert_eq!(
            text(&recorded.stdout),
            text(&plain.stdout),
            "{place}: stdout differs"
        );
        assert_eq!(
            text(&recorded.stderr),
            text(&plain.stderr),
            "{place}: stderr differs"
        );
        workplace.assert_instrumented(&place);
        let mut crashes: Vec<String> = workplace.crashes().iter().map(render).collect();
        if crashes.len() > 1 {
            // Threads crash in any order.
            crashes.sort();
        }
        crashes.concat()
    }
}

#[test]
fn programs_leave_the_crashes_they_say() {
    let mut paths: Vec<_> = fs::read_dir(root().join("test-programs/programs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "java")
    });
    paths.sort();
    assert!(paths.len() > 10, "the programs are missing");
    let only = env::var("ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    for path in paths
        .iter()
        .filter(|path| path.to_string_lossy().contains(&only))
    {
        let program = Program::read(path);
        let able: Vec<&Jdk> = jdks()
            .iter()
            .filter(|jdk| jdk.version >= program.needs)
            .collect();
        if able.is_empty() {
            eprintln!(
                "{}: not run, it needs a JDK of version {}",
                program.name, program.needs
            );
        }
        for (at, jdk) in able.into_iter().enumerate() {
            let actual = program.run(jdk, path);
            if actual == program.expected() {
                continue;
            }
            if env::var_os("BLESS").is_some() && at == 0 {
                let body = program
                    .source
                    .rfind(START)
                    .map_or(program.source.as_str(), |at| &program.source[..at]);
                fs::write(path, format!("{body}{START}{actual}{END}")).unwrap();
                continue;
            }
            failures.push(format!(
                "{} on JDK {}:\n{actual}",
                program.name, jdk.version
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "other crashes than expected (BLESS=1 accepts):\n{}",
        failures.join("\n")
    );
}
