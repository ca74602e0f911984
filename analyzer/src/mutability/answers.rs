//! Verdicts and their reasons.

use super::recorded::evidence::Witness;
use crate::program::calls::Site;
use crate::program::{MethodId, Program};
use hindsight_classfile::{MethodDescriptor, Utf8, access};

/// What is said of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Nothing.
    #[default]
    Unknown,
    /// Some run of the method changes what it refers to, by way of it.
    Mutable,
    /// No run does.
    Immutable,
}

impl Verdict {
    /// As it is printed.
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
    /// Each body alone.
    S,
    /// The same, parameter by parameter.
    Sh,
    /// Along calls.
    P,
    /// Bodies with summaries of what they call.
    Flow,
    /// Recorded runs, by the exact semantics.
    X,
    /// Recorded runs, by what leads to what is written.
    D(Heuristics),
    /// Random inputs, of which X judges.
    R,
}

/// Heuristics of stage D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heuristics {
    /// A: what was never changed by many calls is immutable.
    pub absence: bool,
    /// B: what was given to something mutable is mutable.
    pub bound: bool,
    /// C: aliases count.
    pub aliased: bool,
    /// R: random inputs are added to what was recorded.
    pub random: bool,
}

/// Names of D with its heuristics, whose bits A has first.
const D_NAMES: [&str; 16] = [
    "D", "DA", "DB", "DAB", "DC", "DAC", "DBC", "DH", "DR", "DRA", "DRB", "DRAB", "DRC", "DRAC",
    "DRBC", "DRH",
];

impl Stage {
    /// As it is typed and printed.
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

    /// Whether the stage has methods executed.
    pub fn is_random(self) -> bool {
        matches!(self, Stage::R | Stage::D(Heuristics { random: true, .. }))
    }
}

/// Why a parameter has its verdict. Operations are places in
/// [`super::facts::Facts::ops`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "a variant says what its fields are")]
pub enum Reason {
    /// No stage had anything to say.
    #[default]
    None,
    /// Numbers, strings, boxes, dates and the like cannot be changed.
    Trivial,
    /// There is no body that could change it, and no method is known that
    /// implements it.
    Abstract,
    /// The method has no body; this one implements it, and decides.
    Implementation { method: MethodId, param: u16 },
    /// The method has no body; so many implement it, and leave it alone.
    Implementations { count: u32 },
    /// This store writes its state.
    Store { op: u32 },
    /// This call changes it by a parameter of the method.
    Call {
        op: u32,
        method: MethodId,
        param: u16,
    },
    /// This call changes it, which is known of the method.
    Known { op: u32 },
    /// The body writes none of its parameters and gives none away.
    NoWrite,
    /// It goes to nothing that writes.
    LeadsToNoWrite,
    /// Nothing that is obtained from it is written, calls included.
    Unwritten,
    /// It goes to a method of the JDK of which this is not known to be safe.
    Library { method: MethodId, param: u16 },
    /// It goes to something that is missing.
    Missing { site: Site },
    /// It goes to a method that nothing in sight implements.
    Unimplemented { site: Site },
    /// It goes to code that is not known.
    UnknownCall { op: u32 },
    /// A static field keeps it.
    KeptInStatic { op: u32 },
    /// It may be an alias of this parameter.
    Sibling { param: u16 },
    /// The body is not known.
    NoBody,
    /// The body is too large to be followed.
    TooLarge,
    /// A recorded run shows a write.
    Seen(Box<Witness>),
    /// It was given to this parameter in a recorded run, which is mutable.
    Bound { method: MethodId, param: u16 },
    /// As many calls never changed it, and did most of what the body does.
    Covered { calls: u64, percent: u8 },
    /// It is kept, returned or thrown, and may be changed when the method has
    /// returned.
    Escapes,
}

/// What is known of a parameter of a method that has no facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// It is changed, by this parameter of this method.
    Mutable(MethodId, u16),
    /// It is not.
    Immutable,
    /// Nobody knows.
    Unknown(MethodId, u16),
    /// The method is missing.
    Missing(Site),
    /// Nothing in sight implements the method.
    Unimplemented(Site),
}

#[derive(Debug, Clone, Default)]
struct Answer {
    verdict: Verdict,
    stage: Option<Stage>,
    reason: Reason,
}

/// Verdicts of all parameters of the program's own methods.
#[derive(Debug, Default)]
pub struct Answers {
    /// The first place of each method's parameters; `u32::MAX` for others.
    first: Vec<u32>,
    params: Vec<(MethodId, u16)>,
    answers: Vec<Answer>,
}

impl Answers {
    /// Makes room for the parameters of all methods of the program's own
    /// classes; or of the JDK's.
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

    /// How many parameters there are.
    pub fn count(&self) -> u32 {
        self.params.len() as u32
    }

    /// Whether a method's parameters are among them.
    pub fn has(&self, method: MethodId) -> bool {
        self.first
            .get(method.0 as usize)
            .is_some_and(|&first| first != u32::MAX)
    }

    /// The place of a parameter of a method that is among them.
    pub fn place(&self, method: MethodId, param: u16) -> u32 {
        self.first[method.0 as usize] + u32::from(param)
    }

    /// The same, if the method has so many.
    pub fn place_if(&self, method: MethodId, param: u16) -> Option<u32> {
        let place = self.place(method, param);
        (self.params.get(place as usize) == Some(&(method, param))).then_some(place)
    }

    /// The same, if the method is among them, too.
    pub fn place_of(&self, method: MethodId, param: u16) -> Option<u32> {
        self.has(method)
            .then(|| self.place_if(method, param))
            .flatten()
    }

    /// How many parameters nothing is known of.
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

    /// Decides, unless that was done before: the one rule of refinement.
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

    /// Says why nothing was decided. The last stage knows best.
    pub fn explain(&mut self, place: u32, reason: Reason) {
        let answer = &mut self.answers[place as usize];
        if answer.verdict == Verdict::Unknown {
            answer.reason = reason;
        }
    }

    /// Takes a verdict back.
    pub fn withdraw(&mut self, place: u32, reason: Reason) {
        self.answers[place as usize] = Answer {
            reason,
            ..Answer::default()
        };
    }

    /// Decides without a stage: what needs no analysis.
    pub fn grant(&mut self, place: u32, reason: Reason) {
        self.answers[place as usize] = Answer {
            verdict: Verdict::Immutable,
            stage: None,
            reason,
        };
    }
}

/// Whether a parameter is the object that a constructor makes, by the method's
/// signature. No argument can lead to it: until its superclass's constructor has
/// returned, nobody else may have it.
pub fn is_new(signature: &[u8], param: u16) -> bool {
    param == 0 && signature.starts_with(b"<init>")
}

/// How many parameters a method has, `this` counted.
pub fn param_count(program: &Program, id: MethodId) -> u16 {
    let method = program.method(id);
    let this = u16::from(!method.is(access::STATIC));
    let text = program.names.bytes(method.signature);
    let open = text.iter().position(|&byte| byte == b'(').unwrap_or(0);
    let declared =
        MethodDescriptor::parse(Utf8::new(&text[open..])).map_or(0, |d| d.parameter_count());
    this + declared
}
