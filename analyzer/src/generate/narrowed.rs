//! Finds what another version makes less visible. Tests are in the packages of their classes, where
//! they still see what is not public any more, and pass.

use super::asserted::{Assertion, Checked};
use super::sequence::{Arg, Method, Methods};
use crate::classinfo::{ClassInfo, Nesting};
use crate::classpath::{ClassPath, FoundClass};
use crate::java::descriptor;
use crate::model::values::Literal;
use crate::text::short_type;
use hindsight_classfile::access;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;

/// The most nested classes that are examined.
const MAX_NESTED: usize = 64;

/// The visibility of a class or a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// Visible in the enclosing class.
    Private,
    /// Visible in its package.
    Package,
    /// Visible in subclasses as well.
    Protected,
    /// Visible everywhere.
    Public,
}

impl Sight {
    fn of(flags: u16) -> Sight {
        match () {
            () if flags & access::PUBLIC != 0 => Sight::Public,
            () if flags & access::PROTECTED != 0 => Sight::Protected,
            () if flags & access::PRIVATE != 0 => Sight::Private,
            () => Sight::Package,
        }
    }

    /// The usual word for it.
    pub fn word(self) -> &'static str {
        match self {
            Sight::Private => "private",
            Sight::Package => "package-private",
            Sight::Protected => "protected",
            Sight::Public => "public",
        }
    }
}

/// A class or a member whose visibility was reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrowed {
    /// The old visibility.
    pub old: Sight,
    /// The new visibility.
    pub new: Sight,
}

/// What tests name and the other version makes less visible, in its usual notation.
#[derive(Debug, Default)]
pub struct All(BTreeMap<String, Narrowed>);

impl All {
    /// Adds what a test names. Returns the simple names of these.
    pub fn add(
        &mut self,
        test: &Checked,
        methods: &Methods,
        old: &ClassPath,
        new: &ClassPath,
    ) -> HashSet<String> {
        let (old, new) = (|class: &str| old.info(class), |class: &str| new.info(class));
        let mut names = HashSet::new();
        let mut found = |what: String, name: &str, sights: (Option<Sight>, Option<Sight>)| {
            // A member that is missing is reported with the call.
            if let (Some(old), Some(new)) = sights
                && new < old
            {
                self.0.insert(what, Narrowed { old, new });
                names.insert(name.to_owned());
            }
        };
        for class in classes(test, methods) {
            let name = short_type(&class).replace('$', ".");
            let name = name.rsplit('.').next().unwrap_or_default();
            let sights = (sight(&class, &old), sight(&class, &new));
            found(class.replace('$', "."), name, sights);
        }
        for call in &test.sequence {
            let method = methods.get(call.method);
            let Some(before) = member(method, &old) else {
                continue;
            };
            let after = member(method, &new).map(|after| after.sight);
            let class = before.class;
            let name: &str = match method.is_constructor() {
                true => class.rsplit(['.', '$']).next().unwrap_or_default(),
                false => &method.name,
            };
            let told = written(method, &class.replace('$', "."));
            found(told, name, (Some(before.sight), after));
        }
        names
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Narrowed)> {
        self.0.iter().map(|(what, one)| (what.as_str(), *one))
    }
}

/// Whether an error of javac says that something of this name is not visible to a test.
pub fn refuses(error: &str, name: &str) -> bool {
    const WHY: [&str; 3] = [
        " has private access",
        " has protected access",
        " is not public",
    ];
    error.match_indices(name).any(|(at, _)| {
        let is_name = !error[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = &error[at + name.len()..];
        let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, rest)) => rest,
            None => rest,
        };
        is_name && WHY.iter().any(|why| rest.starts_with(why))
    })
}

/// The usual notation of a member of a class.
fn written(method: &Method, class: &str) -> String {
    let call = method.call_of(class);
    if method.is_constant() {
        return call;
    }
    let (types, _) = method.types();
    let types = types
        .iter()
        .map(|ty| short_type(&descriptor::type_name(ty)));
    format!("{call}({})", types.collect::<Vec<_>>().join(", "))
}

/// The classes that a test names, or may have to.
fn classes(test: &Checked, methods: &Methods) -> HashSet<String> {
    fn of_arg(arg: &Arg, classes: &mut HashSet<String>) {
        match arg {
            Arg::Literal(literal) => of_literal(literal, classes),
            Arg::Array(element, elements) => {
                classes.extend(descriptor::class_name(descriptor::element(element).1));
                elements.iter().for_each(|one| of_arg(one, classes));
            }
            Arg::Lambda(lambda) => {
                classes.insert(lambda.interface.clone());
                if let Some(value) = lambda.value() {
                    of_arg(value, classes);
                }
            }
            Arg::Var(_) => {}
        }
    }
    fn of_literal(literal: &Literal, classes: &mut HashSet<String>) {
        if let Literal::Enum(class, _) | Literal::Class(class) = literal {
            classes.insert(class.clone());
        }
    }
    let mut classes = HashSet::new();
    for (call, asserted) in test.sequence.iter().zip(&test.assertions) {
        let method = methods.get(call.method);
        classes.insert(method.class.clone());
        let (mut types, result) = method.types();
        types.push(result);
        let elements = types.iter().map(|ty| descriptor::element(ty).1);
        classes.extend(elements.filter_map(descriptor::class_name));
        call.args.iter().for_each(|arg| of_arg(arg, &mut classes));
        match asserted {
            Some(Assertion::Equals(literal)) => of_literal(literal, &mut classes),
            Some(Assertion::Throws(class, _)) => {
                classes.insert(class.clone());
            }
            _ => {}
        }
    }
    classes
}

/// The visibility of a class, which is at most that of the enclosing classes.
fn sight(class: &str, info: &impl Fn(&str) -> Option<Rc<FoundClass>>) -> Option<Sight> {
    let mut least = Sight::Public;
    let mut class = class.to_owned();
    for _ in 0..MAX_NESTED {
        let found = info(&class)?;
        let known = found.info.as_ref()?;
        least = least.min(Sight::of(known.access));
        match &known.nesting {
            Nesting::TopLevel => return Some(least),
            Nesting::Member { outer, .. } => class.clone_from(outer),
            Nesting::Local => return None,
        }
    }
    None
}

/// A member as its class declares it.
struct Member {
    class: String,
    sight: Sight,
    /// Whether it declares exceptions.
    throws: bool,
}

/// Whether a method declares exceptions in the other version, and none before: then a source that
/// calls it must handle them.
pub fn throws_more(method: &Method, old: &ClassPath, new: &ClassPath) -> bool {
    let old = member(method, &|class: &str| old.info(class));
    let new = member(method, &|class: &str| new.info(class));
    old.is_some_and(|old| !old.throws) && new.is_some_and(|new| new.throws)
}

/// A member, in the class that declares it.
fn member(method: &Method, info: &impl Fn(&str) -> Option<Rc<FoundClass>>) -> Option<Member> {
    let declared = |known: &ClassInfo| match method.is_constant() {
        true => {
            let constant = known.constant(&method.name, &method.descriptor)?;
            Some((constant.access, false))
        }
        false => {
            let known = known.method(&method.name, &method.descriptor)?;
            Some((known.access, known.throws()))
        }
    };
    let mut pending = VecDeque::from([method.class.clone()]);
    let mut seen = HashSet::new();
    while let Some(class) = pending.pop_front() {
        let Some(found) = info(&class) else { continue };
        let Some(known) = found.info.as_ref() else {
            continue;
        };
        if let Some((flags, throws)) = declared(known) {
            return Some(Member {
                class,
                sight: Sight::of(flags),
                throws,
            });
        }
        if method.is_constructor() {
            break;
        }
        let above = known.super_class.iter().chain(&known.interfaces);
        pending.extend(above.filter(|above| seen.insert((*above).clone())).cloned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classinfo;
    use std::path::PathBuf;

    fn class(name: &str, flags: u16, methods: &[(&str, u16)]) -> Rc<FoundClass> {
        let outer = name.split_once('$').map(|(outer, simple)| Nesting::Member {
            outer: outer.to_owned(),
            simple: simple.to_owned(),
        });
        let methods = methods.iter().map(|(name, access)| classinfo::Method {
            access: *access,
            name: (*name).to_owned(),
            descriptor: "()V".to_owned(),
            exceptions: Vec::new(),
            signature: None,
            parameters: Vec::new(),
        });
        Rc::new(FoundClass {
            entry: PathBuf::new(),
            info: Some(ClassInfo {
                name: name.to_owned(),
                access: flags,
                super_class: (name == "a.Below").then(|| "a.Above".to_owned()),
                methods: methods.collect(),
                nesting: outer.unwrap_or_default(),
                ..ClassInfo::default()
            }),
            sha256: String::new(),
            other_sha256: Vec::new(),
            open: true,
        })
    }

    #[test]
    fn what_is_around_decides_who_sees_it() {
        let classes = [
            class("a.Out", access::PUBLIC, &[]),
            class("a.Out$In", access::PUBLIC, &[]),
            class("a.Out$Own", access::PRIVATE, &[]),
            class("a.Hidden", 0, &[]),
            class("a.Hidden$In", access::PUBLIC, &[]),
            class("a.Hidden$Below", access::PROTECTED, &[]),
            class("a.Loop$", access::PUBLIC, &[]),
        ];
        let info = |name: &str| {
            let is = |one: &&Rc<FoundClass>| one.info.as_ref().is_some_and(|one| one.name == name);
            classes.iter().find(is).cloned()
        };
        for (name, seen) in [
            ("a.Out", Some(Sight::Public)),
            ("a.Out$In", Some(Sight::Public)),
            ("a.Out$Own", Some(Sight::Private)),
            ("a.Hidden", Some(Sight::Package)),
            ("a.Hidden$In", Some(Sight::Package)),
            ("a.Hidden$Below", Some(Sight::Package)),
            ("a.Loop$", None),
            ("a.None", None),
        ] {
            assert_eq!(sight(name, &info), seen, "{name}");
        }
    }

    #[test]
    fn what_javac_does_not_see_is_known_by_its_name() {
        for (error, name, is) in [
            ("in(String) has private access in Office", "in", true),
            ("in(String) has private access in Office", "Office", false),
            ("within(int) has private access in Office", "in", false),
            ("cannot find symbol", "in", false),
            (
                "shop.Till is not public in shop; cannot be accessed",
                "Till",
                true,
            ),
        ] {
            assert_eq!(refuses(error, name), is, "{error}");
        }
    }

    #[test]
    fn a_member_is_its_declarers() {
        let classes = [
            class("a.Below", access::PUBLIC, &[("own", 0)]),
            class(
                "a.Above",
                0,
                &[("own", access::PUBLIC), ("<init>", access::PUBLIC)],
            ),
        ];
        let info = |name: &str| {
            let is = |one: &&Rc<FoundClass>| one.info.as_ref().is_some_and(|one| one.name == name);
            classes.iter().find(is).cloned()
        };
        let found = |class: &str, name: &str| {
            let method = Method {
                class: class.to_owned(),
                name: name.to_owned(),
                descriptor: "()V".to_owned(),
                is_static: false,
                runs: None,
            };
            member(&method, &info).map(|found| (written(&method, &found.class), found.sight))
        };
        let is = |told: &str, sight| Some((told.to_owned(), sight));
        assert_eq!(found("a.Below", "own"), is("a.Below.own()", Sight::Package));
        assert_eq!(found("a.Above", "own"), is("a.Above.own()", Sight::Public));
        assert_eq!(
            found("a.Above", "<init>"),
            is("new a.Above()", Sight::Public)
        );
        // Constructors are not inherited.
        assert_eq!(found("a.Below", "<init>"), None);
    }
}
