//! Tests of the command as a whole. Golden files are in `tests/golden`; after
//! a wanted change run with `BLESS=1` and read the diff.

mod common;
mod crashes;
mod degraded;
mod environment;
mod errors;
mod hostile;
mod inspect;
mod instrument;
mod instrument_errors;
mod instrument_listing;
mod model;
mod mutability;
mod plans;
mod project;
mod recrash;
#[path = "../../../crates/classfile/tests/support/mod.rs"]
#[expect(
    dead_code,
    reason = "shared with other crates' tests, which need more of it"
)]
mod support;
mod told;
mod trim;
mod verdicts;
mod view;
mod views;
mod zips;
