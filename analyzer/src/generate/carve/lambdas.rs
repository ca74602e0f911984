//! Finds replacements for lambdas of a run.
//!
//! A reference to a method that any source can name is the same in a test, if the life then
//! proceeds as in the run. A test cannot name the code of a lambda, but the run has calls of it,
//! which show its results: mostly those within the call to which it is passed. A reference to
//! another method is taken to have returned what that call has returned; if that is nothing, as
//! with one that adds a listener, the next call of such code decides. From version 7 on, a trace
//! says which code belongs to which lambda. Whether the choice was right shows when the test
//! proceeds as the run.

use super::{End, Seen, Value};
use crate::classpath::FoundClass;
use crate::generate::lambda::{Functional, Given, Thrown, is_written_for};
use crate::generate::sequence::{Arg, Method, fresh};
use crate::java::descriptor;
use crate::model::values::Literal;
use hindsight_tracelog::trace::Datum;
use hindsight_tracelog::trace::dictionary::Code;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The most calls of code of lambdas that are kept.
const MAX_BODIES: usize = 1 << 16;
/// The most calls of one lambda that are kept.
const MAX_OF_ONE: usize = 200;
/// The most calls that are examined for one that was passed.
const MAX_LOOKED_AT: usize = 1000;
/// Stands for the number of a method that was not seen to run.
const NOT_SEEN: u32 = u32::MAX;

/// The lambdas of a run.
#[derive(Default)]
pub struct Lambdas {
    /// By serial, the class whose code has made each lambda, and the number of its own class.
    made: FxHashMap<u64, (Rc<str>, u32)>,
    makers: FxHashMap<u32, Rc<str>>,
    /// Other objects of classes that no test can name, which were passed where a lambda can be.
    hidden: FxHashSet<u64>,
    /// By descriptor, what is known about the types with which values were passed.
    functional: HashMap<String, Option<Functional>>,
    /// By class number, the code that lambdas run, if the trace has it.
    codes: FxHashMap<u32, Code>,
    /// By class number, the methods to which a test can refer instead.
    references: FxHashMap<u32, Option<Method>>,
    /// By the kinds of parameters and result, and the class that has made them: the classes of
    /// lambdas, in the order in which they were passed.
    passed: HashMap<(String, Rc<str>), Vec<u32>>,
    /// Once all are processed, the method of each lambda's code, if it is clear which is whose.
    code: FxHashMap<u32, u32>,
    /// The calls of their code, by its class, and in order of their beginning once all are
    /// processed.
    bodies: FxHashMap<Rc<str>, Vec<Body>>,
    /// The number of these calls.
    kept: usize,
    /// The number of calls of each method.
    counts: FxHashMap<u32, usize>,
}

/// A running call of a lambda's code.
pub(super) struct Begun {
    pub(super) entered: u64,
    /// The arguments with the indices of their parameters, the last of which are the lambda's own.
    pub(super) passed: Vec<(usize, Datum)>,
}

/// A call of a lambda's code.
struct Body {
    entered: u64,
    method: u32,
    /// The kinds of the parameters, which begin with the captured values, and of the result.
    kinds: String,
    /// The number of parameters behind the one that it has returned, if it has.
    passed_on: Option<usize>,
    end: End,
    /// The exception that it has thrown, if a test can make that.
    thrown: Option<Thrown>,
}

/// The class whose code has made a lambda, from the name of the lambda's class.
fn maker(class: &str) -> Option<&str> {
    Some(class.split_once("$$Lambda")?.0)
}

/// A letter for each type in a descriptor, the result's last. All objects have the same letter,
/// because what code captures and takes with a more specific type is of the same kind.
fn kinds(text: &str) -> String {
    let kind = |ty| match descriptor::is_primitive(ty) || ty == "V" {
        true => ty,
        false => "L",
    };
    let (types, result) = descriptor::split(text).unwrap_or_default();
    types.into_iter().chain([result]).map(kind).collect()
}

/// Whether a method is one that a compiler makes for a lambda.
pub(super) fn is_body(name: &str) -> bool {
    name.starts_with("lambda$")
}

/// The place of a lambda's code among those of its class.
pub(super) fn place(name: &str) -> Option<u32> {
    name.rsplit_once('$')?.1.parse().ok()
}

impl Lambdas {
    /// Whether a lambda can replace a value.
    pub(super) fn has(&self, value: &Value) -> bool {
        let is = |serial| self.made.contains_key(serial) || self.hidden.contains(serial);
        matches!(value, Value::Object(serial) if is(serial))
    }

    /// Adds an object, with its class and that class's number, and its code if it is a lambda.
    pub(super) fn take(&mut self, serial: u64, class: &str, number: u32, code: Option<&Code>) {
        if let Some(maker) = maker(class) {
            if let Some(code) = code {
                let known = self.codes.entry(number);
                known.or_insert_with(|| code.clone());
            }
            let known = self.makers.entry(number).or_insert_with(|| maker.into());
            self.made.insert(serial, (known.clone(), number));
        }
    }

    /// Notes that a value is passed as a type. `referred` returns the method to which a test can
    /// refer, by code and number of parameters; `is_hidden` says whether no test can name the
    /// value's class.
    pub(super) fn passed(
        &mut self,
        value: &Value,
        ty: &str,
        info: &dyn Fn(&str) -> Option<Rc<FoundClass>>,
        referred: &dyn Fn(&Code, usize) -> Option<Method>,
        is_hidden: &dyn Fn() -> bool,
    ) {
        let Value::Object(serial) = value else {
            return;
        };
        if !self.functional.contains_key(ty) {
            let class = descriptor::class_name(ty).filter(|class| is_written_for(class));
            let known = class.and_then(|class| Functional::of(&class, info));
            self.functional.insert(ty.to_owned(), known);
        }
        let Some(Some(known)) = self.functional.get(ty) else {
            return;
        };
        let Some((maker, number)) = self.made.get(serial) else {
            if !self.hidden.contains(serial) && is_hidden() {
                self.hidden.insert(*serial);
            }
            return;
        };
        if let Some(code) = self.codes.get(number) {
            let reference = self.references.entry(*number);
            reference.or_insert_with(|| referred(code, known.parameters()));
        }
        let key = (kinds(&known.descriptor), maker.clone());
        let passed = self.passed.entry(key).or_default();
        if !passed.contains(number) {
            passed.push(*number);
        }
    }

    /// Whether another call of a method would be kept.
    pub(super) fn is_kept(&mut self, method: u32) -> bool {
        let count = self.counts.entry(method).or_default();
        *count += 1;
        *count <= MAX_OF_ONE && self.kept < MAX_BODIES
    }

    /// Adds a call of a lambda's code, in a class.
    pub(super) fn ended(
        &mut self,
        begun: Begun,
        method: u32,
        (class, descriptor): (&str, &str),
        gave: Option<Datum>,
        (end, thrown): (End, Option<Thrown>),
    ) {
        let count = descriptor::split(descriptor).map_or(0, |(types, _)| types.len());
        let is_same = |(_, datum): &&(usize, Datum)| match (*datum, gave) {
            (Datum::Reference(Some(one)), Some(Datum::Reference(Some(other)))) => one == other,
            _ => false,
        };
        let passed_on = begun.passed.iter().rev().find(is_same);
        let passed_on = passed_on.and_then(|(at, _)| count.checked_sub(*at));
        let body = Body {
            entered: begun.entered,
            method,
            kinds: kinds(descriptor),
            passed_on,
            end,
            thrown,
        };
        self.kept += 1;
        self.bodies.entry(class.into()).or_default().push(body);
    }

    /// Called when all were added. The lambda of a method is known by its name if the trace has it.
    /// Otherwise compilers number the code of lambdas in the order in which they occur in a class;
    /// if as many were called as there are lambdas, these were passed in the same order.
    pub(super) fn finish(mut self, name: &dyn Fn(u32) -> Option<String>) -> Lambdas {
        for bodies in self.bodies.values_mut() {
            bodies.sort_by_key(|body| body.entered);
        }
        for (number, code) in &self.codes {
            let bodies = self.bodies.get(code.class.as_str()).into_iter().flatten();
            let mut methods = bodies.map(|body| body.method);
            let is = |method: &u32| name(*method).as_ref() == Some(&code.name);
            self.code
                .insert(*number, methods.find(is).unwrap_or(NOT_SEEN));
        }
        let place = |method| place(&name(method)?);
        for ((kinds, maker), numbers) in &self.passed {
            let bodies = self.bodies.get(maker).into_iter().flatten();
            let methods: BTreeSet<(Option<u32>, u32)> = bodies
                .filter(|body| body.is_of(kinds))
                .map(|body| (place(body.method), body.method))
                .collect();
            if methods.len() == numbers.len() {
                for (number, (_, method)) in numbers.iter().zip(methods) {
                    self.code.entry(*number).or_insert(method);
                }
            }
        }
        self
    }

    /// A value itself, if it is a lambda that a test can write as it was and has not got in another
    /// way.
    pub(super) fn reference(
        &self,
        value: &Value,
        ty: &str,
        vars: &HashMap<u64, usize>,
    ) -> Option<Arg> {
        let method = self.referred(value)?.clone();
        let is_there = matches!(value, Value::Object(serial) if vars.contains_key(serial));
        let known = self.functional(ty).filter(|_| !is_there)?;
        Some(known.giving(Given::Calls(method)))
    }

    /// The method that a test can write in place of a value that refers to it.
    pub(super) fn referred(&self, value: &Value) -> Option<&Method> {
        let Value::Object(serial) = value else {
            return None;
        };
        let (_, number) = self.made.get(serial)?;
        self.references.get(number)?.as_ref()
    }

    fn functional(&self, ty: &str) -> Option<&Functional> {
        self.functional.get(ty)?.as_ref()
    }

    /// What a test passes in place of a value, if that is a lambda, or a lambda can replace it; for
    /// one that `is_kept`, the code that seems to be its own says more than what the call has
    /// returned. `histories` has the calls of objects.
    pub(super) fn stand_in(
        &self,
        value: &Value,
        ty: &str,
        seen: &Seen,
        vars: &HashMap<u64, usize>,
        is_kept: bool,
        histories: &FxHashMap<u64, Vec<Rc<Seen>>>,
    ) -> Option<Arg> {
        let Value::Object(serial) = value else {
            return None;
        };
        // The test has the lambda itself, which one of its calls has returned.
        if vars.contains_key(serial) {
            return None;
        }
        let known = self.functional(ty)?;
        let gives = match self.made.get(serial) {
            Some((maker, number)) => self.gives((maker, *number), known, seen, vars, is_kept)?,
            None if self.hidden.contains(serial) => {
                let calls = histories.get(serial).into_iter().flatten();
                let mut asked = calls.filter(|call| {
                    call.on == Some(*serial)
                        && call.method.name == known.method
                        && call.entered > seen.entered
                });
                match asked.next() {
                    Some(call) => gave(call, known, vars)?,
                    // Calls within this one are not among its own.
                    None => self.gives((&Rc::from(""), NOT_SEEN), known, seen, vars, is_kept)?,
                }
            }
            None => return None,
        };
        Some(known.giving(gives))
    }

    fn gives(
        &self,
        (maker, number): (&Rc<str>, u32),
        known: &Functional,
        seen: &Seen,
        vars: &HashMap<u64, usize>,
        is_kept: bool,
    ) -> Option<Given> {
        let (types, result) = descriptor::split(&known.descriptor)?;
        let bodies = self.bodies.get(maker).map_or(&[][..], Vec::as_slice);
        let from = bodies.partition_point(|body| body.entered <= seen.entered);
        let code = self.code.get(&number);
        let kinds = kinds(&known.descriptor);
        let mut bodies = bodies[from..].iter().take(MAX_LOOKED_AT);
        let body =
            bodies.find(|body| code.is_none_or(|code| *code == body.method) && body.is_of(&kinds));
        // Other languages throw what they like.
        let thrown = body.and_then(|body| body.thrown.as_ref());
        let thrown = thrown.filter(|thrown| known.throws || !thrown.is_checked);
        if let (Some(thrown), true) = (thrown, code.is_some()) {
            return Some(Given::Throws(thrown.clone()));
        }
        if result == "V" {
            return Some(Given::Nothing);
        }
        if self.was_idle(maker, number) {
            return Some(Given::Value(Arg::Literal(unasked(result))));
        }
        let is_within = body.is_some_and(|body| body.entered < seen.left);
        let (_, returned) = seen.method.types();
        let is_primitive = descriptor::is_primitive(result);
        if let End::Returned(Some(Value::Literal(literal))) = &seen.end
            && !is_within
            && !(is_kept && body.is_some() && code.is_some())
            && match is_primitive {
                true => returned == result,
                false => !descriptor::is_primitive(&returned),
            }
        {
            return Some(Given::Value(Arg::Literal(literal.clone())));
        }
        if let Some(body) = body {
            let parameter = body
                .passed_on
                .and_then(|at| types.len().checked_sub(at + 1));
            return match (&body.end, parameter) {
                (End::Threw(_) | End::Returned(None), _) => None,
                (End::Returned(Some(Value::Literal(literal))), _) => {
                    Some(Given::Value(Arg::Literal(literal.clone())))
                }
                (_, Some(parameter)) => Some(Given::Parameter(parameter)),
                (End::Returned(Some(Value::Object(serial))), _) => Some(Given::Value(
                    vars.get(serial)
                        .map_or(Arg::Literal(Literal::Null), |var| Arg::Var(*var)),
                )),
                (End::Returned(Some(_)), _) => None,
            };
        }
        Some(match types.iter().position(|ty| *ty == result) {
            Some(at) if !is_primitive => Given::Parameter(at),
            _ => Given::Value(Arg::Literal(unasked(result))),
        })
    }

    /// Whether the code of a lambda is in a class of which other code has run, but not this.
    fn was_idle(&self, maker: &Rc<str>, number: u32) -> bool {
        let is_makers = |code: &Code| code.class == **maker && is_body(&code.name);
        self.codes.get(&number).is_some_and(is_makers)
            && self.code.get(&number) == Some(&NOT_SEEN)
            && self.bodies.contains_key(maker)
            && self.kept < MAX_BODIES
    }
}

/// What a lambda gives in the place of an object that was called so.
fn gave(call: &Seen, known: &Functional, vars: &HashMap<u64, usize>) -> Option<Given> {
    let (types, result) = descriptor::split(&known.descriptor)?;
    Some(match &call.end {
        End::Threw(_) => return None,
        End::Returned(_) if result == "V" => Given::Nothing,
        End::Returned(Some(Value::Literal(literal))) => Given::Value(Arg::Literal(literal.clone())),
        End::Returned(Some(value @ Value::Object(serial))) => {
            match call.args.iter().position(|arg| arg == value) {
                Some(at) if call.args.len() == types.len() => Given::Parameter(at),
                _ => Given::Value(Arg::Var(*vars.get(serial)?)),
            }
        }
        End::Returned(_) => return None,
    })
}

/// The result of a lambda of which nothing is known. An element that is asked for is usually there.
fn unasked(result: &str) -> Literal {
    match result {
        "Z" => Literal::Bool(true),
        _ => fresh(result),
    }
}

impl Body {
    /// Whether it may be the code of a lambda with these kinds of parameters and result.
    fn is_of(&self, kinds: &str) -> bool {
        self.kinds.ends_with(kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lambdas(bodies: Vec<(u64, &str, End)>) -> Lambdas {
        let known = |name: &str, descriptor: &str| Functional {
            interface: name.to_owned(),
            method: "on".to_owned(),
            descriptor: descriptor.to_owned(),
            variables: vec![None; 2],
            throws: false,
        };
        let mut all = Lambdas::default();
        all.take(7, "shop.Main$$Lambda/0x0000000001000c18", 1, None);
        all.take(8, "shop.Main", 2, None);
        all.take(5, "shop.Main$$Lambda/0x0000000001000c18", 1, None);
        for (name, descriptor) in [
            ("A", "(La/Event;)Z"),
            ("B", "(Ljava/lang/Object;)Ljava/lang/Object;"),
        ] {
            all.functional
                .insert(format!("L{name};"), Some(known(name, descriptor)));
        }
        for (entered, descriptor, end) in bodies {
            let begun = Begun {
                entered,
                passed: Vec::new(),
            };
            all.ended(
                begun,
                entered as u32,
                ("shop.Main", descriptor),
                None,
                (end, None),
            );
        }
        all.finish(&|method| Some(format!("lambda$main${method}")))
    }

    fn given(all: &Lambdas, serial: u64, ty: &str, seen: &Seen) -> Option<Given> {
        let vars = HashMap::from([(5, 3)]);
        let calls = FxHashMap::default();
        match all.stand_in(&Value::Object(serial), ty, seen, &vars, true, &calls)? {
            Arg::Lambda(lambda) => Some(lambda.gives),
            other => panic!("{other:?}"),
        }
    }

    fn returned(value: Value) -> End {
        End::Returned(Some(value))
    }

    #[test]
    fn lambdas_give_what_their_code_did() {
        let literal = |is| Value::Literal(Literal::Bool(is));
        let all = lambdas(vec![
            (9, "(La/Event;)Z", returned(literal(true))),
            (1, "(La/Event;)Z", returned(literal(true))),
            (3, "(I)Z", returned(literal(true))),
            // It has captured a number.
            (4, "(ILa/Event;)Z", returned(literal(false))),
            (
                5,
                "(Ljava/lang/String;)La/Order;",
                returned(Value::Object(5)),
            ),
        ]);
        let seen = Seen::of_end(End::Returned(None));
        let value = |literal| Some(Given::Value(Arg::Literal(literal)));
        assert_eq!(given(&all, 7, "LA;", &seen), value(Literal::Bool(false)));
        assert_eq!(
            given(&all, 7, "LB;", &seen),
            Some(Given::Value(Arg::Var(3)))
        );
        // It is not a lambda, nor passed with a type of lambdas.
        assert_eq!(given(&all, 8, "LA;", &seen), None);
        assert_eq!(given(&all, 7, "LC;", &seen), None);
        // The test has it.
        assert_eq!(given(&all, 5, "LA;", &seen), None);
    }

    /// As an object of an anonymous class: it gives what it did when it was called.
    #[test]
    fn what_no_test_can_name_has_a_lambda_in_its_place() {
        let mut all = lambdas(Vec::new());
        let value = Value::Object(20);
        all.passed(&value, "LA;", &|_| None, &|_, _| None, &|| true);
        let seen = Seen::of_end(End::Returned(None));
        let given = |calls: Vec<Seen>| {
            let calls = calls.into_iter().map(Rc::new).collect();
            let histories = FxHashMap::from_iter([(20, calls)]);
            let vars = HashMap::new();
            let arg = all.stand_in(&value, "LA;", &seen, &vars, false, &histories);
            arg.map(|arg| match arg {
                Arg::Lambda(lambda) => lambda.gives,
                other => panic!("{other:?}"),
            })
        };
        let asked = |end: End| {
            let mut call = Seen::of_end(end);
            call.on = Some(20);
            call.entered = seen.entered + 1;
            call.method.name = "on".to_owned();
            call
        };
        let value = |is| Some(Given::Value(Arg::Literal(Literal::Bool(is))));
        let gave = |is| returned(Value::Literal(Literal::Bool(is)));
        assert_eq!(
            given(vec![asked(gave(false)), asked(gave(true))]),
            value(false)
        );
        assert_eq!(given(Vec::new()), value(true));
        assert_eq!(given(vec![asked(End::Threw("a.B".to_owned()))]), None);
    }

    /// The second one that was passed is the one whose code comes second.
    #[test]
    fn lambdas_that_look_alike_are_told_apart() {
        let literal = |is| returned(Value::Literal(Literal::Bool(is)));
        let mut all = lambdas(vec![
            (4, "(La/Event;)Z", literal(true)),
            (5, "(La/Event;)Z", literal(false)),
        ]);
        all.take(9, "shop.Main$$Lambda/0x0000000001000e28", 3, None);
        for serial in [7, 9] {
            let value = Value::Object(serial);
            all.passed(&value, "LA;", &|_| None, &|_, _| None, &|| false);
        }
        let all = all.finish(&|method| Some(format!("lambda$main${method}")));
        let seen = Seen::of_end(End::Returned(None));
        for (serial, is) in [(7, true), (9, false)] {
            let value = Given::Value(Arg::Literal(Literal::Bool(is)));
            assert_eq!(given(&all, serial, "LA;", &seen), Some(value));
        }
        // A call that only keeps it returns something else.
        let mut keeps = Seen::of_end(literal(true));
        keeps.method.descriptor = "(LA;)Z".to_owned();
        let value = Given::Value(Arg::Literal(Literal::Bool(false)));
        assert_eq!(given(&all, 9, "LA;", &keeps), Some(value));
    }

    /// Of three with the same parameters and results, one was never called.
    #[test]
    fn code_that_the_trace_names_is_that_code() {
        let literal = |is| returned(Value::Literal(Literal::Bool(is)));
        let mut all = lambdas(vec![
            (4, "(La/Event;)Z", literal(true)),
            (5, "(La/Event;)Z", literal(false)),
        ]);
        let code = |name: &str| Code {
            class: "shop.Main".to_owned(),
            name: name.to_owned(),
            descriptor: "(La/Event;)Z".to_owned(),
        };
        let named = [(9, "lambda$main$5"), (10, "lambda$main$6"), (11, "is")];
        for (serial, name) in named {
            let class = format!("shop.Main$$Lambda/0x{serial}");
            all.take(serial, &class, serial as u32, Some(&code(name)));
            let is = Method {
                class: "shop.Main".to_owned(),
                name: name.to_owned(),
                descriptor: "(La/Event;)Z".to_owned(),
                is_static: true,
                runs: None,
            };
            let referred = |code: &Code, _| (code.name == "is").then(|| is.clone());
            let value = Value::Object(serial);
            all.passed(&value, "LA;", &|_| None, &referred, &|| false);
        }
        let all = all.finish(&|method| Some(format!("lambda$main${method}")));
        let seen = Seen::of_end(End::Returned(None));
        let value = |is| Some(Given::Value(Arg::Literal(Literal::Bool(is))));
        assert_eq!(given(&all, 9, "LA;", &seen), value(false));
        // Nothing is known about it, and an element that is asked for is usually there.
        assert_eq!(given(&all, 10, "LA;", &seen), value(true));
        let reference = |serial| {
            let arg = all.reference(&Value::Object(serial), "LA;", &HashMap::new())?;
            match arg {
                Arg::Lambda(lambda) => Some(lambda.gives),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(reference(10), None);
        let Some(Given::Calls(method)) = reference(11) else {
            panic!("no reference");
        };
        assert_eq!(method.name, "is");
    }

    #[test]
    fn references_give_what_the_call_did() {
        let all = lambdas(Vec::new());
        let text = Literal::Text("a".to_owned());
        let seen = Seen::of_end(returned(Value::Literal(text.clone())));
        assert_eq!(
            given(&all, 7, "LB;", &seen),
            Some(Given::Value(Arg::Literal(text)))
        );
        let mut seen = Seen::of_end(End::Returned(None));
        assert_eq!(given(&all, 7, "LB;", &seen), Some(Given::Parameter(0)));
        seen.method = Method {
            descriptor: "()V".to_owned(),
            ..seen.method
        };
        let yes = Given::Value(Arg::Literal(Literal::Bool(true)));
        assert_eq!(given(&all, 7, "LA;", &seen), Some(yes));
    }
}
