//! What is known of the JDK without analysing it: native methods and intrinsics, which have no code
//! to analyse, and methods whose contract says what their many implementations do.
//!
//! A contract is a promise, not a proof: `Collection.size` of a weak map's keys does clean up,
//! `LinkedHashMap.get` may reorder. So `--sound` uses native methods only, and examines every
//! implementation of everything else.
//!
//! - [`shapes`] says which effects there are, [`tables`] which methods have which.
//! - [`Contracts`] finds these methods in a program.

mod shapes;
mod tables;

use super::effects::Summary;
use super::values;
use crate::program::names::{Map, Set};
use crate::program::{MethodId, Program, Sym};
use shapes::Shape::{
    Absorbs, Anything, Backed, Changes, ChangesSecond, Clones, Consumes, Fills, GetsFirst, Hands,
    Outputs, Picks, Pipes, Puts, Reads, Steps, Views,
};
use shapes::summary;
use std::sync::Arc;

/// The known effects, by method.
pub struct Contracts {
    known: Map<MethodId, Arc<Summary>>,
    quiet: Set<MethodId>,
    outside: Set<MethodId>,
    /// The abstract methods of the JDK's functional interfaces.
    functions: Set<MethodId>,
    /// The effect of such a method on an object of a class of the JDK's own.
    hands: Arc<Summary>,
    /// Whether overriding methods are promised to have the effect of the method that they override.
    promises: bool,
}

impl Contracts {
    /// Finds the methods in a program; with `sound`, only the effects of native methods.
    pub fn new(program: &Program, any: Sym, sound: bool) -> Contracts {
        let mut contracts = Contracts::of_shapes(program, any, sound);
        for &(class, methods) in tables::OUTSIDE {
            contracts.outside.extend(named(program, class, methods));
        }
        for method in &contracts.outside {
            if let Some(known) = contracts.known.get_mut(method) {
                Arc::make_mut(known).writes_outside = true;
            }
        }
        contracts
    }

    /// The methods that have a shape.
    fn of_shapes(program: &Program, any: Sym, sound: bool) -> Contracts {
        let element = program
            .names
            .intern(super::facts::Facts::ELEMENT.as_bytes());
        let mut contracts = Contracts {
            known: Map::default(),
            quiet: Set::default(),
            outside: Set::default(),
            functions: Set::default(),
            hands: Arc::new(summary(Hands, any, element)),
            promises: !sound,
        };
        // The entry that is added first counts.
        let running = tables::RUNNING.iter().filter(|_| sound);
        for &(class, methods, shape) in running.chain(tables::NATIVES) {
            let mut known = summary(shape, any, element);
            if sound && shape == Anything {
                known.add_ways(any, true);
            }
            contracts.add(program, class, methods, &Arc::new(known));
        }
        if sound {
            return contracts;
        }
        for &(class, methods, shape) in tables::CONTRACTS.iter().chain(tables::ENTRIES) {
            contracts.add(
                program,
                class,
                methods,
                &Arc::new(summary(shape, any, element)),
            );
        }
        let tables = [
            (
                tables::COLLECTIONS,
                [
                    tables::COLLECTION_READERS,
                    tables::COLLECTION_GETTERS,
                    tables::COLLECTION_VIEWS,
                    tables::COLLECTION_CHANGERS,
                    tables::COLLECTION_BACKED,
                ],
            ),
            (tables::STREAMS, [tables::STREAM_READERS, "", "", "", ""]),
            (
                tables::OPTIONAL,
                [
                    tables::OPTIONAL_READERS,
                    tables::OPTIONAL_GETTERS,
                    tables::OPTIONAL_VIEWS,
                    "",
                    "",
                ],
            ),
            (
                tables::ATOMICS,
                [
                    tables::ATOMIC_READERS,
                    tables::ATOMIC_GETTERS,
                    "",
                    tables::ATOMIC_CHANGERS,
                    "",
                ],
            ),
            (
                tables::MAPS,
                [
                    tables::MAP_READERS,
                    tables::MAP_GETTERS,
                    tables::MAP_VIEWS,
                    tables::MAP_CHANGERS,
                    tables::MAP_BACKED,
                ],
            ),
        ];
        for (classes, methods) in tables {
            for (methods, shape) in methods
                .into_iter()
                .zip([Reads, Picks, Views, Changes, Backed])
            {
                let summary = Arc::new(summary(shape, any, element));
                for class in classes {
                    contracts.add(program, class, methods, &summary);
                }
            }
        }
        let more = [
            (tables::COLLECTIONS, tables::ABSORBERS, Absorbs),
            (tables::MAPS, tables::ABSORBERS, Absorbs),
            (tables::ATOMICS, "<init>", Absorbs),
            (tables::STREAMS, tables::STREAM_ENDS, Consumes),
            (tables::STREAMS, tables::STREAM_GETTERS, Steps),
            (tables::STREAMS, tables::STREAM_VIEWS, Pipes),
            (tables::BUFFERS, tables::BUFFER_READERS, Reads),
            (tables::BUFFERS, tables::BUFFER_STEPS, Consumes),
            (tables::BUFFERS, tables::BUFFER_MOVES, Outputs),
            (tables::BUFFERS, tables::BUFFER_PUTS, Puts),
            (tables::BUFFERS, tables::BUFFER_VIEWS, Views),
            (tables::BUFFERS, "array", Backed),
            (tables::UPDATERS, tables::ATOMIC_GETTERS, GetsFirst),
            (tables::UPDATERS, tables::ATOMIC_CHANGERS, ChangesSecond),
            (tables::COLLECTIONS, "toArray([Ljava/lang/Object;)", Fills),
            (tables::COLLECTIONS, "toArray", Clones),
        ];
        for (classes, methods, shape) in more {
            let summary = Arc::new(summary(shape, any, element));
            for class in classes {
                contracts.add(program, class, methods, &summary);
            }
        }
        let reads = Arc::new(summary(Reads, any, element));
        for method in values::methods(program) {
            (contracts.known.entry(method)).or_insert_with(|| reads.clone());
        }
        // Copies of the JDK's own objects, whatever their classes declare as the result.
        let clones = Arc::new(summary(Clones, any, element));
        for class in program.classes.iter().filter(|class| class.library) {
            for method in class.methods.clone().map(MethodId) {
                let signature = program.names.bytes(program.method(method).signature);
                if signature.starts_with(b"clone()") {
                    (contracts.known.entry(method)).or_insert_with(|| clones.clone());
                }
            }
        }
        for &(class, methods) in tables::QUIET {
            let found = named(program, class, methods);
            contracts.quiet.extend(found);
        }
        // Exceptions keep a message and a cause.
        let throwable = program
            .names
            .find(b"java/lang/Throwable")
            .and_then(|name| program.find(name));
        let keeps = Arc::new(summary(Changes, any, element));
        for class in throwable
            .map(|class| program.subtypes(class))
            .unwrap_or_default()
        {
            let class = program.class(class);
            for number in class.methods.clone().filter(|_| class.library) {
                let signature = program
                    .names
                    .bytes(program.method(MethodId(number)).signature);
                if signature.starts_with(b"<init>(") {
                    contracts
                        .known
                        .entry(MethodId(number))
                        .or_insert_with(|| keeps.clone());
                }
            }
        }
        // Functions of the JDK itself: they call back the functions that the program passes.
        let functional = Arc::new(summary(Reads, any, element));
        for class in program.classes.iter().filter(|class| class.library) {
            let name = program.names.bytes(class.name);
            let functions = name.starts_with(b"java/util/function/")
                || matches!(
                    &*name,
                    b"java/lang/Runnable" | b"java/util/concurrent/Callable"
                );
            for number in class.methods.clone().filter(|_| functions) {
                let id = MethodId(number);
                if program.method(id).is(hindsight_classfile::access::ABSTRACT) {
                    contracts.functions.insert(id);
                    contracts
                        .known
                        .entry(id)
                        .or_insert_with(|| functional.clone());
                }
            }
        }
        contracts
    }

    fn add(&mut self, program: &Program, class: &str, methods: &str, summary: &Arc<Summary>) {
        for method in named(program, class, methods) {
            self.known.entry(method).or_insert_with(|| summary.clone());
        }
    }

    /// Whether only proved effects are included.
    pub fn is_proof(&self) -> bool {
        !self.promises
    }

    /// The effect of a method that changes its receiver, and returns something reachable from it.
    pub fn step(any: Sym, element: Sym) -> Summary {
        summary(Steps, any, element)
    }

    /// Whether a method changes something that is not reachable from a parameter: a setting of the
    /// JVM, a file.
    pub fn changes_outside(&self, method: MethodId) -> bool {
        self.outside.contains(&method)
    }

    /// Whether a method calls no method of its arguments. This is not a proof.
    pub fn is_quiet(&self, method: MethodId) -> bool {
        self.quiet.contains(&method)
    }

    /// The effect of a method of the library and of the methods that override it, if that is
    /// promised.
    pub fn promise(&self, method: MethodId) -> Option<&Arc<Summary>> {
        self.find(method).filter(|_| self.promises)
    }

    /// The promised effect of a method on an object of a class of the library's own: a function of
    /// such a class may return its arguments.
    pub fn promise_of_library(&self, method: MethodId) -> Option<&Arc<Summary>> {
        match self.functions.contains(&method) {
            true => Some(&self.hands),
            false => self.promise(method),
        }
    }

    /// The effect of a method of the library, if it is known.
    pub fn find(&self, method: MethodId) -> Option<&Arc<Summary>> {
        self.known.get(&method)
    }
}

/// The methods of a class of the library that have one of these names, which are separated by
/// blanks.
fn named<'p>(
    program: &'p Program,
    class: &str,
    methods: &'p str,
) -> impl Iterator<Item = MethodId> + 'p {
    of_class(program, class).filter(move |&method| {
        let signature = program.names.bytes(program.method(method).signature);
        let until = |byte: u8| signature.iter().position(|&other| other == byte);
        let name = &signature[..until(b'(').unwrap_or(signature.len())];
        // An overloaded method is named with its parameters.
        let whole = &signature[..until(b')').map_or(signature.len(), |at| at + 1)];
        methods
            .split_ascii_whitespace()
            .any(|wanted| wanted.as_bytes() == name || wanted.as_bytes() == whole)
    })
}

/// The methods of a class of the library.
pub(super) fn of_class<'p>(
    program: &'p Program,
    class: &str,
) -> impl Iterator<Item = MethodId> + use<'p> {
    let class = program
        .names
        .find(class.as_bytes())
        .and_then(|name| program.find(name))
        .map(|class| program.class(class))
        .filter(|class| class.library);
    let numbers = class.map_or(0..0, |class| class.methods.clone());
    numbers.map(MethodId)
}
