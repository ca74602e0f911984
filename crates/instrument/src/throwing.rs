//! Whether instructions can throw at all.
//!
//! Accessors, trivial constructors and the like make up a large part of all
//! methods and can do without a handler. The proof is a walk over the
//! instructions with a stack that knows one thing about each entry: whether it
//! is `this`. Fields of `this` are the only memory that can be touched without
//! risk.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use hindsight_classfile::{
    Attribute, Attributes, ClassFile, Code, Constant, Error, FieldType, Insn, Member, MemberRef,
    MethodDescriptor, Operand, Utf8, access, opcode as op,
};

use crate::SkipReason;
use crate::attributes::{Kind, Kinds};
use crate::quiet::{Calls, Quiet};

/// A method with more forward jumps than this is taken to throw.
const MAX_TARGETS: usize = 64;

/// A body of more bytes than this is taken to throw, since examining it does not pay.
const MAX_LEN: usize = 2048;

/// Up to this number of fields, it is quicker to search all of them than to build a map.
const FEW_FIELDS: usize = 16;

type Key<'a> = &'a [u8];

/// The class being instrumented.
pub struct Own<'c, 'a> {
    pub class: &'c ClassFile<'a>,
    pub name: Utf8<'a>,
    /// The kinds of its attributes.
    kinds: Kinds,
    /// The flags of its fields by name and descriptor; built on demand, if there are many fields.
    flags: OnceCell<HashMap<(Key<'a>, Key<'a>), u16>>,
    /// For each name, the first field that any method may assign; built on demand, if there are
    /// many fields.
    variables: OnceCell<HashMap<Key<'a>, usize>>,
    /// What is known of its calls; built on demand.
    pub calls: Option<Calls<'c, 'a>>,
}

impl<'c, 'a> Own<'c, 'a> {
    /// A class and its name.
    pub fn new(class: &'c ClassFile<'a>, name: Utf8<'a>) -> Self {
        Self {
            class,
            name,
            kinds: Kinds::default(),
            flags: OnceCell::new(),
            variables: OnceCell::new(),
            calls: None,
        }
    }

    /// The kind of an attribute of a member or body.
    #[inline]
    pub fn kind(&self, attribute: &Attribute<'a>) -> Result<Kind, Error> {
        self.kinds.of(&self.class.pool, attribute)
    }

    /// The first attribute of a kind.
    #[inline]
    pub fn find(&self, attributes: &Attributes<'a>, kind: Kind) -> Option<Attribute<'a>> {
        self.kinds.find(&self.class.pool, attributes, kind)
    }

    /// A method's body; `None` for abstract and native methods.
    pub fn code(&self, method: &Member<'a>) -> Result<Option<Code<'a>>, Error> {
        let code = self.find(&method.attributes, Kind::Code);
        code.map(|code| Code::parse(&code)).transpose()
    }

    /// The flags of a field, if this very class declares it.
    pub fn field_access(&self, field: &MemberRef<'_>) -> Option<u16> {
        if field.owner != self.name {
            return None;
        }
        let fields = &self.class.fields;
        if fields.len() <= FEW_FIELDS {
            let is_it =
                |one: &&Member<'_>| one.name == field.name && one.descriptor == field.descriptor;
            return fields.iter().find(is_it).map(|one| one.access);
        }
        let flags = self.flags.get_or_init(|| {
            // Of two fields that are the same, which no JVM accepts, the first one counts.
            let fields = fields.iter().rev();
            let named = |one: &Member<'a>| (one.name.as_bytes(), one.descriptor.as_bytes());
            fields.map(|one| (named(one), one.access)).collect()
        });
        let key = (field.name.as_bytes(), field.descriptor.as_bytes());
        flags.get(&key).copied()
    }

    /// The first field of this name that any method may assign in objects of this class.
    pub fn variable(&self, name: &str) -> Option<&'c Member<'a>> {
        let fields = &self.class.fields;
        let is_variable = |one: &Member<'_>| !one.is(access::STATIC) && !one.is(access::FINAL);
        if fields.len() <= FEW_FIELDS {
            let mut fields = fields.iter();
            return fields.find(|one| one.name == name && is_variable(one));
        }
        let variables = self.variables.get_or_init(|| {
            let fields = fields.iter().enumerate().rev();
            fields
                .filter(|(_, one)| is_variable(one))
                .map(|(at, one)| (one.name.as_bytes(), at))
                .collect()
        });
        fields.get(*variables.get(name.as_bytes())?)
    }
}

/// The state of the walk. Entries below those in `stack` count as not being `this`.
struct Walk<'c, 'a> {
    own: &'c Own<'c, 'a>,
    /// Whether local variable 0 holds `this` all the time.
    this_in_0: bool,
    /// Whether the method is a constructor, which may assign final fields.
    constructor: bool,
    /// A bit for each entry of the operand stack, set for `this`; the lowest bit is the top.
    /// Entries that have been pushed out are forgotten.
    stack: u64,
    targets: Vec<usize>,
}

/// Whether an instruction within `range` may throw anything, as far as the instructions themselves
/// show.
///
/// Calling the constructor of `java/lang/Object` counts as harmless: it is empty, and the stack
/// overflow that any call may cause would strike the caller's caller as well. Calls that are known
/// to be [`Quiet::Safe`] count as harmless, too.
pub fn may_throw(
    own: &Own<'_, '_>,
    code: &Code<'_>,
    range: Range<usize>,
    this_in_0: bool,
    constructor: bool,
) -> Result<bool, SkipReason> {
    if range.len() > MAX_LEN {
        return Ok(true);
    }
    let mut walk = Walk {
        own,
        this_in_0,
        constructor,
        stack: 0,
        targets: Vec::new(),
    };
    for insn in code.instructions() {
        let insn = insn?;
        if insn.offset >= range.end {
            break;
        }
        if range.contains(&insn.offset) && walk.step(&insn).is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Walk<'_, '_> {
    fn push(&mut self, slots: u16) {
        self.stack <<= slots.min(2);
    }

    fn pop(&mut self, slots: u16) {
        // There are at most four: two values of two slots.
        self.stack >>= slots.min(4);
    }

    /// Pops one entry and returns whether it is `this`.
    fn pop_this(&mut self) -> bool {
        let this = self.stack & 1 != 0;
        self.stack >>= 1;
        this
    }

    fn push_this(&mut self, this: bool) {
        self.stack = self.stack << 1 | u64::from(this);
    }

    fn jump(&mut self, from: usize, to: Option<usize>) -> Option<()> {
        // The stack at the target of a backward jump was decided before, without this jump.
        let to = to.filter(|&to| to > from)?;
        if self.targets.len() == MAX_TARGETS {
            return None;
        }
        self.targets.push(to);
        Some(())
    }

    /// The number of slots of a field that can be accessed without risk; `None` for other fields.
    fn safe_field(&self, index: u16, is_static: bool, write: bool) -> Option<u16> {
        let field = self.own.class.pool.field(index).ok()?;
        let flags = self.own.field_access(&field)?;
        let safe = (flags & access::STATIC != 0) == is_static
            && !(write && flags & access::FINAL != 0 && !self.constructor);
        if !safe {
            return None;
        }
        Some(FieldType::parse(field.descriptor).ok()?.slots())
    }

    /// Follows an instruction; `None` if it may throw.
    fn step(&mut self, insn: &Insn<'_>) -> Option<()> {
        if self.targets.contains(&insn.offset) {
            self.stack = 0;
        }
        // The slots of the `n`th type in the order int, long, float, double.
        let width = |n: u8| if n % 2 == 1 { 2 } else { 1 };
        let opcode = insn.effective_opcode();
        match opcode {
            op::NOP | op::IINC | op::INEG..=op::DNEG => {}
            op::ACONST_NULL..=op::ICONST_5 | op::FCONST_0..=op::FCONST_2 => self.push(1),
            op::LCONST_0 | op::LCONST_1 | op::DCONST_0 | op::DCONST_1 => self.push(2),
            op::BIPUSH | op::SIPUSH => self.push(1),
            op::LDC | op::LDC_W | op::LDC2_W => {
                let Ok(Operand::Constant(index)) = insn.operand() else {
                    return None;
                };
                match self.own.class.pool.get(index).ok()? {
                    Constant::Integer(_) | Constant::Float(_) | Constant::String(_) => self.push(1),
                    Constant::Long(_) | Constant::Double(_) => self.push(2),
                    _ => return None,
                }
            }
            op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => {
                let this = self.this_in_0 && matches!(insn.operand(), Ok(Operand::Local(0)));
                self.push_this(this);
            }
            op::ILOAD..=op::DLOAD => self.push(width(opcode - op::ILOAD)),
            op::ILOAD_0..=op::DLOAD_3 => self.push(width((opcode - op::ILOAD_0) / 4)),
            op::ISTORE..=op::DSTORE => self.pop(width(opcode - op::ISTORE)),
            op::ISTORE_0..=op::DSTORE_3 => self.pop(width((opcode - op::ISTORE_0) / 4)),
            op::ASTORE | op::ASTORE_0..=op::ASTORE_3 | op::POP => self.pop(1),
            op::POP2 => self.pop(2),
            op::DUP => {
                let top = self.pop_this();
                self.push_this(top);
                self.push_this(top);
            }
            // These are not worth following.
            op::DUP_X1..=op::SWAP => self.stack = 0,
            op::IDIV | op::LDIV | op::IREM | op::LREM => return None,
            op::IADD..=op::DREM => {
                let slots = width(opcode - op::IADD);
                self.pop(2 * slots);
                self.push(slots);
            }
            // The shift distance is popped; the result takes the place of the shifted value.
            op::ISHL..=op::LUSHR => self.pop(1),
            op::IAND..=op::LXOR => self.pop(width(opcode - op::IAND)),
            op::I2L | op::I2D | op::F2L | op::F2D => {
                self.pop(1);
                self.push(2);
            }
            op::L2I | op::L2F | op::D2I | op::D2F => self.pop(1),
            op::I2F | op::F2I | op::L2D | op::D2L | op::I2B..=op::I2S => {}
            op::LCMP | op::DCMPL | op::DCMPG => self.pop(3),
            op::FCMPL | op::FCMPG => self.pop(1),
            op::IFEQ..=op::IF_ACMPNE | op::IFNULL | op::IFNONNULL => {
                let two = matches!(opcode, op::IF_ICMPEQ..=op::IF_ACMPNE);
                self.pop(if two { 2 } else { 1 });
                let Ok(Operand::Branch(target)) = insn.operand() else {
                    return None;
                };
                self.jump(insn.offset, Some(target))?;
            }
            op::GOTO | op::GOTO_W => {
                let Ok(Operand::Branch(target)) = insn.operand() else {
                    return None;
                };
                self.jump(insn.offset, Some(target))?;
                self.stack = 0;
            }
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                let Ok(Operand::Switch(switch)) = insn.operand() else {
                    return None;
                };
                for target in switch.targets() {
                    self.jump(insn.offset, target)?;
                }
                self.stack = 0;
            }
            op::IRETURN..=op::RETURN => self.stack = 0,
            op::GETSTATIC | op::PUTSTATIC | op::GETFIELD | op::PUTFIELD => self.field(insn)?,
            op::INVOKESTATIC if self.own.calls.is_some() => {
                let Ok(Operand::Constant(index)) = insn.operand() else {
                    return None;
                };
                let is_safe = self.own.quiet_call(opcode, index) == Some(Quiet::Safe);
                is_safe.then_some(())?;
                let method = self.own.class.pool.method(index).ok()?;
                let descriptor = MethodDescriptor::parse(method.descriptor).ok()?;
                for parameter in descriptor.parameters() {
                    self.pop(parameter.slots());
                }
                self.push(descriptor.result().map_or(0, FieldType::slots));
            }
            op::INVOKESPECIAL if self.constructor => {
                let Ok(Operand::Constant(index)) = insn.operand() else {
                    return None;
                };
                let method = self.own.class.pool.method(index).ok()?;
                let harmless = method.owner == "java/lang/Object"
                    && method.name == "<init>"
                    && method.descriptor == "()V"
                    && self.pop_this();
                harmless.then_some(())?;
            }
            _ => return None,
        }
        Some(())
    }

    fn field(&mut self, insn: &Insn<'_>) -> Option<()> {
        let Ok(Operand::Constant(index)) = insn.operand() else {
            return None;
        };
        match insn.opcode {
            op::GETSTATIC => {
                let slots = self.safe_field(index, true, false)?;
                self.push(slots);
            }
            op::PUTSTATIC => {
                let slots = self.safe_field(index, true, true)?;
                self.pop(slots);
            }
            op::GETFIELD => {
                let slots = self.safe_field(index, false, false)?;
                self.pop_this().then_some(())?;
                self.push(slots);
            }
            _ => {
                let slots = self.safe_field(index, false, true)?;
                self.pop(slots);
                self.pop_this().then_some(())?;
            }
        }
        Some(())
    }
}
