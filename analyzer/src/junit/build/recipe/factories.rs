//! Factories: `X.of(a, b)`, of the class itself or of a superclass or enclosing class.

use super::{Operation, Proposer, Recipe, Step, call};
use crate::classinfo::{ClassInfo, Method, Nesting};
use crate::classpath::is_jdk;
use crate::java::descriptor;
use crate::java::names::is_identifier;
use hindsight_classfile::access;

/// The most superclasses and enclosing classes in which factories are searched for.
const MAX_ELSEWHERE: usize = 20;

impl Proposer<'_> {
    /// `X.of(a, b)`.
    pub(super) fn factories(&self) -> Vec<Recipe> {
        let own = descriptor::of_class(&self.info.name);
        let recipes = self.made_by(self.info, |result| result == own);
        let recipes = recipes.into_iter();
        recipes
            .map(|recipe| self.with_setters(recipe.steps, recipe.result))
            .collect()
    }

    /// `Shape.circle(r)`, if the class has no factory itself, as one that is hidden behind its
    /// declared type: static methods of superclasses and enclosing classes.
    pub(super) fn factories_elsewhere(&self) -> Vec<Recipe> {
        let info = |class: &String| self.library.info(class)?.info.clone();
        let mut above: Vec<ClassInfo> = Vec::new();
        let mut next: Vec<String> = Vec::new();
        next.extend(
            self.info
                .super_class
                .iter()
                .chain(&self.info.interfaces)
                .cloned(),
        );
        while let Some(class) = next.pop() {
            if above.len() == MAX_ELSEWHERE || is_jdk(&class) {
                continue;
            }
            if above.iter().all(|known| known.name != class)
                && let Some(info) = info(&class)
            {
                next.extend(info.super_class.iter().chain(&info.interfaces).cloned());
                above.push(info);
            }
        }
        let mut results: Vec<String> = vec![descriptor::of_class(&self.info.name)];
        // A class that no source can name is used where its supertype is expected; elsewhere a cast
        // would have to follow.
        if !self.can_name(&self.info.name) {
            results.extend(above.iter().map(|info| descriptor::of_class(&info.name)));
        }
        let mut around: Vec<ClassInfo> = Vec::new();
        let mut nesting = self.info.nesting.clone();
        while let Nesting::Member { outer, .. } = &nesting
            && around.len() < MAX_ELSEWHERE
            && let Some(info) = info(outer)
        {
            nesting = info.nesting.clone();
            around.push(info);
        }
        around.retain(|info| above.iter().all(|known| known.name != info.name));
        let owners = above.iter().chain(&around);
        owners
            .flat_map(|owner| self.made_by(owner, |result| results.iter().any(|of| of == result)))
            .collect()
    }

    /// The calls of static methods of `owner` whose result is `wanted`.
    fn made_by(&self, owner: &ClassInfo, wanted: impl Fn(&str) -> bool) -> Vec<Recipe> {
        let returns = |method: &&Method| {
            method.is(access::STATIC)
                && descriptor::split(&method.descriptor).is_some_and(|(_, result)| wanted(result))
        };
        let usable = owner
            .methods
            .iter()
            .filter(returns)
            .filter(|method| self.usable(owner, method.access) && is_identifier(&method.name));
        usable
            .filter_map(|method| {
                let called = self.library.returns_new(
                    &owner.name,
                    &method.name,
                    &method.descriptor,
                    &self.info.name,
                );
                let writes = match called {
                    Some(called) => self.made(&called.target.descriptor, &called.arguments),
                    None => Vec::new(),
                };
                let (arguments, roles) = self.arguments(&owner.name, method, &writes)?;
                let step = Step {
                    operation: Operation::Static,
                    ..call(&owner.name, method, None, arguments, roles)
                };
                Some(Recipe {
                    steps: vec![step],
                    result: 0,
                })
            })
            .collect()
    }
}
