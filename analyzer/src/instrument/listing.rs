//! Lists what was inserted into a class.
//!
//! Offsets are those of the new code. The rewriting itself says which instructions are new
//! ([`Layout`]); the rest are the old ones in order, so that the old place of each is known.
//!
//! - `operands` writes instructions and constants.

mod operands;

use super::plan::{Left, Probed, Verdict, needs_nothing};
use super::{json, text};
use hindsight_classfile::frames::{Frames, Shape, VerificationType};
use hindsight_classfile::opcode as op;
use hindsight_classfile::{ClassFile, Code, ConstantPool, Error, Member, Operand, access};
use hindsight_instrument::glob::Globs;
use hindsight_instrument::select;
use hindsight_instrument::{Capture, Layout, Method, Part, SkippedMethods};
use operands::{class_name, mnemonic, operand, shortened};
use serde::Serialize;

/// The rules for printing classes.
#[derive(Debug, Default)]
pub struct Listing {
    /// The format.
    pub print: Print,
    /// The classes whose code is shown; all if there are no globs.
    pub classes: Globs,
    /// The methods whose code is shown.
    pub methods: Globs,
}

/// The text that is printed about a class.
#[derive(Debug, Default)]
pub struct Listed {
    /// The text.
    pub bytes: Vec<u8>,
    /// Whether the class is one of those that were asked for.
    pub is_named: bool,
    /// Whether what was asked for is in it.
    pub matches: bool,
}

/// The format in which classes are printed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Print {
    /// Nothing is printed.
    #[default]
    Nothing,
    /// Text for people.
    Text {
        /// Whether all code is printed, not only the new.
        all: bool,
        /// Whether colours are used.
        colour: bool,
    },
    /// JSON for machines.
    Json {
        /// Whether the code is included.
        code: bool,
    },
}

impl Listing {
    /// The text about a class.
    pub fn render(&self, path: &str, old: &[u8], verdict: &Verdict) -> Listed {
        match verdict {
            _ if self.print == Print::Nothing => Listed::default(),
            Verdict::Rewritten(rewritten) => self.rewritten(path, old, rewritten),
            Verdict::Left {
                class: Some(class),
                reason,
                methods,
            } => self.left(path, class, *reason, methods),
            Verdict::Left { class: None, .. } => Listed::default(),
        }
    }

    fn rewritten(&self, path: &str, old: &[u8], rewritten: &Probed) -> Listed {
        let is_named = self.names(&rewritten.class_name.replace('/', "."));
        let methods = match (self.print, is_named) {
            (Print::Json { code: false }, _) | (_, false) => Vec::new(),
            _ => self.code(old, rewritten),
        };
        // A method that was left alone is listed with its class.
        let is_left = || rewritten.skipped.iter().any(|left| self.wants(left.name));
        let matches = is_named && (!methods.is_empty() || !self.methods.is_empty() && is_left());
        let bytes = match self.print {
            Print::Json { .. } => json::class(path, rewritten, &methods),
            Print::Text { all, colour } if matches => {
                text::class(path, rewritten, &methods, all, colour).into_bytes()
            }
            _ => Vec::new(),
        };
        Listed {
            bytes,
            is_named,
            matches,
        }
    }

    /// A class that stays as it is, which is listed if it, or a method of it, was asked for.
    fn left(&self, path: &str, class: &str, reason: Left, methods: &SkippedMethods) -> Listed {
        let is_named = self.names(class);
        let is_looked_into = matches!(reason, Left::NoProbes | Left::NoMethodFits);
        let wanted = || methods.iter().filter(|method| self.wants(method.name));
        let matches = is_named
            && match (self.classes.is_empty(), self.methods.is_empty()) {
                (true, true) => false,
                (false, true) => true,
                (by_method, false) => wanted().next().is_some() || !by_method && !is_looked_into,
            };
        let bytes = match self.print {
            Print::Json { .. } if matches => {
                json::left(path, class, Some(reason), wanted().collect())
            }
            Print::Json { .. } => {
                let left = methods.iter().filter(|m| !needs_nothing(m.reason));
                json::left(path, class, None, left.collect())
            }
            Print::Text { colour, .. } if matches => {
                text::left(path, class, reason, wanted(), colour).into_bytes()
            }
            _ => Vec::new(),
        };
        Listed {
            bytes,
            is_named,
            matches,
        }
    }

    /// The separator between a class and the `before` ones before it.
    pub fn separator(&self, before: u64) -> &'static [u8] {
        match self.print {
            _ if before == 0 => b"",
            Print::Json { .. } => b",\n",
            _ => b"\n",
        }
    }

    fn names(&self, class: &str) -> bool {
        self.classes.is_empty() || select::names(&self.classes, class)
    }

    fn wants(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.matches(method)
    }

    fn code(&self, old: &[u8], rewritten: &Probed) -> Vec<MethodListing> {
        let new = rewritten.class.as_deref().unwrap_or_default();
        // What has been rewritten can be read.
        list(old, new, rewritten, &|name| self.wants(name)).unwrap_or_default()
    }
}

/// A method with new code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MethodListing {
    /// Its number in the probes.
    pub id: u32,
    /// Its name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The bytes of code.
    pub bytes: Change,
    /// The slots of the operand stack.
    pub max_stack: Change,
    /// The slots of local variables.
    pub max_locals: Change,
    /// The local variables that the new code uses besides parameters.
    pub locals: Vec<Local>,
    /// All instructions.
    pub code: Vec<Line>,
    /// The exception table.
    pub exceptions: Vec<Catch>,
    /// The stack map, with all locals of each frame.
    pub frames: Vec<FrameLine>,
    /// The number of frames that are too many to be listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub frames_cut: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A number before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The number before.
    pub old: usize,
    /// The number after.
    pub new: usize,
}

/// A local variable that new code uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Local {
    /// Its slot.
    pub slot: u16,
    /// The descriptor of its type.
    pub descriptor: String,
    /// The content.
    pub holds: String,
    /// Whether the old code uses this slot, too, for something else.
    pub shared: bool,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Its offset.
    pub offset: usize,
    /// Its old offset; `None` if it is new.
    pub old_offset: Option<usize>,
    /// Its purpose, if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<&'static str>,
    /// Its mnemonic, as in `javap`.
    pub mnemonic: String,
    /// Its operands, with constants by name.
    pub operand: String,
}

/// An entry of the exception table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Catch {
    /// The first instruction that it covers.
    pub from: u16,
    /// The end of the range that it covers.
    pub to: u16,
    /// Its handler.
    pub target: u16,
    /// The class that it catches; `None` for all.
    pub class: Option<String>,
    /// Whether it is new.
    pub inserted: bool,
}

/// A frame of the stack map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrameLine {
    /// Its offset.
    pub offset: usize,
    /// Whether it is new.
    pub inserted: bool,
    /// The types of the locals.
    pub locals: Vec<String>,
    /// The types on the stack.
    pub stack: Vec<String>,
}

/// Lists the rewritten methods whose names match.
fn list(
    old: &[u8],
    new: &[u8],
    rewritten: &Probed,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<MethodListing>, Error> {
    let (old, new) = (ClassFile::parse(old)?, ClassFile::parse(new)?);
    let mut listed = Vec::new();
    // Methods keep their order.
    let mut members = old.methods.iter().zip(&new.methods);
    for (method, layout) in rewritten.methods.iter().zip(&rewritten.layouts) {
        let is_it = |member: &Member<'_>| {
            member.name.to_string_lossy() == method.name
                && member.descriptor.to_string_lossy() == method.descriptor
        };
        let Some((before, after)) = members.find(|(before, _)| is_it(before)) else {
            break;
        };
        if !wanted(method.name) {
            continue;
        }
        if let (Some(before), Some(code)) = (before.code(&old.pool)?, after.code(&new.pool)?) {
            listed.push(one(&new, after, &before, &code, &method, layout)?);
        }
    }
    Ok(listed)
}

fn one(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    before: &Code<'_>,
    after: &Code<'_>,
    method: &Method<'_>,
    layout: &Layout,
) -> Result<MethodListing, Error> {
    let pool = &class.pool;
    let (frames, frames_cut) = frames(class, member, before, after, layout)?;
    Ok(MethodListing {
        id: method.id,
        method: method.name.to_owned(),
        descriptor: method.descriptor.to_owned(),
        bytes: change(before.bytecode.len(), after.bytecode.len()),
        max_stack: change(before.max_stack.into(), after.max_stack.into()),
        max_locals: change(before.max_locals.into(), after.max_locals.into()),
        locals: locals(method, after, layout, before.max_locals)?,
        code: code(pool, before, after, layout)?,
        exceptions: after
            .handlers
            .map(|entry| Catch {
                from: entry.start,
                to: entry.end,
                target: entry.handler,
                class: (entry.catch_type != 0).then(|| class_name(pool, entry.catch_type)),
                inserted: is_inserted(layout, entry.handler.into()),
            })
            .collect(),
        frames,
        frames_cut,
    })
}

fn change(old: usize, new: usize) -> Change {
    Change { old, new }
}

/// Whether a frame or handler at an offset is new. Jumps to an old instruction lead to the start of
/// the code that was put before it.
fn is_inserted(layout: &Layout, offset: usize) -> bool {
    layout.inserted.iter().any(|piece| match piece.part {
        Part::Islands | Part::Entry | Part::Handler { .. } => {
            (piece.start..piece.end).contains(&offset)
        }
        _ => (piece.start + 1..piece.end).contains(&offset),
    })
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Islands => "island",
        Part::Entry => "entry",
        Part::Caught { .. } => "caught",
        Part::Write => "write",
        Part::Event => "event",
        Part::Handler { .. } => "handler",
        _ => "probe",
    }
}

fn code(
    pool: &ConstantPool<'_>,
    before: &Code<'_>,
    after: &Code<'_>,
    layout: &Layout,
) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    let mut old = before.instructions();
    let mut pieces = layout.inserted.iter().peekable();
    for insn in after.instructions() {
        let insn = insn?;
        while pieces.next_if(|piece| piece.end <= insn.offset).is_some() {}
        let part = pieces
            .peek()
            .filter(|piece| piece.start <= insn.offset)
            .map(|piece| part_name(piece.part));
        let old_offset = match part {
            Some(_) => None,
            None => old.next().transpose()?.map(|insn| insn.offset),
        };
        lines.push(Line {
            offset: insn.offset,
            old_offset,
            part,
            mnemonic: mnemonic(&insn),
            operand: operand(pool, &insn)?,
        });
    }
    Ok(lines)
}

fn locals(
    method: &Method<'_>,
    after: &Code<'_>,
    layout: &Layout,
    old_max: u16,
) -> Result<Vec<Local>, Error> {
    let mut locals = Vec::new();
    for fresh in &layout.fresh {
        let Some(capture) = method.captures.clone().nth(fresh.capture) else {
            continue;
        };
        let (descriptor, holds) = match capture {
            Capture::Parameter { index, descriptor } => {
                (descriptor, format!("{} at entry", parameter(method, index)))
            }
            Capture::Field {
                parameter: index,
                owner,
                name,
                descriptor,
            } => {
                let owner = owner.replace('/', ".");
                let of = parameter(method, index);
                (descriptor, format!("{owner}.{name} of {of} at entry"))
            }
            Capture::Position => ("J", "where the log of writes was at entry".to_owned()),
        };
        locals.push(Local {
            slot: fresh.slot,
            descriptor: descriptor.to_owned(),
            holds,
            shared: false,
        });
    }
    let kept = locals.len();
    let mut caught = false;
    for piece in &layout.inserted {
        let (exception, whose) = match piece.part {
            Part::Caught { exception } if !caught => {
                caught = true;
                (
                    exception,
                    "the exception, in new code at handlers".to_owned(),
                )
            }
            Part::Handler { exception } => {
                let start = piece.start;
                (
                    exception,
                    format!("the exception, in the handler at {start}"),
                )
            }
            _ => continue,
        };
        locals.push(Local {
            slot: exception,
            descriptor: "Ljava/lang/Throwable;".to_owned(),
            holds: whose,
            shared: exception < old_max,
        });
    }
    // The remaining variables hold the arguments and the result of a call while it runs; they hold
    // an exception at other times.
    let named = locals.len();
    let mut pieces = layout.inserted.iter().peekable();
    for insn in after.instructions() {
        let insn = insn?;
        while pieces.next_if(|piece| piece.end <= insn.offset).is_some() {}
        let piece = pieces.peek().filter(|piece| piece.start <= insn.offset);
        if piece
            .is_none_or(|piece| matches!(piece.part, Part::Caught { .. } | Part::Handler { .. }))
        {
            continue;
        }
        let Operand::Local(slot) = insn.operand()? else {
            continue;
        };
        let descriptor = match insn.effective_opcode() {
            op::ISTORE | op::ISTORE_0..=op::ISTORE_3 => "I",
            op::LSTORE | op::LSTORE_0..=op::LSTORE_3 => "J",
            op::FSTORE | op::FSTORE_0..=op::FSTORE_3 => "F",
            op::DSTORE | op::DSTORE_0..=op::DSTORE_3 => "D",
            op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => "Ljava/lang/Object;",
            _ => continue,
        };
        let (before, since) = (&locals[..kept], &locals[named..]);
        if slot >= old_max
            && before.iter().all(|local| local.slot != slot)
            && since
                .iter()
                .all(|local| (local.slot, local.descriptor.as_str()) != (slot, descriptor))
        {
            locals.push(Local {
                slot,
                descriptor: descriptor.to_owned(),
                holds: "what a call that writes unseen takes or gives".to_owned(),
                shared: false,
            });
        }
    }
    if let Some(unnamed) = locals.get_mut(named..) {
        unnamed.sort_by_key(|local| local.slot);
    }
    Ok(locals)
}

fn parameter(method: &Method<'_>, index: u16) -> String {
    if index == 0 {
        return "this".to_owned();
    }
    let names = &method.parameter_names;
    match names.get(usize::from(index) - 1) {
        Some(name) => format!("parameter {index} ({name})"),
        _ => format!("parameter {index}"),
    }
}

/// The most types that are listed of one method's frames. A class can be made to have billions.
const MAX_TYPES: usize = 1 << 18;

/// The stack map, each frame with all of its locals, and the number of frames that are left out.
fn frames(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    before: &Code<'_>,
    code: &Code<'_>,
    layout: &Layout,
) -> Result<(Vec<FrameLine>, usize), Error> {
    let Some(attribute) = code.attributes.find(&class.pool, "StackMapTable") else {
        return Ok((Vec::new(), 0));
    };
    // Code at the entry may end in a jump to the old code, which needs a frame there.
    let old = before.attributes.find(&class.pool, "StackMapTable");
    let old = old.map(|old| Frames::new(&old).map(|mut frames| frames.next()));
    let had_first = matches!(old, Some(Ok(Some(Ok(first)))) if first.offset == 0);
    let joins = |offset: usize| {
        let mut pieces = layout.inserted.iter();
        !had_first && pieces.any(|piece| piece.part == Part::Entry && piece.end == offset)
    };
    let name = |ty: VerificationType| match ty {
        VerificationType::Top => "top".to_owned(),
        VerificationType::Integer => "int".to_owned(),
        VerificationType::Float => "float".to_owned(),
        VerificationType::Double => "double".to_owned(),
        VerificationType::Long => "long".to_owned(),
        VerificationType::Null => "null".to_owned(),
        VerificationType::UninitializedThis => "uninitializedThis".to_owned(),
        VerificationType::Object(index) => class_name(&class.pool, index),
        VerificationType::Uninitialized(at) => format!("uninitialized {at}"),
    };
    let mut locals = first_locals(class, member)?;
    let mut lines = Vec::new();
    let (mut types, mut cut) = (0, 0);
    for frame in Frames::new(&attribute)? {
        let frame = frame?;
        let mut stack = Vec::new();
        match frame.shape {
            Shape::Same => {}
            Shape::SameStack(ty) => stack.push(name(ty)),
            Shape::Chop(count) => {
                locals.truncate(locals.len().saturating_sub(count.into()));
            }
            Shape::Append(added) => locals.extend(added.iter().map(name)),
            Shape::Full {
                locals: all,
                stack: on_stack,
            } => {
                locals = all.iter().map(name).collect();
                stack = on_stack.iter().map(name).collect();
            }
        }
        types += 1 + locals.len() + stack.len();
        if types > MAX_TYPES {
            cut += 1;
            continue;
        }
        lines.push(FrameLine {
            offset: frame.offset,
            inserted: is_inserted(layout, frame.offset) || joins(frame.offset),
            locals: locals.clone(),
            stack,
        });
    }
    Ok((lines, cut))
}

/// The locals at a method's entry (JVMS 4.10.1.6).
fn first_locals(class: &ClassFile<'_>, member: &Member<'_>) -> Result<Vec<String>, Error> {
    let mut locals = Vec::new();
    if !member.is(access::STATIC) {
        locals.push(if member.name == "<init>" {
            "uninitializedThis".to_owned()
        } else {
            shortened(class.name()?.to_string())
        });
    }
    for ty in member.method_descriptor()?.parameters() {
        locals.push(match (ty.constant_name(), ty.kind()) {
            (Some(name), _) => shortened(name.to_string()),
            (None, b'J') => "long".to_owned(),
            (None, b'F') => "float".to_owned(),
            (None, b'D') => "double".to_owned(),
            _ => "int".to_owned(),
        });
    }
    Ok(locals)
}
