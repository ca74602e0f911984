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
//!
//! Code of dynamic languages may choose at run time which constructor of the superclass it calls:
//! there is a call on each of several paths, and perhaps a path that throws. Then the code between
//! the two regions, from the first call to the last instruction that may still run before one, is
//! covered by no handler. What runs there after a call must not need one: it moves values and jumps.

use std::collections::BTreeMap;

use hindsight_classfile::{Code, Insn, MethodDescriptor, Operand, Utf8, opcode as op};

use crate::SkipReason;
use crate::throwing::Own;
use crate::trace::early::on_this;

/// The calls of the other constructor: one, or one on each of several paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitCalls {
    /// The offset of the first call. All code before it runs before any call.
    pub start: usize,
    /// The end of the code that is reached both with and without a call behind it. All code from
    /// here on runs after a call.
    pub end: usize,
    /// What is between, if there are several paths.
    between: Between,
}

/// The code between [`InitCalls::start`] and [`InitCalls::end`], if there are several paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Between {
    /// The offsets of the calls after the first one, sorted.
    calls: Vec<usize>,
    /// The offsets of the instructions that run after a call, sorted.
    initialized: Vec<usize>,
}

impl InitCalls {
    fn one(insn: &Insn<'_>) -> Self {
        Self {
            start: insn.offset,
            end: insn.end(),
            between: Between::default(),
        }
    }

    /// Whether the instruction at this offset is one of the calls.
    pub fn contains(&self, offset: usize) -> bool {
        offset == self.start || self.between.calls.binary_search(&offset).is_ok()
    }

    /// Whether `this` is uninitialized before the instruction at this offset.
    pub fn is_before(&self, offset: usize) -> bool {
        let initialized = || self.between.initialized.binary_search(&offset).is_ok();
        offset <= self.start || offset < self.end && !initialized()
    }
}

/// Finds the calls in the body of a constructor.
pub fn init_calls(own: &Own<'_, '_>, code: &Code<'_>) -> Result<InitCalls, SkipReason> {
    let pool = &own.class.pool;
    let super_name = own.class.super_name()?;
    let may_be_this = |owner: Utf8<'_>| owner == own.name || Some(owner) == super_name;
    let mut pending = Vec::new();
    let mut found = None;
    let mut further = Vec::new();
    // Whether the first call, or any, may construct another object.
    let (mut has_rival, mut have_rivals) = (false, false);
    for insn in code.instructions() {
        let insn = insn?;
        match (insn.opcode, insn.operand()?) {
            (op::NEW, Operand::Constant(class)) => {
                let class = pool.class(class)?;
                have_rivals |= may_be_this(class);
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
                    None if may_be_this(method.owner) => match found {
                        None => found = Some(InitCalls::one(&insn)),
                        Some(_) => further.push(insn.offset),
                    },
                    _ => return Err(SkipReason::ConstructorShape),
                }
            }
            _ => {}
        }
    }
    let mut calls = found
        .filter(|_| pending.is_empty())
        .ok_or(SkipReason::ConstructorShape)?;
    if further.is_empty() {
        if has_rival {
            calls = on_this_itself(own, code, calls.end)?;
        }
        match check_sides(code, &calls) {
            // Perhaps a path ends without a call.
            Err(SkipReason::ConstructorShape) if !have_rivals => {}
            checked => return checked.map(|()| calls),
        }
    }
    // Without a `new` of these classes, nothing but `this` can be the object of the calls.
    match have_rivals {
        true => Err(SkipReason::ConstructorShape),
        false => on_paths(code, calls.start, further),
    }
}

/// Follows the paths from the first call on, in the order of the code; `calls` are those after it.
/// An instruction that is reached in no path so far, or by one with a call behind it and by one
/// without, is one too many.
fn on_paths(code: &Code<'_>, start: usize, calls: Vec<usize>) -> Result<InitCalls, SkipReason> {
    // Whether `this` is initialized where an instruction begins.
    let mut known = BTreeMap::from([(start, false)]);
    let reaches = |known: &mut BTreeMap<usize, bool>, target: usize, initialized: bool| {
        // What is before the first call runs before it.
        let fits = match target < start {
            true => !initialized,
            false => *known.entry(target).or_insert(initialized) == initialized,
        };
        fits.then_some(()).ok_or(SkipReason::ConstructorShape)
    };
    let mut handlers: Vec<(usize, usize)> = code
        .handlers
        .map(|handler| (usize::from(handler.start), usize::from(handler.handler)))
        .collect();
    handlers.sort_unstable();
    let mut handlers = handlers.into_iter().peekable();
    let mut initialized = Vec::new();
    let mut end = start;
    for insn in code.instructions() {
        let insn = insn?;
        let at = insn.offset;
        let is_initialized = match known.get(&at) {
            _ if at < start => false,
            Some(&is_initialized) => is_initialized,
            None => return Err(SkipReason::ConstructorShape),
        };
        if at >= start {
            match is_initialized {
                true => initialized.push((at, insn.opcode)),
                // This may be a field of `this`, and only those before the first call are told apart.
                false if insn.opcode == op::PUTFIELD => return Err(SkipReason::ConstructorShape),
                false => end = insn.end(),
            }
        }
        let is_call = at == start || calls.binary_search(&at).is_ok();
        if is_call && is_initialized {
            return Err(SkipReason::ConstructorShape);
        }
        let will_be = is_initialized || is_call;
        match insn.operand()? {
            Operand::Branch(target) => reaches(&mut known, target, will_be)?,
            Operand::Switch(switch) => {
                for target in switch.targets() {
                    reaches(&mut known, target.ok_or(SkipReason::MALFORMED)?, will_be)?;
                }
            }
            _ => {}
        }
        while let Some((_, handler)) = handlers.next_if(|&(covers_from, _)| covers_from <= at) {
            reaches(&mut known, handler, is_initialized)?;
        }
        if !op::ends_flow(insn.opcode) {
            reaches(&mut known, insn.end(), will_be)?;
        }
    }
    // A range of a handler is on one side.
    for handler in code.handlers {
        if usize::from(handler.start) < end && usize::from(handler.end) > start {
            return Err(SkipReason::ConstructorShape);
        }
    }
    initialized.retain(|&(at, _)| at < end);
    if initialized.iter().any(|&(_, opcode)| !only_moves(opcode)) {
        return Err(SkipReason::ConstructorShape);
    }
    let initialized = initialized.into_iter().map(|(at, _)| at).collect();
    Ok(InitCalls {
        start,
        end,
        between: Between { calls, initialized },
    })
}

/// Whether an instruction only moves values, jumps or returns, so that it throws nothing.
fn only_moves(opcode: u8) -> bool {
    matches!(
        opcode,
        op::NOP..=op::SIPUSH
            | op::ILOAD..=op::ALOAD_3
            | op::ISTORE..=op::ASTORE_3
            | op::POP..=op::SWAP
            | op::GOTO
            | op::GOTO_W
            | op::RETURN
    )
}

/// The only call of a constructor before `end` whose object is `this`.
fn on_this_itself(own: &Own<'_, '_>, code: &Code<'_>, end: usize) -> Result<InitCalls, SkipReason> {
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
    Ok(InitCalls::one(&insn?))
}

/// Checks that control gets from one side of the call to the other only through the call.
fn check_sides(code: &Code<'_>, call: &InitCalls) -> Result<(), SkipReason> {
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
