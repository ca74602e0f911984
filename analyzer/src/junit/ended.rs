//! JVMs that end without a result, or do not begin.

use super::{Error, Options, Result};
use crate::files::failed;
use crate::jdk::Jdk;
use crate::text::one_line;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The bytes of a JVM's output that are read: a whole stack trace, in most cases.
const END: u64 = 1 << 17;

/// Fails if a JVM does not even start with the options of the tests: then none of them could run.
///
/// # Errors
///
/// Fails in that case, with the JVM's message.
pub fn check_options(jdk: &Jdk, options: &Options) -> Result<()> {
    if options.java_options.is_empty() {
        return Ok(());
    }
    let mut command = jdk.command("java");
    command
        .args(["-XX:+DisplayVMOutputToStderr", "-XX:TieredStopAtLevel=1"])
        .args(&options.java_options)
        .arg("-version");
    let output = command.output().map_err(failed("run java of", &jdk.home))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said.lines().filter(|line| !is_said_always(line)).collect();
    Err(Error::JavaOptions {
        version: jdk.version,
        options: one_line(&options.java_options.join(" "), 300),
        said: one_line(&said.join("; "), 300),
    })
}

/// Whether a line is printed by each JVM that does not start, whatever the reason.
fn is_said_always(line: &str) -> bool {
    let always = [
        "Error: Could not create the Java Virtual Machine.",
        "Error: A fatal exception has occurred. Program will exit.",
        "Error occurred during initialization of VM",
    ];
    line.trim().is_empty() || always.contains(&line.trim())
}

/// The last line of a JVM's output; of a stack trace, and of a JVM that did not even start, the
/// first.
pub fn last_words(log: &Path) -> String {
    let text = end_of(log).unwrap_or_default();
    match telling(&String::from_utf8_lossy(&text)) {
        Some(line) => format!(": {}", one_line(line.trim(), 200)),
        None => String::new(),
    }
}

fn end_of(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let begin = file.metadata()?.len().saturating_sub(END);
    file.seek(SeekFrom::Start(begin))?;
    let mut text = Vec::new();
    file.take(END).read_to_end(&mut text)?;
    Ok(text)
}

fn telling(text: &str) -> Option<&str> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    if text.contains("Error: Could not create the Java Virtual Machine.") {
        return lines.next();
    }
    let lines: Vec<&str> = lines.collect();
    let is_of_trace = |line: &&&str| {
        let line = line.trim_start();
        let parts = ["at ", "... ", "Caused by: ", "Suppressed: "];
        parts.iter().any(|part| line.starts_with(part))
    };
    let before = lines.iter().rev().find(|line| !is_of_trace(line));
    before.or(lines.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_jvm_died_of_is_quoted() {
        let trace = "said before\nException in thread \"main\" E: text\n\tat A.m(A.java:1)\n\
                     Caused by: F\n\tat A.n(A.java:2)\n\t... 1 more\n";
        assert_eq!(telling(trace), Some("Exception in thread \"main\" E: text"));
        assert_eq!(telling("one\ntwo\n\n"), Some("two"));
        assert_eq!(telling("\tat A.m(A.java:1)\n"), Some("\tat A.m(A.java:1)"));
        let refused =
            "Unrecognized option: -Xfoo\nError: Could not create the Java Virtual Machine.\n";
        assert_eq!(telling(refused), Some("Unrecognized option: -Xfoo"));
        assert_eq!(telling(""), None);
    }
}
