//! Everything that the reader reads in a class file, in one order, as a hash or
//! as text. `test-programs/survive/Dump.java` has the same by another reader.

use std::fmt::Write;

use hindsight_classfile::frames::{Frames, Shape, VerificationType};
use hindsight_classfile::{
    Attribute, Attributes, ClassFile, Code, Constant, ConstantPool, Error, Insn, Member, Operand,
    Utf8, access, opcode, tables,
};

/// The dump's hash.
pub fn hash(bytes: &[u8]) -> Result<u64, Error> {
    let mut dump = Dump {
        hash: 0,
        text: None,
    };
    dump.class(&ClassFile::parse(bytes)?)?;
    Ok(dump.hash)
}

/// The dump as text.
pub fn text(bytes: &[u8]) -> Result<String, Error> {
    let mut dump = Dump {
        hash: 0,
        text: Some(String::new()),
    };
    dump.class(&ClassFile::parse(bytes)?)?;
    let mut text = dump.text.unwrap_or_default();
    text.push('\n');
    Ok(text)
}

struct Dump {
    hash: u64,
    text: Option<String>,
}

/// The types of a frame; objects by name.
type Locals = Vec<VerificationType>;

impl Dump {
    fn mix(&mut self, value: u64) {
        self.hash = (self.hash.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn tag(&mut self, tag: char) -> &mut Self {
        if let Some(text) = &mut self.text {
            text.push('\n');
            text.push(tag);
        }
        self.mix(u64::from(tag));
        self
    }

    fn num(&mut self, value: impl Into<i64>) -> &mut Self {
        let value = value.into();
        if let Some(text) = &mut self.text {
            // Writing to a string does not fail.
            let _ = write!(text, " {value}");
        }
        self.mix(value.cast_unsigned());
        self
    }

    fn str(&mut self, value: Utf8<'_>) -> &mut Self {
        if let Some(text) = &mut self.text {
            let _ = write!(text, " {}", value.to_string_lossy().replace('\n', "\\n"));
        }
        let fold =
            |folded: u64, unit: u16| (folded ^ u64::from(unit)).wrapping_mul(0x100_0000_01b3);
        let start = 0xcbf2_9ce4_8422_2325;
        let bytes = value.as_bytes();
        let folded = if bytes.is_ascii() {
            bytes
                .iter()
                .fold(start, |folded, &byte| fold(folded, u16::from(byte)))
        } else {
            value.to_utf16().into_iter().fold(start, fold)
        };
        self.mix(folded);
        self
    }

    fn class(&mut self, class: &ClassFile<'_>) -> Result<(), Error> {
        let pool = &class.pool;
        self.tag('C')
            .num(class.minor)
            .num(class.major)
            .num(class.access);
        self.str(class.name()?);
        self.str(class.super_name()?.unwrap_or(Utf8::new(b"")));
        for name in class.interface_names() {
            self.tag('I').str(name?);
        }
        let mut wide = false;
        for index in 1..pool.count() {
            // The second index of a long or double is no constant.
            if !std::mem::take(&mut wide) {
                let constant = pool.get(index)?;
                wide = matches!(constant, Constant::Long(_) | Constant::Double(_));
                self.constant(index, &constant);
            }
        }
        for (tag, members) in [('F', &class.fields), ('M', &class.methods)] {
            for member in members {
                self.tag(tag).num(member.access);
                self.str(member.name).str(member.descriptor);
                self.attributes(class, Some(member), &member.attributes)?;
            }
        }
        self.attributes(class, None, &class.attributes)
    }

    fn constant(&mut self, index: u16, constant: &Constant<'_>) {
        let mut tag = |tag: u8| {
            self.tag('P').num(index).num(tag);
        };
        match *constant {
            Constant::Utf8(text) => {
                tag(1);
                self.str(text);
            }
            Constant::Integer(value) => {
                tag(3);
                self.num(value);
            }
            Constant::Float(bits) => {
                tag(4);
                self.num(bits.cast_signed());
            }
            Constant::Long(value) => {
                tag(5);
                self.num(value);
            }
            Constant::Double(bits) => {
                tag(6);
                self.num(bits.cast_signed());
            }
            Constant::Class(name) => {
                tag(7);
                self.str(name);
            }
            Constant::String(text) => {
                tag(8);
                self.str(text);
            }
            Constant::Field(member)
            | Constant::Method(member)
            | Constant::InterfaceMethod(member) => {
                tag(match constant {
                    Constant::Field(_) => 9,
                    Constant::Method(_) => 10,
                    _ => 11,
                });
                self.str(member.owner)
                    .str(member.name)
                    .str(member.descriptor);
            }
            Constant::NameAndType { name, descriptor } => {
                tag(12);
                self.str(name).str(descriptor);
            }
            Constant::MethodHandle { kind, reference } => {
                tag(15);
                self.num(kind).num(reference);
            }
            Constant::MethodType(descriptor) => {
                tag(16);
                self.str(descriptor);
            }
            Constant::Dynamic {
                bootstrap,
                name,
                descriptor,
            } => {
                tag(17);
                self.num(bootstrap).str(name).str(descriptor);
            }
            Constant::InvokeDynamic {
                bootstrap,
                name,
                descriptor,
            } => {
                tag(18);
                self.num(bootstrap).str(name).str(descriptor);
            }
            Constant::Module(name) => {
                tag(19);
                self.str(name);
            }
            Constant::Package(name) => {
                tag(20);
                self.str(name);
            }
        }
    }

    fn attributes(
        &mut self,
        class: &ClassFile<'_>,
        member: Option<&Member<'_>>,
        attributes: &Attributes<'_>,
    ) -> Result<(), Error> {
        for attribute in attributes.iter() {
            let name = attribute.name(&class.pool)?;
            self.tag('A').str(name);
            match (name.as_bytes(), member) {
                (b"Code", Some(method)) if method.descriptor.as_bytes().first() == Some(&b'(') => {
                    self.code(class, method, &Code::parse(&attribute)?)?;
                }
                (b"MethodParameters", Some(_)) => {
                    for entry in tables::method_parameters(&attribute)? {
                        self.tag('p').num(entry.name_index).num(entry.access);
                    }
                }
                (b"InnerClasses", None) => {
                    for entry in tables::inner_classes(&attribute)? {
                        self.tag('i').num(entry.inner).num(entry.outer);
                        self.num(entry.name_index).num(entry.access);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn code(
        &mut self,
        class: &ClassFile<'_>,
        method: &Member<'_>,
        code: &Code<'_>,
    ) -> Result<(), Error> {
        self.tag('K').num(code.max_stack).num(code.max_locals);
        self.num(code.bytecode.len() as i64);
        for entry in code.handlers {
            self.tag('H').num(entry.start).num(entry.end);
            self.num(entry.handler).num(entry.catch_type);
        }
        for insn in code.instructions() {
            self.instruction(&insn?)?;
        }
        for attribute in code.attributes.iter() {
            let name = attribute.name(&class.pool)?;
            self.tag('A').str(name);
            match name.as_bytes() {
                b"StackMapTable" => self.frames(class, method, &attribute)?,
                b"LineNumberTable" => {
                    for entry in tables::line_numbers(&attribute)? {
                        self.tag('L').num(entry.start).num(entry.line);
                    }
                }
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    for entry in tables::local_variables(&attribute)? {
                        self.tag('V').num(entry.start).num(entry.len);
                        self.num(entry.name_index)
                            .num(entry.type_index)
                            .num(entry.slot);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn instruction(&mut self, insn: &Insn<'_>) -> Result<(), Error> {
        self.tag('N')
            .num(insn.offset as i64)
            .num(insn.effective_opcode());
        match insn.operand()? {
            Operand::None => {}
            Operand::Int(value) => {
                self.num(value);
            }
            Operand::Local(slot) => {
                self.num(slot);
            }
            Operand::Iinc { local, by } => {
                self.num(local).num(by);
            }
            Operand::Constant(index) => {
                self.num(index);
            }
            Operand::Branch(target) => {
                self.num(target as i64);
            }
            Operand::Switch(switch) => {
                let offset = |target: Option<usize>| target.map_or(-1, |target| target as i64);
                self.num(offset(switch.default()));
                if insn.opcode == opcode::TABLESWITCH {
                    let keys = || switch.cases().map(|(key, _)| key);
                    self.num(keys().next().unwrap_or(0));
                    self.num(keys().last().unwrap_or(0));
                }
                for (key, target) in switch.cases() {
                    // The other reader does not tell which of the cases between
                    // the first and the last are there for the gaps.
                    if insn.opcode == opcode::LOOKUPSWITCH || target != switch.default() {
                        self.num(key).num(offset(target));
                    }
                }
            }
            Operand::ArrayType(kind) => {
                self.num(kind);
            }
            Operand::MultiArray { class, dimensions } => {
                self.num(class).num(dimensions);
            }
        }
        Ok(())
    }

    /// Frames with all that they leave unsaid.
    fn frames(
        &mut self,
        class: &ClassFile<'_>,
        method: &Member<'_>,
        attribute: &Attribute<'_>,
    ) -> Result<(), Error> {
        let pool = &class.pool;
        let mut this = None;
        if !method.is(access::STATIC) {
            let constructor = method.name == "<init>" && class.name()? != "java/lang/Object";
            this = Some(if constructor { "" } else { "this" });
        }
        // Objects of the descriptor have no constants, so all locals are kept
        // with their names.
        let mut locals: Vec<(VerificationType, Vec<u8>)> = Vec::new();
        match this {
            Some("") => locals.push((VerificationType::UninitializedThis, Vec::new())),
            Some(_) => locals.push((
                VerificationType::Object(0),
                class.name()?.as_bytes().to_vec(),
            )),
            None => {}
        }
        for ty in method.method_descriptor()?.parameters() {
            let (verified, name) = match (ty.constant_name(), ty.kind()) {
                (Some(name), _) => (VerificationType::Object(0), name.as_bytes().to_vec()),
                (None, b'J') => (VerificationType::Long, Vec::new()),
                (None, b'F') => (VerificationType::Float, Vec::new()),
                (None, b'D') => (VerificationType::Double, Vec::new()),
                (None, _) => (VerificationType::Integer, Vec::new()),
            };
            locals.push((verified, name));
        }
        for frame in Frames::new(attribute)? {
            let frame = frame?;
            let mut stack: Locals = Vec::new();
            match frame.shape {
                Shape::Same => {}
                Shape::SameStack(entry) => stack.push(entry),
                Shape::Chop(count) => locals.truncate(locals.len().saturating_sub(count.into())),
                Shape::Append(types) => {
                    for entry in types.iter() {
                        locals.push(named(pool, entry)?);
                    }
                }
                Shape::Full {
                    locals: all,
                    stack: entries,
                } => {
                    locals.clear();
                    for entry in all.iter() {
                        locals.push(named(pool, entry)?);
                    }
                    stack.extend(entries.iter());
                }
            }
            self.tag('S').num(frame.offset as i64);
            self.num(locals.len() as i64);
            for (entry, name) in &locals {
                self.verification_type(*entry, name);
            }
            self.num(stack.len() as i64);
            for entry in stack {
                let (entry, name) = named(pool, entry)?;
                self.verification_type(entry, &name);
            }
        }
        Ok(())
    }

    fn verification_type(&mut self, entry: VerificationType, name: &[u8]) {
        match entry {
            VerificationType::Top => self.num(0),
            VerificationType::Integer => self.num(1),
            VerificationType::Float => self.num(2),
            VerificationType::Double => self.num(3),
            VerificationType::Long => self.num(4),
            VerificationType::Null => self.num(5),
            VerificationType::UninitializedThis => self.num(6),
            VerificationType::Object(_) => self.num(7).str(Utf8::new(name)),
            VerificationType::Uninitialized(offset) => self.num(8).num(offset),
        };
    }
}

fn named(
    pool: &ConstantPool<'_>,
    entry: VerificationType,
) -> Result<(VerificationType, Vec<u8>), Error> {
    let name = match entry {
        VerificationType::Object(class) => pool.class(class)?.as_bytes().to_vec(),
        _ => Vec::new(),
    };
    Ok((entry, name))
}
