//! The target that reads the agent's options.

// The agent is only a library for the JVM, so its sources are included as they are.
#[expect(dead_code, reason = "options are read here, and not followed")]
#[path = "../../../agent/src/options/mod.rs"]
mod agent;

use crate::limits::{Limits, within};

const LIMITS: Limits = Limits {
    bytes_per_byte: 64,
    bytes: 16 << 10,
    nanos_per_byte: 10_000,
    nanos: 50_000_000,
};

/// Checks that options are understood, or refused in one line.
pub fn parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    // It would read files of this machine.
    if text.contains('@') {
        return;
    }
    let parsed = within(&LIMITS, text.len(), || agent::Options::parse(text));
    match parsed {
        Ok(options) => {
            let names = ["", "a", "a.b.C", "password", text];
            for name in names {
                let _ = options.is_secret(name) || options.is_secret_of_type(name, "[C");
                let _ = options.include.matches(name) || options.report.escape.matches(name);
            }
        }
        Err(error) => assert!(
            text.contains('\n') || !error.to_string().contains('\n'),
            "{error}"
        ),
    }
}
