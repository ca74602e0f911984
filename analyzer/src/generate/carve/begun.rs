//! Calls that begin.

use super::lambdas::{self, Begun};
use super::seen::{Value, objects};
use super::{Frame, Open, Recorder, is_main, only_asks};
use crate::classpath::is_jdk;
use crate::generate::sequence::Method;
use crate::java::descriptor;
use crate::model::values::Literal;
use crate::trace::steps::Argument;
use hindsight_classfile::access;
use hindsight_tracelog::trace::dictionary::Code;
use hindsight_tracelog::trace::{Datum, ObjectId};
use std::rc::Rc;

impl Recorder<'_> {
    pub(super) fn enter(&mut self, thread: u64, id: u32, arguments: &[Argument]) {
        let caller = self.threads.get(&thread).and_then(|frames| frames.last());
        let caller = caller.map(|frame| frame.method);
        // What the JDK does internally is part of the call of its method.
        let inner = caller.is_some_and(|caller| self.is_of_jdk(caller)) && self.is_of_jdk(id);
        let call = match inner {
            true => None,
            false => self.open(thread, id, arguments),
        };
        let body = self.begun(id, arguments);
        let frame = Frame {
            method: id,
            call,
            body,
        };
        self.threads.entry(thread).or_default().push(frame);
    }

    /// A call of a method that is a lambda's code, if another one of it is to be kept.
    fn begun(&mut self, method: u32, arguments: &[Argument]) -> Option<Begun> {
        let (dictionary, known) = (self.dictionary, self.bodies.get(&method));
        let is_body = known.copied().unwrap_or_else(|| {
            let declared = dictionary.method(method);
            let is = declared.is_some_and(|(class, one)| {
                let is_behind_one = || {
                    let code = Code {
                        class: class.name.clone(),
                        name: one.name.clone(),
                        descriptor: one.descriptor.clone(),
                    };
                    self.codes.contains(&code)
                };
                // Other calls of a method that is only referred to are not the lambda's.
                lambdas::is_body(&one.name)
                    || one.access & access::SYNTHETIC != 0 && is_behind_one()
            });
            self.bodies.insert(method, is);
            is
        });
        let is_kept = is_body && self.lambdas.is_kept(method);
        is_kept.then(|| Begun {
            entered: self.now,
            passed: (arguments.iter())
                .map(|one| (usize::from(one.index), one.value))
                .collect(),
        })
    }

    fn is_of_jdk(&mut self, method: u32) -> bool {
        if let Some(known) = self.of_jdk.get(&method) {
            return *known;
        }
        let declared = self.dictionary.method(method);
        let is = declared.is_some_and(|(class, _)| is_jdk(&class.name));
        self.of_jdk.insert(method, is);
        is
    }

    fn open(&mut self, thread: u64, id: u32, arguments: &[Argument]) -> Option<Open> {
        let dictionary = self.dictionary;
        let (class, method) = dictionary.method(id)?;
        // A method of a class that no source can name may be called by its bridge, through an
        // interface whose type it does not have.
        let hidden = method.access & access::SYNTHETIC != 0
            && (method.access & access::BRIDGE == 0 || self.access.is_accessible(&class.name));
        if method.access & access::PUBLIC == 0 || hidden || method.name == "<clinit>" {
            return None;
        }
        let is_static = method.access & access::STATIC != 0;
        let called = Method {
            class: class.name.clone(),
            name: method.name.clone(),
            descriptor: method.descriptor.clone(),
            is_static,
            runs: None,
        };
        if is_main(&called) || only_asks(&called) {
            return None;
        }
        let (types, _) = called.types();
        let mut on = None;
        let mut constant = None;
        let mut args = vec![Value::Unknown; types.len()];
        let mut parts = Vec::new();
        for argument in arguments {
            let index = usize::from(argument.index);
            let ty = index.checked_sub(1).and_then(|at| types.get(at));
            let value = self.value(argument.value, ty.map_or("", String::as_str));
            if let Some(ty) = ty {
                let access = &self.access;
                let referred = |code: &Code, count| access.referred(code, count);
                let is_hidden = || {
                    let Datum::Reference(Some(id)) = argument.value else {
                        return false;
                    };
                    let class = dictionary.class(id.class());
                    class.is_some_and(|class| !is_jdk(class) && !access.is_open(class))
                };
                let info = |name: &str| access.info(name);
                (self.lambdas).passed(&value, ty, &info, &referred, &is_hidden);
            }
            objects(&value, &mut |serial| parts.push((serial, 0)));
            match (index, value) {
                (0, Value::Object(serial)) => on = Some(serial),
                (0, Value::Literal(literal)) => {
                    let Datum::Reference(Some(id)) = argument.value else {
                        return None;
                    };
                    constant = Some((id.class(), self.constant_called(id.serial(), literal)?));
                }
                (0, _) => return None,
                (index, value) => *args.get_mut(index - 1)? = value,
            }
        }
        if on.is_some_and(|on| self.is_unmade_of_jdk(on)) {
            return None;
        }
        parts.sort_unstable();
        parts.dedup();
        parts.retain_mut(|(serial, length)| match self.objects.get(serial) {
            Some(object) => {
                *length = object.history.len();
                true
            }
            None => false,
        });
        let of = match (on, &constant) {
            (Some(on), _) => Some(self.objects.get(&on)?.class),
            (None, constant) => constant.as_ref().map(|(class, _)| *class),
        };
        let receiver = match of {
            Some(of) => self.dictionary.class(of)?.to_owned(),
            None => class.name.clone(),
        };
        let key = (receiver, id);
        let method = match self.access.methods.get(&key) {
            Some(known) => known.clone(),
            None => {
                let found = self.access.resolve(&key.0, &called);
                self.access.methods.insert(key, found.clone());
                found
            }
        }?;
        let named = (called.name.as_str(), called.descriptor.as_str());
        let before = match is_static {
            true => self.left.before(&class.name, named, thread),
            false => Vec::new(),
        };
        Some(Open {
            method,
            before,
            on,
            constant: constant.map(|(_, constant)| constant),
            args,
            entered: self.now,
            parts,
        })
    }

    /// Whether this is an object of the JDK that nothing recorded has made or returned, such as
    /// `System.out`. What is done to it does not matter to a test, in which another one replaces
    /// it, as if no calls of the JDK were recorded.
    fn is_unmade_of_jdk(&self, serial: u64) -> bool {
        self.objects.get(&serial).is_some_and(|object| {
            let class = self.dictionary.class(object.class).unwrap_or_default();
            let first = object.history.first();
            is_jdk(class) && first.is_none_or(|first| first.made != Some(serial))
        })
    }

    /// The reading of the enum's constant on which a call is made.
    fn constant_called(&mut self, serial: u64, literal: Literal) -> Option<Rc<Method>> {
        if let Some(known) = self.constants.get(&serial) {
            return Some(known.clone());
        }
        let Literal::Enum(class, name) = literal else {
            return None;
        };
        let constant = Rc::new(Method {
            descriptor: descriptor::of_class(&class),
            class,
            name,
            is_static: true,
            runs: None,
        });
        self.constants.insert(serial, constant.clone());
        Some(constant)
    }

    pub(super) fn bind(&mut self, thread: u64, method: u32, this: Option<ObjectId>) {
        let frames = self.threads.get_mut(&thread);
        let frame = frames.and_then(|frames| {
            let mut frames = frames.iter_mut().rev();
            frames.find(|frame| frame.method == method)
        });
        let (Some(frame), Some(this)) = (frame, this) else {
            return;
        };
        let class = self.dictionary.class(this.class());
        if let Some(open) = &mut frame.call {
            if class == Some(open.method.class.as_str()) {
                open.on = Some(this.serial());
                open.parts.push((this.serial(), 0));
            } else {
                // It is a constructor of a superclass.
                frame.call = None;
            }
        }
    }
}
