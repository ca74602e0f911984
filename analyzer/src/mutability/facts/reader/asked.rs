//! What methods of the JDK ask their arguments: for a text, a hash code, or whether they are equal.

use super::Reader;
use crate::mutability::facts::{NONE, Op, Var};
use crate::program::ClassId;
use crate::program::calls::{Dispatch, Site};
use crate::program::ssa::{Insn, Op as Ssa, Value};
use hindsight_classfile::opcode as oc;
use hindsight_classfile::{MemberRef, Utf8};

pub(super) const TO_STRING: &str = "toString()Ljava/lang/String;";
pub(super) const HASH_CODE: &str = "hashCode()I";
pub(super) const EQUALS: &str = "equals(Ljava/lang/Object;)Z";
const COMPARE_TO: &str = "compareTo(Ljava/lang/Object;)I";

/// The arguments of which a method of the JDK asks something.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// The argument at an index that counts the receiver; the last one if there are fewer.
    Argument(usize),
    /// The elements of the array that is the argument at an index that counts the receiver; the
    /// last one if there are fewer.
    Elements(usize),
}

/// What a method of the JDK calls on which of its arguments.
fn asks(method: MemberRef<'_>) -> Option<(&'static [&'static str], Asked)> {
    use Asked::{Argument, Elements};
    const LAST: usize = usize::MAX - 1;
    const IN_TABLES: &[&str] = &[HASH_CODE, EQUALS];
    let owner = method.owner.as_bytes().strip_prefix(b"java/")?;
    let name = method.name.as_bytes();
    Some(match owner {
        b"lang/String" => match name {
            b"valueOf" => (&[TO_STRING], Argument(0)),
            b"format" | b"formatted" => (&[TO_STRING], Elements(LAST)),
            _ => return None,
        },
        b"lang/StringBuilder" | b"lang/StringBuffer" | b"io/PrintStream" | b"io/PrintWriter" => {
            match name {
                b"append" | b"insert" | b"print" | b"println" => (&[TO_STRING], Argument(LAST)),
                b"printf" | b"format" => (&[TO_STRING], Elements(LAST)),
                _ => return None,
            }
        }
        b"util/Objects" => match name {
            b"toString" => (&[TO_STRING], Argument(0)),
            b"hashCode" => (&[HASH_CODE], Argument(0)),
            b"equals" | b"deepEquals" => (&[EQUALS], Argument(0)),
            b"hash" => (&[HASH_CODE], Elements(0)),
            _ => return None,
        },
        b"util/Arrays" => match name {
            b"hashCode" | b"deepHashCode" => (&[HASH_CODE], Elements(0)),
            b"toString" | b"deepToString" => (&[TO_STRING], Elements(0)),
            b"equals" | b"deepEquals" => (&[EQUALS], Elements(0)),
            b"sort" | b"parallelSort" if method.descriptor == "([Ljava/lang/Object;)V" => {
                (&[COMPARE_TO], Elements(0))
            }
            _ => return None,
        },
        b"util/Collection" | b"util/List" | b"util/ArrayList" | b"util/LinkedList"
        | b"util/Vector" | b"util/Deque" | b"util/ArrayDeque" => match name {
            b"contains" | b"indexOf" | b"lastIndexOf" => (&[EQUALS], Argument(1)),
            b"remove" if method.descriptor == "(Ljava/lang/Object;)Z" => (&[EQUALS], Argument(1)),
            _ => return None,
        },
        b"util/Set" | b"util/HashSet" | b"util/LinkedHashSet" => match name {
            b"add" | b"contains" | b"remove" => (IN_TABLES, Argument(1)),
            _ => return None,
        },
        b"util/Map"
        | b"util/HashMap"
        | b"util/LinkedHashMap"
        | b"util/Hashtable"
        | b"util/WeakHashMap"
        | b"util/concurrent/ConcurrentMap"
        | b"util/concurrent/ConcurrentHashMap" => match name {
            b"get" | b"getOrDefault" | b"containsKey" | b"put" | b"putIfAbsent" | b"remove"
            | b"replace" | b"compute" | b"computeIfAbsent" | b"computeIfPresent" | b"merge" => {
                (IN_TABLES, Argument(1))
            }
            b"containsValue" => (&[EQUALS], Argument(1)),
            _ => return None,
        },
        b"util/TreeMap"
        | b"util/SortedMap"
        | b"util/NavigableMap"
        | b"util/TreeSet"
        | b"util/SortedSet"
        | b"util/NavigableSet"
        | b"util/PriorityQueue"
        | b"util/concurrent/ConcurrentSkipListMap" => match name {
            b"get" | b"getOrDefault" | b"containsKey" | b"put" | b"putIfAbsent" | b"remove"
            | b"add" | b"contains" | b"offer" => (&[COMPARE_TO], Argument(1)),
            _ => return None,
        },
        _ => return None,
    })
}

impl<'a> Reader<'a> {
    /// Adds the calls of methods of the program by which a method of the JDK asks its arguments for
    /// texts or hash codes, whether they are equal, or which comes first. They are added where the
    /// argument's type shows that the program overrides the method.
    pub(super) fn asked(&mut self, insn: &Insn, method: MemberRef<'_>) {
        let Some((whats, of)) = asks(method) else {
            return;
        };
        let body = self.body;
        let operands = body.operands(insn);
        let (Asked::Argument(place) | Asked::Elements(place)) = of;
        let Some(&value) = operands.get(place.min(operands.len().saturating_sub(1))) else {
            return;
        };
        let more = (operands.get(place + 1)).map_or(NONE, |&value| self.var(value));
        let own = |reader: &Self, class: Option<ClassId>| {
            class.filter(|&class| !reader.program.class(class).library)
        };
        match of {
            Asked::Argument(_) => {
                if let Some(class) = own(self, self.type_of(value)) {
                    self.ask_all(insn, class, whats, self.var(value), more);
                }
            }
            Asked::Elements(_) => {
                let stores = (body.insns.iter()).filter(|insn| {
                    matches!(insn.op, Ssa::ArrayStore(oc::AASTORE))
                        && body.operands(insn)[0] == value
                });
                for element in stores.map(|insn| body.operands(insn)[2]) {
                    if let Some(class) = own(self, self.type_of(element)) {
                        self.ask_all(insn, class, whats, self.var(element), NONE);
                    }
                }
                let name = (self.declared_as(value))
                    .and_then(|ty| ty.as_bytes().strip_prefix(b"[L")?.strip_suffix(b";"));
                let class = name.and_then(|name| self.find_class(Utf8::new(name)));
                let (base, field) = (self.var(value), self.element);
                if let Some(class) = own(self, class).filter(|_| base != NONE) {
                    let dst = self.another();
                    self.add(insn, Op::Load { dst, base, field });
                    self.ask_all(insn, class, whats, dst, NONE);
                }
            }
        }
    }

    /// A new value that no instruction makes.
    pub(super) fn another(&mut self) -> Var {
        self.more += 1;
        self.body.kinds.len() as u32 + self.more - 1
    }

    pub(super) fn ask_all(
        &mut self,
        insn: &Insn,
        owner: ClassId,
        whats: &[&str],
        value: Var,
        more: Var,
    ) {
        for &what in whats {
            let signature = self.program.names.intern(what.as_bytes());
            if self.program.resolve(owner, signature).is_some() {
                let more = Some(more).filter(|_| what == EQUALS);
                self.ask(insn, owner, what, value, more);
            }
        }
    }

    /// Adds a call of one of the methods that every object has.
    pub(super) fn ask(
        &mut self,
        insn: &Insn,
        owner: ClassId,
        what: &str,
        value: Var,
        more: Option<Var>,
    ) {
        if value == NONE {
            return;
        }
        let site = Site {
            owner,
            signature: self.program.names.intern(what.as_bytes()),
            dispatch: Dispatch::Virtual,
        };
        let args = [value].into_iter().chain(more).collect();
        let dst = NONE;
        self.add(insn, Op::Call { dst, site, args });
    }

    /// The class that a value is declared to be of.
    pub(super) fn type_of(&self, value: Value) -> Option<ClassId> {
        match self.maker(value)?.op {
            Ssa::Param(0) if self.has_this => Some(self.class),
            Ssa::CheckCast(index) | Ssa::New(index) => self.class_of(index),
            _ => {
                let descriptor = self.declared_as(value)?.as_bytes();
                let name = descriptor.strip_prefix(b"L")?.strip_suffix(b";")?;
                self.find_class(Utf8::new(name))
            }
        }
    }

    /// The descriptor of the parameter, field or method that a value comes from.
    pub(super) fn declared_as(&self, value: Value) -> Option<Utf8<'a>> {
        match self.maker(value)?.op {
            Ssa::Param(number) => {
                let place = usize::from(number).checked_sub(usize::from(self.has_this))?;
                self.declared.get(place).copied()
            }
            Ssa::GetField(index) | Ssa::GetStatic(index) => {
                Some(self.pool.field(index).ok()?.descriptor)
            }
            Ssa::Invoke(_, index) => {
                let method = self.pool.method(index).ok()?;
                let descriptor =
                    hindsight_classfile::MethodDescriptor::parse(method.descriptor).ok()?;
                Some(descriptor.result()?.descriptor())
            }
            _ => None,
        }
    }
}
