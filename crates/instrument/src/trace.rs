//! Instrumenting a class for traces.
//!
//! ```text
//! entry      enter(arguments, method)
//! body       returns: exit(value, method) before them
//!            writes, reads: put, store, get, load .. after them
//!            the call of another constructor: bind(this, method) after it
//!            handlers: caught(exception, method)
//! references to methods that write unseen: to their stand-ins
//! handler    of everything that leaves the body: unwind(exception, method),
//!            rethrow
//! ```
//!
//! An event records what has happened, so the probes of writes and reads come after the
//! instruction, and its operands are kept on the stack for them: a write that throws is not an
//! event. Calls and returns are recorded before, since there is no place after them. Code is
//! inserted in straight lines, without frames and without exception-table entries, except in
//! handlers.
//!
//! - `plan` says what is to be traced, and what was instrumented.
//! - `method` makes the new body of one method; `probes` holds the constants and ids that the
//!   fragments of a class share.
//! - `calls` makes the events of entries, returns, constructor calls and exceptions; `handlers`
//!   picks the handlers that record what they catch; `early` finds what a constructor does to
//!   `this` before it calls another constructor.
//! - `memory` makes the events of writes and reads, `bulk` those of calls that write unseen,
//!   `handles` those of calls that make variable handles and field updaters; `references` turns
//!   method references to stand-ins.
//! - `blocks` finds basic blocks; `secrets` finds parameters that hold secrets.

mod blocks;
pub(crate) mod bulk;
mod calls;
pub(crate) mod early;
mod handlers;
mod handles;
pub(crate) mod memory;
mod method;
mod plan;
pub(crate) mod probes;
mod references;
mod secrets;

use std::mem;

use hindsight_classfile::{ClassFile, Code, access};

pub use self::plan::{MethodBlocks, TracePlan, Traced, What};
use crate::asm::Constants;
use crate::records::{Kept, Named};
use crate::throwing::Own;
use crate::{Error, MemberNames, Methods, SkipReason, SkippedMethods, Workspace, run};
use method::{NewBody, Order, instrument};
use probes::Probes;

/// Makes the methods of a class record what they do; see [`Workspace::trace`], which is quicker for
/// many classes.
pub fn trace(class: &[u8], plan: &TracePlan<'_>) -> Result<Traced, Error> {
    Workspace::default().trace(class, plan)
}

impl Workspace {
    /// Makes the methods of a class record what they do.
    ///
    /// The class is left alone if it refers to the probes of traces already, if it is a module's
    /// description instead of a class, and if no method of it has anything to record. Fails only if
    /// the file breaks the format.
    pub fn trace(&mut self, class: &[u8], plan: &TracePlan<'_>) -> Result<Traced, Error> {
        let len = class.len();
        let class = ClassFile::parse(class)?;
        let name = class.name()?;
        let mut traced = Traced {
            class: None,
            class_name: name.to_string_lossy().into_owned(),
            methods: Methods::default(),
            layouts: Vec::new(),
            reduced: SkippedMethods::default(),
            skipped: SkippedMethods::default(),
            fields: MemberNames::default(),
            callees: MemberNames::default(),
            blocks: Vec::new(),
            had_probes: false,
        };
        if class.is(access::MODULE) {
            return Ok(traced);
        }
        if let Err(skipped) = self.begin(&class, len) {
            traced.skipped = skipped;
            return Ok(traced);
        }
        let own = Own::new(&class, name);
        let (added, spare) = (mem::take(&mut self.added), mem::take(&mut self.spare));
        let mut constants = Constants::reusing(plan.tracer, &class.pool, added, spare);
        let stamp = run::name(&class, &mut constants.added);
        let (first_field, first_callee) = (plan.first_field, plan.first_callee);
        let mut probes = Probes::new(constants, first_field, first_callee, plan.is_secret);
        let mut new = NewBody {
            scan: mem::take(&mut probes.constants.spare.scan),
            pieces: mem::take(&mut probes.constants.spare.pieces),
            first_block: plan.first_block,
            ..NewBody::default()
        };
        let mut blocks = Vec::new();
        let mut tells_writes = false;
        if probes.constants.is_instrumented() {
            // A class that has probes is not instrumented again.
            traced.had_probes = true;
        } else if self.each_body(&own, |space, named, code| {
            let told = space.traced_body(&own, named, code, plan, &mut probes, &mut new)?;
            tells_writes |= told && (plan.what)(named.name, named.descriptor).writes;
            if told && !new.blocks.is_empty() {
                let method = MethodBlocks {
                    // The id of the method that was recorded last.
                    method: plan.first_method + space.recorder.methods() as u32 - 1,
                    first: new.first_block,
                    starts: blocks::with_lines(&class, code, &new.blocks),
                };
                new.first_block += method.starts.len() as u32;
                blocks.push(method);
            }
            Ok(told)
        }) && self.can_be_told(stamp)
        {
            (traced.methods, traced.skipped) = self.recorder.records();
            traced.reduced = self.recorder.reduced();
            traced.layouts = self.layouts.as_mut().map(mem::take).unwrap_or_default();
            if let Some(stamp) = stamp.filter(|_| !traced.methods.is_empty()) {
                // If there is no room for more constants, the references stay as they are.
                let turned = match tells_writes {
                    true => references::turn(&class, len, &mut probes.constants),
                    false => Ok(Vec::new()),
                };
                let new = self.assemble(&own, &probes.constants, stamp, |new| {
                    for one in turned.iter().flatten() {
                        one.apply(new);
                    }
                });
                traced.class = Some(new);
                traced.fields = MemberNames::new(probes.fields(), plan.first_field);
                traced.callees = MemberNames::new(probes.callees(), plan.first_callee);
                traced.blocks = blocks;
            }
        } else {
            traced.skipped = self.all_left(&class, SkipReason::ConstantPoolFull);
        }
        let mut constants = probes.into_constants();
        constants.spare.scan = new.scan;
        constants.spare.pieces = new.pieces;
        (self.added, self.spare) = (constants.added, constants.spare);
        Ok(traced)
    }

    /// Instruments a method, if it has anything to record, and keeps a record of what was done.
    fn traced_body<'a>(
        &mut self,
        own: &Own<'_, 'a>,
        named: &Named<'_, 'a>,
        code: &Code<'a>,
        plan: &TracePlan<'_>,
        probes: &mut Probes<'_, 'a>,
        new: &mut NewBody<'a>,
    ) -> Result<bool, SkipReason> {
        let made = u32::try_from(self.recorder.methods()).map_err(|_| SkipReason::TooLarge)?;
        let mut order = Order {
            id: plan
                .first_method
                .checked_add(made)
                .ok_or(SkipReason::TooLarge)?,
            what: (plan.what)(named.name, named.descriptor),
            layout: self.layouts.is_some(),
        };
        let (method, out) = (named.method, &mut self.bodies);
        let start = out.len();
        let told = match instrument(own, method, code, &order, probes, new, out) {
            Err(reason @ (SkipReason::TooLarge | SkipReason::TooManyLocals))
                if order.what.calls && order.what != order.what.calls_only() =>
            {
                order.what = order.what.calls_only();
                out.truncate(start);
                let told = instrument(own, method, code, &order, probes, new, out)?;
                self.recorder.reduce(named, reason);
                told
            }
            told => told?,
        };
        if told {
            if let Some(layouts) = &mut self.layouts {
                layouts.push(mem::take(&mut new.layout));
            }
            let kept = Kept {
                parameters: &new.parameters,
                fields: &[],
                position: None,
                handed: Some(&new.handed),
            };
            self.recorder.method(own, named, code, order.id, &kept);
        }
        Ok(told)
    }
}
