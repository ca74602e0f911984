//! Putting fragments between instructions, and moving the jumps.
//!
//! Code between two fragments moves as a whole, so what is known of the new code
//! is a short list of runs, and only jumps are looked at one by one.

use std::ops::Range;

use hindsight_classfile::Code;
use hindsight_classfile::opcode as op;

use crate::SkipReason;
use crate::asm::Fragment;
use crate::insertions::Insertions;
use crate::islands::Islands;
use crate::scan::{Scan, Switch};

/// The most bytes a body may have (JVMS 4.7.3).
pub const MAX_CODE: usize = 0xffff;

/// Where the old instructions are in the new code.
#[derive(Debug, Default)]
pub struct CodeMap {
    /// Where the distance between old and new code changes, by rising offset.
    /// The first begins at 0, the last is the end.
    runs: Vec<Run>,
}

/// Old code that moves as a whole, up to the next run.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    /// Its first instruction in the old code.
    old: usize,
    /// Where jumps to that instruction go: fragments before it come after this,
    /// unless they belong to the instruction before.
    label: usize,
    /// Where the instruction itself is.
    insn: usize,
}

impl CodeMap {
    /// Everything moves behind `shift` bytes of entry code. Uses the memory of
    /// `self` again.
    fn shifted(mut self, old_len: usize, shift: usize) -> Self {
        self.runs.clear();
        self.runs.extend([0, old_len].map(|old| Run {
            old,
            label: old + shift,
            insn: old + shift,
        }));
        self
    }

    /// Whether everything stays where it is.
    pub fn is_identity(&self) -> bool {
        self.runs.len() == 2 && self.runs.iter().all(|run| run.insn == run.old)
    }

    /// Where the old body ends in the new code.
    pub fn body_end(&self) -> usize {
        self.runs.last().map_or(0, |end| end.label)
    }

    /// Looks up offsets, quickest if they rise.
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup {
            runs: &self.runs,
            at: 0,
            run: Run::default(),
            len: 0,
            next_label: 0,
        }
    }
}

/// Finds offsets in a [`CodeMap`].
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'m> {
    runs: &'m [Run],
    /// The run of the offset before: its place, itself, its length in the old
    /// code, none if nothing was looked up yet, and the label of the next one.
    at: usize,
    run: Run,
    len: usize,
    next_label: usize,
}

impl Lookup<'_> {
    /// Finds the run of an old offset; returns how far into it that is.
    #[inline]
    fn find(&mut self, old: usize) -> Result<usize, SkipReason> {
        let within = old.wrapping_sub(self.run.old);
        if within < self.len {
            return Ok(within);
        }
        self.search(old)
    }

    fn search(&mut self, old: usize) -> Result<usize, SkipReason> {
        let runs = self.runs;
        if runs.last().is_none_or(|end| old > end.old) {
            return Err(SkipReason::MALFORMED);
        }
        // Mostly it is one of the next runs.
        let mut at = if old < self.run.old { 0 } else { self.at };
        let ahead = runs.get(at + 1..).unwrap_or(&[]);
        let near = ahead
            .iter()
            .take(8)
            .take_while(|run| run.old <= old)
            .count();
        at += near;
        if near == 8 {
            at = runs.partition_point(|run| run.old <= old).saturating_sub(1);
        }
        self.run = *runs.get(at).ok_or(SkipReason::MALFORMED)?;
        self.at = at;
        // The last one is the end alone.
        let next = runs.get(at + 1);
        self.len = next.map_or(1, |next| next.old.saturating_sub(self.run.old));
        self.next_label = next.map_or(usize::MAX, |next| next.label);
        Ok(old - self.run.old)
    }

    /// Where jumps to `old` go, and ranges begin or end. Fragments at `old` come
    /// after it, unless they belong to the instruction before. At offset 0, it
    /// is behind the entry code.
    #[inline]
    pub fn label(&mut self, old: usize) -> Result<usize, SkipReason> {
        Ok(match self.find(old)? {
            0 => self.run.label,
            within => self.run.insn + within,
        })
    }

    /// Where the instruction at `old` itself is, behind any fragments.
    #[inline]
    pub fn insn(&mut self, old: usize) -> Result<usize, SkipReason> {
        Ok(self.find(old)? + self.run.insn)
    }

    /// Where `old` is for a debugger, which may point into instructions. The
    /// entry code counts to the first line.
    #[inline]
    pub fn debug(&mut self, old: usize) -> Result<usize, SkipReason> {
        if old == 0 {
            return Ok(0);
        }
        // A switch may have become shorter.
        Ok(self.label(old)?.min(self.next_label))
    }
}

/// Old code with fragments in it.
#[derive(Debug, Default)]
pub struct Relocated {
    pub code: Vec<u8>,
    pub map: CodeMap,
    /// Where the fragments are, in their order.
    pub placed: Vec<usize>,
    /// What conditional jumps reach that have become too far.
    pub islands: Islands,
}

/// Puts `entry` before the first instruction and `fragments` between the
/// instructions. Uses `memory` again.
pub fn relocate(
    memory: Relocated,
    code: &Code<'_>,
    scan: &Scan,
    entry: &Fragment,
    fragments: &Insertions,
) -> Result<Relocated, SkipReason> {
    let Relocated {
        code: mut new,
        map,
        mut placed,
        mut islands,
    } = memory;
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
        return Ok(Relocated {
            map: map.shifted(code.bytecode.len(), entry_len),
            code: new,
            placed,
            islands,
        });
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
    loop {
        plan.lay_out(plan.islands.front_len() + entry_len)?;
        // No jump within 32 KB can be too far.
        if plan.map.body_end() <= 0x7fff || !plan.find_far()? {
            break;
        }
    }
    let end = plan.map.body_end() + plan.islands.back_len();
    if end > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    // Room for the handler that will follow.
    new.reserve(end + 64);
    plan.emit(entry, &mut new)?;
    Ok(Relocated {
        code: new,
        map: plan.map,
        placed: plan.placed,
        islands: plan.islands,
    })
}

/// Where everything goes.
struct Layout<'l> {
    bytecode: &'l [u8],
    scan: &'l Scan,
    fragments: &'l Insertions,
    map: CodeMap,
    /// Where the fragments are.
    placed: Vec<usize>,
    /// The old offsets of each `goto` that has become too far, sorted; it has a
    /// wide form. These and the islands only grow, so that laying out comes to
    /// an end.
    gotos: Vec<usize>,
    /// For the other jumps that have become too far.
    islands: Islands,
    rounds: u32,
}

/// Real code is laid out after two or three rounds. A chain of jumps, each
/// pushed too far by the one before, could take thousands; from this round on,
/// all jumps are taken for too far.
const MAX_ROUNDS: u32 = 16;

fn padding(offset: usize) -> usize {
    3 - (offset & 3)
}

/// Pieces on their way to their places.
struct Pieces<'p> {
    all: &'p Insertions,
    next: usize,
    runs: &'p mut Vec<Run>,
    placed: &'p mut Vec<usize>,
}

impl Pieces<'_> {
    /// Where the next one goes.
    fn place(&self) -> usize {
        self.all.place(self.next).0
    }

    /// Begins a run, with the pieces that go before it. The one before ends at
    /// `at` in new code. Returns where its first instruction is.
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
        // Far beyond what can work out, and before anything overflows.
        if at > 0x0100_0000 {
            return Err(SkipReason::TooLarge);
        }
        let insn = at;
        self.runs.push(Run { old, label, insn });
        Ok(insn)
    }
}

impl Layout<'_> {
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
            placed: &mut self.placed,
        };
        // Where the last run is, in old and in new code.
        let (mut old, mut new) = (0, pieces.run(0, entry_len)?);
        while old < end {
            // What changes its length next, where it ends, and its new length.
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
            // A fragment may lie within only if it is wrong.
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

    /// Adds the jumps that are too far in this layout; tells whether there are
    /// any more.
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
            // What the run before ended with may have another length now. Then it
            // is a jump or a switch, all of which is written anew.
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

    /// Makes jumps lead to where their targets are now.
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
            // A jump that was widened stays so, though later ones may have
            // brought its target back.
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

    /// Writes a switch anew, with other padding and other targets.
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
            // The default; then the lowest and the highest key and the jumps, or
            // the number of pairs and pairs of key and jump.
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

/// How far a jump goes in the new code, whose offsets are below 2^24.
fn distance(from: usize, target: usize) -> i32 {
    target as i32 - from as i32
}

/// What a jump leads to that goes so far.
fn target(jump: usize, distance: i32) -> Result<usize, SkipReason> {
    jump.checked_add_signed(distance as isize)
        .ok_or(SkipReason::MALFORMED)
}

fn opcode(bytecode: &[u8], at: usize) -> u8 {
    bytecode.get(at).copied().unwrap_or(op::NOP)
}

/// What a jump with a distance of two bytes leads to; nothing for one with four
/// bytes.
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

/// Pieces of so many bytes are copied without asking for their length: most are
/// shorter. What is behind them comes to be overwritten.
const SHORT: usize = 16;

/// Copies a range of `from` to a place in `out`. Up to [`SHORT`] bytes behind that
/// may change, where what comes later will stand.
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
mod tests {
    use super::*;
    use crate::scan::{Wanted, scan};
    use hindsight_classfile::{Attribute, Instructions, Operand};
    use proptest::prelude::*;

    /// A `Code` attribute with this bytecode and nothing else.
    fn attribute(bytecode: &[u8]) -> Vec<u8> {
        let mut info = vec![0, 9, 0, 9];
        info.extend((bytecode.len() as u32).to_be_bytes());
        info.extend_from_slice(bytecode);
        info.extend([0; 4]);
        info
    }

    fn nops(len: usize) -> Fragment {
        let mut fragment = Fragment::default();
        fragment.code = vec![op::NOP; len];
        fragment
    }

    /// Moves `bytecode` apart and checks that each jump still leads to the same
    /// instruction, fragments before it included.
    fn check(
        bytecode: &[u8],
        entry: usize,
        fragments: &[(usize, usize)],
    ) -> Result<Vec<u8>, SkipReason> {
        let info = attribute(bytecode);
        let code = Code::parse(&Attribute {
            name_index: 0,
            info: &info,
            offset: 0,
        })?;
        let scan = scan(&code, 0, Wanted::default())?;
        let mut insertions = Insertions::default();
        for &(at, len) in fragments {
            insertions.before(at).code.extend(vec![op::NOP; len]);
        }
        let memory = Relocated::default();
        let moved = relocate(memory, &code, &scan, &nops(entry), &insertions)?;
        let mut map = moved.map.lookup();
        let new_insns: Result<Vec<_>, _> = Instructions::new(&moved.code, 0).collect();
        let new_insns = new_insns?;
        for old in code.instructions() {
            let old = old?;
            let at = map.insn(old.offset)?;
            let find = |at: usize| {
                let place = new_insns.binary_search_by_key(&at, |new| new.offset);
                &new_insns[place.expect("it is there")]
            };
            let new = find(at);
            let widened = (old.opcode, new.opcode) == (op::GOTO, op::GOTO_W);
            assert!(new.opcode == old.opcode || widened);
            if let (Operand::Branch(target), Operand::Branch(mut reached)) =
                (old.operand()?, new.operand()?)
            {
                // An island, before or behind everything that was moved.
                if reached < moved.islands.front_len() || reached >= moved.map.body_end() {
                    assert!(!widened);
                    let island = find(reached);
                    assert_eq!(island.opcode, op::GOTO_W);
                    let Operand::Branch(target) = island.operand()? else {
                        panic!("it jumps")
                    };
                    reached = target;
                }
                assert_eq!(reached, map.label(target)?);
            }
        }
        Ok(moved.code)
    }

    #[test]
    fn jumps_to_the_start_land_behind_the_entry_code() {
        // goto 0
        assert_eq!(
            check(&[op::GOTO, 0, 0], 2, &[]),
            Ok(vec![0, 0, op::GOTO, 0, 0])
        );
    }

    #[test]
    fn jumps_land_before_fragments() {
        // 0: goto 3; 3: return, with two bytes before the return
        let moved = check(&[op::GOTO, 0, 3, op::RETURN], 0, &[(3, 2)]);
        assert_eq!(moved, Ok(vec![op::GOTO, 0, 3, 0, 0, op::RETURN]));
    }

    #[test]
    fn jumps_do_not_run_what_belongs_to_the_instruction_before() {
        // 0: iconst_0; 1: goto 1, with two bytes after the first, one before the
        // second
        let info = attribute(&[op::ICONST_0, op::GOTO, 0, 0]);
        let code = Code::parse(&Attribute {
            name_index: 0,
            info: &info,
            offset: 0,
        })
        .unwrap();
        let scan = scan(&code, 0, Wanted::default()).unwrap();
        let mut insertions = Insertions::default();
        insertions.after(1).code.extend([op::NOP; 2]);
        insertions.before(1).op(op::NOP);
        let (memory, entry) = (Relocated::default(), Fragment::default());
        let moved = relocate(memory, &code, &scan, &entry, &insertions).unwrap();
        let mut map = moved.map.lookup();
        assert_eq!(moved.code, [op::ICONST_0, 0, 0, 0, op::GOTO, 0xff, 0xff]);
        assert_eq!((map.label(1), map.insn(1)), (Ok(3), Ok(4)));
        assert_eq!(moved.placed, [1, 3]);
    }

    #[test]
    fn a_switch_is_padded_anew() {
        // 0: lookupswitch default 12; 12: return. One byte more before it.
        let old = [
            op::LOOKUPSWITCH,
            0,
            0,
            0,
            0,
            0,
            0,
            12,
            0,
            0,
            0,
            0,
            op::RETURN,
        ];
        let new = [
            0,
            op::LOOKUPSWITCH,
            0,
            0,
            0,
            0,
            0,
            11,
            0,
            0,
            0,
            0,
            op::RETURN,
        ];
        assert_eq!(check(&old, 1, &[]), Ok(new.to_vec()));
    }

    #[test]
    fn far_jumps_are_widened_or_led_over_islands() {
        let far = |opcode: u8| {
            let mut bytecode = vec![opcode, 0x7f, 0xff];
            bytecode.resize(0x7fff, op::NOP);
            bytecode.push(op::RETURN);
            bytecode
        };
        let moved = check(&far(op::GOTO), 0, &[(5, 1)]).expect("it can be widened");
        assert_eq!(moved[..5], [op::GOTO_W, 0, 0, 0x80, 2]);
        // The way in, an island, the start, and the jump back to the island.
        let moved = check(&far(op::IFEQ), 0, &[(5, 1)]).expect("it gets an island");
        assert_eq!(moved[..5], [op::GOTO_W, 0, 0, 0, 10]);
        assert_eq!(moved[5..10], [op::GOTO_W, 0, 0, 0x80, 6]);
        assert_eq!(moved[10..14], [op::NOP, op::IFEQ, 0xff, 0xfa]);
    }

    #[test]
    fn a_far_jump_back_leads_over_an_island_at_the_back() {
        // 0: nops; 0x8000: ifeq 0; return
        let mut bytecode = vec![op::NOP; 0x8000];
        bytecode.extend([op::IFEQ, 0x80, 0, op::RETURN]);
        let moved = check(&bytecode, 0, &[(5, 1)]).expect("it gets an island");
        assert_eq!(moved[0x8001..0x8005], [op::IFEQ, 0, 4, op::RETURN]);
        assert_eq!(moved[0x8005..], [op::GOTO_W, 0xff, 0xff, 0x7f, 0xfb]);
    }

    /// Each jump is pushed too far by the next one's widening, one a round:
    /// after some rounds, all are widened at once.
    #[test]
    fn a_chain_of_jumps_that_push_each_other_is_cut_short() {
        let count = 6000;
        let mut bytecode = Vec::new();
        for later in (0..count).rev() {
            bytecode.push(op::GOTO);
            bytecode.extend((0x7fff_i16 - 2 * later).to_be_bytes());
        }
        bytecode.resize(3 * count as usize + 0x7fff, op::NOP);
        bytecode.push(op::RETURN);
        let moved = check(&bytecode, 0, &[(3 * count as usize, 1)]).expect("it fits");
        assert_eq!(moved.len(), bytecode.len() + 1 + 2 * count as usize);
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        // Into an instruction, to the end, behind it, before the start.
        for jump in [1i16, 3, 4, -1] {
            let [high, low] = jump.to_be_bytes();
            assert_eq!(
                check(&[op::GOTO, high, low], 1, &[]),
                Err(SkipReason::malformed(8)),
                "{jump}"
            );
        }
        assert_eq!(
            check(&[op::RETURN], 0, &[(1, 1)]),
            Err(SkipReason::MALFORMED)
        );
    }

    #[test]
    fn offsets_are_found_in_any_order() {
        // Ten bytes, with one more before 4 and 7, behind three.
        let bytecode = [op::NOP; 9].iter().chain(&[op::RETURN]);
        let bytecode: Vec<_> = bytecode.copied().collect();
        let info = attribute(&bytecode);
        let code = Code::parse(&Attribute {
            name_index: 0,
            info: &info,
            offset: 0,
        })
        .unwrap();
        let scan = scan(&code, 0, Wanted::default()).unwrap();
        let mut insertions = Insertions::default();
        insertions.before(4).op(op::NOP);
        insertions.before(7).op(op::NOP);
        let moved = relocate(Relocated::default(), &code, &scan, &nops(3), &insertions).unwrap();
        let labels = [3, 4, 5, 6, 7, 9, 10, 11, 13, 14, 15];
        for first in 0..=10 {
            for second in 0..=10 {
                let mut map = moved.map.lookup();
                assert_eq!(map.label(first), Ok(labels[first]));
                assert_eq!(map.label(second), Ok(labels[second]));
                let insn = labels[second] + usize::from(matches!(second, 4 | 7));
                assert_eq!(map.insn(second), Ok(insn));
            }
            let mut map = moved.map.lookup();
            assert_eq!(map.label(first), Ok(labels[first]));
            assert_eq!(map.label(11), Err(SkipReason::MALFORMED));
            assert_eq!(map.debug(11), Err(SkipReason::MALFORMED));
        }
        assert_eq!(moved.map.body_end(), 15);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Jumps of all kinds, far and near, all over a body of up to the
        /// largest size.
        #[test]
        fn far_jumps_keep_their_targets(
            jumps in prop::collection::btree_map(
                0usize..13_000,
                (prop::sample::select(vec![op::GOTO, op::IFEQ, op::IF_ICMPLT, op::IFNONNULL]), 0usize..13_000),
                1..60,
            ),
            len in 11_000usize..13_000,
            entry in 0usize..6000,
            probes in prop::collection::btree_map(0usize..11_000, 1usize..600, 0..10),
        ) {
            // Five bytes each: a jump and two `nop`s, or `nop`s.
            let mut bytecode = vec![op::NOP; 5 * len + 1];
            bytecode[5 * len] = op::RETURN;
            for (&at, &(opcode, target)) in jumps.iter().filter(|(at, _)| **at < len) {
                let target = target % len;
                // As far as the old code could.
                if let Ok(jump) = i16::try_from(5 * (target as i64 - at as i64)) {
                    bytecode[5 * at] = opcode;
                    bytecode[5 * at + 1..5 * at + 3].copy_from_slice(&jump.to_be_bytes());
                }
            }
            let fragments: Vec<_> = probes.iter().map(|(&at, &len)| (5 * at, len)).collect();
            let grown: usize = bytecode.len() + entry + probes.values().sum::<usize>();
            match check(&bytecode, entry, &fragments) {
                Ok(moved) => prop_assert!(moved.len() >= grown && moved.len() <= MAX_CODE),
                // Ten bytes for each jump at most.
                Err(reason) => {
                    prop_assert_eq!(reason, SkipReason::TooLarge);
                    prop_assert!(grown + 10 * jumps.len() + 6 > MAX_CODE);
                }
            }
        }

        #[test]
        fn jumps_keep_their_targets(
            kinds in prop::collection::vec((0u8..3, 0usize..40), 1..40),
            entry in 0usize..40,
            probes in prop::collection::btree_map(0usize..40, 1usize..9, 0..5),
        ) {
            // A run of one-byte and three-byte instructions.
            let mut starts = Vec::new();
            let mut len = 0;
            for &(kind, _) in &kinds {
                starts.push(len);
                len += if kind == 0 { 1 } else { 3 };
            }
            let mut bytecode = Vec::new();
            for (&(kind, target), &start) in kinds.iter().zip(&starts) {
                if kind == 0 {
                    bytecode.push(op::NOP);
                    continue;
                }
                bytecode.push(if kind == 1 { op::GOTO } else { op::IFNULL });
                let jump = starts[target % starts.len()] as i16 - start as i16;
                bytecode.extend(jump.to_be_bytes());
            }
            let fragments: Vec<_> = probes
                .iter()
                .filter_map(|(&at, &len)| Some((*starts.get(at)?, len)))
                .collect();
            prop_assert!(check(&bytecode, entry, &fragments).is_ok());
        }
    }
}
