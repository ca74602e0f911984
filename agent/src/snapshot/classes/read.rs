//! Reads how the objects of a class are stored.

use super::{
    BLANK, Class, DATA, HOLES, KEYS, Number, OUTSIDE, POOLS, REDACTED, Storage, THREAD,
    binary_name, is_address,
};
use crate::changing::changes_unseen;
use crate::jni::{FieldId, Jni, Obj};
use crate::jvmti::Jvmti;
use crate::methods::Methods;
use crate::options::Options;
use crate::snapshot::{collections, lambda, standing};
use crate::statics;
use hindsight_classfile::access;
use hindsight_instrument::select;
use hindsight_tracelog::crash::{ClassInfo, ClassKind, FieldInfo};
use std::collections::HashSet;

const THROWABLE: &str = "java.lang.Throwable";

/// Reads the class of an object, for the first time in this snapshot.
pub(crate) fn read(
    jni: Jni,
    jvmti: Jvmti,
    methods: &Methods,
    options: &Options,
    class: Obj,
    id: u32,
) -> Class {
    let signature = jvmti
        .class_signature(class)
        .unwrap_or_else(|| "L?;".to_owned());
    let mut info = ClassInfo {
        id,
        name: binary_name(&signature),
        ..ClassInfo::default()
    };
    match signature.as_bytes() {
        [b'[', letter] => return array(info, Storage::Primitives(*letter)),
        [b'[', ..] => return array(info, Storage::References),
        _ => {}
    }
    if let Some(loader) = jvmti.loader(class) {
        info.loader = jvmti
            .class_signature(jni.class_of(loader))
            .map(|s| binary_name(&s))
            .unwrap_or_default();
    }
    info.sha256 = methods.sha256(&info.name);
    let modifiers = jvmti.class_modifiers(class);
    let chain = superclasses(jni, jvmti, class);
    info.supers = chain.iter().map(|(name, _)| name.clone()).collect();
    info.interfaces = jvmti
        .interfaces(class)
        .into_iter()
        .filter_map(|i| jvmti.class_signature(i))
        .map(|s| binary_name(&s))
        .collect();
    let hidden = signature.contains('.');
    info.kind = kind(&info, modifiers, hidden);
    let mut storage = storage(jni, jvmti, class, &info, &chain);
    let interfaces = all_interfaces(jni, jvmti, class, &chain);
    let is_any = |secret: &dyn Fn(&str) -> bool| {
        let all = std::iter::once(&info.name).chain(&info.supers);
        // Each is asked, because the match is noted for it.
        let found = all.chain(&interfaces).filter(|name| secret(name));
        storage != Storage::Class && found.count() > 0
    };
    let is_asked_for = is_any(&|name| options.is_secret_class(name) || methods.marks.class(name));
    if is_asked_for || is_any(&|name| KEYS.contains(&name)) {
        storage = Storage::Hole(REDACTED);
    }

    let (mut fields, mut secrets) = (Vec::new(), Vec::new());
    let mut unseen = false;
    let constant = matches!(storage, Storage::Enum(_));
    // Constants of the JDK's enums never change.
    if is_asked_for || storage == Storage::Instance || constant && !is_of_jdk(jni, jvmti, class) {
        let by = (jni, jvmti, methods, options);
        let found = Fields::read(by, class, &chain, &mut info, is_asked_for);
        (fields, secrets, unseen) = (found.fields, found.secrets, found.unseen);
        if constant && !found.changes {
            fields.clear();
            secrets.clear();
            info.fields.clear();
        }
        if hidden && !is_asked_for {
            storage = match lambda::implementation(jvmti, class, &info.name) {
                Some(lambda) => {
                    let captured = methods.captured.secrets_of(&lambda).into_iter();
                    secrets.extend(captured.filter(|place| *place < fields.len()));
                    Storage::Lambda(lambda)
                }
                None => Storage::Hole("hidden class: has no name in another run"),
            };
        }
    }
    if storage == Storage::Instance
        && (info.fields.iter()).any(|field| is_address(&field.name, &field.descriptor))
        && (chain.iter().map(|(_, class)| *class).chain([class])).any(|c| jvmti.declares_native(c))
    {
        storage = Storage::Hole(OUTSIDE);
        fields.clear();
        secrets.clear();
        info.fields.clear();
    }
    let entries = collections::entries(&info.fields);
    // This holds whatever its name, which the program chooses. In a header it is a secret as well.
    for (_, value) in &entries {
        let mut names = info.fields[*value].owner.split(['.', '$']);
        if names.any(|name| name.ends_with("Cookie")) && !secrets.contains(value) {
            secrets.push(*value);
        }
    }
    let wraps_text = collections::wraps_text(&info.name, &info.fields);
    let is_text = collections::has_only_texts(&info.name, &info.fields)
        || interfaces.contains("java.lang.CharSequence");
    let texts = (info.fields.iter().zip(&fields))
        .filter(|(field, _)| is_text && collections::is_of_text(field));
    Class {
        entries,
        parallel: collections::parallel(&info.fields),
        said: texts.map(|(_, (id, _))| *id).collect(),
        pairs: collections::pairs(&info.name, &info.fields),
        contains: collections::contains(&info.name, &interfaces),
        wraps_text,
        number: Number::of(&info.name),
        unseen,
        is_throwable: info.name == THROWABLE || info.supers.iter().any(|name| name == THROWABLE),
        may_stand: storage != Storage::Hole(REDACTED)
            && standing::may_be(&info.name, &info.supers, || jvmti.loader(class).is_none()),
        is_asked_for,
        info,
        storage,
        fields,
        secrets,
    }
}

/// The class of an array.
fn array(info: ClassInfo, storage: Storage) -> Class {
    Class {
        info: ClassInfo {
            kind: ClassKind::Array,
            ..info
        },
        fields: Vec::new(),
        secrets: Vec::new(),
        entries: Vec::new(),
        parallel: None,
        said: Vec::new(),
        pairs: None,
        contains: true,
        wraps_text: false,
        number: match storage {
            Storage::Primitives(b'C' | b'B') | Storage::References => Number::Not,
            _ => Number::Own,
        },
        storage,
        unseen: false,
        is_throwable: false,
        may_stand: false,
        is_asked_for: false,
    }
}

fn kind(info: &ClassInfo, modifiers: i32, hidden: bool) -> ClassKind {
    let extends = |name: &str| info.supers.iter().any(|above| above == name);
    if hidden {
        ClassKind::Hidden
    } else if modifiers & i32::from(access::INTERFACE) != 0 {
        ClassKind::Interface
    } else if extends("java.lang.Enum") {
        ClassKind::Enum
    } else if info
        .supers
        .first()
        .is_some_and(|name| name == "java.lang.Record")
    {
        ClassKind::Record
    } else if extends("java.lang.reflect.Proxy") {
        ClassKind::Proxy
    } else {
        ClassKind::Class
    }
}

/// How objects of a class are stored, as far as its name and those above it say.
fn storage(
    jni: Jni,
    jvmti: Jvmti,
    class: Obj,
    info: &ClassInfo,
    chain: &[(String, Obj)],
) -> Storage {
    let name = info.name.as_str();
    match name {
        "java.lang.String" => return Storage::String,
        "java.lang.Class" => return Storage::Class,
        _ => {}
    }
    let is_pool = POOLS.iter().any(|(pool, _)| *pool == name);
    let is_kept = is_pool || is_own_thread(jni, jvmti, class, chain);
    let mut holes = HOLES.iter();
    let hole = holes.find(|(hole, _)| *hole == name || info.supers.iter().any(|s| s == hole));
    if let Some((_, reason)) = hole.filter(|_| !is_kept) {
        return Storage::Hole(reason);
    }
    let is_internal =
        name.starts_with("jdk.internal.") && !DATA.iter().any(|data| name.starts_with(data));
    if is_internal || name.starts_with("sun.nio.ch.") {
        return Storage::Hole("JVM internals");
    }
    if info.kind != ClassKind::Enum {
        return Storage::Instance;
    }
    let holder = chain.iter().find(|(name, _)| name == "java.lang.Enum");
    match holder.and_then(|(_, of)| jni.field(*of, c"name", c"Ljava/lang/String;")) {
        Some(field) => Storage::Enum(field),
        None => Storage::Hole("enum"),
    }
}

/// The fields of a class, beside [`ClassInfo::fields`].
#[derive(Default)]
struct Fields {
    /// As [`Class::fields`].
    fields: Vec<(FieldId, u8)>,
    /// As [`Class::secrets`].
    secrets: Vec<usize>,
    /// As [`Class::unseen`].
    unseen: bool,
    /// Whether any may change.
    changes: bool,
}

impl Fields {
    /// Reads them, also into `info`.
    fn read(
        (jni, jvmti, methods, options): (Jni, Jvmti, &Methods, &Options),
        class: Obj,
        chain: &[(String, Obj)],
        info: &mut ClassInfo,
        is_asked_for: bool,
    ) -> Fields {
        let mut found = Fields::default();
        // The topmost class comes first, so that a subclass only appends.
        let own = std::iter::once((info.name.clone(), class));
        let all: Vec<_> = own.chain(chain.iter().cloned()).collect();
        for (owner, declaring) in all.iter().rev() {
            if owner == "java.lang.Enum" {
                continue;
            }
            let logs_none = select::names(&options.exclude, owner)
                || is_of_jdk(jni, jvmti, *declaring) && changes_unseen(owner);
            for field in jvmti.class_fields(*declaring) {
                let Some((name, descriptor, access)) = jvmti.field(*declaring, field) else {
                    continue;
                };
                if access & access::STATIC != 0 || is_internal(owner, &name) {
                    continue;
                }
                found.changes |= statics::may_change(&descriptor, access);
                let letter = match descriptor.as_bytes().first() {
                    Some(letter) if !is_blank(owner, &name, &descriptor) => *letter,
                    _ => BLANK,
                };
                if logs_none && access & access::FINAL == 0 && !is_asked_for {
                    found.unseen = true;
                }
                if options.is_secret_of_type(&name, &descriptor)
                    || methods.marks.field(owner, &name)
                {
                    found.secrets.push(found.fields.len());
                }
                found.fields.push((field, letter));
                info.fields.push(FieldInfo {
                    owner: owner.clone(),
                    name,
                    descriptor,
                    access,
                });
            }
        }
        found
    }
}

/// Whether a field belongs to the JVM or the collector, and is left out.
fn is_internal(owner: &str, name: &str) -> bool {
    match owner {
        THREAD => name != "name",
        THROWABLE => matches!(name, "backtrace" | "depth"),
        "java.lang.ref.Reference" => name != "referent",
        _ => false,
    }
}

/// Whether a field leads to much that says nothing about the program, and is stored as null.
fn is_blank(owner: &str, name: &str, descriptor: &str) -> bool {
    if descriptor == "Lgroovy/lang/MetaClass;" {
        // Groovy's runtime behind each object; an object without it asks for it.
        return true;
    }
    if let Some((_, stored)) = POOLS.iter().find(|(pool, _)| *pool == owner) {
        return !stored.contains(&name);
    }
    match owner {
        "java.util.ResourceBundle" => name == "cacheKey",
        // What Netty keeps for a thread, as the JDK does with a `ThreadLocal`.
        "io.netty.util.concurrent.FastThreadLocalThread" => true,
        // A test asks the logging system for the logger of this name.
        "java.util.logging.Logger" => name != "name",
        _ => false,
    }
}

/// Whether objects of a class are threads to which only the program's own classes have added
/// something: that is state like any other, and in a test the thread itself is one that has not
/// been started.
fn is_own_thread(jni: Jni, jvmti: Jvmti, class: Obj, chain: &[(String, Obj)]) -> bool {
    let thread = chain.iter().position(|(name, _)| name == THREAD);
    thread.is_some_and(|at| {
        let below = chain[..at].iter().map(|(_, above)| *above);
        below.chain([class]).all(|c| !is_of_jdk(jni, jvmti, c))
    })
}

/// Whether one of the JDK's own loaders has defined a class.
fn is_of_jdk(jni: Jni, jvmti: Jvmti, class: Obj) -> bool {
    const PLATFORM: &str = "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;";
    jvmti.loader(class).is_none_or(|loader| {
        let of_loader = jvmti.class_signature(jni.class_of(loader));
        of_loader.is_some_and(|name| name == PLATFORM)
    })
}

/// The names and classes above this one, nearest first, without `java.lang.Object`.
fn superclasses(jni: Jni, jvmti: Jvmti, class: Obj) -> Vec<(String, Obj)> {
    let mut chain = Vec::new();
    let mut above = jni.superclass(class);
    while let Some(class) = above {
        let name = jvmti
            .class_signature(class)
            .map(|s| binary_name(&s))
            .unwrap_or_default();
        if name == "java.lang.Object" {
            break;
        }
        chain.push((name, class));
        above = jni.superclass(class);
    }
    chain
}

/// The names of all interfaces that instances of a class implement, including those of its
/// superclasses, `chain`, and of interfaces themselves.
fn all_interfaces(jni: Jni, jvmti: Jvmti, class: Obj, chain: &[(String, Obj)]) -> HashSet<String> {
    let mut found = HashSet::new();
    let classes = std::iter::once(class).chain(chain.iter().map(|(_, above)| *above));
    let mut pending: Vec<Obj> = classes.flat_map(|class| jvmti.interfaces(class)).collect();
    while let Some(interface) = pending.pop() {
        let name = jvmti.class_signature(interface);
        if name.is_some_and(|name| found.insert(binary_name(&name))) {
            pending.extend(jvmti.interfaces(interface));
        }
        jni.delete_local(interface);
    }
    found
}
