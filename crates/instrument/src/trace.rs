//! Instrumenting a class for traces.
//!
//! ```text
//! entry      enter(arguments, method)
//! body       returns: exit(value, method) before them
//!            writes, reads: put, store, get, load .. after them
//!            the call of another constructor: bind(this, method) after it
//!            handlers: caught(exception, method)
//! handler    of everything that leaves the body: unwind(exception, method),
//!            rethrow
//! ```
//!
//! An event tells what has happened, so the probes of writes and reads come
//! after the instruction, whose operands are kept on the stack for them: a write
//! that throws is no event. Calls and returns are told before, for there is no
//! after. Code is inserted in straight lines, without frames and without
//! exception-table entries, except in handlers.

mod bulk;
mod calls;
mod early;
mod handlers;
mod memory;
mod method;
mod plan;
mod probes;

use hindsight_classfile::{ClassFile, Member, MemberRef, access};

pub use self::plan::{MemberName, TracePlan, Traced, What};
use crate::contract::trace::TRACE;
use crate::crash::{debug_names, skipped, write_method};
use crate::throwing::Own;
use crate::{Capture, Error, Method, SkipReason};
use method::{NewBody, Order, instrument};
use probes::Probes;

/// Makes the methods of a class tell what they do.
///
/// The class is left alone if it refers to the probes already, if it is no
/// class but a module's description, and if no method of it has anything to
/// tell. Fails only if the file breaks the format.
pub fn trace(class: &[u8], plan: &TracePlan<'_>) -> Result<Traced, Error> {
    let class = ClassFile::parse(class)?;
    let name = class.name()?;
    let mut traced = Traced {
        class: None,
        class_name: name.to_string_lossy().into_owned(),
        methods: Vec::new(),
        reduced: Vec::new(),
        skipped: Vec::new(),
        fields: Vec::new(),
        callees: Vec::new(),
    };
    if class.is(access::MODULE) || class.pool.classes().any(|(_, name)| name == TRACE) {
        return Ok(traced);
    }

    let own = Own {
        class: &class,
        name,
    };
    let mut probes = Probes::new(&class.pool, plan.first_field, plan.first_callee);
    let mut bodies = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let body = match one(&own, method, plan, &mut probes, &mut traced) {
            Ok(body) => body,
            Err(SkipReason::ConstantPoolFull) => return Ok(all_left(&class, traced)),
            Err(reason) => {
                traced.skipped.push(skipped(method, reason));
                None
            }
        };
        bodies.push(body);
    }
    if traced.methods.is_empty() {
        return Ok(traced);
    }
    traced.class = Some(
        class.assemble(&probes.constants.added, |place, method, out| {
            match bodies.get(place).and_then(Option::as_ref) {
                None => method.write(out),
                Some(code) => write_method(&class, method, code, out),
            }
        }),
    );
    traced.fields = names(probes.fields(), plan.first_field);
    traced.callees = names(probes.callees(), plan.first_callee);
    Ok(traced)
}

/// Instruments a method, if it has a body and anything to tell, and notes down
/// what was done.
fn one<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    plan: &TracePlan<'_>,
    probes: &mut Probes<'_, 'a>,
    traced: &mut Traced,
) -> Result<Option<Vec<u8>>, SkipReason> {
    let Some(code) = method.code(&own.class.pool)? else {
        return Ok(None);
    };
    let name = method.name.to_string_lossy();
    let descriptor = method.descriptor.to_string_lossy();
    let made = u32::try_from(traced.methods.len()).map_err(|_| SkipReason::TooLarge)?;
    let mut order = Order {
        id: plan
            .first_method
            .checked_add(made)
            .ok_or(SkipReason::TooLarge)?,
        what: (plan.what)(&name, &descriptor),
    };
    let body = match instrument(own, method, &code, &order, probes) {
        Err(
            reason @ (SkipReason::TooLarge | SkipReason::TooManyLocals | SkipReason::BranchTooFar),
        ) if order.what.calls && order.what != order.what.calls_only() => {
            order.what = order.what.calls_only();
            let body = instrument(own, method, &code, &order, probes)?;
            traced.reduced.push(skipped(method, reason));
            body
        }
        body => body?,
    };
    let Some(body) = body else {
        return Ok(None);
    };
    let (parameter_names, lines) = debug_names(own.class, method, &body.parameters);
    traced.methods.push(Method {
        id: order.id,
        captures: captures(&traced.class_name, &body),
        name: name.into_owned(),
        descriptor: descriptor.into_owned(),
        access: method.access,
        parameter_names,
        lines,
    });
    Ok(Some(body.code))
}

/// What the entry hands over, in its order.
fn captures(class_name: &str, body: &NewBody<'_>) -> Vec<Capture> {
    let handed = body.handed.iter().filter_map(|&at| body.parameters.get(at));
    handed
        .map(|parameter| Capture::Parameter {
            index: parameter.index,
            descriptor: match parameter.ty {
                Some(ty) => ty.descriptor().to_string_lossy().into_owned(),
                None => format!("L{class_name};"),
            },
        })
        .collect()
}

fn names<'a>(members: impl Iterator<Item = MemberRef<'a>>, first_id: u32) -> Vec<MemberName> {
    (first_id..)
        .zip(members)
        .map(|(id, member)| MemberName {
            id,
            owner: member.owner.to_string_lossy().into_owned(),
            name: member.name.to_string_lossy().into_owned(),
            descriptor: member.descriptor.to_string_lossy().into_owned(),
        })
        .collect()
}

/// The outcome if the constants do not suffice.
fn all_left(class: &ClassFile<'_>, traced: Traced) -> Traced {
    let with_body = class
        .methods
        .iter()
        .filter(|method| method.attributes.find(&class.pool, "Code").is_some());
    Traced {
        methods: Vec::new(),
        reduced: Vec::new(),
        skipped: with_body
            .map(|method| skipped(method, SkipReason::ConstantPoolFull))
            .collect(),
        ..traced
    }
}
