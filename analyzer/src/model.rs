//! Models of how objects are used: call-sequence graphs (Palulu; Artzi, 2009,
//! chapter 2).
//!
//! An edge is a call in which an object took part; a node is the history so far.
//! Each path from the root begins with what makes the object, or, where code that was not recorded has made
//! it, with the first call that it took part in.
//!
//! - [`graph`] is the graph of one class, and the merging of nodes.
//! - [`infer`] makes models of the steps of a trace, in one pass.
//! - [`values`] holds the numbers and texts seen on an edge, and counts that can
//!   be merged.
//! - [`document`] is the file, JSON; [`show`] prints it for people, also as a DOT
//!   picture.
//! - [`mutable`] knows which parameters calls may change, [`texts`] what strings, constants and boxes say.
//!
//! ```text
//! trace -> Steps -> Inference -> Model -> document
//!                      ^           ^ merge: models of other runs
//!         mutability --+
//! ```
//!
//! # Merging
//!
//! Roots are merged; whenever two nodes are, so are those that edges of the same
//! call lead to. What comes out is the finest such partition of the nodes, so it
//! does not depend on the order: merging is associative and commutative. Counts
//! are kept by run and the larger one wins, values are a set of bounded size that
//! only depends on what is put in, so merging a run with itself changes nothing.
//! The same goes for [`values::Lives`], the objects that an edge or a value has
//! come from: where many were merged, they say which values belong together.
//! A method that calls itself on the same object may fold into a circle: such a
//! graph is not acyclic.
//!
//! **Invariant:** memory follows the model, the depth of calls and the number of
//! objects that are remembered ([`infer::Limits`]), never the length of the trace.

pub mod document;
pub mod graph;
pub mod infer;
pub mod literal;
pub mod mutable;
pub mod show;
pub mod texts;
pub mod values;

use graph::Graph;
use std::collections::{BTreeMap, HashMap};
use values::Counts;

/// A method, and where the object stands in its call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// The class that declares it, with dots.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Whether it has no receiver.
    pub is_static: bool,
    /// Where the object stands: [`RESULT`], 0 for the receiver, 1 for the first
    /// parameter, and so on.
    pub positions: Vec<i16>,
}

/// The position of an object that a call has made and returned.
pub const RESULT: i16 = -1;

impl Call {
    /// Whether it makes the object.
    pub fn creates(&self) -> bool {
        self.positions.contains(&RESULT) || self.method == "<init>" && self.positions.contains(&0)
    }
}

/// A call by its place in [`Model::calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// A run that a model was made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// What tells it from others.
    pub id: String,
    /// Whether calls that keep the state were left out.
    pub mutability: bool,
}

/// The model of one class.
#[derive(Debug, Clone, Default)]
pub struct ClassModel {
    /// Its graph.
    pub graph: Graph,
    /// How many objects it was made of.
    pub objects: Counts,
    /// Calls that do not change the object: what assertions may use.
    pub observers: BTreeMap<CallId, Counts>,
}

/// Models of classes.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The runs it was made of; [`Counts`] name them by their place here.
    pub runs: Vec<Run>,
    /// By the name of the class, with dots.
    pub classes: BTreeMap<String, ClassModel>,
    calls: Vec<Call>,
    by_call: HashMap<Call, CallId>,
}

impl Model {
    /// The number of a call.
    pub fn intern(&mut self, call: Call) -> CallId {
        let next = CallId(self.calls.len() as u32);
        let id = *self.by_call.entry(call.clone()).or_insert(next);
        if id == next {
            self.calls.push(call);
        }
        id
    }

    /// A call by its number.
    ///
    /// # Panics
    ///
    /// Panics if the number is another model's.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.0 as usize]
    }

    /// The number of a run.
    pub fn run(&mut self, run: Run) -> u32 {
        match self.runs.iter().position(|known| *known == run) {
            Some(at) => at as u32,
            None => {
                self.runs.push(run);
                self.runs.len() as u32 - 1
            }
        }
    }

    /// The same as [`Model::merge`], with no copy where there is nothing yet.
    pub fn add(&mut self, other: Model) {
        match self.runs.is_empty() && self.classes.is_empty() {
            true => *self = other,
            false => self.merge(&other),
        }
    }

    /// Adds the models of other runs, or of the same.
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

    /// Nodes and edges of all classes.
    pub fn size(&self) -> (usize, usize) {
        let sizes = self.classes.values().map(|class| class.graph.size());
        sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1))
    }
}
