//! The child JVM that executes sequences: starting it, talking to it, starting it
//! again where a sequence has ended it. What is said is described in the worker's
//! `Worker.java`.

use super::guard::WORKER_JAR;
use super::sequence::{Arg, MethodId, Methods, Sequence};
use crate::java::descriptor;
use crate::jdk::Jdk;
use crate::junit::write_file;
use crate::model::values::Literal;
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How a worker is started.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The JDK.
    pub jdk: Jdk,
    /// The program: classes that were rewritten first.
    pub entries: Vec<PathBuf>,
    /// A directory of our own; the scratch directory is below it.
    pub dir: PathBuf,
    /// Processor time that a sequence may take.
    pub limit: Duration,
    /// Whether each sequence finds static state as it was at first.
    pub reset: bool,
    /// What records it, if anything does.
    pub recorded: Option<Recording>,
}

/// How what workers do is recorded.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The agent.
    pub agent: PathBuf,
    /// Where the recordings go, one directory for each JVM.
    pub out: PathBuf,
}

impl Recording {
    /// The option of the JVM.
    fn option(&self) -> std::ffi::OsString {
        let mut option = std::ffi::OsString::from("-agentpath:");
        option.push(&self.agent);
        option.push("=mode=trace,trace-what=calls;writes;reads;values,");
        option.push("exclude=dev.hindsight.worker.**,out=\"");
        option.push(self.out.join("%p"));
        option.push("\"");
        option
    }
}

impl Setup {
    /// The worker's class path: itself.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn prepare(&self) -> Result<()> {
        write_file(&self.jar(), WORKER_JAR)?;
        std::fs::create_dir_all(self.scratch().join("tmp"))
            .context("failed to make a scratch directory")
    }

    fn jar(&self) -> PathBuf {
        self.dir.join("hindsight-worker.jar")
    }

    /// Where the program may write.
    pub fn scratch(&self) -> PathBuf {
        self.dir.join("scratch")
    }

    /// A JVM that runs a class of the worker's library, in a place that is given by
    /// language, country and time zone, or where we are.
    pub fn command(&self, main: &str, place: Option<[&str; 3]>) -> std::process::Command {
        let mut command = self.jdk.command("java");
        let scratch = self.scratch();
        if let Some([language, country, zone]) = place {
            command
                .arg(format!("-Duser.language={language}"))
                .arg(format!("-Duser.country={country}"))
                .arg(format!("-Duser.timezone={zone}"));
        }
        command.args(self.recorded.iter().map(Recording::option));
        command
            .args([
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-XX:-OmitStackTraceInFastThrow",
                "-Djava.awt.headless=true",
                "-Dfile.encoding=UTF-8",
            ])
            .arg(property("java.io.tmpdir", &scratch.join("tmp")))
            .arg(property("hindsight.scratch", &scratch))
            .arg("-cp")
            .arg(self.jar())
            .arg(format!("dev.hindsight.worker.{main}"))
            .current_dir(scratch);
        command
    }
}

/// Language, country and time zone in which sequences are executed.
pub const HOME: [&str; 3] = ["en", "US", "UTC"];

fn property(name: &str, path: &Path) -> std::ffi::OsString {
    let mut text = std::ffi::OsString::from(format!("-D{name}="));
    text.push(path);
    text
}

/// A class, by its place in [`Worker::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassNumber(pub u32);

/// What the worker has told of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// As `Class.getName` gives it.
    pub name: String,
    /// Whether a source anywhere can name it.
    pub accessible: bool,
    /// All its supertypes.
    pub supers: Vec<String>,
}

impl Class {
    /// Whether its objects are of a type, named as `Class.getName` does.
    pub fn is_a(&self, name: &str) -> bool {
        self.name == name || self.supers.iter().any(|known| known == name)
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It returned nothing,
    Void,
    /// null,
    Null,
    /// a number, text or constant,
    Literal(Literal),
    /// an object: perhaps the same as what an earlier call returned,
    Object(ClassNumber, Option<usize>),
    /// a short array of literals,
    Array(ClassNumber, Vec<Literal>),
    /// or a text that no source can hold.
    Opaque,
    /// It threw: what, with which message, and whether the guard did.
    Threw(ClassNumber, Option<String>, bool),
    /// It could not be called.
    Failed(String),
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Well,
    /// It took too long.
    TimedOut,
    /// The JVM ended.
    Died,
    /// Memory ran out.
    Memory,
}

/// What came of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// Of each call that was reached.
    pub outcomes: Vec<Outcome>,
    /// Objects at the end: variable, class, and a number for the state.
    pub states: Vec<(usize, ClassNumber, u64)>,
    /// Whether the program wanted what it must not.
    pub blocked: bool,
    /// How it ended.
    pub ended: Ended,
}

impl Executed {
    fn none(ended: Ended) -> Executed {
        Executed {
            outcomes: Vec::new(),
            states: Vec::new(),
            blocked: false,
            ended,
        }
    }
}

enum Message {
    Class(u32, Class),
    Declared(u32, Result<u32, String>),
    Ran(u32, Executed),
    TimedOut(u32),
    End,
}

struct Running {
    child: Child,
    input: BufWriter<ChildStdin>,
    messages: Receiver<Message>,
    /// Our numbers of the classes that this JVM has told of.
    numbers: HashMap<u32, ClassNumber>,
    declared: usize,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A worker, whatever JVM it runs in.
pub struct Worker {
    setup: Setup,
    running: Option<Running>,
    /// Whether any JVM has ever answered.
    alive: bool,
    /// All classes that were told of.
    pub classes: Vec<Class>,
    by_name: HashMap<String, ClassNumber>,
    /// What each method returns, or why it cannot be called.
    pub declared: Vec<Result<ClassNumber, String>>,
    /// JVMs that were started.
    pub starts: u32,
    /// Sequences that were executed.
    pub executions: u64,
}

impl Worker {
    /// A worker that is started when it is needed.
    pub fn new(setup: Setup) -> Worker {
        Worker {
            setup,
            running: None,
            alive: false,
            classes: Vec::new(),
            by_name: HashMap::new(),
            declared: Vec::new(),
            starts: 0,
            executions: 0,
        }
    }

    /// What is known of a class.
    pub fn class(&self, number: ClassNumber) -> &Class {
        &self.classes[number.0 as usize]
    }

    /// What is known of a class, by its name as `Class.getName` gives it.
    pub fn named(&self, name: &str) -> Option<&Class> {
        self.by_name.get(name).map(|number| self.class(*number))
    }

    /// Has the methods found that are new; [`Self::declared`] says what came of it.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started.
    pub fn declare(&mut self, methods: &Methods) -> Result<()> {
        let first = self.declared.len();
        if first == methods.all().len() {
            return Ok(());
        }
        let unknown = || Err("the JVM ended when it was looked for".to_owned());
        self.declared.resize_with(methods.all().len(), unknown);
        // What comes back is taken by `execute`.
        self.execute(methods, &[])?;
        Ok(())
    }

    fn start(&mut self) -> Result<Running> {
        let mut command = self.setup.command("Worker", Some(HOME));
        let mut child = command
            .arg(self.setup.limit.as_millis().to_string())
            .arg(self.setup.reset.to_string())
            .args(&self.setup.entries)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("failed to run java of {}", self.setup.jdk.home.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("a child process has no pipes");
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
        self.starts += 1;
        Ok(Running {
            child,
            input: BufWriter::with_capacity(1 << 16, input),
            messages,
            numbers: HashMap::new(),
            declared: 0,
        })
    }

    /// Has the JVM end in good order; the next sequence gets another one.
    pub fn rest(&mut self) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        let told = running
            .input
            .write_all(b"Q")
            .and_then(|()| running.input.flush());
        let end = Instant::now() + Duration::from_secs(60);
        while told.is_ok() && Instant::now() < end {
            if !matches!(running.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Executes sequences, in their order.
    ///
    /// # Errors
    ///
    /// Fails if no JVM can be started, or none does anything.
    pub fn execute(&mut self, methods: &Methods, batch: &[Sequence]) -> Result<Vec<Executed>> {
        let mut done = self.executed(methods, batch)?;
        // A number that is returned as an object is a box.
        for (sequence, executed) in batch.iter().zip(&mut done) {
            for (statement, outcome) in sequence.iter().zip(&mut executed.outcomes) {
                let descriptor = &methods.get(statement.method).descriptor;
                let is_object = |(_, result): (&str, &str)| result.starts_with(['L', '[']);
                if let Outcome::Literal(literal) = outcome
                    && !descriptor.rsplit_once(')').is_some_and(is_object)
                {
                    *literal = primitive(literal.clone());
                }
            }
        }
        Ok(done)
    }

    fn executed(&mut self, methods: &Methods, batch: &[Sequence]) -> Result<Vec<Executed>> {
        let mut done: Vec<Executed> = Vec::new();
        let mut barren = 0;
        loop {
            let before = done.len();
            let mut running = match self.running.take() {
                Some(running) => running,
                None => self.start()?,
            };
            let sent = send(
                &mut running,
                methods,
                batch.get(before..).unwrap_or(&[]),
                before,
            );
            match self.collect(&mut running, batch.len(), &mut done) {
                Some(()) if sent.is_ok() => {
                    self.running = Some(running);
                    self.executions += batch.len() as u64;
                    return Ok(done);
                }
                _ => {}
            }
            if done.len() == before {
                barren += 1;
                if barren == 1 {
                    // The JVM may have ended by what a sequence before has left behind.
                    continue;
                }
                if batch.is_empty() || !self.alive {
                    bail!(
                        "the worker's JVM ({}) ends at once: see whether its java runs",
                        self.setup.jdk.home.display()
                    );
                }
                done.push(Executed::none(Ended::Died));
            }
            barren = 0;
            if done.len() == batch.len() {
                self.executions += batch.len() as u64;
                return Ok(done);
            }
        }
    }

    /// Takes answers until the batch ends; nothing if the JVM must not be used any
    /// more.
    fn collect(
        &mut self,
        running: &mut Running,
        total: usize,
        done: &mut Vec<Executed>,
    ) -> Option<()> {
        // The worker keeps time itself: this is for one that cannot.
        let patience = self.setup.limit * 40 + Duration::from_secs(60);
        loop {
            match running.messages.recv_timeout(patience) {
                Ok(Message::Class(number, class)) => {
                    let next = ClassNumber(self.classes.len() as u32);
                    let known = *self.by_name.entry(class.name.clone()).or_insert(next);
                    if known == next {
                        self.classes.push(class);
                    }
                    running.numbers.insert(number, known);
                }
                Ok(Message::Declared(method, found)) => {
                    let found = found.and_then(|class| {
                        let number = running.numbers.get(&class).copied();
                        number.ok_or_else(|| "its class was not told".to_owned())
                    });
                    if let Some(place) = self.declared.get_mut(method as usize) {
                        *place = found;
                    }
                }
                Ok(Message::Ran(id, mut executed)) => {
                    if id as usize != done.len() {
                        return None;
                    }
                    self.alive = true;
                    let numbers = &running.numbers;
                    let of = |class: &mut ClassNumber| {
                        *class = numbers.get(&class.0).copied().unwrap_or(ClassNumber(0));
                    };
                    for outcome in &mut executed.outcomes {
                        if let Outcome::Object(class, _)
                        | Outcome::Array(class, _)
                        | Outcome::Threw(class, ..) = outcome
                        {
                            of(class);
                        }
                    }
                    executed
                        .states
                        .iter_mut()
                        .for_each(|state| of(&mut state.1));
                    let spent = executed.ended == Ended::Memory;
                    done.push(executed);
                    if spent {
                        return None;
                    }
                }
                Ok(Message::TimedOut(id)) => {
                    if id as usize == done.len() && done.len() < total {
                        done.push(Executed::none(Ended::TimedOut));
                    }
                    return None;
                }
                Ok(Message::End) => {
                    self.alive = true;
                    return Some(());
                }
                Err(RecvTimeoutError::Timeout) => {
                    if done.len() < total {
                        done.push(Executed::none(Ended::TimedOut));
                    }
                    return None;
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

fn send(
    running: &mut Running,
    methods: &Methods,
    batch: &[Sequence],
    first: usize,
) -> io::Result<()> {
    let out = &mut running.input;
    for (id, method) in methods.all().iter().enumerate().skip(running.declared) {
        out.write_all(b"M")?;
        number(out, id as u32)?;
        for name in [&method.class, &method.name, &method.descriptor] {
            text(out, name)?;
        }
    }
    running.declared = methods.all().len();
    for (at, sequence) in batch.iter().enumerate() {
        out.write_all(b"S")?;
        number(out, (first + at) as u32)?;
        number(out, sequence.len() as u32)?;
        for statement in sequence {
            let MethodId(method) = statement.method;
            number(out, method)?;
            out.write_all(&[u8::from(statement.may_throw)])?;
            number(out, statement.on.map_or(u32::MAX, |on| on as u32))?;
            out.write_all(&[statement.args.len() as u8])?;
            let (types, _) = methods.get(statement.method).types();
            for (arg, ty) in statement.args.iter().zip(&types) {
                argument(out, arg, ty)?;
            }
        }
    }
    out.write_all(b"E")?;
    out.flush()
}

fn number(out: &mut impl Write, value: u32) -> io::Result<()> {
    out.write_all(&value.to_be_bytes())
}

fn text(out: &mut impl Write, value: &str) -> io::Result<()> {
    let units: Vec<u16> = value.encode_utf16().collect();
    number(out, units.len() as u32)?;
    units
        .iter()
        .try_for_each(|unit| out.write_all(&unit.to_be_bytes()))
}

fn bits(out: &mut impl Write, kind: u8, bits: i64) -> io::Result<()> {
    out.write_all(&[kind])?;
    out.write_all(&bits.to_be_bytes())
}

fn argument(out: &mut impl Write, arg: &Arg, ty: &str) -> io::Result<()> {
    match arg {
        Arg::Var(var) => {
            out.write_all(b"v")?;
            number(out, *var as u32)
        }
        Arg::Array(element, elements) => {
            out.write_all(b"a")?;
            text(out, &class_get_name(element))?;
            number(out, elements.len() as u32)?;
            elements
                .iter()
                .try_for_each(|one| argument(out, one, element))
        }
        Arg::Literal(literal) => match literal {
            Literal::Null => out.write_all(b"n"),
            Literal::Bool(value) => bits(out, b'Z', i64::from(*value)),
            Literal::Int(value) => bits(out, ty.bytes().next().unwrap_or(b'I'), *value),
            Literal::Float(value) => bits(out, b'F', i64::from(*value as i32)),
            Literal::Double(value) => bits(out, b'D', *value as i64),
            Literal::Text(value) => {
                out.write_all(b"s")?;
                text(out, value)
            }
            Literal::Enum(class, name) => {
                out.write_all(b"e")?;
                text(out, class)?;
                text(out, name)
            }
            Literal::Class(name) => {
                out.write_all(b"c")?;
                text(out, name)
            }
            Literal::Box(class, value) => {
                let (kind, value) = unboxed(class, value).unwrap_or((b'I', 0));
                bits(out, kind, value)
            }
        },
    }
}

/// The kind and bits of what a box holds.
pub fn unboxed(class: &str, value: &str) -> Option<(u8, i64)> {
    Some(match class {
        "java.lang.Boolean" => (b'Z', i64::from(value == "true")),
        "java.lang.Character" => (b'C', i64::from(value.encode_utf16().next()?)),
        "java.lang.Byte" => (b'B', value.parse().ok()?),
        "java.lang.Short" => (b'S', value.parse().ok()?),
        "java.lang.Integer" => (b'I', value.parse().ok()?),
        "java.lang.Long" => (b'J', value.parse().ok()?),
        "java.lang.Float" => (b'F', i64::from(value.parse::<f32>().ok()?.to_bits() as i32)),
        "java.lang.Double" => (b'D', value.parse::<f64>().ok()?.to_bits() as i64),
        _ => return None,
    })
}

/// What a box holds; other literals as they are.
pub fn primitive(literal: Literal) -> Literal {
    let Literal::Box(class, text) = &literal else {
        return literal;
    };
    match unboxed(class, text) {
        Some((b'Z', bits)) => Literal::Bool(bits != 0),
        Some((b'F', bits)) => Literal::Float(bits as u32),
        Some((b'D', bits)) => Literal::Double(bits as u64),
        Some((_, bits)) => Literal::Int(bits),
        None => literal,
    }
}

/// The name that `Class.getName` gives a type.
pub fn class_get_name(ty: &str) -> String {
    match ty.bytes().next() {
        Some(b'[') => ty.replace('/', "."),
        _ => descriptor::type_name(ty),
    }
}

struct Reader<R>(BufReader<R>);

impl<R: Read> Reader<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut one = [0];
        self.0.read_exact(&mut one)?;
        Ok(one[0])
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut four = [0; 4];
        self.0.read_exact(&mut four)?;
        Ok(u32::from_be_bytes(four))
    }

    fn long(&mut self) -> io::Result<i64> {
        let mut eight = [0; 8];
        self.0.read_exact(&mut eight)?;
        Ok(i64::from_be_bytes(eight))
    }

    /// A text; nothing if it has lone surrogates, which no text of ours has.
    fn text(&mut self) -> io::Result<Option<String>> {
        let count = self.number()?;
        let mut units = Vec::new();
        for _ in 0..count {
            let mut two = [0; 2];
            self.0.read_exact(&mut two)?;
            units.push(u16::from_be_bytes(two));
        }
        Ok(String::from_utf16(&units).ok())
    }

    fn name(&mut self) -> io::Result<String> {
        Ok(self.text()?.unwrap_or_default())
    }

    /// A text, constant or class; a number as a box.
    fn literal(&mut self) -> io::Result<Option<Literal>> {
        let boxed = |class: &str, text: String| Literal::Box(format!("java.lang.{class}"), text);
        Ok(Some(match self.byte()? {
            b's' => match self.text()? {
                Some(text) => Literal::Text(text),
                None => return Ok(None),
            },
            b'e' => Literal::Enum(self.name()?, self.name()?),
            b'c' => Literal::Class(self.name()?),
            b'Z' => boxed("Boolean", (self.long()? != 0).to_string()),
            b'F' => boxed("Float", f32::from_bits(self.long()? as u32).to_string()),
            b'D' => boxed("Double", f64::from_bits(self.long()? as u64).to_string()),
            b'C' => match char::from_u32(self.long()? as u32) {
                Some(unit) => boxed("Character", unit.to_string()),
                None => return Ok(None),
            },
            b'B' => boxed("Byte", self.long()?.to_string()),
            b'S' => boxed("Short", self.long()?.to_string()),
            b'I' => boxed("Integer", self.long()?.to_string()),
            b'J' => boxed("Long", self.long()?.to_string()),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }))
    }

    fn outcome(&mut self) -> io::Result<Outcome> {
        Ok(match self.byte()? {
            0 => Outcome::Void,
            1 => Outcome::Null,
            2 => match self.literal()? {
                Some(literal) => Outcome::Literal(literal),
                None => Outcome::Opaque,
            },
            3 => {
                let class = ClassNumber(self.number()?);
                let alias = self.number()?;
                Outcome::Object(class, (alias != u32::MAX).then_some(alias as usize))
            }
            4 => {
                let class = ClassNumber(self.number()?);
                self.byte()?;
                let mut elements = Vec::new();
                let mut whole = true;
                for _ in 0..self.number()? {
                    match self.byte()? {
                        0 => elements.push(Literal::Null),
                        _ => match self.literal()? {
                            Some(literal) => elements.push(primitive(literal)),
                            None => whole = false,
                        },
                    }
                }
                match whole {
                    true => Outcome::Array(class, elements),
                    false => Outcome::Object(class, None),
                }
            }
            5 => {
                let class = ClassNumber(self.number()?);
                let told = self.byte()? != 0;
                let message = self.text()?.filter(|_| told);
                Outcome::Threw(class, message, self.byte()? != 0)
            }
            6 => Outcome::Failed(self.name()?),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }

    fn message(&mut self) -> io::Result<Message> {
        Ok(match self.byte()? {
            b'C' => {
                let number = self.number()?;
                let name = self.name()?;
                let flags = self.byte()?;
                let mut supers = Vec::new();
                for _ in 0..self.number()? {
                    supers.push(self.name()?);
                }
                let accessible = flags & 1 != 0;
                Message::Class(
                    number,
                    Class {
                        name,
                        accessible,
                        supers,
                    },
                )
            }
            b'D' => {
                let id = self.number()?;
                match self.number()? {
                    u32::MAX => Message::Declared(id, Err(self.name()?)),
                    class => Message::Declared(id, Ok(class)),
                }
            }
            b'R' => {
                let id = self.number()?;
                let flags = self.byte()?;
                let mut outcomes = Vec::new();
                for _ in 0..self.number()? {
                    outcomes.push(self.outcome()?);
                }
                let mut states = Vec::new();
                for _ in 0..self.number()? {
                    let var = self.number()? as usize;
                    let class = ClassNumber(self.number()?);
                    states.push((var, class, self.long()? as u64));
                }
                let ended = match flags & 2 {
                    0 => Ended::Well,
                    _ => Ended::Memory,
                };
                Message::Ran(
                    id,
                    Executed {
                        outcomes,
                        states,
                        blocked: flags & 1 != 0,
                        ended,
                    },
                )
            }
            b'T' => Message::TimedOut(self.number()?),
            b'E' => Message::End,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

/// Numbers that look random, the same for the same seed on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.number()) * limit as u128) >> 64) as usize
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// Whether something of so many percent happens.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}
