//! Undoes writes: from the logs of the probes to what frames saw at their entry.
//!
//! - [`fields`] has the fields behind the ids in the logs.
//! - [`accessors`] has the methods whose calls need no log.
//! - [`log`] reads the logs of all threads from the Java heap.
//! - [`rollback`] goes back through the writes, from the newest to the entry of each frame, and
//!   determines what has changed in the objects that its arguments lead to.
//!
//! Old values belong to the graph, because what only they lead to has to be stored as well. So the
//! walk asks, for each object that it numbers, whether something in it was overwritten, and takes
//! the old values as further roots.
//!
//! **Invariant:** a frame's state is exact, or the frame says what it lacks.

/// The method that is called at the entry of `Thread.exit`, and of the method with which a virtual
/// thread ends.
pub(crate) const ENDED: (&str, &str, &str) =
    ("java/lang/HindsightLog", "ended", "(Ljava/lang/Thread;)V");

pub(crate) mod accessors;
pub(crate) mod fields;
pub(crate) mod log;
pub(crate) mod rollback;
