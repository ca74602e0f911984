//! What is known of the program's methods before they run: the file of `hindsight plan`.
//!
//! It identifies classes by their names and a checksum of their files. What it says of a method
//! depends on all that the method may call, and callees are loaded after their callers. So from the
//! first class on that does not match the plan, nothing of it is trusted any more, whether that
//! class is to have probes or not. The file of a class that was loaded before the agent is not
//! known, so such a class counts as not matching. For classes that come later, and for those that
//! it does not name, the method's own body decides what is kept; frames of methods about which the
//! plan had decided before say so.

use crate::counters::Counters;
use crate::originals::Original;
use hindsight_classfile::{ClassFile, access};
use hindsight_instrument::{Effects, ParameterEffects};
use hindsight_tracelog::crash::{Body, Fidelity, Frame, Object, Patch, Value};
use hindsight_tracelog::plan::{self, Field, Parameter, Plan};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The note of a frame that has kept what a plan of another version asked for.
const OF_ANOTHER_VERSION: &str = "its plan is of another version of the program: fields may be those of the failure \
     (make it anew with hindsight plan)";

/// A plan, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Known {
    classes: Option<Vec<Class>>,
    /// Whether a class has been loaded that does not match the plan, or may not.
    is_stale: AtomicBool,
}

/// The plan of one class.
#[derive(Debug)]
struct Class {
    name: String,
    crc: u32,
    /// The effects, sorted by name and descriptor, as the instrumenter requires.
    methods: Vec<Effects>,
    /// For each of `methods`, the static fields that it may read.
    statics: Vec<Option<Vec<Field>>>,
    /// Whether its file has been seen.
    came: AtomicBool,
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

    /// Whether a plan was given.
    pub(crate) fn is_given(&self) -> bool {
        self.classes.is_some()
    }

    /// Checks the file of a class that is being loaded, as its loader gave it, whatever probes the
    /// class is to have: the plan of its callers depends on it. Some loaders do not give its name.
    pub(crate) fn came(&self, name: Option<&str>, bytes: &[u8], counters: &Counters) {
        if !self.is_given() {
            return;
        }
        let in_file = match name {
            Some(_) => None,
            None => (ClassFile::parse(bytes).ok())
                .and_then(|class| Some(class.name().ok()?.to_string_lossy().into_owned())),
        };
        let Some(class) = name.or(in_file.as_deref()).and_then(|name| self.of(name)) else {
            return;
        };
        if class.crc == crc32fast::hash(bytes) {
            class.came.store(true, Ordering::Relaxed);
        } else {
            self.is_stale.store(true, Ordering::Relaxed);
            counters.add("classes_unlike_the_plan", 1);
        }
    }

    /// Notes a class that was loaded before the agent started.
    pub(crate) fn was_there(&self, name: &str, counters: &Counters) {
        if let Some(class) = self.of(name)
            && !class.came.load(Ordering::Relaxed)
        {
            self.is_stale.store(true, Ordering::Relaxed);
            counters.add("classes_of_the_plan_loaded_before_the_agent", 1);
        }
    }

    /// The static fields that a method may read, in what it calls as well, if they are known: the
    /// plan has its class and is of the running version. The class's name has dots.
    pub(crate) fn statics(&self, class: &str, name: &str, descriptor: &str) -> Option<&[Field]> {
        let class = self.of(&class.replace('.', "/"))?;
        if !class.believed.load(Ordering::Relaxed) || self.is_stale() {
            return None;
        }
        class.statics[Effects::find(&class.methods, name, descriptor)?].as_deref()
    }

    /// The effects of the methods of a class that is being loaded. Counts whether the plan matches.
    pub(crate) fn class(
        &self,
        name: Option<&str>,
        file: Option<&Original>,
        counters: &Counters,
    ) -> &[Effects] {
        if !self.is_given() {
            return &[];
        }
        let known = name.and_then(|name| self.of(name));
        let Some((class, file)) = known.zip(file) else {
            counters.add("classes_not_in_the_plan", 1);
            return &[];
        };
        if class.crc != file.crc() {
            // The plan has not been trusted since the class came.
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

    /// Marks frames whose methods may have kept too little, or values that are not there, because of
    /// a plan that turned out to be of another version. A frame does not say which loader's copy of
    /// its class it belongs to, so a copy that came later, and has kept what its methods' bodies
    /// need, is doubted with the others.
    pub(crate) fn doubt(&self, frames: &mut [Frame], objects: &[Object], counters: &Counters) {
        if !self.is_stale() {
            return;
        }
        // What a log of writes has restored is right all the same.
        let of_copies = frames
            .iter_mut()
            .filter(|frame| frame.fidelity == Fidelity::Fields);
        for frame in of_copies {
            let Some(known) = self.decided(frame, objects) else {
                continue;
            };
            counters.add("frames_by_a_plan_of_another_version", 1);
            frame.fidelity = Fidelity::Reference;
            let also = if frame.reason.is_empty() { "" } else { "; " };
            frame.reason = format!("{OF_ANOTHER_VERSION}{also}{}", frame.reason);
            // The JVM may have refused to read what only the plan has said is there to be read.
            let is_open = |patch: &Patch| {
                let mut open = known.parameters.iter().flat_map(|known| &known.open);
                open.any(|(name, ty)| *name == patch.field && *ty == patch.descriptor)
            };
            let is_blank = |patch: &Patch| match patch.value {
                Value::Null | Value::Bool(false) | Value::Int(0) => true,
                Value::Float(number) => number == 0.0,
                Value::Double(number) => number == 0.0,
                _ => false,
            };
            let patch = &mut frame.patch;
            patch.retain(|patch| !(is_blank(patch) && is_open(patch)));
        }
    }

    /// What the plan says of this frame's method, if it has decided which fields of its arguments were kept.
    fn decided(&self, frame: &Frame, objects: &[Object]) -> Option<&Effects> {
        let is_instance = |index: u16| {
            let of = |object: u32| objects.get(object as usize).map(|object| &object.body);
            frame.arguments.iter().any(|argument| {
                argument.index == index
                    && matches!(argument.value, Value::Ref(to) if matches!(of(to), Some(Body::Instance(_))))
            })
        };
        let class = self.of(&frame.class.replace('.', "/"))?;
        let at = Effects::find(&class.methods, &frame.method, &frame.descriptor)?;
        let method = &class.methods[at];
        // In a frame, 1 is the first parameter, even of a static method.
        let first = u16::from(frame.access & access::STATIC != 0);
        let has_decided = |known: &ParameterEffects| {
            (known.exact || !known.open.is_empty()) && is_instance(known.index + first)
        };
        let is_believed = class.believed.load(Ordering::Relaxed);
        (is_believed && method.parameters.iter().any(has_decided)).then_some(method)
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
        came: AtomicBool::new(false),
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
        open: (parameter.open.into_iter())
            .map(|field| (field.name, field.descriptor))
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
    use hindsight_tracelog::crash::Argument;

    /// A plan of `a.A`, whose `m()` may read a static field.
    fn planned() -> Known {
        Known::of_classes(vec![class(plan::Class {
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
        })])
    }

    /// Loads a class that is to have probes. Returns whether it has them by the plan.
    fn load(known: &Known, counters: &Counters, bytes: &[u8]) -> bool {
        known.came(Some("a/A"), bytes, counters);
        let file = Original::new("a/A", bytes);
        !known.class(Some("a/A"), Some(&file), counters).is_empty()
    }

    fn statics(known: &Known) -> Option<Vec<&str>> {
        let fields = known.statics("a.A", "m", "()V")?;
        Some(fields.iter().map(|field| field.name.as_str()).collect())
    }

    #[test]
    fn a_plan_is_believed_for_the_classes_that_it_is_about() {
        let after = |loaded: &[&[u8]]| {
            let (known, counters) = (planned(), Counters::default());
            for bytes in loaded {
                let was_stale = known.is_stale();
                let by_the_plan = load(&known, &counters, bytes);
                assert_eq!(by_the_plan, *bytes == b"planned" && !was_stale);
            }
            statics(&known).is_some_and(|fields| fields == ["cache"])
        };
        assert!(after(&[b"planned"]));
        assert!(!after(&[]));
        assert!(!after(&[b"changed"]));
        assert!(!after(&[b"planned", b"changed"]));
        assert!(!after(&[b"changed", b"planned"]));
    }

    /// Its callers may have probes.
    #[test]
    fn a_class_without_probes_ends_belief_as_well() {
        let (known, counters) = (planned(), Counters::default());
        assert!(load(&known, &counters, b"planned"));
        known.came(Some("a/Other"), b"changed", &counters);
        known.came(None, b"no class file", &counters);
        assert!(statics(&known).is_some());
        known.came(Some("a/A"), b"changed", &counters);
        assert_eq!(statics(&known), None);
        assert!(!load(&known, &counters, b"planned"));
    }

    /// A method whose parameter the plan says more of, not less.
    #[test]
    fn what_may_not_have_been_there_to_be_read_is_no_entry_value() {
        let open = |name: &str| plan::OpenField {
            name: name.to_owned(),
            descriptor: "I".to_owned(),
        };
        let known = Known::of_classes(vec![class(plan::Class {
            name: "a/A".to_owned(),
            crc: crc32fast::hash(b"planned"),
            methods: vec![plan::Method {
                name: "m".to_owned(),
                descriptor: "(La/B;)V".to_owned(),
                parameters: vec![Parameter {
                    index: 1,
                    deep: true,
                    open: vec![open("gone"), open("there")],
                    ..Parameter::default()
                }],
                ..plan::Method::default()
            }],
        })]);
        let patch = |field: &str, value| Patch {
            object: 0,
            owner: "a.B".to_owned(),
            field: field.to_owned(),
            descriptor: "I".to_owned(),
            value: Value::Int(value),
            index: None,
        };
        let objects = [Object {
            class: 0,
            body: Body::Instance(Vec::new()),
        }];
        let doubted = || {
            let mut frames = [Frame {
                class: "a.A".to_owned(),
                method: "m".to_owned(),
                descriptor: "(La/B;)V".to_owned(),
                fidelity: Fidelity::Fields,
                arguments: vec![Argument {
                    index: 1,
                    name: None,
                    descriptor: "La/B;".to_owned(),
                    value: Value::Ref(0),
                }],
                patch: vec![patch("gone", 0), patch("there", 4), patch("other", 0)],
                ..Frame::default()
            }];
            known.doubt(&mut frames, &objects, &Counters::default());
            let [frame] = frames;
            let kept: Vec<String> = frame.patch.into_iter().map(|patch| patch.field).collect();
            (frame.fidelity, kept.join(" "))
        };
        let counters = Counters::default();
        assert!(load(&known, &counters, b"planned"));
        assert_eq!(doubted(), (Fidelity::Fields, "gone there other".to_owned()));
        known.came(Some("a/A"), b"changed", &counters);
        assert_eq!(doubted(), (Fidelity::Reference, "there other".to_owned()));
    }

    #[test]
    fn a_class_that_was_there_before_the_agent_may_be_of_any_file() {
        let (known, counters) = (planned(), Counters::default());
        known.was_there("a/Other", &counters);
        assert!(load(&known, &counters, b"planned"));
        // It was loaded since.
        known.was_there("a/A", &counters);
        assert!(statics(&known).is_some());

        let known = planned();
        known.was_there("a/A", &counters);
        assert!(!load(&known, &counters, b"planned"));
        assert_eq!(statics(&known), None);
    }
}
