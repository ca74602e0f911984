//! `hindsight plan`.

use super::Format;
use super::program::{Loaded, Source};
use crate::copyplan::{self, MAX_STATICS};
use crate::files::{makeable, write_bytes};
use crate::mutability::analysis::{Plan as Pipeline, calls, run};
use crate::mutability::answers::Stage;
use crate::mutability::recorded::apply::Recorded;
use crate::text::{count, one_line};
use anyhow::Result;
use hindsight_tracelog::plan::{Field, Plan};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

const SCHEMA: &str = "hindsight.plan/1";

/// Say what the agent should copy of the arguments of each method, and what not.
///
/// For each method of the program: whether it can throw at all, which parameters it leaves alone
/// (these may be kept by reference), and for the others the fields that it, or what it calls, may
/// read and overwrite, by whatever reference to the object, so that their values at entry would be
/// lost. Everything is proved, as with `hindsight mutability --sound`, for what the thread does in
/// existing code; docs/limits.md says what is not seen. The file names each class with a checksum:
/// the agent (`plan=FILE`) ignores it from the first class on that is another version, or was
/// loaded before the agent, and earlier recordings with it say so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # Write a plan.
    $ hindsight plan --classpath app.jar --out app.plan

    # The same to be read.
    $ hindsight plan --classpath app.jar --out app.plan --format json

Exit status:
    0 on success, also if a class could not be read (a warning names it),
    1 if the class path or the JDK cannot be read, or the plan not be written,
    2 if the arguments are wrong.")]
pub struct Opts {
    #[command(flatten)]
    source: Source,

    /// Where to write the plan.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// How to print: text for people (a summary), json for machines (all of it).
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    out: String,
    warnings: &'a [String],
    classes: Vec<ClassRow>,
    methods: Vec<Row<'a>>,
}

/// A class, and the checksum of the file that the plan was made from.
#[derive(Serialize)]
struct ClassRow {
    class: String,
    crc: u32,
}

#[derive(Serialize)]
struct Row<'a> {
    class: String,
    method: &'a str,
    descriptor: &'a str,
    cannot_throw: bool,
    trivial: bool,
    parameters: Vec<Cell>,
    /// The static fields; `None` if they are not known.
    statics: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Cell {
    index: u16,
    immutable: bool,
    deep: bool,
    fields: Vec<String>,
}

fn dotted(field: &Field) -> String {
    format!("{}.{}", field.class.replace('/', "."), field.name)
}

/// The counts of parameters in words. Of those that may change, some have fields to copy, some may
/// lose more than that, and some both or neither.
fn told(all: usize, changed: usize, copied: usize, fields: usize, deep: usize) -> String {
    let mut told = format!(
        "{}: {} by reference, {changed} that may change",
        count(all, "parameter"),
        all - changed
    );
    let mut separator = ": ";
    if copied > 0 {
        told += &format!(
            "{separator}{copied} of them with {} to copy",
            count(fields, "field")
        );
        separator = ", ";
    }
    if deep > 0 {
        let more = if copied > 0 { "more" } else { "something" };
        told += &format!("{separator}{deep} of which {more} may be lost");
    }
    told
}

impl Opts {
    /// Writes the plan, and a summary to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the class path or the JDK cannot be read, or the plan cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        makeable(&self.out)?;
        let loaded = Loaded::open(&self.source, true)?;
        let pipeline = Pipeline {
            stages: vec![Stage::Flow, Stage::P],
            sound: true,
            instances: false,
            transitive: false,
            recorded: Recorded::default(),
        };
        let plan = loaded.with_library(|program, library, step| {
            let outcome = run(program, library, &pipeline, None, step)?;
            let calls = calls(program, &outcome.facts, &pipeline);
            anyhow::Ok(copyplan::plan(&calls, library, &outcome))
        })?;
        // A JVM that starts meanwhile reads either the old one or the new one.
        write_bytes(&self.out, 0o666, &plan.encode())?;
        match self.format {
            Format::Text => self.text(&plan, out),
            Format::Json => self.json(&plan, loaded.warnings(), out),
        }
    }

    fn text(&self, plan: &Plan, out: &mut dyn Write) -> Result<()> {
        let methods = || plan.classes.iter().flat_map(|class| &class.methods);
        let parameters = || methods().flat_map(|method| &method.parameters);
        writeln!(
            out,
            "{}: {}, {} ({} cannot throw, {} of them trivial)",
            one_line(&self.out.display().to_string(), 200),
            count(plan.classes.len(), "class"),
            count(methods().count(), "method"),
            methods().filter(|method| method.cannot_throw).count(),
            methods().filter(|method| method.trivial).count()
        )?;
        let changed = || parameters().filter(|parameter| !parameter.immutable);
        writeln!(
            out,
            "{}",
            told(
                parameters().count(),
                changed().count(),
                changed()
                    .filter(|parameter| !parameter.fields.is_empty())
                    .count(),
                changed().map(|parameter| parameter.fields.len()).sum(),
                changed().filter(|parameter| parameter.deep).count()
            )
        )?;
        let unlisted = methods().filter(|method| method.statics.is_none()).count();
        if unlisted > 0 {
            writeln!(
                out,
                "{} more than {MAX_STATICS} static fields: of them those of the method's own class are recorded",
                match unlisted {
                    1 => "1 method may read".to_owned(),
                    many => format!("{many} methods may read"),
                }
            )?;
        }
        Ok(())
    }

    fn json(&self, plan: &Plan, warnings: &[String], out: &mut dyn Write) -> Result<()> {
        let rows = plan.classes.iter().flat_map(|class| {
            class.methods.iter().map(|method| Row {
                class: class.name.replace('/', "."),
                method: &method.name,
                descriptor: &method.descriptor,
                cannot_throw: method.cannot_throw,
                trivial: method.trivial,
                parameters: method
                    .parameters
                    .iter()
                    .map(|parameter| Cell {
                        index: parameter.index,
                        immutable: parameter.immutable,
                        deep: parameter.deep,
                        fields: parameter.fields.iter().map(dotted).collect(),
                    })
                    .collect(),
                statics: (method.statics.as_ref())
                    .map(|fields| fields.iter().map(dotted).collect()),
            })
        });
        let classes = plan.classes.iter().map(|class| ClassRow {
            class: class.name.replace('/', "."),
            crc: class.crc,
        });
        let document = Document {
            schema: SCHEMA,
            out: self.out.display().to_string(),
            warnings,
            classes: classes.collect(),
            methods: rows.collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn parameters_add_up() {
        assert_eq!(
            told(14, 8, 0, 0, 6),
            "14 parameters: 6 by reference, 8 that may change: \
             6 of which something may be lost"
        );
        assert_eq!(
            told(5, 3, 2, 1, 1),
            "5 parameters: 2 by reference, 3 that may change: \
             2 of them with 1 field to copy, 1 of which more may be lost"
        );
        assert_eq!(
            told(1, 0, 0, 0, 0),
            "1 parameter: 1 by reference, 0 that may change"
        );
    }
}
