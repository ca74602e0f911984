//! Tests as Java that a person can read.

use super::asserted::{Assertion, Checked};
use super::sequence::{Arg, Method, Methods, Statement};
use super::worker::{Worker, class_get_name, unboxed};
use crate::classpath::ClassPath;
use crate::graph::Typed;
use crate::java::names::{Names, is_identifier, package_of, sanitize};
use crate::java::{comment, descriptor, literal};
use crate::junit::Framework;
use crate::model::values::Literal;
use crate::text::simple_name;
use hindsight_classfile::access;
use hindsight_tracelog::crash::Value;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Tests of one file.
pub const MAX_TESTS: usize = 200;

/// Methods without parameters that each class has from `Object`.
const OBJECTS_OWN: [&str; 8] = [
    "clone",
    "finalize",
    "getClass",
    "hashCode",
    "notify",
    "notifyAll",
    "toString",
    "wait",
];

/// How every source file starts.
pub const FIRST_LINE: &str = "// Pins down what the program does:\n";

/// What sources are written with.
pub struct Context<'a> {
    /// All methods.
    pub methods: &'a Methods,
    /// What is known of classes.
    pub worker: &'a Worker,
    /// The program.
    pub classpath: &'a ClassPath,
    /// For which JUnit.
    pub framework: Framework,
}

/// A file of tests.
#[derive(Debug)]
pub struct Source {
    /// The package; empty for the unnamed one.
    pub package: String,
    /// The class.
    pub name: String,
    /// The text.
    pub text: String,
    /// Tests, by the number that they were given: their names, and their lines from
    /// 1.
    pub tests: Vec<(usize, String, Range<usize>)>,
    /// Those that cannot be written down.
    pub failed: Vec<usize>,
}

impl Source {
    /// Its path below the directory of sources.
    pub fn path(&self) -> String {
        let dir = self.package.replace('.', "/");
        let slash = if dir.is_empty() { "" } else { "/" };
        format!("{dir}{slash}{}.java", self.name)
    }

    /// The class with its package.
    pub fn class(&self) -> String {
        let dot = if self.package.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.package, self.name)
    }
}

/// Writes tests, one file or more for each class. `what` is a word for the names
/// of the classes, `about` a line that says where they come from.
pub fn sources(
    context: &Context<'_>,
    tests: &[(usize, &Checked)],
    what: &str,
    about: &str,
) -> Vec<Source> {
    let mut by_class: Vec<(&str, Vec<(usize, &Checked)>)> = Vec::new();
    for &(number, test) in tests {
        match by_class.iter_mut().find(|(class, _)| *class == test.class) {
            Some((_, list)) => list.push((number, test)),
            None => by_class.push((&test.class, vec![(number, test)])),
        }
    }
    let mut out = Vec::new();
    let mut used: HashSet<String> = HashSet::new();
    for (class, list) in by_class {
        for (part, chunk) in list.chunks(MAX_TESTS).enumerate() {
            let number = if part == 0 {
                String::new()
            } else {
                (part + 1).to_string()
            };
            let simple = sanitize(simple_name(class).rsplit('$').next().unwrap_or("Program"));
            let package = package_of(class).to_owned();
            let mut name = format!("{simple}{what}Test{number}");
            let siblings = context.classpath.types_of_package(&package);
            while siblings.contains(&name) || !used.insert(format!("{package}.{name}")) {
                name.insert(0, 'X');
            }
            out.push(source(context, package, name, chunk, about, &siblings));
        }
    }
    out
}

fn source(
    context: &Context<'_>,
    package: String,
    name: String,
    tests: &[(usize, &Checked)],
    about: &str,
    siblings: &HashSet<String>,
) -> Source {
    let mut taken = siblings.clone();
    taken.insert(name.clone());
    let mut names = Names::new(&package, &taken);
    let (test, assertions) = match context.framework {
        Framework::Junit5 => (
            names.write("org.junit.jupiter.api", "Test"),
            "org.junit.jupiter.api.Assertions",
        ),
        Framework::Junit4 => (names.write("org.junit", "Test"), "org.junit.Assert"),
    };
    let public = match context.framework {
        Framework::Junit5 => "",
        Framework::Junit4 => "public ",
    };
    let mut methods = Vec::new();
    let mut failed = Vec::new();
    let mut raw = false;
    let mut used: HashMap<String, usize> = HashMap::new();
    let mut statics: HashSet<&'static str> = HashSet::new();
    for &(number, checked) in tests {
        // Names that a failed one has asked for do no harm.
        let mut body = Body::new(context, checked, &mut names);
        let Some(code) = body.write() else {
            failed.push(number);
            continue;
        };
        statics.extend(body.statics);
        raw |= body.raw;
        let throws = if body.throws { " throws Exception" } else { "" };
        let base = method_name(context, checked);
        let count = used.entry(base.clone()).or_default();
        *count += 1;
        let name = match *count {
            1 => base,
            count => format!("{base}_{count}"),
        };
        let text = format!("    @{test}\n    {public}void {name}(){throws} {{\n{code}    }}\n");
        methods.push((number, name, text));
    }
    let mut text = FIRST_LINE.to_owned();
    text.push_str(&comment::lines(about, "", 4));
    if !package.is_empty() {
        text.push_str(&format!("package {package};\n\n"));
    }
    let mut statics: Vec<_> = statics.into_iter().collect();
    statics.sort_unstable();
    for one in &statics {
        text.push_str(&format!("import static {assertions}.{one};\n"));
    }
    if !statics.is_empty() {
        text.push('\n');
    }
    let code: String = methods.iter().map(|(_, _, code)| code.as_str()).collect();
    text.push_str(&names.imports(&format!("{test} {code}")));
    text.push('\n');
    if raw {
        let annotation = names.java_lang("SuppressWarnings");
        text.push_str(&format!("@{annotation}({{\"rawtypes\", \"unchecked\"}})\n"));
    }
    text.push_str(&format!("{public}class {name} {{\n"));
    let mut lines = Vec::new();
    for (number, name, code) in methods {
        text.push('\n');
        let first = text.lines().count() + 1;
        text.push_str(&code);
        lines.push((number, name, first..text.lines().count() + 1));
    }
    text.push_str("}\n");
    Source {
        package,
        name,
        text,
        tests: lines,
        failed,
    }
}

/// What the test does: the calls of its class, the last of them last.
fn method_name(context: &Context<'_>, checked: &Checked) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut threw = None;
    let calls = checked.sequence.len() - checked.observers;
    for (at, statement) in checked.sequence.iter().take(calls).enumerate() {
        let method = context.methods.get(statement.method);
        threw = match &checked.assertions[at] {
            Some(Assertion::Throws(class)) => simple_name(class).rsplit('$').next(),
            _ => None,
        };
        let matters = checked.kept[at] || checked.assertions[at].is_some();
        if !matters || method.is_constructor() {
            continue;
        }
        let word = sanitize(&method.name);
        if words.last() != Some(&word) {
            words.push(word);
        }
    }
    if words.len() > 3 {
        words.drain(1..words.len() - 2);
    }
    let mut name = match words.split_first() {
        None => {
            let class = simple_name(&checked.class);
            format!("new{}", sanitize(class.rsplit('$').next().unwrap_or(class)))
        }
        Some((first, rest)) => {
            let rest: String = rest
                .iter()
                .map(|word| format!("Then{}", capital(word)))
                .collect();
            format!("{first}{rest}")
        }
    };
    if let Some(threw) = threw {
        name.push_str("Throws");
        name.push_str(&capital(threw));
    }
    // What all objects have cannot be a test.
    if OBJECTS_OWN.contains(&name.as_str()) {
        name = format!("calls{}", capital(&name));
    }
    if is_identifier(&name) {
        name
    } else {
        format!("{name}_")
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The body of a test.
struct Body<'a, 'n> {
    context: &'a Context<'a>,
    checked: &'a Checked,
    names: &'n mut Names,
    /// Names of variables.
    vars: HashMap<usize, String>,
    taken: HashSet<String>,
    statics: HashSet<&'static str>,
    throws: bool,
    /// Whether a generic type is written without its arguments.
    raw: bool,
}

impl<'a, 'n> Body<'a, 'n> {
    fn new(context: &'a Context<'a>, checked: &'a Checked, names: &'n mut Names) -> Self {
        Body {
            context,
            checked,
            names,
            vars: HashMap::new(),
            taken: HashSet::new(),
            statics: HashSet::new(),
            throws: false,
            raw: false,
        }
    }

    fn write(&mut self) -> Option<String> {
        let mut used = HashSet::new();
        for (at, statement) in self.checked.sequence.iter().enumerate() {
            statement.vars(|var| {
                used.insert(var);
            });
            if let Some(Assertion::Same(var)) = self.checked.assertions[at] {
                used.insert(var);
            }
        }
        let mut out = String::new();
        for (at, statement) in self.checked.sequence.iter().enumerate() {
            let method = self.context.methods.get(statement.method).clone();
            self.throws |= self.may_throw(&method);
            let call = self.call(&method, statement)?;
            let line = match (&self.checked.assertions[at], used.contains(&at)) {
                (Some(Assertion::Throws(class)), _) => {
                    let class = self.type_name(&descriptor::of_class(class))?;
                    let assert = self.assert("assertThrows");
                    format!("{assert}({class}.class, () -> {call});")
                }
                (None, false) => format!("{call};"),
                (None, true) => self.declare(at, &method, &call)?,
                (Some(assertion), false) => self.asserted(&method, assertion, &call)?,
                (Some(assertion), true) => {
                    let declared = self.declare(at, &method, &call)?;
                    let name = self.vars.get(&at)?.clone();
                    let assert = self.asserted(&method, assertion, &name)?;
                    format!("{declared}\n        {assert}")
                }
            };
            out.push_str(&wrap(&line));
        }
        Some(out)
    }

    fn may_throw(&self, method: &Method) -> bool {
        match self.context.classpath.info(&method.class) {
            Some(found) => found
                .info
                .as_ref()
                .and_then(|info| info.method(&method.name, &method.descriptor))
                .is_none_or(|method| method.throws),
            None => true,
        }
    }

    fn assert(&mut self, name: &'static str) -> &'static str {
        self.statics.insert(name);
        name
    }

    fn call(&mut self, method: &Method, statement: &Statement) -> Option<String> {
        let (types, _) = method.types();
        let overloaded = self.is_overloaded(method, types.len());
        let mut args = Vec::new();
        for (arg, ty) in statement.args.iter().zip(&types) {
            args.push(self.argument(arg, ty, overloaded)?);
        }
        let args = args.join(", ");
        if method.is_constructor() {
            let class = self.type_name(&descriptor::of_class(&method.class))?;
            return Some(format!("new {class}({args})"));
        }
        if !is_identifier(&method.name) {
            return None;
        }
        let on = match statement.on {
            Some(on) => self.vars.get(&on)?.clone(),
            None => self.type_name(&descriptor::of_class(&method.class))?,
        };
        Some(format!("{on}.{}({args})", method.name))
    }

    fn is_overloaded(&self, method: &Method, count: usize) -> bool {
        let found = self.context.classpath.info(&method.class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        info.is_none_or(|info| {
            let same = info.methods.iter().filter(|other| {
                other.name == method.name
                    && descriptor::split(&other.descriptor)
                        .is_some_and(|(types, _)| types.len() == count)
            });
            same.count() > 1
        })
    }

    fn argument(&mut self, arg: &Arg, ty: &str, overloaded: bool) -> Option<String> {
        Some(match arg {
            Arg::Var(var) => self.vars.get(var)?.clone(),
            Arg::Literal(Literal::Null) if overloaded => {
                format!("({}) null", self.type_name(ty)?)
            }
            Arg::Literal(literal) => self.literal(literal, ty)?,
            Arg::Array(element, elements) => {
                let mut list = Vec::new();
                for one in elements {
                    list.push(self.argument(one, element, false)?);
                }
                let name = self.type_name(element)?;
                format!("new {name}[] {{{}}}", list.join(", "))
            }
        })
    }

    fn literal(&mut self, value: &Literal, ty: &str) -> Option<String> {
        let kind = ty.bytes().next()?;
        let typed = |value: Value, ty: &str| Typed::new(value, ty);
        Some(match value {
            Literal::Null => "null".to_owned(),
            Literal::Text(text) => {
                let units: Vec<u16> = text.encode_utf16().collect();
                literal::string(&units)?
            }
            Literal::Enum(class, name) => {
                if !is_identifier(name) {
                    return None;
                }
                format!("{}.{name}", self.type_name(&descriptor::of_class(class))?)
            }
            Literal::Class(name) => {
                let ty = match name.as_str() {
                    "void" => return Some("void.class".to_owned()),
                    name => descriptor_of(name),
                };
                format!("{}.class", self.type_name(&ty)?)
            }
            Literal::Box(class, text) => {
                let (kind, bits) = unboxed(class, text)?;
                let literal = match kind {
                    b'Z' => Literal::Bool(bits != 0),
                    b'F' => Literal::Float(bits as u32),
                    b'D' => Literal::Double(bits as u64),
                    _ => Literal::Int(bits),
                };
                let inner = self.literal(&literal, &char::from(kind).to_string())?;
                format!(
                    "{}.valueOf({inner})",
                    self.names.java_lang(simple_name(class))
                )
            }
            // What is declared as an object is a box.
            Literal::Bool(value) if kind == b'L' => {
                format!("{}.valueOf({value})", self.names.java_lang("Boolean"))
            }
            Literal::Bool(value) => value.to_string(),
            Literal::Int(value) => literal::primitive(typed(Value::Int(*value), ty), self.names)?,
            Literal::Float(bits) => {
                literal::primitive(typed(Value::Float(f32::from_bits(*bits)), "F"), self.names)?
            }
            Literal::Double(bits) => {
                literal::primitive(typed(Value::Double(f64::from_bits(*bits)), "D"), self.names)?
            }
        })
    }

    /// How a type is written, if any source may name it.
    fn type_name(&mut self, ty: &str) -> Option<String> {
        let (dimensions, element) = descriptor::element(ty);
        let name = match descriptor::primitive_name(element) {
            Some(primitive) => primitive.to_owned(),
            None => {
                let class = descriptor::class_name(element)?;
                self.class_name(&class)?
            }
        };
        Some(name + &"[]".repeat(dimensions))
    }

    fn class_name(&mut self, class: &str) -> Option<String> {
        use crate::classinfo::Nesting;
        let mut path = Vec::new();
        let mut at = class.to_owned();
        loop {
            let found = self.context.classpath.info(&at);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            // An enum is generic by its superclass alone.
            self.raw |= info.map_or(at.starts_with("java.util."), |info| {
                info.generic && !info.is(access::ENUM)
            });
            let nesting = match info {
                Some(info) => info.nesting.clone(),
                // Of the JDK: there a dollar stands for nesting.
                None => match at.rsplit_once('$') {
                    Some((outer, simple)) => Nesting::Member {
                        outer: outer.to_owned(),
                        simple: simple.to_owned(),
                    },
                    None => Nesting::TopLevel,
                },
            };
            match nesting {
                Nesting::TopLevel => {
                    path.push(simple_name(&at).to_owned());
                    break;
                }
                Nesting::Member { outer, simple } => {
                    path.push(simple);
                    at = outer;
                }
                Nesting::Local => return None,
            }
        }
        if !path.iter().all(|name| is_identifier(name)) {
            return None;
        }
        // No source of a package can name what is in none.
        if package_of(&at).is_empty() && !package_of(&self.checked.class).is_empty() {
            return None;
        }
        path.reverse();
        Some(self.names.write(package_of(&at), &path.join(".")))
    }

    fn declare(&mut self, at: usize, method: &Method, call: &str) -> Option<String> {
        let (_, result) = method.types();
        let ty = self.variable_type(at, &result)?;
        let written = self.type_name(&ty)?;
        let cast = if ty == result {
            String::new()
        } else {
            format!("({written}) ")
        };
        let name = self.variable(&ty);
        self.vars.insert(at, name.clone());
        Some(format!("{written} {name} = {cast}{call};"))
    }

    /// The static type, if all that follows can be done with it.
    fn variable_type(&self, at: usize, result: &str) -> Option<String> {
        let mut wanted: HashSet<String> = HashSet::new();
        for statement in &self.checked.sequence {
            let method = self.context.methods.get(statement.method);
            if statement.on == Some(at) {
                wanted.insert(descriptor::of_class(&method.class));
            }
            let (types, _) = method.types();
            for (arg, ty) in statement.args.iter().zip(&types) {
                arg_types(arg, ty, at, &mut wanted);
            }
        }
        let is = |ty: &str, wanted: &str| {
            ty == wanted
                || wanted == "Ljava/lang/Object;"
                || (self.context.worker.named(&class_get_name(ty)))
                    .is_some_and(|class| class.is_a(&class_get_name(wanted)))
        };
        let accessible = |ty: &str| {
            let (_, element) = descriptor::element(ty);
            descriptor::primitive_name(element).is_some()
                || (self.context.worker.named(&class_get_name(ty)))
                    .is_none_or(|class| class.accessible)
        };
        if accessible(result) && wanted.iter().all(|wanted| is(result, wanted)) {
            return Some(result.to_owned());
        }
        // One of the types that are wanted may be all of them.
        let narrow = |ty: &&String| accessible(ty) && wanted.iter().all(|wanted| is(ty, wanted));
        let mut fitting: Vec<&String> = wanted.iter().filter(narrow).collect();
        fitting.sort();
        fitting.first().map(|ty| (*ty).clone())
    }

    fn variable(&mut self, ty: &str) -> String {
        let (dimensions, element) = descriptor::element(ty);
        let base = match descriptor::primitive_name(element) {
            Some("boolean") => "flag".to_owned(),
            Some("char") => "character".to_owned(),
            Some("int" | "long" | "short" | "byte") => "number".to_owned(),
            Some(_) => "value".to_owned(),
            None => {
                let class = descriptor::class_name(element).unwrap_or_default();
                let simple = sanitize(simple_name(&class).rsplit('$').next().unwrap_or("x"));
                lower(&simple)
            }
        };
        let base = if dimensions > 0 {
            format!("{base}s")
        } else {
            base
        };
        let base = match is_identifier(&base) {
            true => base,
            false => format!("a{}", capital(&base)),
        };
        let mut name = base.clone();
        let mut number = 1;
        while self.taken.contains(&name) || self.names.is_used(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        self.taken.insert(name.clone());
        name
    }

    fn asserted(&mut self, method: &Method, assertion: &Assertion, actual: &str) -> Option<String> {
        let (_, result) = method.types();
        let junit4 = self.context.framework == Framework::Junit4;
        Some(match assertion {
            Assertion::Equals(Literal::Null) => format!("{}({actual});", self.assert("assertNull")),
            Assertion::Equals(Literal::Bool(value)) if result == "Z" => {
                let name = if *value { "assertTrue" } else { "assertFalse" };
                format!("{}({actual});", self.assert(name))
            }
            Assertion::Equals(value) => {
                let ty = match result.bytes().next()? {
                    b'L' => boxed(value, &result)?,
                    _ => value.clone(),
                };
                let expected = self.literal(&ty, &result)?;
                let delta = match (junit4, result.as_str()) {
                    (true, "D") => ", 0.0",
                    (true, "F") => ", 0.0f",
                    _ => "",
                };
                format!(
                    "{}({expected}, {actual}{delta});",
                    self.assert("assertEquals")
                )
            }
            Assertion::Array(elements) => {
                let element = result.strip_prefix('[')?;
                let primitive = descriptor::primitive_name(element).is_some();
                if !primitive && element != "Ljava/lang/String;" {
                    return None;
                }
                let mut list = Vec::new();
                for one in elements {
                    list.push(self.literal(one, element)?);
                }
                let name = self.type_name(element)?;
                let delta = match (junit4, element) {
                    (true, "D") => ", 0.0",
                    (true, "F") => ", 0.0f",
                    _ => "",
                };
                let assert = self.assert("assertArrayEquals");
                format!(
                    "{assert}(new {name}[] {{{}}}, {actual}{delta});",
                    list.join(", ")
                )
            }
            Assertion::Same(var) => {
                let name = self.vars.get(var)?.clone();
                format!("{}({name}, {actual});", self.assert("assertSame"))
            }
            Assertion::NotNull => format!("{}({actual});", self.assert("assertNotNull")),
            Assertion::Throws(_) => return None,
        })
    }
}

/// The types that are wanted of a variable that is passed.
fn arg_types(arg: &Arg, ty: &str, var: usize, wanted: &mut HashSet<String>) {
    match arg {
        Arg::Var(passed) if *passed == var => {
            wanted.insert(ty.to_owned());
        }
        Arg::Array(element, elements) => {
            for one in elements {
                arg_types(one, element, var, wanted);
            }
        }
        Arg::Var(_) | Arg::Literal(_) => {}
    }
}

/// A number that is returned as an object, whose class must be known.
fn boxed(value: &Literal, result: &str) -> Option<Literal> {
    let class = descriptor::class_name(result)?;
    let text = match value {
        Literal::Bool(_) => return Some(value.clone()),
        Literal::Int(value) if class == "java.lang.Character" => {
            let unit = u16::try_from(*value).ok()?;
            String::from_utf16(&[unit]).ok()?
        }
        Literal::Int(value) => value.to_string(),
        Literal::Float(bits) => f32::from_bits(*bits).to_string(),
        Literal::Double(bits) => f64::from_bits(*bits).to_string(),
        _ => return Some(value.clone()),
    };
    unboxed(&class, &text)?;
    Some(Literal::Box(class, text))
}

/// The descriptor of a class by the name that `Class.getName` gives.
fn descriptor_of(name: &str) -> String {
    let primitives = ["Z", "B", "C", "S", "I", "J", "F", "D"];
    let primitive = primitives
        .into_iter()
        .find(|ty| descriptor::primitive_name(ty) == Some(name));
    primitive.map_or_else(|| descriptor::of_class(name), str::to_owned)
}

fn lower(word: &str) -> String {
    // URLReader is urlReader.
    let upper = word.chars().take_while(|c| c.is_uppercase()).count();
    let end = match upper {
        0 | 1 => upper,
        all if all == word.chars().count() => all,
        many => many - 1,
    };
    let head = word.chars().take(end).flat_map(char::to_lowercase);
    head.chain(word.chars().skip(end)).collect()
}

/// A line within 100 columns, broken behind commas that stand in no text.
fn wrap(line: &str) -> String {
    const WIDTH: usize = 100;
    let mut out = String::new();
    for line in line.split("\n        ") {
        let mut rest = line;
        let mut indent = "        ";
        while indent.len() + rest.chars().count() > WIDTH {
            let room = WIDTH - indent.len();
            let Some(at) = comma(rest, room) else { break };
            let (head, tail) = rest.split_at(at);
            out.push_str(&format!("{indent}{}\n", head.trim_end()));
            rest = tail.trim_start();
            indent = "                ";
        }
        out.push_str(&format!("{indent}{rest}\n"));
    }
    out
}

/// The place behind the last comma within `room`, or else behind the first.
fn comma(line: &str, room: usize) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut last = None;
    for (count, (at, c)) in line.char_indices().enumerate() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if let Some(open) = quote {
            if c == open {
                quote = None;
            }
        } else if c == '"' || c == '\'' {
            quote = Some(c);
        } else if c == ',' {
            if count >= room && last.is_some() {
                break;
            }
            last = Some(at + 1);
        }
    }
    last.filter(|at| *at < line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_types() {
        for (simple, expected) in [
            ("Stmt", "stmt"),
            ("URLReader", "urlReader"),
            ("URL", "url"),
            ("aB", "aB"),
        ] {
            assert_eq!(lower(simple), expected);
        }
    }

    #[test]
    fn lines_are_broken_behind_commas_outside_of_texts() {
        assert_eq!(wrap("f(a, b);"), "        f(a, b);\n");
        let text = format!("f(\"{}\", 'c', \"a, \\\" b\");", "x, ".repeat(30));
        let expected = format!(
            "        f(\"{}\",\n                'c', \"a, \\\" b\");\n",
            "x, ".repeat(30)
        );
        assert_eq!(wrap(&text), expected);
        // Where there is no comma, a line stays as long as it is.
        let long = format!("f(\"{}\");", "x".repeat(120));
        assert_eq!(wrap(&long), format!("        {long}\n"));
    }

    #[test]
    fn boxes_are_asserted_as_what_is_declared() {
        let seven = Literal::Int(7);
        let boxed_as = |class: &str| boxed(&seven, &format!("Ljava/lang/{class};"));
        assert_eq!(
            boxed_as("Long"),
            Some(Literal::Box("java.lang.Long".to_owned(), "7".to_owned()))
        );
        // What kind of number it is is not known.
        assert_eq!(boxed_as("Object"), None);
        let text = Literal::Text("7".to_owned());
        assert_eq!(boxed(&text, "Ljava/lang/Object;"), Some(text.clone()));
    }
}
