//! Targets that read and rewrite class files.

use hindsight_classfile::ClassFile;
use hindsight_instrument::select::MAX_FIELDS;
use hindsight_instrument::{
    Copy, CrashPlan, Rules, TracePlan, UndoPlan, What, Workspace, catches, crash, entry_hook, trace,
};

use crate::limits::{Limits, within};
use read::read;

#[path = "../../classfile/tests/support/read.rs"]
mod read;

const PARSE: Limits = Limits {
    bytes_per_byte: 16,
    bytes: 1 << 10,
    nanos_per_byte: 2_000,
    nanos: 50_000_000,
};

/// Checks that a class that can be parsed is written as it was, and that all that it says can be
/// asked for.
pub fn parse(bytes: &[u8]) {
    within(&PARSE, bytes.len(), || {
        if let Ok(class) = ClassFile::parse(bytes) {
            assert!(class.write() == bytes, "it is not written as it was");
            for field in &class.fields {
                let _ = field.name.to_string_lossy();
            }
        }
        if let Err(error) = read(bytes) {
            let text = error.to_string();
            assert!(error.offset() <= bytes.len() + 1, "{text}");
            assert!(text.contains("at offset"), "{text}");
        }
    });
}

const INSTRUMENT: Limits = Limits {
    bytes_per_byte: 128,
    bytes: 128 << 10,
    nanos_per_byte: 10_000,
    nanos: 200_000_000,
};

/// The most methods of one class whose entry is hooked.
const HOOKED: usize = 4;

/// Checks that every plan gives an error, or a class that can be parsed and whose code makes sense.
pub fn instrument(bytes: &[u8]) {
    let check = |new: &[u8]| {
        let class = ClassFile::parse(new).expect("what was written can be read");
        assert!(class.write() == new);
    };
    for (copy, rule) in [
        (Copy::Reference, false),
        (Copy::Fields, false),
        (Copy::Fields, true),
    ] {
        let rules = |_: &str, _: &str| Rules {
            escape: rule,
            caught: rule,
        };
        let plan = CrashPlan {
            copy,
            max_fields: MAX_FIELDS,
            first_id: if rule { 40_000 } else { 1 },
            rules: &rules,
            known: &[],
        };
        let rewritten = within(&INSTRUMENT, bytes.len(), || crash(bytes, &plan));
        let Ok(rewritten) = rewritten else { continue };
        let Some(new) = rewritten.class else { continue };
        check(&new);
        // What was understood before can still be read in full.
        if read(bytes).is_ok() {
            read(&new).expect("new code makes sense");
        }
        // One class of each is enough.
        let twice = crash(&new, &plan).expect("what was written can be read");
        assert!(twice.class.is_none());
    }
    let sound = |new: Option<Vec<u8>>| {
        if let Some(new) = new {
            check(&new);
            if read(bytes).is_ok() {
                read(&new).expect("new code makes sense");
            }
        }
    };
    if let Ok(done) = within(&INSTRUMENT, bytes.len(), || catches(bytes, 1)) {
        sound(done.class);
    }
    for frames in [true, false] {
        let crash = CrashPlan {
            copy: Copy::Fields,
            max_fields: MAX_FIELDS,
            first_id: 1,
            rules: &|_, _| Rules::default(),
            known: &[],
        };
        let plan = UndoPlan {
            crash: frames.then_some(&crash),
            catches: true,
            first_id: 1,
            first_field: 1,
            quiet: &|_| None,
        };
        let mut space = Workspace::default();
        let done = within(&INSTRUMENT, bytes.len(), || space.undoable(bytes, &plan));
        if let Ok(done) = done {
            sound(done.class);
        }
    }
    let plan = TracePlan {
        what: &|_, _| What {
            reads: true,
            blocks: true,
            ..What::CALLS_AND_WRITES
        },
        first_method: 1,
        first_field: 1,
        first_callee: 1,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|name| name.len().is_multiple_of(3),
    };
    if let Ok(done) = within(&INSTRUMENT, bytes.len(), || trace(bytes, &plan)) {
        sound(done.class);
    }
    let Ok(class) = ClassFile::parse(bytes) else {
        return;
    };
    for method in class.methods.iter().take(HOOKED) {
        let (Some(name), Some(descriptor)) = (method.name.as_str(), method.descriptor.as_str())
        else {
            continue;
        };
        let target = ("java/lang/HindsightProbe", "uncaught", "()V");
        let hooked = within(&INSTRUMENT, bytes.len(), || {
            entry_hook(bytes, name, descriptor, target)
        });
        if let Ok(new) = hooked {
            check(&new);
        }
    }
}
