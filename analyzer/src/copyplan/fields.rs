//! Which fields the nodes of a graph read and write, including all nodes reachable from them.

use super::graph::Graph;
use crate::program::names::{Map, Set};
use crate::program::{ClassId, Program, Sym};
use hindsight_classfile::access;
use hindsight_tracelog::plan::OpenField;

/// The number of 64-bit words that hold the fields of one round. Working in rounds bounds memory:
/// programs have tens of thousands of methods and of fields.
const WORDS: usize = 8;

/// The fields of one round that are read, and those that are written.
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

/// The fields that a node itself reads and writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    pub(super) read: Vec<Sym>,
    pub(super) written: Vec<Sym>,
}

/// Those fields of one round that a node, or one reachable from it, reads, and that one of these
/// also writes; the objects need not be the same.
pub(super) struct Both<'a> {
    /// All fields that anything reads and anything writes, in order.
    fields: &'a [Sym],
    /// The index of the first field of this round.
    first: usize,
    bits: [u64; WORDS],
}

impl Both<'_> {
    /// All of these fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = Sym> {
        let set = |&at: &usize| self.bits[at / 64] & (1 << (at % 64)) != 0;
        let places = (0..64 * WORDS).filter(set);
        places.map(|at| self.fields[self.first + at])
    }

    /// Whether a field is one of them.
    pub(super) fn has(&self, field: Sym) -> bool {
        let end = self.fields.len().min(self.first + 64 * WORDS);
        let found = self.fields[self.first..end].binary_search(&field);
        found.is_ok_and(|at| self.bits[at / 64] & (1 << (at % 64)) != 0)
    }
}

/// For each node and round, passes to `found` the fields that the node, or one reachable from it,
/// both reads and writes. `done` has an entry for each of the first nodes of the graph.
pub(super) fn read_and_written(
    graph: &Graph,
    done: &[Done],
    mut found: impl FnMut(usize, Both<'_>),
) {
    // Most fields are only written where their object is made.
    let all =
        |of: fn(&Done) -> &Vec<Sym>| -> Set<Sym> { done.iter().flat_map(of).copied().collect() };
    let read = all(|done| &done.read);
    let written = all(|done| &done.written);
    let mut fields: Vec<Sym> = read.intersection(&written).copied().collect();
    fields.sort_unstable();
    let places: Map<Sym, usize> = fields.iter().copied().zip(0..).collect();
    for first in (0..fields.len()).step_by(64 * WORDS) {
        let place = |field: &Sym| {
            let at = places.get(field)?.checked_sub(first)?;
            (at < 64 * WORDS).then_some((at / 64, 1 << (at % 64)))
        };
        let mut own = vec![Chunk::default(); graph.next.len()];
        for (done, own) in done.iter().zip(&mut own) {
            for (word, bit) in done.read.iter().filter_map(place) {
                own.read[word] |= bit;
            }
            for (word, bit) in done.written.iter().filter_map(place) {
                own.written[word] |= bit;
            }
        }
        let all = graph.joined(own, Chunk::join);
        for (node, chunk) in all.iter().take(done.len()).enumerate() {
            let bits: [u64; WORDS] = std::array::from_fn(|at| chunk.read[at] & chunk.written[at]);
            if bits != [0; WORDS] {
                let fields = &fields;
                found(
                    node,
                    Both {
                        fields,
                        first,
                        bits,
                    },
                );
            }
        }
    }
}

/// The class that declares a field, if it is known.
pub(super) fn declaring(program: &Program, field: Sym) -> Option<ClassId> {
    let text = program.names.bytes(field);
    let dot = text.iter().rposition(|&byte| byte == b'.')?;
    program.find(program.names.find(&text[..dot])?)
}

/// The field, if code of a class may read it from what it is handed as an object of another class (or of its own, where
/// a superclass declares it). A load that the JVM refuses would pass for one of nothing.
pub(super) fn open(program: &Program, field: Sym, by: ClassId, of: ClassId) -> Option<OpenField> {
    let text = program.names.bytes(field);
    let name = &text[text.iter().rposition(|&byte| byte == b'.')? + 1..];
    let owner = declaring(program, field)?;
    if by == of && by == owner || !is_own(program, field) {
        return None;
    }
    let fields = program.class(owner).fields.iter();
    let mut named = fields.filter(|field| *program.names.bytes(field.name) == *name);
    // Some tools give several fields of a class one name.
    let (Some(declared), None) = (named.next(), named.next()) else {
        return None;
    };
    // A field of an interface on the way may stand before it.
    let resolved = program.resolve_field(of, declared.name, declared.descriptor);
    if resolved != Some(owner) || program.is_incomplete(of) {
        return None;
    }
    let near = |class| is_near(program, class, by);
    let sees_class = of == by || near(of) || program.class(of).access & access::PUBLIC != 0;
    let visibility = access::PUBLIC | access::PROTECTED | access::PRIVATE;
    let sees_field = match declared.access & visibility {
        _ if owner == by => true,
        access::PUBLIC => true,
        // The verifier wants an object of the own class where a superclass is of another package (JVMS 4.10.1.8).
        access::PROTECTED if program.is_subtype(by, owner) => of == by,
        access::PROTECTED | 0 => near(owner),
        _ => false,
    };
    let descriptor = program.names.bytes(declared.descriptor);
    let is_plain = name.is_ascii() && descriptor.is_ascii();
    let is_variable = declared.access & (access::STATIC | access::FINAL) == 0;
    (sees_class && sees_field && is_plain && is_variable).then(|| OpenField {
        name: String::from_utf8_lossy(name).into_owned(),
        descriptor: String::from_utf8_lossy(&descriptor).into_owned(),
    })
}

/// Whether two classes are in one package for the JVM, too: of one loader (JVMS 5.3), as those of one archive or
/// directory are.
fn is_near(program: &Program, one: ClassId, other: ClassId) -> bool {
    let [origin, others] = [one, other].map(|class| program.class(class).origin);
    origin.is_some() && origin == others && program.package(one) == program.package(other)
}

/// Whether all code that writes a field belongs to the program.
pub(super) fn is_own(program: &Program, field: Sym) -> bool {
    let class = declaring(program, field).map(|class| program.class(class));
    class.is_some_and(|class| !class.library && !class.missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn fields_are_told_of_all_that_lead_to_them() {
        // There are more fields than one round has. Node 0 leads to 1 and 2, of which only one
        // reads and only the other writes.
        let fields: Vec<Sym> = (0..1200).map(Sym).collect();
        let done = [
            Done::default(),
            Done {
                read: fields.clone(),
                written: vec![Sym(7)],
            },
            Done {
                read: Vec::new(),
                written: vec![Sym(0), Sym(600), Sym(1199), Sym(5000)],
            },
        ];
        let mut found = [const { BTreeSet::new() }; 3];
        let graph = Graph::new(vec![vec![1, 2], Vec::new(), Vec::new()]);
        read_and_written(&graph, &done, |node, both| {
            let told = both.fields().filter(|&field| both.has(field));
            found[node].extend(told.map(|field| field.0));
            assert!(!both.has(Sym(5000)) && !both.has(Sym(1)));
        });
        let expected: [&[u32]; 3] = [&[0, 7, 600, 1199], &[7], &[]];
        assert_eq!(found, expected.map(|all| all.iter().copied().collect()));
    }
}
