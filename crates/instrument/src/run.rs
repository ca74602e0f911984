//! To which run the probes in a class belong, and how the probes of other runs are silenced.
//!
//! Probes name methods and fields by numbers that one run has assigned. A tool that keeps rewritten
//! classes (a cache of woven ones) brings the numbers of another run, and so do classes that were
//! rewritten without a JVM: for a recorder, these numbers mean other methods and other places in
//! objects.

use hindsight_classfile::{Attribute, ClassFile, PoolBuilder, tag};

use crate::Error;
use crate::contract::{PROBE, SILENT, WRITES, trace::TRACE};

/// The attribute of a class with probes: eight bytes, the number of the run, and eight more, which
/// are zero. A JVM ignores attributes that it does not know (JVMS 4.7.1).
///
/// It ends the class file. In storms of retransformations HotSpot 25 hands out bytes that it has
/// freed, and glibc writes the size of a freed block into the last eight bytes before the next.
const ATTRIBUTE: &str = "dev.hindsight.Run";

/// Adds the attribute to a class that has just been assembled from `class`, whose constants are in
/// it already.
pub(crate) fn stamp(class: &ClassFile<'_>, run: u64, name_index: u16, out: &mut Vec<u8>) {
    let info = u128::from(run) << u64::BITS;
    let attribute = Attribute {
        name_index,
        info: &info.to_be_bytes(),
        offset: 0,
    };
    class.attributes.add(out, &attribute);
}

/// The constant for the attribute's name; `None` if there is no room for it, or for one more
/// attribute of the class.
pub(crate) fn name(class: &ClassFile<'_>, added: &mut PoolBuilder) -> Option<u16> {
    class.attributes.len().checked_add(1)?;
    added.utf8(ATTRIBUTE.as_bytes()).ok()
}

/// The run to which the probes in a class belong, see
/// [`Workspace::of_run`](crate::Workspace::of_run); `None` if the class does not say.
pub fn run_of(class: &ClassFile<'_>) -> Option<u64> {
    // Whoever instruments a class once more adds another attribute behind the old one.
    let attributes = class.attributes.iter();
    let stamps = attributes.filter(|one| one.name(&class.pool).is_ok_and(|name| name == ATTRIBUTE));
    let number = stamps.last()?.info.first_chunk()?;
    Some(u64::from_be_bytes(*number))
}

/// Replaces all calls of probes in a class by calls of [`SILENT`]; the class is otherwise as it
/// was. Method references that were turned to [stand-ins](crate::contract::stand_ins) still lead to
/// these, whose class has to be there.
///
/// # Errors
///
/// Fails if the file breaks the format.
pub fn silenced(class: &[u8]) -> Result<Vec<u8>, Error> {
    let parsed = ClassFile::parse(class)?;
    let mut pool = Vec::new();
    for (_, constant) in parsed.pool.raw_constants() {
        match constant {
            [tag::UTF8, _, _, text @ ..] => write_text(text, &mut pool),
            other => pool.extend_from_slice(other),
        }
    }
    // The constants begin behind the magic number, the version and the number of constants.
    let (head, body) = class.split_at(HEAD);
    Ok([head, &pool, &body[parsed.pool.raw().len()..]].concat())
}

/// The number of bytes of a class file before its constants (JVMS 4.1).
const HEAD: usize = 10;

/// Writes a text constant with the names of the probes' classes in it replaced, both where they
/// stand alone and within descriptors.
fn write_text(text: &[u8], out: &mut Vec<u8>) {
    let mut new = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        let found = [PROBE, WRITES, TRACE]
            .iter()
            .find(|name| rest.starts_with(name.as_bytes()));
        match found {
            Some(name) => {
                new.extend_from_slice(SILENT.as_bytes());
                rest = &rest[name.len()..];
            }
            None => {
                new.push(first);
                rest = behind;
            }
        }
    }
    // A text that would become too long stays as it was; none of our names and descriptors does.
    let new = if new.len() > usize::from(u16::MAX) {
        text
    } else {
        &new
    };
    out.push(tag::UTF8);
    out.extend_from_slice(&(new.len() as u16).to_be_bytes());
    out.extend_from_slice(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Copy, CrashPlan, Rules, TracePlan, What, Workspace};

    /// A class with one method, which may throw.
    fn plain() -> Vec<u8> {
        let mut class = Vec::new();
        class.extend_from_slice(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 11]);
        let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
        for constant in [
            text("p/Q"),
            vec![7, 0, 1],
            text("java/lang/Object"),
            vec![7, 0, 3],
            text("len"),
            text("([I)I"),
            text("Code"),
            text("a text of java/lang/Hindsight"),
            vec![8, 0, 8],
            text("StackMapTable"),
        ] {
            class.extend(constant);
        }
        class.extend_from_slice(&[0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0, 0, 1]);
        // static int len(int[] a) { return a.length; }
        class.extend_from_slice(&[0, 9, 0, 5, 0, 6, 0, 1, 0, 7, 0, 0, 0, 15]);
        class.extend_from_slice(&[0, 1, 0, 1, 0, 0, 0, 3, 0x2a, 0xbe, 0xac, 0, 0, 0, 0]);
        class.extend_from_slice(&[0, 0]);
        class
    }

    fn instrumented(run: u64, traced: bool) -> Vec<u8> {
        rewritten(&plain(), run, traced).unwrap()
    }

    fn rewritten(class: &[u8], run: u64, traced: bool) -> Option<Vec<u8>> {
        let mut workspace = Workspace::of_run(run);
        if traced {
            let plan = TracePlan {
                what: &|_, _| What {
                    calls: true,
                    values: true,
                    ..What::default()
                },
                first_method: 7,
                first_field: 0,
                first_callee: 0,
                first_block: 0,
                tracer: TRACE,
                is_secret: &|_| false,
            };
            return workspace.trace(class, &plan).unwrap().class;
        }
        let plan = CrashPlan {
            copy: Copy::Reference,
            max_fields: 0,
            first_id: 7,
            rules: &|_, _| Rules::default(),
            known: &[],
        };
        workspace.crash(class, &plan).unwrap().class
    }

    #[test]
    fn a_class_says_of_which_run_its_probes_are() {
        assert_eq!(run_of(&ClassFile::parse(&plain()).unwrap()), None);
        for traced in [false, true] {
            for run in [0, 1, u64::MAX - 3] {
                let class = instrumented(run, traced);
                assert_eq!(run_of(&ClassFile::parse(&class).unwrap()), Some(run));
                let mut freed = class;
                let end = freed.len() - 8;
                freed[end..].fill(0x51);
                assert_eq!(run_of(&ClassFile::parse(&freed).unwrap()), Some(run));
            }
        }
    }

    /// Probes that do not say to which run they belong would be taken for probes of this run.
    #[test]
    fn a_class_without_room_for_its_run_gets_no_probes() {
        let class = plain();
        let parsed = ClassFile::parse(&class).unwrap();
        let filled = |free: i32| {
            let mut added = PoolBuilder::new(&parsed.pool);
            for value in 0..65_535 - i32::from(parsed.pool.count()) - free {
                added.integer(value).unwrap();
            }
            parsed.assemble(&added, |_, method, out| method.write(out))
        };
        let mut probed = 0;
        for free in 0..40 {
            let full = filled(free);
            for traced in [false, true] {
                let Some(class) = rewritten(&full, 5, traced) else {
                    continue;
                };
                assert_eq!(
                    run_of(&ClassFile::parse(&class).unwrap()),
                    Some(5),
                    "{free}"
                );
                probed += 1;
            }
        }
        assert!(probed > 20 && rewritten(&filled(0), 5, false).is_none());

        // The same holds for a class that has all attributes that a class can have.
        let mut full = class[..class.len() - 2].to_vec();
        full.extend([0xff; 2]);
        full.extend([0, 5, 0, 0, 0, 0].repeat(65_535));
        assert!(rewritten(&full, 5, false).is_none() && rewritten(&full, 5, true).is_none());
    }

    #[test]
    fn silent_probes_are_those_of_one_class() {
        for (traced, probes) in [(false, PROBE), (true, TRACE)] {
            let class = instrumented(3, traced);
            let silent = silenced(&class).unwrap();
            let (old, new) = (
                ClassFile::parse(&class).unwrap(),
                ClassFile::parse(&silent).unwrap(),
            );
            let names = |class: &ClassFile<'_>| -> Vec<String> {
                let names = class.pool.classes();
                names
                    .map(|(_, name)| name.to_string_lossy().into_owned())
                    .collect()
            };
            assert!(names(&old).iter().any(|name| name == probes));
            let renamed: Vec<String> = (names(&old).iter())
                .map(|name| name.replace(probes, SILENT))
                .collect();
            assert_eq!(names(&new), renamed);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(!text(&silent).contains(probes), "in no descriptor either");
            assert!(text(&silent).contains("a text of java/lang/Hindsight"));
            // Nothing else has changed.
            let rest = |class: &ClassFile<'_>, bytes: &[u8]| {
                let rest = &bytes[HEAD + class.pool.raw().len()..];
                (class.pool.count(), rest.to_vec())
            };
            assert_eq!(rest(&new, &silent), rest(&old, &class));
        }
        assert!(silenced(&plain()[..40]).is_err());
    }
}
