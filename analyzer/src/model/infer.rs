//! Infers models from steps, in one pass.
//!
//! For each object its current node is remembered, and for each active call the objects that take
//! part in it and their nodes at its beginning. While a call runs, its object moves along the calls
//! nested in it; when it returns, an edge for the call itself is laid from the object's node at the
//! beginning to its present node. So nesting gives alternative paths, and no sequence is ever held
//! as a whole.
//!
//! A call that must not be in the model (because it is not public) gives no edge: the path breaks
//! off, and what follows it on this path is unreachable until an enclosing call returns. If no call
//! of the object encloses it, all the rest of the object's life would be lost, so in that case the
//! object stays at its node.
//!
//! - `around` is the calls that enclose another one in the same thread.
//! - `edges` lays edges when calls have returned.

mod around;
mod edges;

use super::graph::{Node, ROOT};
use super::literal::{is_reflected, literal, of_datum, of_units};
use super::mutable::{MethodName, Mutability};
use super::texts::Texts;
use super::values::{Life, Literal};
use super::{CallId, ClassModel, Model, Run};
use crate::trace::steps::{Argument, Step, What};
use around::Around;
use hindsight_classfile::access;
use hindsight_tracelog::trace::dictionary::Dictionary;
use hindsight_tracelog::trace::{Datum, ObjectId};
use rustc_hash::FxHashMap;

/// The bounds of what is remembered.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most calls of one object that the model follows; it follows as many nested calls again.
    pub depth: u32,
    /// The most objects that are remembered. Those that have not taken part in a call for the
    /// longest time are forgotten, and their later calls are not in the model.
    pub objects: usize,
    /// The most texts that are remembered.
    pub texts: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 200,
            objects: 4 << 20,
            texts: 1 << 20,
        }
    }
}

/// Counts of what could not be taken into the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The number of objects with more calls than [`Limits::depth`].
    pub long: u64,
    /// The number of objects that were forgotten.
    pub forgotten: u64,
    /// The number of events that the recorder has lost.
    pub lost: u64,
}

/// A pass over the steps of one run.
pub struct Inference<'d> {
    dictionary: &'d Dictionary,
    mutability: Option<&'d Mutability>,
    limits: Limits,
    run: u32,
    /// A number that distinguishes objects of this run from those of others.
    lives: u64,
    model: Model,
    /// Counts of what was left out.
    pub skipped: Skipped,
    methods: FxHashMap<u32, Method>,
    calls: FxHashMap<(u32, u64), CallId>,
    /// The index in `found` of each class's model, by the number of the class in the trace; `None`
    /// for classes that have no model.
    classes: FxHashMap<u32, Option<usize>>,
    /// The names and models of the classes whose objects have models.
    found: Vec<(String, ClassModel)>,
    objects: FxHashMap<u64, Object>,
    texts: Texts,
    threads: FxHashMap<u64, Vec<Frame>>,
    /// Frames of calls that have ended, whose memory is used again.
    spare: Vec<Frame>,
    /// The number of steps so far, which serves as a clock.
    now: u64,
    /// Objects that have taken part in no call since this time may be forgotten.
    epoch: u64,
}

/// The properties of a method that inference needs.
#[derive(Debug, Clone, Default)]
struct Method {
    name: String,
    class: String,
    descriptor: String,
    is_public: bool,
    is_static: bool,
    is_constructor: bool,
    /// For each position, as a bit, whether the method is known not to change the object there.
    immutable: u64,
}

#[derive(Debug, Clone, Copy)]
struct Object {
    /// The number of its class in the trace.
    class: u32,
    life: Life,
    /// The object's node; `None` where it cannot be reached.
    node: Option<Node>,
    /// The number of calls that it has moved along, or could not move along.
    steps: u32,
    /// The number of those calls that are edges and were not nested in others.
    outermost: u32,
    /// The number of those calls that are edges and were nested in others.
    inner: u32,
    /// Whether some calls were left out because there are too many.
    long: bool,
    /// The number of its active calls.
    open: u32,
    /// The number of its active calls that do not change it. Calls nested in these do not count.
    quiet: u32,
    /// The number of its active calls that are constructors of it.
    constructors: u32,
    /// The thread of its active calls.
    thread: u64,
    /// Whether it has active calls on several threads, which are not nested in one another. See
    /// [`Around`].
    shared: bool,
    /// Whether the call that makes it has returned, as far as that call is in the model.
    made: bool,
    /// Whether it is counted among the objects of its class.
    counted: bool,
    /// The time when it was first seen; the next field is when it was last seen.
    born: u64,
    seen: u64,
}

#[derive(Default)]
struct Frame {
    method: u32,
    entered: u64,
    parts: Vec<Part>,
    values: Vec<(i16, Literal)>,
}

/// An object in a call.
#[derive(Debug, Clone, Copy)]
struct Part {
    object: u64,
    /// The object's positions in the call, by bit; see [`bit`].
    positions: u64,
    from: Option<Node>,
    steps: u32,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The call may change the object.
    Changed,
    /// The call does not change the object.
    Kept,
    /// The call cannot use the object yet, which is still being made.
    Early,
}

/// The bit of a position; the lowest one stands for the result.
fn bit(position: i16) -> u64 {
    1 << (position + 1).clamp(0, 63)
}

impl<'d> Inference<'d> {
    /// Begins with an empty model.
    pub fn new(
        dictionary: &'d Dictionary,
        run: Run,
        mutability: Option<&'d Mutability>,
        limits: Limits,
    ) -> Inference<'d> {
        let mut model = Model::default();
        let lives = Literal::Text(run.id.clone()).hash();
        let run = model.run(run);
        Inference {
            dictionary,
            mutability,
            limits,
            run,
            lives,
            model,
            skipped: Skipped::default(),
            methods: FxHashMap::default(),
            calls: FxHashMap::default(),
            classes: FxHashMap::default(),
            found: Vec::new(),
            objects: FxHashMap::default(),
            texts: Texts::new(limits.texts),
            threads: FxHashMap::default(),
            spare: Vec::new(),
            now: 0,
            epoch: 0,
        }
    }

    /// The finished model. Calls that are still active are not in it.
    pub fn finish(mut self) -> Model {
        let seen = self.found.into_iter();
        let seen = seen.filter(|(_, class)| !class.graph.edges(ROOT).is_empty());
        self.model.classes.extend(seen);
        self.model
    }

    /// Processes a step of the run.
    pub fn take(&mut self, step: &Step) {
        self.now += 1;
        match &step.what {
            What::New {
                object,
                text,
                units,
                length,
                ..
            } => match units {
                Some(units) => self.new_text(*object, units, *length),
                None => self.new_object(*object, text.as_deref(), *length),
            },
            What::Enter { method, arguments } => self.enter(step.thread, *method, arguments),
            What::Bind { method, this } => self.bind(step.thread, *method, *this),
            What::Exit { method, value } => self.leave(step.thread, *method, Some(*value)),
            What::Unwind { method, .. } => self.leave(step.thread, *method, None),
            What::End => self.abandon_all(step.thread),
            What::Lost(gap) => {
                self.skipped.lost = self.skipped.lost.saturating_add(gap.events());
                self.abandon_all(step.thread);
            }
            What::Thread { paused: true, .. } => self.abandon_all(step.thread),
            What::Thread { .. }
            | What::Caught { .. }
            | What::Write { .. }
            | What::Read { .. }
            | What::Called { .. }
            | What::Going { .. }
            | What::Class { .. } => {}
        }
    }

    /// Gives up the active calls of a thread, which do not end, or end in an unknown way.
    fn abandon_all(&mut self, thread: u64) {
        for frame in self.threads.remove(&thread).unwrap_or_default() {
            self.abandon(&frame);
        }
    }

    /// Remembers a text with lone surrogates, or the value of a box that holds one.
    fn new_text(&mut self, id: ObjectId, units: &[u16], length: u32) {
        let class = self.dictionary.class(id.class()).unwrap_or_default();
        if let Some(literal) = of_units(class, units, length) {
            self.texts.insert(id.serial(), literal);
        }
    }

    fn new_object(&mut self, id: ObjectId, text: Option<&str>, length: u32) {
        let name = self.dictionary.class(id.class()).unwrap_or_default();
        if let Some(text) = text.filter(|_| !is_reflected(name)) {
            if let Some(literal) = literal(name, text, length) {
                self.texts.insert(id.serial(), literal);
            }
            return;
        }
        let found = &mut self.found;
        let place = self.classes.entry(id.class()).or_insert_with(|| {
            let lambda = name.contains('/') || name.contains("$$Lambda");
            if name.is_empty() || name.starts_with('[') || name == "java.lang.String" || lambda {
                return None;
            }
            // Several loaders may have a class of this name.
            let known = found.iter().position(|(known, _)| known == name);
            Some(known.unwrap_or_else(|| {
                found.push((name.to_owned(), ClassModel::default()));
                found.len() - 1
            }))
        });
        if place.is_none() {
            return;
        }
        if self.objects.len() >= self.limits.objects {
            self.forget();
        }
        let object = Object {
            class: id.class(),
            life: Life::of(self.lives, id.serial()),
            node: Some(ROOT),
            steps: 0,
            outermost: 0,
            inner: 0,
            long: false,
            open: 0,
            quiet: 0,
            constructors: 0,
            thread: 0,
            shared: false,
            made: true,
            counted: false,
            born: self.now,
            seen: self.now,
        };
        self.objects.insert(id.serial(), object);
    }

    fn forget(&mut self) {
        let before = self.objects.len();
        let epoch = self.epoch;
        self.objects
            .retain(|_, object| object.open > 0 || object.seen >= epoch);
        if self.objects.len() > before / 2 {
            // All objects are recent, so the older half is forgotten.
            let mut seen: Vec<u64> = self.objects.values().map(|object| object.seen).collect();
            let middle = seen.len() / 2;
            let (_, &mut middle, _) = seen.select_nth_unstable(middle);
            self.objects
                .retain(|_, object| object.open > 0 || object.seen > middle);
        }
        self.epoch = self.now;
        self.skipped.forgotten += (before - self.objects.len()) as u64;
    }

    fn method(&mut self, id: u32) -> &Method {
        let (dictionary, mutability) = (self.dictionary, self.mutability);
        self.methods.entry(id).or_insert_with(|| {
            let Some((class, method)) = dictionary.method(id) else {
                return Method::default();
            };
            let is_static = method.access & access::STATIC != 0;
            let name = MethodName {
                class: &class.name,
                name: &method.name,
                descriptor: &method.descriptor,
                is_static,
            };
            let is_constructor = method.name == "<init>";
            let mut immutable = 0;
            if let Some(mutability) = mutability {
                for &(index, _) in &method.told {
                    let position = i16::try_from(index).unwrap_or(i16::MAX);
                    if position < 62 && mutability.is_immutable(&name, position) {
                        immutable |= bit(position);
                    }
                }
            }
            Method {
                name: method.name.clone(),
                class: class.name.clone(),
                descriptor: method.descriptor.clone(),
                // Compilers make bridge methods, which no source can call.
                is_public: method.access & access::PUBLIC != 0
                    && method.access & access::SYNTHETIC == 0,
                is_static,
                is_constructor,
                immutable,
            }
        })
    }

    fn enter(&mut self, thread: u64, method: u32, arguments: &[Argument]) {
        let (immutable, is_public) = {
            let method = self.method(method);
            (method.immutable, method.is_public)
        };
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.method = method;
        frame.entered = self.now;
        let types = self
            .dictionary
            .method(method)
            .map(|(_, method)| &method.told);
        for argument in arguments {
            let Ok(position) = i16::try_from(argument.index) else {
                continue;
            };
            let id = match argument.value {
                Datum::Reference(Some(id)) => id,
                _ if !is_public => continue,
                value => {
                    let mut types = types.into_iter().flatten();
                    let ty = types.find(|(index, _)| *index == argument.index);
                    let ty = ty.map_or("", |(_, ty)| ty);
                    frame.values.push((position, of_datum(value, ty)));
                    continue;
                }
            };
            let serial = id.serial();
            if self.objects.contains_key(&serial) {
                match frame.parts.iter_mut().find(|part| part.object == serial) {
                    Some(part) => part.positions |= bit(position),
                    None => frame.parts.push(Part {
                        object: serial,
                        positions: bit(position),
                        from: None,
                        steps: 0,
                        role: Role::Changed,
                    }),
                }
            } else if is_public && let Some(text) = self.texts.get(serial) {
                frame.values.push((position, text.clone()));
            }
        }
        let frames = self.threads.entry(thread).or_default();
        for part in &mut frame.parts {
            let kept = part.positions & !immutable == 0;
            let around = (&frames[..], thread);
            Self::begin(&mut self.objects, part, around, self.now, kept, None);
        }
        frames.push(frame);
    }

    /// Records that an object takes part in a call that begins, on a thread with these frames.
    /// `own_constructor` says, for a constructor of the object, whether it is one of the object's
    /// own class.
    fn begin(
        objects: &mut FxHashMap<u64, Object>,
        part: &mut Part,
        (frames, thread): (&[Frame], u64),
        now: u64,
        kept: bool,
        own_constructor: Option<bool>,
    ) {
        let Some(object) = objects.get_mut(&part.object) else {
            return;
        };
        object.seen = now;
        if object.open > 0 && object.thread != thread {
            object.shared = true;
        }
        object.thread = thread;
        let around = Around::of(object, part.object, frames);
        object.open += 1;
        part.from = object.node;
        part.steps = object.steps;
        part.role = if around.quiet || kept {
            Role::Kept
        // No thread can call it before it has been made.
        } else if object.constructors > 0
            && object.node == Some(ROOT)
            && own_constructor != Some(true)
        {
            Role::Early
        } else {
            Role::Changed
        };
        if part.role == Role::Kept {
            object.quiet += 1;
        }
        if own_constructor.is_some() {
            object.constructors += 1;
        }
    }

    fn bind(&mut self, thread: u64, method: u32, this: Option<ObjectId>) {
        let Some(id) = this else { return };
        let is_own = {
            self.method(method);
            let class = self.classes.get(&id.class()).copied().flatten();
            let class = class.map(|place| self.found[place].0.as_str());
            let method = self.methods.get(&method);
            class.is_some() && class == method.map(|method| method.class.as_str())
        };
        let Some(frames) = self.threads.get_mut(&thread) else {
            return;
        };
        let at = frames.iter().rposition(|frame| frame.method == method);
        let Some(at) = at else { return };
        let serial = id.serial();
        if !self.objects.contains_key(&serial)
            || (frames[at].parts.iter()).any(|part| part.positions & bit(0) != 0)
        {
            return;
        }
        // The object may also be an argument, but only of another call.
        let mut part = Part {
            object: serial,
            positions: bit(0),
            from: None,
            steps: 0,
            role: Role::Changed,
        };
        Self::begin(
            &mut self.objects,
            &mut part,
            (&frames[..at], thread),
            self.now,
            false,
            Some(is_own),
        );
        // Constructors that this one called have returned already, although they began later.
        part.from = Some(ROOT);
        part.steps = 0;
        if let Some(object) = self.objects.get_mut(&serial) {
            object.made = false;
        }
        if !is_own {
            part.role = Role::Early;
        }
        frames[at].parts.push(part);
    }

    /// Ends a call that returns or throws.
    fn leave(&mut self, thread: u64, method: u32, value: Option<Option<Datum>>) {
        let Some(frames) = self.threads.get_mut(&thread) else {
            return;
        };
        let Some(at) = frames.iter().rposition(|frame| frame.method == method) else {
            return;
        };
        let above = match at + 1 == frames.len() {
            true => Vec::new(),
            false => frames.split_off(at + 1),
        };
        let Some(mut frame) = frames.pop() else {
            return;
        };
        for lost in &above {
            self.abandon(lost);
        }
        let method_id = method;
        let (is_public, is_constructor, immutable) = {
            let method = self.method(method);
            (method.is_public, method.is_constructor, method.immutable)
        };
        let threw = value.is_none();
        // The objects are taken out, since the methods called here need no other object.
        let mut objects = std::mem::take(&mut self.objects);
        let frames = std::mem::take(self.threads.entry(thread).or_default());
        for part in &frame.parts {
            let Some(object) = objects.get_mut(&part.object) else {
                continue;
            };
            object.open = object.open.saturating_sub(1);
            let binds = is_constructor && part.positions == bit(0);
            if binds {
                object.constructors = object.constructors.saturating_sub(1);
            }
            object.quiet -= u32::from(part.role == Role::Kept && object.quiet > 0);
            let around = Around::of(object, part.object, &frames);
            match part.role {
                Role::Kept => {
                    let outermost = !around.quiet && object.node.is_some();
                    let known = part.positions & !immutable == 0;
                    if outermost && known && is_public && !threw {
                        self.observe(object, method_id, part.positions);
                    }
                }
                // The call cannot be made before the object exists.
                Role::Early => {
                    object.steps += 1;
                    if object.node == Some(ROOT) {
                        object.node = None;
                    }
                }
                Role::Changed => {
                    let allowed = is_public && !(binds && threw);
                    let how = (allowed, threw);
                    self.walk(object, part, method_id, around, how, &frame.values);
                }
            }
            if object.open == 0 {
                object.shared = false;
            }
        }
        self.objects = objects;
        self.threads.insert(thread, frames);
        if let Some(Some(Datum::Reference(Some(id)))) = value
            && is_public
        {
            self.made(&frame, id.serial());
        }
        frame.parts.clear();
        frame.values.clear();
        self.spare.push(frame);
    }

    /// Ends a call in an unknown way.
    fn abandon(&mut self, frame: &Frame) {
        for part in &frame.parts {
            if let Some(object) = self.objects.get_mut(&part.object) {
                object.open = object.open.saturating_sub(1);
                object.quiet -= u32::from(part.role == Role::Kept && object.quiet > 0);
                let binds = part.positions == bit(0)
                    && (self.methods.get(&frame.method))
                        .is_some_and(|method| method.is_constructor);
                object.constructors -= u32::from(binds && object.constructors > 0);
                object.shared &= object.open > 0;
                object.node = None;
                object.steps += 1;
            }
        }
    }
}
