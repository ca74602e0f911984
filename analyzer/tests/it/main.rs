//! Tests of the command as a whole. Golden files are in `tests/golden`; after
//! a wanted change run with `BLESS=1` and read the diff.

mod common;
mod degraded;
mod environment;
mod errors;
mod hostile;
mod inspect;
mod project;
mod recrash;
mod verdicts;
mod views;
