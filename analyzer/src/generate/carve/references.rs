//! Method references of a run that a test can write as they were.

use super::callable::{Access, of};
use crate::classinfo;
use crate::generate::guard;
use crate::generate::lambda::{named, takes};
use crate::generate::sequence::Method;
use crate::java::descriptor;
use hindsight_classfile::access;
use hindsight_tracelog::trace::dictionary::Code;

impl Access<'_> {
    /// The method to which a lambda of the run refers, if any source can write the reference
    /// (`Type::name`) and javac determines by the number of parameters which method is meant; the
    /// method of the lambda's interface has this many.
    pub(super) fn referred(&self, code: &Code, parameters: usize) -> Option<Method> {
        let mut method = Method {
            class: code.class.clone(),
            name: code.name.clone(),
            descriptor: code.descriptor.clone(),
            is_static: false,
            runs: None,
        };
        if !method.is_named() || !self.is_open(&method.class) {
            return None;
        }
        let is_barred = |method: &Method| method.harms() || guard::is_guarded(method);
        let taken = descriptor::split(&method.descriptor)?.0.len();
        if method.is_constructor() {
            let found = self.info(&method.class)?;
            let info = of(&found)?;
            let is_plain = self.referred_with(&method, parameters).is_some();
            let declared = info.method(&method.name, &method.descriptor)?;
            let is_open = declared.is(access::PUBLIC) && !info.is(access::ABSTRACT);
            let fits = is_plain && is_open && taken == parameters;
            return (fits && !is_barred(&method)).then_some(method);
        }
        let (declaring, only) = self.referred_with(&method, parameters)?;
        method.is_static = only.is(access::STATIC);
        let is_plain = only.is(access::PUBLIC) && !only.is(access::SYNTHETIC | access::VARARGS);
        // A reference that has captured its receiver is written differently.
        let fits = taken + usize::from(!method.is_static) == parameters;
        // A class of the program may inherit something harmful.
        let is_barred = is_barred(&method) || is_barred(&method.called_by(declaring));
        (is_plain && fits && !is_barred).then_some(method)
    }

    /// The method itself, and the class that declares it, if a reference to its name cannot mean
    /// another one with as many parameters.
    fn referred_with(
        &self,
        method: &Method,
        parameters: usize,
    ) -> Option<(String, classinfo::Method)> {
        let named = named(method, &|class| self.info(class))?;
        let mut named = named.into_iter().filter(|(_, one)| takes(one, parameters));
        let only = named.next().filter(|_| named.next().is_none())?;
        (only.1.descriptor == method.descriptor).then_some(only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classpath::ClassPath;
    use crate::generate::platform::{Classes, Platform};
    use crate::jdk::Jdk;
    use crate::jdk::javac::Compilation;
    use std::fs;

    #[test]
    fn only_what_javac_knows_at_once_is_referred_to() {
        let directory = tempfile::tempdir().unwrap();
        let jdk = Jdk::find(None).unwrap();
        let source = directory.path().join("Kept.java");
        let text = "public class Kept extends java.io.File { public Kept() { super(\"kept\"); } }";
        fs::write(&source, text).unwrap();
        let said = jdk.compile(&Compilation {
            release: 11,
            preview: false,
            lints: "none",
            class_path: &[],
            classes: directory.path(),
            sources: &[source],
        });
        assert!(said.unwrap().errors.is_empty());
        let own = ClassPath::open(directory.path().to_str().unwrap()).unwrap();
        let platform = Platform::new(&jdk);
        let access = Access::new(Classes {
            own: &own,
            platform: &platform,
        });
        let refers = |class: &str, name: &str, descriptor: &str, parameters| {
            let code = Code {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
            };
            access.referred(&code, parameters).is_some()
        };
        assert!(refers("java.lang.String", "length", "()I", 1));
        assert!(refers("java.util.ArrayList", "<init>", "()V", 0));
        assert!(refers("java.util.List", "size", "()I", 1));
        // It has captured its receiver.
        assert!(!refers("java.lang.String", "length", "()I", 0));
        // It is the only one of that name with as many parameters.
        let parsed = "(Ljava/lang/String;)I";
        assert!(refers("java.lang.Integer", "parseInt", parsed, 1));
        // There are others of that name.
        let of_object = "(Ljava/lang/Object;)Ljava/lang/String;";
        assert!(!refers("java.lang.String", "valueOf", of_object, 1));
        assert!(!refers(
            "java.lang.Integer",
            "toString",
            "()Ljava/lang/String;",
            1
        ));
        assert!(!refers("java.util.ArrayList", "<init>", "(I)V", 1));
        // A test must not do that, or cannot.
        assert!(!refers("java.lang.System", "exit", "(I)V", 1));
        assert!(!refers(
            "java.nio.file.Files",
            "delete",
            "(Ljava/nio/file/Path;)V",
            1
        ));
        assert!(!refers("java.util.AbstractList", "removeRange", "(II)V", 3));
        assert!(!refers("shop.Order", "id", "()J", 1));
        assert!(refers("Kept", "getName", "()Ljava/lang/String;", 1));
        assert!(!refers("Kept", "delete", "()Z", 1));
        let opens = "(Ljava/lang/Object;)Ljavax/imageio/stream/ImageOutputStream;";
        let image = "javax.imageio.ImageIO";
        assert!(!refers(image, "createImageOutputStream", opens, 1));
        // The result would differ each time.
        for class in ["Date", "GregorianCalendar", "Random"] {
            assert!(!refers(&format!("java.util.{class}"), "<init>", "()V", 0));
        }
        for (class, name, descriptor) in [
            ("java.lang.Math", "random", "()D"),
            ("java.time.Clock", "systemUTC", "()Ljava/time/Clock;"),
            ("java.util.UUID", "randomUUID", "()Ljava/util/UUID;"),
            (
                "java.util.concurrent.ThreadLocalRandom",
                "current",
                "()Ljava/util/concurrent/ThreadLocalRandom;",
            ),
        ] {
            assert!(!refers(class, name, descriptor, 0), "{class}");
        }
    }
}
