//! The `hindsight` command: parses the command line and hands over to
//! `hindsight_analyzer::commands`.

#![forbid(unsafe_code)]
#![warn(clippy::print_stderr)]

use clap::Parser;
use hindsight_analyzer::commands::{Command, Failure, Misuse};
use hindsight_analyzer::confine;
use hindsight_analyzer::stderr::say;
use hindsight_analyzer::stdout::Stdout;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Crash files and recordings of JVM programs: look into them, make tests of them.
#[derive(Parser)]
#[command(
    name = "hindsight",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
    # A crash, as text and as tests.
    $ hindsight inspect hindsight-out/crash-0001.hsc
    $ hindsight junit hindsight-out/crash-0001.hsc --classpath app.jar --out tests --project

    # A run that was recorded with mode=trace, as tests.
    $ hindsight generate --observed --trace hindsight-out --classpath app.jar --out tests

    # Which parameters each method may change.
    $ hindsight mutability --classpath app.jar

Environment:
    JAVA_HOME  the JDK to use; else the one of the java on the path
    NO_COLOR   no colours, even on a terminal

Exit status:
    0 on success,
    1 if the input is bad or the asked-for result does not exist,
    2 if the arguments are wrong."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    if let Some(error) = confine::take_over() {
        say(error);
        return ExitCode::from(2);
    }
    let cli = Cli::parse();
    let mut out = BufWriter::new(Stdout::new(io::stdout().lock()));
    let result = cli.command.run(&mut out);
    let flushed = out.flush();
    match result.and_then(|()| Ok(flushed?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if out.get_ref().is_unread(error.as_ref()) => ExitCode::SUCCESS,
        // The report already says what went wrong.
        Err(error) if error.is::<Failure>() => ExitCode::from(1),
        Err(error) => {
            say(format_args!("{error:#}"));
            ExitCode::from(if error.is::<Misuse>() { 2 } else { 1 })
        }
    }
}
