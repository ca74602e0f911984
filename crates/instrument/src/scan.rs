//! One pass over a body's instructions, for what the rest needs to know.

use hindsight_classfile::{Code, Operand, opcode as op};

use crate::SkipReason;

/// What a body does to its parameters, and with fields.
#[derive(Debug, Default)]
pub struct Scan {
    /// For each slot of the parameters, `this` included: whether the body
    /// stores into it.
    pub stored: Vec<bool>,
    /// Whether anything jumps.
    pub jumps: bool,
    /// The field references of `getfield` and `putfield`, each once, in order.
    pub fields: Vec<FieldUse>,
}

/// A field reference that the body uses.
#[derive(Debug)]
pub struct FieldUse {
    /// The constant.
    pub index: u16,
    /// Slots of parameters from which the body loads the reference right before
    /// a `getfield`.
    pub loaded_from: Vec<u16>,
}

/// Reads `code`, whose parameters take `slots`.
pub fn scan(code: &Code<'_>, slots: u16, want_fields: bool) -> Result<Scan, SkipReason> {
    let mut scan = Scan {
        stored: vec![false; usize::from(slots)],
        ..Scan::default()
    };
    let mut loaded = None;
    for insn in code.instructions() {
        let insn = insn?;
        let opcode = insn.effective_opcode();
        let loaded_before = loaded.take();
        match opcode {
            op::ISTORE..=op::ASTORE_3 | op::IINC => {
                let (Operand::Local(slot) | Operand::Iinc { local: slot, .. }) = insn.operand()?
                else {
                    return Err(SkipReason::Malformed);
                };
                let wide = matches!(
                    opcode,
                    op::LSTORE
                        | op::DSTORE
                        | op::LSTORE_0..=op::LSTORE_3
                        | op::DSTORE_0..=op::DSTORE_3
                );
                let slot = usize::from(slot);
                for slot in slot..=slot + usize::from(wide) {
                    if let Some(stored) = scan.stored.get_mut(slot) {
                        *stored = true;
                    }
                }
            }
            op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => {
                if let Operand::Local(slot) = insn.operand()? {
                    loaded = Some(slot).filter(|&slot| slot < slots);
                }
            }
            op::GETFIELD | op::PUTFIELD if want_fields => {
                let Operand::Constant(index) = insn.operand()? else {
                    return Err(SkipReason::Malformed);
                };
                // Bodies use few fields, so looking through them is quick; the
                // few that do not are kept quick by giving up on the rest.
                let at = match scan.fields.iter().position(|field| field.index == index) {
                    Some(at) => at,
                    None if scan.fields.len() >= MAX_FIELDS => continue,
                    None => {
                        scan.fields.push(FieldUse {
                            index,
                            loaded_from: Vec::new(),
                        });
                        scan.fields.len() - 1
                    }
                };
                if opcode == op::GETFIELD
                    && let Some(slot) = loaded_before
                    && let Some(field) = scan.fields.get_mut(at)
                    && !field.loaded_from.contains(&slot)
                {
                    field.loaded_from.push(slot);
                }
            }
            op::JSR | op::JSR_W | op::RET => return Err(SkipReason::Subroutines),
            op::IFEQ..=op::GOTO | op::TABLESWITCH | op::LOOKUPSWITCH | op::IFNULL..=op::GOTO_W => {
                scan.jumps = true
            }
            _ => {}
        }
    }
    Ok(scan)
}

/// Field references that are looked at in one body.
const MAX_FIELDS: usize = 256;
