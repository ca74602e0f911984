//! Generic types as class files store them (JVMS 4.7.9.1).

/// The greatest depth of types within types that is followed: a class file may have thousands, and
/// no source has them.
pub(crate) const MAX_DEPTH: usize = 64;

/// A type with its arguments, as far as it can be written where no type
/// variable is in scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generic {
    /// The binary name of the class, or the keyword of a primitive type.
    pub class: String,
    /// The type arguments; a wildcard is replaced by its bound.
    pub arguments: Vec<Generic>,
    /// The number of dimensions, if it is an array; else 0.
    pub dimensions: usize,
    /// Whether it is a wildcard without a bound of its own.
    pub any: bool,
}

impl Generic {
    /// The descriptor of its erasure.
    pub fn erased(&self) -> String {
        let class = super::descriptor::of_name(&self.class);
        "[".repeat(self.dimensions) + &class
    }
}

/// The types of a method's parameters; `None` for those that contain a type variable.
pub fn parameters(signature: &str) -> Option<Vec<Option<Generic>>> {
    let start = signature.find('(')?;
    let mut parser = Parser {
        rest: &signature[start + 1..],
        open: false,
        depth: 0,
    };
    let mut types = Vec::new();
    while !parser.rest.starts_with(')') {
        parser.open = false;
        let one = parser.one()?;
        types.push((!parser.open).then_some(one));
    }
    Some(types)
}

/// The type of a method's result, if it contains no type variable.
pub fn result(signature: &str) -> Option<Generic> {
    let mut parser = Parser {
        rest: signature.split_once(')')?.1,
        open: false,
        depth: 0,
    };
    let one = parser.one()?;
    (!parser.open).then_some(one)
}

/// The names of the type variables that a class declares; `None` if its signature breaks the
/// format.
pub fn variables(class: &str) -> Option<Vec<String>> {
    let mut parser = Parser {
        rest: class,
        open: false,
        depth: 0,
    };
    let mut names = Vec::new();
    let Some(rest) = class.strip_prefix('<') else {
        return Some(names);
    };
    parser.rest = rest;
    while !parser.rest.starts_with('>') {
        let end = parser.rest.find(':')?;
        names.push(parser.rest[..end].to_owned());
        parser.rest = &parser.rest[end..];
        while let Some(rest) = parser.rest.strip_prefix(':') {
            parser.rest = rest;
            // The class bound may be missing if there are interface bounds.
            if !rest.starts_with(':') {
                parser.one()?;
            }
        }
    }
    Some(names)
}

/// For each parameter of a method, and finally for its result: the type variable that it is, if it
/// is one.
pub fn variables_used(method: &str) -> Option<Vec<Option<String>>> {
    let mut parser = Parser {
        rest: &method[method.find('(')? + 1..],
        open: false,
        depth: 0,
    };
    let mut used = Vec::new();
    let mut is_result = false;
    loop {
        if let Some(rest) = parser.rest.strip_prefix(')') {
            parser.rest = rest;
            is_result = true;
        }
        let variable = parser.rest.strip_prefix('T');
        used.push(variable.and_then(|rest| Some(rest.split_once(';')?.0.to_owned())));
        if is_result {
            return Some(used);
        }
        parser.one()?;
    }
}

/// The type of a field; `None` if it contains a type variable, or its signature breaks the format.
pub fn field(signature: &str) -> Option<Generic> {
    let mut parser = Parser {
        rest: signature,
        open: false,
        depth: 0,
    };
    let one = parser.one()?;
    (!parser.open && parser.rest.is_empty()).then_some(one)
}

struct Parser<'a> {
    rest: &'a str,
    /// Whether a type variable was met.
    open: bool,
    /// The number of types around the one that is read.
    depth: usize,
}

impl Parser<'_> {
    fn one(&mut self) -> Option<Generic> {
        let dimensions = self.rest.bytes().take_while(|&byte| byte == b'[').count();
        self.rest = &self.rest[dimensions..];
        let (class, arguments) = match self.rest.as_bytes().first()? {
            b'L' if self.depth < MAX_DEPTH => {
                self.rest = &self.rest[1..];
                self.depth += 1;
                let class = self.class()?;
                self.depth -= 1;
                class
            }
            b'T' => {
                self.open = true;
                let end = self.rest.find(';')?;
                self.rest = &self.rest[end + 1..];
                ("java.lang.Object".to_owned(), Vec::new())
            }
            _ => {
                let name = super::descriptor::primitive_name(self.rest.get(..1)?)?;
                self.rest = &self.rest[1..];
                (name.to_owned(), Vec::new())
            }
        };
        Some(Generic {
            class,
            arguments,
            dimensions,
            any: false,
        })
    }

    /// Reads the rest of a class type, after its `L`.
    fn class(&mut self) -> Option<(String, Vec<Generic>)> {
        let mut name = String::new();
        let mut arguments = Vec::new();
        loop {
            let end = self.rest.find(['<', ';', '.'])?;
            name.push_str(&self.rest[..end].replace('/', "."));
            let sign = self.rest.as_bytes()[end];
            self.rest = &self.rest[end + 1..];
            match sign {
                b'<' => {
                    arguments.clear();
                    while !self.rest.starts_with('>') {
                        let argument = self.argument()?;
                        arguments.push(argument);
                    }
                    self.rest = &self.rest[1..];
                }
                b'.' => {
                    // An inner class of a generic one cannot be written without that one's
                    // arguments.
                    self.open |= !arguments.is_empty();
                    arguments.clear();
                    name.push('$');
                }
                _ => return Some((name, arguments)),
            }
        }
    }

    fn argument(&mut self) -> Option<Generic> {
        match self.rest.as_bytes().first()? {
            b'*' => {
                self.rest = &self.rest[1..];
                Some(Generic {
                    class: "java.lang.Object".to_owned(),
                    arguments: Vec::new(),
                    dimensions: 0,
                    any: true,
                })
            }
            b'+' | b'-' => {
                self.rest = &self.rest[1..];
                self.one()
            }
            _ => self.one(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(generic: &Generic) -> String {
        let arguments: Vec<String> = generic.arguments.iter().map(shown).collect();
        let list = match arguments.is_empty() {
            true => String::new(),
            false => format!("<{}>", arguments.join(",")),
        };
        format!("{}{list}{}", generic.class, "[]".repeat(generic.dimensions))
    }

    #[test]
    fn types_are_read() {
        let check = |signature: &str, expected: &[&str]| {
            let types = parameters(signature).unwrap();
            let types: Vec<String> = types
                .iter()
                .map(|one| one.as_ref().map_or("?".to_owned(), shown))
                .collect();
            assert_eq!(types, expected, "{signature}");
        };
        check("()V", &[]);
        check(
            "<T:Ljava/lang/Object;>(ILjava/util/List<Ljava/lang/String;>;TT;[[J)V",
            &["int", "java.util.List<java.lang.String>", "?", "long[][]"],
        );
        check(
            "(Ljava/util/Map<+La/B;-Ljava/util/List<*>;>;Ljava/util/List<TT;>;)V",
            &["java.util.Map<a.B,java.util.List<java.lang.Object>>", "?"],
        );
        check(
            "(La/Outer<Ljava/lang/String;>.Inner;La/O$I;)V",
            &["?", "a.O$I"],
        );
        let given = result("(TT;)Ljava/util/List<La/B;>;^La/E;").unwrap();
        assert_eq!(shown(&given), "java.util.List<a.B>");
        assert_eq!(result("()Ljava/util/List<TT;>;"), None);
        for bad in ["", "(", "(L", "(La", "(La<", "(Q)"] {
            assert_eq!(parameters(bad), None, "{bad}");
        }
    }

    #[test]
    fn variables_are_named() {
        let names = |class: &str| variables(class).map(|names| names.join(","));
        assert_eq!(names("Ljava/lang/Object;").as_deref(), Some(""));
        let class = "<T:Ljava/lang/Object;K::Ljava/lang/Comparable<-TK;>;>Ljava/lang/Object;";
        assert_eq!(names(class).as_deref(), Some("T,K"));
        assert_eq!(names("<T:"), None);
        let used = variables_used("(TT;Ljava/util/List<TT;>;[TT;I)TR;").unwrap();
        let used: Vec<&str> = used
            .iter()
            .map(|one| one.as_deref().unwrap_or("-"))
            .collect();
        assert_eq!(used, ["T", "-", "-", "-", "R"]);
        assert_eq!(variables_used("()V"), Some(vec![None]));
        assert_eq!(variables_used("(TT;"), None);
    }

    #[test]
    fn types_within_each_other_are_followed_only_so_far() {
        let within = |depth: usize| {
            let signature = format!(
                "{}Ljava/lang/String;{}",
                "La/B<".repeat(depth),
                ">;".repeat(depth)
            );
            field(&signature).is_some()
        };
        assert!(within(MAX_DEPTH - 1));
        assert!(!within(MAX_DEPTH));
        assert!(!within(20_000));
    }
}
