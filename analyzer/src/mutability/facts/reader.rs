//! Makes facts of three-address code.
//!
//! - `asked` is what methods of the JDK ask their arguments; `dynamic` is calls that bootstrap
//!   methods link.

mod asked;
mod dynamic;

use crate::mutability::facts::{Fact, Facts, NONE, Op, Var, is_trivial};
use crate::mutability::values;
use crate::program::calls::{Dispatch, Site};
use crate::program::ssa::{Body, Insn, Kind, Op as Ssa, Value};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::opcode as oc;
use hindsight_classfile::{Bootstrap, ClassFile, Code, Constant, ConstantPool, Utf8, access};

pub(super) struct Reader<'a> {
    program: &'a Program,
    pool: &'a ConstantPool<'a>,
    bootstraps: Vec<Bootstrap>,
    body: &'a Body,
    /// For each value of the code, the value in the facts: that of the operand for a cast, [`NONE`]
    /// for a value that is left out.
    meaning: Vec<Var>,
    facts: Vec<Fact>,
    /// The class, if this is its initializer.
    initializes: Option<ClassId>,
    class: ClassId,
    /// The types of the parameters.
    declared: Vec<Utf8<'a>>,
    element: Sym,
    has_this: bool,
    /// The number of additional values, which no instruction makes.
    more: u32,
    /// The instruction that makes each value.
    makers: Vec<u32>,
    /// What fields certainly hold before the next instruction.
    held: Vec<Held>,
    /// The loads of [`Facts::stored`].
    stored: Vec<(u32, Var)>,
}

/// The last store in a field of an object, or in an array at an index.
#[derive(Debug, Clone, Copy)]
struct Held {
    base: Var,
    field: Sym,
    index: Option<i32>,
    value: Var,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
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
            bootstraps: match has_dynamic {
                true => class.bootstraps().unwrap_or_default(),
                false => Vec::new(),
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

    pub(super) fn facts(mut self, followed: Box<[bool]>) -> Facts {
        let body = self.body;
        // In loops, a phi stands before the values that it chooses from, so the references that are
        // followed must all be known before.
        for insn in &body.insns {
            if let Some(result) = insn.result
                && body.kind(result) == Kind::Ref
                && self.is_followed(insn, &followed)
            {
                self.meaning[result.0 as usize] = result.0;
            }
        }
        // Casts of casts: this is repeated as often as the longest chain of them is long.
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

    /// Whether the value that an instruction makes can be mutated.
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
                Ok(name) => !values::is_trivial(name.as_bytes()),
                Err(_) => true,
            },
            Ssa::New(index) => match self.pool.class(index) {
                Ok(name) => !values::is_trivial(name.as_bytes()),
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

    /// Whether an instruction may throw. Accesses to fields of `this` do not, and the constructor
    /// of `Object` is empty.
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
        // Arrays have the methods of `Object`.
        let name = match name.as_bytes() {
            [b'[', ..] => b"java/lang/Object",
            name => name,
        };
        self.program.find(self.program.names.find(name)?)
    }

    /// The field, named by the class that declares it, and that class.
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
            // Numbers are read, too: a copy plan needs all fields that are read.
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
            Ssa::NewArray(_) | Ssa::NewPrimitiveArray(_) => {
                self.add(insn, Op::New { dst, class: None });
            }
            // The arrays in it are made with it, and are represented by the same value.
            Ssa::NewMultiArray(_) => {
                self.add(insn, Op::New { dst, class: None });
                let field = self.element;
                let (base, value) = (dst, dst);
                self.add(insn, Op::Store { base, field, value });
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

    /// The number that a value has, if it is a constant in the code.
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
            // Whatever signature the call has, it runs the only method of the name.
            signature = self.polymorphic(class, name).unwrap_or(signature);
        }
        Some(Site {
            owner: class,
            signature: self.program.names.intern(&signature),
            dispatch: if is_array { Dispatch::Exact } else { dispatch },
        })
    }

    /// The signature of a signature-polymorphic method (JVMS 2.9.3), which is called with any
    /// signature.
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
        // The constructor of `Object` does nothing, and a caller that had to follow it would lose
        // track of the new object.
        if method.owner == "java/lang/Object" && method.name == "<init>" {
            return;
        }
        self.asked(insn, method);
        let mut site = self.site(method.owner, method.name, method.descriptor, dispatch);
        // Compilers name `Object` in calls of its methods, whatever the receiver's declared type.
        // The verifier does not check interface types.
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
}
