//! Measures how fast classes are read and rewritten: CPU time and allocations.
//!
//! ```text
//! rewrite PACK ROUNDS FIRST [JOB...]
//! ```
//!
//! `PACK` holds classes one after the other, each behind its length in four bytes; `FIRST` are
//! rising numbers of classes, like `100,1000`. Prints one line for each job and round: the job's
//! name, nanoseconds of this thread's CPU time for each of the `FIRST` classes, and for all, bytes
//! of classes read, bytes written, methods instrumented, allocations, and bytes allocated.
//! `scripts/bench rewrite` runs this beside the same work done with ASM.

use std::alloc::System;
use std::hint::black_box;
use std::{env, fs};

use cpu_time::ThreadTime;
use hindsight_classfile::{
    ClassFile, Error, FieldType, Operand,
    frames::{Frames, Shape},
    tables,
};
use hindsight_instrument::select::MAX_FIELDS;
use hindsight_instrument::{Copy, CrashPlan, Rules, TracePlan, What, Workspace};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What a job did to one class: the bytes written, and the methods instrumented.
type Done = (usize, usize);

/// A job's name and the work on one class. The number is the next free method
/// id.
type Job = (&'static str, fn(&mut Workspace, &[u8], u32) -> Done);

const JOBS: &[Job] = &[
    ("decode", |_, class, _| {
        black_box(decode(class).expect("a compiler's class can be read"));
        (0, 0)
    }),
    ("crash-fields", |workspace, class, id| {
        with_crash_plan(workspace, class, id, Copy::Fields)
    }),
    ("crash-reference", |workspace, class, id| {
        with_crash_plan(workspace, class, id, Copy::Reference)
    }),
    ("trace", with_trace_plan),
];

fn with_crash_plan(workspace: &mut Workspace, class: &[u8], first_id: u32, copy: Copy) -> Done {
    let plan = CrashPlan {
        copy,
        max_fields: MAX_FIELDS,
        first_id,
        rules: &|_, _| Rules::default(),
        known: &[],
    };
    let rewritten = workspace
        .crash(class, &plan)
        .expect("a compiler's class can be rewritten");
    let rewritten = black_box(rewritten);
    (
        rewritten.class.as_ref().map_or(0, Vec::len),
        rewritten.methods.len(),
    )
}

fn with_trace_plan(workspace: &mut Workspace, class: &[u8], first_id: u32) -> Done {
    let plan = TracePlan {
        what: &|_, _| What::CALLS_AND_WRITES,
        first_method: first_id,
        first_field: first_id,
        first_callee: first_id,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|_| false,
    };
    let traced = workspace
        .trace(class, &plan)
        .expect("a compiler's class can be rewritten");
    let traced = black_box(traced);
    (
        traced.class.as_ref().map_or(0, Vec::len),
        traced.methods.len(),
    )
}

/// Reads everything that a class contains, down to each operand and each type in a frame. Returns a
/// sum over what was read, so that the optimizer can leave nothing out.
fn decode(bytes: &[u8]) -> Result<usize, Error> {
    let class = ClassFile::parse(bytes)?;
    let pool = &class.pool;
    let mut sum = class.name()?.as_bytes().len();
    for index in 1..pool.count() {
        // The second index of a long or double holds no constant.
        sum += usize::from(black_box(pool.get(index)).is_ok());
    }
    for name in class.interface_names() {
        sum += name?.as_bytes().len();
    }
    for field in &class.fields {
        sum += usize::from(FieldType::parse(field.descriptor)?.slots());
        for attribute in field.attributes.iter() {
            sum += attribute.name(pool)?.as_bytes().len();
        }
    }
    for attribute in class.attributes.iter() {
        if attribute.name(pool)? == "InnerClasses" {
            for inner in tables::inner_classes(&attribute)? {
                sum += usize::from(black_box(inner).access);
            }
        }
    }
    for method in &class.methods {
        for parameter in method.method_descriptor()?.parameters() {
            sum += usize::from(parameter.slots());
        }
        for attribute in method.attributes.iter() {
            if attribute.name(pool)? == "MethodParameters" {
                for parameter in tables::method_parameters(&attribute)? {
                    sum += usize::from(black_box(parameter).access);
                }
            }
        }
        let Some(code) = method.code(pool)? else {
            continue;
        };
        for insn in code.instructions() {
            match black_box(insn?.operand()?) {
                Operand::Switch(switch) => sum += switch.targets().flatten().sum::<usize>(),
                Operand::Branch(target) => sum += target,
                _ => sum += 1,
            }
        }
        for handler in code.handlers {
            sum += usize::from(black_box(handler).handler);
        }
        for attribute in code.attributes.iter() {
            match attribute.name(pool)?.as_bytes() {
                b"StackMapTable" => {
                    for frame in Frames::new(&attribute)? {
                        match black_box(frame?).shape {
                            Shape::Append(types) => sum += black_box(types.iter().count()),
                            Shape::Full { locals, stack } => {
                                sum += black_box(locals.iter().count() + stack.iter().count());
                            }
                            _ => sum += 1,
                        }
                    }
                }
                b"LineNumberTable" => {
                    for entry in tables::line_numbers(&attribute)? {
                        sum += usize::from(black_box(entry).line);
                    }
                }
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    for entry in tables::local_variables(&attribute)? {
                        sum += usize::from(black_box(entry).len);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(sum)
}

/// The classes of a pack.
fn unpack(mut pack: &[u8]) -> Vec<&[u8]> {
    let mut classes = Vec::new();
    while let Some((len, rest)) = pack.split_first_chunk::<4>() {
        let (class, rest) = rest.split_at(u32::from_be_bytes(*len) as usize);
        classes.push(class);
        pack = rest;
    }
    classes
}

fn main() {
    // Cargo passes `--bench` to its own runs.
    let mut arguments = env::args().skip(1).filter(|word| word != "--bench");
    let (Some(pack), Some(rounds), Some(first)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: rewrite PACK ROUNDS FIRST [JOB...]; see scripts/bench rewrite");
        return;
    };
    let pack = fs::read(pack).expect("the pack can be read");
    let rounds: usize = rounds.parse().expect("the number of rounds is a number");
    let first: Vec<usize> = first
        .split(',')
        .map(|number| number.parse().expect("the numbers of classes are numbers"))
        .collect();
    let wanted: Vec<String> = arguments.collect();
    let wanted = |job: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == job);
    let classes = unpack(&pack);
    let bytes: usize = classes.iter().map(|class| class.len()).sum();
    let mut workspace = Workspace::default();
    for _ in 0..rounds {
        for (name, job) in JOBS.iter().filter(|(name, _)| wanted(name)) {
            let region = Region::new(ALLOCATOR);
            let start = ThreadTime::now();
            let (mut written, mut methods, mut at_first) = (0, 0, String::new());
            for (place, class) in classes.iter().enumerate() {
                if first.contains(&place) {
                    at_first += &format!("{} ", start.elapsed().as_nanos());
                }
                let id = u32::try_from(methods).expect("there are not so many methods");
                let done = job(&mut workspace, class, id);
                written += done.0;
                methods += done.1;
            }
            let nanos = start.elapsed().as_nanos();
            let stats = region.change();
            let (count, allocated) = (
                stats.allocations + stats.reallocations,
                stats.bytes_allocated,
            );
            println!("{name} {at_first}{nanos} {bytes} {written} {methods} {count} {allocated}");
        }
    }
}
