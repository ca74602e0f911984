//! Tests of what holds for every body: no panic, and one definition of each value, which dominates
//! its uses.

use super::{Body, Error, Op};
use crate::program::{cfg, jimage::Image};
use hindsight_classfile::{ClassFile, access};
use hindsight_test_programs::is_full;
use proptest::prelude::*;
use std::path::PathBuf;

/// The dominator tree: the immediate dominator of each block.
fn dominators(body: &Body) -> Vec<Option<usize>> {
    let mut place = vec![usize::MAX; body.blocks.len()];
    for (at, &block) in body.order.iter().enumerate() {
        place[block as usize] = at;
    }
    let mut nearest: Vec<Option<usize>> = vec![None; body.order.len()];
    nearest[0] = Some(0);
    loop {
        let mut changed = false;
        for at in 1..body.order.len() {
            let mut found: Option<usize> = None;
            for edge in &body.blocks[body.order[at] as usize].before {
                let mut one = place[edge.from as usize];
                if nearest[one].is_none() {
                    continue;
                }
                found = Some(match found {
                    None => one,
                    Some(mut other) => {
                        while one != other {
                            if one > other {
                                one = nearest[one].unwrap();
                            } else {
                                other = nearest[other].unwrap();
                            }
                        }
                        one
                    }
                });
            }
            if found != nearest[at] {
                nearest[at] = found;
                changed = true;
            }
        }
        if !changed {
            return nearest;
        }
    }
}

/// Panics if a value is not defined exactly once, or is used before its definition.
fn check(body: &Body, what: &str) {
    let mut place = vec![usize::MAX; body.blocks.len()];
    for (at, &block) in body.order.iter().enumerate() {
        place[block as usize] = at;
    }
    // The definition of each value: the block, and the index in it.
    let mut defined = vec![None; body.kinds.len()];
    for &block in &body.order {
        for (at, insn) in body.block(block).iter().enumerate() {
            if let Some(value) = insn.result {
                let known = defined[value.0 as usize].replace((place[block as usize], at));
                assert!(known.is_none(), "{what}: {value:?} is defined twice");
            }
        }
    }
    let nearest = dominators(body);
    let dominates = |above: usize, mut below: usize| {
        while below > above {
            below = nearest[below].unwrap();
        }
        below == above
    };
    for &block in &body.order {
        let own = place[block as usize];
        let before = &body.blocks[block as usize].before;
        for (at, insn) in body.block(block).iter().enumerate() {
            let operands = body.operands(insn);
            if insn.op == Op::Phi {
                let outside = usize::from(block == 0);
                assert_eq!(
                    operands.len(),
                    before.len() + outside,
                    "{what}: a phi for each edge"
                );
            }
            for (number, operand) in operands.iter().enumerate() {
                let Some((in_block, in_place)) = defined[operand.0 as usize] else {
                    panic!("{what}: {operand:?} is used by {insn:?} and not defined");
                };
                if insn.op == Op::Phi {
                    // The arguments come before all edges.
                    let from = before
                        .get(number)
                        .map_or(0, |edge| place[edge.from as usize]);
                    assert!(dominates(in_block, from), "{what}: {operand:?} of {insn:?}");
                } else if in_block == own {
                    assert!(
                        in_place < at,
                        "{what}: {operand:?} is used before its definition"
                    );
                } else {
                    assert!(dominates(in_block, own), "{what}: {operand:?} of {insn:?}");
                }
            }
        }
    }
}

/// Checks all bodies of a class; returns their number.
fn class(bytes: &[u8], what: &str) -> usize {
    let class = ClassFile::parse(bytes).unwrap();
    let mut bodies = 0;
    for method in &class.methods {
        let Some(code) = method.code(&class.pool).unwrap() else {
            continue;
        };
        let what = format!("{what} {}{}", method.name, method.descriptor);
        let descriptor = method.method_descriptor().unwrap();
        match Body::new(&class.pool, &code, method.is(access::STATIC), &descriptor) {
            Ok(body) => check(&body, &what),
            Err(Error::Flow(cfg::Error::Subroutine(_))) => {}
            Err(error) => panic!("{what}: {error}"),
        }
        bodies += 1;
    }
    bodies
}

fn images() -> Vec<Image> {
    let mut found = Vec::new();
    let homes = std::fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten();
    let mut homes: Vec<PathBuf> = homes
        .filter_map(|entry| entry.path().canonicalize().ok())
        .collect();
    homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    homes.sort();
    homes.dedup();
    for home in homes {
        let path = home.join("lib/modules");
        if path.exists() {
            found.push(Image::open(&path).unwrap());
        }
    }
    assert!(
        !found.is_empty(),
        "no JDK with an image of modules: set JAVA_HOME"
    );
    found
}

#[test]
fn bodies_of_jdks_are_well_formed() {
    let full = is_full();
    for image in images() {
        let resources = image.resources().unwrap();
        let classes = resources
            .iter()
            .filter(|resource| resource.name.ends_with(".class"));
        let step = if full { 1 } else { 40 };
        let mut bodies = 0;
        for resource in classes.step_by(step) {
            bodies += class(&image.read(resource).unwrap(), &resource.name);
        }
        assert!(bodies > 3000, "{}: {bodies} bodies", image.path().display());
    }
}

proptest! {
    /// For the bytes of a real body, changed at random, the result is an error or a well-formed
    /// body.
    #[test]
    fn hostile_code(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let code = LOOP;
        let mut bytes = code.to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let class = class_with(&bytes);
        let parsed = ClassFile::parse(&class).unwrap();
        let method = &parsed.methods[0];
        let code = method.code(&parsed.pool).unwrap().unwrap();
        if let Ok(body) = Body::new(&parsed.pool, &code, true, &method.method_descriptor().unwrap()) {
            check(&body, "hostile");
        }
    }
}

/// `static int m(int n) { int s = 0; try { for (..; n > 0; n--) s += n; } catch (Throwable t) { s =
/// -1; } return s; }`
const LOOP: &[u8] = &[
    0x03, 0x3c, 0x1a, 0x9e, 0, 13, 0x1b, 0x1a, 0x60, 0x3c, 0x84, 0, 0xff, 0xa7, 0xff, 0xf5, 0xa7,
    0, 6, 0x4d, 0x02, 0x3c, 0x1b, 0xac,
];

/// A class with one static method of these bytes, whose handler at 19 covers 2..16.
fn class_with(code: &[u8]) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49];
    out.extend(7u16.to_be_bytes());
    for text in ["A", "m", "(I)I", "Code"] {
        out.push(1);
        out.extend((text.len() as u16).to_be_bytes());
        out.extend(text.as_bytes());
    }
    // Constant 5 is the class A; constant 6 is an int, for ldc.
    out.extend([7, 0, 1, 3, 0, 0, 0, 9]);
    out.extend([0, 0x20, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1]);
    out.extend([0, 8, 0, 2, 0, 3, 0, 1, 0, 4]);
    out.extend((8 + code.len() as u32 + 2 + 8 + 2).to_be_bytes());
    out.extend([0, 6, 0, 4]);
    out.extend((code.len() as u32).to_be_bytes());
    out.extend(code);
    out.extend([0, 1, 0, 2, 0, 16, 0, 19, 0, 0]);
    out.extend([0, 0, 0, 0]);
    out
}

/// The body of [`LOOP`].
pub(in crate::program) fn a_loop() -> Body {
    let bytes = class_with(LOOP);
    let parsed = ClassFile::parse(&bytes).unwrap();
    let method = &parsed.methods[0];
    let code = method.code(&parsed.pool).unwrap().unwrap();
    Body::new(
        &parsed.pool,
        &code,
        true,
        &method.method_descriptor().unwrap(),
    )
    .unwrap()
}

#[test]
fn a_loop_in_a_handler() {
    let body = a_loop();
    check(&body, "loop");
    // There are phis for n and s at the loop's head, and for s at the return.
    let phis = body.insns.iter().filter(|insn| insn.op == Op::Phi).count();
    assert_eq!(phis, 3, "{:#?}", body.insns);
    for (n, expected) in [(0, 0), (4, 10), (-3, 0)] {
        assert_eq!(super::interpret::run(&body, &[n]), expected);
    }
}
