//! What fields hold, as far as all stores are known.

use super::Solver;
use crate::mutability::facts::{NONE, Op};
use crate::program::calls::Site;
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Program, Sym};
use hindsight_classfile::access;

/// The fields that a call may store into although no body does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unseen {
    None,
    /// All fields except final ones.
    Open,
    Any,
}

fn stores_unseen(program: &Program, site: Site) -> Unseen {
    let name = program.names.bytes(program.class(site.owner).name);
    let signature = program.names.bytes(site.signature);
    match &*name {
        b"java/lang/reflect/Field" if signature.starts_with(b"set(") => Unseen::Any,
        b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe" => Unseen::Any,
        b"java/lang/invoke/VarHandle"
        | b"java/util/concurrent/atomic/AtomicReferenceFieldUpdater" => Unseen::Open,
        b"java/lang/invoke/MethodHandles$Lookup"
            if signature.starts_with(b"findSetter(")
                || signature.starts_with(b"unreflectSetter(") =>
        {
            Unseen::Any
        }
        _ => Unseen::None,
    }
}

impl Solver<'_> {
    /// The program's fields for which all stores are of new objects of known classes. Fields into
    /// which something unknown might store are left out.
    pub(super) fn what_fields_hold(&self) -> Map<Sym, Vec<ClassId>> {
        const MOST: usize = 4;
        let program = self.program;
        let names = &program.names;
        let mut found: Map<Sym, Option<Vec<ClassId>>> = Map::default();
        // Classes whose native or unreadable methods may store anything.
        let mut unseen: Set<ClassId> = Set::default();
        let mut stored = Unseen::None;
        for (method, facts) in self.facts.iter().enumerate() {
            if facts.unknown.is_some() {
                unseen.insert(program.method(MethodId(method as u32)).class);
            }
            let mut made: Map<u32, ClassId> = Map::default();
            for fact in &facts.ops {
                match &fact.op {
                    Op::New {
                        dst,
                        class: Some(class),
                    } => {
                        made.insert(*dst, *class);
                    }
                    Op::Store { field, value, .. } | Op::StoreStatic { field, value, .. }
                        if *value != NONE =>
                    {
                        let known = found.entry(*field).or_insert_with(|| Some(Vec::new()));
                        let class = made.get(value).copied();
                        match (known.as_mut(), class) {
                            (Some(classes), Some(class)) if classes.len() < MOST => {
                                if !classes.contains(&class) {
                                    classes.push(class);
                                }
                            }
                            _ => *known = None,
                        }
                    }
                    Op::Call { site, .. } if self.sound => {
                        stored = stored.max(stores_unseen(program, *site));
                    }
                    _ => {}
                }
            }
        }
        let stream = names.find(b"java/io/Serializable");
        let stream = stream.and_then(|name| program.find(name));
        let is_seen = |class: ClassId| {
            let is_read = self.sound && stream.is_some_and(|io| program.is_subtype(class, io));
            !program.class(class).library && !unseen.contains(&class) && !is_read
        };
        let is_known = |field: Sym| -> Option<bool> {
            let text = names.bytes(field);
            let end = text.iter().rposition(|&byte| byte == b'.')?;
            let class = program.find(names.find(&text[..end])?)?;
            let name = names.find(&text[end + 1..])?;
            let declared = &program.class(class).fields;
            let open =
                declared.iter().find(|field| field.name == name)?.access & access::FINAL == 0;
            Some(is_seen(class) && (stored == Unseen::None || stored == Unseen::Open && !open))
        };
        let found = found.into_iter();
        found
            .filter_map(|(field, classes)| Some((field, classes?)))
            .filter(|(field, _)| is_known(*field) == Some(true))
            .collect()
    }

    /// The fields into which new maps are stored that reorder their entries on reading.
    pub(super) fn fields_that_reorder(&self) -> Set<Sym> {
        let by_access = self.program.names.find(b"<init>(IFZ)V");
        let mut found = Set::default();
        for facts in self.facts {
            let mut made = Set::default();
            for fact in &facts.ops {
                match &fact.op {
                    Op::New {
                        dst,
                        class: Some(class),
                    } if self.reordered.contains(class) => {
                        made.insert(*dst);
                    }
                    Op::Call { site, args, .. }
                        if Some(site.owner) == self.linked && Some(site.signature) == by_access =>
                    {
                        made.extend(args.first());
                    }
                    Op::Store { field, value, .. } | Op::StoreStatic { field, value, .. }
                        if made.contains(value) =>
                    {
                        found.insert(*field);
                    }
                    _ => {}
                }
            }
        }
        found
    }
}
