//! Which calls lead to methods that only look something up.
//!
//! Such a method writes nothing, calls only methods of the same kind, locks nothing, reads nothing
//! volatile and causes no class to be loaded. So no frame can be below it, no thread learns
//! anything about another one through it, and the end of the log of writes stays where it was.
//! Compilers before Java 11 make such a method, `access$000`, for each private member that nested
//! classes use, so a loop over such a member is full of calls to them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use hindsight_classfile::{Constant, Member, MemberRef, Operand, access, opcode as op};

use crate::throwing::{Own, may_throw};
use crate::{MemberName, SkipReason};

/// A method that only looks something up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// It throws nothing, if its class is initialized and the stack suffices.
    Safe,
    /// It may throw, for example at a null.
    MayThrow,
}

/// What is known of methods of other classes, by owner, name and descriptor. It is asked for
/// methods that `is_accessor` accepts.
pub type Others<'p> = dyn Fn(&MemberRef<'_>) -> Option<Quiet> + 'p;

/// Bodies longer than this many bytes are not examined.
const MAX_LEN: usize = 64;

/// The greatest depth of quiet methods that call each other.
const MAX_DEPTH: u32 = 3;

type NameAndDescriptor<'a> = (&'a [u8], &'a [u8]);

/// What is known of the calls in a class.
pub struct Calls<'c, 'a> {
    others: &'c Others<'c>,
    /// The indices of the class's methods.
    places: OnceCell<HashMap<NameAndDescriptor<'a>, usize>>,
    known: RefCell<HashMap<usize, Option<Quiet>>>,
}

impl<'c> Calls<'c, '_> {
    pub fn new(others: &'c Others<'c>) -> Self {
        Self {
            others,
            places: OnceCell::new(),
            known: RefCell::default(),
        }
    }
}

/// Whether a method, judged by its name, was made by a compiler so that nested classes reach a
/// private member.
pub fn is_accessor(name: &[u8]) -> bool {
    name.starts_with(b"access$")
}

/// The accessors of a class that are quiet.
pub fn accessors(own: &Own<'_, '_>) -> Vec<(MemberName, Quiet)> {
    let methods = own.class.methods.iter().enumerate();
    let accessors = methods.filter(|(_, method)| {
        method.is(access::STATIC)
            && !method.is(access::PRIVATE)
            && is_accessor(method.name.as_bytes())
    });
    let name = |method: &Member<'_>| MemberName {
        id: 0,
        owner: own.name.to_string_lossy().into_owned(),
        name: method.name.to_string_lossy().into_owned(),
        descriptor: method.descriptor.to_string_lossy().into_owned(),
    };
    accessors
        .filter_map(|(at, method)| Some((name(method), own.quiet(at, 0)?)))
        .collect()
}

impl<'a> Own<'_, 'a> {
    /// The kind of the method that an instruction calls, if it is known to be quiet.
    pub fn quiet_call(&self, opcode: u8, constant: u16) -> Option<Quiet> {
        self.quiet_callee(opcode, constant, 0)
    }

    fn quiet_callee(&self, opcode: u8, constant: u16, depth: u32) -> Option<Quiet> {
        let calls = self.calls.as_ref()?;
        if !matches!(opcode, op::INVOKEVIRTUAL..=op::INVOKESTATIC) {
            return None;
        }
        let callee = self.class.pool.method(constant).ok()?;
        if callee.owner != self.name {
            let is_accessor = opcode == op::INVOKESTATIC && is_accessor(callee.name.as_bytes());
            return if is_accessor {
                (calls.others)(&callee)
            } else {
                None
            };
        }
        let places = calls.places.get_or_init(|| {
            let methods = self.class.methods.iter().enumerate();
            methods
                .map(|(at, method)| ((method.name.as_bytes(), method.descriptor.as_bytes()), at))
                .collect()
        });
        let key = (callee.name.as_bytes(), callee.descriptor.as_bytes());
        let &at = places.get(&key)?;
        let method = self.class.methods.get(at)?;
        let is_static = method.is(access::STATIC);
        // Otherwise an overriding method might be called.
        if is_static != (opcode == op::INVOKESTATIC) || !(is_static || method.is(access::PRIVATE)) {
            return None;
        }
        let quiet = self.quiet(at, depth)?;
        // The receiver may be null.
        Some(if is_static { quiet } else { Quiet::MayThrow })
    }

    /// The kind of a method of this class, if it is quiet.
    fn quiet(&self, at: usize, depth: u32) -> Option<Quiet> {
        let calls = self.calls.as_ref()?;
        if let Some(&known) = calls.known.borrow().get(&at) {
            return known;
        }
        let method = self.class.methods.get(at)?;
        let quiet = self.look(method, depth).unwrap_or(None);
        calls.known.borrow_mut().insert(at, quiet);
        quiet
    }

    fn look(&self, method: &Member<'a>, depth: u32) -> Result<Option<Quiet>, SkipReason> {
        if depth == MAX_DEPTH || method.is(access::SYNCHRONIZED) {
            return Ok(None);
        }
        let Some(code) = self.code(method)? else {
            return Ok(None);
        };
        if code.bytecode.len() > MAX_LEN || !code.handlers.is_empty() {
            return Ok(None);
        }
        for insn in code.instructions() {
            let insn = insn?;
            let is_quiet = match (insn.effective_opcode(), insn.operand()?) {
                // A class or a computed constant may have to be loaded.
                (op::LDC | op::LDC_W | op::LDC2_W, Operand::Constant(constant)) => matches!(
                    self.class.pool.get(constant)?,
                    Constant::Integer(_)
                        | Constant::Float(_)
                        | Constant::Long(_)
                        | Constant::Double(_)
                        | Constant::String(_)
                ),
                (op::GETSTATIC | op::GETFIELD, Operand::Constant(constant)) => {
                    let field = self.class.pool.field(constant)?;
                    let access = self.field_access(&field);
                    // By reading a volatile field, this thread may learn something about another
                    // one.
                    access.is_some_and(|flags| flags & access::VOLATILE == 0)
                }
                (opcode, Operand::Constant(constant)) => {
                    self.quiet_callee(opcode, constant, depth + 1).is_some()
                }
                (op::IFEQ..=op::GOTO | op::IFNULL | op::IFNONNULL, Operand::Branch(target)) => {
                    target > insn.offset
                }
                (op::NOP..=op::ALOAD_3 | op::IALOAD..=op::ASTORE_3, _)
                | (op::POP..=op::DCMPG | op::IRETURN..=op::RETURN | op::ARRAYLENGTH, _) => true,
                _ => false,
            };
            if !is_quiet {
                return Ok(None);
            }
        }
        let throws = may_throw(self, &code, 0..code.bytecode.len(), false, false)?;
        Ok(Some(if throws { Quiet::MayThrow } else { Quiet::Safe }))
    }
}
