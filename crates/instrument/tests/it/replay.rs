//! Reads the events of the reference recorder by the rules of the contract, and tests that the
//! active calls follow from them, and that each value read is the one that was written.

use std::collections::HashMap;

use hindsight_instrument::{MemberName, Traced, What};

/// The meanings of the ids.
#[derive(Default)]
pub struct Names {
    pub methods: Vec<String>,
    pub fields: Vec<MemberName>,
    pub callees: Vec<MemberName>,
}

impl Names {
    pub fn add(&mut self, traced: &Traced) {
        for method in traced.methods.iter() {
            assert_eq!(method.id as usize, self.methods.len());
            // Compilers number lambdas differently.
            let counted = method.name.starts_with("lambda$");
            let name = method
                .name
                .trim_end_matches(|c: char| counted && c.is_ascii_digit());
            self.methods.push(format!("{}.{name}", traced.class_name));
        }
        self.fields.extend(traced.fields.iter());
        self.callees.extend(traced.callees.iter());
        let in_order = |list: &[MemberName]| (0..).zip(list).all(|(id, member)| member.id == id);
        assert!(in_order(&self.fields) && in_order(&self.callees));
    }
}

/// An active call.
struct Call {
    method: usize,
    /// In constructors, whether `this` is initialized.
    bound: bool,
    /// The fields that a constructor has written before that.
    early: Vec<(String, String)>,
}

/// The state of one thread.
#[derive(Default)]
struct Thread {
    calls: Vec<Call>,
    /// The name and id of the previous event, for further values.
    last: (String, String),
}

/// The values that were written, by object and place.
#[derive(Default)]
struct Heap {
    written: HashMap<(String, String), String>,
    reads_checked: usize,
}

impl Heap {
    fn write(&mut self, object: &str, place: &str, value: Option<&&str>) {
        let key = (object.to_owned(), place.to_owned());
        match value {
            Some(value) => self.written.insert(key, (*value).to_owned()),
            None => self.written.remove(&key),
        };
    }

    fn read(&mut self, object: &str, place: &str, value: Option<&&str>, line: &str) {
        let key = (object.to_owned(), place.to_owned());
        if let (Some(known), Some(value)) = (self.written.get(&key), value) {
            self.reads_checked += 1;
            assert_eq!(known, value, "another value was written before {line}");
        }
    }

    fn of(&self, object: &str) -> Vec<(String, String)> {
        let of = self.written.iter().filter(|((of, _), _)| of == object);
        of.map(|((_, place), value)| (place.clone(), value.clone()))
            .collect()
    }

    /// Handles a method that has written unseen.
    fn called(&mut self, callee: &MemberName, values: &[&str]) {
        match (callee.name.as_str(), values) {
            ("arraycopy", [from, to, from_at, to_at, len]) => {
                let number = |text: &str| text.parse::<i64>().expect("a number");
                let (from_at, to_at) = (number(from_at), number(to_at));
                let elements: Vec<_> = (0..number(len))
                    .map(|at| {
                        let key = ((*from).to_owned(), (from_at + at).to_string());
                        ((to_at + at).to_string(), self.written.get(&key).cloned())
                    })
                    .collect();
                for (place, value) in elements {
                    self.write(to, &place, value.as_deref().as_ref());
                }
            }
            ("clone", [from, to]) => {
                // If the copy is known, it was cloned further down and changed afterwards.
                if self.of(to).is_empty() {
                    for (place, value) in self.of(from) {
                        self.write(to, &place, Some(&value.as_str()));
                    }
                }
            }
            _ => self
                .written
                .retain(|(object, _), _| !values.contains(&object.as_str())),
        }
    }
}

/// The result of replaying events.
pub struct Replayed {
    pub text: String,
    /// The methods of calls that ended without an event.
    pub gone: Vec<String>,
    /// The number of reads of values that were known.
    pub reads_checked: usize,
}

/// Replays events, and lists them with names, indented by the active calls. Panics if they make no
/// sense.
pub fn replay(events: &str, names: &Names, what: What) -> Replayed {
    let mut threads: HashMap<&str, Thread> = HashMap::new();
    let mut heap = Heap::default();
    let mut out = String::new();
    let mut all_gone = Vec::new();
    for line in events.lines() {
        let mut parts = line.split('\t');
        let mut next = || parts.next().unwrap_or_else(|| panic!("{line} is short"));
        let (name, event, id) = (next(), next(), next());
        let values: Vec<&str> = parts.collect();
        let thread = threads.entry(name).or_default();
        let number = || id.parse::<usize>().expect("an id");
        let (mut field, mut said) = (String::new(), id.to_owned());
        match event {
            "enter" | "exit" | "unwind" | "caught" | "bind" => {
                said = names.methods[number()].clone();
            }
            "put" | "putStatic" | "putEarly" | "get" | "getStatic" => {
                let MemberName {
                    owner,
                    name,
                    descriptor,
                    ..
                } = &names.fields[number()];
                said = format!("{owner}.{name}");
                // The same field may be named by different owners, if it is not static.
                field = match event {
                    "putStatic" | "getStatic" => format!("{said} {descriptor}"),
                    _ => format!("{name} {descriptor}"),
                };
            }
            "called" => {
                let MemberName { owner, name, .. } = &names.callees[number()];
                said = format!("{owner}.{name}");
            }
            "more" => {
                assert!(["enter", "called", "more"].contains(&thread.last.0.as_str()));
                assert_eq!(thread.last.1, id, "{line}");
                said = String::new();
            }
            _ => {}
        }
        thread.last = (event.to_owned(), id.to_owned());

        let constructor = said.ends_with(".<init>");
        let depth = match event {
            "exit" | "unwind" | "caught" if what.calls => {
                let method = number();
                let ours = |call: &Call| {
                    // A constructor exits and catches only when it is bound.
                    call.method == method && (!constructor || event == "unwind" || call.bound)
                };
                let at = thread.calls.iter().rposition(ours);
                let at = at.unwrap_or_else(|| panic!("{said} is not active at {line}"));
                let ended = thread.calls.drain(at + 1..);
                let ended: Vec<_> = ended.map(|call| &names.methods[call.method]).collect();
                for (above, name) in ended.iter().enumerate().rev() {
                    let depth = at + 1 + above;
                    out.push_str(&format!("{}gone {name}\n", "  ".repeat(depth)));
                    all_gone.push((*name).clone());
                }
                if event != "caught" {
                    thread.calls.pop();
                }
                at
            }
            _ => thread.calls.len(),
        };
        match event {
            "enter" => thread.calls.push(Call {
                method: number(),
                bound: false,
                early: Vec::new(),
            }),
            "bind" if what.calls => {
                let call = thread
                    .calls
                    .iter_mut()
                    .rfind(|call| call.method == number());
                let call = call.unwrap_or_else(|| panic!("{said} is not active at {line}"));
                assert!(constructor && !call.bound, "{line}");
                call.bound = true;
                for (field, value) in call.early.drain(..) {
                    heap.write(values[0], &field, Some(&value.as_str()));
                }
            }
            "putEarly" if what.calls => {
                let call = thread.calls.last_mut().expect("a constructor is active");
                assert!(names.methods[call.method].ends_with(".<init>") && !call.bound);
                if let [value] = values[..] {
                    call.early.push((field, value.to_owned()));
                }
            }
            "put" => heap.write(values[0], &field, values.get(1)),
            "get" => heap.read(values[0], &field, values.get(1), line),
            "putStatic" => heap.write("", &field, values.first()),
            "getStatic" => heap.read("", &field, values.first(), line),
            "store" => heap.write(values[0], values[1], values.get(2)),
            "load" => heap.read(values[0], values[1], values.get(2), line),
            "called" => heap.called(&names.callees[number()], &values),
            _ => {}
        }
        let other = if name == "main" {
            String::new()
        } else {
            format!("[{name}] ")
        };
        let line = format!(
            "{}{other}{event} {said} {}",
            "  ".repeat(depth),
            values.join(" ")
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for (name, thread) in threads {
        assert!(thread.calls.is_empty(), "calls are left in {name}");
    }
    Replayed {
        text: out,
        gone: all_gone,
        reads_checked: heap.reads_checked,
    }
}
