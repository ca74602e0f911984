//! The values that a call is passed: written in place, or in variables.

use super::{INLINE, Writer};
use crate::classinfo::{ClassInfo, Nesting};
use crate::graph::Typed;
use crate::java::descriptor;
use crate::java::lines::{INDENT, filled};
use crate::junit::build::render::Place;
use crate::junit::value::Expression;
use hindsight_tracelog::crash::{Frame, Value};

/// A value that the body is to pass.
pub(super) struct Slot {
    /// Its number; 0 is the receiver.
    pub(super) index: u16,
    /// The name of a variable for it.
    pub(super) name: String,
    /// The expression that loads it.
    pub(super) load: String,
    /// Its declared descriptor.
    pub(super) descriptor: String,
    pub(super) value: Typed,
    pub(super) inline: Option<Expression>,
}

impl Writer<'_, '_> {
    pub(super) fn receiver(&mut self, frame: &Frame, own: &str) -> Option<Slot> {
        let receiver = frame
            .arguments
            .iter()
            .find(|argument| argument.index == 0)?;
        let value = Typed::new(receiver.value, own);
        let inline = self.inline(0, value);
        Some(Slot {
            index: 0,
            name: self.slot_name(0),
            load: "frame.receiver()".to_owned(),
            descriptor: own.to_owned(),
            value,
            inline,
        })
    }

    pub(super) fn slot_name(&self, index: u16) -> String {
        let slot = self.slots.iter().find(|(number, _)| *number == index);
        slot.map_or_else(|| format!("arg{index}"), |(_, name)| name.clone())
    }

    pub(super) fn parameters(&mut self, frame: &Frame) -> Option<Vec<Slot>> {
        let (parameters, _) = descriptor::split(&frame.descriptor)?;
        let mut slots = Vec::new();
        for (position, parameter) in parameters.into_iter().enumerate() {
            let index = position + 1;
            let argument = frame
                .arguments
                .iter()
                .find(|argument| usize::from(argument.index) == index)?;
            let value = Typed::new(argument.value, parameter);
            slots.push(Slot {
                index: argument.index,
                name: self.slot_name(argument.index),
                load: format!("frame.argument({index})"),
                descriptor: parameter.to_owned(),
                value,
                inline: None,
            });
        }
        // Types come first: a variable must not hide one that is named later.
        if self.direct {
            for slot in &slots {
                self.values.type_name(&slot.descriptor, self.names)?;
            }
        }
        for (index, slot) in (1..).zip(&mut slots) {
            slot.inline = self.inline(index, slot.value);
        }
        Some(slots)
    }

    /// The value as an expression, unless it is to be loaded.
    pub(super) fn inline(&mut self, index: u16, value: Typed) -> Option<Expression> {
        let is_plain = self.values.plain(value, self.names).is_some();
        let loaded = match value.value {
            Value::Ref(object) if is_plain => self.boxes.contains(&object),
            _ => !is_plain && !self.built.contains(&index),
        };
        if loaded {
            return None;
        }
        let name = self.slot_name(index);
        let expected = self.values.parameter(index);
        let place = Place {
            role: &name,
            depth: 0,
            expected: expected.as_ref(),
        };
        let before = (self.maker.written.clone(), self.names.clone());
        let Some(expression) = self.maker.expression(value, &place, self.names) else {
            // It is loaded, and what was begun for it would be left over.
            (self.maker.written, *self.names) = before;
            return None;
        };
        match is_plain {
            true => self.literals += 1,
            false => self.checked.push((index, expression.code.clone())),
        }
        Some(expression)
    }

    pub(super) fn arguments(&mut self, slots: Vec<Slot>) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        for slot in slots {
            arguments.push(match &slot.inline {
                Some(inline)
                    if inline.code.len() <= INLINE
                        && !inline.redacted
                        && self.held != Some(slot.index) =>
                {
                    inline.code.clone()
                }
                _ => self.variable(slot)?,
            });
        }
        Some(arguments)
    }

    /// Declares a variable for a value and returns its name.
    pub(super) fn variable(&mut self, slot: Slot) -> Option<String> {
        let is_lock = self.held == Some(slot.index);
        let name = self.declared(slot)?;
        if is_lock {
            self.lock = Some(name.clone());
        }
        Some(name)
    }

    pub(super) fn declared(&mut self, slot: Slot) -> Option<String> {
        if let Some(inline) = &slot.inline
            && self.maker.is_variable(&inline.code)
        {
            return Some(inline.code.clone());
        }
        let mut name = slot.name.clone();
        while self.taken.contains(&name)
            || self.names.is_used(&name)
            || self.maker.is_variable(&name)
        {
            name.push('_');
        }
        self.taken.push(name.clone());
        let of = if self.direct {
            let expected = self.values.parameter(slot.index);
            let of = &slot.descriptor;
            let (of, raw) = self
                .values
                .variable_type(of, expected.as_ref(), true, self.names)?;
            self.raw_types |= raw;
            of
        } else {
            self.names.java_lang("Object")
        };
        match slot.inline {
            Some(inline) => {
                let remark = if inline.redacted { " // redacted" } else { "" };
                let code = &inline.code;
                self.body
                    .push_str(&filled(&format!("{of} {name} = {code};{remark}")));
            }
            None => {
                let shown = if slot.load.ends_with("receiver()") {
                    "this"
                } else {
                    &slot.name
                };
                let comment = self.values.comment(shown, slot.value, INDENT);
                self.loaded += 1;
                let load = filled(&format!("{of} {name} = {};", slot.load));
                self.loads.push_str(&format!("{comment}{load}"));
            }
        }
        Some(name)
    }
}

/// The simple name of an inner (non-static member) class whose outer instance was recorded as its
/// constructor's first parameter.
pub(super) fn inner_class(info: &ClassInfo, slots: &[Slot]) -> Option<String> {
    let Nesting::Member { outer, simple } = &info.nesting else {
        return None;
    };
    let first = slots.first()?;
    let inner = info.is_inner()
        && first.descriptor == descriptor::of_class(outer)
        && first.value.value != Value::Null;
    inner.then(|| simple.clone())
}
