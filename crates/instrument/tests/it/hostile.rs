//! Classes that nobody's compiler made: no panic, no hang, no lie about success.

use std::fs;

use hindsight_classfile::ClassFile;
use hindsight_instrument::{
    Copy, CrashPlan, Rules, TracePlan, What, Workspace, contract, crash, entry_hook, trace,
};

use crate::support::{self, Random};
use crate::workshop::undo;

fn plan(copy: Copy) -> CrashPlan<'static> {
    CrashPlan {
        copy,
        max_fields: 8,
        first_id: 1,
        rules: &|_, _| Rules {
            escape: true,
            caught: true,
        },
        known: &[],
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
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|_| false,
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
fn what_is_broken_is_named_by_its_place() {
    use hindsight_classfile::opcode as op;
    use hindsight_instrument::SkipReason;

    let jdk = support::jdks().pop().expect("there is one");
    let path = jdk
        .modules()
        .join("java.base/java/util/concurrent/ConcurrentHashMap.class");
    let bytes = fs::read(path).expect("it can be read");
    let class = ClassFile::parse(&bytes).expect("it is a class");
    let (mut opcodes, mut jumps, mut tables) = (0, 0, 0);
    let check = |at: usize, broken: &[u8], place: usize| {
        let mut bytes = bytes.clone();
        bytes[at..at + broken.len()].copy_from_slice(broken);
        let crashes = crash(&bytes, &plan(Copy::Fields)).expect("the class can be read");
        let traces = trace(&bytes, &trace_plan()).expect("the class can be read");
        let expected = SkipReason::Malformed {
            offset: place as u32,
        };
        for skipped in [crashes.skipped, traces.skipped] {
            let mut malformed = skipped
                .iter()
                .map(|skipped| skipped.reason)
                .filter(|reason| reason.kind() == "malformed");
            assert_eq!(malformed.next(), Some(expected));
            assert_eq!(malformed.next(), None);
        }
    };
    for method in class
        .methods
        .iter()
        .filter(|method| !method.name.as_bytes().len().is_multiple_of(5))
    {
        let Some(code) = method.code(&class.pool).expect("its body can be read") else {
            continue;
        };
        let start = code.bytecode_offset;
        for insn in code.instructions().map(Result::unwrap) {
            let at = start + insn.offset;
            if insn.offset % 7 == 0 {
                // No instruction has this opcode.
                check(at, &[0xca], at);
                opcodes += 1;
            }
            if insn.opcode == op::GOTO {
                check(at + 1, &[0, 1], at);
                jumps += 1;
            }
        }
        for entry in 0..code.handlers.len() {
            let at = start + code.bytecode.len() + 2 + 8 * entry;
            check(at + 4, &[0xff, 0xff], at);
            tables += 1;
        }
    }
    assert!(
        opcodes > 100 && jumps > 10 && tables > 0,
        "{opcodes} {jumps} {tables}"
    );
}

/// Under every plan: an error that says where, or a class that can be read. Counts both.
fn survive(bytes: &[u8], [written, refused]: &mut [u32; 2]) {
    let kept = plan(Copy::Reference);
    for class in [
        crash(bytes, &plan(Copy::Fields)).map(|done| done.class),
        crash(bytes, &kept).map(|done| done.class),
        Workspace::default()
            .undoable(bytes, &undo(&kept, 1))
            .map(|done| done.class),
        trace(bytes, &trace_plan()).map(|done| done.class),
    ] {
        match class {
            Ok(Some(class)) => {
                ClassFile::parse(&class).expect("what was written can be read");
                *written += 1;
            }
            Ok(None) => {}
            Err(error) => {
                assert!(error.to_string().contains("at offset 0x"), "{error}");
                *refused += 1;
            }
        }
    }
}

/// The rows "a count in a hostile class asks for gigabytes" and "arithmetic
/// overflow in offsets": a class with handlers, jumps and switches is cut at
/// every byte, has every bit flipped, every half set to values that counts and
/// offsets dislike, and every half exchanged with another one.
#[test]
fn every_byte_of_a_class_may_be_wrong() {
    let jdk = support::jdks().pop().expect("there is one");
    let path = jdk.modules().join("java.base/java/util/UUID$Holder.class");
    let holder = fs::read(path).expect("it is there");
    let path = jdk.modules().join("java.base/java/lang/Boolean.class");
    let boolean = fs::read(path).expect("it is there");
    let mut random = Random(5);
    for class in [holder, boolean] {
        for len in 0..class.len() {
            assert!(crash(&class[..len], &plan(Copy::Fields)).is_err(), "{len}");
        }
        let mut changed = class.clone();
        let mut counts = [0; 2];
        for at in 0..class.len() {
            for bit in 0..8 {
                changed[at] = class[at] ^ (1 << bit);
                survive(&changed, &mut counts);
            }
            changed[at] = class[at];
        }
        for at in 0..class.len() - 1 {
            let other = random.below(class.len() - 1);
            let halves = [0xffff, 0x7fff, 0x8000, 0, 1];
            let halves = halves.map(u16::to_be_bytes);
            for half in halves
                .iter()
                .map(|half| &half[..])
                .chain([&class[other..other + 2]])
            {
                changed[at..at + 2].copy_from_slice(half);
                survive(&changed, &mut counts);
            }
            changed[at..at + 2].copy_from_slice(&class[at..at + 2]);
        }
        assert!(changed == class);
        let len = class.len() as u32;
        assert!(
            counts.iter().all(|&count| count > 4 * len),
            "{counts:?} of {len}"
        );
    }
}

/// Found by fuzzing: each new frame listed all local variables that a method
/// claims to have, so that two kilobytes of class became megabytes.
#[test]
fn a_claim_of_many_variables_does_not_blow_up_frames() {
    let jdk = support::jdks().pop().expect("there is one");
    let list = jdk.modules().join("java.base/java/util/ArrayList.class");
    let list = fs::read(list).expect("it is there");
    let class = ClassFile::parse(&list).expect("it is sound");
    let mut claimed = 0;
    let bloated = class.assemble(
        &hindsight_classfile::PoolBuilder::new(&class.pool),
        |_, method, out| {
            let start = out.len();
            method.write(out);
            // Flags, name, descriptor, count; the first attribute's name and
            // length, and how deep the stack gets.
            if method.code(&class.pool).is_ok_and(|code| code.is_some())
                && let Some(first) = method.attributes.iter().next()
                && first.name(&class.pool).is_ok_and(|name| name == "Code")
            {
                out[start + 16..start + 18].copy_from_slice(&60_000u16.to_be_bytes());
                claimed += 1;
            }
        },
    );
    assert!(claimed > 50);
    let rewritten = crash(&bloated, &plan(Copy::Fields)).expect("it can be read");
    let len = rewritten.class.map_or(0, |class| class.len());
    assert!(len < 8 * bloated.len(), "{len} bytes of {}", bloated.len());
}

#[test]
fn a_mutated_thread_class_does_no_harm() {
    let jdk = support::jdks().pop().expect("there is one");
    let thread =
        fs::read(jdk.modules().join("java.base/java/lang/Thread.class")).expect("it is there");
    let mut random = Random(3);
    let from = contract::DISPATCH_UNCAUGHT;
    let (mut written, mut refused) = (0, 0);
    for _ in 0..3_000 {
        let mut bytes = thread.clone();
        random.mutate(&mut bytes);
        let target = (contract::PROBE, "uncaught", "()V");
        match entry_hook(&bytes, from.name, from.descriptor, target) {
            Ok(class) => {
                ClassFile::parse(&class).expect("what was written can be read");
                written += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{written} written, {refused} refused");
    assert!(written > 300 && refused > 300);
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
    assert!(again.class.is_none() && again.methods.is_empty() && again.had_probes);
    let again = crash(&both, &plan(Copy::Fields)).expect("it is sound");
    assert!(again.class.is_none() && again.had_probes);
    // In either order.
    let fresh = trace(&list, &trace_plan()).expect("it is sound").class;
    let both = crash(&fresh.expect("it changes"), &plan(Copy::Fields)).expect("it is sound");
    assert!(both.class.is_some() && !both.had_probes);
}

/// Hazard: old class files. Before version 45.3, code began with two bytes and a
/// half-word; read as today's, it would make no sense or a wrong one.
#[test]
fn code_of_the_oldest_versions_is_left_alone() {
    let jdk = support::jdks().pop().expect("there is one");
    let list = jdk.modules().join("java.base/java/util/ArrayList.class");
    let mut list = fs::read(list).expect("it is there");
    list[4..8].copy_from_slice(&[0, 2, 0, 45]);
    let rewritten = crash(&list, &plan(Copy::Fields)).expect("it is sound");
    assert!(rewritten.class.is_none() && rewritten.methods.is_empty());
    assert!(rewritten.skipped.len() > 20);
    let reason = hindsight_instrument::SkipReason::OldCode;
    assert!(rewritten.skipped.iter().all(|left| left.reason == reason));
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
