//! One HTML page of recordings, models and verdicts, for a browser that needs no network
//! connection.
//!
//! - [`collect`] finds what is to be shown, and reads it as the documents that other subcommands
//!   print.
//! - [`page`] puts these into the page, whose script lays them out.
//!
//! **Invariant:** what comes from a recording is in the page compressed and in base64, in which no
//! markup can begin, and the script puts it into the document only as text.

pub mod collect;
pub mod page;
