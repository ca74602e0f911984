//! Reading a class to its last byte, for tests and fuzzing.

use hindsight_classfile::{ClassFile, Error, Operand, frames::Frames, tables};

/// Reads everything that can be read; returns the number of instructions.
pub fn read(bytes: &[u8]) -> Result<usize, Error> {
    let class = ClassFile::parse(bytes)?;
    class.name()?;
    class.super_name()?;
    class
        .interface_names()
        .try_for_each(|name| name.map(drop))?;
    // The second index of a long or double holds no constant.
    for index in 1..class.pool.count() {
        let _ = class.pool.get(index);
    }
    for field in &class.fields {
        hindsight_classfile::FieldType::parse(field.descriptor)?;
    }
    if let Some(attribute) = class.attributes.find(&class.pool, "InnerClasses") {
        tables::inner_classes(&attribute)?.for_each(drop);
    }
    class.bootstraps()?;
    let mut instructions = 0;
    for method in &class.methods {
        method.method_descriptor()?;
        if let Some(attribute) = method.attributes.find(&class.pool, "MethodParameters") {
            tables::method_parameters(&attribute)?.for_each(drop);
        }
        let Some(code) = method.code(&class.pool)? else {
            continue;
        };
        for insn in code.instructions() {
            match insn?.operand()? {
                Operand::Constant(index) => drop(class.pool.get(index)?),
                Operand::Switch(switch) => drop(switch.targets().count()),
                _ => {}
            }
            instructions += 1;
        }
        for attribute in code.attributes.iter() {
            match attribute.name(&class.pool)?.as_bytes() {
                b"StackMapTable" => Frames::new(&attribute)?.try_for_each(|f| f.map(drop))?,
                b"LineNumberTable" => tables::line_numbers(&attribute)?.for_each(drop),
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    tables::local_variables(&attribute)?.for_each(drop);
                }
                _ => {}
            }
        }
    }
    Ok(instructions)
}
