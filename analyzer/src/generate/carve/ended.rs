//! Calls that end.

use super::lambdas::Begun;
use super::seen::{End, Seen, Value};
use super::{MANY, MAX_HISTORY, MAX_OF_MANY, Open, Recorder};
use crate::java::descriptor;
use hindsight_tracelog::trace::{Datum, ObjectId};
use std::rc::Rc;

impl Recorder<'_> {
    pub(super) fn leave(
        &mut self,
        thread: u64,
        method: u32,
        value: Option<Option<Datum>>,
        exception: Option<ObjectId>,
    ) {
        let Some(frames) = self.threads.get_mut(&thread) else {
            return;
        };
        let Some(at) = frames.iter().rposition(|frame| frame.method == method) else {
            return;
        };
        frames.truncate(at + 1);
        let Some(frame) = frames.pop() else { return };
        let depth = frames.len();
        if let Some(body) = frame.body {
            self.body_ended(body, method, value, exception);
            return;
        }
        let Some(Open {
            method,
            on,
            constant,
            args,
            entered,
            before,
            mut parts,
        }) = frame.call
        else {
            return;
        };
        let (_, result) = method.types();
        let end = self.end(value, exception, &result);
        let mut made = on.filter(|_| method.is_constructor());
        // An object that a constructor has failed to make has no life, so the call stands for
        // itself.
        let failed = made.filter(|_| matches!(end, End::Threw(_)));
        if let Some(serial) = failed {
            made = None;
            parts.retain(|part| part.0 != serial);
        }
        if let End::Returned(Some(Value::Object(serial))) = end
            && let Some(object) = self.objects.get(&serial)
            // What has made it is within this call, or is nothing that a test may call.
            && (object.history.first())
                .is_none_or(|first| first.made != Some(serial) || first.entered > entered)
            && !parts.iter().any(|part| part.0 == serial)
        {
            made = Some(serial);
            parts.push((serial, 0));
        }
        let given = match end {
            End::Returned(Some(Value::Object(serial))) => Some(serial),
            _ => None,
        };
        let given = given.filter(|serial| !parts.iter().any(|part| part.0 == *serial));
        let is_constructor = method.is_constructor();
        let seen = Rc::new(Seen {
            on: on.filter(|_| !is_constructor),
            constant,
            method,
            args,
            before,
            made,
            end,
            thread,
            depth,
            entered,
            left: self.now,
        });
        if seen.method.is_static {
            self.left.ended(&seen);
        }
        if let Some(object) = given.and_then(|serial| self.objects.get_mut(&serial))
            && object
                .given
                .as_ref()
                .is_none_or(|known| depth < known.depth)
        {
            object.given = Some(seen.clone());
        }
        // A call in which no object of the program took part is not in the life of one.
        let own = |serial: &u64| {
            let object = self.objects.get(serial);
            let class = object.and_then(|object| self.dictionary.class(object.class));
            class.is_some_and(|class| self.access.is_own(class))
        };
        if (seen.method.is_static || seen.constant.is_some() || failed.is_some())
            && !parts.iter().any(|(serial, _)| own(serial))
        {
            let key = (
                seen.method.class.clone(),
                format!("{}{}", seen.method.name, seen.method.descriptor),
            );
            self.statics.entry(key).or_default().take(&seen);
        }
        for (serial, length) in parts {
            if let Some(object) = self.objects.get_mut(&serial) {
                object.history.truncate(length);
                object.cut = object.cut.filter(|cut| *cut < entered);
                let most = if self.kept < MANY {
                    MAX_HISTORY
                } else {
                    MAX_OF_MANY
                };
                if object.history.len() < most && object.cut.is_none() {
                    object.history.push(seen.clone());
                    self.kept += 1;
                } else {
                    object.cut.get_or_insert(entered);
                }
            }
        }
    }

    fn body_ended(
        &mut self,
        body: Begun,
        method: u32,
        value: Option<Option<Datum>>,
        exception: Option<ObjectId>,
    ) {
        let dictionary = self.dictionary;
        let Some((class, declared)) = dictionary.method(method) else {
            return;
        };
        let result = descriptor::split(&declared.descriptor).map_or("", |(_, result)| result);
        let end = self.end(value, exception, result);
        let named = (class.name.as_str(), declared.descriptor.as_str());
        let thrown = exception.and_then(|id| self.thrown(id));
        self.lambdas
            .ended(body, method, named, value.flatten(), (end, thrown));
    }

    /// The end of a call with this result type.
    fn end(
        &mut self,
        value: Option<Option<Datum>>,
        exception: Option<ObjectId>,
        result: &str,
    ) -> End {
        match value {
            Some(value) => End::Returned(value.map(|value| self.value(value, result))),
            None => {
                let class = exception.and_then(|id| self.dictionary.class(id.class()));
                End::Threw(class.unwrap_or_default().to_owned())
            }
        }
    }
}
