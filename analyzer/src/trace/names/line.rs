//! Steps as lines of text.

use super::{MAX_INDENT, Names, parameter_name, quoted, type_of};
use crate::text::{self, name, one_line, simple_name};
use crate::trace::steps::{Gap, Step, What};
use std::fmt::Write;

impl Names<'_> {
    /// A step as a line of text, without a line end.
    pub fn line(&self, step: &Step, depth: usize) -> String {
        let mut line = String::new();
        let thread = match self.threads.get(step.thread) {
            _ if self.was_before(step) => "-".to_owned(),
            Some(thread) if !thread.name.is_empty() => one_line(&thread.name, 20),
            _ => match self.dictionary.threads.get(&step.thread) {
                Some(name) => one_line(name, 20),
                None => format!("#{}", step.thread),
            },
        };
        let _ = write!(line, "{thread:<12} ");
        for _ in 0..depth.min(MAX_INDENT) {
            line.push_str("| ");
        }
        match &step.what {
            What::Thread { paused, .. } => {
                let kind = if step.is_virtual { "virtual " } else { "" };
                let pause = if *paused { ", after a pause" } else { "" };
                let _ = write!(line, "{kind}thread {}{pause}", step.thread);
            }
            What::Class { class } => {
                let class = self.dictionary.traced.get(*class);
                let class = class.map_or("?", |class| simple_name(&class.name));
                let verb = match self.was_before(step) {
                    true => "was there before",
                    false => "is defined",
                };
                let _ = write!(line, "class {} {verb}", name(class));
            }
            What::End => line.push_str("ends"),
            What::Enter { method, arguments } => {
                let _ = write!(line, "{}(", self.method(*method));
                let entry = self.dictionary.method(*method).map(|(_, method)| method);
                for (at, argument) in arguments.iter().enumerate() {
                    let parameter = entry.and_then(|entry| parameter_name(entry, argument.index));
                    let ty = entry.map_or("", |entry| type_of(entry, argument.index));
                    let separator = if at == 0 { "" } else { ", " };
                    let parameter =
                        parameter.map_or_else(|| format!("arg{}", argument.index), name);
                    let _ = write!(
                        line,
                        "{separator}{parameter} = {}",
                        self.datum(argument.value, ty)
                    );
                }
                line.push(')');
            }
            What::Exit { method, value } => {
                let _ = write!(line, "{} returns", self.method(*method));
                if let Some(value) = value {
                    let entry = self.dictionary.method(*method);
                    let ty = entry.and_then(|(_, method)| method.descriptor.rsplit(')').next());
                    let _ = write!(line, " {}", self.datum(*value, ty.unwrap_or("")));
                }
            }
            What::Unwind { method, exception } => {
                let (method, exception) = (self.method(*method), self.object(*exception));
                let _ = write!(line, "{method} throws {exception}");
            }
            What::Caught { method, exception } => {
                let (method, exception) = (self.method(*method), self.object(*exception));
                let _ = write!(line, "{method} catches {exception}");
            }
            What::Bind { method, this } => {
                let method = self.method(*method);
                // If only calls are recorded, objects have no numbers.
                let _ = match this {
                    None if self.is_anonymous => write!(line, "{method} binds its object"),
                    this => write!(line, "{method} binds {}", self.object(*this)),
                };
            }
            What::Write { place, value } => {
                let (place, ty) = self.place(place);
                line.push_str(&place);
                match value {
                    Some(value) => {
                        let _ = write!(line, " = {}", self.datum(*value, &ty));
                    }
                    None => line.push_str(" is written"),
                }
            }
            What::Read { place, value } => {
                let (place, ty) = self.place(place);
                let _ = write!(line, "{place} is read");
                if let Some(value) = value {
                    let _ = write!(line, ": {}", self.datum(*value, &ty));
                }
            }
            What::Called { callee, values } => {
                let _ = write!(line, "after {}: ", self.callee(*callee));
                let types = self.types_of_values(*callee, values.len());
                let values = values.iter().zip(types);
                let values: Vec<_> = values.map(|(value, ty)| self.datum(*value, ty)).collect();
                line.push_str(&values.join(", "));
            }
            What::New {
                object,
                length,
                hash,
                text,
                units,
                elements,
                secret,
                again,
            } => {
                let word = if *again { "again" } else { "new" };
                let _ = write!(line, "{word} {}#{}", self.class(*object), object.serial());
                if *secret {
                    line.push_str(" (redacted)");
                }
                match quoted(text.as_deref(), units.as_deref(), *length) {
                    Some(text) => {
                        let _ = write!(line, " {text}");
                        if let Some(hash) = hash {
                            let _ = write!(line, ", hash code {hash}");
                        }
                    }
                    None if *length > 0 || !secret && self.is_array(*object) => {
                        let _ = write!(line, " of length {length}");
                    }
                    None => {}
                }
                if let Some(elements) = elements {
                    let ty = self.element_type(Some(*object));
                    let elements = elements.iter().map(|element| self.datum(*element, &ty));
                    let elements: Vec<_> = elements.collect();
                    let _ = write!(line, ": {}", elements.join(", "));
                }
            }
            What::Going { method } => {
                let _ = write!(line, "{} is running", self.method(*method));
            }
            What::Lost(Gap::Blocks) => line.push_str("events are missing here"),
            What::Lost(Gap::Elsewhere) => {
                line.push_str(
                    "events may be missing here, of those that another thread tells were lost",
                );
            }
            What::Lost(Gap::Told(count)) => {
                let events = usize::try_from(*count).unwrap_or(usize::MAX);
                let were = if *count == 1 { "was" } else { "were" };
                let _ = write!(line, "{} {were} lost here", text::count(events, "event"));
            }
        }
        line
    }
}
