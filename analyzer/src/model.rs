//! Models of how objects are used: call-sequence graphs (Palulu; Artzi, 2009, chapter 2).
//!
//! An edge is a call in which an object took part; a node is the history so far. Each path from the
//! root begins with the call that makes the object or, if code that was not recorded made it, with
//! the first call that it took part in.
//!
//! - [`graph`] is the graph of one class, and the merging of nodes.
//! - [`infer`] makes models of the steps of a trace, in one pass.
//! - [`values`] holds the numbers and texts seen on an edge, and counts that can be merged;
//!   [`literal`] makes these values from those of a trace.
//! - [`document`] is the file format, JSON; [`show`] prints a model for people, also as a DOT
//!   picture.
//! - [`mutable`] knows which parameters calls may change; [`texts`] remembers the texts of strings,
//!   constants and boxes.
//!
//! ```text
//! trace -> Steps -> Inference -> Model -> document
//!                      ^           ^ merge: models of other runs
//!         mutability --+
//! ```
//!
//! # Merging
//!
//! Roots are merged; whenever two nodes are, so are the targets of their edges for the same call.
//! The result is the finest such partition of the nodes, so it does not depend on the order:
//! merging is associative and commutative. Counts are kept by run and the larger one wins, and
//! values are a set of bounded size that depends only on what is put in, so merging a run with
//! itself changes nothing. The same goes for [`values::Lives`], the objects that an edge or a value
//! has come from: where many were merged, they show which values belong together. A method that
//! calls itself on the same object may fold into a circle: such a graph is not acyclic.
//!
//! **Invariant:** memory follows the model, the depth of calls and the number of objects that are
//! remembered ([`infer::Limits`]), never the length of the trace.

pub mod document;
pub mod graph;
pub mod infer;
pub mod literal;
pub mod mutable;
pub mod show;
pub mod texts;
pub mod values;

use crate::files;
use crate::mutability::report;
use graph::Graph;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use values::Counts;

/// Why a model, or what is known about parameters, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] files::Error),
    /// It is no model.
    #[error("failed to read model {}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: document::Malformed,
    },
    /// It has no verdicts.
    #[error(
        "failed to read {}: this is not what hindsight mutability --format json writes",
        path.display()
    )]
    Verdicts {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// Its verdicts are another release's, or it is another document.
    #[error(
        "{} has the schema {schema}, not {}: write it with hindsight mutability --format json",
        path.display(),
        report::SCHEMA
    )]
    OtherVerdicts {
        /// The file.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
}

/// A method, and the positions of the object in its call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// The class that declares the method, with dots.
    pub class: String,
    /// The method's name.
    pub method: String,
    /// The method's descriptor.
    pub descriptor: String,
    /// Whether the method has no receiver.
    pub is_static: bool,
    /// The positions of the object: [`RESULT`], 0 for the receiver, 1 for the first parameter, and
    /// so on.
    pub positions: Vec<i16>,
}

/// The position of an object that a call has made and returned.
pub const RESULT: i16 = -1;

impl Call {
    /// Whether the call makes the object.
    pub fn creates(&self) -> bool {
        self.positions.contains(&RESULT) || self.method == "<init>" && self.positions.contains(&0)
    }
}

/// A call, by its index in [`Model::calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// A run from which a model was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The unique name of the run.
    pub id: String,
    /// Whether calls that do not change the object were left out.
    pub mutability: bool,
}

/// The model of one class.
#[derive(Debug, Clone, Default)]
pub struct ClassModel {
    /// The graph of the calls on objects of the class.
    pub graph: Graph,
    /// The number of objects that the model was made of.
    pub objects: Counts,
    /// The calls that do not change the object, which assertions may use.
    pub observers: BTreeMap<CallId, Counts>,
}

/// The models of several classes.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The runs that it was made of; [`Counts`] name a run by its index here.
    pub runs: Vec<Run>,
    /// The models by the name of the class, with dots.
    pub classes: BTreeMap<String, ClassModel>,
    calls: Vec<Call>,
    by_call: HashMap<Call, CallId>,
}

impl Model {
    /// The number of a call, which is added if it is new.
    pub fn intern(&mut self, call: Call) -> CallId {
        let next = CallId(self.calls.len() as u32);
        let id = *self.by_call.entry(call.clone()).or_insert(next);
        if id == next {
            self.calls.push(call);
        }
        id
    }

    /// The call with this number.
    ///
    /// # Panics
    ///
    /// Panics if the number belongs to another model.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.0 as usize]
    }

    /// The number of a run, which is added if it is new.
    pub fn run(&mut self, run: Run) -> u32 {
        match self.runs.iter().position(|known| *known == run) {
            Some(at) => at as u32,
            None => {
                self.runs.push(run);
                self.runs.len() as u32 - 1
            }
        }
    }

    /// Does the same as [`Model::merge`], but without a copy if this model is empty.
    pub fn add(&mut self, other: Model) {
        match self.runs.is_empty() && self.classes.is_empty() {
            true => *self = other,
            false => self.merge(&other),
        }
    }

    /// Adds the models of other runs, or of the same ones.
    pub fn merge(&mut self, other: &Model) {
        let runs: Vec<u32> = other.runs.iter().map(|run| self.run(run.clone())).collect();
        let calls: Vec<CallId> = other
            .calls
            .iter()
            .map(|call| self.intern(call.clone()))
            .collect();
        let call = |id: CallId| calls[id.0 as usize];
        for (name, from) in &other.classes {
            let class = self.classes.entry(name.clone()).or_default();
            class.objects.merge(&from.objects.renumbered(&runs));
            for (id, counts) in &from.observers {
                let counts = counts.renumbered(&runs);
                class.observers.entry(call(*id)).or_default().merge(&counts);
            }
            class.graph.merge(&from.graph, &call, &runs);
        }
    }

    /// The number of nodes and of edges in all classes.
    pub fn size(&self) -> (usize, usize) {
        let sizes = self.classes.values().map(|class| class.graph.size());
        sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1))
    }
}
