//! The body of one test: load what has to be loaded, call the frame's method.

use super::candidate::{Candidate, Level, Plan, TestClass};
use super::value::{Expression, Values};
use crate::classinfo::{ClassInfo, Method, Nesting};
use crate::graph::{Graph, Typed};
use crate::java::names::{Names, is_identifier};
use crate::java::{descriptor, literal};
use hindsight_classfile::access;
use hindsight_tracelog::crash::{Frame, Meta, Value};

/// Columns of a line of source.
const WIDTH: usize = 100;
const INDENT: &str = "        ";
/// The package of the replay library.
pub const REPLAY: &str = "dev.hindsight.replay";
/// What the agent puts in place of a secret.
const MASK: &str = "***";

/// A test's body.
#[derive(Debug)]
pub struct Body {
    /// Its lines, indented.
    pub code: String,
    /// Whether the method must declare `throws Throwable`.
    pub throws: bool,
    /// Whether an object was constructed instead of loaded.
    pub simplified: bool,
    /// Whether raw types may occur.
    pub raw_types: bool,
}

/// A value on its way into the body.
struct Slot {
    /// What to call a variable for it.
    name: String,
    /// How to load it.
    load: String,
    /// Its declared descriptor.
    descriptor: String,
    value: Typed,
    inline: Option<Expression>,
}

/// Writes the body of a candidate's test at its present level; `None` if that
/// level cannot express it.
pub fn body(
    plan: &Plan<'_>,
    candidate: &Candidate,
    class: &TestClass,
    names: &mut Names,
) -> Option<Body> {
    let frame = plan.frame(candidate);
    let crash = &plan.inputs[candidate.crash].crash;
    let graph = Graph::at_entry(crash, frame);
    let values = Values {
        plan,
        graph: &graph,
        frame,
        level: candidate.level,
        package: &class.package,
    };
    let mut writer = Writer {
        values,
        names,
        frame_index: candidate.frame,
        class,
        direct: candidate.level != Level::Call,
        body: String::new(),
        taken: ["frame", "Frame", "Crash", "Call", "dev", "org"]
            .map(str::to_owned)
            .to_vec(),
        settings: String::new(),
        loads: String::new(),
        simplified: false,
        raw_types: false,
    };
    let throws = if writer.direct && !plan.is_overridden(frame, &graph) {
        writer.direct(frame)?
    } else {
        writer.direct = false;
        writer.by_name(frame, plan.is_overridden(frame, &graph))?;
        true
    };
    if candidate.properties {
        writer.set_properties(&crash.meta)?;
    }
    Some(writer.finish(throws))
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
    values: Values<'a>,
    names: &'n mut Names,
    frame_index: usize,
    class: &'a TestClass,
    direct: bool,
    body: String,
    taken: Vec<String>,
    /// What comes before everything else.
    settings: String,
    loads: String,
    simplified: bool,
    raw_types: bool,
}

impl Writer<'_, '_> {
    fn finish(self, throws: bool) -> Body {
        let mut code = self.settings;
        if !self.loads.is_empty() {
            let frame = self.names.write(REPLAY, "Frame");
            let crash = self.names.write(REPLAY, "Crash");
            code.push_str(&format!(
                "{INDENT}{frame} frame = {crash}.of({}.class, \"{}\").frame({});\n",
                self.class.name, self.class.resource, self.frame_index
            ));
            code.push_str(&self.loads);
        }
        code.push_str(&self.body);
        Body {
            code,
            throws,
            simplified: self.simplified,
            raw_types: self.raw_types,
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

    /// `receiver.m(a, b)`, `X.m(a, b)` or `new X(a, b)`; returns whether a
    /// checked exception is declared.
    fn direct(&mut self, frame: &Frame) -> Option<bool> {
        let classpath = self.values.plan.classpath;
        let found = classpath.info(&frame.class)?;
        let info = found.info.as_ref()?;
        let method = info.method(&frame.method, &frame.descriptor)?;
        self.raw_types |= info.generic;

        let own = descriptor::of_class(&frame.class);
        let own_name = self.values.type_name(&own, self.names)?;
        let mut slots = self.parameters(frame)?;
        let others = self.overloads(info, method);
        for slot in &mut slots {
            if let Some(inline) = &mut slot.inline {
                let exact = inline.descriptor == slot.descriptor;
                let null_array = inline.code == "null"
                    && method.is(access::VARARGS)
                    && slot.descriptor.starts_with('[');
                if !exact && (others || null_array) {
                    let name = self.values.type_name(&slot.descriptor, self.names)?;
                    inline.code = format!("({name}) {}", inline.code);
                }
            }
        }
        let is_static = method.is(access::STATIC);
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
            let receiver = self.receiver(frame, &own)?;
            let receiver = self.variable(receiver)?;
            format!("{receiver}.{}", frame.method)
        };
        let arguments = self.arguments(slots)?;
        self.call(&target, &arguments);
        Some(method.throws)
    }

    /// `Call.method(receiver, "X", "m", "()V", a, b)` and its kin.
    fn by_name(&mut self, frame: &Frame, overridden: bool) -> Option<()> {
        let call = self.names.write(REPLAY, "Call");
        let text = |text: &str| literal::string(&text.encode_utf16().collect::<Vec<_>>());
        let mut slots = self.parameters(frame)?;
        if let [only] = slots.as_mut_slice()
            && let Some(inline) = &mut only.inline
            && (inline.code == "null" || inline.descriptor.starts_with('['))
        {
            // The sole argument of a varargs call must not be taken for its array.
            inline.code = format!("({}) {}", self.names.java_lang("Object"), inline.code);
        }
        let mut arguments = Vec::new();
        let target = if frame.method == "<init>" {
            arguments.extend([text(&frame.class)?, text(&frame.descriptor)?]);
            "constructor"
        } else {
            let names = [
                text(&frame.class)?,
                text(&frame.method)?,
                text(&frame.descriptor)?,
            ];
            if self.values.plan.is_static(frame) {
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
        self.call(&format!("{call}.{target}"), &arguments);
        Some(())
    }

    fn receiver(&mut self, frame: &Frame, own: &str) -> Option<Slot> {
        let receiver = frame
            .arguments
            .iter()
            .find(|argument| argument.index == 0)?;
        let value = Typed::new(receiver.value, own);
        Some(Slot {
            name: "receiver".to_owned(),
            load: "frame.receiver()".to_owned(),
            descriptor: own.to_owned(),
            value,
            inline: self.inline(value),
        })
    }

    fn parameters(&mut self, frame: &Frame) -> Option<Vec<Slot>> {
        let (parameters, _) = descriptor::split(&frame.descriptor)?;
        let mut slots = Vec::new();
        for (position, parameter) in parameters.into_iter().enumerate() {
            let index = position + 1;
            let argument = frame
                .arguments
                .iter()
                .find(|argument| usize::from(argument.index) == index)?;
            let value = Typed::new(argument.value, parameter);
            let name = match &argument.name {
                Some(name) if is_identifier(name) && name != "receiver" => name.clone(),
                _ => format!("arg{index}"),
            };
            slots.push(Slot {
                name,
                load: format!("frame.argument({index})"),
                descriptor: parameter.to_owned(),
                value,
                inline: self.inline(value),
            });
        }
        // Types first: a variable must not hide one that is named later.
        if self.direct {
            for slot in &slots {
                self.values.type_name(&slot.descriptor, self.names)?;
            }
        }
        Some(slots)
    }

    fn inline(&mut self, value: Typed) -> Option<Expression> {
        let expression = self.values.expression(value, self.names)?;
        self.simplified |= expression.constructs;
        Some(expression)
    }

    fn arguments(&mut self, slots: Vec<Slot>) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        for slot in slots {
            arguments.push(match &slot.inline {
                Some(inline) if inline.code.len() <= 120 && !inline.redacted => inline.code.clone(),
                _ => self.variable(slot)?,
            });
        }
        Some(arguments)
    }

    /// Declares a variable for a value and returns its name.
    fn variable(&mut self, slot: Slot) -> Option<String> {
        let mut name = slot.name.clone();
        while self.taken.contains(&name) || self.names.is_used(&name) {
            name.push('_');
        }
        self.taken.push(name.clone());
        let of = if self.direct {
            self.raw_types |= may_be_generic(&slot.descriptor);
            self.values.type_name(&slot.descriptor, self.names)?
        } else {
            self.names.java_lang("Object")
        };
        match slot.inline {
            Some(inline) => {
                let remark = if inline.redacted { " // redacted" } else { "" };
                let code = &inline.code;
                self.loads_or_body(&format!("{INDENT}{of} {name} = {code};{remark}\n"), false)
            }
            None => {
                let shown = if slot.load.ends_with("receiver()") {
                    "this"
                } else {
                    &slot.name
                };
                let comment = self.values.comment(shown, slot.value, INDENT);
                self.loads_or_body(
                    &format!("{comment}{INDENT}{of} {name} = {};\n", slot.load),
                    true,
                );
            }
        }
        Some(name)
    }

    /// Loads stand after the frame's own variable; without any, there is none.
    fn loads_or_body(&mut self, code: &str, load: bool) {
        if load {
            self.loads.push_str(code);
        } else {
            self.body.push_str(code);
        }
    }

    fn call(&mut self, target: &str, arguments: &[String]) {
        let line = format!("{INDENT}{target}({});", arguments.join(", "));
        if line.chars().count() <= WIDTH {
            self.body.push_str(&line);
        } else {
            let between = format!(",\n{INDENT}        ");
            let list = arguments.join(&between);
            self.body
                .push_str(&format!("{INDENT}{target}(\n{INDENT}        {list});"));
        }
        self.body.push('\n');
    }

    /// Whether another method could be meant by a call with the same number of
    /// arguments.
    fn overloads(&self, info: &ClassInfo, method: &Method) -> bool {
        let arity = |method: &Method| descriptor::split(&method.descriptor).map(|(p, _)| p.len());
        let rival = |other: &Method| {
            other.name == method.name
                && other.descriptor != method.descriptor
                && (arity(other) == arity(method)
                    || other.is(access::VARARGS)
                    || method.is(access::VARARGS))
        };
        if info.methods.iter().any(rival) {
            return true;
        }
        if method.name == "<init>" {
            return false;
        }
        let mut above: Vec<String> = info
            .super_class
            .iter()
            .chain(&info.interfaces)
            .cloned()
            .collect();
        let mut seen = Vec::new();
        while let Some(name) = above.pop() {
            // Methods of `Object` are known; other classes of the JDK may have any.
            if name == "java.lang.Object" || seen.contains(&name) {
                continue;
            }
            let found = self.values.plan.classpath.info(&name);
            let Some(info) = found.as_ref().and_then(|found| found.info.as_ref()) else {
                return true;
            };
            if info.methods.iter().any(rival) {
                return true;
            }
            above.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            seen.push(name);
        }
        false
    }
}

/// The simple name of an inner (non-static member) class whose outer instance
/// was recorded as its constructor's first parameter.
fn inner_class(info: &ClassInfo, slots: &[Slot]) -> Option<String> {
    let Nesting::Member { outer, simple } = &info.nesting else {
        return None;
    };
    let first = slots.first()?;
    let inner = info.is_inner()
        && first.descriptor == descriptor::of_class(outer)
        && first.value.value != Value::Null;
    inner.then(|| simple.clone())
}

/// Whether a type is likely generic, so that its raw form draws warnings.
fn may_be_generic(of: &str) -> bool {
    let (_, element) = descriptor::element(of);
    element.starts_with("Ljava/util/")
        || matches!(
            element,
            "Ljava/lang/Class;" | "Ljava/lang/Comparable;" | "Ljava/lang/Iterable;"
        )
}
