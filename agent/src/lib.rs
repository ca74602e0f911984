//! The agent: a shared library that the JVM loads by `-agentpath`.
//!
//! At load time it rewrites classes ([`hook`], by the crate `instrument`) so that every method
//! hands its entry state to the probes ([`shim`]) when an exception leaves it. When the rules make
//! an exception a failure ([`report`]), the frames ([`frames`]) and the objects that they refer to
//! ([`snapshot`]) go into a crash file ([`recording`]). With `mode=second-chance`, methods get
//! their probes only after a failure has passed through them ([`chances`]). With `mode=trace`,
//! whole runs are recorded instead ([`trace`]).
//!
//! ```text
//! callbacks --> start                  (what is hooked, and when)
//!     |-------> hook --> instrument    (class loading; `earlier`: classes loaded before the agent;
//!     |                                 `attach`: the agent comes while the program runs)
//!     +-------> report --> exceptions, frames, snapshot, undo, statics,
//!                          properties (masks), defaults --> recording
//! ```
//!
//! # The modules, in reading order
//!
//! The JVM and the start:
//!
//! - [`sys`] declares the function tables of JNI and JVM TI; [`jni`] and [`jvmti`] wrap them
//!   without `unsafe` at the call sites.
//! - [`callbacks`] holds what the JVM calls, and the landing pads for panics.
//! - [`agent`] is the one global that all callbacks share; [`options`] reads the text behind
//!   `-agentpath:...=`.
//! - [`start`] starts recording once the JVM is there; [`attach`] handles the agent's coming while
//!   the program runs, and its being switched off again.
//!
//! Class loading:
//!
//! - [`hook`] decides which classes are instrumented, and does it; [`jdk`] and [`agents`] tell the
//!   JDK's classes and other agents' classes from the program's.
//! - [`earlier`] handles classes that are loaded when the agent starts, [`foreign`] classes that
//!   come with probes in them, [`originals`] class files as their loaders gave them.
//! - [`loaders`] knows which class loaders find the probes, [`methods`] which method each probe's
//!   number means.
//! - [`plan`] reads what `hindsight plan` knows of the program's methods; [`copies`] decides which
//!   arguments of a frame are kept as they were at its entry; [`changing`] which classes of the JDK
//!   have their writes logged.
//! - [`chances`] gives methods probes after a failure.
//!
//! A failure:
//!
//! - [`shim`] defines the Java side of the probes and reads what they kept.
//! - [`report`] makes a crash file of an exception that the probes hand over; [`known`] counts the
//!   crashes of this run, [`named`] what the rules of `report` name, [`budget`] and [`share`] the
//!   processor time that recording may use.
//! - [`exceptions`] reads throwables; [`frames`] makes frames of what the probes kept and what the
//!   stack trace says.
//! - [`snapshot`] reads the object graph, [`undo`] takes writes back to each frame's entry,
//!   [`statics`] reads static fields, [`properties`] the system properties, [`defaults`] the
//!   default locale and time zone.
//! - [`masks`] finds secrets in texts, [`marks`] those that annotations declare, [`captured`] those
//!   that lambda expressions capture.
//! - [`hang`] records what all threads are doing, when asked.
//!
//! What is written:
//!
//! - [`recording`] is the directory of one run; [`run`] writes its `run.json`, with all that was
//!   lost or skipped, which [`counters`] counts.
//! - [`trace`] records every call and write of a run.
//!
//! **Invariant:** recording never harms the recorded. Leaving a class as it was, or losing an event
//! and counting it, is always a correct answer; no panic crosses into the JVM (the landing pads are
//! in [`callbacks`]).
//!
//! **Invariant:** `unsafe` is only in [`sys`], in [`jni`], [`jvmti`] and [`callbacks`] with their
//! parts, and in two modules of [`trace`] (mapped memory, native methods).
//!
//! **Invariant:** no Java code runs before `VMInit`, and no code of the program runs at any time,
//! with one exception: its class loaders are asked for the probes before the JVM would ask them
//! ([`loaders`]).
//!
//! **Invariant:** no JVM TI capability that slows the program down is requested unless an option
//! asks for it. Exception events are never requested. Access to local variables and suspension of
//! threads are requested with `dump-on` only, in a JVM TI environment of their own ([`agent`]).
//! `docs/architecture.md` gives the reason, under "The shadow stack lives in the frame".

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
