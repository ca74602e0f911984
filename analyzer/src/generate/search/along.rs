//! Steps along models: chooses the next class and edge, and the values.

use super::super::sequence::{Arg, MethodId, Sequence};
use super::values::{Maker, shorter};
use super::{COMPARED, Candidate, LAST, Modelled, Search};
use crate::model::RESULT;
use crate::model::graph::{Edge, Graph, Node, ROOT};
use crate::model::values::{Life, Literal, Seen, Values};
use std::collections::HashMap;

/// The number of throwing calls of a method after which other states are searched for.
const TRIES: u32 = 4;
/// The most calls that are added along a model at once.
const MAX_STEPS: usize = 6;
/// The least number of such calls from which a walk makes each.
const MIN_RUN: usize = 5;
/// The percentage of objects that follow one life.
const OF_ONE_LIFE: usize = 60;
/// The most calls of one method in a row in a model that are skipped.
const MAX_RUN: usize = 300;

impl<'a> Search<'a> {
    /// Turns to what is lacking by now.
    pub(super) fn turn(&mut self) {
        let (Some(focus), Some(_)) = (&self.focus, self.model) else {
            return;
        };
        let mut there: HashMap<String, bool> = HashMap::new();
        let mut has = |ty: &str| {
            *there.entry(ty.to_owned()).or_insert_with(|| {
                (self.values.keys()).any(|number| self.worker.class(*number).is_a(ty))
            })
        };
        let fails = |call| {
            let id = self.surface.modelled.get(&call);
            let counts = id.and_then(|id| self.returned.get(id));
            counts.is_some_and(|(called, returned)| *called >= TRIES && *returned == 0)
        };
        let lacking = focus.lacking(&self.targets, &mut has, &fails);
        self.turned = lacking;
    }

    /// A step along the models of the classes that are tested, or that these lack: of some, the
    /// least tried one.
    pub(super) fn toward(&mut self) -> Option<Candidate> {
        let lacks = !self.turned.is_empty() && self.random.percent(60);
        let mut best: Option<(u32, usize, Option<Node>)> = None;
        for _ in 0..COMPARED {
            let classes = if lacks { &self.turned } else { &self.targets };
            let class = *self.random.pick(classes)?;
            // One of the places of objects of a class, or its beginning.
            let nodes: Vec<Node> = self.standing[class].keys().copied().collect();
            let begins = nodes.is_empty() || self.random.percent(30);
            let node = match begins {
                true => None,
                false => Some(*self.random.pick(&nodes)?),
            };
            let edges = self
                .leaving(class, node)
                .map_or(Vec::new(), |(_, edges)| edges);
            let tried = self.least(&edges).map_or(u32::MAX, |(tried, _)| tried);
            if best.is_none_or(|(least, ..)| tried < least) {
                best = Some((tried, class, node));
            }
        }
        let (_, class, node) = best?;
        let Some(node) = node else {
            return self.begin(class);
        };
        let places = self.standing[class].get(&node)?;
        // The latest ones have come furthest.
        let last = places.len().saturating_sub(LAST);
        let places = if self.random.percent(50) {
            &places[last..]
        } else {
            places
        };
        let place = shorter(&mut self.random, &self.components, places, |place| place)?;
        self.extend(place)
    }

    /// The edges that leave a place in a model, or that begin it, each with how often it was tried;
    /// and that place.
    pub(super) fn leaving(
        &self,
        class: usize,
        node: Option<Node>,
    ) -> Option<(Node, Vec<(u32, &'a Edge)>)> {
        let model = self.model?;
        let graph = &model.classes.get(&self.classes[class])?.graph;
        let from = graph.find(node.unwrap_or(ROOT));
        let begins = |edge: &&Edge| node.is_some() || model.call(edge.call).creates();
        let tried = |edge: &Edge| self.tried.get(&(class, from, edge.call)).copied();
        let edges = graph.edges(from).iter().filter(begins);
        let edges = edges.map(|edge| (tried(edge).unwrap_or(0), edge));
        Some((from, edges.collect()))
    }

    /// One of the least tried edges.
    fn least(&mut self, edges: &[(u32, &'a Edge)]) -> Option<(u32, &'a Edge)> {
        let least = edges.iter().map(|(tried, _)| *tried).min()?;
        let edges = edges.iter().copied().filter(|(tried, _)| *tried == least);
        let edges: Vec<_> = edges.collect();
        self.random.pick(&edges).copied()
    }

    /// An edge from there: one of the followed life, if there is one; mostly a least tried one.
    fn edge(&mut self, class: usize, node: Option<Node>, life: Option<Life>) -> Option<&'a Edge> {
        let (from, mut edges) = self.leaving(class, node)?;
        if let Some(life) = life {
            edges.retain(|(_, edge)| edge.tally.lives.contains(life));
        }
        let (_, edge) = match self.random.percent(70) {
            true => self.least(&edges)?,
            false => *self.random.pick(&edges)?,
        };
        *self.tried.entry((class, from, edge.call)).or_default() += 1;
        Some(edge)
    }

    /// A sequence along the first edge of a class's model.
    pub(super) fn begin(&mut self, class: usize) -> Option<Candidate> {
        let model = self.model?;
        let graph = &model.classes.get(&self.classes[class])?.graph;
        let creates = |edge: &Edge| model.call(edge.call).creates();
        let is_made = graph.edges(ROOT).iter().any(creates);
        let constants = self.surface.constants_of(&self.classes[class]);
        if !constants.is_empty() && (!is_made || self.random.percent(30)) {
            let id = *self.random.pick(constants)?;
            let modelled = Modelled {
                class,
                object: 0,
                node: graph.find(ROOT),
                life: None,
            };
            return self.candidate(Maker::default(), id, None, Vec::new(), Some(modelled));
        }
        let edge = self.edge(class, None, None)?;
        let life = self.life_on(edge);
        let call = model.call(edge.call);
        let mut maker = Maker::default();
        let (id, is_constructor) = self.resolve(edge)?;
        let receiver = match call.is_static || is_constructor {
            true => None,
            false => Some(self.object(&call.class, None, &mut maker)?),
        };
        let args = self.arguments(edge, None, life, &mut maker)?;
        let modelled = Modelled {
            class,
            object: maker.sequence.len(),
            node: graph.find(edge.target),
            life,
        };
        self.candidate(maker, id, receiver, args, Some(modelled))
    }

    /// One of the lives that have gone along an edge; or none, so that values of several are
    /// combined.
    fn life_on(&mut self, edge: &Edge) -> Option<Life> {
        let lives: Vec<Life> = edge.tally.lives.all().collect();
        match self.random.percent(OF_ONE_LIFE) {
            true => self.random.pick(&lives).copied(),
            false => None,
        }
    }

    /// A component's sequence that continues along an edge of its model, now and then along
    /// several: the effect of a call may only show after others.
    pub(super) fn extend(&mut self, place: usize) -> Option<Candidate> {
        let component = self.components.get(place)?;
        let (sequence, mut modelled) = (component.sequence.clone(), component.modelled?);
        if !self.goes_on(modelled) || !self.random.percent(OF_ONE_LIFE) {
            modelled.life = None;
        }
        let steps = match self.random.percent(30) {
            true => 2 + self.random.below(MAX_STEPS - 1),
            false => 1,
        };
        let mut made = self
            .step(place, sequence, modelled, false)
            .filter(Candidate::fits)?;
        for _ in 1..steps {
            let next = self.step(place, made.sequence.clone(), made.modelled?, false);
            match next.filter(Candidate::fits) {
                Some(next) => made = made.then(next),
                None => break,
            }
        }
        Some(made)
    }

    /// The sequence of a component, and one more call along the model of the object that it
    /// concerns; in a walk, each step is made, including those that have thrown in the run.
    pub(super) fn step(
        &mut self,
        place: usize,
        sequence: Sequence,
        modelled: Modelled,
        walks: bool,
    ) -> Option<Candidate> {
        let model = self.model?;
        let graph = &model.classes.get(&self.classes[modelled.class])?.graph;
        let edge = self.edge(modelled.class, Some(modelled.node), modelled.life)?;
        let call = model.call(edge.call);
        // A constant is in the place of a constructor, and exists already.
        let makes = call.method == "<init>" && call.positions.contains(&0)
            || call.positions.iter().all(|position| *position == RESULT);
        if modelled.node == graph.find(ROOT) && makes {
            return None;
        }
        let mut maker = Maker::after(place, sequence);
        let object = modelled.object;
        let (id, is_constructor) = self.resolve(edge)?;
        let receiver = if call.is_static || is_constructor {
            None
        } else if call.positions.contains(&0) {
            Some(object)
        } else {
            Some(self.object(&call.class, None, &mut maker)?)
        };
        let args = self.arguments(edge, Some(object), modelled.life, &mut maker)?;
        let node = self.along(graph, edge, modelled.life, walks);
        let modelled = Modelled { node, ..modelled };
        let mut made = self.candidate(maker, id, receiver, args, Some(modelled))?;
        let throws = edge.tally.returned.total() == 0 && edge.tally.threw.total() > 0;
        if let Some(last) = made.sequence.last_mut().filter(|_| walks && throws) {
            last.may_throw = true;
        }
        Some(made)
    }

    /// The place to which an edge leads from that of an object.
    pub(super) fn beyond(&mut self, modelled: Modelled) -> Option<Node> {
        let edge = self.edge(modelled.class, Some(modelled.node), modelled.life)?;
        let model = self.model?.classes.get(&self.classes[modelled.class])?;
        Some(model.graph.find(edge.target))
    }

    /// Whether the life that an object follows continues from its place.
    fn goes_on(&self, modelled: Modelled) -> bool {
        let edges = self.leaving(modelled.class, Some(modelled.node));
        modelled.life.is_some_and(|life| {
            let (_, edges) = edges.unwrap_or((modelled.node, Vec::new()));
            edges
                .iter()
                .any(|(_, edge)| edge.tally.lives.contains(life))
        })
    }

    /// The place to which an edge leads. What a run has called again and again need not be called
    /// as often: mostly that is not a protocol but its data, and what it called in the end comes
    /// within reach. A walk skips calls that differ only in objects, or are very many.
    fn along(&mut self, graph: &Graph, edge: &Edge, life: Option<Life>, walks: bool) -> Node {
        let follows = |next: &Edge| life.is_none_or(|life| next.tally.lives.contains(life));
        let mut run = vec![graph.find(edge.target)];
        while let Some(next) = run.last().and_then(|node| {
            let again = graph
                .edges(*node)
                .iter()
                .find(|next| next.call == edge.call && follows(next));
            again.map(|next| graph.find(next.target))
        }) && !run.contains(&next)
            && run.len() < MAX_RUN
        {
            run.push(next);
        }
        let alike = edge.tally.values.is_empty() && run.len() > MIN_RUN;
        match run.len() {
            length if walks => match alike || length > 4 * MIN_RUN {
                true if self.random.percent(25) => run[length - 1],
                _ => run[0],
            },
            2.. if self.random.percent(20) => run[run.len() - 1],
            2.. if self.random.percent(15) => *self.random.pick(&run).unwrap_or(&run[0]),
            _ => run[0],
        }
    }

    fn resolve(&self, edge: &Edge) -> Option<(MethodId, bool)> {
        let call = self.model?.call(edge.call);
        let id = self.surface.modelled.get(&edge.call).copied()?;
        Some((id, call.method == "<init>"))
    }

    /// The arguments from an edge of the model, in a life if one is followed; `object` takes the
    /// place of the modelled object.
    fn arguments(
        &mut self,
        edge: &Edge,
        object: Option<usize>,
        life: Option<Life>,
        maker: &mut Maker,
    ) -> Option<Vec<Arg>> {
        let call = self.model?.call(edge.call);
        let (id, _) = self.resolve(edge)?;
        let method = self.methods.get(id).clone();
        let (types, _) = method.types();
        let mut args = Vec::new();
        for (at, ty) in types.iter().enumerate() {
            let position = at as i16 + 1;
            debug_assert_ne!(position, RESULT);
            if let Some(object) = object
                && call.positions.contains(&position)
            {
                args.push(Arg::Var(object));
                continue;
            }
            let seen = edge.tally.values.get(&position);
            let seen = seen.map_or(Vec::new(), Values::sorted);
            let often: u64 = seen.iter().map(|(_, seen)| seen.counts.total()).sum();
            let usable = |(value, seen): &(&Literal, &Seen)| {
                let value = fits(value, ty).then(|| (*value).clone())?;
                Some((value, life.is_some_and(|life| seen.lives.contains(life))))
            };
            let mut usable: Vec<(Literal, bool)> = seen.iter().filter_map(usable).collect();
            let of_life = usable.iter().any(|(_, of_life)| *of_life);
            usable.retain(|one| one.1 == of_life);
            let total = edge.tally.returned.total() + edge.tally.threw.total();
            // If mostly objects were passed, values are the exception.
            let value =
                !usable.is_empty() && (of_life || often >= total || self.random.percent(50));
            args.push(match value {
                true => Arg::Literal(self.random.pick(&usable)?.0.clone()),
                false => self.argument(ty, self.surface.generic(&method, at), maker, 0)?,
            });
        }
        Some(args)
    }
}

/// Whether a recorded value can be passed for a parameter.
fn fits(value: &Literal, ty: &str) -> bool {
    let primitive = ty.len() == 1;
    match value {
        Literal::Null => !primitive,
        Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::Double(_) => primitive,
        _ => !primitive,
    }
}
