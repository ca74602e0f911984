//! Constructors that keep nothing: when one has returned, what it got is referred
//! to by the new object alone, and that by nobody new.
//!
//! A proof has to take it that a call keeps its arguments where other threads find
//! them. Every constructor begins with a call that gets the new object.

use super::facts::{Facts, NONE, Op, Var};
use crate::program::calls::Dispatch;
use crate::program::names::Set;
use crate::program::{MethodId, Program};

/// Finds them. Only bodies count that store nothing but arguments and new objects,
/// and only there, and that call nothing but such constructors.
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

/// The constructors that a body calls; nothing if it does anything else that may
/// keep what it gets, or stores what is not its own.
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
            // Nothing is given away.
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
