//! Models: merging does not depend on the order, nor on how often; files that are
//! no models.

use crate::common::hindsight;
use hindsight_analyzer::model::graph::{Node, ROOT};
use hindsight_analyzer::model::infer::{Inference, Limits};
use hindsight_analyzer::model::mutable::Mutability;
use hindsight_analyzer::model::values::{Counts, Life, Literal};
use hindsight_analyzer::model::{Call, Model, Run, document};
use hindsight_analyzer::trace::steps::{Argument, Step, What};
use hindsight_tracelog::trace::{Datum, ObjectId, dictionary as trace};
use proptest::prelude::*;
use serde_json::Value;
use std::fs;

/// Calls that a run does, on one of a few nodes: which, with what value, and
/// whether it leads to a node that is there.
type Script = Vec<(u8, u8, i64, Option<u8>)>;

fn script() -> impl Strategy<Value = Script> {
    let step = (0..8_u8, 0..4_u8, 0..400_i64, proptest::option::of(0..8_u8));
    proptest::collection::vec(step, 0..40)
}

/// The model of a run that does as the script says.
fn run(id: &str, script: &Script) -> Model {
    let mut model = Model::default();
    let run = model.run(Run {
        id: id.to_owned(),
        mutability: false,
    });
    let mut nodes: Vec<Node> = vec![ROOT];
    for &(from, call, value, to) in script {
        // More of them than are kept.
        let life = Life::of(
            u64::from(id.as_bytes()[0]),
            u64::from(from) + value as u64 % 9,
        );
        let call = model.intern(Call {
            class: "a.B".to_owned(),
            method: format!("m{call}"),
            descriptor: "(I)V".to_owned(),
            is_static: false,
            positions: vec![0],
        });
        let class = model.classes.entry("a.B".to_owned()).or_default();
        class.objects.add(run);
        let from = nodes[usize::from(from) % nodes.len()];
        let edge = match to {
            Some(to) => {
                let to = nodes[usize::from(to) % nodes.len()];
                class.graph.join(from, call, to)
            }
            None => class.graph.step(from, call),
        };
        edge.tally.returned.add(run);
        let values = edge.tally.values.entry(1).or_default();
        values.add(&Literal::Int(value), run, life);
        edge.tally.lives.add(life);
        let target = edge.target;
        nodes.push(target);
    }
    model
}

/// The document of a model.
fn written(model: &Model) -> Value {
    let mut text = Vec::new();
    document::write(model, &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn merged(models: &[&Model]) -> Value {
    let mut all = Model::default();
    for model in models {
        all.merge(model);
    }
    written(&all)
}

fn reread(model: &Value) -> Model {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model");
    fs::write(&path, model.to_string()).expect("a file");
    document::read(&path).expect("a model")
}

proptest! {
    #[test]
    fn merging_is_a_union(a in script(), b in script(), c in script()) {
        let (a, b, c) = (run("1", &a), run("2", &b), run("3", &c));
        let ab = merged(&[&a, &b]);
        prop_assert_eq!(&ab, &merged(&[&b, &a]));
        let (ab_model, bc_model) = (reread(&ab), reread(&merged(&[&b, &c])));
        prop_assert_eq!(written(&ab_model), ab.clone());
        let all = merged(&[&a, &b, &c]);
        prop_assert_eq!(&merged(&[&ab_model, &c]), &all);
        prop_assert_eq!(&merged(&[&a, &bc_model]), &all);
        prop_assert_eq!(&merged(&[&c, &b, &a]), &all);
        // Runs that both have count once.
        prop_assert_eq!(&merged(&[&ab_model, &bc_model]), &all);
        prop_assert_eq!(&merged(&[&ab_model, &a, &ab_model]), &ab);
    }

    #[test]
    fn no_two_edges_of_a_node_are_of_the_same_call(a in script(), b in script()) {
        let all = merged(&[&run("1", &a), &run("2", &b)]);
        for class in all["classes"].as_array().expect("classes") {
            let mut keys: Vec<String> = class["edges"].as_array().expect("edges").iter()
                .map(|edge| format!("{} {} {}", edge["from"], edge["method"], edge["positions"]))
                .collect();
            let count = keys.len();
            keys.sort();
            keys.dedup();
            prop_assert_eq!(keys.len(), count);
        }
    }
}

#[test]
fn values_are_bounded_whatever_the_order() {
    let up: Script = (0..1000).map(|value| (0, 0, value, None)).collect();
    let down: Script = up.iter().rev().copied().collect();
    let (up, down) = (run("1", &up), run("1", &down));
    let document = written(&up);
    assert_eq!(document, written(&down));
    let values = &document["classes"][0]["edges"][0]["values"][0];
    assert_eq!(values["seen"].as_array().map(Vec::len), Some(256));
    assert_eq!(values["more"], true);
    assert_eq!(Counts::of(0, 3).total(), 3);
}

#[test]
fn bad_input_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let check = |arguments: &[&str], expected: &str| {
        let output = hindsight(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(expected), "{told}");
    };
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("a name").to_owned()
    };
    let empty = dir.path().to_str().expect("a name");
    check(&["model", empty], "was it recorded with mode=trace?");
    check(&["model", "/nowhere"], "failed to read /nowhere");
    let cut = file("cut", "{\"schema\":\"hindsight.model/1\",");
    check(&["model", "--merge", &cut], "failed to read model");
    let other = file("other", "{\"schema\":\"x/2\"}");
    check(&["model", "--merge", &other], "its schema is x/2");
    let far = r#"{"schema":"hindsight.model/1","runs":[],"classes":[{"class":"A","objects":0,
        "nodes":4000000000,"edges":[],"observers":[]}]}"#;
    let far = file("far", far);
    check(&["model", "--merge", &far], "A has 4000000000 nodes");
    check(
        &["model", empty, "--mutability", &other],
        "hindsight mutability --format json",
    );
    let usage = hindsight(["model"]);
    assert_eq!(usage.status.code(), Some(2));
    // Before anything is inferred.
    check(
        &["model", empty, "--out", &format!("{other}/below")],
        "below",
    );
}

#[test]
fn a_picture_can_be_a_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let [model, picture] =
        ["use.model", "use.dot"].map(|name| dir.path().join(name).display().to_string());
    let document = r#"{"schema":"hindsight.model/1","runs":[],"classes":[{"class":"A","objects":0,
        "nodes":1,"edges":[],"observers":[]}]}"#;
    fs::write(&model, document).expect("a file");
    let shown = hindsight(["model", "--merge", &model, "--dot"]);
    let written = hindsight(["model", "--merge", &model, "--dot", "--out", &picture]);
    assert!(shown.status.success() && written.status.success());
    assert!(shown.stdout.starts_with(b"digraph ") && written.stdout.is_empty());
    assert!(fs::read(picture).expect("a picture") == shown.stdout);
}

/// A call of a run: a method (the last is not public), whether each of two objects
/// is its receiver and its argument, and what it calls.
#[derive(Debug, Clone)]
struct Made {
    method: usize,
    on: usize,
    with: usize,
    nested: Vec<Made>,
}

const METHODS: usize = 4;
const LAST_IS_PRIVATE: usize = METHODS - 1;

fn calls() -> impl Strategy<Value = Vec<Made>> {
    let call = |nested: Vec<Made>| {
        (0..METHODS, 0..2_usize, 0..3_usize).prop_map(move |(method, on, with)| Made {
            method,
            on,
            with,
            nested: nested.clone(),
        })
    };
    let leaf = call(Vec::new());
    let tree = leaf.prop_recursive(4, 24, 4, move |inner| {
        proptest::collection::vec(inner, 0..4).prop_flat_map(call)
    });
    proptest::collection::vec(tree, 0..6)
}

/// Where an object stands in a call, if it does.
fn positions(call: &Made, object: usize) -> Vec<i16> {
    let mut positions = Vec::new();
    if call.on == object {
        positions.push(0);
    }
    if call.with == object {
        positions.push(1);
    }
    positions
}

/// The graph of one object, straight from Fig. 2-3 of the paper: edges with their
/// ends, the method and the positions. Node 0 is the root, 1 the constructed object.
#[derive(Default)]
struct Reference {
    nodes: usize,
    edges: Vec<(usize, usize, (usize, Vec<i16>))>,
    /// Nodes that are the same.
    same: Vec<(usize, usize)>,
}

impl Reference {
    fn build(&mut self, calls: &[&Made], object: usize, start: usize, top: bool) -> usize {
        let mut last = start;
        for call in calls {
            let next = self.nodes;
            self.nodes += 1;
            self.edges
                .push((last, next, (call.method, positions(call, object))));
            let nested = taking_part(&call.nested, object);
            if !nested.is_empty() {
                let end = self.build(&nested, object, last, false);
                self.same.push((end, next));
            }
            if top && !self.reaches(last, next) {
                self.same.push((last, next));
            }
            last = next;
        }
        last
    }

    fn partition(&self, joined: &[(usize, usize)]) -> Vec<usize> {
        let mut part: Vec<usize> = (0..self.nodes).collect();
        for &(a, b) in self.same.iter().chain(joined) {
            let (a, b) = (part[a], part[b]);
            part.iter_mut()
                .filter(|one| **one == b)
                .for_each(|one| *one = a);
        }
        part
    }

    /// Whether public calls lead from one node to another.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let part = self.partition(&[]);
        let mut seen = vec![part[from]];
        let mut at = 0;
        while at < seen.len() {
            for (start, end, (method, _)) in &self.edges {
                if part[*start] == seen[at]
                    && *method != LAST_IS_PRIVATE
                    && !seen.contains(&part[*end])
                {
                    seen.push(part[*end]);
                }
            }
            at += 1;
        }
        seen.contains(&part[to])
    }
}

/// The outermost of some calls in which an object takes part.
fn taking_part(calls: &[Made], object: usize) -> Vec<&Made> {
    let mut found = Vec::new();
    for call in calls {
        match positions(call, object).is_empty() {
            true => found.extend(taking_part(&call.nested, object)),
            false => found.push(call),
        }
    }
    found
}

/// The edges of the merged graph, with nodes numbered as the document does, and how
/// often each was gone along.
fn reference(calls: &[Made]) -> Vec<(u64, u64, String, Vec<i16>, u64)> {
    let mut all = Reference {
        nodes: 2,
        ..Reference::default()
    };
    for object in 0..2 {
        let first = match object {
            0 => 1,
            _ => {
                all.nodes += 1;
                all.nodes - 1
            }
        };
        all.edges.push((0, first, (METHODS, vec![0])));
        all.build(&taking_part(calls, object), object, first, true);
    }
    // Private ones go, and what only they lead to; then nodes are merged until no
    // two edges of a node are of the same call.
    let part = all.partition(&[]);
    let mut reached = vec![part[0]];
    let mut at = 0;
    while at < reached.len() {
        for (from, to, (method, _)) in &all.edges {
            if part[*from] == reached[at]
                && *method != LAST_IS_PRIVATE
                && !reached.contains(&part[*to])
            {
                reached.push(part[*to]);
            }
        }
        at += 1;
    }
    all.edges.retain(|(from, _, (method, _))| {
        *method != LAST_IS_PRIVATE && reached.contains(&part[*from])
    });
    let mut joined = Vec::new();
    loop {
        let part = all.partition(&joined);
        let clash = all.edges.iter().find_map(|(from, to, key)| {
            let other = all.edges.iter().find(|(start, end, other)| {
                part[*start] == part[*from] && other == key && part[*end] != part[*to]
            });
            other.map(|(_, end, _)| (*to, *end))
        });
        match clash {
            Some(pair) => joined.push(pair),
            None => break,
        }
    }
    let part = all.partition(&joined);
    let name = |method: usize| match method {
        METHODS => "<init>".to_owned(),
        method => format!("m{method}"),
    };
    let mut numbers = vec![part[0]];
    let mut out: Vec<(u64, u64, String, Vec<i16>, u64)> = Vec::new();
    let mut at = 0;
    while at < numbers.len() {
        let mut edges: Vec<_> = (all.edges.iter())
            .filter(|(from, ..)| part[*from] == numbers[at])
            .map(|(_, to, (method, positions))| (name(*method), positions.clone(), part[*to]))
            .collect();
        edges.sort();
        for (method, positions, to) in edges {
            let to = match numbers.iter().position(|number| *number == to) {
                Some(to) => to,
                None => {
                    numbers.push(to);
                    numbers.len() - 1
                }
            };
            match out.last_mut() {
                Some(last) if last.0 == at as u64 && last.2 == method && last.3 == positions => {
                    last.4 += 1
                }
                _ => out.push((at as u64, to as u64, method, positions, 1)),
            }
        }
        at += 1;
    }
    out
}

/// The class of the objects, with its methods and its constructor.
fn class_of_objects() -> trace::Dictionary {
    let told = |parameter: bool| {
        let mut told = vec![(0, "La/C;".to_owned())];
        if parameter {
            told.push((1, "La/C;".to_owned()));
        }
        told
    };
    let mut methods: Vec<trace::Method> = (0..METHODS)
        .map(|method| trace::Method {
            id: method as u32,
            name: format!("m{method}"),
            descriptor: "(La/C;)V".to_owned(),
            access: u16::from(method != LAST_IS_PRIVATE),
            told: told(true),
            ..trace::Method::default()
        })
        .collect();
    methods.push(trace::Method {
        id: METHODS as u32,
        name: "<init>".to_owned(),
        descriptor: "()V".to_owned(),
        access: 1,
        ..trace::Method::default()
    });
    let class = trace::TracedClass {
        name: "a.C".to_owned(),
        methods,
        ..trace::TracedClass::default()
    };
    let objects = trace::ObjectClass {
        id: 1,
        name: "a.C".to_owned(),
        code: None,
    };
    let mut bytes = trace::file_header().to_vec();
    for record in [trace::Record::Traced(class), trace::Record::Class(objects)] {
        bytes.extend(trace::pack(&record).expect("a record"));
    }
    let (dictionary, damage) = trace::Dictionary::read(&bytes).expect("a dictionary");
    assert_eq!(damage, None);
    dictionary
}

fn id(object: usize) -> ObjectId {
    ObjectId((1 << 40) | (object as u64 + 1))
}

fn take(inference: &mut Inference<'_>, thread: u64, what: What) {
    inference.take(&Step {
        thread,
        is_virtual: false,
        stamp: 0,
        what,
    });
}

/// An object is made.
fn construct(inference: &mut Inference<'_>, object: usize) {
    let method = METHODS as u32;
    let object = id(object);
    let steps = [
        What::Enter {
            method,
            arguments: Vec::new(),
        },
        What::New {
            object,
            length: 0,
            hash: None,
            text: None,
            units: None,
            secret: false,
            again: false,
            elements: None,
        },
        What::Bind {
            method,
            this: Some(object),
        },
        What::Exit {
            method,
            value: None,
        },
    ];
    for what in steps {
        take(inference, 1, what);
    }
}

/// The same by the steps of a run.
fn inferred(calls: &[Made], limits: Limits) -> Vec<(u64, u64, String, Vec<i16>, u64)> {
    let dictionary = class_of_objects();
    let mut inference = Inference::new(&dictionary, Run::default(), None, limits);
    for object in 0..2 {
        construct(&mut inference, object);
    }
    let mut take = |what: What| take(&mut inference, 1, what);
    fn tell(call: &Made, take: &mut dyn FnMut(What)) {
        let argument = |index: u16, object: usize| Argument {
            index,
            value: Datum::Reference((object < 2).then(|| id(object))),
        };
        let method = call.method as u32;
        let arguments = vec![argument(0, call.on), argument(1, call.with)];
        take(What::Enter { method, arguments });
        call.nested.iter().for_each(|nested| tell(nested, take));
        take(What::Exit {
            method,
            value: None,
        });
    }
    calls.iter().for_each(|call| tell(call, &mut take));
    edges(inference)
}

fn edges(inference: Inference<'_>) -> Vec<(u64, u64, String, Vec<i16>, u64)> {
    let document = written(&inference.finish());
    let edges = document["classes"][0]["edges"]
        .as_array()
        .expect("edges")
        .clone();
    let row = |edge: &Value| {
        let positions = edge["positions"].as_array().expect("positions").iter();
        (
            edge["from"].as_u64().expect("a node"),
            edge["to"].as_u64().expect("a node"),
            edge["method"].as_str().expect("a name").to_owned(),
            positions
                .map(|at| at.as_i64().expect("a position") as i16)
                .collect(),
            edge["returned"].as_u64().expect("a count"),
        )
    };
    edges.iter().map(row).collect()
}

#[test]
fn what_follows_a_call_with_many_nested_ones_is_there() {
    let call = |method: usize, nested: Vec<Made>| Made {
        method,
        on: 0,
        with: 2,
        nested,
    };
    let many = call(0, (0..100).map(|_| call(1, Vec::new())).collect());
    let limits = Limits {
        depth: 10,
        ..Limits::default()
    };
    let edges = inferred(&[many, call(2, Vec::new())], limits);
    let (_, after, ..) = edges.iter().find(|edge| edge.2 == "m0").expect("m0");
    assert!(edges.iter().any(|edge| edge.2 == "m2" && edge.0 == *after));
    let nested = edges.iter().filter(|edge| edge.2 == "m1").count();
    assert!((10..=20).contains(&nested), "{nested}");
    // Calls that are not nested are bounded by themselves.
    let rest: Vec<Made> = (0..30).map(|_| call(2, Vec::new())).collect();
    assert!(inferred(&rest, limits).len() <= 11);
    // Those that are no edges do not count.
    let mut rest: Vec<Made> = (0..30).map(|_| call(LAST_IS_PRIVATE, Vec::new())).collect();
    rest.push(call(2, Vec::new()));
    assert!(inferred(&rest, limits).iter().any(|edge| edge.2 == "m2"));
}

/// What one thread does while another one is in a call is not nested in that.
#[test]
fn calls_of_other_threads_are_beside() {
    let dictionary = class_of_objects();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("mutability.json");
    let m0 = serde_json::json!({
        "class": "a.C", "method": "m0", "descriptor": "(La/C;)V", "parameters": [{ "verdict": "immutable" }],
    });
    let document = serde_json::json!({ "schema": "hindsight.mutability/1", "methods": [m0] });
    fs::write(&path, document.to_string()).expect("a file");
    let mutability = Mutability::read(&path).expect("verdicts");
    // The thread, a method, whether that is entered or left.
    let run = |steps: &[(u64, u32, bool)]| {
        let limits = Limits::default();
        let mut inference = Inference::new(&dictionary, Run::default(), Some(&mutability), limits);
        construct(&mut inference, 0);
        for &(thread, method, enters) in steps {
            let value = Datum::Reference(Some(id(0)));
            let arguments = vec![Argument { index: 0, value }];
            let what = match enters {
                true => What::Enter { method, arguments },
                false => What::Exit {
                    method,
                    value: None,
                },
            };
            take(&mut inference, thread, what);
        }
        let edges = edges(inference).into_iter();
        let edges = edges.map(|(from, to, method, ..)| format!("{from} {method} {to}"));
        edges.collect::<Vec<_>>()
    };
    const PRIVATE: u32 = LAST_IS_PRIVATE as u32;
    // One waits, which changes nothing, and another one wakes it, which does.
    let woken = [(1, 0, true), (2, 1, true), (2, 1, false), (1, 0, false)];
    assert_eq!(run(&woken), ["0 <init> 1", "1 m1 2"]);
    // A thread is in a public call for good; of others the private ones are not within it.
    let served = [(1, 1, true), (2, PRIVATE, true), (2, PRIVATE, false)];
    let next = [(3, 2, true), (3, 2, false)];
    let all = [&served[..], &next].concat();
    assert_eq!(run(&all), ["0 <init> 1", "1 m2 2"]);
    // Within one thread they are.
    let nested = [(1, 1, true), (1, PRIVATE, true), (1, PRIVATE, false)];
    assert_eq!(run(&[&nested[..], &next].concat()), ["0 <init> 1"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn one_pass_gives_what_the_paper_does(calls in calls()) {
        prop_assert_eq!(inferred(&calls, Limits::default()), reference(&calls));
    }
}
