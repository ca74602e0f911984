//! Printing verdicts: for people, for machines, and for two other tools.
//!
//! - `formats` are the formats of the output; `reason` puts reasons into words.

mod formats;
mod reason;

pub use formats::{Asked, SCHEMA, chicory, csv, json, randoop, text};
pub use reason::{chain, sentence};

use super::analysis::Outcome;
use super::answers::{Reason, Stage, Verdict};
use super::purity::{Purity, purity};
use crate::java::descriptor;
use crate::program::{ClassId, MethodId, Program};
use hindsight_classfile::{ClassFile, MethodDescriptor, Utf8, access, tables};
use hindsight_instrument::glob::Globs;

/// A method with its verdicts.
pub struct MethodRow {
    /// The method.
    pub id: MethodId,
    /// The method's class, with dots.
    pub class: String,
    /// The method's name.
    pub name: String,
    /// The method's descriptor.
    pub descriptor: String,
    /// Whether the method changes nothing that existed before.
    pub purity: Purity,
    /// The parameters, `this` first.
    pub params: Vec<ParamRow>,
    /// The lines of its code: the offset of each line's first instruction, and the line.
    lines: Vec<(u16, u16)>,
    /// The name of the source file.
    source: String,
}

/// A parameter with its verdict.
pub struct ParamRow {
    /// The parameter's name, or `argN` if the class file has none.
    pub name: String,
    /// The parameter's type as in sources.
    pub type_name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The stage that decided.
    pub stage: Option<Stage>,
    /// The reason for the verdict.
    pub reason: Reason,
    /// Whether its type is a number, a string or a box, whose values nothing can change.
    pub trivial: bool,
}

/// What is to be shown.
pub struct View<'a> {
    /// The program.
    pub program: &'a Program,
    /// The result of the pipeline.
    pub outcome: &'a Outcome,
    /// Globs of the classes to show.
    pub classes: &'a Globs,
    /// Globs of methods, with their classes. If there are any, only matching methods are shown, and
    /// they are explained.
    pub explain: &'a Globs,
}

impl View<'_> {
    /// The methods of the program's own classes that are to be shown, in the order of the class
    /// path.
    pub fn methods(&self) -> impl Iterator<Item = MethodRow> + '_ {
        let all = self.explain.is_empty();
        self.of_classes()
            .filter(move |row| all || self.explain.matches(&row.full_name()))
    }

    /// The methods of the classes that are to be shown, including those that are not explained.
    pub fn of_classes(&self) -> impl Iterator<Item = MethodRow> + '_ {
        let classes = (0..self.program.classes.len() as u32).map(ClassId);
        classes
            .filter(|&class| self.shows(class))
            .flat_map(|class| {
                let file = self.program.file(class);
                let methods = self.program.class(class).methods.clone();
                let rows: Vec<MethodRow> = methods
                    .map(|method| self.row(MethodId(method), file.as_ref()))
                    .collect();
                rows
            })
    }

    fn shows(&self, class: ClassId) -> bool {
        let known = self.program.class(class);
        !known.library
            && !known.missing
            && (self.classes.is_empty() || self.classes.matches(&self.program.class_name(class)))
    }

    /// The row of one method.
    pub fn method(&self, id: MethodId) -> MethodRow {
        let file = self.program.file(self.program.method(id).class);
        self.row(id, file.as_ref())
    }

    fn row(&self, id: MethodId, file: Option<&ClassFile<'_>>) -> MethodRow {
        let program = self.program;
        let method = program.method(id);
        let class = program.class_name(method.class);
        let (name, descriptor) = program.signature(id);
        let types = types(&descriptor);
        let is_static = method.is(access::STATIC);
        let mut params = Vec::new();
        let names = file
            .map(|file| names(file, method.place.into(), is_static))
            .unwrap_or_default();
        let this = (!is_static).then(|| ("this".to_owned(), class.clone()));
        let named = types.into_iter().enumerate().map(|(at, ty)| {
            let name = names.get(at).cloned().flatten();
            (name.unwrap_or_else(|| format!("arg{at}")), ty)
        });
        let answers = &self.outcome.answers;
        let own = answers.has(id);
        for (at, (name, type_name)) in this.into_iter().chain(named).enumerate() {
            let place = own.then(|| answers.place_if(id, at as u16)).flatten();
            let reason = place.map_or(Reason::None, |place| answers.reason(place).clone());
            params.push(ParamRow {
                name,
                type_name,
                verdict: place.map_or(Verdict::Unknown, |place| answers.verdict(place)),
                stage: place.and_then(|place| answers.stage(place)),
                trivial: reason == Reason::Trivial,
                reason,
            });
        }
        MethodRow {
            id,
            class,
            name,
            descriptor,
            purity: purity(program, self.outcome, id),
            params,
            lines: file
                .map(|file| lines(file, method.place.into()))
                .unwrap_or_default(),
            source: file.and_then(source).unwrap_or_default(),
        }
    }
}

impl MethodRow {
    /// The method's class and name.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.class, self.name)
    }

    /// The place of an instruction in the sources: `Main.java:17`.
    pub fn place(&self, pc: u16) -> String {
        let line = self
            .lines
            .iter()
            .rev()
            .find(|line| line.0 <= pc)
            .map(|line| line.1);
        match (line, self.source.is_empty()) {
            (Some(line), false) => format!("{}:{line}", self.source),
            (Some(line), true) => format!("line {line}"),
            (None, _) => format!("{} at {pc}", self.name),
        }
    }

    /// The types of the parameters, in parentheses.
    pub fn parameter_types(&self) -> String {
        types(&self.descriptor).join(", ")
    }
}

/// The types of a method's parameters as in sources.
fn types(method: &str) -> Vec<String> {
    match MethodDescriptor::parse(Utf8::new(method.as_bytes())) {
        Ok(parsed) => parsed
            .parameters()
            .map(|ty| descriptor::type_name(&ty.descriptor().to_string_lossy()))
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// The names of the declared parameters, as far as debug tables have them.
fn names(file: &ClassFile<'_>, place: usize, is_static: bool) -> Vec<Option<String>> {
    let Some(member) = file.methods.get(place) else {
        return Vec::new();
    };
    let Ok(parsed) = member.method_descriptor() else {
        return Vec::new();
    };
    let mut found = vec![None; usize::from(parsed.parameter_count())];
    let text = |index: u16| {
        file.pool
            .utf8(index)
            .ok()
            .map(|name| name.to_string_lossy().into_owned())
    };
    if let Ok(Some(code)) = member.code(&file.pool)
        && let Some(attribute) = code.attributes.find(&file.pool, "LocalVariableTable")
        && let Ok(variables) = tables::local_variables(&attribute)
    {
        let variables: Vec<_> = variables.filter(|variable| variable.start == 0).collect();
        let mut slot = u16::from(!is_static);
        for (ty, name) in parsed.parameters().zip(&mut found) {
            let variable = variables.iter().find(|variable| variable.slot == slot);
            *name = variable.and_then(|variable| text(variable.name_index));
            slot += ty.slots();
        }
    } else if let Some(attribute) = member.attributes.find(&file.pool, "MethodParameters")
        && let Ok(parameters) = tables::method_parameters(&attribute)
        && parameters.len() == found.len()
    {
        for (parameter, name) in parameters.zip(&mut found) {
            *name = text(parameter.name_index);
        }
    }
    found
}

fn lines(file: &ClassFile<'_>, place: usize) -> Vec<(u16, u16)> {
    let read = || {
        let code = file.methods.get(place)?.code(&file.pool).ok()??;
        let attribute = code.attributes.find(&file.pool, "LineNumberTable")?;
        let mut lines: Vec<_> = tables::line_numbers(&attribute)
            .ok()?
            .map(|line| (line.start, line.line))
            .collect();
        lines.sort_unstable();
        Some(lines)
    };
    read().unwrap_or_default()
}

fn source(file: &ClassFile<'_>) -> Option<String> {
    let attribute = file.attributes.find(&file.pool, "SourceFile")?;
    Some(
        tables::name(&file.pool, &attribute)
            .ok()?
            .to_string_lossy()
            .into_owned(),
    )
}
