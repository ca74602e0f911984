//! The Java side: defining the probes of traces.

use super::arena::{Blocks, Marks, Shared};
use crate::jni::{Global, Jni, MethodId};
use crate::options::Trace;
use crate::shim::define;
use crate::sys::JValue;
use hindsight_instrument::What;
use hindsight_instrument::contract::stand_ins;
use std::borrow::Cow;

/// The classes of the probes, in an order in which each finds those that it needs.
const CLASSES: &[&str] = &[
    "java/lang/HindsightNest",
    "java/lang/HindsightCalls",
    CARRIER,
    "java/lang/HindsightIdentity",
    "java/lang/HindsightIdentities",
    "java/lang/HindsightNumbers",
    "java/lang/HindsightTexts",
    "java/lang/HindsightElements",
    "java/lang/HindsightStream",
    "java/lang/HindsightTracer",
    "java/lang/HindsightTracers",
    "java/lang/HindsightWindow",
    "java/lang/HindsightTrace",
];

/// Defines the class of stand-ins to which method references are turned, as `instrument` changes
/// it. `Err` says what failed.
pub(super) fn define_stand_ins(
    jni: Jni,
    instrument: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Result<(), String> {
    define(jni, &[stand_ins::UNSEEN], |_, bytes| {
        instrument(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)
    })
}

/// The classes that `HindsightTexts` asks for the text of a value, and those that they ask in turn,
/// by kinds of values in the order of their bits there.
const ASKED: &[&[&str]] = &[
    &[
        "java.time.Duration",
        "java.time.LocalDate",
        "java.time.LocalDateTime",
        "java.time.LocalTime",
        "java.time.MonthDay",
        "java.time.OffsetDateTime",
        "java.time.OffsetTime",
        "java.time.Period",
        "java.time.Year",
        "java.time.YearMonth",
        "java.time.ZoneId",
        "java.time.ZoneOffset",
        "java.time.ZoneRegion",
        "java.time.ZonedDateTime",
    ],
    &[
        "java.time.Instant",
        "java.time.LocalDate",
        "java.time.LocalTime",
        "java.time.chrono.IsoChronology",
        "java.time.temporal.ChronoField",
        "java.time.temporal.ValueRange",
    ],
    &["java.math.BigDecimal", "java.math.BigInteger"],
    &["java.util.UUID"],
    &["java.util.Locale"],
    &["java.util.Currency"],
    &["java.util.regex.Pattern"],
    &["java.io.File"],
    &["java.net.URI"],
    &["java.nio.charset.Charset"],
    &[
        "java.nio.file.Path",
        "sun.nio.fs.UnixPath",
        "sun.nio.fs.Util",
    ],
    // And what tells of an instant.
    &[
        "java.time.Clock",
        "java.time.Clock$FixedClock",
        "java.time.Clock$SystemClock",
        "java.time.Instant",
        "java.time.LocalDate",
        "java.time.LocalTime",
        "java.time.ZoneId",
        "java.time.ZoneOffset",
        "java.time.ZoneRegion",
        "java.time.chrono.IsoChronology",
        "java.time.temporal.ChronoField",
        "java.time.temporal.ValueRange",
    ],
];

/// The kinds of values that may be asked, as a bit each: those for which no class involved
/// `is_recorded`.
pub(super) fn askable(is_recorded: impl Fn(&str) -> bool) -> i32 {
    let kinds = ASKED.iter().enumerate();
    let free = kinds.filter(|(_, classes)| !classes.iter().any(|class| is_recorded(class)));
    free.fold(0, |bits, (kind, _)| bits | 1 << kind)
}

/// The size of the heap in bytes below which a starting JVM may run out of the memory that the
/// probes take.
const MIN_HEAP: i64 = 5 << 20;

const CARRIER: &str = "java/lang/HindsightCarrier";

/// The class `java.lang.HindsightTracer`.
pub(super) struct Tracer {
    class: Global,
    start: MethodId,
    narrow: MethodId,
    forget: MethodId,
    cover: MethodId,
    settle: MethodId,
    /// The class `java.lang.HindsightTracers`; the next fields are its methods.
    all: Global,
    sweep: MethodId,
    end: MethodId,
}

impl Tracer {
    /// Defines the probes. `Err` names what failed.
    pub(super) fn install(jni: Jni) -> Result<Tracer, String> {
        let thread = jni.find_class(c"java/lang/Thread");
        let has_carriers = thread
            .and_then(|thread| {
                jni.static_method(thread, c"currentCarrierThread", c"()Ljava/lang/Thread;")
            })
            .is_some();
        define(jni, CLASSES, |name, bytes| {
            if name == CARRIER && has_carriers {
                rename(bytes, "currentThread", "currentCarrierThread").into()
            } else {
                Cow::Borrowed(bytes)
            }
        })?;
        if let Some(heap) = max_heap(jni).filter(|heap| *heap < MIN_HEAP) {
            return Err(format!(
                "the heap is too small: it has {:.1} MB at most (-Xmx), and a trace takes 1 to 2 MB of it",
                heap as f64 / f64::from(1 << 20)
            ));
        }
        let class = jni.required_class(c"java/lang/HindsightTracer")?;
        let all = jni.required_class(c"java/lang/HindsightTracers")?;
        // The class is loaded here, so that no probe is the first to need it.
        jni.required_class(c"java/lang/HindsightTrace")?;
        let method = |name, signature| {
            jni.static_method(*class, name, signature)
                .ok_or("a method of HindsightTracer is missing")
        };
        let of_all = |name| {
            jni.static_method(*all, name, c"()V")
                .ok_or("a method of HindsightTracers is missing")
        };
        Ok(Tracer {
            class,
            start: method(c"start", c"(JJZZIZ)V")?,
            narrow: method(c"narrow", c"(JIZZ)V")?,
            forget: method(c"forget", c"(I)V")?,
            cover: method(c"cover", c"(J)V")?,
            sweep: of_all(c"sweepForever")?,
            end: of_all(c"end")?,
            all,
            settle: method(c"settle", c"()V")?,
        })
    }

    /// Limits the recording to a part of the run. To be called before [`Self::start`].
    pub(super) fn narrow(&self, jni: Jni, marks: &Marks, of: &Trace) {
        let sample = of.sample.as_ref();
        let arguments = [
            JValue {
                long: marks.address(),
            },
            JValue {
                // The value is below 2^31; the options are checked for that.
                int: sample.map_or(0, |sample| sample.every as i32),
            },
            JValue {
                int: i32::from(sample.is_some_and(|sample| !sample.classes.is_empty())),
            },
            JValue {
                int: i32::from(!of.from.is_empty()),
            },
        ];
        jni.call_static_void(*self.class, self.narrow, &arguments);
    }

    /// Prepares for a bounded trace, whose beginning is deleted: the texts of old objects are
    /// recorded again after this many chunks. To be called before [`Self::start`].
    pub(super) fn forget(&self, jni: Jni, span: u32) {
        let arguments = [JValue {
            // There are only a few.
            int: span as i32,
        }];
        jni.call_static_void(*self.class, self.forget, &arguments);
    }

    /// Sets the address of the bytes of basic blocks, before any block runs.
    pub(super) fn cover(&self, jni: Jni, blocks: &Blocks) {
        let arguments = [JValue {
            long: blocks.address(),
        }];
        jni.call_static_void(*self.class, self.cover, &arguments);
    }

    /// Starts the probes. `askable` are the kinds of values that may be asked for their texts.
    pub(super) fn start(&self, jni: Jni, shared: &Shared, what: What, askable: i32) {
        let arguments = [
            JValue {
                long: shared.address(),
            },
            JValue {
                long: shared.bits(),
            },
            JValue {
                int: i32::from(what.values),
            },
            JValue {
                int: i32::from(what.values && what.writes),
            },
            JValue { int: askable },
            JValue {
                int: i32::from(!(what.values || what.writes || what.reads)),
            },
        ];
        jni.call_static_void(*self.class, self.start, &arguments);
    }

    pub(super) fn set_ready(&self, jni: Jni, ready: bool) -> bool {
        jni.set_static_boolean(*self.class, c"ready", ready)
    }

    /// Makes threads no longer find their streams, so that probes do nothing. To be called when no
    /// events are recorded any more.
    pub(super) fn end(&self, jni: Jni) {
        jni.call_static_void(*self.all, self.end, &[]);
    }

    /// Counts lost events that have not been reported yet.
    pub(super) fn settle(&self, jni: Jni) {
        jni.call_static_void(*self.class, self.settle, &[]);
    }

    pub(super) fn sweep_forever(&self, jni: Jni) {
        jni.call_static_void(*self.all, self.sweep, &[]);
    }
}

/// The number of bytes to which the heap may grow.
fn max_heap(jni: Jni) -> Option<i64> {
    let class = jni.find_class(c"java/lang/Runtime")?;
    let get = jni.static_method(class, c"getRuntime", c"()Ljava/lang/Runtime;")?;
    let runtime = jni.call_static_object(class, get, &[])?;
    jni.call_long(runtime, jni.method(class, c"maxMemory", c"()J")?)
}

/// Replaces a text constant of a class.
fn rename(class: &[u8], from: &str, to: &str) -> Vec<u8> {
    const UTF8: u8 = 1;
    let constant = |text: &str| {
        let mut bytes = vec![UTF8];
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text.as_bytes());
        bytes
    };
    let from = constant(from);
    let at = class
        .windows(from.len())
        .position(|bytes| bytes == from)
        .unwrap_or(class.len());
    let mut renamed = class[..at].to_vec();
    if at < class.len() {
        renamed.extend(constant(to));
        renamed.extend(&class[at + from.len()..]);
    }
    renamed
}
