//! Tests of which writes are logged, and which of them together.

use std::fmt::Write;
use std::fs;

use hindsight_classfile::{ClassFile, Code, MemberRef, Operand, opcode as op};
use hindsight_instrument::contract::WRITES;
use hindsight_instrument::{Copy, CrashPlan, Quiet, Rewritten, UndoPlan, Workspace};

use crate::support::jdks;
use crate::workshop::{check_golden, fresh_dir, javac, rules, undo};

fn undoable(class: &[u8], quiet: &dyn Fn(&MemberRef<'_>) -> Option<Quiet>) -> Rewritten {
    let crash = CrashPlan {
        copy: Copy::Reference,
        max_fields: 0,
        first_id: 0,
        rules: &rules,
        known: &[],
    };
    let plan = UndoPlan {
        quiet,
        ..undo(&crash, 0)
    };
    let done = Workspace::default().undoable(class, &plan);
    done.expect("a compiled class can be instrumented")
}

/// The probes that each method calls, in their order.
fn probes(class: &[u8]) -> String {
    let class = ClassFile::parse(class).expect("a class");
    let mut text = String::new();
    for method in &class.methods {
        writeln!(text, "{}", method.name).expect("a string takes all");
        let Some(code) = method.attributes.find(&class.pool, "Code") else {
            continue;
        };
        let code = Code::parse(&code).expect("a body");
        for insn in code.instructions().map(|insn| insn.expect("code")) {
            if let (op::INVOKESTATIC, Ok(Operand::Constant(callee))) = (insn.opcode, insn.operand())
            {
                let callee = class.pool.method(callee).expect("a method");
                if callee.owner == WRITES {
                    writeln!(text, "    {}{}", callee.name, callee.descriptor)
                        .expect("a string takes all");
                }
            }
        }
    }
    text
}

#[test]
fn what_a_straight_line_writes_is_told_at_once() {
    let dir = fresh_dir("told");
    javac(&jdks()[0], &dir, &["--release", "8"], &["Told.java"]);
    let [outer, nested] =
        ["Told", "Told$Sum"].map(|name| fs::read(dir.join(format!("{name}.class"))).expect("it"));

    let outer = undoable(&outer, &|_| None);
    let mut text = String::new();
    for (accessor, quiet) in &outer.quiet {
        writeln!(text, "{} {}: {quiet:?}", accessor.name, accessor.descriptor)
            .expect("a string takes all");
    }
    let known = |callee: &MemberRef<'_>| {
        let it = |accessor: &str, is: &str| callee.name == accessor && callee.descriptor == is;
        let mut accessors = outer.quiet.iter();
        let found = accessors.find(|(one, _)| it(&one.name, &one.descriptor));
        found.map(|&(_, quiet)| quiet)
    };
    for quiet in [true, false] {
        let nested = if quiet {
            undoable(&nested, &known)
        } else {
            undoable(&nested, &|_| None)
        };
        let title = if quiet { "known" } else { "not known" };
        let nested = nested.class.expect("it writes");
        write!(text, "\naccessors {title}\n\n{}", probes(&nested)).expect("a string takes all");
    }
    check_golden("told.txt", &text);
}
