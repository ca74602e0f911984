//! One method: from its body to the new body.

use std::ops::Range;

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::opcode as op;
use hindsight_classfile::{
    Attribute, Attributes, Code, Handler as TableEntry, Member, MethodDescriptor, Operand,
};

use crate::asm::{Constants, Fragment, Guard, Spare};
use crate::attributes::Kind;
use crate::caught::{Caught, catching_handlers};
use crate::constructor::{InitCall, init_call};
use crate::contract::{CAUGHT, CAUGHT_REPORT};
use crate::entry::{entry, fresh_types};
use crate::fields::{KeptField, pick};
use crate::frames::{Survey, Walker, entry_locals, survey};
use crate::handler::Handler;
use crate::insertions::Insertions;
use crate::parameters::{Parameter, Place};
use crate::relocate::{MAX_CODE, Relocated, relocate};
use crate::scan::{Scan, Slots, Wanted};
use crate::stackmap::FrameWriter;
use crate::tables;
use crate::throwing::{Own, may_throw};
use crate::writes::Writes;
use crate::{Copy, Effects, Fresh, Inserted, Layout, Part, Rules, SkipReason};

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

/// Frames that the handlers of two regions have at most.
const FRAMES_OF_HANDLERS: usize = 6;

/// What to do with a method.
pub struct Order<'p> {
    pub id: u32,
    pub rules: Rules,
    /// Whose fields to keep.
    pub copy: Copy,
    /// How many fields to keep; 0 for the arguments alone.
    pub max_fields: usize,
    /// Whether the method hands over its frame.
    pub frames: bool,
    /// Whether its handlers say what they catch.
    pub catches: bool,
    /// Whether it keeps where the log of writes was.
    pub position: bool,
    /// Whether to note down where the inserted code stands.
    pub layout: bool,
    /// What is known of the method besides its body.
    pub known: Option<&'p Effects>,
}

/// What a method's new body keeps, and memory for the next method.
#[derive(Default)]
pub struct NewBody<'a> {
    pub parameters: Vec<Parameter<'a>>,
    pub fields: Vec<KeptField<'a>>,
    /// Whether the handler hands over where the log of writes was, and the
    /// variable that keeps it, if one has to.
    pub position: Option<Option<u16>>,
    /// Where the inserted code stands, if asked for.
    pub layout: Layout,
    pub scan: Scan,
    /// The types of the fresh variables.
    pub fresh: Vec<VerificationType>,
}

/// A part of the body with a handler of its own, in old offsets.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub start: usize,
    pub end: usize,
    pub uninitialized_this: bool,
}

/// Instruments one method. The content of its new `Code` attribute goes to the
/// end of `out`, where something may remain after an error as well.
#[expect(
    clippy::too_many_arguments,
    reason = "one method of a class, with all it shares"
)]
pub fn instrument<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    order: &Order<'_>,
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
    } = new;
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
        && (scan.throws || throws(everything.clone())?);
    if !can_throw && writes.is_none() {
        return Err(SkipReason::CannotThrow);
    }
    let frames = order.frames && can_throw;
    let catching = if order.catches {
        catching_handlers(code)?
    } else {
        Vec::new()
    };
    let nothing = if order.frames {
        SkipReason::CannotThrow
    } else {
        SkipReason::CatchesNothing
    };
    if !frames && catching.is_empty() && writes.is_none() {
        return Err(nothing);
    }
    let init_call = if constructor {
        Some(init_call(own, code)?)
    } else {
        None
    };
    let (mut logging, mut probes_of_writes, mut stack_of_writes) = (Vec::new(), &[][..], 0);
    if let Some(writes) = writes {
        logging = writes.probes(
            own,
            method,
            code,
            init_call,
            parameter_slots,
            this_in_0,
            constants,
        )?;
        stack_of_writes = writes.stack;
        probes_of_writes = &writes.code;
        if !frames && catching.is_empty() && logging.is_empty() {
            return Err(nothing);
        }
    }
    let stack_map = own.find(&code.attributes, Kind::StackMapTable);
    if let Some(stack_map) = &stack_map {
        constants.stack_map_table_is(stack_map.name_index);
    }
    let framed = framed(own, code, stack_map.is_some(), scan);

    crate::parameters::list(method, descriptor, own.name, constants, parameters)?;
    // Each probe has its handler's frame, and two of its own.
    let of_probes = 3 * catching.len();
    check_frames(code, of_probes)?;
    let mut surveyed = Survey::default();
    if let Some(stack_map) = stack_map.filter(|_| framed) {
        let memory = std::mem::take(&mut constants.spare.types);
        let max_locals = code.max_locals;
        let mut walker = Walker::reusing(memory, &stack_map, parameters, constructor, max_locals)?;
        surveyed = survey(
            &mut walker,
            &own.class.pool,
            parameters,
            init_call,
            &catching,
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
    let mut position_slot = None;
    if hands_position && !(logging.is_empty() && stays_by_itself(own, code)?) {
        position_slot = Some(next_slot);
        next_slot = next_slot.checked_add(2).ok_or(SkipReason::TooManyLocals)?;
    }
    *position = hands_position.then_some(position_slot);
    fresh.clear();
    fresh.extend(fresh_types(parameters, fields, position_slot));
    if !(fresh.is_empty() && catching.is_empty()) {
        let old = stack_map.map_or(Ok(0), |stack_map| stack_map.reader().u16())?;
        check_frames(code, usize::from(old) + of_probes + FRAMES_OF_HANDLERS)?;
    }

    let regions = match init_call {
        _ if !frames => [None, None],
        None => [
            Some(Region {
                start: 0,
                end: everything.end,
                uninitialized_this: false,
            }),
            None,
        ],
        Some(InitCall { start, end }) => {
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

    let entry_code = entry(
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
    };
    check_handlers(code, &catching)?;
    let mut fragments = std::mem::take(&mut constants.spare.insertions);
    fragments.clear();
    let code_of = |probe: Range<usize>| probes_of_writes.get(probe).unwrap_or(&[]);
    let mut logging = logging.into_iter().peekable();
    for &handler in &catching {
        while let Some((at, write)) = logging.next_if(|(at, _)| *at < handler) {
            fragments.before(at).code.extend_from_slice(code_of(write));
        }
        let frame = surveyed.at_handler(code, handler, framed)?;
        caught.probe(code, handler, frame, fragments.before(handler), constants)?;
    }
    // A handler that begins with a write has one piece for both.
    for (at, write) in logging {
        fragments.before(at).code.extend_from_slice(code_of(write));
    }
    if !catching.is_empty() {
        next_slot = next_slot.checked_add(1).ok_or(SkipReason::TooManyLocals)?;
    }
    let memory = std::mem::take(&mut constants.spare.relocated);
    let relocated = relocate(memory, code, scan, &entry_code, &fragments)?;
    let caught_slot = caught.slot;

    let mut body = Body {
        framed,
        max_stack: code
            .max_stack
            .checked_add(stack_of_writes)
            .ok_or(SkipReason::TooLarge)?,
        max_locals: next_slot,
        entry: entry_code,
        fragments,
        handlers: std::mem::take(&mut constants.spare.placed),
        relocated,
        fresh,
        old_frames: surveyed.ends,
    };
    if order.layout {
        *layout = Layout {
            inserted: body.inserted(&catching, caught_slot, Part::Write),
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
        let emitted = handler.emit(constants)?;
        body.max_locals = body.max_locals.max(emitted.max_locals);
        let new_code = &mut body.relocated.code;
        let start = new_code.len();
        new_code.extend_from_slice(&emitted.fragment.code);
        if order.layout {
            layout.inserted.push(Inserted {
                start,
                end: new_code.len(),
                part: Part::Handler {
                    exception: emitted.exception,
                },
            });
        }
        body.handlers.push((start, emitted.fragment));
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
    body.recycle(&mut constants.spare);
    Ok(())
}

/// Whether a body runs no code but its own. If it does not write either, the log
/// of writes is at its end where it was at its entry.
fn stays_by_itself(own: &Own<'_, '_>, code: &Code<'_>) -> Result<bool, SkipReason> {
    for insn in code.instructions() {
        let insn = insn?;
        match (insn.opcode, insn.operand()?) {
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

/// The fresh variables that the entry fills, by what they hold: captures are
/// the parameters, then the fields, then the position.
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

/// Whether new code needs stack-map frames.
pub fn framed(own: &Own<'_, '_>, code: &Code<'_>, has_stack_map: bool, scan: &Scan) -> bool {
    match own.class.major {
        // Without a stack map, the old verifier takes over and wants none
        // (JVMS 4.10).
        50 => {
            let jumps = !(scan.jumps.is_empty() && scan.switches.is_empty());
            has_stack_map || !jumps && code.handlers.is_empty()
        }
        major => major > 50,
    }
}

/// Gives each parameter that its own slot does not keep a fresh one.
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

/// The parts of a new body.
pub struct Body<'f> {
    pub framed: bool,
    pub max_stack: u16,
    pub max_locals: u16,
    pub entry: Fragment,
    /// Probes within the old body.
    pub fragments: Insertions,
    /// The handlers, by new offset; one for each region.
    pub handlers: Vec<(usize, Fragment)>,
    pub relocated: Relocated,
    pub fresh: &'f [VerificationType],
    /// Where the first and the last frame of the old body are; needed if the
    /// entry code has frames, and if nothing moves.
    pub old_frames: Option<(usize, usize)>,
}

impl Body<'_> {
    /// The pieces of inserted code up to the end of the old body; `probe` is what
    /// those in it are that do not stand at one of the handlers `catching`.
    pub fn inserted(&self, catching: &[usize], exception: u16, probe: Part) -> Vec<Inserted> {
        let islands = &self.relocated.islands;
        let piece = |start, len, part| {
            (len > 0).then_some(Inserted {
                start,
                end: start + len,
                part,
            })
        };
        let before = islands.front_len();
        let front = piece(0, before, Part::Islands);
        let entry = piece(before, self.entry.code.len(), Part::Entry);
        let back = piece(
            self.relocated.map.body_end(),
            islands.back_len(),
            Part::Islands,
        );
        let placed = self.fragments.iter().zip(&self.relocated.placed);
        let probes = placed.map(|(piece, &start)| Inserted {
            start,
            end: start + piece.code.len(),
            part: if !piece.after && catching.binary_search(&piece.old).is_ok() {
                Part::Caught { exception }
            } else {
                probe
            },
        });
        let before = front.into_iter().chain(entry);
        before.chain(probes).chain(back).collect()
    }

    /// Writes the content of a `Code` attribute.
    #[expect(clippy::too_many_arguments, reason = "the old body and the new one")]
    pub fn write<'a, 'r>(
        &self,
        own: &Own<'_, 'a>,
        code: &Code<'a>,
        stack_map: Option<Attribute<'_>>,
        regions: impl Iterator<Item = &'r Region>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        constants: &mut Constants<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let new_stack_map = if self.framed {
            self.stack_map(code, stack_map, parameters, constructor, constants)?
        } else {
            None
        };
        let of_pieces = self.entry.max_stack.max(self.fragments.max_stack());
        let handlers = self.handlers.iter().map(|(_, handler)| handler.max_stack);
        let max_stack = handlers.fold(self.max_stack.max(of_pieces), u16::max);
        let new_code = &self.relocated.code;
        out.reserve(new_code.len() + 64);
        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&self.max_locals.to_be_bytes());
        // At most MAX_CODE.
        out.extend((new_code.len() as u32).to_be_bytes());
        out.extend_from_slice(new_code);
        self.write_exception_table(code, regions, out)?;
        self.write_attributes(own, code, new_stack_map, constants, out)
    }

    /// The content of the new stack map.
    fn stack_map(
        &self,
        code: &Code<'_>,
        stack_map: Option<Attribute<'_>>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        constants: &mut Constants<'_, '_>,
    ) -> Result<Option<Vec<u8>>, SkipReason> {
        let map = &self.relocated.map;
        let memory = std::mem::take(&mut constants.spare.stack_map);
        let mut writer = FrameWriter::reusing(memory, map, code.max_locals, self.fresh);
        let islands = &self.relocated.islands;
        let targets = match &stack_map {
            Some(stack_map) if !islands.is_empty() => {
                let walker = Walker::new(stack_map, parameters, constructor, code.max_locals)?;
                writer.front(islands, walker)?
            }
            _ => Vec::new(),
        };
        let at_start = self.old_frames.is_some_and(|(first, _)| first == 0);
        writer.entry(islands.front_len(), &self.entry, at_start)?;
        if stack_map.is_none() {
            let locals = &mut constants.spare.types;
            locals.clear();
            locals.extend(entry_locals(parameters, constructor));
        }
        match stack_map {
            Some(stack_map) if self.fragments.is_empty() && map.is_identity() => {
                writer.as_it_is(&stack_map, self.old_frames.map(|(_, last)| last))?;
            }
            Some(stack_map) => {
                let memory = std::mem::take(&mut constants.spare.types);
                let max_locals = code.max_locals;
                let mut walker =
                    Walker::reusing(memory, &stack_map, parameters, constructor, max_locals)?;
                writer.body(&mut walker, &self.fragments, &self.relocated.placed)?;
                constants.spare.types = walker.locals;
            }
            None if !self.fragments.has_frames() => {}
            None => return Err(SkipReason::MALFORMED),
        }
        writer.islands(islands.back_places(map.body_end()), &targets)?;
        // What was read last has left its locals there.
        let last = &constants.spare.types;
        for (start, handler) in &self.handlers {
            writer.handler(*start, handler, last)?;
        }
        Ok(writer.finish())
    }

    /// Guards of probes come first, for ranges of the old table cover the
    /// probes as well.
    fn write_exception_table<'r>(
        &self,
        code: &Code<'_>,
        regions: impl Iterator<Item = &'r Region>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let mut map = self.relocated.map.lookup();
        let mut table = ExceptionTable::begin(out);
        if self.fragments.guards() > 0 {
            for (piece, &start) in self.fragments.iter().zip(&self.relocated.placed) {
                table.guards(start, piece.start, piece.guards)?;
            }
        }
        for TableEntry {
            start,
            end,
            handler,
            catch_type,
        } in code.handlers
        {
            table.add(
                map.label(usize::from(start))?,
                map.label(usize::from(end))?,
                map.label(usize::from(handler))?,
                catch_type,
            )?;
        }
        for (region, (handler, _)) in regions.zip(&self.handlers) {
            table.add(
                map.label(region.start)?,
                map.label(region.end)?,
                *handler,
                0,
            )?;
        }
        table.guards(self.relocated.islands.front_len(), 0, &self.entry.guards)?;
        for (start, fragment) in &self.handlers {
            table.guards(*start, 0, &fragment.guards)?;
        }
        table.end()
    }

    fn write_attributes<'a>(
        &self,
        own: &Own<'_, 'a>,
        code: &Code<'a>,
        stack_map: Option<Vec<u8>>,
        constants: &mut Constants<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        let mut pending = stack_map.as_deref();
        // One more than were read, at most.
        let mut count = 0u32;
        let entries_before = self.fragments.guards();
        count += move_attributes(
            own,
            &code.attributes,
            &self.relocated.map,
            entries_before,
            &mut pending,
            out,
        )?;
        if let Some(info) = pending {
            write_attribute(constants.stack_map_table()?, info, out)?;
            count += 1;
        }
        constants.spare.stack_map = stack_map.unwrap_or_default();
        let count = u16::try_from(count).map_err(|_| SkipReason::TooLarge)?;
        if let Some(place) = out.get_mut(count_at..count_at + 2) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        Ok(())
    }

    /// Gives the memory back.
    pub fn recycle(mut self, spare: &mut Spare) {
        spare.recycle(self.entry);
        let handlers = self.handlers.drain(..);
        handlers.for_each(|(_, handler)| spare.recycle(handler));
        spare.insertions = self.fragments;
        spare.placed = self.handlers;
        spare.relocated = self.relocated;
    }
}

/// An exception table at the end of `out`.
struct ExceptionTable<'o> {
    out: &'o mut Vec<u8>,
    count_at: usize,
    count: usize,
}

impl<'o> ExceptionTable<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        Self {
            out,
            count_at,
            count: 0,
        }
    }

    fn add(
        &mut self,
        start: usize,
        end: usize,
        handler: usize,
        catch_type: u16,
    ) -> Result<(), SkipReason> {
        self.count += 1;
        let ([a, b], [c, d], [e, f]) = (
            tables::short(start)?,
            tables::short(end)?,
            tables::short(handler)?,
        );
        let [g, h] = catch_type.to_be_bytes();
        self.out.extend_from_slice(&[a, b, c, d, e, f, g, h]);
        Ok(())
    }

    /// The guards of a fragment, of which the byte at `zero` is now at `start`.
    fn guards(&mut self, start: usize, zero: usize, guards: &[Guard]) -> Result<(), SkipReason> {
        // They are no guards of an earlier piece.
        let moved = |at: usize| start + at.saturating_sub(zero);
        guards.iter().try_for_each(|guard| {
            let (from, to) = (moved(guard.start), moved(guard.end));
            self.add(from, to, moved(guard.handler), 0)
        })
    }

    fn end(self) -> Result<(), SkipReason> {
        let count = u16::try_from(self.count).map_err(|_| SkipReason::TooLarge)?;
        if let Some(place) = self.out.get_mut(self.count_at..self.count_at + 2) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        Ok(())
    }
}

fn write_attribute(name_index: u16, info: &[u8], out: &mut Vec<u8>) -> Result<(), SkipReason> {
    out.extend_from_slice(&name_index.to_be_bytes());
    out.extend(
        u32::try_from(info.len())
            .map_err(|_| SkipReason::TooLarge)?
            .to_be_bytes(),
    );
    out.extend_from_slice(info);
    Ok(())
}

/// Writes an attribute whose content is what `fill` adds.
fn filled_attribute(
    name_index: u16,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), SkipReason>,
) -> Result<(), SkipReason> {
    out.extend_from_slice(&name_index.to_be_bytes());
    let start = out.len() + 4;
    out.extend_from_slice(&[0; 4]);
    fill(out)?;
    let len = u32::try_from(out.len() - start).map_err(|_| SkipReason::TooLarge)?;
    if let Some(place) = out.get_mut(start - 4..start) {
        place.copy_from_slice(&len.to_be_bytes());
    }
    Ok(())
}

/// Writes the attributes of a body for new code, and returns how many. The new
/// stack map is taken for the old one.
pub fn move_attributes<'a>(
    own: &Own<'_, 'a>,
    attributes: &Attributes<'a>,
    map: &crate::relocate::CodeMap,
    entries_before: usize,
    stack_map: &mut Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<u32, SkipReason> {
    let mut count = 0;
    let mut stack_map_seen = false;
    for attribute in attributes.iter() {
        let index = attribute.name_index;
        match own.kind(&attribute)? {
            Kind::StackMapTable => {
                if std::mem::replace(&mut stack_map_seen, true) {
                    return Err(SkipReason::MALFORMED);
                }
                let Some(info) = stack_map.take() else {
                    continue;
                };
                write_attribute(index, info, out)?;
            }
            _ if map.is_identity() => attribute.write(out),
            Kind::LineNumberTable => {
                filled_attribute(index, out, |out| tables::lines(&attribute, map, out))?;
            }
            Kind::LocalVariableTable | Kind::LocalVariableTypeTable => {
                filled_attribute(index, out, |out| tables::variables(&attribute, map, out))?;
            }
            Kind::TypeAnnotations => {
                filled_attribute(index, out, |out| {
                    tables::type_annotations(&attribute, map, entries_before, out)
                })?;
            }
            // Whatever it says about the code would be wrong now.
            _ => continue,
        }
        count += 1;
    }
    Ok(count)
}
