//! What to instrument, and what was instrumented.

use std::fmt;

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
}

/// What a method keeps of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    /// The arguments themselves.
    Reference,
    /// And the fields of arguments that its body uses.
    Fields,
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
    pub methods: Vec<Method>,
    /// The methods that have a body but were left as they were.
    pub skipped: Vec<Skipped>,
}

/// An instrumented method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// What the probes call it.
    pub id: u32,
    /// The name.
    pub name: String,
    /// The descriptor.
    pub descriptor: String,
    /// The access flags.
    pub access: u16,
    /// What the handler appends. References and words go to two arrays, each in
    /// this order.
    pub captures: Vec<Capture>,
    /// One for each parameter of the descriptor; `this` is not among them.
    pub parameter_names: Vec<Option<String>>,
    /// The smallest and the largest line.
    pub lines: Option<(u16, u16)>,
}

/// A value that a handler appends: as it was at the method's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capture {
    /// An argument.
    Parameter {
        /// 0 for `this`, in instance methods. Parameters count from 1 in both
        /// instance and static methods.
        index: u16,
        /// The declared type. In a constructor, null is appended for `this` as
        /// long as it is not initialized.
        descriptor: String,
    },
    /// A field of an argument. If the argument is null, or the field cannot be
    /// had, a null or zero is appended.
    Field {
        /// The index of the argument's [`Capture::Parameter`].
        parameter: u16,
        /// The class that the method's body finds the field in.
        owner: String,
        /// The field's name.
        name: String,
        /// The field's type.
        descriptor: String,
    },
}

/// A method that was left as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The name.
    pub name: String,
    /// The descriptor.
    pub descriptor: String,
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
    /// It has subroutines (`jsr`, `ret`), in an old class file.
    Subroutines,
    /// It would have more code than the format allows.
    TooLarge,
    /// It would have more local variables than the format allows.
    TooManyLocals,
    /// The class would have more constants than the format allows. None of its
    /// methods is instrumented then.
    ConstantPoolFull,
    /// Its code breaks the format.
    Malformed,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CannotThrow => "cannot throw",
            Self::OnlyConstructorCall => "only its constructor call can throw",
            Self::ConstructorShape => "constructor call not found for certain",
            Self::Subroutines => "subroutines",
            Self::TooLarge => "too large",
            Self::TooManyLocals => "too many local variables",
            Self::ConstantPoolFull => "constant pool full",
            Self::Malformed => "malformed",
        })
    }
}
