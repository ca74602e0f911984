//! Origins of names that compilers have numbered.
//!
//! Tests name lambdas' methods and anonymous classes, and so do their crash files. After an edit of
//! the program the number may belong to another one. So before anything is written, the replay
//! library, which will have to find them again, is asked for what identifies them (its `Numbered`).
//! Calls by name and crash files then contain that.

use super::Options;
use super::Result;
use super::build::trial::{self, Pack};
use super::candidate::{Plan, State};
use super::compile::Workplace;
use crate::classpath::is_jdk;
use crate::java::numbered::{is_class, is_method};
use crate::text::element_class;
use hindsight_tracelog::crash::{Body, ClassKind, Frame, Lambda, Origin};
use hindsight_tracelog::reader::Crash;
use hindsight_tracelog::writer;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Names with their origins, by recorded names as [`Origin::name`] has them.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    found: BTreeMap<String, String>,
}

impl Origins {
    /// The name by which a test names a class.
    pub fn class<'s>(&'s self, class: &'s str) -> &'s str {
        self.found.get(class).map_or(class, String::as_str)
    }

    /// The name by which a test names a frame's method.
    pub fn method<'s>(&'s self, frame: &'s Frame) -> &'s str {
        let name = method(&frame.class, &frame.method, &frame.descriptor);
        self.found.get(&name).unwrap_or(&frame.method)
    }

    /// The name by which a test names the method behind a lambda.
    pub fn behind<'s>(&'s self, lambda: &'s Lambda) -> &'s str {
        let name = method(&lambda.class, &lambda.method, &lambda.descriptor);
        self.found.get(&name).unwrap_or(&lambda.method)
    }

    /// The bytes of a crash file with these origins, and with the classes that could not be
    /// restored if these are known.
    pub fn added<'a>(&self, file: &'a [u8], unrestored: Option<&[String]>) -> Cow<'a, [u8]> {
        if self.found.is_empty() && unrestored.is_none() {
            return file.into();
        }
        let origins = self.found.iter().map(|(name, found)| Origin {
            name: name.clone(),
            found: found.clone(),
        });
        let origins: Vec<Origin> = origins.collect();
        let added = writer::for_tests(file, &origins, unrestored);
        added.map_or(file.into(), Cow::from)
    }
}

/// The key of a method among the origins.
fn method(class: &str, method: &str, descriptor: &str) -> String {
    format!("{class}.{method}{descriptor}")
}

/// Finds the origins of all numbered names in the crashes that have candidates.
///
/// # Errors
///
/// Fails if no JVM can be started.
pub fn find(plan: &mut Plan<'_>, place: &Workplace<'_>, options: &Options) -> Result<()> {
    let mut wanted: Vec<(usize, String, Vec<String>)> = Vec::new();
    let mut asked: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (crash, input) in plan.inputs.iter().enumerate() {
        let mut candidates = plan.candidates.iter();
        if !candidates.any(|one| one.crash == crash && one.state == State::Pending) {
            continue;
        }
        // Tests' own crash files have origins, which may be of yet another version.
        let known = &input.crash.origins;
        let known: BTreeMap<&str, &str> = known
            .iter()
            .map(|origin| (&*origin.name, &*origin.found))
            .collect();
        for (name, mut question) in Names::of_all(&input.crash).questions() {
            if let [class, rest @ ..] = question.as_mut_slice() {
                if let (Some(known), [method, _]) = (known.get(&*name), rest) {
                    *method = (*known).to_owned();
                }
                if let Some(known) = known.get(&**class) {
                    *class = (*known).to_owned();
                }
            }
            if let Some(known) = known.get(&*name) {
                plan.origins[crash]
                    .found
                    .insert(name.clone(), (*known).to_owned());
            }
            let number = asked.len();
            asked.entry(question.clone()).or_insert(number);
            wanted.push((crash, name, question));
        }
    }
    let mut trials = vec![Pack::Nil(()); asked.len()];
    for (question, &number) in &asked {
        trials[number] = Pack::List(question.iter().map(|part| Pack::text(part)).collect());
    }
    let found = trial::origins(place, options, &trials)?;
    for (crash, name, question) in wanted {
        if let Some(origin) = found.get(&asked[&question]) {
            plan.origins[crash].found.insert(name, origin.clone());
        }
    }
    Ok(())
}

/// The classes and methods that a crash names.
#[derive(Default)]
pub struct Names<'c> {
    classes: BTreeSet<&'c str>,
    /// The methods, each with its class and descriptor.
    methods: BTreeSet<(&'c str, &'c str, &'c str)>,
}

impl<'c> Names<'c> {
    /// The names in its objects.
    fn of_objects(crash: &'c Crash) -> Names<'c> {
        let mut names = Names::default();
        for info in &crash.classes {
            if !matches!(info.kind, ClassKind::Proxy | ClassKind::Hidden) {
                names.classes.insert(element(&info.name));
            }
            names.classes.extend(info.supers.iter().map(String::as_str));
        }
        for object in crash.objects.iter().flatten() {
            match &object.body {
                Body::Lambda(lambda) => {
                    names.method(&lambda.class, &lambda.method, &lambda.descriptor);
                }
                Body::Class(name) => {
                    names.classes.insert(element(name));
                }
                _ => {}
            }
        }
        names
    }

    /// The names in its objects, static fields and frames.
    pub fn of_all(crash: &'c Crash) -> Names<'c> {
        let mut names = Names::of_objects(crash);
        let owners = crash.failure.statics.iter().map(|field| &*field.owner);
        names.classes.extend(owners);
        for frame in &crash.failure.frames {
            names.method(&frame.class, &frame.method, &frame.descriptor);
        }
        names
    }

    fn method(&mut self, class: &'c str, method: &'c str, descriptor: &'c str) {
        self.classes.insert(class);
        self.methods.insert((class, method, descriptor));
    }

    /// The numbered ones of them, by their keys among the origins: classes, and methods with their
    /// classes and descriptors.
    pub fn questions(self) -> BTreeMap<String, Vec<String>> {
        let classes = self.classes.into_iter();
        let classes = classes.filter(|class| is_class(class) && !is_jdk(class));
        let methods = self.methods.into_iter();
        let methods = methods.filter(|(class, method, descriptor)| {
            is_method(method) && !is_jdk(class) && !descriptor.is_empty()
        });
        let classes = classes.map(|class| (class.to_owned(), vec![class.to_owned()]));
        let methods = methods.map(|(class, name, descriptor)| {
            let question = [class, name, descriptor].map(str::to_owned).to_vec();
            (method(class, name, descriptor), question)
        });
        classes.chain(methods).collect()
    }
}

/// The element class of an array; any other class is returned unchanged.
fn element(class: &str) -> &str {
    match class.trim_start_matches('[') {
        element if element.len() < class.len() => element_class(element),
        _ => class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{ClassInfo, Object};

    #[test]
    fn all_that_is_numbered_is_asked_for() {
        let class = |name: &str, kind| ClassInfo {
            name: name.to_owned(),
            kind,
            ..ClassInfo::default()
        };
        let mut crash = Crash {
            classes: vec![
                class("[[La.M$1L;", ClassKind::Array),
                class("a.M$$Lambda$1/0x1", ClassKind::Hidden),
                class("java.util.Collections$1", ClassKind::Class),
            ],
            ..Crash::default()
        };
        crash.objects.push(Some(Object {
            class: 0,
            body: Body::Lambda(Lambda {
                class: "a.M$2".to_owned(),
                method: "lambda$m$0".to_owned(),
                descriptor: "()V".to_owned(),
                ..Lambda::default()
            }),
        }));
        crash.failure.frames.push(Frame {
            class: "a.M".to_owned(),
            method: "m".to_owned(),
            descriptor: "()V".to_owned(),
            ..Frame::default()
        });
        let questions = Names::of_all(&crash).questions();
        let names: Vec<&str> = questions.keys().map(String::as_str).collect();
        assert_eq!(names, ["a.M$1L", "a.M$2", "a.M$2.lambda$m$0()V"]);
        assert_eq!(questions["a.M$1L"], ["a.M$1L"]);
    }
}
