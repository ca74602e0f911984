//! Makes lambdas as arguments.

use super::super::lambda::{Functional, Given};
use super::super::sequence::Arg;
use super::Search;
use super::values::Maker;
use crate::java::descriptor;
use crate::java::signature::Generic;
use crate::model::values::Literal;

/// The percentage of lambdas that return their argument, if that is of the required type.
const PASSED_ON: usize = 45;
/// The percentage of others that return null.
const NOTHING: usize = 12;
/// The number of integers that lambdas return: the first of those that are tried with any program.
const NUMBERS: usize = 4;

impl Search<'_> {
    /// A lambda of an interface, which may have type arguments.
    pub(super) fn lambda(
        &mut self,
        functional: &Functional,
        generic: Option<&Generic>,
        maker: &mut Maker,
        depth: usize,
    ) -> Option<Arg> {
        let (types, result) = descriptor::split(&functional.descriptor)?;
        // The type that a type variable stands for, as far as it is known.
        let stands_for = |at: usize| {
            let variable = *functional.variables.get(at)?;
            generic?.arguments.get(variable?)
        };
        let told = |at: usize, ty: &str| stands_for(at).map_or(ty.to_owned(), Generic::erased);
        let result_type = told(types.len(), result);
        let passed_on: Vec<usize> = (types.iter().enumerate())
            .filter(|(at, ty)| told(*at, ty) == result_type)
            .map(|(at, _)| at)
            .collect();
        let gives = if result == "V" {
            Given::Nothing
        } else if !passed_on.is_empty() && self.random.percent(PASSED_ON) {
            Given::Parameter(*self.random.pick(&passed_on)?)
        } else {
            Given::Value(self.given(&result_type, stands_for(types.len()), maker, depth)?)
        };
        Some(functional.giving(gives))
    }

    /// The value that a lambda always returns.
    fn given(
        &mut self,
        ty: &str,
        generic: Option<&Generic>,
        maker: &mut Maker,
        depth: usize,
    ) -> Option<Arg> {
        if !descriptor::is_primitive(ty) && self.random.percent(NOTHING) {
            return Some(Arg::Literal(Literal::Null));
        }
        let pool = match ty {
            // For a value of any type, texts and numbers are the most informative.
            "Ljava/lang/Object;" if self.random.percent(30) => {
                self.surface.pool("Ljava/lang/Integer;")
            }
            "Ljava/lang/Object;" => self.surface.pool("Ljava/lang/String;"),
            ty => self.surface.pool(ty),
        };
        if !pool.is_empty() {
            let first = if ty == "Ljava/lang/String;" {
                pool.len()
            } else {
                NUMBERS
            };
            return Some(Arg::Literal(
                self.random.pick(&pool[..first.min(pool.len())])?.clone(),
            ));
        }
        // It always returns the same object, which has been made before.
        let given = self.argument(ty, generic, maker, depth + 1)?;
        matches!(given, Arg::Var(_) | Arg::Literal(_)).then_some(given)
    }
}
