//! Putting fragments between instructions, and moving the jumps.

use hindsight_classfile::opcode::{self as op, Form, OPCODES};
use hindsight_classfile::{Code, Insn};

use crate::SkipReason;
use crate::asm::Fragment;
use crate::islands::Islands;

/// The most bytes a body may have (JVMS 4.7.3).
pub const MAX_CODE: usize = 0xffff;

/// Where the old instructions are in the new code.
#[derive(Debug, Default)]
pub struct CodeMap {
    /// For each old offset, the new one, fragments there included. Within an
    /// instruction, that of the instruction, with [`INSIDE`] set. Nothing if
    /// all instructions move by `shift`.
    labels: Option<Vec<u32>>,
    shift: usize,
    old_len: usize,
    /// Old offsets with a fragment before the instruction, sorted, and the
    /// fragment's length.
    fragments: Vec<(usize, usize)>,
    /// Where the old body ends.
    pub body_end: usize,
}

const INSIDE: u32 = 1 << 31;

impl CodeMap {
    /// Everything stays where it is.
    pub fn identity(old_len: usize) -> Self {
        Self::shifted(old_len, 0)
    }

    /// Everything moves behind `shift` bytes of entry code.
    fn shifted(old_len: usize, shift: usize) -> Self {
        Self {
            labels: None,
            shift,
            old_len,
            fragments: Vec::new(),
            body_end: old_len + shift,
        }
    }

    /// Whether everything stays where it is.
    pub fn is_identity(&self) -> bool {
        self.labels.is_none() && self.shift == 0
    }

    /// Where jumps to `old` go, and ranges begin or end. Fragments at `old` come
    /// after it, unless they belong to the instruction before. At offset 0, it
    /// is behind the entry code.
    pub fn label(&self, old: usize) -> Result<usize, SkipReason> {
        match &self.labels {
            None if old <= self.old_len => Ok(old + self.shift),
            Some(labels) => match labels.get(old) {
                Some(&label) if label & INSIDE == 0 => Ok(label as usize),
                _ => Err(SkipReason::Malformed),
            },
            None => Err(SkipReason::Malformed),
        }
    }

    /// Where the instruction at `old` itself is, behind any fragments.
    pub fn insn(&self, old: usize) -> Result<usize, SkipReason> {
        let label = self.label(old)?;
        let fragment = self.fragments.binary_search_by_key(&old, |&(at, _)| at);
        Ok(label
            + fragment
                .ok()
                .and_then(|at| self.fragments.get(at))
                .map_or(0, |f| f.1))
    }

    /// Where `old` is for a debugger, which may point into instructions. The
    /// entry code counts to the first line.
    pub fn debug(&self, old: usize) -> Result<usize, SkipReason> {
        match &self.labels {
            _ if old == 0 => Ok(0),
            Some(labels) => match labels.get(old) {
                Some(&label) => Ok((label & !INSIDE) as usize),
                None => Err(SkipReason::Malformed),
            },
            None => self.label(old),
        }
    }
}

/// Old code with fragments in it.
#[derive(Debug, Default)]
pub struct Relocated {
    pub code: Vec<u8>,
    pub map: CodeMap,
    /// Where the fragments are, in the order they were given.
    pub placed: Vec<usize>,
    /// What conditional jumps reach that have become too far.
    pub islands: Islands,
}

/// Puts `entry` before code without jumps out of it (see [`crate::scan`]), which
/// is moved as it is: it must have no switches, or the entry code a multiple of
/// four bytes. Uses `memory` again.
pub fn shift(memory: Relocated, code: &Code<'_>, entry: &Fragment) -> Relocated {
    let mut new = memory.code;
    new.clear();
    new.extend_from_slice(&entry.code);
    new.extend_from_slice(code.bytecode);
    Relocated {
        code: new,
        map: CodeMap::shifted(code.bytecode.len(), entry.code.len()),
        placed: Vec::new(),
        islands: Islands::default(),
    }
}

/// Puts `entry` before the first instruction and each of `fragments` before
/// the instruction at its offset. They must be sorted by it; those that belong
/// to the instruction before come first, and that is not a jump. There is one
/// of each sort at most.
pub fn relocate(
    code: &Code<'_>,
    entry: &Fragment,
    fragments: &[(usize, Fragment)],
) -> Result<Relocated, SkipReason> {
    if entry.code.is_empty() && fragments.is_empty() {
        let map = CodeMap::identity(code.bytecode.len());
        return Ok(Relocated {
            code: code.bytecode.to_vec(),
            map,
            placed: Vec::new(),
            islands: Islands::default(),
        });
    }
    let mut far = Far::default();
    let (map, placed) = loop {
        let entry_len = far.islands.front_len() + entry.code.len();
        let (map, placed) = lay_out(code, entry_len, fragments, &far.gotos)?;
        // No jump within 32 KB can be too far.
        if map.body_end <= 0x7fff || !far.add(code, &map)? {
            break (map, placed);
        }
    };
    if map.body_end + far.islands.back_len() > MAX_CODE {
        return Err(SkipReason::TooLarge);
    }
    let islands = far.islands;
    let code = emit(code, entry, fragments, &map, &islands)?;
    Ok(Relocated {
        code,
        map,
        placed,
        islands,
    })
}

/// Decides where everything goes.
fn lay_out(
    code: &Code<'_>,
    entry_len: usize,
    fragments: &[(usize, Fragment)],
    widened: &[usize],
) -> Result<(CodeMap, Vec<usize>), SkipReason> {
    let old_len = code.bytecode.len();
    let mut labels = vec![INSIDE; old_len + 1];
    let mut placed = Vec::with_capacity(fragments.len());
    let mut at = entry_len;
    let mut pending = fragments.iter().peekable();
    for insn in code.instructions() {
        let insn = insn?;
        let here = |(offset, _): &&(usize, Fragment)| *offset == insn.offset;
        while let Some((_, fragment)) = pending.next_if(|next| here(next) && next.1.after) {
            placed.push(at);
            at += fragment.code.len();
        }
        // Even of the largest fragments, 65,535 stay far below 2^31.
        let label = u32::try_from(at).map_err(|_| SkipReason::TooLarge)? & !INSIDE;
        if let Some(place) = labels.get_mut(insn.offset..insn.end()) {
            place.fill(label | INSIDE);
            if let [first, ..] = place {
                *first = label;
            }
        }
        while let Some((_, fragment)) = pending.next_if(here) {
            placed.push(at);
            at += fragment.code.len();
        }
        at += match OPCODES[usize::from(insn.opcode)].form {
            Form::TableSwitch | Form::LookupSwitch => {
                insn.bytes.len() - padding(insn.offset) + padding(at)
            }
            Form::Branch2 if widened.binary_search(&insn.offset).is_ok() => 5,
            _ => insn.bytes.len(),
        };
        // Far beyond what can work out, and before anything overflows.
        if at > 0x0100_0000 {
            return Err(SkipReason::TooLarge);
        }
    }
    // A fragment in the middle of an instruction, or behind the last.
    if pending.next().is_some() {
        return Err(SkipReason::Malformed);
    }
    if let Some(end) = labels.last_mut() {
        *end = at as u32;
    }
    let map = CodeMap {
        labels: Some(labels),
        shift: 0,
        old_len,
        fragments: fragments
            .iter()
            .filter(|(_, fragment)| !fragment.after)
            .map(|(at, fragment)| (*at, fragment.code.len()))
            .collect(),
        body_end: at,
    };
    Ok((map, placed))
}

fn padding(offset: usize) -> usize {
    3 - (offset & 3)
}

/// How far a jump goes in the new code.
fn distance(map: &CodeMap, from: usize, old_target: usize) -> Result<i32, SkipReason> {
    let target = map.label(old_target)?;
    // No instruction is behind the end.
    if target == map.body_end {
        return Err(SkipReason::Malformed);
    }
    // Both are below 2^24.
    Ok(target as i32 - from as i32)
}

/// The target of a jump that is `jump` bytes away.
fn old_target(insn: &Insn<'_>, jump: i32) -> Result<usize, SkipReason> {
    insn.offset
        .checked_add_signed(jump as isize)
        .ok_or(SkipReason::Malformed)
}

fn half(insn: &Insn<'_>, at: usize) -> i32 {
    match insn.bytes.get(at..at + 2) {
        Some(&[high, low]) => i32::from(i16::from_be_bytes([high, low])),
        _ => 0,
    }
}

fn word(insn: &Insn<'_>, at: usize) -> i32 {
    match insn.bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => i32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// The jumps that have become too far. Only grows, so that laying out comes to
/// an end.
#[derive(Default)]
struct Far {
    /// Old offsets of `goto` and `jsr`, which have wide forms; sorted.
    gotos: Vec<usize>,
    /// For the others.
    islands: Islands,
    rounds: u32,
}

/// Real code is laid out after two or three rounds. A chain of jumps, each
/// pushed too far by the one before, could take thousands; from this round on,
/// all jumps are taken for too far.
const MAX_ROUNDS: u32 = 16;

impl Far {
    /// Adds what is too far in this layout; returns whether there was any more.
    fn add(&mut self, code: &Code<'_>, map: &CodeMap) -> Result<bool, SkipReason> {
        self.rounds += 1;
        let known = self.gotos.len();
        let mut more = false;
        for insn in code.instructions() {
            let insn = insn?;
            if OPCODES[usize::from(insn.opcode)].form != Form::Branch2 {
                continue;
            }
            let from = map.insn(insn.offset)?;
            let target = old_target(&insn, half(&insn, 1))?;
            let near = i16::try_from(distance(map, from, target)?).is_ok();
            if near && self.rounds < MAX_ROUNDS {
                continue;
            }
            if !matches!(insn.opcode, op::GOTO | op::JSR) {
                more |= self.islands.add(from, target);
            } else if self.gotos[..known].binary_search(&insn.offset).is_err() {
                self.gotos.push(insn.offset);
                more = true;
            }
        }
        self.gotos.sort_unstable();
        Ok(more)
    }
}

fn emit(
    code: &Code<'_>,
    entry: &Fragment,
    fragments: &[(usize, Fragment)],
    map: &CodeMap,
    islands: &Islands,
) -> Result<Vec<u8>, SkipReason> {
    // Room for the handler that will follow.
    let mut out = Vec::with_capacity(map.body_end + islands.back_len() + 64);
    islands.emit_front(&mut out, |old| map.label(old))?;
    out.extend_from_slice(&entry.code);
    let mut pending = fragments.iter().peekable();
    for insn in code.instructions() {
        let insn = insn?;
        while let Some((_, fragment)) = pending.next_if(|(offset, _)| *offset == insn.offset) {
            out.extend_from_slice(&fragment.code);
        }
        let at = out.len();
        match OPCODES[usize::from(insn.opcode)].form {
            Form::Branch2 => {
                let target = old_target(&insn, half(&insn, 1))?;
                let distance = distance(map, at, target)?;
                match i16::try_from(distance) {
                    // A jump that was widened stays so, though later ones may
                    // have brought its target back.
                    Ok(distance) if map_len(map, &insn)? == 3 => {
                        out.push(insn.opcode);
                        out.extend(distance.to_be_bytes());
                    }
                    _ if matches!(insn.opcode, op::GOTO | op::JSR) => {
                        out.push(insn.opcode - op::GOTO + op::GOTO_W);
                        out.extend(distance.to_be_bytes());
                    }
                    _ => {
                        let island = islands.find(at, target, map.body_end);
                        let distance = island.map(|island| island as i32 - at as i32);
                        let distance = distance.and_then(|distance| i16::try_from(distance).ok());
                        out.push(insn.opcode);
                        out.extend(distance.ok_or(SkipReason::TooLarge)?.to_be_bytes());
                    }
                }
            }
            Form::Branch4 => {
                let distance = distance(map, at, old_target(&insn, word(&insn, 1))?)?;
                out.push(insn.opcode);
                out.extend(distance.to_be_bytes());
            }
            form @ (Form::TableSwitch | Form::LookupSwitch) => {
                let from = 1 + padding(insn.offset);
                let jump = |out: &mut Vec<u8>, place: usize| -> Result<(), SkipReason> {
                    let distance = distance(map, at, old_target(&insn, word(&insn, place))?)?;
                    out.extend(distance.to_be_bytes());
                    Ok(())
                };
                let copy = |out: &mut Vec<u8>, place: usize| {
                    out.extend(word(&insn, place).to_be_bytes());
                };
                out.push(insn.opcode);
                out.extend(std::iter::repeat_n(0, padding(at)));
                jump(&mut out, from)?;
                copy(&mut out, from + 4);
                if form == Form::TableSwitch {
                    copy(&mut out, from + 8);
                    for place in (from + 12..insn.bytes.len()).step_by(4) {
                        jump(&mut out, place)?;
                    }
                } else {
                    for place in (from + 8..insn.bytes.len()).step_by(8) {
                        copy(&mut out, place);
                        jump(&mut out, place + 4)?;
                    }
                }
            }
            _ => out.extend_from_slice(insn.bytes),
        }
    }
    islands.emit_back(&mut out, |old| map.label(old))?;
    Ok(out)
}

/// The length that a jump was given in the layout.
fn map_len(map: &CodeMap, insn: &Insn<'_>) -> Result<usize, SkipReason> {
    // What follows is an instruction or the end; its label is where this one
    // ends.
    Ok(map.label(insn.end())? - map.insn(insn.offset)?)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let fragments: Vec<_> = fragments.iter().map(|&(at, len)| (at, nops(len))).collect();
        let moved = relocate(&code, &nops(entry), &fragments)?;
        let new_insns: Result<Vec<_>, _> = Instructions::new(&moved.code, 0).collect();
        let new_insns = new_insns?;
        for old in code.instructions() {
            let old = old?;
            let at = moved.map.insn(old.offset)?;
            let find = |at: usize| {
                let place = new_insns.binary_search_by_key(&at, |new| new.offset);
                &new_insns[place.expect("it is there")]
            };
            let new = find(at);
            let widened = matches!(
                (old.opcode, new.opcode),
                (op::GOTO, op::GOTO_W) | (op::JSR, op::JSR_W)
            );
            assert!(new.opcode == old.opcode || widened);
            if let (Operand::Branch(target), Operand::Branch(mut reached)) =
                (old.operand()?, new.operand()?)
            {
                // An island, before or behind everything that was moved.
                if reached < moved.islands.front_len() || reached >= moved.map.body_end {
                    assert!(!widened);
                    let island = find(reached);
                    assert_eq!(island.opcode, op::GOTO_W);
                    let Operand::Branch(target) = island.operand()? else {
                        panic!("it jumps")
                    };
                    reached = target;
                }
                assert_eq!(reached, moved.map.label(target)?);
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
        let mut after = nops(2);
        after.after = true;
        let moved = relocate(&code, &Fragment::default(), &[(1, after), (1, nops(1))]).unwrap();
        assert_eq!(moved.code, [op::ICONST_0, 0, 0, 0, op::GOTO, 0xff, 0xff]);
        assert_eq!((moved.map.label(1), moved.map.insn(1)), (Ok(3), Ok(4)));
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
        let moved = check(&far(op::JSR), 0, &[(5, 1)]).expect("it can be widened");
        assert_eq!(moved[..5], [op::JSR_W, 0, 0, 0x80, 2]);
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
                Err(SkipReason::Malformed),
                "{jump}"
            );
        }
        assert_eq!(
            check(&[op::RETURN], 0, &[(1, 1)]),
            Err(SkipReason::Malformed)
        );
    }

    #[test]
    fn what_is_moved_as_a_whole_is_what_is_moved_piece_by_piece() {
        // 0: aload_0; 1: ifnull 0; 4: goto 1; 7: return
        let bytecode = [
            op::ALOAD_0,
            op::IFNULL,
            0xff,
            0xff,
            op::GOTO,
            0xff,
            0xfd,
            op::RETURN,
        ];
        let info = attribute(&bytecode);
        let code = Code::parse(&Attribute {
            name_index: 0,
            info: &info,
            offset: 0,
        })
        .expect("it is a body");
        for entry in [0, 1, 7] {
            let entry = nops(entry);
            let pieces = relocate(&code, &entry, &[]).expect("it can be moved");
            let whole = shift(Relocated::default(), &code, &entry);
            assert_eq!(whole.code, pieces.code);
            assert_eq!(whole.map.body_end, pieces.map.body_end);
            assert_eq!(whole.map.is_identity(), entry.code.is_empty());
            for old in [0, 1, 4, 7] {
                assert_eq!(whole.map.label(old), pieces.map.label(old));
                assert_eq!(whole.map.insn(old), pieces.map.insn(old));
                assert_eq!(whole.map.debug(old), pieces.map.debug(old));
            }
            assert_eq!(whole.map.label(8), pieces.map.label(8));
            assert_eq!(whole.map.label(9), Err(SkipReason::Malformed));
            assert_eq!(whole.map.debug(9), Err(SkipReason::Malformed));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Jumps of all kinds, far and near, all over a body of up to the
        /// largest size.
        #[test]
        fn far_jumps_keep_their_targets(
            jumps in prop::collection::btree_map(
                0usize..13_000,
                (prop::sample::select(vec![op::GOTO, op::JSR, op::IFEQ, op::IF_ICMPLT, op::IFNONNULL]), 0usize..13_000),
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
