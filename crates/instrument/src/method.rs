//! Instruments one method for crashes: makes the new body from the old one.

use std::ops::Range;

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::opcode as op;
use hindsight_classfile::{Code, Member, Operand};

use crate::asm::Constants;
use crate::attributes::Kind;
use crate::body::{Body, Pieces, Region};
use crate::caught::{Caught, catching_handlers, drop_rethrowing};
use crate::constructor::{InitCalls, init_calls};
use crate::contract::{CAUGHT, CAUGHT_REPORT};
use crate::entry::{entry, fresh_types};
use crate::fields::{KeptField, pick};
use crate::frames::{Survey, Walker, survey};
use crate::handler::Handler;
use crate::limits::{check_frames, check_handlers, framed, parameter_slots};
use crate::parameters::{Parameter, Place};
use crate::relocate::{MAX_CODE, relocate};
use crate::scan::{Scan, Slots, Wanted};
use crate::starts::{Start, starts};
use crate::throwing::{Own, may_throw};
use crate::writes::Writes;
use crate::{Copy, Effects, Fresh, Inserted, Layout, Part, Rules, SkipReason};

/// The most frames that the handlers of two regions have.
const FRAMES_OF_HANDLERS: usize = 6;

/// What is to be done with a method.
pub struct Order<'p> {
    pub id: u32,
    pub rules: Rules,
    /// Which parameters' fields are kept.
    pub copy: Copy,
    /// The most fields that are kept; 0 for the arguments alone.
    pub max_fields: usize,
    /// Whether the method hands over its frame.
    pub frames: bool,
    /// Whether its handlers report what they catch.
    pub catches: bool,
    /// Whether it keeps the position of the log of writes.
    pub position: bool,
    /// Whether to record where the inserted code stands.
    pub layout: bool,
    /// What is known of the method besides its body.
    pub known: Option<&'p Effects>,
}

/// What a method's new body keeps; its memory is used again for the next method.
#[derive(Default)]
pub struct NewBody<'a> {
    pub parameters: Vec<Parameter<'a>>,
    pub fields: Vec<KeptField<'a>>,
    /// Whether the handler hands over the position of the log of writes, and the variable that
    /// holds it if one is needed.
    pub position: Option<Option<u16>>,
    /// Where the inserted code stands, if asked for.
    pub layout: Layout,
    pub scan: Scan,
    /// The types of the fresh variables.
    pub fresh: Vec<VerificationType>,
    pub pieces: Pieces,
}

/// Instruments one method. The content of its new `Code` attribute is appended to `out`; after an
/// error, some of it may remain there.
#[expect(
    clippy::too_many_arguments,
    reason = "one method of a class, with all it shares"
)]
pub fn instrument<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    order: &Order<'a>,
    constants: &mut Constants<'_, 'a>,
    writes: Option<&mut Writes<'a>>,
    new: &mut NewBody<'a>,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let NewBody {
        parameters,
        fields,
        position,
        layout,
        scan,
        fresh,
        pieces,
    } = new;
    pieces.clear();
    let Pieces {
        entry: entry_code,
        probes: fragments,
        handlers,
        relocated,
    } = pieces;
    let descriptor = method.method_descriptor()?;
    let is_static = method.is(hindsight_classfile::access::STATIC);
    let constructor = method.name == "<init>" && !is_static;
    let parameter_slots = parameter_slots(&descriptor, is_static, code)?;
    let wanted = Wanted {
        fields: order.max_fields > 0,
        ..Wanted::default()
    };
    scan.restart(code, parameter_slots, wanted)?;
    let this_in_0 = !is_static && !scan.stored.contains(0);
    let throws = |range| may_throw(own, code, range, this_in_0, constructor);
    let everything = 0..code.bytecode.len();
    let can_throw = !order.known.is_some_and(|known| known.cannot_throw)
        && (scan.throws && own.calls.is_none() || throws(everything.clone())?);
    if !can_throw && writes.is_none() {
        return Err(SkipReason::CannotThrow);
    }
    let frames = order.frames && can_throw;
    let mut catching = if order.catches {
        catching_handlers(code)?
    } else {
        Vec::new()
    };
    if order.rules.caught {
        drop_rethrowing(code, &mut catching)?;
    }
    let mut starts = match writes {
        Some(_) => starts(own, code)?,
        None => Vec::new(),
    };
    let nothing = if order.frames {
        SkipReason::CannotThrow
    } else {
        SkipReason::CatchesNothing
    };
    if !frames && catching.is_empty() && writes.is_none() {
        return Err(nothing);
    }
    let init_calls = if constructor {
        Some(init_calls(own, code)?)
    } else {
        None
    };
    let stack_map = own.find(&code.attributes, Kind::StackMapTable);
    if let Some(stack_map) = &stack_map {
        constants.stack_map_table_is(stack_map.name_index);
    }
    let framed = framed(own, code, stack_map.is_some(), scan);

    crate::parameters::list(method, descriptor, own.name, constants, parameters)?;
    // Each probe has its handler's frame, and two of its own.
    let of_probes = 3 * (catching.len() + starts.len());
    check_frames(code, of_probes)?;
    // The offsets of handlers that may have probes.
    let mut probed: Vec<usize> = starts.iter().map(|start| start.handler).collect();
    probed.extend_from_slice(&catching);
    probed.sort_unstable();
    probed.dedup();
    let mut surveyed = Survey::default();
    if let Some(stack_map) = stack_map.filter(|_| framed) {
        let memory = std::mem::take(&mut constants.spare.types);
        let max_locals = code.max_locals;
        let mut walker = Walker::reusing(memory, &stack_map, parameters, constructor, max_locals)?;
        surveyed = survey(
            &mut walker,
            &own.class.pool,
            parameters,
            init_calls.as_ref(),
            &probed,
        )?;
        constants.spare.types = walker.locals;
    }
    let mut next_slot = code.max_locals;
    if frames {
        place(parameters, &scan.stored, constructor, &mut next_slot)?;
    }
    pick(
        own,
        constructor,
        parameters,
        &scan.fields,
        order.copy,
        order.known,
        if frames { order.max_fields } else { 0 },
        &mut next_slot,
        constants,
        fields,
    )?;
    let hands_position = frames && order.position;
    let (mut logging, mut probes_of_writes, mut stack_of_writes) = (Vec::new(), &[][..], 0);
    let mut locals_of_writes = 0;
    if let Some(writes) = writes {
        // The fresh variables follow the variable for the position, if there is going to be one.
        let first_slot = next_slot.checked_add(2).ok_or(SkipReason::TooManyLocals)?;
        logging = writes.probes(
            own,
            method,
            code,
            init_calls.as_ref(),
            parameter_slots,
            this_in_0,
            hands_position.then_some(next_slot),
            first_slot,
            &mut starts,
            constants,
        )?;
        stack_of_writes = writes.stack;
        locals_of_writes = writes.max_locals;
        probes_of_writes = &writes.code;
        starts.retain(Start::tells);
        probed.retain(|handler| {
            catching.binary_search(handler).is_ok() || start_at(&starts, *handler).is_some()
        });
        if !frames && probed.is_empty() && logging.is_empty() {
            return Err(nothing);
        }
    }
    let mut position_slot = None;
    if hands_position && !(logging.is_empty() && starts.is_empty() && stays_by_itself(own, code)?) {
        position_slot = Some(next_slot);
        next_slot = next_slot.checked_add(2).ok_or(SkipReason::TooManyLocals)?;
    }
    *position = hands_position.then_some(position_slot);
    fresh.clear();
    fresh.extend(fresh_types(parameters, fields, position_slot));
    if !(fresh.is_empty() && probed.is_empty()) {
        let old = stack_map.map_or(Ok(0), |stack_map| stack_map.reader().u16())?;
        check_frames(
            code,
            usize::from(old) + 3 * (catching.len() + starts.len()) + FRAMES_OF_HANDLERS,
        )?;
    }

    let regions = match init_calls {
        _ if !frames => [None, None],
        None => [
            Some(Region {
                start: 0,
                end: everything.end,
                uninitialized_this: false,
            }),
            None,
        ],
        Some(InitCalls { start, end, .. }) => {
            // The old verifier is not asked to understand such a handler.
            let this_known = parameters
                .first()
                .is_some_and(|this| this.place == Place::Own);
            let before = framed && this_known && throws(0..start)?;
            let after = throws(end..everything.end)?;
            [
                before.then_some(Region {
                    start: 0,
                    end: start,
                    uninitialized_this: true,
                }),
                after.then_some(Region {
                    start: end,
                    end: everything.end,
                    uninitialized_this: false,
                }),
            ]
        }
    };
    if frames && regions.iter().all(Option::is_none) {
        return Err(SkipReason::OnlyConstructorCall);
    }

    entry(
        entry_code,
        parameters,
        fields,
        position_slot,
        fresh,
        constructor,
        code.max_locals,
        constants,
    )?;
    let caught = Caught {
        id: order.id,
        probe: if order.rules.caught {
            CAUGHT_REPORT
        } else {
            CAUGHT
        },
        slot: next_slot,
        max_locals: code.max_locals,
        fresh,
        counter: None,
    };
    check_handlers(code, &probed)?;
    let code_of = |probe: Range<usize>| probes_of_writes.get(probe).unwrap_or(&[]);
    let mut logging = logging.into_iter().peekable();
    for &handler in &probed {
        while let Some((at, write)) = logging.next_if(|(at, _)| *at < handler) {
            fragments.before(at).code.extend_from_slice(code_of(write));
        }
        let frame = surveyed.at_handler(code, handler, framed)?;
        if let Some(start) = start_at(&starts, handler) {
            caught.first(start, frame, fragments.before(handler), constants)?;
        }
        if catching.binary_search(&handler).is_ok() {
            caught.probe(code, handler, frame, fragments.before(handler), constants)?;
        }
    }
    // A handler that begins with a write has one piece for both probes.
    for (at, write) in logging {
        fragments.before(at).code.extend_from_slice(code_of(write));
    }
    if !probed.is_empty() {
        next_slot = next_slot.checked_add(1).ok_or(SkipReason::TooManyLocals)?;
    }
    relocate(relocated, code, scan, entry_code, fragments)?;
    let caught_slot = caught.slot;

    let mut body = Body {
        framed,
        max_stack: code
            .max_stack
            .checked_add(stack_of_writes)
            .ok_or(SkipReason::TooLarge)?,
        max_locals: next_slot.max(locals_of_writes),
        entry: entry_code,
        fragments,
        handlers,
        relocated,
        fresh,
        old_frames: surveyed.ends,
    };
    if order.layout {
        *layout = Layout {
            inserted: body.inserted(&probed, caught_slot, Part::Write),
            fresh: fresh_variables(parameters, fields, position_slot),
        };
    }
    for region in regions.iter().flatten() {
        let handler = Handler {
            id: order.id,
            escape: order.rules.escape,
            parameters,
            fields,
            position: *position,
            uninitialized_this: region.uninitialized_this,
        };
        let new_code = &mut body.relocated.code;
        let start = new_code.len();
        let fragment = body.handlers.add(start);
        let variables = handler.emit(fragment, constants)?;
        body.max_locals = body.max_locals.max(variables.max_locals);
        new_code.extend_from_slice(&fragment.code);
        if order.layout {
            layout.inserted.push(Inserted {
                start,
                end: new_code.len(),
                part: Part::Handler {
                    exception: variables.exception,
                },
            });
        }
    }
    if body.relocated.code.len() > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    let regions = regions.iter().flatten();
    body.write(
        own,
        code,
        stack_map,
        regions,
        parameters,
        constructor,
        constants,
        out,
    )?;
    Ok(())
}

fn start_at(starts: &[Start], handler: usize) -> Option<&Start> {
    let at = starts.binary_search_by_key(&handler, |start| start.handler);
    at.ok().and_then(|at| starts.get(at))
}

/// Whether a body runs no code but its own. If it does not write either, the end of the log of
/// writes is where it was at the method's entry.
fn stays_by_itself(own: &Own<'_, '_>, code: &Code<'_>) -> Result<bool, SkipReason> {
    for insn in code.instructions() {
        let insn = insn?;
        match (insn.opcode, insn.operand()?) {
            (opcode, Operand::Constant(callee)) if own.quiet_call(opcode, callee).is_some() => {}
            (op::INVOKEVIRTUAL..=op::NEW, _) => return Ok(false),
            // Another class may have to be initialized.
            (op::GETSTATIC | op::PUTSTATIC, Operand::Constant(field))
                if own.class.pool.field(field)?.owner != own.name =>
            {
                return Ok(false);
            }
            _ => {}
        }
    }
    Ok(true)
}

/// The fresh variables that the entry code fills, with what they hold. The captures are the
/// parameters, then the fields, then the position.
fn fresh_variables(
    parameters: &[Parameter<'_>],
    fields: &[KeptField<'_>],
    position: Option<u16>,
) -> Vec<Fresh> {
    let copies = (0..)
        .zip(parameters)
        .filter_map(|(capture, parameter)| match parameter.place {
            Place::Copy(slot) => Some(Fresh { slot, capture }),
            Place::Own | Place::Lost => None,
        });
    let kept = (parameters.len()..)
        .zip(fields)
        .map(|(capture, field)| Fresh {
            slot: field.slot,
            capture,
        });
    let position = position.map(|slot| Fresh {
        slot,
        capture: parameters.len() + fields.len(),
    });
    copies.chain(kept).chain(position).collect()
}

/// Assigns a fresh variable to each parameter that its own slot does not preserve.
fn place(
    parameters: &mut [Parameter<'_>],
    stored: &Slots,
    constructor: bool,
    next_slot: &mut u16,
) -> Result<(), SkipReason> {
    for parameter in parameters {
        let mut slots = parameter.slot..parameter.slot + parameter.width;
        if slots.any(|slot| stored.contains(slot)) {
            parameter.place = Place::Lost;
        }
        if parameter.place == Place::Lost && !(constructor && parameter.index == 0) {
            parameter.place = Place::Copy(*next_slot);
            *next_slot = next_slot
                .checked_add(parameter.width)
                .ok_or(SkipReason::TooManyLocals)?;
        }
    }
    Ok(())
}
