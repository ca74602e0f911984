//! Instrumenting a class for crashes.

use hindsight_classfile::{ClassFile, Member, Utf8, access, tables};

use crate::asm::Constants;
use crate::contract::PROBE;
use crate::method::{NewBody, Order, instrument};
use crate::parameters::Parameter;
use crate::throwing::Own;
use crate::{Capture, Copy, CrashPlan, Error, Method, Rewritten, SkipReason, Skipped};

/// Makes the methods of a class hand over their arguments when an exception
/// leaves them.
///
/// The class is left alone if it refers to the probes already, if it is no
/// class but a module's description, and if no method of it needs anything.
/// Fails only if the file breaks the format.
pub fn crash(class: &[u8], plan: &CrashPlan<'_>) -> Result<Rewritten, Error> {
    let class = ClassFile::parse(class)?;
    let name = class.name()?;
    let mut rewritten = Rewritten {
        class: None,
        class_name: name.to_string_lossy().into_owned(),
        methods: Vec::new(),
        skipped: Vec::new(),
    };
    if class.is(access::MODULE) || class.pool.classes().any(|(_, name)| name == PROBE) {
        return Ok(rewritten);
    }

    let own = Own {
        class: &class,
        name,
    };
    let mut constants = Constants::new(&class.pool);
    let mut bodies = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let body = match one(&own, method, plan, &mut constants, &mut rewritten) {
            Ok(body) => body,
            Err(SkipReason::ConstantPoolFull) => return Ok(all_left(&class, rewritten)),
            Err(reason) => {
                rewritten.skipped.push(skipped(method, reason));
                None
            }
        };
        bodies.push(body);
    }
    if rewritten.methods.is_empty() {
        return Ok(rewritten);
    }
    rewritten.class = Some(class.assemble(&constants.added, |place, method, out| {
        match bodies.get(place).and_then(Option::as_ref) {
            None => method.write(out),
            Some(code) => write_method(&class, method, code, out),
        }
    }));
    Ok(rewritten)
}

/// Instruments a method, if it has a body, and notes down what was done.
fn one<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    plan: &CrashPlan<'_>,
    constants: &mut Constants<'_, 'a>,
    rewritten: &mut Rewritten,
) -> Result<Option<Vec<u8>>, SkipReason> {
    let Some(code) = method.code(&own.class.pool)? else {
        return Ok(None);
    };
    let name = method.name.to_string_lossy();
    let descriptor = method.descriptor.to_string_lossy();
    let made = u32::try_from(rewritten.methods.len()).map_err(|_| SkipReason::TooLarge)?;
    let mut order = Order {
        id: plan
            .first_id
            .checked_add(made)
            .ok_or(SkipReason::TooLarge)?,
        rules: (plan.rules)(&name, &descriptor),
        max_fields: match plan.copy {
            Copy::Reference => 0,
            Copy::Fields => plan.max_fields,
        },
    };
    let body = match instrument(own, method, &code, &order, constants) {
        Err(SkipReason::TooLarge | SkipReason::TooManyLocals | SkipReason::BranchTooFar)
            if order.max_fields > 0 =>
        {
            // Without fields it may fit.
            order.max_fields = 0;
            instrument(own, method, &code, &order, constants)?
        }
        body => body?,
    };
    let (parameter_names, lines) = debug_names(own.class, method, &body.parameters);
    rewritten.methods.push(Method {
        id: order.id,
        captures: captures(&rewritten.class_name, &body),
        name: name.into_owned(),
        descriptor: descriptor.into_owned(),
        access: method.access,
        parameter_names,
        lines,
    });
    Ok(Some(body.code))
}

pub fn skipped(method: &Member<'_>, reason: SkipReason) -> Skipped {
    Skipped {
        name: method.name.to_string_lossy().into_owned(),
        descriptor: method.descriptor.to_string_lossy().into_owned(),
        reason,
    }
}

/// The outcome if the constants do not suffice.
fn all_left(class: &ClassFile<'_>, rewritten: Rewritten) -> Rewritten {
    let with_body = class
        .methods
        .iter()
        .filter(|method| method.attributes.find(&class.pool, "Code").is_some());
    Rewritten {
        class: None,
        class_name: rewritten.class_name,
        methods: Vec::new(),
        skipped: with_body
            .map(|method| skipped(method, SkipReason::ConstantPoolFull))
            .collect(),
    }
}

/// Writes a method with a new body.
pub fn write_method(class: &ClassFile<'_>, method: &Member<'_>, code: &[u8], out: &mut Vec<u8>) {
    method.write_head(out);
    out.extend(method.attributes.len().to_be_bytes());
    let mut done = false;
    for attribute in method.attributes.iter() {
        let is_code = !done && attribute.name(&class.pool).is_ok_and(|name| name == "Code");
        if is_code {
            done = true;
            out.extend(attribute.name_index.to_be_bytes());
            // Stack maps and code are bounded far below 4 GB.
            out.extend((code.len() as u32).to_be_bytes());
            out.extend_from_slice(code);
        } else {
            attribute.write(out);
        }
    }
}

/// What the handler appends, in its order.
fn captures(class_name: &str, body: &NewBody<'_>) -> Vec<Capture> {
    let text = |utf8: Utf8<'_>| utf8.to_string_lossy().into_owned();
    let parameters = body.parameters.iter().map(|parameter| Capture::Parameter {
        index: parameter.index,
        descriptor: match parameter.ty {
            Some(ty) => text(ty.descriptor()),
            None => format!("L{class_name};"),
        },
    });
    let fields = body.fields.iter().filter_map(|kept| {
        let parameter = body.parameters.get(kept.parameter)?;
        Some(Capture::Field {
            parameter: parameter.index,
            owner: text(kept.field.owner),
            name: text(kept.field.name),
            descriptor: text(kept.field.descriptor),
        })
    });
    parameters.chain(fields).collect()
}

/// The names of the parameters and the range of lines, where debug tables have
/// them. Tables that make no sense have nothing.
pub fn debug_names(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    parameters: &[Parameter<'_>],
) -> (Vec<Option<String>>, Option<(u16, u16)>) {
    let name = |index: u16| {
        let name = if index == 0 {
            None
        } else {
            class.pool.utf8(index).ok()
        };
        name.map(|name| name.to_string_lossy().into_owned())
    };
    let parameters: Vec<_> = parameters.iter().filter(|p| p.index != 0).collect();
    let mut names = vec![None; parameters.len()];
    let mut lines: Option<(u16, u16)> = None;

    if let Ok(Some(code)) = method.code(&class.pool) {
        for attribute in code.attributes.iter() {
            match attribute.name(&class.pool).map(Utf8::as_bytes) {
                Ok(b"LineNumberTable") => {
                    for entry in tables::line_numbers(&attribute).into_iter().flatten() {
                        let (min, max) = lines.unwrap_or((entry.line, entry.line));
                        lines = Some((min.min(entry.line), max.max(entry.line)));
                    }
                }
                Ok(b"LocalVariableTable") => {
                    let variables = tables::local_variables(&attribute).into_iter().flatten();
                    for variable in variables.filter(|variable| variable.start == 0) {
                        let at = parameters.iter().position(|p| p.slot == variable.slot);
                        if let Some(place) = at.and_then(|at| names.get_mut(at)) {
                            *place = name(variable.name_index);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    // The compiler was asked for these, so they are better.
    if let Some(attribute) = method.attributes.find(&class.pool, "MethodParameters")
        && let Ok(entries) = tables::method_parameters(&attribute)
        && entries.clone().count() == names.len()
    {
        for (place, entry) in names.iter_mut().zip(entries) {
            *place = name(entry.name_index).or(place.take());
        }
    }
    (names, lines)
}
