//! The functions that the JVM calls, and the landing pads that keep panics from it.
//!
//! - [`describe`] sees the exceptions that native code prints.
//! - [`natives`] has the native methods of the probes.

#![expect(unsafe_code, reason = "entry points from the JVM")]

mod describe;
mod natives;

pub(crate) use describe::hook_describe;

use crate::agent::{self, Base, Files, Since, say};
use crate::attach::{self, Answer};
use crate::earlier::Changed;
use crate::hang;
use crate::hook;
use crate::jni::Jni;
use crate::jvmti::{Jvmti, Vm};
use crate::options::Options;
use crate::recording::Recording;
use crate::run;
use crate::start;
use crate::sys::{self, Callbacks, JavaVm, JniEnv, JvmtiEnv, Ref};
use hindsight_classfile::Utf8;
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::slice;

/// The landing pad: a panic that reached the JVM's frames would abort it.
pub(crate) fn contained(body: impl FnOnce()) {
    if panic::catch_unwind(AssertUnwindSafe(body)).is_err()
        && let Some(base) = agent::base()
    {
        base.complain("internal_errors", "an internal error was contained");
    }
}

/// Called by the JVM when it loads the library at its start.
///
/// # Safety
///
/// Only the JVM may call this, with arguments as in the JVM TI specification.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut c_void,
    text: *const c_char,
    _: *mut c_void,
) -> c_int {
    // SAFETY: as the caller vouches.
    unsafe { entered(vm, text, load) }
}

/// Called by the JVM when it is asked to load the library while it runs.
///
/// # Safety
///
/// Only the JVM may call this, with arguments as in the JVM TI specification.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut c_void,
    text: *const c_char,
    _: *mut c_void,
) -> c_int {
    // SAFETY: as the caller vouches.
    unsafe { entered(vm, text, attach) }
}

/// # Safety
///
/// The arguments must be those of `Agent_OnLoad` or `Agent_OnAttach`.
unsafe fn entered(vm: *mut c_void, text: *const c_char, then: fn(Vm, &str) -> c_int) -> c_int {
    // SAFETY: the JVM passes its invocation interface and a C string or null.
    let (vm, text) = unsafe {
        let text = match text.is_null() {
            true => Ok(String::new()),
            false => CStr::from_ptr(text).to_owned().into_string(),
        };
        (Vm::new(JavaVm(vm.cast_const().cast())), text)
    };
    // Our panics are contained and counted; the default hook would print them
    // into the program's output.
    panic::set_hook(Box::new(|_| {}));
    let entered = || match text {
        Ok(text) => then(vm, &text),
        Err(_) => {
            // A guess could turn paths in them into other ones.
            say("the agent's options are not text in UTF-8; name paths that are");
            sys::JNI_ERR
        }
    };
    panic::catch_unwind(entered).unwrap_or(sys::JNI_ERR)
}

fn load(vm: Vm, text: &str) -> c_int {
    run::started_ms();
    let options = match Options::parse(text) {
        Ok(options) => options,
        Err(error) => {
            say(error);
            return sys::JNI_ERR;
        }
    };
    if !options.enabled {
        return sys::OK;
    }
    let files = match Files::of(&options) {
        Ok(files) => files,
        Err(error) => {
            say(error);
            return sys::JNI_ERR;
        }
    };
    let Some(jvmti) = vm.jvmti(&[]) else {
        say(format_args!(
            "this agent records nothing: {NO_JVMTI} (the program goes on)"
        ));
        return sys::OK;
    };
    if !agent::set_base(vm, jvmti, options, files, Since::Start) {
        say("the agent is on the command line twice; the second one stays out");
        jvmti.dispose();
        return sys::OK;
    }
    // Class loading is hooked from VMInit on: the shared archives stay usable,
    // which HotSpot would otherwise refuse with a line on the program's output.
    if jvmti.set_callbacks(&callbacks())
        && jvmti.enable(sys::EVENT_VM_INIT)
        && jvmti.enable(sys::EVENT_VM_DEATH)
    {
        sys::OK
    } else {
        say(NO_EVENTS);
        sys::JNI_ERR
    }
}

const NO_JVMTI: &str = "this JVM offers no JVM TI 11; HotSpot from Java 17 on does";
const NO_EVENTS: &str = "this JVM refuses the events that the agent needs";

fn callbacks() -> Callbacks {
    Callbacks {
        vm_init: Some(vm_init),
        vm_death: Some(vm_death),
        class_file_load_hook: Some(first_load_hook),
        data_dump_request: Some(data_dump_request),
        ..Callbacks::default()
    }
}

/// Starts recording in a JVM that runs already, stops it (`mode=off`), or refuses.
///
/// The work is done on a thread of its own: the JVM looks into this library for
/// the probes' native method only once this function has said that all is well,
/// and nobody else could attach meanwhile.
fn attach(vm: Vm, text: &str) -> c_int {
    let (to, text) = attach::answer_to(text);
    let answer = |answer| {
        attach::answer(to.as_deref(), &answer);
        match answer {
            Answer::Refused(_) | Answer::Absent(_) => sys::JNI_ERR,
            Answer::Started(_) | Answer::Stopped | Answer::Recorded(_) => sys::OK,
        }
    };
    let options = Options::parse(text).map_err(|error| attach::wrong(&error, text, to.as_deref()));
    if text.trim() == RECORD {
        return answer(recorded());
    }
    if let Some(base) = agent::base() {
        if let Some(why) = base.failure.get() {
            return answer(Answer::Refused(attach::failed(why)));
        }
        let options = match options {
            Ok(options) => options,
            Err(error) => {
                return answer(Answer::Refused(format!(
                    "{error}; the agent is in this JVM already and goes on as it was started"
                )));
            }
        };
        if !options.enabled {
            let stopped = agent::agent()
                .zip(base.vm.jni())
                .is_some_and(|(agent, jni)| run::stop(agent, jni));
            return answer(if stopped {
                Answer::Stopped
            } else {
                Answer::Refused("the agent is about to start; try again".to_owned())
            });
        }
        let why = if run::is_over() {
            run::OVER
        } else {
            "the agent is in this JVM already and goes on as it was started; the second one stays out"
        };
        return answer(Answer::Refused(why.to_owned()));
    }
    let options = match options {
        Ok(options) => options,
        Err(error) => return answer(Answer::Refused(error)),
    };
    if !options.enabled {
        return answer(Answer::Absent(
            "the agent is not in this JVM: there is nothing to switch off".to_owned(),
        ));
    }
    let files = match Files::of(&options) {
        Ok(files) => files,
        Err(error) => return answer(Answer::Refused(error)),
    };
    // The user of an attached agent can ask again. A program that starts waits for nobody.
    if let Err(error) = Recording::new(options.out.clone()).prepare() {
        return answer(Answer::Refused(error));
    }
    run::set_started();
    let Some((jvmti, jni)) = vm.jvmti(&[]).zip(vm.jni()) else {
        return answer(Answer::Refused(NO_JVMTI.to_owned()));
    };
    if !agent::set_base(vm, jvmti, options, files, Since::Attach(to.clone())) {
        jvmti.dispose();
        return answer(Answer::Refused("somebody else is attaching it".to_owned()));
    }
    let ready = jvmti.set_callbacks(&callbacks())
        && jvmti.enable(sys::EVENT_VM_DEATH)
        && start::agent_thread(jvmti, jni, c"Hindsight Attacher", start_attached);
    if ready {
        return sys::OK;
    }
    if let Some(base) = agent::base() {
        let _ = base.failure.set(NO_EVENTS.to_owned());
    }
    answer(Answer::Refused(NO_EVENTS.to_owned()))
}

/// The text that asks for a recording of all threads, in place of options.
const RECORD: &str = "record";

fn recorded() -> Answer {
    if let Some(why) = agent::base().and_then(|base| base.failure.get()) {
        return Answer::Refused(attach::failed(why));
    }
    let Some((agent, jni)) = agent::agent().zip(agent::base().and_then(|base| base.vm.jni()))
    else {
        return Answer::Absent(
            "the agent is not in this JVM, or just starting; methods tell their arguments only if \
             they were called with it there: attach it first"
                .to_owned(),
        );
    };
    if run::is_over() {
        return Answer::Refused(run::OVER.to_owned());
    }
    if agent.base.options.tracing {
        return Answer::Refused(
            "the agent records a trace, which tells what threads do".to_owned(),
        );
    }
    match hang::record(agent, jni) {
        Ok(file) => Answer::Recorded(agent.recording.directory().join(file)),
        Err(what) => Answer::Refused(what),
    }
}

unsafe extern "system" fn data_dump_request(_: JvmtiEnv) {
    contained(|| {
        if let Some(agent) = agent::agent()
            && let Some(jni) = agent.base.vm.jni()
        {
            let _ = hang::record(agent, jni);
        }
    });
}

fn start_attached(jni: Jni) {
    let Some(base) = agent::base() else { return };
    let answer = match started(base, jni) {
        Ok(_) if run::is_over() => Answer::Refused(run::OVER.to_owned()),
        Ok(changed) => Answer::Started(changed),
        Err(what) => Answer::Refused(what),
    };
    if let Since::Attach(to) = &base.since {
        attach::answer(to.as_deref(), &answer);
    }
}

unsafe extern "system" fn vm_init(_: JvmtiEnv, env: JniEnv, _: Ref) {
    contained(|| {
        let Some(base) = agent::base() else { return };
        // SAFETY: this thread's environment.
        let jni = unsafe { Jni::new(env) };
        if let Err(what) = started(base, jni) {
            base.give_up(&what);
            run::write_not_started(base, jni, &what);
        }
    });
}

/// Starts recording. The reason of a failure is kept for the next request.
fn started(base: &'static Base, jni: Jni) -> Result<Changed, String> {
    jni.with_frame(|jni| start::start(base, jni, hook_classes))
        .unwrap_or_else(|| Err("the JVM has no memory left".to_owned()))
        .inspect_err(|why| {
            let _ = base.failure.set(why.clone());
        })
}

/// Hooks class loading by three environments, which yields the order that [`hook`] describes: the
/// JVM calls them in the order in which they were made, but those that may retransform after all
/// others. Java agents have made theirs before `VMInit`. Returns the one that may retransform.
fn hook_classes(base: &Base) -> Option<Jvmti> {
    let hooked = |jvmti: Jvmti, hook| {
        let callbacks = Callbacks {
            class_file_load_hook: Some(hook),
            ..Callbacks::default()
        };
        (jvmti.set_callbacks(&callbacks) && jvmti.enable(sys::EVENT_CLASS_FILE_LOAD_HOOK))
            .then_some(jvmti)
    };
    let again = hooked(
        base.vm.jvmti(&[sys::CAN_RETRANSFORM_CLASSES])?,
        again_load_hook,
    )?;
    // A retransformation does not undo what that environment changes.
    if base.chances.is_none() {
        hooked(base.vm.jvmti(&[])?, last_load_hook)?;
    }
    // This comes last, so that nothing is kept for a class whose end of loading is not hooked yet.
    base.jvmti
        .enable(sys::EVENT_CLASS_FILE_LOAD_HOOK)
        .then_some(again)
}

/// A `ClassFileLoadHook` that asks a function of [`hook`] for the new class.
macro_rules! load_hook {
    ($(#[$doc:meta])* $hook:ident, |$base:ident, $name:ident, $loader:ident, $redefined:ident, $bytes:ident| $body:expr) => {
        $(#[$doc])*
        unsafe extern "system" fn $hook(
            env: JvmtiEnv,
            _: JniEnv,
            redefined: Ref,
            $loader: Ref,
            name: *const c_char,
            _domain: Ref,
            len: c_int,
            data: *const u8,
            new_len: *mut c_int,
            new_data: *mut *mut u8,
        ) {
            contained(|| {
                let Some($base) = agent::base() else { return };
                let $redefined = !redefined.is_null();
                // SAFETY: name is null or a C string, and the class's bytes are lent until we return.
                let (name, $bytes) = unsafe { lent(name, data, len) };
                let $name = name.as_deref();
                if let Some(changed) = $body {
                    // SAFETY: the environment of this event, and its places for a result.
                    let done = unsafe { hand_over(Jvmti::from_raw(env), &changed, new_len, new_data) };
                    if !done {
                        $base.counters.add("classes_left_alone:no memory", 1);
                    }
                }
            });
        }
    };
}

load_hook! {
    first_load_hook, |base, name, loader, _redefined, bytes| {
        hook::first(base, name, loader, bytes);
        None::<Vec<u8>>
    }
}

load_hook! {
    last_load_hook, |base, name, loader, redefined, bytes| {
        hook::last(base, name, loader, redefined, bytes)
    }
}

load_hook! {
    /// Called for every class, but new classes of the program are done by then.
    again_load_hook, |base, name, loader, redefined, bytes| {
        if start::hooks(name) {
            start::hooked(base, name, bytes)
        } else if !redefined && base.chances.is_none() {
            None
        } else {
            hook::again(base, name, loader, redefined, bytes)
        }
    }
}

/// Wraps the arguments of a class file load hook.
///
/// # Safety
///
/// The arguments must be those of the event, and the result must not outlive it.
unsafe fn lent<'a>(
    name: *const c_char,
    data: *const u8,
    len: c_int,
) -> (Option<Cow<'a, str>>, &'a [u8]) {
    // SAFETY: as the caller vouches.
    unsafe {
        let name =
            (!name.is_null()).then(|| Utf8::new(CStr::from_ptr(name).to_bytes()).to_string_lossy());
        (
            name,
            slice::from_raw_parts(data, usize::try_from(len).unwrap_or(0)),
        )
    }
}

/// Gives the JVM a changed class.
///
/// # Safety
///
/// `new_len` and `new_data` must be the places that the event gave.
unsafe fn hand_over(
    jvmti: Jvmti,
    bytes: &[u8],
    new_len: *mut c_int,
    new_data: *mut *mut u8,
) -> bool {
    let (Ok(len), Some(memory)) = (c_int::try_from(bytes.len()), jvmti.allocate(bytes)) else {
        return false;
    };
    // SAFETY: as the caller vouches; the JVM takes over the memory.
    unsafe {
        *new_len = len;
        *new_data = memory;
    }
    true
}

unsafe extern "system" fn vm_death(_: JvmtiEnv, env: JniEnv) {
    contained(|| {
        let Some(agent) = agent::agent() else { return };
        // SAFETY: this thread's environment.
        let jni = unsafe { Jni::new(env) };
        run::stop(agent, jni);
    });
}
