//! Output besides the results. Its reader may have gone, which is no reason to end without a
//! result.

use crate::text::lines;
use std::fmt::Display;
use std::io::Write;

/// Prints a line of our own. Names of files and output of JVMs in it may contain anything, and are
/// made harmless.
pub fn say(line: impl Display) {
    put(format_args!("hindsight: {}\n", lines(&line.to_string())));
}

/// Prints a text as it is.
pub fn put(text: impl Display) {
    // It is written at once, because child processes write there as well.
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}
