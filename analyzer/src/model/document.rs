//! Models as JSON: the format that `hindsight model --out` writes and other subcommands read.
//!
//! The same model gives the same document, in whatever order it was made: nodes are numbered by
//! their distance from the root, edges and values are sorted.

use super::graph::{Graph, Node, Tally};
use super::values::{Counts, Life, Literal, Lives, Seen, Values};
use super::{Call, CallId, ClassModel, Error, Model, Run};
use crate::files::failed;
use crate::java::descriptor;
use rustc_hash::FxHashMap;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The value of the document's field `schema`.
pub const SCHEMA: &str = "hindsight.model/1";

#[derive(Deserialize)]
struct Document {
    runs: Vec<RunRow>,
    classes: Vec<ClassRow<'static>>,
}

#[derive(Serialize, Deserialize)]
struct RunRow {
    run: String,
    mutability: bool,
}

#[derive(Serialize, Deserialize)]
struct ClassRow<'m> {
    class: Cow<'m, str>,
    objects: CountRow,
    nodes: u32,
    edges: Vec<EdgeRow<'m>>,
    observers: Vec<ObserverRow<'m>>,
}

/// One number, or pairs of run and number if there are several runs.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum CountRow {
    One(u64),
    ByRun(Vec<(u32, u64)>),
}

#[derive(Serialize, Deserialize)]
struct EdgeRow<'m> {
    from: u32,
    to: u32,
    #[serde(flatten)]
    call: CallRow<'m>,
    values: Vec<ValuesRow>,
    returned: CountRow,
    threw: CountRow,
    /// Some of the objects whose lives lead over the edge, as numbers that mean the same on all
    /// edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lives: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct ObserverRow<'m> {
    #[serde(flatten)]
    call: CallRow<'m>,
    returned: CountRow,
}

#[derive(Serialize, Deserialize)]
struct CallRow<'m> {
    class: Cow<'m, str>,
    method: Cow<'m, str>,
    descriptor: Cow<'m, str>,
    #[serde(rename = "static")]
    is_static: bool,
    positions: Cow<'m, [i16]>,
}

#[derive(Serialize, Deserialize)]
struct ValuesRow {
    index: i16,
    #[serde(rename = "type")]
    ty: String,
    seen: Vec<SeenRow>,
    more: bool,
}

#[derive(Serialize, Deserialize)]
struct SeenRow {
    value: Json,
    count: CountRow,
    /// Some of the objects in whose lives the value was passed; left out if they are those of the
    /// edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lives: Option<Vec<u32>>,
}

impl<'m> From<&'m Call> for CallRow<'m> {
    fn from(call: &'m Call) -> CallRow<'m> {
        CallRow {
            class: Cow::Borrowed(&call.class),
            method: Cow::Borrowed(&call.method),
            descriptor: Cow::Borrowed(&call.descriptor),
            is_static: call.is_static,
            positions: Cow::Borrowed(&call.positions),
        }
    }
}

/// Writes the document of a model, one class after the other.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn write(model: &Model, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Rows::new(model))?;
    writeln!(out)
}

/// Serializes the document class by class: the rows of one class are freed before those of the next
/// are made.
struct Rows<'m> {
    model: &'m Model,
    /// The runs in the order of the document, and their numbers there.
    order: Vec<u32>,
    numbers: Vec<u32>,
}

impl<'m> Rows<'m> {
    fn new(model: &'m Model) -> Rows<'m> {
        let mut order: Vec<u32> = (0..model.runs.len() as u32).collect();
        order.sort_by_key(|run| &model.runs[*run as usize]);
        let mut numbers = vec![0; order.len()];
        for (number, run) in order.iter().enumerate() {
            numbers[*run as usize] = number as u32;
        }
        Rows {
            model,
            order,
            numbers,
        }
    }

    fn runs(&self) -> Vec<RunRow> {
        let runs = self.order.iter().map(|run| {
            let run = &self.model.runs[*run as usize];
            RunRow {
                run: run.id.clone(),
                mutability: run.mutability,
            }
        });
        runs.collect()
    }

    fn counts(&self, counts: &Counts) -> CountRow {
        match counts.by_run() {
            _ if self.numbers.len() <= 1 => CountRow::One(counts.total()),
            _ => CountRow::ByRun(counts.renumbered(&self.numbers).by_run().to_vec()),
        }
    }

    fn class(&self, name: &'m str, class: &'m ClassModel) -> ClassRow<'m> {
        let model = self.model;
        let nodes = class.graph.order(&|id| model.call(id));
        let places: FxHashMap<Node, u32> = nodes.iter().copied().zip(0..).collect();
        let mut edges = Vec::new();
        for (from, node) in nodes.iter().enumerate() {
            for edge in sorted(model, &class.graph, *node) {
                edges.push(EdgeRow {
                    from: from as u32,
                    to: places[&class.graph.find(edge.target)],
                    call: model.call(edge.call).into(),
                    values: self.values(model.call(edge.call), &edge.tally),
                    returned: self.counts(&edge.tally.returned),
                    threw: self.counts(&edge.tally.threw),
                    lives: numbers(&edge.tally.lives),
                });
            }
        }
        let mut observers: Vec<_> = class.observers.iter().collect();
        observers.sort_by_key(|(id, _)| model.call(**id));
        let observers = observers.into_iter().map(|(id, seen)| ObserverRow {
            call: model.call(*id).into(),
            returned: self.counts(seen),
        });
        ClassRow {
            class: Cow::Borrowed(name),
            objects: self.counts(&class.objects),
            nodes: nodes.len() as u32,
            edges,
            observers: observers.collect(),
        }
    }

    fn values(&self, call: &Call, tally: &Tally) -> Vec<ValuesRow> {
        let rows = tally.values.iter().map(|(position, values)| ValuesRow {
            index: *position,
            ty: type_at(call, *position).to_owned(),
            seen: values
                .sorted()
                .into_iter()
                .map(|(value, seen)| SeenRow {
                    value: to_json(value),
                    count: self.counts(&seen.counts),
                    lives: (seen.lives != tally.lives).then(|| numbers(&seen.lives)),
                })
                .collect(),
            more: values.more,
        });
        rows.collect()
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut document = to.serialize_struct("Document", 3)?;
        document.serialize_field("schema", SCHEMA)?;
        document.serialize_field("runs", &self.runs())?;
        document.serialize_field("classes", &Classes(self))?;
        document.end()
    }
}

struct Classes<'r>(&'r Rows<'r>);

impl Serialize for Classes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let classes = self.0.model.classes.iter();
        to.collect_seq(classes.map(|(name, class)| self.0.class(name, class)))
    }
}

fn numbers(lives: &Lives) -> Vec<u32> {
    lives.all().map(Life::number).collect()
}

/// The edges of a node in the order of their calls.
pub fn sorted<'g>(model: &Model, graph: &'g Graph, node: Node) -> Vec<&'g super::graph::Edge> {
    let mut edges: Vec<_> = graph.edges(node).iter().collect();
    edges.sort_by_key(|edge| model.call(edge.call));
    edges
}

/// The descriptor of a call's parameter, given its position.
pub fn type_at(call: &Call, position: i16) -> &str {
    let at = usize::try_from(i32::from(position) - 1).unwrap_or(usize::MAX);
    descriptor::split(&call.descriptor)
        .and_then(|(types, _)| types.get(at).copied())
        .unwrap_or("")
}

/// A value as JSON: of one of JSON's own types where that means the same, else an object.
pub fn to_json(literal: &Literal) -> Json {
    match literal {
        Literal::Null => Json::Null,
        Literal::Bool(value) => json!(value),
        Literal::Int(value) => json!(value),
        Literal::Float(bits) => json!({"float": f32::from_bits(*bits).to_string(), "bits": bits}),
        Literal::Double(bits) => {
            json!({"double": f64::from_bits(*bits).to_string(), "bits": bits})
        }
        Literal::Text(text) => json!(text),
        Literal::Units(units) => json!({"utf16": units}),
        Literal::Enum(class, name) => json!({"enum": class, "name": name}),
        Literal::Class(name) => json!({"class": name}),
        Literal::Box(class, value) => json!({"box": class, "value": value}),
        Literal::JdkValue(class, text) => json!({"jdk": class, "text": text}),
    }
}

/// Reverses [`to_json`].
pub(crate) fn from_json(json: &Json) -> Option<Literal> {
    let text = |key: &str| Some(json.get(key)?.as_str()?.to_owned());
    Some(match json {
        Json::Null => Literal::Null,
        Json::Bool(value) => Literal::Bool(*value),
        Json::Number(value) => Literal::Int(value.as_i64()?),
        Json::String(text) => Literal::Text(text.clone()),
        Json::Object(map) => {
            // The keys may be in any order, which tools may change.
            let has = |key: &str| map.contains_key(key);
            let bits = || map.get("bits")?.as_u64();
            if has("float") {
                Literal::Float(u32::try_from(bits()?).ok()?)
            } else if has("double") {
                Literal::Double(bits()?)
            } else if let Some(units) = map.get("utf16") {
                let units = units.as_array()?.iter();
                let units = units.map(|unit| u16::try_from(unit.as_u64()?).ok());
                Literal::Units(units.collect::<Option<_>>()?)
            } else if has("enum") {
                Literal::Enum(text("enum")?, text("name")?)
            } else if has("class") {
                Literal::Class(text("class")?)
            } else if has("box") {
                Literal::Box(text("box")?, text("value")?)
            } else {
                Literal::JdkValue(text("jdk")?, text("text")?)
            }
        }
        Json::Array(_) => return None,
    })
}

/// Why a text is no model.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// It is another document.
    #[error("this is not what hindsight model --out writes")]
    Other(#[from] serde_json::Error),
    /// It is another release's.
    #[error("its schema is {0}, not {SCHEMA}")]
    Schema(String),
    /// A run is in it twice.
    #[error("two of its runs are the same")]
    SameRuns,
    /// A count names a run that is not in it.
    #[error("a count is of a run that it does not name")]
    NoRun,
    /// The automaton of a class cannot have this many nodes.
    #[error("{class} has {nodes} nodes and {edges} edges")]
    Nodes {
        /// The class.
        class: String,
        /// The number of nodes.
        nodes: u32,
        /// The number of edges.
        edges: u32,
    },
    /// An edge of this class leads out of its automaton.
    #[error("an edge of {0} leads to no node")]
    NoNode(String),
    /// A value of a parameter is none.
    #[error("{0} is no value")]
    NoValue(Json),
    /// The lives of objects count from 1.
    #[error("0 is the number of no object's life")]
    NoLife,
}

/// Reads a model's file.
///
/// # Errors
///
/// Fails if it is not a model.
pub fn read(path: &Path) -> Result<Model, Error> {
    let text = fs::read(path).map_err(failed("read model", path))?;
    parse(&text).map_err(|source| Error::Model {
        path: path.to_owned(),
        source,
    })
}

/// Reads a model from the text of its file.
///
/// # Errors
///
/// Fails if it is not a model.
pub fn parse(text: &[u8]) -> Result<Model, Malformed> {
    /// What the documents of all subcommands have; other documents lack the fields of a model.
    #[derive(Deserialize)]
    struct Any {
        schema: String,
    }
    let Any { schema } = serde_json::from_slice(text)?;
    if schema != SCHEMA {
        return Err(Malformed::Schema(schema));
    }
    model(&serde_json::from_slice(text)?)
}

/// The classes of the document of a model.
///
/// # Errors
///
/// Fails if they cannot be represented as JSON values, which does not happen.
pub fn classes(model: &Model) -> serde_json::Result<Vec<Json>> {
    let rows = Rows::new(model);
    let classes = model.classes.iter();
    classes
        .map(|(name, class)| serde_json::to_value(rows.class(name, class)))
        .collect()
}

fn model(document: &Document) -> Result<Model, Malformed> {
    let mut model = Model::default();
    for run in &document.runs {
        model.run(Run {
            id: run.run.clone(),
            mutability: run.mutability,
        });
    }
    if model.runs.len() != document.runs.len() {
        return Err(Malformed::SameRuns);
    }
    let runs = model.runs.len() as u32;
    let counts = |row: &CountRow| -> Result<Counts, Malformed> {
        Ok(match row {
            CountRow::One(0) => Counts::default(),
            CountRow::One(count) if runs > 0 => Counts::of(0, *count),
            CountRow::ByRun(rows) if rows.iter().all(|(run, _)| *run < runs) => {
                let mut counts = Counts::default();
                for &(run, count) in rows {
                    counts.merge(&Counts::of(run, count));
                }
                counts
            }
            _ => return Err(Malformed::NoRun),
        })
    };
    for row in &document.classes {
        let objects = counts(&row.objects)?;
        let mut graph = Graph::default();
        // A count in a hostile file must not ask for memory: each node but the root comes with an
        // edge.
        let limit = row.edges.len() as u32 + 1;
        if row.nodes == 0 || row.nodes > limit {
            return Err(Malformed::Nodes {
                class: row.class.to_string(),
                nodes: row.nodes,
                edges: limit - 1,
            });
        }
        for _ in 1..row.nodes {
            graph.add_node();
        }
        for edge in &row.edges {
            if edge.from >= row.nodes || edge.to >= row.nodes {
                return Err(Malformed::NoNode(row.class.to_string()));
            }
            let call = intern(&mut model, &edge.call);
            let laid = graph.join(Node(edge.from), call, Node(edge.to));
            let mut tally = Tally {
                returned: counts(&edge.returned)?,
                threw: counts(&edge.threw)?,
                lives: lives(&edge.lives)?,
                ..Tally::default()
            };
            for row in &edge.values {
                let mut values = Values::default();
                values.more = row.more;
                for seen in &row.seen {
                    let value = from_json(&seen.value)
                        .ok_or_else(|| Malformed::NoValue(seen.value.clone()))?;
                    let seen = Seen {
                        counts: counts(&seen.count)?,
                        lives: seen.lives.as_deref().map_or(Ok(tally.lives), lives)?,
                    };
                    values.insert(value, &seen);
                }
                tally.values.insert(row.index, values);
            }
            laid.tally.sum(&tally);
        }
        let mut observers = Vec::new();
        for observer in &row.observers {
            let call = intern(&mut model, &observer.call);
            observers.push((call, counts(&observer.returned)?));
        }
        let class = model
            .classes
            .entry(row.class.clone().into_owned())
            .or_default();
        class.graph = graph;
        class.objects = objects;
        class.observers = observers.into_iter().collect();
    }
    Ok(model)
}

fn lives(numbers: &[u32]) -> Result<Lives, Malformed> {
    Lives::from_numbers(numbers).ok_or(Malformed::NoLife)
}

fn intern(model: &mut Model, row: &CallRow) -> CallId {
    let mut positions = row.positions.to_vec();
    positions.sort_unstable();
    positions.dedup();
    model.intern(Call {
        class: row.class.to_string(),
        method: row.method.to_string(),
        descriptor: row.descriptor.to_string(),
        is_static: row.is_static,
        positions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_keys_of_a_value_may_stand_in_any_order() {
        for literal in [
            Literal::Float(1.5_f32.to_bits()),
            Literal::Double(f64::NAN.to_bits()),
            Literal::Enum("a.B".to_owned(), "C".to_owned()),
            Literal::Box("java.lang.Long".to_owned(), "7".to_owned()),
            Literal::JdkValue("java.util.UUID".to_owned(), "x".to_owned()),
        ] {
            let json = to_json(&literal);
            let keys: BTreeMap<&String, &Json> = json.as_object().unwrap().iter().collect();
            let back = keys.into_iter().rev();
            let back: serde_json::Map<String, Json> = back
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            assert_eq!(from_json(&json).as_ref(), Some(&literal));
            assert_eq!(from_json(&Json::Object(back)), Some(literal));
        }
    }

    #[test]
    fn no_parameter_is_at_a_position_that_none_has() {
        let call = Call {
            class: "A".to_owned(),
            method: "m".to_owned(),
            descriptor: "(I)V".to_owned(),
            is_static: false,
            positions: Vec::new(),
        };
        let types = [i16::MIN, -1, 0, 1, 2].map(|position| type_at(&call, position));
        assert_eq!(types, ["", "", "", "I", ""]);
    }
}
