//! The recorded calls, and the selection of those of static methods.

use crate::generate::sequence::Method;
use crate::model::values::Literal;
use std::rc::Rc;

/// The most calls of one method without an object that are kept.
const MAX_STATIC: usize = 12;
/// The most of them that end alike, the second as a substitute for the first.
const MAX_ALIKE: usize = 2;
/// The most of them if it is not known whether they end alike: the text of an object or a message
/// may say more.
const MAX_UNTOLD: usize = 8;

/// A value that took part in a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A value that can be written as a literal.
    Literal(Literal),
    /// An object.
    Object(u64),
    /// An array: the descriptor of its elements, and the elements as they were.
    Array(u64, String, Vec<Value>),
    /// A value that a test cannot make.
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
    /// Whether all is known about it that a test can show.
    fn is_told(&self) -> bool {
        match self {
            End::Returned(Some(value)) => value.is_told(),
            // It is not known what else it has done, or what message there is.
            End::Returned(None) | End::Threw(_) => false,
        }
    }

    /// The kind of end.
    pub fn kind(&self) -> Kind<'_> {
        match self {
            End::Returned(None) => Kind::Nothing,
            End::Returned(Some(value)) => Kind::of(value),
            End::Threw(class) => Kind::Threw(class),
        }
    }

    /// Whether it equals another one, as far as is known.
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
            // These are two objects, about which nothing else is known.
            _ => true,
        }
    }
}

/// The kind of end of a call: what programs most often distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind<'a> {
    /// It returned nothing.
    Nothing,
    /// It returned `null`.
    Null,
    /// It returned `true` or `false`.
    Bool(bool),
    /// It returned a number with this sign, or zero.
    Number(i8),
    /// It returned this constant of an enum.
    Constant(&'a str),
    /// It returned a text or array, which is empty or not.
    Filled(bool),
    /// It returned another value.
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

/// A recorded call.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The called method.
    pub method: Method,
    pub(super) on: Option<u64>,
    /// The constant of an enum on which it is called, if it is; then it is on none of the objects.
    pub(super) constant: Option<Rc<Method>>,
    pub(super) args: Vec<Value>,
    /// The calls of static methods that have left what it finds in static fields.
    pub(super) before: Vec<Rc<Seen>>,
    /// The object that it made: by constructing it, or by being the first to return it.
    pub(super) made: Option<u64>,
    /// Its end.
    pub end: End,
    pub(super) thread: u64,
    /// The number of calls around it.
    pub(super) depth: usize,
    pub(super) entered: u64,
    pub(super) left: u64,
}

#[cfg(test)]
impl Seen {
    /// A call of a static method without parameters with this end.
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

/// The calls of a static method, or of one on the constants of an enum.
#[derive(Default)]
pub(super) struct Static {
    pub(super) kept: Vec<Rc<Seen>>,
    /// The number of others with other arguments.
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

    /// The calls, beginning with those that end as none before them.
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

    /// The arguments of the calls that are kept, beginning with those that end differently, and the
    /// number of those left out.
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
        // For exceptions of one class and for objects, the messages and contents may differ.
        let threw = || End::Threw("B".to_owned());
        assert_eq!(kept((0..9).map(|_| threw())).1, 1);
        let object = |number| End::Returned(Some(Value::Object(number)));
        assert_eq!(kept((0..9).map(object)).1, 1);
        assert_eq!(
            kept([threw(), threw(), returned(1), object(7)]),
            (vec![0, 2, 3, 1], 0)
        );
        // The same call twice counts once.
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
