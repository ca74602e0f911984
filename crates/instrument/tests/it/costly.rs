//! Classes that no compiler makes, and which a careless search would go through again and again:
//! each of these once took minutes.

use hindsight_classfile::opcode as op;
use hindsight_instrument::{Copy, CrashPlan, Rules, TracePlan, What, crash, trace};

/// A class that is being made: `p/Q`, of a version that needs no frames.
#[derive(Default)]
struct Making {
    pool: Vec<u8>,
    constants: u16,
}

impl Making {
    fn constant(&mut self, bytes: &[u8]) -> u16 {
        self.pool.extend_from_slice(bytes);
        self.constants += 1;
        self.constants
    }

    fn text(&mut self, text: &str) -> u16 {
        let len = (text.len() as u16).to_be_bytes();
        self.constant(&[&[1], &len[..], text.as_bytes()].concat())
    }

    fn pair(&mut self, tag: u8, one: u16, other: u16) -> u16 {
        let [a, b] = [one, other].map(u16::to_be_bytes);
        self.constant(&[tag, a[0], a[1], b[0], b[1]])
    }

    fn class(&mut self, name: &str) -> u16 {
        let [high, low] = self.text(name).to_be_bytes();
        self.constant(&[7, high, low])
    }

    /// Adds a constant for a field (tag 9) or method (tag 10) of a class.
    fn member(&mut self, tag: u8, class: u16, name: u16, descriptor: u16) -> u16 {
        let named = self.pair(12, name, descriptor);
        self.pair(tag, class, named)
    }

    /// Finishes the class, which has fields, given by flags, name and descriptor, and one method.
    fn finish(
        mut self,
        this: u16,
        fields: &[[u16; 3]],
        (name, descriptor): (&str, &str),
        code: &[u8],
        handlers: &[[u16; 4]],
    ) -> Vec<u8> {
        let [name, descriptor, attribute] = [name, descriptor, "Code"].map(|it| self.text(it));
        let parent = self.class("java/lang/Object");
        let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49];
        let halves = |out: &mut Vec<u8>, halves: &[u16]| {
            out.extend(halves.iter().flat_map(|half| half.to_be_bytes()));
        };
        halves(&mut out, &[self.constants + 1]);
        out.extend(&self.pool);
        halves(&mut out, &[0x21, this, parent, 0, fields.len() as u16]);
        for field in fields {
            halves(&mut out, field);
            halves(&mut out, &[0]);
        }
        halves(&mut out, &[1, 1, name, descriptor, 1, attribute]);
        let len = 12 + code.len() + 8 * handlers.len();
        out.extend((len as u32).to_be_bytes());
        halves(&mut out, &[4, 300]);
        out.extend((code.len() as u32).to_be_bytes());
        out.extend(code);
        halves(&mut out, &[handlers.len() as u16]);
        halves(&mut out, handlers.as_flattened());
        halves(&mut out, &[0, 0]);
        out
    }
}

fn field_insn(opcode: u8, field: u16) -> [u8; 3] {
    let [high, low] = field.to_be_bytes();
    [opcode, high, low]
}

/// Each use of a field, for each parameter, searched all fields.
#[test]
fn many_uses_of_many_fields() {
    let mut class = Making::default();
    let this = class.class("p/Q");
    let descriptors = ["I", "J", "F"].map(|it| class.text(it));
    let mut fields = Vec::new();
    for at in 0..20_000 {
        let name = class.text(&format!("f{at}"));
        fields.extend(descriptors.map(|descriptor| [0x11, name, descriptor]));
    }
    let mut code = Vec::new();
    for [_, name, descriptor] in fields.iter().rev().step_by(3).take(256).copied() {
        let field = class.member(9, this, name, descriptor);
        code.push(op::ALOAD_0);
        code.extend(field_insn(op::GETFIELD, field));
        code.push(op::POP);
    }
    code.extend([op::ACONST_NULL, op::ATHROW]);
    let mut many = String::from("(");
    many.push_str(&"Lp/Q;".repeat(254));
    many.push_str(")V");
    let bytes = class.finish(this, &fields, ("m", &many), &code, &[]);
    let plan = CrashPlan {
        copy: Copy::Fields,
        max_fields: 8,
        first_id: 1,
        rules: &|_, _| Rules::default(),
        known: &[],
    };
    // Doing it once takes little time.
    for _ in 0..40 {
        let rewritten = crash(&bytes, &plan).expect("it is sound");
        // All fields are final.
        assert_eq!(rewritten.methods.len(), 1);
        let captures = rewritten.methods.iter().map(|one| one.captures.count());
        assert_eq!(captures.sum::<usize>(), 255);
    }
}

/// Each instruction before the call of the other constructor searched all handlers.
#[test]
fn many_instructions_before_the_constructor_call_and_many_handlers() {
    let mut class = Making::default();
    let this = class.class("p/Q");
    let parent = class.class("java/lang/Object");
    let [name, descriptor, init, nothing] = ["f", "I", "<init>", "()V"].map(|it| class.text(it));
    let field = class.member(9, this, name, descriptor);
    let make = class.member(10, parent, init, nothing);
    let mut code = vec![op::ALOAD_0, op::ICONST_0];
    code.extend(field_insn(op::PUTFIELD, field));
    code.resize(30_000, op::NOP);
    code.push(op::ALOAD_0);
    code.extend(field_insn(op::INVOKESPECIAL, make));
    let behind = code.len() as u16;
    code.extend([op::NOP, op::RETURN, op::POP, op::RETURN]);
    let handlers = vec![[behind, behind + 1, behind + 2, 0]; 60_000];
    let fields = [[2, name, descriptor]];
    let bytes = class.finish(this, &fields, ("<init>", "()V"), &code, &handlers);
    let plan = TracePlan {
        what: &|_, _| What::CALLS_AND_WRITES,
        first_method: 1,
        first_field: 1,
        first_callee: 1,
        first_block: 0,
        tracer: hindsight_instrument::contract::trace::TRACE,
        is_secret: &|_| false,
    };
    for _ in 0..20 {
        let traced = trace(&bytes, &plan).expect("it is sound");
        assert!(traced.class.is_some());
    }
}
