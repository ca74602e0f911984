//! Fields that a body names and whose values at entry may be lost.

use super::runs::{Asked, Runs};
use crate::mutability::facts::{Facts, NONE, Op, Var};
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};

/// Fields are looked at so many at a time, which bounds memory: programs have ten thousands of
/// methods and of fields.
const WORDS: usize = 8;

/// Some of the fields: which are read, and which are written.
#[derive(Debug, Clone, Default)]
struct Chunk {
    read: [u64; WORDS],
    written: [u64; WORDS],
}

impl Chunk {
    fn join(&mut self, other: &Chunk) {
        for at in 0..WORDS {
            self.read[at] |= other.read[at];
            self.written[at] |= other.written[at];
        }
    }
}

/// Fields by number.
#[derive(Default)]
struct Numbers {
    of: Map<Sym, u32>,
    fields: Vec<Sym>,
}

impl Numbers {
    fn of(&mut self, field: Sym) -> u32 {
        *self.of.entry(field).or_insert_with(|| {
            self.fields.push(field);
            self.fields.len() as u32 - 1
        })
    }
}

/// What a body does to fields, by their numbers.
#[derive(Default)]
struct Body {
    read: Vec<u32>,
    /// Those of objects that it has made itself are not among them: nobody who waits for it
    /// had these when it began.
    written: Vec<u32>,
    named: Vec<u32>,
}

/// By method, the fields of objects that its body names and that it, or what it runs, may read and
/// may write, by way of whatever reference to the object: an argument may be known by others, too.
pub(super) fn lost(asked: &Asked<'_>, runs: &Runs) -> Vec<Vec<Sym>> {
    let mut numbers = Numbers::default();
    let bodies: Vec<Body> = (asked.facts.iter().zip(0..))
        .map(|(facts, method)| body(asked.program, facts, MethodId(method), &mut numbers))
        .collect();
    let open = runs.joined(runs.open.clone(), |one, other| *one |= other);
    let of_others: Vec<bool> = (numbers.fields.iter())
        .map(|&field| !is_own(asked.program, field))
        .collect();
    let mut lost = vec![Vec::new(); bodies.len()];
    let chunk = 64 * WORDS as u32;
    for first in (0..numbers.fields.len() as u32).step_by(chunk as usize) {
        let place = |field: u32| {
            let at = field.checked_sub(first).filter(|&at| at < chunk)?;
            Some(((at / 64) as usize, 1 << (at % 64)))
        };
        let mut own = vec![Chunk::default(); runs.next.len()];
        for (body, own) in bodies.iter().zip(&mut own) {
            for (word, bit) in body.read.iter().filter_map(|&field| place(field)) {
                own.read[word] |= bit;
            }
            for (word, bit) in body.written.iter().filter_map(|&field| place(field)) {
                own.written[word] |= bit;
            }
        }
        let all = runs.joined(own, Chunk::join);
        for (method, body) in bodies.iter().enumerate() {
            let known = &all[method];
            for &field in &body.named {
                let Some((word, bit)) = place(field) else {
                    continue;
                };
                // The library's own bodies are not at hand.
                if open[method]
                    || of_others[field as usize]
                    || known.read[word] & known.written[word] & bit != 0
                {
                    lost[method].push(numbers.fields[field as usize]);
                }
            }
        }
    }
    lost
}

fn body(program: &Program, facts: &Facts, id: MethodId, numbers: &mut Numbers) -> Body {
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
            Op::Load { field, .. } => body.read.push(numbers.of(field)),
            Op::Store { base, field, .. } => {
                let field = numbers.of(field);
                body.named.push(field);
                if !made.contains(&base) {
                    body.written.push(field);
                }
            }
            _ => {}
        }
    }
    body.named.extend(&body.read);
    for list in [&mut body.read, &mut body.written, &mut body.named] {
        list.sort_unstable();
        list.dedup();
    }
    body
}

/// The class that declares a field, if that is known.
pub(super) fn declaring(program: &Program, field: Sym) -> Option<ClassId> {
    let text = program.names.bytes(field);
    let dot = text.iter().rposition(|&byte| byte == b'.')?;
    program.find(program.names.find(&text[..dot])?)
}

/// Whether all code that writes a field is the program's.
fn is_own(program: &Program, field: Sym) -> bool {
    let class = declaring(program, field).map(|class| program.class(class));
    class.is_some_and(|class| !class.library && !class.missing)
}
