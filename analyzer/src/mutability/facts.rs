//! What a body does with references, and nothing else: the part of its
//! three-address code that mutability depends on.
//!
//! Values that cannot be mutated (numbers, strings, boxes) are left out, casts
//! are looked through. The rest is small enough to be kept for a whole program.

use crate::program::calls::{Dispatch, Site};
use crate::program::ssa::{Body, Insn, Kind, Op as Ssa, Value};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::opcode as oc;
use hindsight_classfile::{
    ClassFile, Code, Constant, ConstantPool, FieldType, Member, MemberRef, Utf8, access,
};

/// A value of a body; [`NONE`] for one that is left out.
pub type Var = u32;
/// No value, or one that cannot be mutated.
pub const NONE: Var = u32::MAX;

/// What an instruction does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "a variant says what its fields are")]
pub enum Op {
    /// An argument.
    Param { dst: Var, number: u16 },
    /// One of several.
    Phi { dst: Var, from: Box<[Var]> },
    /// Reads a field, or an element by the field [`Facts::ELEMENT`].
    Load { dst: Var, base: Var, field: Sym },
    /// Writes one.
    Store { base: Var, field: Sym, value: Var },
    /// Reads a static field.
    LoadStatic { dst: Var, field: Sym },
    /// Writes one. Whether the field belongs to the class whose initializer
    /// this is stands with it: that is no effect of others.
    StoreStatic { field: Sym, value: Var, own: bool },
    /// A new object.
    New { dst: Var, class: Option<ClassId> },
    /// A new object that implements an interface by a method.
    Lambda(Box<Lambda>),
    /// A call; the receiver is the first argument.
    Call {
        dst: Var,
        site: Site,
        args: Box<[Var]>,
    },
    /// A call of something that is not known: a class that is missing, a
    /// dynamic call of an unknown kind.
    Unknown {
        dst: Var,
        what: Sym,
        args: Box<[Var]>,
    },
    /// Returns a reference.
    Return { value: Var },
    /// Throws.
    Throw { value: Var },
    /// What a handler caught.
    Catch { dst: Var },
    /// A value from outside: a constant.
    Outside { dst: Var },
}

impl Op {
    /// The value that an operation makes.
    pub fn result(&self) -> Var {
        match self {
            Op::Param { dst, .. }
            | Op::Phi { dst, .. }
            | Op::Load { dst, .. }
            | Op::LoadStatic { dst, .. }
            | Op::New { dst, .. }
            | Op::Call { dst, .. }
            | Op::Unknown { dst, .. }
            | Op::Catch { dst }
            | Op::Outside { dst } => *dst,
            Op::Lambda(lambda) => lambda.dst,
            Op::Store { .. } | Op::StoreStatic { .. } | Op::Return { .. } | Op::Throw { .. } => {
                NONE
            }
        }
    }
}

/// What `LambdaMetafactory` makes of a method reference or a lambda expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lambda {
    /// The object.
    pub dst: Var,
    /// The interface that it implements.
    pub interface: Option<ClassId>,
    /// The name of the method of the interface.
    pub name: Sym,
    /// What that method runs; `new` for a constructor.
    pub site: Site,
    /// Whether it makes a new object, which is the receiver.
    pub makes: bool,
    /// The arguments that are already there.
    pub captured: Box<[Var]>,
}

/// An operation and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The place in the bytecode.
    pub pc: u16,
    /// The operation.
    pub op: Op,
}

/// What a body does with references.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Operations, in reverse postorder of the blocks.
    pub ops: Vec<Fact>,
    /// How many values there are.
    pub vars: u32,
    /// Loads that give what was stored just before: the operation, and the value.
    pub stored: Box<[(u32, Var)]>,
    /// From this operation on, operations may run again.
    pub loops_from: usize,
    /// Which arguments are followed: not numbers, strings, boxes.
    pub followed: Box<[bool]>,
    /// Why nothing is known of the body, if that is so.
    pub unknown: Option<String>,
    /// Whether there is a body that was to be read.
    pub present: bool,
    /// Whether anything in it may throw.
    pub throws: bool,
    /// Whether it has a loop.
    pub loops: bool,
}

/// Whether values of a type cannot be mutated: numbers, strings, boxes.
pub fn is_trivial(descriptor: Utf8<'_>) -> bool {
    let bytes = descriptor.as_bytes();
    match bytes {
        [b'[', ..] => false,
        [b'L', name @ .., b';'] => is_trivial_class(name),
        _ => true,
    }
}

fn is_trivial_class(name: &[u8]) -> bool {
    let Some(simple) = name.strip_prefix(b"java/lang/") else {
        return false;
    };
    matches!(
        simple,
        b"String"
            | b"Integer"
            | b"Long"
            | b"Boolean"
            | b"Character"
            | b"Byte"
            | b"Short"
            | b"Float"
            | b"Double"
            | b"Class"
            | b"Void"
    )
}

impl Facts {
    /// The name of the field that stands for the elements of arrays.
    pub const ELEMENT: &'static str = "[]";

    /// Reads the facts of a method.
    pub fn read(program: &Program, class: &ClassFile<'_>, id: MethodId) -> Facts {
        let method = program.method(id);
        let Some(member) = class.methods.get(usize::from(method.place)) else {
            return Facts::unknown(program, id, "its class file has changed".to_owned());
        };
        let followed = followed(member);
        let code = match member.code(&class.pool) {
            Ok(Some(code)) => code,
            Ok(None) if method.is(access::ABSTRACT) => {
                return Facts {
                    followed,
                    ..Facts::default()
                };
            }
            Ok(None) => return Facts::unknown(program, id, "it is native".to_owned()),
            Err(error) => return Facts::unknown(program, id, error.to_string()),
        };
        let body = member
            .method_descriptor()
            .map_err(Into::into)
            .and_then(|descriptor| {
                Body::new(&class.pool, &code, method.is(access::STATIC), &descriptor)
            });
        match body {
            Ok(body) => Reader::new(program, class, &code, &body, id).facts(followed),
            Err(error) => Facts::unknown(program, id, error.to_string()),
        }
    }

    fn unknown(program: &Program, id: MethodId, why: String) -> Facts {
        let method = program.method(id);
        let text = program.names.bytes(method.signature);
        let at = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
        let descriptor = hindsight_classfile::MethodDescriptor::parse(Utf8::new(&text[at..]));
        let declared: Vec<bool> = match &descriptor {
            Ok(descriptor) => descriptor
                .parameters()
                .map(|ty| !is_trivial(ty.descriptor()))
                .collect(),
            Err(_) => Vec::new(),
        };
        let this = (!method.is(access::STATIC)).then_some(true);
        Facts {
            followed: this.into_iter().chain(declared).collect(),
            unknown: Some(why),
            present: true,
            throws: true,
            loops: true,
            ..Facts::default()
        }
    }
}

fn followed(member: &Member<'_>) -> Box<[bool]> {
    let this = (!member.is(access::STATIC)).then_some(true);
    let descriptor = member.method_descriptor();
    let types = descriptor
        .iter()
        .flat_map(|descriptor| descriptor.parameters());
    this.into_iter()
        .chain(types.map(|ty| !is_trivial(ty.descriptor())))
        .collect()
}

struct Reader<'a> {
    program: &'a Program,
    pool: &'a ConstantPool<'a>,
    bootstraps: Vec<Bootstrap>,
    body: &'a Body,
    /// What casts give, and values that are left out.
    meaning: Vec<Var>,
    facts: Vec<Fact>,
    /// The class, if this is its initializer.
    initializes: Option<ClassId>,
    class: ClassId,
    /// The types of the parameters.
    declared: Vec<Utf8<'a>>,
    element: Sym,
    has_this: bool,
    /// Values that no instruction makes.
    more: u32,
    /// The instruction that makes each value.
    makers: Vec<u32>,
    /// What fields hold for sure where the next instruction begins.
    held: Vec<Held>,
    /// See [`Facts::stored`].
    stored: Vec<(u32, Var)>,
}

/// What was stored last in a field of an object, or in an array at an index.
#[derive(Debug, Clone, Copy)]
struct Held {
    base: Var,
    field: Sym,
    index: Option<i32>,
    value: Var,
}

const TO_STRING: &str = "toString()Ljava/lang/String;";
const HASH_CODE: &str = "hashCode()I";
const EQUALS: &str = "equals(Ljava/lang/Object;)Z";

const COMPARE_TO: &str = "compareTo(Ljava/lang/Object;)I";

/// What a method of the JDK asks.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// The argument at a place, the receiver counted; the last if there are not so
    /// many.
    Argument(usize),
    /// The elements of an array, likewise.
    Elements(usize),
}

/// What a method of the JDK calls of which arguments.
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

struct Bootstrap {
    method: u16,
    arguments: Vec<u16>,
}

fn bootstraps(class: &ClassFile<'_>) -> Vec<Bootstrap> {
    let read = || -> Option<Vec<Bootstrap>> {
        let mut r = class
            .attributes
            .find(&class.pool, "BootstrapMethods")?
            .reader();
        let mut all = Vec::new();
        for _ in 0..r.u16().ok()? {
            let method = r.u16().ok()?;
            let count = r.u16().ok()?;
            let mut arguments = Vec::new();
            for _ in 0..count {
                arguments.push(r.u16().ok()?);
            }
            all.push(Bootstrap { method, arguments });
        }
        Some(all)
    };
    read().unwrap_or_default()
}

impl<'a> Reader<'a> {
    fn new(
        program: &'a Program,
        class: &'a ClassFile<'a>,
        code: &Code<'a>,
        body: &'a Body,
        id: MethodId,
    ) -> Self {
        let method = program.method(id);
        let has_dynamic = code.bytecode.contains(&oc::INVOKEDYNAMIC);
        let initializer = &*program.names.bytes(method.signature) == b"<clinit>()V";
        let mut makers = vec![u32::MAX; body.kinds.len()];
        for (insn, at) in body.insns.iter().zip(0..) {
            if let Some(result) = insn.result {
                makers[result.0 as usize] = at;
            }
        }
        Reader {
            program,
            pool: &class.pool,
            bootstraps: if has_dynamic {
                bootstraps(class)
            } else {
                Vec::new()
            },
            body,
            meaning: vec![NONE; body.kinds.len()],
            facts: Vec::new(),
            initializes: initializer.then_some(method.class),
            has_this: !method.is(access::STATIC),
            class: method.class,
            declared: (class.methods.get(usize::from(method.place)))
                .and_then(|member| member.method_descriptor().ok())
                .map_or_else(Vec::new, |descriptor| {
                    descriptor.parameters().map(|ty| ty.descriptor()).collect()
                }),
            more: 0,
            makers,
            held: Vec::new(),
            stored: Vec::new(),
            element: program.names.intern(Facts::ELEMENT.as_bytes()),
        }
    }

    fn facts(mut self, followed: Box<[bool]>) -> Facts {
        let body = self.body;
        // Phis come before what they choose from in loops, so all references
        // that are followed must be known before.
        for insn in &body.insns {
            if let Some(result) = insn.result
                && body.kind(result) == Kind::Ref
                && self.is_followed(insn, &followed)
            {
                self.meaning[result.0 as usize] = result.0;
            }
        }
        // A cast of a cast: as long as the longest chain of them.
        loop {
            let mut changed = false;
            for insn in &body.insns {
                if let (Ssa::CheckCast(_), Some(result)) = (insn.op, insn.result) {
                    let meant = self.var(body.operands(insn)[0]);
                    let known = &mut self.meaning[result.0 as usize];
                    if *known != NONE && *known != meant {
                        *known = meant;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let mut place = vec![u32::MAX; body.blocks.len()];
        for (at, &block) in body.order.iter().enumerate() {
            place[block as usize] = at as u32;
        }
        let mut loops_from = usize::MAX;
        let mut left: Vec<Vec<Held>> = vec![Vec::new(); body.blocks.len()];
        for (at, &block) in body.order.iter().enumerate() {
            let before = &body.blocks[block as usize].before;
            if loops_from == usize::MAX
                && before
                    .iter()
                    .any(|edge| place[edge.from as usize] as usize >= at)
            {
                loops_from = self.facts.len();
            }
            self.held = match before.as_slice() {
                [one] if !one.thrown => left[one.from as usize].clone(),
                _ => Vec::new(),
            };
            for insn in body.block(block) {
                self.insn(insn, &followed);
            }
            left[block as usize] = std::mem::take(&mut self.held);
        }
        Facts {
            loops_from: loops_from.min(self.facts.len()),
            ops: std::mem::take(&mut self.facts),
            vars: body.kinds.len() as u32 + self.more,
            stored: std::mem::take(&mut self.stored).into(),
            followed,
            unknown: None,
            present: true,
            throws: body.insns.iter().any(|insn| self.may_throw(insn)),
            loops: loops_from != usize::MAX,
        }
    }

    /// Whether what an instruction makes can be mutated.
    fn is_followed(&self, insn: &Insn, followed: &[bool]) -> bool {
        let type_of = |descriptor: Result<Utf8<'_>, hindsight_classfile::Error>| match descriptor {
            Ok(descriptor) => !is_trivial(descriptor),
            Err(_) => true,
        };
        match insn.op {
            Ssa::Param(number) => followed.get(usize::from(number)).copied().unwrap_or(true),
            Ssa::Null | Ssa::Undefined => false,
            Ssa::Constant(index) => !matches!(
                self.pool.get(index),
                Ok(Constant::String(_)
                    | Constant::Class(_)
                    | Constant::MethodType(_)
                    | Constant::MethodHandle { .. })
            ),
            Ssa::GetField(index) | Ssa::GetStatic(index) => {
                type_of(self.pool.field(index).map(|field| field.descriptor))
            }
            Ssa::CheckCast(index) => match self.pool.class(index) {
                Ok(name) => !is_trivial_class(name.as_bytes()),
                Err(_) => true,
            },
            Ssa::New(index) => match self.pool.class(index) {
                Ok(name) => !is_trivial_class(name.as_bytes()),
                Err(_) => true,
            },
            Ssa::Invoke(_, index) => {
                let descriptor = match self.pool.get(index) {
                    Ok(Constant::InvokeDynamic { descriptor, .. }) => Some(descriptor),
                    _ => self.pool.method(index).ok().map(|method| method.descriptor),
                };
                let result = descriptor.and_then(|descriptor| {
                    hindsight_classfile::MethodDescriptor::parse(descriptor)
                        .ok()?
                        .result()
                });
                result.is_some_and(|ty| !is_trivial(ty.descriptor()))
            }
            _ => true,
        }
    }

    /// Whether an instruction may throw. Fields of `this` are there; the
    /// constructor of objects is empty.
    fn may_throw(&self, insn: &Insn) -> bool {
        let on_this = || {
            let base = self.body.operands(insn).first();
            let this = self
                .body
                .insns
                .iter()
                .find(|insn| insn.op == Ssa::Param(0))
                .and_then(|insn| insn.result);
            self.has_this && base.copied() == this
        };
        match insn.op {
            Ssa::Compute(code) => matches!(code, oc::IDIV | oc::LDIV | oc::IREM | oc::LREM),
            Ssa::GetField(_) | Ssa::PutField(_) => !on_this(),
            Ssa::Constant(index) => !matches!(
                self.pool.get(index),
                Ok(Constant::Integer(_)
                    | Constant::Float(_)
                    | Constant::Long(_)
                    | Constant::Double(_)
                    | Constant::String(_))
            ),
            Ssa::Invoke(oc::INVOKESPECIAL, index) => {
                let method = self.pool.method(index);
                !method.is_ok_and(|method| {
                    method.owner == "java/lang/Object" && method.name == "<init>"
                })
            }
            Ssa::GetStatic(_)
            | Ssa::PutStatic(_)
            | Ssa::ArrayLoad(_)
            | Ssa::ArrayStore(_)
            | Ssa::ArrayLength => true,
            Ssa::New(_) | Ssa::NewPrimitiveArray(_) | Ssa::NewArray(_) | Ssa::NewMultiArray(_) => {
                true
            }
            Ssa::Invoke(..)
            | Ssa::CheckCast(_)
            | Ssa::InstanceOf(_)
            | Ssa::Monitor(_)
            | Ssa::Throw => true,
            _ => false,
        }
    }

    fn var(&self, value: Value) -> Var {
        self.meaning[value.0 as usize]
    }

    fn vars(&self, insn: &Insn) -> Box<[Var]> {
        self.body
            .operands(insn)
            .iter()
            .map(|&value| self.var(value))
            .collect()
    }

    fn class_of(&self, index: u16) -> Option<ClassId> {
        let name = self.pool.class(index).ok()?;
        self.find_class(name)
    }

    fn find_class(&self, name: Utf8<'_>) -> Option<ClassId> {
        // Arrays have the methods of objects.
        let name = match name.as_bytes() {
            [b'[', ..] => b"java/lang/Object",
            name => name,
        };
        self.program.find(self.program.names.find(name)?)
    }

    /// The field by the class that declares it.
    fn field(&self, index: u16) -> Option<(Sym, ClassId)> {
        let names = &self.program.names;
        let field = self.pool.field(index).ok()?;
        let owner = self.find_class(field.owner);
        let (name, descriptor) = (
            names.find(field.name.as_bytes()),
            names.find(field.descriptor.as_bytes()),
        );
        let declared = match (owner, name, descriptor) {
            (Some(owner), Some(name), Some(descriptor)) => {
                self.program.resolve_field(owner, name, descriptor)
            }
            _ => None,
        };
        let class = declared.or(owner);
        let owner = match class {
            Some(class) => names.bytes(self.program.class(class).name),
            None => field.owner.as_bytes().into(),
        };
        let mut full = Vec::with_capacity(owner.len() + field.name.as_bytes().len() + 1);
        full.extend_from_slice(&owner);
        full.push(b'.');
        full.extend_from_slice(field.name.as_bytes());
        Some((names.intern(&full), class.unwrap_or(ClassId(u32::MAX))))
    }

    fn add(&mut self, insn: &Insn, op: Op) {
        self.facts.push(Fact { pc: insn.pc, op });
    }

    fn insn(&mut self, insn: &Insn, followed: &[bool]) {
        let dst = insn.result.map_or(NONE, |result| self.var(result));
        let operands = self.body.operands(insn);
        let operand = |at: usize| operands.get(at).map_or(NONE, |&value| self.var(value));
        match insn.op {
            Ssa::Param(number) if followed.get(usize::from(number)) == Some(&true) => {
                self.add(insn, Op::Param { dst, number });
            }
            Ssa::Phi if dst != NONE => {
                let mut from: Vec<Var> = self.vars(insn).into_vec();
                from.retain(|&var| var != NONE && var != dst);
                from.sort_unstable();
                from.dedup();
                self.add(
                    insn,
                    Op::Phi {
                        dst,
                        from: from.into(),
                    },
                );
            }
            Ssa::Catch => self.add(insn, Op::Catch { dst }),
            Ssa::Constant(_) if dst != NONE => self.add(insn, Op::Outside { dst }),
            // Numbers too: a copy plan asks for all fields that are read.
            Ssa::GetField(index) => {
                if let Some((field, _)) = self.field(index) {
                    let base = operand(0);
                    self.load(insn, dst, base, field, None);
                }
            }
            Ssa::PutField(index) => {
                if let Some((field, _)) = self.field(index) {
                    let (base, value) = (operand(0), operand(1));
                    self.add(insn, Op::Store { base, field, value });
                    self.held.retain(|held| held.field != field);
                    self.hold(base, field, None, value);
                }
            }
            Ssa::GetStatic(index) => {
                if let Some((field, _)) = self.field(index) {
                    self.add(insn, Op::LoadStatic { dst, field });
                }
            }
            Ssa::PutStatic(index) => {
                if let Some((field, class)) = self.field(index) {
                    let (value, own) = (operand(0), self.initializes == Some(class));
                    self.add(insn, Op::StoreStatic { field, value, own });
                }
            }
            Ssa::ArrayLoad(oc::AALOAD) => {
                let (base, field) = (operand(0), self.element);
                let index = self.number(operands[1]);
                self.load(insn, dst, base, field, index);
            }
            Ssa::ArrayStore(opcode) => {
                let (base, field, value) = (operand(0), self.element, operand(2));
                self.add(insn, Op::Store { base, field, value });
                if opcode == oc::AASTORE {
                    let index = self.number(operands[1]);
                    let apart =
                        |held: &Held| held.base == base && index.is_some() && held.index != index;
                    self.held.retain(|held| held.field != field || apart(held));
                    if index.is_some() {
                        self.hold(base, field, index, value);
                    }
                }
            }
            Ssa::New(index) if dst != NONE => {
                let class = self.class_of(index);
                self.add(insn, Op::New { dst, class });
            }
            Ssa::NewArray(_) | Ssa::NewPrimitiveArray(_) | Ssa::NewMultiArray(_) => {
                self.add(insn, Op::New { dst, class: None });
            }
            Ssa::Invoke(opcode, index) => {
                self.call(insn, dst, opcode, index);
                self.held.clear();
            }
            Ssa::Return if operand(0) != NONE => {
                let value = operand(0);
                self.add(insn, Op::Return { value });
            }
            Ssa::Throw => {
                let value = operand(0);
                self.add(insn, Op::Throw { value });
            }
            _ => {}
        }
    }

    fn load(&mut self, insn: &Insn, dst: Var, base: Var, field: Sym, index: Option<i32>) {
        let known = (self.held.iter())
            .find(|held| (held.base, held.field, held.index) == (base, field, index));
        if let Some(known) = known
            && dst != NONE
        {
            self.stored.push((self.facts.len() as u32, known.value));
        }
        self.add(insn, Op::Load { dst, base, field });
    }

    fn hold(&mut self, base: Var, field: Sym, index: Option<i32>, value: Var) {
        if base != NONE {
            self.held.push(Held {
                base,
                field,
                index,
                value,
            });
        }
    }

    /// The instruction that makes a value.
    fn maker(&self, value: Value) -> Option<&'a Insn> {
        let at = *self.makers.get(value.0 as usize)?;
        self.body.insns.get(at as usize)
    }

    /// A number that the code says itself.
    fn number(&self, value: Value) -> Option<i32> {
        match self.maker(value)?.op {
            Ssa::Int(number) => Some(number),
            _ => None,
        }
    }

    fn site(
        &self,
        owner: Utf8<'_>,
        name: Utf8<'_>,
        descriptor: Utf8<'_>,
        dispatch: Dispatch,
    ) -> Option<Site> {
        let mut signature = name.as_bytes().to_vec();
        signature.extend_from_slice(descriptor.as_bytes());
        // Nothing overrides the methods of an array.
        let is_array = owner.as_bytes().starts_with(b"[");
        let class = self.find_class(owner)?;
        if owner == "java/lang/invoke/VarHandle" {
            // Whatever the call says, it runs the one method of the name.
            signature = self.polymorphic(class, name).unwrap_or(signature);
        }
        Some(Site {
            owner: class,
            signature: self.program.names.intern(&signature),
            dispatch: if is_array { Dispatch::Exact } else { dispatch },
        })
    }

    /// The signature of a method whose calls have any.
    fn polymorphic(&self, class: ClassId, name: Utf8<'_>) -> Option<Vec<u8>> {
        let mut methods = self.program.class(class).methods.clone();
        let prefix = [name.as_bytes(), b"([Ljava/lang/Object;)"].concat();
        methods.find_map(|number| {
            let signature = self.program.method(MethodId(number)).signature;
            let signature = self.program.names.bytes(signature);
            signature.starts_with(&prefix).then(|| signature.to_vec())
        })
    }

    fn call(&mut self, insn: &Insn, dst: Var, opcode: u8, index: u16) {
        let args = self.vars(insn);
        let constant = self.pool.get(index);
        if let Ok(Constant::InvokeDynamic {
            bootstrap,
            name,
            descriptor,
        }) = constant
        {
            return self.dynamic(insn, dst, args, bootstrap, name, descriptor);
        }
        let Ok(method) = self.pool.method(index) else {
            return;
        };
        let dispatch = match opcode {
            oc::INVOKESTATIC | oc::INVOKESPECIAL => Dispatch::Exact,
            _ => Dispatch::Virtual,
        };
        self.asked(insn, method);
        let mut site = self.site(method.owner, method.name, method.descriptor, dispatch);
        // Compilers name Object for what everything has, whatever the receiver is
        // declared to be. Of interfaces a verifier would not make sure.
        if let Some(site) = &mut site
            && method.owner == "java/lang/Object"
            && dispatch == Dispatch::Virtual
            && let Some(&receiver) = self.body.operands(insn).first()
            && let Some(class) = self.type_of(receiver)
            && self.program.class(class).access & access::INTERFACE == 0
            && self.program.resolve(class, site.signature).is_some()
        {
            site.owner = class;
        }
        match site {
            Some(site) => self.add(insn, Op::Call { dst, site, args }),
            None => {
                let what = format!(
                    "{}.{}",
                    method.owner.to_string_lossy().replace('/', "."),
                    method.name
                );
                let what = self.program.names.intern(what.as_bytes());
                self.add(insn, Op::Unknown { dst, what, args });
            }
        }
    }

    /// Methods of the JDK ask their arguments for words, hash codes, whether they
    /// are equal, which comes first: calls of methods that the program overrides,
    /// where the argument's type says so.
    fn asked(&mut self, insn: &Insn, method: MemberRef<'_>) {
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

    /// A value that no instruction makes.
    fn another(&mut self) -> Var {
        self.more += 1;
        self.body.kinds.len() as u32 + self.more - 1
    }

    fn ask_all(&mut self, insn: &Insn, owner: ClassId, whats: &[&str], value: Var, more: Var) {
        for &what in whats {
            let signature = self.program.names.intern(what.as_bytes());
            if self.program.resolve(owner, signature).is_some() {
                let more = Some(more).filter(|_| what == EQUALS);
                self.ask(insn, owner, what, value, more);
            }
        }
    }

    /// A call of one of an object's methods that everything has.
    fn ask(&mut self, insn: &Insn, owner: ClassId, what: &str, value: Var, more: Option<Var>) {
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
    fn type_of(&self, value: Value) -> Option<ClassId> {
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
    fn declared_as(&self, value: Value) -> Option<Utf8<'a>> {
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

    /// What makes a lambda: the handle of the method that it runs.
    fn implementation(&self, bootstrap: &Bootstrap) -> Option<(Site, bool)> {
        let Constant::MethodHandle { reference, .. } = self.pool.get(bootstrap.method).ok()? else {
            return None;
        };
        let maker = self.pool.method(reference).ok()?;
        if maker.owner != "java/lang/invoke/LambdaMetafactory" {
            return None;
        }
        let &[_, handle, ..] = bootstrap.arguments.as_slice() else {
            return None;
        };
        let Constant::MethodHandle { kind, reference } = self.pool.get(handle).ok()? else {
            return None;
        };
        let method = self.pool.method(reference).ok()?;
        // REF_invokeVirtual and REF_invokeInterface choose; REF_newInvokeSpecial
        // makes an object first.
        let dispatch = match kind {
            5 | 9 => Dispatch::Virtual,
            _ => Dispatch::Exact,
        };
        let site = self.site(method.owner, method.name, method.descriptor, dispatch)?;
        Some((site, kind == 8))
    }

    /// What a record's own methods ask its components.
    fn of_record(&mut self, insn: &Insn, name: Utf8<'_>, args: &[Var]) {
        let what = match name.as_bytes() {
            b"toString" => TO_STRING,
            b"hashCode" => HASH_CODE,
            _ => EQUALS,
        };
        let program = self.program;
        let class = program.class(self.class);
        let owner = program.names.bytes(class.name);
        for field in class
            .fields
            .iter()
            .filter(|f| f.access & access::STATIC == 0)
        {
            let descriptor = program.names.bytes(field.descriptor);
            let ty = descriptor
                .strip_prefix(b"L")
                .and_then(|rest| rest.strip_suffix(b";"));
            let Some(ty) = ty.filter(|name| !is_trivial_class(name)) else {
                continue;
            };
            let known = self.find_class(Utf8::new(ty));
            let full = [&*owner, b".", &*program.names.bytes(field.name)].concat();
            let field = program.names.intern(&full);
            let mut read = [NONE; 2];
            for (read, &base) in read.iter_mut().zip(args).filter(|(_, arg)| **arg != NONE) {
                *read = self.another();
                let dst = *read;
                self.add(insn, Op::Load { dst, base, field });
            }
            let more = Some(read[1]).filter(|_| what == EQUALS);
            match known {
                Some(class) => self.ask(insn, class, what, read[0], more),
                None => {
                    let what = program.names.intern(ty);
                    let (dst, args) = (NONE, read.into());
                    self.add(insn, Op::Unknown { dst, what, args });
                }
            }
        }
    }

    fn dynamic(
        &mut self,
        insn: &Insn,
        dst: Var,
        args: Box<[Var]>,
        bootstrap: u16,
        name: Utf8<'_>,
        descriptor: Utf8<'_>,
    ) {
        let bootstrap = self.bootstraps.get(usize::from(bootstrap));
        if let Some((site, makes)) = bootstrap.and_then(|bootstrap| self.implementation(bootstrap))
        {
            let result = hindsight_classfile::MethodDescriptor::parse(descriptor).ok();
            let interface = result
                .and_then(|d| d.result())
                .and_then(FieldType::class_name);
            let interface = interface.and_then(|name| self.find_class(name));
            let name = self.program.names.intern(name.as_bytes());
            let lambda = Lambda {
                dst,
                interface,
                name,
                site,
                makes,
                captured: args,
            };
            self.add(insn, Op::Lambda(Box::new(lambda)));
            return;
        }
        let maker = bootstrap.and_then(|bootstrap| match self.pool.get(bootstrap.method) {
            Ok(Constant::MethodHandle { reference, .. }) => self.pool.method(reference).ok(),
            _ => None,
        });
        let maker_name = maker.map_or_else(String::new, |maker| {
            maker.owner.to_string_lossy().into_owned()
        });
        match maker_name.as_str() {
            // Concatenation calls toString of each operand.
            "java/lang/invoke/StringConcatFactory" => {
                for &value in self.body.operands(insn) {
                    let object = || self.find_class(Utf8::new(b"java/lang/Object"));
                    if let Some(class) = self.type_of(value).or_else(object) {
                        self.ask(insn, class, TO_STRING, self.var(value), None);
                    }
                }
            }
            "java/lang/runtime/ObjectMethods" => self.of_record(insn, name, &args),
            // Pattern switches look at classes, and call equals of constants.
            "java/lang/runtime/SwitchBootstraps" => {}
            other => {
                let what = format!("a dynamic call by {}", other.replace('/', "."));
                let what = self.program.names.intern(what.as_bytes());
                self.add(insn, Op::Unknown { dst, what, args });
            }
        }
    }
}
