//! Moves what points into code besides the stack map: lines, variables and type annotations (JVMS
//! 4.7.12 to 4.7.14, 4.7.20).

use hindsight_classfile::{Attribute, Reader, tables};

use crate::SkipReason;
use crate::code_map::{CodeMap, Lookup};

/// The bytes of an offset.
#[inline]
pub fn short(value: usize) -> Result<[u8; 2], SkipReason> {
    match u16::try_from(value) {
        Ok(value) => Ok(value.to_be_bytes()),
        Err(_) => Err(SkipReason::TooLarge),
    }
}

/// Writes the number of a table's entries, which have been read, and then the entries as `write`
/// makes them anew.
fn entries<T, const N: usize>(
    attribute: &Attribute<'_>,
    old: impl ExactSizeIterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T) -> Result<[u8; N], SkipReason>,
) -> Result<(), SkipReason> {
    out.extend_from_slice(attribute.info.first_chunk::<2>().unwrap_or(&[0, 0]));
    let start = out.len();
    out.resize(start + N * old.len(), 0);
    let (new, _) = out
        .get_mut(start..)
        .unwrap_or_default()
        .as_chunks_mut::<N>();
    for (place, entry) in new.iter_mut().zip(old) {
        *place = write(entry)?;
    }
    Ok(())
}

/// Appends a `LineNumberTable` with its offsets moved to `out`.
pub fn lines(
    attribute: &Attribute<'_>,
    map: &CodeMap,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let old = tables::line_numbers(attribute)?;
    let mut map = map.lookup();
    entries(attribute, old, out, |entry| {
        let [a, b] = short(map.debug(usize::from(entry.start))?)?;
        let [c, d] = entry.line.to_be_bytes();
        Ok([a, b, c, d])
    })
}

/// Moves the range of a variable.
#[inline]
fn range(start: u16, len: u16, map: &mut Lookup<'_>) -> Result<[u8; 4], SkipReason> {
    let start = usize::from(start);
    let new = map.debug(start)?;
    let end = map.debug(start + usize::from(len))?;
    let ([a, b], [c, d]) = (short(new)?, short(end.saturating_sub(new))?);
    Ok([a, b, c, d])
}

/// Appends a `LocalVariableTable` or `LocalVariableTypeTable` with its ranges moved to `out`.
pub fn variables(
    attribute: &Attribute<'_>,
    map: &CodeMap,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let old = tables::local_variables(attribute)?;
    let mut map = map.lookup();
    entries(attribute, old, out, |entry| {
        let [a, b, c, d] = range(entry.start, entry.len, &mut map)?;
        let [e, f] = entry.name_index.to_be_bytes();
        let [g, h] = entry.type_index.to_be_bytes();
        let [i, j] = entry.slot.to_be_bytes();
        Ok([a, b, c, d, e, f, g, h, i, j])
    })
}

/// Appends type annotations with their targets moved to `out`. `entries_before` is the number of
/// new entries that come first in the exception table.
pub fn type_annotations(
    attribute: &Attribute<'_>,
    map: &CodeMap,
    entries_before: usize,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let mut map = map.lookup();
    let mut r = attribute.reader();
    let count = r.u16()?;
    out.extend_from_slice(&count.to_be_bytes());
    for _ in 0..count {
        let target = r.u8()?;
        out.push(target);
        match target {
            // A local variable or resource: a table of ranges.
            0x40 | 0x41 => {
                let ranges = r.u16()?;
                out.extend_from_slice(&ranges.to_be_bytes());
                for _ in 0..ranges {
                    let (start, len) = (r.u16()?, r.u16()?);
                    out.extend_from_slice(&range(start, len, &mut map)?);
                    out.extend_from_slice(r.bytes(2)?);
                }
            }
            // An exception parameter: an entry of the exception table.
            0x42 => out.extend_from_slice(&short(usize::from(r.u16()?) + entries_before)?),
            // `instanceof`, `new`, `::new` and `::`: an instruction.
            0x43..=0x46 => out.extend_from_slice(&short(map.insn(usize::from(r.u16()?))?)?),
            // A cast or type argument: an instruction, and which of its types.
            0x47..=0x4b => {
                out.extend_from_slice(&short(map.insn(usize::from(r.u16()?))?)?);
                out.extend_from_slice(r.bytes(1)?);
            }
            // The other targets do not occur in code.
            _ => return Err(SkipReason::MALFORMED),
        }
        // The type path follows.
        let path = r.u8()?;
        out.push(path);
        out.extend_from_slice(r.bytes(2 * usize::from(path))?);
        let start = r;
        skip_annotation(&mut r, 0)?;
        let len = r.position() - start.position();
        out.extend_from_slice(start.clone().bytes(len)?);
    }
    if !r.is_empty() {
        return Err(SkipReason::MALFORMED);
    }
    Ok(())
}

/// The greatest depth of values within values that is followed. The source language has no limit,
/// but the stack does.
const MAX_DEPTH: u8 = 64;

fn skip_annotation(r: &mut Reader<'_>, depth: u8) -> Result<(), SkipReason> {
    r.u16()?;
    for _ in 0..r.u16()? {
        r.u16()?;
        skip_value(r, depth)?;
    }
    Ok(())
}

fn skip_value(r: &mut Reader<'_>, depth: u8) -> Result<(), SkipReason> {
    if depth == MAX_DEPTH {
        return Err(SkipReason::TooLarge);
    }
    match r.u8()? {
        b'e' => {
            r.bytes(4)?;
        }
        b'@' => skip_annotation(r, depth + 1)?,
        b'[' => {
            for _ in 0..r.u16()? {
                skip_value(r, depth + 1)?;
            }
        }
        _ => {
            r.u16()?;
        }
    }
    Ok(())
}
