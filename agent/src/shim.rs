//! The Java side: defines the probes, and reads what they have kept.
//!
//! - [`live`] reads the frames that the current thread is in.
//!
//! The classes come from `java-shim/probe`, compiled and embedded by the build script, and go into
//! the boot loader's `java.lang` at `VMInit`.

pub(crate) mod live;

use crate::jni::{FieldId, Global, Jni, MethodId, Obj};
use crate::sys::JValue;
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::iter;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The prefix of the names of all probe classes, as in class files.
pub(crate) const BEGIN: &str = "java/lang/Hindsight";
/// The prefix of the names of all probe classes, as in Java.
const BEGIN_BINARY: &str = "java.lang.Hindsight";

/// Whether a class is one of the probes, by its binary name.
pub(crate) fn is_probe(class: &str) -> bool {
    class.starts_with(BEGIN_BINARY)
}

/// The names and bytes of the probe classes.
const CLASSES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/shim/classes.rs"));

/// The probe classes of crashes, in an order in which each finds what it needs.
const PROBES: &[&str] = &[
    "java/lang/HindsightMemory",
    "java/lang/HindsightLock",
    "java/lang/HindsightProbe",
    "java/lang/HindsightThread",
    "java/lang/HindsightThread$Propagation",
    "java/lang/HindsightThread$Latest",
    "java/lang/HindsightWays",
    "java/lang/HindsightCauses",
    "java/lang/HindsightLive",
    "java/lang/HindsightVirtual",
    "java/lang/HindsightLog$Clock",
    "java/lang/HindsightLog$Chunk",
    "java/lang/HindsightLog$Entry",
    "java/lang/HindsightLog",
    "java/lang/HindsightWrites",
    "java/lang/HindsightAround$Layout",
    "java/lang/HindsightAround",
    "java/lang/HindsightWork",
    "java/lang/HindsightSignal",
];

/// Defines some of the probe classes, in this order, after a last change. `Err` names what failed.
pub(crate) fn define(
    jni: Jni,
    names: &[&str],
    change: impl Fn(&str, &'static [u8]) -> Cow<'static, [u8]>,
) -> Result<(), String> {
    for name in names {
        let (_, bytes) = (CLASSES.iter())
            .find(|(known, _)| known == name)
            .ok_or_else(|| format!("class {name} is missing"))?;
        let c_name = CString::new(*name).map_err(|error| error.to_string())?;
        if jni
            .define_boot_class(&c_name, &change(name, bytes))
            .is_none()
        {
            return Err(if jni.find_class(&c_name).is_some() {
                "another copy of the agent is in this JVM; this one stays out".to_owned()
            } else {
                format!("class {name} cannot be defined")
            });
        }
    }
    Ok(())
}

const PROPAGATION: &str = "Ljava/lang/HindsightThread$Propagation;";
const CHUNK_OF_LOG: &str = "Ljava/lang/HindsightLog$Chunk;";
const PROBE: &str = "Ljava/lang/HindsightProbe;";

/// The class that the program calls to ask for a recording.
pub(crate) const API: &str = "dev.hindsight.Hindsight";

/// The longest time that a JVM may take to accept an attached library.
const MAX_LINKING: Duration = Duration::from_secs(10);

/// Set when the probes' native method turns out to be this library's.
pub(crate) static LINKED: AtomicBool = AtomicBool::new(false);

/// Handles of the probe classes, and of the parts of `Throwable` that are read.
pub(crate) struct Shim {
    /// `java.lang.HindsightThread`.
    thread: Global,
    sweep: MethodId,
    /// `java.lang.HindsightVirtual` and its `threads`.
    virtuals: (Global, MethodId),
    /// `java.lang.HindsightLive` and its `frames`.
    live: (Global, MethodId),
    /// `java.lang.HindsightCauses` and its `add`.
    causes: (Global, MethodId),
    /// `java.lang.HindsightWork`, with the body of its thread and `wake`.
    work: (Global, MethodId, MethodId),
    /// `java.lang.HindsightProbe` and its `unhandled`.
    unhandled: (Global, MethodId),
    propagation: PropagationIds,
    piece: PieceIds,
    pub(crate) log: LogIds,
    pub(crate) throwable: ThrowableIds,
    pub(crate) locks: LockIds,
    /// `java.lang.HindsightSignal` and its `take`.
    signal: (Global, MethodId),
}

/// What threads wait for.
pub(crate) struct LockIds {
    /// The field `parkBlocker` of `java.lang.Thread`.
    pub(crate) park_blocker: FieldId,
    /// The field of `java.lang.Thread` with its number.
    pub(crate) thread_id: FieldId,
    /// `java.util.concurrent.locks.AbstractOwnableSynchronizer`.
    pub(crate) synchronizer: Global,
    pub(crate) exclusive_owner: FieldId,
}

struct PropagationIds {
    tail: FieldId,
    tail_before: FieldId,
    dropped: FieldId,
    before: FieldId,
    lost: FieldId,
    exception: FieldId,
    reported: FieldId,
    catcher: FieldId,
}

struct PieceIds {
    references: FieldId,
    words: FieldId,
    starts: FieldId,
    frames: FieldId,
    next_reference: FieldId,
    next_word: FieldId,
}

/// `java.lang.HindsightLog` and its chunks.
pub(crate) struct LogIds {
    pub(crate) class: Global,
    pub(crate) owner: FieldId,
    pub(crate) from: FieldId,
    pub(crate) forgot: FieldId,
    pub(crate) base: FieldId,
    pub(crate) next: FieldId,
    pub(crate) chunk: FieldId,
    pub(crate) older: FieldId,
    /// The field `referent` of `java.lang.ref.Reference`.
    pub(crate) referent: FieldId,
    pub(crate) references: FieldId,
    pub(crate) words: FieldId,
    pub(crate) start: FieldId,
}

/// The entries of a chunk; the number is that in `HindsightLog.java`.
const CHUNK: usize = 1024;

/// A bound for the ways that are read, which is above the number that is kept of a thread.
const MAX_WAYS: usize = 64;

/// The descriptor of `HindsightCauses.add`.
const ADD_CAUSES: &CStr = c"([Ljava/lang/HindsightThread$Propagation;Ljava/lang/Throwable;)\
[Ljava/lang/HindsightThread$Propagation;";

/// The fields and methods of `java.lang.Throwable` and related classes.
pub(crate) struct ThrowableIds {
    pub(crate) class: Global,
    pub(crate) message: FieldId,
    pub(crate) cause: FieldId,
    pub(crate) suppressed: FieldId,
    pub(crate) get_stack_trace: MethodId,
    /// The number of frames of its stack trace that nobody has asked for yet.
    pub(crate) depth: Option<FieldId>,
    /// `java.lang.NullPointerException` and its `getMessage`.
    pub(crate) null_pointer: Option<(Global, MethodId)>,
    pub(crate) element_class: FieldId,
    pub(crate) element_method: FieldId,
    pub(crate) element_file: FieldId,
    pub(crate) element_line: FieldId,
    pub(crate) list_class: Global,
    pub(crate) list_elements: FieldId,
    pub(crate) list_size: FieldId,
}

/// One captured frame as the probes have kept it.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) method: u32,
    /// The references in order; `None` for null. They are local references.
    pub(crate) references: Vec<Option<Obj>>,
    pub(crate) words: Vec<i64>,
}

/// What the probes know of one exception's way.
#[derive(Default)]
pub(crate) struct Way {
    /// The frames in the order in which they were left. Dropped ones are missing; see the next two
    /// fields.
    pub(crate) frames: Vec<Raw>,
    /// The number of frames dropped between the first and the last ones.
    pub(crate) dropped: u64,
    /// The index in `frames` where they are missing.
    pub(crate) dropped_at: usize,
    /// Whether the exception was thrown on another thread first, as its trace shows.
    pub(crate) from_elsewhere: bool,
    /// Whether more was known of what the exception has passed before these frames, and was
    /// dropped.
    pub(crate) is_lost: bool,
    /// Whether the thread is still in the last frame, which the exception is about to leave.
    pub(crate) is_escaping: bool,
    /// The method whose handler has caught the exception behind these frames, if there is one.
    pub(crate) catcher: Option<u32>,
}

impl Shim {
    /// Defines the probes and links `report`. `Err` names what failed.
    ///
    /// A JVM looks for native methods in an attached library only some time later.
    pub(crate) fn install(jni: Jni, attached: bool) -> Result<Shim, String> {
        define(jni, PROBES, |_, bytes| Cow::Borrowed(bytes))?;
        let class = |name: &str| {
            let c_name = CString::new(name).map_err(|error| error.to_string())?;
            jni.required_class(&c_name)
        };
        let field = |class: Global, name: &str, signature: &str| {
            let (c_name, c_signature) = (CString::new(name).ok(), CString::new(signature).ok());
            c_name
                .zip(c_signature)
                .and_then(|(name, signature)| jni.field(*class, &name, &signature))
                .ok_or_else(|| format!("field {name} is missing"))
        };

        let thread = class("java/lang/HindsightThread")?;
        let propagation = class("java/lang/HindsightThread$Propagation")?;
        let piece = class("java/lang/HindsightProbe")?;
        let log = class("java/lang/HindsightLog")?;
        let chunk = class("java/lang/HindsightLog$Chunk")?;
        let throwable = class("java/lang/Throwable")?;
        let element = class("java/lang/StackTraceElement")?;
        let list = class("java/util/ArrayList")?;

        let signature = format!("(IILjava/lang/Throwable;{PROPAGATION}[{PROPAGATION})I");
        let signature = CString::new(signature).map_err(|error| error.to_string())?;
        let report = jni
            .static_method(*thread, c"report", &signature)
            .ok_or("method report is missing")?;
        // This links the native method now, since a crash may leave no memory for it.
        let nothing = JValue {
            object: ptr::null_mut(),
        };
        let arguments = [
            JValue { int: -1 },
            JValue { int: -1 },
            nothing,
            nothing,
            nothing,
        ];
        jni.call_static_int(*thread, report, &arguments);
        let asked = Instant::now();
        while attached && !LINKED.load(Ordering::Acquire) && asked.elapsed() < MAX_LINKING {
            sleep(Duration::from_millis(5));
            jni.call_static_boolean(*thread, report, &arguments);
        }
        if !LINKED.load(Ordering::Acquire) {
            return Err(
                "the JVM has linked the probes with another copy of the agent, which is off"
                    .to_owned(),
            );
        }
        let lock = class("java/lang/HindsightLock")?;
        let pause =
            (jni.static_method(*lock, c"pause", c"()V")).ok_or("method pause is missing")?;
        jni.call_static_void(*lock, pause, &[]);
        let live = class("java/lang/HindsightLive")?;
        let virtuals = class("java/lang/HindsightVirtual")?;
        let causes = class("java/lang/HindsightCauses")?;
        let work = class("java/lang/HindsightWork")?;
        let signal = class("java/lang/HindsightSignal")?;
        let synchronizer = class("java/util/concurrent/locks/AbstractOwnableSynchronizer")?;
        Ok(Shim {
            thread,
            live: (
                live,
                jni.static_method(*live, c"frames", c"()[Ljava/lang/Object;")
                    .ok_or("method frames is missing")?,
            ),
            virtuals: (
                virtuals,
                jni.static_method(*virtuals, c"threads", c"(I)[Ljava/lang/Object;")
                    .ok_or("method threads is missing")?,
            ),
            causes: (
                causes,
                jni.static_method(*causes, c"add", ADD_CAUSES)
                    .ok_or("method add is missing")?,
            ),
            sweep: jni
                .static_method(*thread, c"sweepLater", c"()V")
                .ok_or("method sweepLater is missing")?,
            work: (
                work,
                jni.static_method(*work, c"workForever", c"()V")
                    .ok_or("method workForever is missing")?,
                jni.static_method(*work, c"wake", c"()V")
                    .ok_or("method wake is missing")?,
            ),
            unhandled: (
                piece,
                jni.static_method(*piece, c"unhandled", c"(Ljava/lang/Throwable;)V")
                    .ok_or("method unhandled is missing")?,
            ),
            propagation: PropagationIds {
                tail: field(propagation, "tail", PROBE)?,
                tail_before: field(propagation, "tailBefore", PROBE)?,
                dropped: field(propagation, "dropped", "I")?,
                before: field(propagation, "before", PROPAGATION)?,
                lost: field(propagation, "lost", "Z")?,
                exception: field(propagation, "exception", "Ljava/lang/Throwable;")?,
                reported: field(propagation, "reported", "Z")?,
                catcher: field(propagation, "catcher", "I")?,
            },
            piece: PieceIds {
                references: field(piece, "references", "[Ljava/lang/Object;")?,
                words: field(piece, "words", "[J")?,
                starts: field(piece, "starts", "[I")?,
                frames: field(piece, "frames", "I")?,
                next_reference: field(piece, "nextReference", "I")?,
                next_word: field(piece, "nextWord", "I")?,
            },
            log: LogIds {
                class: log,
                owner: field(log, "owner", "Ljava/lang/Thread;")?,
                from: field(log, "from", "J")?,
                forgot: field(log, "forgot", "J")?,
                base: field(log, "base", "J")?,
                next: field(log, "next", "I")?,
                chunk: field(log, "chunk", CHUNK_OF_LOG)?,
                older: field(log, "older", "Ljava/lang/ref/SoftReference;")?,
                referent: field(
                    class("java/lang/ref/Reference")?,
                    "referent",
                    "Ljava/lang/Object;",
                )?,
                references: field(chunk, "references", "[Ljava/lang/Object;")?,
                words: field(chunk, "words", "[J")?,
                start: field(chunk, "start", "J")?,
            },
            locks: LockIds {
                park_blocker: field(
                    class("java/lang/Thread")?,
                    "parkBlocker",
                    "Ljava/lang/Object;",
                )?,
                thread_id: field(class("java/lang/Thread")?, "tid", "J")?,
                synchronizer,
                exclusive_owner: field(synchronizer, "exclusiveOwnerThread", "Ljava/lang/Thread;")?,
            },
            signal: (
                signal,
                jni.static_method(*signal, c"take", c"(Ljava/lang/String;)Z")
                    .ok_or("method take is missing")?,
            ),
            throwable: ThrowableIds {
                class: throwable,
                message: field(throwable, "detailMessage", "Ljava/lang/String;")?,
                cause: field(throwable, "cause", "Ljava/lang/Throwable;")?,
                suppressed: field(throwable, "suppressedExceptions", "Ljava/util/List;")?,
                get_stack_trace: jni
                    .method(
                        *throwable,
                        c"getStackTrace",
                        c"()[Ljava/lang/StackTraceElement;",
                    )
                    .ok_or("method getStackTrace is missing")?,
                depth: field(throwable, "depth", "I").ok(),
                null_pointer: class("java/lang/NullPointerException")
                    .ok()
                    .and_then(|class| {
                        Some((
                            class,
                            jni.method(*class, c"getMessage", c"()Ljava/lang/String;")?,
                        ))
                    }),
                element_class: field(element, "declaringClass", "Ljava/lang/String;")?,
                element_method: field(element, "methodName", "Ljava/lang/String;")?,
                element_file: field(element, "fileName", "Ljava/lang/String;")?,
                element_line: field(element, "lineNumber", "I")?,
                list_class: list,
                list_elements: field(list, "elementData", "[Ljava/lang/Object;")?,
                list_size: field(list, "size", "I")?,
            },
        })
    }

    /// At most `max` of the living virtual threads, in an array with one more element, and the
    /// number of the others. `None` if there can be none.
    pub(crate) fn virtual_threads(&self, jni: Jni, max: i32) -> Option<(Obj, u32)> {
        let (class, method) = self.virtuals;
        let all = jni.call_static_object(*class, method, &[JValue { int: max }])?;
        let count = jni.array_get(all, jni.array_len(all).checked_sub(1)?)?;
        let more = *jni.ints(count, 1).first()?;
        Some((all, more.unsigned_abs()))
    }

    /// Enables or disables reports.
    pub(crate) fn set_ready(&self, jni: Jni, ready: bool) -> bool {
        jni.set_static_boolean(*self.thread, c"ready", ready)
    }

    /// Sets how many writes of each thread are kept.
    pub(crate) fn keep_writes(&self, jni: Jni, writes: usize) -> bool {
        // One chunk is being filled.
        let chunks = i32::try_from(writes.div_ceil(CHUNK)).unwrap_or(i32::MAX);
        let around = jni.find_class(c"java/lang/HindsightAround");
        let start = around.and_then(|around| {
            let start = jni.static_method(around, c"start", c"()V")?;
            Some((around, start))
        });
        if let Some((around, start)) = start {
            jni.call_static_void(around, start, &[]);
        }
        jni.set_static_int(*self.log.class, c"maxChunks", chunks)
    }

    /// Notes that classes that were loaded before the agent are about to get their probes, or have
    /// them: until then not all writes are logged.
    pub(crate) fn set_untold(&self, jni: Jni, untold: bool) {
        let name = if untold { c"beginUntold" } else { c"endUntold" };
        if let Some(method) = jni.static_method(*self.log.class, name, c"()V") {
            jni.call_static_void(*self.log.class, method, &[]);
        }
    }

    /// Drops what the probes keep of exceptions that are over, repeatedly, and calls `and` after
    /// each time; does not return.
    pub(crate) fn sweep_forever(&self, jni: Jni, and: impl Fn()) {
        loop {
            jni.call_static_void(*self.thread, self.sweep, &[]);
            and();
        }
    }

    /// Works whenever there is work; does not return.
    pub(crate) fn work_forever(&self, jni: Jni) {
        jni.call_static_void(*self.work.0, self.work.1, &[]);
    }

    /// Records all threads whenever a signal comes. Returns whether the signal could be taken over.
    pub(crate) fn take_signal(&self, jni: Jni, name: &str) -> bool {
        let take = || {
            let name = jni.new_string(&CString::new(name).ok()?)?;
            let name = JValue { object: name.raw() };
            jni.call_static_boolean(*self.signal.0, self.signal.1, &[name])
        };
        take().unwrap_or(false)
    }

    /// Reports an exception that this thread's native code prints.
    pub(crate) fn unhandled(&self, jni: Jni, exception: Obj) {
        let exception = JValue {
            object: exception.raw(),
        };
        jni.call_static_void(*self.unhandled.0, self.unhandled.1, &[exception]);
    }

    /// Signals that there is work.
    pub(crate) fn wake(&self, jni: Jni) {
        jni.call_static_void(*self.work.0, self.work.2, &[]);
    }

    /// The exception that took this way.
    pub(crate) fn exception(&self, jni: Jni, way: Obj) -> Option<Obj> {
        jni.get_object(way, self.propagation.exception)
    }

    /// Whether a failure was reported on this way.
    pub(crate) fn is_reported(&self, jni: Jni, way: Obj) -> bool {
        jni.get_integral(way, self.propagation.reported, b'Z') != 0
    }

    /// The method whose handler has caught the exception at the end of this way, if there is one.
    pub(crate) fn catcher(&self, jni: Jni, way: Obj) -> Option<u32> {
        u32::try_from(jni.get_int(way, self.propagation.catcher)).ok()
    }

    /// Reads the ways that the same exception object took before handlers rethrew it; oldest first.
    pub(crate) fn ways_before(&self, jni: Jni, propagation: Obj) -> Vec<Way> {
        let before = |way: &Obj| jni.get_object(*way, self.propagation.before);
        let ways = iter::successors(before(&propagation), before).take(MAX_WAYS);
        let mut ways: Vec<Way> = ways.map(|way| self.way(jni, way)).collect();
        ways.reverse();
        ways
    }

    /// A thread's ways, and those of the exception and its causes in other threads.
    pub(crate) fn with_causes(&self, jni: Jni, kept: Option<Obj>, exception: Obj) -> Option<Obj> {
        let arguments = [
            JValue {
                object: kept.map_or(ptr::null_mut(), Obj::raw),
            },
            JValue {
                object: exception.raw(),
            },
        ];
        jni.call_static_object(*self.causes.0, self.causes.1, &arguments)
            .or(kept)
    }

    /// The method of the first frame of an exception's way.
    pub(crate) fn first_method(&self, jni: Jni, way: Obj) -> Option<i32> {
        if jni.get_int(way, self.piece.frames) == 0 {
            return None;
        }
        let starts = jni.get_object(way, self.piece.starts)?;
        jni.ints(starts, 1).first().copied()
    }

    /// Reads an exception's way.
    pub(crate) fn way(&self, jni: Jni, propagation: Obj) -> Way {
        let mut way = Way::default();
        let ids = &self.propagation;
        self.piece(jni, propagation, &mut way.frames);
        way.dropped = u64::try_from(jni.get_int(propagation, ids.dropped)).unwrap_or(0);
        way.is_lost = jni.get_integral(propagation, ids.lost, b'Z') != 0;
        way.catcher = self.catcher(jni, propagation);
        way.dropped_at = way.frames.len();
        for tail in [ids.tail_before, ids.tail] {
            if let Some(piece) = jni.get_object(propagation, tail) {
                self.piece(jni, piece, &mut way.frames);
            }
        }
        way
    }

    fn piece(&self, jni: Jni, piece: Obj, frames: &mut Vec<Raw>) {
        let ids = &self.piece;
        let number = |field| usize::try_from(jni.get_int(piece, field)).unwrap_or(0);
        let (Some(starts), Some(words), Some(references)) = (
            jni.get_object(piece, ids.starts),
            jni.get_object(piece, ids.words),
            jni.get_object(piece, ids.references),
        ) else {
            return;
        };
        let count = number(ids.frames).min(jni.array_len(starts) / 3);
        let starts = jni.ints(starts, 3 * count);
        let word_count = number(ids.next_word).min(jni.array_len(words));
        let words = jni.longs(words, word_count);
        let reference_count = number(ids.next_reference).min(jni.array_len(references));
        for frame in 0..count {
            let at = |part: usize, end: usize| {
                let from = (starts[3 * frame + part] as usize).min(end);
                let to = if frame + 1 < count {
                    (starts[3 * frame + 3 + part] as usize).clamp(from, end)
                } else {
                    end
                };
                from..to
            };
            frames.push(Raw {
                method: starts[3 * frame] as u32,
                references: at(1, reference_count)
                    .map(|index| jni.array_get(references, index))
                    .collect(),
                words: words[at(2, words.len())].to_vec(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
