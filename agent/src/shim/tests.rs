use super::CLASSES;
use crate::trace::{ENDED, ENDED_VIRTUAL};
use crate::undo;
use hindsight_classfile::{ClassFile, Member, access};
use hindsight_instrument::contract::trace::TRACE;
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
    for appending in contract::APPENDING.into_iter().chain([contract::ESCAPE]) {
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
    for (name, method, descriptor) in [ENDED, ENDED_VIRTUAL, undo::ENDED] {
        require(&class(name).methods, (method, descriptor), true);
    }
}

#[test]
fn probes_of_writes_have_the_members_of_the_contract() {
    let writes = class(contract::WRITES);
    for probe in WriteProbe::all() {
        require_method(&writes, probe.method(), true);
    }
    require(&writes.fields, contract::MISSED, true);
}

/// Each probe that may be in a class of a program has a silent counterpart.
#[test]
fn each_probe_is_there_without_effect() {
    let silent = class(contract::SILENT);
    for of in [contract::PROBE, contract::WRITES, TRACE] {
        let public = |member: &&Member<'_>| {
            let name = member.name.to_string_lossy();
            // What the JVM and the hooks of the JDK's own methods call is in no other class.
            let others = [
                contract::UNCAUGHT.name,
                contract::HANDED_OVER.name,
                contract::UNHANDLED.name,
                "record",
            ];
            member.access & access::PUBLIC != 0 && !others.contains(&&*name)
        };
        let probes = class(of);
        for member in probes.methods.iter().filter(public) {
            let descriptor = member.descriptor.to_string_lossy();
            let descriptor = descriptor.replace(contract::PROBE, contract::SILENT);
            let is_static = member.access & access::STATIC != 0;
            require(
                &silent.methods,
                (&member.name.to_string_lossy(), &descriptor),
                is_static,
            );
        }
        for member in probes.fields.iter().filter(public) {
            let descriptor = member.descriptor.to_string_lossy();
            require(
                &silent.fields,
                (&member.name.to_string_lossy(), &descriptor),
                true,
            );
        }
    }
}
