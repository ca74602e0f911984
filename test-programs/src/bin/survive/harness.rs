//! A Java program that is sent classes and answers what it thinks of them.
//!
//! The other side is `test-programs/survive/Batches.java`. Numbers are
//! big-endian, texts have a length of two bytes before them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::corpus::Group;

/// How a class is used by others, for `Stubs.java`.
pub const SUPERCLASS: u8 = 1;
pub const INTERFACE: u8 = 2;
pub const THROWN: u8 = 4;

/// A program that is running.
pub struct Harness {
    name: String,
    send: SyncSender<Arc<Vec<u8>>>,
    thread: JoinHandle<Result<Answers>>,
}

/// What a program has said.
#[derive(Default)]
pub struct Answers {
    /// By plan and kind.
    counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// Lines about single classes, by kind.
    lines: BTreeMap<String, Vec<String>>,
}

impl Harness {
    /// Starts a program.
    pub fn start(name: &str, command: &[String]) -> Result<Self> {
        let [program, arguments @ ..] = command else {
            bail!("harness {name} has no command");
        };
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let (send, receive) = sync_channel(1);
        let thread = std::thread::spawn(move || talk(child, receive));
        Ok(Self {
            name: name.to_owned(),
            send,
            thread,
        })
    }

    /// Sends a message; waits while the one before the last is worked on.
    pub fn send(&self, message: &Arc<Vec<u8>>) -> Result<()> {
        self.send
            .send(Arc::clone(message))
            .map_err(|_| anyhow!("the harness {} has ended early", self.name))
    }

    /// Ends the program.
    pub fn finish(self) -> Result<(String, Answers)> {
        drop(self.send);
        let answers = self.thread.join().map_err(|_| anyhow!("a panic"))?;
        Ok((self.name, answers?))
    }
}

fn talk(mut child: Child, receive: Receiver<Arc<Vec<u8>>>) -> Result<Answers> {
    let mut to = child.stdin.take().context("it was piped")?;
    let from = child.stdout.take().context("it was piped")?;
    let mut lines = BufReader::new(from).lines();
    let mut answers = Answers::default();
    for message in receive {
        to.write_all(&message)?;
        to.flush()?;
        drop(message);
        loop {
            let line = lines.next().context("the harness has ended early")??;
            if line == "done" {
                break;
            }
            answers.add(&line);
        }
    }
    drop(to);
    let status = child.wait()?;
    if !status.success() {
        bail!("a harness ends with {status}");
    }
    Ok(answers)
}

impl Answers {
    fn add(&mut self, line: &str) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["count", plan, key, count] => {
                let counts = self.counts.entry(plan.to_owned()).or_default();
                *counts.entry(key.to_owned()).or_default() += count.parse().unwrap_or(0);
            }
            [kind, ..] => {
                let rest = line[kind.len()..].trim_start().replace('\t', "  ");
                self.lines.entry(kind.to_owned()).or_default().push(rest);
            }
            [] => {}
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({"counts": self.counts, "lines": self.lines})
    }
}

/// A class of a group's message.
pub struct Sent {
    pub check: bool,
    pub dump: u64,
}

fn text(out: &mut Vec<u8>, text: &[u8]) {
    // Names come from constants, which are no longer.
    out.extend((text.len() as u16).to_be_bytes());
    out.extend_from_slice(text);
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The message that begins a group.
pub fn group(group: &Group, sent: &[Sent], uses: &BTreeMap<Vec<u8>, u8>) -> Vec<u8> {
    let mut out = vec![b'G'];
    text(&mut out, group.name.as_bytes());
    text(&mut out, group.jar.as_bytes());
    out.extend((group.classes.len() as u32).to_be_bytes());
    for (class, sent) in group.classes.iter().zip(sent) {
        text(&mut out, &class.name);
        out.push(u8::from(sent.check));
        out.extend(sent.dump.to_be_bytes());
        bytes(&mut out, &class.bytes);
    }
    out.extend((uses.len() as u32).to_be_bytes());
    for (name, uses) in uses {
        text(&mut out, name);
        out.push(*uses);
    }
    out
}

/// The message with the outcome of a plan: rewritten classes, by their place in
/// the group.
pub fn plan(name: &str, rewritten: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![b'P'];
    text(&mut out, name.as_bytes());
    out.extend((rewritten.len() as u32).to_be_bytes());
    for (place, class) in rewritten {
        out.extend((*place as u32).to_be_bytes());
        bytes(&mut out, class);
    }
    out
}
