//! The kinds of events, and how each lies in memory.

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A method begins. Values: its arguments; `this` of a constructor is not
    /// among them.
    Enter,
    /// Further values of the event before, which had the same id.
    More,
    /// A method has returned that writes to objects unseen. Values: receiver,
    /// arguments, result.
    Called,
    /// A method is about to return.
    Exit,
    /// An instance field was written: object, value.
    Put,
    /// A static field was written.
    PutStatic,
    /// A constructor wrote a field of `this` before calling another constructor.
    /// The object is that of the constructor's [`Kind::Bind`].
    PutEarly,
    /// An array element was written: array, index, value.
    Store,
    /// An instance field was read: object, value.
    Get,
    /// A static field was read.
    GetStatic,
    /// An array element was read: array, index, value.
    Load,
    /// An exception leaves a method.
    Unwind,
    /// A constructor's call of another constructor has returned: `this`.
    Bind,
    /// A handler begins: the exception.
    Caught,
    /// An object is seen for the first time: the object; its length if it is an
    /// array or a string, else 0.
    Object,
    /// The text of the object before, a string or a class, as far as it is
    /// stored: the object; length and hash of the whole. A secret one has nothing
    /// else. Of an array that unrecorded code has filled, these are its elements as
    /// they are now. Which it is, its [`coder`] says.
    Text,
    /// The clock of all threads moves on: the new stamp.
    Stamp,
    /// The events that follow are of another thread: its id (`Thread.getId`),
    /// the new stamp; bit 0 if it is virtual, bit 1 if there was a pause in which
    /// its calls may have begun and ended; its name.
    Switch,
    /// A thread ends: its id.
    End,
    /// Events that could not be stored: how many.
    Lost,
    /// A method that is running where a stream goes on whose blocks before are
    /// gone; see [`super::recap`].
    Going,
}

/// What an event's id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Names {
    /// It has none.
    Nothing,
    /// A method.
    Method,
    /// A field.
    Field,
    /// A method that is called, and not traced itself.
    Callee,
}

/// The value that an event is about, of those that tell one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// None is told.
    Nothing,
    /// An object or null.
    Reference,
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Int,
    /// A `long`.
    Long,
    /// A `float`, by its bits.
    Float,
    /// A `double`, by its bits.
    Double,
}

/// How an event lies in memory: `tag:u8 [id:u32] references:u64.. ints:u32..
/// longs:u64.. [coder:u8 len:u16 bytes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// What it tells.
    pub kind: Kind,
    /// What its id names.
    pub names: Names,
    /// How many references, ints and longs it has.
    pub references: u8,
    /// See there.
    pub ints: u8,
    /// See there.
    pub longs: u8,
    /// What its last value is; for events with arguments, nothing.
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
/// The first tag of those with an exception or `this`.
const SINGLE: u8 = VALUED + 8 * VALUES;
/// The first tag of the recorder's own.
const OWN: u8 = SINGLE + 3;

/// Tags of the recorder's own events, and of some others.
pub mod tag {
    use super::{OWN, SINGLE, VALUED, VALUES};

    /// [`super::Kind::Enter`] with so many references, ints and longs.
    pub(in super::super) const fn shaped(references: u8, ints: u8, longs: u8) -> u8 {
        1 + 10 * references + 2 * ints + longs
    }

    /// [`super::Kind::Exit`] without a value, or with one of those in their order, as
    /// in the next ones.
    pub(in super::super) const EXIT: u8 = VALUED;
    /// [`super::Kind::Put`]
    pub(in super::super) const PUT: u8 = VALUED + VALUES;
    /// [`super::Kind::Store`]
    pub(in super::super) const STORE: u8 = VALUED + 4 * VALUES;
    /// [`super::Kind::Get`]
    pub(in super::super) const GET: u8 = VALUED + 5 * VALUES;
    /// [`super::Kind::Load`]
    pub(in super::super) const LOAD: u8 = VALUED + 7 * VALUES;
    /// [`super::Kind::Bind`]
    pub(in super::super) const BIND: u8 = SINGLE + 1;

    /// [`super::Kind::Object`]
    pub const OBJECT: u8 = OWN;
    /// [`super::Kind::Text`]
    pub const TEXT: u8 = OWN + 1;
    /// [`super::Kind::Stamp`]
    pub const STAMP: u8 = OWN + 2;
    /// [`super::Kind::Switch`]
    pub const SWITCH: u8 = OWN + 3;
    /// [`super::Kind::End`]
    pub const END: u8 = OWN + 4;
    /// [`super::Kind::Lost`]
    pub const LOST: u8 = OWN + 5;
    /// No event of a chunk has this tag or a larger one.
    pub const LIMIT: u8 = OWN + 6;
    /// [`super::Kind::Going`], behind the tags that packing adds.
    pub const GOING: u8 = 255;
}

/// What the bytes of a text are.
pub mod coder {
    /// Characters, a byte each.
    pub const LATIN1: u8 = 0;
    /// Characters in UTF-16.
    pub const UTF16: u8 = 1;
    /// Nothing: the text is a secret.
    pub const SECRET: u8 = 2;
    /// Elements of a primitive type, as they lie in memory.
    pub const PRIMITIVES: u8 = 3;
    /// Elements that are objects or null.
    pub const REFERENCES: u8 = 4;
}

/// All layouts by tag. Tag 0 is none, for memory that was not written is zero.
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
    // References and ints before the value.
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
    /// The bytes of an event, without its text.
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
