//! Asks other objects than the one that a test concerns: what calls have done to the objects that
//! they were passed, and what the objects are of which nothing is known but that they exist.

use super::telling::is_empty;
use super::{MAX_TEXT, is_about, questions, words_called};
use crate::classpath::is_jdk;
use crate::generate::asserted::{
    Assertion, Checked, assertion, is_asked_of, is_said, is_whole, minimise,
};
use crate::generate::carve::Access;
use crate::generate::complete::{Wanted, agreed};
use crate::generate::lab::{Lab, Order, Side, State};
use crate::generate::sequence::{Arg, Method, Methods, Sequence, Statement};
use crate::generate::worker::{Executed, Outcome};
use crate::model::mutable::Mutability;
use std::slice;

/// The most objects that are asked.
const MAX_OTHERS: usize = 4;
/// The most questions to each that are tried.
const MAX_TRIED: usize = 12;
/// The most answers of each that are asserted.
const MAX_ANSWERS: usize = 2;

/// The questions to what has no text in the JDK, or one of an object that has none.
const OF_JDK: [(&str, &str); 2] = [
    ("java.util.Iterator", "hasNext"),
    ("java.util.Optional", "isPresent"),
];

/// An object to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Other {
    /// The call that has made it.
    var: usize,
    /// The first and the last call that may have changed it; none, if only its existence is known.
    changed: Option<(usize, usize)>,
}

/// Questions to an object that have been ordered.
struct Asked {
    other: Other,
    questions: Sequence,
    /// The number of calls before them.
    after: usize,
    here: Order,
    there: Order,
    /// The same before the first change, with the number of calls before it.
    before: Option<(usize, Order)>,
}

/// Adds questions to other objects, with their answers: to what calls have returned, at once; to
/// what they have changed, at the end, after those calls are removed that no assertion needs.
/// Returns the number of those that are asked at once, between the calls.
pub async fn ask_others(
    checked: &mut Checked,
    how: (&Wanted<'_>, &Access<'_>),
    lab: &Lab<'_>,
    state: State,
) -> usize {
    let (wanted, _) = how;
    let Some(mutability) = wanted.mutability else {
        return 0;
    };
    let found = |checked: &Checked, is_changed: bool| {
        let mut others = others(checked, mutability, &lab.methods());
        others.retain(|other| other.changed.is_some() == is_changed);
        others
    };
    let at_once = ask(checked, found(checked, false), how, lab, state).await;
    let inserted = at_once.len();
    for (question, answer, after) in at_once {
        checked.insert(after, question, answer);
    }
    if !found(checked, true).is_empty() {
        minimise(checked, lab, Side::Here, State::Left).await;
    }
    let mut last = ask(checked, found(checked, true), how, lab, state).await;
    last.reverse();
    for (question, answer, _) in last {
        checked.sequence.push(question);
        checked.assertions.push(Some(answer));
        checked.kept.push(true);
        checked.observers += 1;
    }
    inserted
}

/// The questions to objects with their answers, each with the number of calls before it; the last
/// come first.
async fn ask(
    checked: &Checked,
    others: Vec<Other>,
    (wanted, access): (&Wanted<'_>, &Access<'_>),
    lab: &Lab<'_>,
    state: State,
) -> Vec<(Statement, Assertion, usize)> {
    let mut all = Vec::new();
    if others.is_empty() {
        return all;
    }
    let made = lab.order(Side::Here, State::Left, &checked.sequence).await;
    let mut ordered = Vec::new();
    for other in others {
        let class = match made.outcomes.get(other.var) {
            Some(Outcome::Object(class, ..)) => lab.worker(Side::Here).class(*class).name.clone(),
            _ => continue,
        };
        let asking = asking(checked, other, &class, (wanted, access), &lab.methods());
        if ordered.len() < MAX_OTHERS && !asking.is_empty() {
            ordered.push(order(checked, other, asking, lab, state));
        }
    }
    for one in ordered.into_iter().rev() {
        let after = one.after;
        let answers = answers(checked, one, lab).await.into_iter().rev();
        all.extend(answers.map(|(question, answer)| (question, answer, after)));
    }
    all
}

/// The objects to be asked: those that calls may have changed, and those of which only the
/// existence is asserted. The object that the test concerns has been asked.
fn others(checked: &Checked, mutability: &Mutability, methods: &Methods) -> Vec<Other> {
    let mut others: Vec<Other> = Vec::new();
    let length = checked.calls().len();
    let asked = |var: usize| (checked.sequence[length..].iter()).any(|call| call.on == Some(var));
    for at in 0..length {
        let call = &checked.sequence[at];
        let method = methods.get(call.method);
        let told = checked.assertions[at].as_ref();
        let is_aside = matches!(told, Some(Assertion::Throws(..)));
        if !checked.kept[at] && (told.is_none() || is_aside) {
            continue;
        }
        if told == Some(&Assertion::NotNull) && !asked(at) {
            others.push(Other {
                var: at,
                changed: None,
            });
        }
        if method.is_constant() || is_jdk(&method.class) {
            continue;
        }
        let args = (1..)
            .zip(&call.args)
            .filter_map(|(position, arg)| match arg {
                Arg::Var(var) => Some((position, *var)),
                _ => None,
            });
        let met = call.on.map(|on| (0, on)).into_iter().chain(args);
        let changed = met.filter(|(position, _)| !method.leaves(mutability, *position));
        let changed: Vec<usize> = changed.map(|(_, var)| var).collect();
        // To an object that is only passed and stays as it is, the rest is of no concern.
        let is_own = |var: &usize| {
            let made = methods.get(checked.sequence[*var].method);
            made.gives().as_ref() == Some(&checked.class)
        };
        let concerns = method.class == checked.class || changed.iter().chain(&call.on).any(is_own);
        for var in changed.into_iter().filter(|_| concerns) {
            if asked(var) {
                continue;
            }
            match others.iter_mut().find(|other| other.var == var) {
                Some(other) => {
                    let (first, _) = other.changed.unwrap_or((at, at));
                    other.changed = Some((first, at));
                }
                None => others.push(Other {
                    var,
                    changed: Some((at, at)),
                }),
            }
        }
    }
    others
}

/// The questions to such an object of a class that the test has not asked already.
fn asking(
    checked: &Checked,
    other: Other,
    class: &str,
    (wanted, access): (&Wanted<'_>, &Access<'_>),
    methods: &Methods,
) -> Vec<Method> {
    let made = methods.get(checked.sequence[other.var].method);
    let (Some(mutability), Some(declared)) = (wanted.mutability, made.gives()) else {
        return Vec::new();
    };
    let of_jdk = OF_JDK.iter().find(|(class, _)| declared == *class);
    if let Some((class, name)) = of_jdk.filter(|_| other.changed.is_none()) {
        return vec![Method {
            class: (*class).to_owned(),
            name: (*name).to_owned(),
            descriptor: "()Z".to_owned(),
            is_static: false,
            runs: None,
        }];
    }
    let is_to_be_asked = access.is_own(class)
        && access.is_open(&declared)
        && access.is_a(class, &declared)
        && !access.is_enum(class)
        && !wanted.harmful.borrow().contains(class);
    if !is_to_be_asked {
        return Vec::new();
    }
    let since = other.changed.map_or(other.var, |(_, last)| last);
    let asking = questions(class, &declared, mutability, access).into_values();
    let asking = asking.filter(|method| {
        let mut later = checked.sequence[since + 1..].iter();
        !later.any(|call| is_asked_of(call, other.var, &method.name, methods))
    });
    asking.take(MAX_TRIED).collect()
}

/// Orders the answers of an object.
fn order(
    checked: &Checked,
    other: Other,
    asking: Vec<Method>,
    lab: &Lab<'_>,
    state: State,
) -> Asked {
    let asking = asking.into_iter().map(|method| Statement {
        method: lab.methods_mut().intern(method),
        on: Some(other.var),
        args: Vec::new(),
        may_throw: true,
        shown: true,
    });
    let questions: Sequence = asking.collect();
    let behind = |calls: usize| -> Sequence {
        let calls = checked.sequence[..calls].iter();
        calls.chain(&questions).cloned().collect()
    };
    let after = match other.changed {
        Some(_) => checked.sequence.len(),
        None => other.var + 1,
    };
    Asked {
        other,
        after,
        here: lab.order(Side::Here, State::Left, &behind(after)),
        there: lab.order(Side::There, state, &behind(after)),
        before: other.changed.map(|(first, _)| {
            let order = lab.order(Side::Here, State::Left, &behind(first));
            (first, order)
        }),
        questions,
    }
}

/// The answers of an object that say what calls have changed, or what it is.
async fn answers(checked: &Checked, asked: Asked, lab: &Lab<'_>) -> Vec<(Statement, Assertion)> {
    let Asked {
        other,
        questions,
        after,
        here,
        there,
        before,
    } = asked;
    let (here, there) = (here.await, there.await);
    let before = match before {
        Some((first, order)) => Some((first, order.await)),
        None => None,
    };
    let length = after + questions.len();
    let is_lost = |executed: &Executed, length: usize| !is_whole(executed, length);
    if is_lost(&here, length)
        || is_lost(&there, length)
        || (before.as_ref()).is_some_and(|(first, one)| is_lost(one, first + questions.len()))
    {
        return Vec::new();
    }
    let calls = checked.sequence[..after].iter();
    let sequence: Sequence = calls.chain(&questions).cloned().collect();
    let again = lab.again_if_hashed(&there, &sequence).await;
    let (worker, elsewhere) = (lab.worker(Side::Here), lab.worker(Side::There));
    let answer = |place: usize| {
        let at = after + place;
        let found = assertion(&worker, &here.outcomes[at])?;
        let found = agreed(found, assertion(&elsewhere, &there.outcomes[at])?)?;
        again.iter().try_fold(found, |found, one| {
            agreed(found, assertion(&worker, one.outcomes.get(at)?)?)
        })
    };
    let made = &checked.sequence[other.var];
    let methods = lab.methods();
    let tells = |place: usize, answer: &Assertion| match &before {
        Some((first, before)) => {
            assertion(&worker, &before.outcomes[first + place]).as_ref() != Some(answer)
        }
        None => {
            let is_of_jdk = is_jdk(&methods.get(questions[place].method).class);
            is_of_jdk || !is_empty(answer) || is_passed(answer, made)
        }
    };
    let name = |place: usize| &methods.get(questions[place].method).name;
    let called = words_called(slice::from_ref(made), &methods);
    let answers = (0..questions.len()).filter_map(|place| Some((place, answer(place)?)));
    let mut answers: Vec<(usize, Assertion)> = answers
        .filter(|(place, answer)| says(answer, other) && tells(*place, answer))
        .collect();
    answers.sort_by_key(|(place, answer)| {
        let is_long = answer.text().is_some_and(|text| text.len() > MAX_TEXT);
        let is_passed = is_passed(answer, made);
        (is_long, !is_passed, !is_about(name(*place), &called))
    });
    let answers = answers.into_iter().take(MAX_ANSWERS);
    let answers = answers.map(|(place, answer)| {
        let question = Statement {
            may_throw: false,
            shown: is_said(&answer),
            ..questions[place].clone()
        };
        (question, answer)
    });
    answers.collect()
}

/// Whether an answer is more than that there is an object, and does not only repeat another.
fn says(answer: &Assertion, other: Other) -> bool {
    match answer {
        Assertion::Equals(_)
        | Assertion::Array(_)
        | Assertion::Text(_)
        | Assertion::Elements(_) => true,
        // What one question has returned another may as well.
        Assertion::Same(same) => other.changed.is_none() && *same < other.var,
        Assertion::NotNull | Assertion::Size(_) | Assertion::Throws(..) => false,
    }
}

/// Whether an answer is what the call was passed that has made the object.
fn is_passed(answer: &Assertion, made: &Statement) -> bool {
    match answer {
        Assertion::Equals(literal) => made.args.contains(&Arg::Literal(literal.clone())),
        Assertion::Same(same) => made.args.contains(&Arg::Var(*same)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::values::Literal;
    use std::fs;

    /// A bank, two accounts and a transfer: the accounts may be changed, and the bank has been
    /// asked.
    #[test]
    fn what_a_call_may_change_is_asked() {
        let document = r#"{"schema": "hindsight.mutability/1", "methods": [
            {"class": "Bank", "method": "transfer", "descriptor": "(LAccount;LAccount;LMoney;)V",
             "parameters": [{"verdict": "mutable"}, {"verdict": "mutable"}, {"verdict": "mutable"}, {"verdict": "immutable"}]}]}"#;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mutability.json");
        fs::write(&file, document).unwrap();
        let mutability = Mutability::read(&file).unwrap();
        let mut methods = Methods::default();
        let mut call = |class: &str, name: &str, descriptor: &str, on, args: &[usize]| Statement {
            method: methods.intern(Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: false,
                runs: None,
            }),
            on,
            args: args.iter().map(|var| Arg::Var(*var)).collect(),
            may_throw: false,
            shown: false,
        };
        let sequence = vec![
            call("Bank", "<init>", "()V", None, &[]),
            call("Account", "<init>", "()V", None, &[]),
            call("Bank", "open", "()LAccount;", Some(0), &[]),
            call("Money", "<init>", "()V", None, &[]),
            call(
                "Bank",
                "transfer",
                "(LAccount;LAccount;LMoney;)V",
                Some(0),
                &[1, 2, 3],
            ),
            call("Bank", "size", "()I", Some(0), &[]),
        ];
        let mut checked = Checked {
            assertions: vec![None; sequence.len()],
            kept: vec![false; sequence.len()],
            fluent: vec![false; sequence.len()],
            sequence,
            observers: 1,
            class: "Bank".to_owned(),
            whole: None,
        };
        // Calls that only make what others need are of no interest.
        assert_eq!(others(&checked, &mutability, &methods), []);
        checked.kept[4] = true;
        let changed = |var| Other {
            var,
            changed: Some((4, 4)),
        };
        let found = others(&checked, &mutability, &methods);
        assert_eq!(found, [changed(1), changed(2)]);
        checked.class = "Account".to_owned();
        assert_eq!(others(&checked, &mutability, &methods).len(), 2);
        checked.class = "Money".to_owned();
        assert_eq!(others(&checked, &mutability, &methods), []);
        // Of what a call has returned, no more is known.
        checked.kept[4] = false;
        checked.assertions[2] = Some(Assertion::NotNull);
        let returned = Other {
            var: 2,
            changed: None,
        };
        assert_eq!(others(&checked, &mutability, &methods), [returned]);
    }

    #[test]
    fn what_is_asked_says_something() {
        let made = Statement {
            method: crate::generate::sequence::MethodId(0),
            on: None,
            args: vec![Arg::Literal(Literal::Text("".to_owned())), Arg::Var(1)],
            may_throw: false,
            shown: false,
        };
        let text = |text: &str| Assertion::Equals(Literal::Text(text.to_owned()));
        assert!(is_empty(&text("")) && is_passed(&text(""), &made));
        assert!(!is_empty(&text("a")) && !is_passed(&text("a"), &made));
        assert!(is_passed(&Assertion::Same(1), &made));
        let returned = Other {
            var: 2,
            changed: None,
        };
        assert!(says(&Assertion::Same(1), returned));
        assert!(!says(&Assertion::Same(3), returned));
        assert!(!says(&Assertion::NotNull, returned));
    }
}
