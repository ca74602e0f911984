//! Parameters that are secret because of the key beside them: `set(key, value)`.

use crate::jni::Obj;
use crate::methods;
use crate::snapshot::collections;
use crate::snapshot::graph::Graph;
use hindsight_instrument::{Capture, Method};
use std::collections::{BTreeMap, BTreeSet};

/// The indices of parameters that are secrets because of the names of the keys beside them and
/// their own.
///
/// This is asked before any of the references goes into the graph, which takes them over.
pub(super) fn beside_secret_keys(
    method: &Method<'_>,
    references: &[Option<Obj>],
    graph: &mut Graph<'_>,
) -> BTreeSet<u16> {
    let mut held = references.iter();
    let mut parameters: BTreeMap<u16, (&str, Option<Obj>)> = BTreeMap::new();
    for capture in method.captures {
        let descriptor = methods::descriptor(&capture);
        let reference = match methods::is_reference(descriptor) {
            true => held.next().copied().flatten(),
            false => None,
        };
        if let Capture::Parameter { index, .. } = capture {
            parameters.insert(index, (descriptor, reference));
        }
    }
    let count = parameters
        .keys()
        .next_back()
        .map_or(0, |&last| usize::from(last));
    let names: Vec<Option<&str>> = (0..count)
        .map(|at| method.parameter_names.get(at))
        .collect();
    let mut found = BTreeSet::new();
    for at in 0..count {
        let of = |at: usize| parameters.get(&(at as u16 + 1));
        let key = collections::key_of_parameter(&names, at).and_then(of);
        // A flag that says whether to ask for a password is not a password.
        if let (Some((_, Some(key))), Some((descriptor, value))) = (key, of(at))
            && *descriptor != "Z"
            && graph.is_secret_of_key(Some(*key), *value)
        {
            found.insert(at as u16 + 1);
        }
    }
    found
}
