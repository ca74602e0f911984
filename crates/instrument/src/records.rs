//! Records of what was done to the methods of a class, in a compact form.
//!
//! A JVM loads tens of thousands of classes, and all of this is kept for crashes that mostly never
//! come. So it takes a few pieces of memory for a class instead of many for a method, and each text
//! is stored once.

use hindsight_classfile::{Code, Member, Utf8, tables};

use crate::asm::MAX_SPARE_LEN;
use crate::attributes::Kind;
use crate::fields::KeptField;
use crate::parameters::{Parameter, Place};
use crate::throwing::Own;
use crate::{Capture, Method, SkipReason, Skipped};

/// A range of the common text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Text {
    start: u32,
    end: u32,
}

impl Text {
    const NONE: Self = Self {
        start: u32::MAX,
        end: 0,
    };

    fn of(self, text: &str) -> &str {
        // Only `push` makes such ranges, and it makes them within this text.
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }

    /// A part of this range.
    fn part(self, start: usize, end: usize) -> Self {
        // The part lies within the range, so it fits.
        Self {
            start: self.start + start as u32,
            end: self.start + end as u32,
        }
    }

    /// The range without its first and its last byte.
    fn inner(self) -> Self {
        Self {
            start: self.start.saturating_add(1),
            end: self.end.saturating_sub(1),
        }
    }
}

/// The most bytes of text that are kept for one class. What is left out reads as empty. Only a
/// class made for the purpose gets there: by one long name in many methods.
pub const MAX_TEXT: usize = 1 << 26;

/// Appends a text to `text`.
fn push(text: &mut Vec<u8>, piece: &str) -> Text {
    push_bytes(text, piece.as_bytes())
}

/// Like [`push`], for bytes that are UTF-8.
fn push_bytes(text: &mut Vec<u8>, piece: &[u8]) -> Text {
    let start = text.len() as u32;
    if text.len() < MAX_TEXT {
        text.extend_from_slice(piece);
    }
    let end = text.len() as u32;
    Text { start, end }
}

fn push_utf8(text: &mut Vec<u8>, utf8: Utf8<'_>) -> Text {
    match utf8.as_bytes() {
        ascii if ascii.is_ascii() => push_bytes(text, ascii),
        _ => push(text, &utf8.to_string_lossy()),
    }
}

/// What was collected, in memory of its own.
fn kept(text: &[u8]) -> Box<str> {
    match std::str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(text).into(),
    }
}

/// A method with its name and descriptor as text.
pub struct Named<'m, 'a> {
    pub method: &'m Member<'a>,
    pub name: &'m str,
    pub descriptor: &'m str,
}

/// What a method hands over.
pub struct Kept<'b, 'a> {
    pub parameters: &'b [Parameter<'a>],
    pub fields: &'b [KeptField<'a>],
    /// Whether the method hands over the position of the log of writes, and the variable that holds
    /// it if one is needed.
    pub position: Option<Option<u16>>,
    /// The places of the parameters that are handed over, in that order; `None` for all.
    pub handed: Option<&'b [usize]>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    id: u32,
    name: Text,
    descriptor: Text,
    access: u16,
    lines: Option<(u16, u16)>,
    /// Where the captures and names of the next method begin.
    captures_end: u32,
    names_end: u32,
}

#[derive(Debug, Clone, Copy)]
enum CaptureRow {
    Parameter {
        index: u16,
        slot: u16,
        descriptor: Text,
    },
    Field {
        parameter: u16,
        slot: u16,
        owner: Text,
        name: Text,
        descriptor: Text,
    },
    Position {
        slot: u16,
    },
}

impl CaptureRow {
    /// Stands for no slot: code has at most 65,535 of them.
    const NOWHERE: u16 = u16::MAX;

    fn slot(self) -> Option<u16> {
        let (Self::Parameter { slot, .. } | Self::Field { slot, .. } | Self::Position { slot }) =
            self;
        (slot != Self::NOWHERE).then_some(slot)
    }
}

#[derive(Debug, Clone, Copy)]
struct SkippedRow {
    name: Text,
    descriptor: Text,
    reason: SkipReason,
}

/// The instrumented methods of a class, by rising id.
#[derive(Debug, Clone, Default)]
pub struct Methods {
    text: Box<str>,
    rows: Box<[Row]>,
    captures: Box<[CaptureRow]>,
    names: Box<[Text]>,
}

impl Methods {
    /// The number of methods.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no methods.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The method at the index `place`.
    pub fn get(&self, place: usize) -> Option<Method<'_>> {
        let row = self.rows.get(place)?;
        let before = place
            .checked_sub(1)
            .and_then(|before| self.rows.get(before));
        let (captures, names) = before.map_or((0, 0), |row| (row.captures_end, row.names_end));
        Some(Method {
            id: row.id,
            name: row.name.of(&self.text),
            descriptor: row.descriptor.of(&self.text),
            access: row.access,
            lines: row.lines,
            captures: Captures {
                text: &self.text,
                rows: slice(&self.captures, captures, row.captures_end),
            },
            parameter_names: ParameterNames {
                text: &self.text,
                rows: slice(&self.names, names, row.names_end),
            },
        })
    }

    /// All methods.
    pub fn iter(&self) -> impl Iterator<Item = Method<'_>> {
        (0..self.len()).filter_map(|place| self.get(place))
    }
}

fn slice<T>(rows: &[T], start: u32, end: u32) -> &[T] {
    rows.get(start as usize..end as usize).unwrap_or(&[])
}

/// What a method's handler appends, in its order. A copy can be iterated over independently.
#[derive(Debug, Clone, Copy)]
pub struct Captures<'r> {
    text: &'r str,
    rows: &'r [CaptureRow],
}

impl Captures<'_> {
    /// The number of captures that are left.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no captures are left.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<'r> Captures<'r> {
    /// The local variable of the new code in which each capture is kept while the method runs,
    /// valid behind the entry code; `None` for a capture that is not kept.
    pub fn slots(self) -> impl Iterator<Item = Option<u16>> + 'r {
        self.rows.iter().map(|row| row.slot())
    }
}

impl<'r> Iterator for Captures<'r> {
    type Item = Capture<'r>;

    fn next(&mut self) -> Option<Capture<'r>> {
        let (first, rest) = self.rows.split_first()?;
        self.rows = rest;
        let text = self.text;
        Some(match *first {
            CaptureRow::Parameter {
                index, descriptor, ..
            } => Capture::Parameter {
                index,
                descriptor: descriptor.of(text),
            },
            CaptureRow::Field {
                parameter,
                owner,
                name,
                descriptor,
                ..
            } => Capture::Field {
                parameter,
                owner: owner.of(text),
                name: name.of(text),
                descriptor: descriptor.of(text),
            },
            CaptureRow::Position { .. } => Capture::Position,
        })
    }
}

/// The names of a method's parameters, as far as they are known; `this` is not among them. A copy
/// can be iterated over independently.
#[derive(Debug, Clone, Copy)]
pub struct ParameterNames<'r> {
    text: &'r str,
    rows: &'r [Text],
}

impl<'r> ParameterNames<'r> {
    /// The name of a parameter; the first one has index 0.
    pub fn get(&self, place: usize) -> Option<&'r str> {
        self.clone().nth(place).flatten()
    }
}

impl<'r> Iterator for ParameterNames<'r> {
    type Item = Option<&'r str>;

    fn next(&mut self) -> Option<Option<&'r str>> {
        let (first, rest) = self.rows.split_first()?;
        self.rows = rest;
        Some((*first != Text::NONE).then(|| first.of(self.text)))
    }
}

/// The methods of a class that have a body but were left as they were.
#[derive(Debug, Clone, Default)]
pub struct SkippedMethods {
    text: Box<str>,
    rows: Box<[SkippedRow]>,
}

impl SkippedMethods {
    /// The number of methods.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no methods.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All methods, in the order of the class.
    pub fn iter(&self) -> impl Iterator<Item = Skipped<'_>> {
        self.rows.iter().map(|row| Skipped {
            name: row.name.of(&self.text),
            descriptor: row.descriptor.of(&self.text),
            reason: row.reason,
        })
    }
}

/// Collects the records of one class after another.
#[derive(Debug, Default)]
pub struct Recorder {
    /// UTF-8, which is checked only once, at the end.
    text: Vec<u8>,
    rows: Vec<Row>,
    captures: Vec<CaptureRow>,
    names: Vec<Text>,
    /// The type of `this`.
    this: Option<Text>,
    /// Fields whose texts are stored already: the constant, the name, the descriptor.
    fields: Vec<(u16, Text, Text)>,
    /// The captures of all parameters, for a method that does not hand over all of them.
    all: Vec<CaptureRow>,
    skipped: SkippedList,
    reduced: SkippedList,
}

/// Methods for which less was done than asked for, while they are being collected.
#[derive(Debug, Default)]
struct SkippedList {
    /// UTF-8, which is checked only once, at the end.
    text: Vec<u8>,
    rows: Vec<SkippedRow>,
}

impl SkippedList {
    fn add(&mut self, method: &Named<'_, '_>, reason: SkipReason) {
        let row = SkippedRow {
            name: push(&mut self.text, method.name),
            descriptor: push(&mut self.text, method.descriptor),
            reason,
        };
        self.rows.push(row);
    }

    fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(MAX_SPARE_LEN);
        self.rows.clear();
    }

    fn records(&self) -> SkippedMethods {
        SkippedMethods {
            text: kept(&self.text),
            rows: self.rows.as_slice().into(),
        }
    }
}

/// The most fields whose stored texts are searched.
const MAX_FIELDS: usize = 64;

impl Recorder {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(MAX_SPARE_LEN);
        // No class can make these lists many megabytes long.
        self.rows.clear();
        self.captures.clear();
        self.names.clear();
        self.this = None;
        self.fields.clear();
        self.skipped.clear();
        self.reduced.clear();
    }

    /// The number of methods that were instrumented.
    pub fn methods(&self) -> usize {
        self.rows.len()
    }

    /// The records of the class.
    pub fn records(&self) -> (Methods, SkippedMethods) {
        (
            Methods {
                text: kept(&self.text),
                rows: self.rows.as_slice().into(),
                captures: self.captures.as_slice().into(),
                names: self.names.as_slice().into(),
            },
            self.skipped.records(),
        )
    }

    /// The methods recorded by [`Self::reduce`].
    pub fn reduced(&self) -> SkippedMethods {
        self.reduced.records()
    }

    /// Records that a method was left alone.
    pub fn skip(&mut self, method: &Named<'_, '_>, reason: SkipReason) {
        self.skipped.add(method, reason);
    }

    /// Records that a method with a new body does less than was asked for.
    pub fn reduce(&mut self, method: &Named<'_, '_>, reason: SkipReason) {
        self.reduced.add(method, reason);
    }

    /// Records a method with a new body.
    pub fn method<'a>(
        &mut self,
        own: &Own<'_, 'a>,
        named: &Named<'_, 'a>,
        code: &Code<'a>,
        id: u32,
        kept: &Kept<'_, '_>,
    ) {
        let method = named.method;
        let name = push(&mut self.text, named.name);
        let descriptor = push(&mut self.text, named.descriptor);
        self.captures(own.name, method, descriptor, kept);
        let lines = self.names(own, method, code, kept);
        self.rows.push(Row {
            id,
            name,
            descriptor,
            access: method.access,
            lines,
            // A capture takes a slot, which has 16 bits, in one of at most 65,535 methods.
            captures_end: self.captures.len() as u32,
            names_end: self.names.len() as u32,
        });
    }

    fn this(&mut self, name: Utf8<'_>) -> Text {
        if let Some(this) = self.this {
            return this;
        }
        let start = self.text.len() as u32;
        self.text.push(b'L');
        push_utf8(&mut self.text, name);
        self.text.push(b';');
        let end = self.text.len() as u32;
        *self.this.insert(Text { start, end })
    }

    fn captures(
        &mut self,
        this: Utf8<'_>,
        method: &Member<'_>,
        descriptor: Text,
        body: &Kept<'_, '_>,
    ) {
        let range = descriptor.start as usize..descriptor.end as usize;
        let as_it_was = self.text.get(range) == Some(method.descriptor.as_bytes());
        let first = self.captures.len();
        // Starts behind the opening parenthesis of the descriptor.
        let mut at = 1;
        for parameter in body.parameters {
            let text = match parameter.ty {
                None => self.this(this),
                Some(ty) => {
                    let len = ty.descriptor().as_bytes().len();
                    at += len;
                    if as_it_was {
                        descriptor.part(at - len, at)
                    } else {
                        push_utf8(&mut self.text, ty.descriptor())
                    }
                }
            };
            let slot = match parameter.place {
                Place::Own => parameter.slot,
                Place::Copy(slot) => slot,
                Place::Lost => CaptureRow::NOWHERE,
            };
            self.captures.push(CaptureRow::Parameter {
                index: parameter.index,
                slot,
                descriptor: text,
            });
        }
        if let Some(handed) = body.handed {
            self.all.clear();
            self.all.extend(self.captures.drain(first..));
            let handed = handed.iter().filter_map(|&at| self.all.get(at));
            self.captures.extend(handed);
            return;
        }
        for kept in body.fields {
            let (Some(parameter), Some(&CaptureRow::Parameter { descriptor, .. })) = (
                body.parameters.get(kept.parameter),
                self.captures.get(first + kept.parameter),
            ) else {
                continue;
            };
            let known = self
                .fields
                .iter()
                .find(|(index, _, _)| *index == kept.index);
            let (_, name, ty) = known.copied().unwrap_or_else(|| {
                let field = (
                    kept.index,
                    push_utf8(&mut self.text, kept.field.name),
                    push_utf8(&mut self.text, kept.field.descriptor),
                );
                if self.fields.len() < MAX_FIELDS {
                    self.fields.push(field);
                }
                field
            });
            self.captures.push(CaptureRow::Field {
                parameter: parameter.index,
                slot: kept.slot,
                // Fields are picked by their owner, which is the parameter's class.
                owner: descriptor.inner(),
                name,
                descriptor: ty,
            });
        }
        if let Some(slot) = body.position {
            let slot = slot.unwrap_or(CaptureRow::NOWHERE);
            self.captures.push(CaptureRow::Position { slot });
        }
    }

    /// Records the names of the parameters, as far as debug tables have them, and returns the range
    /// of lines. Tables that make no sense are ignored.
    fn names<'a>(
        &mut self,
        own: &Own<'_, 'a>,
        method: &Member<'a>,
        code: &Code<'a>,
        body: &Kept<'_, '_>,
    ) -> Option<(u16, u16)> {
        let text = &mut self.text;
        let mut name = |index: u16| match own.class.pool.utf8(index) {
            Ok(name) if index != 0 => push_utf8(text, name),
            _ => Text::NONE,
        };
        let first = self.names.len();
        let parameters = || body.parameters.iter().filter(|p| p.index != 0);
        self.names.extend(parameters().map(|_| Text::NONE));
        let names = self.names.get_mut(first..).unwrap_or_default();
        let mut lines: Option<(u16, u16)> = None;

        for attribute in code.attributes.iter() {
            match own.kind(&attribute) {
                Ok(Kind::LineNumberTable) => {
                    let Ok(entries) = tables::line_numbers(&attribute) else {
                        continue;
                    };
                    if entries.len() == 0 {
                        continue;
                    }
                    let (min, max) = lines.unwrap_or((u16::MAX, 0));
                    lines = Some(entries.fold((min, max), |(min, max), entry| {
                        (min.min(entry.line), max.max(entry.line))
                    }));
                }
                Ok(Kind::LocalVariableTable) => {
                    let Ok(variables) = tables::local_variables(&attribute) else {
                        continue;
                    };
                    for (place, parameter) in names.iter_mut().zip(parameters()) {
                        // Code of other agents may stand before the offset from which on the
                        // variable has a name.
                        let of_it = variables.clone().filter(|of| of.slot == parameter.slot);
                        if let Some(first) = of_it.min_by_key(|of| of.start) {
                            *place = name(first.name_index);
                        }
                    }
                }
                _ => {}
            }
        }
        // `MethodParameters` is there only if the compiler was asked for it, so its names are
        // better.
        if let Some(attribute) = own.find(&method.attributes, Kind::MethodParameters)
            && let Ok(entries) = tables::method_parameters(&attribute)
            && entries.len() == names.len()
        {
            for (place, entry) in names.iter_mut().zip(entries) {
                let better = name(entry.name_index);
                if better != Text::NONE {
                    *place = better;
                }
            }
        }
        lines
    }
}
