//! Calls that write to an object without a bytecode instruction that shows it.
//!
//! ```text
//! astore t..          the arguments, into fresh variables
//! load t..            what the probe has to know of them
//! invokestatic probe
//! load t..            the arguments
//! aconst_null; astore t    so that no object is kept alive
//! ```
//!
//! The receiver stays on the operand stack: the message of a `NullPointerException` says where the
//! null came from. Where the exact target of a write is not known, the whole object is logged:
//! logging too much is better than missing a write.

use hindsight_classfile::{FieldType, Insn, MemberRef, MethodDescriptor, Operand, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::contract::WriteProbe;
use crate::trace::bulk::writes_unseen;
use crate::writes::call;

/// What a call writes to, and which operands the probe takes.
struct Target {
    probe: WriteProbe,
    /// Whether the probe takes the receiver first.
    receiver: bool,
    /// The parameters that the probe takes, by index.
    parameters: Vec<usize>,
}

/// Classes whose methods take an object and an offset in it.
pub const UNSAFE: [&str; 3] = [
    "sun/misc/Unsafe",
    "jdk/internal/misc/Unsafe",
    "jdk/internal/misc/ScopedMemoryAccess",
];

/// The class of variable handles.
pub const VAR_HANDLE: &str = "java/lang/invoke/VarHandle";

/// Methods of the JDK that write to an array argument and log nothing themselves: native methods of
/// classes that otherwise log their writes, methods of classes that never log, and methods that the
/// JIT replaces with intrinsics, which leave out the probes in their code.
const FILLS: [(&str, &str); 13] = [
    ("java/io/", "readBytes"),
    ("java/util/zip/", "inflateB"),
    ("java/util/zip/", "deflateB"),
    // A subclass that logs nothing may be behind a reference of these types.
    ("java/util/Random", "nextBytes"),
    ("java/util/random/", "nextBytes"),
    ("java/lang/", "getChars"),
    ("java/lang/", "getBytes"),
    ("java/lang/", "toChars"),
    ("java/security/", "nextBytes"),
    ("java/security/", "digest"),
    ("jdk/internal/util/ByteArray", "set"),
    ("java/util/Base64$", "encodeBlock"),
    ("java/util/Base64$", "decodeBlock"),
];

/// Whether a method is one of [`FILLS`].
fn fills(method: &MemberRef<'_>) -> bool {
    let (owner, name) = (method.owner.as_bytes(), method.name.as_bytes());
    FILLS.iter().any(|(owners, names)| {
        owner.starts_with(owners.as_bytes()) && name.starts_with(names.as_bytes())
    })
}

/// What a call writes to, if it is a call that this module handles.
fn target(opcode: u8, method: &MemberRef<'_>, parameters: &[FieldType<'_>]) -> Option<Target> {
    let is = |index: usize, descriptor: &str| {
        parameters
            .get(index)
            .is_some_and(|parameter| parameter.descriptor() == descriptor)
    };
    let tell = |probe, parameters: &[usize]| {
        Some(Target {
            probe,
            receiver: false,
            parameters: parameters.to_vec(),
        })
    };
    let name = method.name.as_bytes();
    let unseen = writes_unseen(opcode, method);
    if unseen && method.owner == VAR_HANDLE {
        // The last parameters are values: the new one and, for a compare, the expected one.
        let compares = name.starts_with(b"compare") || name.starts_with(b"weakCompare");
        let coordinates = parameters.len().checked_sub(1 + usize::from(compares))?;
        let to_object = parameters.first().is_some_and(|first| first.is_reference());
        return match coordinates {
            1 if to_object => Some(Target {
                probe: WriteProbe::Handle,
                receiver: true,
                parameters: vec![0],
            }),
            2 if to_object && is(1, "I") => Some(Target {
                probe: WriteProbe::HandleElement,
                receiver: true,
                parameters: vec![0, 1],
            }),
            _ if is(0, "Ljava/lang/foreign/MemorySegment;") => None,
            // A handle of a static field, or one that the object is bound to.
            _ => Some(Target {
                probe: WriteProbe::Handle,
                receiver: true,
                parameters: Vec::new(),
            }),
        };
    }
    if UNSAFE.iter().any(|class| method.owner == *class) {
        let places = (1..parameters.len())
            .filter(|&index| is(index - 1, "Ljava/lang/Object;") && is(index, "J"));
        let place = places.max()?;
        let starts = |words: &[&[u8]]| words.iter().any(|word| name.starts_with(word));
        return if starts(&[b"copy", b"setMemory"]) && is(place + 1, "J") {
            tell(WriteProbe::Bytes, &[place - 1, place, place + 1])
        } else if starts(&[b"put", b"compareAnd", b"weakCompareAnd", b"getAnd"]) {
            tell(WriteProbe::Memory, &[place - 1, place])
        } else {
            None
        };
    }
    match method.owner.as_bytes() {
        b"java/lang/reflect/Field" if unseen && is(0, "Ljava/lang/Object;") => {
            return tell(WriteProbe::Object, &[0]);
        }
        b"java/lang/reflect/Array" if unseen && is(0, "Ljava/lang/Object;") && is(1, "I") => {
            return tell(WriteProbe::Element, &[0, 1]);
        }
        _ => {}
    }
    if !fills(method) {
        return None;
    }
    // The last array is written to: arrays that are only read come before it.
    let array = parameters.iter().rposition(|parameter| {
        let descriptor = parameter.descriptor();
        matches!(descriptor.as_bytes(), [b'[', kind] if *kind != b'[')
    })?;
    let behind = parameters.len() - array - 1;
    if method.name == "digest" && behind != 2 {
        // This overload only reads its array.
        return None;
    }
    if method.owner.as_bytes().starts_with(b"java/util/Base64$") {
        // Parameters: source, its start and end; destination, and its start.
        let places = array == 3 && is(1, "I") && is(2, "I") && is(4, "I");
        return places
            .then(|| tell(WriteProbe::Coded, &[1, 2, 3, 4]))
            .flatten();
    }
    let one = behind == 1 && is(array + 1, "I");
    if method.owner.as_bytes().starts_with(b"jdk/") {
        is(array + 1, "I")
            .then(|| tell(WriteProbe::Element, &[array, array + 1]))
            .flatten()
    } else if behind >= 2 && is(array + 1, "I") && is(array + 2, "I") {
        tell(WriteProbe::Copy, &[array, array + 1, array + 2])
    } else if one && array == 2 && is(0, "I") && is(1, "I") {
        tell(WriteProbe::Characters, &[0, 1, 2, 3])
    } else if one && method.name == "toChars" {
        tell(WriteProbe::Element, &[array, array + 1])
    } else {
        tell(WriteProbe::Array, &[array])
    }
}

/// Emits what is inserted before an instruction that calls such a method. Fresh variables begin at
/// `first_slot`. Returns the slot behind them, and by how many slots the stack grows above the
/// body's own; `None` if the instruction calls no such method.
pub fn before(
    insn: &Insn<'_>,
    first_slot: u16,
    fragment: &mut Fragment,
    constants: &mut Constants<'_, '_>,
) -> Result<Option<(u16, u16)>, SkipReason> {
    let (op::INVOKEVIRTUAL..=op::INVOKEINTERFACE, Operand::Constant(constant)) =
        (insn.opcode, insn.operand()?)
    else {
        return Ok(None);
    };
    let Ok(method) = constants.pool.method(constant) else {
        return Ok(None);
    };
    if !may_write(&method) {
        return Ok(None);
    }
    let descriptor = MethodDescriptor::parse(method.descriptor)?;
    let parameters: Vec<FieldType<'_>> = descriptor.parameters().collect();
    let Some(target) = target(insn.opcode, &method, &parameters) else {
        return Ok(None);
    };
    let mut next = first_slot;
    let mut slots = Vec::with_capacity(parameters.len());
    for parameter in &parameters {
        slots.push((parameter.kind(), next));
        next = next
            .checked_add(parameter.slots())
            .ok_or(SkipReason::TooManyLocals)?;
    }
    for &(kind, slot) in slots.iter().rev() {
        fragment.store(kind, slot);
    }
    if target.receiver {
        fragment.op(op::DUP);
    }
    for index in &target.parameters {
        let &(kind, slot) = slots.get(*index).ok_or(SkipReason::MALFORMED)?;
        fragment.load(kind, slot);
    }
    if target.receiver && target.parameters.is_empty() {
        fragment.op(op::ACONST_NULL);
    }
    call(fragment, target.probe, constants)?;
    for &(kind, slot) in &slots {
        fragment.load(kind, slot);
        if matches!(kind, b'L' | b'[') {
            fragment.op(op::ACONST_NULL);
            fragment.store(kind, slot);
        }
    }
    // At most: an object, an offset and a length; or the arguments with a null above them.
    Ok(Some((next, 5)))
}

/// Whether a method may be one that this module handles, judged by its owner and name.
fn may_write(method: &MemberRef<'_>) -> bool {
    let owner = method.owner.as_bytes();
    let known = [&b"java/lang/invoke/VarHandle"[..], b"java/lang/reflect/"]
        .iter()
        .any(|prefix| owner.starts_with(prefix));
    known || UNSAFE.iter().any(|class| method.owner == *class) || fills(method)
}
