//! Makes values in tests by constructors, setters, factories and the JDK's API, so that a test
//! reads as if a person had written it.
//!
//! 1. [`effects`] analyses what constructors do with their parameters, for [`library`], which reads
//!    all classes of the class path.
//! 2. [`recipe`] proposes ways to make an object of the program, with [`fill`] for collections in
//!    it, [`gaps`] for what other objects fill, [`jdk`] for objects of the JDK.
//! 3. [`trial`] runs the proposals in a child JVM, which compares the results with the recorded
//!    object; [`Recipes`] keeps the best that gives the same.
//! 4. [`render`] writes the statements; [`uses`] determines what is shared. The values of each test
//!    are compared once more as a whole, after they are compiled ([`check`]).
//!
//! **Invariant:** a value that was built is the same graph as the recorded one,
//! by a comparison in a JVM, or the test loads it.

pub mod effects;
pub mod fill;
pub mod gaps;
pub mod jdk;
pub mod library;
pub mod recipe;
pub mod render;
pub mod trial;
mod uses;

use super::candidate::{Candidate, Plan};
use super::compile::Workplace;
use super::{Options, Result, caught};
use crate::graph::{Graph, Typed};
use crate::views::{View, view};
use gaps::{Gap, Links};
use hindsight_tracelog::crash::{Body, Frame, Value};
use library::Library;
use recipe::{Operation, Recipe, Step};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use trial::{Pack, Tried};

/// The most objects of one frame for which recipes are tried, the nearest first.
const MAX_OBJECTS: usize = 100;
/// The most objects that are examined to find them.
const MAX_SEEN: usize = 600;
/// The most recipes that are tried in all.
const MAX_TRIALS: usize = 6000;
/// The most elements of arrays and collections that are followed.
const MAX_ELEMENTS: usize = 32;
/// The class that declares the message and the cause of exceptions.
const THROWABLE: &str = "java.lang.Throwable";
/// The most objects of one test that are loaded after a comparison of whole values, which is then
/// repeated.
const MAX_LOADED: usize = 8;

/// An object in the state in which a frame found it, and the package from which
/// it is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    crash: usize,
    object: u32,
    /// The object's own fields with the frame's patch applied.
    patch: String,
    package: String,
}

/// A recipe that was found to give the recorded state.
#[derive(Debug, Clone)]
pub struct Found {
    /// How to make the object.
    pub recipe: Recipe,
    /// The fields that other objects must fill then.
    pub gaps: Vec<Gap>,
    /// The objects to which it adds itself.
    adds_to: Vec<u32>,
    /// Whether it was found to leave its arguments as they were recorded.
    exact: bool,
}

/// The recipes that were found to give the recorded state.
#[derive(Debug, Default)]
pub struct Recipes {
    found: HashMap<Key, Found>,
}

impl Recipes {
    /// The best recipe for an object as `frame` found it.
    pub fn get(&self, crash: usize, frame: &Frame, object: u32, package: &str) -> Option<&Found> {
        self.found.get(&key(crash, frame, object, package))
    }

    /// Leaves open what the makers of other objects fill in any case.
    fn prefer_open(&mut self, open: Vec<(Key, Found)>) {
        for (key, found) in open {
            let adds_itself = |object: &u32| {
                let mut all = self.found.iter();
                all.any(|(other, known)| {
                    other.object == *object
                        && other.crash == key.crash
                        && other.package == key.package
                        && known.adds_to.contains(&key.object)
                })
            };
            if found.gaps.iter().flat_map(|gap| &gap.by).all(adds_itself) {
                self.found.insert(key, found);
            }
        }
    }
}

fn key(crash: usize, frame: &Frame, object: u32, package: &str) -> Key {
    let own = frame.patch.iter().filter(|patch| patch.object == object);
    let patch: Vec<String> = own
        .map(|patch| format!("{}.{}={:?}", patch.owner, patch.field, patch.value))
        .collect();
    Key {
        crash,
        object,
        patch: patch.join(","),
        package: package.to_owned(),
    }
}

/// Finds recipes for the objects of all candidates whose values are to be built.
///
/// # Errors
///
/// Fails if no JVM can be started.
pub fn find(
    plan: &Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<Recipes> {
    let mut proposals: Vec<(Key, Recipe, Rc<[Gap]>)> = Vec::new();
    let mut trials = Vec::new();
    let mut known = HashSet::new();
    for &index in candidates {
        let candidate = &plan.candidates[index];
        let frame = plan.frame(candidate);
        let class = &plan.classes[candidate.class];
        let crash = &plan.inputs[candidate.crash].crash;
        let graph = Graph::at_entry(crash, frame);
        // A test that makes the thrown exception would only throw that: see `Outcome::restored`.
        let thrown = |class: &str| (crash.failure.exceptions.iter()).any(|one| one.class == class);
        let mut objects = caught(|| objects(&graph, frame));
        objects.retain(|object| !thrown(graph.class_name(*object)));
        let links = caught(|| Links::of(&graph, &objects));
        for object in objects {
            let key = key(candidate.crash, frame, object, &class.package);
            if trials.len() >= MAX_TRIALS || !known.insert(key.clone()) {
                continue;
            }
            let gaps: Rc<[Gap]> = caught(|| links.gaps(&graph, object)).into();
            let open: Vec<Pack> = gaps.iter().map(|gap| Pack::Text(gap.name())).collect();
            let found = caught(|| recipe::recipes(&plan.library, &graph, object, &class.package));
            for recipe in found {
                trials.push(Pack::List(vec![
                    crash_file(plan, candidate.crash, place),
                    Pack::Int(candidate.frame as i64),
                    Pack::Int(i64::from(object)),
                    Pack::Int(recipe.result as i64),
                    trial::pack(&recipe),
                    Pack::List(open.clone()),
                ]));
                proposals.push((key.clone(), recipe, gaps.clone()));
            }
        }
    }
    let mut recipes = Recipes::default();
    let mut open: Vec<(Key, Found)> = Vec::new();
    let tried = trial::run(place, options, "recipes", &trials)?;
    for (number, (key, recipe, gaps)) in proposals.into_iter().enumerate() {
        let Some(Tried::Same(how)) = tried.get(&number) else {
            continue;
        };
        let left = gaps.iter().filter(|gap| how.open.contains(&gap.name()));
        let found = Found {
            recipe: recipe.only(&how.steps),
            gaps: left.cloned().collect(),
            adds_to: how.adds_to.clone(),
            exact: how.exact,
        };
        if !found.gaps.is_empty() {
            match open.iter_mut().find(|(known, _)| *known == key) {
                Some((_, best)) if is_better(&plan.library, &found, best) => {
                    *best = found.clone();
                }
                Some(_) => {}
                None => open.push((key.clone(), found.clone())),
            }
        }
        match recipes.found.get(&key) {
            Some(best) if !is_better(&plan.library, &found, best) => {}
            _ => {
                recipes.found.insert(key, found);
            }
        }
    }
    recipes.prefer_open(open);
    Ok(recipes)
}

/// The path of a crash file. It is beside each of its test classes; the first one is used, so that
/// it is read once.
fn crash_file(plan: &Plan<'_>, crash: usize, place: &Workplace<'_>) -> Pack {
    let mut classes = plan.classes.iter().filter(|class| class.crash == crash);
    let file = classes.next().map(|class| place.resource(class));
    Pack::Text(file.unwrap_or_default().display().to_string())
}

/// Whether one recipe is better for an object than another.
fn is_better(library: &Library<'_>, found: &Found, known: &Found) -> bool {
    if found.gaps.len() != known.gaps.len() {
        return found.gaps.len() < known.gaps.len();
    }
    if found.exact != known.exact {
        return found.exact;
    }
    let (recipe, other) = (&found.recipe, &known.recipe);
    may_share(library, recipe, other)
        || recipe.cost() < other.cost() && !may_share(library, other, recipe)
}

/// Whether a recipe calls a factory with what another one passes to a constructor, and the factory
/// does more than call it: it may return an earlier object, and programs compare that by identity.
fn may_share(library: &Library<'_>, recipe: &Recipe, constructed: &Recipe) -> bool {
    let ([factory], [constructor]) = (&recipe.steps[..], &constructed.steps[..]) else {
        return false;
    };
    let Step {
        class,
        name,
        descriptor,
        ..
    } = factory;
    factory.operation == Operation::Static
        && constructor.operation == Operation::New
        && factory.arguments == constructor.arguments
        && !factory.arguments.is_empty()
        && (library.returns_new(class, name, descriptor, class)).is_none()
}

/// The objects of the program that the frame's arguments lead to, nearest first.
fn objects(graph: &Graph<'_>, frame: &Frame) -> Vec<u32> {
    let arguments = frame.arguments.iter().map(|argument| argument.value);
    let mut waiting: VecDeque<Value> = arguments.collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while let Some(value) = waiting.pop_front() {
        let Value::Ref(object) = value else { continue };
        if found.len() >= MAX_OBJECTS || seen.len() >= MAX_SEEN || !seen.insert(object) {
            continue;
        }
        if crate::classpath::is_platform(graph.class_name(object)) {
            waiting.extend(parts(graph, object));
            continue;
        }
        match graph.body(object) {
            Some(Body::Instance(_)) => {
                found.push(object);
                let fields = graph.fields(object);
                waiting.extend(fields.iter().map(|field| field.value.value));
            }
            Some(Body::References(values)) => {
                waiting.extend(values.iter().take(MAX_ELEMENTS).copied());
            }
            Some(Body::Lambda(lambda)) => {
                waiting.extend(lambda.captured.iter().map(|(_, value)| *value));
            }
            _ => {}
        }
    }
    found
}

/// The parts of a JDK object, as far as tests would write them.
fn parts(graph: &Graph<'_>, object: u32) -> Vec<Value> {
    let typed: Vec<Typed> = match (view(graph, object), graph.body(object)) {
        (Some(View::List(elements)), _) => elements,
        (Some(View::Map(entries)), _) => entries
            .into_iter()
            .flat_map(|(key, value)| [key, value])
            .collect(),
        (None, Some(Body::Instance(_))) if is_exception(graph, object) => {
            let suppressed = jdk::suppressed(graph, object).unwrap_or_default();
            let cause = graph.field(object, "cause");
            cause.into_iter().chain(suppressed).collect()
        }
        (None, Some(Body::References(_))) => graph.elements(object).unwrap_or_default(),
        _ => Vec::new(),
    };
    let values = typed.into_iter().take(MAX_ELEMENTS);
    values.map(|typed| typed.value).collect()
}

/// Whether an object is a `Throwable`.
fn is_exception(graph: &Graph<'_>, object: u32) -> bool {
    let class = graph.class(object);
    class.is_some_and(|class| {
        let mut above = class.supers.iter();
        class.name == THROWABLE || above.any(|above| above == THROWABLE)
    })
}

/// The objects to be loaded in place of one that is not the same: itself, and for a JDK object also
/// those of the program that have filled it.
fn holders(graph: &Graph<'_>, frame: &Frame, object: u32) -> Vec<u32> {
    let mut holders = vec![object];
    if crate::classpath::is_platform(graph.class_name(object)) {
        let holds = |of_program: &u32| {
            let fields = graph.fields(*of_program);
            let mut waiting: Vec<Value> = fields.iter().map(|field| field.value.value).collect();
            let mut seen = HashSet::new();
            while let Some(value) = waiting.pop() {
                let Value::Ref(held) = value else { continue };
                if held == object {
                    return true;
                }
                let new = seen.len() < MAX_SEEN && seen.insert(held);
                if new && crate::classpath::is_platform(graph.class_name(held)) {
                    waiting.extend(parts(graph, held));
                }
            }
            false
        };
        holders.extend(objects(graph, frame).into_iter().filter(holds));
    }
    holders
}

/// Compares the values of compiled tests with the recorded ones. Objects that
/// are not the same are marked, so that they are loaded the next time.
///
/// Returns the candidates that have to be written anew.
///
/// # Errors
///
/// Fails if no JVM can be started.
pub fn check(
    plan: &mut Plan<'_>,
    candidates: &[usize],
    place: &Workplace<'_>,
    options: &Options,
) -> Result<Vec<usize>> {
    let built: Vec<usize> = candidates
        .iter()
        .copied()
        .filter(|&index| plan.candidates[index].simplified && !plan.candidates[index].checked)
        .collect();
    let trials: Vec<Pack> = built
        .iter()
        .map(|&index| {
            let candidate = &plan.candidates[index];
            Pack::List(vec![
                Pack::Text(plan.classes[candidate.class].full_name()),
                Pack::Text(values_method(candidate)),
                crash_file(plan, candidate.crash, place),
                Pack::Int(candidate.frame as i64),
            ])
        })
        .collect();
    let tried = trial::run(place, options, "values", &trials)?;
    let mut again = Vec::new();
    for (number, index) in built.into_iter().enumerate() {
        let holders = match tried.get(&number) {
            Some(Tried::Different(Some(object), _)) => {
                let candidate = &plan.candidates[index];
                let crash = &plan.inputs[candidate.crash].crash;
                let frame = plan.frame(candidate);
                caught(|| holders(&Graph::at_entry(crash, frame), frame, *object))
            }
            _ => Vec::new(),
        };
        let candidate = &mut plan.candidates[index];
        match tried.get(&number) {
            Some(Tried::Same(..)) => {
                candidate.checked = true;
                continue;
            }
            Some(Tried::Different(Some(_), _))
                if candidate.loaded.len() < MAX_LOADED
                    && holders
                        .iter()
                        .any(|object| !candidate.loaded.contains(object)) =>
            {
                candidate.loaded.extend(holders);
            }
            _ => candidate.built = false,
        }
        candidate.simplified = false;
        again.push(index);
    }
    Ok(again)
}

/// The name of the method of a test class that returns a test's values.
pub fn values_method(candidate: &Candidate) -> String {
    format!("valuesOf_{}", candidate.name)
}
