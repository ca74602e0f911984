//! Analyses what a constructor or short method does with its parameters: in which fields they end
//! up, which object it returns; and which static fields it reads and fills.
//!
//! It is one pass over the bytecode with symbols in place of values. Where paths meet, the more
//! informative symbol wins. That is sometimes a guess, which suffices here: whatever is built by it
//! is compared with what was recorded.

use crate::classpath::is_platform;
use hindsight_classfile::{
    ClassFile, Code, Constant, ConstantPool, Insn, Member, MemberRef, Operand, opcode,
};
use std::collections::HashMap;

/// The bytes of the longest body that is examined.
const MAX_BODY: usize = 4000;

/// The names of JDK methods that put something into their receiver.
const FILLING: [&str; 17] = [
    "add",
    "addAll",
    "addElement",
    "addFirst",
    "addLast",
    "append",
    "compareAndSet",
    "compute",
    "computeIfAbsent",
    "merge",
    "offer",
    "push",
    "put",
    "putAll",
    "putIfAbsent",
    "set",
    "setProperty",
];

/// The class and name of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldName {
    /// The class that code names (not always the declarer).
    pub owner: String,
    /// Its name.
    pub name: String,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// The receiver.
    This,
    /// A parameter, from 0.
    Parameter(usize),
    /// A field of something.
    Field(Box<Symbol>, FieldName),
    /// A static field.
    Static(FieldName),
    /// An object made in the body; an index of [`Effects::made`].
    Made(usize),
    /// Computed from another value: a copy, or a check that returns it.
    From(Box<Symbol>),
    /// Any other origin.
    Other,
}

impl Symbol {
    /// How much the symbol says.
    fn rank(&self) -> u8 {
        match self {
            Symbol::Other | Symbol::Static(_) => 0,
            Symbol::From(_) => 1,
            Symbol::Made(_) => 2,
            Symbol::Field(..) | Symbol::This => 3,
            Symbol::Parameter(_) => 4,
        }
    }

    /// The symbol with parameters replaced by the arguments of a call.
    pub fn given(&self, arguments: &[Symbol], this: &Symbol) -> Symbol {
        match self {
            Symbol::This => this.clone(),
            Symbol::Parameter(index) => arguments.get(*index).cloned().unwrap_or(Symbol::Other),
            Symbol::Field(base, field) => match base.given(arguments, this) {
                Symbol::Other => Symbol::Other,
                base => Symbol::Field(Box::new(base), field.clone()),
            },
            Symbol::From(base) => derived(&base.given(arguments, this)),
            Symbol::Static(_) | Symbol::Made(_) | Symbol::Other => Symbol::Other,
        }
    }
}

/// A value computed from another one.
fn derived(from: &Symbol) -> Symbol {
    match from {
        Symbol::Parameter(_) | Symbol::Field(..) => Symbol::From(Box::new(from.clone())),
        Symbol::From(_) => from.clone(),
        _ => Symbol::Other,
    }
}

/// A method as code refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Class.
    pub class: String,
    /// Name.
    pub name: String,
    /// Descriptor.
    pub descriptor: String,
}

/// A call in a body.
#[derive(Debug, Clone)]
pub struct Called {
    /// The called method.
    pub target: Target,
    /// The arguments, without the receiver.
    pub arguments: Vec<Symbol>,
}

/// The effects of a body.
#[derive(Debug, Default)]
pub struct Effects {
    /// The fields of `this` that are written, in order, and among them the calls of `this`'s own
    /// constructors and methods.
    pub steps: Vec<Effect>,
    /// The objects that are made.
    pub made: Vec<Called>,
    /// The values that are returned.
    pub returned: Vec<Symbol>,
    /// The calls on fields of `this`.
    pub on_fields: Vec<(String, Called)>,
    /// The static fields that are read.
    pub reads: Vec<FieldName>,
    /// The static fields that are written, or into whose arrays, collections and the like something
    /// is put.
    pub fills: Vec<FieldName>,
    /// The methods that are called, and those that lambdas run.
    pub calls: Vec<Target>,
}

/// One effect on `this`.
#[derive(Debug)]
pub enum Effect {
    /// A field is written.
    Write(FieldName, Symbol),
    /// A method or other constructor is called on `this`.
    Call(Called),
}

/// Analyses a body; `None` if it is too long, or there is none.
pub fn effects(class: &ClassFile<'_>, member: &Member<'_>) -> Option<Effects> {
    let code = member.code(&class.pool).ok()??;
    if code.bytecode.len() > MAX_BODY {
        return None;
    }
    let descriptor = member.method_descriptor().ok()?;
    let mut locals = Vec::new();
    if !member.is(hindsight_classfile::access::STATIC) {
        locals.push(Symbol::This);
    }
    for (index, parameter) in descriptor.parameters().enumerate() {
        locals.push(Symbol::Parameter(index));
        locals.resize(
            locals.len() + usize::from(parameter.slots()) - 1,
            Symbol::Other,
        );
    }
    locals.resize(
        usize::from(code.max_locals).max(locals.len()),
        Symbol::Other,
    );
    let mut walk = Walk {
        class,
        pool: &class.pool,
        locals,
        stack: Vec::new(),
        waiting: HashMap::new(),
        effects: Effects::default(),
    };
    // What was found before something odd is still useful.
    let _ = walk.run(&code);
    Some(walk.effects)
}

struct Walk<'a, 'p> {
    class: &'p ClassFile<'a>,
    pool: &'p ConstantPool<'a>,
    locals: Vec<Symbol>,
    stack: Vec<Symbol>,
    /// The stacks at the targets of jumps that were passed.
    waiting: HashMap<usize, Vec<Symbol>>,
    effects: Effects,
}

impl Walk<'_, '_> {
    fn run(&mut self, code: &Code<'_>) -> Option<()> {
        let handlers: Vec<usize> = code.handlers.map(|h| usize::from(h.handler)).collect();
        let mut reached = true;
        for insn in code.instructions() {
            let insn = insn.ok()?;
            if let Some(other) = self.waiting.remove(&insn.offset) {
                if reached && other.len() == self.stack.len() {
                    for (mine, other) in self.stack.iter_mut().zip(other) {
                        if other.rank() > mine.rank() {
                            *mine = other;
                        }
                    }
                } else if !reached {
                    self.stack = other;
                }
            } else if handlers.contains(&insn.offset) {
                self.stack = vec![Symbol::Other];
            } else if !reached {
                continue;
            }
            reached = self.step(&insn)?;
        }
        Some(())
    }

    fn pop(&mut self, slots: usize) -> Option<Symbol> {
        let from = self.stack.len().checked_sub(slots)?;
        self.stack.drain(from..).next()
    }

    fn push(&mut self, symbol: Symbol, slots: usize) {
        if slots > 0 {
            self.stack.push(symbol);
            self.stack
                .resize(self.stack.len() + slots - 1, Symbol::Other);
        }
    }

    /// Takes `pops` slots and pushes what is computed from the first of them.
    fn compute(&mut self, pops: usize, pushes: usize) -> Option<()> {
        let from = self.stack.len().checked_sub(pops)?;
        let symbol = self.stack[from..]
            .iter()
            .map(derived)
            .max_by_key(Symbol::rank)
            .unwrap_or(Symbol::Other);
        self.stack.truncate(from);
        self.push(symbol, pushes);
        Some(())
    }

    /// Runs one instruction. Returns whether the next one is reached from it.
    fn step(&mut self, insn: &Insn<'_>) -> Option<bool> {
        let code = insn.effective_opcode();
        let operand = insn.operand().ok()?;
        match code {
            0x00 => {}
            0x01..=0x08 | 0x0b..=0x0d | 0x10..=0x13 => self.push(Symbol::Other, 1),
            0x09 | 0x0a | 0x0e | 0x0f | 0x14 => self.push(Symbol::Other, 2),
            0x15..=0x2d => {
                let Operand::Local(local) = operand else {
                    return None;
                };
                let symbol = self.locals.get(usize::from(local))?.clone();
                self.push(symbol, kind_slots(load_kind(code)));
            }
            0x2e..=0x35 => self.compute(2, if matches!(code, 0x2f | 0x31) { 2 } else { 1 })?,
            0x36..=0x4e => {
                let Operand::Local(local) = operand else {
                    return None;
                };
                let symbol = self.pop(kind_slots(load_kind(code - 0x21)))?;
                let place = self.locals.get_mut(usize::from(local))?;
                // A parameter that gets a default value (`x = x == null ? ... : x`).
                *place = match (&symbol, &*place) {
                    (Symbol::Other | Symbol::Static(_), Symbol::Parameter(_)) => derived(place),
                    _ => symbol,
                };
            }
            0x4f..=0x56 => {
                let array = self.pop(if matches!(code, 0x50 | 0x52) { 4 } else { 3 })?;
                self.fill(array);
            }
            0x57 => {
                self.pop(1)?;
            }
            0x58 => {
                self.pop(2)?;
            }
            0x59..=0x5f => self.shuffle(code)?,
            0x60..=0x73 => {
                let wide = code % 2;
                self.compute(2 << wide, 1 << wide)?;
            }
            0x74..=0x77 => {
                let slots = 1 << (code % 2);
                self.compute(slots, slots)?;
            }
            0x78..=0x7d => {
                let wide = usize::from(code % 2);
                self.compute(2 + wide, 1 + wide)?;
            }
            0x7e..=0x83 => {
                let wide = code % 2;
                self.compute(2 << wide, 1 << wide)?;
            }
            0x84 => {}
            0x85 | 0x87 | 0x8c | 0x8d => self.compute(1, 2)?,
            0x88 | 0x89 | 0x8e | 0x90 => self.compute(2, 1)?,
            0x8a | 0x8f => self.compute(2, 2)?,
            0x86 | 0x8b | 0x91..=0x93 | 0xbc..=0xbe | 0xc1 => self.compute(1, 1)?,
            0x94 | 0x97 | 0x98 => self.compute(4, 1)?,
            0x95 | 0x96 => self.compute(2, 1)?,
            0x99..=0x9e | 0xc6 | 0xc7 => {
                self.pop(1)?;
                self.jump(operand);
            }
            0x9f..=0xa6 => {
                self.pop(2)?;
                self.jump(operand);
            }
            0xa7 | 0xc8 => {
                self.jump(operand);
                return Some(false);
            }
            0xaa | 0xab => {
                self.pop(1)?;
                if let Operand::Switch(switch) = operand {
                    for target in switch.targets().flatten() {
                        self.wait(target);
                    }
                }
                return Some(false);
            }
            0xac..=0xb0 => {
                let slots = if matches!(code, 0xad | 0xaf) { 2 } else { 1 };
                let symbol = self.pop(slots)?;
                self.effects.returned.push(symbol);
                return Some(false);
            }
            0xb1 | 0xbf => return Some(false),
            0xb2..=0xb5 => self.field(insn)?,
            0xb6..=0xba => self.call(insn)?,
            0xbb => {
                self.effects.made.push(Called {
                    target: Target {
                        class: binary(self.pool.class(insn.constant()).ok()?.to_string_lossy()),
                        name: "<init>".to_owned(),
                        descriptor: String::new(),
                    },
                    arguments: Vec::new(),
                });
                let index = self.effects.made.len() - 1;
                self.push(Symbol::Made(index), 1);
            }
            0xc0 => {}
            0xc2 | 0xc3 => {
                self.pop(1)?;
            }
            0xc5 => {
                let Operand::MultiArray { dimensions, .. } = operand else {
                    return None;
                };
                self.compute(usize::from(dimensions), 1)?;
            }
            _ => return None,
        }
        Some(true)
    }

    fn jump(&mut self, operand: Operand<'_>) {
        if let Operand::Branch(target) = operand {
            self.wait(target);
        }
    }

    fn wait(&mut self, target: usize) {
        let stack = self.stack.clone();
        self.waiting.entry(target).or_insert(stack);
    }

    fn shuffle(&mut self, code: u8) -> Option<()> {
        // The number of slots that are copied, and the number of slots below which they are
        // inserted.
        let (copied, below) = match code {
            opcode::DUP => (1, 0),
            opcode::DUP_X1 => (1, 1),
            opcode::DUP_X2 => (1, 2),
            opcode::DUP2 => (2, 0),
            opcode::DUP2_X1 => (2, 1),
            opcode::DUP2_X2 => (2, 2),
            _ => {
                let len = self.stack.len();
                self.stack.swap(len.checked_sub(2)?, len - 1);
                return Some(());
            }
        };
        let len = self.stack.len();
        let top = self.stack[len.checked_sub(copied)?..].to_vec();
        let at = len.checked_sub(copied + below)?;
        self.stack.splice(at..at, top);
        Some(())
    }

    fn field(&mut self, insn: &Insn<'_>) -> Option<()> {
        let field = self.pool.field(insn.constant()).ok()?;
        let slots = slots_of(&field.descriptor.to_string_lossy());
        let name = FieldName {
            owner: binary(field.owner.to_string_lossy()),
            name: field.name.to_string_lossy().into_owned(),
        };
        match insn.opcode {
            opcode::GETSTATIC => {
                self.effects.reads.push(name.clone());
                self.push(Symbol::Static(name), slots);
            }
            opcode::PUTSTATIC => {
                self.pop(slots)?;
                self.effects.fills.push(name);
            }
            opcode::GETFIELD => {
                let symbol = match self.pop(1)? {
                    base @ (Symbol::This | Symbol::Parameter(_)) => {
                        Symbol::Field(Box::new(base), name)
                    }
                    _ => Symbol::Other,
                };
                self.push(symbol, slots);
            }
            _ => {
                let value = self.pop(slots)?;
                let value = self.resolved(value);
                if self.pop(1)? == Symbol::This {
                    self.effects.steps.push(Effect::Write(name, value));
                }
            }
        }
        Some(())
    }

    /// Notes that something is put into the object in a static field.
    fn fill(&mut self, holder: Symbol) {
        if let Symbol::Static(field) = holder {
            self.effects.fills.push(field);
        }
    }

    /// The methods that a bootstrap method is given, which a lambda runs.
    fn given_methods(&self, bootstrap: u16) -> Option<Vec<Target>> {
        let mut bootstraps = self.class.bootstraps().ok()?.into_iter();
        let given = bootstraps
            .nth(usize::from(bootstrap))?
            .arguments
            .into_iter();
        let method = |argument| match self.pool.get(argument) {
            Ok(Constant::MethodHandle { reference, .. }) => self.pool.method(reference).ok(),
            _ => None,
        };
        Some(
            given
                .filter_map(method)
                .map(|method| target(&method))
                .collect(),
        )
    }

    /// What an object that is made from another says about it: `new ArrayList<>(items)`.
    fn resolved(&self, value: Symbol) -> Symbol {
        match value {
            Symbol::Made(index) => self.effects.made[index]
                .arguments
                .iter()
                .map(derived)
                .max_by_key(Symbol::rank)
                .unwrap_or(Symbol::Other),
            value => value,
        }
    }

    fn call(&mut self, insn: &Insn<'_>) -> Option<()> {
        let target = match self.pool.get(insn.constant()).ok()? {
            Constant::Method(called) | Constant::InterfaceMethod(called) => {
                let target = target(&called);
                self.effects.calls.push(target.clone());
                target
            }
            Constant::InvokeDynamic {
                bootstrap,
                name,
                descriptor,
            } => {
                let given = self.given_methods(bootstrap);
                self.effects.calls.extend(given.unwrap_or_default());
                Target {
                    class: String::new(),
                    name: name.to_string_lossy().into_owned(),
                    descriptor: descriptor.to_string_lossy().into_owned(),
                }
            }
            _ => return None,
        };
        let (name, descriptor) = (target.name.clone(), target.descriptor.clone());
        let (parameters, result) = crate::java::descriptor::split(&descriptor)?;
        let mut arguments = Vec::new();
        for parameter in parameters.iter().rev() {
            let argument = self.pop(slots_of(parameter))?;
            arguments.push(argument);
        }
        arguments.reverse();
        let bound = !matches!(insn.opcode, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC);
        let receiver = if bound { self.pop(1)? } else { Symbol::Other };
        if FILLING.contains(&name.as_str()) && is_platform(&target.class) {
            self.fill(receiver.clone());
        }
        let called = Called { target, arguments };
        let symbol = called
            .arguments
            .iter()
            .chain([&receiver])
            .map(|argument| derived(&self.resolved(argument.clone())))
            .max_by_key(Symbol::rank)
            .unwrap_or(Symbol::Other);
        if let Symbol::Field(base, field) = &receiver
            && **base == Symbol::This
        {
            let on = (field.name.clone(), called.clone());
            self.effects.on_fields.push(on);
        }
        match (&receiver, name.as_str()) {
            (Symbol::Made(index), "<init>") => self.effects.made[*index] = called,
            (Symbol::This, _) => {
                // A fluent method returns its receiver.
                let own = result.starts_with('L') && name != "<init>";
                self.effects.steps.push(Effect::Call(called));
                let symbol = if own { Symbol::Other } else { symbol };
                self.push(symbol, slots_of(result));
                return Some(());
            }
            _ => {}
        }
        self.push(symbol, slots_of(result));
        Some(())
    }
}

fn target(called: &MemberRef<'_>) -> Target {
    Target {
        class: binary(called.owner.to_string_lossy()),
        name: called.name.to_string_lossy().into_owned(),
        descriptor: called.descriptor.to_string_lossy().into_owned(),
    }
}

/// The kind of a load, 0 to 4 for int, long, float, double, reference.
fn load_kind(code: u8) -> u8 {
    match code {
        0x15..=0x19 => code - 0x15,
        _ => (code - 0x1a) / 4,
    }
}

fn kind_slots(kind: u8) -> usize {
    if matches!(kind, 1 | 3) { 2 } else { 1 }
}

fn slots_of(descriptor: &str) -> usize {
    match descriptor.as_bytes().first() {
        Some(b'V') | None => 0,
        Some(b'J' | b'D') => 2,
        _ => 1,
    }
}

fn binary(internal: std::borrow::Cow<'_, str>) -> String {
    internal.replace('/', ".")
}
