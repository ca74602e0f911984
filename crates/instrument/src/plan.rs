//! What is to be instrumented, and what was.

use std::fmt;

use crate::quiet::{Others, Quiet};
use crate::records::{Captures, Methods, ParameterNames, SkippedMethods};
use crate::{MemberName, MemberNames};

/// How a class is to be instrumented for crashes.
pub struct CrashPlan<'a> {
    /// What a method keeps of its arguments.
    pub copy: Copy,
    /// The most fields that a method keeps.
    pub max_fields: usize,
    /// The id of the first method; the others are numbered consecutively.
    pub first_id: u32,
    /// The rules for a method, by name and descriptor.
    pub rules: &'a dyn Fn(&str, &str) -> Rules,
    /// What an analysis of the whole program says of methods of the class, sorted by name and
    /// descriptor. Of other methods, only the body is examined.
    pub known: &'a [Effects],
}

/// What is known of a method and of all that it calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The method's name.
    pub name: String,
    /// The method's descriptor.
    pub descriptor: String,
    /// Whether nothing in the method can throw.
    pub cannot_throw: bool,
    /// What is known of its parameters. For others, the body decides.
    pub parameters: Vec<ParameterEffects>,
}

/// What a method, together with all that it calls, does to the object that a parameter refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParameterEffects {
    /// The parameter's place. In instance methods `this` is 0; in static methods the first
    /// parameter is 0.
    pub index: u16,
    /// Whether only `fields` may have to be kept. Otherwise the fields that the body uses are kept
    /// as well.
    pub exact: bool,
    /// The fields that are read and may be written: the internal name of the declaring class, and
    /// the field's name.
    pub fields: Vec<(String, String)>,
    /// Those of them that another class declares and that this one may read from the
    /// parameter: their names and descriptors.
    pub open: Vec<(String, String)>,
}

impl Effects {
    /// Looks up what is known of a method.
    pub(crate) fn of<'e>(known: &'e [Self], name: &str, descriptor: &str) -> Option<&'e Self> {
        known.get(Self::find(known, name, descriptor)?)
    }

    /// The index of a method in the list, which is sorted by name and descriptor.
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
    /// Only the arguments themselves.
    Reference,
    /// The arguments, and those of their fields that the body uses.
    Fields,
    /// The arguments, and the used fields of the receiver only.
    FieldsOfReceiver,
    /// The arguments, and the used fields of all arguments except the receiver.
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
/// Each method that hands over its frame also keeps [`Capture::Position`], and each write logs the
/// old value, except where nobody else can have seen the object.
#[derive(Clone, Copy)]
pub struct UndoPlan<'a> {
    /// What methods hand over; `None` for code whose own frames are not to be recorded.
    pub crash: Option<&'a CrashPlan<'a>>,
    /// Whether handlers report what they catch. The handlers of methods that hand over their frame
    /// always do.
    pub catches: bool,
    /// The id of the first method, if methods hand over nothing.
    pub first_id: u32,
    /// The id of the first field; the others are numbered consecutively.
    pub first_field: u32,
    /// What is known of accessors of other classes ([`Rewritten::quiet`]).
    pub quiet: &'a Others<'a>,
}

/// The report rules that match a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether an exception that leaves the method is a failure.
    pub escape: bool,
    /// Whether an exception that the method catches is a failure.
    pub caught: bool,
}

/// The result of instrumenting a class.
#[derive(Debug, Clone)]
pub struct Rewritten {
    /// The new class; `None` if the old one can stay.
    pub class: Option<Vec<u8>>,
    /// The internal name: `a/b/C`.
    pub class_name: String,
    /// The instrumented methods, by rising id.
    pub methods: Methods,
    /// Where inserted code stands in each of [`Self::methods`]; empty unless the workspace was made
    /// by [`crate::Workspace::with_layouts`].
    pub layouts: Vec<Layout>,
    /// The methods that have a body but were left as they were.
    pub skipped: SkippedMethods,
    /// The fields that are written, by rising id; empty unless writes are logged.
    pub fields: MemberNames,
    /// Those of the instrumented methods whose writes are not logged, because there was no room.
    pub reduced: SkippedMethods,
    /// Accessors for nested classes that write nothing, if writes are logged.
    pub quiet: Vec<(MemberName, Quiet)>,
    /// Whether the class came with probes in it and was left as it was for that reason.
    pub had_probes: bool,
}

/// An instrumented method.
#[derive(Debug, Clone, Copy)]
pub struct Method<'r> {
    /// The number by which probes name the method.
    pub id: u32,
    /// The method's name.
    pub name: &'r str,
    /// The method's descriptor.
    pub descriptor: &'r str,
    /// The method's access flags.
    pub access: u16,
    /// What the handler appends. References and words go to two arrays, each in this order.
    pub captures: Captures<'r>,
    /// The names of the parameters in the descriptor; `this` is not among them.
    pub parameter_names: ParameterNames<'r>,
    /// The smallest and the largest line number.
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
    /// The offset of its first byte.
    pub start: usize,
    /// The offset behind its last byte.
    pub end: usize,
    /// What the code is for.
    pub part: Part,
}

/// What a piece of inserted code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Before and behind everything else: jumps on the way of jumps that have become too far.
    Islands,
    /// At the method's entry: fills the fresh variables.
    Entry,
    /// Within the body, before an old instruction whose jumps, frame and exception-table entries
    /// lead here: reports what was caught, at the start of a typed handler.
    Caught {
        /// The variable that holds the exception meanwhile.
        exception: u16,
    },
    /// Within the body, before an old instruction that writes: logs the old value.
    Write,
    /// Within the body of a traced method, before or after an old instruction: records what it
    /// does.
    Event,
    /// Behind the body: hands the captures over, or records that the call ends, and rethrows.
    Handler {
        /// The variable that holds the exception; it may be one of the old ones.
        exception: u16,
    },
}

/// A fresh local variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fresh {
    /// The variable's slot.
    pub slot: u16,
    /// The index in [`Method::captures`] of the value that it holds.
    pub capture: usize,
}

/// A value that a handler appends: the value at the method's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture<'r> {
    /// An argument.
    Parameter {
        /// The index: 0 for `this`, in instance methods. Parameters count from 1 in both instance
        /// and static methods.
        index: u16,
        /// The declared type. In a constructor, null is appended for `this` as
        /// long as it is not initialized.
        descriptor: &'r str,
    },
    /// A field of an argument. If the argument is null, or the field cannot be read, null or zero
    /// is appended.
    Field {
        /// The index of the argument's [`Capture::Parameter`].
        parameter: u16,
        /// The class in which the method's body finds the field.
        owner: &'r str,
        /// The field's name.
        name: &'r str,
        /// The field's type.
        descriptor: &'r str,
    },
    /// The position of the log of writes at entry, which is a word. It is a method's last capture,
    /// if writes are logged (see [`UndoPlan`]).
    Position,
}

/// A method that was left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped<'r> {
    /// The method's name.
    pub name: &'r str,
    /// The method's descriptor.
    pub descriptor: &'r str,
    /// Why it was left as it was.
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
    /// Only its handlers were to be instrumented, and none of them catches named classes only.
    CatchesNothing,
    /// Code of a class file older than version 45.3, which has another layout (no released JDK
    /// wrote it).
    OldCode,
    /// It has subroutines (`jsr`, `ret`), in an old class file.
    Subroutines,
    /// It would have more code than the format allows.
    TooLarge,
    /// It would have more code than HotSpot's JIT compiles, while the old code has less.
    NotCompiled,
    /// It would have more local variables than the format allows.
    TooManyLocals,
    /// The class would have more constants than the format allows. None of its
    /// methods is instrumented then.
    ConstantPoolFull,
    /// Its code breaks the format.
    Malformed {
        /// The offset in the class file of the byte that breaks the format; if that is not known,
        /// of the first byte of the code.
        offset: u32,
    },
}

impl SkipReason {
    /// Malformed code at an offset that is not known yet: [`Self::within`] fills it in.
    pub(crate) const MALFORMED: Self = Self::Malformed { offset: 0 };

    /// Malformed code at this offset of the class file.
    #[cold]
    pub(crate) fn malformed(offset: usize) -> Self {
        Self::Malformed {
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }

    /// Fills in `offset`, where the code begins, if no offset is known.
    pub(crate) fn within(self, offset: usize) -> Self {
        match self {
            Self::MALFORMED => Self::malformed(offset),
            reason => reason,
        }
    }

    /// The reason without the offset, in a few words.
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
