//! Infers types from lambdas.

use super::{Match, Type, Types, replaced};
use crate::generate::lambda::{Given, Lambda};
use crate::generate::sequence::Method;

impl Types<'_> {
    /// Infers from the result of a lambda that is passed for a parameter.
    pub(super) fn learn_of(&mut self, lambda: &Lambda, parameter: &Type) {
        let method = Method {
            class: lambda.interface.clone(),
            name: lambda.method.clone(),
            descriptor: lambda.descriptor.clone(),
            is_static: false,
            runs: None,
        };
        let Type::Class(name, arguments) = self.looked_up(parameter).clone() else {
            return;
        };
        // A function of `? super T` is called with a `T`.
        let bare = arguments.into_iter().map(|one| match one {
            Type::Wildcard(Some((_, bound))) => *bound,
            Type::Wildcard(None) => Type::object(),
            one => one,
        });
        let ty = Type::Class(name, bare.collect());
        let Some((owner, signature)) = self.signature(&method) else {
            return;
        };
        let Some(Type::Class(_, arguments)) = self.above(&ty, &owner, 0) else {
            return;
        };
        let names = self.class_variables(&owner).into_iter();
        let meaning = names.map(|(name, _)| name).zip(arguments).collect();
        if let Given::Calls(called) = &lambda.gives {
            let parameters = signature.parameters.iter();
            let parameters = parameters.map(|one| replaced(one, &meaning)).collect();
            return self.learn_of_reference(
                called,
                parameters,
                &replaced(&signature.result, &meaning),
            );
        }
        let given = match &lambda.gives {
            Given::Parameter(at) => signature.parameters.get(*at),
            _ => None,
        };
        let given = given.map(|ty| replaced(ty, &meaning));
        let given = given.or_else(|| self.of_argument(lambda.value()?));
        if let Some(given) = given {
            let result = replaced(&signature.result, &meaning);
            self.unify(&result, &given, Match::Above, 0);
        }
    }

    /// Infers from the method of a reference if one with these types is meant.
    fn learn_of_reference(&mut self, called: &Method, parameters: Vec<Type>, result: &Type) {
        let Some((owner, signature)) = self.signature(called) else {
            return;
        };
        let mut meaning = self.opened(&self.class_variables(&owner));
        meaning.extend(self.opened(&signature.variables));
        let of_class = |types: &Self, class: &str| {
            let variables = types.class_variables(class).into_iter();
            let variables = variables.map(|(name, _)| Type::Variable(name));
            Type::Class(class.to_owned(), variables.collect())
        };
        let mut taken = signature.parameters;
        let mut given = signature.result;
        if called.is_constructor() {
            given = of_class(self, &called.class);
        } else if !called.is_static {
            taken.insert(0, of_class(self, &owner));
        }
        for (parameter, taken) in parameters.iter().zip(&taken) {
            self.unify(
                parameter,
                &replaced(taken, &meaning).boxed(),
                Match::Below,
                0,
            );
        }
        self.unify(result, &replaced(&given, &meaning).boxed(), Match::Above, 0);
    }
}
