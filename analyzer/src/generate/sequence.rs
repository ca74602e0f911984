//! Sequences of calls.

use super::guard;
use super::lambda::{Given, Lambda};
use crate::java::descriptor;
use crate::java::harm;
use crate::java::names::is_identifier;
use crate::model::mutable::{MethodName, Mutability};
use crate::model::values::Literal;
use std::collections::{BTreeSet, HashMap};

/// A method, by its index in [`Methods`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId(pub u32);

/// A method that sequences may call; or a constant, a static final field, which is read as if it
/// were a method without parameters. Its descriptor is the field's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Method {
    /// The class that declares it, with dots.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Whether it has no receiver.
    pub is_static: bool,
    /// The class whose method runs, if that is known to be another one: a call through an interface
    /// runs a method of the object's class.
    pub runs: Option<String>,
}

impl Method {
    /// Whether a call of it is a call of the JDK that may do harm.
    pub fn harms(&self) -> bool {
        let told = harm::told(&self.class, &self.name, &self.descriptor);
        told.unwrap_or_else(|| guard::stands_in(self))
    }

    /// The same in the form of a source, called by a class that declares or inherits it.
    pub fn called_by(&self, class: String) -> Method {
        let runs = self.runs.as_ref().unwrap_or(&self.class);
        let runs = (*runs != class).then(|| runs.clone());
        Method {
            class,
            runs,
            ..self.clone()
        }
    }

    /// What a source says about it, without which one runs.
    pub fn as_written(&self) -> Method {
        Method {
            runs: None,
            ..self.clone()
        }
    }

    /// Whether it is known not to change the object at `position`, as in [`Mutability`], whatever
    /// other methods of that name do.
    pub fn leaves(&self, mutability: &Mutability, position: i16) -> bool {
        let mut classes = self.runs.iter().chain([&self.class]);
        classes.any(|class| {
            let name = MethodName {
                class,
                name: &self.name,
                descriptor: &self.descriptor,
                is_static: self.is_static,
            };
            mutability.is_immutable(&name, position)
        })
    }

    /// The usual notation of a call of it, with a name of its class.
    pub fn call_of(&self, class: &str) -> String {
        match self.is_constructor() {
            true => format!("new {class}"),
            false => format!("{class}.{}", self.name),
        }
    }

    /// Whether it copies an array of primitives, which represents the array itself in a test.
    pub fn is_array_copy(&self) -> bool {
        self.class == "java.util.Arrays" && self.name == "copyOf" && self.descriptor.len() == 7
    }

    /// Whether it is a constructor.
    pub fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// Whether a source can name it, and people do: compilers of other languages make names that
    /// Java does not permit, and methods of their own.
    pub fn is_named(&self) -> bool {
        self.is_constructor()
            || is_identifier(&self.name)
                && (self.is_constant() || !is_of_compiler(&self.name, &self.descriptor))
    }

    /// Whether it is a constant.
    pub fn is_constant(&self) -> bool {
        !self.descriptor.starts_with('(')
    }

    /// The class of its result, or of the object that it makes.
    pub fn gives(&self) -> Option<String> {
        descriptor::class_name(&self.types().1)
    }

    /// The descriptors of its parameters, and of its result: a constructor's is its object.
    pub fn types(&self) -> (Vec<String>, String) {
        if self.is_constant() {
            return (Vec::new(), self.descriptor.clone());
        }
        let (parameters, result) = descriptor::split(&self.descriptor).unwrap_or_default();
        let parameters = parameters.into_iter().map(str::to_owned).collect();
        match self.is_constructor() {
            true => (parameters, descriptor::of_class(&self.class)),
            false => (parameters, result.to_owned()),
        }
    }
}

/// All methods that sequences may call.
#[derive(Debug, Default)]
pub struct Methods {
    list: Vec<Method>,
    places: HashMap<Method, MethodId>,
}

impl Methods {
    /// The number of a method.
    pub fn intern(&mut self, method: Method) -> MethodId {
        let next = MethodId(self.list.len() as u32);
        let id = *self.places.entry(method.clone()).or_insert(next);
        if id == next {
            self.list.push(method);
        }
        id
    }

    /// A method by its number.
    ///
    /// # Panics
    ///
    /// Panics if there is no such method.
    pub fn get(&self, id: MethodId) -> &Method {
        &self.list[id.0 as usize]
    }

    /// All of them.
    pub fn all(&self) -> &[Method] {
        &self.list
    }
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Arg {
    /// The result of an earlier call, or the object that it made.
    Var(usize),
    /// A number, text or constant; the kind of primitive is the parameter's.
    Literal(Literal),
    /// A new array: the descriptor of its elements, and these.
    Array(String, Vec<Arg>),
    /// A lambda expression.
    Lambda(Box<Lambda>),
}

impl Arg {
    /// Whether it equals the default element of a new array.
    pub fn is_fresh(&self, ty: &str) -> bool {
        match self {
            // A write to an array does not show whether an `int` is a `boolean`.
            Arg::Literal(Literal::Int(0)) if ty == "Z" => true,
            Arg::Literal(literal) => *literal == fresh(ty),
            Arg::Var(_) | Arg::Array(..) | Arg::Lambda(_) => false,
        }
    }

    /// The number of array elements that are written for it.
    pub fn elements(&self) -> usize {
        match self {
            Arg::Var(_) | Arg::Literal(_) | Arg::Lambda(_) => 0,
            Arg::Array(_, elements) => {
                elements.len() + elements.iter().map(Arg::elements).sum::<usize>()
            }
        }
    }

    /// Calls `each` for the variables in it.
    pub fn vars(&self, each: &mut impl FnMut(usize)) {
        match self {
            Arg::Var(var) => each(*var),
            Arg::Literal(_) => {}
            Arg::Array(_, elements) => elements.iter().for_each(|element| element.vars(each)),
            Arg::Lambda(lambda) => {
                if let Some(value) = lambda.value() {
                    value.vars(each);
                }
            }
        }
    }

    /// The same with the variables renumbered.
    pub fn renumbered(&self, to: &impl Fn(usize) -> usize) -> Arg {
        match self {
            Arg::Var(var) => Arg::Var(to(*var)),
            Arg::Literal(literal) => Arg::Literal(literal.clone()),
            Arg::Array(ty, elements) => {
                let elements = elements.iter().map(|element| element.renumbered(to));
                Arg::Array(ty.clone(), elements.collect())
            }
            Arg::Lambda(lambda) => {
                let mut moved = lambda.clone();
                if let Given::Value(value) = &mut moved.gives {
                    *value = value.renumbered(to);
                }
                Arg::Lambda(moved)
            }
        }
    }
}

/// The default element of a new array.
pub fn fresh(ty: &str) -> Literal {
    match ty {
        "Z" => Literal::Bool(false),
        "F" => Literal::Float(0),
        "D" => Literal::Double(0),
        _ if descriptor::is_primitive(ty) => Literal::Int(0),
        _ => Literal::Null,
    }
}

/// A call. Its result is the variable with its index in the sequence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    /// The called method.
    pub method: MethodId,
    /// The receiver, if there is one.
    pub on: Option<usize>,
    /// The arguments.
    pub args: Vec<Arg>,
    /// Whether the sequence continues if it throws.
    pub may_throw: bool,
    /// Whether the object that it returns is asked for its text at once.
    pub shown: bool,
}

impl Statement {
    /// Calls `each` for the variables that it uses.
    pub fn vars(&self, mut each: impl FnMut(usize)) {
        if let Some(on) = self.on {
            each(on);
        }
        for arg in &self.args {
            arg.vars(&mut each);
        }
    }

    /// Whether it uses a variable of which this is true.
    pub fn uses(&self, is: impl Fn(usize) -> bool) -> bool {
        let mut uses = false;
        self.vars(|var| uses |= is(var));
        uses
    }

    /// The same with the variables renumbered.
    pub fn renumbered(&self, to: impl Fn(usize) -> usize) -> Statement {
        Statement {
            method: self.method,
            on: self.on.map(&to),
            args: self.args.iter().map(|arg| arg.renumbered(&to)).collect(),
            may_throw: self.may_throw,
            shown: self.shown,
        }
    }
}

/// Calls, one after another.
pub type Sequence = Vec<Statement>;

/// A sequence without one of its calls, whose result is not used.
pub fn without(sequence: &[Statement], gone: usize) -> Option<Sequence> {
    let is_used = (sequence.iter()).any(|statement| statement.uses(|var| var == gone));
    (!is_used).then(|| without_all(sequence, &BTreeSet::from([gone])))
}

/// A sequence without some of its calls, whose results are not used.
pub fn without_all(sequence: &[Statement], gone: &BTreeSet<usize>) -> Sequence {
    let rest = sequence.iter().enumerate();
    let rest = rest.filter(|(at, _)| !gone.contains(at));
    rest.map(|(_, statement)| statement.renumbered(|var| moved(var, gone)))
        .collect()
}

/// The new index of a call after some others are removed.
pub fn moved(at: usize, gone: &BTreeSet<usize>) -> usize {
    at - gone.range(..at).count()
}

/// The methods that Scala's compiler writes for each case class.
const OF_CASES: [(&str, &str); 6] = [
    ("canEqual", "(Ljava/lang/Object;)Z"),
    ("productArity", "()I"),
    ("productElement", "(I)Ljava/lang/Object;"),
    ("productElementName", "(I)Ljava/lang/String;"),
    ("productIterator", "()Lscala/collection/Iterator;"),
    ("productPrefix", "()Ljava/lang/String;"),
];

/// Whether a method is only for compiled code, in whatever language: Kotlin's `size$main` is
/// internal to a module, Scala's `copy$default$1` is a default argument. This does not include
/// `x_$eq`, which is how other languages write `x = ..`.
pub fn is_of_compiler(name: &str, descriptor: &str) -> bool {
    let mut ends = name.match_indices('$').map(|(at, _)| &name[..at]);
    let is_mangled =
        !name.starts_with('$') && ends.any(|before| before.ends_with(char::is_alphanumeric));
    is_mangled || OF_CASES.contains(&(name, descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_call_alone_is_not_named() {
        for (name, descriptor) in [
            ("size$main", "()I"),
            ("copy$default$1", "()Ljava/lang/String;"),
            ("productArity", "()I"),
            ("access$getX$cp", "()I"),
        ] {
            assert!(is_of_compiler(name, descriptor), "{name}");
        }
        for (name, descriptor) in [
            ("size", "()I"),
            ("x_$eq", "(I)V"),
            ("$plus$eq", "(I)V"),
            ("productArity", "()J"),
        ] {
            assert!(!is_of_compiler(name, descriptor), "{name}");
        }
    }

    #[test]
    fn what_the_guard_stands_in_for_does_harm() {
        let harms = |text: &str| {
            let (name, descriptor) = text.split_at(text.find('(').unwrap());
            let (class, name) = name.rsplit_once('.').unwrap();
            let of_class = class.strip_prefix("static ");
            let method = Method {
                class: of_class.unwrap_or(class).to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                is_static: of_class.is_some(),
                runs: None,
            };
            method.harms()
        };
        for harmful in [
            "static javax.imageio.ImageIO.write(Ljava/awt/image/RenderedImage;Ljava/lang/String;Ljava/io/File;)Z",
            "static com.sun.net.httpserver.HttpServer.create(Ljava/net/InetSocketAddress;I)Lcom/sun/net/httpserver/HttpServer;",
            "com.sun.net.httpserver.HttpServer.bind(Ljava/net/InetSocketAddress;I)V",
            "java.net.URL.openStream()Ljava/io/InputStream;",
        ] {
            assert!(harms(harmful), "{harmful}");
        }
        for harmless in [
            "static javax.imageio.ImageIO.write(Ljava/awt/image/RenderedImage;Ljava/lang/String;Ljava/io/OutputStream;)Z",
            "static java.nio.file.Files.exists(Ljava/nio/file/Path;[Ljava/nio/file/LinkOption;)Z",
            "static java.time.LocalDate.now()Ljava/time/LocalDate;",
            "java.util.ArrayList.add(Ljava/lang/Object;)Z",
        ] {
            assert!(!harms(harmless), "{harmless}");
        }
    }

    /// Elements of arrays of boxes are null at first, whatever the boxes.
    #[test]
    fn new_arrays_are_known_by_their_type() {
        let is_fresh = |literal, ty: &str| Arg::Literal(literal).is_fresh(ty);
        for ty in ["Z", "B", "C", "S", "I", "J"] {
            assert!(is_fresh(Literal::Int(0), ty), "{ty}");
        }
        assert!(is_fresh(Literal::Bool(false), "Z"));
        assert!(is_fresh(Literal::double(0.0), "D") && !is_fresh(Literal::double(-0.0), "D"));
        assert!(is_fresh(Literal::float(0.0), "F"));
        assert!(is_fresh(Literal::Null, "Ljava/lang/Boolean;"));
        assert!(!is_fresh(Literal::Bool(false), "Ljava/lang/Boolean;"));
        assert!(!is_fresh(Literal::Int(0), "Ljava/lang/Object;"));
        assert!(!Arg::Var(0).is_fresh("Ljava/lang/Object;"));
    }
}
