//! Writes tests as readable Java.
//!
//! `body` writes one test, with types that `generics` finds and calls that `pending` nests in
//! others; `titles` names tests, `roles` variables; `words` splits and joins names, and breaks
//! lines.

mod body;
mod generics;
mod pending;
mod roles;
mod titles;
mod words;

use super::asserted::Checked;
use super::platform::Classes;
use super::sequence::{Method, Methods};
use super::worker::Worker;
use crate::classinfo;
use crate::java::names::{Names, is_package_name, package_of, sanitize};
use crate::java::{comment, literal};
use crate::junit::Framework;
use crate::text::simple_name;
use body::{Body, Thrown};
use hindsight_classfile::access;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Range;
use titles::titles;

/// The most tests of one file.
pub const MAX_TESTS: usize = 200;

/// Methods without parameters that each class has from `Object`.
const OBJECTS_OWN: [&str; 8] = [
    "clone",
    "finalize",
    "getClass",
    "hashCode",
    "notify",
    "notifyAll",
    "toString",
    "wait",
];

/// The assertion methods, which are imported by name: a method of a test class with the same name
/// would hide it.
const ASSERTIONS: [&str; 8] = [
    "assertArrayEquals",
    "assertEquals",
    "assertFalse",
    "assertNotNull",
    "assertNull",
    "assertSame",
    "assertThrows",
    "assertTrue",
];

/// The part of the names of classes whose tests are in the order of a run; others are sorted.
pub const OBSERVED: &str = "Observed";

/// The first line of every source file.
pub const FIRST_LINE: &str = "// Pins down what the program does:\n";

/// The context in which sources are written.
pub struct Context<'a> {
    /// All methods.
    pub methods: &'a Methods,
    /// The worker, which knows the classes.
    pub worker: &'a Worker,
    /// All classes.
    pub classes: Classes<'a>,
    /// The version of JUnit.
    pub framework: Framework,
}

impl Context<'_> {
    /// A method as a source sees it, with the class or interface that declares it. What a public
    /// class inherits from one that is not public has at most a bridge there, which has no type
    /// arguments and names.
    fn declared(&self, method: &Method) -> Option<(String, classinfo::Method)> {
        let mut pending = VecDeque::from([method.class.clone()]);
        let mut seen = HashSet::new();
        let mut bridge = None;
        while let Some(class) = pending.pop_front() {
            let found = self.classes.info(&class);
            let Some(info) = found.as_ref().and_then(|found| found.info.as_ref()) else {
                continue;
            };
            match info.method(&method.name, &method.descriptor) {
                Some(known) if !known.is(access::SYNTHETIC) => {
                    return Some((class, known.clone()));
                }
                Some(known) => {
                    bridge.get_or_insert_with(|| (class.clone(), known.clone()));
                }
                None => {}
            }
            if method.is_constructor() {
                break;
            }
            let above = info.super_class.iter().chain(&info.interfaces);
            pending.extend(above.filter(|above| seen.insert((*above).clone())).cloned());
        }
        bridge
    }
}

/// The package above those of tests that must not be where their classes are.
pub const OUTSIDE: &str = "tests";

/// The warnings of javac about a class, by its name.
pub type Lints = HashMap<String, BTreeSet<&'static str>>;

/// A file of tests.
#[derive(Debug, Clone)]
pub struct Source {
    /// The package; empty for the unnamed one.
    pub package: String,
    /// The class.
    pub name: String,
    /// The text.
    pub text: String,
    /// Its tests.
    pub tests: Vec<Written>,
    /// The tests that cannot be written, with the reasons.
    pub failed: Vec<(usize, String)>,
    /// The number of further tests whose text equals that of one of these.
    pub alike: usize,
}

/// A test that was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The number that it was given.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// The lines of the test, from 1.
    pub lines: Range<usize>,
    /// The calls of its sequence.
    pub calls: Vec<String>,
}

impl Source {
    /// Its path below the directory of sources.
    pub fn path(&self) -> String {
        let dir = self.package.replace('.', "/");
        let slash = if dir.is_empty() { "" } else { "/" };
        format!("{dir}{slash}{}.java", self.name)
    }

    /// The class with its package.
    pub fn class(&self) -> String {
        let dot = if self.package.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.package, self.name)
    }
}

/// Writes tests, one file or more for each class. `what` is a word for the names of the classes,
/// `about` a line that says where they come from. The tests in `raw` use types without arguments.
pub fn sources(
    context: &Context<'_>,
    tests: &[(usize, &Checked)],
    (what, about): (&str, &str),
    raw: &BTreeSet<usize>,
    lints: &Lints,
) -> Vec<Source> {
    let mut by_class: Vec<(&str, Vec<(usize, &Checked)>)> = Vec::new();
    for &(number, test) in tests {
        match by_class.iter_mut().find(|(class, _)| *class == test.class) {
            Some((_, list)) => list.push((number, test)),
            None => by_class.push((&test.class, vec![(number, test)])),
        }
    }
    let mut out = Vec::new();
    let mut used: HashSet<String> = HashSet::new();
    for (class, list) in by_class {
        for (part, chunk) in list.chunks(MAX_TESTS).enumerate() {
            let package = package_of(class);
            // A class must not be put into the package of a signed or sealed jar, and a source
            // cannot be in one whose name has a keyword.
            let found = context.classes.own.find(class);
            let package = match found.is_none_or(|found| found.open) {
                _ if !is_package_name(package) => OUTSIDE.to_owned(),
                true => package.to_owned(),
                false => format!("{OUTSIDE}.{package}"),
            };
            let mut name = file_name(class, what, part);
            let siblings = context.classes.own.types_of_package(&package);
            while siblings.contains(&name) || !used.insert(format!("{package}.{name}")) {
                name.insert(0, 'X');
            }
            out.push(source(
                context,
                (package, name),
                chunk,
                about,
                &siblings,
                (raw, lints, what != OBSERVED),
            ));
        }
    }
    out
}

/// The name of a class of tests. It always ends in `Test`, because runners look for that. For a
/// nested class it includes the outer ones, because each may have its own `Builder`.
pub fn file_name(class: &str, what: &str, part: usize) -> String {
    let simple = simple_name(class);
    // This is the object that Scala has beside a class.
    let module = match simple.ends_with('$') {
        true => "Module",
        false => "",
    };
    let simple = sanitize(&simple.replace('$', ""));
    let number = match part {
        0 => String::new(),
        part => (part + 1).to_string(),
    };
    format!("{simple}{module}{what}{number}Test")
}

fn source(
    context: &Context<'_>,
    (package, name): (String, String),
    tests: &[(usize, &Checked)],
    about: &str,
    siblings: &HashSet<String>,
    (without, lints, sorted): (&BTreeSet<usize>, &Lints, bool),
) -> Source {
    let mut taken = siblings.clone();
    taken.insert(name.clone());
    let mut names = Names::new(&package, &taken);
    let (test, assertions) = match context.framework {
        Framework::Junit5 => (
            names.write("org.junit.jupiter.api", "Test"),
            "org.junit.jupiter.api.Assertions",
        ),
        Framework::Junit4 => (names.write("org.junit", "Test"), "org.junit.Assert"),
    };
    let public = match context.framework {
        Framework::Junit5 => "",
        Framework::Junit4 => "public ",
    };
    let mut methods = Vec::new();
    let mut failed = Vec::new();
    let titles = titles(context, tests);
    let mut statics: HashSet<&'static str> = HashSet::new();
    let mut bodies: HashSet<String> = HashSet::new();
    let mut alike = 0;
    for (&(number, checked), name) in tests.iter().zip(titles) {
        // Names that a failed test has reserved do no harm.
        let mut body = Body::new(context, checked, &mut names, without.contains(&number));
        let Some(code) = body.write() else {
            failed.push((number, body.unwritten.unwrap_or_default()));
            continue;
        };
        // Calls that differ only in the class whose method they name may be written alike.
        if !bodies.insert(code.clone()) {
            alike += 1;
            continue;
        }
        statics.extend(&body.statics);
        let (calls, throws) = (body.calls, body.throws);
        let throws = match throws {
            Thrown::Nothing => String::new(),
            Thrown::Exception => format!(" throws {}", names.java_lang("Exception")),
            Thrown::Throwable => format!(" throws {}", names.java_lang("Throwable")),
        };
        let text = format!("    @{test}\n    {public}void {name}(){throws} {{\n{code}    }}\n");
        methods.push((number, name, text, calls));
    }
    if sorted {
        // Those of constructors first.
        methods.sort_by_key(|(_, name, ..): &(_, String, _, _)| {
            (!name.starts_with("new"), name.clone())
        });
    }
    let mut text = FIRST_LINE.to_owned();
    text.push_str(&comment::lines(about, "", 4));
    if !package.is_empty() {
        text.push_str(&format!("package {package};\n\n"));
    }
    let mut statics: Vec<_> = statics.into_iter().collect();
    statics.sort_unstable();
    for one in &statics {
        text.push_str(&format!("import static {assertions}.{one};\n"));
    }
    if !statics.is_empty() {
        text.push('\n');
    }
    let code: String = methods
        .iter()
        .map(|(_, _, code, _)| code.as_str())
        .collect();
    text.push_str(&names.imports(&format!("{test} {code}")));
    text.push('\n');
    let dot = if package.is_empty() { "" } else { "." };
    let lints = lints.get(&format!("{package}{dot}{name}"));
    let warnings: BTreeSet<&str> = lints.into_iter().flatten().copied().collect();
    if !warnings.is_empty() {
        let annotation = names.java_lang("SuppressWarnings");
        let quoted: Vec<String> = warnings.iter().map(|one| format!("\"{one}\"")).collect();
        let list = match &quoted[..] {
            [one] => one.clone(),
            all => format!("{{{}}}", all.join(", ")),
        };
        text.push_str(&format!("@{annotation}({list})\n"));
    }
    text.push_str(&format!("{public}class {name} {{\n"));
    let mut lines = Vec::new();
    for (number, name, code, calls) in methods {
        text.push('\n');
        let first = text.lines().count() + 1;
        text.push_str(&code);
        lines.push(Written {
            number,
            name,
            lines: first..text.lines().count() + 1,
            calls,
        });
    }
    text.push_str("}\n");
    Source {
        package,
        name,
        text: literal::ascii(text),
        tests: lines,
        failed,
        alike,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classpath::ClassPath;
    use crate::generate::asserted::Assertion;
    use crate::generate::platform::Platform;
    use crate::generate::sequence::Statement;
    use crate::generate::worker::{Class, Setup};
    use crate::jdk::Jdk;
    use crate::model::values::Literal;
    use std::time::Duration;

    /// A test of one call of a static method, which returns 1.
    fn test(methods: &mut Methods, runs: Option<&str>) -> Checked {
        let method = Method {
            runs: runs.map(str::to_owned),
            ..method("one", "()I")
        };
        returns(methods, method, Assertion::Equals(Literal::Int(1)))
    }

    fn method(name: &str, descriptor: &str) -> Method {
        Method {
            class: "acme.B".to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            is_static: true,
            runs: None,
        }
    }

    /// The same of another method, with what is asserted of it.
    fn returns(methods: &mut Methods, method: Method, assertion: Assertion) -> Checked {
        let method = methods.intern(method);
        Checked {
            sequence: vec![Statement {
                method,
                on: None,
                args: Vec::new(),
                may_throw: false,
                shown: false,
            }],
            assertions: vec![Some(assertion)],
            kept: vec![true],
            fluent: Vec::new(),
            observers: 0,
            class: "acme.B".to_owned(),
            whole: None,
        }
    }

    /// The only source file of these tests.
    fn source(framework: Framework, methods: &Methods, tests: &[Checked]) -> Source {
        source_with(framework, methods, tests, &[])
    }

    /// The same if these classes are not public.
    fn source_with(
        framework: Framework,
        methods: &Methods,
        tests: &[Checked],
        hidden: &[&str],
    ) -> Source {
        let directory = tempfile::tempdir().unwrap();
        let package = directory.path().join("acme");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("Exception.class"), "").unwrap();
        let own = ClassPath::open(directory.path().to_str().unwrap()).unwrap();
        let jdk = Jdk {
            home: directory.path().to_owned(),
            version: 17,
        };
        let platform = Platform::new(&jdk);
        let mut worker = Worker::new(Setup {
            jdk,
            entries: Vec::new(),
            dir: directory.path().to_owned(),
            limit: Duration::from_secs(1),
            reset: false,
            preview: false,
            recorded: None,
        });
        for name in hidden {
            worker.learn(Class {
                name: (*name).to_owned(),
                accessible: false,
                supers: Vec::new(),
            });
        }
        let context = Context {
            methods,
            worker: &worker,
            classes: Classes {
                own: &own,
                platform: &platform,
            },
            framework,
        };
        let tests: Vec<(usize, &Checked)> = (4..).step_by(3).zip(tests).collect();
        let naming = (OBSERVED, "about");
        let mut written = sources(&context, &tests, naming, &BTreeSet::new(), &Lints::new());
        assert_eq!(written.len(), 1);
        written.remove(0)
    }

    /// A test with the same text as another one is not written again, but counted. An `Exception`
    /// of the package itself is not the one that tests declare.
    #[test]
    fn each_is_written_once_and_declares_what_may_be_thrown() {
        let mut methods = Methods::default();
        let tests = [None, Some("acme.A")].map(|runs| test(&mut methods, runs));
        let file = source(Framework::Junit5, &methods, &tests);
        let numbers: Vec<usize> = file.tests.iter().map(|test| test.number).collect();
        assert_eq!((numbers, file.alike), (vec![4], 1), "{}", file.text);
        let declared =
            "void one() throws java.lang.Exception {\n        assertEquals(1, B.one());\n";
        assert!(file.text.contains(declared), "{}", file.text);
    }

    /// JUnit 4 takes one zero for the other, whatever the tolerance.
    #[test]
    fn the_sign_of_zero_is_asserted() {
        let mut methods = Methods::default();
        let [minus, two] = [-0.0, 2.0].map(Literal::double);
        let array = |value: &Literal| Assertion::Array(vec![value.clone()]);
        let tests = [
            ("zero", "()D", Assertion::Equals(minus.clone())),
            ("two", "()D", Assertion::Equals(two.clone())),
            ("zeros", "()[D", array(&minus)),
            ("twos", "()[D", array(&two)),
        ];
        let tests = tests.map(|(name, descriptor, assertion)| {
            returns(&mut methods, method(name, descriptor), assertion)
        });
        let text = source(Framework::Junit4, &methods, &tests).text;
        for line in [
            "assertEquals(Double.valueOf(-0.0), Double.valueOf(B.zero()));",
            "assertEquals(2.0, B.two(), 0.0);",
            "assertEquals(Arrays.toString(new double[] {-0.0}), Arrays.toString(B.zeros()));",
            "assertArrayEquals(new double[] {2.0}, B.twos(), 0.0);",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let text = source(Framework::Junit5, &methods, &tests).text;
        assert!(text.contains("assertEquals(-0.0, B.zero());"), "{text}");
    }

    /// The result of a public method may have a type that only its package sees: so do the tests,
    /// which are there.
    #[test]
    fn types_of_the_package_are_named() {
        let mut methods = Methods::default();
        let mut test = |class: &str| {
            let make = method("make", &format!("()L{};", class.replace('.', "/")));
            let mut test = returns(&mut methods, make, Assertion::NotNull);
            for name in ["first", "second"] {
                let asked = methods.intern(Method {
                    class: class.to_owned(),
                    is_static: false,
                    ..method(name, "()I")
                });
                test.sequence.push(Statement {
                    method: asked,
                    on: Some(0),
                    ..test.sequence[0].clone()
                });
                test.assertions
                    .push(Some(Assertion::Equals(Literal::Int(1))));
                test.kept.push(true);
            }
            test
        };
        let tests = ["acme.Hidden", "other.Hidden"].map(&mut test);
        let hidden = ["acme.Hidden", "other.Hidden"];
        let written = source_with(Framework::Junit5, &methods, &tests, &hidden);
        let text = &written.text;
        assert!(text.contains("Hidden hidden = B.make();"), "{text}");
        let failed: Vec<usize> = written.failed.iter().map(|(number, _)| *number).collect();
        assert_eq!(failed, [7], "{text}");
    }

    /// A source cannot name a package that is called like a keyword.
    #[test]
    fn what_is_in_a_package_without_a_name_costs_no_other_test() {
        let mut methods = Methods::default();
        let tests = ["acme.native.B", "acme.B"].map(|class| {
            let method = Method {
                class: class.to_owned(),
                ..method("one", "()I")
            };
            returns(&mut methods, method, Assertion::Equals(Literal::Int(1)))
        });
        let written = source(Framework::Junit5, &methods, &tests);
        let failed: Vec<usize> = written.failed.iter().map(|(number, _)| *number).collect();
        assert_eq!((failed, written.tests.len()), (vec![4], 1));
        assert!(!written.text.contains("native"), "{}", written.text);
    }

    #[test]
    fn runners_find_all_parts() {
        assert_eq!(file_name("a.B$C", "Observed", 0), "BCObservedTest");
        assert_eq!(file_name("a.B", "Generated", 1), "BGenerated2Test");
        assert_eq!(file_name("a.B$", "Observed", 0), "BModuleObservedTest");
    }
}
