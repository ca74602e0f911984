//! Fragments of code, and writing their instructions.

use hindsight_classfile::frames::VerificationType;
use hindsight_classfile::{ConstantPool, PoolBuilder, Utf8, opcode};

use crate::SkipReason;
use crate::body::Pieces;
use crate::contract::{self, MAX_REFERENCES, MAX_WORDS, PROBE, ProbeMethod};
use crate::scan::Scan;

/// Code to be inserted, with the frames and guards that lie within it. Positions count from its
/// start.
#[derive(Debug, Default)]
pub struct Fragment {
    pub code: Vec<u8>,
    pub frames: Vec<FragmentFrame>,
    pub guards: Vec<Guard>,
    /// Slots of operand stack that the code needs when it starts with an empty stack.
    pub max_stack: u16,
    /// The locals of all frames of the fragment.
    types: Vec<VerificationType>,
}

/// A stack-map frame within a fragment. All have one stack entry at most.
#[derive(Debug, Clone, Copy)]
pub struct FragmentFrame {
    pub at: usize,
    /// The locals at the frame. The offset of an `Uninitialized` type is that of the old code.
    pub locals: Locals,
    pub stack: Option<VerificationType>,
}

/// A list of locals that a fragment keeps; see [`Fragment::list`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locals {
    start: usize,
    end: usize,
}

/// An entry for the exception table.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    pub start: usize,
    pub end: usize,
    pub handler: usize,
    /// The constant of the class that the guard catches; 0 for any throwable.
    pub catch_type: u16,
}

/// The constants of one class that inserted code needs, and memory for it.
pub struct Constants<'c, 'a> {
    pub pool: &'c ConstantPool<'a>,
    pub added: PoolBuilder,
    /// Memory that methods instrumented before have used.
    pub spare: Spare,
    /// The class of the probes.
    pub owner: &'static str,
    stack_map_table: Option<u16>,
    this: Option<u16>,
    throwable: Option<u16>,
    /// A cache of numbers and their constants, indexed by the number's low bits: each of a method's
    /// probes pushes the method's number. Constant 0 does not exist and marks an empty place.
    integers: [(u32, u16); INTEGERS],
    /// The constants of the methods that open a frame, by their counts of words and references; 0
    /// if one was not needed yet.
    frames: [[u16; MAX_REFERENCES + 1]; MAX_WORDS + 1],
}

/// The number of [`Constants::integers`].
const INTEGERS: usize = 8;

/// Memory that has been used and can be used again.
#[derive(Debug, Default)]
pub struct Spare {
    fragments: Vec<Fragment>,
    pub types: Vec<VerificationType>,
    pub stack_map: Vec<u8>,
    pub pieces: Pieces,
    pub scan: Scan,
    /// The values that a handler hands over: kind and slot.
    pub values: Vec<(u8, Option<u16>)>,
    /// For each of two kinds of members, the numbers of members by the constants that name them.
    pub places: [Vec<u16>; 2],
    /// The probe methods that the class calls so far, with their constants.
    probes: Vec<(ProbeMethod, u16)>,
}

/// The most spare fragments that are kept.
const MAX_SPARE: usize = 16;
/// The most memory that a spare fragment, or another piece, may keep: one strange class is no
/// reason to hold on to much memory.
pub const MAX_SPARE_LEN: usize = 1 << 18;

impl Spare {
    /// Releases memory that only an unusually large class needs.
    pub fn trim(&mut self) {
        self.types.clear();
        self.types.shrink_to(MAX_SPARE_LEN / 4);
        self.stack_map.clear();
        self.stack_map.shrink_to(MAX_SPARE_LEN);
        self.scan.trim();
        self.pieces.trim();
    }

    /// An empty fragment.
    pub fn fragment(&mut self) -> Fragment {
        self.fragments.pop().unwrap_or_default()
    }

    /// Takes a fragment's memory back, to be used again.
    pub fn recycle(&mut self, mut fragment: Fragment) {
        if self.fragments.len() < MAX_SPARE && fragment.types.capacity() < MAX_SPARE_LEN {
            fragment.clear();
            self.fragments.push(fragment);
        }
    }
}

impl<'c, 'a> Constants<'c, 'a> {
    pub fn new(pool: &'c ConstantPool<'a>) -> Self {
        Self::reusing(PROBE, pool, PoolBuilder::default(), Spare::default())
    }

    /// Like `new`, for code that calls the probes of the class `owner`, in memory that other
    /// classes have used.
    pub fn reusing(
        owner: &'static str,
        pool: &'c ConstantPool<'a>,
        mut added: PoolBuilder,
        mut spare: Spare,
    ) -> Self {
        added.restart(pool);
        spare.probes.clear();
        Self {
            pool,
            added,
            spare,
            owner,
            stack_map_table: None,
            this: None,
            throwable: None,
            integers: [(0, 0); INTEGERS],
            frames: Default::default(),
        }
    }

    /// The method that opens a frame with this many references and words.
    pub fn frame(&mut self, references: usize, words: usize) -> Result<u16, SkipReason> {
        if let index @ 1.. = self.frames[words][references] {
            return Ok(index);
        }
        let index = self.probe(contract::frame(references, words))?;
        self.frames[words][references] = index;
        Ok(index)
    }

    /// The constant of a number that is pushed.
    fn integer(&mut self, id: u32) -> Result<u16, SkipReason> {
        let at = id as usize % INTEGERS;
        match self.integers[at] {
            (known, index) if known == id && index != 0 => Ok(index),
            _ => {
                let index = self.added.integer(id.cast_signed())?;
                self.integers[at] = (id, index);
                Ok(index)
            }
        }
    }

    /// Whether the class refers to these probes already. It may refer to those of another plan.
    pub fn is_instrumented(&mut self) -> bool {
        self.refers_to(self.owner)
    }

    /// Whether the class, before the rewriting, refers to a class.
    pub fn refers_to(&mut self, class: &str) -> bool {
        let class = Utf8::new(class.as_bytes());
        self.added.old_class(self.pool, class).is_some()
    }

    /// The class constant of this name.
    pub fn class(&mut self, name: Utf8<'_>) -> Result<u16, SkipReason> {
        Ok(self.added.class(self.pool, name)?)
    }

    /// The class constant of the class itself, whose name is `this`.
    pub fn this(&mut self, this: Utf8<'_>) -> Result<u16, SkipReason> {
        if self.this.is_none() {
            self.this = Some(self.class(this)?);
        }
        self.this.ok_or(SkipReason::ConstantPoolFull)
    }

    /// The class constant of `java/lang/Throwable`.
    pub fn throwable(&mut self) -> Result<u16, SkipReason> {
        if self.throwable.is_none() {
            self.throwable = Some(self.class(Utf8::new(b"java/lang/Throwable"))?);
        }
        self.throwable.ok_or(SkipReason::ConstantPoolFull)
    }

    /// The class constant of `java/lang/VirtualMachineError`, the superclass of what a JVM throws
    /// by itself when the stack or the memory is used up.
    pub fn virtual_machine_error(&mut self) -> Result<u16, SkipReason> {
        self.class(Utf8::new(b"java/lang/VirtualMachineError"))
    }

    /// The method constant of a method of the probe class.
    pub fn probe(&mut self, method: ProbeMethod) -> Result<u16, SkipReason> {
        self.probe_of(self.owner, method)
    }

    /// The method constant of a method of another class of probes, which must have no method of the
    /// same name and descriptor as the probe class.
    pub fn probe_of(
        &mut self,
        owner: &'static str,
        method: ProbeMethod,
    ) -> Result<u16, SkipReason> {
        // Probe methods are constants of this crate, so comparing addresses suffices. A constant
        // with two addresses would only be looked up in the slower way.
        let is_it = |known: &ProbeMethod| {
            std::ptr::eq(known.name, method.name)
                && std::ptr::eq(known.descriptor, method.descriptor)
        };
        if let Some(&(_, index)) = self.spare.probes.iter().find(|(known, _)| is_it(known)) {
            return Ok(index);
        }
        let owner = self.class(Utf8::new(owner.as_bytes()))?;
        let (name, descriptor) = (method.name.as_bytes(), method.descriptor.as_bytes());
        let index = self.added.method(owner, name, descriptor)?;
        self.spare.probes.push((method, index));
        Ok(index)
    }

    /// Records which constant is the name of the attribute that holds stack maps.
    pub fn stack_map_table_is(&mut self, index: u16) {
        self.stack_map_table.get_or_insert(index);
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

/// The place of a type among those that instructions distinguish (`int`, `long`, `float`, `double`
/// and references, in the order of their opcodes), by the first byte of its descriptor.
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
    /// Empties the fragment.
    pub fn clear(&mut self) {
        self.code.clear();
        self.frames.clear();
        self.guards.clear();
        self.max_stack = 0;
        self.types.clear();
    }

    /// Releases memory that only an unusually large method needs.
    pub fn trim(&mut self) {
        self.clear();
        self.code.shrink_to(MAX_SPARE_LEN);
        self.types.shrink_to(MAX_SPARE_LEN / 4);
    }

    /// The position of the next instruction.
    pub fn here(&self) -> usize {
        self.code.len()
    }

    /// Records that the stack is `depth` slots deep at some point.
    pub fn stack(&mut self, depth: u16) {
        self.max_stack = self.max_stack.max(depth);
    }

    pub fn op(&mut self, opcode: u8) {
        self.code.push(opcode);
    }

    /// Writes an instruction with an operand of two bytes.
    pub fn op_u16(&mut self, opcode: u8, operand: u16) {
        let [high, low] = operand.to_be_bytes();
        self.code.extend_from_slice(&[opcode, high, low]);
    }

    fn local(&mut self, opcode: u8, first_short: u8, kind: u8, slot: u16) {
        let index = kind_index(kind);
        let [high, low] = slot.to_be_bytes();
        match slot {
            0..=3 => self.code.push(first_short + 4 * index + low),
            4..=0xff => self.code.extend_from_slice(&[opcode + index, low]),
            _ => {
                let wide = [opcode::WIDE, opcode + index, high, low];
                self.code.extend_from_slice(&wide);
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
            (_, Ok(id @ 0..=127)) => self.code.extend_from_slice(&[opcode::BIPUSH, id]),
            (Ok(id), _) => self.op_u16(opcode::SIPUSH, id.cast_unsigned()),
            (Err(_), _) => {
                let index = constants.integer(id)?;
                match u8::try_from(index) {
                    Ok(index) => self.code.extend_from_slice(&[opcode::LDC, index]),
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

    /// Keeps a list of locals, made by `fill`, which adds to the end of what it
    /// is given.
    pub fn list(&mut self, fill: impl FnOnce(&mut Vec<VerificationType>)) -> Locals {
        let start = self.types.len();
        fill(&mut self.types);
        let end = self.types.len();
        Locals { start, end }
    }

    /// The types in a list of [`Self::list`].
    pub fn locals(&self, locals: Locals) -> &[VerificationType] {
        self.types.get(locals.start..locals.end).unwrap_or(&[])
    }

    /// Begins the guard of code from `start` to `end` that may fail: pops the exception, and counts
    /// it in the static `int` of `counter`.
    pub fn guard(
        &mut self,
        start: usize,
        end: usize,
        locals: Locals,
        counter: Option<u16>,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let handler = self.here();
        self.guards.push(Guard {
            start,
            end,
            handler,
            catch_type: 0,
        });
        self.frame(locals, Some(constants.throwable()?));
        // Stack: the exception
        self.op(opcode::POP);
        if let Some(counter) = counter {
            self.op_u16(opcode::GETSTATIC, counter);
            // Stack: count
            self.op(opcode::ICONST_1);
            self.op(opcode::IADD);
            self.op_u16(opcode::PUTSTATIC, counter);
            self.stack(2);
        }
        Ok(())
    }

    /// Ends code from `start` on that may fail and leaves nothing on the stack: with or without an
    /// exception, execution goes on behind this.
    pub fn go_on(
        &mut self,
        start: usize,
        locals: Locals,
        counter: Option<u16>,
        constants: &mut Constants<'_, '_>,
    ) -> Result<(), SkipReason> {
        let end = self.here();
        // The jump leads over itself and the guard.
        self.op_u16(opcode::GOTO, if counter.is_some() { 12 } else { 4 });
        self.guard(start, end, locals, counter, constants)?;
        self.frame(locals, None);
        Ok(())
    }

    /// Makes the latest guard catch only this class.
    pub fn guards_against(&mut self, class: u16) {
        if let Some(guard) = self.guards.last_mut() {
            guard.catch_type = class;
        }
    }

    /// Puts a stack-map frame here. Its stack holds a reference to an object of the given class, or
    /// nothing.
    pub fn frame(&mut self, locals: Locals, class: Option<u16>) {
        self.frames.push(FragmentFrame {
            at: self.here(),
            locals,
            stack: class.map(VerificationType::Object),
        });
    }
}
