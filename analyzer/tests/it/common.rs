//! What the tests share: crash files made as the agent makes them, Java
//! programs compiled on the spot, and runs of the command.

use hindsight_test_programs::jdks;
use hindsight_tracelog::crash::*;
use hindsight_tracelog::{record, writer};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// A crash file in the making.
#[derive(Default)]
pub struct Recording {
    pub meta: Meta,
    pub failure: Failure,
    pub classes: Vec<ClassInfo>,
    pub objects: Vec<Object>,
}

impl Recording {
    pub fn new() -> Recording {
        Recording {
            meta: Meta {
                agent: "0.1.0".into(),
                program_version: "1.2 (abc123)".into(),
                jvm_name: "OpenJDK 64-Bit Server VM".into(),
                jvm_version: "17.0.15+6".into(),
                java_version: "17.0.15".into(),
                os: "Linux amd64".into(),
                pid: 7,
                started_ms: 1_700_000_000_000,
                time_ms: 1_700_000_012_345,
                thread: "main".into(),
                reason: "uncaught".into(),
                copy: "fields".into(),
                command: "Main --password=***".into(),
                counters: vec![("frames skipped".into(), 2), ("nothing".into(), 0)],
                properties: vec![("shop.mode".into(), "test".into())],
                ..Meta::default()
            },
            ..Recording::default()
        }
    }

    /// Adds an exception with its stack trace; returns its index.
    pub fn exception(
        &mut self,
        class: &str,
        message: Option<&str>,
        stack: &[(&str, &str, i32)],
    ) -> u32 {
        self.failure.exceptions.push(ExceptionInfo {
            class: class.into(),
            message: message.map(str::to_owned),
            stack: stack
                .iter()
                .map(|&(class, method, line)| StackElement {
                    class: class.into(),
                    method: method.into(),
                    file: Some(file_of(class)),
                    line,
                })
                .collect(),
            ..ExceptionInfo::default()
        });
        self.failure.exceptions.len() as u32 - 1
    }

    /// The number of a class without superclasses of interest.
    pub fn class(&mut self, name: &str, fields: &[(&str, &str)]) -> u32 {
        self.class_below(name, &[], ClassKind::Class, fields)
    }

    pub fn class_below(
        &mut self,
        name: &str,
        supers: &[&str],
        kind: ClassKind,
        fields: &[(&str, &str)],
    ) -> u32 {
        if let Some(known) = self.classes.iter().find(|class| class.name == name) {
            return known.id;
        }
        let id = self.classes.len() as u32;
        self.classes.push(ClassInfo {
            id,
            name: name.into(),
            kind,
            supers: supers.iter().map(|name| (*name).to_owned()).collect(),
            fields: fields
                .iter()
                .map(|&(field, descriptor)| FieldInfo {
                    owner: name.into(),
                    name: field.into(),
                    descriptor: descriptor.into(),
                    access: 2,
                })
                .collect(),
            loader: if name.starts_with("java.") { "" } else { "app" }.into(),
            ..ClassInfo::default()
        });
        id
    }

    pub fn object(&mut self, class: u32, body: Body) -> Value {
        self.objects.push(Object { class, body });
        Value::Ref(self.objects.len() as u32 - 1)
    }

    /// An instance of a class with these fields.
    pub fn instance(&mut self, name: &str, fields: &[(&str, &str, Value)]) -> Value {
        let types: Vec<(&str, &str)> = fields.iter().map(|&(name, of, _)| (name, of)).collect();
        let class = self.class(name, &types);
        self.object(
            class,
            Body::Instance(fields.iter().map(|&(_, _, value)| value).collect()),
        )
    }

    pub fn string(&mut self, text: &str) -> Value {
        let class = self.class("java.lang.String", &[]);
        self.object(class, Body::String(Text::Utf8(text.into())))
    }

    pub fn array(&mut self, name: &str, elements: &[Value]) -> Value {
        let class = self.class_below(name, &[], ClassKind::Array, &[]);
        self.object(class, Body::References(elements.to_vec()))
    }

    /// Adds a frame; arguments as index, name, descriptor and value.
    pub fn frame(
        &mut self,
        (class, method, descriptor): (&str, &str, &str),
        access: u16,
        arguments: &[(u16, &str, &str, Value)],
    ) -> &mut Frame {
        self.failure.frames.push(Frame {
            class: class.into(),
            method: method.into(),
            descriptor: descriptor.into(),
            file: Some(file_of(class)),
            access,
            fidelity: Fidelity::Fields,
            arguments: arguments
                .iter()
                .map(|&(index, name, descriptor, value)| Argument {
                    index,
                    name: (!name.is_empty()).then(|| name.to_owned()),
                    descriptor: descriptor.into(),
                    value,
                })
                .collect(),
            ..Frame::default()
        });
        self.failure.frames.last_mut().unwrap()
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut file = record::file_header().to_vec();
        file.extend(writer::meta(&self.meta));
        file.extend(writer::failure(&self.failure));
        file.extend(writer::classes(&self.classes));
        file.extend(writer::objects(0, self.objects.clone()));
        file.extend(writer::end(4));
        file
    }

    pub fn write(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, self.bytes()).unwrap();
    }
}

fn file_of(class: &str) -> String {
    let simple = class.rsplit('.').next().unwrap();
    format!("{}.java", simple.split('$').next().unwrap())
}

/// Compiles sources, given as path and text, into a directory.
pub fn compile(dir: &Path, sources: &[(&str, &str)]) -> PathBuf {
    let classes = dir.join("classes");
    let mut arguments: Vec<OsString> =
        (["--release", "11", "-g", "-encoding", "UTF-8", "-d"].map(OsString::from)).into();
    arguments.push(classes.clone().into());
    for (path, text) in sources {
        let path = dir.join("src").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        arguments.push(path.into());
    }
    jdks()[0].compile(arguments);
    classes
}

pub fn java_tool(name: &str) -> Command {
    let mut command = match env::var_os("JAVA_HOME") {
        Some(home) => Command::new(Path::new(&home).join("bin").join(name)),
        None => Command::new(name),
    };
    if name == "javac" {
        // A JVM for a short life: this halves what it costs.
        command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
    }
    command
}

/// Runs the command.
pub fn hindsight<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hindsight"))
        .args(arguments)
        .output()
        .unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Compares with a golden file; `BLESS=1` rewrites it.
#[track_caller]
pub fn check_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "{name} changed; BLESS=1 accepts this:\n{actual}"
    );
}

/// The line of `source` that holds `mark`.
pub fn line_of(source: &str, mark: &str) -> i32 {
    source.lines().position(|line| line.contains(mark)).unwrap() as i32 + 1
}
