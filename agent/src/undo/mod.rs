//! Undoing writes: from the logs of the probes to what frames saw at their
//! entry.
//!
//! - [`fields`] knows the fields behind the ids in the logs.
//! - [`accessors`] knows the methods that no log has to mind.
//! - [`log`] reads the logs of all threads from the Java heap.
//! - [`rollback`] goes back through the writes, from the newest to the entry of
//!   each frame, and says what has changed of what its arguments lead to.
//!
//! Old values belong to the graph: what only they lead to has to be stored too.
//! So the walk asks, for each object that it numbers, whether something of it was
//! written over, and takes the old values for further roots.
//!
//! **Invariant:** a frame's state is exact, or the frame says what it lacks.

/// What is called at the entry of `Thread.exit`, and of the method with which a virtual thread ends.
pub(crate) const ENDED: (&str, &str, &str) =
    ("java/lang/HindsightLog", "ended", "(Ljava/lang/Thread;)V");

pub(crate) mod accessors;
pub(crate) mod fields;
pub(crate) mod log;
pub(crate) mod rollback;
