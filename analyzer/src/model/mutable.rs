//! Which parameters calls may change, read from the output of `hindsight mutability --format json`.

use super::Error;
use crate::files::failed;
use crate::mutability::report::SCHEMA;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The verdicts, by method.
#[derive(Debug, Default)]
pub struct Mutability {
    /// For each parameter, whether it is known not to be changed; the receiver comes first if there
    /// is one.
    methods: HashMap<(String, String, String), Vec<bool>>,
}

#[derive(Deserialize)]
struct Document {
    schema: String,
    methods: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    class: String,
    method: String,
    descriptor: String,
    parameters: Vec<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    verdict: String,
}

impl Mutability {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails if it is not the output of `hindsight mutability`.
    pub fn read(path: &Path) -> Result<Mutability, Error> {
        let file = File::open(path).map_err(failed("read", path))?;
        let document: Document =
            serde_json::from_reader(BufReader::new(file)).map_err(|source| Error::Verdicts {
                path: path.to_owned(),
                source,
            })?;
        if document.schema != SCHEMA {
            return Err(Error::OtherVerdicts {
                path: path.to_owned(),
                schema: document.schema,
            });
        }
        let methods = document.methods.into_iter().map(|row| {
            let parameters = row.parameters.iter();
            let immutable = parameters.map(|one| one.verdict == "immutable").collect();
            ((row.class, row.method, row.descriptor), immutable)
        });
        Ok(Mutability {
            methods: methods.collect(),
        })
    }

    /// Whether a method is known not to change the object at `position`: 0 is the receiver,
    /// parameters count from 1.
    pub fn is_immutable(&self, method: &MethodName<'_>, position: i16) -> bool {
        let Some(known) = self.get(method) else {
            return false;
        };
        let place = match (method.is_static, usize::try_from(position)) {
            (true, Ok(position @ 1..)) => position - 1,
            (false, Ok(position)) => position,
            _ => return false,
        };
        known.get(place).copied().unwrap_or(false)
    }

    fn get(&self, method: &MethodName<'_>) -> Option<&Vec<bool>> {
        let key = (
            method.class.to_owned(),
            method.name.to_owned(),
            method.descriptor.to_owned(),
        );
        self.methods.get(&key)
    }
}

/// The identity of a method.
#[derive(Debug, Clone, Copy)]
pub struct MethodName<'a> {
    /// The method's class, with dots.
    pub class: &'a str,
    /// The method's name.
    pub name: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// Whether the method has no receiver.
    pub is_static: bool,
}
