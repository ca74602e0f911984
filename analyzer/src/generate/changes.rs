//! Finds what another version does differently: the calls of a test, executed on both.

#[cfg(test)]
mod tests;

use super::Result;
use super::asserted::{Assertion, Checked, names_caller, tells_caller};
use super::sequence::{Arg, Method, Methods, Sequence, Statement};
use super::worker::{Ended, Executed, Outcome, Said, Worker};
use crate::java::literal;
use crate::junit::verdict::NOT_INITIALIZED;
use crate::model::values::Literal;
use crate::text::{double, float, one_line, short_type, simple_name};

/// The most calls of one test that are reported.
const MAX_TOLD: usize = 20;
/// The characters of a result that are reported; of a longer one, those around the first
/// difference.
const MAX_SHOWN: usize = 200;
/// The characters of a result that are compared: all that a worker reports.
const MAX_COMPARED: usize = 100_000;

/// A call that ends differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The call as in the test.
    pub call: String,
    /// Its result on the version of the tests.
    pub old: String,
    /// Its result on the other version.
    pub new: String,
    /// Whether it cannot be called there as it was compiled.
    pub is_missing: bool,
    /// The member that the other version lacks, if that is the reason: many calls may need it.
    pub lacks: Option<String>,
}

/// A class of the other version that no JVM loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unloadable {
    /// Its name.
    pub class: String,
    /// The message of the JVM.
    pub why: String,
}

/// The result of a test on the other version.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The calls that end differently by themselves, in order.
    pub calls: Vec<Difference>,
    /// The classes without which other classes do not load.
    pub unloadable: Vec<Unloadable>,
}

/// The differences of a test on the other version. `calls` has its calls as they are written.
///
/// # Errors
///
/// Fails if the workers do.
pub fn differences(
    test: &Checked,
    calls: &[String],
    methods: &Methods,
    old: &mut Worker,
    new: &mut Worker,
) -> Result<Differences> {
    let mut sequence: Sequence = test.sequence.clone();
    sequence.iter_mut().for_each(|call| call.may_throw = true);
    let run = |worker: &mut Worker, sequence: &Sequence| -> Result<Option<Executed>> {
        worker.declare(methods)?;
        let executed = worker.execute(methods, std::slice::from_ref(sequence))?;
        Ok(executed.into_iter().next())
    };
    let (Some(before), Some(mut after)) = (run(old, &sequence)?, run(new, &sequence)?) else {
        return Ok(Differences::default());
    };
    let stuck = after.stuck.filter(|_| after.ended == Ended::TimedOut);
    if let Some(stuck) = stuck {
        // If a call does not end, nothing is reported of those before it.
        let until = sequence[..stuck.at.min(sequence.len())].to_vec();
        if let Some(again) = run(new, &until)? {
            after = again;
        }
    }
    let outcomes = before.outcomes.iter().zip(&after.outcomes);
    let mut ends: Vec<(Told, Told)> = (outcomes.zip(&sequence).zip(&test.assertions))
        .map(|(((one, other), call), asserted)| {
            let method = methods.get(call.method);
            let told = |worker, outcome| told(worker, outcome, (call, method), asserted.as_ref());
            (told(old, one), told(new, other))
        })
        .collect();
    if let Some(stuck) = stuck
        && ends.len() == stuck.at
        && let (Some(call), Some(one)) = (sequence.get(stuck.at), before.outcomes.get(stuck.at))
    {
        let method = methods.get(call.method);
        let asserted = test.assertions[stuck.at].as_ref();
        let endless = Told::new(How::Threw, "takes too long".to_owned());
        ends.push((told(old, one, (call, method), asserted), endless));
    }
    Ok(compare(test, calls, &ends))
}

/// The calls that end differently by themselves, given the ends on both versions.
fn compare(test: &Checked, calls: &[String], ends: &[(Told, Told)]) -> Differences {
    let mut found = Differences::default();
    // Objects that are not in the other version as they were: calls on them have no end of their
    // own.
    let mut gone = vec![false; test.sequence.len()];
    for (at, (one, other)) in ends.iter().enumerate() {
        let call = &test.sequence[at];
        let mut is_on_nothing =
            matches!(test.assertions[at], Some(Assertion::Same(var)) if gone[var]);
        call.vars(|var| is_on_nothing |= gone[var]);
        if is_on_nothing {
            gone[at] = true;
            // It has not affected others as it did.
            call.vars(|var| gone[var] = true);
            continue;
        }
        gone[at] = one.is_there && !other.is_there;
        if let Some(unloadable) = &other.unloadable
            && one != other
        {
            // Its effects are missing: no other end says anything from here on.
            if !found.unloadable.contains(unloadable) {
                found.unloadable.push(unloadable.clone());
            }
        } else if found.unloadable.is_empty() {
            // What is not asserted may differ from run to run. But how a call ends may not, nor
            // whether its result exists that others need.
            let is_used = || {
                let mut later = test.sequence[at + 1..].iter();
                later.any(|statement| statement.uses(|var| var == at))
            };
            let counts = one.differs(other, test.assertions[at].as_ref());
            if counts || one.ended != other.ended || gone[at] && is_used() {
                let (mut old, new) = side_by_side(&one.text, &other.text);
                let mut told = calls.get(at).cloned().unwrap_or_default();
                if let Some(constant) = &other.constant {
                    (told, old) = (constant.clone(), "is there".to_owned());
                }
                found.calls.push(Difference {
                    call: told,
                    old,
                    new,
                    is_missing: other.ended == How::Failed,
                    lacks: other.lacks.clone(),
                });
            }
        }
        // What follows cannot do what it did.
        if other.ended == How::Failed || found.calls.len() == MAX_TOLD {
            break;
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Returned,
    Threw,
    Failed,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    ended: How,
    text: String,
    /// Whether there is an object on which others can be called.
    is_there: bool,
    /// The class of its exception.
    thrown: Option<String>,
    /// A member that it needs and that is missing.
    lacks: Option<String>,
    /// The usual notation of that member, if it is a constant of an enum that the call is only
    /// passed.
    constant: Option<String>,
    /// A class that it needs and that cannot be loaded.
    unloadable: Option<Unloadable>,
}

impl Told {
    fn new(ended: How, text: String) -> Told {
        Told {
            is_there: ended == How::Returned,
            ended,
            text,
            thrown: None,
            lacks: None,
            constant: None,
            unloadable: None,
        }
    }

    /// Whether another end contradicts the assertion about this one.
    fn differs(&self, other: &Told, asserted: Option<&Assertion>) -> bool {
        match asserted {
            None => false,
            // Other texts of an object or exception need not be the same each time.
            Some(Assertion::NotNull) => self.is_there != other.is_there,
            Some(Assertion::Throws(_, None)) => self.thrown != other.thrown,
            Some(_) => self != other,
        }
    }
}

/// The end of a call with this assertion.
fn told(
    worker: &Worker,
    outcome: &Outcome,
    (call, method): (&Statement, &Method),
    asserted: Option<&Assertion>,
) -> Told {
    let simple = |class: &str| short_type(class).replace('$', ".");
    let returned = |text: String| Told::new(How::Returned, text);
    match outcome {
        Outcome::Void => returned("returns".to_owned()),
        // A different caller is not a change of the program.
        outcome if tells_caller(outcome) && !matches!(outcome, Outcome::Threw(..)) => {
            returned("a text".to_owned())
        }
        Outcome::Null => Told {
            is_there: false,
            ..returned("null".to_owned())
        },
        Outcome::Literal(literal) => returned(shown(literal, &method.types().1)),
        Outcome::Array(class, elements) => {
            let class = &worker.class(*class).name;
            let element = class.strip_prefix('[').unwrap_or_default();
            let elements = elements.iter().map(|one| shown(one, element));
            let elements: Vec<String> = elements.collect();
            returned(one_line(
                &format!("{{{}}}", elements.join(", ")),
                MAX_COMPARED,
            ))
        }
        Outcome::Object(_, _, Some(said)) if !matches!(asserted, Some(Assertion::Same(_))) => {
            returned(match said {
                Said::Size(size) => format!("of size {size}"),
                said => one_line(said.text(), MAX_COMPARED),
            })
        }
        Outcome::Object(class, same, _) => returned(match same {
            Some(_) => format!("the same {} as before", simple(&worker.class(*class).name)),
            None => format!("an object of {}", simple(&worker.class(*class).name)),
        }),
        Outcome::Threw(class, message, _) => {
            let class = worker.class(*class);
            let name = simple(&class.name);
            let said = message.as_deref().filter(|text| !names_caller(text));
            let said = said.map(|text| one_line(text, MAX_COMPARED));
            let text = match said {
                Some(said) => format!("throws {name}: {said}"),
                None => format!("throws {name}"),
            };
            let mut told = Told {
                thrown: Some(class.name.clone()),
                ..Told::new(How::Threw, text)
            };
            if class.is_a("java.lang.IncompatibleClassChangeError") {
                told.lacks.clone_from(message);
            } else if class.is_a("java.lang.LinkageError")
                && !class.is_a("java.lang.UnsatisfiedLinkError")
            {
                let message = message.as_deref().unwrap_or_default();
                told.unloadable = Some(Unloadable {
                    class: blamed(&name, message).unwrap_or_else(|| method.class.clone()),
                    why: match message.lines().next() {
                        Some(first) => format!("{name}: {}", one_line(first, 160)),
                        None => name,
                    },
                });
            }
            told
        }
        Outcome::Failed(reason) => {
            let reason = reason.as_str();
            let constant = reason
                .strip_prefix("java.lang.NoSuchFieldException: ")
                .and_then(|name| wanted(call, method, name));
            let missing = reason.strip_prefix("java.lang.NoSuchMethodException: ");
            let text = match missing {
                Some(missing) => match missing.strip_prefix("it is ") {
                    Some(now) => one_line(&format!("has another signature: {now}"), 200),
                    None => "is not there".to_owned(),
                },
                None if constant.is_some() => "is not there".to_owned(),
                None => one_line(&format!("cannot be called: {reason}"), 200),
            };
            let absent =
                (reason.strip_prefix("java.lang.ClassNotFoundException: ")).or_else(|| {
                    let ty = reason.strip_prefix("java.lang.TypeNotPresentException: Type ")?;
                    ty.strip_suffix(" not present")
                });
            let lacks =
                missing.map(|_| format!("{}.{}{}", method.class, method.name, method.descriptor));
            let constant = constant.as_ref();
            Told {
                lacks: lacks.or_else(|| constant.map(|(class, name)| format!("{class}.{name}"))),
                constant: constant
                    .map(|(class, name)| shown(&Literal::Enum(class.clone(), name.clone()), "")),
                unloadable: absent.map(|class| Unloadable {
                    class: class.to_owned(),
                    why: "is not there".to_owned(),
                }),
                ..Told::new(How::Failed, text)
            }
        }
    }
}

/// The constant of this name that a call reads, or is passed: its class, and the name.
fn wanted(call: &Statement, method: &Method, name: &str) -> Option<(String, String)> {
    fn passed(arg: &Arg, name: &str) -> Option<(String, String)> {
        match arg {
            Arg::Literal(Literal::Enum(class, own)) if own == name => {
                Some((class.clone(), own.clone()))
            }
            Arg::Array(_, elements) => elements.iter().find_map(|one| passed(one, name)),
            Arg::Lambda(lambda) => passed(lambda.value()?, name),
            Arg::Literal(_) | Arg::Var(_) => None,
        }
    }
    let is_read = method.is_constant() && method.name == name;
    let read = is_read.then(|| (method.class.clone(), method.name.clone()));
    read.or_else(|| call.args.iter().find_map(|arg| passed(arg, name)))
}

/// The class that a JVM does not load, according to the message of a `LinkageError`.
fn blamed(error: &str, message: &str) -> Option<String> {
    let behind = |words: &str| {
        let (_, rest) = message.split_once(words)?;
        Some(rest.trim_start())
    };
    let initialized = behind(NOT_INITIALIZED);
    let text = match error {
        "NoClassDefFoundError" => initialized.unwrap_or(message),
        "UnsupportedClassVersionError" => behind("not enabled for ").unwrap_or(message),
        "VerifyError" => behind("Location:").and_then(|rest| Some(rest.split_once('.')?.0))?,
        "ClassFormatError" => behind("class file ")?,
        _ => return None,
    };
    let name = text.split([' ', '\n', '(']).next()?;
    (!name.is_empty()).then(|| name.replace('/', "."))
}

/// A value of a type.
fn shown(value: &Literal, ty: &str) -> String {
    match value {
        Literal::Int(unit) if ty == "C" => literal::character(*unit as u16),
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(bits) => float(f32::from_bits(*bits)),
        Literal::Double(bits) => double(f64::from_bits(*bits)),
        Literal::Text(text) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            literal::string(&units).unwrap_or_default()
        }
        Literal::Units(units) => literal::string(units).unwrap_or_default(),
        Literal::Enum(class, name) => format!("{}.{name}", simple_name(class).replace('$', ".")),
        Literal::Class(name) => format!("{}.class", simple_name(name)),
        Literal::Box(_, text) | Literal::JdkValue(_, text) => one_line(text, 40),
    }
}

/// Two texts for people to compare; of long ones, the part around the first difference.
fn side_by_side(old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other);
    let same = same.count();
    let start = match old.len().max(new.len()) <= MAX_SHOWN || same < MAX_SHOWN / 2 {
        true => 0,
        false => same - MAX_SHOWN / 4,
    };
    let part = |text: &[char]| {
        let end = text.len().min(start + MAX_SHOWN);
        let before = if start > 0 { "..." } else { "" };
        let after = if end < text.len() { "..." } else { "" };
        let shown: String = text[start..end].iter().collect();
        format!("{before}{shown}{after}")
    };
    (part(&old), part(&new))
}
