//! Finding the call of `super(...)` or `this(...)` in a constructor.
//!
//! Until that call returns, `this` is uninitialized: a handler's frame must say so, the handler may
//! not pass `this` to anybody, and it cannot be shared with the code after the call. No handler at
//! all may cover the call, because HotSpot checks handlers against the frames both before and after
//! it. So a constructor has two regions, and the call must be known for certain.
//!
//! Two facts make it certain. First, each `new` is taken to belong to the next free `<init>` of its
//! class, which leaves exactly one `<init>`. That one is called on `this`: where no `new` of such a
//! class stands before it, nothing else under construction can be its object, and where one does,
//! the stack is followed to see which `<init>` finds `this` there. Second, no jump and no handler
//! leads from one side of the call to the other, so that in the order of the code everything before
//! the call runs before it. Stack maps must agree (see [`crate::frames`]).

use hindsight_classfile::{Code, Insn, MethodDescriptor, Operand, Utf8, opcode as op};

use crate::SkipReason;
use crate::throwing::Own;
use crate::trace::early::on_this;

/// The call of the other constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitCall {
    pub start: usize,
    pub end: usize,
}

impl InitCall {
    fn of(insn: &Insn<'_>) -> Self {
        Self {
            start: insn.offset,
            end: insn.end(),
        }
    }
}

/// Finds the call in the body of a constructor.
pub fn init_call(own: &Own<'_, '_>, code: &Code<'_>) -> Result<InitCall, SkipReason> {
    let pool = &own.class.pool;
    let super_name = own.class.super_name()?;
    let may_be_this = |owner: Utf8<'_>| owner == own.name || Some(owner) == super_name;
    let mut pending = Vec::new();
    let mut found = None;
    // Whether the call that is found may construct another object.
    let mut has_rival = false;
    for insn in code.instructions() {
        let insn = insn?;
        match (insn.opcode, insn.operand()?) {
            (op::NEW, Operand::Constant(class)) => {
                let class = pool.class(class)?;
                has_rival |= found.is_none() && may_be_this(class);
                pending.push(class);
            }
            (op::INVOKESPECIAL, Operand::Constant(method)) => {
                let method = pool.method(method)?;
                if method.name != "<init>" {
                    continue;
                }
                match pending.pop() {
                    Some(class) if class == method.owner => {}
                    None if found.is_none() && may_be_this(method.owner) => {
                        found = Some(InitCall::of(&insn));
                    }
                    _ => return Err(SkipReason::ConstructorShape),
                }
            }
            _ => {}
        }
    }
    let mut call = found
        .filter(|_| pending.is_empty())
        .ok_or(SkipReason::ConstructorShape)?;
    if has_rival {
        call = on_this_itself(own, code, call.end)?;
    }
    check_sides(code, call)?;
    Ok(call)
}

/// The only call of a constructor before `end` whose object is `this`.
fn on_this_itself(own: &Own<'_, '_>, code: &Code<'_>, end: usize) -> Result<InitCall, SkipReason> {
    let calls = on_this(own, code, end, |insn| {
        let Operand::Constant(method) = insn.operand()? else {
            return Ok(None);
        };
        if insn.opcode != op::INVOKESPECIAL {
            return Ok(None);
        }
        let method = own.class.pool.method(method)?;
        if method.name != "<init>" {
            return Ok(None);
        }
        let descriptor = MethodDescriptor::parse(method.descriptor)?;
        Ok(Some(descriptor.parameter_slots()))
    })?;
    let [start] = calls[..] else {
        return Err(SkipReason::ConstructorShape);
    };
    let mut there = code.instructions_from(start);
    let insn = there.next().ok_or(SkipReason::MALFORMED)?;
    Ok(InitCall::of(&insn?))
}

/// Checks that control gets from one side of the call to the other only through the call.
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
