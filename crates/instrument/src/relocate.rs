//! Puts fragments between instructions, and adjusts the jumps.
//!
//! Code between two fragments moves as a whole, so what is known of the new code is a short list of
//! runs, and only jumps are examined one by one.

use std::ops::Range;

use hindsight_classfile::Code;
use hindsight_classfile::opcode as op;

use crate::SkipReason;
use crate::asm::Fragment;
use crate::code_map::{CodeMap, Run};
use crate::insertions::Insertions;
use crate::islands::Islands;
use crate::scan::{Scan, Switch};

/// The most bytes that a body may have (JVMS 4.7.3).
pub const MAX_CODE: usize = 0xffff;

/// Old code with fragments in it.
#[derive(Debug, Default)]
pub struct Relocated {
    pub code: Vec<u8>,
    pub map: CodeMap,
    /// The offsets of the fragments, in their order.
    pub placed: Vec<usize>,
    /// Islands for the conditional jumps that have become too far.
    pub islands: Islands,
}

/// Puts `entry` before the first instruction and `fragments` between the instructions. The outcome
/// replaces the content of `relocated`, whose memory is used again.
pub fn relocate(
    relocated: &mut Relocated,
    code: &Code<'_>,
    scan: &Scan,
    entry: &Fragment,
    fragments: &Insertions,
) -> Result<(), SkipReason> {
    let Relocated {
        code: new,
        map,
        placed,
        islands,
    } = relocated;
    new.clear();
    placed.clear();
    islands.clear();
    let entry_len = entry.code.len();
    if fragments.is_empty() && (scan.switches.is_empty() || entry_len.is_multiple_of(4)) {
        if code.bytecode.len() + entry_len > MAX_CODE {
            return Err(SkipReason::TooLarge);
        }
        // No jump leads out of the body, so it can move as it is.
        new.extend_from_slice(&entry.code);
        new.extend_from_slice(code.bytecode);
        map.shift(code.bytecode.len(), entry_len);
        return Ok(());
    }
    let mut plan = Layout {
        bytecode: code.bytecode,
        scan,
        fragments,
        map,
        placed,
        gotos: Vec::new(),
        islands,
        rounds: 0,
    };
    let len = entry_len + code.bytecode.len() + fragments.all_code().len();
    if scan.switches.is_empty() && len <= REACH {
        return plan.in_one_go(entry, len, new);
    }
    loop {
        plan.lay_out(plan.islands.front_len() + entry_len)?;
        if plan.map.body_end() <= REACH || !plan.find_far()? {
            break;
        }
    }
    let end = plan.map.body_end() + plan.islands.back_len();
    if end > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    // Room for the handler that will follow.
    new.reserve(end + 64);
    plan.emit(entry, new)
}

/// The positions of everything in the new code.
struct Layout<'l> {
    bytecode: &'l [u8],
    scan: &'l Scan,
    fragments: &'l Insertions,
    map: &'l mut CodeMap,
    /// The offsets of the fragments.
    placed: &'l mut Vec<usize>,
    /// The old offsets of each `goto` that has become too far, sorted; it gets its wide form. These
    /// and the islands only grow, so that laying out comes to an end.
    gotos: Vec<usize>,
    /// Islands for the other jumps that have become too far.
    islands: &'l mut Islands,
    rounds: u32,
}

/// Real code is laid out after two or three rounds. A chain of jumps, each pushed too far by the
/// one before, could take thousands; from this round on, all jumps are treated as too far.
const MAX_ROUNDS: u32 = 16;

/// The distance in bytes within which no jump can be too far.
const REACH: usize = 0x7fff;

fn padding(offset: usize) -> usize {
    3 - (offset & 3)
}

/// Pieces that are being placed.
struct Pieces<'p> {
    all: &'p Insertions,
    next: usize,
    runs: &'p mut Vec<Run>,
    placed: &'p mut Vec<usize>,
}

impl Pieces<'_> {
    /// The old offset of the next piece.
    fn place(&self) -> usize {
        self.all.place(self.next).0
    }

    /// Begins a run with the pieces that go before it. The previous run ends at `at` in new code.
    /// Returns the new offset of the run's first instruction.
    fn run(&mut self, old: usize, mut at: usize) -> Result<usize, SkipReason> {
        let mut label = at;
        loop {
            let (place, after) = self.all.place(self.next);
            if place != old {
                break;
            }
            self.placed.push(at);
            at += self.all.span(self.next).len();
            self.next += 1;
            if after {
                label = at;
            }
        }
        // This is far beyond any valid length, and stops before anything overflows.
        if at > 0x0100_0000 {
            return Err(SkipReason::TooLarge);
        }
        let insn = at;
        self.runs.push(Run { old, label, insn });
        Ok(insn)
    }
}

impl Layout<'_> {
    /// Places and copies everything in one pass, `len` bytes in all. Only for bodies in which no
    /// instruction changes its length: without switches, and within [`REACH`].
    fn in_one_go(
        &mut self,
        entry: &Fragment,
        len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        out.extend_from_slice(&entry.code);
        out.resize(len + SHORT, 0);
        let (bytecode, inserted) = (self.bytecode, self.fragments.all_code());
        let runs = &mut self.map.runs;
        runs.clear();
        let start = entry.code.len();
        let (mut at, mut run) = (start, Run::at(0, start));
        for (old, after, code) in self.fragments.spans() {
            if old != run.old {
                // Behind the last instruction there is no place for a piece.
                if old < run.old || old >= bytecode.len() {
                    return Err(SkipReason::MALFORMED);
                }
                runs.push(run);
                copy(out, at, bytecode, run.old..old)?;
                at += old - run.old;
                run = Run::at(old, at);
            }
            self.placed.push(at);
            let len = code.len();
            copy(out, at, inserted, code)?;
            at += len;
            run.insn = at;
            if after {
                run.label = at;
            }
        }
        runs.push(run);
        copy(out, at, bytecode, run.old..bytecode.len())?;
        runs.push(Run::at(bytecode.len(), len));
        out.truncate(len);
        self.move_jumps(out)
    }

    /// Decides where everything goes, behind `entry_len` bytes.
    fn lay_out(&mut self, entry_len: usize) -> Result<(), SkipReason> {
        self.map.runs.clear();
        self.placed.clear();
        let end = self.bytecode.len();
        // Behind the last instruction there is no place for a fragment.
        if self.fragments.last().is_some_and(|last| last >= end) {
            return Err(SkipReason::MALFORMED);
        }
        let (mut switches, mut gotos) = (&self.scan.switches[..], &self.gotos[..]);
        let mut pieces = Pieces {
            all: self.fragments,
            next: 0,
            runs: &mut self.map.runs,
            placed: self.placed,
        };
        // The start of the last run, in old and in new code.
        let (mut old, mut new) = (0, pieces.run(0, entry_len)?);
        while old < end {
            // The next instruction that changes its length: where it starts and where it ends.
            let switch = switches
                .first()
                .filter(|switch| gotos.first().is_none_or(|&goto| switch.start < goto));
            let (start, stop) = match (switch, gotos.first()) {
                (Some(switch), _) => (switch.start, switch.end),
                (None, Some(&goto)) => (goto, goto + 3),
                (None, None) => (end, end),
            };
            while pieces.place() < stop {
                let place = pieces.place();
                new = pieces.run(place, new + (place - old))?;
                old = place;
            }
            // Only a wrong fragment lies within the instruction.
            let at = new + start.checked_sub(old).ok_or(SkipReason::MALFORMED)?;
            let (len, same) = if switch.is_some() {
                switches = switches.get(1..).unwrap_or(&[]);
                let len = stop - start - padding(start) + padding(at);
                (len, len == stop - start)
            } else if start < end {
                gotos = gotos.get(1..).unwrap_or(&[]);
                (5, false)
            } else {
                (0, false)
            };
            if !same || stop == end {
                new = pieces.run(stop, at + len)?;
                old = stop;
            }
        }
        Ok(())
    }

    /// Adds the jumps that are too far in this layout; returns whether there are any more of them.
    fn find_far(&mut self) -> Result<bool, SkipReason> {
        self.rounds += 1;
        let known = self.gotos.len();
        let mut more = false;
        let (mut sources, mut targets) = (self.map.lookup(), self.map.lookup());
        for &jump in &self.scan.jumps {
            let (opcode, Some(target)) = (opcode(self.bytecode, jump), near(self.bytecode, jump))
            else {
                continue;
            };
            let from = sources.insn(jump)?;
            let distance = distance(from, targets.label(target)?);
            if i16::try_from(distance).is_ok() && self.rounds < MAX_ROUNDS {
                continue;
            }
            if opcode != op::GOTO {
                more |= self.islands.add(from, target);
            } else if self.gotos[..known].binary_search(&jump).is_err() {
                self.gotos.push(jump);
                more = true;
            }
        }
        self.gotos.sort_unstable();
        Ok(more)
    }

    /// Writes the new code.
    fn emit(&self, entry: &Fragment, out: &mut Vec<u8>) -> Result<(), SkipReason> {
        let mut targets = self.map.lookup();
        self.islands.emit_front(out, |old| targets.label(old))?;
        out.extend_from_slice(&entry.code);
        let end = self.map.body_end();
        out.resize(end + SHORT, 0);
        let mut at = 0;
        for run in self.map.runs.windows(2) {
            let [run, next] = run else { continue };
            // The instruction before this run may have another length now. It is then a jump or a
            // switch, all of which are written anew.
            while self.fragments.place(at).0 == run.old {
                let place = *self.placed.get(at).ok_or(SkipReason::MALFORMED)?;
                copy(
                    out,
                    place,
                    self.fragments.all_code(),
                    self.fragments.span(at),
                )?;
                at += 1;
            }
            copy(out, run.insn, self.bytecode, run.old..next.old)?;
        }
        out.truncate(end);
        self.move_jumps(out)?;
        for switch in &self.scan.switches {
            self.move_switch(switch, out)?;
        }
        self.islands.emit_back(out, |old| targets.label(old))
    }

    /// Adjusts jumps to the new offsets of their targets.
    fn move_jumps(&self, out: &mut [u8]) -> Result<(), SkipReason> {
        let (mut sources, mut targets) = (self.map.lookup(), self.map.lookup());
        for &jump in &self.scan.jumps {
            let from = sources.insn(jump)?;
            let opcode = opcode(self.bytecode, jump);
            let Some(target) = near(self.bytecode, jump) else {
                let target = target(jump, word(self.bytecode, jump + 1))?;
                let distance = distance(from, targets.label(target)?);
                put(out, from + 1, distance.to_be_bytes())?;
                continue;
            };
            let distance = distance(from, targets.label(target)?);
            // A jump that was widened stays wide, although later jumps may have brought its target
            // back within reach.
            if opcode == op::GOTO && self.gotos.binary_search(&jump).is_ok() {
                put(out, from, [op::GOTO_W])?;
                put(out, from + 1, distance.to_be_bytes())?;
                continue;
            }
            let distance = i16::try_from(distance).ok().or_else(|| {
                let island = self.islands.find(from, target, self.map.body_end())?;
                i16::try_from(island as i32 - from as i32).ok()
            });
            let distance = distance.ok_or(SkipReason::TooLarge)?;
            put(out, from + 1, distance.to_be_bytes())?;
        }
        Ok(())
    }

    /// Writes a switch anew, with new padding and new targets.
    fn move_switch(&self, switch: &Switch, out: &mut [u8]) -> Result<(), SkipReason> {
        let mut targets = self.map.lookup();
        let from = self.map.lookup().insn(switch.start)?;
        let (old, new) = (
            switch.start + 1 + padding(switch.start),
            from + 1 + padding(from),
        );
        let gap = out.get_mut(from + 1..new).ok_or(SkipReason::MALFORMED)?;
        gap.fill(0);
        let table = opcode(self.bytecode, switch.start) == op::TABLESWITCH;
        for (at, place) in (old..switch.end).step_by(4).enumerate() {
            let value = word(self.bytecode, place);
            // The default comes first; then the lowest and the highest key and the jumps, or the
            // number of pairs and pairs of key and jump.
            let jumps = at == 0 || at >= 3 && (table || at % 2 == 1);
            let value = if jumps {
                distance(from, targets.label(target(switch.start, value)?)?)
            } else {
                value
            };
            put(out, new + 4 * at, value.to_be_bytes())?;
        }
        Ok(())
    }
}

/// The distance of a jump in the new code, whose offsets are below 2^24.
fn distance(from: usize, target: usize) -> i32 {
    target as i32 - from as i32
}

/// The target of a jump, given its distance.
fn target(jump: usize, distance: i32) -> Result<usize, SkipReason> {
    jump.checked_add_signed(distance as isize)
        .ok_or(SkipReason::MALFORMED)
}

fn opcode(bytecode: &[u8], at: usize) -> u8 {
    bytecode.get(at).copied().unwrap_or(op::NOP)
}

/// The target of a jump with a distance of two bytes; `None` for a jump with four bytes.
fn near(bytecode: &[u8], jump: usize) -> Option<usize> {
    match bytecode.get(jump..jump + 3) {
        Some(&[opcode, high, low]) if opcode != op::GOTO_W => {
            jump.checked_add_signed(i16::from_be_bytes([high, low]).into())
        }
        _ => None,
    }
}

fn word(bytecode: &[u8], at: usize) -> i32 {
    match bytecode.get(at..at + 4) {
        Some(&[a, b, c, d]) => i32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// A copy of at most this many bytes is done in fixed size, without regard to its length, since
/// most are shorter. The bytes behind it are overwritten later.
const SHORT: usize = 16;

/// Copies a range of `from` to an offset in `out`. Up to [`SHORT`] bytes behind it may change,
/// where later code will stand.
#[inline]
fn copy(out: &mut [u8], at: usize, from: &[u8], range: Range<usize>) -> Result<(), SkipReason> {
    let to = out.get_mut(at..).ok_or(SkipReason::MALFORMED)?;
    let rest = from.get(range.start..).ok_or(SkipReason::MALFORMED)?;
    if range.len() <= SHORT
        && let (Some(to), Some(from)) = (to.first_chunk_mut::<SHORT>(), rest.first_chunk())
    {
        *to = *from;
        return Ok(());
    }
    match (to.get_mut(..range.len()), rest.get(..range.len())) {
        (Some(to), Some(from)) => to.copy_from_slice(from),
        _ => return Err(SkipReason::MALFORMED),
    }
    Ok(())
}

fn put<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) -> Result<(), SkipReason> {
    let place = out.get_mut(at..at + N).ok_or(SkipReason::MALFORMED)?;
    place.copy_from_slice(&bytes);
    Ok(())
}

#[cfg(test)]
mod tests;
