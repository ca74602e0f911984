//! The calls that were seen, and which of a static method are kept.

use crate::generate::sequence::Method;
use crate::model::values::Literal;
use std::rc::Rc;

/// Calls of one method without an object that are kept,
const MAX_STATIC: usize = 12;
/// of them those that end alike, one to stand in for the other,
const MAX_ALIKE: usize = 2;
/// or where that is not known: of what an object or a message says, more may be told.
const MAX_UNTOLD: usize = 8;

/// A value that took part in a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// It can be written down.
    Literal(Literal),
    /// An object.
    Object(u64),
    /// An array: the descriptor of its elements, and these as they were.
    Array(u64, String, Vec<Value>),
    /// Nothing that a test can make.
    Unknown,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It returned a value, or nothing.
    Returned(Option<Value>),
    /// It threw an object of this class.
    Threw(String),
}

impl End {
    /// Whether all is known of it that a test can tell.
    fn is_told(&self) -> bool {
        match self {
            End::Returned(Some(value)) => value.is_told(),
            // Nothing says what else it has done, or which message there is.
            End::Returned(None) | End::Threw(_) => false,
        }
    }

    /// In which way.
    pub fn kind(&self) -> Kind<'_> {
        match self {
            End::Returned(None) => Kind::Nothing,
            End::Returned(Some(value)) => Kind::of(value),
            End::Threw(class) => Kind::Threw(class),
        }
    }

    /// Whether it is like another one, as far as is known.
    pub fn is_like(&self, other: &End) -> bool {
        match (self, other) {
            (End::Threw(one), End::Threw(other)) => one == other,
            (End::Returned(Some(one)), End::Returned(Some(other))) => one.is_like(other),
            (End::Returned(one), End::Returned(other)) => one == other,
            _ => false,
        }
    }
}

impl Value {
    fn is_told(&self) -> bool {
        match self {
            Value::Literal(_) => true,
            Value::Array(_, _, elements) => elements.iter().all(Value::is_told),
            Value::Object(_) | Value::Unknown => false,
        }
    }

    fn is_like(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Literal(one), Value::Literal(other)) => one == other,
            (Value::Array(_, _, one), Value::Array(_, _, other)) => {
                let mut pairs = one.iter().zip(other);
                one.len() == other.len() && pairs.all(|(one, other)| one.is_like(other))
            }
            (Value::Literal(_) | Value::Array(..), _)
            | (_, Value::Literal(_) | Value::Array(..)) => false,
            // Two objects, of which nothing else is known.
            _ => true,
        }
    }
}

/// In which way a call has ended: what a program tells apart most often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind<'a> {
    /// It returned nothing.
    Nothing,
    /// It returned `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number with this sign, or none.
    Number(i8),
    /// This constant of an enum.
    Constant(&'a str),
    /// A text or array, with something in it or not.
    Filled(bool),
    /// Another value.
    Other,
    /// It threw an object of this class.
    Threw(&'a str),
}

impl<'a> Kind<'a> {
    fn of(value: &'a Value) -> Kind<'a> {
        let literal = match value {
            Value::Literal(literal) => literal,
            Value::Array(_, _, elements) => return Kind::Filled(!elements.is_empty()),
            Value::Object(_) | Value::Unknown => return Kind::Other,
        };
        let sign = |number: f64| Kind::Number(i8::from(number > 0.0) - i8::from(number < 0.0));
        match literal {
            Literal::Null => Kind::Null,
            Literal::Bool(is) => Kind::Bool(*is),
            Literal::Int(number) => Kind::Number(number.signum() as i8),
            Literal::Float(bits) => sign(f32::from_bits(*bits).into()),
            Literal::Double(bits) => sign(f64::from_bits(*bits)),
            Literal::Text(text) => Kind::Filled(!text.is_empty()),
            Literal::Units(units) => Kind::Filled(!units.is_empty()),
            Literal::Enum(_, name) => Kind::Constant(name),
            Literal::Box(_, text) => match (text.parse(), text.parse()) {
                (Ok(is), _) => Kind::Bool(is),
                (_, Ok(number)) => sign(number),
                _ => Kind::Other,
            },
            Literal::Class(_) | Literal::JdkValue(..) => Kind::Other,
        }
    }
}

/// A call that was seen.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What is called.
    pub method: Method,
    pub(super) on: Option<u64>,
    /// The constant of an enum that it is called on, if it is; none of the objects is.
    pub(super) constant: Option<Rc<Method>>,
    pub(super) args: Vec<Value>,
    /// Calls of static methods that have left what it finds in static fields.
    pub(super) before: Vec<Rc<Seen>>,
    /// The object that it made: by constructing it, or by being the first to return it.
    pub(super) made: Option<u64>,
    /// How it ended.
    pub end: End,
    pub(super) thread: u64,
    /// In how many others it ran.
    pub(super) depth: usize,
    pub(super) entered: u64,
    pub(super) left: u64,
}

#[cfg(test)]
impl Seen {
    /// A call of a static method without parameters that has ended so.
    pub fn of_end(end: End) -> Seen {
        Seen {
            method: Method {
                class: "A".to_owned(),
                name: "m".to_owned(),
                descriptor: "()Ljava/lang/Object;".to_owned(),
                is_static: true,
                runs: None,
            },
            on: None,
            constant: None,
            args: Vec::new(),
            before: Vec::new(),
            made: None,
            end,
            thread: 1,
            depth: 1,
            entered: 1,
            left: 2,
        }
    }
}

/// Calls of a static method, or of one on the constants of an enum.
#[derive(Default)]
pub(super) struct Static {
    pub(super) kept: Vec<Rc<Seen>>,
    /// How many others there were that were passed something else.
    pub(super) left_out: usize,
}

impl Static {
    pub(super) fn take(&mut self, seen: &Rc<Seen>) {
        let same = |known: &Rc<Seen>| known.args == seen.args && known.constant == seen.constant;
        if self.kept.iter().any(same) {
            return;
        }
        let most = match seen.end.is_told() {
            true => MAX_ALIKE,
            false => MAX_UNTOLD,
        };
        let alike = self
            .kept
            .iter()
            .filter(|known| known.end.is_like(&seen.end));
        if self.kept.len() < MAX_STATIC && alike.count() < most {
            self.kept.push(seen.clone());
        } else {
            self.left_out += 1;
        }
    }

    /// The calls, first those that end as none before them.
    pub(super) fn by_end(&self) -> Vec<&Rc<Seen>> {
        let calls = self.kept.iter().enumerate();
        let mut calls: Vec<(usize, &Rc<Seen>)> = calls
            .map(|(at, seen)| {
                let before = self.kept[..at].iter();
                let alike = before.filter(|known| known.end.is_like(&seen.end));
                (alike.count(), seen)
            })
            .collect();
        calls.sort_by_key(|(alike, _)| *alike);
        calls.into_iter().map(|(_, seen)| seen).collect()
    }
}

/// Calls `each` for the objects in a value.
pub(super) fn objects(value: &Value, each: &mut impl FnMut(u64)) {
    match value {
        Value::Object(serial) => each(*serial),
        Value::Array(_, _, elements) => elements.iter().for_each(|one| objects(one, each)),
        Value::Literal(_) | Value::Unknown => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: i64, end: End) -> Rc<Seen> {
        Rc::new(Seen {
            args: vec![Value::Literal(Literal::Int(number))],
            ..Seen::of_end(end)
        })
    }

    fn returned(number: i64) -> End {
        End::Returned(Some(Value::Literal(Literal::Int(number))))
    }

    /// What is passed in those that are kept, those that end otherwise first, and how many are left out.
    fn kept(ends: impl IntoIterator<Item = End>) -> (Vec<i64>, usize) {
        let mut all = Static::default();
        for (number, end) in (0..).zip(ends) {
            all.take(&call(number, end));
        }
        let passed = all.by_end().into_iter().map(|seen| match seen.args[..] {
            [Value::Literal(Literal::Int(number))] => number,
            _ => panic!("{seen:?}"),
        });
        (passed.collect(), all.left_out)
    }

    #[test]
    fn calls_that_end_otherwise_are_kept() {
        let grades = [1, 1, 1, 2, 3, 1].map(returned);
        assert_eq!(kept(grades), (vec![0, 3, 4, 1], 2));
        let different = (0..30).map(returned);
        assert_eq!(kept(different).1, 18);
        // Of exceptions of one class and of objects, the messages and contents may differ.
        let threw = || End::Threw("B".to_owned());
        assert_eq!(kept((0..9).map(|_| threw())).1, 1);
        let object = |number| End::Returned(Some(Value::Object(number)));
        assert_eq!(kept((0..9).map(object)).1, 1);
        assert_eq!(
            kept([threw(), threw(), returned(1), object(7)]),
            (vec![0, 2, 3, 1], 0)
        );
        // One of the same is no other one.
        let mut twice = Static::default();
        twice.take(&call(1, returned(1)));
        twice.take(&call(1, returned(1)));
        assert_eq!((twice.kept.len(), twice.left_out), (1, 0));
        let array = |serial, number| {
            let elements = vec![Value::Literal(Literal::Int(number))];
            End::Returned(Some(Value::Array(serial, "I".to_owned(), elements)))
        };
        assert!(array(1, 5).is_like(&array(2, 5)) && !array(1, 5).is_like(&array(1, 6)));
    }
}
