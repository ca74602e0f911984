//! From steps to models, in one pass.
//!
//! Of each object its node is remembered, of each call that is going on the
//! objects that take part in it and where they stood. While a call runs, its
//! object goes along the calls nested in it; when it returns, an edge of the call
//! itself is laid from where the object stood to where it has come. So nesting
//! gives alternative paths, and no sequence is ever held as a whole.
//!
//! A call that must not be in the model (not public) gives no edge: the path
//! breaks off, and what follows it on this path is not reachable, until a call
//! around it returns. Where no call of the object is around it, all the rest of
//! the object's life would be lost, so there the object stays where it is.

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

/// How much is remembered.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls of one object that the model follows; and of those nested in them, as many again.
    pub depth: u32,
    /// Objects that are remembered; those that took part in a call least recently
    /// are forgotten, and what they do later is not in the model.
    pub objects: usize,
    /// Texts that are remembered.
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

/// What could not be taken into the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Objects with more calls than [`Limits::depth`].
    pub long: u64,
    /// Objects that were forgotten.
    pub forgotten: u64,
    /// Events that the recorder has lost.
    pub lost: u64,
}

/// A pass over the steps of one run.
pub struct Inference<'d> {
    dictionary: &'d Dictionary,
    mutability: Option<&'d Mutability>,
    limits: Limits,
    run: u32,
    /// What tells objects of this run from those of others.
    lives: u64,
    model: Model,
    /// What was left out.
    pub skipped: Skipped,
    methods: FxHashMap<u32, Method>,
    calls: FxHashMap<(u32, u64), CallId>,
    /// Places of the models of classes, by the number that the trace gives these;
    /// nothing for those that have none.
    classes: FxHashMap<u32, Option<usize>>,
    /// Names of classes whose objects have models, with these.
    found: Vec<(String, ClassModel)>,
    objects: FxHashMap<u64, Object>,
    texts: Texts,
    threads: FxHashMap<u64, Vec<Frame>>,
    /// Frames that are over, for their memory.
    spare: Vec<Frame>,
    /// Steps so far, as a clock.
    now: u64,
    /// What took part in no call since then may be forgotten.
    epoch: u64,
}

/// What is to be known of a method.
#[derive(Debug, Clone, Default)]
struct Method {
    name: String,
    class: String,
    descriptor: String,
    is_public: bool,
    is_static: bool,
    is_constructor: bool,
    /// Whether it is known not to change what stands at a position, by bit.
    immutable: u64,
}

#[derive(Debug, Clone, Copy)]
struct Object {
    /// The number of its class in the trace.
    class: u32,
    life: Life,
    /// Where it stands; nothing where that cannot be reached.
    node: Option<Node>,
    /// Calls that it has gone along, or could not,
    steps: u32,
    /// those of them that are edges and were not nested in others,
    outermost: u32,
    /// and those that are and were.
    inner: u32,
    /// Whether some were left out since they are too many.
    long: bool,
    /// Calls that are going on.
    open: u32,
    /// Those of them that keep its state: what is nested in them does not count.
    quiet: u32,
    /// Those of them that are its constructors.
    constructors: u32,
    /// The thread of the calls that are going on.
    thread: u64,
    /// Whether calls of several threads are going on: they are not nested.
    /// See [`Around`].
    shared: bool,
    /// Whether what makes it has returned, as far as it is in the model.
    made: bool,
    /// Whether it is in the number of objects of its class.
    counted: bool,
    /// When it was first seen, and last.
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
    /// Its positions, by bit; see [`bit`].
    positions: u64,
    from: Option<Node>,
    steps: u32,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It may be changed.
    Changed,
    /// It is not changed.
    Kept,
    /// It cannot stand here yet: it is being made.
    Early,
}

/// The bit of a position: the result comes first.
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

    /// The model; calls that are still going on are not in it.
    pub fn finish(mut self) -> Model {
        let seen = self.found.into_iter();
        let seen = seen.filter(|(_, class)| !class.graph.edges(ROOT).is_empty());
        self.model.classes.extend(seen);
        self.model
    }

    /// Takes a step of the run.
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

    /// The calls of a thread that are going on do not end, or nobody knows how.
    fn abandon_all(&mut self, thread: u64) {
        for frame in self.threads.remove(&thread).unwrap_or_default() {
            self.abandon(&frame);
        }
    }

    /// A text with lone surrogates, or a box that holds one.
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
            // All are recent: the older half goes.
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
                // Compilers make bridges, of which sources know nothing.
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

    /// An object takes part in a call that begins, in a thread with such frames; of
    /// a constructor of its own class it is told whether that is it.
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
        // Nobody can call it before it is there, in whatever thread.
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
        // It may be an argument too: of another call it would be.
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
        // Constructors called by this one have returned, but began after it.
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

    /// A call returns, or throws.
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
        // Not within reach of what is called here, which asks for no other object.
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
                // The call cannot be made before the object is there.
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

    /// A call of which it is not known how it ended.
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
