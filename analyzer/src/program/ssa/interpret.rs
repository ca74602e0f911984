//! Runs bodies that compute with `int`s, to test that they do the same as the bytecode.

use super::{Body, Edge, Op, Value};
use hindsight_classfile::opcode as oc;

/// The result of a body for these arguments. The targets of branches come from the control flow:
/// the block that begins at the jump's target is, in the code used here, the one that is not next.
pub(super) fn run(body: &Body, arguments: &[i32]) -> i32 {
    let mut values = vec![0i32; body.kinds.len()];
    let mut block = 0u32;
    let mut came: Option<u32> = None;
    for _ in 0..100_000 {
        let before = &body.blocks[block as usize].before;
        let edge = came.map(|from| {
            before
                .iter()
                .position(|edge| {
                    *edge
                        == Edge {
                            from,
                            thrown: false,
                        }
                })
                .unwrap()
        });
        // Phis are evaluated simultaneously.
        let chosen: Vec<(Value, i32)> = body
            .block(block)
            .iter()
            .filter(|insn| insn.op == Op::Phi)
            .map(|insn| {
                let at = edge.unwrap_or(before.len());
                (
                    insn.result.unwrap(),
                    values[body.operands(insn)[at].0 as usize],
                )
            })
            .collect();
        for (value, number) in chosen {
            values[value.0 as usize] = number;
        }
        let mut taken = None;
        for insn in body.block(block) {
            let operands: Vec<i32> = body
                .operands(insn)
                .iter()
                .map(|value| values[value.0 as usize])
                .collect();
            let result = match insn.op {
                Op::Phi => continue,
                Op::Param(number) => arguments[usize::from(number)],
                Op::Int(number) => number,
                Op::Compute(oc::IADD) => operands[0].wrapping_add(operands[1]),
                Op::Compute(oc::ISUB) => operands[0].wrapping_sub(operands[1]),
                Op::Compute(oc::IMUL) => operands[0].wrapping_mul(operands[1]),
                Op::Branch(code) => {
                    let zero = operands.get(1).copied().unwrap_or(0);
                    let jumps = match code {
                        oc::IFEQ | oc::IF_ICMPEQ => operands[0] == zero,
                        oc::IFNE | oc::IF_ICMPNE => operands[0] != zero,
                        oc::IFLE | oc::IF_ICMPLE => operands[0] <= zero,
                        oc::IFGT | oc::IF_ICMPGT => operands[0] > zero,
                        oc::IFLT | oc::IF_ICMPLT => operands[0] < zero,
                        oc::IFGE | oc::IF_ICMPGE => operands[0] >= zero,
                        other => panic!("branch {other}"),
                    };
                    taken = Some(jumps);
                    continue;
                }
                Op::Return => return operands[0],
                other => panic!("{other:?}"),
            };
            values[insn.result.unwrap().0 as usize] = result;
        }
        let flow = &body.cfg.blocks[block as usize];
        let after = flow
            .next
            .iter()
            .copied()
            .find(|&next| body.cfg.blocks[next as usize].start == flow.end);
        let next = match taken {
            None if flow.next.len() == 1 => flow.next[0],
            Some(false) => after.unwrap(),
            _ => flow
                .next
                .iter()
                .copied()
                .find(|next| Some(*next) != after)
                .unwrap(),
        };
        came = Some(block);
        block = next;
    }
    panic!("no end")
}
