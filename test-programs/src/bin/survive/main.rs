//! Rewrites every class of a corpus under every plan, and has JVMs verify the
//! results. `scripts/bench survive` calls it, once for each part of the corpus.
//!
//! - [`corpus`] reads jars, [`plans`] lists the plans.
//! - [`part`] does the work; [`harness`] talks to the Java programs in
//!   `test-programs/survive`, which verify.
//! - [`dump`] is what the reader has understood of a class, to be compared with
//!   what another reader has.
//!
//! ```text
//! survive run SPEC              one part; SPEC is JSON, see `part`
//! survive dump CLASS            what the reader reads in a class file
//! survive rewrite PLAN CLASS    the rewritten class, to standard output
//! ```
use std::env;
use std::fs;
use std::io::{self, Write};

use anyhow::{Context, Result, bail};

mod corpus;
mod dump;
mod harness;
mod part;
mod plans;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["run", spec] => part::run(&serde_json::from_slice(&read(spec)?)?),
        ["dump", class] => {
            let text = dump::text(&read(class)?)?;
            Ok(io::stdout().write_all(text.as_bytes())?)
        }
        ["rewrite", plan, class] => {
            let plan = plans::PLANS.iter().find(|known| known.name == plan);
            let plan = plan.context("there is no such plan")?;
            let outcome = (plan.rewrite)(&read(class)?, plans::FIRST_ID)?;
            for (method, reason) in &outcome.skipped {
                eprintln!("skipped {method}: {reason}");
            }
            let class = outcome.class.context("nothing to rewrite")?;
            Ok(io::stdout().write_all(&class)?)
        }
        _ => bail!("usage: survive run SPEC | dump CLASS | rewrite PLAN CLASS"),
    }
}

fn read(path: &str) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {path}"))
}
