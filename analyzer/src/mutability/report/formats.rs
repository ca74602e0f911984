//! The formats of the output.

use super::reason::{chain, method_name, sentence};
use super::{MethodRow, View};
use crate::java::descriptor;
use crate::mutability::answers::Verdict;
use crate::mutability::purity::Purity;
use crate::text::{count, one_line};
use hindsight_classfile::access;
use serde::Serialize;
use std::io::{self, Write};

/// The `schema` of the document that [`json`] writes.
pub const SCHEMA: &str = "hindsight.mutability/1";

/// The numbers of parameters by verdict; trivial parameters are not counted.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    methods: usize,
    pure: usize,
    immutable: usize,
    mutable: usize,
    unknown: usize,
}

impl Tally {
    fn add(&mut self, row: &MethodRow) {
        self.methods += 1;
        self.pure += usize::from(row.purity == Purity::Pure);
        for param in row.params.iter().filter(|param| !param.trivial) {
            match param.verdict {
                Verdict::Immutable => self.immutable += 1,
                Verdict::Mutable => self.mutable += 1,
                Verdict::Unknown => self.unknown += 1,
            }
        }
    }
}

/// Writes verdicts for people; for methods that `explain` matches, with the whole chain.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn text(view: &View<'_>, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let (bold, plain) = if colour {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    let mut tally = Tally::default();
    let explained = !view.explain.is_empty();
    for row in view.methods() {
        tally.add(&row);
        let pure = match row.purity {
            Purity::Pure => "  pure",
            _ => "",
        };
        let head = format!("{}({})", row.full_name(), row.parameter_types());
        writeln!(out, "{bold}{}{plain}{pure}", one_line(&head, 300))?;
        for (at, param) in row
            .params
            .iter()
            .enumerate()
            .filter(|(_, param)| explained || !param.trivial)
        {
            let stage = param.stage.map_or("-", |stage| stage.name());
            let name = one_line(&param.name, 60);
            write!(out, "  {name:12} {:9}  {stage:3} ", param.verdict.name())?;
            if explained {
                let lines = chain(view, &row, at);
                for (number, line) in lines.iter().enumerate() {
                    let indent = if number == 0 { 0 } else { 30 };
                    writeln!(out, "{:indent$}{}", "", one_line(line, 300))?;
                }
            } else {
                writeln!(out, "{}", one_line(&sentence(view, &row, at), 200))?;
            }
        }
        if explained && let Some(why) = why_not_pure(view, &row) {
            writeln!(out, "  {}", one_line(&why, 200))?;
        }
    }
    let all = tally.immutable + tally.mutable + tally.unknown;
    writeln!(
        out,
        "{} ({} pure), {}: {} immutable, {} mutable, {} unknown",
        count(tally.methods, "method"),
        tally.pure,
        count(all, "parameter"),
        tally.immutable,
        tally.mutable,
        tally.unknown
    )
}

/// Why a method is not pure, or not known to be.
fn why_not_pure(view: &View<'_>, row: &MethodRow) -> Option<String> {
    let name = |at: u16| {
        row.params
            .get(usize::from(at))
            .map_or("?", |param| &param.name)
    };
    match row.purity {
        Purity::Pure => None,
        Purity::Changes(at) => Some(format!("not pure: {} is mutable", name(at))),
        Purity::Outside => {
            let what = "it may change static state, or objects that no parameter leads to";
            Some(format!("not pure: {what}"))
        }
        Purity::UnknownParameter(at) => Some(format!(
            "whether it is pure is not known, as {} is unknown",
            name(at)
        )),
        Purity::Unknown => Some(
            "whether it is pure is not known: what it runs is not there, or cannot be read"
                .to_owned(),
        ),
        Purity::NotAsImplemented(method) => Some(format!(
            "not pure: {} implements it, and is not pure",
            method_name(view, method)
        )),
        Purity::UnknownImplementation(method) => Some(format!(
            "whether it is pure is not known: {} implements it, of which that is not known",
            method_name(view, method)
        )),
        Purity::Unimplemented => Some(
            "whether it is pure is not known: it has no body, and nothing is known that implements it"
                .to_owned(),
        ),
        Purity::Missing => Some(
            "whether it is pure is not known: it has no body, and a class is missing that may implement it"
                .to_owned(),
        ),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    pipeline: &'a str,
    sound: bool,
    transitive: bool,
    warnings: &'a [String],
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    class: String,
    method: String,
    descriptor: String,
    pure: Option<bool>,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    index: usize,
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    trivial: bool,
    verdict: &'static str,
    stage: Option<&'static str>,
    reason: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chain: Vec<String>,
}

/// How the verdicts were made, for machines.
pub struct Asked<'a> {
    /// The pipeline as it was typed.
    pub pipeline: &'a str,
    /// Whether `immutable` means proved.
    pub sound: bool,
    /// Whether changes after a method's return count.
    pub transitive: bool,
    /// Problems that occurred.
    pub warnings: &'a [String],
}

/// Writes one JSON document.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn json(view: &View<'_>, asked: &Asked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let explained = !view.explain.is_empty();
    let methods = view.methods().map(|row| {
        let parameters = row
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| Parameter {
                index,
                name: param.name.clone(),
                type_name: param.type_name.clone(),
                trivial: param.trivial,
                verdict: param.verdict.name(),
                stage: param.stage.map(|stage| stage.name()),
                reason: sentence(view, &row, index),
                chain: if explained {
                    chain(view, &row, index)
                } else {
                    Vec::new()
                },
            });
        let parameters = parameters.collect();
        Method {
            parameters,
            pure: row.purity.is_pure(),
            class: row.class,
            method: row.name,
            descriptor: row.descriptor,
        }
    });
    let document = Document {
        schema: SCHEMA,
        pipeline: asked.pipeline,
        sound: asked.sound,
        transitive: asked.transitive,
        warnings: asked.warnings,
        methods: methods.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// Writes a table of parameters with a header, one line each.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn csv(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    fn field(text: &str) -> String {
        match text.contains(['"', ',', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        }
    }
    writeln!(
        out,
        "class,method,descriptor,index,name,type,verdict,stage,reason,pure"
    )?;
    for row in view.methods() {
        for (index, param) in row.params.iter().enumerate() {
            let cells = [
                field(&row.class),
                field(&row.name),
                field(&row.descriptor),
                index.to_string(),
                field(&param.name),
                field(&param.type_name),
                param.verdict.name().to_owned(),
                param.stage.map_or("", |stage| stage.name()).to_owned(),
                field(&sentence(view, &row, index)),
                row.purity
                    .is_pure()
                    .map_or_else(String::new, |pure| pure.to_string()),
            ];
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

/// Whether tools may call a method as often as they like: it is pure, and was written to be called
/// from sources.
fn is_observer(view: &View<'_>, row: &MethodRow) -> bool {
    let hidden = view
        .program
        .method(row.id)
        .is(access::SYNTHETIC | access::BRIDGE);
    row.purity == Purity::Pure && !hidden && !row.name.starts_with('<')
}

/// Writes pure methods as Randoop reads them (`--side-effect-free-methods`).
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn randoop(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in view.methods().filter(|row| is_observer(view, row)) {
        writeln!(out, "{}({})", row.full_name(), row.parameter_types())?;
    }
    Ok(())
}

/// Writes pure methods in the format of Daikon's Chicory (`--purity-file`), as
/// `java.lang.reflect.Method.toString` prints them.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn chicory(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    const MODIFIERS: [(u16, &str); 9] = [
        (access::PUBLIC, "public"),
        (access::PROTECTED, "protected"),
        (access::PRIVATE, "private"),
        (access::ABSTRACT, "abstract"),
        (access::STATIC, "static"),
        (access::FINAL, "final"),
        (access::SYNCHRONIZED, "synchronized"),
        (access::NATIVE, "native"),
        (access::STRICT, "strictfp"),
    ];
    for row in view.methods().filter(|row| is_observer(view, row)) {
        let Some((parameters, result)) = descriptor::split(&row.descriptor) else {
            continue;
        };
        let method = view.program.method(row.id);
        let mut line = String::new();
        for (flag, name) in MODIFIERS {
            if method.is(flag) {
                line.push_str(name);
                line.push(' ');
            }
        }
        let interface = view.program.class(method.class).access & access::INTERFACE != 0;
        if interface && !method.is(access::ABSTRACT | access::STATIC | access::PRIVATE) {
            line.push_str("default ");
        }
        let parameters: Vec<String> = parameters.into_iter().map(descriptor::type_name).collect();
        let thrown = exceptions(view, &row);
        write!(
            out,
            "{line}{} {}({})",
            descriptor::type_name(result),
            row.full_name(),
            parameters.join(",")
        )?;
        if !thrown.is_empty() {
            write!(out, " throws {}", thrown.join(","))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The exceptions that a method declares.
fn exceptions(view: &View<'_>, row: &MethodRow) -> Vec<String> {
    let method = view.program.method(row.id);
    let read = || {
        let file = view.program.file(method.class)?;
        let member = file.methods.get(usize::from(method.place))?;
        let mut r = member.attributes.find(&file.pool, "Exceptions")?.reader();
        let mut names = Vec::new();
        for _ in 0..r.u16().ok()? {
            let name = file.pool.class(r.u16().ok()?).ok()?;
            names.push(name.to_string_lossy().replace('/', "."));
        }
        Some(names)
    };
    read().unwrap_or_default()
}
