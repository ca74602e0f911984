//! What is to be traced, and what was instrumented for it.

use std::fmt;

use crate::contract::trace::Kind;
use crate::{Layout, MemberNames, Methods, SkippedMethods};

/// How a class is to be instrumented for traces.
pub struct TracePlan<'a> {
    /// What a method records, given its name and descriptor.
    pub what: &'a dyn Fn(&str, &str) -> What,
    /// The id of the first method; the others are numbered consecutively.
    pub first_method: u32,
    /// The id of the first field; the others are numbered consecutively.
    pub first_field: u32,
    /// The id of the first callee; the others are numbered consecutively.
    pub first_callee: u32,
    /// The number of the first block; the others are numbered consecutively.
    pub first_block: u32,
    /// The class whose methods are the probes: [`TRACE`](crate::contract::trace::TRACE), or a class
    /// that has only [`COVER`](crate::contract::trace::COVER) if only blocks are recorded.
    pub tracer: &'static str,
    /// Whether the content of a field or parameter of this name is a secret. Primitive values of
    /// such fields and parameters are not recorded; of objects, the number is recorded, and the
    /// recorder is informed before (`contract::trace::HIDE`).
    pub is_secret: &'a dyn Fn(&str) -> bool,
}

/// The events of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct What {
    /// Its calls: entry, return, exceptions that leave it or are caught in it, and the binding of
    /// `this`.
    pub calls: bool,
    /// Writes of fields and array elements, and calls that write unseen.
    pub writes: bool,
    /// Reads of fields and array elements.
    pub reads: bool,
    /// The references that are passed, returned, written and read. The objects that are written to
    /// and read from are recorded in any case.
    pub references: bool,
    /// The primitive values that are passed, returned, written and read.
    pub values: bool,
    /// Which basic blocks have run, each recorded once.
    pub blocks: bool,
}

impl What {
    /// Calls and writes, with everything that takes part in them.
    pub const CALLS_AND_WRITES: Self = Self {
        calls: true,
        writes: true,
        reads: false,
        references: true,
        values: true,
        blocks: false,
    };

    /// What [`What::parse`] accepts.
    pub const ACCEPTED: &'static str =
        "calls, writes, values, reads, coverage, separated by ;, and not values alone";

    /// Reads what the agent's option `trace-what` names: `calls`, `writes`, `reads`, `values`,
    /// `coverage`, separated by `;` or `,`.
    ///
    /// # Errors
    ///
    /// Fails with the part that is none of these, or with the whole text if nothing would be
    /// recorded.
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

    /// Whether values of a kind are recorded.
    pub(super) fn wants(self, kind: Kind) -> bool {
        match kind {
            Kind::Reference => self.references,
            Kind::Int | Kind::Long | Kind::Float | Kind::Double => self.values,
        }
    }

    /// The same events without writes, reads and blocks.
    pub fn calls_only(self) -> Self {
        Self {
            writes: false,
            reads: false,
            blocks: false,
            ..self
        }
    }
}

/// Prints what [`What::parse`] reads.
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

/// The result of instrumenting a class for traces.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The new class; `None` if the old one can stay.
    pub class: Option<Vec<u8>>,
    /// The internal name: `a/b/C`.
    pub class_name: String,
    /// The instrumented methods, by rising id. Their captures are what the event of the entry hands
    /// over, in its order; `this` of constructors is not among them.
    pub methods: Methods,
    /// Where inserted code stands in each of [`Self::methods`]; empty unless the workspace was made
    /// by [`crate::Workspace::with_layouts`].
    pub layouts: Vec<Layout>,
    /// Those of the instrumented methods that record only their calls, because there was no room
    /// for more.
    pub reduced: SkippedMethods,
    /// The methods that have a body but were left as they were.
    pub skipped: SkippedMethods,
    /// The fields that ids mean, by rising id. Several ids may mean one field, within one class and
    /// across classes.
    pub fields: MemberNames,
    /// The callees that ids mean, by rising id.
    pub callees: MemberNames,
    /// The blocks of methods, by rising number.
    pub blocks: Vec<MethodBlocks>,
    /// Whether the class came with probes of traces in it and was left as it was for that reason.
    /// Probes of crashes do not matter.
    pub had_probes: bool,
}

/// The basic blocks of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodBlocks {
    /// The method's id.
    pub method: u32,
    /// The number of the first block; the others are numbered consecutively.
    pub first: u32,
    /// The offset of each block in the original bytecode, and its line, or 0.
    pub starts: Vec<(u16, u16)>,
}
