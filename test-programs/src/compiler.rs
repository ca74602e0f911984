//! Compiling Java in JVMs that stay: a warm javac takes a tenth of the processor time of
//! one that starts, and half of what tests took was javac starting.
//!
//! Each such JVM runs `Compilers.java` and serves one request at a time; there are as
//! many for a JDK as threads ask at once. They end with this process, when their input does.

use super::{Jdk, root};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

/// A JVM that compiles.
struct Compiler {
    // Kept for as long as it is in use.
    _child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
}

impl Compiler {
    fn start(jdk: &Jdk) -> io::Result<Compiler> {
        // The launcher of source files compiles it, too.
        let mut child = jdk
            .java()
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g"])
            .arg(root().join("test-programs/src/Compilers.java"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("a child process without pipes"));
        };
        Ok(Compiler {
            _child: child,
            requests,
            answers,
        })
    }

    /// Whether javac succeeded, and what it said.
    fn compile(&mut self, arguments: &[OsString]) -> io::Result<(bool, String)> {
        let mut request = (arguments.len() as u32).to_be_bytes().to_vec();
        for argument in arguments {
            let argument = argument.as_encoded_bytes();
            request.extend((argument.len() as u32).to_be_bytes());
            request.extend(argument);
        }
        self.requests.write_all(&request)?;
        self.requests.flush()?;
        let mut number = || -> io::Result<u32> {
            let mut bytes = [0; 4];
            self.answers.read_exact(&mut bytes)?;
            Ok(u32::from_be_bytes(bytes))
        };
        let (status, length) = (number()?, number()?);
        let mut told = vec![0; length as usize];
        self.answers.read_exact(&mut told)?;
        Ok((status == 0, String::from_utf8_lossy(&told).into_owned()))
    }
}

/// Runs a JDK's javac: whether it succeeded, and what it said. Paths are absolute, for
/// the JVM runs somewhere else.
///
/// # Panics
///
/// Panics if no JVM can be started, or one ends by itself.
pub fn javac(jdk: &Jdk, arguments: &[OsString]) -> (bool, String) {
    static IDLE: Mutex<BTreeMap<PathBuf, Vec<Compiler>>> = Mutex::new(BTreeMap::new());
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = idle().get_mut(&jdk.home).and_then(Vec::pop);
    let mut compiler = match waiting {
        Some(compiler) => compiler,
        None => Compiler::start(jdk).expect("a JVM that compiles"),
    };
    let compiled = compiler
        .compile(arguments)
        .expect("the JVM that compiles answers");
    idle().entry(jdk.home.clone()).or_default().push(compiler);
    compiled
}
