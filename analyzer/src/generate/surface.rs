//! What can be called in a program: public methods of public classes, the values to call them with,
//! and the methods of calls in models.
//!
//! - `pools` has values that are tried with any program.

mod pools;

use super::carve::{Access, is_main};
use super::lambda::{Functional, is_written_for};
use super::platform::Platform;
use super::sequence::{Arg, Method, MethodId, Methods, Statement};
use super::ways::Ways;
use crate::classinfo;
use crate::java::descriptor;
use crate::java::signature::{self, Generic};
use crate::model::values::Literal;
use crate::model::{CallId, Model};
use hindsight_classfile::{ClassFile, Constant, access, opcode};
use hindsight_instrument::glob::Globs;
use pools::base_pools;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The most constants of one class that are put into the pool.
const MAX_CONSTANTS: usize = 200;
/// The weight of a value that a run has used, compared with constants of the code.
const OF_RUN: u64 = 1 << 32;

/// The methods that can be called, with their values.
pub struct Surface {
    /// All public methods, constructors and constants of the tested classes.
    pub methods: Vec<MethodId>,
    by_class: BTreeMap<String, Vec<MethodId>>,
    /// By the class of a field, the public constants of the tested classes, and of those in the
    /// model.
    constants: BTreeMap<String, Vec<MethodId>>,
    /// The methods of calls in the model, as far as they may be called.
    pub modelled: HashMap<CallId, MethodId>,
    pools: HashMap<String, Vec<Literal>>,
    /// For each class of the class path, its superclass and the interfaces that it names.
    parents: HashMap<String, Vec<String>>,
    /// The ways to make objects of the JDK's classes.
    pub ways: Ways,
    /// Constructors of inner classes, which no source can call without an outer instance.
    inner: HashSet<MethodId>,
    /// For methods with type arguments in their parameters, the types of these.
    generics: HashMap<Method, Vec<Option<Generic>>>,
    /// The results of methods whose types have type arguments.
    results: HashMap<Method, Generic>,
    /// The types of parameters of which there can be lambdas.
    functional: HashMap<String, Functional>,
}

/// The methods that are admitted.
struct Admitted<'a> {
    /// The classes whose methods are admitted.
    class: &'a mut dyn FnMut(&str, &ClassFile<'_>) -> bool,
    /// The access flags of which methods must have one, if there are any.
    flags: u16,
    /// Whether the values of the model are tried.
    values: bool,
}

impl Surface {
    /// The surface of the classes that `wanted` matches; if it matches nothing in particular, of
    /// those whose objects are in the model. With `values`, the model's values are tried.
    pub fn new(
        classes: &[Vec<u8>],
        wanted: &Globs,
        model: Option<&Model>,
        values: bool,
        access: &mut Access<'_>,
        methods: &mut Methods,
    ) -> Surface {
        let platform = access.platform();
        let mut can = |name: &str, _: &ClassFile<'_>| access.is_accessible(name);
        let admitted = Admitted {
            class: &mut can,
            flags: access::PUBLIC,
            values,
        };
        let mut surface = Surface::of(classes, wanted, model, admitted, platform, methods);
        if let Some(model) = model {
            surface.add_model(model, access, methods);
        }
        surface.add_inner(access, methods);
        surface.add_enums(platform, methods);
        surface.add_functional(access, methods);
        surface
    }

    /// All that is not private, as other classes of the same packages can call it.
    pub fn of_packages(classes: &[Vec<u8>], platform: &Platform, methods: &mut Methods) -> Surface {
        let mut can = |_: &str, file: &ClassFile<'_>| !file.is(access::SYNTHETIC);
        let globs = Globs::default();
        let admitted = Admitted {
            class: &mut can,
            flags: 0,
            values: false,
        };
        let mut surface = Surface::of(classes, &globs, None, admitted, platform, methods);
        surface.add_enums(platform, methods);
        surface
    }

    fn of(
        classes: &[Vec<u8>],
        wanted: &Globs,
        model: Option<&Model>,
        admitted: Admitted<'_>,
        platform: &Platform,
        methods: &mut Methods,
    ) -> Surface {
        let mut surface = Surface {
            methods: Vec::new(),
            by_class: BTreeMap::new(),
            constants: BTreeMap::new(),
            modelled: HashMap::new(),
            pools: base_pools(),
            parents: HashMap::new(),
            ways: Ways::new(platform, methods),
            inner: HashSet::new(),
            generics: HashMap::new(),
            results: HashMap::new(),
            functional: HashMap::new(),
        };
        let mut texts = Seen::default();
        let mut numbers = Seen::default();
        for bytes in classes {
            let Ok(file) = ClassFile::parse(bytes) else {
                continue;
            };
            let Ok(name) = file.name() else { continue };
            let name = name.to_string_lossy().replace('/', ".");
            let tested = match (wanted.is_empty(), model) {
                (false, _) => wanted.matches(&name),
                (true, Some(model)) => model.classes.contains_key(&name),
                (true, None) => true,
            };
            surface.add_parents(&file, &name);
            surface.add_enum(&file, &name);
            let known = model.is_some_and(|model| model.classes.contains_key(&name));
            if (tested || known) && (admitted.class)(&name, &file) {
                surface.add_constants(&file, &name, tested, methods);
                surface.add_generics(&file, &name);
            }
            if !tested || !(admitted.class)(&name, &file) {
                continue;
            }
            surface.add_class(&file, &name, admitted.flags, methods);
            for constant in constants(&file) {
                match constant {
                    Constant::String(text) if text.as_bytes().len() <= 80 => {
                        texts.add(text.to_string_lossy().into_owned(), 1);
                    }
                    Constant::Integer(value) => {
                        numbers.add(i64::from(value), 1);
                    }
                    _ => {}
                }
            }
        }
        if let Some(model) = model.filter(|_| admitted.values) {
            for class in model.classes.values() {
                for node in class.graph.order(&|id| id) {
                    for edge in class.graph.edges(node) {
                        for (value, seen) in edge
                            .tally
                            .values
                            .values()
                            .flat_map(|values| values.sorted())
                        {
                            match value {
                                Literal::Text(text) if text.len() <= 80 => {
                                    texts.add(text.clone(), OF_RUN + seen.counts.total());
                                }
                                Literal::Int(value) => {
                                    numbers.add(*value, OF_RUN + seen.counts.total());
                                }
                                _ => {}
                            }
                        }
                    }
                }
            }
        }
        let texts = texts.most(|_| true).into_iter().map(Literal::Text);
        surface.extend("Ljava/lang/String;", texts.collect());
        for (ty, least, most) in [
            ("I", i64::from(i32::MIN), i64::from(i32::MAX)),
            ("J", i64::MIN, i64::MAX),
        ] {
            let fitting = numbers.most(|value| (least..=most).contains(value));
            surface.extend(ty, fitting.into_iter().map(Literal::Int).collect());
        }
        surface
    }

    /// The methods of one class.
    pub fn of_class(&self, class: &str) -> &[MethodId] {
        self.by_class.get(class).map_or(&[], Vec::as_slice)
    }

    /// Whether tests of a class are wanted.
    pub fn is_tested(&self, class: &str) -> bool {
        self.by_class.contains_key(class)
    }

    /// The tested classes.
    pub fn classes(&self) -> impl Iterator<Item = &String> {
        self.by_class.keys()
    }

    /// The values that can be written as literals.
    pub fn pool(&self, ty: &str) -> &[Literal] {
        self.pools.get(ty).map_or(&[], Vec::as_slice)
    }

    fn extend(&mut self, ty: &str, values: Vec<Literal>) {
        let pool = self.pools.entry(ty.to_owned()).or_default();
        for value in values {
            if !pool.contains(&value) {
                pool.push(value);
            }
        }
    }

    /// A class and all its supertypes, as far as the class path has them.
    pub fn supers(&self, class: &str) -> BTreeSet<String> {
        let mut supers = BTreeSet::new();
        let mut pending = vec![class.to_owned()];
        while let Some(name) = pending.pop() {
            pending.extend(self.parents.get(&name).into_iter().flatten().cloned());
            supers.insert(name);
        }
        // Every object is one, so it says nothing.
        supers.remove("java.lang.Object");
        supers
    }

    fn add_parents(&mut self, file: &ClassFile<'_>, name: &str) {
        let interfaces = file.interface_names().filter_map(Result::ok);
        let parents = file
            .super_name()
            .ok()
            .flatten()
            .into_iter()
            .chain(interfaces);
        let parents = parents.map(|name| name.to_string_lossy().replace('/', "."));
        self.parents.insert(name.to_owned(), parents.collect());
    }

    fn add_enum(&mut self, file: &ClassFile<'_>, name: &str) {
        if !file.is(access::ENUM) {
            return;
        }
        let constants = file.fields.iter().filter(|field| field.is(access::ENUM));
        let values = constants
            .map(|field| Literal::Enum(name.to_owned(), field.name.to_string_lossy().into_owned()))
            .collect();
        self.extend(&format!("L{};", name.replace('.', "/")), values);
    }

    fn add_generics(&mut self, file: &ClassFile<'_>, name: &str) {
        for member in &file.methods {
            let signature = classinfo::signature(file, &member.attributes);
            let Some(signature) = signature else { continue };
            let method = || Method {
                class: name.to_owned(),
                name: member.name.to_string_lossy().into_owned(),
                descriptor: member.descriptor.to_string_lossy().into_owned(),
                is_static: member.is(access::STATIC),
                runs: None,
            };
            let known = |one: &Generic| !one.arguments.is_empty();
            if let Some(result) = signature::result(&signature).filter(known) {
                self.results.insert(method(), result);
            }
            let parameters = signature::parameters(&signature).unwrap_or_default();
            if parameters.iter().flatten().any(known) {
                self.generics.insert(method(), parameters);
            }
        }
    }

    /// The type of a parameter with its type arguments, if it has any and they are known.
    pub fn generic(&self, method: &Method, parameter: usize) -> Option<&Generic> {
        let parameters = self.generics.get(method)?;
        // Constructors of enums and inner classes have parameters that their signatures omit.
        let left_out = method.types().0.len().checked_sub(parameters.len())?;
        parameters.get(parameter.checked_sub(left_out)?)?.as_ref()
    }

    /// The type of a call's result in a sequence, with its type arguments: from its signature, or
    /// from that of the call that takes it first.
    pub fn generic_of(
        &self,
        sequence: &[Statement],
        var: usize,
        methods: &Methods,
    ) -> Option<&Generic> {
        let made = methods.get(sequence.get(var)?.method);
        self.results.get(made).or_else(|| {
            let taken = sequence.iter().find_map(|statement| {
                let at = statement
                    .args
                    .iter()
                    .position(|arg| *arg == Arg::Var(var))?;
                self.generic(methods.get(statement.method), at)
            });
            taken.filter(|taken| !taken.arguments.is_empty())
        })
    }

    /// Whether an object of one type cannot have the other one, because of their type arguments.
    pub fn contradict(&self, one: &Generic, other: &Generic) -> bool {
        let is_any = |one: &Generic| one.class == "java.lang.Object" && one.dimensions == 0;
        if one.arguments.len() != other.arguments.len() {
            return false;
        }
        one.arguments
            .iter()
            .zip(&other.arguments)
            .any(|(one, other)| {
                let is_same = one.class == other.class && one.dimensions == other.dimensions;
                let is_beside = || {
                    let is_above = |one: &str, other: &str| self.supers(one).contains(other);
                    !is_above(&one.class, &other.class) && !is_above(&other.class, &one.class)
                };
                !is_any(one)
                    && !is_any(other)
                    && (!is_same && is_beside() || self.contradict(one, other))
            })
    }

    fn add_inner(&mut self, access: &Access<'_>, methods: &Methods) {
        let called = self.methods.iter().chain(self.modelled.values());
        let inner = called.copied().filter(|id| {
            let method = methods.get(*id);
            let found = access.info(&method.class);
            let info = found.as_ref().and_then(|found| found.info.as_ref());
            method.is_constructor() && info.is_some_and(|info| info.around().is_some())
        });
        self.inner = inner.collect();
    }

    /// Whether a source can make a call with these arguments.
    pub fn is_written(&self, method: MethodId, args: &[Arg]) -> bool {
        !self.inner.contains(&method) || args.first() != Some(&Arg::Literal(Literal::Null))
    }

    /// The functional interface of this name, if there can be lambdas of it.
    pub fn functional(&self, class: &str) -> Option<&Functional> {
        self.functional.get(class)
    }

    fn add_functional(&mut self, access: &mut Access<'_>, methods: &Methods) {
        let called = self.methods.iter().chain(self.modelled.values());
        let types: BTreeSet<String> = called.flat_map(|id| methods.get(*id).types().0).collect();
        for class in types.iter().filter_map(|ty| descriptor::class_name(ty)) {
            if is_written_for(&class)
                && access.is_accessible(&class)
                && let Some(known) = Functional::of(&class, &|name| access.info(name))
            {
                self.functional.insert(class, known);
            }
        }
    }

    /// Adds constants of the JDK's enums, for parameters of these.
    fn add_enums(&mut self, platform: &Platform, methods: &Methods) {
        let called = self.methods.iter().chain(self.modelled.values());
        let types: BTreeSet<String> = called.flat_map(|id| methods.get(*id).types().0).collect();
        for ty in types {
            let Some(class) = descriptor::class_name(&ty) else {
                continue;
            };
            let constants = platform.constants_of_enum(&class).into_iter();
            let values = constants.map(|name| Literal::Enum(class.clone(), name));
            self.extend(&ty, values.collect());
        }
    }

    /// Adds constants of the class that are objects, without those that are literals.
    fn add_constants(
        &mut self,
        file: &ClassFile<'_>,
        name: &str,
        tested: bool,
        methods: &mut Methods,
    ) {
        for field in &file.fields {
            let is_constant = [access::PUBLIC, access::STATIC, access::FINAL]
                .into_iter()
                .all(|flag| field.is(flag));
            let descriptor = field.descriptor.to_string_lossy().into_owned();
            let Some(class) = descriptor::class_name(&descriptor) else {
                continue;
            };
            let constant = Method {
                class: name.to_owned(),
                name: field.name.to_string_lossy().into_owned(),
                descriptor,
                is_static: true,
                runs: None,
            };
            if !is_constant
                || field.is(access::ENUM)
                || class.starts_with("java.lang.")
                || !constant.is_named()
            {
                continue;
            }
            let id = methods.intern(constant);
            if tested {
                self.methods.push(id);
            }
            self.constants.entry(class).or_default().push(id);
        }
    }

    /// Constants that are objects of a class, by the types of their fields.
    pub fn constants_of(&self, class: &str) -> &[MethodId] {
        self.constants.get(class).map_or(&[], Vec::as_slice)
    }

    fn add_class(&mut self, file: &ClassFile<'_>, name: &str, flags: u16, methods: &mut Methods) {
        for member in &file.methods {
            let method = Method {
                class: name.to_owned(),
                name: member.name.to_string_lossy().into_owned(),
                descriptor: member.descriptor.to_string_lossy().into_owned(),
                is_static: member.is(access::STATIC),
                runs: None,
            };
            let cannot = method.is_constructor() && file.is(access::ABSTRACT | access::ENUM);
            // Constants of an enum are literals.
            let of_compiler = file.is(access::ENUM)
                && matches!(method.name.as_str(), "values" | "valueOf")
                && method.is_static;
            if flags != 0 && !member.is(flags)
                || of_compiler
                || member.is(access::PRIVATE)
                || member.is(access::SYNTHETIC)
                || !method.is_named()
                || cannot
                || is_main(&method)
                || method.types().0.len() > 12
            {
                continue;
            }
            let id = methods.intern(method);
            self.methods.push(id);
            self.by_class.entry(name.to_owned()).or_default().push(id);
        }
    }

    fn add_model(&mut self, model: &Model, access: &mut Access<'_>, methods: &mut Methods) {
        for class in model.classes.values() {
            for node in class.graph.order(&|id| id) {
                for edge in class.graph.edges(node) {
                    let call = model.call(edge.call);
                    if self.modelled.contains_key(&edge.call) || !access.is_accessible(&call.class)
                    {
                        continue;
                    }
                    let method = Method {
                        class: call.class.clone(),
                        name: call.method.clone(),
                        descriptor: call.descriptor.clone(),
                        is_static: call.is_static,
                        runs: None,
                    };
                    if !is_main(&method) && !method.harms() && method.is_named() {
                        self.modelled.insert(edge.call, methods.intern(method));
                    }
                }
            }
        }
    }
}

/// Constants, with how often they occurred.
#[derive(Default)]
struct Seen<T> {
    counts: BTreeMap<T, u64>,
}

impl<T: Ord + Clone> Seen<T> {
    fn add(&mut self, value: T, times: u64) {
        let count = self.counts.entry(value).or_default();
        *count = count.saturating_add(times);
    }

    /// Of those that satisfy `will_do`, the most frequent; of each size if many are equally
    /// frequent.
    fn most(&self, will_do: impl Fn(&T) -> bool) -> Vec<T> {
        let mut by_count: BTreeMap<u64, Vec<&T>> = BTreeMap::new();
        for (value, count) in self.counts.iter().filter(|(value, _)| will_do(value)) {
            by_count.entry(*count).or_default().push(value);
        }
        let mut most = Vec::new();
        for alike in by_count.into_values().rev() {
            let taken = alike.len().min(MAX_CONSTANTS - most.len());
            most.extend((0..taken).map(|at| alike[at * alike.len() / taken].clone()));
        }
        most
    }
}

/// The constants that code loads or fields have; others are the compiler's own, such as the recipes
/// of string concatenation.
fn constants<'a>(file: &ClassFile<'a>) -> Vec<Constant<'a>> {
    let mut indices = BTreeSet::new();
    for method in &file.methods {
        let Ok(Some(code)) = method.code(&file.pool) else {
            continue;
        };
        let loads = code
            .instructions()
            .flatten()
            .filter_map(|insn| match insn.opcode {
                opcode::LDC => insn.bytes.get(1).map(|index| u16::from(*index)),
                opcode::LDC_W => Some(insn.constant()),
                _ => None,
            });
        indices.extend(loads.take(20 * MAX_CONSTANTS));
    }
    for field in &file.fields {
        let value = field.attributes.find(&file.pool, "ConstantValue");
        if let Some(&[high, low]) = value.map(|value| value.info) {
            indices.insert(u16::from_be_bytes([high, low]));
        }
    }
    let found = indices
        .into_iter()
        .filter_map(|index| file.pool.get(index).ok());
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_most_comes_first() {
        let mut seen = Seen::default();
        (0..1000).for_each(|value| seen.add(value, 1));
        seen.add(999, OF_RUN);
        let most = seen.most(|value| *value != 0);
        assert_eq!(most.len(), MAX_CONSTANTS);
        assert_eq!(most[0], 999);
        // They are of all sizes, not only the smallest.
        assert!(
            most.iter().any(|value| (900..999).contains(value)),
            "{most:?}"
        );
        assert!(!most.contains(&0));
    }
}
