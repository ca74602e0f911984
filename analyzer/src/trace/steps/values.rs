//! The values of a step, which may come in several events.

use super::{Argument, What};
use hindsight_classfile::{FieldType, MethodDescriptor, Utf8};
use hindsight_tracelog::trace::dictionary::{Dictionary, Member, Method};
use hindsight_tracelog::trace::kind::MOST;
use hindsight_tracelog::trace::{Datum, Event, ObjectId};

/// Values by their sorts, each in the order in which they came.
#[derive(Default)]
pub struct Values {
    references: Vec<Option<ObjectId>>,
    ints: Vec<i32>,
    longs: Vec<i64>,
}

/// Whether values of an event may have found no room in it.
pub fn may_lack(event: &Event) -> bool {
    let layout = event.layout();
    usize::from(layout.references) == MOST.0
        || usize::from(layout.ints) == MOST.1
        || layout.longs == 1
}

impl Values {
    /// Adds those of an event.
    pub fn add(&mut self, event: &Event) {
        self.references.extend(event.references());
        self.ints.extend(event.ints());
        self.longs.extend(event.longs());
    }

    /// Whether some are to come still. To wait for the next event of the thread without need
    /// would put the step behind later ones of other threads.
    pub fn lack(&self, what: &What, dictionary: &Dictionary) -> bool {
        let mut expected = [0; 3];
        match *what {
            What::Enter { method, .. } => {
                let Some((_, method)) = dictionary.method(method) else {
                    return true;
                };
                for (_, ty) in &method.told {
                    expected[sort(ty.as_bytes())] += 1;
                }
            }
            What::Called { callee, .. } => {
                let Some(types) = dictionary.callee(callee).and_then(types) else {
                    return true;
                };
                for ty in types {
                    expected[sort(ty)] += 1;
                }
                // A receiver is not in the descriptor; if it did not fit, the event is full.
                let count = self.references.len();
                if count >= MOST.0 && count.is_multiple_of(MOST.0) {
                    expected[0] += 1;
                }
            }
            _ => {}
        }
        let [references, ints, longs] = expected;
        self.references.len() < references || self.ints.len() < ints || self.longs.len() < longs
    }

    /// The arguments of a method, by their indexes.
    pub fn arguments(self, method: &Method) -> Vec<Argument> {
        let types = method.told.iter().map(|(_, ty)| ty.as_bytes());
        let values = method.told.iter().zip(self.in_order(types));
        let arguments = values.filter_map(|(&(index, _), value)| {
            let value = value?;
            Some(Argument { index, value })
        });
        let mut arguments: Vec<_> = arguments.collect();
        arguments.sort_by_key(|argument| argument.index);
        arguments
    }

    /// Receiver, arguments and result of a callee.
    pub fn of_callee(self, callee: &Member) -> Vec<Datum> {
        let mut types = types(callee).unwrap_or_default();
        let objects = types.iter().filter(|ty| ty.starts_with(b"L")).count();
        if self.references.len() > objects {
            types.insert(0, b"L");
        }
        self.in_order(types.into_iter()).flatten().collect()
    }

    /// The values of these types, in order. What was not told is left out.
    fn in_order<'t>(
        self,
        types: impl Iterator<Item = &'t [u8]>,
    ) -> impl Iterator<Item = Option<Datum>> {
        let mut references = self.references.into_iter();
        let mut ints = self.ints.into_iter();
        let mut longs = self.longs.into_iter();
        types.map(move |ty| {
            Some(match ty.first()? {
                b'L' | b'[' => Datum::Reference(references.next()?),
                b'J' => Datum::Long(longs.next()?),
                b'D' => Datum::Double(f64::from_bits(longs.next()? as u64)),
                b'F' => Datum::Float(f32::from_bits(ints.next()? as u32)),
                _ => Datum::Int(ints.next()?),
            })
        })
    }
}

/// Which of [`Values`] has a type.
fn sort(ty: &[u8]) -> usize {
    match ty.first() {
        Some(b'L' | b'[') => 0,
        Some(b'J' | b'D') => 2,
        _ => 1,
    }
}

/// The types of a callee's arguments and result.
fn types(callee: &Member) -> Option<Vec<&'static [u8]>> {
    let descriptor = MethodDescriptor::parse(Utf8::new(callee.descriptor.as_bytes())).ok()?;
    let types = descriptor.parameters().chain(descriptor.result());
    Some(types.map(|ty| kind_text(&ty)).collect())
}

fn kind_text(ty: &FieldType<'_>) -> &'static [u8] {
    match ty.kind() {
        b'L' | b'[' => b"L",
        b'J' => b"J",
        b'D' => b"D",
        b'F' => b"F",
        _ => b"I",
    }
}
