//! Events of a method's calls.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::opcode as op;

use super::What;
use super::probes::{Lists, Probes, Variable, is_wide};
use crate::SkipReason;
use crate::asm::Fragment;
use crate::contract::trace::{Kind, Probe};
use crate::insertions::Insertions;
use crate::parameters::Parameter;

/// What the event of an entry records.
#[derive(Clone, Copy)]
pub struct Entry<'e, 'a> {
    pub parameters: &'e [Parameter<'a>],
    pub constructor: bool,
    /// The places of the parameters that hold secrets.
    pub secrets: &'e [usize],
    pub id: u32,
}

/// Emits the entry code of a method, and lists in `handed` the places of the parameters that it
/// hands over.
pub fn enter(
    of: Entry<'_, '_>,
    what: What,
    probes: &mut Probes<'_, '_>,
    fragment: &mut Fragment,
    handed: &mut Vec<usize>,
) -> Result<(), SkipReason> {
    let Entry { parameters, id, .. } = of;
    let wanted = |place: usize, parameter: &Parameter<'_>| match parameter.kind {
        _ if of.constructor && parameter.index == 0 => false,
        b'L' | b'[' => what.references,
        _ => what.values && !of.secrets.contains(&place),
    };
    for secret in of.secrets.iter().filter_map(|&at| parameters.get(at)) {
        if what.references && matches!(secret.kind, b'L' | b'[') {
            fragment.load(secret.kind, secret.slot);
            probes.hide(fragment, id)?;
            fragment.stack(2);
        }
    }
    let Lists {
        mut places,
        mut values,
    } = std::mem::take(&mut probes.lists);
    places.clear();
    values.clear();
    for (place, parameter) in parameters.iter().enumerate() {
        if wanted(place, parameter) {
            places.push(place);
            values.push(Variable {
                kind: parameter.kind,
                slot: parameter.slot,
            });
        }
    }
    let told = |at: usize| handed.extend(places.get(at));
    let stack = probes.event(fragment, Probe::Enter, &values, id, told)?;
    fragment.stack(stack);
    probes.lists = Lists { places, values };
    Ok(())
}

/// Adds the event of a return.
pub fn exit(
    opcode: u8,
    offset: usize,
    what: What,
    id: u32,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    let value = match opcode {
        op::IRETURN => Some(Kind::Int),
        op::LRETURN => Some(Kind::Long),
        op::FRETURN => Some(Kind::Float),
        op::DRETURN => Some(Kind::Double),
        op::ARETURN => Some(Kind::Reference),
        _ => None,
    };
    let value = value.filter(|&kind| what.wants(kind));
    let fragment = inserted.before(offset);
    if let Some(kind) = value {
        fragment.op(if is_wide(kind) { op::DUP2 } else { op::DUP });
    }
    probes.call_with(fragment, Probe::Exit(value), id)?;
    inserted.stack(3);
    Ok(())
}

/// Adds the event after a constructor's call of another constructor.
pub fn bind(
    end: usize,
    this_known: bool,
    id: u32,
    inserted: &mut Insertions,
    probes: &mut Probes<'_, '_>,
) -> Result<(), SkipReason> {
    let fragment = inserted.after(end);
    if this_known {
        fragment.load(b'L', 0);
    } else {
        fragment.op(op::ACONST_NULL);
    }
    probes.call_with(fragment, Probe::Bind, id)?;
    inserted.stack(2);
    Ok(())
}

/// The handler of everything that leaves a body.
///
/// ```text
/// handler: astore t
/// start:   aload t; push id; invokestatic unwind
///          aload t; athrow
/// guard:   pop; getstatic n; iconst_1; iadd; putstatic n
///          aload t; athrow
/// ```
///
/// No other variable is used any more, so `t` is the first one that is free. Emits the handler to
/// an empty fragment and returns `t`.
pub fn unwind(
    fragment: &mut Fragment,
    uninitialized_this: bool,
    id: u32,
    probes: &mut Probes<'_, '_>,
) -> Result<u16, SkipReason> {
    let this = uninitialized_this.then_some(VerificationType::UninitializedThis);
    let locals = fragment.list(|locals| locals.extend(this));
    let slot = u16::from(uninitialized_this);
    let throwable = probes.constants.throwable()?;
    fragment.frame(locals, Some(throwable));
    // Stack: exception
    fragment.store(b'L', slot);
    let start = fragment.here();
    fragment.load(b'L', slot);
    probes.call_with(fragment, Probe::Unwind, id)?;
    fragment.stack(2);
    let end = fragment.here();
    let rethrow = |fragment: &mut Fragment| {
        fragment.load(b'L', slot);
        fragment.op(op::ATHROW);
    };
    rethrow(fragment);
    let locals = fragment.list(|locals| {
        locals.extend(this);
        locals.push(VerificationType::Object(throwable));
    });
    let counter = Some(probes.overflows()?);
    fragment.guard(start, end, locals, counter, &mut probes.constants)?;
    rethrow(fragment);
    Ok(slot)
}
