//! Finding the call of `super(...)` or `this(...)` in a constructor.
//!
//! Until that call returns, `this` is uninitialized: a handler's frame must say
//! so, may not pass it to anybody, and cannot be shared with the time after. No
//! handler at all may cover the call, for HotSpot checks handlers against the
//! frames both before and after it. So a constructor has two regions, and the
//! call must be known for certain.
//!
//! Two facts make it so. Each `new` belongs to the next free `<init>` of its
//! class, which leaves exactly one `<init>` for `this`. And no jump and no
//! handler leads from one side of the call to the other, so that in the order of
//! the code everything before the call runs before it. Stack maps must agree
//! (see [`crate::frames`]).

use hindsight_classfile::{Code, Operand, opcode as op};

use crate::SkipReason;
use crate::throwing::Own;

/// The call of the other constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitCall {
    pub start: usize,
    pub end: usize,
}

/// Finds the call in the body of a constructor.
pub fn init_call(own: &Own<'_, '_>, code: &Code<'_>) -> Result<InitCall, SkipReason> {
    let pool = &own.class.pool;
    let super_name = own.class.super_name()?;
    let mut pending = Vec::new();
    let mut found = None;
    for insn in code.instructions() {
        let insn = insn?;
        match (insn.opcode, insn.operand()?) {
            (op::NEW, Operand::Constant(class)) => pending.push(pool.class(class)?),
            (op::INVOKESPECIAL, Operand::Constant(method)) => {
                let method = pool.method(method)?;
                if method.name != "<init>" {
                    continue;
                }
                match pending.pop() {
                    Some(class) if class == method.owner => {}
                    None if found.is_none()
                        && (method.owner == own.name || Some(method.owner) == super_name) =>
                    {
                        found = Some(InitCall {
                            start: insn.offset,
                            end: insn.end(),
                        });
                    }
                    _ => return Err(SkipReason::ConstructorShape),
                }
            }
            _ => {}
        }
    }
    match found {
        Some(call) if pending.is_empty() => {
            check_sides(code, call)?;
            Ok(call)
        }
        _ => Err(SkipReason::ConstructorShape),
    }
}

/// Checks that control gets from one side of the call to the other only through
/// the call.
fn check_sides(code: &Code<'_>, call: InitCall) -> Result<(), SkipReason> {
    let before = |offset: usize| offset <= call.start;
    let same_side = |from: usize, to: usize| {
        if before(from) == before(to) {
            Ok(())
        } else {
            Err(SkipReason::ConstructorShape)
        }
    };
    for insn in code.instructions() {
        let insn = insn?;
        match insn.operand()? {
            Operand::Branch(target) => same_side(insn.offset, target)?,
            Operand::Switch(switch) => {
                for target in switch.targets() {
                    same_side(insn.offset, target.ok_or(SkipReason::MALFORMED)?)?;
                }
            }
            _ => {}
        }
    }
    for handler in code.handlers {
        let (start, end) = (usize::from(handler.start), usize::from(handler.end));
        let covers_call = start <= call.start && end > call.start;
        if covers_call || before(start) != before(usize::from(handler.handler)) {
            return Err(SkipReason::ConstructorShape);
        }
    }
    Ok(())
}
