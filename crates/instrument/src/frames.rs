//! Reading a method's stack map: which parameters every frame has, and what the frames at handlers
//! are.

use hindsight_classfile::frames::{Frame, Frames, Shape, VerificationType};
use hindsight_classfile::{Attribute, Code, ConstantPool};

use crate::SkipReason;
use crate::constructor::InitCalls;
use crate::parameters::{Parameter, Place};

/// Frames one after the other, each with all of its locals.
pub struct Walker<'a> {
    frames: Frames<'a>,
    /// The locals of the frame just read.
    pub locals: Vec<VerificationType>,
    /// The number of slots that the locals take.
    pub slots: u16,
    /// How many of the locals are an uninitialized `this`.
    pub uninitialized_this: usize,
    max_locals: u16,
    /// The offset of the frames in the class file.
    offset: usize,
}

impl<'a> Walker<'a> {
    /// Starts with the locals that the parameters make (JVMS 4.10.1.6).
    pub fn new(
        attribute: &Attribute<'a>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        max_locals: u16,
    ) -> Result<Self, SkipReason> {
        Self::reusing(Vec::new(), attribute, parameters, constructor, max_locals)
    }

    /// Like [`Self::new`], but keeps the locals in memory that has been used.
    pub fn reusing(
        mut locals: Vec<VerificationType>,
        attribute: &Attribute<'a>,
        parameters: &[Parameter<'_>],
        constructor: bool,
        max_locals: u16,
    ) -> Result<Self, SkipReason> {
        locals.clear();
        let mut walker = Self {
            frames: Frames::new(attribute)?,
            locals,
            slots: 0,
            uninitialized_this: 0,
            max_locals,
            offset: attribute.offset,
        };
        for verified in entry_locals(parameters, constructor) {
            walker.add(verified)?;
        }
        Ok(walker)
    }

    fn add(&mut self, verified: VerificationType) -> Result<(), SkipReason> {
        self.slots = self
            .slots
            .checked_add(verified.slots())
            .filter(|&slots| slots <= self.max_locals)
            .ok_or_else(|| SkipReason::malformed(self.offset))?;
        self.uninitialized_this += usize::from(verified == VerificationType::UninitializedThis);
        self.locals.push(verified);
        Ok(())
    }

    fn remove(&mut self) -> Result<(), SkipReason> {
        let last = self.locals.pop();
        let last = last.ok_or_else(|| SkipReason::malformed(self.offset))?;
        self.slots = self.slots.saturating_sub(last.slots());
        self.uninitialized_this -= usize::from(last == VerificationType::UninitializedThis);
        Ok(())
    }

    /// Reads the next frame and updates [`Self::locals`].
    pub fn next(&mut self) -> Result<Option<Frame<'a>>, SkipReason> {
        let frame = match self.frames.next() {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Err(error.into()),
            None => return Ok(None),
        };
        match frame.shape {
            Shape::Same | Shape::SameStack(_) => {}
            Shape::Chop(count) => {
                for _ in 0..count {
                    self.remove()?;
                }
            }
            Shape::Append(types) => {
                for verified in types.iter() {
                    self.add(verified)?;
                }
            }
            Shape::Full { locals, .. } => {
                self.locals.clear();
                (self.slots, self.uninitialized_this) = (0, 0);
                for verified in locals.iter() {
                    self.add(verified)?;
                }
            }
        }
        Ok(Some(frame))
    }
}

/// The locals at a method's entry.
pub fn entry_locals(
    parameters: &[Parameter<'_>],
    constructor: bool,
) -> impl Iterator<Item = VerificationType> {
    parameters
        .iter()
        .map(move |parameter| match parameter.index {
            0 if constructor => VerificationType::UninitializedThis,
            _ => parameter.verified,
        })
}

/// The frame at the start of a handler.
#[derive(Debug)]
pub struct HandlerFrame {
    pub handler: usize,
    pub locals: Vec<VerificationType>,
    /// The class constant of the exception's type.
    pub exception: u16,
}

/// The most types that are kept for handlers and islands in one method. Methods that compilers make
/// have some hundred; more is an attempt at exhausting memory.
pub const MAX_KEPT: usize = 1 << 20;

/// The result of [`survey`].
#[derive(Debug, Default)]
pub struct Survey {
    /// The frames at the handlers.
    pub at_handlers: Vec<HandlerFrame>,
    /// Where the first and the last frame are.
    pub ends: Option<(usize, usize)>,
}

impl Survey {
    /// The frame at a handler; `None` if the method has no frames.
    pub fn at_handler(
        &self,
        code: &Code<'_>,
        handler: usize,
        framed: bool,
    ) -> Result<Option<&HandlerFrame>, SkipReason> {
        let frames = &self.at_handlers;
        let at = frames.binary_search_by_key(&handler, |frame| frame.handler);
        match at.ok().and_then(|at| frames.get(at)) {
            None if framed => Err(SkipReason::malformed(code.bytecode_offset + handler)),
            frame => Ok(frame),
        }
    }
}

/// Goes through all frames. Parameters that a frame leaves out, or gives another type, get
/// [`Place::Lost`]; the caller finds them a better place. The `handlers` must be sorted.
pub fn survey(
    walker: &mut Walker<'_>,
    pool: &ConstantPool<'_>,
    parameters: &mut [Parameter<'_>],
    init_calls: Option<&InitCalls>,
    handlers: &[usize],
) -> Result<Survey, SkipReason> {
    let mut found = Survey::default();
    let mut size = 0usize;
    while let Some(frame) = walker.next()? {
        let first = found.ends.map_or(frame.offset, |(first, _)| first);
        found.ends = Some((first, frame.offset));
        let before = init_calls.is_some_and(|calls| calls.is_before(frame.offset));
        if before != (walker.uninitialized_this > 0) {
            return Err(SkipReason::ConstructorShape);
        }
        // Only frames that shorten or replace the list can affect parameters. In a constructor,
        // `this` changes at the call as well, so the first frame after the call is a full one.
        if matches!(frame.shape, Shape::Chop(_) | Shape::Full { .. }) {
            check_parameters(&walker.locals, pool, parameters, before);
        }
        if !handlers.is_empty() && handlers.binary_search(&frame.offset).is_ok() {
            let exception = match frame.shape {
                Shape::SameStack(VerificationType::Object(class)) => class,
                Shape::Full { stack, .. } => match (stack.iter().next(), stack.len()) {
                    (Some(VerificationType::Object(class)), 1) => class,
                    _ => return Err(SkipReason::MALFORMED),
                },
                _ => return Err(SkipReason::MALFORMED),
            };
            size += walker.locals.len();
            if size > MAX_KEPT {
                return Err(SkipReason::TooLarge);
            }
            let locals = walker.locals.clone();
            found.at_handlers.push(HandlerFrame {
                handler: frame.offset,
                locals,
                exception,
            });
        }
    }
    Ok(found)
}

fn check_parameters(
    locals: &[VerificationType],
    pool: &ConstantPool<'_>,
    parameters: &mut [Parameter<'_>],
    before_init_calls: bool,
) {
    let mut slot = 0;
    let mut locals = locals.iter().copied();
    for parameter in parameters {
        let mut here = None;
        while slot <= parameter.slot {
            let Some(local) = locals.next() else { break };
            here = (slot == parameter.slot).then_some(local);
            slot += local.slots();
        }
        let expected = match parameter.index {
            0 if before_init_calls => VerificationType::UninitializedThis,
            _ => parameter.verified,
        };
        if !here.is_some_and(|here| same_type(pool, here, expected)) {
            parameter.place = Place::Lost;
        }
    }
}

/// Whether two types are the same; a pool may have two constants for one class.
fn same_type(pool: &ConstantPool<'_>, a: VerificationType, b: VerificationType) -> bool {
    match (a, b) {
        (VerificationType::Object(a), VerificationType::Object(b)) => {
            // A constant that was added is not in the old pool, and equals no old constant.
            a == b || matches!((pool.class(a), pool.class(b)), (Ok(a), Ok(b)) if a == b)
        }
        _ => a == b,
    }
}
