//! The frames that the current thread is in: as the JDK gives them, with their local variables, and
//! as the JVM does, which knows for each whether its method has been replaced by another version.

use super::{API, Shim, is_probe};
use crate::earlier;
use crate::jni::{Jni, Obj};
use crate::jvmti::Jvmti;
use crate::snapshot::classes::{MethodName, method_name};
use hindsight_tracelog::crash::StackElement;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// The most frames for which the JVM is asked: those that `HindsightLive` reads, and those in
/// between that the JDK hides.
const MAX_FRAMES: usize = 4_096;

/// The frames that the current thread is in, innermost first.
#[derive(Default)]
pub(crate) struct LiveFrames {
    pub(crate) frames: Vec<Live>,
    /// Whether there are more frames further out.
    pub(crate) is_cut: bool,
    /// The value of [`earlier::changes`] before the frames were read.
    pub(crate) changes: Option<u64>,
}

/// One such frame.
pub(crate) struct Live {
    /// Its place, without the file.
    pub(crate) element: StackElement,
    pub(crate) descriptor: String,
    /// Whether it runs a version of its method from before the probes.
    pub(crate) is_old: bool,
    references: Obj,
    words: Vec<i64>,
}

impl Live {
    /// Whether there is such a local variable.
    pub(crate) fn has(&self, slot: u16) -> bool {
        usize::from(slot) < self.words.len()
    }

    /// The value in a local variable, as the probes keep it: a reference or a word.
    pub(crate) fn local(&self, jni: Jni, slot: u16, descriptor: &str) -> Result<i64, Option<Obj>> {
        let slot = usize::from(slot);
        let word = |slot: usize| self.words.get(slot).copied().unwrap_or(0);
        match descriptor.as_bytes().first() {
            Some(b'L' | b'[') => Err(jni.array_get(self.references, slot)),
            // HotSpot keeps the 64 bits in the second of the two slots.
            Some(b'J' | b'D') => Ok(word(slot + 1)),
            // The other half of the slot may be anything.
            _ => Ok(i64::from(word(slot) as i32)),
        }
    }
}

impl Shim {
    /// The frames that the current thread is in, without those of the probes. There are none if the
    /// JDK would ask a security manager before it gives them.
    pub(crate) fn live_frames(&self, jni: Jni, jvmti: Jvmti) -> LiveFrames {
        let changes = earlier::changes();
        let Some(all) = jni.call_static_object(*self.live.0, self.live.1, &[]) else {
            return LiveFrames::default();
        };
        let len = jni.array_len(all);
        let read = |frame: Obj| {
            let text = |index| jni.array_get(frame, index).map(|text| jni.string(text));
            let line = jni.ints(jni.array_get(frame, 3)?, 1);
            let words = jni.array_get(frame, 5)?;
            let live = Live {
                element: StackElement {
                    class: text(0)?,
                    method: text(1)?,
                    file: None,
                    line: *line.first()?,
                },
                descriptor: text(2)?,
                is_old: false,
                references: jni.array_get(frame, 4)?,
                words: jni.longs(words, jni.array_len(words)),
            };
            Some(live)
        };
        let is_ours = |frame: &Live| {
            let class = &frame.element.class;
            is_probe(class) || class == API
        };
        let mut frames: Vec<Live> = (0..len)
            .filter_map(|index| read(jni.array_get(all, index)?))
            .skip_while(is_ours)
            .collect();
        tell_old(&mut frames, on_stack(jni, jvmti));
        LiveFrames {
            frames,
            // A null stands for the others.
            is_cut: len > 0 && jni.array_get(all, len - 1).is_none(),
            changes,
        }
    }
}

/// The methods of the current thread's frames, innermost first, each with whether the frame runs a
/// version of it that another one has replaced.
pub(crate) fn on_stack(jni: Jni, jvmti: Jvmti) -> Vec<(Rc<MethodName>, bool)> {
    let stack = (jvmti.current_thread()).and_then(|thread| jvmti.stack(thread, MAX_FRAMES));
    let frames = stack.map_or(Vec::new(), |(_, frames)| frames);
    // Most of a deep stack is one method.
    let mut known = HashMap::new();
    let told = frames.into_iter().map(|frame| {
        let told = known.entry(frame.method).or_insert_with(|| {
            let name = method_name(jvmti, jni, frame.method).unwrap_or_default();
            (Rc::new(name), jvmti.is_obsolete(frame.method))
        });
        told.clone()
    });
    told.collect()
}

/// Marks the frames that run an old version according to the JVM. Both lists have the frames of one
/// method in the same order; a frame that the JVM has not listed may be such a one.
fn tell_old(frames: &mut [Live], on_stack: Vec<(Rc<MethodName>, bool)>) {
    if on_stack.iter().all(|(_, is_old)| !is_old) {
        return;
    }
    let mut told: HashMap<Rc<MethodName>, VecDeque<bool>> = HashMap::new();
    for (method, is_old) in on_stack {
        told.entry(method).or_default().push_back(is_old);
    }
    for live in frames {
        let StackElement { class, method, .. } = &live.element;
        let name = (class.clone(), method.clone(), live.descriptor.clone());
        let next = told.get_mut(&name).and_then(VecDeque::pop_front);
        live.is_old = next.unwrap_or(true);
    }
}
