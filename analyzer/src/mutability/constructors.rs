//! Constructors that keep nothing: after such a constructor has returned, only the new object
//! refers to its arguments, and nothing new refers to that object.
//!
//! A proof has to assume that a call keeps its arguments where other threads find them. Every
//! constructor begins with a call that takes the new object, so without this analysis every
//! constructor would keep it.

use super::facts::{Facts, NONE, Op, Var};
use crate::program::calls::Dispatch;
use crate::program::names::Set;
use crate::program::{MethodId, Program};

/// Finds these constructors. Their bodies store only arguments and new objects, only into these,
/// and call only constructors of the same kind.
pub fn that_keep_nothing(program: &Program, facts: &[Facts]) -> Set<MethodId> {
    let mut open: Vec<(MethodId, Vec<MethodId>)> = Vec::new();
    for (facts, number) in facts.iter().zip(0..) {
        let id = MethodId(number);
        let signature = program.names.bytes(program.method(id).signature);
        if signature.starts_with(b"<init>")
            && let Some(callees) = callees(program, facts)
        {
            open.push((id, callees));
        }
    }
    let mut found = Set::default();
    loop {
        let before = found.len();
        open.retain(|(id, callees)| {
            let keeps_nothing = callees.iter().all(|callee| found.contains(callee));
            if keeps_nothing {
                found.insert(*id);
            }
            !keeps_nothing
        });
        if found.len() == before {
            return found;
        }
    }
}

/// The constructors that a body calls; `None` if it does anything else that may keep its arguments,
/// or stores other values.
fn callees(program: &Program, facts: &Facts) -> Option<Vec<MethodId>> {
    if !facts.present || facts.unknown.is_some() {
        return None;
    }
    let mut this = NONE;
    let mut own: Set<Var> = Set::default();
    let mut made: Set<Var> = Set::default();
    for fact in &facts.ops {
        match fact.op {
            Op::Param { dst, number } => {
                own.insert(dst);
                if number == 0 {
                    this = dst;
                }
            }
            Op::New { dst, .. } => {
                own.insert(dst);
                made.insert(dst);
            }
            _ => {}
        }
    }
    let is_own = |var: &Var| *var == NONE || own.contains(var);
    let mut callees = Vec::new();
    for fact in &facts.ops {
        match &fact.op {
            Op::Store { base, value, .. } => {
                let into_new = *base == this || made.contains(base);
                if !into_new || !is_own(value) {
                    return None;
                }
            }
            Op::StoreStatic { value: NONE, .. } => {}
            // No reference is passed.
            Op::Call { args, .. } if args.iter().all(|&arg| arg == NONE) => {}
            Op::Call { site, args, .. } => {
                let signature = program.names.bytes(site.signature);
                let constructs =
                    site.dispatch == Dispatch::Exact && signature.starts_with(b"<init>");
                if !constructs || !args.iter().all(is_own) {
                    return None;
                }
                callees.push(program.resolve(site.owner, site.signature)?);
            }
            Op::StoreStatic { .. } | Op::Lambda(_) | Op::Unknown { .. } | Op::Return { .. } => {
                return None;
            }
            Op::Param { .. }
            | Op::Phi { .. }
            | Op::Load { .. }
            | Op::LoadStatic { .. }
            | Op::New { .. }
            | Op::Throw { .. }
            | Op::Catch { .. }
            | Op::Outside { .. } => {}
        }
    }
    Some(callees)
}
