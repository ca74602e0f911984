//! Which instructions of a constructor use `this` before it is initialized: the `putfield`s that
//! write to it, and the call of the other constructor.
//!
//! Inner classes and, from Java 22 on, any class may assign fields of their own before calling
//! another constructor (JVMS 4.10.1.9, `putfield`). The reference cannot be handed to a probe then.
//! But another, initialized object of the same class can be written to at that place as well, so it
//! matters what is on the stack. Each instruction up to the call is visited once, with a stack and
//! variables that record one fact about each slot: whether it holds `this`. The verifier makes sure
//! that all paths to an instruction agree about it.

use hindsight_classfile::{
    Code, Constant, FieldType, Insn, MethodDescriptor, Operand, opcode as op,
};

use crate::SkipReason;
use crate::constructor::InitCalls;
use crate::throwing::Own;

/// The most slots that all states together may have; more is an attempt at exhausting memory.
const MAX_SLOTS: usize = 1 << 20;

/// What is known before an instruction: one fact about each slot. The default is that nothing is
/// known.
#[derive(Clone)]
pub struct State<F> {
    pub stack: Vec<F>,
    pub locals: Vec<F>,
}

/// Lists the offsets of the `putfield` instructions before the first of `calls` that write to
/// `this`, sorted.
pub fn early_writes(
    own: &Own<'_, '_>,
    code: &Code<'_>,
    calls: &InitCalls,
) -> Result<Vec<usize>, SkipReason> {
    on_this(own, code, calls.start, |insn| {
        let Operand::Constant(field) = insn.operand()? else {
            return Ok(None);
        };
        // Only fields that this very class declares may be written then.
        if insn.opcode != op::PUTFIELD || own.class.pool.field(field)?.owner != own.name {
            return Ok(None);
        }
        field_slots(own, insn).map(Some)
    })
}

/// Lists the offsets of the instructions before `end` whose object is `this`, sorted. `above`
/// returns, for the instructions in question, how many slots lie above the object on the stack.
pub fn on_this(
    own: &Own<'_, '_>,
    code: &Code<'_>,
    end: usize,
    above: impl Fn(&Insn<'_>) -> Result<Option<u16>, SkipReason>,
) -> Result<Vec<usize>, SkipReason> {
    let before = |insn: &Result<Insn<'_>, _>| match insn {
        Ok(insn) => insn.offset < end,
        Err(_) => true,
    };
    let mut candidates = 0;
    for insn in code.instructions().take_while(before) {
        candidates += usize::from(above(&insn?)?.is_some());
    }
    let mut found = Vec::new();
    if candidates == 0 {
        return Ok(found);
    }
    let insns: Result<Vec<_>, _> = code.instructions().take_while(before).collect();
    let insns = insns?;
    let mut handlers: Vec<(usize, usize)> = code
        .handlers
        .map(|handler| (usize::from(handler.start), usize::from(handler.handler)))
        .collect();
    handlers.sort_unstable();
    handlers.dedup();

    let mut visited = vec![false; insns.len()];
    let mut locals = vec![false; usize::from(code.max_locals)];
    if let Some(this) = locals.first_mut() {
        *this = true;
    }
    let start = State {
        stack: Vec::new(),
        locals,
    };
    let mut pending = vec![(0, start)];
    let mut slots = 0usize;
    let mut decided = 0;
    while let Some((offset, mut state)) = pending.pop() {
        let Ok(first) = insns.binary_search_by_key(&offset, |insn| insn.offset) else {
            // The offset is behind the end, or no instruction begins there.
            continue;
        };
        let mut ahead = handlers.partition_point(|&(start, _)| start < offset);
        for (insn, visited) in insns.iter().zip(&mut visited).skip(first) {
            if std::mem::replace(visited, true) {
                break;
            }
            let mut targets = Vec::new();
            let mut room = |state: &State<bool>, count: usize| {
                slots += count * (2 + state.stack.len() + state.locals.len());
                // This is checked before the slots are allocated.
                (slots <= MAX_SLOTS)
                    .then_some(())
                    .ok_or(SkipReason::TooLarge)
            };
            while let Some(&(start, handler)) = handlers.get(ahead)
                && start <= insn.offset
            {
                ahead += 1;
                if start == insn.offset {
                    room(&state, 1)?;
                    let stack = vec![false];
                    let locals = state.locals.clone();
                    targets.push((handler, State { stack, locals }));
                }
            }
            if let Some(above) = above(insn)? {
                decided += 1;
                if state.is_this_below(above)? {
                    found.push(insn.offset);
                }
            }
            state.step(own, insn)?;
            match insn.operand()? {
                Operand::Branch(target) => {
                    room(&state, 1)?;
                    targets.push((target, state.clone()));
                }
                Operand::Switch(switch) => {
                    room(&state, switch.targets().count())?;
                    let all = switch.targets();
                    targets.extend(all.map(|target| (target.unwrap_or(usize::MAX), state.clone())));
                }
                _ => {}
            }
            pending.extend(targets);
            if op::ends_flow(insn.opcode) {
                break;
            }
        }
    }
    // The verifier also checks code that no path leads to, but a candidate in such code cannot be
    // decided here.
    if decided != candidates {
        return Err(SkipReason::ConstructorShape);
    }
    found.sort_unstable();
    Ok(found)
}

/// The fact is `true` for a slot that holds `this`.
impl State<bool> {
    /// Whether the reference below the upper `slots` of the stack is `this`.
    fn is_this_below(&self, slots: u16) -> Result<bool, SkipReason> {
        let below = self.stack.len().checked_sub(1 + usize::from(slots));
        let object = below.and_then(|at| self.stack.get(at));
        object.copied().ok_or(SkipReason::MALFORMED)
    }
}

impl<F: Copy + Default> State<F> {
    pub fn push(&mut self, slots: u16) {
        let len = self.stack.len() + usize::from(slots);
        self.stack.resize(len, F::default());
    }

    pub fn pop(&mut self, slots: u16) -> Result<(), SkipReason> {
        let len = self.stack.len().checked_sub(usize::from(slots));
        self.stack.truncate(len.ok_or(SkipReason::MALFORMED)?);
        Ok(())
    }

    /// Puts copies of the upper `count` slots below the next `under` slots.
    fn dup(&mut self, count: usize, under: usize) -> Result<(), SkipReason> {
        let len = self.stack.len();
        let (from, to) = (len.checked_sub(count), len.checked_sub(count + under));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(SkipReason::MALFORMED);
        };
        let copies = self.stack[from..].to_vec();
        self.stack.splice(to..to, copies);
        Ok(())
    }

    /// Follows an instruction. Values count by their width alone: nothing is recorded of, say, an
    /// array's type.
    pub fn step(&mut self, own: &Own<'_, '_>, insn: &Insn<'_>) -> Result<(), SkipReason> {
        let pool = &own.class.pool;
        // The argument is the place in the order int, long, float, double, reference, and for
        // arrays byte, char, short.
        let width = |place: u8| u16::from(matches!(place, 1 | 3)) + 1;
        let opcode = insn.effective_opcode();
        let (pops, pushes) = match opcode {
            op::NOP | op::IINC | op::GOTO | op::GOTO_W | op::RETURN => (0, 0),
            op::ACONST_NULL..=op::ICONST_5
            | op::FCONST_0..=op::FCONST_2
            | op::BIPUSH
            | op::SIPUSH
            | op::LDC
            | op::LDC_W
            | op::NEW => (0, 1),
            op::LCONST_0 | op::LCONST_1 | op::DCONST_0 | op::DCONST_1 | op::LDC2_W => (0, 2),
            op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => {
                let Operand::Local(slot) = insn.operand()? else {
                    return Err(SkipReason::MALFORMED);
                };
                let this = self.locals.get(usize::from(slot)).copied();
                self.stack.push(this.ok_or(SkipReason::MALFORMED)?);
                (0, 0)
            }
            op::ILOAD..=op::DLOAD => (0, width(opcode - op::ILOAD)),
            op::ILOAD_0..=op::DLOAD_3 => (0, width((opcode - op::ILOAD_0) / 4)),
            op::IALOAD..=op::SALOAD => (2, width(opcode - op::IALOAD)),
            op::ISTORE..=op::ASTORE_3 => {
                let place = match opcode {
                    op::ISTORE..=op::ASTORE => opcode - op::ISTORE,
                    _ => (opcode - op::ISTORE_0) / 4,
                };
                let Operand::Local(slot) = insn.operand()? else {
                    return Err(SkipReason::MALFORMED);
                };
                let this = self.stack.last().copied();
                let this = this.ok_or(SkipReason::MALFORMED)?;
                let slots = usize::from(slot)..usize::from(slot) + usize::from(width(place));
                let locals = self.locals.get_mut(slots);
                locals.ok_or(SkipReason::MALFORMED)?.fill(this);
                (width(place), 0)
            }
            op::IASTORE..=op::SASTORE => (2 + width(opcode - op::IASTORE), 0),
            op::POP => (1, 0),
            op::POP2 => (2, 0),
            op::DUP => return self.dup(1, 0),
            op::DUP_X1 => return self.dup(1, 1),
            op::DUP_X2 => return self.dup(1, 2),
            op::DUP2 => return self.dup(2, 0),
            op::DUP2_X1 => return self.dup(2, 1),
            op::DUP2_X2 => return self.dup(2, 2),
            op::SWAP => {
                self.dup(1, 1)?;
                (1, 0)
            }
            op::IADD..=op::DREM => {
                let slots = width((opcode - op::IADD) % 4);
                (2 * slots, slots)
            }
            op::INEG..=op::DNEG => (0, 0),
            op::ISHL..=op::LUSHR => (1, 0),
            op::IAND..=op::LXOR => (width((opcode - op::IAND) % 2), 0),
            op::I2L | op::I2D | op::F2L | op::F2D => (1, 2),
            op::L2I | op::L2F | op::D2I | op::D2F => (2, 1),
            op::I2F..=op::I2S => (0, 0),
            op::LCMP | op::DCMPL | op::DCMPG => (4, 1),
            op::FCMPL | op::FCMPG => (2, 1),
            op::IFEQ..=op::IFLE
            | op::IFNULL
            | op::IFNONNULL
            | op::TABLESWITCH
            | op::LOOKUPSWITCH
            | op::MONITORENTER
            | op::MONITOREXIT
            | op::ATHROW => (1, 0),
            op::IRETURN..=op::ARETURN => (width(opcode - op::IRETURN), 0),
            op::IF_ICMPEQ..=op::IF_ACMPNE => (2, 0),
            op::GETSTATIC => (0, field_slots(own, insn)?),
            op::PUTSTATIC => (field_slots(own, insn)?, 0),
            op::GETFIELD => (1, field_slots(own, insn)?),
            op::PUTFIELD => (1 + field_slots(own, insn)?, 0),
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                let Operand::Constant(constant) = insn.operand()? else {
                    return Err(SkipReason::MALFORMED);
                };
                let descriptor = if opcode == op::INVOKEDYNAMIC {
                    match pool.get(constant)? {
                        Constant::InvokeDynamic { descriptor, .. } => descriptor,
                        _ => return Err(SkipReason::MALFORMED),
                    }
                } else {
                    pool.method(constant)?.descriptor
                };
                let descriptor = MethodDescriptor::parse(descriptor)?;
                let receiver = !matches!(opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC);
                let pops = descriptor
                    .parameter_slots()
                    .checked_add(u16::from(receiver));
                let pushes = descriptor.result().map_or(0, FieldType::slots);
                (pops.ok_or(SkipReason::MALFORMED)?, pushes)
            }
            op::NEWARRAY | op::ANEWARRAY | op::ARRAYLENGTH | op::CHECKCAST | op::INSTANCEOF => {
                (1, 1)
            }
            op::MULTIANEWARRAY => match insn.operand()? {
                Operand::MultiArray { dimensions, .. } => (u16::from(dimensions), 1),
                _ => return Err(SkipReason::MALFORMED),
            },
            _ => return Err(SkipReason::MALFORMED),
        };
        self.pop(pops)?;
        self.push(pushes);
        Ok(())
    }
}

/// The number of slots of the field that an instruction names.
pub fn field_slots(own: &Own<'_, '_>, insn: &Insn<'_>) -> Result<u16, SkipReason> {
    let Operand::Constant(field) = insn.operand()? else {
        return Err(SkipReason::MALFORMED);
    };
    let descriptor = own.class.pool.field(field)?.descriptor;
    Ok(FieldType::parse(descriptor)?.slots())
}
