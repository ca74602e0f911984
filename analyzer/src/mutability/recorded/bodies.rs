//! The bodies of the methods of a trace, and the operations that events may come from.

use super::Code;
use super::evidence::{Evidence, MethodEvidence, ParamEvidence, Witness};
use super::frames::Frame;
use crate::classpath::sha256;
use crate::mutability::answers::param_count;
use crate::mutability::facts::{Fact, Facts, Op, Var};
use crate::program::calls::Site;
use crate::program::names::{Map, Set};
use crate::program::{ClassId, MethodId, Sym};
use crate::trace::steps::Place;
use hindsight_tracelog::trace::dictionary::Dictionary;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A field or element that is written or read.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The object; `None` for a static field, and for the object of a constructor that is not bound
    /// yet.
    pub object: Option<u64>,
    /// The field as facts name it.
    pub field: Sym,
    /// The index of an element; else 0.
    pub index: i32,
    /// Whether the field is static.
    pub is_static: bool,
}

/// How a caller may have come to a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The call names the method, or one that it overrides.
    Call,
    /// The call runs a lambda with this many captured values; the flag says whether it makes an
    /// object first.
    Lambda(u16, bool),
}

/// A method of the trace.
pub struct Body {
    /// The method of the program, or of the JDK.
    id: Option<MethodId>,
    /// The method, if it is one of the program's own and its facts are known.
    facts: Option<MethodId>,
    class: String,
    sha256: String,
    name: String,
    descriptor: String,
    is_static: bool,
    /// Whether it is a constructor.
    pub makes: bool,
    /// The number of its parameters.
    pub params: u16,
    /// Whether some of its reads and writes are not recorded.
    pub blind: bool,
    /// How often it was called.
    pub calls: u64,
    /// The operation that makes each value.
    defined: Arc<[u32]>,
    /// The operations by what they do, and to which field.
    ops: Map<Does, Arc<[u32]>>,
    seen: BTreeSet<u16>,
    found: BTreeMap<u16, ParamEvidence>,
    callees: Map<u32, Arc<[(u32, By)]>>,
    other_version: bool,
    /// How often its arguments were examined in vain.
    tries: u32,
}

impl Body {
    /// Whether the arguments are to be examined again: ever more rarely, if that was in vain.
    pub fn is_due(&mut self, each_time: u32) -> bool {
        self.tries = self.tries.saturating_add(1);
        self.tries < each_time || self.tries.is_power_of_two()
    }

    /// Records that the examination was not in vain.
    pub fn renew(&mut self) {
        self.tries = 0;
    }

    /// The parameter that has this index in the trace.
    pub fn param(&self, index: u16) -> u16 {
        index.saturating_sub(u16::from(self.is_static))
    }
}

/// The bodies of all methods, found when they are first met.
pub struct Bodies<'c> {
    code: &'c Code<'c>,
    dictionary: &'c Dictionary,
    numbers: Map<u32, u32>,
    bodies: Vec<Body>,
    /// The methods of the program that have occurred in the trace.
    met: Set<MethodId>,
    fields: Map<u32, Sym>,
    hashes: Map<ClassId, String>,
    element: Sym,
    /// The fields of [`CACHES`].
    caches: Set<Sym>,
}

/// Fields in which collections of the JDK keep the views that were asked for. Such a write is no
/// change of the collection.
const CACHES: &[(&str, &str)] = &[
    ("AbstractMap", "keySet values"),
    ("HashMap", "entrySet"),
    ("TreeMap", "entrySet navigableKeySet descendingMap"),
    ("Hashtable", "keySet entrySet values"),
    ("IdentityHashMap", "entrySet"),
    ("WeakHashMap", "entrySet"),
    ("EnumMap", "entrySet"),
    ("Collections$UnmodifiableMap", "keySet entrySet values"),
    ("Collections$SynchronizedMap", "keySet entrySet values"),
    ("Collections$CheckedMap", "entrySet"),
    ("concurrent.ConcurrentHashMap", "keySet values entrySet"),
    (
        "concurrent.ConcurrentSkipListMap",
        "keySet values entrySet descendingMap",
    ),
];

impl<'c> Bodies<'c> {
    /// No body is known at the beginning.
    pub fn new(code: &'c Code<'c>, dictionary: &'c Dictionary) -> Bodies<'c> {
        let names = &code.program.names;
        let caches = CACHES.iter().flat_map(|(class, fields)| {
            let owner = format!("java/util/{}", class.replace('.', "/"));
            let fields = fields.split(' ');
            fields.map(move |field| names.intern(format!("{owner}.{field}").as_bytes()))
        });
        Bodies {
            caches: caches.collect(),
            code,
            dictionary,
            numbers: Map::default(),
            bodies: Vec::new(),
            met: Set::default(),
            fields: Map::default(),
            hashes: Map::default(),
            element: code.program.names.intern(Facts::ELEMENT.as_bytes()),
        }
    }

    /// Whether a field only keeps something that can be made again.
    pub fn is_cache(&self, field: Sym) -> bool {
        self.caches.contains(&field)
    }

    /// The number of a method's body, given the method's number in the trace.
    pub fn of(&mut self, method: u32) -> u32 {
        if let Some(&known) = self.numbers.get(&method) {
            return known;
        }
        let body = self.find(method);
        let number = self.bodies.len() as u32;
        self.met.extend(body.facts);
        self.bodies.push(body);
        self.numbers.insert(method, number);
        number
    }

    fn find(&mut self, method: u32) -> Body {
        let mut body = Body {
            id: None,
            facts: None,
            class: String::new(),
            sha256: String::new(),
            name: String::new(),
            descriptor: String::new(),
            is_static: false,
            makes: false,
            params: 0,
            blind: false,
            calls: 0,
            defined: Arc::default(),
            ops: Map::default(),
            seen: BTreeSet::new(),
            found: BTreeMap::new(),
            callees: Map::default(),
            other_version: false,
            tries: 0,
        };
        let Some((class, entry)) = self.dictionary.method(method) else {
            return body;
        };
        body.class.clone_from(&class.name);
        let stands_for = self.code.stand_ins.get(&class.sha256);
        body.sha256.clone_from(stands_for.unwrap_or(&class.sha256));
        body.name.clone_from(&entry.name);
        body.descriptor.clone_from(&entry.descriptor);
        body.is_static = entry.access & hindsight_classfile::access::STATIC != 0;
        body.makes = entry.name == "<init>";
        body.blind = class.less.iter().any(|(name, descriptor, _)| {
            (name.as_str(), descriptor.as_str()) == (&entry.name, &entry.descriptor)
        });
        let program = self.code.program;
        let internal = class.name.replace('.', "/");
        let id = program
            .names
            .find(internal.as_bytes())
            .and_then(|name| program.find(name));
        let Some(id) = id.filter(|&id| !program.class(id).missing) else {
            return body;
        };
        let signature = format!("{}{}", entry.name, entry.descriptor);
        let declared = program.names.find(signature.as_bytes());
        let declared = declared.and_then(|signature| program.declared(id, signature));
        if program.class(id).library {
            body.id = declared;
            body.params = declared.map_or(0, |method| param_count(program, method));
            return body;
        }
        let own = self.hashes.entry(id);
        let own = own.or_insert_with(|| class_sha256(program, id));
        let same = body.sha256.is_empty() || *own == body.sha256;
        if !same {
            body.other_version = true;
            return body;
        }
        let Some(declared) = declared else {
            return body;
        };
        body.id = Some(declared);
        let facts = &self.code.facts[declared.0 as usize];
        body.params = facts.followed.len() as u16;
        if facts.present && facts.unknown.is_none() {
            body.facts = Some(declared);
            let mut defined = vec![u32::MAX; facts.vars as usize];
            for (fact, at) in facts.ops.iter().zip(0..) {
                if let Some(place) = defined.get_mut(fact.op.result() as usize) {
                    *place = at;
                }
            }
            body.defined = defined.into();
            body.ops = sorted(facts);
        }
        body
    }

    /// The body with this number.
    pub fn get(&self, body: u32) -> &Body {
        &self.bodies[body as usize]
    }

    /// The body with this number, for changing it.
    pub fn get_mut(&mut self, body: u32) -> &mut Body {
        &mut self.bodies[body as usize]
    }

    /// The facts of a body.
    pub fn facts(&self, body: u32) -> Option<&'c Facts> {
        let id = self.get(body).facts?;
        self.code.facts.get(id.0 as usize)
    }

    /// The operation that makes a value.
    pub fn definition(&self, body: u32, var: Var) -> Option<(u32, &'c Op)> {
        let at = *self.get(body).defined.get(var as usize)?;
        Some((at, &self.facts(body)?.ops.get(at as usize)?.op))
    }

    fn field(&mut self, field: u32) -> Option<Sym> {
        if let Some(&known) = self.fields.get(&field) {
            return Some(known);
        }
        let member = self.dictionary.field(field)?;
        let program = self.code.program;
        let names = &program.names;
        let internal = member.owner.replace('.', "/");
        let owner = names
            .find(internal.as_bytes())
            .and_then(|name| program.find(name));
        let declared = match (
            owner,
            names.find(member.name.as_bytes()),
            names.find(member.descriptor.as_bytes()),
        ) {
            (Some(owner), Some(name), Some(descriptor)) => {
                program.resolve_field(owner, name, descriptor)
            }
            _ => None,
        };
        let owner = declared
            .or(owner)
            .map_or(internal, |class| names.text(program.class(class).name));
        let sym = names.intern(format!("{owner}.{}", member.name).as_bytes());
        self.fields.insert(field, sym);
        Some(sym)
    }

    /// The target of an event in an active call.
    pub fn target(&mut self, place: &Place, frame: Option<&Frame>) -> Option<Target> {
        let target = |object, field, index, is_static| Target {
            object,
            field,
            index,
            is_static,
        };
        match *place {
            Place::Field { object, field } => {
                let this = || frame.and_then(|frame| frame.arg(0));
                let object = object.map(|object| object.serial()).or_else(this);
                Some(target(object, self.field(field)?, 0, false))
            }
            Place::Static { field } => Some(target(None, self.field(field)?, 0, true)),
            Place::Element { array, index } => {
                Some(target(Some(array?.serial()), self.element, index, false))
            }
        }
    }

    /// The operations that a write may come from.
    pub fn stores(&self, body: u32, target: &Target) -> Arc<[u32]> {
        self.that(body, &Does::Write(target.is_static, target.field))
    }

    /// The operations that a read may come from.
    pub fn loads(&self, body: u32, target: &Target) -> Arc<[u32]> {
        self.that(body, &Does::Read(target.is_static, target.field))
    }

    /// The operations by which a body returns a value or, if `thrown`, throws one.
    pub fn ends(&self, body: u32, thrown: bool) -> Arc<[u32]> {
        self.that(body, if thrown { &Does::Throw } else { &Does::Return })
    }

    /// The operations that catch exceptions.
    pub fn catches(&self, body: u32) -> Arc<[u32]> {
        self.that(body, &Does::Catch)
    }

    fn that(&self, body: u32, does: &Does) -> Arc<[u32]> {
        self.get(body).ops.get(does).cloned().unwrap_or_default()
    }

    /// The calls in a body of a method that is not recorded.
    pub fn called(&self, body: u32, callee: u32) -> Vec<u32> {
        let Some(member) = self.dictionary.callee(callee) else {
            return Vec::new();
        };
        let signature = format!("{}{}", member.name, member.descriptor);
        let signature = self.code.program.names.find(signature.as_bytes());
        let ops = self.facts(body).map_or(&[][..], |facts| &facts.ops);
        let calls = ops.iter().zip(0..).filter(|(fact, _)| match &fact.op {
            Op::Call { site, .. } => Some(site.signature) == signature,
            _ => false,
        });
        calls.map(|(_, at)| at).collect()
    }

    /// The class, name and descriptor of a method that is not recorded.
    pub fn callee(&self, callee: u32) -> Option<(&'c str, &'c str, &'c str)> {
        let member = self.dictionary.callee(callee)?;
        Some((&member.owner, &member.name, &member.descriptor))
    }

    /// Whether everything that a call may run is recorded by the trace, including results.
    pub fn is_told(&self, site: Site) -> bool {
        let targets = self.code.calls.targets(site);
        !targets.open
            && !targets.methods.is_empty()
            && targets
                .methods
                .iter()
                .all(|method| self.met.contains(method))
            && self.code.solver.lambdas_of(site).is_empty()
    }

    /// Whether a method is a bridge to another one of its class, and passes on its arguments.
    fn is_bridge(&self, method: MethodId, to: MethodId) -> bool {
        const BRIDGE: u16 = 0x40;
        let program = self.code.program;
        let (one, other) = (program.method(method), program.method(to));
        let calls = |fact: &Fact| match &fact.op {
            Op::Call { site, .. } => site.signature == other.signature && site.owner == other.class,
            _ => false,
        };
        one.is(BRIDGE)
            && one.class == other.class
            && self.code.facts[method.0 as usize].ops.iter().any(calls)
    }

    /// The calls in a body that may run another one.
    pub fn calls(&mut self, caller: u32, callee: u32) -> Arc<[(u32, By)]> {
        if let Some(known) = self.get(caller).callees.get(&callee) {
            return known.clone();
        }
        let mut found = Vec::new();
        if let (Some(facts), Some(target)) = (self.facts(caller), self.get(callee).id) {
            let runs = |site: Site| {
                let targets = self.code.calls.targets(site);
                let mut methods = targets.methods.iter();
                methods.any(|&method| method == target || self.is_bridge(method, target))
            };
            for (fact, at) in facts.ops.iter().zip(0..) {
                let Op::Call { site, .. } = &fact.op else {
                    continue;
                };
                if runs(*site) {
                    found.push((at, By::Call));
                }
                for (maker, op) in self.code.solver.lambdas_of(*site) {
                    let maker = &self.code.facts[maker.0 as usize];
                    if let Op::Lambda(lambda) = &maker.ops[op as usize].op
                        && runs(lambda.site)
                    {
                        let by = By::Lambda(lambda.captured.len() as u16, lambda.makes);
                        if !found.contains(&(at, by)) {
                            found.push((at, by));
                        }
                    }
                }
            }
        }
        let found: Arc<[(u32, By)]> = found.into();
        let callees = &mut self.get_mut(caller).callees;
        callees.insert(callee, found.clone());
        found
    }

    /// Records that an operation has run.
    pub fn saw(&mut self, body: u32, ops: &[u32]) {
        if let (&[op], Some(facts)) = (ops, self.facts(body)) {
            let pc = facts.ops[op as usize].pc;
            self.get_mut(body).seen.insert(pc);
        }
    }

    /// Records that a read of a value that is not an object has run.
    pub fn saw_read(&mut self, place: &Place, frame: Option<&Frame>) {
        let body = frame.map(|frame| frame.body);
        if let (Some(body), Some(target)) = (body, self.target(place, frame)) {
            let loads = self.loads(body, &target);
            self.saw(body, &loads);
        }
    }

    /// The evidence of a parameter, for changing it.
    pub fn found(&mut self, body: u32, param: u16) -> &mut ParamEvidence {
        self.get_mut(body).found.entry(param).or_default()
    }

    /// A description of where something was written.
    pub fn witness(&self, body: u32, ops: &[u32], field: Sym) -> Witness {
        let body = self.get(body);
        let pc = match (ops, body.facts) {
            (&[op], Some(id)) => Some(self.code.facts[id.0 as usize].ops[op as usize].pc),
            _ => None,
        };
        Witness {
            class: body.class.clone(),
            method: body.name.clone(),
            descriptor: body.descriptor.clone(),
            pc,
            what: self.code.program.names.text(field).replace('/', "."),
        }
    }

    /// The field of elements.
    pub fn element(&self) -> Sym {
        self.element
    }

    /// The operations of a body that write an object's field.
    pub fn writes_of(&self, body: u32, field: Sym) -> Arc<[u32]> {
        self.that(body, &Does::Write(false, field))
    }

    /// The class, name and descriptor of a body's method, as evidence names it.
    pub fn name(&self, body: u32) -> (String, String, String) {
        let body = self.get(body);
        (
            body.class.clone(),
            body.name.clone(),
            body.descriptor.clone(),
        )
    }

    /// The classes of which the trace has another version.
    pub fn other_versions(&self) -> Set<String> {
        let others = self.bodies.iter().filter(|body| body.other_version);
        others.map(|body| body.class.clone()).collect()
    }

    /// Adds what was found to the evidence.
    pub fn finish(&mut self, evidence: &mut Evidence) {
        for body in &mut self.bodies {
            if body.facts.is_none() {
                continue;
            }
            let class = (
                std::mem::take(&mut body.class),
                std::mem::take(&mut body.sha256),
            );
            let methods = evidence.classes.entry(class.clone()).or_default();
            let of = methods.entry((body.name.clone(), body.descriptor.clone()));
            let found = MethodEvidence {
                calls: body.calls,
                seen: std::mem::take(&mut body.seen),
                params: std::mem::take(&mut body.found),
            };
            of.or_default().merge(found);
            body.class = class.0;
        }
    }
}

/// What an operation does that events record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Does {
    /// Writes a field; the flag says whether it is static.
    Write(bool, Sym),
    /// Reads a field; the flag says whether it is static.
    Read(bool, Sym),
    Return,
    Throw,
    Catch,
}

fn sorted(facts: &Facts) -> Map<Does, Arc<[u32]>> {
    let mut found: Map<Does, Vec<u32>> = Map::default();
    for (fact, at) in facts.ops.iter().zip(0..) {
        let does = match fact.op {
            Op::Store { field, .. } => Does::Write(false, field),
            Op::StoreStatic { field, .. } => Does::Write(true, field),
            Op::Load { field, .. } => Does::Read(false, field),
            Op::LoadStatic { field, .. } => Does::Read(true, field),
            Op::Return { .. } => Does::Return,
            Op::Throw { .. } => Does::Throw,
            Op::Catch { .. } => Does::Catch,
            _ => continue,
        };
        found.entry(does).or_default().push(at);
    }
    let found = found.into_iter();
    found.map(|(does, ops)| (does, ops.into())).collect()
}

/// The SHA-256 of a class file, as a trace has it.
pub fn class_sha256(program: &crate::program::Program, class: ClassId) -> String {
    sha256(program.file_bytes(class))
}
