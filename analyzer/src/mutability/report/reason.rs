//! Reasons in words.

use super::{MethodRow, View};
use crate::mutability::answers::{Reason, Verdict};
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::mutability::recorded::evidence::Witness;
use crate::mutability::types;
use crate::program::calls::Site;
use crate::program::{MethodId, Program, Sym};
use hindsight_classfile::access;

/// The most steps of a chain that are shown.
const MAX_STEPS: usize = 20;

/// A field's simple name.
fn field_name(program: &Program, field: Sym) -> String {
    let text = program.names.text(field);
    match text.rsplit_once('.') {
        Some((_, name)) => name.to_owned(),
        None => text,
    }
}

/// How a value is obtained: `p.next.next`, `items[]`.
fn path(view: &View<'_>, row: &MethodRow, facts: &Facts, var: Var) -> String {
    let mut tail = String::new();
    let mut at = var;
    // Loops read again and again, and no longer chain is worth reading.
    for _ in 0..8 {
        let definition = facts.ops.iter().find_map(|fact| match &fact.op {
            Op::Param { dst, number } if *dst == at => {
                let name = row
                    .params
                    .get(usize::from(*number))
                    .map(|param| param.name.clone());
                Some((name, None))
            }
            Op::Load { dst, base, field } if *dst == at => {
                let name = field_name(view.program, *field);
                let step = if name == Facts::ELEMENT {
                    name
                } else {
                    format!(".{name}")
                };
                tail.insert_str(0, &step);
                Some((None, Some(*base)))
            }
            Op::LoadStatic { dst, field } if *dst == at => Some((
                Some(view.program.names.text(*field).replace('/', ".")),
                None,
            )),
            Op::Phi { dst, from } if *dst == at => Some((None, from.first().copied())),
            Op::New { dst, class } if *dst == at => {
                let class = class.map_or_else(
                    || "array".to_owned(),
                    |class| view.program.class_name(class),
                );
                Some((
                    Some(format!("(new {})", crate::text::simple_name(&class))),
                    None,
                ))
            }
            Op::Call { dst, site, .. } if *dst == at => {
                let text = view.program.names.text(site.signature);
                let name = text.split('(').next().unwrap_or_default().to_owned();
                Some((Some(format!("{name}(..)")), None))
            }
            _ => None,
        });
        match definition {
            Some((Some(name), _)) => return name + &tail,
            Some((None, Some(base))) if base != NONE => at = base,
            _ => break,
        }
    }
    format!("..{tail}")
}

fn pc(facts: &Facts, op: u32) -> u16 {
    facts.ops.get(op as usize).map_or(0, |fact| fact.pc)
}

/// The name of a method for people: `Foo.bar`.
pub(super) fn method_name(view: &View<'_>, method: MethodId) -> String {
    let class = view.program.class_name(view.program.method(method).class);
    format!("{}.{}", class, view.program.signature(method).0)
}

fn param_name(view: &View<'_>, method: MethodId, param: u16) -> String {
    let row = view.method(method);
    row.params
        .get(usize::from(param))
        .map_or_else(|| format!("argument {param}"), |param| param.name.clone())
}

/// What is written by a store, and where.
fn store(view: &View<'_>, row: &MethodRow, op: u32) -> String {
    let facts = &view.outcome.facts[row.id.0 as usize];
    let place = row.place(pc(facts, op));
    match facts.ops.get(op as usize).map(|fact| &fact.op) {
        Some(Op::Store { base, field, .. }) => {
            let name = field_name(view.program, *field);
            let target = path(view, row, facts, *base);
            match name == Facts::ELEMENT {
                true => format!("{place} writes {target}[]"),
                false => format!("{place} writes {target}.{name}"),
            }
        }
        Some(Op::StoreStatic { field, .. }) => {
            format!(
                "{place} writes {}",
                view.program.names.text(*field).replace('/', ".")
            )
        }
        _ => place,
    }
}

fn call(view: &View<'_>, row: &MethodRow, op: u32) -> (String, String) {
    let facts = &view.outcome.facts[row.id.0 as usize];
    let place = row.place(pc(facts, op));
    let name = match facts.ops.get(op as usize).map(|fact| &fact.op) {
        Some(Op::Call { site, .. }) => called(view, *site),
        Some(Op::Unknown { what, .. }) => view.program.names.text(*what),
        Some(Op::Lambda(lambda)) => {
            let text = view.program.names.text(lambda.site.signature);
            format!("the lambda {}", text.split('(').next().unwrap_or_default())
        }
        _ => "a call".to_owned(),
    };
    (place, name)
}

/// A write in a recorded run.
fn seen(view: &View<'_>, witness: &Witness) -> String {
    let program = view.program;
    let find = || {
        let class = witness.class.replace('.', "/");
        let class = program.find(program.names.find(class.as_bytes())?)?;
        let signature = format!("{}{}", witness.method, witness.descriptor);
        program.declared(class, program.names.find(signature.as_bytes())?)
    };
    let method = format!("{}.{}", witness.class, witness.method);
    let place = match (find(), witness.pc) {
        (Some(id), Some(pc)) => format!("{} in {method}", view.method(id).place(pc)),
        _ => method,
    };
    let field = witness.what.rsplit('.').next().unwrap_or(&witness.what);
    match field == Facts::ELEMENT {
        true => format!("a recorded run shows {place} write an element of what it leads to"),
        false => format!(
            "a recorded run shows {place} write {} of what it leads to",
            witness.what
        ),
    }
}

/// Whether a call is of the method without a body itself.
fn is_own(view: &View<'_>, row: &MethodRow, site: Site) -> bool {
    let method = view.program.method(row.id);
    method.is(access::ABSTRACT) && (method.class, method.signature) == (site.owner, site.signature)
}

/// The class and the name that a call names.
fn called(view: &View<'_>, site: Site) -> String {
    let text = view.program.names.text(site.signature);
    let name = text.split('(').next().unwrap_or_default();
    format!("{}.{name}", view.program.class_name(site.owner))
}

/// One line: the reason, and the next method to examine, if there is one.
fn step(
    view: &View<'_>,
    row: &MethodRow,
    own: u16,
    reason: &Reason,
) -> (String, Option<(MethodId, u16)>) {
    let text = match reason {
        Reason::None => "no stage of the pipeline says anything about it".to_owned(),
        Reason::Trivial => "numbers, strings, boxes and dates cannot be changed".to_owned(),
        Reason::Abstract => {
            "the method has no body, and nothing is known that implements it".to_owned()
        }
        Reason::Implementation { method, param } => {
            let name = method_name(view, *method);
            let own = view.outcome.answers.place_of(*method, *param);
            let does = match own.map(|place| view.outcome.answers.verdict(place)) {
                Some(Verdict::Mutable) => "changes it",
                Some(Verdict::Immutable) => "leaves it alone",
                _ => "is not known to leave it alone",
            };
            let text = format!("the method has no body; {name} implements it, which {does}");
            return (text, own.map(|_| (*method, *param)));
        }
        Reason::Implementations { count } => format!(
            "the method has no body; {} implement it, and leave it alone",
            crate::text::count(*count as usize, "known method")
        ),
        Reason::Store { op } => store(view, row, *op),
        Reason::Call { op, method, param } => {
            let (place, _) = call(view, row, *op);
            let text = format!(
                "{place} gives it to {} as {}",
                method_name(view, *method),
                param_name(view, *method, *param)
            );
            let own = view.outcome.answers.has(*method);
            return (text, own.then_some((*method, *param)));
        }
        Reason::Known { op } => {
            let (place, name) = call(view, row, *op);
            format!("{place} gives it to {name}, which changes it")
        }
        Reason::NoWrite => {
            "the body writes nothing that it leads to, and gives it to nobody".to_owned()
        }
        Reason::LeadsToNoWrite => "no call that it is given to leads to a write".to_owned(),
        Reason::Unwritten => {
            "nothing that is obtained from it is written, in the body or in what it calls"
                .to_owned()
        }
        Reason::Library { method, param } => {
            let name = param_name(view, *method, *param);
            format!(
                "it goes to {} as {name}, which is not known to leave it alone",
                method_name(view, *method)
            )
        }
        Reason::Missing { site } if is_own(view, row, *site) => {
            "the method has no body, and a class is missing that may implement it".to_owned()
        }
        Reason::Missing { site } => {
            let called = called(view, *site);
            format!("it goes to {called}, of which a class is missing")
        }
        Reason::Unimplemented { site } => {
            let called = called(view, *site);
            format!("it goes to {called}, which nothing in sight implements")
        }
        Reason::UnknownCall { op } => {
            let (place, name) = call(view, row, *op);
            format!("{place} gives it to {name}, of which nothing is known")
        }
        Reason::KeptInStatic { op } => {
            let facts = &view.outcome.facts[row.id.0 as usize];
            let place = row.place(pc(facts, *op));
            match facts.ops[*op as usize].op {
                Op::StoreStatic { .. } => format!("{place} keeps it in a static field"),
                _ => format!("{place} keeps it in what a static field may lead to"),
            }
        }
        Reason::Sibling { param } => {
            let name = row
                .params
                .get(usize::from(*param))
                .map_or("another argument", |param| &param.name);
            // If their types differ, they may still share what they refer to.
            match types::may_alias(view.program, row.id, own, *param) {
                true => {
                    format!(
                        "it may be the same object as {name}, which is not known to be left alone"
                    )
                }
                false => {
                    format!(
                        "it may lead to an object that {name} leads to, which is not known to be left alone"
                    )
                }
            }
        }
        Reason::Seen(witness) => seen(view, witness),
        Reason::Bound { method, param } => {
            let text = format!(
                "a recorded run gives it to {} as {}",
                method_name(view, *method),
                param_name(view, *method, *param)
            );
            return (text, Some((*method, *param)));
        }
        Reason::Covered { calls, percent } => format!(
            "{} in recorded runs never changed it, and did {percent} % of what the body can be seen to do",
            crate::text::count(usize::try_from(*calls).unwrap_or(usize::MAX), "call")
        ),
        Reason::Escapes => {
            "it is returned, thrown or kept, and may be changed by that way later".to_owned()
        }
        Reason::TooLarge => "the body, or what it calls, is too large to be followed".to_owned(),
        Reason::NoBody => match &view.outcome.facts[row.id.0 as usize].unknown {
            Some(why) => format!("nothing is known of the body: {why}"),
            None => "nothing is known of the body".to_owned(),
        },
    };
    (text, None)
}

/// A parameter's reason in one sentence.
pub fn sentence(view: &View<'_>, row: &MethodRow, param: usize) -> String {
    row.params.get(param).map_or_else(String::new, |found| {
        step(view, row, param as u16, &found.reason).0
    })
}

/// The whole chain, one line for each step: from the parameter through calls to the write, or to
/// what is missing.
pub fn chain(view: &View<'_>, row: &MethodRow, param: usize) -> Vec<String> {
    let Some(reason) = row.params.get(param).map(|param| param.reason.clone()) else {
        return Vec::new();
    };
    let (text, mut next) = step(view, row, param as u16, &reason);
    let mut lines = vec![text];
    let mut seen = vec![(row.id, param as u16)];
    while let Some((method, param)) = next {
        if seen.contains(&(method, param)) || lines.len() == MAX_STEPS {
            break;
        }
        seen.push((method, param));
        let row = view.method(method);
        let Some(found) = row.params.get(usize::from(param)) else {
            break;
        };
        let (text, further) = step(view, &row, param, &found.reason.clone());
        lines.push(format!("{}: {text}", row.full_name()));
        next = further;
    }
    lines
}
