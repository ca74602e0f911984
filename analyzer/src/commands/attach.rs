//! `hindsight attach`.

use super::{AGENT, Failure, Format, agent_beside};
use crate::attach::{Mapped, Target};
use crate::stderr::say;
use crate::temporary::Doomed;
use crate::text::one_line;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Start recording in a JVM that runs already.
///
/// Classes that are loaded get their probes by retransformation, a hundred at a
/// time; the program goes on in between. Methods that were running meanwhile
/// have none until they are called again. From JDK 21 on the JVM prints a
/// warning on its own stderr when a library is attached; with
/// -XX:-EnableDynamicAgentLoading it forbids it, and a later JDK will do so
/// unless it is started with -XX:+EnableDynamicAgentLoading.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
    # Which JVMs there are.
    $ jcmd -l

    # Record crashes of process 4711. Paths are as that process sees them.
    $ hindsight attach 4711 out=/var/crashes/%p,include=com.acme.**

    # A program hangs: record what all threads do, and with which arguments.
    $ hindsight attach 4711 record

    # Stop it again; the probes that are there stay, but record nothing.
    $ hindsight attach 4711 mode=off

Exit status:
    0 if the JVM records, or has stopped,
    1 if it does not: it is no JVM, forbids it, is recorded already, ...
    2 if the arguments are wrong.")]
pub struct Opts {
    /// The process.
    #[arg(value_name = "PID")]
    pid: u32,

    /// The agent's options, as behind -agentpath:...=; an `out` that is not
    /// absolute is below the directory that the process works in.
    ///
    /// Or the word `record`, if it is there already.
    #[arg(value_name = "KEY=VALUE,...", default_value = "", verbatim_doc_comment)]
    options: String,

    /// The agent; by default the libhindsight.so that the process has loaded,
    /// else the one beside this command.
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,

    /// How long to wait until all classes have their probes.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86400))]
    timeout: u64,

    /// How to print: text for people, json for machines.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// No note on stderr while it takes long.
    #[arg(long)]
    quiet: bool,
}

/// The time from which on a wait is reported.
const LONG: Duration = Duration::from_secs(2);

impl Opts {
    /// Attaches; the agent's answer goes to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the process cannot be attached to, or the agent refuses.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let said = match self.attach() {
            // In JSON a refusal is an answer, whether the agent or the JVM refuses.
            Err(error) if self.format == Format::Json => {
                json!({ "status": "refused", "reason": format!("{error:#}") })
            }
            said => said?,
        };
        self.tell(&said, out)
    }

    /// Asks the loaded agents. Returns the answer of the one that records.
    fn attach(&self) -> Result<Value> {
        let target = Target::find(self.pid)?;
        let named = match self.agent.as_deref() {
            // In a container the name is that of a file there.
            Some(path) if !target.shares_root() => Some(std::path::absolute(path)?),
            Some(path) => Some(agent_beside(Some(path))?),
            None => None,
        };
        let mapped = target.mapped(AGENT);
        // Another copy would not know what a loaded one does. Of several, one records.
        let there = mapped.iter().filter(|file| file.is_there);
        let mut agents: Vec<PathBuf> = there.map(|file| file.path.clone()).collect();
        match named {
            Some(path) => agents = vec![path],
            None if agents.is_empty() => agents.push(agent_beside(None)?),
            None => {}
        }
        let mut said = Value::Null;
        for agent in &agents {
            said = self.ask(&target, agent)?;
            if said["absent"] != true {
                break;
            }
        }
        if said["absent"] == true {
            let reason = said["reason"].as_str().unwrap_or_default();
            said["reason"] = json!(format!("{reason}{}", unasked(&mapped, &agents)));
        }
        Ok(said)
    }

    /// Passes the options to an agent. Returns its answer.
    fn ask(&self, target: &Target, agent: &Path) -> Result<Value> {
        // It is in the JVM's own temporary directory, and as accessible as its user needs it.
        let answer = tempfile::Builder::new()
            .prefix("hindsight-attach-")
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(target.seen(Path::new("/tmp")))
            .context("cannot make a file for the answer where the process sees it")?;
        let _doomed = Doomed::new(answer.path());
        target.give(answer.as_file())?;
        if !target.seen(agent).is_file() {
            bail!(
                "process {} sees no {}: copy libhindsight.so into its container and name it with --agent",
                self.pid,
                agent.display()
            );
        }
        let name = Path::new("/tmp").join(answer.path().file_name().unwrap_or_default());
        let options = format!("attach-answer={},{}", name.display(), self.options);
        let asked = target.load(agent, &options);
        let said = match &asked {
            Ok(()) => self.wait(&answer)?,
            // Its refusal is in the answer, unless it was not even loaded.
            Err(_) => read(&answer),
        };
        match said {
            Some(said) => Ok(said),
            None => match asked {
                Err(error) => Err(error.into()),
                Ok(()) => bail!(
                    "process {} has loaded the agent, which is not done after {} seconds; it goes on: \
                     look for run.json in its out directory",
                    self.pid,
                    self.timeout
                ),
            },
        }
    }

    /// The answer, once it is there.
    fn wait(&self, answer: &NamedTempFile) -> Result<Option<Value>> {
        let began = Instant::now();
        let mut told = self.quiet || !std::io::stderr().is_terminal();
        while began.elapsed() < Duration::from_secs(self.timeout) {
            if let Some(said) = read(answer) {
                return Ok(Some(said));
            }
            if !Path::new(&format!("/proc/{}", self.pid)).is_dir() {
                bail!("process {} has ended", self.pid);
            }
            if !told && began.elapsed() > LONG {
                say("classes are getting their probes");
                told = true;
            }
            sleep(Duration::from_millis(20));
        }
        Ok(None)
    }

    fn tell(&self, said: &Value, out: &mut dyn Write) -> Result<()> {
        let status = said["status"].as_str().unwrap_or("refused");
        match self.format {
            Format::Json => {
                let mut document = json!({ "schema": "hindsight.attach/1", "pid": self.pid });
                if let (Some(all), Some(said)) = (document.as_object_mut(), said.as_object()) {
                    for (key, value) in said {
                        all.entry(key).or_insert_with(|| value.clone());
                    }
                }
                serde_json::to_writer_pretty(&mut *out, &document)?;
                writeln!(out)?;
            }
            Format::Text => match status {
                "started" => {
                    let number = |key: &str| said[key].as_u64().unwrap_or(0);
                    writeln!(
                        out,
                        "process {} records into {}",
                        self.pid,
                        one_line(said["out"].as_str().unwrap_or("?"), usize::MAX)
                    )?;
                    write!(
                        out,
                        "classes that were loaded and have got their probes: {}",
                        number("classes") - number("refused").min(number("classes"))
                    )?;
                    if number("refused") > 0 {
                        write!(out, ", {} were refused by the JVM", number("refused"))?;
                    }
                    writeln!(
                        out,
                        "; longest step {:.0} ms",
                        said["longest_ms"].as_f64().unwrap_or(0.0)
                    )?;
                    write!(out, "{}", refusals(said))?;
                }
                "recorded" => {
                    let file = one_line(said["file"].as_str().unwrap_or("?"), usize::MAX);
                    writeln!(out, "all threads of process {} are in {file}", self.pid)?;
                }
                "stopped" => writeln!(out, "process {} records no more", self.pid)?,
                _ => bail!("{}", said["reason"].as_str().unwrap_or("the agent refuses")),
            },
        }
        if status == "refused" {
            return Err(Failure.into());
        }
        Ok(())
    }
}

/// The classes that the JVM has refused, a line each, as far as the agent names them.
fn refusals(said: &Value) -> String {
    let named = said["refused_classes"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut told: String = named
        .iter()
        .map(|one| {
            let text = |key: &str| one_line(one[key].as_str().unwrap_or("?"), 300);
            format!("  refused: {} ({})\n", text("class"), text("reason"))
        })
        .collect();
    let all = said["refused"].as_u64().unwrap_or(0);
    let others = all.saturating_sub(named.len() as u64);
    if others > 0 && !named.is_empty() {
        told += &format!("  and {others} more, counted by reason in run.json\n");
    }
    told
}

/// The message about agents that are in a JVM and were not asked.
fn unasked(mapped: &[Mapped], asked: &[PathBuf]) -> String {
    let others = mapped.iter().filter(|file| !asked.contains(&file.path));
    let told = others.map(|Mapped { path, is_there }| {
        let path = path.display();
        match is_there {
            true => format!("; {path}, which it has loaded, may be: name that with --agent"),
            false => format!(
                "; {path}, which it has loaded, may be, but has been deleted or replaced since and cannot be asked"
            ),
        }
    });
    told.collect()
}

/// The agent's answer, if it is complete.
fn read(answer: &NamedTempFile) -> Option<Value> {
    let text = fs::read_to_string(answer.path()).ok()?;
    serde_json::from_str(text.strip_suffix('\n')?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_classes_are_told() {
        let said = json!({
            "refused": 3,
            "refused_classes": [{ "class": "a.B", "reason": "it fails verification" }],
        });
        assert_eq!(
            refusals(&said),
            "  refused: a.B (it fails verification)\n  and 2 more, counted by reason in run.json\n"
        );
        // An agent of an earlier release does not name any.
        assert_eq!(refusals(&json!({ "refused": 3 })), "");
        assert_eq!(refusals(&json!({ "refused": 0 })), "");
    }
}
