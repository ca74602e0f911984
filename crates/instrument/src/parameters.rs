//! A method's parameters and where a handler finds their values.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{FieldType, Member, MethodDescriptor, Utf8, access};

use crate::SkipReason;
use crate::asm::Constants;

/// A parameter of a method; `this` counts as one.
#[derive(Debug)]
pub struct Parameter<'a> {
    /// The index: 0 for `this`; the others count from 1.
    pub index: u16,
    pub slot: u16,
    /// The number of slots that it takes.
    pub width: u16,
    /// The first byte of its descriptor.
    pub kind: u8,
    /// The declared type; `None` for `this`.
    pub ty: Option<FieldType<'a>>,
    /// The class that it is declared to be of, if its type is a class.
    pub class: Option<Utf8<'a>>,
    pub verified: VerificationType,
    pub place: Place,
}

/// Where a handler finds a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In its own slot: the body leaves it alone, and every frame has it.
    Own,
    /// In a fresh slot, into which it is copied at entry.
    Copy(u16),
    /// Nowhere. Only `this` of a constructor gets lost, since it cannot be copied before it is
    /// initialized; null is handed over in its place.
    Lost,
}

/// Lists the parameters of `method`, `this` first.
pub fn parameters<'a>(
    method: &Member<'a>,
    this: Utf8<'a>,
    constants: &mut Constants<'_, 'a>,
) -> Result<Vec<Parameter<'a>>, SkipReason> {
    let mut parameters = Vec::new();
    list(
        method,
        method.method_descriptor()?,
        this,
        constants,
        &mut parameters,
    )?;
    Ok(parameters)
}

/// Lists the parameters in memory that has been used. `descriptor` is the descriptor of `method`.
pub fn list<'a>(
    method: &Member<'a>,
    descriptor: MethodDescriptor<'a>,
    this: Utf8<'a>,
    constants: &mut Constants<'_, 'a>,
    parameters: &mut Vec<Parameter<'a>>,
) -> Result<(), SkipReason> {
    let of_this = if method.is(access::STATIC) {
        VerificationType::Top
    } else {
        VerificationType::Object(constants.this(this)?)
    };
    let object = |class: Utf8<'a>| Ok(VerificationType::Object(constants.class(class)?));
    fill(method, descriptor, this, of_this, object, parameters)
}

/// Lists the parameters for code in which no frame will name a parameter: references to other
/// classes than that of `this`, whose constant is given, have no type. That saves constants.
pub fn list_untyped<'a>(
    method: &Member<'a>,
    descriptor: MethodDescriptor<'a>,
    this: Utf8<'a>,
    this_class: u16,
    parameters: &mut Vec<Parameter<'a>>,
) -> Result<(), SkipReason> {
    let of_this = VerificationType::Object(this_class);
    let object = |class: Utf8<'a>| {
        Ok(if class == this {
            of_this
        } else {
            VerificationType::Top
        })
    };
    fill(method, descriptor, this, of_this, object, parameters)
}

/// Lists the parameters; `object` gives the verification type of a class.
fn fill<'a>(
    method: &Member<'a>,
    descriptor: MethodDescriptor<'a>,
    this: Utf8<'a>,
    of_this: VerificationType,
    mut object: impl FnMut(Utf8<'a>) -> Result<VerificationType, SkipReason>,
    parameters: &mut Vec<Parameter<'a>>,
) -> Result<(), SkipReason> {
    parameters.clear();
    parameters.reserve(usize::from(descriptor.parameter_count()) + 1);
    let mut slot = 0;
    if !method.is(access::STATIC) {
        parameters.push(Parameter {
            index: 0,
            slot,
            width: 1,
            kind: b'L',
            ty: None,
            class: Some(this),
            verified: of_this,
            place: Place::Own,
        });
        slot = 1;
    }
    for (index, ty) in (1..).zip(descriptor.parameters()) {
        parameters.push(Parameter {
            index,
            slot,
            width: ty.slots(),
            kind: ty.kind(),
            ty: Some(ty),
            class: ty.class_name(),
            verified: verified_by(ty, &mut object)?,
            place: Place::Own,
        });
        slot = u16::checked_add(slot, ty.slots()).ok_or(SkipReason::MALFORMED)?;
    }
    Ok(())
}

/// The number of slots that the parameters take.
pub fn slots(parameters: &[Parameter<'_>]) -> u16 {
    // This sum was checked when the list was made.
    parameters.last().map_or(0, |last| last.slot + last.width)
}

/// The verification type of a field type.
pub fn verified(
    ty: FieldType<'_>,
    constants: &mut Constants<'_, '_>,
) -> Result<VerificationType, SkipReason> {
    verified_by(ty, |class| {
        Ok(VerificationType::Object(constants.class(class)?))
    })
}

fn verified_by<'a>(
    ty: FieldType<'a>,
    object: impl FnOnce(Utf8<'a>) -> Result<VerificationType, SkipReason>,
) -> Result<VerificationType, SkipReason> {
    Ok(match (ty.constant_name(), ty.kind()) {
        (Some(name), _) => object(name)?,
        (None, b'J') => VerificationType::Long,
        (None, b'F') => VerificationType::Float,
        (None, b'D') => VerificationType::Double,
        _ => VerificationType::Integer,
    })
}

/// Adds a type at a slot to a list of locals, with unused slots before it. `next` is the first slot
/// behind the list.
pub fn place_at(
    locals: &mut Vec<VerificationType>,
    next: &mut u16,
    slot: u16,
    verified: VerificationType,
) {
    if slot > *next {
        let unused = usize::from(slot - *next);
        locals.extend(std::iter::repeat_n(VerificationType::Top, unused));
    }
    locals.push(verified);
    *next = slot.saturating_add(verified.slots());
}
