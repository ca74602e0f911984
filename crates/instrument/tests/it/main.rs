//! Tests with real classes and real JVMs, as one program.

mod behaviour;
mod golden;
mod hostile;
mod jdk_classes;
mod replay;
#[path = "../../../classfile/tests/support/mod.rs"]
mod support;
mod tables;
mod traced;
mod workshop;
