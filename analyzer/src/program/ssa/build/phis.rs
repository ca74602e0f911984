//! Phis: the values of variables at the beginning of blocks.

use super::{Builder, MAX_VALUES, Result, find, insert};
use crate::program::ssa::{Edge, Error, Insn, Kind, Op, Value};

impl Builder<'_> {
    /// The value of a variable at the beginning of a block.
    pub(super) fn begin(&mut self, mut block: u32, variable: u32, kind: Kind) -> Result<Value> {
        let mut path = Vec::new();
        let value = loop {
            if let Some(known) = find(&self.begun[block as usize], variable) {
                break known;
            }
            path.push(block);
            match self.before[block as usize].as_slice() {
                // Upwards along a chain of blocks, no phis are needed.
                &[Edge { from, thrown }] if block != 0 => {
                    let left = (!thrown)
                        .then(|| find(&self.left[from as usize], variable))
                        .flatten();
                    // What a block leaves is only known after it was read.
                    if let Some(left) = left {
                        break left;
                    }
                    if self.stacks[from as usize].is_none() || path.len() > self.before.len() {
                        let phi = self.value(kind)?;
                        self.phis.push((block, variable, phi));
                        break phi;
                    }
                    block = from;
                }
                _ => {
                    let phi = self.value(kind)?;
                    self.phis.push((block, variable, phi));
                    break phi;
                }
            }
        };
        for block in path {
            insert(&mut self.begun[block as usize], variable, value);
        }
        Ok(value)
    }

    /// Finds the operands of phis, which may make more phis.
    pub(super) fn fill_phis(&mut self) -> Result<()> {
        let mut at = 0;
        self.stack.clear();
        let mut filled = Vec::new();
        while let Some(&(block, variable, phi)) = self.phis.get(at) {
            at += 1;
            let kind = self.kinds[phi.0 as usize];
            let edges = self.before[block as usize].clone();
            let mut operands = Vec::with_capacity(edges.len() + 1);
            for Edge { from, thrown } in edges {
                let stacked = variable as usize >= self.locals;
                let operand = if thrown && stacked {
                    // The exception itself, at a handler to which jumps lead as well.
                    self.undefined(from, Op::Catch, kind)?
                } else {
                    let left = (!thrown)
                        .then(|| find(&self.left[from as usize], variable))
                        .flatten();
                    match left {
                        Some(left) => left,
                        None => self.begin(from, variable, kind)?,
                    }
                };
                operands.push(operand);
            }
            if block == 0 {
                // The edge from outside comes last.
                let arguments = self.left.get(self.insns.len());
                let argument = arguments.and_then(|left| find(left, variable));
                let operand = match argument {
                    Some(argument) => argument,
                    None => self.undefined(0, Op::Undefined, kind)?,
                };
                operands.push(operand);
            }
            // If the values have different kinds, there is no value: no path reads it.
            if operands
                .iter()
                .any(|value| self.kinds[value.0 as usize] != kind)
            {
                operands.clear();
            }
            filled.push(operands);
            if self.phis.len() + self.operands.len() > MAX_VALUES {
                return Err(Error::TooLarge);
            }
        }
        let phis = std::mem::take(&mut self.phis);
        let total: usize = filled.iter().map(Vec::len).sum();
        if total > MAX_VALUES {
            return Err(Error::TooLarge);
        }
        let replaced = thin(&phis, &filled, self.kinds.len());
        for value in &mut self.operands {
            *value = replaced[value.0 as usize];
        }
        let mut by_block: Vec<Vec<Insn>> = vec![Vec::new(); self.insns.len()];
        for ((block, _, phi), operands) in phis.into_iter().zip(filled) {
            if replaced[phi.0 as usize] != phi {
                continue;
            }
            let start = self.operands.len() as u32;
            self.operands
                .extend(operands.iter().map(|value| replaced[value.0 as usize]));
            let op = if operands.is_empty() {
                Op::Undefined
            } else {
                Op::Phi
            };
            by_block[block as usize].push(Insn {
                op,
                pc: self.cfg.blocks[block as usize].start as u16,
                result: Some(phi),
                operands: (start, self.operands.len() as u32),
            });
        }
        for (insns, mut phis) in self.insns.iter_mut().zip(by_block) {
            phis.append(insns);
            *insns = phis;
        }
        Ok(())
    }

    /// A new value that a block defines at its beginning.
    fn undefined(&mut self, block: u32, op: Op, kind: Kind) -> Result<Value> {
        let result = self.value(kind)?;
        let start = self.cfg.blocks[block as usize].start;
        let insn = Insn {
            op,
            pc: start as u16,
            result: Some(result),
            operands: (0, 0),
        };
        self.insns[block as usize].insert(0, insn);
        Ok(result)
    }
}

/// For each value, the value that replaces it: a phi that chooses between itself and one other
/// value is that value.
fn thin(phis: &[(u32, u32, Value)], operands: &[Vec<Value>], count: usize) -> Vec<Value> {
    let mut replaced: Vec<Value> = (0..count as u32).map(Value).collect();
    fn root(replaced: &mut [Value], value: Value) -> Value {
        let mut at = value;
        while replaced[at.0 as usize] != at {
            let above = replaced[at.0 as usize];
            replaced[at.0 as usize] = replaced[above.0 as usize];
            at = above;
        }
        at
    }
    // For each phi, the phis that have it as an operand.
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); phis.len()];
    let mut place = vec![u32::MAX; count];
    for (number, &(_, _, phi)) in phis.iter().enumerate() {
        place[phi.0 as usize] = number as u32;
    }
    for (number, operands) in operands.iter().enumerate() {
        for operand in operands {
            if let Some(user) = users.get_mut(place[operand.0 as usize] as usize) {
                user.push(number as u32);
            }
        }
    }
    let mut pending: Vec<u32> = (0..phis.len() as u32).rev().collect();
    while let Some(number) = pending.pop() {
        let phi = phis[number as usize].2;
        if root(&mut replaced, phi) != phi {
            continue;
        }
        let mut only = None;
        let mut several = operands[number as usize].is_empty();
        for &operand in &operands[number as usize] {
            let operand = root(&mut replaced, operand);
            if operand == phi || only == Some(operand) {
                continue;
            }
            if only.replace(operand).is_some() {
                several = true;
                break;
            }
        }
        if let (Some(only), false) = (only, several) {
            replaced[phi.0 as usize] = only;
            // The users of this phi now use the other value.
            let mine = std::mem::take(&mut users[number as usize]);
            pending.extend(&mine);
            let other = place[only.0 as usize] as usize;
            if let Some(users) = users.get_mut(other) {
                users.extend(mine);
            }
        }
    }
    for at in 0..count {
        let value = root(&mut replaced, Value(at as u32));
        replaced[at] = value;
    }
    replaced
}
