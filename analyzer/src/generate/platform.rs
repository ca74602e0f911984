//! Classes of the JDK that any test may name: the public ones of `java.*` and `javax.*`.

use crate::classinfo::{ClassInfo, Nesting};
use crate::classpath::{ClassPath, FoundClass};
use crate::jdk::Jdk;
use crate::program::jimage::{Image, Resource};
use hindsight_classfile::access;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

/// The most nested classes: sources have fewer, but a class file may claim more.
pub(super) const MAX_NESTED: usize = 64;

/// The classes of a JDK's image, which are read on demand.
pub struct Platform {
    image: Option<Image>,
    resources: HashMap<String, Resource>,
    known: RefCell<HashMap<String, Option<Rc<FoundClass>>>>,
}

impl Platform {
    /// The classes of a JDK. Of one that has no image, or a damaged one, nothing is known.
    pub fn new(jdk: &Jdk) -> Platform {
        let image = Image::open(&jdk.home.join("lib/modules")).ok();
        let all = image.as_ref().and_then(|image| image.resources().ok());
        let named = all.unwrap_or_default().into_iter().filter_map(|resource| {
            let name = resource.name.strip_suffix(".class")?.replace('/', ".");
            let is_open = ["java.", "javax."]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            is_open.then_some((name, resource))
        });
        Platform {
            resources: named.collect(),
            image,
            known: RefCell::default(),
        }
    }

    /// A class, if the JDK has it and it can be read.
    pub fn info(&self, class: &str) -> Option<Rc<FoundClass>> {
        if let Some(known) = self.known.borrow().get(class) {
            return known.clone();
        }
        let read = || {
            let bytes = self.image.as_ref()?.read(self.resources.get(class)?).ok()?;
            Some(Rc::new(FoundClass {
                entry: Path::new("lib/modules").to_owned(),
                info: Some(ClassInfo::parse(&bytes).ok()?),
                sha256: String::new(),
                other_sha256: Vec::new(),
                open: false,
            }))
        };
        let found = read();
        let mut known = self.known.borrow_mut();
        known.insert(class.to_owned(), found.clone());
        found
    }

    /// A class and all its supertypes, as far as they are known.
    pub fn supers(&self, class: &str) -> BTreeSet<String> {
        let mut supers = BTreeSet::new();
        let mut pending = vec![class.to_owned()];
        while let Some(name) = pending.pop() {
            if let Some(found) = self.info(&name)
                && let Some(info) = &found.info
                && supers.insert(name)
            {
                pending.extend(info.super_class.iter().chain(&info.interfaces).cloned());
            }
        }
        supers
    }

    /// The constants of a type that is an enum.
    pub fn constants_of_enum(&self, class: &str) -> Vec<String> {
        let found = self.info(class);
        let info = found.as_ref().and_then(|found| found.info.as_ref());
        let Some(info) = info.filter(|info| info.is(access::PUBLIC) && info.is(access::ENUM))
        else {
            return Vec::new();
        };
        let own = info
            .constants
            .iter()
            .filter(|one| one.access & access::ENUM != 0);
        own.map(|one| one.name.clone()).collect()
    }
}

/// All classes that tests may name.
#[derive(Clone, Copy)]
pub struct Classes<'a> {
    /// The program's classes.
    pub own: &'a ClassPath,
    /// The JDK's classes.
    pub platform: &'a Platform,
}

impl Classes<'_> {
    /// A class, if it can be read.
    pub fn info(&self, class: &str) -> Option<Rc<FoundClass>> {
        self.own.info(class).or_else(|| self.platform.info(class))
    }

    /// A class and those that enclose it, from the inside out; `None` if one of them is local, or
    /// cannot be read, or they enclose each other: class files may contradict each other about
    /// nesting.
    pub fn nest(&self, class: &str) -> Option<Vec<Rc<FoundClass>>> {
        let mut nest: Vec<Rc<FoundClass>> = Vec::new();
        let mut next = Some(class.to_owned());
        while let Some(class) = next {
            let found = self.info(&class)?;
            next = match &found.info.as_ref()?.nesting {
                Nesting::TopLevel => None,
                Nesting::Member { outer, .. } => Some(outer.clone()),
                Nesting::Local => return None,
            };
            nest.push(found);
            if nest.len() > MAX_NESTED {
                return None;
            }
        }
        Some(nest)
    }

    /// Whether a class that is not local, and those that enclose it, satisfy `is`.
    pub fn are_all_around(&self, class: &str, is: impl Fn(&ClassInfo) -> bool) -> bool {
        let nest = self.nest(class);
        nest.is_some_and(|nest| {
            let mut infos = nest.iter().map(|found| found.info.as_ref());
            infos.all(|info| info.is_some_and(&is))
        })
    }
}
