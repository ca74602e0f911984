//! What is known of the program's methods before they run: the file of
//! `hindsight plan`.
//!
//! It knows classes by their names and by a checksum of their files. What it says
//! of a method follows from all that the method may call, and callees are loaded
//! after their callers: from the first class on that is not the plan's, nothing
//! of it is believed any more. Of classes that come later, as of those that it does
//! not name, the method's own body decides what is kept; frames of methods that it
//! had decided about before say so.

use crate::counters::Counters;
use crate::originals::Original;
use hindsight_classfile::access;
use hindsight_instrument::{Effects, ParameterEffects};
use hindsight_tracelog::crash::{Body, Fidelity, Frame, Object, Value};
use hindsight_tracelog::plan::{self, Field, Parameter, Plan};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a frame says that has kept what a plan of another version told it to.
const OF_ANOTHER_VERSION: &str = "its plan is of another version of the program: fields may be those of the failure \
     (make it anew with hindsight plan)";

/// A plan, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Known {
    classes: Option<Vec<Class>>,
    /// Whether a class has been loaded that is not the plan's of this name.
    is_stale: AtomicBool,
}

/// What is known of a class.
#[derive(Debug)]
struct Class {
    name: String,
    crc: u32,
    /// Sorted by name and descriptor, as the instrumenter wants them.
    methods: Vec<Effects>,
    /// For each of `methods`, the static fields that it may read.
    statics: Vec<Option<Vec<Field>>>,
    /// Whether the methods of a class of this name have kept what the plan says.
    believed: AtomicBool,
}

impl Known {
    /// Reads the file that the option `plan` names. `Err` is a line for stderr.
    pub(crate) fn read(path: Option<&Path>) -> Result<Known, String> {
        let Some(path) = path else {
            return Ok(Known::default());
        };
        let failed = |what: &dyn std::fmt::Display| {
            let path = path.display();
            Err(format!(
                "option plan: {path}: {what}; make it with `hindsight plan --classpath CP --out FILE`"
            ))
        };
        match fs::read(path).map(|file| Plan::decode(&file)) {
            Ok(Ok(Plan { classes, .. })) => {
                let mut classes: Vec<Class> = classes.into_iter().map(class).collect();
                classes.sort_by(|one, other| one.name.cmp(&other.name));
                Ok(Known::of_classes(classes))
            }
            Ok(Err(error)) => failed(&error),
            Err(error) => failed(&error),
        }
    }

    fn of_classes(classes: Vec<Class>) -> Known {
        Known {
            classes: Some(classes),
            is_stale: AtomicBool::new(false),
        }
    }

    fn of(&self, name: &str) -> Option<&Class> {
        let classes = self.classes.as_ref()?;
        let at = classes.binary_search_by(|class| class.name.as_str().cmp(name));
        Some(&classes[at.ok()?])
    }

    fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Relaxed)
    }

    /// The static fields that a method may read, in what it calls too, if that is known: if the plan
    /// has its class, and is of the version that runs. The class's name has dots.
    pub(crate) fn statics(&self, class: &str, name: &str, descriptor: &str) -> Option<&[Field]> {
        let class = self.of(&class.replace('.', "/"))?;
        if !class.believed.load(Ordering::Relaxed) || self.is_stale() {
            return None;
        }
        class.statics[Effects::find(&class.methods, name, descriptor)?].as_deref()
    }

    /// What is known of the methods of a class that is being loaded. Counts whether the plan fits.
    pub(crate) fn class(
        &self,
        name: Option<&str>,
        file: Option<&Original>,
        counters: &Counters,
    ) -> &[Effects] {
        if self.classes.is_none() {
            return &[];
        }
        let known = name.and_then(|name| self.of(name));
        let Some((class, file)) = known.zip(file) else {
            counters.add("classes_not_in_the_plan", 1);
            return &[];
        };
        if class.crc != file.crc() {
            self.is_stale.store(true, Ordering::Relaxed);
            counters.add("classes_unlike_the_plan", 1);
            return &[];
        }
        if self.is_stale() {
            counters.add("classes_after_one_unlike_the_plan", 1);
            return &[];
        }
        class.believed.store(true, Ordering::Relaxed);
        counters.add("classes_by_the_plan", 1);
        &class.methods
    }

    /// Marks frames whose methods may have kept too little, for they were told so by a plan that turned
    /// out to be of another version. A frame does not say which loader's copy of its class it is of: one that
    /// came later, and has kept what its methods' bodies want, is doubted with the others.
    pub(crate) fn doubt(&self, frames: &mut [Frame], objects: &[Object], counters: &Counters) {
        if !self.is_stale() {
            return;
        }
        // What a log of writes has restored is true all the same.
        let of_copies = frames
            .iter_mut()
            .filter(|frame| frame.fidelity == Fidelity::Fields);
        for frame in of_copies.filter(|frame| self.has_decided(frame, objects)) {
            counters.add("frames_by_a_plan_of_another_version", 1);
            frame.fidelity = Fidelity::Reference;
            let also = if frame.reason.is_empty() { "" } else { "; " };
            frame.reason = format!("{OF_ANOTHER_VERSION}{also}{}", frame.reason);
        }
    }

    /// Whether the plan has decided that fields of this frame's arguments were not kept.
    fn has_decided(&self, frame: &Frame, objects: &[Object]) -> bool {
        let is_instance = |index: u16| {
            let of = |object: u32| objects.get(object as usize).map(|object| &object.body);
            frame.arguments.iter().any(|argument| {
                argument.index == index
                    && matches!(argument.value, Value::Ref(to) if matches!(of(to), Some(Body::Instance(_))))
            })
        };
        let Some(class) = self.of(&frame.class.replace('.', "/")) else {
            return false;
        };
        let method = Effects::find(&class.methods, &frame.method, &frame.descriptor);
        // In a frame, 1 is the first parameter of a static method, too.
        let first = u16::from(frame.access & access::STATIC != 0);
        class.believed.load(Ordering::Relaxed)
            && method.is_some_and(|at| {
                let mut parameters = class.methods[at].parameters.iter();
                parameters.any(|known| known.exact && is_instance(known.index + first))
            })
    }
}

fn class(class: plan::Class) -> Class {
    let mut methods = class.methods;
    methods
        .sort_by(|one, other| (&one.name, &one.descriptor).cmp(&(&other.name, &other.descriptor)));
    let (methods, statics) = methods.into_iter().map(method).unzip();
    Class {
        name: class.name,
        crc: class.crc,
        methods,
        statics,
        believed: AtomicBool::new(false),
    }
}

fn method(method: plan::Method) -> (Effects, Option<Vec<Field>>) {
    let parameter = |parameter: Parameter| ParameterEffects {
        index: parameter.index,
        exact: parameter.immutable || !parameter.deep,
        fields: parameter
            .fields
            .into_iter()
            .map(|field| (field.class, field.name))
            .collect(),
    };
    let effects = Effects {
        name: method.name,
        descriptor: method.descriptor,
        cannot_throw: method.cannot_throw,
        parameters: method.parameters.into_iter().map(parameter).collect(),
    };
    (effects, method.statics)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What static fields `a.A.m()` may read by the plan, after these files were loaded under its name.
    fn statics_after(loaded: &[&[u8]]) -> Option<Vec<String>> {
        let known = Known::of_classes(vec![class(plan::Class {
            name: "a/A".to_owned(),
            crc: crc32fast::hash(b"planned"),
            methods: vec![plan::Method {
                name: "m".to_owned(),
                descriptor: "()V".to_owned(),
                statics: Some(vec![Field {
                    class: "a/B".to_owned(),
                    name: "cache".to_owned(),
                }]),
                ..plan::Method::default()
            }],
        })]);
        let counters = Counters::default();
        for bytes in loaded {
            let file = Original::new("a/A", bytes);
            let was_stale = known.is_stale();
            let effects = known.class(Some("a/A"), Some(&file), &counters);
            assert_eq!(!effects.is_empty(), *bytes == b"planned" && !was_stale);
        }
        let fields = known.statics("a.A", "m", "()V")?;
        Some(fields.iter().map(|field| field.name.clone()).collect())
    }

    #[test]
    fn a_plan_is_believed_for_the_classes_that_it_is_about() {
        assert_eq!(statics_after(&[b"planned"]), Some(vec!["cache".to_owned()]));
        assert_eq!(statics_after(&[]), None);
        assert_eq!(statics_after(&[b"changed"]), None);
        assert_eq!(statics_after(&[b"planned", b"changed"]), None);
        assert_eq!(statics_after(&[b"changed", b"planned"]), None);
    }
}
