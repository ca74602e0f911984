//! Every class of `java.base` is understood in full, and written as it was.

use std::fs;

use hindsight_classfile::ClassFile;
use read::read;

#[path = "support/read.rs"]
mod read;
mod support;

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

/// Bytes changed at random: errors are fine, panics and hangs are not. What is taken is
/// written so that it is taken again.
#[test]
fn mutated_classes_do_no_harm() {
    let jdk = support::jdks().pop().expect("there is one");
    let files = support::class_files(&jdk.modules().join("java.base/java/util"));
    let mut random = support::Random(1);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..20_000 {
        let path = &files[random.below(files.len())];
        let mut bytes = fs::read(path).expect("a class can be read");
        random.mutate(&mut bytes);
        if round % 7 == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        match read(&bytes) {
            Ok(_) => {
                let written = ClassFile::parse(&bytes).expect("it was read").write();
                read(&written).expect("what was written can be read");
                taken += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{taken} taken, {refused} refused");
    assert!(taken > 2000 && refused > 2000);
}
