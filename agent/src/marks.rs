//! Fields, parameters and classes whose annotations make them secret (`redact=annotation:NAME`).
//!
//! They are read from class files as they are loaded, before any other agent has changed them: the
//! JVM does not keep the annotations of `CLASS` retention.

use hindsight_classfile::{Attribute, ClassFile, ConstantPool, Member, access, tables};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::slice;
use std::sync::RwLock;

/// The depth to which nested annotations and arrays are followed.
const MAX_DEPTH: usize = 16;

/// What is annotated. Classes of the same name are treated as one.
#[derive(Default)]
pub(crate) struct Marks(RwLock<Table>);

#[derive(Default)]
struct Table {
    classes: HashMap<String, Marked>,
    /// The names of all annotated fields.
    fields: HashSet<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Marked {
    whole: bool,
    fields: HashSet<String>,
    /// The annotated parameters, from 1, by name and descriptor of the method.
    parameters: HashMap<(String, String), HashSet<u16>>,
}

impl Marks {
    /// Searches a class file for annotations of these simple names. Returns which of them it has.
    pub(crate) fn look<'n>(
        &self,
        class: &str,
        bytes: &[u8],
        names: &'n [String],
    ) -> Vec<&'n String> {
        // Most classes do not even mention one.
        let mentioned = names.iter().any(|name| {
            let name = name.as_bytes();
            bytes.windows(name.len()).any(|window| window == name)
        });
        let file = mentioned.then(|| ClassFile::parse(bytes).ok()).flatten();
        let Some(file) = file else {
            return Vec::new();
        };
        let marked = read(&file, names);
        if marked == Marked::default() {
            return Vec::new();
        }
        let found = names.iter();
        let found = found.filter(|name| read(&file, slice::from_ref(name)) != Marked::default());
        let found: Vec<&String> = found.collect();
        let Ok(mut table) = self.0.write() else {
            return found;
        };
        table.fields.extend(marked.fields.iter().cloned());
        let known = table.classes.entry(class.to_owned()).or_default();
        known.whole |= marked.whole;
        known.fields.extend(marked.fields);
        for (method, parameters) in marked.parameters {
            known
                .parameters
                .entry(method)
                .or_default()
                .extend(parameters);
        }
        found
    }

    fn ask(&self, class: &str, ask: impl FnOnce(&Marked) -> bool) -> bool {
        let table = self.0.read();
        table.is_ok_and(|table| table.classes.get(class).is_some_and(ask))
    }

    /// Whether objects of a class must not be stored.
    pub(crate) fn class(&self, class: &str) -> bool {
        self.ask(class, |marked| marked.whole)
    }

    pub(crate) fn field(&self, class: &str, field: &str) -> bool {
        self.ask(class, |marked| marked.fields.contains(field))
    }

    /// Whether some class has an annotated field of this name.
    pub(crate) fn some_field(&self, field: &str) -> bool {
        let table = self.0.read();
        table.is_ok_and(|table| table.fields.contains(field))
    }

    /// Whether a parameter, counted from 1, is annotated.
    pub(crate) fn parameter(
        &self,
        class: &str,
        method: &str,
        descriptor: &str,
        index: u16,
    ) -> bool {
        self.ask(class, |marked| {
            let key = (method.to_owned(), descriptor.to_owned());
            let parameters = marked.parameters.get(&key);
            parameters.is_some_and(|parameters| parameters.contains(&index))
        })
    }
}

fn read(file: &ClassFile<'_>, names: &[String]) -> Marked {
    let pool = &file.pool;
    let is_marked = |member: &Member<'_>| annotated(member.attributes.iter(), pool, names);
    let mut marked = Marked {
        whole: annotated(file.attributes.iter(), pool, names),
        ..Marked::default()
    };
    let fields = file.fields.iter().filter(|field| is_marked(field));
    marked
        .fields
        .extend(fields.map(|field| field.name.to_string_lossy().into_owned()));
    let mut components = Vec::new();
    if let Some(record) = file.attributes.find(pool, "Record") {
        components = record_components(&record, pool, names).unwrap_or_default();
        let secret = components.iter().filter(|(_, _, secret)| *secret);
        marked
            .fields
            .extend(secret.map(|(name, _, _)| name.clone()));
    }
    let canonical: String = components
        .iter()
        .map(|(_, descriptor, _)| descriptor.as_str())
        .collect();
    for method in &file.methods {
        let key = (
            method.name.to_string_lossy().into_owned(),
            method.descriptor.to_string_lossy().into_owned(),
        );
        let mut parameters = HashSet::new();
        let declared = Declared::of(file, method);
        for attribute in method.attributes.iter() {
            let name = attribute
                .name(pool)
                .map(|name| name.to_string_lossy().into_owned());
            match name.as_deref() {
                Ok(
                    "RuntimeVisibleParameterAnnotations" | "RuntimeInvisibleParameterAnnotations",
                ) => {
                    let lists = Reader(attribute.info)
                        .parameters(pool, names)
                        .unwrap_or_default();
                    let secret = (0..).zip(&lists).filter(|(_, secret)| **secret);
                    let places = secret.map(|(at, _)| declared.of_list(at, lists.len() as u16));
                    parameters.extend(places.flatten());
                }
                Ok("RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations") => {
                    let targets = Reader(attribute.info)
                        .targets(pool, names)
                        .unwrap_or_default();
                    let formal = targets.iter().filter(|(kind, _)| *kind == 0x16);
                    parameters.extend(formal.flat_map(|(_, at)| declared.of_type(*at)));
                }
                _ => {}
            }
        }
        // The canonical constructor of a record takes its components.
        if key.0 == "<init>" && !components.is_empty() && key.1 == format!("({canonical})V") {
            let secret = (1..).zip(&components).filter(|(_, component)| component.2);
            parameters.extend(secret.map(|(at, _): (u16, _)| at));
        }
        if !parameters.is_empty() {
            marked.parameters.insert(key, parameters);
        }
    }
    marked
}

/// The parameters that a method declares. Compilers add others to constructors of inner classes and
/// enums: before them the outer object or the constant's name and ordinal, behind them what a local
/// class captures.
struct Declared {
    /// The number of all parameters.
    count: u16,
    /// The places of the declared ones, from 1, if `MethodParameters` has them.
    told: Option<Vec<u16>>,
    /// The number of added parameters behind, and before; with a local class the latter may be none
    /// or one.
    behind: u16,
    before: RangeInclusive<u16>,
}

impl Declared {
    fn of(file: &ClassFile<'_>, method: &Member<'_>) -> Declared {
        const SYNTHETIC: u16 = access::SYNTHETIC;
        const MANDATED: u16 = 0x8000;
        let pool = &file.pool;
        let count = method
            .method_descriptor()
            .map_or(0, |parsed| parsed.parameter_count());
        let told = method.attributes.find(pool, "MethodParameters");
        let told = told.and_then(|told| tables::method_parameters(&told).ok());
        let told = told.filter(|entries| entries.len() == usize::from(count));
        let told = told.map(|entries| {
            let declared = (1..).zip(entries);
            let declared = declared.filter(|(_, entry)| entry.access & (SYNTHETIC | MANDATED) == 0);
            declared.map(|(at, _)| at).collect()
        });
        let is_local = file.attributes.find(pool, "EnclosingMethod").is_some();
        let captured = |field: &&Member<'_>| {
            field.is(SYNTHETIC) && field.name.to_string_lossy().starts_with("val$")
        };
        let (behind, before) = match () {
            () if method.name != "<init>" => (0, 0..=0),
            () if file.is(access::ENUM) => (0, 2..=2),
            () if is_local => (file.fields.iter().filter(captured).count() as u16, 0..=1),
            () if is_inner(file).unwrap_or(false) => (0, 1..=1),
            () => (0, 0..=0),
        };
        Declared {
            count,
            told,
            behind,
            before,
        }
    }

    /// The place of a parameter in a list of `len` annotations; all places if that is not clear.
    fn of_list(&self, at: u16, len: u16) -> Vec<u16> {
        let told = self.told.as_ref();
        if let Some(told) = told.filter(|told| told.len() == usize::from(len)) {
            return told.get(usize::from(at)).copied().into_iter().collect();
        }
        let added = self.count.checked_sub(len);
        match added.and_then(|added| added.checked_sub(if added > 0 { self.behind } else { 0 })) {
            Some(before) => vec![before + at + 1],
            None => (1..=self.count).collect(),
        }
    }

    /// The place, or possible places, of the declared parameter whose type is annotated.
    fn of_type(&self, at: u16) -> Vec<u16> {
        match &self.told {
            Some(told) => told.get(usize::from(at)).copied().into_iter().collect(),
            None => self.before.clone().map(|before| before + at + 1).collect(),
        }
    }
}

/// Whether a class is a member of another one and belongs to an object of it.
fn is_inner(file: &ClassFile<'_>) -> Option<bool> {
    let classes = file.attributes.find(&file.pool, "InnerClasses")?;
    let mut reader = Reader(classes.info);
    for _ in 0..reader.u16()? {
        let [class, outer, _, flags] = [reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?];
        if file.pool.class(class).ok()? == file.name().ok()? {
            return Some(outer != 0 && flags & access::STATIC == 0);
        }
    }
    Some(false)
}

/// Whether attributes of a class, field or record component have one of these annotations.
fn annotated<'a>(
    attributes: impl Iterator<Item = Attribute<'a>>,
    pool: &ConstantPool<'a>,
    names: &[String],
) -> bool {
    for attribute in attributes {
        let name = attribute
            .name(pool)
            .map(|name| name.to_string_lossy().into_owned());
        let found = match name.as_deref() {
            Ok("RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations") => {
                Reader(attribute.info).annotations(pool, names)
            }
            Ok("RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations") => {
                let targets = Reader(attribute.info).targets(pool, names);
                targets.map(|targets| targets.iter().any(|(kind, _)| *kind == 0x13))
            }
            _ => Some(false),
        };
        if found.unwrap_or(false) {
            return true;
        }
    }
    false
}

/// The names and descriptors of a record's components, and whether they are annotated.
fn record_components<'a>(
    record: &Attribute<'a>,
    pool: &ConstantPool<'a>,
    names: &[String],
) -> Option<Vec<(String, String, bool)>> {
    let mut reader = Reader(record.info);
    let mut components = Vec::new();
    for _ in 0..reader.u16()? {
        let name = pool
            .utf8(reader.u16()?)
            .ok()?
            .to_string_lossy()
            .into_owned();
        let descriptor = pool
            .utf8(reader.u16()?)
            .ok()?
            .to_string_lossy()
            .into_owned();
        let mut secret = false;
        for _ in 0..reader.u16()? {
            let attribute = pool
                .utf8(reader.u16()?)
                .ok()?
                .to_string_lossy()
                .into_owned();
            let len = usize::try_from(reader.u32()?).ok()?;
            let info = reader.take(len)?;
            secret |= match attribute.as_str() {
                "RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations" => {
                    Reader(info).annotations(pool, names)?
                }
                "RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations" => {
                    let targets = Reader(info).targets(pool, names)?;
                    targets.iter().any(|(kind, _)| *kind == 0x13)
                }
                _ => false,
            };
        }
        components.push((name, descriptor, secret));
    }
    Some(components)
}

/// Reads annotations (JVMS 4.7.16 to 4.7.21); returns `None` once the bytes end too early.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)
            .map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Option<u32> {
        let (high, low) = (self.u16()?, self.u16()?);
        Some(u32::from(high) << 16 | u32::from(low))
    }

    /// Reads a list of annotations. Returns whether one of them has one of these names.
    fn annotations(&mut self, pool: &ConstantPool<'_>, names: &[String]) -> Option<bool> {
        let mut found = false;
        for _ in 0..self.u16()? {
            found |= self.annotation(pool, names, 0)?;
        }
        Some(found)
    }

    /// Reads, for each parameter, whether it is annotated.
    fn parameters(&mut self, pool: &ConstantPool<'_>, names: &[String]) -> Option<Vec<bool>> {
        let count = self.u8()?;
        (0..count).map(|_| self.annotations(pool, names)).collect()
    }

    /// Reads type annotations. Returns the kinds of their targets, with the index of a formal
    /// parameter.
    fn targets(&mut self, pool: &ConstantPool<'_>, names: &[String]) -> Option<Vec<(u8, u16)>> {
        let mut targets = Vec::new();
        for _ in 0..self.u16()? {
            let kind = self.u8()?;
            let mut index = 0;
            match kind {
                0x00 | 0x01 => drop(self.take(1)?),
                0x16 => index = u16::from(self.u8()?),
                0x10 | 0x11 | 0x12 | 0x17 | 0x42..=0x46 => drop(self.take(2)?),
                0x13..=0x15 => {}
                0x40 | 0x41 => {
                    let len = usize::from(self.u16()?) * 6;
                    self.take(len)?;
                }
                0x47..=0x4b => drop(self.take(3)?),
                _ => return None,
            }
            let path = usize::from(self.u8()?);
            self.take(2 * path)?;
            if self.annotation(pool, names, 0)? {
                targets.push((kind, index));
            }
        }
        Some(targets)
    }

    fn annotation(
        &mut self,
        pool: &ConstantPool<'_>,
        names: &[String],
        depth: usize,
    ) -> Option<bool> {
        let descriptor = pool.utf8(self.u16()?).ok()?.to_string_lossy().into_owned();
        let name = descriptor.trim_end_matches(';');
        let simple = name.rsplit(['/', '$']).next().unwrap_or(name);
        // The annotation is in the unnamed package.
        let simple = if name.contains(['/', '$']) {
            simple
        } else {
            simple.strip_prefix('L').unwrap_or(simple)
        };
        for _ in 0..self.u16()? {
            self.u16()?;
            self.value(pool, depth)?;
        }
        Some(names.iter().any(|wanted| wanted == simple))
    }

    fn value(&mut self, pool: &ConstantPool<'_>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.u8()? {
            b'e' => drop(self.take(4)?),
            b'@' => drop(self.annotation(pool, &[], depth + 1)?),
            b'[' => {
                for _ in 0..self.u16()? {
                    self.value(pool, depth + 1)?;
                }
            }
            _ => drop(self.take(2)?),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the constant pool, from index 1 on.
    const TEXTS: [&str; 6] = [
        "La/Secret;",
        "La/Plain;",
        "value",
        "LOuter$Secret;",
        "LSecret;",
        "La/NotSecret;",
    ];
    const SECRET: u16 = 1;
    const PLAIN: u16 = 2;
    const VALUE: u16 = 3;

    /// Reads with that pool, with annotations named `Secret`.
    fn read<'a, T>(
        bytes: &'a [u8],
        read: impl FnOnce(&mut Reader<'a>, &ConstantPool<'_>, &[String]) -> Option<T>,
    ) -> Option<T> {
        let mut pool = (TEXTS.len() as u16 + 1).to_be_bytes().to_vec();
        for text in TEXTS {
            pool.push(1);
            pool.extend((text.len() as u16).to_be_bytes());
            pool.extend(text.as_bytes());
        }
        let pool = ConstantPool::read(&pool).unwrap();
        read(&mut Reader(bytes), &pool, &["Secret".to_owned()])
    }

    fn annotations(bytes: &[u8]) -> Option<bool> {
        read(bytes, Reader::annotations)
    }

    fn annotation(class: u16, values: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = class.to_be_bytes().to_vec();
        bytes.extend((values.len() as u16).to_be_bytes());
        for value in values {
            bytes.extend(VALUE.to_be_bytes());
            bytes.extend(value);
        }
        bytes
    }

    fn list(items: &[Vec<u8>]) -> Vec<u8> {
        let count = (items.len() as u16).to_be_bytes();
        [&count[..], &items.concat()].concat()
    }

    /// A value of each kind, including a secret annotation.
    fn values() -> Vec<Vec<u8>> {
        let nested = [vec![b'@'], annotation(SECRET, &[])].concat();
        let array = [vec![b'['], list(&[vec![b'I', 0, 1], nested.clone()])].concat();
        vec![
            vec![b's', 0, 3],
            vec![b'c', 0, 1],
            vec![b'e', 0, 1, 0, 3],
            nested,
            array,
        ]
    }

    #[test]
    fn an_annotation_is_found_behind_others_and_not_within_them() {
        let plain = annotation(PLAIN, &values());
        assert_eq!(
            annotations(&list(std::slice::from_ref(&plain))),
            Some(false)
        );
        let bytes = list(&[plain, annotation(SECRET, &values())]);
        assert_eq!(annotations(&bytes), Some(true));
        for len in 0..bytes.len() {
            assert_eq!(annotations(&bytes[..len]), None, "{len}");
        }
    }

    #[test]
    fn it_is_the_simple_name_that_counts() {
        let found = (1..=TEXTS.len() as u16).filter(|class| {
            let bytes = list(&[annotation(*class, &[])]);
            annotations(&bytes) == Some(true)
        });
        assert_eq!(found.collect::<Vec<_>>(), [1, 4, 5]);
        // The pool has no such text.
        assert_eq!(annotations(&list(&[annotation(99, &[])])), None);
    }

    #[test]
    fn what_is_nested_too_deep_is_left() {
        let nested = |depth: usize| {
            let value = (0..depth).fold(vec![b'I', 0, 1], |value, _| {
                [vec![b'['], list(&[value])].concat()
            });
            list(&[annotation(SECRET, &[value])])
        };
        assert_eq!(annotations(&nested(MAX_DEPTH)), Some(true));
        assert_eq!(annotations(&nested(10_000)), None);
    }

    #[test]
    fn each_parameter_has_its_own() {
        let [plain, secret] = [PLAIN, SECRET].map(|class| annotation(class, &[]));
        let lists = [list(&[]), list(&[plain.clone(), secret]), list(&[plain])];
        let bytes = [vec![lists.len() as u8], lists.concat()].concat();
        let found = read(&bytes, Reader::parameters);
        assert_eq!(found, Some(vec![false, true, false]));
    }

    #[test]
    fn targets_of_types_have_the_lengths_of_their_kinds() {
        let targets: [&[u8]; 10] = [
            &[0x00, 9],
            &[0x10, 9, 9],
            &[0x12, 9, 9],
            &[0x13],
            &[0x14],
            &[0x16, 2],
            &[0x17, 9, 9],
            &[0x40, 0, 1, 9, 9, 9, 9, 9, 9],
            &[0x42, 9, 9],
            &[0x47, 9, 9, 9],
        ];
        let item = |target: &[u8]| {
            let path = [1, 3, 0];
            [target, &path, &annotation(SECRET, &[])].concat()
        };
        let bytes = list(&targets.map(item));
        let found = read(&bytes, Reader::targets).unwrap();
        let expected = targets.map(|target| (target[0], if target[0] == 0x16 { 2 } else { 0 }));
        assert_eq!(found, expected);

        let plain = [&[0x13][..], &[0], &annotation(PLAIN, &[])].concat();
        assert_eq!(read(&list(&[plain]), Reader::targets), Some(Vec::new()));
        let unknown = list(&[item(&[0x99])]);
        assert_eq!(read(&unknown, Reader::targets), None);
    }
}
