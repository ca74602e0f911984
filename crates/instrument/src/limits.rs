//! What methods are refused for, and what the verifier asks of them.

use hindsight_classfile::{Code, MethodDescriptor};

use crate::SkipReason;
use crate::scan::Scan;
use crate::throwing::Own;

/// The slots that parameters may take, `this` included (JVMS 4.3.3).
const MAX_PARAMETER_SLOTS: u16 = 255;

/// Probes times exception-table entries, which are looked through for each.
/// Compilers make some thousand at most.
const MAX_HANDLER_WORK: usize = 1 << 24;

/// Local variables in all new frames together, for each byte of a method.
/// Compilers stay below ten.
const MAX_LOCALS_PER_BYTE: usize = 64;

/// And in any method.
const MIN_LOCALS: usize = 1 << 14;

/// Bytes of new bodies for each byte of a class. Those of compilers take three at most.
const MAX_NEW_PER_BYTE: usize = 16;

/// And in any class.
const MIN_NEW: usize = 1 << 20;

/// Bytes of code that HotSpot's JIT compiles at most (`HugeMethodLimit`, unless `-XX:-DontCompileHugeMethods`).
const MOST_COMPILED: usize = 8000;

/// Refuses a body that the JIT would no longer compile: what runs often would take ten times as long from then on. An
/// initialiser runs once.
pub fn check_compiled(name: &str, code: &Code<'_>, new: usize) -> Result<(), SkipReason> {
    let is_lost = code.bytecode.len() <= MOST_COMPILED && new > MOST_COMPILED;
    match is_lost && name != "<clinit>" {
        true => Err(SkipReason::NotCompiled),
        false => Ok(()),
    }
}

/// Bytes of new bodies that a class of `len` bytes may have before its other methods are left as they are: small methods
/// that claim many variables add up, for each is allowed [`MIN_LOCALS`].
pub fn most_new(len: usize) -> usize {
    MAX_NEW_PER_BYTE * len + MIN_NEW
}

/// Refuses a method in which so many new frames would be out of all proportion.
/// Fresh variables come behind all others, so each frame lists all of them, and
/// nothing but its claim says how many a method has.
pub fn check_frames(code: &Code<'_>, frames: usize) -> Result<(), SkipReason> {
    let attributes: usize = code.attributes.iter().map(|a| a.info.len()).sum();
    let size = code.bytecode.len() + 8 * code.handlers.len() + attributes;
    if frames * usize::from(code.max_locals) > MAX_LOCALS_PER_BYTE * size + MIN_LOCALS {
        return Err(SkipReason::TooLarge);
    }
    Ok(())
}

/// The slots of the parameters, `this` included.
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
    // One at the method's start is wrong code.
    if handlers.first() == Some(&0) {
        return Err(SkipReason::MALFORMED);
    }
    Ok(())
}

/// Whether new code needs stack-map frames.
///
/// Code that jumps or has handlers and no stack map has none to be added to. In a class of version 50, the old
/// verifier takes over (JVMS 4.10). A later one is not verified, or refused: HotSpot up to 17 forgets the stack
/// maps of classes of the boot loader, and hands them out without when they are retransformed.
pub fn framed(own: &Own<'_, '_>, code: &Code<'_>, has_stack_map: bool, scan: &Scan) -> bool {
    let jumps = !(scan.jumps.is_empty() && scan.switches.is_empty());
    own.class.major >= 50 && (has_stack_map || !jumps && code.handlers.is_empty())
}
