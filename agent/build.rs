//! Compiles the probes (`java-shim/probe`) and lists them for embedding, so
//! that one shared library is all that a user deploys.

use hindsight_instrument::contract::stand_ins::StandIn;
use hindsight_instrument::contract::trace::{COVER, HIDE, MADE, NAMED, Probe};
use hindsight_instrument::contract::{
    self, MAX_REFERENCES, MAX_WORDS, ProbeMethod, SILENT, WriteProbe,
};
use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kind::{LAYOUTS, coder, tag};

/// The layout of events, from the source of the log's crate: the crate itself would be built once
/// more for this script, with all that it needs to read and write files.
#[path = "../crates/tracelog/src/trace/kind.rs"]
#[expect(dead_code, reason = "the probes want layouts and tags alone")]
mod kind;

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../java-shim/probe/src");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=JAVA_HOME");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shim");
    let _ = fs::remove_dir_all(&out);
    let package = sources.join("java/lang");
    let written = out.join("src");
    fs::create_dir_all(written.join("java/lang")).expect("OUT_DIR is writable");
    let mut files: Vec<PathBuf> = fs::read_dir(&package)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", package.display()))
        .map(|entry| entry.expect("directory entry").path())
        .collect();
    files.sort();
    for file in &mut files {
        let source = fs::read_to_string(&*file).expect("a source can be read");
        let source = source
            .replace("    // @PROBES@\n", &probes())
            .replace("    // @TAGS@\n", &tags())
            .replace("    // @STAND-INS@\n", &stand_ins());
        let name = file.file_name().expect("a file has a name");
        *file = written.join("java/lang").join(name);
        fs::write(&*file, source).expect("OUT_DIR is writable");
    }
    let silent_file = written.join(format!("{SILENT}.java"));
    fs::write(&silent_file, silent()).expect("OUT_DIR is writable");
    files.push(silent_file);

    let javac = env::var_os("JAVA_HOME")
        .map(|home| PathBuf::from(home).join("bin/javac"))
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("javac"));
    // `--release 11` would hide that `java.lang` can be patched, so the level is
    // set by source and target. The probes use nothing newer than Java 11.
    let status = Command::new(&javac)
        .args([
            "-J-XX:TieredStopAtLevel=1",
            "-source",
            "11",
            "-target",
            "11",
            "-Xlint:all",
            "-Xlint:-options",
            "-Werror",
            "-g:none",
            // Otherwise the first text that is concatenated links code of the JDK, within a probe.
            "-XDstringConcat=inline",
        ])
        .arg("--patch-module")
        .arg(format!("java.base={}", written.display()))
        .arg("-d")
        .arg(&out)
        .args(&files)
        .status()
        .unwrap_or_else(|error| {
            panic!(
                "cannot run {}: {error}; install a JDK (17 or newer) or set JAVA_HOME",
                javac.display()
            )
        });
    assert!(
        status.success(),
        "{} failed on the probes in {}",
        javac.display(),
        sources.display()
    );

    let classes = out.join("java/lang");
    let mut names: Vec<String> = fs::read_dir(&classes)
        .expect("javac has made the package's directory")
        .map(|entry| {
            entry
                .expect("directory entry")
                .file_name()
                .into_string()
                .expect("ASCII class name")
        })
        .collect();
    names.sort();
    let mut list = String::from("&[\n");
    for name in &names {
        let class = name.trim_end_matches(".class");
        let path = classes.join(name);
        list.push_str(&format!(
            "    (\"java/lang/{class}\", include_bytes!({path:?}) as &[u8]),\n"
        ));
    }
    list.push_str("]\n");
    fs::write(out.join("classes.rs"), list).expect("OUT_DIR is writable");
}

/// The class with all probes, none of which does anything. Some are the same in several classes.
fn silent() -> String {
    let name = SILENT.rsplit_once('/').expect("a package").1;
    let mut statics: Vec<ProbeMethod> = (0..=MAX_REFERENCES)
        .flat_map(|references| (0..=MAX_WORDS).map(move |words| contract::frame(references, words)))
        .collect();
    statics.extend([
        contract::CAUGHT,
        contract::CAUGHT_REPORT,
        HIDE,
        MADE,
        NAMED,
        COVER,
    ]);
    statics.extend(WriteProbe::all().map(WriteProbe::method));
    statics.extend(Probe::all().map(Probe::method));
    let mut java = format!(
        "package java.lang;

public final class {name} {{
    private static final {name} ONLY = new {name}();
    public static int {};
    public static int {};

    private {name}() {{
    }}

",
        contract::MISSED.0,
        contract::trace::OVERFLOWS.0,
    );
    let mut known = BTreeSet::new();
    let of_object = contract::APPENDING.into_iter().chain([contract::ESCAPE]);
    let methods = statics.into_iter().map(|probe| (probe, "static "));
    for (probe, kind) in methods.chain(of_object.map(|probe| (probe, ""))) {
        let descriptor = probe.descriptor.replace(contract::PROBE, SILENT);
        let (parameters, result) = descriptor[1..].split_once(')').expect("a descriptor");
        if !known.insert((probe.name, parameters.to_owned())) {
            continue;
        }
        let answer = match (result, kind) {
            ("V", _) => "",
            ("J", _) => "return 0;",
            (_, "") => "return this;",
            _ => "return ONLY;",
        };
        // What others cannot see is only declared for this package.
        let access = match parameters.contains("AbstractStringBuilder") {
            true => "",
            false => "public ",
        };
        let _ = writeln!(
            java,
            "    {access}{kind}{} {}({}) {{ {answer} }}",
            java_type(result).0,
            probe.name,
            declared(parameters).join(", "),
        );
    }
    java.push_str("}\n");
    java
}

/// Parameters of these types, called `v0` and so on.
fn declared(parameters: &str) -> Vec<String> {
    let (mut declared, mut rest) = (Vec::new(), parameters);
    while !rest.is_empty() {
        let (ty, behind) = java_type(rest);
        declared.push(format!("{ty} v{}", declared.len()));
        rest = behind;
    }
    declared
}

/// The tags of the tracer's own events, and the kinds of their texts.
fn tags() -> String {
    let tags = [
        ("OBJECT_TAG", tag::OBJECT),
        ("TEXT_TAG", tag::TEXT),
        ("STAMP_TAG", tag::STAMP),
        ("SWITCH_TAG", tag::SWITCH),
        ("END_TAG", tag::END),
        ("LOST_TAG", tag::LOST),
    ];
    let coders = [
        ("SECRET", coder::SECRET),
        ("PRIMITIVES", coder::PRIMITIVES),
        ("REFERENCES", coder::REFERENCES),
    ];
    let mut java = String::new();
    for (name, tag) in tags {
        let _ = writeln!(java, "    static final int {name} = {tag};");
    }
    for (name, coder) in coders {
        let _ = writeln!(java, "    static final byte {name} = {coder};");
    }
    java
}

/// The methods to which method references are redirected.
fn stand_ins() -> String {
    let mut java = String::new();
    for one in StandIn::all() {
        let descriptor = one.own_descriptor();
        let (parameters, result) = descriptor[1..].split_once(')').expect("a descriptor");
        let declared = declared(parameters);
        let names: Vec<String> = (0..declared.len()).map(|at| format!("v{at}")).collect();
        let (receiver, arguments) = match one.is_static {
            true => (one.owner.replace('/', "."), &names[..]),
            false => (names[0].clone(), &names[1..]),
        };
        let _ = write!(
            java,
            "    @Hidden
    public static {} {name}({}) {{
        {}{receiver}.{name}({});
    }}

",
            java_type(result).0,
            declared.join(", "),
            if result == "V" { "" } else { "return " },
            arguments.join(", "),
            name = one.name,
        );
    }
    java
}

/// The Java name of the type at the start of descriptors, and the rest.
fn java_type(descriptors: &str) -> (String, &str) {
    let (kind, rest) = descriptors.split_at(1);
    let name = match kind {
        "[" => {
            let (of, rest) = java_type(rest);
            return (format!("{of}[]"), rest);
        }
        "L" => {
            let (name, rest) = rest.split_once(';').expect("a class");
            return (name.replace('/', "."), rest);
        }
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        _ => "void",
    };
    (name.to_owned(), rest)
}

/// The probes of traces: an event's tag is its number in the contract plus one, and its values are
/// in the log's layout.
fn probes() -> String {
    let mut java = String::new();
    for probe in Probe::all() {
        let tag = probe.index() + 1;
        let layout = LAYOUTS[tag].expect("the log knows all probes");
        write_probe(&mut java, probe, tag, &layout);
    }
    java
}

fn write_probe(java: &mut String, probe: Probe, tag: usize, layout: &kind::Layout) {
    let method = probe.method();
    let types = method.descriptor[1..method.descriptor.len() - 2]
        .replace("Ljava/lang/Object;", "A")
        .replace("Ljava/lang/Throwable;", "A");
    let throws = method.descriptor.contains("Throwable");
    let has_id = layout.names != kind::Names::Nothing;
    let values = types.len() - usize::from(has_id);
    let mut parameters: Vec<String> = Vec::new();
    let (mut references, mut stores) = (String::new(), String::new());
    let mut written = Vec::new();
    let mut at = if has_id { 5 } else { 1 };
    // References, ints, longs: each in the order of the parameters.
    for sort in ["A", "IF", "JD"] {
        for (place, kind) in types.chars().take(values).enumerate() {
            if !sort.contains(kind) {
                continue;
            }
            let name = format!("v{place}");
            let (store, value, len) = match kind {
                'A' => ("putLong", format!("r{place}"), 8),
                'I' => ("putInt", name, 4),
                'F' => ("putInt", format!("Float.floatToRawIntBits({name})"), 4),
                'J' => ("putLong", name, 8),
                _ => ("putLong", format!("Double.doubleToRawLongBits({name})"), 8),
            };
            if kind == 'A' {
                // The elements of arrays that come filled are recorded, unless the event itself
                // records them.
                let (find, besides) = match probe {
                    Probe::Bind => ("bound", ""),
                    Probe::Store(_) if place == 0 => ("stored", ", v1"),
                    Probe::Called(_) if place > 0 => ("beside", ", v0"),
                    _ => ("id", ""),
                };
                let _ = writeln!(
                    references,
                    "        long r{place} = t.{find}(v{place}{besides});",
                );
                if is_written(probe, place) {
                    written.push(format!("t.roomToWrite(r{place}, since)"));
                }
            }
            let _ = writeln!(stores, "        U.{store}(p + {at}, {value});");
            at += len;
        }
    }
    assert_eq!(at, layout.size(), "{probe:?}");
    for (place, kind) in types.chars().enumerate() {
        let ty = match kind {
            'A' if throws => "Throwable",
            'A' => "Object",
            'I' => "int",
            'J' => "long",
            'F' => "float",
            _ => "double",
        };
        let name = if place == values {
            "id".to_owned()
        } else {
            format!("v{place}")
        };
        parameters.push(format!("{ty} {name}"));
    }
    if let Probe::Unwind | Probe::Caught = probe {
        let caught = matches!(probe, Probe::Caught);
        let _ = write!(
            references,
            "        if (v0 instanceof StackOverflowError) {{
            t.overflowed(v0, {caught});
        }}
"
        );
    }
    if matches!(probe, Probe::PutStatic(_)) {
        written.push("t.roomToWriteStatic(since)".to_owned());
    }
    // It follows all records about the objects: from there on the time of the event is known.
    let room = match &written[..] {
        [] => "        long p = t.room();\n".to_owned(),
        [one] => format!("        long since = t.time;\n        long p = {one};\n"),
        all => {
            let all: Vec<String> = all
                .iter()
                .map(|one| format!("(p = {one}) != 0 && "))
                .collect();
            // A later time for one of the objects is also later for those before it.
            format!(
                "        long since = t.time;
        long p;
        long time;
        do {{
            time = t.time;
        }} while ({}t.time != time);
",
                all.concat()
            )
        }
    };
    let (get, behind) = match probe {
        Probe::Enter(_) => ("entering(id)", ""),
        Probe::Exit(_) | Probe::Unwind => (
            "leaving(id, false)",
            "        HindsightTracer.left(t, id);\n",
        ),
        Probe::Caught => ("leaving(id, true)", ""),
        Probe::Bind => ("binding(id)", ""),
        _ => ("get()", ""),
    };
    let head = if has_id {
        format!("U.putLong(p, {tag}L | (long) id << 8);")
    } else {
        format!("U.putByte(p, (byte) {tag});")
    };
    // In many places the JIT would be busy for minutes with the code that finds an object's number.
    // Without one, inlining halves what a call costs.
    let inlining = if references.is_empty() && written.is_empty() {
        ""
    } else {
        "    @DontInline\n"
    };
    let _ = write!(
        java,
        "{}    public static void {}({}) {{
        HindsightTracer t = HindsightTracer.{get};
        if (t == null) {{
            return;
        }}
{references}{room}        if (p == 0) {{
{behind}            return;
        }}
        {head}
{stores}        t.done(p + {at});
{behind}    }}

",
        inlining,
        method.name,
        parameters.join(", "),
    );
}

/// Whether the value at a place is an object that is written to.
fn is_written(probe: Probe, place: usize) -> bool {
    match probe {
        Probe::Put(_) | Probe::Store(_) => place == 0,
        // The callee knows which of them is written to.
        Probe::Called(_) => true,
        _ => false,
    }
}
