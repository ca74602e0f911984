//! Every class of `java.base` is understood in full, and written as it was.

use std::fs;

use hindsight_classfile::{ClassFile, Error, Operand, frames::Frames, tables};

mod support;

/// Reads everything that can be read.
fn read(bytes: &[u8]) -> Result<usize, Error> {
    let class = ClassFile::parse(bytes)?;
    class.name()?;
    class.super_name()?;
    class
        .interface_names()
        .try_for_each(|name| name.map(drop))?;
    // The second index of a long or double is no constant.
    for index in 1..class.pool.count() {
        let _ = class.pool.get(index);
    }
    for field in &class.fields {
        hindsight_classfile::FieldType::parse(field.descriptor)?;
    }
    if let Some(attribute) = class.attributes.find(&class.pool, "InnerClasses") {
        tables::inner_classes(&attribute)?.for_each(drop);
    }
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

#[test]
fn java_base_is_read_and_written_as_it_was() {
    for jdk in support::jdks() {
        let files = support::class_files(&jdk.modules().join("java.base"));
        assert!(files.len() > 1000, "{} classes", files.len());
        let mut instructions = 0;
        for path in &files {
            let bytes = fs::read(path).expect("a class can be read");
            match read(&bytes) {
                Ok(read) => instructions += read,
                Err(error) => panic!("{}: {error}", path.display()),
            }
            let class = ClassFile::parse(&bytes).expect("it was parsed before");
            assert!(class.write() == bytes, "{} changes", path.display());
        }
        println!(
            "JDK {}: {} classes, {instructions} instructions",
            jdk.feature,
            files.len()
        );
    }
}

/// Bytes changed at random: errors are fine, panics and hangs are not.
#[test]
fn mutated_classes_do_no_harm() {
    let jdk = support::jdks().pop().expect("there is one");
    let files = support::class_files(&jdk.modules().join("java.base/java/util"));
    let mut random = support::Random(1);
    for round in 0..20_000 {
        let path = &files[random.below(files.len())];
        let mut bytes = fs::read(path).expect("a class can be read");
        random.mutate(&mut bytes);
        if round % 7 == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        let _ = read(&bytes);
    }
}
