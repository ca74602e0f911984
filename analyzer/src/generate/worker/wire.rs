//! Encodes and decodes the messages on the pipes to and from the worker, as its `Worker.java`
//! describes them.

use super::{Class, ClassNumber, Ended, Executed, Outcome, Said, Stuck, Thrower};
use crate::generate::lambda::Given;
use crate::generate::sequence::{Arg, MethodId, Methods, Sequence};
use crate::java::{descriptor, jdk_value};
use crate::model::literal::character;
use crate::model::values::Literal;
use std::io::{self, BufReader, Read, Write};
use std::time::Duration;

/// A message of the worker.
pub(super) enum Message {
    Class(u32, Class),
    Declared(u32, Result<u32, String>),
    Ran(u32, Executed, bool),
    TimedOut(u32, Option<Stuck>),
    End,
}

/// What is reported about a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The outcomes of its calls.
    Outcomes,
    /// The outcomes, and the states of its objects at the end.
    States,
    /// The outcomes of its calls, with the initial static state.
    Fresh,
    /// The outcomes with static state as others have left it, whatever the worker does otherwise.
    Left,
}

/// Sequences to execute.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) sequences: &'a [Sequence],
    /// For each of them, calls after which it counts for nothing if they throw; or nothing for all of them.
    pub(super) unwanted: &'a [Vec<usize>],
}

impl<'a> Batch<'a> {
    pub(super) fn of(sequences: &'a [Sequence]) -> Batch<'a> {
        let unwanted = &[];
        Batch {
            sequences,
            unwanted,
        }
    }

    /// What comes at and behind a place.
    pub(super) fn from(self, first: usize) -> Batch<'a> {
        Batch {
            sequences: self.sequences.get(first..).unwrap_or(&[]),
            unwanted: self.unwanted.get(first..).unwrap_or(&[]),
        }
    }

    /// So many that come first.
    pub(super) fn first(self, count: usize) -> Batch<'a> {
        Batch {
            sequences: &self.sequences[..count.min(self.sequences.len())],
            unwanted: &self.unwanted[..count.min(self.unwanted.len())],
        }
    }
}

/// Sends the methods that come after the first `declared`, and a batch whose first
/// sequence has the number `first`; each is stopped if it takes longer than `quick`.
pub(super) fn send(
    out: &mut impl Write,
    declared: usize,
    methods: &Methods,
    batch: Batch<'_>,
    first: usize,
    what: Told,
    quick: Option<Duration>,
) -> io::Result<()> {
    declare(out, declared, methods)?;
    for (at, sequence) in batch.sequences.iter().enumerate() {
        let unwanted = batch.unwanted.get(at).map_or(&[][..], Vec::as_slice);
        out.write_all(match what {
            Told::States => b"S",
            Told::Outcomes => b"X",
            Told::Fresh => b"F",
            Told::Left => b"L",
        })?;
        number(out, (first + at) as u32)?;
        number(out, quick.map_or(0, |quick| quick.as_millis() as u32))?;
        number(out, sequence.len() as u32)?;
        for (call, statement) in sequence.iter().enumerate() {
            let MethodId(method) = statement.method;
            number(out, method)?;
            let is_unwanted = unwanted.contains(&call);
            out.write_all(&[u8::from(statement.may_throw)
                | u8::from(statement.shown) << 1
                | u8::from(is_unwanted) << 2])?;
            number(out, statement.on.map_or(u32::MAX, |on| on as u32))?;
            out.write_all(&[statement.args.len() as u8])?;
            let (types, _) = methods.get(statement.method).types();
            for (arg, ty) in statement.args.iter().zip(&types) {
                argument(out, arg, ty)?;
            }
        }
    }
    out.write_all(b"E")?;
    out.flush()
}

/// Sends the methods that come after the first `declared`.
pub(super) fn declare(out: &mut impl Write, declared: usize, methods: &Methods) -> io::Result<()> {
    for (id, method) in methods.all().iter().enumerate().skip(declared) {
        out.write_all(b"M")?;
        number(out, id as u32)?;
        for name in [&method.class, &method.name, &method.descriptor] {
            text(out, name)?;
        }
    }
    Ok(())
}

fn number(out: &mut impl Write, value: u32) -> io::Result<()> {
    out.write_all(&value.to_be_bytes())
}

fn text(out: &mut impl Write, value: &str) -> io::Result<()> {
    units(out, &value.encode_utf16().collect::<Vec<u16>>())
}

fn units(out: &mut impl Write, units: &[u16]) -> io::Result<()> {
    number(out, units.len() as u32)?;
    units
        .iter()
        .try_for_each(|unit| out.write_all(&unit.to_be_bytes()))
}

fn bits(out: &mut impl Write, kind: u8, bits: i64) -> io::Result<()> {
    out.write_all(&[kind])?;
    out.write_all(&bits.to_be_bytes())
}

fn argument(out: &mut impl Write, arg: &Arg, ty: &str) -> io::Result<()> {
    match arg {
        Arg::Var(var) => {
            out.write_all(b"v")?;
            number(out, *var as u32)
        }
        Arg::Array(element, elements) => {
            out.write_all(b"a")?;
            text(out, &class_get_name(element))?;
            number(out, elements.len() as u32)?;
            elements
                .iter()
                .try_for_each(|one| argument(out, one, element))
        }
        Arg::Lambda(lambda) => {
            out.write_all(b"l")?;
            for name in [&lambda.interface, &lambda.method, &lambda.descriptor] {
                text(out, name)?;
            }
            let (_, result) = lambda.types();
            match &lambda.gives {
                Given::Parameter(at) => {
                    out.write_all(b"p")?;
                    number(out, *at as u32)
                }
                Given::Value(value) => argument(out, value, result),
                Given::Nothing => out.write_all(b"n"),
                Given::Throws(thrown) => {
                    out.write_all(b"t")?;
                    text(out, &thrown.class)?;
                    match &thrown.message {
                        Some(message) => argument(
                            out,
                            &Arg::Literal(Literal::Text(message.clone())),
                            "Ljava/lang/String;",
                        ),
                        None => out.write_all(b"n"),
                    }
                }
                Given::Calls(method) => {
                    out.write_all(b"r")?;
                    for name in [&method.class, &method.name, &method.descriptor] {
                        text(out, name)?;
                    }
                    Ok(())
                }
            }
        }
        Arg::Literal(literal) => match literal {
            Literal::Null => out.write_all(b"n"),
            Literal::Bool(value) => bits(out, b'Z', i64::from(*value)),
            Literal::Int(value) => bits(out, ty.bytes().next().unwrap_or(b'I'), *value),
            Literal::Float(value) => bits(out, b'F', i64::from(*value as i32)),
            Literal::Double(value) => bits(out, b'D', *value as i64),
            Literal::Text(value) => {
                out.write_all(b"s")?;
                text(out, value)
            }
            Literal::Units(value) => {
                out.write_all(b"s")?;
                units(out, value)
            }
            Literal::Enum(class, name) => {
                out.write_all(b"e")?;
                text(out, class)?;
                text(out, name)
            }
            Literal::Class(name) => {
                out.write_all(b"c")?;
                text(out, name)
            }
            Literal::JdkValue(class, value) => {
                let method = jdk_value::way(class).and_then(|way| way.method);
                out.write_all(b"k")?;
                text(out, class)?;
                text(out, method.unwrap_or_default())?;
                text(out, value)
            }
            Literal::Box(class, value) => {
                let (kind, value) = unboxed(class, value).unwrap_or((b'I', 0));
                bits(out, kind, value)
            }
        },
    }
}

/// The kind and bits of the content of a box.
pub fn unboxed(class: &str, value: &str) -> Option<(u8, i64)> {
    Some(match class {
        "java.lang.Boolean" => (b'Z', i64::from(value == "true")),
        "java.lang.Character" => (b'C', i64::from(unit(value)?)),
        "java.lang.Byte" => (b'B', value.parse().ok()?),
        "java.lang.Short" => (b'S', value.parse().ok()?),
        "java.lang.Integer" => (b'I', value.parse().ok()?),
        "java.lang.Long" => (b'J', value.parse().ok()?),
        "java.lang.Float" => (b'F', i64::from(value.parse::<f32>().ok()?.to_bits() as i32)),
        "java.lang.Double" => (b'D', value.parse::<f64>().ok()?.to_bits() as i64),
        _ => return None,
    })
}

fn unit(text: &str) -> Option<u16> {
    match text.strip_prefix("\\u") {
        Some(hex) => u16::from_str_radix(hex, 16).ok(),
        None => text.encode_utf16().next(),
    }
}

/// The content of a box; other literals are returned unchanged.
pub fn primitive(literal: Literal) -> Literal {
    let Literal::Box(class, text) = &literal else {
        return literal;
    };
    match unboxed(class, text) {
        Some((b'Z', bits)) => Literal::Bool(bits != 0),
        Some((b'F', bits)) => Literal::Float(bits as u32),
        Some((b'D', bits)) => Literal::Double(bits as u64),
        Some((_, bits)) => Literal::Int(bits),
        None => literal,
    }
}

/// The name of a type as in `Class.getName`.
pub fn class_get_name(ty: &str) -> String {
    match ty.bytes().next() {
        Some(b'[') => ty.replace('/', "."),
        _ => descriptor::type_name(ty),
    }
}

/// The worker's output.
pub(super) struct Reader<R>(pub(super) BufReader<R>);

impl<R: Read> Reader<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut one = [0];
        self.0.read_exact(&mut one)?;
        Ok(one[0])
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut four = [0; 4];
        self.0.read_exact(&mut four)?;
        Ok(u32::from_be_bytes(four))
    }

    fn long(&mut self) -> io::Result<i64> {
        let mut eight = [0; 8];
        self.0.read_exact(&mut eight)?;
        Ok(i64::from_be_bytes(eight))
    }

    fn units(&mut self) -> io::Result<Vec<u16>> {
        let count = self.number()?;
        let mut units = Vec::new();
        for _ in 0..count {
            let mut two = [0; 2];
            self.0.read_exact(&mut two)?;
            units.push(u16::from_be_bytes(two));
        }
        Ok(units)
    }

    /// A text; `None` if it has lone surrogates, which our texts never have.
    fn text(&mut self) -> io::Result<Option<String>> {
        Ok(String::from_utf16(&self.units()?).ok())
    }

    fn name(&mut self) -> io::Result<String> {
        Ok(self.text()?.unwrap_or_default())
    }

    /// A text, constant or class; a number is returned as a box.
    fn literal(&mut self) -> io::Result<Literal> {
        let boxed = |class: &str, text: String| Literal::Box(format!("java.lang.{class}"), text);
        Ok(match self.byte()? {
            b's' => {
                let units = self.units()?;
                match String::from_utf16(&units) {
                    Ok(text) => Literal::Text(text),
                    Err(_) => Literal::Units(units),
                }
            }
            b'e' => Literal::Enum(self.name()?, self.name()?),
            b'c' => Literal::Class(self.name()?),
            b'Z' => boxed("Boolean", (self.long()? != 0).to_string()),
            b'F' => boxed("Float", f32::from_bits(self.long()? as u32).to_string()),
            b'D' => boxed("Double", f64::from_bits(self.long()? as u64).to_string()),
            b'C' => character(self.long()? as u16),
            b'B' => boxed("Byte", self.long()?.to_string()),
            b'S' => boxed("Short", self.long()?.to_string()),
            b'I' => boxed("Integer", self.long()?.to_string()),
            b'J' => boxed("Long", self.long()?.to_string()),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }

    fn outcome(&mut self) -> io::Result<Outcome> {
        Ok(match self.byte()? {
            0 => Outcome::Void,
            1 => Outcome::Null,
            2 => Outcome::Literal(self.literal()?),
            3 => {
                let class = ClassNumber(self.number()?);
                let alias = self.number()?;
                let alias = (alias != u32::MAX).then_some(alias as usize);
                let kind = self.byte()?;
                let text = self.text()?;
                let said = match kind {
                    0 => None,
                    2 => text.map(Said::Elements),
                    3 => text.map(Said::Size),
                    _ => text.map(Said::Text),
                };
                Outcome::Object(class, alias, said)
            }
            4 => {
                let class = ClassNumber(self.number()?);
                self.byte()?;
                let mut elements = Vec::new();
                for _ in 0..self.number()? {
                    elements.push(match self.byte()? {
                        0 => Literal::Null,
                        _ => primitive(self.literal()?),
                    });
                }
                Outcome::Array(class, elements)
            }
            5 => {
                let class = ClassNumber(self.number()?);
                let told = self.byte()? != 0;
                let message = self.text()?.filter(|_| told);
                let by = match self.byte()? {
                    0 => Thrower::Platform,
                    1 => Thrower::Guard,
                    _ => Thrower::Program,
                };
                Outcome::Threw(class, message, by)
            }
            6 => Outcome::Failed(self.name()?),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }

    /// The place that a sequence which takes too long has reached, if it is in a call.
    fn stuck(&mut self) -> io::Result<Option<Stuck>> {
        let (at, is_shown) = (self.number()?, self.byte()? != 0);
        let at = usize::try_from(at).ok().filter(|_| at != u32::MAX);
        Ok(at.map(|at| Stuck { at, is_shown }))
    }

    pub(super) fn message(&mut self) -> io::Result<Message> {
        Ok(match self.byte()? {
            b'C' => {
                let number = self.number()?;
                let name = self.name()?;
                let flags = self.byte()?;
                let mut supers = Vec::new();
                for _ in 0..self.number()? {
                    supers.push(self.name()?);
                }
                let accessible = flags & 1 != 0;
                Message::Class(
                    number,
                    Class {
                        name,
                        accessible,
                        supers,
                    },
                )
            }
            b'D' => {
                let id = self.number()?;
                match self.number()? {
                    u32::MAX => Message::Declared(id, Err(self.name()?)),
                    class => Message::Declared(id, Ok(class)),
                }
            }
            b'R' => {
                let id = self.number()?;
                let flags = self.byte()?;
                let stuck = match flags & 16 {
                    0 => None,
                    _ => self.stuck()?,
                };
                let took = Duration::from_millis(self.number()?.into());
                let lasted = Duration::from_millis(self.number()?.into());
                let mut outcomes = Vec::new();
                for _ in 0..self.number()? {
                    outcomes.push(self.outcome()?);
                }
                let mut states = Vec::new();
                for _ in 0..self.number()? {
                    let var = self.number()? as usize;
                    let class = ClassNumber(self.number()?);
                    states.push((var, class, self.long()? as u64));
                }
                let mut blocks = Vec::new();
                for _ in 0..self.number()? {
                    blocks.push(self.number()?);
                }
                let ended = match flags & (2 | 16) {
                    0 => Ended::Well,
                    2 => Ended::Memory,
                    _ => Ended::TimedOut,
                };
                Message::Ran(
                    id,
                    Executed {
                        outcomes,
                        states,
                        blocks,
                        blocked: flags & 1 != 0,
                        ended,
                        stuck,
                        threads: flags & 8 != 0,
                        hashed: flags & 32 != 0,
                        took,
                        lasted,
                    },
                    flags & 4 != 0,
                )
            }
            b'T' => Message::TimedOut(self.number()?, self.stuck()?),
            b'E' => Message::End,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome that these bytes of a worker mean.
    fn said(bytes: &[u8]) -> Outcome {
        Reader(BufReader::new(bytes)).outcome().unwrap()
    }

    #[test]
    fn surrogates_that_stand_alone_are_told() {
        let half = [2, b'C', 0, 0, 0, 0, 0, 0, 0xd8, 0x3d];
        let Outcome::Literal(told) = said(&half) else {
            panic!("a char is one");
        };
        assert_eq!(primitive(told.clone()), Literal::Int(0xd83d));
        let mut sent = Vec::new();
        argument(&mut sent, &Arg::Literal(told), "Ljava/lang/Character;").unwrap();
        assert_eq!(sent, half[1..]);
        // A backslash is not an escape.
        assert_eq!(primitive(character(0x5c)), Literal::Int(0x5c));
        assert_eq!(primitive(character(0xe9)), Literal::Int(0xe9));

        let text = [2, b's', 0, 0, 0, 2, 0, b'a', 0xde, 0];
        let units = Literal::Units(vec![0x61, 0xde00]);
        assert_eq!(said(&text), Outcome::Literal(units.clone()));
        let mut sent = Vec::new();
        argument(&mut sent, &Arg::Literal(units), "Ljava/lang/String;").unwrap();
        assert_eq!(sent, text[1..]);
        let pair = [2, b's', 0, 0, 0, 2, 0xd8, 0x3d, 0xde, 0];
        let whole = Literal::Text("\u{1f600}".to_owned());
        assert_eq!(said(&pair), Outcome::Literal(whole));
    }
}
