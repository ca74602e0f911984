//! The body of one test: builds or loads what the frame's method was called with, and calls it.
//!
//! - [`slots`] are the values that it is passed.
//! - [`statics`] decides which static state a test sets, and which it restores.

mod slots;
pub(super) mod statics;

use slots::inner_class;

use super::build::render::Maker;
use super::candidate::{Candidate, Level, Needs, Plan, TestClass};
use super::defaults;
use super::locks;
use super::value::Values;
use crate::graph::Graph;
use crate::java::lines::{INDENT, filled};
use crate::java::names::{Names, is_identifier, of_type};
use crate::java::{descriptor, literal};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Defaults, Frame, Meta, Value};
use std::collections::HashSet;

/// Columns of the longest argument that is written in place.
const INLINE: usize = 70;
/// The package of the replay library.
pub const REPLAY: &str = "dev.hindsight.replay";
/// The agent's placeholder of a secret.
const MASK: &str = "***";

/// The comment above a call of a method that the compiler has numbered.
pub const ORIGIN: &str = "// Behind the slash: what finds it where the program numbers it anew.";

/// A test's body.
#[derive(Debug)]
pub struct Body {
    /// Its lines, indented.
    pub code: String,
    /// Whether the method must declare `throws Throwable`.
    pub throws: bool,
    /// Whether an object is built instead of loaded.
    pub simplified: bool,
    /// The statements that build objects and return them all, each after the
    /// number of its argument.
    pub values: String,
    /// The resources that the test needs.
    pub needs: Needs,
    /// Whether raw types may occur.
    pub raw_types: bool,
}

/// Writes the body of a candidate's test at its present level; `None` if that level cannot express
/// it. `owners` are the classes whose static state it restores, if it does.
pub fn body(
    plan: &Plan<'_>,
    candidate: &Candidate,
    class: &TestClass,
    names: &mut Names,
    owners: &[&str],
) -> Option<Body> {
    let frame = plan.frame(candidate);
    let crash = &plan.inputs[candidate.crash].crash;
    let graph = Graph::at_entry(crash, frame);
    let direct = candidate.level == Level::Direct;
    let values = Values {
        plan,
        graph: &graph,
        frame,
        named: direct || candidate.built,
        package: &class.package,
        typed: candidate.typed,
    };
    let mut taken: Vec<String> = [
        "frame", "statics", "kept", "records", "Frame", "Crash", "Call", "Statics", "Records",
        "dev", "org",
    ]
    .map(str::to_owned)
    .to_vec();
    if candidate.defaults {
        taken.extend(defaults::VARIABLES.map(str::to_owned));
    }
    let slots = slot_names(plan, &graph, frame);
    let mut maker = Maker::new(
        &values,
        &plan.recipes,
        candidate.crash,
        &candidate.loaded,
        &slots,
        taken.clone(),
    );
    let references = frame.arguments.iter().filter(|argument| {
        matches!(argument.value, Value::Ref(_)) && argument.descriptor.starts_with(['L', '['])
    });
    let mut references: Vec<_> = references.collect();
    let roots: Vec<Value> = references.iter().map(|argument| argument.value).collect();
    let mut built = Vec::new();
    if candidate.built {
        let good = maker.buildable(&roots, names);
        let kept = references.iter().zip(good).filter(|(_, good)| *good);
        built = kept.map(|(argument, _)| argument.index).collect();
    }
    references.retain(|argument| !built.contains(&argument.index));
    let rest: Vec<Value> = references.iter().map(|argument| argument.value).collect();
    maker.count_plain(&rest);
    let boxes = maker.loaded_boxes(&roots, &rest);
    let mut writer = Writer {
        values: &values,
        maker,
        built,
        boxes,
        slots,
        names,
        frame_index: candidate.frame,
        class,
        direct,
        body: String::new(),
        taken,
        settings: String::new(),
        set: candidate
            .defaults
            .then(|| defaults::others(plan, candidate.crash)),
        statics: candidate.statics,
        held: candidate.held.owner(),
        lock: None,
        keeps: candidate.keeps.then_some(owners),
        loads: String::new(),
        loaded: 0,
        literals: 0,
        checked: Vec::new(),
        raw_types: false,
    };
    let overridden = plan.is_overridden(frame, &graph);
    let throws = if writer.direct && !overridden {
        writer.direct(frame)?
    } else {
        writer.direct = false;
        writer.by_name(frame, overridden)?;
        true
    };
    if candidate.properties {
        writer.set_properties(&crash.meta)?;
    }
    let library = !writer.direct;
    Some(writer.finish(throws, library))
}

/// The names of variables for the receiver and the arguments, by number: the receiver is named
/// after its class, parameters have their own names.
fn slot_names(plan: &Plan<'_>, graph: &Graph<'_>, frame: &Frame) -> Vec<(u16, String)> {
    let mut names: Vec<(u16, String)> = Vec::new();
    for argument in frame.arguments.iter().filter(|argument| argument.index > 0) {
        let name = match &argument.name {
            Some(name) if is_identifier(name) => name.clone(),
            _ => format!("arg{}", argument.index),
        };
        names.push((argument.index, name));
    }
    for argument in frame
        .arguments
        .iter()
        .filter(|argument| argument.index == 0)
    {
        let class = match argument.value {
            Value::Ref(object) => graph.class_name(object),
            _ => &frame.class,
        };
        let mut name = of_type(class);
        if name == "value" {
            name = plan
                .callable_type(frame)
                .map_or(name, |class| of_type(&class));
        }
        if name == "value" || names.iter().any(|(_, other)| *other == name) {
            name = "receiver".to_owned();
        }
        names.push((0, name));
    }
    names
}

/// The recorded system properties that a test can set.
pub fn properties(meta: &Meta) -> impl Iterator<Item = (&str, &str)> {
    let pairs = meta.properties.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, value)| !name.is_empty() && *value != MASK)
        .filter(|(_, value)| value.encode_utf16().count() <= literal::MAX_STRING)
}

struct Writer<'a, 'n> {
    values: &'a Values<'a>,
    maker: Maker<'a>,
    /// The numbers of the arguments that can be built.
    built: Vec<u16>,
    /// Boxes that have to be loaded.
    boxes: HashSet<u32>,
    /// Names for the receiver and the arguments.
    slots: Vec<(u16, String)>,
    names: &'n mut Names,
    frame_index: usize,
    class: &'a TestClass,
    direct: bool,
    body: String,
    taken: Vec<String>,
    /// The code that precedes everything else.
    settings: String,
    /// The default locale and time zone that are set for the call alone: what is built was found to
    /// be the same without them, and may fail with them.
    set: Option<Defaults>,
    /// Whether static fields are set before the call.
    statics: bool,
    /// The value whose monitor is held during the call: the receiver or an argument.
    held: Option<u16>,
    /// The variable with that value.
    lock: Option<String>,
    /// The classes whose static state is restored after the call, if it is.
    keeps: Option<&'a [&'a str]>,
    loads: String,
    /// The number of loaded values.
    loaded: usize,
    literals: usize,
    /// The numbers of arguments that are built, with the expressions.
    checked: Vec<(u16, String)>,
    raw_types: bool,
}

impl Writer<'_, '_> {
    fn finish(self, throws: bool, by_name: bool) -> Body {
        let mut code = self.settings;
        if !self.loads.is_empty() || self.statics {
            let frame = self.names.write(REPLAY, "Frame");
            let crash = self.names.write(REPLAY, "Crash");
            let with = if self.statics { ".withStatics()" } else { "" };
            code.push_str(&filled(&format!(
                "{frame} frame = {crash}.of({}.class, \"{}\"){with}.frame({});",
                self.class.name, self.class.resource, self.frame_index
            )));
            code.push_str(&self.loads);
        }
        let written = self.maker.written;
        let statements: String = written
            .statements
            .iter()
            .map(|statement| filled(statement))
            .collect();
        let body = statements.clone() + &self.body;
        if self.statics {
            let statics = self.names.write(REPLAY, "Statics");
            code.push_str(&statics::names(self.values, self.frame_index));
            code.push_str(&format!(
                "{INDENT}try ({statics} statics = frame.setStatics()) {{\n"
            ));
            for line in body.lines() {
                code.push_str(&format!("    {line}\n"));
            }
            code.push_str(&format!("{INDENT}}}\n"));
        } else {
            code.push_str(&body);
        }
        let keeps = self.keeps.is_some();
        if let Some(owners) = self.keeps {
            let statics = self.names.write(REPLAY, "Statics");
            let owners: Vec<String> = (owners.iter())
                .map(|class| format!(", \"{class}\""))
                .collect();
            let keep = format!(
                "try ({statics} kept = {statics}.keep({}.class{})) {{",
                self.class.name,
                owners.concat()
            );
            let lines = code.lines().map(|line| format!("    {line}\n"));
            code = format!("{}{}{INDENT}}}\n", filled(&keep), lines.collect::<String>());
        }
        let checked = self.checked.iter();
        let checked: Vec<String> = checked
            .map(|(index, code)| format!("{index}, {code}"))
            .collect();
        let object = self.names.java_lang("Object");
        let given = format!("return new {object}[] {{{}}};", checked.join(", "));
        Body {
            code,
            throws: throws || written.throws,
            simplified: !checked.is_empty(),
            values: statements + &filled(&given),
            needs: Needs {
                literals: self.literals,
                built: checked.len(),
                loaded: self.loaded,
                state: self.loaded > 0 || self.statics,
                objects: written.objects,
                library: by_name || self.loaded > 0 || self.statics || keeps || written.library,
            },
            raw_types: self.raw_types || written.raw_types,
        }
    }

    /// Sets the system properties of the recorded program.
    fn set_properties(&mut self, meta: &Meta) -> Option<()> {
        let system = self.names.java_lang("System");
        let text = |text: &str| literal::string(&text.encode_utf16().collect::<Vec<_>>());
        for (name, value) in properties(meta) {
            self.settings.push_str(&format!(
                "{INDENT}{system}.setProperty({}, {});\n",
                text(name)?,
                text(value)?
            ));
        }
        Some(())
    }

    /// `receiver.m(a, b)`, `X.m(a, b)` or `new X(a, b)`. Returns whether a checked exception is
    /// declared.
    fn direct(&mut self, frame: &Frame) -> Option<bool> {
        let classpath = self.values.plan.classpath;
        let found = classpath.info(&frame.class)?;
        let info = found.info.as_ref()?;
        let method = info.method(&frame.method, &frame.descriptor)?;

        // A class without a name is called through a supertype.
        let caller = self.values.plan.callable_type(frame)?;
        let above = (caller != frame.class)
            .then(|| classpath.info(&caller))
            .flatten();
        let above = above.as_ref().and_then(|above| above.info.as_ref());
        let declared = above.and_then(|above| above.method(&frame.method, &frame.descriptor));
        let own = descriptor::of_class(&caller);
        let own_name = self.values.type_name(&own, self.names)?;
        let is_static = method.is(access::STATIC);
        let receiver = match is_static || frame.method == "<init>" {
            true => None,
            false => Some(self.receiver(frame, &own)?),
        };
        let mut slots = self.parameters(frame)?;
        let others = self
            .values
            .is_overloaded(above.unwrap_or(info), method, true);
        for slot in &mut slots {
            if let Some(inline) = &mut slot.inline {
                let exact = inline.is_exactly(&slot.descriptor);
                let null_array = inline.code == "null"
                    && method.is(access::VARARGS)
                    && slot.descriptor.starts_with('[');
                if !exact && (others || null_array) {
                    let name = self.values.type_name(&slot.descriptor, self.names)?;
                    inline.code = inline.cast(&name);
                }
            }
        }
        let target = if frame.method == "<init>" {
            match inner_class(info, &slots) {
                Some(simple) => {
                    let outer = self.variable(slots.remove(0))?;
                    format!("{outer}.new {simple}")
                }
                None => format!("new {own_name}"),
            }
        } else if is_static {
            format!("{own_name}.{}", frame.method)
        } else {
            let receiver = self.variable(receiver?)?;
            format!("{receiver}.{}", frame.method)
        };
        let arguments = self.arguments(slots)?;
        self.call("", &target, &arguments);
        Some(declared.unwrap_or(method).throws())
    }

    /// `Call.method(receiver, "X", "m", "()V", a, b)` and related calls.
    fn by_name(&mut self, frame: &Frame, overridden: bool) -> Option<()> {
        let call = self.names.write(REPLAY, "Call");
        let text = |text: &str| literal::string(&text.encode_utf16().collect::<Vec<_>>());
        let mut slots = self.parameters(frame)?;
        if let [only] = slots.as_mut_slice()
            && let Some(inline) = &mut only.inline
            && (inline.code == "null" || inline.descriptor.starts_with('['))
        {
            // The only argument of a varargs call must not be taken for its array.
            inline.code = format!("({}) {}", self.names.java_lang("Object"), inline.code);
        }
        let mut arguments = Vec::new();
        let origins = &self.values.plan.origins[self.class.crash];
        let names_class = frame.method == "<init>" || self.values.plan.is_static(frame);
        let is_numbered = names_class && origins.class(&frame.class) != frame.class
            || origins.method(frame) != frame.method;
        let target = if frame.method == "<init>" {
            let class = origins.class(&frame.class);
            arguments.extend([text(class)?, text(&frame.descriptor)?]);
            "constructor"
        } else {
            let is_static = self.values.plan.is_static(frame);
            // A receiver determines its class.
            let class = match is_static {
                true => origins.class(&frame.class),
                false => &frame.class,
            };
            let names = [
                text(class)?,
                text(origins.method(frame))?,
                text(&frame.descriptor)?,
            ];
            if is_static {
                arguments.extend(names);
                "staticMethod"
            } else {
                let own = descriptor::of_class(&frame.class);
                let receiver = self.receiver(frame, &own)?;
                arguments.push(self.variable(receiver)?);
                arguments.extend(names);
                if overridden { "exactMethod" } else { "method" }
            }
        };
        arguments.extend(self.arguments(slots)?);
        let above = match is_numbered {
            true => format!("{INDENT}{ORIGIN}\n"),
            false => String::new(),
        };
        self.call(&above, &format!("{call}.{target}"), &arguments);
        Some(())
    }

    fn call(&mut self, above: &str, target: &str, arguments: &[String]) {
        let call = format!("{target}({});", arguments.join(", "));
        let call = above.to_owned() + &filled(&call);
        let around = self.set.as_ref();
        let around = around.and_then(|set| defaults::around(&call, set, self.names));
        let call = around.unwrap_or(call);
        self.body.push_str(&match &self.lock {
            Some(lock) => locks::around(&call, lock),
            None => call,
        });
    }
}
