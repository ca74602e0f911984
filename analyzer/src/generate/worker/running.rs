//! One JVM of a worker, and the pipes to it.

use super::ClassNumber;
use super::setup::{Place, Setup, Task};
use super::wire::{Message, Reader};
use crate::confine;
use crate::files::failed;
use crate::generate::{Error, Result};
use std::collections::HashMap;
use std::io::{BufReader, BufWriter};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A running JVM, which ends when this is dropped.
pub(super) struct Running {
    pub(super) child: Child,
    pub(super) input: BufWriter<ChildStdin>,
    pub(super) answers: Answers,
    /// The number of methods that it knows.
    pub(super) declared: usize,
}

/// The output of a JVM.
pub(super) struct Answers {
    pub(super) messages: Receiver<Message>,
    /// Whether it has sent anything yet.
    pub(super) has_answered: bool,
    /// Our numbers of the classes that this JVM has described.
    pub(super) numbers: HashMap<u32, ClassNumber>,
}

impl Running {
    /// Starts the one that is `at` this place among those of a worker.
    pub(super) fn start(setup: &Setup, place: &Place, at: usize) -> Result<Running> {
        let thrown = setup.thrown(place)?;
        let mut command = setup.command(Task::Sequences(thrown.as_deref(), at), place);
        command
            .arg(setup.limit.as_millis().to_string())
            .arg(setup.reset.to_string())
            .args(setup.entries.iter().map(|entry| setup.at(place, entry)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = confine::spawn(command).map_err(failed("run java of", &setup.jdk.home))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::NoPipes);
        };
        let (send, messages) = channel();
        thread::spawn(move || {
            let mut reader = Reader(BufReader::with_capacity(1 << 16, output));
            while let Ok(message) = reader.message() {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Running {
            child,
            input: BufWriter::with_capacity(1 << 16, input),
            answers: Answers {
                messages,
                has_answered: false,
                numbers: HashMap::new(),
            },
            declared: 0,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
