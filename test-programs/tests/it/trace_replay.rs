//! Replaying the writes of a log rebuilds what the program has left: random programs, generated
//! from fixed seeds and run in one JVM, each with an object whose graph is compared with the one
//! from the log.
//!
//! `HINDSIGHT_SEED=N` generates other programs, `HINDSIGHT_FULL=1` many.

use hindsight_test_programs::{Jdk, Workplace, both, is_full, jdks, root, text};
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::kind::Kind;
use hindsight_tracelog::trace::{Datum, Event, Live, Log, ObjectId};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::env;
use std::fmt::Write;
use std::fs;

/// A small generator of numbers (splitmix64), the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// The types of fields, with their descriptors in the log.
const FIELDS: &[(&str, &str)] = &[
    ("z", "Z"),
    ("b", "B"),
    ("c", "C"),
    ("s", "S"),
    ("i", "I"),
    ("j", "J"),
    ("f", "F"),
    ("d", "D"),
    ("text", "T"),
    ("any", "L"),
    ("ints", "["),
    ("longs", "["),
    ("all", "["),
    ("grid", "["),
];

/// The classes of a program, in Java. All have the same fields; some are declared twice, in the
/// superclass too.
fn classes(program: &str, random: &mut Random) -> String {
    let mut java = String::new();
    let fields =
        "boolean z; byte b; char c; short s; int i; long j; float f; double d; String text;
        Object any; int[] ints; long[] longs; Object[] all; byte[][] grid;";
    let twice = ["int i;", "Object any; long j;", "double d; String text;"][random.below(3)];
    let _ = write!(
        java,
        "static class A implements Cloneable {{ {fields}
            A(Object any, int i) {{ this.any = any; this.i = i; }}
            A() {{ this(null, {}); j = -j; }}
            static byte[][] five(int least) {{ return new byte[5][]; }}
            synchronized void set(Object any, long j) {{ this.any = any; this.j = j; }}
            public A clone() {{ try {{ return (A) super.clone(); }} catch (CloneNotSupportedException e) {{ throw new Error(e); }} }}
        }}
        static class B extends A {{ {twice} final Object last;
            B(Object any) {{ super(any, {}); last = this; text = \"b\"; }}
        }}
        static class C extends B {{
            C(A a) {{ super(a.all); if (a.i > {}) throw new IllegalStateException(); ints = a.ints; }}
            class In {{ long j = i; Object any = C.this; }}
        }}
        interface Copy {{ void copy(Object from, int at, Object to, int into, int count); }}
        static final Copy COPY = System::arraycopy;
        static A[] pool = new A[6]; static Object root; static long count; static final String NAME = \"{program}\";
        ",
        random.below(100),
        random.below(1000),
        random.below(1200),
    );
    java
}

/// A statement that changes the heap in some way.
fn statement(random: &mut Random, depth: usize) -> String {
    let at = |random: &mut Random| format!("pool[{}]", random.below(6));
    let (a, b) = (at(random), at(random));
    let number = random.below(1 << 20) as i64 - (1 << 19);
    let small = random.below(5);
    let other = random.below(5);
    match random.below(if depth > 2 { 30 } else { 36 }) {
        0 => format!("{a} = new A({b}, {number});"),
        1 => format!("{a} = new B({b}.all);"),
        2 => format!("try {{ {a} = new C({b}); }} catch (IllegalStateException e) {{ count++; }}"),
        3 => format!("{a}.any = {b};"),
        4 => format!("{a}.i = {number};"),
        5 => format!("{a}.j = {number}L << 1{small};"),
        6 => format!("{a}.f = {number} / 3f; {a}.d = {number} / 7.0;"),
        7 => format!("{a}.z = !{b}.z; {a}.b = (byte) {number}; {a}.s = (short) {number};"),
        8 => format!("{a}.c = (char) {number}; {a}.i += {b}.c;"),
        9 => format!("{a}.text = \"t{number}\";"),
        10 => format!("{a}.text = {b}.text + {small};"),
        11 => format!("{a}.ints = new int[] {{ {number}, {small}, 0, 7, {b}.i }};"),
        12 => format!("if ({a}.ints != null) {a}.ints[{small}] ^= {number};"),
        13 => format!("{a}.longs = new long[5]; {a}.longs[{small}] = {number};"),
        14 => format!("{a}.all = new Object[] {{ {b}, null, {a}.any, {b}.all, \"x\" }};"),
        15 => format!("if ({a}.all != null) {a}.all[{small}] = {b}.grid;"),
        16 => format!(
            "{a}.grid = new byte[5][{small}]; if ({b}.grid != null) {a}.grid[{other}] = {b}.grid[{small}];"
        ),
        17 => format!(
            "if ({a}.grid != null && {a}.grid[{small}] != null && {a}.grid[{small}].length > 0) {a}.grid[{small}][0] = (byte) {number};"
        ),
        18 => format!(
            "if ({a}.ints != null && {b}.ints != null) System.arraycopy({a}.ints, {}, {b}.ints, {}, {});",
            small.min(2),
            other.min(2),
            random.below(3)
        ),
        19 => format!(
            "if ({a}.all != null && {b}.all != null) {}({a}.all, 0, {b}.all, {}, 3);",
            random.one(&["System.arraycopy", "COPY.copy"]),
            small.min(2)
        ),
        20 => format!("if ({a}.longs != null) java.util.Arrays.fill({a}.longs, {number});"),
        21 => format!("if ({a}.all != null) java.util.Arrays.fill({a}.all, 1, 3, {b});"),
        22 => format!("if ({a}.ints != null) {b}.ints = {a}.ints.clone();"),
        23 => format!("if ({a}.all != null) {b}.any = {a}.all.clone();"),
        24 => format!("{a} = {b}.clone();"),
        25 => format!(
            "if ({a} instanceof C) {{ {b}.any = ((C) {a}).new In(); }} if ({a} instanceof B) {{ B as = (B) {a}; as.i += 3; as.j = {number}; as.any = {b}; as.d = 1e300 / {small}; as.text = \"u\"; }}"
        ),
        26 => format!(
            "try {{ {a}.ints[{small}] = 9; {b}.all[{number}] = {a}; }} catch (RuntimeException e) {{ {a}.j--; }}"
        ),
        27 => format!(
            "{a}.ints = IntStream.of({number}, 0, {b}.i, {small}, 1).toArray(); {b}.longs = LongStream.range({small}, {small} + 5).toArray();"
        ),
        28 => format!("{a}.all = Arrays.asList({b}, null, {a}.any, \"y\", {b}.ints).toArray();"),
        29 => format!(
            "{a}.grid = Stream.of(new byte[{small}], \"q{number}\".getBytes(), null, {b}.grid == null ? null : {b}.grid[{other}], new byte[1]).toArray(A::five);"
        ),
        30 => format!(
            "for (int k{depth} = 0; k{depth} < {small}; k{depth}++) {{ {} }}",
            statement(random, depth + 1)
        ),
        31 => format!(
            "if ({a}.i % 2 == 0) {{ {} }} else {{ {} }}",
            statement(random, depth + 1),
            statement(random, depth + 1)
        ),
        32 => format!(
            "java.util.function.IntConsumer f = m -> {{ {} }}; f.accept(3);",
            statement(random, depth + 3)
                .replace("IllegalStateException e", "IllegalStateException e2")
        ),
        33 => format!(
            "root = {b}; {} pool[{small}] = (A) root;",
            statement(random, depth + 1)
        ),
        34 => format!("{a}.set({b}, {number});"),
        _ => {
            let threads = random.one(&["2", "3"]);
            format!(
                "together({threads}, () -> {{ for (int n = 0; n < 20; n++) {{ synchronized (NAME) {{ {a}.i++; Thread.yield(); {b}.set({a}, {a}.j + count++); }} }} }});"
            )
        }
    }
}

/// A program; with `has_virtual` half of its threads are virtual.
fn program(name: &str, seed: u64, has_virtual: bool) -> String {
    let mut random = Random(seed);
    let classes = classes(name, &mut random);
    let mut java = format!(
        "import java.util.*; import java.util.stream.*;\npublic class {name} {{\n{classes}"
    );
    let mut calls = String::new();
    for part in 0..6 {
        let _ = writeln!(java, "static void part{part}() {{");
        for _ in 0..8 {
            let _ = writeln!(java, "{{ {} }}", statement(&mut random, 0));
        }
        java.push_str("}\n");
        let _ = write!(calls, "part{}(); ", random.below(part + 1));
        let _ = write!(calls, "part{part}(); ");
    }
    let thread = match has_virtual {
        true => "k % 2 == 0 ? Thread.ofVirtual().unstarted(work) : new Thread(work)",
        false => "new Thread(work)",
    };
    let _ = write!(
        java,
        "static void together(int threads, Runnable work) {{
            Thread[] all = new Thread[threads];
            for (int k = 0; k < threads; k++) (all[k] = {thread}).start();
            try {{ for (Thread thread : all) thread.join(); }} catch (InterruptedException e) {{ throw new Error(e); }}
        }}
        static Object choose(Object chosen) {{ return chosen; }}
        public static Object run() {{
            for (int k = 0; k < 6; k++) pool[k] = new A();
            {calls}
            return choose(pool);
        }}
    }}\n"
    );
    java
}

/// The value of a place.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Object(Option<ObjectId>),
    /// The bits of a number, also of a floating-point one.
    Bits(i64),
}

impl From<Datum> for Value {
    fn from(datum: Datum) -> Self {
        match datum {
            Datum::Reference(object) => Self::Object(object),
            Datum::Int(value) => Self::Bits(value.into()),
            Datum::Long(value) => Self::Bits(value),
            Datum::Float(value) => Self::Bits(i64::from(value.to_bits() as i32)),
            Datum::Double(value) => Self::Bits(value.to_bits() as i64),
        }
    }
}

/// The heap as the writes have left it. A place that was never written has its default.
#[derive(Default)]
struct Heap {
    fields: HashMap<(ObjectId, String), Value>,
    elements: HashMap<(ObjectId, i32), Value>,
    lengths: HashMap<ObjectId, i32>,
    texts: HashMap<ObjectId, String>,
    /// By thread, the writes of constructors before they were bound.
    early: HashMap<u64, Vec<(String, Value)>>,
    chosen: Vec<(String, Option<ObjectId>)>,
}

impl Heap {
    fn apply(&mut self, event: &Event, dictionary: &Dictionary) {
        let field = || {
            let field = dictionary.field(event.id).expect("a field");
            format!(
                "{}.{}",
                declaring(&field.owner, &field.name, dictionary),
                field.name
            )
        };
        let value = || event.value().map(Value::from).expect("a value");
        match event.kind() {
            Kind::Object => {
                let object = event.reference(0).expect("an object");
                self.lengths.insert(object, event.ints()[0]);
            }
            Kind::Text => {
                let object = event.reference(0).expect("an object");
                let class = dictionary.class(object.class()).expect("a class");
                match class.strip_prefix('[') {
                    Some(of) => {
                        let elements = event.elements(of).expect("elements");
                        let elements = (0..).zip(elements);
                        let elements = elements.map(|(at, one)| ((object, at), one.into()));
                        self.elements.extend(elements);
                    }
                    None => {
                        self.texts.insert(object, event.text());
                    }
                }
            }
            Kind::Put => {
                let object = event.reference(0).expect("an object");
                self.fields.insert((object, field()), value());
            }
            Kind::PutEarly => self
                .early
                .entry(event.thread)
                .or_default()
                .push((field(), value())),
            Kind::Bind => {
                for (field, value) in self.early.remove(&event.thread).unwrap_or_default() {
                    self.fields
                        .insert((event.reference(0).expect("it"), field), value);
                }
            }
            Kind::Store => {
                let array = event.reference(0).expect("an array");
                self.elements.insert((array, event.ints()[0]), value());
            }
            Kind::Called => {
                let callee = dictionary.callee(event.id).expect("a callee");
                self.called(&callee.owner, &callee.name, event);
            }
            Kind::Enter => {
                let (class, method) = dictionary.method(event.id).expect("a method");
                if method.name == "choose" {
                    self.chosen.push((class.name.clone(), event.reference(0)));
                }
            }
            _ => {}
        }
    }

    fn called(&mut self, owner: &str, name: &str, event: &Event) {
        let references: Vec<_> = event.references().collect();
        let (ints, longs) = (event.ints(), event.longs());
        let of = |at: usize| references[at].expect("an object");
        match (owner, name) {
            ("java.lang.System", "arraycopy") => {
                let &[from, to, count] = ints else {
                    panic!("{ints:?}")
                };
                let copied: Vec<_> = (0..count)
                    .map(|at| self.elements.get(&(of(0), from + at)).cloned())
                    .collect();
                for (at, value) in (to..).zip(copied) {
                    self.put((of(1), at), value);
                }
            }
            ("java.util.Arrays", "fill") => {
                let (range, value) = match *ints {
                    [from, to] => (from..to, Value::Object(references[1])),
                    [] => (0..self.lengths[&of(0)], Value::Bits(longs[0])),
                    _ => panic!("{ints:?}"),
                };
                for at in range {
                    self.elements.insert((of(0), at), value.clone());
                }
            }
            (_, "clone") => {
                for at in 0..self.lengths[&of(0)] {
                    let value = self.elements.get(&(of(0), at)).cloned();
                    self.put((of(1), at), value);
                }
                let fields = self
                    .fields
                    .iter()
                    .filter(|((object, _), _)| *object == of(0));
                let fields: Vec<_> = fields
                    .map(|((_, field), value)| (field.clone(), value.clone()))
                    .collect();
                for (field, value) in fields {
                    self.fields.insert((of(1), field), value);
                }
            }
            (owner, name) => panic!("{owner}.{name} is not in these programs"),
        }
    }

    fn put(&mut self, place: (ObjectId, i32), value: Option<Value>) {
        match value {
            Some(value) => self.elements.insert(place, value),
            None => self.elements.remove(&place),
        };
    }
}

/// The class that declares a field, among the named class and its superclasses.
fn declaring(owner: &str, name: &str, dictionary: &Dictionary) -> String {
    let _ = dictionary;
    let Some((program, class)) = owner.split_once('$') else {
        return owner.to_owned();
    };
    let own = DECLARED
        .with_borrow(|declared| declared.get(program).cloned())
        .unwrap_or_default();
    let of_b = name == "last" || own.iter().any(|field| field == name);
    match class {
        "B" | "C" if of_b => format!("{program}$B"),
        "B" | "C" if !name.contains('$') => format!("{program}$A"),
        _ => owner.to_owned(),
    }
}

thread_local! {
    /// The fields that each program's class B declares.
    static DECLARED: std::cell::RefCell<HashMap<String, Vec<String>>> = std::cell::RefCell::default();
}

/// The graph as `Replay` shows it: `classes` has the fields of each class, as one of its lines has
/// shown them.
fn show(
    heap: &Heap,
    dictionary: &Dictionary,
    chosen: ObjectId,
    fields: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut numbers: HashMap<ObjectId, usize> = HashMap::new();
    let mut left = VecDeque::new();
    let mut value =
        |value: Option<&Value>, default: &str, left: &mut VecDeque<ObjectId>| match value {
            None => default.to_owned(),
            Some(Value::Bits(bits)) => bits.to_string(),
            Some(Value::Object(None)) => "null".to_owned(),
            Some(Value::Object(Some(object))) => match heap.texts.get(object) {
                Some(text) => format!("\"{text}\""),
                None => {
                    let next = numbers.len();
                    let number = *numbers.entry(*object).or_insert_with(|| {
                        left.push_back(*object);
                        next
                    });
                    format!("#{number}")
                }
            },
        };
    let mut lines = Vec::new();
    value(Some(&Value::Object(Some(chosen))), "", &mut left);
    let mut number = 0;
    while let Some(object) = left.pop_front() {
        let class = dictionary.class(object.class()).expect("a class");
        let mut line = format!("{number} {class}");
        number += 1;
        if let Some(element) = class.strip_prefix('[') {
            let default = if element.starts_with(['L', '[']) {
                "null"
            } else {
                "0"
            };
            for at in 0..heap.lengths[&object] {
                let shown = value(heap.elements.get(&(object, at)), default, &mut left);
                let _ = write!(line, " {at}={shown}");
            }
        } else {
            for field in &fields[class] {
                let name = field.rsplit('.').next().expect("a name");
                let primitive = FIELDS
                    .iter()
                    .any(|(known, ty)| *known == name && ty.len() == 1 && !"TL[".contains(ty));
                let default = if primitive { "0" } else { "null" };
                let shown = value(
                    heap.fields.get(&(object, field.clone())),
                    default,
                    &mut left,
                );
                let _ = write!(line, " {field}={shown}");
            }
        }
        lines.push(line);
    }
    lines
}

fn check(jdk: &Jdk, seed: u64, count: usize) {
    let workplace = Workplace::new(&format!("trace-replay-{}", jdk.version));
    let names: Vec<String> = (0..count).map(|at| format!("P{at}")).collect();
    let mut sources = vec![root().join("test-programs/trace/Replay.java")];
    for (at, name) in names.iter().enumerate() {
        let path = workplace.join(format!("{name}.java"));
        let seed = seed.wrapping_add(at as u64);
        fs::write(&path, program(name, seed, jdk.version >= 21)).expect("a source");
        sources.push(path);
    }
    let release = if jdk.version >= 21 { "21" } else { "17" };
    let classes = workplace.compile(jdk, &["--release", release], &sources);
    let ran = workplace
        .java_with_agent(jdk, "mode=trace,exclude=Replay")
        .arg("-cp")
        .arg(&classes)
        .arg("Replay")
        .args(&names)
        .output()
        .expect("java runs");
    assert!(ran.status.success(), "seed {seed}: {}", both(&ran));

    let directory = workplace.join("out/trace");
    let bytes = fs::read(directory.join("dictionary.hsd")).expect("a dictionary");
    let (dictionary, _) = Dictionary::read(&bytes).expect("a sound dictionary");
    let segments = fs::read_dir(&directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path());
    let mut segments: Vec<_> = segments
        .filter(|path| path.extension().is_some_and(|of| of == "hst"))
        .collect();
    segments.sort();
    let segments = segments
        .iter()
        .map(|path| fs::read(path).expect("a segment"))
        .collect();
    let log = Log::open(dictionary, segments, Live::read(Vec::new()))
        .map_err(|(_, error)| error)
        .expect("a sound log");

    let shown = text(&ran.stdout);
    // Other seeds make other programs of the same names.
    DECLARED.take();
    let mut expected: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = "";
    for line in shown.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            current = name;
            continue;
        }
        expected.entry(current).or_default().push(line);
        let mut words = line.split(' ').skip(1);
        let class = words.next().expect("a class");
        if !class.starts_with('[') {
            let names: Vec<String> = words
                .filter_map(|word| Some(word.split_once('=')?.0.to_owned()))
                .collect();
            let of_b = format!("{current}$B.");
            let declared = names.iter().filter_map(|name| name.strip_prefix(&of_b));
            DECLARED.with_borrow_mut(|all| {
                let known = all.entry(current.to_owned()).or_default();
                known.extend(declared.map(str::to_owned));
            });
            fields.insert(class.to_owned(), names);
        }
    }
    let mut heap = Heap::default();
    let all: Vec<usize> = (0..log.blocks().len()).collect();
    let mut events = log.events(&all);
    while let Some(event) = events.next_event() {
        heap.apply(event.expect("a sound event"), &log.dictionary);
    }
    assert_eq!(heap.chosen.len(), count);
    let mut objects = 0;
    for (name, chosen) in &heap.chosen {
        let chosen = chosen.expect("an object");
        let replayed = show(&heap, &log.dictionary, chosen, &fields);
        let expected = &expected[name.as_str()];
        for (expected, replayed) in expected.iter().zip(&replayed) {
            assert_eq!(expected, replayed, "seed {seed}, program {name}");
        }
        assert_eq!(
            expected.len(),
            replayed.len(),
            "seed {seed}, program {name}"
        );
        objects += replayed.len();
    }
    assert!(objects > 8 * count, "the programs have {objects} objects");
}

#[test]
fn replayed_writes_give_the_heap() {
    let seed = env::var("HINDSIGHT_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let rounds = if is_full() { 20 } else { 1 };
    for jdk in jdks() {
        for round in 0..rounds {
            check(jdk, seed + 1000 * round, 20);
        }
    }
}
