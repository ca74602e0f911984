//! Classes that nobody's compiler made: no panic, no hang, no lie about success.

use std::fs;

use hindsight_classfile::ClassFile;
use hindsight_instrument::{
    Copy, CrashPlan, Rules, TracePlan, What, contract, crash, entry_hook, trace,
};

use crate::support::{self, Random};

fn plan(copy: Copy) -> CrashPlan<'static> {
    CrashPlan {
        copy,
        max_fields: 8,
        first_id: 1,
        rules: &|_, _| Rules {
            escape: true,
            caught: true,
        },
    }
}

fn trace_plan() -> TracePlan<'static> {
    TracePlan {
        what: &|name, _| What {
            reads: name.len().is_multiple_of(2),
            calls: !name.len().is_multiple_of(5),
            ..What::CALLS_AND_WRITES
        },
        first_method: 1,
        first_field: 1,
        first_callee: 1,
    }
}

#[test]
fn mutated_classes_do_no_harm() {
    let jdk = support::jdks().pop().expect("there is one");
    let files = support::class_files(&jdk.modules().join("java.base/java/util"));
    let files: Vec<_> = files
        .iter()
        .map(|path| fs::read(path).expect("it can be read"))
        .collect();
    let mut random = Random(2);
    let (mut written, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut bytes = files[random.below(files.len())].clone();
        random.mutate(&mut bytes);
        if round % 7 == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        let copy = if round % 2 == 0 {
            Copy::Fields
        } else {
            Copy::Reference
        };
        let class = if round % 3 == 0 {
            trace(&bytes, &trace_plan()).map(|traced| traced.class)
        } else {
            crash(&bytes, &plan(copy)).map(|rewritten| rewritten.class)
        };
        match class {
            // What is written can be read again.
            Ok(class) => {
                if let Some(class) = class {
                    ClassFile::parse(&class).expect("what was written can be read");
                    written += 1;
                }
            }
            Err(_) => refused += 1,
        }
    }
    println!("{written} written, {refused} refused");
    assert!(written > 1000 && refused > 1000);
}

#[test]
fn a_mutated_thread_class_does_no_harm() {
    let jdk = support::jdks().pop().expect("there is one");
    let thread =
        fs::read(jdk.modules().join("java.base/java/lang/Thread.class")).expect("it is there");
    let mut random = Random(3);
    let from = contract::DISPATCH_UNCAUGHT;
    for _ in 0..3_000 {
        let mut bytes = thread.clone();
        random.mutate(&mut bytes);
        let _ = entry_hook(
            &bytes,
            from.name,
            from.descriptor,
            (contract::PROBE, "uncaught", "()V"),
        );
    }
}

#[test]
fn instrumented_classes_and_modules_are_left_alone() {
    let jdk = support::jdks().pop().expect("there is one");
    let root = jdk.modules().join("java.base");
    let list = fs::read(root.join("java/util/ArrayList.class")).expect("it is there");
    let once = crash(&list, &plan(Copy::Fields))
        .expect("it is sound")
        .class
        .expect("it changes");
    let twice = crash(&once, &plan(Copy::Fields)).expect("it is sound");
    assert!(twice.class.is_none() && twice.methods.is_empty());
    let module = fs::read(root.join("module-info.class")).expect("it is there");
    let module = crash(&module, &plan(Copy::Fields)).expect("it is sound");
    assert!(module.class.is_none() && module.class_name == "module-info");

    // Each plan knows its own probes.
    let both = trace(&once, &trace_plan()).expect("it is sound").class;
    let both = both.expect("it changes");
    let again = trace(&both, &trace_plan()).expect("it is sound");
    assert!(again.class.is_none() && again.methods.is_empty());
}

#[test]
fn a_full_constant_pool_leaves_the_class_alone() {
    let jdk = support::jdks().pop().expect("there is one");
    let list = jdk.modules().join("java.base/java/util/ArrayList.class");
    let list = fs::read(list).expect("it is there");
    let class = ClassFile::parse(&list).expect("it is sound");
    let mut added = hindsight_classfile::PoolBuilder::new(&class.pool);
    for value in 0..65_535 - i32::from(class.pool.count()) - 2 {
        added.integer(value).expect("there is room");
    }
    let full = class.assemble(&added, |_, method, out| method.write(out));
    let rewritten = crash(&full, &plan(Copy::Fields)).expect("it is sound");
    assert!(rewritten.class.is_none() && rewritten.methods.is_empty());
    let reason = hindsight_instrument::SkipReason::ConstantPoolFull;
    assert!(rewritten.skipped.len() > 50 && rewritten.skipped.iter().all(|s| s.reason == reason));
    let traced = trace(&full, &trace_plan()).expect("it is sound");
    assert!(traced.class.is_none() && traced.methods.is_empty());
    assert!(traced.skipped.len() > 50 && traced.skipped.iter().all(|s| s.reason == reason));
}
