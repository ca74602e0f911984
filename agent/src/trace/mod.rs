//! `mode=trace`: records every call and every write, in the trace format of the crate `tracelog`.
//!
//! ```text
//! hook --> classes --> dictionary        (class loading)
//! java.lang.HindsightTracer
//!     | events, into chunks of arena
//!     +--> natives --> packer --> segments
//! ```
//!
//! - [`classes`] instruments classes; [`dictionary`] writes what the numbers in events mean.
//! - [`shim`] defines the Java side, whose probes store events into mapped memory, so that nothing
//!   that was stored is lost with the process; [`arena`] has the chunks of that memory.
//! - [`natives`] are the methods that Java calls: once for each chunk, class of objects and thread.
//!   [`nest`] finds out for them which calls are still on the stack.
//! - [`packer`] packs full chunks on threads of its own and gives them back; [`segments`] writes
//!   what it has packed.
//! - [`once`] makes sure that the trace is ended once.
//!
//! **Invariant:** a full disk, or one that is too slow, costs events, which are counted; never the
//! program.

mod arena;
pub(crate) mod classes;
mod dictionary;
mod natives;
mod nest;
mod once;
mod packer;
mod segments;
mod shim;

use crate::agent::Base;
use crate::hook::{self, Wanted};
use crate::jni::{FieldId, Jni};
use crate::jvmti::Jvmti;
use crate::options::Overflow;
use crate::recording::Recording;
use crate::report::now_ms;
use crate::sys;
use arena::{Arena, Blocks, Marks, Shared};
use dictionary::Dictionary;
use hindsight_tracelog::trace::dictionary::{Record, Start, Stop};
use once::Once;
use packer::Packer;
use segments::Segments;
use shim::Tracer;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// How long the end of the JVM may wait until the remaining events are packed.
const MAX_DRAIN: Duration = Duration::from_secs(30);

/// A trace that is being recorded.
pub(crate) struct Tracing {
    base: &'static Base,
    jvmti: Jvmti,
    arena: Arena,
    shared: Shared,
    packer: Packer,
    dictionary: Dictionary,
    pub(crate) ids: classes::Ids,
    /// The file of basic blocks, if blocks are recorded.
    blocks: Option<Blocks>,
    /// The marks of methods, if only a part of the run is recorded.
    marks: Option<Marks>,
    /// The field `Thread.tid`.
    thread_id: Option<FieldId>,
    tracer: Tracer,
    finished: Once,
}

/// The method that is called at the entry of `Thread.exit`.
pub(crate) const ENDED: (&str, &str, &str) = (
    "java/lang/HindsightTracer",
    "ended",
    "(Ljava/lang/Thread;)V",
);

/// The method that is called at the entry of the method with which a virtual thread ends.
pub(crate) const ENDED_VIRTUAL: (&str, &str, &str) = (
    "java/lang/HindsightTracer",
    "endedVirtual",
    "(Ljava/lang/Thread;)V",
);

static TRACING: OnceLock<Tracing> = OnceLock::new();

pub(crate) fn tracing() -> Option<&'static Tracing> {
    TRACING.get()
}

/// Prepares everything in the directory of the run. `Err` says what failed.
pub(crate) fn start(base: &'static Base, jni: Jni, recording: &Recording) -> Result<(), String> {
    let directory = claim(&recording.directory().join("trace"))?;
    start_in(base, jni, &directory, recording.id()).inspect_err(|_| {
        // Otherwise it would look like a recording that was cut off.
        let _ = fs::remove_dir_all(&directory);
    })
}

fn start_in(base: &'static Base, jni: Jni, directory: &Path, run: &str) -> Result<(), String> {
    let options = &base.options.trace;
    let explain = |what: &str, error: std::io::Error| {
        format!("cannot make {what} in {}: {error}", directory.display())
    };
    let dictionary = Dictionary::create(directory).map_err(|error| explain("a file", error))?;
    let what = options.what.to_string();
    let what = what.split(';').map(str::to_owned).collect();
    dictionary.add(&Record::Start(Start {
        started_ms: now_ms(),
        pid: std::process::id(),
        what,
        version: base.options.version.clone(),
        bounds: bounds(base),
        run: run.to_owned(),
    }));
    let blocks = match options.what.blocks {
        true => {
            let blocks = Blocks::create(directory);
            Some(blocks.map_err(|error| explain("a file of blocks", error))?)
        }
        false => None,
    };
    let marks = match options.is_partial() {
        true => Some(Marks::create().map_err(|error| explain("memory", error))?),
        false => None,
    };
    let arena = Arena::create(directory).map_err(|error| explain("room for events", error))?;
    let shared = Shared::create().map_err(|error| explain("memory", error))?;
    let complain = |counter: &str, what: &str| base.complain(counter, what);
    let segments = Segments::new(directory.to_owned(), options.max_bytes, complain);
    let tracer = Tracer::install(jni)?;
    // The constant pools name the methods of lambdas; without this capability, they are not
    // recorded.
    let pools = base.vm.jvmti(&[sys::CAN_GET_CONSTANT_POOL]);
    let tracing = Tracing {
        base,
        jvmti: pools.unwrap_or(base.jvmti),
        arena,
        shared,
        packer: Packer::new(segments, options.overflow == Overflow::Wait),
        dictionary,
        ids: classes::Ids::default(),
        blocks,
        marks,
        thread_id: (jni.find_class(c"java/lang/Thread"))
            .and_then(|class| jni.field(class, c"tid", c"J")),
        tracer,
        finished: Once::default(),
    };
    if options.what.writes {
        // The stand-ins must exist before a class can refer to them.
        shim::define_stand_ins(jni, |class| tracing.stand_ins(base, class))?;
    }
    TRACING
        .set(tracing)
        .map_err(|_| "there is a recording already".to_owned())?;
    let tracing = TRACING.get().ok_or("there is no recording")?;
    let threads =
        std::thread::available_parallelism().map_or(1, |count| (count.get() / 2).clamp(1, 4));
    for _ in 0..threads {
        std::thread::Builder::new()
            .name("Hindsight packer".to_owned())
            .spawn(|| tracing.packer.run(&tracing.arena))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
    }
    if let Some(marks) = &tracing.marks {
        tracing.tracer.narrow(jni, marks, options);
    }
    if let Some(span) = tracing.packer.segments().span() {
        tracing.tracer.forget(jni, span);
    }
    if let Some(blocks) = &tracing.blocks {
        tracing.tracer.cover(jni, blocks);
    }
    // Probes that asked classes that are themselves recorded would record what the program has not
    // done.
    let is_recorded =
        |name: &str| hook::could_have(base, name, std::ptr::null_mut()) != Wanted::Nothing;
    let askable = shim::askable(is_recorded);
    (tracing.tracer).start(jni, &tracing.shared, options.what, askable);
    Ok(())
}

/// The options that bound the recording, as they were given.
fn bounds(base: &Base) -> Vec<(String, String)> {
    let given = base.options.given.iter();
    given
        .filter(|(key, _)| ["from", "until", "sample"].contains(&key.as_str()))
        .cloned()
        .collect()
}

/// Creates the directory `trace`; `trace-2` and so on if it holds another recording.
fn claim(usual: &Path) -> Result<std::path::PathBuf, String> {
    let mut directory = usual.to_owned();
    if let Some(parent) = usual.parent() {
        fs::create_dir_all(parent)
            .map_err(|error| format!("cannot make {}: {error}", parent.display()))?;
    }
    for number in 2..10_000 {
        // Only the owner may read it: it contains what the program had in memory.
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                directory = usual.with_file_name(format!("trace-{number}"));
            }
            Err(error) => return Err(format!("cannot make {}: {error}", directory.display())),
        }
    }
    Err(format!("{} is full of recordings", usual.display()))
}

impl Tracing {
    /// Lets probes record events, or stops them.
    pub(crate) fn set_ready(&self, jni: Jni, ready: bool) -> bool {
        self.tracer.set_ready(jni, ready)
    }

    /// Repeatedly frees what belongs to threads that have ended unnoticed; does not return.
    pub(crate) fn sweep_forever(&self, jni: Jni) {
        self.tracer.sweep_forever(jni);
    }

    /// Stores all events and ends the trace, once: when the JVM shuts down, or when the agent is
    /// switched off. A JVM that shuts down while the agent is being switched off waits for that.
    pub(crate) fn finish(&self, jni: Jni) {
        self.finished.run(2 * MAX_DRAIN, || self.end(jni));
    }

    fn end(&self, jni: Jni) {
        self.set_ready(jni, false);
        self.tracer.end(jni);
        let drained = self.packer.end(MAX_DRAIN);
        let packed = self.packer.pack_rest(&self.arena);
        let closed = self.packer.segments().close();
        let deleted = closed.map_or(0, |closed| closed.deleted);
        self.tracer.settle(jni);
        let stack_ends = self.shared.stack_ends();
        let lost = self.shared.lost() + self.packer.lost();
        let counters = &self.base.counters;
        counters.add("trace_events_lost", lost);
        counters.add("trace_events", self.packer.events());
        counters.add("trace_segments_deleted", deleted);
        counters.add("trace_threads", self.shared.streams());
        if stack_ends > 0 {
            counters.add("trace_stack_ends", stack_ends);
        }
        let unnumbered = self.shared.unnumbered();
        if unnumbered > 0 {
            counters.add("trace_objects_without_number", unnumbered);
        }
        if drained && packed && closed.is_some_and(|closed| closed.is_sound) {
            self.arena.remove_files();
        } else if !drained {
            counters.add("trace_not_packed_at_end", 1);
        }
        let blocks = self.blocks.as_ref().and_then(|blocks| {
            let sum = blocks.freeze();
            if sum.is_err() {
                counters.add("trace_blocks_not_frozen", 1);
            }
            sum.ok()
        });
        let stop = |names_lost| Stop {
            ended_ms: now_ms(),
            lost,
            segments_deleted: deleted,
            windows: self.packer.segments().windows(),
            // Events that were still being packed are there twice; the number of blocks is then not
            // known.
            last: closed.filter(|_| drained).map(|closed| closed.last),
            blocks,
            stack_ends,
            losses: self.packer.losses(),
            unnumbered,
            names_lost,
        };
        let names_lost = (self.dictionary).end(|names_lost| Record::Stop(stop(names_lost)));
        if names_lost > 0 {
            counters.add("trace_names_lost", names_lost);
        }
    }
}
