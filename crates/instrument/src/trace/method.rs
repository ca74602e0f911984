//! Instruments one method for traces: makes the new body from the old one.

use hindsight_classfile::{Code, Insn, Member, access, opcode as op};

use super::What;
use super::blocks::block_starts;
use super::bulk::{called, makes_arrays};
use super::calls::{Entry, bind, enter, exit, unwind};
use super::early::early_writes;
use super::handlers::{guardable, in_themselves, reporting};
use super::handles;
use super::memory;
use super::probes::Probes;
use super::secrets::secret_parameters;
use crate::attributes::Kind;
use crate::body::{Body, Pieces, Region};
use crate::caught::Caught;
use crate::constructor::{InitCalls, init_calls};
use crate::contract::trace::Probe;
use crate::frames::{Survey, Walker, survey};
use crate::insertions::Insertions;
use crate::limits::{check_frames, check_handlers, framed, parameter_slots};
use crate::parameters::{Parameter, Place, list, list_untyped};
use crate::relocate::{MAX_CODE, relocate};
use crate::scan::{Scan, Wanted};
use crate::throwing::{Own, may_throw};
use crate::{Inserted, Layout, Part, SkipReason};

/// What is to be done with a method.
pub struct Order {
    pub id: u32,
    pub what: What,
    /// Whether to record where the inserted code stands.
    pub layout: bool,
}

/// What a method's new body keeps; its memory is used again for the next method.
#[derive(Default)]
pub struct NewBody<'a> {
    pub parameters: Vec<Parameter<'a>>,
    /// The places of the parameters that the entry code hands over, in its order.
    pub handed: Vec<usize>,
    /// The starts of the method's blocks, if their running is recorded.
    pub blocks: Vec<usize>,
    /// The number of the first of these blocks.
    pub first_block: u32,
    pub scan: Scan,
    pub layout: Layout,
    pub pieces: Pieces,
}

/// The instruction at an offset, for the instructions that were asked for: these have one byte, or
/// an operand of two or three bytes.
fn short<'a>(code: &Code<'a>, offset: usize) -> Result<Insn<'a>, SkipReason> {
    let rest = code.bytecode.get(offset..).unwrap_or_default();
    let opcode = *rest.first().ok_or(SkipReason::MALFORMED)?;
    let len = match opcode {
        op::GETSTATIC..=op::INVOKESTATIC => 3,
        op::MULTIANEWARRAY => 4,
        _ => 1,
    };
    let bytes = rest.get(..len).ok_or(SkipReason::MALFORMED)?;
    Ok(Insn {
        offset,
        opcode,
        bytes,
    })
}

/// Records the arrays within one that was made by the instruction that ends at `end`.
fn made(
    end: usize,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    // Stack: array
    let after = inserted.after(end);
    after.op(op::DUP);
    probes.made(after)?;
    inserted.stack(1);
    Ok(())
}

/// Instruments one method. The content of its new `Code` attribute is appended to `out`; after an
/// error, some of it may remain there. Returns whether the method has anything to record.
pub fn instrument<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    order: &Order,
    probes: &mut Probes<'_, 'a>,
    new: &mut NewBody<'a>,
    out: &mut Vec<u8>,
) -> Result<bool, SkipReason> {
    let NewBody {
        parameters,
        handed,
        blocks,
        first_block,
        scan,
        layout,
        pieces,
    } = new;
    pieces.clear();
    let Pieces {
        entry,
        probes: inserted,
        handlers: handlers_behind,
        relocated,
    } = pieces;
    let &Order { id, what, .. } = order;
    blocks.clear();
    if !(what.calls || what.writes || what.reads || what.blocks) {
        return Ok(false);
    }
    if what.blocks {
        block_starts(code, blocks)?;
    }
    let descriptor = method.method_descriptor()?;
    let is_static = method.is(access::STATIC);
    let constructor = method.name == "<init>" && !is_static;
    let slots = parameter_slots(&descriptor, is_static, code)?;
    let wanted = Wanted {
        fields: false,
        returns: what.calls,
        calls: what.writes || constructor,
        writes: what.writes || probes.has_secrets,
        reads: what.reads || probes.has_secrets,
    };
    scan.restart(code, slots, wanted)?;
    let init_calls = if constructor {
        Some(init_calls(own, code)?)
    } else {
        None
    };
    let stack_map = own.find(&code.attributes, Kind::StackMapTable);
    if let Some(stack_map) = &stack_map {
        probes.constants.stack_map_table_is(stack_map.name_index);
    }
    let framed = framed(own, code, stack_map.is_some(), scan);

    let handlers = if what.calls {
        reporting(code, init_calls.as_ref())
    } else {
        Vec::new()
    };
    // Blocks begin at all of these handlers.
    let guarded = match what.blocks {
        true => guardable(code, init_calls.as_ref()),
        false => handlers.clone(),
    };
    if guarded.is_empty() {
        list_untyped(
            method,
            descriptor,
            own.name,
            own.class.this_class,
            parameters,
        )?;
    } else {
        let constants = &mut probes.constants;
        list(method, descriptor, own.name, constants, parameters)?;
    }
    // Each probe at a handler has the handler's frame, and two of its own.
    check_frames(code, 3 * (handlers.len() + guarded.len()))?;
    let mut surveyed = Survey::default();
    if let Some(stack_map) = stack_map
        .filter(|_| framed)
        .filter(|_| constructor || !guarded.is_empty())
    {
        let memory = std::mem::take(&mut probes.constants.spare.types);
        let max_locals = code.max_locals;
        let mut walker = Walker::reusing(memory, &stack_map, parameters, constructor, max_locals)?;
        let pool = &own.class.pool;
        surveyed = survey(&mut walker, pool, parameters, init_calls.as_ref(), &guarded)?;
        probes.constants.spare.types = walker.locals;
    }
    let this_in_0 = !is_static && !scan.stored.contains(0);
    let this_known = this_in_0
        && parameters
            .first()
            .is_some_and(|this| this.place == Place::Own);

    check_handlers(code, &guarded)?;
    let mut max_locals = code.max_locals;
    let caught = Caught {
        id,
        probe: Probe::Caught.method(),
        slot: code.max_locals,
        max_locals: code.max_locals,
        fresh: &[],
        counter: match handlers.is_empty() {
            true => None,
            false => Some(probes.overflows()?),
        },
    };
    if !guarded.is_empty() {
        max_locals = max_locals.checked_add(1).ok_or(SkipReason::TooManyLocals)?;
    }
    handed.clear();
    if what.calls {
        let secrets = secret_parameters(own, method, code, parameters, probes);
        let of = Entry {
            parameters,
            constructor,
            secrets: &secrets,
            id,
        };
        enter(of, what, probes, entry, handed)?;
    }
    let early = match &init_calls {
        Some(calls) if what.writes => early_writes(own, code, calls)?,
        _ => Vec::new(),
    };
    let bound = init_calls
        .as_ref()
        .filter(|_| what.calls || !early.is_empty());

    let mut handlers_left = handlers.iter().peekable();
    let in_itself = match what.blocks {
        true => in_themselves(code),
        false => Vec::new(),
    };
    let mut blocks_left = (*first_block..).zip(blocks.iter()).peekable();
    let mut at_starts = |up_to: usize, inserted: &mut Insertions, probes: &mut Probes<'_, '_>| {
        loop {
            let handler = handlers_left.peek().map_or(usize::MAX, |&&handler| handler);
            let block = blocks_left.peek().map_or(usize::MAX, |&(_, &block)| block);
            let next = handler.min(block);
            if next > up_to || next == usize::MAX {
                return Ok::<_, SkipReason>(next);
            }
            if block == next
                && let Some((number, _)) = blocks_left.next()
            {
                let fragment = inserted.before(next);
                if guarded.binary_search(&next).is_ok() {
                    let frame = surveyed.at_handler(code, next, framed)?;
                    let start = caught.begin(fragment);
                    probes.cover(fragment, number)?;
                    fragment.stack(1);
                    caught.end(start, frame, None, fragment, &mut probes.constants)?;
                    // Where executions are to be stopped, this probe throws an exception to do so,
                    // which a handler that covers itself must let go.
                    if in_itself.binary_search(&next).is_err() {
                        fragment.guards_against(probes.constants.virtual_machine_error()?);
                    }
                } else {
                    probes.cover(fragment, number)?;
                    inserted.stack(1);
                }
            }
            if handler == next {
                handlers_left.next();
                let frame = surveyed.at_handler(code, handler, framed)?;
                let fragment = inserted.before(handler);
                caught.probe(code, handler, frame, fragment, &mut probes.constants)?;
            }
        }
    };
    let mut next_start = 0;
    for &site in &scan.sites {
        if next_start <= site {
            next_start = at_starts(site, inserted, probes)?;
        }
        let insn = short(code, site)?;
        match insn.opcode {
            op::IRETURN..=op::RETURN => {
                exit(insn.opcode, insn.offset, what, id, inserted, probes)?;
            }
            op::INVOKEVIRTUAL..=op::INVOKESTATIC => {
                if bound.is_some_and(|calls| calls.contains(insn.offset)) {
                    bind(insn.end(), this_known, id, inserted, probes)?;
                } else if what.writes {
                    let needed = called(&insn, code.max_locals, inserted, probes)?;
                    max_locals = max_locals.max(needed);
                    if what.references {
                        let needed = handles::made(&insn, code.max_locals, inserted, probes)?;
                        max_locals = max_locals.max(needed);
                    }
                    if what.references && makes_arrays(&insn, probes.constants.pool)? {
                        made(insn.end(), inserted, probes)?;
                    }
                }
            }
            op::IALOAD..=op::SALOAD | op::IASTORE..=op::SASTORE | op::GETSTATIC..=op::PUTFIELD => {
                let early = !early.is_empty() && early.binary_search(&insn.offset).is_ok();
                memory::access(&insn, early, id, what, inserted, probes)?;
            }
            op::MULTIANEWARRAY if what.writes && what.references => {
                made(insn.end(), inserted, probes)?;
            }
            _ => {}
        }
    }
    at_starts(usize::MAX, inserted, probes)?;
    if !what.calls && inserted.is_empty() {
        return Ok(false);
    }

    let mut regions = [None, None];
    if what.calls {
        let region = |start: usize, end: usize, uninitialized_this: bool| {
            let throws = !constructor && scan.throws
                || may_throw(own, code, start..end, this_in_0, constructor)?;
            Ok::<_, SkipReason>(throws.then_some(Region {
                start,
                end,
                uninitialized_this,
            }))
        };
        regions = match init_calls {
            None => [region(0, code.bytecode.len(), false)?, None],
            Some(InitCalls { start, end, .. }) => {
                // The old verifier is not asked to understand such a handler.
                let before = if framed && this_known {
                    region(0, start, true)?
                } else {
                    None
                };
                [before, region(end, code.bytecode.len(), false)?]
            }
        };
    }

    relocate(relocated, code, scan, entry, inserted)?;
    if guarded.is_empty() && framed && !relocated.islands.is_empty() {
        // The frames of this method do name the parameters.
        let constants = &mut probes.constants;
        list(method, descriptor, own.name, constants, parameters)?;
    }
    let max_stack = code.max_stack.checked_add(inserted.stack);
    let mut body = Body {
        framed,
        max_stack: max_stack.ok_or(SkipReason::TooLarge)?,
        max_locals,
        entry,
        fragments: inserted,
        handlers: handlers_behind,
        relocated,
        fresh: &[],
        old_frames: surveyed.ends,
    };
    if order.layout {
        *layout = Layout {
            inserted: body.inserted(&handlers, caught.slot, Part::Event),
            fresh: Vec::new(),
        };
    }
    for region in regions.iter().flatten() {
        let new_code = &mut body.relocated.code;
        let start = new_code.len();
        let handler = body.handlers.add(start);
        let exception = unwind(handler, region.uninitialized_this, id, probes)?;
        body.max_locals = body.max_locals.max(exception + 1);
        new_code.extend_from_slice(&handler.code);
        if order.layout {
            layout.inserted.push(Inserted {
                start,
                end: new_code.len(),
                part: Part::Handler { exception },
            });
        }
    }
    if body.relocated.code.len() > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    let constants = &mut probes.constants;
    body.write(
        own,
        code,
        stack_map,
        regions.iter().flatten(),
        parameters,
        constructor,
        constants,
        out,
    )?;
    Ok(true)
}
