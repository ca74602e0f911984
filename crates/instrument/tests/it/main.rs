//! Tests with real classes and real JVMs, as one program.
//!
//! - `support` finds the JDKs of this machine; `workshop` compiles, instruments and runs Java
//!   programs.
//! - `behaviour` and `some` run programs with the probes for crashes, `far` programs whose jumps
//!   become too far, `strange` classes that are legal and rare.
//! - `traced` runs programs with the probes of traces; `replay` reads their events.
//! - `golden` compares listings of the inserted code; `tables` tests the tables that point into
//!   code; `told` tests which writes are logged; `known` tests what an analysis changes.
//! - `jdk_classes` verifies the classes of whole JDKs; `hostile` and `costly` are classes that no
//!   compiler makes.

mod behaviour;
mod costly;
mod far;
mod golden;
mod hostile;
mod jdk_classes;
mod known;
mod replay;
mod some;
mod strange;
#[path = "../../../classfile/tests/support/mod.rs"]
mod support;
mod tables;
mod told;
mod traced;
mod workshop;
