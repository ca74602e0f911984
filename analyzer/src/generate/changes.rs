//! What another version does otherwise: the calls of a test, executed on both.

use super::asserted::Checked;
use super::sequence::{Methods, Sequence};
use super::worker::{Executed, Outcome, Worker};
use crate::java::literal;
use crate::model::values::Literal;
use crate::text::{one_line, short_type, simple_name};
use anyhow::Result;

/// Calls of one test that are told.
const MAX_TOLD: usize = 20;

/// A call that ends otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// As the test has it.
    pub call: String,
    /// What came of it on the version that the tests are of,
    pub old: String,
    /// and on the other one.
    pub new: String,
    /// Whether it cannot be called there as it was compiled.
    pub is_missing: bool,
}

/// The calls of a test that end otherwise on the other version, in their order.
/// `calls` is how they are written.
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
) -> Result<Vec<Difference>> {
    let mut sequence: Sequence = test.sequence.clone();
    sequence.iter_mut().for_each(|call| call.may_throw = true);
    let run = |worker: &mut Worker| -> Result<Option<Executed>> {
        worker.declare(methods)?;
        let executed = worker.execute(methods, std::slice::from_ref(&sequence))?;
        Ok(executed.into_iter().next())
    };
    let (Some(before), Some(after)) = (run(old)?, run(new)?) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (at, (one, other)) in before.outcomes.iter().zip(&after.outcomes).enumerate() {
        let (one, other) = (told(old, one), told(new, other));
        // What is not asserted may differ from run to run, but how a call ends may not.
        let counts = test.assertions[at].is_some() || one.ended != other.ended;
        if counts && one != other {
            found.push(Difference {
                call: calls.get(at).cloned().unwrap_or_default(),
                old: one.text,
                new: other.text,
                is_missing: other.ended == How::Failed,
            });
        }
        // What follows cannot do what it did.
        if other.ended == How::Failed || found.len() == MAX_TOLD {
            break;
        }
    }
    Ok(found)
}

#[derive(Debug, PartialEq, Eq)]
enum How {
    Returned,
    Threw,
    Failed,
}

#[derive(Debug, PartialEq, Eq)]
struct Told {
    ended: How,
    text: String,
}

fn told(worker: &Worker, outcome: &Outcome) -> Told {
    let simple = |class: &str| short_type(class).replace('$', ".");
    let returned = |text: String| Told {
        ended: How::Returned,
        text,
    };
    match outcome {
        Outcome::Void => returned("returns".to_owned()),
        Outcome::Null => returned("null".to_owned()),
        Outcome::Literal(literal) => returned(shown(literal)),
        Outcome::Array(_, elements) => {
            let elements: Vec<String> = elements.iter().map(shown).collect();
            returned(one_line(&format!("{{{}}}", elements.join(", ")), 200))
        }
        Outcome::Object(_, _, Some(said)) => returned(one_line(said.text(), 200)),
        Outcome::Object(class, same, None) => returned(match same {
            Some(_) => format!("a known {}", simple(&worker.class(*class).name)),
            None => format!("an object of {}", simple(&worker.class(*class).name)),
        }),
        Outcome::Opaque => returned("a text".to_owned()),
        Outcome::Threw(class, message, _) => {
            let class = simple(&worker.class(*class).name);
            let message = message.as_deref().map(|text| one_line(text, 120));
            Told {
                ended: How::Threw,
                text: match message {
                    Some(message) => format!("throws {class}: {message}"),
                    None => format!("throws {class}"),
                },
            }
        }
        Outcome::Failed(reason) => Told {
            ended: How::Failed,
            text: match reason.strip_prefix("java.lang.NoSuchMethodException: ") {
                Some(missing) => match missing.strip_prefix("it is ") {
                    Some(now) => one_line(&format!("has another signature: {now}"), 200),
                    None => "is not there".to_owned(),
                },
                None => one_line(&format!("cannot be called: {reason}"), 200),
            },
        },
    }
}

fn shown(value: &Literal) -> String {
    match value {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        // With the sign of a zero.
        Literal::Float(bits) => format!("{:?}", f32::from_bits(*bits)),
        Literal::Double(bits) => format!("{:?}", f64::from_bits(*bits)),
        Literal::Text(text) => {
            let units: Vec<u16> = text.encode_utf16().take(200).collect();
            literal::string(&units).unwrap_or_default()
        }
        Literal::Enum(class, name) => format!("{}.{name}", simple_name(class).replace('$', ".")),
        Literal::Class(name) => format!("{}.class", simple_name(name)),
        Literal::Box(_, text) | Literal::JdkValue(_, text) => one_line(text, 40),
    }
}
