//! The values of a step, which may come in several events.

use super::{Argument, What};
use hindsight_classfile::{FieldType, MethodDescriptor, Utf8};
use hindsight_tracelog::trace::dictionary::{Dictionary, Member, Method};
use hindsight_tracelog::trace::kind::MOST;
use hindsight_tracelog::trace::{Datum, Event, ObjectId};

/// Values in three groups by their types, each in the order in which they came: those of one event,
/// or those collected from several.
#[derive(Default)]
pub struct Told<R, I, L> {
    references: R,
    ints: I,
    longs: L,
}

/// Values that are collected.
pub type Values = Told<Vec<Option<ObjectId>>, Vec<i32>, Vec<i64>>;

/// The values of an event.
pub fn of(
    event: &Event,
) -> Told<
    impl ExactSizeIterator<Item = Option<ObjectId>>,
    impl ExactSizeIterator<Item = i32>,
    impl ExactSizeIterator<Item = i64>,
> {
    Told {
        references: event.references(),
        ints: event.ints().iter().copied(),
        longs: event.longs().iter().copied(),
    }
}

/// Whether some values may not have fitted into the event.
fn may_lack(event: &Event) -> bool {
    let layout = event.layout();
    usize::from(layout.references) == MOST.0
        || usize::from(layout.ints) == MOST.1
        || layout.longs == 1
}

impl Values {
    /// Begins with the values of an event.
    pub fn new(event: &Event) -> Values {
        let Told {
            references,
            ints,
            longs,
        } = of(event);
        Told {
            references: references.collect(),
            ints: ints.collect(),
            longs: longs.collect(),
        }
    }

    /// Adds the values of an event.
    pub fn add(&mut self, event: &Event) {
        self.references.extend(event.references());
        self.ints.extend(event.ints());
        self.longs.extend(event.longs());
    }

    /// Whether values are missing; see [`lack`].
    pub fn lack(&self, what: &What, dictionary: &Dictionary) -> bool {
        let counts = [self.references.len(), self.ints.len(), self.longs.len()];
        lack(counts, what, dictionary)
    }
}

/// Whether more values follow those of an event. Waiting for the thread's next event without need
/// would put the step behind later ones of other threads.
pub fn has_more(event: &Event, what: &What, dictionary: &Dictionary) -> bool {
    let layout = event.layout();
    let counts = [layout.references, layout.ints, layout.longs].map(usize::from);
    may_lack(event) && lack(counts, what, dictionary)
}

/// Whether a step takes more values than these numbers of references, integers and long ones.
fn lack(counts: [usize; 3], what: &What, dictionary: &Dictionary) -> bool {
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
            let [references, ..] = counts;
            if references >= MOST.0 && references.is_multiple_of(MOST.0) {
                expected[0] += 1;
            }
        }
        _ => {}
    }
    counts
        .iter()
        .zip(expected)
        .any(|(&count, expected)| count < expected)
}

impl<R, I, L> Told<R, I, L>
where
    R: IntoIterator<Item = Option<ObjectId>, IntoIter: ExactSizeIterator>,
    I: IntoIterator<Item = i32>,
    L: IntoIterator<Item = i64>,
{
    /// Gives a call its values.
    pub fn complete(self, what: &mut What, dictionary: &Dictionary) {
        match what {
            What::Enter { method, arguments } => {
                if let Some((_, method)) = dictionary.method(*method) {
                    *arguments = self.arguments(method);
                }
            }
            What::Called { callee, values } => {
                if let Some(callee) = dictionary.callee(*callee) {
                    *values = self.of_callee(callee);
                }
            }
            _ => {}
        }
    }

    /// The arguments of a method, with their indices.
    fn arguments(self, method: &Method) -> Vec<Argument> {
        let types = method.told.iter().map(|(_, ty)| ty.as_bytes());
        let values = method.told.iter().zip(in_order(types, self));
        let mut arguments = Vec::with_capacity(method.told.len());
        arguments.extend(values.filter_map(|(&(index, _), value)| {
            let value = value?;
            Some(Argument { index, value })
        }));
        arguments.sort_by_key(|argument| argument.index);
        arguments
    }

    /// The receiver, the arguments and the result of a callee.
    fn of_callee(self, callee: &Member) -> Vec<Datum> {
        let mut types = types(callee).unwrap_or_default();
        let objects = types.iter().filter(|ty| ty.starts_with(b"L")).count();
        let references = self.references.into_iter();
        if references.len() > objects {
            types.insert(0, b"L");
        }
        let told = Told {
            references,
            ints: self.ints,
            longs: self.longs,
        };
        in_order(types.into_iter(), told).flatten().collect()
    }
}

/// The values of these types, in order. Values that were not recorded are left out.
fn in_order<'t>(
    types: impl Iterator<Item = &'t [u8]>,
    told: Told<
        impl IntoIterator<Item = Option<ObjectId>>,
        impl IntoIterator<Item = i32>,
        impl IntoIterator<Item = i64>,
    >,
) -> impl Iterator<Item = Option<Datum>> {
    let mut references = told.references.into_iter();
    let mut ints = told.ints.into_iter();
    let mut longs = told.longs.into_iter();
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

/// The group of values to which a type belongs.
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
