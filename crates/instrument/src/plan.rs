//! What to instrument, and what was instrumented.

use std::fmt;

use crate::quiet::{Others, Quiet};
use crate::records::{Captures, Methods, ParameterNames, SkippedMethods};
use crate::{MemberName, MemberNames};

/// How a class is to be instrumented for crashes.
pub struct CrashPlan<'a> {
    /// What a method keeps of its arguments.
    pub copy: Copy,
    /// How many fields a method keeps at most.
    pub max_fields: usize,
    /// The id of the first method; the others follow on.
    pub first_id: u32,
    /// The rules for a method, by name and descriptor.
    pub rules: &'a dyn Fn(&str, &str) -> Rules,
    /// What an analysis of the whole program says of methods of the class, sorted
    /// by name and descriptor; of others the body alone is looked at.
    pub known: &'a [Effects],
}

/// What is known of a method with all that it calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The method's name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Nothing in it can throw.
    pub cannot_throw: bool,
    /// What is known of its parameters; the body decides about others.
    pub parameters: Vec<ParameterEffects>,
}

/// What a method, with all that it calls, does to what a parameter refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParameterEffects {
    /// Its place; `this` is 0 in instance methods, the first parameter is 0 in static
    /// ones.
    pub index: u16,
    /// Whether only `fields` may need to be kept. If not, fields that the body
    /// uses are kept as well.
    pub exact: bool,
    /// Fields that are read and may be written: the internal name of the class
    /// that declares them, and their names.
    pub fields: Vec<(String, String)>,
    /// Those of them that another class declares and that this one may read from the
    /// parameter: their names and descriptors.
    pub open: Vec<(String, String)>,
}

impl Effects {
    /// What is known of a method.
    pub(crate) fn of<'e>(known: &'e [Self], name: &str, descriptor: &str) -> Option<&'e Self> {
        known.get(Self::find(known, name, descriptor)?)
    }

    /// Where a method is among those of its class, which are sorted by name and descriptor.
    pub fn find(known: &[Self], name: &str, descriptor: &str) -> Option<usize> {
        let it = |one: &Self| (one.name.as_str(), one.descriptor.as_str()).cmp(&(name, descriptor));
        known.binary_search_by(it).ok()
    }

    /// What is known of the parameter at a place.
    pub(crate) fn parameter(&self, place: usize) -> Option<&ParameterEffects> {
        (self.parameters.iter()).find(|known| usize::from(known.index) == place)
    }
}

/// What a method keeps of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    /// The arguments themselves.
    Reference,
    /// And the fields of arguments that its body uses.
    Fields,
    /// The arguments, and the fields of the receiver alone.
    FieldsOfReceiver,
    /// The arguments, and the fields of all but the receiver.
    FieldsOfArguments,
}

impl Copy {
    /// Whether the fields of a parameter are kept; 0 is the receiver.
    pub fn keeps_fields(self, parameter: u16) -> bool {
        match self {
            Self::Reference => false,
            Self::Fields => true,
            Self::FieldsOfReceiver => parameter == 0,
            Self::FieldsOfArguments => parameter != 0,
        }
    }
}

/// How a class is to be instrumented so that its writes can be undone.
///
/// Each method that hands over its frame also keeps [`Capture::Position`], and
/// each write tells what it writes over, except where nobody else can have seen
/// the object.
#[derive(Clone, Copy)]
pub struct UndoPlan<'a> {
    /// What methods hand over; nothing for code that is not to be seen itself.
    pub crash: Option<&'a CrashPlan<'a>>,
    /// Whether handlers say what they catch. Those of methods that hand over
    /// their frame always do.
    pub catches: bool,
    /// The id of the first method, if methods hand over nothing.
    pub first_id: u32,
    /// The id of the first field; the others follow on.
    pub first_field: u32,
    /// What is known of accessors of other classes ([`Rewritten::quiet`]).
    pub quiet: &'a Others<'a>,
}

/// The report rules that match a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// An exception that leaves the method is a failure.
    pub escape: bool,
    /// An exception that the method catches is a failure.
    pub caught: bool,
}

/// An instrumented class.
#[derive(Debug, Clone)]
pub struct Rewritten {
    /// The new class; nothing if the old one can stay.
    pub class: Option<Vec<u8>>,
    /// The internal name: `a/b/C`.
    pub class_name: String,
    /// The instrumented methods, by rising id.
    pub methods: Methods,
    /// Where their new code stands, for each of [`Self::methods`]; empty unless
    /// the workspace was told to note it ([`crate::Workspace::with_layouts`]).
    pub layouts: Vec<Layout>,
    /// The methods that have a body but were left as they were.
    pub skipped: SkippedMethods,
    /// What the ids of fields that are written mean, by rising id; empty unless
    /// writes are logged.
    pub fields: MemberNames,
    /// The methods among the instrumented ones whose writes are not logged, since
    /// there was no room.
    pub reduced: SkippedMethods,
    /// Accessors for nested classes that only look something up, if writes are
    /// logged.
    pub quiet: Vec<(MemberName, Quiet)>,
    /// The class came with probes in it, and was left as it was for that.
    pub had_probes: bool,
}

/// An instrumented method.
#[derive(Debug, Clone, Copy)]
pub struct Method<'r> {
    /// What the probes call it.
    pub id: u32,
    /// The name.
    pub name: &'r str,
    /// The descriptor.
    pub descriptor: &'r str,
    /// The access flags.
    pub access: u16,
    /// What the handler appends. References and words go to two arrays, each in
    /// this order.
    pub captures: Captures<'r>,
    /// One for each parameter of the descriptor; `this` is not among them.
    pub parameter_names: ParameterNames<'r>,
    /// The smallest and the largest line.
    pub lines: Option<(u16, u16)>,
}

/// What is new in a method's body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The inserted code, by rising offset. All other instructions are the old
    /// ones, in their order.
    pub inserted: Vec<Inserted>,
    /// The fresh local variables.
    pub fresh: Vec<Fresh>,
}

/// A piece of inserted code, in offsets of the new body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// Its first byte.
    pub start: usize,
    /// The first byte behind it.
    pub end: usize,
    /// What it is for.
    pub part: Part,
}

/// What a piece of inserted code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Before and behind everything: jumps on the way of jumps that have become
    /// too far.
    Islands,
    /// At the method's entry: fills the fresh variables.
    Entry,
    /// Within the body, before an old instruction, whose jumps, frame and
    /// exception-table entries lead here: at the start of a typed handler, tells
    /// what was caught.
    Caught {
        /// The variable that holds the exception meanwhile.
        exception: u16,
    },
    /// Within the body, before an old instruction that writes: tells what it will
    /// write over.
    Write,
    /// Within the body of a traced method, before an old instruction or after it:
    /// tells what it does.
    Event,
    /// Behind the body: hands the captures over, or tells that the call ends, and
    /// rethrows.
    Handler {
        /// The variable that holds the exception; it may be one of the old ones.
        exception: u16,
    },
}

/// A fresh local variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fresh {
    /// Its slot.
    pub slot: u16,
    /// The place in [`Method::captures`] of what it holds.
    pub capture: usize,
}

/// A value that a handler appends: as it was at the method's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture<'r> {
    /// An argument.
    Parameter {
        /// 0 for `this`, in instance methods. Parameters count from 1 in both
        /// instance and static methods.
        index: u16,
        /// The declared type. In a constructor, null is appended for `this` as
        /// long as it is not initialized.
        descriptor: &'r str,
    },
    /// A field of an argument. If the argument is null, or the field cannot be
    /// had, a null or zero is appended.
    Field {
        /// The index of the argument's [`Capture::Parameter`].
        parameter: u16,
        /// The class that the method's body finds the field in.
        owner: &'r str,
        /// The field's name.
        name: &'r str,
        /// The field's type.
        descriptor: &'r str,
    },
    /// Where the log of writes was, which is a word; the last capture of a method
    /// if writes are logged (see [`UndoPlan`]).
    Position,
}

/// A method that was left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped<'r> {
    /// The name.
    pub name: &'r str,
    /// The descriptor.
    pub descriptor: &'r str,
    /// Why.
    pub reason: SkipReason,
}

/// Why a method was left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its body provably throws nothing.
    CannotThrow,
    /// A constructor in which only the call of another constructor may throw.
    /// The verifier allows no handler to cover that call.
    OnlyConstructorCall,
    /// A constructor whose call of another constructor was not found for
    /// certain.
    ConstructorShape,
    /// Only its handlers were asked for, and it has none for certain classes.
    CatchesNothing,
    /// Code of a class file older than version 45.3, which is laid out in
    /// another way (no JDK that was released wrote it).
    OldCode,
    /// It has subroutines (`jsr`, `ret`), in an old class file.
    Subroutines,
    /// It would have more code than the format allows.
    TooLarge,
    /// It would have more code than HotSpot's JIT compiles, and has not yet.
    NotCompiled,
    /// It would have more local variables than the format allows.
    TooManyLocals,
    /// The class would have more constants than the format allows. None of its
    /// methods is instrumented then.
    ConstantPoolFull,
    /// Its code breaks the format.
    Malformed {
        /// The byte at which it does, from the start of the class file; if that
        /// is not known, the first byte of the code.
        offset: u32,
    },
}

impl SkipReason {
    /// Malformed where [`Self::within`] says, or nobody.
    pub(crate) const MALFORMED: Self = Self::Malformed { offset: 0 };

    /// Malformed at this byte of the class file.
    #[cold]
    pub(crate) fn malformed(offset: usize) -> Self {
        Self::Malformed {
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }

    /// The same, for code that begins at `offset`.
    pub(crate) fn within(self, offset: usize) -> Self {
        match self {
            Self::MALFORMED => Self::malformed(offset),
            reason => reason,
        }
    }

    /// The reason without the place, in a few words.
    pub fn kind(self) -> &'static str {
        match self {
            Self::CannotThrow => "cannot throw",
            Self::OnlyConstructorCall => "only its constructor call can throw",
            Self::ConstructorShape => "constructor call not found for certain",
            Self::CatchesNothing => "catches nothing",
            Self::OldCode => "code of a version before 45.3",
            Self::Subroutines => "subroutines",
            Self::TooLarge => "too large",
            Self::NotCompiled => "too large for the JIT then",
            Self::TooManyLocals => "too many local variables",
            Self::ConstantPoolFull => "constant pool full",
            Self::Malformed { .. } => "malformed",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::Malformed { offset } => write!(f, " (at offset {offset:#x})"),
            _ => Ok(()),
        }
    }
}
