//! Descriptors (JVMS 4.3).

/// The parameters and the return type of a method descriptor; `None` if it is
/// malformed.
pub fn split(descriptor: &str) -> Option<(Vec<&str>, &str)> {
    let mut rest = descriptor.strip_prefix('(')?;
    let mut parameters = Vec::new();
    while !rest.starts_with(')') {
        let len = type_len(rest)?;
        let (parameter, tail) = rest.split_at(len);
        parameters.push(parameter);
        rest = tail;
    }
    let result = &rest[1..];
    (result == "V" || type_len(result) == Some(result.len())).then_some((parameters, result))
}

/// The length in bytes of the field descriptor at the start of `text`.
fn type_len(text: &str) -> Option<usize> {
    let dimensions = text.bytes().take_while(|&byte| byte == b'[').count();
    let element = &text[dimensions..];
    match element.as_bytes().first()? {
        b'Z' | b'B' | b'C' | b'S' | b'I' | b'J' | b'F' | b'D' => Some(dimensions + 1),
        b'L' => element
            .find(';')
            .filter(|&end| end > 1)
            .map(|end| dimensions + end + 1),
        _ => None,
    }
}

/// The keyword of a primitive type.
pub fn primitive_name(descriptor: &str) -> Option<&'static str> {
    Some(match descriptor {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        "V" => "void",
        _ => return None,
    })
}

/// Whether a descriptor is that of a primitive type.
pub fn is_primitive(descriptor: &str) -> bool {
    primitive_name(descriptor).is_some()
}

/// The number of dimensions and the element type of an array's descriptor; 0 and the descriptor
/// itself for other types.
pub fn element(descriptor: &str) -> (usize, &str) {
    let dimensions = descriptor.bytes().take_while(|&byte| byte == b'[').count();
    (dimensions, &descriptor[dimensions..])
}

/// The binary name (with dots) of a class type's descriptor.
pub fn class_name(descriptor: &str) -> Option<String> {
    let internal = descriptor.strip_prefix('L')?.strip_suffix(';')?;
    Some(internal.replace('/', "."))
}

/// A type as sources name it, with the binary names of nested classes: `int`, `a.B$C[]`.
pub fn type_name(descriptor: &str) -> String {
    let (dimensions, element) = element(descriptor);
    let name = primitive_name(element).map(str::to_owned);
    let name = name
        .or_else(|| class_name(element))
        .unwrap_or_else(|| element.to_owned());
    name + &"[]".repeat(dimensions)
}

/// The descriptor of a type without dimensions, given by its name in sources.
pub fn of_name(name: &str) -> String {
    let primitive = ["Z", "B", "C", "S", "I", "J", "F", "D", "V"]
        .into_iter()
        .find(|one| primitive_name(one) == Some(name));
    primitive.map_or_else(|| of_class(name), str::to_owned)
}

/// The descriptor of a class whose name has the form of Java's `Class.getName`.
pub fn of_class(name: &str) -> String {
    if name.starts_with('[') {
        return name.replace('.', "/");
    }
    format!("L{};", name.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_split() {
        assert_eq!(split("()V"), Some((vec![], "V")));
        assert_eq!(
            split("(I[[JLa/B;[Lc;)[I"),
            Some((vec!["I", "[[J", "La/B;", "[Lc;"], "[I"))
        );
        for bad in [
            "", "(", "()", "(I", "(Q)V", "(La)V", "(L;)V", "()II", "([)V", "I",
        ] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }
}
