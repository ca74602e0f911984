//! Fields that a body names and whose values at entry may be lost.

use super::fields::{Done, is_own, read_and_written};
use super::runs::{Asked, Runs};
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::names::Set;
use crate::program::{MethodId, Program, Sym};

/// What a body does to fields.
#[derive(Default)]
struct Body {
    /// The fields that it reads and writes. Writes to objects that it has made itself are left out:
    /// no caller had these objects when it began.
    done: Done,
    named: Set<Sym>,
}

/// For each method, the fields that its body names and that it, or what it runs, may read and may
/// write, through any reference to the object: other code may have references to an argument, too.
pub(super) fn lost(asked: &Asked<'_>, runs: &Runs) -> Vec<Vec<Sym>> {
    let bodies = (asked.facts.iter().zip(0..))
        .map(|(facts, method)| body(asked.program, facts, MethodId(method)));
    let (done, named): (Vec<Done>, Vec<Set<Sym>>) =
        bodies.map(|Body { done, named }| (done, named)).unzip();
    // The library's own bodies are not known here.
    let any = named.iter().zip(&runs.open).map(|(named, &open)| {
        let any = named.iter().copied();
        any.filter(|&field| open || !is_own(asked.program, field))
            .collect()
    });
    let mut lost: Vec<Set<Sym>> = any.collect();
    read_and_written(&runs.graph, &done, |method, both| {
        let named = named[method].iter().copied();
        lost[method].extend(named.filter(|&field| both.has(field)));
    });
    (lost.into_iter())
        .map(|fields| fields.into_iter().collect())
        .collect()
}

fn body(program: &Program, facts: &Facts, id: MethodId) -> Body {
    let signature = program.names.bytes(program.method(id).signature);
    let makes = signature.starts_with(b"<init>");
    let mut made: Set<Var> = Set::default();
    for fact in &facts.ops {
        match fact.op {
            Op::New { dst, .. } if dst != NONE => made.insert(dst),
            Op::Param { dst, number: 0 } if makes => made.insert(dst),
            _ => continue,
        };
    }
    let is_element = |field: Sym| !program.names.bytes(field).contains(&b'.');
    let mut body = Body::default();
    for fact in &facts.ops {
        match fact.op {
            Op::Load { field, .. } | Op::Store { field, .. } if is_element(field) => {}
            Op::Load { field, .. } => {
                body.named.insert(field);
                body.done.read.push(field);
            }
            Op::Store { base, field, .. } => {
                body.named.insert(field);
                if !made.contains(&base) {
                    body.done.written.push(field);
                }
            }
            _ => {}
        }
    }
    body
}
