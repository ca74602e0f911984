//! The fields behind the ids in probes.

use crate::jni::{Jni, Obj};
use crate::jvmti::Jvmti;
use hindsight_classfile::access;
use hindsight_instrument::{MemberName, MemberNames};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};

/// All fields, append-only.
#[derive(Default)]
pub(crate) struct Fields {
    list: RwLock<Vec<MemberName>>,
    /// Held while a class is instrumented, so that its ids are consecutive.
    turn: Mutex<()>,
    /// Fields that are written by calls in place of instructions, by owner, name and descriptor.
    /// Their ids say which are meant, not where they are.
    around: Mutex<HashMap<[String; 3], u32>>,
}

/// Ids are an `int` for Java.
const MAX_FIELDS: usize = i32::MAX as usize;

impl Fields {
    /// Has a class instrumented whose first field gets the id that is handed over, and stores the
    /// fields that got ids. Each class of each loader gets ids of its own, because the same name
    /// may mean fields at different places. `None` if there are no more ids.
    pub(crate) fn number<T>(&self, instrument: impl FnOnce(u32) -> (T, MemberNames)) -> Option<T> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.list.read().ok()?.len();
        if first >= MAX_FIELDS - usize::from(u16::MAX) {
            return None;
        }
        let (done, fields) = instrument(first as u32);
        self.list.write().ok()?.extend(fields.iter());
        Some(done)
    }

    /// The id of a field that is written by a call in place of an instruction.
    fn around(&self, name: [String; 3]) -> Option<u32> {
        let mut known = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = known.get(&name) {
            return Some(id);
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = self.list.write().ok()?;
        let id = u32::try_from(list.len()).ok()?;
        if list.len() >= MAX_FIELDS {
            return None;
        }
        let [owner, field, descriptor] = name.clone();
        list.push(MemberName {
            id,
            owner,
            name: field,
            descriptor,
        });
        known.insert(name, id);
        Some(id)
    }

    /// The ids of all fields of an object, those of its class first; `None` if some are not
    /// available.
    pub(crate) fn of(&self, jni: Jni, jvmti: Jvmti, object: Obj) -> Option<Vec<u32>> {
        let mut ids = Vec::new();
        let mut class = Some(jni.class_of(object));
        while let Some(at) = class {
            let signature = jvmti.class_signature(at)?;
            let owner = signature.strip_prefix('L')?.strip_suffix(';')?;
            for field in jvmti.class_fields(at) {
                let (name, descriptor, flags) = jvmti.field(at, field)?;
                if flags & access::STATIC == 0 {
                    ids.push(self.around([owner.to_owned(), name, descriptor])?);
                }
            }
            class = jni.superclass(at);
        }
        Some(ids)
    }

    /// The field of this id.
    pub(crate) fn get(&self, id: u32) -> Option<MemberName> {
        self.list.read().ok()?.get(id as usize).cloned()
    }
}

/// The `java.lang.reflect.Field` of a field of an object, as code refers to it; if there is none,
/// an error may be pending.
pub(crate) fn reflected(jni: Jni, jvmti: Jvmti, object: Obj, field: &MemberName) -> Option<Obj> {
    let owner = format!("L{};", field.owner);
    let (mut class, mut found) = (Some(jni.class_of(object)), None);
    while let Some(at) = class {
        if jvmti.class_signature(at).as_deref() == Some(&owner) {
            // With several loaders, two may have one name: then it is not known which is meant, and
            // the wrong place must never be read.
            if found.is_some() {
                return None;
            }
            found = Some(at);
        }
        class = jni.superclass(at);
    }
    // JNI would find it by its name, but initialise the class first, and the thread that is already
    // doing so may be waiting for this one.
    let is_it = |class, id| {
        jvmti
            .field(class, id)
            .is_some_and(|(name, descriptor, flags)| {
                name == field.name && descriptor == field.descriptor && flags & access::STATIC == 0
            })
    };
    // Code may name a class that inherits it.
    let mut class = found?;
    loop {
        let mut fields = jvmti.class_fields(class).into_iter();
        if let Some(id) = fields.find(|id| is_it(class, *id)) {
            return jni.reflected(class, id);
        }
        class = jni.superclass(class)?;
    }
}
