//! Verdicts and their reasons.

use super::recorded::evidence::Witness;
use crate::program::calls::Site;
use crate::program::{MethodId, Program};
use hindsight_classfile::{MethodDescriptor, Utf8, access};

/// The verdict on a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Some run of the method changes, through the parameter, the object that it refers to.
    Mutable,
    /// No run of the method does.
    Immutable,
}

impl Verdict {
    /// The verdict as it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Unknown => "unknown",
            Verdict::Mutable => "mutable",
            Verdict::Immutable => "immutable",
        }
    }
}

/// A stage of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Each body alone, with siblings (parameters that may be aliases of each other).
    S,
    /// Each body alone, parameter by parameter.
    Sh,
    /// Propagation along calls.
    P,
    /// Bodies with summaries of what they call (S').
    Flow,
    /// Recorded runs, judged by the exact semantics.
    X,
    /// Recorded runs, judged by which arguments reach what is written.
    D(Heuristics),
    /// Runs with random inputs, judged by X.
    R,
}

/// The heuristics of stage D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heuristics {
    /// A: a parameter that many calls never changed is immutable.
    pub absence: bool,
    /// B: a parameter whose object was passed to a mutable parameter is mutable.
    pub bound: bool,
    /// C: aliases count.
    pub aliased: bool,
    /// R: runs with random inputs are added to the recorded ones.
    pub random: bool,
}

/// The names of D with its heuristics; A is the lowest bit of the index.
const D_NAMES: [&str; 16] = [
    "D", "DA", "DB", "DAB", "DC", "DAC", "DBC", "DH", "DR", "DRA", "DRB", "DRAB", "DRC", "DRAC",
    "DRBC", "DRH",
];

impl Stage {
    /// The stage as it is typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Stage::S => "S",
            Stage::Sh => "SH",
            Stage::P => "P",
            Stage::Flow => "S'",
            Stage::X => "X",
            Stage::D(with) => {
                let bit = |set: bool, place: usize| usize::from(set) << place;
                D_NAMES[bit(with.absence, 0)
                    | bit(with.bound, 1)
                    | bit(with.aliased, 2)
                    | bit(with.random, 3)]
            }
            Stage::R => "R",
        }
    }

    /// Whether the stage executes methods.
    pub fn is_random(self) -> bool {
        matches!(self, Stage::R | Stage::D(Heuristics { random: true, .. }))
    }
}

/// Why a parameter has its verdict. Operations are indices in [`super::facts::Facts::ops`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "a variant says what its fields are")]
pub enum Reason {
    /// No stage gave a reason.
    #[default]
    None,
    /// Its type is a number, string, box, date or the like, which cannot be changed.
    Trivial,
    /// The method has no body that could change it, and no implementation of the method is known.
    Abstract,
    /// The method has no body; this implementation decides.
    Implementation { method: MethodId, param: u16 },
    /// The method has no body; this many methods implement it and do not change the parameter.
    Implementations { count: u32 },
    /// This store writes its state.
    Store { op: u32 },
    /// This call changes it through a parameter of the called method.
    Call {
        op: u32,
        method: MethodId,
        param: u16,
    },
    /// This call changes it, which is known of the called method.
    Known { op: u32 },
    /// The body writes to none of its parameters and passes none on.
    NoWrite,
    /// It reaches nothing that writes to it.
    LeadsToNoWrite,
    /// Nothing that is obtained from it is written, not even in calls.
    Unwritten,
    /// It is passed to a method of the JDK that is not known to leave it alone.
    Library { method: MethodId, param: u16 },
    /// It is passed to a method that is missing.
    Missing { site: Site },
    /// It is passed to a method of which no implementation is known.
    Unimplemented { site: Site },
    /// It is passed to code that is not known.
    UnknownCall { op: u32 },
    /// A static field keeps it.
    KeptInStatic { op: u32 },
    /// It may be an alias of this parameter.
    Sibling { param: u16 },
    /// The body could not be read.
    NoBody,
    /// The body is too large to be analysed.
    TooLarge,
    /// A write was seen in a recorded run.
    Seen(Box<Witness>),
    /// It was passed, in a recorded run, to this parameter, which is mutable.
    Bound { method: MethodId, param: u16 },
    /// This many calls never changed it, and executed this percentage of what the body can be seen
    /// to do.
    Covered { calls: u64, percent: u8 },
    /// It is kept, returned or thrown, and may be changed after the method has returned.
    Escapes,
}

/// What is known of a parameter of a method that has no facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// It is changed, through this parameter of this method.
    Mutable(MethodId, u16),
    /// It is not changed.
    Immutable,
    /// It is not known whether this method changes it through this parameter.
    Unknown(MethodId, u16),
    /// The method is missing.
    Missing(Site),
    /// No implementation of the method is known.
    Unimplemented(Site),
}

#[derive(Debug, Clone, Default)]
struct Answer {
    verdict: Verdict,
    stage: Option<Stage>,
    reason: Reason,
}

/// The verdicts on all parameters of the program's own methods.
#[derive(Debug, Default)]
pub struct Answers {
    /// The place of each method's first parameter; `u32::MAX` for methods that are not included.
    first: Vec<u32>,
    params: Vec<(MethodId, u16)>,
    answers: Vec<Answer>,
}

impl Answers {
    /// Makes room for the parameters of all methods of the program's own classes, or of the JDK's
    /// if `library` is set.
    pub fn new(program: &Program, library: bool) -> Answers {
        let mut answers = Answers {
            first: vec![u32::MAX; program.methods.len()],
            ..Answers::default()
        };
        for class in program
            .classes
            .iter()
            .filter(|class| class.library == library)
        {
            for number in class.methods.clone() {
                let id = MethodId(number);
                answers.first[number as usize] = answers.params.len() as u32;
                for param in 0..param_count(program, id) {
                    answers.params.push((id, param));
                }
            }
        }
        answers.answers = vec![Answer::default(); answers.params.len()];
        answers
    }

    /// The number of parameters.
    pub fn count(&self) -> u32 {
        self.params.len() as u32
    }

    /// Whether a method's parameters are included.
    pub fn has(&self, method: MethodId) -> bool {
        self.first
            .get(method.0 as usize)
            .is_some_and(|&first| first != u32::MAX)
    }

    /// The place of a parameter of a method that is included.
    pub fn place(&self, method: MethodId, param: u16) -> u32 {
        self.first[method.0 as usize] + u32::from(param)
    }

    /// The place of a parameter of a method that is included; `None` if the method has fewer
    /// parameters.
    pub fn place_if(&self, method: MethodId, param: u16) -> Option<u32> {
        let place = self.place(method, param);
        (self.params.get(place as usize) == Some(&(method, param))).then_some(place)
    }

    /// The place of a parameter; `None` if the method is not included or has fewer parameters.
    pub fn place_of(&self, method: MethodId, param: u16) -> Option<u32> {
        self.has(method)
            .then(|| self.place_if(method, param))
            .flatten()
    }

    /// The number of parameters whose verdict is unknown.
    pub fn unknown(&self) -> u32 {
        let unknown = |answer: &&Answer| answer.verdict == Verdict::Unknown;
        self.answers.iter().filter(unknown).count() as u32
    }

    /// The parameter at a place.
    pub fn param(&self, place: u32) -> (MethodId, u16) {
        self.params[place as usize]
    }

    /// The verdict at a place.
    pub fn verdict(&self, place: u32) -> Verdict {
        self.answers[place as usize].verdict
    }

    /// The stage that decided.
    pub fn stage(&self, place: u32) -> Option<Stage> {
        self.answers[place as usize].stage
    }

    /// The reason.
    pub fn reason(&self, place: u32) -> &Reason {
        &self.answers[place as usize].reason
    }

    /// Decides a parameter unless it was decided before: this is the one rule of refinement.
    pub fn decide(&mut self, place: u32, verdict: Verdict, stage: Stage, reason: Reason) {
        let answer = &mut self.answers[place as usize];
        if answer.verdict == Verdict::Unknown {
            *answer = Answer {
                verdict,
                stage: Some(stage),
                reason,
            };
        }
    }

    /// Records why nothing was decided. A later stage's reason replaces an earlier one.
    pub fn explain(&mut self, place: u32, reason: Reason) {
        let answer = &mut self.answers[place as usize];
        if answer.verdict == Verdict::Unknown {
            answer.reason = reason;
        }
    }

    /// Withdraws a verdict.
    pub fn withdraw(&mut self, place: u32, reason: Reason) {
        self.answers[place as usize] = Answer {
            reason,
            ..Answer::default()
        };
    }

    /// Decides a parameter that needs no analysis, without a stage.
    pub fn grant(&mut self, place: u32, reason: Reason) {
        self.answers[place as usize] = Answer {
            verdict: Verdict::Immutable,
            stage: None,
            reason,
        };
    }
}

/// Whether a parameter is the object that a constructor makes, judged by the method's signature. No
/// argument can lead to that object: until the superclass's constructor has returned, no other code
/// may have it.
pub fn is_new(signature: &[u8], param: u16) -> bool {
    param == 0 && signature.starts_with(b"<init>")
}

/// The number of a method's parameters, including `this`.
pub fn param_count(program: &Program, id: MethodId) -> u16 {
    let method = program.method(id);
    let this = u16::from(!method.is(access::STATIC));
    let text = program.names.bytes(method.signature);
    let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
    let declared =
        MethodDescriptor::parse(Utf8::new(&text[open..])).map_or(0, |d| d.parameter_count());
    this + declared
}
