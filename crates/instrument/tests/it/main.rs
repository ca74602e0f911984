//! Tests with real classes and real JVMs, as one program.

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
