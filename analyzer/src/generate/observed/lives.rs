//! Chooses the lives of objects that are to have tests: of those that make the same calls, the ones
//! whose calls have the most different ends.

use crate::generate::carve::{Access, End, Kind, Recorded};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most lives of one shape, and of one class, that are tried, whatever their calls return.
const MAX_PER_SHAPE: usize = 3;
/// The most such lives whose calls end differently.
const MAX_DIFFERENT: usize = 8;

/// An object that is to have a test.
pub struct Life {
    /// Its number.
    pub serial: u64,
    /// The object's class.
    pub name: String,
    /// The class that the test concerns.
    pub class: String,
    /// Whether that is not the object's class, but that of the call which has returned it: tests
    /// can be named neither after its class nor after its type there.
    pub is_part: bool,
}

/// The lives to try, and what is left out.
pub struct Lives {
    /// The lives that are to be tried.
    pub lives: Vec<Life>,
    /// The number of others, by class.
    pub passed_over: BTreeMap<String, usize>,
    /// The classes of those that only the JDK has returned.
    pub nameless: Vec<String>,
}

/// The lives of one shape, from which some are chosen.
#[derive(Default)]
struct Shape<'r> {
    /// The kinds of ends of calls, by place.
    known: HashSet<(usize, Kind<'r>)>,
    /// The lives in which a call was the first to end in its way.
    different: Vec<(Life, Vec<&'r End>)>,
    /// Other lives in which some call has returned another value.
    other: Vec<(Life, Vec<&'r End>)>,
    /// The lives that end like one of these.
    alike: Vec<Life>,
    total: usize,
}

impl<'r> Shape<'r> {
    fn take(&mut self, life: Life, ends: Vec<&'r End>) {
        self.total += 1;
        let mut is_different = false;
        if self.different.len() < MAX_DIFFERENT {
            for (at, end) in ends.iter().enumerate() {
                is_different |= self.known.insert((at, end.kind()));
            }
        }
        if is_different {
            self.different.push((life, ends));
            return;
        }
        let mut chosen = self.different.iter().chain(&self.other);
        let is_alike = chosen.any(|(_, known)| {
            let mut pairs = known.iter().zip(&ends);
            pairs.all(|(one, other)| one.is_like(other))
        });
        if is_alike && self.alike.len() < MAX_PER_SHAPE {
            self.alike.push(life);
        } else if !is_alike && self.other.len() < MAX_PER_SHAPE {
            self.other.push((life, ends));
        }
    }

    /// The lives that are to be tried, and the number of others.
    fn choose(self) -> (Vec<Life>, usize) {
        let most = self.different.len().max(MAX_PER_SHAPE);
        let told = self.different.into_iter().chain(self.other);
        let all = told.map(|(life, _)| life).chain(self.alike);
        let chosen: Vec<Life> = all.take(most).collect();
        let others = self.total - chosen.len();
        (chosen, others)
    }
}

/// The lives of objects of the classes that are wanted: first one of each shape, then a second one,
/// and so on; of each shape those whose calls end differently than before. An object of a class
/// that no test can name counts as one of the type with which it is returned, even if that stands
/// for a type variable, as in a list of texts; or if that type is the JDK's, like an iterator's, as
/// a part of the object that has returned it. The classes of those that only the JDK has returned
/// are included.
pub fn lives(recorded: &Recorded, access: &mut Access<'_>, wants: impl Fn(&str) -> bool) -> Lives {
    let mut shapes: HashMap<(String, _), usize> = HashMap::new();
    let mut shaped: Vec<Shape<'_>> = Vec::new();
    let mut nameless = Vec::new();
    let names = recorded.objects.iter();
    let names: HashMap<u64, &String> = names.map(|(serial, name)| (*serial, name)).collect();
    for (serial, name) in &recorded.objects {
        let is_own = access.is_own(name);
        let overriding = || {
            let on = recorded.given_by(*serial)?;
            access.overriding_result(names.get(&on)?, recorded.giver(*serial)?)
        };
        let overriding = overriding();
        let mut of_own = |class: &str| access.is_own(class) && access.is_accessible(class);
        let is_named = of_own(name);
        let mut class = Some(name.clone());
        if !is_named || !wants(name) {
            let given = [recorded.given_as(*serial), overriding];
            class = given.into_iter().flatten().find(|class| of_own(class));
        }
        let is_part = !is_named && class.is_none();
        if is_part {
            // An unused object is covered by the tests of the object that has returned it.
            let giver = recorded.giver(*serial);
            let Some(giver) = giver.filter(|_| is_own && recorded.calls(*serial) > 1) else {
                continue;
            };
            class = Some(giver.class.clone()).filter(|class| of_own(class));
            if class.is_none() && wants(name) {
                nameless.push(name.clone());
            }
        }
        let Some(class) = class.filter(|class| wants(class)) else {
            continue;
        };
        let shape = (class.clone(), recorded.shape(*serial));
        let at = *shapes.entry(shape).or_insert_with(|| {
            shaped.push(Shape::default());
            shaped.len() - 1
        });
        let life = Life {
            serial: *serial,
            name: name.clone(),
            class,
            is_part,
        };
        shaped[at].take(life, recorded.ends(*serial));
    }
    let mut lives = Vec::new();
    let mut passed_over = BTreeMap::new();
    for shape in shaped {
        let (chosen, others) = shape.choose();
        if let Some(first) = chosen.first().filter(|_| others > 0) {
            *passed_over.entry(first.class.clone()).or_default() += others;
        }
        lives.extend(chosen.into_iter().enumerate());
    }
    // Those in one place are in the order of the first lives of their shapes.
    lives.sort_by_key(|(place, _)| *place);
    Lives {
        lives: lives.into_iter().map(|(_, life)| life).collect(),
        passed_over,
        nameless,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::carve::Value;
    use crate::model::values::Literal;

    /// The lives that are chosen, given the ends of their calls, and the number of others.
    fn chosen(ends: &[[Literal; 2]]) -> (Vec<u64>, usize) {
        let returned = |literal: &Literal| End::Returned(Some(Value::Literal(literal.clone())));
        let ends: Vec<Vec<End>> = (ends.iter())
            .map(|ends| ends.iter().map(returned).collect())
            .collect();
        let mut shape = Shape::default();
        for (serial, ends) in (0..).zip(&ends) {
            let life = Life {
                serial,
                name: "A".to_owned(),
                class: "A".to_owned(),
                is_part: false,
            };
            shape.take(life, ends.iter().collect());
        }
        let (chosen, others) = shape.choose();
        (chosen.iter().map(|life| life.serial).collect(), others)
    }

    #[test]
    fn lives_that_end_in_other_ways_are_chosen() {
        let ints = |ints: &[(i64, i64)]| {
            let ends = ints.iter().map(|(one, two)| [*one, *two].map(Literal::Int));
            ends.collect::<Vec<_>>()
        };
        // A negative number is another kind of end, another number another value.
        let some = ints(&[(1, 1), (1, 1), (2, 1), (3, 1), (1, -4), (1, 0)]);
        assert_eq!(chosen(&some), (vec![0, 4, 5], 3));
        assert_eq!(chosen(&some[..4]), (vec![0, 2, 3], 1));
        assert_eq!(chosen(&some[..2]), (vec![0, 1], 0));
        // This holds however many kinds there are.
        let constant = |at: usize| Literal::Enum("E".to_owned(), at.to_string());
        let many: Vec<_> = (0..30)
            .map(|at| [constant(at), Literal::Bool(true)])
            .collect();
        assert_eq!(chosen(&many), ((0..MAX_DIFFERENT as u64).collect(), 22));
        // A null or empty result is another kind than a filled one.
        let text = |text: &str| [Literal::Null, Literal::Text(text.to_owned())];
        let null = [Literal::Null, Literal::Null];
        let texts = [text("a"), text("b"), text("c"), text("d"), text(""), null];
        assert_eq!(chosen(&texts), (vec![0, 4, 5], 3));
    }
}
