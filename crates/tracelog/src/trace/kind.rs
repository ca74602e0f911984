//! The kinds of events, and the layout of each in memory.

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A method begins. Values: its arguments; `this` of a constructor is not among them.
    Enter,
    /// Further values of the previous event, which had the same id.
    More,
    /// A method that writes to objects unseen has returned. Values: receiver, arguments, result.
    Called,
    /// A method is about to return. Value: the result.
    Exit,
    /// An instance field was written. Values: object, value.
    Put,
    /// A static field was written. Value: the new value.
    PutStatic,
    /// A constructor wrote a field of `this` before calling another constructor. The object is that
    /// of the constructor's [`Kind::Bind`].
    PutEarly,
    /// An array element was written. Values: array, index, value.
    Store,
    /// An instance field was read. Values: object, value.
    Get,
    /// A static field was read. Value: the value read.
    GetStatic,
    /// An array element was read. Values: array, index, value.
    Load,
    /// An exception leaves a method. Value: the exception.
    Unwind,
    /// A constructor's call of another constructor has returned. Value: `this`.
    Bind,
    /// A handler begins. Value: the exception.
    Caught,
    /// An object is seen for the first time. Values: the object; its length if it is an array or a
    /// string, else 0.
    Object,
    /// The text of the previous object, as far as it is stored: a string or the name of a class.
    /// Values: the object; length and hash of the whole. For a secret, nothing else is stored. For
    /// an array that unrecorded code has filled, the text is its present elements. The text's
    /// [`coder`] distinguishes these cases.
    Text,
    /// The clock of all threads moves on. Value: the new stamp.
    Stamp,
    /// The events that follow are those of another thread. Values: its id (`Thread.getId`), the new
    /// stamp; flags: bit 0 if it is virtual, bit 1 if there was a pause in which its calls may have
    /// begun and ended; its name.
    Switch,
    /// A thread ends. Value: its id.
    End,
    /// Events could not be stored. Value: how many.
    Lost,
    /// A method is active where a stream goes on whose earlier blocks are gone; see
    /// [`super::recap`].
    Going,
}

/// What the id of an event names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Names {
    /// The event has no id.
    Nothing,
    /// A method.
    Method,
    /// A field.
    Field,
    /// A method that is called and is not traced itself.
    Callee,
}

/// The kind of value that an event records as its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// No value is recorded.
    Nothing,
    /// An object or null.
    Reference,
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Int,
    /// A `long`.
    Long,
    /// A `float`, as its bits.
    Float,
    /// A `double`, as its bits.
    Double,
}

/// The layout of an event in memory: `tag:u8 [id:u32] references:u64.. ints:u32.. longs:u64..
/// [coder:u8 len:u16 bytes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The event's kind.
    pub kind: Kind,
    /// What its id names.
    pub names: Names,
    /// The number of references.
    pub references: u8,
    /// The number of ints.
    pub ints: u8,
    /// The number of longs.
    pub longs: u8,
    /// The kind of its last value; for events with arguments, [`Value::Nothing`].
    pub value: Value,
    /// Whether text follows.
    pub text: bool,
}

/// The most references, ints and longs of one event.
pub const MOST: (usize, usize, usize) = (5, 4, 2);

const SHAPES: u8 = 6 * 5 * 2;
const VALUES: u8 = 6;
/// The first tag of the events with one value.
const VALUED: u8 = 1 + 3 * SHAPES;
/// The first tag of the events whose only value is an exception or `this`.
const SINGLE: u8 = VALUED + 8 * VALUES;
/// The first tag of the recorder's own events.
const OWN: u8 = SINGLE + 3;

/// Tags of the recorder's own events, and of some others.
pub mod tag {
    use super::{OWN, SINGLE, VALUED, VALUES};

    /// The tag of [`super::Kind::Enter`] with this many references, ints and longs.
    pub(in super::super) const fn shaped(references: u8, ints: u8, longs: u8) -> u8 {
        1 + 10 * references + 2 * ints + longs
    }

    /// The tag of [`super::Kind::Exit`] without a value. Those with a value follow in the order of
    /// the kinds of values; the same holds for the next constants.
    pub(in super::super) const EXIT: u8 = VALUED;
    /// The tag of [`super::Kind::Put`] without a value.
    pub(in super::super) const PUT: u8 = VALUED + VALUES;
    /// The tag of [`super::Kind::Store`] without a value.
    pub(in super::super) const STORE: u8 = VALUED + 4 * VALUES;
    /// The tag of [`super::Kind::Get`] without a value.
    pub(in super::super) const GET: u8 = VALUED + 5 * VALUES;
    /// The tag of [`super::Kind::Load`] without a value.
    pub(in super::super) const LOAD: u8 = VALUED + 7 * VALUES;
    /// The tag of [`super::Kind::Bind`].
    pub(in super::super) const BIND: u8 = SINGLE + 1;

    /// The tag of [`super::Kind::Object`].
    pub const OBJECT: u8 = OWN;
    /// The tag of [`super::Kind::Text`].
    pub const TEXT: u8 = OWN + 1;
    /// The tag of [`super::Kind::Stamp`].
    pub const STAMP: u8 = OWN + 2;
    /// The tag of [`super::Kind::Switch`].
    pub const SWITCH: u8 = OWN + 3;
    /// The tag of [`super::Kind::End`].
    pub const END: u8 = OWN + 4;
    /// The tag of [`super::Kind::Lost`].
    pub const LOST: u8 = OWN + 5;
    /// The limit of the tags in chunks: no event of a chunk has this tag or a larger one.
    pub const LIMIT: u8 = OWN + 6;
    /// The tag of [`super::Kind::Going`], behind the tags that packing adds.
    pub const GOING: u8 = 255;
}

/// What the bytes of a text are.
pub mod coder {
    /// Characters in Latin-1, one byte each.
    pub const LATIN1: u8 = 0;
    /// Characters in UTF-16.
    pub const UTF16: u8 = 1;
    /// No bytes: the text is a secret.
    pub const SECRET: u8 = 2;
    /// Array elements of a primitive type, as they lie in memory.
    pub const PRIMITIVES: u8 = 3;
    /// Array elements that are objects or null.
    pub const REFERENCES: u8 = 4;
}

/// All layouts by tag. There is no tag 0, because memory that was never written is zero.
pub static LAYOUTS: [Option<Layout>; 256] = layouts();

pub(super) const fn layouts() -> [Option<Layout>; 256] {
    let mut all = [None; 256];
    let shaped = [
        (Kind::Enter, Names::Method),
        (Kind::More, Names::Method),
        (Kind::Called, Names::Callee),
    ];
    let mut tag = 1;
    let mut family = 0;
    while family < shaped.len() {
        let mut shape = 0;
        while shape < SHAPES {
            let (kind, names) = shaped[family];
            all[tag] = Some(Layout {
                kind,
                names,
                references: shape / 10,
                ints: shape / 2 % 5,
                longs: shape % 2,
                value: Value::Nothing,
                text: false,
            });
            tag += 1;
            shape += 1;
        }
        family += 1;
    }
    // For each kind: the number of references and of ints before the value.
    let valued = [
        (Kind::Exit, Names::Method, 0, 0),
        (Kind::Put, Names::Field, 1, 0),
        (Kind::PutStatic, Names::Field, 0, 0),
        (Kind::PutEarly, Names::Field, 0, 0),
        (Kind::Store, Names::Nothing, 1, 1),
        (Kind::Get, Names::Field, 1, 0),
        (Kind::GetStatic, Names::Field, 0, 0),
        (Kind::Load, Names::Nothing, 1, 1),
    ];
    let values = [
        (Value::Nothing, 0, 0, 0),
        (Value::Reference, 1, 0, 0),
        (Value::Int, 0, 1, 0),
        (Value::Long, 0, 0, 1),
        (Value::Float, 0, 1, 0),
        (Value::Double, 0, 0, 1),
    ];
    family = 0;
    while family < valued.len() {
        let mut at = 0;
        while at < values.len() {
            let (kind, names, references, ints) = valued[family];
            let (value, more_references, more_ints, longs) = values[at];
            all[tag] = Some(Layout {
                kind,
                names,
                references: references + more_references,
                ints: ints + more_ints,
                longs,
                value,
                text: false,
            });
            tag += 1;
            at += 1;
        }
        family += 1;
    }
    let rest = [
        (Kind::Unwind, Names::Method, 1, 0, 0, false),
        (Kind::Bind, Names::Method, 1, 0, 0, false),
        (Kind::Caught, Names::Method, 1, 0, 0, false),
        (Kind::Object, Names::Nothing, 1, 1, 0, false),
        (Kind::Text, Names::Nothing, 1, 2, 0, true),
        (Kind::Stamp, Names::Nothing, 0, 0, 1, false),
        (Kind::Switch, Names::Nothing, 0, 1, 2, true),
        (Kind::End, Names::Nothing, 0, 0, 1, false),
        (Kind::Lost, Names::Nothing, 0, 0, 1, false),
    ];
    let mut at = 0;
    while at < rest.len() {
        let (kind, names, references, ints, longs, text) = rest[at];
        all[tag] = Some(Layout {
            kind,
            names,
            references,
            ints,
            longs,
            value: Value::Nothing,
            text,
        });
        tag += 1;
        at += 1;
    }
    assert!(tag == self::tag::LIMIT as usize);
    all[self::tag::GOING as usize] = Some(Layout {
        kind: Kind::Going,
        names: Names::Method,
        references: 0,
        ints: 0,
        longs: 0,
        value: Value::Nothing,
        text: false,
    });
    all
}

impl Layout {
    /// The number of bytes of an event, without its text.
    pub const fn size(&self) -> usize {
        let id = if matches!(self.names, Names::Nothing) {
            0
        } else {
            4
        };
        let values = 8 * (self.references as usize + self.longs as usize) + 4 * self.ints as usize;
        1 + id + values + if self.text { 3 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_of_the_specification() {
        let first = |kind| {
            let mut layouts = LAYOUTS.iter().flatten();
            layouts
                .position(|layout| layout.kind == kind)
                .map(|at| at + 1)
        };
        let kinds = [
            (Kind::Enter, 1),
            (Kind::More, 61),
            (Kind::Called, 121),
            (Kind::Exit, 181),
            (Kind::Put, 187),
            (Kind::PutStatic, 193),
            (Kind::PutEarly, 199),
            (Kind::Store, 205),
            (Kind::Get, 211),
            (Kind::GetStatic, 217),
            (Kind::Load, 223),
            (Kind::Unwind, 229),
            (Kind::Bind, 230),
            (Kind::Caught, 231),
            (Kind::Object, 232),
            (Kind::Text, 233),
            (Kind::Stamp, 234),
            (Kind::Switch, 235),
            (Kind::End, 236),
            (Kind::Lost, 237),
        ];
        for (kind, tag) in kinds {
            assert_eq!(first(kind), Some(tag), "{kind:?}");
        }
        assert_eq!(tag::shaped(2, 3, 1) - 1, 10 * 2 + 2 * 3 + 1);
    }

    #[test]
    fn every_tag_has_a_layout() {
        for (tag, layout) in LAYOUTS.iter().enumerate() {
            assert_eq!(
                layout.is_some(),
                (1..usize::from(tag::LIMIT)).contains(&tag) || tag == usize::from(tag::GOING)
            );
        }
        let sizes: Vec<_> = LAYOUTS.iter().flatten().map(Layout::size).collect();
        assert_eq!(sizes.iter().max(), Some(&(5 + 5 * 8 + 4 * 4 + 8)));
        assert_eq!(sizes.iter().min(), Some(&5));
    }
}
