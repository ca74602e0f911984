//! Finds out which captured values of lambda expressions are secret, by the names of the parameters
//! that they become.
//!
//! The fields of a lambda's class have no telling names (`arg$1`); captured values are passed to
//! the method with the lambda's body as its first parameters. The names of these are in the class
//! file and are read when it is loaded: to ask the JVM for them later takes a capability that slows
//! down all of the program.

use hindsight_classfile::{ClassFile, ConstantPool, Error, Member, access, tables};
use hindsight_tracelog::crash::Lambda;
use memchr::memmem;
use std::collections::{HashMap, HashSet};
use std::sync::RwLock;

/// A string that occurs in all class files with lambda expressions.
const FACTORY: &[u8] = b"java/lang/invoke/LambdaMetafactory";

/// The indices of secrets among the captured values of methods, by name and descriptor.
type Places = HashMap<(String, String), HashSet<usize>>;

/// The places, by the name of the declaring class. Classes of one name are treated as one.
#[derive(Default)]
pub(crate) struct Captured(RwLock<HashMap<String, Places>>);

impl Captured {
    /// Searches the class file of a named class for parameters whose names and descriptors make
    /// them secret.
    pub(crate) fn look(&self, class: &str, bytes: &[u8], is_secret: &dyn Fn(&str, &str) -> bool) {
        if memmem::find(bytes, FACTORY).is_none() {
            return;
        }
        let Ok(file) = ClassFile::parse(bytes) else {
            return;
        };
        let mut found = Places::new();
        for method in file.methods.iter().filter(|method| is_body(method)) {
            let places = secret_places(&file.pool, method, is_secret).unwrap_or_default();
            if !places.is_empty() {
                let text = [&method.name, &method.descriptor].map(|text| text.to_string_lossy());
                let [name, descriptor] = text.map(|text| text.into_owned());
                found.insert((name, descriptor), places);
            }
        }
        if found.is_empty() {
            return;
        }
        if let Ok(mut table) = self.0.write() {
            let known = table.entry(class.replace('/', ".")).or_default();
            for (method, places) in found {
                known.entry(method).or_default().extend(places);
            }
        }
    }

    /// The indices of secrets among the captured values of a lambda, ascending.
    pub(crate) fn secrets_of(&self, lambda: &Lambda) -> Vec<usize> {
        let Ok(table) = self.0.read() else {
            return Vec::new();
        };
        let places = table
            .get(&lambda.class)
            .and_then(|methods| methods.get(&(lambda.method.clone(), lambda.descriptor.clone())));
        let mut places: Vec<usize> = places.into_iter().flatten().copied().collect();
        places.sort_unstable();
        places
    }
}

/// Whether a method may be the body of a lambda expression: such methods are synthetic, or are
/// named accordingly by compilers that do not mark them.
fn is_body(method: &Member<'_>) -> bool {
    method.is(access::SYNTHETIC) || memmem::find(method.name.as_bytes(), b"lambda").is_some()
}

/// The indices of a method's secret parameters; in an instance method, `this` is the first.
fn secret_places(
    pool: &ConstantPool<'_>,
    method: &Member<'_>,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Result<HashSet<usize>, Error> {
    let own = usize::from(!method.is(access::STATIC));
    let mut slot = own as u16;
    // The slot and descriptor of each.
    let mut parameters = Vec::new();
    for parameter in method.method_descriptor()?.parameters() {
        parameters.push((slot, parameter.descriptor()));
        slot += parameter.slots();
    }
    let mut secrets = HashSet::new();
    let mut ask = |at: usize, name: u16| -> Result<(), Error> {
        if let Some((_, descriptor)) = parameters.get(at).filter(|_| name != 0)
            && is_secret(
                &pool.utf8(name)?.to_string_lossy(),
                &descriptor.to_string_lossy(),
            )
        {
            secrets.insert(own + at);
        }
        Ok(())
    };
    if parameters.is_empty() {
        return Ok(secrets);
    }
    if let Some(attribute) = method.attributes.find(pool, "MethodParameters") {
        for (at, entry) in tables::method_parameters(&attribute)?.enumerate() {
            ask(at, entry.name_index)?;
        }
    }
    let code = method.code(pool)?;
    for attribute in code.iter().flat_map(|code| code.attributes.iter()) {
        if attribute.name(pool)?.to_string_lossy() != "LocalVariableTable" {
            continue;
        }
        for variable in tables::local_variables(&attribute)? {
            let at = parameters
                .iter()
                .position(|(slot, _)| *slot == variable.slot);
            if let Some(at) = at {
                ask(at, variable.name_index)?;
            }
        }
    }
    Ok(secrets)
}
