//! One HTML page of recordings, models and verdicts, for a browser that need not
//! be connected to anything.
//!
//! - [`collect`] finds what is to be shown, and reads it as the documents that
//!   other subcommands print.
//! - [`page`] puts these into the page, whose script lays them out.
//!
//! **Invariant:** what comes from a recording stands in the page compressed and in
//! base64, in which no markup can begin, and the script puts it into the document
//! as text only.

pub mod collect;
pub mod page;
