//! Tests that code still jumps to the same instructions after fragments were inserted.

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

/// Inserts fragments into `bytecode` and checks that each jump still leads to the same instruction,
/// including the fragments before it.
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
    let mut moved = Relocated::default();
    relocate(&mut moved, &code, &scan, &nops(entry), &insertions)?;
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
            // The jump leads to an island, before or behind everything that was moved.
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
    let entry = Fragment::default();
    let mut moved = Relocated::default();
    relocate(&mut moved, &code, &scan, &entry, &insertions).unwrap();
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

/// Each jump is pushed too far by the widening of the next one, one in each round: after some
/// rounds, all are widened at once.
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
    // These lead into an instruction, to the end, behind it, and before the start.
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
    let mut moved = Relocated::default();
    relocate(&mut moved, &code, &scan, &nops(3), &insertions).unwrap();
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
        // Each jump takes five bytes, with two `nop`s behind it; the rest are `nop`s.
        let mut bytecode = vec![op::NOP; 5 * len + 1];
        bytecode[5 * len] = op::RETURN;
        for (&at, &(opcode, target)) in jumps.iter().filter(|(at, _)| **at < len) {
            let target = target % len;
            // The jump is made only if the old code could express it.
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
