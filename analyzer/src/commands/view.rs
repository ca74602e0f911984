//! `hindsight view`.

use super::{Failure, Format, Misuse};
use crate::files::write_bytes;
use crate::stderr::say;
use crate::text::{self, count, with_causes};
use crate::view::{collect, page};
use anyhow::Result;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Make one HTML file of recordings: crashes with their frames and objects,
/// models, and which parameters methods change.
///
/// The file needs nothing else but a browser that can unpack what it holds (Chrome
/// 80, Firefox 113, Safari 16.4), and asks nothing of the network. It shows what
/// the recordings hold, and only its owner may read it: look at `hindsight inspect
/// --review` before it goes to somebody else.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # Everything below a directory: crash files, models, results of mutability.
    $ hindsight view hindsight-out
    hindsight-out/hindsight.html: 3 crashes, 1 class with a model, 0 results of mutability

    # What was made elsewhere too.
    $ hindsight view hindsight-out use.model mutability.json --out story.html

Exit status:
    0 on success,
    1 if a file cannot be read, or there is nothing to show,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// Directories with crash-*.hsc, models and results of `hindsight mutability
    /// --format json` at any depth, or such files.
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,

    /// The file to write; - is the standard output. Without it, hindsight.html in
    /// the first directory that was named, or in this one.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// How many objects of each crash are in the page, those nearest to the
    /// arguments first.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    max_objects: usize,

    /// How to say what was written: text for people, json for machines.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    /// No notes on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes the page; a file that cannot be read does not keep the others from being shown. A
    /// message about the page goes to `out`.
    ///
    /// # Errors
    ///
    /// Fails if there is nothing to show, if a file cannot be read, or if the page cannot be
    /// written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let is_to_stdout = self.out.as_ref().is_some_and(|out| out.as_os_str() == "-");
        if is_to_stdout && self.format == Format::Json {
            return Err(Misuse("--format json says what was written to a file; with --out - the page is the output".to_owned()).into());
        }
        let found = collect::find(&self.paths, self.max_objects)?;
        for error in &found.errors {
            say(with_causes(error));
        }
        // An existing page is better than an empty one.
        if found.is_empty() {
            return Err(Failure.into());
        }
        let title = format!(
            "{}, {} with a model, {} of mutability",
            count(found.crashes.len(), "crash"),
            count(found.models.len(), "class"),
            count(found.mutability.len(), "result")
        );
        let errors = found.errors.len();
        let page = page::write(&title, &found)?;
        let path = match &self.out {
            Some(_) if is_to_stdout => {
                out.write_all(page.as_bytes())?;
                return failed(errors);
            }
            Some(path) => path.clone(),
            None => match self.paths.iter().find(|path| path.is_dir()) {
                Some(directory) => directory.join("hindsight.html"),
                None => PathBuf::from("hindsight.html"),
            },
        };
        let bytes = page.len();
        // As with crash files, only its owner may read it, because it has their content.
        write_bytes(&path, 0o600, page.as_bytes())?;
        if self.format == Format::Json {
            let told = json!({
                "schema": "hindsight.view/1",
                "out": path.display().to_string(),
                "bytes": bytes,
                "crashes": found.crashes.len(),
                "models": found.models.len(),
                "mutability": found.mutability.len(),
                "errors": found.errors.iter().map(|error| with_causes(error)).collect::<Vec<_>>(),
            });
            writeln!(out, "{told:#}")?;
        } else {
            writeln!(out, "{}: {title}", text::path(&path))?;
        }
        if !self.quiet && bytes > 64 << 20 {
            say(format_args!(
                "the page has {} MB; --max-objects makes it smaller",
                bytes >> 20
            ));
        }
        failed(errors)
    }
}

fn failed(errors: usize) -> Result<()> {
    match errors {
        0 => Ok(()),
        _ => Err(Failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_page_is_not_replaced_by_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("crash-0001.hsc"), "cut").unwrap();
        let page = dir.path().join("hindsight.html");
        fs::write(&page, "good").unwrap();
        let mut opts = Opts {
            paths: vec![dir.path().to_owned()],
            out: None,
            max_objects: 1,
            format: Format::Text,
            quiet: true,
        };
        for out in [None, Some("-".into())] {
            opts.out = out;
            let mut told = Vec::new();
            let error = opts.run(&mut told).unwrap_err();
            assert!(error.is::<Failure>() && told.is_empty(), "{error:#}");
        }
        assert_eq!(fs::read_to_string(page).unwrap(), "good");
    }
}
