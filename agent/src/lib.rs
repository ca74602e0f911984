//! The agent: a shared library that the JVM loads by `-agentpath`.
//!
//! At load time it rewrites classes ([`hook`], by the crate `instrument`) so
//! that every method hands its entry state to the probes ([`shim`]) when an
//! exception leaves it. When the rules make an exception a failure
//! ([`report`], with what is [`known`] of earlier ones), the frames ([`frames`])
//! and the objects they refer to ([`snapshot`]) go into a crash file
//! ([`recording`]).
//!
//! ```text
//! callbacks --> start                        (what is hooked, and when)
//!     |-------> hook --> instrument          (class loading; earlier: before us;
//!     |                                       attach: while the program runs)
//!     +-------> report --> exceptions, frames, snapshot, undo, statics, properties (masks), defaults --> recording
//! ```
//!
//! With `mode=second-chance`, classes get their probes after a failure only
//! ([`chances`]). When asked, it records what all
//! threads are doing ([`hang`]). With `mode=trace` it records whole runs instead ([`trace`]).
//!
//! **Invariant:** recording never harms the recorded. Leaving a class as it
//! was, or losing an event and counting it, is always a correct answer; no
//! panic crosses into the JVM (the landing pads are in [`callbacks`]).
//!
//! **Invariant:** `unsafe` is in [`sys`], [`jni`], [`jvmti`] and its parts,
//! [`callbacks`] and two modules of [`trace`] (mapped memory, native methods) only.
//!
//! **Invariant:** no Java code runs before `VMInit`, and never any of the
//! program's; but that its class loaders are asked for the probes before the
//! JVM would ask ([`loaders`]).
//!
//! **Invariant:** no JVM TI capability that slows the JVM down: no exception
//! events, no access to local variables (design, decision 1).

mod agent;
mod agents;
mod attach;
mod budget;
mod callbacks;
mod captured;
mod chances;
mod changing;
mod copies;
mod counters;
mod defaults;
mod earlier;
mod exceptions;
mod foreign;
mod frames;
mod hang;
mod hook;
mod jdk;
mod jni;
mod jvmti;
mod known;
mod loaders;
mod marks;
mod masks;
mod methods;
mod named;
mod options;
mod originals;
mod plan;
mod properties;
mod recording;
mod report;
mod run;
mod share;
mod shim;
mod snapshot;
mod start;
mod statics;
mod sys;
mod trace;
mod undo;
