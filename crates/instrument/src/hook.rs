//! A call at the entry of one method.

use hindsight_classfile::{ClassFile, Code, Member, opcode as op};

use crate::asm::{Constants, Fragment};
use crate::attributes::Kind;
use crate::body::move_attributes;
use crate::crash::write_method;
use crate::frames::Walker;
use crate::insertions::Insertions;
use crate::parameters::parameters;
use crate::relocate::{MAX_CODE, Relocated, relocate};
use crate::scan::{Wanted, scan};
use crate::stackmap::FrameWriter;
use crate::throwing::Own;
use crate::{Error, SkipReason};

/// Makes the method `method` with `descriptor` first call a static method with `this` (unless it is
/// static) and all of its parameters.
///
/// The `target` is a class, a method's name and its descriptor, which must fit the parameters; the
/// target returns nothing. Constructors cannot be hooked.
pub fn entry_hook(
    class: &[u8],
    method: &str,
    descriptor: &str,
    target: (&str, &str, &str),
) -> Result<Vec<u8>, Error> {
    let class = ClassFile::parse(class)?;
    let own = Own::new(&class, class.name()?);
    let place = class
        .methods
        .iter()
        .position(|found| found.name == method && found.descriptor == descriptor)
        .filter(|_| method != "<init>")
        .ok_or(Error::NoSuchMethod)?;
    let hooked = class.methods.get(place).ok_or(Error::NoSuchMethod)?;
    let code = own.code(hooked)?.ok_or(Error::NoSuchMethod)?;
    let mut constants = Constants::new(&class.pool);
    let body = hook(&own, hooked, &code, target, &mut constants).map_err(Error::Unchangeable)?;
    Ok(class.assemble(&constants.added, |at, method, out| {
        if at == place {
            write_method(&own, method, &body, out);
        } else {
            method.write(out);
        }
    }))
}

/// Returns the new content of the `Code` attribute.
fn hook<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    (owner, name, descriptor): (&str, &str, &str),
    constants: &mut Constants<'_, 'a>,
) -> Result<Vec<u8>, SkipReason> {
    let parameters = parameters(method, own.name, constants)?;
    let slots = crate::parameters::slots(&parameters);
    let scan = scan(code, slots, Wanted::default())?;

    let mut entry = Fragment::default();
    for parameter in &parameters {
        entry.load(parameter.kind, parameter.slot);
    }
    entry.stack(slots);
    // Stack: the parameters
    let owner = constants.class(hindsight_classfile::Utf8::new(owner.as_bytes()))?;
    let target = constants
        .added
        .method(owner, name.as_bytes(), descriptor.as_bytes())?;
    entry.op_u16(op::INVOKESTATIC, target);

    let none = Insertions::default();
    let mut relocated = Relocated::default();
    relocate(&mut relocated, code, &scan, &entry, &none)?;
    let map = &relocated.map;
    if relocated.code.len() > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    let mut stack_map = None;
    if let Some(old) = own.find(&code.attributes, Kind::StackMapTable) {
        let mut writer = FrameWriter::new(map, code.max_locals, &[]);
        let walk = || Walker::new(&old, &parameters, false, code.max_locals);
        let islands = &relocated.islands;
        let targets = writer.front(islands, walk()?)?;
        writer.body(&mut walk()?, &none, &[])?;
        writer.islands(islands.back_places(map.body_end()), &targets)?;
        stack_map = writer.finish();
    }

    let mut out = Vec::with_capacity(relocated.code.len() + 256);
    out.extend_from_slice(&code.max_stack.max(entry.max_stack).to_be_bytes());
    out.extend_from_slice(&code.max_locals.to_be_bytes());
    // The length is at most MAX_CODE.
    out.extend((relocated.code.len() as u32).to_be_bytes());
    out.extend_from_slice(&relocated.code);
    // There are as many entries as were read.
    out.extend((code.handlers.len() as u16).to_be_bytes());
    for handler in code.handlers {
        for offset in [handler.start, handler.end, handler.handler] {
            let moved = map.lookup().label(usize::from(offset))?;
            out.extend(
                u16::try_from(moved)
                    .map_err(|_| SkipReason::TooLarge)?
                    .to_be_bytes(),
            );
        }
        out.extend_from_slice(&handler.catch_type.to_be_bytes());
    }
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    let count = move_attributes(
        own,
        &code.attributes,
        map,
        0,
        &mut stack_map.as_deref(),
        &mut out,
    )?;
    if let Some(place) = out.get_mut(count_at..count_at + 2) {
        place.copy_from_slice(&(count as u16).to_be_bytes());
    }
    Ok(out)
}
