//! What the objects of a body may refer to.

use super::set::Nodes;
use crate::program::Sym;
use crate::program::names::Map;

/// The origin of an object in which something is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// An object made in the body.
    Here,
    /// An argument itself.
    Argument(u16),
    /// An object reachable from an argument.
    Below(u16),
    /// An object from outside.
    Outside,
}

/// Everything that was stored in one field, in whatever object.
#[derive(Debug, Default)]
struct Stored {
    /// What was stored in objects that were not made here.
    all: Nodes,
    /// What was stored in such objects that are not themselves arguments.
    below: Nodes,
    /// The arguments in whose field something was stored, with their nodes.
    arguments: Vec<(u16, u32)>,
    /// What was stored, by the argument from which the object is derived.
    of_param: Vec<(u16, Nodes)>,
}

/// The values that fields may hold, by object and field. The order of stores is not kept.
#[derive(Debug)]
pub struct Heap {
    /// The field that stands for all fields.
    any: Sym,
    entries: Vec<(u32, Sym, Nodes)>,
    places: Map<(u32, Sym), u32>,
    /// For each object, what was stored in all of its fields.
    below: Vec<Nodes>,
    /// For each parameter, what was stored in all objects derived from it.
    anywhere: Vec<Nodes>,
    stored: Map<Sym, Stored>,
    /// What was stored in any field of objects that were not made here; the second set leaves out
    /// what was stored in arguments themselves.
    everywhere: (Nodes, Nodes),
}

impl Heap {
    /// An empty heap.
    pub fn new(any: Sym) -> Heap {
        Heap {
            any,
            entries: Vec::new(),
            places: Map::default(),
            below: Vec::new(),
            anywhere: Vec::new(),
            stored: Map::default(),
            everywhere: Default::default(),
        }
    }

    /// All entries: object, field, and what it may refer to.
    pub fn entries(&self) -> &[(u32, Sym, Nodes)] {
        &self.entries
    }

    /// Stores in a field of an object; returns whether that is anything new.
    pub fn put(&mut self, node: u32, of: Held, field: Sym, refs: &Nodes, weak: bool) -> bool {
        let place = match self.places.get(&(node, field)) {
            Some(&place) => place,
            None => {
                let place = self.entries.len() as u32;
                self.entries.push((node, field, Nodes::default()));
                self.places.insert((node, field), place);
                if let Held::Argument(param) = of {
                    let stored = self.stored.entry(field).or_default();
                    stored.arguments.push((param, node));
                }
                place
            }
        };
        if !self.entries[place as usize].2.join(refs, weak) {
            return false;
        }
        at(&mut self.below, node as usize).join(refs, weak);
        let param = match of {
            Held::Here => return true,
            Held::Argument(param) | Held::Below(param) => Some(param),
            Held::Outside => None,
        };
        let stored = self.stored.entry(field).or_default();
        stored.all.join(refs, weak);
        self.everywhere.0.join(refs, weak);
        if !matches!(of, Held::Argument(_)) {
            stored.below.join(refs, weak);
            self.everywhere.1.join(refs, weak);
        }
        if let Some(param) = param {
            at(&mut self.anywhere, param.into()).join(refs, weak);
            match stored.of_param.iter_mut().find(|of| of.0 == param) {
                Some(known) => {
                    known.1.join(refs, weak);
                }
                None => {
                    let mut nodes = Nodes::default();
                    nodes.join(refs, weak);
                    stored.of_param.push((param, nodes));
                }
            }
        }
        true
    }

    /// Adds what a field of an object may refer to.
    pub fn held(&self, node: u32, field: Sym, weak: bool, into: &mut Nodes) {
        if field == self.any {
            into.join(&self.below(node), weak);
            return;
        }
        for field in [field, self.any] {
            if let Some(&place) = self.places.get(&(node, field)) {
                into.join(&self.entries[place as usize].2, weak);
            }
        }
    }

    /// All that an object's fields may refer to.
    pub fn below(&self, node: u32) -> Nodes {
        self.below.get(node as usize).copied().unwrap_or_default()
    }

    /// What was stored in objects derived from a parameter.
    pub fn anywhere_below(&self, param: u16) -> Nodes {
        let found = self.anywhere.get(usize::from(param));
        found.copied().unwrap_or_default()
    }

    /// What was stored in one field of objects derived from a parameter.
    pub fn of_param(&self, param: u16, field: Sym) -> Option<&Nodes> {
        let stored = self.stored.get(&field)?;
        let found = stored.of_param.iter().find(|of| of.0 == param)?;
        Some(&found.1)
    }

    /// The arguments in whose field something was stored, with their nodes.
    pub fn arguments(&self, field: Sym) -> Vec<(u16, u32)> {
        let stored = self.stored.get(&field);
        stored.map_or_else(Vec::new, |stored| stored.arguments.clone())
    }

    /// What was stored in a field of any object that was not made here. What was stored in
    /// arguments themselves is left out unless `of_arguments`.
    pub fn stored(&self, field: Sym, of_arguments: bool) -> Nodes {
        let choose = |all, below| if of_arguments { all } else { below };
        if field == self.any {
            return choose(self.everywhere.0, self.everywhere.1);
        }
        let mut found = Nodes::default();
        for field in [field, self.any] {
            if let Some(stored) = self.stored.get(&field) {
                found.join(&choose(stored.all, stored.below), false);
            }
        }
        found
    }
}

fn at(list: &mut Vec<Nodes>, place: usize) -> &mut Nodes {
    if list.len() <= place {
        list.resize(place + 1, Nodes::default());
    }
    &mut list[place]
}
