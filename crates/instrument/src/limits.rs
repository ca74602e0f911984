//! The limits beyond which methods are refused, and what the verifier requires.

use hindsight_classfile::{Code, MethodDescriptor};

use crate::SkipReason;
use crate::scan::Scan;
use crate::throwing::Own;

/// The most slots that parameters may take, `this` included (JVMS 4.3.3).
const MAX_PARAMETER_SLOTS: u16 = 255;

/// The largest product of probes and exception-table entries, since the entries are searched for
/// each probe. In code that compilers make, it is some thousand at most.
const MAX_HANDLER_WORK: usize = 1 << 24;

/// The most local variables that all new frames together may list, for each byte of a method. In
/// code that compilers make, there are less than ten.
const MAX_LOCALS_PER_BYTE: usize = 64;

/// The number of local variables in new frames that every method may have.
const MIN_LOCALS: usize = 1 << 14;

/// The most bytes of new bodies for each byte of a class. In classes that compilers make, there are
/// three at most.
const MAX_NEW_PER_BYTE: usize = 16;

/// The number of bytes of new bodies that every class may have.
const MIN_NEW: usize = 1 << 20;

/// The most bytes of code that HotSpot's JIT compiles (`HugeMethodLimit`, unless
/// `-XX:-DontCompileHugeMethods`).
const MOST_COMPILED: usize = 8000;

/// Refuses a body that the JIT would no longer compile: a method that runs often would take ten
/// times as long from then on. A class initializer is allowed, since it runs once.
pub fn check_compiled(name: &str, code: &Code<'_>, new: usize) -> Result<(), SkipReason> {
    let is_lost = code.bytecode.len() <= MOST_COMPILED && new > MOST_COMPILED;
    match is_lost && name != "<clinit>" {
        true => Err(SkipReason::NotCompiled),
        false => Ok(()),
    }
}

/// The number of bytes of new bodies beyond which the other methods of a class of `len` bytes are
/// left as they are. Small methods that claim many variables add up, since each is allowed
/// [`MIN_LOCALS`].
pub fn most_new(len: usize) -> usize {
    MAX_NEW_PER_BYTE * len + MIN_NEW
}

/// Refuses a method in which this many new frames would be out of all proportion. Fresh variables
/// come behind all others, so that each frame lists all of them, and a method may claim any number
/// of variables.
pub fn check_frames(code: &Code<'_>, frames: usize) -> Result<(), SkipReason> {
    let attributes: usize = code.attributes.iter().map(|a| a.info.len()).sum();
    let size = code.bytecode.len() + 8 * code.handlers.len() + attributes;
    if frames * usize::from(code.max_locals) > MAX_LOCALS_PER_BYTE * size + MIN_LOCALS {
        return Err(SkipReason::TooLarge);
    }
    Ok(())
}

/// The number of slots that the parameters take, `this` included.
pub fn parameter_slots(
    descriptor: &MethodDescriptor<'_>,
    is_static: bool,
    code: &Code<'_>,
) -> Result<u16, SkipReason> {
    descriptor
        .parameter_slots()
        .checked_add(u16::from(!is_static))
        .filter(|&slots| slots <= code.max_locals.min(MAX_PARAMETER_SLOTS))
        // The number of variables stands six bytes before the code.
        .ok_or_else(|| SkipReason::malformed(code.bytecode_offset.saturating_sub(6)))
}

/// Checks that probes can be put at handlers.
pub fn check_handlers(code: &Code<'_>, handlers: &[usize]) -> Result<(), SkipReason> {
    if handlers.len().saturating_mul(code.handlers.len()) > MAX_HANDLER_WORK {
        return Err(SkipReason::TooLarge);
    }
    // A handler at the method's start is wrong code.
    if handlers.first() == Some(&0) {
        return Err(SkipReason::MALFORMED);
    }
    Ok(())
}

/// Whether new code needs stack-map frames.
///
/// Code with jumps or handlers but without a stack map has no frames to which new ones could be
/// added. In a class of version 50, the old verifier takes over (JVMS 4.10). A later class is not
/// verified, or refused: HotSpot up to 17 drops the stack maps of classes of the boot loader, and
/// hands these classes out without them when they are retransformed.
pub fn framed(own: &Own<'_, '_>, code: &Code<'_>, has_stack_map: bool, scan: &Scan) -> bool {
    let jumps = !(scan.jumps.is_empty() && scan.switches.is_empty());
    own.class.major >= 50 && (has_stack_map || !jumps && code.handlers.is_empty())
}
