//! The rules for rewriting classes, and the result for one.

use crate::program::hierarchy::NEWEST;
use hindsight_classfile::{ClassFile, Error, access};
use hindsight_instrument::contract::trace::TRACE;
use hindsight_instrument::contract::{PROBE, WRITES};
use hindsight_instrument::glob::{Globs, ReportRule};
use hindsight_instrument::select::{self, MAX_FIELDS};
use hindsight_instrument::{
    CrashPlan, Error as InstrumentError, Layout, MemberNames, Methods, Rewritten, Rules,
    SkipReason, SkippedMethods, TracePlan, Traced, UndoPlan, What, Workspace,
};
use std::fmt;

/// The kind of probes that are inserted: the one place that knows all plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// The probes hand over arguments when an exception leaves a method.
    #[default]
    Crash,
    /// The probes record methods' calls, writes and reads.
    Trace,
}

impl Mode {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Crash => "crash",
            Mode::Trace => "trace",
        }
    }
}

/// What a method keeps of its arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Copy {
    /// The arguments themselves.
    Reference,
    /// The arguments, and the fields of arguments that its body uses.
    #[default]
    Fields,
    /// The arguments and fields, and the values that are overwritten, so that writes can be undone;
    /// `depth:N` inserts the same.
    Deep,
}

impl Copy {
    /// Parses the value of the agent's option `copy`.
    ///
    /// # Errors
    ///
    /// Fails on anything else, with the possible values.
    pub fn parse(text: &str) -> Result<Copy, String> {
        let is_depth = |depth: &str| depth.parse::<u32>().is_ok_and(|depth| depth > 0);
        match text {
            "reference" => Ok(Copy::Reference),
            "fields" => Ok(Copy::Fields),
            "deep" => Ok(Copy::Deep),
            _ if text.strip_prefix("depth:").is_some_and(is_depth) => Ok(Copy::Deep),
            _ => Err("it takes reference, fields, deep, and depth:N with N from 1 on".to_owned()),
        }
    }

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Copy::Reference => "reference",
            Copy::Fields => "fields",
            Copy::Deep => "deep",
        }
    }
}

/// The rules for rewriting.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The kind of probes.
    pub mode: Mode,
    /// What methods keep, for crashes.
    pub copy: Copy,
    /// What methods record, for traces.
    pub what: What,
    /// The classes to rewrite; all if there are no globs.
    pub include: Globs,
    /// The classes to leave alone.
    pub exclude: Globs,
    /// The exceptions that are failures at once.
    pub report: Report,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            mode: Mode::default(),
            copy: Copy::default(),
            what: What::CALLS_AND_WRITES,
            include: Globs::default(),
            exclude: Globs::default(),
            report: Report::default(),
        }
    }
}

/// The next numbers by which probes name methods and other members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ids {
    /// The number of methods with probes.
    pub method: u32,
    /// The number of fields that they write or read.
    pub field: u32,
    /// The number of called methods whose writes would not be recorded.
    pub callee: u32,
    /// The number of basic blocks that report when they run.
    pub block: u32,
}

impl Ids {
    /// The numbers after those of a class; `None` if there are no more, since they are `int` in
    /// Java.
    pub fn after(self, class: &Probed) -> Option<Ids> {
        let next = |first: u32, made: usize| {
            let next = first.checked_add(u32::try_from(made).ok()?)?;
            (next < i32::MAX as u32).then_some(next)
        };
        Some(Ids {
            method: next(self.method, class.methods.len())?,
            field: next(self.field, class.fields.len())?,
            callee: next(self.callee, class.callees.len())?,
            block: next(self.block, class.blocks)?,
        })
    }
}

/// A class with its new code.
#[derive(Debug)]
pub struct Probed {
    /// The new class; `None` if the old one can stay.
    pub class: Option<Vec<u8>>,
    /// The internal name: `a/b/C`.
    pub class_name: String,
    /// The instrumented methods, by ascending number.
    pub methods: Methods,
    /// The places of their new code.
    pub layouts: Vec<Layout>,
    /// The methods that were left as they were.
    pub skipped: SkippedMethods,
    /// The methods that have less than was asked for, for lack of room.
    pub reduced: SkippedMethods,
    /// The fields that numbers mean.
    pub fields: MemberNames,
    /// The callees that numbers mean.
    pub callees: MemberNames,
    /// The number of basic blocks that report when they run.
    pub blocks: usize,
}

impl From<Rewritten> for Probed {
    fn from(rewritten: Rewritten) -> Self {
        Probed {
            class: rewritten.class,
            class_name: rewritten.class_name,
            methods: rewritten.methods,
            layouts: rewritten.layouts,
            skipped: rewritten.skipped,
            reduced: rewritten.reduced,
            fields: rewritten.fields,
            callees: MemberNames::default(),
            blocks: 0,
        }
    }
}

impl From<Traced> for Probed {
    fn from(traced: Traced) -> Self {
        Probed {
            class: traced.class,
            class_name: traced.class_name,
            methods: traced.methods,
            layouts: traced.layouts,
            skipped: traced.skipped,
            reduced: traced.reduced,
            fields: traced.fields,
            callees: traced.callees,
            blocks: traced.blocks.iter().map(|method| method.starts.len()).sum(),
        }
    }
}

/// The rules of `report` that change code. `uncaught` and `exception:` do not, and concern only the
/// agent.
#[derive(Debug, Clone, Default)]
pub struct Report {
    escape: Globs,
    caught: Globs,
}

impl Report {
    /// Parses rules in the form of the agent's option `report`.
    ///
    /// # Errors
    ///
    /// Fails on anything that is not a rule, and names it.
    pub fn parse(text: &str) -> Result<Report, String> {
        let (mut escape, mut caught) = (Vec::new(), Vec::new());
        for rule in text
            .split(';')
            .map(str::trim)
            .filter(|rule| !rule.is_empty())
        {
            match ReportRule::parse(rule) {
                Some(ReportRule::Escape(glob)) => escape.push(glob),
                Some(ReportRule::Caught(glob)) => caught.push(glob),
                Some(ReportRule::Exception(_) | ReportRule::Uncaught) => {}
                None => {
                    return Err(format!(
                        "\"{rule}\" is none of {} {}",
                        ReportRule::ACCEPTED,
                        ReportRule::WITHOUT
                    ));
                }
            }
        }
        Ok(Report {
            escape: Globs::new(escape),
            caught: Globs::new(caught),
        })
    }

    /// The rules as they are written, each with its glob of `class.method`.
    pub(super) fn rules(&self) -> impl Iterator<Item = (String, Globs)> {
        let kinds = [("escape", &self.escape), ("caught", &self.caught)];
        kinds.into_iter().flat_map(|(kind, globs)| {
            let patterns = globs.patterns();
            patterns.map(move |glob| (format!("{kind}:{glob}"), Globs::new([glob])))
        })
    }
}

/// The result for a class.
#[derive(Debug)]
pub enum Verdict {
    /// It has new code.
    Rewritten(Box<Probed>),
    /// It stays as it is.
    Left {
        /// Its name with dots, if it could be read.
        class: Option<String>,
        /// The reason.
        reason: Left,
        /// The methods that have a body.
        methods: SkippedMethods,
    },
}

/// The reason why a class was left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// None of its methods needs a probe.
    NoProbes,
    /// It describes a module.
    Module,
    /// The options exclude it.
    NotSelected,
    /// The probes run on it.
    BelowProbes,
    /// It has probes already.
    Instrumented,
    /// Its methods need probes but cannot have them.
    NoMethodFits,
    /// It breaks the format.
    Malformed(Error),
    /// No JVM up to Java 25 loads its version, major and minor.
    Version(u16, u16),
    /// It is larger than any class.
    TooLarge,
    /// It is encrypted in the archive.
    Encrypted,
    /// It is packed by a method that not all JVMs know.
    Method(u16),
    /// Its content is not as the archive says.
    Unpackable,
    /// There are more methods than Java has numbers.
    OutOfIds,
}

impl Left {
    /// Whether there was nothing to do, so that nothing is missing.
    pub fn is_nothing_to_do(self) -> bool {
        matches!(
            self,
            Left::NoProbes
                | Left::Module
                | Left::NotSelected
                | Left::BelowProbes
                | Left::Instrumented
        )
    }

    /// The details of what went wrong.
    pub fn detail(self) -> Option<String> {
        match self {
            Left::Malformed(error) => Some(error.to_string()),
            Left::Version(major, minor) => Some(format!("{major}.{minor}")),
            Left::Method(method) => Some(format!("method {method}")),
            _ => None,
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Left::NoProbes => "no method needs a probe",
            Left::Module => "describes a module",
            Left::NotSelected => "not selected",
            Left::BelowProbes => "the probes run on it",
            Left::Instrumented => "instrumented already",
            Left::NoMethodFits => "no method can have a probe",
            Left::Malformed(_) => "malformed",
            Left::Version(..) => "a version that no JVM up to Java 25 loads",
            Left::TooLarge => "too large",
            Left::Encrypted => "encrypted",
            Left::Method(_) => "unknown packing",
            Left::Unpackable => "cannot be unpacked",
            Left::OutOfIds => "out of method numbers",
        })
    }
}

/// Whether a JVM up to Java 25 loads class files of this version: from Java 12 on the minor version
/// is 0, or 65535 with one release's preview features (JVMS 4.1).
fn is_loaded(major: u16, minor: u16) -> bool {
    (45..=NEWEST).contains(&major) && (major < 56 || minor == 0 || minor == u16::MAX)
}

/// Whether a method was left because nothing could be done for it: no exception leaves it from
/// where a handler may be.
pub fn needs_nothing(reason: SkipReason) -> bool {
    matches!(
        reason,
        SkipReason::CannotThrow | SkipReason::OnlyConstructorCall
    )
}

impl Plan {
    /// Rewrites a class; its members get numbers from `first` on.
    pub fn rewrite(&self, bytes: &[u8], first: Ids) -> Verdict {
        let left = |class: Option<&str>, reason| Verdict::Left {
            class: class.map(str::to_owned),
            reason,
            methods: SkippedMethods::default(),
        };
        let class = match ClassFile::parse(bytes) {
            Ok(class) => class,
            Err(error) => return left(None, Left::Malformed(error)),
        };
        let name = match class.name() {
            Ok(name) => name.to_string_lossy().replace('/', "."),
            Err(error) => return left(None, Left::Malformed(error)),
        };
        let reason = if !is_loaded(class.major, class.minor) {
            Some(Left::Version(class.major, class.minor))
        } else if class.is(access::MODULE) {
            Some(Left::Module)
        } else if select::is_below_probes(&name) {
            Some(Left::BelowProbes)
        } else if !self.selects(&name) {
            Some(Left::NotSelected)
        } else if class
            .pool
            .classes()
            .any(|(_, name)| name == PROBE || name == WRITES || name == TRACE)
        {
            Some(Left::Instrumented)
        } else {
            None
        };
        if let Some(reason) = reason {
            return left(Some(&name), reason);
        }
        drop(class);

        let plan = CrashPlan {
            copy: match self.copy {
                Copy::Reference => hindsight_instrument::Copy::Reference,
                Copy::Fields | Copy::Deep => hindsight_instrument::Copy::Fields,
            },
            max_fields: MAX_FIELDS,
            first_id: first.method,
            rules: &|method, _| self.rules(&name, method),
            known: &[],
        };
        let mut workspace = Workspace::with_layouts();
        let rewritten = match (self.mode, self.copy) {
            (Mode::Crash, Copy::Deep) => {
                let plan = UndoPlan {
                    crash: Some(&plan),
                    catches: true,
                    first_id: first.method,
                    first_field: first.field,
                    quiet: &|_| None,
                };
                workspace.undoable(bytes, &plan).map(Probed::from)
            }
            (Mode::Crash, _) => workspace.crash(bytes, &plan).map(Probed::from),
            (Mode::Trace, _) => {
                let plan = TracePlan {
                    what: &|_, _| self.what,
                    first_method: first.method,
                    first_field: first.field,
                    first_callee: first.callee,
                    first_block: first.block,
                    tracer: hindsight_instrument::contract::trace::TRACE,
                    // In a JVM, the agent's list of names decides.
                    is_secret: &|_| false,
                };
                workspace.trace(bytes, &plan).map(Probed::from)
            }
        };
        match rewritten {
            Ok(rewritten) if rewritten.class.is_some() => Verdict::Rewritten(Box::new(rewritten)),
            Ok(rewritten) => {
                let fine = rewritten.skipped.iter().all(|m| needs_nothing(m.reason));
                Verdict::Left {
                    class: Some(name),
                    reason: if fine {
                        Left::NoProbes
                    } else {
                        Left::NoMethodFits
                    },
                    methods: rewritten.skipped,
                }
            }
            Err(InstrumentError::Class(error)) => left(Some(&name), Left::Malformed(error)),
            Err(_) => left(Some(&name), Left::NoMethodFits),
        }
    }

    fn selects(&self, class: &str) -> bool {
        !select::names(&self.exclude, class)
            && (self.include.is_empty() || select::names(&self.include, class))
    }

    fn rules(&self, class: &str, method: &str) -> Rules {
        let Report { escape, caught } = &self.report;
        if escape.is_empty() && caught.is_empty() {
            return Rules::default();
        }
        let full = format!("{class}.{method}");
        Rules {
            escape: escape.matches(&full),
            caught: caught.matches(&full),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_instrument::glob::globs;

    #[test]
    fn copies_are_the_agents() {
        assert_eq!(Copy::parse("fields"), Ok(Copy::Fields));
        assert_eq!(Copy::parse("depth:2"), Ok(Copy::Deep));
        for wrong in ["", "all", "depth", "depth:", "depth:0", "depth:-1"] {
            assert!(Copy::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn report_rules_are_the_agents() {
        let report = Report::parse("uncaught; escape:a.B.c;caught:**.d;exception:x.*").unwrap();
        let plan = Plan {
            report,
            ..Plan::default()
        };
        let rules = |escape, caught| Rules { escape, caught };
        assert_eq!(plan.rules("a.B", "c"), rules(true, false));
        assert_eq!(plan.rules("a.B", "d"), rules(false, true));
        assert_eq!(plan.rules("a.B", "e"), rules(false, false));
        let error = Report::parse("escape:").unwrap_err();
        assert!(error.contains("\"escape:\" is none of"), "{error}");
    }

    #[test]
    fn inner_classes_follow_their_outer_class() {
        let plan = Plan {
            include: globs("a.*; b.C"),
            exclude: globs("a.X"),
            ..Plan::default()
        };
        let selected = ["a.A", "a.A$1", "a.X$Y", "b.C$D", "b.E"].map(|name| plan.selects(name));
        assert_eq!(selected, [true, true, false, true, false]);
    }
}
