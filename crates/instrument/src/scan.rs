//! One pass over a body's instructions, for what the rest needs to know.

use hindsight_classfile::{Code, Insn, Operand, opcode as op};

use crate::SkipReason;

/// What a body does to its parameters, and with fields.
#[derive(Debug, Default)]
pub struct Scan {
    /// The slots of the parameters, `this` included, that the body stores into.
    pub stored: Slots,
    /// Whether anything jumps.
    pub jumps: bool,
    /// Whether there are switches, which are padded to multiples of four bytes.
    pub switches: bool,
    /// The field references of `getfield` and `putfield`, each once, in order.
    pub fields: Vec<FieldUse>,
}

/// A field reference that the body uses.
#[derive(Debug, Clone, Copy)]
pub struct FieldUse {
    /// The constant.
    pub index: u16,
    /// Slots of parameters from which the body loads the reference right before
    /// a `getfield`.
    pub loaded_from: Slots,
}

/// A set of the slots that parameters may take: 0 to 254 (JVMS 4.3.3).
#[derive(Debug, Default, Clone, Copy)]
pub struct Slots([u64; 4]);

impl Slots {
    /// Adds a slot; one that no parameter can have is left out.
    pub fn insert(&mut self, slot: u16) {
        if let Some(word) = self.0.get_mut(usize::from(slot / 64)) {
            *word |= 1 << (slot % 64);
        }
    }

    /// Whether a slot is there.
    pub fn contains(&self, slot: u16) -> bool {
        self.0
            .get(usize::from(slot / 64))
            .is_some_and(|word| word & 1 << (slot % 64) != 0)
    }
}

/// Reads `code`, whose parameters take `slots`.
pub fn scan(code: &Code<'_>, slots: u16, want_fields: bool) -> Result<Scan, SkipReason> {
    let mut scan = Scan::default();
    scan.restart(code, slots, want_fields)?;
    Ok(scan)
}

impl Scan {
    /// Reads `code` as [`scan`] does, in memory that has been used.
    pub fn restart(
        &mut self,
        code: &Code<'_>,
        slots: u16,
        want_fields: bool,
    ) -> Result<(), SkipReason> {
        self.fields.clear();
        (self.stored, self.jumps, self.switches) = (Slots::default(), false, false);
        // Where a jump out of the code leads to, there may be code of ours.
        let inside = |target: Option<usize>| match target {
            Some(target) if target < code.bytecode.len() => Ok(()),
            _ => Err(SkipReason::Malformed),
        };
        let mut loaded = None;
        for insn in code.instructions() {
            let insn = insn?;
            let opcode = insn.effective_opcode();
            let loaded_before = loaded.take();
            match opcode {
                op::ISTORE..=op::ASTORE_3 | op::IINC => self.store(&insn, opcode)?,
                op::ALOAD_0..=op::ALOAD_3 => {
                    let slot = u16::from(opcode - op::ALOAD_0);
                    loaded = Some(slot).filter(|&slot| slot < slots);
                }
                op::ALOAD => {
                    if let Operand::Local(slot) = insn.operand()? {
                        loaded = Some(slot).filter(|&slot| slot < slots);
                    }
                }
                op::GETFIELD | op::PUTFIELD if want_fields => {
                    let index = insn.constant();
                    let loaded_before = loaded_before.filter(|_| opcode == op::GETFIELD);
                    self.field(index, loaded_before);
                }
                op::IFEQ..=op::GOTO | op::IFNULL..=op::GOTO_W => {
                    self.jumps = true;
                    if let Operand::Branch(target) = insn.operand()? {
                        inside(Some(target))?;
                    }
                }
                op::TABLESWITCH | op::LOOKUPSWITCH => {
                    (self.jumps, self.switches) = (true, true);
                    if let Operand::Switch(switch) = insn.operand()? {
                        switch.targets().try_for_each(inside)?;
                    }
                }
                op::JSR | op::JSR_W | op::RET => return Err(SkipReason::Subroutines),
                _ => {}
            }
        }
        Ok(())
    }

    fn store(&mut self, insn: &Insn<'_>, opcode: u8) -> Result<(), SkipReason> {
        let (Operand::Local(slot) | Operand::Iinc { local: slot, .. }) = insn.operand()? else {
            return Err(SkipReason::Malformed);
        };
        let wide = matches!(
            opcode,
            op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3
        );
        self.stored.insert(slot);
        if wide && let Some(second) = slot.checked_add(1) {
            self.stored.insert(second);
        }
        Ok(())
    }

    fn field(&mut self, index: u16, loaded_from: Option<u16>) {
        // Bodies use few fields, so looking through them is quick; the few that
        // do not are kept quick by giving up on the rest.
        let known = self.fields.iter().position(|field| field.index == index);
        let at = match known {
            Some(at) => at,
            None if self.fields.len() >= MAX_FIELDS => return,
            None => {
                let loaded_from = Slots::default();
                self.fields.push(FieldUse { index, loaded_from });
                self.fields.len() - 1
            }
        };
        if let (Some(slot), Some(field)) = (loaded_from, self.fields.get_mut(at)) {
            field.loaded_from.insert(slot);
        }
    }
}

/// Field references that are looked at in one body.
const MAX_FIELDS: usize = 256;
