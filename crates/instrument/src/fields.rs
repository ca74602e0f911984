//! Which fields of which parameters are copied at entry.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{FieldType, MemberRef, Utf8, access};

use crate::asm::Constants;
use crate::parameters::{Parameter, Place, verified};
use crate::scan::FieldUse;
use crate::throwing::Own;
use crate::{Copy, Effects, SkipReason};

/// A field of a parameter, kept in a fresh local variable.
#[derive(Debug)]
pub struct KeptField<'a> {
    /// The place of the parameter in the list of parameters.
    pub parameter: usize,
    /// The field's constant: the one that the body uses, or a new one.
    pub index: u16,
    pub field: MemberRef<'a>,
    /// The first byte of the field's descriptor.
    pub kind: u8,
    /// The slot of the fresh variable.
    pub slot: u16,
    pub verified: VerificationType,
    pub voucher: Voucher,
}

/// What vouches for the load of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voucher {
    /// This very class declares the field: the load cannot fail.
    Own,
    /// The body names the field, too: where the load fails, the body would.
    Body,
    /// A plan alone, which may have seen other classes.
    Plan,
}

/// Superclasses without fields that a subclass may see. Only below other superclasses can a field
/// reference be illegal because of the object that it is read from.
const FIELDLESS: [&str; 7] = [
    "java/lang/Object",
    "java/lang/Record",
    "java/lang/Enum",
    "java/lang/Throwable",
    "java/lang/Exception",
    "java/lang/RuntimeException",
    "java/lang/Error",
];

/// Picks at most `max` fields and gives them variables from `next_slot` on: those in `uses`, as far
/// as `known` does not take them away, and those that it adds of this class, in the order of the
/// parameters; then those that it adds of other classes, which let this one read them. The result
/// replaces the content of `kept`, whose memory is used again.
#[expect(clippy::too_many_arguments, reason = "what a pick depends on")]
pub fn pick<'a>(
    own: &Own<'_, 'a>,
    constructor: bool,
    parameters: &[Parameter<'a>],
    uses: &[FieldUse],
    copy: Copy,
    known: Option<&'a Effects>,
    max: usize,
    next_slot: &mut u16,
    constants: &mut Constants<'_, 'a>,
    kept: &mut Vec<KeptField<'a>>,
) -> Result<(), SkipReason> {
    kept.clear();
    if uses.is_empty() && known.is_none() || max == 0 {
        return Ok(());
    }
    let fieldless_super = match own.class.super_name()? {
        Some(name) => FIELDLESS.iter().any(|fieldless| name == *fieldless),
        None => true,
    };
    let holders = || {
        let all = parameters.iter().enumerate();
        all.filter_map(|(at, parameter)| {
            let class = parameter.class?;
            // Nothing may be read from `this` before it is initialized.
            let is_whole = !constructor || parameter.index != 0;
            // Looked up by its place, where `this` comes first if there is one.
            let known = known.and_then(|known| known.parameter(at));
            (is_whole && copy.keeps_fields(parameter.index)).then_some((at, class, known))
        })
    };
    for (at, class, known) in holders() {
        for field_use in uses {
            if kept.len() >= max {
                return Ok(());
            }
            if own.class.pool.field_owner(field_use.index)? != class {
                continue;
            }
            let field = own.class.pool.field(field_use.index)?;
            let declared = own.field_access(&field);
            if declared.is_some_and(|flags| flags & (access::FINAL | access::STATIC) != 0) {
                continue;
            }
            if class != own.name && !fieldless_super && !is_witnessed(field_use, class, parameters)
            {
                continue;
            }
            // The parameter's class may inherit the field from the class that the analysis names.
            let is_it = |(_, name): &(String, String)| field.name == name.as_str();
            if known.is_some_and(|known| known.exact && !known.fields.iter().any(is_it)) {
                continue;
            }
            let voucher = match declared {
                Some(_) => Voucher::Own,
                None => Voucher::Body,
            };
            let of = (at, field_use.index, field);
            kept.push(keep(of, voucher, next_slot, constants)?);
        }
        // Fields that are written by other methods to which the object is passed.
        let others = known
            .filter(|_| class == own.name)
            .map_or(&[][..], |known| &known.fields);
        for (owner, name) in others {
            if kept.len() >= max {
                return Ok(());
            }
            if own.name != owner.as_str() {
                continue;
            }
            let Some(declared) = own.variable(name) else {
                continue;
            };
            let field = MemberRef {
                owner: own.name,
                name: declared.name,
                descriptor: declared.descriptor,
            };
            if is_kept(kept, at, field) {
                continue;
            }
            let class = constants.this(own.name)?;
            let (name, descriptor) = (field.name.as_bytes(), field.descriptor.as_bytes());
            let index = constants.added.field(class, name, descriptor)?;
            kept.push(keep(
                (at, index, field),
                Voucher::Own,
                next_slot,
                constants,
            )?);
        }
    }
    // What others write in objects of other classes gets what room is left.
    for (at, class, known) in holders() {
        if class != own.name && !fieldless_super && package(class) != package(own.name) {
            continue;
        }
        for (name, descriptor) in known.map_or(&[][..], |known| &known.open) {
            if kept.len() >= max {
                return Ok(());
            }
            let field = MemberRef {
                owner: class,
                name: Utf8::new(name.as_bytes()),
                descriptor: Utf8::new(descriptor.as_bytes()),
            };
            if is_kept(kept, at, field) {
                continue;
            }
            let owner = constants.added.class(&own.class.pool, class)?;
            let index = (constants.added).field(owner, name.as_bytes(), descriptor.as_bytes())?;
            kept.push(keep(
                (at, index, field),
                Voucher::Plan,
                next_slot,
                constants,
            )?);
        }
    }
    Ok(())
}

/// Whether a field of the parameter at a place has been picked.
fn is_kept(kept: &[KeptField<'_>], at: usize, field: MemberRef<'_>) -> bool {
    (kept.iter()).any(|kept| kept.parameter == at && kept.field == field)
}

/// The package of a class, by its internal name.
fn package<'a>(class: Utf8<'a>) -> &'a [u8] {
    let name = class.as_bytes();
    let end = name.iter().rposition(|&byte| byte == b'/');
    end.map_or(&[], |end| &name[..end])
}

/// Gives a fresh variable to a field, given by the place of its parameter and the constant that
/// names it.
fn keep<'a>(
    (parameter, index, field): (usize, u16, MemberRef<'a>),
    voucher: Voucher,
    next_slot: &mut u16,
    constants: &mut Constants<'_, 'a>,
) -> Result<KeptField<'a>, SkipReason> {
    let ty = FieldType::parse(field.descriptor)?;
    let slot = *next_slot;
    *next_slot = slot
        .checked_add(ty.slots())
        .ok_or(SkipReason::TooManyLocals)?;
    Ok(KeptField {
        parameter,
        index,
        field,
        kind: ty.kind(),
        slot,
        verified: verified(ty, constants)?,
        voucher,
    })
}

/// Whether the body itself reads the field from an unchanged parameter of type `class`.
///
/// A protected field of a superclass in another package may only be read from objects of the own
/// class or its subclasses, and the verifier checks it (JVMS 4.10.1.8). We do not know the
/// superclasses, but what the body does is allowed.
fn is_witnessed(field_use: &FieldUse, class: Utf8<'_>, parameters: &[Parameter<'_>]) -> bool {
    parameters.iter().any(|parameter| {
        parameter.place == Place::Own
            && parameter.class == Some(class)
            && field_use.loaded_from.contains(parameter.slot)
    })
}
