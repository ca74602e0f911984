//! Fragments of code, and writing their instructions.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{ConstantPool, PoolBuilder, Utf8, opcode};

use crate::SkipReason;
use crate::contract::{PROBE, ProbeMethod};

/// Code to be inserted, with what lies within it. Positions count from its
/// start.
#[derive(Debug, Default)]
pub struct Fragment {
    pub code: Vec<u8>,
    pub frames: Vec<FragmentFrame>,
    pub guards: Vec<Guard>,
    /// Slots of operand stack that it needs, from an empty stack on.
    pub max_stack: u16,
    /// Whether it belongs to the instruction before the place it is put at:
    /// jumps to that place do not run it. Such a fragment has no frames, and
    /// comes before others of the same place.
    pub after: bool,
}

/// A stack-map frame within a fragment. All have one stack entry.
#[derive(Debug)]
pub struct FragmentFrame {
    pub at: usize,
    /// The locals. `Uninitialized` counts in the old code.
    pub locals: Vec<VerificationType>,
    pub stack: VerificationType,
}

/// An entry for the exception table that catches everything.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    pub start: usize,
    pub end: usize,
    pub handler: usize,
}

/// The constants of one class, as needed by inserted code.
pub struct Constants<'c, 'a> {
    pub pool: &'c ConstantPool<'a>,
    pub added: PoolBuilder,
    /// The class of the probes.
    owner: &'static str,
    stack_map_table: Option<u16>,
    /// The probe's methods used so far.
    probes: Vec<(ProbeMethod, u16)>,
    object: Option<u16>,
    throwable: Option<u16>,
}

impl<'c, 'a> Constants<'c, 'a> {
    pub fn new(pool: &'c ConstantPool<'a>) -> Self {
        Self::with_probes_of(PROBE, pool)
    }

    /// The same, for code that calls the probes of another class.
    pub fn with_probes_of(owner: &'static str, pool: &'c ConstantPool<'a>) -> Self {
        Self {
            pool,
            added: PoolBuilder::new(pool),
            owner,
            stack_map_table: None,
            probes: Vec::new(),
            object: None,
            throwable: None,
        }
    }

    /// The class constant of this name.
    pub fn class(&mut self, name: Utf8<'_>) -> Result<u16, SkipReason> {
        Ok(self.added.class(self.pool, name)?)
    }

    /// The class constant of `java/lang/Object`.
    pub fn object(&mut self) -> Result<u16, SkipReason> {
        if self.object.is_none() {
            self.object = Some(self.class(Utf8::new(b"java/lang/Object"))?);
        }
        self.object.ok_or(SkipReason::ConstantPoolFull)
    }

    /// The class constant of `java/lang/Throwable`.
    pub fn throwable(&mut self) -> Result<u16, SkipReason> {
        if self.throwable.is_none() {
            self.throwable = Some(self.class(Utf8::new(b"java/lang/Throwable"))?);
        }
        self.throwable.ok_or(SkipReason::ConstantPoolFull)
    }

    /// A method of the probe class.
    pub fn probe(&mut self, method: ProbeMethod) -> Result<u16, SkipReason> {
        if let Some(&(_, index)) = self.probes.iter().find(|(known, _)| *known == method) {
            return Ok(index);
        }
        let owner = self.class(Utf8::new(self.owner.as_bytes()))?;
        let (name, descriptor) = (method.name.as_bytes(), method.descriptor.as_bytes());
        let index = self.added.method(owner, name, descriptor)?;
        self.probes.push((method, index));
        Ok(index)
    }

    /// The name of the attribute that holds stack maps.
    pub fn stack_map_table(&mut self) -> Result<u16, SkipReason> {
        const NAME: &[u8] = b"StackMapTable";
        if let Some(index) = self.stack_map_table {
            return Ok(index);
        }
        let index = match self.pool.find_utf8(NAME) {
            Some(index) => index,
            None => self.added.utf8(NAME)?,
        };
        self.stack_map_table = Some(index);
        Ok(index)
    }
}

/// The types that instructions distinguish, by the first byte of a descriptor:
/// the place of their opcode among those for `int`, `long`, `float`, `double`
/// and references.
fn kind_index(kind: u8) -> u8 {
    match kind {
        b'J' => 1,
        b'F' => 2,
        b'D' => 3,
        b'L' | b'[' => 4,
        _ => 0,
    }
}

impl Fragment {
    /// Where the next instruction goes.
    pub fn here(&self) -> usize {
        self.code.len()
    }

    /// Says that the stack is `depth` slots deep at some point.
    pub fn stack(&mut self, depth: u16) {
        self.max_stack = self.max_stack.max(depth);
    }

    pub fn op(&mut self, opcode: u8) {
        self.code.push(opcode);
    }

    /// An instruction with an operand of two bytes.
    pub fn op_u16(&mut self, opcode: u8, operand: u16) {
        self.code.push(opcode);
        self.code.extend(operand.to_be_bytes());
    }

    fn local(&mut self, opcode: u8, first_short: u8, kind: u8, slot: u16) {
        let index = kind_index(kind);
        match u8::try_from(slot) {
            Ok(slot @ 0..=3) => self.code.push(first_short + 4 * index + slot),
            Ok(slot) => self.code.extend([opcode + index, slot]),
            Err(_) => {
                self.code.push(opcode::WIDE);
                self.op_u16(opcode + index, slot);
            }
        }
    }

    /// Loads a local variable of a type given by the first byte of its
    /// descriptor.
    pub fn load(&mut self, kind: u8, slot: u16) {
        self.local(opcode::ILOAD, opcode::ILOAD_0, kind, slot);
    }

    /// Stores into a local variable.
    pub fn store(&mut self, kind: u8, slot: u16) {
        self.local(opcode::ISTORE, opcode::ISTORE_0, kind, slot);
    }

    /// Pushes the zero or null of a type.
    pub fn push_default(&mut self, kind: u8) {
        self.op(match kind_index(kind) {
            0 => opcode::ICONST_0,
            1 => opcode::LCONST_0,
            2 => opcode::FCONST_0,
            3 => opcode::DCONST_0,
            _ => opcode::ACONST_NULL,
        });
    }

    /// Pushes a method's id.
    pub fn push_id(
        &mut self,
        id: u32,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        match (i16::try_from(id), u8::try_from(id)) {
            (_, Ok(id @ 0..=5)) => self.op(opcode::ICONST_0 + id),
            (_, Ok(id @ 0..=127)) => self.code.extend([opcode::BIPUSH, id]),
            (Ok(id), _) => self.op_u16(opcode::SIPUSH, id.cast_unsigned()),
            (Err(_), _) => {
                let index = constants.added.integer(id.cast_signed())?;
                match u8::try_from(index) {
                    Ok(index) => self.code.extend([opcode::LDC, index]),
                    Err(_) => self.op_u16(opcode::LDC_W, index),
                }
            }
        }
        Ok(())
    }

    /// Calls a method of the probe class.
    pub fn call(
        &mut self,
        opcode: u8,
        method: ProbeMethod,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let index = constants.probe(method)?;
        self.op_u16(opcode, index);
        Ok(())
    }

    /// Ends what may fail since `start`: both ways, with a reference on the
    /// stack, lead to the instruction after (see the crate's documentation).
    /// The caller goes on with `pop`.
    pub fn guard_from(
        &mut self,
        start: usize,
        locals: Vec<VerificationType>,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let end = self.here();
        // Over itself and the `nop`.
        self.op_u16(opcode::GOTO, 4);
        let handler = self.here();
        self.guards.push(Guard {
            start,
            end,
            handler,
        });
        self.frame(locals.clone(), constants.throwable()?);
        self.op(opcode::NOP);
        self.frame(locals, constants.object()?);
        Ok(())
    }

    /// Puts a frame here, with a reference to an object of this class on its
    /// stack.
    pub fn frame(&mut self, locals: Vec<VerificationType>, class: u16) {
        let stack = VerificationType::Object(class);
        self.frames.push(FragmentFrame {
            at: self.here(),
            locals,
            stack,
        });
    }
}
