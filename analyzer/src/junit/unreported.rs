//! Exceptions that make test runners themselves fail, so that nobody sees that a test has failed.
//!
//! A test throws the program's exception. To report that, JUnit and the tools around it call
//! methods of the exception: if one of these throws, Maven counts no test and reports success. Such
//! a test throws an error of its own instead, which describes the exception as well as it can.

use super::launch::Outcome;
use crate::java::names::Names;
use crate::java::{comment, literal, numbered};
use crate::text::one_line;

const INDENT: &str = "            ";

/// An exception that cannot be reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreported {
    /// Its class.
    class: String,
    /// The methods, as `Class.method`, by which a report fails.
    failing: Vec<String>,
}

impl Unreported {
    /// The exception of a test, if it is such a one.
    pub fn of(outcome: &Outcome) -> Option<Unreported> {
        let class = outcome.exception.clone()?;
        let failing = outcome.failing.clone();
        (!failing.is_empty()).then_some(Unreported { class, failing })
    }

    /// The body of a test that fails with an error in place of the exception.
    pub fn failing_reported(&self, code: &str, names: &mut Names) -> String {
        let throwable = names.java_lang("Throwable");
        let error = names.java_lang("AssertionError");
        let units: Vec<u16> = self.class.encode_utf16().collect();
        // A name is never too long for a literal.
        let class = literal::string(&units).unwrap_or_default();
        let why = format!(
            "Who reports it calls {}, which fails, and may then tell of no failure.",
            one_line(self.failing.first().map_or("", String::as_str), 300)
        );
        let mut out = format!(
            "        try {{\n{}        }} catch ({throwable} e) {{\n",
            indented(code)
        );
        out.push_str(&comment::lines(&why, INDENT, 4));
        // Another version of the program may number its classes differently.
        if !numbered::is_class(&self.class) {
            out.push_str(&format!(
                "{INDENT}if (!e.getClass().getName().equals({class})) {{\n{INDENT}    throw e;\n{INDENT}}}\n"
            ));
        }
        out.push_str(&format!(
            "{INDENT}{error} failure = new {error}(e.getClass().getName());\n"
        ));
        if !self
            .failing
            .contains(&format!("{}.getStackTrace", self.class))
        {
            out.push_str(&format!(
                "{INDENT}failure.setStackTrace(e.getStackTrace());\n"
            ));
        }
        out.push_str(&format!("{INDENT}throw failure;\n        }}\n"));
        out
    }
}

/// The body of a test that would fail with an error at which JUnit 5 ends, together with all
/// remaining tests.
pub fn failing_alone(code: &str, names: &mut Names) -> String {
    let error = names.java_lang("OutOfMemoryError");
    let failure = names.java_lang("AssertionError");
    format!(
        "        try {{\n{}        }} catch ({error} e) {{\n            // JUnit would end at it, with all tests \
         that are left.\n            throw new {failure}(e);\n        }}\n",
        indented(code)
    )
}

/// The lines of a body, indented further.
pub fn indented(code: &str) -> String {
    let indent = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    };
    code.lines().map(indent).collect()
}
