//! Which static fields methods read.

use super::fields::{declaring, is_own};
use super::graph::Graph;
use super::initialisers;
use super::runs::{Asked, Runs};
use crate::mutability::facts::Op;
use crate::program::calls::Site;
use crate::program::hierarchy::{Class, Field};
use crate::program::names::Map;
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::access;
use hindsight_instrument::select;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most static fields that are listed. For a method with more, the agent takes those of its
/// class.
pub const MAX_STATICS: usize = 100;

/// The fields that are read; methods that read the same ones share them.
#[derive(Debug, Clone, Default)]
pub(super) enum Read {
    #[default]
    None,
    Some(Arc<BTreeSet<Sym>>),
    TooMany,
}

impl Read {
    fn of(fields: BTreeSet<Sym>) -> Read {
        match fields.len() {
            0 => Read::None,
            1..=MAX_STATICS => Read::Some(Arc::new(fields)),
            _ => Read::TooMany,
        }
    }

    /// The fields, unless there are too many.
    pub(super) fn fields(&self) -> Option<impl Iterator<Item = Sym>> {
        let known = match self {
            Read::None => None,
            Read::Some(fields) => Some(fields.iter().copied()),
            Read::TooMany => return None,
        };
        Some(known.into_iter().flatten())
    }

    fn join(&mut self, other: &Read) {
        match (&mut *self, other) {
            (Read::TooMany, _) | (_, Read::None) => {}
            (Read::Some(own), Read::Some(more)) => {
                if !Arc::ptr_eq(own, more) && !more.is_subset(own) {
                    let own = Arc::make_mut(own);
                    own.extend(&**more);
                    if own.len() > MAX_STATICS {
                        *self = Read::TooMany;
                    }
                }
            }
            (Read::None, _) | (_, Read::TooMany) => *self = other.clone(),
        }
    }

    /// Adds further fields, unless that would be too many.
    fn widen(&mut self, by: &Read) {
        let mut all = self.clone();
        all.join(by);
        if !matches!(all, Read::TooMany) {
            *self = all;
        }
    }
}

/// The static fields of the program that each method, or what it calls, may read. Those that the
/// initializers of the classes it uses read are included, as long as there are few: an initializer
/// that has failed, now or before, may have failed because of them.
///
/// Fields that are read by what the library calls back are added by the same rule: if a set would
/// become too large, it stays without them.
///
/// A method that runs unknown code may read any field: for such a method, the agent takes no fewer
/// than it would without a plan.
pub(super) fn statics(asked: &Asked<'_>, runs: &Runs) -> Vec<Read> {
    let program = asked.program;
    let own: Vec<Read> = read(asked).into_iter().map(Read::of).collect();
    let methods = own.len();
    let (mut next, users) = called(asked);
    // The JDK and call sites themselves read no field of the program.
    let joined = |graph: Graph, mut own: Vec<Read>| {
        own.resize(graph.next.len(), Read::None);
        let mut all = graph.joined(own, Read::join);
        all.truncate(methods);
        all
    };
    let mut statics = joined(Graph::new(next.clone()), own.clone());
    let mut own = own;
    for (&initialiser, users) in &users {
        // An initializer has written what it reads of its own class.
        if let Read::Some(read) = &mut own[initialiser as usize] {
            let class = program.class(program.method(MethodId(initialiser)).class);
            let prefix = format!("{}.", program.names.text(class.name));
            let mut read = (**read).clone();
            read.retain(|field| !program.names.text(*field).starts_with(&prefix));
            own[initialiser as usize] = Read::of(read);
        }
        for &user in users {
            next[user as usize].push(initialiser);
        }
    }
    let mut all = joined(Graph::new(next.clone()), own);
    widen(&mut statics, &all);
    for (all, known) in all.iter_mut().zip(&statics) {
        if matches!(all, Read::TooMany) {
            all.clone_from(known);
        }
    }
    let next = both(methods, &runs.graph.next, &next);
    let all = joined(Graph::new(next), all);
    widen(&mut statics, &all);
    let mut of_classes: Map<ClassId, Read> = Map::default();
    for (number, known) in statics
        .iter_mut()
        .enumerate()
        .filter(|&(number, _)| runs.open[number])
    {
        let class = program.method(MethodId(number as u32)).class;
        let of_class = of_classes
            .entry(class)
            .or_insert_with(|| Read::of(of_class(program, class)));
        // If there are too many, the agent takes those of the class by itself.
        known.join(of_class);
    }
    statics
}

/// The static fields of a class that the agent takes if no plan lists any.
fn of_class(program: &Program, class: ClassId) -> BTreeSet<Sym> {
    let class = program.class(class);
    let owner = program.names.bytes(class.name);
    let fields = class.fields.iter().filter(|field| {
        field.access & access::STATIC != 0 && may_this_change(program, class, field)
    });
    let named = |field: &Field| {
        program
            .names
            .intern(&[&*owner, b".", &*program.names.bytes(field.name)].concat())
    };
    fields.map(named).collect()
}

/// Joins two graphs that share their first nodes.
fn both(shared: usize, one: &[Vec<u32>], other: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let further = (one.len() - shared) as u32;
    let moved = |&to: &u32| match (to as usize) < shared {
        true => to,
        false => to + further,
    };
    let mut all = one.to_vec();
    for (all, other) in all.iter_mut().zip(&other[..shared]) {
        all.extend(other.iter().map(moved));
    }
    all.extend(
        other[shared..]
            .iter()
            .map(|next| next.iter().map(moved).collect()),
    );
    all
}

fn widen(statics: &mut [Read], by: &[Read]) {
    for (known, more) in statics.iter_mut().zip(by) {
        known.widen(more);
    }
}

/// The static fields of the program that each body reads and that the agent takes; constants are
/// left out, because they have the same value in a test.
fn read(asked: &Asked<'_>) -> Vec<BTreeSet<Sym>> {
    let program = asked.program;
    let bodies = asked.facts.iter().map(|facts| {
        let read = facts.ops.iter().filter_map(|fact| match fact.op {
            Op::LoadStatic { field, .. } => Some(field),
            _ => None,
        });
        read.filter(|&field| is_own(program, field) && may_change(program, field))
            .collect()
    });
    bodies.collect()
}

/// Whether a static field may have another value than the one that its class's initializer would
/// assign again, or may refer to changed state. This is the rule by which the agent takes fields.
fn may_change(program: &Program, field: Sym) -> bool {
    let text = program.names.bytes(field);
    let name = text.rsplit(|&byte| byte == b'.').next().unwrap_or(&text);
    let Some(class) = declaring(program, field).map(|class| program.class(class)) else {
        return true;
    };
    // Some tools give several fields the same name.
    let mut found = class.fields.iter().filter(|field| {
        field.access & access::STATIC != 0 && *program.names.bytes(field.name) == *name
    });
    let is_there = found.clone().next().is_some();
    !is_there || found.any(|found| may_this_change(program, class, found))
}

fn may_this_change(program: &Program, class: &Class, found: &Field) -> bool {
    // These packages are never on the class path; the agent looks more closely.
    let is_no_programs = |of: &str| of.starts_with("java/") || of.starts_with("javax/");
    const CONSTANT: u16 = access::ENUM | access::FINAL;
    let is_constant = found.access & CONSTANT == CONSTANT && has_no_state(program, class);
    let descriptor = program.names.text(found.descriptor);
    !is_constant && select::may_change(&descriptor, found.access, is_no_programs)
}

/// Whether no constant of an enum has state that changes: all fields, including those of constants
/// with bodies, are final and are numbers or strings.
fn has_no_state(program: &Program, class: &Class) -> bool {
    let is_final = |field: &Field| {
        let descriptor = program.names.bytes(field.descriptor);
        let is_value = descriptor.len() == 1 || *descriptor == *b"Ljava/lang/String;";
        field.access & access::FINAL != 0 && is_value
    };
    let bodies = class.subtypes.iter().map(|&body| program.class(body));
    let mut fields = bodies.chain([class]).flat_map(|class| &class.fields);
    fields.all(|field| field.access & access::STATIC != 0 || is_final(field))
}

/// What each method calls, as a graph with further nodes for equal call sites; and for each class
/// initializer, the methods that may run it first.
fn called(asked: &Asked<'_>) -> (Vec<Vec<u32>>, Map<u32, Vec<u32>>) {
    let program = asked.program;
    let initialiser = program.names.find(b"<clinit>()V");
    let mut next = vec![Vec::new(); asked.facts.len()];
    let mut users: Map<u32, Vec<u32>> = Map::default();
    let mut sites: Map<Site, u32> = Map::default();
    for (number, facts) in asked.facts.iter().enumerate() {
        for fact in &facts.ops {
            let first = initialiser.map(|name| initialisers(program, asked.calls, name, &fact.op));
            for run in first.into_iter().flatten() {
                if run.0 != number as u32 {
                    users.entry(run.0).or_default().push(number as u32);
                }
            }
            let site = match &fact.op {
                Op::Call { site, .. } => *site,
                Op::Lambda(lambda) => lambda.site,
                _ => continue,
            };
            let node = *sites.entry(site).or_insert_with(|| {
                let targets = asked.calls.targets(site);
                let methods = targets.methods.iter().map(|method| method.0);
                next.push(methods.collect());
                next.len() as u32 - 1
            });
            next[number].push(node);
        }
    }
    (next, users)
}
