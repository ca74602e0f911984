//! What to trace, and what was instrumented for it.

use std::fmt;

use crate::contract::trace::Kind;
use crate::{Layout, MemberNames, Methods, SkippedMethods};

/// How a class is to be instrumented for traces.
pub struct TracePlan<'a> {
    /// What a method tells, by its name and descriptor.
    pub what: &'a dyn Fn(&str, &str) -> What,
    /// The id of the first method; the others follow on.
    pub first_method: u32,
    /// The id of the first field, likewise.
    pub first_field: u32,
    /// The id of the first callee, likewise.
    pub first_callee: u32,
    /// The number of the first block, likewise.
    pub first_block: u32,
    /// The class that is told: [`TRACE`](crate::contract::trace::TRACE); or one that has no more than
    /// [`COVER`](crate::contract::trace::COVER), where blocks alone are told.
    pub tracer: &'static str,
    /// Whether what a field or parameter of this name holds is nobody's business.
    /// Primitive values of such are not told; of objects, the number is, and the
    /// recorder hears of it before (`contract::trace::HIDE`).
    pub is_secret: &'a dyn Fn(&str) -> bool,
}

/// The events of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct What {
    /// Its calls: entry, return, exceptions that leave it or are caught in it,
    /// and the binding of `this`.
    pub calls: bool,
    /// Writes of fields and array elements, and calls that write unseen.
    pub writes: bool,
    /// Reads of fields and array elements.
    pub reads: bool,
    /// The references that are passed, returned, written and read. The objects
    /// that are written to and read from are told anyway.
    pub references: bool,
    /// The primitive values that are passed, returned, written and read.
    pub values: bool,
    /// Which basic blocks have run, once and for all.
    pub blocks: bool,
}

impl What {
    /// Calls and writes, with everything that takes part.
    pub const CALLS_AND_WRITES: Self = Self {
        calls: true,
        writes: true,
        reads: false,
        references: true,
        values: true,
        blocks: false,
    };

    /// What [`What::parse`] takes.
    pub const ACCEPTED: &'static str =
        "calls, writes, values, reads, coverage, separated by ;, and not values alone";

    /// Reads what the agent's option `trace-what` names: `calls`, `writes`,
    /// `reads`, `values`, `coverage`, separated by `;` or `,`.
    ///
    /// # Errors
    ///
    /// Fails with the part that is none of these, or with all if nothing would be
    /// told.
    pub fn parse(text: &str) -> Result<Self, &str> {
        let mut what = Self::default();
        for part in text.split([';', ',']).map(str::trim) {
            match part {
                "" => {}
                "calls" => what.calls = true,
                "writes" => what.writes = true,
                "reads" => what.reads = true,
                "coverage" => what.blocks = true,
                "values" => (what.references, what.values) = (true, true),
                _ => return Err(part),
            }
        }
        if what.calls || what.writes || what.reads || what.blocks {
            Ok(what)
        } else {
            Err(text)
        }
    }

    /// Whether values of a kind are told.
    pub(super) fn wants(self, kind: Kind) -> bool {
        match kind {
            Kind::Reference => self.references,
            Kind::Int | Kind::Long | Kind::Float | Kind::Double => self.values,
        }
    }

    /// The same without writes, reads and blocks.
    pub fn calls_only(self) -> Self {
        Self {
            writes: false,
            reads: false,
            blocks: false,
            ..self
        }
    }
}

/// As [`What::parse`] reads it.
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.calls, "calls"),
            (self.writes, "writes"),
            (self.reads, "reads"),
            (self.references || self.values, "values"),
            (self.blocks, "coverage"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter_map(|&(told, name)| told.then_some(name))
            .collect();
        f.write_str(&parts.join(";"))
    }
}

/// A class instrumented for traces.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The new class; nothing if the old one can stay.
    pub class: Option<Vec<u8>>,
    /// The internal name: `a/b/C`.
    pub class_name: String,
    /// The instrumented methods, by rising id. Their captures are what the
    /// event of the entry hands over, in its order; `this` of constructors is
    /// not among them.
    pub methods: Methods,
    /// Where their new code stands, for each of [`Self::methods`]; empty unless
    /// the workspace was told to note it ([`crate::Workspace::with_layouts`]).
    pub layouts: Vec<Layout>,
    /// The methods among them that tell of their calls alone, since there was no
    /// room for more.
    pub reduced: SkippedMethods,
    /// The methods that have a body but were left as they were.
    pub skipped: SkippedMethods,
    /// What the ids of fields mean, by rising id. Several ids may mean one
    /// field, in one class and from class to class.
    pub fields: MemberNames,
    /// What the ids of callees mean, by rising id.
    pub callees: MemberNames,
    /// The blocks of methods, by rising number.
    pub blocks: Vec<MethodBlocks>,
    /// The class came with probes of traces in it, and was left as it was for
    /// that. Those of crashes do not matter.
    pub had_probes: bool,
}

/// The basic blocks of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodBlocks {
    /// The method's id.
    pub method: u32,
    /// The number of the first block; the others follow on.
    pub first: u32,
    /// Where each begins in the bytecode as it was, and its line, or 0.
    pub starts: Vec<(u16, u16)>,
}
