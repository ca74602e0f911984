//! `hindsight api`.

use super::Format;
use crate::files::write_bytes;
use crate::text;
use anyhow::Result;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// The library, packed by the build script.
const JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hindsight-api.jar"));

/// Write the jar by which a program asks for recordings.
///
/// It holds one class, dev.hindsight.Hindsight, for Java 11 and up:
/// Hindsight.record("why") where a check fails, Hindsight.record(exception)
/// where one is caught. Without the agent its methods do nothing; with it, the
/// thread's methods go into a crash file with the arguments that they were
/// called with.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    $ hindsight api --out lib/hindsight-api.jar
    $ javac -cp lib/hindsight-api.jar ...

Exit status:
    0 on success,
    1 if the file cannot be written,
    2 if the arguments are wrong.")]
pub struct Opts {
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "hindsight-api.jar")]
    out: PathBuf,

    /// How to say what was written: text for people, json for machines.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

    /// Say nothing.
    #[arg(long)]
    quiet: bool,
}

impl Opts {
    /// Writes the jar, and says to `out` where.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        write_bytes(&self.out, 0o666, JAR)?;
        if self.format == Format::Json {
            let told = json!({
                "schema": "hindsight.api/1",
                "out": self.out.display().to_string(),
            });
            writeln!(out, "{told:#}")?;
        } else if !self.quiet {
            writeln!(out, "{}", text::path(&self.out))?;
        }
        Ok(())
    }
}
