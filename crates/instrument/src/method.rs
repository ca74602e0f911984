//! One method: from its body to the new body.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{
    Attribute, Attributes, Code, Handler as TableEntry, Member, MethodDescriptor,
};

use crate::asm::{Constants, Fragment, Guard};
use crate::caught::{Caught, typed_handlers};
use crate::constructor::{InitCall, init_call};
use crate::contract::{CAUGHT, CAUGHT_REPORT};
use crate::entry::{entry, fresh_types};
use crate::fields::{KeptField, pick};
use crate::frames::{HandlerFrame, Walker, survey};
use crate::handler::Handler;
use crate::parameters::{Parameter, Place, parameters};
use crate::relocate::{MAX_CODE, Relocated, relocate};
use crate::scan::{Scan, scan};
use crate::stackmap::FrameWriter;
use crate::tables;
use crate::throwing::{Own, may_throw};
use crate::{Rules, SkipReason};

/// The slots that parameters may take, `this` included (JVMS 4.3.3).
const MAX_PARAMETER_SLOTS: u16 = 255;

/// Probes times exception-table entries, which are looked through for each.
/// Compilers make some thousand at most.
const MAX_HANDLER_WORK: usize = 1 << 24;

/// What to do with a method.
pub struct Order {
    pub id: u32,
    pub rules: Rules,
    /// How many fields to keep; 0 for the arguments alone.
    pub max_fields: usize,
}

/// A method's new body.
pub struct NewBody<'a> {
    /// The content of the `Code` attribute.
    pub code: Vec<u8>,
    pub parameters: Vec<Parameter<'a>>,
    pub fields: Vec<KeptField<'a>>,
}

/// A part of the body with a handler of its own, in old offsets.
pub struct Region {
    pub start: usize,
    pub end: usize,
    pub uninitialized_this: bool,
}

/// Instruments one method.
pub fn instrument<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    order: &Order,
    constants: &mut Constants<'_, 'a>,
) -> Result<NewBody<'a>, SkipReason> {
    let descriptor = method.method_descriptor()?;
    let is_static = method.is(hindsight_classfile::access::STATIC);
    let constructor = method.name == "<init>" && !is_static;
    let parameter_slots = parameter_slots(&descriptor, is_static, code)?;
    let scan = scan(code, parameter_slots, order.max_fields > 0)?;
    let this_in_0 = !is_static && scan.stored.first() == Some(&false);
    let throws = |range| may_throw(own, code, range, this_in_0, constructor);
    let everything = 0..code.bytecode.len();
    if !throws(everything.clone())? {
        return Err(SkipReason::CannotThrow);
    }
    let init_call = if constructor {
        Some(init_call(own, code)?)
    } else {
        None
    };
    let stack_map = code.attributes.find(&own.class.pool, "StackMapTable");
    let framed = framed(own, code, stack_map.is_some(), &scan);

    let mut parameters = parameters(method, own.name, constants)?;
    let typed = typed_handlers(code);
    let mut handler_frames = Vec::new();
    if let Some(stack_map) = stack_map.filter(|_| framed) {
        let walker = Walker::new(&stack_map, &parameters, constructor, code.max_locals)?;
        handler_frames = survey(walker, &own.class.pool, &mut parameters, init_call, &typed)?;
    }
    let mut next_slot = code.max_locals;
    place(&mut parameters, &scan.stored, constructor, &mut next_slot)?;
    let fields = pick(
        own,
        constructor,
        &parameters,
        &scan.fields,
        order.max_fields,
        &mut next_slot,
        constants,
    )?;
    let fresh = fresh_types(&parameters, &fields);

    let regions = match init_call {
        None => vec![Region {
            start: 0,
            end: code.bytecode.len(),
            uninitialized_this: false,
        }],
        Some(InitCall { start, end }) => {
            let mut regions = Vec::new();
            // The old verifier is not asked to understand such a handler.
            let this_known = parameters
                .first()
                .is_some_and(|this| this.place == Place::Own);
            if framed && this_known && throws(0..start)? {
                regions.push(Region {
                    start: 0,
                    end: start,
                    uninitialized_this: true,
                });
            }
            if throws(end..everything.end)? {
                let end_of_code = everything.end;
                regions.push(Region {
                    start: end,
                    end: end_of_code,
                    uninitialized_this: false,
                });
            }
            regions
        }
    };
    if regions.is_empty() {
        return Err(SkipReason::OnlyConstructorCall);
    }

    let entry_code = entry(
        &parameters,
        &fields,
        &fresh,
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
        fresh: &fresh,
    };
    let fragments = probes(code, &typed, &handler_frames, framed, &caught, constants)?;
    if !fragments.is_empty() {
        next_slot = next_slot.checked_add(1).ok_or(SkipReason::TooManyLocals)?;
    }
    let relocated = relocate(code, &entry_code, &fragments)?;

    let mut body = Body {
        framed,
        max_stack: code.max_stack,
        max_locals: next_slot,
        entry: entry_code,
        fragments,
        handlers: Vec::new(),
        relocated,
        regions,
        fresh,
    };
    for region in &body.regions {
        let handler = Handler {
            id: order.id,
            escape: order.rules.escape,
            parameters: &parameters,
            fields: &fields,
            uninitialized_this: region.uninitialized_this,
        };
        let emitted = handler.emit(constants)?;
        body.max_locals = body.max_locals.max(emitted.max_locals);
        body.handlers
            .push((body.relocated.code.len(), emitted.fragment));
        if let Some((_, fragment)) = body.handlers.last() {
            body.relocated.code.extend_from_slice(&fragment.code);
        }
    }
    if body.relocated.code.len() > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    let code = body.write(own, code, stack_map, &parameters, constructor, constants)?;
    Ok(NewBody {
        code,
        parameters,
        fields,
    })
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
        .ok_or(SkipReason::Malformed)
}

/// Whether new code needs stack-map frames.
pub fn framed(own: &Own<'_, '_>, code: &Code<'_>, has_stack_map: bool, scan: &Scan) -> bool {
    match own.class.major {
        // Without a stack map, the old verifier takes over and wants none
        // (JVMS 4.10).
        50 => has_stack_map || (!scan.jumps && code.handlers.is_empty()),
        major => major > 50,
    }
}

/// Gives each parameter that its own slot does not keep a fresh one.
fn place(
    parameters: &mut [Parameter<'_>],
    stored: &[bool],
    constructor: bool,
    next_slot: &mut u16,
) -> Result<(), SkipReason> {
    for parameter in parameters {
        let slots = usize::from(parameter.slot)..usize::from(parameter.slot + parameter.width);
        if stored
            .get(slots)
            .is_none_or(|stored| stored.contains(&true))
        {
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

/// The probes at handlers, by old offset.
pub fn probes(
    code: &Code<'_>,
    handlers: &[usize],
    frames: &[HandlerFrame],
    framed: bool,
    caught: &Caught<'_>,
    constants: &mut Constants<'_, '_>,
) -> Result<Vec<(usize, Fragment)>, SkipReason> {
    if handlers.len().saturating_mul(code.handlers.len()) > MAX_HANDLER_WORK {
        return Err(SkipReason::TooLarge);
    }
    let mut fragments = Vec::with_capacity(handlers.len());
    for &handler in handlers {
        let at = frames.binary_search_by_key(&handler, |frame| frame.handler);
        let frame = at.ok().and_then(|at| frames.get(at));
        // A handler without a frame, or one at the method's start, is wrong
        // code.
        if (framed && frame.is_none()) || handler == 0 {
            return Err(SkipReason::Malformed);
        }
        fragments.push((handler, caught.probe(code, handler, frame, constants)?));
    }
    Ok(fragments)
}

/// The parts of a new body.
pub struct Body {
    pub framed: bool,
    pub max_stack: u16,
    pub max_locals: u16,
    pub entry: Fragment,
    /// Probes within the old body, by old offset.
    pub fragments: Vec<(usize, Fragment)>,
    /// The handlers, by new offset; one for each region.
    pub handlers: Vec<(usize, Fragment)>,
    pub relocated: Relocated,
    pub regions: Vec<Region>,
    pub fresh: Vec<VerificationType>,
}

impl Body {
    /// Writes the content of a `Code` attribute.
    pub fn write(
        &self,
        own: &Own<'_, '_>,
        code: &Code<'_>,
        stack_map: Option<Attribute<'_>>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        constants: &mut Constants<'_, '_>,
    ) -> Result<Vec<u8>, SkipReason> {
        let map = &self.relocated.map;
        let new_stack_map = if self.framed {
            let mut writer = FrameWriter::new(map, code.max_locals, &self.fresh);
            writer.fragment(0, &self.entry)?;
            let placed = self.fragments.iter().zip(&self.relocated.placed);
            let placed = placed.map(|((old, fragment), &new)| (*old, new, fragment));
            match stack_map {
                Some(stack_map) => {
                    let walker = Walker::new(&stack_map, parameters, constructor, code.max_locals)?;
                    writer.body(walker, placed)?;
                }
                None if self.fragments.iter().all(|(_, f)| f.frames.is_empty()) => {}
                None => return Err(SkipReason::Malformed),
            }
            for (start, handler) in &self.handlers {
                writer.fragment(*start, handler)?;
            }
            writer.finish()
        } else {
            None
        };

        let max_stack = [&self.entry]
            .into_iter()
            .chain(
                self.fragments
                    .iter()
                    .chain(&self.handlers)
                    .map(|(_, fragment)| fragment),
            )
            .fold(self.max_stack, |deepest, fragment| {
                deepest.max(fragment.max_stack)
            });
        let new_code = &self.relocated.code;
        let mut out = Vec::with_capacity(new_code.len() + 256);
        out.extend(max_stack.to_be_bytes());
        out.extend(self.max_locals.to_be_bytes());
        // At most MAX_CODE.
        out.extend((new_code.len() as u32).to_be_bytes());
        out.extend_from_slice(new_code);
        self.write_exception_table(code, &mut out)?;
        self.write_attributes(own, code, new_stack_map, constants, &mut out)?;
        Ok(out)
    }

    /// Guards of probes come first, for ranges of the old table cover the
    /// probes as well.
    fn write_exception_table(&self, code: &Code<'_>, out: &mut Vec<u8>) -> Result<(), SkipReason> {
        let map = &self.relocated.map;
        let mut entries: Vec<[usize; 4]> = Vec::new();
        let guards = |start: usize, guards: &[Guard], entries: &mut Vec<[usize; 4]>| {
            entries.extend(guards.iter().map(|guard| {
                [
                    start + guard.start,
                    start + guard.end,
                    start + guard.handler,
                    0,
                ]
            }));
        };
        for ((_, fragment), &start) in self.fragments.iter().zip(&self.relocated.placed) {
            guards(start, &fragment.guards, &mut entries);
        }
        for TableEntry {
            start,
            end,
            handler,
            catch_type,
        } in code.handlers
        {
            entries.push([
                map.label(usize::from(start))?,
                map.label(usize::from(end))?,
                map.label(usize::from(handler))?,
                usize::from(catch_type),
            ]);
        }
        for (region, (handler, _)) in self.regions.iter().zip(&self.handlers) {
            entries.push([
                map.label(region.start)?,
                map.label(region.end)?,
                *handler,
                0,
            ]);
        }
        guards(0, &self.entry.guards, &mut entries);
        for (start, fragment) in &self.handlers {
            guards(*start, &fragment.guards, &mut entries);
        }
        let count = u16::try_from(entries.len()).map_err(|_| SkipReason::TooLarge)?;
        out.extend(count.to_be_bytes());
        for half in entries.iter().flatten() {
            out.extend(
                u16::try_from(*half)
                    .map_err(|_| SkipReason::TooLarge)?
                    .to_be_bytes(),
            );
        }
        Ok(())
    }

    fn write_attributes(
        &self,
        own: &Own<'_, '_>,
        code: &Code<'_>,
        mut stack_map: Option<Vec<u8>>,
        constants: &mut Constants<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let count_at = out.len();
        out.extend([0, 0]);
        // One more than were read, at most.
        let mut count = 0u32;
        let entries_before: usize = self
            .fragments
            .iter()
            .map(|(_, fragment)| fragment.guards.len())
            .sum();
        count += move_attributes(
            &own.class.pool,
            &code.attributes,
            &self.relocated.map,
            entries_before,
            &mut stack_map,
            out,
        )?;
        if let Some(info) = stack_map {
            write_attribute(constants.stack_map_table()?, &info, out)?;
            count += 1;
        }
        let count = u16::try_from(count).map_err(|_| SkipReason::TooLarge)?;
        if let Some(place) = out.get_mut(count_at..count_at + 2) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        Ok(())
    }
}

fn write_attribute(name_index: u16, info: &[u8], out: &mut Vec<u8>) -> Result<(), SkipReason> {
    out.extend(name_index.to_be_bytes());
    out.extend(
        u32::try_from(info.len())
            .map_err(|_| SkipReason::TooLarge)?
            .to_be_bytes(),
    );
    out.extend_from_slice(info);
    Ok(())
}

/// Writes the attributes of a body for new code, and returns how many. The new
/// stack map is taken for the old one.
pub fn move_attributes(
    pool: &hindsight_classfile::ConstantPool<'_>,
    attributes: &Attributes<'_>,
    map: &crate::relocate::CodeMap,
    entries_before: usize,
    stack_map: &mut Option<Vec<u8>>,
    out: &mut Vec<u8>,
) -> Result<u32, SkipReason> {
    let mut count = 0;
    let mut stack_map_seen = false;
    for attribute in attributes.iter() {
        let moved = match attribute.name(pool)?.as_bytes() {
            b"StackMapTable" => {
                if std::mem::replace(&mut stack_map_seen, true) {
                    return Err(SkipReason::Malformed);
                }
                match stack_map.take() {
                    Some(info) => info,
                    None => continue,
                }
            }
            _ if map.is_identity() => {
                attribute.write(out);
                count += 1;
                continue;
            }
            b"LineNumberTable" => tables::lines(&attribute, map)?,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                tables::variables(&attribute, map)?
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                tables::type_annotations(&attribute, map, entries_before)?
            }
            // Whatever it says about the code would be wrong now.
            _ => continue,
        };
        write_attribute(attribute.name_index, &moved, out)?;
        count += 1;
    }
    Ok(count)
}
