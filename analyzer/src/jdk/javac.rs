//! Compiles sources, and parses javac's messages.

use super::{ENABLE_PREVIEW, Error, Jdk, class_path};
use crate::text::one_line;
use std::path::{Path, PathBuf};

/// The beginning of a message if javac itself has failed ([`Said::broke`]).
pub const BROKEN: &str = "javac itself fails";

/// The input of a compilation.
pub struct Compilation<'a> {
    /// The release of Java.
    pub release: u32,
    /// Whether preview features are enabled, which requires the JDK's own release.
    pub preview: bool,
    /// The warnings, as for javac's `-Xlint`.
    pub lints: &'a str,
    /// The path of other classes.
    pub class_path: &'a [PathBuf],
    /// The directory for classes.
    pub classes: &'a Path,
    /// The source files.
    pub sources: &'a [PathBuf],
}

/// The messages of javac.
#[derive(Debug, Default)]
pub struct Said {
    /// The errors; if there are none, there are classes.
    pub errors: Vec<Diagnostic>,
    /// The warnings, whose messages start with their kind (`[unchecked] `), if there are no errors.
    pub warnings: Vec<Diagnostic>,
    /// Whether javac itself has failed, which is its only error then, without a place.
    pub broke: bool,
}

/// An error or a warning of javac.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: usize,
    /// The text.
    pub message: String,
}

impl Said {
    /// The same of one source alone: an error that names no file is about it.
    pub fn of(mut self, source: &Path) -> Said {
        for error in &mut self.errors {
            error.file.get_or_insert_with(|| source.to_owned());
        }
        self
    }
}

impl Jdk {
    /// Compiles sources.
    ///
    /// # Errors
    ///
    /// Fails if javac cannot be run, or fails without an error that can be read.
    pub fn compile(&self, what: &Compilation<'_>) -> Result<Said, Error> {
        let path = std::env::join_paths(what.class_path)?;
        let path = class_path(&path, &what.classes.with_extension("path"))?;
        let output = self.javac(|command| {
            command
                .args(["-J-Duser.language=en", "--release"])
                .arg(what.release.to_string())
                .args(what.preview.then_some(ENABLE_PREVIEW))
                .args(["-encoding", "UTF-8", "-proc:none", "-implicit:none"])
                .arg(format!("-Xlint:{}", what.lints))
                .args(["-Xmaxerrs", "10000", "-Xmaxwarns", "100000"])
                .args(&path)
                .arg("-d")
                .arg(what.classes)
                .args(what.sources);
        });
        let output = output.map_err(|source| Error::NotRun {
            home: self.home.clone(),
            source,
        })?;
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return Ok(Said {
                warnings: diagnostics(&text, "warning"),
                ..Said::default()
            });
        }
        if let Some(exception) = own_failure(&text) {
            let message = format!("{BROKEN}: {exception}");
            return Ok(Said {
                errors: vec![Diagnostic {
                    file: None,
                    line: 0,
                    message,
                }],
                broke: true,
                ..Said::default()
            });
        }
        let errors = diagnostics(&text, "error");
        if errors.is_empty() {
            return Err(Error::Failed {
                home: self.home.clone(),
                said: text.trim().to_owned(),
            });
        }
        Ok(Said {
            errors,
            ..Said::default()
        })
    }
}

/// The exception with which javac has ended, if there is one: a class file of the program can make
/// it fail.
fn own_failure(text: &str) -> Option<String> {
    const SIGNS: [&str; 2] = [
        "The system is out of resources.",
        "An exception has occurred in the compiler",
    ];
    let mut lines = text.lines();
    lines.find(|line| SIGNS.iter().any(|sign| line.starts_with(sign)))?;
    let mut before = "";
    let first = lines.find(|line| {
        let is_element = line.trim_start().starts_with("at ");
        if !is_element {
            before = line;
        }
        is_element
    });
    first.map(|_| one_line(before, 300))
}

/// Whether javac has reported an error, be it its own failure.
pub(super) fn says_error(stderr: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stderr);
    own_failure(&text).is_some() || !diagnostics(&text, "error").is_empty()
}

/// Parses javac's errors: `/path/X.java:12: error: message`, or `error: message`; and likewise its
/// warnings.
fn diagnostics(text: &str, kind: &str) -> Vec<Diagnostic> {
    let (alone, within) = (format!("{kind}: "), format!(": {kind}: "));
    let parse = |line: &str| {
        if let Some(message) = line.strip_prefix(&alone) {
            return Some(Diagnostic {
                file: None,
                line: 0,
                message: message.to_owned(),
            });
        }
        let (place, message) = line.split_once(&within)?;
        let (file, number) = place.rsplit_once(':')?;
        Some(Diagnostic {
            file: Some(file.into()),
            line: number.parse().ok()?,
            message: message.to_owned(),
        })
    };
    text.lines().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_javac_are_read() {
        let text = "/tmp/a:b/X.java:12: error: cannot find symbol\n  foo();\n  ^\n\
                    error: cannot access Y\n2 errors\n";
        assert_eq!(
            diagnostics(text, "error"),
            [
                Diagnostic {
                    file: Some("/tmp/a:b/X.java".into()),
                    line: 12,
                    message: "cannot find symbol".to_owned()
                },
                Diagnostic {
                    file: None,
                    line: 0,
                    message: "cannot access Y".to_owned()
                }
            ]
        );
        let text = "warning: [options] bootstrap\n/tmp/X.java:3: warning: [unchecked] cast\n";
        let warnings = diagnostics(text, "warning");
        assert_eq!(warnings[0].file, None);
        assert_eq!(
            (warnings[1].line, warnings[1].message.as_str()),
            (3, "[unchecked] cast")
        );
    }

    #[test]
    fn what_javac_itself_fails_of_is_told_in_a_line() {
        let text = "\n\nThe system is out of resources.\nConsult the following stack trace for details.\n\
                    java.lang.StackOverflowError\n\tat jdk.compiler/com.sun.tools.A.b(A.java:1)\n\tat \
                    jdk.compiler/com.sun.tools.A.b(A.java:1)\n";
        let told = own_failure(text);
        assert_eq!(told.as_deref(), Some("java.lang.StackOverflowError"));
        let text = "An exception has occurred in the compiler (21.0.1). Please file a bug.\n\
                    java.lang.AssertionError: x\n  at a.B.c(B.java)\n";
        let told = own_failure(text);
        assert_eq!(told.as_deref(), Some("java.lang.AssertionError: x"));
        assert_eq!(own_failure("error: invalid flag: -x\n"), None);
    }
}
