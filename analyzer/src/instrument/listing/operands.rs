//! Instructions and constants as text, as `javap` would show them.

use hindsight_classfile::opcode::{Form, OPCODES, WIDE};
use hindsight_classfile::{Constant, ConstantPool, Error, Insn, MemberRef, Operand};

/// The mnemonic as in `javap`, which marks wide instructions by a suffix.
pub(super) fn mnemonic(insn: &Insn<'_>) -> String {
    if insn.opcode == WIDE {
        format!("{}_w", insn.name())
    } else {
        insn.name().to_owned()
    }
}

pub(super) fn operand(pool: &ConstantPool<'_>, insn: &Insn<'_>) -> Result<String, Error> {
    let implied = matches!(
        OPCODES[usize::from(insn.opcode)].form,
        Form::LocalAt(_) | Form::None
    );
    Ok(match insn.operand()? {
        _ if implied => String::new(),
        Operand::None => String::new(),
        Operand::Int(value) => value.to_string(),
        Operand::Local(slot) => slot.to_string(),
        Operand::Iinc { local, by } => format!("{local}, {by}"),
        Operand::Constant(index) => shortened(constant(pool, index)),
        Operand::Branch(target) => target.to_string(),
        Operand::Switch(switch) => {
            let target = |target: Option<usize>| target.map_or("?".into(), |at| at.to_string());
            let cases = switch
                .cases()
                .map(|(key, to)| format!("{key}: {}", target(to)));
            let mut all: Vec<String> = cases.collect();
            all.push(format!("default: {}", target(switch.default())));
            all.join(", ")
        }
        Operand::ArrayType(kind) => match kind {
            4 => "boolean",
            5 => "char",
            6 => "float",
            7 => "double",
            8 => "byte",
            9 => "short",
            10 => "int",
            11 => "long",
            _ => "?",
        }
        .to_owned(),
        Operand::MultiArray { class, dimensions } => {
            format!("class {}, {dimensions}", class_name(pool, class))
        }
    })
}

/// The bytes of an operand or type that are listed. A class can name a constant of 64 kB in each
/// instruction and frame.
const MAX_NAME: usize = 1000;

pub(super) fn shortened(mut name: String) -> String {
    if name.len() > MAX_NAME {
        name.truncate(name.floor_char_boundary(MAX_NAME));
        name.push_str("...");
        name.shrink_to_fit();
    }
    name
}

pub(super) fn class_name(pool: &ConstantPool<'_>, index: u16) -> String {
    match pool.class(index) {
        Ok(name) => shortened(name.to_string()),
        Err(_) => format!("#{index}"),
    }
}

/// The characters that are shown of a string.
const MAX_STRING: usize = 80;

fn constant(pool: &ConstantPool<'_>, index: u16) -> String {
    let member = |kind: &str, member: MemberRef<'_>| {
        format!(
            "{kind} {}.{}:{}",
            member.owner, member.name, member.descriptor
        )
    };
    match pool.get(index) {
        Ok(Constant::Integer(value)) => format!("int {value}"),
        Ok(Constant::Float(bits)) => format!("float {:?}", f32::from_bits(bits)),
        Ok(Constant::Long(value)) => format!("long {value}"),
        Ok(Constant::Double(bits)) => format!("double {:?}", f64::from_bits(bits)),
        Ok(Constant::Class(name)) => format!("class {name}"),
        Ok(Constant::String(text)) => {
            format!(
                "String {}",
                crate::text::quote(&text.to_utf16(), MAX_STRING)
            )
        }
        Ok(Constant::Field(field)) => member("Field", field),
        Ok(Constant::Method(method)) => member("Method", method),
        Ok(Constant::InterfaceMethod(method)) => member("InterfaceMethod", method),
        Ok(Constant::MethodHandle { kind, reference }) => {
            format!(
                "MethodHandle {kind} {}",
                constant_of_handle(pool, reference)
            )
        }
        Ok(Constant::MethodType(descriptor)) => format!("MethodType {descriptor}"),
        Ok(Constant::Dynamic {
            bootstrap,
            name,
            descriptor,
        }) => format!("Dynamic #{bootstrap}:{name}:{descriptor}"),
        Ok(Constant::InvokeDynamic {
            bootstrap,
            name,
            descriptor,
        }) => format!("InvokeDynamic #{bootstrap}:{name}:{descriptor}"),
        _ => format!("#{index}"),
    }
}

/// The target of a method handle, which is never another handle.
fn constant_of_handle(pool: &ConstantPool<'_>, index: u16) -> String {
    match pool.get(index) {
        Ok(Constant::Field(to) | Constant::Method(to) | Constant::InterfaceMethod(to)) => {
            format!("{}.{}:{}", to.owner, to.name, to.descriptor)
        }
        _ => format!("#{index}"),
    }
}
