//! One pass over a body's instructions, which collects what the other modules need to know.

use hindsight_classfile::{Code, Operand, opcode as op};

use crate::SkipReason;
use crate::asm::MAX_SPARE_LEN;

/// What a body does to its parameters, and with fields.
#[derive(Debug, Default)]
pub struct Scan {
    /// The slots of the parameters, `this` included, that the body stores into.
    pub stored: Slots,
    /// Whether there is an instruction that may throw wherever it stands; [`crate::throwing`] finds
    /// out more.
    pub throws: bool,
    /// The offsets of the jumps, except the switches.
    pub jumps: Vec<usize>,
    pub switches: Vec<Switch>,
    /// The field references of `getfield` and `putfield`, each once, in the order of the code.
    pub fields: Vec<FieldUse>,
    /// The offsets of the instructions that were asked for.
    pub sites: Vec<usize>,
    /// Whether an instruction begins at each offset.
    starts: Vec<bool>,
}

/// What is to be found besides what is always needed.
#[derive(Debug, Default, Clone, Copy)]
pub struct Wanted {
    /// Whether to fill [`Scan::fields`].
    pub fields: bool,
    /// Whether returns are among [`Scan::sites`].
    pub returns: bool,
    /// Whether calls are among [`Scan::sites`], except `invokeinterface` and `invokedynamic`.
    pub calls: bool,
    /// Whether writes of fields and array elements are among [`Scan::sites`].
    pub writes: bool,
    /// Whether reads of fields and array elements are among [`Scan::sites`].
    pub reads: bool,
}

/// A switch, which is padded to a multiple of four bytes.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    pub start: usize,
    pub end: usize,
}

/// A field reference that the body uses.
#[derive(Debug, Clone, Copy)]
pub struct FieldUse {
    /// The index of the reference in the constant pool.
    pub index: u16,
    /// Slots of parameters from which the body loads the reference right before
    /// a `getfield`.
    pub loaded_from: Slots,
}

/// A set of the slots that parameters may take: 0 to 254 (JVMS 4.3.3).
#[derive(Debug, Default, Clone, Copy)]
pub struct Slots([u64; 4]);

impl Slots {
    /// Adds a slot; a slot that no parameter can have is ignored.
    pub fn insert(&mut self, slot: u16) {
        if let Some(word) = self.0.get_mut(usize::from(slot / 64)) {
            *word |= 1 << (slot % 64);
        }
    }

    /// Adds the two slots of a `long` or `double`.
    fn insert_two(&mut self, slot: u16) {
        self.insert(slot);
        self.insert(slot.saturating_add(1));
    }

    /// Whether a slot is in the set.
    pub fn contains(&self, slot: u16) -> bool {
        self.0
            .get(usize::from(slot / 64))
            .is_some_and(|word| word & 1 << (slot % 64) != 0)
    }
}

/// Reads `code`, whose parameters take `slots`.
pub fn scan(code: &Code<'_>, slots: u16, wanted: Wanted) -> Result<Scan, SkipReason> {
    let mut scan = Scan::default();
    scan.restart(code, slots, wanted)?;
    Ok(scan)
}

impl Scan {
    /// Releases memory that only an unusually large method needs.
    pub fn trim(&mut self) {
        for list in [&mut self.jumps, &mut self.sites] {
            list.clear();
            list.shrink_to(MAX_SPARE_LEN / 16);
        }
    }

    /// Reads `code` as [`scan`] does, in memory that has been used.
    ///
    /// It is the only pass over every instruction of a class, so it examines most of them no more
    /// closely than it takes to find the next.
    pub fn restart(
        &mut self,
        code: &Code<'_>,
        slots: u16,
        wanted: Wanted,
    ) -> Result<(), SkipReason> {
        self.stored = Slots::default();
        self.jumps.clear();
        self.switches.clear();
        self.fields.clear();
        self.sites.clear();
        let bytecode = code.bytecode;
        let mut starts = std::mem::take(&mut self.starts);
        starts.clear();
        starts.resize(bytecode.len(), false);
        let steps = wanted.steps();
        let mut at = 0;
        let mut seen = 0;
        // The slot that a reference was loaded from, and the offset of the instruction behind that
        // load.
        let mut loaded = (0, usize::MAX);
        while let Some((&opcode, start)) = bytecode.get(at).zip(starts.get_mut(at)) {
            *start = true;
            let step = steps[usize::from(opcode)];
            let end = at + usize::from(step & LEN);
            seen |= step;
            if step & ACTION == PLAIN {
                at = end;
                continue;
            }
            if step & LEN == 0 || bytecode.len() < end {
                at = self.long(code, at)?;
                continue;
            }
            // The instruction is there in full, so none of these reads the default of zero.
            let byte = u16::from(bytecode.get(at + 1).copied().unwrap_or(0));
            let half = || byte << 8 | u16::from(bytecode.get(at + 2).copied().unwrap_or(0));
            match step & ACTION {
                STORE => self.stored.insert(byte),
                STORE_WIDE => self.stored.insert_two(byte),
                STORE_SHORT => self.stored.insert(u16::from((opcode - op::ISTORE_0) % 4)),
                STORE_WIDE_SHORT => self
                    .stored
                    .insert_two(u16::from((opcode - op::ISTORE_0) % 4)),
                LOAD if byte < slots => loaded = (byte, end),
                LOAD_SHORT => {
                    let slot = u16::from(opcode - op::ALOAD_0);
                    if slot < slots {
                        loaded = (slot, end);
                    }
                }
                JUMP => self.jumps.push(at),
                SUBROUTINE => return Err(SkipReason::Subroutines),
                SITE => self.sites.push(at),
                FIELD => {
                    let (slot, loaded_at) = loaded;
                    let fresh = loaded_at == at && opcode == op::GETFIELD;
                    self.field(half(), fresh.then_some(slot));
                }
                // The load is from a slot that belongs to no parameter.
                _ => {}
            }
            at = end;
        }
        if at != bytecode.len() {
            return Err(SkipReason::malformed(code.bytecode_offset + bytecode.len()));
        }
        self.throws = seen & THROWS != 0;
        self.starts = starts;
        self.check_ways(code)
    }

    /// Checks that jumps and the exception table lead to instructions: elsewhere there may be
    /// inserted code.
    fn check_ways(&self, code: &Code<'_>) -> Result<(), SkipReason> {
        let check = |target: Option<usize>, from: usize| match target {
            Some(target) if self.begins(target) => Ok(()),
            _ => Err(SkipReason::malformed(code.bytecode_offset + from)),
        };
        for &jump in &self.jumps {
            let distance = match code.bytecode.get(jump..) {
                Some(&[op::GOTO_W, a, b, c, d, ..]) => i32::from_be_bytes([a, b, c, d]) as isize,
                Some(&[_, high, low, ..]) => i16::from_be_bytes([high, low]).into(),
                _ => return Err(SkipReason::MALFORMED),
            };
            check(jump.checked_add_signed(distance), jump)?;
        }
        for switch in &self.switches {
            let mut rest = code.instructions_from(switch.start);
            let insn = rest.next().ok_or(SkipReason::MALFORMED)??;
            if let Operand::Switch(operand) = insn.operand()? {
                let mut targets = operand.targets();
                targets.try_for_each(|target| check(target, switch.start))?;
            }
        }
        // The table stands behind the code and the number of its entries.
        let end = code.bytecode.len();
        for (entry, at) in code.handlers.zip((end + 2..).step_by(8)) {
            check(Some(usize::from(entry.start)), at)?;
            check(Some(usize::from(entry.handler)), at)?;
            if usize::from(entry.end) != end {
                check(Some(usize::from(entry.end)), at)?;
            }
        }
        Ok(())
    }

    /// Whether an instruction begins at an offset.
    fn begins(&self, offset: usize) -> bool {
        self.starts.get(offset) == Some(&true)
    }

    /// Reads an instruction whose length its opcode does not decide, or an invalid one; returns its
    /// end.
    #[cold]
    fn long(&mut self, code: &Code<'_>, at: usize) -> Result<usize, SkipReason> {
        let mut rest = code.instructions_from(at);
        let insn = rest.next().ok_or(SkipReason::MALFORMED)??;
        let operand = insn.operand();
        let operand = operand.map_err(|_| SkipReason::malformed(code.bytecode_offset + at))?;
        match (insn.effective_opcode(), operand) {
            (op::RET | op::JSR_W, _) => return Err(SkipReason::Subroutines),
            (op::LSTORE | op::DSTORE, Operand::Local(slot)) => self.stored.insert_two(slot),
            (op::ISTORE..=op::ASTORE, Operand::Local(slot))
            | (_, Operand::Iinc { local: slot, .. }) => self.stored.insert(slot),
            (_, Operand::Branch(_)) => self.jumps.push(at),
            (_, Operand::Switch(_)) => self.switches.push(Switch {
                start: at,
                end: insn.end(),
            }),
            _ => {}
        }
        Ok(insn.end())
    }

    fn field(&mut self, index: u16, loaded_from: Option<u16>) {
        // Most bodies use few fields, so searching them all is quick; in the few others, the rest
        // is ignored to keep it quick.
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

/// The most field references that are examined in one body.
const MAX_FIELDS: usize = 256;

impl Wanted {
    /// What the pass does with each opcode.
    fn steps(self) -> &'static [u8; 256] {
        let Self {
            fields,
            returns,
            calls,
            writes,
            reads,
        } = self;
        let bits = [fields, returns, calls, writes, reads];
        let bits = bits.iter().rev();
        &STEPS[bits.fold(0, |which, &bit| which << 1 | usize::from(bit))]
    }

    /// What is wanted in the table at the index `which` of [`STEPS`].
    const fn at(which: usize) -> Self {
        Self {
            fields: which & 1 != 0,
            returns: which & 2 != 0,
            calls: which & 4 != 0,
            writes: which & 8 != 0,
            reads: which & 16 != 0,
        }
    }

    /// The action for an opcode that is asked for besides what is always needed.
    const fn action(self, opcode: u8) -> u8 {
        let site = match opcode {
            op::IRETURN..=op::RETURN => self.returns,
            op::INVOKEVIRTUAL..=op::INVOKESTATIC => self.calls,
            op::IASTORE..=op::SASTORE | op::PUTSTATIC | op::PUTFIELD | op::MULTIANEWARRAY => {
                self.writes
            }
            op::IALOAD..=op::SALOAD | op::GETSTATIC | op::GETFIELD => self.reads,
            _ => false,
        };
        match opcode {
            _ if site => SITE,
            op::ALOAD if self.fields => LOAD,
            op::ALOAD_0..=op::ALOAD_3 if self.fields => LOAD_SHORT,
            op::GETFIELD | op::PUTFIELD if self.fields => FIELD,
            _ => PLAIN,
        }
    }
}

/// For each combination of what may be wanted, what the pass does with each opcode; the lowest bits
/// are the instruction's length, if the opcode decides it.
static STEPS: [[u8; 256]; 32] = {
    let mut all = [[0; 256]; 32];
    let mut which = 0;
    while which < all.len() {
        let mut opcode = 0;
        while opcode < 256 {
            all[which][opcode] = step(Wanted::at(which), opcode as u8);
            opcode += 1;
        }
        which += 1;
    }
    all
};

const fn step(wanted: Wanted, opcode: u8) -> u8 {
    let action = match opcode {
        op::LSTORE | op::DSTORE => STORE_WIDE,
        op::ISTORE..=op::ASTORE | op::IINC => STORE,
        op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3 => STORE_WIDE_SHORT,
        op::ISTORE_0..=op::ASTORE_3 => STORE_SHORT,
        op::JSR | op::RET => SUBROUTINE,
        op::IFEQ..=op::GOTO | op::IFNULL | op::IFNONNULL => JUMP,
        op::GOTO_W | op::JSR_W => LONG,
        _ => wanted.action(opcode),
    };
    let throws = match opcode {
        // For constructors, `throwing` finds out.
        op::INVOKESPECIAL => 0,
        op::IALOAD..=op::SALOAD
        | op::IASTORE..=op::SASTORE
        | op::INVOKEVIRTUAL..=op::ATHROW
        | op::CHECKCAST..=op::MONITOREXIT
        | op::MULTIANEWARRAY => THROWS,
        _ => 0,
    };
    match op::OPCODES[opcode as usize].form.fixed_len() {
        Some(len) if action != LONG => action | throws | len as u8,
        _ => LONG,
    }
}

const LEN: u8 = 0b111;
const ACTION: u8 = 0b1111 << 3;
/// Marks an opcode that sets [`Scan::throws`].
const THROWS: u8 = 1 << 7;
const PLAIN: u8 = 0 << 3;
const STORE: u8 = 1 << 3;
const STORE_WIDE: u8 = 2 << 3;
const STORE_SHORT: u8 = 3 << 3;
const STORE_WIDE_SHORT: u8 = 4 << 3;
const LOAD: u8 = 5 << 3;
const LOAD_SHORT: u8 = 6 << 3;
const FIELD: u8 = 7 << 3;
const JUMP: u8 = 8 << 3;
const SUBROUTINE: u8 = 9 << 3;
/// Marks an opcode that [`Scan::long`] reads.
const LONG: u8 = 10 << 3;
/// Marks an opcode that was asked for as a site.
const SITE: u8 = 11 << 3;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hindsight_classfile::Attribute;
    use proptest::prelude::*;

    /// The same result as [`scan`], found by reading the operands of every instruction.
    fn by_operands(code: &Code<'_>, slots: u16) -> Result<Scan, SkipReason> {
        let mut scan = Scan::default();
        let (mut starts, mut targets) = (Vec::new(), Vec::new());
        let mut loaded = None;
        for insn in code.instructions() {
            let insn = insn?;
            let (opcode, before) = (insn.effective_opcode(), loaded.take());
            match (opcode, insn.operand()?) {
                (op::JSR | op::JSR_W | op::RET, _) => return Err(SkipReason::Subroutines),
                (op::LSTORE | op::DSTORE, Operand::Local(slot)) => scan.stored.insert_two(slot),
                (
                    op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3,
                    Operand::Local(slot),
                ) => {
                    scan.stored.insert_two(slot);
                }
                (op::ISTORE..=op::ASTORE_3, Operand::Local(slot))
                | (_, Operand::Iinc { local: slot, .. }) => scan.stored.insert(slot),
                (op::ALOAD | op::ALOAD_0..=op::ALOAD_3, Operand::Local(slot))
                    if insn.opcode != op::WIDE && slot < slots =>
                {
                    loaded = Some(slot);
                }
                (op::GETFIELD, Operand::Constant(index)) => scan.field(index, before),
                (op::PUTFIELD, Operand::Constant(index)) => scan.field(index, None),
                (_, Operand::Branch(target)) => {
                    scan.jumps.push(insn.offset);
                    targets.push(Some(target));
                }
                (_, Operand::Switch(switch)) => {
                    let (start, end) = (insn.offset, insn.end());
                    scan.switches.push(Switch { start, end });
                    targets.extend(switch.targets());
                }
                _ => {}
            }
            scan.throws |= matches!(
                insn.opcode,
                op::IALOAD..=op::SALOAD
                    | op::IASTORE..=op::SASTORE
                    | op::INVOKEVIRTUAL
                    | op::INVOKESTATIC
                    | op::INVOKEINTERFACE
                    | op::INVOKEDYNAMIC
                    | op::NEW
                    | op::NEWARRAY
                    | op::ANEWARRAY
                    | op::ARRAYLENGTH
                    | op::ATHROW
                    | op::CHECKCAST
                    | op::INSTANCEOF
                    | op::MONITORENTER
                    | op::MONITOREXIT
                    | op::MULTIANEWARRAY
            );
            starts.push(insn.offset);
        }
        scan.starts = vec![false; code.bytecode.len()];
        for &start in &starts {
            scan.starts[start] = true;
        }
        let leads = |target: &Option<usize>| target.is_some_and(|to| starts.contains(&to));
        if targets.iter().all(leads) {
            Ok(scan)
        } else {
            Err(SkipReason::MALFORMED)
        }
    }

    /// Calls `ask` with a body that has this code and nine variables.
    pub(crate) fn with_code<R>(bytecode: &[u8], ask: impl FnOnce(&Code<'_>) -> R) -> R {
        with_handlers(bytecode, &[], ask)
    }

    /// Calls `ask` with a body that also has handlers for what its first instruction throws.
    pub(crate) fn with_handlers<R>(
        bytecode: &[u8],
        handlers: &[u16],
        ask: impl FnOnce(&Code<'_>) -> R,
    ) -> R {
        let mut info = vec![0, 9, 0, 9];
        info.extend((bytecode.len() as u32).to_be_bytes());
        info.extend_from_slice(bytecode);
        info.extend((handlers.len() as u16).to_be_bytes());
        for handler in handlers {
            info.extend([0, 0, 0, 1]);
            info.extend(handler.to_be_bytes());
            info.extend([0, 0]);
        }
        info.extend([0; 2]);
        let attribute = Attribute {
            name_index: 0,
            info: &info,
            offset: 0,
        };
        ask(&Code::parse(&attribute).expect("it is a body"))
    }

    fn check(bytecode: &[u8]) {
        with_code(bytecode, |code| check_code(code, bytecode));
    }

    fn check_code(code: &Code<'_>, bytecode: &[u8]) {
        let show = |scan: Scan| format!("{scan:?}");
        let fields = Wanted {
            fields: true,
            ..Wanted::default()
        };
        let quick = scan(code, 9, fields).map(show);
        assert_eq!(quick.is_ok(), by_operands(code, 9).is_ok(), "{bytecode:?}");
        if quick.is_ok() {
            assert_eq!(quick, by_operands(code, 9).map(show), "{bytecode:?}");
        }
    }

    #[test]
    fn every_opcode_alone() {
        for opcode in 0..=255 {
            for len in 1..20 {
                let mut bytecode = vec![op::NOP; len];
                bytecode[0] = opcode;
                check(&bytecode);
                // The load of a field follows the load of a parameter.
                bytecode.insert(0, op::ALOAD_1);
                check(&bytecode);
            }
        }
    }

    proptest! {
        #[test]
        fn the_table_finds_what_the_operands_say(
            bytecode in prop::collection::vec(
                prop_oneof![Just(0u8), Just(3), 0x15..0x58u8, 0x84..0x85u8, 0x99..0xaau8, 0xb4..0xb6u8, Just(0xc4), any::<u8>()],
                1..40,
            )
        ) {
            check(&bytecode);
        }
    }
}
