use super::CLASSES;
use crate::trace::{ENDED, ENDED_VIRTUAL};
use hindsight_classfile::{ClassFile, Member, access};
use hindsight_instrument::contract::{self, MAX_REFERENCES, MAX_WORDS, ProbeMethod, WriteProbe};

fn class(name: &str) -> ClassFile<'static> {
    let class = CLASSES.iter().find(|(known, _)| *known == name);
    let (_, bytes) = class.unwrap_or_else(|| panic!("class {name} is missing"));
    ClassFile::parse(bytes).unwrap()
}

fn require(members: &[Member<'_>], (name, descriptor): (&str, &str), is_static: bool) {
    let found = members.iter().find(|member| {
        (
            &*member.name.to_string_lossy(),
            &*member.descriptor.to_string_lossy(),
        ) == (name, descriptor)
    });
    let found = found.map(|member| member.access & access::STATIC != 0);
    assert_eq!(found, Some(is_static), "{name}{descriptor}");
}

fn require_method(class: &ClassFile<'_>, probe: ProbeMethod, is_static: bool) {
    require(&class.methods, (probe.name, probe.descriptor), is_static);
}

/// The methods that `instrument` and the hooks compile into classes exist in the compiled probes.
#[test]
fn probes_have_the_methods_of_the_contract() {
    let probe = class(contract::PROBE);
    for references in 0..=MAX_REFERENCES {
        for words in 0..=MAX_WORDS {
            require_method(&probe, contract::frame(references, words), true);
        }
    }
    for appending in [
        contract::APPEND_REFERENCE,
        contract::APPEND_INT,
        contract::APPEND_LONG,
        contract::APPEND_FLOAT,
        contract::APPEND_DOUBLE,
        contract::ESCAPE,
    ] {
        require_method(&probe, appending, false);
    }
    let called = [
        contract::CAUGHT,
        contract::CAUGHT_REPORT,
        contract::UNCAUGHT,
        contract::HANDED_OVER,
        contract::UNHANDLED,
    ];
    for called in called.into_iter().chain(contract::RECORDS) {
        require_method(&probe, called, true);
    }
    for (name, method, descriptor) in [ENDED, ENDED_VIRTUAL] {
        require(&class(name).methods, (method, descriptor), true);
    }
}

#[test]
fn probes_of_writes_have_the_members_of_the_contract() {
    let writes = class(contract::WRITES);
    let puts = (1..=3).flat_map(|count| [false, true].map(|own| WriteProbe::Put(count, own)));
    let stores = (0..8).map(WriteProbe::Store);
    let others = [
        WriteProbe::Enter,
        WriteProbe::Copy,
        WriteProbe::Characters,
        WriteProbe::Coded,
        WriteProbe::Array,
        WriteProbe::Decoded,
        WriteProbe::Encoded,
        WriteProbe::Element,
        WriteProbe::Handle,
        WriteProbe::Memory,
        WriteProbe::Bytes,
        WriteProbe::Object,
        WriteProbe::Text,
        WriteProbe::Character,
        WriteProbe::Release,
    ];
    for probe in puts.chain(stores).chain(others) {
        require_method(&writes, probe.method(), true);
    }
    require(&writes.fields, contract::MISSED, true);
}
