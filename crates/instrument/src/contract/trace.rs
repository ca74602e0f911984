//! What the code inserted for traces calls: the class `java/lang/HindsightTrace`.
//!
//! Every call is one whole event; nothing is open between two calls, so a call that fails cannot
//! put the events after it out of step. All methods are static and return nothing. References are
//! passed as `Object`; `boolean`, `byte`, `char` and `short` as `int`. The id comes last.
//!
//! # What the class must keep to
//!
//! - A probe does not throw. It catches what it causes, and does not run code of the program. No
//!   guard surrounds the probes of calls, returns, writes and reads: where the stack overflows in
//!   one, the program sees a `StackOverflowError` at that place, as it could have without.
//!   [`Probe::Unwind`] and [`Probe::Caught`] are guarded, so that the program's exception keeps its
//!   way.
//! - A probe that throws all the same has recorded nothing.
//!
//! # The active calls
//!
//! [`Probe::Enter`] begins a call. [`Probe::Exit`] and [`Probe::Unwind`] end it; [`Probe::Caught`]
//! says that it goes on. Each of these three names its method; all calls deeper than the innermost
//! call of that method have ended, too. Such deeper calls are constructors whose call of another
//! constructor threw, which no handler may cover, and calls in which a probe found the stack
//! exhausted. A constructor exits and catches only after it has been bound ([`Probe::Bind`]), which
//! distinguishes it from an unfinished call of the same constructor within it.

use super::ProbeMethod;

/// The class of the probes. It is defined in `java.base`, so that every class
/// loader and every module sees it.
pub const TRACE: &str = "java/lang/HindsightTrace";

/// `hide(object, method)`: what an object holds is a secret. It comes before the event of the
/// method that records the object, and is not an event itself.
pub const HIDE: ProbeMethod = ProbeMethod {
    name: "hide",
    descriptor: "(Ljava/lang/Object;I)V",
};

/// `made(array)`: an array was made together with the arrays in it, whose elements no code of the
/// program writes. The method records each of them by [`Probe::Store`].
pub const MADE: ProbeMethod = ProbeMethod {
    name: "made",
    descriptor: "(Ljava/lang/Object;)V",
};

/// `named(handle, owner, name)`: a variable handle or a field updater was made, from a class and a
/// name, or from the object that reflects the field, which is then passed as both. Writes by the
/// handle are recorded as calls ([`Probe::Called`]), which do not say which field is written.
pub const NAMED: ProbeMethod = ProbeMethod {
    name: "named",
    descriptor: "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V",
};

/// `cover(block)`: a basic block runs. This is not an event.
pub const COVER: ProbeMethod = ProbeMethod {
    name: "cover",
    descriptor: "(I)V",
};

/// `static int overflows`: how many calls of [`Probe::Unwind`] and [`Probe::Caught`] have found the
/// stack exhausted. Inserted code counts them, since counting needs no stack.
pub const OVERFLOWS: (&str, &str) = ("overflows", "I");

/// The kinds of values that events distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An object or null.
    Reference,
    /// A `boolean`, `byte`, `char`, `short` or `int`.
    Int,
    /// A `long`.
    Long,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
}

/// The kind of a value; `None` for `void`, and where the value was not asked for.
pub type Value = Option<Kind>;

/// How many values of each kind an event takes. They come in the order of the fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// The number of references.
    pub references: usize,
    /// The number of values of type `int` and smaller, including the raw bits of `float`.
    pub ints: usize,
    /// The number of values of type `long`, including the raw bits of `double`.
    pub longs: usize,
}

/// The most values that one event takes, which suffices for 97 % of all methods of the JDK. Further
/// values come in events of their own, [`Probe::More`], again references first.
pub const MOST: Shape = Shape {
    references: 5,
    ints: 4,
    longs: 1,
};

/// An event, which is a method of [`TRACE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// `enter(values.., method)`: a method begins. In constructors, `this` is
    /// not among the values.
    Enter(Shape),
    /// `more(values.., id)`: further values of the event before, which had the
    /// same id.
    More(Shape),
    /// `exit([value,] method)`: a method is about to return.
    Exit(Value),
    /// `unwind(exception, method)`: an exception leaves a method. In a constructor that is not
    /// bound, `this` never becomes known.
    Unwind,
    /// `bind(this, method)`: a constructor's call of another constructor has returned. The argument
    /// is null if `this` is not at hand.
    Bind,
    /// `caught(exception, method)`: a handler begins.
    Caught,
    /// `put(object, [value,] field)`: an instance field was written.
    Put(Value),
    /// `putStatic([value,] field)`: a static field was written.
    PutStatic(Value),
    /// `putEarly([value,] field)`: a constructor wrote a field of its own class to `this` before
    /// calling another constructor. The object is that of the constructor's [`Probe::Bind`], which
    /// is then recorded even if calls are not.
    PutEarly(Value),
    /// `store(array, index, [value])`: an array element was written.
    Store(Value),
    /// `get(object, [value,] field)`: an instance field was read.
    Get(Value),
    /// `getStatic([value,] field)`: a static field was read.
    GetStatic(Value),
    /// `load(array, index, [value])`: an array element was read.
    Load(Value),
    /// `called(values.., callee)`: a method that writes to objects unseen has returned. The values
    /// are the receiver, the arguments and the result. Writes of a call that ends in an exception
    /// (`System.arraycopy` before an element of the wrong type) are not recorded. After a `clone`
    /// of a superclass other than `Object`, the copy may have been recorded already, and may have
    /// changed since.
    Called(Shape),
}

macro_rules! by_longs {
    ($($values:literal)*) => {
        [
            concat!("(", $($values,)* "I)V"),
            concat!("(", $($values,)* "JI)V"),
        ]
    };
}

macro_rules! by_ints {
    ($($values:literal)*) => {
        [
            by_longs!($($values)*),
            by_longs!($($values)* "I"),
            by_longs!($($values)* "II"),
            by_longs!($($values)* "III"),
            by_longs!($($values)* "IIII"),
        ]
    };
}

#[rustfmt::skip]
const SHAPES: [[[&str; MOST.longs + 1]; MOST.ints + 1]; MOST.references + 1] = [
    by_ints!(),
    by_ints!("Ljava/lang/Object;"),
    by_ints!("Ljava/lang/Object;" "Ljava/lang/Object;"),
    by_ints!("Ljava/lang/Object;" "Ljava/lang/Object;" "Ljava/lang/Object;"),
    by_ints!("Ljava/lang/Object;" "Ljava/lang/Object;" "Ljava/lang/Object;" "Ljava/lang/Object;"),
    by_ints!("Ljava/lang/Object;" "Ljava/lang/Object;" "Ljava/lang/Object;" "Ljava/lang/Object;"
        "Ljava/lang/Object;"),
];

/// The variants of a probe in the order of [`value_index`].
macro_rules! values {
    ($before:literal, $after:literal) => {
        [
            concat!("(", $before, $after, ")V"),
            concat!("(", $before, "Ljava/lang/Object;", $after, ")V"),
            concat!("(", $before, "I", $after, ")V"),
            concat!("(", $before, "J", $after, ")V"),
            concat!("(", $before, "F", $after, ")V"),
            concat!("(", $before, "D", $after, ")V"),
        ]
    };
}

/// All kinds of optional values.
const VALUES: [Value; 6] = [
    None,
    Some(Kind::Reference),
    Some(Kind::Int),
    Some(Kind::Long),
    Some(Kind::Float),
    Some(Kind::Double),
];

const ALONE: [&str; VALUES.len()] = values!("", "I");
const OF_OBJECT: [&str; VALUES.len()] = values!("Ljava/lang/Object;", "I");
const OF_ELEMENT: [&str; VALUES.len()] = values!("Ljava/lang/Object;I", "");

const fn value_index(value: Value) -> usize {
    match value {
        None => 0,
        Some(kind) => 1 + kind as usize,
    }
}

const SHAPE_COUNT: usize = (MOST.references + 1) * (MOST.ints + 1) * (MOST.longs + 1);

impl Shape {
    fn index(self) -> usize {
        (self.references * (MOST.ints + 1) + self.ints) * (MOST.longs + 1) + self.longs
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..SHAPE_COUNT).map(|index| Self {
            references: index / (MOST.longs + 1) / (MOST.ints + 1),
            ints: index / (MOST.longs + 1) % (MOST.ints + 1),
            longs: index % (MOST.longs + 1),
        })
    }
}

impl Probe {
    /// The number of probes.
    pub const COUNT: usize = 3 * SHAPE_COUNT + 8 * VALUES.len() + 3;

    /// All probes.
    pub fn all() -> impl Iterator<Item = Self> {
        let shapes = [Self::Enter, Self::More, Self::Called];
        let values = [
            Self::Exit,
            Self::Put,
            Self::PutStatic,
            Self::PutEarly,
            Self::Store,
            Self::Get,
            Self::GetStatic,
            Self::Load,
        ];
        shapes
            .into_iter()
            .flat_map(|of| Shape::all().map(of))
            .chain(values.into_iter().flat_map(|of| VALUES.map(of)))
            .chain([Self::Unwind, Self::Bind, Self::Caught])
    }

    /// The probe's number, below [`Probe::COUNT`] and unique to it.
    pub fn index(self) -> usize {
        let value =
            |family: usize, value| 3 * SHAPE_COUNT + family * VALUES.len() + value_index(value);
        match self {
            Self::Enter(shape) => shape.index(),
            Self::More(shape) => SHAPE_COUNT + shape.index(),
            Self::Called(shape) => 2 * SHAPE_COUNT + shape.index(),
            Self::Exit(of) => value(0, of),
            Self::Put(of) => value(1, of),
            Self::PutStatic(of) => value(2, of),
            Self::PutEarly(of) => value(3, of),
            Self::Store(of) => value(4, of),
            Self::Get(of) => value(5, of),
            Self::GetStatic(of) => value(6, of),
            Self::Load(of) => value(7, of),
            Self::Unwind => value(8, None),
            Self::Bind => value(8, None) + 1,
            Self::Caught => value(8, None) + 2,
        }
    }

    /// The probe's name and descriptor.
    ///
    /// # Panics
    ///
    /// Panics if a shape exceeds [`MOST`].
    pub fn method(self) -> ProbeMethod {
        let shaped = |shape: Shape| SHAPES[shape.references][shape.ints][shape.longs];
        let (name, descriptor) = match self {
            Self::Enter(shape) => ("enter", shaped(shape)),
            Self::More(shape) => ("more", shaped(shape)),
            Self::Called(shape) => ("called", shaped(shape)),
            Self::Exit(of) => ("exit", ALONE[value_index(of)]),
            Self::Put(of) => ("put", OF_OBJECT[value_index(of)]),
            Self::PutStatic(of) => ("putStatic", ALONE[value_index(of)]),
            Self::PutEarly(of) => ("putEarly", ALONE[value_index(of)]),
            Self::Store(of) => ("store", OF_ELEMENT[value_index(of)]),
            Self::Get(of) => ("get", OF_OBJECT[value_index(of)]),
            Self::GetStatic(of) => ("getStatic", ALONE[value_index(of)]),
            Self::Load(of) => ("load", OF_ELEMENT[value_index(of)]),
            Self::Unwind => ("unwind", "(Ljava/lang/Throwable;I)V"),
            Self::Bind => ("bind", "(Ljava/lang/Object;I)V"),
            Self::Caught => ("caught", "(Ljava/lang/Throwable;I)V"),
        };
        ProbeMethod { name, descriptor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_probe_has_a_number_of_its_own() {
        let mut seen = vec![None; Probe::COUNT];
        for probe in Probe::all() {
            let ProbeMethod { name, descriptor } = probe.method();
            assert_eq!(
                seen[probe.index()].replace((name, descriptor)),
                None,
                "{probe:?}"
            );
        }
        assert!(seen.iter().all(Option::is_some));
        seen.sort();
        assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
