//! Objects of which each JVM has its own: streams, the common pool, class loaders, modules.
//!
//! They are holes, because their content means nothing elsewhere; but a test can ask its own JVM
//! for them, by the expression that is found here.
//!
//! **Invariant:** looking for them loads or initialises no class, see [`super`].

use crate::jni::{Jni, Obj};
use crate::jvmti::Jvmti;
use std::ffi::CStr;

/// Classes with only one object.
const ONLY: &[(&str, &str, &str)] = &[
    ("java.lang.Runtime", "java.lang.Runtime", "getRuntime()"),
    (
        "jdk.internal.loader.ClassLoaders$AppClassLoader",
        "java.lang.ClassLoader",
        "getSystemClassLoader()",
    ),
    (
        "jdk.internal.loader.ClassLoaders$PlatformClassLoader",
        "java.lang.ClassLoader",
        "getPlatformClassLoader()",
    ),
    (
        "sun.nio.fs.LinuxFileSystem",
        "java.nio.file.FileSystems",
        "getDefault()",
    ),
    (
        "sun.nio.fs.LinuxFileSystemProvider",
        "java.nio.file.FileSystems",
        "getDefault().provider()",
    ),
];

const POOL: &str = "java.util.concurrent.ForkJoinPool";
const MODULE: &str = "java.lang.Module";

/// The classes of the standard streams, as long as the program does not replace them.
const OF_STREAMS: [&str; 2] = ["java.io.PrintStream", "java.io.BufferedInputStream"];
const STREAMS: [(&CStr, &CStr, &str); 3] = [
    (c"out", c"Ljava/io/PrintStream;", "out"),
    (c"err", c"Ljava/io/PrintStream;", "err"),
    (c"in", c"Ljava/io/InputStream;", "in"),
];

/// Whether a class may have such objects: it or a superclass has one of these names. Threads of the
/// program's own classes are not among them, because a test's thread is another one.
pub(crate) fn may_be(name: &str, supers: &[String], is_of_jdk: impl Fn() -> bool) -> bool {
    let thread = "java.lang.Thread";
    ONLY.iter().any(|(class, ..)| *class == name)
        || name == POOL
        || name == MODULE
        || OF_STREAMS.contains(&name)
        || (name == thread || supers.iter().any(|above| above == thread)) && is_of_jdk()
}

/// The class and the rest of the expression that returns such an object. `thread` is the thread
/// that has failed, if there is one.
pub(crate) fn expression(
    jni: Jni,
    jvmti: Jvmti,
    thread: Option<Obj>,
    object: Obj,
    name: &str,
) -> Option<(&'static str, String)> {
    if let Some((_, owner, member)) = ONLY.iter().find(|(class, ..)| *class == name) {
        return Some((owner, (*member).to_owned()));
    }
    let is_in = |class: Obj, field: &CStr, of: &CStr| {
        let held = jni.static_object(class, field, of);
        held.is_some_and(|held| {
            let is = jni.same(held, object);
            jni.delete_local(held);
            is
        })
    };
    match name {
        POOL => {
            let class = jni.class_of(object);
            let of = c"Ljava/util/concurrent/ForkJoinPool;";
            let is = jvmti.is_initialized(class) && is_in(class, c"common", of);
            jni.delete_local(class);
            is.then(|| (POOL, "commonPool()".to_owned()))
        }
        MODULE => module(jni, object),
        _ if OF_STREAMS.contains(&name) => {
            // It exists and is initialised since the JVM began.
            let system = jni.find_class(c"java/lang/System")?;
            let mut streams = STREAMS.iter();
            let found = streams.find(|(field, of, _)| is_in(system, field, of));
            jni.delete_local(system);
            found.map(|(_, _, field)| ("java.lang.System", (*field).to_owned()))
        }
        _ => thread
            .is_some_and(|thread| jni.same(thread, object))
            .then(|| ("java.lang.Thread", "currentThread()".to_owned())),
    }
}

/// The expression for a module that the JVM has found by itself, in the layer of the platform or of
/// the application.
fn module(jni: Jni, object: Obj) -> Option<(&'static str, String)> {
    let class = jni.class_of(object);
    let named = jni.field(class, c"name", c"Ljava/lang/String;");
    let layered = jni.field(class, c"layer", c"Ljava/lang/ModuleLayer;");
    jni.delete_local(class);
    let name = jni.get_object(object, named?)?;
    let text = jni.string(name);
    jni.delete_local(name);
    let Some(layer) = jni.get_object(object, layered?) else {
        // It exists before there are layers.
        return (text == "java.base").then(|| found_in_boot_layer(&text));
    };
    let system = jni.find_class(c"java/lang/System")?;
    let boot = jni.static_object(system, c"bootLayer", c"Ljava/lang/ModuleLayer;");
    jni.delete_local(system);
    let is_boot = boot.is_some_and(|boot| {
        let is = jni.same(boot, layer);
        jni.delete_local(boot);
        is
    });
    jni.delete_local(layer);
    let plain = text
        .chars()
        .all(|c| !c.is_control() && c != '"' && c != '\\');
    (is_boot && plain).then(|| found_in_boot_layer(&text))
}

fn found_in_boot_layer(name: &str) -> (&'static str, String) {
    let member = format!("boot().findModule(\"{name}\").orElseThrow()");
    ("java.lang.ModuleLayer", member)
}
