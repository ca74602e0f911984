//! Instruments class files: bytes in, bytes out, no JVM in sight.
//!
//! - [`crash()`] makes methods remember their arguments and hand them over when an exception leaves
//!   them. [`CrashPlan`] says what to remember, [`Rewritten`] what was done. [`catches`] does only
//!   the part that reports caught exceptions, for code that only catches. [`Workspace::undoable`]
//!   also makes writes log the old values, by an [`UndoPlan`]. A [`Workspace`] does all of this for
//!   many classes in the same memory.
//! - [`trace()`] makes methods record their calls, writes and reads. [`TracePlan`] says which,
//!   [`Traced`] what was done.
//! - [`entry_hook`] calls a static method at the entry of one method.
//! - [`contract`] names what the inserted code calls.
//! - [`run_of`] says to which run the probes in a class belong; [`silenced`] takes away the effect
//!   of probes of other runs.
//! - [`select`] says which classes are asked for, by [`glob`].
//!
//! # What a method gets
//!
//! ```text
//! entry      copy parameters that the body could destroy, and used fields
//! body       as it was; typed handlers report what they caught
//! handler    of everything that leaves the body: hand over, rethrow
//! ```
//!
//! The module `trace` describes a trace's probes; [`contract::trace`] describes what they call and
//! how their events are to be read.
//!
//! # The modules, in reading order
//!
//! What is asked for, and what comes out:
//!
//! - [`contract`] is what inserted code calls; `plan` is what to instrument, and what was
//!   instrumented; `error` is this crate's error.
//! - [`glob`] and [`select`] choose classes.
//! - `records` and `members` keep, in little memory, what was done to methods and what the numbers
//!   of fields and callees mean.
//!
//! The path of one method through a rewriting for crashes:
//!
//! - `crash` goes through the methods of a class; `method` drives what follows for one of them;
//!   `limits` says what methods are refused for.
//! - `scan` and `throwing` read its instructions, `frames` its stack map, `attributes` finds its
//!   attributes, `constructor` finds the call of the other constructor.
//! - `parameters` and `fields` decide what is copied.
//! - `writes`, `around` and `fresh` find the writes to be logged, `quiet` the calls that write
//!   nothing.
//! - `asm` writes [fragments](#fragments) of code; `entry`, `caught`, `starts` and `handler` make
//!   them.
//! - `insertions` collects them, `relocate` puts them between the old instructions, `code_map`
//!   knows where old code then is, `islands` helps jumps that have become too far.
//! - `stackmap` and `tables` move everything that points into code; `body` writes the new body.
//!
//! Other rewritings:
//!
//! - `trace` records whole runs: `trace::method` drives; `trace::calls`, `trace::memory` and
//!   `trace::bulk` make the fragments.
//! - `hook` inserts one call at the entry of one method; `run` says to which run a class's probes
//!   belong.
//!
//! # Fragments
//!
//! A fragment is code to be inserted, with the stack-map frames and exception table entries that
//! lie within it. Each fragment guards its calls and loads by one pattern:
//!
//! ```text
//! start:  ...            whatever may fail
//!         goto next      or return, or throw
//! guard:  pop            catches everything from `start` on
//! next:   ...            goes on as if nothing had happened
//! ```
//!
//! The guard is reached by exceptions alone: HotSpot's C1 compiles no method with a handler that is
//! also reached without exception, and such a method stays interpreted (measured: ecj compiled at
//! half speed).
//!
//! **Invariant:** leaving a method or class as it was is always a correct answer; whatever is not
//! understood is left, with a [`SkipReason`].
//!
//! **Invariant:** frames are never merged and no class hierarchy is consulted: every type in a new
//! frame is copied from a descriptor or from an old frame.
//!
//! **Invariant:** existing local variables and constants keep their numbers.
//!
//! **Invariant:** no I/O, no `unsafe`, no panic whatever the bytes.
#![forbid(unsafe_code)]

mod around;
mod asm;
mod attributes;
mod body;
mod caught;
mod code_map;
mod constructor;
pub mod contract;
mod crash;
mod entry;
mod error;
mod fields;
mod frames;
mod fresh;
pub mod glob;
mod handler;
mod hook;
mod insertions;
mod islands;
mod limits;
mod members;
mod method;
mod parameters;
mod plan;
mod quiet;
mod records;
mod relocate;
mod run;
mod scan;
pub mod select;
mod stackmap;
mod starts;
mod tables;
mod throwing;
mod trace;
mod writes;

pub use crash::{Workspace, catches, crash};
pub use error::Error;
pub use hook::entry_hook;
pub use members::{MemberName, MemberNames};
pub use plan::{
    Capture, Copy, CrashPlan, Effects, Fresh, Inserted, Layout, Method, ParameterEffects, Part,
    Rewritten, Rules, SkipReason, Skipped, UndoPlan,
};
pub use quiet::{Others, Quiet};
pub use records::{Captures, Methods, ParameterNames, SkippedMethods};
pub use run::{run_of, silenced};
pub use trace::{MethodBlocks, TracePlan, Traced, What, trace};
