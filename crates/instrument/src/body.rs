//! A method's new body, and writing it.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{Attribute, Attributes, Code, Handler as TableEntry};

use crate::asm::{Constants, Fragment, Guard};
use crate::attributes::Kind;
use crate::code_map::CodeMap;
use crate::frames::{Walker, entry_locals};
use crate::insertions::Insertions;
use crate::parameters::Parameter;
use crate::relocate::Relocated;
use crate::stackmap::FrameWriter;
use crate::tables;
use crate::throwing::Own;
use crate::{Inserted, Part, SkipReason};

/// A part of the body that has a handler of its own, in old offsets.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub start: usize,
    pub end: usize,
    pub uninitialized_this: bool,
}

/// What is inserted into a method and where; its memory is used again for the next method.
#[derive(Debug, Default)]
pub struct Pieces {
    pub entry: Fragment,
    pub probes: Insertions,
    pub handlers: Handlers,
    pub relocated: Relocated,
}

impl Pieces {
    /// Forgets all pieces.
    pub fn clear(&mut self) {
        self.entry.clear();
        self.probes.clear();
        self.handlers.used = 0;
    }

    /// Releases memory that only an unusually large method needs.
    pub fn trim(&mut self) {
        self.entry.trim();
        self.probes.trim();
        for (_, handler) in &mut self.handlers.list {
            handler.trim();
        }
    }
}

/// Handlers behind a body, by new offset.
#[derive(Debug, Default)]
pub struct Handlers {
    /// The handlers; there may be more in the list than are in use.
    list: Vec<(usize, Fragment)>,
    used: usize,
}

impl Handlers {
    /// Adds a handler that begins at `start` and has no code yet.
    pub fn add(&mut self, start: usize) -> &mut Fragment {
        if self.list.len() == self.used {
            self.list.push(Default::default());
        }
        let (at, handler) = &mut self.list[self.used];
        self.used += 1;
        *at = start;
        handler.clear();
        handler
    }

    fn iter(&self) -> impl Iterator<Item = &(usize, Fragment)> {
        self.list.iter().take(self.used)
    }
}

/// The parts of a new body.
pub struct Body<'f> {
    pub framed: bool,
    pub max_stack: u16,
    pub max_locals: u16,
    pub entry: &'f Fragment,
    /// Probes within the old body.
    pub fragments: &'f Insertions,
    /// The handlers; one for each region.
    pub handlers: &'f mut Handlers,
    pub relocated: &'f mut Relocated,
    pub fresh: &'f [VerificationType],
    /// Where the first and the last frame of the old body are. Needed if the entry code has frames,
    /// and if nothing moves.
    pub old_frames: Option<(usize, usize)>,
}

impl Body<'_> {
    /// The pieces of inserted code up to the end of the old body. Pieces that do not stand at one
    /// of the handlers `catching` are listed as `probe`.
    pub fn inserted(&self, catching: &[usize], exception: u16, probe: Part) -> Vec<Inserted> {
        let islands = &self.relocated.islands;
        let piece = |start, len, part| {
            (len > 0).then_some(Inserted {
                start,
                end: start + len,
                part,
            })
        };
        let before = islands.front_len();
        let front = piece(0, before, Part::Islands);
        let entry = piece(before, self.entry.code.len(), Part::Entry);
        let back = piece(
            self.relocated.map.body_end(),
            islands.back_len(),
            Part::Islands,
        );
        let placed = self.fragments.iter().zip(&self.relocated.placed);
        let probes = placed.map(|(piece, &start)| Inserted {
            start,
            end: start + piece.code.len(),
            part: if !piece.after && catching.binary_search(&piece.old).is_ok() {
                Part::Caught { exception }
            } else {
                probe
            },
        });
        let before = front.into_iter().chain(entry);
        before.chain(probes).chain(back).collect()
    }

    /// Writes the content of a `Code` attribute.
    #[expect(clippy::too_many_arguments, reason = "the old body and the new one")]
    pub fn write<'a, 'r>(
        &self,
        own: &Own<'_, 'a>,
        code: &Code<'a>,
        stack_map: Option<Attribute<'_>>,
        regions: impl Iterator<Item = &'r Region>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        constants: &mut Constants<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let new_stack_map = if self.framed {
            self.stack_map(code, stack_map, parameters, constructor, constants)?
        } else {
            None
        };
        let of_pieces = self.entry.max_stack.max(self.fragments.max_stack());
        let handlers = self.handlers.iter().map(|(_, handler)| handler.max_stack);
        let max_stack = handlers.fold(self.max_stack.max(of_pieces), u16::max);
        let new_code = &self.relocated.code;
        out.reserve(new_code.len() + 64);
        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&self.max_locals.to_be_bytes());
        // The length is at most MAX_CODE.
        out.extend((new_code.len() as u32).to_be_bytes());
        out.extend_from_slice(new_code);
        self.write_exception_table(code, regions, out)?;
        self.write_attributes(own, code, new_stack_map, constants, out)
    }

    /// The content of the new stack map.
    fn stack_map(
        &self,
        code: &Code<'_>,
        stack_map: Option<Attribute<'_>>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        constants: &mut Constants<'_, '_>,
    ) -> Result<Option<Vec<u8>>, SkipReason> {
        let map = &self.relocated.map;
        let memory = std::mem::take(&mut constants.spare.stack_map);
        let mut writer = FrameWriter::reusing(memory, map, code.max_locals, self.fresh);
        let islands = &self.relocated.islands;
        let targets = match &stack_map {
            Some(stack_map) if !islands.is_empty() => {
                let walker = Walker::new(stack_map, parameters, constructor, code.max_locals)?;
                writer.front(islands, walker)?
            }
            _ => Vec::new(),
        };
        let at_start = self.old_frames.is_some_and(|(first, _)| first == 0);
        writer.entry(islands.front_len(), self.entry, at_start)?;
        if stack_map.is_none() {
            let locals = &mut constants.spare.types;
            locals.clear();
            locals.extend(entry_locals(parameters, constructor));
        }
        match stack_map {
            Some(stack_map) if self.fragments.is_empty() && map.is_identity() => {
                writer.as_it_is(&stack_map, self.old_frames.map(|(_, last)| last))?;
            }
            Some(stack_map) => {
                let memory = std::mem::take(&mut constants.spare.types);
                let max_locals = code.max_locals;
                let mut walker =
                    Walker::reusing(memory, &stack_map, parameters, constructor, max_locals)?;
                writer.body(&mut walker, self.fragments, &self.relocated.placed)?;
                constants.spare.types = walker.locals;
            }
            None if !self.fragments.has_frames() => {}
            None => return Err(SkipReason::MALFORMED),
        }
        writer.islands(islands.back_places(map.body_end()), &targets)?;
        // The frame that was read last has left its locals there.
        let last = &constants.spare.types;
        for (start, handler) in self.handlers.iter() {
            writer.handler(*start, handler, last)?;
        }
        Ok(writer.finish())
    }

    /// Writes the exception table. Guards of probes come first, because ranges of the old table
    /// cover the probes as well.
    fn write_exception_table<'r>(
        &self,
        code: &Code<'_>,
        regions: impl Iterator<Item = &'r Region>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let mut map = self.relocated.map.lookup();
        let mut table = ExceptionTable::begin(out);
        if self.fragments.guards() > 0 {
            for (piece, &start) in self.fragments.iter().zip(&self.relocated.placed) {
                table.guards(start, piece.start, piece.guards)?;
            }
        }
        for TableEntry {
            start,
            end,
            handler,
            catch_type,
        } in code.handlers
        {
            table.add(
                map.label(usize::from(start))?,
                map.label(usize::from(end))?,
                map.label(usize::from(handler))?,
                catch_type,
            )?;
        }
        for (region, (handler, _)) in regions.zip(self.handlers.iter()) {
            table.add(
                map.label(region.start)?,
                map.label(region.end)?,
                *handler,
                0,
            )?;
        }
        table.guards(self.relocated.islands.front_len(), 0, &self.entry.guards)?;
        for (start, fragment) in self.handlers.iter() {
            table.guards(*start, 0, &fragment.guards)?;
        }
        table.end()
    }

    fn write_attributes<'a>(
        &self,
        own: &Own<'_, 'a>,
        code: &Code<'a>,
        stack_map: Option<Vec<u8>>,
        constants: &mut Constants<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        let mut pending = stack_map.as_deref();
        // At most one entry more than was read.
        let mut count = 0u32;
        let entries_before = self.fragments.guards();
        count += move_attributes(
            own,
            &code.attributes,
            &self.relocated.map,
            entries_before,
            &mut pending,
            out,
        )?;
        if let Some(info) = pending {
            write_attribute(constants.stack_map_table()?, info, out)?;
            count += 1;
        }
        constants.spare.stack_map = stack_map.unwrap_or_default();
        let count = u16::try_from(count).map_err(|_| SkipReason::TooLarge)?;
        if let Some(place) = out.get_mut(count_at..count_at + 2) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        Ok(())
    }
}

/// An exception table that is written at the end of `out`.
struct ExceptionTable<'o> {
    out: &'o mut Vec<u8>,
    count_at: usize,
    count: usize,
}

impl<'o> ExceptionTable<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        Self {
            out,
            count_at,
            count: 0,
        }
    }

    fn add(
        &mut self,
        start: usize,
        end: usize,
        handler: usize,
        catch_type: u16,
    ) -> Result<(), SkipReason> {
        self.count += 1;
        let ([a, b], [c, d], [e, f]) = (
            tables::short(start)?,
            tables::short(end)?,
            tables::short(handler)?,
        );
        let [g, h] = catch_type.to_be_bytes();
        self.out.extend_from_slice(&[a, b, c, d, e, f, g, h]);
        Ok(())
    }

    /// Adds the guards of a fragment whose byte at `zero` is now at `start`.
    fn guards(&mut self, start: usize, zero: usize, guards: &[Guard]) -> Result<(), SkipReason> {
        // Guards of earlier pieces are not among them, so nothing saturates.
        let moved = |at: usize| start + at.saturating_sub(zero);
        guards.iter().try_for_each(|guard| {
            let (from, to) = (moved(guard.start), moved(guard.end));
            self.add(from, to, moved(guard.handler), guard.catch_type)
        })
    }

    fn end(self) -> Result<(), SkipReason> {
        let count = u16::try_from(self.count).map_err(|_| SkipReason::TooLarge)?;
        if let Some(place) = self.out.get_mut(self.count_at..self.count_at + 2) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        Ok(())
    }
}

fn write_attribute(name_index: u16, info: &[u8], out: &mut Vec<u8>) -> Result<(), SkipReason> {
    out.extend_from_slice(&name_index.to_be_bytes());
    out.extend(
        u32::try_from(info.len())
            .map_err(|_| SkipReason::TooLarge)?
            .to_be_bytes(),
    );
    out.extend_from_slice(info);
    Ok(())
}

/// Writes an attribute with the content that `fill` adds.
fn filled_attribute(
    name_index: u16,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), SkipReason>,
) -> Result<(), SkipReason> {
    out.extend_from_slice(&name_index.to_be_bytes());
    let start = out.len() + 4;
    out.extend_from_slice(&[0; 4]);
    fill(out)?;
    let len = u32::try_from(out.len() - start).map_err(|_| SkipReason::TooLarge)?;
    if let Some(place) = out.get_mut(start - 4..start) {
        place.copy_from_slice(&len.to_be_bytes());
    }
    Ok(())
}

/// Writes the attributes of a body for its new code, and returns their number. The new stack map
/// replaces the old one.
pub fn move_attributes<'a>(
    own: &Own<'_, 'a>,
    attributes: &Attributes<'a>,
    map: &CodeMap,
    entries_before: usize,
    stack_map: &mut Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<u32, SkipReason> {
    let mut count = 0;
    let mut stack_map_seen = false;
    for attribute in attributes.iter() {
        let index = attribute.name_index;
        match own.kind(&attribute)? {
            Kind::StackMapTable => {
                if std::mem::replace(&mut stack_map_seen, true) {
                    return Err(SkipReason::MALFORMED);
                }
                let Some(info) = stack_map.take() else {
                    continue;
                };
                write_attribute(index, info, out)?;
            }
            _ if map.is_identity() => attribute.write(out),
            Kind::LineNumberTable => {
                filled_attribute(index, out, |out| tables::lines(&attribute, map, out))?;
            }
            Kind::LocalVariableTable | Kind::LocalVariableTypeTable => {
                filled_attribute(index, out, |out| tables::variables(&attribute, map, out))?;
            }
            Kind::TypeAnnotations => {
                let start = out.len();
                let moved = filled_attribute(index, out, |out| {
                    tables::type_annotations(&attribute, map, entries_before, out)
                });
                // No JVM reads what type annotations say of code, so a JVM may have run the method
                // without noticing that they make no sense. They are left out.
                if moved.is_err() {
                    out.truncate(start);
                    continue;
                }
            }
            // An attribute that is not known is left out: whatever it says about the code would be
            // wrong now.
            _ => continue,
        }
        count += 1;
    }
    Ok(count)
}
