//! Models: merging does not depend on the order, nor on how often; files that are
//! no models.

use crate::common::hindsight;
use hindsight_analyzer::model::graph::{Node, ROOT};
use hindsight_analyzer::model::values::{Counts, Literal};
use hindsight_analyzer::model::{Call, Model, Run, document};
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
        values.add(Literal::Int(value), run);
        let target = edge.target;
        nodes.push(target);
    }
    model
}

fn merged(models: &[&Model]) -> Value {
    let mut all = Model::default();
    for model in models {
        all.merge(model);
    }
    document::write(&all)
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
        prop_assert_eq!(document::write(&ab_model), ab.clone());
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
    let document = document::write(&up);
    assert_eq!(document, document::write(&down));
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
    let other = file("other", "{\"schema\":\"x/2\",\"runs\":[],\"classes\":[]}");
    check(&["model", "--merge", &other], "its schema is x/2");
    let far = r#"{"schema":"hindsight.model/1","runs":[],"classes":[{"class":"A","objects":0,
        "nodes":4000000000,"edges":[],"observers":[]}]}"#;
    let far = file("far", far);
    check(&["model", "--merge", &far], "A has 4000000000 nodes");
    check(
        &["model", empty, "--mutability", &other],
        "hindsight mutability --format json",
    );
    let usage = hindsight(&["model"]);
    assert_eq!(usage.status.code(), Some(2));
}
