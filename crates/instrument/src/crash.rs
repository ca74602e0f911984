//! Instrumenting a class for crashes.

use std::mem;

use hindsight_classfile::{ClassFile, Code, Member, PoolBuilder, access};

use crate::asm::{Constants, MAX_SPARE_LEN, Spare};
use crate::attributes::Kind;
use crate::contract::{PROBE, WRITES};
use crate::limits::{check_compiled, most_new};
use crate::method::{NewBody, Order, instrument};
use crate::quiet::{Calls, accessors};
use crate::records::{Kept, Named, Recorder};
use crate::throwing::Own;
use crate::writes::Writes;
use crate::{
    Copy, CrashPlan, Effects, Error, Layout, MemberNames, Methods, Others, Rewritten, Rules,
    SkipReason, SkippedMethods, UndoPlan, run,
};

/// Memory for instrumenting, used again from class to class.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) added: PoolBuilder,
    pub(crate) spare: Spare,
    pub(crate) recorder: Recorder,
    /// The new bodies of a class, one after the other.
    pub(crate) bodies: Vec<u8>,
    /// The number of bytes of new bodies after which methods are left as they are.
    most: usize,
    /// For each method, where its new body ends; `None` if it keeps the old one.
    ends: Vec<Option<usize>>,
    /// Where the inserted code of each method stands, if that is asked for.
    pub(crate) layouts: Option<Vec<Layout>>,
    /// The run to which the numbers in the probes belong.
    run: u64,
}

/// Whether a method is chosen, by name and descriptor.
type Chosen<'p> = dyn Fn(&str, &str) -> bool + 'p;

/// What the methods of a class get.
#[derive(Clone, Copy)]
struct Wish<'p> {
    plan: &'p CrashPlan<'p>,
    /// Whether the methods hand over their frames.
    frames: bool,
    /// Whether handlers report what they catch. The handlers of methods that hand over their frames
    /// always do.
    catches: bool,
    /// The id of the first field that is written and what is known of other classes, if writes are
    /// logged.
    writes: Option<(u32, &'p Others<'p>)>,
    /// The methods that hand over their frames, by name and descriptor; `None` for all.
    chosen: Option<&'p Chosen<'p>>,
}

/// Makes the methods of a class hand over their arguments when an exception
/// leaves them; see [`Workspace::crash`], which is quicker for many classes.
pub fn crash(class: &[u8], plan: &CrashPlan<'_>) -> Result<Rewritten, Error> {
    Workspace::default().crash(class, plan)
}

/// Makes the handlers of a class report what they catch; see [`Workspace::catches`].
pub fn catches(class: &[u8], first_id: u32) -> Result<Rewritten, Error> {
    Workspace::default().catches(class, first_id)
}

impl Workspace {
    /// A workspace that also records where inserted code stands.
    pub fn with_layouts() -> Self {
        Self {
            layouts: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// A workspace whose classes say that the numbers in their probes are those of this run
    /// ([`run_of`](crate::run_of)). Other workspaces say run 0, which no recorder has.
    pub fn of_run(run: u64) -> Self {
        Self {
            run,
            ..Self::default()
        }
    }

    /// Makes the methods of a class hand over their arguments when an exception leaves them.
    ///
    /// The class is left alone if it refers to the probes already, if it is a module's description
    /// instead of a class, and if no method of it needs anything. Fails only if the file breaks the
    /// format.
    pub fn crash(&mut self, class: &[u8], plan: &CrashPlan<'_>) -> Result<Rewritten, Error> {
        let wish = Wish {
            plan,
            frames: true,
            catches: true,
            writes: None,
            chosen: None,
        };
        self.rewrite(class, wish)
    }

    /// Like [`Self::crash`], for some methods of a class, chosen by name and descriptor. With
    /// `catches`, the handlers of the other methods report what they catch, since exceptions of the
    /// chosen ones may end there; these methods get ids, too.
    ///
    /// The class is left alone if none of its methods is chosen.
    pub fn crash_in_some(
        &mut self,
        class: &[u8],
        plan: &CrashPlan<'_>,
        chosen: &Chosen<'_>,
        catches: bool,
    ) -> Result<Rewritten, Error> {
        let wish = Wish {
            plan,
            frames: true,
            catches,
            writes: None,
            chosen: Some(chosen),
        };
        self.rewrite(class, wish)
    }

    /// Makes the writes of a class such that they can be undone, and its methods hand over their
    /// arguments if the plan says so.
    ///
    /// Otherwise like [`Self::crash`].
    pub fn undoable(&mut self, class: &[u8], plan: &UndoPlan<'_>) -> Result<Rewritten, Error> {
        let aside = aside(plan.first_id);
        let wish = Wish {
            plan: plan.crash.unwrap_or(&aside),
            frames: plan.crash.is_some(),
            catches: plan.catches || plan.crash.is_some(),
            writes: Some((plan.first_field, plan.quiet)),
            chosen: None,
        };
        self.rewrite(class, wish)
    }

    /// Makes the handlers of a class report what they catch, and does nothing else to it: for code
    /// that catches the exceptions of instrumented methods, but whose own frames are not to be
    /// recorded.
    ///
    /// The methods are numbered from `first_id` on. Otherwise like [`Self::crash`].
    pub fn catches(&mut self, class: &[u8], first_id: u32) -> Result<Rewritten, Error> {
        let wish = Wish {
            plan: &aside(first_id),
            frames: false,
            catches: true,
            writes: None,
            chosen: None,
        };
        self.rewrite(class, wish)
    }

    fn rewrite(&mut self, class: &[u8], wish: Wish<'_>) -> Result<Rewritten, Error> {
        let len = class.len();
        let class = ClassFile::parse(class)?;
        let name = class.name()?;
        let mut rewritten = Rewritten {
            class: None,
            class_name: name.to_string_lossy().into_owned(),
            methods: Methods::default(),
            layouts: Vec::new(),
            skipped: SkippedMethods::default(),
            fields: MemberNames::default(),
            reduced: SkippedMethods::default(),
            quiet: Vec::new(),
            had_probes: false,
        };
        if class.is(access::MODULE) {
            return Ok(rewritten);
        }
        if let Some(chosen) = wish.chosen
            && !(class.methods.iter()).any(|method| {
                chosen(
                    &method.name.to_string_lossy(),
                    &method.descriptor.to_string_lossy(),
                )
            })
        {
            return Ok(rewritten);
        }
        if let Err(skipped) = self.begin(&class, len) {
            rewritten.skipped = skipped;
            return Ok(rewritten);
        }
        let mut own = Own::new(&class, name);
        own.calls = wish.writes.map(|(_, others)| Calls::new(others));
        let (added, spare) = (mem::take(&mut self.added), mem::take(&mut self.spare));
        let mut constants = Constants::reusing(PROBE, &class.pool, added, spare);
        let stamp = run::name(&class, &mut constants.added);
        let mut new = NewBody {
            scan: mem::take(&mut constants.spare.scan),
            pieces: mem::take(&mut constants.spare.pieces),
            ..NewBody::default()
        };
        let mut writes = wish.writes.map(|(first_field, _)| Writes::new(first_field));
        if constants.is_instrumented() || constants.refers_to(WRITES) {
            // A class that has probes is not instrumented again.
            rewritten.had_probes = true;
        } else if self.each_body(&own, |space, named, code| {
            let done = space.one(
                &own,
                named,
                code,
                wish,
                &mut constants,
                &mut writes,
                &mut new,
            );
            done.map(|()| true)
        }) && self.can_be_told(stamp)
        {
            (rewritten.methods, rewritten.skipped) = self.recorder.records();
            rewritten.reduced = self.recorder.reduced();
            if let Some((writes, (first_field, _))) = writes.as_ref().zip(wish.writes) {
                let fields = writes.fields.list.iter().map(|&(field, _)| field);
                rewritten.fields = MemberNames::new(fields, first_field);
                rewritten.quiet = accessors(&own);
            }
            rewritten.layouts = self.layouts.as_mut().map(mem::take).unwrap_or_default();
            if let Some(stamp) = stamp.filter(|_| !rewritten.methods.is_empty()) {
                rewritten.class = Some(self.assemble(&own, &constants, stamp, |_| ()));
            }
        } else {
            rewritten.skipped = self.all_left(&class, SkipReason::ConstantPoolFull);
        }
        constants.spare.scan = new.scan;
        constants.spare.pieces = new.pieces;
        (self.added, self.spare) = (constants.added, constants.spare);
        Ok(rewritten)
    }

    fn clear(&mut self) {
        self.spare.trim();
        self.recorder.clear();
        if let Some(layouts) = &mut self.layouts {
            layouts.clear();
        }
        self.ends.clear();
        self.bodies.clear();
        self.bodies.shrink_to(MAX_SPARE_LEN);
    }

    /// Prepares for a class of `len` bytes. Fails, and with it all methods of the class, if code of
    /// its version cannot be read.
    pub(crate) fn begin(
        &mut self,
        class: &ClassFile<'_>,
        len: usize,
    ) -> Result<(), SkippedMethods> {
        self.clear();
        self.most = most_new(len);
        if (class.major, class.minor) < (45, 3) {
            return Err(self.all_left(class, SkipReason::OldCode));
        }
        Ok(())
    }

    /// Calls `instrument` for each body; it appends the new body to [`Self::bodies`] and returns
    /// whether there is one. Returns whether the constants suffice.
    pub(crate) fn each_body<'a>(
        &mut self,
        own: &Own<'_, 'a>,
        mut instrument: impl FnMut(&mut Self, &Named<'_, 'a>, &Code<'a>) -> Result<bool, SkipReason>,
    ) -> bool {
        for method in &own.class.methods {
            let start = self.bodies.len();
            let Some(code) = own.find(&method.attributes, Kind::Code) else {
                self.ends.push(None);
                continue;
            };
            let named = Named {
                method,
                name: &method.name.to_string_lossy(),
                descriptor: &method.descriptor.to_string_lossy(),
            };
            let done = match Code::parse(&code) {
                _ if start > self.most => Err(SkipReason::TooLarge),
                Ok(code) => instrument(self, &named, &code)
                    .map_err(|reason| reason.within(code.bytecode_offset)),
                Err(error) => Err(error.into()),
            };
            match done {
                Ok(true) => self.ends.push(Some(self.bodies.len())),
                Err(SkipReason::ConstantPoolFull) => return false,
                left => {
                    if let Err(reason) = left {
                        self.recorder.skip(&named, reason);
                    }
                    self.bodies.truncate(start);
                    self.ends.push(None);
                }
            }
        }
        true
    }

    /// Instruments a method and records what was done.
    #[expect(
        clippy::too_many_arguments,
        reason = "one method of a class, with all it shares"
    )]
    fn one<'a>(
        &mut self,
        own: &Own<'_, 'a>,
        named: &Named<'_, 'a>,
        code: &Code<'a>,
        wish: Wish<'a>,
        constants: &mut Constants<'_, 'a>,
        writes: &mut Option<Writes<'a>>,
        new: &mut NewBody<'a>,
    ) -> Result<(), SkipReason> {
        use SkipReason::{NotCompiled, TooLarge, TooManyLocals};
        let made = u32::try_from(self.recorder.methods()).map_err(|_| TooLarge)?;
        let Wish {
            plan,
            frames,
            catches,
            chosen,
            ..
        } = wish;
        let (frames, catches) = match chosen {
            Some(chosen) if frames => {
                let chosen = chosen(named.name, named.descriptor);
                (chosen, chosen || catches)
            }
            _ => (frames, catches),
        };
        let mut order = Order {
            id: plan.first_id.checked_add(made).ok_or(TooLarge)?,
            rules: (plan.rules)(named.name, named.descriptor),
            copy: plan.copy,
            max_fields: match plan.copy {
                Copy::Reference => 0,
                _ => plan.max_fields,
            },
            frames,
            catches,
            position: frames && writes.is_some(),
            layout: self.layouts.is_some(),
            known: Effects::of(plan.known, named.name, named.descriptor),
        };
        let (method, out) = (named.method, &mut self.bodies);
        let start = out.len();
        let mut logged = writes.as_mut();
        let mut reduced = None;
        // A method that a rule names is instrumented at any cost in run time.
        let is_named = order.rules != Rules::default();
        loop {
            let writes = logged.as_deref_mut();
            let done = instrument(own, method, code, &order, constants, writes, new, out);
            // Without logging these writes, frames would be wrong without anybody knowing.
            let is_needed = is_named || logged.is_some() && order.max_fields == 0;
            let done = done.and_then(|()| match is_needed {
                true => Ok(()),
                false => check_compiled(named.name, code, code_len(&out[start..])),
            });
            match done {
                Err(TooLarge | TooManyLocals | NotCompiled) if order.max_fields > 0 => {
                    // Without the fields, the code may fit.
                    order.max_fields = 0;
                }
                Err(reason @ (TooLarge | TooManyLocals))
                    if logged.is_some() && (frames || catches) =>
                {
                    reduced = Some(reason);
                    logged = None;
                    order.max_fields = plan.max_fields;
                }
                Err(SkipReason::OnlyConstructorCall) if logged.is_some() && order.frames => {
                    order.frames = false;
                }
                // Nor was there a write to be logged, or a handler to report.
                Err(SkipReason::CatchesNothing) if frames => {
                    return Err(SkipReason::OnlyConstructorCall);
                }
                done => break done?,
            }
            out.truncate(start);
        }
        if let Some(reason) = reduced {
            self.recorder.reduce(named, reason);
        }
        if let Some(layouts) = &mut self.layouts {
            layouts.push(mem::take(&mut new.layout));
        }
        let kept = Kept {
            parameters: &new.parameters,
            fields: &new.fields,
            position: new.position,
            handed: None,
        };
        self.recorder.method(own, named, code, order.id, &kept);
        Ok(())
    }

    /// Whether a class with probes can say to which run they belong. True if it has no probes.
    pub(crate) fn can_be_told(&self, stamp: Option<u16>) -> bool {
        stamp.is_some() || self.recorder.methods() == 0
    }

    /// Writes the class with its new bodies, and applies `change` to it before the `stamp` is
    /// appended.
    pub(crate) fn assemble(
        &self,
        own: &Own<'_, '_>,
        constants: &Constants<'_, '_>,
        stamp: u16,
        change: impl FnOnce(&mut Vec<u8>),
    ) -> Vec<u8> {
        let mut start = 0;
        let mut new = own.class.assemble(&constants.added, |place, method, out| {
            match self.ends.get(place) {
                Some(&Some(end)) => {
                    let body = self.bodies.get(start..end).unwrap_or(&[]);
                    write_method(own, method, body, out);
                    start = end;
                }
                _ => method.write(out),
            }
        });
        change(&mut new);
        run::stamp(own.class, self.run, stamp, &mut new);
        new
    }

    /// The records of a class in which no method can be instrumented.
    pub(crate) fn all_left(&mut self, class: &ClassFile<'_>, reason: SkipReason) -> SkippedMethods {
        self.recorder.clear();
        for method in &class.methods {
            if method.attributes.find(&class.pool, "Code").is_some() {
                let named = Named {
                    method,
                    name: &method.name.to_string_lossy(),
                    descriptor: &method.descriptor.to_string_lossy(),
                };
                self.recorder.skip(&named, reason);
            }
        }
        self.recorder.records().1
    }
}

/// The number of bytes of code in a body, given the content of its `Code` attribute (JVMS 4.7.3).
fn code_len(body: &[u8]) -> usize {
    match body {
        [_, _, _, _, len @ ..] if len.len() >= 4 => {
            u32::from_be_bytes([len[0], len[1], len[2], len[3]]) as usize
        }
        _ => 0,
    }
}

/// The plan for methods that hand over nothing.
fn aside(first_id: u32) -> CrashPlan<'static> {
    CrashPlan {
        copy: Copy::Reference,
        max_fields: 0,
        first_id,
        rules: &|_, _| Rules::default(),
        known: &[],
    }
}

/// Writes a method with a new body.
pub fn write_method<'a>(own: &Own<'_, 'a>, method: &Member<'a>, code: &[u8], out: &mut Vec<u8>) {
    method.write_head(out);
    out.extend_from_slice(&method.attributes.len().to_be_bytes());
    let mut done = false;
    for attribute in method.attributes.iter() {
        let is_code = !done && own.kind(&attribute) == Ok(Kind::Code);
        if is_code {
            done = true;
            out.extend_from_slice(&attribute.name_index.to_be_bytes());
            // Stack maps and code are bounded far below 4 GB.
            out.extend((code.len() as u32).to_be_bytes());
            out.extend_from_slice(code);
        } else {
            attribute.write(out);
        }
    }
}
