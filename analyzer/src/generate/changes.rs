//! Finds what another version does differently: the calls of a test, executed on both.

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

#[cfg(test)]
mod tests {
    use super::super::sequence::{Arg, MethodId, Statement};
    use super::*;

    fn calls(uses: &[Option<usize>]) -> Checked {
        let call = |on: &Option<usize>| Statement {
            method: MethodId(0),
            on: None,
            args: on.iter().map(|var| Arg::Var(*var)).collect(),
            may_throw: true,
            shown: false,
        };
        Checked {
            sequence: uses.iter().map(call).collect(),
            assertions: vec![Some(Assertion::Text("fine".to_owned())); uses.len()],
            kept: vec![true; uses.len()],
            fluent: Vec::new(),
            observers: 0,
            class: "A".to_owned(),
            whole: None,
        }
    }

    fn threw(text: &str) -> Told {
        Told::new(How::Threw, format!("throws {text}"))
    }

    fn found(test: &Checked, ends: &[(Told, Told)]) -> (Vec<usize>, Vec<String>) {
        let names: Vec<String> = (0..ends.len()).map(|at| at.to_string()).collect();
        let found = compare(test, &names, ends);
        let calls = found.calls.iter().map(|one| one.call.parse().unwrap_or(99));
        let classes = found.unloadable.into_iter().map(|one| one.class);
        (calls.collect(), classes.collect())
    }

    #[test]
    fn what_is_done_with_nothing_is_not_told() {
        let fine = || Told::new(How::Returned, "fine".to_owned());
        let null = Told {
            is_there: false,
            ..fine()
        };
        let npe = || threw("NullPointerException");
        let test = calls(&[None, Some(0), Some(1), None]);
        for first in [threw("IllegalStateException"), null] {
            let other = Told::new(How::Returned, "other".to_owned());
            let ends = [
                (fine(), first),
                (fine(), npe()),
                (fine(), npe()),
                (fine(), other),
            ];
            assert_eq!(found(&test, &ends), (vec![0, 3], vec![]));
            // What was to be the same object cannot be.
            let mut test = test.clone();
            test.assertions[0] = None;
            test.assertions[3] = Some(Assertion::Same(1));
            assert_eq!(found(&test, &ends), (vec![0], vec![]));
        }
        // What it was to change has not been changed.
        let test = calls(&[None, None, Some(0), Some(1)]);
        let mut both = test.clone();
        both.sequence[2].on = Some(1);
        let other = || Told::new(How::Returned, "other".to_owned());
        let ends = [
            (fine(), threw("IllegalStateException")),
            (fine(), fine()),
            (fine(), npe()),
            (fine(), other()),
        ];
        assert_eq!(found(&test, &ends), (vec![0, 3], vec![]));
        assert_eq!(found(&both, &ends), (vec![0], vec![]));
        // A call that threw before has left nothing either.
        let ends = [(npe(), npe()), (npe(), threw("Other"))];
        assert_eq!(found(&calls(&[None, Some(0)]), &ends), (vec![1], vec![]));
    }

    /// Only the class of an exception is asserted if there is a time in its message, and only that
    /// there is an object if its text differs each time.
    #[test]
    fn what_is_not_asserted_is_not_compared() {
        let closed = |class: &str, message: &str| Told {
            thrown: Some(class.to_owned()),
            ..threw(&format!("{class}: {message}"))
        };
        let mut test = calls(&[None]);
        let found = |test: &Checked, one, other| !found(test, &[(one, other)]).0.is_empty();
        for (asserted, is_told) in [(None, false), (Some("at 12:01".to_owned()), true)] {
            test.assertions[0] = Some(Assertion::Throws("Closed".to_owned(), asserted));
            let one = || closed("Closed", "at 12:01");
            assert_eq!(found(&test, one(), closed("Closed", "at 12:02")), is_told);
            assert!(found(&test, one(), closed("Other", "at 12:01")));
            assert!(found(&test, one(), Told::new(How::Returned, String::new())));
        }
        let says = |text: &str| Told::new(How::Returned, text.to_owned());
        let null = || Told {
            is_there: false,
            ..says("null")
        };
        test.assertions[0] = Some(Assertion::NotNull);
        assert!(!found(&test, says("at 12:01"), says("at 12:02")));
        assert!(found(&test, says("at 12:01"), null()));
        test.assertions[0] = Some(Assertion::Text("at 12:01".to_owned()));
        assert!(found(&test, says("at 12:01"), says("at 12:02")));
    }

    /// A constant that a call is passed is named itself, whatever is called.
    #[test]
    fn a_constant_that_is_gone_is_told_by_its_name() {
        let side = || Arg::Literal(Literal::Enum("shop.Side".to_owned(), "SELL".to_owned()));
        let mut method = Method {
            class: "shop.Order".to_owned(),
            name: "builder".to_owned(),
            descriptor: "(Lshop/Side;)V".to_owned(),
            is_static: true,
            runs: None,
        };
        let mut call = calls(&[None]).sequence.remove(0);
        assert_eq!(wanted(&call, &method, "SELL"), None);
        let array = Arg::Array("Lshop/Side;".to_owned(), vec![side()]);
        for args in [vec![side()], vec![array]] {
            call.args = args;
            let found = wanted(&call, &method, "SELL");
            assert_eq!(found, Some(("shop.Side".to_owned(), "SELL".to_owned())));
            assert_eq!(wanted(&call, &method, "BUY"), None);
        }
        call.args.clear();
        method.class = "shop.Side".to_owned();
        method.name = "BUY".to_owned();
        method.descriptor = "Lshop/Side;".to_owned();
        assert!(wanted(&call, &method, "BUY").is_some());
        let gone = Told {
            constant: Some("Side.SELL".to_owned()),
            lacks: Some("shop.Side.SELL".to_owned()),
            ..Told::new(How::Failed, "is not there".to_owned())
        };
        let ends = [(Told::new(How::Returned, "new".to_owned()), gone)];
        let found = compare(
            &calls(&[None]),
            &["Order.builder(Side.SELL)".to_owned()],
            &ends,
        );
        let [one] = &found.calls[..] else {
            panic!("{found:?}");
        };
        assert_eq!((&*one.call, &*one.new), ("Side.SELL", "is not there"));
        assert_eq!(one.lacks.as_deref(), Some("shop.Side.SELL"));
    }

    #[test]
    fn numbers_are_told_as_java_does() {
        for (number, told) in [
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (-0.0, "-0.0"),
            (1e300, "1.0E300"),
            (2.5e-7, "2.5E-7"),
        ] {
            assert_eq!(shown(&Literal::Double(number.to_bits()), "D"), told);
        }
        let infinity = Literal::Float(f32::INFINITY.to_bits());
        assert_eq!(shown(&infinity, "F"), "Infinity");
        let told = ["C", "I", "Ljava/lang/Object;"].map(|ty| shown(&Literal::Int(65), ty));
        assert_eq!(told, ["'A'", "65", "65"]);
    }

    #[test]
    fn long_texts_are_told_where_they_differ() {
        let told = |end: &str| {
            let text = Literal::Text(format!("{}{end}", "x".repeat(1500)));
            Told::new(How::Returned, shown(&text, "Ljava/lang/String;"))
        };
        let found = compare(&calls(&[None]), &[], &[(told("old"), told("new"))]);
        let [one] = &found.calls[..] else {
            panic!("{found:?}");
        };
        let same = format!("...{}", "x".repeat(50));
        assert_eq!(one.old, format!("{same}old\""));
        assert_eq!(one.new, format!("{same}new\""));
        let (old, new) = side_by_side(&"ab".repeat(200), "abc");
        assert_eq!(old, format!("{}...", "ab".repeat(100)));
        assert_eq!(new, "abc");
        let long = "y".repeat(180);
        let (old, new) = side_by_side(&long, &format!("{long}z"));
        assert_eq!((old, new), (long.clone(), format!("{long}z")));
        // One that ends before the other goes on.
        let (old, new) = side_by_side(&"y".repeat(300), &"y".repeat(301));
        assert_eq!(old, format!("...{}", "y".repeat(50)));
        assert_eq!(new, format!("...{}", "y".repeat(51)));
    }

    #[test]
    fn a_class_that_cannot_be_loaded_is_told_once() {
        let fine = || Told::new(How::Returned, "fine".to_owned());
        let unloadable = || Told {
            unloadable: Some(Unloadable {
                class: "a.B".to_owned(),
                why: "VerifyError".to_owned(),
            }),
            ..threw("VerifyError")
        };
        let ends = [
            (fine(), unloadable()),
            (fine(), threw("NullPointerException")),
            (fine(), unloadable()),
        ];
        let test = calls(&[None, Some(0), None]);
        assert_eq!(found(&test, &ends), (vec![], vec!["a.B".to_owned()]));
        // What cannot be loaded in either version has not changed.
        let ends = [(unloadable(), unloadable())];
        assert_eq!(found(&calls(&[None]), &ends), (vec![], vec![]));
    }

    #[test]
    fn classes_are_found_in_messages() {
        let class = |error, message| blamed(error, message);
        for (error, message) in [
            ("NoClassDefFoundError", "a/B"),
            ("NoClassDefFoundError", "a/B (wrong name: c/B)"),
            ("NoClassDefFoundError", "Could not initialize class a.B"),
            (
                "UnsupportedClassVersionError",
                "a/B has been compiled by a more recent version of the Java Runtime (class file version 99.0)",
            ),
            (
                "UnsupportedClassVersionError",
                "Preview features are not enabled for a/B (class file version 61.65535)",
            ),
            (
                "VerifyError",
                "Bad type on operand stack\nException Details:\n  Location:\n    a/B.one()V @1: areturn",
            ),
            (
                "ClassFormatError",
                "Incompatible magic value 0 in class file a/B",
            ),
        ] {
            assert_eq!(class(error, message).as_deref(), Some("a.B"), "{message}");
        }
        assert_eq!(class("ExceptionInInitializerError", ""), None);
    }
}
