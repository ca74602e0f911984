//! Compiling sources, and what javac says of them.

use super::{ENABLE_PREVIEW, Jdk};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// What is compiled, and how.
pub struct Compilation<'a> {
    /// For which release of Java.
    pub release: u32,
    /// With preview features, which takes the JDK's own release.
    pub preview: bool,
    /// What is warned of, as javac's `-Xlint` takes it.
    pub lints: &'a str,
    /// Where other classes are.
    pub class_path: &'a [PathBuf],
    /// Where classes go.
    pub classes: &'a Path,
    /// What is compiled.
    pub sources: &'a [PathBuf],
}

/// What javac says.
#[derive(Debug, Default)]
pub struct Said {
    /// Errors; if there are none, there are classes.
    pub errors: Vec<Diagnostic>,
    /// Warnings, whose messages start with their kind (`[unchecked] `), if there are no errors.
    pub warnings: Vec<Diagnostic>,
}

/// An error or a warning of javac.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// In which file, if in one.
    pub file: Option<PathBuf>,
    /// On which line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Jdk {
    /// Compiles sources.
    ///
    /// # Errors
    ///
    /// Fails if javac cannot be run, or fails without an error that can be read.
    pub fn compile(&self, what: &Compilation<'_>) -> Result<Said> {
        let path = std::env::join_paths(what.class_path)
            .context("a class path entry cannot be passed on")?;
        let output = self.javac(|command| {
            command
                .args(["-J-Duser.language=en", "--release"])
                .arg(what.release.to_string())
                .args(what.preview.then_some(ENABLE_PREVIEW))
                .args(["-encoding", "UTF-8", "-proc:none", "-implicit:none"])
                .arg(format!("-Xlint:{}", what.lints))
                .args(["-Xmaxerrs", "10000", "-Xmaxwarns", "100000", "-cp"])
                .arg(&path)
                .arg("-d")
                .arg(what.classes)
                .args(what.sources);
        });
        let output =
            output.with_context(|| format!("failed to run javac of {}", self.home.display()))?;
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return Ok(Said {
                errors: Vec::new(),
                warnings: diagnostics(&text, "warning"),
            });
        }
        let errors = diagnostics(&text, "error");
        if errors.is_empty() {
            bail!("javac of {} failed: {}", self.home.display(), text.trim());
        }
        Ok(Said {
            errors,
            warnings: Vec::new(),
        })
    }
}

/// Whether javac has said what is wrong.
pub(super) fn says_error(stderr: &[u8]) -> bool {
    !diagnostics(&String::from_utf8_lossy(stderr), "error").is_empty()
}

/// Reads javac's errors: `/path/X.java:12: error: message`, or `error: message`; its
/// warnings likewise.
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
}
