//! Ways to make an object of the program: constructors, [`factories`], builders ([`builder`]),
//! constants, and arrays whose elements are separate arguments ([`spread`]), each followed by
//! [`setters`], by copies with a change ([`withers`]) or by what fills the program's own
//! collections ([`own`]), if they are needed.
//!
//! These are proposals. [`super::trial`] finds out which of them give the recorded state.

mod builder;
mod factories;
mod own;
mod setters;
mod spread;
mod withers;

use super::effects::{FieldName, Symbol};
use super::library::{Library, is_usable};
use super::{THROWABLE, is_exception};
use crate::classinfo::{ClassInfo, Method};
use crate::graph::{FieldView, Graph, Typed};
use crate::java::descriptor;
use crate::java::names::is_identifier;
use crate::junit::candidate::source_name;
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Body, ClassKind, Constant, Value};

/// The most proposals for one object.
const MAX_RECIPES: usize = 36;
/// The most parameters of a constructor or factory.
const MAX_PARAMETERS: usize = 16;

/// The operation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Calls a constructor.
    New = 0,
    /// Calls a static method.
    Static = 1,
    /// Calls a method.
    Virtual = 2,
    /// Reads a static field.
    GetStatic = 3,
    /// Writes a field.
    PutField = 4,
    /// Reads a field.
    GetField = 5,
    /// Calls a method of its first argument, which is an object of the JDK.
    OfArgument = 6,
}

/// An argument of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A recorded value.
    Value(Typed),
    /// The result of an earlier step.
    Step(usize),
    /// Source code, with the descriptor of its type.
    Code(String, &'static str),
    /// The sum of constants that a class of the JDK names.
    Flags(&'static str, Vec<&'static str>),
}

/// One step of a recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// The class that it concerns.
    pub class: String,
    /// The name of the member.
    pub name: String,
    /// The member's descriptor.
    pub descriptor: String,
    /// The step on whose object it is called.
    pub on: Option<usize>,
    /// The field for which it is there; it is taken only if that differs otherwise.
    pub field: Option<FieldName>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The purpose of each argument, as a name.
    pub roles: Vec<String>,
    /// Whether the last parameter takes all further arguments.
    pub variadic: bool,
}

/// How to make an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The index of the step that gives the object.
    pub result: usize,
}

impl Recipe {
    /// The recipe without the steps that were found to be useless.
    pub fn only(&self, taken: &[usize]) -> Recipe {
        // A step that is left out passes on the object on which it would have been called.
        let mut place: Vec<usize> = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            if !taken.contains(&index) {
                place.push(step.on.map_or(0, |on| place[on]));
                continue;
            }
            let mut step = step.clone();
            step.on = step.on.map(|on| place[on]);
            for argument in &mut step.arguments {
                if let Argument::Step(of) = argument {
                    *of = place[*of];
                }
            }
            place.push(steps.len());
            steps.push(step);
        }
        Recipe {
            result: place[self.result],
            steps,
        }
    }

    /// Whether an object is an argument of the step that makes this one, or, if `then`, of a later
    /// one.
    pub fn takes(&self, object: u32, then: bool) -> bool {
        let steps = match then {
            true => &self.steps[self.result + 1..],
            false => &self.steps[..=self.result],
        };
        let given = |argument: &Argument| matches!(argument, Argument::Value(typed) if typed.value == Value::Ref(object));
        steps.iter().any(|step| step.arguments.iter().any(given))
    }

    /// Whether a later step is called on the result of this one.
    pub fn is_target(&self, step: usize) -> bool {
        self.steps.iter().any(|later| later.on == Some(step))
    }

    /// How much there is to read; less is better.
    pub fn cost(&self) -> usize {
        let arguments: usize = self.steps.iter().map(|step| step.arguments.len()).sum();
        let kind = match self.steps[0].operation {
            Operation::New => 0,
            Operation::Static if self.steps.len() == 1 => 1,
            _ => 2,
        };
        3 * self.steps.len() + arguments + kind
    }
}

/// Proposes recipes for an object of the program, for a test in `package`.
pub fn recipes(
    library: &Library<'_>,
    graph: &Graph<'_>,
    object: u32,
    package: &str,
) -> Vec<Recipe> {
    let Some(class) = graph.class(object) else {
        return Vec::new();
    };
    let known = matches!(class.kind, ClassKind::Class | ClassKind::Record);
    if !known || !matches!(graph.body(object), Some(Body::Instance(_))) {
        return Vec::new();
    }
    let Some(found) = library.info(&class.name) else {
        return Vec::new();
    };
    let Some(info) = &found.info else {
        return Vec::new();
    };
    let mut fields = graph.fields(object);
    for field in &mut fields {
        // Until it has a cause, an exception is its own.
        let own = field.info.owner == THROWABLE && field.value.value == Value::Ref(object);
        if own {
            field.value.value = Value::Null;
        }
    }
    // What was left out on purpose cannot be compared.
    let redacted = |field: &FieldView<'_>| {
        field.value.value == Value::Null && !matches!(field.value.kind, b'L' | b'[')
    };
    if fields.iter().any(redacted) {
        return Vec::new();
    }
    let proposer = Proposer {
        library,
        graph,
        object,
        package,
        info,
        fields,
    };
    // An object that a constant held is that constant, because programs compare it by identity.
    let mut held = graph.crash.failure.constants.iter();
    if let Some(constant) = held.find(|constant| constant.object == object) {
        return proposer.held(constant).into_iter().collect();
    }
    let mut recipes = proposer.constructed();
    recipes.extend(proposer.factories());
    let grown = proposer.grown(&recipes);
    let filled: Vec<Recipe> = recipes.iter().flat_map(|r| proposer.filled(r)).collect();
    recipes.extend(filled);
    recipes.extend(grown);
    recipes.extend(proposer.built());
    recipes.extend(proposer.changed_copies(&recipes));
    if recipes.is_empty() {
        recipes.extend(proposer.factories_elsewhere());
    }
    if is_exception(graph, object) {
        let suppressed = super::jdk::suppressed(graph, object).unwrap_or_default();
        for recipe in &mut recipes {
            let steps = suppressed
                .iter()
                .map(|one| suppressing(*one, recipe.result));
            recipe.steps.extend(steps.collect::<Vec<_>>());
        }
    }
    recipes.extend(proposer.constants());
    // Recipes with few arguments come first; one that fills collections has all steps of another
    // one as well.
    recipes.sort_by_key(|recipe| {
        let creating = recipe.steps.iter().filter(|step| step.field.is_none());
        let arguments = creating.map(|step| 1 + step.arguments.len()).sum::<usize>();
        (arguments, recipe.steps.len())
    });
    let mut known: Vec<Recipe> = Vec::new();
    recipes.retain(|recipe| {
        let new = !known.contains(recipe);
        known.extend(new.then(|| recipe.clone()));
        new
    });
    recipes.truncate(MAX_RECIPES);
    recipes.extend(proposer.spread());
    recipes
}

/// Adds a suppressed exception to an exception.
fn suppressing(one: Typed, on: usize) -> Step {
    Step {
        operation: Operation::Virtual,
        class: THROWABLE.to_owned(),
        name: "addSuppressed".to_owned(),
        descriptor: "(Ljava/lang/Throwable;)V".to_owned(),
        on: Some(on),
        field: Some(FieldName {
            owner: THROWABLE.to_owned(),
            name: "suppressedExceptions".to_owned(),
        }),
        arguments: vec![Argument::Value(one)],
        roles: vec![String::new()],
        variadic: false,
    }
}

/// Reads a static field.
fn read(class: &str, name: String, descriptor: String) -> Recipe {
    Recipe {
        steps: vec![Step {
            operation: Operation::GetStatic,
            class: class.to_owned(),
            name,
            descriptor,
            on: None,
            field: None,
            arguments: Vec::new(),
            roles: Vec::new(),
            variadic: false,
        }],
        result: 0,
    }
}

struct Proposer<'a> {
    library: &'a Library<'a>,
    graph: &'a Graph<'a>,
    object: u32,
    package: &'a str,
    info: &'a ClassInfo,
    fields: Vec<FieldView<'a>>,
}

impl Proposer<'_> {
    fn can_name(&self, class: &str) -> bool {
        source_name(self.library.classpath, class, self.package).is_some()
    }

    fn usable(&self, info: &ClassInfo, member: u16) -> bool {
        is_usable(info, member, self.package) && self.can_name(&info.name)
    }

    /// `new X(a, b)`, and setters for the rest.
    fn constructed(&self) -> Vec<Recipe> {
        self.constructed_of(|_, arguments| Some(arguments))
    }

    /// The calls of constructors with what `given` makes of the arguments that were found for each.
    fn constructed_of(
        &self,
        given: impl Fn(&Method, Vec<Argument>) -> Option<Vec<Argument>>,
    ) -> Vec<Recipe> {
        let info = self.info;
        if info.is(access::ABSTRACT | access::INTERFACE | access::ENUM) {
            return Vec::new();
        }
        let constructors = info.methods.iter().filter(|m| m.name == "<init>");
        let usable = constructors.filter(|method| self.usable(info, method.access));
        usable
            .filter_map(|method| {
                let writes = self
                    .library
                    .writes(&info.name, "<init>", &method.descriptor);
                let (arguments, roles) = self.arguments(&info.name, method, &writes)?;
                let step = Step {
                    operation: Operation::New,
                    ..call(&info.name, method, None, given(method, arguments)?, roles)
                };
                Some(self.with_setters(vec![step], 0))
            })
            .collect()
    }

    /// The recipe with steps that fill collections which the constructor makes.
    fn filled(&self, recipe: &Recipe) -> Vec<Recipe> {
        let fill = |own| {
            super::fill::filled(
                self.library,
                self.graph,
                &self.fields,
                self.package,
                recipe,
                own,
            )
        };
        let (own, target) = (fill(true), fill(false));
        let other = target.filter(|target| own.as_ref() != Some(target));
        own.into_iter().chain(other).collect()
    }

    /// The values of the fields after the constructor is called with `given`.
    fn made(&self, constructor: &str, given: &[Symbol]) -> Vec<(FieldName, Symbol)> {
        let writes = self.library.writes(&self.info.name, "<init>", constructor);
        let given = writes
            .iter()
            .map(|(field, value)| (field.clone(), value.given(given, &Symbol::Other)));
        given.collect()
    }

    /// `X.NONE`.
    fn constants(&self) -> Vec<Recipe> {
        let own = descriptor::of_class(&self.info.name);
        let fields = self.library.fields(&self.info.name);
        let constant = fields.into_iter().filter(|field| {
            field.access & access::STATIC != 0
                && field.access & access::FINAL != 0
                && field.descriptor == own
                && self.usable(self.info, field.access)
                && is_identifier(&field.name)
        });
        constant
            .map(|field| read(&self.info.name, field.name, field.descriptor))
            .collect()
    }

    /// The constant that has held the object, if the test may name it.
    fn held(&self, constant: &Constant) -> Option<Recipe> {
        let found = self.library.info(&constant.owner)?;
        let owner = found.info.as_ref()?;
        let fields = self.library.fields(&constant.owner);
        let field = fields.into_iter().find(|field| {
            field.name == constant.name
                && field.access & access::STATIC != 0
                && self.usable(owner, field.access)
                && is_identifier(&field.name)
        })?;
        Some(read(&constant.owner, field.name, field.descriptor))
    }

    /// The arguments for the parameters of a constructor or factory.
    fn arguments(
        &self,
        class: &str,
        method: &Method,
        writes: &[(FieldName, Symbol)],
    ) -> Option<(Vec<Argument>, Vec<String>)> {
        let (parameters, _) = descriptor::split(&method.descriptor)?;
        if parameters.len() > MAX_PARAMETERS {
            return None;
        }
        let body = self.library.body(class, &method.name, &method.descriptor);
        let names = body.map(|body| body.names.clone()).unwrap_or_default();
        let mut arguments = Vec::new();
        let mut roles = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let name = names.get(index).cloned().flatten().unwrap_or_default();
            let direct = Symbol::Parameter(index);
            let from = Symbol::From(Box::new(direct.clone()));
            let written = |wanted: &Symbol| {
                writes
                    .iter()
                    .filter(|(_, value)| value == wanted)
                    .find_map(|(field, _)| self.fields.iter().find(|view| is_field(field, view)))
                    .and_then(|view| Some((self.fit(view.value, parameter)?, view)))
            };
            // An array may have been made from its length, in one dimension or in several.
            let length = || {
                let sized = |view: &&FieldView<'_>| {
                    let mut written = writes.iter();
                    *parameter == "I"
                        && view.value.kind == b'['
                        && (view.info.descriptor.starts_with("[[")
                            || written
                                .any(|(field, value)| *value == from && is_field(field, view)))
                };
                let view = self.fields.iter().find(sized)?;
                let mut elements = self.graph.elements(reference(view.value)?)?;
                if view.info.descriptor.starts_with("[[") && parameters[..index].contains(&"I") {
                    elements = self.graph.elements(reference(*elements.first()?)?)?;
                }
                let length = elements.len() as i64;
                let length = Typed {
                    value: Value::Int(length),
                    kind: b'I',
                };
                Some((Argument::Value(length), view))
            };
            let by_name = || {
                let view = self.fields.iter().find(|view| view.info.name == name)?;
                Some((self.fit(view.value, parameter)?, view))
            };
            let by_type = || {
                let mut alike = self
                    .fields
                    .iter()
                    .filter(|view| view.info.descriptor == *parameter);
                let view = alike.next().filter(|_| alike.next().is_none())?;
                Some((self.fit(view.value, parameter)?, view))
            };
            let found = written(&direct)
                .or_else(|| written(&from))
                .or_else(length)
                .or_else(by_name)
                .or_else(by_type);
            let role = |view: &FieldView<'_>| match name.is_empty() {
                true => view.info.name.clone(),
                false => name.clone(),
            };
            match found {
                Some((argument, view)) => {
                    roles.push(role(view));
                    arguments.push(argument);
                }
                None => {
                    roles.push(name);
                    arguments.push(Argument::Value(Typed::zero(parameter)));
                }
            }
        }
        Some((arguments, roles))
    }

    /// A field's value as an argument for a parameter of this type.
    fn fit(&self, value: Typed, parameter: &str) -> Option<Argument> {
        let is_a = || super::fill::is_a(self.library, self.graph, value, parameter);
        fit(self.graph, value, parameter).filter(|_| is_a())
    }
}

fn reference(typed: Typed) -> Option<u32> {
    match typed.value {
        Value::Ref(object) => Some(object),
        _ => None,
    }
}

/// A call whose purpose is not known yet.
fn call(
    class: &str,
    method: &Method,
    on: Option<usize>,
    arguments: Vec<Argument>,
    roles: Vec<String>,
) -> Step {
    Step {
        operation: Operation::Virtual,
        class: class.to_owned(),
        name: method.name.clone(),
        descriptor: method.descriptor.clone(),
        on,
        field: None,
        arguments,
        roles,
        variadic: false,
    }
}

fn name_of(field: &FieldView<'_>) -> FieldName {
    FieldName {
        owner: field.info.owner.clone(),
        name: field.info.name.clone(),
    }
}

/// Whether code means this recorded field. It may name a subclass of the declaring class, so the
/// name decides.
fn is_field(named: &FieldName, field: &FieldView<'_>) -> bool {
    named.name == field.info.name
}

/// Whether a value is the default of fields and elements.
pub fn is_zero(typed: Typed) -> bool {
    match typed.value {
        Value::Null | Value::Int(0) | Value::Bool(false) => true,
        Value::Float(value) => value.to_bits() == 0,
        Value::Double(value) => value.to_bits() == 0,
        _ => false,
    }
}

/// A value as an argument for a parameter of this type; `None` if it cannot be one.
pub fn fit(graph: &Graph<'_>, value: Typed, parameter: &str) -> Option<Argument> {
    let kind = parameter.as_bytes().first().copied()?;
    let primitive = !matches!(kind, b'L' | b'[');
    if let Value::Ref(object) = value.value {
        if primitive {
            return fit(graph, crate::views::unboxed(graph, object)?, parameter);
        }
        let class = graph.class_name(object);
        let fits = match graph.body(object)? {
            Body::Hole(_) => graph.standing(object).is_some() && kind != b'[',
            Body::String(_) => matches!(
                parameter,
                "Ljava/lang/String;"
                    | "Ljava/lang/Object;"
                    | "Ljava/lang/CharSequence;"
                    | "Ljava/lang/Comparable;"
                    | "Ljava/io/Serializable;"
            ),
            _ => kind != b'[' || class.starts_with('['),
        };
        return fits.then_some(Argument::Value(value));
    }
    let given = !matches!(value.kind, b'L' | b'[');
    if !primitive {
        let boxes = matches!(
            (value.kind, parameter),
            (b'Z', "Ljava/lang/Boolean;")
                | (b'I', "Ljava/lang/Integer;")
                | (b'J', "Ljava/lang/Long;")
                | (b'C', "Ljava/lang/Character;")
                | (b'D', "Ljava/lang/Double;")
                | (b'F', "Ljava/lang/Float;")
        );
        return (!given || boxes).then_some(Argument::Value(value));
    }
    let same = value.kind == kind;
    let widened = match (value.value, kind) {
        (Value::Int(number), b'I') => i32::try_from(number).is_ok(),
        (Value::Int(number), b'B') => i8::try_from(number).is_ok(),
        (Value::Int(number), b'S') => i16::try_from(number).is_ok(),
        (Value::Int(number), b'C') => u16::try_from(number).is_ok(),
        (Value::Int(_), b'J') => true,
        _ => false,
    };
    (given && value.value != Value::Null && (same || widened)).then_some(Argument::Value(Typed {
        value: value.value,
        kind,
    }))
}
