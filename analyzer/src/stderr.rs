//! What is told beside the results. Who reads it may have gone, which is no reason to end without a result.

use crate::text::lines;
use std::fmt::Display;
use std::io::Write;

/// Prints a line of ours. Names of files in it, and what JVMs have said, may have anything in them but not do anything.
pub fn say(line: impl Display) {
    put(format_args!("hindsight: {}\n", lines(&line.to_string())));
}

/// Prints something as it is.
pub fn put(text: impl Display) {
    // At once, for children write there, too.
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}
