//! Which parameters hold secrets, by their names.

use hindsight_classfile::{Code, Member, tables};

use super::probes::Probes;
use crate::attributes::Kind;
use crate::parameters::Parameter;
use crate::throwing::Own;

/// The places of the parameters that hold secrets, judged by their names in debug tables.
pub fn secret_parameters<'a>(
    own: &Own<'_, 'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    parameters: &[Parameter<'_>],
    probes: &Probes<'_, '_>,
) -> Vec<usize> {
    let mut secrets = Vec::new();
    let pool = &own.class.pool;
    let is_secret = |index: u16| {
        index != 0
            && pool
                .utf8(index)
                .is_ok_and(|name| probes.is_secret(&name.to_string_lossy()))
    };
    let declared = || {
        parameters
            .iter()
            .enumerate()
            .filter(|(_, of)| of.index != 0)
    };
    if declared().next().is_none() {
        return secrets;
    }
    for attribute in code.attributes.iter() {
        if own.kind(&attribute) == Ok(Kind::LocalVariableTable)
            && let Ok(variables) = tables::local_variables(&attribute)
        {
            // A variable also counts if its name starts later, behind code of other agents.
            for variable in variables {
                let at = declared().find(|(_, of)| of.slot == variable.slot);
                if let Some((at, _)) = at.filter(|_| is_secret(variable.name_index)) {
                    secrets.push(at);
                }
            }
        }
    }
    if let Some(attribute) = own.find(&method.attributes, Kind::MethodParameters)
        && let Ok(entries) = tables::method_parameters(&attribute)
    {
        for ((at, _), entry) in declared().zip(entries) {
            if is_secret(entry.name_index) {
                secrets.push(at);
            }
        }
    }
    secrets
}
